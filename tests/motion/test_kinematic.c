// The `kinematic` motion: stance feet do not move, stance and swing alternate, the base follows
// from forward kinematics. Expected foot positions are computed with the poses of `articulated` or
// in closed form.
#include "motion/kinematic_rig.h"
#include "motion/kinematic/motion.h"

static void set_target(const Rig *rig, uint32_t joint, double value) {
    rig_set(rig, "joint.target", joint, value);
}

// Bends a leg by hip, knee and ankle so that its sole rises level.
static void bend(const Rig *rig, uint32_t leg, double angle) {
    set_target(rig, leg + 2, -angle);
    set_target(rig, leg + 3, 2 * angle);
    set_target(rig, leg + 4, -angle);
}

// A second world in which the same robot moves by `articulated`, to ask where its links are.
typedef struct Witness {
    mf_World *world;
    mf_Group *group;
} Witness;

static Witness witness_open(Rig *rig) {
    Witness witness;
    mf_GroupConfig group =
        WITH(mf_group_config(), .model = &rig->hand->model, .double_precision = true);
    MUST(mf_world_create(rig->context, NULL, &witness.world, &error));
    witness.group = add_group(witness.world, &group);
    MUST(mf_motion_add(witness.group, MF_MOTION_ARTICULATED, NULL, &error));
    return witness;
}

// World place of point `point` of the model.
static void witness_point(const Witness *witness, const Rig *rig, uint32_t point, double out[3]) {
    static const char *const names[] = {"base.position", "base.orientation", "joint.angle"};
    double position[MF_HAND_LINKS][3], rotation[MF_HAND_LINKS][4];
    for (int f = 0; f < 3; f++) {
        mf_Field *from = rig_field(rig, names[f]);
        mf_Field *to = mf_group_find_field(witness->group, names[f]);
        for (uint32_t c = 0; c < from->components; c++)
            mf_field_set(to, 0, c, mf_field_get(from, 0, c));
    }
    mf_group_link_poses(witness->group, 0, 1, position[0], rotation[0], NULL);
    const mf_Point *p = &rig->hand->points[point];
    const double *q = rotation[p->link], *v = p->position;
    // q v q*, written out.
    double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                   2 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = position[p->link][0] + v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    out[1] = position[p->link][1] + v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    out[2] = position[p->link][2] + v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

enum { LEFT_SOLE = 4, RIGHT_SOLE = 14, RIGHT_LEG = 6 }; // first points and joint of kin_biped

// ---- the standing foot --------------------------------------------------------------------------

TEST(a_standing_sole_does_not_move) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    KinConfig config = kin_config(10 * MF_MILLISECOND); // large turns in one step
    kin_open(&rig, config);
    Witness witness = witness_open(&rig);
    double start[4][3];
    assert_int_equal(mf_kinematic_foot_count(rig.group), 8); // tops of soles are covered
    mf_world_step(rig.world, 1);
    assert_int_equal(kin_standing(&rig), 8);
    for (uint32_t i = 0; i < 4; i++)
        witness_point(&witness, &rig, LEFT_SOLE + i, start[i]);
    for (int n = 1; n <= 300; n++) {
        bend(&rig, RIGHT_LEG, 1.2 * fmin(n * 0.01, 1.0));
        for (uint32_t j = 0; j < 6; j++) // once the other leg is clear
            set_target(&rig, j, 0.25 * sin(0.11 * (j + 1) * fmax(n - 100, 0)));
        mf_world_step(rig.world, 1);
        for (uint32_t i = 0; i < 4; i++) {
            double now[3];
            witness_point(&witness, &rig, LEFT_SOLE + i, now);
            for (int c = 0; c < 3; c++)
                assert_near(now[c], start[i][c], 1e-12);
        }
        for (uint32_t j = 0; j < 12; j++)
            assert_true(rig_get(&rig, "joint.angle", j) == rig_get(&rig, "joint.target", j));
        assert_int_equal(kin_standing(&rig), 4);
        assert_near(rig_get(&rig, "contact.load", 1), 0.0, 0); // of the trunk
    }
    assert_int_equal(mf_group_fault_total(rig.group), 0);
    mf_world_destroy(witness.world);
}

// Even when the joints jump by a radian within a step.
TEST(a_jump_of_the_joints_is_followed) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    kin_open(&rig, kin_config(10 * MF_MILLISECOND));
    Witness witness = witness_open(&rig);
    double start[3], now[3];
    bend(&rig, RIGHT_LEG, 1.3); // well clear
    mf_world_step(rig.world, 20);
    assert_true(kin_stands(&rig, 0) && kin_stands(&rig, 3));
    for (int jump = 0; jump < 4; jump++) {
        witness_point(&witness, &rig, LEFT_SOLE, start);
        set_target(&rig, 0, jump % 2 == 0 ? 1.0 : -0.2);
        set_target(&rig, 2, jump % 2 == 0 ? -0.5 : 0.0);
        mf_world_step(rig.world, 1);
        witness_point(&witness, &rig, LEFT_SOLE, now);
        for (int c = 0; c < 3; c++)
            assert_near(now[c], start[c], 1e-10);
    }
    mf_world_destroy(witness.world);
}

// The base turns against the yaw of the hip of the leg that stands, at exactly its rate.
TEST(velocities_are_difference_quotients) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    kin_open(&rig, kin_config(MF_MILLISECOND));
    const double rate = 2.5;
    bend(&rig, RIGHT_LEG, 0.3);
    mf_world_step(rig.world, 1);
    for (int n = 1; n <= 400; n++) {
        double before[3];
        get_fields(rig.group, "base.position", 0, 3, before);
        set_target(&rig, 0, rate * 1e-3 * n);
        mf_world_step(rig.world, 1);
        assert_near(rig_get(&rig, "joint.rate", 0), rate, 1e-9);
        assert_field3(rig.group, "base.angular_velocity", 0, 0.0, 0.0, -rate, 1e-9);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rig_get(&rig, "base.linear_velocity", c),
                        (rig_get(&rig, "base.position", c) - before[c]) / 1e-3, 1e-9);
    }
    // About the hip at (0, 0.04): the base is now turned by -1 rad.
    assert_near(rig_get(&rig, "base.orientation", 3), -sin(0.5), 1e-12);
    assert_near(rig_get(&rig, "base.position", 0), -0.04 * sin(1.0), 1e-12);
    assert_near(rig_get(&rig, "base.position", 1), 0.04 - 0.04 * cos(1.0), 1e-12);
}

// ---- many feet ----------------------------------------------------------------------------------

// Six posts: first one tripod stands and strokes while the other swings, then the other way round.
TEST(a_tripod_gait_goes_as_far_as_it_strides) {
    AUTO_RIG rig = rig_begin(1);
    mf_hand_point(rig.hand, 0, 0, 0, 0, 2.0, false);
    for (int leg = 0; leg < 6; leg++)
        kin_post(rig.hand, 0.12 * (leg % 3 - 1), leg < 3 ? 0.1 : -0.1, 0.1);
    kin_open(&rig, kin_config(MF_MILLISECOND));
    enum { HALF = 100, CYCLES = 25 };
    const double stride = 0.04;
    // Legs 0, 2, 4 begin in front, the others behind.
    for (uint32_t leg = 0; leg < 6; leg++)
        for (int n = 0; n < 2; n++)
            set_target(&rig, 2 * leg, leg % 2 == 0 ? stride / 2 : -stride / 2);
    mf_world_step(rig.world, 1);
    double first = rig_get(&rig, "base.position", 0), sampled[18], slid = 0.0;
    for (int n = 0; n < 2 * HALF * CYCLES; n++) {
        double part = (double)(n % HALF + 1) / HALF;
        int strokes = n / HALF % 2; // the tripod that stands
        for (uint32_t leg = 0; leg < 6; leg++) {
            bool stands = (int)(leg % 2) == strokes;
            set_target(&rig, 2 * leg, stride * (stands ? 0.5 - part : part - 0.5));
            set_target(&rig, 2 * leg + 1, stands ? 0.0 : 0.03 * sin(3.14159265358979 * part));
        }
        mf_world_step(rig.world, 1);
        for (uint32_t leg = 0; leg < 6; leg++)
            for (uint32_t c = 0; c < 3; c++) {
                double hip = c == 0 ? 0.12 * (leg % 3 - 1.0) + rig_get(&rig, "joint.angle", 2 * leg)
                             : c == 1 ? (leg < 3 ? 0.1 : -0.1)
                                      : rig_get(&rig, "joint.angle", 2 * leg + 1) - 0.1;
                double foot = rig_get(&rig, "base.position", c) + hip;
                if (n % HALF > 0 && (int)(leg % 2) == strokes)
                    slid = fmax(slid, fabs(foot - sampled[3 * leg + c]));
                sampled[3 * leg + c] = foot;
            }
    }
    assert_true(slid < 1e-12);
    // The first half cycle begins when the body is in the middle of its stroke by neither tripod:
    // each half cycle moves it by one stride.
    assert_near(rig_get(&rig, "base.position", 0) - first, 2 * CYCLES * stride, 1e-11);
    for (uint32_t c = 1; c < 3; c++)
        assert_near(rig_get(&rig, "base.orientation", c), 0.0, 1e-12);
    assert_near(rig_get(&rig, "base.position", 1), 0.0, 1e-12);
    assert_near(rig_get(&rig, "base.position", 2), 0.1, 1e-12);
}

// Two feet across leave a turn about their line open: nothing asks for it, so it is not made.
TEST(a_trot_keeps_its_attitude) {
    for (int settles = 0; settles < 2; settles++) {
        AUTO_RIG rig = rig_begin(1);
        mf_hand_point(rig.hand, 0, 0, 0, 0, 2.0, false);
        for (int leg = 0; leg < 4; leg++)
            kin_post(rig.hand, leg < 2 ? 0.1 : -0.1, leg % 2 == 0 ? 0.07 : -0.07, 0.12);
        kin_open(&rig, WITH(kin_config(MF_MILLISECOND),
                            .motion.settle_height = settles ? (double)NAN : 0.0));
        for (int n = 0; n < 2000; n++) {
            double part = (double)(n % 200 + 1) / 200;
            for (uint32_t leg = 0; leg < 4; leg++) {
                bool stands = (leg == 0 || leg == 3) == (n / 200 % 2 == 0);
                set_target(&rig, 2 * leg, 0.05 * (stands ? 0.5 - part : part - 0.5));
                set_target(&rig, 2 * leg + 1, stands ? 0.0 : 0.02 * sin(3.14159265358979 * part));
            }
            mf_world_step(rig.world, 1);
            assert_true(kin_standing(&rig) >= 2);
            assert_near(rig_get(&rig, "base.orientation", 0), 1.0, 1e-9);
        }
        assert_near(rig_get(&rig, "base.position", 0), 10 * 0.05 - 0.05 / 200, 1e-9);
        assert_near(rig_get(&rig, "base.position", 2), 0.12, 1e-9);
    }
}

// ---- roles --------------------------------------------------------------------------------------

// A biped that shifts its weight by shortening one leg after the other: whichever foot is lower
// stands, never both once they differ, and a contact that stands keeps its place to the bit.
TEST(the_lower_foot_stands) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_RIG rig = rig_begin(1);
        kin_biped(rig.hand);
        kin_open(&rig, WITH(kin_config(MF_MILLISECOND), .group.double_precision = wide));
        mf_world_step(rig.world, 1);
        double constant[8][3];
        bool constrained_before[8] = {false};
        for (int n = 0; n < 4000; n++) {
            double swing = sin(2e-3 * 3.14159265358979 * n);
            for (uint32_t leg = 0; leg < 2; leg++) {
                bend(&rig, 6 * leg, fmax(leg == 0 ? swing : -swing, 0.0) * 0.4);
            }
            mf_world_step(rig.world, 1);
            if (fabs(swing) > (wide ? 0.02 : 0.1)) // around the change both are at rest
                for (uint32_t i = 0; i < 8; i++)
                    assert_int_equal(kin_stands(&rig, i), (i < 4) == (swing < 0));
            for (uint32_t i = 0; i < 8; i++) {
                for (uint32_t c = 0; c < 3 && kin_stands(&rig, i); c++) {
                    double anchor = rig_get(&rig, "stance.anchor", 3 * i + c);
                    if (constrained_before[i])
                        assert_true(anchor == constant[i][c]);
                    constant[i][c] = anchor;
                }
                constrained_before[i] = kin_stands(&rig, i);
            }
        }
        // Nothing drifts: the feet were only lifted and put down.
        assert_near(rig_get(&rig, "base.position", 0), 0.0, wide ? 1e-9 : 1e-4);
        assert_near(rig_get(&rig, "base.position", 1), 0.0, wide ? 1e-9 : 1e-4);
        assert_near(rig_get(&rig, "base.orientation", 0), 1.0, wide ? 1e-12 : 1e-6);
    }
}

// ---- ground -------------------------------------------------------------------------------------

TEST(without_a_foot_down_it_falls_without_turning) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    kin_open(&rig, kin_config(MF_MILLISECOND));
    const double high[3] = {0.3, -0.2, 1.0}, tilted[4] = {cos(0.01), sin(0.01), 0, 0};
    MUST(mf_group_set_start(rig.group, 0, high, tilted, NULL, &error));
    rig_set3(&rig, "base.linear_velocity", 2.0, 0, 0);  // dropped
    rig_set3(&rig, "base.angular_velocity", 0, 5.0, 0); // dropped
    for (int n = 1; n <= 300; n++) {
        mf_world_step(rig.world, 1);
        assert_near(rig_get(&rig, "base.position", 2), 1.0 - 9.81e-6 * n * (n + 1) / 2, 1e-12);
        assert_near(rig_get(&rig, "base.linear_velocity", 2), -9.81e-3 * n, 1e-12);
        assert_near(rig_get(&rig, "base.position", 0), 0.3, 0);
        assert_near(rig_get(&rig, "base.orientation", 1), sin(0.01), 1e-15);
        assert_int_equal(kin_standing(&rig), 0);
    }
    mf_world_step(rig.world, 150); // 0.78 m take 0.4 s
    assert_true(kin_standing(&rig) >= 2);
    // It lands on an edge of one sole and settles on both.
    mf_world_step(rig.world, 500);
    assert_int_equal(kin_standing(&rig), 8);
    assert_near(rig_get(&rig, "base.orientation", 1), 0.0, 1e-6);
    assert_near(rig_get(&rig, "base.position", 2), 0.22, 1e-6);
}

// On hills: the lowest contact is on the ground, the others are not under it.
TEST(it_walks_on_a_height_map) {
    for (int kind = 0; kind < 2; kind++) {
        AUTO_RIG rig = rig_begin(1);
        mf_hand_point(rig.hand, 0, 0, 0, 0, 2.0, false);
        for (int leg = 0; leg < 6; leg++)
            kin_post(rig.hand, 0.12 * (leg % 3 - 1), leg < 3 ? 0.1 : -0.1, 0.1);
        mf_Terrain *terrain = make_terrain(rig.context, MF_TERRAIN_NOISE,
                                           kind == 0 ? MF_BILINEAR : MF_NEAREST, 0.03, 0.5, 0.02);
        kin_open(&rig, WITH(kin_config(MF_MILLISECOND), .world.terrain = terrain));
        Witness witness = witness_open(&rig);
        double far = 0.0, deepest = 0.0;
        for (int n = 0; n < 3000; n++) {
            double part = (double)(n % 200 + 1) / 200;
            for (uint32_t leg = 0; leg < 6; leg++) {
                bool stands = (int)(leg % 2) == n / 200 % 2;
                set_target(&rig, 2 * leg, 0.05 * (stands ? 0.5 - part : part - 0.5));
                set_target(&rig, 2 * leg + 1, stands ? 0.0 : 0.04 * sin(3.14159265358979 * part));
            }
            mf_world_step(rig.world, 1);
            double lowest = INFINITY;
            for (uint32_t leg = 0; leg < 6; leg++) {
                double foot[3]; // points: the base's, then two per leg
                witness_point(&witness, &rig, 2 + 2 * leg, foot);
                double above = foot[2] - mf_terrain_height(terrain, foot[0], foot[1], NULL);
                lowest = fmin(lowest, above);
            }
            if (n > 100) { // it stood on legs that are lifted in the first step
                assert_true(kin_standing(&rig) >= 1);
                deepest = fmax(deepest, fabs(lowest));
            }
        }
        far = rig_get(&rig, "base.position", 0);
        assert_true(deepest < 1e-8);
        assert_true(far > 0.4 && far < 1.0); // 15 half cycles of 0.05 m, bent by the hills
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        mf_world_destroy(witness.world);
        rig.terrain = terrain;
    }
}

// ---- joints -------------------------------------------------------------------------------------

TEST(joints_are_at_their_targets) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    rig.hand->joints[3].lower = 0.0;
    rig.hand->joints[3].upper = 1.2;
    rig.hand->joints[9].mimic = 3; // the right knee follows the left
    rig.hand->joints[9].multiplier = 0.5;
    rig.hand->joints[9].offset = 0.1;
    kin_open(&rig, kin_config(10 * MF_MILLISECOND));
    set_target(&rig, 3, 2.0);
    set_target(&rig, 9, -7.0); // not read
    mf_world_step(rig.world, 1);
    assert_near(rig_get(&rig, "joint.angle", 3), 1.2, 0);
    assert_near(rig_get(&rig, "joint.rate", 3), 120.0, 1e-12);
    assert_near(rig_get(&rig, "joint.angle", 9), 0.7, 1e-15);
    mf_world_step(rig.world, 1);
    assert_near(rig_get(&rig, "joint.rate", 3), 0.0, 0);
    set_target(&rig, 3, -1.0);
    mf_world_step(rig.world, 1);
    assert_near(rig_get(&rig, "joint.angle", 3), 0.0, 0);
    assert_near(rig_get(&rig, "joint.angle", 9), 0.1, 1e-15);
}

// ---- which contacts are feet --------------------------------------------------------------------

static mf_Status add_to(Rig *rig, const KinConfig *config, mf_Error *error) {
    mf_GroupConfig group = WITH(config->group, .model = &rig->hand->model);
    must(mf_world_create(rig->context, &config->world, &rig->world, error), error);
    must(mf_world_add_group(rig->world, &group, &rig->group, error), error);
    return rig_add_kinematic(rig->group, &config->motion, error);
}

TEST(feet_are_found_named_or_missed) {
    static const char *const hand_name[] = {"hand", NULL}, *const wrong[] = {"claw", NULL},
                             *const bare[] = {"shank", NULL};
    for (int which = 0; which < 5; which++) {
        mf_Error error = {0};
        AUTO_RIG rig = rig_begin(1);
        mf_hand_point(rig.hand, 0, 0, 0, 0, 1.0, true);
        uint32_t joint = kin_post(rig.hand, 0, 0.1, 0.2);
        rig.hand->links[joint + 1].name = "shank";
        rig.hand->links[joint + 2].name = "foot";
        joint = kin_post(rig.hand, 0, -0.1, 0.05); // hangs higher
        rig.hand->links[joint + 2].name = "hand";
        KinConfig config = kin_config(MF_MILLISECOND);
        config.motion.feet = which == 1 ? hand_name : which == 2 ? wrong : which == 3 ? bare : NULL;
        if (which == 4) // only the base touches
            for (uint32_t i = 1; i < rig.hand->model.point_count; i++)
                rig.hand->points[i].flags &= ~(uint32_t)MF_POINT_COLLIDES;
        mf_Status status = add_to(&rig, &config, &error);
        if (which < 2) {
            must(status, &error);
            const mf_KinMotion *motion = mf_kin_motion_of(rig.group);
            uint32_t link = 0;
            assert_int_equal(mf_kinematic_foot_count(rig.group), 1);
            assert_int_equal(motion->feet[0].row, 1 + which); // that of the base is first
            while (motion->tree->frames[link].link != motion->tree->contacts[1 + which].link)
                link++;
            assert_string_equal(rig.hand->links[link].name, which == 0 ? "foot" : "hand");
        } else {
            static const char *const said[] = {"no link claw", "link shank of model hand has no",
                                               "model hand has no feet"};
            assert_int_equal(status, which == 2 ? MF_NOT_FOUND : MF_UNSUPPORTED);
            if (strstr(error.message, said[which - 2]) == NULL)
                fail_msg("%s", error.message);
            assert_false(mf_motion_in(rig.group, MF_MOTION_KINEMATIC));
        }
    }
}

TEST(tilted_gravity_is_refused) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    KinConfig config = WITH(kin_config(MF_MILLISECOND), .world.gravity_direction[0] = 1.0);
    MUST_FAIL(add_to(&rig, &config, &error), MF_UNSUPPORTED, "");
    assert_false(mf_motion_in(rig.group, MF_MOTION_KINEMATIC));
}

// A fixed base stays where it is, feet or not.
TEST(a_fixed_base_stays) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    kin_open(&rig, WITH(kin_config(MF_MILLISECOND), .motion.base = MF_ARTICULATED_FIXED));
    double height = rig_get(&rig, "base.position", 2);
    set_target(&rig, 2, 0.5);
    mf_world_step(rig.world, 10);
    assert_near(rig_get(&rig, "joint.angle", 2), 0.5, 0);
    assert_near(rig_get(&rig, "base.position", 2), height, 0);
    assert_int_equal(mf_kinematic_foot_count(rig.group), 0);
}

// ---- static margin ------------------------------------------------------------------------------

TEST(the_margin_of_a_regular_hexagon) {
    AUTO_RIG rig = rig_begin(1);
    const double radius = 0.17, third = 3.14159265358979323846 / 3.0;
    mf_hand_point(rig.hand, 0, 0, 0, 0, 2.0, false);
    for (int leg = 0; leg < 6; leg++)
        kin_post(rig.hand, radius * cos(leg * third), radius * sin(leg * third), 0.1);
    kin_open(&rig, kin_config(MF_MILLISECOND));
    assert_true(mf_kinematic_static_margin(rig.group, 0) == -INFINITY);
    mf_world_step(rig.world, 1);
    assert_int_equal(kin_standing(&rig), 6);
    assert_near(mf_kinematic_static_margin(rig.group, 0), radius * cos(third / 2), 1e-14);
    // Three of them: a triangle, of which the center is half the radius inside.
    for (uint32_t leg = 1; leg < 6; leg += 2)
        set_target(&rig, 2 * leg + 1, 0.02);
    mf_world_step(rig.world, 1);
    assert_int_equal(kin_standing(&rig), 3);
    assert_near(mf_kinematic_static_margin(rig.group, 0), radius / 2, 1e-12);
    // Two opposite ones: the center is on their line.
    mf_group_reset(rig.group, 0);
    for (uint32_t leg = 0; leg < 6; leg++)
        set_target(&rig, 2 * leg + 1, leg % 3 == 0 ? 0.0 : 0.03);
    mf_world_step(rig.world, 1);
    assert_int_equal(kin_standing(&rig), 2);
    assert_near(mf_kinematic_static_margin(rig.group, 0), 0.0, 1e-12);
}
