// The rows of `quasistatic` and `elastic` in the motion table: trusses without inertia, and with
// it. The rest is shared (truss.c).
#include "motion/truss/motion.h"

#define AT(section, member) offsetof(mf_MotionsConfig, section.member)

// ---- quasistatic --------------------------------------------------------------------------------

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

static void quasistatic_defaults(mf_MotionsConfig *config) {
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

static const mf_Key quasistatic_keys[] = {
    MF_KEY_GROUP("motion.quasistatic", "trusses: each step is the nearest minimum of the energy"),
    MF_TRUSS_KEYS("motion.quasistatic", quasistatic),
    MF_TRUSS_KEY("motion.quasistatic", quasistatic, strengthening, MF_KEY_REAL, 0, "1/m", "2", 0,
                 1e6,
                 "increase of friction with the slip of a step, so that equal feet that push "
                 "against each other all slip"),
    MF_KEY("motion.quasistatic.method", MF_KEY_CHOICE, 0, "", "newton", 0, 0, methods,
           AT(quasistatic, method),
           "method of minimization; `gradient`, steepest descent, is for comparisons"),
    MF_TRUSS_KEY("motion.quasistatic", quasistatic, relaxation, MF_KEY_REAL, 0, "m/N", "0", 0, 1e6,
                 "movement per force in an iteration of `gradient`, fixed as in the Golem project; "
                 "0: it adapts"),
    MF_TRUSS_KEY("motion.quasistatic", quasistatic, trace, MF_KEY_COUNT, 0, "1", "0", 0,
                 MF_TRUSS_TRACE,
                 "iterations of a frame whose energies are kept in the field frame.trace"),
    MF_KEY("motion.quasistatic.jump", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.05", 0, 1e6, NULL,
           AT(quasistatic, jump), "a longer movement in a frame raises a warning"),
};

const mf_MotionRow mf_quasistatic_row = {
    MF_TRUSS_ROW(quasistatic),
    .motion = MF_MOTION_QUASISTATIC,
    .limitation = "momentum: swings, vibrations, impacts, falls take no time",
    .momentum = truss_momentum,
};

// ---- elastic ------------------------------------------------------------------------------------

static mf_Status make_elastic(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                              mf_Error *error) {
    return mf_truss_motion_make(group, *plan, &mf_elastic_row, &motions->elastic, error);
}

static mf_Status begin_elastic(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                               mf_Error *error) {
    return mf_truss_motion_fill(group, plan, motions->elastic.truss, error);
}

static void elastic_defaults(mf_MotionsConfig *config) {
    mf_quasistatic_row.defaults(config);
    config->elastic = config->quasistatic;
    config->elastic.strengthening = 0.0; // inertia makes every step unique
}

static const mf_Key elastic_keys[] = {
    MF_KEY_GROUP("motion.elastic",
                 "trusses with inertia: point masses on elastic bars, implicit steps"),
    MF_TRUSS_KEYS("motion.elastic", elastic),
    MF_KEY("motion.elastic.damping", MF_KEY_REAL, 0, "s", "0", 0, 1e6, NULL, AT(elastic, damping),
           "of bars: force per rate of the length, over their stiffness"),
};

const mf_MotionRow mf_elastic_row = {
    MF_TRUSS_ROW(elastic),
    .motion = MF_MOTION_ELASTIC,
    .limitation = "bending and breaking bars, torque in vertices, limits of motors",
    .dynamic = true,
    .momentum = mf_truss_motion_momentum,
};
