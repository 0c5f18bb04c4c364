// The report before a run (start_report.h): one function per kind of finding.
#include "evaluate/start_report.h"
#include "body/kind.h"
#include "motion/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mayfly/sensor.h>
#include <mayfly/query.h>

#include "motion/articulated/host.h"
#include "evaluate/robot_pose.h"

_Static_assert(MF_SENSORS_NOTE <= (int)MF_MOTION_NOTE, "one buffer for both");

#define NOTES_SHOWN 6         // [1] of the model's own
#define NAMES_SHOWN 4         // [1] in a list
#define DEEP 0.005            // [m] reported penetration at the start
#define OVERLAP 0.001         // [m] reported overlap of links; less is normal at rest
#define UPSIDE_DOWN 2.36      // [rad] 135 degrees
#define LARGE 5.0             // [m] height of robots whose density is judged
#define THIN 0.01             // [kg/m^3] mass per cube of the height
#define MANY_ROTATIONS 50.27  // [rad] 8 turns: a range of 52 degrees, in radians by mistake
#define ENDLESS 1e4           // [rad] a range that means none
#define MOTION_MARK "motion " // begins notes about one motion
#define SWARM 64u             // [1] robots whose distances are computed

MF_PRINTF(3, 4)
static void say(mf_StartReport *report, mf_NoteKind kind, const char *format, ...) {
    va_list arguments;
    if (report->count == MF_REPORT_LINES) {
        report->more++;
        return;
    }
    report->lines[report->count].kind = kind;
    char *line = report->lines[report->count++].text;
    const int prefix = snprintf(line, MF_START_NOTE, "%s", report->prefix);
    va_start(arguments, format);
    vsnprintf(line + prefix, MF_START_NOTE - (size_t)prefix, format, arguments);
    va_end(arguments);
}

// ---- the file -----------------------------------------------------------------------------------

// Dropped or replaced parts of the model: missing meshes, shapes that cannot be read, links without
// inertia.
static void report_notes(const mf_Model *model, mf_StartReport *report) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < model->note_count; i++) {
        const mf_Note *note = &model->notes[i];
        if (!note->suspicious) // the others do not affect motion
            continue;
        if (++found > NOTES_SHOWN)
            continue;
        const char *file = note->file[0] != '\0' ? note->file : model->file;
        const char *slash = strrchr(file, '/');
        file = slash != NULL ? slash + 1 : file;
        if (note->line > 0)
            say(report, MF_NOTE_FILE, "%.80s:%d: %s", file, (int)note->line, note->text);
        else
            say(report, MF_NOTE_FILE, "%.80s: %s", file, note->text);
    }
    if (found > NOTES_SHOWN)
        say(report, MF_NOTE_FILE, "%u more of that kind; mayfly info lists them",
            found - NOTES_SHOWN);
}

typedef struct Names {
    char text[160];
    uint32_t count;
} Names;

static void add_name(Names *names, const char *name) {
    const size_t used = strlen(names->text);
    if (names->count < NAMES_SHOWN)
        snprintf(names->text + used, sizeof names->text - used, "%s%.60s",
                 names->count > 0 ? ", " : "", name);
    else if (names->count == NAMES_SHOWN)
        snprintf(names->text + used, sizeof names->text - used, ", ...");
    names->count++;
}

// In MJCF files, joints without actuators are common and intended.
static void report_motors(mf_Group *group, mf_StartReport *report) {
    const mf_Model *model = mf_group_model(group);
    Names names = {.count = 0};
    if (mf_motion_of(group, 0) != MF_MOTION_ARTICULATED || model->body_count > 0)
        return;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        const bool rotates = joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
        if (rotates && mf_motion_follows(group, j, NULL) != MF_OK)
            add_name(&names, joint->name);
    }
    if (names.count > 0)
        say(report, MF_NOTE_FILE,
            "%u of %u joints have no motor (effort or velocity 0 in the file): %s", names.count,
            model->joint_count, names.text);
}

static void report_massless(const mf_Model *model, mf_StartReport *report) {
    Names names = {.count = 0};
    for (uint32_t l = 1; l < model->link_count; l++) {
        const mf_Joint *joint = &model->joints[model->links[l].joint];
        const bool moves = joint->type != MF_JOINT_FIXED && joint->type != MF_JOINT_PLANAR;
        if (moves && !(model->links[l].mass > 0.0))
            add_name(&names, joint->name);
    }
    if (names.count > 0)
        say(report, MF_NOTE_FILE, "%u joint%s a link without mass: %s", names.count,
            names.count == 1 ? " moves" : "s move", names.text);
}

// ---- units --------------------------------------------------------------------------------------

// Lengths in millimeters make a robot a thousand times as large for its mass.
static void report_size(const mf_Model *model, const mf_RobotDepth *depth, mf_StartReport *report) {
    const double height = depth->highest + depth->deepest;
    if (depth->touches && height > LARGE && model->mass < THIN * height * height * height)
        say(report, MF_NOTE_FILE,
            "the robot is %.3g m high and its mass is %.3g kg: are lengths of its file in "
            "millimeters? Mayfly expects meters (meshes have a scale)",
            height, model->mass);
}

static void report_ranges(const mf_Model *model, mf_StartReport *report) {
    Names names = {.count = 0};
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (joint->type == MF_JOINT_HINGE && joint->upper - joint->lower > MANY_ROTATIONS &&
            joint->upper - joint->lower < ENDLESS)
            add_name(&names, joint->name);
    }
    if (names.count > 0)
        say(report, MF_NOTE_FILE,
            "%u joint%s range of more than %.0f turns: are angles of its file in degrees? "
            "Mayfly expects radians: %s",
            names.count, names.count == 1 ? " has a" : "s have a",
            MANY_ROTATIONS / 6.2831853071795865, names.text);
}

// ---- the motion ---------------------------------------------------------------------------------

// What a level leaves out, in as few lines as it fits: sentences about one motion share its name.
typedef struct Level {
    char text[MF_START_NOTE - 80]; // without the prefix of the group
    char motion[40];               // "motion points: ", or ""
} Level;

static void say_level(Level *level, mf_StartReport *report) {
    if (level->text[0] != '\0')
        say(report, MF_NOTE_LEVEL, "%s", level->text);
    level->text[0] = level->motion[0] = '\0';
}

static void add_level(Level *level, const char *sentence, mf_StartReport *report) {
    const bool named = strncmp(sentence, MOTION_MARK, strlen(MOTION_MARK)) == 0;
    const char *rest = named ? strchr(sentence, ':') + 2 : sentence;
    const size_t length = (size_t)(rest - sentence), used = strlen(level->text);
    const bool same =
        strlen(level->motion) == length && strncmp(level->motion, sentence, length) == 0;
    if (used > 0 && same && used + strlen(rest) + 3 < sizeof level->text) {
        snprintf(level->text + used, sizeof level->text - used, "; %s", rest);
        return;
    }
    say_level(level, report);
    snprintf(level->text, sizeof level->text, "%s", sentence);
    snprintf(level->motion, sizeof level->motion, "%.*s", (int)length, sentence);
}

static bool feels_wind(mf_Group *group) {
    return !mf_group_config_of(group)->isolated &&
           mf_group_find_field(group, "wind.velocity") != NULL;
}

// In the scene's wind, which others feel; a wind that nobody feels is a note of the scene.
static bool is_left_calm(const mf_Scene *scene, mf_Group *group) {
    const double *wind = scene->file->interaction.wind;
    bool others = false;
    for (uint32_t i = 0; i < scene->group_count; i++)
        others = others || feels_wind(mf_world_group(scene->world, i));
    return others && !feels_wind(group) && fabs(wind[0]) + fabs(wind[1]) + fabs(wind[2]) > 0.0;
}

// `scene`: of all levels that its groups have those notes that are about the present one; NULL: the
// group's alone.
static void report_settings(const mf_Scene *scene, mf_Group *group, mf_StartReport *report) {
    char text[MF_MOTION_NOTE], own[64];
    Level level = {.text = ""};
    bool chosen;
    snprintf(own, sizeof own, "%s%s:", MOTION_MARK, mf_motion_name(mf_motion_of(group, 0)));
    for (uint32_t i = 0; mf_motion_note_of_group(group, i, &chosen, text); i++) {
        if (scene != NULL && scene->levels &&
            strncmp(text, MOTION_MARK, strlen(MOTION_MARK)) == 0 &&
            strncmp(text, own, strlen(own)) != 0)
            continue;
        if (chosen)
            add_level(&level, text, report);
        else
            say(report, MF_NOTE_FEATURE, "%s", text);
    }
    if (scene != NULL && is_left_calm(scene, group)) {
        snprintf(text, sizeof text, "%s%s: feels no wind", MOTION_MARK,
                 mf_motion_name(mf_motion_of(group, 0)));
        add_level(&level, text, report);
    }
    say_level(&level, report);
    for (uint32_t i = 0; mf_sensors_note(group, i, text); i++)
        say(report, MF_NOTE_FEATURE, "%s", text);
}

void mf_start_report_settings(const mf_Scene *scene, mf_Group *group, mf_StartReport *report) {
    report_settings(scene, group, report);
}

static void report_rest(const mf_Scene *scene, mf_Group *group, mf_StartReport *report) {
    report_motors(group, report);
    report_massless(mf_group_model(group), report);
    report_settings(scene, group, report);
    report_notes(mf_group_model(group), report);
}

// ---- the start ----------------------------------------------------------------------------------

static void report_start(mf_Group *group, mf_StartReport *report) {
    const mf_Model *model = mf_group_model(group);
    mf_RobotPose pose;
    if (mf_robot_pose_make(group, &pose, NULL) != MF_OK)
        return;
    mf_robot_pose_read(group, 0, &pose);
    mf_RobotDepth depth = mf_robot_depth(group, 0, &pose);
    report_size(model, &depth, report);
    const mf_Motion motion = mf_motion_of(group, 0);
    const mf_ArticulatedConfig *full = mf_articulated_config_of(group);
    const bool points = !mf_motion_has_shapes(motion) ||
                        (motion == MF_MOTION_ARTICULATED && full != NULL && !full->shapes);
    depth.touches = depth.touches && !points; // the depth is that of shapes
    if (depth.touches && depth.highest < -DEEP)
        say(report, MF_NOTE_POSE,
            "the robot starts under the ground: its highest shape is %.3g m below", -depth.highest);
    else if (depth.touches && depth.deepest > DEEP && mf_motion_counts(group) != NULL)
        say(report, MF_NOTE_POSE, "the %s starts %.3g m deep in the ground: vertex %u",
            mf_motion_first(group)->body, depth.deepest, depth.link);
    else if (depth.touches && depth.deepest > DEEP)
        say(report, MF_NOTE_POSE, "the robot starts %.3g m deep in the ground: link %s",
            depth.deepest, model->links[depth.link].name);
    if (model->base == MF_BASE_FREE && mf_robot_tilt(&pose) > UPSIDE_DOWN)
        say(report, MF_NOTE_POSE,
            "the robot starts upside down: the base's z axis is %.0f degrees from vertical",
            mf_robot_tilt(&pose) * 57.295779513082321);
    mf_robot_pose_free(mf_world_context(mf_group_world(group)), &pose);
}

// "'toe' of link 'foot'", if they have names.
static void name_shape(const mf_Model *model, uint32_t index, char *out, size_t size) {
    const mf_Shape *shape = &model->shapes[index];
    char name[80];
    if (shape->name[0] != '\0')
        snprintf(name, sizeof name, "'%.56s'", shape->name);
    else
        snprintf(name, sizeof name, "%u", index);
    if (shape->link != MF_NONE)
        snprintf(out, size, "shape %s of link '%.60s'", name, model->links[shape->link].name);
    else
        snprintf(out, size, "shape %s of the world", name);
}

static void report_overlap(const mf_Model *model, mf_Group *group, mf_StartReport *report) {
    uint32_t shapes[2] = {0, 0};
    char first[180], second[180];
    const double depth = mf_art_deepest(group, 0, shapes);
    if (!(depth > OVERLAP))
        return;
    name_shape(model, shapes[0], first, sizeof first);
    name_shape(model, shapes[1], second, sizeof second);
    say(report, MF_NOTE_POSE, "the robot starts with overlapping links: %s and %s, %.3g mm deep",
        first, second, 1e3 * depth);
}

static void report_step(mf_Group *group, mf_StartReport *report) {
    char text[MF_STEP_TEXT];
    for (uint32_t i = 0; mf_step_note(group, i, text); i++)
        say(report, MF_NOTE_STEP, "%s", text);
}

static void report_pose(mf_Group *group, mf_StartReport *out) {
    report_start(group, out);
    report_ranges(mf_group_model(group), out);
    report_overlap(mf_group_model(group), group, out);
    report_step(group, out);
}

void mf_start_report_pose(const mf_Scene *scene, uint32_t index, mf_StartReport *out) {
    const double raised = scene->raised[index];
    if (raised > 0.0)
        say(out, MF_NOTE_POSE,
            "the initial pose of the file is %.3g m deep in the ground: raised onto it", raised);
    report_pose(mf_world_group(scene->world, index), out);
}

mf_Status mf_start_report_refuse(const mf_Scene *scene, mf_Error *error) {
    for (uint32_t i = 0; i < scene->group_count; i++) {
        mf_StartReport report = {.count = 0};
        if (mf_group_vehicle(&scene->file->groups[i]) != NULL)
            continue;
        mf_start_report_settings(scene, mf_world_group(scene->world, i), &report);
        for (uint32_t k = 0; k < report.count; k++)
            if (strstr(report.lines[k].text, MF_MOTION_NOTE_GROUND) == NULL)
                return mf_fail_at(error, MF_UNSUPPORTED, scene->models[i]->file, 0, 0,
                                  "--strict: %.300s", report.lines[k].text);
    }
    return MF_OK;
}

static bool moves(const mf_Group *group) {
    return mf_motion_of(group, 0) != MF_MOTION_COUNT;
}

// ---- between robots -----------------------------------------------------------------------------

static void name_owner(const mf_ShapeOwner *owner, char *out, size_t size) {
    const mf_Model *model = mf_group_model(owner->group);
    const int used =
        snprintf(out, size, "%.60s %u", mf_group_config_of(owner->group)->name, owner->instance);
    if (model->link_count > 1 && used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, " (%.60s)", model->links[owner->link].name);
}

// The deepest overlap of a robot with others; `deepest` keeps the largest.
static void find_overlap(const mf_Scene *scene, mf_Group *group, uint32_t robot,
                         mf_Distance *deepest) {
    mf_DistanceConfig config = mf_distance_config();
    mf_Distance found = {.found = false};
    config.a.group = group;
    config.a.instance = robot;
    config.reach = OVERLAP;
    if (mf_world_distance(scene->world, &config, &found, NULL) == MF_OK && found.found &&
        found.distance < deepest->distance)
        *deepest = found;
}

// Robots that start inside of each other are thrown apart. Larger scenes are not searched, which
// would take longer than a short run; vehicles are tested where they are placed.
static void report_swarm(const mf_Scene *scene, mf_StartReport *report) {
    mf_Distance deepest = {.distance = -DEEP};
    uint32_t robots = 0;
    for (uint32_t i = 0; i < scene->group_count; i++)
        robots += mf_group_count(mf_world_group(scene->world, i));
    if (scene->collisions == NULL || robots > SWARM)
        return;
    for (uint32_t i = 0; i < scene->group_count; i++) {
        mf_Group *group = mf_world_group(scene->world, i);
        for (uint32_t r = 0; moves(group) && r < mf_group_count(group); r++)
            find_overlap(scene, group, r, &deepest);
    }
    if (!deepest.found)
        return;
    char first[140], second[140];
    name_owner(&deepest.owners[0], first, sizeof first);
    name_owner(&deepest.owners[1], second, sizeof second);
    say(report, MF_NOTE_POSE,
        "robots start inside of each other: %s and %s, %.3g mm deep; contact throws them "
        "apart",
        first, second, -1e3 * deepest.distance);
}

void mf_start_report(const mf_Scene *scene, mf_StartReport *out) {
    *out = (mf_StartReport){.count = 0};
    for (uint32_t i = 0; i < scene->note_count; i++)
        say(out, MF_NOTE_SCENE, "%s", scene->notes[i]);
    for (uint32_t i = 0; i < scene->group_count; i++) {
        mf_Group *group = mf_world_group(scene->world, i);
        if (mf_group_vehicle(&scene->file->groups[i]) != NULL || !moves(group))
            continue;
        if (scene->group_count > 1)
            snprintf(out->prefix, sizeof out->prefix, "group %.60s: ", scene->file->groups[i].name);
        mf_start_report_pose(scene, i, out);
        report_rest(scene, group, out);
    }
    out->prefix[0] = '\0';
    report_swarm(scene, out);
}

// ---- for programs -------------------------------------------------------------------------------

static uint32_t copy_notes(const mf_StartReport *report, mf_StartNote *out, uint32_t capacity) {
    for (uint32_t i = 0; out != NULL && i < report->count && i < capacity; i++)
        out[i] = report->lines[i];
    return report->count;
}

uint32_t mf_group_start_notes(mf_Group *group, mf_StartNote *out, uint32_t capacity) {
    mf_StartReport report = {.count = 0};
    if (group == NULL)
        return 0;
    const mf_Motion motion = mf_motion_of(group, 0);
    const bool vehicle = motion >= MF_MOTION_QUADROTOR && motion <= MF_MOTION_CAR;
    if (vehicle || !moves(group))
        return 0;
    report_pose(group, &report);
    report_rest(NULL, group, &report);
    return copy_notes(&report, out, capacity);
}

uint32_t mf_scene_start_notes(const mf_Scene *scene, mf_StartNote *out, uint32_t capacity) {
    mf_StartReport report;
    if (scene == NULL || scene->world == NULL)
        return 0;
    mf_start_report(scene, &report);
    return copy_notes(&report, out, capacity);
}
