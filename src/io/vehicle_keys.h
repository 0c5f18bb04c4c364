// Tables of keys of vehicles.
#ifndef MAYFLY_SRC_IO_VEHICLE_KEYS_H
#define MAYFLY_SRC_IO_VEHICLE_KEYS_H

#include "io/keys.h"

#include <mayfly/vehicle_file.h>

// Keys of a vehicle's parameters. A file has them below its kind's name. The tables of all kinds
// form one array.
const mf_KeyTable *mf_vehicle_table(mf_VehicleKind kind);

#endif
