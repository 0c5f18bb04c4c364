// MuJoCo's constraint law of a plan: how soft each constraint is and what it gives way by, in the
// file's reference position (MuJoCo documentation, "Computation", constraint model, friction cones;
// softness.c has the equation of one constraint).
#include "contact/softness.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "math/scalar.h"
#include "model/draft.h"

#include <math.h>
#include <string.h>

#define LEAST_FRICTION 1e-5 // [1] of elliptic cones, and less is none, as MuJoCo's
// [1] Up to here MuJoCo's pyramid is softer the rougher its surfaces are; at 10 a box would sink by
// a quarter of a meter.
#define SOFTEST_FRICTION 2.0
// [1] The largest weight of a row of a contact, times what it gives way by: what still leaves the
// mass matrix its digits in the Hessian.
#define HARDEST_FLOAT 1e5
#define HARDEST_DOUBLE 1e9
#define NOTICED 0.9 // [1] of what the file says, from here on a note says it

typedef struct Laws {
    mf_ArtMotion *motion;
    const mf_Model *model;
    mf_ArtGround ground;
    double step; // [s]
    mf_ArtWeights weights;
} Laws;

static mf_ArtLaw law_of(const Laws *all, const mf_Softness *softness) {
    const double *z = softness->impedance;
    mf_ArtLaw law = {.dimension = 1};
    mf_art_reference(all->model, all->step, softness, &law.stiffness, &law.damping);
    law.friction_damping = law.damping;
    law.impedance[0] = mf_softness_clip(z[0]);
    law.impedance[1] = mf_softness_clip(z[1]);
    law.impedance[2] = z[2] > 1e-9 ? 1.0 / z[2] : 1e9;
    law.impedance[3] = mf_softness_clip(z[3]);
    law.impedance[4] = z[4] > 1.0 ? z[4] : 1.0;
    return law;
}

static void set_ease(mf_ArtLaw *law, double straight, double angular) {
    for (int i = 0; i < 6; i++) {
        law->ease[i] = i < 3 ? straight : angular;
        law->over[i] = 1.0;
    }
}

// MuJoCo's Runge-Kutta steps follow a stiff limit as it moves by itself, d' = v, v' = -z (b v +
// z k d), z the largest impedance. What such a step changes of v is linear in d and v; with k and b
// taken from it, a step of Euler ends with the same speed. The exponential of the motion's matrix
// times the step is cut off behind the fourth power, as it is by the method.
static void refine(double step, double widest, double *k, double *b) {
    const double stiff = *k * widest * widest * step, damp = *b * widest * step;
    double power[2] = {0.0, 1.0}, change[2] = {0.0, 0.0}, scale = 1.0;
    for (int n = 1; n <= 4; n++) { // the lower row of the matrix to the n-th power
        const double depth = -stiff * power[1], speed = step * power[0] - damp * power[1];
        power[0] = depth;
        power[1] = speed;
        scale /= n;
        change[0] += scale * depth;
        change[1] += scale * speed;
    }
    *k = -change[0] / (step * widest * widest);
    *b = -change[1] / (step * widest);
}

// ---- contacts -----------------------------------------------------------------------------------

// Squares of friction are at most this in the rows of a contact.
static double largest_square(const mf_ArtLaw *law) {
    double most = 0.0;
    for (uint32_t k = 1; k < law->dimension; k++)
        most = mf_larger(most, law->friction[k - 1] * law->friction[k - 1]);
    return most;
}

// The edges n +- mu t of a pyramid are all as soft as the first one, times 2 mu^2. An edge's share
// in the Hessian is 1 / ease along n and mu^2 / ease along t.
// True if it is softer than the file's.
static bool set_pyramid(mf_ArtLaw *law, double ratio, double hardest) {
    const double mu = mf_smaller(law->friction[0], SOFTEST_FRICTION), square = largest_square(law);
    double edge = 2.0 * mu * mu * (1.0 + mu * mu) / ratio;
    const double least = hardest * mf_larger(1.0, square);
    const bool softer = edge < NOTICED * least && square > 0.0;
    edge = mf_larger(edge, least);
    set_ease(law, edge, edge);
    if (square > 0.0)
        return softer;
    law->over[0] = 2.0 * (law->dimension - 1.0); // all edges are one
    law->dimension = 1;
    return softer;
}

// The rows of an elliptic cone are harder across the normal, by impratio. The cone is what bends
// where friction slips, so that all its rows share what can be had of impratio.
static bool set_ellipse(mf_ArtLaw *law, double ratio, double hardest) {
    if (!(largest_square(law) > LEAST_FRICTION * LEAST_FRICTION)) {
        law->dimension = 1;
        return false;
    }
    for (int i = 0; i < 5; i++)
        law->friction[i] = mf_larger(law->friction[i], LEAST_FRICTION);
    const double mu = law->friction[0];
    const double most = mu * mu / (hardest * largest_square(law));
    const bool softer = most < NOTICED * ratio;
    ratio = mf_smaller(ratio, most);
    law->cone = mu / mf_sqrt(ratio);
    for (uint32_t i = 1; i < 6; i++) {
        law->ease[i] = mu * mu / (law->friction[i - 1] * law->friction[i - 1]);
        law->over[i] = ratio;
    }
    return softer;
}

// Friction that the precision cannot hold gets softer, which a note says, and none is no row.
static void set_cone(const Laws *all, mf_ArtLaw *law) {
    const double ratio = all->model->physics.friction_impedance_ratio;
    const double widest = mf_larger(law->impedance[0], law->impedance[1]);
    const double hardest =
        widest / (1.0 - widest) / (all->motion->double_precision ? HARDEST_DOUBLE : HARDEST_FLOAT);
    set_ease(law, 1.0, 1.0);
    bool softer = false;
    if (law->dimension > 1)
        softer = all->motion->plan->elliptic ? set_ellipse(law, ratio, hardest)
                                             : set_pyramid(law, ratio, hardest);
    all->motion->softened += softer && !all->motion->double_precision;
}

static mf_ArtLaw contact_law(const Laws *all, const mf_CollideClass *pair) {
    const double *friction = pair->friction_reference;
    mf_ArtLaw law = law_of(all, &pair->softness);
    law.dimension = pair->dimension;
    law.margin = pair->margin;
    for (int i = 0; i < 5; i++)
        law.friction[i] = mf_larger(pair->friction[i], 0.0);
    if (all->motion->plan->elliptic && (mf_abs(friction[0]) > 0.0 || mf_abs(friction[1]) > 0.0)) {
        mf_Softness own = pair->softness;
        double stiffness;
        own.reference[0] = friction[0];
        own.reference[1] = friction[1];
        mf_art_reference(all->model, all->step, &own, &stiffness, &law.friction_damping);
    }
    set_cone(all, &law);
    return law;
}

void mf_art_contact_law(const mf_ArtMotion *motion, const mf_Model *model,
                        const mf_CollideClass *pair, mf_ArtLaw *out) {
    const Laws all = {.motion = (mf_ArtMotion *)(uintptr_t)motion,
                      .model = model,
                      .step = motion->constants_f64[MF_ART_STEP]};
    *out = contact_law(&all, pair);
}

static void set_ground(const Laws *all, uint32_t i) {
    const mf_ArtContact *contact = &all->motion->contacts[i];
    const mf_ArticulatedConfig *config = &all->motion->config;
    mf_CollideClass pair = {.dimension = 3, .softness = mf_softness()};
    const double weight = contact->shape != MF_NONE
                              ? all->weights.shapes[contact->shape]
                              : all->weights.links[2 * (size_t)(contact->link + 1)];
    // A point, or a shape made by hand without contact parameters.
    if (contact->shape == MF_NONE || all->model->shapes[contact->shape].dimension == 0 ||
        !mf_art_ground_pair(&all->ground, contact->shape, &pair))
        pair.friction[0] = pair.friction[1] = 1.0;
    if (!isnan(config->friction))
        pair.friction[0] = pair.friction[1] = config->friction;
    mf_ArtLaw *law = &all->motion->ground_laws[i];
    *law = contact_law(all, &pair);
    for (int k = 0; k < 6; k++) {
        law->ease[k] = weight * law->ease[k] / law->over[k];
        law->over[k] = 1.0;
    }
}

static void set_pairs(const Laws *all) {
    mf_ArtMotion *motion = all->motion;
    const mf_CollidePlan *collide = motion->collide;
    for (uint32_t i = 0; i < collide->class_count; i++)
        motion->laws[i] = contact_law(all, &mf_collide_classes(collide)[i]);
    for (uint32_t i = 0; i < collide->shape_count; i++)
        motion->shape_weights[i] = all->weights.shapes[mf_collide_shapes(collide)[i].shape];
    motion->plan->reach = mf_larger(motion->plan->reach, mf_art_pairs_most(motion).margin);
}

// ---- joints, tendons, equality constraints ------------------------------------------------------

static void set_joint(const Laws *all, uint32_t l) {
    const mf_ArtMotion *motion = all->motion;
    const mf_Joint *joint = &all->model->joints[motion->links[l].joint];
    const double ease = all->weights.joints[l];
    mf_ArtJointLaw *law = &motion->joint_laws[l];
    law->limit = law_of(all, &joint->limit_softness);
    law->dry = law_of(all, &joint->friction_softness);
    law->margin = joint->limit_margin;
    if (motion->plan->integrator == MF_ARTICULATED_IMPLICIT &&
        all->model->physics.integrator == MF_PHYSICS_RK4)
        refine(all->step, law->limit.impedance[1], &law->limit.stiffness, &law->limit.damping);
    set_ease(&law->limit, ease, ease);
    set_ease(&law->dry, ease, ease);
}

static void set_tendon(const Laws *all, uint32_t i) {
    mf_ArtTendon *tendon = &all->motion->tendons[i];
    const mf_Tendon *from = &all->model->tendons[tendon->tendon];
    tendon->limit = law_of(all, &from->limit_softness);
    tendon->dry = law_of(all, &from->friction_softness);
    tendon->margin = from->limit_margin;
    set_ease(&tendon->limit, all->weights.tendons[i], all->weights.tendons[i]);
    set_ease(&tendon->dry, all->weights.tendons[i], all->weights.tendons[i]);
}

// A joint that follows another (URDF's mimic) has no equality of the file.
static void set_loop(const Laws *all, uint32_t i) {
    mf_ArtLoop *loop = &all->motion->loops[i];
    const mf_Equality *from =
        loop->equality != MF_NONE ? &all->model->equalities[loop->equality] : NULL;
    const mf_Softness none = mf_softness();
    loop->law = law_of(all, from != NULL ? &from->softness : &none);
    loop->torque_scale = from != NULL ? from->torque_scale : 1.0;
    set_ease(&loop->law, all->weights.loops[2 * i], all->weights.loops[2 * i + 1]);
}

// ---- making -------------------------------------------------------------------------------------

static mf_Status allocate_laws(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                               mf_Error *error) {
    const mf_ArtPlan *plan = motion->plan;
    MF_TRY(MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(motion->shape_ease, model->shape_count),
                       MF_ARRAY(motion->link_ease, 2 * ((size_t)plan->link_count + 1))));
    return MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(motion->ground_laws, plan->contact_count),
                       MF_ARRAY(motion->joint_laws, plan->link_count + 1),
                       MF_ARRAY(motion->laws, plan->class_count),
                       MF_ARRAY(motion->shape_weights, plan->shape_count));
}

static uint32_t dofs_of(const mf_ArtLink *link) {
    return link->kind == MF_ART_BALL ? 3 : 1;
}

// The last dof of a plan link; MF_NONE: of a fixed base.
static uint32_t last_dof(const mf_ArtMotion *motion, int32_t link) {
    if (link < 0)
        return motion->plan->fixed ? MF_NONE : 5;
    return motion->links[link].dof + dofs_of(&motion->links[link]) - 1;
}

// Where rows of half the mass matrix start: each has its dof's own entry and those that carry it.
static void start_rows(mf_ArtMotion *motion) {
    uint32_t *start = motion->tree_start;
    start[0] = 0;
    for (uint32_t k = 0; !motion->plan->fixed && k < 6; k++)
        start[k + 1] = start[k] + k + 1;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        const uint32_t up = last_dof(motion, link->parent);
        const uint32_t above = up != MF_NONE ? start[up + 1] - start[up] : 0;
        for (uint32_t k = 0; k < dofs_of(link); k++)
            start[link->dof + k + 1] = start[link->dof + k] + above + k + 1;
    }
    motion->plan->tree_entries = start[motion->plan->dof_count];
}

static void fill_row(mf_ArtMotion *motion, uint32_t dof, uint32_t first, uint32_t up) {
    const uint32_t *start = motion->tree_start;
    uint16_t *to = motion->tree_column + start[dof];
    for (uint32_t i = 0; up != MF_NONE && i < start[up + 1] - start[up]; i++)
        *to++ = motion->tree_column[start[up] + i];
    for (uint32_t i = first; i <= dof; i++)
        *to++ = (uint16_t)i;
}

// Where the dofs that each one carries end, and whether they follow it.
static void end_rows(mf_ArtMotion *motion) {
    const uint32_t *start = motion->tree_start, dofs = motion->plan->dof_count;
    uint32_t carried = 0;
    for (uint32_t i = 0; i < dofs; i++) {
        for (uint32_t e = start[i]; e < start[i + 1]; e++)
            motion->tree_end[motion->tree_column[e]] = (uint16_t)(i + 1);
    }
    for (uint32_t i = 0; i < dofs; i++)
        carried += motion->tree_end[i] - i;
    motion->plan->nested = carried == motion->plan->tree_entries;
}

static mf_Status make_tree(mf_ArtMotion *motion, mf_Context *context, mf_Error *error) {
    MF_TRY(MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(motion->tree_start, motion->plan->dof_count + 1)));
    start_rows(motion);
    const uint32_t entries = motion->plan->tree_entries;
    if (entries > MF_MEMORY_MANY)
        MF_TRY(mf_memory_suffices(sizeof *motion->tree_column, entries,
                                  "entries of the mass matrix", error));
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->tree_column, entries),
                       MF_ARRAY(motion->tree_end, motion->plan->dof_count)));
    for (uint32_t k = 0; !motion->plan->fixed && k < 6; k++)
        fill_row(motion, k, 0, MF_NONE);
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        for (uint32_t k = 0; k < dofs_of(link); k++)
            fill_row(motion, link->dof + k, link->dof, last_dof(motion, link->parent));
    }
    end_rows(motion);
    return mf_art_pack(motion, context, error);
}

// What the rows of all contacts with the ground need.
static void count_ground(mf_ArtMotion *motion) {
    mf_ArtPlan *plan = motion->plan;
    plan->ground_rows = plan->ground_numbers = 0;
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const uint32_t rows = motion->ground_laws[i].dimension;
        const uint32_t last = last_dof(motion, motion->contacts[i].link);
        plan->ground_rows += rows;
        plan->ground_numbers += rows * (motion->tree_start[last + 1] - motion->tree_start[last]);
    }
}

// What acts at the end of the step: the damping of joints (Euler and the implicit integrators),
// what actuators lose with the rate (the implicit ones), servos of the settings.
static void find_resistance(mf_ArtMotion *motion, const mf_Model *model) {
    const mf_Physics *physics = &model->physics;
    const bool late = motion->plan->integrator == MF_ARTICULATED_IMPLICIT,
               implicit = physics->integrator == MF_PHYSICS_IMPLICIT ||
                          physics->integrator == MF_PHYSICS_IMPLICIT_FAST;
    bool damped = model->root != NULL && model->root->damping > 0.0, servo = false;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        damped |= (motion->links[l].drive & MF_ART_HAS_DAMPING) != 0;
        servo |= (motion->links[l].drive & MF_ART_HAS_SERVO) != 0;
    }
    const bool kept =
        physics->integrator == MF_PHYSICS_RK4 ||
        (physics->integrator == MF_PHYSICS_EULER && (physics->disabled & MF_DISABLE_EULER_DAMPING));
    motion->plan->parted = late && damped && !kept;
    motion->plan->fast = late && implicit;
    motion->plan->coriolis = late && physics->integrator == MF_PHYSICS_IMPLICIT;
    motion->plan->resists = motion->plan->parted || motion->plan->fast || (late && servo);
}

// What needs a matrix with an entry for any two dofs.
static mf_Status check_size(const mf_ArtMotion *motion, const mf_Model *model, mf_Error *error) {
    const mf_ArtPlan *plan = motion->plan;
    const char *what = plan->coriolis ? "the integrator implicit (implicitfast is for more)" : NULL;
    for (uint32_t i = 0; i < plan->tendon_count; i++)
        if (motion->tendons[i].armature > 0.0)
            what = "tendons with armature";
    if (plan->dof_count <= MF_ARTICULATED_DENSE_DOFS || what == NULL)
        return MF_OK;
    return mf_fail(error, MF_LIMIT, "articulated: model %s has %u velocities, at most %d with %s",
                   model->name, plan->dof_count, MF_ARTICULATED_DENSE_DOFS, what);
}

mf_Status mf_art_laws_fill(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                           mf_Error *error) {
    Laws all = {.motion = motion,
                .model = model,
                .ground = mf_art_ground(model),
                .step = motion->constants_f64[MF_ART_STEP]};
    if (!motion->plan->law)
        return MF_OK;
    motion->plan->elliptic = model->physics.cone == MF_CONE_ELLIPTIC;
    find_resistance(motion, model);
    MF_TRY(check_size(motion, model, error));
    MF_TRY(allocate_laws(motion, model, context, error));
    MF_TRY(make_tree(motion, context, error));
    MF_TRY(mf_art_weights_find(motion, model, &all.weights, context, error));
    for (uint32_t i = 0; i < motion->plan->contact_count; i++)
        set_ground(&all, i);
    count_ground(motion);
    if (motion->collide != NULL)
        set_pairs(&all);
    for (uint32_t l = 0; l < motion->plan->link_count; l++)
        set_joint(&all, l);
    for (uint32_t i = 0; i < motion->plan->tendon_count; i++)
        set_tendon(&all, i);
    for (uint32_t i = 0; i < motion->plan->loop_count; i++)
        set_loop(&all, i);
    mf_ArtLaw *base = &motion->joint_laws[motion->plan->link_count].dry;
    if (model->root != NULL)
        *base = law_of(&all, &model->root->friction_softness);
    set_ease(base, all.weights.base[0], all.weights.base[1]);
    motion->plan->noslip_iterations = model->physics.noslip_iterations;
    motion->plan->solver_steps = model->physics.solver_iterations;
    motion->plan->solver_gain = model->physics.solver_tolerance * all.weights.mean *
                                (motion->plan->dof_count > 0 ? motion->plan->dof_count : 1);
    motion->plan->noslip_least = model->physics.noslip_tolerance * all.weights.mean *
                                 (motion->plan->dof_count > 0 ? motion->plan->dof_count : 1);
    memcpy(motion->shape_ease, all.weights.shapes, model->shape_count * sizeof(double));
    memcpy(motion->link_ease, all.weights.links,
           2 * ((size_t)motion->plan->link_count + 1) * sizeof(double));
    mf_art_weights_free(&all.weights, context);
    return MF_OK;
}
