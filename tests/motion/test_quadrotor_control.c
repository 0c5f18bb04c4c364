// The control loops of a quadrotor and its handling of bad commands; agents are independent of each
// other (batch.h).
#include "motion/batch.h"
#include "motion/quadrotor_rig.h"

// ---- responses ----------------------------------------------------------------------------------

typedef struct Response {
    double rise;      // [s] from 10 % to 90 %
    double overshoot; // [1] of the step
    double steady;    // [1] error at the end
} Response;

// Steps `field` of one agent's command by `size` and watches one value.
static Response respond(Rig *rig, const char *command, uint32_t component, double size,
                        const char *watched, uint32_t value, uint32_t steps) {
    double start = rig_get(rig, watched, value), low = -1.0, high = -1.0, most = 0.0;
    double now = 0.0;
    rig_set(rig, command, component, rig_get(rig, command, component) + size);
    for (uint32_t i = 0; i < steps; i++) {
        mf_world_step(rig->world, 1);
        now = (rig_get(rig, watched, value) - start) / size;
        double time = mf_time_to_seconds(mf_world_time(rig->world));
        if (low < 0.0 && now >= 0.1)
            low = time;
        if (high < 0.0 && now >= 0.9)
            high = time;
        most = now > most ? now : most;
    }
    assert_true(low >= 0.0 && high >= 0.0);
    assert_int_equal(mf_group_fault(rig->group, 0), 0);
    return (Response){high - low, most > 1.0 ? most - 1.0 : 0.0, fabs(now - 1.0)};
}

// Altitude alone, without motor lag, integral or limits, is a second-order system: velocity
// bandwidth 5.6 and position bandwidth 16 / 5.6 give damping 0.7 at 4 rad/s, so overshoot 4.59879 %
// and peak at 1.0997774 s.
TEST(altitude_is_a_second_order_system) {
    AUTO_RIG rig =
        rig_open(WITH(rig_config(), .quadrotor.motor_time_constant = 0.0,
                      .quadrotor.velocity_bandwidth = 5.6, .quadrotor.velocity_integral = 0.0,
                      .quadrotor.position_bandwidth = 16.0 / 5.6, .quadrotor.climb_max = 100.0,
                      .config.command = MF_QUADROTOR_POSITION, .world.step = 100000));
    double start = rig_get(&rig, "base.position", 2), most = 0.0, when = 0.0;
    rig_set(&rig, "command.position", 2, start + 0.5);
    for (int i = 0; i < 30000; i++) {
        mf_world_step(rig.world, 1);
        double rise = (rig_get(&rig, "base.position", 2) - start) / 0.5;
        if (rise > most) {
            most = rise;
            when = mf_time_to_seconds(mf_world_time(rig.world));
        }
    }
    assert_near(most - 1.0, 0.0459879, 1e-4); // the step of 0.1 ms is felt
    assert_near(when, 1.0997774, 5e-4);
}

TEST(every_loop_follows_on_every_vehicle) {
    static const struct {
        mf_QuadrotorCommand command;
        const char *field, *watched;
        uint32_t component, value, steps;
        double size, rise, overshoot, steady;
    } rows[] = {
        {MF_QUADROTOR_RATES, "command.rates", "base.angular_velocity", 0, 0, 400, 1.0, 0.15, 0.1,
         0.05},
        {MF_QUADROTOR_RATES, "command.rates", "base.angular_velocity", 2, 2, 2000, 0.5, 0.4, 0.15,
         0.05},
        {MF_QUADROTOR_VELOCITY, "command.velocity", "base.linear_velocity", 0, 0, 12000, 2.0, 1.6,
         0.2, 0.03},
        {MF_QUADROTOR_VELOCITY, "command.velocity", "base.linear_velocity", 2, 2, 12000, 1.0, 1.6,
         0.2, 0.03},
        {MF_QUADROTOR_POSITION, "command.position", "base.position", 0, 0, 20000, 5.0, 3.5, 0.1,
         0.01},
        {MF_QUADROTOR_POSITION, "command.position", "base.position", 1, 1, 20000, -5.0, 3.5, 0.1,
         0.01},
        {MF_QUADROTOR_POSITION, "command.position", "base.position", 2, 2, 20000, 2.0, 3.5, 0.1,
         0.01},
    };
    const mf_Quadrotor vehicle[3] = {mf_quadrotor(), crazyflie(), hummingbird()};
    for (int c = 0; c < 3; c++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            AUTO_RIG rig = rig_open(
                WITH(rig_config(), .quadrotor = vehicle[c], .config.command = rows[i].command));
            Response r = respond(&rig, rows[i].field, rows[i].component, rows[i].size,
                                 rows[i].watched, rows[i].value, rows[i].steps);
            print_message("craft %d %s[%u]: rise %.3f s, overshoot %.1f %%, steady %.2g %%\n", c,
                          rows[i].field, rows[i].component, r.rise, 100 * r.overshoot,
                          100 * r.steady);
            assert_true(r.rise < rows[i].rise);
            assert_true(r.overshoot < rows[i].overshoot);
            assert_true(r.steady < rows[i].steady);
        }
    }
}

static double roll_of(const Rig *rig) {
    double q[4];
    get_fields(rig->group, "base.orientation", 0, 4, q);
    return atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] * q[1] + q[2] * q[2]));
}
static double yaw_of(const Rig *rig) {
    double q[4];
    get_fields(rig->group, "base.orientation", 0, 4, q);
    return atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
}

TEST(attitude_is_reached_and_held) {
    const mf_Quadrotor vehicle[3] = {mf_quadrotor(), crazyflie(), hummingbird()};
    for (int c = 0; c < 3; c++) {
        AUTO_RIG rig = rig_open(
            WITH(rig_config(), .quadrotor = vehicle[c], .config.command = MF_QUADROTOR_ATTITUDE));
        set_fields(rig.group, "command.attitude", 0, 3, (double[3]){0.4, -0.2, 2.5});
        double most = 0.0;
        for (int i = 0; i < 6000; i++) {
            mf_world_step(rig.world, 1);
            most = fmax(most, roll_of(&rig));
        }
        assert_near(roll_of(&rig), 0.4, 2e-3);
        assert_near(yaw_of(&rig), 2.5, 5e-3);
        assert_true(most < 0.48);
    }
}

// Half a rotation of heading has no shorter side; the craft must turn nevertheless.
TEST(half_a_turn_is_made) {
    AUTO_RIG rig = rig_open(
        WITH(rig_config(), .config.command = MF_QUADROTOR_POSITION, .single_precision = true));
    rig_set(&rig, "command.yaw", 0, 3.14159265358979);
    mf_world_step(rig.world, 5000);
    assert_near(fabs(yaw_of(&rig)), 3.14159265358979, 0.02);
}

TEST(an_upset_vehicle_comes_back) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .config.command = MF_QUADROTOR_POSITION));
    set_fields(rig.group, "base.orientation", 0, 4, (double[4]){0.1, 0.99498743710662, 0, 0});
    set_fields(rig.group, "base.angular_velocity", 0, 3, (double[3]){3, -2, 1});
    mf_world_step(rig.world, 20000);
    for (uint32_t c = 0; c < 3; c++)
        assert_near(rig_get(&rig, "base.position", c), rig_get(&rig, "command.position", c), 0.05);
}

TEST(wind_is_flown_out) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .quadrotor.rotor_drag[0] = 5e-5,
                                 .quadrotor.rotor_drag[1] = 5e-5, .quadrotor.body_drag[0] = 0.01,
                                 .config.command = MF_QUADROTOR_POSITION));
    rig_set(&rig, "wind.velocity", 0, 4.0);
    mf_world_step(rig.world, 3000);
    assert_true(rig_get(&rig, "base.position", 0) > 0.05);
    mf_world_step(rig.world, 40000);
    assert_near(rig_get(&rig, "base.position", 0), 0.0, 5e-3);
}

// Full roll, thrust and yaw at once: yaw is given up first.
TEST(yaw_gives_way_to_roll) {
    double gained[2], rotated[2];
    for (int with_yaw = 0; with_yaw < 2; with_yaw++) {
        AUTO_RIG rig = rig_open(rig_config());
        rig_set(&rig, "command.rates", 0, 10.0);
        rig_set(&rig, "command.rates", 2, with_yaw ? 3.0 : 0.0);
        mf_world_step(rig.world, 30);
        gained[with_yaw] = rig_get(&rig, "base.angular_velocity", 0);
        rotated[with_yaw] = rig_get(&rig, "base.angular_velocity", 2);
        for (uint32_t r = 0; r < 4; r++)
            assert_true(rig_get(&rig, "rotor.speed", r) <= 2000.0);
    }
    assert_true(gained[0] > 1.0);
    assert_near(gained[1], gained[0], 0.05 * gained[0]);
    assert_true(rotated[1] < 1.0);
}

// Between ticks the rotors' commands are held.
TEST(a_slower_control_holds_its_commands) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .config.control_interval = 5 * MF_MILLISECOND));
    rig_set(&rig, "command.rates", 0, 1.0);
    mf_world_step(rig.world, 1);
    double clamped = rig_get(&rig, "rotor.command", 0);
    rig_set(&rig, "command.rates", 0, -1.0);
    mf_world_step(rig.world, 4);
    assert_true(rig_get(&rig, "rotor.command", 0) == clamped);
    mf_world_step(rig.world, 1);
    assert_true(rig_get(&rig, "rotor.command", 0) != clamped);
    rig_set(&rig, "command.rates", 0, 1.0);
    mf_world_step(rig.world, 500);
    assert_near(rig_get(&rig, "base.angular_velocity", 0), 1.0, 0.05);
}

// Between their ticks the outer loops' demand is held, and the body-rate loop goes on.
TEST(slower_outer_loops_hold_their_demand) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .config.command = MF_QUADROTOR_ATTITUDE,
                                 .config.control_interval = 2 * MF_MILLISECOND,
                                 .config.outer_interval = 10 * MF_MILLISECOND));
    rig_set(&rig, "command.attitude", 0, 0.3);
    mf_world_step(rig.world, 1);
    double clamped = rig_get(&rig, "control.demand", 0);
    double rotor = rig_get(&rig, "rotor.command", 0);
    assert_true(clamped > 0.0);
    rig_set(&rig, "command.attitude", 0, -0.3);
    mf_world_step(rig.world, 9);
    assert_true(rig_get(&rig, "control.demand", 0) == clamped);
    assert_true(rig_get(&rig, "rotor.command", 0) != rotor);
    mf_world_step(rig.world, 1);
    assert_true(rig_get(&rig, "control.demand", 0) < 0.0);
}

// 100 Hz are enough for loops that are ten times slower than the body rates.
TEST(slower_outer_loops_reach_the_position) {
    const mf_Quadrotor vehicle[3] = {mf_quadrotor(), crazyflie(), hummingbird()};
    for (int c = 0; c < 3; c++) {
        Response r[2];
        for (int slow = 0; slow < 2; slow++) {
            AUTO_RIG rig = rig_open(WITH(rig_config(), .quadrotor = vehicle[c],
                                         .config.command = MF_QUADROTOR_POSITION,
                                         .config.outer_interval = slow ? 10 * MF_MILLISECOND : 0));
            r[slow] = respond(&rig, "command.position", 0, 5.0, "base.position", 0, 20000);
        }
        print_message("craft %d: rise %.3f and %.3f s, overshoot %.1f and %.1f %%\n", c, r[0].rise,
                      r[1].rise, 100 * r[0].overshoot, 100 * r[1].overshoot);
        assert_near(r[1].rise, r[0].rise, 0.05 * r[0].rise);
        assert_true(r[1].overshoot < 0.1);
        assert_true(r[1].steady < 0.01);
    }
}

// ---- bad commands and states --------------------------------------------------------------------

TEST(bad_commands_are_refused_and_counted) {
    static const double bad[] = {NAN, INFINITY, -INFINITY, 10.1, -10.1, 1e30};
    for (int wide = 0; wide < 2; wide++) {
        RigConfig config = WITH(rig_config(), .count = wide ? 40 : 1, .single_precision = wide);
        AUTO_RIG rig = rig_open(config);
        uint32_t agent = wide ? 21 : 0;
        double ticks = 0.0;
        set_fields(rig.group, "command.rates", agent, 3, (double[3]){0.5, 0.25, -0.125});
        mf_world_step(rig.world, 10);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            set_field(rig.group, "command.rates", agent, 1, bad[i]);
            mf_world_step(rig.world, 7);
            ticks += 7.0;
            assert_near(get_field(rig.group, "command.refused", agent, 0), ticks, 0.0);
            assert_near(get_field(rig.group, "command.accepted", agent, 1), 0.25, 0.0);
        }
        set_field(rig.group, "command.rates", agent, 1, -0.5);
        set_field(rig.group, "command.thrust", agent, 0, -0.1);
        mf_world_step(rig.world, 1);
        assert_near(get_field(rig.group, "command.accepted", agent, 1), 0.25, 0.0);
        set_field(rig.group, "command.thrust", agent, 0, 7.0);
        mf_world_step(rig.world, 1);
        assert_near(get_field(rig.group, "command.accepted", agent, 1), -0.5, 0.0);
        assert_near(get_field(rig.group, "command.refused", agent, 0), ticks + 1.0, 0.0);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        for (uint32_t other = 0; other < config.count; other++)
            if (other != agent)
                assert_near(get_field(rig.group, "command.refused", other, 0), 0.0, 0.0);
    }
}

// ---- other agents -------------------------------------------------------------------------------

static void place(const Batch *batch, uint32_t agent, uint32_t key) {
    mf_Group *group = batch->rig.group;
    const double a = 0.01 * (key % 97), b = 0.02 * (key % 31);
    const double hover = 7.37712;
    switch (batch->motions.quadrotor_config.command) {
    case MF_QUADROTOR_ROTORS:
        set_fields(group, "command.rotors", agent, 4,
                   (double[4]){1086 + a, 1086 + b, 1085 + a, 1087 - b});
        break;
    case MF_QUADROTOR_RATES:
        set_fields(group, "command.rates", agent, 3, (double[3]){a, -b, b});
        set_field(group, "command.thrust", agent, 0, hover + a);
        break;
    case MF_QUADROTOR_ATTITUDE:
        set_fields(group, "command.attitude", agent, 3, (double[3]){0.3 * a, -b, 2 * b});
        break;
    case MF_QUADROTOR_VELOCITY:
        set_fields(group, "command.velocity", agent, 3, (double[3]){3 * a, -b, b});
        break;
    case MF_QUADROTOR_POSITION:
        set_fields(group, "command.position", agent, 3, (double[3]){9 * a, -5 * b, 1 + b});
        set_field(group, "command.yaw", agent, 0, 3 * a);
        break;
    }
    set_field(group, "wind.velocity", agent, 1, a - b);
    if (key == 9) // rotors at their limits
        set_field(group, "base.angular_velocity", agent, 0, 40.0);
}

// Each command in both precisions, and everything that has a path of its own in the kernel.
static mf_Status open(Batch *batch, mf_Error *error) {
    const uint32_t kind = batch->option / 2 % 3;
    mf_Quadrotor *q = &batch->motions.quadrotor;
    mf_QuadrotorConfig *config = &batch->motions.quadrotor_config;
    config->command = (mf_QuadrotorCommand)(batch->option / 6);
    if (kind == 1) {
        q->inertia[3] = 1e-4;
        q->rotor_drag[0] = q->rotor_drag[1] = 1e-5;
        q->body_drag[2] = 0.01;
        config->control_interval = 4 * MF_MILLISECOND;
        config->outer_interval = 12 * MF_MILLISECOND;
    } else if (kind == 2) {
        config->integrator = MF_INTEGRATOR_SEMI_IMPLICIT;
        q->motor_time_constant = 0.0;
        q->rate_integral = 0.0;
    }
    batch->motion = MF_MOTION_QUADROTOR;
    batch->world.step = MF_MILLISECOND;
    batch->group.double_precision = batch->option % 2 == 1;
    batch->group.isolated = batch->group.count < 1000; // alone as among those that collide
    MF_TRY(mf_motion_model(batch->rig.context, MF_MOTION_QUADROTOR, &batch->motions, "quadrotor",
                           &batch->rig.model, error));
    return batch_add(batch, error);
}

static const BatchPoison poisons[] = {{"base.linear_velocity", 0, NAN, MF_FAULT_NONFINITE},
                                      {"base.orientation", 2, INFINITY, MF_FAULT_NONFINITE},
                                      {"base.angular_velocity", 1, NAN, MF_FAULT_NONFINITE},
                                      {"rotor.speed", 3, NAN, MF_FAULT_NONFINITE},
                                      {"base.position", 1, NAN, MF_FAULT_NONFINITE},
                                      {"base.linear_velocity", 2, 2e4, MF_FAULT_RANGE},
                                      {"base.position", 0, 2e7, MF_FAULT_RANGE},
                                      {"base.angular_velocity", 0, 1500.0, MF_FAULT_RANGE}};

static const BatchKind batch_kind = {.options = 2 * 3 * (MF_QUADROTOR_POSITION + 1),
                                     .robots = 20,
                                     .steps = 60,
                                     .many = 100,
                                     .swarm = 1 << 0 | 1 << 8 | 1 << 16 | 1 << 18 | 1 << 26,
                                     .open = open,
                                     .place = place,
                                     .poisoned = 1 << 6 | 1 << 7,
                                     .poisons = poisons,
                                     .poison_count = sizeof poisons / sizeof *poisons};
