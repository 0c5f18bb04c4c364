// Plugins of the command line: --plugin FILE, --plugin-tick S, --plugin-set PLUGIN.SETTING=NUMBER.
#ifndef MAYFLY_APP_PLUGINS_H
#define MAYFLY_APP_PLUGINS_H

#include "app.h"
#include "options.h"

#include <mayfly/plugin.h>

typedef struct mf_PluginOptions {
    mf_OptionList files;    // shared libraries
    mf_OptionList settings; // PLUGIN.SETTING=NUMBER
    const char *tick;       // [s] as typed, or NULL
} mf_PluginOptions;

// Rows of an option table for `plugins`.
#define MF_PLUGIN_OPTIONS(type, plugins)                                                           \
    MF_OPT_LIST("plugin", "FILE", type, plugins.files,                                             \
                "motion or controller of your own for a robot's own file: a shared library "       \
                "(docs/how_to/plugins.md); may be given more than once"),                          \
        MF_OPT_REAL("plugin-tick", "S", type, plugins.tick, 1e-6, 3600,                            \
                    "a controller is called this often (default 0.01)"),                           \
        MF_OPT_LIST("plugin-set", "PLUGIN.SETTING=NUMBER", type, plugins.settings,                 \
                    "change a setting of a plugin; may be given more than once")

typedef struct mf_AppPlugin {
    mf_Plugin *plugin;
    mf_PluginValue values[MF_PLUGIN_SETTING_LIMIT];
    uint32_t value_count; // [1]
} mf_AppPlugin;

// Plugins that have been loaded, with what was set.
typedef struct mf_AppPlugins {
    mf_AppPlugin items[MF_OPTION_ITEMS];
    char names[MF_OPTION_ITEMS][80]; // of settings, that `values` point at
    uint32_t count;                  // [1]
    bool has_motion;
    double tick; // [s] 0: about 10 ms in whole steps
} mf_AppPlugins;

// Loads all; the texts of `options` must outlive *out. Call mf_app_plugins_free in any case.
mf_Status mf_app_plugins_load(mf_Context *context, const mf_PluginOptions *options,
                              mf_AppPlugins *out, mf_Error *error);

// Adds those that are motions, or those that control at a period of `tick` [ns].
mf_Status mf_app_plugins_add(const mf_AppPlugins *plugins, mf_Group *group, mf_PluginKind kind,
                             mf_Time tick, mf_Error *error);

// What was seen of their calls, a line for each.
void mf_app_plugins_print(const mf_AppPlugins *plugins);

void mf_app_plugins_free(mf_AppPlugins *plugins);

#endif
