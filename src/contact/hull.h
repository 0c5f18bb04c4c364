// Convex hulls of meshes for the kernels: frozen before the first step, shared by all threads.
//
// The farthest vertex along a direction is found from a table. Directions are points on the surface
// of a cube, cut into square cells; each cell lists every vertex that can be farthest, or within
// MF_HULL_TILT of the farthest, for some direction of the cell. The search of the list gives what
// the search of all vertices gives.
//
// A hull touches a plane with its lowest vertex and, when its faces are known, with corners of the
// face about that vertex that looks at the plane most, by the rule of MuJoCo 4.0 (found by
// experiment; tests/contact): of more than four corners the lowest and three others, which climb to
// a quadrangle of large area from its successors on.
#pragma once

#include <mayfly/model.h>

#include "base/flat.h"

enum { MF_HULL_CHUNK = 16 }; // [1] entries of a cell come in chunks

// How far a hull goes along directions, at the corners of squares on the cube: between them it is
// less than their bilinear mean, because it is convex.
enum {
    MF_HULL_SQUARES = 16, // [1] along an edge of the cube
    MF_HULL_BOUNDS = 6 * (MF_HULL_SQUARES + 1) * (MF_HULL_SQUARES + 1)
};

// [1] How much lower, over the hull's radius, vertices of one face may be.
#define MF_HULL_TILT 2e-3

typedef struct mf_HullFace {
    uint32_t corners[4]; // [1] vertices, from the one that lists the face, counter-clockwise
    uint32_t count;      // [1] 3 or 4
    uint32_t loop;       // [1] where all its corners begin in `loops`, counter-clockwise
    uint32_t length;     // [1] how many these are
} mf_HullFace;

// Arrays of a hull.
#define MF_HULL_ARRAYS(X, of)                                                                      \
    /* [1] per cell its first chunk and the one after its last; 6 side^2, or 1 */                  \
    X(uint32_t, cells, 2 * (of)->cell_count)                                                       \
    /* [1] vertex of each entry, rising within a cell; the first fills up */                       \
    X(uint32_t, numbers, (of)->entry_count)                                                        \
    X(double, points_f64, 3 * (size_t)(of)->entry_count) /* [m] per chunk all x, all y, all z */   \
    X(float, points_f32, 3 * (size_t)(of)->entry_count)                                            \
    X(double, vertices_f64, 3 * (size_t)(of)->vertex_count) /* [m] */                              \
    X(float, vertices_f32, 3 * (size_t)(of)->vertex_count)                                         \
    X(uint32_t, first_face, (of)->vertex_count + 1) /* [1] faces about each vertex */              \
    X(mf_HullFace, faces, (of)->face_count)                                                        \
    X(uint32_t, loops, (of)->loop_count)                 /* [1] vertices around each face */       \
    X(double, normals_f64, 3 * (size_t)(of)->face_count) /* [1] outward */                         \
    X(float, normals_f32, 3 * (size_t)(of)->face_count)

// All positions are seen from the mean of the vertices. A flat image (base/flat.h).
typedef struct mf_ConvexHull {
    uint32_t bytes;  // [byte] of the image
    uint32_t number; // [1] of the hull in its set
    uint32_t vertex_count;
    uint32_t side;        // [1] cells along an edge of the cube
    uint32_t cell_count;  // [1]
    uint32_t entry_count; // [1] of all cells
    uint32_t face_count;  // [1] 0 where the mesh has no triangles of its hull
    uint32_t loop_count;  // [1]
    double center[3];     // [m] mean of the vertices, mesh's frame
    double radius;        // [m] of the sphere about it
    double low[3];        // [m] box
    double high[3];       // [m]
    MF_HULL_ARRAYS(MF_FLAT_MEMBER, )
} mf_ConvexHull;

#define MF_HULL_READER(Type, name, count) MF_FLAT_INDEXED(mf_ConvexHull, mf_hull, Type, name)
MF_HULL_ARRAYS(MF_HULL_READER, )

// Arrays of a set; hulls are images one behind the other, each of a multiple of MF_FLAT_ALIGNMENT.
#define MF_HULL_SET_ARRAYS(X, of)                                                                  \
    X(uint32_t, of_mesh, (of)->mesh_count) /* [1] its hull, MF_NONE */                             \
    X(uint32_t, hull_begins, (of)->count)  /* [byte] of each hull in hull_images */                \
    X(char, hull_images, (of)->hull_bytes) /* mf_ConvexHull */                                     \
    /* [m] MF_HULL_BOUNDS per hull, row after row, for directions whose largest component is 1; */ \
    X(double, bounds_f64, (size_t)(of)->count *MF_HULL_BOUNDS)                                     \
    X(float, bounds_f32, (size_t)(of)->count *MF_HULL_BOUNDS) /* rounded up */

// Those of the meshes that touch with their hulls. A flat image.
typedef struct mf_HullSet {
    uint32_t bytes;      // [byte] of the image
    uint32_t count;      // [1] hulls
    uint32_t mesh_count; // [1] of the model
    uint32_t hull_bytes; // [byte] of all hulls
    MF_HULL_SET_ARRAYS(MF_FLAT_MEMBER, )
} mf_HullSet;

#define MF_HULL_SET_READER(Type, name, count) MF_FLAT_INDEXED(mf_HullSet, mf_hulls, Type, name)
MF_HULL_SET_ARRAYS(MF_HULL_SET_READER, )

static inline const mf_ConvexHull *mf_hull_of(const mf_HullSet *set, uint32_t hull) {
    return (const mf_ConvexHull *)(const void *)(mf_hulls_hull_images(set) +
                                                 mf_hulls_hull_begins(set)[hull]);
}

// MF_NO_MEMORY. The caller frees *out with mf_release.
mf_Status mf_hulls_create(mf_Context *context, const mf_Model *model, mf_HullSet **out,
                          mf_Error *error);

// The vertices with which a hull touches a plane, as kernels find them; `up` [1] is the plane's
// normal in the hull's axes. Returns how many: 1, 3 or 4.
uint32_t mf_hull_corners(const mf_ConvexHull *hull, const double up[3], uint32_t corners[4]);
