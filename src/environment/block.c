// State and sensor values of a block of robots for tasks, transposed from lanes to contiguous
// values per robot.
#include "environment/environment.h"

#include "math/scalar.h"

// Components transposed together, so that their source stays in the L1 cache.
#define TILE 8u

// ---- rows --------------------------------------------------------------------------------------

// out[robot][component] from rows [component][MF_BLOCK].
static void rotation_f64(const double *rows, uint32_t count, double *out) {
    for (uint32_t first = 0; first < count; first += TILE) {
        const uint32_t end = first + TILE < count ? first + TILE : count;
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            for (uint32_t c = first; c < end; c++)
                out[(size_t)lane * count + c] = rows[(size_t)c * MF_BLOCK + lane];
    }
}

static void rotation_f32(const float *rows, uint32_t count, double *out) {
    for (uint32_t first = 0; first < count; first += TILE) {
        const uint32_t end = first + TILE < count ? first + TILE : count;
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            for (uint32_t c = first; c < end; c++)
                out[(size_t)lane * count + c] = (double)rows[(size_t)c * MF_BLOCK + lane];
    }
}

static void load_rotation(const mf_Environment *e, const void *rows, uint32_t count, double *out) {
    if (e->precise)
        rotation_f64(rows, count, out);
    else
        rotation_f32(rows, count, out);
}

// Pointer to component `component` and the following ones of a field in a block; NULL without a
// field.
static const void *rows_of(const mf_Field *field, uint32_t block, uint32_t component) {
    if (field == NULL)
        return NULL;
    size_t row = (size_t)block * field->components + component;
    return (const char *)field->data + row * MF_BLOCK * mf_field_value_size(field->info.type);
}

static void fill(const mf_Environment *e, void *row, double value) {
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        if (e->precise)
            ((double *)row)[lane] = value;
        else
            ((float *)row)[lane] = (float)value;
}

static char *load_rows(const mf_Environment *e, const mf_StateSource *sources, uint32_t count,
                       uint32_t block, char *out) {
    const size_t row = MF_BLOCK * (e->precise ? sizeof(double) : sizeof(float));
    for (uint32_t i = 0; i < count; i += sources[i].run) {
        const mf_StateSource *source = &sources[i];
        if (source->field == NULL)
            fill(e, out + i * row, source->value);
        else
            memcpy(out + i * row, rows_of(source->field, block, source->component),
                   source->run * row);
    }
    return out + count * row;
}

// ---- state -------------------------------------------------------------------------------------

// The state of the last evaluation in the last physics step; for robots at the start of an episode
// the current one.
static void load_last(const mf_Environment *e, uint32_t block, const uint8_t *fresh,
                      mf_EnvironmentScratch *scratch) {
    const size_t size = e->precise ? sizeof(double) : sizeof(float);
    const mf_Model *model = e->plan.model;
    const uint32_t count = model->position_count + model->velocity_count;
    char *behind = load_rows(e, e->last_position, model->position_count, block, scratch->last);
    load_rows(e, e->last_velocity, model->velocity_count, block, behind);
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        for (uint32_t c = 0; fresh[lane] != 0 && c < count; c++) {
            const size_t at = ((size_t)c * MF_BLOCK + lane) * size;
            memcpy((char *)scratch->last + at, (const char *)scratch->state + at, size);
        }
}

// After the positions.
static char *velocities_of(const mf_Environment *e, void *state) {
    const size_t row = MF_BLOCK * (e->precise ? sizeof(double) : sizeof(float));
    return (char *)state + e->plan.model->position_count * row;
}

static void see_state(const mf_Environment *e, uint32_t block, const uint8_t *fresh,
                      mf_EnvironmentScratch *scratch) {
    const mf_Model *model = e->plan.model;
    char *behind = load_rows(e, e->position, model->position_count, block, scratch->state);
    load_rows(e, e->velocity, model->velocity_count, block, behind);
    load_rotation(e, scratch->state, model->position_count, scratch->position);
    load_rotation(e, behind, model->velocity_count, scratch->velocity);
    if (e->keeps)
        load_last(e, block, fresh, scratch);
    if (!e->warm_starts)
        return;
    load_rotation(e, scratch->last, model->position_count, scratch->last_position);
    load_rotation(e, velocities_of(e, scratch->last), model->velocity_count,
                  scratch->last_velocity);
}

// ---- derived quantities ------------------------------------------------------------------------

// Converts positions relative to the base's origin to world positions.
static void add_base(const mf_Environment *e, const mf_EnvironmentScratch *scratch, uint32_t count,
                     double *positions) {
    const size_t stride = e->plan.model->position_count;
    const double *base = e->warm_starts ? scratch->last_position : scratch->position;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        for (uint32_t p = 0; p < count; p++)
            for (uint32_t i = 0; i < 3; i++)
                positions[3 * ((size_t)lane * count + p) + i] += base[lane * stride + i];
}

static void see_poses(const mf_Environment *e, mf_EnvironmentScratch *scratch) {
    const uint32_t links = e->plan.model->link_count;
    load_rotation(e, scratch->body_state.point, 3 * links, scratch->point);
    load_rotation(e, scratch->body_state.rotation, 4 * links, scratch->rotation);
    if (mf_body_state_plan_tree(e->body_plan)->free)
        add_base(e, scratch, links, scratch->point);
}

static void see_bodies(const mf_Environment *e, mf_EnvironmentScratch *scratch) {
    const uint32_t bodies = e->plan.model->body_count;
    load_rotation(e, scratch->body_state.center, 3, scratch->center);
    load_rotation(e, scratch->body_state.inertia, 10 * bodies, scratch->inertia);
    load_rotation(e, scratch->body_state.twist, 6 * bodies, scratch->twist);
    if (mf_body_state_plan_tree(e->body_plan)->free)
        add_base(e, scratch, 1, scratch->center);
}

static double value_at(const mf_Environment *e, const void *row, uint32_t lane) {
    return e->precise ? ((const double *)row)[lane] : (double)((const float *)row)[lane];
}

static void see_actuators(const mf_Environment *e, uint32_t block, mf_EnvironmentScratch *scratch) {
    const mf_Model *model = e->plan.model;
    const size_t stride = model->velocity_count;
    memset(scratch->actuator, 0, MF_BLOCK * stride * sizeof *scratch->actuator);
    for (uint32_t a = 0; e->actuator != NULL && a < model->actuator_count; a++) {
        const mf_Actuator *actuator = &model->actuators[a];
        const void *row = rows_of(e->actuator, block, a);
        if (actuator->drive != MF_DRIVE_JOINT)
            continue;
        double *out = scratch->actuator + model->joints[actuator->joint].velocity_address;
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            out[lane * stride] += actuator->gear[0] * value_at(e, row, lane);
    }
}

// 1 where any of a foot's contacts is loaded.
static void see_feet(const mf_Environment *e, uint32_t block, mf_EnvironmentScratch *scratch) {
    const size_t stride = e->plan.foot_count;
    for (size_t i = 0; i < MF_BLOCK * stride; i++)
        scratch->feet[i] = 0.0;
    for (uint32_t i = 0; i < e->foot_row_count; i++) {
        const mf_FootRow *foot = &e->feet[i];
        const void *row = rows_of(foot->field, block, foot->component);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            if (value_at(e, row, lane) > 0.0)
                scratch->feet[lane * stride + foot->foot] = 1.0;
    }
}

// Runs the kernel. Moments of forces use the link poses of the evaluation in which they acted.
static void find_body_state(const mf_Environment *e, uint32_t block,
                            mf_EnvironmentScratch *scratch) {
    const uint32_t wants = e->plan.task->wants;
    mf_BodyStateBatch *body_state = &scratch->body_state;
    void *seen = e->warm_starts ? scratch->last : scratch->state;
    body_state->raw = rows_of(e->external, block, 0);
    body_state->wants = wants;
    if (wants & MF_TASK_EXTERNAL && seen != scratch->last) {
        body_state->position = scratch->last;
        body_state->velocity = velocities_of(e, scratch->last);
        body_state->wants = MF_TASK_EXTERNAL;
        e->see(body_state);
        body_state->wants = wants & ~(uint32_t)MF_TASK_EXTERNAL;
    }
    body_state->position = seen;
    body_state->velocity = velocities_of(e, seen);
    if (body_state->wants & (MF_TASK_POSES | MF_TASK_BODIES | MF_TASK_EXTERNAL))
        e->see(body_state);
}

void mf_environment_see(const mf_Environment *e, uint32_t block, const uint8_t *fresh,
                        mf_EnvironmentScratch *scratch) {
    const uint32_t wants = e->plan.task->wants, external = 6 * e->plan.model->body_count;
    see_state(e, block, fresh, scratch);
    find_body_state(e, block, scratch);
    if (wants & MF_TASK_POSES)
        see_poses(e, scratch);
    if (wants & MF_TASK_BODIES)
        see_bodies(e, scratch);
    if (wants & MF_TASK_EXTERNAL)
        load_rotation(e, scratch->body_state.external, external, scratch->external);
    if (wants & MF_TASK_ACTUATORS)
        see_actuators(e, block, scratch);
    if (wants & MF_TASK_FEET)
        see_feet(e, block, scratch);
    if (wants & MF_TASK_LIMITS && e->limit != NULL)
        load_rotation(e, rows_of(e->limit, block, 0), e->plan.model->joint_count, scratch->limit);
}

mf_TaskView mf_environment_view(const mf_Environment *e, uint32_t lane,
                                const mf_EnvironmentScratch *scratch, mf_TaskDraw *draw) {
    const mf_Model *model = e->plan.model;
    const size_t positions = lane * (size_t)model->position_count,
                 velocities = lane * (size_t)model->velocity_count,
                 links = lane * (size_t)model->link_count,
                 bodies = lane * (size_t)model->body_count;
    return (mf_TaskView){
        .plan = &e->plan,
        .position = scratch->position + positions,
        .velocity = scratch->velocity + velocities,
        .last_position = (e->warm_starts ? scratch->last_position : scratch->position) + positions,
        .last_velocity = (e->warm_starts ? scratch->last_velocity : scratch->velocity) + velocities,
        .memory = scratch->memory,
        .point = (const double(*)[3])scratch->point + links,
        .rotation = (const double(*)[4])scratch->rotation + links,
        .center = scratch->center + 3 * (size_t)lane,
        .inertia = scratch->inertia + 10 * bodies,
        .twist = scratch->twist + 6 * bodies,
        .external = scratch->external + 6 * bodies,
        .actuator = scratch->actuator + velocities,
        .limit = scratch->limit + lane * (size_t)model->joint_count,
        .feet = scratch->feet + lane * (size_t)e->plan.foot_count,
        .team = e->plan.team > 1 ? scratch->team : NULL,
        .agent = draw->agent,
        .draw = draw};
}
