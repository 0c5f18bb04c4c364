// Properties by path: matching of paths and patterns.
//
// Method: a path is compared with every group, instance, part and property in turn, without an
// index. The component before the last is a part's own name, those before it are names of its
// ancestors, any of which may be omitted; from the part upward the nearest ancestor that matches is
// used, which finds a match whenever there is one. Names may contain slashes: several components
// together may be one name, then without wildcards.
#include "world/group.h"
#include "base/floats.h"
#include "math/scalar.h"
#include "world/property.h"

#include <stdio.h>
#include <string.h>

typedef struct Text {
    const char *at;
    size_t size;
} Text;

static bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

bool mf_name_matches(const char *pattern, size_t size, const char *name) {
    const char *star = NULL, *retry = NULL;
    size_t p = 0;
    while (*name != '\0') {
        if (p < size && pattern[p] == '*') {
            star = pattern + p++;
            retry = name;
        } else if (p < size && pattern[p] == *name) {
            p++;
            name++;
        } else if (star != NULL) {
            p = (size_t)(star - pattern) + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (p < size && pattern[p] == '*')
        p++;
    return p == size;
}

// A whole number below 2^32 that is all of `text`.
static bool read_number(Text text, uint32_t *out) {
    uint64_t value = 0;
    if (text.size == 0 || text.size > 10)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.at[i]))
            return false;
        value = 10 * value + (uint64_t)(text.at[i] - '0');
    }
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

static size_t last_slash(Text text) {
    size_t at = text.size;
    while (at > 0 && text.at[at - 1] != '/')
        at--;
    return at; // [1] letters up to and including the last slash, 0 without one
}

// ---- matching paths -----------------------------------------------------------------------------

typedef struct Query {
    mf_PropertyFn visit;
    void *user;
    uint64_t visited;
    bool ended;
    // Progress of the best partial match, for messages.
    const mf_Group *group; // with a matching name
    bool robot;            // it has such an instance
    bool parts;            // one of its parts matched
    bool part;
} Query;

typedef struct Request {
    Text parts;    // names up to and including the part's own; empty: the robot itself
    Text property; // with its component, if given
} Request;

// ---- names --------------------------------------------------------------------------------------

static bool is_name(Text text, const char *name) {
    return strlen(name) == text.size && memcmp(name, text.at, text.size) == 0;
}

// Whether the components up to the end of `names` match the part and its ancestors.
static bool fits(const mf_Model *model, Text names, mf_Part part, uint32_t index) {
    for (bool own = true;; own = false) {
        const char *name = mf_part_own_name(model, part, index);
        size_t length = strlen(name), start = last_slash(names);
        Text piece = {names.at + start, names.size - start};
        bool fit = length > 0 && mf_name_matches(piece.at, piece.size, name);
        if (!fit && length > 0 && length <= names.size &&
            (length == names.size || names.at[names.size - length - 1] == '/')) {
            start = names.size - length;
            fit = is_name((Text){names.at + start, length}, name);
        }
        if (fit && start == 0)
            return true;
        if (fit)
            names.size = start - 1;
        else if (own)
            return false;
        if (!mf_part_parent(model, &part, &index))
            return false;
    }
}

// "[2]" or ".z" after a name: index of the value; elements have `width` values.
static bool read_component(Text text, uint32_t width, uint32_t *out) {
    static const char letters[] = "xyzw";
    if (text.size >= 3 && text.at[0] == '[' && text.at[text.size - 1] == ']')
        return read_number((Text){text.at + 1, text.size - 2}, out);
    const char *letter = text.size == 2 && text.at[0] == '.' ? strchr(letters, text.at[1]) : NULL;
    if (letter == NULL || text.at[1] == '\0' || width < 2 || width > 4)
        return false;
    uint32_t index = (uint32_t)(letter - letters);
    *out = width < 4 ? index : (index + 1) % 4; // quaternions begin with w
    return index < width;
}

// Units in which values can be asked for, beside those of fields and models.
static const struct {
    const char *own, *other;
    double scale; // [1] of values in `other` to those in `own`
} units[] = {{"rad", "deg", MF_PI / 180},
             {"rad/s", "deg/s", MF_PI / 180},
             {"rad/s", "rpm", MF_PI / 30},
             {"m", "mm", 1e-3},
             {"m/s", "km/h", 1 / 3.6},
             {"s", "ms", 1e-3},
             {"kg", "g", 1e-3}};

// Cuts ":rpm" off the end of a request, and gives the property that unit. False: not of its kind.
static bool choose_unit(Text *request, mf_Property *property) {
    size_t colon = request->size;
    property->scale = 1.0;
    while (colon > 0 && request->at[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return true;
    const Text unit = {request->at + colon, request->size - colon};
    request->size = colon - 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is_name(unit, units[i].other) && strcmp(property->unit, units[i].own) == 0) {
            property->unit = units[i].other;
            property->scale = units[i].scale;
            return true;
        }
    return is_name(unit, property->unit);
}

// Selects the property by its name, or one value of it.
static bool choose(Text request, mf_Property *property) {
    if (!choose_unit(&request, property))
        return false;
    if (mf_name_matches(request.at, request.size, property->name))
        return true;
    // Letters select the values of one element.
    bool element = property->field == NULL || property->field->info.width == property->count;
    uint32_t width = element ? property->count : 0;
    for (size_t cut = request.size; cut-- > 1;) {
        uint32_t component;
        if (request.at[cut] != '[' && request.at[cut] != '.')
            continue;
        Text rest = {request.at + cut, request.size - cut};
        if (!mf_name_matches(request.at, cut, property->name) ||
            !read_component(rest, width, &component) || component >= property->count)
            continue;
        property->first += component;
        if (property->constant != NULL)
            property->constant += component;
        property->count = 1;
        return true;
    }
    return false;
}

// ---- enumeration --------------------------------------------------------------------------------

static void offer(Query *query, const Request *request, mf_Property *property, mf_Group *group,
                  uint32_t instance) {
    if (query->ended || !choose(request->property, property))
        return;
    property->group = group;
    property->instance = instance;
    query->visited++;
    query->ended = !query->visit(property, query->user);
}

static void visit_part(Query *query, const Request *request, mf_Group *group, uint32_t instance,
                       mf_Part part, uint32_t index) {
    const mf_Model *model = group->config.model;
    mf_Property property;
    for (uint32_t f = 0; f < group->field_count; f++)
        if (mf_part_field(model, part, index, &group->fields[f], &property))
            offer(query, request, &property, group, instance);
    for (uint32_t n = 0; mf_part_constant(model, part, index, n, &property); n++)
        offer(query, request, &property, group, instance);
}

static void visit_robot(Query *query, Text path, mf_Group *group, uint32_t instance) {
    const mf_Model *model = group->config.model;
    size_t slash = last_slash(path);
    Request request = {.parts = {path.at, slash > 0 ? slash - 1 : 0},
                       .property = {path.at + slash, path.size - slash}};
    query->robot = true;
    query->parts = slash > 0;
    if (slash == 0) {
        visit_part(query, &request, group, instance, MF_PART_ROBOT, 0);
        return;
    }
    for (mf_Part part = MF_PART_LINK; part < MF_PART_COUNT; part++)
        for (uint32_t i = 0; i < mf_part_count(model, part) && !query->ended; i++) {
            if (!fits(model, request.parts, part, i))
                continue;
            query->part = true;
            visit_part(query, &request, group, instance, part, i);
        }
}

// Instances of the group selected by `text`: "robots" all, "robots[3]", "robots[*]", "robots3".
static bool read_robot(Text text, const mf_Group *group, uint32_t *first, uint32_t *count) {
    const char *name = group->config.name;
    *first = 0;
    *count = group->config.count;
    if (mf_name_matches(text.at, text.size, name))
        return true;
    size_t end = text.size;
    if (end > 0 && text.at[end - 1] == ']') {
        while (end > 0 && text.at[end - 1] != '[')
            end--;
        if (end < 2 || !mf_name_matches(text.at, end - 1, name))
            return false;
        Text inside = {text.at + end, text.size - end - 1};
        if (inside.size == 1 && inside.at[0] == '*')
            return true;
        *count = 1;
        return read_number(inside, first);
    }
    *count = 1;
    for (; end > 1 && is_digit(text.at[end - 1]); end--)
        if (mf_name_matches(text.at, end - 1, name))
            return read_number((Text){text.at + end - 1, text.size - end + 1}, first);
    return false;
}

// Names may end with digits: among the groups that robot21 could mean, the one with the longest
// name is used.
static bool means_other(Text text, const mf_Group *group) {
    const mf_World *world = group->world;
    for (uint32_t g = 0; g < world->group_count; g++) {
        const char *name = world->groups[g]->config.name;
        size_t length = strlen(name);
        if (length <= strlen(group->config.name) || length > text.size ||
            memcmp(name, text.at, length) != 0)
            continue;
        while (length < text.size && is_digit(text.at[length]))
            length++;
        if (length == text.size)
            return true;
    }
    return false;
}

static void visit_group(Query *query, Text path, mf_Group *group) {
    for (size_t cut = 1; cut < path.size && !query->ended; cut++) {
        Text robot = {path.at, cut}, rest = {path.at + cut + 1, path.size - cut - 1};
        uint32_t first, count;
        if (path.at[cut] != '/' || !read_robot(robot, group, &first, &count) ||
            means_other(robot, group))
            continue;
        query->group = group;
        for (uint32_t i = first; i < group->config.count && i - first < count && !query->ended; i++)
            visit_robot(query, rest, group, i);
    }
}

static void visit_world(Query *query, mf_World *world, const char *pattern) {
    Text path = {pattern, strlen(pattern)};
    for (uint32_t g = 0; path.size < MF_PROPERTY_PATH && g < world->group_count; g++)
        visit_group(query, path, world->groups[g]);
}

uint64_t mf_property_list(mf_World *world, const char *pattern, mf_PropertyFn visit, void *user) {
    if (world == NULL)
        return 0;
    Query query = {.visit = visit, .user = user};
    visit_world(&query, world, pattern);
    return query.visited;
}

uint64_t mf_property_list_in(mf_Group *group, uint32_t instance, const char *pattern,
                             mf_PropertyFn visit, void *user) {
    if (group == NULL)
        return 0;
    Query query = {.visit = visit, .user = user};
    Text path = {pattern, strlen(pattern)};
    if (path.size < MF_PROPERTY_PATH && instance < group->config.count)
        visit_robot(&query, path, group, instance);
    return query.visited;
}

// ---- one of them --------------------------------------------------------------------------------

typedef struct Found {
    mf_Property first, second;
    uint32_t count;
} Found;

static bool keep_two(const mf_Property *property, void *user) {
    Found *found = user;
    *(found->count == 0 ? &found->first : &found->second) = *property;
    return ++found->count < 2;
}

typedef struct Near {
    const char *request;
    size_t same; // [1] length of the common prefix
    const char *name;
} Near;

// Names that share less than half of what was typed are no suggestion.
static void compare_name(Near *near, const char *name) {
    size_t same = 0;
    while (name[same] != '\0' && near->request[same] == name[same])
        same++;
    if (same > near->same && 2 * same >= strlen(near->request)) {
        near->same = same;
        near->name = name;
    }
}

static bool compare_property(const mf_Property *property, void *user) {
    compare_name(user, property->name);
    return true;
}

// What replaces the fields of the sensors that earlier versions had, and what other programs call
// ours.
static const char *successor_of(const char *name) {
    static const char *const pairs[][2] = {
        {"sensor.contact", "SENSOR/sensor.value, with the name of a contact sensor"},
        {"sensor.ray", "SENSOR/sensor.value, with the name of a ray sensor"},
        {"sensor.joint", "joint.angle"},
        {"sensor.attitude", "SENSOR/sensor.value, with the name of an attitude sensor"},
        {"joint.position", "joint.angle"},
        {"joint.velocity", "joint.rate"},
        {"joint.effort", "joint.torque"},
        {"base.velocity", "base.linear_velocity"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(name, pairs[i][0], strlen(pairs[i][0])) == 0)
            return pairs[i][1];
    return NULL;
}

// The units in which a property can be asked for, into the 64 bytes at `user`.
static bool list_units(const mf_Property *property, void *user) {
    char *out = user;
    strcpy(out, property->unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].own, property->unit) == 0)
            strcat(strcat(out, ", "), units[i].other);
    return false;
}

// A path that ends with an unknown unit.
static mf_Status explain_unit(mf_Group *group, const char *path, const char *last,
                              mf_Error *error) {
    char plain[MF_PROPERTY_PATH], known[64] = "";
    const char *colon = strrchr(last, ':');
    if (colon == NULL)
        return MF_OK;
    snprintf(plain, sizeof plain, "%.*s", (int)(colon - path), path);
    mf_property_list_in(group, 0, plain, list_units, known);
    if (known[0] == '\0')
        mf_property_list(group->world, plain, list_units, known);
    return known[0] == '\0'
               ? MF_OK
               : mf_fail(error, MF_NOT_FOUND, "property %.99s: no unit %.20s, expected one of %s",
                         path, colon + 1, known);
}

// Reports which component does not match.
static mf_Status explain(const Query *query, const char *path, const char *last, mf_Error *error) {
    const mf_Group *group = query->group;
    MF_CHECK(query->robot, error, MF_NOT_FOUND, "property %.99s: group %.99s has instances 0 .. %u",
             path, group->config.name, group->config.count - 1);
    const mf_Model *model = group->config.model;
    Near near = {.request = last, .name = ""};
    MF_TRY(explain_unit((mf_Group *)(uintptr_t)group, path, last, error)); // does not change it
    const char *successor = successor_of(last);
    MF_CHECK(successor == NULL, error, MF_NOT_FOUND, "property %.99s: there is no %.60s; say %s",
             path, last, successor);
    if (query->part || !query->parts) {
        // The field access needs a non-const group, but does not change it.
        mf_Group *any = (mf_Group *)(uintptr_t)group;
        mf_property_list_in(any, 0, query->part ? "*/*" : "*", compare_property, &near);
        return mf_fail(error, MF_NOT_FOUND, "property %.99s: there is no %.60s%s%.60s", path, last,
                       near.name[0] != '\0' ? "; near: " : "", near.name);
    }
    const char *part = last;
    for (part--; part > path && part[-1] != '/';)
        part--;
    near.request = part;
    for (mf_Part kind = MF_PART_LINK; kind < MF_PART_COUNT; kind++)
        for (uint32_t i = 0; i < mf_part_count(model, kind); i++)
            compare_name(&near, mf_part_own_name(model, kind, i));
    return mf_fail(error, MF_NOT_FOUND,
                   "property %.99s: %.60s has no such link, joint, actuator or sensor%s%.60s", path,
                   model->name, near.name[0] != '\0' ? "; near: " : "", near.name);
}

static mf_Status settle(const Query *query, const Found *found, const char *path, mf_Property *out,
                        mf_Error *error) {
    char one[128], two[128];
    const char *slash = strrchr(path, '/'), *last = slash != NULL ? slash + 1 : path;
    if (found->count == 1) {
        *out = found->first;
        return MF_OK;
    }
    if (found->count == 0)
        return explain(query, path, last, error);
    return mf_fail(error, MF_BAD_ARGUMENT, "property %.99s: may be %s or %s", path,
                   mf_property_path(&found->first, one, sizeof one),
                   mf_property_path(&found->second, two, sizeof two));
}

static mf_Status check_path(const char *path, mf_Error *error) {
    MF_NEED(path != NULL && path[0] != '\0', error, "property: expected a path, found nothing");
    for (size_t i = 0; path[i] != '\0'; i++)
        if (i + 2 > MF_PROPERTY_PATH)
            return mf_fail(error, MF_BAD_ARGUMENT, "property: expected a path below %u bytes",
                           MF_PROPERTY_PATH);
    return MF_OK;
}

mf_Status mf_property_find(mf_World *world, const char *path, mf_Property *out, mf_Error *error) {
    MF_NEED(world != NULL && out != NULL, error, "mf_property_find: world or out is NULL");
    Found found = {.count = 0};
    Query query = {.visit = keep_two, .user = &found};
    *out = (mf_Property){0};
    MF_TRY(check_path(path, error));
    visit_world(&query, world, path);
    if (query.group != NULL)
        return settle(&query, &found, path, out, error);
    return mf_fail(error, MF_NOT_FOUND,
                   "property %.99s: expected a robot first, such as %.99s[0]/..., found none", path,
                   world->group_count > 0 ? world->groups[0]->config.name : "robots");
}

mf_Status mf_property_find_in(mf_Group *group, uint32_t instance, const char *path,
                              mf_Property *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (group == NULL || out == NULL || instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_property_find_in: there is no such group or robot, or out is NULL");
    Found found = {.count = 0};
    Query query = {.visit = keep_two, .user = &found, .group = group};
    *out = (mf_Property){0};
    MF_TRY(check_path(path, error));
    if (instance < group->config.count)
        visit_robot(&query, (Text){path, strlen(path)}, group, instance);
    return settle(&query, &found, path, out, error);
}

bool mf_property_moves(const mf_Property *property) {
    for (uint32_t s = 0; s < mf_group_system_count(property->group); s++) {
        const mf_SystemConfig *system = mf_group_system(property->group, s);
        if (system->phase < MF_PHASE_MOTION)
            continue;
        if (system->writes == NULL)
            return true;
        for (const char *const *name = system->writes; *name != NULL; name++)
            if (strcmp(*name + (**name == '?'), property->field->info.name) == 0)
                return true;
    }
    return false;
}

bool mf_property_is_rotation(const mf_Property *property) {
    const char *end = strrchr(property->name, '.');
    return property->field != NULL && property->field->info.width == 4 && end != NULL &&
           strcmp(end, ".orientation") == 0;
}
