// A cloth for mayfly info: what it is made of, and what its motion does not model.
#ifndef MAYFLY_APP_INFO_CLOTH_H
#define MAYFLY_APP_INFO_CLOTH_H

#include "app.h"

#include <mayfly/cloth.h>

// Prints the cloth of a file as text, or as one JSON object.
mf_Status mf_info_cloth(mf_Context *context, const char *path, bool json, mf_Error *error);

#endif
