// When an assembly leaves its tree: links beyond those that have a site, and islands of more links
// than the solver takes. What it does then is the same physics, by run-time joints.
#include "solve/joints_rig.h"

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

static mf_Group *add_modules(Play *play, const char *text, const char *name, uint32_t count) {
    mf_Group *group =
        pitch_group(&play->pitch, load_text(play->pitch.context, text), name, count, true);
    mf_ArticulatedConfig motion =
        WITH(mf_motions_config().articulated, .contacts = false, .shapes = true,
             .self_contacts = false, .contact_law = MF_CONTACT_LAW_COMPLIANT,
             .contact_stiffness = 2e4, .contact_damping = 100.0);
    prepare(&play->pitch, group);
    MUST(rig_add_articulated(group, &motion, &error));
    return group;
}

static void open_play(Play *play, const char *module, uint32_t modules, double apart,
                      uint32_t balls) {
    memset(play, 0, sizeof *play);
    Pitch *pitch = &play->pitch;
    *pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    play->modules = add_modules(play, module, "modules", modules);
    play->balls = add_modules(play,
                              "<mujoco model='ball'><worldbody><body><freejoint/><geom "
                              "type='sphere' size='0.02' mass='0.1'/></body></worldbody></mujoco>",
                              "balls", balls);
    mf_WorldJoints *joints;
    MUST(mf_world_joints_add(pitch->world,
                             &WITH(mf_world_joints_config(), .tolerance = 1e-9, .rounds = 8),
                             &joints, &error));
    mf_CollisionsConfig collisions = mf_collisions_config();
    pitch_collide(pitch, &collisions);
    MUST(mf_world_docks_add(pitch->world, NULL, &play->docks, &error));
    for (uint32_t i = 0; i < modules; i++) {
        put_at(pitch, play->modules, i, apart * i, 0.0, 5.0);
        if (i > 0)
            MUST(mf_docks_connect(play->docks, &(mf_DockPort){play->modules, i - 1, 1},
                                  &(mf_DockPort){play->modules, i, 0}, 0, &error));
    }
}

// [m] How far docks of the row are open at most.
static double widest_gap(const Play *play) {
    double most = 0.0;
    for (uint32_t i = 1; i < mf_group_count(play->modules); i++) {
        double there[3], rotation[4], square = 0.0;
        MUST(mf_docks_mating_pose(play->docks, &(mf_DockPort){play->modules, i - 1, 1},
                                  &(mf_DockPort){play->modules, i, 0}, 0, there, rotation, &error));
        for (uint32_t c = 0; c < 3; c++)
            square += pow(get_field(play->modules, "base.position", i, c) - there[c], 2);
        most = fmax(most, sqrt(square));
    }
    return most;
}

// Runs; momentum is kept and docks stay closed.
static mf_DocksStatistics run(Play *play, uint32_t steps) {
    const Momentum before = momentum_of(play->pitch.groups, play->pitch.count);
    mf_world_step(play->pitch.world, steps);
    const Momentum after = momentum_of(play->pitch.groups, play->pitch.count);
    assert_momentum(after, before, 1e-9, 1e-7);
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
static void write_comb(char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size,
                                   "<mujoco model='comb'><worldbody><body name='bar'><freejoint/>"
                                   "<geom type='box' size='1 0.02 0.02' pos='1 0 0' mass='1'/>");
    for (int i = 0; i < LEGS; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "<body pos='%g 0 -0.03'><joint axis='0 1 0' damping='0.001'/>"
                                 "<geom type='box' size='0.01 0.02 0.05' pos='0 0 -0.06' "
                                 "mass='0.05'/></body>",
                                 0.05 + 0.1 * i);
    snprintf(text + used, size - used,
             "</body></worldbody><custom>"
             "<text name='dock:back' data='body=bar xyz=0,0,0 quat=0,0,0,1'/>"
             "<text name='dock:front' data='body=bar xyz=2,0,0'/></custom></mujoco>");
}

// A ball hits a leg of the second of two bars from below.
static mf_DocksStatistics hit_leg(uint32_t leg) {
    char text[8192];
    Play play;
    write_comb(text, sizeof text);
    open_play(&play, text, 2, 2.0, 1);
    put_at(&play.pitch, play.balls, 0, 2.05 + 0.1 * leg, 0.0, 5.0 - 0.03 - 0.11 - 0.03);
    set_field(play.balls, "base.linear_velocity", 0, 2, 0.3);
    const mf_DocksStatistics seen = run(&play, 150);
    assert_true(get_field(play.balls, "base.linear_velocity", 0, 2) < 0.25); // it has hit
    pitch_close(&play.pitch);
    return seen;
}

TEST(a_link_without_a_site_is_hit) {
    const mf_DocksStatistics near_leg = hit_leg(2), far_leg = hit_leg(LEGS - 1);
    assert_int_equal(near_leg.touched, 0);
    assert_true(far_leg.touched > 0);
    assert_true(far_leg.trees > 0); // before and behind
}

// ---- more links than an island takes ------------------------------------------------------------

static const char module_text[] =
    "<mujoco model='module'><worldbody><body name='left'><freejoint/>"
    "<geom type='box' size='0.045 0.04 0.03' pos='-0.05 0 0' mass='0.5'/>"
    "<body name='right'><joint name='hinge' axis='0 1 0' damping='0.01'/>"
    "<geom type='box' size='0.045 0.04 0.03' pos='0.05 0 0' mass='0.3'/></body></body>"
    "</worldbody><custom><text name='dock:back' data='body=left xyz=-0.1,0,0 quat=0,0,0,1'/>"
    "<text name='dock:front' data='body=right xyz=0.1,0,0'/></custom></mujoco>";

// Balls hit so many links of a row from below at the same time.
static mf_DocksStatistics hit_row(uint32_t links) {
    Play play;
    open_play(&play, module_text, WIDE, 0.2, links);
    for (uint32_t i = 0; i < links; i++) {
        put_at(&play.pitch, play.balls, i, 0.1 * i - 0.05, 0.0, 5.0 - 0.03 - 0.02 - 0.004);
        set_field(play.balls, "base.linear_velocity", i, 2, 0.3);
    }
    const mf_DocksStatistics seen = run(&play, 40);
    for (uint32_t i = 0; i < links; i++)
        assert_true(get_field(play.balls, "base.linear_velocity", i, 2) < 0.25);
    pitch_close(&play.pitch);
    return seen;
}

TEST(more_links_are_hit_than_an_island_takes) {
    const mf_DocksStatistics most = hit_row(HALF), more = hit_row(HALF + 1);
    assert_int_equal(most.touched, 0);
    assert_true(more.touched > 0);
    assert_true(more.trees > 0);
}
