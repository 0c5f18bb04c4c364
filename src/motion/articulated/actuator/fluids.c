// The medium of a file (MJCF: density, viscosity and wind): drag of each body's inertia box, or the
// ellipsoids of its shapes. The formulas are from MuJoCo's documentation, "Computation", fluid
// models by inertia and by ellipsoids; virtual masses are exact, where MuJoCo's come from a
// quadrature (6e-7 off for most, 5e-4 for sheets of 1 : 100 : 200).
#include "motion/articulated/build.h"
#include "math/scalar.h"
#include "model/shape_kinds.h"

#define PI 3.14159265358979323846

// Edges [m] of the box of the body's mass and principal moments.
static void box_of(const mf_Body *body, double edges[3]) {
    const double *moments = body->moments;
    double sum = moments[0] + moments[1] + moments[2];
    for (int i = 0; i < 3; i++) {
        double square = 6.0 * (sum - 2.0 * moments[i]) / body->mass;
        edges[i] = square > 0.0 ? mf_sqrt(square) : 0.0;
    }
}

static mf_ArtFluid fluid_of(const mf_ArtMotion *motion, const mf_Physics *physics,
                            const mf_Body *body) {
    mf_ArtFluid fluid = {0};
    double edges[3], rotation[4], axes[4], at[3];
    box_of(body, edges);
    mf_pose_point(at, body->position, body->rotation, body->center);
    fluid.link = mf_art_pose(motion, body->link, at, body->rotation, fluid.position, rotation);
    mf_quat_multiply(axes, rotation, body->axes);
    mf_quat_to_matrix(fluid.rotation, axes);
    double size = (edges[0] + edges[1] + edges[2]) / 3.0;
    fluid.creep = 3.0 * PI * size * physics->viscosity;
    fluid.whirl = PI * size * size * size * physics->viscosity;
    for (int i = 0; i < 3; i++) {
        double a = edges[(i + 1) % 3], b = edges[(i + 2) % 3];
        fluid.drag[i] = 0.5 * physics->density * a * b;
        fluid.torque_drag[i] = physics->density * edges[i] * (a * a * a * a + b * b * b * b) / 64.0;
    }
    return fluid;
}

// ---- ellipsoids ---------------------------------------------------------------------------------

// Carlson's integral R_D(x, y, z) = 3/2 of that of dt / ((t + z) sqrt((t + x) (t + y) (t + z)))
// over t > 0, by halving (Carlson 1995, "Numerical computation of real or complex elliptic
// integrals").
static double carlson_d(double x, double y, double z) {
    double sum = 0.0, part = 1.0;
    for (int i = 0; i < 30; i++) {
        const double a = mf_sqrt(x), b = mf_sqrt(y), c = mf_sqrt(z), lambda = a * b + a * c + b * c;
        sum += part / (c * (z + lambda));
        part *= 0.25;
        x = 0.25 * (x + lambda);
        y = 0.25 * (y + lambda);
        z = 0.25 * (z + lambda);
    }
    return 3.0 * sum + part / (z * mf_sqrt(z));
}

// Virtual mass and inertia over the density (Lamb 1932, sections 114 and 115).
static void added_mass(const double r[3], double volume, mf_ArtSolid *solid) {
    double k[3];
    for (int i = 0; i < 3; i++) {
        const double a = r[i], b = r[(i + 1) % 3], c = r[(i + 2) % 3];
        k[i] = a * b * c * (2.0 / 3.0) * carlson_d(b * b, c * c, a * a);
        solid->mass[i] = volume * k[i] / (2.0 - k[i]);
    }
    for (int i = 0; i < 3; i++) {
        const int m = (i + 1) % 3, n = (i + 2) % 3;
        const double less = r[m] * r[m] - r[n] * r[n], more = r[m] * r[m] + r[n] * r[n];
        const double under = 2.0 * less + more * (k[m] - k[n]);
        // Round about this axis it moves nothing.
        solid->inertia[i] =
            mf_abs(less) > 1e-9 * more ? 0.2 * volume * less * less * (k[n] - k[m]) / under : 0.0;
    }
}

static mf_ArtSolid solid_of(const double r[3], const double coefficients[5], double density) {
    mf_ArtSolid solid;
    const double volume = 4.0 / 3.0 * PI * r[0] * r[1] * r[2];
    const double most = mf_larger(r[2], mf_larger(r[1], r[0])),
                 least = -mf_larger(-r[2], mf_larger(-r[1], -r[0])),
                 middle = r[0] + r[1] + r[2] - most - least;
    const double blunt = coefficients[0], slender = coefficients[1], angular = coefficients[2];
    const double widest = 8.0 / 15.0 * PI * middle * most * most * most * most;
    added_mass(r, volume, &solid);
    for (int i = 0; i < 3; i++) {
        const double b = r[(i + 1) % 3], c = r[(i + 2) % 3], d = mf_larger(c, b);
        const double own = 8.0 / 15.0 * PI * r[i] * d * d * d * d;
        solid.mass[i] *= density;
        solid.inertia[i] *= density;
        solid.angular_drag[i] = density * (angular * own + slender * (widest - own));
        solid.sides[i] = b * c * b * c;
    }
    solid.blunt = density * blunt;
    solid.slender_part = density * slender;
    solid.slender = density * slender * PI * most * middle;
    solid.kutta = density * coefficients[3];
    solid.magnus = density * coefficients[4] * volume;
    return solid;
}

static mf_ArtFluid ellipsoid_of(const mf_ArtMotion *motion, const mf_Physics *physics,
                                const mf_Shape *shape) {
    mf_ArtFluid fluid = {.shaped = true};
    double r[3], rotation[4];
    mf_shape_box(shape->type, shape->size, NULL, fluid.position, r); // its radii
    fluid.link = mf_art_pose(motion, shape->link, shape->position, shape->rotation, fluid.position,
                             rotation);
    mf_quat_to_matrix(fluid.rotation, rotation);
    const double size = 2.0 / 3.0 * (r[0] + r[1] + r[2]);
    fluid.creep = 3.0 * PI * size * physics->viscosity;
    fluid.whirl = PI * size * size * size * physics->viscosity;
    fluid.solid = solid_of(r, shape->fluid_coefficients, physics->density);
    return fluid;
}

// ---- all of a plan ------------------------------------------------------------------------------

static bool moves(const mf_ArtMotion *motion, const mf_Body *body, int32_t link) {
    return body->link != MF_NONE && body->mass > 0.0 && motion->frames[body->link].link == link;
}

// A body with ellipsoids has no box.
static void add_body(mf_ArtMotion *motion, const mf_Model *model, uint32_t body) {
    const uint32_t before = motion->plan->fluid_count;
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].fluid && model->shapes[i].body == body)
            motion->fluids[motion->plan->fluid_count++] =
                ellipsoid_of(motion, &model->physics, &model->shapes[i]);
    if (motion->plan->fluid_count == before)
        motion->fluids[motion->plan->fluid_count++] =
            fluid_of(motion, &model->physics, &model->bodies[body]);
}

mf_Status mf_art_fluids_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                              mf_Error *error) {
    const mf_Physics *physics = &model->physics;
    const uint32_t off = MF_DISABLE_SPRING | MF_DISABLE_DAMPER; // passive forces as a whole
    if ((physics->density <= 0.0 && physics->viscosity <= 0.0) || (physics->disabled & off) == off)
        return MF_OK;
    MF_TRY(
        MF_ALLOCATE(context, "articulated", error,
                    MF_ARRAY(motion->fluids, (size_t)model->body_count + model->shape_count + 1)));
    for (int32_t link = motion->plan->fixed ? 0 : -1; link < (int32_t)motion->plan->link_count;
         link++) {
        const uint32_t first = motion->plan->fluid_count;
        for (uint32_t b = 0; b < model->body_count; b++)
            if (moves(motion, &model->bodies[b], link))
                add_body(motion, model, b);
        if (link < 0) {
            motion->plan->base_fluids = motion->plan->fluid_count;
            continue;
        }
        motion->links[link].first_fluid = first;
        motion->links[link].fluid_count = motion->plan->fluid_count - first;
        motion->links[link].posed |= motion->plan->fluid_count > first;
    }
    mf_vec3_copy(motion->plan->wind, physics->wind);
    motion->plan->posed = true;
    return MF_OK;
}
