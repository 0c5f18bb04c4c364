// Relations between keys of a scene. Errors refer to the value in the file.
#include "io/decimal.h"
#include "motion/table.h"
#include "base/floats.h"
#include "scene/behavior.h"
#include "scene/machines.h"
#include "scene/scene_file.h"

#include <string.h>

// A group and its reader, which finds the nodes that errors refer to.
typedef struct Check {
    mf_Reader reader;
    const mf_SceneFile *file;
    mf_SceneGroup *group;
} Check;

// ---- times -------------------------------------------------------------------------------------

// A step that depends on the models is checked when the world is built.
static mf_Status check_multiple(const mf_Reader *reader, const char *path, mf_Time interval,
                                mf_Time step) {
    return step > 0 ? mf_reader_check_multiple(reader, path, interval, "world.step", step) : MF_OK;
}

static mf_Status check_tick(const Check *check, const char *path, mf_Rate rate) {
    char least[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    mf_Time step = check->file->step, tick = mf_key_period(rate);
    if (tick >= step)
        return check_multiple(&check->reader, path, tick, step);
    return mf_reader_refuse(&check->reader, path, NULL,
                            "expected at least world.step = %s s, found %s s",
                            mf_decimal_write_time(step, least), mf_decimal_write_time(tick, found));
}

static mf_Status check_intervals(const Check *check) {
    const mf_SceneGroup *group = check->group;
    const mf_Time step = check->file->step, control = group->control_interval;
    MF_TRY(check_multiple(&check->reader, "control_interval", control, step));
    MF_TRY(check_multiple(&check->reader, "motion.points.joint_interval",
                          group->motions.points.joint_interval, step));
    if (group->controller == MF_CONTROLLER_GP)
        MF_TRY(check_tick(check, "controller.gp.tick", group->gp.rate));
    if (group->controller == MF_CONTROLLER_OSCILLATOR)
        MF_TRY(check_tick(check, "controller.oscillator.tick", group->oscillator.rate));
    if (group->motion == MF_MOTION_QUADROTOR && control + step > 0)
        MF_TRY(mf_reader_check_multiple(&check->reader, "motion.quadrotor.outer_interval",
                                        group->motions.quadrotor_config.outer_interval,
                                        control > 0 ? "control_interval" : "world.step",
                                        control > 0 ? control : step));
    return MF_OK;
}

// ---- motions -----------------------------------------------------------------------------------

// Motions of bodies are for bodies of their kind.
static mf_Status check_kind(const Check *check) {
    const mf_SceneGroup *group = check->group;
    const mf_MotionRow *row = mf_motion_row(group->motion);
    if (row != NULL && row->body != NULL && !mf_body_moves_by(group->kind, group->motion))
        return mf_reader_refuse(&check->reader, "motion", NULL,
                                "%s: expected the file of a %s (YAML) as model", row->name,
                                row->body);
    for (uint32_t i = 0; i < group->rule_count && group->kind == NULL; i++) {
        const mf_MotionRow *to = mf_motion_row(group->rules[i].to);
        if (to != NULL && to->body != NULL)
            return mf_reader_refuse(&check->reader, "switch", NULL, "%s is a motion of a %s",
                                    to->name, to->body);
    }
    return MF_OK;
}

static mf_Status check_motion(const Check *check) {
    const mf_SceneGroup *group = check->group;
    MF_TRY(group->kind != NULL ? group->kind->check(&check->reader, group) : MF_OK);
    MF_TRY(check_kind(check));
    if (mf_scene_is_vertices(group))
        return MF_OK;
    if (group->motion == MF_MOTION_OWN && group->plugin_count == 0)
        return mf_reader_refuse(&check->reader, "motion", NULL,
                                "own: expected a plugin that is a motion");
    if (group->rotor_area > 0.0 && group->motion != MF_MOTION_QUADROTOR)
        return mf_reader_refuse(&check->reader, "rotor_area", NULL,
                                "only quadrotors cause downwash, the motion of this group is %s",
                                mf_motion_name(group->motion));
    return MF_OK;
}

static mf_Status find_group(const mf_Reader *reader, const mf_SceneFile *file, const char *key,
                            const char *name, uint32_t *out) {
    const uint32_t found = mf_scene_file_group(file, name);
    if (out != NULL)
        *out = found;
    if (found != MF_NONE)
        return MF_OK;
    return mf_reader_refuse(reader, key, NULL, "expected the name of a group, found '%.100s'",
                            name);
}

static mf_Status check_rules(const Check *check) {
    for (uint32_t i = 0; i < check->group->rule_count; i++) {
        mf_Reader inner = mf_reader_item(&check->reader, "switch", i);
        mf_SwitchRule *rule = inner.base;
        if (rule->event == MF_SWITCH_NEAR || rule->event == MF_SWITCH_FAR)
            MF_TRY(find_group(&inner, check->file, "when", rule->group, &rule->other));
        if (rule->to == MF_MOTION_OWN && check->group->plugin_count == 0)
            return mf_reader_refuse(&inner, "to", NULL, "own: expected a plugin that is a motion");
    }
    return MF_OK;
}

// ---- behaviors ---------------------------------------------------------------------------------

static mf_Status check_gait(const Check *check, const char *key, const char *name) {
    for (uint32_t i = 0; i < check->group->gait_count; i++)
        if (strcmp(check->group->gaits[i], name) == 0)
            return MF_OK;
    return mf_reader_refuse(&check->reader, key, NULL, "expected `%.60s` in the list gaits", name);
}

static mf_Status check_vehicle_behavior(const Check *check) {
    const mf_Behavior *behavior = &check->group->behavior;
    const mf_SceneFile *file = check->file;
    mf_Error cause = {0};
    int mode;
    const mf_Vehicle *vehicle = mf_group_vehicle(check->group);
    if (check->group->motion == MF_MOTION_EXTERNAL && behavior->kind != MF_BEHAVIOR_HOLD)
        return mf_reader_refuse(&check->reader, "behavior", NULL,
                                "the vehicle is moved from outside, expected hold");
    mf_Status status = mf_behavior_check(behavior, vehicle, &cause);
    MF_THEN(status, mf_behavior_mode(behavior, vehicle->kind, &mode, &cause));
    if (status != MF_OK)
        return mf_reader_refuse(&check->reader, "behavior", NULL, "%s", cause.message);
    bool detects = behavior->kind == MF_BEHAVIOR_FLOCK || behavior->separation > 0.0;
    if (detects && !(file->proximity && file->interaction.detect && file->interaction.relative &&
                     file->interaction.nearest > 0))
        return mf_reader_refuse(&check->reader, "behavior", NULL,
                                "a flock, and separation, require proximity.neighbors with "
                                "detect, relative and nearest");
    return MF_OK;
}

// What it names in the model is checked when it is added.
static mf_Status check_policy(const Check *check) {
    const mf_BehaviorKind kind = check->group->behavior.kind;
    const bool alone =
        kind == MF_BEHAVIOR_TRACK || kind == MF_BEHAVIOR_SPIN || kind == MF_BEHAVIOR_WHEELS;
    if (mf_group_vehicle(check->group) != NULL)
        return mf_reader_refuse(&check->reader, "behavior", NULL,
                                "policies are for robots, the model is a vehicle");
    return alone || check->file->talks ? MF_OK
                                       : mf_reader_refuse(&check->reader, "behavior", NULL,
                                                          "requires the section messages");
}

static mf_Status check_behavior(const Check *check) {
    const mf_BehaviorKind kind = check->group->behavior.kind;
    const bool walks = kind == MF_BEHAVIOR_GAIT;
    if (kind >= MF_BEHAVIOR_POLICIES)
        return check_policy(check);
    if (mf_group_vehicle(check->group) != NULL && !walks)
        return check_vehicle_behavior(check);
    if (mf_group_vehicle(check->group) != NULL)
        return mf_reader_refuse(&check->reader, "behavior", NULL,
                                "gaits are for robots with joints, the model is a vehicle");
    if (kind == MF_BEHAVIOR_GAIT)
        return check_gait(check, "behavior.gait.name", check->group->behavior.gait);
    return kind == MF_BEHAVIOR_HOLD
               ? MF_OK
               : mf_reader_refuse(&check->reader, "behavior", NULL,
                                  "expected hold, gait or snake to wheels for a robot that "
                                  "is not a vehicle");
}

// ---- groups ------------------------------------------------------------------------------------

static mf_Status check_name(const Check *check) {
    const char *name = check->group->name;
    MF_TRY(mf_reader_check_name(&check->reader, name));
    for (const mf_SceneGroup *other = check->file->groups; other < check->group; other++)
        if (strcmp(other->name, name) == 0)
            return mf_reader_refuse(&check->reader, "name", NULL,
                                    "expected each name once, found it again");
    return MF_OK;
}

static mf_Status check_placement(const Check *check) {
    const mf_Placement *placement = &check->group->placement;
    if (placement->kind == MF_PLACEMENT_POSES && placement->pose_count != check->group->count)
        return mf_reader_refuse(&check->reader, "placement.poses", NULL,
                                "expected one for each robot (%u), found %u", check->group->count,
                                placement->pose_count);
    if (placement->kind == MF_PLACEMENT_FILL && !mf_motion_has_particles(check->group->motion))
        return mf_reader_refuse(&check->reader, "placement", NULL,
                                "fill is for particles: expected motion fluid, grains or debris");
    for (uint32_t c = 0; c < 3 && placement->kind == MF_PLACEMENT_RANDOM; c++) {
        if (!(placement->lower[c] <= placement->upper[c]))
            return mf_reader_refuse(&check->reader, "placement.random.upper",
                                    "placement.random.lower",
                                    "expected nothing below placement.random.lower");
    }
    return MF_OK;
}

static mf_Status check_most(const Check *check, const char *key, uint32_t count, uint32_t most) {
    return count > most ? mf_reader_refuse(&check->reader, key, NULL,
                                           "expected at most %u, found %u", most, count)
                        : MF_OK;
}

static mf_Status check_plugins(const Check *check) {
    MF_TRY(check_most(check, "plugins", check->group->plugin_count, MF_SCENE_PLUGINS));
    for (uint32_t i = 0; i < check->group->plugin_count; i++) {
        const mf_Reader inner = mf_reader_item(&check->reader, "plugins", i);
        MF_TRY(check_multiple(&inner, "tick", mf_key_period(check->group->plugins[i].tick),
                              check->file->step));
    }
    return MF_OK;
}

// Names are parts of the names of fields and of paths of properties.
static mf_Status check_values(const Check *check) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const char *const *names = check->group->values;
    for (uint32_t i = 0; i < check->group->value_count; i++) {
        const size_t length = strlen(names[i]);
        if (length == 0 || length >= MF_SCENE_VALUE_NAME - 6 || strspn(names[i], letters) != length)
            return mf_reader_refuse(&check->reader, "values", NULL,
                                    "expected names of a-z, 0-9 and _, at most %d long, found "
                                    "'%.80s'",
                                    MF_SCENE_VALUE_NAME - 7, names[i]);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0)
                return mf_reader_refuse(&check->reader, "values", NULL, "%.80s is there twice",
                                        names[i]);
    }
    return MF_OK;
}

static mf_Status check_group(const Check *check) {
    MF_TRY(check_name(check));
    MF_TRY(check_motion(check));
    MF_TRY(check_intervals(check));
    MF_TRY(check_placement(check));
    MF_TRY(check_most(check, "gaits", check->group->gait_count, MF_SCENE_GAITS));
    MF_TRY(check_values(check));
    MF_TRY(check_plugins(check));
    MF_TRY(check_rules(check));
    return check_behavior(check);
}

static mf_Status check_chain(const Check *check) {
    const bool first = check->group->chain.first[0] != '\0';
    const bool second = check->group->chain.second[0] != '\0';
    if (first == second)
        return MF_OK;
    return mf_reader_refuse(&check->reader, first ? "chain.first" : "chain.second", NULL,
                            "expected both chain.first and chain.second");
}

// ---- the whole ---------------------------------------------------------------------------------

static mf_Status check_descriptors(const mf_Reader *reader, const mf_SceneFile *file) {
    const bool grid = file->search.replacement == MF_REPLACEMENT_CELL;
    uint64_t cells = 1;
    if (grid && file->descriptor_count == 0)
        return mf_reader_refuse(reader, "search.replacement", NULL,
                                "expected search.descriptors with `cell`, found none");
    if (!grid && file->descriptor_count > 0)
        return mf_reader_refuse(reader, "search.descriptors", "search.replacement",
                                "expected `replacement: cell` with descriptors");
    if (file->descriptor_count > MF_DESCRIPTOR_LIMIT)
        return mf_reader_refuse(reader, "search.descriptors", NULL, "expected at most %d, found %u",
                                MF_DESCRIPTOR_LIMIT, file->descriptor_count);
    for (uint32_t i = 0; i < file->descriptor_count; i++) {
        const mf_SceneDescriptor *descriptor = &file->descriptors[i];
        const mf_Reader inner = mf_reader_item(reader, "search.descriptors", i);
        cells *= descriptor->cells;
        if (!(descriptor->lower < descriptor->upper))
            return mf_reader_refuse(&inner, "upper", "lower",
                                    "expected more than lower = %g, found %g", descriptor->lower,
                                    descriptor->upper);
        if (cells > 1u << 20)
            return mf_reader_refuse(&inner, "cells", NULL, "expected at most %u cells in the grid",
                                    1u << 20);
    }
    return MF_OK;
}

static mf_Status check_islands(const mf_Reader *reader, const mf_SearchConfig *search) {
    const uint32_t births = search->replacement == MF_REPLACEMENT_GENERATION
                                ? search->population - search->survivors
                                : search->population;
    if (search->islands == 1)
        return MF_OK;
    if (search->replacement == MF_REPLACEMENT_CELL)
        return mf_reader_refuse(reader, "search.islands", "search.replacement",
                                "expected 1 with `replacement: cell`, found %u", search->islands);
    if (search->islands > (1u << 20) / search->population)
        return mf_reader_refuse(reader, "search.islands", "search.population",
                                "expected at most %u with search.population = %u, found %u",
                                (1u << 20) / search->population, search->population,
                                search->islands);
    if (search->migration_best > births)
        return mf_reader_refuse(reader, "search.migration.best", "search.population",
                                "expected at most %u, the births of a generation, found %u", births,
                                search->migration_best);
    return MF_OK;
}

static mf_Status check_scheme(const mf_Reader *reader, const mf_SceneFile *file) {
    const mf_SearchConfig *search = &file->search;
    const bool plain = search->selection == MF_SELECTION_TRUNCATION &&
                       search->replacement == MF_REPLACEMENT_GENERATION;
    if (search->protect >= search->population)
        return mf_reader_refuse(reader, "search.protect", "search.population",
                                "expected fewer than search.population = %u, found %u",
                                search->population, search->protect);
    if (file->verify.motion != MF_VERIFY_NONE && !plain)
        return mf_reader_refuse(reader, "search.verify.motion", "search.selection",
                                "expected `selection: truncation` and `replacement: generation` "
                                "with a verification");
    MF_TRY(check_islands(reader, search));
    const char *body = mf_motion_row(MF_MOTION_ELASTIC)->body;
    const bool bodies =
        file->group_count > 0 && mf_body_moves_by(file->groups[0].kind, MF_MOTION_ELASTIC);
    if (file->verify.motion != MF_VERIFY_NONE &&
        bodies != (file->verify.motion == MF_VERIFY_ELASTIC))
        return mf_reader_refuse(reader, "search.verify.motion", "groups",
                                bodies ? "a %s is verified by elastic"
                                       : "elastic: expected the file of a %s (YAML) as model",
                                body);
    return check_descriptors(reader, file);
}

// Genomes are of the first group, and nothing else may touch the trials of machines.
static mf_Status check_only_group(const mf_Reader *reader, const mf_SceneFile *file) {
    for (uint32_t i = 0; i < file->group_count && file->group_count > 1; i++) {
        const mf_Reader inner = mf_reader_item(reader, "groups", i);
        if (file->groups[i].controller == MF_CONTROLLER_MACHINE)
            return mf_reader_refuse(&inner, "controller", NULL,
                                    "expected machines as the only group, found %u groups",
                                    file->group_count);
    }
    return MF_OK;
}

// What machines cannot be asked.
static mf_Status check_machines(const mf_Reader *reader, const mf_SceneFile *file) {
    mf_Error cause = {0};
    const bool machines = file->group_count == 1 && mf_scene_has_machines(file);
    MF_TRY(check_only_group(reader, file));
    for (uint32_t i = 0; i < file->descriptor_count; i++) {
        const mf_Measure measure = file->descriptors[i].measure;
        const bool own = measure == MF_MEASURE_BARS || measure == MF_MEASURE_ACTUATORS;
        const bool both = measure == MF_MEASURE_HEIGHT || measure == MF_MEASURE_DUTY;
        const mf_Reader inner = mf_reader_item(reader, "search.descriptors", i);
        if (machines ? !own && !both : own)
            return mf_reader_refuse(&inner, "measure", NULL,
                                    machines
                                        ? "expected bars, actuators, height or duty of machines"
                                        : "bars and actuators need `controller: machine`");
    }
    if (!machines)
        return MF_OK;
    if (file->fitness != MF_FITNESS_DISTANCE)
        return mf_reader_refuse(reader, "search.fitness", NULL,
                                "expected `distance` with `controller: machine`");
    return mf_machine_check_config(&file->machine, &cause) == MF_OK
               ? MF_OK
               : mf_reader_refuse(reader, "search.machine", NULL, "%s", cause.message);
}

static mf_Status check_search(const mf_Reader *reader, const mf_SceneFile *file) {
    const mf_SearchConfig *search = &file->search;
    const mf_VerifyConfig *verify = &file->verify;
    if (search->survivors >= search->population)
        return mf_reader_refuse(reader, "search.survivors", "search.population",
                                "expected fewer than search.population = %u, found %u",
                                search->population, search->survivors);
    if (verify->motion != MF_VERIFY_NONE && verify->best > search->population)
        return mf_reader_refuse(reader, "search.verify.best", "search.population",
                                "expected at most search.population = %u, found %u",
                                search->population, verify->best);
    MF_TRY(check_machines(reader, file));
    return check_scheme(reader, file);
}

static bool is_record_name(const char *path) {
    static const char *const endings[] = {".h5", ".hdf5", ".mcap"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t own = strlen(endings[i]);
        if (length > own && strcmp(path + length - own, endings[i]) == 0)
            return true;
    }
    return false;
}

static mf_Status check_record(const mf_Reader *reader, const mf_SceneFile *file) {
    static const char *const others[] = {"record.every", "record.fields"};
    for (int i = 0; i < 2; i++)
        if (file->record_path == NULL && mf_reader_find(reader, others[i]) != NULL)
            return mf_reader_refuse(reader, others[i], NULL, "expected the key record.file, too");
    if (file->record_path != NULL && !is_record_name(file->record_path))
        return mf_reader_refuse(
            reader, "record.file", NULL,
            "expected a name that ends with .h5, .hdf5 or .mcap, found '%.200s'",
            file->record_path);
    const mf_YamlNode *node = mf_reader_find(reader, "record.file");
    if (node != NULL && node->override == NULL &&
        (node->text[0] == '/' || strstr(node->text, "..") != NULL))
        return mf_reader_refuse(reader, "record.file", NULL,
                                "expected a path below the folder of this file (--record FILE "
                                "writes elsewhere), found '%.200s'",
                                node->text);
    return MF_OK;
}

// ---- lists --------------------------------------------------------------------------------------

static const char *text_at(const void *entry, const mf_Key *key) {
    return *(const char *const *)(const void *)((const char *)entry + key->offset);
}

// Each entry has a name of its own.
static mf_Status check_own_name(const mf_Reader *reader, uint32_t index) {
    const mf_Key *key = mf_keys_find(reader->table, "name", strlen("name"));
    const char *entry = reader->base, *name = text_at(entry, key);
    MF_TRY(mf_reader_check_name(reader, name));
    for (uint32_t i = 1; i <= index; i++)
        if (strcmp(text_at(entry - i * reader->table->size, key), name) == 0)
            MF_TRY(
                mf_reader_refuse(reader, "name", NULL, "expected each name once, found it again"));
    return MF_OK;
}

static mf_Status check_joint(const mf_Reader *reader, uint32_t index) {
    const mf_SceneJoint *joint = reader->base;
    MF_TRY(check_own_name(reader, index));
    if (joint->sides[0].group[0] == '\0' && joint->sides[1].group[0] == '\0')
        return mf_reader_refuse(reader, "first", NULL,
                                "expected a group on one side at least, found the world on both");
    return MF_OK;
}

static mf_Status check_camera(const mf_Reader *reader, uint32_t index) {
    const mf_SceneCamera *camera = reader->base;
    MF_TRY(check_own_name(reader, index));
    if (camera->on.group[0] == '\0' && camera->on.link[0] != '\0')
        return mf_reader_refuse(reader, "link", NULL, "expected the group that has it, too");
    return MF_OK;
}

static mf_Status check_script(const mf_Reader *reader, uint32_t index) {
    const mf_SceneScript *script = reader->base;
    const bool text = script->text[0] != '\0';
    if (script->name[0] == '\0')
        return mf_reader_refuse(reader, "name", NULL, "expected a name");
    for (uint32_t i = 1; i <= index; i++)
        if (strcmp(script->name, script[-(ptrdiff_t)i].name) == 0)
            return mf_reader_refuse(reader, "name", NULL, "two scripts are called %.80s",
                                    script->name);
    if (text == (script->path != NULL))
        return mf_reader_refuse(reader, "name", NULL,
                                "script %.80s: expected either `file` or `text`", script->name);
    return MF_OK;
}

static mf_Status check_bridge(const mf_Reader *reader, uint32_t index) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const mf_SceneBridge *bridge = reader->base;
    const size_t length = strlen(bridge->name);
    (void)index;
    return length > 0 && strspn(bridge->name, letters) == length
               ? MF_OK
               : mf_reader_refuse(reader, "name", NULL,
                                  "expected a name of small letters, digits and _, found '%.80s'",
                                  bridge->name);
}

// A list of a scene besides its groups. Later errors refer to a key of an entry.
typedef struct List {
    const char *path, *key, *other; // the other key where the first is missing
    size_t line;                    // offset of the key's line and column in an entry
    mf_Status (*check)(const mf_Reader *reader, uint32_t index); // of an entry; NULL: nothing
} List;

static const List lists[] = {
    {"docks", "second", NULL, offsetof(mf_SceneDock, line), NULL},
    {"joints", "kind", NULL, offsetof(mf_SceneJoint, line), check_joint},
    {"cameras", "name", NULL, offsetof(mf_SceneCamera, line), check_camera},
    {"scripts", "file", "text", offsetof(mf_SceneScript, line), check_script},
    {"bridges", "name", NULL, offsetof(mf_SceneBridge, line), check_bridge},
};

// The groups that an entry names exist; a name that is not required may be empty.
static mf_Status check_groups(const mf_Reader *reader, const mf_SceneFile *file) {
    static const char *const paths[] = {"group", "first.group", "second.group"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const mf_Key *key = mf_keys_find(reader->table, paths[i], strlen(paths[i]));
        const char *name = key != NULL ? text_at(reader->base, key) : "";
        if (name[0] != '\0' || (key != NULL && (key->flags & MF_KEY_REQUIRED) != 0))
            MF_TRY(find_group(reader, file, paths[i], name, NULL));
    }
    return MF_OK;
}

static mf_Status check_list(const mf_Reader *reader, const mf_SceneFile *file, const List *list) {
    const mf_Key *key = mf_keys_find(reader->table, list->path, strlen(list->path));
    mf_KeyList entries;
    memcpy(&entries, (const char *)reader->base + key->offset, sizeof entries);
    for (uint32_t i = 0; i < entries.count; i++) {
        const mf_Reader inner = mf_reader_item(reader, list->path, i);
        int32_t *line = (int32_t *)(void *)((char *)inner.base + list->line);
        const bool other = list->other != NULL && mf_reader_find(&inner, list->key) == NULL;
        mf_scene_note_location(&inner, other ? list->other : list->key, line, line + 1);
        if (list->check != NULL)
            MF_TRY(list->check(&inner, i));
        MF_TRY(check_groups(&inner, file));
    }
    return MF_OK;
}

mf_Status mf_scene_check(const mf_Reader *reader, mf_SceneFile *file) {
    MF_TRY(mf_reader_check_ground(reader, file->ground.path != NULL, &file->ground.generator));
    MF_TRY(check_multiple(reader, "world.switch_interval", file->switch_interval, file->step));
    MF_TRY(check_search(reader, file));
    MF_TRY(check_record(reader, file));
    for (uint32_t i = 0; i < file->group_count; i++) {
        const Check check = {mf_reader_item(reader, "groups", i), file, &file->groups[i]};
        MF_TRY(check_group(&check));
        MF_TRY(check_chain(&check));
    }
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        MF_TRY(check_list(reader, file, &lists[l]));
    return MF_OK;
}

mf_Status mf_scene_file_can_evolve(const mf_SceneFile *file, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(file != NULL, error, "scene: file is NULL");
    if (file->group_count != 1)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "expected one group to evolve, found %u: its robots are isolated",
                          file->group_count);
    if (file->groups[0].controller == MF_CONTROLLER_NONE && file->hooks.apply_genome == NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "expected something to evolve: give group %s `controller: gp`, "
                          "`oscillator` or `machine` (--set group.controller=oscillator)",
                          file->groups[0].name);
    return MF_OK;
}
