// Where the dofs of a problem act, and the mass matrix by composite rigid bodies (Walker and Orin
// 1982; Featherstone 2008, table 6.2), in world axes. Each composite body is taken about the origin
// of its own link, so that light links far from the base keep their digits in float.
#pragma once

#include "motion/articulated/constraint/problem.h"

typedef struct Lump { // a rigid body about the origin of its link, world axes
    mf_lane mass;     // [kg]
    Vec moment;       // [kg m]
    Sym inertia;      // [kg m^2]
} Lump;

static MF_INLINE Vec column_x(const Mat *m) {
    return MF_VALUE(Vec, m->xx, m->yx, m->zx);
}
static MF_INLINE Vec column_y(const Mat *m) {
    return MF_VALUE(Vec, m->xy, m->yy, m->zy);
}
static MF_INLINE Vec column_z(const Mat *m) {
    return MF_VALUE(Vec, m->xz, m->yz, m->zz);
}

static inline void axes_find(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const Pose *poses = p->work->contacts.pose;
    p->origin[0] = vec_zero();
    if (!plan->fixed) {
        p->axis[0] = MF_VALUE(Vec, one, zero, zero);
        p->axis[1] = MF_VALUE(Vec, zero, one, zero);
        p->axis[2] = MF_VALUE(Vec, zero, zero, one);
        p->axis[3] = column_x(&poses[0].rotation);
        p->axis[4] = column_y(&poses[0].rotation);
        p->axis[5] = column_z(&poses[0].rotation);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Constant *c = link_constants(plan, l);
        const Pose *own = &poses[l + 1], *parent = &poses[link->parent + 1];
        const Vec axis = column_z(&own->rotation);
        Vec origin = p->origin[link->parent + 1];
        if (link->shift != 0)
            origin = mat_apply_add(&parent->rotation, vec_constant(c + MF_ART_POSITION), origin);
        if (link->kind == MF_ART_SLIDE)
            origin = vec_fma(axis, p->state->angle[l] + constant_at(c, MF_ART_OFFSET), origin);
        p->origin[l + 1] = origin;
        if (link->kind == MF_ART_BALL) {
            p->axis[link->dof] = column_x(&own->rotation);
            p->axis[link->dof + 1] = column_y(&own->rotation);
            p->axis[link->dof + 2] = axis;
        } else {
            p->axis[link->dof] = axis;
        }
    }
}

static MF_INLINE Lump lump_of(const Constant *c, const Mat *rotation) {
    const Vec moment = vec_constant(c + MF_ART_MOMENT);
    const Sym inertia = sym_constant(c + MF_ART_INERTIA);
    return MF_VALUE(Lump, constant_at(c, MF_ART_MASS), mat_apply(rotation, moment),
                    sym_rotate(rotation, &inertia));
}

// Adds a body whose origin is at `d` from that of the sum (Steiner's theorem).
static MF_INLINE void lump_add(Lump *sum, const Lump *body, Vec d) {
    const Vec h = body->moment, g = vec_fma(d, body->mass, h);
    const mf_lane p = vec_dot(d, h) + vec_dot(d, g);
    Sym *i = &sum->inertia;
    i->xx = i->xx + (body->inertia.xx + (p - mf_fma(d.x, g.x, h.x * d.x)));
    i->yy = i->yy + (body->inertia.yy + (p - mf_fma(d.y, g.y, h.y * d.y)));
    i->zz = i->zz + (body->inertia.zz + (p - mf_fma(d.z, g.z, h.z * d.z)));
    i->xy = i->xy + (body->inertia.xy - mf_fma(d.x, g.y, h.x * d.y));
    i->xz = i->xz + (body->inertia.xz - mf_fma(d.x, g.z, h.x * d.z));
    i->yz = i->yz + (body->inertia.yz - mf_fma(d.y, g.z, h.y * d.z));
    sum->moment = vec_add(sum->moment, g);
    sum->mass = sum->mass + body->mass;
}

// Entries of the row of a dof of link l, whose unit acceleration needs `force` and, about the
// link's origin, `torque`: `end` is behind those of the link itself.
static MF_INLINE void mass_row(const Problem *p, uint32_t l, Vec torque, Vec force, mf_lane *end) {
    const mf_ArtPlan *plan = p->plan;
    int32_t child = (int32_t)l;
    const mf_ArtLink *links = mf_art_links(plan);
    for (int32_t i = links[l].parent; i >= 0; child = i, i = links[i].parent) {
        const mf_ArtLink *link = &links[i];
        const Vec *axis = &p->axis[link->dof];
        torque = vec_cross_add(vec_sub(p->origin[child + 1], p->origin[i + 1]), force, torque);
        if (link->kind == MF_ART_BALL)
            for (uint32_t k = 3; k-- > 0;)
                *--end = vec_dot(axis[k], torque);
        else
            *--end = vec_dot(*axis, link->kind == MF_ART_SLIDE ? force : torque);
    }
    if (plan->fixed)
        return;
    torque = vec_cross_add(p->origin[child + 1], force, torque);
    for (uint32_t k = 6; k-- > 3;)
        *--end = vec_dot(p->axis[k], torque);
    *--end = force.z;
    *--end = force.y;
    *--end = force.x;
}

static MF_INLINE void mass_link(Problem *p, uint32_t l, const Lump *lump) {
    const mf_ArtLink *links = mf_art_links(p->plan);
    const mf_ArtLink *link = &links[l];
    const uint32_t *start = mf_art_tree_start(p->plan);
    const mf_lane armature = constant_at(link_constants(p->plan, l), MF_ART_ARMATURE);
    const uint32_t own = link->kind == MF_ART_BALL ? 3 : 1;
    for (uint32_t k = 0; k < own; k++) {
        const Vec axis = p->axis[link->dof + k];
        Vec torque, force;
        if (link->kind == MF_ART_SLIDE) {
            force = vec_scale(axis, lump->mass);
            torque = vec_cross(lump->moment, axis);
        } else {
            force = vec_cross(axis, lump->moment);
            torque = sym_apply(&lump->inertia, axis);
        }
        mf_lane *end = &p->mass[start[link->dof + k + 1]];
        for (uint32_t i = k + 1; i-- > 0;) {
            const Vec other = p->axis[link->dof + i];
            const mf_lane extra = i == k ? armature : mf_zero();
            *--end = vec_dot_add(other, link->kind == MF_ART_SLIDE ? force : torque, extra);
        }
        mass_row(p, l, torque, force, end);
    }
}

static MF_INLINE void mass_base(Problem *p, const Lump *lump) {
    const mf_lane armature = constant_at(base_constants(p->plan), MF_ART_ARMATURE),
                  zero = mf_zero();
    mf_lane *m = p->mass;
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < k; i++)
            *m++ = zero;
        *m++ = lump->mass + armature;
    }
    for (uint32_t k = 3; k < 6; k++) {
        const Vec force = vec_cross(p->axis[k], lump->moment);
        const Vec torque = sym_apply(&lump->inertia, p->axis[k]);
        *m++ = force.x;
        *m++ = force.y;
        *m++ = force.z;
        for (uint32_t i = 3; i < k; i++)
            *m++ = vec_dot(p->axis[i], torque);
        *m++ = vec_dot_add(p->axis[k], torque, armature);
    }
}

// The lower half of M, in the pattern of the tree.
static inline void mass_find(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    Lump *lumps = p->lumps;
    for (uint32_t l = 0; l <= plan->link_count; l++)
        lumps[l] = lump_of(l == 0 ? base_constants(plan) : link_constants(plan, l - 1),
                           &p->work->contacts.pose[l].rotation);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const int32_t parent = links[l].parent;
        mass_link(p, l, &lumps[l + 1]);
        lump_add(&lumps[parent + 1], &lumps[l + 1],
                 vec_sub(p->origin[l + 1], p->origin[parent + 1]));
    }
    if (!plan->fixed)
        mass_base(p, &lumps[0]);
}

// y = M x; two rows at once where they have the same columns.
static inline void mass_apply(const Problem *p, const mf_lane *x, mf_lane *y) {
    const Pattern tree = {mf_art_tree_start(p->plan), mf_art_tree_column(p->plan)};
    for (uint32_t i = 0; i < p->dofs; i++) {
        const mf_lane *m = p->mass + tree.start[i], *n = p->mass + tree.start[i + 1];
        const uint16_t *column = tree.column + tree.start[i];
        const uint32_t count = tree.start[i + 1] - tree.start[i] - 1;
        mf_lane sum = m[count] * x[i];
        if (i + 1 == p->dofs || !row_continues(tree, i + 1)) {
            for (uint32_t e = 0; e < count; e++) {
                sum = mf_fma(m[e], x[column[e]], sum);
                y[column[e]] = mf_fma(m[e], x[i], y[column[e]]);
            }
            y[i] = sum;
            continue;
        }
        mf_lane next = n[count + 1] * x[i + 1];
        for (uint32_t e = 0; e < count; e++) {
            const mf_lane value = x[column[e]];
            sum = mf_fma(m[e], value, sum);
            next = mf_fma(n[e], value, next);
            y[column[e]] = mf_fma(n[e], x[i + 1], mf_fma(m[e], x[i], y[column[e]]));
        }
        y[i] = mf_fma(n[count], x[i + 1], sum);
        y[i + 1] = mf_fma(n[count], x[i], next);
        i++;
    }
}
