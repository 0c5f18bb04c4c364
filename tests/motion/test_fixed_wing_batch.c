// Fixed-wing aircraft are independent of each other (batch.h; validation case G15); where they are
// placed; bad parameters and settings are named.
#include "motion/batch.h"
#include "motion/fixed_wing_rig.h"

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
    batch->group.isolated = batch->group.count < 1000; // alone as among those that meet
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

TEST(bad_parameters_are_named) {
    static const struct {
        const char *name;
        size_t member;
        double value;
    } rows[] = {
#define OF(member) "fixed_wing." #member, offsetof(mf_FixedWing, member)
        {OF(mass), 0.0},
        {OF(mass), NAN},
        {OF(mass), -1.0},
        {OF(inertia_xx), 0.0},
        {OF(inertia_xx), 10.0},
        {OF(inertia_yy), INFINITY},
        {OF(inertia_xz), 1.3},
        {OF(air_density), -0.1},
        {OF(wing_area), 0.0},
        {OF(wing_span), NAN},
        {OF(oswald), 0.0},
        {OF(drag_parasitic), -1.0},
        {OF(lift_alpha), 0.0},
        {OF(stall_angle), 3.0},
        {OF(stall_sharpness), 0.0},
        {OF(pitch_alpha), 1.0},
        {OF(pitch_elevator), 0.0},
        {OF(roll_aileron), 0.0},
        {OF(yaw_beta), 1e9},
        {OF(propeller_thrust[1]), NAN},
        {OF(propeller_torque[0]), 0.0},
        {OF(motor_resistance), 0.0},
        {OF(elevator_limit), 2.0},
        {OF(airspeed_max), 10.0},
        {OF(airspeed_design), 50.0},
        {OF(roll_limit), 1.6},
        {OF(roll_frequency), -1.0},
        {OF(course_separation), 0.5},
        {OF(yaw_damper_gain), NAN},
        {OF(orbit_gain), 0.0},
#undef OF
    };
    AUTO_CONTEXT *context;
    assert_int_equal(mf_context_create(NULL, &context, NULL), MF_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mf_FixedWing p = mf_fixed_wing();
        mf_Model *model;
        mf_Error error = {0};
        memcpy((char *)&p + rows[i].member, &rows[i].value, sizeof(double));
        assert_int_equal(mf_fixed_wing_check(&p, &error), MF_BAD_ARGUMENT);
        if (strncmp(error.message, rows[i].name, strlen(rows[i].name)) != 0 ||
            strchr(error.message, '\n') != NULL)
            fail_msg("%s: says \"%s\"", rows[i].name, error.message);
        assert_int_equal(mf_fixed_wing_model(context, &p, "fixed_wing", &model, NULL),
                         MF_BAD_ARGUMENT);
        assert_null(model);
    }
    mf_FixedWing p = mf_fixed_wing();
    p.struct_size--;
    assert_int_equal(mf_fixed_wing_check(&p, NULL), MF_BAD_ARGUMENT);
    p = mf_fixed_wing();
    p.drag = (mf_FixedWingDrag)7;
    assert_int_equal(mf_fixed_wing_check(&p, NULL), MF_BAD_ARGUMENT);
}

static mf_Status try_add(const mf_FixedWing *aircraft, const mf_FixedWingConfig *vehicle_config,
                         double gravity, mf_Error *error) {
    RigConfig config = rig_config(MF_FIXED_WING_AUTOPILOT);
    AUTO_RIG rig = {0};
    must(mf_context_create(NULL, &rig.context, error), error);
    must(mf_fixed_wing_model(rig.context, &config.aircraft, "fixed_wing", &rig.model, error),
         error);
    must(mf_world_create(rig.context, &WITH(mf_world_config(), .gravity = gravity), &rig.world,
                         error),
         error);
    must(mf_world_add_group(rig.world, &WITH(mf_group_config(), .model = rig.model), &rig.group,
                            error),
         error);
    mf_Status status = rig_add_fixed_wing(rig.group, aircraft, vehicle_config, error);
    assert_true((mf_fixed_wing_parameters(rig.group) != NULL) == (status == MF_OK));
    if (status == MF_OK) {
        assert_int_equal(mf_fixed_wing_config_of(rig.group)->command, vehicle_config->command);
        assert_int_equal(rig_add_fixed_wing(rig.group, NULL, NULL, error), MF_BAD_ARGUMENT);
    }
    return status;
}

TEST(bad_settings_are_named) {
    const mf_FixedWingConfig good = mf_motions_config().fixed_wing_config;
    const mf_FixedWing aerosonde = mf_fixed_wing();
    mf_FixedWing other = aerosonde;
    mf_FixedWingConfig s;
    mf_Error error;
    assert_int_equal(try_add(&aerosonde, &good, 9.81, &error), MF_OK);
#define BAD(member, value, part)                                                                   \
    s = good;                                                                                      \
    s.member = value;                                                                              \
    assert_int_equal(try_add(&aerosonde, &s, 9.81, &error), MF_BAD_ARGUMENT);                      \
    assert_non_null(strstr(error.message, part))
    BAD(struct_size, 4, "mf_motions_config()");
    BAD(command, (mf_FixedWingCommand)9, "command");
    BAD(integrator, (mf_Integrator)9, "integrator");
    BAD(control_interval, 7 * MF_MILLISECOND, "control_interval");
    BAD(control_interval, -MF_MILLISECOND, "control_interval");
    BAD(start_airspeed, NAN, "start_airspeed");
    BAD(start_altitude, INFINITY, "start_altitude");
    BAD(gusts.length[1], 0.0, "gusts.length[1]");
    BAD(gusts.intensity[2], NAN, "gusts.intensity[2]");
    BAD(gusts.airspeed, -1.0, "gusts.airspeed");
#undef BAD
    other.mass = 12.0;
    assert_int_equal(try_add(&other, &good, 9.81, &error), MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "fixed_wing.mass"));
    s = good;
    s.start_airspeed = 8.0;
    assert_int_equal(try_add(&aerosonde, &s, 9.81, &error), MF_NOT_FOUND);
    assert_int_equal(try_add(&aerosonde, &good, 0.0, &error), MF_BAD_ARGUMENT);
    s = good;
    s.command = MF_FIXED_WING_SURFACES;
    assert_int_equal(try_add(&aerosonde, &s, 0.0, &error), MF_OK);
}
