// Check cases of models built by the construction API: mass, center and inertia.
#include <mayfly/builder.h>
#include "check.h"

// E4. Two boxes glued together. A of 2 kg, 0.4 x 0.2 x 0.1 m about (0, 0, 0); B of 1 kg,
// 0.1 x 0.1 x 0.3 m about (0.3, 0, 0.2). In the construction API a box is eight equal points at its
// corners, so Ixx = m/4 (b^2 + c^2), and the parallel axis theorem adds m (d^2 E - d d^T); by hand:
//   center = (0.1, 0, 0.0666...); reduced mass 2 * 1 / 3 = 2/3 at d = (0.3, 0, 0.2):
//     xx 2/3 * 0.04 = 0.0266..., yy 2/3 * 0.13 = 0.0866..., zz 2/3 * 0.09 = 0.06,
//     xz -2/3 * 0.06 = -0.04
//   A: xx 2/4 (0.04 + 0.01) = 0.025, yy 2/4 (0.16 + 0.01) = 0.085, zz 2/4 (0.16 + 0.04) = 0.1
//   B: xx 1/4 (0.01 + 0.09) = 0.025, yy the same, zz 1/4 (0.01 + 0.01) = 0.005
static void check_composite(mf_CheckRun *run) {
    static const double size[2][3] = {{0.4, 0.2, 0.1}, {0.1, 0.1, 0.3}};
    static const double center[2][3] = {{0.0, 0.0, 0.0}, {0.3, 0.0, 0.2}};
    mf_Builder *builder;
    mf_Model *model;
    mf_check_must(run, mf_builder_create(run->context, "boxes", &builder, &run->error));
    mf_BodyId first = mf_body_create_box(builder, size[0], center[0], 2.0, NULL);
    mf_BodyId second = mf_body_create_box(builder, size[1], center[1], 1.0, NULL);
    mf_body_connect(builder, first, second);
    mf_check_must(run, mf_builder_finalize(builder, &model, &run->error));
    mf_builder_destroy(builder);
    const mf_Link *link = &model->links[0];
    mf_check_near(run, "mass [kg]", 3.0, model->mass, 1e-14);
    mf_check_near(run, "inertia xx [kg m^2]", 0.0766666666666666667, link->inertia[0], 1e-14);
    mf_check_near(run, "inertia yy [kg m^2]", 0.1966666666666666667, link->inertia[1], 1e-14);
    mf_check_near(run, "inertia zz [kg m^2]", 0.165, link->inertia[2], 1e-14);
    mf_check_near(run, "inertia xy [kg m^2]", 0.0, link->inertia[3], 1e-14);
    mf_check_near(run, "inertia xz [kg m^2]", -0.04, link->inertia[4], 1e-14);
    mf_check_near(run, "inertia yz [kg m^2]", 0.0, link->inertia[5], 1e-14);
    mf_model_destroy(model);
}

// The mass points represent the link: their sums must give the mass and inertia of box A above.
static void check_points(mf_CheckRun *run) {
    static const double size[3] = {0.4, 0.2, 0.1}, center[3] = {0.0, 0.0, 0.0};
    mf_Builder *builder;
    mf_Model *model;
    mf_check_must(run, mf_builder_create(run->context, "box", &builder, &run->error));
    mf_body_create_box(builder, size, center, 2.0, NULL);
    mf_check_must(run, mf_builder_finalize(builder, &model, &run->error));
    mf_builder_destroy(builder);
    double mass = 0.0, yy = 0.0;
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        double x = point->position[0] - model->links[0].center[0];
        double z = point->position[2] - model->links[0].center[2];
        mass += point->mass;
        yy += point->mass * (x * x + z * z);
    }
    mf_check_near(run, "sum of point masses [kg]", 2.0, mass, 1e-14);
    mf_check_near(run, "inertia yy of the points [kg m^2]", 0.085, yy, 1e-14);
    mf_model_destroy(model);
}

const mf_CheckCase mf_check_model_cases[] = {
    {"E4", "composite inertia: parallel axis theorem by hand", check_composite},
    {"E4-points", "mass points have the body's mass and inertia", check_points},
    {NULL, NULL, NULL}};
