// The body of a vehicle: one link whose origin is its center of mass, with four mass points; its
// collision shape is a sphere or an upright cylinder, its ground contact one point below it.
#include "motion/vehicle/body.h"
#include "math/scalar.h"
#include "model/draft.h"
#include "model/points.h"
#include "world/attach.h"

const char *const mf_integrator_names[] = {"euler", "semi_implicit", "heun", "rk4", NULL};

// The principal values of a real body are positive and none exceeds the sum of the other two; the
// slack lets a flat plate pass whose published numbers were rounded or measured (1 % off).
mf_Status mf_vehicle_check_inertia(const char *name, const double inertia[6], mf_Error *error) {
    double values[3];
    mf_mat3_eigen(values, NULL, inertia);
    MF_NEED(values[0] > 0.0, error,
            "%s: not positive definite, its smallest principal value is %g kg m^2", name,
            values[0]);
    if (values[2] > 1.02 * (values[0] + values[1]))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: no real body has it, the principal value %g kg m^2 exceeds the sum of "
                       "the others, %g",
                       name, values[2], values[0] + values[1]);
    return MF_OK;
}

static mf_Status check_body(const mf_VehicleBody *body, mf_Error *error) {
    if (body == NULL || body->name == NULL || *body->name == '\0')
        return mf_fail(error, MF_BAD_ARGUMENT, "name: a vehicle needs one");
    if (!(body->mass >= 1e-9 && body->mass <= 1e9))
        return mf_fail(error, MF_BAD_ARGUMENT, "mass: %g, need 1e-9 .. 1e9 kg", body->mass);
    if (!(body->radius >= 1e-6 && body->radius <= 1e4))
        return mf_fail(error, MF_BAD_ARGUMENT, "radius: %g, need 1e-6 .. 1e4 m", body->radius);
    if (!(body->clearance >= 0.0 && body->clearance <= 1e4))
        return mf_fail(error, MF_BAD_ARGUMENT, "clearance: %g, need 0 .. 1e4 m", body->clearance);
    MF_NEED(mf_all_finite(body->inertia, 6), error, "inertia: need six finite numbers in kg m^2");
    for (int i = 0; i < 6; i++)
        if (mf_abs(body->inertia[i]) > 1e12)
            return mf_fail(error, MF_BAD_ARGUMENT, "inertia: %g, need at most 1e12 kg m^2",
                           body->inertia[i]);
    return mf_vehicle_check_inertia("inertia", body->inertia, error);
}

static bool add_shape(mf_Draft *draft, double radius, double half_height) {
    const bool flat = half_height > 0.0 && half_height < radius;
    mf_Shape *shape = mf_draft_add_shape(draft, 0, flat ? MF_SHAPE_CYLINDER : MF_SHAPE_SPHERE);
    if (shape == NULL)
        return false;
    shape->size[0] = flat ? mf_sqrt(radius * radius - half_height * half_height) : radius;
    shape->size[1] = flat ? 2.0 * half_height : 0.0;
    shape->collides = true;
    return true;
}

static bool fill_draft(mf_Draft *draft, const mf_VehicleBody *body) {
    mf_MassProperties mass = {.mass = body->mass};
    const double foot[3] = {0.0, 0.0, -body->clearance};
    memcpy(mass.inertia, body->inertia, sizeof mass.inertia);
    return mf_draft_add_body(draft, body->name, &mass, foot) &&
           add_shape(draft, body->radius, body->half_height);
}

mf_Status mf_vehicle_model(mf_Context *context, const mf_VehicleBody *body, mf_Model **out,
                           mf_Error *error) {
    MF_NEED(context != NULL, error, "mf_vehicle_model: context is NULL");
    mf_Draft draft;
    *out = NULL;
    MF_TRY(check_body(body, error));
    mf_draft_start(&draft, context);
    mf_Status status = fill_draft(&draft, body)
                           ? mf_draft_freeze(&draft, out, error)
                           : mf_fail(error, MF_NO_MEMORY, "vehicle %s: out of memory", body->name);
    mf_draft_release(&draft);
    return status;
}

mf_Status mf_vehicle_check(const mf_Group *group, const char *name, double mass, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    MF_NEED(model->joint_count == 0, error,
            "%s: model %s has joints, and a vehicle is one body; make it with mf_motion_model()",
            name, model->name);
    MF_NEED(mf_abs(model->mass - mass) <= 1e-6 * mass, error,
            "%s.mass: %g kg, but the model of group %s has %g kg; make it with mf_motion_model()",
            name, mass, mf_group_config_of(group)->name, model->mass);
    const double *center = model->links[0].center;
    MF_NEED(mf_vec3_length(center) <= 1e-6, error,
            "%s: the center of mass of model %s is %g m from its origin, where a vehicle "
            "has it; make it with mf_motion_model()",
            name, model->name, mf_vec3_length(center));
    return MF_OK;
}

// ---- momentum and energy ------------------------------------------------------------------------

// Angular momentum about the center, which is the base's origin, in body axes; returns the kinetic
// energy of the rotation.
static double rate_of(const mf_Group *group, uint32_t instance, double momentum[3]) {
    const double *i = mf_group_model(group)->links[0].inertia;
    const mf_Field *rate = mf_group_find_field((mf_Group *)group, "base.angular_velocity");
    double w[3];
    mf_field_read(rate, instance, 0, 3, w);
    mf_sym3_apply(momentum, i, w);
    return 0.5 * mf_vec3_dot(momentum, w);
}

void mf_vehicle_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]) {
    (void)plan;
    const mf_Field *position = mf_group_find_field((mf_Group *)group, "base.position");
    const mf_Field *attitude = mf_group_find_field((mf_Group *)group, "base.orientation");
    const mf_Field *velocity = mf_group_find_field((mf_Group *)group, "base.linear_velocity");
    double q[4], momentum[3];
    mf_field_read(attitude, instance, 0, 4, q);
    mf_field_read(position, instance, 0, 3, center);
    mf_field_read(velocity, instance, 0, 3, linear);
    mf_vec3_scale(linear, linear, mf_group_model(group)->mass);
    rate_of(group, instance, momentum);
    mf_quat_rotate(angular, q, momentum);
}

mf_MotionEnergy mf_vehicle_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    const double mass = mf_group_model(group)->mass;
    const double gravity = mf_world_config_of(mf_group_world(group))->gravity;
    double center[3], linear[3], angular[3], momentum[3];
    mf_vehicle_momentum(group, plan, instance, center, linear, angular);
    return (mf_MotionEnergy){.kinetic = 0.5 * mf_vec3_dot(linear, linear) / mass +
                                        rate_of(group, instance, momentum),
                             .potential = mass * gravity * center[2]};
}
