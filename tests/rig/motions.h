// One motion added with its part of the settings alone; NULL: its defaults.
#pragma once

#include <mayfly/motion.h>

#define MF_RIG_ADD(name, Config, value)                                                            \
    static inline mf_Status rig_add_##name(mf_Group *group, const Config *settings,                \
                                           mf_Error *error) {                                      \
        mf_MotionsConfig config = mf_motions_config();                                             \
        if (settings != NULL)                                                                      \
            config.name = *settings;                                                               \
        return mf_motion_add(group, value, &config, error);                                        \
    }
MF_RIG_ADD(kinematic, mf_KinematicConfig, MF_MOTION_KINEMATIC)
MF_RIG_ADD(points, mf_PointsConfig, MF_MOTION_POINTS)
MF_RIG_ADD(rigid, mf_RigidConfig, MF_MOTION_RIGID)
MF_RIG_ADD(prescribed, mf_PrescribedConfig, MF_MOTION_PRESCRIBED)
MF_RIG_ADD(articulated, mf_ArticulatedConfig, MF_MOTION_ARTICULATED)
MF_RIG_ADD(external, mf_ExternalConfig, MF_MOTION_EXTERNAL)
MF_RIG_ADD(quasistatic, mf_QuasistaticConfig, MF_MOTION_QUASISTATIC)
MF_RIG_ADD(elastic, mf_ElasticConfig, MF_MOTION_ELASTIC)
MF_RIG_ADD(cloth, mf_ClothConfig, MF_MOTION_CLOTH)
MF_RIG_ADD(fluid, mf_FluidConfig, MF_MOTION_FLUID)
MF_RIG_ADD(grains, mf_GrainsConfig, MF_MOTION_GRAINS)
MF_RIG_ADD(debris, mf_DebrisConfig, MF_MOTION_DEBRIS)
#undef MF_RIG_ADD

// Vehicles: parameters and settings, NULL for the defaults.
#define MF_RIG_ADD(name, Vehicle, Config, value)                                                   \
    static inline mf_Status rig_add_##name(mf_Group *group, const Vehicle *vehicle,                \
                                           const Config *settings, mf_Error *error) {              \
        mf_MotionsConfig config = mf_motions_config();                                             \
        if (vehicle != NULL)                                                                       \
            config.name = *vehicle;                                                                \
        if (settings != NULL)                                                                      \
            config.name##_config = *settings;                                                      \
        return mf_motion_add(group, value, &config, error);                                        \
    }
MF_RIG_ADD(quadrotor, mf_Quadrotor, mf_QuadrotorConfig, MF_MOTION_QUADROTOR)
MF_RIG_ADD(fixed_wing, mf_FixedWing, mf_FixedWingConfig, MF_MOTION_FIXED_WING)
MF_RIG_ADD(car, mf_Car, mf_CarConfig, MF_MOTION_CAR)
#undef MF_RIG_ADD
