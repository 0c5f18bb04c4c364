// The tasks with quadrotors, single and in teams. Expected rewards, observations and ends are
// computed from the fields of the group.
#include "environment/support.h"
#include "motion/vehicle/quadrotor/motion.h"

// ---- one quadrotor -----------------------------------------------------------------------------

#define GRAVITY 9.81 // [m/s^2]

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

TEST(a_pilot_hovers) {
    enum { ROBOTS = 20, SETTLE = 300, STEPS = 100 };
    double sum[ROBOTS] = {0};
    AUTO_RIG rig = rig_begin(NULL, single_config("quadrotor", ROBOTS, NULL, 0), 30);
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
}

// From rest at its goal, what hovers stays there: by rates and by rotor speeds, for any quadrotor.
TEST(the_action_0_hovers) {
    mf_Quadrotor small = mf_quadrotor();
    small.mass *= 0.5;
    small.rotor_x[0] = small.rotor_x[3] = 0.1; // its center of mass is behind the middle
    const mf_Quadrotor *bodies[] = {NULL, &small};
    for (int b = 0; b < 2; b++)
        for (int rotors = 0; rotors < 2; rotors++) {
            mf_TaskSetting settings[] = {{"rotors", rotors},
                                         {"box", 0},
                                         {"start_tilt", 0},
                                         {"start_speed", 0},
                                         {"start_rate", 0}};
            AUTO_RIG rig = rig_begin(
                NULL, WITH(single_config("quadrotor", 1, settings, 5), .quadrotor = bodies[b]), 1);
            for (uint32_t n = 0; n < 100; n++) {
                rig_step(&rig);
                assert_near(rig.buffers.reward[0], 1.0, 1e-6);
            }
            assert_int_equal((int)rig_field(&rig, "command.refused", 0, 0), 0);
        }
}

static void expect_accepted(bool wide, bool rotors, const mf_Quadrotor *body) {
    mf_TaskSetting setting = {"rotors", rotors};
    mf_EnvironmentConfig config = WITH(single_config("quadrotor", 16, &setting, 1),
                                       .double_precision = wide, .quadrotor = body);
    AUTO_RIG rig = rig_begin(NULL, config, 1);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t a = 0; a < 4; a++)
            rig.action[4 * i + a] = (i >> a & 1) != 0 ? 1.0f : -7.0f;
    rig_step(&rig);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal((int)rig_field(&rig, "command.refused", i, 0), 0);
}

// The ends of the range are taken by the loops that read them, whatever they are rounded to: the
// lower end where a quadrotor is light, the upper one where it is heavy.
TEST(no_action_is_refused) {
    for (int k = 0; k < 20; k++) {
        mf_Quadrotor body = WITH(mf_quadrotor(), .mass = 0.2 + 0.11 * k, .rotor_speed_min = 3.7 * k,
                                 .rate_max = 7.3 + 0.31 * k);
        for (int method = 0; method < 4; method++)
            expect_accepted(method % 2 != 0, method / 2 != 0, &body);
    }
}

static void expect_flyer_observation(const Rig *rig, uint32_t robot, const double goal[3],
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

// All but what depends on the goal of waypoints and on others.
static double flyer_costs(const Rig *rig, uint32_t robot, const float *last) {
    double spin = 0.0, change = 0.0;
    for (uint32_t i = 0; i < 3; i++)
        spin += pow(rig_field(rig, "base.angular_velocity", robot, i), 2.0);
    for (uint32_t a = 0; a < 4; a++)
        change += pow((double)rig->action[4 * robot + a] - (double)last[4 * robot + a], 2.0);
    return 0.005 * spin + 0.02 * change / 4.0;
}

static double goal_distance(const Rig *rig, uint32_t robot, const double goal[3]) {
    double position[3];
    get_fields(rig->group, "base.position", robot, 3, position);
    mf_vec3_sub(position, goal, position);
    return mf_vec3_length(position);
}

TEST(hovering_by_hand) {
    enum { ROBOTS = 18, STEPS = 12 };
    static const double goal[3] = {0.0, 0.0, 3.0};
    float last[4 * ROBOTS] = {0};
    uint32_t lost = 0;
    mf_TaskSetting setting = {"far", 2.0};
    AUTO_RIG rig = rig_open(NULL, single_config("quadrotor", ROBOTS, &setting, 1), 1);
    assert_near(mf_environment_interval(rig.environment), 0.02, 1e-15);
    rig_reset(&rig, 60);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        expect_flyer_observation(&rig, i, goal, NULL);
        for (uint32_t c = 0; c < 3; c++)
            assert_true(fabs(rig_observation(&rig, i)[c]) <= 1.0);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        if (n == 3)
            set_field(rig.group, "base.position", 4, 2, 0.02);
        if (n == 5)
            set_field(rig.group, "base.position", 9, 0, 2.5);
        for (uint32_t i = 0; n != 3 && n != 5 && i < ROBOTS; i++) {
            double distance = goal_distance(&rig, i, goal);
            bool out = distance > 2.0 || rig_field(&rig, "base.position", i, 2) < 0.05;
            expect_flyer_observation(&rig, i, goal, rig.action + 4 * (size_t)i);
            assert_near(rig.buffers.reward[i],
                        1.0 / (1.0 + 4.0 * distance * distance) - flyer_costs(&rig, i, last) -
                            (out ? 10.0 : 0.0),
                        EXACT);
            assert_int_equal(rig.buffers.terminated[i], out);
            lost += out;
        }
        memcpy(last, rig.action, sizeof last);
    }
    assert_in_range(lost, 2, ROBOTS * STEPS / 2);
}

TEST(waypoints_follow_each_other) {
    enum { ROBOTS = 5, STEPS = 900 };
    static const mf_TaskSetting settings[] = {
        {"waypoints", 1.0}, {"progress_weight", 2.0}, {"near_weight", 0.0}};
    double goal[ROBOTS][3], direction[ROBOTS];
    float last[4 * ROBOTS] = {0};
    uint32_t reached[ROBOTS] = {0};
    AUTO_RIG rig = rig_begin(
        NULL, WITH(single_config("quadrotor", ROBOTS, settings, 3), .episode_steps = MF_NONE), 90);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++) {
            for (uint32_t c = 0; c < 3; c++)
                goal[i][c] = rig_observation(&rig, i)[c] + rig_field(&rig, "base.position", i, c);
            assert_true(fabs(goal[i][0]) <= 1.0 && fabs(goal[i][1]) <= 1.0 &&
                        fabs(goal[i][2] - 3.0) <= 1.0);
            direction[i] = goal_distance(&rig, i, goal[i]);
        }
        fly(&rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            double distance = goal_distance(&rig, i, goal[i]);
            bool there = distance <= 0.2;
            for (int a = 0; a < 4; a++) // as limited
                rig.action[4 * i + a] = fminf(1.0f, fmaxf(-1.0f, rig.action[4 * i + a]));
            assert_near(rig.buffers.reward[i],
                        2.0 * (direction[i] - distance) + (there ? 5.0 : 0.0) -
                            flyer_costs(&rig, i, last),
                        1e-11);
            assert_true(rig_commanded(&rig, i, "reached") == there);
            double moved = fabs(rig_observation(&rig, i)[0] +
                                rig_field(&rig, "base.position", i, 0) - goal[i][0]);
            assert_int_equal(moved > 1e-9, there);
            reached[i] += there;
        }
        memcpy(last, rig.action, sizeof last);
    }
    for (uint32_t i = 0; i < ROBOTS; i++)
        assert_true(reached[i] >= 3);
}

// ---- teams -------------------------------------------------------------------------------------

enum { AGENTS = 5, SEES = 3, TEAMS = 4 };
static const mf_TaskSetting team_of_5 = {"agents", AGENTS};

static void position_of(const Rig *rig, uint32_t robot, double position[3], double velocity[3]) {
    get_fields(rig->group, "base.position", robot, 3, position);
    get_fields(rig->group, "base.linear_velocity", robot, 3, velocity);
}

static double gap(const Rig *rig, uint32_t a, uint32_t b) {
    double position[3], other[3], unused[3];
    position_of(rig, a, position, unused);
    position_of(rig, b, other, unused);
    mf_vec3_sub(position, position, other);
    return mf_vec3_length(position);
}

// The nearest others are seen, nearest first, and nobody of another team. Returns the least gap.
static double expect_neighbors(const Rig *rig, uint32_t robot) {
    const uint32_t first = robot - robot % AGENTS;
    const double *seen = rig_observation(rig, robot) + 22;
    bool taken[AGENTS] = {false};
    double position[3], velocity[3], least = 0.0;
    assert_int_equal(rig->seen, 22 + 6 * SEES);
    position_of(rig, robot, position, velocity);
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
        position_of(rig, first + next, other, rate);
        for (int c = 0; c < 3; c++) {
            assert_true(seen[c] == other[c] - position[c]);
            assert_true(seen[3 + c] == rate[c] - velocity[c]);
        }
    }
    return least;
}

TEST(swarm_by_hand) {
    enum { COUNT = TEAMS * AGENTS, STEPS = 30 };
    double goal[COUNT][3], direction[COUNT];
    float last[4 * COUNT] = {0};
    uint32_t near = 0;
    const mf_TaskSetting settings[] = {team_of_5, {"apart", 3.0}};
    AUTO_RIG rig = rig_open(NULL, single_config("swarm", COUNT, settings, 2), 1);
    assert_int_equal(mf_environment_team(rig.environment), AGENTS);
    rig_reset(&rig, 11);
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t c = 0; c < 3; c++)
            goal[i][c] = rig_observation(&rig, i)[c] + rig_field(&rig, "base.position", i, c);
        direction[i] = goal_distance(&rig, i, goal[i]);
        expect_neighbors(&rig, i);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < COUNT; i++) {
            double distance = goal_distance(&rig, i, goal[i]), gap = expect_neighbors(&rig, i);
            double share = gap < 3.0 ? (3.0 - gap) / (3.0 - 0.4) : 0.0;
            near += gap < 3.0;
            assert_int_equal(rig.buffers.terminated[i], 0);
            assert_near(rig.buffers.reward[i],
                        1.0 / (1.0 + 4.0 * distance * distance) + direction[i] - distance - share -
                            flyer_costs(&rig, i, last),
                        1e-11);
            direction[i] = distance;
        }
        memcpy(last, rig.action, sizeof last);
    }
    assert_in_range(near, 10, COUNT * STEPS - 1);
}

// Nobody starts near another, and no two have goals near each other, in teams of any size.
TEST(teams_start_apart) {
    static const uint32_t sizes[] = {2, 8, 9, 27, 64};
    for (int s = 0; s < 5; s++) {
        const uint32_t size = sizes[s], count = 3 * size;
        mf_TaskSetting setting = {"agents", size};
        AUTO_RIG rig = rig_begin(NULL, single_config("swarm", count, &setting, 1), 7);
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
    }
}

static void put(Rig *rig, uint32_t robot, const double point[3], const double velocity[3]) {
    static const double rotation[4] = {1.0, 0.0, 0.0, 0.0};
    double position[7], twist[6] = {0};
    memcpy(position, point, 3 * sizeof *point);
    memcpy(position + 3, rotation, sizeof rotation);
    memcpy(twist, velocity, 3 * sizeof *velocity);
    mf_group_set_state(rig->group, robot, position, twist);
}

// Two that meet within a step, and are far from each other before and after it, end the episode of
// their team alone; the two of them pay. Beside each other at that speed they do not.
TEST(collisions_end_the_episode_of_the_team) {
    for (int beside = 0; beside < 2; beside++) {
        const double left[3] = {-0.5, 0.0, 3.0}, right[3] = {0.5, beside ? 0.5 : 0.0, 3.0};
        const double there[3] = {50.0, 0.0, 0.0}, back[3] = {-50.0, 0.0, 0.0};
        AUTO_RIG rig = rig_begin(NULL, single_config("swarm", TEAMS * AGENTS, &team_of_5, 1), 11);
        put(&rig, AGENTS + 1, left, there);
        put(&rig, AGENTS + 3, right, back);
        for (uint32_t k = 0; k < AGENTS; k++)
            if (k != 1 && k != 3)
                put(&rig, AGENTS + k, (const double[3]){0, 3.0 + k, 3.0}, (const double[3]){0});
        rig_step(&rig);
        assert_true(gap(&rig, AGENTS + 1, AGENTS + 3) > 0.9);
        for (uint32_t i = 0; i < TEAMS * AGENTS; i++) {
            bool touches = !beside && (i == AGENTS + 1 || i == AGENTS + 3);
            assert_int_equal(rig.buffers.terminated[i], !beside && i / AGENTS == 1);
            assert_true(rig_commanded(&rig, i, "touched") == touches);
            assert_true(rig_commanded(&rig, i, "reward_crash") == (touches ? -10.0 : 0.0));
        }
    }
}

// A fault of one, too: and the next step starts the whole team anew.
TEST(teams_start_anew_together) {
    for (int same = 0; same < 2; same++) {
        AUTO_RIG rig =
            rig_begin(NULL,
                      WITH(single_config("swarm", TEAMS * AGENTS, &team_of_5, 1),
                           .autoreset = same ? MF_AUTORESET_SAME_STEP : MF_AUTORESET_NEXT_STEP),
                      11);
        const uint32_t failed = 2 * AGENTS + 4;
        set_field(rig.group, "base.linear_velocity", failed, 0, NAN);
        rig_step(&rig);
        for (uint32_t i = 0; i < rig.count; i++)
            assert_int_equal(rig.buffers.terminated[i], i / AGENTS == 2);
        if (!same)
            rig_step(&rig);
        for (uint32_t i = 0; i < rig.count; i++) {
            assert_int_equal((int)rig_field(&rig, "episode.number", i, 0), i / AGENTS == 2 ? 2 : 1);
            expect_neighbors(&rig, i);
            if (i / AGENTS == 2 && !same)
                assert_true(rig.buffers.reward[i] == 0.0 && rig.buffers.terminated[i] == 0);
        }
    }
}

TEST(teams_are_not_parted) {
    mf_Environment *none = NULL;
    uint8_t mask[2 * AGENTS] = {0};
    mf_EnvironmentConfig config = single_config("swarm", 2 * AGENTS, &team_of_5, 1);
    AUTO_RIG rig = rig_begin(NULL, config, 1);
    mask[AGENTS + 1] = 1;
    MUST_FAIL(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error),
              MF_BAD_ARGUMENT, "team");
    memset(mask + AGENTS, 1, AGENTS);
    MUST(mf_environment_reset(rig.environment, mask, NULL, &rig.buffers, &error));
    assert_int_equal((int)rig_field(&rig, "episode.number", 0, 0), 1);
    assert_int_equal((int)rig_field(&rig, "episode.number", AGENTS, 0), 2);
    config.count = 2 * AGENTS + 1;
    MUST_FAIL(mf_environment_create(rig.context, &config, &none, &error), MF_BAD_ARGUMENT,
              "multiple of the 5");
}
