// A truss for mayfly info: what it is made of, what its geometry says, what it bears.
#ifndef MAYFLY_APP_INFO_TRUSS_H
#define MAYFLY_APP_INFO_TRUSS_H

#include "app.h"

#include <mayfly/truss.h>

// Prints the truss of a file as text, or as one JSON object.
mf_Status mf_info_truss(mf_Context *context, const char *path, bool json, mf_Error *error);

#endif
