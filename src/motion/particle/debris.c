// The row of `debris` in the motion table: settings, and the constants of the kernel that follow
// from them. The rest is in particles.c; rows of values are sorted as those of grains.
#include "base/hash.h"
#include "base/plain.h"
#include "math/kernel_table.h"
#include "motion/particle/motion.h"

#include <math.h>

static const double overlap = 0.1; // [1] of the diameter, above it a warning is raised

static const mf_WarningWords squeezed = {
    "", "debris was inside of the ground or of a robot by more than 10 % of its diameter",
    "a smaller step"};

static mf_Status check(const mf_DebrisConfig *config, mf_Error *error) {
    const mf_Range ranges[] = {
        {"restitution", "", config->restitution, 0.0, 1.0},
        {"friction", "", config->friction, 0.0, 100.0},
        {"rolling", "", config->rolling, 0.0, 10.0},
    };
    if (config->struct_size != sizeof *config ||
        (config->emitters == NULL && config->emitter_count > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "debris: start from mf_motions_config()");
    return mf_ranges_check("debris", ranges, sizeof ranges / sizeof *ranges, error);
}

static mf_ParticleDraft draft_of(const mf_DebrisConfig *config, double mass, double radius) {
    const mf_ParticlePlan plan = {.mass = mass,
                                  .spacing = 2.0 * radius,
                                  .reach =
                                      4.0 * radius, // of what a piece may touch in a part of a step
                                  .damping = config->restitution,
                                  .wall_friction = config->friction,
                                  .rolling = config->rolling,
                                  .inertia = 0.4 * mass * radius * radius,
                                  .overlap = overlap};
    return (mf_ParticleDraft){.plan = plan,
                              .longest = (double)INFINITY,
                              .emitters = config->emitters,
                              .emitter_count = config->emitter_count,
                              .placed = config->placed};
}

static uint64_t hash_debris(const void *plan) {
    const mf_DebrisConfig *config = &((const mf_Particles *)plan)->config.debris;
    const double reals[] = {config->restitution, config->friction, config->rolling};
    const uint64_t hash = mf_hash_doubles(MF_HASH_START, reals, sizeof reals / sizeof *reals);
    return mf_emitters_hash(hash, plan);
}

static mf_Status make_debris(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                             mf_Error *error) {
    mf_Particles *all = *plan;
    const mf_DebrisConfig *config = &motions->debris;
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    double mass, radius;
    MF_TRY(check(config, error));
    MF_TRY(mf_particles_model(group, "debris", &mass, &radius, error));
    const mf_ParticleDraft draft = draft_of(config, mass, radius);
    MF_TRY(mf_particles_make(all, group, &mf_debris_row, &draft, error));
    all->config.debris = *config;
    all->config.debris.emitters = NULL;
    MF_KERNEL_CHOOSE_WIDE(all->step, mf_debris_step, pick);
    MF_KERNEL_CHOOSE_WIDE(all->gather, mf_grains_gather, pick);
    mf_attach_warning_words(group, MF_WARNING_SOLVER, &squeezed);
    return MF_OK;
}

// ---- the row in the motion table ----------------------------------------------------------------

static const char *const reads[] = {"particle.waiting", NULL};
static const char *const writes[] = {
    "base.position",    "base.linear_velocity", "base.angular_velocity",
    "particle.waiting", "fault.word",           "warning.word",
    "warning.steps",    "warning.residual",     NULL};

static void row_defaults(mf_MotionsConfig *config) {
    config->debris = (mf_DebrisConfig){.struct_size = sizeof(mf_DebrisConfig),
                                       .restitution = 0.5,
                                       .friction = 0.5,
                                       .rolling = 0.1,
                                       .placed = MF_NONE};
}

#define AT(member) offsetof(mf_MotionsConfig, debris.member)

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.debris", "spheres that collide with the ground and robots, but not with each other"),
    MF_KEY("motion.debris.restitution", MF_KEY_REAL, 0, "1", "0.5", 0, 1, NULL, AT(restitution),
           "of an impact"),
    MF_KEY("motion.debris.friction", MF_KEY_REAL, 0, "1", "0.5", 0, 100, NULL, AT(friction),
           "with the ground; other shapes have their own"),
    MF_KEY("motion.debris.rolling", MF_KEY_REAL, 0, "1", "0.1", 0, 10, NULL, AT(rolling),
           "resistance to rolling: largest torque over load times radius"),
    MF_KEY_LISTED("motion.debris.emitters", 0, &mf_emitter_table, AT(emitters),
                  "nozzles from which debris comes that `placement` leaves over, each with the keys "
                  "below"),
};
// clang-format on

const mf_MotionRow mf_debris_row = {
    MF_PARTICLE_ROW(debris),
    .motion = MF_MOTION_DEBRIS,
    .energy = mf_particles_energy,
};
