// The medium of a file (MJCF: density, viscosity and wind): drag of each body's inertia box. The
// formulas are those of MuJoCo's documentation, "Computation", fluid model by inertia.
#include "motion/articulated/build.h"
#include "math/scalar.h"

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

static mf_ArtFluid fluid_of(const mf_ArtPlan *plan, const mf_Physics *physics,
                            const mf_Body *body) {
    const mf_ArtPlace *in = &plan->places[body->link];
    mf_ArtFluid fluid = {.link = in->link};
    double edges[3], turn[4], axes[4], at[3];
    box_of(body, edges);
    mf_quat_rotate(at, body->rotation, body->center);
    mf_vec3_add(at, at, body->position);
    mf_quat_rotate(fluid.place, in->turn, at);
    mf_vec3_add(fluid.place, fluid.place, in->place);
    mf_quat_multiply(turn, in->turn, body->rotation);
    mf_quat_multiply(axes, turn, body->axes);
    mf_quat_to_matrix(fluid.turn, axes);
    double size = (edges[0] + edges[1] + edges[2]) / 3.0;
    fluid.creep = 3.0 * PI * size * physics->viscosity;
    fluid.whirl = PI * size * size * size * physics->viscosity;
    for (int i = 0; i < 3; i++) {
        double a = edges[(i + 1) % 3], b = edges[(i + 2) % 3];
        fluid.drag[i] = 0.5 * physics->density * a * b;
        fluid.twist[i] = physics->density * edges[i] * (a * a * a * a + b * b * b * b) / 64.0;
    }
    return fluid;
}

static bool moves(const mf_ArtPlan *plan, const mf_Body *body, int32_t link) {
    return body->link != MF_NONE && body->mass > 0.0 && plan->places[body->link].link == link;
}

mf_Status mf_art_fluids_build(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                              mf_Error *error) {
    const mf_Physics *physics = &model->physics;
    const uint32_t off = MF_DISABLE_SPRING | MF_DISABLE_DAMPER; // passive forces as a whole
    if ((physics->density <= 0.0 && physics->viscosity <= 0.0) || (physics->disabled & off) == off)
        return MF_OK;
    plan->fluids = mf_allocate(context, model->body_count + 1, sizeof *plan->fluids);
    if (plan->fluids == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (int32_t link = plan->fixed ? 0 : -1; link < (int32_t)plan->link_count; link++) {
        const uint32_t first = plan->fluid_count;
        for (uint32_t b = 0; b < model->body_count; b++)
            if (moves(plan, &model->bodies[b], link))
                plan->fluids[plan->fluid_count++] = fluid_of(plan, physics, &model->bodies[b]);
        if (link < 0) {
            plan->base_fluids = plan->fluid_count;
            continue;
        }
        plan->links[link].first_fluid = first;
        plan->links[link].fluid_count = plan->fluid_count - first;
        plan->links[link].placed |= plan->fluid_count > first;
    }
    mf_vec3_copy(plan->wind, physics->wind);
    plan->posed = true;
    return MF_OK;
}
