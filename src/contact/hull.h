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
#ifndef MF_CONTACT_HULL_H
#define MF_CONTACT_HULL_H

#include <mayfly/model.h>

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
} mf_HullFace;

// All positions are seen from the mean of the vertices.
typedef struct mf_ConvexHull {
    uint32_t vertex_count;
    uint32_t side;        // [1] cells along an edge of the cube
    double center[3];     // [m] mean of the vertices, mesh's frame
    double radius;        // [m] of the sphere about it
    double low[3];        // [m] box
    double high[3];       // [m]
    uint32_t *cells;      // [1] per cell its first chunk and the one after its last; 6 side^2, or 1
    uint32_t *numbers;    // [1] vertex of each entry, rising within a cell; the first fills up
    double *points_f64;   // [m] per chunk all x, all y, all z
    float *points_f32;    // likewise
    double *vertices_f64; // [m] 3 per vertex
    float *vertices_f32;  // likewise
    uint32_t *first_face; // [1] vertex_count + 1 numbers: faces about each vertex
    mf_HullFace *faces;   // none where the mesh has no triangles of its hull
    double *normals_f64;  // [1] 3 per face, outward
    float *normals_f32;   // likewise
} mf_ConvexHull;

// Those of the meshes that touch with their hulls.
typedef struct mf_HullSet {
    uint32_t count;    // [1]
    uint32_t *of_mesh; // [1] per mesh of the model: its hull, MF_NONE
    mf_ConvexHull *hulls;
    mf_Context *context;
    double *bounds_f64; // [m] MF_HULL_BOUNDS per hull, row after row, for directions whose largest
                        // component is 1
    float *bounds_f32;  // likewise, rounded up
} mf_HullSet;

// MF_NO_MEMORY. The caller destroys *out.
mf_Status mf_hulls_create(mf_Context *context, const mf_Model *model, mf_HullSet **out,
                          mf_Error *error);
void mf_hulls_destroy(mf_HullSet *set); // NULL is fine

// The vertices with which a hull touches a plane, as kernels find them; `up` [1] is the plane's
// normal in the hull's axes. Returns how many: 1, 3 or 4.
uint32_t mf_hull_corners(const mf_ConvexHull *hull, const double up[3], uint32_t corners[4]);

#endif
