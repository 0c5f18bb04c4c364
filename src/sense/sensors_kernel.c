// Sensors of a block of robots.
//
// Contact: any loaded point of the sensor. Joint: a copy. Attitude and ray: sense_lane.h.
//
// Invariants: every value written is finite; a robot with a fault word keeps its old readings.
#include "sense/sensors.h"

#include "math/lane.h"
#include "math/lane_functions.h"
#include "sense/sense_lane.h"

#include <mayfly/motion.h>

typedef struct Vector {
    mf_lane x, y, z;
} Vector;

typedef struct Matrix {
    Vector row[3];
} Matrix;

static inline Vector set_vector(const double v[3]) {
    return MF_VALUE(Vector, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static inline mf_lane dot(Vector a, Vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vector apply(const Matrix *m, Vector v) {
    return MF_VALUE(Vector, dot(m->row[0], v), dot(m->row[1], v), dot(m->row[2], v));
}

static inline Vector add(Vector a, Vector b) {
    return MF_VALUE(Vector, a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline Vector scaled(Vector a, mf_lane s) {
    return MF_VALUE(Vector, a.x * s, a.y * s, a.z * s);
}

// v rotated by the angle with this sine and cosine about the unit vector `axis` (Rodrigues 1840).
static inline Vector rotated(Vector v, Vector axis, mf_lane sine, mf_lane cosine) {
    Vector cross = {axis.y * v.z - axis.z * v.y, axis.z * v.x - axis.x * v.z,
                    axis.x * v.y - axis.y * v.x};
    mf_lane along = dot(axis, v) * (mf_set((mf_real)1) - cosine);
    return add(add(scaled(v, cosine), scaled(cross, sine)), scaled(axis, along));
}

// Start of one lane group of one field.
static inline size_t start_of(uint32_t block, uint32_t components, uint32_t lane) {
    return (size_t)block * components * MF_BLOCK + lane;
}

static Matrix base_rotation(const mf_real *orientation) {
    mf_lane one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    mf_lane w = mf_load(orientation), x = mf_load(orientation + MF_BLOCK);
    mf_lane y = mf_load(orientation + 2 * MF_BLOCK), z = mf_load(orientation + 3 * MF_BLOCK);
    return MF_VALUE(Matrix,
                    {{one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)},
                     {two * (x * y + w * z), one - two * (x * x + z * z), two * (y * z - w * x)},
                     {two * (x * z - w * y), two * (y * z + w * x), one - two * (x * x + y * y)}});
}

// The load of one row. In groups with several motions, values last written by another motion are
// ignored.
static inline mf_lane load_of(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                              mf_SensorRow row) {
    const mf_real *load = (const mf_real *)(row.of_points ? batch->point_load : batch->load);
    uint32_t components = row.of_points ? batch->point_components : batch->load_components;
    mf_lane value = mf_load(load + start_of(block, components, lane) + (size_t)row.row * MF_BLOCK);
    if (batch->level == NULL)
        return value;
    mf_index level = mf_load_index(batch->level + (size_t)block * MF_BLOCK + lane);
    mf_mask by_points = mf_index_equal(level, mf_set_index(MF_MOTION_POINTS));
    return mf_keep(row.of_points ? by_points : mf_not(by_points), value);
}

static void sense_contacts(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                           mf_mask active) {
    mf_real *out = (mf_real *)batch->contact + start_of(block, batch->contact_count, lane);
    for (uint32_t i = 0; i < batch->contact_count; i++) {
        const mf_SensorContact *contact = &batch->contacts[i];
        mf_mask any = mf_less(mf_zero(), mf_zero());
        for (uint32_t k = 0; k < contact->count; k++) {
            mf_SensorRow row = batch->rows[contact->first + k];
            any = mf_or(any, mf_less(mf_zero(), load_of(batch, block, lane, row)));
        }
        mf_store_where(active, out + i * MF_BLOCK, mf_keep(any, mf_set((mf_real)1)));
    }
}

static void sense_joints(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                         mf_mask active) {
    size_t at = start_of(block, batch->joint_count, lane);
    const mf_real *angle = (const mf_real *)batch->angle + at;
    mf_real *out = (mf_real *)batch->joint + at;
    for (uint32_t i = 0; i < batch->joint_count; i++) {
        mf_lane value = mf_load(angle + i * MF_BLOCK);
        mf_store_where(active, out + i * MF_BLOCK, mf_keep(mf_finite(value), value));
    }
}

static void sense_attitude(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                           mf_mask active, const Matrix *m) {
    mf_real *out = (mf_real *)batch->attitude + start_of(block, 3, lane);
    mf_lane angles[3];
    sense_attitude_angles(m->row[0].x, m->row[0].y, m->row[1].x, m->row[1].y, m->row[2].x,
                          m->row[2].y, m->row[2].z, angles);
    for (uint32_t i = 0; i < 3; i++)
        mf_store_where(active, out + i * MF_BLOCK, mf_keep(mf_finite(angles[i]), angles[i]));
}

// Takes a point and a direction from a ray's link frame to the base frame, joint by joint.
static void leave_links(const mf_SensorBatch *batch, const mf_SensorRay *ray, const mf_real *angles,
                        Vector *point, Vector *direction) {
    for (uint32_t i = ray->count; i-- > 0;) {
        const mf_SensorJoint *joint = &batch->chain[ray->first + i];
        const double *r = joint->rotation;
        Matrix rotation = {{set_vector(r), set_vector(r + 3), set_vector(r + 6)}};
        Vector axis = set_vector(joint->axis);
        if (joint->joint != MF_NONE) {
            mf_lane angle = mf_load(angles + (size_t)joint->joint * MF_BLOCK), sine, cosine;
            if (joint->slides) {
                *point = add(*point, scaled(axis, angle));
            } else {
                mf_sin_cos_lane(angle, &sine, &cosine);
                *point = rotated(*point, axis, sine, cosine);
                *direction = rotated(*direction, axis, sine, cosine);
            }
        }
        *point = add(apply(&rotation, *point), set_vector(joint->position));
        *direction = apply(&rotation, *direction);
    }
}

static void sense_rays(const mf_SensorBatch *batch, const mf_LaneMap *map, uint32_t block,
                       uint32_t lane, mf_mask active, const Matrix *base) {
    const mf_real *position = (const mf_real *)batch->position + start_of(block, 3, lane);
    const mf_real *angles =
        (const mf_real *)batch->angle + start_of(block, batch->joint_count, lane);
    mf_real *out = (mf_real *)batch->ray + start_of(block, batch->ray_count, lane);
    Vector origin = {mf_load(position), mf_load(position + MF_BLOCK),
                     mf_load(position + 2 * MF_BLOCK)};
    for (uint32_t i = 0; i < batch->ray_count; i++) {
        const mf_SensorRay *ray = &batch->rays[i];
        Vector start = set_vector(ray->start), direction = set_vector(ray->direction);
        leave_links(batch, ray, angles, &start, &direction);
        start = add(apply(base, start), origin);
        direction = apply(base, direction);
        const SenseRay way = {{start.x, start.y, start.z}, {direction.x, direction.y, direction.z}};
        mf_lane distance = sense_ray(map, &way, (mf_real)ray->range,
                                     sense_ray_samples(batch->terrain, ray->range));
        mf_store_where(active, out + i * MF_BLOCK, distance);
    }
}

void MF_KERNEL(mf_sensor_run)(const mf_SensorBatch *batch, uint32_t first, uint32_t count) {
    const mf_LaneMap map = mf_lane_map(batch->terrain);
    for (uint32_t block = first; block < first + count; block++) {
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
            mf_index fault = mf_load_index(batch->fault + (size_t)block * MF_BLOCK + lane);
            mf_mask active = mf_index_equal(fault, mf_set_index(0));
            Matrix base =
                base_rotation((const mf_real *)batch->orientation + start_of(block, 4, lane));
            if (batch->contact != NULL)
                sense_contacts(batch, block, lane, active);
            if (batch->joint != NULL)
                sense_joints(batch, block, lane, active);
            if (batch->attitude != NULL)
                sense_attitude(batch, block, lane, active, &base);
            if (batch->ray != NULL)
                sense_rays(batch, &map, block, lane, active, &base);
        }
    }
}
