// The working state of the URDF importer, filled by these passes in turn:
//
//   urdf_link.c    links, inertials, visuals, collisions, materials, meshes
//   urdf_joint.c   joints, mimic chains, the check that they form one tree
//   urdf_surface.c friction of links, as Gazebo and Bullet have it
//   urdf_servo.c   motors of joints
//   urdf_inertia.c impossible inertias
//   urdf_merge.c   merging of fixed links, conversion to the draft
//   urdf_mass.c    mass points of each merged link
//   urdf_mayfly.c  Mayfly's extensions of URDF: sensors (urdf_sensors.c), items on links
//   urdf_pair.c    pairs of links that touch though a joint connects them
//   urdf_sensor.c  contact and ray sensors
#pragma once

#include "model/mounted.h"
#include "import/xml.h"
#include "model/names.h"
#include "model/points.h"

#include <mayfly/sensor.h>

// One visual or collision element.
typedef struct mf_UrdfSolid {
    const mf_XmlNode *node;
    uint32_t next; // [1] next solid of the same link, or MF_NONE
    bool visual;   // else collision
    mf_ShapeType type;
    double position[3]; // [m] link frame
    double rotation[4]; // [1] solid to link
    double size[3];     // [m] as in mf_Shape
    float color[3];     // [1]
    uint32_t mesh;      // [1] of the draft
    uint32_t shape;     // [1] of the draft, after merging
    double friction;    // [1] sliding; NAN: none stated
} mf_UrdfSolid;

typedef struct mf_UrdfLink {
    const char *name;
    const mf_XmlNode *node;
    const mf_XmlNode *inertial; // NULL when there is none
    uint32_t first_solid;       // [1] or MF_NONE
    uint32_t last_solid;        // [1] or MF_NONE
    uint32_t joint;             // [1] the joint that moves it; MF_NONE for a root
    uint32_t first_child;       // [1] joint, or MF_NONE
    mf_MassProperties body;     // link frame
    uint32_t draft;             // [1] draft link that it is part of
    double position[3];         // [m] its frame in that draft link's frame
    double rotation[4];         // [1]
} mf_UrdfLink;

typedef struct mf_UrdfJoint {
    const mf_XmlNode *node;
    mf_Joint joint;      // parent, child and mimic: URDF indices
    uint32_t next_child; // [1] next joint with the same parent, or MF_NONE
    uint32_t draft;      // [1] draft joint, MF_NONE when merged
} mf_UrdfJoint;

// Ignored elements and attributes, reported once per kind.
typedef struct mf_UrdfIgnored {
    const mf_XmlNode *node; // the first
    const char *attribute;  // NULL: the element
    uint32_t count;
} mf_UrdfIgnored;

typedef struct mf_UrdfMaterial {
    float color[3]; // [1]
} mf_UrdfMaterial;

typedef struct mf_Urdf {
    mf_Context *context;
    const mf_ImportConfig *config;
    const char *file;        // for errors and to find meshes
    bool in_memory;          // no file: meshes cannot be found
    const char *mesh_folder; // from the mujoco extension, or NULL
    bool drop_visual;        // from the mujoco extension
    mf_Xml xml;
    mf_Draft draft;
    mf_List links;     // mf_UrdfLink
    mf_List joints;    // mf_UrdfJoint
    mf_List solids;    // mf_UrdfSolid
    mf_List materials; // mf_UrdfMaterial
    mf_List ignored;   // mf_UrdfIgnored
    mf_Names link_names, joint_names, material_names, mesh_names, sensor_names, ignored_names;
    uint32_t root;   // [1] link
    uint32_t *order; // [link] parents before children, from the xml's arena
    uint32_t order_count;
    mf_Error *error;
} mf_Urdf;

static inline mf_UrdfLink *mf_urdf_links(const mf_Urdf *urdf) {
    return urdf->links.items;
}
static inline mf_UrdfJoint *mf_urdf_joints(const mf_Urdf *urdf) {
    return urdf->joints.items;
}
static inline mf_UrdfSolid *mf_urdf_solids(const mf_Urdf *urdf) {
    return urdf->solids.items;
}

// Parses a whole URDF text. With `in_memory` no other file is read.
mf_Status mf_urdf_parse(mf_Context *context, const char *file, const char *data, size_t size,
                        const mf_ImportConfig *config, bool in_memory, mf_Model **out,
                        mf_Error *error);

static inline mf_Status mf_urdf_no_memory(const mf_Urdf *urdf) {
    return mf_draft_no_memory(&urdf->draft);
}

// Counts an ignored element.
mf_Status mf_urdf_ignore(mf_Urdf *urdf, const mf_XmlNode *node);

// Counts every child whose name is not in the NULL-terminated list.
mf_Status mf_urdf_ignore_others(mf_Urdf *urdf, const mf_XmlNode *node, const char *const *known);

// The link that a <gazebo> refers to, by its name or that of the joint that moves it. MF_NONE when
// there is neither.
uint32_t mf_urdf_reference(const mf_Urdf *urdf, const mf_XmlNode *gazebo);

// Position and rotation from the child <origin xyz rpy>; zero and identity when there is none.
mf_Status mf_urdf_origin(mf_Urdf *urdf, const mf_XmlNode *node, double position[3],
                         double rotation[4]);

// The passes, in order of execution.
mf_Status mf_urdf_read_materials(mf_Urdf *urdf);
mf_Status mf_urdf_read_links(mf_Urdf *urdf);
mf_Status mf_urdf_read_joints(mf_Urdf *urdf);
mf_Status mf_urdf_read_surfaces(mf_Urdf *urdf);
mf_Status mf_urdf_read_servos(mf_Urdf *urdf);
mf_Status mf_urdf_check_inertias(mf_Urdf *urdf);
mf_Status mf_urdf_merge(mf_Urdf *urdf);
// Gives draft links that are mass points an inertia if their joint moves nothing else; one body per
// draft link.
mf_Status mf_urdf_spread_points(mf_Urdf *urdf, mf_MassProperties *bodies);
mf_Status mf_urdf_place_mass(mf_Urdf *urdf);
mf_Status mf_urdf_read_mayfly(mf_Urdf *urdf);
mf_Status mf_urdf_read_sensors(mf_Urdf *urdf);

// Its attributes link, xyz [m] and rpy [rad], of which only the first is required.
mf_Status mf_urdf_read_frame(mf_Urdf *urdf, const mf_XmlNode *node, mf_Frame *out);
// A child of <mayfly>.
mf_Status mf_urdf_read_own_sensor(mf_Urdf *urdf, const mf_XmlNode *node);
mf_Status mf_urdf_read_pair(mf_Urdf *urdf, const mf_XmlNode *node);
#define MF_URDF_READ_MOUNTED(item, name, type)                                                     \
    mf_Status mf_urdf_read_##name(mf_Urdf *urdf, const mf_XmlNode *node);
MF_MOUNTED_KINDS(MF_URDF_READ_MOUNTED)
// The attribute `rate`, of at most nine decimals, exactly; without it *out is unchanged.
mf_Status mf_urdf_read_rate(mf_Urdf *urdf, const mf_XmlNode *node, mf_Rate *out);

// Adds a sensor; its name must be new.
mf_Status mf_urdf_add_sensor(mf_Urdf *urdf, const mf_XmlNode *node, const char *name,
                             mf_SensorType type, mf_Sensor **out);

// The mesh of a <mesh> element as a draft mesh, each file and scale loaded once; MF_NONE with a
// note if it is missing or in an unsupported format.
mf_Status mf_urdf_mesh(mf_Urdf *urdf, const mf_XmlNode *node, bool visual, uint32_t *out);
