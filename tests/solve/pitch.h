// Worlds for tests of collisions: groups of models given as MJCF text or loaded from files.
#pragma once

#include "rig/momentum.h"

enum { PITCH_GROUPS = 6, MICROSECOND = 1000 };

typedef struct Pitch {
    mf_Context *context;
    mf_World *world;
    mf_Collisions *collisions;
    uint32_t count;
    mf_Model *models[PITCH_GROUPS];
    mf_Group *groups[PITCH_GROUPS];
    mf_Error error;
} Pitch;

// 0 .. 1
static inline double unit(uint32_t stream, uint32_t number) {
    uint32_t word[4];
    mf_random(11, number, stream, 0, word);
    return mf_random_unit_double(word[0], word[1]);
}

static inline Pitch pitch_open(uint32_t threads, mf_Isa isa, mf_Time step, double gravity) {
    Pitch pitch = {0};
    pitch.context = open_context(threads);
    pitch.world = open_world(
        pitch.context, &WITH(mf_world_config(), .step = step, .isa = isa, .gravity = gravity));
    return pitch;
}

static inline void pitch_close(Pitch *pitch) {
    mf_world_destroy(pitch->world);
    for (uint32_t i = 0; i < pitch->count; i++)
        mf_model_destroy(pitch->models[i]);
    close_context(pitch->context);
}

static inline mf_Model *load_file(mf_Context *context, const char *name) {
    mf_Model *model;
    MUST(mf_model_load(context, formatted("%s/models/%s", MAYFLY_SOURCE_DIR, name), NULL, &model,
                       &error));
    return model;
}

// A shared group of `count` robots; moves by nothing yet.
static inline mf_Group *pitch_group(Pitch *pitch, mf_Model *model, const char *name, uint32_t count,
                                    bool wide) {
    mf_GroupConfig config = WITH(mf_group_config(), .name = name, .model = model, .count = count,
                                 .isolated = false, .double_precision = wide);
    pitch->models[pitch->count] = model;
    mf_Group *group = add_group(pitch->world, &config);
    pitch->groups[pitch->count++] = group;
    return group;
}

static inline void prepare(Pitch *pitch, mf_Group *group) {
    MUST(mf_collisions_prepare(group, &error));
}

// Prepared, and moves by `articulated`.
static inline mf_Group *pitch_moving(Pitch *pitch, mf_Model *model, const char *name,
                                     uint32_t count, bool wide, mf_ArticulatedConfig motion) {
    mf_Group *group = pitch_group(pitch, model, name, count, wide);
    prepare(pitch, group);
    MUST(rig_add_articulated(group, &motion, &error));
    return group;
}

// The same, without contacts with the ground and within itself.
static inline mf_Group *pitch_bodies(Pitch *pitch, mf_Model *model, const char *name,
                                     uint32_t count, bool wide) {
    return pitch_moving(
        pitch, model, name, count, wide,
        WITH(mf_motions_config().articulated, .contacts = false, .self_contacts = false));
}

static inline void pitch_collide(Pitch *pitch, const mf_CollisionsConfig *config) {
    MUST(mf_collisions_add(pitch->world, config, &pitch->collisions, &error));
}

static inline void put(Pitch *pitch, mf_Group *group, uint32_t instance, double x, double y,
                       double z, double speed_x) {
    MUST(mf_group_set_start(group, instance, (double[]){x, y, z}, NULL, (double[]){speed_x, 0, 0},
                            &error));
}

// A ball of radius 0.1 m without friction.
static inline mf_Model *ball_of(mf_Context *context, double mass) {
    return load_text(context, formatted("<mujoco model='ball'><worldbody><body><freejoint/>"
                                        "<geom type='sphere' size='0.1' mass='%g' condim='1'/>"
                                        "</body></worldbody></mujoco>",
                                        mass));
}
