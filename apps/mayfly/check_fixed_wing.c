// Check cases of fixed-wing aircraft: trim, coordinated turn, phugoid, independence in a swarm.
#include <math.h>
#include <mayfly/fixed_wing.h>

#include "check.h"

static void open_aircraft(mf_CheckRun *run, const mf_FixedWing *aircraft,
                          mf_FixedWingCommand command, uint32_t count, bool double_precision) {
    mf_RigConfig config = mf_rig_config_of(MF_MOTION_FIXED_WING, mf_world_config().step);
    config.motions.fixed_wing = *aircraft;
    config.motions.fixed_wing_config.command = command;
    config.group.count = count;
    config.group.double_precision = double_precision;
    mf_rig_open_motion(run, &config);
}

// G5. The equations of Beard and McLain (2012) with the Aerosonde of mavsim, solved independently;
// mavsim's own files say -0.1248 and 0.6768 for the elevator and throttle at g = 9.8.
static void check_trim(mf_CheckRun *run) {
    static const struct {
        const char *name;
        double gravity, alpha, elevator, throttle;
    } rows[] = {{"g 9.8", 9.8, 0.0500110, -0.1247780, 0.6767534},
                {"g 9.81", 9.81, 0.0501070, -0.1250436, 0.6767758}};
    const mf_FixedWing aircraft = mf_motions_config().fixed_wing;
    mf_FixedWingTrim trim;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mf_check_must(run, mf_fixed_wing_trim(&aircraft, 25.0, 0.0, 0.0, rows[i].gravity, &trim,
                                              &run->error));
        mf_check_near(run, mf_check_name(run, "%s: angle of attack [rad]", rows[i].name),
                      rows[i].alpha, trim.alpha, 1e-7);
        mf_check_near(run, mf_check_name(run, "%s: elevator [rad]", rows[i].name), rows[i].elevator,
                      trim.elevator, 1e-7);
        mf_check_near(run, mf_check_name(run, "%s: throttle [1]", rows[i].name), rows[i].throttle,
                      trim.throttle, 1e-7);
        mf_check_below(run, mf_check_name(run, "%s: residual acceleration [g]", rows[i].name),
                       1e-12, trim.residual);
    }
    // For a minute it stays in trim.
    open_aircraft(run, &aircraft, MF_FIXED_WING_SURFACES, 1, true);
    mf_rig_step(run, 6000);
    const mf_Field *position = mf_group_find_field(run->rig.group, "base.position");
    mf_check_near(run, "altitude after 60 s, fixed control surfaces [m]", 100.0,
                  mf_field_get(position, 0, 2), 1e-4);
    mf_check_near(run, "path in 60 s at 25 m/s [m]", 1500.0, mf_field_get(position, 0, 0), 1e-3);
}

// G6. g tan(30 degrees) / V and the radius that belongs to it, for a lift in the plane of symmetry
// and no other side force: that of the surfaces is removed. The remaining difference is the angle
// of attack between body axis and path.
static void check_curve(mf_CheckRun *run) {
    mf_FixedWing aircraft = mf_motions_config().fixed_wing;
    mf_FixedWingTrim trim;
    aircraft.side_aileron = aircraft.side_rudder = 0.0;
    mf_check_must(run,
                  mf_fixed_wing_trim(&aircraft, 25.0, 0.0, 110.3498, 9.81, &trim, &run->error));
    double rate = sqrt(trim.rate[0] * trim.rate[0] + trim.rate[1] * trim.rate[1] +
                       trim.rate[2] * trim.rate[2]);
    mf_check_near(run, "turn rate on a radius of 110.3498 m [rad/s]", 0.2265522, rate, 1e-7);
    mf_check_near(run, "bank to the left [degree]", 30.0, -trim.roll * 57.29577951308232, 0.06);
}

// G7. Lanchester's phugoid, pi sqrt(2) V / g: an approximation, so 15 %. It takes the thrust as
// constant; the propeller's coefficients of the advance ratio are set to 0.
static void check_phugoid(mf_CheckRun *run) {
    mf_FixedWing aircraft = mf_motions_config().fixed_wing;
    for (int i = 1; i < 3; i++)
        aircraft.propeller_thrust[i] = aircraft.propeller_torque[i] = 0.0;
    open_aircraft(run, &aircraft, MF_FIXED_WING_SURFACES, 1, true);
    mf_Field *velocity = mf_group_find_field(run->rig.group, "base.linear_velocity");
    mf_field_set(velocity, 0, 0, 25.2);
    double first = 0.0, last = 0.0, before = 0.0;
    int periods = -1; // the first crossing after three seconds starts the clock
    for (int i = 1; i <= 6000 && periods < 3; i++) {
        mf_rig_step(run, 1);
        double climb = mf_field_get(velocity, 0, 2);
        if (i > 300 && before > 0.0 && climb <= 0.0) {
            last = 0.01 * (i - 1 + before / (before - climb));
            first = periods < 0 ? last : first;
            periods++;
        }
        before = climb;
    }
    mf_check_near(run, "period at 25 m/s [s]", 11.3223, (last - first) / periods, 0.15 * 11.3223);
}

// G15. The same aircraft in batches of 1, 8 and 10,000.
static void check_swarm(mf_CheckRun *run) {
    static const uint32_t counts[] = {1, 8, 10000}, indices[] = {0, 5, 9871};
    const mf_FixedWing aircraft = mf_motions_config().fixed_wing;
    for (int precision = 0; precision < 2; precision++) {
        uint64_t hash[3];
        for (int i = 0; i < 3; i++) {
            open_aircraft(run, &aircraft, MF_FIXED_WING_ORBIT, counts[i], precision != 0);
            mf_Field *speed = mf_group_find_field(run->rig.group, "command.airspeed");
            mf_Field *radius = mf_group_find_field(run->rig.group, "command.radius");
            for (uint32_t k = 0; k < counts[i]; k++)
                mf_field_set(speed, k, 0, 20.0 + 0.1 * (k % 100));
            mf_field_set(speed, indices[i], 0, 31.0);
            mf_field_set(radius, indices[i], 0, -170.0);
            mf_rig_step(run, 200);
            hash[i] = mf_group_instance_hash(run->rig.group, indices[i]);
        }
        mf_check_bits(run, precision ? "one of 8, double" : "one of 8, float", hash[0], hash[1]);
        mf_check_bits(run, precision ? "one of 10,000, double" : "one of 10,000, float", hash[0],
                      hash[2]);
    }
}

const mf_CheckCase mf_check_fixed_wing_cases[] = {
    {"G5", "trim of the Aerosonde", check_trim},
    {"G6", "coordinated turn", check_curve},
    {"G7", "phugoid", check_phugoid},
    {"G15-fixed-wing", "a single aircraft is the same as in a swarm", check_swarm},
    {NULL, NULL, NULL}};
