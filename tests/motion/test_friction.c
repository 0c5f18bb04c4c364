// Friction: the paper's fit against an independent dense least-squares solution, Coulomb's limit on
// a slope and in all directions, and a force that tips a body over.
#include <math/copies.h>

#if MF_HAS_SCALAR
#define MF_KERNEL_SCALAR
#else
#define MF_KERNEL_SINGLE
#endif
#define MF_KERNEL_F64
#include "motion/points/coulomb.h"
#include "motion/points/fit.h"

#include "motion/rig.h"

static const double pi = 3.14159265358979323846;

// ---- dense least squares ------------------------------------------------------------------------

enum { MOST_ROWS = 64 };

// Minimizes |A x - b| by QR (modified Gram-Schmidt, twice for accuracy); three unknowns.
static void least_squares(double a[][3], double *b, int rows, double x[3]) {
    double r[3][3] = {{0}}, q[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        for (int again = 0; again < 2; again++)
            for (int k = 0; k < c; k++) {
                double dot = 0;
                for (int i = 0; i < rows; i++)
                    dot += a[i][k] * a[i][c];
                r[k][c] += dot;
                for (int i = 0; i < rows; i++)
                    a[i][c] -= dot * a[i][k];
            }
        double norm = 0;
        for (int i = 0; i < rows; i++)
            norm += a[i][c] * a[i][c];
        r[c][c] = sqrt(norm);
        for (int i = 0; i < rows; i++)
            a[i][c] /= r[c][c];
    }
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < rows; i++)
            q[c] += a[i][c] * b[i];
    for (int c = 2; c >= 0; c--) {
        x[c] = q[c];
        for (int k = c + 1; k < 3; k++)
            x[c] -= r[c][k] * x[k];
        x[c] /= r[c][c];
    }
}

// The displacement (a1, a2) and yaw a3 that minimize sum w |slip + a + a3 (-y, x)|^2 (equations 3-6
// of the paper as one system of 2 n rows).
static void dense_fit(int n, double (*position)[2], double (*slip)[2], const double *weight,
                      double out[3]) {
    double a[MOST_ROWS][3], b[MOST_ROWS];
    for (int i = 0; i < n; i++) {
        double w = sqrt(weight[i]);
        double rows[2][3] = {{w, 0, -w * position[i][1]}, {0, w, w * position[i][0]}};
        memcpy(a[2 * i], rows, sizeof rows);
        b[2 * i] = -w * slip[i][0];
        b[2 * i + 1] = -w * slip[i][1];
    }
    least_squares(a, b, 2 * n, out);
}

static Vec kernel_fit(int n, double (*position)[2], double (*slip)[2], const double *weight) {
    Fit fit = fit_start();
    for (int i = 0; i < n; i++)
        fit_add(&fit, (Vec){position[i][0], position[i][1], 0}, slip[i][0], slip[i][1], weight[i]);
    return fit_solve(&fit);
}

// Random contact sets of 2 to 20 points, weighted and not, near the center of mass and 1 m away.
TEST(the_fit_is_the_least_squares_solution) {
    for (uint32_t trial = 0; trial < 2000; trial++) {
        int n = 2 + (int)(trial % 19);
        double position[20][2], slip[20][2], weight[20], x[3], far = trial % 3 == 0 ? 1.0 : 0.0;
        for (int i = 0; i < n; i++) {
            uint64_t at = (uint64_t)trial * 128 + (uint64_t)i * 5;
            for (int k = 0; k < 2; k++) {
                position[i][k] = far + 0.3 * random_signed(500, at + (uint64_t)k);
                slip[i][k] = 0.02 * random_signed(500, at + 2 + (uint64_t)k);
            }
            weight[i] = trial & 1 ? 1.0 : 1.05 + random_signed(500, at + 4);
        }
        dense_fit(n, position, slip, weight, x);
        Vec a = kernel_fit(n, position, slip, weight);
        if (fabs(x[2]) > 0.49) // beyond it the yaw of one step is limited
            continue;
        assert_near(a.x, x[0], 1e-12);
        assert_near(a.y, x[1], 1e-12);
        assert_near(a.z, x[2], 1e-12);
    }
}

// None: nothing. One: it does not slip, no yaw. Many in one position: their mean, no yaw. Collinear
// ones fix all three numbers.
TEST(degenerate_fits) {
    double position[3][2] = {{0.1, 0.2}, {0.1, 0.2}, {0.1, 0.2}}, weight[3] = {1, 1, 1};
    double slip[3][2] = {{0.01, -0.02}, {0.03, 0.01}, {0.02, 0.01}};
    Vec a = kernel_fit(0, position, slip, weight);
    assert_true(a.x == 0 && a.y == 0 && a.z == 0);
    a = kernel_fit(1, position, slip, weight);
    assert_near(a.x, -0.01, 1e-16);
    assert_near(a.y, 0.02, 1e-16);
    assert_true(a.z == 0);
    a = kernel_fit(3, position, slip, weight);
    assert_near(a.x, -0.02, 1e-16);
    assert_near(a.y, 0.0, 1e-16);
    assert_true(a.z == 0);
    double line[3][2] = {{0.1, 0.1}, {0.2, 0.2}, {0.4, 0.4}}, x[3];
    dense_fit(3, line, slip, weight, x);
    a = kernel_fit(3, line, slip, weight);
    assert_near(a.x, x[0], 1e-14);
    assert_near(a.y, x[1], 1e-14);
    assert_near(a.z, x[2], 1e-14);
    double zero[3] = {0, 0, 0};
    a = kernel_fit(3, line, slip, zero);
    assert_true(a.x == 0 && a.y == 0 && a.z == 0);
}

// The same through a whole step of a model: every foot stands on two crossed slides, all feet move
// at random within their plane, and the body must move by the fitted displacement and yaw
// (2 atan(a3/2), for the quaternion (1, 0, 0, a3/2)). Feet have no mass, so the base moves as the
// center of mass does. With the smallest compliance the body's tilt under its own weight is 1e-7
// rad and lifts a foot that moves by 0.02 m by 2e-9 m; answers agree to that.
TEST(a_joint_update_moves_the_body_by_the_fit) {
    static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, moment[3] = {.01, .01, .01};
    for (uint32_t trial = 0; trial < 60; trial++) {
        int n = 3 + (int)(trial % 6);
        bool weighted = (trial & 1) != 0;
        AUTO_RIG rig = rig_begin(1);
        mf_hand_inertia(rig.hand, 0, 2.0, moment);
        double position[8][2], slip[8][2], weight[8], x[3], before[3];
        for (int i = 0; i < n; i++) {
            double angle = 2 * pi * i / n, radius = 0.2 + 0.08 * random_signed(501, trial * 8 + i);
            uint32_t across = mf_hand_slide(rig.hand, 0, radius * cos(angle) + 0.02,
                                            radius * sin(angle) + 0.01, 0, x_axis);
            uint32_t along = mf_hand_slide(rig.hand, across, 0, 0, 0, y_axis);
            mf_hand_point(rig.hand, along, 0, 0, 0, 0, true);
        }
        points_open(&rig, WITH(points_config(true), .points.weighted = weighted,
                               .points.compliance = 1e-4));
        mf_world_step(rig.world, 400);
        get_fields(rig.group, "base.position", 0, 3, before);
        for (int i = 0; i < n; i++) {
            uint32_t c = (uint32_t)i;
            double load = rig_get(&rig, "point.load", c);
            assert_true(load > 0);
            weight[i] = weighted ? load : 1.0;
            for (uint32_t k = 0; k < 2; k++) {
                slip[i][k] = 0.02 * random_signed(502, trial * 16 + 2 * c + k);
                position[i][k] = rig_get(&rig, "point.anchor", 3 * c + k) + slip[i][k] - before[k];
                rig_set(&rig, "joint.target", 2 * c + k, slip[i][k]);
            }
        }
        dense_fit(n, position, slip, weight, x);
        mf_world_step(rig.world, 1);
        assert_near(rig_get(&rig, "base.position", 0) - before[0], x[0], 1e-8);
        assert_near(rig_get(&rig, "base.position", 1) - before[1], x[1], 1e-8);
        double yaw =
            2 * atan2(rig_get(&rig, "base.orientation", 3), rig_get(&rig, "base.orientation", 0));
        assert_near(yaw, 2 * atan(x[2] / 2), 1e-7);
        assert_near(rig_get(&rig, "base.linear_velocity", 0), 0.0, 1e-6);
    }
}

// ---- Coulomb ------------------------------------------------------------------------------------

// A flat block, 0.4 x 0.4 x 0.02 m, 2 kg.
static void make_block(mf_HandModel *hand) {
    for (int i = 0; i < 8; i++)
        mf_hand_point(hand, 0, i & 1 ? .2 : -.2, i & 2 ? .2 : -.2, i & 4 ? .01 : -.01, .25, true);
}

static mf_Terrain *slope_open(Rig *rig, mf_FrictionModel friction, double angle,
                              double coefficient) {
    *rig = rig_begin(1);
    make_block(rig->hand);
    mf_Terrain *slope = make_terrain(rig->context, MF_TERRAIN_SLOPE, MF_BILINEAR, angle, 1, 0.5);
    points_open(rig, WITH(points_config(true), .world.terrain = slope, .points.friction = friction,
                          .points.friction_coefficient = coefficient));
    // On the plane z = x tan(angle), turned about y so that it lies flat.
    rig_set3(rig, "base.position", -0.01 * sin(angle), 0, 0.01 * cos(angle));
    rig_set(rig, "base.orientation", 0, cos(angle / 2));
    rig_set(rig, "base.orientation", 2, -sin(angle / 2));
    return slope;
}

static double slope_position(const Rig *rig, double angle) {
    return rig_get(rig, "base.position", 0) * cos(angle) +
           rig_get(rig, "base.position", 2) * sin(angle);
}

// C3. A block sticks for tan t <= mu: mu = 0.5 gives 26.5651 degrees, to 0.01 degrees. Above it
// slides with g (sin t - mu cos t) = 1.92e-3 m/s^2 at 0.01 degrees: 24 mm in five seconds (to a
// quarter of it: 26.5651 stands for 26.565051, which is 0.5 % of the excess, and a speed of 1 mm/s
// left over from the start adds 5 mm). A force holds the block while its contacts form, or the
// first step without contact would give it a speed that friction at its limit never takes away
// again. Below the angle the sudden release leaves 1 mm/s at most, which stops within 0.3 mm: 1 mm
// is allowed.
TEST(c3_sticks_up_to_the_angle_of_friction) {
    for (int friction = 0; friction < 2; friction++)
        for (int side = -1; side <= 1; side += 2) {
            double angle = (26.5651 + 0.01 * side) * pi / 180;
            AUTO_RIG rig;
            mf_Terrain *slope =
                slope_open(&rig, friction ? MF_FRICTION_COUPLED : MF_FRICTION_FIT, angle, 0.5);
            double hold = 2.0 * 9.81 * sin(angle);
            rig_set3(&rig, "base.force", hold * cos(angle), 0, hold * sin(angle));
            mf_world_step(rig.world, 100);
            rig_set3(&rig, "base.force", 0, 0, 0);
            rig_set3(&rig, "base.linear_velocity", 0, 0, 0);
            double start = slope_position(&rig, angle);
            mf_world_step(rig.world, 500);
            double moved = start - slope_position(&rig, angle);
            if (side < 0 ? !(fabs(moved) < 1e-3) : !(fabs(moved - 0.024) < 0.006))
                fail_msg("friction %d at %+.2f degrees: moved by %g m", friction, 0.01 * side,
                         moved);
            rig.terrain = slope;
        }
}

// C3. 30 degrees, mu = 0.3: a = g (sin 30 - 0.3 cos 30) = 2.356287 m/s^2.
TEST(c3_slides_with_the_right_acceleration) {
    double angle = 30 * pi / 180;
    for (int friction = 0; friction < 2; friction++) {
        AUTO_RIG rig;
        mf_Terrain *slope =
            slope_open(&rig, friction ? MF_FRICTION_COUPLED : MF_FRICTION_FIT, angle, 0.3);
        double speed[2];
        for (int i = 0; i < 2; i++) {
            mf_world_step(rig.world, 100);
            speed[i] = -rig_get(&rig, "base.linear_velocity", 0) * cos(angle) -
                       rig_get(&rig, "base.linear_velocity", 2) * sin(angle);
        }
        // The force is constant, so the discrete speed is exact; the literal has seven digits.
        assert_near(speed[1] - speed[0], 2.356287, 5e-7);
        assert_near(rig_get(&rig, "base.position", 1), 0.0, 1e-9);
        rig.terrain = slope;
    }
}

// C4. The threshold of a push is mu m g in every direction, and a push above it moves the block in
// its own direction, equally far. A linearized friction cone fails this by up to 1 - 1/sqrt(2).
TEST(c4_friction_is_isotropic) {
    for (int friction = 0; friction < 2; friction++) {
        // 1 % above the threshold: a = 0.01 mu g for 200 steps, h^2 a n(n+1)/2 = 0.0985905 m. A
        // spring contact gives way by 1 % of its own load first: 3 % of tolerance.
        double first = 0.0, expected = 0.01 * 0.5 * 9.81 * 1e-4 * 200 * 201 / 2;
        for (int degree = 0; degree < 360; degree += 5)
            for (int side = -1; side <= 1; side += 2) {
                AUTO_RIG rig = rig_begin(1);
                make_block(rig.hand);
                points_open(
                    &rig, WITH(points_config(true),
                               .points.friction = friction ? MF_FRICTION_COUPLED : MF_FRICTION_FIT,
                               .points.friction_coefficient = 0.5));
                mf_world_step(rig.world, 200);
                double c = cos(degree * pi / 180), s = sin(degree * pi / 180);
                double force = 0.5 * 2.0 * 9.81 * (1 + 0.01 * side);
                rig_set3(&rig, "base.force", force * c, force * s, 0);
                mf_world_step(rig.world, 200);
                double x = rig_get(&rig, "base.position", 0);
                double y = rig_get(&rig, "base.position", 1);
                double along = x * c + y * s, across = y * c - x * s;
                if (side < 0) {
                    if (!(fabs(along) < 1e-3))
                        fail_msg("friction %d, %d degrees: moved by %g m below the threshold",
                                 friction, degree, along);
                } else {
                    first = first == 0.0 ? along : first;
                    if (!(fabs(along - expected) < 0.03 * expected &&
                          fabs(along - first) < 0.01 * first && fabs(across) < 0.01 * first))
                        fail_msg("friction %d, %d degrees: %g m along, %g m across; at 0 degrees "
                                 "%g m",
                                 friction, degree, along, across, first);
                }
            }
    }
}

// ---- sliding feet -------------------------------------------------------------------------------

enum { MOST_FEET = 6 };

// Feet with loads, a fit, and what is given back: forces in units of displacement, so that the
// body's mass is 1 and its inertia about the vertical `torsion_mass`.
typedef struct Slide {
    Contacts contacts;
    Contact rows[MOST_FEET];
    double load[MOST_FEET];
    Vec fit;
    double coefficient, torsion_mass;
    Shift release;
} Slide;

static void slide_run(Slide *slide) {
    const double compliance = 0.1;
    mf_PointsPlan plan = {.level = true};
    mf_real constant[MF_PLAN_SETTINGS] = {0};
    constant[MF_PLAN_COMPLIANCE] = compliance;
    constant[MF_PLAN_FRICTION] = slide->coefficient;
    for (size_t i = 0; i < slide->contacts.count; i++) {
        slide->contacts.row[i].before = slide->load[i] > 0 ? 1e-4 : 0;
        slide->contacts.row[i].press = slide->load[i] * compliance;
    }
    slide->release =
        coulomb_release(&plan, constant, &slide->contacts, slide->fit, slide->torsion_mass);
}

// One foot, wherever it is: the fit moves the body along and does not turn it, so friction at its
// limit moves it by mu N the same way and does not turn it either. (With the foot's own lever it
// would turn it by lever x (force of the fit - mu N) / inertia: 0.1 m, 0.012 m, a hundredth of a
// kg m^2 per kg: 0.1 rad in a step.)
TEST(one_sliding_foot_does_not_turn_the_body) {
    for (uint32_t trial = 0; trial < 500; trial++) {
        Slide slide = {.coefficient = 0.5, .torsion_mass = 0.01};
        slide.contacts.row = slide.rows;
        slide.contacts.count = 1 + trial % 2; // the second at the same position
        Vec position = {0.2 * random_signed(503, 4 * trial),
                        0.2 * random_signed(503, 4 * trial + 1), -0.3};
        for (size_t i = 0; i < slide.contacts.count; i++) {
            slide.contacts.row[i].position = position;
            slide.load[i] = 1e-3 / (double)slide.contacts.count;
        }
        double angle = pi * random_signed(503, 4 * trial + 2);
        double size = 0.01 * (1.1 + random_signed(503, 4 * trial + 3)); // from 2 mu N on
        slide.fit = (Vec){size * cos(angle), size * sin(angle), 0};
        slide_run(&slide);
        double left = fmin(size, 0.5e-3);
        assert_near(slide.release.rotation_vector.z, 0.0, 1e-13);
        assert_near(slide.fit.x + slide.release.move.x, left * cos(angle), 1e-15);
        assert_near(slide.fit.y + slide.release.move.y, left * sin(angle), 1e-15);
        assert_near(slide.release.move.z, 0.0, 1e-18);
    }
}

// Any feet with any loads: what acts in the end are forces of at most mu N_i at the feet, so their
// sum is within mu N, their torque within the sum of |p_i| mu N_i, and their power with the fitted
// displacement is not negative. Feet without load, or new ones, take no part. Loads reach from
// nothing to the whole weight, as they do when a robot rolls from one corner to the next.
TEST(forces_of_feet_obey_coulombs_limit) {
    uint32_t slid = 0;
    for (uint32_t trial = 0; trial < 4000; trial++) {
        Slide slide = {.coefficient = 0.2 + (trial % 5) * 0.2, .torsion_mass = 0.004};
        slide.contacts.row = slide.rows;
        size_t count = 2 + trial % (MOST_FEET - 1);
        double most = 0, most_torque = 0;
        slide.contacts.count = count;
        for (size_t i = 0; i < count; i++) {
            uint64_t at = (uint64_t)trial * 32 + 4 * i;
            Vec position = {0.1 * random_signed(504, at), 0.1 * random_signed(504, at + 1), -0.24};
            double u = random_signed(504, at + 2);
            slide.contacts.row[i].position = position;
            slide.load[i] = i > 0 && u > 0.8 ? 0 : 1e-3 * pow(10, 3 * (u - 1));
            most += slide.coefficient * slide.load[i];
            most_torque += slide.coefficient * slide.load[i] * hypot(position.x, position.y);
        }
        uint64_t at = (uint64_t)trial * 32 + 28;
        slide.fit = (Vec){4e-3 * random_signed(504, at), 4e-3 * random_signed(504, at + 1),
                          0.1 * random_signed(504, at + 2)};
        slide_run(&slide);
        size_t bearing = 0;
        for (size_t i = 0; i < count; i++)
            bearing += slide.load[i] > 0;
        double x = slide.fit.x + slide.release.move.x, y = slide.fit.y + slide.release.move.y;
        double torque = (slide.fit.z + slide.release.rotation_vector.z) * slide.torsion_mass;
        slid += fabs(slide.release.move.x) > 1e-6;
        if (bearing < 2)
            continue;
        if (!(hypot(x, y) <= most * (1 + 1e-9)) || !(fabs(torque) <= most_torque * (1 + 1e-9)))
            fail_msg("trial %u: force %g of %g, torque %g of %g", trial, hypot(x, y), most, torque,
                     most_torque);
    }
    assert_true(slid > 3000);
}

// Coupled friction knows where it acts: a box with its center 0.5 m up on feet 0.2 m apart, pushed
// at its center, tips when F h > m g b, F = m g 0.1/0.5 = 3.924 N for 2 kg; below it stands.
TEST(coupled_a_tall_box_tips_as_statics_says) {
    static const double moment[3] = {0.02, 0.02, 0.01};
    for (int side = -1; side <= 1; side += 2) {
        AUTO_RIG rig = rig_begin(1);
        mf_hand_inertia(rig.hand, 0, 2.0, moment);
        for (int i = 0; i < 4; i++)
            mf_hand_point(rig.hand, 0, i & 1 ? .1 : -.1, i & 2 ? .1 : -.1, -0.5, 0, true);
        points_open(&rig, WITH(points_config(true), .points.friction = MF_FRICTION_COUPLED,
                               .points.friction_coefficient = 1.0));
        mf_world_step(rig.world, 100);
        rig_set(&rig, "base.force", 0, 3.924 * (1 + 0.02 * side));
        mf_world_step(rig.world, 300);
        double tilt = 2 * asin(fabs(rig_get(&rig, "base.orientation", 2)));
        if (side < 0)
            assert_true(tilt < 0.01);
        else
            assert_true(tilt > 0.5);
    }
}

// A box of 1 kg with eight corners, thrown along the ground at `speed` under `angle` to its sides;
// the robot is the last of 18, which are alike.
static Rig throw_box(mf_Time step, bool wide, double coefficient, double speed, double angle) {
    static const double moment[3] = {0.001, 0.0015, 0.002};
    Rig rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 1.0, moment);
    for (int i = 0; i < 8; i++)
        mf_hand_point(rig.hand, 0, i & 1 ? .08 : -.08, i & 2 ? .06 : -.06, i & 4 ? .05 : -.05, 0,
                      true);
    points_open(&rig, WITH(points_config(wide), .world.step = step, .points.joint_interval = step,
                           .points.friction = MF_FRICTION_COUPLED,
                           .points.friction_coefficient = coefficient, .group.count = 18));
    mf_world_step(rig.world, (uint64_t)(MF_SECOND / 2 / step)); // it comes to rest
    for (uint32_t i = 0; i < 18; i++) {
        set_field(rig.group, "base.linear_velocity", i, 0, speed * cos(angle));
        set_field(rig.group, "base.linear_velocity", i, 1, speed * sin(angle));
    }
    return rig;
}

static double get_last(const Rig *rig, const char *name, uint32_t component) {
    return get_field(rig->group, name, 17, component);
}

// It goes v^2 / (2 mu g), less the v h / 2 of the first step that semi-implicit steps lose; while
// it slides the loads sum to its weight; and every solution is one.
TEST(coupled_a_thrown_box_goes_as_far_as_it_should) {
    static const double steps[] = {10, 5, 2, 1, 0.5};
    for (int i = 0; i < 40; i++) {
        double coefficient = i % 4 < 2 ? 0.25 : 0.6, angle = 0.7 * (i / 20);
        mf_Time step = (mf_Time)(steps[i / 4 % 5] * MF_MILLISECOND);
        double h = mf_time_to_seconds(step), least = 1e9, most = 0.0, residual = 0.0;
        AUTO_RIG rig = throw_box(step, i & 1, coefficient, 1.0, angle);
        double x = get_last(&rig, "base.position", 0);
        double y = get_last(&rig, "base.position", 1);
        for (int n = 0; n * h < 0.7; n++) {
            mf_world_step(rig.world, 1);
            double load = 0.0;
            for (uint32_t c = 0; c < 8; c++)
                load += get_last(&rig, "point.load", c);
            least = fmin(least, load);
            most = fmax(most, load);
            residual = fmax(residual, get_last(&rig, "point.residual", 0));
        }
        x = get_last(&rig, "base.position", 0) - x;
        y = get_last(&rig, "base.position", 1) - y;
        double distance = 1.0 / (2.0 * coefficient * 9.81);
        if (!(fabs(x * cos(angle) + y * sin(angle) - (distance - 0.5 * h)) <
              0.003 * distance + 0.1 * h) ||
            !(fabs(x * sin(angle) - y * cos(angle)) < 0.001) ||
            !(least > 0.8 * 9.81 && most < 1.25 * 9.81) || !(residual < MF_POINTS_RESIDUAL) ||
            (mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER) != 0)
            fail_msg("case %d, %g ms: %g, %g m, expected %g; loads %g .. %g N; residual %g", i,
                     1e3 * h, x * cos(angle) + y * sin(angle), x * sin(angle) - y * cos(angle),
                     distance, least, most, residual);
    }
}
