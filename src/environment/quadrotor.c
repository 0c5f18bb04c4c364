// One quadrotor that hovers at a point, or flies from one waypoint to the next.
#include "environment/flyers.h"

#include "math/scalar.h"

enum { WAYPOINTS = MF_FLYER_PARAMETERS, RADIUS, BONUS };

static const mf_TaskParameter parameters[] = {
    MF_FLYER_TABLE(MF_TASK_ROW, 1.0, 0.0){MF_TASK_SWITCH(
        "waypoints", 0.0, "goals are drawn in the box, a new one when one is reached")},
    {"reach_radius", "m", 0.2, 1e-3, 1e4, "distance at which a waypoint counts as reached"},
    {MF_TASK_WEIGHT("reach_bonus", 5.0, "reward of reaching a waypoint")},
};

enum { REACHED = MF_FLYER_SIGNALS, REWARD_REACHED };
static const char *const signals[] = {MF_FLYER_SIGNAL_NAMES "reached", "reward_reached"};

static void start(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity) {
    mf_flyer_draw_position(plan, draw, position);
    mf_flyer_shake(plan, draw, position, velocity);
}

static void choose_goal(const mf_TaskView *view) {
    double *goal = view->memory + MF_FLYER_GOAL;
    if (view->plan->value[WAYPOINTS] != 0.0)
        mf_flyer_draw_position(view->plan, view->draw, goal);
    else
        mf_vec3_set(goal, 0.0, 0.0, view->plan->value[MF_FLYER_HEIGHT]);
    mf_flyer_remember(view);
}

static void begin(const mf_TaskView *view, mf_TaskResult *result) {
    double *out = result->observation;
    choose_goal(view);
    result->signals[MF_FLYER_SEES_DISTANCE] = view->memory[MF_FLYER_DISTANCE];
    mf_flyer_observe(view, &out);
}

static void judge(const mf_TaskView *view, mf_TaskResult *result) {
    const double *value = view->plan->value;
    double *out = result->observation, *seen = result->signals;
    const bool lost = mf_flyer_judge(view, result);
    const bool reached = value[WAYPOINTS] != 0.0 && seen[MF_FLYER_SEES_DISTANCE] <= value[RADIUS];
    seen[REACHED] = reached;
    seen[REWARD_REACHED] = reached ? value[BONUS] : 0.0;
    if (reached)
        choose_goal(view);
    result->reward = mf_flyer_sum(view, result, lost) + seen[REWARD_REACHED];
    result->terminated = lost;
    mf_flyer_observe(view, &out);
}

const mf_Task mf_task_quadrotor = {
    MF_FLYER_TASK("quadrotor", "a quadrotor that hovers at a point or flies to waypoints",
                  parameters, signals),
    MF_TASK_CALLS(mf_flyer_prepare, start, mf_flyer_remember, begin, judge)};
