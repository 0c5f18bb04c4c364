// Mayfly: the `kinematic` motion: feet that stand stay where they are, direct kinematics gives the
// rest. No forces, no masses; it cannot fall. docs/explanation/kinematic.md has the method and its
// limits.
#ifndef MAYFLY_KINEMATIC_H
#define MAYFLY_KINEMATIC_H

#include <mayfly/articulated.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mf_KinematicConfig {
    uint32_t struct_size; // [byte] set by mf_kinematic_config()
    // Names of the links of the model that can stand, ended by NULL; copied. NULL (the default):
    // links that move against the base and have a contact that lies, in the start position, at most
    // a twentieth of the robot's height above its lowest.
    const char *const *feet;
    mf_ArticulatedBase base; // as in mf_ArticulatedConfig; a base that is held needs no feet
    bool shapes;             // contacts as in mf_ArticulatedConfig, which must agree in one group;
                             // spheres and capsules do not roll; default false
    double margin;           // [m] 0 .. 0.1; contacts that are so much higher than the lowest stand
                             // too; default 1e-9, at least what is rounded
    double settle_height;    // [m] >= 0; a robot that stands on less than three corners sinks onto
                             // contacts that are at most so much higher; default NAN: an eighth of
    // the robot's height when its feet have soles (three contacts or more),
    // else a fiftieth; 0: it keeps its attitude
    double settle_time; // [s] >= 0, in which it does by 63 %; default 0: 0.005 with soles, else
                        // 0.02
} mf_KinematicConfig;
MF_API mf_KinematicConfig mf_kinematic_config(void);

// Lets `group` move by `kinematic`: angles of hinges and slides are where joint.target says, within
// their range; other joints stay as they are. Adds the fields contact.load (the weight, shared
// evenly among the contacts that stand), stance.holds, stance.anchor and one system, and the state
// of ball and floating joints where the model has some. `config` may be NULL. MF_UNSUPPORTED: the
// model has no feet. MF_NOT_FOUND: it has no link of a name in `feet`. MF_LIMIT: as
// mf_articulated_add. MF_BAD_ARGUMENT: a setting.
MF_API mf_Status mf_kinematic_add(mf_Group *group, const mf_KinematicConfig *config,
                                  mf_Error *error);

// The settings in use (`feet` is NULL), or NULL when the group does not move by `kinematic`.
MF_API const mf_KinematicConfig *mf_kinematic_settings(const mf_Group *group);

// Lets go of all anchors, after the state was written from outside: the feet stand anew where the
// next step finds them.
MF_API void mf_kinematic_refresh(mf_Group *group, uint32_t instance);

// The contacts that can stand, in the order of stance.holds: how many, and for each its row in
// contact.load and the link of the model that it belongs to (both may be NULL).
MF_API uint32_t mf_kinematic_foot_count(const mf_Group *group);
MF_API void mf_kinematic_foot(const mf_Group *group, uint32_t foot, uint32_t *row, uint32_t *link);

// Distance [m] of the centre of mass, seen from above, to the border of the polygon spanned by the
// contacts that stand: positive inside (McGhee and Frank 1968, the static stability margin),
// negative outside; -INFINITY when none stands.
MF_API double mf_kinematic_static_margin(const mf_Group *group, uint32_t instance);

// Centre of mass [m] of the links in their present places, world frame; the base's origin when the
// model has no mass.
MF_API void mf_kinematic_center(const mf_Group *group, uint32_t instance, double center[3]);

#ifdef __cplusplus
}
#endif
#endif
