// Worlds made from files of robots: ground, groups with their motions, start places, gaits,
// collisions, rules, behaviours, in this order.
#include "robots/scene.h"

#include "math/scalar.h"

#include <mayfly/instruments.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MOST = 4200 }; // [byte] of a gait's file

// What making passes around.
typedef struct Maker {
    mf_Context *context;
    const mf_Robots *robots;
    mf_RobotsScene *scene;
    mf_Error *error;
} Maker;

// A gait that is said by its file, not by its name.
static bool is_file(const char *gait) {
    size_t length = strlen(gait);
    return strchr(gait, '/') != NULL || (length > 5 && strcmp(gait + length - 5, ".yaml") == 0);
}

mf_Status mf_gait_locate(const char *robot, const char *gait, char *out, size_t size,
                         mf_Error *error) {
    if (robot == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_gait_locate: robot is NULL");
    const char *name = strrchr(robot, '/');
    int used;
    name = name == NULL ? robot : name + 1;
    const char *dot = strrchr(name, '.');
    int stem = dot == NULL ? (int)strlen(name) : (int)(dot - name);
    if (is_file(gait))
        used = snprintf(out, size, "%s", gait);
    else
        used = snprintf(out, size, "%.*sgaits/%.*s/%s.yaml", (int)(name - robot), robot, stem, name,
                        gait);
    return used >= 0 && (size_t)used < size ? MF_OK
                                            : mf_fail_at(error, MF_LIMIT, robot, 0, 0,
                                                         "gait %.100s: the path is too long", gait);
}

// ---- motions -----------------------------------------------------------------------------------

static bool is_scenery(const mf_Model *model) {
    return model->base == MF_BASE_FIXED && model->joint_count == 0;
}

// The levels that the rules name, and the one at the start.
static mf_MotionsConfig motions_of(const mf_RobotsGroup *from) {
    mf_MotionsConfig config = mf_motions_config();
    config.start = from->motion == MF_ROBOTS_OWN ? MF_MOTION_OWN : from->motion;
    for (uint32_t i = 0; i < from->rule_count; i++)
        if (from->rules[i].to != MF_ROBOTS_OWN)
            config.has[from->rules[i].to] = true;
    mf_motions_set_shapes(&config, true);
    mf_motions_set_control(&config, from->control_interval);
    return config;
}

// Files are meant from the folder of the file of robots on.
static mf_Status locate_gait(const Maker *maker, const mf_RobotsGroup *from, const char *gait,
                             char out[PATH_MOST]) {
    const char *file = maker->robots->file;
    const char *slash = file == NULL ? NULL : strrchr(file, '/');
    char path[PATH_MOST];
    int folder = slash == NULL || !is_file(gait) || gait[0] == '/' ? 0 : (int)(slash - file) + 1;
    int used = snprintf(path, sizeof path, "%.*s%s", folder, folder == 0 ? "" : file, gait);
    if (used < 0 || (size_t)used >= sizeof path)
        return mf_fail_at(maker->error, MF_LIMIT, file, 0, 0, "gait %.100s: the path is too long",
                          gait);
    return mf_gait_locate(from->model_path, path, out, PATH_MOST, maker->error);
}

static mf_Status add_plugin(const Maker *maker, mf_Group *group, const mf_RobotsPlugin *from) {
    mf_PluginConfig config = mf_plugin_config();
    mf_Plugin *plugin = NULL;
    config.values = from->values;
    config.value_count = from->value_count;
    mf_Status status = mf_plugin_load_named(maker->context, from->path, &plugin, maker->error);
    if (status != MF_OK)
        return status;
    if (mf_plugin_describe(plugin)->kind == MF_PLUGIN_MOTION)
        status = mf_plugin_motion_add(group, plugin, &config, NULL, maker->error);
    else
        status = mf_plugin_control_add(group, from->tick, plugin, &config, maker->error);
    mf_plugin_close(plugin); // the group keeps it loaded
    return status;
}

static bool wants_own(const mf_RobotsGroup *from) {
    bool wants = from->motion == MF_ROBOTS_OWN;
    for (uint32_t i = 0; i < from->rule_count; i++)
        wants = wants || from->rules[i].to == MF_ROBOTS_OWN;
    return wants;
}

static mf_Status add_plugins(const Maker *maker, const mf_RobotsGroup *from, mf_Group *group) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < from->plugin_count && status == MF_OK; i++)
        status = add_plugin(maker, group, &from->plugins[i]);
    if (status == MF_OK && wants_own(from) && !mf_motion_in(group, MF_MOTION_OWN))
        status = mf_fail(maker->error, MF_BAD_ARGUMENT,
                         "group %s: motion own: none of its plugins is a motion", from->name);
    return status;
}

static mf_Status add_gaits(const Maker *maker, uint32_t index, mf_Group *group) {
    const mf_RobotsGroup *from = &maker->robots->groups[index];
    mf_GaitConfig config = mf_gait_config();
    config.rate = mf_rate_from_period(from->control_interval);
    config.first = MF_NONE;
    for (uint32_t i = 0; i < from->gait_count; i++) {
        char path[PATH_MOST];
        mf_Status status = locate_gait(maker, from, from->gaits[i], path);
        if (status == MF_OK)
            status = mf_gait_load(maker->context, path, maker->scene->models[index],
                                  &maker->scene->gaits[index][i], maker->error);
        if (status != MF_OK)
            return status;
    }
    if (from->gait_count == 0)
        return MF_OK;
    return mf_gaits_add(group, (const mf_Gait *const *)maker->scene->gaits[index], from->gait_count,
                        &config, maker->error);
}

static mf_Status add_group(const Maker *maker, uint32_t index) {
    const mf_RobotsGroup *from = &maker->robots->groups[index];
    mf_Model **model = &maker->scene->models[index];
    mf_Status status = mf_model_load(maker->context, from->model_path, NULL, model, maker->error);
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
    if (status != MF_OK || is_scenery(*model))
        return status;
    if (maker->robots->collide && from->collides)
        status = mf_collisions_prepare(group, maker->error);
    mf_MotionsConfig motions = motions_of(from);
    if (status == MF_OK)
        status = mf_motions_add(group, &motions, maker->error);
    if (status == MF_OK)
        status = add_plugins(maker, from, group);
    if (status == MF_OK)
        status = add_gaits(maker, index, group);
    if (status == MF_OK && from->sensors)
        status = mf_instruments_add(group, NULL, maker->error);
    return status;
}

// ---- places ------------------------------------------------------------------------------------

// The pose that a robot starts in, and how low it reaches below the origin of the base [m].
typedef struct Pose {
    double *angle;
    double (*place)[3], (*turn)[4];
    double lowest; // [m]
} Pose;

static mf_Status find_pose(const Maker *maker, uint32_t index, Pose *pose) {
    static const double still[3] = {0.0, 0.0, 0.0};
    const mf_Model *model = maker->scene->models[index];
    const mf_Gait *gait = maker->scene->gaits[index][0];
    mf_Status status = MF_OK;
    pose->angle = mf_allocate(maker->context, model->joint_count + 1, sizeof *pose->angle);
    pose->place = mf_allocate(maker->context, model->link_count, sizeof *pose->place);
    pose->turn = mf_allocate(maker->context, model->link_count, sizeof *pose->turn);
    if (pose->angle == NULL || pose->place == NULL || pose->turn == NULL)
        return mf_fail(maker->error, MF_NO_MEMORY, "robots: out of memory");
    memcpy(pose->angle, model->start_angle, model->joint_count * sizeof *pose->angle);
    if (gait != NULL)
        status = mf_gait_sample(gait, model, 0.0, still, pose->angle, maker->error);
    mf_model_pose(model, pose->angle, pose->place, pose->turn);
    bool shapes = maker->robots->groups[index].motion != MF_MOTION_POINTS;
    pose->lowest = mf_model_lowest(model, pose->place, pose->turn, shapes);
    pose->lowest = isfinite(pose->lowest) ? pose->lowest : 0.0;
    return status;
}

static void forget_pose(const Maker *maker, Pose *pose) {
    mf_release(maker->context, pose->angle);
    mf_release(maker->context, pose->place);
    mf_release(maker->context, pose->turn);
}

static void take_up(mf_Group *group, uint32_t robot, const Pose *pose) {
    mf_Field *angle = mf_group_find_field(group, "joint.angle");
    mf_Field *target = mf_group_find_field(group, "joint.target");
    for (uint32_t j = 0; j < mf_group_model(group)->joint_count; j++) {
        mf_field_set(angle, robot, j, pose->angle[j]);
        mf_field_set(target, robot, j, pose->angle[j]);
    }
    mf_group_refresh(group, robot);
}

// Side by side along y when the file says no places.
static mf_Status place_robot(const Maker *maker, uint32_t index, uint32_t robot, const Pose *pose) {
    const mf_RobotsGroup *from = &maker->robots->groups[index];
    mf_Group *group = mf_world_group(maker->scene->world, index);
    bool scenery = is_scenery(maker->scene->models[index]);
    double place[3] = {0.0, robot - 0.5 * (from->count - 1.0), 0.0}, turn[4] = {1.0, 0.0, 0.0, 0.0};
    if (from->place_count > 0) {
        place[0] = from->places[robot][0];
        place[1] = from->places[robot][1];
        mf_sin_cos(0.5 * from->places[robot][2], &turn[3], &turn[0]);
    }
    // What stands in the world has its own heights.
    place[2] = from->lift;
    if (!scenery)
        place[2] +=
            mf_terrain_height(maker->scene->terrain, place[0], place[1], NULL) - pose->lowest;
    mf_Status status = mf_group_place(group, robot, place, turn, NULL, maker->error);
    if (status == MF_OK && !scenery)
        take_up(group, robot, pose);
    return status;
}

static mf_Status place_group(const Maker *maker, uint32_t index) {
    Pose pose = {0};
    mf_Status status = find_pose(maker, index, &pose);
    for (uint32_t i = 0; i < maker->robots->groups[index].count && status == MF_OK; i++)
        status = place_robot(maker, index, i, &pose);
    forget_pose(maker, &pose);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------

static mf_Status make_world(const Maker *maker) {
    const mf_Robots *robots = maker->robots;
    mf_RobotsScene *scene = maker->scene;
    mf_TerrainConfig ground = robots->terrain;
    mf_Status status;
    // Outside the map the border goes on, so one cell is as flat as many and stays in the cache.
    if (robots->generator.shape == MF_TERRAIN_FLAT)
        ground.columns = ground.rows = 1;
    if (robots->terrain_path != NULL)
        status = mf_terrain_load(maker->context, robots->terrain_path, &robots->terrain,
                                 robots->terrain_scale, robots->terrain_offset, &scene->terrain,
                                 maker->error);
    else
        status = mf_terrain_generate(maker->context, &ground, &robots->generator, &scene->terrain,
                                     maker->error);
    if (status != MF_OK)
        return status;
    mf_WorldConfig config = mf_world_config();
    config.step = robots->step;
    config.seed = robots->seed;
    config.gravity = robots->gravity;
    config.terrain = scene->terrain;
    return mf_world_create(maker->context, &config, &scene->world, maker->error);
}

static mf_Status add_collisions(const Maker *maker) {
    mf_CollisionsConfig config = mf_collisions_config();
    mf_CollisionsMember members[MF_ROBOTS_GROUPS];
    for (uint32_t i = 0; i < maker->robots->group_count; i++)
        if (maker->robots->groups[i].collides)
            members[config.member_count++] =
                mf_collisions_member(mf_world_group(maker->scene->world, i));
    if (!maker->robots->collide || config.member_count == 0)
        return MF_OK;
    config.members = members;
    config.friction = maker->robots->friction;
    return mf_collisions_add(maker->scene->world, &config, &maker->scene->collisions, maker->error);
}

// One gait with a constant command.
static void begin_gaits(const Maker *maker, uint32_t index) {
    const mf_RobotsGroup *from = &maker->robots->groups[index];
    mf_Group *group = mf_world_group(maker->scene->world, index);
    uint32_t chosen = 0;
    if (from->behaviour.kind != MF_ROBOTS_GAIT)
        return;
    while (strcmp(from->gaits[chosen], from->behaviour.gait) != 0)
        chosen++; // the reader has seen that it is there
    for (uint32_t i = 0; i < from->count; i++) {
        mf_field_set(mf_group_find_field(group, "gait.select"), i, 0, chosen);
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(mf_group_find_field(group, "gait.command"), i, c,
                         from->behaviour.command[c]);
    }
}

static mf_Status make(const Maker *maker) {
    mf_Status status = make_world(maker);
    for (uint32_t i = 0; i < maker->robots->group_count && status == MF_OK; i++)
        status = add_group(maker, i);
    for (uint32_t i = 0; i < maker->robots->group_count && status == MF_OK; i++)
        status = place_group(maker, i);
    if (status == MF_OK)
        status = add_collisions(maker);
    if (status == MF_OK)
        status = mf_robots_add_rules(maker->scene, maker->error);
    if (status == MF_OK)
        status = mf_robots_add_play(maker->scene, &maker->scene->play, maker->error);
    for (uint32_t i = 0; i < maker->robots->group_count && status == MF_OK; i++)
        begin_gaits(maker, i);
    return status;
}

mf_Status mf_robots_scene_create(mf_Context *context, const mf_Robots *robots, mf_RobotsScene *out,
                                 mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: out is NULL");
    *out = (mf_RobotsScene){0};
    if (context == NULL || robots == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "robots: context or robots is NULL");
    mf_RobotsScene scene = {.robots = robots};
    const Maker maker = {context, robots, &scene, error};
    mf_Status status = make(&maker);
    if (status != MF_OK) {
        mf_robots_scene_destroy(&scene);
        return status;
    }
    *out = scene;
    return MF_OK;
}

void mf_robots_colors(const mf_RobotsScene *scene, const char *out[MF_ROBOTS_GROUPS]) {
    if (scene == NULL)
        return;
    static const char *const names[MF_ROBOTS_COLORS] = {
        NULL,      NULL,      "#2f6fdd", "#d63a3a", "#e0b020", "#2f9e4f", "#e07b20",
        "#8444c4", "#20a8b8", "#e07ab0", "#8a5a30", "#f4f4f4", "#202428"};
    const mf_Robots *robots = scene->robots;
    uint32_t several = 0, next = 0;
    for (uint32_t i = 0; i < robots->group_count; i++)
        several += scene->models[i]->joint_count > 0;
    for (uint32_t i = 0; i < MF_ROBOTS_GROUPS; i++) {
        out[i] = NULL;
        if (i >= robots->group_count)
            continue;
        uint32_t color = robots->groups[i].color;
        if (color == MF_ROBOTS_AUTO && several > 1 && scene->models[i]->joint_count > 0)
            color = MF_ROBOTS_BLUE + next++ % (MF_ROBOTS_COLORS - MF_ROBOTS_BLUE);
        out[i] = names[color];
    }
}

void mf_robots_scene_destroy(mf_RobotsScene *scene) {
    if (scene == NULL || scene->robots == NULL)
        return;
    mf_world_destroy(scene->world);
    for (uint32_t i = 0; i < MF_ROBOTS_GROUPS; i++) {
        for (uint32_t g = 0; g < MF_ROBOTS_GAITS; g++)
            mf_gait_destroy(scene->gaits[i][g]);
        mf_model_destroy(scene->models[i]);
    }
    mf_terrain_destroy(scene->terrain);
    *scene = (mf_RobotsScene){0};
}
