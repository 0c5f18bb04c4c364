// A model as JSON: every field of the table of model fields by its name, in the model's own order
// and units, for scripts and for comparison with other simulators. Infinite limits and missing
// indices are null. A group adds what its scene gives it.
#include "io/model_json.h"
#include "motion/articulated/host.h"

#include "motion/vehicle/keys.h"

#include <jansson.h>
#include <math.h>
#include <mayfly/articulated.h>
#include <mayfly/model_fields.h>
#include <mayfly/vehicle_file.h>
#include <stdio.h>
#include <string.h>

static void put(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

json_t *mf_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *item_json(const mf_Model *model, mf_ItemType item, const char *values);

// One value of a field. Texts are UTF-8, because the input files must be.
static json_t *value_json(const mf_Model *model, const mf_ModelField *field, const char *value) {
    const uint32_t *index = (const void *)value;
    const char *text;
    switch (field->type) {
    case MF_VALUE_REAL:
        return mf_json_real(*(const double *)(const void *)value);
    case MF_VALUE_SINGLE:
        return mf_json_real((double)*(const float *)(const void *)value);
    case MF_VALUE_INTEGER:
        return json_integer(*(const int32_t *)(const void *)value);
    case MF_VALUE_INDEX:
        return *index == MF_NONE ? json_null() : json_integer(*index);
    case MF_VALUE_TIME:
        return json_integer(*(const int64_t *)(const void *)value);
    case MF_VALUE_FLAG:
        return json_boolean(*(const bool *)value);
    case MF_VALUE_ENUM:
        return json_string(mf_item_enum_name(field, value));
    case MF_VALUE_TEXT:
        memcpy(&text, value, sizeof text);
        return text != NULL ? json_string(text) : json_null();
    case MF_VALUE_ITEM:
        return item_json(model, field->item, value);
    default:
        return json_integer(*index);
    }
}

static json_t *values_json(const mf_Model *model, const mf_ModelField *field, const char *value,
                           uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, value_json(model, field, value + i * (field->size / count)));
    return array;
}

static json_t *reals_json(const double *values, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, mf_json_real(values[i]));
    return array;
}

static json_t *list_json(const mf_Model *model, mf_ItemType item) {
    json_t *array = json_array();
    uint32_t count;
    const char *items = mf_model_items(model, item, &count);
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, item_json(model, item, items + i * mf_item_table(item)->size));
    return array;
}

static json_t *item_json(const mf_Model *model, mf_ItemType item, const char *values) {
    const mf_ItemTable *table = mf_item_table(item);
    json_t *object = json_object();
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_ModelField *field = &table->fields[i];
        const char *value = values + field->offset;
        const uint32_t *length = (const void *)((const char *)model + field->length);
        if (field->type == MF_VALUE_LIST)
            put(object, field->name, list_json(model, field->item));
        else if (field->type == MF_VALUE_REALS)
            put(object, field->name,
                reals_json(*(const double *const *)(const void *)value, *length));
        else if (field->type != MF_VALUE_POINTER)
            put(object, field->name,
                field->count > 1 ? values_json(model, field, value, field->count)
                                 : value_json(model, field, value));
    }
    return object;
}

static json_t *motion_notes(const mf_Model *model, mf_Motion motion) {
    char text[MF_MOTION_NOTE];
    json_t *list = json_array();
    for (uint32_t i = 0; mf_motion_note(model, motion, i, text); i++)
        json_array_append_new(list, json_string(text));
    return list;
}

static json_t *model_json(const mf_Model *model, mf_Motion motion) {
    json_t *root = item_json(model, MF_ITEM_MODEL, (const char *)model);
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mf_model_hash(model));
    put(root, "hash", json_string(hash));
    put(root, "root",
        model->root ? item_json(model, MF_ITEM_JOINT, (const char *)model->root) : json_null());
    put(root, "motion", json_string(mf_motion_name(motion)));
    put(root, "motion_notes", motion_notes(model, motion));
    return root;
}

static char *text_of(json_t *root) {
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(root);
    return text;
}

char *mf_model_json(const mf_Model *model, mf_Motion motion) {
    return text_of(model_json(model, motion));
}

// ---- groups -------------------------------------------------------------------------------------

// A parameter of a vehicle: numbers, vectors and words.
static json_t *parameter_json(const mf_Key *key, const char *value) {
    if (key->kind == MF_KEY_CHOICE)
        return json_string(key->choices[*(const int *)(const void *)value]);
    const double *numbers = (const void *)value;
    return key->kind == MF_KEY_VECTOR ? reals_json(numbers, key->length) : mf_json_real(*numbers);
}

// As in the vehicle's file, {"quadrotor": {"mass": ...}}; null for robots.
static json_t *vehicle_json(const mf_Group *group) {
    for (int kind = MF_VEHICLE_QUADROTOR; kind <= MF_VEHICLE_CAR; kind++) {
        const char *parameters = mf_vehicle_parameters(group, (mf_VehicleKind)kind);
        if (parameters == NULL)
            continue;
        const mf_KeyTable *table = mf_vehicle_table((mf_VehicleKind)kind);
        json_t *values = json_object(), *object = json_object();
        for (uint32_t i = 0; i < table->count; i++) {
            const mf_Key *key = &table->keys[i];
            put(values, key->path, parameter_json(key, parameters + key->offset));
        }
        put(object, table->noun, values);
        return object;
    }
    return json_null();
}

// Of each joint, as the motion has them; null where that is not `articulated`.
static json_t *servos_json(const mf_Group *group) {
    if (mf_articulated_config_of(group) == NULL)
        return json_null();
    json_t *array = json_array();
    for (uint32_t j = 0; j < mf_group_model(group)->joint_count; j++) {
        const mf_Servo servo = mf_articulated_servo(group, j);
        json_t *object = json_object();
        put(object, "gain", mf_json_real(servo.gain));
        put(object, "damping", mf_json_real(servo.damping));
        put(object, "effort", mf_json_real(servo.effort));
        put(object, "speed", mf_json_real(servo.speed));
        put(object, "backlash", mf_json_real(servo.backlash));
        json_array_append_new(array, object);
    }
    return array;
}

char *mf_group_json(const mf_Group *group) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    json_t *root = model_json(mf_group_model(group), mf_motion_of(group, 0));
    const double *direction = world->gravity_direction;
    const double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                               direction[2] * direction[2]);
    double gravity[3];
    for (int i = 0; i < 3; i++)
        gravity[i] = world->gravity * direction[i] / length;
    put(root, "servos", servos_json(group));
    put(root, "vehicle", vehicle_json(group));
    put(root, "world_gravity", reals_json(gravity, 3));
    return text_of(root);
}
