// Trusses with inertia against closed forms, conserved quantities and the quasi-static level.
#include "motion/truss/motion.h"
#include "motion/trusses.h"

static const double pi = 3.14159265358979323846;

// A bar of 0.1 m along x with a mass of 1 kg at its end; `fixed` axes of the mass.
static void swing(Parts *p, const char *fixed) {
    begin(p);
    vertex(p, 0.0, 0.0, 1.0, "xyz");
    bar(p, 0, vertex(p, 0.1, 0.0, 1.0, fixed));
    p->vertices[1].mass = 1.0;
}

static RigConfig alone(double step) {
    return WITH(elastic_config(1, step), .motion.contacts = false, .motion.tolerance = 1e-9);
}

// ---- closed forms -------------------------------------------------------------------------------

// Constant forces are exact for the rule: z = z0 + v t - g t^2 / 2.
TEST(falls_are_exact) {
    Parts p;
    pyramid(&p);
    AUTO_RIG rig = rig_open(&p.truss, alone(1e-3));
    const double z = get_field(rig.group, "base.position", 0, 2), speed[3] = {0.3, -0.2, 2.0};
    MUST(mf_group_set_start(rig.group, 0, (double[]){0, 0, z}, NULL, speed, &error));
    mf_world_step(rig.world, 500);
    const double t = 0.5, tolerance = 1e-11; // weight to the tolerance of forces
    assert_near(get_field(rig.group, "base.position", 0, 0), 0.3 * t, tolerance);
    assert_near(get_field(rig.group, "base.position", 0, 1), -0.2 * t, tolerance);
    assert_near(get_field(rig.group, "base.position", 0, 2), z + 2.0 * t - 0.5 * 9.81 * t * t,
                2e-9);
    assert_near(get_field(rig.group, "base.linear_velocity", 0, 2), 2.0 - 9.81 * t, 1e-8);
    assert_int_equal(mf_group_warning(rig.group, 0), 0);
}

// The error [m] of a mass on a spring of w^2 = k / m after some periods, started at `amplitude`.
static double oscillator_error(double per_period, double damping) {
    Parts p;
    swing(&p, "yz");
    RigConfig config = alone(1e-3);
    const double k = 0.896e9 * pi * 0.01 * 0.01 / 4 / 0.1, amplitude = 1e-4;
    const double mass = 1.0 + 0.5 * 1000 * pi * 0.01 * 0.01 / 4 * 0.1, w = sqrt(k / mass);
    config.world.step = (mf_Time)(2 * pi / w / per_period * 1e9 + 0.5);
    config.world.gravity = 0.0;
    config.motion.damping = damping;
    AUTO_RIG rig = rig_open(&p.truss, config);
    set_field(rig.group, "vertex.position", 0, 3, 0.1 + amplitude);
    const uint64_t steps = (uint64_t)(3.3 * per_period);
    mf_world_step(rig.world, steps);
    // x'' + d w^2 x' + w^2 x = 0
    const double t = 1e-9 * (double)config.world.step * (double)steps, s = 0.5 * damping * w * w;
    const double v = sqrt(w * w - s * s);
    const double x = amplitude * exp(-s * t) * (cos(v * t) + s / v * sin(v * t));
    const double error = get_field(rig.group, "vertex.position", 0, 3) - 0.1 - x;
    assert_int_equal(mf_group_warning(rig.group, 0), 0);
    return fabs(error) / amplitude;
}

TEST(oscillators_have_order_two) {
    for (int damped = 0; damped < 2; damped++) {
        double before = 0.0;
        for (int k = 0; k < 5; k++) {
            const double error = oscillator_error(40 << k, damped ? 1e-4 : 0.0);
            print_message("%d steps a period: error %.3g of the amplitude, order %.2f\n", 40 << k,
                          error, k > 0 ? log2(before / error) : 0.0);
            if (k > 2)
                assert_near(log2(before / error), 2.0, 0.1);
            before = error;
        }
        assert_true(before < 1e-4);
    }
}

// Complete elliptic integral K by the arithmetic-geometric mean.
static double elliptic(double modulus) {
    double a = 1.0, b = sqrt(1.0 - modulus * modulus);
    for (int i = 0; i < 20; i++) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return pi / (2.0 * a);
}

// From rest at 90 degrees a pendulum of length l is back after 4 sqrt(l / g) K(sin 45).
static double pendulum_error(uint64_t steps) {
    Parts p;
    swing(&p, "y");
    const double period = 4.0 * sqrt(0.1 / 9.81) * elliptic(sin(pi / 4));
    p.truss.material.elasticity = 1e12;
    AUTO_RIG rig =
        rig_open(&p.truss, WITH(alone(period / (double)steps), .motion.tolerance = 1e-6));
    // To the lowest point, after a quarter: there the speed is the greatest.
    mf_world_step(rig.world, steps / 4);
    const double error = get_field(rig.group, "vertex.position", 0, 3) / 0.1;
    print_message("pendulum, %u steps a period: %.3g of the length from the lowest point\n",
                  (unsigned)steps, error);
    return fabs(error);
}

TEST(pendulums_have_the_period_of_the_integral) {
    double before = 0.0;
    for (uint64_t steps = 200; steps <= 1600; steps *= 2) {
        const double error = pendulum_error(steps);
        if (steps > 400)
            assert_near(log2(before / error), 2.0, 0.2);
        before = error;
    }
    assert_true(before < 2e-5);
}

// ---- conserved quantities -----------------------------------------------------------------------

typedef struct Conserved {
    double linear[3], angular[3], energy;
} Conserved;

static Conserved conserved(const Rig *rig) {
    Conserved c;
    double center[3];
    mf_motion_momentum(rig->group, 0, center, c.linear, c.angular);
    const mf_MotionEnergy energy = mf_motion_energy(rig->group, 0);
    c.energy = energy.kinetic + energy.potential + energy.elastic;
    return c;
}

static double far(const double a[3], const double b[3]) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

// A tumbling truss without weight: linear momentum to rounding, angular momentum to the order of
// the rule, energy of vibrations falls.
TEST(tumbling_conserves_momentum) {
    double error[4];
    for (int k = 0; k < 4; k++) {
        Parts p;
        pyramid(&p);
        AUTO_RIG rig = rig_open(&p.truss, WITH(alone(2e-3 / (1 << k)), .world.gravity = 0.0));
        for (uint32_t c = 0; c < 12; c++)
            set_field(rig.group, "vertex.velocity", 0, c, 0.3 * sin(7.0 * c + 1.0));
        const Conserved start = conserved(&rig);
        double last = start.energy;
        for (int f = 0; f < 500 << k; f++) {
            mf_world_step(rig.world, 1);
            const double energy = conserved(&rig).energy;
            assert_true(energy <= last * (1.0 + 1e-5));
            last = energy;
        }
        const Conserved end = conserved(&rig);
        error[k] = far(end.angular, start.angular) / far(start.angular, (double[3]){0, 0, 0});
        print_message("step %g ms: linear %.2g, angular %.3g of the start, energy %.3g\n",
                      2.0 / (1 << k), far(end.linear, start.linear), error[k],
                      end.energy / start.energy);
        assert_near(far(end.linear, start.linear), 0.0, 1e-11);
        assert_int_equal(mf_group_warning(rig.group, 0), 0);
    }
    assert_true(error[0] < 0.01 && error[3] < 3e-4);
}

// ---- contact ------------------------------------------------------------------------------------

// Energies of motion, weight and bars, and of the springs of contacts.
static double held(const Rig *rig, uint32_t vertices) {
    const mf_QuasistaticConfig *config = &mf_truss_motion_of(rig->group)->config;
    double sum = conserved(rig).energy;
    for (uint32_t v = 0; v < vertices; v++) {
        const double x = get_field(rig->group, "contact.force", 0, 3 * v),
                     y = get_field(rig->group, "contact.force", 0, 3 * v + 1);
        const double z = get_field(rig->group, "contact.force", 0, 3 * v + 2);
        sum += 0.5 * z * z / config->stiffness + 0.5 * (x * x + y * y) / config->grip;
    }
    return sum;
}

// Trusses that are thrown onto the ground, bounce, tumble and slide do not gain energy, with steps
// longer and shorter than the periods of bars and contacts.
TEST(bouncing_gains_nothing) {
    static const double steps[] = {1e-2, 2e-3, 1e-3, 2e-4};
    for (int k = 0; k < 8; k++) {
        Parts p;
        if (k < 4)
            pyramid(&p);
        else
            crawler(&p, 7, 2);
        RigConfig config = elastic_config(1, steps[k % 4]);
        config.motion.collisions = k < 4; // the energy of bars that meet is in no field
        AUTO_RIG rig = rig_open(&p.truss, config);
        const double position[3] = {0, 0, 0.3}, speed[3] = {1.0, 0.5, 0.0};
        mf_group_set_start(rig.group, 0, position, NULL, speed, NULL);
        set_field(rig.group, "vertex.velocity", 0, 3, 3.0);
        const double start = held(&rig, p.truss.vertex_count);
        double last = start, gained = 0.0;
        uint32_t spent = 0;
        const int count = (int)(2.0 / steps[k % 4]);
        for (int f = 0; f < count; f++) {
            mf_world_step(rig.world, 1);
            spent += (uint32_t)get_field(rig.group, "frame.iterations", 0, 0);
            const double now = held(&rig, p.truss.vertex_count);
            gained = fmax(gained, now - last);
            last = now;
        }
        print_message("%s, step %g ms: %.3g J of %.3g left, most gained in a step %.2g; %.2f "
                      "iterations, warnings %u\n",
                      p.truss.vertex_count > 4 ? "crawler" : "pyramid", steps[k % 4] * 1e3, last,
                      start, gained, (double)spent / count, mf_group_warning(rig.group, 0));
        assert_true(gained < 1e-4 * start && last < 0.3 * start);
        assert_int_equal(mf_group_fault(rig.group, 0), 0);
    }
}

// dH / d(rest length) of a bar under the force F: -F - F^2 / (2 E A).
static double push_of(const Rig *rig) {
    const double force = get_field(rig->group, "bar.force", 0, 0);
    return -force - force * force / (2.0 * get_field(rig->group, "bar.rigidity", 0, 0));
}

// A pyramid that hops and slides by its actuator never has more than the actuator gave.
TEST(actuators_pay_for_all_energy) {
    static const double speeds[] = {0.1, 1.0, 10.0};
    for (int k = 0; k < 6; k++) {
        Parts p;
        pyramid(&p);
        AUTO_RIG rig = rig_open(&p.truss, WITH(elastic_config(1, k < 3 ? 1e-3 : 2e-4),
                                               .motion.actuator_speed = speeds[k % 3]));
        const int period = k < 3 ? 40 : 200;
        double rest = get_field(rig.group, "bar.rest_length", 0, 0), push = push_of(&rig);
        const double start = held(&rig, 4);
        double given = 0.0, excess = 0.0, work = 0.0, most = 0.0;
        for (int f = 0; f < 50 * period; f++) {
            set_field(rig.group, "actuator.control", 0, 0, f % period < period / 2 ? 0.11 : 0.09);
            mf_world_step(rig.world, 1);
            const double rest_now = get_field(rig.group, "bar.rest_length", 0, 0);
            const double push_now = push_of(&rig);
            const double step = 0.5 * (push + push_now) * (rest_now - rest);
            given += step;
            work += fabs(step);
            excess = fmax(excess, held(&rig, 4) - start - given);
            rest = rest_now;
            push = push_now;
            most = fmax(most, get_field(rig.group, "base.position", 0, 2));
        }
        print_message(
            "%g m/s, step %g ms: work %.3g J, in all %.3g, most unpaid %.2g, %.3g m high, "
            "warnings %u\n",
            speeds[k % 3], k < 3 ? 1.0 : 0.2, work, given, excess, most,
            mf_group_warning(rig.group, 0));
        assert_true(excess < 1e-5 * work);
    }
}

// A pyramid that slides on flat ground stops after v^2 / (2 mu g).
TEST(sliding_stops_after_its_distance) {
    Parts p;
    pyramid(&p);
    AUTO_RIG rig = rig_open(&p.truss, WITH(elastic_config(1, 1e-3), .motion.friction = 0.3));
    mf_world_step(rig.world, 500); // it settles
    const double x = get_field(rig.group, "base.position", 0, 0), g = 9.81;
    for (uint32_t v = 0; v < 4; v++)
        set_field(rig.group, "vertex.velocity", 0, 3 * v, 1.0);
    mf_world_step(rig.world, 200);
    assert_near(get_field(rig.group, "base.linear_velocity", 0, 0), 1.0 - 0.3 * g * 0.2, 1e-6);
    mf_world_step(rig.world, 500);
    assert_near(get_field(rig.group, "base.position", 0, 0) - x, 1.0 / (2.0 * 0.3 * g), 1e-4);
    assert_near(get_field(rig.group, "base.linear_velocity", 0, 0), 0.0, 1e-3);
}

// On slopes a truss sticks below tan a = mu; above it slides with g (sin a - mu cos a).
TEST(slopes_hold_by_friction) {
    for (int steep = 0; steep < 2; steep++) {
        const double a = atan(0.5) + (steep ? 0.1 : -0.02), g = 9.81, t = 0.4;
        Parts p;
        pyramid(&p);
        AUTO_RIG rig = rig_open(&p.truss, WITH(elastic_config(1, 1e-3), .motion.damping = 1e-4,
                                               .world.gravity_direction[0] = sin(a),
                                               .world.gravity_direction[2] = -cos(a)));
        mf_world_step(rig.world, 400); // the feet stick or slide by then
        const double v = get_field(rig.group, "base.linear_velocity", 0, 0),
                     x = get_field(rig.group, "base.position", 0, 0);
        mf_world_step(rig.world, 400);
        const double more = get_field(rig.group, "base.linear_velocity", 0, 0) - v;
        print_message("slope %g: %g m/s in %g s, %g m\n", a, more, t,
                      get_field(rig.group, "base.position", 0, 0) - x);
        if (steep)
            assert_near(more, g * (sin(a) - 0.5 * cos(a)) * t, 2e-3 * t);
        else
            assert_near(get_field(rig.group, "base.position", 0, 0) - x, 0.0, 1e-6);
    }
}

// ---- the level below ----------------------------------------------------------------------------

static void settle(const Parts *p, bool contacts, double out[3 * MOST]) {
    for (int elastic = 0; elastic < 2; elastic++) {
        AUTO_RIG rig = rig_open(&p->truss, WITH(elastic ? elastic_config(1, 2e-3) : rig_config(1),
                                                .motion.contacts = contacts,
                                                .motion.tolerance = 1e-8, .motion.damping = 1e-3));
        mf_world_step(rig.world, elastic ? 1500 : 3);
        for (uint32_t c = 0; c < 3 * p->truss.vertex_count; c++) {
            const double x = get_field(rig.group, "vertex.position", 0, c);
            out[c] = elastic ? x - out[c] : x;
        }
        assert_int_equal(mf_group_warning(rig.group, 0), 0);
    }
}

// With damping trusses come to rest where quasi-statics finds them.
TEST(rest_is_the_quasistatic_solution) {
    Parts p;
    double apart[3 * MOST];
    begin(&p);
    for (uint32_t i = 0; i < 8; i++)
        vertex(&p, 0.1 * (i / 2), 0.0, 1.0 + 0.1 * (i % 2), i < 2 ? "xyz" : "y");
    for (uint32_t i = 0; i < 3; i++) {
        bar(&p, 2 * i, 2 * i + 2);
        bar(&p, 2 * i + 1, 2 * i + 3);
        bar(&p, 2 * i, 2 * i + 3);
        bar(&p, 2 * i + 2, 2 * i + 3);
    }
    p.vertices[6].load[2] = -5.0;
    settle(&p, false, apart);
    double most = 0.0;
    for (uint32_t c = 0; c < 24; c++)
        most = fmax(most, fabs(apart[c]));
    print_message("cantilever: %.2g m from the quasi-static solution\n", most);
    assert_true(most < 1e-9);
}

// Without damping a truss goes on vibrating: with 75 steps a period it keeps most of the energy of
// 134 periods, with 7.5 steps nothing.
TEST(slow_vibrations_last) {
    Parts p;
    swing(&p, "yz");
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig = rig_open(&p.truss, WITH(alone(k == 0 ? 1e-4 : 1e-3), .world.gravity = 0.0));
        set_field(rig.group, "vertex.velocity", 0, 3, 0.1);
        const double start = conserved(&rig).energy;
        mf_world_step(rig.world, k == 0 ? 10000 : 1000);
        const double left = conserved(&rig).energy / start;
        print_message("step %g ms: after 1 s %.3g of the energy\n", k == 0 ? 0.1 : 1.0, left);
        assert_true(k == 0 ? left > 0.5 : left < 0.1);
    }
}
