// The row of `elastic` in the motion table: trusses with inertia. The rest is shared with
// `quasistatic` (truss.c).
#include "motion/truss/motion.h"
#include "base/floats.h"

static mf_Status make_elastic(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                              mf_Error *error) {
    return mf_truss_motion_make(group, *plan, &mf_elastic_row, &motions->elastic, error);
}

static mf_Status begin_elastic(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                               mf_Error *error) {
    return mf_truss_motion_fill(group, plan, motions->elastic.truss, error);
}

static void row_defaults(mf_MotionsConfig *config) {
    mf_quasistatic_row.defaults(config);
    config->elastic = config->quasistatic;
    config->elastic.strengthening = 0.0; // inertia makes every step unique
}

#define AT(member) offsetof(mf_MotionsConfig, elastic.member)

static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.elastic",
                 "trusses with inertia: point masses on elastic bars, implicit steps"),
    MF_TRUSS_KEYS("motion.elastic", elastic),
    MF_KEY("motion.elastic.damping", MF_KEY_REAL, 0, "s", "0", 0, 1e6, NULL, AT(damping),
           "of bars: force per rate of the length, over their stiffness"),
};

const mf_MotionRow mf_elastic_row = {
    MF_TRUSS_ROW(elastic),
    .motion = MF_MOTION_ELASTIC,
    .limitation = "bending and breaking bars, torque in vertices, limits of motors",
    .dynamic = true,
    .momentum = mf_truss_motion_momentum,
};
