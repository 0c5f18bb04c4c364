// Motion of the joints in the air changes neither the path of the center of mass nor the angular
// momentum.
#include "motion/rig.h"
#include "model/points.h"

static const double pi = 3.14159265358979323846;

static void air_config(PointsConfig *config, double gravity, bool keep_momentum) {
    config->world.gravity = gravity;
    config->points.keep_momentum = keep_momentum;
}

// ---- E2 -----------------------------------------------------------------------------------------

// E2. A wheel of 0.004 kg m^2 (four points of 0.1 kg at 0.1 m) on the axis of a base of
// 0.02 kg m^2; both centers lie on the axis. The wheel turns by 1 rad: the base turns by exactly
// -Jw/(Jw+Jb) = -1/6 rad. At 5 rad/s and 80 ms that takes three joint updates.
static void e2_wheel(bool double_precision, bool keep_momentum, double expected, double tolerance) {
    static const double up[3] = {0, 0, 1}, moment[3] = {0.03, 0.03, 0.02};
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 1.0, moment);
    uint32_t wheel = mf_hand_hinge(rig.hand, 0, 0, 0, 0.05, up);
    for (int i = 0; i < 4; i++)
        mf_hand_point(rig.hand, wheel,
                      i == 0   ? .1
                      : i == 1 ? -.1
                               : 0,
                      i == 2   ? .1
                      : i == 3 ? -.1
                               : 0,
                      0.0, 0.1, false);
    rig.hand->joints[0].speed = 5.0;
    PointsConfig config = points_config(double_precision);
    air_config(&config, 0.0, keep_momentum);
    points_open(&rig, config);
    rig_set(&rig, "joint.target", 0, 1.0);
    mf_world_step(rig.world, 24);
    assert_near(rig_get(&rig, "joint.angle", 0), 1.0, tolerance);
    double yaw =
        2.0 * atan2(rig_get(&rig, "base.orientation", 3), rig_get(&rig, "base.orientation", 0));
    assert_near(yaw, expected, tolerance);
    assert_near(rig_get(&rig, "base.orientation", 1), 0.0, tolerance);
    assert_near(rig_get(&rig, "base.orientation", 2), 0.0, tolerance);
    assert_near(rig_get(&rig, "base.angular_velocity", 2), 0.0, 0.0);
}

TEST(e2_the_base_turns_against_its_wheel) {
    e2_wheel(true, true, -1.0 / 6.0, 1e-14);
    e2_wheel(false, true, -1.0 / 6.0, 1e-6); // 24 steps of half a unit in the last place
    e2_wheel(true, false, 0.0, 0.0);         // the paper's behavior: the base does not notice
}

// ---- E3 -----------------------------------------------------------------------------------------

typedef struct Flail {
    double center[3], linear[3], angular[3];
} Flail;

static void flail_read(const Rig *rig, Flail *f) {
    mf_motion_momentum(rig->group, 0, f->center, f->linear, f->angular);
}

static void flail(Rig *rig, uint32_t updates) {
    mf_Field *target = rig_field(rig, "joint.target");
    for (uint32_t u = 0; u < updates; u++) {
        for (uint32_t j = 0; j < target->components; j++)
            mf_field_set(target, 0, j, 0.8 * random_signed(400, u * 32 + j));
        mf_world_step(rig->world, 8);
    }
}

static Rig flail_open(mf_Terrain **ground, bool double_precision, bool keep_momentum,
                      double gravity) {
    Rig rig = rig_begin(1);
    make_hexapod(rig.hand);
    PointsConfig config = points_config(double_precision);
    air_config(&config, gravity, keep_momentum);
    *ground = make_terrain(rig.context, MF_TERRAIN_FLAT, MF_NEAREST, -1000.0, 1.0, 0.1);
    config.world.terrain = *ground;
    points_open(&rig, config);
    rig_set3(&rig, "base.position", 0, 0, 0);
    return rig;
}

// E3. 200 steps of random legs while flying and tumbling. The center of mass follows the discrete
// parabola of C9, x = v t, z = v t - g h^2 n(n+1)/2; the angular momentum about it is constant,
// both to 1e-10 relative. (Runge-Kutta's own loss grows with (rate h)^5; at 1 rad/s it is 1e-12.)
TEST(e3_flailing) {
    for (int keep = 0; keep < 2; keep++) {
        mf_Terrain *ground;
        AUTO_RIG rig = flail_open(&ground, true, keep != 0, 9.81);
        rig_set3(&rig, "base.linear_velocity", 0.3, -0.2, 12.0);
        rig_set3(&rig, "base.angular_velocity", 0.5, -0.7, 0.4);
        Flail start, end;
        flail_read(&rig, &start);
        double mass = rig.hand->model.mass;
        flail(&rig, 25);
        flail_read(&rig, &end);
        double drop = 9.81 * 1e-4 * 200 * 201 / 2;
        for (int i = 0; i < 3; i++) {
            double expected = start.center[i] + start.linear[i] / mass * 2.0;
            assert_near(end.center[i], expected - (i == 2 ? drop : 0.0), 1e-10 * 24);
            assert_near(end.angular[i], start.angular[i], 1e-10 * 0.05);
        }
        double size = fabs(start.angular[0]) + fabs(start.angular[1]) + fabs(start.angular[2]);
        assert_true(size > 0.01);
        rig.terrain = ground;
    }
}

// Without gravity and contact the center of mass stays where it is and nothing begins to spin. Each
// step forms it from the base's place and back again, off by half a unit of 0.1 m each: 2000 steps.
TEST(the_center_of_mass_stays) {
    for (int option = 0; option < 4; option++) {
        bool wide = (option & 1) != 0;
        mf_Terrain *ground;
        AUTO_RIG rig = flail_open(&ground, wide, (option & 2) != 0, 0.0);
        Flail start, end;
        flail_read(&rig, &start);
        double unit = wide ? 0x1p-53 : 0x1p-24, moved = 0.0;
        flail(&rig, 250);
        flail_read(&rig, &end);
        for (int i = 0; i < 3; i++) {
            moved = fmax(moved, fabs(end.center[i] - start.center[i]));
            assert_near(end.center[i], start.center[i], 2000 * 2 * unit * 0.1);
            assert_true(end.linear[i] == 0.0);
            assert_true(end.angular[i] == 0.0);
        }
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        rig.terrain = ground;
    }
}

// ---- attitude under keep_momentum ---------------------------------------------------------------

// A base with two arms about different axes, off its center.
static void make_arms(mf_HandModel *hand) {
    static const double moment[3] = {0.01, 0.02, 0.025}, x_axis[3] = {1, 0, 0},
                        tilted[3] = {0, 0.6, 0.8};
    mf_hand_inertia(hand, 0, 1.0, moment);
    uint32_t first = mf_hand_hinge(hand, 0, 0.1, 0.05, 0, x_axis);
    mf_hand_point(hand, first, 0, 0.25, 0.05, 0.3, false);
    uint32_t second = mf_hand_hinge(hand, first, 0, 0.25, 0.05, tilted);
    mf_hand_point(hand, second, 0.2, 0, 0, 0.2, false);
    mf_hand_point(hand, second, 0.1, -0.1, 0.05, 0.1, false);
}

// Joint angles on a closed path, at the fraction s of its length.
static void arm_path(double s, double angle[2]) {
    angle[0] = 0.9 * sin(2 * pi * s);
    angle[1] = 0.8 * (1.0 - cos(2 * pi * s));
}

static void arm_points(const mf_Model *model, double s, double (*point)[3]) {
    double angle[2], position[MF_HAND_LINKS][3], rotation[MF_HAND_LINKS][4];
    arm_path(s, angle);
    mf_model_pose(model, angle, position, rotation);
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *p = &model->points[i];
        const double *q = rotation[p->link], *v = p->position;
        double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                       2 * (q[1] * v[1] - q[2] * v[0])};
        point[i][0] = position[p->link][0] + v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
        point[i][1] = position[p->link][1] + v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
        point[i][2] = position[p->link][2] + v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
    }
}

static void solve3(double a[3][4], double x[3]) { // Gauss with pivots
    for (int c = 0; c < 3; c++) {
        int best = c;
        for (int r = c + 1; r < 3; r++)
            if (fabs(a[r][c]) > fabs(a[best][c]))
                best = r;
        for (int k = 0; k < 4; k++) {
            double keep = a[c][k];
            a[c][k] = a[best][k];
            a[best][k] = keep;
        }
        for (int r = c + 1; r < 3; r++)
            for (int k = 3; k >= c; k--)
                a[r][k] -= a[c][k] * a[r][c] / a[c][c];
    }
    for (int c = 2; c >= 0; c--) {
        x[c] = a[c][3];
        for (int k = c + 1; k < 3; k++)
            x[c] -= a[c][k] * x[k];
        x[c] /= a[c][c];
    }
}

// Rate of the base per unit of s that keeps the angular momentum zero: sum m r x (w x r + r') = 0
// about the center of mass; r' by central differences of the forward kinematics.
static void arm_rate(const mf_Model *model, double s, double rate[3]) {
    static double at[MF_HAND_POINTS][3], ahead[MF_HAND_POINTS][3], behind[MF_HAND_POINTS][3];
    const double d = 1e-5;
    arm_points(model, s, at);
    arm_points(model, s + d, ahead);
    arm_points(model, s - d, behind);
    double c[3] = {0, 0, 0}, dc[3] = {0, 0, 0}, a[3][4] = {{0}};
    for (uint32_t i = 0; i < model->point_count; i++)
        for (int k = 0; k < 3; k++) {
            c[k] += model->points[i].mass * at[i][k] / model->mass;
            dc[k] += model->points[i].mass * (ahead[i][k] - behind[i][k]) / (2 * d) / model->mass;
        }
    for (uint32_t i = 0; i < model->point_count; i++) {
        double m = model->points[i].mass, r[3], v[3], square = 0.0;
        for (int k = 0; k < 3; k++) {
            r[k] = at[i][k] - c[k];
            v[k] = (ahead[i][k] - behind[i][k]) / (2 * d) - dc[k];
            square += r[k] * r[k];
        }
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            for (int l = 0; l < 3; l++)
                a[k][l] += m * ((k == l ? square : 0.0) - r[k] * r[l]);
            a[k][3] -= m * (r[p] * v[q] - r[q] * v[p]);
        }
    }
    solve3(a, rate);
}

static void rotation_rate(const double q[4], const double w[3], double out[4]) {
    out[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
    out[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    out[2] = 0.5 * (q[0] * w[1] - q[1] * w[2] + q[3] * w[0]);
    out[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
}

// The attitude after the whole path, by Runge-Kutta with 2000 steps.
static void arm_reference(const mf_Model *model, double q[4]) {
    const int steps = 2000;
    const double h = 1.0 / steps, weight[4] = {1, 2, 2, 1}, at[4] = {0, 0.5, 0.5, 1};
    q[0] = 1.0;
    q[1] = q[2] = q[3] = 0.0;
    for (int n = 0; n < steps; n++) {
        double k[4] = {0, 0, 0, 0}, sum[4] = {0, 0, 0, 0};
        for (int stage = 0; stage < 4; stage++) {
            double p[4], w[3];
            for (int c = 0; c < 4; c++)
                p[c] = q[c] + at[stage] * h * k[c];
            arm_rate(model, (n + at[stage]) * h, w);
            rotation_rate(p, w, k);
            for (int c = 0; c < 4; c++)
                sum[c] += weight[stage] * k[c];
        }
        for (int c = 0; c < 4; c++)
            q[c] += h / 6 * sum[c];
    }
}

static double arm_error(uint32_t updates, const double *reference) {
    AUTO_RIG rig = rig_begin(1);
    make_arms(rig.hand);
    PointsConfig config = points_config(true);
    air_config(&config, 0.0, true);
    config.world.step = 10 * MF_MILLISECOND;
    config.points.joint_interval = 10 * MF_MILLISECOND;
    points_open(&rig, config);
    for (uint32_t u = 1; u <= updates; u++) {
        double angle[2];
        arm_path((double)u / updates, angle);
        rig_set(&rig, "joint.target", 0, angle[0]);
        rig_set(&rig, "joint.target", 1, angle[1]);
        mf_world_step(rig.world, 1);
    }
    double error = 0.0;
    for (uint32_t c = 0; c < 4; c++)
        error = fmax(error, fabs(rig_get(&rig, "base.orientation", c) - reference[c]));
    return error;
}

// The closed path of the arms turns the base; an independent integration says by how much. The
// error falls with the square of the number of joint updates.
TEST(attitude_under_keep_momentum) {
    AUTO_CONTEXT *context = open_context(1);
    static mf_HandModel hand;
    mf_hand_start(&hand, context);
    make_arms(&hand);
    double reference[4];
    arm_reference(&hand.model, reference);
    assert_true(fabs(reference[0]) < 0.999); // the path does turn the base
    double coarse = arm_error(100, reference), fine = arm_error(200, reference),
           finest = arm_error(400, reference);
    assert_near(log2(coarse / fine), 2.0, 0.1);
    assert_near(log2(fine / finest), 2.0, 0.1);
    assert_true(finest < 1e-4);
}

// ---- E4 -----------------------------------------------------------------------------------------

// E4. The inertia that the kernel sums over points equals the parallel-axis sum over links (each
// link's own inertia, turned and shifted), to 1e-14 relative; it is positive and obeys the triangle
// inequality.
TEST(e4_composite_inertia) {
    mf_Terrain *ground;
    AUTO_RIG rig = flail_open(&ground, true, false, 0.0);
    for (uint32_t trial = 0; trial < 20; trial++) {
        flail(&rig, 1 + trial % 3);
        const mf_Model *model = &rig.hand->model;
        double angle[MF_HAND_LINKS], position[MF_HAND_LINKS][3], rotation[MF_HAND_LINKS][4];
        for (uint32_t j = 0; j < model->joint_count; j++)
            angle[j] = rig_get(&rig, "joint.angle", j);
        mf_model_pose(model, angle, position, rotation);
        double center[MF_HAND_LINKS][3] = {{0}}, own[MF_HAND_LINKS][3][3] = {{{0}}};
        double whole[3] = {0, 0, 0}, sum[3][3] = {{0}};
        for (uint32_t l = 0; l < model->link_count; l++) {
            double mass = model->links[l].mass, m[3][3], local[3] = {0, 0, 0};
            const double *q = rotation[l];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    int k = 3 - r - c;
                    double sign = (c - r + 3) % 3 == 1 ? -1.0 : 1.0;
                    m[r][c] = r == c ? 1 - 2 * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3] -
                                                q[r + 1] * q[r + 1])
                                     : 2 * (q[r + 1] * q[c + 1] + sign * q[0] * q[k + 1]);
                }
            for (uint32_t i = 0; i < model->point_count; i++)
                for (int k = 0; k < 3 && model->points[i].link == l; k++)
                    local[k] += model->points[i].mass * model->points[i].position[k] / mass;
            double mine[3][3] = {{0}};
            for (uint32_t i = 0; i < model->point_count; i++) {
                if (model->points[i].link != l)
                    continue;
                double d[3], square = 0;
                for (int k = 0; k < 3; k++) {
                    d[k] = model->points[i].position[k] - local[k];
                    square += d[k] * d[k];
                }
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++)
                        mine[r][c] += model->points[i].mass * ((r == c ? square : 0) - d[r] * d[c]);
            }
            for (int r = 0; r < 3; r++) {
                center[l][r] = position[l][r];
                for (int c = 0; c < 3; c++) {
                    center[l][r] += m[r][c] * local[c];
                    for (int i = 0; i < 3; i++)
                        for (int j = 0; j < 3; j++)
                            own[l][r][c] += m[r][i] * mine[i][j] * m[c][j];
                }
                whole[r] += mass * center[l][r] / model->mass;
            }
        }
        for (uint32_t l = 0; l < model->link_count; l++) {
            double d[3], square = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = center[l][k] - whole[k];
                square += d[k] * d[k];
            }
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    sum[r][c] +=
                        own[l][r][c] + model->links[l].mass * ((r == c ? square : 0) - d[r] * d[c]);
        }
        static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
        double size = sum[0][0] + sum[1][1] + sum[2][2];
        for (uint32_t c = 0; c < 6; c++)
            assert_near(rig_get(&rig, "body.inertia", c), sum[row[c]][column[c]], 1e-14 * size);
        for (uint32_t k = 0; k < 3; k++) {
            assert_near(rig_get(&rig, "body.center", k), whole[k], 1e-15);
            assert_true(sum[k][k] <= sum[(k + 1) % 3][(k + 1) % 3] + sum[(k + 2) % 3][(k + 2) % 3]);
        }
        double minor = sum[0][0] * sum[1][1] - sum[0][1] * sum[0][1];
        double determinant = sum[2][2] * minor -
                             sum[1][2] * (sum[0][0] * sum[1][2] - sum[0][1] * sum[0][2]) +
                             sum[0][2] * (sum[0][1] * sum[1][2] - sum[1][1] * sum[0][2]);
        assert_true(sum[0][0] > 0 && minor > 0 && determinant > 0);
    }
    rig.terrain = ground;
}
