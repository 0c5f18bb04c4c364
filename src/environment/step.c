// One step of all robots, and the start of episodes. Work is divided into pieces of whole blocks
// with their own scratch, so that results do not depend on threads or order. Robots of a team are
// in one piece; all of them are evaluated before any of them restarts.
#include "environment/environment.h"
#include "base/context.h"
#include "base/floats.h"
#include "motion/table.h"
#include "world/attach.h"
#include "world/value.h"

#include "math/scalar.h"

typedef struct Pass {
    mf_Environment *environment;
    const mf_EnvironmentBuffers *buffers;
    const uint8_t *mask;   // resets
    const uint64_t *seeds; // resets
} Pass;

// ---- fields and rows ---------------------------------------------------------------------------

// The first value; others follow MF_BLOCK apart.
static double *memory_of(const mf_Environment *e, uint32_t instance) {
    const mf_Field *field = e->rows[MF_EPISODE_MEMORY];
    return (double *)field->data + mf_field_index(field, instance, 0);
}

static uint32_t *word_of(const mf_Environment *e, mf_EpisodeRow row, uint32_t instance,
                         uint32_t component) {
    const mf_Field *field = e->rows[row];
    return (uint32_t *)field->data + mf_field_index(field, instance, component);
}

static double value_of(const mf_Field *field, uint32_t instance, uint32_t component) {
    return mf_value_get(field->info.type, field->data, mf_field_index(field, instance, component));
}

static void gather(const mf_StateSource *sources, uint32_t count, uint32_t instance, double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = sources[i].field != NULL
                     ? value_of(sources[i].field, instance, sources[i].component)
                     : sources[i].value;
}

// Destination of a robot's observation: the caller's array, or scratch for conversion to float.
static double *observation_row(const mf_Environment *e, const mf_EnvironmentBuffers *buffers,
                               uint32_t instance, const mf_EnvironmentScratch *scratch) {
    if (e->observation_type != MF_F64)
        return scratch->observation;
    return (double *)buffers->observation + (size_t)instance * e->plan.observation_count;
}

static void finish_row(const mf_Environment *e, void *rows, uint32_t instance,
                       const mf_EnvironmentScratch *scratch) {
    const size_t count = e->plan.observation_count;
    if (e->observation_type == MF_F64)
        return;
    float *out = (float *)rows + instance * count;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)scratch->observation[i];
}

static double *signals_row(const mf_Environment *e, const mf_EnvironmentBuffers *buffers,
                           uint32_t instance, const mf_EnvironmentScratch *scratch) {
    const size_t count = e->plan.task->info.signal_count;
    return buffers->signals != NULL ? buffers->signals + instance * count : scratch->signals;
}

// Stores the end of an episode whose robot restarts in the same step.
static void keep_final(const mf_Environment *e, const mf_EnvironmentBuffers *buffers,
                       uint32_t instance, const mf_EnvironmentScratch *scratch) {
    const mf_FieldType type = e->observation_type;
    const size_t size = mf_field_value_size(type) * e->plan.observation_count;
    const size_t count = e->plan.task->info.signal_count;
    if (buffers->final_observation != NULL)
        memcpy((char *)buffers->final_observation + instance * size,
               (const char *)buffers->observation + instance * size, size);
    if (buffers->final_signals != NULL)
        memcpy(buffers->final_signals + instance * count,
               signals_row(e, buffers, instance, scratch), count * sizeof(double));
    if (buffers->final_warning != NULL)
        buffers->final_warning[instance] = mf_group_warning(e->group, instance);
    if (buffers->final_fault != NULL)
        buffers->final_fault[instance] = mf_group_fault(e->group, instance);
}

// Current positions of all robots of a team.
static void see_team(const mf_Environment *e, uint32_t first, mf_EnvironmentScratch *scratch) {
    for (uint32_t k = 0; e->plan.team > 1 && k < e->plan.team; k++) {
        gather(e->position, 3, first + k, scratch->team[k].position);
        gather(e->velocity, 3, first + k, scratch->team[k].velocity);
    }
}

static void load_memory(const mf_Environment *e, uint32_t instance, double *memory) {
    const double *row = memory_of(e, instance);
    for (uint32_t i = 0; i < e->plan.memory_count; i++)
        memory[i] = row[(size_t)i * MF_BLOCK];
}

static void store_memory(const mf_Environment *e, uint32_t instance, const double *memory) {
    double *row = memory_of(e, instance);
    for (uint32_t i = 0; i < e->plan.memory_count; i++)
        row[(size_t)i * MF_BLOCK] = memory[i];
}

// ---- the start of an episode -------------------------------------------------------------------

static mf_TaskDraw draw_of(const mf_Environment *e, uint32_t instance) {
    uint64_t low = *word_of(e, MF_EPISODE_SEED, instance, 0);
    uint64_t high = *word_of(e, MF_EPISODE_SEED, instance, 1);
    return (mf_TaskDraw){.seed = high << 32 | low,
                         .tick = (uint64_t)*word_of(e, MF_EPISODE_NUMBER, instance, 0) << 32,
                         .agent = instance % e->plan.team};
}

// Lifts or lowers the base until the robot's lowest point is on level ground.
static void stand(const mf_TaskPlan *plan, mf_EnvironmentScratch *scratch) {
    mf_model_pose_at(plan->model, scratch->start, scratch->start_position, scratch->start_rotation);
    double lowest = mf_model_lowest(plan->model, scratch->start_position, scratch->start_rotation,
                                    mf_motion_has_shapes(plan->motion));
    scratch->start[2] -= mf_is_finite(lowest) ? lowest : 0.0;
}

static void start_robot(mf_Environment *e, uint32_t instance, mf_EnvironmentScratch *scratch) {
    const mf_TaskPlan *plan = &e->plan;
    const mf_Model *model = plan->model;
    double *position = scratch->start, *velocity = scratch->start + model->position_count;
    mf_TaskDraw *draw = &scratch->draws[instance % e->unit];
    *draw = draw_of(e, instance);
    scratch->fresh[instance % e->unit] = 1;
    *word_of(e, MF_EPISODE_NUMBER, instance, 0) += 1;
    *word_of(e, MF_EPISODE_STEPS, instance, 0) = 0;
    memcpy(position, model->start_position, model->position_count * sizeof(double));
    memset(velocity, 0, model->velocity_count * sizeof(double));
    plan->task->start(plan, draw, position, velocity);
    if (plan->task->wants & MF_TASK_STANDS)
        stand(plan, scratch);
    mf_group_reset(e->group, instance);
    mf_group_set_state(e->group, instance, position, velocity);
    *word_of(e, MF_EPISODE_PHASE, instance, 0) = MF_EPISODE_RUNS;
}

static void start_team(mf_Environment *e, uint32_t first, mf_EnvironmentScratch *scratch) {
    for (uint32_t i = first; i < first + e->plan.team; i++)
        start_robot(e, i, scratch);
}

// Observation of a robot that has just started.
static void open_episode(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t instance,
                         mf_EnvironmentScratch *scratch) {
    const mf_TaskPlan *plan = &e->plan;
    mf_TaskView view =
        mf_environment_view(e, instance % MF_BLOCK, scratch, &scratch->draws[instance % e->unit]);
    mf_TaskResult result = {.observation = observation_row(e, buffers, instance, scratch),
                            .signals = signals_row(e, buffers, instance, scratch)};
    for (uint32_t i = 0; i < plan->memory_count; i++)
        scratch->memory[i] = 0.0;
    for (uint32_t i = 0; i < plan->task->info.signal_count; i++)
        result.signals[i] = 0.0;
    plan->task->begin(&view, &result);
    store_memory(e, instance, scratch->memory);
    finish_row(e, buffers->observation, instance, scratch);
}

static bool any_fresh(const uint8_t *fresh, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= fresh[i] != 0;
    return any;
}

// Looks at the block that begins with robot `i` of the unit from `first` on, if any of it is fresh.
static void see_fresh(mf_Environment *e, uint32_t i, uint32_t first,
                      mf_EnvironmentScratch *scratch) {
    const uint8_t *fresh = scratch->fresh + (i - i % MF_BLOCK - first);
    if (i % MF_BLOCK == 0 && any_fresh(fresh, MF_BLOCK))
        mf_environment_see(e, i / MF_BLOCK, fresh, scratch);
}

// Observations of robots that start in the unit first .. end - 1, after all others have been
// evaluated.
static void open_episodes(const Pass *pass, uint32_t first, uint32_t end,
                          mf_EnvironmentScratch *scratch) {
    mf_Environment *e = pass->environment;
    for (uint32_t i = first; i < end; i++) {
        see_fresh(e, i, first, scratch);
        if (scratch->fresh[i - first] == 0)
            continue;
        if (i % e->plan.team == 0)
            see_team(e, i, scratch);
        open_episode(e, pass->buffers, i, scratch);
    }
}

// There is scratch for each piece, so one is free whenever a piece begins.
static mf_EnvironmentScratch *take_scratch(mf_Environment *e) {
    uint64_t taken = atomic_load(&e->scratches_taken), bit;
    do
        bit = ~taken & (taken + 1);
    while (!atomic_compare_exchange_weak(&e->scratches_taken, &taken, taken | bit));
    return &e->scratches[__builtin_ctzll(bit)];
}

static void leave_scratch(mf_Environment *e, const mf_EnvironmentScratch *scratch) {
    atomic_fetch_and(&e->scratches_taken, ~(UINT64_C(1) << (scratch - e->scratches)));
}

// The robots of piece `share`: first .. *end - 1, whole blocks and whole teams.
static uint32_t share_begin(const mf_Environment *e, uint32_t share, uint32_t *end) {
    uint64_t units = ((uint64_t)e->count + e->unit - 1) / e->unit;
    uint64_t first = units * share / e->share_count, last = units * (share + 1) / e->share_count;
    *end = last * e->unit < e->count ? (uint32_t)(last * e->unit) : e->count;
    return (uint32_t)(first * e->unit);
}

// The units of piece `share`, one after the other, in a scratch.
static void for_units(const Pass *pass, uint32_t share,
                      void (*run)(const Pass *pass, uint32_t first, uint32_t end,
                                  mf_EnvironmentScratch *scratch)) {
    mf_Environment *e = pass->environment;
    mf_EnvironmentScratch *scratch = take_scratch(e);
    uint32_t last, first = share_begin(e, share, &last);
    for (; first < last; first += e->unit) {
        memset(scratch->fresh, 0, e->unit);
        run(pass, first, last - first < e->unit ? last : first + e->unit, scratch);
    }
    leave_scratch(e, scratch);
}

static void give_seeds(mf_Environment *e, const uint64_t *seeds, uint32_t first) {
    for (uint32_t i = first; seeds != NULL && i < first + e->plan.team; i++) {
        *word_of(e, MF_EPISODE_SEED, i, 0) = (uint32_t)seeds[first];
        *word_of(e, MF_EPISODE_SEED, i, 1) = (uint32_t)(seeds[first] >> 32);
        *word_of(e, MF_EPISODE_NUMBER, i, 0) = 0;
    }
}

static void reset_unit(const Pass *pass, uint32_t first, uint32_t end,
                       mf_EnvironmentScratch *scratch) {
    mf_Environment *e = pass->environment;
    for (uint32_t i = first; i < end; i += e->plan.team) {
        if (pass->mask != NULL && pass->mask[i] == 0)
            continue;
        give_seeds(e, pass->seeds, i);
        start_team(e, i, scratch);
    }
    open_episodes(pass, first, end, scratch);
}

static void reset_share(void *task, uint32_t share) {
    for_units(task, share, reset_unit);
}

static mf_Status check_reset(const mf_Environment *e, const uint8_t *mask, const uint64_t *seeds,
                             mf_Error *error) {
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t first = i - i % e->plan.team;
        if (mask != NULL && (mask[i] != 0) != (mask[first] != 0))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "reset: robots %u and %u are in one team, whose episodes start together",
                           first, i);
        if (seeds == NULL && (mask == NULL || mask[i] != 0) &&
            *word_of(e, MF_EPISODE_PHASE, i, 0) == MF_EPISODE_NONE)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "reset: robot %u never had a seed; give seeds the first time", i);
    }
    return MF_OK;
}

mf_Status mf_environment_reset(mf_Environment *environment, const uint8_t *mask,
                               const uint64_t *seeds, const mf_EnvironmentBuffers *buffers,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(environment != NULL, error, "mf_environment_reset: environment is NULL");
    mf_Status status = check_reset(environment, mask, seeds, error);
    Pass pass = {environment, buffers, mask, seeds};
    if (status == MF_OK)
        mf_parallel_for(environment->context, environment->share_count, reset_share, &pass);
    return status;
}

// ---- a step ------------------------------------------------------------------------------------

// A robot whose episode ended in the previous step and restarts now.
static bool starts_now(const mf_Environment *e, uint32_t instance) {
    return e->autoreset == MF_AUTORESET_NEXT_STEP &&
           *word_of(e, MF_EPISODE_PHASE, instance, 0) == MF_EPISODE_OVER;
}

static double limited(const mf_ActionTarget *target, float action) {
    double value = (double)action;
    return target->limited ? mf_clamp(value, target->lower, target->upper) : value;
}

static void put_actions(const mf_ActionTarget *target, const float *action, uint32_t stride,
                        const uint8_t *skip, uint32_t block, uint32_t count) {
    const mf_Field *field = target->field;
    const size_t row = ((size_t)block * field->components + target->component) * MF_BLOCK;
    for (uint32_t lane = 0; lane < count; lane++) {
        if (skip[lane])
            continue;
        double commanded = limited(target, action[(size_t)lane * stride]);
        mf_value_set(field->info.type, field->data, row + lane,
                     target->offset + target->scale * commanded);
    }
}

static void act_share(void *task, uint32_t share) {
    const Pass *pass = task;
    const mf_Environment *e = pass->environment;
    const uint32_t count = e->plan.action_count;
    uint32_t end, first = share_begin(e, share, &end);
    for (; first < end; first += MF_BLOCK) {
        const float *action = pass->buffers->action + (size_t)first * count;
        const uint32_t robots = end - first < MF_BLOCK ? end - first : MF_BLOCK;
        uint8_t skip[MF_BLOCK];
        for (uint32_t lane = 0; lane < robots; lane++)
            skip[lane] = starts_now(e, first + lane);
        for (uint32_t a = 0; a < count; a++)
            put_actions(&e->targets[a], action + a, count, skip, first / MF_BLOCK, robots);
    }
}

static void drop_nonfinite(double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!mf_is_finite(values[i]))
            values[i] = 0.0;
}

// NaN would spread into the learner's parameters.
static void clean_failure(const mf_TaskPlan *plan, mf_TaskResult *result) {
    drop_nonfinite(result->observation, plan->observation_count);
    drop_nonfinite(result->signals, plan->task->info.signal_count);
    drop_nonfinite(&result->reward, 1);
}

// Random numbers of a step, separate from those of starts, whose ticks are below 2^31.
static mf_TaskDraw draw_of_step(const mf_Environment *e, uint32_t instance) {
    mf_TaskDraw draw = draw_of(e, instance);
    draw.tick += UINT64_C(0x80000000) + 4 * (uint64_t)*word_of(e, MF_EPISODE_STEPS, instance, 0);
    return draw;
}

// End of a step for a robot with a running episode.
static void judge(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t i,
                  mf_EnvironmentScratch *scratch) {
    const mf_TaskPlan *plan = &e->plan;
    mf_TaskDraw draw = draw_of_step(e, i);
    mf_TaskView view = mf_environment_view(e, i % MF_BLOCK, scratch, &draw);
    mf_TaskResult result = {.observation = observation_row(e, buffers, i, scratch),
                            .signals = signals_row(e, buffers, i, scratch)};
    for (uint32_t a = 0; a < plan->action_count; a++)
        scratch->action[a] =
            limited(&e->targets[a], buffers->action[(size_t)i * plan->action_count + a]);
    view.action = scratch->action;
    load_memory(e, i, scratch->memory);
    plan->task->judge(&view, &result);
    store_memory(e, i, scratch->memory);
    uint32_t steps = *word_of(e, MF_EPISODE_STEPS, i, 0) += 1;
    bool failed = ((const uint32_t *)e->fault->data)[mf_field_index(e->fault, i, 0)] != 0;
    if (failed)
        clean_failure(plan, &result);
    finish_row(e, buffers->observation, i, scratch);
    buffers->reward[i] = result.reward;
    buffers->terminated[i] = result.terminated || failed;
    buffers->truncated[i] = e->episode_steps != MF_NONE && steps >= e->episode_steps;
}

// After all robots of a team were evaluated: a failure of one ends the episode of all.
static void finish_team(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t first,
                        mf_EnvironmentScratch *scratch) {
    const uint32_t end = first + e->plan.team;
    bool over = false;
    for (uint32_t i = first; i < end; i++)
        over |= buffers->terminated[i] != 0;
    for (uint32_t i = first; i < end; i++)
        buffers->terminated[i] = over;
    if (!over && !buffers->truncated[first])
        return;
    for (uint32_t i = first; i < end; i++)
        if (e->autoreset == MF_AUTORESET_SAME_STEP)
            keep_final(e, buffers, i, scratch);
        else
            *word_of(e, MF_EPISODE_PHASE, i, 0) = MF_EPISODE_OVER;
    if (e->autoreset == MF_AUTORESET_SAME_STEP)
        start_team(e, first, scratch);
}

static void wake_team(const Pass *pass, uint32_t first, mf_EnvironmentScratch *scratch) {
    mf_Environment *e = pass->environment;
    for (uint32_t i = first; i < first + e->plan.team; i++) {
        pass->buffers->reward[i] = 0.0;
        pass->buffers->terminated[i] = pass->buffers->truncated[i] = 0;
    }
    start_team(e, first, scratch);
}

static void judge_unit(const Pass *pass, uint32_t first, uint32_t end,
                       mf_EnvironmentScratch *scratch) {
    mf_Environment *e = pass->environment;
    const uint32_t team = e->plan.team;
    for (uint32_t i = first; i < end; i += team)
        if (starts_now(e, i))
            wake_team(pass, i, scratch);
    for (uint32_t i = first; i < end; i++) {
        if (i % MF_BLOCK == 0)
            mf_environment_see(e, i / MF_BLOCK, scratch->fresh + (i - first), scratch);
        if (i % team == 0)
            see_team(e, i, scratch);
        if (scratch->fresh[i - first] != 0)
            open_episode(e, pass->buffers, i, scratch);
        else
            judge(e, pass->buffers, i, scratch);
        if (i % team == team - 1 && scratch->fresh[i - first] == 0)
            finish_team(e, pass->buffers, i - i % team, scratch);
    }
    if (e->autoreset == MF_AUTORESET_SAME_STEP)
        open_episodes(pass, first, end, scratch);
}

static void judge_share(void *task, uint32_t share) {
    for_units(task, share, judge_unit);
}

// Whether all of a robot's actions are finite: no exponent is all ones.
static bool are_finite(const float *action, uint32_t count) {
    uint32_t bad = 0;
    for (uint32_t a = 0; a < count; a++) {
        uint32_t bits;
        memcpy(&bits, &action[a], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return bad == 0;
}

static mf_Status refuse(const float *action, uint32_t robot, uint32_t count, mf_Error *error) {
    uint32_t a = 0;
    while (a + 1 < count && mf_is_finite((double)action[a]))
        a++;
    return mf_fail(error, MF_BAD_ARGUMENT, "step: action %u of robot %u is not a finite number", a,
                   robot);
}

// Rewards of a step are differences to memory, which must hold the written positions, not the
// previous ones.
static void remember_unit(const Pass *pass, uint32_t first, uint32_t end,
                          mf_EnvironmentScratch *scratch) {
    mf_Environment *e = pass->environment;
    for (uint32_t i = first; i < end; i++)
        scratch->fresh[i - first] = *word_of(e, MF_EPISODE_PHASE, i, 0) == MF_EPISODE_MOVED;
    for (uint32_t i = first; i < end; i++) {
        see_fresh(e, i, first, scratch);
        if (scratch->fresh[i - first] == 0)
            continue;
        mf_TaskDraw draw = draw_of_step(e, i);
        mf_TaskView view = mf_environment_view(e, i % MF_BLOCK, scratch, &draw);
        load_memory(e, i, scratch->memory);
        e->plan.task->remember(&view);
        store_memory(e, i, scratch->memory);
        *word_of(e, MF_EPISODE_PHASE, i, 0) = MF_EPISODE_RUNS;
    }
}

static void remember_share(void *task, uint32_t share) {
    for_units(task, share, remember_unit);
}

static bool any_moved(const mf_Environment *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->count; i++)
        any |= *word_of(e, MF_EPISODE_PHASE, i, 0) == MF_EPISODE_MOVED;
    return any && e->plan.task->remember != NULL;
}

static mf_Status check_step(const mf_Environment *e, const mf_EnvironmentBuffers *buffers,
                            mf_Error *error) {
    const uint32_t count = e->plan.action_count;
    for (uint32_t i = 0; i < e->count; i++) {
        if (*word_of(e, MF_EPISODE_PHASE, i, 0) == MF_EPISODE_NONE)
            return mf_fail(error, MF_BAD_ARGUMENT, "step: robot %u was never reset", i);
        const float *action = buffers->action + (size_t)i * count;
        if (!are_finite(action, count) && !starts_now(e, i))
            return refuse(action, i, count, error);
    }
    return MF_OK;
}

mf_Status mf_environment_step(mf_Environment *environment, const mf_EnvironmentBuffers *buffers,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(environment != NULL, error, "mf_environment_step: environment is NULL");
    Pass pass = {.environment = environment, .buffers = buffers};
    MF_TRY(check_step(environment, buffers, error));
    if (any_moved(environment))
        mf_parallel_for(environment->context, environment->share_count, remember_share, &pass);
    mf_parallel_for(environment->context, environment->share_count, act_share, &pass);
    if (environment->pusher != NULL)
        mf_pusher_step(environment->pusher, environment->frame_skip);
    else
        mf_world_step(environment->world, environment->frame_skip);
    mf_parallel_for(environment->context, environment->share_count, judge_share, &pass);
    return MF_OK;
}
