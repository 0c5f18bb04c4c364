// How soft the constraints of a file are (contact/softness.h has the equations).
#include "contact/softness.h"
#include "motion/articulated/build.h"
#include "math/scalar.h"

bool mf_art_is_soft(const mf_ArticulatedConfig *config, const mf_Softness *softness) {
    return config->integrator == MF_ARTICULATED_IMPLICIT && mf_softness_is_stated(softness);
}

void mf_art_reference(const mf_Model *model, double step, const mf_Softness *softness, double *k,
                      double *b) {
    mf_softness_reference(softness, step, !(model->physics.disabled & MF_DISABLE_SAFE_REFERENCE), k,
                          b);
}

// The four values of drive.h. Powers other than 1 count as 2.
static void grade(const mf_Softness *softness, double out[4]) {
    const double *z = softness->impedance;
    out[0] = z[2] > 1e-9 ? 1.0 / z[2] : 1e9;
    out[1] = mf_softness_clip(z[0]);
    out[2] = mf_softness_clip(z[1]) - out[1];
    out[3] = z[4] > 1.5 ? mf_softness_clip(z[3]) : 0.0;
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
    grade(softness, c + MF_ART_LIMIT_WIDTH);
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
    double *give;
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(give, motion->plan->link_count)));
    const mf_Status status = mf_art_give_find(motion, model, give, context, error);
    for (uint32_t l = 0; status == MF_OK && l < motion->plan->link_count; l++)
        if (has_soft_limit(motion, model, l))
            set_limit(motion, model, l, give[l]);
    mf_release(context, give);
    return status;
}
