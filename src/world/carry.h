// The state of a world in another one that has the same groups and more behind them.
#pragma once

#include <mayfly/world.h>

// Gives `to` the time of `from`, its state outside of fields, and all fields of its groups; groups
// of `to` behind those keep what they have. From then on the robots of `from` move in `to` as they
// would have moved in `from`, as far as the robots of the groups behind do not act on them. Fields
// that `to` alone has keep their values; it may lack those that only follow from the state.
// MF_BAD_ARGUMENT, and nothing changes: another step, seed, gravity or ground, a group with another
// name, number of robots or model, or without one of the fields. MF_BUSY: results of a system are
// not applied yet: step `from` first.
mf_Status mf_world_carry(mf_World *to, const mf_World *from, mf_Error *error);
