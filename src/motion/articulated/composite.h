// The mass matrix by composite rigid bodies (Walker and Orin 1982; Featherstone 2008, table 6.2): a
// unit acceleration of one joint moves all that the joint carries as one rigid body; the force for
// it, carried down to the base, gives the joint's column.
#ifndef MF_MOTION_ARTICULATED_COMPOSITE_H
#define MF_MOTION_ARTICULATED_COMPOSITE_H

#include "motion/articulated/linkage.h"

typedef struct Composite {
    Frame frame;
    mf_lane mass; // [kg]
    Vec moment;   // [kg m]
    Sym inertia;  // [kg m^2] about the origin
} Composite;

// Adds a body, seen from a frame in which its own lies as `frame`.
static inline void join(Composite *sum, const Composite *body, const Frame *frame) {
    Vec moment = mat_apply(&frame->turn, body->moment), d = frame->place;
    Sym turned = sym_turn(&frame->turn, &body->inertia);
    // Steiner's theorem for a body given by its first moment: with p = 2 d.h + m d^2 the tensor
    // grows by p 1 - (d h^T + h d^T + m d d^T).
    Vec md = vec_scale(d, body->mass), g = vec_add(moment, md);
    mf_lane p = vec_dot(d, moment) + vec_dot(d, g);
    sum->inertia.xx += turned.xx + p - mf_fma(d.x, g.x, moment.x * d.x);
    sum->inertia.yy += turned.yy + p - mf_fma(d.y, g.y, moment.y * d.y);
    sum->inertia.zz += turned.zz + p - mf_fma(d.z, g.z, moment.z * d.z);
    sum->inertia.xy += turned.xy - mf_fma(d.x, g.y, moment.x * d.y);
    sum->inertia.xz += turned.xz - mf_fma(d.x, g.z, moment.x * d.z);
    sum->inertia.yz += turned.yz - mf_fma(d.y, g.z, moment.y * d.z);
    sum->moment = vec_add(sum->moment, g);
    sum->mass = sum->mass + body->mass;
}

static inline Composite rigid_body(const mf_real *c) {
    return MF_VALUE(Composite, .mass = mf_set(c[MF_ART_MASS]),
                    .moment = vec_constant(c + MF_ART_MOMENT),
                    .inertia = sym_constant(c + MF_ART_INERTIA));
}

typedef struct Matrix {
    mf_real *values;
    uint32_t size;
} Matrix;

static inline void matrix_set(const Matrix *m, uint32_t row, uint32_t column, mf_lane value) {
    mf_store(m->values + ((size_t)row * m->size + column) * MF_LANES, value);
    mf_store(m->values + ((size_t)column * m->size + row) * MF_LANES, value);
}

// Entries of one column: force and torque on body `l`, needed for a unit acceleration of velocity
// value `column`, as seen by the joints between `l` and the base.
static inline void column_down(const mf_ArtPlan *plan, const Composite *bodies, const Mat *world,
                               uint32_t column, int32_t l, Vec force, Vec torque, const Matrix *m) {
    for (; l >= 0; l = plan->links[l].parent) {
        const mf_ArtLink *link = &plan->links[l];
        if (link->kind == MF_ART_BALL) {
            const mf_lane values[3] = {torque.x, torque.y, torque.z};
            for (uint32_t i = 0; i < 3; i++)
                if (link->velocity + i != column)
                    matrix_set(m, column, link->velocity + i, values[i]);
        } else if (link->velocity != column) {
            matrix_set(m, column, link->velocity, link->kind == MF_ART_SLIDE ? force.z : torque.z);
        }
        Vec pull = mat_apply(&bodies[l].frame.turn, force);
        torque =
            vec_cross_add(bodies[l].frame.place, pull, mat_apply(&bodies[l].frame.turn, torque));
        force = pull;
    }
    if (plan->fixed)
        return;
    Vec pull = mat_apply(world, force);
    const mf_lane values[6] = {pull.x, pull.y, pull.z, torque.x, torque.y, torque.z};
    for (uint32_t i = 0; i < 6; i++)
        if (i != column)
            matrix_set(m, column, i, values[i]);
}

static inline Vec unit_vector(uint32_t axis) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    return MF_VALUE(Vec, axis == 0 ? one : zero, axis == 1 ? one : zero, axis == 2 ? one : zero);
}

static inline void link_columns(const mf_ArtPlan *plan, const Composite *bodies, const Mat *world,
                                uint32_t l, const Matrix *m) {
    const mf_ArtLink *link = &plan->links[l];
    const Composite *body = &bodies[l];
    mf_lane armature = mf_set(link_constants(plan, l)[MF_ART_ARMATURE]);
    if (link->kind == MF_ART_SLIDE) {
        Vec axis = unit_vector(2), force = vec_scale(axis, body->mass);
        matrix_set(m, link->velocity, link->velocity, body->mass + armature);
        column_down(plan, bodies, world, link->velocity, (int32_t)l, force,
                    vec_cross(body->moment, axis), m);
        return;
    }
    for (uint32_t i = link->kind == MF_ART_BALL ? 0 : 2; i < 3; i++) {
        uint32_t column = link->velocity + (link->kind == MF_ART_BALL ? i : 0);
        Vec axis = unit_vector(i), torque = sym_apply(&body->inertia, axis);
        matrix_set(m, column, column, vec_dot(torque, axis) + armature);
        column_down(plan, bodies, world, column, (int32_t)l, vec_cross(axis, body->moment), torque,
                    m);
    }
}

// `bodies` is room for one per plan link.
static inline void mass_matrix(const mf_ArtPlan *plan, const State *state, Composite *bodies,
                               const Matrix *m) {
    Composite base = rigid_body(base_constants(plan));
    Mat world = quat_matrix(state->attitude);
    for (uint32_t i = 0; i < m->size * m->size; i++)
        mf_store(m->values + (size_t)i * MF_LANES, mf_zero());
    for (uint32_t l = 0; l < plan->link_count; l++)
        bodies[l] = rigid_body(link_constants(plan, l));
    for (uint32_t l = plan->link_count; l-- > 0;) {
        int32_t parent = plan->links[l].parent;
        bodies[l].frame = link_frame(plan, state, l);
        join(parent < 0 ? &base : &bodies[parent], &bodies[l], &bodies[l].frame);
    }
    for (uint32_t l = 0; l < plan->link_count; l++)
        link_columns(plan, bodies, &world, l, m);
    if (plan->fixed)
        return;
    mf_lane armature = mf_set(base_constants(plan)[MF_ART_ARMATURE]);
    for (uint32_t i = 0; i < 3; i++) {
        Vec along = mat_apply_transposed(&world, unit_vector(i)), about = unit_vector(i);
        Vec torque = sym_apply(&base.inertia, about);
        matrix_set(m, i, i, base.mass + armature);
        column_down(plan, bodies, &world, i, -1, vec_scale(along, base.mass),
                    vec_cross(base.moment, along), m);
        column_down(plan, bodies, &world, 3 + i, -1, vec_cross(about, base.moment), torque, m);
        matrix_set(m, 3 + i, 3 + i, vec_dot(torque, about) + armature);
    }
}

#endif
