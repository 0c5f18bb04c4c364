// Check cases of the quadrotor, in double precision: hover, motor lag, the altitude loop, order and
// free rotation, drag, waypoints, and independence of the batch. The expected values are closed
// forms, published runs or the vehicle's figures; see docs/explanation/vehicles.md.
#include <math.h>
#include <string.h>

#include <mayfly/quadrotor.h>

#include "check.h"

static mf_RigConfig rig_config(mf_QuadrotorCommand command) {
    mf_RigConfig config = mf_rig_config_of(MF_MOTION_QUADROTOR, MF_MILLISECOND);
    config.motions.quadrotor_config.command = command;
    return config;
}

// ---- vehicles -----------------------------------------------------------------------------------

typedef struct Vehicle {
    const char *name;
    double hover; // [rad/s] sqrt(m g / 4 k)
    double mass, inertia[3], x[4], y[4], speed_max, thrust, torque, lag;
} Vehicle;

// clang-format off
static const Vehicle vehicles[3] = {
    {"Sun 2022", 1086.4265, 0.752, {2.5e-3, 2.1e-3, 4.3e-3}, {0.075, -0.075, -0.075, 0.075},
     {0.1, 0.1, -0.1, -0.1}, 2000.0, 1.562522e-6, 2.5e-8, 0.033},
    {"Crazyflie", 1788.5505, 0.03, {1.43e-5, 1.43e-5, 2.89e-5},
     {0.0304055916, -0.0304055916, -0.0304055916, 0.0304055916},
     {0.0304055916, 0.0304055916, -0.0304055916, -0.0304055916}, 2500.0, 2.3e-8, 7.8e-10, 0.072},
    {"Hummingbird", 469.2042, 0.5, {3.65e-3, 3.68e-3, 7.03e-3}, {0.17, 0.0, -0.17, 0.0},
     {0.0, 0.17, 0.0, -0.17}, 1500.0, 5.57e-6, 1.36e-7, 0.005}};
// clang-format on

static mf_Quadrotor vehicle_quadrotor(const Vehicle *vehicle) {
    mf_Quadrotor q = mf_motions_config().quadrotor;
    q.mass = vehicle->mass;
    memcpy(q.inertia, vehicle->inertia, sizeof vehicle->inertia);
    memcpy(q.rotor_x, vehicle->x, sizeof q.rotor_x);
    memcpy(q.rotor_y, vehicle->y, sizeof q.rotor_y);
    q.rotor_speed_max = vehicle->speed_max;
    q.thrust_coefficient = vehicle->thrust;
    q.torque_coefficient = vehicle->torque;
    q.motor_time_constant = vehicle->lag;
    return q;
}

static void check_hover(mf_CheckRun *run) {
    for (int i = 0; i < 3; i++) {
        double speed[4];
        mf_RigConfig config = rig_config(MF_QUADROTOR_POSITION);
        config.motions.quadrotor = vehicle_quadrotor(&vehicles[i]);
        mf_quadrotor_hover(&config.motions.quadrotor, 9.81, speed);
        mf_check_variant(run, "%s", vehicles[i].name);
        mf_check_near(run, "hover speed [rad/s]", vehicles[i].hover, speed[0], 5e-5);
        mf_rig_open_motion(run, &config);
        double start = mf_rig_get(run, "base.position", 2);
        mf_rig_step(run, 1000000);
        mf_check_below(run, "drift after 1e6 steps [m]", 1e-9,
                       fabs(mf_rig_get(run, "base.position", 2) - start));
    }
}

static void check_lag(mf_CheckRun *run) {
    static const double zero[4], full[4] = {1000, 1000, 1000, 1000};
    mf_RigConfig config = rig_config(MF_QUADROTOR_ROTORS);
    config.world.step = 3300000; // [ns] a tenth of the time constant
    mf_rig_open_motion(run, &config);
    mf_rig_set_row(run, "rotor.speed", 4, zero);
    mf_rig_set_row(run, "command.rotors", 4, full);
    mf_rig_step(run, 1);
    mf_check_near(run, "remaining difference after a step of 0.1 tau [1]",
                  1 - 0.1 + 0.01 / 2 - 0.001 / 6 + 0.0001 / 24,
                  1.0 - mf_rig_get(run, "rotor.speed", 0) / 1000.0, 1e-14);
    mf_rig_step(run, 9);
    mf_check_near(run, "reached after tau [1]", 0.63212, mf_rig_get(run, "rotor.speed", 0) / 1000.0,
                  5e-6);
}

static void check_altitude(mf_CheckRun *run) {
    mf_RigConfig config = rig_config(MF_QUADROTOR_POSITION);
    config.world.step = 100000; // [ns]
    config.motions.quadrotor.motor_time_constant = 0.0;
    config.motions.quadrotor.velocity_bandwidth = 5.6;
    config.motions.quadrotor.velocity_integral = 0.0;
    config.motions.quadrotor.position_bandwidth = 16.0 / 5.6;
    config.motions.quadrotor.climb_max = 100.0;
    mf_rig_open_motion(run, &config);
    double start = mf_rig_get(run, "base.position", 2), most = 0.0, when = 0.0;
    mf_rig_set_row(run, "command.position", 3, (double[3]){0, 0, start + 0.5});
    for (int i = 1; i <= 30000; i++) {
        mf_rig_step(run, 1);
        double rise = (mf_rig_get(run, "base.position", 2) - start) / 0.5;
        if (rise > most) {
            most = rise;
            when = 1e-4 * i;
        }
    }
    mf_check_near(run, "overshoot [%]", 4.59879, 100.0 * (most - 1.0), 0.01);
    mf_check_near(run, "time of the peak [s]", 1.0997774, when, 5e-4);
}

// ---- rotation -----------------------------------------------------------------------------------

// The NASA brick at `step`; fills the rates [deg/s] and the attitude.
static void tumble(mf_CheckRun *run, double step, double seconds, double out[7]) {
    static const double zero[4];
    const double unit = 1.3558179483314004; // [kg m^2] of a slug ft^2
    mf_RigConfig config = rig_config(MF_QUADROTOR_ROTORS);
    config.motions.quadrotor.mass = 2.26796190;
    config.motions.quadrotor.inertia[0] = 0.00189422 * unit;
    config.motions.quadrotor.inertia[1] = 0.006211019 * unit;
    config.motions.quadrotor.inertia[2] = 0.007194665 * unit;
    config.motions.quadrotor.motor_time_constant = 1.0;
    config.world.gravity = 0.0;
    config.world.step = mf_time_from_seconds(step);
    mf_rig_open_motion(run, &config);
    mf_rig_set_row(run, "rotor.speed", 4, zero);
    mf_rig_set_row(run, "base.angular_velocity", 3,
                   (double[3]){10 * MF_CHECK_DEGREE, 20 * MF_CHECK_DEGREE, 30 * MF_CHECK_DEGREE});
    mf_rig_step(run, (uint64_t)(seconds / step + 0.5));
    for (uint32_t c = 0; c < 3; c++)
        out[c] = mf_rig_get(run, "base.angular_velocity", c) / MF_CHECK_DEGREE;
    for (uint32_t c = 0; c < 4; c++)
        out[3 + c] = mf_rig_get(run, "base.orientation", c);
}

static void check_order(mf_CheckRun *run) {
    static const double steps[2][2] = {{0.1, 0.05}, {0.02, 0.01}};
    static const char *const names[2] = {"order between steps of 0.1 and 0.05 s [1]",
                                         "order between steps of 0.02 and 0.01 s [1]"};
    double exact[7];
    tumble(run, 1e-3, 30.0, exact);
    for (int row = 0; row < 2; row++) {
        double miss[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            double got[7];
            tumble(run, steps[row][i], 30.0, got);
            for (int c = 0; c < 3; c++)
                miss[i] += (got[c] - exact[c]) * (got[c] - exact[c]);
        }
        mf_check_near(run, names[row], 4.0, 0.5 * log2(miss[0] / miss[1]), 0.05);
    }
}

static void check_brick(mf_CheckRun *run) {
    static const double expected[4][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {20, -5.422734680, 22.715930576, 28.608281747},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    for (int row = 0; row < 4; row++) {
        double got[7];
        tumble(run, 1e-3, expected[row][0], got);
        for (int c = 0; c < 3; c++) {
            mf_check_near(
                run, mf_check_name(run, "rate %c after %g s [deg/s]", "pqr"[c], expected[row][0]),
                expected[row][1 + c], got[c], 2e-9);
        }
    }
}

// ---- drag ---------------------------------------------------------------------------------------

static void check_fall(mf_CheckRun *run) {
    static const double zero[4];
    mf_RigConfig config = rig_config(MF_QUADROTOR_ROTORS);
    config.motions.quadrotor.mass = 1.0;
    config.motions.quadrotor.body_drag[2] = 0.1;
    mf_rig_open_motion(run, &config);
    mf_rig_set_row(run, "rotor.speed", 4, zero);
    mf_rig_set_row(run, "command.rotors", 4, zero);
    mf_rig_step(run, 1000);
    mf_rig_near(run, "base.linear_velocity", 2, "speed after 1 s [m/s]", -7.5032474, 5e-8);
    mf_rig_step(run, 19000);
    mf_rig_near(run, "base.linear_velocity", 2, "terminal speed [m/s]", -9.9045444, 5e-8);
}

static void check_projectile(mf_CheckRun *run) {
    static const double turning[4] = {100, 100, 100, 100}, origin[3];
    static const double start[3] = {10.0, 3.0, 12.0};
    static const char *const names[3] = {"x after 2 s [m]", "y after 2 s [m]", "z after 2 s [m]"};
    mf_RigConfig config = rig_config(MF_QUADROTOR_ROTORS);
    for (int i = 0; i < 3; i++)
        config.motions.quadrotor.rotor_drag[i] = 1e-3;
    mf_rig_open_motion(run, &config);
    mf_rig_set_row(run, "rotor.speed", 4, turning);
    mf_rig_set_row(run, "command.rotors", 4, turning);
    mf_rig_set_row(run, "base.position", 3, origin);
    mf_rig_set_row(run, "base.linear_velocity", 3, start);
    mf_rig_step(run, 2000);
    const double k = 4.0 * 100.0 * 1e-3 / 0.752;
    const double rest[3] = {0, 0, 4.0 * 1.562522e-6 * 1e4 / 0.752 - 9.81};
    for (uint32_t c = 0; c < 3; c++) {
        double last = rest[c] / k, gap = start[c] - last;
        mf_rig_near(run, "base.position", c, names[c], last * 2.0 + gap * (1.0 - exp(-k * 2.0)) / k,
                    1e-10);
    }
}

// ---- control ------------------------------------------------------------------------------------

typedef struct Step {
    mf_QuadrotorCommand command;
    const char *name, *field, *watched;
    uint32_t component, milliseconds;
    double size, rise, overshoot, steady; // [s], [%], [%] bounds
} Step;

static const Step path_steps[] = {
    {MF_QUADROTOR_RATES, "roll rate", "command.rates", "base.angular_velocity", 0, 3000, 1, 0.1, 6,
     1},
    {MF_QUADROTOR_RATES, "yaw rate", "command.rates", "base.angular_velocity", 2, 3000, 0.5, 0.25,
     10, 1},
    {MF_QUADROTOR_VELOCITY, "speed", "command.velocity", "base.linear_velocity", 0, 20000, 2, 0.6,
     12, 0.5},
    {MF_QUADROTOR_VELOCITY, "climb", "command.velocity", "base.linear_velocity", 2, 20000, 1, 0.8,
     10, 0.5},
    {MF_QUADROTOR_POSITION, "waypoint", "command.position", "base.position", 0, 20000, 5, 1.6, 3,
     0.1},
    {MF_QUADROTOR_POSITION, "height", "command.position", "base.position", 2, 20000, 2, 1.6, 3,
     0.1},
};

static void follow(const Vehicle *vehicle, const Step *step, mf_CheckRun *run) {
    mf_RigConfig config = rig_config(step->command);
    double low = -1.0, high = -1.0, most = 0.0, now = 0.0;
    config.motions.quadrotor = vehicle_quadrotor(vehicle);
    mf_rig_open_motion(run, &config);
    const double start = mf_rig_get(run, step->watched, step->component);
    mf_Field *command = mf_group_find_field(run->rig.group, step->field);
    mf_field_set(command, 0, step->component,
                 mf_field_get(command, 0, step->component) + step->size);
    for (uint32_t i = 1; i <= step->milliseconds; i++) {
        mf_rig_step(run, 1);
        now = (mf_rig_get(run, step->watched, step->component) - start) / step->size;
        low = low < 0.0 && now >= 0.1 ? 1e-3 * i : low;
        high = high < 0.0 && now >= 0.9 ? 1e-3 * i : high;
        most = fmax(most, now);
    }
    mf_check_variant(run, "%s, %s", vehicle->name, step->name);
    mf_check_below(run, "rise [s]", step->rise, high < 0.0 ? INFINITY : high - low);
    mf_check_below(run, "overshoot [%]", step->overshoot, 100.0 * fmax(most - 1.0, 0.0));
    mf_check_below(run, "steady error [%]", step->steady, 100.0 * fabs(now - 1.0));
}

static void check_following(mf_CheckRun *run) {
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < sizeof path_steps / sizeof *path_steps; i++)
            follow(&vehicles[c], &path_steps[i], run);
}

// ---- others -------------------------------------------------------------------------------------

static uint64_t fly_in_batch(mf_CheckRun *run, uint32_t count, uint32_t agent) {
    mf_RigConfig config = rig_config(MF_QUADROTOR_RATES);
    config.group.count = count;
    mf_rig_open_motion(run, &config);
    mf_Field *rates = mf_group_find_field(run->rig.group, "command.rates");
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(rates, i, c, 1e-4 * ((count == 1 ? agent : i) * (c + 1) % 1000));
    mf_rig_step(run, 200);
    return mf_group_instance_hash(run->rig.group, count == 1 ? 0 : agent);
}

static void check_batch(mf_CheckRun *run) {
    const uint64_t alone = fly_in_batch(run, 1, 6);
    mf_check_bits(run, "state among 8", alone, fly_in_batch(run, 8, 6));
    mf_check_bits(run, "state among 10,000", alone, fly_in_batch(run, 10000, 6));
}

const mf_CheckCase mf_check_quadrotor_cases[] = {
    {"G1", "a quadrotor hovers at sqrt(m g / 4 k) and does not drift", check_hover},
    {"G2", "motors lag by their time constant, as integrated by Runge-Kutta", check_lag},
    {"G3", "the altitude loop is a second-order system: damping 0.7, 4 rad/s", check_altitude},
    {"G4", "Runge-Kutta has order 4 on the tumbling NASA brick", check_order},
    {"G4b", "the tumbling brick of NASA's check case 2", check_brick},
    {"G8", "quadratic drag limits a fall: v = vt tanh(g t / vt)", check_fall},
    {"G9", "a projectile with linear drag follows its closed form", check_projectile},
    {"G3b", "responses of every control loop of every quadrotor", check_following},
    {"G15", "a single quadrotor is the same as among 10,000", check_batch},
    {NULL, NULL, NULL}};
