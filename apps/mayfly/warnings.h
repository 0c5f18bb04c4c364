// Output of warnings at the end of a run.
#ifndef MAYFLY_APP_WARNINGS_H
#define MAYFLY_APP_WARNINGS_H

#include <jansson.h>
#include <mayfly/world.h>

// One line for each kind of warning that a robot of the group has: number of robots and steps, the
// largest residual, its meaning and a remedy. `name` of the group; NULL: the only one.
void mf_warnings_print(const mf_Group *group, const char *name);

// {"solver": {"robots": 2, "steps": 31, "residual": 0.2}}; {} without warnings.
json_t *mf_warnings_pack(const mf_Group *group);

#endif
