// Environments with any task: rejected settings, ends and starts of episodes, seeds and masks,
// snapshots during an episode, memory, and robots with faults.
#include "environment/support.h"

// ---- rejected input ----------------------------------------------------------------------------

TEST(mistakes_are_reported_in_one_line) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model = load_text(context, text_of("inverted_pendulum"));
    size_t bytes = mf_context_live_bytes(context);
    static const mf_TaskSetting odd[] = {{"reset_noise_scale", -0.1},
                                         {"reset_noise_scale", (double)NAN},
                                         {"noise", 0.1},
                                         {NULL, 0.1}};
    const mf_EnvironmentConfig good = WITH(rig_config("inverted_pendulum", 2), .model = model);
    const struct {
        mf_EnvironmentConfig config;
        mf_Status status;
        const char *part; // of the message
    } mistakes[] = {
        {WITH(good, .struct_size = 1), MF_BAD_ARGUMENT, "mf_environment_config()"},
        {WITH(good, .model = NULL), MF_BAD_ARGUMENT, "need a model"},
        {WITH(good, .task = NULL), MF_NOT_FOUND, "no task ''"},
        {WITH(good, .task = "Ant"), MF_NOT_FOUND, "no task 'Ant'"},
        {WITH(good, .count = 0), MF_BAD_ARGUMENT, "count: expected 1 to 2^26, found 0"},
        {WITH(good, .count = (1u << 26) + 1), MF_BAD_ARGUMENT, "found 67108865"},
        {WITH(good, .frame_skip = 1001), MF_BAD_ARGUMENT,
         "frame_skip: expected 1 to 1000, found 1001"},
        {WITH(good, .autoreset = (mf_Autoreset)3), MF_BAD_ARGUMENT, "autoreset"},
        {WITH(good, .observation_type = MF_U32), MF_BAD_ARGUMENT, "MF_F64 or MF_F32"},
        {WITH(good, .setting_count = 1), MF_BAD_ARGUMENT, "settings"},
        {WITH(good, .settings = &odd[0], .setting_count = 1), MF_BAD_ARGUMENT,
         "reset_noise_scale: expected 0 to 1e+30, found -0.1"},
        {WITH(good, .settings = &odd[1], .setting_count = 1), MF_BAD_ARGUMENT, "found nan"},
        {WITH(good, .settings = &odd[2], .setting_count = 1), MF_NOT_FOUND, "no parameter 'noise'"},
        {WITH(good, .settings = &odd[3], .setting_count = 1), MF_NOT_FOUND, "no parameter ''"},
        {WITH(good, .motion = (mf_Motion)99), MF_BAD_ARGUMENT, "99 is not a motion"},
        {WITH(good, .motion = MF_MOTION_POINTS), MF_UNSUPPORTED, "supported motions"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        mf_Environment *environment = (mf_Environment *)model;
        mf_Error error = {0};
        assert_fails(mf_environment_create(context, &mistakes[i].config, &environment, &error),
                     mistakes[i].status, &error, mistakes[i].part);
        assert_null(strchr(error.message, '\n'));
        assert_null(environment);
        assert_int_equal(mf_context_live_bytes(context), bytes);
    }
    mf_Environment *environment;
    assert_int_equal(mf_environment_create(context, NULL, &environment, NULL), MF_BAD_ARGUMENT);
    mf_environment_destroy(NULL);
}

// Every task with every model of the other tasks: it is made, or says what it lacks.
TEST(models_that_lack_things_are_refused) {
    AUTO_CONTEXT *context = open_context(1);
    uint32_t refused = 0;
    for (int m = 0; m < TASKS; m++) {
        AUTO_MODEL *model = load_text(context, task_models[m].text);
        for (int t = 0; t < TASKS; t++) {
            mf_Environment *environment;
            mf_Error error = {0};
            mf_EnvironmentConfig config = WITH(rig_config(task_models[t].task, 1), .model = model);
            mf_Status status = mf_environment_create(context, &config, &environment, &error);
            mf_environment_destroy(environment);
            if (status == MF_OK)
                continue;
            refused++;
            assert_true(t != m);
            assert_int_equal(status, MF_UNSUPPORTED);
            assert_non_null(strstr(error.message, task_models[t].task));
            assert_null(strchr(error.message, '\n'));
        }
    }
    // Three tasks take any free base, of which there are three; two take the two runners of six
    // joints; four have a model each; a swimmer may be any of the four chains in a plane, and a
    // hopper has one model.
    assert_int_equal(refused, TASKS * TASKS - 3 * 3 - 2 * 2 - 4 - 4 - 1);
}

TEST(a_model_without_actuators_is_refused) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model = load_text(context, "<mujoco><worldbody><body><freejoint/>"
                                           "<geom size='.1'/></body></worldbody></mujoco>");
    for (int t = 0; t < TASKS; t++) {
        mf_Environment *environment;
        mf_EnvironmentConfig config = WITH(rig_config(task_models[t].task, 1), .model = model);
        MUST_FAIL(mf_environment_create(context, &config, &environment, &error), MF_UNSUPPORTED,
                  "");
    }
}

TEST(a_step_before_the_reset_is_refused) {
    mf_EnvironmentConfig config = rig_config("inverted_pendulum", 20);
    uint8_t mask[20] = {0};
    uint64_t seeds[20] = {0};
    AUTO_RIG rig = rig_open(text_of("inverted_pendulum"), config, 1);
    MUST_FAIL(mf_environment_reset(rig.environment, NULL, NULL, &rig.buffers, &error),
              MF_BAD_ARGUMENT, "robot 0 never had a seed");
    for (uint32_t i = 0; i < 20; i++)
        mask[i] = i != 17;
    MUST(mf_environment_reset(rig.environment, mask, seeds, &rig.buffers, &error));
    uint64_t before = mf_world_hash(mf_environment_world(rig.environment));
    MUST_FAIL(mf_environment_step(rig.environment, &rig.buffers, &error), MF_BAD_ARGUMENT,
              "robot 17 was never reset");
    assert_true(mf_world_hash(mf_environment_world(rig.environment)) == before);
    MUST(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error));
}

TEST(actions_that_are_not_finite_are_refused) {
    static const float odd[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};
    AUTO_RIG rig = rig_open(text_of("half_cheetah"), rig_config("half_cheetah", 20), 2);
    rig_reset(&rig, 1);
    rig_step(&rig);
    uint64_t before = mf_world_hash(mf_environment_world(rig.environment));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        rig.action[18 * 6 + 4] = odd[i];
        MUST_FAIL_AS(mf_environment_step(rig.environment, &rig.buffers, &error), MF_BAD_ARGUMENT,
                     "step: action 4 of robot 18 is not a finite number");
        assert_true(mf_world_hash(mf_environment_world(rig.environment)) == before);
    }
    rig.action[18 * 6 + 4] = 1e30f; // finite: the actuator limits it
    rig_step(&rig);
    assert_int_equal(mf_group_fault_total(rig.group), 0);
}

// ---- queries -----------------------------------------------------------------------------------

TEST(accessors_return_settings) {
    static const mf_TaskSetting settings[] = {{"healthy_reward", 3.5}};
    double lower, upper;
    mf_EnvironmentConfig config = WITH(rig_config("inverted_double_pendulum", 3),
                                       .settings = settings, .setting_count = 1, .frame_skip = 7);
    AUTO_RIG rig = rig_open(text_of("inverted_double_pendulum"), config, 1);
    assert_int_equal(mf_environment_count(rig.environment), 3);
    assert_int_equal(rig.seen, 9);
    assert_int_equal(rig.actions, 1);
    assert_near(mf_environment_interval(rig.environment), 0.07, 1e-15);
    assert_true(mf_environment_parameter(rig.environment, "healthy_reward") == 3.5);
    assert_true(mf_environment_parameter(rig.environment, "reset_noise_scale") == 0.1);
    assert_true(isnan(mf_environment_parameter(rig.environment, "nothing")));
    assert_true(isnan(mf_environment_parameter(rig.environment, NULL)));
    mf_environment_action_range(rig.environment, 0, &lower, &upper);
    assert_true(lower == -1.0 && upper == 1.0);
    mf_environment_action_range(rig.environment, 1, &lower, &upper);
    assert_true(isnan(lower) && isnan(upper));
}

TEST(tasks_are_listed) {
    assert_true(mf_task_count() >= TASKS);
    assert_null(mf_task_info(mf_task_count()));
    assert_null(mf_task_find(NULL));
    assert_null(mf_task_find("nothing"));
    for (uint32_t i = 0; i < mf_task_count(); i++) {
        const mf_TaskInfo *info = mf_task_info(i);
        assert_ptr_equal(mf_task_find(info->name), info);
        assert_true(info->frame_skip <= 1000 && info->episode_steps >= 1);
        for (uint32_t p = 0; p < info->parameter_count; p++) {
            const mf_TaskParameter *own = &info->parameters[p];
            assert_true(own->lower <= own->value && own->value <= own->upper);
            assert_true(own->name[0] != '\0' && own->unit[0] != '\0' &&
                        own->description[0] != '\0');
        }
    }
}

// ---- memory ------------------------------------------------------------------------------------

TEST(a_step_makes_no_fallible_call) {
    for (int t = 0; t < TASKS; t++) {
        mf_EnvironmentConfig config = WITH(rig_config(task_models[t].task, 40),
                                           .autoreset = MF_AUTORESET_SAME_STEP, .episode_steps = 3);
        AUTO_RIG rig = rig_open(task_models[t].text, config, 2);
        rig_reset(&rig, 5);
        uint64_t calls = mf_context_call_count(rig.context);
        size_t bytes = mf_context_live_bytes(rig.context);
        for (uint32_t n = 0; n < 7; n++)
            act_and_step(&rig, n);
        rig_reset(&rig, 6);
        assert_int_equal(mf_context_call_count(rig.context), calls);
        assert_int_equal(mf_context_live_bytes(rig.context), bytes);
    }
}

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    const TaskModel *own = user;
    mf_Environment *environment = (mf_Environment *)user;
    AUTO_MODEL *model = NULL;
    MF_TRY(try_text(context, own->text, &model, error));
    mf_Status status = mf_environment_create(
        context, &WITH(rig_config(own->task, 20), .model = model), &environment, error);
    assert_true(status == MF_OK || environment == NULL);
    mf_environment_destroy(environment);
    return status;
}

TEST(making_survives_every_failure) {
    AUTO_CONTEXT *context = open_context(1);
    for (int t = 0; t < TASKS; t += 5) { // one with forces, one with limits, one of planes
        TaskModel own = task_models[t];
        assert_true(torture(context, make_and_step, &own, TORTURE_MUST_FAIL) > 30);
    }
}
