// Mayfly: motions. The levels for robots with links and joints, from low to high cost, share their
// state (base and joints), so a robot can change level while it runs; each vehicle has its own
// motion. docs/explanation/ladder.md says what each level can show, and how far they differ.
#ifndef MAYFLY_MOTION_H
#define MAYFLY_MOTION_H

#include <mayfly/articulated.h>
#include <mayfly/car.h>
#include <mayfly/external.h>
#include <mayfly/fixed_wing.h>
#include <mayfly/kinematic.h>
#include <mayfly/points.h>
#include <mayfly/prescribed.h>
#include <mayfly/quadrotor.h>
#include <mayfly/rigid.h>
#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_Motion {
    MF_MOTION_KINEMATIC,   // the standing feet stay where they are; no forces
    MF_MOTION_POINTS,      // one rigid body of mass points, feet fitted to the ground
    MF_MOTION_RIGID,       // one rigid body with the mass and inertia of the present angles
    MF_MOTION_PRESCRIBED,  // joints go as they are told, the base answers by full dynamics
    MF_MOTION_ARTICULATED, // full multibody dynamics, joints moved by torques
    MF_MOTION_LEVELS,      // number of those above: of links and joints, to switch among
    MF_MOTION_QUADROTOR = MF_MOTION_LEVELS, // four rotors on one rigid body
    MF_MOTION_FIXED_WING,                   // an aircraft with an autopilot
    MF_MOTION_CAR,                          // a single-track car
    MF_MOTION_EXTERNAL,                     // moved from outside; pushes and is not pushed
    MF_MOTION_COUNT,
    MF_MOTION_OWN = 16, // from a shared library (plugin.h), and those after it for further ones
    MF_MOTION_OWN_LAST = 31
} mf_Motion;

// "kinematic", "points", "rigid", "prescribed", "articulated", "quadrotor", "fixed_wing", "car",
// "external"; "own", "own2" .. "own16".
MF_API const char *mf_motion_name(mf_Motion motion);
// The motion of that name; false when there is none.
MF_API bool mf_motion_find(const char *name, mf_Motion *out);

// Whether robots of `model` can move by `motion`, with its settings as they come. MF_UNSUPPORTED
// names the reason (no feet for `kinematic`, no mass or a held base for `points`, ...) and the
// motions that the model can move by. MF_NO_MEMORY.
MF_API mf_Status mf_motion_check(const mf_Model *model, mf_Motion motion, mf_Error *error);

// What `motion` leaves out of a model: one sentence of at most MF_MOTION_NOTE bytes into `text` for
// each index from 0 on, about what the model has, with the settings that mayfly run would choose;
// false behind the last.
enum { MF_MOTION_NOTE = 320 };
MF_API bool mf_motion_note(const mf_Model *model, mf_Motion motion, uint32_t index, char *text);
// The same of a group's model, for all motions that it can move by, with the settings in use.
MF_API bool mf_motion_group_note(const mf_Group *group, uint32_t index, char *text);

// ---- settings of all motions -------------------------------------------------------------------

// Whether a robot can touch the ground of its world: what `contacts` of its motions should be. It
// must have colliding shapes (or none at all: then its points touch). In a file without level plane
// or height field only a free robot does, where the world was given a ground (`given`) or the
// file's world has no colliding shape of its own. NULL: false.
MF_API bool mf_model_meets_ground(const mf_Model *model, bool given);
// The same for the robots of a group and the ground of its world. NULL: false.
MF_API bool mf_group_meets_ground(const mf_Group *group);

typedef struct mf_MotionsConfig {
    uint32_t struct_size;         // [byte] set by mf_motions_config()
    mf_Motion start;              // by which robots start; default MF_MOTION_ARTICULATED;
                                  // MF_MOTION_OWN: by the plugin that is added next
    bool has[MF_MOTION_LEVELS];   // motions that robots can switch to; `start` is one of them in
                                  // any case; default: no others
    mf_KinematicConfig kinematic; // settings of those that take part
    mf_PointsConfig points;
    mf_RigidConfig rigid;
    mf_PrescribedConfig prescribed;
    mf_ArticulatedConfig articulated;
    mf_Quadrotor quadrotor; // vehicles: what they are, and their settings
    mf_QuadrotorSettings quadrotor_settings;
    mf_FixedWing fixed_wing;
    mf_FixedWingSettings fixed_wing_settings;
    mf_Car car;
    mf_CarSettings car_settings;
    mf_ExternalConfig external;
} mf_MotionsConfig;
MF_API mf_MotionsConfig mf_motions_config(void);

// What motions have in common, set in each that has it: whether whole shapes meet the ground and
// not some points of them (all but `points`), how often [ns] joints are told where to be (points,
// rigid, prescribed), whether the ground is met at all and joints have limits (rigid, prescribed,
// articulated), friction [1] with the ground (those and points).
MF_API void mf_motions_set_shapes(mf_MotionsConfig *config, bool shapes);
MF_API void mf_motions_set_control(mf_MotionsConfig *config, mf_Time interval);
MF_API void mf_motions_set_contacts(mf_MotionsConfig *config, bool contacts);
MF_API void mf_motions_set_limits(mf_MotionsConfig *config, bool limits);
MF_API void mf_motions_set_friction(mf_MotionsConfig *config, double friction);

// Lets `group` move by `motion` alone, with its settings in `config`, of which `start` and `has`
// are not asked; NULL: as they come. The same as mf_points_add, mf_rigid_add and so on, for a
// motion that is known at run time only. MF_UNSUPPORTED: as mf_motion_check. MF_LIMIT: the robot is
// too large; the group is as before. MF_BAD_ARGUMENT: no motion of this library, a setting, a model
// that is not the vehicle's body, or the group moves by something already.
MF_API mf_Status mf_motion_add(mf_Group *group, mf_Motion motion, const mf_MotionsConfig *config,
                               mf_Error *error);

// ---- several motions in one group --------------------------------------------------------------

// Lets each robot of `group` move by one of several motions: adds the field motion.level (an
// mf_Motion per robot, part of the state) and all motions of `config`. A reset puts a robot back to
// `start`. MF_UNSUPPORTED: as mf_motion_check, or `start` is a vehicle's. MF_BAD_ARGUMENT: the
// group moves by something already, or settings of two motions make different contacts. After a
// failure the group must not be used.
MF_API mf_Status mf_motions_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error);

// By which motion an instance moves; MF_MOTION_COUNT when the group has none of them.
MF_API mf_Motion mf_motion_of(const mf_Group *group, uint32_t instance);
// Whether the group moves, or can, by `motion`.
MF_API bool mf_motion_in(const mf_Group *group, mf_Motion motion);

// Whether a joint follows joint.target under every motion of the group. All but `articulated` move
// hinges and slides as they are told. There it takes a servo of the joint's own, or an actuator of
// the model that controls positions, whose control is then computed from the target: from the first
// step on where a controller of the group (a gait, a network, a plugin) writes joint.target, and
// otherwise from the step at which it changes; until then, and where nobody changes it,
// actuator.control holds what was written there. mf_group_set_state is no command.
// MF_UNSUPPORTED: the joint does not follow, with the reason. MF_BAD_ARGUMENT: no such joint.
MF_API mf_Status mf_motion_follows(const mf_Group *group, uint32_t joint, mf_Error *error);

// Lets an instance move by `to` from the next step on. Only between steps. The pose of the base and
// the joints' angles and rates stay to the bit. Among dynamic motions linear momentum and angular
// momentum about the centre of mass stay, as each counts them: the base's twist gives way. To
// `kinematic` the base stops; from it the base goes on as it moves. Memories of contacts and joint
// paths begin anew; contact.load is 0 until the next step. A robot that a fault froze keeps its
// twist. To and from a plugin's motion the twist stays; entering it begins its own fields anew and
// calls its reset. Never allocates. MF_BAD_ARGUMENT, with the motions that there are: the group
// does not move by `to`; or there is no such instance.
MF_API mf_Status mf_motion_switch(mf_Group *group, uint32_t instance, mf_Motion to,
                                  mf_Error *error);

// ---- momentum and energy as the present motion of an instance counts them ----------------------

// Centre of mass [m], linear momentum [kg m/s] and angular momentum about the centre [kg m^2/s],
// world frame. `kinematic` knows no momentum: 0; nor do `external` and a plugin's, for whose centre
// the base's origin stands. The group moves by one of the motions.
MF_API void mf_motion_momentum(const mf_Group *group, uint32_t instance, double center[3],
                               double linear[3], double angular[3]);

typedef struct mf_MotionEnergy {
    double kinetic;   // [J]
    double potential; // [J] m g z (z against gravity) of what has mass, zero at the world's origin
    double elastic;   // [J] in springs of joints, and of contacts where the motion has them
} mf_MotionEnergy;
MF_API mf_MotionEnergy mf_motion_energy(const mf_Group *group, uint32_t instance);

#ifdef __cplusplus
}
#endif
#endif
