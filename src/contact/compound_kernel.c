// Contacts of compounds (compounds.h): descent of two trees, and the narrow phase of the pairs of
// solids that remain, one pair per lane.
//
// Invariants: a lane never reads another lane. The grouping of pairs does not affect results, and
// contacts are returned in the order of the descent.
#define MF_NARROW_EACH
#include "contact/bounds.h"
#include "contact/narrow_any.h"

#if defined(MF_KERNEL_F64)
#define VALUES(compound) ((compound)->values_f64)
#else
#define VALUES(compound) ((compound)->values_f32)
#endif

// ---- narrow phase -------------------------------------------------------------------------------

enum { KINDS = 8 }; // [1] of solids, rounded up to a power of two

typedef mf_CompoundLeaf Leaf;
typedef mf_CompoundTwo Two;

typedef struct Work {
    mf_CompoundSearch *search;
    uint32_t count, reported; // [1] leaves gathered; those of earlier gatherings
    Leaf *leaves;             // in the call's scratch
    Two *stack;               // likewise
} Work;

// The pairs of one call, lane by lane.
typedef struct Batch {
    uint32_t count; // [1]
    uint32_t leaf[MF_LANES];
    MF_ALIGNED(64) mf_real rows[2][16][MF_LANES]; // rotation, position, half sizes, radius
} Batch;

static const mf_CompoundSide *side_of(const Work *work, const Leaf *leaf, uint32_t which) {
    return &work->search->pairs[leaf->pair].sides[which];
}

static const mf_CompoundSolid *solid_of(const Work *work, const Leaf *leaf, uint32_t which) {
    return &side_of(work, leaf, which)->compound->solids[leaf->solids[which]];
}

// Solid `to` (0 or 1) of the narrow phase in a lane. All is relative to the first side's base.
static void fill_lane(const Work *work, const Leaf *leaf, uint32_t to, uint32_t lane,
                      Batch *batch) {
    const uint32_t which = leaf->swapped ? 1 - to : to, s = leaf->solids[which];
    const mf_CompoundSide *side = side_of(work, leaf, which);
    const mf_Compound *compound = side->compound;
    const mf_real *parts = (const mf_real *)side->parts + side->lane;
    const mf_real *rotation = parts + mf_compound_rotation_row(compound, s) * MF_BLOCK;
    const mf_real *position = parts + (mf_compound_solid_row(compound, s) + 9) * MF_BLOCK;
    const mf_real *values = VALUES(compound) + (size_t)s * MF_COLLIDE_SHAPE_VALUES;
    const double *direction = work->search->pairs[leaf->pair].direction;
    for (size_t i = 0; i < 9; i++)
        batch->rows[to][i][lane] = rotation[i * MF_BLOCK];
    for (size_t i = 0; i < 3; i++)
        batch->rows[to][9 + i][lane] =
            which == 1 ? position[i * MF_BLOCK] + (mf_real)direction[i] : position[i * MF_BLOCK];
    for (size_t i = 0; i < 4; i++)
        batch->rows[to][12 + i][lane] = values[MF_COLLIDE_HALF + i];
}

static void load_solid(const Work *work, const Leaf *leaf, uint32_t to, const Batch *batch,
                       Solid *solid) {
    const uint32_t which = leaf->swapped ? 1 - to : to;
    const mf_CompoundSolid *of = solid_of(work, leaf, which);
    const mf_real(*rows)[MF_LANES] = batch->rows[to];
    solid->kind = of->kind;
    solid->hull = of->kind == MF_COLLIDE_HULL
                      ? mf_hull_of(side_of(work, leaf, which)->compound->hulls, of->hull)
                      : NULL;
    solid->rotation = MF_VALUE(Mat, mf_load(rows[0]), mf_load(rows[1]), mf_load(rows[2]),
                               mf_load(rows[3]), mf_load(rows[4]), mf_load(rows[5]),
                               mf_load(rows[6]), mf_load(rows[7]), mf_load(rows[8]));
    solid->position = MF_VALUE(Vec, mf_load(rows[9]), mf_load(rows[10]), mf_load(rows[11]));
    for (int i = 0; i < 4; i++)
        solid->sizes[i] = mf_load(rows[12 + i]);
}

static void tell(const Work *work, const Batch *batch, uint32_t i, const ShapeContact *contact) {
    mf_CompoundSearch *search = work->search;
    MF_ALIGNED(64) mf_real values[8][MF_LANES];
    const mf_lane one = mf_set((mf_real)1);
    const mf_lane rows[8] = {
        contact->point.x,  contact->point.y,  contact->point.z, contact->normal.x,
        contact->normal.y, contact->normal.z, contact->depth,   mf_keep(contact->exists, one)};
    for (int k = 0; k < 8; k++)
        mf_store(values[k], rows[k]);
    for (uint32_t lane = 0; lane < batch->count; lane++) {
        const Leaf *leaf = &work->leaves[batch->leaf[lane]];
        if (!(values[7][lane] > 0))
            continue;
        if (search->touch_count == search->capacity) {
            search->lost++;
            continue;
        }
        mf_CompoundTouch *touch = &search->touches[search->touch_count++];
        touch->pair = leaf->pair;
        touch->order = (work->reported + batch->leaf[lane]) * MF_COLLIDE_CONTACTS + i;
        touch->solids[0] = leaf->solids[0];
        touch->solids[1] = leaf->solids[1];
        for (int k = 0; k < 3; k++) {
            touch->point[k] = (double)values[k][lane];
            touch->normal[k] =
                leaf->swapped ? -(double)values[3 + k][lane] : (double)values[3 + k][lane];
        }
        touch->depth = (double)values[6][lane];
    }
}

static void test_batch(const Work *work, const Batch *batch) {
    const Leaf *leaf = &work->leaves[batch->leaf[0]];
    Manifold manifold;
    PairTest test = {.bound = mf_zero(), .sound = mf_mask_all(), .out = &manifold};
    load_solid(work, leaf, 0, batch, &test.a);
    load_solid(work, leaf, 1, batch, &test.b);
    const bool plane = test.a.kind == MF_COLLIDE_PLANE;
    test.scale = plane ? radius_of(&test.b) : radius_of(&test.a) + radius_of(&test.b);
    test.small = mf_min(radius_of(&test.a), radius_of(&test.b));
    manifold.count = 0;
    manifold.unsure = mf_not(mf_mask_all());
    manifold.gap = mf_zero();
    test_any(&test);
    for (uint32_t i = 0; i < manifold.count; i++)
        tell(work, batch, i, &manifold.contact[i]);
}

// Pairs of hulls share a call only with pairs of the same ones.
static bool goes_with(const Work *work, const Leaf *a, const Leaf *b) {
    for (uint32_t to = 0; to < 2; to++) {
        const uint32_t which_a = a->swapped ? 1 - to : to, which_b = b->swapped ? 1 - to : to;
        if (solid_of(work, a, which_a)->kind == MF_COLLIDE_HULL &&
            solid_of(work, a, which_a) != solid_of(work, b, which_b))
            return false;
    }
    return true;
}

// One call for as many leaves of a list as have space in it; returns those that are left.
static uint32_t search_some(Work *work, uint32_t list) {
    Batch batch = {.count = 0};
    const Leaf *first = &work->leaves[list];
    uint32_t left = MF_NONE, *end = &left;
    while (list != MF_NONE) {
        Leaf *leaf = &work->leaves[list];
        uint32_t next = leaf->next;
        if (batch.count < MF_LANES && goes_with(work, first, leaf)) {
            fill_lane(work, leaf, 0, batch.count, &batch);
            fill_lane(work, leaf, 1, batch.count, &batch);
            batch.leaf[batch.count++] = list;
        } else {
            *end = list;
            end = &leaf->next;
        }
        list = next;
    }
    *end = MF_NONE;
    for (uint32_t lane = batch.count; lane < MF_LANES; lane++) {
        fill_lane(work, first, 0, lane, &batch);
        fill_lane(work, first, 1, lane, &batch);
    }
    test_batch(work, &batch);
    return left;
}

// Few touches are out of order by few places.
static void sort_touches(mf_CompoundTouch *touches, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        mf_CompoundTouch touch = touches[i];
        uint32_t k = i;
        for (; k > 0 && touches[k - 1].order > touch.order; k--)
            touches[k] = touches[k - 1];
        touches[k] = touch;
    }
}

static void search_all(Work *work) {
    uint32_t heads[KINDS * KINDS];
    const uint32_t before = work->search->touch_count;
    for (uint32_t i = 0; i < KINDS * KINDS; i++)
        heads[i] = MF_NONE;
    for (uint32_t i = work->count; i-- > 0;) {
        Leaf *leaf = &work->leaves[i];
        mf_CollideKind a = solid_of(work, leaf, 0)->kind, b = solid_of(work, leaf, 1)->kind;
        leaf->swapped = a > b;
        uint32_t key =
            leaf->swapped ? (uint32_t)b * KINDS + (uint32_t)a : (uint32_t)a * KINDS + (uint32_t)b;
        leaf->next = heads[key];
        heads[key] = i;
    }
    for (uint32_t i = 0; i < KINDS * KINDS; i++)
        while (heads[i] != MF_NONE)
            heads[i] = search_some(work, heads[i]);
    sort_touches(work->search->touches + before, work->search->touch_count - before);
    work->search->solid_tests += work->count;
    work->reported += work->count;
    work->count = 0;
}

// ---- descent ------------------------------------------------------------------------------------

// False: these two never touch.
static bool add_leaf(Work *work, uint32_t p, uint32_t a, uint32_t b) {
    const mf_CompoundPair *pair = &work->search->pairs[p];
    const mf_Compound *first = pair->sides[0].compound, *second = pair->sides[1].compound;
    const mf_CompoundSolid *x = &first->solids[a], *y = &second->solids[b];
    if (pair->inner ? !first->inner[(size_t)a * first->solid_count + b]
                    : !(x->contact_type & y->contact_with) && !(y->contact_type & x->contact_with))
        return false;
    if (work->count == MF_COMPOUND_LEAVES)
        search_all(work);
    work->leaves[work->count++] = MF_VALUE(Leaf, .pair = p, .solids = {a, b});
    return true;
}

static void open_within(const mf_Compound *compound, uint32_t node, Two *stack, uint32_t *depth) {
    if (node < compound->solid_count)
        return;
    const uint32_t *children = compound->nodes[node - compound->solid_count].children;
    stack[(*depth)++] = MF_VALUE(Two, children[0], children[1], false);
    stack[(*depth)++] = MF_VALUE(Two, children[1], children[1], false);
    stack[(*depth)++] = MF_VALUE(Two, children[0], children[0], false);
}

static bool is_fixed(const mf_CompoundPair *pair, uint32_t a, uint32_t b) {
    return pair->fixed && pair->sides[0].compound->node_links[a] == pair->links[0] &&
           pair->sides[1].compound->node_links[b] == pair->links[1];
}

// Tells how far the solids of both are apart at least; 0 where some of them may touch.
static mf_real descend(Work *work, uint32_t p) {
    const mf_CompoundPair *pair = &work->search->pairs[p];
    const mf_CompoundSide *sides = pair->sides;
    const mf_Compound *first = sides[0].compound, *second = sides[1].compound;
    const mf_real target = work->search->gaps != NULL ? (mf_real)work->search->target_gap : 0;
    const Trees trees = trees_of(pair);
    Two *stack = work->stack;
    uint32_t depth = 0;
    mf_real least = pair->fixed ? 0 : MF_REAL_MAX;
    stack[depth++] = MF_VALUE(Two, first->root, second->root, false);
    while (depth > 0) {
        Two two = stack[--depth];
        if (two.apart && !(least > 0)) // the gap is known to be none
            continue;
        if (is_fixed(pair, two.a, two.b))
            continue;
        if (pair->inner && two.a == two.b) {
            open_within(first, two.a, stack, &depth);
            continue;
        }
        const uint32_t nodes[2] = {two.a, two.b};
        const bool leaf_a = two.a < first->solid_count, leaf_b = two.b < second->solid_count;
        mf_real gap = 0;
        const bool overlap = bounds_overlap(&trees, nodes, &work->search->bound_tests, &gap);
        if (!overlap && (gap >= (least > 0 ? target : 0) || (leaf_a && leaf_b))) {
            least = !(gap > 0) ? 0 : gap < least ? gap : least;
            continue;
        }
        const bool apart = two.apart || !overlap;
        if (leaf_a && leaf_b) {
            if (apart || add_leaf(work, p, two.a, two.b))
                least = 0;
        } else if (leaf_b || (!leaf_a && sphere_in(&trees, 0, two.a)[3 * MF_BLOCK] >=
                                             sphere_in(&trees, 1, two.b)[3 * MF_BLOCK])) {
            const uint32_t *children = first->nodes[two.a - first->solid_count].children;
            stack[depth++] = MF_VALUE(Two, children[1], two.b, apart);
            stack[depth++] = MF_VALUE(Two, children[0], two.b, apart);
        } else {
            const uint32_t *children = second->nodes[two.b - second->solid_count].children;
            stack[depth++] = MF_VALUE(Two, two.a, children[1], apart);
            stack[depth++] = MF_VALUE(Two, two.a, children[0], apart);
        }
    }
    return least;
}

static bool is_sound(const mf_CompoundSide *side) {
    return size_of(side, side->compound->root) >= 0;
}

void MF_KERNEL(mf_compound_search)(mf_CompoundSearch *search) {
    Work work = {.search = search, .leaves = (Leaf *)search->scratch};
    work.stack = (Two *)(work.leaves + MF_COMPOUND_LEAVES);
    search->touch_count = 0;
    search->bound_tests = search->solid_tests = search->lost = 0;
    for (uint32_t p = 0; p < search->pair_count; p++) {
        const mf_CompoundSide *sides = search->pairs[p].sides;
        const bool sound = is_sound(&sides[0]) && is_sound(&sides[1]);
        const mf_real gap = sound ? descend(&work, p) : 0;
        if (search->gaps != NULL)
            search->gaps[p] = (double)gap;
    }
    if (work.count > 0)
        search_all(&work);
}

bool MF_KERNEL(mf_compound_within)(const mf_CompoundSide *side, const double position[3],
                                   double radius, uint64_t *tests) {
    const mf_Compound *compound = side->compound;
    uint32_t stack[MF_COMPOUND_SHAPES + 1], depth = 0;
    stack[depth++] = compound->root;
    while (depth > 0) {
        const uint32_t node = stack[--depth];
        if (!bounds_reached(side, node, position, radius, tests))
            continue;
        if (node < compound->solid_count)
            return true;
        stack[depth++] = compound->nodes[node - compound->solid_count].children[1];
        stack[depth++] = compound->nodes[node - compound->solid_count].children[0];
    }
    return false;
}
