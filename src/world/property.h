// Internals of properties: the parts of a model, their constants, and their elements of fields.
#pragma once

#include <mayfly/property.h>

// Number of parts of a kind in a model; 1 for the robot.
uint32_t mf_part_count(const mf_Model *model, mf_Part part);
// "" when it has none, and for the robot.
const char *mf_part_own_name(const mf_Model *model, mf_Part part, uint32_t index);
// Replaces the part by its parent in the tree (a link on its joint, a joint on its parent link, a
// sensor on its joint or link); false at the top.
bool mf_part_parent(const mf_Model *model, mf_Part *part, uint32_t *index);

// The n-th constant of a part of the robot; false when there are no more. Sets all members except
// group and instance.
bool mf_part_constant(const mf_Model *model, mf_Part part, uint32_t index, uint32_t n,
                      mf_Property *out);
// The part's values in a field of the group; false when the field has none for it. Likewise.
bool mf_part_field(const mf_Model *model, mf_Part part, uint32_t index, mf_Field *field,
                   mf_Property *out);

// Whether a name fits a pattern of `size` characters, in which * stands for any number of them.
bool mf_name_matches(const char *pattern, size_t size, const char *name);

// Whether a motion moves the values of its field, so that others follow from them.
bool mf_property_moves(const mf_Property *property);
// Four numbers that are one orientation.
bool mf_property_is_rotation(const mf_Property *property);
