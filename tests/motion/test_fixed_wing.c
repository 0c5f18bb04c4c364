// The model of fixed-wing aircraft: trim, single coefficients, conserved quantities, order of the
// integrators, wind.
#include "motion/fixed_wing_rig.h"
#include "motion/vehicle/body.h"

// ---- trim ---------------------------------------------------------------------------------------

// Reference: the three longitudinal equations of Beard and McLain with the parameters of the
// Aerosonde, solved by an independent program in Python; the authors' mavsim has -0.1248 and 0.6768
// for the polar drag at g = 9.8 in its own files, aileron 0.001836 and rudder -0.0003026.
TEST(trim_is_the_published_one) {
    static const struct {
        mf_FixedWingDrag drag;
        double gravity, alpha, elevator, throttle, thrust;
    } rows[] = {{MF_DRAG_POLAR, 9.8, 0.0500110, -0.1247780, 0.6767534, 0.9522443},
                {MF_DRAG_POLAR, 9.81, 0.0501070, -0.1250436, 0.6767758, 0.9542510},
                {MF_DRAG_LINEAR, 9.8, 0.0496474, -0.1237716, 0.7639936, 9.3447444},
                {MF_DRAG_LINEAR, 9.81, 0.0497428, -0.1240355, 0.7639925, 9.3446354}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mf_FixedWingTrim trim;
        MUST(mf_fixed_wing_trim(&WITH(mf_fixed_wing(), .drag = rows[i].drag), 25.0, 0.0, 0.0,
                                rows[i].gravity, &trim, &error));
        assert_named_near(trim.alpha, rows[i].alpha, 1e-7, "alpha");
        assert_named_near(trim.elevator, rows[i].elevator, 1e-7, "elevator");
        assert_named_near(trim.throttle, rows[i].throttle, 1e-7, "throttle");
        assert_named_near(trim.thrust, rows[i].thrust, 1e-5, "thrust");
        assert_named_near(trim.pitch, trim.alpha, 1e-6, "pitch");
        if (i == 0) {
            assert_named_near(trim.aileron, 0.001836, 1e-6, "aileron");
            assert_named_near(trim.rudder, -0.0003026, 1.5e-5, "rudder");
        }
    }
}

TEST(trim_leaves_no_acceleration) {
    mf_FixedWing aircraft = mf_fixed_wing();
    mf_Error error;
    uint32_t found = 0;
    for (double airspeed = 16.0; airspeed <= 34.0; airspeed += 3.0) {
        for (double climb = -0.1; climb < 0.11; climb += 0.05) {
            for (double radius = -300.0; radius <= 300.0; radius += 150.0) {
                mf_FixedWingTrim trim;
                mf_Status status =
                    mf_fixed_wing_trim(&aircraft, airspeed, climb, radius, 9.81, &trim, &error);
                if (status != MF_OK)
                    continue;
                found++;
                assert_true(trim.residual < 1e-12);
                assert_true(trim.throttle >= 0.0 && trim.throttle <= 1.0);
            }
        }
    }
    assert_true(found > 150); // of 175; fast climbs need more than full throttle
}

TEST(unreachable_trims_are_refused) {
    mf_FixedWing aircraft = mf_fixed_wing();
    mf_FixedWingTrim trim = {.alpha = 7.0};
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, 38.0, 0.0, 0.0, 9.81, &trim, &error), MF_NOT_FOUND,
              "more than full throttle");
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, 8.0, 0.0, 0.0, 9.81, &trim, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, 25.0, 0.5, 0.0, 9.81, &trim, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, NAN, 0.0, 0.0, 9.81, &trim, &error), MF_BAD_ARGUMENT,
              "");
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, 25.0, 2.0, 0.0, 9.81, &trim, &error), MF_BAD_ARGUMENT,
              "");
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, 25.0, 0.0, 0.5, 9.81, &trim, &error), MF_BAD_ARGUMENT,
              "");
    MUST_FAIL(mf_fixed_wing_trim(&aircraft, 25.0, 0.0, 0.0, 0.0, &trim, &error), MF_BAD_ARGUMENT,
              "");
    assert_true(trim.alpha == 7.0); // untouched
}

// Surfaces and throttle held for 60 s.
TEST(trimmed_flight_stays) {
    for (int single = 0; single < 2; single++) {
        AUTO_RIG rig =
            rig_open(WITH(rig_config(MF_FIXED_WING_SURFACES), .single_precision = single != 0));
        mf_world_step(rig.world, 6000);
        double slack = single ? 0.05 : 1e-6; // rounding, grown by the slow modes
        assert_named_near(rig_get(&rig, "base.position", 2), 100.0, 20 * slack, "altitude");
        assert_named_near(rig_get(&rig, "base.position", 0), 1500.0, single ? 5.0 : 1e-3, "path");
        assert_named_near(rig_get(&rig, "air.speed", 0), 25.0, slack, "airspeed");
        assert_named_near(rig_get(&rig, "air.alpha", 0), 0.0501069988, slack / 10, "alpha");
        assert_named_near(rig_get(&rig, "air.beta", 0), 0.0, slack, "beta");
    }
}

// A coordinated turn at bank phi: rate g tan(phi) / V (G6). The textbook takes lift and weight
// alone; with side forces of the surfaces taken away what is left is the angle of attack. At bank
// 30 degrees and 25 m/s: 0.2265522 rad/s on a radius of 110.3498 m.
TEST(coordinated_curve) {
    mf_FixedWing aircraft = mf_fixed_wing();
    mf_FixedWingTrim trim;
    MUST(mf_fixed_wing_trim(&aircraft, 25.0, 0.0, 110.3498, 9.81, &trim, &error));
    assert_named_near(trim.roll, -0.5235988, 0.02 * 0.5235988, "bank of the Aerosonde");
    aircraft.side_aileron = aircraft.side_rudder = 0.0;
    MUST(mf_fixed_wing_trim(&aircraft, 25.0, 0.0, 110.3498, 9.81, &trim, &error));
    assert_named_near(trim.roll, -0.5235988, 0.002 * 0.5235988, "bank");
    assert_named_near(trim.rate[2] / cos(trim.roll) / cos(trim.pitch), 0.2265522, 1e-7,
                      "turn rate");
    MUST(mf_fixed_wing_trim(&aircraft, 25.0, 0.0, -110.3498, 9.81, &trim, &error));
    assert_named_near(trim.roll, 0.5235988, 0.002 * 0.5235988, "bank to the right");
    assert_true(trim.rate[2] < 0.0);
}

// Lanchester's approximation pi sqrt(2) V / g = 11.3223 s at 25 m/s, within 15 % (G7).
TEST(phugoid_period) {
    RigConfig config = rig_config(MF_FIXED_WING_SURFACES);
    config.aircraft.propeller_thrust[1] = config.aircraft.propeller_thrust[2] = 0.0;
    config.aircraft.propeller_torque[1] = config.aircraft.propeller_torque[2] = 0.0;
    AUTO_RIG rig = rig_open(config);
    rig_set(&rig, "base.linear_velocity", 0, 25.2);
    double crossing[4], before = 0.0;
    uint32_t count = 0;
    for (uint32_t i = 1; i < 6000 && count < 4; i++) {
        mf_world_step(rig.world, 1);
        double climb = rig_get(&rig, "base.linear_velocity", 2);
        if (i > 300 && before > 0.0 && climb <= 0.0)
            crossing[count++] = 0.01 * (i - 1 + before / (before - climb));
        before = climb;
    }
    assert_int_equal(count, 4);
    assert_named_near((crossing[3] - crossing[0]) / 3.0, 11.3223, 0.15 * 11.3223, "period");
}

// ---- single coefficients ------------------------------------------------------------------------

// Forces and moments of air and propeller by the code that the step uses.
static void find_loads(const mf_FixedWing *p, const double velocity[3], const double rate[3],
                       const double surfaces[4], double force[3], double moment[3]) {
    double constants[MF_WING_CONSTANTS];
    mf_WingLoads work = {.constants = constants};
    mf_wing_constants(constants, p);
    memcpy(work.velocity, velocity, sizeof work.velocity);
    memcpy(work.rate, rate, sizeof work.rate);
    memcpy(work.surfaces, surfaces, sizeof work.surfaces);
    mf_fixed_wing_load_scalar_f64(&work);
    memcpy(force, work.force, sizeof work.force);
    memcpy(moment, work.moment, sizeof work.moment);
}

static mf_FixedWing bare(void) {
    mf_FixedWing p = mf_fixed_wing();
    p.drag_elevator = p.lift_zero = p.lift_q = p.lift_elevator = 0.0;
    p.lift_alpha = 1e-3; // least that is allowed
    p.pitch_zero = p.pitch_q = 0.0;
    p.pitch_alpha = -1e-6;
    p.pitch_elevator = 1e-9; // must not be 0
    p.side_beta = p.side_aileron = p.side_rudder = 0.0;
    p.roll_beta = p.roll_p = p.roll_r = p.roll_rudder = 0.0;
    p.yaw_beta = p.yaw_p = p.yaw_r = p.yaw_aileron = p.yaw_rudder = 0.0;
    p.drag = MF_DRAG_LINEAR;
    p.drag_zero = p.drag_alpha = 0.0;
    memset(p.propeller_thrust, 0, sizeof p.propeller_thrust);
    p.propeller_torque[0] = 1e-6;
    p.propeller_torque[1] = p.propeller_torque[2] = 0.0;
    return p;
}

// At 20 m/s: rho V^2 S / 2 = 139.502 N; times the span 403.9419912 N m, the chord 26.49700988 N m.
#define PRESSURE 139.502
#define ROLLING 403.94199120
#define PITCHING 26.49700988

TEST(coefficients_one_at_a_time) {
    enum { FORWARD, LEFT, UP, ROLL, PITCH, YAW }; // axes of what comes out
    static const struct {
        const char *name;
        size_t member;
        double value, velocity[3], rate[3], surfaces[4];
        int component;
        double expected;
    } rows[] = {
#define OF(member) #member, offsetof(mf_FixedWing, member)
        {OF(lift_zero), 0.5, {20, 0, 0}, {0}, {0}, UP, 0.5 * PRESSURE},
        {OF(drag_zero), 0.1, {20, 0, 0}, {0}, {0}, FORWARD, -0.1 * PRESSURE},
        {OF(lift_elevator), 0.2, {20, 0, 0}, {0}, {0.3}, UP, 0.06 * PRESSURE},
        {OF(drag_elevator), 0.2, {20, 0, 0}, {0}, {0.3}, FORWARD, -0.06 * PRESSURE},
        // nose-up rate is negative about the left axis: q c / (2 V) = 0.8 * 0.18994 / 40
        {OF(lift_q), 5.0, {20, 0, 0}, {0, -0.8, 0}, {0}, UP, 0.018994 * PRESSURE},
        {OF(drag_q), 5.0, {20, 0, 0}, {0, -0.8, 0}, {0}, FORWARD, -0.018994 * PRESSURE},
        {OF(pitch_q), -5.0, {20, 0, 0}, {0, -0.8, 0}, {0}, PITCH, 0.018994 * PITCHING},
        {OF(pitch_zero), 0.3, {20, 0, 0}, {0}, {0}, PITCH, -0.3 * PITCHING},
        {OF(side_zero), 0.3, {20, 0, 0}, {0}, {0}, LEFT, -0.3 * PRESSURE},
        // air from the right, beta = 0.1: the body moves to the right, left component negative
        {OF(side_beta), -1.0, {19.90008330556, -1.996668332937, 0}, {0}, {0}, LEFT, 0.1 * PRESSURE},
        {OF(roll_beta), -1.0, {19.90008330556, -1.996668332937, 0}, {0}, {0}, ROLL, -0.1 * ROLLING},
        {OF(yaw_beta), 1.0, {19.90008330556, -1.996668332937, 0}, {0}, {0}, YAW, -0.1 * ROLLING},
        {OF(side_aileron), 0.2, {20, 0, 0}, {0}, {0, 0.3}, LEFT, -0.06 * PRESSURE},
        {OF(side_rudder), 0.2, {20, 0, 0}, {0}, {0, 0, 0.3}, LEFT, -0.06 * PRESSURE},
        {OF(roll_zero), 0.2, {20, 0, 0}, {0}, {0}, ROLL, 0.2 * ROLLING},
        {OF(roll_aileron), 0.2, {20, 0, 0}, {0}, {0, 0.3}, ROLL, 0.06 * ROLLING},
        {OF(roll_rudder), 0.2, {20, 0, 0}, {0}, {0, 0, 0.3}, ROLL, 0.06 * ROLLING},
        {OF(yaw_aileron), 0.2, {20, 0, 0}, {0}, {0, 0.3}, YAW, -0.06 * ROLLING},
        {OF(yaw_rudder), 0.2, {20, 0, 0}, {0}, {0, 0, 0.3}, YAW, -0.06 * ROLLING},
        {OF(yaw_zero), 0.2, {20, 0, 0}, {0}, {0}, YAW, -0.2 * ROLLING},
        // p b / (2 V) = 0.8 * 2.8956 / 40 = 0.057912, and r likewise about the axis down
        {OF(side_p), 1.0, {20, 0, 0}, {0.8, 0, 0}, {0}, LEFT, -0.057912 * PRESSURE},
        {OF(side_r), 1.0, {20, 0, 0}, {0, 0, -0.8}, {0}, LEFT, -0.057912 * PRESSURE},
        {OF(roll_p), -1.0, {20, 0, 0}, {0.8, 0, 0}, {0}, ROLL, -0.057912 * ROLLING},
        {OF(roll_r), 1.0, {20, 0, 0}, {0, 0, -0.8}, {0}, ROLL, 0.057912 * ROLLING},
        {OF(yaw_p), 1.0, {20, 0, 0}, {0.8, 0, 0}, {0}, YAW, -0.057912 * ROLLING},
        {OF(yaw_r), -1.0, {20, 0, 0}, {0, 0, -0.8}, {0}, YAW, 0.057912 * ROLLING},
#undef OF
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mf_FixedWing p = bare();
        double loads[6];
        memcpy((char *)&p + rows[i].member, &rows[i].value, sizeof(double));
        if (rows[i].member != offsetof(mf_FixedWing, roll_aileron))
            p.roll_aileron = 1e-9;
        find_loads(&p, rows[i].velocity, rows[i].rate, rows[i].surfaces, loads, loads + 3);
        for (int k = 0; k < 6; k++)
            assert_named_near(loads[k], k == rows[i].component ? rows[i].expected : 0.0, 2e-3,
                              rows[i].name);
    }
}

// Lift slope, pitch stability and linear drag at alpha = 0.1, where forces turn by alpha.
TEST(angle_of_attack) {
    const double velocity[3] = {19.90008330556, 0.0, -1.996668332937}, rest[3] = {0}, none[4] = {0};
    double force[3], moment[3];
    find_loads(&WITH(bare(), .lift_alpha = 5.0, .drag_zero = 0.02, .drag_alpha = 0.1,
                     .pitch_alpha = -2.0, .stall_angle = 1.5),
               velocity, rest, none, force, moment);
    const double lift = 0.5 * PRESSURE, drag = 0.03 * PRESSURE;
    const double sine = 0.0998334166468, cosine = 0.9950041652780;
    assert_named_near(force[0], lift * sine - drag * cosine, 1e-6, "forward");
    assert_named_near(force[2], lift * cosine + drag * sine, 1e-6, "up");
    assert_named_near(moment[1], 0.2 * PITCHING, 1e-6, "pitch");
}

// Coefficients of lift and drag through the stall, from an independent program in Python.
TEST(stall_blends_into_a_flat_plate) {
    static const double rows[][3] = {
        {0.4, 2.409669960260, 0.141301009935},    {0.45, 2.105334631766, 0.172950041856},
        {0.47, 1.616215994160, 0.188219266370},   {0.5, 0.883489551129, 0.219170781438},
        {0.6, 0.530877080730, 0.359949775529},    {1.2, 0.629558085405, 1.619318850598},
        {-0.47, -1.386215994160, 0.160080067920}, {-0.5, -0.799573810178, 0.208248849487},
        {-2.0, 0.688158561599, 1.503653889338}};
    const double rest[3] = {0}, none[4] = {0};
    mf_FixedWing p = WITH(mf_fixed_wing(), .lift_q = 0.0);
    memset(p.propeller_thrust, 0, sizeof p.propeller_thrust);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double a = rows[i][0], force[3], moment[3];
        const double velocity[3] = {20.0 * cos(a), 0.0, -20.0 * sin(a)};
        find_loads(&p, velocity, rest, none, force, moment);
        double lift = force[2] * cos(a) + force[0] * sin(a);
        double drag = force[2] * sin(a) - force[0] * cos(a);
        assert_named_near(lift / PRESSURE, rows[i][1], 1e-10, "lift");
        assert_named_near(drag / PRESSURE, rows[i][2], 1e-10, "drag");
    }
}

// Thrust and torque of motor and propeller from an independent program in Python.
TEST(propulsion) {
    static const double rows[][4] = {{0, 1, 84.5695290992, 2.4012793384},
                                     {0, 0.5, 21.8176807544, 0.6194943565},
                                     {25, 0.7, 3.0746406462, 0.2980907641},
                                     {25, 1, 37.7794805542, 1.8098467398},
                                     {10, 0.3, 1.3074204400, 0.0857006275}};
    mf_FixedWing p = bare(), aerosonde = mf_fixed_wing();
    const double rest[3] = {0};
    memcpy(p.propeller_thrust, aerosonde.propeller_thrust, sizeof p.propeller_thrust);
    memcpy(p.propeller_torque, aerosonde.propeller_torque, sizeof p.propeller_torque);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double velocity[3] = {rows[i][0], 0, 0}, surfaces[4] = {0, 0, 0, rows[i][1]};
        double force[3], moment[3];
        find_loads(&p, velocity, rest, surfaces, force, moment);
        assert_named_near(force[0], rows[i][2], 1e-8, "thrust");
        assert_named_near(moment[0], -rows[i][3], 1e-9, "torque");
    }
    // Without throttle and airspeed the propeller stands; it does not turn backwards.
    const double still[3] = {0}, off[4] = {0};
    double force[3], moment[3];
    find_loads(&p, still, rest, off, force, moment);
    assert_true(force[0] == 0.0 && moment[0] == 0.0);
}

// ---- conservation and order ---------------------------------------------------------------------

// Without air the center of mass falls freely and the angular momentum stays: 10 s, tumbling.
TEST(free_body_conserves) {
    RigConfig config = WITH(rig_config(MF_FIXED_WING_SURFACES), .aircraft.air_density = 0.0,
                            .world.step = MF_MILLISECOND);
    AUTO_RIG rig = rig_open(config);
    rig_set3(&rig, "base.linear_velocity", 3.0, -2.0, 5.0);
    rig_set3(&rig, "base.angular_velocity", 1.5, -0.4, 0.7);
    double first[4] = {0};
    for (int i = 0; i < 2; i++) {
        double w[3], q[4];
        get_fields(rig.group, "base.angular_velocity", 0, 3, w);
        get_fields(rig.group, "base.orientation", 0, 4, q);
        const mf_FixedWing *p = &config.aircraft;
        double h[3] = {p->inertia_xx * w[0] + p->inertia_xz * w[2], p->inertia_yy * w[1],
                       p->inertia_zz * w[2] + p->inertia_xz * w[0]};
        double energy = 0.5 * (h[0] * w[0] + h[1] * w[1] + h[2] * w[2]);
        // h + 2 w (u x h) + 2 u x (u x h) with q = (w, u)
        double t[3], world[4];
        for (int a = 0; a < 3; a++)
            t[a] =
                2.0 * (q[1 + (a + 1) % 3] * h[(a + 2) % 3] - q[1 + (a + 2) % 3] * h[(a + 1) % 3]);
        for (int a = 0; a < 3; a++)
            world[a] = h[a] + q[0] * t[a] + q[1 + (a + 1) % 3] * t[(a + 2) % 3] -
                       q[1 + (a + 2) % 3] * t[(a + 1) % 3];
        world[3] = energy;
        if (i == 0) {
            memcpy(first, world, sizeof first);
            mf_world_step(rig.world, 10000);
            continue;
        }
        for (int a = 0; a < 4; a++)
            assert_named_near(world[a], first[a], 1e-10, a < 3 ? "angular momentum" : "energy");
        assert_named_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-14,
                          "length");
    }
    assert_named_near(rig_get(&rig, "base.position", 0), 30.0, 1e-9, "x");
    assert_named_near(rig_get(&rig, "base.position", 1), -20.0, 1e-9, "y");
    assert_named_near(rig_get(&rig, "base.position", 2), 100.0 + 50.0 - 490.5, 1e-9, "z");
}

static void fly(mf_Integrator integrator, mf_Time step, double out[10]) {
    AUTO_RIG rig =
        rig_open(WITH(rig_config(MF_FIXED_WING_SURFACES), .config.integrator = integrator,
                      .config.control_interval = 0, .world.step = step));
    rig_set3(&rig, "base.linear_velocity", 24.0, 1.5, -1.0);
    rig_set3(&rig, "base.angular_velocity", 0.5, -0.3, 0.2);
    rig_set(&rig, "command.elevator", 0, -0.2);
    rig_set(&rig, "command.aileron", 0, 0.05);
    rig_set(&rig, "command.rudder", 0, 0.03);
    mf_world_step(rig.world, (uint64_t)(640 * MF_MILLISECOND / step));
    get_fields(rig.group, "base.position", 0, 3, out);
    get_fields(rig.group, "base.linear_velocity", 0, 3, out + 3);
    get_fields(rig.group, "base.orientation", 0, 4, out + 6);
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
}

static double distance(const double a[10], const double b[10]) {
    double sum = 0.0;
    for (int i = 0; i < 10; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

TEST(order_of_the_integrators) {
    static const struct {
        mf_Integrator integrator;
        double order;
    } rows[] = {{MF_INTEGRATOR_EULER, 1.0},
                {MF_INTEGRATOR_SEMI_IMPLICIT, 1.0},
                {MF_INTEGRATOR_HEUN, 2.0},
                {MF_INTEGRATOR_RK4, 4.0}};
    double exact[10];
    fly(MF_INTEGRATOR_RK4, 250000, exact); // 0.25 ms
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double coarse[10], fine[10];
        bool slow = rows[i].order < 1.5;
        fly(rows[i].integrator, slow ? 2 * MF_MILLISECOND : 5 * MF_MILLISECOND, coarse);
        fly(rows[i].integrator, slow ? MF_MILLISECOND : 5 * MF_MILLISECOND / 2, fine);
        double order = log2(distance(coarse, exact) / distance(fine, exact));
        assert_named_near(order, rows[i].order, 0.1, mf_integrator_names[rows[i].integrator]);
    }
}

// ---- wind ---------------------------------------------------------------------------------------

// In steady wind everything happens as in calm air, in a frame that moves with it.
TEST(wind_carries_the_aircraft) {
    const double wind[3] = {3.0, -6.0, 0.5};
    double calm[10], windy[10];
    for (int blows = 0; blows < 2; blows++) {
        AUTO_RIG rig = rig_open(rig_config(MF_FIXED_WING_SURFACES));
        if (blows)
            rig_set3(&rig, "wind.velocity", wind[0], wind[1], wind[2]);
        mf_group_reset_all(rig.group);
        rig_set(&rig, "command.aileron", 0, 0.02);
        mf_world_step(rig.world, 500);
        double *out = blows ? windy : calm;
        get_fields(rig.group, "base.position", 0, 3, out);
        get_fields(rig.group, "base.linear_velocity", 0, 3, out + 3);
        get_fields(rig.group, "base.orientation", 0, 4, out + 6);
    }
    for (int i = 0; i < 3; i++) {
        assert_named_near(windy[i], calm[i] + 5.0 * wind[i], 1e-9, "placement");
        assert_named_near(windy[3 + i], calm[3 + i] + wind[i], 1e-9, "velocity");
    }
    for (int i = 6; i < 10; i++)
        assert_named_near(windy[i], calm[i], 1e-11, "attitude");
}
