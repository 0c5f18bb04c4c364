// Parts of a robot: their names and places in the tree, their constants, and which values of a
// field are theirs.
#include "world/property.h"

#include <string.h>

const char *mf_part_name(mf_Part part) {
    static const char *const names[] = {"robot",    "link",   "joint", "body",
                                        "actuator", "sensor", "tendon"};
    return (unsigned)part < MF_PART_COUNT ? names[part] : "unknown";
}

uint32_t mf_part_count(const mf_Model *model, mf_Part part) {
    switch (part) {
    case MF_PART_ROBOT:
        return 1;
    case MF_PART_LINK:
        return model->link_count;
    case MF_PART_JOINT:
        return model->joint_count;
    case MF_PART_BODY:
        return model->body_count;
    case MF_PART_ACTUATOR:
        return model->actuator_count;
    case MF_PART_SENSOR:
        return model->sensor_count;
    case MF_PART_TENDON:
        return model->tendon_count;
    default:
        return 0;
    }
}

const char *mf_part_own_name(const mf_Model *model, mf_Part part, uint32_t index) {
    const char *name = NULL;
    switch (part) {
    case MF_PART_LINK:
        name = model->links[index].name;
        break;
    case MF_PART_JOINT:
        name = model->joints[index].name;
        break;
    case MF_PART_BODY: // most are links as well, and meant as such
        name = model->bodies[index].name;
        if (mf_model_find_link(model, name) != MF_NONE)
            name = NULL;
        break;
    case MF_PART_ACTUATOR:
        name = model->actuators[index].name;
        break;
    case MF_PART_SENSOR:
        name = model->sensors[index].name;
        break;
    case MF_PART_TENDON:
        name = model->tendons[index].name;
        break;
    default:
        break;
    }
    return name != NULL ? name : "";
}

static bool of_joint(mf_SensorType type) {
    return type == MF_SENSOR_JOINT || type == MF_SENSOR_JOINT_POSITION ||
           type == MF_SENSOR_JOINT_VELOCITY || type == MF_SENSOR_JOINT_ACTUATOR_FORCE ||
           (type >= MF_SENSOR_BALL_QUATERNION && type <= MF_SENSOR_JOINT_LIMIT_FORCE);
}

// The joint or link that a sensor is at; no link of the model when it is at none.
static uint32_t carrier(const mf_Sensor *sensor) {
    if (of_joint(sensor->type))
        return sensor->joint;
    if (sensor->type == MF_SENSOR_ATTITUDE)
        return 0;
    bool at_link = sensor->type == MF_SENSOR_CONTACT || sensor->type == MF_SENSOR_RAY;
    return at_link ? sensor->link : sensor->frame.link;
}

bool mf_part_climb(const mf_Model *model, mf_Part *part, uint32_t *index) {
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
    default:
        return false;
    }
    return *index < mf_part_count(model, *part);
}

// ---- constants ---------------------------------------------------------------------------------

typedef struct Constant {
    mf_Part part;
    const char *name;
    size_t offset; // [byte] in the part's structure
    uint32_t count;
    const char *unit, *slide_unit; // the second for slides; NULL: the same
    const char *frame, *description;
} Constant;

#define AT(type, member) offsetof(type, member)

static const Constant constants[] = {
    {MF_PART_ROBOT, "mass", AT(mf_Model, mass), 1, "kg", NULL, "", "of all links"},
    {MF_PART_ROBOT, "rest_height", AT(mf_Model, rest_height), 1, "m", NULL, "world",
     "base origin above flat ground, joints at their start"},
    {MF_PART_LINK, "mass", AT(mf_Link, mass), 1, "kg", NULL, "", "of the link"},
    {MF_PART_LINK, "center", AT(mf_Link, center), 3, "m", NULL, "link", "centre of mass"},
    {MF_PART_LINK, "inertia", AT(mf_Link, inertia), 6, "kg m^2", NULL, "link",
     "about the centre of mass: xx, yy, zz, xy, xz, yz"},
    {MF_PART_JOINT, "lower", AT(mf_Joint, lower), 1, "rad", "m", "joint", "limit"},
    {MF_PART_JOINT, "upper", AT(mf_Joint, upper), 1, "rad", "m", "joint", "limit"},
    {MF_PART_JOINT, "speed", AT(mf_Joint, speed), 1, "rad/s", "m/s", "joint", "largest rate"},
    {MF_PART_JOINT, "effort", AT(mf_Joint, effort), 1, "N m", "N", "joint", "largest drive"},
    {MF_PART_JOINT, "damping", AT(mf_Joint, damping), 1, "N m s/rad", "N s/m", "joint",
     "viscous friction"},
    {MF_PART_JOINT, "friction", AT(mf_Joint, friction), 1, "N m", "N", "joint", "dry friction"},
    {MF_PART_JOINT, "armature", AT(mf_Joint, armature), 1, "kg m^2", "kg", "joint",
     "inertia of the drive"},
    {MF_PART_JOINT, "stiffness", AT(mf_Joint, stiffness), 1, "N m/rad", "N/m", "joint",
     "of its spring"},
    {MF_PART_JOINT, "axis", AT(mf_Joint, axis), 3, "1", NULL, "joint", "unit vector"},
    {MF_PART_JOINT, "position", AT(mf_Joint, position), 3, "m", NULL, "link",
     "origin of the joint in the parent link"},
    {MF_PART_BODY, "mass", AT(mf_Body, mass), 1, "kg", NULL, "", "of the body"},
    {MF_PART_BODY, "center", AT(mf_Body, center), 3, "m", NULL, "body", "centre of mass"},
    {MF_PART_BODY, "moments", AT(mf_Body, moments), 3, "kg m^2", NULL, "body",
     "principal moments of inertia"},
    {MF_PART_ACTUATOR, "gear", AT(mf_Actuator, gear), 6, "1", NULL, "", "ratio"},
    {MF_PART_ACTUATOR, "control_lower", AT(mf_Actuator, control_lower), 1, "1", NULL, "",
     "least control"},
    {MF_PART_ACTUATOR, "control_upper", AT(mf_Actuator, control_upper), 1, "1", NULL, "",
     "largest control"},
    {MF_PART_ACTUATOR, "force_lower", AT(mf_Actuator, force_lower), 1, "N", NULL, "",
     "least force; N m on hinges"},
    {MF_PART_ACTUATOR, "force_upper", AT(mf_Actuator, force_upper), 1, "N", NULL, "",
     "largest force; N m on hinges"},
    {MF_PART_SENSOR, "noise", AT(mf_Sensor, signal.noise), 1, "1", NULL, "",
     "standard deviation, in the unit of the value"},
    {MF_PART_SENSOR, "range", AT(mf_Sensor, range), 1, "m", NULL, "", "length of a ray"},
    {MF_PART_TENDON, "lower", AT(mf_Tendon, lower), 1, "m", NULL, "", "limit"},
    {MF_PART_TENDON, "upper", AT(mf_Tendon, upper), 1, "m", NULL, "", "limit"},
    {MF_PART_TENDON, "stiffness", AT(mf_Tendon, stiffness), 1, "N/m", NULL, "", "of its spring"},
    {MF_PART_TENDON, "damping", AT(mf_Tendon, damping), 1, "N s/m", NULL, "", "viscous friction"},
};

static const void *part_memory(const mf_Model *model, mf_Part part, uint32_t index) {
    switch (part) {
    case MF_PART_LINK:
        return &model->links[index];
    case MF_PART_JOINT:
        return &model->joints[index];
    case MF_PART_BODY:
        return &model->bodies[index];
    case MF_PART_ACTUATOR:
        return &model->actuators[index];
    case MF_PART_SENSOR:
        return &model->sensors[index];
    case MF_PART_TENDON:
        return &model->tendons[index];
    default:
        return model;
    }
}

static bool slides(const mf_Model *model, mf_Part part, uint32_t index) {
    return part == MF_PART_JOINT && model->joints[index].type == MF_JOINT_SLIDE;
}

bool mf_part_constant(const mf_Model *model, mf_Part part, uint32_t index, uint32_t n,
                      mf_Property *out) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        const Constant *row = &constants[i];
        if (row->part != part || n-- != 0)
            continue;
        bool slide = row->slide_unit != NULL && slides(model, part, index);
        const char *memory = part_memory(model, part, index);
        *out = (mf_Property){.part = part,
                             .index = index,
                             .count = row->count,
                             .constant = (const double *)(const void *)(memory + row->offset),
                             .name = row->name,
                             .unit = slide ? row->slide_unit : row->unit,
                             .frame = row->frame,
                             .description = row->description};
        return true;
    }
    return false;
}

// ---- elements of fields ------------------------------------------------------------------------

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

// How many joints before `index` are of the first type, or of the second.
static uint32_t rank_of_joint(const mf_Model *model, uint32_t index, mf_JointType one,
                              mf_JointType two) {
    uint32_t rank = 0;
    if (model->joints[index].type != one && model->joints[index].type != two)
        return MF_NONE;
    for (uint32_t j = 0; j < index; j++)
        rank += model->joints[j].type == one || model->joints[j].type == two;
    return rank;
}

static uint32_t rank_of_sensor(const mf_Model *model, uint32_t index, mf_SensorType type) {
    uint32_t rank = 0;
    if (model->sensors[index].type != type)
        return MF_NONE;
    for (uint32_t s = 0; s < index; s++)
        rank += model->sensors[s].type == type;
    return rank;
}

static uint32_t element_of_actuator(const mf_Model *model, const mf_Field *field, uint32_t index) {
    if (field->info.shape != MF_FIXED_COUNT || !begins(field->info.name, "actuator."))
        return MF_NONE;
    if (strcmp(field->info.name, "actuator.activation") != 0)
        return index;
    return model->actuators[index].activation_address != MF_NONE ? index : MF_NONE;
}

// An actuator without a name goes by that of the joint that only it drives.
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

// The element of a joint in a field, MF_NONE when it has none there.
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

static uint32_t element_of(const mf_Model *model, mf_Part part, uint32_t index,
                           const mf_Field *field) {
    const char *name = field->info.name;
    switch (part) {
    case MF_PART_JOINT:
        return element_of_joint(model, field, index);
    case MF_PART_ACTUATOR:
        return element_of_actuator(model, field, index);
    case MF_PART_LINK:
        return strcmp(name, "push.link") == 0 ? index : MF_NONE;
    case MF_PART_TENDON:
        return field->info.shape == MF_FIXED_COUNT && begins(name, "tendon.") ? index : MF_NONE;
    case MF_PART_SENSOR:
        if (strcmp(name, "sensor.contact") == 0)
            return rank_of_sensor(model, index, MF_SENSOR_CONTACT);
        if (strcmp(name, "sensor.ray") == 0)
            return rank_of_sensor(model, index, MF_SENSOR_RAY);
        return strcmp(name, "sensor.value") == 0 ? model->sensors[index].address : MF_NONE;
    default:
        return MF_NONE;
    }
}

// In the unit of a hinge's field, what it means for a slide.
static const char *unit_of_slide(const char *unit) {
    static const char *const pairs[][2] = {
        {"rad", "m"}, {"rad/s", "m/s"}, {"N m", "N"}, {"rad/s^2", "m/s^2"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(unit, pairs[i][0]) == 0)
            return pairs[i][1];
    return unit;
}

// What a sensor's values are in.
static const char *unit_of_sensor(const mf_Model *model, const mf_Sensor *sensor) {
    static const char *const units[MF_SENSOR_USER + 1] = {
        [MF_SENSOR_RAY] = "m",
        [MF_SENSOR_JOINT] = "rad",
        [MF_SENSOR_ATTITUDE] = "rad",
        [MF_SENSOR_TOUCH] = "N",
        [MF_SENSOR_ACCELEROMETER] = "m/s^2",
        [MF_SENSOR_VELOCIMETER] = "m/s",
        [MF_SENSOR_GYRO] = "rad/s",
        [MF_SENSOR_FORCE] = "N",
        [MF_SENSOR_TORQUE] = "N m",
        [MF_SENSOR_RANGEFINDER] = "m",
        [MF_SENSOR_JOINT_POSITION] = "rad",
        [MF_SENSOR_JOINT_VELOCITY] = "rad/s",
        [MF_SENSOR_TENDON_POSITION] = "m",
        [MF_SENSOR_TENDON_VELOCITY] = "m/s",
        [MF_SENSOR_ACTUATOR_POSITION] = "rad",
        [MF_SENSOR_ACTUATOR_VELOCITY] = "rad/s",
        [MF_SENSOR_ACTUATOR_FORCE] = "N m",
        [MF_SENSOR_JOINT_ACTUATOR_FORCE] = "N m",
        [MF_SENSOR_TENDON_ACTUATOR_FORCE] = "N",
        [MF_SENSOR_BALL_RATE] = "rad/s",
        [MF_SENSOR_JOINT_LIMIT_POSITION] = "rad",
        [MF_SENSOR_JOINT_LIMIT_VELOCITY] = "rad/s",
        [MF_SENSOR_JOINT_LIMIT_FORCE] = "N m",
        [MF_SENSOR_TENDON_LIMIT_POSITION] = "m",
        [MF_SENSOR_TENDON_LIMIT_VELOCITY] = "m/s",
        [MF_SENSOR_TENDON_LIMIT_FORCE] = "N",
        [MF_SENSOR_FRAME_POSITION] = "m",
        [MF_SENSOR_FRAME_VELOCITY] = "m/s",
        [MF_SENSOR_FRAME_RATE] = "rad/s",
        [MF_SENSOR_FRAME_ACCELERATION] = "m/s^2",
        [MF_SENSOR_FRAME_ANGULAR_ACCELERATION] = "rad/s^2",
        [MF_SENSOR_SUBTREE_CENTER] = "m",
        [MF_SENSOR_SUBTREE_VELOCITY] = "m/s",
        [MF_SENSOR_SUBTREE_MOMENTUM] = "kg m^2/s",
        [MF_SENSOR_POTENTIAL_ENERGY] = "J",
        [MF_SENSOR_KINETIC_ENERGY] = "J",
        [MF_SENSOR_CLOCK] = "s"};
    const char *unit = (unsigned)sensor->type <= MF_SENSOR_USER ? units[sensor->type] : NULL;
    if (unit == NULL)
        return "1";
    uint32_t joint = of_joint(sensor->type) ? sensor->joint : MF_NONE;
    if (sensor->type >= MF_SENSOR_ACTUATOR_POSITION && sensor->type <= MF_SENSOR_ACTUATOR_FORCE)
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
    if (part == MF_PART_SENSOR && strcmp(field->info.name, "sensor.value") == 0)
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
