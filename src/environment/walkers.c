// Legged robots with joint targets: hexapod and quadruped, with any motion.
//
// Actions set joint targets relative to the standing pose, the model's start angles: 1 is
// `action_scale` of half a joint's range. Rewarded speeds are displacement over time, which is
// defined for every motion: `kinematic` has no forces, and the velocity of mass points on springs
// oscillates.
#include "environment/tasks.h"

#include "math/scalar.h"
#include "model/sensor_kind.h"
#include "motion/table.h"

#define INTERVAL 0.04 // [s] of a step: 25 Hz

#define PARAMETERS(ROW)                                                                            \
    ROW(COMMANDED, MF_TASK_SWITCH("commanded", 0.0,                                                \
                                  "each episode draws a commanded velocity, which is observed"))   \
    ROW(FORWARD,                                                                                   \
        MF_TASK_WEIGHT("forward_weight", 5.0, "reward per m/s along world x, if not commanded"))   \
    ROW(TRACK, MF_TASK_WEIGHT("track_weight", 1.0, "reward at the commanded velocity"))            \
    ROW(EFFORT, MF_TASK_WEIGHT("effort_weight", 0.002, "cost per mean square of the joint rates")) \
    ROW(SMOOTHNESS, MF_TASK_WEIGHT("smoothness_weight", 0.05,                                      \
                                   "cost per mean square of the change of the action"))            \
    ROW(HEALTHY,                                                                                   \
        MF_TASK_WEIGHT("healthy_reward", 0.2, "reward of a step that does not end in a fall"))     \
    ROW(FALLEN_ENDS, MF_TASK_SWITCH("terminate_when_fallen", 1.0, "a fall ends the episode"))      \
    ROW(UPRIGHT_MIN, "upright_min", "1", 0.5, -1.0, 1.0,                                           \
        "fallen: the cosine of the base's tilt is smaller")                                        \
    ROW(HEIGHT_MIN, "height_min", "1", 0.4, 0.0, 1.0,                                              \
        "fallen: lower than this fraction of the standing height")                                 \
    ROW(ACTION_SCALE, "action_scale", "1", 0.5, 0.0, 1.0,                                          \
        "action of 1 as a fraction of half the joint's range")                                     \
    ROW(NOISE, "reset_noise_scale", "rad", 0.05, 0.0, 1.0,                                         \
        "half width of the noise of the initial angles")                                           \
    ROW(COMMAND_FORWARD, "command_forward", "m/s", 0.2, 0.0, 100.0,                                \
        "largest commanded forward velocity")                                                      \
    ROW(COMMAND_SIDE, "command_side", "m/s", 0.1, 0.0, 100.0, "largest commanded sideways speed")  \
    ROW(COMMAND_YAW, "command_turn", "rad/s", 0.5, 0.0, 100.0,                                     \
        "largest commanded yaw rate, either sign")                                                 \
    ROW(TRACK_WIDTH, "track_width", "m/s", 0.1, 1e-3, 100.0,                                       \
        "velocity error that halves the reward")                                                   \
    ROW(YAW_WIDTH, "turn_width", "rad/s", 0.5, 1e-3, 100.0, "yaw rate error that halves the reward")
enum { PARAMETERS(MF_TASK_INDEX) };
static const mf_TaskParameter parameters[] = {PARAMETERS(MF_TASK_ROW)};

#define SIGNALS(ROW)                                                                               \
    ROW(X, "x_position")                                                                           \
    ROW(Y, "y_position")                                                                           \
    ROW(X_VELOCITY, "x_velocity")                                                                  \
    ROW(Y_VELOCITY, "y_velocity")                                                                  \
    ROW(YAW_RATE, "yaw_rate")                                                                      \
    ROW(REWARD_FORWARD, "reward_forward")                                                          \
    ROW(REWARD_TRACK, "reward_track")                                                              \
    ROW(REWARD_EFFORT, "reward_effort")                                                            \
    ROW(REWARD_SMOOTHNESS, "reward_smoothness")                                                    \
    ROW(REWARD_SURVIVE, "reward_survive")                                                          \
    ROW(UPRIGHT, "upright")
enum { SIGNALS(MF_TASK_INDEX) };
static const char *const signals[] = {SIGNALS(MF_TASK_NAME)};

// Memory of a robot: its last position and heading, its command, its last action.
enum { POSITION = 0, HEADING = 2, COMMAND = 4, LAST_ACTION = 7 };

// ---- the world ---------------------------------------------------------------------------------

static bool all_move(const mf_Model *model) {
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (joint->type != MF_JOINT_HINGE && joint->type != MF_JOINT_SLIDE)
            return false;
        if (!mf_is_finite(joint->lower) || !mf_is_finite(joint->upper))
            return false;
    }
    return model->joint_count > 0;
}

static mf_Status prepare(mf_TaskPlan *plan, mf_Error *error) {
    const mf_Model *model = plan->model;
    if (model->base != MF_BASE_FREE || !all_move(model))
        return mf_fail_at(error, MF_UNSUPPORTED, model->file, 0, 0,
                          "task %s: expected a model with a free base whose joints are all hinges "
                          "or slides with a range",
                          plan->task->info.name);
    const double step = mf_motion_row(plan->motion)->task_step;
    plan->step = step > 0.0 ? step : 0.004;
    plan->frame_skip = (uint32_t)(INTERVAL / plan->step + 0.5);
    plan->foot_count = mf_sensors_of_type(model, MF_SENSOR_CONTACT);
    plan->action_count = model->joint_count;
    plan->memory_count = LAST_ACTION + plan->action_count;
    plan->observation_count = 9 + 3 * model->joint_count + plan->foot_count;
    plan->observation_count += plan->value[COMMANDED] != 0.0 ? 3 : 0;
    return MF_OK;
}

static void describe(const mf_TaskPlan *plan, mf_SceneGroup *group) {
    (void)plan;
    group->motions.articulated.integrator = MF_ARTICULATED_IMPLICIT;
}

static void aim(const mf_TaskPlan *plan, mf_Group *group, mf_ActionTarget *targets) {
    for (uint32_t j = 0; j < plan->action_count; j++) {
        const mf_Joint *joint = &plan->model->joints[j];
        const double half = 0.5 * (joint->upper - joint->lower);
        targets[j] = (mf_ActionTarget){.field = mf_group_find_field(group, "joint.target"),
                                       .component = j,
                                       .offset = plan->model->start_angle[j],
                                       .scale = plan->value[ACTION_SCALE] * half,
                                       .lower = -1.0,
                                       .upper = 1.0,
                                       .limited = true};
    }
}

// ---- observation and reward --------------------------------------------------------------------

static void start(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity) {
    const mf_Model *model = plan->model;
    (void)velocity;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        double angle = model->start_angle[j];
        angle += mf_task_uniform(draw, -plan->value[NOISE], plan->value[NOISE]);
        position[joint->position_address] = mf_clamp(angle, joint->lower, joint->upper);
    }
}

static void observe(const mf_TaskView *view, const double rotation[9], const double *action,
                    double *out) {
    const mf_Model *model = view->plan->model;
    const double *v = view->velocity;
    for (int i = 0; i < 3; i++)
        *out++ = -rotation[6 + i]; // direction of gravity in the body frame
    for (int i = 0; i < 3; i++)
        *out++ = v[3 + i];
    for (int i = 0; i < 3; i++)
        *out++ = rotation[i] * v[0] + rotation[3 + i] * v[1] + rotation[6 + i] * v[2];
    for (uint32_t j = 0; j < model->joint_count; j++)
        *out++ = view->position[7 + j] - model->start_angle[j];
    mf_task_put(&out, v + 6, model->joint_count);
    mf_task_put(&out, view->feet, view->plan->foot_count);
    mf_task_put(&out, action, view->plan->action_count);
    if (view->plan->value[COMMANDED] != 0.0)
        mf_task_put(&out, view->memory + COMMAND, 3);
}

// Heading of the base's x axis; keeps the last one if the axis is vertical.
static void look_ahead(const double rotation[9], double heading[2]) {
    double length = mf_sqrt(rotation[0] * rotation[0] + rotation[3] * rotation[3]);
    if (length < 1e-6)
        return;
    heading[0] = rotation[0] / length;
    heading[1] = rotation[3] / length;
}

static void remember(const mf_TaskView *view) {
    double rotation[9];
    mf_quat_to_matrix(rotation, view->position + 3);
    look_ahead(rotation, view->memory + HEADING);
    for (int i = 0; i < 2; i++)
        view->memory[POSITION + i] = view->position[i];
}

static void begin(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_TaskPlan *plan = view->plan;
    double rotation[9], *memory = view->memory;
    mf_quat_to_matrix(rotation, view->position + 3);
    memory[HEADING] = 1.0;
    look_ahead(rotation, memory + HEADING);
    memory[POSITION] = result->signals[X] = view->position[0];
    memory[POSITION + 1] = result->signals[Y] = view->position[1];
    result->signals[UPRIGHT] = rotation[8];
    if (plan->value[COMMANDED] != 0.0) {
        const double side = plan->value[COMMAND_SIDE], yaw = plan->value[COMMAND_YAW];
        memory[COMMAND] = mf_task_uniform(view->draw, 0.0, plan->value[COMMAND_FORWARD]);
        memory[COMMAND + 1] = mf_task_uniform(view->draw, -side, side);
        memory[COMMAND + 2] = mf_task_uniform(view->draw, -yaw, yaw);
    }
    observe(view, rotation, memory + LAST_ACTION, result->observation);
}

// Mean velocity in world axes and mean yaw rate; stores the current pose.
static void move_on(const mf_TaskView *view, const double rotation[9], double *out) {
    const double interval = view->plan->interval, *heading = view->memory + HEADING;
    const double before[2] = {heading[0], heading[1]};
    look_ahead(rotation, view->memory + HEADING);
    for (int i = 0; i < 2; i++) {
        out[X + i] = view->position[i];
        out[X_VELOCITY + i] = (view->position[i] - view->memory[POSITION + i]) / interval;
        view->memory[POSITION + i] = view->position[i];
    }
    out[YAW_RATE] = mf_atan2(before[0] * heading[1] - before[1] * heading[0],
                             before[0] * heading[0] + before[1] * heading[1]) /
                    interval;
}

// 1 at the commanded velocity, 1/2 at a distance of one width.
static double track(const mf_TaskView *view, const double *out) {
    const double *value = view->plan->value, *heading = view->memory + HEADING;
    const double *command = view->memory + COMMAND, *v = out + X_VELOCITY;
    double ahead = (v[0] * heading[0] + v[1] * heading[1] - command[0]) / value[TRACK_WIDTH];
    double aside = (v[1] * heading[0] - v[0] * heading[1] - command[1]) / value[TRACK_WIDTH];
    double yaw = (out[YAW_RATE] - command[2]) / value[YAW_WIDTH];
    return 1.0 / (1.0 + ahead * ahead + aside * aside + yaw * yaw);
}

static void judge(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_TaskPlan *plan = view->plan;
    const mf_Model *model = plan->model;
    const double *value = plan->value;
    const bool commanded = value[COMMANDED] != 0.0;
    double rotation[9], *out = result->signals;
    mf_quat_to_matrix(rotation, view->position + 3);
    move_on(view, rotation, out);
    bool fallen = !(rotation[8] >= value[UPRIGHT_MIN] &&
                    view->position[2] >= value[HEIGHT_MIN] * model->rest_height);
    out[UPRIGHT] = rotation[8];
    out[REWARD_FORWARD] = commanded ? 0.0 : value[FORWARD] * out[X_VELOCITY];
    out[REWARD_TRACK] = commanded ? value[TRACK] * track(view, out) : 0.0;
    out[REWARD_EFFORT] = -value[EFFORT] * mf_task_squares(view->velocity + 6, model->joint_count) /
                         model->joint_count;
    out[REWARD_SMOOTHNESS] = -value[SMOOTHNESS] * mf_task_change(view, view->memory + LAST_ACTION);
    out[REWARD_SURVIVE] = fallen ? 0.0 : value[HEALTHY];
    result->reward = 0.0;
    for (int i = REWARD_FORWARD; i <= REWARD_SURVIVE; i++)
        result->reward += out[i];
    result->terminated = fallen && value[FALLEN_ENDS] != 0.0;
    observe(view, rotation, view->action, result->observation);
}

#define WALKER(task_name, file, text)                                                              \
    {                                                                                              \
        MF_TASK_INFO(task_name, file, text, 0, 500, parameters, signals),                          \
            .wants = MF_TASK_FEET | MF_TASK_STANDS, .describe = describe, .aim = aim,              \
            MF_TASK_CALLS(prepare, start, remember, begin, judge)                                  \
    }

const mf_Task mf_task_hexapod =
    WALKER("hexapod", "hexapod.urdf", "six legs of three servos that walk, with any motion");
const mf_Task mf_task_quadruped =
    WALKER("quadruped", "quadruped.urdf", "four legs of two servos that walk, with any motion");
