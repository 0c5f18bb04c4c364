// The model's hash: everything that changes motion and nothing that does not (names, colours,
// shapes, notes), so that a replay accepts a repainted robot and refuses a changed one.
#include <mayfly/model.h>

// Field by field, because padding between struct members is not defined.
static uint64_t hash_u32(uint64_t hash, uint32_t value) {
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    return mf_hash_bytes(hash, bytes, sizeof bytes);
}

static uint64_t hash_doubles(uint64_t hash, const double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        // Adding 0 makes -0 and 0 the same: they move the same.
        union {
            double value;
            uint64_t bits;
        } number = {.value = values[i] + 0.0};
        hash = hash_u32(hash, (uint32_t)number.bits);
        hash = hash_u32(hash, (uint32_t)(number.bits >> 32));
    }
    return hash;
}

static uint64_t hash_joint(uint64_t hash, const mf_Joint *joint) {
    const double scalars[8] = {joint->lower,   joint->upper,    joint->speed,      joint->effort,
                               joint->damping, joint->friction, joint->multiplier, joint->offset};
    hash = hash_u32(hash, (uint32_t)joint->type);
    hash = hash_u32(hash, joint->parent);
    hash = hash_u32(hash, joint->mimic);
    hash = hash_doubles(hash, joint->position, 3);
    hash = hash_doubles(hash, joint->rotation, 4);
    hash = hash_doubles(hash, joint->axis, 3);
    return hash_doubles(hash, scalars, 8);
}

static uint64_t hash_sensor(uint64_t hash, const mf_Sensor *sensor) {
    hash = hash_u32(hash, (uint32_t)sensor->type);
    hash = hash_u32(hash, sensor->link);
    hash = hash_u32(hash, sensor->joint);
    hash = hash_doubles(hash, sensor->start, 3);
    hash = hash_doubles(hash, sensor->direction, 3);
    return hash_doubles(hash, &sensor->range, 1);
}

uint64_t mf_model_hash(const mf_Model *model) {
    uint64_t hash = MF_HASH_START;
    const uint32_t counts[4] = {model->link_count, model->joint_count, model->point_count,
                                model->sensor_count};
    for (int i = 0; i < 4; i++)
        hash = hash_u32(hash, counts[i]);
    for (uint32_t i = 0; i < model->joint_count; i++)
        hash = hash_joint(hash, &model->joints[i]);
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        hash = hash_u32(hash, point->link);
        hash = hash_u32(hash, point->flags);
        hash = hash_doubles(hash, point->position, 3);
        hash = hash_doubles(hash, &point->mass, 1);
    }
    for (uint32_t i = 0; i < model->sensor_count; i++)
        hash = hash_sensor(hash, &model->sensors[i]);
    return hash_doubles(hash, model->start_angle, model->joint_count);
}
