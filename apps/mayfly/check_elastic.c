// Check cases of trusses with inertia, in double precision: falls, oscillators and pendulums
// against closed forms with the order of the rule, momentum in free flight, impacts, friction, and
// rest at the quasi-static solution. docs/explanation/quasistatic.md has the equations.
#include <math.h>

#include "check_truss_rig.h"

// A regular tetrahedron of 0.1 m, on the ground or above.
static void add_tetrahedron(Rig *rig, double height) {
    static const double positions[4][3] = {{-0.05, -0.0288675, 0.0},
                                           {0.05, -0.0288675, 0.0},
                                           {0.0, 0.057735, 0.0},
                                           {0.0, 0.0, 0.0816497}};
    for (uint32_t v = 0; v < 4; v++)
        add_vertex(rig, positions[v][0], positions[v][1], positions[v][2] + height, "");
    add_edges(rig);
}

// A bar of 0.1 m along x, held at one end, with a mass of 1 kg at the other.
static void add_swing(Rig *rig, const char *fixed) {
    add_vertex(rig, 0.0, 0.0, 0.0, "xyz");
    add_bar(rig, 0, add_vertex(rig, 0.1, 0.0, 0.0, fixed), 0.01);
    rig->vertices[1].mass = 1.0;
}

// ---- closed forms -------------------------------------------------------------------------------

static void check_fall(mf_CheckRun *run) {
    Rig rig;
    rig_begin(&rig, run);
    rig.step = 1e-3;
    add_tetrahedron(&rig, 10.0);
    rig_open(&rig);
    const double start = mf_rig_get(run, "base.position", 2);
    for (uint32_t v = 0; v < 4; v++) {
        mf_rig_set(run, "vertex.velocity", 3 * v, 0.5);
        mf_rig_set(run, "vertex.velocity", 3 * v + 2, 2.0);
    }
    mf_rig_step(run, 1000);
    mf_rig_near(run, "base.position", 0, "x after 1 s at 0.5 m/s [m]", 0.5, 1e-9);
    mf_check_near(run, "z after 1 s: 2 t - g t^2 / 2 [m]", -2.905,
                  mf_rig_get(run, "base.position", 2) - start, 1e-8);
    mf_rig_near(run, "base.linear_velocity", 2, "speed 2 - g t [m/s]", -7.81, 1e-8);
}

// k = E A / l = 703716.75 N/m, m = 1.0039270 kg with half the bar: w = 837.2360 / s.
static double swing_along(mf_CheckRun *run, uint32_t steps) {
    const double w = 837.2359733, period = 2.0 * 3.14159265358979 / w;
    Rig rig;
    rig_begin(&rig, run);
    rig.gravity = 0.0;
    rig.step = period / steps;
    add_swing(&rig, "yz");
    rig_open(&rig);
    mf_rig_set(run, "vertex.position", 3, 0.1001);
    const uint64_t count = 13 * (uint64_t)steps / 4; // to the equilibrium, after 3.25 periods
    mf_rig_step(run, count);
    const double t = mf_time_to_seconds(mf_world_time(run->rig.world));
    return fabs((mf_rig_get(run, "vertex.position", 3) - 0.1) / 1e-4 - cos(w * t));
}

static void check_oscillator(mf_CheckRun *run) {
    const double errors[2] = {swing_along(run, 80), swing_along(run, 160)};
    mf_check_below(run, "error after 3.25 periods of 160 steps, over the amplitude", 2e-3,
                   errors[1]);
    mf_check_near(run, "order of convergence", 2.0, log2(errors[0] / errors[1]), 0.1);
}

// From rest at 90 degrees a pendulum is lowest after sqrt(l / g) K(sin 45), K = 1.8540746773, here
// 0.1871943423 s. The bar is 1000 times as stiff as plastic: its own period is 0.24 ms.
static double fall_to_bottom(mf_CheckRun *run, uint32_t steps) {
    Rig rig;
    rig_begin(&rig, run);
    rig.truss.material.elasticity = 1e12;
    rig.config.tolerance = 1e-6;
    rig.step = 0.1871943423 / steps;
    add_swing(&rig, "y");
    rig_open(&rig);
    mf_rig_step(run, steps);
    return fabs(mf_rig_get(run, "vertex.position", 3)) / 0.1;
}

static void check_pendulum(mf_CheckRun *run) {
    const double errors[2] = {fall_to_bottom(run, 50), fall_to_bottom(run, 100)};
    mf_check_below(run, "distance from the bottom after 100 steps, over the length", 2e-4,
                   errors[1]);
    mf_check_near(run, "order of convergence", 2.0, log2(errors[0] / errors[1]), 0.2);
}

// ---- free flight --------------------------------------------------------------------------------

static void check_flight(mf_CheckRun *run) {
    Rig rig;
    rig_begin(&rig, run);
    rig.gravity = 0.0;
    rig.step = 5e-4;
    add_tetrahedron(&rig, 1.0);
    rig_open(&rig);
    for (uint32_t c = 0; c < 12; c++)
        mf_rig_set(run, "vertex.velocity", c, 0.3 * sin(7.0 * c + 1.0));
    const mf_RigMomentum start = mf_rig_momentum(run);
    const double rise = mf_rig_rise(run, 2000);
    const mf_RigMomentum end = mf_rig_momentum(run);
    mf_check_below(run, "change of the momentum in 1 s [kg m/s]", 1e-12,
                   mf_rig_apart(end.linear, start.linear));
    mf_check_below(run, "change of the angular momentum, over it", 1e-3,
                   mf_rig_apart(end.angular, start.angular) / mf_rig_apart(start.angular, NULL));
    mf_check_below(run, "largest rise of the energy in a step, over it", 1e-5, rise);
}

// ---- contact ------------------------------------------------------------------------------------

// Energy of motion, weight, bars and the springs of contacts.
static double energy_of(const Rig *rig) {
    double sum = mf_rig_energy(rig->run);
    for (uint32_t c = 0; c < 3 * rig->truss.vertex_count; c++) {
        const double force = mf_rig_get(rig->run, "contact.force", c);
        sum += 0.5 * force * force / (c % 3 == 2 ? rig->config.stiffness : rig->config.grip);
    }
    return sum;
}

// With the settings that users get.
static void check_impact(mf_CheckRun *run) {
    Rig rig;
    rig_begin(&rig, run);
    rig.config = mf_motions_config().elastic;
    rig.step = 1e-3;
    add_tetrahedron(&rig, 0.3);
    rig_open(&rig);
    for (uint32_t c = 0; c < 12; c++)
        mf_rig_set(run, "vertex.position", c, rig.vertices[c / 3].position[c % 3]);
    for (uint32_t v = 0; v < 4; v++)
        mf_rig_set(run, "vertex.velocity", 3 * v, 1.0 + v);
    double last = energy_of(&rig), start = last, gained = 0.0;
    for (int f = 0; f < 2000; f++) {
        mf_rig_step(run, 1);
        const double now = energy_of(&rig);
        gained = mf_check_worse(gained, now - last);
        last = now;
    }
    mf_check_below(run, "energy gained in a step, over that at the start", 1e-4, gained / start);
    mf_check_below(run, "energy left after 2 s, over that at the start", 0.2, last / start);
    mf_check_below(run, "speed after 2 s [m/s]", 0.05,
                   fabs(mf_rig_get(run, "base.linear_velocity", 0)));
    mf_check_bits(run, "faults and warnings", 0,
                  mf_group_fault(run->rig.group, 0) | mf_group_warning(run->rig.group, 0));
}

static void check_slide(mf_CheckRun *run) {
    Rig rig;
    rig_begin(&rig, run);
    rig.config = mf_motions_config().elastic;
    rig.config.friction = 0.3;
    rig.step = 1e-3;
    add_tetrahedron(&rig, 0.005);
    rig_open(&rig);
    mf_rig_step(run, 500); // it settles
    const double x = mf_rig_get(run, "base.position", 0);
    for (uint32_t v = 0; v < 4; v++)
        mf_rig_set(run, "vertex.velocity", 3 * v, 1.0);
    mf_rig_step(run, 200);
    mf_rig_near(run, "base.linear_velocity", 0, "speed after 0.2 s: 1 - mu g t [m/s]", 0.4114,
                1e-5);
    mf_rig_step(run, 500);
    mf_check_near(run, "distance to rest: 1 / (2 mu g) [m]", 0.1698947,
                  mf_rig_get(run, "base.position", 0) - x, 1e-4);
}

// ---- rest ---------------------------------------------------------------------------------------

static double sag(mf_CheckRun *run, double step) {
    Rig rig;
    rig_begin(&rig, run);
    rig.step = step;
    rig.config.damping = 1e-3;
    for (uint32_t i = 0; i < 8; i++)
        add_vertex(&rig, 0.1 * (i / 2), 0.0, 0.1 * (i % 2), i < 2 ? "xyz" : "y");
    for (uint32_t i = 0; i < 3; i++) {
        add_bar(&rig, 2 * i, 2 * i + 2, 0.01);
        add_bar(&rig, 2 * i + 1, 2 * i + 3, 0.01);
        add_bar(&rig, 2 * i, 2 * i + 3, 0.01);
        add_bar(&rig, 2 * i + 2, 2 * i + 3, 0.01);
    }
    rig.vertices[6].load[2] = -5.0;
    rig_open(&rig);
    mf_rig_step(run, step > 0.0 ? 1500 : 3);
    return mf_rig_get(run, "vertex.position", 20) - mf_rig_get(run, "vertex.position", 2);
}

static void check_rest(mf_CheckRun *run) {
    const double still = sag(run, 0.0), swung = sag(run, 2e-3);
    mf_check_below(run, "the quasi-static tip is lower by [m]", -1e-5, still);
    mf_check_near(run, "tip after 3 s, against it [m]", still, swung, 1e-11);
}

const mf_CheckCase mf_check_elastic_cases[] = {
    {"A14", "a truss falls by z + v t - g t^2 / 2", check_fall},
    {"A15", "a mass on a bar swings with sqrt(k / m), with an error of the square of the step",
     check_oscillator},
    {"A16", "a pendulum on a stiff bar has the period of the elliptic integral", check_pendulum},
    {"A17", "a tumbling truss keeps its momentum and gains no energy", check_flight},
    {"A18", "a truss that is thrown onto the ground gains no energy", check_impact},
    {"A19", "a sliding truss slows down by mu g", check_slide},
    {"A20", "a damped truss comes to rest at the quasi-static solution", check_rest},
    {NULL, NULL, NULL}};
