// The sensors of an MJCF file: what the host code hands to the kernel.
#ifndef MF_SENSE_INSTRUMENTS_H
#define MF_SENSE_INSTRUMENTS_H

#include <mayfly/instruments.h>
#include "base/flat.h"
#include "contact/ray_solid.h"
#include "math/kernel.h"
#include "multibody/tree.h"
#include "terrain/image.h"

#include <mayfly/world.h>

enum { MF_INSTRUMENT_LINKS = 512, MF_INSTRUMENT_VELOCITIES = 1024 };

// A frame that moves with link `body` - 1, or stands in the world (0).
typedef struct mf_InstrumentFrame {
    uint32_t body;      // [1]
    double position[3]; // [m] body's axes
    double rotation[4]; // [1] to the body's axes
} mf_InstrumentFrame;

typedef struct mf_InstrumentLump { // a body's mass
    uint32_t body;                 // [1] link + 1
    double mass;                   // [kg]
    double center[3];              // [m]
    double inertia[6];             // [kg m^2] about the center, link's axes
} mf_InstrumentLump;

typedef struct mf_InstrumentTerm { // of a sum over joints or actuators
    uint32_t row;                  // [1] component of joint.angle or actuator.force
    double weight;                 // [1]
} mf_InstrumentTerm;

// A site actuator's push, as a joint's force.
typedef struct mf_InstrumentForce {
    uint32_t row;                   // [1] component of actuator.force
    mf_InstrumentFrame frame, axes; // where it pushes and in whose axes
    double wrench[6];               // [1], [m] force and torque of 1 N
} mf_InstrumentForce;

typedef enum mf_InstrumentDrive { // what an actuator's length is
    MF_INSTRUMENT_SUM,            // of joint positions: terms
    MF_INSTRUMENT_ROTATION,       // a ball joint's rotation along the gear
    MF_INSTRUMENT_SITE,           // 0
    MF_INSTRUMENT_BETWEEN         // from `reference` to `frame`, along the gear in reference's axes
} mf_InstrumentDrive;

typedef struct mf_InstrumentSpring { // energy 1/2 k x^2
    mf_JointType type;
    uint32_t row;                // [1] component of joint.angle
    uint32_t ball;               // [1] number among ball and floating joints
    uint32_t free;               // [1] number among floating joints
    double stiffness, relaxed;   // [N/m], [m] and the like
    double rotation[4], rest[3]; // [1], [m] of ball and floating joints
} mf_InstrumentSpring;

typedef struct mf_InstrumentTendon {
    uint32_t first, count;             // [1] terms
    double stiffness, shorter, longer; // [N/m], [m], [m]
    double armature;                   // [kg]
} mf_InstrumentTendon;

typedef struct mf_InstrumentMesh {                         // where the image has it
    uint32_t first_vertex, first_triangle, triangle_count; // [1]
} mf_InstrumentMesh;

// mf_RaySolid without its mesh.
typedef struct mf_InstrumentSolid {
    mf_ShapeType type;
    double size[3]; // [m] as in mf_RaySolid
} mf_InstrumentSolid;
mf_InstrumentSolid mf_instrument_solid(mf_ShapeType type, const double size[3]);

typedef struct mf_InstrumentShape { // what a ray hits
    mf_InstrumentSolid solid;       // the mesh of one is elsewhere,
    uint32_t mesh;                  // [1] this one instead
    mf_InstrumentFrame frame;
} mf_InstrumentShape;

typedef struct mf_InstrumentContact { // a row of contact.load or point.load
    uint32_t row, body;               // [1]
    bool of_points;                   // of point.load
    double position[3];               // [m] link's frame
} mf_InstrumentContact;

typedef struct mf_Instrument {
    mf_SensorType type;
    bool dead;           // reads 0
    uint32_t sensor;     // [1] of the model
    uint32_t address;    // [1] of its first value among all
    uint32_t count;      // [1] of values
    uint32_t clock, out; // [1] when, and the component where its values go (mf_SignalTarget)
    bool treated;        // to the true values that readings are made of, else to the readings
    double reach;        // [m] of a ray; 0: any
    bool copied;         // values of a field, which the host copies
    uint32_t component;  // [1] first one there
    mf_InstrumentFrame frame, reference;
    bool has_reference;
    mf_JointType joint_type;
    uint32_t row, ball, body;    // [1] of the joint: rows as above, the child's link + 1
    uint32_t velocity;           // [1]
    double lower, upper, margin; // [1] limits
    double force_lower, force_upper;
    mf_InstrumentDrive drive;
    bool in_parent;  // of a rotation: the gear is in the parent's axes
    uint32_t shared; // [1] the last link that carries both frames, + 1
    double gear[6];
    bool has_external;     // forces from outside, or what it touches, are known,
    uint32_t external;     // [1] by this number
    uint32_t first, items; // [1] terms, lumps, contacts or shapes
    uint32_t first_force, force_count;
    double axis[3];            // [1] of the joint, child's frame
    mf_InstrumentSolid volume; // of a touch sensor's site
} mf_Instrument;

// The plan: a flat image.
typedef struct mf_InstrumentImage {
    uint32_t bytes;                                                                // [byte]
    uint32_t link_count, instrument_count, spring_count, tendon_count, mesh_count; // [1]
    uint32_t joint_count, ball_count, free_count, actuator_count;                  // [1] components
    uint32_t value_count, velocity_count, load_components, point_components;       // [1]
    uint32_t raw_count;                        // [1] components of sensor.raw
    uint32_t external_count, tendons_of_model; // [1] elements of sensor.outer, tendon.limit_force
    uint32_t touch_count;                      // [1] elements of sensor.touch
    uint32_t first_lump, lump_count;           // [1] of the whole robot
    bool level, fixed;                         // the ground has one height; the base does not move
    bool accelerates;                          // some sensor needs accelerations
    double gravity[3];                         // [m/s^2]
    double magnetic[3];
    MF_FLAT_ARRAY(tree);        // mf_Tree, one
    MF_FLAT_ARRAY(links);       // uint32_t: links behind the base that are needed, parents first
    MF_FLAT_ARRAY(instruments); // mf_Instrument
    MF_FLAT_ARRAY(lumps);       // mf_InstrumentLump
    MF_FLAT_ARRAY(terms);       // mf_InstrumentTerm
    MF_FLAT_ARRAY(forces);      // mf_InstrumentForce
    MF_FLAT_ARRAY(springs);     // mf_InstrumentSpring
    MF_FLAT_ARRAY(tendons);     // mf_InstrumentTendon
    MF_FLAT_ARRAY(shapes);      // mf_InstrumentShape
    MF_FLAT_ARRAY(contacts);    // mf_InstrumentContact
    MF_FLAT_ARRAY(armature);    // double [kg m^2] per velocity value: base's and joints' rotors
    MF_FLAT_ARRAY(meshes);      // mf_InstrumentMesh
    MF_FLAT_ARRAY(vertices);    // float [m], 3 each
    MF_FLAT_ARRAY(triangles);   // uint32_t, 3 each
} mf_InstrumentImage;
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_Tree, tree)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, uint32_t, links)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_Instrument, instruments)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentLump, lumps)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentTerm, terms)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentForce, forces)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentSpring, springs)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentTendon, tendons)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentShape, shapes)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentContact, contacts)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, double, armature)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, mf_InstrumentMesh, meshes)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, float, vertices)
MF_FLAT_READER(mf_InstrumentImage, mf_instrument, uint32_t, triangles)

// All blocks of a group: the plan and the pointers of a call. Data pointers are in field layout and
// the group's precision.
typedef struct mf_InstrumentBatch {
    const mf_InstrumentImage *image;
    const mf_TerrainImage *terrain;
    const void *position, *orientation, *linear, *angular, *angle, *rate, *ball, *ball_rate, *free,
        *free_rate, *load, *point_load, *force, *external, *joint_limit, *tendon_limit,
        *touch; // fields; NULL when absent
    const int32_t *fault;
    const int32_t *motion;    // motion.level; NULL: the group has one motion
    void *before;             // [m/s], [rad/s] velocity vector at the beginning of the step
    const void *acceleration; // likewise; instead of `before`; of one block
    void *values, *raw;       // sensor.value, sensor.raw
    void *detached;           // one block of all values, by address, that go there instead
} mf_InstrumentBatch;

typedef struct mf_InstrumentRun {
    uint32_t first, count; // [1] blocks
    uint32_t only;         // [1] lane of the only robot requested, UINT32_MAX: all
    double inverse_step;   // [1/s] 0: accelerations are 0
    double time;           // [s]
    uint64_t due;          // bit c: sensors of clock c are measured
    void *scratch;         // mf_instrument_scratch_size bytes, aligned to 64
} mf_InstrumentRun;

typedef void (*mf_InstrumentFn)(const mf_InstrumentBatch *batch, const mf_InstrumentRun *run);
MF_KERNEL_COPIES(void, mf_instrument_run,
                 (const mf_InstrumentBatch *batch, const mf_InstrumentRun *run));
// [byte] of scratch that a run needs.
MF_KERNEL_COPIES(size_t, mf_instrument_scratch_size, (const mf_InstrumentBatch *batch));
// Copies velocities to `before`.
MF_KERNEL_COPIES(void, mf_instrument_keep,
                 (const mf_InstrumentBatch *batch, const mf_InstrumentRun *run));

// Readings in the present state of one instance with these accelerations (velocity_count values as
// in the model; NULL: none), without noise: sensor_value_count values. The group must have
// instruments.
mf_Status mf_instruments_measure(mf_Group *group, uint32_t instance, const double *acceleration,
                                 double *values, mf_Error *error);

#endif
