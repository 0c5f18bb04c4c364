// Run-time joints in a record: a row per joint and a data set per quantity. Rows are the numbers of
// joints, the low halves of their handles, so a row that became free is used again.
//
// Invariant: a data set exists from the first sample on at which its world has a joint; what was
// before is filled by HDF5.
#include "record/recorder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A joint at a sample.
typedef struct Sampled {
    mf_World *world;
    mf_WorldJointId id;
    mf_WorldJointState state;
    mf_WorldJointConfig config;
} Sampled;

static void read_acts(const Sampled *from, void *out) {
    *(uint32_t *)out = from->state.enabled && !from->state.broken;
}

static uint32_t number_of(mf_World *world, const mf_Group *group) {
    for (uint32_t g = 0; group != NULL && g < mf_world_group_count(world); g++)
        if (mf_world_group(world, g) == group)
            return g;
    return MF_NONE; // the world
}

static void read_joint(const Sampled *from, void *out) {
    uint32_t row[9] = {(uint32_t)from->id, (uint32_t)(from->id >> 32), (uint32_t)from->config.kind};
    for (uint32_t s = 0; s < 2; s++) {
        const mf_WorldJointSide *side = &from->config.sides[s];
        row[3 + 3 * s] = number_of(from->world, side->group);
        row[4 + 3 * s] = side->instance;
        row[5 + 3 * s] = side->link;
    }
    memcpy(out, row, sizeof row);
}

typedef struct JointColumn {
    mf_Field field;                               // its description
    void (*read)(const Sampled *from, void *out); // NULL: numbers of the state
    size_t offset;                                // [byte] where they are in it
    bool of_hinge;                                // other joints have none
} JointColumn;

#define COLUMN(type, name, unit, frame, width, about, ...)                                         \
    {                                                                                              \
        {.info = {name, unit, frame, type, MF_FIXED_COUNT, width, 0, about}, .components = width}, \
            __VA_ARGS__                                                                            \
    }
#define REAL(member, unit, frame, width, about, of_hinge)                                          \
    COLUMN(MF_F64, #member, unit, frame, width, about, NULL, offsetof(mf_WorldJointState, member), \
           of_hinge)

static const JointColumn joint_columns[MF_JOINT_COLUMNS] = {
    REAL(force, "N", "world", 3, "on the second link, in the last step", false),
    REAL(moment, "N m", "world", 3, "on the second link about the joint's point, in the last step",
         false),
    REAL(anchors, "m", "world", 6, "origins of the frames on the first and the second link", false),
    REAL(opening, "m", "", 1, "between both origins", false),
    REAL(angle, "rad", "", 1, "of a hinge", true),
    REAL(rate, "rad/s", "", 1, "of a hinge", true),
    COLUMN(MF_U32, "acts", "1", "", 1, "1: enabled and not broken, 0: not, or no joint", read_acts,
           0, false),
    COLUMN(MF_U32, "joint", "1", "", 9,
           "handle, low and high half (both 0: no joint); kind (0 fixed, 1 ball, 2 hinge); group, "
           "robot and link of the first and the second side, a group of 4294967295: the world",
           read_joint, 0, false),
};

// One without a value keeps NAN.
static void put_value(const JointColumn *column, const Sampled *joint, char *out) {
    const size_t size = column->field.components * sizeof(double);
    if (column->read != NULL)
        column->read(joint, out);
    else if (!column->of_hinge || joint->config.kind == MF_WORLD_JOINT_HINGE)
        memcpy(out, (const char *)&joint->state + column->offset, size);
}

// ---- rows ---------------------------------------------------------------------------------------

// [1] One more than the largest number of a joint that exists.
static uint32_t count_rows(const mf_World *world) {
    const mf_WorldJoints *joints = mf_world_joints_of(world);
    uint32_t rows = 0;
    for (mf_WorldJointId id = mf_world_joint_next(joints, MF_WORLD_JOINT_NONE);
         id != MF_WORLD_JOINT_NONE; id = mf_world_joint_next(joints, id))
        rows = (uint32_t)id + 1;
    return rows;
}

static void set_rows(mf_Column *column, uint32_t rows) {
    column->count = rows;
    column->sample_size = (size_t)rows * column->components * column->value_size;
}

mf_Status mf_recorder_add_joints(mf_Recorder *recorder, mf_Error *error) {
    const uint32_t rows = count_rows(recorder->world);
    for (uint32_t i = 0; i < MF_JOINT_COLUMNS; i++) {
        const mf_Field *field = &joint_columns[i].field;
        enum { NAME = 40 };
        char *name = mf_allocate(recorder->context, NAME, 1);
        MF_NEED_MEMORY(name != NULL, error, "recorder");
        snprintf(name, NAME, "world_joints/%s", field->info.name);
        mf_Column *column = &recorder->columns[recorder->column_count++];
        *column = (mf_Column){.field = field,
                              .name = name,
                              .components = field->components,
                              .value_size = mf_field_value_size(field->info.type),
                              .set = H5I_INVALID_HID,
                              .of_joints = true};
        set_rows(column, rows);
    }
    recorder->joint_columns = MF_JOINT_COLUMNS;
    return MF_OK;
}

static mf_Column *columns_of(const mf_Recorder *recorder) {
    return &recorder->columns[recorder->column_count - 1 - MF_JOINT_COLUMNS];
}

// The buffer is empty.
static mf_Status grow(mf_Recorder *recorder, mf_Column *column, uint32_t rows, mf_Error *error) {
    const bool first = column->count == 0;
    const size_t size = (size_t)rows * column->components * column->value_size;
    char *buffer = mf_allocate(recorder->context, recorder->capacity, size);
    if (buffer == NULL)
        return mf_fail(error, MF_NO_MEMORY, "recorder: no memory for %u joints", rows);
    mf_release(recorder->context, column->buffer);
    column->buffer = buffer;
    set_rows(column, rows);
    return first ? recorder->store->make_column(recorder, column, error) : MF_OK;
}

mf_Status mf_recorder_fit_joints(mf_Recorder *recorder, mf_Error *error) {
    const uint32_t rows = count_rows(recorder->world);
    mf_Column *columns = columns_of(recorder);
    if (rows <= columns[0].count)
        return MF_OK;
    MF_TRY(recorder->store->flush(recorder, error));
    for (uint32_t i = 0; i < MF_JOINT_COLUMNS; i++) {
        const uint32_t most =
            mf_recorder_capacity((size_t)rows * columns[i].components * columns[i].value_size);
        recorder->capacity = most < recorder->capacity ? most : recorder->capacity;
    }
    for (uint32_t i = 0; i < MF_JOINT_COLUMNS; i++)
        MF_TRY(grow(recorder, &columns[i], rows, error));
    return MF_OK;
}

// ---- samples ------------------------------------------------------------------------------------

static char *sample_of(const mf_Recorder *recorder, const mf_Column *column) {
    return column->buffer + recorder->filled * column->sample_size;
}

// Rows without a joint.
static void clear(const mf_Recorder *recorder, const mf_Column *column) {
    const double nothing = (double)NAN;
    char *out = sample_of(recorder, column);
    memset(out, 0, column->sample_size);
    for (size_t i = 0; column->field->info.type == MF_F64 && i < column->sample_size;
         i += sizeof nothing)
        memcpy(out + i, &nothing, sizeof nothing);
}

void mf_recorder_sample_joints(const mf_Recorder *recorder) {
    const mf_WorldJoints *joints = mf_world_joints_of(recorder->world);
    if (recorder->joint_columns == 0 || columns_of(recorder)->count == 0)
        return;
    const mf_Column *columns = columns_of(recorder);
    for (uint32_t i = 0; i < MF_JOINT_COLUMNS; i++)
        clear(recorder, &columns[i]);
    Sampled joint = {.world = recorder->world};
    for (joint.id = mf_world_joint_next(joints, MF_WORLD_JOINT_NONE);
         joint.id != MF_WORLD_JOINT_NONE; joint.id = mf_world_joint_next(joints, joint.id)) {
        mf_world_joint_state(joints, joint.id, &joint.state, NULL);
        mf_world_joint_config_of(joints, joint.id, &joint.config, NULL);
        for (uint32_t i = 0; i < MF_JOINT_COLUMNS; i++)
            put_value(&joint_columns[i], &joint,
                      sample_of(recorder, &columns[i]) +
                          (uint32_t)joint.id * columns[i].components * columns[i].value_size);
    }
}
