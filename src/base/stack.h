// Whether the calling thread has the stack that a step takes, and a thread that has.
#ifndef MAYFLY_BASE_STACK_H
#define MAYFLY_BASE_STACK_H

#include <stdbool.h>
#include <stdint.h>

// AddressSanitizer puts room between the locals.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define MF_STACK_FACTOR 4
#else
#define MF_STACK_FACTOR 1
#endif

enum {
    MF_STACK_NEED = 7 * MF_STACK_FACTOR << 20,  // [byte] free below the caller; a step of full
                                                // dynamics keeps its tree there, sixteen robots
                                                // side by side take up to 5.5 MiB
    MF_STACK_GIVEN = 16 * MF_STACK_FACTOR << 20 // [byte] of threads that are made here
};

// Whether the calling thread has MF_STACK_NEED left; true where that cannot be found out.
bool mf_stack_suffices(void);

// Calls `function` in a thread of MF_STACK_GIVEN and waits for it. False when the system has none,
// and nothing has been called.
bool mf_stack_call(void (*function)(void *task), void *task);

// A number for the calling thread that no other living one has; never 0.
uintptr_t mf_stack_thread(void);

#endif
