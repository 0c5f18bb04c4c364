/* Drops a stone with the core library alone. After n steps of length h it has fallen between
   g n (n - 1) h^2 / 2 and g n (n + 1) h^2 / 2, whichever end of a step the integrator takes the
   velocity from; for 20 steps of 10 ms that is 0.1864 .. 0.2060 m. */
#include <mayfly/builder.h>
#include <mayfly/motion.h>

#include <stdio.h>

int main(void) {
    const double origin[3] = {0.0, 0.0, 0.0};
    mf_WorldConfig settings = mf_world_config();
    mf_GroupConfig config = mf_group_config();
    mf_Context *context = NULL;
    mf_Builder *builder = NULL;
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Group *group = NULL;
    if (mf_context_create(NULL, &context, NULL) != MF_OK ||
        mf_builder_create(context, "stone", &builder, NULL) != MF_OK)
        return 1;
    mf_body_create_point(builder, origin, 1.0, NULL);
    if (mf_builder_finalize(builder, &model, NULL) != MF_OK ||
        mf_world_create(context, &settings, &world, NULL) != MF_OK)
        return 2;
    config.model = model;
    config.count = 1;
    if (mf_world_add_group(world, &config, &group, NULL) != MF_OK ||
        mf_motion_add(group, MF_MOTION_POINTS, NULL, NULL) != MF_OK)
        return 3;
    mf_Field *position = mf_group_find_field(group, "base.position");
    mf_field_set(position, 0, 2, 1.0);
    mf_world_step(world, 20);
    double fallen = 1.0 - mf_field_get(position, 0, 2);
    printf("mayfly %s: fell %.4f m in 0.2 s\n", mf_version(), fallen);
    mf_world_destroy(world);
    mf_model_destroy(model);
    mf_builder_destroy(builder);
    mf_context_destroy(context);
    return fallen > 0.1863 && fallen < 0.2061 ? 0 : 4;
}
