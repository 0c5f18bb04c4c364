// What became of the docks of a world, for people and as JSON.
#ifndef MAYFLY_APP_RUN_DOCKS_H
#define MAYFLY_APP_RUN_DOCKS_H

#include <jansson.h>

#include <mayfly/docks.h>

// Sums in one line, and a table of the broken docks; nothing without docks.
void mf_run_print_docks(const mf_World *world);

// The same as an object, with all broken docks in "broken_docks". NULL: no docks, or no memory.
json_t *mf_run_pack_docks(const mf_World *world);

#endif
