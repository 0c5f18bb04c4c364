// Common properties of all vehicles: names and the one-link body.
#include "motion/vehicle/body.h"
#include "rig/rig.h"

static mf_VehicleBody body_of(double mass, double xx, double yy, double zz) {
    return (mf_VehicleBody){.name = "test",
                            .mass = mass,
                            .inertia = {xx, yy, zz, 0.0, 0.0, 0.0},
                            .radius = 0.2,
                            .clearance = 0.1};
}

TEST(integrators_have_names) {
    assert_string_equal(mf_integrator_names[MF_INTEGRATOR_EULER], "euler");
    assert_string_equal(mf_integrator_names[MF_INTEGRATOR_SEMI_IMPLICIT], "semi_implicit");
    assert_string_equal(mf_integrator_names[MF_INTEGRATOR_HEUN], "heun");
    assert_string_equal(mf_integrator_names[MF_INTEGRATOR_RK4], "rk4");
}

// Mass, center and inertia come back, products included (the Aerosonde of Beard and McLain).
TEST(the_body_has_the_given_properties) {
    static const double inertia[6] = {0.8244, 1.135, 1.759, 0.0, -0.1204, 0.0};
    AUTO_CONTEXT *context;
    AUTO_MODEL *model;
    mf_VehicleBody body = body_of(11.0, 0, 0, 0);
    memcpy(body.inertia, inertia, sizeof inertia);
    MUST(mf_context_create(NULL, &context, &error));
    MUST(mf_vehicle_model(context, &body, &model, &error));
    assert_int_equal(model->link_count, 1);
    assert_int_equal(model->joint_count, 0);
    assert_true(fabs(model->mass - 11.0) <= 1e-12);
    assert_true(fabs(model->rest_height - 0.1) <= 1e-12);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(model->links[0].center[i] - 0.0) <= 1e-12);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(model->links[0].inertia[i] - inertia[i]) <= 1e-12);
    assert_int_equal(model->shape_count, 1);
    assert_true(fabs(model->shapes[0].size[0] - 0.2) <= 0.0);
}

static void expect_refusal(mf_Context *context, const mf_VehicleBody *body, const char *message) {
    mf_Error error = {0};
    mf_Model *model = (mf_Model *)1;
    assert_int_equal(mf_vehicle_model(context, body, &model, &error), MF_BAD_ARGUMENT);
    assert_null(model);
    if (strstr(error.message, message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, message);
}

TEST(impossible_bodies_are_refused) {
    AUTO_CONTEXT *context = open_context(0);
    mf_VehicleBody body = body_of(0.0, 1, 1, 1);
    expect_refusal(context, &body, "mass: 0, need 1e-9 .. 1e9 kg");
    body = body_of(NAN, 1, 1, 1);
    expect_refusal(context, &body, "mass: nan");
    body = body_of(1.0, 1, 0, 1);
    expect_refusal(context, &body, "not positive definite");
    body = body_of(1.0, 1, 1, 3);
    expect_refusal(context, &body, "no real body has it");
    body = body_of(1.0, 1, 1, INFINITY);
    expect_refusal(context, &body, "six finite numbers");
    body = body_of(1.0, 1, 1, 1);
    body.inertia[3] = 1.5; // a product larger than the moments
    expect_refusal(context, &body, "not positive definite");
    body = body_of(1.0, 1, 1, 1);
    body.radius = -1.0;
    expect_refusal(context, &body, "radius: -1");
    body = body_of(1.0, 1, 1, 1);
    body.name = "";
    expect_refusal(context, &body, "name");
}

static mf_Status make_model(mf_Context *context, void *user, mf_Error *error) {
    AUTO_MODEL *model;
    mf_Status status = mf_vehicle_model(context, user, &model, error);
    if (status != MF_OK)
        assert_null(model);
    return status;
}

TEST(every_failed_allocation_is_survived) {
    AUTO_CONTEXT *context;
    mf_VehicleBody body = body_of(1.0, 1, 1, 1);
    MUST(mf_context_create(NULL, &context, &error));
    assert_true(torture(context, make_model, &body, TORTURE_MUST_FAIL) > 3);
}
