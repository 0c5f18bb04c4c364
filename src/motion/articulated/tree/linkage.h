// How a link's frame lies in its parent's, as a whole matrix, for the questions about the tree:
// poses, recursive Newton-Euler, composite bodies.
#pragma once

#include "motion/articulated/state.h"

typedef struct Frame {
    Mat rotation; // link to parent
    Vec position; // [m] origin in the parent's frame
} Frame;

// About z by the first, then x, then z again.
static inline Mat mat_zxz(mf_lane c1, mf_lane s1, mf_lane c2, mf_lane s2, mf_lane c3, mf_lane s3) {
    mf_lane c21 = c2 * s1, c22 = c2 * c1;
    return MF_VALUE(Mat, mf_fma(c1, c3, -(c21 * s3)), mf_fma(-c1, s3, -(c21 * c3)), s1 * s2,
                    mf_fma(s1, c3, c22 * s3), mf_fma(-s1, s3, c22 * c3), -(c1 * s2), s2 * s3,
                    s2 * c3, c2);
}

static inline Frame link_frame(const mf_ArtPlan *plan, const State *state, uint32_t l) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    Frame frame = {.position = vec_constant(c + MF_ART_POSITION)};
    mf_lane cosine = constant_at(c, MF_ART_COS_OFFSET), sine = constant_at(c, MF_ART_SIN_OFFSET);
    if (link->kind == MF_ART_BALL) {
        Mat still = mat_constant(c + MF_ART_ROTATION),
            rotation = quat_matrix(state->ball[link->row]);
        frame.rotation = mat_multiply(&still, &rotation);
        return frame;
    }
    mf_lane value = state->angle[l] + constant_at(c, MF_ART_OFFSET);
    if (link->kind == MF_ART_HINGE)
        sin_cos(value, &sine, &cosine);
    frame.rotation =
        mat_zxz(constant_at(c, MF_ART_COS_ANGLE), constant_at(c, MF_ART_SIN_ANGLE),
                constant_at(c, MF_ART_COS_TILT), constant_at(c, MF_ART_SIN_TILT), cosine, sine);
    if (link->kind == MF_ART_SLIDE)
        frame.position =
            vec_fma(MF_VALUE(Vec, frame.rotation.xz, frame.rotation.yz, frame.rotation.zz), value,
                    frame.position);
    return frame;
}

// From the parent's axes to those before the joint's rotation.
static MF_INLINE Vec into_joint(const mf_ArtLink *link, const Constant *c, Vec a) {
    if (link->spun)
        a = vec_back_z(a, constant_at(c, MF_ART_COS_ANGLE), constant_at(c, MF_ART_SIN_ANGLE));
    switch (link->tilt) {
    case MF_ART_LEVEL:
        return a;
    case MF_ART_UP:
        return MF_VALUE(Vec, a.x, a.z, -a.y);
    case MF_ART_DOWN:
        return MF_VALUE(Vec, a.x, -a.z, a.y);
    case MF_ART_OVER:
        return MF_VALUE(Vec, a.x, -a.y, -a.z);
    case MF_ART_ANY:
        break;
    }
    return vec_back_x(a, constant_at(c, MF_ART_COS_TILT), constant_at(c, MF_ART_SIN_TILT));
}
