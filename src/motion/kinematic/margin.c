// Questions about one instance: which contacts are feet, and how far the robot is from falling if
// it could (McGhee and Frank 1968, "On the stability properties of quadruped creeping gaits").
#include "motion/articulated/build.h"
#include "motion/kinematic/motion.h"
#include "math/scalar.h"

#include <math.h>

uint32_t mf_kinematic_foot_count(const mf_Group *group) {
    const mf_KinMotion *motion = mf_kin_motion_of(group);
    return motion != NULL ? motion->plan->foot_count : 0;
}

static void find_bodies(const mf_KinMotion *motion, uint32_t instance, const mf_ArtValues *values) {
    const mf_ArtMotion *tree = motion->tree;
    mf_field_read(motion->rows[MF_KIN_ROW_POSITION], instance, 0, 3, values->position);
    mf_field_read(motion->rows[MF_KIN_ROW_ORIENTATION], instance, 0, 4, values->position + 3);
    for (uint32_t l = 0; l < tree->plan->link_count; l++) {
        const mf_ArtLink *link = &tree->links[l];
        const bool ball = link->kind == MF_ART_BALL;
        const mf_Field *field = motion->rows[ball          ? MF_KIN_ROW_BALL
                                             : link->inner ? MF_KIN_ROW_FREE
                                                           : MF_KIN_ROW_ANGLE];
        const uint32_t count = ball ? 4 : 1;
        mf_field_read(field, instance, count * link->row, count, values->joints + link->position);
    }
    mf_art_ask(tree, MF_ART_TASK_POSE, values, NULL, values->bodies[0].rotation);
}

void mf_kinematic_center(const mf_KinMotion *motion, uint32_t instance, double center[3]) {
    mf_ArtValues values;
    mf_art_values_borrow(motion->tree, &values);
    find_bodies(motion, instance, &values);
    const mf_ArtBody *bodies = values.bodies;
    double mass = 0.0;
    mf_vec3_set(center, 0, 0, 0);
    for (int32_t l = -1; l < (int32_t)motion->tree->plan->link_count; l++) {
        const double *c = mf_art_constants(motion->tree, l);
        double moment[3];
        mf_mat3_apply(moment, bodies[l + 1].rotation, c + MF_ART_MOMENT);
        mf_vec3_add_scaled(moment, moment, c[MF_ART_MASS], bodies[l + 1].position);
        mf_vec3_add(center, center, moment);
        mass += c[MF_ART_MASS];
    }
    if (mass > 0.0)
        mf_vec3_scale(center, center, 1.0 / mass);
    else
        mf_vec3_copy(center, bodies[0].position);
    mf_art_values_return(motion->tree, &values);
}

// Twice the area of a, b, c, positive when they go round counter-clockwise.
static double area(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool before(const double a[2], const double b[2]) {
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

static void sort(double (*points)[2], uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        double x = points[i][0], y = points[i][1];
        uint32_t k = i;
        for (; k > 0 && before((double[2]){x, y}, points[k - 1]); k--) {
            points[k][0] = points[k - 1][0];
            points[k][1] = points[k - 1][1];
        }
        points[k][0] = x;
        points[k][1] = y;
    }
}

// The convex hull of sorted points, counter-clockwise (Andrew 1979); returns the number of corners.
static uint32_t find_hull(const double (*points)[2], uint32_t count, double (*hull)[2]) {
    uint32_t size = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t floor = size + 1;
        for (uint32_t i = 0; i < count; i++) {
            const double *p = points[pass == 0 ? i : count - 1 - i];
            while (size > floor && area(hull[size - 2], hull[size - 1], p) <= 0.0)
                size--;
            hull[size][0] = p[0];
            hull[size++][1] = p[1];
        }
        size--; // the last is the first of the other pass
    }
    return size;
}

static double edge_distance(const double a[2], const double b[2], const double p[2]) {
    double direction[2] = {b[0] - a[0], b[1] - a[1]}, to[2] = {p[0] - a[0], p[1] - a[1]};
    double length = direction[0] * direction[0] + direction[1] * direction[1];
    double part =
        length > 0.0 ? mf_clamp((direction[0] * to[0] + direction[1] * to[1]) / length, 0, 1) : 0.0;
    double x = to[0] - part * direction[0], y = to[1] - part * direction[1];
    return mf_sqrt(x * x + y * y);
}

// `points` has space for the feet, `hull` for twice as many and two more.
static double find_margin(const mf_KinMotion *motion, uint32_t instance, double (*points)[2],
                          double (*hull)[2]) {
    double center[3], least = INFINITY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < motion->plan->foot_count; i++) {
        if (!(mf_field_get(motion->rows[MF_KIN_ROW_HOLDS], instance, i) > 0.0))
            continue;
        mf_field_read(motion->rows[MF_KIN_ROW_ANCHOR], instance, 3 * i, 2, points[count++]);
    }
    if (count == 0)
        return -INFINITY;
    mf_kinematic_center(motion, instance, center);
    sort(points, count);
    uint32_t corners = count > 1 ? find_hull((const double(*)[2])points, count, hull) : 0;
    if (corners < 2)
        return -edge_distance(points[0], points[0], center);
    bool inside = corners > 2;
    for (uint32_t i = 0; i < corners; i++) {
        const double *a = hull[i], *b = hull[(i + 1) % corners];
        double distance = edge_distance(a, b, center);
        inside = inside && area(a, b, center) >= 0.0;
        least = distance < least ? distance : least;
    }
    return inside ? least : -least;
}

double mf_kinematic_static_margin(const mf_Group *group, uint32_t instance) {
    const mf_KinMotion *motion = mf_kin_motion_of(group);
    if (motion == NULL || instance >= mf_group_count(group))
        return 0;
    mf_Context *context = mf_world_context(mf_group_world((mf_Group *)(uintptr_t)group));
    const size_t feet = motion->plan->foot_count;
    double(*points)[2], (*hull)[2];
    const mf_Array arrays[] = {MF_ARRAY(points, feet), MF_ARRAY(hull, 2 * feet + 2)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return (double)NAN;
    const double margin = find_margin(motion, instance, points, hull);
    mf_release(context, points);
    return margin;
}
