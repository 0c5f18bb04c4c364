// Plugins of a group: fields bound, settings checked, the system added. The calls themselves are in
// plugin_call.c.
//
// Invariants: robots with a fault, of another level, or after the group's count are never changed;
// on failure the group is unchanged, except for the plugin's own fields, which are reused by the
// next attempt.
#include "base/hash.h"
#include "base/floats.h"
#include "control/follow.h"
#include "control/plugin.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <stdio.h>
#include <string.h>

static bool is_ours(const mf_PluginUse *use, uint32_t instance) {
    return use->fault[instance] == 0 && (use->level == NULL || use->level[instance] == use->own);
}

static void run_plugin(const mf_SystemRun *run, void *user) {
    mf_PluginUse *use = user;
    mf_PluginTally tally = {0};
    for (uint32_t block = run->first_block; block < run->first_block + run->block_count; block++) {
        uint32_t active[MF_BLOCK] = {0}, any = 0;
        for (uint32_t i = 0; i < MF_BLOCK && block * MF_BLOCK + i < use->setup.robots; i++)
            any |= active[i] = is_ours(use, block * MF_BLOCK + i);
        if (any != 0)
            mf_plugin_call(use, block, run->tick, run->time, false, active, &tally);
    }
    mf_plugin_count(use->plugin, &tally);
}

static void reset_plugin(mf_Group *group, uint32_t instance, void *user) {
    mf_PluginUse *use = user;
    const mf_PluginEntry *entry = use->plugin->entry;
    uint32_t active[MF_BLOCK] = {0};
    for (uint32_t f = 0; f < use->field_count; f++)
        for (uint32_t c = 0; (entry->fields[f].access & MF_PLUGIN_OWN) && c < use->components[f];
             c++)
            mf_field_set(use->fields[f].field, instance, c, 0.0);
    if (entry->reset == NULL || instance >= use->setup.robots || !is_ours(use, instance))
        return;
    active[instance % MF_BLOCK] = 1;
    mf_World *world = mf_group_world(group);
    mf_Time time = mf_world_time(world);
    mf_PluginTally tally = {0};
    mf_plugin_call(use, instance / MF_BLOCK, (uint64_t)(time / mf_world_config_of(world)->step),
                   time, true, active, &tally);
    mf_plugin_count(use->plugin, &tally);
}

static void destroy_plugin(mf_Context *context, void *user) {
    mf_PluginUse *use = user;
    if (use->made && use->plugin->entry->destroy != NULL)
        use->plugin->entry->destroy(use->self);
    mf_plugin_close(use->plugin);
    mf_scratch_destroy(context, use->scratch);
    mf_release(context, use);
}

// ---- fields ------------------------------------------------------------------------------------

static const char *shape_name(mf_FieldShape shape) {
    static const char *const names[] = {"per robot",   "per joint",  "per point",
                                        "per contact", "per sensor", "of fixed count"};
    return names[shape];
}

// Whether a plugin may write a field that is not its own.
static bool is_writable(const mf_PluginUse *use, const mf_FieldInfo *info) {
    if (strncmp(info->name, "fault.", 6) == 0 || strcmp(info->name, "motion.level") == 0)
        return false;
    uint32_t needed = use->plugin->entry->kind == MF_PLUGIN_MOTION
                          ? MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_OUTPUT
                          : MF_FIELD_INPUT;
    return (info->flags & needed) != 0;
}

static mf_Status find_field(const mf_PluginUse *use, const mf_PluginField *requested,
                            mf_Field **out, mf_Error *error) {
    const mf_Plugin *plugin = use->plugin;
    const char *group = mf_group_config_of(use->group)->name;
    mf_Field *field = mf_group_find_field(use->group, requested->name);
    if (field == NULL)
        return mf_fail_at(error, MF_NOT_FOUND, plugin->path, 0, 0,
                          "field %s: the group %s has no field of that name", requested->name,
                          group);
    mf_FieldType type = requested->type;
    if (type == MF_REAL)
        type = use->setup.real_size == sizeof(double) ? MF_F64 : MF_F32;
    if (field->info.type != type)
        return mf_fail_at(error, MF_BAD_ARGUMENT, plugin->path, 0, 0,
                          "field %s: expected type %s, the group %s has %s", requested->name,
                          mf_field_type_name(type), group, mf_field_type_name(field->info.type));
    if (strcmp(field->info.unit, requested->unit) != 0)
        return mf_fail_at(error, MF_BAD_ARGUMENT, plugin->path, 0, 0,
                          "field %s: expected unit %s, the group %s has %s", requested->name,
                          requested->unit, group, field->info.unit);
    if (field->info.shape != requested->shape || field->info.width != requested->width)
        return mf_fail_at(error, MF_BAD_ARGUMENT, plugin->path, 0, 0,
                          "field %s: expected %u values %s, the group %s has %u %s",
                          requested->name, requested->width, shape_name(requested->shape), group,
                          field->info.width, shape_name(field->info.shape));
    if ((requested->access & MF_PLUGIN_WRITE) && plugin->entry->kind == MF_PLUGIN_CONTROL &&
        strcmp(requested->name, "joint.target") == 0) {
        mf_Error reason = {0};
        mf_Status status = mf_control_follows(use->group, plugin->entry->name, &reason);
        if (status != MF_OK)
            return mf_fail_at(error, status, plugin->path, 0, 0, "plugin %s", reason.message);
    }
    if ((requested->access & MF_PLUGIN_WRITE) && !is_writable(use, &field->info))
        return mf_fail_at(error, MF_BAD_ARGUMENT, plugin->path, 0, 0,
                          "field %s: a %s plugin may not write it", requested->name,
                          plugin->entry->kind == MF_PLUGIN_MOTION ? "motion" : "control");
    *out = field;
    return MF_OK;
}

typedef struct OwnText {
    mf_Kept kept;
    char text[4][MF_PLUGIN_TEXT_LIMIT + 1]; // name, unit, frame, about
} OwnText;

// The texts outlive the library, so they are copied.
static mf_Status add_field(const mf_PluginUse *use, const mf_PluginField *requested, mf_Field **out,
                           mf_Error *error) {
    const mf_Field *there = mf_group_find_field(use->group, requested->name);
    if (there != NULL && (strcmp(there->info.unit, requested->unit) != 0 ||
                          strcmp(there->info.description, requested->about) != 0))
        return mf_fail_at(error, MF_BAD_ARGUMENT, use->plugin->path, 0, 0,
                          "field %s: the group %s has another field of that name", requested->name,
                          mf_group_config_of(use->group)->name);
    OwnText *own = mf_allocate(use->plugin->context, 1, sizeof *own);
    if (own == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, use->plugin->path, 0, 0, "field %s: no memory",
                          requested->name);
    const char *const texts[] = {requested->name, requested->unit, requested->frame,
                                 requested->about};
    for (int i = 0; i < 4; i++)
        memcpy(own->text[i], texts[i], strlen(texts[i]) + 1);
    mf_attach_keep(use->group, &own->kept);
    const mf_FieldInfo info = {.name = own->text[0],
                               .unit = own->text[1],
                               .frame = own->text[2],
                               .type = requested->type,
                               .shape = requested->shape,
                               .width = requested->width,
                               .flags = MF_FIELD_STATE,
                               .description = own->text[3]};
    return mf_attach_field(use->group, &info, requested->count, out, error);
}

// Fields of others are found first, then own ones are added, so that a failure changes nothing.
static mf_Status bind_fields(mf_PluginUse *use, mf_Error *error) {
    const mf_PluginEntry *entry = use->plugin->entry;
    uint32_t reads = 0, writes = 0;
    for (int own = 0; own < 2; own++) {
        for (uint32_t f = 0; f < entry->field_count; f++) {
            const mf_PluginField *requested = &entry->fields[f];
            if (((requested->access & MF_PLUGIN_OWN) != 0) != own)
                continue;
            mf_Status status =
                (own ? add_field : find_field)(use, requested, &use->fields[f].field, error);
            if (status != MF_OK)
                return status;
        }
    }
    size_t offset = MF_PLUGIN_GUARD, values = 0;
    for (uint32_t f = 0; f < entry->field_count; f++) {
        const mf_Field *field = use->fields[f].field;
        size_t size = (size_t)field->components * MF_BLOCK * mf_field_value_size(field->info.type);
        use->components[f] = field->components;
        use->fields[f].size = size;
        use->fields[f].offset = offset;
        offset += size + MF_PLUGIN_GUARD;
        values += size;
        if (entry->fields[f].access & MF_PLUGIN_READ)
            use->reads[reads++] = field->info.name;
        if (entry->fields[f].access & MF_PLUGIN_WRITE)
            use->writes[writes++] = field->info.name;
        if ((entry->fields[f].access & MF_PLUGIN_WRITE) &&
            strcmp(field->info.name, "base.orientation") == 0)
            use->orientation = (int)f;
        if ((entry->fields[f].access & MF_PLUGIN_WRITE) &&
            strcmp(field->info.name, "base.position") == 0)
            use->position = (int)f;
    }
    use->writes[writes] = "fault.word";
    use->reads[reads++] = "fault.word"; // robots to skip
    if (use->level != NULL)
        use->reads[reads] = "motion.level";
    use->field_count = entry->field_count;
    use->copy_size = offset;
    if (values > MF_PLUGIN_VALUES_LIMIT)
        return mf_fail_at(
            error, MF_LIMIT, use->plugin->path, 0, 0,
            "its fields take %zu bytes for a block of robots, at most %d are available", values,
            MF_PLUGIN_VALUES_LIMIT);
    return mf_scratch_create(mf_world_context(mf_group_world(use->group)), use->copy_size,
                             mf_group_block_count(use->group), &use->scratch, error);
}

// ---- settings ----------------------------------------------------------------------------------

static mf_Status read_settings(mf_PluginUse *use, const mf_PluginConfig *config, mf_Error *error) {
    const mf_PluginEntry *entry = use->plugin->entry;
    for (uint32_t s = 0; s < entry->setting_count; s++)
        use->settings[s] = entry->settings[s].usual;
    for (uint32_t v = 0; v < config->value_count; v++) {
        const mf_PluginValue *value = &config->values[v];
        uint32_t s = 0;
        while (s < entry->setting_count && strcmp(entry->settings[s].name, value->name) != 0)
            s++;
        if (s == entry->setting_count)
            return mf_fail_at(error, MF_NOT_FOUND, use->plugin->path, 0, 0,
                              "plugin %s has no setting %.99s%s%s", entry->name, value->name,
                              s > 0 ? "; its first is " : "", s > 0 ? entry->settings[0].name : "");
        const mf_PluginSetting *setting = &entry->settings[s];
        if (!(value->value >= setting->lower && value->value <= setting->upper))
            return mf_fail_at(error, MF_BAD_ARGUMENT, use->plugin->path, 0, 0,
                              "setting %s: expected %g .. %g %s, found %g", setting->name,
                              setting->lower, setting->upper, setting->unit, value->value);
        use->settings[s] = value->value;
    }
    return MF_OK;
}

static uint64_t hash_settings(const mf_PluginUse *use) {
    const mf_PluginEntry *entry = use->plugin->entry;
    uint64_t hash = mf_hash_bytes(MF_HASH_START, entry->name, strlen(entry->name) + 1);
    hash = mf_hash_bytes(hash, entry->version, strlen(entry->version) + 1);
    return mf_hash_doubles(hash, use->settings, entry->setting_count);
}

// ---- adding ------------------------------------------------------------------------------------

mf_PluginConfig mf_plugin_config(void) {
    return (mf_PluginConfig){.struct_size = sizeof(mf_PluginConfig), .budget = 10 * MF_MILLISECOND};
}

static double plain_sqrt(double x) {
    return mf_sqrt(x);
}

static const mf_PluginServices services = {.struct_size = sizeof(mf_PluginServices),
                                           .height = mf_terrain_height,
                                           .random = mf_random,
                                           .sin_cos = mf_sin_cos,
                                           .atan2 = mf_atan2,
                                           .exp = mf_exp,
                                           .sqrt = plain_sqrt};

static void fill_setup(mf_PluginUse *use, mf_Rate rate) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(use->group));
    const mf_GroupConfig *group = mf_group_config_of(use->group);
    double direction[3];
    mf_vec3_copy(direction, world->gravity_direction);
    mf_vec3_normalize(direction);
    use->setup = (mf_PluginSetup){
        .struct_size = sizeof use->setup,
        .real_size = group->double_precision ? sizeof(double) : sizeof(float),
        .robots = group->count,
        .seed = world->seed,
        .step = world->step,
        .period = rate.numerator > 0
                      ? (mf_Time)((__int128)rate.denominator * MF_SECOND / rate.numerator)
                      : world->step,
        .model = group->model,
        .terrain = world->terrain,
        .settings = use->settings,
        .services = &services};
    mf_vec3_scale(use->setup.gravity, direction, world->gravity);
}

static mf_Status create(mf_PluginUse *use, mf_Error *error) {
    const mf_PluginEntry *entry = use->plugin->entry;
    char message[256] = "";
    if (entry->create == NULL)
        return MF_OK;
    int result = entry->create(&use->setup, &use->self, message, sizeof message);
    mf_floats_enter(); // whatever it has set
    message[sizeof message - 1] = '\0';
    if (result != 0)
        return mf_fail_at(error, MF_BAD_ARGUMENT, use->plugin->path, 0, 0, "plugin %s: %s",
                          entry->name,
                          *message != '\0' ? message : "it returned an error without a message");
    use->made = true;
    return MF_OK;
}

static mf_Status check_arguments(const mf_Group *group, const mf_Plugin *plugin, mf_PluginKind kind,
                                 const mf_PluginConfig *config, mf_Error *error) {
    MF_NEED(group != NULL && plugin != NULL, error, "plugin: group or plugin is NULL");
    MF_NEED(config->struct_size == sizeof *config && config->budget > 0 &&
                (config->value_count == 0 || config->values != NULL),
            error, "plugin config: start from mf_plugin_config(), with a budget > 0");
    if (plugin->entry->kind != (uint32_t)kind)
        return mf_fail_at(error, MF_BAD_ARGUMENT, plugin->path, 0, 0,
                          "plugin %s: expected a %s plugin, found a %s plugin", plugin->entry->name,
                          kind == MF_PLUGIN_MOTION ? "motion" : "control",
                          kind == MF_PLUGIN_MOTION ? "control" : "motion");
    bool wide = mf_group_config_of(group)->double_precision;
    if (!(plugin->entry->widths & (wide ? MF_PLUGIN_DOUBLE : MF_PLUGIN_FLOAT)))
        return mf_fail_at(error, MF_UNSUPPORTED, plugin->path, 0, 0,
                          "plugin %s computes in %s, the group %s in %s", plugin->entry->name,
                          wide ? "float" : "double", mf_group_config_of(group)->name,
                          wide ? "double" : "float");
    return MF_OK;
}

static mf_Status add(mf_Group *group, mf_Plugin *plugin, mf_SystemConfig *entry, uint32_t own,
                     const mf_PluginConfig *config, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_PluginUse *use = mf_allocate(context, 1, sizeof *use);
    if (use == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, plugin->path, 0, 0, "no memory");
    *use = (mf_PluginUse){.plugin = plugin,
                          .group = group,
                          .own = own,
                          .budget = config->budget,
                          .orientation = -1,
                          .position = -1,
                          .fault = mf_group_find_field(group, "fault.word")->data};
    mf_plugin_hold(plugin);
    snprintf(use->name, sizeof use->name, "plugin:%s", plugin->entry->name);
    mf_Field *level = mf_group_find_field(group, "motion.level");
    if (entry->phase == MF_PHASE_MOTION && level != NULL)
        use->level = level->data;
    fill_setup(use, entry->rate);
    entry->name = use->name;
    entry->run = run_plugin;
    entry->reset = reset_plugin;
    entry->destroy = destroy_plugin;
    entry->user = use;
    entry->reads = use->reads;
    entry->writes = use->writes;
    mf_Status status = mf_attach_check(group, use->name, (mf_Rate){1, 1}, error);
    MF_THEN(status, read_settings(use, config, error));
    MF_THEN(status, bind_fields(use, error));
    MF_THEN(status, create(use, error));
    entry->settings_hash = hash_settings(use);
    MF_THEN(status, mf_group_add_system(group, entry, error));
    if (status != MF_OK)
        destroy_plugin(context, use);
    return status;
}

mf_Status mf_plugin_motion_add(mf_Group *group, mf_Plugin *plugin, const mf_PluginConfig *config,
                               mf_Motion *level, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_PluginConfig settings = config != NULL ? *config : mf_plugin_config();
    MF_TRY(check_arguments(group, plugin, MF_PLUGIN_MOTION, &settings, error));
    uint32_t own = MF_MOTION_OWN;
    bool several = mf_group_find_field(group, "motion.level") != NULL;
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (!several && system->phase == MF_PHASE_MOTION)
            return mf_fail_at(error, MF_BAD_ARGUMENT, plugin->path, 0, 0,
                              "the group %s already has the motion %s, and no field motion.level",
                              mf_group_config_of(group)->name, system->name);
        own += system->phase == MF_PHASE_MOTION && system->run == run_plugin;
    }
    if (own > MF_MOTION_OWN_LAST)
        return mf_fail_at(error, MF_LIMIT, plugin->path, 0, 0,
                          "the group %s already has %d motions of plugins",
                          mf_group_config_of(group)->name, MF_MOTION_OWN_LAST - MF_MOTION_OWN + 1);
    mf_SystemConfig system = mf_system_config();
    system.phase = MF_PHASE_MOTION;
    system.any_gravity = plugin->entry->any_gravity != 0;
    MF_TRY(add(group, plugin, &system, own, &settings, error));
    if (level != NULL)
        *level = (mf_Motion)own;
    return MF_OK;
}

mf_Status mf_plugin_control_add(mf_Group *group, mf_Rate rate, mf_Plugin *plugin,
                                const mf_PluginConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_PluginConfig settings = config != NULL ? *config : mf_plugin_config();
    MF_TRY(check_arguments(group, plugin, MF_PLUGIN_CONTROL, &settings, error));
    MF_NEED(rate.numerator > 0 && rate.denominator > 0, error,
            "plugin %s: rate is %lld/%lld, need two positive numbers", plugin->entry->name,
            (long long)rate.numerator, (long long)rate.denominator);
    mf_SystemConfig system = mf_system_config();
    system.phase = MF_PHASE_CONTROL;
    system.rate = rate;
    return add(group, plugin, &system, 0, &settings, error);
}
