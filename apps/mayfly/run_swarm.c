// mayfly run for swarms: simulates the file's world once and tells who is alive, who met whom first
// and how fast it went.
#include "run_swarm.h"

#include <stdio.h>
#include <string.h>

#include "simulate.h"
#include "end_check.h"

#define EVENTS_SHOWN 5u     // [1] lines of first events
#define TRACK_SAMPLES 190.0 // [1] of a run, about

// What became of the agents of one group.
typedef struct Census {
    uint32_t alive, collided, crashed, fenced, faulty; // [1] agents
    uint64_t refused;                                  // [1] commands
} Census;

static Census count_group(mf_Group *group) {
    const mf_Field *refused = mf_group_find_field(group, "command.refused");
    Census census = {0};
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        uint32_t fault = mf_group_fault(group, i);
        census.alive += fault == 0;
        if (fault & MF_FAULT_COLLISION)
            census.collided++;
        else if (fault & MF_FAULT_TERRAIN)
            census.crashed++;
        else if (fault & MF_FAULT_FENCE)
            census.fenced++;
        else if (fault != 0)
            census.faulty++;
        if (refused != NULL)
            census.refused += (uint64_t)mf_field_get(refused, i, 0);
    }
    return census;
}

static Census count_all(mf_World *world) {
    Census sum = {0};
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        Census one = count_group(mf_world_group(world, g));
        sum.alive += one.alive;
        sum.collided += one.collided;
        sum.crashed += one.crashed;
        sum.fenced += one.fenced;
        sum.faulty += one.faulty;
        sum.refused += one.refused;
    }
    return sum;
}

// ---- for people --------------------------------------------------------------------------------

static void put_agent(const mf_SwarmScene *scene, uint32_t agent) {
    mf_Group *group;
    uint32_t instance;
    if (mf_interaction_locate(scene->interaction, agent, &group, &instance))
        printf("%s %u", mf_group_settings(group)->name, instance);
}

static void show_events(const mf_SwarmScene *scene) {
    const mf_InteractionEvent *events;
    uint64_t lost = 0;
    if (scene->interaction == NULL)
        return;
    uint32_t count = mf_interaction_events(scene->interaction, &events, &lost);
    for (uint32_t i = 0; i < count && i < EVENTS_SHOWN; i++) {
        const mf_InteractionEvent *event = &events[i];
        printf("  %8.3f s  ", mf_time_to_seconds(event->time));
        put_agent(scene, event->agent);
        if (event->kind == MF_EVENT_COLLISION) {
            printf(" met ");
            put_agent(scene, event->partner);
        } else {
            printf(event->kind == MF_EVENT_TERRAIN ? " hit the ground" : " left the fence");
        }
        printf(" at %.5g, %.5g, %.5g m\n", event->position[0], event->position[1],
               event->position[2]);
    }
    if (count > EVENTS_SHOWN || lost > 0)
        printf("  ... and %llu more\n",
               (unsigned long long)(count - (count < EVENTS_SHOWN ? count : EVENTS_SHOWN) + lost));
}

static bool print_page(const mf_SwarmScene *scene, const mf_Simulation *simulation) {
    char life[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER], agents[MF_APP_NUMBER];
    printf("%s agents flew and drove for %s in %s, %s x real time\n",
           mf_app_count(simulation->agents, agents), mf_app_duration(simulation->simulated, life),
           mf_app_duration(simulation->seconds, time),
           mf_app_count(simulation->simulated / simulation->seconds, speed));
    printf("%-16s %9s %9s %9s %9s %9s %9s %9s\n", "group", "agents", "alive", "collided", "crashed",
           "fenced", "faulty", "refused");
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++) {
        mf_Group *group = mf_world_group(scene->world, g);
        Census census = count_group(group);
        printf("%-16s %9u %9u %9u %9u %9u %9u %9llu\n", mf_group_settings(group)->name,
               mf_group_count(group), census.alive, census.collided, census.crashed, census.fenced,
               census.faulty, (unsigned long long)census.refused);
    }
    show_events(scene);
    printf("hash      %016llx\n", (unsigned long long)mf_world_hash(scene->world));
    return mf_app_flush();
}

// ---- for programs ------------------------------------------------------------------------------

static bool print_json(const mf_SwarmScene *scene, const mf_Simulation *simulation) {
    Census census = count_all(scene->world);
    uint64_t collisions =
        scene->interaction == NULL ? 0 : mf_interaction_statistics(scene->interaction).collisions;
    return mf_app_print(json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "motion", "swarm",
        "agents", (json_int_t)simulation->agents, "alive", (json_int_t)census.alive, "collisions",
        (json_int_t)collisions, "collided", (json_int_t)census.collided, "crashed",
        (json_int_t)census.crashed, "fenced", (json_int_t)census.fenced, "faults",
        (json_int_t)census.faulty, "refused", (json_int_t)census.refused, "simulated_seconds",
        mf_app_real(simulation->simulated), "wall_seconds", mf_app_real(simulation->seconds),
        "realtime_factor", mf_app_real(simulation->simulated / simulation->seconds), "hash",
        mf_app_hash(mf_world_hash(scene->world))));
}

// ---- the run -----------------------------------------------------------------------------------

static int run_scene(mf_Context *context, const mf_SwarmScene *scene, const mf_RunOptions *options,
                     mf_Error *error) {
    const mf_Swarm *swarm = scene->swarm;
    mf_Time duration = mf_time_from_seconds(swarm->duration);
    mf_Simulation simulation = {
        .world = scene->world,
        .agents = (double)mf_swarm_count(swarm),
        .steps = (uint64_t)(duration / swarm->step + (duration % swarm->step != 0)),
        .realtime = mf_option_real(options->realtime, 0.0),
        .record = options->record,
        .fields = options->fields,
        .record_period = mf_option_real(options->every, 0.1),
        .picture_period = swarm->duration / TRACK_SAMPLES,
        .interaction = scene->interaction,
        .progress = "step"};
    mf_Status status = MF_OK;
    if (options->plot != NULL)
        status = mf_tracks_create(context, scene, &simulation.tracks, error);
    if (status == MF_OK)
        status = mf_simulate(&simulation, error);
    mf_simulation_end(&simulation);
    bool ran = status == MF_OK || status == MF_STOPPED;
    mf_Error plotting;
    bool drawn = true;
    if (ran && options->plot != NULL)
        drawn = mf_tracks_write(simulation.tracks, options->plot, &plotting) == MF_OK;
    mf_tracks_destroy(simulation.tracks);
    if (!ran)
        return mf_app_fail(error);
    bool printed = options->json ? print_json(scene, &simulation) : print_page(scene, &simulation);
    if (!drawn)
        return mf_app_fail(&plotting);
    if (status == MF_STOPPED)
        return mf_app_fail(error);
    return printed ? mf_end_check(scene->world) : MF_EXIT_FAILED;
}

int mf_run_swarm(mf_Context *context, const mf_Inputs *inputs, const mf_RunOptions *options,
                 const char *name) {
    mf_Swarm *swarm = NULL;
    mf_SwarmScene scene = {0};
    mf_Error error = {0};
    mf_Status status = mf_inputs_load_swarm(context, inputs, "run", name, &swarm, &error);
    if (status == MF_OK)
        status = mf_swarm_scene_create(context, swarm, &scene, &error);
    int result =
        status == MF_OK ? run_scene(context, &scene, options, &error) : mf_inputs_fail(&error);
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
    return result;
}
