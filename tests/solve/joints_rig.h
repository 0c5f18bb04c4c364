// Worlds for tests of run-time joints. Include cmocka by solve/pitch.h.
#pragma once

#include "solve/pitch.h"

// ---- worlds -------------------------------------------------------------------------------------

// A box of 0.1 x 0.2 x 0.4 m whose origin is its center.
static inline mf_Model *box_of(mf_Context *context, double mass) {
    return load_text(
        context,
        formatted("<mujoco model='box'><worldbody><body><freejoint/>"
                  "<geom type='box' size='0.05 0.1 0.2' mass='%g'/></body></worldbody></mujoco>",
                  mass));
}

static inline mf_Group *add_bodies(Pitch *pitch, mf_Model *model, const char *name, uint32_t count,
                                   mf_Motion motion, bool wide, bool contacts) {
    mf_Group *group = pitch_group(pitch, model, name, count, wide);
    mf_MotionsConfig config = mf_motions_config();
    config.articulated.contacts = config.rigid.contacts = config.prescribed.contacts = contacts;
    config.articulated.shapes = config.rigid.shapes = config.prescribed.shapes = true;
    mf_motions_set_control(&config, mf_world_config_of(pitch->world)->step);
    prepare(pitch, group);
    MUST(mf_motion_add(group, motion, &config, &error));
    return group;
}

static inline mf_WorldJoints *add_joints(Pitch *pitch) {
    mf_WorldJoints *joints;
    MUST(mf_world_joints_add(pitch->world, NULL, &joints, &error));
    return joints;
}

// Solved nearly to rounding.
static inline mf_WorldJoints *add_exact_joints(Pitch *pitch) {
    mf_WorldJoints *joints;
    MUST(mf_world_joints_add(pitch->world,
                             &WITH(mf_world_joints_config(), .tolerance = 1e-9, .rounds = 8),
                             &joints, &error));
    return joints;
}

// Joins two links as they are, at a point of the world.
static inline mf_WorldJointConfig joint_between(mf_WorldJointKind kind, mf_Group *first, uint32_t a,
                                                mf_Group *second, uint32_t b) {
    return WITH(mf_world_joint_config(), .kind = kind, .sides[0].group = first,
                .sides[0].instance = a, .sides[1].group = second, .sides[1].instance = b);
}

static inline mf_WorldJointId join(mf_WorldJoints *joints, mf_WorldJointConfig *config, double x,
                                   double y, double z, const double *axis) {
    mf_WorldJointId id;
    MUST(mf_world_joint_here(config, (double[]){x, y, z}, axis, &error));
    MUST(mf_world_joint_create(joints, config, &id, &error));
    assert_true(mf_world_joint_exists(joints, id));
    return id;
}

static inline mf_WorldJointState state_of(const mf_WorldJoints *joints, mf_WorldJointId id) {
    mf_WorldJointState state;
    MUST(mf_world_joint_state(joints, id, &state, &error));
    return state;
}

// [m] How far the joints of a world are open at most.
static inline double widest_opening(const mf_World *world) {
    const mf_WorldJoints *joints = mf_world_joints_of(world);
    double most = 0.0;
    for (mf_WorldJointId id = mf_world_joint_next(joints, MF_WORLD_JOINT_NONE);
         id != MF_WORLD_JOINT_NONE; id = mf_world_joint_next(joints, id))
        most = fmax(most, state_of(joints, id).opening);
    return most;
}

static inline void put_at(Pitch *pitch, mf_Group *group, uint32_t instance, double x, double y,
                          double z) {
    put(pitch, group, instance, x, y, z, 0.0);
}

// ---- chains -------------------------------------------------------------------------------------

typedef struct Chain {
    Pitch pitch;
    mf_Group *links;
    mf_WorldJoints *joints;
    mf_WorldJointId *ids;
} Chain;

// `count` boxes of 1 kg that hang from the world at height 50, each from the one above, by balls.
static inline Chain open_chain(uint32_t count, uint32_t threads, mf_Isa isa, bool wide) {
    Chain chain;
    Pitch *pitch = &chain.pitch;
    *pitch = pitch_open(threads, isa, 2 * MF_MILLISECOND, 9.81);
    chain.links = add_bodies(pitch, box_of(pitch->context, 1.0), "links", count, MF_MOTION_RIGID,
                             wide, false);
    chain.joints = add_joints(pitch);
    chain.ids = calloc(count, sizeof *chain.ids);
    for (uint32_t i = 0; i < count; i++)
        put_at(pitch, chain.links, i, 0, 0, 49.8 - 0.4 * i);
    for (uint32_t i = 0; i < count; i++) {
        mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_BALL, i > 0 ? chain.links : NULL,
                                                   i > 0 ? i - 1 : 0, chain.links, i);
        chain.ids[i] = join(chain.joints, &config, 0, 0, 50.0 - 0.4 * i, NULL);
    }
    return chain;
}

static inline void close_chain(Chain *chain) {
    free(chain->ids);
    pitch_close(&chain->pitch);
}
