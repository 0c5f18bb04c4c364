// The end of mayfly run: what became of the robots of a scene, for people and for programs.
#ifndef MAYFLY_APP_RUN_END_H
#define MAYFLY_APP_RUN_END_H

#include "fate.h"
#include "simulate.h"
#include "start_report.h"

// A run and all that is reported of it.
typedef struct mf_Run {
    mf_Scene scene;
    mf_Simulation simulation;
    mf_StartReport report;
    mf_Fate fates[MF_SCENE_GROUPS]; // of groups that have links and move
    bool fated[MF_SCENE_GROUPS];
    bool alone; // one group, with links: its first robot is described moment by moment
} mf_Run;

// What is reported before it begins.
void mf_run_print_start(const mf_Run *run);
// False when it could not be written.
bool mf_run_print_end(mf_Run *run);
bool mf_run_print_json(mf_Run *run);

#endif
