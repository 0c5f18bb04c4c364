// The kinds of shapes, a row each: what building, contact, sensing and drawing ask of any shape.
#pragma once

#include <mayfly/model.h>

// As which solid a shape collides. Pairs are in this order, the first kind first.
typedef enum mf_CollideKind {
    MF_COLLIDE_PLANE, // z = 0, solid below
    MF_COLLIDE_SPHERE,
    MF_COLLIDE_CAPSULE, // along z
    MF_COLLIDE_ELLIPSOID,
    MF_COLLIDE_CYLINDER, // along z
    MF_COLLIDE_BOX,
    MF_COLLIDE_HULL
} mf_CollideKind;

// Touches any other solid in one point.
static inline bool mf_collide_is_smooth(mf_CollideKind kind) {
    return kind == MF_COLLIDE_SPHERE || kind == MF_COLLIDE_ELLIPSOID;
}

// Is curved without being the surroundings of a point or segment.
static inline bool mf_collide_is_curved(mf_CollideKind kind) {
    return kind == MF_COLLIDE_ELLIPSOID || kind == MF_COLLIDE_CYLINDER;
}

// Has flat or straight parts, which touch in more than one point.
static inline bool mf_collide_has_face(mf_CollideKind kind) {
    return kind == MF_COLLIDE_BOX || kind == MF_COLLIDE_CYLINDER || kind == MF_COLLIDE_CAPSULE ||
           kind == MF_COLLIDE_HULL;
}

// Where a shape touches compliant ground. Those of many corners have a few contacts that move on
// them, `part` of mf_ArtContact.
typedef enum mf_TouchKind {
    MF_TOUCH_BALL,   // a ball; a point has no radius. Parts 1 and 2 are of balls on maps of nearest
                     // cells: other columns than that under the center
    MF_TOUCH_OVAL,   // all of a smooth solid, by the tensor of its squared radii
    MF_TOUCH_CORNER, // corner `part` of a box, when it is on the lower half
    MF_TOUCH_RIM,    // of a cylinder: the lowest points of both rims, then two on the lower one
    MF_TOUCH_HULL,   // corners of the hull of a mesh (contact/hull.h)
    MF_TOUCH_NONE
} mf_TouchKind;

// Functions get the half sizes: half the edges of a box or plane, the radii of an ellipsoid, the
// radius and half the length (without caps) of cylinders and capsules, the radius of a sphere.
typedef struct mf_ShapeKind {
    uint32_t half_count;    // [1] half sizes, as many as MJCF has
    double half_share[3];   // [1] half sizes / sizes of mf_Shape
    mf_CollideKind collide; // points: spheres without radius
    mf_TouchKind touch;
    mf_ShapeType like;                                // drawn as this one, stretched to its box
    void (*box)(const double half[3], double out[3]); // [m] half the edges of the box around it
    double (*radius)(const double half[3]);           // [m] of the ball around it
    double (*volume)(const double half[3]);           // [m^3]
    double (*area)(const double half[3]);             // [m^2]; NULL: not known
    // [kg m^2] Of a solid, or of a shell with its mass all over its surface.
    void (*moments)(const double half[3], double mass, bool shell, double out[3]);
    // [m] Of a lowest point, where `up` is the vertical.
    void (*lowest)(const double half[3], const double up[3], double out[3]);
    // [1] Outward at a point of the surface, of any length.
    void (*normal)(const double half[3], const double at[3], double out[3]);
    // As mf_shape_points.
    uint32_t (*points)(const double half[3], uint32_t ring, double (*out)[3]);
    // [m] Half the edges of a box about its middle that all normals of the surface go through.
    void (*normals)(const double half[3], double out[3]);
    // [m] Half sizes for a box: of the shape that the box holds, or that is about as large.
    void (*fit)(const double box[3], bool whole, double out[3]);
} mf_ShapeKind;

// By mf_ShapeType. Functions are NULL where a kind has no inside (points, planes, height fields) or
// has that of its mesh.
extern const mf_ShapeKind mf_shape_kinds[MF_SHAPE_HEIGHTS + 1];

// Whether it can be seen, hit and drawn by itself.
static inline bool mf_shape_is_solid(mf_ShapeType type) {
    return type != MF_SHAPE_POINT && type != MF_SHAPE_HEIGHTS;
}

// By mf_ShapeType, NULL behind the last: as models name them; as MJCF does, which has no points but
// another one at the end.
extern const char *const mf_shape_names[], *const mf_mjcf_shapes[];

// The row of the solids that collide so.
const mf_ShapeKind *mf_shape_kind_of(mf_CollideKind kind);

// [m] Half the edges of the box around it; of planes and hulls their half sizes.
void mf_collide_box(mf_CollideKind kind, const double half[3], double out[3]);

// [m] Half sizes; 0 beyond those that the kind has.
void mf_shape_half(mf_ShapeType type, const double size[3], double out[3]);

// [m] Sizes as of mf_Shape.
void mf_shape_size(mf_ShapeType type, const double half[3], double out[3]);

// [m] The box around a shape in its axes; `mesh`: that of a mesh, or NULL. False: it has no inside,
// and the box is empty.
bool mf_shape_box(mf_ShapeType type, const double size[3], const mf_Mesh *mesh, double middle[3],
                  double half[3]);

// [m] Of the ball about the shape's origin that contains it; 0 without an inside.
double mf_shape_radius(mf_ShapeType type, const double size[3], const mf_Mesh *mesh);

// [m] The box of the vertices of a mesh.
void mf_mesh_box(const mf_Mesh *mesh, double middle[3], double half[3]);
