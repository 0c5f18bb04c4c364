// The physics of an environment against a direct integration of the equations of a pole on a cart.
#include "environment/support.h"

// Cart M = 2 kg, pole m = 0.8 kg with its center at l = 0.45 m and I = 0.03 kg m^2 about it; the
// angle is 0 upright and positive towards +x. Lagrange's equations:
//     (M + m) x'' + m l (a'' cos a - a'^2 sin a) = F - d x'
//     m l x'' cos a + (I + m l^2) a'' = m g l sin a
typedef struct Cart {
    double x, a, v, w;
} Cart;

static Cart slope(const Cart *at, double force, double damping) {
    const double ml = 0.8 * 0.45, inertia = 0.03 + ml * 0.45, s = sin(at->a), c = cos(at->a);
    const double shove = force - damping * at->v + ml * at->w * at->w * s, pull = ml * 9.81 * s;
    const double whole = 2.8 * inertia - ml * ml * c * c;
    return (Cart){at->v, at->w, (inertia * shove - ml * c * pull) / whole,
                  (2.8 * pull - ml * c * shove) / whole};
}

static Cart moved(const Cart *at, const Cart *by, double time) {
    return (Cart){at->x + time * by->x, at->a + time * by->a, at->v + time * by->v,
                  at->w + time * by->w};
}

// Runge-Kutta, a hundredth of a millisecond: its own error, of rounding, is below 1e-10.
static void integrate(Cart *cart, double force, double damping, double time) {
    const int count = (int)(time / 1e-5 + 0.5);
    for (int i = 0; i < count; i++) {
        Cart k1 = slope(cart, force, damping), at = moved(cart, &k1, 0.5e-5);
        Cart k2 = slope(&at, force, damping);
        at = moved(cart, &k2, 0.5e-5);
        Cart k3 = slope(&at, force, damping);
        at = moved(cart, &k3, 1e-5);
        Cart k4 = slope(&at, force, damping);
        Cart sum = moved(&k1, &k2, 2.0);
        sum = moved(&sum, &k3, 2.0);
        sum = moved(&sum, &k4, 1.0);
        *cart = moved(cart, &sum, 1e-5 / 6.0);
    }
}

// Largest error of one second of swinging from 1 rad with changing actions.
static double error_of(const char *text, double damping, double interval) {
    const double position[2] = {0.2, 1.0}, velocity[2] = {0.3, -0.5};
    Cart cart = {0.2, 1.0, 0.3, -0.5};
    double worst = 0.0;
    AUTO_RIG rig = rig_begin(text,
                             WITH(single_config("inverted_pendulum", 1, NULL, 0),
                                  .frame_skip = (uint32_t)(0.04 / interval + 0.5)),
                             1);
    mf_group_set_state(rig.group, 0, position, velocity);
    for (uint32_t n = 0; n < 25; n++) {
        rig_act(&rig, 0, 0, n);
        rig_step(&rig);
        integrate(&cart, 50.0 * (double)rig.action[0], damping, 0.04);
        const double *seen = rig_observation(&rig, 0);
        worst = fmax(worst, fmax(fabs(seen[0] - cart.x), fabs(seen[1] - cart.a)));
        worst = fmax(worst, fmax(fabs(seen[2] - cart.v), fabs(seen[3] - cart.w)));
    }
    return worst;
}

// Runge-Kutta: an error that falls by 16 with half the step.
TEST(a_pole_on_a_cart_with_runge_kutta) {
    double coarse = error_of(CART_POLE("timestep='.02' integrator='RK4'", ""), 0.0, 0.02);
    double fine = error_of(CART_POLE("timestep='.01' integrator='RK4'", ""), 0.0, 0.01);
    double finest = error_of(CART_POLE("timestep='.001' integrator='RK4'", ""), 0.0, 0.001);
    assert_true(coarse / fine > 12.0 && coarse / fine < 24.0);
    assert_true(finest < 1e-6);
}

// Euler, with damping on the rail: an error that falls with the step.
TEST(a_pole_on_a_cart_with_euler) {
    double coarse = error_of(CART_POLE("timestep='.001'", "damping='3'"), 3.0, 0.001);
    double fine = error_of(CART_POLE("timestep='.0005'", "damping='3'"), 3.0, 0.0005);
    assert_true(coarse / fine > 1.7 && coarse / fine < 2.3);
    assert_true(fine < 0.1);
}

// Actions beyond the range act as its ends.
TEST(actions_are_limited_by_the_actuator) {
    AUTO_RIG rig =
        rig_begin(text_of("inverted_pendulum"),
                  WITH(rig_config("inverted_pendulum", 2), .autoreset = MF_AUTORESET_OFF), 1);
    for (uint32_t i = 0; i < 2; i++)
        mf_group_set_state(rig.group, i, (double[2]){0, 0.1}, (double[2]){0, 0});
    rig.action[0] = 2.0f;
    rig.action[1] = 1e20f;
    rig_step(&rig);
    assert_memory_equal(rig_observation(&rig, 0), rig_observation(&rig, 1), 4 * sizeof(double));
}

// A robot on one foot that falls over: the ground acts on the foot's body only. The external force
// on the torso, computed as that on the whole less that on the leg, is zero, although all of it
// moves in the step.
TEST(external_forces_act_on_the_touching_body_only) {
    static const mf_TaskSetting settings[] = {
        {"contact_force_min", -1e9}, {"contact_force_max", 1e9}, {"reset_noise_scale", 0.0}};
    double most = 0.0, torso = 0.0;
    AUTO_RIG rig = rig_begin(
        "<mujoco><option timestep='.01' integrator='RK4'/><worldbody>"
        "<geom type='plane' size='5 5 1'/><body pos='0 0 .6'><freejoint/>"
        "<geom type='sphere' size='.1' mass='2'/><body pos='.3 0 0'>"
        "<joint name='knee' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 .2 0 -.4' size='.05' mass='.5'/></body></body>"
        "</worldbody><actuator><motor joint='knee'/></actuator></mujoco>",
        single_config("ant", 1, settings, 3), 1);
    for (int n = 0; n < 12; n++) {
        rig_step(&rig);
        const double *seen = rig_observation(&rig, 0), *forces = seen + 13;
        for (int i = 0; seen[0] > 0.15 && i < 6; i++) { // higher up, the torso cannot touch
            torso = fmax(torso, fabs(forces[i]));
            most = fmax(most, fabs(forces[6 + i]));
        }
    }
    assert_true(most > 3.0); // MuJoCo: 2.8 to 11 N in such steps, by when the blow falls
    assert_true(torso < 1e-12 * most);
}

// Gravity of the file: its strength and direction, and none.
TEST(gravity_is_that_of_the_file) {
    static const struct {
        const char *text;
        double along; // [m/s^2]
    } cases[] = {
        {CART_POLE("timestep='.001' integrator='RK4' gravity='0 0 0'", ""), 0.0},
        {CART_POLE("timestep='.001' integrator='RK4' gravity='3 0 0'", ""), 3.0},
        {CART_POLE("timestep='.001' integrator='RK4' gravity='3 0 -4'", ""), 3.0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        mf_EnvironmentConfig config = WITH(rig_config("inverted_pendulum", 1), .frame_skip = 100);
        AUTO_RIG rig = rig_begin(cases[c].text, config, 1);
        mf_group_set_state(rig.group, 0, (double[2]){0, 0}, (double[2]){0, 0});
        rig_step(&rig);
        // Cart and pole fall side by side along x for 0.1 s.
        assert_near(rig_observation(&rig, 0)[2], 0.1 * cases[c].along, 1e-12);
        assert_near(rig_observation(&rig, 0)[1], 0.0, 1e-12);
    }
}
