// Rules switch motions at the right time.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

// The second robot stands 1 m from the first of the other group, the third far away.
TEST(rules_change_motions) {
    static const char text[] =
        "world: {step: 0.001}\ngroups:\n"
        "  - name: post\n    model: ../models/hexapod.urdf\n    motion: points\n"
        "    placement: {poses: [[1, 0, 0]]}\n    contact: {others: false}\n"
        "  - name: walkers\n    model: ../models/hexapod.urdf\n    motion: kinematic\n"
        "    count: 3\n    placement: {poses: [[1, 3, 0], [1, 1, 0], [9, 0, 0]]}\n    contact: "
        "{others: false}\n"
        "    switch:\n"
        "      - {to: rigid, when: {at: {time: 0.2}}}\n"
        "      - {to: articulated, when: {near: {group: post, distance: 2}}}\n"
        "      - {to: points, when: {far: {group: post, distance: 5}}}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    mf_Group *walkers = mf_world_group(scene.world, 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(mf_motion_of(walkers, i), MF_MOTION_KINEMATIC);
    mf_world_step(scene.world, 100);
    assert_int_equal(mf_motion_of(walkers, 0), MF_MOTION_KINEMATIC);
    assert_int_equal(mf_motion_of(walkers, 1), MF_MOTION_ARTICULATED);
    assert_int_equal(mf_motion_of(walkers, 2), MF_MOTION_POINTS);
    mf_world_step(scene.world, 105); // the rule of that time comes first, and counts once
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(mf_motion_of(walkers, i), MF_MOTION_RIGID);
    mf_world_step(scene.world, 50);
    assert_int_equal(mf_motion_of(walkers, 0), MF_MOTION_RIGID);
    assert_int_equal(mf_motion_of(walkers, 1), MF_MOTION_ARTICULATED);
    assert_int_equal(mf_motion_of(walkers, 2), MF_MOTION_POINTS);
    assert_int_equal(mf_group_fault_total(walkers), 0);
}

static void same_field(mf_Group *a, mf_Group *b, const char *name) {
    const mf_Field *one = mf_group_find_field(a, name), *other = mf_group_find_field(b, name);
    for (uint32_t i = 0; i < mf_group_count(a); i++)
        for (uint32_t c = 0; c < one->components; c++)
            assert_true(mf_field_get(one, i, c) == mf_field_get(other, i, c));
}

// With all levels of their models robots can switch to each, and until then do just the same.
TEST(all_levels_change_no_bit) {
    static const char text[] =
        "world: {step: 0.001}\ngroups:\n"
        "  - {name: walkers, model: ../models/hexapod.urdf, count: 3, gaits: [tripod]}\n"
        "  - {name: quads, model: ../models/crazyflie.yaml}\n";
    AUTO_SCENE_FILE *file = parse_scene(*state, text);
    AUTO_SCENE plain = make_scene(*state, file), scene;
    mf_SceneConfig config = WITH(mf_scene_config(), .levels = true);
    MUST(mf_scene_create(*state, file, &config, &scene, &error));
    assert_true(scene.levels && !plain.levels);
    mf_Group *quads = mf_world_group(scene.world, 1);
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        assert_true(mf_motion_in(scene.group, (mf_Motion)i) == (i < MF_MOTION_LEVELS));
        assert_true(mf_motion_in(quads, (mf_Motion)i) == (i == MF_MOTION_QUADROTOR));
    }
    mf_world_step(plain.world, 300);
    mf_world_step(scene.world, 300);
    same_field(plain.group, scene.group, "base.position");
    same_field(plain.group, scene.group, "joint.rate");
    for (int i = 0; i < MF_MOTION_LEVELS; i++) {
        MUST(mf_motion_switch(scene.group, 1, (mf_Motion)i, &error));
        mf_world_step(scene.world, 10);
    }
    assert_int_equal(mf_group_fault_total(scene.group), 0);
}

// A truss gets inertia at a time, with the step that this needs, and loses it again.
TEST(rules_change_motions_of_trusses) {
    static const char text[] =
        "groups:\n"
        "  - name: a\n    model: ../models/tetrahedron.truss.yaml\n    count: 2\n"
        "    switch:\n"
        "      - {to: elastic, when: {at: {time: 0.05}}}\n"
        "      - {to: quasistatic, when: {at: {time: 0.1}}}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_int_equal(scene.step, MF_MILLISECOND);
    assert_int_equal(mf_motion_of(scene.group, 1), MF_MOTION_QUASISTATIC);
    mf_world_step(scene.world, 70);
    assert_int_equal(mf_motion_of(scene.group, 1), MF_MOTION_ELASTIC);
    mf_world_step(scene.world, 50);
    assert_int_equal(mf_motion_of(scene.group, 1), MF_MOTION_QUASISTATIC);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
}

// Thrown trusses need inertia, trusses of a search are verified by it; robots have none of this.
TEST(motions_of_trusses_are_checked) {
    static const SceneMistake wrong[] = {
        {"groups: [{name: a, model: ../models/tetrahedron.truss.yaml, speed: 1}]\n",
         "frames of a truss have no speed", 0},
        {"groups: [{name: a, model: ../models/hexapod.urdf, motion: elastic}]\n",
         "elastic: expected the file of a truss", 0},
        {"groups: [{name: a, model: ../models/tetrahedron.truss.yaml, switch: [{to: rigid, when: "
         "{at: {time: 1}}}]}]\n",
         "a truss switches to quasistatic, elastic or own", 0},
        {"groups: [{name: a, model: ../models/hexapod.urdf, switch: [{to: elastic, when: {at: "
         "{time: 1}}}]}]\n",
         "elastic is a motion of a truss", 0},
        {"groups: [{name: a, model: ../models/tetrahedron.truss.yaml, controller: oscillator}]\n"
         "search: {verify: {motion: rigid}}\n",
         "a truss is verified by elastic", 0},
        {"groups: [{name: a, model: ../models/hexapod.urdf, controller: gp}]\n"
         "search: {verify: {motion: elastic}}\n",
         "elastic: expected the file of a truss", 0}};
    check_mistakes(*state, wrong, sizeof wrong / sizeof *wrong, true);
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, "groups: [{name: a, model: ../models/tetrahedron.truss"
                         ".yaml, motion: elastic, speed: 1}]\n");
    mf_world_step(scene.world, 1);
    assert_true(get_field(scene.group, "base.linear_velocity", 0, 0) > 0.9);
}

// Times of rules are counted from the end of settling on.
TEST(rules_wait_until_robots_have_settled) {
    static const char text[] =
        "world: {step: 0.001}\ngroups:\n"
        "  - name: a\n    model: ../models/hexapod.urdf\n    motion: kinematic\n    settle: 0.3\n"
        "    switch:\n      - {to: rigid, when: {at: {time: 0.2}}}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_int_equal(mf_motion_of(scene.group, 0), MF_MOTION_KINEMATIC);
    mf_world_step(scene.world, 190);
    assert_int_equal(mf_motion_of(scene.group, 0), MF_MOTION_KINEMATIC);
    mf_world_step(scene.world, 20);
    assert_int_equal(mf_motion_of(scene.group, 0), MF_MOTION_RIGID);
}

// Lays robot `i` of group `group` down: 1.57 on its front, -1.57 on its back.
static void lay_down(const mf_Scene *scene, uint32_t group, uint32_t i, double pitch) {
    mf_Group *robots = mf_world_group(scene->world, group);
    mf_Field *orientation = mf_group_find_field(robots, "base.orientation");
    set_field(robots, "base.position", i, 2, 0.13);
    for (uint32_t c = 0; c < 4; c++)
        mf_field_set(orientation, i, c, 0.0);
    mf_field_set(orientation, i, 0, cos(0.5 * pitch));
    mf_field_set(orientation, i, 2, sin(0.5 * pitch));
    mf_group_refresh(robots, i);
}

TEST(tilted_robots_change_motion) {
    static const char text[] =
        "world: {step: 0.001}\ngroups:\n  - name: a\n    model: ../models/humanoid.urdf\n    "
        "motion: rigid\n"
        "    gaits: [stand]\n    count: 2\n    placement: {poses: [[0, 0, 0], [0, 5, 0]]}\n"
        "    switch:\n      - {to: articulated, when: {tilted: {angle: 0.9}}}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    lay_down(&scene, 0, 1, 1.0);
    mf_world_step(scene.world, 60);
    assert_int_equal(mf_motion_of(mf_world_group(scene.world, 0), 0), MF_MOTION_RIGID);
    assert_int_equal(mf_motion_of(mf_world_group(scene.world, 0), 1), MF_MOTION_ARTICULATED);
}

TEST(gaits_follow_commands) {
    static const char text[] = "world: {step: 0.001}\ngroups:\n  - name: a\n    model: "
                               "../models/hexapod.urdf\n    motion: kinematic\n"
                               "    gaits: [tripod]\n    count: 2\n    placement: {poses: [[0, 0, "
                               "0], [0, 5, 1.5707963267948966]]}\n"
                               "    behavior: {gait: {name: tripod, command: [0.08, 0, 0]}}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    mf_world_step(scene.world, 4000);
    double forward = get(&scene, 0, "base.position", 0, 0);
    assert_true(forward > 0.15);
    // The second faces north and does the same there.
    assert_near(get(&scene, 0, "base.position", 1, 1) - 5.0, forward, 1e-4);
}
