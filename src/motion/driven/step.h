// One step of a driven robot: joints along their paths, then the base. In world axes about the
// base's origin, with total mass m, first moment h, inertia J, acceleration of the origin a
// (gravity taken away) and of the turning b
//     J b + h x a + n = torque,    m a + b x h + f = force
// which is the 6x6 part of the composite-rigid-body equations (Friedmann, Petersen and von Stryk
// 2008, equation 3). For `prescribed` f and n are what moving and turning links need (body.h); for
// `rigid` what one rigid body needs that turns with w: f = w x (w x h), n = w x J w.
#ifndef MF_MOTION_DRIVEN_STEP_H
#define MF_MOTION_DRIVEN_STEP_H

#include "motion/articulated/integrate.h"
#include "motion/articulated/momentum.h"
#include "motion/driven/ground.h"

typedef struct Driven {
    Limbs limbs;
    Ground ground;
    Mat *tensors;      // acceleration tensors, of link l at l + 1
    Warnings warnings; // of this step
    Body base;         // all of it, in the base's axes
    Rider *riders;     // memory of whole_find (momentum.h)
    mf_lane *given;    // accelerations of joints, per plan link
} Driven;

static inline void driven_carve(const mf_ArtPlan *plan, mf_Carver *carver, Driven *work) {
    limbs_carve(plan, carver, &work->limbs);
    ground_carve(plan, carver, &work->ground);
    MF_CARVE(carver, work->tensors, plan->link_count + 1);
    MF_CARVE(carver, work->riders, plan->link_count + 1);
    MF_CARVE(carver, work->given, plan->link_count);
}

typedef struct Outside { // on the base's origin, world axes
    Vec force, torque;
} Outside;

// ---- external forces ----------------------------------------------------------------------------

// Forces from outside; NaN and infinity in those of the base is an input fault.
static inline void outside_load(Step *s, const mf_DrivenBlock *block, Outside *outside) {
    outside->force = vec_load(row_of(&block->art, MF_ART_ROW_BASE_FORCE), 0);
    outside->torque = vec_load(row_of(&block->art, MF_ART_ROW_BASE_TORQUE), 0);
    raise_fault(s, mf_finite(vec_size(outside->force) + vec_size(outside->torque)), MF_FAULT_INPUT);
    if (block->rows[MF_DRIVEN_ROW_WRENCH_COUNT] == NULL)
        return;
    mf_index count = mf_load_index((const int32_t *)block->rows[MF_DRIVEN_ROW_WRENCH_COUNT]);
    mf_mask loaded = mf_not(mf_index_equal(count, mf_set_index(0)));
    if (!mf_any(loaded))
        return;
    Vec force = vec_zero(), torque = vec_zero();
    for (uint32_t l = 0; l < block->plan->model_links; l++) {
        force = vec_add(
            force, vec_load((const mf_real *)block->rows[MF_DRIVEN_ROW_WRENCH], 6 * (size_t)l));
        torque = vec_add(torque, vec_load((const mf_real *)block->rows[MF_DRIVEN_ROW_WRENCH],
                                          6 * (size_t)l + 3));
    }
    outside->force = vec_add(outside->force, vec_select(loaded, force, vec_zero()));
    outside->torque = vec_add(outside->torque, vec_select(loaded, torque, vec_zero()));
}

// ---- candidate contacts -------------------------------------------------------------------------

static MF_INLINE void limb_near(const mf_DrivenPlan *plan, int32_t l, mf_lane fall, Limbs *limbs) {
    const mf_real *c = driven_constants(plan, l);
    Limb *own = &limbs->of[l + 1];
    own->close = own->posed = false;
    if (!mf_driven_all(plan)[l + 1].touches)
        return;
    mf_lane lowest = vec_dot_add(own->up, vec_constant(c + MF_DRIVEN_BALL), own->height);
    lowest = lowest - (mf_set(c[MF_DRIVEN_RADIUS]) + fall);
    own->near = mf_less(lowest, setting(mf_driven_art(plan), MF_ART_HIGHEST));
    own->close = own->posed = mf_any(own->near);
    limbs->any = limbs->any || own->close;
}

// How far down a contact can come within a step.
static inline mf_lane fall_most(const mf_DrivenPlan *plan, const State *state) {
    const mf_lane step = setting(mf_driven_art(plan), MF_ART_STEP);
    mf_lane most = mf_fma(vec_size(state->rate), driven_setting(plan, MF_DRIVEN_REACH),
                          vec_size(state->velocity));
    const mf_ArtLink *links = mf_art_links(mf_driven_art(plan));
    for (uint32_t l = 0; l < mf_driven_art(plan)->link_count; l++)
        if (links[l].kind != MF_ART_BALL)
            most = mf_fma(mf_abs(state->speed[l]),
                          mf_set(driven_constants(plan, (int32_t)l)[MF_DRIVEN_EXTENT]), most);
    return mf_fma(mf_set((mf_real)40) * step, step, step * most);
}

// ---- accelerations ------------------------------------------------------------------------------

static inline void limbs_find(const mf_DrivenPlan *plan, const State *state, const mf_lane *given,
                              bool moves, Driven *work) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    Limbs *limbs = &work->limbs;
    Limb *base = &limbs->of[0];
    const mf_lane fall = art->contact_count > 0 ? fall_most(plan, state) : mf_zero();
    limbs->any = false;
    limbs->world = quat_matrix(state->attitude);
    base->up = MF_VALUE(Vec, limbs->world.zx, limbs->world.zy, limbs->world.zz);
    base->height = state->position.z;
    base->rate = state->rate;
    base->angular_acceleration = base->acceleration = vec_zero();
    work->tensors[0] = acceleration_tensor(base->rate, base->angular_acceleration);
    limb_near(plan, -1, fall, limbs);
    for (uint32_t l = 0; l < art->link_count; l++) {
        Limb *own = &limbs->of[l + 1];
        limb_rotation(plan, state, l, limbs);
        limb_height(plan, l, limbs);
        limb_near(plan, (int32_t)l, fall, limbs);
        if (!moves)
            continue;
        limb_move(plan, state, given, l, work->tensors, limbs);
        work->tensors[l + 1] = acceleration_tensor(own->rate, own->angular_acceleration);
    }
    const mf_ArtLink *links = mf_art_links(art);
    for (uint32_t l = art->link_count; limbs->any && l-- > 0;)
        if (limbs->of[l + 1].posed)
            limbs->of[links[l].parent + 1].posed = true;
}

// The equations without contacts.
static inline void six_make(const mf_DrivenPlan *plan, const State *state, const Outside *outside,
                            bool moves, const Limbs *limbs, const Body *base, Six *six) {
    const Mat *world = &limbs->world;
    const Sym *z = &base->inertia;
    const mf_lane mass = mf_set(driven_constants(plan, -1)[MF_DRIVEN_CARRIED]), zero = mf_zero();
    const Sym own = {z->yy + z->zz, z->xx + z->zz, z->xx + z->yy, -z->xy, -z->xz, -z->yz};
    const Sym j = sym_rotate(world, &own);
    const Vec h = mat_apply(world, base->moment);
    Vec force = base->force, torque = base->torque;
    if (!moves) {
        const Vec w = state->rate;
        force = vec_cross(w, vec_cross(w, base->moment));
        torque = vec_cross(w, sym_apply(&own, w));
    }
    force = vec_sub(outside->force, mat_apply(world, force));
    torque = vec_sub(outside->torque, mat_apply(world, torque));
    const mf_lane rows[6][6] = {{j.xx},
                                {j.xy, j.yy},
                                {j.xz, j.yz, j.zz},
                                {zero, h.z, -h.y, mass},
                                {-h.z, zero, h.x, zero, mass},
                                {h.y, -h.x, zero, zero, zero, mass}};
    const mf_lane right[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
    six_set(six, rows, right);
}

static MF_INLINE void six_solve(Six *six, Vec *angular, Vec *linear) {
    mf_lane inverse[6];
    solve_six(six->m, inverse, six->r);
    *angular = MF_VALUE(Vec, six->r[0], six->r[1], six->r[2]);
    *linear = MF_VALUE(Vec, six->r[3], six->r[4], six->r[5]);
}

// Acceleration of the base: `linear` in world axes, `angular` in its own. `given` are those of the
// joints, `step` 0 where all forces are of now.
static inline void accelerate(const mf_DrivenPlan *plan, const mf_ArtBlock *block,
                              const State *state, const mf_lane *given, const Outside *outside,
                              bool moves, mf_lane step, Driven *work, Vec *angular, Vec *linear) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    Six free, six;
    Vec angular_acceleration, along;
    const Vec weight = vec_scale(up_in_world(art), -setting(art, MF_ART_GRAVITY));
    limbs_find(plan, state, given, moves, work);
    bodies_sum(plan, moves, &work->limbs, work->tensors, &work->base);
    six_make(plan, state, outside, moves, &work->limbs, &work->base, &free);
    ground_find(plan, block, state, given, &work->limbs, weight, step, &work->ground);
    for (int round = 1; round <= CONTACT_ROUNDS; round++) {
        six_set(&six, free.m, free.r);
        ground_add(plan, &work->ground, step, &six);
        six_solve(&six, &angular_acceleration, &along);
        if (round == CONTACT_ROUNDS || !work->ground.implicit || work->ground.contact_count == 0 ||
            !ground_revise(plan, step, angular_acceleration, along, &work->ground))
            break;
    }
    ground_loads(art, step, angular_acceleration, along, &work->ground, &work->warnings);
    *angular = mat_apply_transposed(&work->limbs.world, angular_acceleration);
    *linear = vec_add(along, weight);
}

#endif
