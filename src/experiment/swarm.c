// Swarms' files: read by the tables of keys, then the vehicles they name, then what one key says
// about another. Either a whole swarm comes out or nothing.
#include "experiment/document.h"
#include "experiment/vehicle_keys.h"
#include "experiment/yaml_text.h"

#include <stdio.h>
#include <string.h>

// A group while it is checked: its reader finds the nodes that complaints point at.
typedef struct Check {
    mf_Reader reader;
    mf_Swarm *swarm;
    mf_SwarmGroup *group;
} Check;

uint64_t mf_swarm_count(const mf_Swarm *swarm) {
    if (swarm == NULL)
        return 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < swarm->group_count; i++)
        count += swarm->groups[i].count;
    return count;
}

bool mf_swarm_is(const char *text, size_t size) {
    return mf_yaml_has_top_key(text, size, "groups");
}

// ---- checks of one group -----------------------------------------------------------------------

static mf_Status check_name(const Check *check) {
    const char *name = check->group->name;
    mf_Status status = mf_reader_check_name(&check->reader, name);
    for (const mf_SwarmGroup *other = check->swarm->groups; other < check->group; other++)
        if (status == MF_OK && strcmp(other->name, name) == 0)
            return mf_reader_refuse(&check->reader, "name", NULL,
                                    "expected each name once, found it again");
    return status;
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
        return mf_reader_refuse(&check->reader, "vehicle", NULL, "%.200s: %.180s",
                                check->group->vehicle_path, cause.message);
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

static mf_Status check_interval(const Check *check) {
    const mf_SwarmGroup *group = check->group;
    mf_Time step = check->swarm->step, control = group->control_interval;
    mf_Status status =
        mf_reader_check_multiple(&check->reader, "control_interval", control, "world.step", step);
    if (status != MF_OK || group->vehicle->kind != MF_VEHICLE_QUADROTOR)
        return status;
    return mf_reader_check_multiple(
        &check->reader, "quadrotor.outer_interval", group->outer_interval,
        control > 0 ? "control_interval" : "world.step", control > 0 ? control : step);
}

static mf_Status check_behaviour(const Check *check) {
    const mf_SwarmGroup *group = check->group;
    mf_Error cause = {0};
    int mode;
    mf_Status status = mf_behaviour_check(&group->behaviour, group->vehicle, &cause);
    if (status == MF_OK)
        status = mf_behaviour_mode(&group->behaviour, group->vehicle->kind, &mode, &cause);
    if (status != MF_OK)
        return mf_reader_refuse(&check->reader, "behaviour", NULL, "%s", cause.message);
    bool looks = group->behaviour.kind == MF_BEHAVIOUR_FLOCK || group->behaviour.separation > 0.0;
    if (looks && !(check->swarm->interact && check->swarm->interaction.detect &&
                   check->swarm->interaction.relative && check->swarm->interaction.nearest > 0))
        return mf_reader_refuse(&check->reader, "behaviour", NULL,
                                "a flock, and separation, need interaction.neighbours with detect, "
                                "relative and nearest");
    return MF_OK;
}

static mf_Status check_box(const Check *check) {
    const mf_Placement *placement = &check->group->placement;
    for (uint32_t c = 0; c < 3 && placement->kind == MF_PLACEMENT_RANDOM; c++) {
        if (!(placement->lower[c] <= placement->upper[c]))
            return mf_reader_refuse(&check->reader, "placement.random.upper",
                                    "placement.random.lower",
                                    "expected nothing below placement.random.lower");
    }
    return MF_OK;
}

static mf_Status check_group(const Check *check) {
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

static mf_Status check_groups(const mf_Reader *reader, mf_Swarm *swarm) {
    mf_Status status = MF_OK;
    if (swarm->group_count > MF_SWARM_GROUPS)
        return mf_yaml_fail(reader->tree, mf_reader_find(reader, "groups"), true, MF_LIMIT,
                            reader->error, "groups: expected at most %u, found %u", MF_SWARM_GROUPS,
                            swarm->group_count);
    for (uint32_t i = 0; i < swarm->group_count && status == MF_OK; i++) {
        const Check check = {mf_reader_item(reader, "groups", i), swarm, &swarm->groups[i]};
        status = check_group(&check);
    }
    return status;
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

static mf_Status read_swarm(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_Swarm *swarm = reader->base;
    swarm->context = source->context;
    mf_Status status = mf_document_read_all(reader, mf_swarm_table(), source);
    if (status == MF_OK)
        status = mf_reader_check_ground(reader, swarm->terrain_path != NULL, &swarm->generator);
    note_interaction(reader, swarm);
    if (status == MF_OK)
        status = check_groups(reader, swarm);
    return status == MF_OK ? mf_document_take_name(reader, &swarm->file, &swarm->name) : status;
}

static void release_vehicles(void *value) {
    const mf_Swarm *swarm = value;
    for (uint32_t i = 0; i < swarm->group_count; i++)
        mf_vehicle_destroy((mf_Vehicle *)(uintptr_t)swarm->groups[i].vehicle);
}

static const mf_DocumentKind swarm_kind = {"swarm", sizeof(mf_Swarm), read_swarm, release_vehicles};

mf_Status mf_swarm_parse(mf_Context *context, const char *path, const char *text, size_t size,
                         const mf_Override *overrides, uint32_t override_count, mf_Swarm **out,
                         mf_Error *error) {
    const mf_DocumentSource source = {context, path, text, size, overrides, override_count, NULL};
    void *value = NULL;
    mf_Status status = mf_document_parse(&swarm_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

mf_Status mf_swarm_load(mf_Context *context, const char *path, const mf_Override *overrides,
                        uint32_t override_count, mf_Swarm **out, mf_Error *error) {
    const mf_DocumentSource source = {context, path, NULL, 0, overrides, override_count, NULL};
    void *value = NULL;
    mf_Status status = mf_document_load(&swarm_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

void mf_swarm_destroy(mf_Swarm *swarm) {
    mf_document_destroy(&swarm_kind, swarm);
}

mf_Status mf_swarm_write(const mf_Swarm *swarm, char **text, mf_Error *error) {
    if (text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: text is NULL");
    *text = NULL;
    if (swarm == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: swarm is NULL");
    return mf_keys_write(swarm->context, mf_swarm_table(), swarm, text, error);
}
