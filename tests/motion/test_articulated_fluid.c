// The medium of a file: forces against MuJoCo, terminal speed, decay, wind and stability.
#include "motion/articulated_rig.h"

#define STILL "<option gravity='0 0 0' density='%g' viscosity='%g' wind='%g 0 0'/>"
#define BOX                                                                                        \
    "<worldbody><body><freejoint/><geom type='box' size='.1 .2 .3' "                               \
    "contype='0'/></body></worldbody>"

static Rig open_box(double density, double viscosity, double wind, ArtConfig config) {
    return text_open(formatted("<mujoco>" STILL BOX "</mujoco>", density, viscosity, wind), config);
}

static ArtConfig fluid_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    return WITH(art_config(integrator, step), .world.gravity = 0.0, .group.double_precision = true,
                .motion.contacts = false);
}

// The force and torque of the first step of 1e-6 s, at (1, 2, 3) m/s and a rate.
static void check_wrench(const Rig *t, double mass, const double inertia[3], const double w[3],
                         const double force[3], const double torque[3], double force_error,
                         double torque_error) {
    const double v[3] = {1, 2, 3}, h = 1e-6;
    rig_set3(t, "base.linear_velocity", v[0], v[1], v[2]);
    rig_set3(t, "base.angular_velocity", w[0], w[1], w[2]);
    mf_world_step(t->world, 1);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
        double gain = (rig_get(t, "base.linear_velocity", i) - v[i]) / h;
        double turning = (rig_get(t, "base.angular_velocity", i) - w[i]) / h;
        double gyroscopic = (inertia[j] - inertia[k]) * w[j] * w[k];
        assert_near(gain * mass, force[i], force_error);
        assert_near(turning * inertia[i] - gyroscopic, torque[i], torque_error);
    }
}

// MuJoCo 4.0, mj_forward with density 1000, viscosity 0.1, velocity (1, 2, 3) m/s and rate (0.1,
// 0.2, 0.3) rad/s: qfrc_fluid of a box of 48 kg.
TEST(forces_are_those_of_mujoco) {
    static const double force[3] = {-120.376991, -240.753982, -361.130973};
    static const double torque[3] = {-6.86061930e-03, -3.68212386e-02, -2.89818579e-02};
    static const double inertia[3] = {2.08, 1.6, 0.8}; // 48 (b^2 + c^2) / 12
    AUTO_RIG t = open_box(1000.0, 0.1, 0.0, fluid_config(MF_ARTICULATED_EULER, 1000));
    // Of the differences, and six digits of theirs.
    check_wrench(&t, 48.0, inertia, (double[]){0.1, 0.2, 0.3}, force, torque, 1e-5, 1e-7);
}

// MuJoCo 4.0, likewise, of an ellipsoid of 7.54 kg in water; its virtual masses are 6e-7 off.
TEST(ellipsoids_are_those_of_mujoco) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0' density='1000' viscosity='0.1' wind='0.3 0 0'/>"
        "<worldbody><body><freejoint/><geom type='ellipsoid' size='.1 .2 .3' density='300' "
        "contype='0' fluidshape='ellipsoid' fluidcoef='.4 .3 1.2 .9 "
        ".8'/></body></worldbody></mujoco>";
    static const double force[3] = {-772.266307043766, -661.006815997442, -497.050696867766};
    static const double torque[3] = {26.289128110165, -63.099142300925, 33.779487744287};
    static const double inertia[3] = {0.19603538158400312, 0.15079644737231008,
                                      0.07539822368615504};
    AUTO_RIG t = text_open(text, fluid_config(MF_ARTICULATED_EULER, 1000));
    // h / 2 of the change of the force.
    check_wrench(&t, 7.539822368615504, inertia, (double[]){0.4, 0.5, 0.6}, force, torque, 2e-3,
                 2e-3);
}

// m dv/dt = m g - rho a b v^2 / 2: v = u tanh(g t / u) with u = sqrt(2 m g / (rho a b)); here 48
// kg, a b = 0.08 m^2 and rho = 12 give u = 31.3209195267 m/s, and 23.8536983 m/s after one... t = u
// / g.
TEST(a_fall_ends_at_the_terminal_speed) {
    const double u = 31.3209195267317, after = 23.8538292707196; // u tanh(1)
    const mf_Time steps[] = {2 * MF_MILLISECOND, MF_MILLISECOND};
    double error[2];
    for (int i = 0; i < 2; i++) {
        AUTO_RIG t =
            open_box(12.0, 0.0, 0.0,
                     WITH(fluid_config(MF_ARTICULATED_IMPLICIT, steps[i]), .world.gravity = 9.81));
        const uint64_t count = (uint64_t)llround(u / 9.81 / mf_time_to_seconds(steps[i]));
        mf_world_step(t.world, count);
        error[i] = fabs(-rig_get(&t, "base.linear_velocity", 2) -
                        u * tanh(9.81 * (double)count * mf_time_to_seconds(steps[i]) / u));
        assert_near(-rig_get(&t, "base.linear_velocity", 2), after, 0.02);
        mf_world_step(t.world, 20 * count);
        assert_near(-rig_get(&t, "base.linear_velocity", 2), u, 1e-9);
    }
    // The slope of now times the speed at the end is the square of the speed half-way: order 2.
    assert_near(log2(error[0] / error[1]), 2.0, 0.05);
}

// Stokes: v falls by the factor exp(-3 pi d mu t / m), d = 0.4 m the mean edge; Runge-Kutta is
// exact to rounding here. Turns: exp(-pi d^3 mu t / I).
TEST(slow_motion_decays) {
    ArtConfig config = fluid_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    AUTO_RIG t = open_box(0.0, 5.0, 0.0, config);
    rig_set3(&t, "base.linear_velocity", 1, 0, 0);
    rig_set3(&t, "base.angular_velocity", 0, 0, 2);
    mf_world_step(t.world, 1000);
    assert_near(rig_get(&t, "base.linear_velocity", 0), 0.6752319066557773, 1e-8);
    assert_near(rig_get(&t, "base.angular_velocity", 2), 0.5692190866720586, 1e-8);
}

// What is at rest goes with the wind in the end, and never faster, at any density and step.
TEST(the_wind_takes_along_and_no_density_is_too_much) {
    const double densities[] = {1e2, 1e5, 1e8};
    for (int i = 0; i < 3; i++) {
        ArtConfig config = fluid_config(MF_ARTICULATED_IMPLICIT, 20 * MF_MILLISECOND);
        double last = 0.0;
        AUTO_RIG t = open_box(densities[i], 1.0, 4.0, config);
        rig_set3(&t, "base.angular_velocity", 5, 6, 7);
        for (int n = 0; n < 500; n++) {
            mf_world_step(t.world, 1);
            double speed = rig_get(&t, "base.linear_velocity", 0);
            assert_true(speed <= 4.0 + 1e-9 && speed >= last - 1e-3);
            last = speed;
        }
        assert_true(last > 3.0);
        assert_int_equal(mf_group_fault(t.group, 0), 0);
    }
}
