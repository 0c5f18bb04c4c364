// One step of the `articulated` motion for a few lanes: a tree of links by articulated bodies, with
// joint forces and ground contacts. docs/explanation/articulated.md has the equations.
//
// Invariants: a lane never reads another lane; nothing of a lane whose new state is not finite or
// out of range is stored (it raises its fault word and is frozen).
#include "motion/articulated/robot_step.h"

size_t MF_KERNEL(mf_articulated_room)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Room room, *own;
    MF_CARVE(&carver, own, 1);
    room_carve(plan, &carver, &room);
    if (plan->law)
        return carver.used + MF_KERNEL(mf_articulated_constrain_room)(plan);
    return carver.used + (plan->coupled ? MF_KERNEL(mf_articulated_couple_room)(plan) : 0);
}

static void advance(const Step *s, const Drive *drive, Room *room) {
    const mf_ArtPlan *plan = s->plan;
    const Rates *force = &room->force, *rates = &room->rates;
    Work *work = &room->work;
    State *state = &room->state;
    const mf_lane step = setting(plan, MF_ART_STEP);
    State *low = &room->low;
    const Start start = start_note(plan, state, low, lanes_in_flight(s, drive, work), room->riders);
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

static void step_euler(const Step *s, Drive *drive, Room *room) {
    const State *state = drive->state = &room->state;
    const Rates *force = &room->force;
    Work *work = &room->work;
    bind_contacts(s, work);
    forward_dynamics(s->plan, state, drive, force, work, &room->rates);
    settle_loads(s->plan, state, drive, work, room->loads);
    keep_actuators(s, &work->actuation, &room->actuated);
    keep_requested(s->plan, state, drive, force, &room->rates, work, &room->requested);
    advance(s, drive, room);
    if (drive->before != NULL)
        keep_accelerations(s, lanes_struck(s, drive, work), &room->rates);
}

static void step_rk4(const Step *s, Drive *drive, Room *room) {
    // Where the slope of each stage is taken, and what it weighs.
    static const mf_real ahead[4] = {0, (mf_real)0.5, (mf_real)0.5, 1};
    static const mf_real weight[4] = {1, 2, 2, 1};
    const mf_real step = MF_ART_CONSTANTS(s->plan)[MF_ART_STEP];
    State *state = &room->state, *stage = &room->stage;
    Slope *sum = &room->sum, *last = &room->last;
    Work *work = &room->work;
    work->contacts.implicit = false;
    work->contacts.terrain = s->block->terrain;
    work->contacts.load = NULL;
    work->link_contacts.memory = NULL;
    for (int i = 0; i < 4; i++) {
        const State *now = drive->state = i == 0 ? state : stage;
        const mf_lane way = mf_set(ahead[i] * step);
        if (i > 0)
            slope_apply(s->plan, stage, state, last, way);
        forward_dynamics(s->plan, now, drive, &room->force, work, &room->rates);
        slope_find(s->plan, last, now, &room->rates, i == 0, way);
        slope_add(s->plan, sum, last, i == 0, mf_set(weight[i]));
    }
    if (s->plan->keeps_stage)
        store_stage(s, stage);
    keep_requested(s->plan, stage, drive, &room->force, &room->rates, work, &room->requested);
    slope_apply_sums(s->plan, state, &room->low, sum, mf_set(step * (mf_real)(1.0 / 6.0)));
    settle_loads(s->plan, stage, drive, work, room->loads);
    keep_actuators(s, &work->actuation, &room->actuated);
}

void MF_KERNEL(mf_articulated_step)(const mf_ArtBlock *block) {
    Step s = {.block = block, .plan = block->plan};
    s.alive = mf_index_equal(mf_load_index((const int32_t *)block->fault), mf_set_index(0));
    s.all_alive = mf_all(s.alive);
    if (!mf_any(s.alive))
        return;
    Room *room = room_open(block);
    Drive drive = drive_begin(&s, room);
    if (s.plan->integrator == MF_ARTICULATED_RK4)
        step_rk4(&s, &drive, room);
    else
        step_euler(&s, &drive, room);
    store_step(&s, room);
}
