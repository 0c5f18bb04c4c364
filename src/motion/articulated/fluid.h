// What the medium does to the bodies of a file: drag of the box that has a body's inertia (MuJoCo's
// documentation, "Computation", section "Passive forces", fluid model by inertia). Along and about
// every axis of the box
//     force = -(drag |v| + creep) v        torque = -(twist |w| + whirl) w
// with v relative to the medium. In an implicit step this is the chord through rest with the slope
// of now, taken at the end of the step, so no density makes a step unstable.
#ifndef MF_MOTION_ARTICULATED_FLUID_H
#define MF_MOTION_ARTICULATED_FLUID_H

#include "motion/articulated/contact.h"

static MF_INLINE Vec fluid_numbers(const double *a) {
    return (Vec){mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2])};
}

// The tensor that has the values (square |x| + plain) on the axes of the box, x along them.
static MF_INLINE Sym fluid_tensor(const Mat *turn, Vec x, const double *square, double plain) {
    const Vec part = fluid_numbers(square);
    const mf_lane rest = mf_set((mf_real)plain), zero = mf_zero();
    const Sym own = {mf_fma(part.x, mf_abs(x.x), rest),
                     mf_fma(part.y, mf_abs(x.y), rest),
                     mf_fma(part.z, mf_abs(x.z), rest),
                     zero,
                     zero,
                     zero};
    return sym_turn(turn, &own);
}

static MF_INLINE Sym sym_scale(const Sym *a, mf_lane s) {
    return (Sym){a->xx * s, a->yy * s, a->zz * s, a->xy * s, a->xz * s, a->yz * s};
}

static inline void fluid_add(const mf_ArtPlan *plan, const mf_ArtFluid *fluid, mf_lane step,
                             const Pose *pose, Vec down, Vec rate, Art *a) {
    const Vec arm = fluid_numbers(fluid->place);
    const Vec x = fluid_numbers(fluid->turn), y = fluid_numbers(fluid->turn + 3),
              z = fluid_numbers(fluid->turn + 6);
    const Mat turn = {x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z};
    Vec stream = vec_sub(pose->speed, fluid_numbers(plan->wind));
    Vec speed = vec_cross_add(rate, arm, mat_apply_transposed(&pose->turn, stream));
    Sym drag = fluid_tensor(&turn, mat_apply_transposed(&turn, speed), fluid->drag, fluid->creep);
    Sym twist = fluid_tensor(&turn, mat_apply_transposed(&turn, rate), fluid->twist, fluid->whirl);
    if (plan->config.integrator != MF_ARTICULATED_IMPLICIT)
        step = mf_zero();
    Vec swing =
        vec_cross_add(rate, vec_cross(rate, arm), vec_scale(down, setting(plan, MF_ART_GRAVITY)));
    Vec ahead = vec_fma(swing, step, speed);
    resist_at(arm, vec_negative(sym_apply(&drag, ahead)), sym_scale(&drag, step), a);
    a->n = vec_add(a->n, sym_apply(&twist, rate));
    Sym slow = sym_scale(&twist, step);
    a->j = (Sym){a->j.xx + slow.xx, a->j.yy + slow.yy, a->j.zz + slow.zz,
                 a->j.xy + slow.xy, a->j.xz + slow.xz, a->j.yz + slow.yz};
}

// Those of a link (-1 = base), which turns at `rate`.
static inline void fluids_add(const mf_ArtPlan *plan, int32_t link, uint32_t first, uint32_t count,
                              mf_lane step, const Contacts *contacts, Vec rate, Art *a) {
    const Vec down = pose_down(plan, contacts, link);
    for (uint32_t i = first; i < first + count; i++)
        fluid_add(plan, &plan->fluids[i], step, &contacts->pose[link + 1], down, rate, a);
}

#endif
