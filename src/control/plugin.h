// A loaded plugin (plugin.c), a plugin of a group (plugin_system.c), and its calls (plugin_call.c).
#pragma once

#include <mayfly/plugin.h>

#include "base/scratch.h"

#include <stdatomic.h>

struct mf_Plugin {
    mf_Context *context;
    void *library; // of dlopen
    const mf_PluginEntry *entry;
    atomic_uint holders; // references: the caller of load, and each system
    atomic_uint_fast64_t calls, late, slowest, breaches;
    atomic_uint breach_taken; // 1: the text is being written
    atomic_uint breach_ready; // 1: it is written
    char breach[256];
    char path[]; // as given by the caller
};

void mf_plugin_hold(mf_Plugin *plugin);

// Counts a breach and keeps the first one as text.
void mf_plugin_breach(mf_Plugin *plugin, const char *format, ...) MF_PRINTF(2, 3);

// ---- plugins of a group ------------------------------------------------------------------------

enum { MF_PLUGIN_GUARD = 128 }; // [byte] before, between and after copies: a row of doubles

typedef struct mf_PluginUseField {
    mf_Field *field;
    size_t size;   // [byte] of a block
    size_t offset; // [byte] in the copy, after its guard
} mf_PluginUseField;

typedef struct mf_PluginUse {
    mf_Plugin *plugin;
    mf_Group *group;
    mf_PluginSetup setup;
    void *self;
    bool made;       // create() succeeded
    uint32_t *fault; // fault.word
    uint32_t *level; // motion.level; NULL: all robots
    uint32_t own;    // [1] the plugin's level
    mf_Time budget;  // [ns]
    size_t copy_size;
    mf_Scratch *scratch; // memory of the copies
    uint32_t field_count;
    mf_PluginUseField fields[MF_PLUGIN_FIELD_LIMIT];
    uint32_t components[MF_PLUGIN_FIELD_LIMIT];
    double settings[MF_PLUGIN_SETTING_LIMIT];
    const char *reads[MF_PLUGIN_FIELD_LIMIT + 3], *writes[MF_PLUGIN_FIELD_LIMIT + 2];
    int orientation, position; // [1] indices of those fields among the written ones, -1: none
    char name[80];
} mf_PluginUse;

// Time taken by calls.
typedef struct mf_PluginTally {
    uint64_t calls, late;
    mf_Time slowest; // [ns]
} mf_PluginTally;

// Calls the plugin for the robots marked in `active`, or its reset function if `reset`, and copies
// its output back. The plugin gets pointers to copies only.
void mf_plugin_call(mf_PluginUse *use, uint32_t block, uint64_t tick, mf_Time time, bool reset,
                    const uint32_t active[MF_BLOCK], mf_PluginTally *tally);
void mf_plugin_count(mf_Plugin *plugin, const mf_PluginTally *tally);

// As mf_plugin_load for a path in a file; MF_UNSUPPORTED unless mf_plugins_allow.
mf_Status mf_plugin_load_named(mf_Context *context, const char *path, mf_Plugin **out,
                               mf_Error *error);
