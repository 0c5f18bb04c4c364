// Where the feet are in the base's frame: joint angles go where they are told, direct kinematics
// along the links that carry feet.
#ifndef MF_MOTION_KINEMATIC_LEGS_H
#define MF_MOTION_KINEMATIC_LEGS_H

#include "motion/kinematic/plan.h"
#include "motion/kinematic/fit.h"

#if defined(MF_KERNEL_F64)
#define MF_KIN_CONSTANTS(plan) ((plan)->constants_f64)
#else
#define MF_KIN_CONSTANTS(plan) ((plan)->constants_f32)
#endif

typedef struct LegFrame { // in the base's frame
    Mat turn;
    Vec place; // [m]
} LegFrame;

// Turns the axes that are the columns of `m` about one of them.
static MF_INLINE Mat mat_spin_z(const Mat *m, mf_lane c, mf_lane s) {
    return (Mat){mf_fma(m->xx, c, m->xy * s), mf_fma(m->xy, c, -(m->xx * s)), m->xz,
                 mf_fma(m->yx, c, m->yy * s), mf_fma(m->yy, c, -(m->yx * s)), m->yz,
                 mf_fma(m->zx, c, m->zy * s), mf_fma(m->zy, c, -(m->zx * s)), m->zz};
}

static MF_INLINE Mat mat_tilt_x(const Mat *m, mf_ArtTilt tilt, const mf_real *c) {
    switch (tilt) {
    case MF_ART_LEVEL:
        return *m;
    case MF_ART_UP:
        return (Mat){m->xx, m->xz, -m->xy, m->yx, m->yz, -m->yy, m->zx, m->zz, -m->zy};
    case MF_ART_DOWN:
        return (Mat){m->xx, -m->xz, m->xy, m->yx, -m->yz, m->yy, m->zx, -m->zz, m->zy};
    case MF_ART_OVER:
        return (Mat){m->xx, -m->xy, -m->xz, m->yx, -m->yy, -m->yz, m->zx, -m->zy, -m->zz};
    default:
        break;
    }
    const mf_lane k = mf_set(c[MF_ART_COS_TILT]), s = mf_set(c[MF_ART_SIN_TILT]);
    return (Mat){m->xx, mf_fma(m->xy, k, m->xz * s), mf_fma(m->xz, k, -(m->xy * s)),
                 m->yx, mf_fma(m->yy, k, m->yz * s), mf_fma(m->yz, k, -(m->yy * s)),
                 m->zx, mf_fma(m->zy, k, m->zz * s), mf_fma(m->zz, k, -(m->zy * s))};
}

// PLACE in the base's frame, without the parts that are 0.
static MF_INLINE Vec leg_place(const LegFrame *parent, const mf_real *c, uint32_t shift) {
    const Mat *m = &parent->turn;
    Vec place = parent->place;
    if (shift & 1u)
        place = vec_fma((Vec){m->xx, m->yx, m->zx}, mf_set(c[MF_ART_PLACE]), place);
    if (shift & 2u)
        place = vec_fma((Vec){m->xy, m->yy, m->zy}, mf_set(c[MF_ART_PLACE + 1]), place);
    if (shift & 4u)
        place = vec_fma((Vec){m->xz, m->yz, m->zz}, mf_set(c[MF_ART_PLACE + 2]), place);
    return place;
}

static MF_INLINE LegFrame leg_frame(const mf_KinBlock *block, const mf_KinLink *own,
                                    const LegFrame *parent, const mf_lane *goal) {
    const mf_ArtPlan *tree = block->plan->tree;
    const mf_ArtLink *link = &tree->links[own->link];
    const mf_real *c = link_constants(tree, own->link);
    LegFrame frame = {.place = leg_place(parent, c, link->shift)};
    if (link->kind == MF_ART_BALL) {
        const mf_real *row = block->rows[MF_KIN_ROW_BALL];
        Quat q = {row_load(row, 4 * link->row), row_load(row, 4 * link->row + 1),
                  row_load(row, 4 * link->row + 2), row_load(row, 4 * link->row + 3)};
        Mat still = mat_constant(c + MF_ART_TURN), turn = quat_matrix(q);
        turn = mat_multiply(&still, &turn);
        frame.turn = mat_multiply(&parent->turn, &turn);
        return frame;
    }
    Mat turn = parent->turn;
    if (link->spun)
        turn = mat_spin_z(&turn, mf_set(c[MF_ART_COS_SPIN]), mf_set(c[MF_ART_SIN_SPIN]));
    turn = mat_tilt_x(&turn, link->tilt, c);
    mf_lane value = mf_set(c[MF_ART_OFFSET]), sine = mf_set(c[MF_ART_SIN_OFFSET]),
            cosine = mf_set(c[MF_ART_COS_OFFSET]);
    if (link->inner)
        value = value + row_load((const mf_real *)block->rows[MF_KIN_ROW_FREE], link->row);
    else
        value = value + goal[own->joint];
    if (link->kind == MF_ART_HINGE)
        sin_cos(value, &sine, &cosine);
    else
        frame.place = vec_fma((Vec){turn.xz, turn.yz, turn.zz}, value, frame.place);
    frame.turn = mat_spin_z(&turn, cosine, sine);
    return frame;
}

// The feet [m]; a ball's centre.
static inline void legs_reach(const mf_KinBlock *block, const mf_lane *goal, Vec *point) {
    const mf_KinPlan *plan = block->plan;
    LegFrame frames[MF_ARTICULATED_MAX_LINKS + 1]; // the base first
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    frames[0] = (LegFrame){{one, zero, zero, zero, one, zero, zero, zero, one}, vec_zero()};
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_KinLink *link = &plan->links[l];
        frames[l + 1] = leg_frame(block, link, &frames[link->parent + 1], goal);
    }
    const mf_real *c = MF_KIN_CONSTANTS(plan) + plan->foot_offset;
    for (uint32_t i = 0; i < plan->foot_count; i++, c += MF_KIN_FOOT_VALUES) {
        const LegFrame *frame = &frames[plan->feet[i].link + 1];
        point[i] = mat_apply_add(&frame->turn, vec_constant(c), frame->place);
    }
}

#endif
