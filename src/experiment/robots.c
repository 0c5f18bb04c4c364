// Files of robots: read by the tables of keys, then what one key says about another. Either a whole
// file comes out or nothing.
#include "experiment/document.h"
#include "experiment/robots_keys.h"
#include "experiment/yaml_text.h"

#include <string.h>

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
    if (robots == NULL)
        return 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < robots->group_count; i++)
        count += robots->groups[i].count;
    return count;
}

// ---- checks ------------------------------------------------------------------------------------

static mf_Status check_name(const Check *check) {
    const char *name = check->group->name;
    mf_Status status = mf_reader_check_name(&check->reader, name);
    for (const mf_RobotsGroup *other = check->robots->groups; other < check->group; other++)
        if (status == MF_OK && strcmp(other->name, name) == 0)
            return mf_reader_refuse(&check->reader, "name", NULL,
                                    "expected each name once, found it again");
    return status;
}

static mf_Status find_group(const mf_Reader *reader, const mf_Robots *robots, const char *key,
                            const char *name, uint32_t *out) {
    for (uint32_t i = 0; i < robots->group_count; i++)
        if (strcmp(robots->groups[i].name, name) == 0) {
            *out = i;
            return MF_OK;
        }
    return mf_reader_refuse(reader, key, NULL, "expected the name of a group, found '%.100s'",
                            name);
}

static mf_Status check_rules(const Check *check) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < check->group->rule_count && status == MF_OK; i++) {
        mf_Reader inner = mf_reader_item(&check->reader, "switch", i);
        mf_SwitchRule *rule = inner.base;
        if (rule->event == MF_SWITCH_NEAR || rule->event == MF_SWITCH_FAR)
            status = find_group(&inner, check->robots, "when", rule->group, &rule->other);
        if (status == MF_OK && rule->to == MF_ROBOTS_OWN && check->group->plugin_count == 0)
            status = mf_reader_refuse(&inner, "to", NULL, "own: expected a motion among plugins");
    }
    return status;
}

static mf_Status check_gait(const Check *check, const char *key, const char *name) {
    for (uint32_t i = 0; i < check->group->gait_count; i++)
        if (strcmp(check->group->gaits[i], name) == 0)
            return MF_OK;
    return mf_reader_refuse(&check->reader, key, NULL, "expected `%.60s` in the list gaits", name);
}

// One ball for all, and a goal on either side of the middle line.
static mf_Status check_game(const Check *check) {
    mf_RobotsBehaviour *own = &check->group->behaviour;
    mf_Status status = find_group(&check->reader, check->robots, "behaviour.soccer.ball", own->ball,
                                  &own->ball_group);
    for (const mf_RobotsGroup *other = check->robots->groups; other < check->group; other++)
        if (status == MF_OK && other->behaviour.kind == MF_ROBOTS_SOCCER &&
            other->behaviour.ball_group != own->ball_group)
            return mf_reader_refuse(&check->reader, "behaviour.soccer.ball", NULL,
                                    "expected the ball of group %.80s, '%.80s', found '%.80s'",
                                    other->name, other->behaviour.ball, own->ball);
    if (status == MF_OK && !(own->goal[0] * own->own_goal[0] < 0.0))
        return mf_reader_refuse(&check->reader, "behaviour.soccer.own_goal", NULL,
                                "expected it on the other side of x = 0 than goal");
    return status;
}

static mf_Status check_behaviour(const Check *check) {
    static const char *const soccer[] = {"walk",         "stand",       "kick_left", "kick_right",
                                         "get_up_front", "get_up_back", "dive_left", "dive_right"};
    const mf_RobotsBehaviour *behaviour = &check->group->behaviour;
    mf_Status status = MF_OK;
    if (behaviour->kind == MF_ROBOTS_GAIT)
        return check_gait(check, "behaviour.gait.name", behaviour->gait);
    if (behaviour->kind != MF_ROBOTS_SOCCER)
        return MF_OK;
    for (uint32_t i = 0; i < (behaviour->keeper ? 8u : 6u) && status == MF_OK; i++)
        status = check_gait(check, "behaviour.soccer", soccer[i]);
    return status == MF_OK ? check_game(check) : status;
}

static mf_Status check_most(const Check *check, const char *key, uint32_t count, uint32_t most) {
    return count > most ? mf_reader_refuse(&check->reader, key, NULL,
                                           "expected at most %u, found %u", most, count)
                        : MF_OK;
}

static mf_Status check_plugins(const Check *check) {
    mf_Status status = check_most(check, "plugins", check->group->plugin_count, MF_ROBOTS_PLUGINS);
    for (uint32_t i = 0; i < check->group->plugin_count && status == MF_OK; i++) {
        const mf_Reader inner = mf_reader_item(&check->reader, "plugins", i);
        status =
            mf_reader_check_multiple(&inner, "tick", mf_key_period(check->group->plugins[i].tick),
                                     "world.step", check->robots->step);
    }
    return status;
}

static mf_Status check_group(const Check *check) {
    const mf_RobotsGroup *group = check->group;
    mf_Status status = check_name(check);
    if (status == MF_OK)
        status =
            mf_reader_check_multiple(&check->reader, "control_interval", group->control_interval,
                                     "world.step", check->robots->step);
    if (status == MF_OK && group->place_count != 0 && group->place_count != group->count)
        status = mf_reader_refuse(&check->reader, "places", NULL,
                                  "expected as many as robots (%u), found %u", group->count,
                                  group->place_count);
    if (status == MF_OK)
        status = check_most(check, "gaits", group->gait_count, MF_ROBOTS_GAITS);
    if (status == MF_OK)
        status = check_plugins(check);
    if (status == MF_OK && group->motion == MF_ROBOTS_OWN && group->plugin_count == 0)
        status = mf_reader_refuse(&check->reader, "motion", NULL,
                                  "own: expected a motion among plugins");
    if (status == MF_OK)
        status = check_rules(check);
    return status == MF_OK ? check_behaviour(check) : status;
}

// Recordings are HDF5, and their name has to say so.
static bool is_record_name(const char *path) {
    static const char *const endings[] = {".h5", ".hdf5"};
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(path), size = strlen(endings[i]);
        if (length > size && strcmp(path + length - size, endings[i]) == 0)
            return true;
    }
    return false;
}

static mf_Status check_record(const mf_Reader *reader, const mf_Robots *robots) {
    static const char *const others[] = {"record.every", "record.fields"};
    for (int i = 0; i < 2; i++)
        if (robots->record_path == NULL && mf_reader_find(reader, others[i]) != NULL)
            return mf_reader_refuse(reader, others[i], NULL, "expected the key record.file too");
    if (robots->record_path != NULL && !is_record_name(robots->record_path))
        return mf_reader_refuse(reader, "record.file", NULL,
                                "expected a name that ends with .h5 or .hdf5, found '%.200s'",
                                robots->record_path);
    return MF_OK;
}

static mf_Status check_all(const mf_Reader *reader, const mf_Robots *robots) {
    mf_Status status = mf_reader_check_multiple(
        reader, "world.switch_interval", robots->switch_interval, "world.step", robots->step);
    if (status == MF_OK)
        status = mf_reader_check_multiple(reader, "world.play_interval", robots->play_interval,
                                          "world.step", robots->step);
    if (status == MF_OK)
        status = check_record(reader, robots);
    if (status == MF_OK && robots->group_count > MF_ROBOTS_GROUPS)
        status = mf_yaml_fail(reader->tree, mf_reader_find(reader, "robots"), true, MF_LIMIT,
                              reader->error, "robots: expected at most %u groups, found %u",
                              MF_ROBOTS_GROUPS, robots->group_count);
    for (uint32_t i = 0; i < robots->group_count && status == MF_OK; i++) {
        const Check check = {mf_reader_item(reader, "robots", i), robots, &robots->groups[i]};
        status = check_group(&check);
    }
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status read_robots(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_Robots *robots = reader->base;
    robots->context = source->context;
    mf_Status status = mf_document_read_all(reader, mf_robots_table(), source);
    if (status == MF_OK)
        status = mf_reader_check_ground(reader, robots->terrain_path != NULL, &robots->generator);
    if (status == MF_OK)
        status = check_all(reader, robots);
    return status == MF_OK ? mf_document_take_name(reader, &robots->file, &robots->name) : status;
}

static const mf_DocumentKind robots_kind = {"robots", sizeof(mf_Robots), read_robots, NULL};

mf_Status mf_robots_parse(mf_Context *context, const char *path, const char *text, size_t size,
                          const mf_Override *overrides, uint32_t override_count, mf_Robots **out,
                          mf_Error *error) {
    const mf_DocumentSource source = {context, path, text, size, overrides, override_count, NULL};
    void *value = NULL;
    mf_Status status = mf_document_parse(&robots_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

mf_Status mf_robots_load(mf_Context *context, const char *path, const mf_Override *overrides,
                         uint32_t override_count, mf_Robots **out, mf_Error *error) {
    const mf_DocumentSource source = {context, path, NULL, 0, overrides, override_count, NULL};
    void *value = NULL;
    mf_Status status = mf_document_load(&robots_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

void mf_robots_destroy(mf_Robots *robots) {
    mf_document_destroy(&robots_kind, robots);
}

mf_Status mf_robots_write(const mf_Robots *robots, char **text, mf_Error *error) {
    if (text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: text is NULL");
    *text = NULL;
    if (robots == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: robots is NULL");
    return mf_keys_write(robots->context, mf_robots_table(), robots, text, error);
}
