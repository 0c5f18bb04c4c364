// Where the parts of robots are and how they move (compounds.h): links by the tree's kernel, then
// solids, then the spheres of the tree from its leaves up; and how far they can have moved.
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
    const mf_TreeState *state;
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

static void put_links(const Refit *refit) {
    const mf_Compound *compound = refit->compound;
    mf_real *parts = refit->parts;
    const mf_TreeMotion motion = {.position = parts + MF_PART_POSITION * MF_BLOCK,
                                  .rotation = parts + MF_PART_ROTATION * MF_BLOCK,
                                  .matrix = parts + MF_PART_MATRIX * MF_BLOCK,
                                  .velocity = parts + MF_PART_VELOCITY * MF_BLOCK,
                                  .position_rows = MF_PART_LINK_ROWS,
                                  .rotation_rows = MF_PART_LINK_ROWS,
                                  .matrix_rows = MF_PART_LINK_ROWS,
                                  .velocity_rows = MF_PART_LINK_ROWS,
                                  .links = compound->needed,
                                  .link_count = compound->needed_count,
                                  .first_lane = (uint32_t)refit->first,
                                  .lane_count = MF_LANES};
    MF_KERNEL(mf_tree_motion)(compound->tree, refit->state, &motion);
}

// Larger by what the roundings of its position can be, so that no touch is ever missed.
static MF_INLINE void put_sphere(const Refit *refit, size_t row, Vec center, mf_lane radius) {
    mf_lane size = mf_abs(center.x) + mf_abs(center.y) + mf_abs(center.z);
    part_put(refit, row, center);
    mf_store(part_row(refit, row + 3), mf_fma(size + radius, mf_set(NOISE), radius));
}

static inline void put_solid(const Refit *refit, uint32_t s) {
    const mf_Compound *compound = refit->compound;
    const mf_CompoundSolid *solid = &compound->solids[s];
    const mf_real *c = VALUES(compound) + (size_t)s * MF_COLLIDE_SHAPE_VALUES;
    const size_t from = mf_compound_link_row(solid->link);
    const size_t to = mf_compound_solid_row(compound, s);
    Mat rotation = part_mat(refit, from + MF_PART_MATRIX);
    Vec position = mat_apply_add(&rotation, constants(c + MF_COLLIDE_POSITION),
                                 part_vec(refit, from + MF_PART_POSITION));
    if (solid->rotated) {
        const Mat own = constant_mat(c + MF_COLLIDE_ROTATION);
        rotation = mat_product(&rotation, &own);
        part_put_mat(refit, to, &rotation);
    }
    part_put(refit, to + 9, position);
    put_sphere(refit, mf_compound_node_row(compound, s), position, mf_set(c[MF_COLLIDE_RADIUS]));
}

// A sphere about two: centered in the middle of the line between the far sides.
static inline void put_node(const Refit *refit, uint32_t node) {
    const mf_Compound *compound = refit->compound;
    const uint32_t *children = compound->nodes[node - compound->solid_count].children;
    const size_t a = mf_compound_node_row(compound, children[0]),
                 b = mf_compound_node_row(compound, children[1]);
    const mf_lane middle = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    mf_lane radius_a = mf_load(part_row(refit, a + 3)), radius_b = mf_load(part_row(refit, b + 3));
    Vec from = part_vec(refit, a), offset = vec_sub(part_vec(refit, b), from);
    mf_lane length = mf_sqrt(mf_max(vec_dot(offset, offset), TINY));
    mf_lane radius = mf_max(mf_max(radius_a, radius_b), middle * (length + radius_a + radius_b));
    mf_lane t = mf_clamp((radius - radius_a) / length, mf_zero(), one);
    put_sphere(refit, mf_compound_node_row(compound, node), vec_fma(offset, t, from), radius);
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

void MF_KERNEL(mf_compound_refit)(const mf_Compound *compound, const mf_TreeState *state,
                                  uint32_t robots, void *parts) {
    Refit refit = {compound, state, state->wide == (sizeof(mf_real) == sizeof(double)),
                   (mf_real *)parts, 0};
    if (compound->root == MF_NONE)
        return;
    for (; refit.first < MF_BLOCK; refit.first += MF_LANES) {
        if ((robots >> refit.first & ((1u << MF_LANES) - 1)) == 0)
            continue;
        put_links(&refit);
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

// ---- displacements ------------------------------------------------------------------------------

// How far a value is from where it was; the parts are the memory.
static MF_INLINE mf_lane row_change(const Refit *refit, size_t row, const void *field, size_t c) {
    mf_lane now = field_row(refit, field, c);
    mf_lane change = mf_abs(now - mf_load(part_row(refit, row)));
    mf_store(part_row(refit, row), now);
    return change;
}

// Matrices of two unit quaternions differ by no more than twice what these differ by. Rounded up by
// far more than the kernel rounds.
void MF_KERNEL(mf_compound_drift)(const mf_Compound *compound, const mf_TreeState *state,
                                  void *memory, double drift[MF_BLOCK]) {
    Refit refit = {compound, state, state->wide == (sizeof(mf_real) == sizeof(double)),
                   (mf_real *)memory, 0};
    MF_ALIGNED(64) mf_real values[MF_LANES];
    for (; refit.first < MF_BLOCK; refit.first += MF_LANES) {
        mf_lane square = mf_zero();
        for (size_t c = 0; c < 4; c++) {
            const mf_lane change = row_change(&refit, c, state->orientation, c);
            square = mf_fma(change, change, square);
        }
        mf_lane distance = mf_sqrt(square) * mf_set((mf_real)(2.0 * compound->reach));
        for (uint32_t l = 1; l < compound->link_count; l++) {
            const mf_CompoundLink *link = &compound->links[l];
            if (!link->needed || !link->hinged)
                continue;
            mf_lane angle = row_change(&refit, 4 + (size_t)l, state->angle, link->joint);
            distance = mf_fma(angle, mf_set((mf_real)link->extent), distance);
        }
        mf_store(values, distance * mf_set((mf_real)1.01));
        for (size_t i = 0; i < MF_LANES; i++)
            drift[refit.first + i] = (double)values[i];
    }
}
