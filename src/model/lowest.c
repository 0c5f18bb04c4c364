// How low a pose reaches: what has to be known to stand a robot on the ground.
#include "math/scalar.h"

#include <mayfly/model.h>

#include <math.h>

static double lower_of(double a, double b) {
    return b < a ? b : a;
}

// How far the lowest vertex is below the origin, with the third axis' heights `up`.
static double mesh_below(const mf_Mesh *mesh, const double up[3]) {
    double lowest = INFINITY;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)i;
        lowest = lower_of(lowest, v[0] * up[0] + v[1] * up[1] + v[2] * up[2]);
    }
    return -lowest;
}

// How far a shape reaches below its origin [m], with the world heights `up` of its axes.
static double reach_below(const mf_Model *model, const mf_Shape *shape, const double up[3]) {
    const double *size = shape->size;
    double sum = 0.0, level = 1.0 - up[2] * up[2];
    switch (shape->type) {
    case MF_SHAPE_SPHERE:
        return size[0];
    case MF_SHAPE_CAPSULE:
        return size[0] + 0.5 * size[1] * mf_abs(up[2]);
    case MF_SHAPE_CYLINDER:
        return size[0] * mf_sqrt(level > 0.0 ? level : 0.0) + 0.5 * size[1] * mf_abs(up[2]);
    case MF_SHAPE_BOX:
        for (int i = 0; i < 3; i++)
            sum += 0.5 * size[i] * mf_abs(up[i]);
        return sum;
    case MF_SHAPE_ELLIPSOID:
        for (int i = 0; i < 3; i++)
            sum += size[i] * up[i] * size[i] * up[i];
        return mf_sqrt(sum);
    case MF_SHAPE_MESH:
        return mesh_below(&model->meshes[shape->mesh], up);
    default:
        return 0.0;
    }
}

static double lowest_shape(const mf_Model *model, double (*place)[3], double (*turn)[4]) {
    double lowest = INFINITY;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        double at[3], whole[4], matrix[9];
        if (!shape->collides || shape->link == MF_NONE)
            continue;
        mf_quat_rotate(at, turn[shape->link], shape->position);
        mf_quat_multiply(whole, turn[shape->link], shape->rotation);
        mf_quat_to_matrix(matrix, whole);
        double reach = reach_below(model, shape, matrix + 6);
        lowest = lower_of(lowest, place[shape->link][2] + at[2] - reach);
    }
    return lowest;
}

static double lowest_point(const mf_Model *model, double (*place)[3], double (*turn)[4]) {
    double lowest = INFINITY;
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        double at[3];
        if (!(point->flags & MF_POINT_COLLIDES))
            continue;
        mf_quat_rotate(at, turn[point->link], point->position);
        lowest = lower_of(lowest, place[point->link][2] + at[2]);
    }
    return lowest;
}

double mf_model_lowest(const mf_Model *model, double (*place)[3], double (*turn)[4], bool shapes) {
    double lowest = shapes ? lowest_shape(model, place, turn) : INFINITY;
    return lowest < INFINITY ? lowest : lowest_point(model, place, turn);
}
