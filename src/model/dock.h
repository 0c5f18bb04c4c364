// Docks of a model: ranges, and which fit each other.
#ifndef MAYFLY_SRC_MODEL_DOCK_H
#define MAYFLY_SRC_MODEL_DOCK_H

#include <mayfly/model.h>

// MF_BAD_ARGUMENT, beginning with `what`, unless every value of a dock is in its range.
mf_Status mf_dock_check(const mf_Dock *dock, const char *what, mf_Error *error);

// Whether two docks fit each other: genders and types.
bool mf_dock_fits(const mf_Dock *first, const mf_Dock *second);

#endif
