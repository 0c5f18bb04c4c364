// Threads of the library.
#pragma once

#include <mayfly/base.h>

#include <pthread.h>

// Starts a thread that takes none of the host's signals: its own threads handle them. Faults of the
// thread itself stay deliverable, or debuggers and sanitizers could not report them. Returns 0 or
// an error number.
int mf_thread_start(mf_Context *context, pthread_t *thread, void *(*run)(void *), void *user);
