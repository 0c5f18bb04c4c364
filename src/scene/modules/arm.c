// An arm of docked modules reaches targets by damped least squares (Wampler 1986; Buss 2004), with
// messages between neighbors only. Each module knows its own joints and geometry. With J the
// 3 x n Jacobian of the tip, e the error and g a slow return of the joints to zero,
//     rate = g + J^T y,    y = (J J^T + damping^2)^-1 (coupling e - J g),
// the columns of J J^T and J g are sums over joints. So sums go from module to module towards the
// root, which has the targets, and poses and y go back. Angles are measured, and targets of servos
// are moved: errors by friction and weight disappear as by an integral controller.
//
// An arm that has fewer modules with joints than `length` takes a posture; whoever docks at its tip
// is part of it from then on. The root is the module without joints that has the targets, or only
// one dock; targets and poses are in its frame. Other modules without joints are links of the
// arm.
#include "scene/modules/policies.h"
#include "model/points.h"

#include "math/scalar.h"

#include <string.h>

// What goes towards the tip and what goes towards the root, in messages and in memory.
enum { POSE = 0, ROTATION = 3, PULL = 7, EASE = 10, STAGE, DOWN_WORDS };
enum { TIP = 0, SQUARE = 3, DRIFT = 9, COUNT = 12, UP_WORDS };
enum { HEARD_DOWN, HEARD_UP, TIME, DOWN, UP = DOWN + DOWN_WORDS, MEMORY = UP + UP_WORDS };
enum { POSTURE, REACH };

static const double ease = 0.5;        // [1/s] at most, at which joints return to zero
static const double easing = 0.05;     // [m] of an error; below, joints return more slowly, because
                                       // damping lets the return disturb the tip
static const double longest = 0.1;     // [m] of an error: linear steps
static const double most_ahead = 0.15; // [rad] of servo targets: no winding up beyond the effort

typedef struct Arm {
    mf_Policy *policy;
    const mf_PolicyPlan *plan;
    double link_at[MF_ARM_LINKS][3], link_rotation[MF_ARM_LINKS][4]; // frame of the root
    double front_at[3], front_rotation[4];                           // of its front dock
    double up[UP_WORDS], down[DOWN_WORDS];
} Arm;

// ---- messages -----------------------------------------------------------------------------------

static void keep(mf_Policy *policy, const mf_Message *message, uint32_t heard, uint32_t first,
                 uint32_t words) {
    mf_policy_set_memory(policy, heard, 1.0);
    for (uint32_t i = 0; i < words; i++)
        mf_policy_set_memory(policy, first + i, message->content.floats[i]);
}

static void listen(mf_Policy *policy, const mf_PolicyPlan *plan) {
    mf_Message message;
    while (mf_policy_receive(policy, MF_NONE, &message)) {
        if (message.type == MF_POLICY_ARM_DOWN && message.dock == plan->back)
            keep(policy, &message, HEARD_DOWN, DOWN, DOWN_WORDS);
        if (message.type == MF_POLICY_ARM_UP && message.dock == plan->front)
            keep(policy, &message, HEARD_UP, UP, UP_WORDS);
    }
    if (!mf_policy_is_engaged(policy, plan->front))
        mf_policy_set_memory(policy, HEARD_UP, 0.0);
    if (plan->back != MF_NONE && !mf_policy_is_engaged(policy, plan->back))
        mf_policy_set_memory(policy, HEARD_DOWN, 0.0);
}

static void tell(mf_Policy *policy, uint32_t dock, uint32_t type, const double *values,
                 uint32_t words) {
    mf_Message message = {.type = type, .size = 4 * words};
    for (uint32_t i = 0; i < words; i++)
        message.content.floats[i] = (float)values[i];
    if (mf_policy_is_engaged(policy, dock))
        mf_policy_send(policy, dock, &message);
}

static void send_front(const Arm *arm, const double pull[3], double back, double stage) {
    double values[DOWN_WORDS];
    memcpy(values + POSE, arm->front_at, sizeof arm->front_at);
    memcpy(values + ROTATION, arm->front_rotation, sizeof arm->front_rotation);
    memcpy(values + PULL, pull, 3 * sizeof *pull);
    values[EASE] = back;
    values[STAGE] = stage;
    tell(arm->policy, arm->plan->front, MF_POLICY_ARM_DOWN, values, DOWN_WORDS);
}

// ---- the geometry of one module -----------------------------------------------------------------

static void dock_pose(const Arm *arm, uint32_t dock, double at[3], double rotation[4]) {
    const mf_Frame *frame = &arm->plan->model->docks[dock].frame;
    mf_quat_rotate(at, arm->link_rotation[frame->link], frame->position);
    mf_vec3_add(at, at, arm->link_at[frame->link]);
    mf_quat_multiply(rotation, arm->link_rotation[frame->link], frame->rotation);
}

// Moves the module's links so that its back dock faces a dock at `pose`: turned about z by pi.
static void place(Arm *arm, const double pose[7]) {
    const double facing[4] = {0.0, 0.0, 0.0, 1.0};
    double at[3], rotation[4], back[4], base[4], moved[3];
    dock_pose(arm, arm->plan->back, at, rotation);
    mf_quat_conjugate(back, rotation);
    mf_quat_multiply(base, pose + ROTATION, facing);
    mf_quat_multiply(base, base, back);
    mf_quat_normalize(base);
    for (uint32_t i = 0; i < arm->plan->model->link_count; i++) {
        mf_vec3_sub(moved, arm->link_at[i], at);
        mf_quat_rotate(moved, base, moved);
        mf_vec3_add(arm->link_at[i], pose + POSE, moved);
        mf_quat_multiply(arm->link_rotation[i], base, arm->link_rotation[i]);
    }
}

static void find_links(Arm *arm) {
    double angle[MF_ARM_LINKS];
    for (uint32_t j = 0; j < arm->plan->model->joint_count; j++)
        angle[j] = mf_policy_percept(arm->policy, MF_POLICY_ANGLE, j);
    mf_model_pose(arm->plan->model, angle, arm->link_at, arm->link_rotation);
}

static bool is_above(const mf_Model *model, uint32_t joint, uint32_t link) {
    while (link != 0) {
        if (model->links[link].joint == joint)
            return true;
        link = model->joints[model->links[link].joint].parent;
    }
    return false;
}

// Velocity of the tip by the rate of a joint. A joint between root link and back dock moves the
// rest of the arm the other way.
static void column_of(const Arm *arm, uint32_t j, double out[3]) {
    const mf_Model *model = arm->plan->model;
    const mf_Joint *joint = &model->joints[j];
    const double sign = (double)is_above(model, j, model->docks[arm->plan->front].frame.link) -
                        (double)is_above(model, j, model->docks[arm->plan->back].frame.link);
    double axis[3], lever[3];
    mf_quat_rotate(axis, arm->link_rotation[joint->child], joint->axis);
    mf_vec3_sub(lever, arm->up + TIP, arm->link_at[joint->child]);
    mf_vec3_cross(out, axis, lever);
    mf_vec3_scale(out, out, joint->type == MF_JOINT_HINGE ? sign : 0.0);
}

// ---- motion -------------------------------------------------------------------------------------

// [rad] The target of a joint's servo after a tick at a rate: within the joint's limits, and not
// farther from the angle than its motor can act.
static double target_at(const Arm *arm, uint32_t j, double rate) {
    const mf_Joint *joint = &arm->plan->model->joints[j];
    const double most = arm->plan->settings.speed;
    const double angle = mf_policy_percept(arm->policy, MF_POLICY_ANGLE, j);
    const double target = mf_policy_percept(arm->policy, MF_POLICY_TARGET, j) +
                          mf_clamp(rate, -most, most) * mf_policy_period(arm->policy);
    return mf_clamp(mf_clamp(target, angle - most_ahead, angle + most_ahead), joint->lower,
                    joint->upper);
}

static bool move(const Arm *arm, uint32_t j, double rate) {
    return mf_policy_act(arm->policy, MF_POLICY_JOINTS, j, target_at(arm, j, rate));
}

// Of the return to zero.
static double return_rate(const Arm *arm, uint32_t j) {
    return -arm->down[EASE] * mf_policy_percept(arm->policy, MF_POLICY_ANGLE, j);
}

static double reach_rate(const Arm *arm, uint32_t j, const double column[3]) {
    return mf_vec3_dot(column, arm->down + PULL) + return_rate(arm, j);
}

// Whether a joint cannot follow: at a limit, or its motor is at its own.
static bool is_stuck(const Arm *arm, uint32_t j, const double column[3]) {
    const double rate = reach_rate(arm, j, column);
    const double distance =
        target_at(arm, j, rate) - mf_policy_percept(arm->policy, MF_POLICY_TARGET, j);
    return rate * distance <= 0.0 && rate != 0.0;
}

// Adds the joints of this module to what came from those nearer to the tip.
static void add_joints(Arm *arm) {
    double *square = arm->up + SQUARE;
    for (uint32_t j = 0; j < arm->plan->model->joint_count; j++) {
        double c[3];
        column_of(arm, j, c);
        if (is_stuck(arm, j, c))
            continue;
        const double products[6] = {c[0] * c[0], c[0] * c[1], c[0] * c[2],
                                    c[1] * c[1], c[1] * c[2], c[2] * c[2]};
        for (uint32_t i = 0; i < 6; i++)
            square[i] += products[i];
        mf_vec3_add_scaled(arm->up + DRIFT, arm->up + DRIFT, return_rate(arm, j), c);
    }
    arm->up[COUNT] += arm->plan->model->joint_count > 0 ? 1.0 : 0.0;
}

static bool reach(const Arm *arm) {
    bool done = true;
    for (uint32_t j = 0; j < arm->plan->model->joint_count; j++) {
        double column[3];
        column_of(arm, j, column);
        done = move(arm, j, reach_rate(arm, j, column)) && done;
    }
    return done;
}

static bool take_posture(const Arm *arm) {
    const mf_PolicyPlan *plan = arm->plan;
    bool done = true;
    for (uint32_t i = 0; i < plan->joint_count; i++) {
        const uint32_t j = plan->joints[i].joint;
        const double distance =
            plan->settings.posture - mf_policy_percept(arm->policy, MF_POLICY_TARGET, j);
        done = move(arm, j, distance / mf_policy_period(arm->policy)) && done;
    }
    return done;
}

// ---- the root -----------------------------------------------------------------------------------

// x = (A + damping^2)^-1 b for a symmetric A, by Cholesky's method in closed form.
static void solve(const double square[6], double damping, const double b[3], double x[3]) {
    const double more = damping * damping;
    const double l00 = mf_sqrt(square[0] + more), l10 = square[1] / l00, l20 = square[2] / l00;
    const double l11 = mf_sqrt(square[3] + more - l10 * l10), l21 = (square[4] - l20 * l10) / l11;
    const double l22 = mf_sqrt(square[5] + more - l20 * l20 - l21 * l21);
    const double y0 = b[0] / l00, y1 = (b[1] - l10 * y0) / l11;
    const double y2 = (b[2] - l20 * y0 - l21 * y1) / l22;
    x[2] = y2 / l22;
    x[1] = (y1 - l21 * x[2]) / l11;
    x[0] = (y0 - l10 * x[1] - l20 * x[2]) / l00;
}

static const double *target_of(const Arm *arm) {
    const mf_PolicyPlan *plan = arm->plan;
    double last = plan->point_count - 1.0;
    double index = mf_floor(mf_policy_memory(arm->policy, TIME) / plan->settings.wait);
    return plan->points[(uint32_t)(index < last ? index : last)];
}

static void lead(Arm *arm) {
    const mf_PolicyBehavior *settings = &arm->plan->settings;
    double pull[3] = {0.0, 0.0, 0.0}, back = 0.0;
    const bool reaches = mf_policy_memory(arm->policy, HEARD_UP) != 0.0 &&
                         arm->up[COUNT] >= settings->length && arm->plan->point_count > 0;
    dock_pose(arm, arm->plan->front, arm->front_at, arm->front_rotation);
    if (reaches) {
        double error[3], target[3];
        mf_vec3_sub(error, target_of(arm), arm->up + TIP);
        const double length = mf_vec3_length(error);
        back = ease * mf_clamp(length / easing, 0.0, 1.0);
        mf_vec3_scale(target, error,
                      settings->coupling * (length > longest ? longest / length : 1.0));
        mf_vec3_sub(target, target, arm->up + DRIFT);
        solve(arm->up + SQUARE, settings->damping, target, pull);
        mf_policy_set_memory(arm->policy, TIME,
                             mf_policy_memory(arm->policy, TIME) + mf_policy_period(arm->policy));
    }
    send_front(arm, pull, back, reaches ? REACH : POSTURE);
}

// ---- all ----------------------------------------------------------------------------------------

static bool follow(Arm *arm) {
    mf_Policy *policy = arm->policy;
    double pose[7];
    memcpy(pose, arm->down, sizeof pose);
    mf_quat_normalize(pose + ROTATION);
    place(arm, pose);
    dock_pose(arm, arm->plan->front, arm->front_at, arm->front_rotation);
    if (mf_policy_memory(policy, HEARD_UP) == 0.0) { // nobody in front: this is the tip
        memset(arm->up, 0, sizeof arm->up);
        mf_vec3_copy(arm->up + TIP, arm->front_at);
    }
    add_joints(arm);
    tell(policy, arm->plan->back, MF_POLICY_ARM_UP, arm->up, UP_WORDS);
    send_front(arm, arm->down + PULL, arm->down[EASE], arm->down[STAGE]);
    return arm->down[STAGE] == REACH ? reach(arm) : take_posture(arm);
}

static bool think(mf_Policy *policy, void *user) {
    Arm arm = {.policy = policy, .plan = user};
    listen(policy, arm.plan);
    for (uint32_t i = 0; i < DOWN_WORDS; i++)
        arm.down[i] = mf_policy_memory(policy, DOWN + i);
    for (uint32_t i = 0; i < UP_WORDS; i++)
        arm.up[i] = mf_policy_memory(policy, UP + i);
    find_links(&arm);
    if (arm.plan->back == MF_NONE)
        lead(&arm);
    else if (mf_policy_memory(policy, HEARD_DOWN) != 0.0)
        return follow(&arm);
    return true; // without a root a module keeps still
}

static mf_Status check(const mf_PolicyPlan *plan, mf_Error *error) {
    if (plan->model->link_count > MF_ARM_LINKS)
        return mf_fail(error, MF_LIMIT, "arm: %s has %u links, at most %u are possible",
                       plan->model->name, plan->model->link_count, MF_ARM_LINKS);
    return plan->settings.wait > 0.0 && plan->settings.damping > 0.0
               ? MF_OK
               : mf_fail(error, MF_BAD_ARGUMENT, "arm: wait and damping must be > 0");
}

const mf_PolicyKind mf_policy_arm = {.name = "arm",
                                     .think = think,
                                     .memory = MEMORY,
                                     .words = UP_WORDS,
                                     .joints = true,
                                     .may_be_root = true,
                                     .sensor = MF_SENSOR_CONTACTS,
                                     .check = check};
