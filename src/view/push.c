// The mouse pulls a robot by a spring with a limit from the point where it was taken to where the
// mouse is:
//
//   f = m w^2 d - 2 z w sqrt(m e) u,  |f| <= LIMIT m g
//
// with the robot's mass m, the mass e that is felt at the point, the distance d and the velocity u
// of the point. Under `articulated` the point is one of the link that was taken, e = 3 / tr(J M^-1
// J^T) with the point's Jacobian J and the mass matrix M, and f acts on that link: its generalized
// force J^T f goes to the inputs of the base and of the joints (joint.torque, ball.torque), on top
// of what they were. At the other levels joints are where they are told to be, so that f acts on
// the base, e = m, and u is the point's velocity as a part of the base. Vehicles get its impulse;
// robots that only follow their command are moved. It ends with the release, which gives the inputs
// back. A mf_Pusher gives them back after each step, so that others may write them meanwhile.
#include "view/push.h"
#include "motion/table.h"
#include "base/memory.h"
#include "world/between.h"
#include "solve/link_motion.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <mayfly/dynamics.h>

#include <math.h>
#include <string.h>

#define RATE 8.0      // [rad/s] w
#define DAMPING 0.7   // [1] z
#define LIMIT 3.0     // [1] of the weight
#define GRAVITY 9.81  // [m/s^2] that the limit is measured with
#define MOVE_RATE 6.0 // [1/s] with which robots that know no forces follow
#define TRIAL 1.0     // [N] with which the mass at a point is felt
#define FARTHEST 1e6  // [m] of a point and a goal

// ---- memory ------------------------------------------------------------------------------------

mf_Status mf_push_allocate(mf_Context *context, const mf_World *world, mf_PushMemory *out,
                           mf_Error *error) {
    uint32_t links = 1, joints = 1, count = 6;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        const mf_Group *group = mf_world_group((mf_World *)(uintptr_t)world, g);
        const mf_Model *model = mf_group_model(group);
        const uint32_t velocities = mf_group_velocity_count(group);
        links = model->link_count > links ? model->link_count : links;
        joints = model->joint_count > joints ? model->joint_count : joints;
        count = velocities > count ? velocities : count;
    }
    *out = (mf_PushMemory){.context = context,
                           .rest_count = 6 + 4 * (size_t)joints,
                           .links = links,
                           .joints = joints,
                           .count = count};
    const mf_Array arrays[] = {
        MF_ARRAY(out->poses, 7 * (size_t)links), MF_ARRAY(out->velocities, 6 * (size_t)links),
        MF_ARRAY(out->jacobian, 9 * (size_t)count), MF_ARRAY(out->rest, out->rest_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(context, arrays, 4), error, "push");
    out->force = out->jacobian + 6 * (size_t)count;
    out->one = out->force + count;
    out->other = out->one + count;
    return MF_OK;
}

void mf_push_free(mf_PushMemory *memory) {
    mf_release(memory->context, memory->poses);
    *memory = (mf_PushMemory){.context = memory->context};
}

// ---- fields ------------------------------------------------------------------------------------

typedef struct Fields {
    mf_Field *position, *orientation, *linear, *angular; // of the base
    mf_Field *inputs[4]; // force, torque of the base; torques of joints, of balls
} Fields;

enum { FORCE, TORQUE, JOINTS, BALLS, INPUTS };

static Fields fields_of(mf_Group *group) {
    static const char *const names[INPUTS] = {"base.force", "base.torque", "joint.torque",
                                              "ball.torque"};
    Fields out = {.position = mf_group_find_field(group, "base.position"),
                  .orientation = mf_group_find_field(group, "base.orientation"),
                  .linear = mf_group_find_field(group, "base.linear_velocity"),
                  .angular = mf_group_find_field(group, "base.angular_velocity")};
    for (int i = 0; i < INPUTS; i++)
        if (mf_group_writer(group, names[i], 0) == NULL)
            out.inputs[i] = mf_group_find_field(group, names[i]);
    return out;
}

static void load(double out[3], const mf_Field *field, uint32_t robot) {
    for (uint32_t c = 0; c < 3; c++)
        out[c] = field != NULL ? mf_field_get(field, robot, c) : 0.0;
}

// The inputs that a push writes, to memory->rest or back.
static void keep_inputs(const mf_Push *push, const mf_PushMemory *memory, bool back) {
    const Fields fields = fields_of(push->group);
    double *rest = memory->rest;
    for (int i = 0; i < INPUTS; i++)
        for (uint32_t c = 0; fields.inputs[i] != NULL && c < fields.inputs[i]->components; c++)
            if (back)
                mf_field_set(fields.inputs[i], push->robot, c, *rest++);
            else
                *rest++ = mf_field_get(fields.inputs[i], push->robot, c);
}

bool mf_push_writes(const mf_Push *push, const mf_Group *group, uint32_t robot,
                    const mf_Field *field) {
    if (!push->on || push->group != group || push->robot != robot)
        return false;
    const Fields fields = fields_of(push->group);
    bool writes = false;
    for (int i = 0; i < INPUTS; i++)
        writes = writes || fields.inputs[i] == field;
    return writes;
}

// ---- what can be pushed ------------------------------------------------------------------------

// Whether joints between a link and the base are moved by their inputs, with the base if it moves.
static bool is_jointed(const Fields *fields, const mf_Group *group, uint32_t robot) {
    return mf_motion_of(group, robot) == MF_MOTION_ARTICULATED && fields->inputs[JOINTS] != NULL &&
           (mf_group_model(group)->base == MF_BASE_FIXED ||
            (fields->inputs[FORCE] != NULL && fields->inputs[TORQUE] != NULL));
}

static bool floats(const mf_Model *model, uint32_t link) {
    for (uint32_t l = link; l != 0; l = model->links[l].parent)
        if (model->joints[model->links[l].joint].type == MF_JOINT_FLOATING)
            return true;
    return false;
}

const char *mf_push_refuses(mf_Group *group, uint32_t robot, uint32_t link) {
    const mf_Model *model = mf_group_model(group);
    const Fields fields = fields_of(group);
    if (link >= model->link_count || fields.position == NULL)
        return "this one cannot be pushed: it is no single robot";
    if (model->base == MF_BASE_FIXED && (link == 0 || !is_jointed(&fields, group, robot)))
        return "this one cannot be pushed: its base is fixed, and only under articulated do forces "
               "move its joints";
    if (floats(model, link))
        return "this link cannot be pushed: it moves by a floating joint, which has no input";
    return NULL;
}

// ---- the spring --------------------------------------------------------------------------------

static bool link_state(const mf_Push *push, const mf_PushMemory *memory, double point[3]) {
    const uint32_t links = mf_group_model(push->group)->link_count;
    double *rotations = memory->poses + 3 * (size_t)links;
    if (mf_group_link_poses(push->group, push->robot, 1, memory->poses, rotations, NULL) != MF_OK)
        return false;
    mf_quat_rotate(point, rotations + 4 * (size_t)push->link, push->at);
    mf_vec3_add(point, memory->poses + 3 * (size_t)push->link, point);
    return true;
}

static bool accelerate(const mf_Push *push, const mf_PushMemory *memory, double *acceleration) {
    return mf_group_forward_dynamics(push->group, push->robot, 1, memory->force, acceleration,
                                     NULL) == MF_OK;
}

// memory->force = J^T force
static void generalize(const mf_PushMemory *memory, uint32_t count, const double force[3]) {
    for (uint32_t i = 0; i < count; i++)
        memory->force[i] = memory->jacobian[i] * force[0] + memory->jacobian[count + i] * force[1] +
                           memory->jacobian[2 * (size_t)count + i] * force[2];
}

// [kg] 3 / tr(J M^-1 J^T), at most the robot's mass; that where the point does not answer.
static double mass_at(const mf_Push *push, const mf_PushMemory *memory) {
    const uint32_t count = mf_group_velocity_count(push->group);
    const double none[3] = {0.0, 0.0, 0.0};
    double trace = 0.0;
    if (mf_group_jacobian(push->group, push->robot, 1, push->link, push->at, memory->jacobian,
                          NULL) != MF_OK)
        return push->mass;
    generalize(memory, count, none);
    if (!accelerate(push, memory, memory->one))
        return push->mass;
    for (uint32_t c = 0; c < 3; c++) {
        const double force[3] = {c == 0 ? TRIAL : 0.0, c == 1 ? TRIAL : 0.0, c == 2 ? TRIAL : 0.0};
        generalize(memory, count, force);
        if (!accelerate(push, memory, memory->other))
            return push->mass;
        for (uint32_t i = 0; i < count; i++)
            trace += memory->jacobian[c * (size_t)count + i] * (memory->other[i] - memory->one[i]) /
                     TRIAL;
    }
    const double felt = 3.0 / trace;
    return felt > 0.0 && felt < push->mass ? felt : push->mass;
}

void mf_push_take(mf_Push *push, const mf_PushMemory *memory, mf_Group *group, uint32_t robot,
                  uint32_t link, const double at[3], const double to[3]) {
    const bool same = push->on && push->group == group && push->robot == robot &&
                      push->link == link && memcmp(push->at, at, sizeof push->at) == 0;
    mf_vec3_copy(push->to, to);
    if (same)
        return;
    mf_push_release(push, memory);
    const Fields fields = fields_of(group);
    const double mass = mf_group_model(group)->mass;
    *push = (mf_Push){.on = true,
                      .group = group,
                      .robot = robot,
                      .link = link,
                      .motion = mf_motion_of(group, robot),
                      .mass = mass,
                      .felt = mass};
    mf_vec3_copy(push->at, at);
    mf_vec3_copy(push->to, to);
    if (is_jointed(&fields, group, robot))
        push->felt = mass_at(push, memory);
    keep_inputs(push, memory, false);
}

void mf_push_release(mf_Push *push, const mf_PushMemory *memory) {
    if (push->on)
        keep_inputs(push, memory, true);
    push->on = false;
}

// [N] The spring's force at a point that moves with `velocity`.
static void spring(const mf_Push *push, const double point[3], const double velocity[3],
                   double force[3]) {
    const double stiffness = push->mass * RATE * RATE;
    const double damping = 2.0 * DAMPING * RATE * mf_sqrt(push->mass * push->felt);
    for (int c = 0; c < 3; c++)
        force[c] = stiffness * (push->to[c] - point[c]) - damping * velocity[c];
    const double most = LIMIT * push->mass * GRAVITY, size = mf_vec3_length(force);
    for (int c = 0; c < 3 && size > most; c++)
        force[c] *= most / size;
}

// ---- how it acts -------------------------------------------------------------------------------

// Adds memory->force to the inputs of the joints as they were.
static void load_joints(const mf_Push *push, const mf_PushMemory *memory, const Fields *fields) {
    const mf_Model *model = mf_group_model(push->group);
    const double *rest = memory->rest;
    uint32_t balls = 0;
    for (int i = FORCE; i < JOINTS; i++)
        rest += fields->inputs[i] != NULL ? fields->inputs[i]->components : 0;
    const double *ball_rest = rest + fields->inputs[JOINTS]->components;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_JointType type = model->joints[j].type;
        const uint32_t at = mf_group_velocity_address(push->group, j);
        if (type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE)
            mf_field_set(fields->inputs[JOINTS], push->robot, j, rest[j] + memory->force[at]);
        if (type == MF_JOINT_BALL && fields->inputs[BALLS] != NULL)
            for (uint32_t c = 0; c < 3; c++)
                mf_field_set(fields->inputs[BALLS], push->robot, 3 * balls + c,
                             ball_rest[3 * (size_t)balls + c] + memory->force[at + c]);
        balls += type == MF_JOINT_BALL || type == MF_JOINT_FLOATING;
    }
}

static void load_base(const mf_Push *push, const mf_PushMemory *memory, const Fields *fields,
                      const double arm[3], const double force[3]) {
    double torque[3], sum[3];
    mf_vec3_cross(torque, arm, force);
    mf_vec3_add(sum, memory->rest, force);
    mf_field_write(fields->inputs[FORCE], push->robot, 0, 3, sum);
    mf_vec3_add(sum, memory->rest + 3, torque);
    mf_field_write(fields->inputs[TORQUE], push->robot, 0, 3, sum);
}

// On the link, through all joints between it and the base.
static void pull_link(const mf_Push *push, const mf_PushMemory *memory, const Fields *fields,
                      const double point[3], const double arm[3]) {
    double velocity[3], lever[3], spin[3], force[3];
    const size_t link = push->link;
    const uint32_t count = mf_group_velocity_count(push->group);
    if (mf_group_link_velocities(push->group, push->robot, 1, memory->velocities, NULL) != MF_OK ||
        mf_group_jacobian(push->group, push->robot, 1, push->link, push->at, memory->jacobian,
                          NULL) != MF_OK)
        return;
    mf_vec3_sub(lever, point, memory->poses + 3 * link);
    mf_vec3_cross(spin, memory->velocities + 6 * link + 3, lever);
    mf_vec3_add(velocity, memory->velocities + 6 * link, spin);
    spring(push, point, velocity, force);
    generalize(memory, count, force);
    load_joints(push, memory, fields);
    if (fields->inputs[FORCE] != NULL && fields->inputs[TORQUE] != NULL)
        load_base(push, memory, fields, arm, force);
}

static bool knows_forces(const mf_Push *push, const Fields *fields) {
    return mf_motion_responds(push->motion) && fields->linear != NULL && fields->angular != NULL &&
           fields->orientation != NULL;
}

// A step towards where it is pulled, as far as it would come in that time.
static void move(const mf_Push *push, const Fields *fields, double step, const double point[3]) {
    double position[3];
    load(position, fields->position, push->robot);
    const double part = MOVE_RATE * step < 1.0 ? MOVE_RATE * step : 1.0;
    for (int c = 0; c < 3; c++)
        position[c] += part * (push->to[c] - point[c]);
    mf_field_write(fields->position, push->robot, 0, 3, position);
    mf_group_refresh(push->group, push->robot);
}

// On the base, as if the robot were one body.
static void pull_base(const mf_Push *push, const mf_PushMemory *memory, const Fields *fields,
                      double step, const double point[3], const double arm[3]) {
    double linear[3], angular[3], spin[3], rotation[4], velocity[3], force[3];
    load(linear, fields->linear, push->robot);
    load(angular, fields->angular, push->robot);
    mf_field_read(fields->orientation, push->robot, 0, 4, rotation);
    mf_quat_rotate(spin, rotation, angular); // body to world
    mf_vec3_cross(velocity, spin, arm);
    mf_vec3_add(velocity, linear, velocity);
    spring(push, point, velocity, force);
    if (fields->inputs[FORCE] != NULL && fields->inputs[TORQUE] != NULL) {
        load_base(push, memory, fields, arm, force);
        return;
    }
    mf_vec3_add_scaled(linear, linear, step / push->mass, force);
    mf_field_write(fields->linear, push->robot, 0, 3, linear);
    mf_group_refresh(push->group, push->robot);
}

void mf_push_pull(mf_Push *push, const mf_PushMemory *memory, double step) {
    double point[3], arm[3], base[3];
    if (mf_motion_of(push->group, push->robot) != push->motion) // a rule of the scene switched it
        mf_push_release(push, memory);
    if (!push->on || mf_group_fault(push->group, push->robot) != 0 ||
        !link_state(push, memory, point))
        return;
    const Fields fields = fields_of(push->group);
    load(base, fields.position, push->robot);
    mf_vec3_sub(arm, point, base);
    if (!knows_forces(push, &fields))
        move(push, &fields, step, point);
    else if (is_jointed(&fields, push->group, push->robot))
        pull_link(push, memory, &fields, point, arm);
    else
        pull_base(push, memory, &fields, step, point, arm);
}

// ---- a world that others step ------------------------------------------------------------------

struct mf_Pusher {
    mf_World *world;
    mf_Push push;
    mf_PushMemory memory;
};

mf_Status mf_pusher_create(mf_World *world, mf_Pusher **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "push: out is NULL");
    *out = NULL;
    MF_NEED(world != NULL, error, "push: world is NULL");
    mf_Context *context = mf_world_context(world);
    mf_Pusher *pusher = mf_allocate(context, 1, sizeof *pusher);
    MF_NEED_MEMORY(pusher != NULL, error, "push");
    pusher->world = world;
    mf_Status status = mf_push_allocate(context, world, &pusher->memory, error);
    if (status != MF_OK)
        mf_release(context, pusher);
    else
        *out = pusher;
    return status;
}

void mf_pusher_destroy(mf_Pusher *pusher) {
    if (pusher == NULL)
        return;
    mf_Context *context = pusher->memory.context;
    mf_push_free(&pusher->memory);
    mf_release(context, pusher);
}

static bool fits(const mf_PushMemory *memory, const mf_Group *group) {
    const mf_Model *model = mf_group_model(group);
    return model->link_count <= memory->links && model->joint_count <= memory->joints &&
           mf_group_velocity_count(group) <= memory->count;
}

static bool is_near(const double point[3]) {
    return fabs(point[0]) < FARTHEST && fabs(point[1]) < FARTHEST && fabs(point[2]) < FARTHEST;
}

mf_Status mf_pusher_take(mf_Pusher *pusher, mf_Group *group, uint32_t robot, uint32_t link,
                         const double at[3], const double to[3], mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (pusher == NULL || group == NULL || mf_group_world(group) != pusher->world)
        return mf_fail(error, MF_BAD_ARGUMENT, "push: expected a group of the world");
    MF_NEED(fits(&pusher->memory, group), error,
            "push: the group was added after mf_pusher_create");
    if (robot >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT, "push: expected a robot below %u, found %u",
                       mf_group_count(group), robot);
    if (at == NULL || to == NULL || !is_near(at) || !is_near(to))
        return mf_fail(error, MF_BAD_ARGUMENT, "push: expected points within %g m", FARTHEST);
    const char *reason = mf_push_refuses(group, robot, link);
    MF_CHECK(reason == NULL, error, MF_UNSUPPORTED, "%s", reason);
    if (pusher->push.on) // its inputs are its own between two steps, should it be let go
        keep_inputs(&pusher->push, &pusher->memory, false);
    mf_push_take(&pusher->push, &pusher->memory, group, robot, link, at, to);
    return MF_OK;
}

void mf_pusher_release(mf_Pusher *pusher) {
    if (pusher != NULL)
        pusher->push.on = false;
}

bool mf_pusher_holds(const mf_Pusher *pusher) {
    return pusher != NULL && pusher->push.on;
}

void mf_pusher_step(mf_Pusher *pusher, uint64_t steps) {
    MF_DEFAULT_FLOATS;
    if (pusher == NULL)
        return;
    mf_Push *push = &pusher->push;
    const double step = mf_time_to_seconds(mf_world_config_of(pusher->world)->step);
    for (; steps > 0 && push->on; steps--) {
        mf_world_prepare_step(pusher->world); // what it writes is not the push's
        keep_inputs(push, &pusher->memory, false);
        mf_push_pull(push, &pusher->memory, step);
        mf_world_step(pusher->world, 1);
        if (push->on)
            keep_inputs(push, &pusher->memory, true);
    }
    if (steps > 0)
        mf_world_step(pusher->world, steps);
}
