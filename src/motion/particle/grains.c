// The row of `grains` in the motion table: settings, and the constants of the kernel that follow
// from them. The rest is in particles.c.
#include "base/hash.h"
#include "base/plain.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "motion/particle/motion.h"

static const double part = 0.08;    // [1] step over the duration of an impact
static const double overlap = 0.05; // [1] of the diameter, above it a warning is raised
static const double column = 100.0; // [1] grains whose weight the default stiffness is made for
static const double pressed = 0.01; // [1] of the diameter, what that weight does
static const double tangential = 2.0 / 7.0; // [1] of the stiffness: both oscillate alike

static const mf_FieldInfo fields[] = {
    {"contact.partner", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "of each contact the other grain + 1; 2^31: the ground; 2^31 + 1 + i: solid i; 0: none"},
    {"contact.slip", "m", "world", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE,
     "elastic displacement of each contact along its surface"},
};

static const mf_WarningWords pressed_together = {
    "", "grains overlapped each other or a wall by more than 5 % of their diameter",
    "a larger stiffness"};
static const mf_WarningWords crowded = {"",
                                        "a grain had more than 16 contacts, and some were dropped",
                                        "a larger stiffness, fewer overlapping solids"};

static mf_Status check(const mf_GrainsConfig *config, mf_Error *error) {
    const mf_Range ranges[] = {
        {"stiffness", "N/m", config->stiffness, 0.0, 1e12},
        {"restitution", "", config->restitution, 0.05, 1.0},
        {"friction", "", config->friction, 0.0, 100.0},
        {"wall_friction", "", config->wall_friction, 0.0, 100.0},
        {"rolling", "", config->rolling, 0.0, 10.0},
    };
    if (config->struct_size != sizeof *config ||
        (config->emitters == NULL && config->emitter_count > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "grains: start from mf_motions_config()");
    return mf_ranges_check("grains", ranges, sizeof ranges / sizeof *ranges, error);
}

// Restitution of a spring and a damper of ratio z whose force does not pull (Schwager and Poeschel
// 2007, equation 12).
static double restitution_of(double z) {
    const double w = mf_sqrt(1.0 - z * z);
    return mf_exp(-z / w * (MF_PI - mf_atan2(2.0 * z * w, w * w - z * z)));
}

// The ratio for a restitution, by bisection.
static double ratio_of(double restitution) {
    double low = 0.0, high = 0.999999;
    for (int k = 0; k < 60; k++) {
        const double z = 0.5 * (low + high);
        if (restitution_of(z) > restitution)
            low = z;
        else
            high = z;
    }
    return 0.5 * (low + high);
}

// Two grains that meet move half of the mass.
static mf_ParticleDraft draft_of(const mf_GrainsConfig *config, double mass, double radius,
                                 double gravity) {
    const double weight = mass * (gravity > 0.0 ? gravity : 9.81), reduced = 0.5 * mass;
    const double ratio = ratio_of(config->restitution);
    mf_ParticlePlan plan = {.mass = mass, .spacing = 2.0 * radius, .reach = 2.0 * radius};
    plan.stiffness =
        config->stiffness > 0.0 ? config->stiffness : column * weight / (pressed * plan.spacing);
    plan.damping = 2.0 * ratio * mf_sqrt(plan.stiffness * reduced);
    plan.sliding_stiffness = tangential * plan.stiffness;
    plan.sliding_damping = tangential * plan.damping;
    plan.friction = config->friction;
    plan.wall_friction = config->wall_friction;
    plan.rolling = config->rolling;
    plan.inertia = 0.4 * mass * radius * radius;
    plan.overlap = overlap;
    return (mf_ParticleDraft){.plan = plan,
                              .longest = part * MF_PI * mf_sqrt(reduced / plan.stiffness),
                              .emitters = config->emitters,
                              .emitter_count = config->emitter_count,
                              .placed = config->placed};
}

static uint64_t hash_grains(const void *plan) {
    const mf_GrainsConfig *config = &((const mf_Particles *)plan)->config.grains;
    const double reals[] = {config->stiffness, config->restitution, config->friction,
                            config->wall_friction, config->rolling};
    const uint64_t hash = mf_hash_doubles(MF_HASH_START, reals, sizeof reals / sizeof *reals);
    return mf_emitters_hash(hash, plan);
}

static mf_Status make_grains(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                             mf_Error *error) {
    mf_Particles *all = *plan;
    const mf_GrainsConfig *config = &motions->grains;
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    double mass, radius;
    MF_TRY(check(config, error));
    MF_TRY(mf_particles_model(group, "grains", &mass, &radius, error));
    const mf_ParticleDraft draft =
        draft_of(config, mass, radius, mf_world_config_of(mf_group_world(group))->gravity);
    MF_TRY(mf_particles_make(all, group, &mf_grains_row, &draft, error));
    all->config.grains = *config;
    all->config.grains.emitters = NULL;
    MF_KERNEL_CHOOSE_WIDE(all->step, mf_grains_step, pick);
    MF_KERNEL_CHOOSE_WIDE(all->gather, mf_grains_gather, pick);
    mf_attach_warning_words(group, MF_WARNING_SOLVER, &pressed_together);
    mf_attach_warning_words(group, MF_WARNING_CONTACTS, &crowded);
    MF_TRY(mf_attach_field(group, &fields[0], MF_GRAIN_CONTACTS, &all->contact_with, error));
    return mf_attach_field(group, &fields[1], MF_GRAIN_CONTACTS, &all->contact_slip, error);
}

// ---- the row in the motion table ----------------------------------------------------------------

static const char *const reads[] = {"particle.waiting", NULL};
static const char *const writes[] = {"base.position",
                                     "base.linear_velocity",
                                     "base.angular_velocity",
                                     "contact.partner",
                                     "contact.slip",
                                     "particle.waiting",
                                     "fault.word",
                                     "warning.word",
                                     "warning.steps",
                                     "warning.residual",
                                     NULL};

static void row_defaults(mf_MotionsConfig *config) {
    config->grains = (mf_GrainsConfig){.struct_size = sizeof(mf_GrainsConfig),
                                       .restitution = 0.5,
                                       .friction = 0.5,
                                       .wall_friction = 0.5,
                                       .placed = MF_NONE};
}

#define AT(member) offsetof(mf_MotionsConfig, grains.member)

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.grains", "dry grains with friction; the model's sphere is one"),
    MF_KEY("motion.grains.stiffness", MF_KEY_REAL, 0, "N/m", "0", 0, 1e12, NULL, AT(stiffness),
           "of a contact; 0: a column of 100 grains presses the lowest ones 1 % of the diameter "
           "together"),
    MF_KEY("motion.grains.restitution", MF_KEY_REAL, 0, "1", "0.5", 0.05, 1, NULL, AT(restitution),
           "of an impact of two grains"),
    MF_KEY("motion.grains.friction", MF_KEY_REAL, 0, "1", "0.5", 0, 100, NULL, AT(friction),
           "between grains"),
    MF_KEY("motion.grains.wall_friction", MF_KEY_REAL, 0, "1", "0.5", 0, 100, NULL,
           AT(wall_friction), "with the ground; other shapes have their own"),
    MF_KEY("motion.grains.rolling", MF_KEY_REAL, 0, "1", "0", 0, 10, NULL, AT(rolling),
           "resistance to rolling: largest torque over load times radius"),
    MF_KEY_LISTED("motion.grains.emitters", 0, &mf_emitter_table, AT(emitters),
                  "nozzles from which grains come that `placement` leaves over, each with the keys "
                  "below"),
};
// clang-format on

const mf_MotionRow mf_grains_row = {
    MF_PARTICLE_ROW(grains), .motion = MF_MOTION_GRAINS,
    .energy = mf_particles_energy, // without springs of contacts, which belong to pairs
};
