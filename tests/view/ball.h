// A ball with an arm on a hinge about y, 0.5 m to the side.
#pragma once

#include "rig/rig.h"

static inline mf_Model *ball_with_arm(mf_Context *context, const char *name) {
    static const double middle[3] = {0, 0, 0.1}, from[3] = {0.5, 0, 0.1}, to[3] = {0.9, 0, 0.1};
    static const double anchor[3] = {0.5, 0, 0}, axis[3] = {0, 1, 0};
    static const float red[3] = {1, 0, 0};
    AUTO_BUILDER *builder = NULL;
    mf_Model *model = NULL;
    MUST(mf_builder_create(context, name, &builder, &error));
    mf_BodyId ball = mf_body_create_sphere(builder, middle, 0.1, 1.0, red);
    mf_BodyId arm = mf_body_create_cylinder(builder, from, to, 0.02, 0.2, NULL);
    mf_joint_create_hinge(builder, ball, arm, anchor, axis, NULL);
    MUST(mf_builder_finalize(builder, &model, &error));
    return model;
}
