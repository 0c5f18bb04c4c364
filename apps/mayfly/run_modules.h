// What became of modular robots, for people and as JSON: their docks and messages.
#pragma once

#include <jansson.h>

#include <mayfly/messages.h>

// Sums in one line, and a table of the broken docks; nothing without docks.
void mf_run_print_assemblies(const mf_World *world);
// Nothing without messages.
void mf_run_print_messages(const mf_World *world);

// The same as the members "docks", with all broken ones in "broken_docks", and "messages".
void mf_run_set_modules(json_t *object, const mf_World *world);
