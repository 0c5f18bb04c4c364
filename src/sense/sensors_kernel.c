// Sensors of a block of robots.
//
// Contact: any watched point with load. Joint: a copy. Attitude: URDF's roll, pitch, yaw from the
// rotation matrix, pitch by two-argument arc tangent so that it is accurate at +-pi/2.
//
// Ray: the first place where the ray is not above the ground. It is sampled at equal distances, at
// least two in a cell of the map (up to SAMPLES_MOST); the first interval with a change of sign is
// halved HALVINGS times and the last one is cut by a straight line. On a plane, and wherever the
// ground is smooth, what remains is rounding; at a step of the ground the error is below the
// distance of two samples / 2^HALVINGS. What the ray enters and leaves between two samples is not
// seen.
//
// Invariants: every value written is finite; a robot with a fault word keeps its old readings.
#include "sense/sensors.h"

#include "math/lane.h"
#include "math/lane_functions.h"
#include "terrain/lookup_lane.h"

enum {
    SAMPLES_LEAST = 8,
    SAMPLES_MOST = 256,
#if defined(MF_KERNEL_F64)
    HALVINGS = 24
#else
    HALVINGS = 12
#endif
};

typedef struct Vector {
    mf_lane x, y, z;
} Vector;

typedef struct Matrix {
    Vector row[3];
} Matrix;

static inline Vector set_vector(const double v[3]) {
    return (Vector){mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2])};
}

static inline mf_lane dot(Vector a, Vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vector apply(const Matrix *m, Vector v) {
    return (Vector){dot(m->row[0], v), dot(m->row[1], v), dot(m->row[2], v)};
}

static inline Vector add(Vector a, Vector b) {
    return (Vector){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline Vector scaled(Vector a, mf_lane s) {
    return (Vector){a.x * s, a.y * s, a.z * s};
}

// v turned by the angle with this sine and cosine about the unit vector `axis` (Rodrigues 1840).
static inline Vector turned(Vector v, Vector axis, mf_lane sine, mf_lane cosine) {
    Vector cross = {axis.y * v.z - axis.z * v.y, axis.z * v.x - axis.x * v.z,
                    axis.x * v.y - axis.y * v.x};
    mf_lane along = dot(axis, v) * (mf_set((mf_real)1) - cosine);
    return add(add(scaled(v, cosine), scaled(cross, sine)), scaled(axis, along));
}

// Where one lane group of one field begins.
static inline size_t start_of(uint32_t block, uint32_t components, uint32_t lane) {
    return (size_t)block * components * MF_BLOCK + lane;
}

static Matrix base_rotation(const mf_real *orientation) {
    mf_lane one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    mf_lane w = mf_load(orientation), x = mf_load(orientation + MF_BLOCK);
    mf_lane y = mf_load(orientation + 2 * MF_BLOCK), z = mf_load(orientation + 3 * MF_BLOCK);
    return (Matrix){{{one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)},
                     {two * (x * y + w * z), one - two * (x * x + z * z), two * (y * z - w * x)},
                     {two * (x * z - w * y), two * (y * z + w * x), one - two * (x * x + y * y)}}};
}

static void sense_contacts(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                           mf_mask active) {
    const mf_real *load = (const mf_real *)batch->load;
    mf_real *out = (mf_real *)batch->contact + start_of(block, batch->contact_count, lane);
    for (uint32_t i = 0; i < batch->contact_count; i++) {
        const mf_SensorContact *contact = &batch->contacts[i];
        mf_mask any = mf_less(mf_zero(), mf_zero());
        for (uint32_t k = 0; load != NULL && k < contact->count; k++) {
            uint32_t row = batch->rows[contact->first + k];
            size_t at = start_of(block, batch->load_components, lane) + (size_t)row * MF_BLOCK;
            any = mf_or(any, mf_less(mf_zero(), mf_load(load + at)));
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
    mf_lane zero = mf_zero();
    mf_lane level = mf_sqrt(m->row[0].x * m->row[0].x + m->row[1].x * m->row[1].x);
    // Straight up or down roll and yaw turn about the same line: all of it is called yaw.
    mf_mask upright = mf_less(level, mf_set(4 * MF_REAL_EPSILON));
    mf_lane roll = mf_keep(mf_not(upright), mf_atan2_lane(m->row[2].y, m->row[2].z));
    mf_lane pitch = mf_atan2_lane(zero - m->row[2].x, level);
    mf_lane yaw = mf_atan2_lane(mf_select(upright, zero - m->row[0].y, m->row[1].x),
                                mf_select(upright, m->row[1].y, m->row[0].x));
    mf_store_where(active, out, mf_keep(mf_finite(roll), roll));
    mf_store_where(active, out + MF_BLOCK, mf_keep(mf_finite(pitch), pitch));
    mf_store_where(active, out + 2 * MF_BLOCK, mf_keep(mf_finite(yaw), yaw));
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
                *point = turned(*point, axis, sine, cosine);
                *direction = turned(*direction, axis, sine, cosine);
            }
        }
        *point = add(apply(&rotation, *point), set_vector(joint->position));
        *direction = apply(&rotation, *direction);
    }
}

// How far the ray's point at `distance` is above the ground.
static inline mf_lane clearance(const mf_LaneMap *map, Vector start, Vector direction,
                                mf_lane distance) {
    Vector at = add(start, scaled(direction, distance));
    return at.z - mf_map_height(map, at.x, at.y);
}

static uint32_t sample_count(const mf_Terrain *terrain, double range) {
    double wanted = 2.0 * range / terrain->cell;
    if (!(wanted > SAMPLES_LEAST))
        return SAMPLES_LEAST;
    return wanted < SAMPLES_MOST ? (uint32_t)wanted + 1 : SAMPLES_MOST;
}

static mf_lane march(const mf_LaneMap *map, Vector start, Vector direction, mf_real range,
                     uint32_t samples) {
    mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5);
    mf_real step = range / (mf_real)samples;
    mf_lane near = zero, near_height = clearance(map, start, direction, zero);
    mf_lane far = near, far_height = near_height;
    // Written so that a ray from nowhere (NaN) finds nothing.
    mf_mask found = mf_less_equal(near_height, zero);
    for (uint32_t i = 1; i <= samples && !mf_all(found); i++) {
        mf_lane distance = mf_set(i < samples ? (mf_real)i * step : range);
        mf_lane height = clearance(map, start, direction, distance);
        near = mf_select(found, near, far);
        near_height = mf_select(found, near_height, far_height);
        far = mf_select(found, far, distance);
        far_height = mf_select(found, far_height, height);
        found = mf_or(found, mf_less_equal(height, zero));
    }
    if (!mf_any(found))
        return mf_set(range);
    for (int i = 0; i < HALVINGS; i++) {
        mf_lane middle = half * (near + far);
        mf_lane height = clearance(map, start, direction, middle);
        mf_mask inside = mf_less_equal(height, zero);
        far = mf_select(inside, middle, far);
        far_height = mf_select(inside, height, far_height);
        near = mf_select(inside, near, middle);
        near_height = mf_select(inside, near_height, height);
    }
    mf_lane drop = near_height - far_height;
    mf_mask steep = mf_less(zero, drop);
    mf_lane part = mf_keep(steep, near_height / mf_select(steep, drop, mf_set((mf_real)1)));
    mf_lane distance = near + mf_clamp(part, zero, mf_set((mf_real)1)) * (far - near);
    return mf_select(found, mf_clamp(distance, zero, mf_set(range)), mf_set(range));
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
        mf_lane distance = march(map, start, direction, (mf_real)ray->range,
                                 sample_count(batch->terrain, ray->range));
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
            sense_contacts(batch, block, lane, active);
            sense_joints(batch, block, lane, active);
            sense_attitude(batch, block, lane, active, &base);
            if (batch->ray_count > 0)
                sense_rays(batch, &map, block, lane, active, &base);
        }
    }
}
