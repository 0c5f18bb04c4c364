// Contacts of two solids with flat sides, boxes and hulls, lane by lane.
//
// Along the normal of least overlap each shows the side that looks along it most. Sides that are
// parallel to 5 degrees touch with the corners of their overlap: that of b is cut by the prism over
// that of a (Sutherland and Hodgman 1974), and depths are below the plane of a. Else an edge that
// is as parallel to a side that the normal belongs to is cut by the prism over that side. Of more
// than four corners those of the largest quadrangle stay. The limits are MuJoCo's.
#pragma once

#include "contact/narrow_face.h"

#if defined(MF_KERNEL_F64)
#define HULL_VERTICES(hull) mf_hull_vertices_f64(hull)
#define HULL_NORMALS(hull) mf_hull_normals_f64(hull)
#else
#define HULL_VERTICES(hull) mf_hull_vertices_f32(hull)
#define HULL_NORMALS(hull) mf_hull_normals_f32(hull)
#endif

#define FACES_ALIGNED ((mf_real)0.996) // [1] cosine between normals
#define EDGE_ALIGNED ((mf_real)0.0888) // [1] cosine between edge and normal

enum { SIDE_CORNERS = 32, CUT_CORNERS = 2 * SIDE_CORNERS };

// The face about a vertex that looks along n most; NULL where none is known.
static inline const mf_HullFace *hull_face(const mf_ConvexHull *hull, uint32_t vertex,
                                           const mf_real n[3]) {
    const mf_HullFace *best = NULL;
    mf_real most = -MF_REAL_MAX;
    const uint32_t *first_face = mf_hull_first_face(hull);
    const mf_real *normals = HULL_NORMALS(hull);
    for (uint32_t i = first_face[vertex]; i < first_face[vertex + 1]; i++) {
        const mf_real *own = normals + 3 * (size_t)i;
        const mf_real value = own[0] * n[0] + (own[1] * n[1] + own[2] * n[2]);
        best = value > most ? &mf_hull_faces(hull)[i] : best;
        most = value > most ? value : most;
    }
    return best;
}

static MF_INLINE mf_real dot_of(const mf_real a[3], const mf_real b[3]) {
    return a[0] * b[0] + (a[1] * b[1] + a[2] * b[2]);
}

static MF_INLINE void cross_of(const mf_real a[3], const mf_real b[3], mf_real out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static MF_INLINE void copy_of(const mf_real from[3], mf_real to[3]) {
    for (int i = 0; i < 3; i++)
        to[i] = from[i];
}

// ---- sides --------------------------------------------------------------------------------------

typedef struct LanePair { // one lane of a pair; all in the axes of a, from its center
    mf_real rotation[9], position[3];
    mf_real size_a[3], size_b[3]; // [m] of boxes
    mf_real normal[3];            // [1] of least overlap
    mf_real slack, bound;         // [m]
} LanePair;

static MF_INLINE void to_a(const LanePair *pair, bool point, const mf_real v[3], mf_real out[3]) {
    const mf_real *r = pair->rotation;
    for (int i = 0; i < 3; i++) {
        const mf_real sum = r[3 * i] * v[0] + (r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2]);
        out[i] = point ? sum + pair->position[i] : sum;
    }
}

static MF_INLINE void to_b(const LanePair *pair, const mf_real v[3], mf_real out[3]) {
    const mf_real *r = pair->rotation;
    for (int i = 0; i < 3; i++)
        out[i] = r[i] * v[0] + (r[3 + i] * v[1] + r[6 + i] * v[2]);
}

typedef struct Side {      // of a solid along a direction
    mf_real normal[3];     // [1] outward
    mf_real extreme[3];    // [m] a vertex that is farthest along the direction
    uint32_t vertex;       // [1] its number in a hull
    uint32_t count;        // [1] corners, counter-clockwise
    const uint32_t *loop;  // [1] of a hull, every `step`-th of which is a corner; NULL: of a box,
    uint32_t step, axis;   // [1] whose side along this axis it is
    const mf_real *points; // [m] vertices of the hull, half sizes of the box
    const LanePair *to;    // corners are in the axes of this pair's a; NULL: in their own
} Side;

static void side_of_box(const mf_real size[3], const mf_real n[3], Side *side) {
    uint32_t axis = positive(n[0]) < positive(n[1]) ? 1 : 0;
    axis = positive(n[axis]) < positive(n[2]) ? 2 : axis;
    for (uint32_t i = 0; i < 3; i++) {
        side->normal[i] = 0;
        side->extreme[i] = n[i] < 0 ? -size[i] : size[i];
    }
    side->normal[axis] = n[axis] < 0 ? -1 : 1;
    side->vertex = 0;
    side->count = 4;
    side->loop = NULL;
    side->axis = axis;
    side->points = size;
    side->to = NULL;
}

// False where the faces of the hull are not known. Of very many corners some are left out.
static bool side_of_hull(const mf_ConvexHull *hull, const mf_real n[3], Side *side) {
    const HullView view = hull_view(hull, n);
    side->vertex = mf_hull_numbers(hull)[hull_farthest(&view, n).entry];
    const mf_HullFace *face = hull_face(hull, side->vertex, n);
    if (face == NULL)
        return false;
    copy_of(HULL_NORMALS(hull) + 3 * (size_t)(face - mf_hull_faces(hull)), side->normal);
    side->points = HULL_VERTICES(hull);
    copy_of(side->points + 3 * (size_t)side->vertex, side->extreme);
    side->loop = mf_hull_loops(hull) + face->loop;
    side->step = (face->length + SIDE_CORNERS - 1) / SIDE_CORNERS;
    side->count = (face->length + side->step - 1) / side->step;
    side->to = NULL;
    return true;
}

static void side_corner(const Side *side, uint32_t i, mf_real out[3]) {
    mf_real own[3];
    if (side->loop != NULL) {
        copy_of(side->points + 3 * (size_t)side->loop[i * side->step], own);
    } else {
        const uint32_t axis = side->axis, u = axis < 2 ? axis + 1 : 0, v = axis > 0 ? axis - 1 : 2;
        const mf_real *size = side->points;
        own[axis] = side->normal[axis] * size[axis];
        own[u] = i == 0 || i == 3 ? size[u] : -size[u];
        own[v] = side->normal[axis] * (i < 2 ? size[v] : -size[v]);
    }
    if (side->to != NULL)
        to_a(side->to, true, own, out);
    else
        copy_of(own, out);
}

// The other end of the edge at the extreme vertex that is nearest to perpendicular to `up`; false:
// none is nearly so.
static bool edge_along(const Solid *solid, const mf_real size[3], const Side *side,
                       const mf_real up[3], mf_real end[3]) {
    mf_real least = EDGE_ALIGNED * EDGE_ALIGNED;
    bool found = false;
    const mf_ConvexHull *hull = solid->hull;
    const bool box = solid->kind == MF_COLLIDE_BOX;
    const uint32_t first = box ? 0 : mf_hull_first_face(hull)[side->vertex];
    const uint32_t last = box ? 3 : mf_hull_first_face(hull)[side->vertex + 1];
    for (uint32_t i = first; i < last; i++) {
        mf_real other[3], along[3];
        copy_of(side->extreme, other);
        if (box) {
            other[i] = other[i] < 0 ? size[i] : -size[i];
        } else {
            const mf_HullFace *face = &mf_hull_faces(hull)[i];
            const uint32_t *loop = mf_hull_loops(hull) + face->loop;
            uint32_t own = 0;
            while (own + 1 < face->length && loop[own] != side->vertex)
                own++;
            own = own + 1 < face->length ? own + 1 : 0;
            copy_of(HULL_VERTICES(hull) + 3 * (size_t)loop[own], other);
        }
        less_of(other, side->extreme, along);
        const mf_real rise = dot_of(along, up), square = dot_of(along, along);
        if (!(rise * rise < least * square))
            continue;
        least = rise * rise / square;
        copy_of(other, end);
        found = true;
    }
    return found;
}

// ---- cutting ------------------------------------------------------------------------------------

typedef struct Cut { // what is left of a polygon
    uint32_t count;
    mf_real at[CUT_CORNERS][3]; // [m]
} Cut;

typedef struct Plane { // over an edge of a side
    mf_real from[3];   // [m] on it
    mf_real inward[3]; // [m] as long as the edge
    mf_real slack;     // [m^2]
} Plane;

// The plane over the edge from corner i on; `slack` [m] outside of it counts as within.
static void edge_plane(const Side *side, uint32_t i, mf_real slack, Plane *plane) {
    mf_real to[3], along[3];
    side_corner(side, i, plane->from);
    side_corner(side, i + 1 < side->count ? i + 1 : 0, to);
    less_of(to, plane->from, along);
    cross_of(side->normal, along, plane->inward);
    plane->slack = slack * (positive(along[0]) + (positive(along[1]) + positive(along[2])));
}

// [m^2] How far a point is within, times the length of the edge.
static MF_INLINE mf_real within_plane(const Plane *plane, const mf_real at[3]) {
    mf_real offset[3];
    less_of(at, plane->from, offset);
    return dot_of(plane->inward, offset) + plane->slack;
}

static MF_INLINE void between(const mf_real a[3], const mf_real b[3], mf_real t, mf_real out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] + t * (b[i] - a[i]);
}

// In one array: of a convex polygon never more is written than one corner beyond the one that is
// read, which is known by then.
static void cut_polygon(const Side *by, mf_real slack, Cut *cut) {
    for (uint32_t edge = 0; edge < by->count && cut->count > 0; edge++) {
        Plane plane;
        mf_real own[3], next[3], first[3];
        const uint32_t count = cut->count;
        uint32_t left = 0;
        edge_plane(by, edge, slack, &plane);
        copy_of(cut->at[0], own);
        copy_of(own, first);
        const mf_real first_in = within_plane(&plane, first);
        mf_real in = first_in;
        for (uint32_t i = 0; i < count; i++) {
            const bool last = i + 1 == count;
            copy_of(last ? first : cut->at[i + 1], next);
            const mf_real next_in = last ? first_in : within_plane(&plane, next);
            const uint32_t most = i + 2 < CUT_CORNERS ? i + 2 : CUT_CORNERS;
            if (in >= 0 && left < most)
                copy_of(own, cut->at[left++]);
            if ((in >= 0) != (next_in >= 0) && left < most)
                between(own, next, in / (in - next_in), cut->at[left++]);
            copy_of(next, own);
            in = next_in;
        }
        cut->count = left;
    }
}

// Both ends of what is left of an edge.
static void cut_edge(const Side *by, mf_real slack, Cut *cut) {
    for (uint32_t edge = 0; edge < by->count; edge++) {
        Plane plane;
        edge_plane(by, edge, slack, &plane);
        const mf_real first = within_plane(&plane, cut->at[0]);
        const mf_real last = within_plane(&plane, cut->at[1]);
        if (first < 0 && last < 0) {
            cut->count = 0;
            return;
        }
        if (first < 0)
            between(cut->at[0], cut->at[1], first / (first - last), cut->at[0]);
        else if (last < 0)
            between(cut->at[0], cut->at[1], first / (first - last), cut->at[1]);
    }
}

static MF_INLINE mf_real area_of(const Cut *cut, uint32_t i, uint32_t j, uint32_t k,
                                 const mf_real up[3]) {
    mf_real a[3], b[3], across[3];
    less_of(cut->at[j], cut->at[i], a);
    less_of(cut->at[k], cut->at[i], b);
    cross_of(a, b, across);
    return positive(dot_of(across, up));
}

// Leaves the four corners of the quadrangle of largest area: for each diagonal the farthest corner
// on either side, which moves on as the diagonal turns. Of equal areas the first.
static void cut_to_four(Cut *cut, const mf_real up[3]) {
    const uint32_t count = cut->count;
    uint32_t best[4] = {0, 1, 2, 3};
    mf_real most = 0;
    for (uint32_t i = 0; i + 3 < count; i++) {
        uint32_t j = i + 1, l = i + 3;
        for (uint32_t k = i + 2; k + 1 < count; k++) {
            l = l > k ? l : k + 1;
            mf_real one = area_of(cut, i, j, k, up), two = area_of(cut, i, k, l, up);
            while (j + 1 < k && area_of(cut, i, j + 1, k, up) > one)
                one = area_of(cut, i, ++j, k, up);
            while (l + 1 < count && area_of(cut, i, k, l + 1, up) > two)
                two = area_of(cut, i, k, ++l, up);
            if (!(one + two > most * (1 + NOISE)))
                continue;
            most = one + two;
            best[0] = i;
            best[1] = j;
            best[2] = k;
            best[3] = l;
        }
    }
    for (uint32_t i = 0; i < 4; i++)
        copy_of(cut->at[best[i]], cut->at[i]);
    cut->count = 4;
}

// ---- contacts -----------------------------------------------------------------------------------

typedef struct Touch { // contacts of a lane
    mf_real normal[3]; // [1] from a to b
    mf_real depth[4];  // [m]
    Cut cut;           // the first four are in the middle between both
} Touch;

static bool solid_side(const Solid *solid, const mf_real size[3], const mf_real n[3], Side *side) {
    if (solid->kind == MF_COLLIDE_HULL)
        return side_of_hull(solid->hull, n, side);
    side_of_box(size, n, side);
    return true;
}

// Keeps the corners below `side` by more than the bound, at most four. A contact is where a corner
// leaves the side, its depth along `out` [1]; the point is in the middle of it.
static void cut_settle(const LanePair *pair, const Side *side, const mf_real out[3], Touch *touch) {
    const mf_real along = dot_of(side->normal, out);
    Cut *cut = &touch->cut;
    uint32_t count = 0;
    mf_real corner[3], offset[3];
    side_corner(side, 0, corner);
    for (uint32_t i = 0; i < cut->count; i++) {
        less_of(corner, cut->at[i], offset);
        if (dot_of(offset, side->normal) > pair->bound)
            copy_of(cut->at[i], cut->at[count++]);
    }
    cut->count = count;
    if (count > 4)
        cut_to_four(cut, side->normal);
    for (uint32_t i = 0; i < cut->count; i++) {
        less_of(corner, cut->at[i], offset);
        const mf_real below = dot_of(offset, side->normal);
        touch->depth[i] = below * along;
        for (int k = 0; k < 3; k++)
            cut->at[i][k] += below * side->normal[k] - (mf_real)0.5 * touch->depth[i] * out[k];
    }
}

// The contacts of one lane; none where neither faces nor an edge and a face are aligned.
static void touch_lane(const PairTest *test, const LanePair *pair, Touch *touch) {
    Side a, b;
    mf_real back[3], down[3], end[3], other[3];
    Cut *cut = &touch->cut;
    cut->count = 0;
    to_b(pair, pair->normal, back);
    for (int i = 0; i < 3; i++)
        back[i] = 0 - back[i];
    if (!solid_side(&test->a, pair->size_a, pair->normal, &a) ||
        !solid_side(&test->b, pair->size_b, back, &b))
        return;
    const mf_real along_a = dot_of(a.normal, pair->normal), along_b = dot_of(b.normal, back);
    mf_real up[3]; // of b's side
    to_a(pair, false, b.normal, up);
    for (int i = 0; i < 3; i++)
        down[i] = 0 - up[i];
    if (!(along_a > FACES_ALIGNED || along_b > FACES_ALIGNED))
        return;
    if (dot_of(a.normal, down) > FACES_ALIGNED) {
        cut->count = b.count;
        b.to = pair;
        for (uint32_t i = 0; i < b.count; i++)
            side_corner(&b, i, cut->at[i]);
        cut_polygon(&a, pair->slack, cut);
        copy_of(down, touch->normal);
        cut_settle(pair, &a, down, touch);
    } else if (along_a < along_b) {
        if (!edge_along(&test->a, pair->size_a, &a, up, end))
            return;
        cut->count = 2;
        copy_of(a.extreme, cut->at[0]);
        copy_of(end, cut->at[1]);
        b.to = pair;
        copy_of(up, b.normal);
        cut_edge(&b, pair->slack, cut);
        copy_of(down, touch->normal);
        cut_settle(pair, &b, up, touch);
    } else {
        to_b(pair, a.normal, other);
        if (!edge_along(&test->b, pair->size_b, &b, other, end))
            return;
        cut->count = 2;
        to_a(pair, true, b.extreme, cut->at[0]);
        to_a(pair, true, end, cut->at[1]);
        cut_edge(&a, pair->slack, cut);
        copy_of(a.normal, touch->normal);
        cut_settle(pair, &a, a.normal, touch);
    }
}

// The lanes of what a pair is asked with, as rows.
typedef struct PairRows {
    Rows rotation[3], position, size_a, size_b, normal;
    MF_ALIGNED(64) mf_real slack[MF_LANES];
    MF_ALIGNED(64) mf_real bound[MF_LANES];
} PairRows;

static MF_INLINE void row_of(const Rows *rows, uint32_t lane, mf_real out[3]) {
    out[0] = rows->x[lane];
    out[1] = rows->y[lane];
    out[2] = rows->z[lane];
}

static void pair_rows(const PairTest *test, const Mat *rotation, Vec position, Vec normal,
                      PairRows *rows) {
    const Vec none = constant_vec(0, 0, 0);
    rows_put(MF_VALUE(Vec, rotation->xx, rotation->xy, rotation->xz), &rows->rotation[0]);
    rows_put(MF_VALUE(Vec, rotation->yx, rotation->yy, rotation->yz), &rows->rotation[1]);
    rows_put(MF_VALUE(Vec, rotation->zx, rotation->zy, rotation->zz), &rows->rotation[2]);
    rows_put(position, &rows->position);
    rows_put(normal, &rows->normal);
    rows_put(test->a.kind == MF_COLLIDE_BOX ? halves(&test->a) : none, &rows->size_a);
    rows_put(test->b.kind == MF_COLLIDE_BOX ? halves(&test->b) : none, &rows->size_b);
    mf_store(rows->slack, mf_set(NOISE) * test->scale);
    mf_store(rows->bound, test->bound);
}

// Contacts in the lanes `where` along `normal`; arguments as of put_faces. Where neither faces nor
// an edge and a face are aligned there is one, at `at`.
static __attribute__((noinline)) void put_polygons(PairTest *test, mf_mask where,
                                                   const Mat *rotation, Vec position, Vec normal,
                                                   mf_lane deepest, Vec at) {
    PairRows rows;
    Rows points[4], normals;
    MF_ALIGNED(64) mf_real on[MF_LANES];
    MF_ALIGNED(64) mf_real depths[4][MF_LANES];
    MF_ALIGNED(64) mf_real exists[4][MF_LANES];
    pair_rows(test, rotation, position, normal, &rows);
    lanes_put(where, on);
    rows_put(normal, &normals);
    for (int k = 0; k < 4; k++) {
        rows_put(vec_fma(normal, mf_set((mf_real)-0.5) * deepest, at), &points[k]);
        mf_store(depths[k], deepest);
        mf_store(exists[k], mf_keep(where, mf_set((mf_real)(k == 0))));
    }
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        if (!(on[lane] > 0))
            continue;
        LanePair pair;
        Touch touch;
        for (uint32_t i = 0; i < 3; i++)
            row_of(&rows.rotation[i], lane, pair.rotation + 3 * i);
        row_of(&rows.position, lane, pair.position);
        row_of(&rows.size_a, lane, pair.size_a);
        row_of(&rows.size_b, lane, pair.size_b);
        row_of(&rows.normal, lane, pair.normal);
        pair.slack = rows.slack[lane];
        pair.bound = rows.bound[lane];
        touch_lane(test, &pair, &touch);
        for (uint32_t k = 0; k < touch.cut.count; k++) {
            rows_set(&normals, lane, touch.normal);
            rows_set(&points[k], lane, touch.cut.at[k]);
            depths[k][lane] = touch.depth[k];
            exists[k][lane] = 1;
        }
    }
    for (uint32_t k = 0; k < 4; k++)
        put_from_a(test, k, mf_less(mf_zero(), mf_load(exists[k])), rows_take(&points[k]),
                   rows_take(&normals), mf_load(depths[k]));
}
