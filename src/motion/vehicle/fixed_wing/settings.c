// The settings of fixed-wing groups: defaults, names, turbulence of the book, and their check.
#include "motion/vehicle/fixed_wing/motion.h"

#include "math/scalar.h"

mf_FixedWingConfig mf_fixed_wing_config(void) {
    return (mf_FixedWingConfig){.struct_size = sizeof(mf_FixedWingConfig),
                                .command = MF_FIXED_WING_AUTOPILOT,
                                .integrator = MF_INTEGRATOR_RK4,
                                .control_interval = 10 * MF_MILLISECOND,
                                .gusts = mf_dryden(MF_TURBULENCE_NONE, 25.0),
                                .start_altitude = 100.0};
}

// Beard and McLain (2012), table 4.1.
mf_Dryden mf_dryden(mf_Turbulence turbulence, double airspeed) {
    bool low = turbulence == MF_TURBULENCE_LOW_LIGHT || turbulence == MF_TURBULENCE_LOW_MODERATE;
    mf_Dryden dryden = {.length = {533.0, 533.0, 533.0}, .airspeed = airspeed};
    double level = 0.0, upward = 0.0;
    if (low)
        mf_vec3_set(dryden.length, 200.0, 200.0, 50.0);
    if (turbulence == MF_TURBULENCE_LOW_LIGHT) {
        level = 1.06;
        upward = 0.7;
    } else if (turbulence == MF_TURBULENCE_LOW_MODERATE) {
        level = 2.12;
        upward = 1.4;
    } else if (turbulence == MF_TURBULENCE_MEDIUM_LIGHT) {
        level = upward = 1.5;
    } else if (turbulence == MF_TURBULENCE_MEDIUM_MODERATE) {
        level = upward = 3.0;
    }
    mf_vec3_set(dryden.intensity, level, level, upward);
    return dryden;
}

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_gusts(const mf_Dryden *gusts, mf_Error *error) {
    for (int i = 0; i < 3; i++) {
        MF_NEED(gusts->length[i] >= 1e-3 && gusts->length[i] <= 1e6, error,
                "gusts.length[%d]: %g, need 1e-3 .. 1e6 m", i, gusts->length[i]);
        MF_NEED(gusts->intensity[i] >= 0.0 && gusts->intensity[i] <= 100.0, error,
                "gusts.intensity[%d]: %g, need 0 .. 100 m/s", i, gusts->intensity[i]);
    }
    MF_NEED(gusts->airspeed >= 1e-3 && gusts->airspeed <= 1e3, error,
            "gusts.airspeed: %g, need 1e-3 .. 1e3 m/s", gusts->airspeed);
    return MF_OK;
}

mf_Status mf_wing_check_settings(const mf_FixedWingConfig *s, mf_Time step, mf_Error *error) {
    MF_NEED(s->struct_size == sizeof *s, error,
            "fixed_wing: start settings from mf_motions_config()");
    MF_NEED((unsigned)s->command <= MF_FIXED_WING_ORBIT, error,
            "fixed_wing: command %d, need surfaces, autopilot or orbit", (int)s->command);
    MF_NEED((unsigned)s->integrator <= MF_INTEGRATOR_RK4, error,
            "fixed_wing: integrator %d, need euler, semi_implicit, heun or rk4",
            (int)s->integrator);
    MF_NEED((unsigned)s->turbulence <= MF_TURBULENCE_MEDIUM_MODERATE, error,
            "fixed_wing: turbulence %d is unknown", (int)s->turbulence);
    if (s->control_interval < 0 || s->control_interval > 10 * MF_SECOND ||
        s->control_interval % step != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "fixed_wing: control_interval %lld ns, need a multiple of the step, %lld "
                       "ns, up to 10 s",
                       (long long)s->control_interval, (long long)step);
    MF_NEED(s->start_airspeed >= 0.0 && s->start_airspeed <= 1e3, error,
            "fixed_wing: start_airspeed %g, need 0 .. 1e3 m/s", s->start_airspeed);
    MF_NEED(mf_abs(s->start_altitude) <= 1e5, error, "fixed_wing: start_altitude %g, need +-1e5 m",
            s->start_altitude);
    return check_gusts(&s->gusts, error);
}
