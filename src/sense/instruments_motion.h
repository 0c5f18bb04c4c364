// Where the links of a block of robots are and how they move: what the forward kinematics of the
// tree made (tree_motion_kernel.c), in world axes, without gravity.
#ifndef MF_SENSE_INSTRUMENTS_MOTION_H
#define MF_SENSE_INSTRUMENTS_MOTION_H

#include "math/lane_vector.h"
#include "sense/instruments.h"

typedef struct Motion { // world axes
    Quat attitude;
    Mat rotation;
    Vec position, speed, rate;              // [m], [m/s], [rad/s]
    Vec acceleration, angular_acceleration; // [m/s^2], [rad/s^2]
} Motion;

typedef struct Sense {
    const mf_InstrumentBatch *batch;
    const mf_InstrumentRun *run;
    uint32_t block, lane;
    Vec gravity;    // [m/s^2]
    Motion *motion; // of link l at l + 1; the world's at 0
    mf_TreeState state;
    mf_TreeMotion tree_motion; // rows of a block
    mf_real *change;           // rows of tree_motion.change
    // The plan and its arrays.
    const mf_InstrumentImage *image;
    const mf_Tree *tree;
    const mf_TreeLink *tree_links;
    const uint32_t *links;
    const mf_Instrument *instruments;
    const mf_InstrumentLump *lumps;
    const mf_InstrumentTerm *terms;
    const mf_InstrumentForce *forces;
    const mf_InstrumentSpring *springs;
    const mf_InstrumentTendon *tendons;
    const mf_InstrumentShape *shapes;
    const mf_InstrumentContact *contacts;
    const double *armature;
} Sense;

// ---- reading -----------------------------------------------------------------------------------

static inline const mf_real *rows_of(const Sense *s, const void *data, uint32_t components) {
    return (const mf_real *)data + (size_t)s->block * components * MF_BLOCK + s->lane;
}

static inline Vec set_vec(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static inline Quat set_quat(const double q[4]) {
    return MF_VALUE(Quat, mf_set((mf_real)q[0]), mf_set((mf_real)q[1]), mf_set((mf_real)q[2]),
                    mf_set((mf_real)q[3]));
}

static inline Quat load_quat(const mf_real *rows, uint32_t c) {
    return quat_normalize(MF_VALUE(Quat, row_load(rows, c), row_load(rows, c + 1),
                                   row_load(rows, c + 2), row_load(rows, c + 3)));
}

static inline Vec no_vec(void) {
    return MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
}

static inline mf_lane joint_angle(const Sense *s, uint32_t row) {
    return row_load(rows_of(s, s->batch->angle, s->image->joint_count), row);
}

static inline mf_lane joint_rate(const Sense *s, uint32_t row) {
    return row_load(rows_of(s, s->batch->rate, s->image->joint_count), row);
}

static inline Quat ball_rotation(const Sense *s, uint32_t ball) {
    const Quat unit = {mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero()};
    if (s->batch->ball == NULL)
        return unit;
    return load_quat(rows_of(s, s->batch->ball, 4 * s->image->ball_count), 4 * ball);
}

// Three values from component `row` on of a field with `count` triples.
static inline Vec triple(const Sense *s, const void *data, uint32_t count, uint32_t row) {
    return data == NULL ? no_vec() : vec_load(rows_of(s, data, 3 * count), row);
}

// ---- rows of a block ---------------------------------------------------------------------------

// Rows that a run keeps: 3 of positions, 4 of rotations, 9 of matrices, 6 of velocities and 6 of
// accelerations per link, and those of the velocity vector's change.
enum { POSITION = 3, ROTATION = 4, MATRIX = 9, VELOCITY = 6, LINK_ROWS = 28 };

static inline size_t instrument_rows(const mf_InstrumentImage *image) {
    const mf_Tree *tree = mf_instrument_tree(image);
    return (size_t)LINK_ROWS * tree->link_count + tree->dof_count;
}

static void divide_rows(Sense *s, mf_real *rows) {
    const size_t links = s->tree->link_count * (size_t)MF_BLOCK;
    mf_TreeMotion *out = &s->tree_motion;
    *out = MF_VALUE(mf_TreeMotion, .position_rows = POSITION, .rotation_rows = ROTATION,
                    .matrix_rows = MATRIX, .velocity_rows = VELOCITY, .links = s->links,
                    .link_count = s->image->link_count, .in_world = true);
    out->position = rows;
    out->rotation = rows += POSITION * links;
    out->matrix = rows += ROTATION * links;
    out->velocity = rows += MATRIX * links;
    rows += VELOCITY * links;
    out->acceleration = s->image->accelerates ? rows : NULL;
    s->change = rows + VELOCITY * links;
}

static inline const void *block_of(const Sense *s, const void *data, size_t components) {
    return data == NULL ? NULL : (const mf_real *)data + s->block * components * MF_BLOCK;
}

static void copy_rows(mf_real *to, const void *from, size_t rows) {
    if (from != NULL)
        memcpy(to, from, rows * MF_BLOCK * sizeof(mf_real));
}

// Where the state of a block is.
static void find_state(Sense *s) {
    const mf_InstrumentBatch *b = s->batch;
    const mf_InstrumentImage *image = s->image;
    s->state = MF_VALUE(mf_TreeState, .position = block_of(s, b->position, 3),
                        .orientation = block_of(s, b->orientation, 4),
                        .linear = image->fixed ? NULL : block_of(s, b->linear, 3),
                        .angular = image->fixed ? NULL : block_of(s, b->angular, 3),
                        .angle = block_of(s, b->angle, image->joint_count),
                        .rate = block_of(s, b->rate, image->joint_count),
                        .ball = block_of(s, b->ball, 4 * (size_t)image->ball_count),
                        .ball_rate = block_of(s, b->ball_rate, 3 * (size_t)image->ball_count),
                        .free = block_of(s, b->free, 3 * (size_t)image->free_count),
                        .free_rate = block_of(s, b->free_rate, 3 * (size_t)image->free_count),
                        .wide = sizeof(mf_real) == sizeof(double));
}

// The velocity vectors of a block, as far as links are needed.
static void gather_velocities(const Sense *s, mf_real *out) {
    if (!s->image->fixed) {
        copy_rows(out, s->state.linear, 3);
        copy_rows(out + 3 * MF_BLOCK, s->state.angular, 3);
    }
    for (uint32_t i = 0; i < s->image->link_count; i++) {
        const mf_TreeLink *link = &s->tree_links[s->links[i]];
        mf_real *to = out + (size_t)link->velocity * MF_BLOCK;
        const size_t slide = (size_t)link->slide_rate_row * MF_BLOCK;
        const size_t rotation = (size_t)link->rotation_rate_row * MF_BLOCK;
        const bool floats = link->type == MF_JOINT_FLOATING;
        if (link->type == MF_JOINT_HINGE || link->type == MF_JOINT_SLIDE)
            copy_rows(to, (const mf_real *)s->state.rate + rotation, 1);
        if (floats && s->state.free_rate != NULL)
            copy_rows(to, (const mf_real *)s->state.free_rate + slide, 3);
        if ((floats || link->type == MF_JOINT_BALL) && s->state.ball_rate != NULL)
            copy_rows(to + (floats ? 3 * MF_BLOCK : 0),
                      (const mf_real *)s->state.ball_rate + rotation, 3);
    }
}

// The change of the velocity vector over the step; 0 at a start, or where nobody asks.
static void find_change(Sense *s) {
    const mf_InstrumentBatch *b = s->batch;
    s->tree_motion.change = b->acceleration;
    if (b->acceleration != NULL || s->run->inverse_step == 0.0 || b->before == NULL)
        return;
    const mf_lane inverse = mf_set((mf_real)s->run->inverse_step);
    const size_t values = (size_t)s->image->velocity_count * MF_BLOCK;
    const mf_real *before = (const mf_real *)b->before + s->block * values;
    memcpy(s->change, before, values * sizeof(mf_real)); // of links that are not needed
    gather_velocities(s, s->change);
    for (size_t i = 0; i < values; i += MF_LANES)
        mf_store(s->change + i, (mf_load(s->change + i) - mf_load(before + i)) * inverse);
    s->tree_motion.change = s->change;
}

// ---- motion of the links -----------------------------------------------------------------------

static void load_motion(const Sense *s, uint32_t link) {
    const mf_TreeMotion *from = &s->tree_motion;
    const size_t row = (size_t)link * MF_BLOCK;
    const mf_real *rotation = (const mf_real *)from->rotation + ROTATION * row + s->lane;
    const mf_real *matrix = (const mf_real *)from->matrix + MATRIX * row + s->lane;
    const mf_real *velocity = (const mf_real *)from->velocity + VELOCITY * row + s->lane;
    const mf_real *acceleration = (const mf_real *)from->acceleration + VELOCITY * row + s->lane;
    Motion *out = &s->motion[link + 1];
    out->attitude = MF_VALUE(Quat, row_load(rotation, 0), row_load(rotation, 1),
                             row_load(rotation, 2), row_load(rotation, 3));
    out->rotation = MF_VALUE(Mat, row_load(matrix, 0), row_load(matrix, 1), row_load(matrix, 2),
                             row_load(matrix, 3), row_load(matrix, 4), row_load(matrix, 5),
                             row_load(matrix, 6), row_load(matrix, 7), row_load(matrix, 8));
    out->position = vec_load((const mf_real *)from->position + POSITION * row + s->lane, 0);
    out->speed = vec_load(velocity, 0);
    out->rate = vec_load(velocity, 3);
    out->acceleration = out->angular_acceleration = no_vec();
    if (from->acceleration == NULL)
        return;
    out->acceleration = vec_load(acceleration, 0);
    out->angular_acceleration = vec_load(acceleration, 3);
}

static void move_links(Sense *s) {
    Motion *world = &s->motion[0];
    world->attitude = MF_VALUE(Quat, mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero());
    world->rotation = quat_matrix(world->attitude);
    world->position = world->speed = world->rate = world->acceleration =
        world->angular_acceleration = no_vec();
    s->tree_motion.first_lane = s->lane;
    s->tree_motion.lane_count = MF_LANES;
    MF_KERNEL(mf_tree_motion)(s->tree, &s->state, &s->tree_motion);
    load_motion(s, 0);
    for (uint32_t i = 0; i < s->image->link_count; i++)
        load_motion(s, s->links[i]);
}

// A frame that moves with a link.
static Motion frame_motion(const Sense *s, const mf_InstrumentFrame *frame) {
    const Motion *body = &s->motion[frame->body];
    Motion own = *body;
    const Vec arm = mat_apply(&body->rotation, set_vec(frame->position));
    const Vec swing = vec_cross(body->rate, arm);
    own.position = vec_add(body->position, arm);
    own.speed = vec_add(body->speed, swing);
    own.acceleration =
        vec_add(body->acceleration,
                vec_add(vec_cross(body->angular_acceleration, arm), vec_cross(body->rate, swing)));
    own.attitude = quat_multiply(body->attitude, set_quat(frame->rotation));
    own.rotation = quat_matrix(own.attitude);
    return own;
}

// Acceleration with gravity: what a mass on a spring shows.
static Vec weighed(const Sense *s, Vec acceleration) {
    return vec_sub(acceleration, s->gravity);
}

#endif
