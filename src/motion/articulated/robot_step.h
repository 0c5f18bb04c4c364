// Parts of a step of `articulated` that its kernels share (articulated_kernel.c for single robots,
// assembly_kernel.c for joined ones): inputs, working memory, and outputs.
#pragma once

#include "motion/articulated/tree/forward.h"
#include "motion/articulated/tree/integrate.h"
#include "motion/articulated/tree/momentum.h"
#include "motion/articulated/constraint/load_mocaps.h"
#include "motion/articulated/step.h"
#include "motion/articulated/tree/linkage.h"
#include "motion/articulated/actuator/external_wrench.h"

// ---- external wrench add ------------------------------------------------------------------------

// Wrenches of collisions on single links, as forces of the coordinates that move them (J^T f): each
// joint gets those on all links that it carries, along or about its axis, and the base all of them.
// Computed only if some lane has a wrench, and added only in lanes that have one.

typedef struct WrenchFrame {
    Mat rotation; // own axes to the world's
    Vec position; // [m] from the origin of the base, world axes
    Vec force, torque;
} WrenchFrame;

static inline void external_wrenches_load(const mf_ArtPlan *plan, mf_mask loaded,
                                          const mf_real *rows, ExternalWrenches *wrenches) {
    for (uint32_t l = 0; l <= plan->link_count; l++)
        wrenches->force[l] = wrenches->torque[l] = vec_zero();
    const mf_ArtFrame *frames = mf_art_frames(plan);
    for (uint32_t l = 0; l < plan->wrench_links; l++) {
        const uint32_t to = (uint32_t)(frames[l].link + 1);
        wrenches->force[to] = vec_add(wrenches->force[to], vec_load(rows, 6 * (size_t)l));
        wrenches->torque[to] = vec_add(wrenches->torque[to], vec_load(rows, 6 * (size_t)l + 3));
    }
    for (uint32_t l = 0; l <= plan->link_count; l++) {
        wrenches->force[l] = vec_select(loaded, wrenches->force[l], vec_zero());
        wrenches->torque[l] = vec_select(loaded, wrenches->torque[l], vec_zero());
    }
}

static MF_INLINE mf_lane wrench_sum(mf_mask loaded, mf_lane a, mf_lane b) {
    return mf_select(loaded, a + b, a);
}

static MF_INLINE Vec wrench_sum_vec(mf_mask loaded, Vec a, Vec b) {
    return vec_select(loaded, vec_add(a, b), a);
}

// `frames` is space for one per plan link and the base.
static __attribute__((noinline)) void
external_wrenches_add(const mf_ArtPlan *plan, const State *state, mf_mask loaded,
                      WrenchFrame *frames, ExternalWrenches *wrenches, Rates *force) {
    frames[0] = MF_VALUE(WrenchFrame, quat_matrix(state->attitude), vec_zero(), wrenches->force[0],
                         wrenches->torque[0]);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const WrenchFrame *parent = &frames[links[l].parent + 1];
        const Frame local = link_frame(plan, state, l);
        frames[l + 1] = MF_VALUE(WrenchFrame, mat_multiply(&parent->rotation, &local.rotation),
                                 mat_apply_add(&parent->rotation, local.position, parent->position),
                                 wrenches->force[l + 1], wrenches->torque[l + 1]);
    }
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const mf_ArtLink *link = &links[l];
        const WrenchFrame *own = &frames[l + 1];
        WrenchFrame *parent = &frames[link->parent + 1];
        const Vec axis = {own->rotation.xz, own->rotation.yz, own->rotation.zz};
        Vec about = vec_sub(own->torque, vec_cross(own->position, own->force));
        if (link->kind == MF_ART_BALL)
            force->ball[link->row] = wrench_sum_vec(loaded, force->ball[link->row],
                                                    mat_apply_transposed(&own->rotation, about));
        else
            force->joint[l] =
                wrench_sum(loaded, force->joint[l],
                           vec_dot(axis, link->kind == MF_ART_HINGE ? about : own->force));
        parent->force = vec_add(parent->force, own->force);
        parent->torque = vec_add(parent->torque, own->torque);
    }
    wrenches->linear = force->linear;
    wrenches->angular = force->angular;
    force->linear = wrench_sum_vec(loaded, force->linear, frames[0].force);
    force->angular = wrench_sum_vec(loaded, force->angular,
                                    mat_apply_transposed(&frames[0].rotation, frames[0].torque));
}

// ---- robot step ---------------------------------------------------------------------------------

// External forces; NaN and infinity in them, or in a target that is read, are input faults.
static inline void load_forces(Step *s, const State *state, Rates *force) {
    const mf_ArtBlock *block = s->block;
    const mf_ArtPlan *plan = s->plan;
    const mf_real *torque = row_of(block, MF_ART_ROW_TORQUE);
    const mf_real *target = row_of(block, MF_ART_ROW_TARGET);
    Vec moment = vec_load(row_of(block, MF_ART_ROW_BASE_TORQUE), 0);
    force->linear = vec_load(row_of(block, MF_ART_ROW_BASE_FORCE), 0);
    mf_lane sum = mf_abs(force->linear.x) + mf_abs(force->linear.y) + mf_abs(force->linear.z) +
                  mf_abs(moment.x) + mf_abs(moment.y) + mf_abs(moment.z);
    Mat world = quat_matrix(state->attitude);
    force->angular = mat_apply_transposed(&world, moment);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL) {
            Vec ball = vec_load(row_of(block, MF_ART_ROW_BALL_TORQUE), 3 * link->row);
            force->ball[link->row] = ball;
            sum = sum + mf_abs(ball.x) + mf_abs(ball.y) + mf_abs(ball.z);
            continue;
        }
        force->joint[l] = link->inner ? mf_zero() : row_load(torque, link->row);
        sum = sum + mf_abs(force->joint[l]);
        if (link->drive & MF_ART_HAS_SERVO)
            sum = sum + mf_abs(row_load(target, link->row));
    }
    for (uint32_t i = 0; i < plan->actuator_count; i++)
        sum = sum + mf_abs(row_load(row_of(block, MF_ART_ROW_CONTROL), i));
    raise_fault(s, mf_finite(sum), MF_FAULT_INPUT);
    // Clamps drop NaN, so activations and the memory of contacts are checked here.
    mf_lane inner = mf_zero();
    for (uint32_t i = 0; i < plan->contact_count; i++)
        inner = inner + mf_abs(row_load(row_of(block, MF_ART_ROW_LOAD), i)) +
                mf_abs(row_load(row_of(block, MF_ART_ROW_SLIP), i));
    for (uint32_t i = 0; plan->has_activation && i < plan->actuator_count; i++)
        inner = inner + mf_abs(row_load(row_of(block, MF_ART_ROW_ACTIVATION), i));
    for (uint32_t i = 0; plan->has_slew && i < plan->actuator_count; i++)
        inner = inner + mf_abs(row_load(row_of(block, MF_ART_ROW_SLEWED), 2 * i));
    raise_fault(s, mf_finite(inner), MF_FAULT_NONFINITE);
}

// The inputs of servos: non-finite values and negative gains are input faults.
static inline void check_servos(Step *s) {
    const mf_real *gain = row_of(s->block, MF_ART_ROW_SERVO_GAIN);
    const mf_real *damping = row_of(s->block, MF_ART_ROW_SERVO_DAMPING);
    const mf_ArtLink *links = mf_art_links(s->plan);
    mf_lane sum = mf_zero(), least = mf_zero();
    for (uint32_t l = 0; gain != NULL && l < s->plan->link_count; l++) {
        const uint32_t joint = links[l].joint;
        if (!(links[l].drive & MF_ART_HAS_SERVO))
            continue;
        const mf_lane g = row_load(gain, joint), d = row_load(damping, joint);
        sum = sum + mf_abs(g) + mf_abs(d) +
              mf_abs(row_load(row_of(s->block, MF_ART_ROW_SERVO_RATE), joint)) +
              mf_abs(row_load(row_of(s->block, MF_ART_ROW_SERVO_TORQUE), joint));
        least = mf_min(least, mf_min(g, d));
    }
    if (gain == NULL)
        return;
    raise_fault(s, mf_and(mf_finite(sum), mf_less_equal(mf_zero(), least)), MF_FAULT_INPUT);
}

// The forces of collisions, if any lane has some. Returns whether it does.
static inline bool load_wrenches(const Step *s, const State *state, WrenchFrame *frames,
                                 ExternalWrenches *wrenches, Rates *force) {
    if (s->block->wrench == NULL)
        return false;
    mf_index count = mf_load_index((const int32_t *)s->block->wrench_count);
    mf_mask loaded = mf_not(mf_index_equal(count, mf_set_index(0)));
    if (!mf_any(loaded))
        return false;
    external_wrenches_load(s->plan, loaded, (const mf_real *)s->block->wrench, wrenches);
    external_wrenches_add(s->plan, state, loaded, frames, wrenches, force);
    return true;
}

// The errors of contacts and the total load [N]: forces that would pull, and missing forces.
typedef struct Unsettled {
    mf_lane wrong, sum;
} Unsettled;

// `loads`, or NULL: load of each.
static inline Unsettled contacts_sum(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                     const Work *work, mf_lane (*loads)[2]) {
    const mf_lane zero = mf_zero();
    Unsettled out = {zero, zero};
    Passed passed = {.link = MF_ART_WORLD};
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        if (!work->contacts.any || !touch->near)
            continue;
        const mf_lane load = load_at_end(plan, state, drive, work, i, &passed);
        const mf_lane clamped = mf_max(load, zero);
        const mf_lane bears = mf_keep(touch->presses, clamped);
        const mf_lane wrong =
            mf_select(touch->presses, clamped - load, mf_keep(touch->may, clamped));
        out.wrong = out.wrong + wrong;
        out.sum = out.sum + bears;
        if (loads != NULL)
            loads[i][0] = bears;
    }
    return out;
}

static MF_INLINE void warn_unsettled(mf_lane part, Work *work) {
    if (work->contacts.implicit)
        warnings_raise(&work->warnings, mf_less(mf_set((mf_real)MF_ART_UNSETTLED), part),
                       MF_WARNING_SOLVER, part);
}

// A contact with the ground is too deep if the center of its ball is below the surface; a point, if
// it is deeper than the extent of its link's contacts.
static MF_INLINE mf_lane touch_thickness(const mf_ArtPlan *plan, uint32_t i) {
    const Constant *c = contact_constants(plan, i);
    const int32_t link = mf_art_contacts(plan)[i].link;
    if (constant_shared(c, 3) > 0)
        return constant_at(c, 3);
    return constant_at(link < 0 ? base_constants(plan) : link_constants(plan, (uint32_t)link),
                       MF_ART_AROUND);
}

static inline void warn_deep(const mf_ArtPlan *plan, Work *work) {
    mf_mask deep = mf_not(mf_mask_all());
    mf_lane most = mf_zero();
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        if (!touch->near)
            continue;
        const mf_mask own = mf_and(touch->may, mf_less(touch_thickness(plan, i), touch->depth));
        deep = mf_or(deep, own);
        most = mf_max(most, mf_keep(own, touch->depth));
    }
    warnings_raise(&work->warnings, deep, MF_WARNING_DEPTH, most);
}

// Final loads, and initial speeds along the ground. The active set was determined before the
// couplings, in a fixed number of rounds, so it may be inexact.
static inline Unsettled find_loads(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                   const Work *work, mf_lane (*loads)[2]) {
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        loads[i][0] = loads[i][1] = mf_zero();
        if (!work->contacts.any || !touch->near)
            continue;
        loads[i][1] = mf_keep(touch->presses, touch->slides);
        if (plan->hard || plan->law)
            loads[i][0] = mf_keep(touch->may, touch->load);
    }
    if (!work->contacts.any || plan->hard || plan->law)
        return MF_VALUE(Unsettled, mf_zero(), mf_zero());
    return contacts_sum(plan, state, drive, work, loads);
}

// The same, with a warning if the error exceeds a tenth of the loads or the weight.
static inline void settle_loads(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                Work *work, mf_lane (*loads)[2]) {
    const Unsettled all = find_loads(plan, state, drive, work, loads);
    const mf_lane weight = setting(plan, MF_ART_ALL_MASS) * setting(plan, MF_ART_GRAVITY);
    warn_deep(plan, work);
    warn_unsettled(all.wrong / mf_max(mf_max(all.sum, weight), mf_set(MF_REAL_EPSILON)), work);
}

// ---- outputs for sensors ------------------------------------------------------------------------

// As at the end of the step, whose accelerations are `rates`.
typedef struct Requested {
    ZoneWrench *zones;
    mf_lane *limits, *tendon_limits; // per plan link, per tendon
    mf_lane *lengths, *pulls;        // per tendon of the model
    mf_lane *touches;                // per touch site
} Requested;

static inline void keep_spans(const mf_ArtPlan *plan, const State *state, Work *work,
                              Requested *requested) {
    const mf_ArtSpan *spans = mf_art_spans(plan);
    for (uint32_t t = 0; t < plan->span_count; t++) {
        const mf_ArtSpan *span = &spans[t];
        const mf_ArtTerm *terms = mf_art_terms(plan) + span->first_term;
        const mf_lane pull = -work->pushes[t];
        mf_lane length = mf_zero();
        TendonPath path;
        for (uint32_t i = 0; i < span->term_count; i++)
            length = mf_fma(mf_set((mf_real)terms[i].weight), state->angle[terms[i].link], length);
        if (span->path != MF_NONE && plan->zone_count > 0 && span->felt)
            tendon_feel(plan, work, t, pull);
        else if (span->path != MF_NONE && !span->looked)
            tendon_path(plan, state, work, t, &path);
        requested->lengths[t] = span->path != MF_NONE ? work->lengths[t] : length;
        requested->pulls[t] = pull;
    }
}

static inline mf_lane limit_force(const State *state, const mf_ArtLink *link, const LimitLoad *load,
                                  const Line *line, mf_lane gain, const Rates *rates) {
    const mf_lane zero = mf_zero(), tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    if (link->kind == MF_ART_BALL) { // along the rotation axis
        const Quat q = state->ball[link->row];
        Vec axis = {q.x, q.y, q.z};
        mf_lane size = mf_max(mf_sqrt(vec_dot(axis, axis)), tiny);
        gain = vec_dot(axis, rates->ball[link->row]) / size;
        gain = mf_select(mf_less(q.w, zero), -gain, gain);
    }
    mf_lane force = mf_fma(-line->slope, gain, line->torque);
    if (link->drive & MF_ART_SOFT_LIMIT)
        return mf_keep(load->active, mf_abs(force));
    // A limit never pulls, even if other forces move the joint away within the step.
    return mf_keep(mf_less(zero, force * line->torque), mf_abs(force));
}

static inline void keep_requested(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                  const Rates *force, const Rates *rates, Work *work,
                                  Requested *requested) {
    if (plan->span_count > 0)
        keep_spans(plan, state, work, requested);
    if (sensors_feel(plan)) {
        sensor_wrench_given(plan, state, drive, force, work);
        if (work->contacts.any && !plan->hard && !plan->law)
            sensor_wrench_ground(plan, state, drive, work);
        memcpy(requested->zones, work->zones, plan->zone_count * sizeof *requested->zones);
        memcpy(requested->touches, work->touches, plan->touch_count * sizeof *work->touches);
    }
    for (uint32_t l = 0; plan->keeps_limits && plan->law && l < plan->link_count; l++)
        requested->limits[l] = work->limit_forces[l];
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->keeps_limits && !plan->law && l < plan->link_count; l++)
        if (links[l].drive & MF_ART_HAS_LIMIT)
            requested->limits[l] =
                limit_force(state, &links[l], &work->links[l].limit, &work->limits[l],
                            links[l].kind == MF_ART_BALL ? mf_zero() : rates->joint[l], rates);
    for (uint32_t i = 0; plan->keeps_limits && i < plan->tendon_count; i++)
        requested->tendon_limits[i] = work->tendon_limits[i];
}

static inline void store_requested(const Step *s, const Requested *requested) {
    const mf_ArtPlan *plan = s->plan;
    for (uint32_t z = 0; z < plan->zone_count; z++) {
        keep_vec(s, MF_ART_ROW_EXTERNAL, 6 * z, requested->zones[z].force);
        keep_vec(s, MF_ART_ROW_EXTERNAL, 6 * z + 3, requested->zones[z].torque);
    }
    for (uint32_t i = 0; i < plan->touch_count; i++)
        keep_store(s, MF_ART_ROW_TOUCH, i, requested->touches[i]);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->keeps_limits && l < plan->link_count; l++)
        if (links[l].drive & MF_ART_HAS_LIMIT)
            keep_store(s, MF_ART_ROW_LIMIT, links[l].joint, requested->limits[l]);
    for (uint32_t t = 0; t < plan->span_count; t++) {
        keep_store(s, MF_ART_ROW_TENDON_LENGTH, t, requested->lengths[t]);
        keep_store(s, MF_ART_ROW_TENDON_FORCE, t, requested->pulls[t]);
    }
    const mf_ArtTendon *tendons = mf_art_tendons(plan);
    for (uint32_t i = 0; plan->keeps_limits && i < plan->tendon_count; i++)
        keep_store(s, MF_ART_ROW_TENDON_LIMIT, tendons[i].tendon, requested->tendon_limits[i]);
}

// In the order of mf_articulated_report_stage. Failed lanes keep their values.
static inline void store_stage(const Step *s, const State *state) {
    const mf_ArtPlan *plan = s->plan;
    const uint32_t row = MF_ART_ROW_STAGE, joints = 13, balls = joints + 2 * plan->joint_count,
                   frees = balls + 7 * plan->ball_count;
    keep_vec(s, row, 0, state->position);
    keep_quat(s, row, 3, state->attitude);
    keep_vec(s, row, 7, state->velocity);
    keep_vec(s, row, 10, state->rate);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL) {
            keep_quat(s, row, balls + 4 * link->row, state->ball[link->row]);
            keep_vec(s, row, balls + 4 * plan->ball_count + 3 * link->row,
                     state->ball_rate[link->row]);
            continue;
        }
        const uint32_t first = link->inner ? frees : joints;
        const uint32_t count = link->inner ? 3 * plan->free_count : plan->joint_count;
        keep_store(s, row, first + link->row, state->angle[l]);
        keep_store(s, row, first + count + link->row, state->speed[l]);
    }
}

// ---- actuators ----------------------------------------------------------------------------------

typedef struct Actuated {        // outputs of a step
    mf_lane *force, *activation; // per actuator
} Actuated;

static inline void bind_actuators(const Step *s, Actuation *actuation) {
    actuation->control = row_of(s->block, MF_ART_ROW_CONTROL);
    actuation->activation = row_of(s->block, MF_ART_ROW_ACTIVATION);
    actuation->slewed = s->plan->has_slew ? row_of(s->block, MF_ART_ROW_SLEWED) : NULL;
    actuation->implicit = s->plan->integrator == MF_ARTICULATED_IMPLICIT && !s->plan->law;
}

// Activations move once a step, from its beginning.
static inline void keep_actuators(const Step *s, const Actuation *actuation, Actuated *out) {
    const mf_ArtActuator *actuators = mf_art_actuators(s->plan);
    for (uint32_t i = 0; i < s->plan->actuator_count; i++) {
        const mf_ArtActuator *actuator = &actuators[i];
        out->force[i] = actuation->force[i];
        if (actuator->dynamics != MF_DYNAMICS_NONE)
            out->activation[i] =
                actuator_next(actuation, actuator, actuator_constants(s->plan, i), i);
    }
}

static inline void store_actuators(const Step *s, const Actuated *actuated) {
    Actuation actuation;
    bind_actuators(s, &actuation);
    const mf_ArtActuator *actuators = mf_art_actuators(s->plan);
    for (uint32_t i = 0; i < s->plan->actuator_count; i++) {
        if (s->plan->has_slew) {
            const Constant *c = actuator_constants(s->plan, i);
            const mf_lane now = actuator_control(&actuation, c, i);
            keep_store(s, MF_ART_ROW_SLEWED, 2 * i, now);
            keep_store(s, MF_ART_ROW_SLEWED, 2 * i + 1, mf_set((mf_real)1));
        }
        keep_store(s, MF_ART_ROW_ACTUATOR_FORCE, i, actuated->force[i]);
        if (actuators[i].dynamics != MF_DYNAMICS_NONE)
            keep_store(s, MF_ART_ROW_ACTIVATION, i, actuated->activation[i]);
    }
}

// ---- stepping -----------------------------------------------------------------------------------

// Working memory of a step, in the block's scratch.
typedef struct StepMemory {
    State state, low, stage; // low: remainders of the state's sums
    Rates force, rates;
    Slope sum, last; // of Runge-Kutta
    Work work;
    ExternalWrenches wrenches;
    WrenchFrame *wrench_frames;
    Rider *riders;
    mf_lane (*loads)[2]; // per contact with the ground
    Actuated actuated;
    Requested requested;
} StepMemory;

// Memory that lasts for a whole step.
static inline void memory_carve_kept(const mf_ArtPlan *plan, mf_Carver *carver,
                                     StepMemory *memory) {
    const uint32_t links = plan->link_count;
    state_carve(plan, carver, &memory->state);
    state_carve(plan, carver, &memory->low);
    rates_carve(plan, carver, &memory->force);
    rates_carve(plan, carver, &memory->rates);
    if (plan->integrator == MF_ARTICULATED_RK4) {
        state_carve(plan, carver, &memory->stage);
        slope_carve(plan, carver, &memory->sum);
        slope_carve(plan, carver, &memory->last);
    }
    work_carve_kept(plan, carver, &memory->work);
    external_wrenches_carve(plan, carver, &memory->wrenches);
    MF_CARVE(carver, memory->wrench_frames, links + 1);
    MF_CARVE(carver, memory->riders, links + 1);
    MF_CARVE(carver, memory->actuated.force, plan->actuator_count);
    MF_CARVE(carver, memory->actuated.activation, plan->actuator_count);
    MF_CARVE(carver, memory->requested.zones, plan->zone_count);
    MF_CARVE(carver, memory->requested.limits, links);
    MF_CARVE(carver, memory->requested.tendon_limits, plan->tendon_count);
    MF_CARVE(carver, memory->requested.touches, plan->touch_count);
    MF_CARVE(carver, memory->requested.lengths, plan->span_count);
    MF_CARVE(carver, memory->requested.pulls, plan->span_count);
}

// Memory of one pass.
static inline void memory_carve_passing(const mf_ArtPlan *plan, mf_Carver *carver,
                                        StepMemory *memory) {
    work_carve_sums(plan, carver, &memory->work);
    link_contacts_carve(plan, carver, &memory->work.link_contacts);
    MF_CARVE(carver, memory->loads, plan->contact_count);
    memory->work.rest = *carver;
}

static inline void memory_carve(const mf_ArtPlan *plan, mf_Carver *carver, StepMemory *memory) {
    memory_carve_kept(plan, carver, memory);
    memory_carve_passing(plan, carver, memory);
}

static inline StepMemory *memory_open(const mf_ArtBlock *block) {
    mf_Carver carver = {(char *)block->scratch, 0};
    StepMemory *memory;
    MF_CARVE(&carver, memory, 1);
    memory_carve(block->plan, &carver, memory);
    return memory;
}

static inline void bind_solver(const Step *s, Solver *solver) {
    solver->warm = (mf_real *)s->block->rows[MF_ART_ROW_WARM];
    solver->residual = (mf_real *)s->block->rows[MF_ART_ROW_RESIDUAL];
    solver->iterations = (mf_real *)s->block->rows[MF_ART_ROW_ITERATIONS];
    solver->alive = s->alive;
    solver->sparse = s->block->sparse;
    solver->problems = s->block->problems;
}

// Lanes without contacts with other robots and without forces of joints between them.
static inline mf_mask lanes_alone(const Step *s, const Drive *drive) {
    if (drive->wrenches == NULL)
        return mf_mask_all();
    return mf_index_equal(mf_load_index((const int32_t *)s->block->wrench_count), mf_set_index(0));
}

// Lanes whose tree does not touch the ground, and with MuJoCo's law nothing at all. With the other
// laws the forces include those of collisions; single bodies do not need this test.
static inline mf_mask lanes_in_flight(const Step *s, const Drive *drive, const Work *work) {
    mf_mask flies = mf_mask_all();
    if (s->plan->law && !s->plan->fixed)
        return mf_and(lanes_alone(s, drive), lanes_without_push(work->pushed, 0));
    if (s->plan->link_count == 0)
        return flies;
    for (uint32_t i = 0; work->contacts.any && i < s->plan->contact_count; i++)
        if (work->contacts.touch[i].near)
            flies = mf_and(flies, mf_not(work->contacts.touch[i].may));
    return flies;
}

// Lanes with an impact or push, whose accelerations must not be extrapolated.
static inline mf_mask lanes_struck(const Step *s, const Drive *drive, const Work *work) {
    const mf_ArtPlan *plan = s->plan;
    mf_mask struck = work->touched;
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++)
        if (work->contacts.touch[i].near)
            struck = mf_or(struck, work->contacts.touch[i].may);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->limited && l < plan->link_count; l++)
        if (links[l].drive & MF_ART_HAS_LIMIT)
            struck = mf_or(struck, work->links[l].limit.active);
    return mf_or(struck, mf_not(lanes_alone(s, drive)));
}

// Accelerations for the next step, in lanes without impacts.
static inline void keep_accelerations(const Step *s, mf_mask struck, const Rates *rates) {
    const mf_ArtPlan *plan = s->plan;
    mf_mask smooth = mf_and(s->alive, mf_not(struck));
    const mf_ArtLink *links = mf_art_links(plan);
    mf_lane sum = plan->fixed ? mf_zero() : vec_size(rates->angular);
    for (uint32_t l = 0; l < plan->link_count; l++)
        if (links[l].kind != MF_ART_BALL)
            sum = sum + mf_abs(rates->joint[l]);
    smooth = mf_and(smooth, mf_finite(sum));
    if (!plan->fixed)
        keep_vec(s, MF_ART_ROW_BEFORE, 0, vec_keep(smooth, rates->angular));
    for (uint32_t l = 0; l < plan->link_count; l++)
        if (links[l].kind != MF_ART_BALL)
            keep_store(s, MF_ART_ROW_BEFORE, links[l].dof, mf_keep(smooth, rates->joint[l]));
}

// Inputs of a step besides the state.
static inline Drive drive_begin(Step *s, StepMemory *memory) {
    const mf_ArtBlock *block = s->block;
    load_state(block, &memory->state);
    load_low(block, &memory->low);
    load_mocaps(block, &memory->work);
    load_forces(s, &memory->state, &memory->force);
    check_servos(s);
    Drive drive = {.active = true,
                   .closes = s->plan->integrator != MF_ARTICULATED_RK4,
                   .step = s->plan->integrator == MF_ARTICULATED_IMPLICIT
                               ? setting(s->plan, MF_ART_STEP)
                               : mf_zero(),
                   .target = row_of(block, MF_ART_ROW_TARGET),
                   .gain = row_of(block, MF_ART_ROW_SERVO_GAIN),
                   .damping = row_of(block, MF_ART_ROW_SERVO_DAMPING),
                   .target_rate = row_of(block, MF_ART_ROW_SERVO_RATE),
                   .torque = row_of(block, MF_ART_ROW_SERVO_TORQUE)};
    drive.damps = drive.step;
    drive.before = row_of(block, MF_ART_ROW_BEFORE);
    drive.ahead = mf_set((mf_real)0.5) * drive.step;
    if (load_wrenches(s, &memory->state, memory->wrench_frames, &memory->wrenches, &memory->force))
        drive.wrenches = &memory->wrenches;
    drive.limits = s->plan->keeps_limits ? memory->work.limits : NULL;
    memory->work.warnings.any = false;
    memory->work.dropped = mf_not(mf_mask_all());
    bind_actuators(s, &memory->work.actuation);
    bind_solver(s, &memory->work.solver);
    return drive;
}

// Values of the previous step that Euler steps use.
static inline void bind_contacts(const Step *s, Work *work) {
    work->contacts.implicit = s->plan->integrator == MF_ARTICULATED_IMPLICIT;
    work->contacts.terrain = s->block->terrain;
    work->contacts.load = row_of(s->block, MF_ART_ROW_LOAD);
    work->contacts.slip = row_of(s->block, MF_ART_ROW_SLIP);
    work->link_contacts.memory = (mf_real *)s->block->rows[MF_ART_ROW_WARM_CONTACT];
    work->link_contacts.slots = (mf_real *)s->block->rows[MF_ART_ROW_WARM_FLOATING];
    work->link_contacts.alive = s->alive;
}

// Stores all outputs of a step.
static inline void store_step(Step *s, StepMemory *memory) {
    check_state(s, &memory->state);
    warnings_store(&memory->work.warnings, &s->block->warnings, s->alive);
    raise_fault(s, mf_not(memory->work.dropped), MF_FAULT_CONTACTS);
    store_state(s, &memory->state);
    store_low(s, &memory->low);
    for (uint32_t i = 0; i < s->plan->contact_count; i++) {
        keep_store(s, MF_ART_ROW_LOAD, i, memory->loads[i][0]);
        keep_store(s, MF_ART_ROW_SLIP, i, memory->loads[i][1]);
    }
    store_actuators(s, &memory->actuated);
    store_requested(s, &memory->requested);
}
