// Worlds of cubes with a dock on each face, for tests of messages and of behaviors of modules.
#pragma once

#include "solve/pitch.h"

enum { PX, NX, PY, NY, PZ, NZ, FACES };

static const double cube = 0.1; // [m]

typedef struct Modules {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_WorldDocks *docks;
    mf_Messages *messages;
} Modules;

typedef struct ModulesConfig {
    uint32_t robots, threads;
    mf_Isa isa;
    uint64_t seed;
    mf_MessagesConfig messages;
} ModulesConfig;

static inline ModulesConfig modules_config(uint32_t robots) {
    return (ModulesConfig){.robots = robots,
                           .threads = 1,
                           .isa = MF_ISA_AUTO,
                           .seed = 1,
                           .messages = mf_messages_config()};
}

static inline mf_Model *make_module(mf_Context *context) {
    static const char *const names[FACES] = {"px", "nx", "py", "ny", "pz", "nz"};
    const double half = 0.70710678118654757;
    const double rotations[FACES][4] = {{1, 0, 0, 0},        {0, 0, 0, 1},
                                        {half, 0, 0, half},  {half, 0, 0, -half},
                                        {half, 0, -half, 0}, {half, 0, half, 0}};
    AUTO_BUILDER *builder = NULL;
    mf_Model *model = NULL;
    MUST(mf_builder_create(context, "cube", &builder, &error));
    const mf_BodyId body =
        mf_body_create_box(builder, (double[3]){cube, cube, cube}, (double[3]){0, 0, 0}, 1.0, NULL);
    for (uint32_t i = 0; i < FACES; i++) {
        mf_Dock dock = WITH(mf_dock(), .name = names[i], .orientations = 4);
        dock.frame.position[i / 2] = i % 2 == 0 ? cube / 2 : -cube / 2;
        memcpy(dock.frame.rotation, rotations[i], sizeof rotations[i]);
        mf_body_dock(builder, body, &dock);
    }
    MUST(mf_builder_finalize(builder, &model, &error));
    return model;
}

// Cubes without weight, 1 m apart along y.
static inline Modules modules_open(ModulesConfig config) {
    Modules all = {.context = open_context(config.threads)};
    all.model = make_module(all.context);
    all.world =
        open_world(all.context, &WITH(mf_world_config(), .step = 10 * MF_MILLISECOND,
                                      .gravity = 0.0, .seed = config.seed, .isa = config.isa));
    all.group = add_group(all.world, &WITH(mf_group_config(), .model = all.model,
                                           .count = config.robots, .isolated = false));
    MUST(mf_collisions_prepare(all.group, &error));
    MUST(mf_motion_add(all.group, MF_MOTION_RIGID,
                       &WITH(mf_motions_config(), .rigid.contacts = false), &error));
    MUST(mf_world_docks_add(all.world, NULL, &all.docks, &error));
    MUST(mf_messages_add(all.world, &config.messages, &all.messages, &error));
    for (uint32_t i = 0; i < config.robots; i++)
        MUST(mf_group_set_start(all.group, i, (double[3]){0, i, 10}, NULL, NULL, &error));
    return all;
}

static inline void modules_close(Modules *all) {
    mf_world_destroy(all->world);
    mf_model_destroy(all->model);
    close_context(all->context);
}
#define AUTO_MODULES AUTO(modules_close) Modules

static inline void modules_dock(Modules *all, uint32_t a, uint32_t first, uint32_t b,
                                uint32_t second) {
    const mf_DockPort ports[2] = {{all->group, a, first}, {all->group, b, second}};
    MUST(mf_docks_connect(all->docks, &ports[0], &ports[1], 0, &error));
}

// A row along x from robot `first` on, which is at y = first * cube.
static inline void modules_chain(Modules *all, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; i++)
        MUST(mf_group_set_start(all->group, i, (double[3]){cube * (i - first), cube * first, 10},
                                NULL, NULL, &error));
    for (uint32_t i = first; i + 1 < first + count; i++)
        modules_dock(all, i, PX, i + 1, NX);
}

static inline mf_Message message_of(uint32_t type, uint32_t word) {
    mf_Message message = {.type = type, .size = 4, .content.words[0] = word};
    return message;
}

static inline void modules_send(Modules *all, uint32_t robot, uint32_t dock, uint32_t type,
                                uint32_t word) {
    const mf_Message message = message_of(type, word);
    MUST(mf_message_send(all->group, robot, dock, &message, &error));
}
