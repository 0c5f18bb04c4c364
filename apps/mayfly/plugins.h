// Plugins of the command line: --plugin FILE, --plugin-tick S, --plugin-set PLUGIN.SETTING=NUMBER.
#pragma once

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
                "shared library with a motion or controller for a scene of one group "             \
                "(docs/how_to/plugins.md); may be given more than once"),                          \
        MF_OPT_REAL("plugin-tick", "S", type, plugins.tick, 1e-6, 3600,                            \
                    "period of calls of a controller (default: control_interval of the group)"),   \
        MF_OPT_LIST("plugin-set", "PLUGIN.SETTING=NUMBER", type, plugins.settings,                 \
                    "change a setting of a plugin; may be given more than once")

// The list `plugins` of a group as text of an override, in at most MF_PLUGIN_LIST bytes, and
// whether one of them is a motion. Loads each library to read its name.
enum { MF_PLUGIN_LIST = 8192 };
mf_Status mf_plugin_list(mf_Context *context, const mf_PluginOptions *options,
                         char out[MF_PLUGIN_LIST], bool *has_motion, mf_Error *error);

// Statistics of the calls of a scene's plugins, a line for each.
void mf_app_plugins_print(const mf_Scene *scene);
