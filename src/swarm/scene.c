// Worlds made from swarms: ground, groups, start places that do not overlap, motion, interaction,
// behaviours, in this order.
#include "math/scalar.h"
#include "swarm/crowd.h"

#include <mayfly/swarm.h>

#include <stdio.h>

// What making passes around.
typedef struct Maker {
    mf_Context *context;
    const mf_Swarm *swarm;
    mf_SwarmScene *scene;
    mf_Crowd crowd;                           // of all agents placed so far
    double largest;                           // [m] radius of an agent
    uint32_t first_in_crowd[MF_SWARM_GROUPS]; // [1] number of each group's first agent in it
    bool placed[MF_SWARM_GROUPS];
    mf_Error *error;
} Maker;

// ---- vehicles ----------------------------------------------------------------------------------

static double radius_of(const mf_Vehicle *vehicle) {
    return vehicle->kind == MF_VEHICLE_QUADROTOR    ? vehicle->quadrotor.radius
           : vehicle->kind == MF_VEHICLE_FIXED_WING ? vehicle->fixed_wing.radius
                                                    : vehicle->car.radius;
}

static mf_Status make_model(mf_Context *context, const mf_Vehicle *vehicle, mf_Model **out,
                            mf_Error *error) {
    switch (vehicle->kind) {
    case MF_VEHICLE_QUADROTOR:
        return mf_quadrotor_model(context, &vehicle->quadrotor, vehicle->name, out, error);
    case MF_VEHICLE_FIXED_WING:
        return mf_fixed_wing_model(context, &vehicle->fixed_wing, out, error);
    case MF_VEHICLE_CAR:
        break;
    }
    return mf_car_body(context, &vehicle->car, vehicle->name, out, error);
}

static mf_Status add_quadrotor(mf_Group *group, const mf_SwarmGroup *from, int mode,
                               mf_Error *error) {
    mf_QuadrotorSettings settings = mf_quadrotor_settings();
    settings.command = (mf_QuadrotorCommand)mode;
    settings.integrator = from->integrator;
    settings.control_interval = from->control_interval;
    settings.outer_interval = from->outer_interval;
    return mf_quadrotor_add(group, &from->vehicle->quadrotor, &settings, error);
}

static mf_Status add_fixed_wing(mf_Group *group, const mf_SwarmGroup *from, int mode,
                                mf_Error *error) {
    mf_FixedWingSettings settings = mf_fixed_wing_settings();
    settings.command = (mf_FixedWingCommand)mode;
    settings.integrator = from->integrator;
    settings.control_interval = from->control_interval;
    settings.gusts = mf_dryden(from->turbulence, from->vehicle->fixed_wing.airspeed_design);
    settings.start_altitude = -1e5; // agents fly where they are placed
    return mf_fixed_wing_add(group, &from->vehicle->fixed_wing, &settings, error);
}

static mf_Status add_car(mf_Group *group, const mf_SwarmGroup *from, int mode, mf_Error *error) {
    mf_CarSettings settings = mf_car_settings();
    settings.command = (mf_CarCommand)mode;
    settings.integrator = from->integrator;
    settings.control_interval = from->control_interval;
    settings.model = from->car_model;
    settings.tyre = from->car_tyre;
    return mf_car_add(group, &from->vehicle->car, &settings, error);
}

static mf_Status add_motion(mf_Group *group, const mf_SwarmGroup *from, mf_Error *error) {
    int mode = 0;
    mf_Status status = mf_behaviour_mode(&from->behaviour, from->vehicle->kind, &mode, error);
    if (status != MF_OK)
        return status;
    switch (from->vehicle->kind) {
    case MF_VEHICLE_QUADROTOR:
        return add_quadrotor(group, from, mode, error);
    case MF_VEHICLE_FIXED_WING:
        return add_fixed_wing(group, from, mode, error);
    case MF_VEHICLE_CAR:
        break;
    }
    return add_car(group, from, mode, error);
}

// ---- places ------------------------------------------------------------------------------------

static mf_Status refuse_place(const Maker *maker, uint32_t index, mf_Status status,
                              const char *message) {
    const mf_SwarmGroup *group = &maker->swarm->groups[index];
    return mf_fail_at(maker->error, status, maker->swarm->file, group->placement.line,
                      group->placement.column, "groups.%s.placement: %s", group->name, message);
}

// Names the agent of the crowd that is in the way.
static mf_Status refuse_overlap(const Maker *maker, uint32_t index, uint32_t agent,
                                uint32_t other) {
    uint32_t owner = index;
    char message[200];
    for (uint32_t i = 0; i < maker->swarm->group_count; i++) {
        uint32_t first = maker->first_in_crowd[i], count = maker->swarm->groups[i].count;
        if (maker->placed[i] && other >= first && other < first + count)
            owner = i;
    }
    snprintf(message, sizeof message, "agent %u would overlap agent %u of %.80s at the start",
             agent, other - maker->first_in_crowd[owner], maker->swarm->groups[owner].name);
    return refuse_place(maker, index, MF_BAD_FILE, message);
}

static mf_Status put_agents(Maker *maker, uint32_t index, const double *positions,
                            const double *headings) {
    const mf_SwarmGroup *from = &maker->swarm->groups[index];
    mf_Group *group = mf_world_group(maker->scene->world, index);
    double radius = radius_of(from->vehicle), speed = from->placement.speed;
    maker->first_in_crowd[index] = maker->crowd.count;
    maker->placed[index] = true;
    for (uint32_t i = 0; i < from->count; i++) {
        const double *position = positions + 3 * (size_t)i;
        uint32_t other = mf_crowd_meets(&maker->crowd, position, radius);
        if (other != UINT32_MAX)
            return refuse_overlap(maker, index, i, other);
        mf_crowd_add(&maker->crowd, position, radius);
        double sine, cosine, turn[4] = {0.0, 0.0, 0.0, 0.0};
        mf_sin_cos(headings[i], &sine, &cosine);
        mf_sin_cos(0.5 * headings[i], &turn[3], &turn[0]);
        double velocity[3] = {speed * cosine, speed * sine, 0.0};
        mf_Status status =
            mf_group_place(group, i, position, turn, speed > 0.0 ? velocity : NULL, maker->error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static mf_Status place_group(Maker *maker, uint32_t index) {
    const mf_SwarmGroup *from = &maker->swarm->groups[index];
    double *positions = mf_allocate(maker->context, from->count, 3 * sizeof *positions);
    double *headings = mf_allocate(maker->context, from->count, sizeof *headings);
    mf_Status status = MF_OK;
    bool wheels = from->vehicle->kind == MF_VEHICLE_CAR;
    if (positions == NULL || headings == NULL)
        status = mf_fail(maker->error, MF_NO_MEMORY, "swarm: out of memory");
    mf_Error cause = {0};
    if (status == MF_OK) {
        status = mf_placement_places(maker->context, &from->placement, maker->scene->terrain,
                                     from->count, radius_of(from->vehicle),
                                     wheels ? from->vehicle->car.height : -1.0,
                                     (const double(*)[4])maker->crowd.spheres, maker->crowd.count,
                                     positions, headings, &cause);
        if (status == MF_BAD_ARGUMENT)
            status = refuse_place(maker, index, MF_BAD_FILE, cause.message);
        else if (status != MF_OK && maker->error != NULL)
            *maker->error = cause;
    }
    if (status == MF_OK)
        status = put_agents(maker, index, positions, headings);
    mf_release(maker->context, positions);
    mf_release(maker->context, headings);
    return status;
}

// Random places go around those that are fixed, so they come last.
static mf_Status place_groups(Maker *maker) {
    mf_Status status = MF_OK;
    for (int random = 0; random < 2; random++) {
        for (uint32_t i = 0; i < maker->swarm->group_count && status == MF_OK; i++) {
            bool is_random = maker->swarm->groups[i].placement.kind == MF_PLACEMENT_RANDOM;
            if (is_random == (random == 1))
                status = place_group(maker, i);
        }
    }
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------

static mf_Status make_terrain(const Maker *maker) {
    const mf_Swarm *swarm = maker->swarm;
    if (swarm->terrain_path != NULL)
        return mf_terrain_load(maker->context, swarm->terrain_path, &swarm->terrain,
                               swarm->terrain_scale, swarm->terrain_offset, &maker->scene->terrain,
                               maker->error);
    mf_TerrainConfig config = swarm->terrain;
    // Outside the map the border goes on, so one cell is as flat as many and stays in the cache.
    if (swarm->generator.shape == MF_TERRAIN_FLAT)
        config.columns = config.rows = 1;
    return mf_terrain_generate(maker->context, &config, &swarm->generator, &maker->scene->terrain,
                               maker->error);
}

static mf_Status make_world(const Maker *maker) {
    mf_WorldConfig config = mf_world_config();
    config.step = maker->swarm->step;
    config.seed = maker->swarm->seed;
    config.gravity = maker->swarm->gravity;
    config.terrain = maker->scene->terrain;
    return mf_world_create(maker->context, &config, &maker->scene->world, maker->error);
}

static mf_Status add_group(const Maker *maker, uint32_t index) {
    const mf_SwarmGroup *from = &maker->swarm->groups[index];
    mf_Model **model = &maker->scene->models[index];
    mf_Status status = make_model(maker->context, from->vehicle, model, maker->error);
    if (status != MF_OK)
        return status;
    mf_GroupConfig config = mf_group_config();
    config.name = from->name;
    config.model = *model;
    config.count = from->count;
    config.isolated = false;
    config.double_precision = from->double_precision;
    mf_Group *group = NULL;
    status = mf_world_add_group(maker->scene->world, &config, &group, maker->error);
    return status == MF_OK ? add_motion(group, from, maker->error) : status;
}

static mf_Status add_interaction(const Maker *maker) {
    const mf_Swarm *swarm = maker->swarm;
    mf_InteractionMember members[MF_SWARM_GROUPS];
    mf_InteractionConfig config = swarm->interaction;
    for (uint32_t i = 0; i < swarm->group_count; i++) {
        const mf_SwarmGroup *from = &swarm->groups[i];
        members[i] = mf_interaction_member(mf_world_group(maker->scene->world, i));
        members[i].radius = radius_of(from->vehicle);
        members[i].collides = from->collides;
        members[i].terrain = from->vehicle->kind != MF_VEHICLE_CAR;
        members[i].rotor_area = from->rotor_area;
    }
    config.members = members;
    config.member_count = swarm->group_count;
    mf_Error cause = {0};
    mf_Status status =
        mf_interaction_add(maker->scene->world, &config, &maker->scene->interaction, &cause);
    if (status == MF_BAD_ARGUMENT)
        return mf_fail_at(maker->error, MF_BAD_FILE, swarm->file, swarm->interaction_line,
                          swarm->interaction_column, "%s", cause.message);
    if (status != MF_OK && maker->error != NULL)
        *maker->error = cause;
    return status;
}

static mf_Status make(Maker *maker) {
    const mf_Swarm *swarm = maker->swarm;
    mf_SwarmScene *scene = maker->scene;
    mf_Status status = make_terrain(maker);
    if (status == MF_OK)
        status = make_world(maker);
    for (uint32_t i = 0; i < swarm->group_count && status == MF_OK; i++)
        status = add_group(maker, i);
    if (status == MF_OK)
        status = mf_crowd_create(maker->context, (uint32_t)mf_swarm_count(swarm), maker->largest,
                                 &maker->crowd, maker->error);
    if (status == MF_OK)
        status = place_groups(maker);
    if (status == MF_OK && swarm->interact)
        status = add_interaction(maker);
    for (uint32_t i = 0; i < swarm->group_count && status == MF_OK; i++)
        status = mf_behaviour_add(mf_world_group(scene->world, i), swarm->groups[i].vehicle->kind,
                                  &swarm->groups[i].behaviour, maker->error);
    mf_crowd_free(&maker->crowd);
    return status;
}

mf_Status mf_swarm_scene_create(mf_Context *context, const mf_Swarm *swarm, mf_SwarmScene *out,
                                mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: out is NULL");
    *out = (mf_SwarmScene){0};
    if (context == NULL || swarm == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "swarm: context or swarm is NULL");
    if (mf_swarm_count(swarm) > UINT32_C(1) << 26)
        return mf_fail_at(error, MF_LIMIT, swarm->file, 0, 0,
                          "groups: expected at most 2^26 agents together");
    mf_SwarmScene scene = {.swarm = swarm};
    Maker maker = {.context = context, .swarm = swarm, .scene = &scene, .error = error};
    for (uint32_t i = 0; i < swarm->group_count; i++) {
        double radius = radius_of(swarm->groups[i].vehicle);
        maker.largest = radius > maker.largest ? radius : maker.largest;
    }
    maker.crowd.context = context;
    mf_Status status = make(&maker);
    if (status != MF_OK) {
        mf_swarm_scene_destroy(&scene);
        return status;
    }
    *out = scene;
    return MF_OK;
}

void mf_swarm_scene_destroy(mf_SwarmScene *scene) {
    if (scene == NULL || scene->swarm == NULL)
        return;
    mf_world_destroy(scene->world);
    for (uint32_t i = 0; i < MF_SWARM_GROUPS; i++)
        mf_model_destroy(scene->models[i]);
    mf_terrain_destroy(scene->terrain);
    *scene = (mf_SwarmScene){0};
}
