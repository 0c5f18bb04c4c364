// The inside of a recorder: its columns and the HDF5 objects behind them.
#ifndef MAYFLY_SRC_RECORD_RECORDER_H
#define MAYFLY_SRC_RECORD_RECORDER_H

#include "record/output.h"

#include <mayfly/property.h>
#include <mayfly/record.h>

// One data set: a field, or the time.
typedef struct mf_Column {
    const mf_Field *field; // NULL for the time; of joints: one without data, for its description
    char *name;            // data set, owned; "group/field" in a file of several groups
    uint32_t first, count; // [1] instances recorded: first .. first + count - 1
    uint32_t component;    // [1] the first of the field that is recorded
    uint32_t components;   // [1] per instance
    const char *unit;      // NULL: the field's
    size_t value_size;     // [byte]
    size_t sample_size;    // [byte] of one sample of all recorded instances
    char *buffer;          // samples that are not written yet, as in the file
    hid_t set;             // H5I_INVALID_HID while closed
    // Of run-time joints: what is recorded of one; NULL: the column is none of theirs.
    void (*read_joint)(const mf_WorldJointState *state, double *out);
} mf_Column;

struct mf_Recorder {
    mf_World *world;
    const mf_WorldJoints *joints; // NULL: are not recorded
    mf_WorldJointId *joint_ids;   // those that are
    uint32_t joint_count;         // [1]
    mf_Group *group;              // NULL when all groups are recorded
    mf_Context *context;
    mf_Output output;
    hid_t file;
    uint32_t column_count; // [1] the last one is the time
    mf_Column *columns;
    uint32_t capacity; // [1] samples that the buffers hold
    uint32_t filled;   // [1] samples in the buffers
    uint64_t written;  // [1] samples in the file
    mf_Status status;  // first failure; after it the recorder can only be dropped
    mf_Error failure;
};

// HDF5 prints what goes wrong to stderr unless told not to. The setting belongs to the program, so
// it is put back after each visit.
typedef struct mf_Quiet {
    H5E_auto2_t function;
    void *data;
} mf_Quiet;
mf_Quiet mf_quiet_begin(void);
void mf_quiet_end(mf_Quiet quiet);

enum { MF_JOINT_COLUMNS = 5 };
// Adds the columns of the joints that exist; there is room for them (joint_columns.c).
mf_Status mf_recorder_add_joints(mf_Recorder *recorder, const mf_WorldJoints *joints,
                                 mf_Error *error);
// One sample of such a column. NAN for joints that were destroyed, and they do not act.
void mf_recorder_sample_joints(const mf_Recorder *recorder, const mf_Column *column, double *out);

// Makes file, attributes and data sets; moves buffered samples into the file; closes it. The
// message of a failure is that of the system where it refused something, else HDF5's. To be called
// quiet.
mf_Status mf_recorder_make_file(mf_Recorder *recorder, const char *run, mf_Error *error);
mf_Status mf_recorder_flush(mf_Recorder *recorder, mf_Error *error);
mf_Status mf_recorder_close_file(mf_Recorder *recorder, mf_Error *error);

#endif
