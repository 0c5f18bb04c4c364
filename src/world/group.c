// Groups: N instances of one model and their fields. Their systems are in schedule.c.
//
// Invariants: fields never move once added (systems keep pointers to them); lanes after `count` in
// the last block are computed like the others but never counted, hashed or recorded.
#include "world/group.h"
#include "base/floats.h"
#include "base/memory.h"
#include "model/points.h"
#include "world/attach.h"

#include <assert.h>
#include <math.h>
#include <string.h>

mf_GroupConfig mf_group_config(void) {
    return (mf_GroupConfig){.struct_size = sizeof(mf_GroupConfig),
                            .name = "robots",
                            .count = 1,
                            .isolated = true,
                            .fault_policy = MF_FAULT_FREEZE};
}

static const mf_FieldInfo canonical_fields[] = {
    {"base.position", "m", "world", MF_REAL, MF_PER_INSTANCE, 3,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_SUM, "origin of the base link"},
    {"base.orientation", "1", "world", MF_REAL, MF_PER_INSTANCE, 4,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_SUM,
     "base to world rotation, unit quaternion (w, x, y, z)"},
    {"base.linear_velocity", "m/s", "world", MF_REAL, MF_PER_INSTANCE, 3,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_RATE_SUM, "velocity of the base link's origin"},
    {"base.angular_velocity", "rad/s", "body", MF_REAL, MF_PER_INSTANCE, 3,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_RATE_SUM, "angular velocity of the base link"},
    {"joint.angle", "rad", "joint", MF_REAL, MF_PER_JOINT, 1,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_SUM, "joint positions; meters for slides"},
    {"joint.rate", "rad/s", "joint", MF_REAL, MF_PER_JOINT, 1,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_RATE_SUM, "joint rates; m/s for slides"},
    {"joint.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
     "joint targets; meters for slides"},
    {"fault.word", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE | MF_FIELD_BITS,
     "MF_FAULT_* bits; 0: no fault"},
    {"fault.count", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
     "number of resets after a fault"},
};

static mf_Status add_canonical(mf_Group *group, mf_Error *error) {
    mf_CanonicalFields *fields = &group->canonical;
    mf_Field **out[] = {&fields->position,         &fields->orientation, &fields->linear_velocity,
                        &fields->angular_velocity, &fields->joint_angle, &fields->joint_rate,
                        &fields->joint_target,     &fields->fault_word,  &fields->fault_count};
    static_assert(sizeof out / sizeof *out == sizeof canonical_fields / sizeof *canonical_fields,
                  "one pointer per canonical field");
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        MF_TRY(mf_group_add_field(group, &canonical_fields[i], 0, out[i], error));
    }
    return MF_OK;
}

static mf_Status check_config(mf_World *world, const mf_GroupConfig *config, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "group: start from mf_group_config()");
    if (config->name == NULL || *config->name == '\0' || strlen(config->name) > 255)
        return mf_fail(error, MF_BAD_ARGUMENT, "group.name: need 1 .. 255 bytes");
    MF_NEED(config->model != NULL, error, "group %s: model is missing", config->name);
    MF_NEED(config->count >= 1 && config->count <= UINT32_C(1) << 26, error,
            "group %s: count %u, need 1 .. 2^26", config->name, config->count);
    if (!(config->spacing >= 0.0 && config->spacing <= 1e4))
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: spacing, need 0 .. 1e4 m", config->name);
    if (mf_world_find_group(world, config->name) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: the name is used already", config->name);
    return MF_OK;
}

mf_Status mf_world_add_group(mf_World *world, const mf_GroupConfig *config, mf_Group **out,
                             mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(world != NULL, error, "mf_world_add_group: world is NULL");
    *out = NULL;
    MF_TRY(check_config(world, config, error));
    mf_Group *group, own;
    char *name;
    const mf_Array arrays[] = {MF_ARRAY(group, 1), MF_ARRAY(own.fields, MF_MAX_FIELDS),
                               MF_ARRAY(own.field_memory, MF_MAX_FIELDS),
                               MF_ARRAY(own.systems, MF_MAX_SYSTEMS),
                               MF_ARRAY(name, strlen(config->name) + 1)};
    if (!mf_allocate_arrays(world->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "group %s: out of memory", config->name);
    strcpy(name, config->name);
    group->fields = own.fields;
    group->field_memory = own.field_memory;
    group->systems = own.systems;
    group->world = world;
    group->config = *config;
    group->inspection.square = (double)INFINITY;
    group->config.name = name;
    group->blocks = (config->count + MF_BLOCK - 1) / MF_BLOCK;
    group->moving = group->blocks;
    mf_Status status = add_canonical(group, error);
    MF_THEN(status, mf_group_find_start_points(group, error));
    MF_THEN(status, mf_world_list_group(world, group, error));
    if (status != MF_OK) {
        mf_group_destroy(group);
        return status;
    }
    mf_group_reset_all(group);
    *out = group;
    return MF_OK;
}

void mf_group_destroy(mf_Group *group) {
    mf_Context *context = group->world->context;
    for (uint32_t i = 0; i < group->system_count; i++) {
        if (group->systems[i].config.destroy != NULL)
            group->systems[i].config.destroy(context, group->systems[i].config.user);
        mf_release(context, group->systems[i].names);
    }
    for (uint32_t i = 0; i < group->field_count; i++)
        mf_release(context, group->field_memory[i]);
    mf_group_drop_models(group);
    mf_release(context, group->start_points);
    mf_release(context, group->starts);
    mf_release(context, group->placed);
    mf_release(context, group->contact_links);
    while (group->kept != NULL) {
        mf_Kept *kept = group->kept;
        group->kept = kept->next;
        mf_release(context, kept);
    }
    mf_release(context, group);
}

mf_World *mf_group_world(const mf_Group *group) {
    return group == NULL ? NULL : group->world;
}
const mf_GroupConfig *mf_group_config_of(const mf_Group *group) {
    return group == NULL ? NULL : &group->config;
}
const mf_Model *mf_group_model(const mf_Group *group) {
    return group == NULL ? NULL : group->config.model;
}
void mf_group_set_tint(mf_Group *group, const float color[3]) {
    if (group == NULL)
        return;
    group->tinted = color != NULL;
    for (int c = 0; c < 3 && color != NULL; c++)
        group->tint[c] = color[c];
}

bool mf_group_tint(const mf_Group *group, float out[3]) {
    if (group == NULL || !group->tinted)
        return false;
    for (int c = 0; c < 3 && out != NULL; c++)
        out[c] = group->tint[c];
    return true;
}

void mf_group_set_look(mf_Group *group, int kind, const void *parameters) {
    if (group == NULL)
        return;
    group->look_kind = kind;
    group->look = parameters;
}

const void *mf_group_look(const mf_Group *group, int kind) {
    return group != NULL && group->look_kind == kind ? group->look : NULL;
}

uint32_t mf_group_count(const mf_Group *group) {
    return group == NULL ? 0 : group->config.count;
}
void mf_group_move_only(mf_Group *group, uint32_t first, uint32_t count) {
    const bool some = group->config.isolated && group->world->group_count == 1;
    group->first_moving = some ? first / MF_BLOCK : 0;
    group->moving =
        some ? (first + count + MF_BLOCK - 1) / MF_BLOCK - group->first_moving : group->blocks;
}

uint32_t mf_group_block_count(const mf_Group *group) {
    return group == NULL ? 0 : group->blocks;
}

void mf_group_run_lanes(const mf_SystemRun *run, uint32_t lanes, const mf_SystemConfig *systems,
                        uint32_t system_count) {
    mf_Group view;
    mf_SystemRun own = *run;
    memcpy(&view, run->group, sizeof view);
    view.config.count = run->first_block * MF_BLOCK + lanes;
    own.group = &view;
    own.block_count = 1;
    for (uint32_t s = 0; s < system_count; s++)
        systems[s].run(&own, systems[s].user);
}

size_t mf_group_bytes_per_instance(const mf_Group *group) {
    if (group == NULL)
        return 0;
    size_t sum = 0;
    for (uint32_t i = 0; i < group->field_count; i++)
        sum += mf_field_bytes(&group->fields[i]) / ((size_t)group->blocks * MF_BLOCK);
    return sum;
}

uint32_t mf_group_field_count(const mf_Group *group) {
    return group == NULL ? 0 : group->field_count;
}
mf_Field *mf_group_field(mf_Group *group, uint32_t index) {
    if (group == NULL)
        return NULL;
    return index < group->field_count ? &group->fields[index] : NULL;
}
mf_Field *mf_group_find_field(mf_Group *group, const char *name) {
    if (group == NULL)
        return NULL;
    for (uint32_t i = 0; i < group->field_count; i++)
        if (strcmp(group->fields[i].info.name, name) == 0)
            return &group->fields[i];
    return NULL;
}

static uint32_t element_count(const mf_Model *model, const mf_FieldInfo *info, uint32_t count) {
    uint32_t contacts = 0;
    switch (info->shape) {
    case MF_PER_INSTANCE:
        return 1;
    case MF_PER_JOINT:
        return model->joint_count;
    case MF_PER_POINT:
        return model->point_count;
    case MF_PER_CONTACT:
        for (uint32_t i = 0; i < model->point_count; i++)
            contacts += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
        return contacts;
    default:
        return count;
    }
}

// A step of 1 ms changes a velocity of 10 m/s by more than rounding loses if it accelerates by more
// than 0.001 m/s^2.
static bool has_remainders(const mf_Group *group, const mf_FieldInfo *info) {
    if (info->type != MF_F32)
        return false;
    const bool small = group->world->config.step < MF_SECOND / 1000;
    return (info->flags & MF_FIELD_SUM) != 0 || (small && (info->flags & MF_FIELD_RATE_SUM) != 0);
}

mf_Status mf_group_add_field(mf_Group *group, const mf_FieldInfo *info, uint32_t count,
                             mf_Field **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL && info != NULL && info->name != NULL && out != NULL, error,
            "mf_group_add_field: group, info, its name or out is NULL");
    *out = NULL;
    if (mf_group_find_field(group, info->name) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "field %s: the name is used already", info->name);
    MF_CHECK(group->field_count != MF_MAX_FIELDS, error, MF_LIMIT, "group %s: at most %d fields",
             group->config.name, MF_MAX_FIELDS);
    mf_Field field = {.info = *info, .blocks = group->blocks};
    if (field.info.type == MF_REAL)
        field.info.type = group->config.double_precision ? MF_F64 : MF_F32;
    field.components = element_count(group->config.model, info, count) * info->width;
    // Large allocations begin at the same offset in a page, so fields would compete for the same
    // few lines of the L1 cache; each begins some lines later than the one before.
    const size_t row = MF_BLOCK * mf_field_value_size(field.info.type), page = 4096;
    const size_t values = (size_t)field.blocks * field.components;
    const bool sums = has_remainders(group, &field.info);
    size_t rows = (sums ? 2 : 1) * values;
    const bool large = rows * row >= page;
    rows += large ? page / row : 0;
    size_t name_rows = strlen(info->name) / row + 1;
    char *memory = mf_allocate(group->world->context, rows + name_rows, row);
    if (memory == NULL)
        return mf_fail(error, MF_NO_MEMORY, "field %s: out of memory for %u robots", info->name,
                       group->config.count);
    field.data = memory + (large ? group->field_count * 5 * 64 % page : 0);
    if (sums)
        field.remainder = (char *)field.data + values * row;
    field.info.name = strcpy(memory + rows * row, info->name);
    group->field_memory[group->field_count] = memory;
    group->fields[group->field_count++] = field;
    mf_Status status = mf_group_redeclare(group, error);
    if (status != MF_OK) {
        group->field_count--;
        mf_release(group->world->context, memory);
        return status;
    }
    *out = &group->fields[group->field_count - 1];
    return MF_OK;
}

// ---- reset and faults --------------------------------------------------------------------------

void mf_group_reset(mf_Group *group, uint32_t instance) {
    MF_DEFAULT_FLOATS;
    if (group == NULL || instance >= mf_group_count(group))
        return;
    mf_CanonicalFields *fields = &group->canonical;
    mf_StartPose start = {.orientation = {1.0, 0.0, 0.0, 0.0}};
    if (group->placed != NULL && instance < group->config.count && group->placed[instance] != 0)
        start = group->starts[instance];
    else
        mf_group_start_position(group, instance, start.position, start.orientation);
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(fields->position, instance, c, start.position[c]);
        mf_field_set(fields->linear_velocity, instance, c, start.linear_velocity[c]);
        mf_field_set(fields->angular_velocity, instance, c, 0.0);
    }
    for (uint32_t c = 0; c < 4; c++)
        mf_field_set(fields->orientation, instance, c, start.orientation[c]);
    const mf_Model *model = mf_group_model_of(group, instance);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        double angle = model->start_angle[j];
        mf_field_set(fields->joint_angle, instance, j, angle);
        mf_field_set(fields->joint_target, instance, j, angle);
        mf_field_set(fields->joint_rate, instance, j, 0.0);
    }
    mf_field_set(fields->fault_word, instance, 0, 0.0);
    mf_group_clear_warnings(group, instance);
    for (uint32_t s = 0; s < group->system_count; s++)
        if (group->systems[s].config.reset != NULL)
            group->systems[s].config.reset(group, instance, group->systems[s].config.user);
}

void mf_group_refresh(mf_Group *group, uint32_t instance) {
    if (group == NULL || instance >= mf_group_count(group))
        return;
    for (uint32_t f = 0; f < group->field_count; f++)
        mf_field_settle(&group->fields[f], instance);
    for (uint32_t s = 0; s < group->system_count; s++)
        if (group->systems[s].config.refresh != NULL)
            group->systems[s].config.refresh(group, instance, group->systems[s].config.user);
}

void mf_group_derive(mf_Group *group, uint32_t instance) {
    for (uint32_t s = 0; s < group->system_count; s++)
        if (group->systems[s].derived && group->systems[s].config.refresh != NULL)
            group->systems[s].config.refresh(group, instance, group->systems[s].config.user);
}

void mf_group_reset_faulty(mf_Group *group, uint32_t first_block, uint32_t block_count) {
    const uint32_t *words = (const uint32_t *)group->canonical.fault_word->data;
    uint32_t *counts = (uint32_t *)group->canonical.fault_count->data;
    uint32_t last = (first_block + block_count) * MF_BLOCK;
    for (uint32_t i = first_block * MF_BLOCK; i < last; i++) {
        if (words[i] == 0)
            continue;
        counts[i]++; // index of the new episode, used by random numbers drawn at its start
        mf_group_reset(group, i);
    }
}

void mf_group_reset_all(mf_Group *group) {
    if (group == NULL)
        return;
    for (uint32_t i = 0; i < group->blocks * MF_BLOCK; i++) {
        mf_field_set(group->canonical.fault_count, i, 0, 0.0);
        mf_group_reset(group, i);
    }
}

uint32_t mf_group_fault(const mf_Group *group, uint32_t instance) {
    if (group == NULL || instance >= mf_group_count(group))
        return 0;
    return ((const uint32_t *)group->canonical.fault_word->data)[instance];
}

uint32_t mf_group_fault_total(const mf_Group *group) {
    if (group == NULL)
        return 0;
    uint32_t total = 0;
    for (uint32_t i = 0; i < group->config.count; i++)
        total += mf_group_fault(group, i) != 0;
    return total;
}

bool mf_group_touches_ground(const mf_Group *group) {
    return group != NULL && mf_model_touches_ground(mf_group_model(group),
                                                    mf_group_world(group)->own_terrain == NULL);
}
