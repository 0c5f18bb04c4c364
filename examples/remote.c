// A program beside a world that `mayfly serve` simulates: it builds the world, looks at it, moves
// it and undoes what it did.
//
//     mayfly serve models/hexapod.urdf --paused --files . &
//     example_remote 127.0.0.1:8766
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mayfly/client.h>
#include <mayfly/motion.h>

static const char scene[] = "name: Yard\n"
                            "world: {step: 0.002}\n"
                            "cameras:\n"
                            "  - {name: mast, width: 64, height: 48, position: [3, 0, 2], look_at: "
                            "[0, 0, 0], depth: true}\n"
                            "groups:\n"
                            "  - name: walkers\n"
                            "    model: models/hexapod.urdf\n"
                            "    motion: rigid\n"
                            "    switch: [{to: articulated, when: {at: {time: 1000}}}]\n"
                            "  - name: modules\n"
                            "    model: models/modules/superbot_simple.urdf\n"
                            "    count: 2\n"
                            "    chain: {first: front, second: back}\n"
                            "    placement: {poses: [[0, 2, 0], [0.168, 2, 0]]}\n";

static mf_Error error;
static mf_Client *client;

// Every call says why it failed; a program this small ends then.
static void must(mf_Status status) {
    char text[600];
    if (status == MF_OK)
        return;
    fprintf(stderr, "remote: %s\n", mf_error_format(&error, text, sizeof text));
    mf_client_close(client);
    exit(EXIT_FAILURE);
}

static uint64_t hash_of_world(void) {
    mf_ClientStatistics statistics;
    must(mf_client_statistics(client, true, &statistics, &error));
    return statistics.hash;
}

// What there is: the title, the fields of the first group, the model, gaits and docks, cameras.
static void look_around(void) {
    const char *json;
    size_t size;
    mf_ClientAbout about;
    mf_ClientCamera camera;
    uint32_t cameras;
    must(mf_client_refresh(client, &error));
    must(mf_client_model(client, 0, &json, &size, &error));
    must(mf_client_about(client, &about, &error));
    must(mf_client_cameras(client, MF_PROTOCOL_ALL, &camera, 1, &cameras, &error));
    printf("%s: %u fields, a model of %zu bytes, %u docks on a module, %u camera\n",
           mf_client_title(client), mf_client_field_count(client), size, about.groups[1].dock_count,
           cameras);
}

// A picture of the depths that the camera sees.
static void take_photo(void) {
    mf_ClientPhoto photo;
    must(mf_client_photo(client, MF_PROTOCOL_ALL, 0, 0, MF_PHOTO_DEPTH, &photo, &error));
    const float *depth = photo.pixels;
    printf("the camera's middle sees %.2f m far\n",
           (double)depth[photo.width * (photo.height / 2) + photo.width / 2]);
}

// Steps, back by a snapshot, the same steps: the same bits.
static void repeat(void) {
    const void *image;
    size_t size;
    must(mf_client_snapshot(client, &image, &size, &error));
    void *kept = malloc(size);
    if (kept == NULL)
        must(MF_NO_MEMORY);
    memcpy(kept, image, size);
    must(mf_client_run_steps(client, 250, &error));
    const uint64_t first = hash_of_world();
    must(mf_client_restore(client, kept, size, &error));
    must(mf_client_run_steps(client, 250, &error));
    printf("after a snapshot: %s\n", hash_of_world() == first ? "the same bits" : "other bits");
    free(kept);
}

// A value by its name, read and written.
static void bend(void) {
    const char *path = "walkers/leg1_femur/joint.target";
    mf_ClientProperty property;
    double angle;
    must(mf_client_property(client, 0, path, &property, &error));
    must(mf_client_get(client, 0, &angle, 1, NULL, &error));
    const double bent = angle + 0.3;
    const mf_ClientValues values = {.number = 0, .first = 0, .count = 1, .values = &bent};
    must(mf_client_set(client, &values, 1, &error));
    must(mf_client_run_steps(client, 250, &error));
    printf("%s: %.2f %s, now %.2f\n", path, angle, property.unit, bent);
}

// Robots at other places, by another motion, separated from each other, and more of them.
static void rearrange(void) {
    static const double pose[7] = {1, -1, 0.2, 1, 0, 0, 0}, corner[1][3] = {{-2, -2, 0}};
    const mf_ClientDock front = {.group = 1, .instance = 0, .dock = 0};
    const mf_ClientDock back = {.group = 1, .instance = 1, .dock = 3};
    const mf_ClientSpawn another = {
        .group = "walkers", .name = "late", .count = 1, .poses = corner};
    must(mf_client_set_poses(client, 0, 0, 1, pose, &error));
    must(mf_client_switch(client, 0, 0, 1, MF_MOTION_ARTICULATED, &error));
    must(mf_client_undock(client, &front, &error));
    must(mf_client_dock(client, &front, &back, 2, &error)); // upside down
    must(mf_client_spawn(client, &another, NULL, &error));
    must(mf_client_run_steps(client, 100, &error));
    must(mf_client_reset(client, MF_PROTOCOL_ALL, 0, MF_PROTOCOL_ALL, &error));
}

// What the program thinks, on the page of `mayfly serve --page` and in recordings: a path and the
// pose that it expects; a slider comes back by MF_ANSWER_CHANGED.
static void draw(void) {
    static const float path[] = {0, 0, 0.02f, 1, 0.5f, 0.02f, 2, 0, 0.02f};
    static const float pose[] = {2, 0, 0.15f, 1, 0, 0, 0};
    const mf_Drawing line = {
        .kind = MF_DRAW_LINES, .color = 0x1c7ed6ff, .numbers = path, .count = 9};
    const mf_Drawing ghost = {.kind = MF_DRAW_GHOST, .numbers = pose, .count = 7};
    const mf_Control speed = {
        .kind = MF_CONTROL_SLIDER, .name = "speed", .unit = "m/s", .high = 0.4, .value = 0.2};
    must(mf_client_draw(client, "path", &line, NULL, &error));
    must(mf_client_draw(client, "goal", &ghost, &(mf_ClientCarrier){.group = 0}, &error));
    must(mf_client_control(client, 0, &speed, &error));
    must(mf_client_clear(client, "path", &error));
}

// What happened meanwhile, as the server tells it.
static void tell_events(void) {
    mf_ClientNews news;
    uint32_t events = 0;
    while (mf_client_receive(client, 0.2, &news, &error) == MF_OK)
        events += news.kind == MF_ANSWER_EVENT;
    printf("%u events\n", events);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: example_remote HOST:PORT|PATH\n");
        return EXIT_FAILURE;
    }
    must(mf_client_connect(arguments[1], NULL, &client, &error));
    must(mf_client_events(client, 0xffff, &error));
    must(mf_client_load(client, "models/hexapod.urdf", &error));
    must(mf_client_load_scene(client, scene, sizeof scene - 1, &error));
    must(mf_client_pause(client, true, &error));
    must(mf_client_set_speed(client, 2.0, &error));
    look_around();
    take_photo();
    repeat();
    bend();
    rearrange();
    draw();
    tell_events();
    const mf_ClientShared shared = mf_client_shared(client);
    printf("shared memory: %zu bytes%s%s\n", shared.bytes, shared.refused == NULL ? "" : ": ",
           shared.refused == NULL ? "" : shared.refused);
    mf_client_close(client);
    return EXIT_SUCCESS;
}
