// The model's hash: everything that affects motion, cameras, and nothing else (no names, colors,
// visual shapes, notes), so that a replay accepts a robot with other colors and rejects a changed
// one. Hashes field by field using the table of model fields, because padding between members is
// undefined.
//
// All models hash the fields at positions from EVERYWHERE on; those with bodies (MJCF) then those
// that only full dynamics uses, from DYNAMICS on. Fields whose hashing depends on other fields are
// handled here.
#include "model/mounted.h"
#include "model/points.h"
#include "base/floats.h"

#include "base/hash.h"

#include <mayfly/texture.h>
#include <string.h>

enum { EVERYWHERE = 1, DYNAMICS = 101, DYNAMICS_LATE = 201, RANKS = 32 };

// Models without motors, muscles and signals keep the hash that existing archives store.
static bool counts(mf_ItemType item, const void *value) {
    if (item == MF_ITEM_SERVO)
        return ((const mf_Servo *)value)->gain > 0.0;
    if (item == MF_ITEM_MUSCLE)
        return ((const mf_Muscle *)value)->exists;
    return item != MF_ITEM_SIGNAL || !mf_signal_is_plain(value);
}

static uint64_t hash_item(uint64_t hash, mf_ItemType item, const void *value) {
    const double end = 0.0; // muscles once had one more number
    if (!counts(item, value))
        return hash;
    hash = mf_item_hash(hash, item, value, EVERYWHERE);
    return item == MF_ITEM_MUSCLE ? mf_hash_doubles(hash, &end, 1) : hash;
}

static uint64_t hash_value(uint64_t hash, const mf_ModelField *field, const char *value) {
    uint64_t time;
    double exact;
    switch (field->type) {
    case MF_VALUE_REAL:
        return mf_hash_doubles(hash, (const double *)(const void *)value, 1);
    case MF_VALUE_SINGLE:
        exact = (double)*(const float *)(const void *)value;
        return mf_hash_doubles(hash, &exact, 1);
    case MF_VALUE_TIME:
        memcpy(&time, value, sizeof time);
        return mf_hash_u32(mf_hash_u32(hash, (uint32_t)time), (uint32_t)(time >> 32));
    case MF_VALUE_FLAG:
        return mf_hash_u32(hash, *(const bool *)value);
    case MF_VALUE_TEXT:
        return mf_hash_bytes(hash, *(const char *const *)(const void *)value,
                             strlen(*(const char *const *)(const void *)value) + 1);
    case MF_VALUE_ITEM:
        return hash_item(hash, field->item, value);
    default: // whole numbers, indices, words
        return mf_hash_u32(hash, *(const uint32_t *)(const void *)value);
    }
}

uint64_t mf_item_hash(uint64_t hash, mf_ItemType item, const void *values, uint32_t first) {
    const mf_ItemTable *table = mf_item_table(item);
    const mf_ModelField *ranked[RANKS] = {NULL};
    for (uint32_t i = 0; i < table->count; i++)
        if (table->fields[i].hash >= first && table->fields[i].hash < first + RANKS)
            ranked[table->fields[i].hash - first] = &table->fields[i];
    for (uint32_t orientation = 0; orientation < RANKS; orientation++)
        for (uint32_t i = 0; ranked[orientation] != NULL && i < ranked[orientation]->count; i++)
            hash = hash_value(hash, ranked[orientation],
                              (const char *)mf_field_at(ranked[orientation], values) +
                                  i * (ranked[orientation]->size / ranked[orientation]->count));
    return hash;
}

// All items of a kind, one after the other.
static uint64_t hash_items(uint64_t hash, const mf_Model *model, mf_ItemType item, uint32_t first) {
    uint32_t count;
    const char *values = mf_model_items(model, item, &count);
    for (uint32_t i = 0; i < count; i++)
        hash = mf_item_hash(hash, item, values + i * mf_item_table(item)->size, first);
    return hash;
}

static uint64_t hash_frame(uint64_t hash, const mf_Frame *frame) {
    return mf_item_hash(hash, MF_ITEM_FRAME, frame, EVERYWHERE);
}

static uint64_t hash_floats(uint64_t hash, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double exact = (double)values[i];
        hash = mf_hash_doubles(hash, &exact, 1);
    }
    return hash;
}

// ---- all models --------------------------------------------------------------------------------

static uint64_t hash_sensors(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        hash = mf_item_hash(hash, MF_ITEM_SENSOR, sensor, EVERYWHERE);
        if (sensor->field != NULL) {
            hash = mf_hash_bytes(hash, sensor->field, strlen(sensor->field));
            hash = mf_hash_u32(hash, sensor->component);
        }
        if (model->body_count == 0 && sensor->frame.link != MF_NONE)
            hash = hash_frame(hash, &sensor->frame);
    }
    return hash;
}

// ---- values for full dynamics only -------------------------------------------------------------

// Geometry of collision shapes; visual shapes do not affect motion.
static uint64_t hash_mesh(uint64_t hash, const mf_Mesh *mesh) {
    hash = mf_hash_u32(hash, mesh->hull_vertex_count);
    for (uint32_t i = 0; i < mesh->hull_vertex_count; i++)
        hash = hash_floats(hash, &mesh->vertices[3 * (size_t)mesh->hull_vertices[i]], 3);
    return hash;
}

static uint64_t hash_heights(uint64_t hash, const mf_HeightField *field) {
    hash = mf_item_hash(hash, MF_ITEM_HEIGHT_FIELD, field, DYNAMICS);
    return hash_floats(hash, field->heights, (size_t)field->rows * field->columns);
}

// Collision shapes, then shapes with fluid forces, colliding or not.
static uint64_t hash_shapes(uint64_t hash, const mf_Model *model) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides)
            continue;
        hash = mf_item_hash(mf_hash_u32(hash, number++), MF_ITEM_SHAPE, shape, DYNAMICS);
        if (shape->type == MF_SHAPE_MESH)
            hash = hash_mesh(hash, &model->meshes[shape->mesh]);
        if (shape->type == MF_SHAPE_HEIGHTS)
            hash = hash_heights(hash, &model->height_fields[shape->mesh]);
    }
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->fluid)
            continue;
        hash = mf_hash_u32(mf_hash_u32(hash, (uint32_t)shape->type), shape->body);
        hash = mf_hash_doubles(hash, shape->position, 3);
        hash = mf_hash_doubles(hash, shape->rotation, 4);
        hash = mf_hash_doubles(hash, shape->size, 3);
        hash = mf_hash_doubles(hash, shape->fluid_coefficients, 5);
    }
    return hash;
}

// Pairs name shapes; their indices are counted as in hash_shapes, so that a model without its
// visual shapes has the same hash.
static uint32_t touching_number(const mf_Model *model, uint32_t shape) {
    uint32_t number = 0;
    for (uint32_t i = 0; shape != MF_NONE && i < shape; i++)
        number += model->shapes[i].collides;
    return shape != MF_NONE && model->shapes[shape].collides ? number : MF_NONE;
}

static uint64_t hash_pairs(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->pair_count; i++) {
        for (int side = 0; side < 2; side++)
            hash = mf_hash_u32(hash, touching_number(model, model->pairs[i].shapes[side]));
        hash = mf_item_hash(hash, MF_ITEM_PAIR, &model->pairs[i], DYNAMICS);
    }
    return hash;
}

static uint64_t hash_wraps(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        if (model->tendons[i].wrap_count > 0)
            hash = mf_hash_u32(mf_hash_u32(hash, i), model->tendons[i].wrap_count);
    }
    for (uint32_t i = 0; i < model->tendon_wrap_count; i++) {
        const mf_TendonWrap *wrap = &model->tendon_wraps[i];
        hash = mf_hash_u32(hash, (uint32_t)wrap->type);
        if (wrap->type == MF_WRAP_PULLEY) {
            hash = mf_hash_doubles(hash, &wrap->divisor, 1);
            continue;
        }
        hash = mf_hash_doubles(hash_frame(hash, &wrap->frame), &wrap->radius, 1);
        if (wrap->side != MF_NONE)
            hash = mf_hash_doubles(mf_hash_u32(hash, wrap->side_link), wrap->side_position, 3);
    }
    return hash;
}

static uint64_t hash_equalities(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->equality_count; i++) {
        const mf_Equality *equality = &model->equalities[i];
        bool framed = equality->type == MF_EQUALITY_CONNECT || equality->type == MF_EQUALITY_WELD;
        hash = mf_item_hash(hash, MF_ITEM_EQUALITY, equality, DYNAMICS);
        for (int side = 0; side < 2; side++)
            hash = framed ? hash_frame(hash, &equality->frames[side])
                          : mf_hash_u32(hash, equality->objects[side]);
        hash = mf_item_hash(hash, MF_ITEM_EQUALITY, equality, DYNAMICS_LATE);
    }
    return hash;
}

static uint64_t hash_actuators(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *actuator = &model->actuators[i];
        hash = mf_item_hash(hash, MF_ITEM_ACTUATOR, actuator, DYNAMICS);
        if (actuator->drive == MF_DRIVE_BODY)
            hash = mf_hash_u32(hash, actuator->body);
        if (actuator->drive == MF_DRIVE_SITE)
            hash = hash_frame(hash, &actuator->frame);
        if (actuator->drive == MF_DRIVE_SITE && actuator->reference_site != MF_NONE)
            hash = hash_frame(hash, &actuator->reference);
    }
    return hash;
}

static uint64_t hash_query(uint64_t hash, const mf_Model *model, const mf_ContactQuery *query) {
    hash = mf_item_hash(hash, MF_ITEM_CONTACT_QUERY, query, EVERYWHERE);
    for (int side = 0; side < 2; side++)
        hash = mf_hash_u32(hash, query->sides[side] == MF_CONTACT_SIDE_SHAPE
                                     ? touching_number(model, query->objects[side])
                                     : query->objects[side]);
    return hash;
}

static uint64_t hash_dynamics(uint64_t hash, const mf_Model *model) {
    hash = mf_hash_u32(hash, (uint32_t)model->base);
    hash = hash_items(hash, model, MF_ITEM_LINK, DYNAMICS);
    hash = hash_items(hash, model, MF_ITEM_JOINT, DYNAMICS);
    if (model->root != NULL) {
        hash = mf_hash_doubles(hash, &model->root->damping, 1);
        hash = mf_hash_doubles(hash, &model->root->friction, 1);
        hash = mf_item_hash(hash, MF_ITEM_JOINT, model->root, DYNAMICS);
    }
    hash = hash_items(hash, model, MF_ITEM_BODY, DYNAMICS);
    hash = hash_pairs(hash_shapes(hash, model), model);
    hash = hash_items(hash, model, MF_ITEM_EXCLUSION, DYNAMICS);
    hash = hash_items(hash, model, MF_ITEM_TENDON, DYNAMICS);
    hash = hash_items(hash, model, MF_ITEM_TENDON_TERM, DYNAMICS);
    hash = hash_wraps(hash, model);
    hash = hash_actuators(hash_equalities(hash, model), model);
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        hash = mf_item_hash(hash, MF_ITEM_SENSOR, sensor, DYNAMICS);
        if (sensor->type == MF_SENSOR_CONTACTS)
            hash = hash_query(hash, model, &sensor->query);
        hash = mf_item_hash(hash, MF_ITEM_SENSOR, sensor, DYNAMICS_LATE);
    }
    hash = mf_item_hash(hash, MF_ITEM_PHYSICS, &model->physics, DYNAMICS);
    return mf_hash_doubles(hash, model->start_position, model->position_count);
}

// What textures show, and where: of models that have cameras.
static uint64_t hash_textures(uint64_t hash, const mf_Model *model) {
    if (model->camera_count == 0 || model->texture_count == 0)
        return hash;
    for (uint32_t i = 0; i < model->texture_count; i++) {
        const mf_Texture *texture = &model->textures[i];
        hash = mf_item_hash(hash, MF_ITEM_TEXTURE, texture, EVERYWHERE);
        if (texture->file != NULL)
            hash = mf_hash_bytes(hash, texture->file, texture->file_size);
    }
    hash = hash_items(hash, model, MF_ITEM_MATERIAL, EVERYWHERE);
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->material == MF_NONE)
            continue;
        hash = mf_hash_u32(mf_hash_u32(hash, i), shape->material);
        const mf_Mesh *mesh = shape->type == MF_SHAPE_MESH ? &model->meshes[shape->mesh] : NULL;
        if (mesh != NULL && mesh->coordinates != NULL)
            hash = hash_floats(hash, mesh->coordinates, 6 * (size_t)mesh->triangle_count);
    }
    return hash;
}

uint64_t mf_model_hash(const mf_Model *model) {
    MF_DEFAULT_FLOATS;
    if (model == NULL)
        return 0;
    uint64_t hash = MF_HASH_START;
    const uint32_t counts_of[4] = {model->link_count, model->joint_count, model->point_count,
                                   model->sensor_count};
    for (int i = 0; i < 4; i++)
        hash = mf_hash_u32(hash, counts_of[i]);
    hash = hash_items(hash, model, MF_ITEM_JOINT, EVERYWHERE);
    hash = hash_items(hash, model, MF_ITEM_POINT, EVERYWHERE);
    hash = hash_sensors(hash, model);
    hash = mf_hash_doubles(hash, model->start_angle, model->joint_count);
    // Pictures may decide what a robot does.
    for (int k = 0; k < MF_MOUNTED_COUNT; k++)
        hash = hash_items(hash, model, mf_mounted_kinds[k]->type, EVERYWHERE);
    hash = hash_textures(hash, model);
    // Models from other sources have none of these, so that hashes stored in archives stay valid.
    return model->body_count > 0 ? hash_dynamics(hash, model) : hash;
}
