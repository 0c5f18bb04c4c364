// Link poses, tilt and ground penetration of one robot of a group.
#pragma once

#include <mayfly/motion.h>

typedef struct mf_RobotPose {
    double (*position)[3], (*rotation)[4]; // [m], [1] of the links, world; the base first
} mf_RobotPose;

// MF_NO_MEMORY, MF_LIMIT.
mf_Status mf_robot_pose_make(mf_Group *group, mf_RobotPose *out, mf_Error *error);
void mf_robot_pose_free(mf_Context *context, mf_RobotPose *pose);
void mf_robot_pose_read(mf_Group *group, uint32_t robot, mf_RobotPose *pose);

// [rad] between the base's z axis and up.
double mf_robot_tilt(const mf_RobotPose *pose);

typedef struct mf_RobotDepth {
    bool touches;   // the robot has collision shapes or points
    double deepest; // [m] of the lowest point of all shapes below the ground; < 0: above it
    double highest; // [m] of the highest point of all shapes above the ground; < 0: below it
    uint32_t link;  // [1] the deepest link, or vertex between bars
} mf_RobotDepth;

// Whether the base rotates; that of vertices between bars or triangles does not.
bool mf_robot_has_rotation(const mf_Group *group);

// By collision shapes, or contact points if the model has no shapes; of bars by the spheres about
// their vertices.
mf_RobotDepth mf_robot_depth(mf_Group *group, uint32_t robot, const mf_RobotPose *pose);
