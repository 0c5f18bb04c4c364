// A group of cloths for tests.
#pragma once

#include "rig/rig.h"

typedef struct Rig {
    mf_Context *context;
    mf_Cloth cloth;
    mf_ClothConfig config;
    mf_WorldConfig world_config;
    mf_GroupConfig group_config;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Rig;

static const uint32_t rig_corners[2] = {0, 16};

// A rectangle that hangs by two corners.
static inline Rig rig_begin(mf_Context *context) {
    Rig rig = {.context = context,
               .cloth = mf_cloth_rectangle(0.5, 0.7, 17, 24),
               .config = mf_motions_config().cloth,
               .world_config = mf_world_config(),
               .group_config = mf_group_config()};
    rig.cloth.pins = rig_corners;
    rig.cloth.pin_count = 2;
    rig.world_config.step = 5 * MF_MILLISECOND;
    rig.group_config.double_precision = true;
    rig.group_config.count = 1;
    rig.config.contacts = false;
    return rig;
}

static inline mf_Status rig_try(Rig *rig, mf_Error *error) {
    rig->config.cloth = &rig->cloth;
    mf_Status status = mf_cloth_model(rig->context, &rig->cloth, &rig->model, error);
    rig->group_config.model = rig->model;
    if (status == MF_OK)
        status = mf_world_create(rig->context, &rig->world_config, &rig->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(rig->world, &rig->group_config, &rig->group, error);
    return status == MF_OK ? rig_add_cloth(rig->group, &rig->config, error) : status;
}

static inline void rig_open(Rig *rig) {
    MUST(rig_try(rig, &error));
}

static inline void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    rig->world = NULL;
    rig->model = NULL;
}

// Triangles instead of the rectangle, which must not have more than 1024 vertices.
static double mesh_vertices[1024][3];
static uint32_t mesh_triangles[2048][3];

static inline void make_triangles(mf_Cloth *cloth) {
    const mf_Cloth from = *cloth;
    cloth->vertex_count = mf_cloth_vertex_count(&from);
    cloth->triangle_count = mf_cloth_triangle_count(&from);
    for (uint32_t v = 0; v < cloth->vertex_count; v++)
        mf_cloth_vertex(&from, v, mesh_vertices[v]);
    for (uint32_t t = 0; t < cloth->triangle_count; t++)
        mf_cloth_triangle(&from, t, mesh_triangles[t]);
    cloth->counts[0] = cloth->counts[1] = 0;
    cloth->vertices = (const double(*)[3])mesh_vertices;
    cloth->triangles = (const uint32_t(*)[3])mesh_triangles;
}

// ---- the same bits ------------------------------------------------------------------------------

typedef struct Kind {
    mf_Isa isa;
    uint32_t threads;
    bool shared, triangles, wide, damped;
} Kind;

static inline void open_kind(Rig *rig, Kind kind, double damping) {
    rig->cloth.material.damping = kind.damped ? damping : 0.0;
    rig->world_config.isa = kind.isa;
    rig->group_config.double_precision = kind.wide;
    rig->group_config.isolated = !kind.shared;
    if (kind.triangles)
        make_triangles(&rig->cloth);
    rig_open(rig);
}

// Over instruction sets, threads, and robots that share a space.
static inline void check_kinds(uint64_t (*hash_of)(Kind kind)) {
    for (int k = 0; k < 8; k++) {
        Kind kind = {MF_ISA_AUTO, 1, false, k & 1, k & 2, k & 4};
        const uint64_t hash = hash_of(kind);
        FOR_EACH_ISA (isa)
            assert_int_equal(hash_of(WITH(kind, .isa = isa)), hash);
        kind.shared = true;
        for (kind.threads = 1; kind.threads <= 3; kind.threads++)
            assert_int_equal(hash_of(kind), hash);
    }
}
