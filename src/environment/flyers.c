// Common code of the tasks with quadrotors. An action of 0 is hover thrust without rotation (or
// hover speed of each rotor); +-1 are no thrust and twice that thrust, if the rotors can deliver
// it, and the largest body rates.
#include "environment/flyers.h"
#include "motion/vehicle/quadrotor/motion.h"

#include "math/scalar.h"

// Keeps the ends of a range slightly inside, because the controller rounds the thrust limit and
// rejects commands outside.
#define INSIDE (1.0 - 1e-6)

// ---- model and motion --------------------------------------------------------------------------

mf_Status mf_flyer_make(mf_Context *context, const mf_TaskPlan *plan, mf_Model **out,
                        mf_Error *error) {
    mf_MotionsConfig config = mf_motions_config();
    config.quadrotor = *plan->quadrotor;
    return mf_motion_model(context, MF_MOTION_QUADROTOR, &config, plan->task->info.name, out,
                           error);
}

// Symmetric range of actions around hovering with the limits `least` and `most`.
static double reach(double hover, double least, double most) {
    double up = most - hover, down = hover - least;
    return (up < down ? up : down) * INSIDE;
}

// Hover thrust [N], and the range of actions around it.
static double thrust_of(const mf_TaskPlan *plan, double *hover) {
    const mf_Quadrotor *quadrotor = plan->quadrotor;
    const double top = quadrotor->rotor_speed_max;
    *hover = quadrotor->mass * mf_world_config().gravity;
    return reach(*hover, 0.0, 4.0 * quadrotor->thrust_coefficient * top * top);
}

static double rotor_of(const mf_TaskPlan *plan, uint32_t rotor, double *hover) {
    double speed[4];
    mf_quadrotor_hover(plan->quadrotor, mf_world_config().gravity, speed);
    *hover = speed[rotor];
    return reach(*hover, plan->quadrotor->rotor_speed_min, plan->quadrotor->rotor_speed_max);
}

mf_Status mf_flyer_prepare(mf_TaskPlan *plan, mf_Error *error) {
    const mf_Quadrotor *quadrotor = plan->quadrotor;
    const char *name = plan->task->info.name;
    double hover;
    MF_TRY(mf_quadrotor_check(quadrotor, error));
    bool flies = thrust_of(plan, &hover) > 0.0;
    for (uint32_t r = 0; r < 4; r++)
        flies = flies && rotor_of(plan, r, &hover) > 0.0;
    MF_CHECK(flies, error, MF_UNSUPPORTED, "task %s: the quadrotor has not more thrust than weight",
             name);
    MF_NEED(plan->value[MF_FLYER_HEIGHT] > plan->value[MF_FLYER_BOX] + quadrotor->clearance, error,
            "task %s: height of %g m: expected more than the %g m of box and the %g m of "
            "the quadrotor's clearance",
            name, plan->value[MF_FLYER_HEIGHT], plan->value[MF_FLYER_BOX], quadrotor->clearance);
    if (plan->model->position_count != 7 || plan->model->joint_count != 0)
        return mf_fail(error, MF_UNSUPPORTED, "task %s: expected the model of a quadrotor", name);
    plan->action_count = MF_FLYER_ACTIONS;
    plan->observation_count = MF_FLYER_OWN;
    return MF_OK;
}

static mf_ActionTarget aim(mf_Field *field, uint32_t component, double offset, double scale) {
    return (mf_ActionTarget){.field = field,
                             .component = component,
                             .offset = offset,
                             .scale = scale,
                             .lower = -1.0,
                             .upper = 1.0,
                             .limited = true};
}

static void aim_rotors(const mf_TaskPlan *plan, mf_Group *group, mf_ActionTarget *targets) {
    mf_Field *field = mf_group_find_field(group, "command.rotors");
    for (uint32_t r = 0; r < 4; r++) {
        double hover, scale = rotor_of(plan, r, &hover);
        targets[r] = aim(field, r, hover, scale);
    }
}

static void aim_rates(const mf_TaskPlan *plan, mf_Group *group, mf_ActionTarget *targets) {
    mf_Field *rates = mf_group_find_field(group, "command.rates");
    const double tilt = plan->quadrotor->rate_max, yaw = plan->quadrotor->yaw_rate_max;
    double hover, scale = thrust_of(plan, &hover);
    targets[0] = aim(mf_group_find_field(group, "command.thrust"), 0, hover, scale);
    for (uint32_t i = 0; i < 3; i++)
        targets[1 + i] = aim(rates, i, 0.0, (i < 2 ? tilt : yaw) * INSIDE);
}

void mf_flyer_describe(const mf_TaskPlan *plan, mf_SceneGroup *group) {
    group->behavior.kind = MF_BEHAVIOR_PROGRAM;
    group->behavior.mode = plan->value[MF_FLYER_ROTORS] != 0.0 ? "rotors" : "rates";
}

void mf_flyer_aim(const mf_TaskPlan *plan, mf_Group *group, mf_ActionTarget *targets) {
    if (plan->value[MF_FLYER_ROTORS] != 0.0)
        aim_rotors(plan, group, targets);
    else
        aim_rates(plan, group, targets);
}

// ---- starts ------------------------------------------------------------------------------------

void mf_flyer_draw_position(const mf_TaskPlan *plan, mf_TaskDraw *draw, double position[3]) {
    const double box = plan->value[MF_FLYER_BOX];
    for (int i = 0; i < 3; i++)
        position[i] = mf_task_uniform(draw, -box, box);
    position[2] += plan->value[MF_FLYER_HEIGHT];
}

void mf_flyer_shake(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                    double *velocity) {
    const double *value = plan->value;
    // (1, v / 2) is a rotation by about |v|; the group normalizes it.
    for (int i = 0; i < 3; i++)
        position[4 + i] = 0.5 * mf_task_uniform(draw, -value[MF_FLYER_TILT], value[MF_FLYER_TILT]);
    position[3] = 1.0;
    for (int i = 0; i < 3; i++)
        velocity[i] = mf_task_uniform(draw, -value[MF_FLYER_SPEED], value[MF_FLYER_SPEED]);
    for (int i = 0; i < 3; i++)
        velocity[3 + i] = mf_task_uniform(draw, -value[MF_FLYER_RATE], value[MF_FLYER_RATE]);
}

// ---- observation and reward --------------------------------------------------------------------

void mf_flyer_observe(const mf_TaskView *view, double **out) {
    double rotation[9];
    mf_quat_to_matrix(rotation, view->position + 3);
    for (int i = 0; i < 3; i++)
        *(*out)++ = view->memory[MF_FLYER_GOAL + i] - view->position[i];
    mf_task_put(out, rotation, 9);
    mf_task_put(out, view->velocity, 6);
    mf_task_put(out, view->memory + MF_FLYER_LAST_ACTION, MF_FLYER_ACTIONS);
}

void mf_flyer_remember(const mf_TaskView *view) {
    view->memory[MF_FLYER_DISTANCE] = mf_flyer_distance(view);
}

double mf_flyer_distance(const mf_TaskView *view) {
    return mf_task_length(view->position, view->memory + MF_FLYER_GOAL, 3);
}

bool mf_flyer_judge(const mf_TaskView *view, mf_TaskResult *result) {
    const double *value = view->plan->value;
    const double distance = mf_flyer_distance(view), part = distance / value[MF_FLYER_WIDTH];
    double *out = result->signals, *before = &view->memory[MF_FLYER_DISTANCE];
    out[MF_FLYER_SEES_DISTANCE] = distance;
    out[MF_FLYER_REWARD_NEAR] = value[MF_FLYER_NEAR] / (1.0 + part * part);
    out[MF_FLYER_REWARD_PROGRESS] = value[MF_FLYER_PROGRESS] * (*before - distance);
    out[MF_FLYER_REWARD_SPIN] = -value[MF_FLYER_SPIN_COST] * mf_task_squares(view->velocity + 3, 3);
    out[MF_FLYER_REWARD_SMOOTHNESS] =
        -value[MF_FLYER_SMOOTHNESS] * mf_task_change(view, view->memory + MF_FLYER_LAST_ACTION);
    *before = distance;
    return !(distance <= value[MF_FLYER_FAR] &&
             view->position[2] >= view->plan->quadrotor->clearance);
}

double mf_flyer_sum(const mf_TaskView *view, mf_TaskResult *result, bool crashed) {
    double sum = 0.0;
    result->signals[MF_FLYER_REWARD_CRASH] = crashed ? -view->plan->value[MF_FLYER_CRASH] : 0.0;
    for (int i = MF_FLYER_REWARD_NEAR; i <= MF_FLYER_REWARD_CRASH; i++)
        sum += result->signals[i];
    return sum;
}
