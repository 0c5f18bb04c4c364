// What the contacts of a plan do: friction, softness and margin of the shape together with the
// ground's, by MuJoCo's rules for mixing, unless the settings say otherwise.
//
// Softness: MuJoCo (documentation, "Computation", constraint model) asks of a contact at depth d
// with speed v that
//     a = z (-b v + k d) + (1 - z) a0,    k = z / (w^2 T^2 r^2),  b = 2 / (w T)
// where a0 is its acceleration without the contact, T and r are solref, z is the impedance and w
// its largest value; solref below 0 gives k = z stiffness / w^2 and b = damping / w. With the mass
// m that the contact moves by itself this is the force
//     f = G (k d - b v - a),    G = m z / (1 - z)
// that is a spring, a damper and a mass that moves along: linear in what the step solves for, so it
// acts at the end of the step as every contact does (contact.h). The impedance, which MuJoCo raises
// with the depth, is the mean of its two ends.
#include "motion/articulated/build.h"
#include "math/scalar.h"
#include "model/draft.h"

#include <math.h>

typedef struct Surfaces {
    mf_ArtPlan *plan;
    const mf_Model *model;
    double step;        // [s]
    uint32_t ground;    // [1] shape, MF_NONE
    const double *ease; // [1/kg] of the base and links
} Surfaces;

static double clamp(double a, double least, double most) {
    return a < least ? least : a > most ? most : a;
}

// The pair of a contact's shape and the ground. A shape on a ground that is no shape is alone.
// False where nothing is said: a point, or a shape made by hand without contact parameters.
static bool find_pair(const mf_Model *model, uint32_t ground, uint32_t number,
                      mf_CollidePair *pair) {
    const mf_Shape *shape = number != MF_NONE ? &model->shapes[number] : NULL;
    if (shape == NULL || shape->dimension == 0)
        return false;
    if (ground != MF_NONE && mf_collide_match(model, number, ground, pair))
        return true;
    *pair =
        (mf_CollidePair){.dimension = shape->dimension,
                         .margin = shape->margin,
                         .softness = shape->softness,
                         .friction = {shape->friction[0], shape->friction[0], shape->friction[1],
                                      shape->friction[2], shape->friction[2]}};
    return true;
}

// A file that says nothing has MuJoCo's default, which is taken for nothing.
static bool is_soft(const mf_ArtPlan *plan, const mf_Softness *softness) {
    const mf_Softness none = mf_softness();
    const mf_ArticulatedConfig *config = &plan->config;
    bool said = false;
    for (int i = 0; i < 2; i++)
        said = said || softness->reference[i] < none.reference[i] ||
               softness->reference[i] > none.reference[i];
    for (int i = 0; i < 5; i++)
        said = said || softness->impedance[i] < none.impedance[i] ||
               softness->impedance[i] > none.impedance[i];
    bool asked = config->contact_stiffness > 0.0 || config->contact_time > 0.0 ||
                 !isnan(config->contact_damping);
    return said && !asked && config->integrator == MF_ARTICULATED_IMPLICIT;
}

// Stiffness [1/s^2] and damping [1/s] of a softness.
static void reference(const Surfaces *s, const mf_Softness *softness, double impedance, double *k,
                      double *b) {
    const double least = 1e-4, stiffest = 100.0 / (s->step * s->step);
    double widest = clamp(softness->impedance[1], least, 1.0 - least);
    double time = softness->reference[0], ratio = softness->reference[1];
    if (time > 0.0) {
        if (!(s->model->physics.disabled & MF_DISABLE_SAFE_REFERENCE))
            time = time > 2.0 * s->step ? time : 2.0 * s->step;
        double slow = widest * time * ratio;
        *k = impedance / (slow * slow);
        *b = 2.0 / (widest * time);
    } else {
        *k = -time * impedance / (widest * widest);
        *b = -ratio / widest;
    }
    // The ends of what float can solve; no file means more. A ratio of 0 is the upper.
    *k = clamp(*k, 0.0, stiffest);
    *b = clamp(*b, 0.0, 10.0 / s->step);
}

static void set_soft(const Surfaces *s, const mf_Softness *softness, uint32_t i, double *c) {
    const double least = 1e-4;
    mf_ArtContact *contact = &s->plan->contacts[i];
    double impedance =
        clamp(0.5 * (softness->impedance[0] + softness->impedance[1]), least, 1.0 - least);
    double mass = impedance / ((1.0 - impedance) * s->ease[contact->link + 1]), k, b;
    reference(s, softness, impedance, &k, &b);
    contact->heavy = true;
    c[MF_ART_TOUCH_PUSH] = mass * k;
    c[MF_ART_TOUCH_DRAG] = mass * b;
    c[MF_ART_TOUCH_MASS] = mass / s->step;
}

static void set_surface(const Surfaces *s, uint32_t i) {
    const mf_ArtPlan *plan = s->plan;
    const mf_ArticulatedConfig *config = &plan->config;
    mf_ArtContact *contact = &s->plan->contacts[i];
    double *c = plan->constants_f64 + plan->contact_offset + (size_t)i * MF_ART_CONTACT_VALUES;
    mf_CollidePair pair;
    c[MF_ART_TOUCH_PUSH] = plan->constants_f64[MF_ART_PUSH];
    c[MF_ART_TOUCH_DRAG] = plan->constants_f64[MF_ART_DRAG];
    c[MF_ART_TOUCH_SLIDING] = 1.0;
    if (find_pair(s->model, s->ground, contact->shape, &pair)) {
        c[MF_ART_TOUCH_SLIDING] = pair.dimension >= 3 ? pair.friction[0] : 0.0;
        c[MF_ART_TOUCH_TURNING] = pair.dimension >= 4 ? pair.friction[2] : 0.0;
        c[MF_ART_TOUCH_ROLLING] = pair.dimension >= 6 ? pair.friction[3] : 0.0;
        c[MF_ART_TOUCH_MARGIN] = pair.margin;
        contact->turns = c[MF_ART_TOUCH_TURNING] > 0.0 || c[MF_ART_TOUCH_ROLLING] > 0.0;
        if (is_soft(plan, &pair.softness))
            set_soft(s, &pair.softness, i, c);
    }
    if (!isnan(config->friction))
        c[MF_ART_TOUCH_SLIDING] = config->friction;
    c[MF_ART_TOUCH_BRAKE] = c[MF_ART_TOUCH_DRAG] / s->step;
}

mf_Status mf_art_surfaces_fill(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                               mf_Error *error) {
    Surfaces s = {.plan = plan,
                  .model = model,
                  .step = plan->constants_f64[MF_ART_STEP],
                  .ground = mf_art_ground_shape(model)};
    bool soft = false;
    mf_CollidePair pair;
    for (uint32_t i = 0; i < plan->contact_count; i++)
        soft = soft || (find_pair(model, s.ground, plan->contacts[i].shape, &pair) &&
                        is_soft(plan, &pair.softness));
    double *ease = NULL;
    mf_Status status = MF_OK;
    if (soft) {
        ease = mf_allocate(context, plan->link_count + 1, sizeof *ease);
        status = ease == NULL ? mf_fail(error, MF_NO_MEMORY, "articulated: out of memory")
                              : mf_art_ease_find(plan, model, ease, context, error);
    }
    s.ease = ease;
    for (uint32_t i = 0; status == MF_OK && i < plan->contact_count; i++)
        set_surface(&s, i);
    mf_release(context, ease);
    return status;
}
