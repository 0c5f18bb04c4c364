// One step of the `articulated` motion for a few lanes: a tree of links by articulated bodies, with
// joint forces and ground contacts. docs/explanation/articulated.md has the equations.
//
// Invariants: a lane never reads another lane; nothing of a lane whose new state is not finite or
// out of range is stored (it raises its fault word and is frozen).
#include "motion/articulated/robot_step.h"

#if !defined(MF_ART_VARIED)
size_t MF_KERNEL(mf_articulated_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    StepMemory memory, *own;
    MF_CARVE(&carver, own, 1);
    memory_carve(plan, &carver, &memory);
    if (plan->law)
        return carver.used + MF_KERNEL(mf_articulated_constrain_scratch_size)(plan);
    return carver.used + (plan->coupled ? MF_KERNEL(mf_articulated_couple_scratch_size)(plan) : 0);
}
#endif

static void advance(const Step *s, const Drive *drive, StepMemory *memory) {
    const mf_ArtPlan *plan = s->plan;
    const Rates *force = &memory->force, *rates = &memory->rates;
    Work *work = &memory->work;
    State *state = &memory->state;
    const mf_lane step = setting(plan, MF_ART_STEP);
    State *low = &memory->low;
    const Start start =
        start_note(plan, state, low, lanes_in_flight(s, drive, work), memory->riders);
    memcpy(work->ball_before, state->ball, plan->ball_count * sizeof *state->ball);
    memcpy(work->ball_low, low->ball, plan->ball_count * sizeof *low->ball);
    floating_note(plan, state, work->floating);
    floating_note(plan, low, work->floating_low);
    integrate_euler(plan, state, low, rates, step);
    if (plan->ball_count > 0 && !plan->law)
        keep_balls(plan, work, step, state, low);
    keep_momentum(plan, &start, force, rates, step, &work->warnings, state, low);
    keep_floating(plan, lanes_alone(s, drive), rates, step, work, state, low);
}

static void step_euler(const Step *s, Drive *drive, StepMemory *memory) {
    const State *state = drive->state = &memory->state;
    const Rates *force = &memory->force;
    Work *work = &memory->work;
    bind_contacts(s, work);
    forward_dynamics(s->plan, state, drive, force, work, &memory->rates);
    settle_loads(s->plan, state, drive, work, memory->loads);
    keep_actuators(s, &work->actuation, &memory->actuated);
    keep_requested(s->plan, state, drive, force, &memory->rates, work, &memory->requested);
    advance(s, drive, memory);
    if (drive->before != NULL)
        keep_accelerations(s, lanes_struck(s, drive, work), &memory->rates);
}

static void step_rk4(const Step *s, Drive *drive, StepMemory *memory) {
    // Where the slope of each stage is taken, and what it weighs.
    static const mf_real ahead[4] = {0, (mf_real)0.5, (mf_real)0.5, 1};
    static const mf_real weight[4] = {1, 2, 2, 1};
    const mf_real step = constant_shared(plan_constants(s->plan), MF_ART_STEP);
    State *state = &memory->state, *stage = &memory->stage;
    Slope *sum = &memory->sum, *last = &memory->last;
    Work *work = &memory->work;
    work->contacts.implicit = false;
    work->contacts.terrain = s->block->terrain;
    work->contacts.load = NULL;
    work->link_contacts.memory = work->link_contacts.slots = NULL;
    for (int i = 0; i < 4; i++) {
        const State *now = drive->state = i == 0 ? state : stage;
        const mf_lane distance = mf_set(ahead[i] * step);
        if (i > 0)
            slope_apply(s->plan, stage, state, last, distance);
        forward_dynamics(s->plan, now, drive, &memory->force, work, &memory->rates);
        slope_find(s->plan, last, now, &memory->rates, i == 0, distance);
        slope_add(s->plan, sum, last, i == 0, mf_set(weight[i]));
    }
    if (s->plan->keeps_stage)
        store_stage(s, stage);
    keep_requested(s->plan, stage, drive, &memory->force, &memory->rates, work, &memory->requested);
    slope_apply_sums(s->plan, state, &memory->low, sum, mf_set(step * (mf_real)(1.0 / 6.0)));
    settle_loads(s->plan, stage, drive, work, memory->loads);
    keep_actuators(s, &work->actuation, &memory->actuated);
}

void MF_ART_KERNEL(mf_articulated_step)(const mf_ArtBlock *block) {
    Step s = {.block = block, .plan = block->plan};
    s.alive = mf_index_equal(mf_load_index((const int32_t *)block->fault), mf_set_index(0));
    s.all_alive = mf_all(s.alive);
    if (!mf_any(s.alive))
        return;
    StepMemory *memory = memory_open(block);
    Drive drive = drive_begin(&s, memory);
    if (s.plan->integrator == MF_ARTICULATED_RK4)
        step_rk4(&s, &drive, memory);
    else
        step_euler(&s, &drive, memory);
    store_step(&s, memory);
}
