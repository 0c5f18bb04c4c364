// Numbers of the models that are drawn for each robot: at the start, again at each of its resets,
// and of a search for each genome. A draw depends on the seed of the world, the names of the group
// and the number, and the robot and its episode, or the genome: neither on other entries nor on
// other robots.
#include "scene/builder.h"
#include "scene/scene_file.h"

#include "base/memory.h"
#include "math/scalar.h"
#include "model/fields.h"
#include "world/attach.h"
#include "world/property.h"
#include "world/systems.h"

#include <mayfly/model_fields.h>
#include <mayfly/motion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char system_name[] = "randomize";

static const mf_FieldInfo fields[] = {
    MF_FIELD_INFO("randomize.episode", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                  "resets since the start, each of which draws numbers of the model anew"),
    MF_FIELD_INFO("randomize.refused", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                  "draws that no model can have, as negative masses: the robot kept its numbers")};

// One number that is drawn for one component of an item.
typedef struct Draw {
    mf_RandomOperation operation;
    mf_RandomDistribution distribution;
    double range[2];
    uint32_t stream, item; // [1] of the random numbers
    uint32_t change;       // [1] that it is applied to
} Draw;

// What is drawn for a robot of a group, in this order.
typedef struct Draws {
    mf_Context *context;
    mf_Group *group;
    uint64_t seed;
    Draw *list; // NULL while it is counted; the others are in its block
    mf_ModelChange *changes;
    double *nominals; // of changes, in the model
    uint32_t count, change_count;
    mf_Field *episode, *refused;
} Draws;

// How it is made from the entries of a file.
typedef struct Draft {
    mf_SceneBuilder *builder;
    const mf_Model *model;
    const mf_SceneGroup *from;
    const mf_SceneRandom *entry;
    Draws *out;
} Draft;

// Fields that follow when another is scaled.
static const struct {
    mf_ItemType item;
    const char *field, *too;
} followers[] = {{MF_ITEM_LINK, "mass", "inertia"}, {MF_ITEM_ACTUATOR, "gain", "bias"}};

static mf_Status refuse(const Draft *draft, mf_Status status, const char *what) {
    return mf_fail_at(draft->builder->error, status, draft->builder->file->file, draft->entry->line,
                      draft->entry->column, "randomize: %.99s: %s", draft->entry->path, what);
}

// ---- drawing ------------------------------------------------------------------------------------

static double drawn(const Draw *draw, uint64_t seed, uint32_t robot) {
    uint32_t word[4];
    mf_random(seed, robot, draw->stream, draw->item, word);
    const double unit = mf_random_unit_double(word[0], word[1]);
    const double low = draw->range[0], high = draw->range[1];
    if (draw->distribution == MF_RANDOM_LOGARITHMIC)
        return low * mf_exp(unit * mf_log(high / low));
    if (draw->distribution == MF_RANDOM_UNIFORM)
        return low + unit * (high - low);
    double cosine; // Box and Muller (1958); 1 - unit is above 0
    mf_sin_cos(2.0 * MF_PI * mf_random_unit_double(word[2], word[3]), NULL, &cosine);
    return low + high * mf_sqrt(-2.0 * mf_log(1.0 - unit)) * cosine;
}

static void apply(const Draw *draw, double number, double *value) {
    *value = draw->operation == MF_RANDOM_SCALE ? *value * number
             : draw->operation == MF_RANDOM_ADD ? *value + number
                                                : number;
}

// Gives a robot numbers that are drawn by `seed` as for the robot `who`.
static mf_Status give(const Draws *draws, uint32_t robot, uint64_t seed, uint32_t who,
                      mf_Error *error) {
    mf_ModelChange *changes;
    double *values;
    const mf_Array arrays[] = {MF_ARRAY(changes, draws->change_count),
                               MF_ARRAY(values, draws->change_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(draws->context, arrays, 2), error, "scene");
    for (uint32_t c = 0; c < draws->change_count; c++) {
        changes[c] = draws->changes[c];
        values[c] = draws->nominals[c];
        changes[c].values = &values[c];
    }
    for (uint32_t d = 0; d < draws->count; d++) {
        const Draw *draw = &draws->list[d];
        apply(draw, drawn(draw, seed, who), &values[draw->change]);
    }
    const mf_Status status =
        mf_group_vary(draws->group, &robot, 1, NULL, changes, draws->change_count, error);
    mf_release(draws->context, changes);
    return status;
}

static void give_or_count(const Draws *draws, uint32_t robot, uint64_t seed, uint32_t who) {
    if (give(draws, robot, seed, who, NULL) != MF_OK)
        mf_field_set(draws->refused, robot, 0, mf_field_get(draws->refused, robot, 0) + 1);
}

// A reset begins an episode.
static void redraw(mf_Group *group, uint32_t robot, void *user) {
    const Draws *draws = user;
    if (draws->episode == NULL) // the reset with which the system is added
        return;
    const double episode = mf_field_get(draws->episode, robot, 0) + 1;
    uint64_t seed = mf_hash_bytes(MF_HASH_START, &draws->seed, sizeof draws->seed);
    seed = mf_hash_bytes(seed, &episode, sizeof episode);
    (void)group;
    mf_field_set(draws->episode, robot, 0, episode);
    give_or_count(draws, robot, seed, robot);
}

void mf_scene_randomize_life(const mf_Scene *scene, uint32_t robot, const uint8_t *genome,
                             uint32_t bytes) {
    for (uint32_t i = 0; i < mf_group_system_count(scene->group); i++) {
        const mf_SystemConfig *system = mf_group_system(scene->group, i);
        if (system->reset != redraw)
            continue;
        const Draws *draws = system->user;
        const uint64_t seed = mf_hash_bytes(MF_HASH_START, &draws->seed, sizeof draws->seed);
        give_or_count(draws, robot, mf_hash_bytes(seed, genome, bytes), 0);
    }
}

// ---- the entries of a file ----------------------------------------------------------------------

// The change of a component.
static uint32_t change_of(const Draft *draft, mf_ItemType item, const char *name, uint32_t index,
                          uint32_t component) {
    Draws *out = draft->out;
    uint32_t i = 0, items = 0;
    for (; i < out->change_count; i++) {
        const mf_ModelChange *known = &out->changes[i];
        if (known->item == item && known->index == index && known->first == component &&
            strcmp(known->field, name) == 0)
            return i;
    }
    const mf_ModelField *field = mf_item_field(item, name);
    const char *data = mf_model_items(draft->model, item, &items);
    const size_t at = index * mf_item_table(item)->size + field->offset;
    memcpy(&out->nominals[i], data + at + component * sizeof(double), sizeof(double));
    out->changes[i] = (mf_ModelChange){item, field->name, index, component, 1, NULL};
    out->change_count++;
    return i;
}

static void add_draws(const Draft *draft, mf_ItemType item, const char *name, uint32_t index,
                      uint32_t first, uint32_t count) {
    const mf_SceneRandom *entry = draft->entry;
    uint64_t hash = mf_hash_bytes(MF_HASH_START, draft->from->name, strlen(draft->from->name) + 1);
    hash = mf_hash_bytes(hash, entry->path, strlen(entry->path));
    for (uint32_t c = first; c < first + count; c++) {
        if (draft->out->list != NULL)
            draft->out->list[draft->out->count] =
                (Draw){.operation = entry->operation,
                       .distribution = entry->distribution,
                       .range = {entry->range[0], entry->range[1]},
                       .stream = (uint32_t)(hash ^ hash >> 32),
                       .item = index,
                       .change = change_of(draft, item, name, index, c)};
        draft->out->count++;
    }
}

static void add_item(const Draft *draft, mf_ItemType item, const mf_ModelField *field,
                     uint32_t index, uint32_t first, uint32_t count) {
    add_draws(draft, item, field->name, index, first, count);
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (draft->entry->operation == MF_RANDOM_SCALE && followers[i].item == item &&
            strcmp(followers[i].field, field->name) == 0)
            add_draws(draft, item, followers[i].too, index, 0,
                      mf_item_field(item, followers[i].too)->count);
}

// "link.mass" or "shape.friction.0".
static mf_Status find_field(Draft *draft, const char *name, mf_ItemType *item,
                            const mf_ModelField **field, uint32_t *first, uint32_t *count) {
    static const mf_ItemType kinds[] = {MF_ITEM_LINK, MF_ITEM_JOINT, MF_ITEM_SHAPE,
                                        MF_ITEM_ACTUATOR};
    char kind[16], own[48];
    int used = 0;
    if (sscanf(name, "%15[a-z_].%47[a-z_0-9]%n", kind, own, &used) != 2)
        return refuse(draft, MF_BAD_ARGUMENT, "expected a number such as trunk/link.mass");
    *field = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && *field == NULL; i++)
        if (strcmp(mf_item_table(kinds[i])->name, kind) == 0) {
            *item = kinds[i];
            *field = mf_item_field(kinds[i], own);
        }
    if (*field == NULL || (*field)->type != MF_VALUE_REAL)
        return refuse(draft, MF_NOT_FOUND,
                      "no such number of a link, joint, shape or actuator "
                      "(docs/reference/model_fields.md)");
    *first = 0;
    *count = (*field)->count;
    if (name[used] == '\0')
        return MF_OK;
    char *end;
    const unsigned long component = strtoul(name + used + 1, &end, 10);
    if (name[used] != '.' || end == name + used + 1 || *end != '\0' || component >= *count)
        return refuse(draft, MF_NOT_FOUND, "it has no such component");
    *first = (uint32_t)component;
    *count = 1;
    return MF_OK;
}

static mf_Status add_entry(Draft *draft) {
    const mf_SceneRandom *entry = draft->entry;
    const char *slash = strrchr(entry->path, '/');
    mf_ItemType item = MF_ITEM_LINK;
    const mf_ModelField *field = NULL;
    uint32_t first = 0, count = 0, items = 0, found = 0;
    if (entry->distribution == MF_RANDOM_NORMAL ? entry->range[1] < 0
                                                : entry->range[0] > entry->range[1])
        return refuse(draft, MF_BAD_ARGUMENT,
                      entry->distribution == MF_RANDOM_NORMAL
                          ? "range: expected a mean and a deviation of at least 0"
                          : "range: expected the lowest value, then the largest");
    if (entry->distribution == MF_RANDOM_LOGARITHMIC && entry->range[0] <= 0)
        return refuse(draft, MF_BAD_ARGUMENT, "range: expected values above 0");
    MF_TRY(
        find_field(draft, slash != NULL ? slash + 1 : entry->path, &item, &field, &first, &count));
    mf_model_items(draft->model, item, &items);
    for (uint32_t i = 0; i < items; i++) {
        const char *name = mf_model_item_name(draft->model, item, i);
        if (slash != NULL &&
            (name == NULL || !mf_name_matches(entry->path, (size_t)(slash - entry->path), name)))
            continue;
        add_item(draft, item, field, i, first, count);
        found++;
    }
    return found > 0 ? MF_OK : refuse(draft, MF_NOT_FOUND, "the robot has none of that name");
}

// Counts the draws, or with a list fills it.
static mf_Status add_entries(Draft *draft) {
    draft->out->count = 0;
    for (uint32_t i = 0; i < draft->from->random_count; i++) {
        draft->entry = &draft->from->random[i];
        MF_TRY(add_entry(draft));
    }
    draft->entry = draft->from->random;
    return MF_OK;
}

static void destroy(mf_Context *context, void *user) {
    Draws *draws = user;
    mf_release(context, draws->list);
    mf_release(context, draws);
}

// The first numbers of all robots.
static mf_Status begin(const Draft *draft) {
    const Draws *draws = draft->out;
    mf_Error error = {0};
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < mf_group_count(draws->group) && status == MF_OK; i++)
        status = give(draws, i, draws->seed, i, &error);
    return status == MF_OK
               ? MF_OK
               : mf_fail_at(draft->builder->error, status, draft->builder->file->file,
                            draft->entry->line, draft->entry->column,
                            "randomize: group %.99s: %.300s", draft->from->name, error.message);
}

static mf_Status make(Draft *draft) {
    mf_Error *error = draft->builder->error;
    Draws *draws = draft->out;
    mf_SystemConfig system = mf_attach_system(system_name, MF_PHASE_SENSE, NULL, draws);
    MF_TRY(add_entries(draft));
    const mf_Array arrays[] = {MF_ARRAY(draws->list, draws->count),
                               MF_ARRAY(draws->changes, draws->count),
                               MF_ARRAY(draws->nominals, draws->count)};
    MF_NEED_MEMORY(mf_allocate_arrays(draws->context, arrays, 3), error, "scene");
    MF_TRY(add_entries(draft));
    system.reset = redraw;
    system.destroy = destroy;
    return mf_group_add_system(draws->group, &system, error);
}

mf_Status mf_scene_randomize(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Group *group = mf_world_group(builder->scene->world, index);
    Draft draft = {builder, builder->scene->models[index], from, from->random, NULL};
    if (from->random_count == 0)
        return MF_OK;
    if (!mf_group_config_of(group)->isolated)
        return refuse(&draft, MF_UNSUPPORTED, "expected isolated: true for this group");
    MF_TRY(MF_ALLOCATE(builder->context, "scene", builder->error, MF_ARRAY(draft.out, 1)));
    draft.out->context = builder->context;
    draft.out->group = group;
    draft.out->seed = builder->file->seed;
    const mf_Status status = make(&draft);
    if (status != MF_OK) {
        destroy(builder->context, draft.out);
        return status;
    }
    MF_TRY(begin(&draft));
    MF_TRY(mf_attach_field(group, &fields[1], 0, &draft.out->refused, builder->error));
    return mf_attach_field(group, &fields[0], 0, &draft.out->episode, builder->error);
}
