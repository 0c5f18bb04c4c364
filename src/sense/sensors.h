// The sensors of a model: what the host code hands to the kernel.
#pragma once

#include <mayfly/sensor.h>
#include "base/flat.h"
#include "contact/ray_solid.h"
#include "math/kernel.h"
#include "multibody/tree.h"
#include "terrain/image.h"

#include <mayfly/world.h>

// A frame that moves with link `body` - 1, or stands in the world (0).
typedef struct mf_SenseFrame {
    uint32_t body;      // [1]
    double position[3]; // [m] body's axes
    double rotation[4]; // [1] to the body's axes
} mf_SenseFrame;

typedef struct mf_SenseLump { // a body's mass
    uint32_t body;            // [1] link + 1
    double mass;              // [kg]
    double center[3];         // [m]
    double inertia[6];        // [kg m^2] about the center, link's axes
} mf_SenseLump;

typedef struct mf_SenseTerm { // of a sum over joints or actuators
    uint32_t row;             // [1] component of joint.angle or actuator.force
    double weight;            // [1]
} mf_SenseTerm;

// A site actuator's push, as a joint's force.
typedef struct mf_SenseForce {
    uint32_t row;              // [1] component of actuator.force
    mf_SenseFrame frame, axes; // where it pushes and in whose axes
    double wrench[6];          // [1], [m] force and torque of 1 N
} mf_SenseForce;

typedef enum mf_SenseDrive { // what an actuator's length is
    MF_SENSE_SUM,            // of joint positions: terms
    MF_SENSE_ROTATION,       // a ball joint's rotation along the gear
    MF_SENSE_SITE,           // 0
    MF_SENSE_BETWEEN         // from `reference` to `frame`, along the gear in reference's axes
} mf_SenseDrive;

typedef struct mf_SenseSpring { // energy 1/2 k x^2
    mf_JointType type;
    uint32_t row;                // [1] component of joint.angle
    uint32_t ball;               // [1] number among ball and floating joints
    uint32_t free;               // [1] number among floating joints
    double stiffness, relaxed;   // [N/m], [m] and the like
    double rotation[4], rest[3]; // [1], [m] of ball and floating joints
} mf_SenseSpring;

typedef struct mf_SenseTendon {
    uint32_t first, count;             // [1] terms
    double stiffness, shorter, longer; // [N/m], [m], [m]
    double armature;                   // [kg]
} mf_SenseTendon;

typedef struct mf_SenseMesh {                              // where the image has it
    uint32_t first_vertex, first_triangle, triangle_count; // [1]
} mf_SenseMesh;

// mf_RaySolid without its mesh.
typedef struct mf_SenseSolid {
    mf_ShapeType type;
    mf_CollideKind kind;
    double size[3]; // [m] as in mf_RaySolid
} mf_SenseSolid;
mf_SenseSolid mf_sense_solid(mf_ShapeType type, const double size[3]);

typedef struct mf_SenseShape { // what a ray hits
    mf_SenseSolid solid;       // the mesh of one is elsewhere,
    uint32_t mesh;             // [1] this one instead
    mf_SenseFrame frame;
} mf_SenseShape;

typedef struct mf_SenseContact { // a row of contact.load or point.load
    uint32_t row, body;          // [1]
    bool of_points;              // of point.load
    double position[3];          // [m] link's frame
} mf_SenseContact;

typedef struct mf_SenseItem {
    mf_SensorType type;
    bool dead;           // reads 0
    bool plain;          // attitude: of the base's quaternion as it is in the state
    uint32_t sensor;     // [1] of the model, or behind its last one: of the posture
    uint32_t address;    // [1] of its first value among all
    uint32_t count;      // [1] of values
    uint32_t clock, out; // [1] when, and the component where its values go (mf_SignalTarget)
    bool treated;        // to the true values that readings are made of, else to the readings
    uint32_t joints;     // [1] of MF_SENSOR_JOINT: so many, from this one on, are copied at once
    double reach;        // [m] of a ray; 0: any
    bool copied;         // values of a field, which the host copies
    uint32_t component;  // [1] first one there
    mf_SenseFrame frame, reference;
    bool has_reference;
    mf_JointType joint_type;
    uint32_t row, ball, body;    // [1] of the joint: rows as above, the child's link + 1
    uint32_t velocity;           // [1]
    double lower, upper, margin; // [1] limits
    double force_lower, force_upper;
    mf_SenseDrive drive;
    bool in_parent;  // of a rotation: the gear is in the parent's axes
    uint32_t shared; // [1] the last link that carries both frames, + 1
    double gear[6];
    bool has_external;     // forces from outside, or what it touches, are known,
    uint32_t external;     // [1] by this number
    uint32_t first, items; // [1] terms, lumps, contacts or shapes
    uint32_t first_force, force_count;
    double axis[3];       // [1] of the joint, child's frame
    mf_SenseSolid volume; // of a touch sensor's site
} mf_SenseItem;

// The plan: a flat image.
typedef struct mf_SenseImage {
    uint32_t bytes;                                                          // [byte]
    uint32_t link_count, item_count, spring_count, tendon_count, mesh_count; // [1]
    uint32_t joint_count, ball_count, free_count, actuator_count;            // [1] components
    uint32_t value_count, velocity_count, load_components, point_components; // [1]
    uint32_t raw_count;                        // [1] components of sensor.raw
    uint32_t external_count, tendons_of_model; // [1] elements of sensor.outer, tendon.limit_force
    uint32_t touch_count;                      // [1] elements of sensor.touch
    uint32_t first_lump, lump_count;           // [1] of the whole robot
    bool level, fixed;                         // the ground has one height; the base does not move
    bool accelerates;                          // some sensor needs accelerations
    bool moves;                                // some sensor needs poses
    double gravity[3];                         // [m/s^2]
    double magnetic[3];
    MF_FLAT_ARRAY(tree);      // mf_Tree, one
    MF_FLAT_ARRAY(links);     // uint32_t: links behind the base that are needed, parents first
    MF_FLAT_ARRAY(items);     // mf_SenseItem
    MF_FLAT_ARRAY(lumps);     // mf_SenseLump
    MF_FLAT_ARRAY(terms);     // mf_SenseTerm
    MF_FLAT_ARRAY(forces);    // mf_SenseForce
    MF_FLAT_ARRAY(springs);   // mf_SenseSpring
    MF_FLAT_ARRAY(tendons);   // mf_SenseTendon
    MF_FLAT_ARRAY(shapes);    // mf_SenseShape
    MF_FLAT_ARRAY(contacts);  // mf_SenseContact
    MF_FLAT_ARRAY(armature);  // double [kg m^2] per velocity value: base's and joints' rotors
    MF_FLAT_ARRAY(meshes);    // mf_SenseMesh
    MF_FLAT_ARRAY(vertices);  // float [m], 3 each
    MF_FLAT_ARRAY(triangles); // uint32_t, 3 each
} mf_SenseImage;
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_Tree, tree)
MF_FLAT_INDEXED(mf_SenseImage, mf_sense, uint32_t, links)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseItem, items)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseLump, lumps)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseTerm, terms)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseForce, forces)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseSpring, springs)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseTendon, tendons)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseShape, shapes)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseContact, contacts)
MF_FLAT_READER(mf_SenseImage, mf_sense, double, armature)
MF_FLAT_READER(mf_SenseImage, mf_sense, mf_SenseMesh, meshes)
MF_FLAT_READER(mf_SenseImage, mf_sense, float, vertices)
MF_FLAT_READER(mf_SenseImage, mf_sense, uint32_t, triangles)

// All blocks of a group: the plan and the pointers of a call. Data pointers are in field layout and
// the group's precision.
typedef struct mf_SenseBatch {
    const mf_SenseImage *image;
    const mf_TerrainImage *terrain;
    const void *position, *orientation, *linear, *angular, *angle, *rate, *ball, *ball_rate, *free,
        *free_rate, *load, *point_load, *force, *external, *joint_limit, *tendon_limit,
        *touch;            // fields; NULL when absent
    const double *numbers; // as in mf_TreeState, of the first block
    size_t number_count;   // [1] rows of a block
    const int32_t *fault;
    const int32_t *motion;    // motion.level; NULL: the group has one motion
    void *before;             // [m/s], [rad/s] velocity vector at the beginning of the step
    const void *acceleration; // likewise; instead of `before`; of one block
    void *values, *raw;       // sensor.value, sensor.raw
    void *detached;           // one block of all values, by address, that go there instead
} mf_SenseBatch;

typedef struct mf_SenseRun {
    uint32_t first, count; // [1] blocks
    uint32_t only;         // [1] lane of the only robot requested, UINT32_MAX: all
    double inverse_step;   // [1/s] 0: accelerations are 0
    double time;           // [s]
    uint64_t due;          // bit c: sensors of clock c are measured
    void *scratch;         // mf_sense_scratch_size bytes, aligned to 64
} mf_SenseRun;

typedef void (*mf_SenseFn)(const mf_SenseBatch *batch, const mf_SenseRun *run);
MF_KERNEL_COPIES(void, mf_sense_run, (const mf_SenseBatch *batch, const mf_SenseRun *run));
// [byte] of scratch that a run needs.
MF_KERNEL_COPIES(size_t, mf_sense_scratch_size, (const mf_SenseBatch *batch));
// Copies velocities to `before`.
MF_KERNEL_COPIES(void, mf_sense_keep, (const mf_SenseBatch *batch, const mf_SenseRun *run));

// [1] values of all sensors of a model, with those of the posture or without.
uint32_t mf_sense_values(const mf_Model *model, bool posture);

// Calls `visit` for the contacts of a link with the ground, of all motions of the group.
typedef void (*mf_SenseContactFn)(const mf_SenseContact *contact, void *user);
void mf_sense_visit_contacts(mf_Group *group, uint32_t link, mf_SenseContactFn visit, void *user);

// Readings in the present state of one instance with these accelerations (velocity_count values as
// in the model; NULL: none), without noise: as many values as sensor.value has. The group must have
// sensors.
mf_Status mf_sensors_measure(mf_Group *group, uint32_t instance, const double *acceleration,
                             double *values, mf_Error *error);
