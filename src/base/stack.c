// Threads of the host may have small stacks (a few MiB under `ulimit -s`, 512 kB on some systems).
// Running over the end of one kills the process without a word.
#define _GNU_SOURCE // pthread_getattr_np
#include "base/stack.h"

#include <pthread.h>
#include <stddef.h>

bool mf_stack_suffices(void) {
#ifdef __linux__
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return true;
    const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    pthread_attr_destroy(&attributes);
    // The address of a local is where the stack has got to.
    return !known || (uintptr_t)&attributes - (uintptr_t)lowest >= MF_STACK_NEED;
#else
    return true;
#endif
}

typedef struct Call {
    void (*function)(void *task);
    void *task;
} Call;

static void *call_main(void *argument) {
    const Call *call = argument;
    call->function(call->task);
    return NULL;
}

bool mf_stack_call(void (*function)(void *task), void *task) {
    Call call = {function, task};
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    const bool made = pthread_attr_setstacksize(&attributes, MF_STACK_GIVEN) == 0 &&
                      pthread_create(&thread, &attributes, call_main, &call) == 0;
    pthread_attr_destroy(&attributes);
    return made && pthread_join(thread, NULL) == 0;
}

uintptr_t mf_stack_thread(void) {
    return (uintptr_t)pthread_self();
}
