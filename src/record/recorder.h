// Internals of a recorder: its columns and their HDF5 objects.
#pragma once

#include "base/text.h"
#include "record/output.h"

#include <mayfly/joints.h>
#include <mayfly/property.h>
#include <mayfly/record.h>

// One data set: a field, the time or, with a picture, its numbers.
typedef struct mf_Column {
    const mf_Field
        *field;      // NULL for the time; for joints one without data that gives the description
    mf_Group *group; // of the field; NULL: none
    char *name;      // data set, owned; "group/field" in a file of several groups
    uint32_t first, count; // [1] instances recorded: first .. first + count - 1
    uint32_t component;    // [1] the first of the field that is recorded
    uint32_t components;   // [1] per instance
    const char *unit;      // NULL: the field's
    double scale;          // [1] of recorded values to the field's; 0: they are copied
    size_t value_size;     // [byte]
    size_t sample_size;    // [byte] of one sample of all recorded instances
    char *buffer;          // pending samples in the layout of the file
    hid_t set;             // H5I_INVALID_HID while closed
    bool of_joints;  // of run-time joints: instances are rows, whose number grows (joint_columns.c)
    bool of_picture; // what the configuration's picture gives
} mf_Column;

// A format of files. All functions return the first failure, whose message comes from the system
// call that failed, else from the library of the format.
typedef struct mf_Store {
    bool buffered; // takes many samples at a time
    // Makes the file and all columns that have instances.
    mf_Status (*make)(mf_Recorder *recorder, const mf_RecorderConfig *config, mf_Error *error);
    // Makes a column that had none.
    mf_Status (*make_column)(mf_Recorder *recorder, mf_Column *column, mf_Error *error);
    mf_Status (*flush)(mf_Recorder *recorder, mf_Error *error); // writes the buffered samples
    // Completes the file (`whole`), or only frees what belongs to it. May be called again.
    mf_Status (*close)(mf_Recorder *recorder, bool whole, mf_Error *error);
} mf_Store;
extern const mf_Store mf_hdf5_store, mf_mcap_store;

struct mf_Recorder {
    mf_World *world;
    mf_Group *group; // NULL when all groups are recorded
    mf_Context *context;
    const mf_Store *store;
    mf_Output output;
    hid_t file;                 // HDF5
    struct mf_McapStore *mcap;  // MCAP; NULL while closed
    mf_RecorderPicture picture; // `take` NULL: none
    mf_Field picture_field;     // describes its column
    mf_Text drawn;              // records of drawings that are not written yet (drawings.c)
    uint64_t drawn_serial;
    hid_t drawn_set;        // HDF5; H5I_INVALID_HID before the first one
    uint64_t drawn_written; // [byte]
    uint32_t column_count;  // [1] the last one is the time
    mf_Column *columns;
    uint32_t field_columns; // [1] the first ones, of fields
    uint32_t joint_columns; // [1] before the time: MF_JOINT_COLUMNS or, not recorded, 0
    uint32_t capacity;      // [1] samples that the buffers hold
    uint32_t filled;        // [1] samples in the buffers
    uint64_t written;       // [1] samples in the file
    int64_t flushed;        // [ns] of the clock: when samples were written last
    mf_Status status;       // first failure; after it the recorder can only be destroyed
    mf_Error failure;
};

// HDF5 prints errors to stderr by default. The setting belongs to the program, so it is restored
// after each call.
typedef struct mf_Quiet {
    H5E_auto2_t function;
    void *data;
} mf_Quiet;
mf_Quiet mf_quiet_begin(void);
void mf_quiet_end(mf_Quiet quiet);

// [1] Samples that fit into buffers whose largest sample has `size` bytes.
uint32_t mf_recorder_capacity(size_t size);

// Takes what was drawn since the last call; false: no memory.
bool mf_recorder_take_drawings(mf_Recorder *recorder);

enum { MF_JOINT_COLUMNS = 8 };
// Adds the columns of run-time joints, without rows; the caller has reserved the space.
mf_Status mf_recorder_add_joints(mf_Recorder *recorder, mf_Error *error);
// Makes space for the joints that exist now: buffers, and data sets where there are none yet. May
// write the buffered samples. Call it with HDF5's own messages turned off.
mf_Status mf_recorder_fit_joints(mf_Recorder *recorder, mf_Error *error);
// Puts a sample of all joints into the buffers.
void mf_recorder_sample_joints(const mf_Recorder *recorder);
