// A server of a scene in a thread of its own, and what its tests have in common.
#pragma once

#include "serve/server.h"

#include "rig/rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

typedef struct Served {
    mf_Scene *scene;
    mf_Server *server;
    pthread_t thread;
    atomic_bool stop;
    mf_Status status;
    mf_ServerStatistics sum; // after the end
} Served;

static const char quads[] = "world: {step: 0.01}\n"
                            "groups:\n"
                            "- name: quads\n"
                            "  model: " MAYFLY_SOURCE_DIR "/models/sun2022.yaml\n"
                            "  count: 37\n"
                            "  controller: none\n"
                            "  placement: {grid: {center: [0, 0, 20], spacing: [3, 3, 3]}}\n";

static inline bool is_stopped(void *user) {
    return atomic_load(&((Served *)user)->stop);
}

static inline void *serve(void *user) {
    Served *served = user;
    served->status = mf_server_run(served->server, NULL);
    return NULL;
}

static inline mf_Scene *open_scene(mf_Context *context, const char *text) {
    char path[64];
    mf_Scene *scene = NULL;
    write_temporary(path, ".yaml", text);
    MUST(mf_scene_open(context, path, NULL, 0, &scene, &error));
    unlink(path);
    return scene;
}

// As fast as possible, at a free port; paused at first.
static inline mf_ServerConfig running(void) {
    return WITH(mf_server_config(), .port = 0, .speed = 0.0);
}
static inline mf_ServerConfig paused(void) {
    return WITH(running(), .paused = true);
}

static inline Served *start(mf_Context *context, const char *text, mf_ServerConfig config) {
    Served *served = calloc(1, sizeof *served);
    served->scene = open_scene(context, text);
    MUST(mf_server_create(context, served->scene, &WITH(config, .stop = is_stopped, .user = served),
                          &served->server, &error));
    assert_int_equal(pthread_create(&served->thread, NULL, serve, served), 0);
    return served;
}

// Its sum can then be read.
static inline void finish(Served *served) {
    atomic_store(&served->stop, true);
    pthread_join(served->thread, NULL);
    assert_int_equal(served->status, MF_OK);
    served->sum = mf_server_statistics(served->server);
    mf_server_destroy(served->server);
    served->server = NULL;
    mf_scene_close(served->scene);
}

// A server that ends with its block, where it has not been finished before.
static inline void end_served(Served **served) {
    if ((*served)->server != NULL)
        finish(*served);
    free(*served);
}
#define AUTO_SERVED AUTO(end_served) Served

static inline mf_Client *join(const Served *served) {
    mf_Client *client = NULL;
    MUST(mf_client_connect(mf_server_address(served->server), NULL, &client, &error));
    return client;
}

// Waits for a kind of news; events of other kinds are skipped.
static inline mf_ClientNews await(mf_Client *client, uint32_t kind) {
    mf_ClientNews news;
    do
        MUST(mf_client_receive(client, 20.0, &news, &error));
    while (news.kind != kind);
    return news;
}

static inline mf_ClientNews await_event(mf_Client *client, uint32_t event) {
    mf_ClientNews news;
    do
        news = await(client, MF_ANSWER_EVENT);
    while (news.event != event);
    return news;
}

// A snapshot from the server, whose next answer would overwrite it; the caller frees it.
static inline void *snapshot_of(mf_Client *client, size_t *size) {
    const void *image;
    MUST(mf_client_snapshot(client, &image, size, &error));
    void *copy = malloc(*size);
    assert_non_null(copy);
    return memcpy(copy, image, *size);
}

// A message of these words; its size.
static inline size_t put_message(uint8_t *out, uint32_t kind, const uint32_t *words,
                                 uint32_t count) {
    const uint32_t head[2] = {4 * count, kind};
    memcpy(out, head, 8);
    memcpy(out + 8, words, 4 * count);
    return 8 + 4 * count;
}

static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
