// Files of robots: read by the tables of keys, then what one key says about another. Either a whole
// file comes out or nothing.
#include "experiment/decimal.h"
#include "experiment/reader.h"
#include "experiment/robots_keys.h"
#include "experiment/yaml_text.h"

#include <stdio.h>
#include <string.h>

// The public part comes first.
typedef struct Box {
    mf_Robots robots;
    mf_KeyMemory memory;
} Box;

// A group while it is checked: its reader finds the nodes that complaints point at.
typedef struct Check {
    mf_Reader reader;
    const mf_Robots *robots;
    mf_RobotsGroup *group;
} Check;

bool mf_robots_is(const char *text, size_t size) {
    return mf_yaml_has_top_key(text, size, "robots");
}

uint64_t mf_robots_count(const mf_Robots *robots) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < robots->group_count; i++)
        count += robots->groups[i].count;
    return count;
}

// ---- checks ------------------------------------------------------------------------------------

static mf_Status refuse(const mf_Reader *reader, const char *path, const char *text) {
    return mf_yaml_fail(reader->tree, mf_reader_blame(reader, path, NULL), false, MF_BAD_FILE,
                        reader->error, "%s%s: %s", reader->prefix, path, text);
}

static mf_Status check_multiple(const mf_Reader *reader, const char *key, mf_Time interval,
                                mf_Time step) {
    char text[200], unit[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    if (interval % step == 0)
        return MF_OK;
    snprintf(text, sizeof text, "expected a multiple of world.step = %s s, found %s s",
             mf_decimal_write_time(step, unit), mf_decimal_write_time(interval, found));
    return refuse(reader, key, text);
}

static mf_Status check_name(const Check *check) {
    const char *name = check->group->name;
    if (name[0] == '\0' || strpbrk(name, "./ ") != NULL || strlen(name) > 80)
        return refuse(&check->reader, "name",
                      "expected 1 to 80 characters without dots, slashes and blanks");
    for (const mf_RobotsGroup *other = check->robots->groups; other < check->group; other++)
        if (strcmp(other->name, name) == 0)
            return refuse(&check->reader, "name", "expected each name once, found it again");
    return MF_OK;
}

static mf_Status find_group(const mf_Reader *reader, const mf_Robots *robots, const char *key,
                            const char *name, uint32_t *out) {
    char text[200];
    for (uint32_t i = 0; i < robots->group_count; i++)
        if (strcmp(robots->groups[i].name, name) == 0) {
            *out = i;
            return MF_OK;
        }
    snprintf(text, sizeof text, "expected the name of a group, found '%.100s'", name);
    return refuse(reader, key, text);
}

static mf_Status check_rules(const Check *check) {
    const mf_Key *key = mf_keys_find(check->reader.table, "switch", strlen("switch"));
    const mf_YamlNode *list = mf_reader_find(&check->reader, "switch");
    const mf_YamlNode *node = list == NULL ? NULL : list->first;
    for (uint32_t i = 0; i < check->group->rule_count && node != NULL; i++, node = node->next) {
        mf_Reader inner = mf_reader_entry(&check->reader, key, node, i);
        mf_SwitchRule *rule = &check->group->rules[i];
        mf_Status status = MF_OK;
        inner.base = rule;
        if (rule->event == MF_SWITCH_NEAR || rule->event == MF_SWITCH_FAR)
            status = find_group(&inner, check->robots, "when", rule->group, &rule->other);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static mf_Status check_gait(const Check *check, const char *key, const char *name) {
    char text[200];
    for (uint32_t i = 0; i < check->group->gait_count; i++)
        if (strcmp(check->group->gaits[i], name) == 0)
            return MF_OK;
    snprintf(text, sizeof text, "expected `%.60s` in the list gaits", name);
    return refuse(&check->reader, key, text);
}

static mf_Status check_behaviour(const Check *check) {
    static const char *const soccer[] = {"walk",         "stand",       "kick_left", "kick_right",
                                         "get_up_front", "get_up_back", "dive_left", "dive_right"};
    mf_RobotsBehaviour *behaviour = &check->group->behaviour;
    mf_Status status = MF_OK;
    if (behaviour->kind == MF_ROBOTS_GAIT)
        return check_gait(check, "behaviour.gait.name", behaviour->gait);
    if (behaviour->kind != MF_ROBOTS_SOCCER)
        return MF_OK;
    for (uint32_t i = 0; i < (behaviour->keeper ? 8u : 6u) && status == MF_OK; i++)
        status = check_gait(check, "behaviour.soccer", soccer[i]);
    if (status == MF_OK)
        status = find_group(&check->reader, check->robots, "behaviour.soccer.ball", behaviour->ball,
                            &behaviour->ball_group);
    return status;
}

static mf_Status check_group(const Check *check) {
    const mf_RobotsGroup *group = check->group;
    char text[160];
    mf_Status status = check_name(check);
    if (status == MF_OK)
        status = check_multiple(&check->reader, "control_interval", group->control_interval,
                                check->robots->step);
    if (status == MF_OK && group->place_count != 0 && group->place_count != group->count) {
        snprintf(text, sizeof text, "expected as many as robots (%u), found %u", group->count,
                 group->place_count);
        status = refuse(&check->reader, "places", text);
    }
    if (status == MF_OK && group->gait_count > MF_ROBOTS_GAITS) {
        snprintf(text, sizeof text, "expected at most %u, found %u", MF_ROBOTS_GAITS,
                 group->gait_count);
        status = refuse(&check->reader, "gaits", text);
    }
    if (status == MF_OK)
        status = check_rules(check);
    return status == MF_OK ? check_behaviour(check) : status;
}

static mf_Status check_all(const mf_Reader *reader, const mf_Robots *robots) {
    const mf_YamlNode *list = mf_reader_find(reader, "robots");
    const mf_Key *key = mf_keys_find(reader->table, "robots", strlen("robots"));
    const mf_YamlNode *node = list->first;
    mf_Status status =
        check_multiple(reader, "world.switch_interval", robots->switch_interval, robots->step);
    if (status == MF_OK)
        status = check_multiple(reader, "world.play_interval", robots->play_interval, robots->step);
    if (status == MF_OK && robots->group_count > MF_ROBOTS_GROUPS)
        status = mf_yaml_fail(reader->tree, list, true, MF_LIMIT, reader->error,
                              "robots: expected at most %u groups, found %u", MF_ROBOTS_GROUPS,
                              robots->group_count);
    for (uint32_t i = 0; i < robots->group_count && status == MF_OK; i++, node = node->next) {
        Check check = {mf_reader_entry(reader, key, node, i), robots, &robots->groups[i]};
        check.reader.base = check.group;
        status = check_group(&check);
    }
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status read_tree(mf_Reader *reader, mf_Robots *robots, const mf_Override *overrides,
                           uint32_t count) {
    mf_Status status = MF_OK;
    if (reader->root->kind == MF_YAML_MAPPING)
        status = mf_reader_override(reader, overrides, count);
    if (status == MF_OK)
        status = mf_reader_read(reader);
    if (status == MF_OK)
        status = mf_reader_check_ground(reader, robots->terrain_path != NULL, &robots->generator);
    if (status == MF_OK)
        status = check_all(reader, robots);
    return status == MF_OK ? mf_reader_take_file_name(reader, &robots->file, &robots->name)
                           : status;
}

mf_Status mf_robots_parse(mf_Context *context, const char *path, const char *text, size_t size,
                          const mf_Override *overrides, uint32_t override_count, mf_Robots **out,
                          mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL || (text == NULL && size != 0) ||
        (overrides == NULL && override_count != 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: context, path or text is NULL");
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
    mf_Reader reader = {.tree = &tree,
                        .table = mf_robots_table(),
                        .root = tree.root,
                        .base = &box->robots,
                        .what = "robots",
                        .memory = &box->memory,
                        .error = error};
    status = read_tree(&reader, &box->robots, overrides, override_count);
    box->robots.context = context;
    mf_yaml_free(&tree);
    if (status != MF_OK) {
        mf_robots_destroy(&box->robots);
        return status;
    }
    *out = &box->robots;
    return MF_OK;
}

mf_Status mf_robots_load(mf_Context *context, const char *path, const mf_Override *overrides,
                         uint32_t override_count, mf_Robots **out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: context or path is NULL");
    char *text;
    size_t size;
    mf_Status status = mf_file_read(context, path, MF_YAML_BYTES, &text, &size, error);
    if (status != MF_OK)
        return status;
    status = mf_robots_parse(context, path, text, size, overrides, override_count, out, error);
    mf_release(context, text);
    return status;
}

void mf_robots_destroy(mf_Robots *robots) {
    if (robots == NULL)
        return;
    Box *box = (Box *)robots;
    mf_Context *context = robots->context;
    mf_key_memory_free(&box->memory);
    mf_release(context, box);
}

mf_Status mf_robots_write(const mf_Robots *robots, char **text, mf_Error *error) {
    if (text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: text is NULL");
    *text = NULL;
    if (robots == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: robots is NULL");
    return mf_keys_write(robots->context, mf_robots_table(), robots, text, error);
}
