// Mayfly: inverse kinematics, joint angles at which a point of a robot is at a target.
#pragma once

#include <mayfly/model.h>

typedef struct mf_InverseKinematicsConfig {
    uint32_t struct_size; // [byte] set by mf_inverse_kinematics_config()
    uint32_t link;        // [1] whose point is to be at the target; not 0, which does not move
    double point[3];      // [m] in the frame of the link; default its origin
    bool use_rotation;    // the rotation of the link counts, too; default false
    double length;        // [m] > 0 error of the position that counts as much as 1 rad; default 0.1
    double tolerance;     // [m] > 0 at which the position is reached; default 1e-4
    double rotation_tolerance; // [rad] > 0 at which the rotation is reached; default 1e-3
    uint32_t iterations;       // [1] >= 1 most of a start; default 200
    uint32_t starts; // [1] >= 1 most; the first is the caller's, others are random within the
                     // limits; default 20
    uint64_t seed;   // [1] of these; default 1
} mf_InverseKinematicsConfig;
// The defaults of mf_InverseKinematicsConfig.
MF_API mf_InverseKinematicsConfig mf_inverse_kinematics_config(void);

typedef struct mf_InverseKinematicsResult {
    bool reached;    // both tolerances hold
    double distance; // [m] of the point from the target
    double
        rotation_error;  // [rad] of the link's rotation from the target's; 0 without `use_rotation`
    uint32_t iterations; // [1] in all
    uint32_t starts;     // [1]
} mf_InverseKinematicsResult;

// Joint angles `angle` (joint_count values, [rad] or [m]; before the call those of the first start)
// at which the point of config->link is at `position` [m] and, with `use_rotation`, the link has
// the rotation `rotation` (w, x, y, z; of any length but 0; may be NULL without `use_rotation`),
// both in the base frame, as mf_model_pose has them. Damped least squares with a damping that
// follows the success of the steps (Wampler 1986; Buss 2004; Marquardt 1963): a target out of reach
// ends in the nearest pose found, with result->reached false and MF_OK. Hinges and slides between
// the base and the link move, within their limits; joints that mimic others follow, and their own
// limits do not count; loops that equality constraints close are not known. The result is a pure
// function of model, config, target and start: the same bits on every machine. `context` is for
// working memory, `result` may be NULL. On failure `angle` is unchanged. MF_BAD_ARGUMENT names the
// argument, MF_NO_MEMORY.
MF_API mf_Status mf_inverse_kinematics(mf_Context *context, const mf_Model *model,
                                       const mf_InverseKinematicsConfig *config,
                                       const double position[3], const double rotation[4],
                                       double *angle, mf_InverseKinematicsResult *result,
                                       mf_Error *error);
