// What the layer over all motions asks of each.
#include "motion/levels.h"
#include "math/scalar.h"

#include <string.h>

// ---- kinematic ----------------------------------------------------------------------------------

static mf_Status kinematic_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    return mf_kinematic_add(group, &config->kinematic, error);
}

static bool kinematic_is_in(const mf_Group *group) {
    return mf_kinematic_settings(group) != NULL;
}

static void kinematic_momentum(const mf_Group *group, uint32_t instance, double center[3],
                               double linear[3], double angular[3]) {
    mf_kinematic_center(group, instance, center);
    mf_vec3_set(linear, 0, 0, 0);
    mf_vec3_set(angular, 0, 0, 0);
}

static mf_MotionEnergy kinematic_energy(const mf_Group *group, uint32_t instance) {
    double center[3];
    mf_kinematic_center(group, instance, center);
    double weight = mf_group_model(group)->mass * mf_world_settings(mf_group_world(group))->gravity;
    return (mf_MotionEnergy){.potential = weight * center[2]};
}

// ---- points -------------------------------------------------------------------------------------

static mf_Status points_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    if (model->base == MF_BASE_FIXED)
        return mf_fail(error, MF_UNSUPPORTED, "points: the base of model %s is held in the world",
                       model->name);
    return mf_points_add(group, &config->points, error);
}

static bool points_is_in(const mf_Group *group) {
    return mf_points_settings(group) != NULL;
}

static mf_MotionEnergy points_energy(const mf_Group *group, uint32_t instance) {
    mf_PointsEnergy energy = mf_points_energy(group, instance);
    return (mf_MotionEnergy){energy.kinetic, energy.potential, energy.elastic};
}

// ---- rigid --------------------------------------------------------------------------------------

static mf_Status rigid_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    return mf_rigid_add(group, &config->rigid, error);
}

static bool rigid_is_in(const mf_Group *group) {
    return mf_rigid_settings(group) != NULL;
}

static mf_MotionEnergy rigid_energy(const mf_Group *group, uint32_t instance) {
    mf_MotionEnergy energy = {0};
    mf_rigid_energy(group, instance, &energy.kinetic, &energy.potential);
    return energy;
}

// ---- prescribed ---------------------------------------------------------------------------------

static mf_Status prescribed_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    return mf_prescribed_add(group, &config->prescribed, error);
}

static bool prescribed_is_in(const mf_Group *group) {
    return mf_prescribed_settings(group) != NULL;
}

static mf_MotionEnergy prescribed_energy(const mf_Group *group, uint32_t instance) {
    mf_MotionEnergy energy = {0};
    mf_prescribed_energy(group, instance, &energy.kinetic, &energy.potential);
    return energy;
}

// ---- articulated --------------------------------------------------------------------------------

static mf_Status articulated_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    return mf_articulated_add(group, &config->articulated, error);
}

static bool articulated_is_in(const mf_Group *group) {
    return mf_articulated_settings(group) != NULL;
}

static mf_MotionEnergy articulated_energy(const mf_Group *group, uint32_t instance) {
    mf_ArticulatedEnergy energy = mf_articulated_energy(group, instance);
    return (mf_MotionEnergy){energy.kinetic, energy.potential, energy.elastic};
}

// ---- the table ----------------------------------------------------------------------------------

const mf_Level *mf_level(mf_Motion motion) {
    static const mf_Level levels[MF_MOTION_COUNT] = {
        [MF_MOTION_KINEMATIC] = {kinematic_add, kinematic_is_in, mf_kinematic_refresh,
                                 kinematic_momentum, kinematic_energy},
        [MF_MOTION_POINTS] = {points_add, points_is_in, mf_points_refresh, mf_points_momentum,
                              points_energy},
        [MF_MOTION_RIGID] = {rigid_add, rigid_is_in, mf_rigid_refresh, mf_rigid_momentum,
                             rigid_energy},
        [MF_MOTION_PRESCRIBED] = {prescribed_add, prescribed_is_in, mf_prescribed_refresh,
                                  mf_prescribed_momentum, prescribed_energy},
        [MF_MOTION_ARTICULATED] = {articulated_add, articulated_is_in, NULL,
                                   mf_articulated_momentum, articulated_energy},
    };
    return (unsigned)motion < MF_MOTION_COUNT ? &levels[motion] : NULL;
}

const mf_SystemConfig *mf_level_own(const mf_Group *group, mf_Motion motion) {
    unsigned number = MF_MOTION_OWN;
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->phase == MF_PHASE_MOTION && strncmp(system->name, "plugin:", 7) == 0 &&
            number++ == (unsigned)motion)
            return system;
    }
    return NULL;
}
