// Default classes, and the tables of attributes. A class starts as a copy of its parent class and
// is then overwritten element by element; "main" starts from MuJoCo's own values.
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

static const char *const joint_types[] = {"free", "ball", "slide", "hinge", NULL};
static const char *const mass_kinds[] = {"legacy", "exact", "convex", "shell", NULL};
static const char *const fluids[] = {"none", "ellipsoid", NULL};

#define T mf_MjcfJoint
static const mf_MjcfField joint_fields[] = {
    TEXT("name", name),
    CHOICE("type", type, joint_types),
    CHOICE("limited", limited, mf_mjcf_tristate),
    CHOICE("actuatorfrclimited", force_limited, mf_mjcf_tristate),
    NUMBERS("pos", 3, 3, position),
    NUMBERS("springdamper", 2, 2, springdamper),
    NUMBERS("range", 2, 2, range),
    NUMBERS("actuatorfrcrange", 2, 2, force_range),
    NUMBERS("stiffness", 1, 3, stiffness),
    NUMBERS("damping", 1, 3, damping),
    NUMBER("ref", reference),
    NUMBER("springref", spring_reference),
    PLAIN(JOINT),
    ELSEWHERE("class"),
    PASSED("group user"),
    END};
#undef T

#define T mf_MjcfGeom
static const mf_MjcfField geom_fields[] = {TEXT("name", name),
                                           CHOICE("type", type, mf_mjcf_shapes),
                                           FLAG("shellinertia", shell),
                                           NUMBERS("size", 1, 3, size),
                                           NUMBERS("fromto", 6, 6, fromto),
                                           NUMBERS("pos", 3, 3, position),
                                           NUMBERS("rgba", 4, 4, color),
                                           NUMBER("mass", mass),
                                           NUMBER("density", density),
                                           NUMBER("fitscale", fit_scale),
                                           TEXT("mesh", mesh),
                                           TEXT("hfield", hfield),
                                           TEXT("material", material),
                                           ORIENTATION(orientation),
                                           REFUSED("surfacevel adhesion"),
                                           CHOICE("fluidshape", fluid, fluids),
                                           PLAIN(SHAPE),
                                           ELSEWHERE("class"),
                                           PASSED("castshadow user"),
                                           END};
#undef T

#define T mf_MjcfSite
static const mf_MjcfField site_fields[] = {TEXT("name", name),
                                           CHOICE("type", type, mf_mjcf_shapes),
                                           PLAIN(SITE),
                                           NUMBERS("pos", 3, 3, position),
                                           NUMBERS("size", 1, 3, size),
                                           NUMBERS("fromto", 6, 6, fromto),
                                           ORIENTATION(orientation),
                                           PASSED("material rgba user"),
                                           ELSEWHERE("class"),
                                           END};
#undef T

#define T mf_MjcfMesh
static const mf_MjcfField mesh_fields[] = {
    TEXT("name", name),
    TEXT("file", file),
    TEXT("vertex", vertices),
    TEXT("face", faces),
    PLAIN(MESH),
    INTEGER("maxhullvert", hull_limit),
    CHOICE("inertia", mass_kind, mass_kinds),
    REFUSED("builtin"),
    PASSED("params content_type normal texcoord smoothnormal octree_maxdepth material"),
    ELSEWHERE("class"),
    END};
#undef T

#define T mf_MjcfMaterial
static const mf_MjcfField material_fields[] = {
    TEXT("name", name), TEXT("texture", texture),     PLAIN(MATERIAL),
    ELSEWHERE("class"), PASSED("metallic roughness"), END};
#undef T

#define T mf_MjcfOptics
static const mf_MjcfField camera_fields[] = {TEXT("name", name),
                                             TEXT("mode", mode),
                                             TEXT("projection", projection),
                                             TEXT("orthographic", orthographic),
                                             TEXT("output", output),
                                             NUMBERS("pos", 3, 3, position),
                                             NUMBERS("fovy", 1, 1, fovy),
                                             NUMBERS("resolution", 2, 2, resolution),
                                             NUMBERS("focal", 2, 2, focal),
                                             NUMBERS("focalpixel", 2, 2, focal_pixel),
                                             NUMBERS("principal", 2, 2, principal),
                                             NUMBERS("principalpixel", 2, 2, principal_pixel),
                                             NUMBERS("sensorsize", 2, 2, sensor),
                                             ORIENTATION(orientation),
                                             ELSEWHERE("class"),
                                             PASSED("target ipd user"),
                                             END};
#undef T

#define T mf_MjcfPair
static const mf_MjcfField pair_fields[] = {TEXT("name", name),
                                           TEXT("geom1", geoms[0]),
                                           TEXT("geom2", geoms[1]),
                                           PLAIN(PAIR),
                                           REFUSED("adhesion"),
                                           ELSEWHERE("class"),
                                           END};
#undef T

#define T mf_MjcfEquality
static const mf_MjcfField equality_fields[] = {
    TEXT("name", name), PLAIN(EQUALITY),
    ELSEWHERE("class body1 body2 site1 site2 anchor relpose torquescale joint1 joint2 tendon1 "
              "tendon2 polycoef"),
    END};
#undef T

#define T mf_MjcfTendon
static const mf_MjcfField tendon_fields[] = {
    TEXT("name", name),
    CHOICE("limited", limited, mf_mjcf_tristate),
    CHOICE("actuatorfrclimited", force_limited, mf_mjcf_tristate),
    NUMBERS("range", 2, 2, range),
    NUMBERS("actuatorfrcrange", 2, 2, force_range),
    NUMBERS("springlength", 1, 2, springlength),
    NUMBERS("stiffness", 1, 3, stiffness),
    NUMBERS("damping", 1, 3, damping),
    PLAIN(TENDON),
    ELSEWHERE("class"),
    PASSED("width material rgba user"),
    END};
#undef T

// ---- elements ----------------------------------------------------------------------------------

static mf_Status check_geom(mf_Mjcf *m, const void *geom) {
    static const char *const none[] = {NULL};
    return mf_mjcf_only(m, ((const mf_MjcfGeom *)geom)->node, none);
}

#define ELEMENT(name, check)                                                                       \
    { #name, name##_fields, offsetof(mf_MjcfClass, name), sizeof((mf_MjcfClass *)0)->name, check }
static const struct {
    const char *name;
    const mf_MjcfField *fields;
    size_t offset, size; // [byte] in a class
    mf_Status (*check)(mf_Mjcf *m, const void *item);
} elements[MF_MJCF_ELEMENTS] = {
    ELEMENT(joint, NULL),  ELEMENT(geom, check_geom), ELEMENT(site, NULL),
    ELEMENT(camera, NULL), ELEMENT(mesh, NULL),       ELEMENT(material, mf_mjcf_check_material),
    ELEMENT(pair, NULL),   ELEMENT(equality, NULL),   ELEMENT(tendon, NULL)};

static mf_Status read_over(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfElement element, void *item) {
    ((mf_MjcfHead *)item)->node = node;
    mf_Status status = mf_mjcf_read(m, node, elements[element].fields, item);
    return status == MF_OK && elements[element].check ? elements[element].check(m, item) : status;
}

mf_Status mf_mjcf_read_element(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfClass *inherited,
                               mf_MjcfElement element, void *item) {
    const mf_MjcfClass *class;
    MF_TRY(mf_mjcf_class(m, node, "class", inherited, &class));
    memcpy(item, (const char *)class + elements[element].offset, elements[element].size);
    ((mf_MjcfHead *)item)->name = NULL;
    return read_over(m, node, element, item);
}

// One element of a <default>; nested defaults come later.
static mf_Status read_default(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfClass *class) {
    for (int i = 0; i < MF_MJCF_ELEMENTS; i++)
        if (strcmp(node->name, elements[i].name) == 0)
            return read_over(m, node, (mf_MjcfElement)i, (char *)class + elements[i].offset);
    if (mf_mjcf_is_actuator(node->name))
        return mf_mjcf_read_actuator(m, node, class, &class->actuator);
    if (strcmp(node->name, "default") == 0 || strcmp(node->name, "light") == 0)
        return MF_OK;
    return strcmp(node->name, "texture") == 0 ? mf_mjcf_pass(m, node, NULL)
                                              : mf_mjcf_refuse(m, node, NULL);
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
        .camera = {.fovy = {45.0}, .orientation = identity},
        .mesh = {.hull_limit = -1},
        .tendon = {.limited = MF_MJCF_AUTO,
                   .force_limited = MF_MJCF_AUTO,
                   .springlength = {-1.0, -1.0}},
        .actuator = {.control_limited = MF_MJCF_AUTO,
                     .force_limited = MF_MJCF_AUTO,
                     .activation_limited = MF_MJCF_AUTO,
                     .law = {.dynamics_values = {1.0}, .gain = {1.0}}}};
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
    MF_TRY(mf_mjcf_read(m, node, fields, NULL));
    for (const mf_XmlNode *child = node->first; child; child = child->next)
        MF_TRY(read_default(m, child, class));
    MF_XML_EACH (child, node, "default") {
        const char *name = mf_xml_attribute(child, "class");
        mf_MjcfClass *nested = NULL;
        if (name == NULL || *name == '\0')
            return mf_mjcf_fail(m, child, "a <default> inside another needs the attribute 'class'");
        // The defaults of an attached model are its own.
        const bool own = mf_mjcf_settings(m, child) == mf_mjcf_settings(m, node);
        MF_TRY(add_class(m, child, name, own ? class : NULL, &nested));
        MF_TRY(read_class(m, child, nested));
    }
    return MF_OK;
}

mf_Status mf_mjcf_read_classes(mf_Mjcf *m) {
    mf_MjcfClass *main_class = NULL;
    MF_TRY(add_class(m, m->xml.root, "main", NULL, &main_class));
    MF_XML_EACH (node, m->xml.root, "default") {
        const char *name = mf_xml_attribute(node, "class");
        if (name != NULL && strcmp(name, "main") != 0)
            return mf_mjcf_fail(
                m, node, "the outermost <default> is the class 'main', found '%.100s'", name);
        MF_TRY(read_class(m, node, main_class));
    }
    return MF_OK;
}
