// Mayfly: trajectories of fields in HDF5.
#ifndef MAYFLY_RECORD_H
#define MAYFLY_RECORD_H

#include <mayfly/joints.h>
#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mf_Recorder mf_Recorder;

typedef struct mf_RecorderConfig {
    uint32_t struct_size;      // [byte] set by mf_recorder_config()
    const char *path;          // output file; replaced only when mf_recorder_close succeeds
    const char *const *fields; // names, or paths within a robot (property.h: "knee/joint.angle",
                               // "base.position.z"), NULL-terminated; NULL = base.*, joint.angle,
                               // sensor.*. link.pose and link.velocity are derived where they are
                               // named (mayfly/links.h)
    uint32_t first_instance;   // [1] default 0
    uint32_t instance_count;   // [1] default 0 = all
    const char *attributes;    // JSON text stored as the file attribute "run", or NULL
    const mf_WorldJoints *joints; // those that exist now are recorded too: world_joints/force,
                                  // moment, anchors, opening, acts, in the order of
                                  // mf_world_joint_at; must outlive the recorder; NULL: none
} mf_RecorderConfig;
// The defaults of mf_RecorderConfig: every configuration starts from them.
MF_API mf_RecorderConfig mf_recorder_config(void);

// Opens a temporary file in the folder of `path` and creates one data set per field, shape (time,
// instance, component), with the attributes unit, frame, description, and the data set "time" [s].
// A path gives a data set of that path for all recorded instances.
MF_API mf_Status mf_recorder_create(mf_Group *group, const mf_RecorderConfig *config,
                                    mf_Recorder **out, mf_Error *error);
// The same for all groups of a world: one HDF5 group per group, of its name, with its data sets in
// it; "time" is at the top. A name in `fields` must be a field of at least one group. Instances
// cannot be selected.
MF_API mf_Status mf_recorder_create_all(mf_World *world, const mf_RecorderConfig *config,
                                        mf_Recorder **out, mf_Error *error);
// Appends one sample of all fields at the world's time.
MF_API mf_Status mf_recorder_sample(mf_Recorder *recorder, mf_Error *error);
// Writes the remaining samples and renames the file. The recorder is destroyed in any case.
MF_API mf_Status mf_recorder_close(mf_Recorder *recorder, mf_Error *error);
// Destroys the recorder and its unfinished file. NULL is allowed.
MF_API void mf_recorder_destroy(mf_Recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
