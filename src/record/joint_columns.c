// Run-time joints in a record: the joints that exist when it begins, one data set per quantity.
#include "record/recorder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_force(const mf_WorldJointState *state, double *out) {
    memcpy(out, state->force, sizeof state->force);
}
static void read_moment(const mf_WorldJointState *state, double *out) {
    memcpy(out, state->moment, sizeof state->moment);
}
static void read_anchors(const mf_WorldJointState *state, double *out) {
    memcpy(out, state->anchors, sizeof state->anchors);
}
static void read_opening(const mf_WorldJointState *state, double *out) {
    *out = state->opening;
}
static void read_acts(const mf_WorldJointState *state, double *out) {
    *out = state->enabled && !state->broken ? 1.0 : 0.0;
}

static const struct {
    mf_Field field; // its description
    void (*read)(const mf_WorldJointState *state, double *out);
} joint_columns[MF_JOINT_COLUMNS] = {
    {{.info = {"force", "N", "world", MF_F64, MF_FIXED_COUNT, 3, 0,
               "on the second link, in the last step"},
      .components = 3},
     read_force},
    {{.info = {"moment", "N m", "world", MF_F64, MF_FIXED_COUNT, 3, 0,
               "on the second link about the joint's point, in the last step"},
      .components = 3},
     read_moment},
    {{.info = {"anchors", "m", "world", MF_F64, MF_FIXED_COUNT, 6, 0,
               "origins of the frames on the first and the second link"},
      .components = 6},
     read_anchors},
    {{.info = {"opening", "m", "", MF_F64, MF_FIXED_COUNT, 1, 0, "between both origins"},
      .components = 1},
     read_opening},
    {{.info = {"acts", "1", "", MF_F64, MF_FIXED_COUNT, 1, 0, "1: enabled and not broken, else 0"},
      .components = 1},
     read_acts},
};

mf_Status mf_recorder_add_joints(mf_Recorder *recorder, const mf_WorldJoints *joints,
                                 mf_Error *error) {
    const uint32_t count = mf_world_joints_count(joints);
    if (count == 0)
        return MF_OK;
    recorder->joint_ids = mf_allocate(recorder->context, count, sizeof *recorder->joint_ids);
    if (recorder->joint_ids == NULL)
        return mf_fail(error, MF_NO_MEMORY, "recorder: out of memory");
    recorder->joints = joints;
    recorder->joint_count = count;
    for (uint32_t i = 0; i < count; i++)
        recorder->joint_ids[i] = mf_world_joint_at(joints, i);
    for (uint32_t i = 0; i < MF_JOINT_COLUMNS; i++) {
        const mf_Field *field = &joint_columns[i].field;
        enum { NAME = 40 };
        char *name = mf_allocate(recorder->context, NAME, 1);
        if (name == NULL)
            return mf_fail(error, MF_NO_MEMORY, "recorder: out of memory");
        snprintf(name, NAME, "world_joints/%s", field->info.name);
        recorder->columns[recorder->column_count++] =
            (mf_Column){.field = field,
                        .name = name,
                        .count = count,
                        .components = field->components,
                        .value_size = sizeof(double),
                        .sample_size = sizeof(double) * field->components * count,
                        .set = H5I_INVALID_HID,
                        .read_joint = joint_columns[i].read};
    }
    return MF_OK;
}

void mf_recorder_sample_joints(const mf_Recorder *recorder, const mf_Column *column, double *out) {
    for (uint32_t i = 0; i < recorder->joint_count; i++, out += column->components) {
        mf_WorldJointState state;
        const mf_WorldJointId id = recorder->joint_ids[i];
        for (uint32_t c = 0; c < column->components; c++)
            out[c] = (double)NAN;
        if (mf_world_joint_state(recorder->joints, id, &state, NULL) == MF_OK)
            column->read_joint(&state, out);
        else if (column->read_joint == read_acts)
            *out = 0.0;
    }
}
