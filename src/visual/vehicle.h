// What a vehicle looks like, in pictures and in films.
#pragma once

#include <mayfly/world.h>

enum { MF_VEHICLE_PARTS = 10 }; // [1] most shapes of one

// Shapes on its link, for people only; returns how many, 0: the group's motion is not that of a
// vehicle.
uint32_t mf_vehicle_look(const mf_Group *group, mf_Shape parts[MF_VEHICLE_PARTS]);
