// Ground contact of the `articulated` motion: rest, bounce, rolling, sliding, creep, isotropy of
// friction, and robots that fall with steps far larger than an explicit contact allows.
#include "motion/articulated_rig.h"

static const double degree = 3.14159265358979323846 / 180.0;

// ---- bodies and grounds -------------------------------------------------------------------------

// A block of 0.4 x 0.4 x 0.2 m and 2 kg on four points at its lower corners.
static void build_block(mf_HandModel *hand) {
    art_body(hand, 0, 2.0, 0, 0, 0, 2.0 / 12 * 0.2, 2.0 / 12 * 0.2, 2.0 / 12 * 0.32);
    for (int i = 0; i < 4; i++)
        mf_hand_point(hand, 0, i & 1 ? 0.2 : -0.2, i & 2 ? 0.2 : -0.2, -0.1, 0.0, true);
}

static mf_Shape round_shape(mf_ShapeType type, double radius, double length) {
    return (mf_Shape){.type = type,
                      .collides = true,
                      .rotation = {1, 0, 0, 0},
                      .size = {radius, length, 0},
                      .mesh = MF_NONE};
}

static mf_Terrain *slope(mf_Context *context, double angle) {
    return make_terrain(context, MF_TERRAIN_SLOPE, MF_BILINEAR, angle, 1.0, 0.1);
}

// Puts the base `height` above the slope height = x tan(angle) at x = 0, tilted with it.
static void put_on_slope(const Rig *rig, double angle, double height) {
    rig_set3(rig, "base.position", -height * sin(angle), 0.0, height * cos(angle));
    rig_set(rig, "base.orientation", 0, cos(0.5 * angle));
    rig_set(rig, "base.orientation", 2, -sin(0.5 * angle));
}

static double along_slope(const Rig *rig, const char *name, double angle) {
    return -(rig_get(rig, name, 0) * cos(angle) + rig_get(rig, name, 2) * sin(angle));
}

// ---- rest and bounce ----------------------------------------------------------------------------

// At rest n contacts of stiffness k lie m g / (n k) deep and share the weight.
TEST(d1_rest) {
    AUTO_RIG rig = rig_begin(1);
    build_block(rig.hand);
    art_open(&rig, WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND),
                        .motion.contact_stiffness = 1000.0));
    rig_set3(&rig, "base.position", 0, 0, 0.1);
    mf_world_step(rig.world, 4000);
    assert_near(rig_get(&rig, "base.position", 2), 0.1 - 2.0 * 9.81 / 4000.0, 1e-9);
    for (uint32_t i = 0; i < 4; i++)
        assert_near(rig_get(&rig, "contact.load", i), 2.0 * 9.81 / 4.0, 1e-6);
}

// A mass on a spring and damper that cannot pull: coefficient of restitution 0.7440794 at damping
// ratio 0.1 (Schwager and Poeschel 2007).
TEST(d3_bounce) {
    static const mf_ArticulatedIntegrator integrators[] = {MF_ARTICULATED_RK4,
                                                           MF_ARTICULATED_IMPLICIT};
    for (int i = 0; i < 2; i++) {
        AUTO_RIG rig = rig_begin(1);
        art_body(rig.hand, 0, 2.0, 0, 0, 0, 1, 1, 1);
        mf_hand_point(rig.hand, 0, 0, 0, 0, 0.0, true);
        art_open(&rig, WITH(art_config(integrators[i], MF_MILLISECOND / 100), .world.gravity = 0.0,
                            .motion.contact_stiffness = 1e4,
                            .motion.contact_damping = 2.0 * 0.1 * sqrt(1e4 * 2.0),
                            .motion.contact_depth = 1.0));
        rig_set3(&rig, "base.position", 0, 0, 1e-6);
        rig_set3(&rig, "base.linear_velocity", 0, 0, -1);
        mf_world_step(rig.world, 6000);
        assert_near(rig_get(&rig, "base.linear_velocity", 2), 0.7440794, i == 0 ? 1e-4 : 1e-3);
    }
}

// ---- level ground -------------------------------------------------------------------------------

// A block that slides at its rest depth brakes by mu g in every step: the chord of friction goes by
// the slip at the end, not by that at the beginning (which brakes less, by the part step mu g / v).
TEST(sliding_brakes_by_coulomb) {
    const double step = 0.005, mu = 0.3, depth = 9.81 * 1e-4 / 4.0;
    AUTO_RIG rig = rig_begin(1);
    // Hard to turn, so that friction does not tip it.
    art_body(rig.hand, 0, 2.0, 0, 0, 0, 1e6, 1e6, 1e6);
    for (int i = 0; i < 4; i++)
        mf_hand_point(rig.hand, 0, i & 1 ? 0.2 : -0.2, i & 2 ? 0.2 : -0.2, -0.1, 0.0, true);
    art_open(&rig,
             WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND), .motion.friction = mu));
    rig_set3(&rig, "base.position", 0, 0, 0.1 - depth);
    rig_set3(&rig, "base.linear_velocity", 2, 0, 0);
    mf_world_step(rig.world, 20);
    double before = rig_get(&rig, "base.linear_velocity", 0);
    mf_world_step(rig.world, 60);
    double after = rig_get(&rig, "base.linear_velocity", 0);
    assert_near((before - after) / (60 * step), mu * 9.81, 1e-6);
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "base.linear_velocity", 0), 0.0, 1e-4);
    // Semi-implicit Euler lags by step v / 2 of the exact way v^2 / (2 mu g).
    double distance = 2.0 * 2.0 / (2.0 * mu * 9.81);
    assert_near(rig_get(&rig, "base.position", 0), distance, 2.0 * step * 2.0);
}

// The place where a ball touches stays below its center however fast it rolls, so it lies m g / k
// deep, as at rest.
TEST(a_rolling_ball_rests) {
    mf_Shape ball = round_shape(MF_SHAPE_SPHERE, 0.1, 0.0);
    AUTO_RIG rig = rig_begin(1);
    rig.hand->model.shapes = &ball;
    rig.hand->model.shape_count = 1;
    art_body(rig.hand, 0, 3.0, 0, 0, 0, 0.012, 0.012, 0.012);
    art_open(&rig,
             WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND), .motion.shapes = true));
    rig_set3(&rig, "base.position", 0, 0, 0.1);
    rig_set3(&rig, "base.linear_velocity", 2, 0, 0);
    rig_set3(&rig, "base.angular_velocity", 0, 20, 0);
    mf_world_step(rig.world, 400);
    assert_near(rig_get(&rig, "base.linear_velocity", 0), 2.0, 1e-6);
    assert_near(rig_get(&rig, "base.position", 2), 0.1 - 9.81 * 1e-4, 1e-9);
}

// ---- slopes -------------------------------------------------------------------------------------

typedef struct Roll {
    mf_ShapeType type;
    double moment;    // [1] J / (m r^2)
    double angle, mu; // [rad], [1]
    double expected;  // [m/s^2]
} Roll;

// Solid sphere and cylinder: g sin / (1 + J/(m r^2)); with too little friction they slip and
// accelerate by g (sin - mu cos). One second from rest.
TEST(d5_d6_rolling) {
    const double g = 9.81, a = 15 * degree, b = 40 * degree;
    const Roll rolls[] = {{MF_SHAPE_SPHERE, 0.4, a, 1.0, 1.8135820},
                          {MF_SHAPE_CYLINDER, 0.5, a, 1.0, g * sin(a) / 1.5},
                          {MF_SHAPE_SPHERE, 0.4, b, 0.2, g * (sin(b) - 0.2 * cos(b))},
                          {MF_SHAPE_CYLINDER, 0.5, b, 0.2, g * (sin(b) - 0.2 * cos(b))}};
    for (size_t i = 0; i < sizeof rolls / sizeof *rolls; i++) {
        const Roll *roll = &rolls[i];
        mf_Shape shape = round_shape(roll->type, 0.1, 0.3);
        const double half = sqrt(0.5), across[4] = {half, half, 0, 0}; // its axis along y
        AUTO_RIG rig = rig_begin(1);
        mf_Terrain *terrain = slope(rig.context, roll->angle);
        memcpy(shape.rotation, across, sizeof across);
        rig.hand->model.shapes = &shape;
        rig.hand->model.shape_count = 1;
        art_body(rig.hand, 0, 3.0, 0, 0, 0, 0.012, roll->moment * 0.03, 0.012);
        art_open(&rig,
                 WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .world.terrain = terrain,
                      .motion.shapes = true, .motion.friction = roll->mu));
        put_on_slope(&rig, roll->angle, 0.1 - 1e-6);
        mf_world_step(rig.world, 1000);
        double speed = along_slope(&rig, "base.linear_velocity", roll->angle);
        assert_near(speed, roll->expected, 3e-3 * roll->expected);
        if (roll->mu == 1.0) // it rolls
            assert_near(rig_get(&rig, "base.angular_velocity", 1), -speed / 0.1, 2e-3);
        rig.terrain = terrain;
    }
}

// A block on 20 degrees with mu 0.5 stays: it creeps at most as fast as the slip speed times
// tan(20)/mu = 0.073 mm/s; with mu 0.2 it slides by g (sin - mu cos), to first order in the step
// (in a second from speed v to 2 v friction is too large by mu g cos h ln 2).
TEST(d9_block_on_a_slope) {
    static const mf_Time steps[] = {MF_MILLISECOND, 5 * MF_MILLISECOND, 10 * MF_MILLISECOND};
    const double angle = 20 * degree;
    for (int i = 0; i < 6; i++) {
        AUTO_RIG rig = rig_begin(1);
        mf_Terrain *terrain = slope(rig.context, angle);
        build_block(rig.hand);
        art_open(&rig, WITH(art_config(MF_ARTICULATED_IMPLICIT, steps[i / 2]),
                            .world.terrain = terrain, .motion.friction = i % 2 == 0 ? 0.5 : 0.2));
        put_on_slope(&rig, angle, 0.1);
        mf_world_step(rig.world, (uint64_t)(MF_SECOND / steps[i / 2]));
        double before = along_slope(&rig, "base.position", angle);
        double rate = along_slope(&rig, "base.linear_velocity", angle);
        mf_world_step(rig.world, (uint64_t)(MF_SECOND / steps[i / 2]));
        double crept = along_slope(&rig, "base.position", angle) - before;
        double gained = along_slope(&rig, "base.linear_velocity", angle) - rate;
        if (i % 2 == 0)
            assert_near(crept, 1e-4 * tan(angle) / 0.5, 1e-6);
        else
            assert_near(gained, 9.81 * (sin(angle) - 0.2 * cos(angle)),
                        9.81 * 0.2 * cos(angle) * mf_time_to_seconds(steps[i / 2]));
        rig.terrain = terrain;
    }
}

// A block thrown over level ground in any direction stops after v^2 / (2 mu g).
TEST(friction_is_the_same_in_all_directions) {
    const double speed = 1.5, mu = 0.4, distance = speed * speed / (2.0 * mu * 9.81);
    double first = 0.0;
    for (int d = 0; d < 12; d++) {
        AUTO_RIG rig = rig_begin(1);
        art_body(rig.hand, 0, 2.0, 0, 0, 0, 1, 1, 1);
        mf_hand_point(rig.hand, 0, 0, 0, 0, 0.0, true);
        art_open(&rig,
                 WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .motion.friction = mu));
        rig_set3(&rig, "base.position", 0, 0, 0);
        mf_world_step(rig.world, 300); // until it rests in its contact
        double a = 30.0 * d * degree;
        rig_set3(&rig, "base.position", 0, 0, rig_get(&rig, "base.position", 2));
        rig_set3(&rig, "base.linear_velocity", speed * cos(a), speed * sin(a), 0);
        mf_world_step(rig.world, 2000);
        double x = rig_get(&rig, "base.position", 0), y = rig_get(&rig, "base.position", 1);
        double went = sqrt(x * x + y * y);
        assert_near(went, distance, 3e-3 * distance);
        assert_near(atan2(y, x), atan2(sin(a), cos(a)), d == 6 ? 7.0 : 1e-9);
        first = d == 0 ? went : first;
        assert_near(went, first, 1e-9);
    }
}

// ---- robots -------------------------------------------------------------------------------------

// A hexapod with servos falls from 0.5 m, tilted, at steps of 2 to 20 ms: no fault, it never gains
// energy in the ground, ends at rest, and its feet bear its weight.
TEST(a_robot_falls_and_stands) {
    static const mf_Time steps[] = {2 * MF_MILLISECOND, 5 * MF_MILLISECOND, 10 * MF_MILLISECOND,
                                    20 * MF_MILLISECOND};
    for (int i = 0; i < 8; i++) {
        ArtConfig config = WITH(art_config(MF_ARTICULATED_IMPLICIT, steps[i / 2]),
                                .group.double_precision = i % 2 == 0, .motion.servo.gain = 5.0,
                                .motion.servo.damping = 0.1);
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        for (uint32_t l = 0; l < rig.hand->model.link_count; l++) {
            mf_Link *link = &rig.hand->links[l];
            for (int c = 0; c < 3; c++)
                link->inertia[c] = link->mass * 1e-3;
        }
        art_open(&rig, config);
        rig_set(&rig, "base.position", 2, rig_get(&rig, "base.position", 2) + 0.5);
        rig_set(&rig, "base.orientation", 0, cos(0.3));
        rig_set(&rig, "base.orientation", 1, sin(0.3));
        double start = rig_energy(&rig), highest = start;
        for (mf_Time t = 0; t < 10 * MF_SECOND; t += steps[i / 2]) {
            mf_world_step(rig.world, 1);
            highest = fmax(highest, rig_energy(&rig));
        }
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        assert_true(highest <= start * 1.001);
        double load = 0.0, speed = 0.0;
        for (uint32_t c = 0; c < rig_field(&rig, "contact.load")->components; c++)
            load += rig_get(&rig, "contact.load", c);
        for (uint32_t c = 0; c < 3; c++)
            speed = fmax(speed, fabs(rig_get(&rig, "base.linear_velocity", c)));
        assert_near(load, rig.hand->model.mass * 9.81, 0.02);
        assert_near(speed, 0.0, 1e-3);
        assert_true(rig_get(&rig, "base.position", 2) > 0.0);
    }
}

// Solids rest where their surface touches the ground.
TEST(shapes_rest_on_their_surface) {
    static const struct {
        mf_ShapeType type;
        double size[3], height;
        uint32_t contacts;
    } cases[] = {{MF_SHAPE_SPHERE, {0.1, 0, 0}, 0.1, 1},
                 {MF_SHAPE_CAPSULE, {0.05, 0.3, 0}, 0.2, 2},
                 {MF_SHAPE_BOX, {0.3, 0.2, 0.1}, 0.05, 8},
                 {MF_SHAPE_CYLINDER, {0.1, 0.4, 0}, 0.2, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Shape shape = round_shape(cases[i].type, 0, 0);
        AUTO_RIG rig = rig_begin(1);
        memcpy(shape.size, cases[i].size, sizeof shape.size);
        rig.hand->model.shapes = &shape;
        rig.hand->model.shape_count = 1;
        art_body(rig.hand, 0, 1.0, 0, 0, 0, 0.01, 0.01, 0.01);
        art_open(&rig, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                            .motion.shapes = true));
        assert_int_equal(rig_field(&rig, "contact.load")->components, cases[i].contacts);
        rig_set3(&rig, "base.position", 0, 0, cases[i].height + 0.05);
        mf_world_step(rig.world, 600);
        double sunk = 9.81 * 0.004 * 0.004; // g time^2: all on one contact
        double height = rig_get(&rig, "base.position", 2);
        assert_true(height <= cases[i].height && height >= cases[i].height - 1.01 * sunk);
    }
}
