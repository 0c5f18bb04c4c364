// Mayfly: recordings: trajectories of fields, in HDF5 for numbers or in MCAP for Foxglove and the
// tools of ROS, with what it takes to show them again.
#pragma once

#include <mayfly/world.h>

typedef struct mf_Recorder mf_Recorder;

#define MF_RECORD_FORMAT 1u // [1] of the recordings that this version writes, and reads

// What a recording needs to be shown again (mf_film_record in mayfly/film.h makes it).
typedef struct mf_RecorderPicture {
    const char *description;                // JSON: what is drawn; borrowed while it is created
    size_t size;                            // [1] numbers of a frame, 1 .. 2^32 - 1
    void (*take)(float *frame, void *user); // writes the present ones
    // Writes what was drawn (mayfly/draw.h) or cleared, and controls, after the change `since`
    // (0: all), as many records as fit into `capacity` [byte]; returns the bytes, and *last becomes
    // the number of the last change. `out` NULL counts all. NULL: none.
    size_t (*drawn)(uint64_t since, void *out, size_t capacity, uint64_t *last, void *user);
    void *user; // borrowed until the recorder is destroyed
} mf_RecorderPicture;

typedef struct mf_RecorderConfig {
    uint32_t struct_size;      // [byte] set by mf_recorder_config()
    const char *path;          // output file; replaced only when mf_recorder_close succeeds.
                               // *.mcap: MCAP, all others: HDF5
    const char *const *fields; // names, or paths within a robot (property.h: "knee/joint.angle",
                               // "base.position.z"), NULL-terminated; NULL = base.*, joint.angle,
                               // sensor.*. link.pose and link.velocity are derived where they are
                               // named (mayfly/links.h)
    uint32_t first_instance;   // [1] default 0
    uint32_t instance_count;   // [1] default 0 = all
    const char *attributes;    // JSON text stored as the file attribute "run", or NULL
    const char *scene;         // text of the scene file, stored too, or NULL
    const mf_RecorderPicture *picture; // recorded too, or NULL
    const char *const *colors;         // "#rrggbb" for each group of the world, or NULL, instead of
                                       // the colors of its shapes, as in films; NULL: their own.
                                       // For what MCAP shows
    bool joints;                       // run-time joints are recorded too (see below); default true
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

// ---- reading -----------------------------------------------------------------------------------

// One recorded field.
typedef struct mf_RecordedField {
    const char *name;  // "base.position"; with several groups "blue/base.position"
    const char *unit;  // "m"
    const char *frame; // "world", ""
    const char *description;
    mf_FieldType type;   // MF_F32, MF_F64, MF_I32 or MF_U32
    uint32_t count;      // [1] robots, or rows of run-time joints
    uint32_t components; // [1] of each
    const void *values;  // [unit] samples * count * components; rows of joints that there were not
                         // yet: NAN, or 0 for whole numbers
} mf_RecordedField;

// A recording in memory, all of it; read-only.
typedef struct mf_Recording {
    mf_Context *context; // that it was opened with
    const char *path;
    const char *kind;        // "HDF5" or "MCAP"
    const char *compression; // "zstd" (MCAP), "deflate" (HDF5), "": none
    const char *version;     // of Mayfly that wrote it, "": unknown
    const char *model;       // of a recording of one group: its robots; "": of all groups
    const char *group;       // likewise, the group
    bool complete;           // false: the run was killed; what is missing is its end
    uint64_t seed;           // [1] of the world
    double step;             // [s] of the world
    uint32_t samples;        // [1]
    const double *time;      // [s] of each
    uint32_t field_count;    // [1]
    const mf_RecordedField *fields;
    const char *run;         // JSON text that the program added, "": none
    const char *scene;       // text of the scene file, "": none
    const char *picture;     // JSON: what is drawn, "": the recording cannot be shown
    uint32_t frame_size;     // [1] numbers of a frame
    const float *frames;     // [1] samples * frame_size
    const uint8_t *drawings; // [1] records of what programs drew, at the times of the world
    size_t drawings_size;    // [byte]
    struct mf_RecordingMemory *memory;
} mf_Recording;

// Reads a recording of mf_Recorder, HDF5 or MCAP by its content. *out must be destroyed with
// mf_recording_destroy before the context. MF_NOT_FOUND, MF_BAD_FILE: it is none, or damaged;
// MF_VERSION: of a later version of Mayfly; MF_LIMIT: larger than `most` bytes [byte] in
// memory, 0: 8 GiB; MF_UNSUPPORTED: compressed by zstd, and Mayfly was built without libzstd.
MF_API mf_Status mf_recording_open(mf_Context *context, const char *path, uint64_t most,
                                   mf_Recording **out, mf_Error *error);
MF_API void mf_recording_destroy(mf_Recording *recording); // NULL is allowed
