// A limit on the friction that the fit assumed: per contact the tangential force is at most mu
// times the normal force (Coulomb), isotropic; what is above the limit is given back to the body.
//
// The support gave vertical loads f_i, the fit a horizontal force F = m a / dt^2 and a yaw torque.
// These are spread over the contacts like a rigid displacement weighted by load (least norm), each
// split along the ground's normal n into N_i and T_i, and T_i is shortened to mu N_i.
//
// What is given back acts at the contact, but only where the contacts can carry the fit's torque.
// Those in one position cannot: the fit moves a body on one foot as if the foot were under the
// center of mass, and at that position its force is given back. With the foot's own lever a force
// that was never there would spin the body, by all the more the smaller the step.
#pragma once

#include "motion/points/contacts.h"

typedef struct Load { // friction displacement at a contact: a + b * (-y, x), times its weight
    mf_lane total, x, y, torsion;
    Vec force;    // a1, a2
    mf_mask wide; // the contacts are apart, so that they can turn the body
} Load;

// `fit` is (a1, a2, a3); `torsion_mass` is the yaw inertia over the mass.
static inline Load coulomb_spread(const Contacts *contacts, Vec fit, mf_lane torsion_mass) {
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Load s = {.total = zero, .x = zero, .y = zero, .force = {fit.x, fit.y, zero}};
    mf_lane square = zero;
    for (size_t i = 0; i < contacts->count; i++) {
        mf_lane w = mf_keep(mf_less(zero, contacts->row[i].before), contacts->row[i].press);
        Vec p = contacts->row[i].position;
        s.total = s.total + w;
        s.x = s.x + w * p.x;
        s.y = s.y + w * p.y;
        square = square + w * (p.x * p.x + p.y * p.y);
    }
    mf_lane inverse = one / mf_select(mf_less(zero, s.total), s.total, one);
    s.x = s.x * inverse;
    s.y = s.y * inverse;
    mf_lane spread = square * inverse - (s.x * s.x + s.y * s.y);
    s.wide = mf_less(square * inverse * mf_set(64 * MF_REAL_EPSILON), spread);
    mf_lane torque = fit.z * torsion_mass - (s.x * fit.y - s.y * fit.x);
    s.torsion = mf_keep(s.wide, torque / mf_select(s.wide, spread, one));
    s.total = inverse;
    return s;
}

// What must be added to the body's displacement (x, y, z) and yaw so that no contact holds more
// than it can. Loads are in units of displacement: compression / softness = m^-1 dt^2 force.
static inline Shift coulomb_release(const mf_PointsPlan *plan, const mf_real *constant,
                                    const Contacts *contacts, Vec fit, mf_lane torsion_mass) {
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane load = one / mf_set(setting(constant, MF_PLAN_COMPLIANCE));
    mf_lane friction = mf_set(setting(constant, MF_PLAN_FRICTION));
    Load s = coulomb_spread(contacts, fit, torsion_mass);
    Shift release = {{zero, zero, zero}, {zero, zero, zero}};
    mf_lane torque = zero;
    for (size_t i = 0; i < contacts->count; i++) {
        mf_mask fixed = mf_less(zero, contacts->row[i].before);
        mf_lane w = mf_keep(fixed, contacts->row[i].press) * s.total;
        Vec p = contacts->row[i].position;
        Vec n = {zero, zero, one};
        if (plan->slopes)
            n = contacts->row[i].normal;
        Vec t = {w * (s.force.x - s.torsion * (p.y - s.y)),
                 w * (s.force.y + s.torsion * (p.x - s.x)), zero};
        t.z = zero - (n.x * t.x + n.y * t.y) / n.z; // stays in the ground's plane
        mf_lane vertical = contacts->row[i].press * load, normal = vertical * n.z;
        Vec all = vec_add(t, vec_scale(n, zero - normal));
        all.z = all.z + vertical;
        mf_lane size = mf_sqrt(vec_dot(all, all)), most = friction * normal;
        mf_mask slides = mf_and(mf_less(most, size), mf_less(zero, contacts->row[i].press));
        mf_lane excess = mf_keep(slides, most / mf_select(slides, size, one) - one);
        Vec change = vec_scale(all, excess);
        change.z = change.z + t.z;
        release.move = vec_add(release.move, change);
        mf_lane arm_x = mf_select(s.wide, p.x, p.x - s.x);
        mf_lane arm_y = mf_select(s.wide, p.y, p.y - s.y);
        torque = torque + (arm_x * change.y - arm_y * change.x);
    }
    release.rotation_vector.z = torque / torsion_mass;
    return release;
}
