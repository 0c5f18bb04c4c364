// Common code for adding sensors and controllers to a group: checks before any change, and fields
// that remain after a failed attempt, which can therefore be repeated. Also the interface between
// motions and sensors.
#pragma once

#include <mayfly/world.h>

// Checks that the rate consists of two positive numbers and that the group has no system `name`.
mf_Status mf_attach_check(const mf_Group *group, const char *name, mf_Rate rate, mf_Error *error);

// The group's field of this name, added if it is missing. MF_BAD_ARGUMENT if it exists with another
// type or size.
mf_Status mf_attach_field(mf_Group *group, const mf_FieldInfo *info, uint32_t count, mf_Field **out,
                          mf_Error *error);

// The group's field of that name, or MF_NOT_FOUND with `advice`.
mf_Status mf_attach_find(mf_Group *group, const char *name, const char *advice, mf_Field **out,
                         mf_Error *error);

// [byte] Size of a field's values and of their remainders, which lie behind them.
size_t mf_field_bytes(const mf_Field *field);

// Index of a value of an instance; the next component is MF_BLOCK further on.
static inline size_t mf_field_index(const mf_Field *field, uint32_t instance, size_t component) {
    return ((size_t)(instance / MF_BLOCK) * field->components + component) * MF_BLOCK +
           instance % MF_BLOCK;
}

// The components from `first` on by mf_field_get and mf_field_set.
void mf_field_read(const mf_Field *field, uint32_t instance, uint32_t first, uint32_t count,
                   double *out);
void mf_field_write(mf_Field *field, uint32_t instance, uint32_t first, uint32_t count,
                    const double *values);
void mf_field_clear(mf_Field *field, uint32_t instance); // all become 0; NULL is allowed

// To a value of a field of real numbers.
static inline void mf_field_add(const mf_Field *field, uint32_t instance, size_t component,
                                double value) {
    const size_t at = mf_field_index(field, instance, component);
    if (field->info.type == MF_F64)
        ((double *)field->data)[at] += value;
    else
        ((float *)field->data)[at] = (float)((double)((float *)field->data)[at] + value);
}

// Whether it is an input that no system of the group writes.
static inline bool mf_field_is_input(const mf_Group *group, const mf_Field *field) {
    return (field->info.flags & MF_FIELD_INPUT) != 0 &&
           mf_group_writer(group, field->info.name, 0) == NULL;
}

const char *mf_field_type_name(mf_FieldType type);

// Clears remainders of an instance that cannot be rounding errors of its values.
void mf_field_settle(mf_Field *field, uint32_t instance);

// The fields warning.word, warning.steps and warning.residual, added when they are missing: for
// motions that raise warnings (mayfly/world.h). A reset of the group clears them.
typedef struct mf_WarningFields {
    mf_Field *word, *steps, *residual;
} mf_WarningFields;
mf_Status mf_attach_warnings(mf_Group *group, mf_WarningFields *out, mf_Error *error);

// Text of a warning of this group, in place of the common text; `bit` is one of MF_WARNING_*, and
// `words` must outlive the group.
void mf_attach_warning_words(mf_Group *group, uint32_t bit, const mf_WarningWords *words);

// Makes resets put the colliding shapes of robots onto the ground instead of their contact points:
// for motions that use shapes. Robots whose file has a pose keep it. Reset them afterwards.
mf_Status mf_group_stand_on_shapes(mf_Group *group, mf_Error *error);

// The model of an instance: the group's, or its own.
const mf_Model *mf_group_model_of(const mf_Group *group, uint32_t instance);
// Whether instances have models of their own.
bool mf_group_has_own_models(const mf_Group *group);
// Gives an instance a model of its own, which has the tree of the group's and must outlive the
// group: its start is that model's from the next reset on. MF_UNSUPPORTED: it stands on another
// number of points. MF_NO_MEMORY.
mf_Status mf_group_set_model(mf_Group *group, uint32_t instance, const mf_Model *model,
                             mf_Error *error);

// The field of numbers that robots have of their own (multibody/numbers.h); NULL: all have those of
// the group's model, which also goes for `group` NULL.
const mf_Field *mf_group_numbers(const mf_Group *group);
void mf_attach_numbers(mf_Group *group, const mf_Field *numbers);
// Computes the derived fields of an instance (mf_attach_derived) from its state.
void mf_group_derive(mf_Group *group, uint32_t instance);

// Sets the settings hash of the system `name` of the group after its settings changed.
void mf_attach_rehash(mf_Group *group, const char *name, uint64_t settings_hash);

// The length of a list of names that ends with NULL, as those of what a system reads; NULL has
// none.
uint32_t mf_name_count(const char *const *names);

// The world's system of that name, or NULL.
const mf_WorldSystemConfig *mf_world_find_system(const mf_World *world, const char *name);

// Declares that the fields written by the system `name` follow from the state: it runs only in the
// last step of each call of mf_world_step, unless another system declares that it reads them. A
// system of the group that declares nothing may read any; one of the world must name them.
void mf_attach_derived(mf_Group *group, const char *name);

// How a system runs for robots of several groups at once.
typedef struct mf_Alike {
    // Whether two objects `user` of systems with the same function and settings do the same to the
    // same fields, whatever the models are called, but for the constants that `lanes` gives. NULL:
    // they run group by group. Both touch nothing but declared fields and run no code of a user.
    bool (*alike)(const void *user, const void *other);
    // Gives `count` lanes of `user`, from `lane` on, the constants of `other`, which is alike;
    // `other` NULL: all lanes have its own again. False: no memory. NULL: no constants differ.
    bool (*lanes)(void *user, const void *other, uint32_t lane, uint32_t count);
    bool slow; // a step takes longer than copying its fields there and back
} mf_Alike;

// Declares that the system `name` may run for robots of several groups at once; `alike` is not
// copied, and asked again when a field or a system was added.
void mf_attach_alike(mf_Group *group, const char *name, const mf_Alike *alike);

// Whether a controller of the group declares that it writes joint.target.
bool mf_attach_drives_joints(const mf_Group *group);

// Memory from mf_allocate that begins with an mf_Kept and that the group releases last: texts of
// fields that are not literals.
typedef struct mf_Kept {
    struct mf_Kept *next;
} mf_Kept;
void mf_attach_keep(mf_Group *group, mf_Kept *kept);

// `destroy` of systems whose `user` is one allocation.
void mf_attach_release(mf_Context *context, void *user);

// ---- contacts ----------------------------------------------------------------------------------

// The links and shapes of the rows of a group's field contact.load. Motions that write the field
// register the rows on creation; sensors query them.
typedef struct mf_ContactRow {
    int32_t part;       // [1] rigid part of the robot
    double position[3]; // [m] in that part's frame
    uint32_t shape;     // [1] of the model, MF_NONE: a point
} mf_ContactRow;

typedef struct mf_ContactLink { // per link of the model
    int32_t part;
    double position[3]; // [m] the link's origin in its part's frame
    double rotation[4]; // [1] link's axes to the part's
} mf_ContactLink;

// The point of a row's surface that is lowest along the unit vector `up`, all in the part's frame,
// as an instance has it.
typedef void (*mf_ContactPointFn)(const void *plan, uint32_t instance, uint32_t row,
                                  const double up[3], double position[3]);

// Replaces the registered rows; both arrays are copied, `plan` is the argument of `point` and must
// outlive the group.
mf_Status mf_contacts_register(mf_Group *group, const mf_ContactRow *rows, uint32_t count,
                               const mf_ContactLink *links, mf_ContactPointFn point,
                               const void *plan, mf_Error *error);

// Position [m] of a row's contact in the frame of `link`. False when it is on another rigid part,
// or the row is not registered.
bool mf_contacts_position(const mf_Group *group, uint32_t row, uint32_t link, double position[3]);

// The link and shape (MF_NONE: a point) of a row. False: not registered.
bool mf_contacts_owner(const mf_Group *group, uint32_t row, uint32_t *link, uint32_t *shape);
// The lowest point [m] of a row's surface against the unit vector `up`, both in the frame of
// `link`, its owner.
void mf_contacts_lowest(const mf_Group *group, uint32_t instance, uint32_t row, uint32_t link,
                        const double up[3], double position[3]);

// ---- state --------------------------------------------------------------------------------------

// The position vector of an instance (mf_group_set_state's), position_count values; joints without
// a field have their initial position.
void mf_group_get_position(const mf_Group *group, uint32_t instance, double *position);

// ---- memory kept by the world -------------------------------------------------------------------

// Transfers ownership of `user` to the world, which calls `destroy` when it is destroyed, before
// its groups. MF_LIMIT: the world owns MF_WORLD_KEPT objects already.
enum { MF_WORLD_KEPT = 12 };
mf_Status mf_world_keep(mf_World *world, const char *name, void *user,
                        void (*destroy)(mf_Context *context, void *user), mf_Error *error);
void *mf_world_kept(const mf_World *world, const char *name); // NULL: none of that name

// ---- queries ------------------------------------------------------------------------------------

// Quantities that a motion computes for sensors on demand, stored in the field sensor.geometry.
typedef struct mf_SensorSource {
    // Prepares for the sensors of the group's model; adds no field if none needs it.
    mf_Status (*prepare)(mf_Group *group, mf_Error *error);
    // The first component of a sensor in the field; false when it has none.
    bool (*find)(const mf_Group *group, uint32_t sensor, uint32_t *component);
    void (*run)(const mf_SystemRun *run);                  // for the robots of a run
    void (*one)(const mf_Group *group, uint32_t instance); // for one, also with a fault
} mf_SensorSource;

// `sensor_source` must outlive the group.
void mf_sensor_source_set(mf_Group *group, const mf_SensorSource *sensor_source);

// Without a source these do nothing and find nothing.
mf_Status mf_sensor_source_prepare(mf_Group *group, mf_Error *error);
bool mf_sensor_source_find(const mf_Group *group, uint32_t sensor, uint32_t *component);
void mf_sensor_source_run(const mf_SystemRun *run);
void mf_sensor_source_one(const mf_Group *group, uint32_t instance);

// Environment of a group: whether its world was given a ground; whether a system of the world
// raises a fault below it; whether one writes wind.velocity.
bool mf_attach_ground_given(const mf_Group *group);
bool mf_attach_ground_tested(const mf_Group *group);
bool mf_attach_wind_blows(const mf_Group *group);

uint32_t mf_group_block_count(const mf_Group *group);
