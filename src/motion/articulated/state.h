// Data of the kernels: the state of a few lanes in terms of the plan, and the constants.
#pragma once

#include "math/carve.h"
#include "math/lane_sum.h"
#include "motion/articulated/plan.h"
#include "motion/points/vector.h"

#include <string.h>

// ---- spatial ------------------------------------------------------------------------------------

// Articulated-body inertias and forces of a frame, and their transformation to its parent.
//
// A body whose frame has the angular acceleration `a_w` and whose origin the acceleration `a_v`
// (classical, without gravity: a_v = acceleration of the origin minus g) needs at that origin
//     torque = J a_w + H a_v + n        force = H^T a_w + M a_v + f
// (Featherstone, Rigid Body Dynamics Algorithms, 2008, equation 7.1, written in 3x3 blocks; with
// classical instead of spatial accelerations n and f hold no linear velocity). All in axes of the
// frame.
//
// Constant transforms consist of rotations about x and z and shifts along single axes, so that
// zeros and right angles cost nothing.

typedef struct Art {
    Sym j; // [kg m^2]
    Mat h; // [kg m]
    Sym m; // [kg]
    Vec n; // [N m]
    Vec f; // [N]
} Art;

// Sine and cosine with an error below 4e-7 (float), 1e-15 (double) for |angle| <= 1e4 (float), 1e8
// (double): reduction by whole revolutions in three parts (Cody and Waite 1980), polynomials of
// half the remainder, doubled. No selection and no conversion; beyond those angles the error grows.
static MF_INLINE void sin_cos(mf_lane angle, mf_lane *sine, mf_lane *cosine) {
#if defined(MF_KERNEL_F64)
    const mf_lane round = mf_set(0x1.8p52);
    const mf_lane part1 = mf_set(0x1.921fb544p2), part2 = mf_set(0x1.0b4611a4p-32),
                  part3 = mf_set(0x1.13198a2e03707p-63);
#else
    const mf_lane round = mf_set(0x1.8p23f);
    const mf_lane part1 = mf_set(0x1.92p2f), part2 = mf_set(0x1.fb4p-10f),
                  part3 = mf_set(0x1.4442d2p-22f);
#endif
    // Adding a number whose last bit has the value 1 rounds to the nearest whole number.
    mf_lane cycles = mf_fma(angle, mf_set((mf_real)0.15915494309189533577), round) - round;
    mf_lane rest = mf_fma(-cycles, part1, angle);
    rest = mf_fma(-cycles, part2, rest);
    rest = mf_fma(-cycles, part3, rest) * mf_set((mf_real)0.5);
    mf_lane s = mf_sin_short_lane(rest), c = mf_cos_short_lane(rest);
    mf_lane s2 = s + s;
    *sine = s2 * c;
    *cosine = mf_fma(-s2, s, mf_set((mf_real)1));
}

// ---- rotations: from axes B to axes A, where B is A rotated -------------------------------------

static MF_INLINE Vec vec_rotate_z(Vec a, mf_lane c, mf_lane s) {
    return MF_VALUE(Vec, mf_fma(a.x, c, -(a.y * s)), mf_fma(a.x, s, a.y * c), a.z);
}
static MF_INLINE Vec vec_back_z(Vec a, mf_lane c, mf_lane s) {
    return MF_VALUE(Vec, mf_fma(a.x, c, a.y * s), mf_fma(a.y, c, -(a.x * s)), a.z);
}
static MF_INLINE Vec vec_rotate_x(Vec a, mf_lane c, mf_lane s) {
    return MF_VALUE(Vec, a.x, mf_fma(a.y, c, -(a.z * s)), mf_fma(a.y, s, a.z * c));
}
static MF_INLINE Vec vec_back_x(Vec a, mf_lane c, mf_lane s) {
    return MF_VALUE(Vec, a.x, mf_fma(a.y, c, a.z * s), mf_fma(a.z, c, -(a.y * s)));
}

// The pair (a, b) of a vector's components.
static MF_INLINE void pair_rotate(mf_lane *a, mf_lane *b, mf_lane c, mf_lane s) {
    mf_lane x = *a, y = *b;
    *a = mf_fma(x, c, -(y * s));
    *b = mf_fma(x, s, y * c);
}

// The 2x2 block (aa ab; ab bb) of a symmetric tensor: with d = aa - bb and w = s d + 2 c ab it
// becomes aa - s w, bb + s w, c w - ab.
static MF_INLINE void block_rotate(mf_lane *aa, mf_lane *bb, mf_lane *ab, mf_lane c, mf_lane s) {
    mf_lane w = mf_fma(s, *aa - *bb, (c + c) * *ab);
    *aa = mf_fma(-s, w, *aa);
    *bb = mf_fma(s, w, *bb);
    *ab = mf_fma(c, w, -*ab);
}

// The 2x2 block of any tensor: its symmetric part as above, its antisymmetric part stays, so ab and
// ba change by the same.
static MF_INLINE void square_rotate(mf_lane *aa, mf_lane *bb, mf_lane *ab, mf_lane *ba, mf_lane c,
                                    mf_lane s) {
    mf_lane sum = *ab + *ba, w = mf_fma(s, *aa - *bb, c * sum), change = mf_fma(c, w, -sum);
    *aa = mf_fma(-s, w, *aa);
    *bb = mf_fma(s, w, *bb);
    *ab = *ab + change;
    *ba = *ba + change;
}

static MF_INLINE void art_rotate_z(Art *a, mf_lane c, mf_lane s) {
    block_rotate(&a->m.xx, &a->m.yy, &a->m.xy, c, s);
    pair_rotate(&a->m.xz, &a->m.yz, c, s);
    block_rotate(&a->j.xx, &a->j.yy, &a->j.xy, c, s);
    pair_rotate(&a->j.xz, &a->j.yz, c, s);
    square_rotate(&a->h.xx, &a->h.yy, &a->h.xy, &a->h.yx, c, s);
    pair_rotate(&a->h.xz, &a->h.yz, c, s);
    pair_rotate(&a->h.zx, &a->h.zy, c, s);
    pair_rotate(&a->n.x, &a->n.y, c, s);
    pair_rotate(&a->f.x, &a->f.y, c, s);
}

static MF_INLINE void art_rotate_x(Art *a, mf_lane c, mf_lane s) {
    block_rotate(&a->m.yy, &a->m.zz, &a->m.yz, c, s);
    pair_rotate(&a->m.xy, &a->m.xz, c, s);
    block_rotate(&a->j.yy, &a->j.zz, &a->j.yz, c, s);
    pair_rotate(&a->j.xy, &a->j.xz, c, s);
    square_rotate(&a->h.yy, &a->h.zz, &a->h.yz, &a->h.zy, c, s);
    pair_rotate(&a->h.xy, &a->h.xz, c, s);
    pair_rotate(&a->h.yx, &a->h.zx, c, s);
    pair_rotate(&a->n.y, &a->n.z, c, s);
    pair_rotate(&a->f.y, &a->f.z, c, s);
}

static MF_INLINE void swap(mf_lane *a, mf_lane *b) {
    mf_lane keep = *a;
    *a = *b;
    *b = keep;
}

// Exchanges the axes y and z in all tensors, without signs.
static MF_INLINE void art_swap_yz(Art *a) {
    swap(&a->m.yy, &a->m.zz);
    swap(&a->m.xy, &a->m.xz);
    swap(&a->j.yy, &a->j.zz);
    swap(&a->j.xy, &a->j.xz);
    swap(&a->h.yy, &a->h.zz);
    swap(&a->h.yz, &a->h.zy);
    swap(&a->h.xy, &a->h.xz);
    swap(&a->h.yx, &a->h.zx);
    swap(&a->n.y, &a->n.z);
    swap(&a->f.y, &a->f.z);
}

static MF_INLINE void art_flip_y(Art *a) {
    a->m.xy = -a->m.xy;
    a->m.yz = -a->m.yz;
    a->j.xy = -a->j.xy;
    a->j.yz = -a->j.yz;
    a->h.xy = -a->h.xy;
    a->h.yx = -a->h.yx;
    a->h.yz = -a->h.yz;
    a->h.zy = -a->h.zy;
    a->n.y = -a->n.y;
    a->f.y = -a->f.y;
}

static MF_INLINE void art_flip_z(Art *a) {
    a->m.xz = -a->m.xz;
    a->m.yz = -a->m.yz;
    a->j.xz = -a->j.xz;
    a->j.yz = -a->j.yz;
    a->h.xz = -a->h.xz;
    a->h.zx = -a->h.zx;
    a->h.yz = -a->h.yz;
    a->h.zy = -a->h.zy;
    a->n.z = -a->n.z;
    a->f.z = -a->f.z;
}

// r t r^T for any tensor and rotation.
static MF_INLINE Mat mat_congruence(const Mat *r, const Mat *t) {
    Vec x = mat_apply(t, MF_VALUE(Vec, r->xx, r->xy, r->xz)),
        y = mat_apply(t, MF_VALUE(Vec, r->yx, r->yy, r->yz)),
        z = mat_apply(t, MF_VALUE(Vec, r->zx, r->zy, r->zz));
    Vec a = mat_apply(r, x), b = mat_apply(r, y), c = mat_apply(r, z);
    return MF_VALUE(Mat, a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z);
}

static inline void art_rotate(Art *a, const Mat *r) {
    a->j = sym_rotate(r, &a->j);
    a->m = sym_rotate(r, &a->m);
    a->h = mat_congruence(r, &a->h);
    a->n = mat_apply(r, a->n);
    a->f = mat_apply(r, a->f);
}

// ---- shifts: the same body seen from an origin that lies `d` before its own along one axis
// -------
//
// With r the child's origin in the parent's frame: H' = H + [r] M, J' = J - H' [r] + [r] H^T,
// n' = n + r x f.

static MF_INLINE void art_shift_x(Art *a, mf_lane d) {
    mf_lane hyx = a->h.yx, hzx = a->h.zx, hyy = a->h.yy, hzz = a->h.zz, hyz = a->h.yz,
            hzy = a->h.zy, hxy = a->h.xy, hxz = a->h.xz;
    a->h.yx = mf_fma(-d, a->m.xz, hyx);
    a->h.yy = mf_fma(-d, a->m.yz, hyy);
    a->h.yz = mf_fma(-d, a->m.zz, hyz);
    a->h.zx = mf_fma(d, a->m.xy, hzx);
    a->h.zy = mf_fma(d, a->m.yy, hzy);
    a->h.zz = mf_fma(d, a->m.yz, hzz);
    a->j.yy = mf_fma(-d, a->h.yz + hyz, a->j.yy);
    a->j.zz = mf_fma(d, a->h.zy + hzy, a->j.zz);
    a->j.yz = mf_fma(d, hyy - a->h.zz, a->j.yz);
    a->j.xy = mf_fma(-d, hxz, a->j.xy);
    a->j.xz = mf_fma(d, hxy, a->j.xz);
    a->n.y = mf_fma(-d, a->f.z, a->n.y);
    a->n.z = mf_fma(d, a->f.y, a->n.z);
}

static MF_INLINE void art_shift_y(Art *a, mf_lane d) {
    mf_lane hxx = a->h.xx, hxz = a->h.xz, hzx = a->h.zx, hzz = a->h.zz, hyx = a->h.yx,
            hyz = a->h.yz;
    a->h.xx = mf_fma(d, a->m.xz, hxx);
    a->h.xy = mf_fma(d, a->m.yz, a->h.xy);
    a->h.xz = mf_fma(d, a->m.zz, hxz);
    a->h.zx = mf_fma(-d, a->m.xx, hzx);
    a->h.zy = mf_fma(-d, a->m.xy, a->h.zy);
    a->h.zz = mf_fma(-d, a->m.xz, hzz);
    a->j.xx = mf_fma(d, a->h.xz + hxz, a->j.xx);
    a->j.zz = mf_fma(-d, a->h.zx + hzx, a->j.zz);
    a->j.xz = mf_fma(d, hzz - a->h.xx, a->j.xz);
    a->j.xy = mf_fma(d, hyz, a->j.xy);
    a->j.yz = mf_fma(-d, hyx, a->j.yz);
    a->n.x = mf_fma(d, a->f.z, a->n.x);
    a->n.z = mf_fma(-d, a->f.x, a->n.z);
}

static MF_INLINE void art_shift_z(Art *a, mf_lane d) {
    mf_lane hxx = a->h.xx, hxy = a->h.xy, hyx = a->h.yx, hyy = a->h.yy;
    a->h.xx = mf_fma(-d, a->m.xy, hxx);
    a->h.xy = mf_fma(-d, a->m.yy, hxy);
    a->h.xz = mf_fma(-d, a->m.yz, a->h.xz);
    a->h.yx = mf_fma(d, a->m.xx, hyx);
    a->h.yy = mf_fma(d, a->m.xy, hyy);
    a->h.yz = mf_fma(d, a->m.xz, a->h.yz);
    a->j.xx = mf_fma(-d, a->h.xy + hxy, a->j.xx);
    a->j.yy = mf_fma(d, a->h.yx + hyx, a->j.yy);
    a->j.xy = mf_fma(d, hxx - a->h.yy, a->j.xy);
    a->j.xz = mf_fma(-d, a->h.zy, a->j.xz);
    a->j.yz = mf_fma(d, a->h.zx, a->j.yz);
    a->n.x = mf_fma(-d, a->f.y, a->n.x);
    a->n.y = mf_fma(d, a->f.x, a->n.y);
}

static MF_INLINE Mat art_minus_outer(const Mat *h, Vec a, Vec b) {
    return MF_VALUE(Mat, mf_fma(-a.x, b.x, h->xx), mf_fma(-a.x, b.y, h->xy),
                    mf_fma(-a.x, b.z, h->xz), mf_fma(-a.y, b.x, h->yx), mf_fma(-a.y, b.y, h->yy),
                    mf_fma(-a.y, b.z, h->yz), mf_fma(-a.z, b.x, h->zx), mf_fma(-a.z, b.y, h->zy),
                    mf_fma(-a.z, b.z, h->zz));
}

static MF_INLINE Sym sym_minus_outer(const Sym *s, Vec a, Vec b) {
    return MF_VALUE(Sym, mf_fma(-a.x, b.x, s->xx), mf_fma(-a.y, b.y, s->yy),
                    mf_fma(-a.z, b.z, s->zz), mf_fma(-a.x, b.y, s->xy), mf_fma(-a.x, b.z, s->xz),
                    mf_fma(-a.y, b.z, s->yz));
}

static MF_INLINE void art_add(Art *a, const Art *b) {
    mf_lane *x = (mf_lane *)a;
    const mf_lane *y = (const mf_lane *)b;
    for (int i = 0; i < 27; i++)
        x[i] = x[i] + y[i];
}

// ---- state --------------------------------------------------------------------------------------

// The constants are those of one model; or, in the copies for robots that differ in them
// (MF_ART_VARIED), those of a model for each lane (vary.h).
#if defined(MF_ART_VARIED)
typedef struct Constant {
    mf_real lane[MF_BLOCK];
} Constant;
// Where the lanes are of a double in the part of the image that they have.
static MF_INLINE const Constant *lanes_of(const mf_ArtPlan *plan, const double *value) {
    const size_t row = (size_t)((const char *)value - (const char *)plan - plan->varied) / 8;
    return (const Constant *)((uintptr_t)plan + (uintptr_t)plan->lanes) + row;
}
static MF_INLINE const Constant *plan_constants(const mf_ArtPlan *plan) {
    return lanes_of(plan, mf_art_constants_f64(plan));
}
static MF_INLINE mf_lane constant_at(const Constant *c, uint32_t which) {
    return mf_load(c[which].lane);
}
// One that all lanes share.
static MF_INLINE mf_real constant_shared(const Constant *c, uint32_t which) {
    return c[which].lane[0];
}
static MF_INLINE mf_lane law_at(const mf_ArtPlan *plan, const double *value) {
    return mf_load(lanes_of(plan, value)->lane);
}
#else
typedef mf_real Constant;
static MF_INLINE const Constant *plan_constants(const mf_ArtPlan *plan) {
#if defined(MF_KERNEL_F64)
    return mf_art_constants_f64(plan);
#else
    return mf_art_constants_f32(plan);
#endif
}
static MF_INLINE mf_lane constant_at(const Constant *c, uint32_t which) {
    return mf_set(c[which]);
}
static MF_INLINE mf_real constant_shared(const Constant *c, uint32_t which) {
    return c[which];
}
// A number of a law (mf_ArtLaw) in an array of the plan.
static MF_INLINE mf_lane law_at(const mf_ArtPlan *plan, const double *value) {
    (void)plan;
    return mf_set((mf_real)*value);
}
#endif

typedef struct State {
    Vec position;   // [m] base origin, world
    Quat attitude;  // [1] base to world
    Vec velocity;   // [m/s] of the base origin, world axes
    Vec rate;       // [rad/s] body axes
    mf_lane *angle; // [rad] or [m] hinges and slides, per plan link
    mf_lane *speed; // [rad/s] or [m/s] likewise
    Quat *ball;     // [1] child to joint, per ball joint
    Vec *ball_rate; // [rad/s] child's axes
} State;

// Remainders of sums have the type of the state; comments and names call them `low`
// (math/lane_sum.h).

// Allocates the arrays of a state.
static inline void state_carve(const mf_ArtPlan *plan, mf_Carver *carver, State *state) {
    MF_CARVE(carver, state->angle, plan->link_count);
    MF_CARVE(carver, state->speed, plan->link_count);
    MF_CARVE(carver, state->ball, plan->ball_count);
    MF_CARVE(carver, state->ball_rate, plan->ball_count);
}

// Copies between states with arrays.
static inline void state_copy(const mf_ArtPlan *plan, const State *from, State *to) {
    to->position = from->position;
    to->attitude = from->attitude;
    to->velocity = from->velocity;
    to->rate = from->rate;
    memcpy(to->angle, from->angle, plan->link_count * sizeof *to->angle);
    memcpy(to->speed, from->speed, plan->link_count * sizeof *to->speed);
    memcpy(to->ball, from->ball, plan->ball_count * sizeof *to->ball);
    memcpy(to->ball_rate, from->ball_rate, plan->ball_count * sizeof *to->ball_rate);
}

// Zeros, also instead of unit quaternions.
static inline void state_clear(const mf_ArtPlan *plan, State *state) {
    memset(&state->position, 0, sizeof state->position);
    memset(&state->attitude, 0, sizeof state->attitude);
    memset(&state->velocity, 0, sizeof state->velocity);
    memset(&state->rate, 0, sizeof state->rate);
    memset(state->angle, 0, plan->link_count * sizeof *state->angle);
    memset(state->speed, 0, plan->link_count * sizeof *state->speed);
    memset(state->ball, 0, plan->ball_count * sizeof *state->ball);
    memset(state->ball_rate, 0, plan->ball_count * sizeof *state->ball_rate);
}

// Accelerations or forces in the same terms.
typedef struct Rates {
    Vec linear;     // world axes
    Vec angular;    // body axes
    mf_lane *joint; // per plan link
    Vec *ball;      // per ball joint
} Rates;

static inline void rates_carve(const mf_ArtPlan *plan, mf_Carver *carver, Rates *rates) {
    MF_CARVE(carver, rates->joint, plan->link_count);
    MF_CARVE(carver, rates->ball, plan->ball_count);
}

static inline void rates_copy(const mf_ArtPlan *plan, const Rates *from, Rates *to) {
    to->linear = from->linear;
    to->angular = from->angular;
    memcpy(to->joint, from->joint, plan->link_count * sizeof *to->joint);
    memcpy(to->ball, from->ball, plan->ball_count * sizeof *to->ball);
}

static MF_INLINE const Constant *link_constants(const mf_ArtPlan *plan, uint32_t link) {
    return plan_constants(plan) + plan->link_offset + (size_t)link * MF_ART_LINK_VALUES;
}
static MF_INLINE const Constant *base_constants(const mf_ArtPlan *plan) {
    return plan_constants(plan) + MF_ART_SETTINGS;
}
static MF_INLINE mf_lane setting(const mf_ArtPlan *plan, uint32_t which) {
    return constant_at(plan_constants(plan), which);
}
static MF_INLINE Vec vec_constant(const Constant *c) {
    return MF_VALUE(Vec, constant_at(c, 0), constant_at(c, 1), constant_at(c, 2));
}
static MF_INLINE Sym sym_constant(const Constant *c) {
    return MF_VALUE(Sym, constant_at(c, 0), constant_at(c, 1), constant_at(c, 2), constant_at(c, 3),
                    constant_at(c, 4), constant_at(c, 5));
}
static MF_INLINE Mat mat_constant(const Constant *c) {
    return MF_VALUE(Mat, constant_at(c, 0), constant_at(c, 1), constant_at(c, 2), constant_at(c, 3),
                    constant_at(c, 4), constant_at(c, 5), constant_at(c, 6), constant_at(c, 7),
                    constant_at(c, 8));
}
// The upward direction, in world axes and in those of a body.
static MF_INLINE Vec up_in_world(const mf_ArtPlan *plan) {
    return vec_constant(plan_constants(plan) + MF_ART_ZENITH);
}
static MF_INLINE Vec up_of(const mf_ArtPlan *plan, const Mat *rotation) {
    if (plan->upright)
        return MF_VALUE(Vec, rotation->zx, rotation->zy, rotation->zz);
    return mat_apply_transposed(rotation, up_in_world(plan));
}
static MF_INLINE Vec vec_zero(void) {
    return MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
}
static MF_INLINE Vec vec_negative(Vec a) {
    return MF_VALUE(Vec, -a.x, -a.y, -a.z);
}
static MF_INLINE Mat mat_multiply(const Mat *a, const Mat *b) {
    Vec x = mat_apply(a, MF_VALUE(Vec, b->xx, b->yx, b->zx));
    Vec y = mat_apply(a, MF_VALUE(Vec, b->xy, b->yy, b->zy));
    Vec z = mat_apply(a, MF_VALUE(Vec, b->xz, b->yz, b->zz));
    return MF_VALUE(Mat, x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z);
}
static MF_INLINE Quat quat_unit(void) {
    return MF_VALUE(Quat, mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero());
}
