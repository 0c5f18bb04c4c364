// Internals of the scene builder. build.c controls the order, groups.c builds one group with its
// motion, controllers and sensors, gaits.c its gaits, start.c poses of single robots, placement.c
// the initial poses of all.
#pragma once

#include "scene/overlap.h"

#include <mayfly/scene.h>

typedef struct mf_SceneBuilder {
    mf_Context *context;
    mf_SceneFile *file;
    mf_SceneConfig config;
    mf_Scene *scene;
    mf_OverlapGrid overlaps; // all vehicles placed so far
    uint32_t
        *first_in_grid; // [1] index of each group's first vehicle in it; with the scene's arrays
    bool *placed;       // per group, likewise
    mf_Error *error;
} mf_SceneBuilder;

// Memory for what a scene has per group, released with its `models`. MF_NO_MEMORY.
mf_Status mf_scene_allocate_groups(mf_SceneBuilder *builder);
// Adds a line to the scene's notes; lines beyond the limit are only counted.
MF_PRINTF(2, 3) void mf_scene_note(mf_Scene *scene, const char *format, ...);
// `status` of reading the file at `path`, which a key of the scene at that line names: an error of
// the scene where there is no such file. `name`: of the entry, or NULL.
mf_Status mf_scene_blame_file(const mf_SceneFile *file, mf_Status status, const char *section,
                              const char *name, const char *key, const char *path, int32_t line,
                              int32_t column, mf_Error *error);
// Keys that are set and have no effect on their group (idle_keys.c).
void mf_scene_note_idle_keys(const mf_SceneBuilder *builder);

// ---- one group ---------------------------------------------------------------------------------

uint32_t mf_scene_group_count(const mf_SceneBuilder *builder, uint32_t index); // [1] robots
mf_Motion mf_scene_group_motion(const mf_SceneBuilder *builder, uint32_t index);
// Whether its bodies touch the links of robots by a system of the world.
bool mf_scene_group_touches(const mf_SceneBuilder *builder, uint32_t index);
// Every robot of the group is isolated.
bool mf_scene_group_isolated(const mf_SceneBuilder *builder, uint32_t index);
// Whether a robot is scenery: fixed to the world and without joints.
bool mf_scene_is_scenery(const mf_Model *model);
// Whether robots of the group can collide with others.
bool mf_scene_group_collides(const mf_SceneBuilder *builder, uint32_t index);
// Name of a link of an mf_Model, NULL behind the last (mf_suggest).
const char *mf_scene_link_name(const void *model, uint32_t index);

mf_Status mf_scene_load_model(mf_SceneBuilder *builder, uint32_t index);
// The group with motion, plugins, gaits, controller and sensors, all robots at the origin.
mf_Status mf_scene_add_group(mf_SceneBuilder *builder, uint32_t index);

// The servo of a joint: the motor of its file, or an estimate from its effort and speed limits,
// with the changes of `change`; `stiffness` [1] replaces `change->stiffness`. MF_BAD_ARGUMENT where
// a joint to be driven has no servo.
mf_Status mf_scene_servo(const mf_ServoChange *change, double stiffness, const mf_Model *model,
                         uint32_t joint, mf_Servo *servo, mf_Error *error);

// ---- particles (particles.c) -------------------------------------------------------------------

bool mf_scene_group_particles(const mf_SceneBuilder *builder, uint32_t index);
bool mf_scene_has_particles(const mf_SceneBuilder *builder);
// Sets the number of particles that do not wait for an emitter. MF_BAD_FILE: the box is too small.
mf_Status mf_scene_choose_placed(const mf_SceneBuilder *builder, uint32_t index,
                                 mf_MotionsConfig *config);
// The position [m] of one, world, for `placement: fill`.
void mf_scene_place_particle(const mf_SceneBuilder *builder, uint32_t index, uint32_t particle,
                             double position[3]);

// ---- gaits -------------------------------------------------------------------------------------

// Loads the gaits of a group into the scene and adds them.
mf_Status mf_scene_add_gaits(mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                             const mf_GaitConfig *config);
// [1] settling steps before time 0.
uint64_t mf_scene_settle_steps(const mf_Scene *scene);
// Starts the gait of the group's behavior.
void mf_scene_begin_gait(mf_SceneBuilder *builder, uint32_t index);

// ---- starts ------------------------------------------------------------------------------------

// Initial state of one robot of a group before its placement.
typedef struct mf_RobotStart {
    double *position, *velocity; // [1] of the model
    double *angle;               // [rad] or [m] of its joints
    double (*point)[3], (*rotation)[4];
    uint32_t key;      // [1] keyframe, MF_NONE: none
    double lowest;     // [m] lowest contact point below the base's origin; 0: no contact shapes
    double reach;      // [m] radius around the base's origin that contains all parts
    bool own_position; // the file gives its position in the world
} mf_RobotStart;

mf_Status mf_robot_start_make(mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *out);
void mf_robot_start_free(mf_Context *context, mf_RobotStart *start);
// Puts all robots of a group at the origin in the pose of their file, on the ground or raised above
// it.
mf_Status mf_robot_start_at_origin(mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *start);
// Puts one at a position [m] and heading [rad] with a speed [m/s] along it.
mf_Status mf_robot_start_at(mf_SceneBuilder *builder, uint32_t index, uint32_t robot,
                            mf_RobotStart *start, const double position[3], double heading);

// Puts the robots of all groups at their positions: random positions avoid the fixed ones.
mf_Status mf_scene_place_groups(mf_SceneBuilder *builder);
// Joint slots of a group, before its plugins; and their memory, after all groups.
mf_Status mf_scene_add_joint_slots(mf_SceneBuilder *builder, uint32_t index, mf_Group *group);
mf_Status mf_scene_ready_joint_slots(mf_SceneBuilder *builder);
// Creates the run-time joints of the file.
mf_Status mf_scene_add_joints(mf_SceneBuilder *builder);
// Checks the cameras of the file, and lets the cameras of groups take pictures.
mf_Status mf_scene_add_cameras(mf_SceneBuilder *builder);
// The first pictures, of the start.
mf_Status mf_scene_take_first(mf_SceneBuilder *builder);
// Adds the plugins that use what is there only after all groups.
mf_Status mf_scene_add_late_plugins(const mf_SceneBuilder *builder);
bool mf_scene_group_is_joined(const mf_SceneBuilder *builder, uint32_t index);
// Writes the group's initial values to all its robots (initial.c).
mf_Status mf_scene_write_initial(mf_SceneBuilder *builder, uint32_t index);
// Draws the numbers of the group's robots, now and at each reset, after all that depends on the
// model (randomize.c).
mf_Status mf_scene_randomize(mf_SceneBuilder *builder, uint32_t index);
// Draws them for the life of a genome of the first group, by the genome.
void mf_scene_randomize_life(const mf_Scene *scene, uint32_t robot, const uint8_t *genome,
                             uint32_t bytes);
// Adds the system that writes the group's inputs before each step (inputs.c).
mf_Status mf_scene_add_inputs(const mf_SceneBuilder *builder, uint32_t index);

// ---- systems of the world ----------------------------------------------------------------------

// Adds the system that switches motions by the rules of all groups.
mf_Status mf_scene_add_rules(mf_Scene *scene, mf_Error *error);

// ---- evaluations -------------------------------------------------------------------------------

// Adds the system that accumulates the sums of the file's fitness over an episode, if any. It runs
// after the motion.
mf_Status mf_fitness_add(const mf_Scene *scene, mf_Error *error);
// The fitness of a robot without a fault at the end of an episode.
double mf_fitness_of(const mf_Scene *scene, uint32_t robot);
// Gives all robots a program that does nothing, or oscillators that keep the initial angles.
void mf_scene_idle(const mf_Scene *scene);
// Stores the initial positions of robots and a snapshot of the world.
mf_Status mf_scene_note_start(mf_Scene *scene, mf_Error *error);
mf_Status mf_scene_keep_start(mf_Scene *scene, mf_Error *error);
// Back to that snapshot; the next step starts the scripts anew.
mf_Status mf_scene_rewind(mf_Scene *scene, mf_Error *error);
