// Points that represent solids, and the mass, center and inertia of points.
#ifndef MAYFLY_SRC_MODEL_POINTS_H
#define MAYFLY_SRC_MODEL_POINTS_H

#include <mayfly/model.h>

#define MF_SHAPE_POINTS_LIMIT 16u // [1] most points of one primitive

// Points [m] on the surface of a box, cylinder, sphere, capsule or ellipsoid, in the shape's frame,
// in a fixed order. `ring` [1] is the number of points around each end of a cylinder, 4 or 8.
// Returns their number. `size` as in mf_Shape.
//   box       8 corners
//   cylinder  `ring` around each end, the first on +x
//   sphere    6 on the axes, and with ring 8 also 8 on the diagonals
//   capsule   the 2 poles and 4 around each end of its cylinder
//   ellipsoid 6 on the axes
// Planes, height fields and meshes have none.
uint32_t mf_shape_points(double (*out)[3], mf_ShapeType type, const double size[3], uint32_t ring);

// Mass [kg], center [m] and inertia [kg m^2] about that center (xx, yy, zz, xy, xz, yz).
typedef struct mf_MassProperties {
    double mass;
    double center[3];
    double inertia[6];
} mf_MassProperties;

// Of those points of `points` that have mass and belong to `link` (MF_NONE: any link). Without mass
// everything is 0.
mf_MassProperties mf_mass_of_points(const mf_Point *points, uint32_t count, uint32_t link);

// The union of both bodies, in the same frame.
mf_MassProperties mf_mass_add(const mf_MassProperties *a, const mf_MassProperties *b);

// The same body in a frame in which its old frame has the pose `position`, `rotation` (old to new).
mf_MassProperties mf_mass_transform(const mf_MassProperties *body, const double position[3],
                                    const double rotation[4]);

// Principal second moments [kg m^2], largest first: moment i is the sum of m x_i^2 along the unit
// axis in column i of `axes` (right-handed, row-major). Negative rounding errors become 0.
void mf_mass_second_moments(double moments[3], double axes[9], const mf_MassProperties *body);

// `count` (1, 2 or 4) equal mass points [m] with the body's mass and center: 4 also have its whole
// inertia, 2 its largest second moment, 1 none.
void mf_mass_to_points(double (*out)[3], uint32_t count, const mf_MassProperties *body);

// Radius [m] of the smallest ball around the shape's origin that contains it (lowest.c); planes and
// height fields, which are ground, and points have 0.
double mf_model_shape_radius(const mf_Model *model, uint32_t shape);

// Whether a robot can touch the ground of its world: the value for `contacts` of its motions. It
// must have colliding shapes (or none at all: then its points touch). For a file without level
// plane or height field only a free robot does, if the world was given a ground (`given`) or the
// file's world has no colliding shape. NULL: false.
bool mf_model_touches_ground(const mf_Model *model, bool given);

#endif
