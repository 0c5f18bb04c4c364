// Initial state of a fixed-wing aircraft: the trim of its start airspeed, with commands that
// continue this flight and an autopilot whose integrals have their steady values.
#include "motion/vehicle/fixed_wing/motion.h"
#include "world/attach.h"

#include "math/scalar.h"

// Turns the agent into trimmed flight along the heading it has, unless it moves already.
static void start_flight(const mf_WingMotion *motion, uint32_t instance, double velocity[3]) {
    const mf_FixedWingTrim *trim = &motion->start;
    double heading[4], pose[4], wind[3], rotation[4], sine, cosine;
    static const double along[3] = {1.0, 0.0, 0.0}, left[3] = {0.0, 1.0, 0.0};
    static const double up[3] = {0.0, 0.0, 1.0};
    mf_field_read(motion->rows[MF_WING_ROW_LINEAR], instance, 0, 3, velocity);
    if (velocity[0] != 0.0 || velocity[1] != 0.0 || velocity[2] != 0.0)
        return;
    mf_field_read(motion->rows[MF_WING_ROW_ORIENTATION], instance, 0, 4, heading);
    mf_field_read(motion->rows[MF_WING_ROW_WIND], instance, 0, 3, wind);
    mf_quat_from_axis_angle(pose, left, -trim->pitch);
    mf_quat_from_axis_angle(rotation, along, trim->roll);
    mf_quat_multiply(pose, pose, rotation);
    mf_sin_cos(trim->alpha, &sine, &cosine);
    mf_vec3_set(velocity, cosine, 0.0, -sine);
    mf_quat_rotate(velocity, pose, velocity);
    // A little bank turns the path out of the heading; the path is what counts.
    mf_quat_from_axis_angle(rotation, up, -mf_atan2(velocity[1], velocity[0]));
    mf_quat_multiply(rotation, heading, rotation);
    mf_quat_multiply(pose, rotation, pose);
    mf_quat_rotate(velocity, rotation, velocity);
    for (int i = 0; i < 3; i++)
        velocity[i] = velocity[i] * motion->config.start_airspeed + wind[i];
    mf_field_write(motion->rows[MF_WING_ROW_ORIENTATION], instance, 0, 4, pose);
    mf_field_write(motion->rows[MF_WING_ROW_LINEAR], instance, 0, 3, velocity);
}

// Commands that hold what the agent does at its start.
static void start_commands(const mf_WingMotion *motion, uint32_t instance, const double position[3],
                           const double velocity[3]) {
    const mf_FixedWingTrim *trim = &motion->start;
    double speed = mf_sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]);
    const double airspeed = mf_clamp(motion->config.start_airspeed, motion->parameters.airspeed_min,
                                     motion->parameters.airspeed_max);
    const double radius = 200.0, reach = speed > 0.0 ? radius / speed : 0.0;
    const double values[3][MF_WING_COMMANDS] = {
        {trim->elevator, trim->aileron, trim->rudder, trim->throttle, 0.0},
        {airspeed, position[2], mf_atan2(velocity[1], velocity[0]), 0.0, 0.0},
        {airspeed, position[2], position[0] - velocity[1] * reach,
         position[1] + velocity[0] * reach, radius}};
    const double *command = values[motion->config.command];
    for (uint32_t i = 0; i < motion->plan->command_count; i++)
        mf_field_set(motion->commands[i], instance, motion->command_component[i], command[i]);
    mf_field_write(motion->rows[MF_WING_ROW_ACCEPTED], instance, 0, motion->plan->command_count,
                   command);
}

// Integrals with which the autopilot's outputs are the trim of the start.
static void start_memory(const mf_WingMotion *motion, uint32_t instance) {
    const double *c = motion->plan->constants_f64;
    const mf_FixedWingTrim *trim = &motion->start;
    double memory[MF_WING_MEMORIES] = {0.0};
    if (motion->config.command != MF_FIXED_WING_SURFACES) {
        memory[0] = trim->roll + (trim->aileron - c[MF_WING_TRIM_AILERON]) / c[MF_WING_GAIN_ROLL];
        memory[1] = trim->pitch - c[MF_WING_TRIM_PITCH] +
                    (trim->elevator - c[MF_WING_TRIM_ELEVATOR]) / c[MF_WING_GAIN_PITCH];
        memory[2] = trim->throttle - c[MF_WING_TRIM_THROTTLE];
    }
    mf_field_write(motion->rows[MF_WING_ROW_MEMORY], instance, 0, MF_WING_MEMORIES, memory);
}

void mf_wing_start(const mf_WingMotion *motion, uint32_t instance) {
    const mf_FixedWingTrim *trim = &motion->start;
    double position[3], velocity[3];
    mf_field_read(motion->rows[MF_WING_ROW_POSITION], instance, 0, 3, position);
    if (position[2] < motion->config.start_altitude)
        position[2] = motion->config.start_altitude;
    mf_field_set(motion->rows[MF_WING_ROW_POSITION], instance, 2, position[2]);
    start_flight(motion, instance, velocity);
    start_commands(motion, instance, position, velocity);
    start_memory(motion, instance);
    const double surface[3] = {trim->elevator, trim->aileron, trim->rudder};
    mf_field_write(motion->rows[MF_WING_ROW_SURFACE], instance, 0, 3, surface);
    mf_field_set(motion->rows[MF_WING_ROW_THROTTLE], instance, 0, trim->throttle);
    mf_field_set(motion->rows[MF_WING_ROW_REFUSED], instance, 0, 0.0);
    mf_field_set(motion->rows[MF_WING_ROW_SPEED], instance, 0, motion->config.start_airspeed);
    mf_field_set(motion->rows[MF_WING_ROW_ALPHA], instance, 0, trim->alpha);
    mf_field_set(motion->rows[MF_WING_ROW_BETA], instance, 0, 0.0);
    for (int i = MF_WING_ROW_GUST_STATE; motion->plan->gusty && i <= MF_WING_ROW_GUST; i++)
        mf_field_clear(motion->rows[i], instance);
}
