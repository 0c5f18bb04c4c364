// Swarms' files: read by the tables of keys, then the vehicles they name, then what one key says
// about another. Either a whole swarm comes out or nothing.
#include "experiment/decimal.h"
#include "experiment/reader.h"
#include "experiment/vehicle_keys.h"
#include "experiment/yaml_text.h"

#include <stdio.h>
#include <string.h>

// A swarm with the memory behind it. The public part comes first.
typedef struct Box {
    mf_Swarm swarm;
    mf_KeyMemory memory;
} Box;

// A group while it is checked: its reader finds the nodes that complaints point at.
typedef struct Check {
    mf_Reader reader;
    mf_Swarm *swarm;
    mf_SwarmGroup *group;
} Check;

uint64_t mf_swarm_count(const mf_Swarm *swarm) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < swarm->group_count; i++)
        count += swarm->groups[i].count;
    return count;
}

bool mf_swarm_is(const char *text, size_t size) {
    return mf_yaml_has_top_key(text, size, "groups");
}

bool mf_vehicle_is(const char *text, size_t size) {
    return mf_yaml_has_top_key(text, size, "quadrotor") ||
           mf_yaml_has_top_key(text, size, "fixed_wing") || mf_yaml_has_top_key(text, size, "car");
}

// ---- checks of one group -----------------------------------------------------------------------

static mf_Status refuse(const Check *check, const char *path, const char *other, const char *text) {
    return mf_yaml_fail(check->reader.tree, mf_reader_blame(&check->reader, path, other), false,
                        MF_BAD_FILE, check->reader.error, "%s%s: %s", check->reader.prefix, path,
                        text);
}

static mf_Status check_name(const Check *check) {
    if (check->group->name[0] == '\0' || strpbrk(check->group->name, "./ ") != NULL ||
        strlen(check->group->name) > 80)
        return refuse(check, "name", NULL,
                      "expected 1 to 80 characters without dots, slashes and blanks");
    for (const mf_SwarmGroup *other = check->swarm->groups; other < check->group; other++) {
        if (strcmp(other->name, check->group->name) == 0)
            return refuse(check, "name", NULL, "expected each name once, found it again");
    }
    return MF_OK;
}

// The vehicle of a group. A file that is not there is a mistake of the swarm's file, what is wrong
// in it one of its own.
static mf_Status load_vehicle(const Check *check) {
    mf_Vehicle *vehicle = NULL;
    mf_Error cause = {0};
    mf_Status status =
        mf_vehicle_load(check->swarm->context, check->group->vehicle_path, &vehicle, &cause);
    check->group->vehicle = vehicle;
    if (status == MF_OK)
        return MF_OK;
    if (cause.line == 0 && status != MF_NO_MEMORY) {
        char text[400];
        snprintf(text, sizeof text, "%.200s: %.180s", check->group->vehicle_path, cause.message);
        mf_Status refused = refuse(check, "vehicle", NULL, text);
        return refused == MF_OK ? status : refused;
    }
    if (check->reader.error != NULL)
        *check->reader.error = cause;
    return status;
}

// Keys of another kind of vehicle would be ignored, so they are refused.
static mf_Status check_kind(const Check *check) {
    static const mf_VehicleKind kinds[] = {MF_VEHICLE_QUADROTOR, MF_VEHICLE_FIXED_WING,
                                           MF_VEHICLE_CAR};
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *name = mf_vehicle_kind_name(kinds[i]);
        const mf_YamlNode *node = mf_reader_find(&check->reader, name);
        if (node != NULL && kinds[i] != check->group->vehicle->kind)
            return mf_yaml_fail(check->reader.tree, node, true, MF_BAD_FILE, check->reader.error,
                                "%s%s: the vehicle is a %s", check->reader.prefix, name,
                                mf_vehicle_kind_name(check->group->vehicle->kind));
    }
    return MF_OK;
}

static mf_Status check_multiple(const Check *check, const char *key, mf_Time interval,
                                const char *of, mf_Time unit) {
    char text[200], step[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    if (interval % unit == 0)
        return MF_OK;
    snprintf(text, sizeof text, "expected a multiple of %s = %s s, found %s s", of,
             mf_decimal_write_time(unit, step), mf_decimal_write_time(interval, found));
    return refuse(check, key, NULL, text);
}

static mf_Status check_interval(const Check *check) {
    const mf_SwarmGroup *group = check->group;
    mf_Time step = check->swarm->step, control = group->control_interval;
    mf_Status status = check_multiple(check, "control_interval", control, "world.step", step);
    if (status != MF_OK || group->vehicle->kind != MF_VEHICLE_QUADROTOR)
        return status;
    return check_multiple(check, "quadrotor.outer_interval", group->outer_interval,
                          control > 0 ? "control_interval" : "world.step",
                          control > 0 ? control : step);
}

static mf_Status check_behaviour(const Check *check) {
    const mf_SwarmGroup *group = check->group;
    mf_Error cause = {0};
    int mode;
    mf_Status status = mf_behaviour_check(&group->behaviour, group->vehicle, &cause);
    if (status == MF_OK)
        status = mf_behaviour_mode(&group->behaviour, group->vehicle->kind, &mode, &cause);
    if (status != MF_OK)
        return refuse(check, "behaviour", NULL, cause.message);
    bool looks = group->behaviour.kind == MF_BEHAVIOUR_FLOCK || group->behaviour.separation > 0.0;
    if (looks && !(check->swarm->interact && check->swarm->interaction.detect &&
                   check->swarm->interaction.relative && check->swarm->interaction.nearest > 0))
        return refuse(check, "behaviour", NULL,
                      "a flock, and separation, need interaction.neighbours with detect, relative "
                      "and nearest");
    return MF_OK;
}

static mf_Status check_box(const Check *check) {
    const mf_Placement *placement = &check->group->placement;
    for (uint32_t c = 0; c < 3 && placement->kind == MF_PLACEMENT_RANDOM; c++) {
        if (!(placement->lower[c] <= placement->upper[c]))
            return refuse(check, "placement.random.upper", "placement.random.lower",
                          "expected nothing below placement.random.lower");
    }
    return MF_OK;
}

static mf_Status check_group(Check *check) {
    const mf_YamlNode *place = mf_reader_find(&check->reader, "placement");
    place = place != NULL ? place : check->reader.root;
    bool typed = place->override != NULL;
    check->group->placement.line = typed ? 0 : place->line;
    check->group->placement.column = typed ? 0 : place->column;
    mf_Status status = check_name(check);
    if (status == MF_OK)
        status = load_vehicle(check);
    if (status == MF_OK)
        status = check_kind(check);
    if (status == MF_OK)
        status = check_interval(check);
    if (status == MF_OK)
        status = check_box(check);
    return status == MF_OK ? check_behaviour(check) : status;
}

static mf_Status check_groups(mf_Reader *reader, mf_Swarm *swarm) {
    const mf_YamlNode *list = mf_reader_find(reader, "groups");
    const mf_Key *key = mf_keys_find(reader->table, "groups", strlen("groups"));
    const mf_YamlNode *node = list->first;
    if (swarm->group_count > MF_SWARM_GROUPS)
        return mf_yaml_fail(reader->tree, list, true, MF_LIMIT, reader->error,
                            "groups: expected at most %u, found %u", MF_SWARM_GROUPS,
                            swarm->group_count);
    for (uint32_t i = 0; i < swarm->group_count; i++, node = node->next) {
        Check check = {mf_reader_entry(reader, key, node, i), swarm, &swarm->groups[i]};
        mf_Status status = check_group(&check);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// ---- reading -----------------------------------------------------------------------------------

// Where complaints about the interaction point at, when it is made.
static void note_interaction(const mf_Reader *reader, mf_Swarm *swarm) {
    const mf_YamlNode *node = mf_reader_find(reader, "interaction");
    if (node == NULL || node->override != NULL)
        return;
    swarm->interaction_line = node->key_line;
    swarm->interaction_column = node->key_column;
}

static mf_Status read_tree(mf_Reader *reader, mf_Swarm *swarm, const mf_Override *overrides,
                           uint32_t count) {
    mf_Status status = MF_OK;
    if (reader->root->kind == MF_YAML_MAPPING)
        status = mf_reader_override(reader, overrides, count);
    if (status == MF_OK)
        status = mf_reader_read(reader);
    if (status == MF_OK)
        status = mf_reader_check_ground(reader, swarm->terrain_path != NULL, &swarm->generator);
    note_interaction(reader, swarm);
    if (status == MF_OK)
        status = check_groups(reader, swarm);
    return status == MF_OK ? mf_reader_take_file_name(reader, &swarm->file, &swarm->name) : status;
}

mf_Status mf_swarm_parse(mf_Context *context, const char *path, const char *text, size_t size,
                         const mf_Override *overrides, uint32_t override_count, mf_Swarm **out,
                         mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL || (text == NULL && size != 0) ||
        (overrides == NULL && override_count != 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: context, path or text is NULL");
    mf_YamlTree tree;
    mf_Status status = mf_yaml_parse(context, path, text == NULL ? "" : text, size, &tree, error);
    if (status != MF_OK)
        return status;
    Box *box = mf_allocate(context, 1, sizeof *box);
    if (box == NULL) {
        mf_yaml_free(&tree);
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to read the file");
    }
    box->memory.context = context;
    box->swarm.context = context;
    mf_Reader reader = {.tree = &tree,
                        .table = mf_swarm_table(),
                        .root = tree.root,
                        .base = &box->swarm,
                        .what = "swarm",
                        .memory = &box->memory,
                        .error = error};
    status = read_tree(&reader, &box->swarm, overrides, override_count);
    box->swarm.context = context;
    mf_yaml_free(&tree);
    if (status != MF_OK) {
        mf_swarm_destroy(&box->swarm);
        return status;
    }
    *out = &box->swarm;
    return MF_OK;
}

mf_Status mf_swarm_load(mf_Context *context, const char *path, const mf_Override *overrides,
                        uint32_t override_count, mf_Swarm **out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: context or path is NULL");
    char *text;
    size_t size;
    mf_Status status = mf_file_read(context, path, MF_YAML_BYTES, &text, &size, error);
    if (status != MF_OK)
        return status;
    status = mf_swarm_parse(context, path, text, size, overrides, override_count, out, error);
    mf_release(context, text);
    return status;
}

void mf_swarm_destroy(mf_Swarm *swarm) {
    if (swarm == NULL)
        return;
    Box *box = (Box *)swarm;
    mf_Context *context = swarm->context;
    for (uint32_t i = 0; swarm->groups != NULL && i < swarm->group_count; i++)
        mf_vehicle_destroy((mf_Vehicle *)(uintptr_t)swarm->groups[i].vehicle);
    mf_key_memory_free(&box->memory);
    mf_release(context, box);
}

mf_Status mf_swarm_write(const mf_Swarm *swarm, char **text, mf_Error *error) {
    if (text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: text is NULL");
    *text = NULL;
    if (swarm == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: swarm is NULL");
    return mf_keys_write(swarm->context, mf_swarm_table(), swarm, text, error);
}
