// Quadrotors that fly to individual goals and keep a distance from each other: a team in one space.
// Initial positions and goals are randomly drawn cells of a cube of cells, so that no two are
// close.
//
// Collisions are computed here and not by the world: robots of an environment do not collide in the
// world, so that a world can contain many teams. Between two tests robots are assumed to fly
// straight.
#include "environment/flyers.h"

#include "math/scalar.h"

#define TEAM_MOST 64u // [1] agents
#define CELLS_MOST 64u
#define PART 0.5 // [1] fraction of a cell's width for the initial position

enum { AGENTS = MF_FLYER_PARAMETERS, NEIGHBORS, APART, APART_COST };

static const mf_TaskParameter parameters[] = {
    MF_FLYER_TABLE(MF_TASK_ROW, 2.5, 1.0){"agents", "1", 8.0, 2.0, TEAM_MOST,
                                          "number of robots of a team"},
    {"neighbors", "1", 3.0, 1.0, TEAM_MOST - 1, "number of nearest robots that a robot observes"},
    {"apart", "m", 1.0, 0.0, 1e3, "robots nearer to each other than this have a cost"},
    {MF_TASK_WEIGHT("apart_weight", 1.0, "cost at contact; decreases linearly with distance")},
};

enum { NEAREST = MF_FLYER_SIGNALS, TOUCHED, REWARD_APART };
static const char *const signals[] = {MF_FLYER_SIGNAL_NAMES "nearest", "touched", "reward_apart"};

typedef struct Neighbor {
    double distance; // [m]
    uint32_t agent;
} Neighbor;

// ---- starts and goals --------------------------------------------------------------------------

// Cells along an edge of the cube.
static uint32_t edge_of(uint32_t agents) {
    uint32_t edge = 1;
    while (edge * edge * edge < agents)
        edge++;
    return edge;
}

static mf_Status prepare(mf_TaskPlan *plan, mf_Error *error) {
    const uint32_t agents = (uint32_t)plan->value[AGENTS];
    const double cell = 2.0 * plan->value[MF_FLYER_BOX] / edge_of(agents);
    MF_TRY(mf_flyer_prepare(plan, error));
    MF_NEED((1.0 - PART) * cell > 2.0 * plan->quadrotor->radius, error,
            "task swarm: a box of half width %g m has no space for %u robots of radius "
            "%g m",
            plan->value[MF_FLYER_BOX], agents, plan->quadrotor->radius);
    plan->team = agents;
    plan->indices[0] = (uint32_t)plan->value[NEIGHBORS];
    if (plan->indices[0] > agents - 1)
        plan->indices[0] = agents - 1;
    plan->observation_count = MF_FLYER_OWN + 6 * plan->indices[0];
    return MF_OK;
}

// Random assignment of cells to the robots of the team (Fisher and Yates 1938), then the position
// in this robot's cell. All robots of a team draw the same words up to their own.
static void take_cell(const mf_TaskPlan *plan, mf_TaskDraw *draw, double position[3]) {
    const uint32_t edge = edge_of(plan->team), count = edge * edge * edge;
    const double width = 2.0 * plan->value[MF_FLYER_BOX] / edge;
    uint8_t cells[CELLS_MOST];
    for (uint32_t i = 0; i < count; i++)
        cells[i] = (uint8_t)i;
    for (uint32_t i = 0; i < plan->team; i++) {
        uint32_t other = i + mf_task_index(draw, count - i);
        uint8_t cell = cells[i];
        cells[i] = cells[other];
        cells[other] = cell;
    }
    for (uint32_t agent = 0; agent < plan->team; agent++) {
        double shift[3];
        for (int i = 0; i < 3; i++)
            shift[i] = 0.5 + mf_task_uniform(draw, -0.5 * PART, 0.5 * PART);
        if (agent != draw->agent)
            continue;
        const uint32_t cell = cells[agent];
        const uint32_t at[3] = {cell % edge, cell / edge % edge, cell / (edge * edge)};
        for (int i = 0; i < 3; i++)
            position[i] = width * (at[i] + shift[i]) - plan->value[MF_FLYER_BOX];
    }
    position[2] += plan->value[MF_FLYER_HEIGHT];
}

static void start(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity) {
    double other_position[7], other_velocity[6];
    take_cell(plan, draw, position);
    for (uint32_t agent = 0; agent < plan->team; agent++) {
        bool own = agent == draw->agent;
        mf_flyer_shake(plan, draw, own ? position : other_position,
                       own ? velocity : other_velocity);
    }
}

// ---- the other agents --------------------------------------------------------------------------

// The least distance [m] to another robot since the last test.
static double closest(const mf_TaskView *view, uint32_t agent) {
    const mf_TaskMate *self = &view->team[view->agent], *other = &view->team[agent];
    double offset[3], rate[3], near[3];
    mf_vec3_sub(offset, other->position, self->position);
    mf_vec3_sub(rate, other->velocity, self->velocity);
    double square = mf_vec3_dot(rate, rate);
    double ago = square > 0.0 ? mf_vec3_dot(offset, rate) / square : 0.0;
    mf_vec3_add_scaled(near, offset, -mf_clamp(ago, 0.0, view->plan->interval), rate);
    return mf_vec3_length(near);
}

// The nearest other robots, sorted by distance; equal distances by index.
static void find_neighbors(const mf_TaskView *view, Neighbor *out) {
    const uint32_t needed = view->plan->indices[0];
    uint32_t found = 0;
    for (uint32_t k = 0; k < view->plan->team; k++) {
        if (k == view->agent)
            continue;
        double distance =
            mf_task_length(view->team[k].position, view->team[view->agent].position, 3);
        uint32_t at = found < needed ? found++ : needed;
        while (at > 0 && out[at - 1].distance > distance) {
            if (at < needed)
                out[at] = out[at - 1];
            at--;
        }
        if (at < needed)
            out[at] = (Neighbor){distance, k};
    }
}

static void observe(const mf_TaskView *view, const Neighbor *neighbors, double *out) {
    const mf_TaskMate *self = &view->team[view->agent];
    mf_flyer_observe(view, &out);
    for (uint32_t n = 0; n < view->plan->indices[0]; n++) {
        const mf_TaskMate *other = &view->team[neighbors[n].agent];
        mf_vec3_sub(out, other->position, self->position);
        mf_vec3_sub(out + 3, other->velocity, self->velocity);
        out += 6;
    }
}

static void begin(const mf_TaskView *view, mf_TaskResult *result) {
    Neighbor neighbors[TEAM_MOST];
    take_cell(view->plan, view->draw, view->memory + MF_FLYER_GOAL);
    find_neighbors(view, neighbors);
    mf_flyer_remember(view);
    result->signals[MF_FLYER_SEES_DISTANCE] = view->memory[MF_FLYER_DISTANCE];
    result->signals[NEAREST] = neighbors[0].distance;
    observe(view, neighbors, result->observation);
}

static void judge(const mf_TaskView *view, mf_TaskResult *result) {
    const double *value = view->plan->value, touch = 2.0 * view->plan->quadrotor->radius;
    Neighbor neighbors[TEAM_MOST];
    double *seen = result->signals;
    bool lost = mf_flyer_judge(view, result), touched = false;
    for (uint32_t k = 0; k < view->plan->team; k++)
        touched = touched || (k != view->agent && closest(view, k) < touch);
    find_neighbors(view, neighbors);
    const double apart = value[APART], near = neighbors[0].distance;
    double share = near < apart ? (apart - near) / (apart > touch ? apart - touch : apart) : 0.0;
    seen[NEAREST] = near;
    seen[TOUCHED] = touched;
    seen[REWARD_APART] = -value[APART_COST] * mf_clamp(share, 0.0, 1.0);
    result->reward = mf_flyer_sum(view, result, lost || touched) + seen[REWARD_APART];
    result->terminated = lost || touched;
    observe(view, neighbors, result->observation);
}

const mf_Task mf_task_swarm = {
    MF_FLYER_TASK("swarm",
                  "quadrotors that fly to individual goals and keep a distance from each other",
                  parameters, signals),
    MF_TASK_CALLS(prepare, start, mf_flyer_remember, begin, judge)};
