// Check cases of grains in a fluid: buoyancy and drag. docs/explanation/particles.md has the law.
#include <math.h>

#include "check_particles_rig.h"

static const double spacing = 0.02, radius = 0.008; // [m] of the fluid, of grains
static const double viscosity = 1e-3;               // [m^2/s]
enum { WIDE = 10, TALL = 14, GRAINS = 4, FLUID = WIDE * WIDE * TALL };

typedef struct Mixture {
    mf_ParticleRig rig; // the fluid in its tank
    mf_Model *model;    // of the grains
    mf_Group *grains;
} Mixture;

static void add_grains(mf_CheckRun *run, Mixture *all, double density) {
    static const double origin[3] = {0.0, 0.0, 0.0}, pi = 3.14159265358979;
    const double mass = density * 4.0 / 3.0 * pi * radius * radius * radius;
    mf_GroupConfig config = mf_group_config();
    mf_MotionsConfig motion = mf_motions_config();
    mf_Builder *builder;
    mf_check_must(run, mf_builder_create(run->context, "grain", &builder, &run->error));
    mf_body_create_sphere(builder, origin, radius, mass, NULL);
    mf_check_must(run, mf_builder_finalize(builder, &all->model, &run->error));
    mf_builder_destroy(builder);
    config.name = "grains";
    config.model = all->model;
    config.count = GRAINS;
    config.isolated = false;
    config.double_precision = true;
    mf_check_must(run, mf_world_add_group(all->rig.world, &config, &all->grains, &run->error));
    motion.grains.stiffness = 100.0; // [N/m] soft, for long steps: they do not touch
    mf_check_must(run, mf_motion_add(all->grains, MF_MOTION_GRAINS, &motion, &run->error));
}

// 0.28 m of a fluid in a tank, and grains.
static void open_mixture(Mixture *all, mf_CheckRun *run, double density) {
    const double low[3] = {0.0, 0.0, 1.0}, high[3] = {WIDE * spacing, WIDE * spacing, 1.5};
    static const uint32_t size[3] = {WIDE, WIDE, TALL};
    mf_MotionsConfig motion = mf_motions_config();
    *all = (Mixture){.model = NULL};
    mf_particle_rig_world(&all->rig, run, 5e-4, 9.81, 0.0);
    mf_particle_rig_tank(run, &all->rig, low, high);
    mf_particle_rig_particles(run, &all->rig, FLUID, 1000.0 * pow(spacing, 3.0), 0.5 * spacing);
    motion.fluid.viscosity = viscosity;
    mf_check_must(run, mf_motion_add(all->rig.group, MF_MOTION_FLUID, &motion, &run->error));
    mf_particle_rig_fill(run, &all->rig, low, size, spacing);
    add_grains(run, all, density);
    mf_check_must(run, mf_particles_couple(all->rig.world, &run->error));
}

static void close_mixture(Mixture *all) {
    mf_particle_rig_close(&all->rig);
    mf_model_destroy(all->model);
}

static void set3(mf_Group *group, const char *field, uint32_t i, double x, double y, double z) {
    mf_Field *row = mf_group_find_field(group, field);
    mf_field_set(row, i, 0, x);
    mf_field_set(row, i, 1, y);
    mf_field_set(row, i, 2, z);
}

static void hold(Mixture *all, double height) {
    for (uint32_t i = 0; i < GRAINS; i++) {
        set3(all->grains, "base.position", i, i % 2 == 0 ? 0.06 : 0.14, i / 2 == 0 ? 0.06 : 0.14,
             height);
        set3(all->grains, "base.linear_velocity", i, 0.0, 0.0, 0.0);
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
                    pow(mf_particle_rig_get(all->rig.position, k, c) - mf_field_get(position, i, c),
                        2.0);
            if (square > 4.0 * spacing * spacing)
                continue;
            fluid += mf_particle_rig_get(all->rig.velocity, k, 2);
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
static void let_go(mf_CheckRun *run, double density, double *speed) {
    Mixture all;
    open_mixture(&all, run, density);
    *speed = 0.0;
    for (int k = 0; k < 400; k++) {
        hold(&all, 1.14);
        mf_world_step(all.rig.world, 1);
    }
    mf_world_step(all.rig.world, 300);
    for (int k = 0; k < 20; k++) {
        mf_world_step(all.rig.world, 10);
        *speed += mean_speed(&all) / 20.0;
    }
    close_mixture(&all);
}

static void check_grains_in_fluid(mf_CheckRun *run) {
    double speed;
    let_go(run, 1000.0, &speed);
    mf_check_near(run, "speed of grains as dense as the fluid [m/s]", 0.0, speed, 0.005);
    let_go(run, 500.0, &speed);
    mf_check_near(run, "rise of light grains over Dallavalle's sphere", 1.0,
                  speed / sinking(1500.0), 0.1);
    let_go(run, 2500.0, &speed);
    mf_check_near(run, "sinking of heavy ones over it", 1.0, -speed / sinking(2500.0), 0.1);
}

const mf_CheckCase mf_check_mixtures_cases[] = {
    {"I17", "grains in a fluid hover, rise and sink by their weight and drag",
     check_grains_in_fluid},
    {NULL, NULL, NULL}};
