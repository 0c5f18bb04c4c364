// Check cases of quasi-static trusses, in double precision: bars, frames and arches against closed
// forms and the direct stiffness method, what hangs and leans, actuators, and what the material
// bears. docs/explanation/quasistatic.md has the equations.
#include <math.h>

#include "check_truss_rig.h"

static const double pi = 3.14159265358979323846;

static void rig_relax(Rig *rig, uint64_t frames) {
    rig_open(rig);
    mf_rig_step(rig->run, frames);
}

static double moved(const Rig *rig, uint32_t vertex, uint32_t axis) {
    return mf_rig_get(rig->run, "vertex.position", 3 * vertex + axis) -
           rig->vertices[vertex].position[axis];
}

// ---- bars --------------------------------------------------------------------------------------

// One bar along x under a force [N] at its end, without gravity.
static void pull_bar(Rig *rig, mf_CheckRun *run, double length, double diameter, double force) {
    rig_begin(rig, run);
    rig->gravity = 0.0;
    add_vertex(rig, 0, 0, 0, "xyz");
    add_vertex(rig, length, 0, 0, "yz");
    add_bar(rig, 0, 1, diameter);
    rig->vertices[1].load[0] = force;
    rig_relax(rig, 1);
}

static void check_axial(mf_CheckRun *run) {
    Rig rig;
    pull_bar(&rig, run, 0.1, 0.01, 1.0);
    mf_check_near(run, "stretch by 1 N [m]", 1.42103e-6, moved(&rig, 1, 0), 1e-11);
    mf_rig_near(run, "bar.force", 0, "force [N]", 1.0, 1e-8);
}

static void check_hanging(mf_CheckRun *run) {
    Rig rig;
    rig_begin(&rig, run);
    add_vertex(&rig, 0, 0, 0.1, "xyz");
    add_vertex(&rig, 0, 0, 0, "");
    add_bar(&rig, 0, 1, 0.01);
    rig_relax(&rig, 1);
    mf_check_near(run, "stretch by its weight [m]", -5.4743e-8, moved(&rig, 1, 2), 1e-12);
}

// E A = L = P = 1 at 45 degrees: u = P L / (2 E A cos^2 a) = 1 for small loads; here 1e-6 of it.
static void check_two_bars(mf_CheckRun *run) {
    const double half = sqrt(0.5), scale = 1e-6;
    Rig rig;
    rig_begin(&rig, run);
    rig.gravity = 0.0;
    rig.truss.material = (mf_TrussMaterial){1.0, 1e-3, 0.0};
    uint32_t tip = add_vertex(&rig, 0, 0, 0, "y");
    for (int side = -1; side <= 1; side += 2)
        add_bar(&rig, tip, add_vertex(&rig, side * half, 0, half, "xyz"), sqrt(4.0 / pi));
    rig.vertices[tip].load[2] = -scale;
    rig_relax(&rig, 1);
    mf_check_near(run, "P L / (2 E A cos^2 a)", 1.0, -moved(&rig, tip, 2) / scale, 2e-6);
}

// The ten-bar cantilever in inches and pounds, at 1e-6 of its load, where it is linear.
static void check_cantilever(mf_CheckRun *run) {
    static const double positions[6][2] = {{720, 360}, {720, 0}, {360, 360},
                                           {360, 0},   {0, 360}, {0, 0}};
    static const uint32_t ends[10][2] = {{4, 2}, {2, 0}, {5, 3}, {3, 1}, {2, 3},
                                         {0, 1}, {4, 3}, {5, 2}, {2, 1}, {3, 0}};
    static const double forces[10] = {195364.99, 40124.63,  -204635.01, -59875.37, 35489.62,
                                      40124.63,  147976.26, -134866.46, 84676.56,  -56744.80};
    const double scale = 1e-6;
    Rig rig;
    rig_begin(&rig, run);
    rig.gravity = 0.0;
    rig.truss.material = (mf_TrussMaterial){1e7, 1e-3, 0.0};
    for (int i = 0; i < 6; i++)
        add_vertex(&rig, positions[i][0], positions[i][1], 0, i < 4 ? "z" : "xyz");
    for (int i = 0; i < 10; i++)
        add_bar(&rig, ends[i][0], ends[i][1], sqrt(40.0 / pi));
    rig.vertices[1].load[1] = rig.vertices[3].load[1] = -1e5 * scale;
    rig_relax(&rig, 1);
    mf_check_near(run, "node 2, x [in]", -0.95223737, moved(&rig, 1, 0) / scale, 2e-6);
    mf_check_near(run, "node 2, y [in]", -3.93957499, moved(&rig, 1, 1) / scale, 2e-6);
    mf_check_near(run, "node 4, x [in]", -0.73668605, moved(&rig, 3, 0) / scale, 2e-6);
    mf_check_near(run, "node 4, y [in]", -1.80211508, moved(&rig, 3, 1) / scale, 2e-6);
    double worst = 0.0;
    for (uint32_t i = 0; i < 10; i++)
        worst = mf_check_worse(worst, fabs(mf_rig_get(run, "bar.force", i) / scale - forces[i]));
    mf_check_below(run, "largest error of a force, of 2e5 lb [lb]", 0.05, worst);
}

// ---- the arch of von Mises ---------------------------------------------------------------------

// Height 1 m, half span 5 m, E A 1280 MN.
static void open_arch(Rig *rig, mf_CheckRun *run) {
    rig_begin(rig, run);
    rig->gravity = 0.0;
    rig->truss.material = (mf_TrussMaterial){1280e6, 1.0, 0.0};
    rig->config.tolerance = 1e-12;
    uint32_t top = add_vertex(rig, 0, 0, 1, "xy");
    for (int side = -1; side <= 1; side += 2)
        add_bar(rig, top, add_vertex(rig, side * 5.0, 0, 0, "xyz"), sqrt(4.0 / pi));
    rig_open(rig);
}

// P(u) = 2 E A (l0 - l) / l0 (H - u) / l.
static double arch_load(double u) {
    const double l0 = sqrt(26.0), l = sqrt(25.0 + (1.0 - u) * (1.0 - u));
    return 2.0 * 1280e6 * (l0 - l) / l0 * (1.0 - u) / l;
}

static void check_arch(mf_CheckRun *run) {
    static const double depths[] = {0.1, 0.2, 0.3, 0.4, 0.42};
    Rig rig;
    open_arch(&rig, run);
    double worst = 0.0;
    for (int i = 0; i < 5; i++) {
        mf_rig_set(run, "vertex.load", 2, -arch_load(depths[i]));
        mf_rig_step(run, 1);
        worst = mf_check_worse(worst, fabs(-moved(&rig, 0, 2) - depths[i]));
    }
    mf_check_below(run, "depth at five loads before the limit [m]", 1e-7, worst);
    mf_rig_set(run, "vertex.load", 2, -3789.45e3);
    mf_rig_step(run, 1);
    mf_check_near(run, "depth just below the limit load [m]", 0.426428, -moved(&rig, 0, 2), 2e-3);
    mf_rig_set(run, "vertex.load", 2, -3789.47e3);
    mf_rig_step(run, 1);
    mf_check_above(run, "depth just above it: snapped through [m]", 2.0, -moved(&rig, 0, 2));
    mf_check_near(run, "load that the inverted arch bears [kN]", 3789.47,
                  arch_load(-moved(&rig, 0, 2)) / 1e3, 1e-3);
    mf_check_bits(run, "warning of a jump", MF_WARNING_JUMP,
                  mf_group_warning(run->rig.group, 0) & MF_WARNING_JUMP);
}

// An arch that is pushed from both sides by the same amounts: P(2H - u) = -P(u).
static void check_snap(mf_CheckRun *run) {
    Rig rig;
    open_arch(&rig, run);
    mf_rig_set(run, "vertex.load", 2, -4e6);
    mf_rig_step(run, 1);
    double before = mf_motion_energy(run->rig.group, 0).elastic;
    for (int i = 0; i < 2; i++) {
        const double force = i == 0 ? 2e6 : -2e6;
        mf_rig_set(run, "vertex.load", 2, force);
        mf_rig_step(run, 1);
        const double u = -moved(&rig, 0, 2);
        mf_check_near(run,
                      i == 0 ? "2000 kN up on the inverted arch: load borne [kN]"
                             : "2000 kN down on it [kN]",
                      -force / 1e3, arch_load(u) / 1e3, 1e-3);
        mf_check_near(run, "antisymmetry P(2H - u) + P(u) [kN]", 0.0,
                      (arch_load(2.0 - u) + arch_load(u)) / 1e3, 1e-6);
    }
    mf_check_above(run, "elastic energy under load [J]", 0.0, before);
}

// ---- counts ------------------------------------------------------------------------------------

static void check_rigidity(mf_CheckRun *run) {
    mf_TrussStatics statics;
    Rig rig;
    rig_begin(&rig, run);
    add_vertex(&rig, 0, 0, 0, "");
    add_vertex(&rig, 1, 0, 0, "");
    add_vertex(&rig, 0, 1, 0, "");
    add_vertex(&rig, 0, 0, 1, "");
    add_edges(&rig);
    mf_check_must(run, mf_truss_statics(run->context, &rig.truss, &statics, &run->error));
    mf_check_near(run, "free tetrahedron: modes without stretch", 6,
                  statics.freedoms - statics.rank, 0);
    for (uint32_t v = 4; v < 12; v++) { // a beam of tetrahedra, three bars for each vertex
        add_vertex(&rig, cos(2.0 * v), sin(2.0 * v), 0.5 * v, "");
        for (uint32_t i = 1; i <= 3; i++)
            add_bar(&rig, v - i, v, 0.01);
    }
    mf_check_must(run, mf_truss_statics(run->context, &rig.truss, &statics, &run->error));
    mf_check_near(run, "beam of 12 vertices: rank 3 n - 6", 30, statics.rank, 0);
    mf_check_near(run, "its mechanisms", 0, statics.mechanisms, 0);
    rig.truss.bar_count--;
    mf_check_must(run, mf_truss_statics(run->context, &rig.truss, &statics, &run->error));
    mf_check_near(run, "one bar less: mechanisms", 1, statics.mechanisms, 0);
}

// ---- what hangs and leans ----------------------------------------------------------------------

// A bar held at one end, at an angle [rad] from hanging.
static void open_pendulum(Rig *rig, mf_CheckRun *run, double angle, double noise) {
    rig_begin(rig, run);
    rig->config.noise = noise;
    rig->config.tolerance = noise > 0.0 ? 1e-6 : 1e-9;
    add_vertex(rig, 0, 0, 1, "xyz");
    add_vertex(rig, 0.1 * sin(angle), 0, 1.0 - 0.1 * cos(angle), "");
    add_bar(rig, 0, 1, 0.01);
    rig_open(rig);
}

static void check_dangling(mf_CheckRun *run) {
    static const double angles[] = {0.1, 1.0, 2.0, 3.0, 3.1415};
    double worst = 0.0;
    for (int i = 0; i < 5; i++) {
        Rig rig;
        open_pendulum(&rig, run, angles[i], 0.0);
        mf_rig_step(run, 3);
        worst = mf_check_worse(worst, hypot(mf_rig_get(run, "vertex.position", 3),
                                            mf_rig_get(run, "vertex.position", 4)) /
                                          0.1);
    }
    mf_check_below(run, "from five angles to the vertical [rad]", 1e-6, worst);
    for (int noisy = 0; noisy < 2; noisy++) {
        Rig rig;
        open_pendulum(&rig, run, pi, noisy ? 1e-5 : 0.0);
        mf_rig_step(run, 20);
        const double height = mf_rig_get(run, "vertex.position", 5);
        if (noisy)
            mf_check_near(run, "upright, with noise of 10 uN: falls to [m]", 0.9, height, 1e-4);
        else
            mf_check_near(run, "exactly upright, without noise: stays at [m]", 1.1, height, 1e-6);
    }
}

// Sag of a chain of `links` equal stiff links, 1.2 m long over a span of 1 m.
static double hang_chain(mf_CheckRun *run, uint32_t links) {
    Rig rig;
    rig_begin(&rig, run);
    rig.truss.material.density = 1.0; // so light that it does not stretch
    rig.config.iterations = 5000;
    for (uint32_t i = 0; i <= links; i++) {
        const double x = (double)i / links - 0.5;
        add_vertex(&rig, x, 0, 1.4 * x * x, i == 0 || i == links ? "xyz" : "y");
    }
    for (uint32_t i = 0; i < links; i++) {
        add_bar(&rig, i, i + 1, 0.01);
        rig.bars[i].rest_length = 1.2 / links;
    }
    rig_relax(&rig, 3);
    return mf_rig_get(run, "vertex.position", 2) -
           mf_rig_get(run, "vertex.position", 3 * (links / 2) + 2);
}

static void check_catenary(mf_CheckRun *run) {
    double error_of[4];
    for (int i = 0; i < 4; i++) {
        error_of[i] = hang_chain(run, 8u << i) - 0.29234380;
    }
    mf_check_below(run, "error of the sag with 64 links [m]", 2e-4, fabs(error_of[3]));
    for (int i = 0; i < 3; i++) {
        mf_check_near(run, mf_check_name(run, "%d over %d links: order", 16 << i, 8 << i), 2.0,
                      log2(error_of[i] / error_of[i + 1]), 0.1);
    }
}

// How far the foot of a ladder moves that leans at an angle [rad] on a frictionless wall.
static double lean(mf_CheckRun *run, double angle) {
    Rig rig;
    rig_begin(&rig, run);
    rig.config.contacts = true;
    rig.config.friction = 0.5;
    rig.config.tolerance = 1e-7;
    add_vertex(&rig, cos(angle), 0, 0.005, "y");
    add_vertex(&rig, 0, 0, 0.005 + sin(angle), "xy");
    add_bar(&rig, 0, 1, 0.01);
    rig_relax(&rig, 5);
    return mf_rig_get(run, "vertex.position", 0) - cos(angle);
}

static void check_ladder(mf_CheckRun *run) {
    const double degree = pi / 180.0;
    mf_check_below(run, "foot at 45.5 degrees moves by [m]", 2e-4, fabs(lean(run, 45.5 * degree)));
    mf_check_above(run, "foot at 44.5 degrees slips by [m]", 0.2, lean(run, 44.5 * degree));
}

// ---- material ----------------------------------------------------------------------------------

static void check_material(mf_CheckRun *run) {
    const uint32_t bits = MF_WARNING_YIELD | MF_WARNING_BUCKLING;
    Rig rig;
    pull_bar(&rig, run, 0.1, 0.01, 1492.25);
    mf_check_bits(run, "warnings at 1492.25 N", 0, mf_group_warning(run->rig.group, 0) & bits);
    pull_bar(&rig, run, 0.1, 0.01, 1492.27);
    mf_check_bits(run, "warnings at 1492.27 N", MF_WARNING_YIELD,
                  mf_group_warning(run->rig.group, 0) & bits);
    mf_check_near(run, "strain at yield", 2.12054e-2, moved(&rig, 1, 0) / 0.1, 1e-6);
}

// Buckling is judged at the present length, which is shorter by P / E A.
static void check_euler(mf_CheckRun *run) {
    static const double sizes[3][3] = {
        {0.01, 0.1, 434.09}, {0.01, 0.2, 108.52}, {0.005, 0.1, 27.13}};
    for (int i = 0; i < 3; i++) {
        for (int over = 0; over < 2; over++) {
            Rig rig;
            pull_bar(&rig, run, sizes[i][1], sizes[i][0], -sizes[i][2] * (over ? 1.0002 : 0.9998));
            if (!over)
                mf_check_near(run,
                              mf_check_name(run, "d %g mm, L %g m: load of Euler [N]",
                                            1e3 * sizes[i][0], sizes[i][1]),
                              sizes[i][2], mf_truss_euler_load(&rig.truss, 0), 0.005);
            mf_check_bits(run, over ? "warning above it" : "no warning below it",
                          over ? MF_WARNING_BUCKLING : 0,
                          mf_group_warning(run->rig.group, 0) & MF_WARNING_BUCKLING);
        }
    }
}

// ---- actuators ---------------------------------------------------------------------------------

// A tetrahedron with one edge that grows by 1 cm and shrinks again, on ground without friction.
static void check_cycle(mf_CheckRun *run) {
    static const double positions[4][3] = {
        {0, 0, 0.005}, {0.1, 0, 0.005}, {0.05, 0.09, 0.005}, {0.05, 0.03, 0.085}};
    Rig rig;
    rig_begin(&rig, run);
    rig.config.contacts = true;
    rig.config.friction = 0.0;
    rig.config.tolerance = 1e-11;
    for (int i = 0; i < 4; i++)
        add_vertex(&rig, positions[i][0], positions[i][1], positions[i][2], "");
    add_edges(&rig);
    rig.actuators[0] = (mf_TrussActuator){0, 0.05, 0.2, MF_NONE};
    rig.truss.actuator_count = 1;
    rig_relax(&rig, 1);
    double before[12], far = 0.0, back = 0.0;
    for (uint32_t c = 0; c < 12; c++)
        before[c] = mf_rig_get(run, "vertex.position", c);
    mf_Field *command = mf_group_find_field(run->rig.group, "actuator.control");
    mf_field_set(command, 0, 0, 0.11);
    mf_rig_step(run, 12);
    for (uint32_t c = 0; c < 12; c++)
        far = fmax(far, fabs(mf_rig_get(run, "vertex.position", c) - before[c]));
    mf_field_set(command, 0, 0, 0.10);
    mf_rig_step(run, 12);
    for (uint32_t c = 0; c < 12; c++)
        back = mf_check_worse(back, fabs(mf_rig_get(run, "vertex.position", c) - before[c]));
    mf_check_above(run, "a vertex moves by, when the edge is 1 cm longer [m]", 4e-3, far);
    mf_check_below(run, "and all return within [m]", 1e-9, back);
}

const mf_CheckCase mf_check_truss_cases[] = {
    {"A1", "a bar stretches by P L / (E A)", check_axial},
    {"A2", "a hanging bar stretches by rho g L^2 / (2 E)", check_hanging},
    {"A3", "two bars in a V deflect by P L / (2 E A cos^2 a)", check_two_bars},
    {"A4", "the ten-bar cantilever agrees with the direct stiffness method", check_cantilever},
    {"A5", "the von Mises truss follows its load path and snaps at the limit load", check_arch},
    {"A6", "the inverted arch bears the opposite loads", check_snap},
    {"A7", "modes without stretch are 6 for a rigid truss, one more for each bar missing",
     check_rigidity},
    {"A8", "a dangling bar hangs; upright it stays only without noise", check_dangling},
    {"A9", "a chain of N links hangs as a catenary, with an error of 1/N^2", check_catenary},
    {"A10", "a ladder slips below atan(1 / (2 mu))", check_ladder},
    {"A11", "a bar yields at 19 MPa", check_material},
    {"A12", "a bar buckles at pi^2 E I / L^2", check_euler},
    {"A13", "an actuator that goes forth and back returns all vertices", check_cycle},
    {NULL, NULL, NULL}};
