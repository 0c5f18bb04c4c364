// Robots of one group that differ in gravity: closed forms of a fall and of a pendulum, and the
// same motion as in a world of that gravity.
#include "rig/rig.h"

static const double down[3] = {9.81, 1.62, 3.71};

static mf_World *open_falling(mf_Context *context, double gravity, mf_Isa isa) {
    return open_world(
        context, &WITH(mf_world_config(), .step = MF_MILLISECOND, .gravity = gravity, .isa = isa));
}

static mf_Group *add_robots(mf_World *world, const mf_Model *model, mf_ContactLaw law,
                            uint32_t count) {
    mf_Group *group = add_group(
        world, &WITH(mf_group_config(), .model = model, .count = count, .double_precision = true));
    mf_MotionsConfig motions = mf_motions_config();
    motions.articulated.contact_law = law;
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, &motions, &error));
    return group;
}

static mf_Status vary_gravity(mf_Group *group, uint32_t count, const double *values,
                              mf_Error *error) {
    const uint32_t all[3] = {0, 1, 2};
    const mf_ModelChange change = {MF_ITEM_PHYSICS, "gravity", 0, 0, 3, values};
    return mf_group_vary(group, all, count, NULL, &change, 1, error);
}

static double value(mf_Group *group, const char *field, uint32_t instance, uint32_t component) {
    return mf_field_get(mf_group_find_field(group, field), instance, component);
}

TEST(robots_fall_by_their_own_gravity) {
    static const char file[] =
        "<mujoco><worldbody><body pos='0 0 50'><freejoint/><geom type='box' size='0.1 0.2 0.3'/>"
        "</body></worldbody></mujoco>";
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT,
                                         MF_CONTACT_LAW_HARD};
    const double gravity[9] = {0, 0, -9.81, 0, 0, -1.62, 0, 0, 0}, time = 1.0, step = 1e-3;
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *model = load_text(context, file);
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++) {
        mf_World *world = open_falling(context, 9.81, MF_ISA_AUTO);
        mf_Group *group = add_robots(world, model, laws[l], 3);
        MUST(vary_gravity(group, 3, gravity, &error));
        mf_world_step(world, 1000);
        for (uint32_t i = 0; i < 3; i++) {
            const double g = -gravity[3 * i + 2], fall = 50.0 - value(group, "base.position", i, 2);
            assert_near(value(group, "base.linear_velocity", i, 2), -g * time, 1e-10);
            // Velocities before positions: half a step of the last velocity more.
            assert_near(fall, 0.5 * g * time * time, 0.51 * g * time * step + 1e-12);
            assert_near(mf_motion_energy(group, i).potential,
                        value(group, "base.position", i, 2) * g * model->mass, 1e-6);
        }
        mf_world_destroy(world);
    }
    mf_model_destroy(model);
}

// [s] From the second to the last time that each pendulum passes its rest upwards, by a period.
static void find_periods(mf_World *world, mf_Group *group, double periods[3]) {
    double first[3] = {0}, last[3] = {0}, before[3];
    uint32_t passes[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        set_field(group, "joint.angle", i, 0, 0.01);
        before[i] = 0.01;
    }
    for (uint32_t s = 1; s <= 12000; s++) {
        mf_world_step(world, 1);
        for (uint32_t i = 0; i < 3; i++) {
            const double angle = value(group, "joint.angle", i, 0);
            if (before[i] < 0.0 && angle >= 0.0) {
                last[i] = 1e-3 * (s - angle / (angle - before[i]));
                if (passes[i]++ == 0)
                    first[i] = last[i];
            }
            before[i] = angle;
        }
    }
    for (uint32_t i = 0; i < 3; i++)
        periods[i] = (last[i] - first[i]) / (passes[i] - 1);
}

TEST(a_pendulum_swings_by_its_own_gravity) {
    static const char file[] =
        "<mujoco><worldbody><body pos='0 0 2'><joint axis='0 1 0'/>"
        "<inertial pos='0 0 -0.5' mass='2' diaginertia='0.1 0.1 0.1'/></body></worldbody></mujoco>";
    const double inertia = 0.1 + 2.0 * 0.5 * 0.5, pi = 3.14159265358979323846;
    double gravity[9] = {0}, periods[3];
    for (uint32_t i = 0; i < 3; i++)
        gravity[3 * i + 2] = -down[i];
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *model = load_text(context, file);
    mf_World *world = open_falling(context, 9.81, MF_ISA_AUTO);
    mf_Group *group = add_robots(world, model, MF_CONTACT_LAW_AS_MODEL, 3);
    MUST(vary_gravity(group, 3, gravity, &error));
    find_periods(world, group, periods);
    for (uint32_t i = 0; i < 3; i++) {
        const double period = 2.0 * pi * sqrt(inertia / (2.0 * down[i] * 0.5));
        assert_near(periods[i], period, 1e-4 * period); // amplitude 0.01: 6e-6 longer
    }
    mf_world_destroy(world);
    mf_model_destroy(model);
}

TEST(a_robot_of_other_gravity_moves_as_in_a_world_of_it) {
    static const char file[] =
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.4'><freejoint/>"
        "<geom type='box' size='0.2 0.1 0.05'/><body pos='0.2 0 0'><joint axis='0 1 0' "
        "damping='0.1'/><geom type='capsule' size='0.04 0.1' pos='0.1 0 -0.1'/></body>"
        "</body></worldbody></mujoco>";
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AUTO};
    double gravity[9] = {0};
    for (uint32_t i = 0; i < 3; i++)
        gravity[3 * i + 2] = -down[i];
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *model = load_text(context, file);
    for (size_t k = 0; k < 2; k++) {
        mf_World *world = open_falling(context, 9.81, isas[k]);
        mf_Group *group = add_robots(world, model, MF_CONTACT_LAW_AS_MODEL, 3);
        MUST(vary_gravity(group, 3, gravity, &error));
        mf_world_step(world, 1000);
        for (uint32_t i = 0; i < 3; i++) {
            mf_World *other = open_falling(context, down[i], isas[k]);
            mf_Group *alone = add_robots(other, model, MF_CONTACT_LAW_AS_MODEL, 1);
            mf_world_step(other, 1000);
            for (uint32_t c = 0; c < 3; c++)
                assert_near(value(group, "base.position", i, c),
                            value(alone, "base.position", 0, c), 1e-30);
            mf_world_destroy(other);
        }
        mf_world_destroy(world);
    }
    mf_model_destroy(model);
}

TEST(gravity_that_is_more_than_a_number_is_refused) {
    static const char file[] = "<mujoco><worldbody><body pos='0 0 2'><freejoint/>"
                               "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>";
    const double aside[6] = {0, 0, -9.81, 1, 0, -9.81}, up[6] = {0, 0, -9.81, 0, 0, 9.81},
                 infinite[6] = {0, 0, -9.81, 0, 0, -(double)INFINITY}, some[3] = {0, 0, -1.0};
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *model = load_text(context, file);
    mf_World *world = open_falling(context, 9.81, MF_ISA_AUTO);
    mf_Group *group = add_robots(world, model, MF_CONTACT_LAW_AS_MODEL, 2);
    MUST_FAIL(vary_gravity(group, 2, aside, &error), MF_UNSUPPORTED, "gravity that is not down");
    MUST_FAIL(vary_gravity(group, 2, up, &error), MF_UNSUPPORTED, "gravity that is not down");
    MUST_FAIL(vary_gravity(group, 2, infinite, &error), MF_BAD_ARGUMENT, "physics.gravity");
    const mf_ModelChange wind = {MF_ITEM_PHYSICS, "wind", 0, 0, 3, some};
    const uint32_t first[1] = {0};
    MUST_FAIL(mf_group_vary(group, first, 1, NULL, &wind, 1, &error), MF_UNSUPPORTED,
              "one physics.wind");
    mf_world_destroy(world);
    world = open_falling(context, 0.0, MF_ISA_AUTO);
    group = add_robots(world, model, MF_CONTACT_LAW_AS_MODEL, 2);
    MUST_FAIL(vary_gravity(group, 1, some, &error), MF_UNSUPPORTED,
              "gravity where the world has none");
    mf_world_destroy(world);
    mf_model_destroy(model);
}
