// The first picture of a video of every scene that is shipped: a robot is at least 60 pixels tall,
// or, where there are only particles, they are.
#include "support.h"

#include "camera/overview.h"
#include "camera/camera_pose.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WIDE = 1280, HIGH = 720, LEAST = 60 }; // [pixel]

typedef struct Seen {
    int32_t robot[2]; // group, instance
    uint32_t top, bottom;
} Seen;

static Seen *seen_of(Seen *all, uint32_t *count, const int32_t *owner, bool together, uint32_t y) {
    const int32_t robot = together ? 0 : owner[1];
    for (uint32_t i = 0; i < *count; i++)
        if (all[i].robot[0] == owner[0] && all[i].robot[1] == robot)
            return &all[i];
    all[*count] = (Seen){{owner[0], robot}, y, y};
    return &all[(*count)++];
}

// [pixel] Of the tallest robot in the picture.
static uint32_t tallest(const mf_Scene *scene, const int32_t *owners) {
    enum { ROBOTS = 4096 };
    static Seen all[ROBOTS];
    uint32_t count = 0, most = 0;
    for (uint32_t i = 0; i < WIDE * HIGH && count < ROBOTS; i++) {
        const int32_t *owner = owners + 3 * i;
        if (owner[0] < 0 || owner[2] < 0)
            continue;
        const mf_Group *group = mf_world_group(scene->world, (uint32_t)owner[0]);
        const mf_Model *model = mf_group_model(group);
        if (model->base == MF_BASE_FIXED && model->joint_count == 0) // a field, a pool
            continue;
        const bool particles = mf_particles_spacing(group) > 0.0;
        seen_of(all, &count, owner, particles, i / WIDE)->bottom = i / WIDE;
    }
    for (uint32_t i = 0; i < count; i++)
        most = all[i].bottom - all[i].top + 1 > most ? all[i].bottom - all[i].top + 1 : most;
    return most;
}

static void look_at(mf_Context *context, const char *name) {
    if (strcmp(name, "golem.yaml") == 0) // it has no robots before they evolved
        return;
    AUTO_WHOLE_SCENE scene = scene_at(context, formatted("scenes/%s", name), NULL, 0);
    mf_Camera camera = WITH(mf_camera(), .width = WIDE, .height = HIGH, .color = false,
                            .segmentation = true, .farthest = 1e5);
    mf_FreeCamera *eye;
    mf_Overview *overview;
    double position[3], rotation[4];
    mf_camera_set_view(&camera, 0.7);
    const uint32_t isolated = mf_first_isolated(scene.world);
    mf_CameraPixels pixels = {.segmentation =
                                  mf_allocate(context, WIDE * HIGH, 3 * sizeof(int32_t))};
    MUST(mf_free_camera_create(scene.world, &camera, &eye, &error));
    MUST(mf_overview_create(eye, &camera, isolated, 0, &overview, &error));
    mf_overview_pose(overview, position, rotation);
    MUST(mf_free_camera_take(eye, position, rotation, isolated, 0, &pixels, &error));
    const uint32_t high = tallest(&scene, pixels.segmentation);
    printf("%-32s %u pixels\n", name, high);
    assert_true(high >= LEAST);
    mf_overview_destroy(overview);
    mf_free_camera_destroy(eye);
    mf_release(context, pixels.segmentation);
}

TEST(a_robot_is_seen_in_every_scene) {
    each_scene(*state, look_at);
}
