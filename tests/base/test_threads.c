// parallel_for: every index exactly once, all results visible afterwards, for any timing.
#include <pthread.h>
#include "rig/rig.h"
#include "base/context.h"
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

// Plain memory on purpose: a missing ordering is a data race that ThreadSanitizer reports.
typedef struct Cells {
    uint32_t *cells;
    uint32_t round;
} Cells;

static void mark(void *task, uint32_t index) {
    Cells *cells = task;
    cells->cells[index] = cells->cells[index] * 3 + cells->round + index;
}

TEST(every_index_runs_exactly_once) {
    static const uint32_t counts[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000, 100000};
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        AUTO_CONTEXT *context = open_context(threads);
        for (int i = 0; i < 10; i++) {
            uint32_t count = counts[i];
            Cells cells = {.cells = calloc(count + 1, sizeof(uint32_t)), .round = 5};
            mf_parallel_for(context, count, mark, &cells);
            for (uint32_t k = 0; k < count; k++) {
                if (cells.cells[k] != 5 + k)
                    fail_msg("%u threads, index %u of %u: %u", threads, k, count, cells.cells[k]);
            }
            assert_int_equal(cells.cells[count], 0);
            free(cells.cells);
        }
    }
}

TEST(results_are_the_same_for_every_thread_count) {
    enum { COUNT = 37, ROUNDS = 20000 };
    uint32_t first[COUNT];
    for (uint32_t threads = 1; threads <= 5; threads++) {
        uint32_t values[COUNT] = {0};
        Cells cells = {.cells = values};
        mf_Context *context = open_context(threads);
        // Jobs back to back with changing sizes: late workers meet the next job all the time.
        for (uint32_t round = 0; round < ROUNDS; round++) {
            cells.round = round;
            mf_parallel_for(context, 1 + round % COUNT, mark, &cells);
        }
        mf_context_destroy(context);
        if (threads == 1)
            memcpy(first, values, sizeof first);
        assert_memory_equal(values, first, sizeof first);
    }
}

TEST(workers_wake_after_sleeping) {
    AUTO_CONTEXT *context = open_context(3);
    uint32_t values[5] = {0};
    Cells cells = {.cells = values};
    // from no pause at all to far beyond the spinning
    const struct timespec pauses[] = {{0, 0}, {0, 1000}, {0, 30000}, {0, 100000}, {0, 3000000}};
    for (uint32_t round = 0; round < 300; round++) {
        nanosleep(&pauses[round % 5], NULL);
        cells.round = round;
        mf_parallel_for(context, 5, mark, &cells);
    }
    uint32_t expected[5] = {0};
    for (uint32_t round = 0; round < 300; round++) {
        for (uint32_t k = 0; k < 5; k++)
            expected[k] = expected[k] * 3 + round + k;
    }
    assert_memory_equal(values, expected, sizeof values);
}

static void nap(void *task, uint32_t index) {
    const struct timespec pause = {0, index == 0 ? 20000000 : 1000};
    nanosleep(&pause, NULL);
    atomic_fetch_add((_Atomic uint32_t *)task, 1);
}

TEST(the_caller_waits_for_slow_tasks) {
    AUTO_CONTEXT *context = open_context(2);
    for (int i = 0; i < 10; i++) {
        _Atomic uint32_t finished = 0;
        mf_parallel_for(context, 3, nap, (void *)&finished);
        assert_int_equal(atomic_load(&finished), 3);
    }
}

// Both tasks must be running at once for either to end.
static void meet(void *task, uint32_t index) {
    (void)index;
    _Atomic uint32_t *present = task;
    atomic_fetch_add(present, 1);
    time_t start = time(NULL);
    while (atomic_load(present) < 2) {
        if (time(NULL) - start > 60)
            return;
        sched_yield();
    }
    atomic_fetch_add(present, 100);
}

TEST(tasks_really_run_side_by_side) {
    AUTO_CONTEXT *context = open_context(2);
    for (int i = 0; i < 20; i++) {
        _Atomic uint32_t present = 0;
        mf_parallel_for(context, 2, meet, (void *)&present);
        assert_int_equal(atomic_load(&present), 202);
    }
}

typedef struct Nested {
    mf_Context *context;
    _Atomic uint32_t runs;
} Nested;

static void count_one(void *task, uint32_t index) {
    (void)index;
    atomic_fetch_add(&((Nested *)task)->runs, 1);
}

static void call_again(void *task, uint32_t index) {
    (void)index;
    mf_parallel_for(((Nested *)task)->context, 10, count_one, task);
}

static void *call_from_a_thread(void *task) {
    for (int i = 0; i < 1000; i++)
        call_again(task, 0);
    return NULL;
}

TEST(misuse_runs_serially_instead_of_breaking) {
    Nested nested = {.context = open_context(3)};
    mf_parallel_for(nested.context, 20, call_again, &nested);
    assert_int_equal(atomic_load(&nested.runs), 200);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, call_from_a_thread, &nested), 0);
    call_from_a_thread(&nested);
    pthread_join(other, NULL);
    assert_int_equal(atomic_load(&nested.runs), 200 + 20000);
    mf_context_destroy(nested.context);
}

// ---- threads of the host -----------------------------------------------------------------------

static void run_backwards(void *user, uint32_t count, mf_TaskFn function, void *task) {
    *(uint32_t *)user += count;
    for (uint32_t i = count; i-- > 0;)
        function(task, i);
}

TEST(the_users_parallel_for_is_used) {
    uint32_t seen = 0, values[10] = {0};
    mf_ContextConfig config =
        WITH(mf_context_config(), .threads = 6, .user = &seen, .parallel_for = run_backwards);
    AUTO_CONTEXT *context = NULL;
    assert_int_equal(mf_context_create(&config, &context, NULL), MF_OK);
    assert_int_equal(mf_context_threads(context), 6);
    Cells cells = {.cells = values, .round = 1};
    mf_parallel_for(context, 10, mark, &cells);
    assert_int_equal(seen, 10);
    for (uint32_t k = 0; k < 10; k++)
        assert_int_equal(values[k], 1 + k);
}

// ---- surroundings ------------------------------------------------------------------------------

static void check_signals(void *task, uint32_t index) {
    (void)index;
    Nested *nested = task;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1 &&
        sigismember(&blocked, SIGSEGV) == 0)
        atomic_fetch_add(&nested->runs, 1);
    meet(&nested[1].runs, 0); // so that both threads take one
}

TEST(signals_stay_with_the_host) {
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    AUTO_CONTEXT *context = open_context(2);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
    Nested nested[2] = {{.context = context}};
    mf_parallel_for(context, 2, check_signals, nested);
    assert_int_equal(atomic_load(&nested[0].runs), 1); // the worker, not the caller
}

TEST(contexts_come_and_go_without_work) {
    for (int i = 0; i < 200; i++)
        mf_context_destroy(open_context(1 + (uint32_t)i % 5));
}
