// Parts of sensors: frames, terms, lumps, shapes, contacts, actuators, springs, converted from
// the model into the form of the kernel.
#include "sense/sensors_parts.h"
#include "model/points.h"

#include "math/scalar.h"
#include "model/shape_kinds.h"
#include "world/attach.h"

#include <string.h>

mf_SenseFrame mf_sense_frame(mf_SenseBuild *b, const mf_Frame *frame) {
    mf_SenseFrame out = {.body = frame->link == MF_NONE ? 0 : frame->link + 1};
    memcpy(out.position, frame->position, sizeof out.position);
    memcpy(out.rotation, frame->rotation, sizeof out.rotation);
    b->needed[out.body] = true;
    return out;
}

mf_SenseSolid mf_sense_solid(mf_ShapeType type, const double size[3]) {
    const mf_RaySolid solid = mf_ray_solid(type, size, NULL);
    return (mf_SenseSolid){type, solid.kind, {solid.size[0], solid.size[1], solid.size[2]}};
}

// ---- parts -------------------------------------------------------------------------------------

void mf_sense_put_term(mf_SenseBuild *b, uint32_t row, double weight) {
    MF_SENSE_PUT(b, terms, term, (mf_SenseTerm){row, weight});
}

void mf_sense_put_tendon_terms(mf_SenseBuild *b, uint32_t tendon, double gear) {
    const mf_Tendon *own = &b->model->tendons[tendon];
    for (uint32_t i = own->first_term; i < own->first_term + own->term_count; i++)
        mf_sense_put_term(b, b->model->tendon_terms[i].joint,
                          gear * b->model->tendon_terms[i].coefficient);
}

void mf_sense_put_lumps(mf_SenseBuild *b, uint32_t root) {
    for (uint32_t i = 0; i < b->model->body_count; i++) {
        const mf_Body *body = &b->model->bodies[i];
        if (!mf_body_carried(b->model, i, root) || !(body->mass > 0.0))
            continue;
        mf_SenseLump lump = {.body = body->link == MF_NONE ? 0 : body->link + 1,
                             .mass = body->mass};
        const double diagonal[6] = {body->moments[0], body->moments[1], body->moments[2], 0, 0, 0};
        double rotation[4];
        mf_quat_rotate(lump.center, body->rotation, body->center);
        mf_vec3_add(lump.center, lump.center, body->position);
        mf_quat_multiply(rotation, body->rotation, body->axes);
        mf_inertia_rotate(lump.inertia, diagonal, rotation);
        b->needed[lump.body] = true;
        MF_SENSE_PUT(b, lumps, lump, lump);
    }
}

// A copy of the triangles that rays hit; its number.
static uint32_t put_mesh(mf_SenseBuild *b, const mf_Mesh *mesh) {
    if (b->meshes != NULL) {
        b->meshes[b->mesh_count] = (mf_SenseMesh){.first_vertex = b->vertex_count,
                                                  .first_triangle = b->triangle_count,
                                                  .triangle_count = mesh->triangle_count};
        memcpy(b->vertices + 3 * (size_t)b->vertex_count, mesh->vertices,
               3 * (size_t)mesh->vertex_count * sizeof *b->vertices);
        memcpy(b->triangles + 3 * (size_t)b->triangle_count, mesh->triangles,
               3 * (size_t)mesh->triangle_count * sizeof *b->triangles);
    }
    b->vertex_count += mesh->vertex_count;
    b->triangle_count += mesh->triangle_count;
    return b->mesh_count++;
}

void mf_sense_put_shapes(mf_SenseBuild *b, uint32_t without) {
    for (uint32_t i = 0; i < b->model->shape_count; i++) {
        const mf_Shape *shape = &b->model->shapes[i];
        if (shape->body == without || !mf_shape_is_solid(shape->type))
            continue;
        mf_Frame frame = {.link = shape->link};
        memcpy(frame.position, shape->position, sizeof frame.position);
        memcpy(frame.rotation, shape->rotation, sizeof frame.rotation);
        mf_SenseShape out = {.solid = mf_sense_solid(shape->type, shape->size),
                             .frame = mf_sense_frame(b, &frame)};
        if (shape->type == MF_SHAPE_MESH)
            out.mesh = put_mesh(b, &b->model->meshes[shape->mesh]);
        MF_SENSE_PUT(b, shapes, shape, out);
    }
}

void mf_sense_visit_contacts(mf_Group *group, uint32_t link, mf_SenseContactFn visit, void *user) {
    const mf_Model *model = mf_group_model(group);
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    const bool points = mf_group_find_field(group, "point.load") != NULL;
    mf_SenseContact contact = {.body = link + 1};
    if (link == MF_NONE)
        return;
    for (; load != NULL && contact.row < load->components; contact.row++)
        if (mf_contacts_position(group, contact.row, link, contact.position))
            visit(&contact, user);
    contact.row = 0;
    contact.of_points = true;
    for (uint32_t i = 0; points && i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        if (!(point->flags & MF_POINT_COLLIDES))
            continue;
        mf_vec3_copy(contact.position, point->position);
        if (point->link == link)
            visit(&contact, user);
        contact.row++;
    }
}

static void put_contact(const mf_SenseContact *contact, void *user) {
    mf_SenseBuild *b = user;
    MF_SENSE_PUT(b, contacts, contact, *contact);
}

void mf_sense_put_contacts(mf_SenseBuild *b, uint32_t link) {
    mf_sense_visit_contacts(b->group, link, put_contact, b);
}

// ---- joints and actuators ----------------------------------------------------------------------

uint32_t mf_sense_balls_before(const mf_Model *model, uint32_t joint) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < joint; j++)
        count +=
            model->joints[j].type == MF_JOINT_BALL || model->joints[j].type == MF_JOINT_FLOATING;
    return count;
}

uint32_t mf_sense_free_before(const mf_Model *model, uint32_t joint) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < joint; j++)
        count += model->joints[j].type == MF_JOINT_FLOATING;
    return count;
}

void mf_sense_set_joint(mf_SenseBuild *b, uint32_t index, mf_SenseItem *out) {
    const mf_Joint *joint = &b->model->joints[index];
    out->joint_type = joint->type;
    out->row = index;
    out->ball = mf_sense_balls_before(b->model, index);
    out->body = joint->child + 1;
    out->lower = joint->lower;
    out->upper = joint->upper;
    out->margin = joint->limit_margin;
    out->force_lower = joint->force_lower;
    out->force_upper = joint->force_upper;
    memcpy(out->axis, joint->axis, sizeof out->axis);
}

bool mf_sense_moves(const mf_Model *model, uint32_t joint, uint32_t link) {
    while (link != MF_NONE && link != model->joints[joint].child)
        link = model->links[link].parent;
    return link != MF_NONE;
}

static void put_force(mf_SenseBuild *b, uint32_t actuator, const mf_Frame *at, const mf_Frame *axes,
                      double sign) {
    const double *gear = b->model->actuators[actuator].gear;
    mf_SenseForce force = {
        .row = actuator, .frame = mf_sense_frame(b, at), .axes = mf_sense_frame(b, axes)};
    for (int i = 0; i < 6; i++)
        force.wrench[i] = sign * gear[i];
    MF_SENSE_PUT(b, forces, force, force);
}

// A joint that carries both sites of an actuator gets no net force from it.
static void put_forces(mf_SenseBuild *b, uint32_t joint) {
    for (uint32_t a = 0; a < b->model->actuator_count; a++) {
        const mf_Actuator *actuator = &b->model->actuators[a];
        if (actuator->drive != MF_DRIVE_SITE)
            continue;
        bool far = mf_sense_moves(b->model, joint, actuator->frame.link);
        bool between = actuator->reference_site != MF_NONE;
        bool near = between && mf_sense_moves(b->model, joint, actuator->reference.link);
        const mf_Frame *axes = between ? &actuator->reference : &actuator->frame;
        if (far && !near)
            put_force(b, a, &actuator->frame, axes, 1.0);
        else if (near && !far)
            put_force(b, a, &actuator->reference, axes, -1.0);
    }
}

void mf_sense_put_joint_forces(mf_SenseBuild *b, uint32_t joint, mf_SenseItem *out) {
    for (uint32_t a = 0; a < b->model->actuator_count; a++) {
        const mf_Actuator *actuator = &b->model->actuators[a];
        if (actuator->joint == joint)
            mf_sense_put_term(b, a, actuator->gear[0]);
        if (actuator->tendon == MF_NONE)
            continue;
        const mf_Tendon *tendon = &b->model->tendons[actuator->tendon];
        for (uint32_t i = tendon->first_term; i < tendon->first_term + tendon->term_count; i++)
            if (b->model->tendon_terms[i].joint == joint)
                mf_sense_put_term(b, a, actuator->gear[0] * b->model->tendon_terms[i].coefficient);
    }
    out->first_force = b->force_count;
    put_forces(b, joint);
    out->force_count = b->force_count - out->first_force;
}

// The last link that carries both, + 1; 0: the world.
static uint32_t shared_link(const mf_Model *model, uint32_t a, uint32_t b) {
    while (a != b && a != MF_NONE && b != MF_NONE) {
        if (a > b) // parents come before children
            a = model->links[a].parent;
        else
            b = model->links[b].parent;
    }
    return a == b && a != MF_NONE ? a + 1 : 0;
}

void mf_sense_put_actuator(mf_SenseBuild *b, const mf_Sensor *sensor, mf_SenseItem *out) {
    const mf_Actuator *actuator = &b->model->actuators[sensor->actuator];
    memcpy(out->gear, actuator->gear, sizeof out->gear);
    if (actuator->drive == MF_DRIVE_TENDON) {
        mf_sense_put_tendon_terms(b, actuator->tendon, actuator->gear[0]);
    } else if (actuator->drive == MF_DRIVE_BODY) {
        out->drive = MF_SENSE_SITE; // it has no length
    } else if (actuator->drive == MF_DRIVE_SITE) {
        bool between = actuator->reference_site != MF_NONE;
        out->drive = between ? MF_SENSE_BETWEEN : MF_SENSE_SITE;
        out->frame = mf_sense_frame(b, &actuator->frame);
        if (between) {
            out->reference = mf_sense_frame(b, &actuator->reference);
            out->shared = shared_link(b->model, actuator->frame.link, actuator->reference.link);
        }
    } else if (b->model->joints[actuator->joint].type == MF_JOINT_BALL) {
        out->drive = MF_SENSE_ROTATION;
        out->in_parent = actuator->drive == MF_DRIVE_JOINT_IN_PARENT;
        out->ball = mf_sense_balls_before(b->model, actuator->joint);
    } else {
        mf_sense_put_term(b, actuator->joint, actuator->gear[0]);
    }
}

// ---- energies ----------------------------------------------------------------------------------

static void put_spring(mf_SenseBuild *b, uint32_t index) {
    const mf_Joint *joint = &b->model->joints[index];
    bool single = joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
    if (!(joint->stiffness > 0.0))
        return;
    mf_SenseSpring spring = {.type = joint->type,
                             .row = index,
                             .ball = mf_sense_balls_before(b->model, index),
                             .free = mf_sense_free_before(b->model, index),
                             .stiffness = joint->stiffness,
                             .relaxed = joint->spring_reference};
    if (!single) {
        const double *rest = b->model->start_position + joint->position_address;
        bool floating = joint->type == MF_JOINT_FLOATING;
        if (floating)
            memcpy(spring.rest, rest, sizeof spring.rest);
        memcpy(spring.rotation, rest + (floating ? 3 : 0), sizeof spring.rotation);
    }
    MF_SENSE_PUT(b, springs, spring, spring);
}

static void put_tendon(mf_SenseBuild *b, uint32_t index) {
    const mf_Tendon *own = &b->model->tendons[index];
    mf_SenseTendon tendon = {.first = b->term_count,
                             .stiffness = own->stiffness,
                             .shorter = own->spring_lower,
                             .longer = own->spring_upper,
                             .armature = own->armature};
    for (uint32_t a = 0; a < b->model->actuator_count; a++) {
        const mf_Actuator *actuator = &b->model->actuators[a];
        if (actuator->tendon == index)
            tendon.armature += actuator->armature * actuator->gear[0] * actuator->gear[0];
    }
    mf_sense_put_tendon_terms(b, index, 1.0);
    tendon.count = b->term_count - tendon.first;
    MF_SENSE_PUT(b, tendons, tendon, tendon);
}

static void put_armature(mf_SenseBuild *b) {
    const mf_Model *model = b->model;
    b->armature_count = model->velocity_count;
    for (uint32_t i = 0; b->armature != NULL && i < 6 && model->base == MF_BASE_FREE; i++)
        b->armature[i] = model->root != NULL ? model->root->armature : 0.0;
    for (uint32_t j = 0; b->armature != NULL && j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (joint->velocity_address >= model->velocity_count)
            continue; // a fixed joint at the end of the vector
        double sum = joint->armature;
        for (uint32_t a = 0; a < model->actuator_count; a++)
            if (model->actuators[a].joint == j)
                sum += model->actuators[a].armature * model->actuators[a].gear[0] *
                       model->actuators[a].gear[0];
        b->armature[joint->velocity_address] = sum;
    }
}

void mf_sense_put_energies(mf_SenseBuild *b) {
    b->first_lump = b->lump_count;
    mf_sense_put_lumps(b, MF_NONE);
    b->all_lumps = b->lump_count - b->first_lump;
    for (uint32_t j = 0; j < b->model->joint_count; j++)
        put_spring(b, j);
    for (uint32_t t = 0; t < b->model->tendon_count; t++)
        put_tendon(b, t);
    put_armature(b);
    for (uint32_t l = 0; l <= b->model->link_count; l++)
        b->needed[l] = true;
}
