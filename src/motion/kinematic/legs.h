// Positions of the feet in the base's frame: joints track their targets exactly, forward kinematics
// along the links to the feet.
#ifndef MF_MOTION_KINEMATIC_LEGS_H
#define MF_MOTION_KINEMATIC_LEGS_H

#include "motion/kinematic/plan.h"
#include "motion/articulated/state.h"

// ---- fit ----------------------------------------------------------------------------------------

// Where a body is whose points are to lie on given positions: least squares by Gauss and Newton, in
// the body's axes before the step.
//
// With y_i the points about their mean and d_i the ways from them to their positions about theirs,
// the sums C = sum y y^T and G = sum d y^T hold all that is needed: the rotation vector t with
//     (tr C - C) t = sum y_i x d_i
// is the Gauss-Newton step (Wahba's problem; Markley and Crassidis, Fundamentals of Spacecraft
// Attitude Determination and Control, 2014, chapter 5), and turning the positions back by it makes
//     G' = G + E^T (G + C),   E = R(t) - 1,
// while C stays. G is small from the beginning and E is formed without cancellation, so what is
// left falls with the square down to the rounding of the ways, not of the positions.
//
// Points in one line, or one position, leave turns open. They are damped there: a turn that nothing
// asks for is not made, so the body keeps its attitude.

typedef struct Fit {
    mf_lane count;   // [1] points that hold
    Vec middle;      // [m] mean of the points
    Vec direction;   // [m] mean of the ways
    Sym c;           // [m^2]
    Mat g;           // [m^2]
    mf_mask thin;    // the points lie in a line or in one position
    mf_mask lone;    // in one position
    Quat rotation;   // [1] result
    mf_mask settled; // a step was small
    mf_lane left;    // [rad] the last step
} Fit;

// Half a rotation vector as a rotation: by 2 atan |half|.
static MF_INLINE Quat quat_of_half(Vec half) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane w = one / mf_sqrt(mf_fma(half.x, half.x,
                                     mf_fma(half.y, half.y, //
                                            mf_fma(half.z, half.z, one))));
    return MF_VALUE(Quat, w, half.x * w, half.y * w, half.z * w);
}

// R(q) - 1 without cancellation.
static MF_INLINE Mat quat_excess(Quat q) {
    mf_lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    mf_lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    mf_lane xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
    return MF_VALUE(Mat, -(yy + zz), mf_fma(q.x, y2, -wz), mf_fma(q.x, z2, wy), mf_fma(q.x, y2, wz),
                    -(xx + zz), mf_fma(q.y, z2, -wx), mf_fma(q.x, z2, -wy), mf_fma(q.y, z2, wx),
                    -(xx + yy));
}

static MF_INLINE void fit_count(Fit *fit, mf_lane holds, Vec point, Vec direction) {
    fit->count = fit->count + holds;
    fit->middle = vec_fma(point, holds, fit->middle);
    fit->direction = vec_fma(direction, holds, fit->direction);
}

static MF_INLINE void fit_means(Fit *fit) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane part = one / mf_max(fit->count, one);
    fit->middle = vec_scale(fit->middle, part);
    fit->direction = vec_scale(fit->direction, part);
}

static MF_INLINE void fit_add(Fit *fit, mf_lane holds, Vec point, Vec offset) {
    Vec y = vec_sub(point, fit->middle), d = vec_sub(offset, fit->direction),
        k = vec_scale(y, holds);
    Sym *c = &fit->c;
    Mat *g = &fit->g;
    *c = MF_VALUE(Sym, mf_fma(k.x, y.x, c->xx), mf_fma(k.y, y.y, c->yy), mf_fma(k.z, y.z, c->zz),
                  mf_fma(k.x, y.y, c->xy), mf_fma(k.x, y.z, c->xz), mf_fma(k.y, y.z, c->yz));
    *g = MF_VALUE(Mat, mf_fma(d.x, k.x, g->xx), mf_fma(d.x, k.y, g->xy), mf_fma(d.x, k.z, g->xz),
                  mf_fma(d.y, k.x, g->yx), mf_fma(d.y, k.y, g->yy), mf_fma(d.y, k.z, g->yz),
                  mf_fma(d.z, k.x, g->zx), mf_fma(d.z, k.y, g->zy), mf_fma(d.z, k.z, g->zz));
}

// Sets `thin` and `lone` and returns the solver of the steps.
static MF_INLINE Sym fit_solver(Fit *fit, mf_real reach) {
    // Second largest extent of the points below a hundredth of the largest.
    const mf_lane slim = mf_set((mf_real)1e-4), damping = mf_set((mf_real)1e-2);
    const mf_lane least = mf_set(reach * reach * MF_REAL_EPSILON);
    const Sym *c = &fit->c;
    mf_lane trace = c->xx + c->yy + c->zz;
    mf_lane minors = mf_fma(c->xx, c->yy, -(c->xy * c->xy)) +
                     mf_fma(c->xx, c->zz, -(c->xz * c->xz)) +
                     mf_fma(c->yy, c->zz, -(c->yz * c->yz));
    fit->thin = mf_less_equal(minors, slim * trace * trace);
    fit->lone = mf_less_equal(trace, slim * mf_set(reach * reach));
    mf_lane more = mf_fma(mf_keep(fit->thin, damping), trace, least) + trace;
    const Sym sum = {more - c->xx, more - c->yy, more - c->zz, -c->xy, -c->xz, -c->yz};
    return sym_inverse(&sum);
}

// One step for the lanes that are not settled; others keep their bits.
static MF_INLINE void fit_step(Fit *fit, const Sym *solver) {
    // What is left after a step of this size is below rounding.
    const mf_lane small = mf_set(MF_REAL_EPSILON * (mf_real)0.5), half = mf_set((mf_real)0.5);
    const mf_lane one = mf_set((mf_real)1), most = mf_set((mf_real)0.25);
    Mat *g = &fit->g;
    Vec moment = {g->zy - g->yz, g->xz - g->zx, g->yx - g->xy};
    Vec t = sym_apply(solver, moment);
    mf_lane square = vec_dot(t, t);
    mf_mask far = mf_less(most, square);
    if (mf_any(far))
        t = vec_scale(t, mf_select(far, half / mf_sqrt(square), one));
    Quat q = quat_of_half(vec_scale(t, half));
    Mat e = quat_excess(q);
    const Sym *c = &fit->c;
    Vec x = {g->xx + c->xx, g->yx + c->xy, g->zx + c->xz};
    Vec y = {g->xy + c->xy, g->yy + c->yy, g->zy + c->yz};
    Vec z = {g->xz + c->xz, g->yz + c->yz, g->zz + c->zz};
    x = mat_apply_transposed_add(&e, x, MF_VALUE(Vec, g->xx, g->yx, g->zx));
    y = mat_apply_transposed_add(&e, y, MF_VALUE(Vec, g->xy, g->yy, g->zy));
    z = mat_apply_transposed_add(&e, z, MF_VALUE(Vec, g->xz, g->yz, g->zz));
    const mf_mask keep = fit->settled;
    *g = MF_VALUE(
        Mat, mf_select(keep, g->xx, x.x), mf_select(keep, g->xy, y.x), mf_select(keep, g->xz, z.x),
        mf_select(keep, g->yx, x.y), mf_select(keep, g->yy, y.y), mf_select(keep, g->yz, z.y),
        mf_select(keep, g->zx, x.z), mf_select(keep, g->zy, y.z), mf_select(keep, g->zz, z.z));
    fit->left = mf_select(keep, fit->left, mf_sqrt(square));
    fit->rotation = quat_select(keep, fit->rotation, quat_multiply(fit->rotation, q));
    // (Written so that NaN settles too.)
    fit->settled = mf_or(keep, mf_not(mf_less(small, square)));
}

// ---- legs ---------------------------------------------------------------------------------------

#if defined(MF_KERNEL_F64)
#define MF_KIN_CONSTANTS(plan) mf_kin_constants_f64(plan)
#else
#define MF_KIN_CONSTANTS(plan) mf_kin_constants_f32(plan)
#endif

typedef struct LegFrame { // in the base's frame
    Mat rotation;
    Vec position; // [m]
} LegFrame;

// Frames are written by columns, once: x and y turned about z.
static MF_INLINE void frame_rotate(LegFrame *out, Vec x, Vec y, Vec z, mf_lane c, mf_lane s) {
    out->rotation = MF_VALUE(Mat, mf_fma(x.x, c, y.x * s), mf_fma(y.x, c, -(x.x * s)), z.x,
                             mf_fma(x.y, c, y.y * s), mf_fma(y.y, c, -(x.y * s)), z.y,
                             mf_fma(x.z, c, y.z * s), mf_fma(y.z, c, -(x.z * s)), z.z);
}

static MF_INLINE Vec column_mix(Vec a, mf_lane c, Vec b, mf_lane s) {
    return MF_VALUE(Vec, mf_fma(a.x, c, b.x * s), mf_fma(a.y, c, b.y * s), mf_fma(a.z, c, b.z * s));
}

// Column z after the tilt, along which slides go.
static MF_INLINE Vec frame_tilt(LegFrame *out, mf_ArtTilt tilt, const mf_real *k, Vec x, Vec y,
                                Vec z, mf_lane c, mf_lane s) {
    Vec along;
    switch (tilt) {
    case MF_ART_LEVEL:
        frame_rotate(out, x, y, z, c, s);
        return z;
    case MF_ART_UP:
        along = vec_negative(y);
        frame_rotate(out, x, z, along, c, s);
        return along;
    case MF_ART_DOWN:
        frame_rotate(out, x, vec_negative(z), y, c, s);
        return y;
    case MF_ART_OVER:
        along = vec_negative(z);
        frame_rotate(out, x, vec_negative(y), along, c, s);
        return along;
    case MF_ART_ANY:
        break;
    }
    const mf_lane cosine = mf_set(k[MF_ART_COS_TILT]), sine = mf_set(k[MF_ART_SIN_TILT]);
    along = column_mix(z, cosine, y, -sine);
    frame_rotate(out, x, column_mix(y, cosine, z, sine), along, c, s);
    return along;
}

// PLACE in the base's frame, without the parts that are 0.
static MF_INLINE Vec leg_position(const LegFrame *parent, const mf_real *c, uint32_t shift) {
    const Mat *m = &parent->rotation;
    Vec position = parent->position;
    if (shift & 1u)
        position =
            vec_fma(MF_VALUE(Vec, m->xx, m->yx, m->zx), mf_set(c[MF_ART_POSITION]), position);
    if (shift & 2u)
        position =
            vec_fma(MF_VALUE(Vec, m->xy, m->yy, m->zy), mf_set(c[MF_ART_POSITION + 1]), position);
    if (shift & 4u)
        position =
            vec_fma(MF_VALUE(Vec, m->xz, m->yz, m->zz), mf_set(c[MF_ART_POSITION + 2]), position);
    return position;
}

static inline void leg_ball(const mf_KinBlock *block, const mf_ArtLink *link, const mf_real *c,
                            const LegFrame *parent, LegFrame *out) {
    const mf_real *row = (const mf_real *)block->rows[MF_KIN_ROW_BALL];
    Quat q = {row_load(row, 4 * link->row), row_load(row, 4 * link->row + 1),
              row_load(row, 4 * link->row + 2), row_load(row, 4 * link->row + 3)};
    Mat still = mat_constant(c + MF_ART_ROTATION), rotation = quat_matrix(q);
    rotation = mat_multiply(&still, &rotation);
    out->rotation = mat_multiply(&parent->rotation, &rotation);
    out->position = leg_position(parent, c, link->shift);
}

static MF_INLINE void leg_frame(const mf_KinBlock *block, const mf_KinLink *own,
                                const LegFrame *parent, const mf_lane *goal, LegFrame *out) {
    const mf_ArtPlan *tree = mf_kin_tree(block->plan);
    const mf_ArtLink *link = &mf_art_links(tree)[own->link];
    const mf_real *c = link_constants(tree, own->link);
    if (link->kind == MF_ART_BALL) {
        leg_ball(block, link, c, parent, out);
        return;
    }
    const Mat *m = &parent->rotation;
    Vec x = {m->xx, m->yx, m->zx}, y = {m->xy, m->yy, m->zy}, z = {m->xz, m->yz, m->zz};
    mf_lane sine = mf_set(c[MF_ART_SIN_OFFSET]), cosine = mf_set(c[MF_ART_COS_OFFSET]);
    mf_lane value = mf_set(c[MF_ART_OFFSET]);
    if (link->inner)
        value = value + row_load((const mf_real *)block->rows[MF_KIN_ROW_FREE], link->row);
    else
        value = value + goal[own->joint];
    out->position = leg_position(parent, c, link->shift);
    if (link->spun) {
        const mf_lane k = mf_set(c[MF_ART_COS_ANGLE]), s = mf_set(c[MF_ART_SIN_ANGLE]);
        Vec spun = column_mix(x, k, y, s);
        y = column_mix(y, k, x, -s);
        x = spun;
    }
    if (link->kind == MF_ART_HINGE)
        sin_cos(value, &sine, &cosine);
    Vec along = frame_tilt(out, link->tilt, c, x, y, z, cosine, sine);
    if (link->kind == MF_ART_SLIDE)
        out->position = vec_fma(along, value, out->position);
}

// The feet [m]; a ball's center. `frames` is space for the links of the plan, the base first.
static inline void legs_reach(const mf_KinBlock *block, const mf_lane *goal, LegFrame *frames,
                              Vec *point) {
    const mf_KinPlan *plan = block->plan;
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    frames[0] = MF_VALUE(LegFrame, {one, zero, zero, zero, one, zero, zero, zero, one}, vec_zero());
    const mf_KinLink *links = mf_kin_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_KinLink *link = &links[l];
        leg_frame(block, link, &frames[link->parent + 1], goal, &frames[l + 1]);
    }
    const mf_real *c = MF_KIN_CONSTANTS(plan) + plan->foot_offset;
    const mf_KinFoot *feet = mf_kin_feet(plan);
    for (uint32_t i = 0; i < plan->foot_count; i++, c += MF_KIN_FOOT_VALUES) {
        const LegFrame *frame = &frames[feet[i].link + 1];
        point[i] = mat_apply_add(&frame->rotation, vec_constant(c), frame->position);
    }
}

#endif
