// A model as MJCF. Everything is written as the model holds it: explicit inertias, poses as
// quaternions in their bodies, actuators in the general form, no classes; so that loading the file
// gives the same model bit for bit. Numbers have 17 digits, which is exact for doubles.
//
// Joints of one body are one chain of links; geoms, sites and joints carry their numbers in the
// body's frame for this purpose.
#include "base/text.h"

#include <mayfly/model.h>

#include "math/scalar.h"

#include <math.h>
#include <string.h>

typedef struct Writer {
    const mf_Model *model;
    mf_Text text;
} Writer;

static void put(Writer *w, const char *text) {
    mf_text_put(&w->text, text);
}

static void number(Writer *w, const char *name, double value) {
    mf_text_format(&w->text, " %s=\"%.17g\"", name, value);
}

static void numbers(Writer *w, const char *name, const double *values, uint32_t count) {
    mf_text_format(&w->text, " %s=\"", name);
    for (uint32_t i = 0; i < count; i++)
        mf_text_format(&w->text, "%s%.17g", i ? " " : "", values[i]);
    put(w, "\"");
}

static void integer(Writer *w, const char *name, long value) {
    mf_text_format(&w->text, " %s=\"%ld\"", name, value);
}

static void flag(Writer *w, const char *name, bool value) {
    mf_text_format(&w->text, " %s=\"%s\"", name, value ? "true" : "false");
}

static void word(Writer *w, const char *name, const char *value) {
    mf_text_format(&w->text, " %s=\"", name);
    mf_text_escape(&w->text, value);
    put(w, "\"");
}

static void name(Writer *w, const char *value) {
    if (value != NULL && *value != '\0')
        word(w, "name", value);
}

static void indent(Writer *w, uint32_t level) {
    for (uint32_t i = 0; i < level; i++)
        put(w, "  ");
}

static void range(Writer *w, const char *attribute, const char *limited, double lower,
                  double upper) {
    const double both[2] = {lower, upper};
    bool finite = mf_is_finite(lower) && mf_is_finite(upper);
    flag(w, limited, finite);
    if (finite)
        numbers(w, attribute, both, 2);
}

static void softness(Writer *w, const char *reference, const char *impedance,
                     const mf_Softness *soft) {
    numbers(w, reference, soft->reference, 2);
    numbers(w, impedance, soft->impedance, 5);
}

// Elements refer to each other by name, so what has none gets one that nothing else has.
static void object_name(Writer *w, const char *attribute, const char *kind, const char *given,
                        uint32_t index) {
    if (given != NULL && *given != '\0')
        word(w, attribute, given);
    else
        mf_text_format(&w->text, " %s=\"mayfly.%s.%u\"", attribute, kind, index);
}

static void body_name(Writer *w, const char *attribute, uint32_t body) {
    if (body == MF_NONE)
        word(w, attribute, "world");
    else
        object_name(w, attribute, "body", w->model->bodies[body].name, body);
}

static void joint_name(Writer *w, const char *attribute, uint32_t joint) {
    word(w, attribute, w->model->joints[joint].name);
}

static void site_name(Writer *w, const char *attribute, uint32_t site) {
    object_name(w, attribute, "site", w->model->sites[site].name, site);
}

// ---- settings and assets -----------------------------------------------------------------------

static void put_option(Writer *w) {
    static const char *const integrators[] = {"Euler", "RK4", "implicit", "implicitfast"};
    static const char *const flags[] = {
        "constraint", "equality",  "frictionloss", "limit",     "contact", "spring", "damper",
        "gravity",    "clampctrl", "filterparent", "actuation", "refsafe", "sensor", "eulerdamp"};
    const mf_Physics *p = &w->model->physics;
    put(w, "  <compiler angle=\"radian\" autolimits=\"false\" inertiafromgeom=\"false\"/>\n"
           "  <option");
    number(w, "timestep", p->step);
    numbers(w, "gravity", p->gravity, 3);
    numbers(w, "wind", p->wind, 3);
    numbers(w, "magnetic", p->magnetic, 3);
    number(w, "density", p->density);
    number(w, "viscosity", p->viscosity);
    number(w, "impratio", p->friction_impedance_ratio);
    integer(w, "noslip_iterations", (long)p->noslip_iterations);
    number(w, "noslip_tolerance", p->noslip_tolerance);
    number(w, "iterations", p->solver_iterations);
    number(w, "tolerance", p->solver_tolerance);
    word(w, "integrator", integrators[p->integrator]);
    word(w, "cone", p->cone == MF_CONE_ELLIPTIC ? "elliptic" : "pyramidal");
    number(w, "o_margin", p->override_margin);
    softness(w, "o_solref", "o_solimp", &p->override_softness);
    numbers(w, "o_friction", p->override_friction, 5);
    put(w, ">\n    <flag");
    for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (p->disabled >> i & 1)
            word(w, flags[i], "disable");
    }
    if (p->override_contacts)
        word(w, "override", "enable");
    put(w, "/>\n  </option>\n");
}

static void put_mesh(Writer *w, uint32_t index) {
    const mf_Mesh *mesh = &w->model->meshes[index];
    mf_text_format(&w->text, "    <mesh name=\"mayfly.mesh.%u\"", index);
    if (mesh->hull_limit > 0)
        integer(w, "maxhullvert", (long)mesh->hull_limit);
    if (mesh->shell)
        word(w, "inertia", "shell");
    if (mesh->path[0] != '\0') {
        word(w, "file", mesh->path);
        numbers(w, "refpos", mesh->reference_position, 3);
        numbers(w, "refquat", mesh->reference_rotation, 4);
        numbers(w, "scale", mesh->scale, 3);
        put(w, "/>\n");
        return;
    }
    put(w, " vertex=\"");
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        mf_text_format(&w->text, "%.9g ", (double)mesh->vertices[i]);
    put(w, "\" face=\"");
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
        mf_text_format(&w->text, "%u ", mesh->triangles[i]);
    put(w, "\"/>\n");
}

// The file's first row is at +y; heights are already scaled into 0 .. 1.
static void put_heights(Writer *w, uint32_t index) {
    const mf_HeightField *field = &w->model->height_fields[index];
    const double size[4] = {field->half_size[0], field->half_size[1], field->height, field->base};
    mf_text_format(&w->text, "    <hfield name=\"mayfly.hfield.%u\"", index);
    integer(w, "nrow", (long)field->rows);
    integer(w, "ncol", (long)field->columns);
    numbers(w, "size", size, 4);
    put(w, " elevation=\"");
    for (uint32_t row = field->rows; row-- > 0;) {
        for (uint32_t column = 0; column < field->columns; column++)
            mf_text_format(&w->text, "%.9g ",
                           (double)field->heights[(size_t)row * field->columns + column]);
    }
    put(w, "\"/>\n");
}

static void put_assets(Writer *w) {
    put(w, "  <asset>\n");
    for (uint32_t i = 0; i < w->model->mesh_count; i++)
        put_mesh(w, i);
    for (uint32_t i = 0; i < w->model->height_field_count; i++)
        put_heights(w, i);
    put(w, "  </asset>\n");
}

// ---- bodies ------------------------------------------------------------------------------------

static void put_joint(Writer *w, const mf_Joint *joint, uint32_t level) {
    static const char *const types[] = {"hinge", "slide", "ball", "", "free", ""};
    bool single = joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
    indent(w, level);
    put(w, "<joint");
    word(w, "name", joint->name);
    word(w, "type", types[joint->type]);
    if (single) {
        numbers(w, "axis", joint->axis, 3);
        number(w, "ref", joint->reference);
        number(w, "springref", joint->spring_reference);
        range(w, "actuatorfrcrange", "actuatorfrclimited", joint->force_lower, joint->force_upper);
    }
    if (joint->type != MF_JOINT_FLOATING) {
        numbers(w, "pos", joint->anchor, 3);
        range(w, "range", "limited", joint->lower, joint->upper);
    } else {
        flag(w, "limited", false);
    }
    number(w, "damping", joint->damping);
    number(w, "frictionloss", joint->friction);
    number(w, "armature", joint->armature);
    number(w, "stiffness", joint->stiffness);
    number(w, "margin", joint->limit_margin);
    flag(w, "actuatorgravcomp", joint->lift_by_actuator);
    softness(w, "solreflimit", "solimplimit", &joint->limit_softness);
    softness(w, "solreffriction", "solimpfriction", &joint->friction_softness);
    put(w, "/>\n");
}

static void put_size(Writer *w, mf_ShapeType type, const double size[3]) {
    double half[3] = {size[0] / 2, size[1] / 2, size[2] / 2};
    switch (type) {
    case MF_SHAPE_BOX:
        numbers(w, "size", half, 3);
        break;
    case MF_SHAPE_CYLINDER:
    case MF_SHAPE_CAPSULE:
        half[0] = size[0];
        numbers(w, "size", half, 2);
        break;
    case MF_SHAPE_PLANE:
        half[2] = 1.0; // spacing of the drawn grid
        numbers(w, "size", half, 3);
        break;
    case MF_SHAPE_SPHERE:
        number(w, "size", size[0]);
        break;
    case MF_SHAPE_ELLIPSOID:
        numbers(w, "size", size, 3);
        break;
    default:
        break;
    }
}

static const char *const shape_words[] = {"",     "box",   "cylinder",  "sphere", "capsule",
                                          "mesh", "plane", "ellipsoid", "hfield"};

static void put_geom(Writer *w, uint32_t index, uint32_t level) {
    const mf_Shape *shape = &w->model->shapes[index];
    const double color[4] = {(double)shape->color[0], (double)shape->color[1],
                             (double)shape->color[2], 1.0};
    indent(w, level);
    put(w, "<geom");
    object_name(w, "name", "geom", shape->name, index);
    word(w, "type", shape_words[shape->type]);
    put_size(w, shape->type, shape->size);
    if (shape->type == MF_SHAPE_MESH)
        mf_text_format(&w->text, " mesh=\"mayfly.mesh.%u\"", shape->mesh);
    if (shape->type == MF_SHAPE_HEIGHTS)
        mf_text_format(&w->text, " hfield=\"mayfly.hfield.%u\"", shape->mesh);
    numbers(w, "pos", shape->local_position, 3);
    numbers(w, "quat", shape->local_rotation, 4);
    integer(w, "contype", (int32_t)shape->contact_type);
    integer(w, "conaffinity", (int32_t)shape->contact_with);
    integer(w, "condim", (long)shape->dimension);
    integer(w, "priority", shape->priority);
    integer(w, "group", shape->group);
    numbers(w, "friction", shape->friction, 3);
    number(w, "solmix", shape->mix);
    softness(w, "solref", "solimp", &shape->softness);
    number(w, "margin", shape->margin);
    number(w, "gap", shape->gap);
    if (shape->fluid) {
        word(w, "fluidshape", "ellipsoid");
        numbers(w, "fluidcoef", shape->fluid_coefficients, 5);
    }
    numbers(w, "rgba", color, 4);
    put(w, "/>\n");
}

static void put_site(Writer *w, uint32_t index, uint32_t level) {
    const mf_Site *site = &w->model->sites[index];
    indent(w, level);
    put(w, "<site");
    object_name(w, "name", "site", site->name, index);
    word(w, "type", shape_words[site->type]);
    put_size(w, site->type, site->size);
    numbers(w, "pos", site->local_position, 3);
    numbers(w, "quat", site->local_rotation, 4);
    integer(w, "group", site->group);
    put(w, "/>\n");
}

// Geoms and sites of one body; MF_NONE: the world.
static void put_contents(Writer *w, uint32_t body, uint32_t level) {
    for (uint32_t i = 0; i < w->model->shape_count; i++) {
        if (w->model->shapes[i].body == body)
            put_geom(w, i, level);
    }
    for (uint32_t i = 0; i < w->model->site_count; i++) {
        if (w->model->sites[i].body == body)
            put_site(w, i, level);
    }
}

static void open_body(Writer *w, uint32_t index, uint32_t level) {
    const mf_Model *model = w->model;
    const mf_Body *body = &model->bodies[index];
    indent(w, level);
    put(w, "<body");
    object_name(w, "name", "body", body->name, index);
    numbers(w, "pos", body->local_position, 3);
    numbers(w, "quat", body->local_rotation, 4);
    number(w, "gravcomp", body->gravity_compensated);
    if (body->mocap)
        flag(w, "mocap", true);
    put(w, ">\n");
    if (body->mass > 0.0 || body->moments[0] > 0.0) {
        indent(w, level + 1);
        put(w, "<inertial");
        numbers(w, "pos", body->center, 3);
        numbers(w, "quat", body->axes, 4);
        number(w, "mass", body->mass);
        numbers(w, "diaginertia", body->moments, 3);
        put(w, "/>\n");
    }
    bool based = model->base == MF_BASE_FREE && body->link == 0 && body->parent == MF_NONE;
    if (based && model->root != NULL)
        put_joint(w, model->root, level + 1);
    for (uint32_t i = 0; i < model->joint_count; i++) {
        if (model->joints[i].body == index)
            put_joint(w, &model->joints[i], level + 1);
    }
    put_contents(w, index, level + 1);
}

static void put_bodies(Writer *w) {
    const mf_Model *model = w->model;
    uint32_t level = 2, open = MF_NONE; // the innermost open body
    put(w, "  <worldbody>\n");
    put_contents(w, MF_NONE, level);
    for (uint32_t i = 0; i <= model->body_count; i++) {
        uint32_t parent = i < model->body_count ? model->bodies[i].parent : MF_NONE;
        while (open != parent) {
            indent(w, --level);
            put(w, "</body>\n");
            open = model->bodies[open].parent;
        }
        if (i == model->body_count)
            break;
        open_body(w, i, level++);
        open = i;
    }
    put(w, "  </worldbody>\n");
}

// ---- the rest ----------------------------------------------------------------------------------

static void put_contacts(Writer *w) {
    const mf_Model *model = w->model;
    put(w, "  <contact>\n");
    for (uint32_t i = 0; i < model->pair_count; i++) {
        const mf_ContactPair *pair = &model->pairs[i];
        put(w, "    <pair");
        name(w, pair->name);
        for (int k = 0; k < 2; k++)
            object_name(w, k ? "geom2" : "geom1", "geom", model->shapes[pair->shapes[k]].name,
                        pair->shapes[k]);
        integer(w, "condim", (long)pair->dimension);
        numbers(w, "friction", pair->friction, 5);
        numbers(w, "solreffriction", pair->friction_reference, 2);
        softness(w, "solref", "solimp", &pair->softness);
        number(w, "margin", pair->margin);
        number(w, "gap", pair->gap);
        put(w, "/>\n");
    }
    for (uint32_t i = 0; i < model->exclusion_count; i++) {
        put(w, "    <exclude");
        name(w, model->exclusions[i].name);
        body_name(w, "body1", model->exclusions[i].bodies[0]);
        body_name(w, "body2", model->exclusions[i].bodies[1]);
        put(w, "/>\n");
    }
    put(w, "  </contact>\n");
}

static void put_path(Writer *w, const mf_Tendon *tendon) {
    for (uint32_t k = tendon->first_wrap; k < tendon->first_wrap + tendon->wrap_count; k++) {
        const mf_TendonWrap *wrap = &w->model->tendon_wraps[k];
        if (wrap->type == MF_WRAP_PULLEY) {
            put(w, "      <pulley");
            number(w, "divisor", wrap->divisor);
        } else if (wrap->type == MF_WRAP_SITE) {
            put(w, "      <site");
            site_name(w, "site", wrap->object);
        } else {
            put(w, "      <geom");
            object_name(w, "geom", "geom", w->model->shapes[wrap->object].name, wrap->object);
            if (wrap->side != MF_NONE)
                site_name(w, "sidesite", wrap->side);
        }
        put(w, "/>\n");
    }
}

static void put_tendons(Writer *w) {
    const mf_Model *model = w->model;
    put(w, "  <tendon>\n");
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        const mf_Tendon *tendon = &model->tendons[i];
        const double spring[2] = {tendon->spring_lower, tendon->spring_upper};
        const char *kind = tendon->wrap_count > 0 ? "spatial" : "fixed";
        mf_text_format(&w->text, "    <%s", kind);
        object_name(w, "name", "tendon", tendon->name, i);
        range(w, "range", "limited", tendon->lower, tendon->upper);
        range(w, "actuatorfrcrange", "actuatorfrclimited", tendon->force_lower,
              tendon->force_upper);
        numbers(w, "springlength", spring, 2);
        number(w, "stiffness", tendon->stiffness);
        number(w, "damping", tendon->damping);
        number(w, "frictionloss", tendon->friction);
        number(w, "armature", tendon->armature);
        number(w, "margin", tendon->limit_margin);
        softness(w, "solreflimit", "solimplimit", &tendon->limit_softness);
        softness(w, "solreffriction", "solimpfriction", &tendon->friction_softness);
        integer(w, "group", tendon->group);
        put(w, ">\n");
        for (uint32_t k = 0; k < tendon->term_count; k++) {
            const mf_TendonTerm *term = &model->tendon_terms[tendon->first_term + k];
            put(w, "      <joint");
            joint_name(w, "joint", term->joint);
            number(w, "coef", term->coefficient);
            put(w, "/>\n");
        }
        put_path(w, tendon);
        mf_text_format(&w->text, "    </%s>\n", kind);
    }
    put(w, "  </tendon>\n");
}

static void put_ends(Writer *w, const mf_Equality *equality) {
    bool weld = equality->type == MF_EQUALITY_WELD;
    if (equality->sites[0] != MF_NONE) {
        site_name(w, "site1", equality->sites[0]);
        site_name(w, "site2", equality->sites[1]);
    } else {
        body_name(w, "body1", equality->objects[0]);
        body_name(w, "body2", equality->objects[1]);
        numbers(w, "anchor", equality->anchor, 3);
        if (weld)
            numbers(w, "relpose", equality->relative, 7);
    }
    if (weld)
        number(w, "torquescale", equality->torque_scale);
}

static void put_equalities(Writer *w) {
    static const char *const types[] = {"connect", "weld", "joint", "tendon"};
    const mf_Model *model = w->model;
    put(w, "  <equality>\n");
    for (uint32_t i = 0; i < model->equality_count; i++) {
        const mf_Equality *equality = &model->equalities[i];
        mf_text_format(&w->text, "    <%s", types[equality->type]);
        name(w, equality->name);
        flag(w, "active", equality->active);
        softness(w, "solref", "solimp", &equality->softness);
        if (equality->type == MF_EQUALITY_CONNECT || equality->type == MF_EQUALITY_WELD) {
            put_ends(w, equality);
            put(w, "/>\n");
            continue;
        }
        bool joints = equality->type == MF_EQUALITY_JOINT;
        for (int k = 0; k < 2; k++) {
            uint32_t object = equality->objects[k];
            if (object == MF_NONE)
                continue;
            if (joints)
                joint_name(w, k ? "joint2" : "joint1", object);
            else
                object_name(w, k ? "tendon2" : "tendon1", "tendon", model->tendons[object].name,
                            object);
        }
        numbers(w, "polycoef", equality->coefficients, 5);
        put(w, "/>\n");
    }
    put(w, "  </equality>\n");
}

static void put_target(Writer *w, const mf_Actuator *actuator) {
    switch (actuator->drive) {
    case MF_DRIVE_JOINT:
        joint_name(w, "joint", actuator->joint);
        break;
    case MF_DRIVE_JOINT_IN_PARENT:
        joint_name(w, "jointinparent", actuator->joint);
        break;
    case MF_DRIVE_TENDON:
        object_name(w, "tendon", "tendon", w->model->tendons[actuator->tendon].name,
                    actuator->tendon);
        break;
    case MF_DRIVE_SITE:
        site_name(w, "site", actuator->site);
        if (actuator->reference_site != MF_NONE)
            site_name(w, "refsite", actuator->reference_site);
        break;
    case MF_DRIVE_BODY:
        body_name(w, "body", actuator->body);
        break;
    }
}

static void put_law(Writer *w, const mf_Actuator *a) {
    const mf_Muscle *m = &a->muscle;
    const bool affine = a->gain[1] != 0.0 || a->gain[2] != 0.0;
    const double values[9] = {m->range[0], m->range[1], m->force,   m->scale,      m->lower,
                              m->upper,    m->speed,    m->passive, m->lengthening};
    word(w, "gaintype", m->exists ? "muscle" : affine ? "affine" : "fixed");
    numbers(w, "gainprm", m->exists ? values : a->gain, m->exists ? 9 : 3);
    word(w, "biastype", m->exists ? "muscle" : "affine");
    numbers(w, "biasprm", m->exists ? values : a->bias, m->exists ? 9 : 3);
    if (m->exists)
        numbers(w, "lengthrange", m->length_range, 2);
}

static void put_setting(Writer *w, const char *key, double value) {
    put(w, "\n      <config");
    word(w, "key", key);
    number(w, "value", value);
    put(w, "/>");
}

// The force at the end of an integral's range, so that it gives that range when it is read.
static double integral_limit(const mf_Actuator *a) {
    const double gain = mf_abs(a->integral_gain), most = a->activation_upper * gain;
    const double tries[3] = {most, nextafter(most, 0.0), nextafter(most, INFINITY)};
    for (int i = 0; i < 3; i++)
        if (!(tries[i] / gain < a->activation_upper) && !(a->activation_upper < tries[i] / gain))
            return tries[i];
    return most;
}

// An actuator of MuJoCo's plugin (mjcf_pid.c).
static void put_pid(Writer *w, const mf_Actuator *a, uint32_t number_of) {
    put(w, "    <plugin plugin=\"mujoco.pid\"");
    object_name(w, "name", "actuator", a->name, number_of);
    put_target(w, a);
    numbers(w, "gear", a->gear, 6);
    if (a->dynamics == MF_DYNAMICS_ERROR || a->slew_limit > 0.0)
        integer(w, "actdim", (a->dynamics == MF_DYNAMICS_ERROR) + (a->slew_limit > 0.0));
    range(w, "ctrlrange", "ctrllimited", a->control_lower, a->control_upper);
    range(w, "forcerange", "forcelimited", a->force_lower, a->force_upper);
    number(w, "armature", a->armature);
    number(w, "damping", a->damping);
    integer(w, "group", a->group);
    put(w, ">");
    put_setting(w, "kp", a->gain[0]);
    put_setting(w, "kd", -a->bias[2]);
    if (a->dynamics == MF_DYNAMICS_ERROR)
        put_setting(w, "ki", a->integral_gain);
    if (a->dynamics == MF_DYNAMICS_ERROR && mf_is_finite(a->activation_upper))
        put_setting(w, "imax", integral_limit(a));
    if (a->slew_limit > 0.0)
        put_setting(w, "slewmax", a->slew_limit);
    put(w, "\n    </plugin>\n");
}

static void put_extensions(Writer *w) {
    for (uint32_t i = 0; i < w->model->actuator_count; i++)
        if (w->model->actuators[i].explicit_rate) {
            put(w, "  <extension>\n    <plugin plugin=\"mujoco.pid\"/>\n  </extension>\n");
            return;
        }
}

static void put_actuators(Writer *w) {
    static const char *const dynamics[] = {"none", "integrator", "filter", "filterexact", "muscle"};
    put(w, "  <actuator>\n");
    for (uint32_t i = 0; i < w->model->actuator_count; i++) {
        const mf_Actuator *a = &w->model->actuators[i];
        if (a->explicit_rate) {
            put_pid(w, a, i);
            continue;
        }
        const double times[3] = {a->muscle.rise, a->muscle.fall, a->muscle.smoothing};
        put(w, "    <general");
        object_name(w, "name", "actuator", a->name, i);
        put_target(w, a);
        numbers(w, "gear", a->gear, 6);
        word(w, "dyntype", dynamics[a->dynamics]);
        if (a->dynamics == MF_DYNAMICS_MUSCLE)
            numbers(w, "dynprm", times, 3);
        else if (a->dynamics >= MF_DYNAMICS_FILTER)
            number(w, "dynprm", a->time_constant);
        put_law(w, a);
        range(w, "ctrlrange", "ctrllimited", a->control_lower, a->control_upper);
        range(w, "forcerange", "forcelimited", a->force_lower, a->force_upper);
        range(w, "actrange", "actlimited", a->activation_lower, a->activation_upper);
        flag(w, "actearly", a->early);
        if (a->drive != MF_DRIVE_SITE && a->drive != MF_DRIVE_BODY) {
            number(w, "armature", a->armature);
            number(w, "damping", a->damping);
        }
        integer(w, "group", a->group);
        put(w, "/>\n");
    }
    put(w, "  </actuator>\n");
}

typedef enum SensorPlace {
    AT_NOTHING,
    AT_SITE,
    AT_JOINT,
    AT_TENDON,
    AT_ACTUATOR,
    AT_FRAME,
    AT_BODY,
    AT_CONTACTS
} SensorPlace;

static const struct {
    const char *word;
    SensorPlace place;
} sensor_kinds[] = {
    // The four of the points motion have no counterpart.
    {NULL, AT_NOTHING},
    {NULL, AT_NOTHING},
    {NULL, AT_NOTHING},
    {NULL, AT_NOTHING},
    {"touch", AT_SITE},
    {"accelerometer", AT_SITE},
    {"velocimeter", AT_SITE},
    {"gyro", AT_SITE},
    {"force", AT_SITE},
    {"torque", AT_SITE},
    {"magnetometer", AT_SITE},
    {"rangefinder", AT_SITE},
    {"jointpos", AT_JOINT},
    {"jointvel", AT_JOINT},
    {"tendonpos", AT_TENDON},
    {"tendonvel", AT_TENDON},
    {"actuatorpos", AT_ACTUATOR},
    {"actuatorvel", AT_ACTUATOR},
    {"actuatorfrc", AT_ACTUATOR},
    {"jointactuatorfrc", AT_JOINT},
    {"tendonactuatorfrc", AT_TENDON},
    {"ballquat", AT_JOINT},
    {"ballangvel", AT_JOINT},
    {"jointlimitpos", AT_JOINT},
    {"jointlimitvel", AT_JOINT},
    {"jointlimitfrc", AT_JOINT},
    {"tendonlimitpos", AT_TENDON},
    {"tendonlimitvel", AT_TENDON},
    {"tendonlimitfrc", AT_TENDON},
    {"framepos", AT_FRAME},
    {"framequat", AT_FRAME},
    {"framexaxis", AT_FRAME},
    {"frameyaxis", AT_FRAME},
    {"framezaxis", AT_FRAME},
    {"framelinvel", AT_FRAME},
    {"frameangvel", AT_FRAME},
    {"framelinacc", AT_FRAME},
    {"frameangacc", AT_FRAME},
    {"subtreecom", AT_BODY},
    {"subtreelinvel", AT_BODY},
    {"subtreeangmom", AT_BODY},
    {"e_potential", AT_NOTHING},
    {"e_kinetic", AT_NOTHING},
    {"clock", AT_NOTHING},
    {"user", AT_NOTHING},
    {NULL, AT_NOTHING}, // contact forces and fields have none either
    {NULL, AT_NOTHING},
    {"contact", AT_CONTACTS}};

static void put_object(Writer *w, const char *type_attribute, const char *name_attribute,
                       mf_Object object, uint32_t index) {
    static const char *const types[] = {"body", "xbody", "geom", "site", "xbody"};
    word(w, type_attribute, types[object]);
    if (object == MF_OBJECT_SHAPE)
        object_name(w, name_attribute, "geom", w->model->shapes[index].name, index);
    else if (object == MF_OBJECT_SITE)
        site_name(w, name_attribute, index);
    else
        body_name(w, name_attribute, index);
}

static void put_query(Writer *w, const mf_ContactQuery *query) {
    static const char *const words[] = {"found", "dist", "pos", "normal"};
    static const char *const attributes[2][3] = {{"geom1", "body1", "subtree1"},
                                                 {"geom2", "body2", "subtree2"}};
    for (int side = 0; side < 2; side++) {
        const uint32_t object = query->objects[side];
        if (query->sides[side] == MF_CONTACT_SIDE_ANY)
            continue;
        const char *attribute = attributes[side][query->sides[side] - MF_CONTACT_SIDE_SHAPE];
        if (query->sides[side] == MF_CONTACT_SIDE_SHAPE)
            object_name(w, attribute, "geom", w->model->shapes[object].name, object);
        else
            body_name(w, attribute, object);
    }
    put(w, " data=\"");
    for (uint32_t i = 0, any = 0; i < 4; i++) {
        if (query->data >> i & 1)
            mf_text_format(&w->text, "%s%s", any++ ? " " : "", words[i]);
    }
    put(w, "\"");
    word(w, "reduce", query->nearest ? "mindist" : "none");
    integer(w, "num", (long)query->slots);
}

static void put_signal(Writer *w, const mf_Signal *signal) {
    double period = 0.0;
    if (signal->rate.numerator > 0)
        period = (double)signal->rate.denominator / (double)signal->rate.numerator;
    number(w, "noise", signal->noise);
    number(w, "cutoff", signal->range[1]);
    double every = period > w->model->physics.step ? period : w->model->physics.step;
    if (signal->delay > 0 || period > 0.0) // as many samples as are under way, and one each side
        integer(w, "nsample", 2 + (long)(mf_time_to_seconds(signal->delay) / every));
    if (signal->delay > 0)
        number(w, "delay", mf_time_to_seconds(signal->delay));
    if (period > 0.0)
        number(w, "interval", period);
}

static void put_sensors(Writer *w) {
    const mf_Model *model = w->model;
    put(w, "  <sensor>\n");
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor_kinds[sensor->type].word == NULL)
            continue;
        mf_text_format(&w->text, "    <%s", sensor_kinds[sensor->type].word);
        name(w, sensor->name);
        switch (sensor_kinds[sensor->type].place) {
        case AT_SITE:
            site_name(w, "site", sensor->site);
            break;
        case AT_JOINT:
            joint_name(w, "joint", sensor->joint);
            break;
        case AT_TENDON:
            object_name(w, "tendon", "tendon", model->tendons[sensor->tendon].name, sensor->tendon);
            break;
        case AT_ACTUATOR:
            object_name(w, "actuator", "actuator", model->actuators[sensor->actuator].name,
                        sensor->actuator);
            break;
        case AT_FRAME:
            put_object(w, "objtype", "objname", sensor->object, sensor->object_index);
            if (sensor->has_reference)
                put_object(w, "reftype", "refname", sensor->reference_object,
                           sensor->reference_index);
            break;
        case AT_BODY:
            body_name(w, "body", sensor->body);
            break;
        case AT_CONTACTS:
            put_query(w, &sensor->query);
            break;
        case AT_NOTHING:
            break;
        }
        if (sensor->type == MF_SENSOR_USER)
            integer(w, "dim", (long)sensor->count);
        put_signal(w, &sensor->signal);
        put(w, "/>\n");
    }
    put(w, "  </sensor>\n");
}

// As the file has them: behind each activation the last control where its change is limited.
static void put_activations(Writer *w, const mf_Keyframe *key) {
    bool any = false;
    for (uint32_t i = 0; i < w->model->actuator_count; i++) {
        const mf_Actuator *a = &w->model->actuators[i];
        const uint32_t at = a->activation_address;
        const double values[2] = {at != MF_NONE ? key->activation[at] : 0.0, key->control[i]};
        const bool has[2] = {at != MF_NONE, a->slew_limit > 0.0};
        for (int k = 0; k < 2; k++) {
            if (!has[k])
                continue;
            put(w, any ? " " : " act=\"");
            mf_text_format(&w->text, "%.17g", values[k]);
            any = true;
        }
    }
    if (any)
        put(w, "\"");
}

static void put_keyframes(Writer *w) {
    const mf_Model *model = w->model;
    put(w, "  <keyframe>\n");
    for (uint32_t i = 0; i < model->keyframe_count; i++) {
        const mf_Keyframe *key = &model->keyframes[i];
        put(w, "    <key");
        name(w, key->name);
        number(w, "time", key->time);
        numbers(w, "qpos", key->position, model->position_count);
        numbers(w, "qvel", key->velocity, model->velocity_count);
        put_activations(w, key);
        if (model->actuator_count > 0)
            numbers(w, "ctrl", key->control, model->actuator_count);
        put(w, "/>\n");
    }
    put(w, "  </keyframe>\n");
}

mf_Status mf_model_export_mjcf(const mf_Model *model, const char *path, mf_Error *error) {
    if (model == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_model_export_mjcf: model is NULL");
    Writer w = {.model = model, .text = mf_text_begin(model->context)};
    if (model->body_count == 0)
        return mf_fail(error, MF_UNSUPPORTED,
                       "model '%.200s': only models from MJCF can be written as MJCF", model->name);
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        bool lost = sensor->object_index == MF_NONE || sensor->reference_index == MF_NONE;
        bool camera =
            sensor->object == MF_OBJECT_CAMERA || sensor->reference_object == MF_OBJECT_CAMERA;
        bool shape =
            sensor->object == MF_OBJECT_SHAPE || sensor->reference_object == MF_OBJECT_SHAPE;
        bool nowhere = false;
        for (int side = 0; side < 2; side++)
            nowhere = nowhere || (sensor->query.sides[side] == MF_CONTACT_SIDE_SHAPE &&
                                  sensor->query.objects[side] == MF_NONE);
        if (camera || nowhere || (shape && lost))
            return mf_fail(error, MF_UNSUPPORTED,
                           "sensor '%.200s': its camera or geom is not part of the model, so it "
                           "cannot be written",
                           sensor->name);
    }
    put(&w, "<mujoco");
    word(&w, "model", model->name);
    put(&w, ">\n");
    put_extensions(&w);
    put_option(&w);
    put_assets(&w);
    put_bodies(&w);
    put_contacts(&w);
    put_tendons(&w);
    put_equalities(&w);
    put_actuators(&w);
    put_sensors(&w);
    put_keyframes(&w);
    put(&w, "</mujoco>\n");
    mf_Status status = MF_OK;
    if (w.text.failed)
        status = mf_fail(error, MF_NO_MEMORY, "model '%.200s': no memory", model->name);
    else
        status = mf_file_replace(model->context, path, w.text.data, w.text.size, error);
    mf_text_free(&w.text);
    return status;
}
