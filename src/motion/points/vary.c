// Robots of a group that differ from its model in numbers. The field points.numbers has the plan's
// constants of each robot, made by the plan's own builder from the robot's model; kernels of the
// copy for several bodies (points_varied_kernel.c) read them lane by lane.
#include "motion/points/motion.h"
#include "world/attach.h"

#include <string.h>

static const mf_FieldInfo numbers_info = {
    "points.numbers",
    "1",
    "",
    MF_REAL,
    MF_FIXED_COUNT,
    1,
    MF_FIELD_STATE,
    "constants of the robot's own model, where robots of the group differ (mf_group_vary)"};

// ---- what must be the same ----------------------------------------------------------------------

// What depends on the body among the settings, which are the same for all else.
static bool is_of_body(uint32_t setting) {
    return setting == MF_PLAN_MASS || setting == MF_PLAN_INVERSE_MASS ||
           setting == MF_PLAN_WEIGHT || setting == MF_PLAN_STIFFNESS || setting == MF_PLAN_SOFTNESS;
}

static bool same_constants(const mf_PointsPlan *a, const mf_PointsPlan *b) {
    const double *first = mf_points_plan_constants_f64(a),
                 *second = mf_points_plan_constants_f64(b);
    bool same = true;
    for (uint32_t i = 0; i < MF_PLAN_SETTINGS; i++)
        same = same && (is_of_body(i) || first[i] == second[i]);
    for (uint32_t p = 0; p < a->point_count; p++) { // the kernel leaves out points without mass
        const uint32_t mass = a->point_offset + p * MF_PLAN_POINT_VALUES + 3;
        same = same && (first[mass] > 0) == (second[mass] > 0);
    }
    return same;
}

static bool same_link(const mf_PlanLink *a, const mf_PlanLink *b) {
    return a->parent == b->parent && a->joint == b->joint && a->mimic == b->mimic &&
           a->kind == b->kind && a->aligned == b->aligned && a->first_point == b->first_point &&
           a->point_count == b->point_count;
}

static bool same_tree(const mf_PointsPlan *a, const mf_PointsPlan *b) {
    bool same = a->link_count == b->link_count && a->point_count == b->point_count &&
                a->base_points == b->base_points && a->constant_count == b->constant_count;
    for (uint32_t l = 0; same && l < a->link_count; l++)
        same = same_link(&mf_points_plan_links(a)[l], &mf_points_plan_links(b)[l]);
    for (uint32_t p = 0; same && p < a->point_count; p++)
        same = mf_points_plan_contacts(a)[p] == mf_points_plan_contacts(b)[p];
    return same;
}

bool mf_points_alike(const mf_PointsPlan *a, const mf_PointsPlan *b) {
    return same_tree(a, b) && same_constants(a, b);
}

static const char *difference(const mf_PointsPlan *a, const mf_PointsPlan *b) {
    return a->point_count != b->point_count ? "another number of mass points"
           : !same_tree(a, b)      ? "other contacts, or axes that are parallel in one of them"
           : !same_constants(a, b) ? "points without mass"
                                   : NULL;
}

// ---- numbers ------------------------------------------------------------------------------------

static void put_numbers(const mf_PointsMotion *motion, const mf_PointsPlan *plan,
                        uint32_t instance) {
    const bool narrow = motion->numbers_row.value == sizeof(float);
    void *to = mf_row_at(&motion->numbers_row, instance / MF_BLOCK, instance % MF_BLOCK);
    for (size_t c = 0; c < plan->constant_count; c++)
        if (narrow)
            ((float *)to)[c * MF_BLOCK] = mf_points_plan_constants_f32(plan)[c];
        else
            ((double *)to)[c * MF_BLOCK] = mf_points_plan_constants_f64(plan)[c];
}

// From now on each robot has numbers of its own, those of the model; so have lanes without one,
// which compute like the others.
static mf_Status begin(mf_Group *group, mf_PointsMotion *motion, mf_Error *error) {
    mf_Field *numbers;
    MF_TRY(mf_attach_field(group, &numbers_info, motion->plan->constant_count, &numbers, error));
    motion->numbers_row = mf_row(numbers);
    motion->numbers = numbers;
    for (uint32_t i = 0; i < mf_group_block_count(group) * MF_BLOCK; i++)
        put_numbers(motion, motion->plan, i);
    return MF_OK;
}

mf_Status mf_points_vary(mf_Group *group, void *plan, const mf_Model *model,
                         const uint32_t *instances, uint32_t count, mf_Error *error) {
    mf_PointsMotion *motion = plan;
    const mf_PointsPlan *own = NULL;
    const char *text = NULL;
    if (mf_group_model(group)->dock_count > 0 || !mf_group_config_of(group)->isolated)
        return mf_fail(
            error, MF_UNSUPPORTED, "points: robots that %s have the numbers of their group's model",
            mf_group_model(group)->dock_count > 0 ? "dock" : "share their ground with others");
    MF_TRY(mf_points_check(group, model, &motion->config, error));
    MF_TRY(mf_points_plan_create(group, model, &motion->config, &own, error));
    text = difference(motion->plan, own);
    mf_Status status = MF_OK;
    if (text != NULL)
        status = mf_fail(error, MF_UNSUPPORTED,
                         "points: robot %u of group %s differs from model %s in more than numbers: "
                         "%s",
                         instances[0], mf_group_config_of(group)->name, mf_group_model(group)->name,
                         text);
    if (status == MF_OK && motion->numbers == NULL)
        status = begin(group, motion, error);
    for (uint32_t i = 0; status == MF_OK && i < count; i++)
        put_numbers(motion, own, instances[i]);
    mf_release(motion->context, (void *)(uintptr_t)own);
    return status;
}

double mf_points_number(const mf_PointsMotion *motion, uint32_t row, uint32_t instance) {
    return motion->numbers != NULL ? mf_field_get(motion->numbers, instance, row)
                                   : mf_points_plan_constants_f64(motion->plan)[row];
}
