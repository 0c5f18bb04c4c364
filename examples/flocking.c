// Three hundred quadrotors flock through a forest of pillars by Reynolds' three rules (separation,
// alignment, cohesion; 1987) and a fourth that avoids obstacles ahead. Each agent uses only what it
// detects itself: the fields neighbor.* of its nearest eight within 8 m.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>

enum { AGENTS = 300, PILLARS = 24, SECONDS = 40 };

static const double flight_speed = 3.0;  // [m/s]
static const double keep_apart = 2.5;    // [m] distance of separation
static const double pillar_radius = 1.5; // [m]
static const double look_ahead = 8.0;    // [m] farther pillars are ignored

typedef struct Controller {
    mf_Field *position, *speed, *command, *yaw;
    mf_Field *neighbor_count, *neighbor_position, *neighbor_velocity;
    double pillars[PILLARS][2]; // [m]
} Controller;

static void add(double sum[3], const double vector[3], double weight) {
    for (uint32_t c = 0; c < 3; c++)
        sum[c] += weight * vector[c];
}

static double length_of(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The three rules, from the neighbors' positions and velocities relative to the agent.
static void obey_neighbors(const Controller *controller, uint32_t agent, double wish[3]) {
    uint32_t most = controller->neighbor_position->components / 3;
    uint32_t count = (uint32_t)mf_field_get(controller->neighbor_count, agent, 0);
    count = count < most ? count : most;
    for (uint32_t i = 0; i < count; i++) {
        double position[3], velocity[3];
        for (uint32_t c = 0; c < 3; c++) {
            position[c] = mf_field_get(controller->neighbor_position, agent, 3 * i + c);
            velocity[c] = mf_field_get(controller->neighbor_velocity, agent, 3 * i + c);
        }
        double distance = length_of(position);
        if (distance < keep_apart && distance > 0.0)
            add(wish, position, -3.0 * (keep_apart / distance - 1.0)); // separation
        add(wish, velocity, 1.0 / count);                              // alignment
        add(wish, position, 0.25 / count);                             // cohesion
    }
}

// Sideways around pillars ahead, and straight away from those that are too near.
static void avoid_pillars(const Controller *controller, uint32_t agent, double wish[3]) {
    for (uint32_t i = 0; i < PILLARS; i++) {
        double x = controller->pillars[i][0] - mf_field_get(controller->position, agent, 0);
        double y = controller->pillars[i][1] - mf_field_get(controller->position, agent, 1);
        double gap = sqrt(x * x + y * y) - pillar_radius;
        if (gap > look_ahead)
            continue;
        double side = y > 0.0 ? -1.0 : 1.0, urge = look_ahead / (gap > 0.3 ? gap : 0.3) - 1.0;
        double ahead = x > 0.0 ? 1.0 : 0.0; // pillars behind are ignored
        const double around[3] = {-0.3 * x / (gap + pillar_radius),
                                  ahead * side - y / (gap + pillar_radius), 0.0};
        add(wish, around, urge);
    }
}

static bool control(mf_Group *group, uint32_t agent, mf_Time time, void *user) {
    const Controller *controller = user;
    double wish[3] = {1.5, 0.0, 0.0}; // to the east, through the forest
    (void)group;
    (void)time;
    for (uint32_t c = 0; c < 3; c++)
        wish[c] += mf_field_get(controller->speed, agent, c);
    wish[1] -= 0.05 * mf_field_get(controller->position, agent, 1);
    wish[2] -= 0.2 * (mf_field_get(controller->position, agent, 2) - 15.0);
    obey_neighbors(controller, agent, wish);
    avoid_pillars(controller, agent, wish);
    double scale = flight_speed / (length_of(wish) + 1e-9);
    for (uint32_t c = 0; c < 3; c++)
        mf_field_set(controller->command, agent, c, scale * wish[c]);
    mf_field_set(controller->yaw, agent, 0, atan2(wish[1], wish[0]));
    return true;
}

// Order 1: all fly in the same direction; 0: random directions.
static void report(mf_World *world, mf_Group *group, const Controller *controller,
                   double *nearest_pillar) {
    double order[3] = {0.0, 0.0, 0.0}, middle = 0.0;
    uint32_t alive = AGENTS - mf_group_fault_total(group);
    for (uint32_t i = 0; i < AGENTS; i++) {
        if (mf_group_fault(group, i) != 0)
            continue;
        double velocity[3];
        for (uint32_t c = 0; c < 3; c++)
            velocity[c] = mf_field_get(controller->speed, i, c);
        add(order, velocity, 1.0 / (alive * (length_of(velocity) + 1e-9)));
        middle += mf_field_get(controller->position, i, 0) / alive;
        for (uint32_t k = 0; k < PILLARS; k++) {
            double gap =
                hypot(mf_field_get(controller->position, i, 0) - controller->pillars[k][0],
                      mf_field_get(controller->position, i, 1) - controller->pillars[k][1]);
            *nearest_pillar = fmin(*nearest_pillar, gap - pillar_radius);
        }
    }
    printf("%3.0f s: %3u alive, order %.3f, middle at x = %6.1f m, nearest to a pillar so far %.2f "
           "m\n",
           mf_time_to_seconds(mf_world_time(world)), alive, length_of(order), middle,
           *nearest_pillar);
}

static mf_Status prepare(mf_World *world, mf_Group *group, const mf_Quadrotor *quadrotor,
                         Controller *controller, mf_Error *error) {
    static double positions[3 * AGENTS], headings[AGENTS];
    const mf_Placement box = {.kind = MF_PLACEMENT_RANDOM,
                              .lower = {-40.0, -20.0, 8.0},
                              .upper = {-5.0, 20.0, 22.0},
                              .distance = 2.0,
                              .seed = 3};
    mf_Interaction *interaction = NULL;
    mf_InteractionConfig config = mf_interaction_config();
    config.radius = 8.0;
    config.detection_rate = (mf_Rate){20, 1};
    for (uint32_t i = 0; i < PILLARS; i++) { // six rows of four, every second one shifted
        controller->pillars[i][0] = 15.0 + 12.0 * (i / 4);
        controller->pillars[i][1] = -18.0 + 12.0 * (i % 4) + 6.0 * (i / 4 % 2);
    }
    MF_TRY(mf_placement_positions(mf_world_context(world), &box, NULL, AGENTS, quadrotor->radius,
                                  0.0, true, NULL, 0, positions, headings, error));
    for (uint32_t i = 0; i < AGENTS; i++)
        MF_TRY(mf_group_set_start(group, i, positions + 3 * i, NULL, NULL, error));
    MF_TRY(mf_interaction_add(world, &config, &interaction, error));
    controller->position = mf_group_find_field(group, "base.position");
    controller->speed = mf_group_find_field(group, "base.linear_velocity");
    controller->command = mf_group_find_field(group, "command.velocity");
    controller->yaw = mf_group_find_field(group, "command.yaw");
    controller->neighbor_count = mf_group_find_field(group, "neighbor.count");
    controller->neighbor_position = mf_group_find_field(group, "neighbor.position");
    controller->neighbor_velocity = mf_group_find_field(group, "neighbor.velocity");
    return mf_callback_add(group, (mf_Rate){20, 1}, control, controller, error);
}

static mf_Status fly(mf_World *world, const mf_Quadrotor *quadrotor, const mf_Model *model,
                     mf_Error *error) {
    mf_Group *group = NULL;
    Controller controller;
    mf_GroupConfig config = mf_group_config();
    config.model = model;
    config.count = AGENTS;
    config.isolated = false; // they share one space
    mf_MotionsConfig motion = mf_motions_config();
    motion.quadrotor_config.command = MF_QUADROTOR_VELOCITY;
    mf_Status status = mf_world_add_group(world, &config, &group, error);
    if (status == MF_OK)
        status = mf_motion_add(group, MF_MOTION_QUADROTOR, &motion, error);
    if (status == MF_OK)
        status = prepare(world, group, quadrotor, &controller, error);
    double nearest = INFINITY;
    for (int second = 0; second <= SECONDS && status == MF_OK; second++) {
        if (second % 5 == 0)
            report(world, group, &controller, &nearest);
        mf_world_step(world, 100);
    }
    return status;
}

int main(void) {
    mf_WorldConfig settings = mf_world_config(); // flat ground, 10 ms steps
    const mf_Quadrotor quadrotor = mf_motions_config().quadrotor;
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_motion_model(context, MF_MOTION_QUADROTOR, NULL, "quadrotor", &model, &error);
    if (status == MF_OK)
        status = mf_world_create(context, &settings, &world, &error);
    if (status == MF_OK)
        status = fly(world, &quadrotor, model, &error);

    char text[1024];
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    mf_world_destroy(world);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
