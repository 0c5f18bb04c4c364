// Distances: tests all pairs of solids of two bodies except those whose spheres are farther apart
// than the nearest pair so far. The sphere of a solid bounds both its depth and its distance.
#include "solve/query.h"
#include "base/floats.h"
#include "math/scalar.h"

#include <math.h>

mf_DistanceConfig mf_distance_config(void) {
    return (mf_DistanceConfig){.struct_size = sizeof(mf_DistanceConfig),
                               .a = {.link = MF_NONE},
                               .b = {.link = MF_NONE},
                               .reach = (double)INFINITY};
}

typedef struct Side {
    mf_QueryGroup *group;
    const mf_QueryPose *pose;
    uint32_t instance, link; // [1]
} Side;

// Whether the body has a shape that distances know.
static bool has_solids(const mf_Query *query, const mf_DistanceBody *body) {
    const mf_Compound *all = query->groups[mf_query_number(query, body->group)].compound;
    for (uint32_t i = 0; i < all->solid_count; i++)
        if (body->link == MF_NONE || all->solids[i].link == body->link)
            return true;
    return false;
}

static mf_Status check_body(const mf_Query *query, const mf_DistanceBody *body, const char *name,
                            mf_Error *error) {
    if (body->group == NULL || mf_query_number(query, body->group) == MF_NONE)
        return mf_fail(error, MF_BAD_ARGUMENT, "distance.%s: not a group of this world", name);
    if (body->instance >= mf_group_count(body->group))
        return mf_fail(error, MF_BAD_ARGUMENT, "distance.%s: group %s has %u robots, no robot %u",
                       name, mf_group_config_of(body->group)->name, mf_group_count(body->group),
                       body->instance);
    if (body->link != MF_NONE && body->link >= mf_group_model(body->group)->link_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "distance.%s: model %s has no link %u", name,
                       mf_group_model(body->group)->name, body->link);
    if (has_solids(query, body))
        return MF_OK;
    const mf_Model *model = mf_group_model(body->group);
    MF_NEED(body->link != MF_NONE, error,
            "distance.%s: model %s has no shapes that collide, but for points, planes "
            "and height fields",
            name, model->name);
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "distance.%s: link %s of model %s has no shapes that collide, but for points, "
                   "planes and height fields",
                   name, model->links[body->link].name, model->name);
}

static mf_Status check(const mf_Query *query, const mf_DistanceConfig *config, mf_Error *error) {
    const mf_DistanceBody *a = &config->a, *b = &config->b;
    MF_NEED(config->reach > 0.0, error, "distance.reach: %g, need > 0 m", config->reach);
    MF_TRY(check_body(query, a, "a", error));
    if (b->group == NULL && mf_group_config_of(a->group)->isolated)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "distance: a robot of the isolated group %s is alone in its space; name two "
                       "links of it",
                       mf_group_config_of(a->group)->name);
    if (b->group == NULL)
        return MF_OK;
    MF_TRY(check_body(query, b, "b", error));
    const bool same = a->group == b->group && a->instance == b->instance;
    if (same && (a->link == MF_NONE || b->link == MF_NONE || a->link == b->link))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "distance: a and b are one instance, need two links of it");
    if (!same && (mf_group_config_of(a->group)->isolated || mf_group_config_of(b->group)->isolated))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "distance: robots of isolated groups have no common space");
    return MF_OK;
}

static bool is_of(const Side *side, uint32_t solid) {
    return side->link == MF_NONE || side->group->compound->solids[solid].link == side->link;
}

static mf_ShapeOwner owner_of(const Side *side, uint32_t solid) {
    const uint32_t shape = side->group->compound->solids[solid].shape;
    return (mf_ShapeOwner){side->group->group, side->instance,
                           side->group->model->shapes[shape].link, shape};
}

static bool too_far(const mf_GapSolid *a, const mf_GapSolid *b, double most) {
    double offset[3];
    mf_vec3_sub(offset, b->position, a->position);
    const double sum = a->values[MF_COLLIDE_RADIUS] + b->values[MF_COLLIDE_RADIUS];
    // Slightly reduced because of rounding.
    return mf_vec3_length(offset) * (1.0 - 1e-9) - sum * (1.0 + 1e-9) > most;
}

// `best->distance` is the upper bound of the search.
static void compare(const Side *a, const Side *b, mf_Distance *best) {
    for (uint32_t i = 0; i < a->group->compound->solid_count; i++) {
        const mf_GapSolid *x = &a->pose->solids[i];
        for (uint32_t j = 0; is_of(a, i) && j < b->group->compound->solid_count; j++) {
            const mf_GapSolid *y = &b->pose->solids[j];
            mf_Gap gap;
            if (!is_of(b, j) || too_far(x, y, best->distance) || !mf_gap_between(x, y, &gap) ||
                !(gap.distance < best->distance))
                continue;
            *best = (mf_Distance){.found = true,
                                  .distance = gap.distance,
                                  .owners = {owner_of(a, i), owner_of(b, j)}};
            memcpy(best->points, gap.points, sizeof best->points);
            mf_vec3_copy(best->normal, gap.normal);
        }
    }
}

// The sphere of a whole instance against that of `a`.
static bool out_of_reach(const Side *a, const mf_QueryGroup *group, const double base[3],
                         double most) {
    double own[3], offset[3];
    mf_query_present(a->group, a->instance, own);
    mf_vec3_sub(offset, base, own);
    return mf_vec3_length(offset) * (1.0 - 1e-9) - a->group->compound->reach -
               group->compound->reach >
           most;
}

static void compare_all(mf_Query *query, const Side *a, mf_Distance *best) {
    for (uint32_t g = 0; g < query->count; g++) {
        mf_QueryGroup *group = &query->groups[g];
        if (mf_group_config_of(group->group)->isolated || group->compound->root == MF_NONE)
            continue;
        for (uint32_t i = 0; i < mf_group_count(group->group); i++) {
            const Side b = {group, &group->pose[1], i, MF_NONE};
            double base[3];
            if ((group == a->group && i == a->instance) || !mf_query_present(group, i, base) ||
                out_of_reach(a, group, base, best->distance))
                continue;
            mf_query_solids(group, i, &group->pose[1]);
            compare(a, &b, best);
        }
    }
}

mf_Status mf_world_distance(mf_World *world, const mf_DistanceConfig *config, mf_Distance *out,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Query *query;
    if (world == NULL || config == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_world_distance: world, config or out is NULL");
    *out = (mf_Distance){0};
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "distance: start from mf_distance_config()");
    MF_TRY(mf_query_of(world, &query, error));
    MF_TRY(check(query, config, error));
    mf_QueryGroup *group = &query->groups[mf_query_number(query, config->a.group)];
    const Side a = {group, &group->pose[0], config->a.instance, config->a.link};
    if (!mf_query_present(group, a.instance, NULL))
        return MF_OK;
    mf_query_solids(group, a.instance, &group->pose[0]);
    mf_Distance best = {.distance = config->reach};
    if (config->b.group == NULL) {
        compare_all(query, &a, &best);
    } else {
        group = &query->groups[mf_query_number(query, config->b.group)];
        const Side b = {group, &group->pose[1], config->b.instance, config->b.link};
        if (mf_query_present(group, b.instance, NULL)) {
            mf_query_solids(group, b.instance, &group->pose[1]);
            compare(&a, &b, &best);
        }
    }
    if (best.found)
        *out = best;
    return MF_OK;
}
