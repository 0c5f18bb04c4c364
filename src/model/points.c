// Points that represent solids.
//
// Four equal masses at the even corners (+++), (+--), (-+-), (--+) of a box with half edges a, b, c
// have their center of mass at the box's center, no products of inertia, and second moments m a^2,
// m b^2, m c^2. With a = sqrt(second moment / m) along the principal axes they are equimomental to
// any rigid body (equimomental systems: E. J. Routh, Dynamics of a System of Rigid Bodies, 1905,
// chapter I).
#include "model/points.h"
#include "model/shape_kinds.h"

#include "math/scalar.h"

uint32_t mf_shape_points(double (*out)[3], mf_ShapeType type, const double size[3], uint32_t ring) {
    double half[3];
    mf_shape_half(type, size, half);
    if (mf_shape_kinds[type].points != NULL)
        return mf_shape_kinds[type].points(half, ring, out);
    mf_vec3_set(out[0], 0.0, 0.0, 0.0);
    return type == MF_SHAPE_POINT ? 1 : 0;
}

mf_MassProperties mf_mass_of_points(const mf_Point *points, uint32_t count, uint32_t link) {
    mf_MassProperties body = {0};
    for (uint32_t i = 0; i < count; i++) {
        if ((link != MF_NONE && points[i].link != link) || !(points[i].flags & MF_POINT_HAS_MASS))
            continue;
        body.mass += points[i].mass;
        mf_vec3_add_scaled(body.center, body.center, points[i].mass, points[i].position);
    }
    if (!(body.mass > 0.0))
        return (mf_MassProperties){0};
    for (int axis = 0; axis < 3; axis++)
        body.center[axis] /= body.mass;
    for (uint32_t i = 0; i < count; i++) {
        if ((link != MF_NONE && points[i].link != link) || !(points[i].flags & MF_POINT_HAS_MASS))
            continue;
        double offset[3];
        mf_vec3_sub(offset, points[i].position, body.center);
        mf_inertia_translate(body.inertia, body.inertia, points[i].mass, offset);
    }
    return body;
}

mf_MassProperties mf_mass_add(const mf_MassProperties *a, const mf_MassProperties *b) {
    mf_MassProperties sum = {.mass = a->mass + b->mass};
    for (int axis = 0; axis < 3; axis++)
        sum.center[axis] = sum.mass > 0.0
                               ? (a->mass * a->center[axis] + b->mass * b->center[axis]) / sum.mass
                               : a->center[axis];
    const mf_MassProperties *parts[2] = {a, b};
    for (int part = 0; part < 2; part++) {
        double offset[3], moved[6];
        mf_vec3_sub(offset, parts[part]->center, sum.center);
        mf_inertia_translate(moved, parts[part]->inertia, parts[part]->mass, offset);
        for (int i = 0; i < 6; i++)
            sum.inertia[i] += moved[i];
    }
    return sum;
}

mf_MassProperties mf_mass_transform(const mf_MassProperties *body, const double position[3],
                                    const double rotation[4]) {
    mf_MassProperties moved = {.mass = body->mass};
    mf_quat_rotate(moved.center, rotation, body->center);
    mf_vec3_add(moved.center, moved.center, position);
    mf_inertia_rotate(moved.inertia, body->inertia, rotation);
    return moved;
}

void mf_mass_second_moments(double moments[3], double axes[9], const mf_MassProperties *body) {
    // Largest second moment = smallest moment of inertia, and those come first.
    double principal[3];
    mf_mat3_eigen(principal, axes, body->inertia);
    double half_trace = (principal[0] + principal[1] + principal[2]) / 2;
    for (int i = 0; i < 3; i++)
        moments[i] = half_trace - principal[i] > 0.0 ? half_trace - principal[i] : 0.0;
}

void mf_mass_to_points(double (*out)[3], uint32_t count, const mf_MassProperties *body) {
    static const double corners[4][3] = {
        {1.0, 1.0, 1.0}, {1.0, -1.0, -1.0}, {-1.0, 1.0, -1.0}, {-1.0, -1.0, 1.0}};
    double moments[3], axes[9];
    mf_mass_second_moments(moments, axes, body);
    uint32_t used_axes = count >= 4 ? 3 : count - 1;
    for (uint32_t i = 0; i < count; i++) {
        double local[3] = {0.0, 0.0, 0.0};
        for (uint32_t axis = 0; axis < used_axes; axis++) {
            double side = count == 2 ? (i == 0 ? 1.0 : -1.0) : corners[i][axis];
            local[axis] = side * mf_sqrt(moments[axis] / body->mass);
        }
        mf_mat3_apply(out[i], axes, local);
        mf_vec3_add(out[i], out[i], body->center);
    }
}

bool mf_model_can_fall(const mf_Model *model) {
    uint32_t spheres = 0;
    bool other = false;
    for (uint32_t j = 0; j < model->joint_count; j++)
        other = other || mf_joint_moves(&model->joints[j]);
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        spheres += shape->collides && shape->type == MF_SHAPE_SPHERE;
        other = other || (shape->collides && shape->type != MF_SHAPE_SPHERE);
    }
    return model->base == MF_BASE_FREE && (other || spheres == 0);
}

bool mf_model_has_visual(const mf_Model *model, uint32_t link) {
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].link == link && model->shapes[i].visual)
            return true;
    return false;
}
