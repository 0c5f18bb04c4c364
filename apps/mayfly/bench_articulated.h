// Benches of full dynamics.
#ifndef MAYFLY_APP_BENCH_ARTICULATED_H
#define MAYFLY_APP_BENCH_ARTICULATED_H

#include "bench.h"

const char *mf_bench_articulated_name(uint32_t n);
// The name of the n-th bench that runs by default, because its model is available; NULL after the
// last.
const char *mf_bench_articulated_usual(uint32_t n);
// Runs one and prints its line; returns an exit code.
int mf_bench_articulated_run(const char *name, const mf_BenchOptions *options, bool json);

#endif
