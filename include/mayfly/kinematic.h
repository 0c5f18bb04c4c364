// Mayfly: the `kinematic` motion: standing feet do not move, the pose of the base follows by
// kinematics. No forces, no masses; it cannot fall. docs/explanation/kinematic.md has the method
// and its limits.
#pragma once

#include <mayfly/articulated.h>

// The motion `kinematic`: hinges and slides track joint.target exactly, within their range; other
// joints are constant. Adds the fields contact.load (the weight, distributed evenly over the
// standing contacts), stance.holds, stance.anchor and one system, and the state of ball and
// floating joints if the model has any. MF_UNSUPPORTED: the model has no feet. MF_NOT_FOUND: it has
// no link of a name in `feet`. MF_LIMIT: as of `articulated`. MF_BAD_ARGUMENT: a setting.
typedef struct mf_KinematicConfig {
    uint32_t struct_size; // [byte] set by mf_motions_config()
    // Names of the links of the model that can stand, ended by NULL; copied. NULL (the default):
    // links that move against the base and have a contact that lies, in the start position, at most
    // a twentieth of the robot's height above its lowest.
    const char *const *feet;
    mf_ArticulatedBase base; // as in mf_ArticulatedConfig; a fixed base needs no feet
    bool shapes;             // contacts as in mf_ArticulatedConfig, which must agree in one group;
                             // spheres and capsules do not roll; default false
    double margin;           // [m] 0 .. 0.1; contacts up to this height above the lowest stand,
                             // too; default 1e-9, at least the rounding error
    double settle_height;    // [m] >= 0; a robot that stands on less than three corners sinks onto
                             // contacts that are at most so much higher; default NAN: an eighth of
    // the robot's height when its feet have soles (three contacts or more),
    // else a fiftieth; 0: it keeps its attitude
    double settle_time; // [s] >= 0, in which it does by 63 %; default 0: 0.005 with soles, else
                        // 0.02
} mf_KinematicConfig;

// Horizontal distance [m] of the center of mass to the border of the polygon of the standing
// contacts: positive inside (McGhee and Frank 1968, the static stability margin), negative outside;
// -INFINITY if none stands. NAN: no memory.
MF_API double mf_kinematic_static_margin(const mf_Group *group, uint32_t instance);
