// Sensor readings of a robot, as text and as JSON.
#ifndef MAYFLY_APP_READINGS_H
#define MAYFLY_APP_READINGS_H

#include "app.h"

// Prints the latest readings of the first robot, one sensor a line, the first line headed by
// `title`; nothing when the group has no sensors.
void mf_readings_print(mf_Group *group, const char *title);

// All values of the first robot, in the order of their addresses; empty without sensors.
json_t *mf_readings_pack(mf_Group *group);

#endif
