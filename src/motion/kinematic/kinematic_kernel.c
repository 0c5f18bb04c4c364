// One step of the `kinematic` motion for a few lanes (Friedmann, Petersen and von Stryk 2008,
// section 4.1, for any number of legs). docs/explanation/kinematic.md has the method.
//
//   joints   follow the commanded motion, within their range
//   fit      the base moves so that stance contacts return to their anchors; without one
//            it falls without rotation
//   settle   a robot on less than three corners sinks onto contacts just above the ground
//   ground   the lowest contact is put onto the ground; contacts at its height are in stance
//
// Invariants: a lane never reads another lane; nothing of a lane whose new state is not finite or
// out of range is stored (it raises its fault word and is frozen); a contact that stays in stance
// keeps its anchor exactly.
#include "motion/kinematic/plan.h"
#include "motion/articulated/state.h"
#include "math/lane_sum.h"
#include "motion/warn.h"
#include "terrain/lookup_lane.h"

// Positions of the feet in the base's frame: joints track their targets exactly, forward kinematics
// along the links to the feet.

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

enum { FIT_ROUNDS = 12 }; // [1] most; a usual step takes two, or three in double

typedef struct Step {
    const mf_KinBlock *block;
    const mf_KinPlan *plan;
    const mf_real *constant;
    mf_mask alive;
    bool all_alive;
    Vec position; // [m] of the base's origin
    Quat attitude;
    Vec low_position; // remainders of both (math/lane_sum.h)
    Quat low_attitude;
    Vec linear;       // [m/s]
    Vec move;         // [m] of the base's origin in this step
    Quat rotation;    // [1] of the base in this step, its axes before it
    mf_mask stood;    // a contact was in stance before this step
    mf_mask touching; // a contact touches the ground now
    Warnings warnings;
    mf_lane lift; // [m] that brings the lowest contact onto the ground
    Fit fit;
    mf_lane *goal;    // per joint of the plan
    LegFrame *frames; // per link of the plan, the base first
    // Per foot:
    Vec *point;      // [m] base axes
    Vec *direction;  // [m] from there to their anchors, base axes
    Vec *foot_point; // [m] world
    mf_lane *holds;  // [1] 1: in stance, also after this step
    mf_lane *above;  // [m] the ground
} Step;

static void step_carve(const mf_KinPlan *plan, mf_Carver *carver, Step *s) {
    MF_CARVE(carver, s->goal, plan->joint_count);
    MF_CARVE(carver, s->frames, plan->link_count + 1);
    MF_CARVE(carver, s->point, plan->foot_count);
    MF_CARVE(carver, s->direction, plan->foot_count);
    MF_CARVE(carver, s->foot_point, plan->foot_count);
    MF_CARVE(carver, s->holds, plan->foot_count);
    MF_CARVE(carver, s->above, plan->foot_count);
}

static void raise_fault(Step *s, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(s->alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    mf_index word = mf_load_index((const int32_t *)s->block->fault);
    word = mf_select_index(bad, word | mf_set_index((int32_t)bit), word);
    mf_store_index((int32_t *)s->block->fault, word);
    s->alive = mf_and(s->alive, fine);
    s->all_alive = false;
}

static MF_INLINE mf_real *row_of(const Step *s, uint32_t row) {
    return (mf_real *)s->block->rows[row];
}

static MF_INLINE mf_lane constant(const Step *s, uint32_t which) {
    return mf_set(s->constant[which]);
}

// ---- joints -------------------------------------------------------------------------------------

// Balls and floating joints between base and foot do not move.
static mf_lane anchor_size(const Step *s) {
    mf_lane sum = mf_zero();
    const mf_KinLink *links = mf_kin_links(s->plan);
    for (uint32_t l = 0; l < s->plan->link_count; l++) {
        const mf_ArtLink *link = &mf_art_links(mf_kin_tree(s->plan))[links[l].link];
        for (uint32_t c = 0; link->kind == MF_ART_BALL && c < 4; c++)
            sum = sum + mf_abs(row_load(row_of(s, MF_KIN_ROW_BALL), 4 * link->row + c));
        if (link->inner)
            sum = sum + mf_abs(row_load(row_of(s, MF_KIN_ROW_FREE), link->row));
    }
    return sum;
}

static MF_INLINE void find_goals(Step *s) {
    const mf_real *target = row_of(s, MF_KIN_ROW_TARGET);
    const mf_real *c = s->constant + s->plan->joint_offset;
    const mf_real *angle = row_of(s, MF_KIN_ROW_ANGLE);
    const mf_KinJoint *joints = mf_kin_joints(s->plan);
    const uint32_t count = s->plan->joint_count;
    mf_lane sum = mf_zero(), whole = mf_kin_tree(s->plan)->ball_count > 0 ? anchor_size(s) : sum;
    for (uint32_t j = 0; j < count; j++, c += MF_KIN_JOINT_VALUES) {
        const mf_KinJoint *joint = &joints[j];
        whole = whole + mf_abs(row_load(angle, joint->row)); // rates depend on it
        if (joint->mimic != MF_NONE) {
            s->goal[j] = mf_fma(s->goal[joint->mimic], mf_set(c[MF_KIN_MULTIPLIER]),
                                mf_set(c[MF_KIN_OFFSET]));
            continue;
        }
        mf_lane commanded = row_load(target, joint->row);
        sum = sum + mf_abs(commanded);
        s->goal[j] = mf_clamp(commanded, mf_set(c[MF_KIN_LOWER]), mf_set(c[MF_KIN_UPPER]));
    }
    raise_fault(s, mf_finite(whole), MF_FAULT_NONFINITE);
    raise_fault(s, mf_finite(sum), MF_FAULT_INPUT);
}

// ---- pose of the base ---------------------------------------------------------------------------

// From a foot's position in the old base pose to its anchor, base axes.
static MF_INLINE void find_directions(Step *s, const Mat *rotation) {
    const mf_real *anchors = row_of(s, MF_KIN_ROW_ANCHOR), *holds = row_of(s, MF_KIN_ROW_HOLDS);
    const uint32_t feet = s->plan->foot_count;
    const Mat back = *rotation;
    const Vec position = s->position;
    mf_lane count = mf_zero();
    for (uint32_t i = 0; i < feet; i++) {
        Vec anchor = vec_sub(vec_load(anchors, 3 * i), position);
        s->direction[i] = vec_sub(mat_apply_transposed(&back, anchor), s->point[i]);
        s->holds[i] = row_load(holds, i);
        count = count + s->holds[i];
    }
    raise_fault(s, mf_finite(count), MF_FAULT_NONFINITE);
    s->stood = mf_less(mf_zero(), count);
}

static MF_INLINE void fit_base(Step *s, const Mat *rotation) {
    Fit own, *fit = &own;
    const mf_lane zero = mf_zero();
    const uint32_t feet = s->plan->foot_count;
    fit->count = zero;
    fit->middle = fit->direction = vec_zero();
    fit->c = MF_VALUE(Sym, zero, zero, zero, zero, zero, zero);
    fit->g = MF_VALUE(Mat, zero, zero, zero, zero, zero, zero, zero, zero, zero);
    fit->rotation = quat_unit();
    fit->left = zero;
    for (uint32_t i = 0; i < feet; i++)
        fit_count(fit, s->holds[i], s->point[i], s->direction[i]);
    fit_means(fit);
    for (uint32_t i = 0; i < feet; i++)
        fit_add(fit, s->holds[i], s->point[i], s->direction[i]);
    Sym solver = fit_solver(fit, s->constant[MF_KIN_REACH]);
    fit->settled = mf_not(mf_and(s->stood, s->alive));
    for (int round = 0; round < FIT_ROUNDS && !mf_all(fit->settled); round++)
        fit_step(fit, &solver);
    warnings_raise(&s->warnings, mf_not(fit->settled), MF_WARNING_STANCE, fit->left);
    // Moves the mean of the points to the mean of the anchors; in the air the fall continues.
    Mat excess = quat_excess(fit->rotation);
    Vec shift = vec_sub(fit->direction, mat_apply(&excess, fit->middle));
    s->move = vec_select(s->stood, mat_apply(rotation, shift),
                         MF_VALUE(Vec, zero, zero, s->linear.z * constant(s, MF_KIN_STEP)));
    s->rotation = fit->rotation;
    s->fit = own;
}

typedef struct Moved { // the base at the end of the step
    Vec position;      // [m]
    Quat attitude;
    Mat rotation;
    Vec low_position; // remainders of both
    Quat low_attitude;
} Moved;

static MF_INLINE Moved moved_base(const Step *s) {
    Moved moved = {.low_position = s->low_position, .low_attitude = s->low_attitude};
    Quat rotation = s->rotation;
    moved.position = vec_sum_plus(s->move, s->position, &moved.low_position);
    if (s->block->low_orientation == 0) {
        moved.attitude = quat_renormalize(quat_multiply(s->attitude, rotation));
    } else {
        rotation.w = rotation.w - mf_set((mf_real)1);
        moved.attitude =
            quat_sum_plus(quat_multiply(s->attitude, rotation), s->attitude, &moved.low_attitude);
    }
    moved.rotation = quat_matrix(moved.attitude);
    return moved;
}

// ---- ground -------------------------------------------------------------------------------------

// How high a foot's contact is above the ground.
static MF_INLINE mf_lane foot_above(const Step *s, uint32_t i, Vec point) {
    const mf_ArtPlan *tree = mf_kin_tree(s->plan);
    const mf_real radius = s->constant[s->plan->foot_offset + (size_t)i * MF_KIN_FOOT_VALUES + 3];
    if (tree->level)
        return point.z - (constant(s, MF_KIN_HIGHEST) + mf_set(radius));
    mf_LaneMap map = mf_lane_map(s->block->terrain);
    map.ends = false; // stance feet always have ground
    mf_lane slope_x, slope_y;
    mf_lane ground = mf_map_surface(&map, point.x, point.y, &slope_x, &slope_y);
    if (radius > 0) {
        const mf_lane one = mf_set((mf_real)1);
        mf_lane steep = mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        ground = mf_fma(mf_set(radius), steep, ground);
    }
    return point.z - ground;
}

// Positions and heights of all feet; returns the least height.
static MF_INLINE mf_lane find_heights(Step *s, const Moved *moved) {
    const uint32_t feet = s->plan->foot_count;
    const Mat rotation = moved->rotation;
    const Vec position = moved->position;
    mf_lane lowest = mf_set(MF_REAL_MAX);
    for (uint32_t i = 0; i < feet; i++) {
        Vec point = mat_apply_add(&rotation, s->point[i], position);
        mf_lane above = foot_above(s, i, point);
        s->foot_point[i] = point;
        s->above[i] = above;
        lowest = mf_min(lowest, above);
    }
    return lowest;
}

// Releases a foot whose stance contacts are above the ground on average: it was lifted relative to
// the others. Returns whether some lane has released a foot.
static MF_INLINE bool release_lifted(Step *s) {
    const mf_KinFoot *feet = mf_kin_feet(s->plan);
    const mf_lane zero = mf_zero(), leave = constant(s, MF_KIN_LEAVE);
    mf_mask any = mf_not(mf_mask_all());
    for (uint32_t first = 0, end; first < s->plan->foot_count; first = end) {
        mf_lane sum = zero, space = zero;
        for (end = first; end < s->plan->foot_count && feet[end].link == feet[first].link; end++) {
            sum = mf_fma(s->holds[end], s->above[end], sum);
            space = mf_fma(s->holds[end], leave, space);
        }
        mf_mask lifted = mf_and(mf_less(space, sum), s->alive);
        any = mf_or(any, lifted);
        for (uint32_t i = first; i < end; i++)
            s->holds[i] = mf_select(lifted, zero, s->holds[i]);
    }
    return mf_any(any);
}

// Rotation of a robot on fewer than three corners: contacts near the ground sink to it, stance
// contacts stay. Returns a rotation vector [rad], world axes.
static Vec settle_rotation(const Step *s, Vec pivot, mf_lane lowest) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero(), hard = mf_set((mf_real)1e3);
    const mf_real reach = s->constant[MF_KIN_REACH];
    const mf_lane least = mf_set(reach * reach * (mf_real)1e-3);
    Sym n = {least, least, least, zero, zero, zero};
    mf_lane x = zero, y = zero, left = zero;
    for (uint32_t i = 0; i < s->plan->foot_count; i++) {
        Vec arm = vec_sub(s->foot_point[i], pivot);
        mf_lane gap = s->above[i] - lowest, holds = s->holds[i] * hard;
        mf_lane near = mf_max(mf_fma(-gap, constant(s, MF_KIN_SETTLE), one), zero);
        near = mf_select(s->fit.lone, one, near);
        // The height changes by the rotation times (arm.y, -arm.x, 0).
        mf_lane across = near * arm.y, along = near * arm.x;
        left = mf_fma(near, gap, left);
        x = mf_fma(-across, gap, x);
        y = mf_fma(along, gap, y);
        n.xx = mf_fma(across, arm.y, n.xx);
        n.yy = mf_fma(along, arm.x, n.yy);
        n.xy = mf_fma(-across, arm.x, n.xy);
        Vec k = vec_scale(arm, holds);
        n.xx = mf_fma(k.y, arm.y, mf_fma(k.z, arm.z, n.xx));
        n.yy = mf_fma(k.x, arm.x, mf_fma(k.z, arm.z, n.yy));
        n.zz = mf_fma(k.x, arm.x, mf_fma(k.y, arm.y, n.zz));
        n.xy = mf_fma(-k.x, arm.y, n.xy);
        n.xz = mf_fma(-k.x, arm.z, n.xz);
        n.yz = mf_fma(-k.y, arm.z, n.yz);
    }
    Sym solver = sym_inverse(&n);
    // The last thousandth of the height closes at once, so that all contacts arrive together.
    mf_mask last = mf_less(left * constant(s, MF_KIN_SETTLE), mf_set((mf_real)1e-3));
    mf_lane part = mf_select(last, one, constant(s, MF_KIN_SETTLE_PART));
    return vec_scale(sym_apply(&solver, MF_VALUE(Vec, x, y, zero)), part);
}

// Rotates the base about the center of the stance contacts, where they do not determine the
// rotation.
static void settle(Step *s, const Moved *moved, mf_lane lowest) {
    const mf_mask where = mf_and(s->stood, s->fit.thin);
    const mf_lane half = mf_set((mf_real)0.5);
    Vec middle = s->fit.middle, pivot = mat_apply_add(&moved->rotation, middle, moved->position);
    Vec rotation = settle_rotation(s, pivot, lowest);
    Quat q = quat_of_half(vec_scale(mat_apply_transposed(&moved->rotation, rotation), half));
    Mat excess = quat_excess(q);
    Vec back = mat_apply(&moved->rotation, mat_apply(&excess, middle)); // the center stays
    s->move = vec_select(where, vec_sub(s->move, back), s->move);
    s->rotation = quat_select(where, quat_multiply(s->rotation, q), s->rotation);
}

// Puts the lowest contact onto the ground, if it touches or touched it.
static MF_INLINE void hit_ground(Step *s, mf_lane lowest) {
    const mf_lane zero = mf_zero();
    s->touching = mf_or(s->stood, mf_less_equal(lowest, zero));
    mf_mask off = mf_less(constant(s, MF_KIN_JOIN), mf_abs(lowest));
    s->lift = mf_keep(mf_and(s->touching, off), -lowest);
    s->move.z = s->move.z + s->lift;
    for (uint32_t i = 0; i < s->plan->foot_count; i++)
        s->above[i] = s->above[i] - lowest;
}

// ---- storing ------------------------------------------------------------------------------------

static MF_INLINE void keep_store(const Step *s, uint32_t row, size_t c, mf_lane a) {
    mf_real *base = row_of(s, row) + c * MF_BLOCK;
    if (s->all_alive)
        mf_store(base, a);
    else
        mf_store_where(s->alive, base, a);
}

static MF_INLINE void keep_vec(const Step *s, uint32_t row, size_t c, Vec a) {
    keep_store(s, row, c, a.x);
    keep_store(s, row, c + 1, a.y);
    keep_store(s, row, c + 2, a.z);
}

static MF_INLINE void store_joints(const Step *s) {
    const mf_lane per_second = constant(s, MF_KIN_INVERSE_STEP);
    const mf_KinJoint *joints = mf_kin_joints(s->plan);
    const uint32_t count = s->plan->joint_count;
    const bool all = s->all_alive;
    mf_real *angle = row_of(s, MF_KIN_ROW_ANGLE), *rate = row_of(s, MF_KIN_ROW_RATE);
    for (uint32_t j = 0; j < count; j++) {
        const size_t at = (size_t)joints[j].row * MF_BLOCK;
        mf_lane goal = s->goal[j], speed = (goal - mf_load(angle + at)) * per_second;
        if (all) {
            mf_store(angle + at, goal);
            mf_store(rate + at, speed);
        } else {
            mf_store_where(s->alive, angle + at, goal);
            mf_store_where(s->alive, rate + at, speed);
        }
    }
}

static MF_INLINE void store_anchor(const Step *s, uint32_t i, mf_mask joins) {
    Vec point = s->foot_point[i], anchor = vec_load(row_of(s, MF_KIN_ROW_ANCHOR), 3 * i);
    point.z = point.z + s->lift;
    keep_vec(s, MF_KIN_ROW_ANCHOR, 3 * i, vec_select(joins, point, anchor));
}

static MF_INLINE void store_feet(Step *s) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const mf_lane join = constant(s, MF_KIN_JOIN), part = constant(s, MF_KIN_PART);
    mf_lane count = zero;
    for (uint32_t i = 0; i < s->plan->foot_count; i++) {
        mf_mask fixed = mf_less(zero, s->holds[i]);
        mf_mask stand = mf_less_equal(s->above[i], mf_select(fixed, part, join));
        stand = mf_and(stand, s->touching);
        s->above[i] = mf_keep(stand, one); // from here on: in stance
        count = count + s->above[i];
        keep_store(s, MF_KIN_ROW_HOLDS, i, s->above[i]);
        mf_mask joins = mf_and(stand, mf_not(fixed));
        if (mf_any(joins))
            store_anchor(s, i, joins);
    }
    mf_lane share = constant(s, MF_KIN_WEIGHT) / mf_max(count, one);
    const mf_KinFoot *feet = mf_kin_feet(s->plan);
    for (uint32_t i = 0; i < s->plan->foot_count; i++)
        keep_store(s, MF_KIN_ROW_LOAD, feet[i].row, s->above[i] * share);
}

// The rotation vector of a unit quaternion, [0, pi].
static MF_INLINE Vec quat_logarithm(Quat q) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    Vec v = {q.x, q.y, q.z};
    mf_mask over = mf_less(q.w, zero);
    mf_lane w = mf_abs(q.w), square = vec_dot(v, v), sine = mf_sqrt(square);
    mf_mask small = mf_less(square, mf_set((mf_real)1e-8));
    // atan(x)/x = 1 - x^2/3 near 0.
    mf_lane ratio = one / mf_select(small, w, sine), tangent = sine * ratio;
    mf_lane near = mf_fma(tangent * tangent, mf_set((mf_real)(-1.0 / 3.0)), one) * ratio;
    mf_lane factor = two * mf_select(small, near, mf_atan_ratio_lane(sine, w) * ratio);
    return vec_scale(v, mf_select(over, -factor, factor));
}

static MF_INLINE void keep_low(const Step *s, mf_real *lows, size_t c, mf_lane a) {
    if (lows != NULL)
        mf_store_where(s->alive, lows + c * MF_BLOCK, a);
}

static MF_INLINE void keep_remainders(const Step *s, const Moved *moved) {
    mf_real *position = low_row(row_of(s, MF_KIN_ROW_POSITION), s->block->low_position);
    mf_real *attitude = low_row(row_of(s, MF_KIN_ROW_ORIENTATION), s->block->low_orientation);
    keep_low(s, position, 0, moved->low_position.x);
    keep_low(s, position, 1, moved->low_position.y);
    keep_low(s, position, 2, moved->low_position.z);
    keep_low(s, attitude, 0, moved->low_attitude.w);
    keep_low(s, attitude, 1, moved->low_attitude.x);
    keep_low(s, attitude, 2, moved->low_attitude.y);
    keep_low(s, attitude, 3, moved->low_attitude.z);
}

static MF_INLINE void store_base(Step *s, const Moved *moved) {
    const Vec position = moved->position;
    const Quat attitude = moved->attitude;
    const mf_lane per_second = constant(s, MF_KIN_INVERSE_STEP);
    Vec linear = vec_select(s->touching, vec_scale(s->move, per_second), s->linear);
    Vec rate = vec_scale(quat_logarithm(s->rotation), per_second);
    mf_lane sum = mf_abs(position.x) + mf_abs(position.y) + mf_abs(position.z) + mf_abs(linear.x) +
                  mf_abs(linear.y) + mf_abs(linear.z) + mf_abs(rate.x) + mf_abs(rate.y) +
                  mf_abs(rate.z) + mf_abs(attitude.w) + mf_abs(attitude.x) + mf_abs(attitude.y) +
                  mf_abs(attitude.z);
    raise_fault(s, mf_finite(sum), MF_FAULT_NONFINITE);
    raise_fault(s, mf_less(sum, mf_set((mf_real)1e9)), MF_FAULT_RANGE);
    keep_vec(s, MF_KIN_ROW_POSITION, 0, position);
    keep_store(s, MF_KIN_ROW_ORIENTATION, 0, attitude.w);
    keep_store(s, MF_KIN_ROW_ORIENTATION, 1, attitude.x);
    keep_store(s, MF_KIN_ROW_ORIENTATION, 2, attitude.y);
    keep_store(s, MF_KIN_ROW_ORIENTATION, 3, attitude.z);
    keep_remainders(s, moved);
    keep_vec(s, MF_KIN_ROW_LINEAR, 0, linear);
    keep_vec(s, MF_KIN_ROW_ANGULAR, 0, rate);
}

// ---- the step -----------------------------------------------------------------------------------

// Fits again after feet were released: each round releases at least one.
static MF_INLINE mf_lane find_base(Step *s, const Mat *rotation, Moved *moved) {
    mf_lane lowest;
    do {
        fit_base(s, rotation);
        *moved = moved_base(s);
        lowest = find_heights(s, moved);
    } while (release_lifted(s));
    return lowest;
}

static MF_INLINE void move_base(Step *s) {
    const mf_real *q = row_of(s, MF_KIN_ROW_ORIENTATION);
    s->position = vec_load(row_of(s, MF_KIN_ROW_POSITION), 0);
    s->attitude = MF_VALUE(Quat, row_load(q, 0), row_load(q, 1), row_load(q, 2), row_load(q, 3));
    s->low_position = low_vec(low_row(row_of(s, MF_KIN_ROW_POSITION), s->block->low_position), 0);
    s->low_attitude =
        low_quat(low_row(row_of(s, MF_KIN_ROW_ORIENTATION), s->block->low_orientation), 0);
    s->linear = vec_load(row_of(s, MF_KIN_ROW_LINEAR), 0);
    Mat rotation = quat_matrix(s->attitude);
    Moved moved;
    s->linear = MF_VALUE(Vec, mf_zero(), mf_zero(), s->linear.z - constant(s, MF_KIN_FALL));
    find_directions(s, &rotation);
    mf_lane lowest = find_base(s, &rotation, &moved);
    if (s->constant[MF_KIN_SETTLE] > 0 && mf_any(mf_and(s->stood, s->fit.thin))) {
        settle(s, &moved, lowest);
        moved = moved_base(s);
        lowest = find_heights(s, &moved);
    }
    hit_ground(s, lowest);
    moved.position.z = sum_plus(s->lift, moved.position.z, &moved.low_position.z);
    store_base(s, &moved);
}

size_t MF_KERNEL(mf_kinematic_scratch_size)(const mf_KinPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Step s;
    step_carve(plan, &carver, &s);
    return carver.used;
}

void MF_KERNEL(mf_kinematic_step)(const mf_KinBlock *block) {
    Step s;
    s.block = block;
    s.plan = block->plan;
    s.constant = MF_KIN_CONSTANTS(block->plan);
    s.alive = mf_index_equal(mf_load_index((const int32_t *)block->fault), mf_set_index(0));
    s.all_alive = mf_all(s.alive);
    s.warnings.any = false;
    if (!mf_any(s.alive))
        return;
    mf_Carver carver = {(char *)block->scratch, 0};
    step_carve(s.plan, &carver, &s);
    find_goals(&s);
    if (mf_kin_tree(s.plan)->fixed) {
        store_joints(&s);
        return;
    }
    legs_reach(block, s.goal, s.frames, s.point);
    move_base(&s);
    store_joints(&s);
    store_feet(&s);
    warnings_store(&s.warnings, &block->warnings, s.alive);
}
