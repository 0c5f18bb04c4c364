// Parts of a robot: their names and positions in the tree, their constants, and their values in
// fields.
#include "world/property.h"
#include "model/fields.h"

#include "model/sensor_kind.h"

#include <mayfly/model_fields.h>
#include <string.h>

const char *mf_part_name(mf_Part part) {
    static const char *const names[] = {"robot",    "link",   "joint",  "body",
                                        "actuator", "sensor", "tendon", "dock"};
    return (unsigned)part < MF_PART_COUNT ? names[part] : "unknown";
}

static mf_ItemType item_of(mf_Part part) {
    static const mf_ItemType items[MF_PART_COUNT] = {
        MF_ITEM_MODEL,    MF_ITEM_LINK,   MF_ITEM_JOINT,  MF_ITEM_BODY,
        MF_ITEM_ACTUATOR, MF_ITEM_SENSOR, MF_ITEM_TENDON, MF_ITEM_DOCK};
    return (unsigned)part < MF_PART_COUNT ? items[part] : MF_ITEM_COUNT;
}

uint32_t mf_part_count(const mf_Model *model, mf_Part part) {
    uint32_t count = 1;
    if (part != MF_PART_ROBOT)
        mf_model_items(model, item_of(part), &count);
    return count;
}

static const void *part_memory(const mf_Model *model, mf_Part part, uint32_t index) {
    uint32_t count;
    const char *items = mf_model_items(model, item_of(part), &count);
    return part == MF_PART_ROBOT ? (const char *)model
                                 : items + index * mf_item_table(item_of(part))->size;
}

const char *mf_part_own_name(const mf_Model *model, mf_Part part, uint32_t index) {
    const mf_ModelField *field = mf_item_field(item_of(part), "name");
    if (field == NULL || part == MF_PART_ROBOT)
        return "";
    const char *memory = part_memory(model, part, index);
    const char *name = *(const char *const *)(const void *)(memory + field->offset);
    if (part == MF_PART_BODY && name != NULL && mf_model_find(model, MF_ITEM_LINK, name) != MF_NONE)
        return ""; // most are links too, and addressed as such
    return name != NULL ? name : "";
}

static bool of_joint(mf_SensorType type) {
    const mf_SensorMount mount = mf_sensor_kind(type)->mount;
    return mount == MF_AT_OWN_JOINT || mount == MF_AT_JOINT || mount == MF_AT_LIMITED_JOINT ||
           mount == MF_AT_BALL;
}

// The link that a sensor is attached to; an invalid index if none.
static uint32_t carrier(const mf_Sensor *sensor) {
    if (of_joint(sensor->type))
        return sensor->joint;
    return mf_sensor_kind(sensor->type)->mount == MF_AT_LINK ? sensor->link : sensor->frame.link;
}

bool mf_part_parent(const mf_Model *model, mf_Part *part, uint32_t *index) {
    switch (*part) {
    case MF_PART_LINK:
        *part = MF_PART_JOINT;
        *index = model->links[*index].joint;
        break;
    case MF_PART_JOINT:
        *part = MF_PART_LINK;
        *index = model->joints[*index].parent;
        break;
    case MF_PART_BODY:
        *index = model->bodies[*index].link;
        *part = MF_PART_LINK;
        break;
    case MF_PART_ACTUATOR:
        *part = MF_PART_JOINT;
        *index = model->actuators[*index].joint;
        break;
    case MF_PART_SENSOR:
        *part = of_joint(model->sensors[*index].type) ? MF_PART_JOINT : MF_PART_LINK;
        *index = carrier(&model->sensors[*index]);
        break;
    case MF_PART_DOCK:
        *index = model->docks[*index].frame.link;
        *part = MF_PART_LINK;
        break;
    default:
        return false;
    }
    return *index < mf_part_count(model, *part);
}

// ---- constants ---------------------------------------------------------------------------------

static bool slides(const mf_Model *model, mf_Part part, uint32_t index) {
    return part == MF_PART_JOINT && model->joints[index].type == MF_JOINT_SLIDE;
}

// The unit for a slide of a field with a hinge's unit.
static const char *unit_of_slide(const char *unit) {
    static const char *const pairs[][2] = {
        {"rad", "m"},           {"rad/s", "m/s"},   {"N m", "N"},    {"rad/s^2", "m/s^2"},
        {"N m s/rad", "N s/m"}, {"N m/rad", "N/m"}, {"kg m^2", "kg"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(unit, pairs[i][0]) == 0)
            return pairs[i][1];
    return unit;
}

// The n-th real number, or numbers, of an item; those of a sensor's signal have their own names.
// `*n` is reduced by the number of skipped items.
static const mf_ModelField *nth_real(mf_ItemType item, uint32_t *n, size_t *offset) {
    const mf_ItemTable *table = mf_item_table(item);
    const mf_ModelField *found = NULL;
    const size_t start = *offset;
    for (uint32_t i = 0; i < table->count && found == NULL; i++) {
        const mf_ModelField *field = &table->fields[i];
        *offset = start + field->offset;
        if (field->type == MF_VALUE_ITEM && field->item == MF_ITEM_SIGNAL)
            found = nth_real(field->item, n, offset);
        else if (field->type == MF_VALUE_REAL &&
                 !(item == MF_ITEM_SIGNAL && mf_item_field(MF_ITEM_SENSOR, field->name) != NULL) &&
                 (*n)-- == 0)
            found = field;
    }
    return found;
}

bool mf_part_constant(const mf_Model *model, mf_Part part, uint32_t index, uint32_t n,
                      mf_Property *out) {
    size_t offset = 0;
    const mf_ModelField *field = nth_real(item_of(part), &n, &offset);
    if (field == NULL)
        return false;
    const char *memory = part_memory(model, part, index);
    *out =
        (mf_Property){.part = part,
                      .index = index,
                      .count = field->count,
                      .constant = (const double *)(const void *)(memory + offset),
                      .name = field->name,
                      .unit = slides(model, part, index) ? unit_of_slide(field->unit) : field->unit,
                      .frame = field->frame != NULL ? field->frame : "",
                      .description = field->text != NULL ? field->text : ""};
    return true;
}

// ---- elements of fields ------------------------------------------------------------------------

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

// Number of joints before `index` of either type.
static uint32_t rank_of_joint(const mf_Model *model, uint32_t index, mf_JointType one,
                              mf_JointType two) {
    uint32_t rank = 0;
    if (model->joints[index].type != one && model->joints[index].type != two)
        return MF_NONE;
    for (uint32_t j = 0; j < index; j++)
        rank += model->joints[j].type == one || model->joints[j].type == two;
    return rank;
}

static uint32_t element_of_actuator(const mf_Model *model, const mf_Field *field, uint32_t index) {
    if (field->info.shape != MF_FIXED_COUNT || !begins(field->info.name, "actuator."))
        return MF_NONE;
    if (strcmp(field->info.name, "actuator.activation") != 0)
        return index;
    return model->actuators[index].activation_address != MF_NONE ? index : MF_NONE;
}

// An actuator without a name has the name of its joint if it is the only one there.
static uint32_t element_of_drive(const mf_Model *model, const mf_Field *field, uint32_t joint) {
    uint32_t found = MF_NONE;
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        if (model->actuators[a].joint != joint)
            continue;
        if (found != MF_NONE || model->actuators[a].name[0] != '\0')
            return MF_NONE;
        found = a;
    }
    return found == MF_NONE ? MF_NONE : element_of_actuator(model, field, found);
}

// The element of a joint in a field, MF_NONE: none.
static uint32_t element_of_joint(const mf_Model *model, const mf_Field *field, uint32_t index) {
    const char *name = field->info.name;
    if (field->info.shape == MF_PER_JOINT)
        return index;
    if (field->info.shape != MF_FIXED_COUNT)
        return MF_NONE;
    if (begins(name, "actuator."))
        return element_of_drive(model, field, index);
    if (begins(name, "ball."))
        return rank_of_joint(model, index, MF_JOINT_BALL, MF_JOINT_FLOATING);
    if (begins(name, "free."))
        return rank_of_joint(model, index, MF_JOINT_FLOATING, MF_JOINT_FLOATING);
    return begins(name, "joint.") ? index : MF_NONE;
}

// Mocap bodies are elements in the order of the file.
static uint32_t element_of_body(const mf_Model *model, const mf_Field *field, uint32_t index) {
    uint32_t rank = 0;
    if (!model->bodies[index].mocap || !begins(field->info.name, "mocap."))
        return MF_NONE;
    for (uint32_t b = 0; b < index; b++)
        rank += model->bodies[b].mocap;
    return rank;
}

static uint32_t element_of(const mf_Model *model, mf_Part part, uint32_t index,
                           const mf_Field *field) {
    const char *name = field->info.name;
    switch (part) {
    case MF_PART_JOINT:
        return element_of_joint(model, field, index);
    case MF_PART_ACTUATOR:
        return element_of_actuator(model, field, index);
    case MF_PART_BODY:
        return element_of_body(model, field, index);
    case MF_PART_LINK:
        return begins(name, "link.") || strcmp(name, "wrench.link") == 0 ? index : MF_NONE;
    case MF_PART_TENDON:
        return field->info.shape == MF_FIXED_COUNT && begins(name, "tendon.") ? index : MF_NONE;
    case MF_PART_DOCK:
        return begins(name, "dock.") ? index : MF_NONE;
    case MF_PART_SENSOR:
        return strcmp(name, "sensor.value") == 0 ? model->sensors[index].address : MF_NONE;
    default:
        return MF_NONE;
    }
}

// Unit of a sensor's values.
static const char *unit_of_sensor(const mf_Model *model, const mf_Sensor *sensor) {
    const char *unit = mf_sensor_kind(sensor->type)->unit;
    uint32_t joint = of_joint(sensor->type) ? sensor->joint : MF_NONE;
    if (mf_sensor_kind(sensor->type)->mount == MF_AT_ACTUATOR)
        joint = model->actuators[sensor->actuator].joint;
    return joint != MF_NONE && slides(model, MF_PART_JOINT, joint) ? unit_of_slide(unit) : unit;
}

bool mf_part_field(const mf_Model *model, mf_Part part, uint32_t index, mf_Field *field,
                   mf_Property *out) {
    uint32_t element = 0, width = field->info.width;
    *out = (mf_Property){.part = part,
                         .index = index,
                         .field = field,
                         .count = field->components,
                         .name = field->info.name,
                         .unit = field->info.unit,
                         .frame = field->info.frame,
                         .description = field->info.description,
                         .flags = field->info.flags};
    if (part == MF_PART_ROBOT)
        return field->components > 0;
    element = element_of(model, part, index, field);
    if (element == MF_NONE)
        return false;
    if (part == MF_PART_SENSOR)
        width = model->sensors[index].count;
    else
        element *= width;
    if (part == MF_PART_SENSOR)
        out->unit = unit_of_sensor(model, &model->sensors[index]);
    out->first = element;
    out->count = width;
    if (slides(model, part, index))
        out->unit = unit_of_slide(out->unit);
    return width > 0 && element + width <= field->components;
}
