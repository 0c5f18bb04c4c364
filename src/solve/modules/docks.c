// Docks of a world: creation, fields, connections by calls, assemblies. A step is in docks_step.c.
#include "solve/modules/assemblies.h"
#include "model/mounted.h"
#include "solve/modules/docks.h"
#include "base/floats.h"
#include "base/hash.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/states.h"

#include <string.h>

static const char system_name[] = "docks";

mf_WorldDocksConfig mf_world_docks_config(void) {
    return (mf_WorldDocksConfig){.struct_size = sizeof(mf_WorldDocksConfig)};
}

const char *mf_dock_state_name(mf_DockState state) {
    static const char *const names[] = {"free", "closing", "engaged", "missed", "broken"};
    return (unsigned)state <= MF_DOCK_BROKEN ? names[state] : "unknown";
}

// ---- fields -------------------------------------------------------------------------------------

static mf_Status add_fields(mf_DockGroup *group, mf_Error *error) {
    const uint32_t docks = group->model->dock_count;
    const mf_StateField rows[] = {
        {"dock.enabled", "1", MF_U32, docks, 1, MF_FIELD_INPUT, NULL, &group->enabled,
         "1: it may dock and stay docked"},
        {"dock.state", "1", MF_U32, docks, 1, MF_FIELD_OUTPUT, NULL, &group->state,
         "0 free, 1 closing, 2 engaged, 3 missed, 4 broken"},
        {"dock.partner", "1", MF_U32, docks, 3, MF_FIELD_OUTPUT, NULL, &group->partner,
         "group, robot and dock of the partner; 4294967295: none"},
        {"dock.orientation", "1", MF_U32, docks, 1, MF_FIELD_OUTPUT, NULL, &group->orientation,
         "number of the orientation about x"},
        {"dock.joint", "1", MF_U32, docks, 2, MF_FIELD_OUTPUT, NULL, &group->joint,
         "handle of its joint, low and high half"},
        {"dock.load", "1", MF_REAL, docks, 6, MF_FIELD_OUTPUT, &group->load, NULL,
         "force [N] and moment [N m] on the own link, dock's frame"},
        {"dock.wait", "s", MF_REAL, docks, 1, MF_FIELD_OUTPUT, &group->wait, NULL,
         "until its clamp is closed"},
    };
    return mf_attach_states(group->group, rows, sizeof rows / sizeof *rows, error);
}

// The joint itself is taken away at the beginning of the next step: resets may be parallel.
static void reset(mf_Group *of, uint32_t instance, void *user) {
    mf_DockGroup *group = user;
    (void)of;
    for (uint32_t d = 0; d < group->model->dock_count; d++) {
        mf_dock_clear(group, instance, d, MF_DOCK_FREE);
        group->enabled[mf_dock_at(group, instance, d, 1, 0)] = group->model->docks[d].enabled;
    }
}

static void destroy_group(mf_Context *context, void *user) {
    mf_DockGroup *group = user;
    mf_release(context, group->links);
    mf_release(context, group->motions);
    mf_release(context, group);
}

static mf_Status add_system(mf_DockGroup *group, const mf_WorldDocksConfig *config,
                            mf_Error *error) {
    static const char *const nothing[] = {NULL};
    mf_SystemConfig system = mf_system_config();
    system.name = system_name;
    system.phase = MF_PHASE_AFTER;
    system.reset = reset;
    system.destroy = destroy_group;
    system.user = group;
    system.reads = system.writes = nothing;
    system.settings_hash = mf_hash_doubles(MF_HASH_START, &config->time, 1);
    return mf_group_add_system(group->group, &system, error);
}

// ---- groups -------------------------------------------------------------------------------------

// Links with docks and those on the way to them, in rising order, without the base.
static mf_Status list_links(mf_DockGroup *group, mf_Context *context, mf_Error *error) {
    const mf_Model *model = group->model;
    MF_TRY(MF_ALLOCATE(context, "docks", error, MF_ARRAY(group->links, model->link_count)));
    for (uint32_t d = 0; d < model->dock_count; d++)
        for (uint32_t l = model->docks[d].frame.link; l != 0; l = model->links[l].parent)
            group->links[l] = 1; // a flag first
    for (uint32_t l = 1; l < model->link_count; l++)
        if (group->links[l])
            group->links[group->link_count++] = l;
    return MF_OK;
}

static mf_Status create_group(mf_WorldDocks *docks, mf_Group *of, uint32_t index,
                              mf_DockGroup **out, mf_Error *error) {
    MF_TRY(MF_ALLOCATE(docks->context, "docks", error, MF_ARRAY(*out, 1)));
    mf_DockGroup *group = *out;
    *group = (mf_DockGroup){.docks = docks,
                            .group = of,
                            .model = mf_group_model(of),
                            .index = index,
                            .first = docks->port_count,
                            .first_robot = docks->robot_count,
                            .robots = mf_group_count(of),
                            .fault = mf_group_find_field(of, "fault.word")->data};
    mf_Status status = mf_attach_check(of, system_name, (mf_Rate){1, 1}, error);
    MF_THEN(status, mf_solver_add_group(docks->joints->solver, of, false, error));
    MF_THEN(status, list_links(group, docks->context, error));
    if (status == MF_OK) {
        const mf_TrialStep *trial = docks->joints->solver->trials[index];
        group->motion_size = (mf_link_motions_size(&trial->links) + 7) / 8 * 8;
        status =
            MF_ALLOCATE(docks->context, "docks", error,
                        MF_ARRAY(group->motions, mf_group_block_count(of) * group->motion_size));
    }
    MF_THEN(status, add_fields(group, error));
    MF_THEN(status, add_system(group, &docks->config, error));
    if (status != MF_OK) {
        destroy_group(docks->context, group);
        *out = NULL;
    }
    return status;
}

static void note_reach(mf_WorldDocks *docks, const mf_Model *model) {
    for (uint32_t d = 0; d < model->dock_count; d++) {
        const mf_Dock *dock = &model->docks[d];
        const double own =
            dock->pull > 0.0 && dock->range > dock->distance ? dock->range : dock->distance;
        docks->reach = own > docks->reach ? own : docks->reach;
        docks->magnets = docks->magnets || dock->pull > 0.0;
    }
}

// [1] Blocks of the response of a robot to all links with docks.
static uint64_t blocks_of(const mf_Model *model) {
    uint64_t links = 0;
    for (uint32_t l = 0; l < model->link_count; l++) {
        bool any = false;
        for (uint32_t d = 0; d < model->dock_count; d++)
            any = any || model->docks[d].frame.link == l;
        links += any;
    }
    return links * links;
}

static mf_Status add_groups(mf_WorldDocks *docks, uint64_t *blocks, mf_Error *error) {
    mf_DockGroup **end = &docks->groups;
    *blocks = 0;
    const uint32_t count = mf_world_group_count(docks->world);
    MF_TRY(MF_ALLOCATE(docks->context, "docks", error, MF_ARRAY(docks->group_of, count)));
    docks->world_groups = count;
    for (uint32_t g = 0; g < count; g++) {
        mf_Group *of = mf_world_group(docks->world, g);
        const mf_Model *model = mf_group_model(of);
        if (model->dock_count == 0 || mf_group_config_of(of)->isolated)
            continue;
        const uint64_t ports = (uint64_t)mf_group_count(of) * model->dock_count;
        MF_TRY(mf_joints_check_group(of, error));
        if (docks->port_count + ports > MF_DOCKS_LIMIT)
            return mf_fail(error, MF_LIMIT, "docks: more than %d of all robots", MF_DOCKS_LIMIT);
        MF_TRY(create_group(docks, of, g, end, error));
        docks->group_of[g] = *end;
        end = &(*end)->next;
        docks->port_count += (uint32_t)ports;
        docks->robot_count += mf_group_count(of);
        docks->block_count += mf_group_block_count(of);
        *blocks += mf_group_count(of) * blocks_of(model);
        note_reach(docks, model);
    }
    return docks->groups != NULL
               ? MF_OK
               : mf_fail(error, MF_BAD_ARGUMENT, "docks: no shared group has a model with docks");
}

// ---- memory -------------------------------------------------------------------------------------

static mf_Status reserve(mf_WorldDocks *docks, uint64_t blocks, mf_Error *error) {
    const size_t ports = docks->port_count, pairs = MF_DOCKS_PAIRS * ports;
    docks->bucket_count = 16;
    while (docks->bucket_count < 2 * docks->port_count)
        docks->bucket_count *= 2;
    const mf_Array arrays[] = {MF_ARRAY(docks->sites, ports),
                               MF_ARRAY(docks->pairs, pairs),
                               MF_ARRAY(docks->pushes, docks->magnets ? 2 * pairs : 1),
                               MF_ARRAY(docks->buckets, docks->bucket_count + 1),
                               MF_ARRAY(docks->sorted, ports),
                               MF_ARRAY(docks->mated, ports),
                               MF_ARRAY(docks->blocks, docks->block_count)};
    if (!mf_allocate_arrays(docks->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "docks: out of memory");
    uint32_t next = 0;
    for (mf_DockGroup *group = docks->groups; group != NULL; group = group->next)
        for (uint32_t b = 0; b < mf_group_block_count(group->group); b++)
            docks->blocks[next++] = (mf_DockBlock){.group = group, .block = b};
    mf_WorldJoints *joints = docks->joints;
    MF_CHECK(blocks <= UINT32_MAX / 64, error, MF_LIMIT, "docks: too many links with docks");
    joints->reserved = docks->port_count / 2;
    joints->reserved_blocks = (uint32_t)blocks;
    MF_TRY(mf_joints_ensure_capacity(joints, error));
    return mf_joints_reserve(joints, joints->records, joints->used, error);
}

static void destroy(mf_Context *context, void *user) {
    mf_WorldDocks *docks = user;
    mf_assemblies_destroy(docks->assemblies);
    mf_release(context, docks->group_of);
    mf_release(context, docks->sites);
    mf_release(context, docks);
}

static mf_Status check_config(const mf_World *world, const mf_WorldDocksConfig *config,
                              mf_Error *error) {
    const double step = (double)mf_world_config_of(world)->step * 1e-9;
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "docks: start from mf_world_docks_config()");
    MF_NEED(config->time == 0.0 || (config->time >= step && config->time <= 1e6), error,
            "docks.time: %g, need 0 or %g .. 1e6 s", config->time, step);
    return mf_world_docks_of(world) == NULL
               ? MF_OK
               : mf_fail(error, MF_BAD_ARGUMENT, "docks: the world has them already");
}

mf_Status mf_world_docks_add(mf_World *world, const mf_WorldDocksConfig *config,
                             mf_WorldDocks **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_WorldDocksConfig settings = config != NULL ? *config : mf_world_docks_config();
    uint64_t blocks = 0;
    MF_NEED(world != NULL && out != NULL, error, "docks: world or out is NULL");
    *out = NULL;
    MF_TRY(check_config(world, &settings, error));
    mf_WorldJoints *joints = mf_world_joints_of(world);
    if (joints == NULL)
        MF_TRY(mf_world_joints_add(world, NULL, &joints, error));
    mf_Context *context = mf_world_context(world);
    mf_WorldDocks *docks;
    MF_TRY(MF_ALLOCATE(context, "docks", error, MF_ARRAY(docks, 1)));
    docks->context = context;
    docks->world = world;
    docks->joints = joints;
    docks->config = settings;
    mf_Status status = add_groups(docks, &blocks, error);
    MF_THEN(status, reserve(docks, blocks, error));
    MF_THEN(status, mf_assemblies_create(docks, &docks->assemblies, error));
    MF_THEN(status, mf_world_keep(world, system_name, docks, destroy, error));
    if (status != MF_OK) {
        destroy(context, docks);
        return status;
    }
    joints->assemblies = docks->assemblies;
    *out = docks;
    for (mf_DockGroup *group = docks->groups; group != NULL; group = group->next)
        for (uint32_t i = 0; i < group->robots; i++)
            reset(group->group, i, group);
    return MF_OK;
}

mf_WorldDocks *mf_world_docks_of(const mf_World *world) {
    return world != NULL ? mf_world_kept(world, system_name) : NULL;
}

mf_DocksStatistics mf_docks_statistics(const mf_WorldDocks *docks) {
    return docks != NULL ? docks->statistics : (mf_DocksStatistics){.joined = 0};
}

// ---- connections by calls -----------------------------------------------------------------------

static mf_Status take_port(const mf_WorldDocks *docks, const mf_DockPort *port, bool free,
                           mf_DockSite *out, mf_Error *error) {
    mf_DockGroup *group = docks->groups;
    while (group != NULL && (port == NULL || group->group != port->group))
        group = group->next;
    if (group == NULL || port->instance >= group->robots || port->dock >= group->model->dock_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "docks: no such group with docks, robot or dock");
    *out =
        (mf_DockSite){.port = group->first + port->instance * group->model->dock_count + port->dock,
                      .group = group,
                      .instance = port->instance,
                      .dock = &group->model->docks[port->dock]};
    const size_t at = mf_dock_at(group, port->instance, port->dock, 1, 0);
    if (free && (group->enabled[at] == 0 || group->state[at] == MF_DOCK_ENGAGED))
        return mf_fail(error, MF_BAD_ARGUMENT, "dock %.100s of robot %u of group %.60s is %s",
                       out->dock->name, port->instance, mf_group_config_of(group->group)->name,
                       group->enabled[at] == 0 ? "not enabled" : "docked already");
    return MF_OK;
}

static mf_Status take_ports(const mf_WorldDocks *docks, const mf_DockPort *first,
                            const mf_DockPort *second, uint32_t orientation, bool free,
                            mf_DockSite out[2], mf_Error *error) {
    MF_NEED(docks != NULL, error, "docks: docks is NULL");
    MF_TRY(take_port(docks, first, free, &out[0], error));
    MF_TRY(take_port(docks, second, free, &out[1], error));
    const mf_Dock *a = out[0].dock, *b = out[1].dock;
    if (out[0].group == out[1].group && out[0].instance == out[1].instance &&
        a->frame.link == b->frame.link)
        return mf_fail(error, MF_BAD_ARGUMENT, "docks %.100s and %.100s are on the same link",
                       a->name, b->name);
    MF_NEED(mf_dock_fits(a, b), error, "docks %.100s and %.100s do not fit: genders or types",
            a->name, b->name);
    const uint32_t orientations = mf_dock_orientations(a, b);
    if (orientation >= orientations)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "docks %.100s and %.100s: orientation %u, need less than %u", a->name,
                       b->name, orientation, orientations);
    return MF_OK;
}

mf_Status mf_docks_connect(mf_WorldDocks *docks, const mf_DockPort *first,
                           const mf_DockPort *second, uint32_t orientation, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_DockSite sites[2];
    MF_TRY(take_ports(docks, first, second, orientation, true, sites, error));
    mf_docks_join(docks, sites, orientation);
    return MF_OK;
}

mf_Status mf_docks_disconnect(mf_WorldDocks *docks, const mf_DockPort *port, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_DockSite site;
    MF_NEED(docks != NULL, error, "docks: docks is NULL");
    MF_TRY(take_port(docks, port, false, &site, error));
    const mf_WorldJointId id = mf_dock_joint(site.group, port->instance, port->dock);
    MF_CHECK(mf_joints_find(docks->joints, id) != NULL, error, MF_NOT_FOUND,
             "dock %.100s of robot %u is not docked", site.dock->name, port->instance);
    mf_docks_part(docks, (uint32_t)id, MF_DOCK_FREE);
    docks->statistics.released++;
    return MF_OK;
}

// Pose of a dock, with the joints that its robot has now.
static void find_pose(mf_DockSite *site) {
    const mf_TrialStep *trial = site->group->docks->joints->solver->trials[site->group->index];
    mf_LinkMotion motion;
    mf_link_motion_read(&motion, &trial->links, site->instance, site->dock->frame.link,
                        trial->values);
    mf_dock_find_pose(site, trial->values);
}

mf_Status mf_docks_mating_pose(mf_WorldDocks *docks, const mf_DockPort *fixed,
                               const mf_DockPort *moving, uint32_t dock_orientation,
                               double position[3], double orientation[4], mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_DockSite sites[2];
    double facing[4], target[4], back[4], rotate[4], base[3], base_rotation[4], arm[3];
    if (position == NULL || orientation == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_docks_mating_pose: an output is NULL");
    MF_TRY(take_ports(docks, fixed, moving, dock_orientation, false, sites, error));
    find_pose(&sites[0]);
    find_pose(&sites[1]);
    mf_dock_facing(facing, dock_orientation, mf_dock_orientations(sites[0].dock, sites[1].dock));
    mf_quat_multiply(target, sites[0].orientation, facing);
    mf_quat_conjugate(back, sites[1].orientation);
    mf_quat_multiply(rotate, target, back); // what takes the moving dock to where it mates
    mf_field_read(mf_group_find_field(moving->group, "base.position"), moving->instance, 0, 3,
                  base);
    mf_field_read(mf_group_find_field(moving->group, "base.orientation"), moving->instance, 0, 4,
                  base_rotation);
    mf_vec3_sub(arm, base, sites[1].position);
    mf_quat_rotate(arm, rotate, arm);
    mf_vec3_add(position, sites[0].position, arm);
    mf_quat_multiply(orientation, rotate, base_rotation);
    mf_quat_normalize(orientation);
    return MF_OK;
}

// ---- assemblies ---------------------------------------------------------------------------------

uint32_t mf_docks_robot_count(const mf_WorldDocks *docks) {
    return docks != NULL ? docks->robot_count : 0;
}

static uint32_t root_of(uint32_t *parents, uint32_t robot) {
    while (parents[robot] != robot)
        robot = parents[robot] = parents[parents[robot]];
    return robot;
}

// Sets of connected robots, each named by its lowest (Galler and Fischer 1964).
uint32_t mf_docks_assemblies(const mf_WorldDocks *docks, uint32_t *out) {
    if (docks == NULL || out == NULL)
        return 0;
    uint32_t count = docks->robot_count;
    for (uint32_t i = 0; i < docks->robot_count; i++)
        out[i] = i;
    for (uint32_t slot = 0; slot < docks->joints->used; slot++) {
        const mf_JointRecord *record = &docks->joints->records[slot];
        uint32_t ends[2];
        if (!mf_dock_holds(record))
            continue;
        for (uint32_t s = 0; s < 2; s++)
            ends[s] = root_of(out, mf_docks_group(docks, record->group[s])->first_robot +
                                       record->instance[s]);
        if (ends[0] == ends[1])
            continue;
        count--;
        out[ends[0] > ends[1] ? ends[0] : ends[1]] = ends[0] < ends[1] ? ends[0] : ends[1];
    }
    for (uint32_t i = 0; i < docks->robot_count; i++)
        out[i] = root_of(out, i);
    return count;
}
