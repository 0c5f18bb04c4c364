// The lowest point of a pose and the radius of shapes, for placing robots on the ground.
#include "model/points.h"

#include "math/scalar.h"
#include "base/floats.h"

#include <mayfly/model.h>

#include <math.h>

static double lower_of(double a, double b) {
    return b < a ? b : a;
}

static double with_sign(double size, double sign) {
    return sign < 0.0 ? -size : size;
}

static void lowest_vertex(const mf_Mesh *mesh, const double up[3], double point[3]) {
    double lowest = INFINITY;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)i;
        double height = v[0] * up[0] + v[1] * up[1] + v[2] * up[2];
        if (!(height < lowest))
            continue;
        lowest = height;
        mf_vec3_set(point, v[0], v[1], v[2]);
    }
}

// The lowest point [m] of a shape, in its axes; `up` is the world's up vector in these axes.
static void support(const mf_Model *model, const mf_Shape *shape, const double up[3],
                    double point[3]) {
    const double *size = shape->size;
    double flat = mf_sqrt(up[0] * up[0] + up[1] * up[1]), sum = 0.0;
    mf_vec3_set(point, 0.0, 0.0, 0.0);
    switch (shape->type) {
    case MF_SHAPE_SPHERE:
    case MF_SHAPE_CAPSULE:
        mf_vec3_scale(point, up, -size[0]);
        point[2] -= shape->type == MF_SHAPE_CAPSULE ? with_sign(0.5 * size[1], up[2]) : 0.0;
        break;
    case MF_SHAPE_CYLINDER:
        if (flat > 0.0)
            mf_vec3_set(point, -size[0] * up[0] / flat, -size[0] * up[1] / flat, 0.0);
        point[2] = -with_sign(0.5 * size[1], up[2]);
        break;
    case MF_SHAPE_BOX:
        for (int i = 0; i < 3; i++)
            point[i] = -with_sign(0.5 * size[i], up[i]);
        break;
    case MF_SHAPE_ELLIPSOID:
        for (int i = 0; i < 3; i++)
            sum += size[i] * up[i] * size[i] * up[i];
        for (int i = 0; i < 3 && sum > 0.0; i++)
            point[i] = -size[i] * size[i] * up[i] / mf_sqrt(sum);
        break;
    case MF_SHAPE_MESH:
        lowest_vertex(&model->meshes[shape->mesh], up, point);
        break;
    default:
        break;
    }
}

double mf_model_shape_lowest(const mf_Model *model, uint32_t index, const double position[3],
                             const double rotation[4], double point[3]) {
    MF_DEFAULT_FLOATS;
    if (model == NULL || index >= model->shape_count || position == NULL || rotation == NULL)
        return 0;
    const mf_Shape *shape = &model->shapes[index];
    double whole[4], matrix[9], point_position[3];
    mf_quat_multiply(whole, rotation, shape->rotation);
    mf_quat_to_matrix(matrix, whole);
    support(model, shape, matrix + 6, point);
    mf_quat_rotate(point, shape->rotation, point);
    mf_vec3_add(point, point, shape->position);
    mf_quat_rotate(point_position, rotation, point);
    return position[2] + point_position[2];
}

static double lowest_shape(const mf_Model *model, double (*position)[3], double (*rotation)[4]) {
    double lowest = INFINITY, point[3];
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->collides && shape->link != MF_NONE)
            lowest = lower_of(lowest, mf_model_shape_lowest(model, i, position[shape->link],
                                                            rotation[shape->link], point));
    }
    return lowest;
}

static double lowest_point(const mf_Model *model, double (*position)[3], double (*rotation)[4]) {
    double lowest = INFINITY;
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        double at[3];
        if (!(point->flags & MF_POINT_COLLIDES))
            continue;
        mf_quat_rotate(at, rotation[point->link], point->position);
        lowest = lower_of(lowest, position[point->link][2] + at[2]);
    }
    return lowest;
}

double mf_model_lowest(const mf_Model *model, double (*position)[3], double (*rotation)[4],
                       bool shapes) {
    MF_DEFAULT_FLOATS;
    if (model == NULL || position == NULL || rotation == NULL)
        return 0;
    double lowest = shapes ? lowest_shape(model, position, rotation) : INFINITY;
    return lowest < INFINITY ? lowest : lowest_point(model, position, rotation);
}

double mf_model_shape_radius(const mf_Model *model, uint32_t index) {
    const mf_Shape *shape = &model->shapes[index];
    const double *size = shape->size;
    switch (shape->type) {
    case MF_SHAPE_POINT:
        return 0.0;
    case MF_SHAPE_BOX:
        return 0.5 * mf_vec3_length(size);
    case MF_SHAPE_SPHERE:
        return size[0];
    case MF_SHAPE_CYLINDER:
        return mf_sqrt(size[0] * size[0] + 0.25 * size[1] * size[1]);
    case MF_SHAPE_CAPSULE:
        return size[0] + 0.5 * size[1];
    case MF_SHAPE_MESH: {
        const mf_Mesh *mesh = &model->meshes[shape->mesh];
        double reach = 0.0;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            const float *at = mesh->vertices + 3 * (size_t)v;
            double position[3] = {(double)at[0], (double)at[1], (double)at[2]};
            double length = mf_vec3_length(position);
            reach = length > reach ? length : reach;
        }
        return reach;
    }
    case MF_SHAPE_ELLIPSOID: {
        double longest = size[0] > size[1] ? size[0] : size[1];
        return longest > size[2] ? longest : size[2];
    }
    default: // planes and height fields are ground
        return 0.0;
    }
}
