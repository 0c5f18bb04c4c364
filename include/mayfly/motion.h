// Mayfly: motions. The levels for robots with links and joints, from low to high cost, share their
// state (base and joints), so a robot can switch its level during a run; each vehicle has its own
// motion. docs/explanation/ladder.md describes what each level models, and how much they differ.
#pragma once

#include <mayfly/articulated.h>
#include <mayfly/car.h>
#include <mayfly/cloth.h>
#include <mayfly/elastic.h>
#include <mayfly/external.h>
#include <mayfly/fixed_wing.h>
#include <mayfly/kinematic.h>
#include <mayfly/model_fields.h>
#include <mayfly/particles.h>
#include <mayfly/points.h>
#include <mayfly/prescribed.h>
#include <mayfly/quasistatic.h>
#include <mayfly/quadrotor.h>
#include <mayfly/rigid.h>
#include <mayfly/world.h>

typedef enum mf_Motion {
    MF_MOTION_KINEMATIC,   // standing feet do not move; no forces
    MF_MOTION_POINTS,      // one rigid body of mass points, feet fitted to the ground
    MF_MOTION_RIGID,       // one rigid body with the mass and inertia of the present angles
    MF_MOTION_PRESCRIBED,  // joints track the commanded motion exactly, the base moves by full
                           // dynamics
    MF_MOTION_ARTICULATED, // full multibody dynamics, joints moved by torques
    MF_MOTION_LEVELS,      // number of the levels above, among which robots can switch
    MF_MOTION_QUADROTOR = MF_MOTION_LEVELS, // four rotors on one rigid body
    MF_MOTION_FIXED_WING,                   // an aircraft with an autopilot
    MF_MOTION_CAR,                          // a single-track car
    MF_MOTION_EXTERNAL,                     // moved from outside; pushes and is not pushed
    MF_MOTION_QUASISTATIC,                  // a truss, each step a minimum of its energy
    MF_MOTION_ELASTIC,                      // a truss with inertia
    MF_MOTION_CLOTH,                        // cloth
    MF_MOTION_FLUID,                        // particles of a fluid
    MF_MOTION_GRAINS,                       // dry grains with friction
    MF_MOTION_DEBRIS,                       // spheres without contacts between them
    MF_MOTION_COUNT,
    MF_MOTION_OWN = 16, // of a shared library (plugin.h); further ones follow
    MF_MOTION_OWN_LAST = 31
} mf_Motion;

// "kinematic", "points", "rigid", "prescribed", "articulated", "quadrotor", "fixed_wing", "car",
// "external", "quasistatic", "elastic", "cloth", "fluid", "grains", "debris"; "own", "own2" ..
// "own16".
MF_API const char *mf_motion_name(mf_Motion motion);
// One line: what the motion does not model; "" for vehicles, particles and cloths.
MF_API const char *mf_motion_limitation(mf_Motion motion);
// The motion of that name; false if unknown.
MF_API bool mf_motion_find(const char *name, mf_Motion *out);

// Features of a model that `motion` ignores: one sentence of at most MF_MOTION_NOTE bytes into
// `text` for each index from 0 on, with the settings that mayfly run would choose; false after the
// last.
enum { MF_MOTION_NOTE = 320 };
MF_API bool mf_motion_note(const mf_Model *model, mf_Motion motion, uint32_t index, char *text);
// The same for a group's model, for all its motions, with the settings in use.
MF_API bool mf_motion_group_note(const mf_Group *group, uint32_t index, char *text);
// The end of a note that names no ignored feature: strict loading accepts it.
#define MF_MOTION_NOTE_GROUND "a level ground at height 0 is added"

// ---- settings of all motions -------------------------------------------------------------------

typedef struct mf_MotionsConfig {
    uint32_t struct_size;         // [byte] set by mf_motions_config()
    mf_Motion start;              // initial motion; default MF_MOTION_ARTICULATED; MF_MOTION_OWN:
                                  // that of the plugin that is added next
    bool has[MF_MOTION_COUNT];    // motions to which robots can switch; `start` is always one of
                                  // them; default: no others
    mf_KinematicConfig kinematic; // settings of the motions in use
    mf_PointsConfig points;
    mf_RigidConfig rigid;
    mf_PrescribedConfig prescribed;
    mf_ArticulatedConfig articulated;
    mf_Quadrotor quadrotor; // vehicles: parameters and settings
    mf_QuadrotorConfig quadrotor_config;
    mf_FixedWing fixed_wing;
    mf_FixedWingConfig fixed_wing_config;
    mf_Car car;
    mf_CarConfig car_config;
    mf_ExternalConfig external;
    mf_QuasistaticConfig quasistatic;
    mf_ElasticConfig elastic;
    mf_ClothConfig cloth;
    mf_FluidConfig fluid;
    mf_GrainsConfig grains;
    mf_DebrisConfig debris;
} mf_MotionsConfig;
// The defaults of mf_MotionsConfig: every configuration starts from them.
MF_API mf_MotionsConfig mf_motions_config(void);

// Common settings of motions, set in each that has it: whether whole shapes touch the ground
// instead of points (all but `points`), the control interval [ns] of joint targets (points, rigid,
// prescribed), whether joints have limits (rigid, prescribed, articulated), friction [1] with the
// ground (those and points).
MF_API void mf_motions_set_shapes(mf_MotionsConfig *config, bool shapes);
MF_API void mf_motions_set_control(mf_MotionsConfig *config, mf_Time interval);
MF_API void mf_motions_set_limits(mf_MotionsConfig *config, bool limits);
MF_API void mf_motions_set_friction(mf_MotionsConfig *config, double friction);

// Adds `motion` to `group` as its only motion, with its settings in `config`, whose `start` and
// `has` are ignored; NULL: defaults. What each motion adds and demands stands with its settings.
// MF_UNSUPPORTED: as mf_motion_check. MF_LIMIT: the robot is too large; the group does not change.
// MF_BAD_ARGUMENT: not a motion of this library, a setting, a model that is not the vehicle's body,
// or the group has a motion already.
MF_API mf_Status mf_motion_add(mf_Group *group, mf_Motion motion, const mf_MotionsConfig *config,
                               mf_Error *error);

// The model of what moves by `motion` with the parameters in `config` (NULL: defaults), for
// mf_GroupConfig.model: a quadrotor, an aircraft or a car of one link; `name` is copied. The caller
// destroys it. MF_BAD_ARGUMENT: a parameter is out of range, or what moves so comes from a file.
MF_API mf_Status mf_motion_model(mf_Context *context, mf_Motion motion,
                                 const mf_MotionsConfig *config, const char *name, mf_Model **out,
                                 mf_Error *error);

// ---- several motions in one group --------------------------------------------------------------

// Adds several motions to `group`, one active per robot: adds the field motion.level (an mf_Motion
// per robot, part of the state) and all motions of `config`. A reset sets a robot to `start`.
// MF_UNSUPPORTED: as mf_motion_check, or `start` is a vehicle's, or robots cannot switch from it to
// another of the motions: levels are for robots of links and joints, `quasistatic` and `elastic`
// for trusses. MF_BAD_ARGUMENT: the group has a motion already, or settings of two motions give
// different contacts. After a failure the group must not be used.
MF_API mf_Status mf_motions_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error);

// The motion of an instance; MF_MOTION_COUNT if the group has none.
MF_API mf_Motion mf_motion_of(const mf_Group *group, uint32_t instance);
// Whether the group has `motion`.
MF_API bool mf_motion_in(const mf_Group *group, mf_Motion motion);

// Switches an instance to the motion `to` from the next step on. Only between steps. The pose of
// the base and the joints' angles and rates are preserved to the bit. Among dynamic motions linear
// momentum and angular momentum about the center of mass, as each defines them, are preserved; the
// base's twist changes. To `kinematic` the base stops; from it the base continues with its
// velocity. Internal state of contacts and joint paths is reset; contact.load is 0 until the next
// step. Trusses keep positions, contacts and rest lengths; they begin `elastic` at rest. A robot
// that is frozen by a fault keeps its twist. To and from a plugin's motion the twist
// is preserved; entering it resets its own fields and calls its reset. Never allocates.
// MF_BAD_ARGUMENT, with the available motions: the group does not have `to`; or there is no such
// instance.
MF_API mf_Status mf_motion_switch(mf_Group *group, uint32_t instance, mf_Motion to,
                                  mf_Error *error);

// ---- robots that differ in numbers -------------------------------------------------------------

// Numbers of the model that robots have of their own.
typedef struct mf_ModelChange {
    mf_ItemType item;     // MF_ITEM_LINK, JOINT, SHAPE, ACTUATOR, or PHYSICS for "gravity"
    const char *field;    // of that table (mayfly/model_fields.h), of real numbers: "mass"
    uint32_t index;       // [1] of the item; MF_NONE: all of them
    uint32_t first;       // [1] component
    uint32_t count;       // [1] components from there on, at least 1
    const double *values; // [1] or in the field's unit: `count` for each instance, in its order
} mf_ModelChange;

// From the next step on, each of `instances` moves as a robot of its model with these changes, and
// no others, would: to rounding, as one of a file that was edited so. `models` gives each of them a
// model that differs from the group's in nothing but real numbers, also its start, to which it is
// reset; they must outlive the group. NULL: those that they have, which is the group's at first.
// Numbers are part of the state (a field of the motion), models are not; a reset leaves both as
// they are. The first call for a group adds the field: before, sensors and controllers must have
// been added, and worlds to which a snapshot is restored must have made such a call, with the same
// models. Positions and sizes of shapes hold for all their contacts, friction and softness for
// those with the ground: shapes of `models` that may touch other links of the robot must have the
// group's friction, softness and margin, and all meshes the group's vertices. A change that is more
// than of numbers, as friction of a joint that has none, or another shape, is refused. Gravity is
// `physics.gravity`, of `articulated` alone. Poses and velocities of links, equations of motion,
// queries, pictures, films and recordings are each robot's own; materials, meshes and, of changes
// alone, starts are the group's model's. `points` takes changes of joints.
// MF_UNSUPPORTED: that, with the model that differs; a motion of the group has one model for all
// (all but `points` and `articulated`); robots dock or share their ground; sensors or a controller
// of the group depend on what differs. MF_BAD_ARGUMENT: a field, an index or a value that no model
// can have. Instances before the one that the message names are changed.
MF_API mf_Status mf_group_vary(mf_Group *group, const uint32_t *instances, uint32_t instance_count,
                               const mf_Model *const *models, const mf_ModelChange *changes,
                               uint32_t change_count, mf_Error *error);

// ---- momentum and energy, by the definitions of the present motion of an instance --------------

// Center of mass [m], linear momentum [kg m/s] and angular momentum about the center [kg m^2/s],
// world frame. `kinematic` has no momentum: 0; nor have `external` and plugins, whose center is the
// base's origin. The group must have a motion.
MF_API void mf_motion_momentum(const mf_Group *group, uint32_t instance, double center[3],
                               double linear[3], double angular[3]);

typedef struct mf_MotionEnergy {
    double kinetic;   // [J]
    double potential; // [J] m g z (z against gravity) of what has mass, zero at the world's origin
    double elastic;   // [J] in springs of joints, and of contacts where the motion has them
} mf_MotionEnergy;
// Energies [J] of an instance, as its motion counts them.
MF_API mf_MotionEnergy mf_motion_energy(const mf_Group *group, uint32_t instance);
