// Mayfly: models of robots. A frozen tree of links, joints, mass points, shapes, actuators and
// sensors, loaded from a file or built by calls (mayfly/builder.h), and shared by all threads.
//
// The `points` motion uses only links, joints and points. Everything else (armature and springs of
// joints, contact parameters of shapes, actuators, tendons, equalities, options) is for full
// dynamics and has MuJoCo's meaning; it has neutral values if the file does not state it.
#pragma once

#include <mayfly/base.h>

#define MF_NONE UINT32_MAX // no link, joint, sensor of that kind

typedef enum mf_JointType {
    MF_JOINT_HINGE,    // one angle about `axis`: 1 position value, 1 velocity value
    MF_JOINT_SLIDE,    // one translation along `axis`: 1 and 1
    MF_JOINT_BALL,     // quaternion (w, x, y, z), child to joint frame; rate [rad/s] in the child's
                       // axes: 4 and 3. Motions that cannot move it fix it at the identity
    MF_JOINT_PLANAR,   // kept in the model as fixed: 0 and 0
    MF_JOINT_FLOATING, // position [m] and quaternion in the joint frame; velocity [m/s] in the
                       // joint frame, rate [rad/s] in the child's axes: 7 and 6
    MF_JOINT_FIXED     // only if fixed links are not merged: 0 and 0
} mf_JointType;

// Type of the base, link 0.
typedef enum mf_BaseType {
    MF_BASE_FREE, // it moves freely
    MF_BASE_FIXED // fixed in the world: link 0 is the file's world body and keeps its pose
} mf_BaseType;

// A rigid part. Its frame is that of the joint that moves it (URDF convention), so the joint's axis
// passes through its origin; link 0 is the base.
//
// A body with several joints becomes a chain, one link per joint in the file's order: all but the
// last are `intermediate`, without mass, shapes or points. This is exact, not an approximation: the
// product of the joints' transforms is that of the body, and the mass matrix is the same.
// Forward dynamics must treat such a link as its articulated inertia, never alone.
typedef struct mf_Link {
    const char *name;
    uint32_t parent;   // [1] index of the parent link, always smaller; MF_NONE for link 0
    uint32_t joint;    // [1] index of the joint that moves it; MF_NONE for link 0
    double mass;       // [kg] >= 0
    double center[3];  // [m] center of mass, link frame
    double inertia[6]; // [kg m^2] xx, yy, zz, xy, xz, yz about the center, link axes
    bool intermediate; // between two joints of one body
    uint32_t body;     // [1] its body (also of an intermediate link); MF_NONE
                       // for a model without bodies and for the world
    double lift_mass;  // [kg] mass whose weight the file compensates (gravcomp); may have any sign
    double lift_moment[3]; // [kg m] lift_mass times its center, link frame
} mf_Link;

// Softness of a constraint: MuJoCo's solref and solimp.
typedef struct mf_Softness {
    double reference[2]; // [s] time constant and [1] damping ratio; both <= 0: -stiffness [1/s^2]
                         // and -damping [1/s]
    double impedance[5]; // [1] at distance 0, [1] at distance `width`, [m] or [rad] width, [1]
                         // midpoint, [1] power
} mf_Softness;

// A motor with position control at a hinge or slide. The torque (force, for slides)
//     gain (target - angle) - damping rate
// is clamped to +-effort; a limited speed clamps the error to what a steady motion of that speed
// needs. A direct-current motor is an effort equal to its stall torque and a no-load speed: its
// torque falls linearly with the rate, to 0 at the no-load speed.
typedef struct mf_Servo {
    double gain;          // [N m/rad] or [N/m] >= 0; 0: no control, joint.target is not read
    double damping;       // [N m s/rad] or [N s/m] >= 0
    double effort;        // [N m] or [N] > 0; stall torque after the gear; +INFINITY: unlimited
    double speed;         // [rad/s] or [m/s] > 0, largest commanded speed; +INFINITY: unlimited
    double no_load_speed; // [rad/s] or [m/s] > 0 after the gear; +INFINITY: no back-EMF
    double rotor_inertia; // [kg m^2] or [kg] >= 0 before the gear
    double gear;          // [1] motor turns per joint turn, > 0
    double backlash;      // [rad] or [m] >= 0, total play of the gear: errors within it give no
                          // torque
} mf_Servo;
MF_API mf_Servo mf_servo(void); // no gain, no limits, gear 1

typedef struct mf_Joint {
    const char *name;
    mf_JointType type;
    uint32_t parent;    // [1] link
    uint32_t child;     // [1] link
    double position[3]; // [m] joint frame origin in the parent link's frame
    double rotation[4]; // [1] joint frame to parent frame at angle 0, unit quaternion (w, x, y, z)
    double axis[3];     // [1] unit vector, joint frame
    double lower;       // [rad] or [m]; -INFINITY when unlimited
    double upper;       // [rad] or [m]; +INFINITY when unlimited
    double speed;       // [rad/s] or [m/s] largest rate, > 0; +INFINITY when unlimited
    double effort;      // [N m] or [N]; +INFINITY when unlimited
    double damping;     // [N m s/rad] or [N s/m] >= 0
    double friction;    // [N m] or [N] >= 0
    uint32_t mimic;     // [1] joint that this one follows, MF_NONE for a free joint
    double multiplier;  // [1] angle = multiplier * angle of `mimic` + offset
    double offset;      // [rad] or [m]
    // Full dynamics. For a ball joint lower is 0 and upper limits the angle of the rotation.
    uint32_t position_address; // [1] its first value in a position vector
    uint32_t velocity_address; // [1] its first value in a velocity vector
    uint32_t body;             // [1] body that it moves, MF_NONE for a model without bodies
    double anchor[3];          // [m] its origin in that body's frame
    double reference; // [rad] or [m] hinge and slide: position at which the child is in its initial
                      // pose; the joint moves by position - reference
    double armature;  // [kg m^2] or [kg] >= 0, added to the diagonal of the mass matrix
    double stiffness; // [N m/rad] or [N/m] >= 0
    double spring_reference; // [rad] or [m] hinge and slide: position without spring force
    double force_lower;      // [N m] or [N] range of the sum of the actuators' forces on it;
    double force_upper;      // [N m] or [N] +-INFINITY when unlimited
    bool lift_by_actuator;   // weight compensation counts as force of the actuators
    double limit_margin;     // [rad] or [m] distance at which the limit begins to act
    mf_Softness limit_softness;
    mf_Softness friction_softness;
    mf_Servo servo; // its motor in the file; gain 0: none
} mf_Joint;

// A body of the file. A body without joints is part of the link of its parent body.
typedef struct mf_Body {
    const char *name;           // "" if it has none in the file
    uint32_t parent;            // [1] body, always smaller; MF_NONE for the world
    uint32_t link;              // [1] MF_NONE when it is fixed in the world and link 0 is not
    double position[3];         // [m] its frame in the link's frame (in the world without link)
    double rotation[4];         // [1] body to link, (w, x, y, z)
    double mass;                // [kg] >= 0
    double center[3];           // [m] center of mass, body frame
    double moments[3];          // [kg m^2] principal moments of inertia
    double axes[4];             // [1] principal axes to body, (w, x, y, z)
    double gravity_compensated; // [1] part of its weight that is compensated
    double local_position[3]; // [m] its frame in its parent body's frame, joints in their reference
                              // position
    double local_rotation[4]; // [1] body to parent body
    bool mocap;               // its pose is an input (mocap.position, articulated)
} mf_Body;

// A frame that moves with a link.
typedef struct mf_Frame {
    uint32_t link;      // [1] MF_NONE: the world
    double position[3]; // [m] link frame
    double rotation[4]; // [1] this frame to link, (w, x, y, z)
} mf_Frame;

enum {
    MF_POINT_COLLIDES = 1, // touches the ground
    MF_POINT_HAS_MASS = 2  // carries part of the link's mass
};

// A mass point, a contact point, or both. The points with mass of a link have exactly the link's
// mass, center and inertia.
typedef struct mf_Point {
    uint32_t link;      // [1]
    uint32_t flags;     // [1] MF_POINT_COLLIDES | MF_POINT_HAS_MASS
    double position[3]; // [m] link frame
    double mass;        // [kg] 0 without MF_POINT_HAS_MASS
    float color[3];     // [1] red, green, blue in 0 .. 1
    uint32_t shape;     // [1] the shape of a file that it is a contact point of, or MF_NONE
} mf_Point;

typedef enum mf_ShapeType {
    MF_SHAPE_POINT,
    MF_SHAPE_BOX,
    MF_SHAPE_CYLINDER, // along z
    MF_SHAPE_SPHERE,
    MF_SHAPE_CAPSULE, // along z, length without the caps
    MF_SHAPE_MESH,    // collides as its convex hull
    MF_SHAPE_PLANE,   // z = 0, solid below; infinite for contact, its size is for display
    MF_SHAPE_ELLIPSOID,
    MF_SHAPE_HEIGHTS // a height field
} mf_ShapeType;

// A solid for display and contact. Two shapes that collide may touch if
typedef struct mf_Shape {
    mf_ShapeType type;
    uint32_t
        link; // [1] MF_NONE: fixed in the world, `position` and `rotation` are in the world frame
    bool visual;        // from a visual element
    bool collides;      // from a collision element; contact_type or contact_with is not 0
    double position[3]; // [m] link frame
    double rotation[4]; // [1] shape to link, (w, x, y, z)
    double size[3];     // [m] box: full edges; cylinder, capsule: radius, length; sphere: radius;
                        // ellipsoid: radii; plane: full edges, 0 = infinite
    float color[3];     // [1] red, green, blue in 0 .. 1
    uint32_t material;  // [1] index into materials, MF_NONE: only its color
    uint32_t mesh;      // [1] index into meshes or, for MF_SHAPE_HEIGHTS, height_fields; else
                        // MF_NONE
    const char *name;   // "" when it has none
    uint32_t body;      // [1] MF_NONE: the world, or a model without bodies
    double local_position[3]; // [m] as `position`, in the body's frame
    double local_rotation[4]; // [1] as `rotation`, shape to body
    int32_t group;            // [1] as the file numbers it, 0 .. 5
    double mass; // [kg] its part of the body's mass, 0 if the file states the inertia directly
    uint32_t contact_type; // [1] bits
    uint32_t contact_with; // [1] bits
    uint32_t dimension;    // [1] 1 no friction, 3 sliding, 4 and torsional, 6 and rolling
    int32_t priority;      // [1] friction and softness are those of the shape of higher priority
    double friction[3];    // [1] sliding, [m] torsional, [m] rolling
    double mix;            // [1] weight of its softness when priorities are equal
    double margin;         // [m] distance at which a contact begins to act
    double gap;            // [m] further distance within which it is reported without force
    mf_Softness softness;
    bool fluid; // the medium acts on its equivalent ellipsoid, not on its body's box
    double fluid_coefficients[5]; // [1] drag: blunt, slender, angular; lift: Kutta, Magnus
} mf_Shape;

// A triangle mesh in its shape's frame, scale applied, and its convex hull.
typedef struct mf_Mesh {
    const char *path;               // resolved path
    uint32_t vertex_count;          // [1]
    uint32_t triangle_count;        // [1]
    const float *vertices;          // [m] vertex_count * 3
    const uint32_t *triangles;      // [1] triangle_count * 3 vertex indices
    const float *coordinates;       // [1] triangle_count * 6: places (u, v) of each triangle's
                                    // corners on a texture, from its upper left corner, its size
                                    // being 1; NULL: none
    const char *name;               // "" when it has none
    uint32_t hull_vertex_count;     // [1] 0: no hull (a mesh that does not collide)
    uint32_t hull_triangle_count;   // [1]
    const uint32_t *hull_vertices;  // [1] vertex indices, rising
    const uint32_t *hull_triangles; // [1] hull_triangle_count * 3 vertex indices, seen from outside
                                    // counterclockwise
    double reference_position[3];   // [m] subtracted first from the file's vertices
    double reference_rotation[4];   // [1] inverse of the rotation that was applied next
    double scale[3];                // [1] scale that was applied last
    bool shell;                     // its mass properties are those of its surface
    uint32_t hull_limit;            // [1] largest number of vertices of the hull, 0: no limit
} mf_Mesh;

// Heights over a grid, columns along x, rows along y, centered on the shape's frame.
typedef struct mf_HeightField {
    const char *name;
    const char *path;     // resolved path, "" when the numbers are in the model's file
    uint32_t rows;        // [1] >= 2
    uint32_t columns;     // [1] >= 2
    double half_size[2];  // [m] along x and y
    double height;        // [m] of the value 1
    double base;          // [m] thickness below the value 0
    const float *heights; // [1] rows * columns in 0 .. 1, row 0 at -y
} mf_HeightField;

// A named frame, with a shape for touch sensors and display.
typedef struct mf_Site {
    const char *name;
    uint32_t body; // [1] MF_NONE: the world
    mf_Frame frame;
    double local_position[3]; // [m] body frame
    double local_rotation[4]; // [1] site to body
    mf_ShapeType type;        // sphere, capsule, ellipsoid, cylinder or box
    double size[3];           // [m] as in mf_Shape
    int32_t group;            // [1]
} mf_Site;

// Two shapes that may touch independently of their bits and bodies.
typedef struct mf_ContactPair {
    const char *name;
    uint32_t shapes[2];           // [1]
    uint32_t dimension;           // [1] as in mf_Shape
    double friction[5];           // [1] two sliding, [m] torsion, [m] two rolling
    double friction_reference[2]; // [s], [1] reference of the friction's softness; zeros: as below
    double margin;                // [m]
    double gap;                   // [m]
    mf_Softness softness;
} mf_ContactPair;

// Two bodies that never touch.
typedef struct mf_ContactExclusion {
    const char *name;
    uint32_t bodies[2]; // [1] MF_NONE: the world
} mf_ContactExclusion;

// A weighted sum of joint positions (a fixed tendon): length = sum of coefficient * position.
typedef struct mf_TendonTerm {
    uint32_t joint;     // [1] hinge or slide
    double coefficient; // [1]
} mf_TendonTerm;

typedef enum mf_WrapType {
    MF_WRAP_SITE,     // the path goes through `frame`
    MF_WRAP_SPHERE,   // the path wraps around this shape if the straight path intersects it
    MF_WRAP_CYLINDER, // likewise, infinite along z of `frame`
    MF_WRAP_PULLEY    // the path ends; another branch follows, its length over `divisor`
} mf_WrapType;

// One element of the path of a spatial tendon: the shortest path through its sites, in order,
// around the shapes between them. Its length is the sum over all branches.
typedef struct mf_TendonWrap {
    mf_WrapType type;
    uint32_t object; // [1] site or shape; MF_NONE for a pulley
    mf_Frame frame;  // of the site or the shape
    double radius;   // [m] of the shape
    uint32_t side;   // [1] site that selects the side of the shape, or is inside it (then the path
                     // passes through the shape's inside); MF_NONE: the shorter path
    double side_position[3]; // [m] that site in its link's frame
    uint32_t side_link;      // [1] its link; MF_NONE: the world
    double divisor;          // [1] of a pulley, > 0
} mf_TendonWrap;

typedef struct mf_Tendon {
    const char *name;
    uint32_t first_term; // [1] index into tendon_terms
    uint32_t term_count; // [1]
    uint32_t first_wrap; // [1] index into tendon_wraps
    uint32_t wrap_count; // [1] 0: a fixed tendon, else a spatial one, without terms
    double lower;        // [m] or [rad] -INFINITY when unlimited
    double upper;        // [m] or [rad] +INFINITY when unlimited
    double spring_lower; // [m] or [rad] no spring force between these lengths
    double spring_upper; // [m] or [rad]
    double stiffness;    // [N/m] or [N m/rad] >= 0
    double damping;      // [N s/m] or [N m s/rad] >= 0
    double friction;     // [N] or [N m] >= 0
    double armature;     // [kg] or [kg m^2] >= 0
    double force_lower;  // [N] or [N m] range of the sum of the actuators' forces on it
    double force_upper;  // [N] or [N m]
    double limit_margin; // [m] or [rad]
    mf_Softness limit_softness;
    mf_Softness friction_softness;
    int32_t group; // [1]
} mf_Tendon;

typedef enum mf_EqualityType {
    MF_EQUALITY_CONNECT, // the origins of both frames coincide: 3 equations
    MF_EQUALITY_WELD,    // the frames coincide: 6 equations
    MF_EQUALITY_JOINT,   // y - y0 = polynomial(x - x0) of two joints, y the first, y0 and x0 their
                         // references; without a second joint x - x0 is 0
    MF_EQUALITY_TENDON   // as above for tendon lengths, y0 and x0 those at the start position
} mf_EqualityType;

typedef struct mf_Equality {
    const char *name;
    mf_EqualityType type;
    bool active;            // at the start
    uint32_t objects[2];    // [1] joints or tendons; bodies for connect and weld (MF_NONE: the
                            // world); the second may be MF_NONE
    uint32_t sites[2];      // [1] connect and weld between sites, else MF_NONE
    mf_Frame frames[2];     // for connect and weld
    double anchor[3];       // [m] as in the file: connect in the first body's frame, weld in
                            // the second's
    double relative[7];     // [m], [1] weld: pose of the second body in the first one's frame
    double coefficients[5]; // [1] of the polynomial, constant first
    double torque_scale;    // [m] weld: weight of rotation against translation
    mf_Softness softness;
} mf_Equality;

typedef enum mf_ActuatorDrive {
    MF_DRIVE_JOINT,           // length = gear * position
    MF_DRIVE_JOINT_IN_PARENT, // as above; ball and floating joints: gear is in the parent's axes
    MF_DRIVE_TENDON,          // length = gear * tendon length
    MF_DRIVE_SITE,            // force and torque gear[0..2], gear[3..5] on `frame`, in the axes of
                              // `reference` or, without, its own
    MF_DRIVE_BODY // adhesion: attracts what touches `body`, distributed over its contacts
} mf_ActuatorDrive;

typedef enum mf_ActuatorDynamics {
    MF_DYNAMICS_NONE,         // force from control
    MF_DYNAMICS_INTEGRATOR,   // activation' = control
    MF_DYNAMICS_FILTER,       // activation' = (control - activation) / time constant
    MF_DYNAMICS_FILTER_EXACT, // the same, integrated exactly
    MF_DYNAMICS_MUSCLE,       // activation' = (control - activation) / a time that depends on both
    MF_DYNAMICS_ERROR         // activation' = control - length; the force is that of the control
} mf_ActuatorDynamics;

// A muscle: force = -(peak force) (activation * FL(l) * FV(v) + FP(l)), with length l and velocity
// v scaled so that `range` corresponds to the driven length's `length_range`
// (docs/explanation/articulated.md).
typedef struct mf_Muscle {
    bool exists;            // else gain and bias apply
    double length_range[2]; // [m] or [rad] of the driven length; not rising: computed by a search
    double range[2];        // [1] the same in units of the muscle's optimal length
    double force;           // [N] peak force at rest; < 0: scale over `acceleration`
    double scale;           // [1]
    double lower, upper;    // [1] lengths without active force
    double speed;           // [1/s] shortening velocity without force
    double passive;         // [1] passive force at `upper`, of the peak force
    double lengthening;     // [1] largest active force when it is stretched, of the peak force
    double acceleration;    // [1/kg] or [1/(kg m^2)] of what it drives at the start, per force
    double rise, fall;      // [s] time constants of activation
    double smoothing;       // [1] width of the transition between them
} mf_Muscle;

// force = gain(l, v) * (control or activation) + bias(l, v), each a + b * length + c * velocity;
// the force on the driven thing is gear * force.
typedef struct mf_Actuator {
    const char *name;
    mf_ActuatorDrive drive;
    mf_ActuatorDynamics dynamics;
    uint32_t joint;              // [1] MF_NONE unless driven
    uint32_t tendon;             // [1] MF_NONE unless driven
    uint32_t site;               // [1] MF_NONE unless driven
    uint32_t reference_site;     // [1] MF_NONE: none
    uint32_t body;               // [1] MF_NONE unless driven
    mf_Frame frame;              // of `site`
    mf_Frame reference;          // of `reference_site`
    double gear[6];              // [1]
    double gain[3];              // [N] per control, then per [m] or [rad], per [m/s] or [rad/s]
    double bias[3];              // [N] or [N m], then per [m] or [rad], per [m/s] or [rad/s]
    double time_constant;        // [s] >= 0, of filters
    double control_lower;        // [1] unit of the control; -INFINITY when unlimited
    double control_upper;        // [1] +INFINITY when unlimited
    double force_lower;          // [N] or [N m] -INFINITY when unlimited
    double force_upper;          // [N] or [N m] +INFINITY when unlimited
    double activation_lower;     // [1] -INFINITY when unlimited
    double activation_upper;     // [1] +INFINITY when unlimited
    uint32_t activation_address; // [1] its value among the activations, MF_NONE without dynamics
    bool early;                  // the force uses the activation after the step
    bool explicit_rate;          // its force is always explicit under MuJoCo's law
    double slew_limit;           // [1/s] largest rate of change of the control; 0: unlimited
    double integral_gain;        // [N/s] or [N m/s] per unit of length, of MF_DYNAMICS_ERROR: the
                                 // force gains this times the activation after the step
    double armature;             // [kg m^2] or [kg] after the gear, added to the driven joint's
    double damping;              // [N m s/rad] or [N s/m] after the gear
    int32_t group;               // [1]
    mf_Muscle muscle;
} mf_Actuator;

// Values have the stated unit; vectors have three values, quaternions four, all others one.
typedef enum mf_SensorType {
    MF_SENSOR_CONTACT,               // 1 while any colliding point of `link` carries load, else 0
    MF_SENSOR_RAY,                   // [m] distance along the ray to the ground, at most its length
    MF_SENSOR_JOINT,                 // [rad] angle of `joint`
    MF_SENSOR_ATTITUDE,              // [rad] roll, pitch, yaw of `frame` (three values)
    MF_SENSOR_TOUCH,                 // [N] normal forces in the volume of `site`
    MF_SENSOR_ACCELEROMETER,         // [m/s^2] vector with gravity, axes of `frame`
    MF_SENSOR_VELOCIMETER,           // [m/s] vector, axes of `frame`
    MF_SENSOR_GYRO,                  // [rad/s] vector, axes of `frame`
    MF_SENSOR_FORCE,                 // [N] vector between `body` and its parent, axes of `frame`
    MF_SENSOR_TORQUE,                // [N m] vector, likewise
    MF_SENSOR_MAGNETOMETER,          // [1] vector, axes of `frame`
    MF_SENSOR_RANGEFINDER,           // [m] from `frame` along its z to the next shape, -1: none
    MF_SENSOR_JOINT_POSITION,        // [rad] or [m]
    MF_SENSOR_JOINT_VELOCITY,        // [rad/s] or [m/s]
    MF_SENSOR_TENDON_POSITION,       // [m] or [rad]
    MF_SENSOR_TENDON_VELOCITY,       // [m/s] or [rad/s]
    MF_SENSOR_ACTUATOR_POSITION,     // [m] or [rad]
    MF_SENSOR_ACTUATOR_VELOCITY,     // [m/s] or [rad/s]
    MF_SENSOR_ACTUATOR_FORCE,        // [N] or [N m]
    MF_SENSOR_JOINT_ACTUATOR_FORCE,  // [N m] or [N] of all actuators on `joint`
    MF_SENSOR_TENDON_ACTUATOR_FORCE, // [N] of all actuators on `tendon`
    MF_SENSOR_BALL_QUATERNION,       // [1] quaternion of `joint`
    MF_SENSOR_BALL_RATE,             // [rad/s] vector
    MF_SENSOR_JOINT_LIMIT_POSITION,  // [rad] or [m] distance to the limit minus margin
    MF_SENSOR_JOINT_LIMIT_VELOCITY,  // [rad/s] or [m/s]
    MF_SENSOR_JOINT_LIMIT_FORCE,     // [N m] or [N]
    MF_SENSOR_TENDON_LIMIT_POSITION, // [m] or [rad]
    MF_SENSOR_TENDON_LIMIT_VELOCITY, // [m/s] or [rad/s]
    MF_SENSOR_TENDON_LIMIT_FORCE,    // [N]
    MF_SENSOR_FRAME_POSITION,        // [m] vector of `frame` relative to `reference`
    MF_SENSOR_FRAME_QUATERNION,      // [1] quaternion
    MF_SENSOR_FRAME_X_AXIS,          // [1] vector
    MF_SENSOR_FRAME_Y_AXIS,          // [1] vector
    MF_SENSOR_FRAME_Z_AXIS,          // [1] vector
    MF_SENSOR_FRAME_VELOCITY,        // [m/s] vector
    MF_SENSOR_FRAME_RATE,            // [rad/s] vector
    MF_SENSOR_FRAME_ACCELERATION,    // [m/s^2] vector with gravity, world axes
    MF_SENSOR_FRAME_ANGULAR_ACCELERATION, // [rad/s^2] vector, world axes
    MF_SENSOR_SUBTREE_CENTER,             // [m] vector, center of mass of `body` and its subtree
    MF_SENSOR_SUBTREE_VELOCITY,           // [m/s] vector
    MF_SENSOR_SUBTREE_MOMENTUM,           // [kg m^2/s] vector about that center
    MF_SENSOR_POTENTIAL_ENERGY,           // [J]
    MF_SENSOR_KINETIC_ENERGY,             // [J]
    MF_SENSOR_CLOCK,                      // [s]
    MF_SENSOR_USER,                       // values that a program sets
    MF_SENSOR_CONTACT_FORCE,              // [N] loads of all contacts of `link` with the ground
    MF_SENSOR_FIELD,                      // values of the group's field named `field`
    MF_SENSOR_CONTACTS                    // contacts between two objects: `query`
} mf_SensorType;

// The contacts that a sensor selects, for each side.
typedef enum mf_ContactSide {
    MF_CONTACT_SIDE_ANY,
    MF_CONTACT_SIDE_SHAPE,
    MF_CONTACT_SIDE_BODY,
    MF_CONTACT_SIDE_SUBTREE // a body and its subtree
} mf_ContactSide;

// Data of each contact, in this order.
typedef enum mf_ContactData {
    MF_CONTACT_FOUND = 1,    // [1] number of contacts
    MF_CONTACT_DISTANCE = 2, // [m] < 0: penetration
    MF_CONTACT_POSITION = 4, // [m] vector, world, half-way between the surfaces
    MF_CONTACT_NORMAL = 8    // [1] vector, world, from the first object to the second
} mf_ContactData;

typedef struct mf_ContactQuery {
    mf_ContactSide sides[2];
    uint32_t objects[2]; // [1] shape or body (MF_NONE: the world)
    uint32_t data;       // [1] sum of mf_ContactData
    uint32_t slots;      // [1] largest number of reported contacts; values of missing ones are 0
    bool nearest;        // the deepest first, else in any order
} mf_ContactQuery;

// Processing of a value between the true value and the reading (docs/reference/sensors.md):
// saturation, bias and noise, conversion, delay. Zeros everywhere: none. [1] is the unit of the
// value. A pair of limits applies if the first is below the second.
typedef struct mf_Signal {
    mf_Rate rate;         // [1/s] rate of measurement; {0, 0}: that of its group's sensors
    mf_Time delay;        // [ns] >= 0 from measurement to reading, rounded up to whole steps
    double saturation[2]; // [1] range of the sensing element
    double noise;         // [1] standard deviation of each reading, >= 0
    double bias;          // [1] standard deviation of the bias, constant in an episode, >= 0
    double drift;         // [1] random walk of the bias: standard deviation per sqrt(s), >= 0
    double range[2];      // [1] range of the converter
    uint32_t bits;        // [1] 0 .. 24: 2^bits equal steps over the range; 0: not used
    double resolution;    // [1] step of the converter without `bits`; 0: none
} mf_Signal;

// Object of a frame sensor.
typedef enum mf_Object {
    MF_OBJECT_BODY_INERTIA, // the principal axes in the center of mass of a body
    MF_OBJECT_BODY,
    MF_OBJECT_SHAPE, // of a mesh: its principal axes in its center of mass
    MF_OBJECT_SITE,
    MF_OBJECT_CAMERA // only its pose is kept
} mf_Object;

typedef struct mf_Sensor {
    const char *name;
    mf_SensorType type;
    uint32_t link;         // [1] for contact, contact force and ray
    uint32_t joint;        // [1] for joint angle and the other joint sensors
    double start[3];       // [m] ray start, link frame
    double direction[3];   // [1] ray direction, unit, link frame
    double range;          // [m] ray length, > 0
    uint32_t tendon;       // [1] MF_NONE unless it is about one
    uint32_t actuator;     // [1] MF_NONE unless it is about one
    uint32_t site;         // [1] MF_NONE if not at a site
    uint32_t body;         // [1] force, torque, subtree: the body; MF_NONE: the world
    mf_Frame frame;        // pose of the sensor
    bool has_reference;    // `reference` is a moving frame, else the world
    mf_Frame reference;    // reference frame of a frame sensor
    mf_Object object;      // frame sensors: object of `frame`
    uint32_t object_index; // [1] body (MF_NONE: the world), shape or site; MF_NONE for a camera
    mf_Object reference_object;
    uint32_t reference_index; // [1] likewise
    mf_ContactQuery query;    // MF_SENSOR_CONTACTS
    mf_Signal signal;         // processing of its values
    const char *field;        // MF_SENSOR_FIELD: name of the field, else NULL
    uint32_t component;       // [1] its first value there
    uint32_t address;         // [1] its first value among the sensor values
    uint32_t count;           // [1] of values
} mf_Sensor;

// A stored state. Arrays have the lengths of the model.
// ---- docks --------------------------------------------------------------------------------------

typedef enum mf_DockGender { // two docks fit unless both are male, or both female
    MF_DOCK_BOTH,            // fits any
    MF_DOCK_MALE,
    MF_DOCK_FEMALE
} mf_DockGender;

// A place where a robot can be joined to another one while the world runs (mayfly/docks.h). Docked,
// the origins of both frames coincide and their x axes are opposite; the z axes are equal after one
// of `orientations` equal rotations about x.
typedef struct mf_Dock {
    const char *name;
    mf_Frame frame; // x axis outwards
    mf_DockGender gender;
    const char *type;      // any word
    const char *fits;      // types that it fits, with spaces between them; "": its own type
    uint32_t orientations; // [1] orientations in which it fits: 1, 2 or 4, evenly about x
    bool enabled;          // at the start
    // When two docks join: each must be within the tolerances of both.
    double distance; // [m] between the origins, > 0
    double angle;    // [rad] from the nearest orientation in which they fit, > 0
    double closing;  // [s] how long a clamp takes; until then nothing holds
    double failure; // [1] probability that a latch fails to catch; it tries again with each meeting
    // A magnet: two docks that fit attract each other with the smaller pull of both.
    double pull;  // [N] at contact
    double range; // [m] at which it has fallen to nothing
    // The joint: rigid where a stiffness is 0. Two docks have the softer of both.
    double stiffness, damping;                 // [N/m], [N s/m]
    double angular_stiffness, angular_damping; // [N m/rad], [N m s/rad]
    // Loads that break it, > 0. The smaller of both docks' limits counts.
    double tension; // [N] along x, apart
    double shear;   // [N] across x
    double bending; // [N m] across x
    double torsion; // [N m] about x
} mf_Dock;

typedef struct mf_Keyframe {
    const char *name;
    double time;              // [s]
    const double *position;   // [m], [rad], [1] position_count
    const double *velocity;   // [m/s], [rad/s] velocity_count
    const double *activation; // [1] activation_count
    const double *control;    // [1] actuator_count
} mf_Keyframe;

typedef enum mf_PhysicsIntegrator {
    MF_PHYSICS_EULER, // semi-implicit, joint damping implicit
    MF_PHYSICS_RK4,
    MF_PHYSICS_IMPLICIT,
    MF_PHYSICS_IMPLICIT_FAST // implicit in damping of joints and actuators
} mf_PhysicsIntegrator;

typedef enum mf_FrictionCone { MF_CONE_PYRAMIDAL, MF_CONE_ELLIPTIC } mf_FrictionCone;

enum { // features that a file disables
    MF_DISABLE_CONSTRAINT = 1 << 0,
    MF_DISABLE_EQUALITY = 1 << 1,
    MF_DISABLE_FRICTION_LOSS = 1 << 2,
    MF_DISABLE_LIMIT = 1 << 3,
    MF_DISABLE_CONTACT = 1 << 4,
    MF_DISABLE_SPRING = 1 << 5,
    MF_DISABLE_DAMPER = 1 << 6,
    MF_DISABLE_GRAVITY = 1 << 7,
    MF_DISABLE_CLAMP_CONTROL = 1 << 8,
    MF_DISABLE_FILTER_PARENT = 1 << 9,
    MF_DISABLE_ACTUATION = 1 << 10,
    MF_DISABLE_SAFE_REFERENCE = 1 << 11,
    MF_DISABLE_SENSOR = 1 << 12,
    MF_DISABLE_EULER_DAMPING = 1 << 13
};

// The simulation options of the file. The neutral values are MuJoCo's.
typedef struct mf_Physics {
    double step;        // [s] 0.002
    double gravity[3];  // [m/s^2] 0, 0, -9.81
    double wind[3];     // [m/s]
    double magnetic[3]; // [1] field in the world
    double density;     // [kg/m^3] of the medium
    double viscosity;   // [Pa s] of the medium
    mf_PhysicsIntegrator integrator;
    mf_FrictionCone cone;
    double friction_impedance_ratio; // [1] impratio
    uint32_t noslip_iterations;      // [1] sweeps of the noslip pass after the solver, 0
    double noslip_tolerance;         // [1] relative gain of a sweep at which it ends, 1e-6
    // Termination of the solver of MuJoCo's law: after this number of Newton steps [1], or when the
    // gain of one, over the mean of the mass matrix's diagonal in the reference position and the
    // number of velocities, is below the tolerance.
    uint32_t solver_iterations; // [1] 100
    double solver_tolerance;    // [m^2/s^4] 1e-8
    uint32_t disabled;          // [1] MF_DISABLE_ bits
    bool override_contacts;     // the next three apply to all contacts
    double override_margin;     // [m]
    mf_Softness override_softness;
    double override_friction[5]; // [1], [1], [m], [m], [m]
} mf_Physics;

// Something an importer dropped, changed or found suspicious.
typedef struct mf_Note {
    bool suspicious;  // false: dropped or changed as documented
    bool unsupported; // the file has a feature that Mayfly does not support
    int32_t line;     // [1] 1-based line in `file`, 0 when unknown
    const char *file; // an included file, or "": the model's own
    const char *text; // one sentence without newline
} mf_Note;

// All arrays are owned by the model. Links and joints are in topological order; joints that are
// fixed in the file have been merged (unless requested otherwise) and do not appear.
typedef struct mf_Model {
    const char *name;
    const char *file; // path of the file, "" if built by calls
    uint32_t link_count, joint_count, point_count, shape_count, mesh_count, sensor_count,
        dock_count, note_count; // [1]
    const mf_Link *links;
    const mf_Joint *joints;
    const mf_Point *points;
    const mf_Shape *shapes;
    const mf_Mesh *meshes;
    const mf_Sensor *sensors;
    const mf_Dock *docks;
    const mf_Note *notes;
    double mass;        // [kg] of all links, > 0; 0: a URDF without masses, for `kinematic`
    double rest_height; // [m] base origin above flat ground with all joints at their start angle
    const double *start_angle; // [rad] or [m] joint_count: reference clamped into the joint's range
    mf_Context *context;
    // Full dynamics. Counts are 0 and pointers NULL for models built by calls without them.
    mf_BaseType base;
    const mf_Joint *root; // the joint of a free base: type MF_JOINT_FLOATING, addresses 0,
                          // armature, damping and friction; NULL: fixed base or none of these
    // A position vector contains the base (position and quaternion, 7 values, only if it is free)
    // and then each joint's values in order; a velocity vector likewise with 6 (velocity of the
    // origin in world axes, rate in body axes).
    uint32_t position_count, velocity_count, activation_count, sensor_value_count; // [1]
    uint32_t body_count, site_count, height_field_count, pair_count, exclusion_count, tendon_count,
        tendon_term_count, tendon_wrap_count, equality_count, actuator_count, keyframe_count,
        texture_count, material_count; // [1]
    const mf_Body *bodies;             // in depth-first order
    const mf_Site *sites;
    const mf_HeightField *height_fields;
    const mf_ContactPair *pairs;
    const mf_ContactExclusion *exclusions;
    const mf_Tendon *tendons;
    const mf_TendonTerm *tendon_terms;
    const mf_TendonWrap *tendon_wraps;
    const mf_Equality *equalities;
    const mf_Actuator *actuators;
    const mf_Keyframe *keyframes;
    const struct mf_Texture *textures;   // mayfly/texture.h
    const struct mf_Material *materials; // likewise
    uint32_t camera_count;               // [1]
    const struct mf_Camera *cameras;     // mayfly/camera.h
    const double *start_position; // [m], [rad], [1] position_count: the file's pose, not clamped
    mf_Physics physics;
} mf_Model;

MF_API void mf_model_destroy(mf_Model *model); // NULL is allowed

// Pose of every link for a position vector `q` (position_count values; quaternions need not have
// length 1): positions [m] of the link origins and rotations (w, x, y, z), both in the world frame.
// Arrays of link_count rows. Plain double code, for set-up, pictures and tests.
MF_API void mf_model_pose_at(const mf_Model *model, const double *q, double (*position)[3],
                             double (*rotation)[4]);

// The height [m] of the lowest colliding element, with the links at these world poses (arrays of
// link_count rows): of shapes, if `shapes` is set and there are some, else of points. +INFINITY if
// nothing collides.
MF_API double mf_model_lowest(const mf_Model *model, double (*position)[3], double (*rotation)[4],
                              bool shapes);

// Hash over everything that affects motion; files contain it to verify that a replay uses the same
// model. For models with bodies (MJCF) it covers all that full dynamics reads.
MF_API uint64_t mf_model_hash(const mf_Model *model);

// The model as text, as `mayfly info` prints it: the tree with joints, ranges, speeds, masses and
// points, the sensors, and every note with its line. UTF-8, a few lines per link. The caller
// releases *text with mf_release(model->context, ...).
MF_API mf_Status mf_model_describe(const mf_Model *model, char **text, mf_Error *error);

// ---- docks --------------------------------------------------------------------------------------

// The defaults of a dock: both genders, enabled, one orientation, tolerances of 5 mm and 0.1 rad,
// rigid, no pull, nothing breaks it.
MF_API mf_Dock mf_dock(void);

// ---- files -------------------------------------------------------------------------------------

// Whether the base of a URDF robot moves, or is fixed at the origin of its file. AUTO: fixed where
// the root link is `world` or has no mass (with what is fixed to it). MJCF files say it themselves.
typedef enum mf_ImportBase {
    MF_IMPORT_BASE_AUTO,
    MF_IMPORT_BASE_FREE,
    MF_IMPORT_BASE_FIXED
} mf_ImportBase;
typedef enum mf_ImportInertia { // where radii of gyration are beyond a URDF link's geometry
    MF_IMPORT_INERTIA_FILE,     // they stay
    MF_IMPORT_INERTIA_GEOMETRY  // uniform boxes around the geometry give the inertias
} mf_ImportInertia;
typedef struct mf_ImportConfig {
    uint32_t struct_size;        // [byte] set by mf_import_config()
    const char *const *packages; // "name=folder" pairs for package:// addresses, or NULL
    uint32_t package_count;      // [1]
    bool keep_fixed;             // keep fixed joints as separate links; default false
    bool visual;                 // load visual meshes too; default true
    uint32_t mesh_points;        // [1] contact points per collision mesh; default 8
    double density;              // [kg/m^3] for links without mass; 0 = massless; default 0
    mf_ImportBase base;          // default MF_IMPORT_BASE_AUTO
    mf_ImportInertia inertia;    // default MF_IMPORT_INERTIA_FILE; not for MJCF
    const char *root; // folder that what it names may not leave; NULL: its package or repository
    bool lenient; // MJCF: drop unsupported physical elements, with a note; default false: refuse
} mf_ImportConfig;
// The defaults of mf_ImportConfig: every configuration starts from them.
MF_API mf_ImportConfig mf_import_config(void);

// Loads a model by the file's content: URDF or MJCF. `config` may be NULL.
MF_API mf_Status mf_model_load(mf_Context *context, const char *path, const mf_ImportConfig *config,
                               mf_Model **out, mf_Error *error);

// Writes the model as one MJCF file that loads as a model with the same hash; meshes are referenced
// by their paths, or stand in it where those leave its root. Replaces `path` when all is written.
MF_API mf_Status mf_model_export_mjcf(const mf_Model *model, const char *path, mf_Error *error);
