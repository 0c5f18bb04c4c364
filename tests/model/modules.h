// The modular robots of models/modules, read for the tests: shapes at the start angles, and how
// deep a point lies in them.
#pragma once

#include "model/support.h"
#include "model/points.h"

#include "math/scalar.h"

#define LINKS 5   // [1] most links of one robot
#define SOLIDS 24 // [1] most colliding shapes
#define FAR 3e-3  // [m]

// A colliding shape at the start angles, its planes if it is a mesh: normal and offset from the
// shape's origin, and how far its points are from there.
typedef struct Solid {
    const mf_Shape *shape;
    double position[3], rotation[4]; // base frame
    double (*planes)[4];
    double radius; // [m]
    uint32_t plane_count;
} Solid;

typedef struct Module {
    mf_Model *model;
    double link_position[LINKS][3], link_rotation[LINKS][4]; // base frame
    Solid solids[SOLIDS];
    uint32_t solid_count;
} Module;

typedef struct Pose {
    double position[3], rotation[4];
} Pose;

// ---- loading -----------------------------------------------------------------------------------

static inline void find_planes(Solid *solid, const mf_Mesh *mesh) {
    solid->planes = malloc(mesh->hull_triangle_count * sizeof *solid->planes);
    assert_non_null(solid->planes);
    solid->plane_count = mesh->hull_triangle_count;
    for (uint32_t i = 0; i < mesh->hull_triangle_count; i++) {
        double corner[3][3], a[3], b[3], *plane = solid->planes[i];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                corner[c][k] = mesh->vertices[3 * mesh->hull_triangles[3 * i + (uint32_t)c] + k];
        mf_vec3_sub(a, corner[1], corner[0]);
        mf_vec3_sub(b, corner[2], corner[0]);
        mf_vec3_cross(plane, a, b);
        double length = mf_vec3_length(plane);
        for (int k = 0; k < 3; k++)
            plane[k] /= length;
        plane[3] = mf_vec3_dot(plane, corner[0]);
    }
}

static inline double find_radius(const mf_Shape *shape, const mf_Model *model) {
    const double *size = shape->size;
    double result = 0.0;
    if (shape->type == MF_SHAPE_BOX)
        return 0.5 * mf_vec3_length(size);
    if (shape->type == MF_SHAPE_CYLINDER)
        return hypot(size[0], 0.5 * size[1]);
    const mf_Mesh *mesh = &model->meshes[shape->mesh];
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const float *v = &mesh->vertices[3 * i];
        result = fmax(result, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return result;
}

static inline void compose(double position[3], double rotation[4], const double outer_position[3],
                           const double outer_rotation[4], const double inner_position[3],
                           const double inner_rotation[4]) {
    double moved[3];
    mf_quat_rotate(moved, outer_rotation, inner_position);
    mf_vec3_add(position, outer_position, moved);
    mf_quat_multiply(rotation, outer_rotation, inner_rotation);
}

// Places the links and the solids for joint angles.
static inline void pose_solids(Module *module, const double *angle) {
    mf_model_pose(module->model, angle, module->link_position, module->link_rotation);
    for (uint32_t i = 0; i < module->solid_count; i++) {
        Solid *solid = &module->solids[i];
        uint32_t link = solid->shape->link;
        compose(solid->position, solid->rotation, module->link_position[link],
                module->link_rotation[link], solid->shape->position, solid->shape->rotation);
    }
}

static inline Module open_module(mf_Context *context, const char *name) {
    const char *path = formatted("%s/models/modules/%s.urdf", MAYFLY_SOURCE_DIR, name);
    Module module = {.model = load_file(context, path, NULL)};
    const mf_Model *model = module.model;
    assert_true(model->link_count <= LINKS);
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides)
            continue;
        assert_true(module.solid_count < SOLIDS);
        Solid *solid = &module.solids[module.solid_count++];
        solid->shape = shape;
        solid->radius = find_radius(shape, model);
        if (shape->type == MF_SHAPE_MESH)
            find_planes(solid, &model->meshes[shape->mesh]);
    }
    pose_solids(&module, model->start_angle);
    return module;
}

static inline void close_module(Module *module) {
    for (uint32_t i = 0; i < module->solid_count; i++)
        free(module->solids[i].planes);
    mf_model_destroy(module->model);
}

// ---- geometry ----------------------------------------------------------------------------------

// Positive: how deep the point [m, base frame] lies in the solid; negative outside, where less than
// -FAR only says that it is farther than that.
static inline double depth(const Solid *solid, const double point[3]) {
    double relative[3], local[3], result = INFINITY;
    mf_vec3_sub(relative, point, solid->position);
    double beyond = solid->radius + FAR;
    if (mf_vec3_dot(relative, relative) > beyond * beyond)
        return -INFINITY;
    mf_quat_rotate_inverse(local, solid->rotation, relative);
    const double *size = solid->shape->size;
    if (solid->shape->type == MF_SHAPE_BOX) {
        for (int k = 0; k < 3; k++)
            result = fmin(result, 0.5 * size[k] - fabs(local[k]));
        return result;
    }
    if (solid->shape->type == MF_SHAPE_CYLINDER)
        return fmin(size[0] - hypot(local[0], local[1]), 0.5 * size[1] - fabs(local[2]));
    assert_int_equal(solid->shape->type, MF_SHAPE_MESH);
    for (uint32_t i = 0; i < solid->plane_count && result > -FAR; i++) {
        double above = solid->planes[i][3] - mf_vec3_dot(solid->planes[i], local);
        result = above < result ? above : result;
    }
    return result;
}

// The same for all solids of a link, or of all links for MF_NONE.
static inline double depth_in(const Module *module, uint32_t link, const double point[3]) {
    double deepest = -INFINITY;
    for (uint32_t i = 0; i < module->solid_count; i++)
        if (link == MF_NONE || module->solids[i].shape->link == link)
            deepest = fmax(deepest, depth(&module->solids[i], point));
    return deepest;
}

// How far a solid reaches along `axis` of the base frame from its own position.
static inline double reach(const Solid *solid, const mf_Model *model, int axis, double sign) {
    double direction[3] = {0.0, 0.0, 0.0}, local[3], result = -INFINITY;
    direction[axis] = sign;
    mf_quat_rotate_inverse(local, solid->rotation, direction);
    const double *size = solid->shape->size;
    if (solid->shape->type == MF_SHAPE_BOX)
        return 0.5 *
               (size[0] * fabs(local[0]) + size[1] * fabs(local[1]) + size[2] * fabs(local[2]));
    if (solid->shape->type == MF_SHAPE_CYLINDER)
        return size[0] * hypot(local[0], local[1]) + 0.5 * size[1] * fabs(local[2]);
    const mf_Mesh *mesh = &model->meshes[solid->shape->mesh];
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const float *v = &mesh->vertices[3 * i];
        result = fmax(result, v[0] * local[0] + v[1] * local[1] + v[2] * local[2]);
    }
    return result;
}

static inline void bounds(const Module *module, uint32_t link, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (uint32_t i = 0; i < module->solid_count; i++) {
            const Solid *solid = &module->solids[i];
            if (link != MF_NONE && solid->shape->link != link)
                continue;
            high[k] = fmax(high[k], solid->position[k] + reach(solid, module->model, k, 1.0));
            low[k] = fmin(low[k], solid->position[k] - reach(solid, module->model, k, -1.0));
        }
    }
}

// Number `index` of the middles of the cubes that fill a box from `low` on; false beyond the last.
static inline bool grid_point(const double low[3], const double high[3], double edge,
                              uint32_t index, double out[3]) {
    for (int k = 0; k < 3; k++) {
        uint32_t count = (uint32_t)ceil((high[k] - low[k]) / edge - 1e-6);
        out[k] = low[k] + edge * (index % count + 0.5);
        index /= count;
    }
    return index == 0;
}

static inline Pose dock_pose(const Module *module, const mf_Dock *dock) {
    Pose pose;
    const mf_Frame *frame = &dock->frame;
    compose(pose.position, pose.rotation, module->link_position[frame->link],
            module->link_rotation[frame->link], frame->position, frame->rotation);
    return pose;
}

// A point of a dock's frame in the base frame.
static inline void dock_point(const Pose *pose, double x, double y, double z, double out[3]) {
    const double local[3] = {x, y, z};
    double moved[3];
    mf_quat_rotate(moved, pose->rotation, local);
    mf_vec3_add(out, pose->position, moved);
}

static inline const mf_Dock *find_dock(const Module *module, const char *name) {
    const uint32_t dock = mf_model_find(module->model, MF_ITEM_DOCK, name);
    assert_true(dock != MF_NONE);
    return &module->model->docks[dock];
}
