// The attributes of a camera, in any file.
#ifndef MAYFLY_SRC_IMPORT_CAMERA_H
#define MAYFLY_SRC_IMPORT_CAMERA_H

#include "model/draft.h"
#include "import/xml.h"

#include <mayfly/camera.h>

// MF_BAD_FILE unless every attribute is a row of the table of fields or one of the NULL-terminated
// names `elsewhere`.
mf_Status mf_import_camera_names(const mf_Xml *xml, const mf_XmlNode *node,
                                 const char *const *elsewhere, mf_Error *error);
// Reads those that are given over *out: all rows of the table but frame and rate; delay [s]. Texts
// are those of the file. MF_BAD_FILE.
mf_Status mf_import_camera(const mf_Xml *xml, const mf_XmlNode *node, mf_Camera *out,
                           mf_Error *error);

#endif
