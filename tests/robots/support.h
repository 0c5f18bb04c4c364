// What the tests of files of robots share: a context that is checked for leaks at the end, and text
// read as if it lay in scenes/. Include after <cmocka.h>.
#ifndef MAYFLY_TESTS_ROBOTS_SUPPORT_H
#define MAYFLY_TESTS_ROBOTS_SUPPORT_H

#include "context.h"

#include <mayfly/robots.h>

#include <stdio.h>
#include <string.h>

// A file that would lie in scenes/, so that ../models/ is found.
#define ROBOTS_PATH MAYFLY_SOURCE_DIR "/scenes/t.yaml"

static inline mf_Status try_robots(mf_Context *context, const char *text, mf_Robots **out,
                                   mf_Error *error) {
    return mf_robots_parse(context, ROBOTS_PATH, text, strlen(text), NULL, 0, out, error);
}

static inline mf_Robots *parse_robots(mf_Context *context, const char *text) {
    mf_Robots *robots = NULL;
    mf_Error error = {0};
    if (try_robots(context, text, &robots, &error) != MF_OK)
        fail_msg("%s", error.message);
    return robots;
}

static inline mf_RobotsScene make_scene(mf_Context *context, const mf_Robots *robots) {
    mf_RobotsScene scene;
    mf_Error error = {0};
    if (mf_robots_scene_create(context, robots, &scene, &error) != MF_OK)
        fail_msg("%s:%d: %s", error.file, (int)error.line, error.message);
    return scene;
}

// Reads a play and makes its world, once: for failing calls.
static inline mf_Status make_once(mf_Context *context, void *user, mf_Error *error) {
    mf_Robots *robots = NULL;
    mf_RobotsScene scene = {0};
    mf_Status status = try_robots(context, user, &robots, error);
    if (status == MF_OK)
        status = mf_robots_scene_create(context, robots, &scene, error);
    mf_robots_scene_destroy(&scene);
    mf_robots_destroy(robots);
    return status;
}

#endif
