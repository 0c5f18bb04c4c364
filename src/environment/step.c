// One step of all robots, and the start of episodes. Work is cut into pieces of whole blocks, each
// with room of its own, so that pieces run on any thread in any order with the same result. Robots
// of a team are in one piece; all of them are judged before any of them starts anew.
#include "environment/environment.h"

#include "math/scalar.h"

typedef struct Pass {
    mf_Environment *environment;
    const mf_EnvironmentBuffers *buffers;
    const uint8_t *mask;   // resets
    const uint64_t *seeds; // resets
} Pass;

// ---- fields and rows ---------------------------------------------------------------------------

static size_t place_of(const mf_Field *field, uint32_t instance, uint32_t component) {
    return ((size_t)(instance / MF_BLOCK) * field->components + component) * MF_BLOCK +
           instance % MF_BLOCK;
}

static double *memory_of(const mf_Environment *e, uint32_t instance, uint32_t component) {
    const mf_Field *field = e->rows[MF_EPISODE_MEMORY];
    return (double *)field->data + place_of(field, instance, component);
}

static uint32_t *word_of(const mf_Environment *e, mf_EpisodeRow row, uint32_t instance,
                         uint32_t component) {
    const mf_Field *field = e->rows[row];
    return (uint32_t *)field->data + place_of(field, instance, component);
}

static double value_of(const mf_Field *field, uint32_t instance, uint32_t component) {
    size_t place = place_of(field, instance, component);
    return field->info.type == MF_F64 ? ((const double *)field->data)[place]
                                      : (double)((const float *)field->data)[place];
}

static void gather(const mf_StateSource *sources, uint32_t count, uint32_t instance, double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = sources[i].field != NULL
                     ? value_of(sources[i].field, instance, sources[i].component)
                     : sources[i].value;
}

static void gather_field(const mf_Field *field, uint32_t count, uint32_t instance, double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = field != NULL ? value_of(field, instance, i) : 0.0;
}

static void put_row(const mf_Environment *e, void *rows, uint32_t instance, const double *values) {
    const size_t count = e->plan.observation_count, first = instance * count;
    if (rows == NULL)
        return;
    if (e->observation_type == MF_F64) {
        memcpy((double *)rows + first, values, count * sizeof(double));
        return;
    }
    float *out = (float *)rows + first;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)values[i];
}

static void put_signals(const mf_Environment *e, double *rows, uint32_t instance,
                        const double *values) {
    const size_t count = e->plan.task->info.signal_count;
    if (rows != NULL)
        memcpy(rows + instance * count, values, count * sizeof(double));
}

// ---- the view of one robot ---------------------------------------------------------------------

// Forces from outside on what each body carries, about its link, become those on the body alone,
// about the centre of mass of the whole: torque, then force.
static void spread_outer(const mf_Environment *e, uint32_t instance, const double center[3],
                         mf_TaskRoom *room) {
    const mf_Model *model = e->plan.model;
    for (uint32_t b = 0; b < model->body_count; b++) {
        double raw[6], arm[3], moment[3], *own = room->outer + 6 * (size_t)b;
        for (uint32_t i = 0; i < 6; i++)
            raw[i] = e->outer != NULL ? value_of(e->outer, instance, 6 * b + i) : 0.0;
        mf_vec3_set(arm, 0.0, 0.0, 0.0);
        if (model->bodies[b].link != MF_NONE)
            mf_vec3_sub(arm, room->place[model->bodies[b].link], center);
        mf_vec3_cross(moment, arm, raw);
        mf_vec3_add(own, moment, raw + 3);
        mf_vec3_copy(own + 3, raw);
    }
    // Parents come first, so that what a child takes from its parent is still its whole subtree's.
    for (uint32_t b = 0; b < model->body_count; b++)
        for (uint32_t i = 0; model->bodies[b].parent != MF_NONE && i < 6; i++)
            room->outer[6 * (size_t)model->bodies[b].parent + i] -= room->outer[6 * (size_t)b + i];
}

static void spread_actuators(const mf_Environment *e, uint32_t instance, mf_TaskRoom *room) {
    const mf_Model *model = e->plan.model;
    memset(room->actuator, 0, model->velocity_count * sizeof *room->actuator);
    for (uint32_t a = 0; e->actuator != NULL && a < model->actuator_count; a++) {
        const mf_Actuator *actuator = &model->actuators[a];
        if (actuator->drive == MF_DRIVE_JOINT)
            room->actuator[model->joints[actuator->joint].velocity_address] +=
                actuator->gear[0] * value_of(e->actuator, instance, a);
    }
}

static void feel(const mf_Environment *e, uint32_t instance, double *feet) {
    for (uint32_t i = 0; i < e->plan.foot_count; i++)
        feet[i] = 0.0;
    for (uint32_t i = 0; i < e->foot_row_count; i++)
        if (value_of(e->feet[i].field, instance, e->feet[i].component) > 0.0)
            feet[e->feet[i].foot] = 1.0;
}

// Fills the room with all that the task wants to see; `last` state is in the room already.
static mf_TaskView look(const mf_Environment *e, uint32_t instance, mf_EnvironmentRoom *room,
                        mf_TaskDraw *draw) {
    const mf_TaskPlan *plan = &e->plan;
    const mf_Model *model = plan->model;
    const uint32_t wants = plan->task->wants;
    double center[3];
    mf_TaskView view = {.plan = plan,
                        .position = room->position,
                        .velocity = room->velocity,
                        .last_position = room->last_position,
                        .last_velocity = room->last_velocity,
                        .memory = room->memory,
                        .place = room->task.place,
                        .turn = room->task.turn,
                        .inertia = room->task.inertia,
                        .twist = room->task.twist,
                        .outer = room->task.outer,
                        .actuator = room->task.actuator,
                        .limit = room->task.limit,
                        .feet = room->feet,
                        .team = plan->team > 1 ? room->team : NULL,
                        .agent = draw->agent,
                        .draw = draw};
    if (wants & (MF_TASK_POSES | MF_TASK_BODIES | MF_TASK_OUTER)) {
        mf_model_pose_at(model, room->last_position, room->task.place, room->task.turn);
        mf_task_center(model, &room->task, center);
    }
    if (wants & MF_TASK_BODIES) {
        mf_task_speeds(model, room->last_velocity, &room->task);
        mf_task_bodies(model, center, &room->task);
    }
    if (wants & MF_TASK_OUTER)
        spread_outer(e, instance, center, &room->task);
    if (wants & MF_TASK_ACTUATORS)
        spread_actuators(e, instance, &room->task);
    if (wants & MF_TASK_LIMITS)
        gather_field(e->limit, model->joint_count, instance, room->task.limit);
    if (wants & MF_TASK_FEET)
        feel(e, instance, room->feet);
    return view;
}

// Where all robots of a team are now.
static void see_team(const mf_Environment *e, uint32_t first, mf_EnvironmentRoom *room) {
    for (uint32_t k = 0; e->plan.team > 1 && k < e->plan.team; k++) {
        gather(e->position, 3, first + k, room->team[k].position);
        gather(e->velocity, 3, first + k, room->team[k].velocity);
    }
}

static void load_memory(const mf_Environment *e, uint32_t instance, double *memory) {
    for (uint32_t i = 0; i < e->plan.memory_count; i++)
        memory[i] = *memory_of(e, instance, i);
}

static void store_memory(const mf_Environment *e, uint32_t instance, const double *memory) {
    for (uint32_t i = 0; i < e->plan.memory_count; i++)
        *memory_of(e, instance, i) = memory[i];
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
static void stand(const mf_TaskPlan *plan, mf_EnvironmentRoom *room) {
    mf_model_pose_at(plan->model, room->position, room->task.place, room->task.turn);
    double lowest = mf_model_lowest(plan->model, room->task.place, room->task.turn,
                                    plan->motion != MF_MOTION_POINTS);
    room->position[2] -= mf_is_finite(lowest) ? lowest : 0.0;
}

static void start_robot(mf_Environment *e, uint32_t instance, mf_EnvironmentRoom *room,
                        mf_TaskDraw *draw) {
    const mf_TaskPlan *plan = &e->plan;
    const mf_Model *model = plan->model;
    *draw = draw_of(e, instance);
    *word_of(e, MF_EPISODE_NUMBER, instance, 0) += 1;
    *word_of(e, MF_EPISODE_STEPS, instance, 0) = 0;
    *word_of(e, MF_EPISODE_PHASE, instance, 0) = MF_EPISODE_RUNS;
    memcpy(room->position, model->start_position, model->position_count * sizeof(double));
    memset(room->velocity, 0, model->velocity_count * sizeof(double));
    plan->task->start(plan, draw, room->position, room->velocity);
    if (plan->task->wants & MF_TASK_STANDS)
        stand(plan, room);
    mf_group_reset(e->group, instance);
    mf_group_set_state(e->group, instance, room->position, room->velocity);
}

static void open_episode(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t instance,
                         mf_EnvironmentRoom *room, mf_TaskDraw *draw) {
    const mf_TaskPlan *plan = &e->plan;
    const mf_Model *model = plan->model;
    mf_TaskResult result = {.observation = room->observation, .signals = room->signals};
    gather(e->position, model->position_count, instance, room->position);
    gather(e->velocity, model->velocity_count, instance, room->velocity);
    memcpy(room->last_position, room->position, model->position_count * sizeof(double));
    memcpy(room->last_velocity, room->velocity, model->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < plan->memory_count; i++)
        room->memory[i] = 0.0;
    for (uint32_t i = 0; i < plan->task->info.signal_count; i++)
        room->signals[i] = 0.0;
    mf_TaskView view = look(e, instance, room, draw);
    plan->task->begin(&view, &result);
    store_memory(e, instance, room->memory);
    put_row(e, buffers->observation, instance, room->observation);
    put_signals(e, buffers->signals, instance, room->signals);
}

static void begin_team(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t first,
                       mf_EnvironmentRoom *room) {
    for (uint32_t k = 0; k < e->plan.team; k++)
        start_robot(e, first + k, room, &room->draws[k]);
    see_team(e, first, room);
    for (uint32_t k = 0; k < e->plan.team; k++)
        open_episode(e, buffers, first + k, room, &room->draws[k]);
}

// The robots of piece `share`: first .. *end - 1, whole blocks and whole teams.
static uint32_t share_begin(const mf_Environment *e, uint32_t share, uint32_t *end) {
    uint64_t units = ((uint64_t)e->count + e->unit - 1) / e->unit;
    uint64_t first = units * share / e->share_count, last = units * (share + 1) / e->share_count;
    *end = last * e->unit < e->count ? (uint32_t)(last * e->unit) : e->count;
    return (uint32_t)(first * e->unit);
}

static void give_seeds(mf_Environment *e, const uint64_t *seeds, uint32_t first) {
    for (uint32_t i = first; seeds != NULL && i < first + e->plan.team; i++) {
        *word_of(e, MF_EPISODE_SEED, i, 0) = (uint32_t)seeds[first];
        *word_of(e, MF_EPISODE_SEED, i, 1) = (uint32_t)(seeds[first] >> 32);
        *word_of(e, MF_EPISODE_NUMBER, i, 0) = 0;
    }
}

static void reset_share(void *task, uint32_t share) {
    const Pass *pass = task;
    mf_Environment *e = pass->environment;
    uint32_t end, first = share_begin(e, share, &end);
    for (uint32_t i = first; i < end; i += e->plan.team) {
        if (pass->mask != NULL && pass->mask[i] == 0)
            continue;
        give_seeds(e, pass->seeds, i);
        begin_team(e, pass->buffers, i, &e->rooms[share]);
    }
}

static mf_Status check_reset(const mf_Environment *e, const uint8_t *mask, const uint64_t *seeds,
                             mf_Error *error) {
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t first = i - i % e->plan.team;
        if (mask != NULL && (mask[i] != 0) != (mask[first] != 0))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "reset: robots %u and %u are of one team, whose episodes begin together",
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
    mf_Status status = check_reset(environment, mask, seeds, error);
    Pass pass = {environment, buffers, mask, seeds};
    if (status == MF_OK)
        mf_parallel_for(environment->context, environment->share_count, reset_share, &pass);
    return status;
}

// ---- a step ------------------------------------------------------------------------------------

// A robot whose episode was over before this step, which starts the next one.
static bool starts_now(const mf_Environment *e, uint32_t instance) {
    return e->autoreset == MF_AUTORESET_NEXT_STEP &&
           *word_of(e, MF_EPISODE_PHASE, instance, 0) == MF_EPISODE_OVER;
}

static void act_share(void *task, uint32_t share) {
    const Pass *pass = task;
    const mf_Environment *e = pass->environment;
    const uint32_t count = e->plan.action_count;
    uint32_t end, first = share_begin(e, share, &end);
    for (uint32_t i = first; i < end; i++) {
        const float *action = pass->buffers->action + (size_t)i * count;
        if (starts_now(e, i))
            continue;
        for (uint32_t a = 0; a < count; a++) {
            const mf_ActionTarget *target = &e->targets[a];
            double told = (double)action[a];
            if (target->limited)
                told = mf_clamp(told, target->lower, target->upper);
            double value = target->offset + target->scale * told;
            size_t place = place_of(target->field, i, target->component);
            if (target->field->info.type == MF_F64)
                ((double *)target->field->data)[place] = value;
            else
                ((float *)target->field->data)[place] = (float)value;
        }
    }
}

static void recall(const mf_Environment *e, uint32_t i, mf_EnvironmentRoom *room) {
    const mf_Model *model = e->plan.model;
    if (e->recalls) {
        gather_field(e->rows[MF_EPISODE_LAST_POSITION], model->position_count, i,
                     room->last_position);
        gather_field(e->rows[MF_EPISODE_LAST_VELOCITY], model->velocity_count, i,
                     room->last_velocity);
        return;
    }
    memcpy(room->last_position, room->position, model->position_count * sizeof(double));
    memcpy(room->last_velocity, room->velocity, model->velocity_count * sizeof(double));
}

static void drop_nonfinite(double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!mf_is_finite(values[i]))
            values[i] = 0.0;
}

// What is not a number would spread into whoever learns from it.
static void clean_failure(const mf_TaskPlan *plan, mf_TaskResult *result) {
    drop_nonfinite(result->observation, plan->observation_count);
    drop_nonfinite(result->signals, plan->task->info.signal_count);
    drop_nonfinite(&result->reward, 1);
}

// The random numbers of a step: apart from those of starts, whose ticks are below 2^31.
static mf_TaskDraw draw_of_step(const mf_Environment *e, uint32_t instance) {
    mf_TaskDraw draw = draw_of(e, instance);
    draw.tick += UINT64_C(0x80000000) + 4 * (uint64_t)*word_of(e, MF_EPISODE_STEPS, instance, 0);
    return draw;
}

// The end of a step for a robot whose episode runs.
static void judge(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t i,
                  mf_EnvironmentRoom *room) {
    const mf_TaskPlan *plan = &e->plan;
    const mf_Model *model = plan->model;
    const uint32_t k = i % plan->team;
    mf_TaskDraw draw = draw_of_step(e, i);
    mf_TaskResult result = {.observation = room->observation + (size_t)k * plan->observation_count,
                            .signals = room->signals + (size_t)k * plan->task->info.signal_count};
    gather(e->position, model->position_count, i, room->position);
    gather(e->velocity, model->velocity_count, i, room->velocity);
    recall(e, i, room);
    load_memory(e, i, room->memory);
    for (uint32_t a = 0; a < plan->action_count; a++)
        room->action[a] = (double)buffers->action[(size_t)i * plan->action_count + a];
    mf_TaskView view = look(e, i, room, &draw);
    view.action = room->action;
    plan->task->judge(&view, &result);
    store_memory(e, i, room->memory);
    uint32_t steps = *word_of(e, MF_EPISODE_STEPS, i, 0) += 1;
    bool failed = ((const uint32_t *)e->fault->data)[place_of(e->fault, i, 0)] != 0;
    if (failed)
        clean_failure(plan, &result);
    buffers->reward[i] = result.reward;
    buffers->terminated[i] = result.terminated || failed;
    buffers->truncated[i] = e->episode_steps != MF_NONE && steps >= e->episode_steps;
    put_row(e, buffers->observation, i, result.observation);
    put_signals(e, buffers->signals, i, result.signals);
}

static void finish(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t first,
                   mf_EnvironmentRoom *room) {
    const mf_TaskPlan *plan = &e->plan;
    for (uint32_t k = 0; k < plan->team; k++) {
        if (e->autoreset != MF_AUTORESET_SAME_STEP) {
            *word_of(e, MF_EPISODE_PHASE, first + k, 0) = MF_EPISODE_OVER;
            continue;
        }
        put_row(e, buffers->final_observation, first + k,
                room->observation + (size_t)k * plan->observation_count);
        put_signals(e, buffers->final_signals, first + k,
                    room->signals + (size_t)k * plan->task->info.signal_count);
    }
    if (e->autoreset == MF_AUTORESET_SAME_STEP)
        begin_team(e, buffers, first, room);
}

// Whoever of a team has failed ends the episode of all.
static void judge_team(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t first,
                       mf_EnvironmentRoom *room) {
    bool over = false;
    see_team(e, first, room);
    for (uint32_t i = first; i < first + e->plan.team; i++) {
        judge(e, buffers, i, room);
        over |= buffers->terminated[i] != 0;
    }
    for (uint32_t i = first; i < first + e->plan.team; i++)
        buffers->terminated[i] = over;
    if (over || buffers->truncated[first])
        finish(e, buffers, first, room);
}

static void wake(mf_Environment *e, const mf_EnvironmentBuffers *buffers, uint32_t first,
                 mf_EnvironmentRoom *room) {
    for (uint32_t i = first; i < first + e->plan.team; i++) {
        buffers->reward[i] = 0.0;
        buffers->terminated[i] = buffers->truncated[i] = 0;
    }
    begin_team(e, buffers, first, room);
}

static void judge_share(void *task, uint32_t share) {
    const Pass *pass = task;
    mf_Environment *e = pass->environment;
    uint32_t end, first = share_begin(e, share, &end);
    for (uint32_t i = first; i < end; i += e->plan.team) {
        if (starts_now(e, i))
            wake(e, pass->buffers, i, &e->rooms[share]);
        else
            judge_team(e, pass->buffers, i, &e->rooms[share]);
    }
}

static mf_Status check_step(const mf_Environment *e, const mf_EnvironmentBuffers *buffers,
                            mf_Error *error) {
    const uint32_t count = e->plan.action_count;
    for (uint32_t i = 0; i < e->count; i++) {
        if (*word_of(e, MF_EPISODE_PHASE, i, 0) == MF_EPISODE_NONE)
            return mf_fail(error, MF_BAD_ARGUMENT, "step: robot %u was never reset", i);
        if (starts_now(e, i))
            continue;
        const float *action = buffers->action + (size_t)i * count;
        for (uint32_t a = 0; a < count; a++)
            if (!mf_is_finite((double)action[a]))
                return mf_fail(error, MF_BAD_ARGUMENT,
                               "step: action %u of robot %u is not a finite number", a, i);
    }
    return MF_OK;
}

mf_Status mf_environment_step(mf_Environment *environment, const mf_EnvironmentBuffers *buffers,
                              mf_Error *error) {
    Pass pass = {.environment = environment, .buffers = buffers};
    mf_Status status = check_step(environment, buffers, error);
    if (status != MF_OK)
        return status;
    mf_parallel_for(environment->context, environment->share_count, act_share, &pass);
    mf_world_step(environment->world, environment->frame_skip);
    mf_parallel_for(environment->context, environment->share_count, judge_share, &pass);
    return MF_OK;
}
