// The row of `elastic` in the motion table: trusses with inertia. The rest is shared with
// `quasistatic` (truss.c).
#include "motion/truss/motion.h"
#include "base/floats.h"

static mf_Status add_motion(mf_Group *group, const mf_MotionsConfig *motions, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    return mf_truss_motion_add(group, &mf_elastic_row, &motions->elastic, error);
}

const mf_ElasticConfig *mf_elastic_config_of(const mf_Group *group) {
    const mf_TrussMotion *motion = mf_motion_plan(group, &mf_elastic_row);
    return motion != NULL ? &motion->config : NULL;
}

static mf_MotionEnergy row_energy(const mf_Group *group, uint32_t instance) {
    return mf_truss_motion_energy(mf_motion_plan(group, &mf_elastic_row), instance);
}

static void row_momentum(const mf_Group *group, uint32_t instance, double center[3],
                         double linear[3], double angular[3]) {
    mf_truss_motion_momentum(mf_motion_plan(group, &mf_elastic_row), instance, center, linear,
                             angular);
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
    .name = "elastic",
    .motion = MF_MOTION_ELASTIC,
    .limitation = "bending and breaking bars, torque in vertices, limits of motors",
    .body = "truss",
    .switches = true,
    .look = MF_TRUSS_LOOK,
    .enter = mf_truss_motion_enter,
    .dynamic = true,
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
    .momentum = row_momentum,
    .energy = row_energy,
};
