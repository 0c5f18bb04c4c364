// Observations, rewards and ends of the tasks without a free base (poles, runners in a plane,
// arms), computed from the fields of the group.
#include "environment/support.h"

enum { ROBOTS = 18, STEPS = 9 };

static double angle(const Rig *rig, uint32_t i, uint32_t joint) {
    return rig_field(rig, "joint.angle", i, joint);
}

static double rate(const Rig *rig, uint32_t i, uint32_t joint) {
    return rig_field(rig, "joint.rate", i, joint);
}

static Rig open_task(const char *task, const mf_TaskSetting *settings, uint32_t count) {
    return rig_begin(text_of(task), single_config(task, ROBOTS, settings, count), 50);
}

static double limited(double value) {
    return fmin(fmax(value, -10.0), 10.0);
}

// Position and velocity vectors of a chain without free base, without the first `hidden` positions.
static void expect_state(const Rig *rig, uint32_t i, uint32_t hidden, bool limits) {
    const double *seen = rig_observation(rig, i);
    const uint32_t joints = rig->model->joint_count;
    assert_int_equal(rig->seen, 2 * joints - hidden);
    for (uint32_t j = hidden; j < joints; j++)
        assert_true(*seen++ == angle(rig, i, j));
    for (uint32_t j = 0; j < joints; j++)
        assert_true(*seen++ == (limits ? limited(rate(rig, i, j)) : rate(rig, i, j)));
}

// ---- poles -------------------------------------------------------------------------------------

TEST(inverted_pendulum) {
    uint32_t ends = 0;
    AUTO_RIG rig = open_task("inverted_pendulum", NULL, 0);
    for (uint32_t i = 0; i < ROBOTS; i++)
        expect_state(&rig, i, 0, false);
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            bool down = fabs(angle(&rig, i, 1)) > 0.2;
            expect_state(&rig, i, 0, false);
            assert_int_equal(rig.buffers.terminated[i], down);
            assert_true(rig.buffers.reward[i] == (down ? 0.0 : 1.0));
            assert_true(rig_commanded(&rig, i, "reward_survive") == rig.buffers.reward[i]);
            ends += down;
        }
    }
    assert_in_range(ends, 5, ROBOTS * STEPS - 5);
}

static void expect_poles(const Rig *rig, uint32_t i, double force) {
    const double *seen = rig_observation(rig, i);
    const double one = angle(rig, i, 1), two = angle(rig, i, 2);
    const double expected[9] = {angle(rig, i, 0),
                                sin(one),
                                sin(two),
                                cos(one),
                                cos(two),
                                limited(rate(rig, i, 0)),
                                limited(rate(rig, i, 1)),
                                limited(rate(rig, i, 2)),
                                limited(force)};
    assert_int_equal(rig->seen, 9);
    for (int k = 0; k < 9; k++)
        assert_near(seen[k], expected[k], 1e-14);
}

TEST(inverted_double_pendulum) {
    uint32_t ends = 0;
    static const mf_TaskSetting settings[] = {{"healthy_reward", 7.0}, {"reset_noise_scale", 0.3}};
    AUTO_RIG rig = open_task("inverted_double_pendulum", settings, 2);
    for (uint32_t i = 0; i < ROBOTS; i++)
        expect_poles(&rig, i, 0.0);
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            double one = rig_observed(&rig, "joint.angle", i, 1);
            double both = one + rig_observed(&rig, "joint.angle", i, 2);
            double x = rig_observed(&rig, "joint.angle", i, 0) + 0.6 * sin(one) + 0.6 * sin(both);
            double z = 0.6 * cos(one) + 0.6 * cos(both);
            double w1 = rate(&rig, i, 1), w2 = rate(&rig, i, 2);
            double far = 0.01 * x * x + (z - 2.0) * (z - 2.0);
            double fast = 1e-3 * w1 * w1 + 5e-3 * w2 * w2;
            expect_poles(&rig, i, 0.0);
            assert_int_equal(rig.buffers.terminated[i], z <= 1.0);
            assert_near(rig.buffers.reward[i], (z > 1.0 ? 7.0 : 0.0) - far - fast, EXACT);
            assert_near(rig_commanded(&rig, i, "distance_penalty"), -far, EXACT);
            assert_near(rig_commanded(&rig, i, "velocity_penalty"), -fast, EXACT);
            ends += z <= 1.0;
        }
    }
    assert_in_range(ends, 5, ROBOTS * STEPS - 5);
}

// At the ends of its rail the cart, driven there, is pushed back: that force is the last value.
TEST(the_end_of_the_rail_is_felt) {
    AUTO_RIG rig = open_task("inverted_double_pendulum", NULL, 0);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        const double sign = i % 2 == 0 ? 1.0 : -1.0;
        const double position[3] = {0.999 * sign, 0.0, 0.0}, velocity[3] = {0.0, 0.0, 0.0};
        mf_group_set_state(rig.group, i, position, velocity);
        rig.action[i] = (float)(sign * i / ROBOTS);
    }
    uint32_t felt = 0, whole = 0;
    for (uint32_t n = 0; n < STEPS; n++) {
        rig_step(&rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            double force = rig_field(&rig, "joint.limit_force", i, 0);
            expect_poles(&rig, i, i % 2 == 0 ? -force : force);
            felt += force > 0.0;
            whole += force > 0.0 && force < 10.0;
        }
    }
    assert_true(felt > ROBOTS && whole > 0);
}

// ---- runners -----------------------------------------------------------------------------------

TEST(half_cheetah) {
    for (int shown = 0; shown < 2; shown++) {
        const mf_TaskSetting settings[] = {
            {"exclude_current_positions_from_observation", 1.0 - shown},
            {"forward_reward_weight", 1.5},
            {"ctrl_cost_weight", 0.2}};
        double before[ROBOTS];
        AUTO_RIG rig = open_task("half_cheetah", settings, 3);
        for (uint32_t n = 0; n < STEPS; n++) {
            for (uint32_t i = 0; i < ROBOTS; i++)
                before[i] = angle(&rig, i, 0);
            act_and_step(&rig, n);
            for (uint32_t i = 0; i < ROBOTS; i++) {
                double x = angle(&rig, i, 0), speed = (x - before[i]) / (5 * 0.004);
                double forward = 1.5 * speed, cost = 0.2 * effort(&rig, i);
                expect_state(&rig, i, 1 - (uint32_t)shown, false);
                assert_int_equal(rig.buffers.terminated[i], 0);
                assert_near(rig.buffers.reward[i], forward - cost, 1e-10);
                assert_near(rig_commanded(&rig, i, "x_velocity"), speed, 1e-10);
                assert_near(rig_commanded(&rig, i, "reward_forward"), forward, 1e-10);
                assert_near(rig_commanded(&rig, i, "reward_ctrl"), -cost, EXACT);
                assert_true(rig_commanded(&rig, i, "x_position") == x);
            }
        }
    }
}

// Hopper and walker: `z` and `tilt` are the limits of health.
static void runner(const char *task, double z_min, double z_max, double tilt, bool state) {
    double before[ROBOTS];
    uint32_t ill = 0, well = 0;
    AUTO_RIG rig = open_task(task, NULL, 0);
    for (uint32_t i = 0; i < ROBOTS; i++) { // some low, some high, some tilted, some fast
        double position[9] = {0.3, 1.2, 0.0}, velocity[9] = {0};
        position[1] = i % 6 == 1 ? 0.6 : i % 6 == 2 ? 2.3 : 1.2;
        position[2] = i % 6 == 3 ? 0.5 : i % 6 == 4 ? -1.5 : 0.05;
        velocity[5] = i % 6 == 5 ? 150.0 : 0.1 * i;
        mf_group_set_state(rig.group, i, position, velocity);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            before[i] = angle(&rig, i, 0);
        act_and_step(&rig, n);
        for (uint32_t i = 0; n > 0 && i < ROBOTS; i++) {
            double x = angle(&rig, i, 0), z = angle(&rig, i, 1);
            bool healthy = z > z_min && z < z_max && fabs(angle(&rig, i, 2)) < tilt;
            for (uint32_t j = 0; state && j < rig.model->joint_count; j++)
                healthy = healthy && (j < 2 || fabs(angle(&rig, i, j)) < 100.0) &&
                          fabs(rate(&rig, i, j)) < 100.0;
            double speed = (x - before[i]) / (4 * 0.004);
            double cost = 1e-3 * effort(&rig, i), reward = speed + (healthy ? 1.0 : 0.0) - cost;
            expect_state(&rig, i, 1, true);
            assert_int_equal(rig.buffers.terminated[i], !healthy);
            assert_near(rig.buffers.reward[i], reward, 1e-10 * (1.0 + fabs(speed)));
            assert_near(rig_commanded(&rig, i, "z_distance_from_origin"), z - 1.2, EXACT);
            assert_true(rig_commanded(&rig, i, "reward_survive") == (healthy ? 1.0 : 0.0));
            ill += !healthy;
            well += healthy;
        }
    }
    assert_true(ill > ROBOTS && well > ROBOTS);
}

TEST(hopper) {
    runner("hopper", 0.7, 1e30, 0.2, true);
}

TEST(walker) {
    runner("walker2d", 0.8, 2.0, 1.0, false);
}

// Unhealthy states need not end an episode, but give no reward.
TEST(unhealthy_robots_may_continue) {
    static const mf_TaskSetting settings[] = {{"terminate_when_unhealthy", 0.0},
                                              {"healthy_z_min", 5.0}};
    AUTO_RIG rig = open_task("walker2d", settings, 2);
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_int_equal(rig.buffers.terminated[i], 0);
        assert_true(rig_commanded(&rig, i, "reward_survive") == 0.0);
    }
}

TEST(swimmer) {
    double before[ROBOTS][2];
    AUTO_RIG rig = open_task("swimmer", NULL, 0);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            before[i][0] = angle(&rig, i, 0), before[i][1] = angle(&rig, i, 1);
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            double x = angle(&rig, i, 0), y = angle(&rig, i, 1);
            double speed = (x - before[i][0]) / 0.04, aside = (y - before[i][1]) / 0.04;
            expect_state(&rig, i, 2, false);
            assert_near(rig.buffers.reward[i], speed - 1e-4 * effort(&rig, i), 1e-10);
            assert_near(rig_commanded(&rig, i, "y_velocity"), aside, 1e-10);
            assert_near(rig_commanded(&rig, i, "distance_from_origin"), sqrt(x * x + y * y), EXACT);
            assert_int_equal(rig.buffers.terminated[i], 0);
        }
    }
}

// ---- arms --------------------------------------------------------------------------------------

// Two rigs of the same robots: one makes two physics steps at once, the other shows the state
// between them, which is what the file's integrator (Euler) leaves the poses of.
static Rig open_with_skip(const char *task, uint32_t frame_skip) {
    return rig_begin(text_of(task), WITH(rig_config(task, ROBOTS), .frame_skip = frame_skip), 8);
}

static void half_step(Rig *between, const Rig *rig) {
    memcpy(between->action, rig->action, ROBOTS * rig->actions * sizeof(float));
    rig_step(between);
}

TEST(reacher) {
    AUTO_RIG rig = open_with_skip("reacher", 2), between = open_with_skip("reacher", 1);
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        half_step(&between, &rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const double *seen = rig_observation(&rig, i);
            double a = angle(&rig, i, 0), b = angle(&rig, i, 1), was = angle(&between, i, 0);
            double both = was + angle(&between, i, 1), cost = effort(&rig, i);
            double x = 0.1 * cos(was) + 0.11 * cos(both) - angle(&between, i, 2);
            double y = 0.1 * sin(was) + 0.11 * sin(both) - angle(&between, i, 3);
            double far = sqrt(x * x + y * y + 0.11 * 0.11); // tip at 0.12 m, target at 0.01 m
            const double expected[10] = {cos(a),
                                         cos(b),
                                         sin(a),
                                         sin(b),
                                         angle(&rig, i, 2),
                                         angle(&rig, i, 3),
                                         rate(&rig, i, 0),
                                         rate(&rig, i, 1),
                                         x,
                                         y};
            for (int k = 0; k < 10; k++)
                assert_near(seen[k], expected[k], 1e-14);
            assert_near(rig.buffers.reward[i], -far - cost, EXACT);
            assert_near(rig_commanded(&rig, i, "reward_dist"), -far, EXACT);
            assert_near(rig_commanded(&rig, i, "reward_ctrl"), -cost, EXACT);
        }
        half_step(&between, &rig);
        for (uint32_t i = 0; i < ROBOTS; i++) // or the pair says nothing
            assert_true(angle(&rig, i, 0) == angle(&between, i, 0));
    }
}

// The arm's joints rotate about z, y, x, y, x, y, x, one link of 0.1 m after the other.
static void tip_of(const Rig *rig, uint32_t i, double tip[3]) {
    double frame[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; // columns: axes of the link
    tip[0] = tip[1] = tip[2] = 0.0;
    for (uint32_t j = 0; j < 7; j++) {
        const double a = angle(rig, i, j), c = cos(a), s = sin(a);
        const int axis = j == 0 ? 2 : j % 2 == 1 ? 1 : 0, u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (int k = 0; k < 3; k++) {
            tip[k] += 0.1 * frame[k][0];
            double first = frame[k][u], second = frame[k][v];
            frame[k][u] = c * first + s * second;
            frame[k][v] = c * second - s * first;
        }
    }
    for (int k = 0; k < 3; k++)
        tip[k] += 0.1 * frame[k][0];
}

TEST(pusher) {
    AUTO_RIG rig = open_with_skip("pusher", 2), between = open_with_skip("pusher", 1);
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        half_step(&between, &rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const double *seen = rig_observation(&rig, i);
            double positions[9] = {0, 0, 0, 0.45, -0.05, -0.2, 0.45, -0.05, -0.3};
            tip_of(&between, i, positions);
            positions[3] += angle(&between, i, 8);
            positions[4] += angle(&between, i, 7);
            positions[6] += angle(&between, i, 10);
            positions[7] += angle(&between, i, 9);
            for (uint32_t j = 0; j < 7; j++) {
                assert_true(seen[j] == angle(&rig, i, j));
                assert_true(seen[7 + j] == rate(&rig, i, j));
            }
            for (int k = 0; k < 9; k++)
                assert_near(seen[14 + k], positions[k], 1e-14);
            double far = distance3(positions + 3, positions + 6),
                   near = distance3(positions + 3, positions);
            double cost = 0.1 * effort(&rig, i);
            assert_near(rig.buffers.reward[i], -far - cost - 0.5 * near, EXACT);
            assert_near(rig_commanded(&rig, i, "reward_near"), -0.5 * near, EXACT);
            assert_near(rig_commanded(&rig, i, "reward_dist"), -far, EXACT);
        }
        half_step(&between, &rig);
    }
}
