// The data that the `articulated` kernels need about a model and the settings: a flat image,
// constant after the first step and shared by all threads. motion.h contains the rest of the
// motion.
//
// The plan has one link per joint axis: fixed joints are merged, a floating joint inside the tree
// is three slides without mass and a ball. Frames of hinges and slides are rotated so that z is the
// joint axis; the x axis of a link is perpendicular to its heaviest child's axis, too. The
// transform from a child's axes to its parent's is then
//     Rz(`spin`) Rx(`tilt`) Rz(joint angle + offset)
// with spin 0 for that child (Denavit and Hartenberg 1955; Craig's order), and most tilts of real
// robots are multiples of 90 degrees. Links are in depth-first order.
#pragma once

#include <mayfly/articulated.h>

#include "base/scratch.h"
#include "contact/collide.h"
#include "motion/dispatch.h"
#include "terrain/image.h"

// Residuals above which the compliant law raises a warning: forces of contacts that pull or are
// missing, relative to pressing forces or the weight; change of all impulses in the last sweep,
// relative to their size; gap of an equality constraint.
#define MF_ART_UNSETTLED 0.1 // [1]
#define MF_ART_UNSWEPT 0.1   // [1]
#define MF_ART_OPEN 1e-3     // [m] or [rad]

enum {
    // Solvers number three slots of each link and six of the base with 16 bits.
    MF_ARTICULATED_MAX_LINKS = (UINT16_MAX - 6) / 3,
    // Up to so many velocities, the solver of MuJoCo's law has memory for any pattern of its matrix
    // (problem_is_large).
    MF_ARTICULATED_DENSE_DOFS = 390,
    MF_ARTICULATED_MAX_ACTUATORS = 1024,
    // Equations that laws without softness solve as a full matrix.
    MF_ARTICULATED_MAX_LOOPS = 1024,
    MF_ARTICULATED_MAX_ZONES = 64, // bodies with force or torque sensors
    // Capacities of the solver of couplings, in contacts and in numbers of rows: for a robot, and
    // more for each floating body of its model, because such bodies pile up.
    MF_ARTICULATED_LINK_CONTACTS = 48,
    MF_ARTICULATED_FREE_CONTACTS = 16,
    MF_ARTICULATED_ROW_NUMBERS = 6144,
    MF_ARTICULATED_FREE_NUMBERS = 2304
};

// Rows of the constants, in both precisions: settings first, then the base, links and contacts.
enum {
    MF_ART_STEP,                            // [s] dt
    MF_ART_GRAVITY,                         // [m/s^2]
    MF_ART_ZENITH,                          // [1] 3 values: against gravity, world axes
    MF_ART_LIMIT_FORCE = MF_ART_ZENITH + 3, // [1/s^2] stiffness of joint limits over the inertia
    MF_ART_LIMIT_DRAG,                      // [1/s] damping of joint limits over the inertia
    MF_ART_LIMIT_BRAKE, // [1/s^2] that damping over the step, for joints within their range
    MF_ART_CREEP,       // [rad/s] or [m/s] rate below which dry friction of joints is viscous
    MF_ART_FORCE,       // [N/m] stiffness of a contact
    MF_ART_DRAG,        // [N s/m] damping of a contact
    MF_ART_SLIP,        // [m/s] speed below which contact friction is viscous
    MF_ART_DEEP,        // [m] depth up to which the force grows,
    MF_ART_DEEP_STATED, // [m] likewise for softness stated by the file
    MF_ART_ALL_MASS,    // [kg] of the model
    MF_ART_HIGHEST,     // [m] highest ground
    MF_ART_SETTINGS
};

// Of a link, in its plan frame. The base has the inertial rows and those of MF_ART_ROOT.
enum {
    MF_ART_MASS,               // [kg]
    MF_ART_MOMENT,             // [kg m] 3 values: mass times center
    MF_ART_INERTIA = 4,        // [kg m^2] about the origin: xx, yy, zz, xy, xz, yz
    MF_ART_ARMATURE = 10,      // [kg m^2] or [kg]
    MF_ART_COS_ANGLE = 11,     // [1]
    MF_ART_SIN_ANGLE = 12,     // [1]
    MF_ART_COS_TILT = 13,      // [1]
    MF_ART_SIN_TILT = 14,      // [1]
    MF_ART_OFFSET = 15,        // [rad] or [m] added to the joint's position
    MF_ART_COS_OFFSET = 16,    // [1] of a slide's constant rotation about z
    MF_ART_SIN_OFFSET = 17,    // [1]
    MF_ART_POSITION = 18,      // [m] 3 values: origin in the parent's frame
    MF_ART_DAMPING = 21,       // [N m s/rad] or [N s/m], that of the motor included
    MF_ART_STIFFNESS = 22,     // [N m/rad] or [N/m]
    MF_ART_RELAXED = 23,       // [rad] or [m] position without spring force
    MF_ART_FRICTION = 24,      // [N m] or [N]
    MF_ART_LOWER = 25,         // [rad] or [m]
    MF_ART_UPPER = 26,         // [rad] or [m]
    MF_ART_SERVO_GAIN = 27,    // [N m/rad] or [N/m]
    MF_ART_SERVO_DAMPING = 28, // [N m s/rad] or [N s/m]
    MF_ART_SERVO_SPEED = 29,   // [N m] largest gain times position error
    MF_ART_EFFORT = 30,        // [N m] or [N]
    MF_ART_BACKLASH = 31,      // [rad] or [m] half the play
    MF_ART_ROTATION = 32,      // [1] 9 values: ball: child's to parent's axes at rotation 0
    MF_ART_SUM_LOWER = 41,     // [N m] or [N] range of all actuators together
    MF_ART_SUM_UPPER = 42,     // [N m] or [N]
    MF_ART_LIFT = 43,          // [kg] whose weight is compensated
    MF_ART_LIFT_MOMENT = 44,   // [kg m] 3 values: times its center
    MF_ART_MOVED = 47,         // [kg m^2] or [kg] that scales the limit (start.c)
    MF_ART_LIMIT_PULL = 48,    // [1/s^2] of a soft limit: stiffness over impedance,
    MF_ART_LIMIT_BRAKING,      // [1/s] damping,
    MF_ART_LIMIT_MARGIN,       // [rad] or [m] it acts from this distance on,
    MF_ART_LIMIT_EASE,         // [kg m^2] or [kg] that the joint moves by itself,
    MF_ART_LIMIT_WIDTH,        // 4 values: its impedance (drive.h)
    MF_ART_AROUND = MF_ART_LIMIT_WIDTH + 4, // [m] radius of a ball about the origin that holds all
                                            // contacts with the ground and their margins
    MF_ART_SPEED,                           // [rad/s] or [m/s] largest one of the joint
    MF_ART_LINK_VALUES
};

// Of an actuator.
enum {
    MF_ART_GAIN,                  // 3 values: constant, per length, per rate of the length
    MF_ART_BIAS = 3,              // likewise
    MF_ART_CONTROL_LOWER = 6,     // [1]
    MF_ART_CONTROL_UPPER = 7,     // [1]
    MF_ART_FORCE_LOWER = 8,       // [N] or [N m]
    MF_ART_FORCE_UPPER = 9,       // [N] or [N m]
    MF_ART_ACTIVATION_LOWER = 10, // [1]
    MF_ART_ACTIVATION_UPPER = 11, // [1]
    MF_ART_ACTIVATION_STEP = 12,  // [s] or [1] factor of the control, or of its difference from
                                  // the activation, in a step
    MF_ART_WRENCH = 13,           // [1], [m] 6 values: force and torque of 1 N, link's axes
    MF_ART_INTEGRAL_GAIN = 19,    // [N/s] or [N m/s] per unit of length
    MF_ART_SLEW = 20,             // [1] most change of the control in a step; INFINITY: any
    MF_ART_ACTUATOR_VALUES = 21
};

// Per contact: position in its link's plan frame [m], radius [m] and, of a capsule, its axis [1].
// Then data of its kind (mf_TouchKind) and its parameters:
enum {
    MF_ART_TOUCH_AXIS = 4,   // [1] 3 values: of a capsule, else 0
    MF_ART_TOUCH_FRAME = 7,  // [1] 9 values: axes of the shape to the link's, row after row;
                             // of an oval the tensor of its squared radii [m^2] (6 values)
    MF_ART_TOUCH_SIZE = 16,  // [m] 3 values: half edges of the box that holds the shape
    MF_ART_TOUCH_FORCE = 19, // [N/m] stiffness
    MF_ART_TOUCH_DRAG,       // [N s/m] damping
    MF_ART_TOUCH_BRAKE,      // [N/m] of what is not yet in the ground
    MF_ART_TOUCH_MASS,       // [N s/m] mass that moves with it, over the step
    MF_ART_TOUCH_MARGIN,     // [m] it acts from this distance on
    MF_ART_TOUCH_SLIDING,    // [1] friction
    MF_ART_TOUCH_TORSION,    // [m] against torsion about the normal
    MF_ART_TOUCH_ROLLING,    // [m] against torsion across the normal
    MF_ART_CONTACT_VALUES
};

typedef enum mf_ArtKind { MF_ART_HINGE, MF_ART_SLIDE, MF_ART_BALL } mf_ArtKind;

typedef enum mf_ArtTilt {
    MF_ART_LEVEL, // 0 degrees
    MF_ART_UP,    // 90
    MF_ART_DOWN,  // -90
    MF_ART_OVER,  // 180
    MF_ART_ANY
} mf_ArtTilt;

enum { // forces on a joint
    MF_ART_HAS_DAMPING = 1,
    MF_ART_HAS_SPRING = 2,
    MF_ART_HAS_FRICTION = 4,
    MF_ART_HAS_LIMIT = 8,
    MF_ART_HAS_SERVO = 16,
    MF_ART_HAS_EFFORT = 32, // the servo's effort is limited
    MF_ART_HAS_SPEED = 64,  // the servo's speed is limited
    MF_ART_HAS_BACKLASH = 128,
    MF_ART_SOFT_LIMIT = 256, // the file states the softness of the limit
    MF_ART_HAS_BOUND = 512   // effort and speed bound external inputs
};

typedef struct mf_ArtLink {
    int32_t parent; // [1] plan link, -1 = base
    mf_ArtKind kind;
    mf_ArtTilt tilt;
    bool spun;         // spin is not 0
    bool inner;        // part of a floating joint: its values are in the fields free.*
    bool leaf;         // has no child
    bool last;         // the last child of its parent in the plan
    bool posed;        // its world pose is needed
    bool lifted;       // a part of its weight is compensated
    bool actuated;     // an actuator pulls on its joint
    bool thrust;       // an actuator pushes it
    uint32_t shift;    // [1] bits 1, 2, 4: x, y, z of PLACE are not 0
    uint32_t drive;    // [1] MF_ART_HAS_*
    uint32_t depth;    // [1] 0 for children of the base
    uint32_t joint;    // [1] joint of the model
    uint32_t row;      // [1] component of joint.angle or free.position, or number of the ball
    uint32_t position; // [1] its first value in a position vector
    uint32_t velocity; // [1] its first value in a velocity vector
    uint32_t dof;      // [1] its first one in the constraint solver (problem.h)
    uint32_t first_contact, contact_count; // [1]
    uint32_t first_fluid, fluid_count;     // [1]
} mf_ArtLink;

typedef struct mf_ArtTerm {
    uint32_t link; // [1] plan link, hinge or slide
    double weight; // [1] of its position in the actuator's length
} mf_ArtTerm;

enum { MF_ART_WORLD = -2 }; // instead of a plan link: the world

typedef enum mf_ArtActs {
    MF_ART_PULLS,       // on hinges and slides: terms
    MF_ART_TORQUES,     // a ball joint
    MF_ART_TENSES,      // a spatial tendon
    MF_ART_FORCES,      // a link at a site
    MF_ART_FORCES_FROM, // a link at a site, in the axes of another site, which gets the reaction
    MF_ART_ADHESION     // attracts everything that touches a body
} mf_ArtActs;

// A muscle's numbers, ready for the kernel (actuate.h).
typedef struct mf_ArtMuscle {
    double scale, offset;         // scaled length = scale * length + offset
    double rate;                  // scaled velocity = rate * velocity
    double force;                 // [N] or [N m] peak
    double lower, upper;          // [1]
    double passive, lengthening;  // [1]
    double rise, fall, smoothing; // [s], [s], [1]
} mf_ArtMuscle;

typedef struct mf_ArtActuator {
    mf_ArtActs acts;
    mf_ActuatorDynamics dynamics;
    bool early;
    bool muscle;                     // its force is that of `fibre`, not of gain and bias
    bool on_joint;                   // it drives a joint, not a tendon
    bool explicit_rate;              // MuJoCo's law never moves its force to the end of the step
    bool in_parent;                  // of a ball: the gear is in the parent's axes
    bool rated;                      // its force depends on length or rate
    uint32_t first_term, term_count; // [1]
    // Plan links (-1 = base, MF_ART_WORLD): that of the site or ball, of the reference, and the
    // last that carries both.
    int32_t links[2], common;
    double arms[2][3];      // [m] the sites in those links' frames
    double rotations[2][9]; // [1] the sites' axes to those links', row after row
    double gear[6];         // [1]
    double period;   // [1] length of a whole rotation, for position control of rotations; 0: none
    uint32_t path;   // [1] of a spatial tendon
    uint32_t tendon; // [1] of the model that it pulls; MF_NONE: none
    uint32_t body;   // [1] of the model, of one that adheres
    mf_ArtMuscle fibre;
} mf_ArtActuator;

// One element of the path of a spatial tendon (tendon_path.h).
typedef struct mf_ArtWrap {
    mf_WrapType type;
    uint32_t slot;      // [1] of its link in the path's list
    double arm[3];      // [m] its origin in that link's frame
    double rotation[9]; // [1] its axes to that link's, row after row
    double radius;      // [m]
    bool sided;         // a side point selects the arc
    int32_t side_link;  // [1] plan link, -1 = base, MF_ART_WORLD
    double side_arm[3]; // [m]
    double share;       // [1] of what follows in the length: 1 over the pulley's divisor
} mf_ArtWrap;

// The path of a spatial tendon: its elements and the links that they are on.
typedef struct mf_ArtPath {
    uint32_t first_wrap, wrap_count; // [1]
    uint32_t first_link, link_count; // [1] in path_links
} mf_ArtPath;

typedef struct mf_ArtContact {
    int32_t link;   // [1] plan link, -1 = base
    uint32_t shape; // [1] of the model, MF_NONE: a point
    mf_TouchKind kind;
    uint32_t part; // [1]
    uint32_t hull; // [1] of the set
    bool rotates;  // it has friction against torsion or rolling
    bool heavy;    // mass moves with it
} mf_ArtContact;

// Softness of a constraint of MuJoCo's law (law.c, problem_rows.h).
typedef struct mf_ArtLaw {
    double stiffness;        // [1/s^2] over the impedance
    double damping;          // [1/s]
    double friction_damping; // [1/s] of a contact's rows across the normal
    double impedance[5];     // [1] at distance 0, [1] largest, [1/m] or [1/rad] one over the width,
                             // [1] middle, [1] power
    double ease[6];     // [1/kg] or [1/(kg m^2)] compliance of each row; of contacts [1]: times
    double over[6];     // the weight of both bodies, [1] over this
    double margin;      // [m] a contact acts from this distance on
    double friction[5]; // [1] two sliding, [m] torsion, [m] two rolling
    double cone;        // [1] friction of the regularized elliptic cone
    uint32_t dimension; // [1] rows of a contact: 1, 3, 4 or 6
} mf_ArtLaw;

typedef struct mf_ArtJointLaw {
    mf_ArtLaw limit, dry;
    double margin; // [rad] or [m] the limit acts from this distance on
} mf_ArtJointLaw;

// An equality constraint. Frames hold for connect and weld, terms for joint and tendon. A mocap
// body of the file: its pose is an input. Its shapes have the frame link_count + 1 + its number,
// behind those of the plan links, and push like the world, without velocity.
typedef struct mf_ArtMocap {
    uint32_t body;      // [1] of the model
    double position[3]; // [m] in the file's pose; world frame, of a fixed base in the base's
    double rotation[4]; // [1]
} mf_ArtMocap;

typedef struct mf_ArtLoop {
    mf_EqualityType type;
    uint32_t rows;                    // [1]
    int32_t links[2];                 // [1] plan link, -1 = base, MF_ART_WORLD
    double arms[2][3];                // [m] origin of the frame in that link's frame
    double rotations[2][4];           // [1] the frame's axes to that link's
    uint32_t mocap[2];                // [1] mocap body of the side, or MF_NONE: the world
    uint32_t first_term[2], terms[2]; // [1]
    double references[2];             // [rad] or [m]
    double coefficients[5];           // [1] of the polynomial
    double torque_scale;              // [m] weld
    uint32_t equality;                // [1] of the model; MF_NONE: a joint that follows another
    mf_ArtLaw law;
} mf_ArtLoop;

// A tendon with a limit, spring, damping, friction or inertia.
typedef struct mf_ArtTendon {
    uint32_t tendon;                               // [1] of the model
    uint32_t first_term, term_count;               // [1]
    uint32_t path;                                 // [1] of a spatial tendon, else MF_NONE
    double lower, upper;                           // [m] or [rad] infinite: no limit
    double spring_lower, spring_upper;             // [m] or [rad]
    double stiffness, damping, friction, armature; // [N/m], [N s/m], [N], [kg] or angular
    double margin;                                 // [m] or [rad] the limit acts from here on
    mf_ArtLaw limit, dry;
    bool elastic; // has stiffness, damping or armature
} mf_ArtTendon;

// A tendon of the model, with or without a force of its own.
typedef struct mf_ArtSpan {
    uint32_t first_term, term_count; // [1]
    uint32_t path;                   // [1] of a spatial tendon, else MF_NONE
    bool looked;                     // an actuator or its own force evaluates the path
    bool felt;                       // a zone has an element of the path
} mf_ArtSpan;

// A shape in the medium: coefficients of aba_inertia.h, times the density if they depend on
// it.
typedef struct mf_ArtSolid {
    double mass[3];         // [kg] virtual, per axis
    double inertia[3];      // [kg m^2] likewise
    double blunt;           // [kg/m^3] drag of the projected area
    double slender;         // [kg/m] drag of the rest of the largest area
    double slender_part;    // [kg/m^3]
    double angular_drag[3]; // [kg m^2] angular drag per axis
    double kutta;           // [kg/m^3]
    double magnus;          // [kg]
    double sides[3];        // [m^4] product of the other two radii, squared
} mf_ArtSolid;

// Forces of the medium on one body of the file, which counts as the box with the body's inertia, or
// as its shapes.
typedef struct mf_ArtFluid {
    int32_t link;       // [1] plan link, -1 = base
    double position[3]; // [m] center of mass in that link's frame
    double rotation[9]; // [1] the box's axes to that link's, row after row
    double drag[3];     // [N s^2/m^2] per axis of the box, times the square of the speed along it
    double torque_drag[3]; // [N m s^2] likewise, of the rate about it
    double creep, whirl;   // [N s/m], [N m s] times speed and rate
    bool shaped;           // of a shape; uses position, rotation, creep, whirl and `solid`
    mf_ArtSolid solid;
} mf_ArtFluid;

// The plan link that contains a link of the model, and its pose there.
typedef struct mf_ArtFrame {
    int32_t link;       // [1] plan link, -1 = base
    double position[3]; // [m] its origin in that link's frame
    double rotation[4]; // [1] its axes to that link's
} mf_ArtFrame;

// The links whose external forces a sensor sums: those that a body carries.
typedef struct mf_ArtZone {
    int32_t link;       // [1] plan link of the body, -1 = base, MF_ART_WORLD
    double position[3]; // [m] origin of the body's model link in that link's frame; of the world
} mf_ArtZone;

// The site of a touch sensor, on one body: it sums the normal forces of the body's contacts whose
// line, outwards from the body, intersects its volume.
typedef struct mf_ArtTouchSite {
    int32_t link;        // [1] plan link, -1 = base, MF_ART_WORLD
    mf_ShapeType type;   // of the volume
    mf_CollideKind kind; // likewise
    double size[3];      // [m] of the volume, as rays take it
    double position[3];  // [m] in the link
    double rotation[9];  // [1] its axes to the link's, row after row
    uint32_t body, next; // [1] of the model; the body's next site + 1, 0: none
} mf_ArtTouchSite;

// The fields that a step uses, in the order of the pointers in mf_ArtBlock.
enum {
    MF_ART_ROW_POSITION,
    MF_ART_ROW_ORIENTATION,
    MF_ART_ROW_LINEAR,
    MF_ART_ROW_ANGULAR,
    MF_ART_ROW_ANGLE,
    MF_ART_ROW_RATE,
    MF_ART_ROW_TARGET,
    MF_ART_ROW_TORQUE,
    MF_ART_ROW_BASE_FORCE,  // base.force
    MF_ART_ROW_BASE_TORQUE, // base.torque
    MF_ART_ROW_BALL,        // absent rows are NULL
    MF_ART_ROW_BALL_RATE,
    MF_ART_ROW_BALL_TORQUE,
    MF_ART_ROW_FREE,
    MF_ART_ROW_FREE_SPEED,
    MF_ART_ROW_MOCAP_POSITION,
    MF_ART_ROW_MOCAP_ROTATION,
    MF_ART_ROW_LOAD,
    MF_ART_ROW_SLIP,
    MF_ART_ROW_CONTROL,
    MF_ART_ROW_ACTIVATION,
    MF_ART_ROW_SLEWED,
    MF_ART_ROW_ACTUATOR_FORCE,
    MF_ART_ROW_TENDON_LENGTH, // these two only with tendons
    MF_ART_ROW_TENDON_FORCE,
    MF_ART_ROW_WARM_CONTACT,
    MF_ART_ROW_WARM_FLOATING,
    MF_ART_ROW_BEFORE,
    MF_ART_ROW_WARM, // these three only with MuJoCo's law
    MF_ART_ROW_RESIDUAL,
    MF_ART_ROW_ITERATIONS,
    MF_ART_ROW_SERVO_GAIN, // these four only with servo_inputs
    MF_ART_ROW_SERVO_DAMPING,
    MF_ART_ROW_SERVO_RATE,
    MF_ART_ROW_SERVO_TORQUE,
    MF_ART_ROW_EXTERNAL, // these six only on request
    MF_ART_ROW_LIMIT,
    MF_ART_ROW_TENDON_LIMIT,
    MF_ART_ROW_TOUCH,
    MF_ART_ROW_STAGE,
    MF_ART_ROW_SENSING,
    MF_ART_ROWS
};

// Arrays of a plan.
#define MF_ART_ARRAYS(X, of)                                                                       \
    X(mf_ArtLink, links, (of)->link_count)                                                         \
    X(mf_ArtFrame, frames, (of)->frame_count) /* of the model's links */                           \
    /* [1] per joint of the model: plan link, MF_NONE = fixed; a floating joint's ball */          \
    X(uint32_t, joint_links, (of)->joint_count)                                                    \
    X(mf_ArtContact, contacts, (of)->contact_count) /* of the base first, then by plan link */     \
    X(mf_ArtActuator, actuators, (of)->actuator_count)                                             \
    X(mf_ArtTerm, terms, (of)->term_count)                                                         \
    X(mf_ArtFluid, fluids, (of)->fluid_count) /* by plan link, those of the base first */          \
    X(mf_ArtMocap, mocaps, (of)->mocap_count)                                                      \
    X(mf_ArtSpan, spans, (of)->span_count) /* per tendon of the model */                           \
    X(mf_ArtPath, paths, (of)->path_count) /* per tendon of the model, where one is spatial */     \
    X(mf_ArtWrap, wraps, (of)->wrap_count) /* of all paths */                                      \
    X(int32_t, path_links, (of)->path_link_count) /* plan link, -1 = base, MF_ART_WORLD */         \
    X(bool, looped, (of)->link_count)             /* a loop needs its pose */                      \
    X(bool, pair_allowed, (of)->pair_count)       /* per listed pair of `collide` */               \
    /* [1] entries of the rows of half the mass matrix, and their columns, rising */               \
    X(uint32_t, tree_start, (of)->dof_count + 1)                                                   \
    X(uint16_t, tree_column, (of)->tree_entries)                                                   \
    X(uint16_t, tree_end, (of)->dof_count) /* [1] behind the last dof that each one carries */     \
    X(mf_ArtZone, zones, (of)->zone_count)                                                         \
    /* bit z: zone z sums its forces; of plan link l at l + 1, of contacts with the ground, of */  \
    /* shapes of `collide` */                                                                      \
    X(uint64_t, link_zones, (of)->link_count + 1)                                                  \
    X(uint64_t, contact_zones, (of)->contact_count)                                                \
    X(uint64_t, shape_zones, (of)->shape_count)                                                    \
    X(uint64_t, loop_zones, 2 * (of)->loop_count) /* of both sides of a loop */                    \
    X(uint64_t, wrap_zones, (of)->wrap_count)     /* of the elements of paths */                   \
    X(mf_ArtTouchSite, touch_sites, (of)->touch_count)                                             \
    /* [1] first touch site of the body + 1, 0: none; as the zones */                              \
    X(uint32_t, contact_site, (of)->contact_count)                                                 \
    X(uint32_t, shape_site, (of)->shape_count)                                                     \
    /* [1] model's body, per contact with the ground and shape of `collide`; where one adheres */  \
    X(uint32_t, contact_body, (of)->contact_count)                                                 \
    X(uint32_t, shape_body, (of)->shape_count)                                                     \
    /* These have lanes where robots differ (vary.c), the first one at the beginning: */           \
    X(mf_ArtLoop, loops, (of)->loop_count)                                                         \
    X(mf_ArtTendon, tendons, (of)->tendon_count)                                                   \
    X(mf_ArtLaw, laws, (of)->class_count) /* per class, with MuJoCo's law, as the next four */     \
    X(double, shape_weights, (of)->shape_count) /* [1/kg] of the bodies of shapes of `collide` */  \
    X(mf_ArtLaw, ground_laws, (of)->contact_count)      /* per contact with the ground */          \
    X(mf_ArtJointLaw, joint_laws, (of)->link_count + 1) /* the last one is the base's */           \
    X(double, constants_f64, (of)->value_count)                                                    \
    X(float, constants_f32, (of)->value_count)

// A flat image (base/flat.h).
typedef struct mf_ArtPlan {
    uint32_t bytes; // [byte] of the image
    mf_ArticulatedIntegrator integrator;
    bool level;   // the ground has one height everywhere
    bool stepped; // a map of nearest cells
    bool upright; // gravity acts along -z
    bool fixed;   // the base does not move
    uint32_t link_count, ball_count, free_count, contact_count; // [1]
    uint32_t joint_count;                                       // [1] of the model
    uint32_t frame_count;                                       // [1] links of the model
    uint32_t mocap_count;                                       // [1] mocap bodies
    uint32_t base_contacts;                                     // [1] the first ones are the base's
    uint32_t actuator_count, term_count;                        // [1]
    bool has_activation;                                        // an actuator has dynamics
    bool has_slew;                                              // one limits its control's change
    bool posed;                                                 // an actuator needs poses
    bool adhesion;                 // one attracts everything that touches its body
    bool base_thrust, base_lifted; // as in mf_ArtLink
    bool any_lifted;
    uint32_t fluid_count, base_fluids; // [1]
    double wind[3];                    // [m/s] of the medium, world axes
    bool limited;                      // a joint has a limit
    bool hard;                         // contacts without softness
    bool law;                          // all constraints follow MuJoCo's law (problem.h)
    bool elliptic;                     // friction cones of that law
    uint32_t noslip_iterations;        // [1] sweeps of the pass against slip (problem_noslip.h)
    double noslip_least;   // [1] it ends when one gains less, times mean inertia times dofs
    uint32_t solver_steps; // [1] of Newton's method at most, for MuJoCo's law
    double solver_gain;    // smallest gain worth another iteration, in units of the cost
    bool resists;          // some of these act at the end of the step, after constraints:
    bool parted;           // damping of joints,
    bool fast;             // rate dependence of actuators,
    bool coriolis;         // and Coriolis forces (problem_capacity.h)
    uint32_t dof_count;    // [1] velocities, in the order of the links
    uint32_t tree_entries; // [1] of half the mass matrix
    bool nested;           // the dofs that one carries follow it
    // [1] Rows of MuJoCo's law for all contacts with the ground together, numbers of their
    // Jacobians.
    uint32_t ground_rows, ground_numbers;
    bool loose; // free base; only gravity, pushes and the ground act from outside
    uint32_t position_count, velocity_count; // [1]
    uint32_t link_offset, contact_offset,
        actuator_offset; // [1] of the constants; the base is at MF_ART_SETTINGS
    double mass;         // [kg]
    uint32_t dry_rows;   // [1] joint axes with dry friction at the end of the step
                         // (aba_velocity.h)
    bool coupled;        // loops, tendons or contacts between links exist
    uint32_t loop_count, loop_rows, tendon_count;     // [1]
    uint32_t span_count;                              // [1] tendons of the model
    uint32_t path_count, wrap_count, path_link_count; // [1]
    uint32_t path_most;                               // [1] links of the longest path
    uint32_t pair_count, class_count, shape_count;    // [1] of `collide`
    uint32_t contact_capacity; // [1] contacts between links of a lane that are solved
    uint32_t contact_numbers;  // [1] capacity for their rows
    uint32_t row_numbers;      // [1] of all rows at most
    uint32_t coupling_numbers; // [1] of rows that are no contacts
    uint32_t clutter;          // [1] shapes that move and may touch, or floating bodies
    uint32_t row_of_two,
        row_of_all;        // [1] numbers of a row that two links pull, and all, at most
    uint32_t sweeps;       // [1] of the solver of couplings, and
    uint32_t rounds;       // [1] most solutions of its free rows behind them
    double reach;          // [m] largest distance at which links act on each other
    bool warm_starts;      // contacts between links begin with the forces of the last step
    uint32_t zone_count;   // [1] at most MF_ARTICULATED_MAX_ZONES
    uint32_t touch_count;  // [1] touch sites
    uint32_t ground_site;  // [1] first one of the body that the ground is a part of, + 1
    uint64_t ground_zones; // bits of the zones that the ground is a part of
    bool keeps_limits;     // forces of limits are stored
    bool keeps_stage;      // the state of the last stage is stored
    uint32_t wrench_links; // [1] of the model
    uint32_t value_count;  // [1] of the constants
    // Of a robot whose numbers differ from the model's, in its view of the plan (vary.c):
    int64_t lanes;      // [byte] from here to row 0 of its robot; rows are MF_BLOCK values apart
    uint32_t varied;    // [byte] from here to the double of row 0
    int64_t shapes_own; // [byte] from here to the values of its shapes, rows like the others
    MF_ART_ARRAYS(MF_FLAT_MEMBER, )
    MF_FLAT_ARRAY(collide); // an image in this one; none: links do not collide
    MF_FLAT_ARRAY(hulls);   // likewise, of meshes that touch; none: none is requested
} mf_ArtPlan;

#define MF_ART_READER(Type, name, count) MF_FLAT_INDEXED(mf_ArtPlan, mf_art, Type, name)
MF_ART_ARRAYS(MF_ART_READER, )
MF_FLAT_READER(mf_ArtPlan, mf_art, mf_CollidePlan, collide)
MF_FLAT_READER(mf_ArtPlan, mf_art, mf_HullSet, hulls)

typedef size_t (*mf_ArtScratchFn)(const mf_ArtPlan *plan);
struct mf_ArtBlock;
typedef void (*mf_ArtStepFn)(const struct mf_ArtBlock *block);
struct mf_ArtQuery;
typedef void (*mf_ArtQueryFn)(const struct mf_ArtQuery *query);

struct mf_Sparse;
struct mf_ArtProblem;
typedef void (*mf_SparseFn)(struct mf_Sparse *sparse);

struct mf_ArtSensing;

// Slots of warm_start.floating: in a dense pile a body presses on a few others, and each of these
// pairs is stored once.
static inline uint32_t warm_start_slots(const mf_ArtPlan *plan) {
    const mf_CollidePlan *collide = mf_art_collide(plan);
    return plan->warm_starts && collide != NULL ? 8 * collide->floating_count : 0;
}

// Which way the normal of a pair of floating shapes goes for what measures it, by the sides that
// they match (sensing.h): 1 as found, -1 turned, 0: it is not measured.
static inline int8_t mf_art_sides_match(uint32_t first, uint32_t second) {
    return (first & 1) != 0 && (second & 2) != 0   ? 1
           : (first & 2) != 0 && (second & 1) != 0 ? -1
                                                   : 0;
}

// Arguments of a kernel: images, and pointers to lane 0 of the lanes to step; values of one lane
// are MF_BLOCK apart.
typedef struct mf_ArtBlock {
    const mf_ArtPlan *plan;
    const struct mf_ArtSensing *sensing; // what sensors measure (sensing.h); NULL: nothing
    const mf_TerrainImage *terrain;
    void *rows[MF_ART_ROWS];
    const mf_Row *row; // of the same fields: remainders of sums
    uint32_t *fault;
    mf_WarningRows warnings;
    const void *wrench;                    // wrench.link; NULL: no forces on the block
    const uint32_t *wrench_count;          // wrench.count
    mf_SparseFn sparse;                    // the solver of large plans (constraint/sparse.h)
    struct mf_ArtProblem *const *problems; // per lane where its problem goes, or NULL, instead of
                                           // being solved; NULL: all are solved
    void *scratch;                         // working memory of the kernel, aligned to 64 bytes
} mf_ArtBlock;

typedef enum mf_ArtTask {
    MF_ART_TASK_POSE,    // out: 12 values for the base, then per plan link: rotation to
                         // world (9, row after row), position in the world (3)
    MF_ART_TASK_FORWARD, // in: forces, out: accelerations
    MF_ART_TASK_OVERLAP  // out: per listed pair of `collide` its largest depth [m], 0 without
                         // contact; then per floating shape its largest depth in those behind it,
                         // and which one that is
} mf_ArtTask;

// A query about the tree, without joint forces and contacts. The stride between values of one lane
// is the number of lanes of the kernel.
typedef struct mf_ArtQuery {
    const mf_ArtPlan *plan;
    mf_ArtTask task;
    const void *position; // the base's position and quaternion, also where it is fixed (7 rows),
                          // then the joints' values
    const void *velocity; // velocity_count rows
    const void *in;
    void *out;
    void *scratch; // mf_articulated_query_scratch_size bytes, aligned to 64
} mf_ArtQuery;
