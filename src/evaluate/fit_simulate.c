// A batch of candidates of a fit. Candidates with the same model are instances of one world (they
// differ in the delay or the start); each other model has a world of its own. Worlds run in
// parallel; a candidate does not depend on what else is in its batch.
//
// A command is constant until the next one (zero-order hold). In a step it has its mean over the
// step, after the delay, so that the effect of a delay does not come in whole steps. Values between
// two steps are interpolated; accelerations, which are means over a step, between the middles of
// steps.
#include "evaluate/fit.h"

#include "base/context.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

enum { WORLDS = 64 }; // [1] at a time

typedef struct Cursor { // of an input or output of an instance
    uint32_t at;        // [1] next sample
    double before;      // value at the end of the previous step
} Cursor;

typedef struct Bench {
    const mf_FitProblem *problem;
    mf_Scene scene;
    mf_Model *model;
    uint32_t first, count; // [1] of its candidates in the batch's order
    const uint32_t *order; // [1] candidates of the batch
    const double *points;  // of the batch
    double *values;        // likewise
    size_t stride;         // [1] values of a candidate
    bool whole;
    mf_Time zero;             // [ns] time of the world when the log begins
    Cursor *inputs, *outputs; // of each instance
    mf_Field **written, **read;
} Bench;

// ---- inputs ------------------------------------------------------------------------------------

static double delay_of(const Bench *own, uint32_t instance) {
    const mf_FitProblem *problem = own->problem;
    const double *point =
        own->points + (size_t)own->order[own->first + instance] * problem->unknown_count;
    for (uint32_t i = 0; i < problem->parameter_count; i++)
        if (problem->unknowns[i].kind == MF_FIT_DELAY)
            return point[i];
    return 0.0;
}

// The mean of the command from `from` to `to` [s] of the log.
static double hold(const mf_FitInput *input, Cursor *cursor, double from, double to) {
    const mf_LogColumn *column = input->column;
    const double *time = column->time;
    while (cursor->at + 1 < column->count && time[cursor->at + 1] <= from)
        cursor->at++;
    double sum = 0.0, at = from;
    uint32_t i = cursor->at;
    for (; i + 1 < column->count && time[i + 1] < to; i++) {
        const double until = mf_larger(time[i + 1], at);
        sum += (until - at) * column->value[i];
        at = until;
    }
    sum += (to - at) * column->value[i];
    return input->factor * (at > from ? sum / (to - from) : column->value[i]);
}

static void command(const mf_SystemRun *run, void *user) {
    Bench *own = user;
    const mf_FitProblem *problem = own->problem;
    const uint32_t last = (run->first_block + run->block_count) * MF_BLOCK;
    for (uint32_t i = run->first_block * MF_BLOCK; i < last && i < own->count; i++) {
        const double from =
            problem->begin + mf_time_to_seconds(run->time - own->zero) - delay_of(own, i);
        for (uint32_t c = 0; c < problem->input_count; c++)
            mf_field_set(own->written[c], i, problem->inputs[c].component,
                         hold(&problem->inputs[c],
                              &own->inputs[(size_t)i * problem->input_count + c], from,
                              from + mf_time_to_seconds(run->step)));
    }
}

// ---- outputs -----------------------------------------------------------------------------------

static void take(Bench *own, uint32_t instance, double from, double step) {
    const mf_FitProblem *problem = own->problem;
    double *values = own->values + own->order[own->first + instance] * own->stride;
    for (uint32_t o = 0; o < problem->output_count; o++) {
        const mf_FitOutput *output = &problem->outputs[o];
        const uint32_t count = own->whole ? output->count : output->fitted;
        Cursor *cursor = &own->outputs[(size_t)instance * problem->output_count + o];
        const double *time = output->column->time + output->skipped;
        const double now = mf_field_get(own->read[o], instance, output->component);
        const double since = output->accelerates ? from - 0.5 * step : from;
        // A sample within rounding of the step's end belongs to it.
        while (cursor->at < count && time[cursor->at] <= since + step * (1.0 + 1e-6)) {
            const double part =
                step > 0.0 ? mf_clamp((time[cursor->at] - since) / step, 0.0, 1.0) : 1.0;
            values[cursor->at++] = cursor->before + part * (now - cursor->before);
        }
        cursor->before = now;
        values += count;
    }
}

static void sample(const mf_SystemRun *run, void *user) {
    Bench *own = user;
    const uint32_t last = (run->first_block + run->block_count) * MF_BLOCK;
    for (uint32_t i = run->first_block * MF_BLOCK; i < last && i < own->count; i++)
        take(own, i, own->problem->begin + mf_time_to_seconds(run->time - own->zero),
             mf_time_to_seconds(run->step));
}

// ---- worlds ------------------------------------------------------------------------------------

static mf_Status find_fields(Bench *own, mf_Error *error) {
    const mf_FitProblem *problem = own->problem;
    mf_Group *group = own->scene.group;
    for (uint32_t i = 0; i < problem->input_count; i++) {
        const char *name = problem->inputs[i].target ? "joint.target" : "actuator.control";
        own->written[i] = mf_group_find_field(group, name);
        MF_CHECK(own->written[i] != NULL, error, MF_UNSUPPORTED, "fit: the robot has no %s", name);
    }
    for (uint32_t i = 0; i < problem->output_count; i++) {
        own->read[i] = mf_group_find_field(group, problem->outputs[i].field);
        MF_CHECK(own->read[i] != NULL, error, MF_UNSUPPORTED, "fit: the robot has no %s",
                 problem->outputs[i].field);
    }
    return MF_OK;
}

static mf_Status add_systems(Bench *own, mf_Error *error) {
    static const char *const targets[] = {"joint.target", NULL},
                             *const controls[] = {"actuator.control", NULL},
                             *const both[] = {"joint.target", "actuator.control", NULL};
    bool target = false, control = false;
    for (uint32_t i = 0; i < own->problem->input_count; i++) {
        target = target || own->problem->inputs[i].target;
        control = control || !own->problem->inputs[i].target;
    }
    mf_SystemConfig config = mf_system_config();
    config.name = "log commands";
    config.phase = MF_PHASE_CONTROL;
    config.run = command;
    config.user = own;
    config.writes = target && control ? both : target ? targets : controls;
    MF_TRY(mf_group_add_system(own->scene.group, &config, error));
    config.name = "log samples";
    config.phase = MF_PHASE_AFTER;
    config.run = sample;
    config.writes = NULL;
    return mf_group_add_system(own->scene.group, &config, error);
}

// The state at which the log begins, with the errors of angles that the point has.
static void set_start(Bench *own, uint32_t instance) {
    static const char *const base[] = {"base.position", "base.orientation", "base.linear_velocity",
                                       "base.angular_velocity"};
    static const uint32_t first[] = {0, 3, 7, 10, 13};
    const mf_FitProblem *problem = own->problem;
    mf_Group *group = own->scene.group;
    mf_Field *angle = mf_group_find_field(group, "joint.angle"),
             *rate = mf_group_find_field(group, "joint.rate"),
             *target = mf_group_find_field(group, "joint.target");
    const double *point =
        own->points + (size_t)own->order[own->first + instance] * problem->unknown_count;
    for (uint32_t j = 0; j < problem->model->joint_count; j++) {
        if (!isnan(problem->angle[j])) {
            mf_field_set(angle, instance, j, problem->angle[j]);
            mf_field_set(target, instance, j, problem->angle[j]);
        }
        if (!isnan(problem->rate[j]))
            mf_field_set(rate, instance, j, problem->rate[j]);
    }
    for (uint32_t i = problem->parameter_count; i < problem->unknown_count; i++) {
        const uint32_t j = problem->unknowns[i].joint;
        mf_field_set(angle, instance, j, problem->angle[j] + point[i]);
    }
    for (int f = 0; f < 4; f++)
        for (uint32_t c = first[f]; c < first[f + 1]; c++)
            if (!isnan(problem->base[c]))
                mf_field_set(mf_group_find_field(group, base[f]), instance, c - first[f],
                             problem->base[c]);
    mf_group_refresh(group, instance);
}

static mf_Status open_bench(Bench *own, mf_FitProblem *problem, mf_Error *error) {
    const double *point = own->points + (size_t)own->order[own->first] * problem->unknown_count;
    own->model = mf_fit_model(problem, point);
    MF_NEED_MEMORY(own->model != NULL, error, "fit");
    if (problem->accuracy == MF_FIT_RUNGE_KUTTA)
        own->model->physics.integrator = MF_PHYSICS_RK4;
    mf_SceneConfig config = mf_scene_config();
    config.count = own->count;
    config.isolated = true;
    problem->group.model = own->model;
    problem->file.step = mf_time_from_seconds(problem->step);
    mf_Status status =
        mf_scene_create(problem->context, &problem->file, &config, &own->scene, error);
    problem->group.model = problem->model;
    MF_TRY(status);
    const mf_Array arrays[] = {MF_ARRAY(own->inputs, (size_t)own->count * problem->input_count),
                               MF_ARRAY(own->outputs, (size_t)own->count * problem->output_count),
                               MF_ARRAY(own->written, problem->input_count),
                               MF_ARRAY(own->read, problem->output_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, 4), error, "fit");
    MF_TRY(find_fields(own, error));
    MF_TRY(add_systems(own, error));
    own->zero = mf_world_time(own->scene.world);
    for (uint32_t i = 0; i < own->count; i++) {
        set_start(own, i);
        take(own, i, problem->begin, 0.0);
    }
    return MF_OK;
}

static void close_bench(Bench *own, mf_Context *context) {
    mf_scene_destroy(&own->scene);
    mf_release(context, own->inputs);
    mf_release(context, own->model);
}

static void run_bench(void *task, uint32_t index) {
    Bench *own = (Bench *)task + index;
    const mf_FitProblem *problem = own->problem;
    const double end = own->whole ? problem->end : problem->fitted;
    const double steps = (end - problem->begin) / problem->step;
    mf_world_step(own->scene.world, (uint64_t)(steps * (1.0 - 1e-9)) + 2); // the last one's middle
    for (uint32_t i = 0; i < own->count; i++) {
        double *values = own->values + own->order[own->first + i] * own->stride;
        for (size_t v = 0; v < own->stride && mf_group_fault(own->scene.group, i) != 0; v++)
            values[v] = (double)NAN;
    }
}

// ---- batches -----------------------------------------------------------------------------------

// Whether two points have the same model.
static bool alike(const mf_FitProblem *problem, const double *a, const double *b) {
    for (uint32_t i = 0; i < problem->parameter_count; i++)
        if (problem->unknowns[i].kind != MF_FIT_DELAY && a[i] != b[i])
            return false;
    return true;
}

// Candidates, those of one model beside each other; `starts` has the first of each model.
static uint32_t sort(const mf_FitProblem *problem, const double *points, uint32_t count,
                     uint32_t *order, uint32_t *starts) {
    const uint32_t n = problem->unknown_count;
    uint32_t models = 0, placed = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool taken = false;
        for (uint32_t k = 0; k < placed && !taken; k++)
            taken = order[k] == i;
        if (taken)
            continue;
        starts[models++] = placed;
        for (uint32_t k = i; k < count; k++)
            if (k == i || alike(problem, points + (size_t)i * n, points + (size_t)k * n))
                order[placed++] = k;
    }
    starts[models] = count;
    return models;
}

mf_Status mf_fit_simulate(mf_FitProblem *problem, const double *points, uint32_t count, bool whole,
                          double *values, mf_Error *error) {
    Bench *benches;
    uint32_t *order, *starts;
    const mf_Array arrays[] = {MF_ARRAY(benches, WORLDS), MF_ARRAY(order, count),
                               MF_ARRAY(starts, (size_t)count + 1)};
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, 3), error, "fit");
    const uint32_t models = sort(problem, points, count, order, starts);
    mf_Status status = MF_OK;
    for (uint32_t first = 0; first < models && status == MF_OK; first += WORLDS) {
        const uint32_t some = mf_smaller_u32(models - first, WORLDS);
        memset(benches, 0, WORLDS * sizeof *benches);
        for (uint32_t i = 0; i < some && status == MF_OK; i++) {
            benches[i] = (Bench){.problem = problem,
                                 .first = starts[first + i],
                                 .count = starts[first + i + 1] - starts[first + i],
                                 .order = order,
                                 .points = points,
                                 .values = values,
                                 .stride = whole ? problem->samples : problem->fitted_samples,
                                 .whole = whole};
            status = open_bench(&benches[i], problem, error);
        }
        if (status == MF_OK)
            mf_parallel_for(problem->context, some, run_bench, benches);
        for (uint32_t i = 0; i < some && status == MF_OK; i++)
            status = mf_scene_scripts_status(&benches[i].scene, error);
        for (uint32_t i = 0; i < some; i++)
            close_bench(&benches[i], problem->context);
    }
    problem->simulations += count;
    mf_release(problem->context, benches);
    return status;
}
