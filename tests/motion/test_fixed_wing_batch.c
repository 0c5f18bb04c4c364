// Fixed-wing aircraft in batches: the same bits on every instruction set, thread count and index in
// a swarm; faults stay with their agent; bad parameters are named; every allocation may fail.
#include "motion/fixed_wing_rig.h"

// Agents that differ in everything: also stalled, inverted and tumbling ones.
static void scatter(const Rig *rig, mf_FixedWingCommand mode, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        double a = 0.37 * i;
        set_field3(rig->group, "wind.velocity", i, 3.0 * sin(a), 2.0 * cos(a), 0.5 * sin(2 * a));
        set_field(rig->group, "base.linear_velocity", i, 1, sin(3 * a));
        set_field(rig->group, "base.linear_velocity", i, 2, i % 5 == 0 ? -20.0 : cos(3 * a));
        set_field3(rig->group, "base.angular_velocity", i, sin(a), 0.3 * cos(a), 0.2);
        if (mode == MF_FIXED_WING_SURFACES) {
            set_field(rig->group, "command.elevator", i, 0, i % 7 == 0 ? -0.7 : -0.1);
            set_field(rig->group, "command.aileron", i, 0, 0.1 * sin(a));
            set_field(rig->group, "command.throttle", i, 0, 0.5 + 0.5 * sin(a));
        } else {
            set_field(rig->group, "command.airspeed", i, 0,
                      i % 11 == 0 ? NAN : 25.0 + 7.0 * sin(a));
            set_field(rig->group, "command.altitude", i, 0, 100.0 + i % 30);
        }
        if (mode == MF_FIXED_WING_AUTOPILOT)
            set_field(rig->group, "command.course", i, 0, a);
        if (mode == MF_FIXED_WING_ORBIT)
            set_field(rig->group, "command.radius", i, 0, i % 2 == 0 ? 150.0 : -100.0);
    }
}

static uint64_t hash_after(mf_FixedWingCommand mode, mf_Integrator integrator, mf_Isa isa,
                           uint32_t threads, bool single) {
    RigConfig config =
        WITH(rig_config(mode), .count = 53, .threads = threads, .single_precision = single,
             .world.isa = isa, .config.integrator = integrator,
             .config.control_interval = 20 * MF_MILLISECOND,
             .config.gusts = mf_dryden(MF_TURBULENCE_LOW_MODERATE, 25.0));
    AUTO_RIG rig = rig_open(config);
    scatter(&rig, mode, config.count);
    mf_world_step(rig.world, 150);
    return mf_world_hash(rig.world);
}

TEST(every_instruction_set_gives_the_same_bits) {
    for (int mode = 0; mode < 3; mode++) {
        for (int single = 0; single < 2; single++) {
            mf_Integrator integrator = mode == 0 ? MF_INTEGRATOR_HEUN : MF_INTEGRATOR_RK4;
            mf_FixedWingCommand command = (mf_FixedWingCommand)mode;
            uint64_t expected = hash_after(command, integrator, MF_ISA_SCALAR, 1, single != 0);
            FOR_EACH_ISA (isa)
                assert_true(hash_after(command, integrator, isa, 1, single != 0) == expected);
            assert_true(hash_after(command, integrator, MF_ISA_AUTO, 3, single != 0) == expected);
        }
    }
    assert_true(
        hash_after(MF_FIXED_WING_SURFACES, MF_INTEGRATOR_SEMI_IMPLICIT, MF_ISA_SCALAR, 1, true) ==
        hash_after(MF_FIXED_WING_SURFACES, MF_INTEGRATOR_SEMI_IMPLICIT, MF_ISA_AUTO, 1, true));
}

// G15: one aircraft by itself, in a lane of eight, and in a swarm of 10,000.
TEST(alone_as_in_a_swarm) {
    static const uint32_t counts[] = {1, 8, 10000}, indices[] = {0, 5, 9871};
    for (int single = 0; single < 2; single++) {
        uint64_t hash[3];
        for (int i = 0; i < 3; i++) {
            AUTO_RIG rig = rig_open(WITH(rig_config(MF_FIXED_WING_ORBIT), .count = counts[i],
                                         .single_precision = single != 0));
            for (uint32_t k = 0; k < counts[i]; k++)
                set_field(rig.group, "command.airspeed", k, 0, 20.0 + (k % 100) * 0.1);
            uint32_t me = indices[i];
            set_field(rig.group, "command.airspeed", me, 0, 31.0);
            set_field(rig.group, "command.radius", me, 0, -170.0);
            set_field3(rig.group, "wind.velocity", me, 1.0, -2.0, 0.25);
            mf_world_step(rig.world, 200);
            hash[i] = mf_group_instance_hash(rig.group, me);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    }
}

TEST(a_fault_stays_with_its_agent) {
    static const struct {
        const char *field;
        uint32_t component;
        double value;
        uint32_t fault; // one of these
    } rows[] = {{"base.position", 2, NAN, MF_FAULT_NONFINITE},
                {"base.orientation", 1, INFINITY, MF_FAULT_NONFINITE},
                {"base.linear_velocity", 0, NAN, MF_FAULT_NONFINITE},
                {"base.linear_velocity", 0, 1e7, MF_FAULT_RANGE | MF_FAULT_NONFINITE},
                {"base.angular_velocity", 1, 1e4, MF_FAULT_RANGE | MF_FAULT_NONFINITE},
                {"base.position", 0, 2e6, MF_FAULT_RANGE},
                {"wind.velocity", 1, NAN, MF_FAULT_INPUT},
                {"wind.velocity", 0, -INFINITY, MF_FAULT_INPUT}};
    enum { COUNT = 19, BAD = 6 };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        RigConfig config = WITH(rig_config(MF_FIXED_WING_AUTOPILOT), .count = COUNT,
                                .single_precision = r % 2 == 0);
        AUTO_RIG rig = rig_open(config), calm = rig_open(config);
        scatter(&rig, MF_FIXED_WING_AUTOPILOT, COUNT);
        scatter(&calm, MF_FIXED_WING_AUTOPILOT, COUNT);
        set_field(rig.group, rows[r].field, BAD, rows[r].component, rows[r].value);
        double height = get_field(rig.group, "base.position", BAD, 2);
        mf_world_step(rig.world, 30);
        mf_world_step(calm.world, 30);
        assert_int_not_equal(mf_group_fault(rig.group, BAD) & rows[r].fault, 0);
        assert_int_equal(mf_group_fault_total(rig.group), 1);
        double frozen = get_field(rig.group, "base.position", BAD, 2);
        assert_true(frozen == height || (isnan(frozen) && isnan(height)));
        assert_others_same(rig.group, calm.group, BAD);
        mf_group_reset(rig.group, BAD);
        set_field3(rig.group, "wind.velocity", BAD, 0.0, 0.0, 0.0);
        mf_group_reset(rig.group, BAD);
        mf_world_step(rig.world, 10);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
    }
}

TEST(a_snapshot_continues_with_the_same_bits) {
    RigConfig config = WITH(rig_config(MF_FIXED_WING_ORBIT), .count = 20,
                            .config.gusts = mf_dryden(MF_TURBULENCE_MEDIUM_LIGHT, 25.0));
    AUTO_RIG rig = rig_open(config);
    scatter(&rig, MF_FIXED_WING_ORBIT, config.count);
    mf_world_step(rig.world, 40);
    assert_continues(rig.world, 60);
}

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

// Every fallible call fails once; adding then leaves nothing behind and can be repeated.
TEST(every_allocation_may_fail) {
    mf_FixedWing aircraft = mf_fixed_wing();
    mf_FixedWingConfig config = mf_motions_config().fixed_wing_config;
    AUTO_CONTEXT *context;
    bool done = false;
    config.gusts = mf_dryden(MF_TURBULENCE_LOW_LIGHT, 25.0);
    MUST(mf_context_create(NULL, &context, &error));
    for (uint64_t n = 1; !done; n++) {
        mf_Model *model = NULL;
        mf_World *world = NULL;
        mf_Group *group = NULL;
        mf_WorldConfig world_config = mf_world_config();
        mf_GroupConfig group_config = mf_group_config();
        mf_context_fail_after(context, n);
        mf_Status status = mf_fixed_wing_model(context, &aircraft, "fixed_wing", &model, NULL);
        if (status == MF_OK)
            status = mf_world_create(context, &world_config, &world, NULL);
        group_config.model = model;
        if (status == MF_OK)
            status = mf_world_add_group(world, &group_config, &group, NULL);
        if (status == MF_OK) {
            status = rig_add_fixed_wing(group, NULL, &config, NULL);
            if (status != MF_OK) {
                assert_null(mf_fixed_wing_parameters(group));
                mf_context_fail_after(context, 0);
                MUST(rig_add_fixed_wing(group, NULL, &config, &error));
            }
        }
        done = status == MF_OK;
        if (!done)
            assert_true(status == MF_NO_MEMORY || status == MF_IO);
        mf_context_fail_after(context, 0);
        mf_world_destroy(world);
        mf_model_destroy(model);
        assert_int_equal(mf_context_live_bytes(context), 0);
        assert_true(n < 10000);
    }
}
