// Shared groups and world systems: order, gaps, rates, threads; initial states of single instances;
// requirements of snapshots on systems.
#include "motion/rig.h"

enum { MOST = 4096 };

typedef struct Entry {
    uint64_t tick;
    int who;
    uint32_t first, count;
} Entry;

// Written by one thread only (one context thread in the tests that read its order).
static struct {
    uint32_t count;
    Entry entries[MOST];
} diary;

static void note(uint64_t tick, int who, uint32_t first, uint32_t count) {
    assert_true(diary.count < MOST);
    diary.entries[diary.count++] = (Entry){tick, who, first, count};
}

static void group_note(const mf_SystemRun *run, void *user) {
    note(run->tick, *(const int *)user, run->first_block, run->block_count);
}

static void world_note(const mf_WorldRun *run, void *user) {
    assert_true(run->time == (mf_Time)run->tick * run->step);
    note(run->tick, *(const int *)user, 0, 0);
}

static Rig open_shared(uint32_t threads, uint32_t count) {
    static const double moment[3] = {1, 1, 1};
    Rig rig = rig_begin(threads);
    mf_hand_inertia(rig.hand, 0, 1.0, moment);
    rig.world = open_world(rig.context, NULL);
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = &rig.hand->model,
                                           .isolated = false, .count = count));
    return rig;
}

static void add_group_system(mf_Group *group, mf_Phase phase, mf_Rate rate, mf_SystemFn run,
                             void *user) {
    MUST(mf_group_add_system(
        group, &WITH(mf_system_config(), .phase = phase, .rate = rate, .run = run, .user = user),
        &error));
}

static void add_world_system(mf_World *world, mf_Phase phase, mf_Rate rate, mf_WorldSystemFn run,
                             void *user) {
    MUST(mf_world_add_system(
        world,
        &WITH(mf_world_system_config(), .phase = phase, .rate = rate, .run = run, .user = user),
        &error));
}

static const mf_Rate always = {0, 0};

// World systems run before the groups' systems of their phase, those of AFTER behind everything.
TEST(world_systems_are_in_order) {
    static int who[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const mf_Phase phases[] = {MF_PHASE_AFTER, MF_PHASE_MOTION, MF_PHASE_CONTROL,
                                      MF_PHASE_SENSE};
    static const int expected[] = {7, 3, 6, 2, 5, 1, 0, 4};
    diary.count = 0;
    AUTO_RIG rig = open_shared(1, 5);
    mf_Group *group = rig.group;
    for (int i = 0; i < 4; i++) {
        add_group_system(group, phases[i], always, group_note, &who[i]);
        add_world_system(rig.world, phases[i], always, world_note, &who[4 + i]);
    }
    mf_world_step(rig.world, 3);
    assert_int_equal(diary.count, 24);
    for (uint32_t i = 0; i < 24; i++) {
        assert_int_equal(diary.entries[i].who, expected[i % 8]);
        assert_int_equal(diary.entries[i].tick, i / 8);
    }
    assert_int_equal(mf_world_system_count(rig.world), 4);
    assert_int_equal(mf_world_system(rig.world, 0)->phase, MF_PHASE_SENSE);
    assert_null(mf_world_system(rig.world, 4));
}

// Between two world systems each piece of blocks goes through all its systems at once; a world
// system that is not due in a step does not cut it.
TEST(pieces_run_through_a_gap) {
    static int sense = 1, motion = 2, world = 3;
    diary.count = 0;
    AUTO_RIG rig = open_shared(1, 150 * MF_BLOCK);
    mf_Group *group = rig.group;
    add_group_system(group, MF_PHASE_SENSE, always, group_note, &sense);
    add_group_system(group, MF_PHASE_MOTION, always, group_note, &motion);
    add_world_system(rig.world, MF_PHASE_CONTROL, (mf_Rate){50, 1}, world_note, &world);
    mf_world_step(rig.world, 2);
    static const Entry expected[] = {
        {0, 1, 0, 64},  {0, 1, 64, 64},  {0, 1, 128, 22}, {0, 3, 0, 0},  {0, 2, 0, 64},
        {0, 2, 64, 64}, {0, 2, 128, 22}, {1, 1, 0, 64},   {1, 2, 0, 64}, {1, 1, 64, 64},
        {1, 2, 64, 64}, {1, 1, 128, 22}, {1, 2, 128, 22}};
    assert_int_equal(diary.count, sizeof expected / sizeof *expected);
    for (uint32_t i = 0; i < diary.count; i++) {
        assert_int_equal(diary.entries[i].who, expected[i].who);
        assert_int_equal(diary.entries[i].tick, expected[i].tick);
        assert_int_equal(diary.entries[i].first, expected[i].first);
        assert_int_equal(diary.entries[i].count, expected[i].count);
    }
}

// Rates of world systems and of shared groups are exact, however steps are cut into calls.
TEST(rates_are_exact) {
    static const mf_Rate rates[] = {{30, 1}, {30000, 1001}, {7, 1}, {1, 1}, {100, 1}, {25, 2}};
    static int who[2] = {0, 1};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (uint64_t chunk = 1; chunk <= 500; chunk = chunk * 8 + 1) {
            diary.count = 0;
            AUTO_RIG rig = open_shared(1, 1);
            mf_Group *group = rig.group;
            add_group_system(group, MF_PHASE_SENSE, rates[r], group_note, &who[0]);
            mf_world_step(rig.world, 3);
            add_world_system(rig.world, MF_PHASE_AFTER, rates[r], world_note, &who[1]);
            for (uint64_t done = 3; done < 500; done += chunk)
                mf_world_step(rig.world, chunk);
            uint32_t at = 0;
            const mf_Time step = 10 * MF_MILLISECOND;
            for (uint64_t tick = 0; tick < 500; tick++)
                for (int i = 0; i < 2; i++) {
                    bool due =
                        (i == 0 || tick >= 3) && mf_rate_due(rates[r], (mf_Time)tick * step, step);
                    bool ran = at < diary.count && diary.entries[at].tick == tick &&
                               diary.entries[at].who == i;
                    assert_int_equal(due, ran);
                    at += ran;
                }
        }
}

// ---- threads ------------------------------------------------------------------------------------

typedef struct Sum {
    mf_Field *value;
    mf_Group *groups[3];
} Sum;

static void mix(const mf_SystemRun *run, void *user) {
    mf_Field *field = user;
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK; i++)
        mf_field_set(field, i, 0, mf_field_get(field, i, 0) * 1.5 + i + (double)run->tick);
}

// Every robot gets something of the one on the other end of the next group.
static void exchange(const mf_WorldRun *run, void *user) {
    const Sum *sum = user;
    for (int g = 0; g < 3; g++) {
        mf_Field *to = mf_group_find_field(sum->groups[g], "base.position");
        mf_Field *from = mf_group_find_field(sum->groups[(g + 1) % 3], "base.position");
        for (uint32_t i = 0; i < mf_group_count(sum->groups[g]); i++) {
            uint32_t other =
                (uint32_t)((i * 7 + run->tick) % mf_group_count(sum->groups[(g + 1) % 3]));
            mf_field_set(to, i, 0, 1e-3 * (mf_field_get(to, i, 0) + mf_field_get(from, other, 0)));
        }
    }
}

TEST(bits_do_not_depend_on_threads) {
    uint64_t hash[4];
    static const uint32_t threads[] = {1, 2, 4, 7};
    for (int t = 0; t < 4; t++) {
        Sum sum;
        AUTO_RIG rig = open_shared(threads[t], 1000);
        sum.groups[0] = rig.group;
        const mf_GroupConfig config = WITH(mf_group_config(), .model = &rig.hand->model);
        sum.groups[1] =
            add_group(rig.world, &WITH(config, .isolated = false, .name = "second", .count = 77));
        sum.groups[2] =
            add_group(rig.world, &WITH(config, .isolated = false, .name = "third", .count = 3000));
        mf_Group *alone = add_group(rig.world, &WITH(config, .name = "alone", .count = 50));
        add_group_system(alone, MF_PHASE_MOTION, always, mix,
                         mf_group_find_field(alone, "base.position"));
        for (int g = 0; g < 3; g++) {
            mf_Field *field = mf_group_find_field(sum.groups[g], "base.position");
            add_group_system(sum.groups[g], MF_PHASE_CONTROL, (mf_Rate){40, 1}, mix, field);
            add_group_system(sum.groups[g], MF_PHASE_MOTION, always, mix, field);
        }
        add_world_system(rig.world, MF_PHASE_SENSE, (mf_Rate){25, 1}, exchange, &sum);
        add_world_system(rig.world, MF_PHASE_MOTION, (mf_Rate){10, 1}, exchange, &sum);
        mf_world_step(rig.world, 40);
        hash[t] = mf_world_hash(rig.world);
    }
    for (int t = 1; t < 4; t++)
        assert_true(hash[t] == hash[0]);
}

// ---- starts -------------------------------------------------------------------------------------

TEST(placed_robots_start_there) {
    AUTO_RIG rig = open_shared(1, 20);
    mf_Group *group = rig.group;
    const double point[3] = {1.5, -2.25, 7.0}, rotation[4] = {0.6, 0.0, 0.8, 0.0},
                 speed[3] = {3, 4, 5};
    const double long_turn[4] = {0.601, 0.0, 0.8, 0.0};
    MUST(mf_group_set_start(group, 17, point, rotation, speed, &error));
    mf_Field *position = rig_field(&rig, "base.position");
    mf_Field *orientation = rig_field(&rig, "base.orientation");
    mf_Field *velocity = rig_field(&rig, "base.linear_velocity");
    for (int again = 0; again < 3; again++) {
        for (uint32_t c = 0; c < 3; c++) {
            assert_true(mf_field_get(position, 17, c) == point[c]);
            assert_true(mf_field_get(velocity, 17, c) == speed[c]);
            assert_true(mf_field_get(velocity, 16, c) == 0.0);
        }
        for (uint32_t c = 0; c < 4; c++)
            assert_near(mf_field_get(orientation, 17, c), rotation[c], 1e-7);
        assert_true(mf_field_get(position, 16, 0) == 0.0);
        mf_field_set(position, 17, 0, 99.0);
        mf_field_set(position, 16, 0, 99.0);
        if (again == 0) {
            mf_group_reset(group, 17);
            mf_group_reset(group, 16);
        } else
            mf_group_reset_all(group);
    }
    MUST(mf_group_set_start(group, 17, point, long_turn, NULL, &error));
    double square = 0.0;
    for (uint32_t c = 0; c < 4; c++)
        square += mf_field_get(orientation, 17, c) * mf_field_get(orientation, 17, c);
    assert_near(square, 1.0, 3e-7);
}

TEST(bad_starts_are_refused) {
    AUTO_RIG rig = open_shared(1, 20);
    mf_Group *group = rig.group;
    const double good[4] = {1, 0, 0, 0}, nan[3] = {0, NAN, 0}, far[3] = {1e10, 0, 0};
    const double zero[4] = {0, 0, 0, 0}, not_turn[4] = {1, NAN, 0, 0};
    uint64_t hash = mf_world_hash(rig.world);
    size_t bytes = mf_context_live_bytes(rig.context);
    MUST_FAIL(mf_group_set_start(group, 20, good, good, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_set_start(group, 1, nan, NULL, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_set_start(group, 1, far, NULL, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_set_start(group, 1, good, zero, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_set_start(group, 1, good, not_turn, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_set_start(group, 1, good, good, nan, &error), MF_BAD_ARGUMENT, "");
    assert_true(mf_world_hash(rig.world) == hash);
    assert_int_equal(mf_context_live_bytes(rig.context), bytes);
}

// ---- snapshots ----------------------------------------------------------------------------------

static bool is_pending(const void *user) {
    return *(const bool *)user;
}

static int resets;
static void count_reset(mf_World *world, void *user) {
    resets++;
}
static void nothing(const mf_WorldRun *run, void *user) {}

// A snapshot goes only into a world with the same starts and settings, not out of one with results
// under way; the order in which starts were given does not matter.
TEST(snapshots_check_settings) {
    static void *image;
    static size_t size;
    static const double a[3] = {1, 0, 0}, b[3] = {2, 0, 0};
    for (int which = 0; which < 5; which++) {
        mf_Error error = {0};
        static bool pending;
        pending = false;
        AUTO_RIG rig = open_shared(1, 20);
        mf_Group *group = rig.group;
        must(
            mf_group_set_start(group, which == 1 ? 5u : 3u, which == 1 ? b : a, NULL, NULL, &error),
            &error);
        if (which != 2)
            must(mf_group_set_start(group, which == 1 ? 3u : 5u, which == 1 ? a : b, NULL, NULL,
                                    &error),
                 &error);
        mf_WorldSystemConfig config =
            WITH(mf_world_system_config(), .name = "watch", .run = nothing, .reset = count_reset,
                 .pending = is_pending, .user = &pending, .settings_hash = which == 3 ? 8 : 7);
        must(mf_world_add_system(rig.world, &config, &error), &error);
        mf_SystemConfig system =
            WITH(mf_system_config(), .run = mix, .user = rig_field(&rig, "base.position"),
                 .settings_hash = which == 4 ? 1 : 0);
        must(mf_group_add_system(group, &system, &error), &error);
        if (which == 0) {
            mf_world_step(rig.world, 3);
            size = mf_world_snapshot_size(rig.world);
            image = malloc(size);
            pending = true;
            assert_int_equal(mf_world_snapshot(rig.world, image, size, &error), MF_BUSY);
            pending = false;
            must(mf_world_snapshot(rig.world, image, size, &error), &error);
        }
        resets = 0;
        mf_Status status = mf_world_restore(rig.world, image, size, &error);
        assert_int_equal(status, which < 2 ? MF_OK : MF_BAD_ARGUMENT);
        assert_int_equal(resets, which < 2);
    }
    free(image);
}

TEST(bad_systems_are_refused) {
    AUTO_RIG rig = open_shared(1, 1);
    const mf_WorldSystemConfig good = WITH(mf_world_system_config(), .run = nothing);
    const mf_WorldSystemConfig bad[] = {WITH(good, .run = NULL),
                                        WITH(good, .rate = ((mf_Rate){1, 0})),
                                        WITH(good, .struct_size = good.struct_size + 1)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        MUST_FAIL(mf_world_add_system(rig.world, &bad[i], &error), MF_BAD_ARGUMENT, "");
    for (uint32_t i = 0; i < MF_WORLD_SYSTEM_LIMIT; i++)
        MUST(mf_world_add_system(rig.world, &good, &error));
    MUST_FAIL(mf_world_add_system(rig.world, &good, &error), MF_LIMIT, "");
}
