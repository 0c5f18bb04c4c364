// The attributes of a dock, in any file.
#ifndef MAYFLY_SRC_IMPORT_DOCK_H
#define MAYFLY_SRC_IMPORT_DOCK_H

#include "model/draft.h"
#include "import/xml.h"

// Reads all attributes of a <dock> but those of its place, which are the NULL-terminated names
// `place`, over the defaults. Texts are those of the file. MF_BAD_FILE: an unknown attribute, a
// value.
mf_Status mf_import_dock(const mf_Xml *xml, const mf_XmlNode *node, const char *const *place,
                         mf_Dock *out, mf_Error *error);
// Adds a dock to the draft; errors have the position of the node.
mf_Status mf_import_add_dock(const mf_Xml *xml, const mf_XmlNode *node, mf_Draft *draft,
                             const mf_Dock *dock, mf_Error *error);

#endif
