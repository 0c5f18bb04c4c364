// Robots that join a world that runs (scene/extend.h): the others go on with the same bits, in
// every kind of scene and with every number of threads; and what cannot join.
#include "scene/extend.h"

#include "rig/rig.h"
#include "scene/scene_file.h"

GROUP_FIXTURE(setup_context, teardown_context);

enum { BEFORE = 30, AFTER = 40 };

static const double far_away[2][3] = {{400.0, 300.0, 0.5}, {400.0, 320.0, -2.0}};

// Boxes that fall on each other and on the ground.
static const char heap[] = "world: {step: 0.002}\n"
                           "groups:\n"
                           "- name: boxes\n"
                           "  model: " MAYFLY_SOURCE_DIR "/models/resting_box.xml\n"
                           "  count: 12\n"
                           "  placement: {grid: {center: [0, 0, 0.1], spacing: [0.15, 0.15, 0.101],"
                           " columns: 2, layers: 3}}\n";

// A file of the project, or the text of a scene.
static mf_Scene *open_scene(mf_Context *context, const char *what) {
    char path[512] = "/tmp/mayfly-extend-XXXXXX.yaml";
    mf_Scene *scene = NULL;
    const bool text = strchr(what, '\n') != NULL;
    if (text) {
        const int file = mkstemps(path, 5);
        assert_true(file >= 0);
        assert_int_equal(write(file, what, strlen(what)), (ssize_t)strlen(what));
        close(file);
    } else {
        snprintf(path, sizeof path, MAYFLY_SOURCE_DIR "/%s", what);
    }
    MUST(mf_scene_open(context, path, NULL, 0, &scene, &error));
    if (text)
        unlink(path);
    return scene;
}

static void drop(mf_Context *context, mf_Scene *scene, mf_SceneExtension *extension) {
    mf_scene_destroy(scene);
    mf_release(context, scene);
    mf_scene_extension_destroy(extension);
}

// Hash of the robots of the first `groups` groups.
static uint64_t hash_of(const mf_World *world, uint32_t groups) {
    uint64_t hash = (uint64_t)mf_world_time(world);
    for (uint32_t g = 0; g < groups; g++) {
        const mf_Group *group = mf_world_group((mf_World *)(uintptr_t)world, g);
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            hash = 31 * hash + mf_group_instance_hash(group, i);
    }
    return hash;
}

// A scene of the project, and the group that two more robots are like.
typedef struct Case {
    const char *file;
    uint32_t like;
} Case;

static void check_join(mf_Context *context, const Case *what) {
    mf_Scene *old = open_scene(context, what->file), *new = NULL;
    mf_SceneExtension *extension = NULL;
    mf_Error error = {0};
    mf_world_step(old->world, BEFORE);
    const mf_SceneJoin join = {
        .like = &old->file->groups[what->like], .count = 2, .poses = far_away};
    const uint32_t groups = old->group_count;
    const uint64_t begin = hash_of(old->world, groups);
    if (mf_scene_extend(old, &join, &extension, &new, &error) != MF_OK)
        fail_msg("%s: %s", what->file, error.message);
    assert_int_equal(mf_world_group_count(new->world), groups + 1);
    assert_true(hash_of(old->world, groups) == begin); // the old world is as it was
    assert_true(hash_of(new->world, groups) == begin);
    mf_Group *joined = mf_world_group(new->world, groups);
    assert_int_equal(mf_group_count(joined), 2);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t c = 0; c < 2; c++)
            assert_true(get_field(joined, "base.position", i, c) == far_away[i][c]);
    for (int step = 0; step < AFTER; step++) {
        mf_world_step(old->world, 1);
        mf_world_step(new->world, 1);
        if (hash_of(old->world, groups) != hash_of(new->world, groups))
            fail_msg("%s: other bits %d steps after robots joined", what->file, step + 1);
    }
    mf_scene_close(old);
    drop(context, new, extension);
}

// Neighbors and behaviors, contacts, poses from outside, docks and messages, a car of docked
// modules, everything at once.
static const Case cases[] = {
    {"scenes/swarm.yaml", 0},         {heap, 0},
    {"scenes/mixed_reality.yaml", 1}, {"scenes/snake.yaml", 0},
    {"scenes/atron_car.yaml", 0},     {"scenes/everything.yaml", 0},
};

TEST(test_the_others_go_on_with_the_same_bits) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_join(*state, &cases[i]);
}

TEST(test_the_same_bits_with_another_number_of_threads) {
    AUTO_CONTEXT *context = open_context(3);
    for (size_t i = 0; i < 4; i++)
        check_join(context, &cases[i]);
}

// Robots of a file join, beside each other and one after the other.
TEST(test_robots_of_a_file_join) {
    mf_Scene *scene = open_scene(*state, "scenes/wall.yaml"), *second = NULL, *third = NULL;
    mf_SceneExtension *first = NULL, *last = NULL;
    AUTO_SCENE_FILE *file = NULL;
    MUST(mf_scene_file_of_robot(*state, MAYFLY_SOURCE_DIR "/models/sun2022.yaml", &file, &error));
    mf_SceneJoin join = {.name = "guest",
                         .like = &file->groups[0],
                         .alone = true,
                         .count = 2,
                         .poses = far_away,
                         .height = 3.0};
    MUST(mf_scene_extend(scene, &join, &first, &second, &error));
    mf_world_step(second->world, 5);
    join.name = NULL; // after the file's group, whose name is free
    MUST(mf_scene_extend(second, &join, &last, &third, &error));
    const uint32_t groups = scene->group_count;
    assert_string_equal(mf_group_config_of(mf_world_group(third->world, groups))->name, "guest");
    assert_string_equal(mf_group_config_of(mf_world_group(third->world, groups + 1))->name,
                        "robot");
    assert_false(mf_group_config_of(mf_world_group(third->world, groups))->isolated);
    assert_true(mf_world_time(third->world) == 5 * scene->step);
    assert_true(third->step == scene->step);
    assert_true(get_field(mf_world_group(third->world, groups + 1), "base.position", 0, 2) >= 3.0);
    mf_world_step(third->world, 5);
    drop(*state, third, NULL);
    drop(*state, second, NULL);
    mf_scene_extension_destroy(last);
    mf_scene_extension_destroy(first);
    mf_scene_close(scene);
}

static void refuses(mf_Scene *scene, const mf_SceneJoin *join, mf_Status status,
                    const char *reason) {
    mf_Scene *out = NULL;
    mf_SceneExtension *extension = NULL;
    MUST_FAIL(mf_scene_extend(scene, join, &extension, &out, &error), status, reason);
    assert_null(out);
    assert_null(extension);
}

TEST(test_what_cannot_join) {
    AUTO(end_scene) mf_Scene *scene = open_scene(*state, "scenes/pool.yaml");
    AUTO(end_scene) mf_Scene *evolving = open_scene(*state, "scenes/oscillator.yaml");
    double poses[2][3] = {{1.0, 2.0, 3.0}, {4.0, 5.0, NAN}};
    mf_SceneJoin join = {.like = &scene->file->groups[0],
                         .count = 1,
                         .poses = (const double(*)[3])poses,
                         .name = scene->file->groups[0].name};
    refuses(scene, &join, MF_BAD_ARGUMENT, "a name that no group has");
    join.name = "a/b";
    refuses(scene, &join, MF_BAD_ARGUMENT, "letters");
    join.name = NULL;
    join.count = 2;
    refuses(scene, &join, MF_BAD_ARGUMENT, "below 1e6 m");
    join.count = 1;
    join.height = INFINITY;
    refuses(scene, &join, MF_BAD_ARGUMENT, "below 1e6 m");
    join.height = 0.0;
    join.like = &evolving->file->groups[0];
    refuses(evolving, &join, MF_UNSUPPORTED, "controlled by genomes");
    for (uint32_t g = 0; g < scene->file->group_count; g++)
        if (scene->file->groups[g].motion == MF_MOTION_FLUID) {
            join.like = &scene->file->groups[g];
            refuses(scene, &join, MF_UNSUPPORTED, "particles");
        }
    scene->group_count += MF_WORLD_GROUP_LIMIT; // as if it had that many
    refuses(scene, &join, MF_LIMIT, "as many as it can have");
    scene->group_count -= MF_WORLD_GROUP_LIMIT;
}

static mf_Status extend(mf_Context *context, void *user, mf_Error *error) {
    mf_Scene *old = user, *new = NULL;
    mf_SceneExtension *extension = NULL;
    const uint64_t begin = hash_of(old->world, old->group_count);
    const mf_SceneJoin join = {.like = &old->file->groups[0], .count = 2, .poses = far_away};
    const mf_Status status = mf_scene_extend(old, &join, &extension, &new, error);
    assert_true(hash_of(old->world, old->group_count) == begin);
    if (status == MF_OK)
        drop(context, new, extension);
    else
        assert_true(new == NULL &&extension == NULL);
    return status;
}

TEST(test_every_failure_leaves_the_old_world) {
    AUTO(end_scene) mf_Scene *scene = open_scene(*state, "scenes/snake.yaml");
    mf_world_step(scene->world, 3);
    assert_true(torture(*state, extend, scene, TORTURE_MAY_RECOVER) > 0);
}
