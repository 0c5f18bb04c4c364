// Contacts between links, hard contacts and stacks against closed forms.
#include "motion/articulated_rig.h"

static const double degree = 3.14159265358979323846 / 180.0;

// ---- two bodies of one model --------------------------------------------------------------------

// Balls of 0.1 m on one line, 2 and 3 kg.
static const char balls[] =
    "<mujoco><worldbody><body pos='0 0 1'><joint name='a' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "<body pos='0.5 0 1'><joint name='b' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='3'/></body></worldbody></mujoco>";

// Compliant contacts of default damping do not bounce: the pair goes on together, or nearly so.
// With a spring of damping ratio z about the reduced mass the restitution is that of D3.
TEST(momentum_is_kept) {
    static const mf_ArticulatedIntegrator kinds[3] = {MF_ARTICULATED_IMPLICIT, MF_ARTICULATED_EULER,
                                                      MF_ARTICULATED_RK4};
    for (int i = 0; i < 3; i++) {
        ArtConfig config = art_config(kinds[i], i == 2 ? MF_MILLISECOND / 10 : MF_MILLISECOND);
        if (i == 2)
            config.motion.contact_time = 0.02;
        AUTO_RIG t = text_open(balls, config);
        rig_set(&t, "joint.rate", 0, 1.0);
        mf_world_step(t.world, i == 2 ? 10000 : 1000);
        double a = rig_get(&t, "joint.rate", 0), b = rig_get(&t, "joint.rate", 1);
        assert_near(2 * a + 3 * b, 2.0, 2e-8); // gravity is along the slides by their rounding
        assert_true(b - a >= 0.0 && b - a < 0.2);
    }
}

// D3 (Schwager and Poeschel 2007): damping ratio 0.1, restitution 0.7440794. Reduced mass 6/5 kg.
TEST(d3_restitution) {
    AUTO_RIG t = text_open(balls, WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 100),
                                       .motion.contact_stiffness = 1e4,
                                       .motion.contact_damping = 0.2 * sqrt(1.2e4),
                                       .motion.contact_depth = 1.0));
    rig_set(&t, "joint.angle", 0, 0.299999);
    rig_set(&t, "joint.rate", 0, 1.0);
    mf_world_step(t.world, 6000);
    assert_near(rig_get(&t, "joint.rate", 1) - rig_get(&t, "joint.rate", 0), 0.7440794, 2e-4);
}

// A ball of 3 kg that lies on one held by a slide: m g / k deep, k by the setting.
static const char on_top[] =
    "<mujoco><worldbody><body pos='0 0 1'><joint name='a' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "<body pos='0 0 1.2'><joint name='b' type='slide' axis='0 0 1'/>"
    "<geom type='sphere' size='0.1' mass='3'/></body></worldbody></mujoco>";

TEST(d1_depth_at_rest) {
    AUTO_RIG t = text_open(on_top, WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND),
                                        .motion.contact_stiffness = 1e4));
    mf_world_step(t.world, 4000);
    assert_near(rig_get(&t, "joint.angle", 1), -3 * 9.81 / 1e4, 1e-9);
}

// A ball that rolls on a plate lies as deep as one at rest, g T^2 with T = two steps: its surface
// does not leave the plate as the points of it do. 20 rad/s, 0.1 m.
TEST(a_rolling_ball_lies_no_deeper) {
    static const char form[] =
        "<mujoco><worldbody><geom type='box' size='9 1 0.1' pos='0 0 1'/><body pos='0 0 1.2'>"
        "<freejoint/><geom type='%s' size='0.1 0.2' euler='90 0 0' mass='1'/></body></worldbody>"
        "</mujoco>";
    for (int i = 0; i < 4; i++) {
        const double step = i < 2 ? 0.005 : 0.002;
        AUTO_RIG t = text_open(formatted(form, i % 2 == 0 ? "sphere" : "capsule"),
                               WITH(art_config(MF_ARTICULATED_IMPLICIT, mf_time_from_seconds(step)),
                                    .group.double_precision = true));
        const double n = i % 2 == 0 ? 1.0 : 2.0; // a capsule on two points
        const double z = 1.2 - 9.81 * 4 * step * step / n;
        rig_set3(&t, "base.position", -1, 0, z);
        rig_set3(&t, "base.linear_velocity", 2, 0, 0);
        // Axes of the capsule's body are those of the world at the start; it rotates about y.
        rig_set3(&t, "base.angular_velocity", 0, 20, 0);
        mf_world_step(t.world, (uint64_t)llround(0.5 / step));
        assert_near(rig_get(&t, "base.position", 2), z, 2e-6);
        assert_near(rig_get(&t, "base.angular_velocity", 1) * 0.1,
                    rig_get(&t, "base.linear_velocity", 0), 0.02);
    }
}

// A block on a plate that turns under it: at 26.5651 degrees (mu 0.5) it begins to slip, at 30 with
// mu 0.3 it goes with g (sin - mu cos) = 2.356287 m/s^2 (validation list, C3). The plate is fixed
// in the world.
static void block_on_incline(double angle, double mu, bool hard, bool fast, double *speed,
                             double *creep) {
    static const char form[] =
        "<mujoco><worldbody><geom type='box' size='2 2 0.1' euler='0 %g 0' friction='%g'/>"
        "<body euler='0 %g 0' pos='%.17g 0 %.17g'><freejoint/>"
        "<geom type='box' size='0.1 0.1 0.05' mass='4' friction='%g'/></body></worldbody></mujoco>";
    double height = 0.15 - 1e-6, s = sin(angle * degree), c = cos(angle * degree);
    AUTO_RIG t = text_open(
        formatted(form, angle, mu, angle, height * s, height * c, mu),
        WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND), .motion.contacts = false,
             .motion.contact_law = hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT));
    const double position[3] = {height * s, 0, height * c};
    const double rotation[4] = {cos(0.5 * angle * degree), 0, sin(0.5 * angle * degree), 0};
    MUST(mf_group_set_start(t.group, 0, position, rotation, NULL, &error));
    mf_world_step(t.world, 500);
    *speed =
        rig_get(&t, "base.linear_velocity", 0) * c - rig_get(&t, "base.linear_velocity", 2) * s;
    double before = rig_get(&t, "base.position", 0);
    if (!fast)
        mf_world_step(t.world, 5000);
    *creep = (rig_get(&t, "base.position", 0) - before) / c / 10.0;
    assert_int_equal(mf_group_fault_total(t.group), 0);
}

TEST(c3_block_on_incline) {
    for (int hard = 0; hard < 2; hard++) {
        double speed, creep;
        block_on_incline(30, 0.3, hard, true, &speed, &creep);
        print_message("slides with %.6f m/s after 1 s\n", speed);
        assert_near(speed, 2.356287, 0.02);
        block_on_incline(20, 0.5, hard, false, &speed, &creep);
        print_message("creeps with %.3g m/s\n", creep);
        assert_true(fabs(creep) < 1e-4);
        block_on_incline(26.4, 0.5, hard, false, &speed, &creep);
        print_message("creeps with %.3g m/s at the limit\n", creep);
        assert_true(fabs(creep) < 5e-3);
        block_on_incline(26.8, 0.5, hard, true, &speed, &creep);
        assert_true(speed > 0.01);
    }
}

// ---- hard contacts with the ground --------------------------------------------------------------

static const char box[] =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/>"
    "<geom type='box' size='0.2 0.2 0.1' mass='2'/></body></worldbody></mujoco>";

TEST(a_hard_box_rests_on_the_ground) {
    AUTO_RIG t =
        text_open(box, WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND),
                            .motion.contact_law = MF_CONTACT_LAW_HARD, .motion.shapes = true));
    rig_set(&t, "base.position", 2, 0.3);
    mf_world_step(t.world, 1000);
    print_message("hard box: height off by %.2g m\n", rig_get(&t, "base.position", 2) - 0.1);
    assert_near(rig_get(&t, "base.position", 2), 0.1, 1e-5);
    double sum = 0.0;
    for (uint32_t i = 0; i < 8; i++)
        sum += rig_get(&t, "contact.load", i);
    assert_near(sum, 2 * 9.81, 1e-3);
    // Friction 1: 19.6 N hold against 15 N, in any direction, and do not against 25 N.
    for (int i = 0; i < 4; i++) {
        rig_set3(&t, "base.force", 15 * cos(i * 0.4), 15 * sin(i * 0.4), 0);
        mf_world_step(t.world, 200);
        assert_near(rig_get(&t, "base.linear_velocity", 0), 0.0, 1e-4);
        assert_near(rig_get(&t, "base.linear_velocity", 1), 0.0, 1e-4);
    }
    rig_set3(&t, "base.torque", 0, 0, 0);
    rig_set3(&t, "base.force", 20, 15, 0);
    mf_world_step(t.world, 100);
    double x = rig_get(&t, "base.linear_velocity", 0), y = rig_get(&t, "base.linear_velocity", 1);
    assert_near(atan2(y, x), atan2(15, 20), 0.01);
}

// Four boxes on each other: the lowest contact bears all of them and nothing drifts (D10).
static const char stack[] =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "<body pos='0 0 0.3'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "<body pos='0 0 0.5'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "<body pos='0 0 0.7'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "</worldbody></mujoco>";

TEST(d10_a_stack_stands) {
    for (int hard = 0; hard < 2; hard++) {
        AUTO_RIG t = text_open(
            stack,
            WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND), .motion.shapes = true,
                 .motion.contact_law = hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT));
        mf_world_step(t.world, 2000);
        double load = 0.0, before[3], worst = 0.0;
        const mf_Field *loads = mf_group_find_field(t.group, "contact.load");
        for (uint32_t i = 0; i < loads->components; i++)
            load += mf_field_get(loads, 0, i);
        for (uint32_t c = 0; c < 3; c++)
            before[c] = rig_get(&t, "free.position", 6 + c);
        mf_world_step(t.world, 20000);
        for (uint32_t c = 0; c < 3; c++)
            worst = fmax(worst, fabs(rig_get(&t, "free.position", 6 + c) - before[c]));
        print_message("%s stack: load off by %.2g, drift of the top %.2g m in 100 s, at %.9f m\n",
                      hard ? "hard" : "soft", load / (4 * 9.81) - 1.0, worst,
                      rig_get(&t, "free.position", 8));
        assert_near(load, 4 * 9.81, 4e-5);
        assert_true(worst < 1e-6);
    }
}

// ---- state ------------------------------------------------------------------------------------

// A stack that is disturbed while it stands goes on from an image with the same bits: what its
// contacts remember is in it, and makes a difference.
TEST(a_snapshot_contains_the_state_of_contacts) {
    for (int hard = 0; hard < 2; hard++) {
        Rig t, other;
        ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
        config.motion.shapes = true;
        config.motion.contact_law = hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT;
        t = text_open(stack, config);
        other = text_open(stack, config);
        mf_world_step(t.world, 300);
        rig_set3(&t, "base.force", 3, 1, 0);
        size_t size;
        AUTO(end_memory) void *image = take_snapshot(t.world, &size);
        MUST(mf_world_restore(other.world, image, size, &error));
        mf_world_step(t.world, 50);
        mf_world_step(other.world, 50);
        uint64_t hash = mf_world_hash(t.world);
        assert_true(mf_world_hash(other.world) == hash);
        MUST(mf_world_restore(other.world, image, size, &error));
        mf_Field *memory = mf_group_find_field(other.group, "warm_start.force");
        for (uint32_t i = 0; i < memory->components; i++)
            mf_field_set(memory, 0, i, 0.0);
        mf_world_step(other.world, 50);
        assert_true(mf_world_hash(other.world) != hash);
        rig_close(&other);
        rig_close(&t);
    }
}

// F13 in kind: what bodies of one model do to each other does not change their momentum. (What is
// left is the method's: the force is not smooth where they meet.)
TEST(collisions_keep_momentum) {
    ArtConfig config =
        WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 50), .world.gravity = 0.0,
             .motion.contacts = false, .motion.contact_time = 0.01);
    static const char thrown[] =
        "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom type='box' size='0.2 0.1 0.05' "
        "mass='5'/><body pos='0.3 0 0'><joint axis='0 1 0'/><geom type='capsule' size='0.04' "
        "fromto='0 0 0 0.3 0 0' mass='1'/></body></body>"
        "<body pos='0.5 0 2'><freejoint/><geom type='sphere' size='0.1' mass='10'/></body>"
        "</worldbody></mujoco>";
    AUTO_RIG t = text_open(thrown, config);
    rig_set(&t, "free.velocity", 5, -5.0);
    double center[3], linear[2][3], angular[2][3];
    mf_motion_momentum(t.group, 0, center, linear[0], angular[0]);
    mf_world_step(t.world, 25000);
    mf_motion_momentum(t.group, 0, center, linear[1], angular[1]);
    assert_true(fabs(rig_get(&t, "joint.rate", 1)) > 0.1); // it was hit
    for (uint32_t c = 0; c < 3; c++) {
        assert_near(linear[1][c], linear[0][c], 50 * 1e-7);
    }
}

// ---- planes -------------------------------------------------------------------------------------

// The pyramid of friction of a capsule on a plane lies along the capsule, on the ground and on a
// plane that is a shape: one turned by 1e-5 rad, 1 m above. Its axis is between the world's.
TEST(a_capsule_slides_on_a_plane_as_on_the_ground) {
    static const char form[] =
        "<mujoco><compiler angle='radian'/><worldbody>"
        "<geom type='plane' size='9 9 1' pos='0 0 %d' euler='%s 0 0'/><body pos='0 0 %d.025'>"
        "<freejoint/><geom type='capsule' size='0.027' mass='1' fromto='-0.07 -0.04 0 %s'/></body>"
        "</worldbody></mujoco>";
    static const char *ends[2] = {"0.14 0.1 0", "0.14 0.1 0.02"}; // on both ends, on one
    for (int i = 0; i < 2; i++) {
        double found[2][6];
        for (int shape = 0; shape < 2; shape++) {
            AUTO_RIG t = text_open(formatted(form, shape, shape ? "1e-5" : "0", shape, ends[i]),
                                   WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND),
                                        .group.double_precision = true, .motion.shapes = true,
                                        .motion.contacts = true, .motion.self_contacts = true,
                                        .motion.contact_law = MF_CONTACT_LAW_MUJOCO));
            rig_set3(&t, "base.linear_velocity", 1.0, 0.3, 0.0);
            mf_world_step(t.world, 4);
            for (uint32_t k = 0; k < 3; k++) {
                found[shape][k] = rig_get(&t, "base.linear_velocity", k);
                found[shape][3 + k] = rig_get(&t, "base.angular_velocity", k);
            }
        }
        assert_true(fabs(found[0][0] - 1.0) > 0.01);
        for (int k = 0; k < 6; k++)
            assert_near(found[1][k], found[0][k], 1e-3);
    }
}
