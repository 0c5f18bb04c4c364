// The context: allocator, accounting, failure injection, configuration.
#include <errno.h>
#include "rig/rig.h"
#include "base/context.h"

TEST(defaults_use_every_processor) {
    mf_Context *context = open_context(0);
    assert_true(mf_context_threads(context) >= 1);
    assert_true(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
    mf_context_destroy(NULL);
}

TEST(bad_configurations_are_refused) {
    mf_Error error;
    mf_Context *context = (mf_Context *)&error;
    mf_ContextConfig config = {0};
    assert_int_equal(mf_context_create(&config, &context, &error), MF_BAD_ARGUMENT);
    assert_null(context);
    assert_non_null(strstr(error.message, "mf_context_config()"));
    config = WITH(mf_context_config(), .threads = MF_THREAD_LIMIT + 1);
    assert_int_equal(mf_context_create(&config, &context, &error), MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "1024"));
    config = WITH(mf_context_config(), .release = (void (*)(void *, void *))abort);
    assert_int_equal(mf_context_create(&config, &context, &error), MF_BAD_ARGUMENT);
    assert_null(context);
}

TEST(memory_is_aligned_zeroed_and_counted) {
    AUTO_CONTEXT *context = open_context(1);
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 1 << 20};
    size_t live = 0;
    unsigned char *blocks[7];
    for (int round = 0; round < 2; round++) { // the second round gets used memory back
        for (int i = 0; i < 7; i++) {
            blocks[i] = mf_allocate(context, sizes[i], 1);
            assert_non_null(blocks[i]);
            assert_true((uintptr_t)blocks[i] % 64 == 0);
            for (size_t byte = 0; byte < sizes[i]; byte++) {
                if (blocks[i][byte] != 0)
                    fail_msg("byte %zu of %zu is not zero", byte, sizes[i]);
            }
            memset(blocks[i], 0xa5, sizes[i]);
            live += sizes[i];
            assert_true(mf_context_live_bytes(context) == live);
        }
        for (int i = 0; i < 7; i++) {
            mf_release(context, blocks[i]);
            live -= sizes[i];
            assert_true(mf_context_live_bytes(context) == live);
        }
    }
    mf_release(context, NULL);
}

TEST(impossible_sizes_give_null) {
    AUTO_CONTEXT *context = open_context(1);
    static const size_t sizes[][2] = {{SIZE_MAX, 1},      {SIZE_MAX, 2},
                                      {2, SIZE_MAX},      {SIZE_MAX / 2, 3},
                                      {SIZE_MAX - 63, 1}, {(size_t)1 << 32, (size_t)1 << 32}};
    for (int i = 0; i < 6; i++) {
        errno = 0;
        assert_null(mf_allocate(context, sizes[i][0], sizes[i][1]));
        assert_int_equal(errno, ENOMEM);
    }
    assert_non_null((mf_release(context, mf_allocate(context, 0, SIZE_MAX)), context));
    assert_true(mf_context_live_bytes(context) == 0);
}

TEST(the_countdown_fails_exactly_one_call) {
    AUTO_CONTEXT *context = open_context(1);
    uint64_t before = mf_context_call_count(context);
    mf_context_fail_after(context, 3);
    for (int call = 1; call <= 6; call++) {
        errno = 0;
        bool allowed = mf_allow(context, "third");
        assert_int_equal(allowed, call != 3);
        assert_int_equal(errno, call == 3 ? EIO : 0);
    }
    assert_true(mf_context_call_count(context) - before == 6);
    assert_string_equal(mf_context_failed_operation(context), "third");
    mf_context_fail_after(context, 1);
    assert_null(mf_allocate(context, 1, 1));
    assert_string_equal(mf_context_failed_operation(context), "allocate");
    mf_context_fail_after(context, 1);
    mf_context_fail_after(context, 0);
    assert_true(mf_allow(context, "open"));
}

typedef struct Attempts {
    mf_Context *context;
    _Atomic uint32_t refused;
} Attempts;

static void attempt(void *task, uint32_t index) {
    (void)index;
    Attempts *attempts = task;
    void *memory = mf_allocate(attempts->context, 3, 5);
    if (memory == NULL)
        atomic_fetch_add(&attempts->refused, 1);
    mf_release(attempts->context, memory);
}

TEST(the_countdown_is_exact_with_many_threads) {
    Attempts attempts = {.context = open_context(4)};
    uint64_t before = mf_context_call_count(attempts.context);
    mf_context_fail_after(attempts.context, 777);
    mf_parallel_for(attempts.context, 10000, attempt, &attempts);
    assert_int_equal(atomic_load(&attempts.refused), 1);
    assert_true(mf_context_call_count(attempts.context) - before == 10000);
    assert_true(mf_context_live_bytes(attempts.context) == 0);
    mf_context_destroy(attempts.context);
}

// ---- the user's allocator ----------------------------------------------------------------------

typedef struct Arena {
    int allocated, released, fail_at, offset;
} Arena;

static void *arena_allocate(void *user, size_t size) {
    Arena *arena = user;
    if (++arena->allocated == arena->fail_at)
        return NULL;
    char *memory = aligned_alloc(64, (size + 64 + 63) / 64 * 64);
    return memory == NULL ? NULL : memory + arena->offset;
}

static void arena_release(void *user, void *memory) {
    Arena *arena = user;
    arena->released++;
    free((char *)memory - arena->offset);
}

TEST(the_users_allocator_serves_everything) {
    Arena arena = {0};
    mf_ContextConfig config = WITH(mf_context_config(), .user = &arena, .allocate = arena_allocate,
                                   .release = arena_release, .threads = 3);
    mf_Context *context = NULL;
    assert_int_equal(mf_context_create(&config, &context, NULL), MF_OK);
    int for_itself = arena.allocated;
    assert_true(for_itself >= 1);
    void *memory = mf_allocate(context, 10, 10);
    assert_int_equal(arena.allocated, for_itself + 1);
    mf_release(context, memory);
    mf_context_destroy(context);
    assert_int_equal(arena.allocated, arena.released);
    // each of the context's own allocations refused once
    for (int n = 1; n <= for_itself; n++) {
        arena = (Arena){.fail_at = n};
        MUST_FAIL(mf_context_create(&config, &context, &error), MF_NO_MEMORY, "");
        assert_null(context);
        assert_int_equal(arena.allocated - 1, arena.released);
    }
    // the allocator's own refusal later on
    arena = (Arena){.fail_at = for_itself + 1};
    assert_int_equal(mf_context_create(&config, &context, NULL), MF_OK);
    assert_null(mf_allocate(context, 1, 1));
    assert_true(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
    // an allocator that breaks its promise
    arena = (Arena){.offset = 16};
    MUST_FAIL(mf_context_create(&config, &context, &error), MF_BAD_ARGUMENT, "aligned");
    assert_int_equal(arena.allocated, arena.released);
}

// ---- torture -----------------------------------------------------------------------------------

TEST(creation_survives_every_failure) {
    Arena arena = {0};
    mf_ContextConfig config = WITH(mf_context_config(), .user = &arena, .allocate = arena_allocate,
                                   .release = arena_release, .threads = 4);
    uint64_t n = 1;
    for (;; n++) {
        mf_Error error = {0};
        mf_Context *context = (mf_Context *)&error;
        mf_Status status = mf_context_create_failing(&config, n, &context, &error);
        if (status == MF_OK) {
            mf_context_destroy(context);
            break;
        }
        assert_null(context);
        assert_true(status == MF_NO_MEMORY || status == MF_IO);
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != '\0');
        assert_int_equal(arena.allocated, arena.released);
    }
    assert_int_equal(arena.allocated, arena.released);
    // two allocations, three locks, three threads
    assert_int_equal(n - 1, 8);
}

static mf_Status fill_two_blocks(mf_Context *context, void *user, mf_Error *error) {
    void *first = mf_allocate(context, 100, 1), *second = mf_allocate(context, 200, 1);
    mf_Status status = MF_OK;
    if (first == NULL || second == NULL || !mf_allow(context, "open"))
        status = mf_fail(error, MF_NO_MEMORY, "no memory for two blocks");
    mf_release(context, first);
    mf_release(context, second);
    return status;
}

TEST(torture_counts_the_failed_calls) {
    AUTO_CONTEXT *context = open_context(1);
    assert_int_equal(torture(context, fill_two_blocks, NULL, TORTURE_MUST_FAIL), 3);
    assert_int_equal(torture(context, fill_two_blocks, NULL, TORTURE_MAY_RECOVER), 3);
}
