// Autopilot, commands and gusts of fixed-wing aircraft: measured responses, rejected commands,
// statistics.
#include "motion/fixed_wing_rig.h"

// ---- step responses -----------------------------------------------------------------------------

typedef enum Quantity { AIRSPEED, ALTITUDE, COURSE, ORBIT } Quantity;

typedef struct Response {
    double rise;      // [s] from 10 % to 90 %
    double overshoot; // [1] of the step
    double settle;    // [s] until it stays within 5 %
    double rest;      // error at the end, in the quantity's unit
} Response;

static double value_of(const Rig *rig, Quantity quantity) {
    if (quantity == AIRSPEED)
        return rig_get(rig, "air.speed", 0);
    if (quantity == ALTITUDE)
        return rig_get(rig, "base.position", 2);
    if (quantity == COURSE)
        return course_of(rig, 0);
    return hypot(rig_get(rig, "base.position", 0) - rig_get(rig, "command.center", 0),
                 rig_get(rig, "base.position", 1) - rig_get(rig, "command.center", 1));
}

static Response respond(Rig *rig, Quantity quantity, double start, double target, double seconds) {
    Response out = {-1.0, 0.0, 0.0, 0.0};
    double low = -1.0, value = start, before = value_of(rig, quantity);
    for (int i = 1; i <= (int)(100.0 * seconds); i++) {
        mf_world_step(rig->world, 1);
        double now = value_of(rig, quantity);
        value +=
            quantity == COURSE ? remainder(now - before, 2.0 * 3.14159265358979) : now - before;
        before = now;
        double share = (value - start) / (target - start);
        if (low < 0.0 && share >= 0.1)
            low = 0.01 * i;
        if (out.rise < 0.0 && share >= 0.9)
            out.rise = 0.01 * i - low;
        if (share - 1.0 > out.overshoot)
            out.overshoot = share - 1.0;
        if (fabs(share - 1.0) > 0.05)
            out.settle = 0.01 * i;
    }
    out.rest = value - target;
    assert_int_equal(mf_group_fault(rig->group, 0), 0);
    assert_true(rig_get(rig, "command.refused", 0) == 0.0);
    return out;
}

static Response step_response(Quantity quantity, double airspeed, double step, double seconds) {
    static const char *const names[] = {"command.airspeed", "command.altitude", "command.course"};
    AUTO_RIG rig =
        rig_open(WITH(rig_config(MF_FIXED_WING_AUTOPILOT), .config.start_airspeed = airspeed));
    double start = value_of(&rig, quantity);
    rig_set(&rig, names[quantity], 0, start + step);
    return respond(&rig, quantity, start, start + step, seconds);
}

// The bounds are the measured figures of docs/studies/vehicles.md with a tenth of slack.
TEST(step_responses_are_within_bounds) {
    static const struct {
        Quantity quantity;
        double airspeed, step, rise, overshoot, settle, rest;
    } rows[] = {
        {AIRSPEED, 25.0, 5.0, 2.1, 0.01, 3.4, 1e-3},  {AIRSPEED, 25.0, -5.0, 2.9, 0.06, 3.6, 2e-3},
        {AIRSPEED, 20.0, 10.0, 3.3, 0.01, 4.9, 1e-3}, {AIRSPEED, 30.0, 4.0, 2.7, 0.01, 4.5, 1e-3},
        {ALTITUDE, 25.0, 10.0, 1.6, 0.12, 4.6, 2e-3}, {ALTITUDE, 25.0, -10.0, 1.3, 0.14, 4.6, 2e-3},
        {ALTITUDE, 25.0, 50.0, 6.1, 0.04, 7.8, 2e-3}, {ALTITUDE, 25.0, -50.0, 4.5, 0.03, 5.9, 2e-3},
        {ALTITUDE, 18.0, 10.0, 3.6, 0.08, 8.0, 2e-3}, {ALTITUDE, 34.0, 10.0, 1.1, 0.15, 3.2, 2e-3},
        {COURSE, 25.0, 0.5, 1.9, 0.08, 6.6, 1e-3},    {COURSE, 25.0, 1.5708, 4.4, 0.05, 5.6, 1e-3},
        {COURSE, 25.0, -3.0, 7.8, 0.03, 9.7, 1e-3},   {COURSE, 18.0, 1.0, 2.4, 0.06, 3.1, 1e-3},
        {COURSE, 34.0, 1.0, 4.1, 0.06, 5.3, 1e-3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Response got = step_response(rows[i].quantity, rows[i].airspeed, rows[i].step, 60.0);
        const char *what = formatted("row %zu", i);
        if (getenv("MAYFLY_TEST_PRINT") != NULL)
            printf("%d %g m/s %+g: rise %.2f s, overshoot %.1f %%, settle %.2f s, rest %.1e\n",
                   rows[i].quantity, rows[i].airspeed, rows[i].step, got.rise,
                   100.0 * got.overshoot, got.settle, got.rest);
        assert_named_near(got.rise, 0.5 * rows[i].rise, 0.5 * rows[i].rise, what);
        assert_named_near(got.overshoot, 0.5 * rows[i].overshoot, 0.5 * rows[i].overshoot, what);
        assert_named_near(got.settle, 0.5 * rows[i].settle, 0.5 * rows[i].settle, what);
        assert_named_near(got.rest, 0.0, rows[i].rest, what);
    }
}

// Joins a circle from outside and from inside, either way round, and holds it.
TEST(orbits_are_joined_and_held) {
    static const struct {
        double airspeed, center, radius, settle;
    } rows[] = {{25.0, 300.0, 100.0, 13.0},
                {25.0, 30.0, 100.0, 23.0},
                {20.0, 200.0, -80.0, 12.0},
                {30.0, 500.0, -300.0, 23.0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO_RIG rig = rig_open(
            WITH(rig_config(MF_FIXED_WING_ORBIT), .config.start_airspeed = rows[i].airspeed));
        rig_set(&rig, "command.center", 0, rows[i].center);
        rig_set(&rig, "command.center", 1, 0.0);
        rig_set(&rig, "command.radius", 0, rows[i].radius);
        double radius = fabs(rows[i].radius);
        Response got = respond(&rig, ORBIT, rows[i].center, radius, 120.0);
        if (getenv("MAYFLY_TEST_PRINT") != NULL)
            printf("orbit %g m/s from %g to %g: settle %.2f s, rest %.1e m\n", rows[i].airspeed,
                   rows[i].center, radius, got.settle, got.rest);
        assert_true(got.settle < rows[i].settle);
        assert_named_near(got.rest, 0.0, 1e-3, "distance from the circle");
        // Angular momentum about the center has the sign of the radius.
        double x = rig_get(&rig, "base.position", 0) - rows[i].center;
        double y = rig_get(&rig, "base.position", 1);
        double angle = x * rig_get(&rig, "base.linear_velocity", 1) -
                       y * rig_get(&rig, "base.linear_velocity", 0);
        assert_named_near(angle / (radius * rows[i].airspeed), rows[i].radius < 0.0 ? -1.0 : 1.0,
                          1e-4, "sense");
        assert_named_near(rig_get(&rig, "base.position", 2), 100.0, 1e-2, "altitude");
    }
}

// A fifth of the airspeed as wind: the circle over ground stays within 0.4 m of its radius, 200 m.
TEST(orbit_in_wind) {
    double most = 0.0;
    AUTO_RIG rig = rig_open(rig_config(MF_FIXED_WING_ORBIT));
    rig_set3(&rig, "wind.velocity", 3.0, 4.0, 0.0);
    mf_group_reset_all(rig.group);
    mf_world_step(rig.world, 6000);
    for (int i = 0; i < 6000; i++) {
        mf_world_step(rig.world, 1);
        double error = fabs(value_of(&rig, ORBIT) - 200.0);
        most = error > most ? error : most;
    }
    if (getenv("MAYFLY_TEST_PRINT") != NULL)
        printf("orbit in 5 m/s of wind: %.2f m\n", most);
    assert_true(most < 0.4);
    assert_true(most > 0.01);
}

// Course is over ground: in a cross wind the nose points into the wind, the path does not.
TEST(course_is_held_over_ground) {
    AUTO_RIG rig = rig_open(rig_config(MF_FIXED_WING_AUTOPILOT));
    rig_set3(&rig, "wind.velocity", 0.0, 5.0, 0.0);
    rig_set(&rig, "command.course", 0, 0.0);
    mf_world_step(rig.world, 6000);
    assert_named_near(course_of(&rig, 0), 0.0, 1e-4, "course");
    // heading: sin = -5 / 25; ground speed sqrt(25^2 - 5^2)
    double w = rig_get(&rig, "base.orientation", 0), z = rig_get(&rig, "base.orientation", 3);
    assert_named_near(2.0 * atan2(z, w), -asin(0.2), 2e-3, "heading");
    assert_named_near(rig_get(&rig, "base.linear_velocity", 0), sqrt(600.0), 1e-2, "ground speed");
    assert_named_near(rig_get(&rig, "air.speed", 0), 25.0, 1e-3, "airspeed");
}

TEST(starts_in_trim) {
    static const double speeds[] = {18.0, 25.0, 34.0};
    for (int mode = 0; mode < 2; mode++) {
        for (int i = 0; i < 3; i++) {
            RigConfig config =
                rig_config(mode == 0 ? MF_FIXED_WING_SURFACES : MF_FIXED_WING_AUTOPILOT);
            config.config.start_airspeed = speeds[i];
            config.config.start_altitude = 250.0;
            AUTO_RIG rig = rig_open(config);
            mf_world_step(rig.world, 100);
            assert_named_near(rig_get(&rig, "air.speed", 0), speeds[i], 1e-6, "airspeed");
            assert_named_near(rig_get(&rig, "base.position", 2), 250.0, 1e-6, "altitude");
            assert_named_near(rig_get(&rig, "base.position", 0), speeds[i], 1e-6, "path");
        }
    }
}

// ---- commands -----------------------------------------------------------------------------------

static void refused(mf_FixedWingCommand mode, const char *name, uint32_t c, const double *values,
                    int count) {
    RigConfig config = WITH(rig_config(mode), .count = 3);
    for (int i = 0; i < count; i++) {
        AUTO_RIG rig = rig_open(config), calm = rig_open(config);
        set_field(rig.group, name, 1, c, values[i]);
        mf_world_step(rig.world, 7);
        mf_world_step(calm.world, 7);
        if (get_field(rig.group, "command.refused", 1, 0) != 7.0)
            fail_msg("%s = %g: refused %g times", name, values[i],
                     get_field(rig.group, "command.refused", 1, 0));
        assert_true(rig_get(&rig, "command.refused", 0) == 0.0);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        // The last good command is flown on.
        for (uint32_t k = 0; k < 3; k++)
            assert_true(get_field(rig.group, "base.position", 1, k) ==
                        get_field(calm.group, "base.position", 1, k));
    }
}

TEST(bad_commands_are_refused_and_counted) {
    const double airspeeds[] = {NAN, INFINITY, -INFINITY, 17.99, 35.01, -25.0};
    const double angles[] = {NAN, 0.79, -0.79, 1e30}, throttles[] = {NAN, -0.001, 1.001};
    const double positions[] = {NAN, 1.1e6, -INFINITY}, radii[] = {NAN, 0.5, -0.5, 0.0, 2e6};
    const double courses[] = {NAN, 1001.0, -INFINITY};
    refused(MF_FIXED_WING_SURFACES, "command.elevator", 0, angles, 4);
    refused(MF_FIXED_WING_SURFACES, "command.aileron", 0, angles, 4);
    refused(MF_FIXED_WING_SURFACES, "command.rudder", 0, angles, 4);
    refused(MF_FIXED_WING_SURFACES, "command.throttle", 0, throttles, 3);
    refused(MF_FIXED_WING_AUTOPILOT, "command.airspeed", 0, airspeeds, 6);
    refused(MF_FIXED_WING_AUTOPILOT, "command.altitude", 0, positions, 3);
    refused(MF_FIXED_WING_AUTOPILOT, "command.course", 0, courses, 3);
    refused(MF_FIXED_WING_ORBIT, "command.center", 1, positions, 3);
    refused(MF_FIXED_WING_ORBIT, "command.radius", 0, radii, 5);
}

TEST(limits_themselves_are_accepted) {
    for (int single = 0; single < 2; single++) {
        AUTO_RIG rig =
            rig_open(WITH(rig_config(MF_FIXED_WING_SURFACES), .single_precision = single != 0));
        rig_set(&rig, "command.elevator", 0, -0.785);
        rig_set(&rig, "command.aileron", 0, 0.785);
        rig_set(&rig, "command.rudder", 0, 0.785);
        rig_set(&rig, "command.throttle", 0, 1.0);
        mf_world_step(rig.world, 1);
        assert_true(rig_get(&rig, "command.refused", 0) == 0.0);
        assert_named_near(rig_get(&rig, "command.accepted", 0), -0.785, 1e-7, "accepted");
        assert_named_near(rig_get(&rig, "surface.angle", 2), 0.785, 1e-7, "rudder");
        assert_named_near(rig_get(&rig, "motor.throttle", 0), 1.0, 0.0, "throttle");
    }
}

// The control interval is what it says: commands act at ticks only.
TEST(commands_wait_for_the_control_tick) {
    AUTO_RIG rig = rig_open(
        WITH(rig_config(MF_FIXED_WING_SURFACES), .config.control_interval = 50 * MF_MILLISECOND));
    mf_world_step(rig.world, 1);
    rig_set(&rig, "command.elevator", 0, 0.1);
    mf_world_step(rig.world, 4);
    assert_named_near(rig_get(&rig, "surface.angle", 0), -0.1250436, 1e-6, "before the tick");
    mf_world_step(rig.world, 1);
    assert_named_near(rig_get(&rig, "surface.angle", 0), 0.1, 0.0, "after it");
    rig_set(&rig, "command.elevator", 0, NAN);
    mf_world_step(rig.world, 10);
    assert_named_near(rig_get(&rig, "command.refused", 0), 2.0, 0.0, "once per tick");
}

// ---- gusts --------------------------------------------------------------------------------------

// Variances against sigma^2 and the correlation of the forward gust at a lag of L / V, exp(-1).
// 4,096 agents, 12 moments far apart: standard error of a variance below 1.5 % with L / V = 8 s.
TEST(gusts_have_their_spectrum) {
    enum { AGENTS = 4096, MOMENTS = 12 };
    static double before[AGENTS];
    const double sigma[3] = {1.06, 1.06, 0.7};
    double square[3] = {0}, mean[3] = {0}, lagged = 0.0;
    AUTO_RIG rig = rig_open(WITH(rig_config(MF_FIXED_WING_AUTOPILOT), .count = AGENTS,
                                 .single_precision = true, .world.step = 40 * MF_MILLISECOND,
                                 .config.control_interval = 0,
                                 .config.gusts = mf_dryden(MF_TURBULENCE_LOW_LIGHT, 25.0)));
    mf_world_step(rig.world, 1000); // 40 s, five times the longest correlation time
    const mf_Field *gust = rig_field(&rig, "gust.velocity");
    for (int moment = 0; moment <= MOMENTS; moment++) {
        for (uint32_t i = 0; i < AGENTS; i++) {
            for (uint32_t c = 0; moment > 0 && c < 3; c++) {
                double value = mf_field_get(gust, i, c);
                square[c] += value * value / ((double)AGENTS * MOMENTS);
                mean[c] += value / ((double)AGENTS * MOMENTS);
            }
            double now = mf_field_get(gust, i, 0);
            if (moment > 0)
                lagged += now * before[i] / ((double)AGENTS * MOMENTS);
            before[i] = now;
        }
        mf_world_step(rig.world, 200); // 8 s
    }
    for (int c = 0; c < 3; c++) {
        assert_named_near(square[c] / (sigma[c] * sigma[c]), 1.0, 0.04, "variance");
        assert_named_near(mean[c] / sigma[c], 0.0, 0.03, "mean");
    }
    assert_named_near(lagged / square[0], exp(-1.0), 0.03, "correlation after L / V");
    assert_int_equal(mf_group_fault_total(rig.group), 0);
}

// Other correlation functions: for (s + a/sqrt 3)/(s + a)^2 with a = V / L it is
// (1 - a tau / 2) exp(-a tau), so 0 at tau = 2 / a (4 s for up), and (1/2) exp(-1) at 1 / a.
TEST(gusts_upward_turn_over) {
    enum { AGENTS = 4096, LAGS = 9 };
    static double first[AGENTS];
    double sum[LAGS] = {0}, square = 0.0;
    AUTO_RIG rig = rig_open(WITH(rig_config(MF_FIXED_WING_AUTOPILOT), .count = AGENTS,
                                 .single_precision = true, .world.step = 50 * MF_MILLISECOND,
                                 .config.control_interval = 0,
                                 .config.gusts = mf_dryden(MF_TURBULENCE_LOW_MODERATE, 25.0)));
    const mf_Field *gust = rig_field(&rig, "gust.velocity");
    for (int round = 0; round < 8; round++) {
        mf_world_step(rig.world, 300);
        for (int lag = 0; lag < LAGS; lag++) {
            for (uint32_t i = 0; i < AGENTS; i++) {
                double now = mf_field_get(gust, i, 2);
                if (lag == 0) {
                    first[i] = now;
                    square += now * now;
                }
                sum[lag] += first[i] * now;
            }
            mf_world_step(rig.world, 10); // 0.5 s
        }
    }
    for (int lag = 0; lag < LAGS; lag++) {
        double tau = 0.5 * lag, expected = (1.0 - 0.25 * tau) * exp(-0.5 * tau);
        assert_named_near(sum[lag] / square, expected, 0.025, "correlation");
    }
}

TEST(gusts_differ_between_agents_and_seeds) {
    double value[2][2];
    for (int seed = 0; seed < 2; seed++) {
        AUTO_RIG rig = rig_open(WITH(rig_config(MF_FIXED_WING_AUTOPILOT), .count = 2,
                                     .world.seed = (uint64_t)seed,
                                     .config.gusts = mf_dryden(MF_TURBULENCE_LOW_LIGHT, 25.0)));
        mf_world_step(rig.world, 100);
        for (uint32_t i = 0; i < 2; i++)
            value[seed][i] = get_field(rig.group, "gust.velocity", i, 0);
    }
    assert_true(value[0][0] != value[0][1] && value[0][0] != value[1][0]);
    AUTO_RIG rig = rig_open(rig_config(MF_FIXED_WING_AUTOPILOT));
    assert_null(mf_group_find_field(rig.group, "gust.velocity"));
}
