// Mayfly: what a robot is. A frozen tree of links, joints, mass points, shapes and sensors, loaded
// from a file or built by the construction API, and shared by all threads.
#ifndef MAYFLY_MODEL_H
#define MAYFLY_MODEL_H

#include <mayfly/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_NONE UINT32_MAX // no link, joint, sensor of that kind

typedef enum mf_JointType {
    MF_JOINT_HINGE,    // one angle about `axis`
    MF_JOINT_SLIDE,    // one translation along `axis`
    MF_JOINT_BALL,     // kept in the model; motions that cannot move it hold it fixed
    MF_JOINT_PLANAR,   // as above
    MF_JOINT_FLOATING, // as above
    MF_JOINT_FIXED     // only when fixed links are not merged
} mf_JointType;

// A rigid part. Its frame is that of the joint that moves it (URDF convention); link 0 is the base.
typedef struct mf_Link {
    const char *name;
    uint32_t parent;   // [1] index of the parent link, always smaller; MF_NONE for link 0
    uint32_t joint;    // [1] index of the joint that moves it; MF_NONE for link 0
    double mass;       // [kg] >= 0
    double center[3];  // [m] centre of mass, link frame
    double inertia[6]; // [kg m^2] xx, yy, zz, xy, xz, yz about the centre, link axes
} mf_Link;

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
} mf_Joint;

enum {
    MF_POINT_COLLIDES = 1, // meets the ground
    MF_POINT_HAS_MASS = 2  // carries part of the link's mass
};

// A mass point, a contact point, or both. The points with mass of a link have exactly the link's
// mass, centre and inertia.
typedef struct mf_Point {
    uint32_t link;      // [1]
    uint32_t flags;     // [1] MF_POINT_COLLIDES | MF_POINT_HAS_MASS
    double position[3]; // [m] link frame
    double mass;        // [kg] 0 without MF_POINT_HAS_MASS
    float color[3];     // [1] red, green, blue in 0 .. 1
} mf_Point;

typedef enum mf_ShapeType {
    MF_SHAPE_POINT,
    MF_SHAPE_BOX,
    MF_SHAPE_CYLINDER, // along z
    MF_SHAPE_SPHERE,
    MF_SHAPE_CAPSULE, // along z, length without the caps
    MF_SHAPE_MESH
} mf_ShapeType;

// A solid for viewing (and, later, for other robots to touch).
typedef struct mf_Shape {
    mf_ShapeType type;
    uint32_t link;      // [1]
    bool visual;        // from a visual element
    bool collides;      // from a collision element
    double position[3]; // [m] link frame
    double rotation[4]; // [1] shape to link, (w, x, y, z)
    double size[3];     // [m] box: full edges; cylinder, capsule: radius, length; sphere: radius
    float color[3];     // [1] red, green, blue in 0 .. 1
    uint32_t mesh;      // [1] index into meshes, MF_NONE otherwise
} mf_Shape;

// A triangle mesh in its shape's frame, scale applied.
typedef struct mf_Mesh {
    const char *path;          // resolved path
    uint32_t vertex_count;     // [1]
    uint32_t triangle_count;   // [1]
    const float *vertices;     // [m] vertex_count * 3
    const uint32_t *triangles; // [1] triangle_count * 3 vertex indices
} mf_Mesh;

typedef enum mf_SensorType {
    MF_SENSOR_CONTACT, // 1 while any colliding point of `link` bears load, else 0
    MF_SENSOR_RAY,     // [m] distance along the ray to the ground, at most its length
    MF_SENSOR_JOINT,   // [rad] angle of `joint`
    MF_SENSOR_ATTITUDE // [rad] roll, pitch, yaw of the base (three values)
} mf_SensorType;

typedef struct mf_Sensor {
    const char *name;
    mf_SensorType type;
    uint32_t link;       // [1] for contact and ray
    uint32_t joint;      // [1] for joint angle
    double start[3];     // [m] ray start, link frame
    double direction[3]; // [1] ray direction, unit, link frame
    double range;        // [m] ray length, > 0
} mf_Sensor;

// Something an importer dropped, changed or found suspicious.
typedef struct mf_Note {
    bool suspicious;  // false: dropped or changed as documented
    int32_t line;     // [1] 1-based line in the model's file, 0 when unknown
    const char *text; // one sentence without newline
} mf_Note;

// All arrays belong to the model. Links and joints are in topological order; joints that the file
// fixed have been merged (unless asked otherwise) and do not appear.
typedef struct mf_Model {
    const char *name;
    const char *file; // path it came from, "" when built by hand
    uint32_t link_count, joint_count, point_count, shape_count, mesh_count, sensor_count,
        note_count; // [1]
    const mf_Link *links;
    const mf_Joint *joints;
    const mf_Point *points;
    const mf_Shape *shapes;
    const mf_Mesh *meshes;
    const mf_Sensor *sensors;
    const mf_Note *notes;
    double mass;        // [kg] of all links, > 0
    double rest_height; // [m] base origin above flat ground with all joints at their start angle
    const double *start_angle; // [rad] or [m] joint_count: 0 clamped into the joint's range
    mf_Context *context;
} mf_Model;

MF_API void mf_model_destroy(mf_Model *model); // NULL is fine

// Index of the link, joint or sensor of that name, or MF_NONE.
MF_API uint32_t mf_model_find_link(const mf_Model *model, const char *name);
MF_API uint32_t mf_model_find_joint(const mf_Model *model, const char *name);
MF_API uint32_t mf_model_find_sensor(const mf_Model *model, const char *name);

// Pose of every link for joint angles `angle` [rad or m] (joint_count values): positions [m] of the
// link origins and rotations (w, x, y, z), both in the base frame. Arrays of link_count rows,
// either may be NULL. Plain double code, for set-up, pictures and tests.
MF_API void mf_model_pose(const mf_Model *model, const double *angle, double (*position)[3],
                          double (*rotation)[4]);

// Hash over everything that changes motion; files carry it to prove that a replay uses the same
// model.
MF_API uint64_t mf_model_hash(const mf_Model *model);

// The model as text for people, as `mayfly info` prints it: the tree with joints, ranges, speeds,
// masses and points, the sensors, and every note with its line. UTF-8, a few lines per link. The
// caller releases *text with mf_release(model->context, ...).
MF_API mf_Status mf_model_describe(const mf_Model *model, char **text, mf_Error *error);

// ---- construction API (Fischer and Ihme 2024, appendix) ----------------------------------------

// A robot under construction. Body ids count from 0 in order of creation. A call that fails records
// the first error, returns MF_NO_BODY or MF_NO_JOINT, and makes mf_builder_finalize fail with it.
typedef struct mf_Builder mf_Builder;
typedef int32_t mf_BodyId;
typedef int32_t mf_JointId;
#define MF_NO_BODY ((mf_BodyId)-1)
#define MF_NO_JOINT ((mf_JointId)-1)

typedef struct mf_HingeConfig {
    uint32_t struct_size; // [byte] set by mf_hinge_config()
    const char *name;     // NULL = "joint<N>"
    double lower;         // [rad] default -pi/2
    double upper;         // [rad] default +pi/2
    double speed;         // [rad/s] default 5.0
} mf_HingeConfig;
MF_API mf_HingeConfig mf_hinge_config(void);

MF_API mf_Status mf_builder_create(mf_Context *context, const char *name, mf_Builder **out,
                                   mf_Error *error);
MF_API void mf_builder_destroy(mf_Builder *builder); // NULL is fine

// Positions [m] are in the construction frame; mass [kg] >= 0 (a point needs > 0); colour is red,
// green, blue in 0 .. 1 or NULL for grey.
MF_API mf_BodyId mf_body_create_point(mf_Builder *builder, const double position[3], double mass,
                                      const float color[3]);
MF_API mf_BodyId mf_body_create_cylinder(mf_Builder *builder, const double from[3],
                                         const double to[3], double radius, double mass,
                                         const float color[3]);
// `size` is width (x), depth (y), height (z).
MF_API mf_BodyId mf_body_create_box(mf_Builder *builder, const double size[3],
                                    const double center[3], double mass, const float color[3]);
MF_API mf_BodyId mf_body_create_sphere(mf_Builder *builder, const double center[3], double radius,
                                       double mass, const float color[3]);
// A distance sensor from `from` to `to`; it has no mass and does not collide.
MF_API mf_BodyId mf_body_create_ray(mf_Builder *builder, const double from[3], const double to[3],
                                    const float color[3]);
// Detail of bodies created from now on: 0 none, 1 cylinders and spheres become boxes, 2 two points,
// >= 3 one point.
MF_API void mf_builder_simplify(mf_Builder *builder, int mode);
// Glues two bodies into one link.
MF_API void mf_body_connect(mf_Builder *builder, mf_BodyId first, mf_BodyId second);
// A hinge between the links of two bodies; anchor [m] and axis are given in the frame of body
// `first`: the construction frame at that body's creation, moved and rotated with it. `config` may
// be NULL.
MF_API mf_JointId mf_joint_create_hinge(mf_Builder *builder, mf_BodyId first, mf_BodyId second,
                                        const double anchor[3], const double axis[3],
                                        const mf_HingeConfig *config);
MF_API mf_BodyId mf_body_count(const mf_Builder *builder);
MF_API void mf_body_move(mf_Builder *builder, mf_BodyId body, const double translation[3]); // [m]
// Roll, pitch, yaw [rad] about the construction axes x, then y, then z through the body's centre;
// right-handed.
MF_API void mf_body_rotate(mf_Builder *builder, mf_BodyId body, const double angles[3]);
// Adds a contact sensor to the link of `body` (the paper's foot sensors).
MF_API void mf_body_sense_contact(mf_Builder *builder, mf_BodyId body, const char *name);
// Freezes the robot. The link of body 0 is the base. The builder can then only be destroyed.
MF_API mf_Status mf_builder_finalize(mf_Builder *builder, mf_Model **out, mf_Error *error);

// ---- files -------------------------------------------------------------------------------------

typedef struct mf_ImportConfig {
    uint32_t struct_size;        // [byte] set by mf_import_config()
    const char *const *packages; // "name=folder" pairs for package:// addresses, or NULL
    uint32_t package_count;      // [1]
    bool keep_fixed;             // keep fixed joints as links of their own; default false
    bool visual;                 // load visual meshes too; default true
    uint32_t mesh_points;        // [1] contact points kept per collision mesh; default 8
    double density;              // [kg/m^3] for links without inertial; 0 = massless; default 0
} mf_ImportConfig;
MF_API mf_ImportConfig mf_import_config(void);

// Loads a model by the file's content: URDF so far. `config` may be NULL.
MF_API mf_Status mf_model_load(mf_Context *context, const char *path, const mf_ImportConfig *config,
                               mf_Model **out, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
