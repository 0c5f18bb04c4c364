// The PhantomX hexapod (Humarobotics' description), which is not part of this project. Read from
// the folder MAYFLY_SHARED or ../shared; skipped if it is not available.
#include "model/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

static bool find_robot(char path[1024]) {
    const char *shared = getenv("MAYFLY_SHARED");
    const char *robot = "models/phantomx_description/urdf/phantomx.urdf";
    struct stat info;
    if (shared != NULL)
        snprintf(path, 1024, "%s/%s", shared, robot);
    else
        snprintf(path, 1024, "%s/../shared/%s", MAYFLY_SOURCE_DIR, robot);
    if (stat(path, &info) == 0)
        return true;
    fprintf(stderr, "skipped: %s is absent\n", path);
    return false;
}

TEST(the_phantomx_loads) {
    char path[1024];
    if (!find_robot(path))
        skip();
    AUTO_MODEL *model = load_file(*state, path, NULL);
    assert_string_equal(model->name, "PhantomX");
    assert_int_equal(model->link_count, 19);
    assert_int_equal(model->joint_count, 18);
    for (uint32_t i = 0; i < 18; i++) {
        const mf_Joint *joint = &model->joints[i];
        assert_int_equal(joint->type, MF_JOINT_HINGE);
        assert_near(joint->lower, -2.6179939, 1e-12);
        assert_near(joint->upper, 2.6179939, 1e-12);
        assert_near(joint->speed, 5.6548668, 1e-12);
        assert_near(joint->effort, 2.8, 1e-12);
    }
    // Body 0.97559947 kg and 24 leg parts of 0.024357719 kg; the brackets come in fixed pairs.
    assert_near(model->mass, 0.97559947 + 24 * 0.024357719, 1e-9);
    assert_near(model->links[0].mass, 0.97559947, 1e-9);
    assert_near(model->links[mf_model_find(model, MF_ITEM_LINK, "c1_rf")].mass, 2 * 0.024357719,
                1e-9);
    assert_near3(joint_named(model, "j_c1_rf")->position, 0.1248, -0.06164, 0.001116, 1e-12);
}

// The file's inertias were copied from another robot (they are in other units), so its geometry has
// to give them; the body's mesh is missing; six feet feel the ground.
TEST(its_faults_are_reported) {
    char path[1024];
    if (!find_robot(path))
        skip();
    mf_ImportConfig config = WITH(mf_import_config(), .inertia = MF_IMPORT_INERTIA_GEOMETRY);
    AUTO_MODEL *model = load_file(*state, path, &config);
    uint32_t suspicious = 0;
    for (uint32_t i = 0; i < model->note_count; i++)
        suspicious += model->notes[i].suspicious;
    assert_int_equal(suspicious, 25); // 24 of legs, and all of them together
    assert_note(model, true, 14, "inertias of 25 links are large for the geometry ('MP_BODY': ");
    assert_note(model, true, 41, "link 'c1_rf': inertia violates the triangle inequality");
    assert_note(
        model, false, 24,
        "meshes/body.STL' not found (--package NAME=FOLDER says where a package is): not drawn");
    assert_note(model, false, 0, "7 fixed joints merged");
    assert_note(model, false, 159, "<transmission> in <robot> ignored (18 times)");
    assert_int_equal(model->sensor_count, 6);
    for (uint32_t i = 0; i < model->link_count; i++) {
        const mf_Link *link = &model->links[i];
        double trace = link->inertia[0] + link->inertia[1] + link->inertia[2];
        assert_true(sqrt(trace / 2 / link->mass) < 0.2); // no part is larger than that
    }
}

TEST(fewer_mesh_points_make_a_lighter_model) {
    char path[1024];
    if (!find_robot(path))
        skip();
    mf_ImportConfig config = WITH(mf_import_config(), .visual = false, .mesh_points = 2);
    AUTO_MODEL *light = load_file(*state, path, &config);
    AUTO_MODEL *full = load_file(*state, path, NULL);
    assert_true(light->point_count < full->point_count);
    assert_near(light->mass, full->mass, 1e-12);
    // 25 collision meshes with 2 points each.
    uint32_t touching = 0;
    for (uint32_t i = 0; i < light->point_count; i++)
        touching += (light->points[i].flags & MF_POINT_COLLIDES) != 0;
    assert_int_equal(touching, 50);
}
