// Plugins named on the command line (plugins.h).
#include "plugins.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The text of the list while it grows.
typedef struct List {
    char *text; // MF_PLUGIN_LIST bytes
    size_t used;
} List;

MF_PRINTF(2, 3)
static void put(List *list, const char *format, ...) {
    va_list arguments;
    if (list->used >= MF_PLUGIN_LIST)
        return;
    va_start(arguments, format);
    int length = vsnprintf(list->text + list->used, MF_PLUGIN_LIST - list->used, format, arguments);
    va_end(arguments);
    list->used += length > 0 ? (size_t)length : 0;
}

// Splits "PLUGIN.SETTING=NUMBER"; false when malformed.
static bool split(const char *text, size_t *plugin, const char **setting, size_t *length,
                  double *value) {
    const char *dot = strchr(text, '.'), *equals = dot == NULL ? NULL : strchr(dot, '=');
    char *end = NULL;
    if (equals == NULL || equals[1] == '\0' || dot == text || equals == dot + 1)
        return false;
    *plugin = (size_t)(dot - text);
    *setting = dot + 1;
    *length = (size_t)(equals - dot - 1);
    *value = strtod(equals + 1, &end);
    return *end == '\0';
}

// Settings of the plugin `name`, marked in `used`.
static void put_settings(List *list, const mf_PluginOptions *options, const char *name,
                         bool used[MF_OPTION_ITEMS]) {
    const char *comma = "";
    put(list, ", settings: {");
    for (uint32_t i = 0; i < options->settings.count; i++) {
        size_t plugin, length;
        const char *setting;
        double value;
        if (!split(options->settings.items[i], &plugin, &setting, &length, &value) ||
            strlen(name) != plugin || strncmp(options->settings.items[i], name, plugin) != 0)
            continue;
        put(list, "%s\"%.*s\": %.17g", comma, (int)length, setting, value);
        comma = ", ";
        used[i] = true;
    }
    put(list, "}");
}

static mf_Status put_plugin(mf_Context *context, const mf_PluginOptions *options, const char *file,
                            List *list, bool used[MF_OPTION_ITEMS], bool *has_motion,
                            mf_Error *error) {
    char absolute[MF_APP_PATH];
    mf_Plugin *plugin = NULL;
    MF_TRY(mf_plugin_load(context, file, &plugin, error));
    const mf_PluginEntry *entry = mf_plugin_describe(plugin);
    *has_motion |= entry->kind == MF_PLUGIN_MOTION;
    put(list, "%s{file: \"%s\"", list->used > 1 ? ", " : "", mf_app_absolute(file, absolute));
    if (options->tick != NULL)
        put(list, ", tick: %s", options->tick);
    put_settings(list, options, entry->name, used);
    put(list, "}");
    mf_plugin_close(plugin);
    return MF_OK;
}

static mf_Status check_settings(const mf_PluginOptions *options, const bool used[MF_OPTION_ITEMS],
                                mf_Error *error) {
    for (uint32_t i = 0; i < options->settings.count; i++) {
        const char *text = options->settings.items[i], *setting;
        size_t plugin, length;
        double value;
        MF_NEED(split(text, &plugin, &setting, &length, &value), error,
                "--plugin-set: expected PLUGIN.SETTING=NUMBER, found '%.99s'", text);
        MF_CHECK(used[i], error, MF_NOT_FOUND, "--plugin-set: no --plugin has the name %.*s",
                 (int)(plugin < 99 ? plugin : 99), text);
    }
    return MF_OK;
}

mf_Status mf_plugin_list(mf_Context *context, const mf_PluginOptions *options,
                         char out[MF_PLUGIN_LIST], bool *has_motion, mf_Error *error) {
    List list = {.text = out};
    bool used[MF_OPTION_ITEMS] = {false};
    mf_Status status = MF_OK;
    *has_motion = false;
    put(&list, "[");
    for (uint32_t i = 0; i < options->files.count && status == MF_OK; i++)
        status =
            put_plugin(context, options, options->files.items[i], &list, used, has_motion, error);
    put(&list, "]");
    MF_THEN(status, check_settings(options, used, error));
    if (status == MF_OK && list.used >= MF_PLUGIN_LIST)
        status = mf_fail(error, MF_LIMIT, "--plugin: expected fewer or shorter names and settings");
    return status;
}

void mf_app_plugins_print(const mf_Scene *scene) {
    for (uint32_t i = 0; i < scene->plugin_count; i++) {
        const mf_PluginEntry *entry = mf_plugin_describe(scene->plugins[i]);
        mf_PluginStatistics seen = mf_plugin_statistics(scene->plugins[i]);
        printf("plugin    %s %s (%s): %llu calls, the slowest %.3g ms, %llu late\n", entry->name,
               entry->version, entry->kind == MF_PLUGIN_MOTION ? "motion" : "controller",
               (unsigned long long)seen.calls, 1e-6 * (double)seen.slowest,
               (unsigned long long)seen.late);
        if (seen.breaches > 0)
            printf("%9s %llu violations; the first: %s\n", "", (unsigned long long)seen.breaches,
                   seen.breach);
    }
    const mf_JointRequestStatistics requests = mf_joint_request_statistics(scene->joints);
    if (requests.carried_out + requests.refused > 0)
        printf("joints    %llu requests carried out, %llu refused%s%s\n",
               (unsigned long long)requests.carried_out, (unsigned long long)requests.refused,
               requests.refused > 0 ? "; the first: " : "", requests.reason);
}
