// The row of `fluid` in the motion table: settings, and the constants of the kernel that follow
// from them. The rest is in particles.c.
#include "base/hash.h"
#include "base/plain.h"
#include "math/kernel_table.h"
#include "motion/particle/motion.h"

// [1] Longest step in units of the time in which sound covers the spacing. The rule of the pressure
// (docs/explanation/particles.md) is stable up to 0.45 of the highest frequency, about 1.2 of that.
static const double courant = 0.3;
static const double ahead = 1.5;        // [1] steps for which the pressure is extrapolated
static const double compression = 0.05; // [1] above it a warning is raised
static const double follow = 10.0;      // [1/s] of the pressure to the density

static const mf_FieldInfo fields[] = {
    {"particle.pressure", "Pa", "", MF_REAL, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
     "pressure; below 0 where the particles are less dense than at rest"},
    {"particle.pressure_rate", "Pa/s", "", MF_REAL, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
     "its rate in the last step"},
};

static const mf_WarningWords squeezed = {
    "", "the fluid was compressed, or was inside of a wall in spacings, by more than 5 %",
    "a larger sound_speed, thicker walls"};

static mf_Status check(const mf_FluidConfig *config, mf_Error *error) {
    const mf_Range ranges[] = {
        {"density", "kg/m^3", config->density, 1e-3, 1e6},
        {"sound_speed", "m/s", config->sound_speed, 1e-3, 1e5},
        {"viscosity", "m^2/s", config->viscosity, 0.0, 1e6},
        {"artificial_viscosity", "", config->artificial_viscosity, 0.0, 10.0},
        {"reach", "", config->reach, 1.8, 4.0},
        {"diffusion", "", config->diffusion, 0.0, 0.5},
    };
    if (config->struct_size != sizeof *config ||
        (config->emitters == NULL && config->emitter_count > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "fluid: start from mf_motions_config()");
    return mf_ranges_check("fluid", ranges, sizeof ranges / sizeof *ranges, error);
}

// By Newton's method, which takes a step per factor of 3/2 from 1, and then a few.
static double cube_root(double value) {
    double root = 1.0;
    for (int k = 0; k < 200; k++)
        root = (2.0 * root + value / (root * root)) / 3.0;
    return root;
}

// The explicit steps of viscosity and diffusion are stable up to a quarter of R^2 / 14 nu.
static mf_ParticleDraft draft_of(const mf_FluidConfig *config, double mass) {
    mf_ParticlePlan plan = {.mass = mass, .density = config->density};
    plan.volume = mass / config->density;
    plan.spacing = cube_root(plan.volume);
    plan.reach = config->reach * plan.spacing;
    plan.bulk = config->density * config->sound_speed * config->sound_speed;
    mf_fluid_shape_fit(&plan.shape, plan.spacing, plan.reach);
    plan.follow = follow;
    plan.wall_viscosity = config->viscosity;
    plan.viscosity =
        config->viscosity + config->artificial_viscosity * config->sound_speed * plan.reach / 20.0;
    // Without any, the kernel, which divides by it, has so little that nothing is seen of it.
    plan.viscosity += 1e-9 * config->sound_speed * plan.reach;
    plan.diffusion = 0.5 * config->diffusion * config->sound_speed * plan.reach;
    plan.tension = 0.0;
    plan.compression = compression;
    const double sound = courant * plan.spacing / config->sound_speed;
    const double flow = plan.viscosity > plan.diffusion ? plan.viscosity : plan.diffusion;
    const double spread = plan.reach * plan.reach / (56.0 * flow + 1e-300);
    return (mf_ParticleDraft){.plan = plan,
                              .longest = sound < spread ? sound : spread,
                              .ahead = ahead,
                              .emitters = config->emitters,
                              .emitter_count = config->emitter_count,
                              .placed = config->placed};
}

static uint64_t hash_fluid(const void *plan) {
    const mf_FluidConfig *config = &((const mf_Particles *)plan)->config.fluid;
    const double reals[] = {config->density,   config->sound_speed,
                            config->viscosity, config->artificial_viscosity,
                            config->reach,     config->diffusion};
    const uint64_t hash = mf_hash_doubles(MF_HASH_START, reals, sizeof reals / sizeof *reals);
    return mf_emitters_hash(hash, plan);
}

static mf_Status make_fluid(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                            mf_Error *error) {
    mf_Particles *all = *plan;
    const mf_FluidConfig *config = &motions->fluid;
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    double mass, radius;
    MF_TRY(check(config, error));
    MF_TRY(mf_particles_model(group, "fluid", &mass, &radius, error));
    const mf_ParticleDraft draft = draft_of(config, mass);
    MF_TRY(mf_particles_make(all, group, &mf_fluid_row, &draft, error));
    all->config.fluid = *config;
    all->config.fluid.emitters = NULL;
    MF_KERNEL_CHOOSE_WIDE(all->step, mf_fluid_step, pick);
    MF_KERNEL_CHOOSE_WIDE(all->gather, mf_fluid_gather, pick);
    mf_attach_warning_words(group, MF_WARNING_SOLVER, &squeezed);
    MF_TRY(mf_attach_field(group, &fields[0], 0, &all->pressure, error));
    return mf_attach_field(group, &fields[1], 0, &all->pressure_rate, error);
}

// ---- the row in the motion table ----------------------------------------------------------------

// Compressed, it holds V p^2 / (2 rho c^2).
static mf_MotionEnergy row_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    const mf_Particles *all = plan;
    mf_MotionEnergy energy = mf_particles_energy(group, plan, instance);
    const double pressure = mf_field_get(all->pressure, instance, 0);
    energy.elastic = 0.5 * all->plan.volume * pressure * pressure / all->plan.bulk;
    return energy;
}

static const char *const reads[] = {"particle.waiting", NULL};
static const char *const writes[] = {"base.position",     "base.linear_velocity",
                                     "particle.pressure", "particle.pressure_rate",
                                     "particle.waiting",  "fault.word",
                                     "warning.word",      "warning.steps",
                                     "warning.residual",  NULL};

static void row_defaults(mf_MotionsConfig *config) {
    config->fluid = (mf_FluidConfig){.struct_size = sizeof(mf_FluidConfig),
                                     .density = 1000.0,
                                     .sound_speed = 20.0,
                                     .viscosity = 1e-6,
                                     .artificial_viscosity = 0.02,
                                     .reach = 2.0,
                                     .diffusion = 0.1,
                                     .placed = MF_NONE};
}

#define AT(member) offsetof(mf_MotionsConfig, fluid.member)

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.fluid", "particles of a fluid; the model's mass is that of one"),
    MF_KEY("motion.fluid.density", MF_KEY_REAL, MF_KEY_ABOVE, "kg/m^3", "1000", 0, 1e6, NULL,
           AT(density), "at rest; with the mass it gives the spacing of the particles"),
    MF_KEY("motion.fluid.sound_speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "20", 0, 1e5, NULL,
           AT(sound_speed), "at least ten times the fastest flow and sqrt(g depth); steps are as "
                            "much shorter as it is larger"),
    MF_KEY("motion.fluid.viscosity", MF_KEY_REAL, 0, "m^2/s", "1e-06", 0, 1e6, NULL, AT(viscosity),
           "kinematic viscosity"),
    MF_KEY("motion.fluid.artificial_viscosity", MF_KEY_REAL, 0, "1", "0.02", 0, 10, NULL,
           AT(artificial_viscosity), "alpha of Monaghan: further viscosity between particles, in "
                                     "proportion to the speed of sound and the spacing"),
    MF_KEY("motion.fluid.reach", MF_KEY_REAL, 0, "1", "2", 1.8, 4, NULL, AT(reach),
           "radius within which particles act on each other, over their spacing"),
    MF_KEY("motion.fluid.diffusion", MF_KEY_REAL, 0, "1", "0.1", 0, 0.5, NULL, AT(diffusion),
           "of density, which smooths the pressure"),
    MF_KEY_LISTED("motion.fluid.emitters", 0, &mf_emitter_table, AT(emitters),
                  "nozzles from which particles come that `placement` leaves over, each with the keys "
                  "below"),
};
// clang-format on

const mf_MotionRow mf_fluid_row = {
    MF_PARTICLE_ROW(fluid),
    .motion = MF_MOTION_FLUID,
    .energy = row_energy,
};
