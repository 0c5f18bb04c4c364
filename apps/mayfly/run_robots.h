// mayfly run for files of robots.
#ifndef MAYFLY_APP_RUN_ROBOTS_H
#define MAYFLY_APP_RUN_ROBOTS_H

#include "run_swarm.h"

// Simulates the file of robots `name` and prints what they did; returns an exit code.
int mf_run_robots(mf_Context *context, const mf_Inputs *inputs, const mf_RunOptions *options,
                  const char *name);

#endif
