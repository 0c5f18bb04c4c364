// How soft the constraints of a file are.
//
// MuJoCo (documentation, "Computation", constraint model) asks of a constraint at depth d with
// speed v that
//     a = z (-b v + k z d) + (1 - z) a0,    k = 1 / (w^2 T^2 r^2),  b = 2 / (w T)
// where a0 is its acceleration without the constraint, T and r are the reference, z is the
// impedance and w its largest value; a reference below 0 gives k = stiffness / w^2 and b = damping
// / w. With the mass m that the constraint moves by itself this is the force
//     f = G (k z d - b v - a),    G = m z / (1 - z).
#include "motion/articulated/build.h"
#include "math/scalar.h"
#include "model/draft.h"

#include <math.h>

#define LEAST 1e-4 // [1] impedances keep this distance from 0 and 1, as MuJoCo's do

double mf_art_impedance(double z) {
    return mf_clamp(z, LEAST, 1.0 - LEAST);
}

bool mf_art_is_said(const mf_Softness *softness) {
    const mf_Softness none = mf_softness();
    bool said = false;
    for (int i = 0; i < 2; i++)
        said = said || softness->reference[i] < none.reference[i] ||
               softness->reference[i] > none.reference[i];
    for (int i = 0; i < 5; i++)
        said = said || softness->impedance[i] < none.impedance[i] ||
               softness->impedance[i] > none.impedance[i];
    return said;
}

bool mf_art_is_soft(const mf_ArticulatedConfig *config, const mf_Softness *softness) {
    return config->integrator == MF_ARTICULATED_IMPLICIT && mf_art_is_said(softness);
}

void mf_art_reference(const mf_Model *model, double step, const mf_Softness *softness, double *k,
                      double *b) {
    const double widest = mf_art_impedance(softness->impedance[1]);
    double time = softness->reference[0], ratio = softness->reference[1];
    if (time > 0.0) {
        if (!(model->physics.disabled & MF_DISABLE_SAFE_REFERENCE))
            time = time > 2.0 * step ? time : 2.0 * step;
        double slow = widest * time * ratio;
        *k = 1.0 / (slow * slow);
        *b = 2.0 / (widest * time);
    } else {
        *k = -time / (widest * widest);
        *b = -ratio / widest;
    }
    // The ends of what float can solve; no file means more. A ratio of 0 is the upper.
    *k = mf_clamp(*k, 0.0, 100.0 / (step * step));
    *b = mf_clamp(*b, 0.0, 10.0 / step);
}

// Powers other than 1 count as 2.
void mf_art_grade(const mf_Softness *softness, double out[4]) {
    const double *z = softness->impedance;
    out[0] = z[2] > 1e-9 ? 1.0 / z[2] : 1e9;
    out[1] = mf_art_impedance(z[0]);
    out[2] = mf_art_impedance(z[1]) - out[1];
    out[3] = z[4] > 1.5 ? mf_clamp(z[3], LEAST, 1.0 - LEAST) : 0.0;
}

// ---- limits of joints --------------------------------------------------------------------------

static void set_limit(const mf_ArtMotion *motion, const mf_Model *model, uint32_t l, double give) {
    const mf_Joint *joint = &model->joints[motion->links[l].joint];
    const mf_Softness *softness = &joint->limit_softness;
    const double step = motion->constants_f64[MF_ART_STEP];
    double *c = mf_art_constants(motion, (int32_t)l), k, b;
    mf_art_reference(model, step, softness, &k, &b);
    motion->links[l].drive |= MF_ART_SOFT_LIMIT;
    c[MF_ART_LIMIT_PULL] = k;
    c[MF_ART_LIMIT_BRAKING] = b;
    c[MF_ART_LIMIT_MARGIN] = joint->limit_margin;
    c[MF_ART_LIMIT_EASE] = 1.0 / give;
    mf_art_grade(softness, c + MF_ART_LIMIT_WIDTH);
}

static bool has_soft_limit(const mf_ArtMotion *motion, const mf_Model *model, uint32_t l) {
    const mf_ArtLink *link = &motion->links[l];
    return (link->drive & MF_ART_HAS_LIMIT) != 0 && link->kind != MF_ART_BALL &&
           model->body_count > 0 && !(motion->config.limit_time > 0.0) &&
           mf_art_is_soft(&motion->config, &model->joints[link->joint].limit_softness);
}

mf_Status mf_art_limits_soften(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                               mf_Error *error) {
    bool any = false;
    for (uint32_t l = 0; !motion->plan->law && l < motion->plan->link_count; l++)
        any = any || has_soft_limit(motion, model, l);
    if (!any)
        return MF_OK;
    double *give = mf_allocate(context, motion->plan->link_count, sizeof *give);
    mf_Status status = give == NULL ? mf_fail(error, MF_NO_MEMORY, "articulated: out of memory")
                                    : mf_art_give_find(motion, model, give, context, error);
    for (uint32_t l = 0; status == MF_OK && l < motion->plan->link_count; l++)
        if (has_soft_limit(motion, model, l))
            set_limit(motion, model, l, give[l]);
    mf_release(context, give);
    return status;
}
