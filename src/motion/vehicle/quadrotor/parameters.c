// Parameters of a quadrotor: defaults, checks, body, and hover speeds.
#include "math/scalar.h"
#include "base/floats.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "motion/vehicle/body.h"
#include "motion/vehicle/keys.h"

#include <stddef.h>

mf_Quadrotor mf_quadrotor(void) {
    // Sun et al. 2022, "A comparative study of nonlinear MPC and differential-flatness-based
    // control for quadrotor agile flight"; numbers of the published agilicious configuration.
    return (mf_Quadrotor){.struct_size = sizeof(mf_Quadrotor),
                          .mass = 0.752,
                          .inertia = {2.5e-3, 2.1e-3, 4.3e-3, 0, 0, 0},
                          .radius = 0.2,
                          .clearance = 0.05,
                          .rotor_x = {0.075, -0.075, -0.075, 0.075},
                          .rotor_y = {0.1, 0.1, -0.1, -0.1},
                          .rotor_direction = {-1, 1, -1, 1},
                          .rotor_speed_min = 0.0,
                          .rotor_speed_max = 2000.0,
                          .thrust_coefficient = 1.562522e-6,
                          .torque_coefficient = 2.5e-8,
                          .motor_time_constant = 0.033,
                          .rate_bandwidth = 20.0,
                          .yaw_rate_bandwidth = 8.0,
                          .rate_integral = 1.0,
                          .rate_lead = 0.0,
                          .attitude_bandwidth = 7.0,
                          .yaw_bandwidth = 2.5,
                          .velocity_bandwidth = 2.5,
                          .velocity_integral = 0.3,
                          .position_bandwidth = 1.0,
                          .rate_max = 10.0,
                          .yaw_rate_max = 3.0,
                          .tilt_max = 0.6,
                          .speed_max = 8.0,
                          .climb_max = 3.0};
}

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_rotors(const mf_Quadrotor *p, mf_Error *error) {
    double matrix[16], inverse[16];
    for (int i = 0; i < 4; i++)
        if (p->rotor_direction[i] != 1.0 && p->rotor_direction[i] != -1.0)
            return mf_fail(error, MF_BAD_ARGUMENT, "quadrotor.rotor_direction: %g, need +1 or -1",
                           p->rotor_direction[i]);
    MF_NEED(p->rotor_speed_max > p->rotor_speed_min, error,
            "quadrotor.rotor_speed_max: %g, need more than rotor_speed_min, %g rad/s",
            p->rotor_speed_max, p->rotor_speed_min);
    if (p->rate_lead != 0.0 && p->rate_lead < 1.0)
        return mf_fail(error, MF_BAD_ARGUMENT, "quadrotor.rate_lead: %g, need 0 or 1 .. 100",
                       p->rate_lead);
    MF_NEED(mf_quadrotor_allocation(p, matrix, inverse), error,
            "quadrotor.rotor_x: these positions and directions of rotation (rotor_x, "
            "rotor_y, rotor_direction) do not give thrust, roll, pitch and yaw "
            "independently: the allocation matrix cannot be inverted");
    for (int i = 0; i < 4; i++)
        if (!(inverse[4 * i] > 0.0))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "quadrotor.rotor_x: the center of mass is not between the rotors, "
                           "rotor %d would have to pull down",
                           i + 1);
    return MF_OK;
}

mf_Status mf_quadrotor_check(const mf_Quadrotor *quadrotor, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (quadrotor == NULL || quadrotor->struct_size != sizeof *quadrotor)
        return mf_fail(error, MF_BAD_ARGUMENT, "quadrotor: start from mf_motions_config()");
    MF_TRY(mf_vehicle_check_ranges(MF_VEHICLE_QUADROTOR, quadrotor, error));
    MF_TRY(mf_vehicle_check_inertia("quadrotor.inertia", quadrotor->inertia, error));
    return check_rotors(quadrotor, error);
}

// ---- body and balance ---------------------------------------------------------------------------

mf_Status mf_quadrotor_model(mf_Context *context, const mf_Quadrotor *quadrotor, const char *name,
                             mf_Model **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && quadrotor != NULL, error, "quadrotor: context or quadrotor is NULL");
    *out = NULL;
    MF_TRY(mf_quadrotor_check(quadrotor, error));
    mf_VehicleBody body = {.name = name,
                           .mass = quadrotor->mass,
                           .radius = quadrotor->radius,
                           .clearance = quadrotor->clearance};
    memcpy(body.inertia, quadrotor->inertia, sizeof body.inertia);
    return mf_vehicle_model(context, &body, out, error);
}

void mf_quadrotor_hover(const mf_Quadrotor *quadrotor, double gravity, double speed[4]) {
    if (quadrotor == NULL)
        return;
    double matrix[16], inverse[16];
    bool invertible = mf_quadrotor_allocation(quadrotor, matrix, inverse);
    for (int i = 0; i < 4; i++)
        speed[i] = invertible ? mf_sqrt(inverse[4 * i] * gravity) : 0.0;
}
