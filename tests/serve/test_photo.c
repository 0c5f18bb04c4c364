// Pictures over the protocol: the pixels of a camera in process, of both kinds of cameras, after
// other messages; lists, and what is refused.
#include "serve/support.h"

#include "camera/camera_pose.h"

GROUP_FIXTURE(setup_context, teardown_context);

static const char robots[] = "world: {step: 0.002}\n"
                             "cameras: [{name: stand, position: [-3, 1, 2], look_at: [0, 0, 0.5],\n"
                             "  width: 64, height: 48, depth: true}]\n"
                             "groups:\n"
                             "- name: man\n"
                             "  model: " MAYFLY_SOURCE_DIR "/models/humanoid.urdf\n"
                             "  motion: kinematic\n"
                             "  count: 2\n"
                             "  placement: {grid: {center: [0, 0, 0], spacing: [1, 1, 1]}}\n";

enum { WIDTH = 64, HEIGHT = 48 };

// What the client got is what the scene's own camera sees in the same state.
TEST(test_pictures_are_those_in_process) {
    mf_ClientPhoto photo;
    AUTO_SERVED *served = start(*state, robots, paused());
    AUTO_CLIENT *client = join(served);
    MUST(mf_client_run_steps(client, 5, &error));
    MUST(mf_client_photo(client, MF_PROTOCOL_ALL, 0, 0, MF_PHOTO_COLOR, &photo, &error));
    assert_int_equal(photo.tick, 5);
    assert_int_equal(photo.time, 10 * MF_MILLISECOND);
    assert_int_equal(photo.width, WIDTH);
    assert_int_equal(photo.height, HEIGHT);

    AUTO(end_scene) mf_Scene *scene = open_scene(*state, robots);
    mf_Camera camera;
    mf_FreeCamera *own = NULL;
    uint32_t group, robot;
    static uint8_t color[3 * WIDTH * HEIGHT];
    static float depth[WIDTH * HEIGHT];
    double position[3], rotation[4];
    mf_world_step(scene->world, 5);
    MUST(mf_scene_camera(scene, 0, &camera, &group, &robot, &error));
    assert_true(mf_camera_pose(&camera.frame, NULL, 0, position, rotation));
    MUST(mf_free_camera_create(scene->world, &camera, &own, &error));
    const mf_CameraPixels pixels = {.color = color, .depth = depth};
    MUST(mf_free_camera_take(own, position, rotation, MF_NONE, 0, &pixels, &error));
    assert_memory_equal(photo.pixels, color, sizeof color);
    MUST(mf_client_photo(client, MF_PROTOCOL_ALL, 0, 0, MF_PHOTO_DEPTH, &photo, &error));
    assert_int_equal(photo.size, sizeof depth);
    assert_memory_equal(photo.pixels, depth, sizeof depth);
    mf_free_camera_destroy(own);
}

TEST(test_every_robot_has_its_own) {
    mf_ClientPhoto photo;
    mf_ClientCamera cameras[2];
    uint32_t count = 0;
    AUTO_SERVED *served = start(*state, robots, running());
    AUTO_CLIENT *client = join(served);
    MUST(mf_client_cameras(client, 0, cameras, 2, &count, &error));
    assert_int_equal(count, 1);
    assert_string_equal(cameras[0].name, "eye");
    assert_int_equal(cameras[0].width, 320);
    assert_int_equal(cameras[0].height, 240);
    assert_int_equal(cameras[0].kinds, 1u << MF_PHOTO_COLOR);
    MUST(mf_client_cameras(client, MF_PROTOCOL_ALL, cameras, 2, &count, &error));
    assert_int_equal(count, 1);
    assert_string_equal(cameras[0].name, "stand");
    assert_int_equal(cameras[0].kinds, 1u << MF_PHOTO_COLOR | 1u << MF_PHOTO_DEPTH);
    // A camera sees other robots, not the link that carries it from inside.
    for (uint32_t robot = 0; robot < 2; robot++) {
        MUST(mf_client_photo(client, 0, robot, 0, MF_PHOTO_SEGMENTATION, &photo, &error));
        assert_int_equal(photo.size, 320 * 240 * 12);
        const int32_t(*owner)[3] = photo.pixels;
        for (uint32_t i = 0; i < 320 * 240; i++)
            assert_in_range(owner[i][0] + 2, 0, 2);
    }
}

TEST(test_what_is_not_there_is_refused) {
    mf_ClientPhoto photo;
    mf_ClientCamera camera;
    uint32_t count = 0;
    AUTO_SERVED *served = start(*state, robots, running());
    AUTO_CLIENT *client = join(served);
    MUST_FAIL(mf_client_photo(client, 0, 2, 0, MF_PHOTO_COLOR, &photo, &error), MF_BAD_ARGUMENT,
              "");
    MUST_FAIL(mf_client_photo(client, 0, 0, 1, MF_PHOTO_COLOR, &photo, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_client_photo(client, 1, 0, 0, MF_PHOTO_COLOR, &photo, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_client_photo(client, MF_PROTOCOL_ALL, 1, 0, MF_PHOTO_COLOR, &photo, &error),
              MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_photo(client, 0, 0, 0, MF_PHOTO_LIST, &photo, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_cameras(client, 7, &camera, 1, &count, &error), MF_NOT_FOUND, "");
    MUST(mf_client_photo(client, 0, 0, 0, MF_PHOTO_COLOR, &photo, &error)); // it goes on
}

// Pictures are no state, and snapshots fit from before the first one.
TEST(test_snapshots_are_as_before) {
    mf_ClientPhoto photo;
    mf_ClientStatistics before, after;
    size_t size;
    AUTO_SERVED *served = start(*state, robots, paused());
    AUTO_CLIENT *client = join(served);
    AUTO(end_memory) void *copy = snapshot_of(client, &size);
    MUST(mf_client_statistics(client, true, &before, &error));
    MUST(mf_client_photo(client, 0, 1, 0, MF_PHOTO_DEPTH, &photo, &error));
    MUST(mf_client_statistics(client, true, &after, &error));
    assert_true(before.hash == after.hash);
    MUST(mf_client_restore(client, copy, size, &error));
}
