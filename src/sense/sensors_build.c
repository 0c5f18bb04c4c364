// The plan of a group's sensors: every one made of its parts (sensors_parts.h), first
// to count, then into one allocation, then packed into a flat image.
#include "model/points.h"
#include "model/sensor_kind.h"
#include "sense/sensors_parts.h"
#include "base/memory.h"

#include "world/attach.h"
#include "terrain/image.h"

#include <mayfly/articulated.h>
#include <string.h>

// ---- sensors -----------------------------------------------------------------------------------

// Whether something of `root` or what it carries may be pushed from outside.
static bool may_take_wrenches(const mf_SenseBuild *b, uint32_t root) {
    const mf_ArticulatedConfig *config = mf_articulated_config_of(b->group);
    const mf_Model *model = b->model;
    const uint32_t off = model->physics.disabled;
    const bool none = off & MF_DISABLE_CONSTRAINT;
    bool touches = config == NULL || config->contacts ||
                   (config->self_contacts && !none && !(off & MF_DISABLE_CONTACT));
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (touches && shape->collides && shape->body != MF_NONE &&
            mf_body_carried(model, shape->body, root))
            return true;
    }
    for (uint32_t i = 0; config != NULL && i < model->body_count; i++) // programs push the base
        if (model->base == MF_BASE_FREE && model->bodies[i].link == 0 &&
            mf_body_carried(model, i, root))
            return true;
    bool tied = config != NULL && !none && !(off & MF_DISABLE_EQUALITY);
    for (uint32_t i = 0; tied && i < model->equality_count; i++) {
        const mf_Equality *tie = &model->equalities[i];
        bool ties = tie->type == MF_EQUALITY_CONNECT || tie->type == MF_EQUALITY_WELD;
        for (int side = 0; ties && side < 2; side++)
            if (tie->objects[side] != MF_NONE && mf_body_carried(model, tie->objects[side], root))
                return true;
    }
    for (uint32_t i = 0; config != NULL && i < model->tendon_wrap_count; i++) {
        const mf_TendonWrap *wrap = &model->tendon_wraps[i];
        const uint32_t body = wrap->type == MF_WRAP_PULLEY ? MF_NONE
                              : wrap->type == MF_WRAP_SITE ? model->sites[wrap->object].body
                                                           : model->shapes[wrap->object].body;
        if (body != MF_NONE && mf_body_carried(model, body, root))
            return true;
    }
    return false;
}

// Its forces from outside are summed by the motion. NULL, or why not.
static const char *ask_external(mf_SenseBuild *b, uint32_t body, mf_SenseItem *out) {
    if (mf_articulated_config_of(b->group) == NULL)
        return "its body can collide, and this motion does not compute contact forces on single "
               "bodies";
    out->has_external = true;
    for (out->external = 0; out->external < b->external_count; out->external++)
        if (b->external[out->external] == body)
            return NULL;
    if (b->external_count == MF_SENSE_EXTERNAL)
        return "external forces are summed for at most 64 bodies";
    b->external[b->external_count++] = body;
    return NULL;
}

// Full dynamics sum it over all contacts; other motions know loads of the ground.
static const char *ask_touch(mf_SenseBuild *b, mf_SenseItem *out) {
    if (mf_articulated_config_of(b->group) == NULL)
        return NULL;
    if (b->touch_count == MF_SENSE_TOUCHES)
        return "contacts are summed for at most 1024 touch sensors";
    out->has_external = true;
    out->external = b->touch_count;
    b->touches[b->touch_count++] = out->sensor;
    return NULL;
}

static bool limits_off(const mf_Model *model) {
    return (model->physics.disabled & (MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT)) != 0;
}

// What only full dynamics can tell.
static const char *path_reason(const mf_Model *model, const mf_Sensor *sensor, bool sensed) {
    const mf_SensorKind *kind = mf_sensor_kind(sensor->type);
    for (uint32_t i = 0; (kind->flags & MF_SENSES_ENERGY) && i < model->tendon_count; i++) {
        const mf_Tendon *tendon = &model->tendons[i];
        if (tendon->wrap_count > 0 && (tendon->stiffness > 0.0 || tendon->armature > 0.0))
            return "a spatial tendon has energy";
    }
    uint32_t tendon = MF_NONE;
    if (kind->flags & MF_SENSES_LENGTH)
        tendon = kind->mount == MF_AT_ACTUATOR ? model->actuators[sensor->actuator].tendon
                                               : sensor->tendon;
    return !sensed && tendon != MF_NONE && model->tendons[tendon].wrap_count > 0
               ? "this motion does not compute lengths of spatial tendons"
               : NULL;
}

// Whether actuators pull a joint by spatial tendons: some of the path moves with it, some does not.
static bool is_pulled_by_path(const mf_Model *model, uint32_t joint) {
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        bool inside = false, outside = false;
        const uint32_t tendon = model->actuators[a].tendon;
        const mf_Tendon *of = tendon != MF_NONE ? &model->tendons[tendon] : NULL;
        for (uint32_t k = 0; of != NULL && k < of->wrap_count; k++) {
            const mf_TendonWrap *wrap = &model->tendon_wraps[of->first_wrap + k];
            if (wrap->type == MF_WRAP_PULLEY)
                continue;
            const bool moves = mf_sense_moves(model, joint, wrap->frame.link);
            inside = inside || moves;
            outside = outside || !moves;
        }
        if (inside && outside)
            return true;
    }
    return false;
}

// What is special about a type; NULL, or why it cannot be measured.
static const char *fill_special(mf_SenseBuild *b, const mf_Sensor *sensor, mf_SenseSource *source,
                                mf_SenseItem *out) {
    const mf_SensorKind *kind = mf_sensor_kind(sensor->type);
    b->accelerates = b->accelerates || (kind->flags & MF_SENSES_ACCELERATION);
    b->energies = b->energies || (kind->flags & MF_SENSES_ENERGY);
    out->dead = (kind->flags & MF_SENSES_LIMIT) && limits_off(b->model);
    if (kind->flags & MF_SENSES_LIMIT_FORCE) {
        if (mf_articulated_config_of(b->group) == NULL)
            return "this motion does not compute forces of limits";
        b->limits = true;
        out->row = kind->mount == MF_AT_TENDON ? sensor->tendon : sensor->joint;
        return NULL;
    }
    switch (sensor->type) {
    case MF_SENSOR_FORCE:
    case MF_SENSOR_TORQUE:
        if (sensor->body != MF_NONE)
            out->body = b->model->bodies[sensor->body].link + 1; // MF_NONE + 1: the world
        b->needed[out->body] = true;
        return may_take_wrenches(b, sensor->body) ? ask_external(b, sensor->body, out) : NULL;
    case MF_SENSOR_TOUCH:
        return ask_touch(b, out);
    case MF_SENSOR_JOINT_ACTUATOR_FORCE:
        return is_pulled_by_path(b->model, sensor->joint)
                   ? "actuators pull its joint by spatial tendons"
                   : NULL;
    case MF_SENSOR_FIELD:
        source->field = mf_group_find_field(b->group, sensor->field);
        if (source->field == NULL)
            return "the group has no field of that name";
        return source->field->components < sensor->component ||
                       source->field->components - sensor->component < sensor->count
                   ? "the field has fewer values"
                   : NULL;
    default:
        return NULL;
    }
}

// Joints and actuators that a sensor sums.
static void fill_terms(mf_SenseBuild *b, const mf_Sensor *sensor, mf_SenseItem *out) {
    const mf_Model *model = b->model;
    switch (sensor->type) {
    case MF_SENSOR_TENDON_POSITION:
    case MF_SENSOR_TENDON_VELOCITY:
    case MF_SENSOR_TENDON_LIMIT_POSITION:
    case MF_SENSOR_TENDON_LIMIT_VELOCITY:
        mf_sense_put_tendon_terms(b, sensor->tendon, 1.0);
        out->lower = model->tendons[sensor->tendon].lower;
        out->upper = model->tendons[sensor->tendon].upper;
        out->margin = model->tendons[sensor->tendon].limit_margin;
        return;
    case MF_SENSOR_ACTUATOR_FORCE:
        mf_sense_put_term(b, sensor->actuator, 1.0);
        return;
    case MF_SENSOR_ACTUATOR_POSITION:
    case MF_SENSOR_ACTUATOR_VELOCITY:
        mf_sense_put_actuator(b, sensor, out);
        return;
    case MF_SENSOR_TENDON_ACTUATOR_FORCE:
        for (uint32_t a = 0; a < model->actuator_count; a++)
            if (model->actuators[a].tendon == sensor->tendon)
                mf_sense_put_term(b, a, 1.0);
        return;
    case MF_SENSOR_JOINT_ACTUATOR_FORCE:
        b->needed[out->body] = true;
        mf_sense_put_joint_forces(b, sensor->joint, out);
        return;
    default:
        return;
    }
}

// How many items the array of a kind has so far.
static uint32_t items_of(const mf_SenseBuild *b, mf_SensorItems items) {
    const uint32_t counts[] = {[MF_SENSES_TERMS] = b->term_count,
                               [MF_SENSES_CONTACTS] = b->contact_count,
                               [MF_SENSES_SHAPES] = b->shape_count,
                               [MF_SENSES_LUMPS] = b->lump_count};
    return counts[items];
}

static void fill_items(mf_SenseBuild *b, const mf_Sensor *sensor, mf_SenseItem *out) {
    const mf_SensorKind *kind = mf_sensor_kind(sensor->type);
    const bool at_site = kind->mount == MF_AT_SITE && sensor->site != MF_NONE;
    const mf_Site *site = at_site ? &b->model->sites[sensor->site] : NULL;
    switch (kind->items) {
    case MF_SENSES_CONTACTS:
        mf_sense_put_contacts(b, site != NULL ? sensor->frame.link : sensor->link);
        if (site != NULL)
            out->volume = mf_sense_solid(site->type, site->size);
        break;
    case MF_SENSES_SHAPES:
        mf_sense_put_shapes(b, site->body);
        break;
    case MF_SENSES_LUMPS:
        mf_sense_put_lumps(b, sensor->body);
        break;
    case MF_SENSES_TERMS:
        fill_terms(b, sensor, out);
        break;
    }
    out->items = items_of(b, kind->items) - out->first;
}

bool mf_sense_is_direction(mf_SensorType type) {
    return mf_sensor_kind(type)->flags & MF_SENSES_DIRECTION;
}

// A value of sensor.geometry, in which `component` is set.
static void fill_sensing(const mf_SenseBuild *b, mf_SenseSource *source, mf_SenseItem *out) {
    const bool limit = mf_sensor_kind(out->type)->flags & MF_SENSES_LIMIT;
    source->field = mf_group_find_field(b->group, "sensor.geometry");
    out->dead = limit && limits_off(b->model);
}

static mf_Status add_sensor(mf_SenseBuild *b, uint32_t index, mf_Error *error) {
    const bool posture = index >= b->model->sensor_count;
    const mf_Sensor *sensor =
        posture ? &b->posture[index - b->model->sensor_count] : &b->model->sensors[index];
    const mf_SensorKind *kind = mf_sensor_kind(sensor->type);
    mf_SenseItem out = {.type = sensor->type,
                        .plain = posture && sensor->type == MF_SENSOR_ATTITUDE,
                        .sensor = index,
                        .address = sensor->address,
                        .count = sensor->count,
                        .reach =
                            sensor->type == MF_SENSOR_RAY ? sensor->range : sensor->signal.range[1],
                        .component = sensor->component,
                        .first = items_of(b, kind->items)};
    if (sensor->count == 0 || sensor->type == MF_SENSOR_USER)
        return MF_OK;
    const mf_Frame world = {.link = MF_NONE, .rotation = {1, 0, 0, 0}};
    mf_Frame ray = {.link = sensor->link, .rotation = {1, 0, 0, 0}};
    memcpy(ray.position, sensor->start, sizeof ray.position);
    memcpy(out.axis, sensor->direction, sizeof out.axis);
    out.frame = mf_sense_frame(b, sensor->type == MF_SENSOR_RAY                  ? &ray
                                  : (kind->flags & MF_SENSES_POSE) && !out.plain ? &sensor->frame
                                                                                 : &world);
    out.reference = mf_sense_frame(b, sensor->has_reference ? &sensor->reference : &world);
    if (sensor->joint != MF_NONE && sensor->joint < b->model->joint_count)
        mf_sense_set_joint(b, sensor->joint, &out);
    const bool sensed = !posture && mf_sensor_source_find(b->group, index, &out.component);
    mf_SenseSource source = {NULL, NULL};
    const char *reason = path_reason(b->model, sensor, sensed);
    if (reason == NULL && sensor->type == MF_SENSOR_CONTACTS && !sensed)
        reason = "this motion does not compute contacts of shapes";
    if (reason == NULL && sensed)
        fill_sensing(b, &source, &out);
    else if (reason == NULL)
        reason = fill_special(b, sensor, &source, &out);
    if (reason != NULL && !b->lenient)
        return mf_fail(error, MF_UNSUPPORTED, "sensor %u '%.100s'%s%.100s cannot be measured: %s",
                       index, sensor->name, sensor->field != NULL ? " of field " : "",
                       sensor->field != NULL ? sensor->field : "", reason);
    source.reason = reason;
    out.dead |= reason != NULL;
    if (out.dead)
        source.field = NULL;
    out.copied = source.field != NULL;
    if (!sensed)
        fill_items(b, sensor, &out);
    if (b->items != NULL) {
        b->items[b->item_count] = out;
        b->sources[b->item_count] = source;
    }
    b->item_count++;
    return MF_OK;
}

static void put_links(mf_SenseBuild *b) {
    const mf_Model *model = b->model;
    for (uint32_t l = 0; l < model->link_count; l++)
        b->moves |= b->needed[l + 1];
    for (uint32_t l = model->link_count; l-- > 1;)
        b->needed[model->links[l].parent + 1] |= b->needed[l + 1];
    for (uint32_t l = 1; l < model->link_count; l++) {
        if (!b->needed[l + 1])
            continue;
        MF_SENSE_PUT(b, links, link, l);
    }
}

static mf_Status write_all(mf_SenseBuild *b, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; status == MF_OK && i < b->model->sensor_count + b->posture_count; i++)
        status = add_sensor(b, i, error);
    if (status == MF_OK && b->energies)
        mf_sense_put_energies(b);
    put_links(b);
    return status;
}

// ---- the image ---------------------------------------------------------------------------------

// Space for all arrays of a build, in one block that begins with `links`.
static bool allocate_arrays(mf_Context *context, mf_SenseBuild *b, const mf_SenseBuild *counted) {
#define ARRAY(type, name, one, each) {&b->name, counted->one##_count, each * sizeof(type)},
    const mf_Array arrays[] = {MF_SENSE_ARRAYS(ARRAY)};
    return mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays);
}

static mf_SenseImage draft_of(const mf_SenseBuild *b) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(b->group));
    const mf_Model *model = b->model;
    mf_SenseImage draft = {.link_count = b->link_count,
                           .item_count = b->item_count,
                           .spring_count = b->spring_count,
                           .tendon_count = b->tendon_count,
                           .mesh_count = b->mesh_count,
                           .joint_count = model->joint_count,
                           .actuator_count = model->actuator_count,
                           .ball_count = mf_sense_balls_before(model, model->joint_count),
                           .free_count = mf_sense_free_before(model, model->joint_count),
                           .value_count = mf_sense_values(model, b->posture_count > 0),
                           .velocity_count = model->velocity_count,
                           .tendons_of_model = model->tendon_count,
                           .external_count = b->external_count,
                           .touch_count = b->touch_count,
                           .first_lump = b->first_lump,
                           .lump_count = b->all_lumps,
                           .level = mf_terrain_level(world->terrain),
                           .fixed = model->base == MF_BASE_FIXED,
                           .accelerates = b->accelerates,
                           .moves = b->moves};
    for (int i = 0; i < 3; i++)
        draft.gravity[i] = world->gravity * world->gravity_direction[i];
    memcpy(draft.magnetic, model->physics.magnetic, sizeof draft.magnetic);
    return draft;
}

static mf_Status pack(mf_Context *context, const mf_SenseBuild *b, const mf_Tree *tree,
                      mf_SenseImage **out, mf_Error *error) {
    mf_SenseImage draft = draft_of(b);
#define PART(type, name, one, each)                                                                \
    MF_FLAT_PART(&draft, name, b->name, (size_t)b->one##_count *each),
    const mf_FlatPart parts[] = {{&draft.tree_at, tree, tree->bytes}, MF_SENSE_ARRAYS(PART)};
    void *image = NULL;
    mf_Status status = mf_flat_pack(context, &draft, sizeof draft, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    *out = image;
    return status;
}

static mf_Status make_image(mf_Context *context, mf_SenseBuild *b, const mf_SenseBuild *counted,
                            mf_SenseImage **out, mf_Error *error) {
    mf_Tree *tree = NULL;
    MF_NEED_MEMORY(allocate_arrays(context, b, counted), error, "sensors");
    mf_Status status = mf_tree_create(context, b->model, MF_TREE_FIELDS,
                                      b->model->base == MF_BASE_FREE, NULL, &tree, error);
    MF_THEN(status, write_all(b, error));
    MF_THEN(status, pack(context, b, tree, out, error));
    mf_release(context, tree);
    mf_release(context, b->links);
    return status;
}

void mf_sense_plan_destroy(mf_Context *context, mf_SensePlan *plan) {
    if (plan == NULL)
        return;
    mf_release(context, plan->posture);
    mf_release(context, plan->image);
    mf_release(context, plan);
}

static mf_Status make_plan(mf_SenseBuild *b, const mf_SenseBuild *counted, mf_SensePlan **out,
                           mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(b->group));
    mf_SensePlan *plan =
        mf_allocate(context, 1, sizeof *plan + counted->item_count * sizeof *plan->sources);
    MF_NEED_MEMORY(plan != NULL, error, "sensors");
    plan->sources = b->sources = (mf_SenseSource *)(plan + 1);
    mf_Status status = make_image(context, b, counted, &plan->image, error);
    if (status != MF_OK) {
        mf_sense_plan_destroy(context, plan);
        return status;
    }
    plan->batch.image = plan->image;
    plan->batch.terrain = mf_terrain_image(mf_world_config_of(mf_group_world(b->group))->terrain);
    plan->limits = b->limits;
    plan->external_count = b->external_count;
    memcpy(plan->external, b->external, sizeof plan->external);
    plan->touch_count = b->touch_count;
    memcpy(plan->touches, b->touches, sizeof plan->touches);
    plan->group = b->group;
    *out = plan;
    return MF_OK;
}

// The joints and the attitude of the base, as sensors.
static void fill_posture(const mf_Model *model, mf_Sensor *out) {
    uint32_t address = model->sensor_value_count;
    for (uint32_t j = 0; j <= model->joint_count; j++) {
        const bool joint = j < model->joint_count;
        out[j] = (mf_Sensor){.name = joint ? model->joints[j].name : model->links[0].name,
                             .type = joint ? MF_SENSOR_JOINT : MF_SENSOR_ATTITUDE,
                             .joint = joint ? j : MF_NONE,
                             .tendon = MF_NONE,
                             .actuator = MF_NONE,
                             .site = MF_NONE,
                             .body = MF_NONE,
                             .frame = {.rotation = {1, 0, 0, 0}},
                             .address = address,
                             .count = joint ? 1 : 3};
        address += out[j].count;
    }
}

uint32_t mf_sense_values(const mf_Model *model, bool posture) {
    return model->sensor_value_count + (posture ? model->joint_count + 3 : 0);
}

static mf_Status create(mf_SenseBuild *empty, mf_SensePlan **out, mf_Error *error) {
    const size_t links = (size_t)empty->model->link_count + 1;
    mf_SenseBuild counted = *empty, build = *empty;
    build.needed += links;
    mf_Status status = write_all(&counted, error);
    return status != MF_OK || counted.item_count == 0 ? status
                                                      : make_plan(&build, &counted, out, error);
}

mf_Status mf_sense_plan_create(mf_Group *group, const mf_SensorsConfig *config, mf_SensePlan **out,
                               mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    const uint32_t count = config->posture ? model->joint_count + 1 : 0;
    bool *needed = mf_allocate(context, 2 * ((size_t)model->link_count + 1), sizeof *needed);
    mf_Sensor *posture = mf_allocate(context, (size_t)count + 1, sizeof *posture);
    *out = NULL;
    mf_SenseBuild empty = {.model = model,
                           .group = group,
                           .lenient = config->lenient,
                           .needed = needed,
                           .posture = posture,
                           .posture_count = count};
    if (count > 0 && posture != NULL)
        fill_posture(model, posture);
    mf_Status status = needed != NULL && posture != NULL
                           ? create(&empty, out, error)
                           : mf_fail(error, MF_NO_MEMORY, "sensors: out of memory");
    mf_release(context, needed);
    if (*out == NULL) {
        mf_release(context, posture);
        return status;
    }
    (*out)->posture = posture;
    (*out)->before_control = config->before_control;
    return status;
}

const mf_Sensor *mf_sense_sensor(const mf_SensePlan *plan, uint32_t index) {
    const mf_Model *model = mf_group_model(plan->group);
    return index < model->sensor_count ? &model->sensors[index]
                                       : &plan->posture[index - model->sensor_count];
}
