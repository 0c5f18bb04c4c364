// The trees of compounds (compound.h): a robot's from its links, that of still things from the top.
// Their boxes have the axes of the link that carries all of a node.
#include "contact/compound.h"
#include "math/scalar.h"

#include <math.h>

static uint32_t join(mf_Compound *compound, uint32_t a, uint32_t b) {
    compound->nodes[compound->node_count - compound->solid_count] = (mf_CollideNode){{a, b}};
    return compound->node_count++;
}

// One node over `count` >= 1 nodes, halved again and again.
static uint32_t join_all(mf_Compound *compound, uint32_t *list, uint32_t count) {
    while (count > 1) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < count; i += 2)
            list[next++] = i + 1 < count ? join(compound, list[i], list[i + 1]) : list[i];
        count = next;
    }
    return list[0];
}

// ---- structured: a robot ------------------------------------------------------------------------

// The nodes over the solids of a link and of all that it carries, as a list, so that limbs can be
// halved.
typedef struct Limbs {
    uint32_t *head; // [1] per link: first node, MF_NONE: nothing there
    uint32_t *next; // [1] per node
    uint32_t *list; // [1] to work with
} Limbs;

static uint32_t *append(Limbs *limbs, uint32_t *end, uint32_t node) {
    *end = node;
    limbs->next[node] = MF_NONE;
    return &limbs->next[node];
}

static uint32_t join_limb(mf_Compound *compound, Limbs *limbs, uint32_t head) {
    uint32_t count = 0;
    for (uint32_t node = head; node != MF_NONE; node = limbs->next[node])
        limbs->list[count++] = node;
    return join_all(compound, limbs->list, count);
}

static void grow_link(mf_Compound *compound, Limbs *limbs, uint32_t link) {
    uint32_t own = 0, branches = 0, *end = &limbs->head[link];
    *end = MF_NONE;
    for (uint32_t s = 0; s < compound->solid_count; s++)
        if (compound->solids[s].link == link)
            limbs->list[own++] = s;
    if (own > 0)
        end = append(limbs, end, join_all(compound, limbs->list, own));
    for (uint32_t l = link + 1; l < compound->link_count; l++)
        branches += compound->links[l].parent == link && limbs->head[l] != MF_NONE;
    for (uint32_t l = link + 1; l < compound->link_count; l++) {
        if (compound->links[l].parent != link || limbs->head[l] == MF_NONE)
            continue;
        if (branches == 1)
            *end = limbs->head[l];
        else
            end = append(limbs, end, join_limb(compound, limbs, limbs->head[l]));
    }
}

static uint32_t grow_structured(mf_Compound *compound, uint32_t *work) {
    const uint32_t nodes = 2 * compound->solid_count;
    Limbs limbs = {work, work + compound->link_count, work + compound->link_count + nodes};
    for (uint32_t link = compound->link_count; link-- > 0;)
        grow_link(compound, &limbs, link);
    return join_limb(compound, &limbs, limbs.head[0]);
}

// ---- unstructured: still things -----------------------------------------------------------------

static double center_along(const mf_Compound *compound, uint32_t solid, int axis) {
    const double *values =
        compound->values_f64 + (size_t)solid * MF_COLLIDE_SHAPE_VALUES + MF_COLLIDE_POSITION;
    // In the frame of the base: no joint of what is still moves.
    double at[3];
    mf_vec3_copy(at, values);
    for (uint32_t l = compound->solids[solid].link; l > 0; l = compound->links[l].parent) {
        const mf_Joint *joint = &compound->model->joints[compound->links[l].joint];
        double rotation[9];
        mf_quat_to_matrix(rotation, joint->rotation);
        mf_mat3_apply(at, rotation, at);
        mf_vec3_add(at, at, joint->position);
    }
    return at[axis];
}

// Along which axis the centers of solids differ most.
static int longest_axis(const mf_Compound *compound, const uint32_t *order, uint32_t count) {
    double longest = -1.0;
    int found = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = (double)INFINITY, high = -(double)INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            double at = center_along(compound, order[i], axis);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (high - low > longest) {
            longest = high - low;
            found = axis;
        }
    }
    return found;
}

// Halves stay in the order of the file where centers are equal, so the tree is the same every time.
static void sort_along(const mf_Compound *compound, uint32_t *order, uint32_t count, int axis) {
    for (uint32_t i = 1; i < count; i++) {
        uint32_t solid = order[i], k = i;
        double at = center_along(compound, solid, axis);
        for (; k > 0 && center_along(compound, order[k - 1], axis) > at; k--)
            order[k] = order[k - 1];
        order[k] = solid;
    }
}

// Halving bounds the depth of the recursion by the logarithm of MF_COMPOUND_SHAPES.
static uint32_t halve(mf_Compound *compound, uint32_t *order, uint32_t count) {
    if (count == 1)
        return order[0];
    sort_along(compound, order, count, longest_axis(compound, order, count));
    uint32_t first = halve(compound, order, count / 2);
    uint32_t second = halve(compound, order + count / 2, count - count / 2);
    return join(compound, first, second);
}

// ---- both ---------------------------------------------------------------------------------------

static uint32_t find_depth(const mf_Compound *compound, uint32_t *depth) {
    for (uint32_t i = 0; i < compound->node_count; i++) {
        depth[i] = 0;
        if (i < compound->solid_count)
            continue;
        const uint32_t *children = compound->nodes[i - compound->solid_count].children;
        uint32_t a = depth[children[0]], b = depth[children[1]];
        depth[i] = 1 + (a > b ? a : b);
    }
    return depth[compound->root];
}

// The last link that carries both.
static uint32_t common_link(const mf_Compound *compound, uint32_t a, uint32_t b) {
    while (a != b) {
        if (a > b)
            a = compound->links[a].parent;
        else
            b = compound->links[b].parent;
    }
    return a;
}

static void find_links(mf_Compound *compound) {
    for (uint32_t i = 0; i < compound->node_count; i++) {
        if (i < compound->solid_count) {
            compound->node_links[i] = compound->node_axes[i] = compound->solids[i].link;
            continue;
        }
        const uint32_t *children = compound->nodes[i - compound->solid_count].children;
        const uint32_t a = compound->node_links[children[0]], b = compound->node_links[children[1]];
        compound->node_links[i] = a == b ? a : MF_NONE;
        compound->node_axes[i] = common_link(compound, compound->node_axes[children[0]],
                                             compound->node_axes[children[1]]);
    }
}

void mf_compound_grow(mf_Compound *compound, uint32_t *work) {
    compound->node_count = compound->solid_count;
    compound->root = MF_NONE;
    if (compound->solid_count == 0)
        return;
    if (compound->still) {
        for (uint32_t i = 0; i < compound->solid_count; i++)
            work[i] = i;
        compound->root = halve(compound, work, compound->solid_count);
    } else {
        compound->root = grow_structured(compound, work);
    }
    compound->depth = find_depth(compound, work);
    find_links(compound);
}
