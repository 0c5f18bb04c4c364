// Default classes, and the tables of attributes. A class starts as a copy of its parent class and
// is then overwritten element by element; "main" starts from MuJoCo's own values.
#include "import/mjcf.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

#define NUMBERS(name, least, most, type, member)                                                   \
    { name, MF_MJCF_NUMBERS, least, most, offsetof(type, member), NULL }
#define NUMBER(name, type, member) NUMBERS(name, 1, 1, type, member)
#define INTEGER(name, type, member)                                                                \
    { name, MF_MJCF_INTEGER, 0, 0, offsetof(type, member), NULL }
#define FLAG(name, type, member)                                                                   \
    { name, MF_MJCF_FLAG, 0, 0, offsetof(type, member), NULL }
#define TEXT(name, type, member)                                                                   \
    { name, MF_MJCF_TEXT, 0, 0, offsetof(type, member), NULL }
#define CHOICE(name, type, member, names)                                                          \
    { name, MF_MJCF_CHOICE, 0, 0, offsetof(type, member), names }
#define ELSEWHERE(name)                                                                            \
    { name, MF_MJCF_ELSEWHERE, 0, 0, 0, NULL }
#define PASSED(name)                                                                               \
    { name, MF_MJCF_PASSED, 0, 0, 0, NULL }
#define REFUSED(name)                                                                              \
    { name, MF_MJCF_REFUSED, 0, 0, 0, NULL }
#define PLAIN MF_MJCF_PLAIN_OF
#define END                                                                                        \
    { NULL, MF_MJCF_PASSED, 0, 0, 0, NULL }

static const char *const joint_types[] = {"free", "ball", "slide", "hinge", NULL};
static const char *const mass_kinds[] = {"legacy", "exact", "convex", "shell", NULL};
static const char *const fluids[] = {"none", "ellipsoid", NULL};

const mf_MjcfField mf_mjcf_joint_fields[] = {
    TEXT("name", mf_MjcfJoint, name),
    CHOICE("type", mf_MjcfJoint, type, joint_types),
    CHOICE("limited", mf_MjcfJoint, limited, mf_mjcf_tristate),
    CHOICE("actuatorfrclimited", mf_MjcfJoint, force_limited, mf_mjcf_tristate),
    NUMBERS("pos", 3, 3, mf_MjcfJoint, position),
    NUMBERS("springdamper", 2, 2, mf_MjcfJoint, springdamper),
    NUMBERS("range", 2, 2, mf_MjcfJoint, range),
    NUMBERS("actuatorfrcrange", 2, 2, mf_MjcfJoint, force_range),
    NUMBERS("stiffness", 1, 3, mf_MjcfJoint, stiffness),
    NUMBERS("damping", 1, 3, mf_MjcfJoint, damping),
    NUMBER("ref", mf_MjcfJoint, reference),
    NUMBER("springref", mf_MjcfJoint, spring_reference),
    PLAIN(mf_MjcfJoint, JOINT),
    ELSEWHERE("class"),
    PASSED("group"),
    PASSED("user"),
    END};

const mf_MjcfField mf_mjcf_geom_fields[] = {TEXT("name", mf_MjcfGeom, name),
                                            CHOICE("type", mf_MjcfGeom, type, mf_mjcf_shapes),
                                            FLAG("shellinertia", mf_MjcfGeom, shell),
                                            NUMBERS("size", 1, 3, mf_MjcfGeom, size),
                                            NUMBERS("fromto", 6, 6, mf_MjcfGeom, fromto),
                                            NUMBERS("pos", 3, 3, mf_MjcfGeom, position),
                                            NUMBERS("rgba", 4, 4, mf_MjcfGeom, color),
                                            NUMBER("mass", mf_MjcfGeom, mass),
                                            NUMBER("density", mf_MjcfGeom, density),
                                            NUMBER("fitscale", mf_MjcfGeom, fit_scale),
                                            TEXT("mesh", mf_MjcfGeom, mesh),
                                            TEXT("hfield", mf_MjcfGeom, hfield),
                                            TEXT("material", mf_MjcfGeom, material),
                                            MF_MJCF_ORIENTATION,
                                            REFUSED("surfacevel"),
                                            REFUSED("adhesion"),
                                            CHOICE("fluidshape", mf_MjcfGeom, fluid, fluids),
                                            PLAIN(mf_MjcfGeom, SHAPE),
                                            ELSEWHERE("class"),
                                            PASSED("castshadow"),
                                            PASSED("user"),
                                            END};

const mf_MjcfField mf_mjcf_site_fields[] = {TEXT("name", mf_MjcfSite, name),
                                            CHOICE("type", mf_MjcfSite, type, mf_mjcf_shapes),
                                            PLAIN(mf_MjcfSite, SITE),
                                            NUMBERS("pos", 3, 3, mf_MjcfSite, position),
                                            NUMBERS("size", 1, 3, mf_MjcfSite, size),
                                            NUMBERS("fromto", 6, 6, mf_MjcfSite, fromto),
                                            MF_MJCF_ORIENTATION,
                                            PASSED("material"),
                                            PASSED("rgba"),
                                            PASSED("user"),
                                            ELSEWHERE("class"),
                                            END};

const mf_MjcfField mf_mjcf_mesh_fields[] = {TEXT("name", mf_MjcfMesh, name),
                                            TEXT("file", mf_MjcfMesh, file),
                                            TEXT("vertex", mf_MjcfMesh, vertices),
                                            TEXT("face", mf_MjcfMesh, faces),
                                            PLAIN(mf_MjcfMesh, MESH),
                                            INTEGER("maxhullvert", mf_MjcfMesh, hull_limit),
                                            CHOICE("inertia", mf_MjcfMesh, mass_kind, mass_kinds),
                                            REFUSED("builtin"),
                                            PASSED("params"),
                                            PASSED("content_type"),
                                            PASSED("normal"),
                                            PASSED("texcoord"),
                                            PASSED("smoothnormal"),
                                            PASSED("octree_maxdepth"),
                                            PASSED("material"),
                                            ELSEWHERE("class"),
                                            END};

const mf_MjcfField mf_mjcf_pair_fields[] = {TEXT("name", mf_MjcfPair, name),
                                            TEXT("geom1", mf_MjcfPair, geoms[0]),
                                            TEXT("geom2", mf_MjcfPair, geoms[1]),
                                            PLAIN(mf_MjcfPair, PAIR),
                                            REFUSED("adhesion"),
                                            ELSEWHERE("class"),
                                            END};

const mf_MjcfField mf_mjcf_equality_fields[] = {TEXT("name", mf_MjcfEquality, name),
                                                PLAIN(mf_MjcfEquality, EQUALITY),
                                                ELSEWHERE("class"),
                                                ELSEWHERE("body1"),
                                                ELSEWHERE("body2"),
                                                ELSEWHERE("site1"),
                                                ELSEWHERE("site2"),
                                                ELSEWHERE("anchor"),
                                                ELSEWHERE("relpose"),
                                                ELSEWHERE("torquescale"),
                                                ELSEWHERE("joint1"),
                                                ELSEWHERE("joint2"),
                                                ELSEWHERE("tendon1"),
                                                ELSEWHERE("tendon2"),
                                                ELSEWHERE("polycoef"),
                                                END};

const mf_MjcfField mf_mjcf_tendon_fields[] = {
    TEXT("name", mf_MjcfTendon, name),
    CHOICE("limited", mf_MjcfTendon, limited, mf_mjcf_tristate),
    CHOICE("actuatorfrclimited", mf_MjcfTendon, force_limited, mf_mjcf_tristate),
    NUMBERS("range", 2, 2, mf_MjcfTendon, range),
    NUMBERS("actuatorfrcrange", 2, 2, mf_MjcfTendon, force_range),
    NUMBERS("springlength", 1, 2, mf_MjcfTendon, springlength),
    NUMBERS("stiffness", 1, 3, mf_MjcfTendon, stiffness),
    NUMBERS("damping", 1, 3, mf_MjcfTendon, damping),
    PLAIN(mf_MjcfTendon, TENDON),
    ELSEWHERE("class"),
    PASSED("width"),
    PASSED("material"),
    PASSED("rgba"),
    PASSED("user"),
    END};

// ---- elements ----------------------------------------------------------------------------------

mf_Status mf_mjcf_read_joint(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfJoint *joint) {
    joint->node = node;
    return mf_mjcf_read(m, node, mf_mjcf_joint_fields, joint);
}

mf_Status mf_mjcf_read_geom(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfGeom *geom) {
    static const char *const none[] = {NULL};
    geom->node = node;
    mf_Status status = mf_mjcf_read(m, node, mf_mjcf_geom_fields, geom);
    if (status == MF_OK)
        status = mf_mjcf_only(m, node, none);
    return status == MF_OK ? mf_mjcf_orientation(m, node, &geom->orientation) : status;
}

mf_Status mf_mjcf_read_site(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfSite *site) {
    site->node = node;
    mf_Status status = mf_mjcf_read(m, node, mf_mjcf_site_fields, site);
    return status == MF_OK ? mf_mjcf_orientation(m, node, &site->orientation) : status;
}

static mf_Status read_tendon(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfTendon *tendon) {
    tendon->node = node;
    return mf_mjcf_read(m, node, mf_mjcf_tendon_fields, tendon);
}

// One element of a <default>; nested defaults come later.
static mf_Status read_default(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfClass *class) {
    static const char *const seen[] = {"light", NULL};
    if (strcmp(node->name, "default") == 0)
        return MF_OK;
    if (strcmp(node->name, "joint") == 0)
        return mf_mjcf_read_joint(m, node, &class->joint);
    if (strcmp(node->name, "geom") == 0)
        return mf_mjcf_read_geom(m, node, &class->geom);
    if (strcmp(node->name, "site") == 0)
        return mf_mjcf_read_site(m, node, &class->site);
    if (strcmp(node->name, "camera") == 0)
        return mf_mjcf_read_optics(m, node, &class->optics);
    if (strcmp(node->name, "mesh") == 0)
        return mf_mjcf_read(m, node, mf_mjcf_mesh_fields, &class->mesh);
    if (strcmp(node->name, "material") == 0)
        return mf_mjcf_read_material(m, node, &class->material);
    if (strcmp(node->name, "pair") == 0)
        return mf_mjcf_read(m, node, mf_mjcf_pair_fields, &class->pair);
    if (strcmp(node->name, "equality") == 0)
        return mf_mjcf_read(m, node, mf_mjcf_equality_fields, &class->equality);
    if (strcmp(node->name, "tendon") == 0)
        return read_tendon(m, node, &class->tendon);
    if (mf_mjcf_is_actuator(node->name))
        return mf_mjcf_read_actuator(m, node, class, &class->actuator);
    for (const char *const *name = seen; *name; name++) {
        if (strcmp(node->name, *name) == 0)
            return MF_OK;
    }
    if (strcmp(node->name, "texture") == 0)
        return mf_mjcf_pass(m, node, NULL);
    return mf_mjcf_refuse(m, node, NULL);
}

// MuJoCo's own defaults.
static mf_MjcfClass builtin_class(void) {
    const mf_MjcfOrientation identity = {MF_MJCF_QUAT, {1.0}};
    const double none = (double)NAN;
    mf_MjcfClass class = {
        .name = "main",
        .joint = {.type = MF_MJCF_HINGE, .limited = MF_MJCF_AUTO, .force_limited = MF_MJCF_AUTO},
        .geom = {.type = MF_SHAPE_SPHERE,
                 .fromto = {none},
                 .color = {0.5, 0.5, 0.5, 1.0},
                 .mass = none,
                 .density = MF_MJCF_DENSITY,
                 .fit_scale = 1.0,
                 .orientation = identity},
        .site = {.type = MF_SHAPE_SPHERE,
                 .size = {0.005, 0.005, 0.005},
                 .fromto = {none},
                 .orientation = identity},
        .optics = {.fovy = {45.0}, .orientation = identity},
        .mesh = {.hull_limit = -1},
        .tendon = {.limited = MF_MJCF_AUTO,
                   .force_limited = MF_MJCF_AUTO,
                   .springlength = {-1.0, -1.0}},
        .actuator = {.control_limited = MF_MJCF_AUTO,
                     .force_limited = MF_MJCF_AUTO,
                     .activation_limited = MF_MJCF_AUTO,
                     .law = {.dynamics_values = {1.0}, .gain = {1.0}},
                     .kp = none,
                     .kv = none,
                     .damping_ratio = none,
                     .time_constant = none,
                     .area = none,
                     .diameter = none,
                     .cylinder_bias = {none, none, none},
                     .piston_time = none}};
    mf_item_reset(MF_ITEM_JOINT, &class.joint.plain);
    mf_item_reset(MF_ITEM_SHAPE, &class.geom.plain);
    mf_item_reset(MF_ITEM_SITE, &class.site.plain);
    mf_item_reset(MF_ITEM_MESH, &class.mesh.plain);
    mf_item_reset(MF_ITEM_MATERIAL, &class.material.plain);
    mf_item_reset(MF_ITEM_PAIR, &class.pair.plain);
    mf_item_reset(MF_ITEM_EQUALITY, &class.equality.plain);
    mf_item_reset(MF_ITEM_TENDON, &class.tendon.plain);
    mf_item_reset(MF_ITEM_ACTUATOR, &class.actuator.plain);
    mf_vec3_set(class.joint.plain.axis, 0.0, 0.0, 1.0); // elsewhere it is x
    return class;
}

static mf_Status add_class(mf_Mjcf *m, const mf_XmlNode *node, const char *name,
                           const mf_MjcfClass *parent, mf_MjcfClass **out) {
    mf_MjcfClass *class = mf_arena_take(&m->arena, sizeof *class);
    mf_MjcfClass **slot = class ? mf_list_push(m->context, &m->classes, sizeof *slot) : NULL;
    if (slot == NULL)
        return mf_mjcf_no_memory(m);
    *slot = class;
    *class = parent ? *parent : builtin_class();
    mf_mjcf_inherit_laws(parent ? parent : class, class->laws);
    class->name = name;
    *out = class;
    return mf_mjcf_name(m, node, &m->class_names, name, m->classes.count - 1);
}

static mf_Status read_class(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfClass *class) {
    static const mf_MjcfField fields[] = {ELSEWHERE("class"), END};
    mf_Status status = mf_mjcf_read(m, node, fields, NULL);
    for (const mf_XmlNode *child = node->first; status == MF_OK && child; child = child->next)
        status = read_default(m, child, class);
    for (const mf_XmlNode *child = mf_xml_child(node, "default"); status == MF_OK && child;
         child = mf_xml_next(child, "default")) {
        const char *name = mf_xml_attribute(child, "class");
        mf_MjcfClass *nested = NULL;
        if (name == NULL || *name == '\0')
            return mf_mjcf_fail(m, child, "a <default> inside another needs the attribute 'class'");
        // The defaults of an attached model are its own.
        const bool own = mf_mjcf_settings(m, child) == mf_mjcf_settings(m, node);
        status = add_class(m, child, name, own ? class : NULL, &nested);
        if (status == MF_OK)
            status = read_class(m, child, nested);
    }
    return status;
}

mf_Status mf_mjcf_read_classes(mf_Mjcf *m) {
    mf_MjcfClass *main_class = NULL;
    mf_Status status = add_class(m, m->xml.root, "main", NULL, &main_class);
    for (const mf_XmlNode *node = mf_xml_child(m->xml.root, "default"); status == MF_OK && node;
         node = mf_xml_next(node, "default")) {
        const char *name = mf_xml_attribute(node, "class");
        if (name != NULL && strcmp(name, "main") != 0)
            return mf_mjcf_fail(m, node,
                                "the outermost <default> is the class 'main', found "
                                "'%.100s'",
                                name);
        status = read_class(m, node, main_class);
    }
    return status;
}
