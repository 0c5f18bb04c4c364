// Tables of keys of vehicles and swarms.
#ifndef MAYFLY_SRC_EXPERIMENT_VEHICLE_KEYS_H
#define MAYFLY_SRC_EXPERIMENT_VEHICLE_KEYS_H

#include "experiment/keys.h"

#include <mayfly/swarm.h>

// Keys of a vehicle's parameters. A file has them below its kind's name. The tables of all kinds
// lie one behind the other.
const mf_KeyTable *mf_vehicle_table(mf_VehicleKind kind);

// Keys of a swarm's file, those of its groups among them.
const mf_KeyTable *mf_swarm_table(void);

#endif
