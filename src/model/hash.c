// The model's hash: everything that changes motion and nothing that does not (names, colours,
// shapes, notes), so that a replay accepts a repainted robot and refuses a changed one. Field by
// field, because padding between struct members is not defined.
#include "model/hash_dynamics.h"

#include "base/hash.h"

#include <mayfly/sensor.h>
#include <string.h>

static uint64_t hash_joint(uint64_t hash, const mf_Joint *joint) {
    const double scalars[8] = {joint->lower,   joint->upper,    joint->speed,      joint->effort,
                               joint->damping, joint->friction, joint->multiplier, joint->offset};
    hash = mf_hash_u32(hash, (uint32_t)joint->type);
    hash = mf_hash_u32(hash, joint->parent);
    hash = mf_hash_u32(hash, joint->mimic);
    hash = mf_hash_doubles(hash, joint->position, 3);
    hash = mf_hash_doubles(hash, joint->rotation, 4);
    hash = mf_hash_doubles(hash, joint->axis, 3);
    hash = mf_hash_doubles(hash, scalars, 8);
    // Files without motors have the hash that archives know them by.
    const mf_Servo *servo = &joint->servo;
    const double motor[8] = {servo->gain,  servo->damping,       servo->effort,
                             servo->speed, servo->no_load_speed, servo->rotor_inertia,
                             servo->gear,  servo->backlash};
    return servo->gain > 0.0 ? mf_hash_doubles(hash, motor, 8) : hash;
}

// A sensor that shows what is true hashes as before there were others, so that archives stay valid.
static uint64_t hash_signal(uint64_t hash, const mf_Sensor *sensor) {
    if (!mf_signal_is_plain(&sensor->signal))
        hash = mf_signal_hash(hash, &sensor->signal);
    if (sensor->field != NULL) {
        hash = mf_hash_bytes(hash, sensor->field, strlen(sensor->field));
        hash = mf_hash_u32(hash, sensor->component);
    }
    return hash;
}

static uint64_t hash_sensor(uint64_t hash, const mf_Sensor *sensor) {
    hash = mf_hash_u32(hash, (uint32_t)sensor->type);
    hash = mf_hash_u32(hash, sensor->link);
    hash = mf_hash_u32(hash, sensor->joint);
    hash = mf_hash_doubles(hash, sensor->start, 3);
    hash = mf_hash_doubles(hash, sensor->direction, 3);
    hash = mf_hash_doubles(hash, &sensor->range, 1);
    return hash_signal(hash, sensor);
}

// Where sensors of a model without bodies sit; with them mf_hash_dynamics does it.
static uint64_t hash_place(uint64_t hash, const mf_Sensor *sensor) {
    if (sensor->frame.link == MF_NONE)
        return hash;
    hash = mf_hash_u32(hash, sensor->frame.link);
    hash = mf_hash_doubles(hash, sensor->frame.position, 3);
    return mf_hash_doubles(hash, sensor->frame.rotation, 4);
}

uint64_t mf_model_hash(const mf_Model *model) {
    if (model == NULL)
        return 0;
    uint64_t hash = MF_HASH_START;
    const uint32_t counts[4] = {model->link_count, model->joint_count, model->point_count,
                                model->sensor_count};
    for (int i = 0; i < 4; i++)
        hash = mf_hash_u32(hash, counts[i]);
    for (uint32_t i = 0; i < model->joint_count; i++)
        hash = hash_joint(hash, &model->joints[i]);
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        hash = mf_hash_u32(hash, point->link);
        hash = mf_hash_u32(hash, point->flags);
        hash = mf_hash_doubles(hash, point->position, 3);
        hash = mf_hash_doubles(hash, &point->mass, 1);
    }
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        hash = hash_sensor(hash, &model->sensors[i]);
        if (model->body_count == 0)
            hash = hash_place(hash, &model->sensors[i]);
    }
    hash = mf_hash_doubles(hash, model->start_angle, model->joint_count);
    // Models from other sources have nothing of it, and hashes stored in archives stay valid.
    return model->body_count > 0 ? mf_hash_dynamics(hash, model) : hash;
}
