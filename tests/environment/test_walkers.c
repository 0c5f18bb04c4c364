// Observations, rewards and ends of the tasks with a free base: ant, humanoid, standing up.
// External forces are compared first without limit, as a total, and then with the limits of the
// tasks.
#include "environment/support.h"

#include "math/scalar.h"

enum { ROBOTS = 18, STEPS = 12, JOINTS = 4, LEGS = 6 /* bodies: trunk, legs, foot */ };

static const char euler[] = CRAWLER("timestep='.003'");
static const char rk4[] = CRAWLER("timestep='.003' integrator='RK4'");

static Rig open_task(const char *task, const char *text, const mf_TaskSetting *settings,
                     uint32_t count) {
    Rig rig = rig_begin(text, single_config(task, ROBOTS, settings, count), 50);
    // Low enough that they touch the ground soon.
    for (uint32_t i = 0; i < ROBOTS; i++) {
        double position[11], velocity[10] = {0.1 * i, 0, -0.5};
        memcpy(position, rig.model->start_position, sizeof position);
        position[2] = 0.4;
        mf_group_set_state(rig.group, i, position, velocity);
    }
    return rig;
}

static double squares(const double *values, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sum;
}

// The first values of all three: z, orientation, joints, then all velocities.
static const double *expect_state(const Rig *rig, uint32_t i) {
    static const struct {
        const char *name;
        uint32_t first, end;
    } parts[] = {{"base.position", 2, 3},         {"base.orientation", 0, 4},
                 {"joint.angle", 0, JOINTS},      {"base.linear_velocity", 0, 3},
                 {"base.angular_velocity", 0, 3}, {"joint.rate", 0, JOINTS}};
    const double *seen = rig_observation(rig, i);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (uint32_t c = parts[p].first; c < parts[p].end; c++)
            assert_true(*seen++ == rig_field(rig, parts[p].name, i, c));
    return seen;
}

// ---- ant ---------------------------------------------------------------------------------------

#define NO_LIMITS                                                                                  \
    {"contact_force_min", -1e30}, {                                                                \
        "contact_force_max", 1e30                                                                  \
    }

TEST(ant) {
    static const mf_TaskSetting none[] = {NO_LIMITS, {"contact_cost_weight", 0.0}};
    double before[ROBOTS][2];
    uint32_t cut = 0, well = 0;
    AUTO_RIG rig = open_task("ant", rk4, NULL, 0);
    AUTO_RIG raw = open_task("ant", rk4, none, 3);
    assert_int_equal(rig.seen, 9 + 10 + 6 * LEGS);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            for (uint32_t k = 0; k < 2; k++)
                before[i][k] = rig_observed(&rig, "base.position", i, k);
        act_and_step(&rig, n);
        act_and_step(&raw, n);
        for (uint32_t i = 0; n > 0 && i < ROBOTS; i++) {
            const double *seen = expect_state(&rig, i), *whole = expect_state(&raw, i);
            double sum = 0.0, z = rig_field(&rig, "base.position", i, 2);
            for (int k = 0; k < 6 * LEGS; k++) {
                double force = fmin(fmax(whole[k], -1.0), 1.0);
                assert_true(seen[k] == force);
                sum += force * force;
                cut += fabs(whole[k]) > 1.0;
            }
            bool healthy = z >= 0.2 && z <= 1.0;
            double x = (rig_observed(&rig, "base.position", i, 0) - before[i][0]) / (5 * 0.003);
            double y = (rig_observed(&rig, "base.position", i, 1) - before[i][1]) / (5 * 0.003);
            double cost = 0.5 * effort(&rig, i), reward = x + (healthy ? 1.0 : 0.0) - cost;
            assert_near(rig_commanded(&rig, i, "x_velocity"), x, 1e-10);
            assert_near(rig_commanded(&rig, i, "y_velocity"), y, 1e-10);
            assert_near(rig.buffers.reward[i], reward - 5e-4 * sum, 1e-10);
            assert_near(raw.buffers.reward[i], reward, 1e-10);
            assert_int_equal(rig.buffers.terminated[i], !healthy);
            well += healthy;
        }
    }
    assert_true(cut > 100 && well > ROBOTS);
}

// Health is height alone; forces and places may be left out or shown.
TEST(ant_may_see_less_or_more) {
    static const mf_TaskSetting settings[] = {{"exclude_current_positions_from_observation", 0.0},
                                              {"include_cfrc_ext_in_observation", 0.0},
                                              {"healthy_z_min", 0.6},
                                              {"main_body", 2.0}};
    AUTO_RIG rig = open_task("ant", euler, settings, 4);
    assert_int_equal(rig.seen, 11 + 10);
    rig_step(&rig);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_true(rig_observation(&rig, i)[0] == rig_field(&rig, "base.position", i, 0));
        assert_int_equal(rig.buffers.terminated[i], 1);
    }
}

// The way is that of the named body: a leg's, hung 0.25 m ahead and 0.15 m to the side.
TEST(ant_counts_the_travel_of_its_main_body) {
    static const mf_TaskSetting settings[] = {{"main_body", 2.0}};
    double before[ROBOTS][2];
    AUTO_RIG rig = open_task("ant", rk4, settings, 1);
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const double hip[3] = {0.25, 0.15, 0.0};
            double q[4], at[3], position[2];
            for (uint32_t k = 0; k < 4; k++)
                q[k] = rig_observed(&rig, "base.orientation", i, k);
            mf_quat_rotate(at, q, hip);
            for (uint32_t k = 0; k < 2; k++)
                position[k] = rig_observed(&rig, "base.position", i, k) + at[k];
            if (n > 0)
                assert_near(rig_commanded(&rig, i, "x_velocity"),
                            (position[0] - before[i][0]) / 0.015, 1e-10);
            memcpy(before[i], position, sizeof position);
        }
    }
}

// ---- humanoids ---------------------------------------------------------------------------------

// The center of mass by links, where the last physics step looked.
static void center_of(const Rig *rig, uint32_t i, double out[3]) {
    const mf_Model *model = rig->model;
    double q[11], position[8][3], rotation[8][4], sum[3] = {0, 0, 0};
    for (uint32_t k = 0; k < 11; k++)
        q[k] = k < 3   ? rig_observed(rig, "base.position", i, k)
               : k < 7 ? rig_observed(rig, "base.orientation", i, k - 3)
                       : rig_observed(rig, "joint.angle", i, k - 7);
    mf_model_pose_at(model, q, position, rotation);
    for (uint32_t l = 0; l < model->link_count; l++) {
        double own[3];
        mf_quat_rotate(own, rotation[l], model->links[l].center);
        for (int k = 0; k < 3; k++)
            sum[k] += model->links[l].mass * (position[l][k] + own[k]) / model->mass;
    }
    memcpy(out, sum, sizeof sum);
}

static void expect_actuators(const Rig *rig, uint32_t i, const double *seen) {
    for (uint32_t j = 0; j < JOINTS; j++)
        assert_near(seen[j], 15.0 * (double)rig->action[i * JOINTS + j], 1e-12);
}

TEST(humanoid) {
    static const mf_TaskSetting settings[] = {{"healthy_z_min", 0.38}, {"contact_cost_max", 0.03}};
    uint32_t limited = 0, free = 0, ill = 0;
    double before[ROBOTS][3], now[3];
    AUTO_RIG rig = open_task("humanoid", rk4, settings, 2);
    assert_int_equal(rig.seen, 9 + 10 + 16 * LEGS + JOINTS + 6 * LEGS);
    for (uint32_t n = 0; n < STEPS; n++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            center_of(&rig, i, before[i]);
        act_and_step(&rig, n);
        for (uint32_t i = 0; n > 0 && i < ROBOTS; i++) {
            const double *seen = expect_state(&rig, i), *external = seen + 16 * LEGS + JOINTS;
            double z = rig_field(&rig, "base.position", i, 2), arms[3] = {0}, mass = 0.0;
            bool healthy = z > 0.38 && z < 2.0;
            double impact = 5e-7 * squares(external, 6 * LEGS);
            limited += impact > 0.03;
            free += impact > 0.0 && impact < 0.03;
            impact = fmin(impact, 0.03);
            center_of(&rig, i, now);
            double x = (now[0] - before[i][0]) / (5 * 0.003), cost = 0.1 * effort(&rig, i);
            assert_near(rig_commanded(&rig, i, "x_velocity"), x, 1e-10);
            assert_near(rig_commanded(&rig, i, "reward_contact"), -impact, 1e-12);
            assert_near(rig.buffers.reward[i], 1.25 * x + (healthy ? 5.0 : 0.0) - cost - impact,
                        1e-10);
            assert_int_equal(rig.buffers.terminated[i], !healthy);
            ill += !healthy;
            for (uint32_t b = 0; b < LEGS; b++) {
                mass += seen[10 * b + 9];
                for (int k = 0; k < 3; k++)
                    arms[k] += seen[10 * b + 6 + (uint32_t)k];
            }
            assert_near(mass, rig.model->mass, 1e-10);
            for (int k = 0; k < 3; k++)
                assert_near(arms[k], 0.0, 1e-12);
            expect_actuators(&rig, i, seen + 16 * LEGS);
        }
    }
    assert_true(limited > 0 && free > 0 && ill > 0);
}

TEST(getting_up) {
    static const mf_TaskSetting settings[] = {{"include_cinert_in_observation", 0.0},
                                              {"include_cvel_in_observation", 0.0}};
    AUTO_RIG rig = open_task("humanoid_standup", rk4, settings, 2);
    assert_int_equal(rig.seen, 9 + 10 + JOINTS + 6 * LEGS);
    for (uint32_t n = 0; n < STEPS; n++) {
        act_and_step(&rig, n);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const double *seen = expect_state(&rig, i);
            double z = rig_field(&rig, "base.position", i, 2);
            double impact = fmin(0.5e-6 * squares(seen + JOINTS, 6 * LEGS), 10.0);
            assert_near(rig.buffers.reward[i], z / 0.003 - 0.1 * effort(&rig, i) - impact + 1.0,
                        1e-9);
            assert_near(rig_commanded(&rig, i, "z_distance_from_origin"), z - 0.55, 1e-12);
            assert_int_equal(rig.buffers.terminated[i], 0);
            expect_actuators(&rig, i, seen);
        }
    }
}

// Where the file steps by Euler, inertia and velocity belong to the state before the last physics
// step: with one step, to the state before.
TEST(sums_are_those_before_the_last_step) {
    mf_EnvironmentConfig config = WITH(rig_config("humanoid", ROBOTS), .frame_skip = 1);
    AUTO_RIG late = rig_begin(euler, config, 3);
    AUTO_RIG prompt = rig_begin(rk4, config, 3);
    double was[ROBOTS][16 * LEGS];
    for (uint32_t i = 0; i < ROBOTS; i++)
        memcpy(was[i], rig_observation(&late, i) + 19, sizeof was[i]);
    act_and_step(&late, 0);
    act_and_step(&prompt, 0);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_memory_equal(was[i], rig_observation(&late, i) + 19, sizeof was[i]);
        assert_memory_not_equal(was[i], rig_observation(&prompt, i) + 19, sizeof was[i]);
    }
}

// ---- external forces ---------------------------------------------------------------------------

// At rest the ground carries the weight, by the bodies that touch it, without torque about the
// center of mass; the foot that is fixed to its leg feels its own share.
TEST(at_rest_the_ground_carries_the_weight) {
    static const mf_TaskSetting settings[] = {NO_LIMITS};
    for (int method = 0; method < 2; method++) {
        AUTO_RIG rig = open_task("ant", method == 0 ? euler : rk4, settings, 2);
        for (int n = 0; n < 1200; n++)
            rig_step(&rig);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const double *external = rig_observation(&rig, i) + 19;
            double total[6] = {0};
            for (uint32_t b = 0; b < LEGS; b++)
                for (uint32_t k = 0; k < 6; k++)
                    total[k] += external[6 * b + k];
            const double weight = rig.model->mass * 9.81;
            assert_near(total[5], weight, 1e-4 * weight);
            for (uint32_t k = 0; k < 5; k++)
                assert_near(total[k], 0.0, 1e-4 * weight);
            assert_true(external[6 * 5 + 5] >= 0.0);
        }
    }
}
