// Where the links of a block of robots are and how they move, from the fields of their state: the
// usual recursion with classical accelerations (Featherstone 2008, section 2.10), in world axes,
// without gravity.
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
    return row_load(rows_of(s, s->batch->angle, s->batch->joint_count), row);
}

static inline mf_lane joint_rate(const Sense *s, uint32_t row) {
    return row_load(rows_of(s, s->batch->rate, s->batch->joint_count), row);
}

static inline Quat ball_rotation(const Sense *s, uint32_t ball) {
    const Quat unit = {mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero()};
    if (s->batch->ball == NULL)
        return unit;
    return load_quat(rows_of(s, s->batch->ball, 4 * s->batch->ball_count), 4 * ball);
}

static inline Vec triple(const Sense *s, const void *data, uint32_t count, uint32_t number) {
    return data == NULL ? no_vec() : vec_load(rows_of(s, data, 3 * count), 3 * number);
}

// Change of one value of the velocity vector over the step.
static inline mf_lane growth_of(const Sense *s, uint32_t address, mf_lane now) {
    const mf_InstrumentBatch *b = s->batch;
    if (b->acceleration != NULL)
        return row_load((const mf_real *)b->acceleration + s->lane, address);
    if (s->run->inverse_step == 0.0 || b->before == NULL) // at a start; or nobody asks
        return mf_zero();
    mf_lane before = row_load(rows_of(s, b->before, b->velocity_count), address);
    return (now - before) * mf_set((mf_real)s->run->inverse_step);
}

static inline Vec growth_vec(const Sense *s, uint32_t address, Vec now) {
    return MF_VALUE(Vec, growth_of(s, address, now.x), growth_of(s, address + 1, now.y),
                    growth_of(s, address + 2, now.z));
}

// ---- motion of the links -----------------------------------------------------------------------

static void move_base(Sense *s) {
    const mf_InstrumentBatch *b = s->batch;
    Motion *world = &s->motion[0], *base = &s->motion[1];
    world->attitude = MF_VALUE(Quat, mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero());
    world->rotation = quat_matrix(world->attitude);
    world->position = world->speed = world->rate = world->acceleration =
        world->angular_acceleration = no_vec();
    *base = *world;
    base->attitude = load_quat(rows_of(s, b->orientation, 4), 0);
    base->rotation = quat_matrix(base->attitude);
    base->position = vec_load(rows_of(s, b->position, 3), 0);
    if (b->fixed)
        return;
    Vec rate = vec_load(rows_of(s, b->angular, 3), 0), angular = growth_vec(s, 3, rate);
    base->speed = vec_load(rows_of(s, b->linear, 3), 0);
    base->acceleration = growth_vec(s, 0, base->speed);
    base->rate = mat_apply(&base->rotation, rate);
    base->angular_acceleration = mat_apply(&base->rotation, angular);
}

static inline Quat rotation_about(const double axis[3], mf_lane angle) {
    mf_lane sine, cosine;
    mf_sin_cos_lane(angle * mf_set((mf_real)0.5), &sine, &cosine);
    Vec part = vec_scale(set_vec(axis), sine);
    return MF_VALUE(Quat, cosine, part.x, part.y, part.z);
}

// What every joint does: the child's frame at rest is carried along.
static void carry(const Motion *parent, Motion *own, Vec arm) {
    Vec swing = vec_cross(parent->rate, arm);
    own->position = vec_add(parent->position, arm);
    own->speed = vec_add(parent->speed, swing);
    own->rate = parent->rate;
    own->angular_acceleration = parent->angular_acceleration;
    own->acceleration =
        vec_add(parent->acceleration, vec_add(vec_cross(parent->angular_acceleration, arm),
                                              vec_cross(parent->rate, swing)));
}

static void add_angular(Motion *own, const Motion *parent, Vec rate, Vec acceleration) {
    own->rate = vec_add(own->rate, rate);
    own->angular_acceleration =
        vec_add(own->angular_acceleration, vec_add(acceleration, vec_cross(parent->rate, rate)));
}

static void add_sliding(Motion *own, const Motion *parent, Vec speed, Vec acceleration) {
    Vec twice = vec_scale(vec_cross(parent->rate, speed), mf_set((mf_real)2));
    own->speed = vec_add(own->speed, speed);
    own->acceleration = vec_add(own->acceleration, vec_add(acceleration, twice));
}

static void move_ball(const Sense *s, const mf_InstrumentLink *link, const Motion *parent,
                      Motion *own, Quat frame) {
    uint32_t address = link->velocity + (link->type == MF_JOINT_FLOATING ? 3 : 0);
    Vec rate = triple(s, s->batch->ball_rate, s->batch->ball_count, link->ball);
    own->attitude = quat_normalize(quat_multiply(frame, ball_rotation(s, link->ball)));
    own->rotation = quat_matrix(own->attitude);
    add_angular(own, parent, mat_apply(&own->rotation, rate),
                mat_apply(&own->rotation, growth_vec(s, address, rate)));
}

static void move_link(Sense *s, const mf_InstrumentLink *link) {
    const mf_InstrumentBatch *b = s->batch;
    const Motion *parent = &s->motion[link->parent];
    Motion *own = &s->motion[link->body];
    Quat frame = quat_multiply(parent->attitude, set_quat(link->rotation));
    Vec arm = mat_apply(&parent->rotation, set_vec(link->position));
    mf_lane reference = mf_set((mf_real)link->reference);
    own->attitude = frame;
    if (link->type == MF_JOINT_HINGE) {
        mf_lane rate = joint_rate(s, link->row);
        Quat rotation = rotation_about(link->axis, joint_angle(s, link->row) - reference);
        own->attitude = quat_normalize(quat_multiply(frame, rotation));
        own->rotation = quat_matrix(own->attitude);
        Vec axis = mat_apply(&own->rotation, set_vec(link->axis));
        carry(parent, own, arm);
        add_angular(own, parent, vec_scale(axis, rate),
                    vec_scale(axis, growth_of(s, link->velocity, rate)));
        return;
    }
    own->rotation = quat_matrix(frame);
    if (link->type == MF_JOINT_SLIDE) {
        mf_lane rate = joint_rate(s, link->row);
        Vec axis = mat_apply(&own->rotation, set_vec(link->axis));
        carry(parent, own, vec_fma(axis, joint_angle(s, link->row) - reference, arm));
        add_sliding(own, parent, vec_scale(axis, rate),
                    vec_scale(axis, growth_of(s, link->velocity, rate)));
    } else if (link->type == MF_JOINT_FLOATING) {
        const Mat orientation = own->rotation;
        Vec speed = triple(s, b->free_rate, b->free_count, link->free);
        Vec way = triple(s, b->free, b->free_count, link->free);
        carry(parent, own, mat_apply_add(&orientation, way, arm));
        add_sliding(own, parent, mat_apply(&orientation, speed),
                    mat_apply(&orientation, growth_vec(s, link->velocity, speed)));
        move_ball(s, link, parent, own, frame);
    } else {
        carry(parent, own, arm);
        if (link->type == MF_JOINT_BALL)
            move_ball(s, link, parent, own, frame);
    }
}

// A frame that moves with a link.
static Motion frame_motion(const Sense *s, const mf_InstrumentFrame *frame) {
    const Motion *body = &s->motion[frame->body];
    Motion own;
    carry(body, &own, mat_apply(&body->rotation, set_vec(frame->position)));
    own.attitude = quat_multiply(body->attitude, set_quat(frame->rotation));
    own.rotation = quat_matrix(own.attitude);
    return own;
}

// Acceleration with gravity: what a mass on a spring shows.
static Vec weighed(const Sense *s, Vec acceleration) {
    return vec_sub(acceleration, s->gravity);
}

#endif
