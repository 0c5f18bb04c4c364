// State of robots at one moment: heights, speed, tilt, energy and load on the ground.
#pragma once

#include "app.h"

typedef struct mf_Moment {
    double height;             // [m] of the base's origin
    double center;             // [m] height of the center of mass
    double speed;              // [m/s] of the center of mass
    double tilt;               // [rad] between the base's z axis and the vertical
    double kinetic, potential; // [J]
    double load;               // [1] ground load over weight
} mf_Moment;

// [kg] of the model, or of the vertices that the robot has now.
double mf_moment_mass(mf_Group *group, uint32_t robot);
mf_Moment mf_moment_of(mf_Group *group, uint32_t robot);
// Mean over the robots without a fault, `*alive` of them, as far as mf_outcome_requested goes.
mf_Moment mf_moment_mean(mf_Group *group, uint32_t *alive);

// [1] Sum of a value of the scene's own, the field value.NAME, over the robots of the group.
double mf_moment_value(mf_Group *group, const char *name);

// The base is fixed to the world, so these values are not available.
bool mf_moment_is_kept(const mf_Group *group);

// A table of moments of the first robot.
void mf_moment_print_head(void);
void mf_moment_print(mf_Group *group, double time);
