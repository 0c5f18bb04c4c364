// A world with one group of a hand-built model, or of Mayfly's humanoid, that moves by `rigid`,
// `prescribed` or `articulated`.
#pragma once

#include "motion/articulated_rig.h"

typedef struct DrivenConfig {
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_Motion motion;
    mf_MotionsConfig motions;
} DrivenConfig;

static inline DrivenConfig driven_config(mf_Motion motion, mf_ArticulatedIntegrator integrator,
                                         mf_Time step) {
    DrivenConfig config = {.world = mf_world_config(),
                           .group = mf_group_config(),
                           .motion = motion,
                           .motions = mf_motions_config()};
    mf_RigidConfig *rigid = &config.motions.rigid;
    mf_PrescribedConfig *prescribed = &config.motions.prescribed;
    config.world.step = step;
    config.group.double_precision = true;
    rigid->integrator = prescribed->integrator = config.motions.articulated.integrator = integrator;
    // The closed forms are those of rigid ground: as stiff as the step allows, points without spin.
    rigid->contact_time = prescribed->contact_time = rigid->torsional_friction = 0.0;
    return config;
}

// After rig_begin and building rig->hand, or setting rig->model.
static inline void driven_open(Rig *rig, DrivenConfig config) {
    rig_add_group(rig, &config.world, config.group);
    MUST(mf_motion_add(rig->group, config.motion, &config.motions, &error));
}

// A base with two arms of oblique and straight hinges, a slide with a wheel, and a ball joint at
// the end: every kind of link, none in a special place. Numbers are free choices of the tests.
static inline void make_flailer(mf_HandModel *hand, bool ball) {
    static const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    art_body(hand, 0, 3.0, 0.05, -0.02, 0.1, 0.1, 0.15, 0.12);
    uint32_t arm = mf_hand_hinge(hand, 0, 0.2, 0.1, 0, oblique);
    art_body(hand, arm, 1.0, 0.2, 0, 0.05, 0.01, 0.02, 0.015);
    uint32_t palm = mf_hand_hinge(hand, arm, 0.4, 0, 0, y);
    art_body(hand, palm, 0.5, 0, 0, -0.2, 0.006, 0.006, 0.001);
    uint32_t slide = mf_hand_slide(hand, 0, -0.2, 0, 0.1, x);
    art_body(hand, slide, 0.7, 0, 0.1, 0, 0.004, 0.005, 0.006);
    uint32_t wheel = mf_hand_hinge(hand, slide, 0, 0.1, 0.1, z);
    art_body(hand, wheel, 0.4, 0.01, 0.02, 0, 0.003, 0.003, 0.005);
    hand->links[wheel].inertia[3] = 0.0005;
    uint32_t leg = mf_hand_hinge(hand, 0, 0, -0.1, -0.1, x);
    art_body(hand, leg, 0.6, 0, 0, -0.1, 0.003, 0.003, 0.001);
    uint32_t shin = mf_hand_hinge(hand, leg, 0, 0, -0.2, x);
    art_body(hand, shin, 0.3, 0, 0.01, -0.1, 0.001, 0.001, 0.0005);
    mf_hand_point(hand, shin, 0, 0, -0.2, 0.0, true);
    mf_hand_point(hand, palm, 0, 0, -0.3, 0.0, true);
    mf_hand_point(hand, 0, 0, 0, -0.12, 0.0, true);
    if (!ball)
        return;
    uint32_t head = mf_hand_hinge(hand, 0, 0.1, 0, 0.2, z);
    hand->joints[head - 1].type = MF_JOINT_BALL;
    art_body(hand, head, 0.4, 0.05, 0, 0.05, 0.001, 0.002, 0.001);
}
