// How fast one core multiplies and adds.
#ifndef MAYFLY_APP_CORE_RATE_H
#define MAYFLY_APP_CORE_RATE_H

// Fused multiply-adds of single precision of one core in registers, in the widest vectors it has:
// [GFLOP/s], two operations each, the best of some fifty milliseconds. Where a processor has none,
// of a multiplication and an addition.
double mf_core_rate(void);

#endif
