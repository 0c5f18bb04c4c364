// The table of model fields: every member of every structure of a model, once. The fields of a
// structure are in the order in which MJCF is written.
//
// Hashing: HASH(n) is the field's position in the model's hash, which does not depend on the order
// of rows; 1 .. 99 for all models, from 101 on for those with bodies (hash.c). BY_CODE: hash.c
// decides when and how it is hashed.
#include "model/fields.h"
#include "model/sensor_kind.h"
#include "model/shape_kinds.h"

#include <mayfly/camera.h>
#include <mayfly/texture.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROW(kind, member, element, ...)                                                            \
    {                                                                                              \
        .name = #member, .type = MF_VALUE_##kind, .offset = offsetof(T, member),                   \
        .count = sizeof(((T *)0)->member) / sizeof(element), .size = sizeof(((T *)0)->member),     \
        __VA_ARGS__                                                                                \
    }
#define REAL(member, ...) ROW(REAL, member, double, __VA_ARGS__)
#define SINGLE(member, ...) ROW(SINGLE, member, float, __VA_ARGS__)
#define INTEGER(member, ...) ROW(INTEGER, member, int32_t, __VA_ARGS__)
#define NUMBER(member, ...) ROW(NUMBER, member, uint32_t, __VA_ARGS__)
#define TIME(member, ...) ROW(TIME, member, int64_t, __VA_ARGS__)
#define FLAG(member, ...) ROW(FLAG, member, bool, __VA_ARGS__)
#define TEXT(member, ...) ROW(TEXT, member, const char *, __VA_ARGS__)
#define POINTER(member, ...) ROW(POINTER, member, const void *, __VA_ARGS__)
#define INDEX(member, of, ...) ROW(INDEX, member, uint32_t, .item = MF_ITEM_##of, __VA_ARGS__)
#define ENUM(member, list, ...) ROW(ENUM, member, int32_t, .names = list, __VA_ARGS__)
#define ITEM(member, of, ...) ROW(ITEM, member, TYPE_##of, .item = MF_ITEM_##of, __VA_ARGS__)
#define LIST(member, of, many)                                                                     \
    NUMBER(many, ),                                                                                \
        ROW(LIST, member, const void *, .item = MF_ITEM_##of, .length = offsetof(mf_Model, many))
#define REALS(member, many, ...)                                                                   \
    ROW(REALS, member, const double *, .length = offsetof(mf_Model, many), __VA_ARGS__)

#define UNIT(name) .unit = name,
#define IN(name) .frame = name,
#define SAYS(phrase) .text = phrase,
#define MJCF(attribute) .mjcf = attribute,
#define SHORT(attribute) .mjcf = attribute, .spelled = MF_SPELLED_SHORT,
#define SOME .spelled = MF_SPELLED_SHORT,
#define RANGE(attribute) .mjcf = attribute, .spelled = MF_SPELLED_RANGE,
#define OTHER(attribute) .mjcf = attribute, .spelled = MF_SPELLED_OTHER,
#define URDF(path) .urdf = path,
#define HASH(rank) .hash = rank,
#define BY_CODE .hash = MF_HASHED_BY_CODE,
#define INITIAL(...)                                                                               \
    .initial = (const double[]){__VA_ARGS__},                                                      \
    .given = sizeof((const double[]){__VA_ARGS__}) / sizeof(double),
#define IDENTITY INITIAL(1.0, 0.0, 0.0, 0.0)
#define ENDLESS (double)INFINITY

#define TYPE_FRAME mf_Frame
#define TYPE_SOFTNESS mf_Softness
#define TYPE_SERVO mf_Servo
#define TYPE_MUSCLE mf_Muscle
#define TYPE_RATE mf_Rate
#define TYPE_SIGNAL mf_Signal
#define TYPE_CONTACT_QUERY mf_ContactQuery
#define TYPE_PHYSICS mf_Physics

// clang-format off
#define WORDS(list, ...) static const char *const list[] = {__VA_ARGS__, NULL}
WORDS(joint_names, "hinge", "slide", "ball", "planar", "floating", "fixed");
WORDS(wrap_names, "site", "sphere", "cylinder", "pulley");
WORDS(equality_names, "connect", "weld", "joint", "tendon");
WORDS(drive_names, "joint", "jointinparent", "tendon", "site", "body");
WORDS(dynamics_names, "none", "integrator", "filter", "filterexact", "muscle", "error");
WORDS(side_names, "any", "shape", "body", "subtree");
WORDS(object_names, "inertia", "body", "shape", "site", "camera");
WORDS(integrator_names, "Euler", "RK4", "implicit", "implicitfast");
WORDS(cone_names, "pyramidal", "elliptic");
WORDS(gender_names, "both", "male", "female");
WORDS(base_names, "free", "fixed");
WORDS(texture_names, "2d", "cube", "skybox");
WORDS(pattern_names, "none", "gradient", "checker", "flat");
WORDS(mark_names, "none", "edge", "cross", "random");
WORDS(lens_names, "pinhole", "brown", "angle", "fisheye");
#define SENSOR_ENUM(type, word, urdf, mount, items, flags, count, unit, text) word,
static const char *const sensor_names[] = {MF_SENSOR_KINDS(SENSOR_ENUM) NULL};

#define T mf_Link
static const mf_ModelField link_fields[] = {
    TEXT(name, URDF("link name")),
    INDEX(parent, LINK, ),
    INDEX(joint, JOINT, ),
    REAL(mass, UNIT("kg") SAYS("of the link") URDF("mass value") HASH(101)),
    REAL(center, UNIT("m") IN("link") SAYS("center of mass") HASH(102)),
    REAL(inertia, UNIT("kg m^2") IN("link") SAYS("about the center of mass: xx, yy, zz, xy, xz, yz")
         URDF("inertia ixx") HASH(103)),
    FLAG(intermediate, HASH(104)),
    INDEX(body, BODY, ),
    REAL(lift_mass, UNIT("kg") SAYS("mass whose weight is compensated") HASH(105)),
    REAL(lift_moment, UNIT("kg m") IN("link") SAYS("lift_mass times its center") HASH(106)),
};
#undef T

#define T mf_Joint
static const mf_ModelField joint_fields[] = {
    TEXT(name, OTHER("name") URDF("joint name")),
    ENUM(type, joint_names, OTHER("type") URDF("joint type") HASH(1)),
    INDEX(parent, LINK, URDF("parent link") HASH(2)),
    INDEX(child, LINK, URDF("child link")),
    INDEX(body, BODY, ),
    REAL(axis, UNIT("1") IN("joint") SAYS("unit vector") INITIAL(1.0, 0.0, 0.0) MJCF("axis")
         URDF("axis xyz") HASH(6)),
    REAL(reference, UNIT("rad") IN("joint") SAYS(
        "position at which the child is in its initial pose")
         OTHER("ref") HASH(101)),
    REAL(spring_reference, UNIT("rad") IN("joint") SAYS("position without spring force")
         OTHER("springref") HASH(104)),
    REAL(force_lower, UNIT("N m") IN("joint") SAYS("smallest force of all actuators")
         INITIAL(-ENDLESS) RANGE("actuatorfrcrange") HASH(105)),
    REAL(force_upper, UNIT("N m") IN("joint") SAYS("largest force of all actuators")
         INITIAL(ENDLESS) HASH(106)),
    REAL(anchor, UNIT("m") IN("body") SAYS("origin in the body frame") OTHER("pos")),
    REAL(lower, UNIT("rad") IN("joint") SAYS("limit") INITIAL(-ENDLESS) RANGE("range")
         URDF("limit lower") HASH(7)),
    REAL(upper, UNIT("rad") IN("joint") SAYS("limit") INITIAL(ENDLESS) URDF("limit upper") HASH(8)),
    REAL(speed, UNIT("rad/s") IN("joint") SAYS("largest rate") INITIAL(ENDLESS)
         URDF("limit velocity") HASH(9)),
    REAL(effort, UNIT("N m") IN("joint") SAYS("largest drive") INITIAL(ENDLESS)
         URDF("limit effort") HASH(10)),
    REAL(damping, UNIT("N m s/rad") IN("joint") SAYS("viscous friction") OTHER("damping")
         URDF("dynamics damping") HASH(11)),
    REAL(friction, UNIT("N m") IN("joint") SAYS("dry friction") MJCF("frictionloss")
         URDF("dynamics friction") HASH(12)),
    REAL(armature, UNIT("kg m^2") IN("joint") SAYS("inertia of the drive") MJCF("armature")
         HASH(102)),
    REAL(stiffness, UNIT("N m/rad") IN("joint") SAYS("of its spring") OTHER("stiffness") HASH(103)),
    REAL(limit_margin, UNIT("rad") IN("joint") SAYS("distance at which the limit begins to act")
         MJCF("margin") HASH(107)),
    FLAG(lift_by_actuator, MJCF("actuatorgravcomp") HASH(108)),
    ITEM(limit_softness, SOFTNESS, MJCF("sol%slimit") HASH(109)),
    ITEM(friction_softness, SOFTNESS, MJCF("sol%sfriction") HASH(110)),
    REAL(position, UNIT("m") IN("link") SAYS("origin of the joint in the parent link")
         URDF("origin xyz") HASH(4)),
    REAL(rotation, UNIT("1") IN("link") SAYS("joint frame to parent link") IDENTITY
         URDF("origin rpy") HASH(5)),
    INDEX(mimic, JOINT, URDF("mimic joint") HASH(3)),
    REAL(multiplier, UNIT("1") SAYS("factor of the joint that it follows") INITIAL(1.0)
         URDF("mimic multiplier") HASH(13)),
    REAL(offset, UNIT("rad") SAYS("offset from the joint that it "
                                  "follows") URDF("mimic offset") HASH(14)),
    NUMBER(position_address, ),
    NUMBER(velocity_address, ),
    ITEM(servo, SERVO, URDF("mayfly servo") HASH(15)),
};
#undef T

#define T mf_Body
static const mf_ModelField body_fields[] = {
    TEXT(name, OTHER("name")),
    INDEX(parent, BODY, HASH(101)),
    INDEX(link, LINK, HASH(102)),
    REAL(local_position, UNIT("m") SAYS("position in the parent body's frame") OTHER("pos")),
    REAL(local_rotation, UNIT("1") SAYS("body to parent body") IDENTITY OTHER("quat")),
    REAL(gravity_compensated, UNIT("1") SAYS("part of its weight") MJCF("gravcomp")),
    FLAG(mocap, MJCF("mocap")),
    REAL(center, UNIT("m") IN("body") SAYS("center of mass") OTHER("pos")),
    REAL(axes, UNIT("1") IN("body") SAYS("principal axes to body") IDENTITY OTHER("quat")),
    REAL(mass, UNIT("kg") SAYS("of the body") OTHER("mass")),
    REAL(moments, UNIT("kg m^2") IN("body") SAYS("principal moments of inertia")
         OTHER("diaginertia")),
    REAL(position, UNIT("m") IN("link") SAYS("position in the link's frame")),
    REAL(rotation, UNIT("1") IN("link") SAYS("body to link") IDENTITY),
};
#undef T

#define T mf_Point
static const mf_ModelField point_fields[] = {
    INDEX(link, LINK, HASH(1)),
    NUMBER(flags, HASH(2)),
    REAL(position, UNIT("m") IN("link") HASH(3)),
    REAL(mass, UNIT("kg") HASH(4)),
    SINGLE(color, UNIT("1") INITIAL(0.6)), INDEX(shape, SHAPE, ),
};
#undef T

#define T mf_Shape
static const mf_ModelField shape_fields[] = {
    TEXT(name, OTHER("name")),
    ENUM(type, mf_shape_names, OTHER("type") HASH(101)),
    REAL(size, UNIT("m") OTHER("size") HASH(110)),
    INDEX(mesh, MESH, OTHER("mesh") BY_CODE),
    REAL(local_position, UNIT("m") IN("body") OTHER("pos")),
    REAL(local_rotation, UNIT("1") IN("body") IDENTITY OTHER("quat")),
    NUMBER(contact_type, INITIAL(1.0) MJCF("contype") HASH(104)),
    NUMBER(contact_with, INITIAL(1.0) MJCF("conaffinity") HASH(105)),
    NUMBER(dimension, INITIAL(3.0) MJCF("condim") HASH(106)),
    INTEGER(priority, MJCF("priority") HASH(107)),
    INTEGER(group, MJCF("group")),
    REAL(friction, UNIT("1") INITIAL(1.0, 0.005, 0.0001) SHORT("friction") HASH(111)),
    REAL(mix, UNIT("1") INITIAL(1.0) MJCF("solmix") HASH(112)),
    ITEM(softness, SOFTNESS, MJCF("sol%s") HASH(115)),
    REAL(margin, UNIT("m") MJCF("margin") HASH(113)),
    REAL(gap, UNIT("m") MJCF("gap") HASH(114)),
    FLAG(fluid, OTHER("fluidshape") BY_CODE),
    REAL(fluid_coefficients, UNIT("1") INITIAL(0.5, 0.25, 1.5, 1.0, 1.0) SHORT("fluidcoef")
         BY_CODE),
    SINGLE(color, UNIT("1") INITIAL(0.6) OTHER("rgba")),
    INDEX(material, MATERIAL, OTHER("material") BY_CODE),
    INDEX(link, LINK, HASH(102)),
    INDEX(body, BODY, HASH(103)),
    FLAG(visual, ),
    FLAG(collides, BY_CODE),
    REAL(position, UNIT("m") IN("link") HASH(108)),
    REAL(rotation, UNIT("1") IN("link") IDENTITY HASH(109)),
    REAL(mass, UNIT("kg")),
};
#undef T

#define T mf_Mesh
static const mf_ModelField mesh_fields[] = {
    TEXT(name, OTHER("name")),
    NUMBER(hull_limit, OTHER("maxhullvert")),
    FLAG(shell, OTHER("inertia")),
    TEXT(path, OTHER("file")),
    REAL(reference_position, UNIT("m") MJCF("refpos")),
    REAL(reference_rotation, UNIT("1") IDENTITY MJCF("refquat")),
    REAL(scale, UNIT("1") INITIAL(1.0) MJCF("scale")),
    NUMBER(vertex_count, ), NUMBER(triangle_count, ),
    POINTER(vertices, OTHER("vertex") BY_CODE),
    POINTER(triangles, OTHER("face")),
    POINTER(coordinates, OTHER("texcoord") BY_CODE),
    NUMBER(hull_vertex_count, BY_CODE),
    NUMBER(hull_triangle_count, ),
    POINTER(hull_vertices, BY_CODE), POINTER(hull_triangles, ),
};
#undef T

#define T mf_HeightField
static const mf_ModelField height_field_fields[] = {
    TEXT(name, OTHER("name")),
    TEXT(path, OTHER("file")),
    NUMBER(rows, OTHER("nrow") HASH(101)),
    NUMBER(columns, OTHER("ncol") HASH(102)),
    REAL(half_size, UNIT("m") OTHER("size") HASH(103)),
    REAL(height, UNIT("m") OTHER("size") HASH(104)),
    REAL(base, UNIT("m") OTHER("size") HASH(105)),
    POINTER(heights, OTHER("elevation") BY_CODE),
};
#undef T

#define T mf_Texture
static const mf_ModelField texture_fields[] = {
    TEXT(name, OTHER("name")), TEXT(path, OTHER("file")),
    ENUM(type, texture_names, INITIAL(MF_TEXTURE_CUBE) MJCF("type") HASH(1)),
    REAL(first_color, UNIT("1") INITIAL(0.8) MJCF("rgb1") HASH(4)),
    ENUM(pattern, pattern_names, MJCF("builtin") HASH(2)),
    ENUM(mark, mark_names, MJCF("mark") HASH(3)),
    REAL(second_color, UNIT("1") INITIAL(0.5) MJCF("rgb2") HASH(5)),
    REAL(mark_color, UNIT("1") MJCF("markrgb") HASH(6)),
    REAL(random, UNIT("1") INITIAL(0.01) MJCF("random") HASH(7)),
    NUMBER(width, MJCF("width") HASH(8)), NUMBER(height, MJCF("height") HASH(9)),
    FLAG(flip_columns, MJCF("hflip") HASH(10)), FLAG(flip_rows, MJCF("vflip") HASH(11)),
    NUMBER(grid, INITIAL(1.0) OTHER("gridsize") HASH(12)), TEXT(layout, OTHER("gridlayout") HASH(13)),
    POINTER(file, BY_CODE), NUMBER(file_size, ), POINTER(decode, ),
};
#undef T
#define T mf_Material
static const mf_ModelField material_fields[] = {
    TEXT(name, OTHER("name")), REAL(color, UNIT("1") INITIAL(1.0) MJCF("rgba")),
    REAL(repeat, UNIT("1") INITIAL(1.0) MJCF("texrepeat") HASH(2)),
    FLAG(uniform, MJCF("texuniform") HASH(3)), REAL(emission, UNIT("1") MJCF("emission") HASH(4)),
    REAL(specular, UNIT("1") INITIAL(0.5) MJCF("specular")),
    REAL(shininess, UNIT("1") INITIAL(0.5) MJCF("shininess")),
    REAL(reflectance, UNIT("1") MJCF("reflectance")),
    INDEX(texture, TEXTURE, OTHER("texture") HASH(1)),
};
#undef T

#define T mf_Site
static const mf_ModelField site_fields[] = {
    TEXT(name, OTHER("name")),
    ENUM(type, mf_shape_names, INITIAL(MF_SHAPE_SPHERE) OTHER("type")),
    REAL(size, UNIT("m") OTHER("size")),
    REAL(local_position, UNIT("m") OTHER("pos")),
    REAL(local_rotation, UNIT("1") IDENTITY OTHER("quat")),
    INTEGER(group, MJCF("group")),
    INDEX(body, BODY, ),
    ITEM(frame, FRAME, ),
};
#undef T

#define T mf_ContactPair
static const mf_ModelField pair_fields[] = {
    TEXT(name, OTHER("name")),
    INDEX(shapes, SHAPE, OTHER("geom1") BY_CODE),
    NUMBER(dimension, INITIAL(3.0) MJCF("condim") HASH(101)),
    REAL(friction, UNIT("1") INITIAL(1.0, 1.0, 0.005, 0.0001, 0.0001) SHORT("friction") HASH(102)),
    REAL(friction_reference, UNIT("s") SHORT("solreffriction") HASH(103)),
    ITEM(softness, SOFTNESS, MJCF("sol%s") HASH(106)),
    REAL(margin, UNIT("m") MJCF("margin") HASH(104)),
    REAL(gap, UNIT("m") MJCF("gap") HASH(105)),
};
#undef T

#define T mf_ContactExclusion
static const mf_ModelField exclusion_fields[] = {
    TEXT(name, OTHER("name")),
    INDEX(bodies, BODY, OTHER("body1") HASH(101)),
};
#undef T

#define T mf_Tendon
static const mf_ModelField tendon_fields[] = {
    TEXT(name, OTHER("name")),
    REAL(lower, UNIT("m") SAYS("limit") INITIAL(-ENDLESS) RANGE("range") HASH(102)),
    REAL(upper, UNIT("m") SAYS("limit") INITIAL(ENDLESS) HASH(103)),
    REAL(force_lower, UNIT("N") SAYS("smallest force of all actuators") INITIAL(-ENDLESS)
         RANGE("actuatorfrcrange") HASH(110)),
    REAL(force_upper, UNIT("N") SAYS("largest force of all actuators") INITIAL(ENDLESS) HASH(111)),
    REAL(spring_lower, UNIT("m") SAYS("length from which there is no spring "
                                      "force") OTHER("springlength") HASH(104)),
    REAL(spring_upper, UNIT("m") SAYS("to here") OTHER("springlength") HASH(105)),
    REAL(stiffness, UNIT("N/m") SAYS("of its spring") OTHER("stiffness") HASH(106)),
    REAL(damping, UNIT("N s/m") SAYS("viscous friction") OTHER("damping") HASH(107)),
    REAL(friction, UNIT("N") SAYS("dry friction") MJCF("frictionloss") HASH(108)),
    REAL(armature, UNIT("kg") SAYS("inertia of the drive") MJCF("armature") HASH(109)),
    REAL(limit_margin, UNIT("m") SAYS("distance at which the limit begins to act") MJCF("margin")
         HASH(112)),
    ITEM(limit_softness, SOFTNESS, MJCF("sol%slimit") HASH(113)),
    ITEM(friction_softness, SOFTNESS, MJCF("sol%sfriction") HASH(114)),
    INTEGER(group, MJCF("group")),
    INDEX(first_term, TENDON_TERM, ),
    NUMBER(term_count, HASH(101)),
    INDEX(first_wrap, TENDON_WRAP, ),
    NUMBER(wrap_count, BY_CODE),
};
#undef T

#define T mf_TendonTerm
static const mf_ModelField tendon_term_fields[] = {
    INDEX(joint, JOINT, OTHER("joint") HASH(101)),
    REAL(coefficient, UNIT("1") INITIAL(1.0) MJCF("coef") HASH(102)),
};
#undef T

#define T mf_TendonWrap
static const mf_ModelField tendon_wrap_fields[] = {
    ENUM(type, wrap_names, BY_CODE),
    INDEX(object, SITE, OTHER("site")),
    ITEM(frame, FRAME, BY_CODE),
    REAL(radius, UNIT("m") BY_CODE),
    INDEX(side, SITE, OTHER("sidesite") BY_CODE),
    REAL(side_position, UNIT("m") IN("link") BY_CODE),
    INDEX(side_link, LINK, BY_CODE),
    REAL(divisor, UNIT("1") INITIAL(1.0) MJCF("divisor") BY_CODE),
};
#undef T

#define T mf_Equality
static const mf_ModelField equality_fields[] = {
    TEXT(name, OTHER("name")),
    ENUM(type, equality_names, HASH(101)),
    FLAG(active, INITIAL(1.0) MJCF("active") HASH(102)),
    ITEM(softness, SOFTNESS, MJCF("sol%s") HASH(203)),
    INDEX(objects, BODY, OTHER("body1") BY_CODE),
    INDEX(sites, SITE, OTHER("site1")),
    REAL(anchor, UNIT("m") IN("body") OTHER("anchor")),
    REAL(relative, UNIT("m") OTHER("relpose")),
    REAL(torque_scale, UNIT("m") OTHER("torquescale") HASH(202)),
    REAL(coefficients, UNIT("1") OTHER("polycoef") HASH(201)),
    ITEM(frames, FRAME, BY_CODE),
};
#undef T

#define T mf_Actuator
static const mf_ModelField actuator_fields[] = {
    TEXT(name, OTHER("name")),
    ENUM(drive, drive_names, HASH(101)),
    INDEX(joint, JOINT, OTHER("joint") HASH(103)),
    INDEX(tendon, TENDON, OTHER("tendon") HASH(104)),
    INDEX(site, SITE, OTHER("site")),
    INDEX(reference_site, SITE, OTHER("refsite")),
    INDEX(body, BODY, OTHER("body") BY_CODE),
    REAL(gear, UNIT("1") SAYS("ratio") INITIAL(1.0, 0.0) SHORT("gear") HASH(107)),
    ENUM(dynamics, dynamics_names, OTHER("dyntype") HASH(102)),
    REAL(time_constant, UNIT("s") SAYS("of filters") OTHER("dynprm") HASH(110)),
    REAL(gain, UNIT("N") SAYS("per control; then per length, per rate") OTHER("gainprm") HASH(108)),
    REAL(bias, UNIT("N") SAYS("then per length, per rate") OTHER("biasprm") HASH(109)),
    ITEM(muscle, MUSCLE, HASH(121)),
    REAL(control_lower, UNIT("1") SAYS("least control") INITIAL(-ENDLESS) RANGE("ctrlrange")
         HASH(111)),
    REAL(control_upper, UNIT("1") SAYS("largest control") INITIAL(ENDLESS) HASH(112)),
    REAL(force_lower, UNIT("N") SAYS("smallest force; N m on hinges") INITIAL(-ENDLESS)
         RANGE("forcerange") HASH(113)),
    REAL(force_upper, UNIT("N") SAYS("largest force; N m on hinges") INITIAL(ENDLESS) HASH(114)),
    REAL(activation_lower, UNIT("1") SAYS("least activation") INITIAL(-ENDLESS) RANGE("actrange")
         HASH(115)),
    REAL(activation_upper, UNIT("1") SAYS("largest activation") INITIAL(ENDLESS) HASH(116)),
    FLAG(early, OTHER("actearly") HASH(105)),
    REAL(armature, UNIT("kg m^2") SAYS("behind the gear") MJCF("armature") HASH(117)),
    REAL(damping, UNIT("N m s/rad") SAYS("behind the gear") OTHER("damping") HASH(118)),
    INTEGER(group, MJCF("group")),
    FLAG(explicit_rate, OTHER("plugin") HASH(106)),
    REAL(slew_limit, UNIT("1/s") SAYS("largest rate of change of the control; 0: "
                                      "unlimited") OTHER("slewmax")
         HASH(120)),
    REAL(integral_gain, UNIT("N/s") SAYS("N m/s on hinges, per length") OTHER("ki") HASH(119)),
    ITEM(frame, FRAME, BY_CODE),
    ITEM(reference, FRAME, BY_CODE),
    INDEX(activation_address, COUNT, ),
};
#undef T

#define T mf_Sensor
static const mf_ModelField sensor_fields[] = {
    TEXT(name, OTHER("name")),
    ENUM(type, sensor_names, HASH(1)),
    INDEX(link, LINK, HASH(2)),
    INDEX(joint, JOINT, OTHER("joint") HASH(3)),
    REAL(start, UNIT("m") IN("link") SAYS("of a ray") HASH(4)),
    REAL(direction, UNIT("1") IN("link") SAYS("of a ray") HASH(5)),
    REAL(range, UNIT("m") SAYS("length of a ray") HASH(6)),
    INDEX(tendon, TENDON, OTHER("tendon") HASH(101)),
    INDEX(actuator, ACTUATOR, OTHER("actuator") HASH(102)),
    INDEX(site, SITE, OTHER("site")),
    INDEX(body, BODY, OTHER("body") HASH(103)),
    ITEM(frame, FRAME, HASH(104)),
    FLAG(has_reference, HASH(105)),
    ITEM(reference, FRAME, HASH(106)),
    ENUM(object, object_names, OTHER("objtype")),
    INDEX(object_index, COUNT, OTHER("objname")),
    ENUM(reference_object, object_names, OTHER("reftype")),
    INDEX(reference_index, COUNT, OTHER("refname")),
    ITEM(query, CONTACT_QUERY, BY_CODE),
    ITEM(signal, SIGNAL, HASH(7)),
    TEXT(field, BY_CODE),
    NUMBER(component, BY_CODE),
    NUMBER(address, ),
    NUMBER(count, OTHER("dim") HASH(201)),
};
#undef T

#define T mf_Dock
static const mf_ModelField dock_fields[] = {
    TEXT(name, ),
    ITEM(frame, FRAME, SAYS("x axis outwards") HASH(1)),
    ENUM(gender, gender_names, URDF("dock gender") HASH(2)),
    TEXT(type, URDF("dock type") HASH(19)),
    TEXT(fits, URDF("dock fits") SAYS("types that it fits; empty: its own") HASH(20)),
    NUMBER(orientations, INITIAL(1.0) URDF("dock orientations") SAYS("1, 2 or 4, evenly about x")
           HASH(3)),
    FLAG(enabled, INITIAL(1.0) URDF("dock enabled") HASH(4)),
    REAL(distance, UNIT("m") INITIAL(0.005) URDF("dock distance") SAYS("tolerance") HASH(5)),
    REAL(angle, UNIT("rad") INITIAL(0.1) URDF("dock angle") SAYS("tolerance") HASH(6)),
    REAL(closing, UNIT("s") URDF("dock closing") SAYS("time that a clamp takes") HASH(7)),
    REAL(failure, UNIT("1") URDF("dock failure") SAYS("probability that a latch does not catch")
         HASH(8)),
    REAL(pull, UNIT("N") URDF("dock pull") SAYS("of a magnet, at contact") HASH(9)),
    REAL(range, UNIT("m") URDF("dock range") SAYS("of the magnet") HASH(10)),
    REAL(stiffness, UNIT("N/m") URDF("dock stiffness") SAYS("0: rigid") HASH(11)),
    REAL(damping, UNIT("N s/m") URDF("dock damping") HASH(12)),
    REAL(angular_stiffness, UNIT("N m/rad") URDF("dock angular_stiffness") SAYS("0: rigid")
         HASH(13)),
    REAL(angular_damping, UNIT("N m s/rad") URDF("dock angular_damping") HASH(14)),
    REAL(tension, UNIT("N") INITIAL(ENDLESS) URDF("dock tension") SAYS("limit") HASH(15)),
    REAL(shear, UNIT("N") INITIAL(ENDLESS) URDF("dock shear") SAYS("limit") HASH(16)),
    REAL(bending, UNIT("N m") INITIAL(ENDLESS) URDF("dock bending") SAYS("limit") HASH(17)),
    REAL(torsion, UNIT("N m") INITIAL(ENDLESS) URDF("dock torsion") SAYS("limit") HASH(18)),
};
#undef T

#define T mf_Camera
static const mf_ModelField camera_fields[] = {
    TEXT(name, ),
    ITEM(frame, FRAME, SAYS("x axis forward, y to the left, z up") HASH(21)),
    NUMBER(width, HASH(1) INITIAL(320.0) URDF("camera width") SAYS("columns")),
    NUMBER(height, HASH(2) INITIAL(240.0) URDF("camera height") SAYS("rows")),
    ENUM(lens, lens_names, HASH(3) URDF("camera lens")),
    REAL(focal, HASH(4) UNIT("pixel") INITIAL(289.70562748477142) URDF("camera focal")
         SAYS("per column and row; or fovy, the angle of view from top to bottom")),
    REAL(center, HASH(5) UNIT("pixel") INITIAL(159.5, 119.5) URDF("camera center")
         SAYS("column and row of the optical axis; the first pixel is 0, 0")),
    REAL(coefficients, HASH(6) UNIT("1") URDF("camera coefficients") SOME SAYS("of the lens")),
    REAL(nearest, HASH(7) UNIT("m") INITIAL(0.01) URDF("camera nearest") SAYS("depth of what is seen")),
    REAL(farthest, HASH(8) UNIT("m") INITIAL(100.0) URDF("camera farthest")),
    FLAG(color, HASH(9) INITIAL(1.0) URDF("camera color")),
    FLAG(depth, HASH(10) URDF("camera depth")),
    FLAG(segmentation, HASH(11) URDF("camera segmentation")),
    FLAG(shadows, HASH(19) INITIAL(1.0) URDF("camera shadows") SAYS("of the light, in the colors")),
    NUMBER(samples, HASH(20) INITIAL(1.0) URDF("camera samples")
           SAYS("colors are means of samples^2 rays per pixel")),
    REAL(blur, HASH(12) UNIT("pixel") URDF("camera blur") SAYS("standard deviation of the Gaussian")),
    REAL(vignetting, HASH(13) UNIT("1") URDF("camera vignetting")
         SAYS("share of the loss 1 - cos^4 of the angle from the axis")),
    REAL(noise, HASH(14) UNIT("1") URDF("camera noise") SAYS("standard deviation of colors 0 .. 1")),
    NUMBER(bits, HASH(15) INITIAL(8.0) URDF("camera bits") SAYS("of each color")),
    REAL(readout, HASH(16) UNIT("s") URDF("camera readout")
         SAYS("rolling shutter: time from the first row to the last")),
    ITEM(rate, RATE, HASH(17) URDF("camera rate") SAYS("of pictures")),
    TIME(delay, HASH(18) URDF("camera delay") SAYS("in nanoseconds; in URDF seconds")),
};
#undef T

#define T mf_Keyframe
static const mf_ModelField keyframe_fields[] = {
    TEXT(name, OTHER("name")),
    REAL(time, UNIT("s") OTHER("time")),
    REALS(position, position_count, UNIT("m") OTHER("qpos")),
    REALS(velocity, velocity_count, UNIT("m/s") OTHER("qvel")),
    REALS(activation, activation_count, UNIT("1") OTHER("act")),
    REALS(control, actuator_count, UNIT("1") OTHER("ctrl")),
};
#undef T

#define T mf_Note
static const mf_ModelField note_fields[] = {
    FLAG(suspicious, ),
    FLAG(unsupported, ),
    INTEGER(line, ),
    TEXT(file, ),
    TEXT(text, ),
};
#undef T

#define T mf_Frame
static const mf_ModelField frame_fields[] = {
    INDEX(link, LINK, HASH(1)),
    REAL(position, UNIT("m") IN("link") HASH(2)),
    REAL(rotation, UNIT("1") IN("link") IDENTITY HASH(3)),
};
#undef T

#define T mf_Softness
static const mf_ModelField softness_fields[] = {
    REAL(reference, UNIT("s") SAYS("time constant and damping ratio") INITIAL(0.02, 1.0)
         SHORT("ref") HASH(1)),
    REAL(impedance, UNIT("1") SAYS("at 0, at the width, width, midpoint, power")
         INITIAL(0.9, 0.95, 0.001, 0.5, 2.0) SHORT("imp") HASH(2)),
};
#undef T

#define T mf_Servo
static const mf_ModelField servo_fields[] = {
    REAL(gain, UNIT("N m/rad") URDF("servo gain") HASH(1)),
    REAL(damping, UNIT("N m s/rad") URDF("servo damping") HASH(2)),
    REAL(effort, UNIT("N m") INITIAL(ENDLESS) URDF("servo effort") HASH(3)),
    REAL(speed, UNIT("rad/s") INITIAL(ENDLESS) URDF("servo speed") HASH(4)),
    REAL(no_load_speed, UNIT("rad/s") INITIAL(ENDLESS) URDF("servo no_load_speed") HASH(5)),
    REAL(rotor_inertia, UNIT("kg m^2") URDF("servo rotor_inertia") HASH(6)),
    REAL(gear, UNIT("1") INITIAL(1.0) URDF("servo gear") HASH(7)),
    REAL(backlash, UNIT("rad") URDF("servo backlash") HASH(8)),
};
#undef T

#define T mf_Muscle
static const mf_ModelField muscle_fields[] = {
    FLAG(exists, BY_CODE),
    REAL(length_range, UNIT("m") OTHER("lengthrange") HASH(1)),
    REAL(range, UNIT("1") OTHER("range") HASH(2)),
    REAL(force, UNIT("N") OTHER("force") HASH(3)),
    REAL(scale, UNIT("1") OTHER("scale") HASH(4)),
    REAL(lower, UNIT("1") OTHER("lmin") HASH(5)),
    REAL(upper, UNIT("1") OTHER("lmax") HASH(6)),
    REAL(speed, UNIT("1/s") OTHER("vmax") HASH(7)),
    REAL(passive, UNIT("1") OTHER("fpmax") HASH(8)),
    REAL(lengthening, UNIT("1") OTHER("fvmax") HASH(9)),
    REAL(acceleration, UNIT("1/kg") HASH(10)),
    REAL(rise, UNIT("s") OTHER("timeconst") HASH(11)),
    REAL(fall, UNIT("s") OTHER("timeconst") HASH(12)),
    REAL(smoothing, UNIT("1") OTHER("tausmooth") HASH(13)),
};
#undef T

#define T mf_Rate
static const mf_ModelField rate_fields[] = {
    TIME(numerator, HASH(1)),
    TIME(denominator, HASH(2)),
};
#undef T

#define T mf_Signal
static const mf_ModelField signal_fields[] = {
    ITEM(rate, RATE, OTHER("interval") HASH(1)),
    TIME(delay, OTHER("delay") HASH(2)),
    REAL(saturation, UNIT("1") SAYS("range of the sensing element") HASH(3)),
    REAL(noise, UNIT("1") SAYS("standard deviation, in the unit of the value") OTHER("noise")
         HASH(4)),
    REAL(bias, UNIT("1") SAYS("standard deviation of the bias, constant in an episode") HASH(5)),
    REAL(drift, UNIT("1") SAYS(
        "standard deviation of the random walk of the bias per sqrt(s)") HASH(6)),
    REAL(range, UNIT("1") SAYS("range of the converter") OTHER("cutoff") HASH(7)),
    REAL(resolution, UNIT("1") SAYS("step of the converter without bits") HASH(8)),
    NUMBER(bits, HASH(9)),
};
#undef T

#define T mf_ContactQuery
static const mf_ModelField contact_query_fields[] = {
    ENUM(sides, side_names, HASH(1)),
    INDEX(objects, COUNT, BY_CODE),
    NUMBER(data, OTHER("data") HASH(2)),
    FLAG(nearest, OTHER("reduce") HASH(3)),
    NUMBER(slots, OTHER("num")),
};
#undef T

#define T mf_Physics
static const mf_ModelField physics_fields[] = {
    REAL(step, UNIT("s") INITIAL(0.002) MJCF("timestep") HASH(101)),
    REAL(gravity, UNIT("m/s^2") IN("world") INITIAL(0.0, 0.0, -9.81) MJCF("gravity") HASH(110)),
    REAL(wind, UNIT("m/s") IN("world") MJCF("wind") HASH(111)),
    REAL(magnetic, UNIT("1") IN("world") INITIAL(0.0, -0.5, 0.0) MJCF("magnetic") HASH(112)),
    REAL(density, UNIT("kg/m^3") MJCF("density") HASH(102)),
    REAL(viscosity, UNIT("Pa s") MJCF("viscosity") HASH(103)),
    REAL(friction_impedance_ratio, UNIT("1") INITIAL(1.0) MJCF("impratio") HASH(104)),
    NUMBER(noslip_iterations, OTHER("noslip_iterations") HASH(108)),
    REAL(noslip_tolerance, UNIT("1") INITIAL(1e-6) MJCF("noslip_tolerance") HASH(106)),
    NUMBER(solver_iterations, INITIAL(100.0) OTHER("iterations") HASH(109)),
    REAL(solver_tolerance, UNIT("m^2/s^4") INITIAL(1e-8) MJCF("tolerance") HASH(107)),
    ENUM(integrator, integrator_names, MJCF("integrator") HASH(113)),
    ENUM(cone, cone_names, MJCF("cone") HASH(114)),
    REAL(override_margin, UNIT("m") MJCF("o_margin") HASH(105)),
    ITEM(override_softness, SOFTNESS, MJCF("o_sol%s") HASH(117)),
    REAL(override_friction, UNIT("1") INITIAL(1.0, 1.0, 0.005, 0.0001, 0.0001)
         SHORT("o_friction") HASH(118)),
    NUMBER(disabled, OTHER("flag") HASH(115)),
    FLAG(override_contacts, OTHER("override") HASH(116)),
};
#undef T

#define T mf_Model
static const mf_ModelField model_fields[] = {
    TEXT(name, OTHER("model") URDF("robot name")),
    TEXT(file, ),
    ENUM(base, base_names, BY_CODE),
    REAL(mass, UNIT("kg") SAYS("of all links")),
    REAL(rest_height, UNIT("m") IN("world") SAYS("base origin above flat ground, joints at their "
                                                 "start")),
    NUMBER(position_count, ),
    NUMBER(velocity_count, ),
    NUMBER(activation_count, ),
    NUMBER(sensor_value_count, ),
    REALS(start_angle, joint_count, UNIT("rad") BY_CODE),
    REALS(start_position, position_count, UNIT("m") BY_CODE),
    POINTER(root, BY_CODE),
    ITEM(physics, PHYSICS, BY_CODE),
    LIST(links, LINK, link_count),
    LIST(joints, JOINT, joint_count),
    LIST(bodies, BODY, body_count),
    LIST(points, POINT, point_count),
    LIST(shapes, SHAPE, shape_count),
    LIST(meshes, MESH, mesh_count),
    LIST(height_fields, HEIGHT_FIELD, height_field_count),
    LIST(textures, TEXTURE, texture_count),
    LIST(materials, MATERIAL, material_count),
    LIST(sites, SITE, site_count),
    LIST(pairs, PAIR, pair_count),
    LIST(exclusions, EXCLUSION, exclusion_count),
    LIST(tendons, TENDON, tendon_count),
    LIST(tendon_terms, TENDON_TERM, tendon_term_count),
    LIST(tendon_wraps, TENDON_WRAP, tendon_wrap_count),
    LIST(equalities, EQUALITY, equality_count),
    LIST(actuators, ACTUATOR, actuator_count),
    LIST(sensors, SENSOR, sensor_count),
    LIST(docks, DOCK, dock_count),
    LIST(cameras, CAMERA, camera_count),
    LIST(keyframes, KEYFRAME, keyframe_count),
    LIST(notes, NOTE, note_count),
    POINTER(context, ),
};
#undef T

#define TABLE(of, list, type) [MF_ITEM_##of] = {#list, #type, sizeof(type), \
    sizeof list##_fields / sizeof *list##_fields, list##_fields}
static const mf_ItemTable tables[MF_ITEM_COUNT] = {
    TABLE(LINK, link, mf_Link),
    TABLE(JOINT, joint, mf_Joint),
    TABLE(BODY, body, mf_Body),
    TABLE(POINT, point, mf_Point),
    TABLE(SHAPE, shape, mf_Shape),
    TABLE(MESH, mesh, mf_Mesh),
    TABLE(HEIGHT_FIELD, height_field, mf_HeightField),
    TABLE(TEXTURE, texture, mf_Texture),
    TABLE(MATERIAL, material, mf_Material),
    TABLE(SITE, site, mf_Site),
    TABLE(PAIR, pair, mf_ContactPair),
    TABLE(EXCLUSION, exclusion, mf_ContactExclusion),
    TABLE(TENDON, tendon, mf_Tendon),
    TABLE(TENDON_TERM, tendon_term, mf_TendonTerm),
    TABLE(TENDON_WRAP, tendon_wrap, mf_TendonWrap),
    TABLE(EQUALITY, equality, mf_Equality),
    TABLE(ACTUATOR, actuator, mf_Actuator),
    TABLE(SENSOR, sensor, mf_Sensor),
    TABLE(DOCK, dock, mf_Dock),
    TABLE(CAMERA, camera, mf_Camera),
    TABLE(KEYFRAME, keyframe, mf_Keyframe),
    TABLE(NOTE, note, mf_Note),
    TABLE(FRAME, frame, mf_Frame),
    TABLE(SOFTNESS, softness, mf_Softness),
    TABLE(SERVO, servo, mf_Servo),
    TABLE(MUSCLE, muscle, mf_Muscle),
    TABLE(RATE, rate, mf_Rate),
    TABLE(SIGNAL, signal, mf_Signal),
    TABLE(CONTACT_QUERY, contact_query, mf_ContactQuery),
    TABLE(PHYSICS, physics, mf_Physics),
    TABLE(MODEL, model, mf_Model),
};
// clang-format on

const mf_ItemTable *mf_item_table(mf_ItemType item) {
    return (unsigned)item < MF_ITEM_COUNT ? &tables[item] : NULL;
}

const mf_ModelField *mf_item_field(mf_ItemType item, const char *name) {
    const mf_ItemTable *table = mf_item_table(item);
    for (uint32_t i = 0; table != NULL && name != NULL && i < table->count; i++)
        if (strcmp(table->fields[i].name, name) == 0)
            return &table->fields[i];
    return NULL;
}

const char *mf_item_name(mf_ItemType item, const void *values) {
    return *(const char *const *)mf_field_at(mf_item_field(item, "name"), values);
}

const void *mf_model_items(const mf_Model *model, mf_ItemType item, uint32_t *count) {
    if (model == NULL || count == NULL)
        return NULL;
    *count = 0;
    for (size_t i = 0; i < tables[MF_ITEM_MODEL].count; i++) {
        const mf_ModelField *field = &model_fields[i];
        if (field->type != MF_VALUE_LIST || field->item != item)
            continue;
        *count = mf_field_length(model, field);
        return *(const void *const *)mf_field_at(field, model);
    }
    return NULL;
}

const char *mf_item_enum_name(const mf_ModelField *field, const void *value) {
    uint32_t index = 0, needed;
    if (field == NULL || field->names == NULL || value == NULL)
        return NULL;
    memcpy(&needed, value, sizeof needed);
    while (field->names[index] != NULL && index != needed)
        index++;
    return field->names[index] != NULL ? field->names[index] : "unknown";
}

void mf_spell(char *out, size_t size, const char *pattern, const char *attribute) {
    const size_t before = strcspn(pattern, "%");
    const char *after = pattern[before] != '\0' ? pattern + before + 2 : "";
    snprintf(out, size, "%.*s%s%s", (int)before, pattern, attribute, after);
}

// ---- defaults ----------------------------------------------------------------------------------

static double initial(const mf_ModelField *field, uint32_t i) {
    return field->given == 1 ? field->initial[0] : i < field->given ? field->initial[i] : 0.0;
}

static void reset_field(const mf_ModelField *field, void *value) {
    for (uint32_t i = 0; i < field->count; i++) {
        const double number = initial(field, i);
        switch (field->type) {
        case MF_VALUE_REAL:
            ((double *)value)[i] = number;
            break;
        case MF_VALUE_SINGLE:
            ((float *)value)[i] = (float)number;
            break;
        case MF_VALUE_INTEGER:
        case MF_VALUE_ENUM:
            ((int32_t *)value)[i] = (int32_t)number;
            break;
        case MF_VALUE_NUMBER:
        case MF_VALUE_INDEX:
            ((uint32_t *)value)[i] = field->type == MF_VALUE_INDEX ? MF_NONE : (uint32_t)number;
            break;
        case MF_VALUE_FLAG:
            ((bool *)value)[i] = number > 0.0;
            break;
        case MF_VALUE_TEXT:
            ((const char **)value)[i] = "";
            break;
        case MF_VALUE_ITEM:
            mf_item_reset(field->item, (char *)value + i * mf_item_table(field->item)->size);
            break;
        default:
            break;
        }
    }
}

void mf_item_reset(mf_ItemType item, void *values) {
    const mf_ItemTable *table = mf_item_table(item);
    memset(values, 0, table->size);
    for (uint32_t i = 0; i < table->count; i++)
        reset_field(&table->fields[i], (char *)values + table->fields[i].offset);
}
