// Mass points: equivalent to the body that they represent.
#include "model/support.h"

#include "math/scalar.h"
#include "model/points.h"

// Numbers without a pattern in -1 .. 1.
static double draw(uint32_t *tick) {
    uint32_t words[4];
    mf_random(1, 0, 0, (*tick)++, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

static void random_body(mf_MassProperties *body, uint32_t *tick) {
    double rotation[4];
    const double half[3] = {0.1 + fabs(draw(tick)), 0.1 + fabs(draw(tick)), fabs(draw(tick))};
    *body = (mf_MassProperties){.mass = 0.1 + fabs(draw(tick))};
    for (int i = 0; i < 4; i++)
        rotation[i] = draw(tick);
    assert_true(mf_quat_normalize(rotation));
    for (int i = 0; i < 3; i++) {
        body->center[i] = draw(tick);
        // Uniform box: I = m/3 (b^2 + c^2) for half edges.
        body->inertia[i] =
            body->mass / 3 *
            (half[(i + 1) % 3] * half[(i + 1) % 3] + half[(i + 2) % 3] * half[(i + 2) % 3]);
    }
    mf_inertia_rotate(body->inertia, body->inertia, rotation);
}

static mf_MassProperties weigh(const double (*position)[3], uint32_t count, double mass) {
    mf_Point points[16] = {0};
    for (uint32_t i = 0; i < count; i++) {
        points[i].flags = MF_POINT_HAS_MASS;
        points[i].mass = mass / count;
        mf_vec3_copy(points[i].position, position[i]);
    }
    return mf_mass_of_points(points, count, MF_NONE);
}

TEST(four_points_have_the_whole_inertia) {
    uint32_t tick = 0;
    for (int round = 0; round < 200; round++) {
        mf_MassProperties body, found;
        double points[4][3];
        random_body(&body, &tick);
        mf_mass_to_points(points, 4, &body);
        found = weigh((const double(*)[3])points, 4, body.mass);
        assert_near(found.mass, body.mass, 1e-12 * body.mass);
        for (int i = 0; i < 3; i++)
            assert_near(found.center[i], body.center[i], 1e-12);
        for (int i = 0; i < 6; i++)
            assert_near(found.inertia[i], body.inertia[i], 1e-12);
    }
}

TEST(two_points_have_the_largest_second_moment) {
    // Half edges 3, 2, 1 and mass 6: second moments 18, 8, 2 along x, y, z.
    const mf_MassProperties body = {6.0, {1.0, 0.0, 0.0}, {10.0, 20.0, 26.0, 0.0, 0.0, 0.0}};
    double points[2][3];
    mf_mass_to_points(points, 2, &body);
    mf_MassProperties found = weigh((const double(*)[3])points, 2, body.mass);
    assert_near3(found.center, 1.0, 0.0, 0.0, 1e-14);
    assert_near3(found.inertia, 0.0, 18.0, 18.0, 1e-12);
    mf_mass_to_points(points, 1, &body);
    assert_near3(points[0], 1.0, 0.0, 0.0, 0.0);
}

// Check case E4: the sum over parts by the parallel-axis theorem equals the inertia of all points
// taken at once; it is positive definite and fulfils the triangle inequality.
TEST(composite_inertia_is_the_sum_of_its_parts) {
    uint32_t tick = 5000;
    for (int round = 0; round < 100; round++) {
        mf_Point all[40] = {0};
        mf_MassProperties sum = {0};
        for (uint32_t part = 0; part < 5; part++) {
            double position[3], rotation[4];
            for (int i = 0; i < 3; i++)
                position[i] = draw(&tick);
            for (int i = 0; i < 4; i++)
                rotation[i] = draw(&tick);
            assert_true(mf_quat_normalize(rotation));
            mf_Point local[8] = {0};
            for (uint32_t i = 0; i < 8; i++) {
                local[i].flags = MF_POINT_HAS_MASS;
                local[i].mass = 0.1 + fabs(draw(&tick));
                for (int k = 0; k < 3; k++)
                    local[i].position[k] = draw(&tick);
                mf_Point *global = &all[8 * part + i];
                *global = local[i];
                mf_quat_rotate(global->position, rotation, local[i].position);
                mf_vec3_add(global->position, global->position, position);
            }
            mf_MassProperties body = mf_mass_of_points(local, 8, MF_NONE);
            body = mf_mass_transform(&body, position, rotation);
            sum = mf_mass_add(&sum, &body);
        }
        mf_MassProperties whole = mf_mass_of_points(all, 40, MF_NONE);
        double scale = whole.inertia[0] + whole.inertia[1] + whole.inertia[2];
        assert_near(sum.mass, whole.mass, 1e-14 * whole.mass);
        for (int i = 0; i < 3; i++)
            assert_near(sum.center[i], whole.center[i], 1e-14);
        for (int i = 0; i < 6; i++)
            assert_near(sum.inertia[i], whole.inertia[i], 1e-14 * scale);
        double principal[3];
        mf_mat3_eigen(principal, NULL, sum.inertia);
        assert_true(principal[0] > 0.0 && principal[0] + principal[1] >= principal[2]);
    }
}

TEST(shapes_have_their_points_on_their_surface) {
    double out[MF_SHAPE_POINTS_LIMIT][3];
    const double capsule[3] = {0.5, 2.0, 0.0};
    assert_int_equal(mf_shape_points(out, MF_SHAPE_CAPSULE, capsule, 4), 10);
    assert_near3(out[0], 0.0, 0.0, -1.5, 0.0);
    assert_near3(out[1], 0.0, 0.0, 1.5, 0.0);
    for (int i = 2; i < 10; i++)
        assert_near(hypot(out[i][0], out[i][1]), 0.5, 1e-15);
    assert_int_equal(mf_shape_points(out, MF_SHAPE_CYLINDER, capsule, 4), 8);
    assert_int_equal(mf_shape_points(out, MF_SHAPE_CYLINDER, capsule, 8), 16);
    assert_int_equal(mf_shape_points(out, MF_SHAPE_SPHERE, capsule, 4), 6);
    assert_int_equal(mf_shape_points(out, MF_SHAPE_MESH, capsule, 4), 0);
}

TEST(massless_points_weigh_nothing) {
    const mf_Point points[2] = {{.flags = MF_POINT_COLLIDES, .position = {1.0, 1.0, 1.0}},
                                {.flags = MF_POINT_HAS_MASS, .mass = 2.0, .link = 3}};
    mf_MassProperties body = mf_mass_of_points(points, 2, 0);
    assert_true(body.mass == 0.0 && body.center[0] == 0.0);
    body = mf_mass_of_points(points, 2, 3);
    assert_true(body.mass == 2.0 && body.center[0] == 0.0);
}
