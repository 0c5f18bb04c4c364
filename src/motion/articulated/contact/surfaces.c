// What the contacts of a plan do: friction, softness and margin of the shape together with the
// ground's, by MuJoCo's rules for mixing, unless the settings say otherwise.
//
// Softness is that of softness.c: a spring, a damper and a mass that moves along, linear in what
// the step solves for, so it acts at the end of the step as every contact does (contact.h). The
// impedance, which MuJoCo raises with the depth, is the mean of its two ends.
#include "contact/softness.h"
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <math.h>

typedef struct Surfaces {
    mf_ArtMotion *motion;
    const mf_Model *model;
    mf_ArtGround ground;
    double step;        // [s]
    const double *ease; // [1/kg] of the model's shapes
} Surfaces;

// The pair of a contact's shape and the ground. False where nothing is said: a point, or a shape
// made by hand without contact parameters.
static bool find_pair(const Surfaces *s, uint32_t number, mf_CollideClass *pair) {
    return number != MF_NONE && s->model->shapes[number].dimension > 0 &&
           mf_art_ground_pair(&s->ground, number, pair);
}

static bool is_soft(const mf_ArtMotion *motion, const mf_Softness *softness) {
    const mf_ArticulatedConfig *config = &motion->config;
    bool requested = config->contact_stiffness > 0.0 || config->contact_time > 0.0 ||
                     !isnan(config->contact_damping);
    return !requested && mf_art_is_soft(config, softness);
}

static void set_soft(const Surfaces *s, const mf_Softness *softness, uint32_t i, double *c) {
    mf_ArtContact *contact = &s->motion->contacts[i];
    double impedance = mf_softness_clip(0.5 * (softness->impedance[0] + softness->impedance[1]));
    double mass = impedance / ((1.0 - impedance) * s->ease[contact->shape]), k, b;
    mf_art_reference(s->model, s->step, softness, &k, &b);
    k *= impedance;
    contact->heavy = true;
    c[MF_ART_TOUCH_FORCE] = mass * k;
    c[MF_ART_TOUCH_DRAG] = mass * b;
    c[MF_ART_TOUCH_MASS] = mass / s->step;
}

static void set_surface(const Surfaces *s, uint32_t i) {
    const mf_ArtMotion *motion = s->motion;
    const mf_ArticulatedConfig *config = &motion->config;
    mf_ArtContact *contact = &s->motion->contacts[i];
    double *c = mf_art_contact_constants(motion, i);
    mf_CollideClass pair;
    c[MF_ART_TOUCH_FORCE] = motion->constants_f64[MF_ART_FORCE];
    c[MF_ART_TOUCH_DRAG] = motion->constants_f64[MF_ART_DRAG];
    c[MF_ART_TOUCH_SLIDING] = 1.0;
    if (find_pair(s, contact->shape, &pair)) {
        c[MF_ART_TOUCH_SLIDING] = pair.dimension >= 3 ? pair.friction[0] : 0.0;
        c[MF_ART_TOUCH_TORSION] = pair.dimension >= 4 ? pair.friction[2] : 0.0;
        c[MF_ART_TOUCH_ROLLING] = pair.dimension >= 6 ? pair.friction[3] : 0.0;
        c[MF_ART_TOUCH_MARGIN] = pair.margin;
        contact->rotates = c[MF_ART_TOUCH_TORSION] > 0.0 || c[MF_ART_TOUCH_ROLLING] > 0.0;
        if (is_soft(motion, &pair.softness))
            set_soft(s, &pair.softness, i, c);
    }
    if (!isnan(config->friction))
        c[MF_ART_TOUCH_SLIDING] = config->friction;
    c[MF_ART_TOUCH_BRAKE] = c[MF_ART_TOUCH_DRAG] / s->step;
}

mf_Status mf_art_surfaces_fill(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                               mf_Error *error) {
    Surfaces s = {.motion = motion,
                  .model = model,
                  .ground = mf_art_ground(model),
                  .step = motion->constants_f64[MF_ART_STEP]};
    bool soft = false;
    mf_CollideClass pair;
    for (uint32_t i = 0; i < motion->plan->contact_count; i++)
        soft = soft ||
               (find_pair(&s, motion->contacts[i].shape, &pair) && is_soft(motion, &pair.softness));
    double *ease = NULL;
    mf_Status status = MF_OK;
    if (soft) {
        MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(ease, model->shape_count)));
        status = mf_art_ease_find(motion, model, ease, context, error);
    }
    s.ease = ease;
    for (uint32_t i = 0; status == MF_OK && i < motion->plan->contact_count; i++)
        set_surface(&s, i);
    mf_release(context, ease);
    return status;
}
