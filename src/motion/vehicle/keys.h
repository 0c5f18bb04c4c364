// The table of the parameters of vehicles.
#pragma once

#include "base/key.h"

#include <mayfly/vehicle_file.h>

// Keys of a vehicle's parameters. A file has them below its kind's name. The tables of all kinds
// form one array.
const mf_KeyTable *mf_vehicle_table(mf_VehicleKind kind);

// Whether every number of `parameters` (mf_Quadrotor, mf_FixedWing or mf_Car) is within the range
// of its key. MF_BAD_ARGUMENT.
mf_Status mf_vehicle_check_ranges(mf_VehicleKind kind, const void *parameters, mf_Error *error);

// The parameters of a group of vehicles; NULL: it has none of that kind.
const void *mf_vehicle_parameters(const mf_Group *group, mf_VehicleKind kind);
