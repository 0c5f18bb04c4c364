// Where the parts of robots are and how they move (compounds.h): links by the tree's kernel, then
// solids, then the volumes of the tree from its leaves up; and how far they can have moved.
//
// Invariant: a lane never reads another lane.
#include "contact/compounds.h"
#include "contact/mat_lane.h"

#if defined(MF_KERNEL_F64)
#define VALUES(compound) ((compound)->values_f64)
typedef float Other;
#else
#define VALUES(compound) ((compound)->values_f32)
typedef double Other;
#endif

#define TINY mf_set((mf_real)1e-30)  // [m^2] squares of lengths that are none
#define NOISE (16 * MF_REAL_EPSILON) // [1] relative, of lengths from a few operations

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
        rotation = mat_times(&rotation, &own);
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

// ---- volumes: NAME_fit per row of MF_BOUNDS_LIST, of a node whose children have theirs
// ------------

static MF_INLINE void sphere_fit(const Refit *refit, uint32_t node) {
    (void)refit;
    (void)node;
}

static MF_INLINE void none_fit(const Refit *refit, uint32_t node) {
    (void)refit;
    (void)node;
}

// Ends of a span along three axes.
typedef struct Span {
    Vec low, high;
} Span;

static MF_INLINE Vec vec_least(Vec a, Vec b) {
    return MF_VALUE(Vec, mf_min(a.x, b.x), mf_min(a.y, b.y), mf_min(a.z, b.z));
}

static MF_INLINE Vec vec_most(Vec a, Vec b) {
    return MF_VALUE(Vec, mf_max(a.x, b.x), mf_max(a.y, b.y), mf_max(a.z, b.z));
}

static MF_INLINE Span span_of(Vec center, Vec half) {
    return MF_VALUE(Span, vec_sub(center, half), vec_add(center, half));
}

static MF_INLINE Span span_around(const Span *a, const Span *b) {
    return MF_VALUE(Span, vec_least(a->low, b->low), vec_most(a->high, b->high));
}

static MF_INLINE Span span_of_box(const Refit *refit, uint32_t node) {
    const size_t row = mf_compound_box_row(refit->compound, node);
    return span_of(part_vec(refit, row), part_vec(refit, row + 3));
}

// Larger by what the roundings of its position can be. `axes` NULL: the world's.
static MF_INLINE void put_box(const Refit *refit, uint32_t node, const Mat *axes,
                              const Span *span) {
    const size_t row = mf_compound_box_row(refit->compound, node);
    const mf_lane middle = mf_set((mf_real)0.5);
    Vec center = vec_scale(vec_add(span->low, span->high), middle);
    Vec half = vec_scale(vec_sub(span->high, span->low), middle);
    mf_lane noise = mf_abs(center.x) + mf_abs(center.y) + mf_abs(center.z) + half.x + half.y;
    noise = (noise + half.z) * mf_set(NOISE);
    part_put(refit, row, axes != NULL ? mat_apply(axes, center) : center);
    part_put(refit, row + 3, vec_add(half, MF_VALUE(Vec, noise, noise, noise)));
}

// Half the edges along other axes, which `rotation` turns it to.
static MF_INLINE Vec half_along(const Mat *rotation, Vec half) {
    const Mat wide = {mf_abs(rotation->xx), mf_abs(rotation->xy), mf_abs(rotation->xz),
                      mf_abs(rotation->yx), mf_abs(rotation->yy), mf_abs(rotation->yz),
                      mf_abs(rotation->zx), mf_abs(rotation->zy), mf_abs(rotation->zz)};
    return mat_apply(&wide, half);
}

static MF_INLINE Vec solid_half(const Refit *refit, uint32_t solid) {
    const double *box = refit->compound->solids[solid].box;
    return MF_VALUE(Vec, mf_set((mf_real)box[0]), mf_set((mf_real)box[1]), mf_set((mf_real)box[2]));
}

// The span of a node along `axes`: of its box and its sphere, which both hold it.
static MF_INLINE Span span_along(const Refit *refit, uint32_t node, const Mat *axes, Vec center,
                                 const Mat *own, Vec half) {
    const Mat rotation = mat_transposed_times(axes, own);
    const size_t sphere = mf_compound_node_row(refit->compound, node);
    const mf_lane radius = mf_load(part_row(refit, sphere + 3));
    const Span box = span_of(mat_apply_transposed(axes, center), half_along(&rotation, half));
    const Span ball = span_of(mat_apply_transposed(axes, part_vec(refit, sphere)),
                              MF_VALUE(Vec, radius, radius, radius));
    return MF_VALUE(Span, vec_most(box.low, ball.low), vec_least(box.high, ball.high));
}

static MF_INLINE const uint32_t *children_of(const Refit *refit, uint32_t node) {
    return refit->compound->nodes[node - refit->compound->solid_count].children;
}

static inline void box_fit(const Refit *refit, uint32_t node) {
    const mf_Compound *compound = refit->compound;
    Span span;
    if (node < compound->solid_count) {
        const Mat rotation = part_mat(refit, mf_compound_rotation_row(compound, node));
        const mf_lane radius = mf_load(part_row(refit, mf_compound_node_row(compound, node) + 3));
        const Vec half = half_along(&rotation, solid_half(refit, node));
        span = span_of(part_vec(refit, mf_compound_node_row(compound, node)),
                       vec_least(half, MF_VALUE(Vec, radius, radius, radius)));
    } else {
        const uint32_t *children = children_of(refit, node);
        const Span a = span_of_box(refit, children[0]), b = span_of_box(refit, children[1]);
        span = span_around(&a, &b);
    }
    put_box(refit, node, NULL, &span);
}

static inline Span child_span(const Refit *refit, uint32_t child, const Mat *axes) {
    const size_t row = mf_compound_box_row(refit->compound, child);
    const Mat own = part_mat(refit, mf_compound_axes_row(refit->compound, child));
    return span_along(refit, child, axes, part_vec(refit, row), &own, part_vec(refit, row + 3));
}

static inline void oriented_fit(const Refit *refit, uint32_t node) {
    const mf_Compound *compound = refit->compound;
    const Mat axes = part_mat(refit, mf_compound_axes_row(compound, node));
    Span span;
    if (node < compound->solid_count) {
        const Vec center = part_vec(refit, mf_compound_node_row(compound, node));
        span = span_of(mat_apply_transposed(&axes, center), solid_half(refit, node));
    } else {
        const uint32_t *children = children_of(refit, node);
        const Span a = child_span(refit, children[0], &axes),
                   b = child_span(refit, children[1], &axes);
        span = span_around(&a, &b);
    }
    put_box(refit, node, &axes, &span);
}

static void fit_all(const Refit *refit) {
    const uint32_t count = refit->compound->node_count;
#define FIT(NAME, name, boxes)                                                                     \
    case MF_BOUNDS_##NAME:                                                                         \
        for (uint32_t n = 0; n < count && (boxes); n++)                                            \
            name##_fit(refit, n);                                                                  \
        break;
    switch (refit->compound->bounds) { MF_BOUNDS_LIST(FIT) }
#undef FIT
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
        fit_all(&refit);
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
