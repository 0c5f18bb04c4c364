// Failure injection: fallible calls are counted, and a test can make one of them fail.
#pragma once

#include <mayfly/base.h>

// Failure injection for tests: the `countdown`-th fallible call (allocation, open, read, write,
// rename, sync, thread creation, database step) from now on fails once; 0 disables it.
void mf_context_fail_after(mf_Context *context, uint64_t countdown);
uint64_t mf_context_call_count(const mf_Context *context); // [1] fallible calls so far

// True if a fallible operation named `operation` may proceed; false if failure injection lets it
// fail (errno is then EIO). Call it before each operating system call.
bool mf_allow(mf_Context *context, const char *operation);
