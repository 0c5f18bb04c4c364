// Messages of pages: one object of JSON each, with the member `do`. What is not understood changes
// nothing; frames are answered when they are due, everything else at once.
#include "view.h"
#include "visual/draw.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

#define FRAME_SECONDS 0.016    // [s] of the clock between two frames of a page
#define IDLE_SECONDS 0.1       // [s] likewise, while nothing moves
#define MAGIC 0x4d46524du      // of a frame
#define DRAWN 0x4d464452u      // of drawings
#define SPEED_MOST 1e6         // [1]
#define TEXT_CAPACITY 1048576u // [byte] of the longest text
#define FIELDS_MOST 512u       // [1] of a reading

// The head of a frame; floats follow: poses, joints, rays, points, contacts,
// levels. As web/src/live.ts
// reads it.
typedef struct FrameHead {
    uint32_t magic, flags;                // flags: 1 paused
    double time;                          // [s] simulated
    double factor, speed;                 // [1]
    uint32_t poses, joints, rays, points; // [1]
    uint32_t number, contacts, levels;
    uint32_t drawn; // of the last change of drawings and controls, its lower half
} FrameHead;

// The head of an answer to `drawn`; records follow (visual/draw.h).
typedef struct DrawnHead {
    uint32_t magic, unused;
    uint64_t last; // change that is in it
} DrawnHead;

_Static_assert(sizeof(FrameHead) == 64, "the page reads a head of 64 bytes");

uint64_t mf_view_tick(const mf_Viewer *viewer) {
    return (uint64_t)(mf_world_time(viewer->scene->world) / viewer->scene->step);
}

size_t mf_view_frame_size(const mf_Viewer *viewer) {
    const mf_Film *film = viewer->film;
    const size_t joints = film->joints != NULL ? MF_FILM_JOINTS : 0;
    return sizeof(FrameHead) +
           sizeof(float) * ((size_t)film->poses_each * MF_FILM_POSE + joints * MF_FILM_JOINT +
                            film->levels_each + (size_t)film->ray_count * MF_FILM_RAY +
                            3 * (size_t)film->points_each +
                            (size_t)mf_film_contact_capacity() * MF_FILM_CONTACT);
}

size_t mf_view_answer_capacity(const mf_Viewer *viewer) {
    const size_t frame = mf_view_frame_size(viewer), drawn = sizeof(DrawnHead) + MF_DRAW_RECORD;
    const size_t least = drawn > TEXT_CAPACITY ? drawn : TEXT_CAPACITY;
    return frame > least ? frame : least;
}

// What the page leaves out, since nothing would come of it.
static void put_lacks(mf_Text *text, const mf_ViewDriver *driver) {
    mf_text_put(text, ",\"lacks\":[\"\"");
    if (driver->back == NULL)
        mf_text_put(text, ",\"back\"");
    if (driver->every == NULL)
        mf_text_put(text, ",\"every\"");
    if (!driver->loads)
        mf_text_put(text, ",\"load\"");
    mf_text_put(text, "]");
}

mf_Status mf_view_texts(const mf_Viewer *viewer, const char *title, mf_Text *page,
                        mf_Text *description, mf_Error *error) {
    MF_TRY(mf_film_live_page(page, title, error));
    mf_film_take_picture(viewer->film);
    mf_text_put(description, "{\"scene\":");
    mf_film_describe(description, viewer->film);
    put_lacks(description, viewer->driver);
    mf_text_put(description, "}");
    return description->failed ? mf_fail(error, MF_NO_MEMORY, "view: out of memory") : MF_OK;
}

static uint8_t *put_floats(uint8_t *out, const float *values, size_t count) {
    if (count > 0)
        memcpy(out, values, count * sizeof *values);
    return out + count * sizeof *values;
}

static void put_frame(mf_Viewer *viewer, mf_ViewMail *mail, bool contacts) {
    mf_Film *film = viewer->film;
    mf_film_take_picture(film);
    if (contacts)
        mf_film_take_contacts(film);
    const FrameHead head = {.magic = MAGIC,
                            .flags = viewer->paused,
                            .time = mf_time_to_seconds(mf_world_time(viewer->scene->world)),
                            .factor = viewer->factor,
                            .speed = viewer->speed,
                            .poses = film->poses_each,
                            .joints = film->joints != NULL ? film->joints_each : 0,
                            .rays = film->ray_count,
                            .points = film->points_each,
                            .number = (uint32_t)viewer->pictures++,
                            .contacts = contacts ? film->contact_count : 0,
                            .levels = film->levels_each,
                            .drawn = (uint32_t)mf_draw_serial(viewer->scene->world)};
    memcpy(mail->answer, &head, sizeof head);
    uint8_t *end = mail->answer + sizeof head;
    end = put_floats(end, film->poses, (size_t)head.poses * MF_FILM_POSE);
    end = put_floats(end, film->joint_rows, (size_t)head.joints * MF_FILM_JOINT);
    end = put_floats(end, film->ray_rows, (size_t)head.rays * MF_FILM_RAY);
    end = put_floats(end, film->points, 3 * (size_t)head.points);
    end = put_floats(end, film->contact_rows, (size_t)head.contacts * MF_FILM_CONTACT);
    end = put_floats(end, film->levels, head.levels);
    mail->answer_size = (size_t)(end - mail->answer);
    mail->binary = true;
}

// False: not yet due.
static bool answer_frame(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    const double now = mf_clock_seconds();
    const double since = now - mail->last_frame;
    if (since < (viewer->paused ? IDLE_SECONDS : FRAME_SECONDS) ||
        (!viewer->paused && mf_view_tick(viewer) % viewer->every != 0))
        return false;
    put_frame(viewer, mail, json_is_true(json_object_get(message, "contacts")));
    mail->last_frame = now;
    return true;
}

// ---- what a page wants -------------------------------------------------------------------------

static bool read_number(const json_t *object, const char *name, double *out) {
    const json_t *value = json_object_get(object, name);
    *out = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(*out);
}

static bool read_index(const json_t *object, const char *name, uint32_t *out) {
    double value;
    if (!read_number(object, name, &value) || value < 0.0 || value > 1e9 || value != floor(value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_vector(const json_t *object, const char *name, double out[3]) {
    const json_t *list = json_object_get(object, name);
    for (size_t c = 0; c < 3; c++) {
        const json_t *value = json_array_get(list, c);
        out[c] = json_is_number(value) ? json_number_value(value) : NAN;
        if (!(fabs(out[c]) < 1e6))
            return false;
    }
    return true;
}

static void answer_text(const mf_Viewer *viewer, mf_ViewMail *mail, const char *key,
                        json_t *value) {
    json_t *object = json_pack("{s:o}", key, value);
    const size_t capacity = mf_view_answer_capacity(viewer);
    const size_t size = json_dumpb(object, (char *)mail->answer, capacity, JSON_COMPACT);
    mail->answer_size = size <= capacity ? size : 0;
    mail->binary = false;
    json_decref(object);
}

static void answer_note(const mf_Viewer *viewer, mf_ViewMail *mail, const char *note) {
    if (note != NULL)
        answer_text(viewer, mail, "note", json_string(note));
}

// So many steps back, and paused.
static void do_back(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    uint32_t steps;
    if (!read_index(message, "steps", &steps))
        return;
    if (viewer->driver->back == NULL) {
        answer_note(viewer, mail,
                    "other programs take part in this world, so it has no steps back");
        return;
    }
    viewer->driver->pause(viewer, true);
    viewer->driver->back(viewer, steps);
}

static void do_speed(mf_Viewer *viewer, const json_t *message) {
    double factor;
    if (read_number(message, "factor", &factor) && factor >= 0.0 && factor <= SPEED_MOST)
        viewer->driver->speed(viewer, factor);
}

static void do_every(mf_Viewer *viewer, const json_t *message) {
    uint32_t steps;
    if (viewer->driver->every != NULL && read_index(message, "steps", &steps) && steps > 0)
        viewer->driver->every(viewer, steps);
}

// Answers with an object about a robot that is text already, which is released.
static void answer_object(const mf_Viewer *viewer, mf_ViewMail *mail, const char *key, char *text,
                          uint32_t robot) {
    const size_t capacity = mf_view_answer_capacity(viewer);
    const int size =
        snprintf((char *)mail->answer, capacity, "{\"%s\":%s,\"robot\":%u}", key, text, robot);
    mail->binary = false;
    if (size > 0 && (size_t)size < capacity)
        mail->answer_size = (size_t)size;
    else
        answer_note(viewer, mail, "this robot has too many parts for the panel of this page");
    mf_release(mf_world_context(viewer->scene->world), text);
}

static void do_about(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    uint32_t robot, instance;
    mf_Group *group;
    char *about;
    if (read_index(message, "robot", &robot) &&
        mf_film_robot(viewer->film, robot, &group, &instance) &&
        mf_film_viewer_about(group, instance, &about, NULL) == MF_OK)
        answer_object(viewer, mail, "about", about, robot);
}

static void do_read(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    const json_t *list = json_object_get(message, "fields");
    uint32_t fields[FIELDS_MOST];
    mf_ViewerReading request = {.link = MF_NONE, .fields = json_is_array(list) ? fields : NULL};
    mf_Group *group;
    char *reading;
    if (!read_index(message, "robot", &request.robot) ||
        !mf_film_robot(viewer->film, request.robot, &group, &request.instance))
        return;
    (void)read_index(message, "link", &request.link);
    for (size_t i = 0; i < json_array_size(list) && request.field_count < FIELDS_MOST; i++) {
        const json_int_t number = json_integer_value(json_array_get(list, i));
        if (number >= 0 && number < UINT32_MAX)
            fields[request.field_count++] = (uint32_t)number;
    }
    if (mf_film_viewer_read(group, &request, &reading, NULL) == MF_OK)
        answer_object(viewer, mail, "reading", reading, request.robot);
}

// What was drawn after the change that the page has seen last.
static void do_drawn(const mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    DrawnHead head = {.magic = DRAWN};
    double since;
    if (!read_number(message, "since", &since) || since < 0.0 || since > 1e15)
        return;
    const size_t capacity = mf_view_answer_capacity(viewer) - sizeof head;
    const size_t size = mf_film_drawn(viewer->film, (uint64_t)since, mail->answer + sizeof head,
                                      capacity, &head.last);
    memcpy(mail->answer, &head, sizeof head);
    mail->answer_size = sizeof head + size;
    mail->binary = true;
}

static void do_control(const mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    uint32_t slot;
    double value;
    if (read_index(message, "slot", &slot) && read_number(message, "value", &value) &&
        !mf_control_move(viewer->scene->world, slot, value))
        answer_note(viewer, mail, "the program has taken this control away");
}

// The act of a message on one of the robots that are shown. False: there is no such robot.
static bool read_robot(const mf_Viewer *viewer, const json_t *message, mf_Group **group,
                       mf_Act *act) {
    uint32_t robot;
    if (!read_index(message, "robot", &robot) ||
        !mf_film_robot(viewer->film, robot, group, &act->robot))
        return false;
    for (act->group = 0; mf_world_group(viewer->scene->world, act->group) != *group;)
        act->group++;
    return true;
}

static void do_set(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    mf_Act act = {.kind = MF_ACT_SET};
    mf_Group *group;
    const char *name = json_string_value(json_object_get(message, "field"));
    if (name == NULL || !read_robot(viewer, message, &group, &act) ||
        !read_index(message, "component", &act.part) ||
        !read_number(message, "value", &act.values[0]))
        return;
    act.field = mf_act_field(group, name);
    answer_note(viewer, mail, viewer->driver->act(viewer, &act));
}

static void do_push(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    mf_Act act = {.kind = MF_ACT_PUSH};
    mf_Group *group;
    mail->holds = true;
    if (read_robot(viewer, message, &group, &act) && read_index(message, "link", &act.part) &&
        read_vector(message, "at", act.values) && read_vector(message, "to", act.values + 3))
        answer_note(viewer, mail, viewer->driver->act(viewer, &act));
}

static void do_level(mf_Viewer *viewer, mf_ViewMail *mail, const json_t *message) {
    mf_Act act = {.kind = MF_ACT_LEVEL};
    mf_Group *group;
    mf_Motion motion;
    const char *name = json_string_value(json_object_get(message, "motion"));
    if (name == NULL || !read_robot(viewer, message, &group, &act) ||
        !mf_motion_find(name, &motion))
        return;
    act.part = (uint32_t)motion;
    const char *note = viewer->driver->act(viewer, &act);
    char text[MF_MOTION_NOTE];
    if (note == NULL && mf_motion_note(mf_group_model(group), motion, 0, text))
        note = text; // what it ignores of the robot
    answer_note(viewer, mail, note);
}

static void do_release(mf_Viewer *viewer, mf_ViewMail *mail) {
    mail->holds = false;
    (void)viewer->driver->act(viewer, &(mf_Act){.kind = MF_ACT_RELEASE});
}

// Words that act on the world.
static void act_on_world(mf_Viewer *viewer, mf_ViewMail *mail, const char *name,
                         const json_t *message) {
    if (strcmp(name, "reset") == 0)
        viewer->driver->reset(viewer);
    else if (strcmp(name, "back") == 0)
        do_back(viewer, mail, message);
    else if (strcmp(name, "keep") == 0)
        answer_note(viewer, mail, viewer->driver->keep(viewer));
    else if (strcmp(name, "return") == 0)
        answer_note(viewer, mail, viewer->driver->give_back(viewer));
    else if (strcmp(name, "set") == 0)
        do_set(viewer, mail, message);
    else if (strcmp(name, "push") == 0)
        do_push(viewer, mail, message);
    else if (strcmp(name, "release") == 0)
        do_release(viewer, mail);
    else if (strcmp(name, "level") == 0)
        do_level(viewer, mail, message);
}

static bool act(mf_Viewer *viewer, mf_ViewMail *mail, const char *name, const json_t *message) {
    if (strcmp(name, "next") == 0)
        return answer_frame(viewer, mail, message);
    if (strcmp(name, "pause") == 0 || strcmp(name, "run") == 0)
        viewer->driver->pause(viewer, name[0] == 'p');
    else if (strcmp(name, "step") == 0) {
        viewer->driver->pause(viewer, true);
        answer_note(viewer, mail, viewer->driver->step(viewer));
    } else if (strcmp(name, "speed") == 0)
        do_speed(viewer, message);
    else if (strcmp(name, "every") == 0)
        do_every(viewer, message);
    else if (strcmp(name, "read") == 0)
        do_read(viewer, mail, message);
    else if (strcmp(name, "about") == 0)
        do_about(viewer, mail, message);
    else if (strcmp(name, "drawn") == 0)
        do_drawn(viewer, mail, message);
    else if (strcmp(name, "control") == 0)
        do_control(viewer, mail, message);
    else
        act_on_world(viewer, mail, name, message);
    return true;
}

void mf_view_answer(mf_ViewMail *mail, void *user) {
    json_t *message = json_loadb(mail->message, mail->size, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(message, "do"));
    mail->done = name == NULL || act(user, mail, name, message);
    json_decref(message);
}
