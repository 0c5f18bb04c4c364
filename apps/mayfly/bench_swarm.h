// Benches of swarms: rounds of whole worlds of vehicles.
#ifndef MAYFLY_APP_BENCH_SWARM_H
#define MAYFLY_APP_BENCH_SWARM_H

#include "bench.h"

const char *mf_bench_swarm_name(uint32_t n);
// The name of the n-th bench that runs by default, NULL after the last.
const char *mf_bench_swarm_usual(uint32_t n);
// Runs one and prints its lines; returns an exit code.
int mf_bench_swarm_run(const char *name, const mf_BenchOptions *options, bool json);

#endif
