// What became of a run, as text and as JSON: the robots of a group, sensor readings and what is
// torn.
#pragma once

#include "app.h"

// ---- robots ------------------------------------------------------------------------------------

typedef struct mf_Census {
    uint32_t robots, alive;                  // [1] total, and without a fault
    uint32_t collided, crashed, fenced;      // [1] failed by collision, ground contact, fence
    uint32_t faulty;                         // [1] with any other fault
    uint32_t lying;                          // [1] robots with joints that lean far
    uint32_t levels[MF_MOTION_OWN_LAST + 1]; // [1] robots at each motion
    uint64_t refused;                        // [1] commands that vehicles refused
} mf_Census;

mf_Census mf_census_of(mf_Group *group);
void mf_census_add(mf_Census *sum, const mf_Census *census);

// "3 rigid, 1 articulated"; "scenery" for groups that do not move. Returns `out`.
const char *mf_census_levels(const mf_Census *census, char *out, size_t size);
// {"rigid": 3, "articulated": 1}
json_t *mf_census_pack_levels(const mf_Census *census);

// ---- sensors -----------------------------------------------------------------------------------

// Prints the latest readings of the first robot, one sensor a line, the first line headed by
// `title`; nothing when the group has no sensors.
void mf_readings_print(mf_Group *group, const char *title);

// All values of the first robot, in the order of their addresses; empty without sensors.
json_t *mf_readings_pack(mf_Group *group);

// ---- tears -------------------------------------------------------------------------------------

// One line for a group that can tear: how many elements of how many did. `name`
// of the group; NULL: the only one.
void mf_tears_print(const mf_Group *group, const char *name);

// The number of torn elements; null: nothing in the group can tear.
json_t *mf_tears_pack(const mf_Group *group);
