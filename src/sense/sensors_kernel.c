// Sensors of a block of robots.
//
// Contact: any loaded point of the sensor. Joint: a copy. Attitude and ray: sense_lane.h; links of
// rays are where the forward kinematics of the tree (tree_motion_kernel.c) puts them.
//
// Invariants: every value written is finite; a robot with a fault word keeps its old readings.
#include "sense/sensors.h"

#include "math/lane.h"
#include "math/lane_functions.h"
#include "math/lane_vector.h"
#include "sense/sense_lane.h"

#include <mayfly/motion.h>

// Start of one lane group of one field.
static inline size_t start_of(uint32_t block, uint32_t components, uint32_t lane) {
    return (size_t)block * components * MF_BLOCK + lane;
}

// The load of one row. In groups with several motions, values last written by another motion are
// ignored.
static inline mf_lane load_of(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                              mf_SensorRow row) {
    const mf_real *load = (const mf_real *)(row.of_points ? batch->point_load : batch->load);
    uint32_t components =
        row.of_points ? batch->image->point_components : batch->image->load_components;
    mf_lane value = mf_load(load + start_of(block, components, lane) + (size_t)row.row * MF_BLOCK);
    if (batch->level == NULL)
        return value;
    mf_index level = mf_load_index(batch->level + (size_t)block * MF_BLOCK + lane);
    mf_mask by_points = mf_index_equal(level, mf_set_index(MF_MOTION_POINTS));
    return mf_keep(row.of_points ? by_points : mf_not(by_points), value);
}

static void sense_contacts(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                           mf_mask active) {
    mf_real *out = (mf_real *)batch->contact + start_of(block, batch->image->contact_count, lane);
    for (uint32_t i = 0; i < batch->image->contact_count; i++) {
        const mf_SensorContact *contact = &mf_sensor_contacts(batch->image)[i];
        mf_mask any = mf_less(mf_zero(), mf_zero());
        for (uint32_t k = 0; k < contact->count; k++) {
            mf_SensorRow row = mf_sensor_rows(batch->image)[contact->first + k];
            any = mf_or(any, mf_less(mf_zero(), load_of(batch, block, lane, row)));
        }
        mf_store_where(active, out + i * MF_BLOCK, mf_keep(any, mf_set((mf_real)1)));
    }
}

static void sense_joints(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                         mf_mask active) {
    size_t at = start_of(block, batch->image->joint_count, lane);
    const mf_real *angle = (const mf_real *)batch->angle + at;
    mf_real *out = (mf_real *)batch->joint + at;
    for (uint32_t i = 0; i < batch->image->joint_count; i++) {
        mf_lane value = mf_load(angle + i * MF_BLOCK);
        mf_store_where(active, out + i * MF_BLOCK, mf_keep(mf_finite(value), value));
    }
}

static Quat load_quat(const mf_real *rows) {
    return MF_VALUE(Quat, row_load(rows, 0), row_load(rows, 1), row_load(rows, 2),
                    row_load(rows, 3));
}

static void sense_attitude(const mf_SensorBatch *batch, uint32_t block, uint32_t lane,
                           mf_mask active) {
    const Mat m =
        quat_matrix(load_quat((const mf_real *)batch->orientation + start_of(block, 4, lane)));
    mf_real *out = (mf_real *)batch->attitude + start_of(block, 3, lane);
    mf_lane angles[3];
    sense_attitude_angles(m.xx, m.xy, m.yx, m.yy, m.zx, m.zy, m.zz, angles);
    for (uint32_t i = 0; i < 3; i++)
        mf_store_where(active, out + i * MF_BLOCK, mf_keep(mf_finite(angles[i]), angles[i]));
}

// ---- rays --------------------------------------------------------------------------------------

enum { POSITION = 3, ROTATION = 4, VELOCITY = 6, LINK_ROWS = 13 }; // [1] rows per link

static const void *block_of(const void *data, uint32_t block, size_t components) {
    return data == NULL ? NULL : (const mf_real *)data + block * components * MF_BLOCK;
}

static mf_TreeState state_of(const mf_SensorBatch *batch, uint32_t block) {
    const mf_SensorImage *image = batch->image;
    const size_t joints = image->joint_count, balls = image->ball_count, free = image->free_count;
    return MF_VALUE(mf_TreeState, .position = block_of(batch->position, block, 3),
                    .orientation = block_of(batch->orientation, block, 4),
                    .linear = image->fixed ? NULL : block_of(batch->linear, block, 3),
                    .angular = image->fixed ? NULL : block_of(batch->angular, block, 3),
                    .angle = block_of(batch->angle, block, joints),
                    .rate = block_of(batch->rate, block, joints),
                    .ball = block_of(batch->ball, block, 4 * balls),
                    .ball_rate = block_of(batch->ball_rate, block, 3 * balls),
                    .free = block_of(batch->free, block, 3 * free),
                    .free_rate = block_of(batch->free_rate, block, 3 * free),
                    .wide = sizeof(mf_real) == sizeof(double));
}

// Where the links of rays are in the lanes from `lane` on.
static mf_TreeMotion move_links(const mf_SensorBatch *batch, uint32_t block, uint32_t lane) {
    const mf_SensorImage *image = batch->image;
    const mf_Tree *tree = mf_sensor_tree(image);
    const size_t links = tree->link_count * (size_t)MF_BLOCK;
    const mf_TreeState state = state_of(batch, block);
    mf_real *rows = (mf_real *)batch->scratch;
    mf_TreeMotion motion =
        MF_VALUE(mf_TreeMotion, .position = rows, .rotation = rows + POSITION * links,
                 .velocity = rows + (POSITION + ROTATION) * links, .position_rows = POSITION,
                 .rotation_rows = ROTATION, .velocity_rows = VELOCITY,
                 .links = mf_sensor_links(image), .link_count = image->link_count,
                 .first_lane = lane, .lane_count = MF_LANES, .in_world = true);
    MF_KERNEL(mf_tree_motion)(tree, &state, &motion);
    return motion;
}

static Vec set_vec(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static void sense_rays(const mf_SensorBatch *batch, const mf_LaneMap *map, uint32_t block,
                       uint32_t lane, mf_mask active) {
    const mf_TreeMotion motion = move_links(batch, block, lane);
    mf_real *out = (mf_real *)batch->ray + start_of(block, batch->image->ray_count, lane);
    for (uint32_t i = 0; i < batch->image->ray_count; i++) {
        const mf_SensorRay *ray = &mf_sensor_rays(batch->image)[i];
        const size_t row = (size_t)ray->link * MF_BLOCK;
        const Mat axes =
            quat_matrix(load_quat((const mf_real *)motion.rotation + ROTATION * row + lane));
        const Vec origin = vec_load((const mf_real *)motion.position + POSITION * row + lane, 0);
        const Vec start = mat_apply_add(&axes, set_vec(ray->start), origin);
        const Vec direction = mat_apply(&axes, set_vec(ray->direction));
        const SenseRay world_ray = {{start.x, start.y, start.z},
                                    {direction.x, direction.y, direction.z}};
        mf_lane distance = sense_ray(map, &world_ray, (mf_real)ray->range,
                                     sense_ray_samples(batch->terrain, ray->range));
        mf_store_where(active, out + i * MF_BLOCK, distance);
    }
}

size_t MF_KERNEL(mf_sensor_scratch_size)(const mf_SensorImage *image) {
    return (size_t)LINK_ROWS * mf_sensor_tree(image)->link_count * MF_BLOCK * sizeof(mf_real);
}

void MF_KERNEL(mf_sensor_run)(const mf_SensorBatch *batch, uint32_t first, uint32_t count) {
    const mf_LaneMap map = mf_lane_map(batch->terrain);
    for (uint32_t block = first; block < first + count; block++) {
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
            mf_index fault = mf_load_index(batch->fault + (size_t)block * MF_BLOCK + lane);
            mf_mask active = mf_index_equal(fault, mf_set_index(0));
            if (batch->contact != NULL)
                sense_contacts(batch, block, lane, active);
            if (batch->joint != NULL)
                sense_joints(batch, block, lane, active);
            if (batch->attitude != NULL)
                sense_attitude(batch, block, lane, active);
            if (batch->ray != NULL)
                sense_rays(batch, &map, block, lane, active);
        }
    }
}
