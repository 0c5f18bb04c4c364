// Docks of scenes: chains, rings, lists, where robots are placed, and mistakes.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define MODULES(rest)                                                                              \
    "world: {step: 0.01}\n"                                                                        \
    "groups:\n  - name: m\n    model: ../models/modules/superbot_simple.urdf\n" rest

static uint32_t assemblies_of(const mf_Scene *scene) {
    uint32_t names[64];
    const mf_WorldDocks *docks = mf_world_docks_of(scene->world);
    assert_non_null(docks);
    assert_true(mf_docks_robot_count(docks) <= 64);
    return mf_docks_assemblies(docks, names);
}

// Modules of 168 mm, each in front of the last one, at rest on the ground; they stay there.
TEST(a_chain_is_placed_and_docked) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, MODULES("    count: 5\n    chain: {first: front, second: back}\n"));
    assert_int_equal(assemblies_of(&scene), 1);
    for (int after = 0; after < 2; after++) {
        for (uint32_t i = 1; i < 5; i++) {
            const double distance =
                get(&scene, 0, "base.position", i, 0) - get(&scene, 0, "base.position", 0, 0);
            assert_true(fabs(distance - 0.168 * i) < (after ? 1e-4 : 1e-6));
        }
        mf_world_step(scene.world, 300);
    }
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).joined, 4);
}

// A dock is a part like a joint: its state, its load and its numbers have paths.
TEST(docks_have_paths) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, MODULES("    count: 2\n    chain: {first: front, second: back}\n"));
    const mf_Model *model = mf_group_model(scene.group);
    const uint32_t front = mf_model_find(model, MF_ITEM_DOCK, "front");
    double value;
    mf_Property dock;
    MUST(mf_property_find(scene.world, "m[0]/front/dock.state", &dock, &error));
    assert_int_equal(dock.part, MF_PART_DOCK);
    assert_int_equal(dock.index, front);
    assert_int_equal(dock.count, 1);
    mf_property_read(&dock, &value);
    assert_true(value == MF_DOCK_ENGAGED);
    MUST(mf_property_find(scene.world, "m[0]/front/dock.load", &dock, &error));
    assert_int_equal(dock.count, 6);
    assert_int_equal(dock.first, 6 * front);
    MUST(mf_property_find(scene.world, "m[1]/back/distance", &dock, &error));
    assert_true(*dock.constant ==
                model->docks[mf_model_find(model, MF_ITEM_DOCK, "back")].distance);
    MUST(mf_property_find(scene.world, "m[0]/front/dock.enabled", &dock, &error));
    value = 0;
    MUST(mf_property_write(&dock, &value, &error));
    mf_world_step(scene.world, 2);
    assert_int_equal(assemblies_of(&scene), 2);
}

// Six modules with their pitch joints at 60 degrees close a ring; at 50 degrees they do not meet.
TEST(a_ring_closes_where_its_docks_meet) {
    static const char *const angles[] = {"1.0471975511966", "0.8726646259972"};
    for (int k = 0; k < 2; k++) {
        mf_Error error = {0};
        mf_Scene scene;
        AUTO_SCENE_FILE *file = parse_scene(
            *state,
            formatted(
                MODULES("    count: 6\n    chain: {first: front, second: back, closed: true}\n"
                        "    initial:\n      - {property: pitch/joint.angle, values: [%s]}\n"
                        "      - {property: pitch/joint.target, values: [%s]}\n"
                        "    height: 0.4\n"),
                angles[k], angles[k]));
        const mf_Status status = mf_scene_create(*state, file, NULL, &scene, &error);
        assert_int_equal(status, k == 0 ? MF_OK : MF_BAD_FILE);
        if (k == 0) {
            assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).joined, 6);
            mf_world_step(scene.world, 5);
            for (uint32_t i = 0; i < 6; i++)
                assert_true(fabs(get(&scene, 0, "base.angular_velocity", i, 1)) < 0.1);
            mf_scene_destroy(&scene);
        } else {
            assert_non_null(strstr(error.message, "the docks that close a loop are"));
            assert_int_equal(error.line, 6);
        }
    }
}

// A module on top of another, by the list; the second one is moved, turned by a quarter.
TEST(a_list_moves_the_robot_of_the_second_dock) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, MODULES("  - {name: tool, model: ../models/modules/long_dock.urdf}\n"
                                 "docks:\n  - first: {group: m, dock: front}\n"
                                 "    second: {group: tool, dock: back}\n    orientation: 1\n"));
    assert_int_equal(assemblies_of(&scene), 1);
    assert_int_equal((int)get(&scene, 1, "dock.orientation", 0, 0) +
                         (int)get(&scene, 1, "dock.orientation", 0, 1),
                     1);
    assert_true(get(&scene, 1, "base.position", 0, 0) >
                get(&scene, 0, "base.position", 0, 0) + 0.08);
}

static void expect_refused(const char *models, void **state, const char *message, int line) {
    const mf_Error error = refused_scene(*state, models, false);
    assert_fails_as(error.status, MF_BAD_FILE, &error, message);
    assert_int_equal(error.line, line);
}

TEST(mistakes_are_one_line_with_their_location) {
    const struct {
        const char *text, *message;
        int line;
    } rows[] = {
        {MODULES("    count: 2\n    chain: {first: frnt, second: back}\n"),
         "docks: group m (superbot_simple) has no dock 'frnt', did you mean 'front'?", 6},
        {MODULES("    count: 2\n    chain: {first: front}\n"),
         "groups.m.chain.first: expected both chain.first and chain.second", 6},
        {MODULES("    count: 2\ndocks: [{first: {group: m, dock: front}, second: {group: n, dock: "
                 "back}}]\n"),
         "docks.0.second.group: expected the name of a group, found 'n'", 6},
        {MODULES("    count: 3\ndocks:\n  - {first: {group: m, dock: front}, second: {group: m, "
                 "robot: 1, dock: back}}\n  - {first: {group: m, dock: front}, second: {group: m, "
                 "robot: 2, dock: back}}\n"),
         "docks: dock front of robot 0 of group m is docked already", 8},
        {MODULES("    count: 2\ndocks:\n  - {first: {group: m, dock: front}, second: {group: m, "
                 "robot: 7, dock: back}}\n"),
         "docks: robot: the group has fewer robots", 7},
        {"groups:\n  - name: m\n    model: ../models/ball.xml\n    count: 2\n"
         "    chain: {first: front, second: back}\n",
         "docks: the robots of group m have no docks", 5},
        {MODULES("    count: 2\n    isolated: true\n    chain: {first: front, second: back}\n"),
         "docks: the robots of group m are isolated, a chain needs shared ones", 7},
        {"groups:\n  - {name: m, model: ../models/ball.xml, count: 2}\n"
         "docks:\n  - {first: {group: m, dock: front}, second: {group: m, robot: 1, dock: back}}\n",
         "docks: no group's model has docks", 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_refused(rows[i].text, state, rows[i].message, rows[i].line);
}

// Docks of a SuperBot and of an ATRON have different types. Together they are no mistake, docked
// they are one; an ATRON and a cube have docks with genders, which fit others of their own.
TEST(docks_that_fit_nothing_are_noted) {
    static const char text[] = "groups:\n  - {name: a, model: ../models/modules/%s, count: 2, "
                               "placement: {line: {distance: 1}}}\n";
    char own[400];
    snprintf(own, sizeof own, text, "atron_simple.urdf");
    mf_SceneFile *file = parse_scene(*state, own);
    mf_Scene scene = make_scene(*state, file);
    assert_int_equal(scene.note_count, 0);
    drop_scene(&scene, file);

    snprintf(own, sizeof own, text, "../../tests/scene/male.urdf");
    file = parse_scene(*state, own);
    scene = make_scene(*state, file);
    assert_int_equal(scene.note_count, 1);
    assert_string_equal(scene.notes[0],
                        "group a: 2 of 2 docks fit none of the scene, by gender or type: tip ...");
    drop_scene(&scene, file);

    expect_refused(
        "groups:\n  - {name: a, model: ../models/modules/atron_simple.urdf}\n"
        "  - {name: m, model: ../models/modules/superbot_simple.urdf}\n"
        "docks:\n  - {first: {group: a, dock: north_1}, second: {group: m, dock: front}}\n",
        state, "docks: docks north_1 and front do not fit: genders or types", 5);
    expect_refused(
        "groups:\n  - {name: a, model: ../models/modules/atron_simple.urdf, count: 2}\n"
        "docks:\n  - {first: {group: a, dock: north_1}, second: {group: a, robot: 1, dock: "
        "north_3}}\n",
        state, "docks: docks north_1 and north_3 do not fit: genders or types", 4);
    expect_refused(
        "groups:\n  - name: a\n    model: ../models/ball.xml\n    dock_limits: {tension: 3}\n",
        state, "groups.a.dock_limits: the model has no docks", 4);
}

// What is docked to a robot is moved with it; what is fixed stays.
TEST(an_assembly_is_moved_to_what_is_fixed) {
    AUTO_WHOLE_SCENE scene = scene_of(
        *state, MODULES("    count: 3\n    chain: {first: front, second: back}\n"
                        "  - {name: base, model: ../models/modules/base.urdf, motion: external,\n"
                        "     placement: {poses: [[2, 1, 0]]}}\n"
                        "docks:\n  - first: {group: m, dock: back}\n"
                        "    second: {group: base, dock: top}\n"));
    assert_int_equal(assemblies_of(&scene), 1);
    for (uint32_t i = 0; i < 3; i++) { // an arm that stands on the base
        assert_near(get(&scene, 0, "base.position", i, 0), 2, 1e-6);
        assert_near(get(&scene, 0, "base.position", i, 1), 1, 1e-6);
        assert_near(get(&scene, 0, "base.position", i, 2) - 0.084 - 0.084, 0.168 * i, 1e-6);
    }
    expect_refused(
        "groups:\n  - {name: a, model: ../models/modules/base.urdf, motion: external, count: 2, "
        "placement: {line: {distance: 1}}}\n"
        "docks:\n  - {first: {group: a, dock: top}, second: {group: a, robot: 1, dock: top}}\n",
        state, "docks: both robots are fixed, or docked to fixed ones: expected one that moves", 4);
}
