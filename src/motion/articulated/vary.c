// Robots that differ from their group's model in numbers.
#include "motion/articulated/vary.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "multibody/numbers.h"
#include "multibody/tree.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

static const mf_FieldInfo numbers_info = {
    "articulated.numbers",
    "1",
    "",
    MF_REAL,
    MF_FIXED_COUNT,
    1,
    MF_FIELD_STATE,
    "constants of the robot's own model, where robots of the group differ (mf_group_vary)"};

// ---- the part that varies -----------------------------------------------------------------------

// [byte] Where it begins in the image: with the first of its arrays that is there.
static uint32_t first_of(const mf_ArtPlan *plan) {
    const uint32_t arrays[] = {plan->loops_at,         plan->tendons_at,     plan->laws_at,
                               plan->shape_weights_at, plan->ground_laws_at, plan->joint_laws_at,
                               plan->constants_f64_at};
    uint32_t first = plan->constants_f64_at;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i] != 0 && arrays[i] < first)
            first = arrays[i];
    return first;
}

static uint32_t row_count(const mf_ArtPlan *plan) {
    return (plan->constants_f64_at - first_of(plan)) / (uint32_t)sizeof(double) + plan->value_count;
}

// The rows of shapes that may touch other links follow.
static uint32_t shape_rows(const mf_ArtMotion *motion) {
    return motion->collide != NULL ? motion->collide->value_count : 0;
}

// Row by row; integers between the doubles, which no lane is read of, and gaps become 0. As
// mf_field_set does it, for thousands of rows.
static void put_rows(const mf_ArtMotion *motion, const double *from, size_t first, size_t count,
                     uint32_t instance) {
    void *to = mf_row_at(&motion->numbers_row, instance / MF_BLOCK, instance % MF_BLOCK);
    for (size_t r = 0; r < count; r++) {
        const double value = isnan(from[r]) ? 0.0 : from[r];
        if (motion->double_precision)
            ((double *)to)[(first + r) * MF_BLOCK] = value;
        else
            ((float *)to)[(first + r) * MF_BLOCK] = (float)value;
    }
}

// Those of `own`, a motion of the same structure.
static void put_numbers(const mf_ArtMotion *motion, const mf_ArtMotion *own, uint32_t instance) {
    const mf_ArtPlan *plan = own->plan;
    const uint32_t rows = row_count(plan);
    put_rows(motion, (const double *)(const void *)((const char *)plan + first_of(plan)), 0, rows,
             instance);
    if (shape_rows(motion) > 0)
        put_rows(motion,
                 own->shape_values != NULL ? own->shape_values
                                           : mf_collide_values_f64(own->collide),
                 rows, shape_rows(motion), instance);
}

// ---- what must be the same ----------------------------------------------------------------------

// But for the laws of loops and tendons, which vary.
static bool same_couplings(const mf_ArtMotion *a, const mf_ArtMotion *b) {
    bool same = true;
    for (uint32_t i = 0; i < a->plan->loop_count; i++) {
        mf_ArtLoop other;
        memcpy(&other, &b->loops[i], sizeof other);
        memcpy(&other.law, &a->loops[i].law, sizeof other.law);
        same = same && memcmp(&a->loops[i], &other, sizeof other) == 0;
    }
    for (uint32_t i = 0; i < a->plan->tendon_count; i++) {
        mf_ArtTendon other;
        memcpy(&other, &b->tendons[i], sizeof other);
        memcpy(&other.limit, &a->tendons[i].limit, sizeof other.limit);
        memcpy(&other.dry, &a->tendons[i].dry, sizeof other.dry);
        same = same && memcmp(&a->tendons[i], &other, sizeof other) == 0;
    }
    return same;
}

static bool same_header(const mf_ArtPlan *a, const mf_ArtPlan *b) {
    mf_ArtPlan other;
    memcpy(&other, b, sizeof other);
    // Numbers for all robots: criteria of the solver, and what only bounds a first guess.
    other.mass = a->mass;
    other.solver_gain = a->solver_gain;
    other.noslip_least = a->noslip_least;
    return memcmp(a, &other, sizeof other) == 0;
}

static bool same_law(const mf_ArtLaw *a, const mf_ArtLaw *b) {
    return a->dimension == b->dimension &&
           memcmp(&a->impedance[3], &b->impedance[3], 2 * sizeof(double)) == 0;
}

static bool same_laws(const mf_ArtMotion *a, const mf_ArtMotion *b) {
    bool same = true;
    for (uint32_t i = 0; a->laws != NULL && i < a->plan->class_count; i++)
        same = same && same_law(&a->laws[i], &b->laws[i]);
    for (uint32_t i = 0; a->ground_laws != NULL && i < a->plan->contact_count; i++)
        same = same && same_law(&a->ground_laws[i], &b->ground_laws[i]);
    for (uint32_t l = 0; a->joint_laws != NULL && l <= a->plan->link_count; l++)
        same = same && same_law(&a->joint_laws[l].limit, &b->joint_laws[l].limit) &&
               same_law(&a->joint_laws[l].dry, &b->joint_laws[l].dry);
    return same;
}

// The constants that kernels read once for all lanes.
static bool same_shared(const mf_ArtMotion *a, const mf_ArtMotion *b) {
    bool same = a->constants_f64[MF_ART_STEP] == b->constants_f64[MF_ART_STEP] &&
                (mf_art_constants(a, -1)[MF_ART_FRICTION] > 0.0) ==
                    (mf_art_constants(b, -1)[MF_ART_FRICTION] > 0.0);
    for (uint32_t l = 0; l < a->plan->link_count; l++)
        same = same && (mf_art_constants(a, (int32_t)l)[MF_ART_LIMIT_WIDTH + 3] > 0.0) ==
                           (mf_art_constants(b, (int32_t)l)[MF_ART_LIMIT_WIDTH + 3] > 0.0);
    for (uint32_t i = 0; i < a->plan->contact_count; i++) {
        const double *c = mf_art_contact_constants(a, i), *d = mf_art_contact_constants(b, i);
        same = same && c[3] == d[3] && c[MF_ART_TOUCH_MARGIN] == d[MF_ART_TOUCH_MARGIN];
        for (int k = 0; k < 3; k++)
            same = same && (c[MF_ART_TOUCH_AXIS + k] != 0.0) == (d[MF_ART_TOUCH_AXIS + k] != 0.0) &&
                   (!a->plan->hard || c[MF_ART_TOUCH_SLIDING + k] == d[MF_ART_TOUCH_SLIDING + k]);
    }
    return same;
}

// The bytes from `from` to `to` of both images.
static bool same_bytes(const mf_ArtPlan *a, const mf_ArtPlan *b, uint32_t from, uint32_t to) {
    return memcmp((const char *)a + from, (const char *)b + from, to - from) == 0;
}

// NULL: they differ in nothing but numbers.
static const char *difference(const mf_ArtMotion *motion, const mf_ArtMotion *other) {
    const mf_ArtPlan *a = motion->plan, *b = other->plan;
    const double *gravity = other->constants_f64 + MF_ART_GRAVITY,
                 *zenith = other->constants_f64 + MF_ART_ZENITH;
    if (a->upright && (zenith[0] != 0.0 || zenith[1] != 0.0 || zenith[2] < 0.0))
        return "gravity that is not down";
    if (a->law && a->loose && *gravity > 0.0)
        return "gravity where the world has none";
    if (!same_header(a, b))
        return "other links, limits, drives, actuators or contacts";
    if (!same_laws(motion, other))
        return "other curves of solimp or dimensions of contacts";
    if (!same_shared(motion, other))
        return "other shapes, or friction where the group's model has none";
    if (a->pair_count > 0 && memcmp(motion->pair_allowed, other->pair_allowed, a->pair_count) != 0)
        return "other links that overlap at the start, and so never touch";
    if (!same_bytes(a, b, sizeof *a, first_of(a)))
        return "a limit, spring, damping or friction of a joint that has none in the group's "
               "model, a component of its position that is 0 there, or other axes, actuators, "
               "tendons or media";
    return same_couplings(motion, other) ? NULL : "other equations or tendons";
}

// ---- surfaces of links that touch each other ----------------------------------------------------

// Kernels read them once for all lanes.
static bool same_surface(const mf_Shape *a, const mf_Shape *b) {
    return memcmp(a->friction, b->friction, sizeof a->friction) == 0 &&
           memcmp(&a->softness, &b->softness, sizeof a->softness) == 0 &&
           memcmp(&a->mix, &b->mix, sizeof a->mix) == 0 &&
           memcmp(&a->margin, &b->margin, sizeof a->margin) == 0 &&
           memcmp(&a->gap, &b->gap, sizeof a->gap) == 0;
}

// The first shape that may touch another link and has another surface in `other`; MF_NONE: there is
// none.
static uint32_t other_surface(const mf_ArtMotion *motion, const mf_Model *model,
                              const mf_Model *other) {
    const mf_CollidePlan *collide = motion->collide;
    uint32_t found = MF_NONE;
    for (uint32_t i = 0; collide != NULL && i < collide->pair_count && found == MF_NONE; i++) {
        const mf_CollidePair *pair = &mf_collide_pairs(collide)[i];
        for (int k = 0; motion->pair_allowed[i] && k < 2 && found == MF_NONE; k++) {
            const uint32_t shape = mf_collide_shapes(collide)[k == 0 ? pair->a : pair->b].shape;
            if (!same_surface(&model->shapes[shape], &other->shapes[shape]))
                found = shape;
        }
    }
    for (uint32_t i = 0; collide != NULL && i < collide->floating_count && found == MF_NONE; i++) {
        const uint32_t shape =
            mf_collide_shapes(collide)[mf_collide_floating(collide)[i].shape].shape;
        if (!same_surface(&model->shapes[shape], &other->shapes[shape]))
            found = shape;
    }
    return found;
}

// Of a model that an instance is given. Changes of its own model leave these surfaces as they are
// (mf_group_vary), and share its start.
static mf_Status check_surfaces(const mf_Group *group, const mf_ArtMotion *motion,
                                const mf_Model *model, uint32_t instance, mf_Error *error) {
    const mf_Model *of = mf_group_model(group);
    if (model->start_angle == mf_group_model_of(group, instance)->start_angle)
        return MF_OK;
    const uint32_t shape = other_surface(motion->unmeasured, of, model);
    if (shape == MF_NONE)
        return MF_OK;
    const uint32_t link = of->shapes[shape].link;
    return mf_fail(error, MF_UNSUPPORTED,
                   "articulated: robot %u of group %s: model %.99s differs from %.99s in friction, "
                   "softness or margin of shape %u of link %.99s, which may touch other links "
                   "(self_contacts false: none does)",
                   instance, mf_group_config_of(group)->name, model->name, of->name, shape,
                   link == MF_NONE ? "" : of->links[link].name);
}

// ---- views --------------------------------------------------------------------------------------

// Offsets in a view lead to the image behind all views.
static void make_view(const mf_ArtMotion *motion, const mf_ArtPlan *image, uint32_t number) {
    mf_ArtPlan *view = &motion->views[number];
    const uint32_t ahead = (uint32_t)((const char *)image - (const char *)view);
    memcpy(view, motion->plan, sizeof *view);
#define MOVE(Type, name, count) view->name##_at += view->name##_at != 0 ? ahead : 0;
    MF_ART_ARRAYS(MOVE, )
#undef MOVE
    view->collide_at += view->collide_at != 0 ? ahead : 0;
    view->hulls_at += view->hulls_at != 0 ? ahead : 0;
    view->varied = ahead + first_of(motion->plan);
    const void *lane = mf_row_at(&motion->numbers_row, number / MF_BLOCK, number % MF_BLOCK);
    view->lanes = (int64_t)((uintptr_t)lane - (uintptr_t)view);
    view->shapes_own =
        view->lanes + (int64_t)row_count(motion->plan) * MF_BLOCK * motion->numbers_row.value;
}

static mf_Status make_views(mf_ArtMotion *motion, uint32_t instances, mf_Error *error) {
    const size_t lanes = ((size_t)instances + MF_BLOCK - 1) / MF_BLOCK * MF_BLOCK;
    const size_t each = sizeof *motion->views, bytes = motion->plan->bytes;
    const size_t views = (lanes * each + MF_FLAT_ALIGNMENT - 1) & ~(size_t)(MF_FLAT_ALIGNMENT - 1);
    if (views + bytes > UINT32_MAX)
        return mf_fail(error, MF_LIMIT,
                       "articulated: at most %zu robots of a group have numbers of their own",
                       (UINT32_MAX - bytes) / each);
    motion->views = mf_allocate(motion->context, 1, views + bytes);
    MF_NEED_MEMORY(motion->views != NULL, error, "articulated");
    mf_ArtPlan *image = (mf_ArtPlan *)(void *)((char *)motion->views + views);
    memcpy(image, motion->plan, bytes);
    for (size_t i = 0; i < lanes; i++)
        make_view(motion, image, (uint32_t)i);
    return MF_OK;
}

// From now on each robot has numbers of its own, those of the model.
static mf_Status begin(mf_Group *group, mf_ArtMotion *motion, mf_Error *error) {
    mf_Field *numbers;
    const uint32_t rows = row_count(motion->plan) + shape_rows(motion);
    MF_TRY(mf_attach_field(group, &numbers_info, rows, &numbers, error));
    motion->numbers_row = mf_row(numbers);
    MF_TRY(make_views(motion, mf_group_count(group), error)); // else the field remains, unused
    motion->numbers = numbers;
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        put_numbers(motion, motion, i);
    return MF_OK;
}

static mf_Status check_group(mf_Group *group, mf_ArtMotion *motion, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    if (model->dock_count > 0 || !mf_group_config_of(group)->isolated)
        return mf_fail(error, MF_UNSUPPORTED,
                       "articulated: robots that %s have the numbers of their group's model",
                       model->dock_count > 0 ? "dock" : "share their ground with others");
    if (motion->unmeasured == NULL)
        return mf_art_create_like(group, motion, model, &motion->unmeasured, error);
    return MF_OK;
}

// Refused before anything changes.
static mf_Status check(const mf_Group *group, const mf_ArtMotion *motion, const mf_ArtMotion *other,
                       uint32_t instance, mf_Error *error) {
    const char *text = difference(motion->unmeasured, other);
    if (text != NULL)
        return mf_fail(error, MF_UNSUPPORTED,
                       "articulated: robot %u of group %s differs from model %s in more than "
                       "numbers: %s",
                       instance, mf_group_config_of(group)->name, mf_group_model(group)->name,
                       text);
    for (uint32_t i = 0; i < other->plan->value_count; i++)
        if (!isinf(other->constants_f64[i]) && isinf(other->constants_f32[i]) &&
            !motion->double_precision)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "articulated: robot %u of group %s: a number is too large for single "
                           "precision",
                           instance, mf_group_config_of(group)->name);
    return MF_OK;
}

// The numbers that trees of links read, with the armatures that the motion makes of the model's.
static mf_Status give_numbers(mf_Group *group, const mf_ArtMotion *motion,
                              const mf_ArtMotion *other, const mf_Model *model,
                              const uint32_t *instances, uint32_t count, mf_Error *error) {
    double *armature;
    MF_TRY(
        MF_ALLOCATE(motion->context, "articulated", error,
                    MF_ARRAY(armature, mf_tree_velocity_address(model, true, model->joint_count))));
    mf_art_armature_of(motion, armature);
    const mf_Status status = mf_numbers_begin(group, armature, error);
    mf_art_armature_of(other, armature);
    if (status == MF_OK)
        mf_numbers_give(group, model, armature, instances, count);
    mf_release(motion->context, armature);
    return status;
}

mf_Status mf_art_vary(mf_Group *group, void *plan, const mf_Model *model, const uint32_t *instances,
                      uint32_t count, mf_Error *error) {
    mf_ArtMotion *motion = plan, *other = NULL;
    MF_TRY(check_group(group, motion, error));
    MF_TRY(mf_art_create_like(group, motion, model, &other, error));
    mf_Status status = check(group, motion, other, instances[0], error);
    MF_THEN(status, check_surfaces(group, motion, model, instances[0], error));
    if (status == MF_OK && motion->numbers == NULL)
        status = begin(group, motion, error);
    for (uint32_t i = 0; status == MF_OK && i < count; i++)
        put_numbers(motion, other, instances[i]);
    MF_THEN(status, give_numbers(group, motion, other, model, instances, count, error));
    mf_art_destroy(motion->context, other);
    return status;
}

// ---- questions ----------------------------------------------------------------------------------

double mf_art_number(const mf_ArtMotion *motion, const double *constant, uint32_t instance) {
    if (motion->numbers == NULL)
        return *constant;
    const uint32_t first = row_count(motion->plan) - motion->plan->value_count;
    return mf_field_get(motion->numbers, instance,
                        first + (uint32_t)(constant - motion->constants_f64));
}

const mf_ArtMotion *mf_art_own(const mf_ArtMotion *motion, uint32_t instance, mf_ArtMotion *own) {
    if (motion->numbers == NULL)
        return motion;
    mf_ArtPlan *image = mf_allocate(motion->context, 1, motion->plan->bytes);
    if (image == NULL)
        return motion;
    memcpy(image, motion->plan, motion->plan->bytes);
    memcpy(own, motion, sizeof *own);
    mf_art_bind_plan(own, image);
    const uint32_t first = row_count(image) - image->value_count;
    mf_field_read(motion->numbers, instance, first, image->value_count, own->constants_f64);
    if (shape_rows(own) > 0)
        mf_field_read(motion->numbers, instance, first + image->value_count, shape_rows(own),
                      mf_flat_at(own->collide, own->collide->values_f64_at));
    return own;
}

void mf_art_return_own(const mf_ArtMotion *motion, const mf_ArtMotion *own) {
    if (own != motion)
        mf_release(motion->context, own->plan);
}
