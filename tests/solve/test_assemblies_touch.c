// Assemblies that others touch or hold stay one tree: against the same robot from one model,
// momentum, loads, snapshots, bits.
#include "solve/modules.h"

enum { MODULES = 4 };

typedef struct Play {
    Pitch pitch;
    mf_Group *modules, *others;
    mf_WorldDocks *docks;
} Play;

typedef struct PlayConfig {
    bool whole; // the chain is one model
    uint32_t rows, balls, threads;
    mf_Isa isa;
    mf_Time step;
    double gravity, height;
    bool wide, ground, exact;
} PlayConfig;

// Rows of modules along x, one above the other and a little aside, and balls.
static Play open_play(const PlayConfig *config) {
    Play play = {0};
    Pitch *pitch = &play.pitch;
    const mf_ArticulatedConfig motion = WITH(stiff_motion(config->ground), .shapes = true);
    *pitch = pitch_open(config->threads, config->isa, config->step, config->gravity);
    play.modules = pitch_moving(pitch,
                                config->whole ? chain_of(pitch->context, slim, MODULES)
                                              : module_of(pitch->context, slim, "", 0.0),
                                "modules", config->whole ? config->rows : config->rows * MODULES,
                                config->wide, motion);
    if (config->balls > 0)
        play.others =
            pitch_moving(pitch,
                         load_text(pitch->context,
                                   "<mujoco model='ball'><worldbody><body><freejoint/>"
                                   "<geom type='sphere' size='0.05' mass='2'/></body></worldbody>"
                                   "</mujoco>"),
                         "others", config->balls, config->wide, motion);
    if (config->exact)
        add_exact_joints(pitch);
    else
        add_joints(pitch);
    pitch_collide(pitch, NULL);
    if (!config->whole)
        play.docks = add_docks(pitch);
    const uint32_t own = config->whole ? 1 : MODULES;
    for (uint32_t r = 0; r < config->rows; r++)
        for (uint32_t i = 0; i < own; i++) {
            put_at(pitch, play.modules, own * r + i, 0.2 * i + 0.04 * r, 0.01 * r,
                   config->height + 0.0605 * r);
            if (i > 0)
                dock_to(play.docks, play.modules, own * r + i - 1, play.modules, own * r + i);
        }
    return play;
}

static void close_play(Play *play) {
    pitch_close(&play->pitch);
}

// ---- a blow -------------------------------------------------------------------------------------

// [m], [rad] Where a chain is and how it is bent, and where the ball is.
enum { SEEN = MODULES + 6 };

static void see(const Play *play, bool whole, double out[SEEN]) {
    for (uint32_t i = 0; i < MODULES; i++)
        out[i] = get_field(play->modules, "joint.angle", whole ? 0 : i, whole ? i : 0);
    for (uint32_t c = 0; c < 3; c++) {
        out[MODULES + c] = get_field(play->modules, "base.position", 0, c);
        out[MODULES + 3 + c] = get_field(play->others, "base.position", 0, c);
    }
}

// A ball of 2 kg at 0.2 m/s hits the third half of a chain from below, off its middle.
static void strike(bool whole, mf_Time step, double out[SEEN]) {
    const PlayConfig config = {.whole = whole,
                               .rows = 1,
                               .balls = 1,
                               .threads = 1,
                               .step = step,
                               .height = 5.0,
                               .wide = true,
                               .exact = true};
    AUTO(close_play) Play play = open_play(&config);
    put_at(&play.pitch, play.others, 0, 0.26, 0.01, 4.915);
    set_field(play.others, "base.linear_velocity", 0, 2, 0.2);
    set_field(play.others, "base.linear_velocity", 0, 1, 0.01);
    const Momentum before = momentum_of(play.pitch.groups, play.pitch.count);
    mf_world_step(play.pitch.world, (uint64_t)(200 * MF_MILLISECOND / step));
    assert_momentum(momentum_of(play.pitch.groups, play.pitch.count), before, 1e-12, 1e-10);
    assert_true(get_field(play.others, "base.linear_velocity", 0, 2) < 0.18);
    assert_int_equal(mf_group_warning(play.modules, 0), 0);
    if (!whole)
        assert_int_equal(mf_docks_statistics(play.docks).trees,
                         (uint64_t)(200 * MF_MILLISECOND / step));
    see(&play, whole, out);
}

static double blow_difference(mf_Time step) {
    double whole[SEEN], docked[SEEN], most = 0.0;
    strike(true, step, whole);
    strike(false, step, docked);
    for (uint32_t i = 0; i < SEEN; i++)
        most = fmax(most, fabs(whole[i] - docked[i]));
    print_message("a blow, step %.3g ms: differ by %.3g\n", 1e-6 * (double)step, most);
    return most;
}

// The contact acts on where accelerations of the step's beginning lead, in the one model on where
// the step leads: alike to the first order of the step.
TEST(a_blow_moves_it_as_one_robot) {
    assert_true(blow_difference(MF_MILLISECOND) < 2e-5);
    assert_true(blow_difference(MF_MILLISECOND / 8) < 2e-6);
}

// ---- rows on each other -------------------------------------------------------------------------

// [N] Upward on the robots of a row from those that are not in it.
static double load_on_row(Play *play, uint32_t row) {
    mf_Contact contacts[256];
    uint32_t count;
    double sum = 0.0;
    MUST(mf_world_contacts(play->pitch.world, contacts, 256, &count, &error));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t s = 0; s < 2; s++) {
            const mf_ShapeOwner *owner = &contacts[i].owners[s];
            if (contacts[i].owners[1].group != NULL && owner->group == play->modules &&
                owner->instance / MODULES == row)
                sum += (s == 1 ? 1.0 : -1.0) * contacts[i].force[2];
        }
    return sum;
}

// The lower one lies on the ground and bears the weight of the upper one, both as trees.
TEST(rows_rest_on_each_other) {
    for (uint32_t wide = 0; wide < 2; wide++) {
        const PlayConfig config = {.rows = 2,
                                   .threads = 1,
                                   .step = 2 * MF_MILLISECOND,
                                   .gravity = 9.81,
                                   .height = 0.031,
                                   .wide = wide,
                                   .ground = true};
        AUTO(close_play) Play play = open_play(&config);
        const uint32_t steps = SANITIZED ? 300 : 700;
        mf_world_step(play.pitch.world, steps);
        print_message("a row on a row: bears %.6g N of %.6g N\n", load_on_row(&play, 1),
                      0.8 * MODULES * 9.81);
        assert_near(load_on_row(&play, 1), 0.8 * MODULES * 9.81, 5e-4 * 0.8 * MODULES * 9.81);
        const mf_DocksStatistics seen = mf_docks_statistics(play.docks);
        assert_int_equal(seen.trees, 2 * steps);
        assert_int_equal(mf_group_warning(play.modules, 5), 0);
        assert_int_equal(mf_group_fault_total(play.modules), 0);
    }
}

// ---- bits ---------------------------------------------------------------------------------------

// Rows that fall on each other and on balls, in blocks that are not full.
static Play open_heap(uint32_t threads, mf_Isa isa, bool wide) {
    const PlayConfig config = {.rows = 3,
                               .balls = 3,
                               .threads = threads,
                               .isa = isa,
                               .step = 4 * MF_MILLISECOND,
                               .gravity = 9.81,
                               .height = 0.15,
                               .wide = wide,
                               .ground = true};
    Play play = open_play(&config);
    for (uint32_t b = 0; b < config.balls; b++)
        put_at(&play.pitch, play.others, b, 0.25 * b, 0.0, 0.05);
    return play;
}

static uint64_t hash_of(const void *user, uint32_t threads, mf_Isa isa) {
    AUTO(close_play) Play play = open_heap(threads, isa, *(const bool *)user);
    mf_world_step(play.pitch.world, SANITIZED ? 20 : 50);
    assert_true(mf_docks_statistics(play.docks).trees >= 3 * 20);
    assert_int_equal(mf_group_fault_total(play.modules), 0);
    return mf_world_hash(play.pitch.world);
}

TEST(bits_depend_on_nothing_else) {
    for (int wide = 0; wide < 2; wide++)
        assert_same_bits(hash_of, &(bool){wide});
}

TEST(a_snapshot_of_a_heap_continues) {
    AUTO(close_play) Play play = open_heap(1, MF_ISA_AUTO, true);
    mf_world_step(play.pitch.world, 40);
    assert_continues(play.pitch.world, 20);
}
