// Scenes with plugins: motions and controllers from shared libraries, their memory in snapshots,
// and one line of error for mistakes in a file.
#include "rig/rig.h"
#include "support.h"

#define PLUGINS MAYFLY_BINARY_DIR "/plugins/plugin_"

// Two hovercraft, one of which drops to full dynamics, push a walker that sways on the way; all of
// them measure.
#define PLAY                                                                                       \
    "world: {step: 0.001}\ngroups:\n"                                                              \
    "  - name: craft\n    model: ../models/hexapod.urdf\n    motion: own\n    count: 2\n"          \
    "    sensors: true\n    placement: {poses: [[0, 0, 0], [0, 3, 0]]}\n"                          \
    "    plugins:\n"                                                                               \
    "      - {file: \"" PLUGINS "hover.so\", settings: {height: 0.16, thrust: 40}}\n"              \
    "      - {file: \"" PLUGINS "sway.so\", tick: 0.02, settings: {amplitude: 0.3}}\n"             \
    "    switch:\n"                                                                                \
    "      - {to: articulated, when: {near: {group: walker, distance: 0.5}}}\n"                    \
    "      - {to: own, when: {far: {group: walker, distance: 0.6}}}\n"                             \
    "  - name: walker\n    model: ../models/hexapod.urdf\n    motion: rigid\n"                     \
    "    sensors: true\n    placement: {poses: [[0.7, 0, 0]]}\n"                                   \
    "    plugins:\n      - {file: \"" PLUGINS "sway.so\", tick: 0.01}\n"

TEST(plugins_move_and_control) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, PLAY);
    mf_Group *vehicle = mf_world_group(scene.world, 0);
    assert_int_equal(mf_motion_of(vehicle, 0), MF_MOTION_OWN);
    mf_world_step(scene.world, 20);
    // Each at its own rate: after 20 ms two and one calls of the controllers, 20 of the motion.
    assert_near(get(&scene, 0, "sway.clock", 0, 0), 0.02, 1e-6);
    assert_near(get(&scene, 1, "sway.clock", 0, 0), 0.02, 1e-6);
    mf_world_step(scene.world, 1);
    assert_near(get(&scene, 0, "sway.clock", 0, 0), 0.04, 1e-6);
    assert_near(get(&scene, 1, "sway.clock", 0, 0), 0.03, 1e-6);
    double height = get_field(vehicle, "base.position", 0, 2);
    assert_near(height, 0.16, 1e-6);
    bool switched = false;
    for (int i = 0; i < 100; i++) {
        mf_world_step(scene.world, 20);
        switched = switched || mf_motion_of(vehicle, 0) == MF_MOTION_ARTICULATED;
    }
    assert_true(switched);
    assert_int_equal(mf_motion_of(vehicle, 1), MF_MOTION_OWN);
    assert_int_equal(mf_group_fault_total(vehicle), 0);
}

// A controller that names link.pose gets the poses of the beginning of each step, in a call of many
// steps, too.
TEST(controllers_see_links) {
    static const char text[] =
        "world: {step: 0.001}\ngroups:\n  - name: a\n    model: ../models/hexapod.urdf\n"
        "    motion: rigid\n    height: 1\n    precision: double\n"
        "    plugins:\n      - {file: \"" PLUGINS "case_links.so\", tick: 0.001}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    mf_world_step(scene.world, 99);
    const double height = get(&scene, 0, "base.position", 0, 2);
    mf_world_step(scene.world, 1);
    assert_true(get(&scene, 0, "corpus.count", 0, 0) == height);
    assert_true(get(&scene, 0, "base.position", 0, 2) < height);
    mf_world_step(scene.world, 99);
    const double fall = get(&scene, 0, "base.position", 0, 2) - height;
    assert_near(get(&scene, 0, "corpus.count", 0, 0) - height, fall, 0.005); // a step ago
    assert_true(fall < -0.05);
}

enum { STEPS = 1500 };

// The end of a play; at `pause` (0: never) it goes on in another world.
static uint64_t end_of(const char *text, uint32_t threads, uint32_t pause) {
    AUTO_CONTEXT *context = open_context(threads);
    mf_plugins_allow(context, true);
    AUTO_SCENE_FILE *file = parse_scene(context, text);
    AUTO_SCENE scene = make_scene(context, file);
    mf_world_step(scene.world, pause);
    if (pause > 0) {
        size_t size;
        AUTO(end_memory) void *image = take_snapshot(scene.world, &size);
        mf_scene_destroy(&scene);
        scene = make_scene(context, file);
        mf_world_step(scene.world, 91);
        MUST(mf_world_restore(scene.world, image, size, &error));
    }
    mf_world_step(scene.world, STEPS - pause);
    return mf_world_hash(scene.world);
}

// Also between the ticks of both controllers, while sensors are on their way, on both sides of
// changes of motion.
TEST(plays_go_on_to_the_bit) {
    static const uint32_t pauses[] = {1, 13, 207, 460, 905, 1303};
    uint64_t hash = end_of(PLAY, 1, 0);
    assert_true(end_of(PLAY, 3, 0) == hash);
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++)
        if (end_of(PLAY, 1, pauses[i]) != hash)
            fail_msg("paused at step %u", pauses[i]);
}

// A plugin with other settings is another play: its images are refused.
TEST(images_of_other_settings_are_refused) {
    AUTO_SCENE_FILE *file = parse_scene(*state, PLAY);
    AUTO_SCENE scene = make_scene(*state, file);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(scene.world, &size);
    mf_scene_destroy(&scene);
    file->groups[0].plugins[1].values[0].value = 0.25;
    scene = make_scene(*state, file);
    assert_int_equal(mf_world_restore(scene.world, image, size, NULL), MF_BAD_ARGUMENT);
}

#define ROBOT "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n"

TEST(mistakes_are_reported_in_one_line) {
    static const SceneMistake mistakes[] = {
        {ROBOT "    motion: own\n    plugins:\n      - file: \"" PLUGINS "sway.so\"\n",
         "group a: motion own: none of its plugins is a motion", 0},
        {ROBOT "    plugins:\n      - file: nowhere.so\n", "cannot find it", 0},
        {ROBOT "    plugins:\n      - {file: \"" PLUGINS "sway.so\", settings: {speed: 1}}\n",
         "plugin sway has no setting speed", 0},
        {ROBOT "    plugins:\n      - {file: \"" PLUGINS "sway.so\", settings: {lean: 11}}\n",
         "setting lean: expected 0 .. 10", 0},
        {ROBOT "    gaits: [tripod]\n    plugins:\n      - file: \"" PLUGINS "sway.so\"\n",
         "both write joint.target", 0},
        {"groups:\n  - name: a\n    model: ../models/ball.xml\n    motion: own\n"
         "    plugins:\n      - file: \"" PLUGINS "hover.so\"\n",
         "expected a robot with two joints", 0},
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes, false);
}

TEST(every_failing_call_is_survived) {
    char text[] = PLAY;
    assert_true(torture(*state, make_once, text, TORTURE_MUST_FAIL) > 100);
}

// What has joints gets its color by the order, when there are several; what is notified one has
// that.
TEST(groups_have_colors) {
    static const char text[] = "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n"
                               "  - name: ball\n    model: ../models/ball.xml\n"
                               "  - name: b\n    model: ../models/hexapod.urdf\n"
                               "  - name: c\n    model: ../models/hexapod.urdf\n    color: file\n"
                               "  - name: d\n    model: ../models/ball.xml\n    color: blue\n";
    AUTO_SCENE_FILE *file = parse_scene(*state, text);
    AUTO_SCENE scene = make_scene(*state, file);
    assert_non_null(scene.colors[0]);
    assert_null(scene.colors[1]);
    assert_non_null(scene.colors[2]);
    assert_string_not_equal(scene.colors[0], scene.colors[2]);
    assert_null(scene.colors[3]);
    assert_string_equal(scene.colors[4], scene.colors[0]);
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    file = parse_scene(*state, ROBOT "  - name: ball\n    model: ../models/ball.xml\n");
    scene = make_scene(*state, file);
    assert_null(scene.colors[0]); // nobody to tell it from
}

// Plugins, records and colors are written back as they were read.
TEST(what_is_read_is_written) {
    AUTO_SCENE_FILE *again,
        *file = parse_scene(
            *state,
            "record: {file: out.h5, every: 0.02, fields: [sensor.value, base.position.z]}\n" PLAY
            "    color: orange\n");
    assert_string_equal(file->record_path, MAYFLY_SOURCE_DIR "/scenes/out.h5");
    assert_true(file->record_every == 0.02);
    assert_int_equal(file->record_field_count, 2);
    assert_string_equal(file->record_fields[1], "base.position.z");
    assert_int_equal(file->groups[0].plugin_count, 2);
    assert_string_equal(file->groups[0].plugins[0].values[1].name, "thrust");
    assert_true(file->groups[0].plugins[0].values[1].value == 40.0);
    assert_int_equal(file->groups[1].color, MF_COLOR_ORANGE);
    write_twice(*state, file, &again);
    assert_string_equal(again->groups[0].plugins[0].values[1].name, "thrust");
}

// Settings are reached from the command line, one by one and as a whole.
TEST(settings_are_overridden) {
    static const mf_Override overrides[] = {{"groups.craft.plugins.0.settings.height", "0.5"},
                                            {"groups.craft.plugins.0.settings.drag", "2"},
                                            {"groups.craft.plugins.1.settings", "{lean: 0.1}"},
                                            {"groups.craft.plugins.1.tick", "0.05"}};
    AUTO_SCENE_FILE *file = parse_with(*state, PLAY, overrides, 4);
    const mf_ScenePlugin *plugins = file->groups[0].plugins;
    assert_int_equal(plugins[0].value_count, 3); // thrust stays
    double height = 0.0, drag = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        height += strcmp(plugins[0].values[i].name, "height") == 0 ? plugins[0].values[i].value : 0;
        drag += strcmp(plugins[0].values[i].name, "drag") == 0 ? plugins[0].values[i].value : 0;
    }
    assert_true(height == 0.5 && drag == 2.0);
    assert_int_equal(plugins[1].value_count, 1);
    assert_string_equal(plugins[1].values[0].name, "lean");
}

// Where evolution has nothing to do, a controller from a library may; it is called at its rate, and
// loaded only by who allows it.
TEST(a_plugin_controls_alone) {
    AUTO_SCENE_FILE *file = parse_scene(
        *state, "world: {step: 0.01}\ngroups:\n  - name: a\n    model: ../models/quadruped.urdf\n"
                "    precision: double\n    motion: points\n"
                "    plugins: [{file: \"" PLUGINS "sway.so\", tick: 0.02}]\n");
    AUTO_SCENE scene;
    mf_plugins_allow(*state, false);
    MUST_FAIL(mf_scene_create(*state, file, NULL, &scene, &error), MF_UNSUPPORTED,
              "not loaded without --allow-plugins");
    mf_plugins_allow(*state, true);
    scene = make_evaluation(*state, file, 2);
    assert_int_equal(mf_scene_genome_bytes(&scene), 0);
    mf_world_step(scene.world, 51); // calls at 0, 20 .. 500 ms
    assert_near(get(&scene, 0, "sway.clock", 1, 0), 0.52, 1e-12);
}

// The files of this test name plugins.
static int make_trusting_context(void **state) {
    const int made = make_context(state);
    if (made == 0)
        mf_plugins_allow(*state, true);
    return made;
}

GROUP_FIXTURE(make_trusting_context, drop_context);
