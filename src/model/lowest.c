// The lowest point of a pose and the radius of shapes, for placing robots on the ground.
#include "model/points.h"
#include "model/shape_kinds.h"

#include "math/scalar.h"
#include "base/floats.h"

#include <mayfly/model.h>

#include <math.h>

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
    const mf_ShapeKind *kind = &mf_shape_kinds[shape->type];
    double half[3];
    mf_vec3_set(point, 0.0, 0.0, 0.0);
    mf_shape_half(shape->type, shape->size, half);
    if (kind->lowest != NULL)
        kind->lowest(half, up, point);
    else if (shape->type == MF_SHAPE_MESH)
        lowest_vertex(&model->meshes[shape->mesh], up, point);
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
            lowest = mf_smaller(lowest, mf_model_shape_lowest(model, i, position[shape->link],
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
        lowest = mf_smaller(lowest, position[point->link][2] + at[2]);
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
    return mf_shape_radius(shape->type, shape->size,
                           shape->type == MF_SHAPE_MESH ? &model->meshes[shape->mesh] : NULL);
}

// ---- whether robots touch the ground -----------------------------------------------------------

// Whether the file's world has a level plane or height field that touches.
static bool has_floor(const mf_Model *model) {
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        const double x = shape->rotation[1], y = shape->rotation[2];
        if ((shape->type == MF_SHAPE_PLANE || shape->type == MF_SHAPE_HEIGHTS) &&
            shape->link == MF_NONE && shape->collides && x * x + y * y < 1e-12)
            return true;
    }
    return false;
}

static bool has_shapes(const mf_Model *model, bool of_world) {
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].collides && (model->shapes[i].link == MF_NONE) == of_world)
            return true;
    return false;
}

bool mf_model_touches_ground(const mf_Model *model, bool given) {
    MF_DEFAULT_FLOATS;
    const uint32_t off = MF_DISABLE_CONTACT | MF_DISABLE_CONSTRAINT;
    if (model == NULL || (model->physics.disabled & off) != 0)
        return false;
    if (model->shape_count > 0 && !has_shapes(model, false)) // without shapes by its points
        return false;
    if (has_floor(model))
        return true;
    return model->base == MF_BASE_FREE && (given || !has_shapes(model, true));
}
