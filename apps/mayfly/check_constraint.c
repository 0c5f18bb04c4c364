// Check cases of MuJoCo's constraint law, the default of MJCF files: stacks of boxes of like and
// unlike masses stand, a tall box on a slope slides, and the solver always converges.
#include <math.h>
#include <stdio.h>

#include "check.h"

enum { MOST_BOXES = 10, MOST_TEXT = 4000 };

typedef struct Pile {
    const char *name, *impedance; // solimp
    uint32_t count;
    double masses[MOST_BOXES]; // [kg] from below
    mf_Time step;
} Pile;

static void open_pile(mf_CheckRun *run, const Pile *pile) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, pile->step);
    mf_RigText text = {.used = 0};
    mf_rig_text_add(&text,
                    "<mujoco><default><geom solimp='%s'/></default><worldbody>"
                    "<geom type='plane' size='1 1 1'/>",
                    pile->impedance);
    for (uint32_t i = 0; i < pile->count; i++)
        mf_rig_text_add(&text,
                        "<body pos='0 0 %.17g'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
                        "mass='%.17g'/></body>",
                        0.1 + 0.2 * i, pile->masses[i]);
    mf_rig_text_add(&text, "</worldbody></mujoco>");
    config.motions.articulated.shapes = true;
    config.motions.articulated.contact_law = MF_CONTACT_LAW_AS_MODEL;
    mf_rig_open_text(run, text.text, &config);
}

// After 5 s to settle, 10 s: nothing moves, and every step converged.
static void stand(mf_CheckRun *run, const Pile *pile) {
    double before[3 * MOST_BOXES], drift = 0.0;
    const uint32_t second = (uint32_t)(MF_SECOND / pile->step);
    open_pile(run, pile);
    mf_rig_step(run, 5 * second);
    for (uint32_t i = 0; i < 3 * pile->count; i++)
        before[i] = mf_rig_get(run, "free.position", i);
    for (int s = 0; s < 10; s++) {
        mf_rig_step(run, second);
        for (uint32_t i = 0; i < 3 * pile->count; i++)
            drift = mf_check_worse(drift, fabs(mf_rig_get(run, "free.position", i) - before[i]));
    }
    mf_check_variant(run, "%s", pile->name);
    mf_check_below(run, "drift in 10 s [m]", 1e-4, drift);
    mf_check_below(run, "steps that did not converge", 0.5, mf_group_warning_total(run->rig.group));
}

static void check_piles(mf_CheckRun *run) {
    // With MuJoCo's default softness a light box below a heavy one sinks into the ground, also in
    // MuJoCo.
    const char *const hard = ".99 .9999 .001";
    const Pile piles[] = {
        {"ten boxes", ".9 .95 .001", 10, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 5 * MF_MILLISECOND},
        {"1000 kg on 1 kg", hard, 2, {1, 1000}, 5 * MF_MILLISECOND},
        {"1, 10, 100, 1000, 1 kg", hard, 5, {1, 10, 100, 1000, 1}, 5 * MF_MILLISECOND},
    };

    for (size_t i = 0; i < sizeof piles / sizeof *piles; i++)
        stand(run, &piles[i]);
}

static void open_slope(mf_CheckRun *run, const char *option, double height) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
    char text[MOST_TEXT];
    config.motions.articulated.shapes = true;
    config.motions.articulated.contact_law = MF_CONTACT_LAW_AS_MODEL;
    mf_rig_tilt(&config, 20.0 * MF_CHECK_DEGREE);
    snprintf(text, sizeof text,
             "<mujoco><option %s/><default><geom friction='.25'/></default><worldbody>"
             "<geom type='plane' size='9 9 1'/><body pos='0 0 %g'><freejoint/>"
             "<geom type='box' size='.05 .05 %g'/></body></worldbody></mujoco>",
             option, height, height);
    mf_rig_open_text(run, text, &config);
}

// Boxes on a slope of 20 degrees with friction 0.25, below its tangent. A low one slides as in
// MuJoCo 4.0, by 1.8 % slower than g (sin - mu cos) = 1.0506. A tall one rocks as it slides; every
// step of it converges.
static void check_slope(mf_CheckRun *run) {
    double residual = 0.0;
    open_slope(run, "cone='elliptic' impratio='100'", 0.01);
    mf_rig_step(run, 250);
    const double before = mf_rig_get(run, "base.linear_velocity", 0);
    mf_rig_step(run, 250);
    const double gain = (mf_rig_get(run, "base.linear_velocity", 0) - before) / 0.5;
    mf_check_near(run, "acceleration of a low box [m/s^2]", 1.0315533, gain, 1e-6);
    open_slope(run, "cone='pyramidal'", 0.15);
    for (int i = 0; i < 500; i++) {
        mf_rig_step(run, 1);
        residual = mf_check_worse(residual, mf_rig_get(run, "solver.residual", 0));
    }
    mf_check_below(run, "largest residual of a tall box [1]", 1e-9, residual);
    mf_check_below(run, "steps that did not converge", 0.5, mf_group_warning_total(run->rig.group));
}

const mf_CheckCase mf_check_constraint_cases[] = {
    {"D14", "piles of equal and unequal masses at rest under MuJoCo's law", check_piles},
    {"D15", "boxes slide down a slope under MuJoCo's law", check_slope},
    {NULL, NULL, NULL}};
