// A fixture for tests of the `points` motion: one world with one group of a hand-built model.
#ifndef MF_TESTS_MOTION_FIXTURE_H
#define MF_TESTS_MOTION_FIXTURE_H

#include "rig/rig.h"
#include "model/hand.h"

typedef struct Fixture {
    mf_Context *context;
    mf_World *world;
    mf_Group *group;
    mf_HandModel *hand;  // the model, which is filled between begin and open
    mf_Terrain *terrain; // NULL, or what is destroyed with it
} Fixture;

// How a stage is set up; start from fixture_config().
typedef struct FixtureConfig {
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_PointsConfig points;
    uint32_t threads;
} FixtureConfig;

static inline FixtureConfig fixture_config(bool double_precision) {
    FixtureConfig config = {.world = mf_world_config(),
                            .group = mf_group_config(),
                            .points = mf_motions_config().points,
                            .threads = 1};
    config.group.double_precision = double_precision;
    return config;
}

// First call this, then build stage->hand, then fixture_open.
static inline Fixture fixture_begin(uint32_t threads) {
    Fixture fixture = {.context = open_context(threads), .hand = calloc(1, sizeof *fixture.hand)};
    assert_non_null(fixture.hand);
    mf_hand_start(fixture.hand, fixture.context);
    return fixture;
}

static inline void fixture_open(Fixture *fixture, FixtureConfig config) {
    config.group.model = &fixture->hand->model;
    fixture->world = open_world(fixture->context, &config.world);
    fixture->group = add_group(fixture->world, &config.group);
    MUST(rig_add_points(fixture->group, &config.points, &error));
}

static inline void fixture_close(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_terrain_destroy(fixture->terrain);
    close_context(fixture->context);
    free(fixture->hand);
}

static inline mf_Field *fixture_field(const Fixture *fixture, const char *name) {
    return field_of(fixture->group, name);
}

static inline double fixture_get(const Fixture *fixture, const char *name, uint32_t component) {
    return mf_field_get(fixture_field(fixture, name), 0, component);
}

static inline void fixture_set(const Fixture *fixture, const char *name, uint32_t component,
                               double value) {
    mf_field_set(fixture_field(fixture, name), 0, component, value);
}

static inline void fixture_set3(const Fixture *fixture, const char *name, double x, double y,
                                double z) {
    set_field3(fixture->group, name, 0, x, y, z);
}

static inline double fixture_energy(const Fixture *fixture, uint32_t instance) {
    mf_MotionEnergy energy = mf_motion_energy(fixture->group, instance);
    return energy.kinetic + energy.potential + energy.elastic;
}

static inline mf_Terrain *make_terrain(mf_Context *context, mf_TerrainShape shape,
                                       mf_Interpolation interpolation, double amplitude,
                                       double wavelength, double cell) {
    mf_Terrain *terrain;
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 128, .rows = 128, .cell = cell,
                                   .interpolation = interpolation);
    mf_TerrainGenerator generator = {
        .shape = shape, .amplitude = amplitude, .wavelength = wavelength, .octaves = 4, .seed = 7};
    MUST(mf_terrain_generate(context, &config, &generator, &terrain, &error));
    return terrain;
}

// Uniform in [-1, 1), the n-th number of a stream.
static inline double random_signed(uint32_t stream, uint64_t n) {
    uint32_t word[4];
    mf_random(20240521, 0, stream, n, word);
    return 2.0 * mf_random_unit_double(word[0], word[1]) - 1.0;
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

#endif
