// mayfly run for swarms.
#ifndef MAYFLY_APP_RUN_SWARM_H
#define MAYFLY_APP_RUN_SWARM_H

#include "inputs.h"
#include "plugins.h"

// Options of `run`; texts as typed, or NULL.
typedef struct mf_RunOptions {
    const char *record, *fields, *every, *realtime, *plot;
    const char *motion, *key, *gait, *command, *step, *root; // of a robot alone
    mf_PluginOptions plugins;                                // likewise
    bool strict;                                             // likewise
    bool json;
} mf_RunOptions;

// Simulates the swarm `name` and prints what became of it; returns an exit code.
int mf_run_swarm(mf_Context *context, const mf_Inputs *inputs, const mf_RunOptions *options,
                 const char *name);

#endif
