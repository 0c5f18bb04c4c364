// The `prescribed` motion: its six equations against the mass matrix and bias of `articulated`,
// conservation, paths of joints, contacts at rest and in motion.
#include "motion/driven_stage.h"

#include "math/scalar.h"

#include <stdlib.h>

enum { MOST = 24 };

static DrivenStageConfig usual(mf_ArticulatedIntegrator integrator) {
    return driven_config(MF_MOTION_PRESCRIBED, integrator, MF_MILLISECOND);
}

static void scramble(const Stage *stage) {
    double q[4], length = 0.0;
    for (uint32_t c = 0; c < 4; c++) {
        q[c] = random_signed(1, c);
        length += q[c] * q[c];
    }
    for (uint32_t c = 0; c < 4; c++)
        stage_set(stage, "base.orientation", c, q[c] / sqrt(length));
    for (uint32_t c = 0; c < 3; c++) {
        stage_set(stage, "base.linear_velocity", c, random_signed(2, c));
        stage_set(stage, "base.angular_velocity", c, 3.0 * random_signed(3, c));
    }
    stage_set(stage, "base.position", 2, 10.0);
    for (uint32_t j = 0; j < mf_group_model(stage->group)->joint_count; j++) {
        stage_set(stage, "joint.angle", j, random_signed(4, j));
        stage_set(stage, "joint.target", j, stage_get(stage, "joint.angle", j));
        stage_set(stage, "joint.rate", j, 4.0 * random_signed(5, j));
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

// The base's accelerations from the first six rows of M a + h = force, with the joints' mean
// accelerations of the step.
static void the_base_obeys_the_first_six_rows(void **state) {
    (void)state;
    for (int ball = 0; ball < 2; ball++) {
        Stage stage, full;
        DrivenStageConfig config = usual(MF_ARTICULATED_IMPLICIT);
        config.world.gravity_direction[0] = 0.3;
        stage_begin(&stage, 1);
        make_flailer(&stage.hand, ball);
        driven_open(&stage, NULL, &config);
        scramble(&stage);
        stage_set3(&stage, "base.force", 1, 2, -3);
        stage_set3(&stage, "base.torque", -0.3, 0.2, 0.5);
        config.motion = MF_MOTION_ARTICULATED;
        stage_begin(&full, 1);
        make_flailer(&full.hand, ball);
        driven_open(&full, NULL, &config);
        scramble(&full);
        const uint32_t size = mf_articulated_velocity_count(full.group);
        const uint32_t joints = full.hand.model.joint_count;
        double m[MOST * MOST], h[MOST], before[6], a[6][6], b[6], x[6], q[4], turned[3];
        assert_true(size <= MOST);
        mf_articulated_mass_matrix(full.group, 0, m);
        mf_articulated_bias(full.group, 0, h);
        for (uint32_t c = 0; c < 6; c++)
            before[c] =
                stage_get(&stage, c < 3 ? "base.linear_velocity" : "base.angular_velocity", c % 3);
        for (uint32_t c = 0; c < 4; c++)
            q[c] = stage_get(&stage, "base.orientation", c);
        double given[MOST] = {0}, rate[MOST];
        for (uint32_t j = 0; j < joints; j++)
            rate[j] = stage_get(&stage, "joint.rate", j);
        mf_world_step(stage.world, 1);
        for (uint32_t j = 0; j < joints; j++) {
            uint32_t at = mf_articulated_velocity_address(full.group, j);
            if (full.hand.joints[j].type != MF_JOINT_BALL)
                given[at] = (stage_get(&stage, "joint.rate", j) - rate[j]) / 1e-3;
        }
        mf_quat_rotate_inverse(turned, q, (double[3]){-0.3, 0.2, 0.5});
        const double force[6] = {1, 2, -3, turned[0], turned[1], turned[2]};
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
                stage_get(&stage, c < 3 ? "base.linear_velocity" : "base.angular_velocity", c % 3);
            assert_near((after - before[c]) / 1e-3, x[c], 1e-9);
        }
        assert_true(fabs(given[6]) > 10.0); // the joints did accelerate
        stage_close(&stage, NULL);
        stage_close(&full, NULL);
    }
}

// Joints that are told something new every interval, in the air, with Runge and Kutta: the centre
// of mass is on a parabola, and the angular momentum about it stays, to the order of the method.
static void flailing_conserves_momentum(void **state) {
    (void)state;
    double off[2], turned[2];
    for (int fine = 0; fine < 2; fine++) {
        Stage stage;
        DrivenStageConfig config = usual(MF_ARTICULATED_RK4);
        config.world.step = fine ? MF_MILLISECOND / 2 : MF_MILLISECOND;
        stage_begin(&stage, 1);
        make_flailer(&stage.hand, true);
        driven_open(&stage, NULL, &config);
        scramble(&stage);
        double center[3], linear[3], angular[3], place[3], push[3], spin[3], size = 0.0;
        mf_prescribed_momentum(stage.group, 0, center, linear, angular);
        for (int n = 0; n < 100; n++) {
            for (uint32_t j = 0; j < 6; j++)
                stage_set(&stage, "joint.target", j,
                          random_signed(4, j) + 0.5 * sin(0.1 * n * (j + 1.0) * 0.3));
            mf_world_step(stage.world, fine ? 20 : 10);
        }
        mf_prescribed_momentum(stage.group, 0, place, push, spin);
        off[fine] = turned[fine] = 0.0;
        for (int c = 0; c < 3; c++) {
            double fall = c == 2 ? -0.5 * 9.81 : 0.0;
            double way = place[c] - center[c] - linear[c] / stage.hand.model.mass - fall;
            off[fine] = fmax(off[fine], fabs(way));
            turned[fine] = fmax(turned[fine], fabs(spin[c] - angular[c]));
            size = fmax(size, fabs(angular[c]));
        }
        print_message("off %g turned %g\n", off[fine], turned[fine] / size);
        stage_close(&stage, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_obeys_the_first_six_rows),
        cmocka_unit_test(flailing_conserves_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
