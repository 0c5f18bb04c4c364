// Normal response: distribution of the load, and few, collinear or coincident contacts.
#include "motion/rig.h"

// Six mass points of m/6 around (x, y, z).
static void add_mass(mf_HandModel *hand, double mass, double x, double y, double z) {
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2)
            mf_hand_point(hand, 0, x + (axis == 0 ? 0.1 * side : 0),
                          y + (axis == 1 ? 0.08 * side : 0), z + (axis == 2 ? 0.05 * side : 0),
                          mass / 6, false);
}

static void open_box(Rig *rig, bool double_precision, mf_FrictionModel friction,
                     const mf_Terrain *terrain) {
    points_open(rig, WITH(points_config(double_precision), .points.friction = friction,
                          .world.terrain = terrain));
}

static double largest_speed(const Rig *rig) {
    double speed = 0.0;
    for (uint32_t c = 0; c < 3; c++) {
        speed = fmax(speed, fabs(rig_get(rig, "base.linear_velocity", c)));
        speed = fmax(speed, fabs(rig_get(rig, "base.angular_velocity", c)));
    }
    return speed;
}

// ---- loads at rest ------------------------------------------------------------------------------

// C1. Four feet at (+-0.2, +-0.15), 10 kg with the center of mass off by (0.05, 0.02): the loads of
// least norm are m g/4 (1 +- dx/a +- dy/b). The feet give way by load/stiffness (1e-6 m/N), which
// tilts the body by (12.26 N, 6.54 N) 1e-6 / (0.4 m, 0.3 m) = 3.8e-5 rad. The center lies in the
// plane of the feet, so that tilt counts in second order only: m g (3.8e-5)^2 = 1.4e-7 N.
TEST(c1_four_feet) {
    static const double expected[4] = {33.92625, 27.38625, 21.66375, 15.12375}; // [N]
    for (int friction = 0; friction < 2; friction++) {
        AUTO_RIG rig = rig_begin(1);
        add_mass(rig.hand, 10.0, 0.05, 0.02, 0.0);
        for (int i = 0; i < 4; i++)
            mf_hand_point(rig.hand, 0, i < 2 ? 0.2 : -0.2, i % 2 ? -0.15 : 0.15, 0, 0, true);
        open_box(&rig, true, friction ? MF_FRICTION_COUPLED : MF_FRICTION_FIT, NULL);
        mf_world_step(rig.world, 2000);
        for (uint32_t i = 0; i < 4; i++)
            assert_near(rig_get(&rig, "point.load", i), expected[i], 1.4e-7);
        assert_near(largest_speed(&rig), 0.0, 1e-9);
    }
}

// C2. Three feet: statics has one answer; forces and moments balance to 1e-12 m g.
TEST(c2_three_feet) {
    static const double foot[3][2] = {{0.2, 0.03}, {-0.1, 0.17}, {-0.12, -0.14}};
    AUTO_RIG rig = rig_begin(1);
    add_mass(rig.hand, 3.0, 0.02, -0.01, 0.1);
    for (int i = 0; i < 3; i++)
        mf_hand_point(rig.hand, 0, foot[i][0], foot[i][1], 0, 0, true);
    open_box(&rig, true, MF_FRICTION_FIT, NULL);
    mf_world_step(rig.world, 2000);
    double center[3], linear[3], angular[3], force = 0, roll = 0, pitch = 0;
    mf_motion_momentum(rig.group, 0, center, linear, angular);
    for (uint32_t i = 0; i < 3; i++) {
        double load = rig_get(&rig, "point.load", i);
        assert_true(load > 0);
        force += load;
        pitch += load * (rig_get(&rig, "point.anchor", 3 * i) - center[0]);
        roll += load * (rig_get(&rig, "point.anchor", 3 * i + 1) - center[1]);
    }
    assert_near(force, 3.0 * 9.81, 1e-12 * 29.43);
    assert_near(pitch, 0.0, 1e-12 * 29.43);
    assert_near(roll, 0.0, 1e-12 * 29.43);
}

// C6. The same flat ground as one height, as a nearest-cell map and as a bilinear map (a far cell
// is lower, so that the map is no longer level): same heights and loads to 1e-12.
TEST(c6_plane_by_three_methods) {
    double height[3], load[3][32], heights[400] = {0};
    uint32_t contacts = 0;
    heights[0] = -1.0;
    for (int method = 0; method < 3; method++) {
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 20, .rows = 20,
                                       .interpolation = method == 2 ? MF_BILINEAR : MF_NEAREST);
        mf_Terrain *terrain = NULL;
        if (method > 0)
            MUST(mf_terrain_from_array(rig.context, &config, heights, &terrain, &error));
        open_box(&rig, true, MF_FRICTION_FIT, terrain);
        mf_world_step(rig.world, 500);
        height[method] = rig_get(&rig, "base.position", 2);
        contacts = rig_field(&rig, "point.load")->components;
        for (uint32_t i = 0; i < contacts; i++)
            load[method][i] = rig_get(&rig, "point.load", i);
        rig.terrain = terrain;
    }
    for (int method = 1; method < 3; method++) {
        assert_near(height[method], height[0], 1e-12);
        for (uint32_t i = 0; i < contacts; i++)
            assert_near(load[method][i], load[0][i], 1e-12 * 20);
    }
}

// ---- few contacts -------------------------------------------------------------------------------

typedef struct Few {
    const char *name;
    uint32_t count;
    double at[3][2]; // [m] x, y of the contacts; all at the height of the center of mass
    bool balanced;   // they bear the weight at rest
} Few;

// No contact falls for ever; one, two, collinear and coincident ones under the center of mass bear
// the weight, m g = 19.62 N; contacts beside it let the body tip over: nothing of it is a fault.
TEST(degenerate_contacts) {
    static const Few cases[] = {
        {"none", 0, {{0}}, false},
        {"one", 1, {{0, 0}}, true},
        {"one beside", 1, {{0.1, 0}}, false},
        {"two", 2, {{0.1, 0}, {-0.1, 0}}, true},
        {"two beside", 2, {{0.1, 0.02}, {-0.1, 0.02}}, false},
        {"three in a line", 3, {{0.1, 0.1}, {0, 0}, {-0.1, -0.1}}, true},
        {"two in one position", 2, {{0, 0}, {0, 0}}, true},
        {"three in one position beside", 3, {{0.1, 0}, {0.1, 0}, {0.1, 0}}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int option = 0; option < 4; option++) {
            AUTO_RIG rig = rig_begin(1);
            add_mass(rig.hand, 2.0, 0, 0, 0);
            for (uint32_t c = 0; c < cases[i].count; c++)
                mf_hand_point(rig.hand, 0, cases[i].at[c][0], cases[i].at[c][1], 0, 0, true);
            open_box(&rig, (option & 1) != 0, option & 2 ? MF_FRICTION_COUPLED : MF_FRICTION_FIT,
                     NULL);
            double energy = rig_energy(&rig);
            mf_world_step(rig.world, 300);
            if (mf_group_fault_total(rig.group) != 0)
                fail_msg("%s, option %d: fault", cases[i].name, option);
            double load = 0;
            for (uint32_t c = 0; c < cases[i].count; c++)
                load += rig_get(&rig, "point.load", c);
            if (cases[i].balanced) {
                assert_near(load, 19.62, option & 1 ? 1e-9 : 1e-3);
                assert_near(rig_get(&rig, "base.position", 2), 0.0, 1e-4);
                assert_near(rig_get(&rig, "base.position", 0), 0.0, 1e-6);
                assert_near(rig_get(&rig, "base.position", 1), 0.0, 1e-6);
            } else {
                assert_true(rig_get(&rig, "base.position", 2) < -0.01);
            }
            assert_true(rig_energy(&rig) <= energy + 1e-5);
        }
}

// ---- rest ---------------------------------------------------------------------------------------

// A standing robot stays where it stands for 1e5 steps (1000 s) after the first ten seconds.
//   double: within 1e-9 m and rad, that is, it does not move;
//   float:  every step may be off by half a unit in the last place of 0.3 m, always to the same
//           side: 1e5 * 2^-24 * 0.3 m = 1.8e-3 m (seen: 2e-4 m);
//   coupled friction on curved ground is not at rest but creeps, in both precisions, by about
//           1e-6 m/s; the bound of 5e-6 m/s says so and keeps it from growing.
TEST(rest_does_not_drift) {
    for (int option = 0; option < 12; option++) {
        int ground = option / 4;
        bool wide = (option & 1) != 0, coupled = (option & 2) != 0;
        double allowed = wide ? 1e-9 : 1e5 * 0x1p-24 * 0.3;
        if (coupled && ground == 2)
            allowed = 5e-3;
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        mf_Terrain *terrain = make_terrain(
            rig.context, ground == 0 ? MF_TERRAIN_FLAT : MF_TERRAIN_NOISE,
            ground == 2 ? MF_BILINEAR : MF_NEAREST, ground == 0 ? 0.0 : 0.05, 1.0, 0.1);
        open_box(&rig, wide, coupled ? MF_FRICTION_COUPLED : MF_FRICTION_FIT, terrain);
        mf_world_step(rig.world, 1000);
        static const char *const names[] = {"base.position", "base.orientation"};
        double start[2][4];
        for (uint32_t f = 0; f < 2; f++)
            for (uint32_t c = 0; c < 3 + f; c++)
                start[f][c] = rig_get(&rig, names[f], c);
        mf_world_step(rig.world, 100000);
        for (uint32_t f = 0; f < 2; f++)
            for (uint32_t c = 0; c < 3 + f; c++)
                check_near(rig_get(&rig, names[f], c), start[f][c], allowed, names[f], option);
        rig.terrain = terrain;
    }
}
