// A loaded plugin, as plugin.c makes it and plugin_system.c calls it.
#ifndef MF_CONTROL_PLUGIN_H
#define MF_CONTROL_PLUGIN_H

#include <mayfly/plugin.h>

#include <stdatomic.h>

struct mf_Plugin {
    mf_Context *context;
    void *library; // of dlopen
    const mf_PluginEntry *entry;
    atomic_uint holders; // the caller of load, and each system
    atomic_uint_fast64_t calls, late, slowest, breaches;
    atomic_uint breach_taken; // 1: somebody writes the text
    atomic_uint breach_ready; // 1: it is written
    char breach[256];
    char path[]; // as it was given
};

void mf_plugin_hold(mf_Plugin *plugin);

// Counts a breach and keeps the first one as text.
void mf_plugin_breach(mf_Plugin *plugin, const char *format, ...) MF_PRINTF(2, 3);

#endif
