// What the tests of swarms share: a context that is checked for leaks at the end, and text that
// goes into a folder of its own. Include after <cmocka.h>.
#ifndef MAYFLY_TESTS_SWARM_SUPPORT_H
#define MAYFLY_TESTS_SWARM_SUPPORT_H

#include <mayfly/swarm.h>

#include <stdio.h>
#include <string.h>

static inline int make_context(void **state) {
    mf_Context *context = NULL;
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    if (mf_context_create(&config, &context, NULL) != MF_OK)
        return -1;
    *state = context;
    return 0;
}

static inline int drop_context(void **state) {
    size_t live = mf_context_live_bytes(*state);
    mf_context_destroy(*state);
    return live == 0 ? 0 : -1; // a leak fails the group
}

// A file that would lie in scenes/, so that ../models/ is found.
#define SWARM_PATH MAYFLY_SOURCE_DIR "/scenes/t.yaml"

static inline mf_Swarm *parse_swarm(mf_Context *context, const char *text) {
    mf_Swarm *swarm = NULL;
    mf_Error error = {0};
    if (mf_swarm_parse(context, SWARM_PATH, text, strlen(text), NULL, 0, &swarm, &error) != MF_OK)
        fail_msg("%s", error.message);
    return swarm;
}

static inline mf_SwarmScene make_scene(mf_Context *context, const mf_Swarm *swarm) {
    mf_SwarmScene scene;
    mf_Error error = {0};
    if (mf_swarm_scene_create(context, swarm, &scene, &error) != MF_OK)
        fail_msg("%s", error.message);
    return scene;
}

#endif
