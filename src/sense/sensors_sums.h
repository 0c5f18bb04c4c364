// Sums over the masses of a robot and over its joints: subtrees, the wrench that a subtree needs,
// energies, tendons, actuators.
#pragma once

#include "math/lane_functions.h"
#include "math/lane_vector.h"
#include "sense/sensors.h"

// ---- motion of links -------------------------------------------------------------------------

// Where the links of a block of robots are and how they move: what the forward kinematics of the
// tree made (tree_motion_kernel.c), in world axes, without gravity.

typedef struct Motion { // world axes
    Quat attitude;
    Mat rotation;
    Vec position, speed, rate;              // [m], [m/s], [rad/s]
    Vec acceleration, angular_acceleration; // [m/s^2], [rad/s^2]
} Motion;

typedef struct Sense {
    const mf_SenseBatch *batch;
    const mf_SenseRun *run;
    uint32_t block, lane;
    Vec gravity;    // [m/s^2]
    Motion *motion; // of link l at l + 1; the world's at 0
    mf_TreeState state;
    mf_TreeMotion tree_motion; // rows of a block
    mf_real *change;           // rows of tree_motion.change
    // The plan and its arrays.
    const mf_SenseImage *image;
    const mf_Tree *tree;
    const mf_TreeLink *tree_links;
    const uint32_t *links;
    const mf_SenseItem *items;
    const mf_SenseLump *lumps;
    const mf_SenseTerm *terms;
    const mf_SenseForce *forces;
    const mf_SenseSpring *springs;
    const mf_SenseTendon *tendons;
    const mf_SenseShape *shapes;
    const mf_SenseContact *contacts;
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

static inline Quat raw_quat(const mf_real *rows) {
    return MF_VALUE(Quat, row_load(rows, 0), row_load(rows, 1), row_load(rows, 2),
                    row_load(rows, 3));
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

static inline size_t sense_rows(const mf_SenseImage *image) {
    const mf_Tree *tree = mf_sense_tree(image);
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
    const mf_SenseBatch *b = s->batch;
    const mf_SenseImage *image = s->image;
    s->state = MF_VALUE(
        mf_TreeState, .position = block_of(s, b->position, 3),
        .orientation = block_of(s, b->orientation, 4),
        .linear = image->fixed ? NULL : block_of(s, b->linear, 3),
        .angular = image->fixed ? NULL : block_of(s, b->angular, 3),
        .angle = block_of(s, b->angle, image->joint_count),
        .rate = block_of(s, b->rate, image->joint_count),
        .ball = block_of(s, b->ball, 4 * (size_t)image->ball_count),
        .ball_rate = block_of(s, b->ball_rate, 3 * (size_t)image->ball_count),
        .free = block_of(s, b->free, 3 * (size_t)image->free_count),
        .free_rate = block_of(s, b->free_rate, 3 * (size_t)image->free_count),
        .wide = sizeof(mf_real) == sizeof(double),
        .numbers = b->numbers == NULL ? NULL : b->numbers + s->block * b->number_count * MF_BLOCK);
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
    const mf_SenseBatch *b = s->batch;
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
    if (!s->image->moves)
        return;
    s->tree_motion.first_lane = s->lane;
    s->tree_motion.lane_count = MF_LANES;
    MF_KERNEL(mf_tree_motion)(s->tree, &s->state, &s->tree_motion);
    load_motion(s, 0);
    for (uint32_t i = 0; i < s->image->link_count; i++)
        load_motion(s, s->links[i]);
}

// A frame that moves with a link.
static Motion frame_motion(const Sense *s, const mf_SenseFrame *frame) {
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

// ---- tendons and actuators ---------------------------------------------------------------------

static mf_lane sum_terms(const Sense *s, const void *data, uint32_t components, uint32_t first,
                         uint32_t count) {
    mf_lane sum = mf_zero();
    if (data == NULL)
        return sum;
    for (uint32_t i = first; i < first + count; i++) {
        const mf_SenseTerm *term = &s->terms[i];
        mf_lane value = row_load(rows_of(s, data, components), term->row);
        sum = mf_fma(mf_set((mf_real)term->weight), value, sum);
    }
    return sum;
}

static mf_lane joint_sum(const Sense *s, const void *data, const mf_SenseItem *own) {
    return sum_terms(s, data, s->image->joint_count, own->first, own->items);
}

// Forces of all actuators on a hinge or slide.
static mf_lane joint_force(const Sense *s, const mf_SenseItem *own) {
    const mf_SenseBatch *b = s->batch;
    mf_lane sum = sum_terms(s, b->force, s->image->actuator_count, own->first, own->items);
    const Motion *child = &s->motion[own->body];
    Vec axis = mat_apply(&child->rotation, set_vec(own->axis));
    for (uint32_t i = own->first_force; b->force != NULL && i < own->first_force + own->force_count;
         i++) {
        const mf_SenseForce *actuator_force = &s->forces[i];
        Motion site = frame_motion(s, &actuator_force->frame),
               axes = frame_motion(s, &actuator_force->axes);
        mf_lane size =
            row_load(rows_of(s, b->force, s->image->actuator_count), actuator_force->row);
        Vec force = mat_apply(&axes.rotation, set_vec(actuator_force->wrench));
        Vec torque = mat_apply(&axes.rotation, set_vec(actuator_force->wrench + 3));
        torque = vec_cross_add(vec_sub(site.position, child->position), force, torque);
        mf_lane part = vec_dot(axis, own->joint_type == MF_JOINT_SLIDE ? force : torque);
        sum = mf_fma(part, size, sum);
    }
    return mf_clamp(sum, mf_set((mf_real)own->force_lower), mf_set((mf_real)own->force_upper));
}

static mf_lane site_rate(const Sense *s, const mf_SenseItem *own) {
    Motion site = frame_motion(s, &own->frame);
    return vec_dot(set_vec(own->gear), mat_apply_transposed(&site.rotation, site.speed)) +
           vec_dot(set_vec(own->gear + 3), mat_apply_transposed(&site.rotation, site.rate));
}

// the rotation vector of at most half a revolution.
static Vec rotate_vector(Quat q) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    mf_lane sign = mf_select(mf_less(q.w, zero), -one, one);
    Vec half = vec_scale(MF_VALUE(Vec, q.x, q.y, q.z), sign);
    mf_lane sine = mf_sqrt(vec_dot(half, half)), tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    return vec_scale(half, two * mf_atan2_lane(sine, q.w * sign) / mf_max(sine, tiny));
}

// Length, or its rate, of an actuator on a ball joint.
static mf_lane rotation_length(const Sense *s, const mf_SenseItem *own, bool speed) {
    Quat rotation = ball_rotation(s, own->ball);
    Vec gear = set_vec(own->gear);
    if (own->in_parent) {
        Mat parent = quat_matrix(rotation);
        gear = mat_apply_transposed(&parent, gear);
    }
    return vec_dot(gear, speed ? triple(s, s->batch->ball_rate, s->image->ball_count, 3 * own->ball)
                               : rotate_vector(rotation));
}

// The same of one between two sites, as seen from the link that carries both.
static mf_lane between_length(const Sense *s, const mf_SenseItem *own, bool speed) {
    Motion site = frame_motion(s, &own->frame), from = frame_motion(s, &own->reference);
    Vec gear = set_vec(own->gear), torque = set_vec(own->gear + 3);
    Vec offset = vec_sub(site.position, from.position);
    if (speed) {
        Vec seen = vec_sub(site.speed, from.speed);
        seen = vec_sub(seen, vec_cross(s->motion[own->shared].rate, offset));
        return vec_dot_add(
            gear, mat_apply_transposed(&from.rotation, seen),
            vec_dot(torque, mat_apply_transposed(&from.rotation, vec_sub(site.rate, from.rate))));
    }
    Quat back = {from.attitude.w, -from.attitude.x, -from.attitude.y, -from.attitude.z};
    return vec_dot_add(gear, mat_apply_transposed(&from.rotation, offset),
                       vec_dot(torque, rotate_vector(quat_multiply(back, site.attitude))));
}

static mf_lane actuator_value(const Sense *s, const mf_SenseItem *own, bool speed) {
    switch (own->drive) {
    case MF_SENSE_ROTATION:
        return rotation_length(s, own, speed);
    case MF_SENSE_SITE:
        return speed ? site_rate(s, own) : mf_zero();
    case MF_SENSE_BETWEEN:
        return between_length(s, own, speed);
    case MF_SENSE_SUM:
        break;
    }
    return joint_sum(s, speed ? s->batch->rate : s->batch->angle, own);
}

// ---- sums over masses --------------------------------------------------------------------------

typedef struct Mass {
    Vec center;           // [m] world
    Vec speed;            // [m/s]
    Vec angular_momentum; // [kg m^2/s] about the center
    Vec rate;             // [rad/s]
} Mass;

static Mass lump_mass(const Sense *s, const mf_SenseLump *lump) {
    const Motion *body = &s->motion[lump->body];
    const double *i = lump->inertia;
    const Sym inertia = {mf_set((mf_real)i[0]), mf_set((mf_real)i[1]), mf_set((mf_real)i[2]),
                         mf_set((mf_real)i[3]), mf_set((mf_real)i[4]), mf_set((mf_real)i[5])};
    Vec arm = mat_apply(&body->rotation, set_vec(lump->center));
    Vec local = mat_apply_transposed(&body->rotation, body->rate);
    return MF_VALUE(Mass, .center = vec_add(body->position, arm),
                    .speed = vec_cross_add(body->rate, arm, body->speed),
                    .angular_momentum = mat_apply(&body->rotation, sym_apply(&inertia, local)),
                    .rate = body->rate);
}

typedef struct Total {
    mf_lane mass;
    Vec center, speed; // of all together
} Total;

static Total subtree(const Sense *s, const mf_SenseItem *own) {
    Vec center = no_vec(), speed = no_vec();
    double mass = 0.0;
    for (uint32_t i = own->first; i < own->first + own->items; i++) {
        const mf_SenseLump *lump = &s->lumps[i];
        Mass one = lump_mass(s, lump);
        mf_lane weight = mf_set((mf_real)lump->mass);
        center = vec_fma(one.center, weight, center);
        speed = vec_fma(one.speed, weight, speed);
        mass += lump->mass;
    }
    mf_lane part = mf_set((mf_real)(mass > 0.0 ? 1.0 / mass : 0.0));
    return MF_VALUE(Total, mf_set((mf_real)mass), vec_scale(center, part), vec_scale(speed, part));
}

static Vec subtree_momentum(const Sense *s, const mf_SenseItem *own) {
    Total all = subtree(s, own);
    Vec sum = no_vec();
    for (uint32_t i = own->first; i < own->first + own->items; i++) {
        const mf_SenseLump *lump = &s->lumps[i];
        Mass one = lump_mass(s, lump);
        Vec force = vec_scale(vec_sub(one.speed, all.speed), mf_set((mf_real)lump->mass));
        sum = vec_add(sum,
                      vec_cross_add(vec_sub(one.center, all.center), force, one.angular_momentum));
    }
    return sum;
}

// Force and torque (about the site) that the parent gives to the subtree: Newton and Euler, summed,
// less what comes from outside.
static void subtree_wrench(const Sense *s, const mf_SenseItem *own, Vec at, Vec *force,
                           Vec *torque) {
    *force = *torque = no_vec();
    for (uint32_t i = own->first; i < own->first + own->items; i++) {
        const mf_SenseLump *lump = &s->lumps[i];
        const Motion *body = &s->motion[lump->body];
        const double *n = lump->inertia;
        const Sym inertia = {mf_set((mf_real)n[0]), mf_set((mf_real)n[1]), mf_set((mf_real)n[2]),
                             mf_set((mf_real)n[3]), mf_set((mf_real)n[4]), mf_set((mf_real)n[5])};
        Mass one = lump_mass(s, lump);
        Vec arm = vec_sub(one.center, body->position);
        Vec acceleration =
            vec_cross_add(body->rate, vec_cross(body->rate, arm),
                          vec_cross_add(body->angular_acceleration, arm, body->acceleration));
        Vec pull = vec_scale(weighed(s, acceleration), mf_set((mf_real)lump->mass));
        Vec local = mat_apply_transposed(&body->rotation, body->angular_acceleration);
        Vec moment = mat_apply_add(&body->rotation, sym_apply(&inertia, local),
                                   vec_cross(body->rate, one.angular_momentum));
        *force = vec_add(*force, pull);
        *torque = vec_add(*torque, vec_cross_add(vec_sub(one.center, at), pull, moment));
    }
    const mf_SenseBatch *b = s->batch;
    if (!own->has_external || b->external == NULL)
        return;
    const mf_real *rows = rows_of(s, b->external, 6 * s->image->external_count);
    Vec external = vec_load(rows, 6 * own->external);
    Vec arm = vec_sub(s->motion[own->body].position, at);
    *force = vec_sub(*force, external);
    *torque = vec_sub(*torque, vec_cross_add(arm, external, vec_load(rows, 6 * own->external + 3)));
}

static mf_lane spring_energy(const Sense *s) {
    const mf_SenseBatch *b = s->batch;
    const mf_lane half = mf_set((mf_real)0.5), zero = mf_zero();
    mf_lane sum = zero;
    for (uint32_t i = 0; i < s->image->spring_count; i++) {
        const mf_SenseSpring *spring = &s->springs[i];
        mf_lane stretch;
        if (spring->type == MF_JOINT_HINGE || spring->type == MF_JOINT_SLIDE) {
            stretch = joint_angle(s, spring->row) - mf_set((mf_real)spring->relaxed);
            stretch = stretch * stretch;
        } else {
            // The angle between the rotations; of a floating joint also the distance.
            Quat rotation = ball_rotation(s, spring->ball), rest = set_quat(spring->rotation);
            rest = MF_VALUE(Quat, rest.w, -rest.x, -rest.y, -rest.z);
            Quat q = quat_multiply(rest, rotation);
            mf_lane length = mf_sqrt(mf_fma(q.x, q.x, mf_fma(q.y, q.y, q.z * q.z)));
            mf_lane angle = mf_set((mf_real)2) * mf_atan2_lane(length, mf_abs(q.w));
            stretch = angle * angle;
            if (spring->type == MF_JOINT_FLOATING) {
                Vec offset = vec_sub(triple(s, b->free, s->image->free_count, 3 * spring->free),
                                     set_vec(spring->rest));
                stretch = stretch + vec_dot(offset, offset);
            }
        }
        sum = mf_fma(mf_set((mf_real)spring->stiffness) * half, stretch, sum);
    }
    for (uint32_t i = 0; i < s->image->tendon_count; i++) {
        const mf_SenseTendon *tendon = &s->tendons[i];
        mf_lane length =
            sum_terms(s, b->angle, s->image->joint_count, tendon->first, tendon->count);
        mf_lane over = mf_max(length - mf_set((mf_real)tendon->longer), zero);
        over = over + mf_max(mf_set((mf_real)tendon->shorter) - length, zero);
        sum = mf_fma(mf_set((mf_real)tendon->stiffness) * half, over * over, sum);
    }
    return sum;
}

static mf_lane potential_energy(const Sense *s) {
    Vec sum = no_vec();
    for (uint32_t i = s->image->first_lump; i < s->image->first_lump + s->image->lump_count; i++) {
        Mass one = lump_mass(s, &s->lumps[i]);
        sum = vec_fma(one.center, mf_set((mf_real)s->lumps[i].mass), sum);
    }
    return spring_energy(s) - vec_dot(sum, s->gravity);
}

// The velocity vector's values are read from the fields that hold them.
static mf_lane rotor_energy(const Sense *s) {
    const mf_SenseBatch *b = s->batch;
    mf_lane sum = mf_zero();
    if (!s->image->fixed) {
        Vec speed = s->motion[1].speed, rate = vec_load(rows_of(s, b->angular, 3), 0);
        sum = mf_fma(mf_set((mf_real)s->armature[0]), vec_dot(speed, speed),
                     mf_set((mf_real)s->armature[3]) * vec_dot(rate, rate));
    }
    for (uint32_t i = 0; i < s->image->tendon_count; i++) {
        const mf_SenseTendon *tendon = &s->tendons[i];
        mf_lane rate = sum_terms(s, b->rate, s->image->joint_count, tendon->first, tendon->count);
        sum = mf_fma(mf_set((mf_real)tendon->armature), rate * rate, sum);
    }
    for (uint32_t i = 0; i < s->image->link_count; i++) {
        const mf_TreeLink *link = &s->tree_links[s->links[i]];
        mf_lane weight = mf_set((mf_real)s->armature[link->velocity]);
        if (link->type == MF_JOINT_HINGE || link->type == MF_JOINT_SLIDE) {
            mf_lane rate = joint_rate(s, link->rotation_rate_row);
            sum = mf_fma(weight, rate * rate, sum);
        } else if (link->type == MF_JOINT_BALL || link->type == MF_JOINT_FLOATING) {
            Vec rate = triple(s, b->ball_rate, s->image->ball_count, link->rotation_rate_row);
            sum = mf_fma(weight, vec_dot(rate, rate), sum);
        }
        if (link->type == MF_JOINT_FLOATING) {
            Vec speed = triple(s, b->free_rate, s->image->free_count, link->slide_rate_row);
            sum = mf_fma(weight, vec_dot(speed, speed), sum);
        }
    }
    return sum;
}

static mf_lane kinetic_energy(const Sense *s) {
    mf_lane sum = rotor_energy(s);
    for (uint32_t i = s->image->first_lump; i < s->image->first_lump + s->image->lump_count; i++) {
        Mass one = lump_mass(s, &s->lumps[i]);
        sum = mf_fma(mf_set((mf_real)s->lumps[i].mass), vec_dot(one.speed, one.speed), sum);
        sum = sum + vec_dot(one.rate, one.angular_momentum);
    }
    return sum * mf_set((mf_real)0.5);
}
