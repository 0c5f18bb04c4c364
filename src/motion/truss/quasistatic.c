// The row of `quasistatic` in the motion table: trusses without inertia. The rest is shared with
// `elastic` (truss.c).
#include "motion/truss/motion.h"
#include "base/floats.h"

static mf_Status make_quasistatic(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                                  mf_Error *error) {
    return mf_truss_motion_make(group, *plan, &mf_quasistatic_row, &motions->quasistatic, error);
}

static mf_Status begin_quasistatic(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                                   mf_Error *error) {
    return mf_truss_motion_fill(group, plan, motions->quasistatic.truss, error);
}

// No momentum; the center is the base's origin.
static void truss_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                           double center[3], double linear[3], double angular[3]) {
    (void)group;
    for (uint32_t c = 0; c < 3; c++) {
        center[c] = mf_field_get(((const mf_TrussMotion *)plan)->body[0], instance, c);
        linear[c] = angular[c] = 0.0;
    }
}

static void row_defaults(mf_MotionsConfig *config) {
    config->quasistatic = (mf_QuasistaticConfig){.struct_size = sizeof(mf_QuasistaticConfig),
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
    MF_TRUSS_ROW(quasistatic),
    .motion = MF_MOTION_QUASISTATIC,
    .limitation = "momentum: swings, vibrations, impacts, falls take no time",
    .momentum = truss_momentum,
};
