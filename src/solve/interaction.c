// Interaction of shared groups: settings and their checks, memory, agent indices, events. The step
// is in round.c.
#include "solve/parts.h"
#include "base/floats.h"
#include "base/memory.h"
#include "base/plain.h"
#include "math/kernel_table.h"
#include "model/points.h"

#include "math/scalar.h"
#include "world/attach.h"
#include "world/group.h"

#include <math.h>
#include <string.h>

static const double half_rotation = 3.14159265358979323846; // [rad]

mf_InteractionMember mf_interaction_member(mf_Group *group) {
    return (mf_InteractionMember){.struct_size = sizeof(mf_InteractionMember),
                                  .group = group,
                                  .collides = true,
                                  .terrain = true};
}

mf_InteractionConfig mf_interaction_config(void) {
    return (mf_InteractionConfig){.struct_size = sizeof(mf_InteractionConfig),
                                  .detect = true,
                                  .radius = 5.0,
                                  .nearest = 8,
                                  .relative = true,
                                  .view_angle = half_rotation,
                                  .collide = true,
                                  .terrain = true,
                                  .terrain_tolerance = 0.01,
                                  .downwash_reach = 4.0,
                                  .air_density = 1.225,
                                  .wind_roughness = 0.03,
                                  .wind_reference = 10.0,
                                  .candidates = 96,
                                  .event_capacity = 4096};
}

// ---- checks -------------------------------------------------------------------------------------

static bool is_every_step(mf_Rate rate) {
    return rate.numerator == 0 && rate.denominator == 0;
}

// Checks a rate, and that results of one tick take effect before the next tick.
static mf_Status check_rate(const mf_World *world, const char *name, mf_Rate rate, uint32_t latency,
                            mf_Error *error) {
    if (!is_every_step(rate) && !(rate.numerator > 0 && rate.denominator > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "interaction.%s: need two positive numbers", name);
    // Ticks are at least floor(period / step) steps apart, and at least one.
    unsigned __int128 apart = 1;
    if (!is_every_step(rate))
        apart = (unsigned __int128)rate.denominator * MF_SECOND /
                ((unsigned __int128)rate.numerator * (uint64_t)mf_world_config_of(world)->step);
    if (apart < 1)
        apart = 1;
    if (latency > apart)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "interaction.latency: %u steps, %s is due again after %u", latency, name,
                       (uint32_t)apart);
    return MF_OK;
}

static bool has_collisions(const mf_InteractionConfig *config) {
    return config->collide || config->terrain || config->fence;
}

bool mf_interaction_has_air(const mf_InteractionConfig *config) {
    return config->downwash || config->wind[0] != 0.0 || config->wind[1] != 0.0 ||
           config->wind[2] != 0.0;
}

static mf_Status check_fence(const mf_InteractionConfig *config, mf_Error *error) {
    for (int c = 0; config->fence && c < 3; c++) {
        MF_NEED(config->fence_low[c] < config->fence_high[c], error,
                "interaction.fence: low %c %g, need less than high %g", "xyz"[c],
                config -> fence_low[c], config -> fence_high[c]);
    }
    return MF_OK;
}

static mf_Status check_numbers(const mf_InteractionConfig *config, mf_Error *error) {
    const mf_Range ranges[] = {
        {"radius", "m", config->detect ? config->radius : 1.0, 1e-6, 1e5},
        {"nearest", "", config->nearest, 0, MF_NEAREST_LIMIT},
        {"view_angle", "rad", config->view_angle, 1e-6, half_rotation},
        {"terrain_tolerance", "m", config->terrain_tolerance, 0, 1e3},
        {"downwash_reach", "m", config->downwash_reach, 0.1, 1e3},
        {"air_density", "kg/m^3", config->air_density, 1e-3, 100},
        {"wind x", "m/s", config->wind[0], -200, 200},
        {"wind y", "m/s", config->wind[1], -200, 200},
        {"wind z", "m/s", config->wind[2], -200, 200},
        {"wind_ground", "m", config->wind_ground, -1e6, 1e6},
        {"wind_roughness", "m", config->wind_roughness, 1e-5, 10},
        {"wind_reference", "m", config->wind_reference, config->wind_roughness * 1.01, 1e4},
        {"margin", "m", config->margin, 0, 1e5},
        {"candidates", "", config->candidates, 1, 1 << 20},
        {"event_capacity", "", config->event_capacity, 1, 1 << 24},
    };
    MF_TRY(mf_ranges_check("interaction", ranges, sizeof ranges / sizeof *ranges, error));
    return check_fence(config, error);
}

static mf_Status check_config(const mf_World *world, const mf_InteractionConfig *config,
                              mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "interaction: start from mf_interaction_config()");
    if (mf_world_find_system(world, "interaction") != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "interaction: the world already has one");
    if (!config->detect && !has_collisions(config) && !mf_interaction_has_air(config))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "interaction: nothing is enabled, need detect, collide, terrain, fence, "
                       "downwash or wind");
    MF_TRY(check_numbers(config, error));
    MF_NEED(!config->background || config->latency != 0, error,
            "interaction.background: need a latency of at least one step");
    MF_TRY(check_rate(world, "detection_rate", config->detection_rate,
                      config->detect ? config->latency : 0, error));
    MF_TRY(check_rate(world, "collision_rate", config->collision_rate,
                      has_collisions(config) ? config->latency : 0, error));
    return check_rate(world, "air_rate", config->air_rate, 0, error);
}

static mf_Status check_member(const mf_World *world, const mf_InteractionMember *member,
                              mf_Error *error) {
    MF_NEED(member->struct_size == sizeof *member && member->group != NULL, error,
            "interaction.members: start from mf_interaction_member(group)");
    const mf_GroupConfig *group = mf_group_config_of(member->group);
    MF_NEED(mf_group_world(member->group) == world, error,
            "interaction: group %s is of another world", group->name);
    MF_NEED(!group->isolated, error, "interaction: group %s is isolated, need a shared one",
            group->name);
    MF_NEED(member->radius >= 0.0 && member->radius <= 1e4 && member->rotor_area >= 0.0 &&
                member->rotor_area <= 1e6 && member->thrust >= 0.0 && member->thrust <= 1e9,
            error,
            "interaction: group %s: radius %g m, rotor_area %g m^2, thrust %g N, need "
            "0 .. 1e4, 0 .. 1e6, 0 .. 1e9",
            group->name, member->radius, member->rotor_area, member->thrust);
    return MF_OK;
}

// ---- members ------------------------------------------------------------------------------------

// Radius of the sphere around the base's origin that contains all collision shapes at the start
// angles, or all contact points if there are no shapes.
static mf_Status find_radius(mf_Context *context, const mf_Model *model, double *radius,
                             mf_Error *error) {
    double(*position)[3], (*rotation)[4];
    const mf_Array arrays[] = {MF_ARRAY(position, model->link_count),
                               MF_ARRAY(rotation, model->link_count)};
    *radius = 0.0;
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "interaction: out of memory");
    mf_model_pose(model, model->start_angle, position, rotation);
    bool has_shape = false;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides || shape->link == MF_NONE) // of the world
            continue;
        double at[3];
        has_shape = true;
        mf_pose_point(at, position[shape->link], rotation[shape->link], shape->position);
        *radius = mf_larger(*radius, mf_vec3_length(at) + mf_model_shape_radius(model, i));
    }
    for (uint32_t i = 0; !has_shape && i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        double at[3];
        if ((point->flags & MF_POINT_COLLIDES) == 0)
            continue;
        mf_pose_point(at, position[point->link], rotation[point->link], point->position);
        *radius = mf_larger(*radius, mf_vec3_length(at));
    }
    mf_release(context, position);
    return MF_OK;
}

static uint32_t possible_members(const mf_World *world, const mf_InteractionConfig *config) {
    return config->members != NULL ? config->member_count : mf_world_group_count(world);
}

static mf_Status take_members(mf_Interaction *all, const mf_InteractionConfig *config,
                              mf_Error *error) {
    const uint32_t count = possible_members(all->world, config);
    for (uint32_t i = 0; i < count; i++) {
        mf_InteractionMember member = config->members != NULL
                                          ? config->members[i]
                                          : mf_interaction_member(mf_world_group(all->world, i));
        if (config->members == NULL && mf_group_config_of(member.group)->isolated)
            continue;
        MF_TRY(check_member(all->world, &member, error));
        MF_NEED(!all->listed[member.group->number], error, "interaction: group %s is listed twice",
                mf_group_config_of(member.group)->name);
        all->listed[member.group->number] = true;
        if (member.radius == 0.0)
            MF_TRY(find_radius(all->context, mf_group_model(member.group), &member.radius, error));
        all->clearance[all->member_count] = mf_group_model(member.group)->rest_height;
        all->members[all->member_count++] = member;
    }
    MF_NEED(all->member_count != 0, error, "interaction: no shared group takes part");
    return MF_OK;
}

// ---- searches -----------------------------------------------------------------------------------

static mf_NeighborGroup describe_group(const mf_InteractionMember *member) {
    mf_Group *group = member->group;
    return (mf_NeighborGroup){.double_precision = mf_group_config_of(group)->double_precision,
                              .count = mf_group_count(group),
                              .position = mf_group_find_field(group, "base.position")->data,
                              .orientation = mf_group_find_field(group, "base.orientation")->data,
                              .linear_velocity =
                                  mf_group_find_field(group, "base.linear_velocity")->data,
                              .fault = mf_group_find_field(group, "fault.word")->data,
                              .radius = member->collides ? member->radius : 0.0,
                              .source = member->rotor_area > 0.0};
}

static mf_Status make_search(mf_Interaction *all, uint32_t work, mf_Neighbors **out,
                             mf_Error *error) {
    const mf_InteractionConfig *config = &all->config;
    mf_NeighborGroup *groups = mf_allocate(all->context, all->member_count, sizeof *groups);
    MF_NEED_MEMORY(groups != NULL, error, "interaction");
    mf_NeighborsConfig search = {.isa = mf_world_isa(all->world), .candidates = config->candidates};
    double largest = 0.0, most = 0.0;
    for (uint32_t m = 0; m < all->member_count; m++) {
        groups[m] = describe_group(&all->members[m]);
        search.double_precision |= groups[m].double_precision;
        largest = groups[m].radius > largest ? groups[m].radius : largest;
    }
    if ((work & MF_WORK_DETECT) != 0)
        most = search.reach = config->radius;
    if ((work & MF_WORK_COLLIDE) != 0 && config->collide)
        search.contact_reach = 2.0 * largest;
    if ((work & MF_WORK_AIR) != 0 && config->downwash) {
        search.jet_reach = config->downwash_reach;
        search.jet_radius = MF_JET_END * config->downwash_reach;
    }
    most = search.contact_reach > most ? search.contact_reach : most;
    most = search.jet_reach > most ? search.jet_reach : most;
    search.margin = config->margin > 0.0 ? config->margin : most > 0.0 ? 0.2 * most : 1.0;
    const mf_Status status =
        mf_neighbors_create(all->context, &search, groups, all->member_count, out, error);
    mf_release(all->context, groups);
    return status;
}

static mf_Status make_searches(mf_Interaction *all, mf_Error *error) {
    const mf_InteractionConfig *config = &all->config;
    uint32_t needed = (config->detect ? MF_WORK_DETECT : 0u) |
                      (has_collisions(config) ? MF_WORK_COLLIDE : 0u) |
                      (mf_interaction_has_air(config) ? MF_WORK_AIR : 0u);
    mf_Neighbors **to[] = {&all->detect, &all->touch, &all->air};
    mf_Neighbors *shared = NULL;
    if (config->latency == 0)
        MF_TRY(make_search(all, needed, &shared, error));
    for (uint32_t i = 0; i < 3; i++) {
        if ((needed >> i & 1) == 0)
            continue;
        if (config->latency == 0)
            *to[i] = shared;
        else
            MF_TRY(make_search(all, 1u << i, to[i], error));
    }
    return MF_OK;
}

static const mf_FieldInfo neighbor_fields[] = {
    {"neighbor.count", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
     "agents within the detection radius and the field of view"},
    {"neighbor.index", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "indices of the nearest agents, nearest first; 4294967295 after the last"},
    {"neighbor.position", "m", "world", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE,
     "relative positions of the nearest agents; 0 after the last"},
    {"neighbor.velocity", "m/s", "world", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE,
     "relative velocities of the nearest agents; 0 after the last"},
};

static mf_Status add_fields(mf_Interaction *all, uint32_t member, mf_Error *error) {
    mf_Group *group = all->members[member].group;
    mf_NeighborOutput *output = &all->output[member];
    void **to[] = {(void **)&output->count, (void **)&output->index, &output->position,
                   &output->velocity};
    uint32_t count = all->query.relative ? 4 : all->query.nearest > 0 ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        mf_Field *field;
        MF_TRY(mf_attach_field(group, &neighbor_fields[i], all->query.nearest, &field, error));
        *to[i] = field->data;
        if (i == 1)
            memset(field->data, 0xff,
                   (size_t)field->blocks * field->components * MF_BLOCK * sizeof(uint32_t));
    }
    return MF_OK;
}

static mf_Status prepare_detection(mf_Interaction *all, mf_Error *error) {
    const mf_InteractionConfig *config = &all->config;
    double sine;
    all->query = (mf_NeighborQuery){.radius = config->radius,
                                    .in_view = config->view_angle < half_rotation,
                                    .nearest = config->nearest,
                                    .relative = config->relative && config->nearest > 0};
    mf_sin_cos(config->view_angle, &sine, &all->query.view_cosine);
    for (uint32_t m = 0; m < all->member_count; m++)
        MF_TRY(add_fields(all, m, error));
    return mf_neighbors_answer(all->detect, &all->query, &all->answer, error);
}

static mf_Status prepare_touch(mf_Interaction *all, mf_Error *error) {
    const mf_InteractionConfig *config = &all->config;
    const mf_Neighbors *search = all->touch;
    uint32_t chunks = (search->slot_count + MF_NEIGHBOR_CHUNK - 1) / MF_NEIGHBOR_CHUNK;
    const mf_Array arrays[] = {
        MF_ARRAY(all->flags, search->slot_count), MF_ARRAY(all->outside, search->slot_count),
        MF_ARRAY(all->pair_counts, chunks), MF_ARRAY(all->pairs, (size_t)chunks * MF_CHUNK_PAIRS)};
    if (!mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "interaction: no memory for %u agents",
                       search->slot_count);
    all->scan.all = search;
    all->scan.fence = config->fence;
    memcpy(all->scan.fence_low, config->fence_low, sizeof config->fence_low);
    memcpy(all->scan.fence_high, config->fence_high, sizeof config->fence_high);
    double stands = -INFINITY;
    for (uint32_t m = 0; config->terrain && m < all->member_count; m++) {
        all->scan.ground |= all->members[m].terrain;
        all->members[m].group->ground_tested |= all->members[m].terrain;
        if (all->members[m].terrain && all->clearance[m] > stands)
            stands = all->clearance[m];
    }
    // Rounded up, so that greater floats are greater than the exact value.
    const mf_Terrain *terrain = mf_world_config_of(all->world)->terrain;
    double low = terrain->highest + stands - config->terrain_tolerance;
    all->scan.low = low + 1e-6 * (mf_abs(low) + 1.0);
    return MF_OK;
}

static mf_Status prepare_air(mf_Interaction *all, mf_Error *error) {
    for (uint32_t m = 0; m < all->member_count; m++) {
        const mf_Field *wind = mf_group_find_field(all->members[m].group, "wind.velocity");
        if (wind == NULL)
            continue;
        for (uint32_t i = 0; i < 3; i++)
            all->members[m].group->wind_blows |= all->config.wind[i] != 0.0;
        bool wide = mf_group_config_of(all->members[m].group)->double_precision;
        if (wind->components != 3 || wind->info.type != (wide ? MF_F64 : MF_F32))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "group %s: field wind.velocity exists with another shape",
                           mf_group_config_of(all->members[m].group)->name);
        all->blow_to[m].wind = wind->data;
    }
    return mf_interaction_prepare_air(all, error);
}

static void choose_kernels(mf_Interaction *all) {
    static const mf_ScanFn scans[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_interaction_scan);
    static const mf_NeighborJetFn jets[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_interaction_jets);
    static const mf_BlowFn blows[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_interaction_blow);
    int row = mf_kernel_row(mf_world_isa(all->world));
    bool wide = false;
    for (uint32_t m = 0; m < all->member_count; m++)
        wide |= mf_group_config_of(all->members[m].group)->double_precision;
    all->scan_chunk = scans[row][wide];
    all->jets = jets[row][wide];
    all->blow = blows[row][wide];
}

// ---- creation -----------------------------------------------------------------------------------

static mf_Status fill(mf_Interaction *all, const mf_InteractionConfig *config, mf_Error *error) {
    MF_TRY(take_members(all, config, error));
    MF_TRY(make_searches(all, error));
    choose_kernels(all);
    for (uint32_t m = 0; m < all->member_count; m++)
        all->fault[m] = mf_group_find_field(all->members[m].group, "fault.word")->data;
    all->events = mf_allocate(all->context, config->event_capacity, sizeof *all->events);
    if (all->events == NULL)
        return mf_fail(error, MF_NO_MEMORY, "interaction: no memory for %u events",
                       config->event_capacity);
    if (all->touch != NULL)
        MF_TRY(prepare_touch(all, error));
    if (all->air != NULL)
        MF_TRY(prepare_air(all, error));
    if (all->detect != NULL)
        MF_TRY(prepare_detection(all, error));
    if (config->background && (all->detect != NULL || all->touch != NULL))
        MF_TRY(mf_background_create(all, &all->background, error));
    return mf_interaction_add_systems(all, error);
}

mf_Status mf_interaction_add(mf_World *world, const mf_InteractionConfig *config,
                             mf_Interaction **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(world != NULL, error, "mf_interaction_add: world is NULL");
    mf_InteractionConfig settings = config != NULL ? *config : mf_interaction_config();
    *out = NULL;
    MF_TRY(check_config(world, &settings, error));
    mf_Context *context = mf_world_context(world);
    mf_Interaction *all;
    mf_Interaction own;
    const uint32_t most = possible_members(world, &settings);
    const mf_Array arrays[] = {MF_ARRAY(all, 1),
                               MF_ARRAY(own.members, most),
                               MF_ARRAY(own.clearance, most),
                               MF_ARRAY(own.output, most),
                               MF_ARRAY(own.fault, most),
                               MF_ARRAY(own.blow_to, most),
                               MF_ARRAY(own.listed, mf_world_group_count(world))};
    MF_NEED_MEMORY(mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays), error,
                   "interaction");
    all->members = own.members;
    all->clearance = own.clearance;
    all->output = own.output;
    all->fault = own.fault;
    all->blow_to = own.blow_to;
    all->listed = own.listed;
    all->world = world;
    all->context = context;
    all->config = settings;
    mf_Status status = fill(all, &settings, error);
    if (status != MF_OK) {
        mf_interaction_destroy(all);
        return status;
    }
    all->config.members = NULL; // borrowed from the caller
    *out = all;
    return MF_OK;
}

// ---- queries ------------------------------------------------------------------------------------

static const mf_Neighbors *any_search(const mf_Interaction *all) {
    return all->detect != NULL ? all->detect : all->touch != NULL ? all->touch : all->air;
}

bool mf_interaction_locate(const mf_Interaction *interaction, uint32_t agent, mf_Group **group,
                           uint32_t *instance) {
    if (interaction == NULL)
        return false;
    const mf_Neighbors *search = any_search(interaction);
    if (agent >= search->slot_count)
        return false;
    uint32_t m = search->group_of[agent / MF_BLOCK];
    uint32_t found = agent - search->groups[m].first_block * MF_BLOCK;
    if (found >= search->groups[m].count)
        return false;
    if (group != NULL)
        *group = interaction->members[m].group;
    if (instance != NULL)
        *instance = found;
    return true;
}

uint32_t mf_interaction_events(const mf_Interaction *interaction,
                               const mf_InteractionEvent **events, uint64_t *lost) {
    if (interaction == NULL)
        return 0;
    *events = interaction->events;
    if (lost != NULL)
        *lost = interaction->events_lost;
    return interaction->event_count;
}

void mf_interaction_clear_events(mf_Interaction *interaction) {
    if (interaction == NULL)
        return;
    interaction->event_count = 0;
    interaction->events_lost = 0;
}

// A pending search belongs to the background thread, so its statistics are not read.
static void settle(const mf_Interaction *all) {
    if (all->background != NULL)
        mf_background_wait(all->background, all->pending);
}

mf_InteractionStatistics mf_interaction_statistics(const mf_Interaction *interaction) {
    if (interaction == NULL)
        return (mf_InteractionStatistics){0};
    mf_InteractionStatistics out = {.detections = interaction->detections,
                                    .collisions = interaction->collisions};
    const mf_Neighbors *searches[] = {interaction->detect, interaction->touch, interaction->air};
    settle(interaction);
    for (int i = 0; i < 3; i++) {
        if (searches[i] == NULL || (i > 0 && searches[i] == searches[i - 1]) ||
            (i == 2 && searches[2] == searches[0]))
            continue;
        uint32_t full = mf_neighbors_full(searches[i]);
        out.builds += searches[i]->builds;
        out.full = full > out.full ? full : out.full;
    }
    return out;
}

mf_Status mf_interaction_reserve(mf_Interaction *interaction, uint32_t candidates,
                                 mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(interaction != NULL, error, "mf_interaction_reserve: interaction is NULL");
    MF_CHECK(interaction->pending == 0, error, MF_BUSY,
             "interaction: results are not applied yet, step the world first");
    mf_Neighbors *searches[] = {interaction->detect, interaction->touch, interaction->air};
    for (int i = 0; i < 3; i++) {
        if (searches[i] == NULL || searches[i]->config.candidates == candidates)
            continue;
        MF_TRY(mf_neighbors_reserve(searches[i], candidates, error));
    }
    return MF_OK;
}
