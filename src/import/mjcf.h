// The working state of the MJCF importer, filled by these passes in turn:
//
//   mjcf_include.c   the file with its includes, as one tree
//   mjcf_attach.c    attached models, likewise
//   mjcf_replicate.c repeated elements
//   mjcf_option.c    compiler, option and ignored sections
//   mjcf_class.c     default classes
//   mjcf_asset.c     meshes and height fields (mjcf_mesh.c and mjcf_heights.c read them when used)
//   mjcf_body.c      bodies, frames, joints, geoms, sites
//   mjcf_geom.c      sizes and poses of geoms, their mass
//   mjcf_inertia.c   mass of bodies
//   mjcf_link.c      bodies and joints into links, everything into the draft
//   mjcf_contact.c   pairs and exclusions
//   mjcf_tendon.c    tendons, fixed and spatial (mjcf_path.c: the length of a path)
//   mjcf_equality.c  connect, weld, joint, tendon
//   mjcf_actuator.c  actuators (mjcf_pid.c: those of the plugin mujoco.pid)
//   mjcf_sensor.c    sensors (mjcf_query.c: of contacts)
//   mjcf_keyframe.c  stored states
//   mjcf_resolve.c   values that depend on the whole robot's inertia (dampratio, springdamper)
//
// The format: https://mujoco.readthedocs.io/en/stable/XMLreference.html. Elements are read as in
// MuJoCo: a copy of their default class's values, overwritten by their own attributes. Quaternions
// are normalized only if necessary, so that a file written from a model gives the same bits again.
#pragma once

#include "model/mounted.h"
#include "import/xml.h"
#include "model/names.h"
#include "model/points.h"
#include "model/shape_kinds.h"

#define MF_MJCF_INCLUDES 32u // [1] most included files
#define MF_MJCF_DENSITY 1000.0

// ---- attributes --------------------------------------------------------------------------------

typedef enum mf_MjcfKind {
    MF_MJCF_NUMBERS,     // doubles
    MF_MJCF_INTEGER,     // int32_t
    MF_MJCF_FLAG,        // bool: true or false
    MF_MJCF_CHOICE,      // int32_t: index into `names`
    MF_MJCF_TEXT,        // const char *
    MF_MJCF_ORIENTATION, // mf_MjcfOrientation, from the attribute that is given
    MF_MJCF_ELSEWHERE,   // read by other means
    MF_MJCF_PASSED,      // no meaning for the simulation: ignored silently
    MF_MJCF_NOTED,       // has no effect here: noted
    MF_MJCF_REFUSED,     // physical and not supported: an error when it is not zero
    MF_MJCF_PLAIN        // all attributes of a structure in the table of model fields
} mf_MjcfKind;

typedef struct mf_MjcfField {
    const char *name; // without a member: names, with blanks between them
    mf_MjcfKind kind;
    uint8_t least; // [1] least count of numbers; for MF_MJCF_PLAIN the mf_ItemType
    uint8_t most;  // [1] largest count of numbers
    size_t offset; // [byte] in the item
    const char *const *names;
} mf_MjcfField;

// Orientation as in the file.
typedef enum mf_MjcfOrientationKind {
    MF_MJCF_QUAT,
    MF_MJCF_AXISANGLE,
    MF_MJCF_XYAXES,
    MF_MJCF_ZAXIS,
    MF_MJCF_EULER
} mf_MjcfOrientationKind;

typedef struct mf_MjcfOrientation {
    mf_MjcfOrientationKind kind;
    double value[6]; // unit of the file
} mf_MjcfOrientation;

extern const char *const mf_mjcf_tristate[]; // false, true, auto
enum { MF_MJCF_FALSE, MF_MJCF_TRUE, MF_MJCF_AUTO };

// ---- items -------------------------------------------------------------------------------------
// In the file's units and conventions (half sizes, degrees) until conversion to the draft. Optional
// numbers start as NaN.

// How all of them begin.
typedef struct mf_MjcfHead {
    const mf_XmlNode *node;
    const char *name; // NULL: none
} mf_MjcfHead;

enum { MF_MJCF_FREE, MF_MJCF_BALL, MF_MJCF_SLIDE, MF_MJCF_HINGE }; // joint types

typedef struct mf_MjcfJoint {
    const mf_XmlNode *node;
    const char *name;
    int32_t type;
    int32_t limited;
    int32_t force_limited;
    double position[3], springdamper[2], range[2], force_range[2];
    double stiffness[3], damping[3];
    double reference, spring_reference;
    mf_Joint plain;
    uint32_t body;
    uint32_t draft; // [1] joint, or MF_NONE for the joint of a free base
} mf_MjcfJoint;

typedef struct mf_MjcfGeom {
    const mf_XmlNode *node;
    const char *name;
    const char *mesh, *hfield, *material;
    int32_t type; // mf_ShapeType, or behind
    bool shell;
    double size[3], fromto[6], position[3], color[4];
    double mass, density, fit_scale;
    int32_t fluid; // 1: by its shape
    mf_MjcfOrientation orientation;
    mf_Shape plain;
    uint32_t body;
    bool framed; // it is inside frame elements
    double frame_position[3], frame_rotation[4];
    // Set by mf_mjcf_place_geoms:
    double rotation[4]; // [1] geom to body
    uint32_t asset;     // [1] mesh or height field of the importer, MF_NONE
    double weight;      // [kg]
    double center[3];   // [m] body frame
    double axes[4];     // [1] principal axes to body
    double moments[3];  // [kg m^2]
    uint32_t shape;     // [1] of the draft, MF_NONE when dropped
    bool listed;        // a <pair> names it: it collides regardless of its bits
    bool listed_world;  // with a geom of the world
} mf_MjcfGeom;

// Zeros: not given.
typedef struct mf_MjcfOptics {
    const mf_XmlNode *node;
    const char *name, *mode, *projection, *orthographic, *output;
    double position[3];
    mf_MjcfOrientation orientation;
    double fovy[1];                          // [degree]
    double resolution[2];                    // [pixel]
    double focal[2], focal_pixel[2];         // in the unit of `sensor`; [pixel]
    double principal[2], principal_pixel[2]; // likewise
    double sensor[2];
} mf_MjcfOptics;

typedef struct mf_MjcfSite {
    const mf_XmlNode *node;
    const char *name;
    int32_t type;
    double size[3], fromto[6], position[3];
    mf_MjcfOrientation orientation;
    mf_Site plain;
    uint32_t body;
    double rotation[4];          // [1] site to body
    bool camera;                 // a pose for sensors and, if fixed, a camera of the model
    const mf_MjcfOptics *optics; // of a camera
    uint32_t draft;              // [1] site, MF_NONE for a camera
} mf_MjcfSite;

typedef struct mf_MjcfBody {
    const mf_XmlNode *node;
    const char *name;
    uint32_t parent;                 // [1] MF_NONE for the world
    double position[3], rotation[4]; // in the parent
    double given[3];                 // [m] position in the file
    mf_Body plain;
    bool moves; // it or an ancestor has a joint
    const mf_XmlNode *inertial;
    uint32_t first_joint, joint_count;
    uint32_t first_geom, geom_count;
    double mass, center[3], moments[3], axes[4];
    uint32_t link;                             // [1] MF_NONE: the world
    double link_position[3], link_rotation[4]; // in the link
} mf_MjcfBody;

enum { MF_MJCF_MASS_LEGACY, MF_MJCF_MASS_EXACT, MF_MJCF_MASS_CONVEX, MF_MJCF_MASS_SHELL };

typedef struct mf_MjcfMesh {
    const mf_XmlNode *node;
    const char *name, *file, *vertices, *faces;
    mf_Mesh plain;
    int32_t hull_limit; // -1: none
    int32_t mass_kind;
    bool loaded, has_hull, has_mass;
    uint32_t draft;
    double *exact;     // [m] vertices before they are rounded to float
    double volume;     // [m^3] or, of a shell, [m^2]
    double center[3];  // [m]
    double axes[4];    // [1] principal axes to mesh
    double moments[3]; // [m^5] or [m^4] for density 1
} mf_MjcfMesh;

typedef struct mf_MjcfHeights {
    const mf_XmlNode *node;
    const char *name, *file, *elevation;
    int32_t rows, columns;
    double size[4];
    uint32_t draft; // [1] MF_NONE until it is used
} mf_MjcfHeights;

typedef struct mf_MjcfTendon {
    const mf_XmlNode *node;
    const char *name;
    int32_t limited, force_limited;
    double range[2], force_range[2], springlength[2];
    double stiffness[3], damping[3];
    mf_Tendon plain;
} mf_MjcfTendon;

typedef struct mf_MjcfEquality {
    const mf_XmlNode *node;
    const char *name;
    mf_Equality plain;
} mf_MjcfEquality;

typedef struct mf_MjcfPair {
    const mf_XmlNode *node;
    const char *name, *geoms[2];
    mf_ContactPair plain;
} mf_MjcfPair;

enum { MF_MJCF_GAIN_FIXED, MF_MJCF_GAIN_AFFINE, MF_MJCF_GAIN_MUSCLE };
enum { MF_MJCF_BIAS_NONE, MF_MJCF_BIAS_AFFINE, MF_MJCF_BIAS_MUSCLE };

// The force law of an actuator.
typedef struct mf_MjcfLaw {
    int32_t dynamics, gain_kind, bias_kind;
    double dynamics_values[10], gain[10], bias[10];
} mf_MjcfLaw;

enum {
    MF_MJCF_GENERAL,
    MF_MJCF_ACTUATOR_KINDS = 10
}; // of elements, in the order of mjcf_actuator.c

typedef struct mf_MjcfActuator {
    const mf_XmlNode *node;
    const char *name, *joint, *joint_in_parent, *tendon, *site, *reference_site, *body;
    int32_t control_limited, force_limited, activation_limited;
    double control_range[2], force_range[2], activation_range[2], damping[3];
    mf_Actuator plain;
    mf_MjcfLaw law;
    uint32_t kind; // of the element that `law` comes from
    double inherit_range;
    double kp, kv, damping_ratio, time_constant; // NaN: not given
    double area, diameter, cylinder_bias[3], piston_time;
    double adhesion; // NaN: not given
    double length_range[2];
    double muscle_range[2], muscle_times[2], muscle_smoothing, muscle[7]; // NaN: not given
    bool plugin, known;                   // an actuator of a plugin, and of a supported one
    double integral_gain, integral_limit; // of mujoco.pid: ki, and its largest force
    double slew_limit;                    // [1/s] of its control; 0: none
} mf_MjcfActuator;

typedef struct mf_MjcfTexture {
    const mf_XmlNode *node;
    const char *name, *file, *layout;
    double grid[2]; // rows and columns
    bool left_out;
    mf_Texture plain;
    uint32_t draft; // [1] texture, MF_NONE: not used so far
} mf_MjcfTexture;

typedef struct mf_MjcfMaterial {
    const mf_XmlNode *node;
    const char *name, *texture;
    mf_Material plain;
    uint32_t draft; // [1] material, MF_NONE: not used so far
} mf_MjcfMaterial;

typedef struct mf_MjcfClass {
    const char *name;
    mf_MjcfJoint joint;
    mf_MjcfGeom geom;
    mf_MjcfSite site;
    mf_MjcfMesh mesh;
    mf_MjcfPair pair;
    mf_MjcfEquality equality;
    mf_MjcfTendon tendon;
    mf_MjcfActuator actuator;
    mf_MjcfOptics camera;
    mf_MjcfMaterial material;
    mf_MjcfLaw laws[MF_MJCF_ACTUATOR_KINDS]; // of enclosing classes, by kind of the element
} mf_MjcfClass;

// Elements that are ignored or dropped, reported once per kind.
typedef struct mf_MjcfIgnored {
    const mf_XmlNode *node; // the first
    const char *what;       // "<light>" or "<geom> fluidshape"
    uint32_t count;
    bool physical;
} mf_MjcfIgnored;

// Settings of the <compiler> element of one model.
typedef struct mf_MjcfSettings {
    bool radians, autolimits;
    const char *eulerseq, *mesh_folder, *texture_folder;
    const char *file; // the model's main file
} mf_MjcfSettings;

// A file of an attached model.
typedef struct mf_MjcfScope {
    const char *file; // name in its nodes
    const mf_MjcfSettings *settings;
} mf_MjcfScope;

// The lists of the importer. Included files are in the order of reading; scopes are of attached
// models; body 0 is the world; an actuator of the file has its index in the draft, MF_NONE when
// dropped.
// clang-format off
#define MF_MJCF_LISTS(X) \
    X(included, mf_Xml *) X(scopes, mf_MjcfScope) X(classes, mf_MjcfClass *) \
    X(bodies, mf_MjcfBody) X(joints, mf_MjcfJoint) X(geoms, mf_MjcfGeom) X(sites, mf_MjcfSite) \
    X(meshes, mf_MjcfMesh) X(heights, mf_MjcfHeights) X(materials, mf_MjcfMaterial) \
    X(textures, mf_MjcfTexture) X(ignored, mf_MjcfIgnored) X(actuators, uint32_t)
#define MF_MJCF_NAME_TABLES(X) \
    X(included_names) X(class_names) X(body_names) X(joint_names) X(geom_names) X(site_names) \
    X(camera_names) X(mesh_names) X(height_names) X(tendon_names) X(actuator_names) \
    X(sensor_names) X(equality_names) X(key_names) X(pair_names) X(material_names) \
    X(texture_names) X(ignored_names) X(dropped_names)
// clang-format on

typedef struct mf_Mjcf {
    mf_Context *context;
    const mf_ImportConfig *config;
    const char *file;
    bool in_memory; // no other file is read
    mf_Xml xml;     // the main file
    mf_Draft draft;
    mf_Arena arena;
    mf_Error *error;
    // compiler
    mf_MjcfSettings settings; // of the main model
    uint32_t copied;          // [1] elements of attached models
    uint32_t attached;        // [1] models so far, each prefix counted separately
    bool balance_inertia, discard_visual, fit_box;
    int32_t inertia_from_geom; // tristate
    int32_t inertia_groups[2];
    double bound_mass, bound_inertia, total_mass;
#define MF_MJCF_LIST(list, type) mf_List list;
#define MF_MJCF_NAME_TABLE(table) mf_Names table;
    MF_MJCF_LISTS(MF_MJCF_LIST)
    MF_MJCF_NAME_TABLES(MF_MJCF_NAME_TABLE)
} mf_Mjcf;

// The items of each list: mf_mjcf_bodies(m), ...
#define MF_MJCF_ITEMS(list, type)                                                                  \
    static inline type *mf_mjcf_##list(const mf_Mjcf *m) {                                         \
        return m->list.items;                                                                      \
    }
MF_MJCF_LISTS(MF_MJCF_ITEMS)

// Draft index of a body of the importer; the world has none.
static inline uint32_t mf_mjcf_draft_body(uint32_t body) {
    return body == 0 || body == MF_NONE ? MF_NONE : body - 1;
}

// ---- shared by the passes (mjcf_read.c) --------------------------------------------------------

// Parses a whole MJCF text. With `in_memory` no other file is read.
mf_Status mf_mjcf_parse(mf_Context *context, const char *file, const char *data, size_t size,
                        const mf_ImportConfig *config, bool in_memory, mf_Model **out,
                        mf_Error *error);

// Contacts have dimension 1, 3, 4 or 6.
static inline bool mf_mjcf_is_dimension(uint32_t dimension) {
    return dimension == 1 || dimension == 3 || dimension == 4 || dimension == 6;
}

static inline mf_Status mf_mjcf_no_memory(const mf_Mjcf *m) {
    return mf_draft_no_memory(&m->draft);
}
mf_Status mf_mjcf_fail(const mf_Mjcf *m, const mf_XmlNode *node, const char *format, ...)
    MF_PRINTF(3, 4);

// The settings of the model that an element comes from.
const mf_MjcfSettings *mf_mjcf_settings(const mf_Mjcf *m, const mf_XmlNode *node);

// Records an ignored element without effect on motion; reported once per kind.
mf_Status mf_mjcf_pass(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute);

// Reports an unsupported physical effect: an error or, if lenient, a note.
mf_Status mf_mjcf_refuse(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute);

// Reads the attributes of `node` into `item` by the table (its end has the name NULL). Attributes
// that are not in the table are errors.
mf_Status mf_mjcf_read(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *fields, void *item);
// Likewise, but the node may have other attributes.
mf_Status mf_mjcf_read_some(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *fields,
                            void *item);

// Errors for children of `node` that are not in the NULL-terminated list.
mf_Status mf_mjcf_only(mf_Mjcf *m, const mf_XmlNode *node, const char *const *known);

mf_Status mf_mjcf_rotation(const mf_Mjcf *m, const mf_XmlNode *node,
                           const mf_MjcfOrientation *orientation, double rotation[4]);

// The pose of a shape from `from` to `to`, its z axis along both, and its sizes but the first.
mf_Status mf_mjcf_between_ends(const mf_Mjcf *m, const mf_XmlNode *node, const double fromto[6],
                               int32_t type, double position[3], double rotation[4],
                               double size[3]);

// Normalizes; quaternions of length 1 up to rounding stay bit-identical. False for a zero
// quaternion.
bool mf_mjcf_unit(double rotation[4]);
// A frame inside another one: out = outer * inner; `out` may be `inner`.
void mf_mjcf_compose(double position[3], double rotation[4], const double parent_position[3],
                     const double parent_rotation[4], const double inner_position[3],
                     const double inner_rotation[4]);

// All numbers of an attribute's text, in the importer's arena.
mf_Status mf_mjcf_list(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute, double **out,
                       uint32_t *count);

// Whether a range is active, by the tristate and autolimits. A reversed range is an error if it
// must be active, else it has no effect, with a note.
mf_Status mf_mjcf_limited(mf_Mjcf *m, const mf_XmlNode *node, const char *what, int32_t limited,
                          const double range[2], bool *out);

// Stores a name (may be NULL) for number `index`; duplicate names are errors.
mf_Status mf_mjcf_name(mf_Mjcf *m, const mf_XmlNode *node, mf_Names *names, const char *name,
                       uint32_t index);

// The object that an attribute names. MF_OK with `*out` MF_NONE: the object was dropped, so the
// element must be dropped, too; a note has been added.
mf_Status mf_mjcf_find(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute, const char *name,
                       const mf_Names *names, const char *kind, uint32_t *out);
// The site that an attribute names, and its frame; `*out` is NULL when it was dropped.
mf_Status mf_mjcf_find_site(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute,
                            const char *name, const mf_MjcfSite **out, mf_Frame *frame);
// Records that an object of this name was dropped.
mf_Status mf_mjcf_dropped(mf_Mjcf *m, const char *kind, const char *name);

// The class that the attribute "class" or "childclass" names, else `inherited`; NULL: main.
mf_Status mf_mjcf_class(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute,
                        const mf_MjcfClass *inherited, const mf_MjcfClass **out);

// Adds an item of the importer, which begins with mf_MjcfHead, to a list, and its name.
mf_Status mf_mjcf_list_item(mf_Mjcf *m, mf_List *list, size_t size, const void *item,
                            mf_Names *names);
// Adds a copy of an item to the draft; `names` (may be NULL) get its name.
mf_Status mf_mjcf_add(mf_Mjcf *m, const mf_XmlNode *node, mf_ItemType item, const void *values,
                      mf_Names *names);

// Converts a pose in a body to one in the draft.
mf_Frame mf_mjcf_frame(const mf_Mjcf *m, uint32_t body, const double position[3],
                       const double rotation[4]);
mf_Status mf_mjcf_stiffness(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute,
                            const double polynomial[3], double *out);

// ---- tables ------------------------------------------------------------------------------------

// [1] Numbers of attribute size, by type.
uint32_t mf_mjcf_size_count(int32_t type);

// Elements with defaults; the same order as in mjcf_class.c.
typedef enum mf_MjcfElement {
    MF_MJCF_JOINT,
    MF_MJCF_GEOM,
    MF_MJCF_SITE,
    MF_MJCF_CAMERA,
    MF_MJCF_MESH,
    MF_MJCF_MATERIAL,
    MF_MJCF_PAIR,
    MF_MJCF_EQUALITY,
    MF_MJCF_TENDON,
    MF_MJCF_ELEMENTS
} mf_MjcfElement;
// Reads one into `item`, over the values of its class or else of `inherited` (NULL: main).
mf_Status mf_mjcf_read_element(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfClass *inherited,
                               mf_MjcfElement element, void *item);

// Textures and materials (mjcf_texture.c).
mf_Status mf_mjcf_read_texture(mf_Mjcf *m, const mf_XmlNode *node);
mf_Status mf_mjcf_list_material(mf_Mjcf *m, const mf_XmlNode *node);
mf_Status mf_mjcf_check_material(mf_Mjcf *m, const void *material);
// The draft's material of a geom, which is added with its texture at the first use; MF_NONE: none.
mf_Status mf_mjcf_use_material(mf_Mjcf *m, const mf_MjcfGeom *geom, uint32_t *out);
mf_Status mf_mjcf_use_sky(mf_Mjcf *m);

// An asset without a name gets its file's name without folder and extension.
mf_Status mf_mjcf_name_by_file(mf_Mjcf *m, const char *file, const char **name);

// Whether it is a camera of the model; then adds it to the draft.
bool mf_mjcf_is_fixed_camera(const mf_MjcfOptics *optics);
mf_Status mf_mjcf_add_camera(mf_Mjcf *m, const mf_MjcfSite *from);
mf_Status mf_mjcf_read_actuator(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfClass *class,
                                mf_MjcfActuator *actuator);
void mf_mjcf_inherit_laws(const mf_MjcfClass *parent, mf_MjcfLaw laws[MF_MJCF_ACTUATOR_KINDS]);
bool mf_mjcf_is_actuator(const char *element); // a supported one
// Settings of a plugin's actuator (mjcf_pid.c).
mf_Status mf_mjcf_set_pid(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *actuator);

// ---- passes, in the order they run -------------------------------------------------------------

mf_Status mf_mjcf_include(mf_Mjcf *m);
mf_Status mf_mjcf_attach(mf_Mjcf *m);
mf_Status mf_mjcf_read_sections(mf_Mjcf *m);
mf_Status mf_mjcf_read_options(mf_Mjcf *m);
mf_Status mf_mjcf_replicate(mf_Mjcf *m);
mf_Status mf_mjcf_read_classes(mf_Mjcf *m);
mf_Status mf_mjcf_read_assets(mf_Mjcf *m);
mf_Status mf_mjcf_read_bodies(mf_Mjcf *m);
mf_Status mf_mjcf_place_geoms(mf_Mjcf *m);
mf_Status mf_mjcf_weigh_bodies(mf_Mjcf *m);
mf_Status mf_mjcf_make_links(mf_Mjcf *m);
mf_Status mf_mjcf_make_points(mf_Mjcf *m);
mf_Status mf_mjcf_list_pairs(mf_Mjcf *m);
mf_Status mf_mjcf_read_contacts(mf_Mjcf *m);
mf_Status mf_mjcf_read_tendons(mf_Mjcf *m);
mf_Status mf_mjcf_read_equalities(mf_Mjcf *m);
mf_Status mf_mjcf_read_actuators(mf_Mjcf *m);
mf_Status mf_mjcf_read_sensors(mf_Mjcf *m);
// What MJCF has no elements or attributes for, by kinds of items on links.
#define MF_MJCF_READ_MOUNTED(item, name, type)                                                     \
    mf_Status mf_mjcf_read_##name##_text(mf_Mjcf *m, const mf_XmlNode *node);
MF_MOUNTED_KINDS(MF_MJCF_READ_MOUNTED)
// The selection and the number of values of a contact sensor; `*found` is false when it is dropped.
mf_Status mf_mjcf_read_query(mf_Mjcf *m, const mf_XmlNode *node, mf_ContactQuery *query,
                             uint32_t *count, bool *found);
mf_Status mf_mjcf_read_keyframes(mf_Mjcf *m);
mf_Status mf_mjcf_resolve(mf_Mjcf *m);

// Meshes: vertices, and on request hull and mass.
mf_Status mf_mjcf_load_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh);
mf_Status mf_mjcf_hull_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh);
mf_Status mf_mjcf_weigh_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh);
mf_Status mf_mjcf_load_heights(mf_Mjcf *m, mf_MjcfHeights *heights);

// World pose of a link.
typedef struct mf_LinkPose {
    double position[3], rotation[4];
} mf_LinkPose;

// Called for each straight piece of a path: links and world positions [m] of its ends, and the
// weight of its length.
typedef void (*mf_PathPiece)(void *user, uint32_t from_link, const double from[3], uint32_t to_link,
                             const double to[3], double share);

// The length [m] of a spatial tendon's path for links of the draft at these poses; `piece` may be
// NULL.
double mf_mjcf_path_length(const mf_TendonWrap *wraps, uint32_t count, const mf_LinkPose *links,
                           mf_PathPiece piece, void *user);

// Creates nodes that are not in a file (mjcf_attach.c). A new one has the position of `parent` and
// space for this number of attributes; NULL: mf_mjcf_out_of_memory reports the reason.
mf_XmlNode *mf_mjcf_new_node(mf_Mjcf *m, const char *name, const mf_XmlNode *parent,
                             uint32_t attributes);
mf_Status mf_mjcf_out_of_memory(const mf_Mjcf *m, const mf_XmlNode *node);
void mf_mjcf_add_attribute(mf_XmlNode *node, const char *name, const char *value);
// A copy of an element and all in it, as the last child of `parent`. Values of attributes are those
// that `rename` gives (NULL: out of memory); the copies have space for two more attributes.
typedef const char *(*mf_MjcfRename)(const void *user, const mf_XmlNode *from,
                                     const mf_XmlAttribute *attribute);
mf_Status mf_mjcf_copy(mf_Mjcf *m, const mf_XmlNode *from, mf_MjcfRename rename, const void *user,
                       mf_XmlNode *parent);

// Whether an attribute of this name is the name of an element, not of a default class.
bool mf_mjcf_names_element(const char *attribute);

// Reads the file that the attribute `file` of `node` names, with its includes. A file that was read
// before is an error unless `again`.
mf_Status mf_mjcf_read_file(mf_Mjcf *m, const mf_XmlNode *node, bool again, mf_XmlNode **root);
// The settings of a model from its <compiler> elements.
mf_Status mf_mjcf_read_settings(mf_Mjcf *m, const mf_XmlNode *root, mf_MjcfSettings *settings);

// The path of a file that `node` names; `what` is its kind for messages, such as "mesh"; `folder`
// (may be NULL) is the prefix of relative names.
mf_Status mf_mjcf_find_asset(mf_Mjcf *m, const mf_XmlNode *node, const char *what,
                             const char *folder, const char *file, char *path);

// MuJoCo's principal axes: moments in descending order, axes as a quaternion. False if a moment is
// not > 0.
bool mf_mjcf_principal(double moments[3], double axes[4], const double inertia[6]);

typedef mf_Status mf_MjcfReader(mf_Mjcf *m, const mf_XmlNode *node);
// Reads every element of all sections of that name.
mf_Status mf_mjcf_read_section(mf_Mjcf *m, const char *name, mf_MjcfReader *read);
// What MJCF has no elements for is in texts that MuJoCo passes over,
//     <custom><text name="kind:NAME" data="key=value key=value"/></custom>
// Reads all of a kind as elements with the attribute `name` and those of the data; commas become
// spaces.
mf_Status mf_mjcf_read_texts(mf_Mjcf *m, const char *kind, mf_MjcfReader *read);
