// The tasks on robots of the project's own: walkers by every motion, quadrotors, teams. Rewards,
// observations and ends are worked out here from the fields of the group.
#include "environment/support.h"

#include "math/scalar.h"

#define MODEL(name) MAYFLY_SOURCE_DIR "/models/" name ".urdf"
#define EXACT 1e-12 // [1] sums of a few dozen values of the order of 1, in another order

typedef struct Walker {
    const char *task, *file;
    uint32_t joints, feet, of_leg; // numbers, the last of joints of one leg
    double period;                 // [s] of its gait
} Walker;

static const Walker walkers[] = {{"hexapod", MODEL("hexapod"), 18, 6, 3, 0.8},
                                 {"quadruped", MODEL("quadruped"), 8, 4, 2, 0.6}};
enum { WALKERS = 2 };

static void open_task(Rig *rig, const char *file, const mf_EnvironmentConfig *config,
                      uint32_t threads) {
    mf_Error error = {0};
    *rig = (Rig){.context = make_context(threads)};
    if (file != NULL)
        must(mf_model_load(rig->context, file, NULL, &rig->model, &error), &error);
    rig_build(rig, config);
}

static mf_EnvironmentConfig walker_config(const Walker *walker, mf_Motion motion, uint32_t count) {
    mf_EnvironmentConfig config = rig_config(walker->task, count);
    config.motion = motion;
    config.autoreset = MF_AUTORESET_OFF;
    return config;
}

static void act_and_step(Rig *rig, uint32_t n) {
    for (uint32_t i = 0; i < rig->count; i++)
        rig_act(rig, i, i, n);
    rig_step(rig);
}

static void read_field(const Rig *rig, const char *name, uint32_t robot, uint32_t count,
                       double *out) {
    for (uint32_t c = 0; c < count; c++)
        out[c] = rig_field(rig, name, robot, c);
}

static void expect_near(double found, double wanted, double most) {
    if (!(fabs(found - wanted) <= most))
        fail_msg("expected %.17g, found %.17g", wanted, found);
}

// The base's axes in the world: row-major, body to world.
static void base_matrix(const Rig *rig, uint32_t robot, double matrix[9]) {
    double turn[4];
    read_field(rig, "base.orientation", robot, 4, turn);
    mf_quat_to_matrix(matrix, turn);
}

// ---- walkers -----------------------------------------------------------------------------------

// A foot is the only thing of its link that collides: its load is all that the link has.
static double foot_load(const Rig *rig, uint32_t robot, const Walker *walker, uint32_t foot) {
    const mf_Field *points = mf_group_find_field(rig->group, "point.load");
    const mf_Model *model = rig->model;
    char name[32];
    snprintf(name, sizeof name, "%s%u", walker->of_leg == 3 ? "tibia" : "shin", foot + 1);
    const uint32_t link = mf_model_find_link(model, name);
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

static void expect_walker_sight(const Rig *rig, const Walker *walker, uint32_t robot,
                                const float *action, uint32_t extra) {
    const double *seen = rig_observation(rig, robot);
    const uint32_t joints = walker->joints;
    double matrix[9], velocity[3], rate[3];
    assert_int_equal(rig->seen, 9 + 3 * joints + walker->feet + extra);
    base_matrix(rig, robot, matrix);
    read_field(rig, "base.linear_velocity", robot, 3, velocity);
    read_field(rig, "base.angular_velocity", robot, 3, rate);
    for (int i = 0; i < 3; i++) {
        double along = 0.0;
        for (int k = 0; k < 3; k++)
            along += matrix[3 * k + i] * velocity[k];
        expect_near(seen[i], -matrix[6 + i], EXACT);
        assert_true(seen[3 + i] == rate[i]);
        expect_near(seen[6 + i], along, EXACT);
    }
    for (uint32_t j = 0; j < joints; j++) {
        double angle = rig_field(rig, "joint.angle", robot, j) - rig->model->start_angle[j];
        expect_near(seen[9 + j], angle, EXACT);
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

// What a step was worth by the numbers of docs/environments.md.
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
    Rig rig;
    double before[ROBOTS][3];
    float last[ROBOTS * 18] = {0};
    mf_EnvironmentConfig config = walker_config(walker, motion, ROBOTS);
    open_task(&rig, walker->file, &config, 1);
    expect_near(mf_environment_interval(rig.environment), 0.04, 1e-15);
    rig_reset(&rig, 70);
    for (uint32_t i = 0; i < ROBOTS; i++)
        expect_walker_sight(&rig, walker, i, NULL, 0);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            read_field(&rig, "base.position", i, 3, before[i]);
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            expect_walker_sight(&rig, walker, i, rig.action + (size_t)i * walker->joints, 0);
            expect_near(rig.buffers.reward[i], walker_reward(&rig, walker, i, before[i], last),
                        1e-11);
        }
        memcpy(last, rig.action, sizeof *last * ROBOTS * walker->joints);
    }
    rig_close(&rig);
}

static void walkers_by_hand_at_every_motion(void **state) {
    (void)state;
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_COUNT; m++)
            walker_by_hand(&walkers[w], (mf_Motion)m);
}

static void starts_stand_on_the_ground(void **state) {
    (void)state;
    enum { ROBOTS = 20 };
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_COUNT; m++) {
            Rig rig;
            double angle[18], place[64][3], turn[64][4];
            mf_EnvironmentConfig config = walker_config(&walkers[w], (mf_Motion)m, ROBOTS);
            open_task(&rig, walkers[w].file, &config, 1);
            rig_reset(&rig, 5);
            for (uint32_t i = 0; i < ROBOTS; i++) {
                read_field(&rig, "joint.angle", i, walkers[w].joints, angle);
                mf_model_pose(rig.model, angle, place, turn);
                double lowest = mf_model_lowest(rig.model, place, turn, m != MF_MOTION_POINTS);
                expect_near(rig_field(&rig, "base.position", i, 2) + lowest, 0.0, EXACT);
                for (uint32_t j = 0; j < walkers[w].joints; j++)
                    assert_true(fabs(angle[j] - rig.model->start_angle[j]) <= 0.05);
            }
            assert_true(rig_field(&rig, "joint.angle", 0, 0) !=
                        rig_field(&rig, "joint.angle", 1, 0));
            rig_close(&rig);
        }
}

static void turn_over(Rig *rig, uint32_t robot, double height, double tilt) {
    mf_Field *position = mf_group_find_field(rig->group, "base.position");
    mf_Field *turn = mf_group_find_field(rig->group, "base.orientation");
    mf_field_set(position, robot, 2, height);
    mf_field_set(turn, robot, 0, cos(0.5 * tilt));
    mf_field_set(turn, robot, 1, sin(0.5 * tilt));
    mf_group_refresh(rig->group, robot);
}

// Standing still all feet bear load, in the air none does; what knows no forces cannot fly.
static void feet_feel_the_ground(void **state) {
    (void)state;
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_COUNT; m++) {
            Rig rig;
            mf_TaskSetting setting = {"reset_noise_scale", 0.0};
            mf_EnvironmentConfig config = walker_config(&walkers[w], (mf_Motion)m, 2);
            config.settings = &setting;
            config.setting_count = 1;
            open_task(&rig, walkers[w].file, &config, 1);
            rig_reset(&rig, 1);
            for (uint32_t n = 0; n < 25; n++)
                rig_step(&rig);
            turn_over(&rig, 1, 1.0, 0.0);
            rig_step(&rig);
            for (uint32_t i = 0; i < (m == MF_MOTION_KINEMATIC ? 1 : 2); i++)
                for (uint32_t f = 0; f < walkers[w].feet; f++)
                    if (rig_observation(&rig, i)[9 + 2 * walkers[w].joints + f] != (i == 0))
                        fail_msg("%s by %s: foot %u of robot %u", walkers[w].task,
                                 mf_motion_name((mf_Motion)m), f, i);
            rig_close(&rig);
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
static void an_open_loop_gait_walks(void **state) {
    (void)state;
    enum { STEPS = 125 };
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_COUNT; m++) {
            Rig rig;
            double sum = 0.0, forward = 0.0;
            mf_EnvironmentConfig config = walker_config(&walkers[w], (mf_Motion)m, 1);
            open_task(&rig, walkers[w].file, &config, 1);
            rig_reset(&rig, 1);
            for (uint32_t n = 0; n < STEPS; n++) {
                for (uint32_t j = 0; j < walkers[w].joints; j++)
                    rig.action[j] =
                        gait(&walkers[w], j, n * mf_environment_interval(rig.environment));
                rig_step(&rig);
                assert_int_equal(rig.buffers.terminated[0], 0);
                sum += rig.buffers.reward[0];
                forward += rig_told(&rig, 0, "reward_forward");
            }
            // Over 5 cm/s in 5 s, and more than the 0.2 a step that standing still gives.
            if (forward < 5.0 * 0.05 * STEPS || sum < 0.3 * STEPS)
                fail_msg("%s by %s: forward %g, all %g", walkers[w].task,
                         mf_motion_name((mf_Motion)m), forward, sum);
            expect_near(forward * mf_environment_interval(rig.environment) / 5.0,
                        rig_field(&rig, "base.position", 0, 0), 1e-9);
            rig_close(&rig);
        }
}

// Upside down in the air is a fall, in the air the right way up is none; the switch lets it pass.
static void falls_end_episodes(void **state) {
    (void)state;
    static const mf_TaskSetting goes_on = {"terminate_when_fallen", 0.0};
    for (int ends = 0; ends < 2; ends++)
        for (int w = 0; w < WALKERS; w++) {
            Rig rig;
            mf_EnvironmentConfig config = walker_config(&walkers[w], MF_MOTION_ARTICULATED, 3);
            config.settings = &goes_on;
            config.setting_count = ends ? 0 : 1;
            open_task(&rig, walkers[w].file, &config, 1);
            rig_reset(&rig, 1);
            turn_over(&rig, 1, 1.0, M_PI);
            turn_over(&rig, 2, 1.0, 0.2);
            rig_step(&rig);
            for (uint32_t i = 0; i < 3; i++) {
                assert_int_equal(rig.buffers.terminated[i], ends && i == 1);
                assert_true(rig_told(&rig, i, "reward_survive") == (i == 1 ? 0.0 : 0.2));
            }
            expect_near(rig_told(&rig, 1, "upright"), -1.0, 1e-3);
            rig_close(&rig);
        }
}

// A drawn velocity is observed, stays for the episode, is another in the next one, and pays.
static void commands_are_drawn_and_tracked(void **state) {
    (void)state;
    enum { ROBOTS = 20, STEPS = 5 };
    static const mf_TaskSetting commanded = {"commanded", 1.0};
    const Walker *walker = &walkers[1];
    const uint32_t at = 9 + 3 * walker->joints + walker->feet;
    Rig rig;
    double command[ROBOTS][3], before[3], turned[9], matrix[9];
    mf_EnvironmentConfig config = walker_config(walker, MF_MOTION_PRESCRIBED, ROBOTS);
    config.settings = &commanded;
    config.setting_count = 1;
    open_task(&rig, walker->file, &config, 1);
    rig_reset(&rig, 3);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        expect_walker_sight(&rig, walker, i, NULL, 3);
        memcpy(command[i], rig_observation(&rig, i) + at, sizeof command[i]);
        assert_true(command[i][0] >= 0.0 && command[i][0] <= 0.2);
        assert_true(fabs(command[i][1]) <= 0.1 && fabs(command[i][2]) <= 0.5);
        assert_true(i == 0 || command[i][0] != command[i - 1][0]);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        read_field(&rig, "base.position", 7, 3, before);
        base_matrix(&rig, 7, turned);
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++)
            assert_memory_equal(command[i], rig_observation(&rig, i) + at, sizeof command[i]);
        const double interval = mf_environment_interval(rig.environment);
        base_matrix(&rig, 7, matrix);
        double yaw = atan2(matrix[3], matrix[0]), old = atan2(turned[3], turned[0]);
        double x = (rig_field(&rig, "base.position", 7, 0) - before[0]) / interval;
        double y = (rig_field(&rig, "base.position", 7, 1) - before[1]) / interval;
        double ahead = (cos(yaw) * x + sin(yaw) * y - command[7][0]) / 0.1;
        double aside = (cos(yaw) * y - sin(yaw) * x - command[7][1]) / 0.1;
        double rate = ((yaw - old) / interval - command[7][2]) / 0.5;
        expect_near(rig_told(&rig, 7, "reward_track"),
                    1.0 / (1.0 + ahead * ahead + aside * aside + rate * rate), 1e-9);
        assert_true(rig_told(&rig, 7, "reward_forward") == 0.0);
    }
    mf_Error error = {0};
    must(mf_environment_reset(rig.environment, NULL, NULL, &rig.buffers, &error), &error);
    assert_true(command[0][0] != rig_observation(&rig, 0)[at]);
    rig_close(&rig);
}

// Actions beyond the range are its ends, and aim at the part of the range that they should.
static void actions_are_targets(void **state) {
    (void)state;
    static const double actions[] = {0.0, 1.0, -1.0, 3.0, -0.25};
    Rig rig;
    mf_EnvironmentConfig config = walker_config(&walkers[0], MF_MOTION_POINTS, 5);
    open_task(&rig, walkers[0].file, &config, 1);
    rig_reset(&rig, 1);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 18; j++)
            rig.action[i * 18 + j] = (float)actions[i];
    rig_step(&rig);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 18; j++) {
            const mf_Joint *joint = &rig.model->joints[j];
            double part = fmin(1.0, actions[i]) * 0.25 * (joint->upper - joint->lower);
            expect_near(rig_field(&rig, "joint.target", i, j), rig.model->start_angle[j] + part,
                        1e-12);
            assert_true(rig_observation(&rig, i)[9 + 36 + 6 + j] == fmin(1.0, actions[i]));
        }
    rig_close(&rig);
}

// ---- one quadrotor -----------------------------------------------------------------------------

#define GRAVITY 9.81 // [m/s^2]

static mf_EnvironmentConfig flyer_config(const char *task, uint32_t count,
                                         const mf_TaskSetting *settings, uint32_t setting_count) {
    mf_EnvironmentConfig config = rig_config(task, count);
    config.autoreset = MF_AUTORESET_OFF;
    config.settings = settings;
    config.setting_count = setting_count;
    return config;
}

// Towards the goal: a spring and a damper, thrust along the axis of the rotors, and body rates that
// tilt it to where the force should point. From the observation alone.
static void pilot(const double *seen, float action[4]) {
    const mf_Quadrotor body = mf_quadrotor();
    const double *matrix = seen + 3, *velocity = seen + 12;
    double force[3], aim[3], along = 0.0, length = 0.0;
    for (int i = 0; i < 3; i++) {
        force[i] = 3.0 * seen[i] - 3.0 * velocity[i] + (i == 2 ? GRAVITY : 0.0);
        along += matrix[3 * i + 2] * force[i];
        length += force[i] * force[i];
    }
    for (int i = 0; i < 3; i++) {
        aim[i] = 0.0;
        for (int k = 0; k < 3; k++)
            aim[i] += matrix[3 * k + i] * force[k] / sqrt(length);
    }
    action[0] = (float)(along / GRAVITY - 1.0);
    action[1] = (float)(-7.0 * aim[1] / body.rate_max);
    action[2] = (float)(7.0 * aim[0] / body.rate_max);
    action[3] = 0.0f;
}

static void fly(Rig *rig) {
    for (uint32_t i = 0; i < rig->count; i++)
        pilot(rig_observation(rig, i), rig->action + 4 * (size_t)i);
    rig_step(rig);
}

static void a_pilot_hovers(void **state) {
    (void)state;
    enum { ROBOTS = 20, SETTLE = 300, STEPS = 100 };
    Rig rig;
    double sum[ROBOTS] = {0};
    mf_EnvironmentConfig config = flyer_config("quadrotor", ROBOTS, NULL, 0);
    open_task(&rig, NULL, &config, 1);
    rig_reset(&rig, 30);
    for (uint32_t n = 0; n < SETTLE + STEPS; n++) {
        fly(&rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            assert_int_equal(rig.buffers.terminated[i], 0);
            sum[i] += n >= SETTLE ? rig.buffers.reward[i] : 0.0;
        }
    }
    for (uint32_t i = 0; i < ROBOTS; i++)
        if (!(sum[i] > 0.995 * STEPS && sum[i] <= STEPS))
            fail_msg("robot %u: %g of %d", i, sum[i], STEPS);
    rig_close(&rig);
}

// From rest at its goal, what hovers stays there: by rates and by rotor speeds, for any quadrotor.
static void the_action_0_hovers(void **state) {
    (void)state;
    mf_Quadrotor small = mf_quadrotor();
    small.mass *= 0.5;
    small.rotor_x[0] = small.rotor_x[3] = 0.1; // its centre of mass is behind the middle
    const mf_Quadrotor *bodies[] = {NULL, &small};
    for (int b = 0; b < 2; b++)
        for (int rotors = 0; rotors < 2; rotors++) {
            Rig rig;
            mf_TaskSetting settings[] = {{"rotors", rotors},
                                         {"box", 0},
                                         {"start_tilt", 0},
                                         {"start_speed", 0},
                                         {"start_rate", 0}};
            mf_EnvironmentConfig config = flyer_config("quadrotor", 1, settings, 5);
            config.quadrotor = bodies[b];
            open_task(&rig, NULL, &config, 1);
            rig_reset(&rig, 1);
            for (uint32_t n = 0; n < 100; n++) {
                rig_step(&rig);
                expect_near(rig.buffers.reward[0], 1.0, 1e-6);
            }
            assert_int_equal((int)rig_field(&rig, "command.refused", 0, 0), 0);
            rig_close(&rig);
        }
}

static void expect_accepted(bool wide, bool rotors, const mf_Quadrotor *body) {
    Rig rig;
    mf_TaskSetting setting = {"rotors", rotors};
    mf_EnvironmentConfig config = flyer_config("quadrotor", 16, &setting, 1);
    config.double_precision = wide;
    config.quadrotor = body;
    open_task(&rig, NULL, &config, 1);
    rig_reset(&rig, 1);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t a = 0; a < 4; a++)
            rig.action[4 * i + a] = (i >> a & 1) != 0 ? 1.0f : -7.0f;
    rig_step(&rig);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal((int)rig_field(&rig, "command.refused", i, 0), 0);
    rig_close(&rig);
}

// The ends of the range are taken by the loops that read them, whatever they are rounded to: here
// the rotors have less than twice the thrust that hovers, so that an end is the most they have.
static void no_action_is_refused(void **state) {
    (void)state;
    for (int k = 0; k < 20; k++) {
        mf_Quadrotor body = mf_quadrotor();
        body.mass = 1.3 + 0.057 * k;
        body.rotor_speed_min = 3.7 * k;
        body.rate_max = 7.3 + 0.31 * k;
        for (int way = 0; way < 4; way++)
            expect_accepted(way % 2 != 0, way / 2 != 0, &body);
    }
}

static void expect_flyer_sight(const Rig *rig, uint32_t robot, const double goal[3],
                               const float *action) {
    const double *seen = rig_observation(rig, robot);
    double matrix[9];
    base_matrix(rig, robot, matrix);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(seen[i] == goal[i] - rig_field(rig, "base.position", robot, i));
        assert_true(seen[12 + i] == rig_field(rig, "base.linear_velocity", robot, i));
        assert_true(seen[15 + i] == rig_field(rig, "base.angular_velocity", robot, i));
    }
    for (int i = 0; i < 9; i++)
        assert_true(seen[3 + i] == matrix[i]);
    for (int i = 0; i < 4; i++)
        assert_true(seen[18 + i] == (action != NULL ? (double)action[i] : 0.0));
}

// All but what depends on the goal of way-points and on others.
static double flyer_costs(const Rig *rig, uint32_t robot, const float *last) {
    double spin = 0.0, change = 0.0;
    for (uint32_t i = 0; i < 3; i++)
        spin += pow(rig_field(rig, "base.angular_velocity", robot, i), 2.0);
    for (uint32_t a = 0; a < 4; a++)
        change += pow((double)rig->action[4 * robot + a] - (double)last[4 * robot + a], 2.0);
    return 0.005 * spin + 0.02 * change / 4.0;
}

static double goal_distance(const Rig *rig, uint32_t robot, const double goal[3]) {
    double place[3];
    read_field(rig, "base.position", robot, 3, place);
    mf_vec3_sub(place, goal, place);
    return mf_vec3_length(place);
}

static void hovering_by_hand(void **state) {
    (void)state;
    enum { ROBOTS = 18, STEPS = 12 };
    static const double goal[3] = {0.0, 0.0, 3.0};
    Rig rig;
    float last[4 * ROBOTS] = {0};
    uint32_t lost = 0;
    mf_TaskSetting setting = {"far", 2.0};
    mf_EnvironmentConfig config = flyer_config("quadrotor", ROBOTS, &setting, 1);
    open_task(&rig, NULL, &config, 1);
    expect_near(mf_environment_interval(rig.environment), 0.02, 1e-15);
    rig_reset(&rig, 60);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        expect_flyer_sight(&rig, i, goal, NULL);
        for (uint32_t c = 0; c < 3; c++)
            assert_true(fabs(rig_observation(&rig, i)[c]) <= 1.0);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        if (n == 3)
            mf_field_set(mf_group_find_field(rig.group, "base.position"), 4, 2, 0.02);
        if (n == 5)
            mf_field_set(mf_group_find_field(rig.group, "base.position"), 9, 0, 2.5);
        for (uint32_t i = 0; n != 3 && n != 5 && i < ROBOTS; i++) {
            double distance = goal_distance(&rig, i, goal);
            bool out = distance > 2.0 || rig_field(&rig, "base.position", i, 2) < 0.05;
            expect_flyer_sight(&rig, i, goal, rig.action + 4 * (size_t)i);
            expect_near(rig.buffers.reward[i],
                        1.0 / (1.0 + 4.0 * distance * distance) - flyer_costs(&rig, i, last) -
                            (out ? 10.0 : 0.0),
                        EXACT);
            assert_int_equal(rig.buffers.terminated[i], out);
            lost += out;
        }
        memcpy(last, rig.action, sizeof last);
    }
    assert_in_range(lost, 2, ROBOTS * STEPS / 2);
    rig_close(&rig);
}

static void waypoints_follow_each_other(void **state) {
    (void)state;
    enum { ROBOTS = 5, STEPS = 900 };
    static const mf_TaskSetting settings[] = {
        {"waypoints", 1.0}, {"progress_weight", 2.0}, {"near_weight", 0.0}};
    Rig rig;
    double goal[ROBOTS][3], way[ROBOTS];
    float last[4 * ROBOTS] = {0};
    uint32_t reached[ROBOTS] = {0};
    mf_EnvironmentConfig config = flyer_config("quadrotor", ROBOTS, settings, 3);
    config.episode_steps = MF_NONE;
    open_task(&rig, NULL, &config, 1);
    rig_reset(&rig, 90);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++) {
            for (uint32_t c = 0; c < 3; c++)
                goal[i][c] = rig_observation(&rig, i)[c] + rig_field(&rig, "base.position", i, c);
            assert_true(fabs(goal[i][0]) <= 1.0 && fabs(goal[i][1]) <= 1.0 &&
                        fabs(goal[i][2] - 3.0) <= 1.0);
            way[i] = goal_distance(&rig, i, goal[i]);
        }
        fly(&rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            double distance = goal_distance(&rig, i, goal[i]);
            bool there = distance <= 0.2;
            for (int a = 0; a < 4; a++) // as limited
                rig.action[4 * i + a] = fminf(1.0f, fmaxf(-1.0f, rig.action[4 * i + a]));
            expect_near(rig.buffers.reward[i],
                        2.0 * (way[i] - distance) + (there ? 5.0 : 0.0) -
                            flyer_costs(&rig, i, last),
                        1e-11);
            assert_true(rig_told(&rig, i, "reached") == there);
            double moved = fabs(rig_observation(&rig, i)[0] +
                                rig_field(&rig, "base.position", i, 0) - goal[i][0]);
            assert_int_equal(moved > 1e-9, there);
            reached[i] += there;
        }
        memcpy(last, rig.action, sizeof last);
    }
    for (uint32_t i = 0; i < ROBOTS; i++)
        assert_true(reached[i] >= 3);
    rig_close(&rig);
}

// ---- teams -------------------------------------------------------------------------------------

enum { AGENTS = 5, SEES = 3, TEAMS = 4 };
static const mf_TaskSetting team_of_5 = {"agents", AGENTS};

static void place_of(const Rig *rig, uint32_t robot, double place[3], double velocity[3]) {
    read_field(rig, "base.position", robot, 3, place);
    read_field(rig, "base.linear_velocity", robot, 3, velocity);
}

static double gap(const Rig *rig, uint32_t a, uint32_t b) {
    double place[3], other[3], unused[3];
    place_of(rig, a, place, unused);
    place_of(rig, b, other, unused);
    mf_vec3_sub(place, place, other);
    return mf_vec3_length(place);
}

// The nearest others are seen, nearest first, and nobody of another team. Returns the least gap.
static double expect_neighbours(const Rig *rig, uint32_t robot) {
    const uint32_t first = robot - robot % AGENTS;
    const double *seen = rig_observation(rig, robot) + 22;
    bool taken[AGENTS] = {false};
    double place[3], velocity[3], least = 0.0;
    assert_int_equal(rig->seen, 22 + 6 * SEES);
    place_of(rig, robot, place, velocity);
    taken[robot % AGENTS] = true;
    for (uint32_t n = 0; n < SEES; n++, seen += 6) {
        uint32_t next = AGENTS;
        double other[3], rate[3];
        for (uint32_t k = 0; k < AGENTS; k++)
            if (!taken[k] &&
                (next == AGENTS || gap(rig, robot, first + k) < gap(rig, robot, first + next)))
                next = k;
        taken[next] = true;
        least = n == 0 ? gap(rig, robot, first + next) : least;
        place_of(rig, first + next, other, rate);
        for (int c = 0; c < 3; c++) {
            assert_true(seen[c] == other[c] - place[c]);
            assert_true(seen[3 + c] == rate[c] - velocity[c]);
        }
    }
    return least;
}

static void swarm_by_hand(void **state) {
    (void)state;
    enum { COUNT = TEAMS * AGENTS, STEPS = 30 };
    Rig rig;
    double goal[COUNT][3], way[COUNT];
    float last[4 * COUNT] = {0};
    uint32_t near = 0;
    const mf_TaskSetting settings[] = {team_of_5, {"apart", 3.0}};
    mf_EnvironmentConfig config = flyer_config("swarm", COUNT, settings, 2);
    open_task(&rig, NULL, &config, 1);
    assert_int_equal(mf_environment_team(rig.environment), AGENTS);
    rig_reset(&rig, 11);
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t c = 0; c < 3; c++)
            goal[i][c] = rig_observation(&rig, i)[c] + rig_field(&rig, "base.position", i, c);
        way[i] = goal_distance(&rig, i, goal[i]);
        expect_neighbours(&rig, i);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < COUNT; i++) {
            double distance = goal_distance(&rig, i, goal[i]), gap = expect_neighbours(&rig, i);
            double share = gap < 3.0 ? (3.0 - gap) / (3.0 - 0.4) : 0.0;
            near += gap < 3.0;
            assert_int_equal(rig.buffers.terminated[i], 0);
            expect_near(rig.buffers.reward[i],
                        1.0 / (1.0 + 4.0 * distance * distance) + way[i] - distance - share -
                            flyer_costs(&rig, i, last),
                        1e-11);
            way[i] = distance;
        }
        memcpy(last, rig.action, sizeof last);
    }
    assert_in_range(near, 10, COUNT * STEPS - 1);
    rig_close(&rig);
}

// Nobody starts near another, and no two have goals near each other, in teams of any size.
static void teams_start_apart(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 8, 9, 27, 64};
    for (int s = 0; s < 5; s++) {
        const uint32_t size = sizes[s], count = 3 * size;
        Rig rig;
        mf_TaskSetting setting = {"agents", size};
        mf_EnvironmentConfig config = flyer_config("swarm", count, &setting, 1);
        open_task(&rig, NULL, &config, 1);
        rig_reset(&rig, 7);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = i - i % size; k < i; k++) {
                double between = 0.0;
                for (uint32_t c = 0; c < 3; c++) {
                    double a = rig_observation(&rig, i)[c] + rig_field(&rig, "base.position", i, c);
                    double b = rig_observation(&rig, k)[c] + rig_field(&rig, "base.position", k, c);
                    between += (a - b) * (a - b);
                }
                assert_true(gap(&rig, i, k) > 0.4 && between > 0.4 * 0.4);
            }
        assert_true(gap(&rig, 0, size) > 1e-3); // teams differ
        rig_close(&rig);
    }
}

static void put(Rig *rig, uint32_t robot, const double place[3], const double velocity[3]) {
    static const double turn[4] = {1.0, 0.0, 0.0, 0.0};
    double position[7], twist[6] = {0};
    memcpy(position, place, 3 * sizeof *place);
    memcpy(position + 3, turn, sizeof turn);
    memcpy(twist, velocity, 3 * sizeof *velocity);
    mf_group_set_state(rig->group, robot, position, twist);
}

// Two that meet within a step, and are far from each other before and after it, end the episode of
// their team alone; the two of them pay. Beside each other at that speed they do not.
static void who_meets_ends_the_episode_of_the_team(void **state) {
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        Rig rig;
        const double left[3] = {-0.5, 0.0, 3.0}, right[3] = {0.5, beside ? 0.5 : 0.0, 3.0};
        const double there[3] = {50.0, 0.0, 0.0}, back[3] = {-50.0, 0.0, 0.0};
        mf_EnvironmentConfig config = flyer_config("swarm", TEAMS * AGENTS, &team_of_5, 1);
        open_task(&rig, NULL, &config, 1);
        rig_reset(&rig, 11);
        put(&rig, AGENTS + 1, left, there);
        put(&rig, AGENTS + 3, right, back);
        for (uint32_t k = 0; k < AGENTS; k++)
            if (k != 1 && k != 3)
                put(&rig, AGENTS + k, (const double[3]){0, 3.0 + k, 3.0}, (const double[3]){0});
        rig_step(&rig);
        assert_true(gap(&rig, AGENTS + 1, AGENTS + 3) > 0.9);
        for (uint32_t i = 0; i < TEAMS * AGENTS; i++) {
            bool met = !beside && (i == AGENTS + 1 || i == AGENTS + 3);
            assert_int_equal(rig.buffers.terminated[i], !beside && i / AGENTS == 1);
            assert_true(rig_told(&rig, i, "met") == met);
            assert_true(rig_told(&rig, i, "reward_crash") == (met ? -10.0 : 0.0));
        }
        rig_close(&rig);
    }
}

// A fault of one, too: and the next step starts the whole team anew.
static void teams_start_anew_together(void **state) {
    (void)state;
    for (int same = 0; same < 2; same++) {
        Rig rig;
        mf_EnvironmentConfig config = flyer_config("swarm", TEAMS * AGENTS, &team_of_5, 1);
        config.autoreset = same ? MF_AUTORESET_SAME_STEP : MF_AUTORESET_NEXT_STEP;
        open_task(&rig, NULL, &config, 1);
        rig_reset(&rig, 11);
        const uint32_t failed = 2 * AGENTS + 4;
        mf_field_set(mf_group_find_field(rig.group, "base.linear_velocity"), failed, 0, NAN);
        rig_step(&rig);
        for (uint32_t i = 0; i < rig.count; i++)
            assert_int_equal(rig.buffers.terminated[i], i / AGENTS == 2);
        if (!same)
            rig_step(&rig);
        for (uint32_t i = 0; i < rig.count; i++) {
            assert_int_equal((int)rig_field(&rig, "episode.number", i, 0), i / AGENTS == 2 ? 2 : 1);
            expect_neighbours(&rig, i);
            if (i / AGENTS == 2 && !same)
                assert_true(rig.buffers.reward[i] == 0.0 && rig.buffers.terminated[i] == 0);
        }
        rig_close(&rig);
    }
}

static void teams_are_not_parted(void **state) {
    (void)state;
    Rig rig;
    mf_Error error = {0};
    mf_Environment *none = NULL;
    uint8_t mask[2 * AGENTS] = {0};
    mf_EnvironmentConfig config = flyer_config("swarm", 2 * AGENTS, &team_of_5, 1);
    open_task(&rig, NULL, &config, 1);
    rig_reset(&rig, 1);
    mask[AGENTS + 1] = 1;
    assert_int_equal(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error),
                     MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "team"));
    memset(mask + AGENTS, 1, AGENTS);
    must(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error), &error);
    assert_int_equal((int)rig_field(&rig, "episode.number", 0, 0), 1);
    assert_int_equal((int)rig_field(&rig, "episode.number", AGENTS, 0), 2);
    config.count = 2 * AGENTS + 1;
    assert_int_equal(mf_environment_create(rig.context, &config, &none, &error), MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "multiple of the 5"));
    rig_close(&rig);
}

// ---- what is refused ---------------------------------------------------------------------------

static void expect_refused(mf_Context *context, const mf_EnvironmentConfig *config,
                           mf_Status status, const char *words) {
    mf_Error error = {0};
    mf_Environment *none = NULL;
    assert_int_equal(mf_environment_create(context, config, &none, &error), status);
    assert_null(none);
    if (strstr(error.message, words) == NULL)
        fail_msg("expected '%s', found '%s'", words, error.message);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    mf_Error error = {0};
    mf_Context *context = make_context(1);
    mf_Model *hexapod = NULL;
    mf_Quadrotor heavy = mf_quadrotor(), broken = mf_quadrotor();
    mf_TaskSetting low = {"height", 0.5}, crowd[] = {{"agents", 64}, {"box", 0.5}};
    heavy.mass = 5.0;
    broken.mass = -1.0;
    must(mf_model_load(context, MODEL("hexapod"), NULL, &hexapod, &error), &error);
    mf_EnvironmentConfig config = flyer_config("quadrotor", 1, NULL, 0);
    config.quadrotor = &heavy;
    expect_refused(context, &config, MF_UNSUPPORTED, "no thrust to spare");
    config.quadrotor = &broken;
    expect_refused(context, &config, MF_BAD_ARGUMENT, "quadrotor.mass");
    config.quadrotor = NULL;
    config.model = hexapod;
    expect_refused(context, &config, MF_UNSUPPORTED, "model of a quadrotor");
    config = flyer_config("quadrotor", 1, &low, 1);
    expect_refused(context, &config, MF_BAD_ARGUMENT, "height of 0.5 m");
    config = flyer_config("swarm", 64, crowd, 2);
    expect_refused(context, &config, MF_BAD_ARGUMENT, "no room for 64 robots");
    config = flyer_config("hexapod", 1, NULL, 0);
    expect_refused(context, &config, MF_BAD_ARGUMENT, "need a model");
    mf_model_destroy(hexapod);
    assert_int_equal(mf_context_live_bytes(context), 0);
    mf_context_destroy(context);
}

// ---- bits --------------------------------------------------------------------------------------

enum { LONG = 10, EPISODE = 4 };

static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *from = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ from[i]) * UINT64_C(1099511628211);
    return hash;
}

typedef struct Case {
    const char *task, *file;
    mf_Motion motion;
    uint32_t team;
} Case;

// Hashes of robots first .. first + count - 1 of the same robots, wherever they are.
static void walk(const Case *own, bool wide, uint32_t threads, uint32_t first, uint32_t count,
                 uint64_t *hash) {
    Rig rig;
    mf_TaskSetting settings[2] = {{"agents", own->team}, {"waypoints", 1.0}};
    bool swarm = strcmp(own->task, "swarm") == 0, flies = own->file == NULL;
    mf_EnvironmentConfig config =
        flyer_config(own->task, count, swarm ? settings : settings + 1, flies ? 1 : 0);
    config.motion = own->motion;
    config.double_precision = wide;
    config.autoreset = MF_AUTORESET_SAME_STEP;
    config.episode_steps = EPISODE;
    open_task(&rig, own->file, &config, threads);
    rig_reset(&rig, 1000 + first);
    for (uint32_t i = 0; i < count; i++)
        hash[i] = UINT64_C(14695981039346656037);
    for (uint32_t n = 0; n < LONG; n++) {
        for (uint32_t i = 0; i < count; i++)
            rig_act(&rig, i, first + i, n);
        rig_step(&rig);
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = mix(hash[i], rig_observation(&rig, i), rig.seen * sizeof(double));
            hash[i] = mix(hash[i], &rig.buffers.reward[i], sizeof(double));
            hash[i] = mix(hash[i], rig.buffers.signals + (size_t)i * rig.signals, rig.signals * 8);
            hash[i] = mix(hash[i], &rig.buffers.terminated[i], 1);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        hash[i] ^= mf_group_instance_hash(rig.group, i);
    rig_close(&rig);
}

static void alone_or_anywhere_with_any_threads(void **state) {
    (void)state;
    enum { MANY = 60 };
    Case cases[2 * MF_MOTION_COUNT + 3];
    uint32_t count = 0;
    for (int w = 0; w < WALKERS; w++)
        for (int m = 0; m < MF_MOTION_COUNT; m++)
            cases[count++] = (Case){walkers[w].task, walkers[w].file, (mf_Motion)m, 1};
    cases[count++] = (Case){"quadrotor", NULL, MF_MOTION_ARTICULATED, 1};
    cases[count++] = (Case){"swarm", NULL, MF_MOTION_ARTICULATED, 5};
    cases[count++] = (Case){"swarm", NULL, MF_MOTION_ARTICULATED, 20};
    for (uint32_t c = 0; c < count; c++)
        for (int wide = 0; wide < 2; wide++) {
            uint64_t one[MANY], many[MANY], alone[MANY];
            const uint32_t team = cases[c].team;
            walk(&cases[c], wide, 1, 0, MANY, one);
            walk(&cases[c], wide, 3, 0, MANY, many);
            assert_memory_equal(one, many, sizeof one);
            for (uint32_t i = 0; i < MANY; i += 20) {
                walk(&cases[c], wide, 1, i, team, alone);
                assert_memory_equal(one + i, alone, team * sizeof *alone);
            }
            assert_true(one[0] != one[team]);
        }
}

static void a_step_allocates_nothing(void **state) {
    (void)state;
    const char *tasks[] = {"hexapod", "swarm"}, *files[] = {MODEL("hexapod"), NULL};
    for (int t = 0; t < 2; t++) {
        Rig rig;
        mf_EnvironmentConfig config = rig_config(tasks[t], 40);
        config.motion = MF_MOTION_POINTS;
        config.autoreset = MF_AUTORESET_SAME_STEP;
        config.episode_steps = 3;
        open_task(&rig, files[t], &config, 2);
        rig_reset(&rig, 5);
        uint64_t calls = mf_context_call_count(rig.context);
        for (uint32_t n = 0; n < 8; n++)
            act_and_step(&rig, n);
        assert_true(mf_context_call_count(rig.context) == calls);
        rig_close(&rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walkers_by_hand_at_every_motion),
        cmocka_unit_test(starts_stand_on_the_ground),
        cmocka_unit_test(feet_feel_the_ground),
        cmocka_unit_test(an_open_loop_gait_walks),
        cmocka_unit_test(falls_end_episodes),
        cmocka_unit_test(commands_are_drawn_and_tracked),
        cmocka_unit_test(actions_are_targets),
        cmocka_unit_test(a_pilot_hovers),
        cmocka_unit_test(the_action_0_hovers),
        cmocka_unit_test(no_action_is_refused),
        cmocka_unit_test(hovering_by_hand),
        cmocka_unit_test(waypoints_follow_each_other),
        cmocka_unit_test(swarm_by_hand),
        cmocka_unit_test(teams_start_apart),
        cmocka_unit_test(who_meets_ends_the_episode_of_the_team),
        cmocka_unit_test(teams_start_anew_together),
        cmocka_unit_test(teams_are_not_parted),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(alone_or_anywhere_with_any_threads),
        cmocka_unit_test(a_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
