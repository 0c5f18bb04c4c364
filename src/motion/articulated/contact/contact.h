// Contact with the ground inside the articulated-body passes.
//
// A contact at depth d whose point moves with v exerts the force
//     f = (k d - c v.n) n - s (v - v.n n),    s = mu N / max(u, slip speed)
// where k and c are the stiffness and damping of the plan, N is the load of the previous step
// (Coulomb friction, by its chord to rest), and u the slip at the end of the step, extrapolated
// from |v - v.n n| and its change in the previous step: s times the final slip is then mu N. In an
// implicit step d and v are those of the end, so with v' = v + dt a and d' = d - dt v'.n
//     f = k d n - C v',   C = s 1 + (c + dt k - s) n n^T
// which is a constant force plus dt C added to the link's inertia at the point: stable for every k,
// c and s, since C has no negative eigenvalue. For a point at d < 0 the first term is (k + c / dt)
// d, which gives the force 0 if the step just closes the gap. The active set is estimated from the
// state, and the step is solved again, a few times at most, if it was wrong: the normal force is
// never negative. A lane whose contacts do not change computes the same result again, so lanes do
// not affect each other.
//
// The point of contact is not a material point of the link: on a wheel with the rate w, each point
// of the rim accelerates upwards with w^2 r while the next one comes down, and the wheel stays at
// its height. So an implicit step finds the contacts of a link in its predicted rotation at the end
// of the step. With the arm r in that rotation and d0 the depth of the rotated shape,
//     v' = v + w x r + dt (a + b x r),    d = d0 + dt (w x r).n,    d' = d - dt v'.n
// hold without the centripetal acceleration, for shapes of any curvature and for corners. For a
// ball the rotation can be omitted: its center has the acceleration w x (w x r) to second order.
#pragma once

#include "contact/narrow.h"
#include "motion/articulated/state.h"
#include "motion/steps.h"
#include "terrain/distance_lane.h"

typedef struct Pose {
    Mat rotation; // own axes to world
    Vec position; // [m] world
    Vec speed;    // [m/s] of the origin, world axes
} Pose;

// Only values that cannot be recomputed cheaply, because memory is slower. Members that every pass
// reads come first.
typedef struct Touch {
    bool near;            // some lane may touch
    mf_mask may;          // lanes that may touch
    mf_mask presses;      // lanes in the active set
    mf_lane depth;        // [m]
    mf_lane load;         // [N] for friction
    mf_lane fast;         // [m/s] predicted slip at the end of the step; at least the
                          // slip speed
    Vec arm;              // [m] from the link's origin, its axes
    Vec normal;           // [1] its axes
    mf_lane climb;        // [m/s] along the normal
    mf_lane slides;       // [m/s] across the normal
    mf_lane spins, rolls; // [rad/s] about and across the normal, likewise
} Touch;

// Data common to the contacts of a link, in its axes.
typedef struct Carrier {
    Vec rate;   // [rad/s]
    Vec speed;  // [m/s] of its origin
    Vec weight; // [m/s^2] gravity
} Carrier;

typedef struct Contacts {
    bool any;            // some lane may touch anywhere
    bool implicit;       // the step is
    const mf_real *load; // [N] rows of contact.load, of the previous step
    const mf_real *slip; // [m/s] rows of contact.slip
    const mf_TerrainImage *terrain;
    Pose *pose;   // of link l at l + 1, of the base at 0
    Touch *touch; // per contact with the ground
} Contacts;

// A link in its predicted rotation at the end of the step.
typedef struct RotatedLink {
    Pose pose;    // its axes then
    Mat by;       // from those axes to the present ones
    mf_lane time; // [s] 0: as it is
} RotatedLink;

// Results shared by the contacts of one shape, computed by the first.
typedef struct TouchMemo {
    const mf_TerrainImage *terrain;
    HullCorners corners;
    StepContacts steps;
} TouchMemo;

// Largest number of solutions of one step: a fourth would hardly improve on the third, the second
// has twice its error (docs/explanation/articulated.md).
enum { CONTACT_ROUNDS = 3, DRY_ROUNDS = 8 }; // the latter where joints have dry friction

// ---- where the links are ------------------------------------------------------------------------

// Rotation by the vector `by` [rad]: the axis is exact, the angle correct to fifth order (Cayley's
// formula with the series of the tangent of half the angle).
static MF_INLINE Mat mat_of_rotation(Vec by) {
    const mf_lane one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    Vec q = vec_scale(by, mf_set((mf_real)0.5));
    q = vec_scale(q, mf_fma(vec_dot(q, q), mf_set((mf_real)(1.0 / 3.0)), one));
    const mf_lane square = vec_dot(q, q), f = two / (one + square);
    const Vec p = vec_scale(q, f);
    const mf_lane d = mf_fma(-f, square, one);
    return MF_VALUE(Mat, mf_fma(p.x, q.x, d), mf_fma(p.x, q.y, -p.z), mf_fma(p.x, q.z, p.y),
                    mf_fma(p.x, q.y, p.z), mf_fma(p.y, q.y, d), mf_fma(p.y, q.z, -p.x),
                    mf_fma(p.x, q.z, -p.y), mf_fma(p.y, q.z, p.x), mf_fma(p.z, q.z, d));
}

// `rate`: of the link, its axes.
static MF_INLINE void rotated_set(const Pose *pose, Vec rate, mf_lane time, RotatedLink *out) {
    out->time = time;
    out->by = mat_of_rotation(vec_scale(rate, time));
    out->pose = *pose;
    out->pose.rotation = mat_multiply(&pose->rotation, &out->by);
}

static MF_INLINE const Constant *contact_constants(const mf_ArtPlan *plan, uint32_t i) {
    return plan_constants(plan) + plan->contact_offset + (size_t)i * MF_ART_CONTACT_VALUES;
}

// The same on a map; not inline, so that level ground does not use its stack.
static __attribute__((noinline)) mf_lane
map_depth(const mf_ArtPlan *plan, const mf_TerrainImage *terrain, const Vec *world, Vec *normal) {
    const mf_lane one = mf_set((mf_real)1);
    if (plan->stepped)
        return point_in_steps(terrain, *world, normal);
    const mf_LaneMap map = mf_lane_map(terrain);
    if (map.ends)
        return -mf_map_distance(&map, *world, 0, normal);
    mf_lane slope_x, slope_y;
    mf_lane height = mf_map_surface(&map, world->x, world->y, &slope_x, &slope_y);
    mf_lane length = one / mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
    *normal = MF_VALUE(Vec, -slope_x * length, -slope_y * length, length);
    return (height - world->z) * normal->z;
}

// Depth of a world position in the ground, along the unit normal there.
static MF_INLINE mf_lane ground_depth(const mf_ArtPlan *plan, const mf_TerrainImage *terrain,
                                      Vec world, Vec *normal) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    if (!plan->level)
        return map_depth(plan, terrain, &world, normal);
    *normal = MF_VALUE(Vec, zero, zero, one);
    return setting(plan, MF_ART_HIGHEST) - world.z;
}

// A point of a cylinder's rims, in the link's axes as the ground's normal `up`.
static MF_INLINE Vec rim_point(const mf_ArtContact *contact, const Constant *c, Vec up) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_lane radius = constant_at(c, MF_ART_TOUCH_SIZE),
                  tall = constant_at(c, MF_ART_TOUCH_SIZE + 2);
    const Mat frame = mat_constant(c + MF_ART_TOUCH_FRAME);
    const Vec side = {frame.xx, frame.yx, frame.zx}, axis = {frame.xz, frame.yz, frame.zz};
    mf_lane climbs = vec_dot(axis, up);
    mf_lane end = mf_select(mf_less(zero, climbs), -tall, tall); // of the lower rim
    // A disc that lies has no lowest point, so a little of its x axis decides.
    Vec out = vec_fma(axis, climbs, vec_negative(up));
    out = vec_fma(side, mf_set((mf_real)1e-6), out);
    out = vec_scale(out, one / mf_sqrt(vec_dot(out, out)));
    if (contact->part >= 2) {
        const mf_real wide = (mf_real)0.86602540378443864676; // sine of 120 degrees
        Vec across = vec_scale(vec_cross(axis, out), mf_set(contact->part == 2 ? wide : -wide));
        out = vec_fma(out, mf_set((mf_real)-0.5), across);
    }
    Vec center = vec_fma(axis, contact->part == 1 ? -end : end, vec_constant(c));
    return vec_fma(out, radius, center);
}

// The lanes in which a corner is on the lower half of its box.
static MF_INLINE mf_mask is_lower(const Constant *c, Vec up) {
    const Mat frame = mat_constant(c + MF_ART_TOUCH_FRAME);
    Vec out = mat_apply(&frame, vec_constant(c + MF_ART_TOUCH_SIZE));
    return mf_less_equal(vec_dot(out, up), mf_zero());
}

// The ground's normal at a position of the link, in its axes, and the depth along it [m].
static MF_INLINE mf_lane ground_over(const mf_ArtPlan *plan, const mf_TerrainImage *terrain,
                                     const Pose *pose, Vec point, Vec *normal) {
    Vec up;
    mf_lane depth =
        ground_depth(plan, terrain, mat_apply_add(&pose->rotation, point, pose->position), &up);
    *normal = mat_apply_transposed(&pose->rotation, up);
    return depth;
}

// The same on a map by the distance to the ground: a round shape about the point touches the
// nearest plane of the ground, which moves continuously with it. `reach` [m]: its largest radius.
static __attribute__((noinline)) mf_lane map_around(const mf_TerrainImage *terrain,
                                                    const Pose *pose, const Vec *point,
                                                    mf_real reach, Vec *normal) {
    const mf_LaneMap map = mf_lane_map(terrain);
    Vec up;
    const Vec world = mat_apply_add(&pose->rotation, *point, pose->position);
    const mf_lane distance = mf_map_distance(&map, world, reach, &up);
    *normal = mat_apply_transposed(&pose->rotation, up);
    return -distance;
}

static MF_INLINE mf_lane ground_around(const mf_ArtPlan *plan, const mf_TerrainImage *terrain,
                                       const Pose *pose, Vec point, mf_real reach, Vec *normal) {
    return plan->level || !(reach > 0) ? ground_over(plan, terrain, pose, point, normal)
                                       : map_around(terrain, pose, &point, reach, normal);
}

// Corners of a hull at the ground. On a map the plane is that below the center of the hull, or that
// below its lowest corner if this is deeper.
static MF_INLINE void hull_find(const mf_ArtPlan *plan, const mf_TerrainImage *terrain,
                                const mf_ArtContact *contact, const Constant *c, const Pose *pose,
                                mf_mask where, HullCorners *corners) {
    const mf_ConvexHull *hull = mf_hull_of(mf_art_hulls(plan), contact->hull);
    const Mat frame = mat_constant(c + MF_ART_TOUCH_FRAME);
    const Vec center = vec_constant(c);
    Vec up;
    ground_over(plan, terrain, pose, center, &up);
    MF_KERNEL(mf_hull_on_plane)(hull, where, mat_apply_transposed(&frame, up), corners);
    if (plan->level)
        return;
    HullCorners other;
    mf_lane depth = mf_set(-MF_REAL_MAX), deeper = depth;
    for (int k = 0; k < 4; k++) {
        Vec at = mat_apply_add(&frame, corners->at[k], center), normal;
        mf_lane own = ground_over(plan, terrain, pose, at, &normal);
        mf_mask better = mf_and(corners->exists[k], mf_less(depth, own));
        depth = mf_select(better, own, depth);
        up = vec_select(better, normal, up);
    }
    MF_KERNEL(mf_hull_on_plane)(hull, where, mat_apply_transposed(&frame, up), &other);
    for (int k = 0; k < 4; k++) {
        Vec at = mat_apply_add(&frame, other.at[k], center), normal;
        mf_lane own = ground_over(plan, terrain, pose, at, &normal);
        deeper = mf_select(other.exists[k], mf_max(own, deeper), deeper);
    }
    mf_mask better = mf_less(depth, deeper);
    for (int k = 0; k < 4; k++) {
        corners->at[k] = vec_select(better, other.at[k], corners->at[k]);
        corners->exists[k] =
            mf_or(mf_and(better, other.exists[k]), mf_and(mf_not(better), corners->exists[k]));
    }
}

// A ball on a map of steps. Its first contact is with the column under its center; the others with
// the sides and edges of higher columns around it.
static MF_INLINE mf_lane ball_on_steps(const mf_ArtPlan *plan, const mf_ArtContact *contact,
                                       const Constant *c, const Pose *pose, TouchMemo *memo,
                                       Touch *touch) {
    const Vec world = mat_apply_add(&pose->rotation, vec_constant(c), pose->position);
    const mf_lane radius = constant_at(c, 3);
    if (contact->part == 1)
        steps_around(memo->terrain, world, radius, constant_shared(c, 3), &memo->steps);
    Vec up;
    mf_lane depth;
    if (contact->part == 0) {
        depth = ground_depth(plan, memo->terrain, world, &up) + radius;
    } else {
        up = memo->steps.normal[contact->part - 1];
        const mf_mask exists = memo->steps.exists[contact->part - 1];
        depth = mf_select(exists, memo->steps.depth[contact->part - 1], -radius);
        touch->may = mf_and(touch->may, exists);
    }
    touch->normal = mat_apply_transposed(&pose->rotation, up);
    return depth;
}

// Deepest point of a contact, from the link's origin and in its axes, and its depth.
static MF_INLINE mf_lane contact_depth(const mf_ArtPlan *plan, const mf_ArtContact *contact,
                                       const Constant *c, const Pose *pose, TouchMemo *memo,
                                       Touch *touch) {
    const mf_TouchKind kind = contact->kind;
    HullCorners *corners = &memo->corners;
    const Vec center = vec_constant(c);
    Vec point = center;
    if (kind == MF_TOUCH_HULL) {
        const Mat frame = mat_constant(c + MF_ART_TOUCH_FRAME);
        if (contact->part == 0)
            hull_find(plan, memo->terrain, contact, c, pose, touch->may, corners);
        point = mat_apply_add(&frame, corners->at[contact->part], center);
        touch->may = mf_and(touch->may, corners->exists[contact->part]);
    }
    const mf_real radius = constant_shared(c, 3);
    const mf_real round = radius > 0 ? radius + constant_shared(c, MF_ART_TOUCH_MARGIN) : 0;
    mf_lane depth;
    touch->arm = point;
    if (kind == MF_TOUCH_BALL) {
        depth = plan->stepped && radius > 0
                    ? ball_on_steps(plan, contact, c, pose, memo, touch)
                    : ground_around(plan, memo->terrain, pose, point, round, &touch->normal) +
                          constant_at(c, 3);
        touch->arm = vec_fma(touch->normal, -constant_at(c, 3), center);
        return depth;
    }
    depth = kind == MF_TOUCH_OVAL
                ? ground_around(plan, memo->terrain, pose, point, round, &touch->normal)
                : ground_over(plan, memo->terrain, pose, point, &touch->normal);
    const Vec up = touch->normal;
    if (kind == MF_TOUCH_OVAL) {
        const Sym squares = sym_constant(c + MF_ART_TOUCH_FRAME);
        const Vec reach = sym_apply(&squares, up);
        const mf_lane far = mf_sqrt(vec_dot(reach, up));
        touch->arm = vec_fma(reach, mf_set((mf_real)-1) / far, center);
        return depth + far;
    }
    // At steps corners of both halves may be in a side or below an edge.
    if (kind == MF_TOUCH_CORNER && !plan->stepped)
        touch->may = mf_and(touch->may, is_lower(c, up));
    if (kind == MF_TOUCH_RIM) {
        touch->arm = rim_point(contact, c, up);
        depth = ground_over(plan, memo->terrain, pose, touch->arm, &touch->normal);
    }
    return depth;
}

// The point whose centripetal acceleration a contact has: a ball's center, else the link's origin.
// From the link's origin, in its axes.
static MF_INLINE Vec touch_pivot(const mf_ArtPlan *plan, uint32_t i) {
    return mf_art_contacts(plan)[i].kind == MF_TOUCH_BALL ? vec_constant(contact_constants(plan, i))
                                                          : vec_zero();
}

// The contact of a link in its predicted rotation, in the link's present axes. Returns its depth at
// the end of the step, for the velocity there.
static MF_INLINE mf_lane rotated_depth(const mf_ArtPlan *plan, uint32_t i,
                                       const RotatedLink *rotated, Vec rate, TouchMemo *memo,
                                       Touch *touch) {
    const mf_lane depth = contact_depth(plan, &mf_art_contacts(plan)[i], contact_constants(plan, i),
                                        &rotated->pose, memo, touch);
    touch->arm = mat_apply(&rotated->by, touch->arm);
    touch->normal = mat_apply(&rotated->by, touch->normal);
    return mf_fma(rotated->time, vec_dot(vec_cross(rate, touch->arm), touch->normal), depth);
}

static MF_INLINE Vec touch_velocity(const Touch *touch, const Carrier *carrier) {
    return vec_cross_add(carrier->rate, touch->arm, carrier->speed);
}

// [m] Depth up to which the force grows.
static MF_INLINE mf_lane deepest_of(const mf_ArtPlan *plan, uint32_t i) {
    return setting(plan, mf_art_contacts(plan)[i].heavy ? MF_ART_DEEP_STATED : MF_ART_DEEP);
}

// Normal force of an active contact at rest at the end of the step, and its decrease per speed: a
// spring and damper, and an added mass if the file requests it.
typedef struct Press {
    mf_lane force; // [N] k d
    mf_lane drag;  // [N s/m]
} Press;

static MF_INLINE Press touch_press(const mf_ArtPlan *plan, uint32_t i, const Touch *touch,
                                   mf_lane step) {
    const Constant *c = contact_constants(plan, i);
    const mf_lane zero = mf_zero(), stiffness = constant_at(c, MF_ART_TOUCH_FORCE);
    mf_lane load = stiffness * mf_min(touch->depth, deepest_of(plan, i));
    Press press;
    press.force = mf_fma(constant_at(c, MF_ART_TOUCH_BRAKE), mf_min(touch->depth, zero), load);
    press.drag = mf_fma(step, stiffness, constant_at(c, MF_ART_TOUCH_DRAG));
    if (mf_art_contacts(plan)[i].heavy) {
        // Only below the surface: a mass added at touch-down would absorb the momentum of an
        // impact.
        mf_lane mass = mf_keep(mf_less(zero, touch->depth), constant_at(c, MF_ART_TOUCH_MASS));
        press.force = mf_fma(mass, touch->climb, press.force);
        press.drag = press.drag + mass;
    }
    return press;
}

// [N s/m] Across the normal.
static MF_INLINE mf_lane touch_slip(const Constant *c, const Touch *touch) {
    return constant_at(c, MF_ART_TOUCH_SLIDING) * touch->load / touch->fast;
}

// [N m s] Against torsion about the normal, and across it.
static MF_INLINE mf_lane touch_torsion(const Constant *c, const Touch *touch) {
    return constant_at(c, MF_ART_TOUCH_TORSION) * touch->load / touch->spins;
}
static MF_INLINE mf_lane touch_roll(const Constant *c, const Touch *touch) {
    return constant_at(c, MF_ART_TOUCH_ROLLING) * touch->load / touch->rolls;
}

// Angular velocity of the link relative to the ground.
static MF_INLINE void touch_torques(const mf_ArtPlan *plan, Vec rate, Touch *touch) {
    const mf_lane least = setting(plan, MF_ART_CREEP);
    mf_lane about = vec_dot(rate, touch->normal);
    Vec across = vec_fma(touch->normal, -about, rate);
    touch->spins = mf_max(mf_abs(about), least);
    touch->rolls = mf_max(mf_sqrt(vec_dot(across, across)), least);
}

// Speed along the ground at the end of the step, extrapolated from the previous step, so that the
// chord of friction has the correct force at the end. At least a quarter of the present speed,
// since an impact may have ended; a first touch has no previous step.
static MF_INLINE mf_lane guess_slip(mf_lane now, mf_lane before, mf_mask known) {
    mf_lane next = mf_max(now + now - before, mf_set((mf_real)0.25) * now);
    return mf_select(known, next, now);
}

// Lower bound of a hull's height by its bounding box, and upper bound of the falling speed of its
// points.
static MF_INLINE mf_lane hull_lowest(const Constant *c, const Pose *pose, Vec rate, mf_lane ball,
                                     mf_lane *fall) {
    const Mat frame = mat_constant(c + MF_ART_TOUCH_FRAME);
    const Vec up = mat_apply_transposed(
        &frame, MF_VALUE(Vec, pose->rotation.zx, pose->rotation.zy, pose->rotation.zz));
    const Vec size = vec_constant(c + MF_ART_TOUCH_SIZE);
    mf_lane height = vec_dot(MF_VALUE(Vec, mf_abs(up.x), mf_abs(up.y), mf_abs(up.z)), size);
    *fall = mf_fma(-mf_sqrt(vec_dot(rate, rate)), constant_at(c, 3), *fall);
    return ball + mf_max(constant_at(c, 3) - height, mf_zero());
}

// `rotated`: NULL for contacts that are found where the link is.
static MF_INLINE void touch_find(const mf_ArtPlan *plan, uint32_t i, const Pose *pose,
                                 const RotatedLink *rotated, Vec rate, mf_lane load, mf_lane slid,
                                 mf_lane step, bool implicit, TouchMemo *memo, Touch *touch) {
    const Constant *c = contact_constants(plan, i);
    const mf_lane zero = mf_zero(), margin = constant_at(c, MF_ART_TOUCH_MARGIN);
    touch->near = false;
    Vec center = vec_constant(c);
    mf_lane lowest =
        vec_dot_add(MF_VALUE(Vec, pose->rotation.zx, pose->rotation.zy, pose->rotation.zz), center,
                    pose->position.z) -
        constant_at(c, 3) - margin;
    Vec velocity = vec_cross_add(rate, center, mat_apply_transposed(&pose->rotation, pose->speed));
    mf_lane fall =
        vec_dot(MF_VALUE(Vec, pose->rotation.zx, pose->rotation.zy, pose->rotation.zz), velocity);
    if (mf_art_contacts(plan)[i].kind == MF_TOUCH_HULL)
        lowest = hull_lowest(c, pose, rate, lowest, &fall);
    // Distance of a fall within the step at a few times gravity.
    mf_lane reach = mf_fma(step, mf_min(fall, zero) - mf_set((mf_real)40) * step, lowest);
    touch->may = mf_less(reach, setting(plan, MF_ART_HIGHEST));
    if (!mf_any(touch->may))
        return;
    touch->depth = margin + (rotated != NULL ? rotated_depth(plan, i, rotated, rate, memo, touch)
                                             : contact_depth(plan, &mf_art_contacts(plan)[i], c,
                                                             pose, memo, touch));
    touch->near = mf_any(touch->may);
    if (!touch->near)
        return;
    if (plan->law) // MuJoCo's contacts are at half of the depth
        touch->arm =
            vec_fma(touch->normal, (touch->depth - margin) * mf_set((mf_real)0.5), touch->arm);
    velocity = vec_cross_add(rate, touch->arm, mat_apply_transposed(&pose->rotation, pose->speed));
    const mf_lane climb = touch->climb = vec_dot(velocity, touch->normal);
    Vec across = vec_fma(touch->normal, -climb, velocity);
    touch->slides = mf_sqrt(vec_dot(across, across));
    if (plan->law) // problem_points.h
        return;
    touch->fast =
        mf_max(guess_slip(touch->slides, slid, mf_less(zero, load)), setting(plan, MF_ART_SLIP));
    if (mf_art_contacts(plan)[i].rotates)
        touch_torques(plan, rate, touch);
    touch->load = load;
    touch->presses = mf_less(zero, mf_fma(-step, climb, touch->depth));
    if (implicit) {
        mf_mask pressed = mf_and(mf_less(zero, load), mf_less(zero, touch->depth));
        touch->presses = mf_or(touch->presses, pressed);
    } else {
        mf_lane now = mf_min(touch->depth, deepest_of(plan, i));
        now = mf_fma(-constant_at(c, MF_ART_TOUCH_DRAG), climb,
                     constant_at(c, MF_ART_TOUCH_FORCE) * now);
        touch->load = mf_max(now, zero);
        touch->presses = mf_and(touch->presses, mf_less(zero, now));
    }
    touch->presses = mf_and(touch->presses, touch->may);
    if (plan->hard) // as a coupling
        touch->presses = mf_not(mf_mask_all());
}

static MF_INLINE void pose_link(const mf_ArtPlan *plan, const State *state, uint32_t l, Mat joint,
                                const Pose *parent, Vec parent_rate, Pose *own) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    Vec direction = vec_constant(c + MF_ART_POSITION), slide = vec_zero();
    own->rotation = mat_multiply(&parent->rotation, &joint);
    if (link->kind == MF_ART_SLIDE) {
        Vec axis = {joint.xz, joint.yz, joint.zz};
        direction = vec_fma(axis, state->angle[l] + constant_at(c, MF_ART_OFFSET), direction);
        slide = vec_scale(axis, state->speed[l]);
    }
    own->position = mat_apply_add(&parent->rotation, direction, parent->position);
    own->speed = mat_apply_add(&parent->rotation, vec_cross_add(parent_rate, direction, slide),
                               parent->speed);
}

// ---- forces -------------------------------------------------------------------------------------

// Friction against torsion about the normal and across it: a damper of angular velocity at the end
// of the step.
static MF_INLINE void touch_add_torques(const Constant *c, const Touch *touch, mf_lane step,
                                        Vec rate, Art *a) {
    const Vec n = touch->normal;
    mf_lane roll = mf_keep(touch->presses, touch_roll(c, touch));
    mf_lane more = mf_keep(touch->presses, touch_torsion(c, touch)) - roll;
    mf_lane about = more * vec_dot(n, rate);
    a->n = vec_fma(n, about, vec_fma(rate, roll, a->n));
    Vec bent = vec_scale(n, more * step);
    roll = roll * step;
    a->j = MF_VALUE(Sym, mf_fma(bent.x, n.x, a->j.xx + roll), mf_fma(bent.y, n.y, a->j.yy + roll),
                    mf_fma(bent.z, n.z, a->j.zz + roll), mf_fma(bent.x, n.y, a->j.xy),
                    mf_fma(bent.x, n.z, a->j.xz), mf_fma(bent.y, n.z, a->j.yz));
}

// Adds a force at `r`, and a resistance of `c` times the acceleration there.
static MF_INLINE void resist_at(Vec r, Vec force, Sym c, Art *a) {
    a->f = vec_sub(a->f, force);
    a->n = vec_sub(a->n, vec_cross(r, force));
    a->m = MF_VALUE(Sym, a->m.xx + c.xx, a->m.yy + c.yy, a->m.zz + c.zz, a->m.xy + c.xy,
                    a->m.xz + c.xz, a->m.yz + c.yz);
    // Columns of [r] C; then -[r] C [r] row by row.
    Vec x = vec_cross(r, MF_VALUE(Vec, c.xx, c.xy, c.xz)),
        y = vec_cross(r, MF_VALUE(Vec, c.xy, c.yy, c.yz)),
        z = vec_cross(r, MF_VALUE(Vec, c.xz, c.yz, c.zz));
    a->h = MF_VALUE(Mat, a->h.xx + x.x, a->h.xy + y.x, a->h.xz + z.x, a->h.yx + x.y, a->h.yy + y.y,
                    a->h.yz + z.y, a->h.zx + x.z, a->h.zy + y.z, a->h.zz + z.z);
    Vec first = vec_cross(r, MF_VALUE(Vec, x.x, y.x, z.x)),
        second = vec_cross(r, MF_VALUE(Vec, x.y, y.y, z.y));
    mf_lane zz = mf_fma(r.x, y.z, -(r.y * x.z));
    a->j = MF_VALUE(Sym, a->j.xx + first.x, a->j.yy + second.y, a->j.zz + zz, a->j.xy + first.y,
                    a->j.xz + first.z, a->j.yz + second.z);
}

// The downward direction in the axes of a link (-1 = base) with known pose.
static MF_INLINE Vec pose_down(const mf_ArtPlan *plan, const Contacts *contacts, int32_t link) {
    return vec_negative(up_of(plan, &contacts->pose[link + 1].rotation));
}

static MF_INLINE Carrier carrier_of(const mf_ArtPlan *plan, const Contacts *contacts, int32_t link,
                                    Vec rate) {
    const Pose *pose = &contacts->pose[link + 1];
    return MF_VALUE(Carrier, rate, mat_apply_transposed(&pose->rotation, pose->speed),
                    vec_scale(pose_down(plan, contacts, link), setting(plan, MF_ART_GRAVITY)));
}

// [m/s^2] Centripetal acceleration of a contact's pivot, plus gravity.
static MF_INLINE Vec touch_swing(const mf_ArtPlan *plan, uint32_t i, const Carrier *carrier) {
    return vec_cross_add(carrier->rate, vec_cross(carrier->rate, touch_pivot(plan, i)),
                         carrier->weight);
}

// Adds one contact to the body `a` of its link.
static MF_INLINE void touch_add(const mf_ArtPlan *plan, uint32_t i, const Touch *touch,
                                mf_lane step, const Carrier *carrier, Art *a) {
    const Constant *constants = contact_constants(plan, i);
    const Vec n = touch->normal;
    const Press press = touch_press(plan, i, touch, step);
    Vec ahead = vec_fma(touch_swing(plan, i, carrier), step, touch_velocity(touch, carrier));
    mf_lane slip = mf_keep(touch->presses, touch_slip(constants, touch));
    mf_lane more = mf_keep(touch->presses, press.drag) - slip;
    Vec bent = vec_scale(n, more);
    Sym drag = {mf_fma(bent.x, n.x, slip),
                mf_fma(bent.y, n.y, slip),
                mf_fma(bent.z, n.z, slip),
                bent.x * n.y,
                bent.x * n.z,
                bent.y * n.z};
    Vec force = vec_scale(n, mf_keep(touch->presses, press.force));
    force = vec_sub(force, sym_apply(&drag, ahead));
    Sym c = {drag.xx * step, drag.yy * step, drag.zz * step,
             drag.xy * step, drag.xz * step, drag.yz * step};
    resist_at(touch->arm, force, c, a);
    if (mf_art_contacts(plan)[i].rotates)
        touch_add_torques(constants, touch, step, carrier->rate, a);
}

// Velocity of a contact at the end of the step, with the acceleration (gravity taken away) of its
// link.
static MF_INLINE Vec touch_end(const mf_ArtPlan *plan, uint32_t i, const Touch *touch, mf_lane step,
                               const Carrier *carrier, Vec angular, Vec linear) {
    Vec swing = touch_swing(plan, i, carrier);
    Vec gain = vec_cross_add(angular, touch->arm, vec_add(linear, swing));
    return vec_fma(gain, step, touch_velocity(touch, carrier));
}

static MF_INLINE mf_lane press_load(Press press, mf_lane climb) {
    return mf_fma(-press.drag, climb, press.force);
}

// Adds the contacts of a link (-1 = base) to its body `a`.
static inline void contacts_add(const mf_ArtPlan *plan, int32_t link, uint32_t first,
                                uint32_t count, mf_lane step, const Contacts *contacts, Vec rate,
                                Art *a) {
    const Carrier carrier = carrier_of(plan, contacts, link, rate);
    for (uint32_t i = first; i < first + count; i++) {
        const Touch *touch = &contacts->touch[i];
        if (touch->near && mf_any(touch->presses))
            touch_add(plan, i, touch, step, &carrier, a);
    }
}
