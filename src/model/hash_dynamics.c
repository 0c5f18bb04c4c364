// The part of the model's hash that covers what only full dynamics reads. Field by field, because
// padding between struct members is not defined; names, colours and groups do not count.
#include "model/hash_dynamics.h"

#include "base/hash.h"

static uint64_t hash_softness(uint64_t hash, const mf_Softness *softness) {
    hash = mf_hash_doubles(hash, softness->reference, 2);
    return mf_hash_doubles(hash, softness->impedance, 5);
}

static uint64_t hash_frame(uint64_t hash, const mf_Frame *frame) {
    hash = mf_hash_u32(hash, frame->link);
    hash = mf_hash_doubles(hash, frame->position, 3);
    return mf_hash_doubles(hash, frame->rotation, 4);
}

static uint64_t hash_link(uint64_t hash, const mf_Link *link) {
    hash = mf_hash_doubles(hash, &link->mass, 1);
    hash = mf_hash_doubles(hash, link->center, 3);
    hash = mf_hash_doubles(hash, link->inertia, 6);
    hash = mf_hash_u32(hash, link->intermediate);
    hash = mf_hash_doubles(hash, &link->lift_mass, 1);
    return mf_hash_doubles(hash, link->lift_moment, 3);
}

static uint64_t hash_joint(uint64_t hash, const mf_Joint *joint) {
    const double scalars[7] = {joint->reference,        joint->armature,    joint->stiffness,
                               joint->spring_reference, joint->force_lower, joint->force_upper,
                               joint->limit_margin};
    hash = mf_hash_doubles(hash, scalars, 7);
    hash = mf_hash_u32(hash, joint->lift_by_actuator);
    hash = hash_softness(hash, &joint->limit_softness);
    return hash_softness(hash, &joint->friction_softness);
}

// Geometry of what touches; what is only seen does not move anything.
static uint64_t hash_mesh(uint64_t hash, const mf_Mesh *mesh) {
    hash = mf_hash_u32(hash, mesh->hull_vertex_count);
    for (uint32_t i = 0; i < mesh->hull_vertex_count; i++) {
        const float *vertex = &mesh->vertices[3 * (size_t)mesh->hull_vertices[i]];
        const double exact[3] = {vertex[0], vertex[1], vertex[2]};
        hash = mf_hash_doubles(hash, exact, 3);
    }
    return hash;
}

static uint64_t hash_heights(uint64_t hash, const mf_HeightField *field) {
    const double sizes[4] = {field->half_size[0], field->half_size[1], field->height, field->base};
    hash = mf_hash_u32(hash, field->rows);
    hash = mf_hash_u32(hash, field->columns);
    hash = mf_hash_doubles(hash, sizes, 4);
    for (size_t i = 0; i < (size_t)field->rows * field->columns; i++) {
        double height = field->heights[i];
        hash = mf_hash_doubles(hash, &height, 1);
    }
    return hash;
}

static uint64_t hash_shape(uint64_t hash, const mf_Model *model, const mf_Shape *shape) {
    const uint32_t numbers[7] = {(uint32_t)shape->type,    shape->link,         shape->body,
                                 shape->contact_type,      shape->contact_with, shape->dimension,
                                 (uint32_t)shape->priority};
    const double scalars[3] = {shape->mix, shape->margin, shape->gap};
    for (int i = 0; i < 7; i++)
        hash = mf_hash_u32(hash, numbers[i]);
    hash = mf_hash_doubles(hash, shape->position, 3);
    hash = mf_hash_doubles(hash, shape->rotation, 4);
    hash = mf_hash_doubles(hash, shape->size, 3);
    hash = mf_hash_doubles(hash, shape->friction, 3);
    hash = mf_hash_doubles(hash, scalars, 3);
    hash = hash_softness(hash, &shape->softness);
    if (shape->type == MF_SHAPE_MESH)
        hash = hash_mesh(hash, &model->meshes[shape->mesh]);
    if (shape->type == MF_SHAPE_HEIGHTS)
        hash = hash_heights(hash, &model->height_fields[shape->mesh]);
    return hash;
}

static uint64_t hash_shapes(uint64_t hash, const mf_Model *model) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        if (!model->shapes[i].collides)
            continue;
        hash = hash_shape(mf_hash_u32(hash, number++), model, &model->shapes[i]);
    }
    return hash;
}

// What the medium acts on as an ellipsoid, touching or not.
static uint64_t hash_fluids(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->fluid)
            continue;
        hash = mf_hash_u32(mf_hash_u32(hash, (uint32_t)shape->type), shape->body);
        hash = mf_hash_doubles(hash, shape->position, 3);
        hash = mf_hash_doubles(hash, shape->rotation, 4);
        hash = mf_hash_doubles(hash, shape->size, 3);
        hash = mf_hash_doubles(hash, shape->fluid_coefficients, 5);
    }
    return hash;
}

// Pairs name shapes; those between are counted as hash_shapes does, so that a model without its
// visual shapes has the same hash.
static uint32_t touching_number(const mf_Model *model, uint32_t shape) {
    uint32_t number = 0;
    for (uint32_t i = 0; shape != MF_NONE && i < shape; i++)
        number += model->shapes[i].collides;
    return shape != MF_NONE && model->shapes[shape].collides ? number : MF_NONE;
}

static uint64_t hash_contacts(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->pair_count; i++) {
        const mf_ContactPair *pair = &model->pairs[i];
        const double scalars[2] = {pair->margin, pair->gap};
        hash = mf_hash_u32(hash, touching_number(model, pair->shapes[0]));
        hash = mf_hash_u32(hash, touching_number(model, pair->shapes[1]));
        hash = mf_hash_u32(hash, pair->dimension);
        hash = mf_hash_doubles(hash, pair->friction, 5);
        hash = mf_hash_doubles(hash, pair->friction_reference, 2);
        hash = mf_hash_doubles(hash, scalars, 2);
        hash = hash_softness(hash, &pair->softness);
    }
    for (uint32_t i = 0; i < model->exclusion_count; i++) {
        hash = mf_hash_u32(hash, model->exclusions[i].bodies[0]);
        hash = mf_hash_u32(hash, model->exclusions[i].bodies[1]);
    }
    return hash;
}

static uint64_t hash_tendons(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        const mf_Tendon *t = &model->tendons[i];
        const double scalars[11] = {
            t->lower,    t->upper,    t->spring_lower, t->spring_upper, t->stiffness,   t->damping,
            t->friction, t->armature, t->force_lower,  t->force_upper,  t->limit_margin};
        hash = mf_hash_u32(hash, t->term_count);
        hash = mf_hash_doubles(hash, scalars, 11);
        hash = hash_softness(hash, &t->limit_softness);
        hash = hash_softness(hash, &t->friction_softness);
    }
    for (uint32_t i = 0; i < model->tendon_term_count; i++) {
        hash = mf_hash_u32(hash, model->tendon_terms[i].joint);
        hash = mf_hash_doubles(hash, &model->tendon_terms[i].coefficient, 1);
    }
    return hash;
}

static uint64_t hash_wraps(uint64_t hash, const mf_Model *model) {
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        if (model->tendons[i].wrap_count > 0)
            hash = mf_hash_u32(mf_hash_u32(hash, i), model->tendons[i].wrap_count);
    }
    for (uint32_t i = 0; i < model->tendon_wrap_count; i++) {
        const mf_TendonWrap *wrap = &model->tendon_wraps[i];
        hash = mf_hash_u32(hash, (uint32_t)wrap->type);
        if (wrap->type == MF_WRAP_PULLEY) {
            hash = mf_hash_doubles(hash, &wrap->divisor, 1);
            continue;
        }
        hash = hash_frame(hash, &wrap->frame);
        hash = mf_hash_doubles(hash, &wrap->radius, 1);
        if (wrap->side == MF_NONE)
            continue;
        hash = mf_hash_u32(hash, wrap->side_link);
        hash = mf_hash_doubles(hash, wrap->side_place, 3);
    }
    return hash;
}

static uint64_t hash_muscle(uint64_t hash, const mf_Muscle *m) {
    const double scalars[16] = {m->length_range[0],
                                m->length_range[1],
                                m->range[0],
                                m->range[1],
                                m->force,
                                m->scale,
                                m->lower,
                                m->upper,
                                m->speed,
                                m->passive,
                                m->lengthening,
                                m->acceleration,
                                m->rise,
                                m->fall,
                                m->smoothing,
                                0.0};
    return m->exists ? mf_hash_doubles(hash, scalars, 16) : hash;
}

static uint64_t hash_equality(uint64_t hash, const mf_Equality *equality) {
    bool framed = equality->type == MF_EQUALITY_CONNECT || equality->type == MF_EQUALITY_WELD;
    hash = mf_hash_u32(hash, (uint32_t)equality->type);
    hash = mf_hash_u32(hash, equality->active);
    for (int side = 0; side < 2; side++)
        hash = framed ? hash_frame(hash, &equality->frames[side])
                      : mf_hash_u32(hash, equality->objects[side]);
    hash = mf_hash_doubles(hash, equality->coefficients, 5);
    hash = mf_hash_doubles(hash, &equality->torque_scale, 1);
    return hash_softness(hash, &equality->softness);
}

static uint64_t hash_actuator(uint64_t hash, const mf_Actuator *a) {
    const uint32_t numbers[6] = {(uint32_t)a->drive, (uint32_t)a->dynamics, a->joint, a->tendon,
                                 a->early,           a->explicit_rate};
    const double scalars[11] = {a->time_constant,    a->control_lower, a->control_upper,
                                a->force_lower,      a->force_upper,   a->activation_lower,
                                a->activation_upper, a->armature,      a->damping,
                                a->integral_gain,    a->slew_limit};
    for (int i = 0; i < 6; i++)
        hash = mf_hash_u32(hash, numbers[i]);
    hash = mf_hash_doubles(hash, a->gear, 6);
    hash = mf_hash_doubles(hash, a->gain, 3);
    hash = mf_hash_doubles(hash, a->bias, 3);
    hash = hash_muscle(mf_hash_doubles(hash, scalars, 11), &a->muscle);
    if (a->drive == MF_DRIVE_BODY)
        return mf_hash_u32(hash, a->body);
    if (a->drive != MF_DRIVE_SITE)
        return hash;
    hash = hash_frame(hash, &a->frame);
    return a->reference_site == MF_NONE ? hash : hash_frame(hash, &a->reference);
}

static uint64_t hash_sensor(uint64_t hash, const mf_Model *model, const mf_Sensor *sensor) {
    hash = mf_hash_u32(hash, sensor->tendon);
    hash = mf_hash_u32(hash, sensor->actuator);
    hash = mf_hash_u32(hash, sensor->body);
    hash = hash_frame(hash, &sensor->frame);
    hash = mf_hash_u32(hash, sensor->has_reference);
    hash = hash_frame(hash, &sensor->reference);
    if (sensor->type == MF_SENSOR_CONTACTS) {
        const mf_ContactQuery *query = &sensor->query;
        const uint32_t numbers[4] = {(uint32_t)query->sides[0], (uint32_t)query->sides[1],
                                     query->data, query->nearest};
        for (int i = 0; i < 4; i++)
            hash = mf_hash_u32(hash, numbers[i]);
        for (int side = 0; side < 2; side++)
            hash = mf_hash_u32(hash, query->sides[side] == MF_CONTACT_SIDE_SHAPE
                                         ? touching_number(model, query->objects[side])
                                         : query->objects[side]);
    }
    return mf_hash_u32(hash, sensor->count);
}

static uint64_t hash_physics(uint64_t hash, const mf_Physics *physics) {
    const double scalars[7] = {physics->step,
                               physics->density,
                               physics->viscosity,
                               physics->friction_impedance_ratio,
                               physics->override_margin,
                               physics->noslip_tolerance,
                               physics->solver_tolerance};
    hash = mf_hash_doubles(hash, scalars, 7);
    hash = mf_hash_u32(hash, physics->noslip_iterations);
    hash = mf_hash_u32(hash, physics->solver_iterations);
    hash = mf_hash_doubles(hash, physics->gravity, 3);
    hash = mf_hash_doubles(hash, physics->wind, 3);
    hash = mf_hash_doubles(hash, physics->magnetic, 3);
    hash = mf_hash_u32(hash, (uint32_t)physics->integrator);
    hash = mf_hash_u32(hash, (uint32_t)physics->cone);
    hash = mf_hash_u32(hash, physics->disabled);
    hash = mf_hash_u32(hash, physics->override_contacts);
    hash = hash_softness(hash, &physics->override_softness);
    return mf_hash_doubles(hash, physics->override_friction, 5);
}

uint64_t mf_hash_dynamics(uint64_t hash, const mf_Model *model) {
    hash = mf_hash_u32(hash, (uint32_t)model->base);
    for (uint32_t i = 0; i < model->link_count; i++)
        hash = hash_link(hash, &model->links[i]);
    for (uint32_t i = 0; i < model->joint_count; i++)
        hash = hash_joint(hash, &model->joints[i]);
    if (model->root != NULL) {
        const double scalars[2] = {model->root->damping, model->root->friction};
        hash = hash_joint(mf_hash_doubles(hash, scalars, 2), model->root);
    }
    for (uint32_t i = 0; i < model->body_count; i++) {
        hash = mf_hash_u32(hash, model->bodies[i].parent);
        hash = mf_hash_u32(hash, model->bodies[i].link);
    }
    hash = hash_shapes(hash, model);
    hash = hash_contacts(hash_fluids(hash, model), model);
    hash = hash_wraps(hash_tendons(hash, model), model);
    for (uint32_t i = 0; i < model->equality_count; i++)
        hash = hash_equality(hash, &model->equalities[i]);
    for (uint32_t i = 0; i < model->actuator_count; i++)
        hash = hash_actuator(hash, &model->actuators[i]);
    for (uint32_t i = 0; i < model->sensor_count; i++)
        hash = hash_sensor(hash, model, &model->sensors[i]);
    hash = hash_physics(hash, &model->physics);
    return mf_hash_doubles(hash, model->start_position, model->position_count);
}
