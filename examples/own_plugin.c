// Loads a plugin, lists its declarations, and uses it as motion or controller of four robots.
//
//     example_own_plugin PLUGIN.so MODEL.urdf
#include <mayfly/mayfly.h>

#include <stdio.h>

static int fail(const mf_Error *error) {
    char line[800];
    fprintf(stderr, "%s\n", mf_error_format(error, line, sizeof line));
    return 1;
}

static void list(const mf_PluginEntry *entry) {
    printf("%s %s, a %s: %s\n", entry->name, entry->version,
           entry->kind == MF_PLUGIN_MOTION ? "motion" : "controller", entry->about);
    for (uint32_t i = 0; i < entry->field_count; i++)
        printf("  %s %-22s [%s] %s\n",
               entry->fields[i].access & MF_PLUGIN_WRITE ? "writes" : "reads ",
               entry->fields[i].name, entry->fields[i].unit, entry->fields[i].about);
    for (uint32_t i = 0; i < entry->setting_count; i++)
        printf("  setting %-20s [%s] %s, %g .. %g, usually %g\n", entry->settings[i].name,
               entry->settings[i].unit, entry->settings[i].about, entry->settings[i].lower,
               entry->settings[i].upper, entry->settings[i].usual);
}

static mf_Status add(mf_Group *group, mf_Plugin *plugin, mf_Error *error) {
    mf_PluginConfig config = mf_plugin_config();
    config.budget = MF_MILLISECOND; // a longer call counts as late
    if (mf_plugin_describe(plugin)->kind == MF_PLUGIN_MOTION) {
        mf_Field *target = mf_group_find_field(group, "joint.target");
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            mf_field_set(target, i, 0, 0.5);
            mf_field_set(target, i, 1, 0.1 * i);
        }
        return mf_plugin_motion_add(group, plugin, &config, NULL, error);
    }
    MF_TRY(mf_motion_add(group, MF_MOTION_POINTS, NULL, error));
    return mf_plugin_control_add(group, mf_rate_from_period(20 * MF_MILLISECOND), plugin, &config,
                                 error);
}

int main(int argc, char **argv) {
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Group *group;
    mf_Plugin *plugin = NULL;
    mf_Error error = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: %s PLUGIN.so MODEL.urdf\n", argv[0]);
        return 2;
    }
    mf_WorldConfig settings = mf_world_config();
    mf_GroupConfig robots = mf_group_config();
    robots.count = 4;
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_plugin_load(context, argv[1], &plugin, &error);
    if (status == MF_OK)
        status = mf_model_load(context, argv[2], NULL, &model, &error);
    robots.model = model;
    if (status == MF_OK)
        status = mf_world_create(context, &settings, &world, &error);
    if (status == MF_OK)
        status = mf_world_add_group(world, &robots, &group, &error);
    if (status == MF_OK)
        status = add(group, plugin, &error);
    if (status == MF_OK) {
        list(mf_plugin_describe(plugin));
        mf_world_step(world, 500);
        for (uint32_t i = 0; i < robots.count; i++) {
            const mf_Field *position = mf_group_find_field(group, "base.position");
            printf("robot %u after 5 s: %.3f %.3f %.3f m, fault %u\n", i,
                   mf_field_get(position, i, 0), mf_field_get(position, i, 1),
                   mf_field_get(position, i, 2), mf_group_fault(group, i));
        }
        mf_PluginStatistics seen = mf_plugin_statistics(plugin);
        printf("%llu calls, the slowest %.1f us\n", (unsigned long long)seen.calls,
               1e-3 * (double)seen.slowest);
    }
    mf_world_destroy(world);
    mf_plugin_close(plugin);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : fail(&error);
}
