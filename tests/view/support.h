// Synthetic data of a run for report tests: a spider of boxes built by hand, a curve, a path and
// contacts with round numbers. No physics and no archive is involved.
#pragma once

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mayfly/builder.h>
#include "view/report_data.h"

#define FAKE_GENERATIONS 300u
#define FAKE_FEET 6u
#define FAKE_SAMPLES 1201u // 24 s at 20 ms
#define FAKE_DISTANCE 4.25 // [m] at the end, with the file's step

typedef struct Fake {
    mf_Context *context;
    mf_SceneFile file;
    mf_SceneGroup group; // the only one
    mf_ReportData data;
} Fake;

static inline mf_Model *fake_model(mf_Context *context) {
    static const double body[3] = {0.24, 0.12, 0.05}, middle[3] = {0.0, 0.0, 0.12};
    mf_Builder *builder = NULL;
    mf_Model *model = NULL;
    if (mf_builder_create(context, "spider", &builder, NULL) != MF_OK)
        return NULL;
    mf_BodyId trunk = mf_body_create_box(builder, body, middle, 1.2, NULL);
    for (uint32_t foot = 0; foot < FAKE_FEET; foot++) {
        double side = foot % 2 == 0 ? 1.0 : -1.0, along = 0.1 * (1.0 - (double)(foot / 2));
        double hip[3] = {along, 0.06 * side, 0.12}, knee[3] = {along, 0.14 * side, 0.12};
        double toe[3] = {along, 0.2 * side, 0.0}, up[3] = {0.0, 0.0, 1.0};
        double ahead[3] = {1.0, 0.0, 0.0};
        char name[16];
        mf_JointConfig hinge = WITH(mf_hinge_config(), .name = name);
        mf_BodyId thigh = mf_body_create_cylinder(builder, hip, knee, 0.01, 0.05, NULL);
        mf_BodyId shin = mf_body_create_cylinder(builder, knee, toe, 0.01, 0.05, NULL);
        // Anchors are seen from the middle of the first body.
        double anchor[3] = {hip[0] - middle[0], hip[1] - middle[1], hip[2] - middle[2]};
        snprintf(name, sizeof name, "hip_%u", foot);
        mf_joint_create_hinge(builder, trunk, thigh, anchor, up, &hinge);
        double bend[3] = {0.0, 0.04 * side, 0.0};
        snprintf(name, sizeof name, "knee_%u", foot);
        mf_joint_create_hinge(builder, thigh, shin, bend, ahead, &hinge);
        snprintf(name, sizeof name, foot == 5 ? "toe<&\"5" : "toe_%u", foot);
        mf_body_sense_contact(builder, shin, name);
    }
    mf_Status status = mf_builder_finalize(builder, &model, NULL);
    mf_builder_destroy(builder);
    return status == MF_OK ? model : NULL;
}

static inline mf_Terrain *fake_terrain(mf_Context *context, bool flat) {
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 128, .rows = 128);
    mf_TerrainGenerator generator = {.shape = flat ? MF_TERRAIN_FLAT : MF_TERRAIN_NOISE,
                                     .amplitude = flat ? 0.0 : 0.15,
                                     .wavelength = 1.5,
                                     .octaves = 5,
                                     .seed = 3};
    mf_Terrain *terrain = NULL;
    return mf_terrain_generate(context, &config, &generator, &terrain, NULL) == MF_OK ? terrain
                                                                                      : NULL;
}

// A wavy walk along the diagonal that ends `distance` away.
static inline bool fake_trial(mf_Context *context, double step, double distance, mf_Trial *trial) {
    *trial = (mf_Trial){.step = step,
                        .distance = distance,
                        .fitness = distance,
                        .end = 24.0,
                        .sample_count = FAKE_SAMPLES,
                        .sample_period = 0.02,
                        .contact_count = FAKE_FEET,
                        .context = context};
    trial->position = mf_allocate(context, FAKE_SAMPLES, 3 * sizeof(double));
    trial->contact = mf_allocate(context, FAKE_SAMPLES, FAKE_FEET);
    if (trial->position == NULL || trial->contact == NULL)
        return false;
    for (uint32_t i = 0; i < FAKE_SAMPLES; i++) {
        double share = i / (FAKE_SAMPLES - 1.0), time = i * trial->sample_period;
        double sway = 0.5 * sin(6.283185307179586 * share);
        trial->position[3 * i + 0] = distance * share * 0.96 - 0.28 * sway;
        trial->position[3 * i + 1] = distance * share * 0.28 + 0.96 * sway;
        trial->position[3 * i + 2] = 0.12;
        for (uint32_t foot = 0; foot < FAKE_FEET; foot++) // tripod: 0.8 s, 3/4 of it on the ground
            trial->contact[FAKE_FEET * i + foot] =
                fmod(time + 0.4 * ((foot + foot / 2) % 2), 0.8) < 0.6;
    }
    return true;
}

static inline bool fake_curve(mf_ReportData *data) {
    data->generation_count = FAKE_GENERATIONS;
    data->generations = mf_allocate(data->context, FAKE_GENERATIONS, sizeof(mf_ArchiveGeneration));
    for (uint32_t i = 0; data->generations != NULL && i < FAKE_GENERATIONS; i++) {
        double rise = FAKE_DISTANCE * (1.0 - exp(-(double)(i / 12) / 7.0));
        data->generations[i] = (mf_ArchiveGeneration){
            .generation = i + 1, .best = rise, .mean = 0.7 * rise, .seconds = 0.1 * i};
    }
    if (data->generations != NULL)
        data->generations[FAKE_GENERATIONS - 1].best = FAKE_DISTANCE;
    return data->generations != NULL;
}

static inline bool fake_genome(mf_ReportData *data) {
    static const uint8_t program[MF_GP_BYTES] = {0x24, 0x40, 0x86, 0x02, 0x25, 0xa0, 0x41, 0x89,
                                                 0x03, 0xc0, 0x61, 0x80, 0x12, 0x55, 0xe0, 0x26,
                                                 0x07, 0x28, 0x09, 0x5f, 0x94, 0x2a, 0x0b, 0x7f,
                                                 0x80, 0x2c, 0x0d, 0x48, 0xff, 0x00, 0x21, 0x9d};
    data->genome_bytes = MF_GP_BYTES;
    data->genome = mf_allocate(data->context, MF_GP_BYTES, 1);
    if (data->genome != NULL)
        memcpy(data->genome, program, sizeof program);
    data->champion = (mf_Individual){
        .id = 29871, .parent = 27001, .fitness = FAKE_DISTANCE, .genome = data->genome};
    return data->genome != NULL;
}

// False when something could not be made; fake_free is due either way.
static inline bool fake_make(Fake *fake, mf_Context *context, bool flat) {
    static const char settings[] = "name: \"Legs & <hills>\"\nsearch:\n  seed: 42\n";
    *fake = (Fake){.context = context}; // not copied later: its parts point at each other
    fake->group = (mf_SceneGroup){.name = "walkers",
                                  .motion = MF_MOTION_POINTS,
                                  .controller = MF_CONTROLLER_GP,
                                  .gp = mf_gp_config()};
    fake->file = (mf_SceneFile){.file = "scenes/legs&hills.yaml",
                                .name = "Legs & <hills>",
                                .step = 10 * MF_MILLISECOND,
                                .groups = &fake->group,
                                .group_count = 1,
                                .duration = 24.0,
                                .evolves = true,
                                .generations = FAKE_GENERATIONS,
                                .search = mf_search_config(),
                                .context = context};
    fake->file.search.seed = 42;
    mf_ReportData *data = &fake->data;
    *data =
        (mf_ReportData){.context = context,
                        .file = &fake->file,
                        .facts = {.threads = 2,
                                  .isa = "avx512",
                                  .wall_seconds = 46.25,
                                  .simulated = 24.0 * 100 * FAKE_GENERATIONS,
                                  .hash = UINT64_C(0x0123456789abcdef),
                                  .command = "mayfly evolve 'scenes/legs&hills.yaml' --seed 42"},
                        .fine_divisor = 10};
    data->scene.file = &fake->file;
    data->scene.model = fake_model(context);
    data->scene.terrain = fake_terrain(context, flat);
    data->settings = mf_allocate(context, sizeof settings, 1);
    if (data->settings != NULL)
        memcpy(data->settings, settings, sizeof settings);
    return data->scene.model != NULL && data->scene.terrain != NULL && data->settings != NULL &&
           fake_curve(data) && fake_genome(data) &&
           fake_trial(context, 0.01, FAKE_DISTANCE, &data->trial) &&
           fake_trial(context, 0.001, 0.92 * FAKE_DISTANCE, &data->fine);
}

static inline void fake_free(Fake *fake) {
    mf_ReportData *data = &fake->data;
    mf_model_destroy(data->scene.model);
    mf_terrain_destroy(data->scene.terrain);
    data->scene = (mf_Scene){0};
    mf_report_release(data);
}
