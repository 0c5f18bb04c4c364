// Constraints of a problem that are no contacts: equality constraints, dry friction, limits.
//
// A constraint at distance d (margin taken away) with speed v = J velocity requests the
// acceleration r = -b v - k z d with the weight D = z / ((1 - z) e), where e is what it gives way
// by in the file's reference position (MuJoCo's invweight0) and z = z(|d|) its impedance.
#pragma once

#include "motion/articulated/constraint/problem_drift.h"
#include "motion/articulated/constraint/problem_mass.h"

// x to a power > 1: the whole part by products, the rest by square roots, bit by bit.
static inline mf_lane lane_power(mf_lane x, double power) {
    const double whole = (double)(int)power;
    mf_lane result = mf_set((mf_real)1), root = x;
    for (int i = 0; i < (int)whole; i++)
        result = result * x;
    double rest = power - whole;
    for (int bit = 0; bit < (sizeof(mf_real) == 4 ? 24 : 53) && rest > 0.0; bit++) {
        root = mf_sqrt(root);
        rest *= 2.0;
        if (rest >= 1.0) {
            result = result * root;
            rest -= 1.0;
        }
    }
    return result;
}

// [1] From the impedance at distance 0 to the largest one.
static MF_INLINE mf_lane law_rise(const mf_ArtPlan *plan, const double *z) {
#if defined(MF_ART_VARIED)
    return law_at(plan, &z[1]) - law_at(plan, &z[0]);
#else
    (void)plan;
    return mf_set((mf_real)(z[1] - z[0]));
#endif
}

// The impedance at a distance beyond the margin; all lanes have the same curve.
static inline mf_lane law_impedance(const mf_ArtPlan *plan, const mf_ArtLaw *law,
                                    mf_lane distance) {
    const double *z = law->impedance;
    const mf_lane one = mf_set((mf_real)1);
    mf_lane travel = mf_clamp(mf_abs(distance) * law_at(plan, &z[2]), mf_zero(), one);
    if (z[4] > 1.0) {
        const double power = z[4], middle = z[3];
        const mf_lane scale = mf_set((mf_real)middle), left = mf_set((mf_real)(1.0 - middle));
        const mf_lane below = scale * lane_power(travel / scale, power);
        const mf_lane above = one - left * lane_power((one - travel) / left, power);
        travel = mf_select(mf_less(scale, travel), above, below);
    }
    return mf_fma(travel, law_rise(plan, z), law_at(plan, &z[0]));
}

static MF_INLINE mf_lane law_weight(mf_lane impedance, mf_lane ease) {
    return impedance / ((mf_set((mf_real)1) - impedance) * ease);
}

// ---- making a constraint ------------------------------------------------------------------------

// A constraint of `rows` rows that touches no dof yet; NULL when there is no space for `count`.
static inline Constraint *constraint_add(Problem *p, ConstraintKind kind, uint32_t rows,
                                         uint32_t count, mf_mask exists) {
    const ProblemCapacity *capacity = &p->capacity;
    if (p->constraint_count == capacity->constraints || p->row_count + rows > capacity->rows ||
        p->number_count + rows * count > capacity->numbers ||
        p->slot_count + count > capacity->numbers) {
        p->overflow = true;
        return NULL;
    }
    Constraint *c = &p->constraints[p->constraint_count++];
    *c = MF_VALUE(Constraint, .kind = kind, .rows = rows, .row = p->row_count,
                  .first = p->number_count, .first_slot = p->slot_count, .count = count,
                  .zone = p->zone_count, .exists = mf_and(exists, p->lanes));
    p->row_count += rows;
    p->number_count += rows * count;
    p->slot_count += count;
    p->zone_count += 2 * rows;
    return c;
}

// out = J u of a constraint's rows; `rows` is a constant where this is called.
static MF_INLINE void rows_times_few(const Problem *p, const Constraint *c, const mf_lane *u,
                                     mf_lane *out, const uint32_t rows) {
    const mf_lane *j = &p->numbers[c->first];
    const uint16_t *slot = &p->slots[c->first_slot], *const end = slot + c->count;
    mf_lane sum[CONTACT_ROWS];
    for (uint32_t r = 0; r < rows; r++)
        sum[r] = mf_zero();
    for (; slot != end; slot++, j += rows) {
        const mf_lane value = u[*slot];
        for (uint32_t r = 0; r < rows; r++)
            sum[r] = mf_fma(j[r], value, sum[r]);
    }
    for (uint32_t r = 0; r < rows; r++)
        out[r] = sum[r];
}

static __attribute__((noinline)) void rows_times_many(const Problem *p, const Constraint *c,
                                                      const mf_lane *u, mf_lane *out) {
    switch (c->rows) {
    case 1:
        rows_times_few(p, c, u, out, 1);
        break;
    case 3:
        rows_times_few(p, c, u, out, 3);
        break;
    case 4:
        rows_times_few(p, c, u, out, 4);
        break;
    default:
        rows_times_few(p, c, u, out, 6);
        break;
    }
}

static MF_INLINE void rows_times(const Problem *p, const Constraint *c, const mf_lane *u,
                                 mf_lane *out) {
    if (has_one_number(c))
        out[0] = mf_fma(p->numbers[c->first], u[p->slots[c->first_slot]], mf_zero());
    else
        rows_times_many(p, c, u, out);
}

// What a constraint's rows measure at the present velocities and of the free accelerations.
typedef struct Measures {
    mf_lane speed[CONTACT_ROWS], free[CONTACT_ROWS];
} Measures;

static MF_INLINE void rows_measure(const Problem *p, const Constraint *c, Measures *out) {
    rows_times(p, c, p->speed, out->speed);
    rows_times(p, c, p->free, out->free);
}

// Weight and reference of row k; `load` is -k z d.
static MF_INLINE void row_law(Problem *p, const Constraint *c, const Measures *at, uint32_t k,
                              mf_lane weight, mf_lane load, mf_lane damping) {
    const mf_lane rest = mf_fma(-damping, at->speed[k], load);
    p->weight[c->row + k] = weight;
    p->rest[c->row + k] = mf_keep(c->exists, rest - at->free[k]);
}

// One row by a law, at `distance` beyond the margin.
static inline void law_row(Problem *p, const Constraint *c, const mf_ArtLaw *law,
                           mf_lane distance) {
    const mf_lane z = law_impedance(p->plan, law, distance);
    Measures at;
    rows_measure(p, c, &at);
    row_law(p, c, &at, 0, law_weight(z, law_at(p->plan, &law->ease[0])),
            -(law_at(p->plan, &law->stiffness) * z * distance), law_at(p->plan, &law->damping));
}

// ---- single dofs --------------------------------------------------------------------------------

static inline Constraint *dof_constraint(Problem *p, ConstraintKind kind, uint32_t dof,
                                         mf_lane sign, mf_mask exists) {
    Constraint *c = constraint_add(p, kind, 1, 1, exists);
    if (c == NULL)
        return NULL;
    p->numbers[c->first] = sign;
    p->slots[c->first_slot] = (uint16_t)dof;
    return c;
}

static inline void dry_dof(Problem *p, uint32_t dof, mf_lane most, const mf_ArtLaw *law) {
    Constraint *c = dof_constraint(p, CONSTRAINT_DRY, dof, mf_set((mf_real)1), mf_mask_all());
    if (c == NULL)
        return;
    c->most = most;
    law_row(p, c, law, mf_zero());
}

static inline void dry_add(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    for (uint32_t k = 0; !plan->fixed && k < 6; k++)
        if (constant_shared(base_constants(plan), MF_ART_FRICTION) > 0)
            dry_dof(p, k, constant_at(base_constants(plan), MF_ART_FRICTION),
                    &mf_art_joint_laws(plan)[plan->link_count].dry);
    const mf_ArtLink *links = mf_art_links(plan);
    const mf_ArtJointLaw *joint_laws = mf_art_joint_laws(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        for (uint32_t k = 0; k < (link->kind == MF_ART_BALL ? 3u : 1u); k++)
            if (link->drive & MF_ART_HAS_FRICTION)
                dry_dof(p, link->dof + k, constant_at(link_constants(plan, l), MF_ART_FRICTION),
                        &joint_laws[l].dry);
    }
}

static inline void limit_dof(Problem *p, uint32_t l, mf_lane distance, mf_lane sign) {
    const mf_ArtJointLaw *law = &mf_art_joint_laws(p->plan)[l];
    const mf_mask beyond = mf_and(p->lanes, mf_less(distance, law_at(p->plan, &law->margin)));
    if (!mf_any(beyond))
        return;
    Constraint *c =
        dof_constraint(p, CONSTRAINT_ONE_SIDED, mf_art_links(p->plan)[l].dof, sign, beyond);
    if (c == NULL)
        return;
    law_row(p, c, &law->limit, distance - law_at(p->plan, &law->margin));
    p->limit_count[l]++;
}

static inline void limit_ball(Problem *p, uint32_t l) {
    const mf_ArtLink *links = mf_art_links(p->plan);
    const mf_ArtLink *link = &links[l];
    const mf_ArtJointLaw *joint_laws = mf_art_joint_laws(p->plan);
    const mf_ArtJointLaw *law = &joint_laws[l];
    Vec axis;
    const mf_lane angle = ball_angle(p->state->ball[link->row], &axis);
    const mf_lane distance = constant_at(link_constants(p->plan, l), MF_ART_UPPER) - angle;
    const mf_mask beyond = mf_and(p->lanes, mf_less(distance, law_at(p->plan, &law->margin)));
    if (!mf_any(beyond))
        return;
    Constraint *c = constraint_add(p, CONSTRAINT_ONE_SIDED, 1, 3, beyond);
    if (c == NULL)
        return;
    const mf_lane row[3] = {-axis.x, -axis.y, -axis.z};
    for (uint32_t k = 0; k < 3; k++) {
        p->numbers[c->first + k] = mf_keep(beyond, row[k]);
        p->slots[c->first_slot + k] = (uint16_t)(link->dof + k);
    }
    law_row(p, c, &law->limit, distance - law_at(p->plan, &law->margin));
    p->limit_count[l]++;
}

static inline void limits_add(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    const mf_lane one = mf_set((mf_real)1);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const Constant *c = link_constants(plan, l);
        p->limit_first[l] = p->constraint_count;
        p->limit_count[l] = 0;
        if (!(links[l].drive & MF_ART_HAS_LIMIT))
            continue;
        if (links[l].kind == MF_ART_BALL) {
            limit_ball(p, l);
            continue;
        }
        limit_dof(p, l, p->state->angle[l] - constant_at(c, MF_ART_LOWER), one);
        limit_dof(p, l, constant_at(c, MF_ART_UPPER) - p->state->angle[l], -one);
    }
}

// ---- sums of joint positions --------------------------------------------------------------------

// The one that a problem has space for, empty.
static MF_INLINE Sum sum_start(const Problem *p) {
    Sum sum = p->sum;
    sum.count = 0;
    return sum;
}

static inline void sum_add(Sum *sum, uint32_t dof, mf_lane value) {
    uint32_t at = sum->count;
    while (at > 0 && sum->slot[at - 1] > dof)
        at--;
    if (at > 0 && sum->slot[at - 1] == dof) {
        sum->value[at - 1] = sum->value[at - 1] + value;
        return;
    }
    for (uint32_t i = sum->count++; i > at; i--) {
        sum->slot[i] = sum->slot[i - 1];
        sum->value[i] = sum->value[i - 1];
    }
    sum->slot[at] = (uint16_t)dof;
    sum->value[at] = value;
}

static inline void sum_terms(const Problem *p, uint32_t first, uint32_t count, mf_lane scale,
                             Sum *sum) {
    const mf_ArtTerm *terms = mf_art_terms(p->plan);
    const mf_ArtLink *links = mf_art_links(p->plan);
    for (uint32_t t = first; t < first + count; t++) {
        const mf_ArtTerm *term = &terms[t];
        sum_add(sum, links[term->link].dof, scale * mf_set((mf_real)term->weight));
    }
}

static inline Constraint *sum_constraint(Problem *p, ConstraintKind kind, const Sum *sum,
                                         mf_lane sign, mf_mask exists) {
    Constraint *c = constraint_add(p, kind, 1, sum->count, exists);
    for (uint32_t i = 0; c != NULL && i < sum->count; i++) {
        p->numbers[c->first + i] = sign * sum->value[i];
        p->slots[c->first_slot + i] = sum->slot[i];
    }
    return c;
}

static inline mf_lane terms_length(const Problem *p, uint32_t first, uint32_t count) {
    mf_lane length = mf_zero();
    const mf_ArtTerm *terms = mf_art_terms(p->plan);
    for (uint32_t t = first; t < first + count; t++)
        length = mf_fma(mf_set((mf_real)terms[t].weight), p->state->angle[terms[t].link], length);
    return length;
}

// The row of a spatial tendon: what a path that pulls with -1 N gives the dofs that move its links.
static inline void sum_path(const Problem *p, const TendonPath *path, Sum *sum) {
    const mf_ArtPlan *plan = p->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t i = 0; i < path->count; i++) {
        const int32_t end = path->links[i];
        if (is_still(plan, end))
            continue;
        const Mat *rotation = &p->work->contacts.pose[end + 1].rotation;
        const Vec force = mat_apply(rotation, path->row[i].force),
                  torque = mat_apply(rotation, path->row[i].torque);
        for (int32_t link = end; link != MF_ART_WORLD; link = chain_up(plan, link)) {
            const uint32_t dof = link_dof(plan, link), count = link_dofs(plan, link);
            const Vec arm = vec_sub(p->origin[end + 1], p->origin[link + 1]);
            const Vec about = vec_cross_add(arm, force, torque);
            for (uint32_t k = 0; k < count; k++) {
                const bool rotates = link < 0 ? k >= 3 : links[link].kind != MF_ART_SLIDE;
                sum_add(sum, dof + k, vec_dot(p->axis[dof + k], rotates ? about : force));
            }
        }
    }
}

// ---- tendons ------------------------------------------------------------------------------------

// The row of a tendon, and its length.
static inline mf_lane tendon_row(const Problem *p, const mf_ArtTendon *tendon, Sum *sum) {
    sum->count = 0;
    if (tendon->path != MF_NONE) {
        TendonPath path;
        tendon_path(p->plan, p->state, p->work, tendon->path, &path);
        sum_path(p, &path, sum);
        return path.length;
    }
    sum_terms(p, tendon->first_term, tendon->term_count, mf_set((mf_real)1), sum);
    return terms_length(p, tendon->first_term, tendon->term_count);
}

static inline void tendon_limit(Problem *p, uint32_t i, const Sum *sum, mf_lane distance,
                                mf_lane sign) {
    const mf_ArtTendon *tendon = &mf_art_tendons(p->plan)[i];
    const mf_lane margin = mf_set((mf_real)tendon->margin);
    const mf_mask beyond = mf_and(p->lanes, mf_less(distance, margin));
    if (!mf_any(beyond))
        return;
    Constraint *c = sum_constraint(p, CONSTRAINT_ONE_SIDED, sum, sign, beyond);
    if (c == NULL)
        return;
    law_row(p, c, &tendon->limit, distance - margin);
    p->tendon_count[i]++;
}

// The inertia of a tendon is a row that requests no acceleration of its length.
static inline void tendons_add(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    const mf_lane one = mf_set((mf_real)1);
    const mf_ArtTendon *tendons = mf_art_tendons(plan);
    for (uint32_t i = 0; i < plan->tendon_count; i++) {
        const mf_ArtTendon *tendon = &tendons[i];
        Sum sum = sum_start(p);
        const mf_lane length = tendon_row(p, tendon, &sum);
        if (tendon->armature > 0.0) {
            Constraint *c = sum_constraint(p, CONSTRAINT_QUADRATIC, &sum, one, mf_mask_all());
            if (c != NULL) {
                c->inertia = true;
                Measures at;
                mf_lane gain = mf_zero();
                if (tendon->path != MF_NONE)
                    gain = path_gain(p, tendon->path);
                rows_measure(p, c, &at);
                row_law(p, c, &at, 0, mf_set((mf_real)tendon->armature), -gain, mf_zero());
            }
        }
        p->tendon_dry[i] = MF_NONE;
        if (tendon->friction > 0.0) {
            Constraint *c = sum_constraint(p, CONSTRAINT_DRY, &sum, one, mf_mask_all());
            if (c != NULL) {
                p->tendon_dry[i] = (uint32_t)(c - p->constraints);
                c->tendon = true;
                c->most = mf_set((mf_real)tendon->friction);
                law_row(p, c, &tendon->dry, mf_zero());
            }
        }
        p->tendon_first[i] = p->constraint_count;
        p->tendon_count[i] = 0;
        if (tendon->lower > -DBL_MAX)
            tendon_limit(p, i, &sum, length - mf_set((mf_real)tendon->lower), one);
        p->tendon_upper[i] = p->constraint_count;
        if (tendon->upper < DBL_MAX)
            tendon_limit(p, i, &sum, mf_set((mf_real)tendon->upper) - length, -one);
    }
}
