// The motion table: one row per motion, with all functions and data that other code uses of a
// motion. A row is at the end of the motion's host file; table.c lists the rows.
// docs/how_to/add_a_motion.md adds one step by step.
#pragma once

#include <mayfly/motion.h>

#include "base/key.h"
#include "motion/notes.h"
#include "motion/dispatch.h"
#include "motion/look.h"

// All motions in the order of mf_Motion: X(its value of mf_Motion, its name). The levels, among
// which robots switch, come first.
#define MF_MOTION_LEVEL_LIST(X)                                                                    \
    X(KINEMATIC, kinematic)                                                                        \
    X(POINTS, points)                                                                              \
    X(RIGID, rigid)                                                                                \
    X(PRESCRIBED, prescribed)                                                                      \
    X(ARTICULATED, articulated)
#define MF_MOTION_LIST(X)                                                                          \
    MF_MOTION_LEVEL_LIST(X)                                                                        \
    X(QUADROTOR, quadrotor)                                                                        \
    X(FIXED_WING, fixed_wing)                                                                      \
    X(CAR, car)                                                                                    \
    X(EXTERNAL, external)                                                                          \
    X(QUASISTATIC, quasistatic)                                                                    \
    X(ELASTIC, elastic)                                                                            \
    X(CLOTH, cloth)                                                                                \
    X(FLUID, fluid)                                                                                \
    X(GRAINS, grains)                                                                              \
    X(DEBRIS, debris)
// The name as a token, in lists of MF_MOTION_LIST.
#define MF_MOTION_NAME(value, name) #name,

// Offsets in mf_MotionsConfig of settings that many motions have; 0: the motion has none.
typedef struct mf_MotionCommon {
    size_t shapes, contacts, limits; // [byte] bool, as in mf_ArticulatedConfig
    size_t control;                  // [byte] mf_Time, how often joints are commanded
    size_t friction;                 // [byte] double, with the ground
} mf_MotionCommon;

typedef struct mf_MotionRow {
    const char *name;       // in files and messages, and of the motion's system
    mf_Motion motion;       // its index in the table
    const char *limitation; // what it does not model; NULL: not part of comparisons
    bool level;             // of models with links and joints; robots can switch among such motions
    const char *body;       // the kind of body (body/kind.h) that it is for; NULL: others
    bool switches;          // such bodies can switch among their motions
    bool dynamic;           // it has momentum, which a switch preserves

    // Makes the model of its parameters in `config`; NULL: models come from files.
    mf_Status (*model)(mf_Context *context, const mf_MotionsConfig *config, const char *name,
                       mf_Model **out, mf_Error *error);

    // What mf_motion_join calls. `make` checks the model and its part of `config` and fills the
    // plan: *plan has `plan_size` bytes that are 0, or is NULL without a size. If it fails,
    // `destroy` releases what it has made. `hash` covers all settings that change results.
    // `begin` follows when the group owns the plan; NULL: nothing does.
    size_t plan_size; // [byte]
    mf_Status (*make)(mf_Group *group, const mf_MotionsConfig *config, void **plan,
                      mf_Error *error);
    uint64_t (*hash)(const void *plan);
    mf_Status (*begin)(mf_Group *group, const mf_MotionsConfig *config, void *plan,
                       mf_Error *error);

    // The system that steps the group. `user` of all four is the motion's plan.
    void (*run)(const mf_SystemRun *run, void *plan);
    void (*reset)(mf_Group *group, uint32_t instance, void *plan);
    void (*refresh)(mf_Group *group, uint32_t instance, void *plan); // or NULL (mayfly/world.h)
    void (*destroy)(mf_Context *context, void *plan);
    const char *const *reads, *const *writes; // fields (mf_SystemConfig)
    bool any_gravity;

    // Fills its part of the settings with defaults.
    void (*defaults)(mf_MotionsConfig *config);
    mf_MotionCommon common;
    // Keys of its settings in scene files (motion.<name>.*), with offsets in mf_MotionsConfig; the
    // first is the section. NULL: none.
    const mf_Key *keys;
    uint32_t key_count; // [1]
    // Features of models that it omits (notes.h); levels only.
    mf_MotionNotes notes;

    // From this value on of its integrator, [byte] where the plan has it, positions follow the mean
    // velocity of a step, as by Runge-Kutta methods, and not that at its end. 0: never.
    int averages;
    size_t integrator;
    double task_step; // [s] stable and accurate enough for tasks of walking; 0: 0.004

    // Resets paths and values derived from joint angles after a switch to the motion; NULL: it has
    // none.
    void (*enter)(mf_Group *group, uint32_t instance, void *plan);
    // How the base is fixed; NULL: it is free.
    mf_ArticulatedBase (*base)(const void *plan);
    // What messages call an instance; NULL: a robot. What it looks like; zeros: parts on links.
    const char *noun;
    mf_MotionLook look;
    // Elements of all instances that are torn, of how many, and what they are. False: they cannot
    // tear. NULL: nothing of the motion tears.
    bool (*torn)(const mf_Group *group, uint64_t *torn, uint64_t *of, const char **what);

    // As mf_motion_momentum and mf_motion_energy.
    void (*momentum)(const mf_Group *group, const void *plan, uint32_t instance, double center[3],
                     double linear[3], double angular[3]);
    mf_MotionEnergy (*energy)(const mf_Group *group, const void *plan, uint32_t instance);

    // Gives `count` instances the numbers of `model`, which is the group's but for numbers; other
    // instances have those of the group's model. NULL: all have those.
    mf_Status (*vary)(mf_Group *group, void *plan, const mf_Model *model, const uint32_t *instances,
                      uint32_t count, mf_Error *error);
    bool only_joints; // of changes of single fields, since masses are not those of links
} mf_MotionRow;

// NULL: no motion of this library.
const mf_MotionRow *mf_motion_row(mf_Motion motion);

// Whether forces change what it does: false along a given path.
bool mf_motion_responds(mf_Motion motion);
// Whether what moves by it is a particle: each instance a ball in one fluid or heap.
bool mf_motion_has_particles(mf_Motion motion);

// Whether there is contact with the ground, in the settings of each motion that has that.
void mf_motions_set_contacts(mf_MotionsConfig *config, bool contacts);

// Whether it touches the ground by shapes, or may: a level without that setting uses points.
bool mf_motion_has_shapes(mf_Motion motion);

// The keys of all motions, in the order of the table; NULL behind the last.
uint32_t mf_motion_key_count(void); // [1]
const mf_Key *mf_motion_key(uint32_t index);

// Makes the plan of `row` for a group and adds its system. MF_BAD_ARGUMENT: the group is NULL or
// has this motion already.
mf_Status mf_motion_join(mf_Group *group, const mf_MotionRow *row, const mf_MotionsConfig *config,
                         mf_Error *error);

// The plan of a group for the motion `row`; NULL: it has no such motion.
void *mf_motion_plan(const mf_Group *group, const mf_MotionRow *row);

// The first row by which a group moves, or can: what its robots consist of. NULL: of no motion of
// this library.
const mf_MotionRow *mf_motion_first(const mf_Group *group);

// The numbers of vertices, bars and actuators of each instance of a group of bars; NULL: it has
// links, or no bars.
const mf_Field *mf_motion_counts(const mf_Group *group);

// The system of a plugin's motion, by its number in the order of addition; NULL: there is none.
const mf_SystemConfig *mf_motion_own(const mf_Group *group, mf_Motion motion);

// The error of a motion that a group does not have, with those that it has.
mf_Status mf_motion_missing(const mf_Group *group, mf_Motion motion, mf_Error *error);

// ---- rows ---------------------------------------------------------------------------------------

#define MF_MOTION_EXTERN(value, name) extern const mf_MotionRow mf_##name##_row;
MF_MOTION_LIST(MF_MOTION_EXTERN)
#undef MF_MOTION_EXTERN

// Whether `motion` supports `model`, with default settings. MF_UNSUPPORTED names the reason (no
// feet for `kinematic`, no mass or a fixed base for `points`, ...) and the motions that support the
// model. MF_NO_MEMORY.
mf_Status mf_motion_check(const mf_Model *model, mf_Motion motion, mf_Error *error);

// Whether a joint tracks joint.target under every motion of the group. In all but `articulated`
// hinges and slides track it exactly. There it requires a servo of the joint, or an actuator of the
// model that controls positions, whose control is then computed from the target: from the first
// step on if a controller of the group (a gait, a network, a plugin) writes joint.target, and
// otherwise from the step at which it changes; until then actuator.control keeps the written value.
// mf_group_set_state is not a command. MF_UNSUPPORTED: the joint does not track it, with the
// reason. MF_BAD_ARGUMENT: no such joint.
mf_Status mf_motion_follows(const mf_Group *group, uint32_t joint, mf_Error *error);
