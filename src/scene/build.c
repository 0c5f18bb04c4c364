// Worlds built from scene files: models, ground, world, groups, initial poses, contact, modules,
// range sensors, cameras, messages, proximity, rules, behaviors, in this order.
#include "base/memory.h"
#include "scene/behavior.h"
#include "world/group.h"
#include "io/document.h"
#include "base/floats.h"
#include "scene/modules/modules.h"
#include "scene/machines.h"
#include "scene/scene_file.h"
#include "scene/script/script.h"
#include "solve/parts.h"

#include <mayfly/sensor.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GENOME_MOST 65536u // [byte] limit of searches

mf_SceneConfig mf_scene_config(void) {
    return (mf_SceneConfig){.struct_size = sizeof(mf_SceneConfig), .motion = MF_MOTION_COUNT};
}

mf_Motion mf_verify_motion(mf_VerifyMotion level) {
    if (level >= MF_VERIFY_LEVEL && level < MF_VERIFY_ELASTIC)
        return (mf_Motion)(level - MF_VERIFY_LEVEL);
    return level == MF_VERIFY_ELASTIC ? MF_MOTION_ELASTIC : MF_MOTION_COUNT;
}

mf_SceneConfig mf_scene_config_at_level(const mf_SceneFile *file, mf_Motion motion) {
    mf_SceneConfig config = mf_scene_config();
    config.evaluates = true;
    config.motion = motion;
    if (file != NULL && motion != file->groups[0].motion && motion != MF_MOTION_POINTS)
        config.step = file->verify.step;
    return config;
}

void mf_scene_note(mf_Scene *scene, const char *format, ...) {
    va_list arguments;
    if (scene->note_count == MF_SCENE_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(scene->notes[scene->note_count++], MF_SCENE_NOTE, format, arguments);
    va_end(arguments);
}

mf_Status mf_scene_blame_file(const mf_SceneFile *file, mf_Status status, const char *section,
                              const char *name, const char *key, const char *path, int32_t line,
                              int32_t column, mf_Error *error) {
    char cause[sizeof((mf_Error *)0)->message];
    if (status != MF_NOT_FOUND || line == 0 || error == NULL || strcmp(error->file, path) != 0 ||
        error->line != 0)
        return status;
    snprintf(cause, sizeof cause, "%s", error->message);
    return mf_fail_at(error, status, file->file, line, column, "%s.%s%s%s: %.200s: %.180s", section,
                      name != NULL ? name : "", name != NULL ? "." : "", key, path, cause);
}

// ---- ground and world --------------------------------------------------------------------------

// Steps have level cells; anything else becomes a staircase, on whose cells a ball rests.
static void note_cells(mf_Scene *scene, const mf_Ground *ground) {
    const mf_Terrain *terrain = scene->terrain;
    const bool steps = ground->path == NULL && ground->generator.shape == MF_TERRAIN_STEPS;
    if (terrain->interpolation == MF_NEAREST && terrain->lowest < terrain->highest && !steps)
        mf_scene_note(scene,
                      "ground: interpolation nearest: cells are level with vertical sides, so "
                      "slopes are stairs");
}

// By default, the ground of the first model that has one.
static mf_Status make_ground(mf_SceneBuilder *builder) {
    const mf_Ground *ground = &builder->file->ground;
    mf_Scene *scene = builder->scene;
    mf_TerrainConfig config = ground->terrain;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; !ground->given && i < scene->group_count && status == MF_OK; i++)
        if (scene->terrain == NULL)
            status = mf_terrain_from_model(builder->context, scene->models[i], &scene->terrain,
                                           builder->error);
    if (!ground->given)
        return status;
    // Where the border continues outside of the map, one cell is enough for flat ground, and stays
    // in the cache.
    if (ground->generator.shape == MF_TERRAIN_FLAT && config.border == MF_BORDER_CONTINUES)
        config.columns = config.rows = 1;
    if (ground->path != NULL)
        status = mf_scene_blame_file(
            builder->file,
            mf_terrain_load(builder->context, ground->path, &config, ground->scale, ground->offset,
                            &scene->terrain, builder->error),
            "ground", NULL, "file", ground->path, builder->file->ground_line,
            builder->file->ground_column, builder->error);
    else
        status = mf_terrain_generate(builder->context, &config, &ground->generator, &scene->terrain,
                                     builder->error);
    if (status == MF_OK)
        note_cells(scene, ground);
    return status;
}

// [ns] The smallest step requested by a group.
static mf_Status choose_step(const mf_SceneBuilder *builder, mf_Time *out) {
    const mf_Scene *scene = builder->scene;
    *out = builder->config.step > 0 ? builder->config.step : builder->file->step;
    if (*out > 0)
        return MF_OK;
    for (uint32_t i = 0; i < scene->group_count; i++) {
        const mf_Model *model = scene->models[i];
        const mf_SceneGroup *group = &builder->file->groups[i];
        if (mf_scene_is_scenery(model))
            continue;
        if (group->kind == NULL && !(model->physics.step >= 1e-6 && model->physics.step <= 1.0))
            return mf_fail_at(builder->error, MF_BAD_ARGUMENT, model->file, 0, 0,
                              "timestep: expected 1e-6 to 1 s, found %g", model->physics.step);
        const mf_BodyKind *kind = group->kind;
        const mf_Time step = kind == NULL ? mf_world_config_for(model).step
                             : kind->step_of == NULL
                                 ? kind->step
                                 : kind->step_of(group, mf_scene_group_motion(builder, i));
        *out = *out == 0 || step < *out ? step : *out;
    }
    *out = *out > 0 ? *out : mf_world_config().step;
    return MF_OK;
}

// A world has one gravity; models whose files have another one are reported, unless the scene
// states its own.
static void note_gravity(const mf_SceneBuilder *builder, const mf_WorldConfig *config) {
    mf_Scene *scene = builder->scene;
    for (uint32_t i = 0; isnan(builder->file->gravity) && i < scene->group_count; i++) {
        const mf_WorldConfig own = mf_world_config_for(scene->models[i]);
        const bool same = own.gravity == config->gravity &&
                          memcmp(own.gravity_direction, config->gravity_direction,
                                 sizeof own.gravity_direction) == 0;
        if (mf_group_vehicle(&builder->file->groups[i]) == NULL &&
            scene->models[i]->body_count > 0 && !same)
            mf_scene_note(
                scene,
                "group %.60s: the gravity of its file is %.9g m/s^2, that of the world %.9g m/s^2",
                builder->file->groups[i].name, own.gravity, config->gravity);
    }
}

static mf_Status make_world(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    const mf_Model *first = NULL;
    for (uint32_t i = 0; i < scene->group_count && first == NULL; i++)
        if (mf_group_vehicle(&builder->file->groups[i]) == NULL)
            first = scene->models[i];
    mf_WorldConfig config = mf_world_config_for(first);
    MF_TRY(choose_step(builder, &config.step));
    if (!isnan(builder->file->gravity)) {
        config.gravity = builder->file->gravity;
        memcpy(config.gravity_direction, mf_world_config().gravity_direction,
               sizeof config.gravity_direction);
    }
    MF_NEED(config.step % scene->divisor == 0, builder->error,
            "scene: expected a divisor that divides the step of %lld ns into whole "
            "nanoseconds, found %u",
            (long long)config.step, scene->divisor);
    config.step /= scene->divisor;
    note_gravity(builder, &config);
    config.seed = builder->file->seed;
    config.terrain = scene->terrain;
    scene->step = config.step;
    return mf_world_create(builder->context, &config, &scene->world, builder->error);
}

// ---- between robots ----------------------------------------------------------------------------

// What a file says of contacts and contacts between robots do not have.
static void note_inner(mf_Scene *scene, const mf_Group *group) {
    const mf_Model *model = mf_group_model(group);
    bool margins = false;
    for (uint32_t i = 0; i < model->shape_count; i++)
        margins = margins || model->shapes[i].margin > 0.0;
    if (margins)
        mf_scene_note(scene,
                      "group %.60s: margins of shapes act within a robot, not between robots",
                      mf_group_config_of(group)->name);
    if (model->physics.noslip_iterations > 0)
        mf_scene_note(scene,
                      "group %.60s: noslip_iterations act within a robot, not between robots",
                      mf_group_config_of(group)->name);
}

static mf_Status add_contact(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    mf_CollisionsConfig config = mf_collisions_config();
    mf_CollisionsMember *members =
        mf_allocate(builder->context, scene->group_count, sizeof *members);
    uint32_t robots = 0;
    MF_NEED_MEMORY(members != NULL, builder->error, "scene");
    for (uint32_t i = 0; i < scene->group_count; i++)
        if (mf_scene_group_collides(builder, i)) {
            members[config.member_count++] = mf_collisions_member(mf_world_group(scene->world, i));
            robots += mf_scene_group_count(builder, i);
        }
    for (uint32_t i = 0; i < config.member_count && robots > 1; i++)
        note_inner(scene, members[i].group);
    config.members = members;
    config.law = (mf_CollisionLaw)builder->file->contact_law;
    config.bounds = builder->file->contact_bounds;
    config.friction = builder->file->friction;
    mf_Status status = MF_OK;
    if (config.member_count > 0)
        status = mf_collisions_add(scene->world, &config, &scene->collisions, builder->error);
    mf_release(builder->context, members);
    return status;
}

static mf_InteractionMember member_of(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_InteractionMember member =
        mf_interaction_member(mf_world_group(builder->scene->world, index));
    member.collides = from->contact_others;
    const mf_Vehicle *vehicle = mf_group_vehicle(from);
    if (vehicle == NULL) {
        member.terrain = false;
        return member;
    }
    member.radius = mf_vehicle_radius(vehicle);
    member.terrain = vehicle->kind != MF_VEHICLE_CAR;
    member.rotor_area = from->rotor_area;
    return member;
}

bool mf_scene_group_touches(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *group = &builder->file->groups[index];
    return group->kind != NULL && group->kind->touch != NULL && group->motion != MF_MOTION_OWN &&
           !mf_scene_group_isolated(builder, index);
}

// Bodies that touch the links of robots, kind by kind.
static mf_Status add_touching(mf_SceneBuilder *builder) {
    for (uint32_t i = 0; i < builder->scene->group_count; i++) {
        bool first = mf_scene_group_touches(builder, i);
        for (uint32_t j = 0; j < i && first; j++)
            first = !mf_scene_group_touches(builder, j) ||
                    builder->file->groups[j].kind != builder->file->groups[i].kind;
        if (first)
            MF_TRY(builder->file->groups[i].kind->touch(builder->scene->world, builder->error));
    }
    return MF_OK;
}

// A wind that pushes no robot at all; levels without air among others say so before a run.
static void note_wind(const mf_SceneBuilder *builder) {
    const double *wind = builder->file->interaction.wind;
    if (!(fabs(wind[0]) + fabs(wind[1]) + fabs(wind[2]) > 0.0))
        return;
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        if (!mf_scene_group_isolated(builder, i) &&
            mf_group_find_field(mf_world_group(builder->scene->world, i), "wind.velocity") != NULL)
            return;
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        if (!mf_scene_is_scenery(builder->scene->models[i]))
            mf_scene_note(builder->scene, "group %.60s: air.wind has no effect: %s",
                          builder->file->groups[i].name,
                          mf_scene_group_isolated(builder, i) ? "isolated robots have no air"
                                                              : "its motion feels none");
}

// Wind and downwash do not need proximity detection.
static mf_Status add_proximity(mf_SceneBuilder *builder) {
    const mf_SceneFile *file = builder->file;
    mf_InteractionConfig config = file->interaction;
    if (!file->proximity && !mf_interaction_has_air(&config))
        return MF_OK;
    if (!file->proximity)
        config.detect = config.collide = config.terrain = config.fence = false;
    config.member_count = 0;
    mf_InteractionMember *members =
        mf_allocate(builder->context, file->group_count, sizeof *members);
    MF_NEED_MEMORY(members != NULL, builder->error, "scene");
    for (uint32_t i = 0; i < file->group_count; i++)
        if (!mf_scene_group_isolated(builder, i) && !mf_scene_is_scenery(builder->scene->models[i]))
            members[config.member_count++] = member_of(builder, i);
    config.members = members;
    mf_Error cause = {0};
    mf_Status status = MF_OK;
    if (config.member_count > 0)
        status = mf_interaction_add(builder->scene->world, &config, &builder->scene->interaction,
                                    &cause);
    mf_release(builder->context, members);
    if (status == MF_BAD_ARGUMENT)
        return mf_fail_at(builder->error, MF_BAD_FILE, file->file, file->interaction_line,
                          file->interaction_column, "%s", cause.message);
    if (status != MF_OK && builder->error != NULL)
        *builder->error = cause;
    return status;
}

static mf_Status add_policy(const mf_SceneBuilder *builder, const mf_SceneGroup *from,
                            mf_Group *group) {
    mf_Error cause = {0};
    mf_Status status = mf_behavior_add(group, (mf_VehicleKind)0, &from->behavior, &cause);
    if (status == MF_NO_MEMORY)
        return mf_fail(builder->error, status, "%s", cause.message);
    if (status == MF_OK)
        return MF_OK;
    return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file, from->behavior_line,
                      from->behavior_column, "groups.%.60s.behavior.%s", from->name, cause.message);
}

static mf_Status add_behaviors(mf_SceneBuilder *builder) {
    for (uint32_t i = 0; i < builder->file->group_count; i++) {
        const mf_SceneGroup *from = &builder->file->groups[i];
        mf_Group *group = mf_world_group(builder->scene->world, i);
        const mf_Vehicle *vehicle = mf_group_vehicle(from);
        if (vehicle != NULL && mf_body_moves_by(from->kind, from->motion))
            MF_TRY(mf_behavior_add(group, vehicle->kind, &from->behavior, builder->error));
        else if (from->behavior.kind >= MF_BEHAVIOR_POLICIES)
            MF_TRY(add_policy(builder, from, group));
    }
    return MF_OK;
}

// ---- the whole ---------------------------------------------------------------------------------

uint64_t mf_scene_settle_steps(const mf_Scene *scene) {
    double settle = 0.0;
    for (uint32_t i = 0; i < scene->group_count; i++)
        settle = fmax(settle, scene->file->groups[i].settle);
    return (uint64_t)(settle / mf_time_to_seconds(scene->step) + 0.5);
}

// The whole world settles before gaits begin.
static void begin(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    if (builder->config.joins == 0)
        mf_world_step(scene->world, mf_scene_settle_steps(scene));
    for (uint32_t i = 0; i < scene->group_count; i++)
        mf_scene_begin_gait(builder, i);
}

// What moves by itself: robots with joints, and vehicles.
static bool is_colored(const mf_Scene *scene, uint32_t group) {
    return scene->models[group]->joint_count > 0 ||
           mf_group_vehicle(&scene->file->groups[group]) != NULL;
}

static void find_colors(mf_Scene *scene) {
    static const char *const names[MF_COLOR_COUNT] = {
        NULL,      NULL,      "#2f6fdd", "#d63a3a", "#e0b020", "#2f9e4f", "#e07b20",
        "#8444c4", "#20a8b8", "#e07ab0", "#8a5a30", "#f4f4f4", "#202428"};
    uint32_t several = 0, next = 0;
    for (uint32_t i = 0; i < scene->group_count; i++)
        several += is_colored(scene, i);
    for (uint32_t i = 0; i < scene->group_count; i++) {
        uint32_t color = scene->file->groups[i].color;
        if (color == MF_COLOR_AUTO && several > 1 && is_colored(scene, i))
            color = MF_COLOR_BLUE + next++ % (MF_COLOR_COUNT - MF_COLOR_BLUE);
        scene->colors[i] = names[color];
    }
}

static uint32_t digit_of(char c) {
    return (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

// Films have the colors of cameras' pictures, "#rrggbb".
static void tint_groups(mf_Scene *scene) {
    find_colors(scene);
    for (uint32_t i = 0; i < scene->group_count; i++) {
        float tint[3];
        const char *color = scene->colors[i];
        for (uint32_t c = 0; color != NULL && c < 3; c++)
            tint[c] =
                (float)(16 * digit_of(color[1 + 2 * c]) + digit_of(color[2 + 2 * c])) / 255.0f;
        mf_group_set_tint(mf_world_group(scene->world, i), color != NULL ? tint : NULL);
    }
}

// Vehicles that are moved from outside look as those that fly by themselves.
static void dress_groups(const mf_Scene *scene) {
    for (uint32_t i = 0; i < scene->group_count; i++) {
        const mf_Vehicle *vehicle = mf_group_vehicle(&scene->file->groups[i]);
        if (vehicle == NULL)
            continue;
        const void *parameters[] = {[MF_VEHICLE_QUADROTOR] = &vehicle->quadrotor,
                                    [MF_VEHICLE_FIXED_WING] = &vehicle->fixed_wing,
                                    [MF_VEHICLE_CAR] = &vehicle->car};
        mf_group_set_look(mf_world_group(scene->world, i), (int)vehicle->kind,
                          parameters[vehicle->kind]);
    }
}

static mf_Status make_groups(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    for (uint32_t i = 0; i < scene->group_count; i++)
        MF_TRY(mf_scene_load_model(builder, i));
    MF_TRY(make_ground(builder));
    MF_TRY(make_world(builder));
    for (uint32_t i = 0; i < scene->group_count; i++)
        MF_TRY(mf_scene_add_group(builder, i));
    tint_groups(builder->scene);
    dress_groups(builder->scene);
    scene->group = mf_world_group(scene->world, 0);
    scene->model = scene->models[0];
    return mf_scene_place_groups(builder);
}

// Prepares evaluations of the first group.
static mf_Status prepare_evaluation(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    const mf_SceneHooks *hooks = &builder->file->hooks;
    const bool scores = builder->config.evaluates || builder->file->evolves;
    MF_TRY(scores ? mf_scene_note_start(scene, builder->error) : MF_OK);
    if (scores)
        MF_TRY(mf_fitness_add(scene, builder->error));
    if (scores && mf_scene_has_machines(builder->file))
        MF_TRY(mf_machine_trial_add(scene, builder->error));
    if (hooks->attach != NULL)
        MF_TRY(hooks->attach(scene, hooks->user, builder->error));
    if (scores)
        MF_TRY(mf_scene_keep_start(scene, builder->error));
    builder->file->search.genome_bytes = mf_scene_genome_bytes(scene);
    return MF_OK;
}

static mf_Status make(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    MF_TRY(make_groups(builder));
    mf_scene_idle(scene);
    for (uint32_t i = 0; i < scene->group_count; i++)
        MF_TRY(mf_scene_write_initial(builder, i));
    MF_TRY(add_contact(builder));
    if (builder->file->contact)
        MF_TRY(mf_particles_couple(builder->scene->world, builder->error));
    MF_TRY(mf_scene_add_modules(builder));
    MF_TRY(add_touching(builder));
    MF_TRY(mf_scene_add_joints(builder));
    MF_TRY(mf_scene_ready_joint_slots(builder));
    MF_TRY(mf_ranges_add(builder->scene->world, builder->error));
    MF_TRY(mf_scene_add_cameras(builder));
    MF_TRY(mf_scene_add_messages(builder));
    MF_TRY(mf_scene_add_late_plugins(builder));
    MF_TRY(add_proximity(builder));
    MF_TRY(add_behaviors(builder));
    for (uint32_t i = 0; i < scene->group_count; i++)
        MF_TRY(mf_scene_add_inputs(builder, i));
    MF_TRY(mf_scene_add_rules(scene, builder->error));
    for (uint32_t i = 0; i < scene->group_count; i++)
        MF_TRY(mf_scene_randomize(builder, i));
    if (builder->file->old_keys != NULL)
        mf_scene_note(scene, "keys with a new name: %.200s", builder->file->old_keys);
    note_wind(builder);
    mf_scene_note_idle_keys(builder);
    mf_scene_note_arms(builder);
    if (builder->file->bridge_count > 0 && !builder->config.bridges)
        mf_scene_note(scene,
                      "bridges: %u not started here; mayfly serve --allow-bridges "
                      "starts them",
                      builder->file->bridge_count);
    begin(builder);
    mf_Status status = mf_scene_take_first(builder);
    MF_THEN(status, prepare_evaluation(builder));
    return status == MF_OK ? mf_scene_load_scripts(scene, builder->error) : status;
}

// Whether the first group can move by `motion` instead of the file's.
static bool can_replace(const mf_SceneGroup *group, mf_Motion motion) {
    if (motion == MF_MOTION_COUNT || motion == group->motion)
        return true;
    return group->kind == NULL ||
           (group->kind->motions != NULL && mf_body_moves_by(group->kind, motion));
}

static mf_Status refuse_motion(const mf_SceneFile *file, mf_Motion motion, mf_Error *error) {
    const mf_SceneGroup *group = &file->groups[0];
    const mf_BodyKind *kind = group->kind;
    return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0, "group %.80s: a %s %s %s, found %s",
                      group->name, kind->name,
                      kind->motions != NULL ? "moves by" : "has one motion,",
                      kind->motions != NULL ? kind->motions : mf_motion_name(group->motion),
                      mf_motion_name(motion));
}

static mf_Status check(const mf_SceneFile *file, const mf_SceneConfig *config, mf_Error *error) {
    const mf_SceneHooks *hooks = &file->hooks;
    MF_NEED(config->struct_size == sizeof *config, error, "scene: start from mf_scene_config()");
    if (!can_replace(&file->groups[0], config->motion))
        return refuse_motion(file, config->motion, error);
    if (mf_scene_file_count(file) > UINT32_C(1) << 26)
        return mf_fail_at(error, MF_LIMIT, file->file, 0, 0,
                          "groups: expected at most 2^26 robots together");
    if (file->groups[0].controller == MF_CONTROLLER_NONE && hooks->apply_genome != NULL &&
        (hooks->genome_bytes < 1 || hooks->genome_bytes > GENOME_MOST))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "hooks.genome_bytes: expected 1 to %u bytes with apply_genome, found %u",
                       GENOME_MOST, hooks->genome_bytes);
    return MF_OK;
}

// Checks that the machine has memory for all robots of a scene with one group. Memory per robot is
// the difference of two small worlds; both have a block of robots for every thread, since each
// thread has working memory.
static mf_Status check_memory(mf_Context *context, mf_SceneFile *file, const mf_SceneConfig *config,
                              mf_Error *error) {
    const uint32_t count = config->count > 0 ? config->count : file->groups[0].count;
    size_t bytes[2];
    if (file->group_count > 1 || count < MF_MEMORY_MANY ||
        file->groups[0].placement.kind == MF_PLACEMENT_POSES)
        return MF_OK;
    for (uint32_t i = 0; i < 2; i++) {
        mf_Scene scene;
        mf_SceneConfig small = *config;
        small.count = (mf_context_threads(context) + i) * MF_BLOCK;
        const size_t before = mf_context_live_bytes(context);
        MF_TRY(mf_scene_create(context, file, &small, &scene, error));
        bytes[i] = mf_context_live_bytes(context) - before;
        mf_scene_destroy(&scene);
    }
    return mf_memory_suffices((bytes[1] - bytes[0]) / MF_BLOCK, count, "robots", error);
}

mf_Status mf_scene_allocate_groups(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    const uint32_t count = scene->group_count;
    const mf_Array arrays[] = {
        MF_ARRAY(scene->models, count),    MF_ARRAY(scene->gaits, count),
        MF_ARRAY(scene->keyframes, count), MF_ARRAY(scene->raised, count),
        MF_ARRAY(scene->colors, count),    MF_ARRAY(builder->first_in_grid, count),
        MF_ARRAY(builder->placed, count)};
    return mf_allocate_arrays(builder->context, arrays, sizeof arrays / sizeof *arrays)
               ? MF_OK
               : mf_fail(builder->error, MF_NO_MEMORY, "scene: no memory for %u groups", count);
}

mf_Status mf_scene_create(mf_Context *context, mf_SceneFile *file, const mf_SceneConfig *config,
                          mf_Scene *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "scene: out is NULL");
    *out = (mf_Scene){0};
    MF_NEED(context != NULL && file != NULL, error, "scene: context or file is NULL");
    mf_SceneBuilder builder = {.context = context,
                               .file = file,
                               .config = config != NULL ? *config : mf_scene_config(),
                               .scene = out,
                               .error = error};
    MF_TRY(check(file, &builder.config, error));
    MF_TRY(check_memory(context, file, &builder.config, error));
    out->context = context;
    out->file = file;
    out->group_count = file->group_count;
    out->levels = builder.config.levels;
    out->divisor = builder.config.divisor > 0 ? builder.config.divisor : 1;
    out->motion = mf_scene_group_motion(&builder, 0);
    out->stiffness =
        builder.config.stiffness > 0.0 ? builder.config.stiffness : file->groups[0].servo.stiffness;
    builder.overlaps.context = context;
    mf_Status status = mf_scene_allocate_groups(&builder);
    MF_THEN(status, make(&builder));
    mf_overlap_free(&builder.overlaps);
    if (status != MF_OK)
        mf_scene_destroy(out);
    return status;
}

void mf_scene_destroy(mf_Scene *scene) {
    if (scene == NULL || scene->file == NULL)
        return;
    mf_machine_lives_free(scene);
    if (scene->world != NULL)
        mf_release(mf_world_context(scene->world), scene->start);
    mf_world_destroy(scene->world);
    for (uint32_t i = 0; i < scene->plugin_count; i++)
        mf_plugin_close(scene->plugins[i]);
    for (uint32_t i = 0; scene->models != NULL && i < scene->group_count; i++) {
        for (uint32_t g = 0; g < MF_SCENE_GAITS; g++)
            mf_gait_destroy(scene->gaits[i][g]);
        if (scene->file->groups[i].model == NULL)
            mf_model_destroy(scene->models[i]);
    }
    mf_release(scene->context, scene->models); // and what else it has per group
    mf_terrain_destroy(scene->terrain);
    *scene = (mf_Scene){0};
}

uint64_t mf_scene_steps(const mf_Scene *scene) {
    if (scene == NULL || scene->file == NULL)
        return 0;
    const mf_Time duration = mf_time_from_seconds(scene->file->duration);
    const mf_Time step = scene->step * scene->divisor;
    const uint64_t steps = (uint64_t)(duration / step + (duration % step != 0)) * scene->divisor;
    return mf_scene_has_machines(scene->file) ? steps + mf_machine_rest_steps(scene) : steps;
}
