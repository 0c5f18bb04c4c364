// A model as readable text: a table with the tree of links, then sensors, then notes.
#include <mayfly/model_fields.h>

#include "base/plain.h"
#include "base/text.h"
#include "model/mounted.h"
#include "base/floats.h"
#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define NAME_LIMIT 44   // [1] widest name column
#define LEVELS_SHOWN 24 // [1] branches drawn before a link; deeper trees are cut on the left

// Characters, not bytes, of UTF-8 text.
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

// The text padded with blanks to `width`; a longer text is cut and ends in "…".
static void put_padded(mf_Text *out, const char *text, int width) {
    int full = width_of(text);
    int shown = full > width ? width - 1 : full, count = 0;
    const char *end = text;
    while (*end && count < shown) {
        do
            end++;
        while (((unsigned char)*end & 0xc0) == 0x80);
        count++;
    }
    mf_text_format(out, "%.*s%s%*s", (int)(end - text), text, full > width ? "…" : "",
                   full > width ? 0 : width - full, "");
}

// ---- the tree ----------------------------------------------------------------------------------

typedef struct Tree {
    const mf_Model *model;
    uint32_t *last_child;  // [link] its last child, or MF_NONE
    uint32_t *level;       // [link] joints between it and the base
    uint32_t *point_count; // [link]
    uint32_t *touch_count; // [link]
    int name_width;
    int joint_width;
    int axis_width;
} Tree;

// The branches before a link's name.
static void branches(const Tree *tree, uint32_t link, char *out, size_t size) {
    const mf_Link *links = tree->model->links;
    uint32_t level = tree->level[link], shown = level < LEVELS_SHOWN ? level : LEVELS_SHOWN;
    const char *parts[LEVELS_SHOWN];
    uint32_t at = link;
    for (uint32_t i = shown; i-- > 0;) {
        bool last = tree->last_child[links[at].parent] == at;
        if (i == shown - 1)
            parts[i] = last ? "└─ " : "├─ ";
        else
            parts[i] = last ? "   " : "│  ";
        at = links[at].parent;
    }
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < shown; i++)
        used += (size_t)snprintf(out + used, size - used, "%s", parts[i]);
}

// The name of the value of an item's field.
static const char *name_of(mf_ItemType item, const char *name, const void *value) {
    return mf_item_enum_name(mf_item_field(item, name), value);
}

static void axis_text(char text[64], const mf_Joint *joint) {
    text[0] = '\0';
    if (joint->type != MF_JOINT_HINGE && joint->type != MF_JOINT_SLIDE)
        return;
    mf_plain_format(text, 64, "%.2f %.2f %.2f", joint->axis[0], joint->axis[1], joint->axis[2]);
    for (int i = 0; i < 3; i++) {
        if (mf_abs(joint->axis[i]) > 1.0 - 1e-9)
            snprintf(text, 64, "%c%c", joint->axis[i] > 0.0 ? '+' : '-', "xyz"[i]);
    }
}

static void put_range(mf_Text *out, const mf_Model *model, const mf_Joint *joint) {
    char text[80] = "";
    bool hinge = joint->type == MF_JOINT_HINGE;
    double scale = hinge ? 180.0 / MF_PI : 1000.0;
    if (joint->mimic != MF_NONE)
        mf_plain_format(text, sizeof text, "%.3g * %.24s%+.3g", joint->multiplier,
                        model->joints[joint->mimic].name, joint->offset);
    else if (!hinge && joint->type != MF_JOINT_SLIDE)
        text[0] = '\0';
    else if (!mf_is_finite(joint->lower) && !mf_is_finite(joint->upper))
        snprintf(text, sizeof text, "unlimited");
    else
        mf_plain_format(text, sizeof text, "%7.1f .. %6.1f %s", joint->lower * scale,
                        joint->upper * scale, hinge ? "deg" : "mm");
    put_padded(out, text, 23);
}

static void put_speed(mf_Text *out, const mf_Joint *joint) {
    char text[40] = "";
    if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE) {
        if (mf_is_finite(joint->speed))
            mf_plain_format(text, sizeof text, "%6.2f %s", joint->speed,
                            joint->type == MF_JOINT_HINGE ? "rad/s" : "m/s");
        else
            snprintf(text, sizeof text, "unlimited");
    }
    put_padded(out, text, 14);
}

static void put_link(mf_Text *out, const Tree *tree, uint32_t index) {
    const mf_Model *model = tree->model;
    const mf_Link *link = &model->links[index];
    char name[LEVELS_SHOWN * 8 + 256 + 8], axis[64];
    branches(tree, index, name, sizeof name - 256);
    size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, "%s", link->name);
    mf_text_put(out, "  ");
    put_padded(out, name, tree->name_width + 2);
    if (link->joint == MF_NONE) {
        put_padded(out, "", tree->joint_width + 2 + 10 + tree->axis_width + 23 + 14);
    } else {
        const mf_Joint *joint = &model->joints[link->joint];
        put_padded(out, joint->name, tree->joint_width);
        mf_text_put(out, "  ");
        put_padded(out, name_of(MF_ITEM_JOINT, "type", &joint->type), 10);
        axis_text(axis, joint);
        put_padded(out, axis, tree->axis_width);
        put_range(out, model, joint);
        put_speed(out, joint);
    }
    mf_text_format(out, "%9.4f %7u %9u\n", link->mass, tree->point_count[index],
                   tree->touch_count[index]);
}

static void measure(Tree *tree) {
    const mf_Model *model = tree->model;
    tree->name_width = 4;
    tree->joint_width = 5;
    tree->axis_width = 6;
    for (uint32_t i = 0; i < model->link_count; i++)
        tree->last_child[i] = MF_NONE;
    for (uint32_t i = 0; i < model->link_count; i++) {
        const mf_Link *link = &model->links[i];
        if (i > 0) {
            tree->level[i] = tree->level[link->parent] + 1;
            tree->last_child[link->parent] = i; // children are in ascending order
            int joint_width = width_of(model->joints[link->joint].name);
            tree->joint_width = joint_width > tree->joint_width ? joint_width : tree->joint_width;
            char axis[64];
            axis_text(axis, &model->joints[link->joint]);
            int axis_width = (int)strlen(axis) + 2;
            tree->axis_width = axis_width > tree->axis_width ? axis_width : tree->axis_width;
        }
        uint32_t shown = tree->level[i] < LEVELS_SHOWN ? tree->level[i] : LEVELS_SHOWN;
        int width = width_of(link->name) + 3 * (int)shown;
        tree->name_width = width > tree->name_width ? width : tree->name_width;
    }
    tree->name_width = tree->name_width > NAME_LIMIT ? NAME_LIMIT : tree->name_width;
    tree->joint_width = tree->joint_width > NAME_LIMIT ? NAME_LIMIT : tree->joint_width;
    for (uint32_t i = 0; i < model->point_count; i++) {
        tree->point_count[model->points[i].link]++;
        tree->touch_count[model->points[i].link] +=
            (model->points[i].flags & MF_POINT_COLLIDES) != 0;
    }
}

static void put_tree(mf_Text *out, const mf_Model *model) {
    size_t count = model->link_count;
    uint32_t *numbers = mf_allocate(model->context, 4 * count, sizeof *numbers);
    if (numbers == NULL) {
        out->failed = true;
        return;
    }
    Tree tree = {.model = model,
                 .last_child = numbers,
                 .level = numbers + count,
                 .point_count = numbers + 2 * count,
                 .touch_count = numbers + 3 * count};
    measure(&tree);
    mf_text_put(out, "\n  ");
    put_padded(out, "link", tree.name_width + 2);
    put_padded(out, "joint", tree.joint_width + 2);
    mf_text_format(out, "%-10s%-*s%-23s%-14s%9s %7s %9s\n", "type", tree.axis_width, "axis",
                   "range", "speed", "mass/kg", "points", "touching");
    for (uint32_t i = 0; i < model->link_count; i++)
        put_link(out, &tree, i);
    mf_release(model->context, numbers);
}

// ---- other parts -------------------------------------------------------------------------------

static void put_head(mf_Text *out, const mf_Model *model) {
    uint32_t touching = 0, carrying = 0, free_joints = 0;
    for (uint32_t i = 0; i < model->point_count; i++) {
        touching += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
        carrying += (model->points[i].flags & MF_POINT_HAS_MASS) != 0;
    }
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        free_joints += joint->mimic == MF_NONE &&
                       (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE);
    }
    mf_text_format(out, "%s", model->name);
    if (model->file[0] != '\0')
        mf_text_format(out, "  (%s)", model->file);
    mf_text_put(out, "\n\n");
    mf_text_format(out, "  mass         %.4g kg\n", model->mass);
    mf_text_format(
        out, "  rest height  %.4f m from the ground to the base, joints at their start angles\n",
        model->rest_height);
    mf_text_format(out, "  links        %u\n", model->link_count);
    mf_text_format(out, "  joints       %u, of which %u can be driven\n", model->joint_count,
                   free_joints);
    mf_text_format(out, "  points       %u: %u can touch the ground, %u carry mass\n",
                   model->point_count, touching, carrying);
    mf_text_format(out, "  shapes       %u, meshes %u", model->shape_count, model->mesh_count);
    if (model->texture_count > 0)
        mf_text_format(out, ", textures %u", model->texture_count);
    if (model->body_count == 0 && model->pair_count > 0) // else put_dynamics has them
        mf_text_format(out, ", pairs that touch %u", model->pair_count);
    mf_text_put(out, "\n");
    mf_text_format(out, "  model hash   %016llx\n", (unsigned long long)mf_model_hash(model));
}

// The object of a sensor.
static const char *sensor_location(const mf_Model *model, const mf_Sensor *sensor) {
    if (sensor->link != MF_NONE)
        return model->links[sensor->link].name;
    if (sensor->joint != MF_NONE)
        return model->joints[sensor->joint].name;
    if (sensor->tendon != MF_NONE && model->tendons != NULL)
        return model->tendons[sensor->tendon].name;
    if (sensor->actuator != MF_NONE && model->actuators != NULL)
        return model->actuators[sensor->actuator].name;
    if (sensor->site != MF_NONE && model->sites != NULL)
        return model->sites[sensor->site].name;
    if (sensor->frame.link != MF_NONE)
        return model->links[sensor->frame.link].name;
    if (sensor->field != NULL)
        return sensor->field;
    for (int side = 0; sensor->type == MF_SENSOR_CONTACTS && side < 2; side++) {
        const uint32_t object = sensor->query.objects[side];
        if (sensor->query.sides[side] == MF_CONTACT_SIDE_ANY || object == MF_NONE)
            continue;
        return sensor->query.sides[side] == MF_CONTACT_SIDE_SHAPE ? model->shapes[object].name
                                                                  : model->bodies[object].name;
    }
    return "";
}

static void put_pair(mf_Text *out, const char *what, const double limits[2]) {
    if (limits[0] < limits[1])
        mf_text_format(out, ", %s %.4g .. %.4g", what, limits[0], limits[1]);
}

// The signal of a sensor.
static void put_signal(mf_Text *out, const mf_Signal *signal) {
    const struct {
        const char *what;
        double size;
    } sizes[] = {{"noise", signal->noise}, {"bias", signal->bias}, {"drift", signal->drift}};
    if (signal->rate.numerator > 0)
        mf_text_format(out, ", %.6g/s",
                       (double)signal->rate.numerator / (double)signal->rate.denominator);
    if (signal->delay > 0)
        mf_text_format(out, ", %.4g ms late", 1e3 * mf_time_to_seconds(signal->delay));
    put_pair(out, "saturates at", signal->saturation);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].size > 0.0)
            mf_text_format(out, ", %s %.3g", sizes[i].what, sizes[i].size);
    put_pair(out, "range", signal->range);
    if (signal->bits > 0)
        mf_text_format(out, " in %u bits", signal->bits);
    if (signal->resolution > 0.0)
        mf_text_format(out, ", steps of %.4g", signal->resolution);
}

static void put_sensor(mf_Text *out, const mf_Model *model, const void *item) {
    const mf_Sensor *sensor = item;
    mf_text_format(out, "%-18s%s", name_of(MF_ITEM_SENSOR, "type", &sensor->type),
                   sensor_location(model, sensor));
    if (sensor->type == MF_SENSOR_RAY)
        mf_text_format(out, ", sees %.3g m", sensor->range);
    put_signal(out, &sensor->signal);
}

// Names of items on links, a column of 18 characters with their links, and what they are.
static void put_mounted(mf_Text *out, const mf_Model *model, const mf_MountedKind *kind,
                        const void *item) {
    const mf_Frame *frame = mf_field_at(mf_item_field(kind->type, "frame"), item);
    put_padded(out, frame->link == MF_NONE ? "the world" : model->links[frame->link].name, 18);
    kind->describe(out, item);
}

// A table of sensors, or of items on links: their names, a column of 18 characters, and the rest.
static void put_items(mf_Text *out, const mf_Model *model, const mf_MountedKind *kind) {
    const mf_ItemType type = kind != NULL ? kind->type : MF_ITEM_SENSOR;
    const mf_ItemTable *table = mf_item_table(type);
    uint32_t count = 0;
    const char *items = mf_model_items(model, type, &count);
    int width = width_of(table->name);
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const int own = width_of(mf_item_name(type, items + i * table->size));
        width = own > width ? own : width;
    }
    width = (width > NAME_LIMIT ? NAME_LIMIT : width) + 2;
    mf_text_put(out, "\n  ");
    put_padded(out, table->name, width);
    mf_text_format(out, "%-18s%s\n", kind != NULL ? "on" : "type",
                   kind != NULL ? "what it is" : "where");
    for (uint32_t i = 0; i < count; i++) {
        mf_text_put(out, "  ");
        put_padded(out, mf_item_name(type, items + i * table->size), width);
        if (kind != NULL)
            put_mounted(out, model, kind, items + i * table->size);
        else
            put_sensor(out, model, items + i * table->size);
        mf_text_put(out, "\n");
    }
}

static void put_limits(mf_Text *out, double lower, double upper) {
    char text[60] = "-";
    if (mf_is_finite(lower) && mf_is_finite(upper))
        mf_plain_format(text, sizeof text, "%.4g .. %.4g", lower, upper);
    put_padded(out, text, 22);
}

static void put_actuators(mf_Text *out, const mf_Model *model) {
    if (model->actuator_count == 0)
        return;
    mf_text_format(out, "\n  %-28s%-28s%-10s%-24s%-28s%-22s%s\n", "actuator", "drives", "gear",
                   "gain", "bias", "control", "force");
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *a = &model->actuators[i];
        char gear[40], gain[80], bias[80];
        const char *target = a->joint != MF_NONE         ? model->joints[a->joint].name
                             : a->tendon != MF_NONE      ? model->tendons[a->tendon].name
                             : a->site != MF_NONE        ? model->sites[a->site].name
                             : a->drive == MF_DRIVE_BODY ? model->bodies[a->body].name
                                                         : "";
        mf_plain_format(gear, sizeof gear, "%.4g", a->gear[0]);
        mf_plain_format(gain, sizeof gain, "%.4g %.4g %.4g", a->gain[0], a->gain[1], a->gain[2]);
        mf_plain_format(bias, sizeof bias, "%.4g %.4g %.4g", a->bias[0], a->bias[1], a->bias[2]);
        mf_text_put(out, "  ");
        put_padded(out, a->name, 28);
        put_padded(out, target, 28);
        put_padded(out, gear, 10);
        put_padded(out, gain, 24);
        put_padded(out, bias, 28);
        put_limits(out, a->control_lower, a->control_upper);
        put_limits(out, a->force_lower, a->force_upper);
        mf_text_put(out, "\n");
    }
}

// The part for full dynamics, for models that have it.
static void put_dynamics(mf_Text *out, const mf_Model *model) {
    if (model->body_count == 0)
        return;
    const mf_Physics *p = &model->physics;
    mf_text_format(out, "\n  bodies       %u, base %s, %u positions, %u velocities\n",
                   model->body_count, model->base == MF_BASE_FREE ? "free" : "fixed in the world",
                   model->position_count, model->velocity_count);
    mf_text_format(out, "  contacts     %u pairs, %u exclusions\n", model->pair_count,
                   model->exclusion_count);
    mf_text_format(out, "  coupled by   %u tendons, %u equalities\n", model->tendon_count,
                   model->equality_count);
    mf_text_format(out, "  states       %u keyframes, %u sensor values, %u activations\n",
                   model->keyframe_count, model->sensor_value_count, model->activation_count);
    mf_text_format(out, "  the file's step %g ms, gravity %g %g %g m/s^2%s, integrator %s\n",
                   1000.0 * p->step, p->gravity[0], p->gravity[1], p->gravity[2],
                   p->disabled & MF_DISABLE_GRAVITY ? " (switched off)" : "",
                   name_of(MF_ITEM_PHYSICS, "integrator", &p->integrator));
    put_actuators(out, model);
}

static void put_notes(mf_Text *out, const mf_Model *model, bool suspicious) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->note_count; i++)
        count += model->notes[i].suspicious == suspicious;
    if (count == 0)
        return;
    mf_text_format(out, "\n  %s (%u)\n", suspicious ? "suspicious" : "dropped or changed", count);
    for (uint32_t i = 0; i < model->note_count; i++) {
        const mf_Note *note = &model->notes[i];
        if (note->suspicious != suspicious)
            continue;
        if (note->line > 0)
            mf_text_format(out, "  %6d  %s%s%s\n", (int)note->line, note->text,
                           note->file[0] ? ", in " : "", note->file);
        else
            mf_text_format(out, "       -  %s\n", note->text);
    }
}

mf_Status mf_model_describe(const mf_Model *model, char **text, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(model != NULL, error, "mf_model_describe: model is NULL");
    mf_Text out = mf_text_begin(model->context);
    *text = NULL;
    put_head(&out, model);
    put_tree(&out, model);
    put_dynamics(&out, model);
    put_items(&out, model, NULL);
    for (int k = 0; k < MF_MOUNTED_COUNT; k++)
        put_items(&out, model, mf_mounted_kinds[k]);
    put_notes(&out, model, true);
    put_notes(&out, model, false);
    if (out.failed) {
        mf_text_free(&out);
        return mf_fail(error, MF_NO_MEMORY, "description of '%.200s': no memory", model->name);
    }
    *text = out.data;
    return MF_OK;
}
