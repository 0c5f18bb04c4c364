// Positions of the feet in the base's frame: joints track their targets exactly, forward kinematics
// along the links to the feet.
#ifndef MF_MOTION_KINEMATIC_LEGS_H
#define MF_MOTION_KINEMATIC_LEGS_H

#include "motion/kinematic/plan.h"
#include "motion/kinematic/fit.h"

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
