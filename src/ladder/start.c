// The world of a robot alone: step, gravity, ground, integrator and switches of its file.
#include "ladder/start.h"

#include <mayfly/instruments.h>

#include "math/scalar.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define RATE_STREAM 0x64726f70u // keeps these random numbers apart from all others
#define RATE_MOST 0.1           // [rad/s] or [m/s]
#define DEEP 0.005              // [m] in the ground that no file means

static double larger(double a, double b) {
    return a > b ? a : b;
}

// ---- the ground below a pose --------------------------------------------------------------------

// No more than this [m] from the shape's origin is any of it.
static double shape_radius(const mf_Model *model, const mf_Shape *shape) {
    double farthest = 0.0;
    if (shape->type != MF_SHAPE_MESH)
        return shape->size[0] + shape->size[1] + shape->size[2];
    for (uint32_t i = 0; i < model->meshes[shape->mesh].vertex_count; i++) {
        const float *v = model->meshes[shape->mesh].vertices + 3 * (size_t)i;
        farthest = larger(farthest, mf_sqrt((double)v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return farthest;
}

// How far the robot reaches from the vertical through the world's origin [m].
static double reach_around(const mf_Model *model, double (*place)[3], double (*turn)[4]) {
    double farthest = 0.0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        double at[3];
        if (!shape->collides || shape->link == MF_NONE)
            continue;
        mf_quat_rotate(at, turn[shape->link], shape->position);
        mf_vec3_add(at, at, place[shape->link]);
        farthest =
            larger(farthest, mf_sqrt(at[0] * at[0] + at[1] * at[1]) + shape_radius(model, shape));
    }
    return farthest;
}

// The highest ground [m] within `reach` of the origin.
static double highest_near(const mf_Terrain *ground, double reach) {
    if (ground == NULL)
        return 0.0;
    double highest = mf_terrain_height(ground, 0.0, 0.0, NULL), far = reach + ground->cell;
    for (uint32_t row = 0; row < ground->rows; row++)
        for (uint32_t column = 0; column < ground->columns; column++) {
            double x = ground->origin[0] + (column + 0.5) * ground->cell;
            double y = ground->origin[1] + (row + 0.5) * ground->cell;
            if (x * x + y * y < far * far)
                highest =
                    larger(highest, ground->height_f64[(size_t)row * ground->columns + column]);
        }
    return highest;
}

// ---- the start ---------------------------------------------------------------------------------

typedef struct Start {
    double *position, *velocity; // [1] of the model
    double *angle;               // [rad] or [m] of its joints
    double (*place)[3], (*turn)[4];
} Start;

static void start_free(mf_Context *context, Start *start) {
    mf_release(context, start->position);
    mf_release(context, start->velocity);
    mf_release(context, start->angle);
    mf_release(context, start->place);
    mf_release(context, start->turn);
}

static mf_Status start_make(mf_Context *context, const mf_Model *model, Start *start,
                            mf_Error *error) {
    size_t q = model->position_count, v = model->velocity_count;
    start->position = mf_allocate(context, q + 1, sizeof(double));
    start->velocity = mf_allocate(context, v + 1, sizeof(double));
    start->angle = mf_allocate(context, model->joint_count + 1, sizeof(double));
    start->place = mf_allocate(context, model->link_count, sizeof *start->place);
    start->turn = mf_allocate(context, model->link_count, sizeof *start->turn);
    if (start->position == NULL || start->velocity == NULL || start->angle == NULL ||
        start->place == NULL || start->turn == NULL)
        return mf_fail(error, MF_NO_MEMORY, "run: out of memory");
    return MF_OK;
}

// Angles inside their ranges; those of the gait's first moment where there is one.
static mf_Status fill_angles(const mf_ModelStart *wanted, Start *start, mf_Error *error) {
    static const double still[3] = {0.0, 0.0, 0.0};
    const mf_Model *model = wanted->model;
    memcpy(start->angle, model->start_angle, model->joint_count * sizeof *start->angle);
    return wanted->gait != NULL
               ? mf_gait_sample(wanted->gait, model, 0.0, still, start->angle, error)
               : MF_OK;
}

// How deep [m] the deepest shape is in the ground with the links at these poses; < 0: above it.
static double depth_of(const mf_Model *model, const mf_Terrain *ground, const Start *start) {
    double deepest = -INFINITY;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const uint32_t link = model->shapes[i].link;
        double point[3], at[3];
        if (!model->shapes[i].collides || link == MF_NONE)
            continue;
        mf_model_shape_lowest(model, i, start->place[link], start->turn[link], point);
        mf_quat_rotate(at, start->turn[link], point);
        mf_vec3_add(at, at, start->place[link]);
        const double height = ground != NULL ? mf_terrain_height(ground, at[0], at[1], NULL) : 0.0;
        deepest = larger(deepest, height - at[2]);
    }
    return deepest;
}

static const mf_Terrain *ground_of(const mf_ModelStart *wanted) {
    return wanted->terrain != NULL ? wanted->terrain : wanted->ground;
}

// With its lowest point on the ground around the origin.
static void put_on_ground(const mf_ModelStart *wanted, Start *start) {
    const mf_Model *model = wanted->model;
    double *q = start->position;
    const double lowest =
        mf_model_lowest(model, start->place, start->turn, wanted->motion != MF_MOTION_POINTS);
    const double far = reach_around(model, start->place, start->turn);
    if (mf_is_finite(lowest))
        q[2] += highest_near(ground_of(wanted), far) - lowest;
}

// The file's pose with these angles. Only an MJCF says where in the world it is.
static void fill_pose(mf_ModelStart *wanted, Start *start) {
    const mf_Model *model = wanted->model;
    const bool placed = model->body_count > 0 && wanted->gait == NULL;
    double *q = start->position;
    memcpy(q, model->start_position, model->position_count * sizeof *q);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].type == MF_JOINT_HINGE || model->joints[j].type == MF_JOINT_SLIDE)
            q[model->joints[j].position_address] = start->angle[j];
    if (model->base != MF_BASE_FREE)
        return;
    if (!placed)
        q[0] = q[1] = 0.0;
    mf_model_pose_at(model, q, start->place, start->turn);
    if (!placed) {
        put_on_ground(wanted, start);
        return;
    }
    const double depth = depth_of(model, ground_of(wanted), start);
    wanted->raised =
        mf_model_meets_ground(model, wanted->terrain != NULL) && depth > DEEP ? depth : 0.0;
    q[2] += wanted->raised;
}

static void fill_key(const mf_Model *model, uint32_t key, Start *start) {
    const mf_Keyframe *frame = &model->keyframes[key];
    memcpy(start->position, frame->position, model->position_count * sizeof(double));
    memcpy(start->velocity, frame->velocity, model->velocity_count * sizeof(double));
}

static void set_values(mf_Group *group, const char *name, uint32_t instance, uint32_t component,
                       double value) {
    mf_Field *field = mf_group_find_field(group, name);
    if (field != NULL)
        mf_field_set(field, instance, component, value);
}

static void give_key(mf_Group *group, const mf_Keyframe *frame, uint32_t instance) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        uint32_t address = model->actuators[a].activation_address;
        set_values(group, "actuator.control", instance, a, frame->control[a]);
        if (address != MF_NONE)
            set_values(group, "actuator.activation", instance, a, frame->activation[address]);
    }
}

static void shake(mf_Group *group, uint64_t seed, uint32_t instance) {
    const mf_Model *model = mf_group_model(group);
    mf_Field *rate = mf_group_find_field(group, "joint.rate");
    for (uint32_t j = 0; instance > 0 && j < model->joint_count; j++) {
        uint32_t words[4];
        mf_random(seed, instance, RATE_STREAM, j, words);
        double part = 2.0 * words[0] * 0x1p-32 - 1.0;
        mf_field_set(rate, instance, j, mf_field_get(rate, instance, j) + RATE_MOST * part);
    }
}

// The world of a robot that it holds is the file's world; free ones get their place from the pose.
static mf_Status place_all(mf_Group *group, const mf_ModelStart *wanted, const Start *start,
                           mf_Error *error) {
    const double origin[3] = {0, 0, 0};
    for (uint32_t i = 0; i < wanted->count; i++) {
        mf_Status status = MF_OK;
        if (wanted->model->base == MF_BASE_FIXED)
            status = mf_group_place(group, i, origin, NULL, NULL, error);
        if (status != MF_OK)
            return status;
        mf_group_set_state(group, i, start->position, start->velocity);
        if (wanted->key != MF_NONE)
            give_key(group, &wanted->model->keyframes[wanted->key], i);
        shake(group, wanted->seed, i);
        mf_group_refresh(group, i);
    }
    return MF_OK;
}

// ---- motion ------------------------------------------------------------------------------------

// About 10 ms in whole steps: how often joints are told where to be.
static mf_Time control_interval(const mf_ModelStart *wanted, mf_Time step) {
    const mf_Time steps = 10 * MF_MILLISECOND / step;
    return wanted->control_interval > 0 ? wanted->control_interval : step * (steps > 0 ? steps : 1);
}

// Joints are told where to be about every 10 ms; those of `points` alone as the published model
// has it.
static mf_MotionsConfig motions_of(const mf_ModelStart *wanted, mf_Time step) {
    const mf_Model *model = wanted->model;
    mf_MotionsConfig config = mf_motions_config();
    const mf_Time published = config.points.joint_interval / step;
    mf_motions_set_shapes(&config, true);
    mf_motions_set_control(&config, control_interval(wanted, step));
    config.rigid.friction = config.prescribed.friction = config.articulated.friction =
        wanted->friction;
    if (!isnan(wanted->friction))
        config.points.friction_coefficient = wanted->friction;
    if (wanted->gait == NULL && wanted->control_interval == 0)
        config.points.joint_interval = step * (published > 0 ? published : 1);
    const bool touches = mf_model_meets_ground(model, wanted->terrain != NULL);
    config.rigid.contacts = config.prescribed.contacts = config.articulated.contacts = touches;
    config.rigid.limits = config.prescribed.limits = config.articulated.limits =
        !(model->physics.disabled & (MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT));
    // Runge-Kutta steps have contacts of MuJoCo's law only.
    if (model->physics.integrator == MF_PHYSICS_RK4 && (!touches || model->body_count > 0))
        config.articulated.integrator = MF_ARTICULATED_RK4;
    return config;
}

static mf_Status add_motion(mf_Group *group, const mf_ModelStart *wanted, mf_Time step,
                            mf_Error *error) {
    mf_MotionsConfig config = motions_of(wanted, step);
    const bool articulated = wanted->motion == MF_MOTION_ARTICULATED;
    if (wanted->motion == MF_MOTION_OWN)
        return wanted->add_motion(group, wanted->user, error);
    mf_Status status = articulated ? MF_OK : mf_motion_check(wanted->model, wanted->motion, error);
    if (status == MF_OK)
        status = mf_motion_add(group, wanted->motion, &config, error);
    if (status != MF_LIMIT || !articulated || wanted->model->body_count > 0)
        return status;
    // A URDF file of very many meshes; start_report.c of the command says that links do not touch.
    config.articulated.self_contacts = false;
    return mf_motion_add(group, wanted->motion, &config, error);
}

// Nothing is followed until the robots have settled.
static mf_Status add_gait(mf_Group *group, const mf_ModelStart *wanted, mf_Time step,
                          mf_Error *error) {
    mf_GaitConfig config = mf_gait_config();
    config.rate = mf_rate_from_period(control_interval(wanted, step));
    config.first = MF_NONE;
    return wanted->gait != NULL ? mf_gaits_add(group, &wanted->gait, 1, &config, error) : MF_OK;
}

static void settle(mf_Group *group, const mf_ModelStart *wanted, mf_Time step) {
    mf_Field *select = mf_group_find_field(group, "gait.select");
    mf_Field *command = mf_group_find_field(group, "gait.command");
    if (wanted->settle > 0.0)
        mf_world_step(mf_group_world(group),
                      (uint64_t)(wanted->settle / mf_time_to_seconds(step) + 0.5));
    for (uint32_t i = 0; select != NULL && i < wanted->count; i++) {
        mf_field_set(select, i, 0, 0.0);
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(command, i, c, wanted->command[c]);
    }
}

// What cannot be measured reads 0; mayfly info tells.
static mf_Status add_instruments(mf_Group *group, const mf_ModelStart *wanted, mf_Error *error) {
    mf_InstrumentsConfig config = mf_instruments_config();
    config.lenient = true;
    if (!wanted->instruments || (wanted->model->physics.disabled & MF_DISABLE_SENSOR))
        return MF_OK;
    return mf_instruments_add(group, &config, error);
}

mf_ModelStart mf_model_start_of(const mf_Model *model, mf_Motion motion) {
    return (mf_ModelStart){.model = model,
                           .motion = motion,
                           .key = MF_NONE,
                           .count = 1,
                           .seed = 1,
                           .friction = (double)NAN};
}

static mf_Status world_of(mf_Context *context, mf_ModelStart *start, mf_WorldConfig *out,
                          mf_Error *error) {
    const mf_Physics *physics = &start->model->physics;
    *out = mf_world_config_for(start->model);
    if (start->step == 0 && !(physics->step >= 1e-6 && physics->step <= 1.0))
        return mf_fail_at(error, MF_BAD_ARGUMENT, start->model->file, 0, 0,
                          "timestep: expected 1e-6 to 1 s, found %g", physics->step);
    if (start->step > 0)
        out->step = start->step;
    out->seed = start->seed;
    mf_Status status = MF_OK;
    if (start->terrain == NULL)
        status = mf_terrain_from_model(context, start->model, &start->ground, error);
    out->terrain = ground_of(start);
    return status;
}

// The world for `count` robots, without their poses.
static mf_Status make_world(mf_Context *context, const mf_ModelStart *start,
                            const mf_WorldConfig *config, uint32_t count, mf_World **out,
                            mf_Error *error) {
    mf_GroupConfig group = mf_group_config();
    mf_Group *robots = NULL;
    group.model = start->model;
    group.count = count;
    group.double_precision = start->double_precision;
    *out = NULL;
    mf_Status status = mf_world_create(context, config, out, error);
    if (status == MF_OK)
        status = mf_world_add_group(*out, &group, &robots, error);
    if (status == MF_OK)
        status = add_motion(robots, start, config->step, error);
    if (status == MF_OK)
        status = add_gait(robots, start, config->step, error);
    if (status == MF_OK && start->add_controllers != NULL)
        status = start->add_controllers(robots, control_interval(start, config->step), start->user,
                                        error);
    return status == MF_OK ? add_instruments(robots, start, error) : status;
}

// [byte] that one robot more takes, by two small worlds; 0 when they cannot be made, which is then
// said by the true one.
static size_t bytes_each(mf_Context *context, const mf_ModelStart *start,
                         const mf_WorldConfig *config) {
    size_t bytes[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        mf_World *world = NULL;
        const size_t before = mf_context_live_bytes(context);
        mf_Status status = make_world(context, start, config, (i + 1) * MF_BLOCK, &world, NULL);
        bytes[i] = mf_context_live_bytes(context) - before;
        mf_world_destroy(world);
        if (status != MF_OK)
            return 0;
    }
    return bytes[1] > bytes[0] ? (bytes[1] - bytes[0]) / MF_BLOCK : 0;
}

static mf_Status begin(mf_Context *context, mf_ModelStart *start, mf_Group *group,
                       mf_Error *error) {
    Start pose = {0};
    mf_Status status = start_make(context, start->model, &pose, error);
    if (status == MF_OK)
        status = fill_angles(start, &pose, error);
    if (status == MF_OK) {
        if (start->key != MF_NONE)
            fill_key(start->model, start->key, &pose);
        else
            fill_pose(start, &pose);
        status = place_all(group, start, &pose, error);
    }
    start_free(context, &pose);
    return status;
}

mf_Status mf_model_start(mf_Context *context, mf_ModelStart *start, mf_World **out,
                         mf_Error *error) {
    mf_WorldConfig world;
    *out = NULL;
    mf_Status status = world_of(context, start, &world, error);
    if (status == MF_OK && start->count >= MF_MEMORY_MANY)
        status =
            mf_memory_suffices(bytes_each(context, start, &world), start->count, "robots", error);
    if (status == MF_OK)
        status = make_world(context, start, &world, start->count, out, error);
    if (status == MF_OK)
        status = begin(context, start, mf_world_group(*out, 0), error);
    if (status == MF_OK)
        settle(mf_world_group(*out, 0), start, world.step);
    if (status != MF_OK) {
        mf_world_destroy(*out);
        *out = NULL;
    }
    return status;
}
