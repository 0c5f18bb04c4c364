// A model as JSON: every number that full dynamics reads, in the model's own order and units, for
// scripts and for comparison with other simulators. Infinite limits are null.
#include "info_json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *numbers(const double *values, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, number(values[i]));
    return array;
}

static json_t *index_of(uint32_t index) {
    return index == MF_NONE ? json_null() : json_integer(index);
}

static void put(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

static json_t *softness(const mf_Softness *soft) {
    json_t *object = json_object();
    put(object, "reference", numbers(soft->reference, 2));
    put(object, "impedance", numbers(soft->impedance, 5));
    return object;
}

static json_t *frame(const mf_Frame *place) {
    json_t *object = json_object();
    put(object, "link", index_of(place->link));
    put(object, "position", numbers(place->position, 3));
    put(object, "rotation", numbers(place->rotation, 4));
    return object;
}

static json_t *named(const char *name) {
    json_t *object = json_object();
    // Names are UTF-8, because the files they come from must be.
    put(object, "name", json_string(name));
    return object;
}

static json_t *link_json(const mf_Link *link) {
    json_t *object = named(link->name);
    put(object, "parent", index_of(link->parent));
    put(object, "joint", index_of(link->joint));
    put(object, "mass", number(link->mass));
    put(object, "center", numbers(link->center, 3));
    put(object, "inertia", numbers(link->inertia, 6));
    put(object, "intermediate", json_boolean(link->intermediate));
    put(object, "body", index_of(link->body));
    put(object, "lift_mass", number(link->lift_mass));
    put(object, "lift_moment", numbers(link->lift_moment, 3));
    return object;
}

static json_t *joint_json(const mf_Joint *joint) {
    static const char *const types[] = {"hinge", "slide", "ball", "planar", "floating", "fixed"};
    const double limits[6] = {joint->lower,  joint->upper,       joint->speed,
                              joint->effort, joint->force_lower, joint->force_upper};
    json_t *object = named(joint->name);
    put(object, "type", json_string(types[joint->type]));
    put(object, "parent", index_of(joint->parent));
    put(object, "child", index_of(joint->child));
    put(object, "body", index_of(joint->body));
    put(object, "position", numbers(joint->position, 3));
    put(object, "rotation", numbers(joint->rotation, 4));
    put(object, "axis", numbers(joint->axis, 3));
    put(object, "anchor", numbers(joint->anchor, 3));
    put(object, "range", numbers(limits, 2));
    put(object, "speed", number(limits[2]));
    put(object, "effort", number(limits[3]));
    put(object, "force_range", numbers(limits + 4, 2));
    put(object, "damping", number(joint->damping));
    put(object, "friction", number(joint->friction));
    put(object, "armature", number(joint->armature));
    put(object, "stiffness", number(joint->stiffness));
    put(object, "reference", number(joint->reference));
    put(object, "spring_reference", number(joint->spring_reference));
    put(object, "limit_margin", number(joint->limit_margin));
    put(object, "limit_softness", softness(&joint->limit_softness));
    put(object, "friction_softness", softness(&joint->friction_softness));
    put(object, "lift_by_actuator", json_boolean(joint->lift_by_actuator));
    put(object, "position_address", json_integer(joint->position_address));
    put(object, "velocity_address", json_integer(joint->velocity_address));
    put(object, "mimic", index_of(joint->mimic));
    return object;
}

static json_t *body_json(const mf_Body *body) {
    json_t *object = named(body->name);
    put(object, "parent", index_of(body->parent));
    put(object, "link", index_of(body->link));
    put(object, "position", numbers(body->position, 3));
    put(object, "rotation", numbers(body->rotation, 4));
    put(object, "local_position", numbers(body->local_position, 3));
    put(object, "local_rotation", numbers(body->local_rotation, 4));
    put(object, "mass", number(body->mass));
    put(object, "center", numbers(body->center, 3));
    put(object, "moments", numbers(body->moments, 3));
    put(object, "axes", numbers(body->axes, 4));
    put(object, "gravity_compensated", number(body->gravity_compensated));
    return object;
}

static json_t *shape_json(const mf_Shape *shape) {
    static const char *const types[] = {"point", "box",   "cylinder",  "sphere", "capsule",
                                        "mesh",  "plane", "ellipsoid", "heights"};
    json_t *object = named(shape->name);
    put(object, "type", json_string(types[shape->type]));
    put(object, "link", index_of(shape->link));
    put(object, "body", index_of(shape->body));
    put(object, "collides", json_boolean(shape->collides));
    put(object, "position", numbers(shape->position, 3));
    put(object, "rotation", numbers(shape->rotation, 4));
    put(object, "local_position", numbers(shape->local_position, 3));
    put(object, "local_rotation", numbers(shape->local_rotation, 4));
    put(object, "size", numbers(shape->size, 3));
    put(object, "mesh", index_of(shape->mesh));
    put(object, "group", json_integer(shape->group));
    put(object, "contact_type", json_integer(shape->contact_type));
    put(object, "contact_with", json_integer(shape->contact_with));
    put(object, "dimension", json_integer(shape->dimension));
    put(object, "priority", json_integer(shape->priority));
    put(object, "friction", numbers(shape->friction, 3));
    put(object, "mix", number(shape->mix));
    put(object, "margin", number(shape->margin));
    put(object, "gap", number(shape->gap));
    put(object, "softness", softness(&shape->softness));
    if (shape->fluid)
        put(object, "fluid", numbers(shape->fluid_coefficients, 5));
    return object;
}

static json_t *mesh_json(const mf_Mesh *mesh) {
    json_t *object = named(mesh->name ? mesh->name : "");
    put(object, "path", json_string(mesh->path));
    put(object, "vertices", json_integer(mesh->vertex_count));
    put(object, "triangles", json_integer(mesh->triangle_count));
    put(object, "hull_vertices", json_integer(mesh->hull_vertex_count));
    put(object, "hull_triangles", json_integer(mesh->hull_triangle_count));
    return object;
}

static json_t *site_json(const mf_Site *site) {
    json_t *object = named(site->name);
    put(object, "body", index_of(site->body));
    put(object, "frame", frame(&site->frame));
    put(object, "local_position", numbers(site->local_position, 3));
    put(object, "local_rotation", numbers(site->local_rotation, 4));
    put(object, "size", numbers(site->size, 3));
    return object;
}

static json_t *path_json(const mf_Model *model, const mf_Tendon *tendon) {
    static const char *const types[] = {"site", "sphere", "cylinder", "pulley"};
    json_t *path = json_array();
    for (uint32_t i = tendon->first_wrap; i < tendon->first_wrap + tendon->wrap_count; i++) {
        const mf_TendonWrap *wrap = &model->tendon_wraps[i];
        json_t *object = json_object();
        put(object, "type", json_string(types[wrap->type]));
        put(object, "object", index_of(wrap->object));
        put(object, "side", index_of(wrap->side));
        put(object, "radius", number(wrap->radius));
        put(object, "divisor", number(wrap->divisor));
        json_array_append_new(path, object);
    }
    return path;
}

static json_t *tendon_json(const mf_Model *model, const mf_Tendon *tendon) {
    const double limits[4] = {tendon->lower, tendon->upper, tendon->force_lower,
                              tendon->force_upper};
    const double spring[2] = {tendon->spring_lower, tendon->spring_upper};
    json_t *object = named(tendon->name), *terms = json_array();
    for (uint32_t i = 0; i < tendon->term_count; i++) {
        const mf_TendonTerm *term = &model->tendon_terms[tendon->first_term + i];
        json_array_append_new(terms,
                              json_pack("[i, o]", (int)term->joint, number(term->coefficient)));
    }
    put(object, "terms", terms);
    put(object, "path", path_json(model, tendon));
    put(object, "range", numbers(limits, 2));
    put(object, "force_range", numbers(limits + 2, 2));
    put(object, "spring", numbers(spring, 2));
    put(object, "stiffness", number(tendon->stiffness));
    put(object, "damping", number(tendon->damping));
    put(object, "friction", number(tendon->friction));
    put(object, "armature", number(tendon->armature));
    return object;
}

static json_t *equality_json(const mf_Equality *equality) {
    static const char *const types[] = {"connect", "weld", "joint", "tendon"};
    json_t *object = named(equality->name);
    put(object, "type", json_string(types[equality->type]));
    put(object, "active", json_boolean(equality->active));
    put(object, "objects",
        json_pack("[o, o]", index_of(equality->objects[0]), index_of(equality->objects[1])));
    put(object, "frames",
        json_pack("[o, o]", frame(&equality->frames[0]), frame(&equality->frames[1])));
    put(object, "coefficients", numbers(equality->coefficients, 5));
    put(object, "torque_scale", number(equality->torque_scale));
    put(object, "softness", softness(&equality->softness));
    return object;
}

static json_t *actuator_json(const mf_Actuator *actuator) {
    static const char *const drives[] = {"joint", "jointinparent", "tendon", "site", "body"};
    static const char *const dynamics[] = {"none", "integrator", "filter", "filterexact", "muscle"};
    const mf_Muscle *m = &actuator->muscle;
    const double muscle[15] = {
        m->length_range[0], m->length_range[1], m->range[0], m->range[1], m->force,
        m->scale,           m->lower,           m->upper,    m->speed,    m->passive,
        m->lengthening,     m->acceleration,    m->rise,     m->fall,     m->smoothing};
    const double limits[6] = {actuator->control_lower,    actuator->control_upper,
                              actuator->force_lower,      actuator->force_upper,
                              actuator->activation_lower, actuator->activation_upper};
    json_t *object = named(actuator->name);
    put(object, "drive", json_string(drives[actuator->drive]));
    put(object, "dynamics", json_string(dynamics[actuator->dynamics]));
    put(object, "joint", index_of(actuator->joint));
    put(object, "tendon", index_of(actuator->tendon));
    put(object, "site", index_of(actuator->site));
    put(object, "body", index_of(actuator->body));
    put(object, "gear", numbers(actuator->gear, 6));
    put(object, "gain", numbers(actuator->gain, 3));
    put(object, "bias", numbers(actuator->bias, 3));
    put(object, "time_constant", number(actuator->time_constant));
    put(object, "control_range", numbers(limits, 2));
    put(object, "force_range", numbers(limits + 2, 2));
    put(object, "activation_range", numbers(limits + 4, 2));
    put(object, "activation_address", index_of(actuator->activation_address));
    put(object, "armature", number(actuator->armature));
    put(object, "damping", number(actuator->damping));
    if (m->exists)
        put(object, "muscle", numbers(muscle, 15));
    return object;
}

static void put_signal(json_t *object, const mf_Signal *signal) {
    const double rate[2] = {(double)signal->rate.numerator, (double)signal->rate.denominator};
    put(object, "rate", numbers(rate, 2));
    put(object, "delay", number(mf_time_to_seconds(signal->delay)));
    put(object, "noise", number(signal->noise));
    put(object, "bias", number(signal->bias));
    put(object, "drift", number(signal->drift));
    put(object, "saturation", numbers(signal->saturation, 2));
    put(object, "range", numbers(signal->range, 2));
    put(object, "bits", json_integer(signal->bits));
    put(object, "resolution", number(signal->resolution));
}

static json_t *sensor_json(const mf_Sensor *sensor) {
    json_t *object = named(sensor->name);
    put(object, "type", json_integer(sensor->type));
    put(object, "joint", index_of(sensor->joint));
    put(object, "tendon", index_of(sensor->tendon));
    put(object, "actuator", index_of(sensor->actuator));
    put(object, "body", index_of(sensor->body));
    put(object, "frame", frame(&sensor->frame));
    put_signal(object, &sensor->signal);
    put(object, "address", json_integer(sensor->address));
    put(object, "count", json_integer(sensor->count));
    return object;
}

static json_t *keyframe_json(const mf_Model *model, const mf_Keyframe *key) {
    json_t *object = named(key->name);
    put(object, "time", number(key->time));
    put(object, "position", numbers(key->position, model->position_count));
    put(object, "velocity", numbers(key->velocity, model->velocity_count));
    put(object, "activation", numbers(key->activation, model->activation_count));
    put(object, "control", numbers(key->control, model->actuator_count));
    return object;
}

static json_t *pair_json(const mf_ContactPair *pair) {
    json_t *object = named(pair->name);
    put(object, "shapes", json_pack("[i, i]", (int)pair->shapes[0], (int)pair->shapes[1]));
    put(object, "dimension", json_integer(pair->dimension));
    put(object, "friction", numbers(pair->friction, 5));
    put(object, "softness", softness(&pair->softness));
    return object;
}

static json_t *physics_json(const mf_Physics *physics) {
    static const char *const integrators[] = {"Euler", "RK4", "implicit", "implicitfast"};
    json_t *object = json_object();
    put(object, "step", number(physics->step));
    put(object, "gravity", numbers(physics->gravity, 3));
    put(object, "gravity_off", json_boolean(physics->disabled & MF_DISABLE_GRAVITY));
    put(object, "wind", numbers(physics->wind, 3));
    put(object, "magnetic", numbers(physics->magnetic, 3));
    put(object, "density", number(physics->density));
    put(object, "viscosity", number(physics->viscosity));
    put(object, "integrator", json_string(integrators[physics->integrator]));
    put(object, "cone", json_string(physics->cone == MF_CONE_ELLIPTIC ? "elliptic" : "pyramidal"));
    put(object, "friction_impedance_ratio", number(physics->friction_impedance_ratio));
    put(object, "noslip_iterations", json_integer(physics->noslip_iterations));
    put(object, "noslip_tolerance", number(physics->noslip_tolerance));
    put(object, "solver_iterations", json_integer(physics->solver_iterations));
    put(object, "solver_tolerance", number(physics->solver_tolerance));
    put(object, "disabled", json_integer(physics->disabled));
    return object;
}

#define LIST(key, count, make)                                                                     \
    do {                                                                                           \
        json_t *list = json_array();                                                               \
        for (uint32_t i = 0; i < (count); i++)                                                     \
            json_array_append_new(list, make);                                                     \
        put(root, key, list);                                                                      \
    } while (0)

static json_t *motion_notes(const mf_Model *model, mf_Motion motion) {
    char text[MF_MOTION_NOTE];
    json_t *list = json_array();
    for (uint32_t i = 0; mf_motion_note(model, motion, i, text); i++)
        json_array_append_new(list, json_string(text));
    return list;
}

bool mf_info_json(const mf_Model *model, mf_Motion motion, FILE *file) {
    json_t *root = named(model->name);
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mf_model_hash(model));
    put(root, "file", json_string(model->file));
    put(root, "hash", json_string(hash));
    put(root, "base", json_string(model->base == MF_BASE_FREE ? "free" : "fixed"));
    put(root, "mass", number(model->mass));
    put(root, "rest_height", number(model->rest_height));
    put(root, "position_count", json_integer(model->position_count));
    put(root, "velocity_count", json_integer(model->velocity_count));
    put(root, "activation_count", json_integer(model->activation_count));
    put(root, "sensor_value_count", json_integer(model->sensor_value_count));
    put(root, "point_count", json_integer(model->point_count));
    put(root, "start_position", numbers(model->start_position, model->position_count));
    put(root, "root", model->root ? joint_json(model->root) : json_null());
    put(root, "physics", physics_json(&model->physics));
    LIST("links", model->link_count, link_json(&model->links[i]));
    LIST("joints", model->joint_count, joint_json(&model->joints[i]));
    LIST("bodies", model->body_count, body_json(&model->bodies[i]));
    LIST("shapes", model->shape_count, shape_json(&model->shapes[i]));
    LIST("meshes", model->mesh_count, mesh_json(&model->meshes[i]));
    LIST("sites", model->site_count, site_json(&model->sites[i]));
    LIST("tendons", model->tendon_count, tendon_json(model, &model->tendons[i]));
    LIST("equalities", model->equality_count, equality_json(&model->equalities[i]));
    LIST("actuators", model->actuator_count, actuator_json(&model->actuators[i]));
    LIST("sensors", model->sensor_count, sensor_json(&model->sensors[i]));
    LIST("keyframes", model->keyframe_count, keyframe_json(model, &model->keyframes[i]));
    LIST("pairs", model->pair_count, pair_json(&model->pairs[i]));
    LIST("exclusions", model->exclusion_count,
         json_pack("[o, o]", index_of(model->exclusions[i].bodies[0]),
                   index_of(model->exclusions[i].bodies[1])));
    LIST("notes", model->note_count,
         json_pack("{s:i, s:b, s:b, s:s}", "line", (int)model->notes[i].line, "suspicious",
                   model->notes[i].suspicious, "unsupported", model->notes[i].unsupported, "text",
                   model->notes[i].text));
    put(root, "motion", json_string(mf_motion_name(motion)));
    put(root, "motion_notes", motion_notes(model, motion));
    bool done = json_dumpf(root, file, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    json_decref(root);
    return done && putc('\n', file) != EOF;
}
