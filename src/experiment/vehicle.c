// Vehicles' files: one top key names the kind, below it stand the members of its parameters. What a
// kind's own check refuses begins with the member's name, so the message gets that member's place.
#include "experiment/reader.h"
#include "experiment/vehicle_keys.h"

#include <stdio.h>
#include <string.h>

enum { KINDS = 3 };

// A vehicle with the memory behind it. The public part comes first.
typedef struct Box {
    mf_Vehicle vehicle;
    mf_KeyMemory memory;
} Box;

const char *mf_vehicle_kind_name(mf_VehicleKind kind) {
    return (unsigned)kind < KINDS ? mf_vehicle_table(kind)->noun : "unknown";
}

// The parameters of the vehicle's kind.
static void *parameters_of(mf_Vehicle *vehicle) {
    switch (vehicle->kind) {
    case MF_VEHICLE_QUADROTOR:
        return &vehicle->quadrotor;
    case MF_VEHICLE_FIXED_WING:
        return &vehicle->fixed_wing;
    case MF_VEHICLE_CAR:
        break;
    }
    return &vehicle->car;
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status find_kind(const mf_YamlTree *tree, mf_VehicleKind *kind, mf_Error *error) {
    static const char wanted[] = "expected one key: quadrotor, fixed_wing or car";
    const mf_YamlNode *root = tree->root, *top = root->first;
    char found[64];
    if (root->kind != MF_YAML_MAPPING || top == NULL)
        return mf_yaml_fail(tree, root, false, MF_BAD_FILE, error, "%s, found %s", wanted,
                            mf_yaml_describe(root, found, sizeof found));
    size_t best = SIZE_MAX;
    mf_VehicleKind near = MF_VEHICLE_QUADROTOR;
    for (int i = 0; i < KINDS; i++) {
        size_t distance = mf_name_distance(top->key, mf_vehicle_kind_name((mf_VehicleKind)i));
        if (distance < best) {
            best = distance;
            near = (mf_VehicleKind)i;
        }
    }
    if (best > 3 || 2 * best > strlen(top->key))
        return mf_yaml_fail(tree, top, true, MF_BAD_FILE, error, "%s, found %.40s", wanted,
                            top->key);
    if (best > 0)
        return mf_yaml_fail(tree, top, true, MF_BAD_FILE, error,
                            "%.40s: unknown key, did you mean %s?", top->key,
                            mf_vehicle_kind_name(near));
    if (top->next != NULL)
        return mf_yaml_fail(tree, top->next, true, MF_BAD_FILE, error, "%s, found %.40s too",
                            wanted, top->next->key);
    *kind = near;
    return MF_OK;
}

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

// Puts "quadrotor.mass: ..." at the value of mass, or, where the file does not give it, at the
// kind.
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

static mf_Status read_tree(mf_Reader *reader, mf_Vehicle *vehicle) {
    mf_Status status = find_kind(reader->tree, &vehicle->kind, reader->error);
    if (status != MF_OK)
        return status;
    reader->table = mf_vehicle_table(vehicle->kind);
    reader->root = reader->tree->root->first;
    reader->base = parameters_of(vehicle);
    reader->what = reader->table->noun;
    snprintf(reader->prefix, sizeof reader->prefix, "%s.", reader->table->noun);
    status = mf_reader_read(reader);
    if (status == MF_OK)
        status = check_members(reader, vehicle);
    vehicle->name = "";
    return status == MF_OK ? mf_reader_take_file_name(reader, &vehicle->file, &vehicle->name)
                           : status;
}

mf_Status mf_vehicle_parse(mf_Context *context, const char *path, const char *text, size_t size,
                           mf_Vehicle **out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "vehicle: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL || (text == NULL && size != 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "vehicle: context, path or text is NULL");
    mf_YamlTree tree;
    mf_Status status = mf_yaml_parse(context, path, text == NULL ? "" : text, size, &tree, error);
    if (status != MF_OK)
        return status;
    Box *box = mf_allocate(context, 1, sizeof *box);
    if (box == NULL) {
        mf_yaml_free(&tree);
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to read the file");
    }
    box->vehicle.context = context;
    box->memory.context = context;
    mf_Reader reader = {.tree = &tree, .memory = &box->memory, .error = error};
    status = read_tree(&reader, &box->vehicle);
    mf_yaml_free(&tree);
    if (status != MF_OK) {
        mf_vehicle_destroy(&box->vehicle);
        return status;
    }
    *out = &box->vehicle;
    return MF_OK;
}

mf_Status mf_vehicle_load(mf_Context *context, const char *path, mf_Vehicle **out,
                          mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "vehicle: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "vehicle: context or path is NULL");
    char *text;
    size_t size;
    mf_Status status = mf_file_read(context, path, MF_YAML_BYTES, &text, &size, error);
    if (status != MF_OK)
        return status;
    status = mf_vehicle_parse(context, path, text, size, out, error);
    mf_release(context, text);
    return status;
}

void mf_vehicle_destroy(mf_Vehicle *vehicle) {
    if (vehicle == NULL)
        return;
    Box *box = (Box *)vehicle;
    mf_Context *context = vehicle->context;
    mf_key_memory_free(&box->memory);
    mf_release(context, box);
}

// ---- writing -----------------------------------------------------------------------------------

mf_Status mf_vehicle_write(const mf_Vehicle *vehicle, char **text, mf_Error *error) {
    if (text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "vehicle: text is NULL");
    *text = NULL;
    if (vehicle == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "vehicle: vehicle is NULL");
    mf_Vehicle *source = (mf_Vehicle *)(uintptr_t)vehicle; // only read
    return mf_keys_write_under(vehicle->context, mf_vehicle_table(vehicle->kind),
                               parameters_of(source), mf_vehicle_kind_name(vehicle->kind), text,
                               error);
}
