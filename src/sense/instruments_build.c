// The plan of a group's instruments. Everything is written twice: first to count, with no arrays,
// then into the one allocation that the counts ask for.
#include "sense/instruments_build.h"

#include "math/scalar.h"

#include <mayfly/articulated.h>
#include <mayfly/motion.h>
#include <string.h>

typedef struct Build {
    const mf_Model *model;
    mf_Group *group;
    bool lenient;
    mf_InstrumentPlan *plan; // NULL while counting
    mf_InstrumentLink *links;
    mf_Instrument *instruments;
    mf_InstrumentLump *lumps;
    mf_InstrumentTerm *terms;
    mf_InstrumentPush *pushes;
    mf_InstrumentSpring *springs;
    mf_InstrumentTendon *tendons;
    mf_InstrumentShape *shapes;
    mf_InstrumentContact *contacts;
    double *armature;
    uint32_t link_count, instrument_count, lump_count, term_count, push_count, spring_count,
        tendon_count, shape_count, contact_count, armature_count; // [1] written so far
    bool needed[MF_INSTRUMENT_LINKS + 1];                         // links + 1 that sensors look at
    bool accelerates, energies, limits;
    uint32_t outer_count; // [1] bodies whose forces from outside are summed
    uint32_t outer[MF_INSTRUMENT_OUTER];
    uint32_t first_lump, all_lumps; // [1]
} Build;

static mf_InstrumentFrame set_frame(Build *b, const mf_Frame *frame) {
    mf_InstrumentFrame out = {.body = frame->link == MF_NONE ? 0 : frame->link + 1};
    memcpy(out.position, frame->position, sizeof out.position);
    memcpy(out.rotation, frame->rotation, sizeof out.rotation);
    b->needed[out.body] = true;
    return out;
}

// ---- pieces ------------------------------------------------------------------------------------

static void put_term(Build *b, uint32_t row, double weight) {
    if (b->terms != NULL)
        b->terms[b->term_count] = (mf_InstrumentTerm){row, weight};
    b->term_count++;
}

static void put_tendon_terms(Build *b, uint32_t tendon, double gear) {
    const mf_Tendon *own = &b->model->tendons[tendon];
    for (uint32_t i = own->first_term; i < own->first_term + own->term_count; i++)
        put_term(b, b->model->tendon_terms[i].joint, gear * b->model->tendon_terms[i].coefficient);
}

// Whether `body` is `root` (MF_NONE: the world) or carried by it.
static bool carried(const mf_Model *model, uint32_t body, uint32_t root) {
    while (body != root && body != MF_NONE)
        body = model->bodies[body].parent;
    return body == root;
}

static void put_lumps(Build *b, uint32_t root) {
    for (uint32_t i = 0; i < b->model->body_count; i++) {
        const mf_Body *body = &b->model->bodies[i];
        if (!carried(b->model, i, root) || !(body->mass > 0.0))
            continue;
        mf_InstrumentLump lump = {.body = body->link == MF_NONE ? 0 : body->link + 1,
                                  .mass = body->mass};
        const double diagonal[6] = {body->moments[0], body->moments[1], body->moments[2], 0, 0, 0};
        double turn[4];
        mf_quat_rotate(lump.center, body->rotation, body->center);
        mf_vec3_add(lump.center, lump.center, body->position);
        mf_quat_multiply(turn, body->rotation, body->axes);
        mf_inertia_rotate(lump.inertia, diagonal, turn);
        b->needed[lump.body] = true;
        if (b->lumps != NULL)
            b->lumps[b->lump_count] = lump;
        b->lump_count++;
    }
}

static void halve(mf_ShapeType type, const double size[3], double out[3]) {
    memcpy(out, size, 3 * sizeof *out);
    if (type == MF_SHAPE_BOX || type == MF_SHAPE_PLANE)
        mf_vec3_scale(out, size, 0.5);
    else if (type == MF_SHAPE_CAPSULE || type == MF_SHAPE_CYLINDER)
        out[1] = 0.5 * size[1];
}

static void put_shapes(Build *b, uint32_t without) {
    for (uint32_t i = 0; i < b->model->shape_count; i++) {
        const mf_Shape *shape = &b->model->shapes[i];
        if (shape->body == without || shape->type == MF_SHAPE_HEIGHTS ||
            shape->type == MF_SHAPE_POINT)
            continue;
        mf_Frame frame = {.link = shape->link};
        memcpy(frame.position, shape->position, sizeof frame.position);
        memcpy(frame.rotation, shape->rotation, sizeof frame.rotation);
        mf_InstrumentShape out = {.type = shape->type, .frame = set_frame(b, &frame)};
        halve(shape->type, shape->size, out.size);
        if (shape->type == MF_SHAPE_MESH)
            out.mesh = &b->model->meshes[shape->mesh];
        if (b->shapes != NULL)
            b->shapes[b->shape_count] = out;
        b->shape_count++;
    }
}

static void put_contact(Build *b, uint32_t row, uint32_t link, const double place[3]) {
    if (b->contacts != NULL) {
        mf_InstrumentContact *out = &b->contacts[b->contact_count];
        *out = (mf_InstrumentContact){.row = row, .body = link + 1};
        mf_vec3_copy(out->position, place);
    }
    b->contact_count++;
}

static void put_contacts(Build *b, uint32_t link) {
    mf_Field *load = mf_group_find_field(b->group, "contact.load");
    double place[3];
    uint32_t row = 0;
    if (link == MF_NONE)
        return;
    for (uint32_t i = 0; load != NULL && i < load->components; i++)
        if (mf_articulated_contact_place(b->group, i, link, place))
            put_contact(b, i, link, place);
    for (uint32_t i = 0; load == NULL && i < b->model->point_count; i++) {
        const mf_Point *point = &b->model->points[i];
        if (!(point->flags & MF_POINT_COLLIDES))
            continue;
        if (point->link == link)
            put_contact(b, row, link, point->position);
        row++;
    }
}

// ---- joints and actuators ----------------------------------------------------------------------

static uint32_t balls_before(const mf_Model *model, uint32_t joint) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < joint; j++)
        count +=
            model->joints[j].type == MF_JOINT_BALL || model->joints[j].type == MF_JOINT_FLOATING;
    return count;
}

static uint32_t places_before(const mf_Model *model, uint32_t joint) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < joint; j++)
        count += model->joints[j].type == MF_JOINT_FLOATING;
    return count;
}

static void set_joint(Build *b, uint32_t index, mf_Instrument *out) {
    const mf_Joint *joint = &b->model->joints[index];
    out->joint_type = joint->type;
    out->row = index;
    out->ball = balls_before(b->model, index);
    out->body = joint->child + 1;
    out->lower = joint->lower;
    out->upper = joint->upper;
    out->margin = joint->limit_margin;
    out->force_lower = joint->force_lower;
    out->force_upper = joint->force_upper;
    memcpy(out->axis, joint->axis, sizeof out->axis);
}

// Whether `link` is carried by the joint.
static bool moves(const mf_Model *model, uint32_t joint, uint32_t link) {
    while (link != MF_NONE && link != model->joints[joint].child)
        link = model->links[link].parent;
    return link != MF_NONE;
}

static void put_push(Build *b, uint32_t actuator, const mf_Frame *at, const mf_Frame *axes,
                     double sign) {
    const double *gear = b->model->actuators[actuator].gear;
    mf_InstrumentPush push = {
        .row = actuator, .frame = set_frame(b, at), .axes = set_frame(b, axes)};
    for (int i = 0; i < 6; i++)
        push.wrench[i] = sign * gear[i];
    if (b->pushes != NULL)
        b->pushes[b->push_count] = push;
    b->push_count++;
}

// Between two sites a joint that carries both feels nothing.
static void put_pushes(Build *b, uint32_t joint) {
    for (uint32_t a = 0; a < b->model->actuator_count; a++) {
        const mf_Actuator *actuator = &b->model->actuators[a];
        if (actuator->drive != MF_DRIVE_SITE)
            continue;
        bool far = moves(b->model, joint, actuator->frame.link);
        bool between = actuator->reference_site != MF_NONE;
        bool near = between && moves(b->model, joint, actuator->reference.link);
        const mf_Frame *axes = between ? &actuator->reference : &actuator->frame;
        if (far && !near)
            put_push(b, a, &actuator->frame, axes, 1.0);
        else if (near && !far)
            put_push(b, a, &actuator->reference, axes, -1.0);
    }
}

static void put_joint_forces(Build *b, uint32_t joint, mf_Instrument *out) {
    for (uint32_t a = 0; a < b->model->actuator_count; a++) {
        const mf_Actuator *actuator = &b->model->actuators[a];
        if (actuator->joint == joint)
            put_term(b, a, actuator->gear[0]);
        if (actuator->tendon == MF_NONE)
            continue;
        const mf_Tendon *tendon = &b->model->tendons[actuator->tendon];
        for (uint32_t i = tendon->first_term; i < tendon->first_term + tendon->term_count; i++)
            if (b->model->tendon_terms[i].joint == joint)
                put_term(b, a, actuator->gear[0] * b->model->tendon_terms[i].coefficient);
    }
    out->first_push = b->push_count;
    put_pushes(b, joint);
    out->pushes = b->push_count - out->first_push;
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

static void put_actuator(Build *b, const mf_Sensor *sensor, mf_Instrument *out) {
    const mf_Actuator *actuator = &b->model->actuators[sensor->actuator];
    memcpy(out->gear, actuator->gear, sizeof out->gear);
    if (actuator->drive == MF_DRIVE_TENDON) {
        put_tendon_terms(b, actuator->tendon, actuator->gear[0]);
    } else if (actuator->drive == MF_DRIVE_SITE) {
        bool between = actuator->reference_site != MF_NONE;
        out->drive = between ? MF_INSTRUMENT_BETWEEN : MF_INSTRUMENT_SITE;
        out->frame = set_frame(b, &actuator->frame);
        if (between) {
            out->reference = set_frame(b, &actuator->reference);
            out->shared = shared_link(b->model, actuator->frame.link, actuator->reference.link);
        }
    } else if (b->model->joints[actuator->joint].type == MF_JOINT_BALL) {
        out->drive = MF_INSTRUMENT_TURN;
        out->in_parent = actuator->drive == MF_DRIVE_JOINT_IN_PARENT;
        out->ball = balls_before(b->model, actuator->joint);
    } else {
        put_term(b, actuator->joint, actuator->gear[0]);
    }
}

// ---- energies ----------------------------------------------------------------------------------

static void put_spring(Build *b, uint32_t index) {
    const mf_Joint *joint = &b->model->joints[index];
    bool single = joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
    if (!(joint->stiffness > 0.0))
        return;
    mf_InstrumentSpring spring = {.type = joint->type,
                                  .row = index,
                                  .ball = balls_before(b->model, index),
                                  .place = places_before(b->model, index),
                                  .stiffness = joint->stiffness,
                                  .relaxed = joint->spring_reference};
    if (!single) {
        const double *rest = b->model->start_position + joint->position_address;
        bool floating = joint->type == MF_JOINT_FLOATING;
        if (floating)
            memcpy(spring.rest, rest, sizeof spring.rest);
        memcpy(spring.turn, rest + (floating ? 3 : 0), sizeof spring.turn);
    }
    if (b->springs != NULL)
        b->springs[b->spring_count] = spring;
    b->spring_count++;
}

static void put_tendon(Build *b, uint32_t index) {
    const mf_Tendon *own = &b->model->tendons[index];
    mf_InstrumentTendon tendon = {.first = b->term_count,
                                  .stiffness = own->stiffness,
                                  .shorter = own->spring_lower,
                                  .longer = own->spring_upper,
                                  .armature = own->armature};
    for (uint32_t a = 0; a < b->model->actuator_count; a++) {
        const mf_Actuator *actuator = &b->model->actuators[a];
        if (actuator->tendon == index)
            tendon.armature += actuator->armature * actuator->gear[0] * actuator->gear[0];
    }
    put_tendon_terms(b, index, 1.0);
    tendon.count = b->term_count - tendon.first;
    if (b->tendons != NULL)
        b->tendons[b->tendon_count] = tendon;
    b->tendon_count++;
}

static void put_armature(Build *b) {
    const mf_Model *model = b->model;
    b->armature_count = model->velocity_count;
    for (uint32_t i = 0; b->armature != NULL && i < 6 && model->base == MF_BASE_FREE; i++)
        b->armature[i] = model->root != NULL ? model->root->armature : 0.0;
    for (uint32_t j = 0; b->armature != NULL && j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (joint->velocity_address >= model->velocity_count)
            continue; // a held joint at the end of the vector
        double sum = joint->armature;
        for (uint32_t a = 0; a < model->actuator_count; a++)
            if (model->actuators[a].joint == j)
                sum += model->actuators[a].armature * model->actuators[a].gear[0] *
                       model->actuators[a].gear[0];
        b->armature[joint->velocity_address] = sum;
    }
}

static void put_energies(Build *b) {
    b->first_lump = b->lump_count;
    put_lumps(b, MF_NONE);
    b->all_lumps = b->lump_count - b->first_lump;
    for (uint32_t j = 0; j < b->model->joint_count; j++)
        put_spring(b, j);
    for (uint32_t t = 0; t < b->model->tendon_count; t++)
        put_tendon(b, t);
    put_armature(b);
    for (uint32_t l = 0; l <= b->model->link_count; l++)
        b->needed[l] = true;
}

// ---- sensors -----------------------------------------------------------------------------------

// Whether something of `root` or what it carries may be pushed from outside.
static bool may_be_pushed(const Build *b, uint32_t root) {
    const mf_ArticulatedConfig *settings = mf_articulated_settings(b->group);
    const mf_Model *model = b->model;
    const uint32_t off = model->physics.disabled;
    const bool none = off & MF_DISABLE_CONSTRAINT;
    bool touches = settings == NULL || settings->contacts ||
                   (settings->self_contacts && !none && !(off & MF_DISABLE_CONTACT));
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (touches && shape->collides && shape->body != MF_NONE &&
            carried(model, shape->body, root))
            return true;
    }
    for (uint32_t i = 0; settings != NULL && i < model->body_count; i++) // programs push the base
        if (model->base == MF_BASE_FREE && model->bodies[i].link == 0 && carried(model, i, root))
            return true;
    bool tied = settings != NULL && !none && !(off & MF_DISABLE_EQUALITY);
    for (uint32_t i = 0; tied && i < model->equality_count; i++) {
        const mf_Equality *tie = &model->equalities[i];
        bool ties = tie->type == MF_EQUALITY_CONNECT || tie->type == MF_EQUALITY_WELD;
        for (int side = 0; ties && side < 2; side++)
            if (tie->objects[side] != MF_NONE && carried(model, tie->objects[side], root))
                return true;
    }
    return false;
}

static bool is_pushed(const mf_Model *model, uint32_t body) {
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].collides && model->shapes[i].body == body)
            return true;
    for (uint32_t i = 0; i < model->equality_count; i++) {
        const mf_Equality *tie = &model->equalities[i];
        bool ties = tie->type == MF_EQUALITY_CONNECT || tie->type == MF_EQUALITY_WELD;
        if (ties && (tie->objects[0] == body || tie->objects[1] == body))
            return true;
    }
    return false;
}

// Whether a body shares its link with one that it does not carry, and both can be pushed.
static bool is_mixed(const mf_Model *model, uint32_t root) {
    bool inside = false, outside = false;
    for (uint32_t i = 0; i < model->body_count; i++) {
        if (model->bodies[i].link != model->bodies[root].link || !is_pushed(model, i))
            continue;
        inside = inside || carried(model, i, root);
        outside = outside || !carried(model, i, root);
    }
    return inside && outside;
}

// Its forces from outside are summed by the motion. NULL, or why not.
static const char *ask_outer(Build *b, uint32_t body, mf_Instrument *out) {
    if (mf_articulated_settings(b->group) == NULL)
        return "its body can touch something, and this motion does not know forces of contacts on "
               "single bodies";
    if (body == MF_NONE)
        return "it is fixed in the world, and something can touch";
    if (is_mixed(b->model, body))
        return "its body is fixed to another one, and both can be pushed";
    out->has_outer = true;
    for (out->outer = 0; out->outer < b->outer_count; out->outer++)
        if (b->outer[out->outer] == body)
            return NULL;
    if (b->outer_count == MF_INSTRUMENT_OUTER)
        return "forces from outside are summed for at most 64 bodies";
    b->outer[b->outer_count++] = body;
    return NULL;
}

static bool limits_off(const mf_Model *model) {
    return (model->physics.disabled & (MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT)) != 0;
}

// What is special about a type; NULL, or why it cannot be measured.
static const char *fill_special(Build *b, const mf_Sensor *sensor, mf_Instrument *out) {
    switch (sensor->type) {
    case MF_SENSOR_JOINT_LIMIT_FORCE:
    case MF_SENSOR_TENDON_LIMIT_FORCE:
        if (mf_articulated_settings(b->group) == NULL)
            return "this motion does not know forces of limits";
        b->limits = true;
        out->row = sensor->type == MF_SENSOR_JOINT_LIMIT_FORCE ? sensor->joint : sensor->tendon;
        return NULL;
    case MF_SENSOR_FORCE:
    case MF_SENSOR_TORQUE:
        b->accelerates = true;
        put_lumps(b, sensor->body);
        out->items = b->lump_count - out->first;
        if (sensor->body != MF_NONE)
            out->body = b->model->bodies[sensor->body].link + 1; // MF_NONE + 1: the world
        b->needed[out->body] = true;
        return may_be_pushed(b, sensor->body) ? ask_outer(b, sensor->body, out) : NULL;
    case MF_SENSOR_ACCELEROMETER:
    case MF_SENSOR_FRAME_ACCELERATION:
    case MF_SENSOR_FRAME_ANGULAR_ACCELERATION:
        b->accelerates = true;
        return NULL;
    case MF_SENSOR_ACTUATOR_POSITION:
    case MF_SENSOR_ACTUATOR_VELOCITY:
        put_actuator(b, sensor, out);
        out->items = b->term_count - out->first;
        return NULL;
    case MF_SENSOR_POTENTIAL_ENERGY:
    case MF_SENSOR_KINETIC_ENERGY:
        b->energies = true;
        return NULL;
    case MF_SENSOR_JOINT_LIMIT_POSITION:
    case MF_SENSOR_JOINT_LIMIT_VELOCITY:
        out->dead = limits_off(b->model);
        return NULL;
    default:
        return NULL;
    }
}

static void fill_items(Build *b, const mf_Sensor *sensor, mf_Instrument *out) {
    const mf_Model *model = b->model;
    switch (sensor->type) {
    case MF_SENSOR_TOUCH:
        put_contacts(b, sensor->frame.link);
        out->items = b->contact_count - out->first;
        out->volume.type = model->sites[sensor->site].type;
        halve(out->volume.type, model->sites[sensor->site].size, out->volume.size);
        return;
    case MF_SENSOR_RANGEFINDER:
        put_shapes(b, model->sites[sensor->site].body);
        out->items = b->shape_count - out->first;
        return;
    case MF_SENSOR_TENDON_POSITION:
    case MF_SENSOR_TENDON_VELOCITY:
    case MF_SENSOR_TENDON_LIMIT_POSITION:
    case MF_SENSOR_TENDON_LIMIT_VELOCITY:
        put_tendon_terms(b, sensor->tendon, 1.0);
        out->items = b->term_count - out->first;
        out->lower = model->tendons[sensor->tendon].lower;
        out->upper = model->tendons[sensor->tendon].upper;
        out->margin = model->tendons[sensor->tendon].limit_margin;
        out->dead = sensor->type >= MF_SENSOR_TENDON_LIMIT_POSITION && limits_off(model);
        return;
    case MF_SENSOR_ACTUATOR_FORCE:
        put_term(b, sensor->actuator, 1.0);
        out->items = 1;
        return;
    case MF_SENSOR_TENDON_ACTUATOR_FORCE:
        for (uint32_t a = 0; a < model->actuator_count; a++)
            if (model->actuators[a].tendon == sensor->tendon)
                put_term(b, a, 1.0);
        out->items = b->term_count - out->first;
        return;
    case MF_SENSOR_JOINT_ACTUATOR_FORCE:
        b->needed[out->body] = true;
        put_joint_forces(b, sensor->joint, out);
        out->items = b->term_count - out->first;
        return;
    case MF_SENSOR_SUBTREE_CENTER:
    case MF_SENSOR_SUBTREE_VELOCITY:
    case MF_SENSOR_SUBTREE_MOMENTUM:
        put_lumps(b, sensor->body);
        out->items = b->lump_count - out->first;
        return;
    default:
        return;
    }
}

// Where this sensor's items begin in the array that it uses.
static uint32_t next_item(const Build *b, mf_SensorType type) {
    switch (type) {
    case MF_SENSOR_TOUCH:
        return b->contact_count;
    case MF_SENSOR_RANGEFINDER:
        return b->shape_count;
    case MF_SENSOR_FORCE:
    case MF_SENSOR_TORQUE:
    case MF_SENSOR_SUBTREE_CENTER:
    case MF_SENSOR_SUBTREE_VELOCITY:
    case MF_SENSOR_SUBTREE_MOMENTUM:
        return b->lump_count;
    default:
        return b->term_count;
    }
}

static bool has_frame(mf_SensorType type) {
    return (type >= MF_SENSOR_TOUCH && type <= MF_SENSOR_RANGEFINDER) ||
           (type >= MF_SENSOR_FRAME_POSITION && type <= MF_SENSOR_FRAME_ANGULAR_ACCELERATION);
}

static bool is_direction(mf_SensorType type) {
    return type == MF_SENSOR_BALL_QUATERNION || type == MF_SENSOR_FRAME_QUATERNION ||
           (type >= MF_SENSOR_FRAME_X_AXIS && type <= MF_SENSOR_FRAME_Z_AXIS);
}

static mf_Status add_sensor(Build *b, uint32_t index, mf_Error *error) {
    const mf_Sensor *sensor = &b->model->sensors[index];
    mf_Instrument out = {.type = sensor->type,
                         .address = sensor->address,
                         .count = sensor->count,
                         .stream = index,
                         .noise = sensor->noise,
                         .cutoff = sensor->cutoff,
                         .bounded = sensor->cutoff > 0.0 && !is_direction(sensor->type),
                         .first = next_item(b, sensor->type)};
    if (sensor->type < MF_SENSOR_TOUCH || sensor->type == MF_SENSOR_USER)
        return MF_OK;
    const mf_Frame world = {.link = MF_NONE, .rotation = {1, 0, 0, 0}};
    out.frame = set_frame(b, has_frame(sensor->type) ? &sensor->frame : &world);
    out.reference = set_frame(b, sensor->has_reference ? &sensor->reference : &world);
    if (sensor->joint != MF_NONE && sensor->joint < b->model->joint_count)
        set_joint(b, sensor->joint, &out);
    const char *reason = fill_special(b, sensor, &out);
    if (reason != NULL && !b->lenient)
        return mf_fail(error, MF_UNSUPPORTED, "sensor %u '%.100s' cannot be measured: %s", index,
                       sensor->name, reason);
    out.dead |= reason != NULL;
    fill_items(b, sensor, &out);
    if (b->instruments != NULL)
        b->instruments[b->instrument_count] = out;
    b->instrument_count++;
    return MF_OK;
}

static void put_links(Build *b) {
    const mf_Model *model = b->model;
    for (uint32_t l = model->link_count; l-- > 1;)
        b->needed[model->links[l].parent + 1] |= b->needed[l + 1];
    for (uint32_t l = 1; l < model->link_count; l++) {
        const mf_Joint *joint = &model->joints[model->links[l].joint];
        uint32_t index = model->links[l].joint;
        if (!b->needed[l + 1])
            continue;
        if (b->links != NULL) {
            mf_InstrumentLink *out = &b->links[b->link_count];
            *out = (mf_InstrumentLink){.body = l + 1,
                                       .parent = joint->parent + 1,
                                       .type = joint->type,
                                       .row = index,
                                       .ball = balls_before(model, index),
                                       .place = places_before(model, index),
                                       .velocity = joint->velocity_address,
                                       .reference = joint->reference};
            memcpy(out->position, joint->position, sizeof out->position);
            memcpy(out->rotation, joint->rotation, sizeof out->rotation);
            memcpy(out->axis, joint->axis, sizeof out->axis);
        }
        b->link_count++;
    }
}

static mf_Status write_all(Build *b, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; status == MF_OK && i < b->model->sensor_count; i++)
        status = add_sensor(b, i, error);
    if (status == MF_OK && b->energies)
        put_energies(b);
    put_links(b);
    return status;
}

// ---- the allocation ----------------------------------------------------------------------------

static void *take(char **memory, size_t count, size_t size) {
    void *out = *memory;
    *memory += count * size;
    return out;
}

static size_t bytes_of(const Build *b) {
    return b->link_count * sizeof *b->links + b->instrument_count * sizeof *b->instruments +
           b->lump_count * sizeof *b->lumps + b->term_count * sizeof *b->terms +
           b->push_count * sizeof *b->pushes + b->spring_count * sizeof *b->springs +
           b->tendon_count * sizeof *b->tendons + b->shape_count * sizeof *b->shapes +
           b->contact_count * sizeof *b->contacts + b->armature_count * sizeof *b->armature;
}

// All of these begin at multiples of 8 bytes.
static void divide(Build *b, const Build *counted, char *memory) {
    b->links = take(&memory, counted->link_count, sizeof *b->links);
    b->instruments = take(&memory, counted->instrument_count, sizeof *b->instruments);
    b->lumps = take(&memory, counted->lump_count, sizeof *b->lumps);
    b->terms = take(&memory, counted->term_count, sizeof *b->terms);
    b->pushes = take(&memory, counted->push_count, sizeof *b->pushes);
    b->springs = take(&memory, counted->spring_count, sizeof *b->springs);
    b->tendons = take(&memory, counted->tendon_count, sizeof *b->tendons);
    b->shapes = take(&memory, counted->shape_count, sizeof *b->shapes);
    b->contacts = take(&memory, counted->contact_count, sizeof *b->contacts);
    b->armature = take(&memory, counted->armature_count, sizeof *b->armature);
}

static void fill_batch(const Build *b, const mf_InstrumentsConfig *config) {
    const mf_WorldConfig *world = mf_world_settings(mf_group_world(b->group));
    const mf_Model *model = b->model;
    mf_InstrumentBatch *batch = &b->plan->batch;
    *batch = (mf_InstrumentBatch){.link_count = b->link_count,
                                  .instrument_count = b->instrument_count,
                                  .spring_count = b->spring_count,
                                  .tendon_count = b->tendon_count,
                                  .joint_count = model->joint_count,
                                  .actuator_count = model->actuator_count,
                                  .ball_count = balls_before(model, model->joint_count),
                                  .place_count = places_before(model, model->joint_count),
                                  .value_count = model->sensor_value_count,
                                  .velocity_count = model->velocity_count,
                                  .first_lump = b->first_lump,
                                  .lump_count = b->all_lumps,
                                  .links = b->links,
                                  .instruments = b->instruments,
                                  .lumps = b->lumps,
                                  .terms = b->terms,
                                  .pushes = b->pushes,
                                  .springs = b->springs,
                                  .tendons = b->tendons,
                                  .shapes = b->shapes,
                                  .contacts = b->contacts,
                                  .armature = b->armature,
                                  .terrain = world->terrain,
                                  .level = world->terrain->lowest == world->terrain->highest,
                                  .noise = config->noise,
                                  .fixed = model->base == MF_BASE_FIXED,
                                  .seed = world->seed};
    for (int i = 0; i < 3; i++)
        batch->gravity[i] = world->gravity * world->gravity_direction[i];
    memcpy(batch->magnetic, model->physics.magnetic, sizeof batch->magnetic);
    b->plan->accelerates = b->accelerates;
    b->plan->limits = b->limits;
    b->plan->outer_count = b->outer_count;
    memcpy(b->plan->outer, b->outer, sizeof b->plan->outer);
}

mf_Status mf_instrument_plan_create(mf_Group *group, const mf_InstrumentsConfig *config,
                                    mf_InstrumentPlan **out, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    *out = NULL;
    if (model->link_count > MF_INSTRUMENT_LINKS)
        return mf_fail(error, MF_LIMIT, "instruments: at most %d links, found %u",
                       MF_INSTRUMENT_LINKS, model->link_count);
    if (model->velocity_count > MF_INSTRUMENT_VELOCITIES)
        return mf_fail(error, MF_LIMIT, "instruments: at most %d velocity values, found %u",
                       MF_INSTRUMENT_VELOCITIES, model->velocity_count);
    Build counted = {.model = model, .group = group, .lenient = config->lenient};
    mf_Status status = write_all(&counted, error);
    if (status != MF_OK || counted.instrument_count == 0)
        return status;
    mf_InstrumentPlan *plan = mf_allocate(context, 1, sizeof *plan + bytes_of(&counted));
    if (plan == NULL)
        return mf_fail(error, MF_NO_MEMORY, "instruments: out of memory");
    Build build = {.model = model, .group = group, .lenient = config->lenient, .plan = plan};
    divide(&build, &counted, (char *)(plan + 1));
    status = write_all(&build, error);
    fill_batch(&build, config);
    plan->group = group;
    *out = plan;
    return status;
}
