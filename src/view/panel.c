// What the panel of a live page shows of robots, as JSON: first the parts of a group's robots by
// name and which values of its fields are theirs, then, as often as the page asks, values. Parts
// are those of properties (world/property.h), with contacts.
#include "view/film.h"

#include "motion/articulated/host.h"
#include "motion/table.h"
#include "base/floats.h"
#include "world/attach.h"
#include "world/property.h"

#include <math.h>
#include <mayfly/dynamics.h>
#include <string.h>

#define VALUES_MOST 8192u // [1] values of a field in a reading, the first ones
#define VALUES_FEW 64u    // [1] likewise, of readings of all fields

// All digits: pages compare values with what they have set.
static void put_real(mf_Text *text, double value) {
    if (isfinite(value))
        mf_text_format(text, "%.17g", value);
    else
        mf_text_put(text, "null");
}

static void put_named(mf_Text *text, const char *key, const char *value) {
    mf_text_format(text, "\"%s\":", key);
    mf_film_put_string(text, value != NULL ? value : "");
}

// ---- parts -------------------------------------------------------------------------------------

// The kinds of parts, by which fields name their elements: those of mf_Part, and one more.
enum { CONTACT = MF_PART_COUNT, KINDS };

static const char *kind_name(uint32_t kind) {
    return kind == CONTACT ? "contact" : mf_part_name((mf_Part)kind);
}

typedef struct Robot {
    mf_Group *group;
    const mf_Model *model;
    uint32_t instance;     // [1]
    uint32_t rows, points; // [1] contacts: elements of contact.load; colliding points of the model
} Robot;

static Robot robot_of(mf_Group *group, uint32_t instance) {
    const mf_Model *model = mf_group_model(group);
    Robot out = {.group = group, .model = model, .instance = instance};
    uint32_t link, shape;
    while (mf_contacts_owner(group, out.rows, &link, &shape))
        out.rows++;
    for (uint32_t i = 0; i < model->point_count; i++)
        out.points += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
    return out;
}

// The link of a contact: of a row of contact.load, after those of a colliding point.
static uint32_t contact_link(const Robot *robot, uint32_t index) {
    const mf_Model *model = robot->model;
    uint32_t link = MF_NONE, shape, left = index - robot->rows;
    if (index < robot->rows)
        return mf_contacts_owner(robot->group, index, &link, &shape) ? link : MF_NONE;
    for (uint32_t i = 0; i < model->point_count; i++)
        if ((model->points[i].flags & MF_POINT_COLLIDES) != 0 && left-- == 0)
            return model->points[i].link;
    return MF_NONE;
}

static uint32_t part_count(const Robot *robot, uint32_t kind) {
    if (kind == MF_PART_ROBOT)
        return 0;
    if (kind == CONTACT)
        return robot->rows + robot->points;
    return mf_part_count(robot->model, (mf_Part)kind);
}

// The link that a part is at, -1: none; that of a joint is the one that it moves.
static int link_of(const Robot *robot, uint32_t kind, uint32_t index) {
    const mf_Model *model = robot->model;
    mf_Part part = (mf_Part)kind;
    uint32_t link = MF_NONE;
    if (kind == CONTACT)
        link = contact_link(robot, index);
    else {
        while (part != MF_PART_LINK && part != MF_PART_JOINT)
            if (!mf_part_parent(model, &part, &index))
                return -1;
        link = part == MF_PART_JOINT ? model->joints[index].child : index;
    }
    return link < model->link_count ? (int)link : -1;
}

// What has no name of its own has that of its joint or link.
static const char *name_of(const Robot *robot, uint32_t kind, uint32_t index) {
    const mf_Model *model = robot->model;
    const int link = link_of(robot, kind, index);
    mf_Part part = (mf_Part)kind;
    const char *name = kind == CONTACT        ? ""
                       : kind == MF_PART_BODY ? model->bodies[index].name
                                              : mf_part_own_name(model, part, index);
    while (kind < MF_PART_COUNT && name[0] == '\0' && mf_part_parent(model, &part, &index))
        name = mf_part_own_name(model, part, index);
    return name[0] == '\0' && link >= 0 ? model->links[link].name : name;
}

static void put_parts(mf_Text *text, const Robot *robot) {
    const mf_Model *model = robot->model;
    mf_text_put(text, "\"parts\":{");
    for (uint32_t kind = MF_PART_LINK; kind < KINDS; kind++) {
        mf_text_format(text, "%s\"%s\":[", kind > MF_PART_LINK ? "," : "", kind_name(kind));
        for (uint32_t i = 0; i < part_count(robot, kind); i++) {
            mf_text_put(text, i > 0 ? ",{" : "{");
            put_named(text, "name", name_of(robot, kind, i));
            mf_text_format(text, ",\"link\":%d", link_of(robot, kind, i));
            if (kind == MF_PART_LINK)
                mf_text_format(text, ",\"parent\":%d",
                               model->links[i].parent != MF_NONE ? (int)model->links[i].parent
                                                                 : -1);
            mf_text_put(text, "}");
        }
        mf_text_put(text, "]");
    }
    mf_text_put(text, "}");
}

// ---- fields ------------------------------------------------------------------------------------

// The values of a part in a field.
typedef struct Row {
    uint32_t first, count, index;
    const char *unit;
    double low, high; // limits of the model; NAN: none
} Row;

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

// Whether a joint goes to its target at the robot's present level.
static bool follows_target(const Robot *robot, uint32_t joint) {
    const mf_Field *gain = mf_group_find_field(robot->group, "servo.gain");
    if (robot->model->joints[joint].mimic != MF_NONE)
        return false;
    if (mf_motion_of(robot->group, robot->instance) != MF_MOTION_ARTICULATED)
        return true;
    return gain != NULL ? mf_field_get(gain, robot->instance, joint) > 0.0
                        : mf_articulated_servo(robot->group, joint).gain > 0.0;
}

// Of the actuator's control, where the gains are those of a servo.
static const char *control_unit(const mf_Model *model, const mf_Actuator *actuator) {
    const double gain = actuator->gain[0];
    if (actuator->joint == MF_NONE || !(gain > 0.0) || actuator->gear[0] != 1.0)
        return "1";
    const bool slides = model->joints[actuator->joint].type == MF_JOINT_SLIDE;
    if (actuator->bias[1] == -gain)
        return slides ? "m" : "rad";
    return actuator->bias[1] == 0.0 && actuator->bias[2] == -gain ? slides ? "m/s" : "rad/s" : "1";
}

static void limit_joint(const mf_Joint *joint, const char *field, Row *row) {
    const double most =
        begins(field, "joint.rate") || begins(field, "servo.target_rate")          ? joint->speed
        : strcmp(field, "joint.torque") == 0 || strcmp(field, "servo.torque") == 0 ? joint->effort
                                                                                   : (double)NAN;
    row->low = -most;
    row->high = most;
    if (strcmp(field, "joint.target") == 0 || strcmp(field, "joint.angle") == 0) {
        row->low = joint->lower;
        row->high = joint->upper;
    }
}

static void limit_actuator(const mf_Model *model, const mf_Actuator *actuator, const char *field,
                           Row *row) {
    const bool hinge =
        actuator->joint != MF_NONE && model->joints[actuator->joint].type == MF_JOINT_HINGE;
    if (strcmp(field, "actuator.force") == 0) {
        row->unit = hinge ? "N m" : "N";
        row->low = actuator->force_lower;
        row->high = actuator->force_upper;
    }
    if (strcmp(field, "actuator.control") != 0)
        return;
    row->unit = control_unit(model, actuator);
    row->low = actuator->control_lower;
    row->high = actuator->control_upper;
    if (!(isfinite(row->low) && isfinite(row->high)) &&
        (strcmp(row->unit, "rad") == 0 || strcmp(row->unit, "m") == 0)) {
        row->low = model->joints[actuator->joint].lower;
        row->high = model->joints[actuator->joint].upper;
    }
}

// Whether a field has a value of the part, and which.
static bool row_of(const Robot *robot, uint32_t kind, uint32_t index, mf_Field *field, Row *row) {
    const mf_Model *model = robot->model;
    const uint32_t width = field->info.width;
    mf_Property property;
    *row = (Row){width * index, width, index, field->info.unit, (double)NAN, (double)NAN};
    if (kind == CONTACT) {
        const bool points = field->info.shape == MF_PER_CONTACT;
        const bool loads = begins(field->info.name, "contact.") &&
                           field->components == width * robot->rows && robot->rows > 0;
        if (points && index >= robot->rows)
            row->first = width * (index - robot->rows);
        return points ? index >= robot->rows : loads && index < robot->rows;
    }
    if (!mf_part_field(model, (mf_Part)kind, index, field, &property))
        return false;
    *row = (Row){property.first, property.count, index, property.unit, (double)NAN, (double)NAN};
    if (kind == MF_PART_JOINT && strcmp(field->info.name, "joint.target") == 0 &&
        !follows_target(robot, index))
        return false;
    if (kind == MF_PART_JOINT)
        limit_joint(&model->joints[index], field->info.name, row);
    if (kind == MF_PART_ACTUATOR)
        limit_actuator(model, &model->actuators[index], field->info.name, row);
    return true;
}

// Of which kind of part the elements of a field are; KINDS: of none.
static uint32_t kind_of(const Robot *robot, mf_Field *field) {
    Row row;
    for (uint32_t k = MF_PART_ROBOT; k < KINDS; k++) {
        const uint32_t kind = k == MF_PART_ROBOT ? MF_PART_ACTUATOR : k; // before joints
        for (uint32_t i = 0; i < part_count(robot, kind); i++)
            if (row_of(robot, kind, i, field, &row))
                return kind;
    }
    return KINDS;
}

static void put_rows(mf_Text *text, const Robot *robot, uint32_t kind, mf_Field *field) {
    const char *comma = "";
    Row row;
    mf_text_format(text, ",\"of\":\"%s\",\"rows\":[", kind_name(kind));
    for (uint32_t i = 0; i < part_count(robot, kind); i++) {
        if (!row_of(robot, kind, i, field, &row))
            continue;
        mf_text_format(text, "%s[%u,%u,%u", comma, row.first, row.count, row.index);
        const bool limited = isfinite(row.low) && isfinite(row.high);
        const bool other = strcmp(row.unit, field->info.unit) != 0;
        if (limited || other) {
            mf_text_put(text, ",");
            mf_film_put_string(text, row.unit);
        }
        if (limited)
            mf_text_format(text, ",%.7g,%.7g", row.low, row.high);
        mf_text_put(text, "]");
        comma = ",";
    }
    mf_text_put(text, "]");
}

static void put_list(mf_Text *text, const char *key, const char *const *values, uint32_t count) {
    mf_text_format(text, ",\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++) {
        mf_text_put(text, i > 0 ? "," : "");
        mf_film_put_string(text, values[i] != NULL ? values[i] : "");
    }
    mf_text_put(text, "]");
}

// Fields of warnings have an element for each of them.
static void put_warnings(mf_Text *text, const mf_Group *group) {
    const char *names[MF_WARNING_KINDS], *units[MF_WARNING_KINDS];
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        names[k] = mf_warning_name(UINT32_C(1) << k);
        units[k] = mf_group_warning_words(group, UINT32_C(1) << k)->unit;
    }
    put_list(text, "names", names, MF_WARNING_KINDS);
    put_list(text, "units", units, MF_WARNING_KINDS);
}

static void put_levels(mf_Text *text) {
    const char *names[MF_MOTION_OWN_LAST + 1];
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        names[i] = mf_motion_name((mf_Motion)i);
    put_list(text, "values", names, MF_MOTION_OWN_LAST + 1);
}

static void put_info(mf_Text *text, const mf_Field *field) {
    put_named(text, "name", field->info.name);
    mf_text_put(text, ",");
    put_named(text, "unit", field->info.unit);
    mf_text_put(text, ",");
    put_named(text, "frame", field->info.frame);
}

static void put_field(mf_Text *text, const Robot *robot, mf_Field *field) {
    const uint32_t kind = kind_of(robot, field);
    mf_text_put(text, "{");
    put_info(text, field);
    mf_text_put(text, ",");
    put_named(text, "text", field->info.description);
    mf_text_format(text, ",\"input\":%s,\"width\":%u,\"count\":%u",
                   mf_field_is_input(robot->group, field) ? "true" : "false", field->info.width,
                   field->components);
    if (kind < KINDS)
        put_rows(text, robot, kind, field);
    if (begins(field->info.name, "warning."))
        put_warnings(text, robot->group);
    if (strcmp(field->info.name, "motion.level") == 0)
        put_levels(text);
    mf_text_put(text, "}");
}

mf_Status mf_film_viewer_about(mf_Group *group, uint32_t instance, char **about, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(about != NULL, error, "view: about is NULL");
    *about = NULL;
    MF_NEED(group != NULL && instance < mf_group_count(group), error,
            "view: expected a group and one of its robots");
    const Robot robot = robot_of(group, instance);
    mf_Text text = mf_text_begin(mf_world_context(mf_group_world(group)));
    mf_text_put(&text, "{");
    put_named(&text, "group", mf_group_config_of(group)->name);
    mf_text_put(&text, ",");
    put_named(&text, "model", robot.model->name);
    mf_text_format(&text, ",\"mass\":%.7g,\"gravity\":%.7g,", robot.model->mass,
                   mf_world_config_of(mf_group_world(group))->gravity);
    put_parts(&text, &robot);
    mf_text_put(&text, ",\"fields\":[");
    for (uint32_t f = 0; f < mf_group_field_count(group); f++) {
        mf_text_put(&text, f > 0 ? ",\n" : "\n");
        put_field(&text, &robot, mf_group_field(group, f));
    }
    mf_text_put(&text, "]}");
    return mf_text_end(&text, MF_OK, "view", about, error);
}

// ---- values ------------------------------------------------------------------------------------

static void put_values(mf_Text *text, const mf_Group *group, const mf_Field *field,
                       uint32_t instance, uint32_t most) {
    const uint32_t count = field->components < most ? field->components : most;
    mf_text_put(text, "{");
    put_info(text, field);
    mf_text_format(text, ",\"input\":%s,\"values\":[",
                   mf_field_is_input(group, field) ? "true" : "false");
    for (uint32_t c = 0; c < count; c++) {
        mf_text_put(text, c > 0 ? "," : "");
        put_real(text, mf_field_get(field, instance, c));
    }
    mf_text_put(text, "]}");
}

// The levels to which the group's robots can switch, by their names.
static void put_motion(mf_Text *text, const mf_Group *group, uint32_t instance) {
    const mf_Motion motion = mf_motion_of(group, instance);
    const char *comma = "";
    mf_text_put(text, ",");
    put_named(text, "motion", motion != MF_MOTION_COUNT ? mf_motion_name(motion) : "");
    mf_text_put(text, ",\"motions\":[");
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        if (mf_motion_in(group, (mf_Motion)i)) {
            mf_text_format(text, "%s\"%s\"", comma, mf_motion_name((mf_Motion)i));
            comma = ",";
        }
    mf_text_put(text, "]");
}

// Pose and velocities of a link, world axes.
static void put_link(mf_Text *text, mf_Group *group, uint32_t instance, uint32_t link) {
    const size_t links = mf_group_model(group)->link_count;
    if (link >= links)
        return;
    double *memory = mf_allocate(text->context, 13 * links, sizeof *memory);
    text->failed = text->failed || memory == NULL;
    if (memory == NULL)
        return;
    double *rotations = memory + 3 * links, *velocities = memory + 7 * links;
    if (mf_group_link_poses(group, instance, 1, memory, rotations, NULL) == MF_OK &&
        mf_group_link_velocities(group, instance, 1, velocities, NULL) == MF_OK) {
        mf_text_format(text, ",\"link\":{\"number\":%u", link);
        mf_film_put_numbers(text, "position", memory + 3 * (size_t)link, 3);
        mf_film_put_numbers(text, "rotation", rotations + 4 * (size_t)link, 4);
        mf_film_put_numbers(text, "velocity", velocities + 6 * (size_t)link, 6);
        mf_text_put(text, "}");
    }
    mf_release(text->context, memory);
}

mf_Status mf_film_viewer_read(mf_Group *group, const mf_ViewerReading *request, char **reading,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(reading != NULL, error, "view: reading is NULL");
    *reading = NULL;
    if (group == NULL || request == NULL || request->instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT, "view: expected a group and one of its robots");
    mf_World *world = mf_group_world(group);
    const uint32_t count = mf_group_field_count(group);
    mf_Text text = mf_text_begin(mf_world_context(world));
    mf_text_format(&text, "{\"robot\":%u,\"time\":%.17g", request->robot,
                   mf_time_to_seconds(mf_world_time(world)));
    put_motion(&text, group, request->instance);
    if (request->link != MF_NONE)
        put_link(&text, group, request->instance, request->link);
    mf_text_put(&text, ",\"fields\":[");
    const char *comma = "";
    for (uint32_t i = 0; i < (request->fields != NULL ? request->field_count : count); i++) {
        const uint32_t number = request->fields != NULL ? request->fields[i] : i;
        if (number >= count)
            continue;
        mf_text_put(&text, comma);
        put_values(&text, group, mf_group_field(group, number), request->instance,
                   request->fields != NULL ? VALUES_MOST : VALUES_FEW);
        comma = ",";
    }
    mf_text_put(&text, "]}");
    return mf_text_end(&text, MF_OK, "view", reading, error);
}
