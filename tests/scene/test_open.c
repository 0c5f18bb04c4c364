// Scenes in one call: opened with or without a context, simulated for a time, closed without leaks.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define SOCCER MAYFLY_SOURCE_DIR "/scenes/soccer.yaml"
#define BALL MAYFLY_SOURCE_DIR "/models/ball.xml"

// The same world as in three calls.
TEST(an_open_scene_is_a_loaded_one) {
    static const mf_Override overrides[] = {{"groups.blue.count", "4"}, {"world.step", "0.002"}};
    AUTO(end_scene) mf_Scene *scene = NULL;
    MUST(mf_scene_open(*state, SOCCER, overrides, 2, &scene, &error));
    assert_int_equal(scene->group_count, 4);
    assert_int_equal(scene->step, 2 * MF_MILLISECOND);
    assert_int_equal(scene->file->groups[2].count, 4);
    MUST(mf_scene_run(scene, 0.1, &error));
    assert_int_equal(mf_world_time(scene->world), 100 * MF_MILLISECOND);

    AUTO_WHOLE_SCENE other = scene_at(*state, "scenes/soccer.yaml", overrides, 2);
    mf_world_step(other.world, 50);
    assert_true(mf_world_hash(other.world) == mf_world_hash(scene->world));
}

TEST(a_context_is_created_if_none_is_given) {
    mf_Scene *scene = NULL;
    MUST(mf_scene_open(NULL, BALL, NULL, 0, &scene, &error));
    assert_non_null(mf_world_context(scene->world));
    MUST(mf_scene_run(scene, 0.01, &error));
    mf_scene_close(scene);
    mf_scene_close(NULL);
}

TEST(times_are_rounded_up_to_steps) {
    AUTO(end_scene) mf_Scene *scene = NULL;
    MUST(mf_scene_open(*state, BALL, NULL, 0, &scene, &error));
    const mf_Time step = scene->step;
    MUST(mf_scene_run(scene, 2.5 * mf_time_to_seconds(step), &error));
    assert_int_equal(mf_world_time(scene->world), 3 * step);
    static const double nothing[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(mf_scene_run(scene, nothing[i], NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_run(NULL, 1.0, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_world_time(scene->world), 3 * step);
}

TEST(unreadable_files_are_reported) {
    static const mf_Override wrong = {"group.cuont", "4"};
    mf_Context *const contexts[] = {*state, NULL};
    for (int i = 0; i < 2; i++) {
        mf_Scene *scene = (mf_Scene *)*state;
        mf_Error error = {0};
        assert_int_equal(mf_scene_open(contexts[i], "/nowhere.yaml", NULL, 0, &scene, &error),
                         MF_NOT_FOUND);
        assert_null(scene);
        assert_string_equal(error.file, "/nowhere.yaml");
        assert_fails(mf_scene_open(contexts[i], BALL, &wrong, 1, &scene, &error), MF_BAD_FILE,
                     &error, "did you mean groups.robot.count?");
        assert_int_equal(mf_scene_open(contexts[i], NULL, NULL, 0, &scene, &error),
                         MF_BAD_ARGUMENT);
        assert_int_equal(mf_scene_open(contexts[i], BALL, NULL, 0, NULL, &error), MF_BAD_ARGUMENT);
    }
}

static mf_Status open_once(mf_Context *context, void *user, mf_Error *error) {
    mf_Scene *scene = NULL;
    mf_Status status = mf_scene_open(context, user, NULL, 0, &scene, error);
    assert_int_equal(status != MF_OK, scene == NULL);
    mf_scene_run(scene, 0.01, NULL);
    mf_scene_close(scene);
    return status;
}

TEST(every_failing_call_is_survived) {
    char path[] = BALL;
    assert_true(torture(*state, open_once, path, TORTURE_MUST_FAIL) > 50);
}
