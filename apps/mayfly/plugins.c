// Plugins of the command line.
#include "plugins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mf_AppPlugin *find_plugin(mf_AppPlugins *plugins, const char *name, size_t length) {
    for (uint32_t i = 0; i < plugins->count; i++) {
        const char *own = mf_plugin_describe(plugins->items[i].plugin)->name;
        if (strlen(own) == length && strncmp(own, name, length) == 0)
            return &plugins->items[i];
    }
    return NULL;
}

// "sway.amplitude=0.2"; whether the plugin has such a setting is told when it is added.
static mf_Status take_setting(mf_AppPlugins *plugins, uint32_t index, const char *text,
                              mf_Error *error) {
    const char *dot = strchr(text, '.'), *equals = dot == NULL ? NULL : strchr(dot, '=');
    char *end = NULL;
    double value = equals == NULL ? 0.0 : strtod(equals + 1, &end);
    if (equals == NULL || equals[1] == '\0' || *end != '\0' || dot == text || equals == dot + 1 ||
        (size_t)(equals - dot) > sizeof plugins->names[index])
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "--plugin-set: expected PLUGIN.SETTING=NUMBER, found '%.99s'", text);
    mf_AppPlugin *plugin = find_plugin(plugins, text, (size_t)(dot - text));
    if (plugin == NULL)
        return mf_fail(error, MF_NOT_FOUND, "--plugin-set: no --plugin is called %.*s",
                       (int)(dot - text < 99 ? dot - text : 99), text);
    if (plugin->value_count == MF_PLUGIN_SETTING_LIMIT)
        return mf_fail(error, MF_LIMIT, "--plugin-set: expected at most %d for %s",
                       MF_PLUGIN_SETTING_LIMIT, mf_plugin_describe(plugin->plugin)->name);
    snprintf(plugins->names[index], sizeof plugins->names[index], "%.*s", (int)(equals - dot - 1),
             dot + 1);
    plugin->values[plugin->value_count++] = (mf_PluginValue){plugins->names[index], value};
    return MF_OK;
}

mf_Status mf_app_plugins_load(mf_Context *context, const mf_PluginOptions *options,
                              mf_AppPlugins *out, mf_Error *error) {
    memset(out, 0, sizeof *out);
    out->tick = mf_option_real(options->tick, 0.0);
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < options->files.count && status == MF_OK; i++) {
        mf_AppPlugin *item = &out->items[out->count];
        status = mf_plugin_load(context, options->files.items[i], &item->plugin, error);
        if (status != MF_OK)
            break;
        out->count++;
        out->has_motion |= mf_plugin_describe(item->plugin)->kind == MF_PLUGIN_MOTION;
    }
    for (uint32_t i = 0; i < options->settings.count && status == MF_OK; i++)
        status = take_setting(out, i, options->settings.items[i], error);
    return status;
}

mf_Status mf_app_plugins_add(const mf_AppPlugins *plugins, mf_Group *group, mf_PluginKind kind,
                             mf_Time tick, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < plugins->count && status == MF_OK; i++) {
        const mf_AppPlugin *item = &plugins->items[i];
        mf_PluginConfig config = mf_plugin_config();
        config.values = item->values;
        config.value_count = item->value_count;
        if (mf_plugin_describe(item->plugin)->kind != (uint32_t)kind)
            continue;
        status = kind == MF_PLUGIN_MOTION
                     ? mf_plugin_motion_add(group, item->plugin, &config, NULL, error)
                     : mf_plugin_control_add(group, mf_rate_from_period(tick), item->plugin,
                                             &config, error);
    }
    return status;
}

void mf_app_plugins_print(const mf_AppPlugins *plugins) {
    for (uint32_t i = 0; i < plugins->count; i++) {
        const mf_PluginEntry *entry = mf_plugin_describe(plugins->items[i].plugin);
        mf_PluginStatistics seen = mf_plugin_statistics(plugins->items[i].plugin);
        printf("plugin    %s %s (%s): %llu calls, the slowest %.3g ms, %llu late\n", entry->name,
               entry->version, entry->kind == MF_PLUGIN_MOTION ? "motion" : "controller",
               (unsigned long long)seen.calls, 1e-6 * (double)seen.slowest,
               (unsigned long long)seen.late);
        if (seen.breaches > 0)
            printf("%9s %llu breaches; the first: %s\n", "", (unsigned long long)seen.breaches,
                   seen.breach);
    }
}

void mf_app_plugins_free(mf_AppPlugins *plugins) {
    for (uint32_t i = 0; i < plugins->count; i++)
        mf_plugin_close(plugins->items[i].plugin);
    plugins->count = 0;
}
