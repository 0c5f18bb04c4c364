// A tree moved as one rigid body (Featherstone 2008, section 6.2): inertias of links, added.
#ifndef MF_MOTION_ARTICULATED_CRBA_H
#define MF_MOTION_ARTICULATED_CRBA_H

#include "motion/articulated/linkage.h"

typedef struct Composite {
    Frame frame;
    mf_lane mass; // [kg]
    Vec moment;   // [kg m]
    Sym inertia;  // [kg m^2] about the origin
} Composite;

// Adds a body, seen from a frame in which its own lies as `frame`.
static inline void join(Composite *sum, const Composite *body, const Frame *frame) {
    Vec moment = mat_apply(&frame->rotation, body->moment), d = frame->position;
    Sym rotated = sym_rotate(&frame->rotation, &body->inertia);
    // Steiner's theorem for a body given by its first moment: with p = 2 d.h + m d^2 the tensor
    // grows by p 1 - (d h^T + h d^T + m d d^T).
    Vec md = vec_scale(d, body->mass), g = vec_add(moment, md);
    mf_lane p = vec_dot(d, moment) + vec_dot(d, g);
    sum->inertia.xx += rotated.xx + p - mf_fma(d.x, g.x, moment.x * d.x);
    sum->inertia.yy += rotated.yy + p - mf_fma(d.y, g.y, moment.y * d.y);
    sum->inertia.zz += rotated.zz + p - mf_fma(d.z, g.z, moment.z * d.z);
    sum->inertia.xy += rotated.xy - mf_fma(d.x, g.y, moment.x * d.y);
    sum->inertia.xz += rotated.xz - mf_fma(d.x, g.z, moment.x * d.z);
    sum->inertia.yz += rotated.yz - mf_fma(d.y, g.z, moment.y * d.z);
    sum->moment = vec_add(sum->moment, g);
    sum->mass = sum->mass + body->mass;
}

static inline Composite rigid_body(const mf_real *c) {
    return MF_VALUE(Composite, .mass = mf_set(c[MF_ART_MASS]),
                    .moment = vec_constant(c + MF_ART_MOMENT),
                    .inertia = sym_constant(c + MF_ART_INERTIA));
}

#endif
