// Check cases of cloth, in double precision: a cantilever against the heavy elastica and Peirce's
// formula, hanging cloths against their weight and the catenary, free fall, momentum and energy.
// docs/explanation/cloth.md has the equations.
#include <math.h>

#include "check.h"

enum { PINS = 64 };

typedef struct Rig { // a cloth of the default material, to be opened
    mf_CheckRun *run;
    mf_Cloth cloth;
    mf_ClothConfig config;
    uint32_t pins[PINS];
    double gravity; // [m/s^2]
} Rig;

static void rig_begin(Rig *rig, mf_CheckRun *run, double width, double length, uint32_t columns,
                      uint32_t rows) {
    *rig = (Rig){.run = run,
                 .cloth = mf_cloth_rectangle(width, length, columns, rows),
                 .config = mf_motions_config().cloth,
                 .gravity = 9.81};
    rig->cloth.pins = rig->pins;
    rig->config.contacts = false;
    rig->config.drag = 0.0;
}

static void pin(Rig *rig, uint32_t vertex) {
    rig->pins[rig->cloth.pin_count++] = vertex;
}

static void rig_open(Rig *rig) {
    mf_CheckRun *run = rig->run;
    mf_RigConfig config = mf_rig_config_of(MF_MOTION_CLOTH, 10 * MF_MILLISECOND);
    config.world.gravity = rig->gravity;
    rig->config.cloth = &rig->cloth;
    config.motions.cloth = rig->config;
    mf_rig_start(run);
    mf_Model **model = mf_rig_own(run);
    mf_check_must(run, mf_cloth_model(run->context, &rig->cloth, model, &run->error));
    mf_rig_open_model(run, *model, &config);
}

// ---- I7: a strip over an edge ------------------------------------------------------------------

// A strip of 0.1 m with the bending length c = 0.0509321 m, for which Peirce (1930, equation in
// ASTM D1388) gives 41.5 degrees from the edge to the tip. The heavy elastica B t'' = -w (L - s)
// cos t, by a shooting method with 2,000 steps of Runge-Kutta, gives 40.1457 degrees: his formula
// is an approximation. The second difference about the last pinned vertex bends half a cell on both
// sides, so the strip is clamped half a cell before it.
static double strip_angle(mf_CheckRun *run, uint32_t cells, mf_Time substep) {
    const double length = 0.1, bending_length = 0.5093214862 * length;
    const double cell = length / (cells + 0.5);
    const uint32_t columns = cells + 2, tip = 2 * columns - 1, root = columns + 1;
    Rig rig;
    rig_begin(&rig, run, cell * (columns - 1), 0.02, columns, 3);
    rig.cloth.material.bending =
        rig.cloth.material.density * rig.gravity * pow(bending_length, 3.0);
    rig.config.substep = substep;
    rig.config.drag = 5.0;
    for (uint32_t j = 0; j < 3; j++)
        for (uint32_t i = 0; i < 2; i++)
            pin(&rig, j * columns + i);
    rig_open(&rig);
    mf_rig_step(run, 300);
    const double across = mf_rig_get(run, "vertex.position", 3 * tip) -
                          mf_rig_get(run, "vertex.position", 3 * root) + 0.5 * cell;
    const double down = mf_rig_get(run, "vertex.position", 3 * root + 2) -
                        mf_rig_get(run, "vertex.position", 3 * tip + 2);
    return atan2(down, across);
}

static void check_strip(mf_CheckRun *run) {
    const double degree = 3.14159265358979 / 180.0;
    const double angle = strip_angle(run, 12, MF_MILLISECOND / 20);
    mf_check_near(run, "angle of the tip, heavy elastica [deg]", 40.1457, angle / degree, 0.1);
    mf_check_near(run, "bending length by Peirce from that angle, over the length", 0.5093,
                  cbrt(cos(0.5 * angle) / (8.0 * tan(angle))), 0.0102);
}

// ---- I8: hanging cloths ------------------------------------------------------------------------

static void check_weight(mf_CheckRun *run) {
    Rig rig;
    double force[3] = {0};
    rig_begin(&rig, run, 1.0, 1.0, 13, 13);
    rig.cloth.plane = MF_CLOTH_XZ;
    rig.config.drag = 3.0;
    for (uint32_t i = 0; i < 13; i++)
        pin(&rig, 12 * 13 + i);
    rig_open(&rig);
    mf_rig_step(run, 1000);
    for (uint32_t c = 0; c < 39; c++)
        force[c % 3] += mf_rig_get(run, "pin.force", c);
    mf_check_near(run, "pull on the upper edge: 0.15 kg at 9.81 m/s^2 [N]", 1.4715, -force[2],
                  1e-6);
    mf_check_near(run, "sideways [N]", 0.0, fabs(force[0]) + fabs(force[1]), 1e-5);
}

// A sheet of 1.2 m that is held at both sides, 1 m apart (A9): sag 0.29234380 m, horizontal pull
// 0.46954152 m of its weight per length.
static void hang_sheet(mf_CheckRun *run, uint32_t cells, double *sag, double *pull,
                       double *weight) {
    Rig rig;
    rig_begin(&rig, run, 1.2, 0.05, cells + 1, 2);
    rig.cloth.material.bending = rig.cloth.material.shear = 0.0;
    rig.cloth.material.stretch = 1e5;
    rig.config.substep = MF_MILLISECOND / 20;
    rig.config.drag = 3.0;
    for (uint32_t j = 0; j < 2; j++)
        for (uint32_t i = 0; i < 2; i++)
            pin(&rig, j * (cells + 1) + i * cells);
    rig_open(&rig);
    for (int s = 1; s <= 100; s++) { // 0.1 m inward in a second
        for (uint32_t p = 0; p < 4; p++)
            mf_rig_set(run, "pin.anchor", 3 * p, (p % 2 == 0 ? -1.0 : 1.0) * (0.6 - 1e-3 * s));
        mf_rig_step(run, 1);
    }
    mf_rig_step(run, 500);
    const double per_length = rig.cloth.material.density * 0.05 * rig.gravity;
    *sag =
        mf_rig_get(run, "pin.anchor", 2) - mf_rig_get(run, "vertex.position", 3 * (cells / 2) + 2);
    *pull = (mf_rig_get(run, "pin.force", 0) + mf_rig_get(run, "pin.force", 6)) / per_length;
    *weight = 0.0;
    for (uint32_t p = 0; p < 4; p++)
        *weight -= mf_rig_get(run, "pin.force", 3 * p + 2) / per_length;
}

static void check_catenary(mf_CheckRun *run) {
    double sag[2], pull[2], weight[2];

    for (int k = 0; k < 2; k++)
        hang_sheet(run, k == 0 ? 10 : 20, &sag[k], &pull[k], &weight[k]);
    mf_check_near(run, "sag of 20 cells [m]", 0.29234380, sag[1], 5e-4);
    mf_check_near(run, "sideways pull over weight per length [m]", 0.46954152, pull[1], 5e-4);
    mf_check_near(run, "weight over that per length [m]", 1.2, weight[1], 1e-4);
    mf_check_near(run, "order of the sag's error in the cells", 2.0,
                  log2((sag[0] - 0.29234380) / (sag[1] - 0.29234380)), 0.15);
}

// ---- free flight -------------------------------------------------------------------------------

static void check_fall(mf_CheckRun *run) {
    Rig rig;
    rig_begin(&rig, run, 1.0, 0.8, 9, 21);
    rig_open(&rig);
    for (uint32_t v = 0; v < 9 * 21; v++) {
        mf_rig_set(run, "vertex.velocity", 3 * v, 0.5);
        mf_rig_set(run, "vertex.velocity", 3 * v + 2, 2.0);
    }
    const double start = mf_rig_get(run, "vertex.position", 2);
    mf_rig_step(run, 100);
    mf_check_near(run, "z after 1 s: 2 t - g t^2 / 2 [m]", -2.905,
                  mf_rig_get(run, "vertex.position", 2) - start, 1e-11);
    mf_rig_near(run, "base.position", 0, "x after 1 s at 0.5 m/s [m]", 0.5, 1e-11);
    mf_rig_near(run, "vertex.velocity", 2, "speed 2 - g t [m/s]", -7.81, 1e-11);
}

// Change of the angular momentum in 0.2 s of a crumpling cloth, over its size.
static void crumple(mf_CheckRun *run, mf_Time substep, double *linear, double *angular,
                    double *rise) {
    Rig rig;
    rig_begin(&rig, run, 0.5, 0.5, 13, 13);
    rig.gravity = 0.0;
    rig.config.substep = substep;
    rig_open(&rig);
    for (uint32_t c = 0; c < 3 * 169; c++)
        mf_rig_set(run, "vertex.velocity", c, 0.3 * sin(0.05 * c * c + 1.0));
    const mf_RigMomentum start = mf_rig_momentum(run);
    *rise = mf_rig_rise(run, 20);
    const mf_RigMomentum end = mf_rig_momentum(run);
    *linear = mf_rig_apart(end.linear, start.linear);
    *angular = mf_rig_apart(end.angular, start.angular) / mf_rig_apart(start.angular, NULL);
}

static void check_flight(mf_CheckRun *run) {
    double linear[2], angular[2], rise[2];
    crumple(run, MF_MILLISECOND, &linear[0], &angular[0], &rise[0]);
    crumple(run, MF_MILLISECOND / 8, &linear[1], &angular[1], &rise[1]);
    mf_check_below(run, "change of the linear momentum [kg m/s]", 1e-14, linear[0]);
    mf_check_below(run, "change of the angular momentum, substeps of 1 ms, over its size", 0.1,
                   angular[0]);
    mf_check_below(run, "that with substeps of 0.125 ms, over that of 1 ms", 0.4,
                   angular[1] / angular[0]);
    mf_check_below(run, "rise of the energy in a step, substeps of 0.125 ms, over itself", 1e-12,
                   rise[1]);
    mf_check_below(run, "rise with substeps of 1 ms, which do not resolve the stretch", 0.1,
                   rise[0]);
}

const mf_CheckCase mf_check_cloth_cases[] = {
    {"I7", "a strip of cloth bends over an edge like the heavy elastica", check_strip},
    {"I8", "a hanging cloth pulls with its weight", check_weight},
    {"I8-catenary", "a sheet pinned at two sides is a catenary", check_catenary},
    {"I15", "a cloth falls by z + v t - g t^2 / 2", check_fall},
    {"I16", "a crumpling cloth keeps its momentum and gains no energy", check_flight},
    {NULL, NULL, NULL}};
