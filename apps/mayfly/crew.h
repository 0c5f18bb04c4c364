// Who evaluates the genomes of a search besides its own threads: programs `mayfly worker` on this
// machine or others, which an engine starts.
#pragma once

#include "base/text.h"
#include "engine/engine.h"
#include "lives.h"
#include "run_files.h"

typedef struct mf_CrewConfig {
    const char *engine;       // name of a row of the table
    const char *folder;       // of the run
    const char *address;      // numeric HOST:PORT to listen at; NULL: that of the engine
    uint32_t workers;         // [1] 0: one for each processor
    const char *threads;      // of each worker, as typed; NULL: 1
    bool allow_plugins;       // those that the scene names
    const mf_RunFiles *files; // that the scene reads
    const char *settings;     // the scene
} mf_CrewConfig;

typedef struct mf_Crew {
    mf_Context *context;
    mf_Lives *lives;
    mf_Engine *engine; // NULL: own threads
    uint32_t workers;  // [1] about so many
    mf_Text setup;
    double *values; // [at once][search.descriptor_count] of the evaluation before; NULL: none
} mf_Crew;

// Name of the engine `index`; NULL: there is none.
const char *mf_crew_engine(const void *list, uint32_t index);

// Nothing for "threads". mf_crew_close in any case.
mf_Status mf_crew_open(mf_Context *context, mf_Lives *lives, const mf_CrewConfig *config,
                       mf_Crew *out, mf_Error *error);
void mf_crew_close(mf_Crew *crew);

// As mf_lives_evaluate from robot 0 on.
mf_Status mf_crew_evaluate(mf_Crew *crew, bool verifies, const uint8_t *genomes, uint32_t count,
                           uint32_t genome_bytes, double *fitness, mf_Error *error);
// Descriptors of that evaluation.
void mf_crew_describe(const mf_Crew *crew, uint32_t count, double *values);

// ---- what travels -------------------------------------------------------------------------------

// Before the genomes of a work. The reply has `count` fitness values, then the descriptors.
typedef struct mf_CrewWork {
    uint32_t first, count; // [1] robots of the population
    uint32_t verifies, genome_bytes;
} mf_CrewWork;

// At the beginning of the set-up; then folder, settings and, for each file, its size as a uint64_t,
// its path relative to the folder `files` and its bytes. Texts end with 0.
typedef struct mf_CrewSetup {
    uint64_t model_hash, terrain_hash;
    uint32_t allow_plugins, files; // files [1]: 0: they are in the folder alone
} mf_CrewSetup;
