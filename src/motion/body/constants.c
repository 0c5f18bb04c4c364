// Constants of driven robots: masses that links carry, second moments, where contacts can be, and
// the paths of joints.
#include "motion/articulated/build.h"
#include "motion/body/driven.h"
#include "math/scalar.h"

#include <math.h>

static double *constants(const mf_DrivenMotion *motion, int32_t link) {
    return motion->constants_f64 + MF_DRIVEN_SETTINGS + (size_t)(link + 1) * MF_DRIVEN_LINK_VALUES;
}

static const double *contact(const mf_ArtMotion *art, uint32_t i) {
    return art->constants_f64 + art->plan->contact_offset + (size_t)i * MF_ART_CONTACT_VALUES;
}

// ---- masses -------------------------------------------------------------------------------------

static void fill_masses(mf_DrivenMotion *motion) {
    const mf_ArtMotion *art = motion->art;
    for (int32_t l = (int32_t)art->plan->link_count - 1; l >= -1; l--) {
        const double *c = mf_art_constants(art, l), *j = c + MF_ART_INERTIA;
        double *d = constants(motion, l), *z = d + MF_DRIVEN_INERTIA;
        mf_DrivenLink *link = &motion->all[l + 1];
        // An inertia is the trace of the second moments on the diagonal, less them.
        const double half = 0.5 * (j[0] + j[1] + j[2]);
        for (int i = 0; i < 3; i++) {
            z[i] = half - j[i];
            z[3 + i] = 0.0 - j[3 + i];
            link->oblique |= mf_abs(j[3 + i]) > 0.0;
            if (mf_abs(c[MF_ART_MOMENT + i]) > 0.0)
                link->bulk |= 1u << i;
        }
        d[MF_DRIVEN_CARRIED] += c[MF_ART_MASS];
        if (l >= 0)
            constants(motion, art->links[l].parent)[MF_DRIVEN_CARRIED] += d[MF_DRIVEN_CARRIED];
    }
}

// ---- bounds of contacts -------------------------------------------------------------------------

static void fill_ball(mf_DrivenMotion *motion, int32_t l, uint32_t first, uint32_t count) {
    const mf_ArtMotion *art = motion->art;
    double *ball = constants(motion, l) + MF_DRIVEN_BALL, radius = 0.0;
    motion->all[l + 1].touches = count > 0;
    for (int i = 0; i < 3 && count > 0; i++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t k = first; k < first + count; k++) {
            low = mf_smaller(contact(art, k)[i], low);
            high = mf_larger(contact(art, k)[i], high);
        }
        ball[i] = 0.5 * (low + high);
    }
    for (uint32_t k = first; k < first + count; k++) {
        const double *c = contact(art, k);
        double arm[3];
        mf_vec3_sub(arm, c, ball);
        radius = mf_larger(mf_vec3_length(arm) + c[3] + c[MF_ART_TOUCH_MARGIN], radius);
        motion->plan->rotates |= art->contacts[k].rotates;
    }
    constants(motion, l)[MF_DRIVEN_RADIUS] = radius;
}

// Farthest that contacts of what a link carries can be from its origin; a slide without end goes
// far.
static void fill_extents(mf_DrivenMotion *motion, const mf_Model *model) {
    const mf_ArtMotion *art = motion->art;
    const double far = 1e6;
    for (int32_t l = (int32_t)art->plan->link_count - 1; l >= -1; l--) {
        double *d = constants(motion, l);
        double reach = d[MF_DRIVEN_EXTENT]; // of those that it carries, so far
        if (motion->all[l + 1].touches)
            reach = mf_larger(mf_vec3_length(d + MF_DRIVEN_BALL) + d[MF_DRIVEN_RADIUS], reach);
        d[MF_DRIVEN_EXTENT] = reach;
        if (l < 0) {
            motion->constants_f64[MF_DRIVEN_REACH] = reach;
            return;
        }
        const mf_ArtLink *link = &art->links[l];
        double *above = constants(motion, link->parent);
        if (!(reach > 0.0))
            continue;
        double distance = mf_vec3_length(mf_art_constants(art, l) + MF_ART_POSITION);
        if (link->kind == MF_ART_SLIDE) {
            const mf_Joint *joint = &model->joints[link->joint];
            double most = mf_larger(mf_abs(joint->upper), mf_abs(joint->lower));
            distance += mf_is_finite(most) ? most + mf_abs(joint->reference) : far;
            d[MF_DRIVEN_EXTENT] = 1.0;
        }
        above[MF_DRIVEN_EXTENT] = mf_larger(distance + reach, above[MF_DRIVEN_EXTENT]);
    }
}

// ---- paths --------------------------------------------------------------------------------------

// A joint that follows another follows that one's leader in the end (the model has no cycles).
static uint32_t find_leader(const mf_Model *model, uint32_t joint, double *multiplier,
                            double *offset) {
    *multiplier = 1.0;
    *offset = 0.0;
    for (; model->joints[joint].mimic != MF_NONE; joint = model->joints[joint].mimic) {
        *offset += *multiplier * model->joints[joint].offset;
        *multiplier *= model->joints[joint].multiplier;
    }
    return joint;
}

static mf_Status fill_path(mf_DrivenMotion *motion, const mf_Model *model,
                           const mf_DrivenConfig *config, uint32_t l, mf_Error *error) {
    const mf_ArtLink *link = &motion->art->links[l];
    const mf_Joint *joint = &model->joints[link->joint];
    double *d = constants(motion, (int32_t)l);
    motion->all[l + 1].leader = l;
    d[MF_DRIVEN_LOWER] = config->common.limits ? joint->lower : -INFINITY;
    d[MF_DRIVEN_UPPER] = config->common.limits ? joint->upper : INFINITY;
    d[MF_DRIVEN_FASTEST] = config->common.speeds ? joint->speed : INFINITY;
    d[MF_DRIVEN_TRAVEL] = d[MF_DRIVEN_FASTEST] * motion->constants_f64[MF_DRIVEN_INTERVAL];
    if (link->kind == MF_ART_BALL)
        return MF_OK;
    uint32_t leader =
        find_leader(model, link->joint, &d[MF_DRIVEN_MULTIPLIER], &d[MF_DRIVEN_SHIFT]);
    uint32_t at = motion->art->joint_links[leader];
    MF_CHECK(at != MF_NONE && motion->art->links[at].kind != MF_ART_BALL, error, MF_UNSUPPORTED,
             "%s: joint %s of model %s follows %s, which is neither a hinge nor a slide",
             motion->name, joint->name, model->name, model->joints[leader].name);
    motion->all[l + 1].leader = at;
    return MF_OK;
}

// [m/s] Below this speed of separation contacts go over from k d to z k d. The slope damps the rise
// to rest: with c = (1 - z) k d / v at the depth d = m g / k of one contact that bears all, and w =
// sqrt(k / m), v = (1 - z) g / (4 w) is twice the critical 2 m w; on n contacts 2 / sqrt(n) of it.
static double ease(const mf_ArtMotion *art, double separation, double mass) {
    const double *c = art->constants_f64;
    const double speed =
        0.25 * (1.0 - separation) * mf_abs(c[MF_ART_GRAVITY]) * mf_sqrt(mass / c[MF_ART_FORCE]);
    return speed > c[MF_ART_SLIP] ? speed : c[MF_ART_SLIP];
}

// About the normal only: against rolling and tipping acts what the shapes say. What is asked for
// comes first, then what a file says of its shapes (MJCF's condim), then what is usual.
static void fill_torsion(mf_DrivenMotion *motion, const mf_Model *model,
                         const mf_DrivenConfig *config) {
    mf_ArtMotion *art = motion->art;
    const bool asked = !isnan(config->torsional_friction);
    for (uint32_t i = 0; i < art->plan->contact_count; i++) {
        const bool stated = art->contacts[i].shape != MF_NONE && model->body_count > 0;
        const double spin = asked ? config->torsional_friction : config->usual_torsion;
        if (!asked && (stated || isnan(spin)))
            continue;
        const size_t at = art->plan->contact_offset + (size_t)i * MF_ART_CONTACT_VALUES;
        art->constants_f64[at + MF_ART_TOUCH_TORSION] = spin;
        art->constants_f32[at + MF_ART_TOUCH_TORSION] = (float)spin;
        art->contacts[i].rotates =
            spin > 0.0 || art->constants_f64[at + MF_ART_TOUCH_ROLLING] > 0.0;
    }
}

mf_Status mf_driven_constants_fill(mf_DrivenMotion *motion, const mf_Model *model,
                                   const mf_DrivenConfig *config, mf_Context *context,
                                   mf_Error *error) {
    const mf_ArtMotion *art = motion->art;
    const double interval = mf_time_to_seconds(config->common.control_interval);
    motion->plan->value_count =
        MF_DRIVEN_SETTINGS + (art->plan->link_count + 1) * MF_DRIVEN_LINK_VALUES;
    motion->plan->all_count = art->plan->link_count + 1;
    motion->all = mf_allocate(context, art->plan->link_count + 1, sizeof *motion->all);
    motion->constants_f64 =
        mf_allocate(context, motion->plan->value_count, sizeof *motion->constants_f64);
    motion->constants_f32 =
        mf_allocate(context, motion->plan->value_count, sizeof *motion->constants_f32);
    if (motion->all == NULL || motion->constants_f64 == NULL || motion->constants_f32 == NULL)
        return mf_fail(error, MF_NO_MEMORY, "%s: out of memory", motion->name);
    motion->constants_f64[MF_DRIVEN_INTERVAL] = interval;
    motion->constants_f64[MF_DRIVEN_INVERSE_INTERVAL] = 1.0 / interval;
    motion->constants_f64[MF_DRIVEN_SEPARATION] = config->separation;
    fill_torsion(motion, model, config);
    fill_masses(motion);
    motion->constants_f64[MF_DRIVEN_EASE] =
        ease(art, config->separation, constants(motion, -1)[MF_DRIVEN_CARRIED]);
    fill_ball(motion, -1, 0, art->plan->base_contacts);
    for (uint32_t l = 0; l < art->plan->link_count; l++) {
        fill_ball(motion, (int32_t)l, art->links[l].first_contact, art->links[l].contact_count);
        MF_TRY(fill_path(motion, model, config, l, error));
    }
    fill_extents(motion, model);
    for (size_t i = 0; i < motion->plan->value_count; i++)
        motion->constants_f32[i] = (float)motion->constants_f64[i];
    return MF_OK;
}
