// Grains fall from a nozzle onto a box; some stay on it, the others roll over its edges. Prints
// how many are where.
#include <math.h>
#include <stdio.h>

#include <mayfly/mayfly.h>

enum { GRAINS = 300 };
static const double radius = 0.01; // [m] of a grain

// A box, or a ball where `size` is NULL.
static mf_Status make_body(mf_Context *context, const double *size, mf_Model **out,
                           mf_Error *error) {
    static const double center[3] = {0.0, 0.0, 0.0};
    mf_Builder *builder = NULL;
    mf_Status status = mf_builder_create(context, size != NULL ? "box" : "grain", &builder, error);
    if (status != MF_OK)
        return status;
    if (size != NULL)
        mf_body_create_box(builder, size, center, 2.0, NULL);
    else
        mf_body_create_sphere(builder, center, radius, 0.01, NULL);
    status = mf_builder_finalize(builder, out, error);
    mf_builder_destroy(builder);
    return status;
}

static mf_Status add_box(mf_World *world, const mf_Model *model, mf_Error *error) {
    const double position[3] = {0.0, 0.0, model->rest_height};
    mf_Group *box = NULL;
    mf_GroupConfig group = mf_group_config();
    group.name = "box";
    group.model = model;
    group.isolated = false;
    mf_Status status = mf_world_add_group(world, &group, &box, error);
    if (status == MF_OK)
        status = mf_collisions_prepare(box, error); // grains push it
    if (status == MF_OK)
        status = mf_motion_add(box, MF_MOTION_RIGID, NULL, error);
    if (status == MF_OK)
        status = mf_group_set_start(box, 0, position, NULL, NULL, error);
    mf_CollisionsMember member = mf_collisions_member(box);
    mf_CollisionsConfig config = mf_collisions_config();
    mf_Collisions *collisions = NULL;
    config.members = &member;
    config.member_count = 1;
    return status == MF_OK ? mf_collisions_add(world, &config, &collisions, error) : status;
}

static mf_Status add_grains(mf_World *world, const mf_Model *model, mf_Group **out,
                            mf_Error *error) {
    mf_Emitter nozzle = mf_emitter(); // downwards
    mf_GroupConfig group = mf_group_config();
    mf_MotionsConfig motion = mf_motions_config();
    nozzle.position[2] = 0.4;
    nozzle.radius = 0.04;
    nozzle.speed = 0.5;
    motion.grains.emitters = &nozzle;
    motion.grains.emitter_count = 1;
    motion.grains.placed = 0;
    motion.grains.rolling = 0.3; // angular grains: they do not roll far
    group.name = "grains";
    group.model = model;
    group.count = GRAINS;
    group.isolated = false;
    MF_TRY(mf_world_add_group(world, &group, out, error));
    MF_TRY(mf_motion_add(*out, MF_MOTION_GRAINS, &motion, error));
    return mf_particles_couple(world, error);
}

static void report(const mf_World *world, const mf_Group *grains) {
    const mf_Field *position = mf_group_find_field((mf_Group *)grains, "base.position");
    const mf_Field *waiting = mf_group_find_field((mf_Group *)grains, "particle.waiting");
    uint32_t above = 0, ground = 0, in_nozzle = 0;
    for (uint32_t i = 0; i < GRAINS; i++) {
        const double x = mf_field_get(position, i, 0), y = mf_field_get(position, i, 1);
        if (mf_field_get(waiting, i, 0) != 0.0)
            in_nozzle++;
        else if (fmax(fabs(x), fabs(y)) < 0.1 && mf_field_get(position, i, 2) > 0.1)
            above++;
        else
            ground++;
    }
    printf("%.1f s: %3u to come, %3u on or above the box, %3u beside it\n",
           mf_time_to_seconds(mf_world_time(world)), in_nozzle, above, ground);
}

int main(void) {
    static const double size[3] = {0.2, 0.2, 0.1}; // [m]
    mf_Context *context = NULL;
    mf_Model *box = NULL, *grain = NULL;
    mf_World *world = NULL;
    mf_Group *grains = NULL;
    mf_Error error = {0};
    char line[600];
    mf_WorldConfig config = mf_world_config();
    config.step = MF_MILLISECOND;
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = make_body(context, size, &box, &error);
    if (status == MF_OK)
        status = make_body(context, NULL, &grain, &error);
    if (status == MF_OK)
        status = mf_world_create(context, &config, &world, &error);
    if (status == MF_OK)
        status = add_box(world, box, &error);
    if (status == MF_OK)
        status = add_grains(world, grain, &grains, &error);
    for (int k = 0; k <= 6 && status == MF_OK; k++) {
        report(world, grains);
        mf_world_step(world, 500);
    }
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, line, sizeof line));
    mf_world_destroy(world);
    mf_model_destroy(grain);
    mf_model_destroy(box);
    mf_context_destroy(context);
    return status != MF_OK;
}
