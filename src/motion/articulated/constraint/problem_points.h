// Constraints of a problem between points of links: contacts, connects and welds.
#pragma once

#include "motion/articulated/constraint/problem_rows.h"

// ---- Jacobians ----------------------------------------------------------------------------------

typedef struct Tug {        // what a row measures of a link: along axes 0 .. 2 at a point the
    Vec point;              // velocity there, [m] from the base's origin, about axes 3 .. 5 the
    Vec axes[CONTACT_ROWS]; // angular velocity
    mf_mask where;
    mf_lane sign;
} Tug;

// Dofs that rows touch, and where they are among those of the constraint. In memory of the problem,
// which one chain has at a time.
typedef struct Chain {
    uint64_t *bits;
    uint32_t first, end; // [1] words in which bits are set
    uint16_t *at;        // per dof
} Chain;

static MF_INLINE Chain chain_start(const Problem *p) {
    const uint32_t words = problem_words(p->plan);
    Chain chain;
    chain.bits = p->chain_bits;
    chain.first = words;
    chain.end = 0;
    chain.at = p->chain;
    memset(chain.bits, 0, words * sizeof *chain.bits);
    return chain;
}

static inline void chain_mark(Chain *chain, uint32_t dof, uint32_t count) {
    for (uint32_t k = dof; k < dof + count; k++) {
        const uint32_t word = k / 64;
        chain->bits[word] |= (uint64_t)1 << k % 64;
        chain->first = word < chain->first ? word : chain->first;
        chain->end = word < chain->end ? chain->end : word + 1;
    }
}

// The last link that carries both; MF_ART_WORLD: none.
static inline int32_t common_link(const mf_ArtPlan *plan, int32_t a, int32_t b) {
    while (a != b) {
        if (a > b)
            a = chain_up(plan, a);
        else
            b = chain_up(plan, b);
    }
    return a;
}

static inline void chain_links(const mf_ArtPlan *plan, int32_t link, int32_t stop, Chain *chain) {
    for (; link != stop; link = chain_up(plan, link))
        chain_mark(chain, link_dof(plan, link), link_dofs(plan, link));
}

static inline uint32_t chain_count(const Chain *chain) {
    uint32_t count = 0;
    for (uint32_t w = chain->first; w < chain->end; w++)
        count += (uint32_t)__builtin_popcountll(chain->bits[w]);
    return count;
}

// Slots of a new constraint, and its numbers 0.
static inline void chain_position(Problem *p, const Constraint *c, Chain *chain) {
    uint32_t at = 0;
    for (uint32_t w = chain->first; w < chain->end; w++)
        for (uint64_t left = chain->bits[w]; left != 0; left &= left - 1) {
            const uint32_t dof = 64 * w + (uint32_t)__builtin_ctzll(left);
            chain->at[dof] = (uint16_t)at;
            p->slots[c->first_slot + at++] = (uint16_t)dof;
        }
    for (uint32_t i = 0; i < c->rows * c->count; i++)
        p->numbers[c->first + i] = mf_zero();
}

static MF_INLINE void tug_dof(Problem *p, const Constraint *c, uint32_t at, Vec axis, Vec direction,
                              bool rotates, const Tug *tug) {
    const Vec velocity = rotates ? vec_cross(axis, direction) : axis;
    mf_lane *j = &p->numbers[c->first + at * c->rows];
    for (uint32_t k = 0; k < c->rows; k++) {
        if (k >= 3 && !rotates)
            return;
        mf_lane value = tug->sign * vec_dot(tug->axes[k], k < 3 ? velocity : axis);
        j[k] = j[k] + mf_keep(tug->where, value);
    }
}

// Adds what the rows measure of a link to the dofs between it and `stop`.
static inline void tug_links(Problem *p, const Constraint *c, const Chain *chain, int32_t link,
                             int32_t stop, const Tug *tug) {
    const mf_ArtPlan *plan = p->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    for (; link != stop; link = chain_up(plan, link)) {
        const uint32_t dof = link_dof(plan, link), count = link_dofs(plan, link);
        const Vec direction = count > 0 ? vec_sub(tug->point, p->origin[link + 1]) : vec_zero();
        for (uint32_t k = 0; k < count; k++) {
            const bool rotates = link < 0 ? k >= 3 : links[link].kind != MF_ART_SLIDE;
            tug_dof(p, c, chain->at[dof + k], p->axis[dof + k], direction, rotates, tug);
        }
    }
}

// ---- contacts -----------------------------------------------------------------------------------

static MF_INLINE const LinkContact *candidate_contact(const Problem *p, const Candidate *from) {
    return &p->work->link_contacts.list[from->number];
}

static MF_INLINE const mf_ArtLaw *candidate_law(const Problem *p, const Candidate *from) {
    if (from->ground)
        return &mf_art_ground_laws(p->plan)[from->number];
    const mf_CollidePair pair =
        mf_collide_pair_of(mf_art_collide(p->plan), candidate_contact(p, from)->pair);
    return &mf_art_laws(p->plan)[pair.touches];
}

// [1/kg] What row k gives way by: the laws of the ground have it, others times that of both bodies.
static MF_INLINE mf_lane candidate_ease(const Problem *p, const Candidate *from, uint32_t k) {
    const mf_ArtPlan *plan = p->plan;
    const mf_ArtLaw *law = candidate_law(p, from);
    if (from->ground)
        return law_at(plan, &law->ease[k]); // `over` is 1
    const mf_CollidePair pair =
        mf_collide_pair_of(mf_art_collide(plan), candidate_contact(p, from)->pair);
    const double *a = &mf_art_shape_weights(plan)[pair.a], *b = &mf_art_shape_weights(plan)[pair.b];
#if defined(MF_ART_VARIED)
    return (law_at(plan, a) + law_at(plan, b)) * law_at(plan, &law->ease[k]) /
           law_at(plan, &law->over[k]);
#else
    return mf_set((mf_real)((*a + *b) * law->ease[k] / law->over[k]));
#endif
}

static MF_INLINE void candidate_links(const Problem *p, const Candidate *from, int32_t links[2]) {
    const mf_ArtPlan *plan = p->plan;
    links[0] = MF_ART_WORLD;
    if (from->ground) {
        links[1] = mf_art_contacts(plan)[from->number].link;
    } else {
        const mf_CollidePair pair =
            mf_collide_pair_of(mf_art_collide(plan), candidate_contact(p, from)->pair);
        links[0] = contact_plan_link(plan, pair.a);
        links[1] = contact_plan_link(plan, pair.b);
    }
}

static MF_INLINE void candidate_add(Problem *p, bool ground, uint32_t number, mf_mask exists) {
    if (mf_any(exists))
        p->candidates[p->candidate_count++] = MF_VALUE(Candidate, ground, number, exists);
}

static inline void candidates_find(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    const Contacts *contacts = &p->work->contacts;
    LinkContacts *all = &p->work->link_contacts;
    p->candidate_count = p->left_out = 0;
    for (uint32_t i = 0; contacts->any && i < plan->contact_count; i++) {
        const Touch *touch = &contacts->touch[i];
        if (touch->near)
            candidate_add(p, true, i,
                          mf_and(mf_and(touch->may, p->lanes), mf_less(mf_zero(), touch->depth)));
    }
    if (mf_art_collide(plan) == NULL)
        return;
    if (!all->found || all->overflow)
        link_contacts_find(plan, contacts, NULL, p->lanes, all);
    p->overflow = p->overflow || all->overflow;
    p->left_out = all->lost;
    link_contacts_warn(all, p->lanes, &p->work->warnings);
    for (uint32_t i = 0; i < all->count; i++)
        candidate_add(p, false, i, mf_and(all->list[i].exists, p->lanes));
}

static inline bool same_surface(const mf_ArtLaw *a, const mf_ArtLaw *b) {
    bool same = a->dimension == b->dimension;
#if defined(MF_ART_VARIED)
    return same; // each lane has its own
#endif
    for (int i = 0; i < 5 && same; i++)
        same = !(a->friction[i] < b->friction[i]) && !(b->friction[i] < a->friction[i]);
    return same;
}

// Contacts of different lanes are solved as one where that adds no entry to the Hessian that one of
// them has not: with the ground those of one link, between links all.
static inline bool may_share(const Problem *p, const ContactSlot *slot, const Candidate *from) {
    const Candidate *other = &p->candidates[slot->members[0]];
    if (other->ground != from->ground || !same_surface(slot->law, candidate_law(p, from)))
        return false;
    return !from->ground || mf_art_contacts(p->plan)[other->number].link ==
                                mf_art_contacts(p->plan)[from->number].link;
}

// Gives each candidate its slot, behind all slots with an earlier contact of one of its lanes, so
// that a lane's contacts keep their order.
static inline void slots_fill(Problem *p) {
    p->contact_count = 0;
    for (uint32_t i = 0; i < p->candidate_count; i++) {
        const Candidate *from = &p->candidates[i];
        ContactSlot *slot = NULL;
        for (uint32_t s = p->contact_count; s-- > 0;) {
            if (mf_any(mf_and(p->contacts[s].exists, from->exists)))
                break;
            if (may_share(p, &p->contacts[s], from))
                slot = &p->contacts[s];
        }
        if (slot == NULL) {
            if (p->contact_count == p->capacity.contacts) {
                p->overflow = true;
                p->left_out += p->candidate_count - i;
                return;
            }
            slot = &p->contacts[p->contact_count++];
            slot->count = 0;
            slot->exists = mf_not(mf_mask_all());
            slot->law = candidate_law(p, from);
        }
        slot->members[slot->count++] = i;
        slot->exists = mf_or(slot->exists, from->exists);
    }
}

// The side of MuJoCo's contact frames: the world's y axis across the normal, or the z axis where
// that is too steep.
static MF_INLINE Vec frame_side(Vec n, Vec target, mf_mask known) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_mask steep = mf_not(mf_less(mf_abs(n.y), mf_set((mf_real)0.5)));
    Vec side = vec_select(steep, MF_VALUE(Vec, zero, zero, one), MF_VALUE(Vec, zero, one, zero));
    side = vec_fma(n, -vec_dot(n, side), side);
    target = vec_fma(n, -vec_dot(n, target), target);
    const mf_lane tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    side = vec_select(mf_and(known, mf_less(tiny, vec_dot(target, target))), target, side);
    const mf_lane square = vec_dot(side, side);
    return vec_scale(side, one / mf_sqrt(mf_select(mf_less(zero, square), square, one)));
}

static MF_INLINE void slot_ground(const Problem *p, const Candidate *from, ContactSlot *slot) {
    const mf_ArtPlan *plan = p->plan;
    const Touch *touch = &p->work->contacts.touch[from->number];
    const mf_ArtContact *contact = &mf_art_contacts(plan)[from->number];
    const Constant *c = contact_constants(plan, from->number);
    const Mat *rotation = &p->work->contacts.pose[contact->link + 1].rotation;
    const Constant *axis = c + MF_ART_TOUCH_AXIS;
    const bool leans = constant_shared(axis, 0) != 0 || constant_shared(axis, 1) != 0 ||
                       constant_shared(axis, 2) != 0;
    const Vec normal = mat_apply(rotation, touch->normal);
    // A capsule's axis along the ground.
    Vec side = frame_side(normal, leans ? mat_apply(rotation, vec_constant(axis)) : vec_zero(),
                          leans ? mf_mask_all() : mf_not(mf_mask_all()));
    const mf_mask on = from->exists;
    slot->point = vec_select(on, mat_apply_add(rotation, touch->arm, p->origin[contact->link + 1]),
                             slot->point);
    slot->axes[0] = vec_select(on, normal, slot->axes[0]);
    slot->axes[1] = vec_select(on, side, slot->axes[1]);
    slot->depth = mf_select(on, touch->depth, slot->depth);
}

// Of a pair of shapes: a capsule's axis where the other one is a plane, as on the ground, else 0.
static MF_INLINE Vec pair_side(const Problem *p, const mf_CollidePair *pair) {
    const mf_CollidePlan *collide = mf_art_collide(p->plan);
    const mf_CollideShape *shapes = mf_collide_shapes(collide);
    if (shapes[pair->a].kind != MF_COLLIDE_PLANE || shapes[pair->b].kind != MF_COLLIDE_CAPSULE)
        return vec_zero();
    const ShapeValue *r = values_of_shape(p->plan, pair->b) + MF_COLLIDE_ROTATION;
    const Vec axis = {shape_value(&r[2]), shape_value(&r[5]), shape_value(&r[8])};
    const int32_t link = contact_plan_link(p->plan, pair->b);
    return link == MF_ART_WORLD ? axis
                                : mat_apply(&p->work->contacts.pose[link + 1].rotation, axis);
}

static MF_INLINE void slot_contact(const Problem *p, const Candidate *from, ContactSlot *slot) {
    const LinkContact *contact = candidate_contact(p, from);
    const mf_mask on = from->exists;
    const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(p->plan), contact->pair);
    const mf_lane margin = law_at(p->plan, &mf_art_laws(p->plan)[pair.touches].margin);
    Vec side = frame_side(contact->normal, pair_side(p, &pair), mf_mask_all());
    slot->point = vec_select(on, vec_sub(contact->point, p->state->position), slot->point);
    slot->axes[0] = vec_select(on, contact->normal, slot->axes[0]);
    slot->axes[1] = vec_select(on, side, slot->axes[1]);
    slot->depth = mf_select(on, contact->depth + margin, slot->depth);
}

// Links of the members, each pair once, with the lanes that have it.
typedef struct Pairs {
    uint32_t count;
    int32_t links[MF_LANES][2];
    mf_mask where[MF_LANES];
} Pairs;

static inline void slot_pairs(const Problem *p, const ContactSlot *slot, Pairs *pairs) {
    pairs->count = 0;
    for (uint32_t m = 0; m < slot->count; m++) {
        const Candidate *from = &p->candidates[slot->members[m]];
        int32_t links[2];
        uint32_t i = 0;
        candidate_links(p, from, links);
        while (i < pairs->count &&
               (pairs->links[i][0] != links[0] || pairs->links[i][1] != links[1]))
            i++;
        if (i == pairs->count) {
            pairs->links[i][0] = links[0];
            pairs->links[i][1] = links[1];
            pairs->where[pairs->count++] = from->exists;
        } else {
            pairs->where[i] = mf_or(pairs->where[i], from->exists);
        }
    }
}

static inline bool same_softness(const mf_ArtLaw *a, const mf_ArtLaw *b) {
#if defined(MF_ART_VARIED)
    return a == b;
#else
    return memcmp(a->impedance, b->impedance, sizeof a->impedance) == 0;
#endif
}

// The impedance of a slot, where its members have one and the same in most cases.
static MF_INLINE mf_lane slot_impedance(const Problem *p, const ContactSlot *slot) {
    mf_lane z = law_impedance(p->plan, slot->law, slot->depth);
    for (uint32_t m = 0; m < slot->count; m++) {
        const Candidate *from = &p->candidates[slot->members[m]];
        const mf_ArtLaw *law = candidate_law(p, from);
        if (!same_softness(law, slot->law))
            z = mf_select(from->exists, law_impedance(p->plan, law, slot->depth), z);
    }
    return z;
}

// Weights and references of all rows.
static MF_INLINE void contact_law(Problem *p, Constraint *c, const ContactSlot *slot) {
    const mf_lane z = slot_impedance(p, slot);
    mf_lane ease[CONTACT_ROWS], load = mf_zero(), damping = mf_zero(), across = mf_zero();
    for (uint32_t k = 0; k < c->rows; k++)
        ease[k] = candidate_ease(p, &p->candidates[slot->members[0]], k);
    for (uint32_t m = 0; m < slot->count; m++) {
        const Candidate *from = &p->candidates[slot->members[m]];
        const mf_ArtLaw *law = candidate_law(p, from);
        const mf_mask on = from->exists;
        load = mf_select(on, law_at(p->plan, &law->stiffness), load);
        damping = mf_select(on, law_at(p->plan, &law->damping), damping);
        across = mf_select(on, law_at(p->plan, &law->friction_damping), across);
        for (uint32_t k = 0; k < c->rows; k++)
            ease[k] = mf_select(on, candidate_ease(p, from, k), ease[k]);
    }
    load = load * z * slot->depth;
    Measures at;
    rows_measure(p, c, &at);
    for (uint32_t k = 0; k < c->rows; k++) {
        mf_lane rest = -(across * at.speed[k]);
        if (k == 0)
            rest = mf_fma(-damping, at.speed[k], load);
        p->weight[c->row + k] = mf_select(c->exists, law_weight(z, ease[k]), mf_set((mf_real)1));
        p->rest[c->row + k] = mf_keep(c->exists, rest) - at.free[k];
    }
    if (c->kind == CONSTRAINT_ELLIPTIC)
        c->stiff =
            p->weight[c->row] / (c->cone * c->cone * mf_fma(c->cone, c->cone, mf_set((mf_real)1)));
}

static MF_INLINE void slot_surface(const Problem *p, const ContactSlot *slot, Constraint *c) {
    for (uint32_t m = 0; m < slot->count; m++) {
        const Candidate *from = &p->candidates[slot->members[m]];
        const mf_ArtLaw *law = candidate_law(p, from);
        if (m > 0 && same_softness(law, slot->law))
            continue;
        const mf_mask on = m > 0 ? from->exists : mf_mask_all();
        c->cone = mf_select(on, law_at(p->plan, &law->cone), c->cone);
        for (int i = 0; i < 5; i++)
            c->friction[i] = mf_select(on, law_at(p->plan, &law->friction[i]), c->friction[i]);
    }
}

static inline void contact_add(Problem *p, ContactSlot *slot) {
    const mf_ArtPlan *plan = p->plan;
    const mf_ArtLaw *law = slot->law;
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Pairs pairs;
    Chain chain = chain_start(p);
    slot->point = slot->axes[1] = vec_zero();
    slot->axes[0] = MF_VALUE(Vec, zero, zero, one);
    slot->depth = zero;
    for (uint32_t m = 0; m < slot->count; m++) {
        const Candidate *from = &p->candidates[slot->members[m]];
        if (from->ground)
            slot_ground(p, from, slot);
        else
            slot_contact(p, from, slot);
    }
    slot->axes[2] = vec_cross(slot->axes[0], slot->axes[1]);
    slot_pairs(p, slot, &pairs);
    for (uint32_t i = 0; i < pairs.count; i++) {
        const int32_t stop = common_link(plan, pairs.links[i][0], pairs.links[i][1]);
        for (int side = 0; side < 2; side++)
            chain_links(plan, pairs.links[i][side], stop, &chain);
    }
    const ConstraintKind kind = law->dimension == 1 ? CONSTRAINT_ONE_SIDED
                                : plan->elliptic    ? CONSTRAINT_ELLIPTIC
                                                    : CONSTRAINT_PYRAMID;
    Constraint *c = constraint_add(p, kind, law->dimension, chain_count(&chain), slot->exists);
    if (c == NULL) {
        slot->constraint = MF_NONE;
        return;
    }
    slot->constraint = (uint32_t)(c - p->constraints);
    slot_surface(p, slot, c);
    c->ray = (uint32_t)(slot - p->contacts);
    chain_position(p, c, &chain);
    Tug tug = {.point = slot->point};
    for (int k = 0; k < CONTACT_ROWS; k++)
        tug.axes[k] = slot->axes[k % 3];
    for (uint32_t i = 0; i < pairs.count; i++) {
        const int32_t stop = common_link(plan, pairs.links[i][0], pairs.links[i][1]);
        for (int side = 0; side < 2; side++) {
            tug.where = pairs.where[i];
            tug.sign = side == 0 ? -one : one;
            tug_links(p, c, &chain, pairs.links[i][side], stop, &tug);
        }
    }
    contact_law(p, c, slot);
}

static inline void contacts_join(Problem *p) {
    candidates_find(p);
    slots_fill(p);
    for (uint32_t s = 0; s < p->contact_count; s++)
        contact_add(p, &p->contacts[s]);
}

// ---- equality constraints -----------------------------------------------------------------------

typedef struct End { // a frame of a connect or weld
    Mat rotation;
    Vec position; // [m] from the base's origin
    Drift drift;  // of the frame
} End;

static inline Vec vec_double(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static inline End end_of(const Problem *p, const mf_ArtLoop *loop, int side, const Drift *drift) {
    const double *q = loop->rotations[side];
    const Mat rotation = quat_matrix(MF_VALUE(Quat, mf_set((mf_real)q[0]), mf_set((mf_real)q[1]),
                                              mf_set((mf_real)q[2]), mf_set((mf_real)q[3])));
    const Vec arm = vec_double(loop->arms[side]);
    if (loop->mocap[side] != MF_NONE) {
        const Pose *own = &p->work->contacts.pose[p->plan->link_count + 1 + loop->mocap[side]];
        return MF_VALUE(
            End, mat_multiply(&own->rotation, &rotation),
            vec_sub(mat_apply_add(&own->rotation, arm, own->position), p->state->position),
            {vec_zero(), vec_zero(), vec_zero()});
    }
    if (loop->links[side] == MF_ART_WORLD)
        return MF_VALUE(End, rotation, vec_sub(arm, p->state->position),
                        {vec_zero(), vec_zero(), vec_zero()});
    const Mat *link = &p->work->contacts.pose[loop->links[side] + 1].rotation;
    const Vec direction = mat_apply(link, arm);
    End end = {mat_multiply(link, &rotation), vec_add(direction, p->origin[loop->links[side] + 1]),
               drift[loop->links[side] + 1]};
    Drift *own = &end.drift;
    own->straight =
        vec_add(own->straight, vec_cross_add(own->rate, vec_cross(own->rate, direction),
                                             vec_cross(own->angular_acceleration, direction)));
    return end;
}

// What the rows of a connect or weld gain while all velocities stay: with W = wa - wb, the turn of
// a weld conj(qb) W qa / 2 gains conj(qb) (-W.W / 2, W' - wb x wa) qa / 2.
static inline void loop_drift(const End ends[2], Quat q, mf_lane scale, mf_lane *out) {
    const mf_lane half = mf_set((mf_real)0.5);
    const Drift *a = &ends[0].drift, *b = &ends[1].drift;
    const Vec straight = vec_sub(a->straight, b->straight), rate = vec_sub(a->rate, b->rate);
    Vec angular = vec_sub(vec_sub(a->angular_acceleration, b->angular_acceleration),
                          vec_cross(b->rate, a->rate));
    angular = mat_apply_transposed(&ends[1].rotation, angular);
    const Vec v = {q.x, q.y, q.z};
    angular = vec_add(vec_scale(angular, q.w), vec_cross(angular, v));
    angular = vec_fma(v, -(half * vec_dot(rate, rate)), angular);
    angular = vec_scale(angular, half * scale);
    out[0] = straight.x, out[1] = straight.y, out[2] = straight.z;
    out[3] = angular.x, out[4] = angular.y, out[5] = angular.z;
}

// The quaternion of the turn from b's axes to a's, seen from b; less than half a rotation.
static inline Quat rotation_between(const Mat *a, const Mat *b) {
    const Mat back = {b->xx, b->yx, b->zx, b->xy, b->yy, b->zy, b->xz, b->yz, b->zz};
    const Mat e = mat_multiply(&back, a);
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5);
    const mf_lane least = mf_set((mf_real)1e-3);
    mf_lane w = half * mf_sqrt(mf_max(one + (e.xx + e.yy + e.zz), least * least));
    mf_lane scale = mf_set((mf_real)0.25) / w;
    return MF_VALUE(Quat, w, (e.zy - e.yz) * scale, (e.xz - e.zx) * scale, (e.yx - e.xy) * scale);
}

// Rows of the rotation of a weld, MuJoCo's: `scale` times the vector of the quaternion.
static inline void weld_axes(const Mat *b, Quat q, mf_lane scale, Vec *axes) {
    const mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5) * scale;
    const Vec v = {q.x, q.y, q.z};
    for (int k = 0; k < 3; k++) {
        Vec unit = {k == 0 ? q.w : zero, k == 1 ? q.w : zero, k == 2 ? q.w : zero};
        const mf_lane one = mf_set((mf_real)1);
        Vec e = {k == 0 ? one : zero, k == 1 ? one : zero, k == 2 ? one : zero};
        axes[k] = vec_scale(mat_apply(b, vec_add(unit, vec_cross(v, e))), half);
    }
}

static inline void loop_points(Problem *p, const mf_ArtLoop *loop, const Drift *drift) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const End ends[2] = {end_of(p, loop, 0, drift), end_of(p, loop, 1, drift)};
    const Vec gap = vec_sub(ends[0].position, ends[1].position);
    mf_lane error[CONTACT_ROWS] = {gap.x, gap.y, gap.z, zero, zero, zero}, gain[CONTACT_ROWS];
    Quat q = {one, zero, zero, zero};
    const mf_lane scale = mf_set((mf_real)loop->torque_scale);
    Tug tug = {.axes = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}},
               .where = mf_mask_all()};
    Chain chain = chain_start(p);
    if (loop->rows == 6) {
        q = rotation_between(&ends[0].rotation, &ends[1].rotation);
        weld_axes(&ends[1].rotation, q, scale, tug.axes + 3);
        error[3] = q.x * scale, error[4] = q.y * scale, error[5] = q.z * scale;
    }
    for (int side = 0; side < 2; side++)
        chain_links(p->plan, loop->links[side], MF_ART_WORLD, &chain);
    Constraint *c =
        constraint_add(p, CONSTRAINT_QUADRATIC, loop->rows, chain_count(&chain), mf_mask_all());
    if (c == NULL)
        return;
    chain_position(p, c, &chain);
    for (int side = 0; side < 2; side++) {
        tug.point = ends[side].position;
        tug.sign = side == 0 ? one : -one;
        tug_links(p, c, &chain, loop->links[side], MF_ART_WORLD, &tug);
    }
    mf_lane square = zero;
    for (uint32_t k = 0; k < loop->rows; k++)
        square = mf_fma(error[k], error[k], square);
    const mf_lane z = law_impedance(p->plan, &loop->law, mf_sqrt(square));
    const mf_lane stiffness = law_at(p->plan, &loop->law.stiffness),
                  damping = law_at(p->plan, &loop->law.damping);
    loop_drift(ends, q, scale, gain);
    Measures at;
    rows_measure(p, c, &at);
    for (uint32_t k = 0; k < loop->rows; k++)
        row_law(p, c, &at, k, law_weight(z, law_at(p->plan, &loop->law.ease[k])),
                -(stiffness * z * error[k]) - gain[k], damping);
}

// y - y0 = polynomial of x - x0
static inline void loop_sum(Problem *p, const mf_ArtLoop *loop) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane x = mf_zero(), value = mf_set((mf_real)loop->coefficients[4]), slope = mf_zero();
    if (loop->terms[1] > 0)
        x = terms_length(p, loop->first_term[1], loop->terms[1]) -
            mf_set((mf_real)loop->references[1]);
    for (int i = 3; i >= 0; i--) {
        slope = mf_fma(slope, x, value);
        value = mf_fma(value, x, mf_set((mf_real)loop->coefficients[i]));
    }
    Sum sum = sum_start(p);
    sum_terms(p, loop->first_term[0], loop->terms[0], one, &sum);
    sum_terms(p, loop->first_term[1], loop->terms[1], -slope, &sum);
    Constraint *c = sum_constraint(p, CONSTRAINT_QUADRATIC, &sum, one, mf_mask_all());
    if (c != NULL)
        law_row(p, c, &loop->law,
                terms_length(p, loop->first_term[0], loop->terms[0]) -
                    mf_set((mf_real)loop->references[0]) - value);
}

static __attribute__((noinline)) void loops_add(Problem *p) {
    Drift *drift = p->drift;
    if (p->plan->loop_count == 0)
        return;
    drift_find(p, drift);
    const mf_ArtLoop *loops = mf_art_loops(p->plan);
    for (uint32_t i = 0; i < p->plan->loop_count; i++) {
        p->loop_first[i] = p->constraint_count;
        if (loops[i].rows == 1)
            loop_sum(p, &loops[i]);
        else
            loop_points(p, &loops[i], drift);
    }
}
