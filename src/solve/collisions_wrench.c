// The wrench of a contact: a soft contact (Friedmann, Petersen, von Stryk 2008, equations 4 and 5).
//
//   normal     s k d n                 s = 1 while approaching, e^2 while separating
//   friction   min(mu f / |v|, m / 2 n h) v
//   torsion    min(nu f / |w|, J / 4 h) w    about the normal; rolling likewise, across it
//
// with the stiffness k = (pi / duration)^2 m, m the least effective mass of both, d the depth, f
// the normal force, v and w the relative tangential and angular velocity of the first against the
// second, n the number of contacts between both solids, h the step. The forces on both are exactly
// opposite.
#include "contact/collide.h"
#include "contact/softness.h"
#include "solve/collisions.h"
#include "math/scalar.h"
#include "world/attach.h"

typedef struct Body { // one side of a contact
    const mf_CollisionGroup *group;
    uint32_t instance;
    const mf_CompoundSolid *solid;
    bool fixed;         // immovable
    double arm[3];      // [m] from the base's origin
    double velocity[3]; // [m/s] of its material point
    double rate[3];     // [rad/s]
    double rotation[9]; // [1] link's axes to the world's
    double position[3]; // [m] link's origin, from the base's
} Body;

static double part(const mf_Collisions *all, const mf_CompoundSide *side, size_t row) {
    const size_t at = row * MF_BLOCK + side->lane;
    return all->wide ? ((const double *)side->parts)[at] : (double)((const float *)side->parts)[at];
}

static void find_body(const mf_Collisions *all, uint32_t robot, const mf_CompoundSide *side,
                      uint32_t solid, const double arm[3], Body *out) {
    double lever[3], rotated[3];
    out->group = mf_collisions_group(all, robot);
    out->instance = mf_collisions_instance(out->group, robot);
    out->solid = &side->compound->solids[solid];
    out->fixed = all->immovable[robot] || !(out->solid->pressed > 0.0);
    const size_t row = mf_compound_link_row(out->solid->link);
    for (size_t i = 0; i < 9; i++)
        out->rotation[i] = part(all, side, row + MF_PART_MATRIX + i);
    for (size_t i = 0; i < 3; i++) {
        out->position[i] = part(all, side, row + MF_PART_POSITION + i);
        out->velocity[i] = part(all, side, row + MF_PART_VELOCITY + i);
        out->rate[i] = part(all, side, row + MF_PART_RATE + i);
    }
    mf_vec3_copy(out->arm, arm);
    mf_vec3_sub(lever, arm, out->position);
    mf_vec3_cross(rotated, out->rate, lever);
    mf_vec3_add(out->velocity, out->velocity, rotated);
}

// [1/kg] inverse effective mass of the solid's link along the unit vector `direction`.
static double inverse_mass(const Body *body, const double direction[3]) {
    double center[3], lever[3], torque[3], own[3], answer[3], back[9];
    if (body->fixed)
        return 0.0;
    mf_mat3_apply(center, body->rotation, body->solid->center);
    mf_vec3_add(center, center, body->position);
    mf_vec3_sub(lever, body->arm, center);
    mf_vec3_cross(torque, lever, direction);
    mf_mat3_transpose(back, body->rotation);
    mf_mat3_apply(own, back, torque);
    mf_mat3_apply(answer, body->solid->inverse_inertia, own);
    return body->solid->inverse_mass + mf_vec3_dot(own, answer);
}

// [m] Least torsion with rolling friction: a row without friction would have no cone.
static const double least_torsion = 1e-5;

// ---- friction -----------------------------------------------------------------------------------

typedef struct Surface {  // combined from both shapes
    mf_CollideClass pair; // from which it is
    uint32_t rows;        // [1] 1, 3, 4 or 6
    double friction[3];   // [1], [m], [m] sliding, torsion, rolling; 0 as far as it has no rows
    mf_Softness softness; // of the file
} Surface;

// Settings, if given, override the shapes; torsion in the settings acts at any condim. (NaN is not
// >= 0.)
static void override(const mf_CollisionsConfig *config, mf_CollideClass *pair) {
    pair->dimension = pair->dimension == 0 ? 3 : pair->dimension;
    if (config->friction >= 0.0) {
        pair->friction[0] = pair->friction[1] = config->friction;
        pair->dimension = pair->dimension == 1 ? 3 : pair->dimension;
    }
    if (config->torsional_friction >= 0.0) {
        pair->friction[2] = config->torsional_friction;
        pair->dimension = pair->dimension < 4 ? 4 : pair->dimension;
    }
}

// As within a file: condim determines the rows, and every row has friction. (Shapes built by calls
// have no condim; it counts as 3.)
static Surface surface_of(const mf_Collisions *all, const Body *a, const Body *b) {
    mf_CollideClass pair = {.most = 1};
    mf_collide_mix(&pair, &a->group->compound->model->shapes[a->solid->shape],
                   &b->group->compound->model->shapes[b->solid->shape]);
    override(&all->config, &pair);
    pair.margin = pair.gap = 0.0; // contacts between robots begin where shapes touch
    Surface out = {.pair = pair, .rows = 1, .softness = pair.softness};
    if (pair.dimension == 1 || !(pair.friction[0] > 0.0))
        return out;
    out.rows = 3;
    out.friction[0] = pair.friction[0];
    if (pair.dimension >= 4 && pair.friction[2] > 0.0) {
        out.rows = 4;
        out.friction[1] = pair.friction[2];
    }
    if (pair.dimension >= 6 && pair.friction[3] > 0.0) {
        out.rows = 6;
        out.friction[1] = out.friction[1] > least_torsion ? out.friction[1] : least_torsion;
        out.friction[2] = pair.friction[3];
    }
    return out;
}

// A friction force against `motion` of at most `force`, and at most `most` times the motion; `most`
// may be infinite.
static void drag(const double motion[3], double force, double most, double out[3]) {
    double size = mf_vec3_length(motion);
    double factor = size == 0.0 ? 0.0 : size * most > force ? force / size : most;
    mf_vec3_scale(out, motion, factor);
}

// Torsion about the normal, and rolling across it.
static void drag_rates(const Body *a, const Body *b, const double normal[3], const Surface *surface,
                       double pressing, double step, double torque[3]) {
    const double spun = (a->fixed ? 0.0 : a->solid->spun) + (b->fixed ? 0.0 : b->solid->spun);
    const double most = 0.25 / (step * spun);
    double rate[3], spin[3], roll[3];
    mf_vec3_sub(rate, a->rate, b->rate);
    mf_vec3_scale(spin, normal, mf_vec3_dot(rate, normal));
    mf_vec3_sub(rate, rate, spin);
    drag(spin, surface->friction[1] * pressing, most, torque);
    drag(rate, surface->friction[2] * pressing, most, roll);
    mf_vec3_add(torque, torque, roll);
}

// ---- one touch ----------------------------------------------------------------------------------

static double press(const mf_Collisions *all, double mass, double depth, double approach) {
    const mf_CollisionSettings *settings = &all->settings;
    if (depth > all->config.depth)
        depth = all->config.depth;
    double pull = settings->stiffness * depth; // [m/s^2]
    // The two stiffnesses are blended over the velocity change of half a step, so that resting
    // contacts do not chatter. The equivalent damping (1 - e^2) m / h stops a contact in two steps
    // at most; the four contacts of a face share a mass of at least 4 m.
    double soft = 0.5 * pull * settings->step;
    double side = mf_clamp(soft > 0.0 ? approach / soft : 0.0, -1.0, 1.0);
    return mass * pull * (0.5 * (1.0 + settings->slow) + 0.5 * (1.0 - settings->slow) * side);
}

static void add_wrench(const Body *body, const double force[3], const double torque[3],
                       double sign) {
    if (body->group->wrench == NULL)
        return;
    double moment[3];
    mf_vec3_cross(moment, body->arm, force);
    mf_vec3_add(moment, moment, torque);
    for (size_t i = 0; i < 3; i++) {
        mf_field_add(body->group->wrench, body->instance, 6 * (size_t)body->solid->link + i,
                     sign * force[i]);
        mf_field_add(body->group->wrench, body->instance, 6 * (size_t)body->solid->link + 3 + i,
                     sign * moment[i]);
    }
    ((uint32_t *)body->group->wrench_count->data)[body->instance]++;
}

// NULL: out of capacity.
static mf_CollisionContact *keep_contact(mf_Collisions *all, mf_CollisionTwo two,
                                         const mf_CompoundTouch *touch, double load,
                                         const double force[3]) {
    if (all->contact_count == all->contact_capacity) {
        all->contacts_left++;
        return NULL;
    }
    mf_CollisionContact *contact = &all->contacts[all->contact_count++];
    *contact = (mf_CollisionContact){.robots = two,
                                     .solids = {touch->solids[0], touch->solids[1]},
                                     .depth = touch->depth,
                                     .load = load};
    mf_vec3_add(contact->point, all->position[two.a], touch->point);
    mf_vec3_copy(contact->normal, touch->normal);
    mf_vec3_copy(contact->force, force);
    return contact;
}

// [m/s] Largest speed at which a contact corrects its depth, which also bounds the load of
// compliant contacts.
static const double closing_most = 0.2, compliant_most = 1.0;

// [1] Compliance of hard contacts relative to that of the robots (solver_rows.c). Shapes that
// overlap by more than their approach in a step may be wedged in, where rigid constraints would
// need unbounded forces, so their compliance is larger.
static double yield_of(double overlap) {
    const double least = 1e-2, most = 0.1, usual = 1e-3; // [1], [1], [m]
    const double part = overlap / usual;
    return part > 1.0 ? mf_clamp(least * part * part, least, most) : least;
}

// [1] The same of friction: sticking contacts creep by this fraction of a step's change of
// velocity.
static const double friction_give = 1e-3;

typedef struct LinkContact { // a contact, for the world's solver
    mf_CollisionTwo two;
    const mf_CompoundTouch *touch;
    const Body *sides[2];
    double inverse;  // [1/kg] inverse effective mass of both
    double approach; // [m/s]
} LinkContact;

// MuJoCo's law as a file states it (contact/softness.h), over a step h: with the acceleration a =
// (v+ - v) / h, f = m z / (1 - z) (k z d - b v - a) is
//     v+ + gamma f = v + h (k z d - b v),    gamma = h (1 - z) / (m z)
static void soften_as_stated(const mf_Collisions *all, const LinkContact *link_contact,
                             const mf_Softness *softness, mf_SolverContact *contact) {
    const double step = all->settings.step, speed = -link_contact->approach;
    double k, b;
    mf_softness_reference(softness, step, true, &k, &b);
    const double z = mf_softness_impedance(softness, contact->depth);
    contact->softness = step * (1.0 - z) / z * link_contact->inverse;
    contact->apart = speed + step * (k * z * contact->depth - b * speed);
}

// Whether the law of the file, or what holds where it says nothing, is also that of the settings.
static bool is_as_stated(const mf_Collisions *all, const mf_Softness *softness) {
    const mf_CollisionsConfig *config = &all->config;
    const bool own =
        config->contact_time > 0.0 || config->contact_ratio < 1.0 || config->contact_ratio > 1.0;
    return config->law == MF_COLLISION_COMPLIANT && (!own || mf_softness_is_stated(softness));
}

static void soften(const mf_Collisions *all, const LinkContact *link_contact,
                   const mf_Softness *softness, mf_SolverContact *contact) {
    const mf_CollisionSettings *settings = &all->settings;
    const double approach = link_contact->approach;
    contact->give = friction_give;
    if (all->config.law == MF_COLLISION_COMPLIANT && mf_softness_is_stated(softness)) {
        soften_as_stated(all, link_contact, softness, contact);
        return;
    }
    const bool compliant = all->config.law == MF_COLLISION_COMPLIANT;
    const double most = compliant ? compliant_most : closing_most;
    contact->apart = mf_clamp(settings->closing * (contact->depth - settings->rest), -most, most);
    if (compliant) {
        contact->yield = settings->give / settings->step;
        return;
    }
    contact->yield = yield_of(contact->depth - (approach > 0.0 ? approach * settings->step : 0.0));
    // Compliance under an impact reduces the change of speed in proportion.
    const double part = all->config.restitution;
    const double bounce = (part + contact->yield * (1.0 + part)) * approach;
    if (approach > settings->slowest && bounce > contact->apart)
        contact->apart = bounce;
}

static bool can_hand_over(const mf_Collisions *all, const Body *a, const Body *b) {
    return all->solver != NULL && a->group->solved && b->group->solved &&
           mf_solver_has_capacity(all->solver);
}

// Passes a contact to the world's solver. `force` and `torque`: of the explicit law.
static void hand_over(mf_Collisions *all, const LinkContact *link_contact, const Surface *surface,
                      const double force[3], const double torque[3]) {
    static const double none[3] = {0.0, 0.0, 0.0};
    const mf_CompoundTouch *touch = link_contact->touch;
    mf_SolverContact contact = {.depth = touch->depth < all->config.depth ? touch->depth
                                                                          : all->config.depth,
                                .rows = surface->rows,
                                .coupled = all->config.law == MF_COLLISION_COMPLIANT,
                                .as_stated = is_as_stated(all, &surface->softness),
                                .pair = surface->pair,
                                .overlap = touch->depth};
    mf_vec3_copy(contact.friction, surface->friction);
    soften(all, link_contact, &surface->softness, &contact);
    for (uint32_t s = 0; s < 2; s++) {
        contact.group[s] = link_contact->sides[s]->group->number;
        contact.instance[s] = link_contact->sides[s]->instance;
        contact.link[s] = link_contact->sides[s]->solid->link;
        contact.shape[s] = touch->solids[s];
        contact.model_shape[s] = link_contact->sides[s]->solid->shape;
    }
    mf_vec3_add(contact.point, all->position[link_contact->two.a], touch->point);
    mf_vec3_copy(contact.normal, touch->normal);
    mf_vec3_copy(contact.spare, force);
    mf_vec3_copy(contact.spare + 3, torque);
    mf_CollisionContact *kept = keep_contact(all, link_contact->two, touch, 0.0, none);
    if (kept != NULL) {
        contact.load = &kept->load;
        contact.force = kept->force;
    }
    mf_solver_add_contact(all->solver, &contact);
    all->statistics.solved++;
}

// Links connected by a fixed run-time joint do not collide, like links of one robot that share a
// joint.
static bool is_welded(const mf_Collisions *all, const Body *a, const Body *b) {
    const uint32_t first[3] = {a->group->number, a->instance, a->solid->link};
    const uint32_t second[3] = {b->group->number, b->instance, b->solid->link};
    return all->joints != NULL && mf_joints_weld(all->joints, first, second);
}

// Level planes at or below the world's ground are the ground, which motions handle themselves.
static bool is_ground(const mf_Collisions *all, uint32_t robot, const Body *body,
                      const double normal[3]) {
    if (body->solid->kind != MF_COLLIDE_PLANE || mf_abs(normal[2]) < 1.0 - 1e-6)
        return false;
    double direction[3];
    mf_mat3_apply(direction, body->rotation,
                  body->group->compound->model->shapes[body->solid->shape].position);
    const double height = all->position[robot][2] + body->position[2] + direction[2];
    return height <= mf_world_config_of(all->world)->terrain->highest + 1e-6;
}

void mf_collisions_apply(mf_Collisions *all, mf_CollisionTwo two, const mf_CompoundPair *pair,
                         const mf_CompoundTouch *touch, uint32_t together) {
    Body a, b;
    double arm[3], offset[3], along[3], force[3], torque[3];
    const double *n = touch->normal;
    mf_vec3_sub(arm, touch->point, pair->direction);
    find_body(all, two.a, &pair->sides[0], touch->solids[0], touch->point, &a);
    find_body(all, two.b, &pair->sides[1], touch->solids[1], arm, &b);
    if ((a.fixed && b.fixed) || is_welded(all, &a, &b) ||
        is_ground(all, two.a, &a, touch->normal) || is_ground(all, two.b, &b, touch->normal))
        return;
    const double inverse = (a.fixed ? 0.0 : a.solid->pressed) + (b.fixed ? 0.0 : b.solid->pressed);
    mf_vec3_sub(offset, a.velocity, b.velocity);
    const Surface surface = surface_of(all, &a, &b);
    const double step = all->settings.step;
    const double approach = mf_vec3_dot(offset, n);
    const double pressing = press(all, 1.0 / inverse, touch->depth, approach);
    mf_vec3_add_scaled(along, offset, -approach, n);
    mf_vec3_copy(offset, along);
    mf_vec3_set(force, 0, 0, 0);
    if (mf_vec3_normalize(offset))
        drag(along, surface.friction[0] * pressing,
             0.5 / (together * step * (inverse_mass(&a, offset) + inverse_mass(&b, offset))),
             force);
    drag_rates(&a, &b, n, &surface, pressing, step, torque);
    mf_vec3_add_scaled(force, force, pressing, n);
    if (can_hand_over(all, &a, &b)) {
        const double links =
            (a.fixed ? 0.0 : a.solid->inverse_mass) + (b.fixed ? 0.0 : b.solid->inverse_mass);
        const LinkContact contact = {two, touch, {&a, &b}, links, approach};
        hand_over(all, &contact, &surface, force, torque);
    } else {
        keep_contact(all, two, touch, pressing, force);
        add_wrench(&a, force, torque, -1.0);
        add_wrench(&b, force, torque, 1.0);
    }
    all->statistics.contacts++;
    if (all->statistics.steps > 0 && touch->depth > all->statistics.deepest)
        all->statistics.deepest = touch->depth;
}

void mf_collisions_relax(mf_Collisions *all) {
    all->contact_count = 0;
    all->contacts_left = 0;
    if (all->solver != NULL)
        mf_solver_clear_contacts(all->solver);
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_CollisionGroup *group = &all->groups[g];
        if (group->wrench_count == NULL)
            continue;
        uint32_t *wrench_count = group->wrench_count->data;
        for (uint32_t i = 0; i < group->count; i++) {
            if (wrench_count[i] == 0)
                continue;
            wrench_count[i] = 0;
            mf_field_clear(group->wrench, i);
        }
    }
}
