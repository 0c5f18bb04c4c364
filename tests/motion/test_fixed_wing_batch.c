// Fixed-wing aircraft are independent of each other (batch.h; validation case G15); where they are
// placed; bad parameters and settings are named.
#include "motion/batch.h"
#include "motion/fixed_wing_rig.h"
#include "motion/table.h"

// Agents that differ in everything: also stalled, inverted and tumbling ones.
static void scatter(const Batch *batch, uint32_t lane, uint32_t i) {
    mf_Group *group = batch->rig.group;
    const mf_FixedWingCommand mode = batch->motions.fixed_wing_config.command;
    double a = 0.37 * i;
    set_field3(group, "wind.velocity", lane, 3.0 * sin(a), 2.0 * cos(a), 0.5 * sin(2 * a));
    set_field(group, "base.linear_velocity", lane, 1, sin(3 * a));
    set_field(group, "base.linear_velocity", lane, 2, i % 5 == 0 ? -20.0 : cos(3 * a));
    set_field3(group, "base.angular_velocity", lane, sin(a), 0.3 * cos(a), 0.2);
    if (mode == MF_FIXED_WING_SURFACES) {
        set_field(group, "command.elevator", lane, 0, i % 7 == 0 ? -0.7 : -0.1);
        set_field(group, "command.aileron", lane, 0, 0.1 * sin(a));
        set_field(group, "command.throttle", lane, 0, 0.5 + 0.5 * sin(a));
    } else {
        set_field(group, "command.airspeed", lane, 0, i % 11 == 0 ? NAN : 25.0 + 7.0 * sin(a));
        set_field(group, "command.altitude", lane, 0, 100.0 + i % 30);
    }
    if (mode == MF_FIXED_WING_AUTOPILOT)
        set_field(group, "command.course", lane, 0, a);
    if (mode == MF_FIXED_WING_ORBIT)
        set_field(group, "command.radius", lane, 0, i % 2 == 0 ? 150.0 : -100.0);
}

// Every command in both precisions and a cheaper integrator, without gusts and with them.
static mf_Status open(Batch *batch, mf_Error *error) {
    mf_FixedWingConfig *config = &batch->motions.fixed_wing_config;
    const uint32_t way = batch->option % 7, mode = way / 2 % 3;
    config->command = (mf_FixedWingCommand)mode;
    config->integrator = way == 6    ? MF_INTEGRATOR_SEMI_IMPLICIT
                         : mode == 0 ? MF_INTEGRATOR_HEUN
                                     : MF_INTEGRATOR_RK4;
    config->control_interval = 20 * MF_MILLISECOND;
    if (batch->option >= 7)
        config->gusts = mf_dryden(MF_TURBULENCE_LOW_MODERATE, 25.0);
    batch->motion = MF_MOTION_FIXED_WING;
    batch->group.double_precision = way % 2 == 1;
    batch->group.isolated = batch->group.count < 1000; // alone as among those that collide
    MF_TRY(mf_motion_model(batch->rig.context, MF_MOTION_FIXED_WING, &batch->motions, "fixed_wing",
                           &batch->rig.model, error));
    return batch_add(batch, error);
}

static const BatchPoison poisons[] = {
    {"base.position", 2, NAN, MF_FAULT_NONFINITE},
    {"base.orientation", 1, INFINITY, MF_FAULT_NONFINITE},
    {"base.linear_velocity", 0, NAN, MF_FAULT_NONFINITE},
    {"base.linear_velocity", 0, 1e7, MF_FAULT_RANGE | MF_FAULT_NONFINITE},
    {"base.angular_velocity", 1, 1e4, MF_FAULT_RANGE | MF_FAULT_NONFINITE},
    {"base.position", 0, 2e6, MF_FAULT_RANGE},
    {"wind.velocity", 1, NAN, MF_FAULT_INPUT},
    {"wind.velocity", 0, -INFINITY, MF_FAULT_INPUT}};

static const BatchKind batch_kind = {.options = 14,
                                     .robots = 20,
                                     .steps = 150,
                                     .many = 53,
                                     .numbered = 127 << 7,
                                     .swarm = 1 << 4 | 1 << 5,
                                     .open = open,
                                     .place = scatter,
                                     .poisoned = 1 << 2 | 1 << 3,
                                     .poisons = poisons,
                                     .poison_count = sizeof poisons / sizeof *poisons};

// ---- placing ------------------------------------------------------------------------------------

TEST(placed_agents_fly_along_their_heading) {
    AUTO_RIG rig = rig_open(WITH(rig_config(MF_FIXED_WING_AUTOPILOT), .count = 2));
    const double north[4] = {sqrt(0.5), 0.0, 0.0, sqrt(0.5)}, position[3] = {10.0, 20.0, 300.0};
    const double level[4] = {1.0, 0.0, 0.0, 0.0}, velocity[3] = {0.0, -28.0, 0.0};
    MUST(mf_group_set_start(rig.group, 0, position, north, NULL, &error));
    MUST(mf_group_set_start(rig.group, 1, position, level, velocity, &error));
    assert_named_near(rig_get(&rig, "base.linear_velocity", 1), 25.0, 1e-12, "velocity");
    assert_named_near(rig_get(&rig, "command.course", 0), 1.5707963267949, 1e-12, "course");
    assert_named_near(get_field(rig.group, "base.linear_velocity", 1, 1), -28.0, 0.0,
                      "velocity as placed");
    mf_world_step(rig.world, 400);
    assert_named_near(rig_get(&rig, "base.position", 0), 10.0, 1e-9, "x");
    assert_named_near(rig_get(&rig, "base.position", 1), 120.0, 1e-9, "y");
    assert_named_near(rig_get(&rig, "base.position", 2), 300.0, 1e-9, "z");
}

// ---- mistakes -----------------------------------------------------------------------------------

static mf_Status try_add(const mf_FixedWing *aircraft, mf_FixedWingConfig config, double gravity,
                         mf_Error *error) {
    AUTO_RIG rig = {.context = open_context(1)};
    must(mf_motion_model(rig.context, MF_MOTION_FIXED_WING, NULL, "fixed_wing", &rig.model, error),
         error);
    rig_add_group(&rig, &WITH(mf_world_config(), .gravity = gravity), mf_group_config());
    mf_Status status = rig_add_fixed_wing(rig.group, aircraft, &config, error);
    const mf_WingMotion *motion = mf_motion_plan(rig.group, &mf_fixed_wing_row);
    assert_true((motion != NULL) == (status == MF_OK));
    if (status == MF_OK)
        assert_int_equal(motion->config.command, config.command);
    return status;
}

// Another body than that of the model, no trim, and no weight where there is an autopilot.
TEST(settings_that_do_not_fit_are_named) {
    const mf_FixedWingConfig good = mf_motions_config().fixed_wing_config;
    const mf_FixedWing aerosonde = mf_fixed_wing(), heavy = WITH(aerosonde, .mass = 12.0);
    MUST(try_add(&aerosonde, good, 9.81, &error));
    MUST_FAIL(try_add(&heavy, good, 9.81, &error), MF_BAD_ARGUMENT, "fixed_wing.mass");
    MUST_FAIL(try_add(&aerosonde, WITH(good, .start_airspeed = 8.0), 9.81, &error), MF_NOT_FOUND,
              "");
    MUST_FAIL(try_add(&aerosonde, good, 0.0, &error), MF_BAD_ARGUMENT, "");
    MUST(try_add(&aerosonde, WITH(good, .command = MF_FIXED_WING_SURFACES), 0.0, &error));
}
