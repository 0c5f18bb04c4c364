// Mayfly: properties by path. Constants of the model and fields of the group are accessed by names
// along the robot's tree, as numbers with a unit: for scripts, records and scene files.
// docs/reference/model_fields.md has the grammar and the list of constants.
//
//     robots[3]/left_leg/knee/joint.angle    one value: joint knee, below the link left_leg
//     robots3/knee/joint.angle               the same, if no other joint has the name knee
//     robots[3]/joint.angle                  all joints, in the model's order
//     robots[3]/base.position.z              one component; base.position[2] is the same
//     robots[3]/left_leg/mass                a constant of the model
//     robots[*]/left_*/joint.rate            a pattern: several properties
//     robots[3]/rotor.speed:rpm              in another unit of the same quantity
#pragma once

#include <mayfly/world.h>

#define MF_PROPERTY_PATH 1024u // [byte] longest path with its terminator
#define MF_PROPERTY_VALUES 16u // [1] most values of a constant

// What a property belongs to.
typedef enum mf_Part {
    MF_PART_ROBOT,
    MF_PART_LINK,
    MF_PART_JOINT,
    MF_PART_BODY,
    MF_PART_ACTUATOR,
    MF_PART_SENSOR,
    MF_PART_TENDON,
    MF_PART_DOCK,
    MF_PART_COUNT
} mf_Part;
// "robot", "link", "joint", "body", "actuator", "sensor", "tendon", "dock".
MF_API const char *mf_part_name(mf_Part part);

typedef struct mf_Property {
    mf_Group *group;
    uint32_t instance; // [1]
    mf_Part part;
    uint32_t index;         // [1] of the link, joint, ... in the model; 0 for the robot
    mf_Field *field;        // NULL: a constant of the model
    uint32_t first;         // [1] component of the field
    uint32_t count;         // [1] values
    const double *constant; // [1] or in `unit`: `count` values in the model; NULL: a field
    const char *name;       // "joint.angle", "mass"
    const char *unit;       // "m"; "1" for pure numbers; that of the path where it names one
    double scale;           // [1] of values in `unit` to those of the field or the model
    const char *frame;      // "world", "body", "joint", "link" or ""
    const char *description;
    uint32_t flags; // [1] MF_FIELD_*; 0 for constants
} mf_Property;

// The property of `path`. MF_NOT_FOUND names the unknown piece of the path and similar names;
// MF_BAD_ARGUMENT: several match, or the path is too long. Valid as long as world and model.
MF_API mf_Status mf_property_find(mf_World *world, const char *path, mf_Property *out,
                                  mf_Error *error);
// The same for a path within one robot: "knee/joint.angle".
MF_API mf_Status mf_property_find_in(mf_Group *group, uint32_t instance, const char *path,
                                     mf_Property *out, mf_Error *error);

// Called for each property; false ends the list.
typedef bool (*mf_PropertyFn)(const mf_Property *property, void *user);

// Calls `visit` for every property that matches `pattern`, in which * matches any part of a name
// or, in brackets, all instances: group by group, robot by robot, in the order of model and fields.
// Returns the number of visited properties.
MF_API uint64_t mf_property_list(mf_World *world, const char *pattern, mf_PropertyFn visit,
                                 void *user);
MF_API uint64_t mf_property_list_in(mf_Group *group, uint32_t instance, const char *pattern,
                                    mf_PropertyFn visit, void *user);

// A short path of the property. Returns `out`; a longer path is truncated.
MF_API const char *mf_property_path(const mf_Property *property, char *out, size_t size);

// The `count` values; whole numbers exactly.
MF_API void mf_property_read(const mf_Property *property, double *values);

// Writes `count` values between two steps, then the group's systems recompute derived values.
// MF_BAD_ARGUMENT, with nothing written: it must not be written, a value is not finite, is not a
// whole number if the field has those, or an orientation is not of length 1 within 1 % (it is
// normalized) or not complete.
MF_API mf_Status mf_property_write(const mf_Property *property, const double *values,
                                   mf_Error *error);
