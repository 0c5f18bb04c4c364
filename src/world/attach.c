// Adding sensors and controllers to a group (see attach.h).
#include "world/attach.h"
#include "world/states.h"
#include "world/group.h"

#include <string.h>

mf_Status mf_attach_check(const mf_Group *group, const char *name, mf_Rate rate, mf_Error *error) {
    if (!(rate.numerator > 0 && rate.denominator > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: rate is %lld/%lld, need two positive numbers",
                       name, (long long)rate.numerator, (long long)rate.denominator);
    for (uint32_t i = 0; i < mf_group_system_count(group); i++)
        if (strcmp(mf_group_system(group, i)->name, name) == 0)
            return mf_fail(error, MF_BAD_ARGUMENT, "group %s: already has a system %s",
                           mf_group_config_of(group)->name, name);
    return MF_OK;
}

mf_Status mf_attach_field(mf_Group *group, const mf_FieldInfo *info, uint32_t count, mf_Field **out,
                          mf_Error *error) {
    mf_Field *field = mf_group_find_field(group, info->name);
    *out = NULL;
    if (field == NULL)
        return mf_group_add_field(group, info, count, out, error);
    mf_FieldType type = info->type;
    if (type == MF_REAL)
        type = mf_group_config_of(group)->double_precision ? MF_F64 : MF_F32;
    bool sized = info->shape == MF_PER_SENSOR || info->shape == MF_FIXED_COUNT;
    if (field->info.type != type || field->info.shape != info->shape ||
        field->info.width != info->width || (sized && field->components != count * info->width))
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: field %s exists with another shape",
                       mf_group_config_of(group)->name, info->name);
    *out = field;
    return MF_OK;
}

mf_Status mf_attach_states(mf_Group *group, const mf_StateField *rows, size_t count,
                           mf_Error *error) {
    for (size_t i = 0; i < count; i++) {
        mf_Field *field;
        const mf_FieldInfo info = {.name = rows[i].name,
                                   .unit = rows[i].unit,
                                   .frame = "",
                                   .type = rows[i].type,
                                   .shape = MF_FIXED_COUNT,
                                   .width = rows[i].width,
                                   .flags = MF_FIELD_STATE | rows[i].flags,
                                   .description = rows[i].description};
        MF_TRY(mf_attach_field(group, &info, rows[i].count, &field, error));
        if (rows[i].field != NULL)
            *rows[i].field = field;
        if (rows[i].data != NULL)
            *rows[i].data = field->data;
    }
    return MF_OK;
}

mf_Status mf_attach_find(mf_Group *group, const char *name, const char *advice, mf_Field **out,
                         mf_Error *error) {
    *out = mf_group_find_field(group, name);
    MF_CHECK(*out != NULL, error, MF_NOT_FOUND, "group %s: has no field %s, %s",
             mf_group_config_of(group)->name, name, advice);
    return MF_OK;
}

void mf_attach_rehash(mf_Group *group, const char *name, uint64_t settings_hash) {
    for (uint32_t i = 0; i < group->system_count; i++)
        if (strcmp(group->systems[i].config.name, name) == 0)
            group->systems[i].config.settings_hash = settings_hash;
}

bool mf_attach_drives_joints(const mf_Group *group) {
    return group->drives_joints;
}

void mf_attach_keep(mf_Group *group, mf_Kept *kept) {
    kept->next = group->kept;
    group->kept = kept;
}

void mf_attach_release(mf_Context *context, void *user) {
    mf_release(context, user);
}

bool mf_attach_ground_given(const mf_Group *group) {
    return mf_group_world(group)->own_terrain == NULL;
}

bool mf_attach_ground_tested(const mf_Group *group) {
    return group->ground_tested;
}

bool mf_attach_wind_blows(const mf_Group *group) {
    return group->wind_blows;
}

uint32_t mf_name_count(const char *const *names) {
    uint32_t count = 0;
    while (names != NULL && names[count] != NULL)
        count++;
    return count;
}
