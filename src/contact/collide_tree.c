// The tree of bounding spheres over the shapes of a plan, and its queries.
//
// As in MuRoSimF (Friedmann, Petersen, von Stryk 2008, section 5): a binary tree with the structure
// of the robot, shapes only in its leaves, spheres of inner nodes recomputed after each motion.
// Since all lanes descend together, the order of descent does not depend on the state: the list of
// all tests of nodes is created once, each with the number of tests to skip if no lane is near. The
// node with more shapes is opened first.
#include "contact/collide_draft.h"

#include <string.h>

// Fewer pairs than this are tested one by one: a test of their group would not pay.
enum { GROUP_LEAST = 4 };

typedef struct Tree {
    mf_CollideDraft *draft;
    mf_CollideNode *nodes; // [1] all, the leaves too
    uint32_t node_count;   // [1]
    uint32_t *first, *end; // [1] per node: its shapes are those of these places in the order
    uint32_t *index;       // [1] per shape: in that order
    uint32_t *pairs;       // [1] pairs, sorted while the tests are made
    mf_CollideTest *tests; // NULL: they are counted only
    uint32_t test_count;   // [1]
} Tree;

static uint32_t join(Tree *tree, uint32_t a, uint32_t b) {
    uint32_t node = tree->node_count++;
    tree->nodes[node] = (mf_CollideNode){{a, b}};
    tree->first[node] = tree->first[a];
    tree->end[node] = tree->end[b];
    return node;
}

// One node over `count` >= 1 nodes that follow each other in the order.
static uint32_t join_all(Tree *tree, uint32_t *list, uint32_t count) {
    while (count > 1) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < count; i += 2)
            list[next++] = i + 1 < count ? join(tree, list[i], list[i + 1]) : list[i];
        count = next;
    }
    return list[0];
}

// ---- tests --------------------------------------------------------------------------------------

static bool is_leaf(const Tree *tree, uint32_t node) {
    return node < tree->draft->plan.shape_count;
}

static bool contains(const Tree *tree, uint32_t node, uint32_t shape) {
    return tree->index[shape] >= tree->first[node] && tree->index[shape] < tree->end[node];
}

// Brings the pairs between `u` and `v` (or within u = v) to the front; returns how many.
static uint32_t gather(const Tree *tree, uint32_t *pairs, uint32_t count, uint32_t u, uint32_t v) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mf_CollidePair *pair = &tree->draft->pairs[pairs[i]];
        bool straight = contains(tree, u, pair->a) && contains(tree, v, pair->b);
        bool crossed = contains(tree, v, pair->a) && contains(tree, u, pair->b);
        if (!straight && !crossed)
            continue;
        uint32_t keep = pairs[found];
        pairs[found++] = pairs[i];
        pairs[i] = keep;
    }
    return found;
}

static uint32_t add_test(Tree *tree, uint32_t u, uint32_t v, uint32_t pair, bool plane) {
    uint32_t test = tree->test_count++;
    if (tree->tests)
        tree->tests[test] = (mf_CollideTest){.nodes = {u, v}, .pair = pair, .plane = plane};
    return test;
}

static void add_pair_tests(Tree *tree, const uint32_t *pairs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const mf_CollidePair *pair = &tree->draft->pairs[pairs[i]];
        bool plane = tree->draft->shapes[pair->a].kind == MF_COLLIDE_PLANE;
        add_test(tree, pair->a, pair->b, pairs[i], plane);
    }
}

// Tests for the pairs between two nodes without common shapes. The nodes' depth bounds the
// recursion.
static void tests_between(Tree *tree, uint32_t u, uint32_t v, uint32_t *pairs, uint32_t count) {
    if (count < GROUP_LEAST) {
        add_pair_tests(tree, pairs, count);
        return;
    }
    uint32_t test = add_test(tree, u, v, MF_NONE, false);
    if (tree->end[u] - tree->first[u] < tree->end[v] - tree->first[v]) {
        uint32_t keep = u;
        u = v;
        v = keep;
    }
    const uint32_t *children = tree->nodes[u].children; // at least 4 pairs: u is no leaf
    uint32_t part = gather(tree, pairs, count, children[0], v);
    tests_between(tree, children[0], v, pairs, part);
    tests_between(tree, children[1], v, pairs + part, count - part);
    if (tree->tests)
        tree->tests[test].skip = tree->test_count - test - 1;
}

static void tests_within(Tree *tree, uint32_t node, uint32_t *pairs, uint32_t count) {
    if (count == 0 || is_leaf(tree, node))
        return;
    const uint32_t *children = tree->nodes[node].children;
    uint32_t part = gather(tree, pairs, count, children[0], children[0]);
    tests_within(tree, children[0], pairs, part);
    pairs += part;
    count -= part;
    part = gather(tree, pairs, count, children[1], children[1]);
    tests_within(tree, children[1], pairs, part);
    tests_between(tree, children[0], children[1], pairs + part, count - part);
}

// Pairs with planes, each by itself, then the rest.
static void make_tests(Tree *tree, uint32_t root) {
    const mf_CollideDraft *draft = tree->draft;
    uint32_t planes = 0;
    tree->test_count = 0;
    for (uint32_t i = 0; i < draft->plan.pair_count; i++) {
        bool plane = draft->shapes[draft->pairs[i].a].kind == MF_COLLIDE_PLANE;
        tree->pairs[plane ? planes : draft->plan.pair_count - 1 - (i - planes)] = i;
        planes += plane;
    }
    add_pair_tests(tree, tree->pairs, planes);
    if (root != MF_NONE)
        tests_within(tree, root, tree->pairs + planes, draft->plan.pair_count - planes);
}

// ---- the tree -----------------------------------------------------------------------------------

// The nodes over the shapes of each group and of all groups that it carries, as a list in order.
// A limb without branches stays a list as long as possible, so that it is halved, not peeled.
typedef struct Limbs {
    uint32_t *head; // [1] per group: first node of its list, MF_NONE: no shapes
    uint32_t *next; // [1] per node
    uint32_t *list; // [1] to work with
} Limbs;

static uint32_t join_limb(Tree *tree, Limbs *limbs, uint32_t head) {
    uint32_t count = 0;
    for (uint32_t node = head; node != MF_NONE; node = limbs->next[node])
        limbs->list[count++] = node;
    uint32_t node = join_all(tree, limbs->list, count);
    limbs->next[node] = MF_NONE;
    return node;
}

// Groups are examined from the last to the first. `own` are the group's shapes.
static void grow_limb(Tree *tree, const uint32_t *own, uint32_t own_count, const uint32_t *parents,
                      uint32_t group, uint32_t group_count, Limbs *limbs) {
    uint32_t *end = &limbs->head[group], branches = 0;
    *end = MF_NONE;
    if (own_count > 0) {
        memcpy(limbs->list, own, own_count * sizeof *own);
        *end = join_all(tree, limbs->list, own_count);
        end = &limbs->next[*end];
        *end = MF_NONE;
    }
    for (uint32_t i = group + 1; i < group_count; i++)
        branches += parents[i] == group && limbs->head[i] != MF_NONE;
    for (uint32_t i = group + 1; i < group_count; i++) {
        if (parents[i] != group || limbs->head[i] == MF_NONE)
            continue;
        *end = branches == 1 ? limbs->head[i] : join_limb(tree, limbs, limbs->head[i]);
        while (*end != MF_NONE)
            end = &limbs->next[*end];
    }
}

// Gives the shapes under `group` their places in the order: its own, then those that it carries.
static void place_shapes(Tree *tree, const uint32_t *groups, const uint32_t *parents,
                         uint32_t group_count, uint32_t *stack, uint32_t *own,
                         uint32_t *own_first) {
    const mf_CollideDraft *draft = tree->draft;
    uint32_t depth = 0, next = 0;
    for (uint32_t i = group_count; i-- > 0;) {
        if (parents[i] == MF_NONE)
            stack[depth++] = i;
    }
    while (depth > 0) {
        uint32_t group = stack[--depth];
        own_first[group] = next;
        for (uint32_t i = 0; i < draft->plan.shape_count; i++) {
            if (groups[i] != group || draft->shapes[i].kind == MF_COLLIDE_PLANE)
                continue;
            tree->first[i] = next;
            tree->end[i] = next + 1;
            own[next] = i;
            tree->index[i] = next++;
        }
        for (uint32_t i = group_count; i-- > group + 1;) {
            if (parents[i] == group)
                stack[depth++] = i;
        }
    }
}

// Keeps the inner nodes that a test needs, and what they are made of, under new numbers.
static void drop_unused(Tree *tree, uint32_t *number) {
    mf_CollideDraft *draft = tree->draft;
    memset(number, 0, tree->node_count * sizeof *number);
    for (uint32_t i = 0; i < tree->test_count; i++) {
        number[tree->tests[i].nodes[0]] = 1;
        number[tree->tests[i].nodes[1]] = 1;
    }
    for (uint32_t i = tree->node_count; i-- > draft->plan.shape_count;) {
        if (number[i])
            number[tree->nodes[i].children[0]] = number[tree->nodes[i].children[1]] = 1;
    }
    draft->plan.node_count = draft->plan.shape_count;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (i < draft->plan.shape_count) {
            number[i] = i;
        } else if (number[i]) {
            mf_CollideNode *node = &draft->nodes[draft->plan.node_count - draft->plan.shape_count];
            node->children[0] = number[tree->nodes[i].children[0]];
            node->children[1] = number[tree->nodes[i].children[1]];
            number[i] = draft->plan.node_count++;
        }
    }
    for (uint32_t i = 0; i < tree->test_count; i++) {
        for (int k = 0; k < 2; k++)
            tree->tests[i].nodes[k] = number[tree->tests[i].nodes[k]];
    }
}

static uint32_t build(Tree *tree, const uint32_t *groups, const uint32_t *parents,
                      uint32_t group_count, uint32_t *work) {
    const uint32_t shapes = tree->draft->plan.shape_count;
    uint32_t *own = work, *own_first = own + shapes, root_count = 0;
    Limbs limbs = {.head = own_first + group_count};
    limbs.next = limbs.head + group_count;
    limbs.list = limbs.next + 2 * (size_t)shapes + 1;
    uint32_t *roots = limbs.list + shapes + group_count;
    place_shapes(tree, groups, parents, group_count, limbs.list, own, own_first);
    tree->node_count = shapes;
    for (uint32_t group = group_count; group-- > 0;) {
        uint32_t first = own_first[group], count = 0;
        while (first + count < shapes && own[first + count] != MF_NONE &&
               groups[own[first + count]] == group)
            count++;
        grow_limb(tree, own + first, count, parents, group, group_count, &limbs);
    }
    for (uint32_t group = 0; group < group_count; group++) {
        if (parents[group] == MF_NONE && limbs.head[group] != MF_NONE)
            roots[root_count++] = join_limb(tree, &limbs, limbs.head[group]);
    }
    return root_count ? join_all(tree, roots, root_count) : MF_NONE;
}

mf_Status mf_collide_make_tree(mf_CollideDraft *draft, const uint32_t *groups,
                               const uint32_t *parents, uint32_t group_count, mf_Error *error) {
    Tree tree = {.draft = draft};
    size_t shapes = draft->plan.shape_count, nodes = 2 * shapes + 1;
    size_t words = 4 * nodes + draft->plan.pair_count + 4 * shapes + 5 * (size_t)group_count;
    uint32_t *work = mf_allocate(draft->context, words, sizeof *work);
    draft->nodes = mf_allocate(draft->context, shapes + 1, sizeof *draft->nodes);
    tree.nodes = mf_allocate(draft->context, nodes, sizeof *tree.nodes);
    mf_Status status = MF_NO_MEMORY;
    if (work && draft->nodes && tree.nodes) {
        memset(work, 0xff, words * sizeof *work); // MF_NONE
        uint32_t *number = work + 2 * nodes;
        tree.first = work;
        tree.end = work + nodes;
        tree.index = number + nodes;
        tree.pairs = tree.index + shapes;
        uint32_t root =
            build(&tree, groups, parents, group_count, tree.pairs + draft->plan.pair_count);
        make_tests(&tree, root);
        draft->plan.test_count = tree.test_count;
        draft->tests =
            mf_allocate(draft->context, (size_t)tree.test_count + 1, sizeof *draft->tests);
        if (draft->tests) {
            tree.tests = draft->tests;
            make_tests(&tree, root);
            drop_unused(&tree, number);
            status = MF_OK;
        }
    }
    mf_release(draft->context, tree.nodes);
    mf_release(draft->context, work);
    if (status != MF_OK)
        return mf_fail(error, status, "no memory for the tree of %u shapes",
                       draft->plan.shape_count);
    return MF_OK;
}
