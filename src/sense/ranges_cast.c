// Rays against the robots of a world: a binary tree of boxes about them, halved in the middle of
// the longest side of the box of their centers, then a sphere per shape, then the shape (ray.h).
//
// Invariant: a box or sphere that a ray misses holds nothing that it meets; both are larger than
// what they hold by far more than roundings.
#include "sense/ranges.h"

#include "math/scalar.h"

enum {
    LEAF = 4,   // [1] most items of a leaf
    LEVELS = 36 // [1] below it nodes are halved by number, which ends after 32 more
};

// ---- the tree -----------------------------------------------------------------------------------

static double center_of(const mf_Ranges *all, uint32_t item, int axis) {
    return 0.5 * (all->boxes[item][axis] + all->boxes[item][3 + axis]);
}

static void join(double box[6], const double other[6]) {
    for (int i = 0; i < 3; i++) {
        box[i] = other[i] < box[i] ? other[i] : box[i];
        box[3 + i] = other[3 + i] > box[3 + i] ? other[3 + i] : box[3 + i];
    }
}

// The longest side of the box of centers, and its middle.
static int longest_side(const mf_Ranges *all, uint32_t first, uint32_t count, double *middle) {
    double low[3], high[3];
    int axis = 0;
    for (int i = 0; i < 3; i++) {
        low[i] = high[i] = center_of(all, all->order[first], i);
        for (uint32_t k = first + 1; k < first + count; k++) {
            const double at = center_of(all, all->order[k], i);
            low[i] = at < low[i] ? at : low[i];
            high[i] = at > high[i] ? at : high[i];
        }
        axis = high[i] - low[i] > high[axis] - low[axis] ? i : axis;
    }
    *middle = 0.5 * (low[axis] + high[axis]);
    return axis;
}

// Puts items below the middle first; returns how many they are.
static uint32_t part(mf_Ranges *all, uint32_t first, uint32_t count) {
    double middle;
    const int axis = longest_side(all, first, count, &middle);
    uint32_t below = 0;
    for (uint32_t k = first; k < first + count; k++) {
        const uint32_t item = all->order[k];
        if (center_of(all, item, axis) < middle) {
            all->order[k] = all->order[first + below];
            all->order[first + below++] = item;
        }
    }
    return below;
}

// Nodes are in the order of the descent; returns the node's number.
static uint32_t grow(mf_Ranges *all, uint32_t first, uint32_t count, uint32_t level) {
    const uint32_t number = all->node_count++;
    mf_RangeNode *node = &all->nodes[number];
    memcpy(node->box, all->boxes[all->order[first]], sizeof node->box);
    for (uint32_t k = first + 1; k < first + count; k++)
        join(node->box, all->boxes[all->order[k]]);
    node->first = first;
    node->count = count;
    if (count <= LEAF)
        return number;
    uint32_t below = level < LEVELS ? part(all, first, count) : 0;
    below = below == 0 || below == count ? count / 2 : below;
    node->count = 0;
    grow(all, first, below, level + 1);
    node->first = grow(all, first + below, count - below, level + 1);
    return number;
}

void mf_ranges_grow(mf_Ranges *all) {
    uint32_t count = 0;
    for (uint32_t item = 0; item < all->item_count; item++)
        if (all->boxes[item][0] <= all->boxes[item][3])
            all->order[count++] = item;
    all->node_count = 0;
    if (count > 0)
        grow(all, 0, count, 0);
}

// ---- a ray --------------------------------------------------------------------------------------

typedef struct Cast {
    const mf_Ranges *all;
    double start[3], direction[3]; // [m], [1] unit
    double inverse[3];             // [1] of the direction
    double nearest;                // [m]
    uint32_t without;              // [1] item
} Cast;

static bool hits_box(const Cast *cast, const double box[6]) {
    double from = 0.0, to = cast->nearest;
    for (int i = 0; i < 3; i++) {
        const double a = (box[i] - cast->start[i]) * cast->inverse[i],
                     b = (box[3 + i] - cast->start[i]) * cast->inverse[i];
        const double enter = a < b ? a : b, leave = a < b ? b : a;
        from = enter > from ? enter : from;
        to = leave < to ? leave : to;
    }
    return from <= to;
}

// `to`: the sphere's center from the ray's start; `direction`: that of the ray; in any axes.
static bool hits_sphere(const double to[3], const double direction[3], double radius,
                        double nearest) {
    double off[3];
    const double along = mf_clamp(mf_vec3_dot(to, direction), 0.0, nearest);
    mf_vec3_add_scaled(off, to, -along, direction);
    return mf_vec3_dot(off, off) <= radius * radius;
}

// `center`: where its position is in the world; `pose` NULL: its axes are turned against the world.
static void hit_solid(Cast *cast, const mf_RangeSolid *solid, const double center[3],
                      const mf_RangePose *pose) {
    double start[3], direction[3];
    mf_vec3_sub(start, center, cast->start);
    if (!hits_sphere(start, cast->direction, solid->radius, cast->nearest))
        return;
    mf_vec3_scale(start, start, -1.0);
    mf_vec3_copy(direction, cast->direction);
    if (pose != NULL) {
        mf_quat_rotate_inverse(start, pose->rotation, start);
        mf_quat_rotate_inverse(direction, pose->rotation, direction);
    }
    mf_quat_rotate_inverse(start, solid->rotation, start);
    mf_quat_rotate_inverse(direction, solid->rotation, direction);
    const double distance = mf_ray_time_scalar_f64(&solid->shape, start, direction);
    cast->nearest = distance < cast->nearest ? distance : cast->nearest;
}

static void hit_item(Cast *cast, uint32_t item) {
    const mf_RangeGroup *group = &cast->all->groups[cast->all->group_of[item]];
    const uint32_t robot = item - group->first_item;
    if (item == cast->without || !hits_box(cast, cast->all->boxes[item]))
        return;
    if (robot == group->count) {
        for (uint32_t s = group->moving_count; s < group->solid_count; s++)
            hit_solid(cast, &group->solids[s], group->solids[s].position, NULL);
        return;
    }
    const mf_RangePose *poses = &group->poses[(size_t)robot * group->frame_count];
    const double(*centers)[3] = group->centers + (size_t)robot * group->moving_count;
    for (uint32_t s = 0; s < group->moving_count; s++)
        hit_solid(cast, &group->solids[s], centers[s], &poses[group->solids[s].frame]);
}

double mf_ranges_cast(const mf_Ranges *all, const double start[3], const double direction[3],
                      double nearest, uint32_t without) {
    Cast cast = {.all = all, .nearest = nearest, .without = without};
    uint32_t stack[MF_RANGE_DEPTH], depth = 0;
    mf_vec3_copy(cast.start, start);
    mf_vec3_copy(cast.direction, direction);
    for (int i = 0; i < 3; i++) // finite, so that 0 times it is 0
        cast.inverse[i] = mf_abs(direction[i]) > 1e-200 ? 1.0 / direction[i] : 1e200;
    if (all->node_count > 0)
        stack[depth++] = 0;
    while (depth > 0) {
        const uint32_t number = stack[--depth];
        const mf_RangeNode *node = &all->nodes[number];
        if (!hits_box(&cast, node->box))
            continue;
        for (uint32_t k = node->first; k < node->first + node->count; k++)
            hit_item(&cast, all->order[k]);
        if (node->count == 0) {
            stack[depth++] = node->first;
            stack[depth++] = number + 1;
        }
    }
    return cast.nearest;
}
