// What the medium does to the bodies of a file: drag of the box that has a body's inertia (MuJoCo's
// documentation, "Computation", section "Passive forces", fluid model by inertia), or drag, lift
// and added mass of the ellipsoids of its shapes, where one has fluidshape. Of the box, along and
// about every axis
//     force = -(drag |v| + creep) v        torque = -(twist |w| + whirl) w
// with v relative to the medium. In an implicit step this is the chord through rest with the slope
// of now, taken at the end of the step, so no density makes a step unstable.
#ifndef MF_MOTION_ARTICULATED_FLUID_H
#define MF_MOTION_ARTICULATED_FLUID_H

#include "motion/articulated/contact.h"

#define FLUID_PI 3.14159265358979323846

static MF_INLINE Vec fluid_numbers(const double *a) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2]));
}

// The tensor that has the values (square |x| + plain) on the axes of the box, x along them.
static MF_INLINE Sym fluid_tensor(const Mat *rotation, Vec x, const double *square, double plain) {
    const Vec part = fluid_numbers(square);
    const mf_lane rest = mf_set((mf_real)plain), zero = mf_zero();
    const Sym own = {mf_fma(part.x, mf_abs(x.x), rest),
                     mf_fma(part.y, mf_abs(x.y), rest),
                     mf_fma(part.z, mf_abs(x.z), rest),
                     zero,
                     zero,
                     zero};
    return sym_rotate(rotation, &own);
}

static MF_INLINE Sym sym_scale(const Sym *a, mf_lane s) {
    return MF_VALUE(Sym, a->xx * s, a->yy * s, a->zz * s, a->xy * s, a->xz * s, a->yz * s);
}

// Forces of the medium on an ellipsoid with the velocity v and the rate w against it, in its axes
// (MuJoCo's documentation, "Computation", fluid model by ellipsoids; added mass: Lamb 1932,
// sections 114 and 115; lift: Kutta and Joukowski, Magnus). The force is `force` - drag v, the
// torque `turn` - twist w; the added mass acts by the velocities only.
typedef struct Stream {
    Vec force, torque;
    mf_lane drag, torque_drag;
} Stream;

static MF_INLINE Vec vec_products(const double *a, Vec b) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]) * b.x, mf_set((mf_real)a[1]) * b.y,
                    mf_set((mf_real)a[2]) * b.z);
}

static inline Stream stream_on(const mf_ArtFluid *fluid, Vec v, Vec w) {
    const mf_ArtSolid *solid = &fluid->solid;
    const mf_lane tiny = mf_set((mf_real)1e-15); // MuJoCo's: coefficients of files are made with it
    const mf_lane size = mf_sqrt(vec_dot(v, v));
    const Vec momentum = vec_products(solid->mass, v),
              angular_momentum = vec_products(solid->inertia, w);
    // Along the normal of the area that the ellipsoid shows to the stream.
    const Vec normal = vec_products(solid->sides, v);
    const mf_lane square = vec_dot(normal, normal), part = vec_dot(normal, v);
    const mf_lane area = mf_set((mf_real)FLUID_PI) * mf_sqrt(square / mf_max(part, tiny));
    const mf_lane slant = part / mf_max(size * square, tiny);
    const Vec around =
        vec_scale(vec_cross(normal, v), mf_set((mf_real)solid->kutta) * slant * area);
    const Vec angular = vec_products(solid->angular_drag, w);
    Vec force = vec_add(vec_cross(momentum, w), vec_cross(around, v));
    force = vec_fma(vec_cross(w, v), mf_set((mf_real)solid->magnus), force);
    const mf_lane whole = mf_fma(mf_set((mf_real)(solid->blunt - solid->slender_part)), area,
                                 mf_set((mf_real)solid->slender));
    return MF_VALUE(Stream, force, vec_add(vec_cross(momentum, v), vec_cross(angular_momentum, w)),
                    mf_fma(size, whole, mf_set((mf_real)fluid->creep)),
                    mf_sqrt(vec_dot(angular, angular)) + mf_set((mf_real)fluid->whirl));
}

// `speed` of its middle and `rate` against the medium, and the middle's speed `ahead` at the end of
// the step without more forces; all in the link's axes.
static inline void solid_add(const mf_ArtFluid *fluid, mf_lane step, const Mat *rotation, Vec arm,
                             Vec speed, Vec ahead, Vec rate, Art *a) {
    const mf_lane zero = mf_zero();
    const Stream stream = stream_on(fluid, mat_apply_transposed(rotation, speed),
                                    mat_apply_transposed(rotation, rate));
    const mf_lane drag = stream.drag * step, torque_drag = stream.torque_drag * step;
    const Vec force = vec_fma(ahead, -stream.drag, mat_apply(rotation, stream.force));
    resist_at(arm, force, MF_VALUE(Sym, drag, drag, drag, zero, zero, zero), a);
    a->n = vec_add(
        a->n, vec_fma(rate, stream.torque_drag, vec_negative(mat_apply(rotation, stream.torque))));
    a->j.xx = a->j.xx + torque_drag;
    a->j.yy = a->j.yy + torque_drag;
    a->j.zz = a->j.zz + torque_drag;
}

static inline void fluid_add(const mf_ArtPlan *plan, const mf_ArtFluid *fluid, mf_lane step,
                             const Pose *pose, Vec down, Vec rate, Art *a) {
    const Vec arm = fluid_numbers(fluid->position);
    const Vec x = fluid_numbers(fluid->rotation), y = fluid_numbers(fluid->rotation + 3),
              z = fluid_numbers(fluid->rotation + 6);
    const Mat rotation = {x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z};
    Vec stream = vec_sub(pose->speed, fluid_numbers(plan->wind));
    Vec speed = vec_cross_add(rate, arm, mat_apply_transposed(&pose->rotation, stream));
    if (plan->integrator != MF_ARTICULATED_IMPLICIT)
        step = mf_zero();
    Vec swing =
        vec_cross_add(rate, vec_cross(rate, arm), vec_scale(down, setting(plan, MF_ART_GRAVITY)));
    Vec ahead = vec_fma(swing, step, speed);
    if (fluid->ellipsoid) {
        solid_add(fluid, step, &rotation, arm, speed, ahead, rate, a);
        return;
    }
    Sym drag =
        fluid_tensor(&rotation, mat_apply_transposed(&rotation, speed), fluid->drag, fluid->creep);
    Sym torque_drag = fluid_tensor(&rotation, mat_apply_transposed(&rotation, rate),
                                   fluid->torque_drag, fluid->whirl);
    resist_at(arm, vec_negative(sym_apply(&drag, ahead)), sym_scale(&drag, step), a);
    a->n = vec_add(a->n, sym_apply(&torque_drag, rate));
    Sym slow = sym_scale(&torque_drag, step);
    a->j = MF_VALUE(Sym, a->j.xx + slow.xx, a->j.yy + slow.yy, a->j.zz + slow.zz, a->j.xy + slow.xy,
                    a->j.xz + slow.xz, a->j.yz + slow.yz);
}

// Those of a link (-1 = base), which turns at `rate`.
static inline void fluids_add(const mf_ArtPlan *plan, int32_t link, uint32_t first, uint32_t count,
                              mf_lane step, const Contacts *contacts, Vec rate, Art *a) {
    const Vec down = pose_down(plan, contacts, link);
    const mf_ArtFluid *fluids = mf_art_fluids(plan);
    for (uint32_t i = first; i < first + count; i++)
        fluid_add(plan, &fluids[i], step, &contacts->pose[link + 1], down, rate, a);
}

#endif
