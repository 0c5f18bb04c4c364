// Benches of loading: from a robot's file to a world with it.
#ifndef MAYFLY_APP_BENCH_MODEL_H
#define MAYFLY_APP_BENCH_MODEL_H

#include "bench.h"

const char *mf_bench_model_name(uint32_t n);
// The name of the n-th bench whose file is available, NULL after the last.
const char *mf_bench_model_usual(uint32_t n);
// Runs one and prints its line; returns an exit code.
int mf_bench_model_run(const char *name, const mf_BenchOptions *options, bool json);

#endif
