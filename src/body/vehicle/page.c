// The page that describes a vehicle's performance, computed from its parameters.
#include "base/text.h"
#include "base/floats.h"

#include "body/kind.h"

#include <math.h>

static double square(double x) {
    return x * x;
}

static void describe_quadrotor(mf_Text *text, const mf_Quadrotor *p, double gravity) {
    double speed[4], weight = p->mass * gravity;
    double most = 4.0 * p->thrust_coefficient * square(p->rotor_speed_max);
    mf_quadrotor_hover(p, gravity, speed);
    mf_text_format(text,
                   "mass            %.6g kg\n"
                   "inertia         %.4g, %.4g, %.4g kg m^2\n"
                   "thrust/weight   %.4f (%.4g N of %.4g N)\n"
                   "hover           %.4f, %.4f, %.4f, %.4f rad/s of %.6g rad/s\n"
                   "motor lag       %.4g s\n"
                   "command modes   rotors, rates, attitude, velocity, position\n",
                   p->mass, p->inertia[0], p->inertia[1], p->inertia[2], most / weight, most,
                   weight, speed[0], speed[1], speed[2], speed[3], p->rotor_speed_max,
                   p->motor_time_constant);
}

static void describe_fixed_wing(mf_Text *text, const mf_FixedWing *p, double gravity) {
    mf_FixedWingTrim trim;
    mf_text_format(text,
                   "mass            %.6g kg\n"
                   "wing            %.4g m^2, span %.4g m, loading %.4g N/m^2\n"
                   "drag            %s\n"
                   "airspeed        %.4g .. %.4g m/s, designed for %.4g m/s\n",
                   p->mass, p->wing_area, p->wing_span, p->mass * gravity / p->wing_area,
                   p->drag == MF_DRAG_POLAR ? "polar (with the square of lift)"
                                            : "linear in the angle of attack",
                   p->airspeed_min, p->airspeed_max, p->airspeed_design);
    if (mf_fixed_wing_trim(p, p->airspeed_design, 0.0, INFINITY, gravity, &trim, NULL) == MF_OK)
        mf_text_format(text,
                       "trim            level at %.4g m/s: angle of attack %.6f rad, elevator %.6f "
                       "rad, throttle %.6f, thrust %.4g N\n",
                       p->airspeed_design, trim.alpha, trim.elevator, trim.throttle, trim.thrust);
    else
        mf_text_put(text, "trim            none: it cannot fly level at its design airspeed\n");
    double radius = square(p->airspeed_design) / (gravity * tan(p->roll_limit));
    mf_text_format(text,
                   "turn            radius %.4g m at %.4g rad of roll\n"
                   "command modes   surfaces, autopilot, orbit\n",
                   radius, p->roll_limit);
}

// Where the motor's force at full duty equals rolling and air resistance.
static double top_speed(const mf_Car *p) {
    double force = p->motor - p->rolling;
    if (!(force > 0.0))
        return 0.0;
    if (!(p->drag > 0.0))
        return p->motor_slope > 0.0 ? force / p->motor_slope : INFINITY;
    // The root of drag v^2 + slope v - force, without cancellation.
    double root = sqrt(square(p->motor_slope) + 4.0 * p->drag * force);
    return 2.0 * force / (p->motor_slope + root);
}

static void describe_car(mf_Text *text, const mf_Car *p, double gravity) {
    double length = p->front + p->rear, weight = p->mass * gravity;
    mf_text_format(text,
                   "mass            %.6g kg, turning inertia %.6g kg m^2\n"
                   "wheelbase       %.4g m, %.3g %% of the weight in front\n"
                   "grip            %.4g of the weight in front, %.4g behind\n"
                   "top speed       %.8g m/s at full duty, commanded up to %.6g m/s\n"
                   "tightest turn   radius %.4g m\n"
                   "command modes   drive, speed, circle, line, path, waypoint\n",
                   p->mass, p->yaw_inertia, length, 100.0 * p->rear / length,
                   p->front_d / (weight * p->rear / length),
                   p->rear_d / (weight * p->front / length), top_speed(p), p->speed_limit,
                   length / tan(p->steering_limit));
}

mf_Status mf_vehicle_describe(const mf_Vehicle *vehicle, double gravity, char **text,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(text != NULL, error, "vehicle: text is NULL");
    *text = NULL;
    MF_NEED(vehicle != NULL && gravity > 0.0, error, "vehicle: vehicle is NULL or gravity not > 0");
    mf_Text page = mf_text_begin(vehicle->context);
    mf_text_format(&page, "%s, a %s (%s), gravity %g m/s^2\n\n", vehicle->name,
                   mf_vehicle_kind_name(vehicle->kind), vehicle->file, gravity);
    if (vehicle->kind == MF_VEHICLE_QUADROTOR)
        describe_quadrotor(&page, &vehicle->quadrotor, gravity);
    else if (vehicle->kind == MF_VEHICLE_FIXED_WING)
        describe_fixed_wing(&page, &vehicle->fixed_wing, gravity);
    else
        describe_car(&page, &vehicle->car, gravity);
    if (page.failed) {
        mf_text_free(&page);
        return mf_fail(error, MF_NO_MEMORY, "vehicle: out of memory");
    }
    *text = page.data;
    return MF_OK;
}
