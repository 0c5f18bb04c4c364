#include "rig/rig.h"

mf_Context *open_context(uint32_t threads) {
    mf_ContextConfig config = mf_context_config();
    mf_Context *context = NULL;
    mf_Error error = {0};
    if (threads > 0)
        config.threads = threads;
    must(mf_context_create(&config, &context, &error), &error);
    if (threads > 0)
        assert_int_equal(mf_context_threads(context), threads);
    return context;
}

void close_context(mf_Context *context) {
    assert_int_equal(mf_context_live_bytes(context), 0);
    mf_context_destroy(context);
}

static int make_with(void **state, uint32_t threads) {
    mf_ContextConfig config = mf_context_config();
    mf_Context *context = NULL;
    if (threads > 0)
        config.threads = threads;
    if (mf_context_create(&config, &context, NULL) != MF_OK)
        return -1;
    *state = context;
    return 0;
}

int make_context(void **state) {
    return make_with(state, 1);
}

int setup_context(void **state) {
    return make_with(state, 0);
}

int drop_context(void **state) {
    return teardown_context(state);
}

int teardown_context(void **state) {
    size_t live = mf_context_live_bytes(*state);
    mf_context_destroy(*state);
    if (live != 0)
        fprintf(stderr, "%zu bytes leaked\n", live);
    return live != 0;
}
