// Check cases of grains in a fluid: buoyancy and drag. docs/explanation/particles.md has the law.
#include <math.h>

#include "check_particles_rig.h"

static const double spacing = 0.02, radius = 0.008; // [m] of the fluid, of grains
static const double viscosity = 1e-3;               // [m^2/s]
enum { WIDE = 10, TALL = 14, GRAINS = 4, FLUID = WIDE * WIDE * TALL };

typedef struct Mixture {
    mf_ParticleRig rig; // the fluid in its tank
    mf_Group *grains;
} Mixture;

// 0.28 m of a fluid in a tank, and grains.
static void open_mixture(Mixture *all, mf_CheckRun *run, double density) {
    const double low[3] = {0.0, 0.0, 1.0}, high[3] = {WIDE * spacing, WIDE * spacing, 1.5};
    static const uint32_t size[3] = {WIDE, WIDE, TALL};
    const double pi = 3.14159265358979;
    const double mass = density * 4.0 / 3.0 * pi * radius * radius * radius;
    mf_MotionsConfig motion = mf_motions_config();
    mf_particle_rig_world(&all->rig, run, 5e-4, 9.81, 0.0);
    mf_particle_rig_tank(&all->rig, low, high);
    mf_particle_rig_particles(&all->rig, FLUID, 1000.0 * pow(spacing, 3.0), 0.5 * spacing);
    motion.fluid.viscosity = viscosity;
    motion.grains.stiffness = 100.0; // [N/m] soft, for long steps: they do not touch
    mf_check_must(run, mf_motion_add(all->rig.group, MF_MOTION_FLUID, &motion, &run->error));
    mf_particle_rig_fill(&all->rig, low, size, spacing);
    all->grains = mf_particle_rig_spheres(run, "grains", GRAINS, mass, radius);
    mf_check_must(run, mf_motion_add(all->grains, MF_MOTION_GRAINS, &motion, &run->error));
    mf_check_must(run, mf_particles_couple(run->rig.world, &run->error));
}

static void hold(Mixture *all, double height) {
    mf_Field *position = mf_group_find_field(all->grains, "base.position");
    mf_Field *velocity = mf_group_find_field(all->grains, "base.linear_velocity");
    for (uint32_t i = 0; i < GRAINS; i++) {
        const double at[3] = {i % 2 == 0 ? 0.06 : 0.14, i / 2 == 0 ? 0.06 : 0.14, height};
        for (uint32_t c = 0; c < 3; c++) {
            mf_field_set(position, i, c, at[c]);
            mf_field_set(velocity, i, c, 0.0);
        }
    }
}

// [m/s] Upward against the fluid within its reach, mean of all grains.
static double mean_speed(const Mixture *all) {
    const mf_Field *position = mf_group_find_field(all->grains, "base.position");
    const mf_Field *velocity = mf_group_find_field(all->grains, "base.linear_velocity");
    double sum = 0.0;
    for (uint32_t i = 0; i < GRAINS; i++) {
        double fluid = 0.0, near = 0.0;
        for (uint32_t k = 0; k < FLUID; k++) {
            double square = 0.0;
            for (uint32_t c = 0; c < 3; c++)
                square +=
                    pow(mf_field_get(all->rig.position, k, c) - mf_field_get(position, i, c), 2.0);
            if (square > 4.0 * spacing * spacing)
                continue;
            fluid += mf_field_get(all->rig.velocity, k, 2);
            near += 1.0;
        }
        sum += (mf_field_get(velocity, i, 2) - fluid / near) / GRAINS;
    }
    return sum;
}

// [m/s] Of a sphere alone in a still fluid: weight less buoyancy is Dallavalle's drag.
static double sinking(double density) {
    const double d = 2.0 * radius, pull = 4.0 / 3.0 * d * (density / 1000.0 - 1.0) * 9.81;
    double speed = 1.0;
    for (int k = 0; k < 200; k++)
        speed = sqrt(pull) / (0.63 + 4.8 / sqrt(speed * d / viscosity));
    return speed;
}

// The fluid settles for 0.2 s around the grains; then they move freely. Their speed is the mean of
// 0.1 s, after 0.15 s.
static double let_go(mf_CheckRun *run, double density) {
    Mixture all;
    double speed = 0.0;
    open_mixture(&all, run, density);
    for (int k = 0; k < 400; k++) {
        hold(&all, 1.14);
        mf_rig_step(run, 1);
    }
    mf_rig_step(run, 300);
    for (int k = 0; k < 20; k++) {
        mf_rig_step(run, 10);
        speed += mean_speed(&all) / 20.0;
    }
    return speed;
}

static void check_grains_in_fluid(mf_CheckRun *run) {
    mf_check_near(run, "speed of grains as dense as the fluid [m/s]", 0.0, let_go(run, 1000.0),
                  0.005);
    mf_check_near(run, "rise of light grains over Dallavalle's sphere", 1.0,
                  let_go(run, 500.0) / sinking(1500.0), 0.1);
    mf_check_near(run, "sinking of heavy ones over it", 1.0, -let_go(run, 2500.0) / sinking(2500.0),
                  0.1);
}

const mf_CheckCase mf_check_mixtures_cases[] = {
    {"I17", "grains in a fluid hover, rise and sink by their weight and drag",
     check_grains_in_fluid},
    {NULL, NULL, NULL}};
