// True values of a model's sensors for a block of robots, from the state that a step left and the
// change of velocity in it. What happens to them afterwards: signal_kernel.c.
//
// Gravity enters where something is weighed. Meaning and signs of every sensor are those of
// MuJoCo's documentation.
//
// Invariants: every value written is finite; a robot with a fault word keeps its readings; a lane
// never reads another.
#include "sense/sensors.h"
#include "sense/sensors_sums.h"
#include "sense/sense_lane.h"

#include "contact/ray.h"
#include "terrain/lookup_lane.h"

#include <mayfly/motion.h>

#define GROUND_SAMPLES 256 // [1] looks at a height map along a ray, half a cell apart

// ---- limits ------------------------------------------------------------------------------------

// The side that is nearer than the margin, the lower first: its distance less margin, or its rate.
static mf_lane limit_value(const mf_SenseItem *own, mf_lane value, mf_lane rate, bool speed) {
    mf_lane margin = mf_set((mf_real)own->margin);
    mf_lane low = value - mf_set((mf_real)own->lower), high = mf_set((mf_real)own->upper) - value;
    mf_mask at_low = mf_less(low, margin), at_high = mf_less(high, margin);
    if (speed)
        return mf_select(at_low, rate, mf_keep(at_high, -rate));
    return mf_select(at_low, low - margin, mf_keep(at_high, high - margin));
}

static mf_lane ball_limit(const Sense *s, const mf_SenseItem *own, bool speed) {
    Quat q = ball_rotation(s, own->ball);
    mf_lane zero = mf_zero(), length = mf_sqrt(mf_fma(q.x, q.x, mf_fma(q.y, q.y, q.z * q.z)));
    mf_lane angle = mf_set((mf_real)2) * mf_atan2_lane(length, mf_abs(q.w));
    mf_lane gap = mf_set((mf_real)own->upper) - angle, margin = mf_set((mf_real)own->margin);
    mf_mask near = mf_less(gap, margin);
    if (!speed)
        return mf_keep(near, gap - margin);
    mf_mask rotates = mf_less(zero, length);
    mf_lane scale = mf_select(mf_less(q.w, zero), mf_set((mf_real)1), mf_set((mf_real)-1)) /
                    mf_select(rotates, length, mf_set((mf_real)1));
    Vec rate = triple(s, s->batch->ball_rate, s->image->ball_count, 3 * own->ball);
    return mf_keep(near, vec_dot(MF_VALUE(Vec, q.x, q.y, q.z), rate) * scale);
}

// ---- touching and seeing -----------------------------------------------------------------------

// The load of one contact. Where robots of a group move by several motions, what the other motion
// wrote last does not count.
static mf_lane contact_load(const Sense *s, const mf_SenseContact *contact) {
    const mf_SenseBatch *b = s->batch;
    bool points = contact->of_points;
    mf_lane load =
        row_load(rows_of(s, points ? b->point_load : b->load,
                         points ? s->image->point_components : s->image->load_components),
                 contact->row);
    if (b->motion == NULL)
        return load;
    mf_index level = mf_load_index(b->motion + (size_t)s->block * MF_BLOCK + s->lane);
    mf_mask by_points = mf_index_equal(level, mf_set_index(MF_MOTION_POINTS));
    return mf_keep(points ? by_points : mf_not(by_points), load);
}

static mf_RaySolid ray_solid(const mf_SenseSolid *from) {
    return MF_VALUE(mf_RaySolid, from->type, from->kind,
                    {from->size[0], from->size[1], from->size[2]}, NULL);
}

// What full dynamics summed, while they move the robot.
static mf_lane touch_summed(const Sense *s, const mf_SenseItem *own) {
    const mf_SenseBatch *b = s->batch;
    const mf_lane sum = row_load(rows_of(s, b->touch, s->image->touch_count), own->external);
    if (b->motion == NULL)
        return sum;
    const mf_index level = mf_load_index(b->motion + (size_t)s->block * MF_BLOCK + s->lane);
    return mf_keep(mf_index_equal(level, mf_set_index(MF_MOTION_ARTICULATED)), sum);
}

// Loads of the ground count where the half line from the contact downwards, away from the body,
// intersects the site's volume.
static mf_lane touch(const Sense *s, const mf_SenseItem *own) {
    Motion site = frame_motion(s, &own->frame);
    const mf_RaySolid volume = ray_solid(&own->volume);
    const bool summed = own->has_external && s->batch->touch != NULL;
    mf_lane sum = summed ? touch_summed(s, own) : mf_zero(), far = mf_set(RAY_FAR);
    Vec down = {-site.rotation.zx, -site.rotation.zy, -site.rotation.zz};
    for (uint32_t i = own->first; i < own->first + own->items; i++) {
        const mf_SenseContact *contact = &s->contacts[i];
        if (summed && !contact->of_points)
            continue;
        const Motion *body = &s->motion[contact->body];
        Vec at = mat_apply_add(&body->rotation, set_vec(contact->position), body->position);
        Vec local = mat_apply_transposed(&site.rotation, vec_sub(at, site.position));
        mf_lane load = contact_load(s, contact);
        const mf_lane below = ray_shape(&volume, local, down);
        sum = sum + mf_keep(mf_less(below, far), load);
    }
    return sum;
}

// The ground: closed form where it is level, else the first look below it, half a cell apart.
static mf_lane ground_distance(const Sense *s, Vec start, Vec direction, double reach) {
    const mf_TerrainImage *terrain = s->batch->terrain;
    const mf_lane zero = mf_zero(), far = mf_set(RAY_FAR);
    if (s->image->level) {
        Vec above = {start.x, start.y, start.z - mf_set((mf_real)terrain->highest)};
        const double size[3] = {0, 0, 0};
        return ray_plane(above, direction, size);
    }
    const mf_LaneMap map = mf_lane_map(terrain);
    mf_real step = (mf_real)(0.5 * terrain->cell);
    if (reach > 0.0 && reach < step * GROUND_SAMPLES)
        step = (mf_real)(reach / GROUND_SAMPLES);
    mf_lane found = far, last = start.z - mf_map_height(&map, start.x, start.y);
    for (uint32_t i = 1; i <= GROUND_SAMPLES; i++) {
        mf_lane t = mf_set((mf_real)i * step);
        Vec at = vec_fma(direction, t, start);
        mf_lane height = at.z - mf_map_height(&map, at.x, at.y);
        mf_mask through = mf_and(mf_less_equal(zero, last), mf_less(height, zero));
        mf_lane part = height / mf_select(through, last - height, mf_set((mf_real)1));
        mf_lane hit = mf_fma(part, mf_set(step), t);
        found = mf_select(through, mf_min(found, hit), found);
        last = height;
    }
    return found;
}

static mf_lane ray_to_shape(const Sense *s, const mf_SenseShape *shape, Vec p, Vec d) {
    mf_RaySolid solid = ray_solid(&shape->solid);
    mf_Mesh mesh;
    if (solid.type != MF_SHAPE_MESH)
        return ray_shape(&solid, p, d);
    const mf_SenseMesh *own = &mf_sense_meshes(s->image)[shape->mesh];
    mesh.vertices = mf_sense_vertices(s->image) + 3 * (size_t)own->first_vertex;
    mesh.triangles = mf_sense_triangles(s->image) + 3 * (size_t)own->first_triangle;
    mesh.triangle_count = own->triangle_count;
    solid.mesh = &mesh;
    return ray_shape(&solid, p, d);
}

static mf_lane range_to(const Sense *s, const mf_SenseItem *own) {
    Motion site = frame_motion(s, &own->frame);
    Vec direction = {site.rotation.xz, site.rotation.yz, site.rotation.zz};
    mf_lane nearest = ground_distance(s, site.position, direction, own->reach);
    for (uint32_t i = own->first; i < own->first + own->items; i++) {
        const mf_SenseShape *shape = &s->shapes[i];
        Motion frame = frame_motion(s, &shape->frame);
        Vec p = mat_apply_transposed(&frame.rotation, vec_sub(site.position, frame.position));
        Vec d = mat_apply_transposed(&frame.rotation, direction);
        nearest = mf_min(nearest, ray_to_shape(s, shape, p, d));
    }
    // Rays that are level but for rounding end nowhere.
    mf_mask none = mf_less_equal(mf_set((mf_real)1e9), nearest);
    return mf_select(none, mf_set((mf_real)-1), nearest);
}

// All loads of the ground on a link.
static mf_lane load_of(const Sense *s, const mf_SenseItem *own) {
    mf_lane sum = mf_zero();
    for (uint32_t i = own->first; i < own->first + own->items; i++)
        sum = sum + contact_load(s, &s->contacts[i]);
    return sum;
}

static mf_lane ray_to_ground(const Sense *s, const mf_SenseItem *own) {
    const mf_LaneMap map = mf_lane_map(s->batch->terrain);
    Motion site = frame_motion(s, &own->frame);
    Vec direction = mat_apply(&site.rotation, set_vec(own->axis));
    const SenseRay ray = {{site.position.x, site.position.y, site.position.z},
                          {direction.x, direction.y, direction.z}};
    return sense_ray(&map, &ray, (mf_real)own->reach,
                     sense_ray_samples(s->batch->terrain, own->reach));
}

static void measure_attitude(const Sense *s, const mf_SenseItem *own, mf_lane out[3]) {
    Mat axes;
    if (own->plain)
        axes = quat_matrix(raw_quat(rows_of(s, s->batch->orientation, 4)));
    else
        axes = frame_motion(s, &own->frame).rotation;
    const Mat *m = &axes;
    sense_attitude_angles(m->xx, m->xy, m->yx, m->yy, m->zx, m->zy, m->zz, out);
}

// ---- one sensor --------------------------------------------------------------------------------

static void put_vec(mf_lane *out, Vec v) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static void put_quat(mf_lane *out, Quat q) {
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

static Vec axis_of(const Motion *frame, mf_SensorType type) {
    const Mat *m = &frame->rotation;
    return type == MF_SENSOR_FRAME_X_AXIS   ? MF_VALUE(Vec, m->xx, m->yx, m->zx)
           : type == MF_SENSOR_FRAME_Y_AXIS ? MF_VALUE(Vec, m->xy, m->yy, m->zy)
                                            : MF_VALUE(Vec, m->xz, m->yz, m->zz);
}

static void measure_frame(const Sense *s, const mf_SenseItem *own, mf_lane *out) {
    Motion frame = frame_motion(s, &own->frame), from = frame_motion(s, &own->reference);
    Vec offset = vec_sub(frame.position, from.position), result = offset;
    switch (own->type) {
    case MF_SENSOR_FRAME_QUATERNION: {
        Quat back = {from.attitude.w, -from.attitude.x, -from.attitude.y, -from.attitude.z};
        put_quat(out, quat_normalize(quat_multiply(back, frame.attitude)));
        return;
    }
    case MF_SENSOR_FRAME_X_AXIS:
    case MF_SENSOR_FRAME_Y_AXIS:
    case MF_SENSOR_FRAME_Z_AXIS:
        result = axis_of(&frame, own->type);
        break;
    case MF_SENSOR_FRAME_VELOCITY:
        // Seen from a frame that turns.
        result = vec_sub(vec_sub(frame.speed, from.speed), vec_cross(from.rate, offset));
        break;
    case MF_SENSOR_FRAME_RATE:
        result = vec_sub(frame.rate, from.rate);
        break;
    default:
        break;
    }
    put_vec(out, mat_apply_transposed(&from.rotation, result));
}

static void measure_site(const Sense *s, const mf_SenseItem *own, mf_lane *out) {
    Motion site = frame_motion(s, &own->frame);
    Vec force, torque, result = site.rate;
    switch (own->type) {
    case MF_SENSOR_ACCELEROMETER:
        result = weighed(s, site.acceleration);
        break;
    case MF_SENSOR_VELOCIMETER:
        result = site.speed;
        break;
    case MF_SENSOR_MAGNETOMETER:
        result = set_vec(s->image->magnetic);
        break;
    case MF_SENSOR_FORCE:
    case MF_SENSOR_TORQUE:
        subtree_wrench(s, own, site.position, &force, &torque);
        result = own->type == MF_SENSOR_FORCE ? force : torque;
        break;
    default:
        break;
    }
    put_vec(out, mat_apply_transposed(&site.rotation, result));
}

static mf_lane measure_joint(const Sense *s, const mf_SenseItem *own) {
    const mf_SenseBatch *b = s->batch;
    bool speed =
        own->type == MF_SENSOR_JOINT_LIMIT_VELOCITY || own->type == MF_SENSOR_TENDON_LIMIT_VELOCITY;
    switch (own->type) {
    case MF_SENSOR_JOINT_POSITION:
        return joint_angle(s, own->row);
    case MF_SENSOR_JOINT_VELOCITY:
        return joint_rate(s, own->row);
    case MF_SENSOR_TENDON_POSITION:
        return joint_sum(s, b->angle, own);
    case MF_SENSOR_ACTUATOR_POSITION:
    case MF_SENSOR_ACTUATOR_VELOCITY:
        return actuator_value(s, own, own->type == MF_SENSOR_ACTUATOR_VELOCITY);
    case MF_SENSOR_JOINT_LIMIT_FORCE:
        return row_load(rows_of(s, b->joint_limit, s->image->joint_count), own->row);
    case MF_SENSOR_TENDON_LIMIT_FORCE:
        return row_load(rows_of(s, b->tendon_limit, s->image->tendons_of_model), own->row);
    case MF_SENSOR_TENDON_VELOCITY:
        return joint_sum(s, b->rate, own);
    case MF_SENSOR_ACTUATOR_FORCE:
    case MF_SENSOR_TENDON_ACTUATOR_FORCE:
        return sum_terms(s, b->force, s->image->actuator_count, own->first, own->items);
    case MF_SENSOR_JOINT_ACTUATOR_FORCE:
        return joint_force(s, own);
    case MF_SENSOR_JOINT_LIMIT_POSITION:
    case MF_SENSOR_JOINT_LIMIT_VELOCITY:
        if (own->joint_type == MF_JOINT_BALL)
            return ball_limit(s, own, speed);
        return limit_value(own, joint_angle(s, own->row), joint_rate(s, own->row), speed);
    default: // limits of tendons
        return limit_value(own, joint_sum(s, b->angle, own), joint_sum(s, b->rate, own), speed);
    }
}

static void measure(const Sense *s, const mf_SenseItem *own, mf_lane *out) {
    switch (own->type) {
    case MF_SENSOR_CONTACT:
        out[0] = mf_keep(mf_less(mf_zero(), load_of(s, own)), mf_set((mf_real)1));
        return;
    case MF_SENSOR_CONTACT_FORCE:
        out[0] = load_of(s, own);
        return;
    case MF_SENSOR_RAY:
        out[0] = ray_to_ground(s, own);
        return;
    case MF_SENSOR_ATTITUDE:
        measure_attitude(s, own, out);
        return;
    case MF_SENSOR_TOUCH:
        out[0] = touch(s, own);
        return;
    case MF_SENSOR_RANGEFINDER:
        out[0] = range_to(s, own);
        return;
    case MF_SENSOR_ACCELEROMETER:
    case MF_SENSOR_VELOCIMETER:
    case MF_SENSOR_GYRO:
    case MF_SENSOR_MAGNETOMETER:
    case MF_SENSOR_FORCE:
    case MF_SENSOR_TORQUE:
        measure_site(s, own, out);
        return;
    case MF_SENSOR_FRAME_POSITION:
    case MF_SENSOR_FRAME_QUATERNION:
    case MF_SENSOR_FRAME_X_AXIS:
    case MF_SENSOR_FRAME_Y_AXIS:
    case MF_SENSOR_FRAME_Z_AXIS:
    case MF_SENSOR_FRAME_VELOCITY:
    case MF_SENSOR_FRAME_RATE:
        measure_frame(s, own, out);
        return;
    case MF_SENSOR_FRAME_ACCELERATION:
        put_vec(out, weighed(s, frame_motion(s, &own->frame).acceleration));
        return;
    case MF_SENSOR_FRAME_ANGULAR_ACCELERATION:
        put_vec(out, frame_motion(s, &own->frame).angular_acceleration);
        return;
    case MF_SENSOR_BALL_QUATERNION:
        put_quat(out, ball_rotation(s, own->ball));
        return;
    case MF_SENSOR_BALL_RATE:
        put_vec(out, triple(s, s->batch->ball_rate, s->image->ball_count, 3 * own->ball));
        return;
    case MF_SENSOR_SUBTREE_CENTER:
        put_vec(out, subtree(s, own).center);
        return;
    case MF_SENSOR_SUBTREE_VELOCITY:
        put_vec(out, subtree(s, own).speed);
        return;
    case MF_SENSOR_SUBTREE_MOMENTUM:
        put_vec(out, subtree_momentum(s, own));
        return;
    case MF_SENSOR_POTENTIAL_ENERGY:
        out[0] = potential_energy(s);
        return;
    case MF_SENSOR_KINETIC_ENERGY:
        out[0] = kinetic_energy(s);
        return;
    case MF_SENSOR_CLOCK:
        out[0] = mf_set((mf_real)s->run->time);
        return;
    default:
        out[0] = measure_joint(s, own);
        return;
    }
}

// ---- the block ---------------------------------------------------------------------------------

static mf_mask lanes_alive(const mf_SenseBatch *batch, const Sense *s) {
    mf_index fault = mf_load_index(batch->fault + (size_t)s->block * MF_BLOCK + s->lane);
    mf_mask alive = mf_index_equal(fault, mf_set_index(0));
    // A question about one robot is answered whatever its state.
    return batch->detached != NULL ? mf_or(alive, mf_not(alive)) : alive;
}

// Where the values of a sensor go.
static mf_real *target(const Sense *s, const mf_SenseItem *own) {
    const mf_SenseBatch *b = s->batch;
    size_t lane = s->lane, block = b->detached != NULL ? 0 : s->block;
    if (b->detached != NULL)
        return (mf_real *)b->detached + (size_t)own->address * MF_BLOCK + lane;
    if (own->treated)
        return (mf_real *)b->raw + (block * s->image->raw_count + own->out) * MF_BLOCK + lane;
    return (mf_real *)b->values + (block * s->image->value_count + own->out) * MF_BLOCK + lane;
}

static MF_INLINE void put_value(mf_real *to, mf_mask alive, bool all, mf_lane value) {
    value = mf_keep(mf_finite(value), value);
    if (all)
        mf_store(to, value);
    else
        mf_store_where(alive, to, value);
}

static void copy_joints(const Sense *s, const mf_SenseItem *first, mf_mask alive, bool all) {
    const mf_real *angles =
        rows_of(s, s->batch->angle, s->image->joint_count) + (size_t)first->row * MF_BLOCK;
    mf_real *values = target(s, first);
    for (size_t at = 0; at < (size_t)first->joints * MF_BLOCK; at += MF_BLOCK)
        put_value(values + at, alive, all, mf_load(angles + at));
}

static void sense_lanes(Sense *s) {
    const mf_mask alive = lanes_alive(s->batch, s);
    const bool all = mf_all(alive);
    move_links(s);
    for (uint32_t i = 0; i < s->image->item_count; i++) {
        const mf_SenseItem *own = &s->items[i];
        if (own->copied || !(s->run->due >> own->clock & 1))
            continue;
        if (own->type == MF_SENSOR_JOINT) {
            copy_joints(s, own, alive, all);
            i += own->joints - 1;
            continue;
        }
        mf_real *values = target(s, own);
        mf_lane out[4] = {mf_zero(), mf_zero(), mf_zero(), mf_zero()};
        if (!own->dead)
            measure(s, own, out);
        for (uint32_t c = 0; c < own->count; c++) // more than 4 only where all are 0
            put_value(values + (size_t)c * MF_BLOCK, alive, all, out[c & 3]);
    }
}

static Sense open_sense(const mf_SenseBatch *batch, const mf_SenseRun *run) {
    const mf_SenseImage *image = batch->image;
    Sense s = {.batch = batch,
               .run = run,
               .gravity = set_vec(image->gravity),
               .image = image,
               .tree = mf_sense_tree(image),
               .tree_links = mf_tree_links(mf_sense_tree(image)),
               .links = mf_sense_links(image),
               .items = mf_sense_items(image),
               .lumps = mf_sense_lumps(image),
               .terms = mf_sense_terms(image),
               .forces = mf_sense_forces(image),
               .springs = mf_sense_springs(image),
               .tendons = mf_sense_tendons(image),
               .shapes = mf_sense_shapes(image),
               .contacts = mf_sense_contacts(image),
               .armature = mf_sense_armature(image)};
    return s;
}

// The rows of the links' motion, then the motion of the lanes at work.
size_t MF_KERNEL(mf_sense_scratch_size)(const mf_SenseBatch *batch) {
    return sense_rows(batch->image) * MF_BLOCK * sizeof(mf_real) +
           (mf_sense_tree(batch->image)->link_count + 1) * sizeof(Motion);
}

void MF_KERNEL(mf_sense_run)(const mf_SenseBatch *batch, const mf_SenseRun *run) {
    Sense s = open_sense(batch, run);
    mf_real *rows = (mf_real *)run->scratch;
    s.motion = (Motion *)(void *)(rows + sense_rows(s.image) * MF_BLOCK);
    divide_rows(&s, rows);
    for (s.block = run->first; s.block < run->first + run->count; s.block++) {
        find_state(&s);
        find_change(&s);
        for (s.lane = 0; s.lane < MF_BLOCK; s.lane += MF_LANES) {
            if (run->only == UINT32_MAX || (run->only >= s.lane && run->only < s.lane + MF_LANES))
                sense_lanes(&s);
        }
    }
}

void MF_KERNEL(mf_sense_keep)(const mf_SenseBatch *batch, const mf_SenseRun *run) {
    Sense s = open_sense(batch, run);
    for (s.block = run->first; s.block < run->first + run->count; s.block++) {
        find_state(&s);
        gather_velocities(&s, (mf_real *)batch->before +
                                  (size_t)s.block * s.image->velocity_count * MF_BLOCK);
    }
}
