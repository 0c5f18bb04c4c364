// A thousand quadrotors start scattered in a box and spread over ten colored circles, every second
// one in the opposite direction. The controller is the C function below: from an agent's index and
// the time it commands a velocity.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>

enum { AGENTS = 1000, CIRCLES = 10, SECONDS = 60 };

static const double two_pi = 6.283185307179586;
static const double flight_speed = 4.0; // [m/s] along the circles

typedef struct Controller {
    mf_Field *position, *velocity, *yaw;
    mf_Field *neighbor_count, *neighbor_position;
} Controller;

// Target position and velocity of an agent.
static void find_slot(uint32_t agent, double time, double position[3], double velocity[3]) {
    uint32_t circle = agent % CIRCLES, on_it = AGENTS / CIRCLES;
    double radius = 30.0 + 10.0 * circle, sense = circle % 2 == 0 ? 1.0 : -1.0;
    double angle = two_pi * (agent / CIRCLES) / on_it + sense * flight_speed / radius * time;
    position[0] = radius * cos(angle);
    position[1] = radius * sin(angle);
    position[2] = 30.0 + 4.0 * circle;
    velocity[0] = -sense * flight_speed * sin(angle);
    velocity[1] = sense * flight_speed * cos(angle);
    velocity[2] = 0.0;
}

static double offset_to_slot(const mf_Field *position, uint32_t agent, double time,
                             double direction[3], double velocity[3]) {
    double point[3];
    find_slot(agent, time, point, velocity);
    for (uint32_t c = 0; c < 3; c++)
        direction[c] = point[c] - mf_field_get(position, agent, c);
    return sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                direction[2] * direction[2]);
}

// Away from detected neighbors, stronger at smaller distance.
static void keep_apart(const Controller *controller, uint32_t agent, double target[3]) {
    const double least = 6.0; // [m]
    uint32_t most = controller->neighbor_position->components / 3;
    uint32_t count = (uint32_t)mf_field_get(controller->neighbor_count, agent, 0);
    for (uint32_t i = 0; i < count && i < most; i++) {
        double direction[3];
        for (uint32_t c = 0; c < 3; c++)
            direction[c] = mf_field_get(controller->neighbor_position, agent, 3 * i + c);
        double distance = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                               direction[2] * direction[2]);
        for (uint32_t c = 0; c < 3 && distance < least && distance > 0.0; c++)
            target[c] -= 2.0 * flight_speed * (1.0 / distance - 1.0 / least) * direction[c];
    }
}

// Velocity of the slot plus 1 m/s per meter of distance towards it.
static bool control(mf_Group *group, uint32_t agent, mf_Time time, void *user) {
    const Controller *controller = user;
    double direction[3], target[3];
    (void)group;
    double distance =
        offset_to_slot(controller->position, agent, mf_time_to_seconds(time), direction, target);
    double gain = distance > flight_speed ? flight_speed / distance : 1.0;
    for (uint32_t c = 0; c < 3; c++)
        target[c] += gain * direction[c];
    keep_apart(controller, agent, target);
    for (uint32_t c = 0; c < 3; c++)
        mf_field_set(controller->velocity, agent, c, target[c]);
    mf_field_set(controller->yaw, agent, 0, atan2(target[1], target[0]));
    return true;
}

static mf_Status scatter(mf_Context *context, mf_Group *group, double radius, mf_Error *error) {
    static double positions[3 * AGENTS], headings[AGENTS];
    const mf_Placement box = {.kind = MF_PLACEMENT_RANDOM,
                              .lower = {-130.0, -130.0, 20.0},
                              .upper = {130.0, 130.0, 80.0},
                              .distance = 3.0,
                              .seed = 7};
    MF_TRY(mf_placement_positions(context, &box, NULL, AGENTS, radius, 0.0, true, NULL, 0,
                                  positions, headings, error));
    for (uint32_t i = 0; i < AGENTS; i++)
        MF_TRY(mf_group_set_start(group, i, positions + 3 * i, NULL, NULL, error));
    return MF_OK;
}

static void report(mf_World *world, mf_Group *group, const Controller *controller,
                   mf_Interaction *interaction) {
    double time = mf_time_to_seconds(mf_world_time(world)), sum = 0.0, direction[3], velocity[3];
    uint32_t near = 0, alive = AGENTS - mf_group_fault_total(group);
    const mf_InteractionEvent *events;
    const uint32_t event_count = mf_interaction_events(interaction, &events, NULL);
    for (uint32_t i = 0; i < event_count; i++)
        printf("  agent %u fails at %.2f s\n", events[i].agent, mf_time_to_seconds(events[i].time));
    mf_interaction_clear_events(interaction); // the next report has those after it
    for (uint32_t i = 0; i < AGENTS; i++) {
        if (mf_group_fault(group, i) != 0)
            continue;
        double distance = offset_to_slot(controller->position, i, time, direction, velocity);
        sum += distance;
        near += distance < 1.0;
    }
    printf("%3.0f s: %4u alive, %6.2f m from their slots on average, %4u within a meter, %llu "
           "collisions\n",
           time, alive, sum / alive, near,
           (unsigned long long)mf_interaction_statistics(interaction).collisions);
}

static mf_Status fly(mf_World *world, const mf_Quadrotor *quadrotor, const mf_Model *model,
                     mf_Error *error) {
    mf_Group *group = NULL;
    mf_Interaction *interaction = NULL;
    mf_GroupConfig config = mf_group_config();
    config.model = model;
    config.count = AGENTS;
    config.isolated = false; // they share one space
    mf_InteractionConfig interaction_config = mf_interaction_config();
    interaction_config.radius = 8.0; // [m] detection radius
    mf_MotionsConfig motion = mf_motions_config();
    motion.quadrotor_config.command = MF_QUADROTOR_VELOCITY;
    mf_Status status = mf_world_add_group(world, &config, &group, error);
    if (status == MF_OK)
        status = mf_motion_add(group, MF_MOTION_QUADROTOR, &motion, error);
    if (status == MF_OK)
        status = scatter(mf_world_context(world), group, quadrotor->radius, error);
    mf_InteractionMember member = mf_interaction_member(group);
    member.radius = quadrotor->radius; // [m] two of these apart they collide
    interaction_config.members = &member;
    interaction_config.member_count = 1;
    if (status == MF_OK)
        status = mf_interaction_add(world, &interaction_config, &interaction, error);
    if (status != MF_OK)
        return status;
    Controller controller = {
        mf_group_find_field(group, "base.position"), mf_group_find_field(group, "command.velocity"),
        mf_group_find_field(group, "command.yaw"), mf_group_find_field(group, "neighbor.count"),
        mf_group_find_field(group, "neighbor.position")};
    MF_TRY(mf_callback_add(group, (mf_Rate){20, 1}, control, &controller, error));
    for (int second = 0; second <= SECONDS; second += 5) {
        report(world, group, &controller, interaction);
        mf_world_step(world, 500);
    }
    return MF_OK;
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
