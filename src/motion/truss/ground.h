// The ground under vertices and bars: penetration energy and static friction.
//
// A point sinks in by p = height + rim - z, where rim is its radius along the vertical, and has the
// energy k p^2 / 2 of a spring along the normal. Static friction is a spring from the point where
// it stuck, of stiffness g along the ground, whose force is at most mu times the normal force: its
// energy is g u^2 / 2 within the cone and c |u| - c^2 / (2 g), c = mu N, beyond it (the function of
// Huber, 1964). N, the normal and the rim are those before the iteration, so that an iteration has
// one energy.
//
// Friction rises with the slip s = |u| - c / g of a frame by c t s, energy c t s^2 / 2, t =
// `strengthening`: of feet that push against each other with the same load all slip then. Else the
// minimum is not unique, and the random forces of the noise would choose who does.
#pragma once

#include "motion/truss/state.h"

#define MF_TRUSS_NEAR ((mf_real)1e-6) // [m] points so close to the ground count as on it

typedef struct ContactPoint { // a point that can touch the ground, by the vertices that carry it
    const End *ends[2];       // the second is NULL at a vertex
    mf_lane share[2];         // [1] of the ends
} ContactPoint;

// The point number `index`: of a vertex, or of a point between the ends of a bar.
static MF_INLINE void contact_point_of(const Frame *f, uint32_t index,
                                       ContactPoint *contact_point) {
    const uint32_t samples = f->plan->samples;
    if (index < f->vertices) {
        contact_point->ends[0] = &f->own[index];
        contact_point->ends[1] = NULL;
        contact_point->share[0] = mf_set((mf_real)1);
        contact_point->share[1] = mf_zero();
        return;
    }
    const Bar *bar = &f->bar[(index - f->vertices) / samples];
    const mf_real t = (mf_real)((index - f->vertices) % samples + 1) / (mf_real)(samples + 1);
    contact_point->ends[0] = &bar->ends[0];
    contact_point->ends[1] = &bar->ends[1];
    contact_point->share[0] = mf_set((mf_real)1 - t);
    contact_point->share[1] = mf_set(t);
}

static MF_INLINE Vec contact_position(const Vec *table, const ContactPoint *contact_point,
                                      bool same) {
    if (contact_point->ends[1] == NULL)
        return table[contact_point->ends[0]->same];
    return vec_fma(
        vertex_get(table, contact_point->ends[1], same), contact_point->share[1],
        vec_scale(vertex_get(table, contact_point->ends[0], same), contact_point->share[0]));
}

static MF_INLINE uint32_t contact_count(const Frame *f) {
    return f->plan->ground ? f->vertices + f->bars * f->plan->samples : 0;
}

// Height of the ground and its slopes.
static MF_INLINE mf_lane ground_height(const Frame *f, Vec at, mf_lane *slope_x, mf_lane *slope_y) {
    *slope_x = *slope_y = mf_zero();
    if (f->plan->level)
        return mf_set((mf_real)f->plan->height);
    return mf_map_surface(&f->map, at.x, at.y, slope_x, slope_y);
}

// Whether a point is higher above level ground than `margin` in all lanes and carried nothing, so
// that it has neither energy nor force.
static MF_INLINE bool contact_point_clears(const Frame *f, const Touch *touch, Vec at,
                                           mf_lane margin) {
    if (!f->plan->level)
        return false;
    mf_lane gap = at.z - touch->rim - mf_set((mf_real)f->plan->height);
    mf_mask clears = mf_and(mf_less(margin, gap), mf_less_equal(touch->normal_force, mf_zero()));
    return mf_all(mf_or(clears, mf_not(f->alive)));
}

typedef struct Contact { // of one point at trial positions
    mf_lane depth;       // [m] along the vertical; <= 0: none
    mf_lane spring;      // [N/m] along the vertical
    Vec rise;            // gradient of the depth
    Vec slip;            // [m] from the anchor, along the ground
    mf_lane grip;        // [N/m] force per slip
    mf_lane bound;       // [N] of friction
    mf_lane rise_rate;   // [N/m] by which it rises with the slip
    mf_lane far;         // [m] length of the slip
} Contact;

static MF_INLINE Contact contact_at(const Frame *f, const Touch *touch, Vec at) {
    Contact c;
    mf_lane slope_x, slope_y, height = ground_height(f, at, &slope_x, &slope_y);
    const mf_lane up = touch->normal.z, grip = f->grip;
    c.depth = height + touch->rim - at.z;
    c.spring = f->spring * up * up;
    c.rise = MF_VALUE(Vec, slope_x, slope_y, mf_set((mf_real)-1));
    Vec from = vec_sub(at, touch->anchor);
    c.slip = vec_fma(touch->normal, -vec_dot(from, touch->normal), from);
    c.far = mf_sqrt(vec_dot(c.slip, c.slip));
    c.bound = touch->normal_force * mf_set((mf_real)f->plan->friction);
    mf_mask sticks = mf_less_equal(c.far * grip, c.bound);
    c.rise_rate = c.bound * mf_set((mf_real)f->plan->strengthening);
    mf_lane most = mf_fma(c.rise_rate, c.far - c.bound / grip, c.bound);
    c.grip = mf_select(sticks, grip, most / mf_max(c.far, mf_set((mf_real)1e-30)));
    c.grip = mf_keep(mf_less(mf_zero(), c.bound), c.grip);
    return c;
}

// Energy [J] of a contact and its force in place.
static MF_INLINE mf_lane contact_energy(const Frame *f, const Contact *c, Vec *force) {
    const mf_lane half = mf_set((mf_real)0.5), grip = f->grip;
    mf_mask deep = mf_less(mf_zero(), c->depth);
    mf_lane press = mf_keep(deep, c->depth * c->spring);
    mf_mask sticks = mf_less_equal(c->far * grip, c->bound);
    mf_lane clamped = half * grip * c->far * c->far;
    mf_lane slip = c->far - c->bound / grip;
    mf_lane slid = c->bound * (c->far - half * c->bound / grip);
    slid = mf_fma(half * c->rise_rate * slip, slip, slid);
    *force = vec_sub(vec_scale(c->rise, -press), vec_scale(c->slip, c->grip));
    return half * press * mf_keep(deep, c->depth) + mf_select(sticks, clamped, slid);
}

static MF_INLINE mf_lane ground_energy(const Frame *f, const Vec *at, Vec *gradient, bool same) {
    mf_lane sum = mf_zero();
    const uint32_t count = contact_count(f);
    for (uint32_t i = 0; i < count; i++) {
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Vec force, position = contact_position(at, &contact_point, same);
        if (contact_point_clears(f, &f->touch[i], position, mf_zero()))
            continue;
        Contact c = contact_at(f, &f->touch[i], position);
        sum = sum + contact_energy(f, &c, &force);
        for (int e = 0; e < 2 && gradient != NULL && contact_point.ends[e] != NULL; e++)
            vertex_add(gradient, contact_point.ends[e], contact_point.ends[1] == NULL || same,
                       f->alive, vec_scale(force, -contact_point.share[e]));
    }
    return sum;
}

// Where a contact sticks that touches at `at` for the first time. What moves with inertia sticks
// where the step began, so that friction opposes the movement of the step.
static MF_INLINE Vec landing_of(const Frame *f, const ContactPoint *contact_point, Vec at,
                                bool same) {
    return f->plan->dynamic ? contact_position(f->start, contact_point, same) : at;
}

static MF_INLINE Touch touch_select(mf_mask where, const Touch *a, const Touch *b) {
    Touch t;
    t.radius = mf_select(where, a->radius, b->radius);
    t.normal_force = mf_select(where, a->normal_force, b->normal_force);
    t.rim = mf_select(where, a->rim, b->rim);
    t.normal = vec_select(where, a->normal, b->normal);
    t.anchor = vec_select(where, a->anchor, b->anchor);
    t.stood = mf_or(mf_and(where, a->stood), mf_and(mf_not(where), b->stood));
    return t;
}

// ---- between iterations ------------------------------------------------------------------------

// Takes the normal force, the normal and the rim of the present position. What stood on the ground
// when the frame began keeps its anchor even where an iteration lifts it: the way of the iterations
// is no movement, and a truss that lost all anchors on it could slide without friction.
static MF_INLINE void ground_renew(const Frame *f, mf_mask where, bool same) {
    const mf_lane one = mf_set((mf_real)1);
    const uint32_t count = contact_count(f);
    for (uint32_t i = 0; i < count; i++) {
        Touch *touch = &f->touch[i];
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Vec at = contact_position(f->position, &contact_point, same);
        mf_lane slope_x, slope_y, height = ground_height(f, at, &slope_x, &slope_y);
        mf_lane steep = mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        mf_lane up = one / steep, depth = height + touch->radius * steep - at.z;
        mf_lane force = mf_max(depth, mf_zero()) * (f->spring * up);
        mf_mask lands = mf_and(where, mf_less_equal(touch->normal_force, mf_zero()));
        lands = mf_and(lands, mf_not(touch->stood));
        touch->anchor = vec_select(lands, landing_of(f, &contact_point, at, same), touch->anchor);
        touch->normal_force = mf_select(where, force, touch->normal_force);
        touch->rim = mf_select(where, touch->radius * steep, touch->rim);
        Vec normal = MF_VALUE(Vec, -(slope_x * up), -(slope_y * up), up);
        touch->normal = vec_select(where, normal, touch->normal);
    }
}

// Moves the anchors of contacts that slipped to the edge of the cone, in the lanes `where`.
static MF_INLINE void ground_slip(const Frame *f, mf_mask where, bool same) {
    const uint32_t count = contact_count(f);
    for (uint32_t i = 0; i < count; i++) {
        Touch *touch = &f->touch[i];
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Vec at = contact_position(f->position, &contact_point, same);
        Contact c = contact_at(f, touch, at);
        mf_lane share = c.bound / mf_max(c.far * f->grip, c.bound);
        mf_mask slips = mf_and(where, mf_less(share, mf_set((mf_real)1)));
        Vec edge = vec_sub(at, vec_scale(c.slip, share));
        touch->anchor = vec_select(slips, edge, touch->anchor);
    }
}
