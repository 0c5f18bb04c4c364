// Event-triggered formation: forty quadrotors keep a ring around a leader that flies a figure of
// eight, and minimize communication. Every agent extrapolates the last broadcasts of all others; an
// agent sends a new one only when the extrapolation of its own position is wrong by a threshold
// (Dimarogonas, Frazzoli, Johansson 2012, "Distributed event-triggered control for multi-agent
// systems"). Prints the number of messages saved compared with sending at every tick.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>

enum { AGENTS = 41, TICKS_PER_SECOND = 20, SECONDS = 60 }; // agent 0 leads

static const double two_pi = 6.283185307179586;

typedef struct Broadcast {
    double position[3], velocity[3], time; // [m], [m/s], [s]
} Broadcast;

typedef struct Formation {
    mf_Field *position, *velocity, *command, *yaw;
    Broadcast last[AGENTS];
    double threshold; // [m] error that triggers a message
    uint64_t sent, ticks;
    double error_sum; // [m] over ticks and followers
} Formation;

static void extrapolate(const Broadcast *heard, double time, double position[3]) {
    for (uint32_t c = 0; c < 3; c++)
        position[c] = heard->position[c] + heard->velocity[c] * (time - heard->time);
}

static void talk(Formation *formation, uint32_t agent, double time) {
    Broadcast *last = &formation->last[agent];
    double believed[3], drift = 0.0;
    extrapolate(last, time, believed);
    for (uint32_t c = 0; c < 3; c++)
        drift = fmax(drift, fabs(mf_field_get(formation->position, agent, c) - believed[c]));
    if (formation->ticks > 0 && drift <= formation->threshold)
        return;
    for (uint32_t c = 0; c < 3; c++) {
        last->position[c] = mf_field_get(formation->position, agent, c);
        last->velocity[c] = mf_field_get(formation->velocity, agent, c);
    }
    last->time = time;
    formation->sent++;
}

// A position in the ring, relative to the leader.
static void find_offset(uint32_t agent, double offset[3]) {
    double angle = two_pi * (agent - 1) / (AGENTS - 1);
    offset[0] = 10.0 * cos(angle);
    offset[1] = 10.0 * sin(angle);
    offset[2] = 0.0;
}

static void order(Formation *formation, uint32_t agent, const double velocity[3]) {
    for (uint32_t c = 0; c < 3; c++)
        mf_field_set(formation->command, agent, c, velocity[c]);
    mf_field_set(formation->yaw, agent, 0, 0.0);
}

// The leader flies a figure of eight of 30 m; only it knows the path.
static void lead(Formation *formation, double time) {
    double phase = 0.12 * time;
    const double position[3] = {30.0 * sin(phase), 15.0 * sin(2.0 * phase), 20.0};
    const double speed[3] = {3.6 * cos(phase), 3.6 * cos(2.0 * phase), 0.0};
    double velocity[3];
    for (uint32_t c = 0; c < 3; c++)
        velocity[c] = speed[c] + position[c] - mf_field_get(formation->position, 0, c);
    order(formation, 0, velocity);
}

// A follower flies to its estimated position in the ring, from the leader's broadcasts and, with a
// small weight, from those of its neighbor in the ring, which closes gaps.
static void follow(Formation *formation, uint32_t agent, double time) {
    uint32_t next = agent + 1 < AGENTS ? agent + 1 : 1;
    const Broadcast *leader = &formation->last[0];
    double believed[3], beside[3], own[3], other[3], velocity[3], error = 0.0;
    extrapolate(leader, time, believed);
    extrapolate(&formation->last[next], time, beside);
    find_offset(agent, own);
    find_offset(next, other);
    for (uint32_t c = 0; c < 3; c++) {
        double position = mf_field_get(formation->position, agent, c);
        double distance = believed[c] + own[c] - position;
        double gap = beside[c] - other[c] + own[c] - position;
        double truth = mf_field_get(formation->position, 0, c) + own[c] - position;
        velocity[c] = leader->velocity[c] + 0.8 * distance + 0.2 * gap;
        error += truth * truth;
    }
    formation->error_sum += sqrt(error);
    order(formation, agent, velocity);
}

// A world system, because it reads other agents' state.
static void run(const mf_WorldRun *run, void *user) {
    Formation *formation = user;
    double time = mf_time_to_seconds(run->time);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        talk(formation, agent, time);
    formation->ticks++;
    lead(formation, time);
    for (uint32_t agent = 1; agent < AGENTS; agent++)
        follow(formation, agent, time);
}

static mf_Status add_agents(mf_World *world, const mf_Model *model, Formation *formation,
                            mf_Error *error) {
    mf_Group *group = NULL;
    mf_GroupConfig config = mf_group_config();
    config.model = model;
    config.count = AGENTS;
    config.isolated = false;
    mf_MotionsConfig motion = mf_motions_config();
    motion.quadrotor_config.command = MF_QUADROTOR_VELOCITY;
    MF_TRY(mf_world_add_group(world, &config, &group, error));
    MF_TRY(mf_motion_add(group, MF_MOTION_QUADROTOR, &motion, error));
    for (uint32_t i = 0; i < AGENTS; i++) {
        double position[3] = {0.0, 0.0, 0.0};
        if (i > 0)
            find_offset(i, position);
        position[2] += 20.0;
        MF_TRY(mf_group_set_start(group, i, position, NULL, NULL, error));
    }
    formation->position = mf_group_find_field(group, "base.position");
    formation->velocity = mf_group_find_field(group, "base.linear_velocity");
    formation->command = mf_group_find_field(group, "command.velocity");
    formation->yaw = mf_group_find_field(group, "command.yaw");
    mf_WorldSystemConfig system = mf_world_system_config();
    system.name = "formation";
    system.phase = MF_PHASE_CONTROL;
    system.rate = (mf_Rate){TICKS_PER_SECOND, 1};
    system.run = run;
    system.user = formation;
    return mf_world_add_system(world, &system, error);
}

// One flight with one threshold.
static mf_Status fly(mf_Context *context, const mf_Model *model, double threshold,
                     mf_Error *error) {
    mf_WorldConfig settings = mf_world_config(); // flat ground, 10 ms steps
    mf_World *world = NULL;
    Formation formation = {.threshold = threshold};
    mf_Status status = mf_world_create(context, &settings, &world, error);
    if (status == MF_OK)
        status = add_agents(world, model, &formation, error);
    if (status == MF_OK) {
        mf_world_step(world, SECONDS * 100);
        uint64_t all = formation.ticks * AGENTS;
        printf("threshold %4.2f m: %6llu of %llu messages, %4.1f %% saved, followers %.3f m from "
               "their places on average\n",
               threshold, (unsigned long long)formation.sent, (unsigned long long)all,
               100.0 * (1.0 - (double)formation.sent / (double)all),
               formation.error_sum / (double)(formation.ticks * (AGENTS - 1)));
    }
    mf_world_destroy(world);
    return status;
}

int main(void) {
    static const double thresholds[] = {0.0, 0.02, 0.05, 0.1, 0.25, 0.5};
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_motion_model(context, MF_MOTION_QUADROTOR, NULL, "quadrotor", &model, &error);
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0] && status == MF_OK; i++)
        status = fly(context, model, thresholds[i], &error);

    char text[1024];
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
