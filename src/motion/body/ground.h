// Contacts of driven robots with the ground: all act on one body, whose six accelerations are the
// only unknowns. The laws are those of articulated/contact.h at the end of the step, in world axes
// about the base's origin: a contact at r with the velocity p without the base's acceleration (a,
// b) has
//     v' = p + dt (a + b x r),    force = push n - C v',    C = s 1 + (drag - s) n n^T .
//
// Normal force of `prescribed`: that of `articulated`. Of `rigid` (Friedmann, Petersen and von
// Stryk 2008, equation 4): k d on approach and z k d on separation. At rest any force between is
// possible; here k d (1 - (1 - z) g) with g = v' / max(v', ease), by its chord at an estimate of
// v', so that bodies rest at k d, forces are continuous, and a body that was pressed deeper rises
// to rest as if damped. Friction (equation 5): proportional to load and slip below the slip speed,
// to the load alone above (Coulomb); likewise against torsion.
#pragma once

#include "motion/articulated/tree/six.h"
#include "motion/body/body.h"
#include "motion/warn.h"

typedef struct Stance { // a link with contacts, or between one and the base
    Pose pose;
    Pose rotated_pose; // at the end of the step (articulated/contact.h)
    Vec from;          // [m] of its origin, from the base's
    Vec rate,
        angular_acceleration; // [rad/s], [rad/s^2] for a base that does not accelerate; world axes
    Vec acceleration;         // [m/s^2] of its origin, likewise
} Stance;

typedef struct ContactPoint {  // a contact that may touch
    uint32_t number;           // [1]
    mf_mask may, presses;      // lanes
    Vec arm;                   // [m] from the base's origin, world axes like all
    Vec normal;                // [1]
    Vec ahead;                 // [m/s] p
    mf_lane depth;             // [m]
    mf_lane climb, slides;     // [m/s] along the normal and across it, at the beginning
    mf_lane rise;              // [m/s] along the normal at the end, estimated
    mf_lane fast;              // [m/s] across it; at least the slip speed
    mf_lane load;              // [N] for friction
    mf_lane force, drag, slip; // [N], [N s/m], [N s/m]
    bool rotates;
    Vec rate;              // [rad/s] of its link at the end without the base's acceleration
    mf_lane spins, rolls;  // [rad/s] about the normal and across it
    mf_lane torsion, roll; // [N m s]
} ContactPoint;

typedef struct Ground {
    Stance *of; // by depth: of the present link and those that carry it
    ContactPoint *contact_points;
    uint32_t contact_count;
    bool implicit;
    TouchMemo memo;
    mf_lane *loads, *climbs; // memory of ground_revise, per point
} Ground;

static inline void ground_carve(const mf_ArtPlan *plan, mf_Carver *carver, Ground *ground) {
    MF_CARVE(carver, ground->of, plan->link_count + 1);
    MF_CARVE(carver, ground->contact_points, plan->contact_count);
    MF_CARVE(carver, ground->loads, plan->contact_count);
    MF_CARVE(carver, ground->climbs, plan->contact_count);
}

typedef struct Six { // m x = r for x = (b, a): lower half of a symmetric matrix
    mf_lane m[6][6], r[6];
} Six;

// ---- poses of links -----------------------------------------------------------------------------

static MF_INLINE Vec position_of(const mf_ArtLink *link, const mf_real *c, const Mat *rotation) {
    return MF_VALUE(
        Vec,
        position_dot_add(link, c, MF_VALUE(Vec, rotation->xx, rotation->xy, rotation->xz),
                         mf_zero()),
        position_dot_add(link, c, MF_VALUE(Vec, rotation->yx, rotation->yy, rotation->yz),
                         mf_zero()),
        position_dot_add(link, c, MF_VALUE(Vec, rotation->zx, rotation->zy, rotation->zz),
                         mf_zero()));
}

// Rows of a rotation are vectors of the world in the link's axes.
static MF_INLINE Mat rotation_of(const mf_DrivenPlan *plan, uint32_t l, const Limbs *limbs,
                                 const Mat *parent) {
    Vec x = into_limb(plan, l, limbs, MF_VALUE(Vec, parent->xx, parent->xy, parent->xz));
    Vec y = into_limb(plan, l, limbs, MF_VALUE(Vec, parent->yx, parent->yy, parent->yz));
    Vec z = limbs->of[l + 1].up;
    return MF_VALUE(Mat, x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z);
}

static MF_INLINE void stance_find(const mf_DrivenPlan *plan, const State *state,
                                  const mf_lane *given, uint32_t l, const Limbs *limbs,
                                  Ground *ground) {
    const mf_ArtLink *link = &mf_art_links(mf_driven_art(plan))[l];
    const mf_real *c = link_constants(mf_driven_art(plan), l);
    const Stance *parent = &ground->of[link->depth];
    Stance *own = &ground->of[link->depth + 1];
    own->pose.rotation = rotation_of(plan, l, limbs, &parent->pose.rotation);
    Vec direction = position_of(link, c, &parent->pose.rotation), slide = vec_zero();
    const Mat *rotation = &own->pose.rotation;
    const Vec axis = {rotation->xz, rotation->yz, rotation->zz};
    own->rate = parent->rate;
    own->angular_acceleration = parent->angular_acceleration;
    own->acceleration = parent->acceleration;
    if (link->kind == MF_ART_HINGE) {
        const Vec rotated = vec_scale(axis, state->speed[l]);
        own->angular_acceleration = vec_cross_add(
            parent->rate, rotated, vec_fma(axis, given[l], own->angular_acceleration));
        own->rate = vec_add(parent->rate, rotated);
    } else if (link->kind == MF_ART_SLIDE) {
        direction = vec_fma(axis, limbs->of[l + 1].direction, direction);
        slide = vec_scale(axis, state->speed[l]);
        own->acceleration = vec_fma(axis, given[l], own->acceleration);
        own->acceleration = vec_cross_add(parent->rate, vec_add(slide, slide), own->acceleration);
    }
    const Vec swing = vec_cross(parent->rate, direction);
    own->from = vec_add(parent->from, direction);
    own->pose.speed = vec_add(parent->pose.speed, vec_add(swing, slide));
    own->acceleration =
        vec_cross_add(parent->rate, swing,
                      vec_cross_add(parent->angular_acceleration, direction, own->acceleration));
}

// ---- contacts -----------------------------------------------------------------------------------

// Sets the forces from the loads and estimates.
static MF_INLINE void contact_point_set(const mf_DrivenPlan *plan, mf_lane step,
                                        ContactPoint *contact_point) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    const mf_real *c = contact_constants(art, contact_point->number);
    const mf_lane zero = mf_zero(), stiffness = mf_set(c[MF_ART_TOUCH_FORCE]);
    const mf_lane in = mf_min(contact_point->depth, deepest_of(art, contact_point->number));
    contact_point->force = stiffness * in;
    if (plan->bounces) {
        // The chord: lost * v' / quick, lost = (1 - z) k d where the contact separates.
        const mf_lane slow = driven_setting(plan, MF_DRIVEN_EASE), one = mf_set((mf_real)1);
        mf_lane gain = mf_max(contact_point->rise, zero) / mf_max(contact_point->rise, slow);
        mf_lane share = one - driven_setting(plan, MF_DRIVEN_SEPARATION);
        mf_lane lost =
            mf_keep(mf_less(zero, contact_point->rise), share * mf_max(contact_point->force, zero));
        contact_point->drag = step * stiffness * mf_fma(-share, gain, one);
        contact_point->drag = contact_point->drag + lost / mf_max(contact_point->rise, slow);
    } else {
        contact_point->force = mf_fma(mf_set(c[MF_ART_TOUCH_BRAKE]),
                                      mf_min(contact_point->depth, zero), contact_point->force);
        contact_point->drag = mf_fma(step, stiffness, mf_set(c[MF_ART_TOUCH_DRAG]));
        if (mf_art_contacts(art)[contact_point->number].heavy) {
            mf_lane mass =
                mf_keep(mf_less(zero, contact_point->depth), mf_set(c[MF_ART_TOUCH_MASS]));
            contact_point->force = mf_fma(mass, contact_point->climb, contact_point->force);
            contact_point->drag = contact_point->drag + mass;
        }
    }
    contact_point->slip =
        mf_set(c[MF_ART_TOUCH_SLIDING]) * contact_point->load / contact_point->fast;
    if (contact_point->rotates) {
        contact_point->torsion =
            mf_set(c[MF_ART_TOUCH_TORSION]) * contact_point->load / contact_point->spins;
        contact_point->roll =
            mf_set(c[MF_ART_TOUCH_ROLLING]) * contact_point->load / contact_point->rolls;
    }
}

// Depth of a contact with this center (world axes, about the link's origin), its arm, and its pivot
// (touch_pivot).
static MF_INLINE mf_lane contact_point_depth(const mf_ArtPlan *art, uint32_t number,
                                             const Stance *stance, Vec center, mf_lane step,
                                             TouchMemo *memo, ContactPoint *contact_point, Vec *own,
                                             Vec *pivot) {
    const mf_ArtContact *contact = &mf_art_contacts(art)[number];
    const mf_real *c = contact_constants(art, number);
    const bool ball = contact->kind == MF_TOUCH_BALL;
    if (art->level && ball && c[3] <= 0) {
        *own = *pivot = center;
        contact_point->normal = MF_VALUE(Vec, mf_zero(), mf_zero(), mf_set((mf_real)1));
        return setting(art, MF_ART_HIGHEST) - (stance->pose.position.z + own->z);
    }
    Touch touch;
    touch.may = contact_point->may;
    const Pose *pose = ball ? &stance->pose : &stance->rotated_pose;
    mf_lane depth = contact_depth(art, contact, c, pose, memo, &touch);
    contact_point->may = touch.may;
    *own = mat_apply(&pose->rotation, touch.arm);
    *pivot = mat_apply(&stance->pose.rotation, touch_pivot(art, number));
    contact_point->normal = mat_apply(&pose->rotation, touch.normal);
    return ball
               ? depth
               : mf_fma(step, vec_dot(vec_cross(stance->rate, *own), contact_point->normal), depth);
}

static MF_INLINE void contact_point_torques(const mf_ArtPlan *art, const Stance *stance,
                                            mf_lane step, ContactPoint *contact_point) {
    const mf_lane least = setting(art, MF_ART_CREEP);
    mf_lane about = vec_dot(stance->rate, contact_point->normal);
    Vec across = vec_fma(contact_point->normal, -about, stance->rate);
    contact_point->spins = mf_max(mf_abs(about), least);
    contact_point->rolls = mf_max(mf_sqrt(vec_dot(across, across)), least);
    contact_point->rate = vec_fma(stance->angular_acceleration, step, stance->rate);
}

// Adds contact `number` to the contact points when it may touch in some lane.
static MF_INLINE void contact_point_find(const mf_DrivenPlan *plan, const mf_ArtBlock *block,
                                         uint32_t number, const Stance *stance, mf_mask near,
                                         const Vec *weight, mf_lane step, Ground *ground) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    const mf_real *c = contact_constants(art, number);
    const mf_lane zero = mf_zero(), margin = mf_set(c[MF_ART_TOUCH_MARGIN]);
    const Mat *rotation = &stance->pose.rotation;
    ContactPoint *contact_point = &ground->contact_points[ground->contact_count];
    Vec center = mat_apply(rotation, vec_constant(c));
    mf_lane lowest = stance->pose.position.z + center.z - mf_set(c[3]) - margin;
    mf_lane fall = mf_fma(stance->rate.x, center.y, -(stance->rate.y * center.x));
    fall = mf_min(fall + stance->pose.speed.z, zero);
    if (mf_art_contacts(art)[number].kind == MF_TOUCH_HULL)
        lowest = hull_lowest(c, &stance->pose, stance->rate, lowest, &fall);
    // Distance of a fall within the step at a few times gravity.
    const mf_lane dt = setting(art, MF_ART_STEP);
    mf_lane reach = mf_fma(dt, fall - mf_set((mf_real)40) * dt, lowest);
    contact_point->may = mf_and(near, mf_less(reach, setting(art, MF_ART_HIGHEST)));
    if (!mf_any(contact_point->may))
        return;
    Vec own, pivot;
    contact_point->number = number;
    contact_point->depth = contact_point_depth(art, number, stance, center, step, &ground->memo,
                                               contact_point, &own, &pivot) +
                           margin;
    if (!mf_any(contact_point->may))
        return;
    contact_point->arm = vec_add(stance->from, own);
    Vec velocity = vec_cross_add(stance->rate, own, stance->pose.speed);
    contact_point->climb = vec_dot(velocity, contact_point->normal);
    Vec across = vec_fma(contact_point->normal, -contact_point->climb, velocity);
    contact_point->slides = mf_sqrt(vec_dot(across, across));
    Vec swing = vec_cross_add(stance->rate, vec_cross(stance->rate, pivot), *weight);
    swing = vec_cross_add(stance->angular_acceleration, own, vec_add(swing, stance->acceleration));
    contact_point->ahead = vec_fma(swing, step, velocity);
    const mf_lane load = ground->implicit ? row_load(row_of(block, MF_ART_ROW_LOAD), number) : zero;
    const mf_lane slid = ground->implicit ? row_load(row_of(block, MF_ART_ROW_SLIP), number) : zero;
    contact_point->load = load;
    contact_point->rise = contact_point->climb;
    contact_point->fast = mf_max(guess_slip(contact_point->slides, slid, mf_less(zero, load)),
                                 setting(art, MF_ART_SLIP));
    contact_point->rotates = mf_art_contacts(art)[number].rotates;
    if (contact_point->rotates)
        contact_point_torques(art, stance, step, contact_point);
    contact_point->presses =
        mf_less(zero, mf_fma(-step, contact_point->climb, contact_point->depth));
    if (ground->implicit) {
        mf_mask pressed = mf_and(mf_less(zero, load), mf_less(zero, contact_point->depth));
        contact_point->presses = mf_or(contact_point->presses, pressed);
    }
    contact_point_set(plan, step, contact_point);
    if (!ground->implicit) {
        mf_lane now = mf_fma(-contact_point->drag, contact_point->climb, contact_point->force);
        contact_point->load = mf_max(now, zero);
        contact_point->presses = mf_and(contact_point->presses, mf_less(zero, now));
        contact_point_set(plan, step, contact_point);
    }
    contact_point->presses = mf_and(contact_point->presses, contact_point->may);
    ground->contact_count++;
}

// Contacts of a link, in its predicted rotation unless all are balls.
static inline void contact_points_find(const mf_DrivenPlan *plan, const mf_ArtBlock *block,
                                       uint32_t first, uint32_t count, Stance *stance, mf_mask near,
                                       const Vec *weight, mf_lane step, Ground *ground) {
    const mf_ArtContact *contacts = mf_art_contacts(mf_driven_art(plan));
    bool rotated = false;
    for (uint32_t i = first; i < first + count; i++) {
        if (!rotated && contacts[i].kind != MF_TOUCH_BALL) {
            const Mat by = mat_of_rotation(vec_scale(stance->rate, step));
            stance->rotated_pose = stance->pose;
            stance->rotated_pose.rotation = mat_multiply(&by, &stance->pose.rotation);
            rotated = true;
        }
        contact_point_find(plan, block, i, stance, near, weight, step, ground);
    }
}

// `weight`: the acceleration of gravity.
static inline void ground_find(const mf_DrivenPlan *plan, const mf_ArtBlock *block,
                               const State *state, const mf_lane *given, const Limbs *limbs,
                               Vec weight, mf_lane step, Ground *ground) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    ground->contact_count = 0;
    ground->memo.terrain = block->terrain;
    if (!limbs->any)
        return;
    ground->of[0] = MF_VALUE(Stance, .pose = {limbs->world, state->position, state->velocity},
                             .from = vec_zero(), .rate = mat_apply(&limbs->world, state->rate),
                             .angular_acceleration = vec_zero(), .acceleration = vec_zero());
    if (limbs->of[0].close)
        contact_points_find(plan, block, 0, art->base_contacts, &ground->of[0], limbs->of[0].near,
                            &weight, step, ground);
    const mf_ArtLink *links = mf_art_links(art);
    for (uint32_t l = 0; l < art->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Limb *limb = &limbs->of[l + 1];
        if (!limb->posed)
            continue;
        stance_find(plan, state, given, l, limbs, ground);
        if (!limb->close)
            continue;
        Stance *stance = &ground->of[link->depth + 1];
        stance->pose.position = vec_add(ground->of[0].pose.position, stance->from);
        contact_points_find(plan, block, link->first_contact, link->contact_count, stance,
                            limb->near, &weight, step, ground);
    }
}

// ---- forces of contacts -------------------------------------------------------------------------

static MF_INLINE void add_wrench(Vec arm, Vec force, Six *six) {
    six->r[0] = mf_fma(-arm.z, force.y, mf_fma(arm.y, force.z, six->r[0]));
    six->r[1] = mf_fma(-arm.x, force.z, mf_fma(arm.z, force.x, six->r[1]));
    six->r[2] = mf_fma(-arm.y, force.x, mf_fma(arm.x, force.y, six->r[2]));
    six->r[3] = six->r[3] + force.x;
    six->r[4] = six->r[4] + force.y;
    six->r[5] = six->r[5] + force.z;
}

// On level ground C is diagonal.
static MF_INLINE void contact_point_add_level(const ContactPoint *contact_point, mf_lane step,
                                              Six *six) {
    const mf_lane slip = mf_keep(contact_point->presses, contact_point->slip),
                  drag = mf_keep(contact_point->presses, contact_point->drag);
    const Vec r = contact_point->arm;
    add_wrench(r,
               MF_VALUE(Vec, -slip * contact_point->ahead.x, -slip * contact_point->ahead.y,
                        mf_fma(-drag, contact_point->ahead.z,
                               mf_keep(contact_point->presses, contact_point->force))),
               six);
    const mf_lane s = slip * step, d = drag * step;
    const mf_lane sx = s * r.x, sy = s * r.y, sz = s * r.z, dx = d * r.x, dy = d * r.y;
    mf_lane(*m)[6] = six->m;
    m[0][0] = mf_fma(sz, r.z, mf_fma(dy, r.y, m[0][0]));
    m[1][1] = mf_fma(sz, r.z, mf_fma(dx, r.x, m[1][1]));
    m[2][2] = mf_fma(sy, r.y, mf_fma(sx, r.x, m[2][2]));
    m[1][0] = mf_fma(-dx, r.y, m[1][0]);
    m[2][0] = mf_fma(-sx, r.z, m[2][0]);
    m[2][1] = mf_fma(-sy, r.z, m[2][1]);
    m[3][1] = m[3][1] + sz;
    m[3][2] = m[3][2] - sy;
    m[4][0] = m[4][0] - sz;
    m[4][2] = m[4][2] + sx;
    m[5][0] = m[5][0] + dy;
    m[5][1] = m[5][1] - dx;
    m[3][3] = m[3][3] + s;
    m[4][4] = m[4][4] + s;
    m[5][5] = m[5][5] + d;
}

static MF_INLINE void contact_point_add_slope(const ContactPoint *contact_point, mf_lane step,
                                              Six *six) {
    const Vec n = contact_point->normal, r = contact_point->arm;
    const mf_lane slip = mf_keep(contact_point->presses, contact_point->slip);
    const mf_lane more = mf_keep(contact_point->presses, contact_point->drag) - slip;
    const mf_lane climb = vec_dot(n, contact_point->ahead);
    Vec force =
        vec_scale(n, mf_fma(-more, climb, mf_keep(contact_point->presses, contact_point->force)));
    add_wrench(r, vec_fma(contact_point->ahead, -slip, force), six);
    // With q = r x n: (q, n) (q, n)^T more dt is the part along the normal.
    const mf_lane s = slip * step;
    const Vec q = vec_cross(r, n), bent = vec_scale(q, more * step),
              pull = vec_scale(n, more * step);
    const mf_lane sx = s * r.x, sy = s * r.y, sz = s * r.z;
    mf_lane(*m)[6] = six->m;
    m[0][0] = mf_fma(sz, r.z, mf_fma(sy, r.y, mf_fma(bent.x, q.x, m[0][0])));
    m[1][1] = mf_fma(sz, r.z, mf_fma(sx, r.x, mf_fma(bent.y, q.y, m[1][1])));
    m[2][2] = mf_fma(sy, r.y, mf_fma(sx, r.x, mf_fma(bent.z, q.z, m[2][2])));
    m[1][0] = mf_fma(-sx, r.y, mf_fma(bent.x, q.y, m[1][0]));
    m[2][0] = mf_fma(-sx, r.z, mf_fma(bent.x, q.z, m[2][0]));
    m[2][1] = mf_fma(-sy, r.z, mf_fma(bent.y, q.z, m[2][1]));
    m[3][0] = mf_fma(pull.x, q.x, m[3][0]);
    m[3][1] = mf_fma(pull.x, q.y, m[3][1] + sz);
    m[3][2] = mf_fma(pull.x, q.z, m[3][2] - sy);
    m[4][0] = mf_fma(pull.y, q.x, m[4][0] - sz);
    m[4][1] = mf_fma(pull.y, q.y, m[4][1]);
    m[4][2] = mf_fma(pull.y, q.z, m[4][2] + sx);
    m[5][0] = mf_fma(pull.z, q.x, m[5][0] + sy);
    m[5][1] = mf_fma(pull.z, q.y, m[5][1] - sx);
    m[5][2] = mf_fma(pull.z, q.z, m[5][2]);
    m[3][3] = mf_fma(pull.x, n.x, m[3][3] + s);
    m[4][4] = mf_fma(pull.y, n.y, m[4][4] + s);
    m[5][5] = mf_fma(pull.z, n.z, m[5][5] + s);
    m[4][3] = mf_fma(pull.x, n.y, m[4][3]);
    m[5][3] = mf_fma(pull.x, n.z, m[5][3]);
    m[5][4] = mf_fma(pull.y, n.z, m[5][4]);
}

static MF_INLINE void contact_point_add_torques(const ContactPoint *contact_point, mf_lane step,
                                                Six *six) {
    const Vec n = contact_point->normal;
    const mf_lane roll = mf_keep(contact_point->presses, contact_point->roll);
    const mf_lane more = mf_keep(contact_point->presses, contact_point->torsion) - roll;
    const mf_lane about = more * vec_dot(n, contact_point->rate), still = roll * step;
    const Vec bent = vec_scale(n, more * step);
    Vec torque = vec_fma(n, -about, vec_scale(contact_point->rate, -roll));
    mf_lane(*m)[6] = six->m;
    six->r[0] = six->r[0] + torque.x;
    six->r[1] = six->r[1] + torque.y;
    six->r[2] = six->r[2] + torque.z;
    m[0][0] = mf_fma(bent.x, n.x, m[0][0] + still);
    m[1][1] = mf_fma(bent.y, n.y, m[1][1] + still);
    m[2][2] = mf_fma(bent.z, n.z, m[2][2] + still);
    m[1][0] = mf_fma(bent.x, n.y, m[1][0]);
    m[2][0] = mf_fma(bent.x, n.z, m[2][0]);
    m[2][1] = mf_fma(bent.y, n.z, m[2][1]);
}

static inline void ground_add(const mf_DrivenPlan *plan, const Ground *ground, mf_lane step,
                              Six *six) {
    for (uint32_t i = 0; i < ground->contact_count; i++) {
        const ContactPoint *contact_point = &ground->contact_points[i];
        if (mf_driven_art(plan)->level)
            contact_point_add_level(contact_point, step, six);
        else
            contact_point_add_slope(contact_point, step, six);
        if (contact_point->rotates)
            contact_point_add_torques(contact_point, step, six);
    }
}

// Velocity of a contact at the end of the step, with the base's acceleration without gravity.
static MF_INLINE mf_lane contact_point_climb(const ContactPoint *contact_point, mf_lane step,
                                             Vec angular, Vec linear) {
    Vec gain = vec_cross_add(angular, contact_point->arm, linear);
    return vec_dot(vec_fma(gain, step, contact_point->ahead), contact_point->normal);
}

static MF_INLINE mf_lane contact_point_load(const ContactPoint *contact_point, mf_lane climb) {
    return mf_max(mf_fma(-contact_point->drag, climb, contact_point->force), mf_zero());
}

// Updates which contacts press and which separate. False if nothing changed. In lanes with a change
// friction uses the new loads.
static inline bool ground_revise(const mf_DrivenPlan *plan, mf_lane step, Vec angular, Vec linear,
                                 Ground *ground) {
    mf_lane *load = ground->loads, *climb = ground->climbs;
    mf_mask wrong = mf_not(mf_mask_all());
    const mf_lane zero = mf_zero();
    for (uint32_t i = 0; i < ground->contact_count; i++) {
        const ContactPoint *contact_point = &ground->contact_points[i];
        climb[i] = contact_point_climb(contact_point, step, angular, linear);
        load[i] = contact_point_load(contact_point, climb[i]);
        mf_mask presses = mf_and(contact_point->may, mf_less(zero, load[i]));
        wrong = mf_or(wrong, mf_differ(presses, contact_point->presses));
        if (plan->bounces) {
            mf_mask reversed =
                mf_differ(mf_less(zero, climb[i]), mf_less(zero, contact_point->rise));
            mf_mask measurable = mf_less(setting(mf_driven_art(plan), MF_ART_SLIP),
                                         mf_abs(climb[i] - contact_point->rise));
            wrong = mf_or(wrong, mf_and(presses, mf_and(reversed, measurable)));
        }
    }
    if (!mf_any(wrong))
        return false;
    for (uint32_t i = 0; i < ground->contact_count; i++) {
        ContactPoint *contact_point = &ground->contact_points[i];
        mf_mask presses = mf_and(contact_point->may, mf_less(zero, load[i]));
        // A contact that did not press has no load yet: its force at impact speed is not a bound
        // for friction.
        contact_point->load =
            mf_select(wrong, mf_keep(contact_point->presses, load[i]), contact_point->load);
        contact_point->rise = mf_select(wrong, climb[i], contact_point->rise);
        contact_point->presses = presses;
        contact_point_set(plan, step, contact_point);
    }
    return true;
}

// As warn_deep (articulated/robot_step.h).
static inline void ground_warn_deep(const mf_ArtPlan *plan, const Ground *ground,
                                    Warnings *warnings) {
    // Depths beyond the smallest ball, or a millimeter, are rare.
    mf_lane deepest = mf_zero();
    for (uint32_t i = 0; i < ground->contact_count; i++)
        deepest = mf_max(deepest,
                         mf_keep(ground->contact_points[i].may, ground->contact_points[i].depth));
    if (!mf_any(mf_less(mf_set((mf_real)1e-3), deepest)))
        return;
    mf_mask deep = mf_not(mf_mask_all());
    mf_lane most = mf_zero();
    for (uint32_t i = 0; i < ground->contact_count; i++) {
        const ContactPoint *contact_point = &ground->contact_points[i];
        const mf_real radius = contact_constants(plan, contact_point->number)[3];
        const int32_t link = mf_art_contacts(plan)[contact_point->number].link;
        const mf_real *c = link < 0 ? base_constants(plan) : link_constants(plan, (uint32_t)link);
        const mf_lane thick = mf_set(radius > 0 ? radius : c[MF_ART_AROUND]);
        const mf_mask own = mf_and(contact_point->may, mf_less(thick, contact_point->depth));
        deep = mf_or(deep, own);
        most = mf_max(most, mf_keep(own, contact_point->depth));
    }
    warnings_raise(warnings, deep, MF_WARNING_DEPTH, most);
}

// Stored for the next step: final loads, and initial slips.
static inline void ground_loads(const mf_ArtPlan *plan, mf_lane step, Vec angular, Vec linear,
                                Ground *ground, Warnings *warnings) {
    mf_lane wrong = mf_zero(), sum = mf_zero();
    ground_warn_deep(plan, ground, warnings);
    for (uint32_t i = 0; i < ground->contact_count; i++) {
        ContactPoint *contact_point = &ground->contact_points[i];
        const mf_lane climb = contact_point_climb(contact_point, step, angular, linear);
        const mf_lane load = contact_point_load(contact_point, climb);
        const mf_lane pull = load - mf_fma(-contact_point->drag, climb, contact_point->force);
        contact_point->load = mf_keep(contact_point->presses, load);
        contact_point->slides =
            mf_keep(mf_less(mf_zero(), contact_point->load), contact_point->slides);
        wrong = wrong + mf_select(contact_point->presses, pull, mf_keep(contact_point->may, load));
        sum = sum + contact_point->load;
    }
    if (ground->contact_count == 0 || !ground->implicit)
        return;
    const mf_lane weight = setting(plan, MF_ART_ALL_MASS) * setting(plan, MF_ART_GRAVITY);
    const mf_lane part = wrong / mf_max(mf_max(sum, weight), mf_set(MF_REAL_EPSILON));
    warnings_raise(warnings, mf_less(mf_set((mf_real)MF_ART_UNSETTLED), part), MF_WARNING_SOLVER,
                   part);
}
