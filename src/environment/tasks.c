// The list of all tasks, and common code.
#include "environment/tasks.h"
#include <mayfly/model_fields.h>

#include "math/scalar.h"

#define ROW(name) &mf_task_##name,
const mf_Task *const mf_tasks[] = {MF_TASKS(ROW)};
const uint32_t mf_tasks_count = sizeof mf_tasks / sizeof mf_tasks[0];

double mf_task_squares(const double *values, uint32_t count) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0}; // four independent sums, to hide latency
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (uint32_t k = 0; k < 4; k++)
            sums[k] += values[i + k] * values[i + k];
    for (; i < count; i++)
        sums[0] += values[i] * values[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double mf_task_length(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return mf_sqrt(sum);
}

double mf_task_effort(const mf_TaskView *view) {
    return mf_task_squares(view->action, view->plan->action_count);
}

double mf_task_change(const mf_TaskView *view, double *last) {
    double sum = 0.0;
    for (uint32_t a = 0; a < view->plan->action_count; a++) {
        sum += (view->action[a] - last[a]) * (view->action[a] - last[a]);
        last[a] = view->action[a];
    }
    return sum / view->plan->action_count;
}

void mf_task_put_position(const mf_TaskView *view, double *signals) {
    static const double origin[2] = {0.0, 0.0};
    signals[0] = view->position[0];
    signals[1] = view->position[1];
    signals[2] = mf_task_length(view->position, origin, 2);
}

void mf_task_shake_uniform(mf_TaskDraw *draw, double scale, double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        values[i] += mf_task_uniform(draw, -scale, scale);
}

void mf_task_shake_normal(mf_TaskDraw *draw, double scale, double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        values[i] += scale * mf_task_normal(draw);
}

void mf_task_put(double **out, const double *values, uint32_t count) {
    memcpy(*out, values, count * sizeof *values);
    *out += count;
}

void mf_task_put_limited(double **out, const double *values, uint32_t count, double limit) {
    for (uint32_t i = 0; i < count; i++)
        *(*out)++ = mf_clamp(values[i], -limit, limit);
}

mf_Status mf_task_need(const mf_TaskPlan *plan, uint32_t positions, uint32_t velocities,
                       uint32_t actuators, mf_Error *error) {
    const mf_Model *model = plan->model;
    if (model->position_count == positions && model->velocity_count == velocities &&
        model->actuator_count == actuators)
        return MF_OK;
    return mf_fail_at(error, MF_UNSUPPORTED, model->file, 0, 0,
                      "task %s: expected a model like %s with %u position values, %u velocity "
                      "values and %u actuators, found %u, %u and %u",
                      plan->task->info.name, plan->task->info.model, positions, velocities,
                      actuators, model->position_count, model->velocity_count,
                      model->actuator_count);
}

mf_Status mf_task_need_body(const mf_TaskPlan *plan, const char *name, uint32_t *out,
                            mf_Error *error) {
    *out = mf_model_find(plan->model, MF_ITEM_BODY, name);
    if (*out != MF_NONE)
        return MF_OK;
    return mf_fail_at(error, MF_UNSUPPORTED, plan->model->file, 0, 0,
                      "task %s: expected a body '%s', as in %s", plan->task->info.name, name,
                      plan->task->info.model);
}

void mf_task_body_position(const mf_TaskView *view, uint32_t body, double position[3]) {
    const mf_Body *own = &view->plan->model->bodies[body];
    mf_vec3_copy(position, own->position);
    if (own->link == MF_NONE)
        return;
    mf_quat_rotate(position, view->rotation[own->link], own->position);
    mf_vec3_add(position, position, view->point[own->link]);
}
