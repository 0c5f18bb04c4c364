// The corners of a hull that touch a plane (hull.h).
#ifndef MF_CONTACT_NARROW_HULL_H
#define MF_CONTACT_NARROW_HULL_H

#include "contact/narrow_reach.h"

#if defined(MF_KERNEL_F64)
#define HULL_VERTICES(hull) mf_hull_vertices_f64(hull)
#define HULL_NORMALS(hull) mf_hull_normals_f64(hull)
#else
#define HULL_VERTICES(hull) mf_hull_vertices_f32(hull)
#define HULL_NORMALS(hull) mf_hull_normals_f32(hull)
#endif

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

// By rising number of their vertices, so that a face that lies keeps the order of its contacts
// whichever corner is the lowest by rounding.
static inline uint32_t hull_sorted(const mf_HullFace *face, uint32_t lowest, uint32_t out[4]) {
    uint32_t count = 0;
    if (face == NULL) {
        out[count++] = lowest;
        return count;
    }
    for (uint32_t i = 0; i < face->count; i++) {
        uint32_t at = count++;
        for (; at > 0 && out[at - 1] > face->corners[i]; at--)
            out[at] = out[at - 1];
        out[at] = face->corners[i];
    }
    return count;
}

// `up` is the plane's normal in the hull's axes.
static void hull_on_plane(const mf_ConvexHull *hull, mf_mask where, Vec up, HullCorners *out) {
    Rows direction, corner[4];
    MF_ALIGNED(64) mf_real on[MF_LANES];
    MF_ALIGNED(64) mf_real exists[4][MF_LANES];
    rows_put(vec_minus(up), &direction);
    lanes_put(where, on);
    for (int k = 0; k < 4; k++) {
        rows_put(constant_vec(0, 0, 0), &corner[k]);
        mf_store(exists[k], mf_zero());
    }
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        if (!(on[lane] > 0))
            continue;
        const mf_real down[3] = {direction.x[lane], direction.y[lane], direction.z[lane]};
        const HullView view = hull_view(hull, down);
        const uint32_t lowest = mf_hull_numbers(hull)[hull_farthest(&view, down).entry];
        uint32_t sorted[4];
        const uint32_t count = hull_sorted(hull_face(hull, lowest, down), lowest, sorted);
        for (uint32_t k = 0; k < count; k++) {
            rows_set(&corner[k], lane, HULL_VERTICES(hull) + 3 * (size_t)sorted[k]);
            exists[k][lane] = 1;
        }
    }
    for (int k = 0; k < 4; k++) {
        out->at[k] = rows_take(&corner[k]);
        out->exists[k] = mf_less(mf_zero(), mf_load(exists[k]));
    }
}

#endif
