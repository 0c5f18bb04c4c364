// Numbers of robots of a group at the end of a run: active, lying, with faults, and by motion.
#ifndef MAYFLY_APP_CENSUS_H
#define MAYFLY_APP_CENSUS_H

#include "app.h"

typedef struct mf_Census {
    uint32_t robots, alive;                  // [1] total, and without a fault
    uint32_t collided, crashed, fenced;      // [1] failed by collision, ground contact, fence
    uint32_t faulty;                         // [1] with any other fault
    uint32_t lying;                          // [1] robots with joints that lean far
    uint32_t levels[MF_MOTION_OWN_LAST + 1]; // [1] robots at each motion
    uint64_t refused;                        // [1] commands that vehicles refused
} mf_Census;

mf_Census mf_census_of(mf_Group *group);

// "3 rigid, 1 articulated"; "scenery" for groups that do not move. Returns `out`.
const char *mf_census_levels(const mf_Census *census, char *out, size_t size);
// {"rigid": 3, "articulated": 1}
json_t *mf_census_pack_levels(const mf_Census *census);

#endif
