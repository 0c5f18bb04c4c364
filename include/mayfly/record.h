// Mayfly: trajectories of fields in HDF5.
#ifndef MAYFLY_RECORD_H
#define MAYFLY_RECORD_H

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
    bool joints;               // run-time joints are recorded too (see below); default true
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
//
// Run-time joints are in the file from the first sample at which one exists on: world_joints/force,
// moment, anchors, opening, angle, rate, acts and joint, of shape (time, row, component). The row
// of a joint is its number, the low half of its handle. A joint that is made later adds a row or
// takes over that of one that was removed; world_joints/joint (handle, kind, both links) tells
// which one a row holds. Where it holds none that one and acts are 0, all others NAN. A broken
// joint stays, with acts 0 and the force that broke it, until it is repaired or removed.
MF_API mf_Status mf_recorder_sample(mf_Recorder *recorder, mf_Error *error);
// Writes the remaining samples and renames the file. The recorder is destroyed in any case.
MF_API mf_Status mf_recorder_close(mf_Recorder *recorder, mf_Error *error);
// Destroys the recorder and its unfinished file. NULL is allowed.
MF_API void mf_recorder_destroy(mf_Recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
