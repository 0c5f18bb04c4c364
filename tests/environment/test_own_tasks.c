// The tasks with Mayfly's own robots: walkers with every motion, rejected settings, and bits of all
// tasks. Expected rewards, observations and ends are computed from the fields of the group.
#include "environment/support.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "model/points.h"

#define MODEL(name) MAYFLY_SOURCE_DIR "/models/" name ".urdf"

typedef struct Walker {
    const char *task, *file;
    uint32_t joints, feet, of_leg; // numbers, the last of joints of one leg
    double period;                 // [s] of its gait
} Walker;

static const Walker walkers[] = {{"hexapod", MODEL("hexapod"), 18, 6, 3, 0.8},
                                 {"quadruped", MODEL("quadruped"), 8, 4, 2, 0.6}};
enum { WALKERS = 2 };

static mf_EnvironmentConfig walker_config(const Walker *walker, mf_Motion motion, uint32_t count) {
    return WITH(single_config(walker->task, count, NULL, 0), .motion = motion);
}

// ---- walkers -----------------------------------------------------------------------------------

// A foot is the only thing of its link that collides: its load is all that the link has.
static double foot_load(const Rig *rig, uint32_t robot, const Walker *walker, uint32_t foot) {
    const mf_Field *points = mf_group_find_field(rig->group, "point.load");
    const mf_Model *model = rig->model;
    const uint32_t link = mf_model_find(
        model, MF_ITEM_LINK, formatted("%s%u", walker->of_leg == 3 ? "tibia" : "shin", foot + 1));
    assert_int_not_equal(link, MF_NONE);
    double load = 0.0;
    uint32_t row = 0;
    for (uint32_t p = 0; points != NULL && p < model->point_count; p++)
        if (model->points[p].flags & MF_POINT_COLLIDES) {
            load += model->points[p].link == link ? mf_field_get(points, robot, row) : 0.0;
            row++;
        }
    return load;
}

static void expect_walker_observation(const Rig *rig, const Walker *walker, uint32_t robot,
                                      const float *action, uint32_t extra) {
    const double *seen = rig_observation(rig, robot);
    const uint32_t joints = walker->joints;
    double matrix[9], velocity[3], rate[3];
    assert_int_equal(rig->seen, 9 + 3 * joints + walker->feet + extra);
    base_matrix(rig, robot, matrix);
    get_fields(rig->group, "base.linear_velocity", robot, 3, velocity);
    get_fields(rig->group, "base.angular_velocity", robot, 3, rate);
    for (int i = 0; i < 3; i++) {
        double along = 0.0;
        for (int k = 0; k < 3; k++)
            along += matrix[3 * k + i] * velocity[k];
        assert_near(seen[i], -matrix[6 + i], EXACT);
        assert_true(seen[3 + i] == rate[i]);
        assert_near(seen[6 + i], along, EXACT);
    }
    for (uint32_t j = 0; j < joints; j++) {
        double angle = rig_field(rig, "joint.angle", robot, j) - rig->model->start_angle[j];
        assert_near(seen[9 + j], angle, EXACT);
        assert_true(seen[9 + joints + j] == rig_field(rig, "joint.rate", robot, j));
        assert_true(seen[9 + 2 * joints + walker->feet + j] ==
                    (action != NULL ? (double)action[j] : 0.0));
    }
    for (uint32_t f = 0; f < walker->feet; f++) {
        double foot = seen[9 + 2 * joints + f];
        assert_true(foot == 0.0 || foot == 1.0);
        if (mf_group_find_field(rig->group, "point.load") != NULL)
            assert_true(foot == (foot_load(rig, robot, walker, f) > 0.0 ? 1.0 : 0.0));
    }
}

// What a step was worth by the numbers of docs/reference/environments.md.
static double walker_reward(const Rig *rig, const Walker *walker, uint32_t robot,
                            const double before[3], const float *last) {
    const double interval = mf_environment_interval(rig->environment);
    double matrix[9], forward, effort = 0.0, change = 0.0;
    forward = (rig_field(rig, "base.position", robot, 0) - before[0]) / interval;
    base_matrix(rig, robot, matrix);
    for (uint32_t j = 0; j < walker->joints; j++) {
        double rate = rig_field(rig, "joint.rate", robot, j);
        double step = (double)rig->action[robot * walker->joints + j] -
                      (double)last[robot * walker->joints + j];
        effort += rate * rate / walker->joints;
        change += step * step / walker->joints;
    }
    bool fallen = matrix[8] < 0.5 ||
                  rig_field(rig, "base.position", robot, 2) < 0.4 * rig->model->rest_height;
    assert_int_equal(rig->buffers.terminated[robot], fallen);
    return 5.0 * forward - 0.002 * effort - 0.05 * change + (fallen ? 0.0 : 0.2);
}

static void walker_by_hand(const Walker *walker, mf_Motion motion) {
    enum { ROBOTS = 18, STEPS = 6 };
    double before[ROBOTS][3];
    float last[ROBOTS * 18] = {0};
    AUTO_RIG rig = rig_open(walker->file, walker_config(walker, motion, ROBOTS), 1);
    assert_near(mf_environment_interval(rig.environment), 0.04, 1e-15);
    rig_reset(&rig, 70);
    for (uint32_t i = 0; i < ROBOTS; i++)
        expect_walker_observation(&rig, walker, i, NULL, 0);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            get_fields(rig.group, "base.position", i, 3, before[i]);
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            expect_walker_observation(&rig, walker, i, rig.action + (size_t)i * walker->joints, 0);
            assert_near(rig.buffers.reward[i], walker_reward(&rig, walker, i, before[i], last),
                        1e-11);
        }
        memcpy(last, rig.action, sizeof *last * ROBOTS * walker->joints);
    }
}

TEST(walkers_by_hand_at_every_motion) {
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_LEVELS; m++)
            walker_by_hand(&walkers[w], (mf_Motion)m);
}

TEST(starts_stand_on_the_ground) {
    enum { ROBOTS = 20 };
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_LEVELS; m++) {
            double angle[18], position[64][3], rotation[64][4];
            AUTO_RIG rig =
                rig_begin(walkers[w].file, walker_config(&walkers[w], (mf_Motion)m, ROBOTS), 5);
            for (uint32_t i = 0; i < ROBOTS; i++) {
                get_fields(rig.group, "joint.angle", i, walkers[w].joints, angle);
                mf_model_pose(rig.model, angle, position, rotation);
                double lowest =
                    mf_model_lowest(rig.model, position, rotation, m != MF_MOTION_POINTS);
                assert_near(rig_field(&rig, "base.position", i, 2) + lowest, 0.0, EXACT);
                for (uint32_t j = 0; j < walkers[w].joints; j++)
                    assert_true(fabs(angle[j] - rig.model->start_angle[j]) <= 0.05);
            }
            assert_true(rig_field(&rig, "joint.angle", 0, 0) !=
                        rig_field(&rig, "joint.angle", 1, 0));
        }
}

static void overturn(Rig *rig, uint32_t robot, double height, double tilt) {
    mf_Field *position = mf_group_find_field(rig->group, "base.position");
    mf_Field *rotation = mf_group_find_field(rig->group, "base.orientation");
    mf_field_set(position, robot, 2, height);
    mf_field_set(rotation, robot, 0, cos(0.5 * tilt));
    mf_field_set(rotation, robot, 1, sin(0.5 * tilt));
    mf_group_refresh(rig->group, robot);
}

// Standing still all feet bear load, in the air none does; what knows no forces cannot fly.
TEST(contact_sensors_of_feet) {
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_LEVELS; m++) {
            mf_TaskSetting setting = {"reset_noise_scale", 0.0};
            mf_EnvironmentConfig config = WITH(walker_config(&walkers[w], (mf_Motion)m, 2),
                                               .settings = &setting, .setting_count = 1);
            AUTO_RIG rig = rig_begin(walkers[w].file, config, 1);
            for (uint32_t n = 0; n < 25; n++)
                rig_step(&rig);
            overturn(&rig, 1, 1.0, 0.0);
            rig_step(&rig);
            for (uint32_t i = 0; i < (m == MF_MOTION_KINEMATIC ? 1 : 2); i++)
                for (uint32_t f = 0; f < walkers[w].feet; f++)
                    if (rig_observation(&rig, i)[9 + 2 * walkers[w].joints + f] != (i == 0))
                        fail_msg("%s by %s: foot %u of robot %u", walkers[w].task,
                                 mf_motion_name((mf_Motion)m), f, i);
        }
}

// One leg's joints: the first sweeps, the second lifts the foot while it swings forward.
static float gait(const Walker *walker, uint32_t joint, double time) {
    uint32_t leg = joint / walker->of_leg, kind = joint % walker->of_leg;
    bool second = walker->joints == 18 ? leg % 2 == 1 : leg == 1 || leg == 2;
    double phase = 2.0 * M_PI * (time / walker->period + (second ? 0.5 : 0.0));
    if (kind == 0)
        return (float)(-0.9 * cos(phase));
    return kind == 1 ? (float)fmax(0.0, 0.9 * sin(phase)) : 0.0f;
}

// The same open loop walks at every level: forward, without falling, better than standing still.
TEST(an_open_loop_gait_walks) {
    enum { STEPS = 125 };
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_LEVELS; m++) {
            double sum = 0.0, forward = 0.0;
            AUTO_RIG rig =
                rig_begin(walkers[w].file, walker_config(&walkers[w], (mf_Motion)m, 1), 1);
            for (uint32_t n = 0; n < STEPS; n++) {
                for (uint32_t j = 0; j < walkers[w].joints; j++)
                    rig.action[j] =
                        gait(&walkers[w], j, n * mf_environment_interval(rig.environment));
                rig_step(&rig);
                assert_int_equal(rig.buffers.terminated[0], 0);
                sum += rig.buffers.reward[0];
                forward += rig_commanded(&rig, 0, "reward_forward");
            }
            // Over 5 cm/s in 5 s, and more than the 0.2 a step that standing still gives.
            if (forward < 5.0 * 0.05 * STEPS || sum < 0.3 * STEPS)
                fail_msg("%s by %s: forward %g, all %g", walkers[w].task,
                         mf_motion_name((mf_Motion)m), forward, sum);
            assert_near(forward * mf_environment_interval(rig.environment) / 5.0,
                        rig_field(&rig, "base.position", 0, 0), 1e-9);
        }
}

// Upside down in the air is a fall, in the air the right way up is none; the switch lets it pass.
TEST(falls_end_episodes) {
    static const mf_TaskSetting goes_on = {"terminate_when_fallen", 0.0};
    for (int ends = 0; ends < 2; ends++)
        for (int w = 0; w < WALKERS; w++) {
            mf_EnvironmentConfig config = WITH(walker_config(&walkers[w], MF_MOTION_ARTICULATED, 3),
                                               .settings = &goes_on, .setting_count = ends ? 0 : 1);
            AUTO_RIG rig = rig_begin(walkers[w].file, config, 1);
            overturn(&rig, 1, 1.0, M_PI);
            overturn(&rig, 2, 1.0, 0.2);
            rig_step(&rig);
            for (uint32_t i = 0; i < 3; i++) {
                assert_int_equal(rig.buffers.terminated[i], ends && i == 1);
                assert_true(rig_commanded(&rig, i, "reward_survive") == (i == 1 ? 0.0 : 0.2));
            }
            assert_near(rig_commanded(&rig, 1, "upright"), -1.0, 1e-3);
        }
}

// A drawn velocity is observed, stays for the episode, is another in the next one, and pays.
TEST(commands_are_drawn_and_tracked) {
    enum { ROBOTS = 20, STEPS = 5 };
    static const mf_TaskSetting commanded = {"commanded", 1.0};
    const Walker *walker = &walkers[1];
    const uint32_t at = 9 + 3 * walker->joints + walker->feet;
    double command[ROBOTS][3], before[3], rotated[9], matrix[9];
    mf_EnvironmentConfig config = WITH(walker_config(walker, MF_MOTION_PRESCRIBED, ROBOTS),
                                       .settings = &commanded, .setting_count = 1);
    AUTO_RIG rig = rig_begin(walker->file, config, 3);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        expect_walker_observation(&rig, walker, i, NULL, 3);
        memcpy(command[i], rig_observation(&rig, i) + at, sizeof command[i]);
        assert_true(command[i][0] >= 0.0 && command[i][0] <= 0.2);
        assert_true(fabs(command[i][1]) <= 0.1 && fabs(command[i][2]) <= 0.5);
        assert_true(i == 0 || command[i][0] != command[i - 1][0]);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        get_fields(rig.group, "base.position", 7, 3, before);
        base_matrix(&rig, 7, rotated);
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++)
            assert_memory_equal(command[i], rig_observation(&rig, i) + at, sizeof command[i]);
        const double interval = mf_environment_interval(rig.environment);
        base_matrix(&rig, 7, matrix);
        double yaw = atan2(matrix[3], matrix[0]), old = atan2(rotated[3], rotated[0]);
        double x = (rig_field(&rig, "base.position", 7, 0) - before[0]) / interval;
        double y = (rig_field(&rig, "base.position", 7, 1) - before[1]) / interval;
        double ahead = (cos(yaw) * x + sin(yaw) * y - command[7][0]) / 0.1;
        double aside = (cos(yaw) * y - sin(yaw) * x - command[7][1]) / 0.1;
        double rate = ((yaw - old) / interval - command[7][2]) / 0.5;
        assert_near(rig_commanded(&rig, 7, "reward_track"),
                    1.0 / (1.0 + ahead * ahead + aside * aside + rate * rate), 1e-9);
        assert_true(rig_commanded(&rig, 7, "reward_forward") == 0.0);
    }
    MUST(mf_environment_reset(rig.environment, NULL, NULL, &rig.buffers, &error));
    assert_true(command[0][0] != rig_observation(&rig, 0)[at]);
}

// Actions beyond the range are its ends, and aim at the part of the range that they should.
TEST(actions_are_targets) {
    static const double actions[] = {0.0, 1.0, -1.0, 3.0, -0.25};
    AUTO_RIG rig = rig_begin(walkers[0].file, walker_config(&walkers[0], MF_MOTION_POINTS, 5), 1);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 18; j++)
            rig.action[i * 18 + j] = (float)actions[i];
    rig_step(&rig);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 18; j++) {
            const mf_Joint *joint = &rig.model->joints[j];
            double part = fmin(1.0, actions[i]) * 0.25 * (joint->upper - joint->lower);
            assert_near(rig_field(&rig, "joint.target", i, j), rig.model->start_angle[j] + part,
                        1e-12);
            assert_true(rig_observation(&rig, i)[9 + 36 + 6 + j] == fmin(1.0, actions[i]));
        }
}

// ---- rejected input ----------------------------------------------------------------------------

TEST(impossible_settings_are_refused) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *hexapod = NULL;
    mf_Quadrotor heavy = mf_quadrotor(), broken = mf_quadrotor();
    mf_TaskSetting low = {"height", 0.5}, swarm[] = {{"agents", 64}, {"box", 0.5}};
    heavy.mass = 5.0;
    broken.mass = -1.0;
    MUST(mf_model_load(context, MODEL("hexapod"), NULL, &hexapod, &error));
    const mf_EnvironmentConfig config = single_config("quadrotor", 1, NULL, 0);
    const struct {
        mf_EnvironmentConfig config;
        mf_Status status;
        const char *text;
    } cases[] = {
        {WITH(config, .quadrotor = &heavy), MF_UNSUPPORTED, "not more thrust than weight"},
        {WITH(config, .quadrotor = &broken), MF_BAD_ARGUMENT, "quadrotor.mass"},
        {WITH(config, .model = hexapod), MF_UNSUPPORTED, "model of a quadrotor"},
        {single_config("quadrotor", 1, &low, 1), MF_BAD_ARGUMENT, "height of 0.5 m"},
        {single_config("swarm", 64, swarm, 2), MF_BAD_ARGUMENT, "no space for 64 robots"},
        {single_config("hexapod", 1, NULL, 0), MF_BAD_ARGUMENT, "need a model"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Environment *none = NULL;
        MUST_FAIL(mf_environment_create(context, &cases[i].config, &none, &error), cases[i].status,
                  cases[i].text);
        assert_null(none);
    }
}

// ---- bits --------------------------------------------------------------------------------------

enum { LONG = 10, EPISODE = 4 };

typedef struct Case {
    const char *task, *file;
    mf_Motion motion;
    uint32_t team;
} Case;

// Robots first .. first + count - 1 of the same robots, wherever they are.
static void walk(const Case *own, bool wide, uint32_t threads, uint32_t first, uint32_t count,
                 Path *out) {
    mf_TaskSetting settings[2] = {{"agents", own->team}, {"waypoints", 1.0}};
    bool swarm = strcmp(own->task, "swarm") == 0, flies = own->file == NULL;
    AUTO_RIG rig = rig_open(
        own->file,
        WITH(single_config(own->task, count, swarm ? settings : settings + 1, flies ? 1 : 0),
             .motion = own->motion, .double_precision = wide, .autoreset = MF_AUTORESET_SAME_STEP,
             .episode_steps = EPISODE),
        threads);
    rig_walk(&rig, first, LONG, out);
}

TEST(bits_do_not_depend_on_batch_or_threads) {
    enum { MANY = 60 };
    Case cases[2 * MF_MOTION_LEVELS + 3];
    uint32_t count = 0;
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_LEVELS; m++)
            cases[count++] = (Case){walkers[w].task, walkers[w].file, (mf_Motion)m, 1};
    cases[count++] = (Case){"quadrotor", NULL, MF_MOTION_ARTICULATED, 1};
    cases[count++] = (Case){"swarm", NULL, MF_MOTION_ARTICULATED, 5};
    cases[count++] = (Case){"swarm", NULL, MF_MOTION_ARTICULATED, 20};
    for (uint32_t c = 0; c < count; c++)
        for (int wide = 0; wide < 2; wide++) {
            Path one[MANY], many[MANY], alone[MANY];
            const uint32_t team = cases[c].team;
            walk(&cases[c], wide, 1, 0, MANY, one);
            walk(&cases[c], wide, 3, 0, MANY, many);
            assert_memory_equal(one, many, sizeof one);
            for (uint32_t i = 0; i < MANY; i += 20) {
                walk(&cases[c], wide, 1, i, team, alone);
                assert_memory_equal(one + i, alone, team * sizeof *alone);
            }
            assert_memory_not_equal(&one[0], &one[team], sizeof one[0]);
        }
}

TEST(a_step_allocates_nothing) {
    const char *tasks[] = {"hexapod", "swarm"}, *files[] = {MODEL("hexapod"), NULL};
    for (int t = 0; t < 2; t++) {
        mf_EnvironmentConfig config = WITH(rig_config(tasks[t], 40), .motion = MF_MOTION_POINTS,
                                           .autoreset = MF_AUTORESET_SAME_STEP, .episode_steps = 3);
        AUTO_RIG rig = rig_open(files[t], config, 2);
        rig_reset(&rig, 5);
        uint64_t calls = mf_context_call_count(rig.context);
        for (uint32_t n = 0; n < 8; n++)
            act_and_step(&rig, n);
        assert_true(mf_context_call_count(rig.context) == calls);
    }
}
