// Systems that call a C function for one robot at a time.
#pragma once

#include <mayfly/control.h>

// Adds `entry`, with its name, rate, fields and settings, as a system of the phase CONTROL that
// calls `function`. A reset zeroes the field `cleared`; NULL: none.
mf_Status mf_callback_add_system(mf_Group *group, mf_SystemConfig *entry, mf_ControlFn function,
                                 void *user, mf_Field *cleared, mf_Error *error);
