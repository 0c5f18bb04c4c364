// The rig of this area's tests: a world with one group of one model, which is built by hand, read
// from a text or made of a vehicle's parameters; and the motion `points`.
#pragma once

#include "rig/rig.h"
#include "model/hand.h"

typedef struct Rig {
    mf_Context *context;
    mf_HandModel *hand;  // the model, which is filled between rig_begin and opening;
    mf_Model *model;     // or another one, which is destroyed with the rig,
    mf_Model *others[2]; // as are those of groups beside this one
    mf_Terrain *terrain; // NULL, or what is destroyed with it
    mf_World *world;
    mf_Group *group;
} Rig;

// An empty model by hand.
static inline Rig rig_on(mf_Context *context) {
    Rig rig = {.context = context, .hand = calloc(1, sizeof *rig.hand)};
    assert_non_null(rig.hand);
    mf_hand_start(rig.hand, rig.context);
    return rig;
}

// The same with a context of its own.
static inline Rig rig_begin(uint32_t threads) {
    return rig_on(open_context(threads));
}

// World and group of the model, without a motion.
static inline void rig_add_group(Rig *rig, const mf_WorldConfig *world, mf_GroupConfig group) {
    group.model = rig->model != NULL ? rig->model : &rig->hand->model;
    rig->world = open_world(rig->context, world);
    rig->group = add_group(rig->world, &group);
}

// Ends all but the context.
static inline void rig_clear(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    for (int i = 0; i < 2; i++)
        mf_model_destroy(rig->others[i]);
    mf_terrain_destroy(rig->terrain);
    free(rig->hand);
}

static inline void rig_close(Rig *rig) {
    rig_clear(rig);
    close_context(rig->context);
}

static inline mf_Field *rig_field(const Rig *rig, const char *name) {
    return field_of(rig->group, name);
}

// Of robot 0.
static inline double rig_get(const Rig *rig, const char *name, uint32_t component) {
    return get_field(rig->group, name, 0, component);
}

static inline void rig_set(const Rig *rig, const char *name, uint32_t component, double value) {
    set_field(rig->group, name, 0, component, value);
}

static inline void rig_set3(const Rig *rig, const char *name, double x, double y, double z) {
    set_field3(rig->group, name, 0, x, y, z);
}

static inline uint32_t rig_joint(const Rig *rig, const char *name) {
    return mf_model_find(rig->model, MF_ITEM_JOINT, name);
}

static inline double rig_energy(const Rig *rig) {
    mf_MotionEnergy energy = mf_motion_energy(rig->group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
}

// NESC check case 2 (NASA/TM-2015-218675): torque-free brick, (10, 20, 30) deg/s at the start.
// Rates in deg/s at 5, 10, 20 and 30 s from an independent integration with h = 1 ms, to 9
// decimals; at 30 s NASA's simulations 01 and 04 agree with it to 3e-10 deg/s.
static const double nesc_moment[3] = {0.00189422, 0.006211019, 0.007194665}; // [slug ft^2]

// Of a body with these moments, at a step of 1 ms and without gravity.
static inline void check_nesc_case_2(const Rig *rig) {
    static const double expected[4][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {20, -5.422734680, 22.715930576, 28.608281747},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    const double degree = 3.14159265358979323846 / 180.0;
    rig_set3(rig, "base.angular_velocity", 10 * degree, 20 * degree, 30 * degree);
    for (int row = 0; row < 4; row++) {
        mf_world_step(rig->world, row < 2 ? 5000 : 10000);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rig_get(rig, "base.angular_velocity", c) / degree, expected[row][c + 1],
                        2e-9);
    }
}

// ---- points -------------------------------------------------------------------------------------

typedef struct PointsConfig {
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_PointsConfig points;
} PointsConfig;

static inline PointsConfig points_config(bool double_precision) {
    PointsConfig config = {.world = mf_world_config(),
                           .group = mf_group_config(),
                           .points = mf_motions_config().points};
    config.group.double_precision = double_precision;
    return config;
}

static inline void points_open(Rig *rig, PointsConfig config) {
    rig_add_group(rig, &config.world, config.group);
    MUST(rig_add_points(rig->group, &config.points, &error));
}

// ---- what stands on the ground ------------------------------------------------------------------

static inline mf_Status try_terrain(mf_Context *context, mf_TerrainShape shape,
                                    mf_Interpolation interpolation, double amplitude,
                                    double wavelength, double cell, mf_Terrain **terrain,
                                    mf_Error *error) {
    mf_TerrainGenerator generator = {
        .shape = shape, .amplitude = amplitude, .wavelength = wavelength, .octaves = 4, .seed = 7};
    return mf_terrain_generate(context,
                               &WITH(mf_terrain_config(), .columns = 128, .rows = 128, .cell = cell,
                                     .interpolation = interpolation),
                               &generator, terrain, error);
}

static inline mf_Terrain *make_terrain(mf_Context *context, mf_TerrainShape shape,
                                       mf_Interpolation interpolation, double amplitude,
                                       double wavelength, double cell) {
    mf_Terrain *terrain;
    MUST(try_terrain(context, shape, interpolation, amplitude, wavelength, cell, &terrain, &error));
    return terrain;
}

// Six legs of three hinges on a box, 26 contact points, 2.0 kg: a walker with the proportions of a
// small hexapod. Numbers are free choices of the tests.
static inline void make_hexapod(mf_HandModel *hand) {
    static const double up[3] = {0, 0, 1};
    for (int i = 0; i < 8; i++)
        mf_hand_point(hand, 0, i & 1 ? .12 : -.12, i & 2 ? .06 : -.06, i & 4 ? .03 : -.03, .15,
                      true);
    for (int leg = 0; leg < 6; leg++) {
        double x = .12 * (leg % 3 - 1), y = leg < 3 ? .06 : -.06, side = leg < 3 ? 1.0 : -1.0;
        double lateral[3] = {side, 0, 0};
        uint32_t hip = mf_hand_hinge(hand, 0, x, y, 0, up);
        mf_hand_point(hand, hip, 0, .05 * side, 0, .05, true);
        uint32_t knee = mf_hand_hinge(hand, hip, 0, .05 * side, 0, lateral);
        mf_hand_point(hand, knee, 0, .07 * side, 0, .05, true);
        uint32_t foot = mf_hand_hinge(hand, knee, 0, .07 * side, 0, lateral);
        mf_hand_point(hand, foot, 0, .03 * side, -.12, .0333, true);
    }
    for (uint32_t j = 0; j < hand->model.joint_count; j++) {
        hand->joints[j].lower = -0.8;
        hand->joints[j].upper = 0.8;
        hand->joints[j].speed = 5.0;
    }
}
