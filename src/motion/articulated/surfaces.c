// What the contacts of a plan do: friction, softness and margin of the shape together with the
// ground's, by MuJoCo's rules for mixing, unless the settings say otherwise.
//
// Softness is that of softness.c: a spring, a damper and a mass that moves along, linear in what
// the step solves for, so it acts at the end of the step as every contact does (contact.h). The
// impedance, which MuJoCo raises with the depth, is the mean of its two ends.
#include "motion/articulated/build.h"
#include "math/scalar.h"
#include "model/draft.h"

#include <math.h>

typedef struct Surfaces {
    mf_ArtPlan *plan;
    const mf_Model *model;
    double step;        // [s]
    const double *ease; // [1/kg] of the model's shapes
} Surfaces;

// The pair of a contact's shape and the ground. False where nothing is said: a point, or a shape
// made by hand without contact parameters.
static bool find_pair(const mf_Model *model, uint32_t number, mf_CollidePair *pair) {
    return number != MF_NONE && model->shapes[number].dimension > 0 &&
           mf_art_ground_pair(model, number, pair);
}

static bool is_soft(const mf_ArtPlan *plan, const mf_Softness *softness) {
    const mf_ArticulatedConfig *config = &plan->config;
    bool asked = config->contact_stiffness > 0.0 || config->contact_time > 0.0 ||
                 !isnan(config->contact_damping);
    return !asked && mf_art_is_soft(config, softness);
}

// Edges of MuJoCo's pyramids are n +- mu t, and each is regularised by the impedance of the first
// times 2 mu^2 (documentation, "Computation", friction cones).
static double of_edge(const mf_Model *model, double mu) {
    const double square = mu * mu / model->physics.friction_impedance_ratio;
    return 1.0 / (2.0 * square * (1.0 + mu * mu));
}

static void set_graded(const Surfaces *s, const mf_Softness *softness, uint32_t i, double *c) {
    const double mu = c[MF_ART_TOUCH_SLIDING];
    mf_ArtContact *contact = &s->plan->contacts[i];
    double k, b;
    mf_art_reference(s->model, s->step, softness, &k, &b);
    contact->graded = true;
    if (!(mu > 0.0))
        contact->edges = 1;
    else if (s->model->physics.cone == MF_CONE_PYRAMIDAL)
        contact->edges = 4;
    s->plan->edged |= contact->edges > 0;
    c[MF_ART_TOUCH_PUSH] = k;
    c[MF_ART_TOUCH_EASE] =
        (contact->edges == 4 ? of_edge(s->model, mu) : 1.0) / s->ease[contact->shape];
    c[MF_ART_TOUCH_BRAKING] = b;
    mf_art_grade(softness, c + MF_ART_TOUCH_WIDTH);
}

static void set_soft(const Surfaces *s, const mf_Softness *softness, uint32_t i, double *c) {
    mf_ArtContact *contact = &s->plan->contacts[i];
    double impedance = mf_art_impedance(0.5 * (softness->impedance[0] + softness->impedance[1]));
    double mass = impedance / ((1.0 - impedance) * s->ease[contact->shape]), k, b;
    mf_art_reference(s->model, s->step, softness, &k, &b);
    k *= impedance;
    contact->heavy = true;
    c[MF_ART_TOUCH_PUSH] = mass * k;
    c[MF_ART_TOUCH_DRAG] = mass * b;
    c[MF_ART_TOUCH_MASS] = mass / s->step;
    if (s->plan->config.like_mujoco && !s->plan->config.hard)
        set_graded(s, softness, i, c);
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
    if (find_pair(s->model, contact->shape, &pair)) {
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

// ---- contacts between links ---------------------------------------------------------------------

// Most sweeps: most contacts are alone and need two.
enum { LAW_SWEEPS = 400 };

// Rolling and turning friction, elliptic cones, and what else couples links, have no such rule.
static bool follows(const mf_ArtPlan *plan, const mf_Model *model) {
    bool all = plan->config.like_mujoco && !plan->config.hard && plan->collide != NULL &&
               plan->loop_count == 0 && plan->tendon_count == 0;
    for (uint32_t i = 0; all && i < plan->collide->pair_count; i++) {
        const mf_CollidePair *pair = &plan->collide->pairs[i];
        const bool slips = pair->dimension >= 3 && pair->friction[0] > 0.0;
        all = !plan->meets[i] || !slips ||
              (pair->dimension == 3 && model->physics.cone == MF_CONE_PYRAMIDAL);
    }
    return all;
}

static void set_law(const Surfaces *s, uint32_t i) {
    mf_ArtPlan *plan = s->plan;
    const mf_CollidePair *pair = &plan->collide->pairs[i];
    mf_ArtLaw *law = &plan->laws[i];
    const double ease = s->ease[plan->collide->shapes[pair->a].shape] +
                        s->ease[plan->collide->shapes[pair->b].shape];
    const double mu = pair->dimension == 3 ? pair->friction[0] : 0.0;
    mf_art_reference(s->model, s->step, &pair->softness, &law->stiffness, &law->damping);
    law->mass = (mu > 0.0 ? of_edge(s->model, mu) : 1.0) / ease;
    law->edges = mu > 0.0 ? 4 : 1;
    mf_art_grade(&pair->softness, law->impedance);
    if (plan->meets[i] && pair->margin > plan->reach)
        plan->reach = pair->margin;
}

static mf_Status set_laws(const Surfaces *s, mf_Context *context, mf_Error *error) {
    mf_ArtPlan *plan = s->plan;
    if (!follows(plan, s->model))
        return MF_OK;
    plan->laws = mf_allocate(context, plan->collide->pair_count, sizeof *plan->laws);
    if (plan->laws == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (uint32_t i = 0; i < plan->collide->pair_count; i++)
        set_law(s, i);
    plan->recalls = false; // forces are found anew in each step
    if (plan->config.sweeps == 0)
        plan->sweeps = LAW_SWEEPS;
    return MF_OK;
}

mf_Status mf_art_surfaces_fill(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                               mf_Error *error) {
    Surfaces s = {.plan = plan, .model = model, .step = plan->constants_f64[MF_ART_STEP]};
    bool soft = plan->config.like_mujoco && plan->collide != NULL;
    mf_CollidePair pair;
    for (uint32_t i = 0; i < plan->contact_count; i++)
        soft = soft ||
               (find_pair(model, plan->contacts[i].shape, &pair) && is_soft(plan, &pair.softness));
    double *ease = NULL;
    mf_Status status = MF_OK;
    if (soft) {
        ease = mf_allocate(context, model->shape_count, sizeof *ease);
        status = ease == NULL ? mf_fail(error, MF_NO_MEMORY, "articulated: out of memory")
                              : mf_art_ease_find(plan, model, ease, context, error);
    }
    for (uint32_t i = 0; status == MF_OK && ease != NULL && i < model->shape_count; i++) {
        const double slider = mf_art_slider_ease(model, model->shapes[i].body);
        if (plan->config.like_mujoco && slider > 0.0)
            ease[i] = slider;
    }
    s.ease = ease;
    for (uint32_t i = 0; status == MF_OK && i < plan->contact_count; i++)
        set_surface(&s, i);
    if (status == MF_OK && soft)
        status = set_laws(&s, context, error);
    mf_release(context, ease);
    return status;
}
