// The kinds of shapes, a row each: what building, contact, sensing and drawing ask of any shape.
#ifndef MAYFLY_MODEL_SHAPE_KINDS_H
#define MAYFLY_MODEL_SHAPE_KINDS_H

#include <mayfly/model.h>

// Functions get the half sizes: half the edges of a box or plane, the radii of an ellipsoid, the
// radius and half the length (without caps) of cylinders and capsules, the radius of a sphere.
typedef struct mf_ShapeKind {
    const char *name;                                 // as in MJCF
    uint32_t half_count;                              // [1] half sizes, as many as MJCF has
    double half_share[3];                             // [1] half sizes / sizes of mf_Shape
    void (*box)(const double half[3], double out[3]); // [m] half the edges of the box around it
    double (*radius)(const double half[3]);           // [m] of the ball around it
    double (*volume)(const double half[3]);           // [m^3]
    // [m] Of a lowest point, where `up` is the vertical.
    void (*lowest)(const double half[3], const double up[3], double out[3]);
} mf_ShapeKind;

// By mf_ShapeType. Functions are NULL where a kind has no inside (points, planes, height fields) or
// has that of its mesh.
extern const mf_ShapeKind mf_shape_kinds[MF_SHAPE_HEIGHTS + 1];

// [m] Half sizes; 0 beyond those that the kind has.
void mf_shape_half(mf_ShapeType type, const double size[3], double out[3]);

// [m] The box around a shape in its axes; `mesh`: that of a mesh, or NULL. False: it has no inside,
// and the box is empty.
bool mf_shape_box(mf_ShapeType type, const double size[3], const mf_Mesh *mesh, double middle[3],
                  double half[3]);

// [m] Of the ball about the shape's origin that contains it; 0 without an inside.
double mf_shape_radius(mf_ShapeType type, const double size[3], const mf_Mesh *mesh);

// [m] The box of the vertices of a mesh.
void mf_mesh_box(const mf_Mesh *mesh, double middle[3], double half[3]);

#endif
