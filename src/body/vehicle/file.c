// Vehicle files: one top key names the kind, below it are the members of its parameters. Errors of
// the parameter checks begin with the member's name, so the message gets the position of that
// member.
#include "body/kind.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "motion/vehicle/fixed_wing/motion.h"
#include "motion/vehicle/car/motion.h"
#include "base/floats.h"
#include "motion/vehicle/keys.h"
#include "io/yaml_text.h"

#include <stdio.h>
#include <string.h>

enum { KINDS = 3 };

const char *mf_vehicle_kind_name(mf_VehicleKind kind) {
    return (unsigned)kind < KINDS ? mf_vehicle_table(kind)->noun : "unknown";
}

// The parameters of the vehicle.
static void *parameters_of(mf_Vehicle *vehicle) {
    void *const parameters[KINDS] = {&vehicle->quadrotor, &vehicle->fixed_wing, &vehicle->car};
    return parameters[vehicle->kind];
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status check(const mf_Vehicle *vehicle, mf_Error *error) {
    switch (vehicle->kind) {
    case MF_VEHICLE_QUADROTOR:
        return mf_quadrotor_check(&vehicle->quadrotor, error);
    case MF_VEHICLE_FIXED_WING:
        return mf_fixed_wing_check(&vehicle->fixed_wing, error);
    case MF_VEHICLE_CAR:
        break;
    }
    return mf_car_check(&vehicle->car, error);
}

// Reports "quadrotor.mass: ..." at the position of the value, or of the kind if the file does not
// give it.
static mf_Status check_members(const mf_Reader *reader, const mf_Vehicle *vehicle) {
    mf_Error cause = {0};
    mf_Status status = check(vehicle, &cause);
    if (status == MF_OK)
        return MF_OK;
    char member[64] = "";
    size_t kind = strlen(reader->table->noun);
    if (strncmp(cause.message, reader->table->noun, kind) == 0 && cause.message[kind] == '.') {
        const char *name = cause.message + kind + 1;
        snprintf(member, sizeof member, "%.*s", (int)strcspn(name, " :[."), name);
    }
    const mf_YamlNode *node =
        member[0] == '\0' ? NULL : mf_yaml_find(reader->root, member, strlen(member));
    return mf_yaml_fail(reader->tree, node != NULL ? node : reader->root, node == NULL, MF_BAD_FILE,
                        reader->error, "%s", cause.message);
}

static mf_Status read_vehicle(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_Vehicle *vehicle = reader->base;
    uint32_t kind;
    vehicle->context = source->context;
    MF_TRY(mf_document_choose(reader, mf_vehicle_table(MF_VEHICLE_QUADROTOR), KINDS, &kind));
    vehicle->kind = (mf_VehicleKind)kind;
    reader->base = parameters_of(vehicle);
    MF_TRY(mf_reader_read(reader));
    MF_TRY(check_members(reader, vehicle));
    return mf_document_take_name(reader, &vehicle->file, &vehicle->name);
}

static const mf_DocumentKind vehicle_kind = {"vehicle", sizeof(mf_Vehicle), read_vehicle, NULL};

mf_Status mf_vehicle_load(mf_Context *context, const char *path, mf_Vehicle **out,
                          mf_Error *error) {
    void *value = NULL;
    mf_Status status =
        mf_body_load(context, &mf_vehicle_body, path, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

// ---- accessors ----------------------------------------------------------------------------------

double mf_vehicle_radius(const mf_Vehicle *vehicle) {
    MF_DEFAULT_FLOATS;
    if (vehicle == NULL)
        return 0.0;
    const double radii[KINDS] = {vehicle->quadrotor.radius, vehicle->fixed_wing.radius,
                                 vehicle->car.radius};
    return radii[vehicle->kind];
}

// ---- model -------------------------------------------------------------------------------------

static mf_Motion motion_of(const void *body) {
    return (mf_Motion)(MF_MOTION_QUADROTOR + (int)((const mf_Vehicle *)body)->kind);
}

static void configure(const void *body, int command, mf_Time control, mf_MotionsConfig *config) {
    const mf_Vehicle *vehicle = body;
    switch (vehicle->kind) {
    case MF_VEHICLE_QUADROTOR:
        config->quadrotor = vehicle->quadrotor;
        config->quadrotor_config.command = (mf_QuadrotorCommand)command;
        config->quadrotor_config.control_interval = control;
        return;
    case MF_VEHICLE_FIXED_WING:
        config->fixed_wing = vehicle->fixed_wing;
        config->fixed_wing_config.command = (mf_FixedWingCommand)command;
        config->fixed_wing_config.control_interval = control;
        config->fixed_wing_config.start_altitude = -1e5; // they fly at their initial heights
        return;
    case MF_VEHICLE_CAR:
        break;
    }
    config->car = vehicle->car;
    config->car_config.command = (mf_CarCommand)command;
    config->car_config.control_interval = control;
}

// The motion of a kind makes the model of its parameters.
mf_Status mf_vehicle_body_model(mf_Context *context, const mf_Vehicle *vehicle, mf_Model **out,
                                mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(vehicle != NULL, error, "vehicle: vehicle is NULL");
    const char *name = vehicle->kind == MF_VEHICLE_FIXED_WING ? "fixed_wing" : vehicle->name;
    mf_MotionsConfig config = mf_motions_config();
    configure(vehicle, 0, 0, &config);
    return mf_motion_model(context, motion_of(vehicle), &config, name, out, error);
}

// ---- writing -----------------------------------------------------------------------------------

static mf_Status write_body(mf_Context *context, const void *body, char **text, mf_Error *error) {
    mf_Vehicle *vehicle = (mf_Vehicle *)(uintptr_t)body; // only read
    return mf_keys_write_under(context, mf_vehicle_table(vehicle->kind), parameters_of(vehicle),
                               mf_vehicle_kind_name(vehicle->kind), text, error);
}

// ---- the row -----------------------------------------------------------------------------------

static bool is(const char *text, size_t size) {
    bool found = false;
    for (int i = 0; i < KINDS && !found; i++)
        found = mf_yaml_has_top_key(text, size, mf_vehicle_kind_name((mf_VehicleKind)i));
    return found;
}

static mf_Status make_model(mf_Context *context, const void *body, mf_Model **out,
                            mf_Error *error) {
    return mf_vehicle_body_model(context, body, out, error);
}

static mf_Status check_group(const mf_Reader *reader, const mf_SceneGroup *group) {
    const mf_Vehicle *vehicle = group->body;
    const bool outside = group->motion == MF_MOTION_OWN || group->motion == MF_MOTION_EXTERNAL;
    if (!outside && group->motion != motion_of(vehicle))
        return mf_reader_refuse(reader, "motion", NULL, "%s: the vehicle is a %s",
                                mf_motion_name(group->motion), mf_vehicle_kind_name(vehicle->kind));
    if (group->rule_count > 0)
        return mf_reader_refuse(reader, "switch", NULL,
                                "vehicles have one motion and cannot switch");
    return MF_OK;
}

// Its performance and its file with all defaults.
static mf_Status describe(mf_Context *context, const void *body, const char *path, mf_Text *text,
                          struct json_t **object, mf_Error *error) {
    char *page = NULL, *file = NULL;
    (void)path;
    (void)object;
    mf_Status status = mf_vehicle_describe(body, 9.81, &page, error);
    MF_THEN(status, write_body(context, body, &file, error));
    if (status == MF_OK)
        mf_text_format(text, "%s\n%s", page, file);
    mf_release(context, page);
    mf_release(context, file);
    return status;
}

_Static_assert(offsetof(mf_Vehicle, file) == 0, "mf_body_file reads it");

const mf_BodyKind mf_vehicle_body = {
    .name = "vehicle",
    .document = &vehicle_kind,
    .is = is,
    .write = write_body,
    .model = make_model,
    .motion = motion_of,
    .step = 2 * MF_MILLISECOND,
    .check = check_group,
    .configure = configure,
    .describe = describe,
};
