// Trusses made in code, and a world with one group of them, for tests of the motions quasistatic
// and elastic.
#pragma once

#include "motion/rig.h"

enum { MOST = 40 };

typedef struct Parts {
    mf_TrussVertex vertices[MOST];
    mf_TrussBar bars[MOST];
    mf_TrussActuator actuators[2];
    mf_Truss truss;
} Parts;

static inline void begin(Parts *p) {
    *p = (Parts){.truss = {.name = "truss", .material = mf_truss_material()}};
    p->truss.vertices = p->vertices;
    p->truss.bars = p->bars;
    p->truss.actuators = p->actuators;
}

static inline uint32_t vertex(Parts *p, double x, double y, double z, const char *fixed) {
    mf_TrussVertex *v = &p->vertices[p->truss.vertex_count];
    *v = (mf_TrussVertex){.position = {x, y, z}};
    for (int i = 0; i < 3; i++)
        v->fixed[i] = strchr(fixed, "xyz"[i]) != NULL;
    return p->truss.vertex_count++;
}

static inline void bar(Parts *p, uint32_t one, uint32_t two) {
    p->bars[p->truss.bar_count++] = (mf_TrussBar){{one, two}, 0.01, 0.0};
}

// A beam of tetrahedra on the ground with two actuators; `extra` dangling bars.
static inline void crawler(Parts *p, uint32_t size, uint32_t extra) {
    begin(p);
    for (uint32_t i = 0; i < size; i++)
        vertex(p, 0.05 * i,
               i % 3 == 1   ? 0.09
               : i % 3 == 2 ? 0.045
                            : 0.0,
               i % 3 == 2 ? 0.085 : 0.005, "");
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = i + 1; j <= i + 3 && j < size; j++)
            bar(p, i, j);
    for (uint32_t i = 0; i < extra; i++) {
        const double *at = p->vertices[i].position;
        bar(p, i, vertex(p, at[0] + 0.07, at[1] + 0.03, 0.08, ""));
    }
    p->actuators[0] = (mf_TrussActuator){2, 0.05, 0.2, MF_NONE};
    p->actuators[1] = (mf_TrussActuator){4, 0.05, 0.2, MF_NONE};
    p->truss.actuator_count = 2;
}

// A pyramid of 0.1 m on three feet; its first bar is an actuator.
static inline void pyramid(Parts *p) {
    begin(p);
    vertex(p, -0.05, -0.029, 0.005, "");
    vertex(p, 0.05, -0.029, 0.005, "");
    vertex(p, 0.0, 0.058, 0.005, "");
    vertex(p, 0.0, 0.0, 0.085, "");
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = i + 1; j < 4; j++)
            bar(p, i, j);
    p->actuators[0] = (mf_TrussActuator){0, 0.02, 0.3, MF_NONE};
    p->truss.actuator_count = 1;
}

typedef struct RigConfig {
    mf_QuasistaticConfig motion;
    mf_WorldConfig world;
    uint32_t count;
    bool elastic;
} RigConfig;

static inline RigConfig rig_config(uint32_t count) {
    return (RigConfig){mf_motions_config().quasistatic, mf_world_config(), count, false};
}

// With inertia and this step [s].
static inline RigConfig elastic_config(uint32_t count, double step) {
    return WITH(rig_config(count), .elastic = true, .motion = mf_motions_config().elastic,
                .world.step = (mf_Time)(step * 1e9 + 0.5));
}

static inline Rig rig_open(const mf_Truss *truss, RigConfig config) {
    Rig rig = {.context = open_context(1)};
    MUST(mf_truss_model(rig.context, truss, &rig.model, &error));
    config.motion.truss = truss;
    rig_add_group(&rig, &config.world,
                  WITH(mf_group_config(), .count = config.count, .double_precision = true));
    MUST((config.elastic ? rig_add_elastic : rig_add_quasistatic)(rig.group, &config.motion,
                                                                  &error));
    return rig;
}

// Moves the actuators of a robot in the phase of its number.
static inline void stroke(mf_Group *group, uint32_t lane, uint32_t number, uint32_t frame) {
    const double wave = (frame / 3 + number) % 4 < 2 ? 0.01 : -0.01;
    set_field(group, "actuator.control", lane, 0, 0.10 + wave);
    set_field(group, "actuator.control", lane, 1, 0.10 - wave);
}

static inline void drive(const Rig *rig, uint32_t frames) {
    for (uint32_t f = 0; f < frames; f++) {
        for (uint32_t i = 0; i < mf_group_count(rig->group); i++)
            stroke(rig->group, i, i, f);
        mf_world_step(rig->world, 1);
    }
}

// Throws a robot with the speed of its number.
static inline void throw(mf_Group * group, uint32_t instance, uint32_t number) {
    double start[3];
    for (uint32_t c = 0; c < 3; c++)
        start[c] = get_field(group, "base.position", instance, c) + (c == 2 ? 0.02 : 0.0);
    const double speed[3] = {0.5 - 0.1 * (number % 7), 0.2, -0.5};
    MUST(mf_group_set_start(group, instance, start, NULL, speed, &error));
}
