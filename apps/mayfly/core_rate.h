// The multiply-add rate of one core.
#ifndef MAYFLY_APP_CORE_RATE_H
#define MAYFLY_APP_CORE_RATE_H

// Fused multiply-adds of single precision of one core in registers, in the widest vectors it has:
// [GFLOP/s], two operations each, the best in about fifty milliseconds. On processors without the
// instruction, a multiplication and an addition.
double mf_core_rate(void);

#endif
