// What the tests of swarms share: a context that is checked for leaks at the end, and text that
// goes into a folder of its own. Include after <cmocka.h>.
#ifndef MAYFLY_TESTS_SWARM_SUPPORT_H
#define MAYFLY_TESTS_SWARM_SUPPORT_H

#include "context.h"

#include <mayfly/swarm.h>

#include <stdio.h>
#include <string.h>

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
