// The row of `quasistatic` in the motion table: trusses without inertia. The rest is shared with
// `elastic` (truss.c).
#include "motion/truss/motion.h"
#include "base/floats.h"

static mf_QuasistaticConfig default_config(void) {
    return (mf_QuasistaticConfig){.struct_size = sizeof(mf_QuasistaticConfig),
                                  .contacts = true,
                                  .collisions = true,
                                  .samples = 3,
                                  .friction = 0.5,
                                  .stiffness = 1e5,
                                  .grip = 1e4,
                                  .strengthening = 2.0,
                                  .actuator_speed = 0.1,
                                  .tolerance = 1e-6,
                                  .iterations = 500,
                                  .reach = 0.02,
                                  .jump = 0.05};
}

static mf_Status add_motion(mf_Group *group, const mf_MotionsConfig *motions, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    return mf_truss_motion_add(group, &mf_quasistatic_row, &motions->quasistatic, error);
}

const mf_QuasistaticConfig *mf_quasistatic_config_of(const mf_Group *group) {
    const mf_TrussMotion *motion = mf_motion_plan(group, &mf_quasistatic_row);
    return motion != NULL ? &motion->config : NULL;
}

// Frames have no velocity.
static mf_MotionEnergy row_energy(const mf_Group *group, uint32_t instance) {
    return mf_truss_motion_energy(mf_motion_plan(group, &mf_quasistatic_row), instance);
}

// No momentum; the center is the base's origin.
static void truss_momentum(const mf_Group *group, uint32_t instance, double center[3],
                           double linear[3], double angular[3]) {
    const mf_Field *position = mf_group_find_field((mf_Group *)(uintptr_t)group, "base.position");
    for (uint32_t c = 0; c < 3; c++) {
        center[c] = mf_field_get(position, instance, c);
        linear[c] = angular[c] = 0.0;
    }
}

static void row_defaults(mf_MotionsConfig *config) {
    config->quasistatic = default_config();
}

static const char *const methods[] = {"newton", "gradient", NULL};

#define AT(member) offsetof(mf_MotionsConfig, quasistatic.member)

static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.quasistatic", "trusses: each step is the nearest minimum of the energy"),
    MF_TRUSS_KEYS("motion.quasistatic", quasistatic),
    MF_TRUSS_KEY("motion.quasistatic", quasistatic, strengthening, MF_KEY_REAL, 0, "1/m", "2", 0,
                 1e6,
                 "increase of friction with the slip of a step, so that equal feet that push "
                 "against each other all slip"),
    MF_KEY("motion.quasistatic.method", MF_KEY_CHOICE, 0, "", "newton", 0, 0, methods, AT(method),
           "method of minimization; `gradient`, steepest descent, is for comparisons"),
    MF_KEY("motion.quasistatic.jump", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.05", 0, 1e6, NULL,
           AT(jump), "a longer movement in a frame raises a warning"),
};

const mf_MotionRow mf_quasistatic_row = {
    .name = "quasistatic",
    .motion = MF_MOTION_QUASISTATIC,
    .limitation = "momentum: swings, vibrations, impacts, falls take no time",
    .body = "truss",
    .switches = true,
    .look = MF_TRUSS_LOOK,
    .enter = mf_truss_motion_enter,
    .add = add_motion,
    .run = mf_truss_motion_run,
    .reset = mf_truss_motion_reset,
    .destroy = mf_truss_motion_destroy,
    .reads = mf_truss_motion_reads,
    .writes = mf_truss_motion_writes,
    .any_gravity = true,
    .defaults = row_defaults,
    .common = {.contacts = AT(contacts), .friction = AT(friction)},
    .keys = row_keys,
    .key_count = sizeof row_keys / sizeof *row_keys,
    .momentum = truss_momentum,
    .energy = row_energy,
};
