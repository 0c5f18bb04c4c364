// Worlds for mayfly info: their schedule, their fields, the constants of their models.
#include "info_world.h"
#include "world/attach.h"
#include "world/systems.h"

#include <stdio.h>
#include <string.h>

enum { FEW = 8 }; // [1] systems that one field is reported of

// ---- schedule ----------------------------------------------------------------------------------

static void show_names(const char *title, const char *const *names) {
    printf("           %-7s", title);
    if (names == NULL)
        printf("(not declared)");
    else if (names[0] == NULL)
        printf("nothing");
    int column = 18;
    for (; names != NULL && *names != NULL; names++) {
        column += (int)strlen(*names) + 1;
        if (column > 98) {
            printf("\n%18s", "");
            column = 19 + (int)strlen(*names);
        }
        printf("%s ", *names);
    }
    putchar('\n');
}

// "every step", "every 80 ms", "every 33.3333 ms: steps 0, 4, 7, 10, ..."
static void show_rate(mf_Rate rate, mf_Time step) {
    if (rate.numerator == 0) {
        printf("every step");
        return;
    }
    printf("every %g ms", 1e3 * (double)rate.denominator / (double)rate.numerator);
    if ((__int128)rate.denominator * MF_SECOND % ((__int128)rate.numerator * step) == 0)
        return;
    printf(", not a multiple of the step: steps");
    int shown = 0;
    for (mf_Time tick = 0; shown < 4 && tick < 100000; tick++)
        if (mf_rate_due(rate, tick * step, step))
            printf("%s %lld", shown++ > 0 ? "," : "", (long long)tick);
    printf(", ...");
}

static void show_background(const mf_Group *group, uint32_t index) {
    const mf_SystemConfig *system = mf_group_system(group, index);
    bool any = false;
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *other = mf_group_system(group, i);
        if (i == index || other->phase != system->phase ||
            mf_group_system_wave(group, i) != mf_group_system_wave(group, index))
            continue;
        printf("%s%s", any ? ", " : "           in parallel with ", other->name);
        any = true;
    }
    if (any)
        putchar('\n');
}

static void show_world_phase(mf_World *world, mf_Phase phase) {
    for (uint32_t i = 0; i < mf_world_system_count(world); i++) {
        const mf_WorldSystemConfig *system = mf_world_system(world, i);
        if (system->phase != phase)
            continue;
        printf("  %-8s %-24s ", mf_phase_name(phase), system->name);
        show_rate(system->rate, mf_world_config_of(world)->step);
        printf(" (of all shared groups, alone)\n");
        if (system->reads != NULL)
            show_names("reads", system->reads);
        if (system->writes != NULL)
            show_names("writes", system->writes);
    }
}

static void show_group_phase(mf_Group *group, mf_Phase phase) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->phase != phase)
            continue;
        printf("  %-8s %-24s ", mf_phase_name(phase), system->name);
        show_rate(system->rate, mf_world_config_of(mf_group_world(group))->step);
        printf(" (%s%s)\n", mf_group_config_of(group)->name, system->slow ? ", slow" : "");
        show_names("reads", system->reads);
        show_names("writes", system->writes);
        show_background(group, i);
    }
}

void mf_info_schedule(mf_World *world) {
    uint32_t groups = mf_world_group_count(world);
    printf("schedule of a step of %g ms%s:\n", 1e-6 * (double)mf_world_config_of(world)->step,
           groups > 1 ? "; systems of different groups run in parallel" : "");
    for (mf_Phase phase = MF_PHASE_SENSE; phase <= MF_PHASE_AFTER; phase++) {
        if (phase != MF_PHASE_AFTER)
            show_world_phase(world, phase);
        for (uint32_t g = 0; g < groups; g++)
            show_group_phase(mf_world_group(world, g), phase);
    }
    show_world_phase(world, MF_PHASE_AFTER);
}

// ---- fields ------------------------------------------------------------------------------------

typedef const char *(*UserFn)(const mf_Group *group, const char *field, uint32_t n);

static void show_users(const mf_Group *group, const char *field, const char *title, UserFn user) {
    for (uint32_t n = 0; n < FEW && user(group, field, n) != NULL; n++)
        printf("%s%s", n == 0 ? title : ", ", user(group, field, n));
}

static const char *use_of(uint32_t flags) {
    return flags & MF_FIELD_OUTPUT  ? "output"
           : flags & MF_FIELD_INPUT ? "input"
           : flags & MF_FIELD_STATE ? "state"
                                    : "fixed";
}

static const char *shape_of(const mf_Field *field, char out[32]) {
    static const char *const per[] = {"", "joint", "point", "contact", "", ""};
    const char *each = per[field->info.shape];
    uint32_t count = field->info.width > 0 ? field->components / field->info.width : 0;
    if (field->info.shape == MF_PER_INSTANCE)
        snprintf(out, 32, "%u", field->info.width);
    else
        snprintf(out, 32, "%u x %u%s%s", count, field->info.width, *each != '\0' ? " per " : "",
                 each);
    return out;
}

static void show_group_fields(mf_Group *group) {
    const mf_GroupConfig *config = mf_group_config_of(group);
    printf("fields of %s[0 .. %u] (%s, %zu bytes per robot)\n", config->name, config->count - 1,
           config->model->name, mf_group_bytes_per_instance(group));
    for (uint32_t i = 0; i < mf_group_field_count(group); i++) {
        const mf_Field *field = mf_group_field(group, i);
        char shape[32];
        printf("  %-26s %-16s %-6s %-10s %-6s %-6s", field->info.name, shape_of(field, shape),
               mf_field_type_name(field->info.type), field->info.unit, field->info.frame,
               use_of(field->info.flags));
        show_users(group, field->info.name, " written by ", mf_group_writer);
        show_users(group, field->info.name, " read by ", mf_group_reader);
        printf("\n      %s\n", field->info.description);
    }
}

// ---- constants ---------------------------------------------------------------------------------

typedef struct Listing {
    mf_Part part;
    uint32_t index;
    int column;   // [1] of the line
    json_t *list; // NULL: printed
} Listing;

static bool show_constant(const mf_Property *property, void *user) {
    Listing *listing = user;
    double values[MF_PROPERTY_VALUES];
    char path[MF_PROPERTY_PATH];
    if (property->field != NULL || property->count > MF_PROPERTY_VALUES)
        return true;
    if (property->part != listing->part || property->index != listing->index) {
        mf_property_path(property, path, sizeof path);
        const char *name =
            strchr(path + strlen(mf_group_config_of(property->group)->name), '/') + 1;
        listing->column = printf("\n  %-8s %.*s", mf_part_name(property->part),
                                 (int)(strlen(name) - strlen(property->name)), name);
        listing->part = property->part;
        listing->index = property->index;
    }
    mf_property_read(property, values);
    char text[32 + 24 * MF_PROPERTY_VALUES];
    int used = snprintf(text, sizeof text, "  %.20s", property->name);
    for (uint32_t i = 0; i < property->count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %.6g", values[i]);
    const char *unit = strcmp(property->unit, "1") == 0 ? "" : property->unit;
    if (listing->column + used + 1 + (int)strlen(unit) > 98)
        listing->column = printf("\n%10s", "") - 1;
    listing->column += printf("%s%s%s", text, *unit == '\0' ? "" : " ", unit);
    return true;
}

static void show_constants(mf_Group *group) {
    Listing listing = {.part = MF_PART_COUNT};
    printf("constants of %s", mf_group_model(group)->name);
    mf_property_list_in(group, 0, "*", show_constant, &listing);
    mf_property_list_in(group, 0, "*/*", show_constant, &listing);
    putchar('\n');
}

void mf_info_fields(mf_World *world) {
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Group *group = mf_world_group(world, g);
        show_group_fields(group);
        putchar('\n');
        show_constants(group);
        if (g + 1 < mf_world_group_count(world))
            putchar('\n');
    }
}

// ---- for programs ------------------------------------------------------------------------------

static json_t *pack_names(const char *const *names) {
    json_t *list = names != NULL ? json_array() : json_null();
    for (; names != NULL && *names != NULL; names++)
        json_array_append_new(list, json_string(*names));
    return list;
}

static json_t *pack_users(const mf_Group *group, const char *field, UserFn user) {
    json_t *list = json_array();
    for (uint32_t n = 0; user(group, field, n) != NULL; n++)
        json_array_append_new(list, json_string(user(group, field, n)));
    return list;
}

static json_t *pack_field(const mf_Group *group, const mf_Field *field) {
    static const char *const shapes[] = {"instance", "joint",  "point",
                                         "contact",  "sensor", "fixed"};
    const mf_FieldInfo *info = &field->info;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:b, s:o, s:o, s:s}", "name",
                     info->name, "unit", info->unit, "frame", info->frame, "type",
                     mf_field_type_name(info->type), "per", shapes[info->shape], "width",
                     (json_int_t)info->width, "values", (json_int_t)field->components, "use",
                     use_of(info->flags), "state", (info->flags & MF_FIELD_STATE) != 0, "writers",
                     pack_users(group, info->name, mf_group_writer), "readers",
                     pack_users(group, info->name, mf_group_reader), "description",
                     info->description);
}

static json_t *pack_period(mf_Rate rate, mf_Time step) {
    return mf_json_real(rate.numerator == 0 ? mf_time_to_seconds(step)
                                            : (double)rate.denominator / (double)rate.numerator);
}

static bool pack_constant(const mf_Property *property, void *user) {
    Listing *listing = user;
    double values[MF_PROPERTY_VALUES];
    char path[MF_PROPERTY_PATH];
    if (property->field != NULL || property->count > MF_PROPERTY_VALUES)
        return true;
    json_t *numbers = json_array();
    mf_property_read(property, values);
    for (uint32_t i = 0; i < property->count; i++)
        json_array_append_new(numbers, mf_json_real(values[i]));
    json_array_append_new(listing->list,
                          json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "path",
                                    mf_property_path(property, path, sizeof path), "part",
                                    mf_part_name(property->part), "unit", property->unit, "frame",
                                    property->frame, "values", numbers, "description",
                                    property->description));
    return true;
}

static json_t *pack_group(mf_Group *group) {
    const mf_GroupConfig *config = mf_group_config_of(group);
    mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    json_t *fields = json_array(), *systems = json_array();
    Listing listing = {.list = json_array()};
    for (uint32_t i = 0; i < mf_group_field_count(group); i++)
        json_array_append_new(fields, pack_field(group, mf_group_field(group, i)));
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        json_array_append_new(
            systems, json_pack("{s:s, s:s, s:I, s:o, s:b, s:o, s:o}", "name", system->name, "phase",
                               mf_phase_name(system->phase), "wave",
                               (json_int_t)mf_group_system_wave(group, i), "period",
                               pack_period(system->rate, step), "slow", system->slow, "reads",
                               pack_names(system->reads), "writes", pack_names(system->writes)));
    }
    mf_property_list_in(group, 0, "*", pack_constant, &listing);
    mf_property_list_in(group, 0, "*/*", pack_constant, &listing);
    return json_pack("{s:s, s:s, s:I, s:b, s:I, s:o, s:o, s:o}", "name", config->name, "model",
                     config->model->name, "count", (json_int_t)config->count, "isolated",
                     config->isolated, "bytes", (json_int_t)mf_group_bytes_per_instance(group),
                     "systems", systems, "fields", fields, "constants", listing.list);
}

json_t *mf_info_world_json(mf_World *world) {
    mf_Time step = mf_world_config_of(world)->step;
    json_t *groups = json_array(), *systems = json_array();
    for (uint32_t g = 0; g < mf_world_group_count(world); g++)
        json_array_append_new(groups, pack_group(mf_world_group(world, g)));
    for (uint32_t i = 0; i < mf_world_system_count(world); i++) {
        const mf_WorldSystemConfig *system = mf_world_system(world, i);
        json_array_append_new(systems, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", system->name,
                                                 "phase", mf_phase_name(system->phase), "period",
                                                 pack_period(system->rate, step), "reads",
                                                 pack_names(system->reads), "writes",
                                                 pack_names(system->writes)));
    }
    return json_pack("{s:o, s:o, s:o}", "step", mf_json_real(mf_time_to_seconds(step)), "systems",
                     systems, "groups", groups);
}

// ---- cameras -----------------------------------------------------------------------------------

static void show_camera(const char *owner, const mf_Camera *camera, const char *on,
                        const char *use) {
    static const char *const lenses[] = {"pinhole", "brown", "angle", "fisheye"};
    printf("camera %s%s%s: %u x %u, %s,%s%s%s every %.6g s, on %s%s\n", owner,
           owner[0] != '\0' ? "/" : "", camera->name, camera->width, camera->height,
           lenses[camera->lens], camera->color ? " color" : "", camera->depth ? " depth" : "",
           camera->segmentation ? " segmentation" : "",
           (double)camera->rate.denominator / (double)camera->rate.numerator, on, use);
}

static const char *link_of(const mf_Model *model, uint32_t link) {
    return link == MF_NONE ? "the world" : model->links[link].name;
}

mf_Status mf_info_cameras(const mf_Scene *scene, mf_Error *error) {
    mf_Camera camera;
    uint32_t group, robot;
    char location[256];
    for (uint32_t i = 0; i < scene->file->camera_count; i++) {
        MF_TRY(mf_scene_camera(scene, i, &camera, &group, &robot, error));
        if (group == MF_NONE)
            snprintf(location, sizeof location, "the world");
        else
            snprintf(location, sizeof location, "%s %u, %s", scene->file->groups[group].name, robot,
                     link_of(scene->models[group], camera.frame.link));
        show_camera("", &camera, location, "");
    }
    for (uint32_t g = 0; g < scene->group_count; g++)
        for (uint32_t i = 0; i < scene->models[g]->camera_count; i++) {
            const mf_Camera *own = &scene->models[g]->cameras[i];
            show_camera(
                scene->file->groups[g].name, own, link_of(scene->models[g], own->frame.link),
                scene->file->groups[g].cameras ? ", while the world runs" : ", for --photos");
        }
    return MF_OK;
}
