// Contexts, checked for leaks at their end.
#pragma once

#include <mayfly/base.h>

// A context with so many threads; 0: the default.
mf_Context *open_context(uint32_t threads);

// Ends it; a leak fails the test.
void close_context(mf_Context *context);

// Fixtures of a group of tests, whose state is the context: with one thread ...
int make_context(void **state);
int drop_context(void **state); // a leak fails the group
// ... and with the default threads.
int setup_context(void **state);
int teardown_context(void **state); // says how much leaked
