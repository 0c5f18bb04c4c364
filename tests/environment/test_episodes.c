// Ends and starts of episodes: the three kinds of reset, masks and seeds, snapshots during an
// episode, and robots with faults.
#include "environment/support.h"

enum { ROBOTS = 20, LIMIT = 4 };

static Rig open_poles(mf_Autoreset autoreset, uint32_t episode_steps, uint64_t seed) {
    return rig_begin(text_of("inverted_pendulum"),
                     WITH(rig_config("inverted_pendulum", ROBOTS), .autoreset = autoreset,
                          .episode_steps = episode_steps),
                     seed);
}

// Puts the pole of a robot so far over that its next step ends the episode.
static void tip_over(Rig *rig, uint32_t robot) {
    const double position[2] = {0.1, 0.6}, velocity[2] = {0.0, 0.0};
    mf_group_set_state(rig->group, robot, position, velocity);
}

static uint32_t steps_of(const Rig *rig, uint32_t robot) {
    return (uint32_t)rig_field(rig, "episode.steps", robot, 0);
}

// What a reset alone gives this robot in its n-th episode.
static void expect_start(const Rig *rig, uint32_t robot, uint64_t seed, uint32_t n) {
    AUTO_RIG other = open_poles(MF_AUTORESET_OFF, 0, seed - robot);
    for (uint32_t i = 1; i < n; i++)
        MUST(mf_environment_reset(other.environment, NULL, NULL, &other.buffers, &error));
    assert_memory_equal(rig_observation(rig, robot), rig_observation(&other, robot),
                        rig->seen * sizeof(double));
}

// ---- kinds of reset ----------------------------------------------------------------------------

// The step that starts anew reads no action, gives no reward and no flag; others go on meanwhile.
TEST(next_step) {
    AUTO_RIG rig = open_poles(MF_AUTORESET_NEXT_STEP, 0, 100);
    tip_over(&rig, 3);
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_int_equal(rig.buffers.terminated[i], i == 3);
        assert_int_equal(rig.buffers.truncated[i], 0);
        assert_true(rig.buffers.reward[i] == (i == 3 ? 0.0 : 1.0));
        assert_int_equal(steps_of(&rig, i), 1);
    }
    assert_true(rig_observation(&rig, 3)[1] > 0.5); // where it ended
    rig.action[3] = (float)NAN;                     // not read
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_int_equal(rig.buffers.terminated[i], 0);
        assert_true(rig.buffers.reward[i] == (i == 3 ? 0.0 : 1.0));
        assert_int_equal(steps_of(&rig, i), i == 3 ? 0 : 2);
    }
    expect_start(&rig, 3, 103, 2);
    rig.action[3] = 0.0f;
    rig_step(&rig);
    assert_true(rig.buffers.reward[3] == 1.0);
}

// One step ends an episode and begins the next; the end is in final_observation.
TEST(same_step) {
    AUTO_RIG rig = open_poles(MF_AUTORESET_SAME_STEP, 0, 100);
    tip_over(&rig, 3);
    double *final = rig.buffers.final_observation;
    for (uint32_t i = 0; i < ROBOTS * rig.seen; i++)
        final[i] = -77.0;
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_int_equal(rig.buffers.terminated[i], i == 3);
        assert_true(rig.buffers.reward[i] == (i == 3 ? 0.0 : 1.0));
        for (uint32_t k = 0; k < rig.seen; k++)
            assert_int_equal(final[i * rig.seen + k] == -77.0, i != 3);
    }
    assert_true(final[3 * rig.seen + 1] > 0.5);
    expect_start(&rig, 3, 103, 2);
    assert_int_equal(steps_of(&rig, 3), 0);
    rig_step(&rig);
    assert_true(rig.buffers.reward[3] == 1.0);
    assert_int_equal(rig.buffers.terminated[3], 0);
}

// Nothing starts by itself.
TEST(off) {
    uint8_t mask[ROBOTS] = {[3] = 1};
    AUTO_RIG rig = open_poles(MF_AUTORESET_OFF, 0, 100);
    tip_over(&rig, 3);
    for (uint32_t n = 1; n < 4; n++) {
        rig_step(&rig);
        assert_int_equal(rig.buffers.terminated[3], 1);
        assert_int_equal(steps_of(&rig, 3), n);
    }
    MUST(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error));
    expect_start(&rig, 3, 103, 2);
    rig_step(&rig);
    assert_int_equal(rig.buffers.terminated[3], 0);
}

TEST(episodes_are_cut_off) {
    for (int method = 0; method < 3; method++) {
        const uint32_t round = method == MF_AUTORESET_NEXT_STEP ? LIMIT + 1 : LIMIT;
        AUTO_RIG rig = open_poles((mf_Autoreset)method, LIMIT, 7);
        for (uint32_t n = 1; n <= 3 * round; n++) {
            rig_step(&rig);
            for (uint32_t i = 0; i < ROBOTS; i++) {
                bool cut = method == MF_AUTORESET_OFF ? n >= LIMIT : n % round == LIMIT % round;
                bool wakes = method == MF_AUTORESET_NEXT_STEP && n % round == 0;
                assert_int_equal(rig.buffers.truncated[i], cut);
                assert_int_equal(rig.buffers.terminated[i], 0);
                assert_true(rig.buffers.reward[i] == (wakes ? 0.0 : 1.0));
            }
        }
    }
}

// A robot may fail in its last step: both flags.
TEST(both_ends_at_once) {
    AUTO_RIG rig = open_poles(MF_AUTORESET_NEXT_STEP, 1, 7);
    tip_over(&rig, 11);
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_int_equal(rig.buffers.truncated[i], 1);
        assert_int_equal(rig.buffers.terminated[i], i == 11);
    }
}

TEST(episodes_without_end) {
    AUTO_RIG rig = open_poles(MF_AUTORESET_NEXT_STEP, MF_NONE, 7);
    set_field(rig.group, "episode.steps", 2, 0, 4294967294.0);
    for (int n = 0; n < 3; n++) {
        rig_step(&rig);
        assert_int_equal(rig.buffers.truncated[2], 0);
    }
}

// ---- masks, seeds, buffers ---------------------------------------------------------------------

// Rows of other robots are neither written nor is anything of theirs changed.
TEST(masks_choose) {
    uint8_t mask[ROBOTS];
    uint64_t seeds[ROBOTS], before[ROBOTS];
    AUTO_RIG rig = open_poles(MF_AUTORESET_NEXT_STEP, 0, 40);
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        mask[i] = (uint8_t)(i % 3 == 0 ? 1 + i : 0);
        seeds[i] = 40 + i;
        before[i] = mf_group_instance_hash(rig.group, i);
    }
    memset(rig.buffers.observation, 0, ROBOTS * rig.seen * sizeof(double));
    memset(rig.buffers.reward, 0xff, ROBOTS * sizeof(double));
    MUST(mf_environment_reset(rig.environment, mask, seeds, &rig.buffers, &error));
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_int_equal(mf_group_instance_hash(rig.group, i) == before[i], i % 3 != 0);
        assert_int_equal(rig_observation(&rig, i)[0] != 0.0, i % 3 == 0);
        assert_true(isnan(rig.buffers.reward[i]));
        if (i % 3 == 0)
            expect_start(&rig, i, 40 + i, 1);
    }
}

TEST(seeds_begin_anew_or_go_on) {
    double first[4], second[4];
    AUTO_RIG rig = open_poles(MF_AUTORESET_OFF, 0, 1);
    memcpy(first, rig_observation(&rig, 6), sizeof first);
    MUST(mf_environment_reset(rig.environment, NULL, NULL, &rig.buffers, &error));
    memcpy(second, rig_observation(&rig, 6), sizeof second);
    assert_memory_not_equal(first, second, sizeof first);
    rig_reset(&rig, 1);
    assert_memory_equal(first, rig_observation(&rig, 6), sizeof first);
    MUST(mf_environment_reset(rig.environment, NULL, NULL, &rig.buffers, &error));
    assert_memory_equal(second, rig_observation(&rig, 6), sizeof second);
    rig_reset(&rig, (uint64_t)1 << 40 | 1); // the upper half counts
    assert_memory_not_equal(first, rig_observation(&rig, 6), sizeof first);
}

TEST(buffers_that_are_not_requested) {
    AUTO_RIG rig = open_poles(MF_AUTORESET_SAME_STEP, 2, 3);
    AUTO_RIG whole = open_poles(MF_AUTORESET_SAME_STEP, 2, 3);
    mf_EnvironmentBuffers all = rig.buffers;
    rig.buffers.final_observation = NULL;
    rig.buffers.signals = rig.buffers.final_signals = NULL;
    rig_reset(&rig, 3);
    for (int n = 0; n < 5; n++) {
        rig_step(&rig);
        rig_step(&whole);
        assert_memory_equal(rig.buffers.observation, whole.buffers.observation,
                            ROBOTS * rig.seen * sizeof(double));
    }
    rig.buffers = all;
}

TEST(observations_may_be_float) {
    mf_EnvironmentConfig config = WITH(rig_config("half_cheetah", ROBOTS),
                                       .autoreset = MF_AUTORESET_SAME_STEP, .episode_steps = 3);
    AUTO_RIG wide = rig_begin(text_of("half_cheetah"), config, 1);
    config.observation_type = MF_F32;
    AUTO_RIG narrow = rig_begin(text_of("half_cheetah"), config, 1);
    for (uint32_t n = 0; n < 3; n++) {
        rig_step(&wide);
        rig_step(&narrow);
        for (uint32_t i = 0; i < ROBOTS * wide.seen; i++)
            assert_true(((const float *)narrow.buffers.observation)[i] ==
                        (float)((const double *)wide.buffers.observation)[i]);
    }
    for (uint32_t i = 0; i < ROBOTS * wide.seen; i++)
        assert_true(((const float *)narrow.buffers.final_observation)[i] ==
                    (float)((const double *)wide.buffers.final_observation)[i]);
}

// ---- images ------------------------------------------------------------------------------------

TEST(images_continue_bit_for_bit) {
    for (int t = 0; t < TASKS; t++) {
        mf_EnvironmentConfig config = WITH(rig_config(task_models[t].task, ROBOTS),
                                           .episode_steps = 5, .double_precision = t % 2 == 0);
        AUTO_RIG rig = rig_begin(task_models[t].text, config, 9);
        AUTO_RIG other = rig_open(task_models[t].text, config, 2);
        for (uint32_t n = 0; n < 8; n++)
            act_and_step(&rig, n);
        mf_World *from = mf_environment_world(rig.environment);
        size_t size;
        AUTO(end_memory) void *image = take_snapshot(from, &size);
        mf_World *to = mf_environment_world(other.environment);
        assert_int_equal(mf_world_restore(to, image, size, NULL), MF_OK);
        for (uint32_t n = 8; n < 15; n++) {
            act_and_step(&rig, n);
            act_and_step(&other, n);
            assert_memory_equal(rig.buffers.observation, other.buffers.observation,
                                ROBOTS * rig.seen * sizeof(double));
            assert_memory_equal(rig.buffers.reward, other.buffers.reward, ROBOTS * sizeof(double));
            assert_memory_equal(rig.buffers.truncated, other.buffers.truncated, ROBOTS);
            assert_memory_equal(rig.buffers.signals, other.buffers.signals,
                                ROBOTS * rig.signals * sizeof(double));
        }
        assert_true(mf_world_hash(from) == mf_world_hash(to));
    }
}

// ---- faults ------------------------------------------------------------------------------------

// Poisons one state value of a robot; its episode ends, a reset heals it, nobody else notices.
static void poison(int task, mf_Autoreset way, const char *name) {
    uint8_t mask[ROBOTS] = {[5] = 1};
    mf_EnvironmentConfig config = rig_config(task_models[task].task, ROBOTS);
    config.autoreset = way;
    AUTO_RIG rig = rig_begin(task_models[task].text, config, 9);
    AUTO_RIG clean = rig_begin(task_models[task].text, config, 9);
    for (uint32_t n = 0; n < 6; n++) {
        if (n == 2)
            set_field(rig.group, name, 5, 0, (double)NAN);
        act_and_step(&rig, n);
        act_and_step(&clean, n);
        if (n == 2) {
            assert_int_equal(rig.buffers.terminated[5], 1);
            assert_true(isfinite(rig.buffers.reward[5]));
        }
        for (uint32_t i = 0; i < ROBOTS; i++) {
            if (i != 5) {
                assert_true(mf_group_instance_hash(rig.group, i) ==
                            mf_group_instance_hash(clean.group, i));
                assert_memory_equal(rig_observation(&rig, i), rig_observation(&clean, i),
                                    rig.seen * sizeof(double));
            }
            for (uint32_t k = 0; k < rig.seen; k++)
                assert_true(isfinite(rig_observation(&rig, i)[k]));
        }
        if (n == 2 && way == MF_AUTORESET_OFF)
            MUST(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error));
    }
    assert_int_equal(mf_group_fault(rig.group, 5), 0);
    assert_true(isfinite(rig.buffers.reward[5]));
    for (uint32_t s = 0; s < rig.signals; s++)
        assert_true(isfinite(rig.buffers.signals[5 * rig.signals + s]));
}

TEST(corrupted_states_end_an_episode_only) {
    for (int t = 0; t < TASKS; t++)
        for (int method = 0; method < 3; method++) {
            poison(t, (mf_Autoreset)method, "joint.rate");
            poison(t, (mf_Autoreset)method, "joint.angle");
        }
    poison(0, MF_AUTORESET_NEXT_STEP, "base.position");
    poison(3, MF_AUTORESET_SAME_STEP, "base.orientation");
}
