// The end of mayfly run: results of the robots of a scene, as text and as JSON.
#pragma once

#include "outcome.h"
#include "simulate.h"
#include "notes.h"
#include "trace.h"

// A run and its reported results.
typedef struct mf_Run {
    mf_Scene scene;
    mf_Simulation simulation;
    mf_StartReport report;
    mf_Outcome *outcomes; // per group: of those that have links and move
    bool *observed;
    mf_SessionFile file; // what is done again; text NULL: nothing
    mf_Session session;
    mf_Trace *trace; // NULL: none is written
    bool alone;      // one group with links: a table of its first robot is printed
} mf_Run;

// The report before the start.
void mf_run_print_start(const mf_Run *run);
// If every robot of the world has a fault, prints the reasons on stderr and returns MF_EXIT_FAILED,
// else MF_EXIT_DONE. Collisions and fences of a swarm do not count.
int mf_end_check(mf_World *world);
// False when it could not be written.
bool mf_run_print_end(mf_Run *run);
bool mf_run_print_json(mf_Run *run);
