// Contacts between two links, or hard ones with the ground, as rows of the solver of couplings.
//
// The normal force is that of the compliant contact (contact.h): at the end of the step k d - (c +
// h k) times the separating speed, and never below 0. The point sticks while friction stays in its
// cone; both directions are solved together, so friction is isotropic. Hard contacts have no
// softness: the separating speed at the end of the step closes the gap, or removes a twentieth of
// the depth in each step (with more, the residual of the sweeps rocks a stack). Torsional and
// rolling friction are bounded by the normal force likewise.
#pragma once

#include "contact/shape_lane.h"
#include "motion/articulated/constraint/couple.h"
#include "motion/articulated/contact/contact_pairs.h"
#include "motion/articulated/constraint/warm_start.h"
#include "motion/articulated/tree/aba_velocity.h"

// ---- contact batch ------------------------------------------------------------------------------

// Contacts that are solved together: lanes in groups, contacts of different lanes in batches.
//
// A lane has a few contacts between links, all lanes together have many. Contacts of different
// lanes share rows, a batch: in each lane the rows are those of its own contact, and 0 for links
// that only contacts of other lanes touch. A lane's contacts keep their order in the sweeps, so
// results do not depend on the other lanes. If there are more batches than the solver can hold,
// fewer lanes are solved at a time; a single lane with too many contacts keeps the deepest.

// Friction of a contact, the same for all contacts of a batch.
typedef struct Surface {
    uint32_t rows;       // [1] 1, 3, 4 or 6
    mf_real friction[5]; // [1] two sliding, [m] torsion, [m] two rolling
} Surface;

typedef struct ContactBatch {
    Surface surface;
    mf_mask exists; // lanes that have one of the members
    uint32_t count; // [1]
    LinkContact *members[MF_LANES];
} ContactBatch;

typedef struct Group { // lanes that are solved together
    mf_mask lanes;
    uint32_t count, numbers; // [1] batches, and numbers of all their rows at most
    uint32_t dropped;        // [1] contacts beyond the capacity
    ContactBatch *batches;   // space for plan->contact_capacity
} Group;

static inline Surface contact_surface(const mf_ArtPlan *plan, const LinkContact *contact) {
    Surface surface = {.rows = 1};
    uint32_t dimension = 3;
    if (contact->pair == MF_NONE) {
        const Constant *c = contact_constants(plan, contact->touch);
        surface.friction[0] = surface.friction[1] = constant_shared(c, MF_ART_TOUCH_SLIDING);
        surface.friction[2] = constant_shared(c, MF_ART_TOUCH_TORSION);
        surface.friction[3] = surface.friction[4] = constant_shared(c, MF_ART_TOUCH_ROLLING);
        dimension = 6;
    } else {
        const mf_CollideClass *touches = mf_collide_class_of(mf_art_collide(plan), contact->pair);
        dimension = touches->dimension;
        for (int i = 0; i < 5; i++)
            surface.friction[i] = (mf_real)touches->friction[i];
    }
    const mf_real *mu = surface.friction;
    if (dimension >= 3 && mu[0] > 0 && mu[1] > 0)
        surface.rows = 3;
    if (dimension >= 4 && surface.rows == 3 && mu[2] > 0)
        surface.rows = 4;
    if (dimension >= 6 && surface.rows == 4 && mu[3] > 0 && mu[4] > 0)
        surface.rows = 6;
    return surface;
}

static inline bool surface_equal(const Surface *a, const Surface *b) {
    bool equal = a->rows == b->rows;
    for (int i = 0; i < 5; i++)
        equal = equal && !(a->friction[i] < b->friction[i]) && !(b->friction[i] < a->friction[i]);
    return equal;
}

static MF_INLINE uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Numbers that the rows of a batch take at most.
static MF_INLINE uint32_t batch_numbers(const mf_ArtPlan *plan, uint32_t rows, uint32_t members) {
    return rows * least(members * plan->row_of_two, plan->row_of_all);
}

static inline bool group_fits(const mf_ArtPlan *plan, Group *group, uint32_t more) {
    group->numbers += more;
    return group->numbers <= plan->contact_numbers;
}

// Assigns a contact to a batch after all those with an earlier contact of one of its lanes. False
// if there is no space.
static inline bool group_add(const mf_ArtPlan *plan, Group *group, LinkContact *contact) {
    const mf_mask lanes = mf_and(contact->exists, group->lanes);
    const Surface surface = contact_surface(plan, contact);
    ContactBatch *batch = NULL;
    for (uint32_t i = group->count; i-- > 0;) {
        ContactBatch *other = &group->batches[i];
        if (mf_any(mf_and(other->exists, lanes)))
            break;
        if (surface_equal(&other->surface, &surface))
            batch = other;
    }
    if (batch != NULL) {
        uint32_t before = batch_numbers(plan, surface.rows, batch->count);
        batch->exists = mf_or(batch->exists, lanes);
        batch->members[batch->count++] = contact;
        return group_fits(plan, group, batch_numbers(plan, surface.rows, batch->count) - before);
    }
    if (group->count == plan->contact_capacity)
        return false;
    batch = &group->batches[group->count++];
    batch->surface = surface;
    batch->exists = lanes;
    batch->count = 1;
    batch->members[0] = contact;
    return group_fits(plan, group, batch_numbers(plan, surface.rows, 1));
}

// Fills the group with the contacts of its lanes. False when there is no space for all.
static inline bool group_fill(const mf_ArtPlan *plan, LinkContacts *all, Group *group) {
    group->count = group->numbers = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (mf_any(mf_and(all->list[i].exists, group->lanes)) &&
            !group_add(plan, group, &all->list[i]))
            return false;
    return !all->overflow;
}

// Fills a group of one lane with its deepest contacts, in their order.
static inline void group_fill_deepest(const mf_ArtPlan *plan, LinkContacts *all, Group *group) {
    LinkContact **list = all->order;
    uint32_t count = 0;
    group->count = group->numbers = 0;
    group->dropped = all->lost;
    for (uint32_t i = 0; i < all->count; i++)
        if (mf_any(mf_and(all->list[i].exists, group->lanes)))
            list[count++] = &all->list[i];
    while (count > plan->contact_capacity) {
        uint32_t shallow = 0;
        for (uint32_t i = 1; i < count; i++)
            if (mf_any(mf_and(group->lanes, mf_less(list[i]->depth, list[shallow]->depth))))
                shallow = i;
        list[shallow]->force = vec_select(group->lanes, vec_zero(), list[shallow]->force);
        for (uint32_t i = shallow + 1; i < count; i++)
            list[i - 1] = list[i];
        count--;
        group->dropped++;
    }
    for (uint32_t i = 0; i < count; i++)
        group->dropped += !group_add(plan, group, list[i]);
}

// As many of the lanes from `first` on as fit; returns their number.
static inline uint32_t group_take(const mf_ArtPlan *plan, Work *work, uint32_t first,
                                  Group *group) {
    LinkContacts *all = &work->link_contacts;
    group->lanes = mf_mask_all();
    group->count = group->dropped = 0;
    if (mf_art_collide(plan) == NULL && !plan->hard)
        return MF_LANES;
    for (uint32_t width = MF_LANES - first;; width /= 2) {
        group->lanes = lane_range(first, width);
        if (!all->found || all->overflow) {
            link_contacts_find(plan, &work->contacts, NULL, group->lanes, all);
            if (link_contacts_remember(all))
                warm_start_load(plan, &work->contacts, all);
        }
        bool fits = group_fill(plan, all, group);
        if (!fits && width == 1)
            group_fill_deepest(plan, all, group);
        if (fits || width == 1)
            return width;
    }
}

// ---- contact roll -------------------------------------------------------------------------------

// Motion of the contact point over the surface of a shape while its link rotates.
//
// A convex shape touches where its surface has the outward normal m, which is constant in the world
// while the link rotates with w: in the link's axes its rate is m x w, and the contact moves over
// the surface by H (m x w), with H the second derivative of the support function, whose eigenvalues
// are the radii of curvature. In the world the arm r of the contact changes by
//     r' = w x r + H (m x w)
// and the velocity of the contact, v + w x r, by w x r' instead of the w x (w x r) of a material
// point. For a sphere r' is that of its center. Corners, edges and flat faces have no radius.
// (Montana 1988 treats the general case; here the other surface is flat.)

// H (m x w) of a shape for a point of contact at `arm` and `inside` [m] below its surface; link's
// axes.
static MF_INLINE Vec contact_roll(const mf_ArtPlan *plan, uint32_t shape, Vec normal,
                                  mf_lane inside, Vec arm, Vec rate) {
    const ShapeValue *values = values_of_shape(plan, shape), *half = values + MF_COLLIDE_HALF,
                     *r = values + MF_COLLIDE_ROTATION;
    const Vec direction = vec_cross(normal, rate);
    const mf_lane radius = shape_value(&half[0]);
    const mf_CollideKind kind = mf_collide_shapes(mf_art_collide(plan))[shape].kind;
    if (kind == MF_COLLIDE_SPHERE || kind == MF_COLLIDE_CAPSULE)
        return vec_scale(direction, radius - inside);
    if (kind == MF_COLLIDE_HULL) { // of many facets: as the ball about its center that is as high
        const Vec center = shape_vec(values + MF_COLLIDE_POSITION);
        return vec_scale(direction, vec_dot(normal, vec_sub(arm, center)));
    }
    if (!mf_collide_is_curved(kind))
        return vec_zero();
    const Vec x_row = shape_vec(r), y_row = shape_vec(r + 3), z_row = shape_vec(r + 6);
    const Mat frame = {x_row.x, x_row.y, x_row.z, y_row.x, y_row.y,
                       y_row.z, z_row.x, z_row.y, z_row.z};
    const Vec m = mat_apply_transposed(&frame, normal), x = mat_apply_transposed(&frame, direction);
    const Vec moves = shape_roll(kind, shape_vec(half), m, x);
    return mat_apply(&frame, vec_fma(x, -inside, moves));
}

// ---- contact rows -------------------------------------------------------------------------------

// Motion of a point of a link, in world axes. Accelerations exclude gravity, so the world itself
// accelerates upwards.
typedef struct PointMotion {
    Vec velocity, acceleration;     // [m/s], [m/s^2]
    Vec rate, angular_acceleration; // [rad/s], [rad/s^2]
} PointMotion;

typedef struct ContactResult {
    const ContactBatch *batch;
    mf_mask lanes;   // that have a contact
    Vec axes[3];     // the normal, then across
    uint32_t first;  // [1] row along the normal, then 2 across, 1 about, 2 rolling
    mf_lane gain[2]; // impulse per speed across, per rate of rolling
    mf_lane tilt[2]; // products of the normal row with those across
    mf_lane ease;    // 1 / (1 + slope diagonal) of the normal row
} ContactResult;

static MF_INLINE Vec rate_of(const State *state, const Work *work, int32_t link) {
    return link < 0 ? state->rate : work->links[link].rate;
}

// A point of a link at `arm` that moves over the link with `over` [m/s].
static inline PointMotion point_motion_at(const mf_ArtPlan *plan, const State *state,
                                          const Work *work, int32_t link, Vec arm, Vec over) {
    if (link == MF_ART_WORLD)
        return MF_VALUE(PointMotion, vec_zero(),
                        vec_scale(up_in_world(plan), setting(plan, MF_ART_GRAVITY)), vec_zero(),
                        vec_zero());
    const Pose *pose = &work->contacts.pose[link + 1];
    Vec rate = rate_of(state, work, link);
    Vec angular = link < 0 ? work->base_angular : work->angular[link];
    Vec linear = link < 0 ? work->base_linear : work->linear[link];
    Vec swing = vec_cross_add(rate, vec_cross_add(rate, arm, over), linear);
    return MF_VALUE(PointMotion, mat_apply_add(&pose->rotation, vec_cross(rate, arm), pose->speed),
                    mat_apply(&pose->rotation, vec_cross_add(angular, arm, swing)),
                    mat_apply(&pose->rotation, rate), mat_apply(&pose->rotation, angular));
}

// The value of a row: the velocity at the end of the step or, if is_explicit, the acceleration.
static MF_INLINE mf_lane value_at(mf_lane speed, mf_lane acceleration, mf_lane unit,
                                  bool is_explicit) {
    if (is_explicit)
        return acceleration;
    return mf_fma(unit, acceleration, speed);
}

// A direction of the world in a link's axes.
static MF_INLINE Vec into_link(const Work *work, int32_t link, Vec a) {
    if (link == MF_ART_WORLD)
        return a;
    return mat_apply_transposed(&work->contacts.pose[link + 1].rotation, a);
}

static MF_INLINE Vec arm_of(const Work *work, int32_t link, Vec point) {
    if (link == MF_ART_WORLD)
        return point;
    const Pose *pose = &work->contacts.pose[link + 1];
    return mat_apply_transposed(&pose->rotation, vec_sub(point, pose->position));
}

// Motion of the contact point over a link. A contact with the ground has the arm at the end of the
// step, that of its pivot.
static MF_INLINE Vec over_link(const mf_ArtPlan *plan, const State *state, const Work *work,
                               const LinkContact *contact, int side, int32_t link, Vec arm) {
    if (link == MF_ART_WORLD)
        return vec_zero();
    const Vec rate = rate_of(state, work, link);
    if (contact->pair == MF_NONE)
        return vec_cross(rate, vec_sub(touch_pivot(plan, contact->touch), arm));
    const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(plan), contact->pair);
    const Vec out = side == 0 ? contact->normal : vec_negative(contact->normal);
    return contact_roll(plan, side == 0 ? pair.a : pair.b, into_link(work, link, out),
                        mf_set((mf_real)0.5) * contact->depth, arm, rate);
}

// ---- rows ---------------------------------------------------------------------------------------

typedef struct Pairing { // contacts being made into rows
    const ContactBatch *batch;
    mf_mask where[MF_LANES]; // of each member
    int32_t links[MF_LANES][2];
    Vec arms[MF_LANES][2];
    // In each lane those of its own contact, of the second link against the first:
    mf_mask exists;
    mf_lane depth;
    Vec normal, speed, acceleration, rate, angular_acceleration;
} Pairing;

static inline void pair_up(const mf_ArtPlan *plan, const State *state, const Work *work,
                           const ContactBatch *batch, mf_mask lanes, Pairing *p) {
    p->batch = batch;
    p->exists = mf_and(batch->exists, lanes);
    p->depth = mf_zero();
    p->normal = p->speed = p->acceleration = p->rate = p->angular_acceleration = vec_zero();
    const mf_ArtContact *contacts = mf_art_contacts(plan);
    for (uint32_t m = 0; m < batch->count; m++) {
        const LinkContact *contact = batch->members[m];
        mf_mask where = p->where[m] = mf_and(contact->exists, lanes);
        PointMotion point_motions[2];
        p->links[m][0] = MF_ART_WORLD;
        if (contact->pair == MF_NONE) {
            p->links[m][1] = contacts[contact->touch].link;
        } else {
            const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(plan), contact->pair);
            p->links[m][0] = contact_plan_link(plan, pair.a);
            p->links[m][1] = contact_plan_link(plan, pair.b);
        }
        for (int side = 0; side < 2; side++) {
            p->arms[m][side] = arm_of(work, p->links[m][side], contact->point);
            Vec over =
                over_link(plan, state, work, contact, side, p->links[m][side], p->arms[m][side]);
            point_motions[side] =
                point_motion_at(plan, state, work, p->links[m][side], p->arms[m][side], over);
        }
        p->depth = mf_select(where, contact->depth, p->depth);
        p->normal = vec_select(where, contact->normal, p->normal);
        p->speed = vec_select(where, vec_sub(point_motions[1].velocity, point_motions[0].velocity),
                              p->speed);
        p->acceleration =
            vec_select(where, vec_sub(point_motions[1].acceleration, point_motions[0].acceleration),
                       p->acceleration);
        if (batch->surface.rows <= 3)
            continue;
        p->rate = vec_select(where, vec_sub(point_motions[1].rate, point_motions[0].rate), p->rate);
        p->angular_acceleration = vec_select(
            where,
            vec_sub(point_motions[1].angular_acceleration, point_motions[0].angular_acceleration),
            p->angular_acceleration);
    }
}

// Rows of the speed of the second link against the first, along (or, `angular`, about) the axes.
static void contact_row_count(Couple *c, const State *state, const Pairing *p, const Vec *axes,
                              uint32_t count, bool angular, mf_lane unit, bool is_explicit) {
    const Vec none = vec_zero();
    rows_begin(c, count);
    for (uint32_t i = 0; i < p->batch->count * count * 2; i++) {
        uint32_t m = i / 2 / count, k = i / 2 % count, side = i % 2;
        int32_t link = p->links[m][side];
        Vec axis = vec_keep(p->where[m], side == 0 ? vec_negative(axes[k]) : axes[k]);
        Vec direction = into_link(c->work, link, axis);
        if (angular)
            row_pull(c, k, link, p->arms[m][side], none, direction);
        else
            row_pull(c, k, link, p->arms[m][side], direction, none);
    }
    Row *rows = rows_finish(c, state);
    const Vec *speed = angular ? &p->rate : &p->speed,
              *gain = angular ? &p->angular_acceleration : &p->acceleration;
    for (uint32_t k = 0; k < count; k++)
        rows[k].value =
            value_at(vec_dot(axes[k], *speed), vec_dot(axes[k], *gain), unit, is_explicit);
}

// Softness of the normal row. Hard: the slope is limited only by rounding. A contact that presses
// on links at their joint, or across the plane of all joints, moves nothing but by rounding error,
// and would have any impulse, and friction from it. So where a row's diagonal d is below t, a small
// part of the robot's inverse mass, the row is softer until it acts like one with t^2 / d.
static void normal_law(const Couple *c, const Pairing *p, mf_lane unit, bool is_explicit,
                       Row *row) {
    const mf_ArtPlan *plan = c->plan;
    const mf_lane zero = mf_zero();
    mf_lane k = setting(plan, MF_ART_FORCE), d = setting(plan, MF_ART_DRAG);
    mf_lane depth = mf_min(p->depth, setting(plan, MF_ART_DEEP));
    row->low = zero;
    row->high = mf_keep(p->exists, mf_set(MF_REAL_MAX));
    if (is_explicit) {
        mf_mask in = mf_and(p->exists, mf_less(zero, depth));
        mf_lane apart = vec_dot(p->normal, p->speed);
        row->given = mf_keep(in, mf_max(mf_fma(k, depth, -(d * apart)), zero));
        return;
    }
    row->given = unit * k * depth;
    row->slope = unit * mf_fma(unit, k, d);
    if (plan->hard) {
        const mf_real stiff = sizeof(mf_real) == 4 ? (mf_real)1e5 : (mf_real)1e10;
        mf_lane target = depth / unit;
        target = mf_select(mf_less(zero, depth), target * mf_set((mf_real)0.05), target);
        const mf_lane one = mf_set((mf_real)1), tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
        const mf_lane size = mf_max(row->diagonal, tiny);
        const mf_lane least = mf_set((mf_real)1e-5) / setting(plan, MF_ART_ALL_MASS);
        const mf_mask stuck = mf_less(row->diagonal, least);
        const mf_lane soft = least / size * least - size;
        row->slope = mf_select(stuck, one, mf_set(stiff)) / mf_select(stuck, soft, size);
        row->given = row->slope * target;
    }
}

// Friction of a stage of Runge-Kutta: the chord to rest, from the present velocity.
static void explicit_friction(const Couple *c, const Pairing *p, const Vec *axes, Row *rows) {
    mf_lane x = vec_dot(axes[1], p->speed), y = vec_dot(axes[2], p->speed);
    mf_lane fast = mf_max(mf_sqrt(mf_fma(x, x, y * y)), setting(c->plan, MF_ART_SLIP));
    mf_lane slip = mf_set(p->batch->surface.friction[0]) * rows[0].given / fast;
    rows[1].given = -slip * x;
    rows[2].given = -slip * y;
}

// Inverse of the larger eigenvalue of the products of two rows: isotropic, so that sliding friction
// opposes the slip exactly.
static mf_lane gain_across(const Couple *c, const Row *rows) {
    const mf_lane tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON), half = mf_set((mf_real)0.5);
    mf_lane coupling = row_product(c, &rows[0], &rows[1]);
    mf_lane mean = half * (rows[0].diagonal + rows[1].diagonal);
    mf_lane off = half * (rows[0].diagonal - rows[1].diagonal);
    mf_lane largest = mean + mf_sqrt(mf_fma(off, off, coupling * coupling));
    return mf_set((mf_real)1) / mf_max(largest, tiny);
}

static void make_contact_rows(Couple *c, const State *state, const ContactBatch *batch,
                              mf_mask lanes, mf_lane unit, bool is_explicit,
                              ContactResult *contact) {
    const uint32_t rows = batch->surface.rows;
    Pairing p;
    pair_up(c->plan, state, c->work, batch, lanes, &p);
    *contact = MF_VALUE(ContactResult, .batch = batch, .lanes = p.exists, .first = c->row_count);
    Row *first = &c->rows[contact->first];
    Vec *axes = contact->axes;
    axes[0] = p.normal;
    across(p.normal, axes + 1);
    contact_row_count(c, state, &p, axes, rows == 1 ? 1 : 3, false, unit, is_explicit);
    normal_law(c, &p, unit, is_explicit, first);
    contact->ease = mf_set((mf_real)1) / mf_fma(first->slope, first->diagonal, mf_set((mf_real)1));
    if (rows == 1)
        return;
    if (is_explicit) {
        explicit_friction(c, &p, axes, first);
        return;
    }
    contact->gain[0] = gain_across(c, first + 1);
    for (int i = 0; i < 2; i++)
        contact->tilt[i] = row_product(c, first, first + 1 + i);
    if (rows > 3)
        contact_row_count(c, state, &p, axes, rows == 6 ? 3 : 1, true, unit, is_explicit);
    if (rows == 6)
        contact->gain[1] = gain_across(c, first + 4);
}

// ---- solving ------------------------------------------------------------------------------------

static MF_INLINE void relax_one(Couple *c, Row *row, mf_lane ease) {
    mf_lane value = mf_fma(-row->diagonal, row->impulse, row_value(c, row));
    mf_lane next = mf_fma(-row->slope, value, row->given) * ease;
    row_add(c, row, mf_clamp(next, row->low, row->high) - row->impulse);
}

static MF_INLINE void relax(Couple *c, Row *row) {
    relax_one(c, row, mf_set((mf_real)1) / mf_fma(row->slope, row->diagonal, mf_set((mf_real)1)));
}

// The first three rows of a contact run over the same links, so one pass sums their values and one
// applies their impulses.
static void three_values(const Couple *c, const Row *rows, mf_lane value[3]) {
    const uint32_t count = rows->count;
    const mf_lane *w = &c->arena[rows->first];
    const uint16_t *slot = &c->slot[rows->offset];
    mf_lane a = rows[0].value, b = rows[1].value, d = rows[2].value;
    for (uint32_t i = 0; i < count; i++) {
        mf_lane sum = c->sum[slot[i]];
        a = mf_fma(w[i], sum, a);
        b = mf_fma(w[count + i], sum, b);
        d = mf_fma(w[2 * count + i], sum, d);
    }
    value[0] = a;
    value[1] = b;
    value[2] = d;
}

static void three_add(Couple *c, Row *rows, const mf_lane change[3]) {
    const uint32_t count = rows->count;
    const mf_lane *w = &c->arena[rows->first];
    const uint16_t *slot = &c->slot[rows->offset];
    for (uint32_t i = 0; i < count; i++) {
        mf_lane sum = mf_fma(w[i], change[0], c->sum[slot[i]]);
        sum = mf_fma(w[count + i], change[1], sum);
        c->sum[slot[i]] = mf_fma(w[2 * count + i], change[2], sum);
    }
    for (int k = 0; k < 3; k++)
        rows[k].impulse = rows[k].impulse + change[k];
}

// Scales both impulses into their ellipse. Roots and quotients are computed only if a lane slips;
// others keep their bits.
static MF_INLINE void hold_across(mf_lane *p, mf_lane *q, const mf_real friction[2], mf_lane load) {
    mf_lane u = *p * mf_set((mf_real)1 / friction[0]), v = *q * mf_set((mf_real)1 / friction[1]);
    mf_lane square = mf_fma(u, u, v * v);
    mf_mask slips = mf_less(load * load, square);
    if (!mf_any(slips))
        return;
    mf_lane part = load / mf_sqrt(mf_select(slips, square, mf_set((mf_real)1)));
    *p = mf_select(slips, *p * part, *p);
    *q = mf_select(slips, *q * part, *q);
}

static void relax_three(Couple *c, const ContactResult *contact) {
    Row *rows = &c->rows[contact->first];
    mf_lane value[3], change[3];
    three_values(c, rows, value);
    mf_lane next = mf_fma(-rows[0].slope, mf_fma(-rows[0].diagonal, rows[0].impulse, value[0]),
                          rows[0].given) *
                   contact->ease;
    next = mf_clamp(next, rows[0].low, rows[0].high);
    change[0] = next - rows[0].impulse;
    mf_lane x = mf_fma(contact->tilt[0], change[0], value[1]);
    mf_lane y = mf_fma(contact->tilt[1], change[0], value[2]);
    mf_lane p = mf_fma(-contact->gain[0], x, rows[1].impulse);
    mf_lane q = mf_fma(-contact->gain[0], y, rows[2].impulse);
    hold_across(&p, &q, contact->batch->surface.friction, next);
    change[1] = p - rows[1].impulse;
    change[2] = q - rows[2].impulse;
    three_add(c, rows, change);
}

static void relax_rolling(Couple *c, const ContactResult *contact) {
    const Surface *surface = &contact->batch->surface;
    Row *rows = &c->rows[contact->first];
    mf_lane load = rows[0].impulse;
    mf_lane most = mf_set(surface->friction[2]) * load;
    mf_lane size = mf_max(rows[3].diagonal, mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON));
    mf_lane torsion = rows[3].impulse - row_value(c, &rows[3]) / size;
    row_add(c, &rows[3], mf_clamp(torsion, -most, most) - rows[3].impulse);
    if (surface->rows < 6)
        return;
    mf_lane p = mf_fma(-contact->gain[1], row_value(c, &rows[4]), rows[4].impulse);
    mf_lane q = mf_fma(-contact->gain[1], row_value(c, &rows[5]), rows[5].impulse);
    hold_across(&p, &q, surface->friction + 3, load);
    row_add(c, &rows[4], p - rows[4].impulse);
    row_add(c, &rows[5], q - rows[5].impulse);
}

static void relax_contact(Couple *c, const ContactResult *contact, bool is_explicit) {
    const uint32_t count = contact->batch->surface.rows;
    Row *rows = &c->rows[contact->first];
    if (is_explicit) { // the forces are given, without torsion and rolling
        for (uint32_t i = 0; i < least(count, 3); i++)
            row_add(c, &rows[i], rows[i].given - rows[i].impulse);
        return;
    }
    if (count == 1) {
        relax_one(c, rows, contact->ease);
        return;
    }
    relax_three(c, contact);
    if (count > 3)
        relax_rolling(c, contact);
}
