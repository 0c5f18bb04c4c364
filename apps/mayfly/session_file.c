// A session in a file: one JSON object per line. The first tells the world, each further one what
// was done and before which step ("at"):
//
//   {"mayfly":"session","version":1,"scene":"scenes/soccer.yaml","step":1000000,"levels":true,
//    "start":"0123456789abcdef"}
//   {"at":120,"do":"push","group":"blue","robot":2,"link":4,"point":[x,y,z],"to":[x,y,z]}
//   {"at":180,"do":"release"}
//   {"at":200,"do":"set","group":"blue","robot":2,"field":"joint.target","component":3,"value":0.5}
//   {"at":200,"do":"level","group":"blue","robot":2,"motion":"rigid"}
//   {"at":900,"do":"back","to":850}     the acts since step 850 are undone
//   {"at":900,"do":"reset"}             all of them
//   {"at":900,"do":"keep"}, {"at":990,"do":"return"}
//   {"at":990,"do":"end","hash":"0123456789abcdef"}
//
// Steps are counted from the start of the world, so that "at" goes back with it. Read again, the
// lines are the acts that led to the last state. A file without an end is one of a run that was
// killed.
#include "session.h"
#include "scene/scene_file.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define VERSION 1
#define FILE_MOST ((size_t)1 << 30)   // [byte]
#define STEPS_MOST 9007199254740992.0 // [1] 2^53: each is a number of JSON

// ---- writing -----------------------------------------------------------------------------------

static void put_line(mf_Session *session, json_t *object) {
    char *line = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (line != NULL)
        fprintf(session->file, "%s\n", line);
    fflush(session->file); // a run that is killed leaves what was done until then
    free(line);
    json_decref(object);
}

static json_t *vector(const double values[3]) {
    return json_pack("[f, f, f]", values[0], values[1], values[2]);
}

static json_t *pack_act(const mf_Session *session, const mf_Act *act) {
    json_t *out = json_pack("{s:I}", "at", (json_int_t)act->step);
    if (act->kind == MF_ACT_RELEASE) {
        json_object_set_new(out, "do", json_string("release"));
        return out;
    }
    static const char *const names[] = {"push", "", "set", "level"};
    mf_Group *group = mf_world_group(session->scene->world, act->group);
    json_object_set_new(out, "do", json_string(names[act->kind]));
    json_object_set_new(out, "group", json_string(mf_group_config_of(group)->name));
    json_object_set_new(out, "robot", json_integer(act->robot));
    if (act->kind == MF_ACT_PUSH) {
        json_object_set_new(out, "link", json_integer(act->part));
        json_object_set_new(out, "point", vector(act->values));
        json_object_set_new(out, "to", vector(act->values + 3));
    } else if (act->kind == MF_ACT_SET) {
        const char *name = mf_group_field(group, act->field)->info.name;
        json_object_set_new(out, "field", json_string(name));
        json_object_set_new(out, "component", json_integer(act->part));
        json_object_set_new(out, "value", json_real(act->values[0]));
    } else
        json_object_set_new(out, "motion", json_string(mf_motion_name((mf_Motion)act->part)));
    return out;
}

void mf_session_write(mf_Session *session, const char *name, const mf_Act *act, uint64_t to) {
    if (session->file == NULL)
        return;
    if (act != NULL) {
        put_line(session, pack_act(session, act));
        return;
    }
    json_t *line = json_pack("{s:I, s:s}", "at", (json_int_t)session->step, "do", name);
    if (strcmp(name, "back") == 0)
        json_object_set_new(line, "to", json_integer((json_int_t)to));
    if (strcmp(name, "end") == 0)
        json_object_set_new(line, "hash", mf_app_hash(mf_world_hash(session->scene->world)));
    put_line(session, line);
}

mf_Status mf_session_record(mf_Session *session, const char *path, const char *name,
                            mf_Error *error) {
    session->file = fopen(path, "w");
    if (session->file == NULL)
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "cannot write: %s", strerror(errno));
    put_line(session, json_pack("{s:s, s:i, s:s, s:I, s:b, s:o}", "mayfly", "session", "version",
                                VERSION, "scene", name, "step", (json_int_t)session->scene->step,
                                "levels", (int)session->scene->levels, "start",
                                mf_app_hash(mf_world_hash(session->scene->world))));
    // What was loaded is still to be done: as if somebody had gone back to the start.
    for (uint32_t i = 0; i < session->timeline.count; i++)
        put_line(session, pack_act(session, &session->timeline.acts[i]));
    if (session->timeline.count > 0)
        put_line(session,
                 json_pack("{s:I, s:s, s:i}", "at",
                           (json_int_t)session->timeline.acts[session->timeline.count - 1].step,
                           "do", "back", "to", 0));
    return MF_OK;
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct Reader {
    mf_Session *session;
    mf_SessionFile *file;
    mf_Error *error;
    int32_t line;         // [1]
    const json_t *object; // of the line
    uint64_t at;          // [1] its step
} Reader;

static mf_Status expected(const Reader *reader, const char *what) {
    return mf_fail_at(reader->error, MF_BAD_FILE, reader->file->path, reader->line, 0,
                      "expected %s", what);
}

static bool read_count(const json_t *object, const char *name, double most, uint64_t *out) {
    const json_t *value = json_object_get(object, name);
    const double number = json_is_integer(value) ? (double)json_integer_value(value) : -1.0;
    if (!(number >= 0.0 && number <= most))
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool read_u32(const json_t *object, const char *name, uint32_t *out) {
    uint64_t value;
    if (!read_count(object, name, 4294967294.0, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_hash(const json_t *object, const char *name, uint64_t *out) {
    const char *text = json_string_value(json_object_get(object, name));
    char *end = NULL;
    if (text == NULL || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *out = strtoull(text, &end, 16);
    return true;
}

static bool read_vector(const json_t *object, const char *name, double out[3]) {
    const json_t *list = json_object_get(object, name);
    for (size_t c = 0; c < 3; c++) {
        const json_t *value = json_array_get(list, c);
        out[c] = json_is_number(value) ? json_number_value(value) : NAN;
        if (!isfinite(out[c]))
            return false;
    }
    return json_array_size(list) == 3;
}

static mf_Status read_push(Reader *reader, mf_Act *act) {
    return read_u32(reader->object, "link", &act->part) &&
                   read_vector(reader->object, "point", act->values) &&
                   read_vector(reader->object, "to", act->values + 3)
               ? MF_OK
               : expected(reader, "the members link, point and to of a push");
}

static mf_Status read_set(Reader *reader, mf_Group *group, mf_Act *act) {
    const char *name = json_string_value(json_object_get(reader->object, "field"));
    const json_t *value = json_object_get(reader->object, "value");
    act->field = name != NULL ? mf_act_field(group, name) : MF_NONE;
    if (act->field == MF_NONE)
        return expected(reader, "the name of a field of the group");
    act->values[0] = json_number_value(value);
    return json_is_number(value) && read_u32(reader->object, "component", &act->part)
               ? MF_OK
               : expected(reader, "the members component and value");
}

static mf_Status read_level(Reader *reader, mf_Act *act) {
    const char *name = json_string_value(json_object_get(reader->object, "motion"));
    mf_Motion motion;
    if (name == NULL || !mf_motion_find(name, &motion))
        return expected(reader, "the name of a motion");
    act->part = (uint32_t)motion;
    return MF_OK;
}

static mf_Status read_act(Reader *reader, mf_ActKind kind) {
    mf_World *world = reader->session->scene->world;
    mf_Act act = {.step = reader->at, .kind = kind};
    mf_Status status = MF_OK;
    const char *name = json_string_value(json_object_get(reader->object, "group"));
    if (kind != MF_ACT_RELEASE) {
        act.group = mf_scene_file_group(reader->session->scene->file, name);
        if (act.group == MF_NONE)
            return expected(reader, "the name of a group of the scene");
        mf_Group *group = mf_world_group(world, act.group);
        if (!read_u32(reader->object, "robot", &act.robot) || act.robot >= mf_group_count(group))
            return expected(reader, "the number of a robot of the group");
        status = kind == MF_ACT_PUSH  ? read_push(reader, &act)
                 : kind == MF_ACT_SET ? read_set(reader, group, &act)
                                      : read_level(reader, &act);
    }
    if (status == MF_OK && !mf_timeline_add(&reader->session->timeline, &act))
        status = mf_fail(reader->error, MF_NO_MEMORY, "%s: out of memory", reader->file->path);
    return status;
}

static mf_Status read_back(Reader *reader) {
    mf_Timeline *timeline = &reader->session->timeline;
    uint64_t to;
    if (!read_count(reader->object, "to", STEPS_MOST, &to))
        return expected(reader, "the step to which it went back");
    timeline->next = mf_timeline_before(timeline, to);
    reader->file->steps = to;
    return MF_OK;
}

// A line after the first. Acts behind the cursor, which the world did again on its way, are before
// the step of the line.
static mf_Status read_line(Reader *reader) {
    static const char *const acts[] = {"push", "release", "set", "level"};
    mf_Timeline *timeline = &reader->session->timeline;
    const char *name = json_string_value(json_object_get(reader->object, "do"));
    if (name == NULL || !read_count(reader->object, "at", STEPS_MOST, &reader->at))
        return expected(reader, "an object with the members at and do");
    while (timeline->next < timeline->count && timeline->acts[timeline->next].step < reader->at)
        timeline->next++;
    if (timeline->next > 0 && timeline->acts[timeline->next - 1].step > reader->at)
        return expected(reader, "a step that is not before that of the line above");
    reader->file->steps = reader->at;
    for (int kind = 0; kind < 4; kind++)
        if (strcmp(name, acts[kind]) == 0)
            return read_act(reader, (mf_ActKind)kind);
    if (strcmp(name, "back") == 0)
        return read_back(reader);
    if (strcmp(name, "end") == 0) {
        reader->file->ended = read_hash(reader->object, "hash", &reader->file->end);
        return reader->file->ended ? MF_OK : expected(reader, "the hash of the last state");
    }
    if (strcmp(name, "reset") == 0) {
        timeline->count = timeline->next = 0;
        reader->file->steps = 0;
    } else if (strcmp(name, "keep") == 0) {
        MF_NEED_MEMORY(mf_timeline_keep(timeline, reader->at), reader->error, reader->file->path);
    } else if (strcmp(name, "return") == 0) {
        if (!mf_timeline_return(timeline))
            return expected(reader, "a line keep before the line return");
        reader->file->steps = timeline->kept_step;
    } else
        return expected(reader, "push, release, set, level, back, reset, keep, return or end");
    return MF_OK;
}

// The text of the next line; NULL after the last.
static const char *next_line(const mf_SessionFile *file, const char *at, size_t *size) {
    if (at >= file->text + file->size)
        return NULL;
    const char *end = memchr(at, '\n', (size_t)(file->text + file->size - at));
    *size = (size_t)((end != NULL ? end : file->text + file->size) - at);
    return at;
}

mf_Status mf_session_file_read(mf_Context *context, const char *path, mf_SessionFile *out,
                               mf_Error *error) {
    *out = (mf_SessionFile){.context = context, .path = path};
    MF_TRY(mf_file_read(context, path, FILE_MOST, &out->text, &out->size, error));
    mf_Status status = MF_OK;
    size_t size = 0;
    uint64_t version = 0;
    const char *line = next_line(out, out->text, &size);
    json_t *head = line != NULL ? json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *kind = json_string_value(json_object_get(head, "mayfly"));
    if (kind == NULL || strcmp(kind, "session") != 0)
        status = mf_fail_at(error, MF_BAD_FILE, path, 1, 0,
                            "expected a session, as mayfly view --record-session FILE writes it");
    else if (!read_count(head, "version", 1e9, &version) || version != VERSION)
        status =
            mf_fail_at(error, MF_VERSION, path, 1, 0, "expected a session of version %d", VERSION);
    else if (!read_hash(head, "start", &out->start) ||
             !read_count(head, "step", STEPS_MOST, &out->step))
        status = mf_fail_at(error, MF_BAD_FILE, path, 1, 0, "expected the members start and step");
    out->levels = json_is_true(json_object_get(head, "levels"));
    json_decref(head);
    if (status != MF_OK)
        mf_session_file_free(out);
    return status;
}

void mf_session_file_free(mf_SessionFile *file) {
    if (file->context != NULL)
        mf_release(file->context, file->text);
    *file = (mf_SessionFile){.context = file->context};
}

// A last line that a killed run could not finish does not count.
static mf_Status load_line(Reader *reader, const char *line, size_t size) {
    const bool whole = line + size < reader->file->text + reader->file->size;
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    mf_Status status = MF_OK;
    reader->object = object;
    if (!json_is_object(object))
        status = whole ? expected(reader, "a JSON object") : MF_OK;
    else
        status = read_line(reader);
    json_decref(object);
    return status;
}

mf_Status mf_session_load(mf_Session *session, mf_SessionFile *file, mf_Error *error) {
    Reader reader = {.session = session, .file = file, .error = error, .line = 1};
    if (file->step != (uint64_t)session->scene->step ||
        file->start != mf_world_hash(session->scene->world))
        return mf_fail_at(error, MF_BAD_ARGUMENT, file->path, 1, 0,
                          "expected a session of this scene with these options: another world was "
                          "recorded");
    size_t size = 0;
    mf_Status status = MF_OK;
    const char *line = next_line(file, file->text, &size);
    while (status == MF_OK && (line = next_line(file, line + size + 1, &size)) != NULL) {
        reader.line++;
        status = load_line(&reader, line, size);
    }
    session->timeline.count = session->timeline.next; // those behind it are not done again
    session->timeline.next = 0;
    return status;
}
