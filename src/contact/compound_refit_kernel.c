// Where the parts of robots are and how they move (compounds.h): direct kinematics, then solids,
// then the spheres of the tree from its leaves up; and how far they can have moved.
//
// Invariant: a lane never reads another lane.
#include "contact/compounds.h"
#include "math/lane_vector.h"

#if defined(MF_KERNEL_F64)
#define VALUES(compound) ((compound)->values_f64)
typedef float Other;
#else
#define VALUES(compound) ((compound)->values_f32)
typedef double Other;
#endif

#define TINY mf_set((mf_real)1e-30)  // [m^2] squares of lengths that are none
#define NOISE (16 * MF_REAL_EPSILON) // [1] relative, of lengths from a few operations

static MF_INLINE Mat mat_product(const Mat *a, const Mat *b) {
    Vec x = mat_apply(a, MF_VALUE(Vec, b->xx, b->yx, b->zx)),
        y = mat_apply(a, MF_VALUE(Vec, b->xy, b->yy, b->zy)),
        z = mat_apply(a, MF_VALUE(Vec, b->xz, b->yz, b->zz));
    return MF_VALUE(Mat, x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z);
}

typedef struct Refit {
    const mf_Compound *compound;
    const mf_CompoundState *state;
    bool same; // fields are in the kernel's precision
    mf_real *parts;
    size_t first; // [1] lane
} Refit;

static MF_INLINE mf_lane field_row(const Refit *refit, const void *field, size_t c) {
    const size_t at = c * MF_BLOCK + refit->first;
    if (refit->same)
        return mf_load((const mf_real *)field + at);
    MF_ALIGNED(64) mf_real values[MF_LANES];
    for (int i = 0; i < MF_LANES; i++)
        values[i] = (mf_real)((const Other *)field)[at + (size_t)i];
    return mf_load(values);
}

static MF_INLINE Vec field_vec(const Refit *refit, const void *field, size_t c) {
    return MF_VALUE(Vec, field_row(refit, field, c), field_row(refit, field, c + 1),
                    field_row(refit, field, c + 2));
}

static MF_INLINE Quat field_quat(const Refit *refit, const void *field, size_t c) {
    return MF_VALUE(Quat, field_row(refit, field, c), field_row(refit, field, c + 1),
                    field_row(refit, field, c + 2), field_row(refit, field, c + 3));
}

static MF_INLINE mf_real *part_row(const Refit *refit, size_t row) {
    return refit->parts + row * MF_BLOCK + refit->first;
}

static MF_INLINE Vec part_vec(const Refit *refit, size_t row) {
    return vec_load(part_row(refit, row), 0);
}

static MF_INLINE void part_put(const Refit *refit, size_t row, Vec a) {
    vec_store(part_row(refit, row), 0, a);
}

static MF_INLINE Mat part_mat(const Refit *refit, size_t row) {
    Vec x = part_vec(refit, row), y = part_vec(refit, row + 3), z = part_vec(refit, row + 6);
    return MF_VALUE(Mat, x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z);
}

static MF_INLINE void part_put_mat(const Refit *refit, size_t row, const Mat *m) {
    part_put(refit, row, MF_VALUE(Vec, m->xx, m->xy, m->xz));
    part_put(refit, row + 3, MF_VALUE(Vec, m->yx, m->yy, m->yz));
    part_put(refit, row + 6, MF_VALUE(Vec, m->zx, m->zy, m->zz));
}

static MF_INLINE Vec constants(const mf_real *values) {
    return MF_VALUE(Vec, mf_set(values[0]), mf_set(values[1]), mf_set(values[2]));
}

static MF_INLINE Mat constant_mat(const mf_real *c) {
    return MF_VALUE(Mat, mf_set(c[0]), mf_set(c[1]), mf_set(c[2]), mf_set(c[3]), mf_set(c[4]),
                    mf_set(c[5]), mf_set(c[6]), mf_set(c[7]), mf_set(c[8]));
}

static MF_INLINE mf_lane hinge_value(const mf_real *c, uint32_t i, mf_lane sine, mf_lane rest) {
    return mf_fma(
        mf_set(c[MF_COMPOUND_TURN_COS + i]), rest,
        mf_fma(mf_set(c[MF_COMPOUND_TURN_SINE + i]), sine, mf_set(c[MF_COMPOUND_TURN + i])));
}

static MF_INLINE Mat hinge_turn(const mf_real *c, mf_lane angle) {
    mf_lane s, cosine;
    mf_sin_cos_lane(angle, &s, &cosine);
    mf_lane r = mf_set((mf_real)1) - cosine;
    return MF_VALUE(Mat, hinge_value(c, 0, s, r), hinge_value(c, 1, s, r), hinge_value(c, 2, s, r),
                    hinge_value(c, 3, s, r), hinge_value(c, 4, s, r), hinge_value(c, 5, s, r),
                    hinge_value(c, 6, s, r), hinge_value(c, 7, s, r), hinge_value(c, 8, s, r));
}

static void put_base(const Refit *refit) {
    const mf_CompoundState *state = refit->state;
    const Vec zero = {mf_zero(), mf_zero(), mf_zero()};
    Mat turn = quat_matrix(field_quat(refit, state->orientation, 0));
    part_put_mat(refit, MF_PART_TURN, &turn);
    part_put(refit, MF_PART_PLACE, zero);
    part_put(refit, MF_PART_VELOCITY, field_vec(refit, state->linear_velocity, 0));
    part_put(refit, MF_PART_RATE, mat_apply(&turn, field_vec(refit, state->angular_velocity, 0)));
}

// How a link stands and moves on its parent, in the parent's axes.
typedef struct Joint {
    Mat turn;
    Vec place, velocity; // [m], [m/s]
    Vec rate;            // [rad/s]
} Joint;

static inline Joint joint_of(const Refit *refit, const mf_CompoundLink *link, const mf_real *c) {
    const mf_CompoundState *state = refit->state;
    const Vec zero = {mf_zero(), mf_zero(), mf_zero()};
    Joint joint = {constant_mat(c + MF_COMPOUND_TURN), constants(c + MF_COMPOUND_PLACE), zero,
                   zero};
    const Vec axis = constants(c + MF_COMPOUND_AXIS);
    const bool ball = link->move == MF_COMPOUND_BALL || link->move == MF_COMPOUND_FREE;
    if (link->move == MF_COMPOUND_HINGE || link->move == MF_COMPOUND_SLIDE) {
        mf_lane way = field_row(refit, state->angle, link->joint);
        mf_lane rate = field_row(refit, state->rate, link->joint);
        way = way - mf_set(c[MF_COMPOUND_REFERENCE]);
        if (link->move == MF_COMPOUND_HINGE) {
            joint.turn = hinge_turn(c, way);
            joint.rate = vec_scale(axis, rate);
        } else {
            joint.place = vec_fma(axis, way, joint.place);
            joint.velocity = vec_scale(axis, rate);
        }
    }
    const Mat frame = joint.turn;
    if (ball && state->ball != NULL) {
        Mat own = quat_matrix(field_quat(refit, state->ball, 4 * (size_t)link->ball));
        joint.turn = mat_product(&frame, &own);
        joint.rate =
            mat_apply(&joint.turn, field_vec(refit, state->ball_rate, 3 * (size_t)link->ball));
    }
    if (link->move == MF_COMPOUND_FREE && state->free != NULL) {
        const size_t at = 3 * (size_t)link->free;
        joint.place = mat_apply_add(&frame, field_vec(refit, state->free, at), joint.place);
        joint.velocity = mat_apply(&frame, field_vec(refit, state->free_velocity, at));
    }
    return joint;
}

static inline void put_link(const Refit *refit, uint32_t l) {
    const mf_CompoundLink *link = &refit->compound->links[l];
    const mf_real *c = VALUES(refit->compound) + (size_t)l * MF_COMPOUND_LINK_VALUES;
    const size_t to = mf_compound_link_row(l), from = mf_compound_link_row(link->parent);
    Mat above = part_mat(refit, from + MF_PART_TURN);
    Vec rate = part_vec(refit, from + MF_PART_RATE);
    Joint joint = joint_of(refit, link, c);
    Mat turn = mat_product(&above, &joint.turn);
    Vec arm = mat_apply(&above, joint.place);
    Vec velocity = mat_apply_add(&above, joint.velocity, part_vec(refit, from + MF_PART_VELOCITY));
    part_put_mat(refit, to + MF_PART_TURN, &turn);
    part_put(refit, to + MF_PART_PLACE, vec_add(part_vec(refit, from + MF_PART_PLACE), arm));
    part_put(refit, to + MF_PART_VELOCITY, vec_cross_add(rate, arm, velocity));
    part_put(refit, to + MF_PART_RATE, mat_apply_add(&above, joint.rate, rate));
}

// Larger by what the roundings of its place can be, so that no touch is ever missed.
static MF_INLINE void put_sphere(const Refit *refit, size_t row, Vec center, mf_lane radius) {
    mf_lane size = mf_abs(center.x) + mf_abs(center.y) + mf_abs(center.z);
    part_put(refit, row, center);
    mf_store(part_row(refit, row + 3), mf_fma(size + radius, mf_set(NOISE), radius));
}

static inline void put_solid(const Refit *refit, uint32_t s) {
    const mf_Compound *compound = refit->compound;
    const mf_CompoundSolid *solid = &compound->solids[s];
    const mf_real *c =
        VALUES(compound) + mf_compound_solid_values(compound) + (size_t)s * MF_COLLIDE_SHAPE_VALUES;
    const size_t from = mf_compound_link_row(solid->link);
    const size_t to = mf_compound_solid_row(compound, s);
    Mat turn = part_mat(refit, from + MF_PART_TURN);
    Vec place = mat_apply_add(&turn, constants(c + MF_COLLIDE_PLACE),
                              part_vec(refit, from + MF_PART_PLACE));
    if (solid->turned) {
        const Mat own = constant_mat(c + MF_COLLIDE_TURN);
        turn = mat_product(&turn, &own);
        part_put_mat(refit, to, &turn);
    }
    part_put(refit, to + 9, place);
    put_sphere(refit, mf_compound_node_row(compound, s), place, mf_set(c[MF_COLLIDE_RADIUS]));
}

// A sphere about two: centred in the middle of the line between the far sides.
static inline void put_node(const Refit *refit, uint32_t node) {
    const mf_Compound *compound = refit->compound;
    const uint32_t *children = compound->nodes[node - compound->solid_count].children;
    const size_t a = mf_compound_node_row(compound, children[0]),
                 b = mf_compound_node_row(compound, children[1]);
    const mf_lane middle = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    mf_lane radius_a = mf_load(part_row(refit, a + 3)), radius_b = mf_load(part_row(refit, b + 3));
    Vec from = part_vec(refit, a), way = vec_sub(part_vec(refit, b), from);
    mf_lane length = mf_sqrt(mf_max(vec_dot(way, way), TINY));
    mf_lane radius = mf_max(mf_max(radius_a, radius_b), middle * (length + radius_a + radius_b));
    mf_lane t = mf_clamp((radius - radius_a) / length, mf_zero(), one);
    put_sphere(refit, mf_compound_node_row(compound, node), vec_fma(way, t, from), radius);
}

// A sum forgets neither NaN nor infinity.
static mf_lane state_sum(const Refit *refit) {
    mf_lane sum = mf_zero();
    for (uint32_t l = 0; l < refit->compound->link_count; l++) {
        if (!refit->compound->links[l].needed)
            continue;
        const size_t row = mf_compound_link_row(l);
        for (size_t i = 0; i < MF_PART_LINK_ROWS; i++)
            sum = sum + mf_abs(mf_load(part_row(refit, row + i)));
    }
    return sum;
}

void MF_KERNEL(mf_compound_refit)(const mf_Compound *compound, const mf_CompoundState *state,
                                  void *parts) {
    Refit refit = {compound, state, state->wide == (sizeof(mf_real) == sizeof(double)),
                   (mf_real *)parts, 0};
    if (compound->root == MF_NONE)
        return;
    for (; refit.first < MF_BLOCK; refit.first += MF_LANES) {
        put_base(&refit);
        for (uint32_t l = 1; l < compound->link_count; l++)
            if (compound->links[l].needed)
                put_link(&refit, l);
        for (uint32_t s = 0; s < compound->solid_count; s++)
            put_solid(&refit, s);
        for (uint32_t n = compound->solid_count; n < compound->node_count; n++)
            put_node(&refit, n);
        mf_lane sum = state_sum(&refit), nothing = mf_zero() / mf_zero();
        mf_real *root = part_row(&refit, mf_compound_node_row(compound, compound->root) +
                                             MF_PART_NODE_ROWS - 1);
        mf_store(root, mf_select(mf_finite(sum), mf_load(root), nothing));
    }
}

// ---- how far ------------------------------------------------------------------------------------

// How far a value is from where it was; the parts are the memory.
static MF_INLINE mf_lane row_change(const Refit *refit, size_t row, const void *field, size_t c) {
    mf_lane now = field_row(refit, field, c);
    mf_lane change = mf_abs(now - mf_load(part_row(refit, row)));
    mf_store(part_row(refit, row), now);
    return change;
}

// Matrices of two unit quaternions differ by no more than twice what these differ by; sums of sizes
// are no less than lengths. Rounded up by far more than the kernel rounds.
void MF_KERNEL(mf_compound_drift)(const mf_Compound *compound, const mf_CompoundState *state,
                                  void *memory, double drift[MF_BLOCK]) {
    Refit refit = {compound, state, state->wide == (sizeof(mf_real) == sizeof(double)),
                   (mf_real *)memory, 0};
    MF_ALIGNED(64) mf_real values[MF_LANES];
    for (; refit.first < MF_BLOCK; refit.first += MF_LANES) {
        mf_lane way = mf_zero(), turn = mf_zero();
        for (size_t c = 0; c < 3; c++)
            way = way + row_change(&refit, c, state->position, c);
        for (size_t c = 0; c < 4; c++)
            turn = turn + row_change(&refit, 3 + c, state->orientation, c);
        way = mf_fma(turn, mf_set((mf_real)(2.0 * compound->reach)), way);
        for (uint32_t l = 1; l < compound->link_count; l++) {
            const mf_CompoundLink *link = &compound->links[l];
            if (!link->needed || link->move != MF_COMPOUND_HINGE)
                continue;
            mf_lane angle = row_change(&refit, 7 + (size_t)l, state->angle, link->joint);
            way = mf_fma(angle, mf_set((mf_real)link->extent), way);
        }
        mf_store(values, way * mf_set((mf_real)1.01));
        for (size_t i = 0; i < MF_LANES; i++)
            drift[refit.first + i] = (double)values[i];
    }
}
