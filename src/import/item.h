// What importers have in common: the attributes of a structure, by its rows in the table of model
// fields (texts are those of the file, errors MF_BAD_FILE); items on links; contact points.
#pragma once

#include "model/mounted.h"
#include "import/xml.h"

// An error unless every attribute is a row of the table or one of the NULL-terminated names
// `elsewhere`.
mf_Status mf_import_names(const mf_Xml *xml, const mf_XmlNode *node, mf_ItemType item,
                          const char *const *elsewhere);
// Reads those that are given over *out: all rows but structures; times [s].
mf_Status mf_import_members(const mf_Xml *xml, const mf_XmlNode *node, mf_ItemType item, void *out);
// Reads one of them from the attribute `name`, if that is given.
mf_Status mf_import_member(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                           const mf_ModelField *field, void *out);

// An error: something else was expected as this attribute.
mf_Status mf_import_refuse(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                           const char *expected);
// The status, for MF_BAD_ARGUMENT MF_BAD_FILE; a failure gets the node's position.
mf_Status mf_import_blame(const mf_Xml *xml, const mf_XmlNode *node, mf_Status status,
                          const mf_Error *cause);

// Adds an item on a link to the draft; errors begin with `what` and have the node's position.
mf_Status mf_import_mount(const mf_Xml *xml, const mf_XmlNode *node, mf_Draft *draft,
                          const mf_MountedKind *kind, const void *item, const char *what);

// Adds the contact points of a shape of the draft for the ground: at most `mesh_points` of a mesh,
// `ring` around each end of a cylinder. MF_NO_MEMORY in draft->error.
mf_Status mf_import_touch(mf_Draft *draft, uint32_t shape, uint32_t mesh_points, uint32_t ring);
