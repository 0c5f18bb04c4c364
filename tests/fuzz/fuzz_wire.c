// Fuzz target: messages of clients. A server of two vehicles gets the bytes of a connection; each
// is answered or the connection ends, and the world goes on. LOAD and SPAWN, whose documents are
// scenes (fuzz_step.c), find no files here.
#include "fuzz.h"
#include "serve/peer.h"

#include <mayfly/draw.h>

#include <errno.h>
#include <sys/socket.h>

enum { STEPS = 3 };

static const char scene_text[] = "world: {step: 0.01}\n"
                                 "groups:\n"
                                 "- name: quads\n"
                                 "  model: ../models/crazyflie.yaml\n"
                                 "  count: 2\n"
                                 "  height: 2\n"
                                 "- name: robot\n"
                                 "  model: ../models/car.urdf\n"
                                 "  motion: points\n"
                                 "  placement: {poses: [[9, 9, 0]]}\n";

// Takes what the server has sent.
static void drain(int socket) {
    uint8_t answer[65536];
    while (recv(socket, answer, sizeof answer, MSG_DONTWAIT) > 0) {
    }
}

static void talk(mf_Server *server, int client, const uint8_t *data, size_t size) {
    size_t sent = 0;
    for (int step = 0; step < STEPS || sent < size; step++) {
        mf_Peer *peer = &server->peers[0];
        const ssize_t now =
            sent < size ? send(client, data + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        sent = now < 0 && errno != EAGAIN ? size : sent + (size_t)(now > 0 ? now : 0);
        if (peer->socket >= 0)
            mf_peer_read(server, peer);
        mf_link_watch_faults(server);
        mf_link_watch_scene(server);
        mf_link_publish(server);
        mf_world_step(server->world, 1);
        drain(client);
    }
}

static void serve(mf_Context *context, mf_Scene *scene, const uint8_t *data, size_t size) {
    mf_ServerConfig config = mf_server_config();
    mf_Server *server = NULL;
    int ends[2];
    config.port = 0;
    config.speed = 0.0;
    require(mf_server_create(context, scene, &config, &server, NULL) == MF_OK);
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    mf_peer_open(server, ends[0]);
    talk(server, ends[1], data, size);
    close(ends[1]);
    mf_server_destroy(server);
}

// The world of all inputs, which each takes from its start.
typedef struct Served {
    mf_Context *context;
    mf_SceneFile *file;
    mf_Scene scene;
    void *image;
    size_t size, live; // [byte] of the snapshot, and in use between inputs
} Served;

static void prepare(Served *own) {
    own->context = fuzz_context(NULL);
    require(mf_scene_file_parse(own->context, MAYFLY_SOURCE_DIR "/scenes/fuzz.yaml", scene_text,
                                sizeof scene_text - 1, NULL, 0, &own->file, NULL) == MF_OK);
    require(mf_scene_create(own->context, own->file, NULL, &own->scene, NULL) == MF_OK);
    serve(own->context, &own->scene, NULL, 0); // what a server adds once
    require(mf_draw(own->scene.world, "once", &(mf_Drawing){.count = 0}, NULL) == MF_OK);
    mf_draw_clear(own->scene.world, NULL);
    own->size = mf_world_snapshot_size(own->scene.world);
    own->image = malloc(own->size);
    require(mf_world_snapshot(own->scene.world, own->image, own->size, NULL) == MF_OK);
    require(mf_world_restore(own->scene.world, own->image, own->size, NULL) == MF_OK);
    serve(own->context, &own->scene, NULL, 0);
    own->live = mf_context_live_bytes(own->context);
}

static Served served;

static void finish(void) {
    free(served.image);
    mf_scene_destroy(&served.scene);
    mf_scene_file_destroy(served.file);
    fuzz_end(served.context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (served.context == NULL) {
        prepare(&served);
        atexit(finish);
    }
    require(mf_world_restore(served.scene.world, served.image, served.size, NULL) == MF_OK);
    serve(served.context, &served.scene, data, size);
    require(mf_context_live_bytes(served.context) == served.live);
    return 0;
}
