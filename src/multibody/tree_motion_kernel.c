// Poses, velocities and accelerations of the links of a tree by the usual recursion from the base
// outward (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 2.10), in world axes, with
// classical accelerations of the links' origins.
//
// Invariant: a lane never reads another.
#include "math/lane_vector.h"
#include "multibody/numbers.h"
#include "multibody/tree.h"

#if defined(MF_KERNEL_F64)
typedef float Other;
#else
typedef double Other;
#endif

typedef struct Walk { // the block at one bundle of lanes
    const mf_Tree *tree;
    const mf_TreeState *state;
    const mf_TreeMotion *motion;
    uint32_t lane;
    bool same; // rows of the state are in the kernel's precision
} Walk;

// Numbers of the model: those of the tree, or, with `own`, of each lane's robot.
static MF_INLINE mf_lane number(const Walk *w, const double *value, uint32_t row, bool own) {
    if (!own)
        return mf_set((mf_real)*value);
    const double *rows = w->state->numbers + (size_t)row * MF_BLOCK + w->lane;
    MF_ALIGNED(64) mf_real values[MF_LANES];
    for (int i = 0; i < MF_LANES; i++)
        values[i] = (mf_real)rows[i];
    return mf_load(values);
}

static MF_INLINE Vec number_vec(const Walk *w, const double v[3], uint32_t row, bool own) {
    return MF_VALUE(Vec, number(w, v, row, own), number(w, v + 1, row + 1, own),
                    number(w, v + 2, row + 2, own));
}

static MF_INLINE Quat number_quat(const Walk *w, const double q[4], uint32_t row, bool own) {
    return MF_VALUE(Quat, number(w, q, row, own), number(w, q + 1, row + 1, own),
                    number(w, q + 2, row + 2, own), number(w, q + 3, row + 3, own));
}

static MF_INLINE Vec no_vec(void) {
    return MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
}

static MF_INLINE Quat no_rotation(void) {
    return MF_VALUE(Quat, mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero());
}

// ---- reading and writing -----------------------------------------------------------------------

static MF_INLINE mf_lane value(const Walk *w, const void *rows, size_t c) {
    const size_t at = c * MF_BLOCK + w->lane;
    if (w->same)
        return mf_load((const mf_real *)rows + at);
    MF_ALIGNED(64) mf_real values[MF_LANES];
    for (int i = 0; i < MF_LANES; i++)
        values[i] = (mf_real)((const Other *)rows)[at + (size_t)i];
    return mf_load(values);
}

static MF_INLINE Vec triple(const Walk *w, const void *rows, size_t c) {
    if (rows == NULL)
        return no_vec();
    return MF_VALUE(Vec, value(w, rows, c), value(w, rows, c + 1), value(w, rows, c + 2));
}

static MF_INLINE Quat unit(const Walk *w, const void *rows, size_t c) {
    if (rows == NULL)
        return no_rotation();
    return quat_normalize(MF_VALUE(Quat, value(w, rows, c), value(w, rows, c + 1),
                                   value(w, rows, c + 2), value(w, rows, c + 3)));
}

static MF_INLINE mf_real *row_at(const Walk *w, void *rows, size_t c) {
    return (mf_real *)rows + c * MF_BLOCK + w->lane;
}

static MF_INLINE Quat rotation_of(const Walk *w, uint32_t link) {
    const mf_real *from = row_at(w, w->motion->rotation, (size_t)link * w->motion->rotation_rows);
    return MF_VALUE(Quat, row_load(from, 0), row_load(from, 1), row_load(from, 2),
                    row_load(from, 3));
}

static MF_INLINE Mat matrix_of(const Walk *w, uint32_t link) {
    if (w->motion->matrix == NULL)
        return quat_matrix(rotation_of(w, link));
    const mf_real *from = row_at(w, w->motion->matrix, (size_t)link * w->motion->matrix_rows);
    return MF_VALUE(Mat, row_load(from, 0), row_load(from, 1), row_load(from, 2), row_load(from, 3),
                    row_load(from, 4), row_load(from, 5), row_load(from, 6), row_load(from, 7),
                    row_load(from, 8));
}

static MF_INLINE Vec position_of(const Walk *w, uint32_t link) {
    return vec_load(row_at(w, w->motion->position, (size_t)link * w->motion->position_rows), 0);
}

static MF_INLINE Mat put_pose(const Walk *w, uint32_t link, Vec position, Quat rotation) {
    const Mat m = quat_matrix(rotation);
    mf_real *out = row_at(w, w->motion->rotation, (size_t)link * w->motion->rotation_rows);
    row_store(out, 0, rotation.w);
    vec_store(out, 1, MF_VALUE(Vec, rotation.x, rotation.y, rotation.z));
    vec_store(row_at(w, w->motion->position, (size_t)link * w->motion->position_rows), 0, position);
    if (w->motion->matrix == NULL)
        return m;
    out = row_at(w, w->motion->matrix, (size_t)link * w->motion->matrix_rows);
    vec_store(out, 0, MF_VALUE(Vec, m.xx, m.xy, m.xz));
    vec_store(out, 3, MF_VALUE(Vec, m.yx, m.yy, m.yz));
    vec_store(out, 6, MF_VALUE(Vec, m.zx, m.zy, m.zz));
    return m;
}

static MF_INLINE void put_velocity(const Walk *w, uint32_t link, Vec linear, Vec angular) {
    mf_real *out = row_at(w, w->motion->velocity, (size_t)link * w->motion->velocity_rows);
    vec_store(out, 0, linear);
    vec_store(out, 3, angular);
}

static MF_INLINE void put_acceleration(const Walk *w, uint32_t link, Vec linear, Vec angular) {
    mf_real *out = row_at(w, w->motion->acceleration, 6 * (size_t)link);
    vec_store(out, 0, linear);
    vec_store(out, 3, angular);
}

// Change of one value of the velocity vector, and of three.
static MF_INLINE mf_lane change(const Walk *w, size_t c) {
    if (w->motion->change == NULL)
        return mf_zero();
    return row_load((const mf_real *)w->motion->change + w->lane, c);
}

static MF_INLINE Vec change_vec(const Walk *w, size_t c) {
    return MF_VALUE(Vec, change(w, c), change(w, c + 1), change(w, c + 2));
}

// ---- links -------------------------------------------------------------------------------------

static void move_base(const Walk *w) {
    const mf_TreeState *state = w->state;
    const Mat axes = put_pose(w, 0, no_vec(), unit(w, state->orientation, 0));
    Vec velocity = no_vec(), rate = velocity, linear = velocity, angular = velocity;
    if (state->linear != NULL) {
        velocity = triple(w, state->linear, 0);
        rate = mat_apply(&axes, triple(w, state->angular, 0));
    }
    put_velocity(w, 0, velocity, rate);
    if (w->motion->acceleration == NULL)
        return;
    if (w->tree->free) {
        linear = change_vec(w, 0);
        angular = mat_apply(&axes, change_vec(w, 3));
    }
    put_acceleration(w, 0, linear, angular);
}

static MF_INLINE Quat rotation_about(Vec axis, mf_lane angle) {
    mf_lane sine, cosine;
    mf_sin_cos_lane(angle * mf_set((mf_real)0.5), &sine, &cosine);
    Vec part = vec_scale(axis, sine);
    return MF_VALUE(Quat, cosine, part.x, part.y, part.z);
}

// A link on its way from its parent's motion to its own; `rate_above` stays the parent's.
typedef struct Carried {
    Vec position, velocity, rate, acceleration, spin_change;
    Vec rate_above;
    Quat rotation;
    bool accelerated; // accelerations are requested
} Carried;

// The frame at rest on its parent, before the joint moves it.
static MF_INLINE Carried carry(const Walk *w, const mf_TreeLink *link, bool of_robot) {
    const Mat axes = matrix_of(w, link->parent);
    const uint32_t row = link->joint_numbers;
    const Vec arm =
        mat_apply(&axes, number_vec(w, link->position, row + MF_JOINT_POSITION, of_robot));
    const mf_real *above =
        row_at(w, w->motion->velocity, (size_t)link->parent * w->motion->velocity_rows);
    Carried own = {.rate = vec_load(above, 3),
                   .rotation = rotation_of(w, link->parent),
                   .accelerated = w->motion->acceleration != NULL};
    own.rate_above = own.rate;
    own.position = vec_add(position_of(w, link->parent), arm);
    own.velocity = vec_cross_add(own.rate, arm, vec_load(above, 0));
    if (own.accelerated) {
        above = row_at(w, w->motion->acceleration, 6 * (size_t)link->parent);
        own.spin_change = vec_load(above, 3);
        own.acceleration = vec_cross_add(own.spin_change, arm, vec_load(above, 0));
        own.acceleration = vec_cross_add(own.rate, vec_cross(own.rate, arm), own.acceleration);
    }
    if (link->rotated || of_robot)
        own.rotation = quat_multiply(
            own.rotation, number_quat(w, link->rotation, row + MF_JOINT_ROTATION, of_robot));
    return own;
}

// Joints with a translation: the way and its speed are along the frame at rest; what it carries
// swings about the point it left.
static MF_INLINE void slide(Carried *own, Vec direction, Vec speed, Vec rate_change) {
    const Mat axes = quat_matrix(own->rotation);
    const Vec moved = mat_apply(&axes, direction), sliding = mat_apply(&axes, speed);
    own->position = vec_add(own->position, moved);
    own->velocity = vec_cross_add(own->rate, moved, own->velocity);
    own->velocity = vec_add(own->velocity, sliding);
    if (!own->accelerated)
        return;
    const Vec swing =
        vec_cross(own->rate, vec_add(vec_cross(own->rate, moved), vec_add(sliding, sliding)));
    own->acceleration = vec_cross_add(own->spin_change, moved, vec_add(own->acceleration, swing));
    own->acceleration = mat_apply_add(&axes, rate_change, own->acceleration);
}

static MF_INLINE void move(const Walk *w, uint32_t l, bool of_robot) {
    const mf_TreeLink *link = &mf_tree_links(w->tree)[l];
    const mf_TreeState *state = w->state;
    const uint32_t row = link->joint_numbers;
    const Vec axis = number_vec(w, link->axis, row + MF_JOINT_AXIS, of_robot);
    const mf_lane reference = number(w, &link->reference, row + MF_JOINT_REFERENCE, of_robot);
    Vec rate = no_vec(), rate_change = rate; // of the joint, in the link
    Carried own = carry(w, link, of_robot);
    if (link->type == MF_JOINT_HINGE) {
        const mf_lane angle = value(w, state->angle, link->rotation_row) - reference;
        own.rotation = quat_multiply(own.rotation, rotation_about(axis, angle));
        rate = vec_scale(axis, value(w, state->rate, link->rotation_rate_row));
        if (own.accelerated)
            rate_change = vec_scale(axis, change(w, link->velocity));
    } else if (link->type == MF_JOINT_SLIDE) {
        const mf_lane distance = value(w, state->angle, link->slide_row) - reference;
        const Vec change_of_speed =
            own.accelerated ? vec_scale(axis, change(w, link->velocity)) : no_vec();
        slide(&own, vec_scale(axis, distance),
              vec_scale(axis, value(w, state->rate, link->slide_rate_row)), change_of_speed);
    } else if (link->type == MF_JOINT_FLOATING) {
        slide(&own, triple(w, state->free, link->slide_row),
              triple(w, state->free_rate, link->slide_rate_row), change_vec(w, link->velocity));
    }
    if (link->type == MF_JOINT_FLOATING || link->type == MF_JOINT_BALL) {
        own.rotation = quat_multiply(own.rotation, unit(w, state->ball, link->rotation_row));
        rate = triple(w, state->ball_rate, link->rotation_rate_row);
        rate_change = change_vec(w, link->velocity + link->dofs - 3);
    }
    own.rotation = quat_renormalize(own.rotation);
    const Mat axes = put_pose(w, l, own.position, own.rotation);
    put_velocity(w, l, own.velocity, mat_apply_add(&axes, rate, own.rate));
    if (!own.accelerated)
        return;
    own.spin_change = vec_cross_add(own.rate_above, mat_apply(&axes, rate), own.spin_change);
    put_acceleration(w, l, own.acceleration, mat_apply_add(&axes, rate_change, own.spin_change));
}

static void move_link(const Walk *w, uint32_t l) {
    move(w, l, false);
}

static void move_own_link(const Walk *w, uint32_t l) {
    move(w, l, true);
}

static void add_base(const Walk *w) {
    const mf_TreeMotion *motion = w->motion;
    const Vec base = triple(w, w->state->position, 0);
    const uint32_t count = motion->links == NULL ? w->tree->link_count : motion->link_count + 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t l = i == 0 || motion->links == NULL ? i : motion->links[i - 1];
        vec_store(row_at(w, motion->position, (size_t)l * motion->position_rows), 0,
                  vec_add(position_of(w, l), base));
    }
}

void MF_KERNEL(mf_tree_motion)(const mf_Tree *tree, const mf_TreeState *state,
                               const mf_TreeMotion *motion) {
    const uint32_t end = motion->first_lane + motion->lane_count;
    Walk walk = {.tree = tree,
                 .state = state,
                 .motion = motion,
                 .same = state->wide == (sizeof(mf_real) == sizeof(double))};
    for (walk.lane = motion->first_lane; walk.lane < end; walk.lane += MF_LANES) {
        move_base(&walk);
        const uint32_t count = motion->links == NULL ? tree->link_count - 1 : motion->link_count;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t l = motion->links == NULL ? i + 1 : motion->links[i];
            if (state->numbers == NULL)
                move_link(&walk, l);
            else
                move_own_link(&walk, l);
        }
        if (motion->in_world)
            add_base(&walk);
    }
}
