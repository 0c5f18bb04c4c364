// Points that represent solids, and the mass, center and inertia of points.
#pragma once

#include <mayfly/sensor.h>
#include <mayfly/model.h>

#define MF_SHAPE_POINTS_LIMIT 16u // [1] most points of one primitive

// Points [m] on the surface of a shape with an inside, in its frame, in a fixed order. `ring` [1]
// is the number of points around each end of a cylinder, 4 or 8. Returns their number. `size` as in
// mf_Shape.
//   box       8 corners
//   cylinder  `ring` around each end, the first on +x
//   sphere    6 on the axes, and with ring 8 also 8 on the diagonals; of a stretched one those 6
//   capsule   the 2 poles and 4 around each end of its cylinder
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

// A hinge or a slide.
static inline bool mf_joint_has_axis(const mf_Joint *joint) {
    return joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
}

// A joint that mimics no other.
static inline bool mf_joint_has_motor(const mf_Joint *joint) {
    return mf_joint_has_axis(joint) && joint->mimic == MF_NONE;
}

// A joint that can move its link; planar joints are fixed.
static inline bool mf_joint_moves(const mf_Joint *joint) {
    return joint->type != MF_JOINT_FIXED && joint->type != MF_JOINT_PLANAR;
}

// Whether a robot has an upright that it can lose: its base is free and it is no ball, of which no
// joint moves a part and all shapes that collide are spheres. A ball rolls, which is no fall.
bool mf_model_can_fall(const mf_Model *model);

// Whether a body is `root` or a descendant. MF_NONE: the world.
static inline bool mf_body_carried(const mf_Model *model, uint32_t body, uint32_t root) {
    while (body != root && body != MF_NONE)
        body = model->bodies[body].parent;
    return body == root;
}

// The link whose frame a shape is in; MF_NONE: the world's.
static inline uint32_t mf_shape_frame(const mf_Model *model, const mf_Shape *shape) {
    return shape->link == MF_NONE && model->base == MF_BASE_FIXED ? 0 : shape->link;
}

// Whether a link has visual shapes; if not, its colliding shapes are drawn.
bool mf_model_has_visual(const mf_Model *model, uint32_t link);

// The motor of a joint: that of the file or, if it has none, an estimate from its effort and speed
// (docs/reference/gaits.md): full effort at an error of 0.1 rad or 1 cm, a torque that is lost at
// the largest speed, a rotor that the effort accelerates to that speed in 10 ms. mf_servo() if the
// joint follows another one, is neither a hinge nor a slide, or has an unlimited effort or speed.
mf_Servo mf_joint_servo(const mf_Model *model, uint32_t joint);

// The lowest point of a shape of a link at this world pose: `point` [m] in the link's frame (one of
// many if a face is level); returns its height [m]. For planes, height fields and points it is
// their origin.
double mf_model_shape_lowest(const mf_Model *model, uint32_t shape, const double position[3],
                             const double rotation[4], double point[3]);

// MF_BAD_ARGUMENT, beginning with `what`, unless every number is finite and in its range.
mf_Status mf_signal_check(const mf_Signal *signal, const char *what, mf_Error *error);

// True if the signal does not change the values.
bool mf_signal_is_plain(const mf_Signal *signal);
uint64_t mf_signal_hash(uint64_t hash, const mf_Signal *signal);

// The reading of the true value `value` without bias and noise: saturated and converted.
double mf_signal_convert(const mf_Signal *signal, double value);

// Pose of every link for joint angles `angle` [rad or m] (joint_count values): positions [m] of the
// link origins and rotations (w, x, y, z), both in the base frame. Arrays of link_count rows,
// either may be NULL. Plain double code, for set-up, pictures and tests.
void mf_model_pose(const mf_Model *model, const double *angle, double (*position)[3],
                   double (*rotation)[4]);
