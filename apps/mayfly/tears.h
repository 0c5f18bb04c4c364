// What is torn at the end of a run.
#ifndef MAYFLY_APP_TEARS_H
#define MAYFLY_APP_TEARS_H

#include <jansson.h>
#include <mayfly/world.h>

// One line for a group that can tear: how many elements of how many did. `name`
// of the group; NULL: the only one.
void mf_tears_print(const mf_Group *group, const char *name);

// The number of torn elements; null: nothing in the group can tear.
json_t *mf_tears_pack(const mf_Group *group);

#endif
