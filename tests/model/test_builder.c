// The construction API: result and errors of every call.
#include "model/support.h"
#include "model/points.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define HALF_ROTATION 3.14159265358979323846

static mf_Builder *start(void **state) {
    mf_Builder *builder;
    MUST(mf_builder_create(*state, "test", &builder, &error));
    return builder;
}

static mf_Model *finish(mf_Builder *builder) {
    mf_Model *model = NULL;
    MUST(mf_builder_finalize(builder, &model, &error));
    mf_builder_destroy(builder);
    return model;
}

static void refuse(mf_Builder *builder, const char *text) {
    mf_Model *model = (mf_Model *)&model;
    mf_Error error = {0};
    mf_Status status = mf_builder_finalize(builder, &model, &error);
    assert_int_not_equal(status, MF_OK);
    assert_int_equal(error.status, status);
    assert_null(model);
    assert_contains(error.message, text);
    mf_builder_destroy(builder);
}

TEST(body_ids_count_from_zero) {
    const double a[3] = {0, 0, 0}, b[3] = {0, 0, 1}, size[3] = {1, 1, 1};
    AUTO_BUILDER *builder = start(state);
    assert_int_equal(mf_body_create_point(builder, a, 1.0, NULL), 0);
    assert_int_equal(mf_body_create_cylinder(builder, a, b, 0.1, 1.0, NULL), 1);
    assert_int_equal(mf_body_create_box(builder, size, a, 1.0, NULL), 2);
    assert_int_equal(mf_body_create_sphere(builder, a, 0.1, 1.0, NULL), 3);
    assert_int_equal(mf_body_create_ray(builder, a, b, NULL), 4);
}

TEST(a_point_is_a_robot) {
    const double position[3] = {1.0, 2.0, 3.0};
    const float red[3] = {1.0f, 0.0f, 0.0f};
    mf_Builder *builder = start(state);
    mf_body_create_point(builder, position, 0.25, red);
    AUTO_MODEL *model = finish(builder);
    assert_string_equal(model->name, "test");
    assert_string_equal(model->file, "");
    assert_int_equal(model->link_count, 1);
    assert_int_equal(model->joint_count, 0);
    assert_int_equal(model->point_count, 1);
    assert_int_equal(model->points[0].flags, MF_POINT_COLLIDES | MF_POINT_HAS_MASS);
    assert_near3(model->points[0].position, 0.0, 0.0, 0.0, 0.0); // base frame: center of body 0
    assert_true(model->mass == 0.25 && model->points[0].mass == 0.25);
    assert_true(model->points[0].color[0] == 1.0f && model->points[0].color[1] == 0.0f);
}

// Eight corners of equal mass: I_xx = m (b^2 + c^2) / 4 for edges a, b, c.
TEST(a_box_is_its_corners) {
    const double size[3] = {0.2, 0.4, 0.6}, center[3] = {0.0, 0.0, 5.0};
    mf_Builder *builder = start(state);
    mf_body_create_box(builder, size, center, 2.0, NULL);
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->point_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        const mf_Point *point = &model->points[i];
        assert_true(fabs(point->position[0]) == 0.1 && fabs(point->position[1]) == 0.2 &&
                    fabs(point->position[2]) == 0.3);
        assert_true(point->mass == 0.25);
    }
    const mf_Link *link = &model->links[0];
    assert_near3(link->center, 0.0, 0.0, 0.0, 1e-15);
    assert_near3(link->inertia, 0.26, 0.20, 0.10, 1e-15);
    assert_near3(link->inertia + 3, 0.0, 0.0, 0.0, 1e-15);
    assert_near(model->rest_height, 0.3, 0.0);
    assert_int_equal(model->shape_count, 1);
    assert_int_equal(model->shapes[0].type, MF_SHAPE_BOX);
}

TEST(a_cylinder_is_two_rings) {
    const double from[3] = {1.0, 0.0, 0.0}, to[3] = {3.0, 0.0, 0.0};
    mf_Builder *builder = start(state);
    mf_body_create_cylinder(builder, from, to, 0.5, 1.6, NULL);
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->point_count, 16);
    for (uint32_t i = 0; i < 16; i++) {
        const double *p = model->points[i].position;
        assert_near(fabs(p[0]), 1.0, 1e-15); // the ends
        assert_near(sqrt(p[1] * p[1] + p[2] * p[2]), 0.5, 1e-15);
        assert_near(model->points[i].mass, 0.1, 1e-16);
    }
    // Thin hoops: about the axis m r^2, across it m r^2 / 2 + m (l/2)^2.
    assert_near3(model->links[0].inertia, 0.4, 1.8, 1.8, 1e-14);
    assert_int_equal(model->shapes[0].type, MF_SHAPE_CYLINDER);
    assert_near(model->shapes[0].size[1], 2.0, 1e-15);
}

// 6 points on the axes and 8 on the diagonals: sum x^2 = 2 r^2 + 8 r^2 / 3 = 14 r^2 / 3.
TEST(a_sphere_is_fourteen_points) {
    const double center[3] = {0.0, 0.0, 0.0};
    mf_Builder *builder = start(state);
    mf_body_create_sphere(builder, center, 0.3, 1.4, NULL);
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->point_count, 14);
    for (uint32_t i = 0; i < 14; i++) {
        const double *p = model->points[i].position;
        assert_near(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 0.3, 1e-15);
    }
    double moment = 1.4 * 0.3 * 0.3 * 2 / 3; // 2/3 m r^2, as a hollow sphere
    assert_near3(model->links[0].inertia, moment, moment, moment, 1e-15);
}

static uint32_t count_points(void **state, int mode, bool sphere, mf_ShapeType type,
                             double lowest) {
    const double from[3] = {0, 0, -1}, to[3] = {0, 0, 1}, center[3] = {0, 0, 0};
    mf_Builder *builder = start(state);
    mf_builder_simplify(builder, mode);
    if (sphere)
        mf_body_create_sphere(builder, center, 0.5, 1.0, NULL);
    else
        mf_body_create_cylinder(builder, from, to, 0.5, 1.0, NULL);
    AUTO_MODEL *model = finish(builder);
    uint32_t count = model->point_count;
    assert_near(model->mass, 1.0, 1e-15);
    assert_near(model->rest_height, lowest, 1e-15);
    assert_int_equal(model->shapes[0].type, type);
    return count;
}

TEST(simplify_reduces_the_points) {
    assert_int_equal(count_points(state, 0, false, MF_SHAPE_CYLINDER, 1.0), 16);
    assert_int_equal(count_points(state, 1, false, MF_SHAPE_BOX, 1.0), 8);
    assert_int_equal(count_points(state, 2, false, MF_SHAPE_POINT, 1.0), 2);
    assert_int_equal(count_points(state, 3, false, MF_SHAPE_POINT, 0.0), 1);
    assert_int_equal(count_points(state, 9, false, MF_SHAPE_POINT, 0.0), 1);
    assert_int_equal(count_points(state, 0, true, MF_SHAPE_SPHERE, 0.5), 14);
    assert_int_equal(count_points(state, 1, true, MF_SHAPE_BOX, 0.5), 8);
    assert_int_equal(count_points(state, 2, true, MF_SHAPE_POINT, 0.5), 2);
    assert_int_equal(count_points(state, 3, true, MF_SHAPE_POINT, 0.0), 1);
}

TEST(simplify_leaves_boxes_and_points_alone) {
    const double size[3] = {1, 1, 1}, center[3] = {0, 0, 0};
    mf_Builder *builder = start(state);
    mf_builder_simplify(builder, 3);
    mf_body_create_box(builder, size, center, 1.0, NULL);
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->point_count, 8);
}

TEST(connecting_glues_bodies_into_one_link) {
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {3, 0, 0};
    mf_Builder *builder = start(state);
    mf_BodyId first = mf_body_create_point(builder, a, 1.0, NULL);
    mf_BodyId second = mf_body_create_point(builder, b, 1.0, NULL);
    mf_BodyId third = mf_body_create_point(builder, c, 2.0, NULL);
    mf_body_connect(builder, third, second);
    mf_body_connect(builder, second, first);
    mf_body_connect(builder, first, third); // already one: no effect
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->link_count, 1);
    assert_int_equal(model->point_count, 3);
    assert_near(model->links[0].mass, 4.0, 0.0);
    assert_near3(model->links[0].center, 1.75, 0.0, 0.0, 1e-15);
}

TEST(a_hinge_joins_two_links) {
    const double a[3] = {0, 0, 1}, b[3] = {1, 0, 1}, anchor[3] = {0.5, 0, 1}, axis[3] = {0, 2, 0};
    mf_Builder *builder = start(state);
    mf_BodyId first = mf_body_create_point(builder, a, 1.0, NULL);
    mf_BodyId second = mf_body_create_point(builder, b, 1.0, NULL);
    mf_JointConfig config =
        WITH(mf_hinge_config(), .name = "elbow", .lower = -0.5, .upper = 1.5, .speed = 3.0);
    assert_int_equal(mf_joint_create_hinge(builder, first, second, anchor, axis, &config), 0);
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->joint_count, 1);
    const mf_Joint *joint = joint_named(model, "elbow");
    assert_int_equal(joint->type, MF_JOINT_HINGE);
    assert_int_equal(joint->parent, 0);
    assert_int_equal(joint->child, 1);
    assert_near3(joint->position, 0.5, 0.0, 0.0, 1e-15);
    assert_near3(joint->axis, 0.0, 1.0, 0.0, 1e-15);
    assert_true(joint->lower == -0.5 && joint->upper == 1.5 && joint->speed == 3.0);
    assert_int_equal(model->links[1].joint, 0);
    assert_near3(model->points[1].position, 0.5, 0.0, 0.0, 1e-15);
    assert_int_equal(mf_model_find(model, MF_ITEM_JOINT, "joint0"), MF_NONE);
}

// A slide moves the second body along the axis, in the units of slides.
TEST(a_slide_joins_two_links) {
    const double a[3] = {0, 0, 1}, b[3] = {1, 0, 1}, anchor[3] = {0.5, 0, 1}, axis[3] = {0, 0, 3};
    mf_Builder *builder = start(state);
    mf_BodyId first = mf_body_create_point(builder, a, 1.0, NULL);
    mf_BodyId second = mf_body_create_sphere(builder, b, 0.1, 1.0, NULL);
    mf_JointConfig config = WITH(mf_slide_config(), .name = "lift", .upper = 0.3);
    assert_int_equal(mf_joint_create_slide(builder, first, second, anchor, axis, &config), 0);
    AUTO_MODEL *model = finish(builder);
    const mf_Joint *joint = joint_named(model, "lift");
    assert_int_equal(joint->type, MF_JOINT_SLIDE);
    assert_near3(joint->axis, 0.0, 0.0, 1.0, 1e-15);
    assert_true(joint->lower == -0.1 && joint->upper == 0.3 && joint->speed == 0.5);
    double position[2][3], rotation[2][4];
    mf_model_pose(model, (double[1]){0.2}, position, rotation);
    assert_near3(position[1], 0.5, 0.0, 0.2, 1e-15);
}

// The angle is that of the second body against the first, also when the second is the base.
TEST(a_hinge_written_in_reverse_rotates_in_reverse) {
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, anchor[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    mf_Builder *builder = start(state);
    mf_BodyId base = mf_body_create_point(builder, a, 1.0, NULL);
    mf_BodyId arm = mf_body_create_point(builder, b, 1.0, NULL);
    mf_joint_create_hinge(builder, arm, base, anchor, axis, NULL);
    AUTO_MODEL *model = finish(builder);
    const double angle[1] = {HALF_ROTATION / 2};
    double position[2][3], rotation[2][4];
    mf_model_pose(model, angle, position, rotation);
    // The base turns by +90 degrees seen from the arm: the arm by -90 seen from the base.
    assert_near(rotation[1][3], -sqrt(0.5), 1e-15);
}

// Anchor and axis are fixed to body `first`, so they follow when it is moved and turned later.
TEST(hinges_follow_their_first_body) {
    const double size[3] = {2, 2, 2}, center[3] = {0, 0, 0}, tip[3] = {1, 0, 0},
                 axis[3] = {1, 0, 0};
    const double far[3] = {9, 9, 9}, shift[3] = {0, 0, 10}, rotation[3] = {0, 0, HALF_ROTATION / 2};
    mf_Builder *builder = start(state);
    mf_BodyId box = mf_body_create_box(builder, size, center, 1.0, NULL);
    mf_BodyId point = mf_body_create_point(builder, far, 1.0, NULL);
    mf_joint_create_hinge(builder, box, point, tip, axis, NULL);
    mf_body_move(builder, box, shift);
    mf_body_rotate(builder, box, rotation);
    AUTO_MODEL *model = finish(builder);
    assert_near3(model->joints[0].position, 0.0, 1.0, 0.0, 1e-15); // base frame is the moved center
    assert_near3(model->joints[0].axis, 0.0, 1.0, 0.0, 1e-15);
    assert_near3(model->points[8].position, 9.0, 8.0, -1.0, 1e-15); // the other body stayed
}

TEST(rotate_is_right_handed_about_x_then_y_then_z) {
    const double from[3] = {0, 0, 0}, to[3] = {2, 0, 0};
    const double quarter = HALF_ROTATION / 2, roll_yaw[3] = {quarter, 0, quarter};
    const double pitch[3] = {0, quarter, 0};
    mf_Builder *builder = start(state);
    mf_builder_simplify(builder, 2);
    mf_BodyId body = mf_body_create_cylinder(builder, from, to, 0.1, 1.0, NULL);
    mf_body_rotate(builder, body, roll_yaw); // x -> x (roll), then x -> y (yaw); about (1, 0, 0)
    AUTO_MODEL *model = finish(builder);
    assert_near3(model->points[1].position, 0.0, 1.0, 0.0, 1e-15);
    mf_model_destroy(model);
    builder = start(state);
    mf_builder_simplify(builder, 2);
    body = mf_body_create_cylinder(builder, from, to, 0.1, 1.0, NULL);
    mf_body_rotate(builder, body, pitch);    // x -> -z
    mf_body_rotate(builder, body, roll_yaw); // -z -> y (roll) -> -x (yaw)
    model = finish(builder);
    assert_near3(model->points[1].position, -1.0, 0.0, 0.0, 1e-15);
}

TEST(rays_become_sensors) {
    const double position[3] = {0, 0, 1}, from[3] = {0.5, 0, 1}, to[3] = {0.5, 0, -1};
    mf_Builder *builder = start(state);
    mf_BodyId point = mf_body_create_point(builder, position, 1.0, NULL);
    mf_BodyId ray = mf_body_create_ray(builder, from, to, NULL);
    mf_body_connect(builder, point, ray);
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(model->point_count, 1);
    assert_int_equal(model->sensor_count, 1);
    const mf_Sensor *sensor = &model->sensors[mf_model_find(model, MF_ITEM_SENSOR, "ray1")];
    assert_int_equal(sensor->type, MF_SENSOR_RAY);
    assert_near3(sensor->start, 0.5, 0.0, 0.0, 1e-15);
    assert_near3(sensor->direction, 0.0, 0.0, -1.0, 1e-15);
    assert_near(sensor->range, 2.0, 1e-15);
}

TEST(contact_sensors_have_names) {
    const double position[3] = {0, 0, 1};
    mf_Builder *builder = start(state);
    mf_BodyId point = mf_body_create_point(builder, position, 1.0, NULL);
    mf_body_sense_contact(builder, point, "foot");
    AUTO_MODEL *model = finish(builder);
    assert_int_equal(mf_model_find(model, MF_ITEM_SENSOR, "foot"), 0);
    assert_int_equal(mf_model_find(model, MF_ITEM_SENSOR, "hand"), MF_NONE);
    assert_int_equal(model->sensors[0].type, MF_SENSOR_CONTACT);
    assert_int_equal(model->sensors[0].link, 0);
    builder = start(state);
    point = mf_body_create_point(builder, position, 1.0, NULL);
    mf_body_sense_contact(builder, point, "foot");
    mf_body_sense_contact(builder, point, "foot");
    refuse(builder, "two sensors are named 'foot'");
}

TEST(links_come_parents_first_and_depth_first) {
    mf_Builder *builder = start(state);
    const double axis[3] = {0, 1, 0};
    for (int i = 0; i < 5; i++)
        mf_body_create_point(builder, (double[3]){i, 0, 0}, 1.0, NULL);
    const int pairs[4][2] = {{3, 4}, {0, 1}, {2, 0}, {1, 3}}; // 0 - 1 - 3 - 4 and 0 - 2
    for (int i = 0; i < 4; i++)
        mf_joint_create_hinge(builder, pairs[i][0], pairs[i][1], (double[3]){0, 0, 0}, axis, NULL);
    AUTO_MODEL *model = finish(builder);
    const char *const names[5] = {"body0", "body1", "body3", "body4", "body2"};
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(model->links[i].name, names[i]);
        assert_true(i == 0 || model->links[i].parent < i);
        assert_int_equal(model->links[i].joint, i == 0 ? MF_NONE : i - 1);
        assert_true(i == 0 || model->points[i].link >= model->points[i - 1].link);
    }
}

TEST(mistakes_are_reported_at_the_end) {
    const double zero[3] = {0, 0, 0}, one[3] = {0, 0, 1}, flat[3] = {1, 0, 1};
    const double broken[3] = {0, NAN, 0};
    mf_Builder *builder = start(state);
    assert_int_equal(mf_body_create_point(builder, zero, 0.0, NULL), MF_NO_BODY);
    mf_body_create_point(builder, broken, 1.0, NULL); // only the first error counts
    refuse(builder, "mf_body_create_point: need mass > 0");
    builder = start(state);
    assert_int_equal(mf_body_create_point(builder, broken, 1.0, NULL), MF_NO_BODY);
    refuse(builder, "finite");
    builder = start(state);
    assert_int_equal(mf_body_create_point(builder, zero, 1.0, (float[3]){0, 2, 0}), MF_NO_BODY);
    refuse(builder, "colors");
    builder = start(state);
    assert_int_equal(mf_body_create_box(builder, flat, zero, 1.0, NULL), MF_NO_BODY);
    refuse(builder, "width, depth and height");
    builder = start(state);
    assert_int_equal(mf_body_create_cylinder(builder, one, one, 1.0, 1.0, NULL), MF_NO_BODY);
    refuse(builder, "two different finite ends");
    builder = start(state);
    assert_int_equal(mf_body_create_sphere(builder, zero, -1.0, 1.0, NULL), MF_NO_BODY);
    refuse(builder, "radius > 0");
    builder = start(state);
    assert_int_equal(mf_body_create_ray(builder, broken, one, NULL), MF_NO_BODY);
    refuse(builder, "mf_body_create_ray");
    builder = start(state);
    mf_body_move(builder, 0, zero);
    refuse(builder, "mf_body_move: need a body");
    builder = start(state);
    mf_builder_simplify(builder, -1);
    refuse(builder, "mode >= 0");
    refuse(start(state), "no body");
}

TEST(hinge_mistakes_are_reported) {
    const double zero[3] = {0, 0, 0}, one[3] = {0, 0, 1};
    for (int mistake = 0; mistake < 6; mistake++) {
        static const char *const names[] = {
            "axis", "lower <= upper", "speed > 0", "mf_hinge_config", "glued", "need a body"};
        mf_JointConfig config = mf_hinge_config();
        mf_Builder *builder = start(state);
        mf_BodyId a = mf_body_create_point(builder, zero, 1.0, NULL);
        mf_BodyId b = mf_body_create_point(builder, one, 1.0, NULL);
        config.lower = mistake == 1 ? NAN : config.lower;
        config.speed = mistake == 2 ? 0.0 : config.speed;
        config.struct_size = mistake == 3 ? 0 : config.struct_size;
        if (mistake == 4)
            mf_body_connect(builder, a, b);
        mf_joint_create_hinge(builder, mistake == 5 ? 7 : a, b, zero, mistake == 0 ? zero : one,
                              &config);
        refuse(builder, names[mistake]);
    }
}

TEST(only_trees_are_robots) {
    const double zero[3] = {0, 0, 0}, one[3] = {0, 0, 1};
    mf_Builder *builder = start(state);
    mf_body_create_point(builder, zero, 1.0, NULL);
    mf_body_create_point(builder, one, 1.0, NULL);
    refuse(builder, "body 1: not connected to body 0");
    builder = start(state);
    for (int i = 0; i < 3; i++)
        mf_body_create_point(builder, zero, 1.0, NULL);
    for (int i = 0; i < 3; i++)
        mf_joint_create_hinge(builder, i, (i + 1) % 3, zero, one, NULL);
    refuse(builder, "close a loop");
    builder = start(state);
    mf_body_create_ray(builder, zero, one, NULL);
    refuse(builder, "total mass must be > 0");
}

TEST(a_finalized_builder_only_waits_to_be_destroyed) {
    const double zero[3] = {0, 0, 0};
    mf_Builder *builder = start(state);
    mf_body_create_point(builder, zero, 1.0, NULL);
    mf_Model *model, *again;
    MUST(mf_builder_finalize(builder, &model, &error));
    assert_int_equal(mf_body_create_point(builder, zero, 1.0, NULL), MF_NO_BODY);
    assert_int_equal(mf_builder_finalize(builder, &again, NULL), MF_BAD_ARGUMENT);
    assert_null(again);
    mf_builder_destroy(builder);
    assert_near(model->mass, 1.0, 0.0); // the model lives on
    mf_model_destroy(model);
    mf_builder_destroy(NULL);
    mf_model_destroy(NULL);
}
