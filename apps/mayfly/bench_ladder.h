// Benches of the motions whose joints track the commanded motion.
#ifndef MAYFLY_APP_BENCH_LADDER_H
#define MAYFLY_APP_BENCH_LADDER_H

#include "bench.h"

const char *mf_bench_ladder_name(uint32_t n);
// The name of the n-th bench; NULL after the last.
const char *mf_bench_ladder_usual(uint32_t n);
// Runs one and prints its line; returns an exit code.
int mf_bench_ladder_run(const char *name, const mf_BenchOptions *options, bool json);

#endif
