// When an assembly leaves its tree: links beyond those that have a site, and islands of more links
// than the solver takes. What it does then is the same physics, by run-time joints.
#include "solve/modules.h"

enum {
    LEGS = 20, // [1] of a module: more than have sites
    WIDE = 17, // [1] modules of two links in a row
    HALF = 32  // [1] balls at as many links: an island is as large as is taken
};

typedef struct Play {
    Pitch pitch;
    mf_Group *modules, *balls;
    mf_WorldDocks *docks;
} Play;

static Play open_play(const char *module, uint32_t modules, double apart, uint32_t balls) {
    static const char ball[] = "<mujoco model='ball'><worldbody><body><freejoint/><geom "
                               "type='sphere' size='0.02' mass='0.1'/></body></worldbody></mujoco>";
    const mf_ArticulatedConfig motion = WITH(stiff_motion(false), .shapes = true);
    Play play = {.pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0)};
    Pitch *pitch = &play.pitch;
    play.modules =
        pitch_moving(pitch, load_text(pitch->context, module), "modules", modules, true, motion);
    play.balls = pitch_moving(pitch, load_text(pitch->context, ball), "balls", balls, true, motion);
    add_exact_joints(pitch);
    pitch_collide(pitch, NULL);
    play.docks = add_docks(pitch);
    for (uint32_t i = 0; i < modules; i++) {
        put_at(pitch, play.modules, i, apart * i, 0.0, 5.0);
        if (i > 0)
            dock_to(play.docks, play.modules, i - 1, play.modules, i);
    }
    return play;
}

static void close_play(Play *play) {
    pitch_close(&play->pitch);
}

// [m] How far docks of the row are open at most.
static double widest_gap(const Play *play) {
    double most = 0.0;
    for (uint32_t i = 1; i < mf_group_count(play->modules); i++) {
        double there[3], rotation[4], here[3];
        MUST(mf_docks_mating_pose(play->docks, &(mf_DockPort){play->modules, i - 1, 1},
                                  &(mf_DockPort){play->modules, i, 0}, 0, there, rotation, &error));
        get_fields(play->modules, "base.position", i, 3, here);
        most = fmax(most, distance3(here, there));
    }
    return most;
}

// Runs; momentum is kept and docks stay closed.
static mf_DocksStatistics run(Play *play, uint32_t steps) {
    const Momentum before = momentum_of(play->pitch.groups, play->pitch.count);
    mf_world_step(play->pitch.world, steps);
    assert_momentum(momentum_of(play->pitch.groups, play->pitch.count), before, 1e-9, 1e-7);
    assert_int_equal(mf_group_fault_total(play->modules), 0);
    const mf_DocksStatistics seen = mf_docks_statistics(play->docks);
    print_message("steps as a tree %llu, with too much touched %llu; docks open by %.3g m\n",
                  (unsigned long long)seen.trees, (unsigned long long)seen.touched,
                  widest_gap(play));
    assert_true(widest_gap(play) < 1e-4);
    assert_int_equal(seen.trees + seen.touched, steps);
    return seen;
}

// ---- more links than have sites -----------------------------------------------------------------

// A bar with a leg below each 0.1 m, and docks at its ends; legs hang 0.1 m below.
static const char *comb_text(void) {
    const char *text = "<mujoco model='comb'><worldbody><body name='bar'><freejoint/>"
                       "<geom type='box' size='1 0.02 0.02' pos='1 0 0' mass='1'/>";
    for (int i = 0; i < LEGS; i++)
        text = formatted("%s<body pos='%g 0 -0.03'><joint axis='0 1 0' damping='0.001'/>"
                         "<geom type='box' size='0.01 0.02 0.05' pos='0 0 -0.06' mass='0.05'/>"
                         "</body>",
                         text, 0.05 + 0.1 * i);
    return formatted("%s</body></worldbody><custom>"
                     "<text name='dock:back' data='body=bar xyz=0,0,0 quat=0,0,0,1'/>"
                     "<text name='dock:front' data='body=bar xyz=2,0,0'/></custom></mujoco>",
                     text);
}

// A ball hits a leg of the second of two bars from below.
static mf_DocksStatistics hit_leg(uint32_t leg) {
    AUTO(close_play) Play play = open_play(comb_text(), 2, 2.0, 1);
    put_at(&play.pitch, play.balls, 0, 2.05 + 0.1 * leg, 0.0, 5.0 - 0.03 - 0.11 - 0.03);
    set_field(play.balls, "base.linear_velocity", 0, 2, 0.3);
    const mf_DocksStatistics seen = run(&play, 150);
    assert_true(get_field(play.balls, "base.linear_velocity", 0, 2) < 0.25); // it has hit
    return seen;
}

TEST(a_link_without_a_site_is_hit) {
    const mf_DocksStatistics near_leg = hit_leg(2), far_leg = hit_leg(LEGS - 1);
    assert_int_equal(near_leg.touched, 0);
    assert_true(far_leg.touched > 0);
    assert_true(far_leg.trees > 0); // before and behind
}

// ---- more links than an island takes ------------------------------------------------------------

// Balls hit so many links of a row from below at the same time.
static mf_DocksStatistics hit_row(uint32_t links) {
    AUTO(close_play) Play play = open_play(module_text(slim, "", 0.0), WIDE, 0.2, links);
    for (uint32_t i = 0; i < links; i++) {
        put_at(&play.pitch, play.balls, i, 0.1 * i - 0.05, 0.0, 5.0 - 0.03 - 0.02 - 0.004);
        set_field(play.balls, "base.linear_velocity", i, 2, 0.3);
    }
    const mf_DocksStatistics seen = run(&play, 40);
    for (uint32_t i = 0; i < links; i++)
        assert_true(get_field(play.balls, "base.linear_velocity", i, 2) < 0.25);
    return seen;
}

TEST(more_links_are_hit_than_an_island_takes) {
    const mf_DocksStatistics most = hit_row(HALF), more = hit_row(HALF + 1);
    assert_int_equal(most.touched, 0);
    assert_true(more.touched > 0);
    assert_true(more.trees > 0);
}
