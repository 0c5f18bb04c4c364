// The `prescribed` motion: its six equations against the mass matrix and bias of `articulated`,
// conservation, paths of joints, contacts at rest and in motion.
#include "motion/driven_rig.h"
#include "solve/link_motion.h"

#include "math/scalar.h"

enum { MOST = 24 };

static DrivenConfig usual(mf_ArticulatedIntegrator integrator) {
    return driven_config(MF_MOTION_PRESCRIBED, integrator, MF_MILLISECOND);
}

static void scramble(const Rig *rig) {
    double q[4], length = 0.0;
    for (uint32_t c = 0; c < 4; c++) {
        q[c] = random_signed(1, c);
        length += q[c] * q[c];
    }
    for (uint32_t c = 0; c < 4; c++)
        rig_set(rig, "base.orientation", c, q[c] / sqrt(length));
    for (uint32_t c = 0; c < 3; c++) {
        rig_set(rig, "base.linear_velocity", c, random_signed(2, c));
        rig_set(rig, "base.angular_velocity", c, 3.0 * random_signed(3, c));
    }
    rig_set(rig, "base.position", 2, 10.0);
    for (uint32_t j = 0; j < mf_group_model(rig->group)->joint_count; j++) {
        rig_set(rig, "joint.angle", j, random_signed(4, j));
        rig_set(rig, "joint.target", j, rig_get(rig, "joint.angle", j));
        rig_set(rig, "joint.rate", j, 4.0 * random_signed(5, j));
    }
}

// Solves a x = b, n <= 6, by elimination with pivots; both are used up.
static void solve(double a[6][6], double b[6], double x[6]) {
    for (int k = 0; k < 6; k++) {
        int best = k;
        for (int i = k + 1; i < 6; i++)
            best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
        for (int j = 0; j < 6; j++) {
            double keep = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = keep;
        }
        double keep = b[k];
        b[k] = b[best];
        b[best] = keep;
        for (int i = k + 1; i < 6; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < 6; j++)
                a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = 5; k >= 0; k--) {
        x[k] = b[k];
        for (int j = k + 1; j < 6; j++)
            x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
}

// The change of the base's velocity in one step of `step`, over the step, less the accelerations
// from the first six rows of M a + h = force with the joints' mean accelerations.
static void rows_left(mf_Time step, bool ball, double left[6]) {
    const double seconds = mf_time_to_seconds(step);
    Rig rig, full;
    DrivenConfig config =
        WITH(usual(MF_ARTICULATED_IMPLICIT), .world.gravity_direction[0] = 0.3, .world.step = step);
    rig = rig_begin(1);
    make_flailer(rig.hand, ball);
    driven_open(&rig, config);
    scramble(&rig);
    rig_set3(&rig, "base.force", 1, 2, -3);
    rig_set3(&rig, "base.torque", -0.3, 0.2, 0.5);
    config.motion = MF_MOTION_ARTICULATED;
    full = rig_begin(1);
    make_flailer(full.hand, ball);
    driven_open(&full, config);
    scramble(&full);
    const uint32_t size = mf_group_velocity_count(full.group);
    const uint32_t joints = full.hand->model.joint_count;
    double m[MOST * MOST], h[MOST], before[6], a[6][6], b[6], x[6], q[4], rotated[3];
    assert_true(size <= MOST);
    mf_group_mass_matrix(full.group, 0, 1, m, NULL);
    mf_group_bias(full.group, 0, 1, h, NULL);
    for (uint32_t c = 0; c < 6; c++)
        before[c] = rig_get(&rig, c < 3 ? "base.linear_velocity" : "base.angular_velocity", c % 3);
    get_fields(rig.group, "base.orientation", 0, 4, q);
    double given[MOST] = {0}, rate[MOST];
    for (uint32_t j = 0; j < joints; j++)
        rate[j] = rig_get(&rig, "joint.rate", j);
    mf_world_step(rig.world, 1);
    for (uint32_t j = 0; j < joints; j++) {
        uint32_t at = mf_group_velocity_address(full.group, j);
        if (full.hand->joints[j].type != MF_JOINT_BALL)
            given[at] = (rig_get(&rig, "joint.rate", j) - rate[j]) / seconds;
    }
    mf_quat_rotate_inverse(rotated, q, (double[3]){-0.3, 0.2, 0.5});
    const double force[6] = {1, 2, -3, rotated[0], rotated[1], rotated[2]};
    for (uint32_t i = 0; i < 6; i++) {
        b[i] = force[i] - h[i];
        for (uint32_t k = 0; k < size; k++) {
            if (k < 6)
                a[i][k] = m[i * size + k];
            else
                b[i] -= m[i * size + k] * given[k];
        }
    }
    solve(a, b, x);
    for (uint32_t c = 0; c < 6; c++) {
        double after =
            rig_get(&rig, c < 3 ? "base.linear_velocity" : "base.angular_velocity", c % 3);
        left[c] = (after - before[c]) / seconds - x[c];
    }
    assert_true(fabs(given[6]) > 10.0); // the joints did accelerate
    rig_close(&rig);
    rig_close(&full);
}

// The step keeps the momentum of all links instead of these accelerations; they are its limit for
// small steps, found from three of them (Richardson).
TEST(the_base_obeys_the_first_six_rows) {
    for (int ball = 0; ball < 2; ball++) {
        double left[3][6];
        for (int i = 0; i < 3; i++)
            rows_left((mf_Time)40000 >> i, ball, left[i]);
        for (int c = 0; c < 6; c++) {
            const double once = 2 * left[1][c] - left[0][c], twice = 2 * left[2][c] - left[1][c];
            assert_near((4 * twice - once) / 3, 0.0, 1e-7);
        }
    }
}

// Joints that are told something new every interval, in the air, with Runge and Kutta: the center
// of mass is on a parabola, and the angular momentum about it stays, to the order of the method.
TEST(flailing_conserves_momentum) {
    double off[2], rotated[2];
    for (int fine = 0; fine < 2; fine++) {
        AUTO_RIG rig = rig_begin(1);
        make_flailer(rig.hand, true);
        driven_open(&rig, WITH(usual(MF_ARTICULATED_RK4),
                               .world.step = fine ? MF_MILLISECOND / 2 : MF_MILLISECOND));
        scramble(&rig);
        double center[3], linear[3], angular[3], position[3], force[3], rate[3], size = 0.0;
        mf_motion_momentum(rig.group, 0, center, linear, angular);
        for (int n = 0; n < 100; n++) {
            for (uint32_t j = 0; j < 6; j++)
                rig_set(&rig, "joint.target", j,
                        random_signed(4, j) + 0.5 * sin(0.1 * n * (j + 1.0) * 0.3));
            mf_world_step(rig.world, fine ? 20 : 10);
        }
        mf_motion_momentum(rig.group, 0, position, force, rate);
        off[fine] = rotated[fine] = 0.0;
        for (int c = 0; c < 3; c++) {
            double fall = c == 2 ? -0.5 * 9.81 : 0.0;
            double distance = position[c] - center[c] - linear[c] / rig.hand->model.mass - fall;
            off[fine] = fmax(off[fine], fabs(distance));
            rotated[fine] = fmax(rotated[fine], fabs(rate[c] - angular[c]));
            size = fmax(size, fabs(angular[c]));
        }
        rotated[fine] /= size;
    }
    assert_true(off[1] < 2e-8 && rotated[1] < 1e-8);
    assert_near(log2(off[0] / off[1]), 4.0, 0.1);
    assert_near(log2(rotated[0] / rotated[1]), 4.0, 0.1);
}

// Semi-implicit steps keep it to rounding, whatever the limbs do and however long the step.
TEST(semi_implicit_steps_keep_momentum) {
    static const mf_Time steps[2] = {MF_MILLISECOND, 5 * MF_MILLISECOND};
    for (int i = 0; i < 2; i++) {
        DrivenConfig config =
            WITH(usual(MF_ARTICULATED_IMPLICIT), .world.step = steps[i], .world.gravity = 0.0);
        AUTO_RIG rig = rig_begin(1);
        make_flailer(rig.hand, true);
        driven_open(&rig, config);
        scramble(&rig);
        double center[3], linear[3], angular[3], position[3], force[3], rate[3];
        double angle = 0.0, size = 0.0, moved = 0.0;
        mf_motion_momentum(rig.group, 0, center, linear, angular);
        for (int n = 0; n < 300; n++) {
            for (uint32_t j = 0; j < 6; j++)
                rig_set(&rig, "joint.target", j,
                        random_signed(4, j) + 0.5 * sin(0.1 * n * (j + 1.0) * 0.3));
            mf_world_step(rig.world, (uint64_t)(10 * MF_MILLISECOND / steps[i]));
        }
        mf_motion_momentum(rig.group, 0, position, force, rate);
        for (int c = 0; c < 3; c++) {
            angle = fmax(angle, fabs(rate[c] - angular[c]));
            moved = fmax(moved, fabs(force[c] - linear[c]));
            size = fmax(size, fabs(angular[c]));
        }
        print_message("semi-implicit, %g ms: angular momentum off by %g, linear by %g\n",
                      1e3 * mf_time_to_seconds(steps[i]), angle / size, moved);
        assert_true(angle < 1e-12 * size && moved < 1e-12);
        assert_int_equal(mf_group_warning(rig.group, 0), 0);
    }
}

// ---- paths --------------------------------------------------------------------------------------

static Rig open_arm(DrivenConfig config) {
    static const double up[3] = {0, 0, 1};
    Rig rig = rig_begin(1);
    art_body(rig.hand, 0, 1.0, 0, 0, 0, 0.01, 0.01, 0.01);
    for (int i = 0; i < 2; i++)
        art_body(rig.hand, mf_hand_hinge(rig.hand, 0, 0, 0, 0, up), 0.1, 0, 0, 0, 1e-3, 1e-3, 1e-3);
    config.world.gravity = 0.0;
    rig.hand->joints[0].lower = -0.4;
    rig.hand->joints[0].upper = 0.5;
    rig.hand->joints[0].speed = 5.0;
    rig.hand->joints[1].mimic = 0;
    rig.hand->joints[1].multiplier = -2.0;
    rig.hand->joints[1].offset = 0.25;
    rig.hand->start_angle[1] = 0.25;
    driven_open(&rig, config);
    return rig;
}

// A target is reached at the end of the control interval, whatever the path.
TEST(targets_are_reached_within_an_interval) {
    AUTO_RIG rig = open_arm(usual(MF_ARTICULATED_IMPLICIT));
    for (int n = 0; n < 50; n++) {
        double target = 0.3 * sin(0.1 * n);
        rig_set(&rig, "joint.target", 0, target);
        mf_world_step(rig.world, 10);
        assert_near(rig_get(&rig, "joint.angle", 0), target, 1e-13);
        assert_near(rig_get(&rig, "joint.angle", 1), -2.0 * target + 0.25, 1e-13);
    }
}

// Targets on a parabola: from the third interval on the path is that parabola, with its
// acceleration.
TEST(paths_follow_a_parabola) {
    AUTO_RIG rig = open_arm(usual(MF_ARTICULATED_IMPLICIT));
    for (int n = 0; n < 20; n++) {
        double t = 0.01 * (n + 1);
        rig_set(&rig, "joint.target", 0, 4.0 * t * t - 0.5 * t);
        for (int k = 1; k <= 10; k++) {
            mf_world_step(rig.world, 1);
            double now = 0.01 * n + 0.001 * k;
            if (n < 3)
                continue;
            assert_near(rig_get(&rig, "joint.angle", 0), 4.0 * now * now - 0.5 * now, 1e-13);
            assert_near(rig_get(&rig, "joint.rate", 0), 8.0 * now - 0.5, 1e-11);
            assert_near(rig_get(&rig, "joint.acceleration", 0), 8.0, 1e-8);
        }
    }
}

// ContactSlots to go far beyond, a joint goes as fast as it may and stops at its limit, never
// beyond.
TEST(joints_stop_at_their_limits) {
    AUTO_RIG rig = open_arm(usual(MF_ARTICULATED_IMPLICIT));
    double before = 0.0, most = 0.0;
    for (int n = 0; n < 400; n++) {
        rig_set(&rig, "joint.target", 0, n < 200 ? 100.0 : -100.0);
        mf_world_step(rig.world, 1);
        double angle = rig_get(&rig, "joint.angle", 0);
        assert_true(angle <= 0.5 + 1e-12 && angle >= -0.4 - 1e-12);
        if (n % 10 == 9) {
            most = fmax(most, fabs(angle - before) / 0.01);
            before = angle;
        }
        if (n == 199)
            assert_near(angle, 0.5, 1e-12);
    }
    assert_near(rig_get(&rig, "joint.angle", 0), -0.4, 1e-12);
    assert_near(rig_get(&rig, "joint.rate", 0), 0.0, 1e-10);
    assert_near(most, 5.0, 1e-9);
}

// After angles and rates were written, paths begin there.
TEST(refreshed_paths_begin_where_joints_are) {
    AUTO_RIG rig = open_arm(usual(MF_ARTICULATED_IMPLICIT));
    rig_set(&rig, "joint.target", 0, 0.3);
    mf_world_step(rig.world, 5);
    assert_true(fabs(rig_get(&rig, "joint.jerk", 0)) > 1.0);
    rig_set(&rig, "joint.angle", 0, -0.1);
    rig_set(&rig, "joint.rate", 0, 0.5);
    mf_group_refresh(rig.group, 0);
    mf_world_step(rig.world, 5);
    assert_near(rig_get(&rig, "joint.angle", 0), -0.0975, 1e-14);
    assert_near(rig_get(&rig, "joint.rate", 0), 0.5, 1e-14);
}

// ---- other motions ------------------------------------------------------------------------------

// Nothing moves but the base, and nothing touches: `rigid`, `prescribed` and `articulated`, whose
// joints have rotors too heavy to turn, have the same base, to rounding.
static void locked_robots_agree(mf_ArticulatedIntegrator integrator, bool double_precision,
                                double tolerance) {
    static const mf_Motion motions[3] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                         MF_MOTION_ARTICULATED};
    static const char *const fields[] = {"base.position", "base.orientation",
                                         "base.linear_velocity", "base.angular_velocity"};
    double got[3][13];
    for (int m = 0; m < 3; m++) {
        AUTO_RIG rig = rig_begin(1);
        make_flailer(rig.hand, false);
        for (uint32_t j = 0; j < rig.hand->model.joint_count; j++)
            rig.hand->joints[j].armature = 1e12;
        driven_open(&rig, WITH(driven_config(motions[m], integrator, MF_MILLISECOND),
                               .group.double_precision = double_precision,
                               .world.gravity_direction[1] = 0.2));
        scramble(&rig);
        for (uint32_t j = 0; j < rig.hand->model.joint_count; j++)
            rig_set(&rig, "joint.rate", j, 0.0);
        mf_world_step(rig.world, 200);
        for (uint32_t f = 0, k = 0; f < 4; f++)
            for (uint32_t c = 0; c < (f == 1 ? 4u : 3u); c++)
                got[m][k++] = rig_get(&rig, fields[f], c);
    }
    for (int k = 0; k < 13; k++) {
        assert_near(got[0][k], got[1][k], tolerance * (1.0 + fabs(got[1][k])));
        assert_near(got[2][k], got[1][k], tolerance * (1.0 + fabs(got[1][k])));
    }
}

TEST(locked_robots_agree_in_double) {
    locked_robots_agree(MF_ARTICULATED_RK4, true, 1e-11);
    locked_robots_agree(MF_ARTICULATED_IMPLICIT, true, 1e-11);
}

TEST(locked_robots_agree_in_float) {
    locked_robots_agree(MF_ARTICULATED_RK4, false, 2e-5);
    locked_robots_agree(MF_ARTICULATED_IMPLICIT, false, 2e-5);
}

// ---- outside ------------------------------------------------------------------------------------

// What collisions push links with counts as a force and torque on the base's origin.
TEST(pushes_are_summed) {
    double got[2][6];
    for (int method = 0; method < 2; method++) {
        DrivenConfig config = usual(MF_ARTICULATED_IMPLICIT);
        mf_GroupConfig group = config.group;
        static const mf_FieldInfo push = {"wrench.link",  "N", "world", MF_REAL,
                                          MF_FIXED_COUNT, 6,   0,       "test"};
        static const mf_FieldInfo count = {"wrench.count",  "1", "", MF_U32,
                                           MF_PER_INSTANCE, 1,   0,  "test"};
        mf_Field *field;
        AUTO_RIG rig = rig_begin(1);
        make_flailer(rig.hand, false);
        group.model = &rig.hand->model;
        rig.world = open_world(rig.context, &config.world);
        rig.group = add_group(rig.world, &group);
        MUST(mf_group_add_field(rig.group, &push, rig.hand->model.link_count, &field, &error));
        MUST(mf_group_add_field(rig.group, &count, 0, &field, &error));
        MUST(mf_motion_add(rig.group, config.motion, &config.motions, &error));
        scramble(&rig);
        const double wrench[6] = {3, -2, 5, 0.4, 0.5, -0.6};
        for (uint32_t c = 0; c < 6; c++) {
            rig_set(&rig, "wrench.link", 6 * 2 + c, 0.25 * wrench[c]);
            rig_set(&rig, "wrench.link", 6 * 4 + c, 0.75 * wrench[c]);
        }
        rig_set(&rig, "wrench.count", 0, method);
        if (method == 0)
            for (uint32_t c = 0; c < 6; c++)
                rig_set(&rig, c < 3 ? "base.force" : "base.torque", c % 3, wrench[c]);
        mf_world_step(rig.world, 1);
        for (uint32_t c = 0; c < 6; c++)
            got[method][c] =
                rig_get(&rig, c < 3 ? "base.linear_velocity" : "base.angular_velocity", c % 3);
    }
    for (int c = 0; c < 6; c++)
        assert_near(got[1][c], got[0][c], 1e-14);
}

// A fixed base stays, whatever its arms do; they go as commanded.
TEST(a_fixed_base_stays) {
    AUTO_RIG rig = rig_begin(1);
    make_flailer(rig.hand, true);
    driven_open(&rig, WITH(usual(MF_ARTICULATED_IMPLICIT),
                           .motions.prescribed.base = MF_ARTICULATED_FIXED));
    rig_set3(&rig, "base.position", 0.1, 0.2, 0.05);
    rig_set(&rig, "joint.target", 0, 0.5);
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "base.position", 0), 0.1, 0.0);
    assert_near(rig_get(&rig, "base.position", 2), 0.05, 0.0);
    assert_near(rig_get(&rig, "joint.angle", 0), 0.5, 1e-12);
}

// ---- standing -----------------------------------------------------------------------------------

// The humanoid stands still for ten seconds with its weight on the ground, and falls when pushed.
TEST(the_humanoid_stands_and_falls) {
    static const mf_Motion motions[2] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED};
    enum { MEAN = 1000 }; // [step] of loads
    for (int m = 0; m < 2; m++) {
        DrivenConfig config = driven_config(motions[m], MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        config.group.double_precision = false;
        AUTO_RIG rig = rig_begin(1);
        MUST(mf_model_load(rig.context, MAYFLY_SOURCE_DIR "/models/humanoid.urdf", NULL, &rig.model,
                           &error));
        driven_open(&rig, config);
        const mf_Field *load = rig_field(&rig, "contact.load");
        // Under `rigid` feet rise to their rest within depth over slip speed, about 2 s here.
        mf_world_step(rig.world, motions[m] == MF_MOTION_RIGID ? 30000 : 2000);
        double position[3], sum = 0.0;
        get_fields(rig.group, "base.position", 0, 3, position);
        mf_world_step(rig.world, 7000);
        // In float the height changes by its last digit now and then, as its remainder fills, and
        // loads jump by 0.1 % with it. Their mean bears the weight.
        for (int i = 0; i < MEAN; i++) {
            mf_world_step(rig.world, 1);
            for (uint32_t c = 0; c < load->components; c++)
                sum += mf_field_get(load, 0, c) / MEAN;
        }
        print_message("%s: mean load %g N\n", mf_motion_name(motions[m]), sum);
        assert_near(sum, rig.model->mass * 9.81, 0.01);
        assert_field3(rig.group, "base.position", 0, position[0], position[1], position[2], 1e-6);
        rig_set(&rig, "base.force", 0, 18.0);
        mf_world_step(rig.world, 200);
        rig_set(&rig, "base.force", 0, 0.0);
        mf_world_step(rig.world, 3000);
        assert_true(rig_get(&rig, "base.position", 2) < 0.08);
        assert_int_equal(mf_group_fault(rig.group, 0), 0);
        assert_field3(rig.group, "base.linear_velocity", 0, 0, 0, 0, 1e-3);
    }
}
