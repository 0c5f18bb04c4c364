// The scene of an environment: ground, gravity and switches of the model's file, one group of
// isolated robots with the task's settings, and the fields of episodes.
#include "environment/environment.h"
#include "body/kind.h"
#include "motion/articulated/host.h"
#include "math/kernel_table.h"

#include "math/scalar.h"
#include "multibody/tree.h"
#include "world/attach.h"
#include "world/systems.h"

static const mf_FieldInfo row_info[MF_EPISODE_ROWS] = {
    {"episode.steps", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "steps of the environment in this episode"},
    {"episode.number", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "episodes started with this seed"},
    {"episode.phase", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "0 none yet, 1 runs, 2 over"},
    {"episode.seed", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "lower and upper half of the seed"},
    {"episode.memory", "1", "", MF_F64, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "memory of the task between steps"},
    {"episode.last_position", "1", "world", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "position vector at the beginning of the last physics step"},
    {"episode.last_velocity", "1", "world", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "velocity vector at the beginning of the last physics step"},
};

// ---- values kept of the last physics step ------------------------------------------------------

typedef struct LastStep {
    const mf_Field *position, *velocity;
    const mf_StateSource *position_source, *velocity_source;
    uint64_t frame_skip;
} LastStep;

static void copy_rows(const mf_SystemRun *run, const mf_Field *to, const mf_StateSource *sources) {
    size_t row = MF_BLOCK * mf_field_value_size(to->info.type);
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++)
        for (uint32_t c = 0; c < to->components; c++) {
            const mf_Field *from = sources[c].field;
            size_t target = ((size_t)b * to->components + c) * row;
            if (from == NULL)
                continue;
            size_t source = ((size_t)b * from->components + sources[c].component) * row;
            memcpy((char *)to->data + target, (const char *)from->data + source, row);
        }
}

static void keep_last_step(const mf_SystemRun *run, void *user) {
    const LastStep *own = user;
    if ((run->tick + 1) % own->frame_skip != 0)
        return;
    copy_rows(run, own->position, own->position_source);
    copy_rows(run, own->velocity, own->velocity_source);
}

static mf_Status add_warm_start(mf_Environment *environment, mf_Error *error) {
    static const char *const writes[] = {"episode.last_position", "episode.last_velocity", NULL};
    static const char *const reads[] = {MF_TREE_FIELD_NAMES, NULL};
    mf_SystemConfig system = mf_system_config();
    LastStep *own = mf_allocate(environment->context, 1, sizeof *own);
    MF_NEED_MEMORY(own != NULL, error, "environment");
    own->position = environment->rows[MF_EPISODE_LAST_POSITION];
    own->velocity = environment->rows[MF_EPISODE_LAST_VELOCITY];
    own->position_source = environment->position;
    own->velocity_source = environment->velocity;
    own->frame_skip = environment->frame_skip;
    system.name = "episode";
    system.phase = MF_PHASE_SENSE;
    system.run = keep_last_step;
    system.destroy = mf_attach_release;
    system.user = own;
    system.reads = reads;
    system.writes = writes;
    mf_Status status = mf_group_add_system(environment->group, &system, error);
    if (status != MF_OK)
        mf_release(environment->context, own);
    return status;
}

// Writing the state during an episode marks the robot. The mark has a field of its own, so that the
// system declares only this field.
static void mark_moved(mf_Group *group, uint32_t instance, void *user) {
    mf_Field *phase = user;
    (void)group;
    if (mf_field_get(phase, instance, 0) == (double)MF_EPISODE_RUNS)
        mf_field_set(phase, instance, 0, (double)MF_EPISODE_MOVED);
}

static void run_nothing(const mf_SystemRun *run, void *user) {
    (void)run;
    (void)user;
}

static mf_Status add_marks(mf_Environment *environment, mf_Error *error) {
    static const char *const none[] = {NULL};
    mf_SystemConfig system = mf_attach_system("episode.moved", MF_PHASE_SENSE, run_nothing,
                                              environment->rows[MF_EPISODE_PHASE]);
    system.refresh = mark_moved;
    system.reads = none;
    system.writes = none;
    return mf_group_add_system(environment->group, &system, error);
}

// ---- sources of the state ----------------------------------------------------------------------

static void source(mf_StateSource *out, const mf_Field *field, uint32_t component) {
    out->field = field;
    out->component = component;
}

static void find_sources(mf_Environment *environment) {
    const mf_Model *model = environment->plan.model;
    mf_Group *group = environment->group;
    mf_StateSource *q = environment->position, *v = environment->velocity;
    uint32_t balls = 0, frees = 0;
    for (uint32_t i = 0; i < model->position_count; i++)
        q[i].value = model->start_position[i];
    for (uint32_t i = 0; model->base == MF_BASE_FREE && i < 7; i++)
        source(&q[i], mf_group_find_field(group, i < 3 ? "base.position" : "base.orientation"),
               i < 3 ? i : i - 3);
    for (uint32_t i = 0; model->base == MF_BASE_FREE && i < 6; i++)
        source(&v[i],
               mf_group_find_field(group, i < 3 ? "base.linear_velocity" : "base.angular_velocity"),
               i % 3);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        uint32_t at = joint->position_address, rate = joint->velocity_address;
        if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE) {
            source(&q[at], mf_group_find_field(group, "joint.angle"), j);
            source(&v[rate], mf_group_find_field(group, "joint.rate"), j);
        }
        for (uint32_t i = 0; joint->type == MF_JOINT_FLOATING && i < 3; i++) {
            source(&q[at + i], mf_group_find_field(group, "free.position"), 3 * frees + i);
            source(&v[rate + i], mf_group_find_field(group, "free.velocity"), 3 * frees + i);
        }
        if (joint->type == MF_JOINT_FLOATING) {
            frees++;
            at += 3;
            rate += 3;
        }
        if (joint->type != MF_JOINT_FLOATING && joint->type != MF_JOINT_BALL)
            continue;
        for (uint32_t i = 0; i < 4; i++)
            source(&q[at + i], mf_group_find_field(group, "ball.orientation"), 4 * balls + i);
        for (uint32_t i = 0; i < 3; i++)
            source(&v[rate + i], mf_group_find_field(group, "ball.rate"), 3 * balls + i);
        balls++;
    }
}

// The component of a value of the state in stage.state.
static void stage_source(const mf_Environment *environment, mf_StateSource *out) {
    static const char *const fields[] = {
        "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
        "joint.angle",   "joint.rate",       "ball.orientation",     "ball.rate",
        "free.position", "free.velocity"};
    const mf_Field *state = mf_group_find_field(environment->group, "stage.state");
    uint32_t first = 0;
    if (out->field == NULL)
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const mf_Field *field = mf_group_find_field(environment->group, fields[i]);
        if (field == out->field) {
            source(out, state, first + out->component);
            return;
        }
        first += field != NULL ? field->components : 0;
    }
}

// Finds runs of sources that can be read together.
static void join_sources(mf_StateSource *sources, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        const mf_StateSource *next = &sources[i + 1];
        const bool joined = i + 1 < count && sources[i].field != NULL &&
                            next->field == sources[i].field &&
                            next->component == sources[i].component + 1;
        sources[i].run = joined ? next->run + 1 : 1;
    }
}

static void find_last(mf_Environment *environment) {
    const mf_Model *model = environment->plan.model;
    for (uint32_t i = 0; i < model->position_count; i++) {
        environment->last_position[i] = environment->position[i];
        if (environment->stages)
            stage_source(environment, &environment->last_position[i]);
        else if (environment->position[i].field != NULL)
            source(&environment->last_position[i], environment->rows[MF_EPISODE_LAST_POSITION], i);
    }
    for (uint32_t i = 0; i < model->velocity_count; i++) {
        environment->last_velocity[i] = environment->velocity[i];
        if (environment->stages)
            stage_source(environment, &environment->last_velocity[i]);
        else if (environment->velocity[i].field != NULL)
            source(&environment->last_velocity[i], environment->rows[MF_EPISODE_LAST_VELOCITY], i);
    }
    join_sources(environment->position, model->position_count);
    join_sources(environment->velocity, model->velocity_count);
    join_sources(environment->last_position, model->position_count);
    join_sources(environment->last_velocity, model->velocity_count);
}

// ---- fields of motions -----------------------------------------------------------------------

static mf_Status report(mf_Environment *environment, mf_Error *error) {
    const mf_Model *model = environment->plan.model;
    uint32_t wants = environment->plan.task->wants, *bodies;
    mf_Status status = MF_OK;
    if (wants & MF_TASK_EXTERNAL && mf_motion_in(environment->group, MF_MOTION_ARTICULATED)) {
        bodies = mf_allocate(environment->context, model->body_count + 1, sizeof *bodies);
        MF_NEED_MEMORY(bodies != NULL, error, "environment");
        for (uint32_t b = 0; b < model->body_count; b++)
            bodies[b] = b;
        status = mf_articulated_report_forces(environment->group, bodies, model->body_count, error);
        mf_release(environment->context, bodies);
    }
    if (status == MF_OK && wants & MF_TASK_LIMITS)
        status = mf_articulated_report_limits(environment->group, error);
    if (status == MF_OK && environment->stages)
        status = mf_articulated_report_stage(environment->group, error);
    if (status == MF_OK && wants & MF_TASK_FEET)
        status = mf_environment_find_feet(environment, error);
    environment->external = mf_group_find_field(environment->group, "sensor.outer");
    environment->limit = mf_group_find_field(environment->group, "joint.limit_force");
    environment->actuator = mf_group_find_field(environment->group, "actuator.force");
    environment->fault = mf_group_find_field(environment->group, "fault.word");
    return status;
}

// ---- the scene ----------------------------------------------------------------------------------

// Added before the fields of motions.
static mf_Status add_rows(mf_Group *group, void *user, mf_Error *error) {
    mf_Environment *environment = user;
    const mf_Model *model = environment->plan.model;
    const uint32_t counts[MF_EPISODE_ROWS] = {1,
                                              1,
                                              1,
                                              2,
                                              environment->plan.memory_count + 1,
                                              model->position_count,
                                              model->velocity_count};
    for (uint32_t r = 0; r < MF_EPISODE_ROWS; r++)
        if (counts[r] > 0)
            MF_TRY(
                mf_group_add_field(group, &row_info[r], counts[r], &environment->rows[r], error));
    return MF_OK;
}

// Whether tasks read poses and forces of the last evaluation of the last physics step, as in
// MuJoCo: for Euler the beginning of the step, for Runge-Kutta the last stage. A file for RK4 that
// is stepped by Euler uses the end of the step, which is nearer to that stage.
static void choose_state(mf_Environment *environment) {
    const uint32_t poses = MF_TASK_POSES | MF_TASK_BODIES | MF_TASK_EXTERNAL | MF_TASK_LIMITS;
    const mf_TaskPlan *plan = &environment->plan;
    const bool reads = (plan->task->wants & poses) != 0;
    environment->stages =
        reads && plan->rk4 && plan->task->describe == NULL && plan->motion == MF_MOTION_ARTICULATED;
    environment->warm_starts =
        environment->stages || (reads && plan->model->physics.integrator != MF_PHYSICS_RK4);
    environment->keeps = environment->warm_starts || (plan->task->wants & MF_TASK_EXTERNAL) != 0;
}

static void choose_kernel(mf_Environment *environment) {
    static const mf_BodyStateFn runs[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_body_state_run);
    environment->precise = mf_group_config_of(environment->group)->double_precision;
    environment->see = runs[mf_kernel_row(mf_world_isa(environment->world))][environment->precise];
}

// To the model's actuators.
static mf_Status aim_actuators(mf_Environment *environment, mf_Error *error) {
    const mf_Model *model = environment->plan.model;
    const uint32_t count = environment->plan.action_count;
    mf_Field *control = mf_group_find_field(environment->group, "actuator.control");
    if (control == NULL || control->components != count)
        return mf_fail_at(error, MF_UNSUPPORTED, model->file, 0, 0,
                          "task %s: expected a model with actuators that moves by articulated",
                          environment->plan.task->info.name);
    for (uint32_t a = 0; a < count; a++)
        environment->targets[a] = (mf_ActionTarget){.field = control,
                                                    .component = a,
                                                    .scale = 1.0,
                                                    .lower = model->actuators[a].control_lower,
                                                    .upper = model->actuators[a].control_upper};
    return MF_OK;
}

// Adds the environment's fields and systems to a complete world.
static mf_Status attach(mf_Scene *scene, void *user, mf_Error *error) {
    mf_Environment *environment = user;
    const mf_TaskPlan *plan = &environment->plan;
    mf_Status status = MF_OK;
    environment->world = scene->world;
    environment->group = scene->group;
    if (plan->task->aim != NULL)
        plan->task->aim(plan, environment->group, environment->targets);
    else
        status = aim_actuators(environment, error);
    MF_THEN(status, report(environment, error));
    if (status != MF_OK)
        return status;
    choose_kernel(environment);
    find_sources(environment);
    find_last(environment);
    if (environment->keeps && !environment->stages)
        status = add_warm_start(environment, error);
    return status == MF_OK ? add_marks(environment, error) : status;
}

// For models that step as MuJoCo does.
static void describe_twin(const mf_TaskPlan *plan, mf_SceneGroup *group) {
    group->motions.articulated.contact_law = MF_CONTACT_LAW_MUJOCO;
    group->motions.articulated.integrator =
        plan->rk4 ? MF_ARTICULATED_RK4 : MF_ARTICULATED_IMPLICIT;
}

// The scene of the model's own file, with the times and motion of the plan; the task sets the rest.
static mf_Status describe(mf_Environment *environment, const mf_EnvironmentConfig *config,
                          mf_Error *error) {
    const mf_TaskPlan *plan = &environment->plan;
    const bool flies = plan->task->make != NULL;
    mf_Status status =
        flies ? mf_scene_file_of_body(environment->context, &mf_vehicle_body, &environment->vehicle,
                                      NULL, 0, &environment->file, error)
              : mf_scene_file_of_model(environment->context, plan->model, NULL, 0,
                                       &environment->file, error);
    if (status != MF_OK)
        return status;
    mf_SceneGroup *group = &environment->file->groups[0];
    environment->file->step = mf_time_from_seconds(plan->step);
    group->model = plan->model;
    group->count = config->count;
    group->double_precision = config->double_precision;
    group->joint_noise = 0.0;
    group->sensors = false;
    if (!flies) {
        group->motion = plan->motion;
        group->control_interval = mf_time_from_seconds(plan->interval);
    }
    if (plan->task->describe != NULL)
        plan->task->describe(plan, group);
    else
        describe_twin(plan, group);
    return MF_OK;
}

mf_Status mf_environment_make_world(mf_Environment *environment, const mf_EnvironmentConfig *config,
                                    mf_Error *error) {
    choose_state(environment);
    MF_TRY(describe(environment, config, error));
    environment->file->hooks =
        (mf_SceneHooks){.prepare = add_rows, .attach = attach, .user = environment};
    return mf_scene_create(environment->context, environment->file, NULL, &environment->scene,
                           error);
}
