// Numbers of the models that are drawn for each robot. A draw depends on the seed of the world, the
// names of the group and the number, and the robot: neither on other entries nor on other robots.
#include "scene/builder.h"
#include "scene/scene_file.h"

#include "base/memory.h"
#include "math/scalar.h"
#include "model/fields.h"
#include "world/property.h"

#include <mayfly/model_fields.h>
#include <mayfly/motion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES = 1u << 16 }; // [1] most of a group

// What is drawn so far for the robots of a group.
typedef struct Draws {
    mf_SceneBuilder *builder;
    const mf_Model *model;
    const mf_SceneGroup *from;
    mf_ModelChange *changes;
    double **values; // [robots] of each change, which its own `values` borrows
    uint32_t count;  // [1] changes
    uint32_t robots; // [1]
    const mf_SceneRandom *entry;
} Draws;

// Fields that follow when another is scaled.
static const struct {
    mf_ItemType item;
    const char *field, *too;
} followers[] = {{MF_ITEM_LINK, "mass", "inertia"}, {MF_ITEM_ACTUATOR, "gain", "bias"}};

static mf_Status refuse(const Draws *draws, mf_Status status, const char *what) {
    return mf_fail_at(draws->builder->error, status, draws->builder->file->file, draws->entry->line,
                      draws->entry->column, "randomize: %.99s: %s", draws->entry->path, what);
}

static double drawn(const Draws *draws, uint32_t robot, uint32_t item) {
    const mf_SceneRandom *entry = draws->entry;
    uint64_t hash = mf_hash_bytes(MF_HASH_START, draws->from->name, strlen(draws->from->name) + 1);
    hash = mf_hash_bytes(hash, entry->path, strlen(entry->path));
    uint32_t word[4];
    mf_random(draws->builder->file->seed, robot, (uint32_t)(hash ^ hash >> 32), item, word);
    const double unit = mf_random_unit_double(word[0], word[1]);
    const double low = entry->range[0], high = entry->range[1];
    if (entry->distribution == MF_RANDOM_LOGARITHMIC)
        return low * mf_exp(unit * mf_log(high / low));
    if (entry->distribution == MF_RANDOM_UNIFORM)
        return low + unit * (high - low);
    double cosine; // Box and Muller (1958); 1 - unit is above 0
    mf_sin_cos(2.0 * MF_PI * mf_random_unit_double(word[2], word[3]), NULL, &cosine);
    return low + high * mf_sqrt(-2.0 * mf_log(1.0 - unit)) * cosine;
}

// The values of a change, at first those of the model.
static mf_Status values_of(Draws *draws, mf_ItemType item, const char *name, uint32_t index,
                           uint32_t component, double **out) {
    for (uint32_t i = 0; i < draws->count; i++) {
        const mf_ModelChange *known = &draws->changes[i];
        *out = draws->values[i];
        if (known->item == item && known->index == index && known->first == component &&
            strcmp(known->field, name) == 0)
            return MF_OK;
    }
    if (draws->count == CHANGES)
        return refuse(draws, MF_LIMIT, "too many numbers");
    double *values = mf_allocate(draws->builder->context, draws->robots, sizeof *values);
    MF_NEED_MEMORY(values, draws->builder->error, "scene");
    uint32_t items = 0;
    const mf_ModelField *field = mf_item_field(item, name);
    const char *data = mf_model_items(draws->model, item, &items);
    const size_t at = index * mf_item_table(item)->size + field->offset;
    for (uint32_t i = 0; i < draws->robots; i++)
        memcpy(&values[i], data + at + component * sizeof(double), sizeof(double));
    draws->values[draws->count] = *out = values;
    draws->changes[draws->count++] =
        (mf_ModelChange){item, field->name, index, component, 1, values};
    return MF_OK;
}

static mf_Status draw_field(Draws *draws, mf_ItemType item, const char *name, uint32_t index,
                            uint32_t first, uint32_t count) {
    for (uint32_t c = first; c < first + count; c++) {
        double *values = NULL;
        MF_TRY(values_of(draws, item, name, index, c, &values));
        for (uint32_t i = 0; i < draws->robots; i++) {
            const double number = drawn(draws, i, index);
            values[i] = draws->entry->operation == MF_RANDOM_SCALE ? values[i] * number
                        : draws->entry->operation == MF_RANDOM_ADD ? values[i] + number
                                                                   : number;
        }
    }
    return MF_OK;
}

static mf_Status draw_item(Draws *draws, mf_ItemType item, const mf_ModelField *field,
                           uint32_t index, uint32_t first, uint32_t count) {
    MF_TRY(draw_field(draws, item, field->name, index, first, count));
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (draws->entry->operation == MF_RANDOM_SCALE && followers[i].item == item &&
            strcmp(followers[i].field, field->name) == 0)
            MF_TRY(draw_field(draws, item, followers[i].too, index, 0,
                              mf_item_field(item, followers[i].too)->count));
    return MF_OK;
}

// "link.mass" or "shape.friction.0".
static mf_Status find_field(Draws *draws, const char *name, mf_ItemType *item,
                            const mf_ModelField **field, uint32_t *first, uint32_t *count) {
    static const mf_ItemType kinds[] = {MF_ITEM_LINK, MF_ITEM_JOINT, MF_ITEM_SHAPE,
                                        MF_ITEM_ACTUATOR};
    char kind[16], own[48];
    int used = 0;
    if (sscanf(name, "%15[a-z_].%47[a-z_0-9]%n", kind, own, &used) != 2)
        return refuse(draws, MF_BAD_ARGUMENT, "expected a number such as trunk/link.mass");
    *field = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && *field == NULL; i++)
        if (strcmp(mf_item_table(kinds[i])->name, kind) == 0) {
            *item = kinds[i];
            *field = mf_item_field(kinds[i], own);
        }
    if (*field == NULL || (*field)->type != MF_VALUE_REAL)
        return refuse(draws, MF_NOT_FOUND,
                      "no such number of a link, joint, shape or actuator "
                      "(docs/reference/model_fields.md)");
    *first = 0;
    *count = (*field)->count;
    if (name[used] == '\0')
        return MF_OK;
    char *end;
    const unsigned long component = strtoul(name + used + 1, &end, 10);
    if (name[used] != '.' || end == name + used + 1 || *end != '\0' || component >= *count)
        return refuse(draws, MF_NOT_FOUND, "it has no such component");
    *first = (uint32_t)component;
    *count = 1;
    return MF_OK;
}

static mf_Status draw_entry(Draws *draws) {
    const mf_SceneRandom *entry = draws->entry;
    const char *slash = strrchr(entry->path, '/');
    mf_ItemType item = MF_ITEM_LINK;
    const mf_ModelField *field = NULL;
    uint32_t first = 0, count = 0, items = 0, found = 0;
    if (entry->distribution == MF_RANDOM_NORMAL ? entry->range[1] < 0
                                                : entry->range[0] > entry->range[1])
        return refuse(draws, MF_BAD_ARGUMENT,
                      entry->distribution == MF_RANDOM_NORMAL
                          ? "range: expected a mean and a deviation of at least 0"
                          : "range: expected the lowest value, then the largest");
    if (entry->distribution == MF_RANDOM_LOGARITHMIC && entry->range[0] <= 0)
        return refuse(draws, MF_BAD_ARGUMENT, "range: expected values above 0");
    MF_TRY(
        find_field(draws, slash != NULL ? slash + 1 : entry->path, &item, &field, &first, &count));
    mf_model_items(draws->model, item, &items);
    for (uint32_t i = 0; i < items; i++) {
        const char *name = mf_model_item_name(draws->model, item, i);
        if (slash != NULL &&
            (name == NULL || !mf_name_matches(entry->path, (size_t)(slash - entry->path), name)))
            continue;
        MF_TRY(draw_item(draws, item, field, i, first, count));
        found++;
    }
    return found > 0 ? MF_OK : refuse(draws, MF_NOT_FOUND, "the robot has none of that name");
}

static mf_Status give(Draws *draws) {
    mf_Error error = {0};
    uint32_t *robots = mf_allocate(draws->builder->context, draws->robots, sizeof *robots);
    MF_NEED_MEMORY(robots, draws->builder->error, "scene");
    for (uint32_t i = 0; i < draws->robots; i++)
        robots[i] = i;
    const uint32_t index = (uint32_t)(draws->from - draws->builder->file->groups);
    mf_Group *group = mf_world_group(draws->builder->scene->world, index);
    mf_Status status =
        mf_group_vary(group, robots, draws->robots, NULL, draws->changes, draws->count, &error);
    mf_release(draws->builder->context, robots);
    draws->entry = draws->from->random;
    return status == MF_OK
               ? MF_OK
               : mf_fail_at(draws->builder->error, status, draws->builder->file->file,
                            draws->entry->line, draws->entry->column,
                            "randomize: group %.99s: %.300s", draws->from->name, error.message);
}

mf_Status mf_scene_randomize(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    if (from->random_count == 0)
        return MF_OK;
    Draws draws = {builder, builder->scene->models[index], from, NULL, NULL, 0, 0, from->random};
    draws.robots = mf_group_count(mf_world_group(builder->scene->world, index));
    if (builder->config.evaluates || builder->file->evolves)
        return refuse(&draws, MF_UNSUPPORTED, "robots of a search are all alike");
    if (!from->isolated)
        return refuse(&draws, MF_UNSUPPORTED, "expected isolated: true for this group");
    draws.changes = mf_allocate(builder->context, CHANGES, sizeof *draws.changes);
    draws.values = mf_allocate(builder->context, CHANGES, sizeof *draws.values);
    mf_Status status = MF_OK;
    if (draws.changes == NULL || draws.values == NULL)
        status = mf_fail(builder->error, MF_NO_MEMORY, "scene: no memory");
    for (uint32_t i = 0; i < from->random_count && status == MF_OK; i++) {
        draws.entry = &from->random[i];
        status = draw_entry(&draws);
    }
    MF_THEN(status, give(&draws));
    for (uint32_t i = 0; i < draws.count; i++)
        mf_release(builder->context, draws.values[i]);
    mf_release(builder->context, draws.values);
    mf_release(builder->context, draws.changes);
    return status;
}
