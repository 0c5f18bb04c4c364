// The scenes in which genomes of a search live: that of the evolution, and those of the second
// evaluation (search.verify). Master and workers of a search have the same.
#pragma once

#include "app.h"

typedef struct mf_Lives {
    mf_Context *context;
    mf_SceneFile *file; // borrowed
    mf_Scene scene;
    mf_Scene verify[2];     // at the level of the second evaluation; with other servos
    double *verify_fitness; // [1] of the second of them
} mf_Lives;

// mf_lives_close in any case.
mf_Status mf_lives_open(mf_Context *context, mf_SceneFile *file, mf_Lives *out, mf_Error *error);
void mf_lives_close(mf_Lives *lives);

bool mf_lives_verifies(const mf_Lives *lives);
// [1] simulations of a genome's life that a second evaluation makes.
uint32_t mf_lives_verify_count(const mf_Lives *lives);

// mf_scene_evaluate_some; `verifies`: the second evaluation, the better of its two results, without
// `values`.
mf_Status mf_lives_evaluate(mf_Lives *lives, bool verifies, uint32_t first, const uint8_t *genomes,
                            uint32_t count, uint32_t genome_bytes, double *fitness, double *values,
                            mf_Error *error);
