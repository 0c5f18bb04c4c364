// Robots that differ from their group's model in numbers: the model that each would have, for the
// motions of the group.
#include "base/floats.h"
#include "base/hash.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "model/fields.h"
#include "model/sensor_kind.h"
#include "model/shape_kinds.h"
#include "motion/table.h"
#include "multibody/numbers.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

static bool same_reals(const double *a, const double *b, size_t count) {
    return memcmp(a, b, count * sizeof *a) == 0;
}

// Copies of the lists of an instance's model whose items change.
typedef struct Changed {
    const mf_Model *model; // of the tree of the group's
    mf_Model own;
    mf_Link *links;
    mf_Joint *joints;
    mf_Shape *shapes;
    mf_Actuator *actuators;
    mf_Body *bodies;   // of the file, whose masses and centers follow from their links'
    mf_Point *points;  // which follow from their shapes
    double gravity[3]; // [m/s^2] of the world: that of its file has no effect
} Changed;

static void *list_of(Changed *changed, mf_ItemType item, uint32_t *count) {
    switch (item) {
    case MF_ITEM_LINK:
        *count = changed->model->link_count;
        return changed->links;
    case MF_ITEM_JOINT:
        *count = changed->model->joint_count;
        return changed->joints;
    case MF_ITEM_SHAPE:
        *count = changed->model->shape_count;
        return changed->shapes;
    case MF_ITEM_ACTUATOR:
        *count = changed->model->actuator_count;
        return changed->actuators;
    case MF_ITEM_PHYSICS:
        *count = 1;
        return &changed->own.physics;
    default:
        *count = 0;
        return NULL;
    }
}

static void restore(Changed *changed, const mf_Model *model) {
    changed->model = model;
    memcpy(&changed->own, model, sizeof changed->own);
    changed->own.links = changed->links;
    changed->own.joints = changed->joints;
    changed->own.shapes = changed->shapes;
    changed->own.actuators = changed->actuators;
    changed->own.bodies = changed->bodies;
    changed->own.points = changed->points;
    mf_vec3_copy(changed->own.physics.gravity, changed->gravity);
    if (model->link_count > 0)
        memcpy(changed->links, model->links, model->link_count * sizeof *model->links);
    if (model->joint_count > 0)
        memcpy(changed->joints, model->joints, model->joint_count * sizeof *model->joints);
    if (model->shape_count > 0)
        memcpy(changed->shapes, model->shapes, model->shape_count * sizeof *model->shapes);
    if (model->actuator_count > 0)
        memcpy(changed->actuators, model->actuators,
               model->actuator_count * sizeof *model->actuators);
    if (model->body_count > 0)
        memcpy(changed->bodies, model->bodies, model->body_count * sizeof *model->bodies);
    if (model->point_count > 0)
        memcpy(changed->points, model->points, model->point_count * sizeof *model->points);
}

static mf_Status begin(Changed *changed, const mf_Group *group, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    mf_World *world = mf_group_world((mf_Group *)(uintptr_t)group);
    mf_Context *context = mf_world_context(world);
    const mf_WorldConfig *settings = mf_world_config_of(world);
    const mf_Array arrays[] = {MF_ARRAY(changed->links, model->link_count),
                               MF_ARRAY(changed->joints, model->joint_count),
                               MF_ARRAY(changed->shapes, model->shape_count),
                               MF_ARRAY(changed->actuators, model->actuator_count),
                               MF_ARRAY(changed->bodies, model->body_count),
                               MF_ARRAY(changed->points, model->point_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays), error,
                   "mf_group_vary");
    changed->model = model;
    for (int i = 0; i < 3; i++)
        changed->gravity[i] = settings->gravity * settings->gravity_direction[i];
    return MF_OK;
}

static mf_Status check(Changed *changed, const mf_ModelChange *change, mf_Error *error) {
    uint32_t count;
    const char *kind = mf_item_table(change->item) != NULL ? mf_item_table(change->item)->name : "";
    if (list_of(changed, change->item, &count) == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_group_vary: robots can differ in fields of links, joints, shapes and "
                       "actuators that the model has, and in physics.gravity, not of '%s'",
                       kind);
    const mf_Physics *physics = &changed->model->physics;
    if (change->item == MF_ITEM_LINK && (physics->density > 0.0 || physics->viscosity > 0.0))
        return mf_fail(error, MF_UNSUPPORTED,
                       "mf_group_vary: links of robots in a medium are those of the group's model");
    const mf_ModelField *field = mf_item_field(change->item, change->field);
    if (field == NULL || field->type != MF_VALUE_REAL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_group_vary: %s.%s is not a field of real numbers", kind,
                       change->field != NULL ? change->field : "");
    if (change->item == MF_ITEM_PHYSICS && strcmp(field->name, "gravity") != 0)
        return mf_fail(error, MF_UNSUPPORTED, "mf_group_vary: all robots of a group have one %s.%s",
                       kind, field->name);
    if (change->index != MF_NONE && change->index >= count)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_group_vary: %s.%s: index %u, need 0 .. %u", kind,
                       field->name, change->index, count - 1);
    if (change->values == NULL || change->count == 0 || change->first >= field->count ||
        change->count > field->count - change->first)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_group_vary: %s.%s has %u components: need values for some of them", kind,
                       field->name, field->count);
    return MF_OK;
}

// Whether no model has negative ones.
static bool is_size(const char *field) {
    static const char *const sizes[] = {"mass",  "damping",   "friction", "armature",
                                        "speed", "stiffness", "effort"};
    bool found = false;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        found = found || strcmp(field, sizes[i]) == 0;
    return found;
}

static mf_Status apply(Changed *changed, const mf_ModelChange *change, uint32_t number,
                       uint32_t instance, mf_Error *error) {
    uint32_t count;
    char *items = list_of(changed, change->item, &count);
    const mf_ItemTable *table = mf_item_table(change->item);
    const mf_ModelField *field = mf_item_field(change->item, change->field);
    const double *values = change->values + (size_t)number * change->count;
    for (uint32_t c = 0; c < change->count; c++)
        if (isnan(values[c]) || (values[c] < 0.0 && is_size(field->name)) ||
            (isinf(values[c]) && (change->item == MF_ITEM_LINK || change->item == MF_ITEM_PHYSICS)))
            return mf_fail(error, MF_BAD_ARGUMENT, "mf_group_vary: %s.%s of robot %u: %g, need %s",
                           table->name, field->name, instance, values[c],
                           isnan(values[c]) || isinf(values[c]) ? "a number" : ">= 0");
    for (uint32_t i = 0; i < count; i++)
        if (change->index == MF_NONE || change->index == i)
            memcpy(items + i * table->size + field->offset + change->first * sizeof(double), values,
                   change->count * sizeof(double));
    return MF_OK;
}

// A body is its link, where it is the only one of it.
static void follow_links(Changed *changed) {
    for (uint32_t b = 0; b < changed->model->body_count; b++) {
        mf_Body *body = &changed->bodies[b];
        if (body->link == MF_NONE)
            continue;
        const mf_Link *link = &changed->links[body->link],
                      *before = &changed->model->links[body->link];
        uint32_t others = 0;
        if (memcmp(link, before, sizeof *link) == 0)
            continue;
        for (uint32_t i = 0; i < changed->model->body_count; i++)
            others += i != b && changed->bodies[i].link == body->link;
        if (others > 0)
            continue;
        double arm[3], back[4];
        if (memcmp(link->center, before->center, sizeof arm) != 0) {
            mf_vec3_sub(arm, link->center, body->position);
            mf_quat_conjugate(back, body->rotation);
            mf_quat_rotate(body->center, back, arm);
        }
        if (link->mass < before->mass || link->mass > before->mass)
            body->mass = link->mass;
    }
}

// Where a point of a solid of half sizes `from` is on one of half sizes `to`, own axes; those of
// capsules are on caps.
static void stretch(mf_ShapeType type, const double from[3], const double to[3], double point[3]) {
    const bool edges = mf_shape_kinds[type].half_count == 3;
    for (int c = 0; c < 3; c++) {
        const int k = edges ? c : c == 2 && mf_shape_kinds[type].half_count == 2;
        const double cap = fabs(point[c]) - from[1];
        if (type == MF_SHAPE_CAPSULE && c == 2 && cap > 0.0)
            point[c] = copysign(to[1] + cap * to[0] / from[0], point[c]);
        else if (from[k] > 0.0)
            point[c] *= to[k] / from[k];
    }
}

// Contact points are at one place of their shape.
static void follow_shapes(Changed *changed) {
    for (uint32_t p = 0; p < changed->model->point_count; p++) {
        mf_Point *point = &changed->points[p];
        if (point->shape == MF_NONE)
            continue;
        const mf_Shape *shape = &changed->shapes[point->shape],
                       *before = &changed->model->shapes[point->shape];
        double from[3] = {0.0}, to[3] = {0.0}, at[3];
        if (same_reals(shape->position, before->position, 3) &&
            same_reals(shape->rotation, before->rotation, 4) &&
            same_reals(shape->size, before->size, 3))
            continue;
        mf_vec3_sub(at, point->position, before->position);
        mf_quat_rotate_inverse(at, before->rotation, at);
        mf_shape_half(before->type, before->size, from);
        mf_shape_half(shape->type, shape->size, to);
        stretch(shape->type, from, to, at);
        mf_pose_point(point->position, shape->position, shape->rotation, at);
    }
}

// What no model has, found when all changes are made.
static mf_Status check_all(const Changed *changed, uint32_t instance, mf_Error *error) {
    for (uint32_t j = 0; j < changed->own.joint_count; j++) {
        const mf_Joint *joint = &changed->joints[j];
        if (joint->lower > joint->upper)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "mf_group_vary: joint %s of robot %u: its limits %g and %g are crossed",
                           joint->name, instance, joint->lower, joint->upper);
    }
    return MF_OK;
}

static void sum_mass(Changed *changed) {
    changed->own.mass = 0.0;
    for (uint32_t l = 0; l < changed->own.link_count; l++)
        changed->own.mass += changed->links[l].mass;
}

// The model of an instance, `model` with the values of `number` in each change.
static mf_Status make(Changed *changed, const mf_Model *model, const mf_ModelChange *changes,
                      uint32_t change_count, uint32_t number, uint32_t instance, mf_Error *error) {
    restore(changed, model);
    for (uint32_t c = 0; c < change_count; c++)
        MF_TRY(apply(changed, &changes[c], number, instance, error));
    sum_mass(changed);
    follow_links(changed);
    follow_shapes(changed);
    return check_all(changed, instance, error);
}

// ---- what has the group's model alone -----------------------------------------------------------

static bool same_frame(const mf_Frame *a, const mf_Frame *b) {
    return same_reals(a->position, b->position, 3) && same_reals(a->rotation, b->rotation, 4);
}

// Whether a sensor reads the same of both models: states, or poses and rates of frames that are at
// one place of their links.
static bool same_sensor(const mf_Sensor *a, const mf_Sensor *b) {
    const mf_SensorKind *kind = mf_sensor_kind(a->type);
    const uint32_t geometry =
        MF_SENSES_LIMIT | MF_SENSES_ENERGY | MF_SENSES_LENGTH | MF_SENSES_RANGE;
    const bool posed = (kind->flags & MF_SENSES_POSE) != 0;
    return mf_item_hash(MF_HASH_START, MF_ITEM_SIGNAL, &a->signal, 1) ==
               mf_item_hash(MF_HASH_START, MF_ITEM_SIGNAL, &b->signal, 1) &&
           !(kind->flags & geometry) &&
           (kind->items == MF_SENSES_TERMS || kind->items == MF_SENSES_CONTACTS) &&
           kind->mount != MF_AT_BODY && a->type != MF_SENSOR_TOUCH &&
           a->type != MF_SENSOR_JOINT_ACTUATOR_FORCE &&
           (!posed || same_frame(&a->frame, &b->frame)) &&
           (!a->has_reference || same_frame(&a->reference, &b->reference));
}

static bool same_ranges(const mf_Model *a, const mf_Model *b) {
    bool same = true;
    for (uint32_t j = 0; j < a->joint_count; j++)
        same = same && same_reals(&a->joints[j].lower, &b->joints[j].lower, 1) &&
               same_reals(&a->joints[j].upper, &b->joints[j].upper, 1);
    for (uint32_t i = 0; i < a->actuator_count; i++)
        same = same &&
               same_reals(&a->actuators[i].control_lower, &b->actuators[i].control_lower, 1) &&
               same_reals(&a->actuators[i].control_upper, &b->actuators[i].control_upper, 1);
    return same;
}

// The control at which an actuator rests, per length and at 0 (actuator/commands.h).
static bool same_commands(const mf_Model *a, const mf_Model *b) {
    bool same = true;
    for (uint32_t i = 0; i < a->actuator_count; i++) {
        const mf_Actuator *from = &a->actuators[i], *to = &b->actuators[i];
        for (int k = 0; k < 2 && from->bias[1] < 0.0; k++)
            same = same && fabs(from->bias[k] * to->gain[0] - to->bias[k] * from->gain[0]) <=
                               1e-12 * fabs(from->bias[k] * to->gain[0]);
        same = same && (!(from->bias[1] < 0.0) || same_reals(from->gear, to->gear, 1));
    }
    return same;
}

// Controllers that clamp to the joints' limits, or start from them.
static bool has_ranges(const mf_Group *group) {
    static const char *const fields[] = {"gp.program", "network.weight", "gait.select"};
    bool has = false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        has = has || mf_group_find_field((mf_Group *)(uintptr_t)group, fields[i]) != NULL;
    return has;
}

// What systems of the group read of its model alone, if it differs; NULL: nothing.
static const char *needed(mf_Group *group, const mf_Model *model) {
    const mf_Model *of = mf_group_model(group);
    for (uint32_t i = 0; i < of->sensor_count; i++)
        if (mf_group_find_field(group, "sensor.value") != NULL &&
            !same_sensor(&of->sensors[i], &model->sensors[i]))
            return "its sensors measure by lengths";
    if (has_ranges(group) && !same_ranges(of, model))
        return "its controller knows limits of joints or controls";
    return mf_group_find_field(group, "actuator.target") != NULL && !same_commands(of, model)
               ? "joint.target commands actuators by gains"
               : NULL;
}

static mf_Status check_model(mf_Group *group, const mf_Model *model, uint32_t number,
                             mf_Error *error) {
    mf_Error reason = {0};
    const mf_Status status = mf_model_same_tree(mf_group_model(group), model, &reason);
    if (status != MF_OK)
        return mf_fail(error, status, "group %.99s: model %u: %s", mf_group_config_of(group)->name,
                       number, reason.message);
    const char *what = needed(group, model);
    return what == NULL ? MF_OK
                        : mf_fail(error, MF_UNSUPPORTED,
                                  "group %.99s: model %u (%.99s): %s of the group's model %.99s",
                                  mf_group_config_of(group)->name, number, model->name, what,
                                  mf_group_model(group)->name);
}

// ---- all motions of the group -------------------------------------------------------------------

static mf_Status give(mf_Group *group, const mf_Model *model, const uint32_t *instances,
                      uint32_t count, mf_Error *error) {
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        void *plan = mf_motion_plan(group, row);
        if (plan != NULL)
            MF_TRY(row->vary(group, plan, model, instances, count, error));
    }
    if (mf_motion_in(group, MF_MOTION_ARTICULATED)) // which has given them
        return MF_OK;
    MF_TRY(mf_numbers_begin(group, NULL, error));
    mf_numbers_give(group, model, NULL, instances, count);
    return MF_OK;
}

static mf_Status check_motions(const mf_Group *group, const mf_ModelChange *changes,
                               uint32_t change_count, mf_Error *error) {
    bool any = false;
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        if (mf_motion_plan(group, row) == NULL)
            continue;
        any = true;
        if (row->vary == NULL)
            return mf_fail(error, MF_UNSUPPORTED,
                           "mf_group_vary: all robots of a group that moves by %s have its model's "
                           "numbers",
                           row->name);
        for (uint32_t c = 0; c < change_count && row->only_joints; c++)
            if (changes[c].item != MF_ITEM_JOINT)
                return mf_fail(error, MF_UNSUPPORTED,
                               "mf_group_vary: robots that move by %s differ in numbers of joints, "
                               "or by models of their own",
                               row->name);
    }
    MF_NEED(any, error, "mf_group_vary: add a motion first");
    return MF_OK;
}

// What an instance is given.
typedef struct Given {
    mf_Group *group;
    const uint32_t *instances;
    uint32_t instance_count;
    const mf_Model *const *models; // NULL: those that they have
    const mf_ModelChange *changes;
    uint32_t change_count;
} Given;

static const mf_Model *model_of(const Given *given, uint32_t number) {
    return given->models != NULL ? given->models[number]
                                 : mf_group_model_of(given->group, given->instances[number]);
}

// Values and models of all are looked at before the first instance changes.
static mf_Status check_given(const Given *given, Changed *changed, mf_Error *error) {
    for (uint32_t c = 0; c < given->change_count; c++)
        MF_TRY(check(changed, &given->changes[c], error));
    for (uint32_t i = 0; i < given->instance_count; i++) {
        const mf_Model *model = model_of(given, i);
        MF_NEED(model != NULL, error, "mf_group_vary: model %u is NULL", i);
        if (given->models != NULL && (i == 0 || model != given->models[i - 1]))
            MF_TRY(check_model(given->group, model, i, error));
        if (given->change_count > 0)
            MF_TRY(make(changed, model, given->changes, given->change_count, i, given->instances[i],
                        error));
    }
    return MF_OK;
}

// Instances of one model, of which the numbers are derived once.
static uint32_t alike(const Given *given, uint32_t first) {
    uint32_t end = first + 1;
    while (given->change_count == 0 && end < given->instance_count &&
           model_of(given, end) == model_of(given, first))
        end++;
    return end - first;
}

static mf_Status give_models(const Given *given, uint32_t first, uint32_t count, mf_Error *error) {
    for (uint32_t i = first; i < first + count; i++)
        MF_TRY(mf_group_set_model(given->group, given->instances[i], given->models[i], error));
    return MF_OK;
}

static mf_Status give_all(const Given *given, Changed *changed, mf_Error *error) {
    for (uint32_t i = 0, count; i < given->instance_count; i += count) {
        const mf_Model *model = model_of(given, i);
        count = alike(given, i);
        if (given->change_count == 0)
            restore(changed, model);
        else
            MF_TRY(make(changed, model, given->changes, given->change_count, i, given->instances[i],
                        error));
        MF_TRY(give(given->group, &changed->own, &given->instances[i], count, error));
        if (given->models != NULL)
            MF_TRY(give_models(given, i, count, error));
    }
    return MF_OK;
}

mf_Status mf_group_vary(mf_Group *group, const uint32_t *instances, uint32_t instance_count,
                        const mf_Model *const *models, const mf_ModelChange *changes,
                        uint32_t change_count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL && (instances != NULL || instance_count == 0) &&
                (changes != NULL || change_count == 0),
            error, "mf_group_vary: group, instances or changes is NULL");
    const Given given = {group, instances, instance_count, models, changes, change_count};
    Changed changed;
    MF_TRY(check_motions(group, changes, change_count, error));
    for (uint32_t i = 0; i < instance_count; i++)
        MF_CHECK(instances[i] < mf_group_count(group), error, MF_BAD_ARGUMENT,
                 "mf_group_vary: instance %u of %u", instances[i], mf_group_count(group));
    MF_TRY(begin(&changed, group, error));
    mf_Status status = check_given(&given, &changed, error);
    MF_THEN(status, give_all(&given, &changed, error));
    mf_release(mf_world_context(mf_group_world(group)),
               changed.links); // the first of the arrays holds all
    for (uint32_t i = 0; status == MF_OK && models != NULL && i < instance_count; i++)
        mf_group_reset(group, instances[i]);
    for (uint32_t i = 0; status == MF_OK && i < instance_count; i++)
        mf_group_derive(group, instances[i]);
    return status;
}
