// One step of the `rigid` and `prescribed` motions for a few lanes: joints along their paths, and a
// base that responds to contacts and gravity, for `prescribed` also to the motion of the joints.
// docs/explanation/rigid.md has the equations.

#include "motion/articulated/tree/integrate.h"
#include "motion/articulated/tree/momentum.h"
#include "motion/body/ground.h"

// ---- advance ------------------------------------------------------------------------------------

// Integration: joints, base and stored values of contacts, one step ahead.

// ---- step ---------------------------------------------------------------------------------------

// One step of a driven robot: joints along their paths, then the base. In world axes about the
// base's origin, with total mass m, first moment h, inertia J, acceleration of the origin a
// (without gravity) and angular acceleration b
//     J b + h x a + n = torque,    m a + b x h + f = force
// which is the 6x6 part of the composite-rigid-body equations (Friedmann, Petersen and von Stryk
// 2008, equation 3). For `prescribed` f and n are the forces of the moving links (body.h); for
// `rigid` those of one rigid body with the rate w: f = w x (w x h), n = w x J w.

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

// External forces; NaN and infinity in those of the base are input faults.
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

// Largest descent of a contact within a step.
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

static MF_INLINE void limbs_find(const mf_DrivenPlan *plan, const State *state,
                                 const mf_lane *given, bool moves, Driven *work) {
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

// Positions and sums of all links. `moves` is a constant: each value has its own loops.
static MF_INLINE void tree_find(const mf_DrivenPlan *plan, const State *state, const mf_lane *given,
                                bool moves, Driven *work) {
    limbs_find(plan, state, given, moves, work);
    bodies_sum(plan, moves, &work->limbs, work->tensors, &work->base);
}

// The equations without contacts, about the base's origin in world axes.
typedef struct Free {
    Sym inertia;
    Vec moment, force, torque;
} Free;

static inline Free free_of(const State *state, const Outside *outside, bool moves, const Mat *world,
                           const Body *base) {
    const Sym *z = &base->inertia;
    const Sym own = {z->yy + z->zz, z->xx + z->zz, z->xx + z->yy, -z->xy, -z->xz, -z->yz};
    Free out = {.inertia = sym_rotate(world, &own), .moment = mat_apply(world, base->moment)};
    Vec force = base->force, torque = base->torque;
    if (!moves) {
        const Vec w = state->rate;
        force = vec_cross(w, vec_cross(w, base->moment));
        torque = vec_cross(w, sym_apply(&own, w));
    }
    out.force = vec_sub(outside->force, mat_apply(world, force));
    out.torque = vec_sub(outside->torque, mat_apply(world, torque));
    return out;
}

static MF_INLINE void six_set(const Free *free, mf_lane mass, Six *six) {
    const Sym *j = &free->inertia;
    const Vec h = free->moment;
    const mf_lane zero = mf_zero();
    const mf_lane rows[6][6] = {{j->xx},
                                {j->xy, j->yy},
                                {j->xz, j->yz, j->zz},
                                {zero, h.z, -h.y, mass},
                                {-h.z, zero, h.x, zero, mass},
                                {h.y, -h.x, zero, zero, zero, mass}};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++)
            six->m[i][k] = rows[i][k];
    six->r[0] = free->torque.x;
    six->r[1] = free->torque.y;
    six->r[2] = free->torque.z;
    six->r[3] = free->force.x;
    six->r[4] = free->force.y;
    six->r[5] = free->force.z;
}

static MF_INLINE void six_solve(Six *six, Vec *angular, Vec *linear) {
    mf_lane inverse[6];
    solve_six(six->m, inverse, six->r);
    *angular = MF_VALUE(Vec, six->r[0], six->r[1], six->r[2]);
    *linear = MF_VALUE(Vec, six->r[3], six->r[4], six->r[5]);
}

// Acceleration of the base: `linear` in world axes, `angular` in its own. `given` are those of the
// joints, `step` 0: all forces are present ones.
static inline void accelerate(const mf_DrivenPlan *plan, const mf_ArtBlock *block,
                              const State *state, const mf_lane *given, const Outside *outside,
                              bool moves, mf_lane step, Driven *work, Vec *angular, Vec *linear) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    Six six;
    Vec angular_acceleration, along;
    const Vec weight = vec_scale(up_in_world(art), -setting(art, MF_ART_GRAVITY));
    if (moves)
        tree_find(plan, state, given, true, work);
    else
        tree_find(plan, state, given, false, work);
    const Free free = free_of(state, outside, moves, &work->limbs.world, &work->base);
    const mf_lane mass = mf_set(driven_constants(plan, -1)[MF_DRIVEN_CARRIED]);
    ground_find(plan, block, state, given, &work->limbs, weight, step, &work->ground);
    for (int round = 1; round <= CONTACT_ROUNDS; round++) {
        six_set(&free, mass, &six);
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

// ---- advance ------------------------------------------------------------------------------------

// The joints' state at some time within the step, and their accelerations there.
static MF_INLINE void paths_at(const mf_ArtPlan *plan, const State *from, const Paths *paths,
                               mf_lane ahead, State *state, mf_lane *given) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        mf_lane mean;
        state->angle[l] = from->angle[l];
        state->speed[l] = from->speed[l];
        path_ahead(paths, l, ahead, &state->angle[l], &state->speed[l], &mean);
        given[l] = mf_fma(paths->jerk[l], ahead, paths->acceleration[l]);
    }
}

// `low`: remainders of the joints' sums; NULL: the step is too long to need them.
static MF_INLINE void paths_step(const mf_ArtPlan *plan, mf_lane step, State *state, State *low,
                                 Paths *paths) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        mf_lane mean;
        if (low != NULL)
            path_sum(paths, l, step, &state->angle[l], &state->speed[l], &low->angle[l],
                     &low->speed[l]);
        else
            path_ahead(paths, l, step, &state->angle[l], &state->speed[l], &mean);
        paths->acceleration[l] = mf_fma(paths->jerk[l], step, paths->acceleration[l]);
    }
}

static MF_INLINE State *joints_low(const Step *s, State *low) {
    return low_of(s->block, MF_ART_ROW_RATE) != NULL ? low : NULL;
}

// ---- spins --------------------------------------------------------------------------------------

// Lanes in which no contact is within reach of the step.
static inline mf_mask lanes_in_flight(const Ground *ground) {
    mf_mask flies = mf_mask_all();
    for (uint32_t i = 0; i < ground->contact_count; i++)
        flies = mf_and(flies, mf_not(ground->contact_points[i].may));
    return flies;
}

// The robot as one body at the present angles, about its center.
static inline Whole whole_of(const mf_DrivenPlan *plan, const Body *body) {
    const Sym *z = &body->inertia;
    const Composite sum = {
        .mass = mf_set(driven_constants(plan, -1)[MF_DRIVEN_CARRIED]),
        .moment = body->moment,
        .inertia = {z->yy + z->zz, z->xx + z->zz, z->xx + z->yy, -z->xy, -z->xz, -z->yz}};
    Whole whole = {.drift = vec_zero(), .own = vec_zero()};
    whole.center = vec_scale(sum.moment, mf_set((mf_real)1) / sum.mass);
    whole.inertia = about_center(&sum, whole.center);
    return whole;
}

// Before the step: the conserved momentum in flight (momentum.h), with reactions of limbs that of
// all links; on the ground such a robot uses the torque at the beginning.
static inline Start rotation_start(const mf_DrivenPlan *plan, const State *state, const State *low,
                                   bool moves, const Driven *work) {
    const bool tree = moves && mf_driven_art(plan)->link_count > 0;
    Start start = start_of(state, low, tree ? lanes_in_flight(&work->ground) : mf_mask_all());
    start.riders = work->riders;
    start.any = mf_any(start.flies);
    if (start.any && tree)
        whole_find(mf_driven_art(plan), state, start.riders, &start.whole);
    else if (start.any)
        start.whole = whole_of(plan, &work->base);
    return start;
}

// After it.
static inline void rotation_keep(const mf_DrivenPlan *plan, const Start *start,
                                 const Outside *outside, const Rates *rates, bool moves,
                                 mf_lane step, Driven *work, State *state, State *low) {
    if (!start->any)
        return;
    if (!moves || mf_driven_art(plan)->link_count == 0) {
        keep_body(start, rates, mf_zero(), step, &work->warnings, state, low);
        return;
    }
    const Rates force = {.linear = outside->force,
                         .angular = mat_apply_transposed(&work->limbs.world, outside->torque)};
    keep_tree(mf_driven_art(plan), start, &force, step, &work->warnings, state, low);
}

// Semi-implicit: velocities first, the pose with the new ones. Joints have their mean acceleration,
// so that the base reacts to the whole change of their rates.
static inline void step_euler(const Step *s, const mf_DrivenBlock *block, const Outside *outside,
                              bool moves, State *state, State *low, Paths *paths, Driven *work) {
    const mf_ArtPlan *plan = s->plan;
    const mf_lane step = setting(plan, MF_ART_STEP), half = mf_set((mf_real)0.5);
    const bool implicit = plan->integrator == MF_ARTICULATED_IMPLICIT;
    mf_lane *given = work->given;
    Rates rates = {.joint = NULL, .ball = NULL}; // of the base alone
    Start start = {.any = false};
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++)
        if (links[l].kind != MF_ART_BALL)
            given[l] = mf_fma(paths->jerk[l] * step, half, paths->acceleration[l]);
    work->ground.implicit = implicit;
    if (!plan->fixed) {
        accelerate(block->plan, &block->art, state, given, outside, moves,
                   implicit ? step : mf_zero(), work, &rates.angular, &rates.linear);
        start = rotation_start(block->plan, state, low, moves, work);
        state->velocity = vec_sum_fma(rates.linear, step, state->velocity, &low->velocity);
        state->rate = vec_sum_fma(rates.angular, step, state->rate, &low->rate);
        state->position = vec_sum_fma(state->velocity, step, state->position, &low->position);
        state->attitude = quat_sum_plus(quat_change(state->attitude, state->rate, step),
                                        state->attitude, &low->attitude);
    }
    paths_step(plan, step, state, joints_low(s, low), paths);
    rotation_keep(block->plan, &start, outside, &rates, moves, step, work, state, low);
}

typedef struct BaseSlope {
    Vec position, velocity, rate;
    Quat attitude;
} BaseSlope;

static MF_INLINE void base_ahead(const State *from, const BaseSlope *slope, mf_lane step,
                                 State *out) {
    out->position = vec_fma(slope->position, step, from->position);
    out->attitude = quat_normalize(quat_fma(slope->attitude, step, from->attitude));
    out->velocity = vec_fma(slope->velocity, step, from->velocity);
    out->rate = vec_fma(slope->rate, step, from->rate);
}

// The same, of a state with its remainders.
static MF_INLINE void base_sum(const BaseSlope *slope, mf_lane step, State *state, State *low) {
    const Quat rotated = quat_fma(slope->attitude, step, quat_zero());
    state->position = vec_sum_fma(slope->position, step, state->position, &low->position);
    state->attitude = quat_sum_plus(rotated, state->attitude, &low->attitude);
    state->velocity = vec_sum_fma(slope->velocity, step, state->velocity, &low->velocity);
    state->rate = vec_sum_fma(slope->rate, step, state->rate, &low->rate);
}

// `stage` is space for a state.
static inline void step_rk4(const Step *s, const mf_DrivenBlock *block, const Outside *outside,
                            bool moves, State *state, State *low, State *stage, Paths *paths,
                            Driven *work) {
    // Time and weight of each stage.
    static const mf_real ahead[4] = {0, (mf_real)0.5, (mf_real)0.5, 1};
    static const mf_real weight[4] = {1, 2, 2, 1};
    const mf_ArtPlan *plan = s->plan;
    const mf_real step = constant_shared(plan_constants(plan), MF_ART_STEP);
    state_copy(plan, state, stage);
    BaseSlope sum = {
        vec_zero(), vec_zero(), vec_zero(), {mf_zero(), mf_zero(), mf_zero(), mf_zero()}};
    BaseSlope slope = sum;
    mf_lane *given = work->given;
    work->ground.implicit = false;
    for (int i = 0; i < 4 && !plan->fixed; i++) {
        const mf_lane w = mf_set(weight[i]), part = mf_set(ahead[i] * step);
        base_ahead(state, &slope, part, stage);
        paths_at(plan, state, paths, part, stage, given);
        slope.position = stage->velocity;
        slope.attitude = quat_rate(stage->attitude, stage->rate);
        accelerate(block->plan, &block->art, stage, given, outside, moves, mf_zero(), work,
                   &slope.rate, &slope.velocity);
        sum.position = vec_fma(slope.position, w, sum.position);
        sum.attitude = quat_fma(slope.attitude, w, sum.attitude);
        sum.velocity = vec_fma(slope.velocity, w, sum.velocity);
        sum.rate = vec_fma(slope.rate, w, sum.rate);
    }
    if (!plan->fixed)
        base_sum(&sum, mf_set(step * (mf_real)(1.0 / 6.0)), state, low);
    paths_step(plan, mf_set(step), state, joints_low(s, low), paths);
}

// ---- results of contacts ------------------------------------------------------------------------

static MF_INLINE void load_keep(const Step *s, uint32_t number, mf_mask touched, mf_lane load,
                                mf_lane slip) {
    mf_real *loads = (mf_real *)s->block->rows[MF_ART_ROW_LOAD] + (size_t)number * MF_BLOCK;
    mf_real *slips = (mf_real *)s->block->rows[MF_ART_ROW_SLIP] + (size_t)number * MF_BLOCK;
    mf_mask before = mf_differ(mf_less_equal(mf_abs(mf_load(loads)), mf_zero()), mf_mask_all());
    mf_mask where = mf_and(s->alive, mf_or(touched, before));
    mf_store_where(where, loads, load);
    mf_store_where(where, slips, slip);
}

// Contacts in the air. Most were in the air in the previous step, too, and are zero; four
// independent sums hide latency.
static inline void loads_clear(const Step *s, uint32_t from, uint32_t to) {
    const mf_real *rows = (const mf_real *)s->block->rows[MF_ART_ROW_LOAD];
    mf_lane sums[4] = {mf_zero(), mf_zero(), mf_zero(), mf_zero()};
    uint32_t row = from;
    for (; row + 4 <= to; row += 4)
        for (uint32_t k = 0; k < 4; k++)
            sums[k] = sums[k] + mf_abs(mf_load(rows + (size_t)(row + k) * MF_BLOCK));
    for (; row < to; row++)
        sums[0] = sums[0] + mf_abs(mf_load(rows + (size_t)row * MF_BLOCK));
    if (mf_all(mf_less_equal((sums[0] + sums[1]) + (sums[2] + sums[3]), mf_zero())))
        return;
    for (uint32_t i = from; i < to; i++)
        load_keep(s, i, mf_not(mf_mask_all()), mf_zero(), mf_zero());
}

static inline void loads_store(const Step *s, const Ground *ground) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < ground->contact_count; i++) {
        const ContactPoint *contact_point = &ground->contact_points[i];
        loads_clear(s, next, contact_point->number);
        load_keep(s, contact_point->number, contact_point->may, contact_point->load,
                  contact_point->slides);
        next = contact_point->number + 1;
    }
    loads_clear(s, next, s->plan->contact_count);
}

// ---- one step -----------------------------------------------------------------------------------

// All that a step needs to remember, in the block's scratch.
typedef struct StepMemory {
    State state, low, stage; // low: remainders of the state's sums
    Paths paths;
    Driven work;
} StepMemory;

static inline void memory_carve(const mf_DrivenPlan *plan, mf_Carver *carver, StepMemory *memory) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    state_carve(art, carver, &memory->state);
    state_carve(art, carver, &memory->low);
    if (art->integrator == MF_ARTICULATED_RK4)
        state_carve(art, carver, &memory->stage);
    paths_carve(art, carver, &memory->paths);
    driven_carve(art, carver, &memory->work);
}

static inline size_t driven_size(const mf_DrivenPlan *plan) {
    mf_Carver carver = {NULL, 0};
    StepMemory memory, *own;
    MF_CARVE(&carver, own, 1);
    memory_carve(plan, &carver, &memory);
    return carver.used;
}

static inline void driven_step(const mf_DrivenBlock *block) {
    const bool moves = block->plan->moves;
    Step s = {.block = &block->art, .plan = block->art.plan};
    s.alive = mf_index_equal(mf_load_index((const int32_t *)block->art.fault), mf_set_index(0));
    s.all_alive = mf_all(s.alive);
    if (!mf_any(s.alive))
        return;
    mf_Carver carver = {(char *)block->art.scratch, 0};
    StepMemory *memory;
    MF_CARVE(&carver, memory, 1);
    memory_carve(block->plan, &carver, memory);
    State *state = &memory->state;
    Paths *paths = &memory->paths;
    Driven *work = &memory->work;
    Outside outside;
    load_state(&block->art, state);
    load_low_base(&block->art, &memory->low);
    if (joints_low(&s, &memory->low) != NULL)
        load_low_joints(&block->art, &memory->low);
    for (uint32_t b = 0; b < s.plan->ball_count; b++)
        state->ball_rate[b] = vec_zero(); // fixed joints
    outside_load(&s, block, &outside);
    paths_load(&s, block, state, joints_low(&s, &memory->low), paths);
    work->ground.contact_count = 0;
    work->warnings.any = false;
    if (s.plan->integrator == MF_ARTICULATED_RK4)
        step_rk4(&s, block, &outside, moves, state, &memory->low, &memory->stage, paths, work);
    else
        step_euler(&s, block, &outside, moves, state, &memory->low, paths, work);
    check_state(&s, state);
    store_state(&s, state);
    if (!s.plan->fixed)
        store_low_base(&s, &memory->low);
    if (joints_low(&s, &memory->low) != NULL)
        store_low_joints(&s, &memory->low);
    paths_store(&s, block, paths);
    loads_store(&s, &work->ground);
    warnings_store(&work->warnings, &block->art.warnings, s.alive);
}

// ---- driven kernel ------------------------------------------------------------------------------

size_t MF_KERNEL(mf_driven_scratch_size)(const mf_DrivenPlan *plan) {
    return driven_size(plan);
}

void MF_KERNEL(mf_driven_step)(const mf_DrivenBlock *block) {
    driven_step(block);
}
