// Docks of a scene that are joined at the start.
//
// Connections are made in order: chains of the groups, then the list `docks`. Each moves the robot
// of its second dock to the first, or, if that one is connected already, the other; if both are,
// the second with all that is docked to it, or the first if nothing there is fixed. Docks within an
// assembly close a loop and must meet. Then each assembly is raised out of the ground.
#include "scene/modules/modules.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/points.h"

#include "io/suggest.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <mayfly/model_fields.h>
#include <mayfly/dynamics.h>
#include <mayfly/motion.h>

#include <stdio.h>
#include <string.h>

// [m], [rad] How far docks that close a loop may be apart at the start.
static const double loop_most = 0.01, loop_angle = 0.1;

typedef struct Link {
    mf_DockPort ports[2];
    uint32_t orientation;
    int32_t line, column; // [1] in the file
} Link;

typedef struct Plan {
    mf_SceneBuilder *builder;
    mf_WorldDocks *docks;
    Link *links;
    uint32_t count; // [1]
    uint32_t
        *assembly;   // [1] per robot of all groups: its assembly, named by the lowest of its robots
    uint32_t *next;  // [1] per robot: the next one of its assembly, in a ring
    bool *fixed;     // per assembly: one of its robots is
    uint32_t *first; // [1] per group: number of its first robot
    uint32_t robots; // [1] of all
} Plan;

static mf_Status refuse(const Plan *plan, const Link *link, mf_Status status, const char *message) {
    return mf_fail_at(plan->builder->error, status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status,
                      plan->builder->file->file, link->line, link->column, "docks: %s", message);
}

// ---- connections of the file --------------------------------------------------------------------

static const char *dock_name(const void *model, uint32_t index) {
    const mf_Model *of = model;
    return index < of->dock_count ? of->docks[index].name : NULL;
}

static mf_Status find_dock(const Plan *plan, const Link *link, const char *name,
                           mf_DockPort *port) {
    const mf_Model *model = mf_group_model(port->group);
    char near[MF_SUGGESTION], message[400];
    port->dock = mf_model_find(model, MF_ITEM_DOCK, name);
    if (port->dock != MF_NONE)
        return MF_OK;
    snprintf(message, sizeof message, "group %.80s (%.60s) has no dock '%.80s'%s",
             mf_group_config_of(port->group)->name, model->name, name,
             mf_suggest(name, dock_name, model, near));
    return refuse(plan, link, MF_BAD_FILE, message);
}

// Consecutive robots of a group; `closed`: the last one to the first, too.
static mf_Status list_chain(Plan *plan, uint32_t index) {
    const mf_SceneGroup *from = &plan->builder->file->groups[index];
    mf_Group *group = mf_world_group(plan->builder->scene->world, index);
    const uint32_t count = mf_group_count(group), links = count - (from->chain.closed ? 0 : 1);
    if (from->chain.first[0] == '\0')
        return MF_OK;
    for (uint32_t i = 0; i < links && count > 1; i++) {
        Link *link = &plan->links[plan->count];
        *link = (Link){.ports = {{group, i, 0}, {group, (i + 1) % count, 0}},
                       .orientation = from->chain.orientation,
                       .line = from->chain.line,
                       .column = from->chain.column};
        MF_TRY(find_dock(plan, link, from->chain.first, &link->ports[0]));
        MF_TRY(find_dock(plan, link, from->chain.second, &link->ports[1]));
        plan->count++;
    }
    return MF_OK;
}

static mf_Status list_entry(Plan *plan, const mf_SceneDock *from) {
    Link *link = &plan->links[plan->count++];
    *link = (Link){.orientation = from->orientation, .line = from->line, .column = from->column};
    for (uint32_t s = 0; s < 2; s++) {
        mf_DockPort *port = &link->ports[s];
        port->group = mf_world_find_group(plan->builder->scene->world, from->sides[s].group);
        port->instance = from->sides[s].robot; // the name was checked by the reader
        if (port->instance >= mf_group_count(port->group))
            return refuse(plan, link, MF_BAD_FILE, "robot: the group has fewer robots");
        MF_TRY(find_dock(plan, link, from->sides[s].dock, port));
    }
    return MF_OK;
}

// The first dock of a robot.
static mf_DockPort robot_at(const Plan *plan, uint32_t robot) {
    const uint32_t group =
        mf_find_part(plan->first, sizeof *plan->first, plan->builder->file->group_count, robot);
    return (mf_DockPort){mf_world_group(plan->builder->scene->world, group),
                         robot - plan->first[group], 0};
}

// Bolted to the world, or moved by nothing but the user's program.
static bool is_fixed(const mf_DockPort *robot) {
    return mf_group_model(robot->group)->base != MF_BASE_FREE ||
           mf_motion_in(robot->group, MF_MOTION_EXTERNAL);
}

static mf_Status make_plan(Plan *plan) {
    const mf_SceneFile *file = plan->builder->file;
    size_t capacity = file->dock_count;
    for (uint32_t i = 0; i < file->group_count; i++) {
        plan->robots += mf_scene_group_count(plan->builder, i);
        capacity +=
            file->groups[i].chain.first[0] != '\0' ? mf_scene_group_count(plan->builder, i) : 0;
    }
    const mf_Array arrays[] = {
        MF_ARRAY(plan->links, capacity + 1), MF_ARRAY(plan->assembly, plan->robots),
        MF_ARRAY(plan->next, plan->robots), MF_ARRAY(plan->fixed, plan->robots),
        MF_ARRAY(plan->first, file->group_count + 1)};
    if (!mf_allocate_arrays(plan->builder->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(plan->builder->error, MF_NO_MEMORY, "scene: out of memory");
    for (uint32_t i = 0; i < file->group_count; i++)
        plan->first[i + 1] = plan->first[i] + mf_scene_group_count(plan->builder, i);
    for (uint32_t i = 0; i < plan->robots; i++) {
        const mf_DockPort robot = robot_at(plan, i);
        plan->assembly[i] = plan->next[i] = i;
        plan->fixed[i] = is_fixed(&robot);
    }
    for (uint32_t i = 0; i < file->group_count; i++)
        MF_TRY(list_chain(plan, i));
    for (uint32_t i = 0; i < file->dock_count; i++)
        MF_TRY(list_entry(plan, &file->docks[i]));
    return MF_OK;
}

// ---- places -------------------------------------------------------------------------------------

static uint32_t number_of(const Plan *plan, const mf_DockPort *port) {
    return plan->first[mf_world_group_number(plan->builder->scene->world, port->group)] +
           port->instance;
}

// Puts a robot's base at a pose; its joints and other fields stay.
static mf_Status move_to(const Plan *plan, const mf_DockPort *robot, const double position[3],
                         const double orientation[4]) {
    mf_Group *group = robot->group;
    const uint32_t instance = robot->instance;
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = plan->builder->context;
    double *q = mf_allocate(context, (size_t)model->position_count + 7, sizeof *q);
    double *v = mf_allocate(context, (size_t)model->velocity_count + 6, sizeof *v);
    mf_Status status = MF_OK;
    if (q == NULL || v == NULL) {
        status = mf_fail(plan->builder->error, MF_NO_MEMORY, "scene: out of memory");
    } else {
        mf_group_get_position(group, instance, q);
        status =
            mf_group_set_start(group, instance, position, orientation, NULL, plan->builder->error);
    }
    if (status == MF_OK && model->base == MF_BASE_FREE) {
        memcpy(q, position, 3 * sizeof *q);
        memcpy(q + 3, orientation, 4 * sizeof *q);
    }
    if (status == MF_OK) {
        mf_group_set_state(group, instance, q, v);
        mf_group_refresh(group, instance);
    }
    mf_release(context, q);
    mf_release(context, v);
    return status;
}

static bool is_alone(const Plan *plan, uint32_t robot) {
    return plan->next[robot] == robot;
}

// The first of both names stays; robots of the other are renamed.
static void unite(Plan *plan, uint32_t a, uint32_t b) {
    const uint32_t x = plan->assembly[a], y = plan->assembly[b];
    const uint32_t low = x < y ? x : y, high = x < y ? y : x;
    uint32_t robot = high;
    do {
        plan->assembly[robot] = low;
        robot = plan->next[robot];
    } while (robot != high);
    const uint32_t keep = plan->next[high]; // two rings become one
    plan->next[high] = plan->next[low];
    plan->next[low] = keep;
    plan->fixed[low] = plan->fixed[low] || plan->fixed[high];
}

static void read_base(const mf_DockPort *port, double position[3], double orientation[4]) {
    mf_field_read(mf_group_find_field(port->group, "base.position"), port->instance, 0, 3,
                  position);
    mf_field_read(mf_group_find_field(port->group, "base.orientation"), port->instance, 0, 4,
                  orientation);
}

// Both robots are placed: their docks must mate.
static mf_Status check_loop(const Plan *plan, const Link *link) {
    double position[3], orientation[4], at[3], now[4], back[4], error[4];
    char message[200];
    mf_Error cause = {0};
    mf_Status status = mf_docks_mating_pose(plan->docks, &link->ports[0], &link->ports[1],
                                            link->orientation, position, orientation, &cause);
    if (status != MF_OK)
        return refuse(plan, link, status, cause.message);
    read_base(&link->ports[1], at, now);
    mf_vec3_sub(at, at, position);
    const double away = mf_vec3_length(at);
    mf_quat_conjugate(back, now);
    mf_quat_multiply(error, back, orientation);
    const double angle = 2.0 * mf_atan2(mf_vec3_length(error + 1), mf_abs(error[0]));
    if (away <= loop_most && angle <= loop_angle)
        return MF_OK;
    snprintf(message, sizeof message,
             "the docks that close a loop are %.4g m and %.4g rad apart at the start, expected at "
             "most %g m and %g rad",
             away, angle, loop_most, loop_angle);
    return refuse(plan, link, MF_BAD_FILE, message);
}

static bool assembly_is_fixed(const Plan *plan, uint32_t robot) {
    return plan->fixed[plan->assembly[robot]];
}

// Moves the robot of a port to a pose, and all of its assembly with it.
static mf_Status move_assembly(const Plan *plan, const mf_DockPort *port, const double position[3],
                               const double orientation[4]) {
    const uint32_t first = number_of(plan, port);
    uint32_t i = first;
    double from[3], now[4], back[4], rotation[4];
    read_base(port, from, now);
    mf_quat_conjugate(back, now);
    mf_quat_multiply(rotation, orientation, back);
    do {
        const mf_DockPort member = robot_at(plan, i);
        double at[3], rotated[4];
        read_base(&member, at, rotated);
        mf_vec3_sub(at, at, from);
        mf_quat_rotate(at, rotation, at);
        mf_vec3_add(at, at, position);
        mf_quat_multiply(rotated, rotation, rotated);
        mf_quat_normalize(rotated);
        MF_TRY(move_to(plan, &member, at, rotated));
        i = plan->next[i];
    } while (i != first);
    return MF_OK;
}

// Whether the second port's robot is moved, not the first one's.
static bool moves_second(const Plan *plan, uint32_t a, uint32_t b) {
    if (assembly_is_fixed(plan, a) || assembly_is_fixed(plan, b))
        return !assembly_is_fixed(plan, b);
    return is_alone(plan, b) || !is_alone(plan, a);
}

static mf_Status place(Plan *plan, const Link *link) {
    const uint32_t a = number_of(plan, &link->ports[0]), b = number_of(plan, &link->ports[1]);
    double position[3], orientation[4];
    mf_Error cause = {0};
    if (plan->assembly[a] == plan->assembly[b])
        return check_loop(plan, link);
    if (assembly_is_fixed(plan, a) && assembly_is_fixed(plan, b))
        return refuse(plan, link, MF_BAD_FILE,
                      "both robots are fixed, or docked to fixed ones: expected one that moves");
    const bool second = moves_second(plan, a, b);
    const mf_DockPort *moving = &link->ports[second ? 1 : 0], *fixed = &link->ports[second ? 0 : 1];
    // A dock faces its partner as that faces it: the relation is its own inverse.
    mf_Status status = mf_docks_mating_pose(plan->docks, fixed, moving, link->orientation, position,
                                            orientation, &cause);
    if (status != MF_OK)
        return refuse(plan, link, status, cause.message);
    status = move_assembly(plan, moving, position, orientation);
    unite(plan, a, b);
    return status;
}

// ---- the ground ---------------------------------------------------------------------------------

// [m] How deep a robot is in the ground; < 0: above it.
static mf_Status depth_of(const Plan *plan, mf_Group *group, uint32_t instance, double *out) {
    const mf_Model *model = mf_group_model(group);
    const mf_Terrain *ground = plan->builder->scene->terrain;
    double *values = mf_allocate(plan->builder->context, model->link_count, 7 * sizeof *values);
    MF_NEED_MEMORY(values != NULL, plan->builder->error, "scene");
    double(*at)[3] = (double(*)[3])values;
    double(*rotated)[4] = (double(*)[4])(values + 3 * (size_t)model->link_count);
    mf_Status status =
        mf_group_link_poses(group, instance, 1, at[0], rotated[0], plan->builder->error);
    *out = -1e9;
    for (uint32_t i = 0; i < model->shape_count && status == MF_OK; i++) {
        const uint32_t link = model->shapes[i].link;
        double point[3], position[3];
        if (!model->shapes[i].collides || link == MF_NONE)
            continue;
        mf_model_shape_lowest(model, i, at[link], rotated[link], point);
        mf_quat_rotate(position, rotated[link], point);
        mf_vec3_add(position, position, at[link]);
        const double height =
            ground != NULL ? mf_terrain_height(ground, position[0], position[1], NULL) : 0.0;
        *out = height - position[2] > *out ? height - position[2] : *out;
    }
    mf_release(plan->builder->context, values);
    return status;
}

// Raises all robots of an assembly by the depth of the deepest, unless one is fixed in the world.
static mf_Status raise(const Plan *plan, uint32_t name) {
    double most = 0.0;
    uint32_t i = name;
    if (plan->fixed[name])
        return MF_OK;
    do {
        const mf_DockPort robot = robot_at(plan, i);
        double depth = 0.0;
        MF_TRY(depth_of(plan, robot.group, robot.instance, &depth));
        most = depth > most ? depth : most;
        i = plan->next[i];
    } while (i != name);
    if (is_alone(plan, name) || !(most > 0.0))
        return MF_OK;
    do {
        const mf_DockPort robot = robot_at(plan, i);
        double position[3], orientation[4];
        read_base(&robot, position, orientation);
        position[2] += most;
        MF_TRY(move_to(plan, &robot, position, orientation));
        i = plan->next[i];
    } while (i != name);
    return MF_OK;
}

// ---- all ----------------------------------------------------------------------------------------

static mf_Status connect(const Plan *plan, const Link *link) {
    mf_Error cause = {0};
    mf_Status status =
        mf_docks_connect(plan->docks, &link->ports[0], &link->ports[1], link->orientation, &cause);
    return status == MF_OK ? MF_OK : refuse(plan, link, status, cause.message);
}

mf_Status mf_scene_connect_docks(mf_SceneBuilder *builder, mf_WorldDocks *docks) {
    Plan plan = {.builder = builder, .docks = docks};
    mf_Status status = make_plan(&plan);
    for (uint32_t i = 0; i < plan.count && status == MF_OK; i++)
        status = place(&plan, &plan.links[i]);
    for (uint32_t i = 0; i < plan.robots && status == MF_OK && plan.count > 0; i++)
        if (plan.assembly[i] == i)
            status = raise(&plan, i);
    for (uint32_t i = 0; i < builder->file->group_count && status == MF_OK; i++)
        status = mf_scene_write_initial(builder, i);
    for (uint32_t i = 0; i < plan.count && status == MF_OK; i++)
        status = connect(&plan, &plan.links[i]);
    mf_release(builder->context, plan.links); // with all other arrays
    return status;
}
