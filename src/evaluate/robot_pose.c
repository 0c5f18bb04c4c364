// Poses and depths of one robot (robot_pose.h), from the fields that all motions share.
#include "evaluate/robot_pose.h"
#include "terrain/lookup.h"
#include "motion/table.h"
#include "world/group.h"
#include "model/points.h"

#include <math.h>

#include "math/scalar.h"

#include <mayfly/dynamics.h>

mf_Status mf_robot_pose_make(mf_Group *group, mf_RobotPose *out, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    const uint32_t links = mf_group_model(group)->link_count;
    out->position = mf_allocate(context, links, sizeof *out->position);
    out->rotation = mf_allocate(context, links, sizeof *out->rotation);
    mf_Status status = out->position != NULL && out->rotation != NULL
                           ? MF_OK
                           : mf_fail(error, MF_NO_MEMORY, "pose: out of memory");
    MF_THEN(status, mf_group_link_poses(group, 0, 0, out->position[0], out->rotation[0], error));
    if (status != MF_OK)
        mf_robot_pose_free(context, out);
    return status;
}

void mf_robot_pose_free(mf_Context *context, mf_RobotPose *pose) {
    mf_release(context, pose->position);
    mf_release(context, pose->rotation);
    *pose = (mf_RobotPose){.position = NULL};
}

void mf_robot_pose_read(mf_Group *group, uint32_t robot, mf_RobotPose *pose) {
    mf_group_link_poses(group, robot, 1, pose->position[0], pose->rotation[0], NULL);
}

double mf_robot_tilt(const mf_RobotPose *pose) {
    const double x = pose->rotation[0][1], y = pose->rotation[0][2];
    return acos(fmax(-1.0, fmin(1.0, 1.0 - 2.0 * (x * x + y * y))));
}

// Above the ground; a point beyond a map that ends is above that of its border.
static double above_ground(const mf_Group *group, const double point[3]) {
    const mf_Terrain *terrain = mf_world_config_of(mf_group_world(group))->terrain;
    if (terrain == NULL)
        return point[2];
    const double depth = mf_terrain_depth(terrain, point);
    if (depth > -1e30)
        return -depth;
    return fmax(point[2] - mf_terrain_height(terrain, point[0], point[1], NULL), 0.0);
}

static void note_point(const mf_Group *group, const double point[3], uint32_t link,
                       mf_RobotDepth *depth) {
    const double above = above_ground(group, point);
    depth->highest = fmax(depth->highest, above);
    if (0.0 - above <= depth->deepest)
        return;
    depth->deepest = 0.0 - above;
    depth->link = link;
}

// The highest point is the lowest one of the shape rotated by 180 degrees about the world's x axis.
static void note_shape(const mf_Group *group, const mf_RobotPose *pose, uint32_t shape,
                       mf_RobotDepth *depth) {
    static const double over[4] = {0.0, 1.0, 0.0, 0.0};
    const mf_Model *model = mf_group_model(group);
    const uint32_t link = model->shapes[shape].link;
    const double *position = pose->position[link], *rotation = pose->rotation[link];
    const double below[3] = {position[0], -position[1], -position[2]};
    double rotated[4], point[3], at[3];
    mf_quat_multiply(rotated, over, rotation);
    for (int side = 0; side < 2; side++) {
        mf_model_shape_lowest(model, shape, side == 0 ? position : below,
                              side == 0 ? rotation : rotated, point);
        mf_quat_rotate(at, rotation, point);
        mf_vec3_add(at, at, position);
        note_point(group, at, link, depth);
    }
}

static void note_points(const mf_Group *group, const mf_RobotPose *pose, mf_RobotDepth *depth) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        double at[3];
        if (!(point->flags & MF_POINT_COLLIDES))
            continue;
        mf_quat_rotate(at, pose->rotation[point->link], point->position);
        mf_vec3_add(at, at, pose->position[point->link]);
        note_point(group, at, point->link, depth);
        depth->touches = true;
    }
}

bool mf_robot_has_rotation(const mf_Group *group) {
    const mf_MotionRow *row = mf_motion_first(group);
    return row == NULL ||
           (row->look.kind != MF_VISUAL_BARS && row->look.kind != MF_VISUAL_TRIANGLES);
}

static void note_vertices(mf_Group *group, uint32_t robot, uint32_t vertices,
                          mf_RobotDepth *depth) {
    const mf_Field *position = mf_group_find_field(group, "vertex.position");
    const mf_Field *radius = mf_group_find_field(group, "vertex.radius");
    for (uint32_t v = 0; v < vertices; v++) {
        const double r = mf_field_get(radius, robot, v);
        double at[3];
        for (uint32_t c = 0; c < 3; c++)
            at[c] = mf_field_get(position, robot, 3 * v + c);
        at[2] -= r;
        note_point(group, at, v, depth);
        at[2] += 2.0 * r;
        note_point(group, at, v, depth);
    }
    depth->touches = vertices > 0;
}

mf_RobotDepth mf_robot_depth(mf_Group *group, uint32_t robot, const mf_RobotPose *pose) {
    const mf_Model *model = mf_group_model(group);
    const mf_Field *counts = mf_motion_counts(group);
    mf_RobotDepth depth = {.deepest = -INFINITY, .highest = -INFINITY};
    if (counts != NULL) {
        if (mf_group_find_field(group, "contact.force") != NULL) // it touches the ground
            note_vertices(group, robot, (uint32_t)mf_field_get(counts, robot, 0), &depth);
        return depth;
    }
    if (!mf_group_touches_ground(group))
        return depth;
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].collides && model->shapes[i].link != MF_NONE) {
            note_shape(group, pose, i, &depth);
            depth.touches = true;
        }
    if (!depth.touches)
        note_points(group, pose, &depth);
    return depth;
}
