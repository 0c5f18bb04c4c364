// A truss made in code and its world, for check cases of trusses.
#pragma once

#include <string.h>

#include "check.h"

enum { MOST = 130 };

typedef struct Rig { // a truss of the standard material, to be opened
    mf_CheckRun *run;
    mf_TrussVertex vertices[MOST];
    mf_TrussBar bars[MOST];
    mf_TrussActuator actuators[4];
    mf_Truss truss;
    mf_QuasistaticConfig config;
    double gravity; // [m/s^2]
    double step;    // [s] > 0: with inertia; 0: quasi-static
} Rig;

static inline void rig_begin(Rig *rig, mf_CheckRun *run) {
    *rig = (Rig){.run = run, .config = mf_motions_config().quasistatic, .gravity = 9.81};
    rig->truss = (mf_Truss){.name = "case",
                            .material = mf_truss_material(),
                            .vertices = rig->vertices,
                            .bars = rig->bars,
                            .actuators = rig->actuators};
    rig->config.contacts = false;
    rig->config.collisions = false;
    rig->config.tolerance = 1e-9;
}

static inline uint32_t add_vertex(Rig *rig, double x, double y, double z, const char *fixed) {
    mf_TrussVertex *vertex = &rig->vertices[rig->truss.vertex_count];
    *vertex = (mf_TrussVertex){.position = {x, y, z}};
    for (int i = 0; i < 3; i++)
        vertex->fixed[i] = strchr(fixed, "xyz"[i]) != NULL;
    return rig->truss.vertex_count++;
}

static inline uint32_t add_bar(Rig *rig, uint32_t one, uint32_t two, double diameter) {
    rig->bars[rig->truss.bar_count] = (mf_TrussBar){{one, two}, diameter, 0.0};
    return rig->truss.bar_count++;
}

// Bars of 10 mm between each two of the vertices.
static inline void add_edges(Rig *rig) {
    for (uint32_t i = 0; i < rig->truss.vertex_count; i++)
        for (uint32_t j = i + 1; j < rig->truss.vertex_count; j++)
            add_bar(rig, i, j, 0.01);
}

static inline void rig_open(Rig *rig) {
    mf_CheckRun *run = rig->run;
    mf_RigConfig config = mf_rig_config_of(
        rig->step > 0.0 ? MF_MOTION_ELASTIC : MF_MOTION_QUASISTATIC, mf_world_config().step);
    config.world.gravity = rig->gravity;
    if (rig->step > 0.0)
        config.world.step = (mf_Time)(rig->step * 1e9 + 0.5);
    rig->config.truss = &rig->truss;
    config.motions.quasistatic = config.motions.elastic = rig->config;
    mf_rig_start(run);
    mf_Model **model = mf_rig_own(run);
    mf_check_must(run, mf_truss_model(run->context, &rig->truss, model, &run->error));
    mf_rig_open_model(run, *model, &config);
}
