// A world with one group of a hand-built model that moves by `kinematic`.
#pragma once

#include "motion/rig.h"
#include "motion/kinematic/motion.h"

typedef struct KinConfig {
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_KinematicConfig motion;
} KinConfig;

static inline KinConfig kin_config(mf_Time step) {
    KinConfig config = {.world = mf_world_config(),
                        .group = mf_group_config(),
                        .motion = mf_motions_config().kinematic};
    config.world.step = step;
    config.group.double_precision = true;
    return config;
}

// After rig_begin and building rig->hand.
static inline void kin_open(Rig *rig, KinConfig config) {
    for (uint32_t j = 0; j < rig->hand->model.joint_count; j++)
        rig->hand->joints[j].armature = 0.01; // for motions that ask for inertia
    rig_add_group(rig, &config.world, config.group);
    MUST(rig_add_kinematic(rig->group, &config.motion, &error));
}

// A leg of two slides, fore and aft, then up and down, that ends in one point; its hip at (x, y, 0)
// of the base, its foot `height` below. Returns its first joint.
static inline uint32_t kin_post(mf_HandModel *hand, double x, double y, double height) {
    static const double forward[3] = {1, 0, 0}, up[3] = {0, 0, 1};
    uint32_t hip = mf_hand_slide(hand, 0, x, y, 0, forward);
    mf_hand_point(hand, hip, 0, 0, 0, 0.1, false);
    uint32_t shank = mf_hand_slide(hand, hip, 0, 0, 0, up);
    mf_hand_point(hand, shank, 0, 0, -height, 0.1, true);
    return hip - 1;
}

// A leg of six hinges like those of a humanoid, that ends in a sole of 10 cm x 6 cm; its hip at
// (0, y, 0), its sole 0.22 m below when it is straight. Returns its first joint; the order is yaw,
// roll and pitch of the hip, knee, pitch and roll of the ankle.
static inline uint32_t kin_leg(mf_HandModel *hand, double y) {
    static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};
    uint32_t link = mf_hand_hinge(hand, 0, 0, y, 0, z_axis), first = link - 1;
    link = mf_hand_hinge(hand, link, 0, 0, 0, x_axis);
    link = mf_hand_hinge(hand, link, 0, 0, 0, y_axis);
    mf_hand_point(hand, link, 0, 0, -0.05, 0.1, false);
    link = mf_hand_hinge(hand, link, 0, 0, -0.09, y_axis);
    mf_hand_point(hand, link, 0, 0, -0.05, 0.1, false);
    link = mf_hand_hinge(hand, link, 0, 0, -0.09, y_axis);
    link = mf_hand_hinge(hand, link, 0, 0, 0, x_axis);
    for (int i = 0; i < 8; i++)
        mf_hand_point(hand, link, i & 1 ? 0.06 : -0.04, i & 2 ? 0.03 : -0.03, i & 4 ? -0.02 : -0.04,
                      0.01, true);
    return first;
}

// Two such legs under a trunk.
static inline void kin_biped(mf_HandModel *hand) {
    mf_hand_point(hand, 0, 0, 0, 0.2, 1.0, true);
    mf_hand_point(hand, 0, 0.05, 0, 0.1, 1.0, true);
    kin_leg(hand, 0.04);
    kin_leg(hand, -0.04);
}

// World place of foot contact `foot` of instance 0, by anchors when it stands.
static inline bool kin_stands(const Rig *rig, uint32_t foot) {
    return rig_get(rig, "stance.holds", foot) > 0.0;
}

static inline uint32_t kin_standing(const Rig *rig) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mf_kinematic_foot_count(rig->group); i++)
        count += kin_stands(rig, i);
    return count;
}
