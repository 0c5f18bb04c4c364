// Rays against height maps. Seen from above, the ray is cut where it crosses the lines between the
// patches of the map (Amanatides and Woo 1987). Over a patch the height is constant (MF_NEAREST) or
// bilinear in x and y, so that the ray's height above it is a parabola in the distance, given by
// three of its values.
#include "terrain/lookup.h"
#include "math/scalar.h"

#include <math.h>

typedef struct Walk {
    const mf_Terrain *terrain;
    const double *origin, *direction;
    double shift;   // [1] cells from a corner of the map to the first line
    double last[2]; // [1] number of the last line along x and y
} Walk;

static void point_at(const Walk *walk, double distance, double out[3]) {
    mf_vec3_add_scaled(out, walk->origin, distance, walk->direction);
}

static double clearance(const Walk *walk, double distance) {
    double at[3];
    point_at(walk, distance, at);
    return at[2] - mf_terrain_height(walk->terrain, at[0], at[1], NULL);
}

// The distance at which the ray crosses the next line across an axis behind `from`; INFINITY: none.
static double next_line(const Walk *walk, int axis, double from) {
    const mf_Terrain *terrain = walk->terrain;
    const double speed = walk->direction[axis] / terrain->cell;
    if (!(mf_abs(speed) > 1e-300) || walk->last[axis] < 0.0)
        return (double)INFINITY;
    const double start = (walk->origin[axis] - terrain->origin[axis]) / terrain->cell - walk->shift;
    const double now = mf_clamp(start + speed * from, -2.0, walk->last[axis] + 2.0);
    double line = mf_floor(now) + (speed > 0.0 ? 0.0 : 1.0);
    // Rounding may give the previous line again.
    for (int i = 0; i < 3; i++) {
        if (speed > 0.0 ? line > walk->last[axis] : line < 0.0)
            return (double)INFINITY;
        const double distance = (line - start) / speed;
        if (distance > from && line >= 0.0 && line <= walk->last[axis])
            return distance;
        line += speed > 0.0 ? 1.0 : -1.0;
    }
    return speed > 0.0 ? (0.0 - start) / speed : (walk->last[axis] - start) / speed;
}

// The first s in 0 .. 1 at which the parabola with the values `start`, `middle` and `end` at 0, 1/2
// and 1 goes below 0; 2: nowhere.
static double first_below(double start, double middle, double end) {
    const double curve = 2.0 * (start + end - 2.0 * middle), slope = end - start - curve;
    const double size = mf_abs(start) + mf_abs(middle) + mf_abs(end);
    double roots[2] = {2.0, 2.0};
    if (mf_abs(curve) > 1e-13 * size) {
        const double root = slope * slope - 4.0 * curve * start;
        if (root >= 0.0) {
            const double half = -0.5 * (slope + (slope < 0.0 ? -1.0 : 1.0) * mf_sqrt(root));
            const double a = half / curve, b = half != 0.0 ? start / half : a;
            roots[0] = a < b ? a : b;
            roots[1] = a < b ? b : a;
        }
    } else if (mf_abs(slope) > 0.0) {
        roots[0] = -start / slope;
    }
    for (int i = 0; i < 2; i++)
        if (roots[i] >= 0.0 && roots[i] <= 1.0 && slope + 2.0 * curve * roots[i] < 0.0)
            return roots[i];
    return start >= 0.0 && end < 0.0 ? start / (start - end) : 2.0;
}

// Whether the ray goes below the ground between two distances on one patch.
static bool cross_patch(const Walk *walk, double from, double to, double *distance,
                        double normal[3]) {
    double at[3];
    const double s =
        first_below(clearance(walk, from), clearance(walk, 0.5 * (from + to)), clearance(walk, to));
    if (s > 1.0)
        return false;
    *distance = from + s * (to - from);
    // Keeps the position inside this patch, so that the normal is that of the patch on its border
    // too.
    point_at(walk, from + mf_clamp(s, 1e-9, 1.0 - 1e-9) * (to - from), at);
    if (!(mf_terrain_depth(walk->terrain, at) > -1e30))
        return false;
    mf_terrain_height(walk->terrain, at[0], at[1], normal);
    return true;
}

// The same over one cell of constant height; `above`: the ray was above the previous cell.
static bool cross_cell(const Walk *walk, double from, double to, int axis, bool *above,
                       double *distance, double normal[3]) {
    double middle[3];
    point_at(walk, isinf(to) ? from : 0.5 * (from + to), middle);
    const double height = mf_terrain_height(walk->terrain, middle[0], middle[1], NULL);
    const double start = walk->origin[2] + from * walk->direction[2] - height;
    mf_vec3_set(normal, 0, 0, 1);
    if (!(mf_terrain_depth(walk->terrain, middle) > -1e30)) {
        *above = true;
        return false;
    }
    if (*above && start < 0.0 && from > 0.0) { // a wall
        mf_vec3_set(normal, 0, 0, 0);
        normal[axis] = walk->direction[axis] > 0.0 ? -1.0 : 1.0;
        *distance = from;
        return true;
    }
    const double end = isinf(to) ? start : walk->origin[2] + to * walk->direction[2] - height;
    *above = end >= 0.0;
    if (start < 0.0 || end >= 0.0)
        return false;
    *distance = from + (to - from) * start / (start - end);
    return true;
}

// The part of the ray where it can touch the ground: between its greatest and least height.
static bool find_part(const Walk *walk, double reach, double *from, double *to) {
    const mf_Terrain *terrain = walk->terrain;
    const double z = walk->origin[2], climb = walk->direction[2];
    const double slack = 1e-9 * (1.0 + mf_abs(terrain->highest) + mf_abs(terrain->lowest));
    const double high = terrain->highest + slack, low = terrain->lowest - slack;
    *from = 0.0;
    *to = reach;
    if (climb < 0.0) {
        *from = z > high ? (high - z) / climb : 0.0;
        const double end = (low - z) / climb;
        *to = end < reach ? end : reach;
    } else if (z > high) {
        return false;
    } else if (climb > 0.0) {
        const double end = (high - z) / climb;
        *to = end < reach ? end : reach;
    }
    return *to > *from;
}

double mf_terrain_ray(const mf_Terrain *terrain, const double origin[3], const double direction[3],
                      double reach, double normal[3]) {
    const bool bilinear = terrain->interpolation == MF_BILINEAR;
    const double rim = bilinear ? 1.0 : 2.0; // lines between centers, or between cells
    const Walk walk = {.terrain = terrain,
                       .origin = origin,
                       .direction = direction,
                       .shift = bilinear ? 0.5 : 1.0,
                       .last = {(double)terrain->columns - rim, (double)terrain->rows - rim}};
    double from, end, found;
    if (!mf_all_finite(origin, 3) || !mf_all_finite(direction, 3) ||
        !find_part(&walk, reach, &from, &end))
        return (double)INFINITY;
    bool above = true;
    int axis = 0;
    for (uint64_t i = 0; from < end && i < 4 * ((uint64_t)terrain->columns + terrain->rows) + 8;
         i++) {
        const double x = next_line(&walk, 0, from), y = next_line(&walk, 1, from);
        double to = x < y ? x : y;
        to = to < end ? to : end;
        const bool touches = bilinear ? !isinf(to) && cross_patch(&walk, from, to, &found, normal)
                                      : cross_cell(&walk, from, to, axis, &above, &found, normal);
        if (touches)
            return found;
        axis = x < y ? 0 : 1;
        from = to;
    }
    return (double)INFINITY;
}
