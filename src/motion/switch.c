// A robot switches from one motion to another. docs/explanation/ladder.md, "Switching", lists what
// is preserved.
//
// The momentum that a motion counts is linear in the base's twist (v, w) at rest of everything
// else: with total mass m, center c from the base's origin and inertia I about the center,
//     p = p0 + m (v + w x c),   L = L0 + I w.
// p0, L0 and the columns of I are read off the motion's own answers for w = 0 and the three unit
// rates, so whatever a motion counts as mass, joint motion or inertia is in them; then w follows
// from L and v from p.
#include "motion/table.h"
#include "base/floats.h"
#include "math/scalar.h"

typedef struct Momentum {
    double center[3], linear[3], angular[3];
} Momentum;

// What a motion remembers of contacts means nothing to another, or to itself later.
static const char *const memories[] = {"contact.load",     "contact.slip",       "stance.holds",
                                       "stance.anchor",    "point.load",         "point.anchor",
                                       "warm_start.force", "warm_start.floating"};

static void forget(mf_Group *group, uint32_t instance) {
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        mf_Field *field = mf_group_find_field(group, memories[i]);
        for (uint32_t c = 0; field != NULL && c < field->components; c++)
            mf_field_set(field, instance, c, 0.0);
    }
}

typedef struct Twist { // the base's fields
    mf_Field *linear, *angular;
    uint32_t instance;
} Twist;

static void twist_set(const Twist *twist, const double velocity[3], const double rate[3]) {
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(twist->linear, twist->instance, c, velocity[c]);
        mf_field_set(twist->angular, twist->instance, c, rate[c]);
    }
}

static void twist_get(const Twist *twist, double velocity[3], double rate[3]) {
    for (uint32_t c = 0; c < 3; c++) {
        velocity[c] = mf_field_get(twist->linear, twist->instance, c);
        rate[c] = mf_field_get(twist->angular, twist->instance, c);
    }
}

// The base's fields hold world velocity and body rate; the latter only names the columns.
static void momentum_at(const Twist *twist, const mf_Group *group, const mf_MotionRow *row,
                        const double velocity[3], const double rate[3], Momentum *out) {
    twist_set(twist, velocity, rate);
    row->momentum(group, mf_motion_plan(group, row), twist->instance, out->center, out->linear,
                  out->angular);
}

// Solves a x = b, columns of a given; false when a is singular or anything is not finite.
static bool solve(double x[3], const double a[3][3], const double b[3]) {
    double cross[3], size = 0.0;
    mf_vec3_cross(cross, a[1], a[2]);
    double det = mf_vec3_dot(a[0], cross);
    for (uint32_t i = 0; i < 3; i++)
        size += mf_vec3_length(a[i]);
    if (!(mf_abs(det) > 1e-12 * size * size * size) || !mf_is_finite(det))
        return false;
    x[0] = mf_vec3_dot(b, cross) / det;
    mf_vec3_cross(cross, b, a[2]);
    x[1] = mf_vec3_dot(a[0], cross) / det;
    mf_vec3_cross(cross, a[1], b);
    x[2] = mf_vec3_dot(a[0], cross) / det;
    return mf_all_finite(x, 3);
}

// The twist with which the motion of `row` counts the momentum `target`. Where its inertia
// cannot tell the rotation, the rate stays.
static void hand_over(mf_Group *group, const mf_MotionRow *row, const Twist *twist,
                      const Momentum *target) {
    const double none[3] = {0, 0, 0};
    const double mass = mf_group_model_of(group, twist->instance)->mass;
    double velocity[3], rate[3], column[3][3], pull[3][3], rest[3];
    Momentum still;
    twist_get(twist, velocity, rate);
    momentum_at(twist, group, row, none, none, &still);
    for (uint32_t i = 0; i < 3; i++) {
        const double unit[3] = {i == 0, i == 1, i == 2};
        Momentum angular;
        momentum_at(twist, group, row, none, unit, &angular);
        mf_vec3_sub(column[i], angular.angular, still.angular);
        mf_vec3_sub(pull[i], angular.linear, still.linear);
    }
    mf_vec3_sub(rest, target->angular, still.angular);
    double rotation[3];
    if (solve(rotation, column, rest))
        mf_vec3_copy(rate, rotation);
    mf_vec3_sub(rest, target->linear, still.linear);
    for (uint32_t i = 0; i < 3; i++)
        mf_vec3_add_scaled(rest, rest, -rate[i], pull[i]);
    mf_vec3_scale(rest, rest, 1.0 / mass);
    if (mf_all_finite(rest, 3))
        mf_vec3_copy(velocity, rest);
    twist_set(twist, velocity, rate);
}

// A base that is fixed has no twist to give.
static bool base_moves(const mf_Group *group, const mf_MotionRow *row) {
    const mf_ArticulatedBase base =
        row->base != NULL ? row->base(mf_motion_plan(group, row)) : MF_ARTICULATED_FREE;
    return base == MF_ARTICULATED_FREE ||
           (base == MF_ARTICULATED_AS_MODEL && mf_group_model(group)->base != MF_BASE_FIXED);
}

mf_Status mf_motion_switch(mf_Group *group, uint32_t instance, mf_Motion to, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_motion_switch: group is NULL");
    if (instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: has %u robots, no robot %u",
                       mf_group_config_of(group)->name, mf_group_count(group), instance);
    if (!mf_motion_in(group, to))
        return mf_motion_missing(group, to, error);
    const mf_Motion from = mf_motion_of(group, instance);
    if (from == to)
        return MF_OK;
    const double none[3] = {0, 0, 0};
    const mf_MotionRow *row = mf_motion_row(to);
    const Twist twist = {.linear = mf_group_find_field(group, "base.linear_velocity"),
                         .angular = mf_group_find_field(group, "base.angular_velocity"),
                         .instance = instance};
    const mf_SystemConfig *own = row == NULL ? mf_motion_own(group, to) : NULL;
    Momentum momentum;
    mf_motion_momentum(group, instance, momentum.center, momentum.linear, momentum.angular);
    mf_field_set(mf_group_find_field(group, "motion.level"), instance, 0, (double)to);
    forget(group, instance);
    if (own != NULL) {
        if (own->reset != NULL)
            own->reset(group, instance, own->user);
        return MF_OK;
    }
    if (row->enter != NULL)
        row->enter(group, instance, mf_motion_plan(group, row));
    if (mf_group_fault(group, instance) != 0 || !base_moves(group, row))
        return MF_OK;
    const mf_MotionRow *before = mf_motion_row(from);
    if (!row->dynamic)
        twist_set(&twist, none, none);
    else if (before != NULL && before->dynamic)
        hand_over(group, row, &twist, &momentum);
    return MF_OK;
}
