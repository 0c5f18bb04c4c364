// A car's parameters: the defaults, the check of every range, the kernel's constants.
#include "motion/vehicle/car/motion.h"
#include "base/floats.h"
#include "base/plain.h"
#include "motion/vehicle/keys.h"
#include "math/scalar.h"

#include <stddef.h>

static const double reference_gravity = 9.81; // [m/s^2] at which rear_d and front_d hold

// Liniger's 1:43 car. Sources and what is wrong in them: models/car_orca.yaml and
// docs/explanation/vehicles.md. Members that no source gives (brake, radius, height, the loops) are
// choices of this project.
mf_Car mf_car(void) {
    return (mf_Car){.struct_size = sizeof(mf_Car),
                    .mass = 0.041,
                    .yaw_inertia = 27.8e-6,
                    .front = 0.029,
                    .rear = 0.033,
                    .height = 0.015,
                    .radius = 0.06,
                    .front_b = 2.579,
                    .front_c = 1.2,
                    .front_d = 0.192,
                    .rear_b = 3.3852,
                    .rear_c = 1.2691,
                    .rear_d = 0.1737,
                    .motor = 0.287,
                    .motor_slope = 0.0545,
                    .brake = 0.2,
                    .rolling = 0.0518,
                    .drag = 0.00035,
                    .ellipse_long = 1.0,
                    .steering_limit = 0.35,
                    .steering_rate = 10.0,
                    .blend_low = 0.3,
                    .blend_high = 0.6,
                    .speed_limit = 3.5,
                    .acceleration = 3.0,
                    .braking = 2.0,
                    .speed_gain = 8.0,
                    .speed_integral = 8.0,
                    .look_ahead_time = 0.12,
                    .look_ahead_least = 0.12,
                    .look_ahead_most = 0.6,
                    .stop_distance = 0.01};
}

// ---- checks -------------------------------------------------------------------------------------

mf_Status mf_car_check(const mf_Car *car, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (car == NULL || car->struct_size != sizeof *car)
        return mf_fail(error, MF_BAD_ARGUMENT, "car: start from mf_motions_config()");
    MF_TRY(mf_vehicle_check_ranges(MF_VEHICLE_CAR, car, error));
    MF_NEED(car->front + car->rear >= 1e-6, error,
            "car.front: %g, need front + rear > 0 m, rear is %g", car->front, car->rear);
    MF_NEED(car->blend_high > car->blend_low, error,
            "car.blend_high: %g, need more than blend_low, %g m/s", car->blend_high,
            car->blend_low);
    MF_NEED(car->look_ahead_most >= car->look_ahead_least, error,
            "car.look_ahead_most: %g, need at least look_ahead_least, %g m", car->look_ahead_most,
            car->look_ahead_least);
    return MF_OK;
}

mf_Status mf_car_check_settings(const mf_CarConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error, "car: start from mf_motions_config()");
    const mf_Range choices[] = {{"model", "", config->model, 0, MF_CAR_BLENDED},
                                {"tire", "", config->tire, 0, MF_CAR_TIRE_LINEAR},
                                {"integrator", "", config->integrator, 0, MF_INTEGRATOR_RK4},
                                {"command", "", config->command, 0, MF_CAR_COMMAND_WAYPOINT}};
    MF_TRY(mf_ranges_check("car", choices, sizeof choices / sizeof *choices, error));
    MF_NEED(config->control_interval >= 0, error, "car.control_interval: %lld ns, need 0 or more",
            (long long)config->control_interval);
    return MF_OK;
}

// ---- constants ----------------------------------------------------------------------------------

// How fast [1/s * m/s] slip ends at one meter per second: the faster of the modes of sideways
// motion and of yaw of the car with linear tires going straight.
static double slip_rate(const mf_Car *car) {
    double front = car->front_b * car->front_c * car->front_d;
    double rear = car->rear_b * car->rear_c * car->rear_d;
    double side = (front + rear) / car->mass;
    double yaw =
        (front * car->front * car->front + rear * car->rear * car->rear) / car->yaw_inertia;
    return side > yaw ? side : yaw;
}

// K of the yaw gain V / (L (1 + K V^2)): Milliken and Milliken 1995, section 5.4.
static double understeer(const mf_Car *car) {
    double base = car->front + car->rear;
    double front = car->front_b * car->front_c * car->front_d;
    double rear = car->rear_b * car->rear_c * car->rear_d;
    return car->mass / (base * base) * (car->rear / front - car->front / rear);
}

static void fill_dynamics(double *k, const mf_Car *car, mf_CarModel model) {
    double base = car->front + car->rear;
    k[MF_CAR_MASS] = car->mass;
    k[MF_CAR_INVERSE_MASS] = 1.0 / car->mass;
    k[MF_CAR_LONG_MASS] = car->mass + car->rotating_mass;
    k[MF_CAR_INVERSE_LONG] = 1.0 / k[MF_CAR_LONG_MASS];
    k[MF_CAR_INVERSE_YAW] = 1.0 / car->yaw_inertia;
    k[MF_CAR_FRONT] = car->front;
    k[MF_CAR_REAR] = car->rear;
    k[MF_CAR_BASE] = base;
    k[MF_CAR_INVERSE_BASE] = 1.0 / base;
    k[MF_CAR_REAR_SHARE] = car->rear / base;
    k[MF_CAR_HEIGHT] = car->height;
    memcpy(k + MF_CAR_FRONT_B, &car->front_b, 8 * sizeof *k); // B, C, D, E of both axles
    k[MF_CAR_MOTOR] = car->motor;
    k[MF_CAR_MOTOR_SLOPE] = car->motor_slope;
    k[MF_CAR_BRAKE] = car->brake;
    k[MF_CAR_INVERSE_BRAKE] = car->brake > 0.0 ? 1.0 / car->brake : 0.0;
    k[MF_CAR_ROLLING] = car->rolling;
    k[MF_CAR_DRAG] = car->drag;
    k[MF_CAR_LIFT] = car->downforce / (car->mass * reference_gravity);
    k[MF_CAR_ELLIPSE] = car->ellipse * car->rear_d;
    k[MF_CAR_INVERSE_ELLIPSE] = 1.0 / car->ellipse_long;
    // In the blend the kinematic part holds the car where a wheel points across its motion.
    k[MF_CAR_SLIP_SPEED] = model == MF_CAR_BLENDED ? 0.5 * car->blend_low : car->blend_low;
    k[MF_CAR_BLEND_LOW] = car->blend_low;
    k[MF_CAR_INVERSE_BLEND] = 1.0 / (car->blend_high - car->blend_low);
    k[MF_CAR_GRIP] = slip_rate(car) / car->blend_high;
}

static void fill_loops(double *k, const mf_Car *car, mf_CarModel model) {
    double sine, cosine, bend = understeer(car);
    mf_sin_cos(car->steering_limit, &sine, &cosine);
    k[MF_CAR_STEERING_LIMIT] = car->steering_limit;
    k[MF_CAR_STEERING_RATE] = car->steering_rate;
    k[MF_CAR_STEERING_GAIN] = 1.0 / (car->steering_lag > 0.0 ? car->steering_lag : k[MF_CAR_STEP]);
    k[MF_CAR_UNDERSTEER] = model != MF_CAR_KINEMATIC && bend > 0.0 ? bend : 0.0;
    // Four fifths of what both axles can give.
    k[MF_CAR_CORNERING] = 0.8 * (car->front_d + car->rear_d) / car->mass;
    k[MF_CAR_ACCELERATION] = car->acceleration;
    k[MF_CAR_BRAKING] = car->braking;
    k[MF_CAR_SPEED_GAIN] = car->speed_gain;
    k[MF_CAR_SPEED_INTEGRAL] = car->speed_integral;
    k[MF_CAR_HOLD_SPEED] = 0.02 * car->braking; // what a fiftieth of a second of braking ends
    k[MF_CAR_LOOK_TIME] = car->look_ahead_time;
    k[MF_CAR_LOOK_LEAST] = car->look_ahead_least;
    k[MF_CAR_LOOK_MOST] = car->look_ahead_most;
    k[MF_CAR_STOP_DISTANCE] = car->stop_distance;
    k[MF_CAR_ARC_RADIUS] = k[MF_CAR_BASE] * cosine / sine;
}

void mf_car_plan_constants(mf_CarPlan *plan, const mf_Car *car, double step, double tick,
                           double gravity, double ground) {
    double *k = plan->constants_f64;
    k[MF_CAR_STEP] = step;
    k[MF_CAR_TICK] = tick;
    k[MF_CAR_GRAVITY] = gravity;
    k[MF_CAR_GROUND] = ground + car->height;
    plan->load_per_force = 1.0 / (car->mass * reference_gravity);
    fill_dynamics(k, car, plan->model);
    fill_loops(k, car, plan->model);
    for (int i = 0; i < MF_CAR_CONSTANTS; i++)
        plan->constants_f32[i] = (float)k[i];
}

// An explicit method follows a rate times step of 2; the slip's is largest where it is formed with
// the least speed, in the blend at its upper end.
mf_Status mf_car_check_step(const mf_Car *car, mf_CarModel model, double step, mf_Error *error) {
    if (car->steering_lag > 0.0 && car->steering_lag < step)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "car.steering_lag: %g, need 0 or at least the step, %g s", car->steering_lag,
                       step);
    if (model == MF_CAR_KINEMATIC)
        return MF_OK;
    bool blended = model == MF_CAR_BLENDED;
    double speed = blended ? car->blend_high : car->blend_low, most = 2.0 * speed / slip_rate(car);
    if (step > most)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "car.%s: %g, the tires need steps up to %g s at this speed, the step is %g",
                       blended ? "blend_high" : "blend_low", speed, most, step);
    return MF_OK;
}
