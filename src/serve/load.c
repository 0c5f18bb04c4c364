// The services LOAD and SPAWN: another world instead of the served one, and robots that join it.
//
// The new world is made whole beside the old one, with everything that the server keeps about it;
// only then, when nothing can fail any more, it takes the old one's place. What a client names is a
// file below the folder of files (mf_ServerConfig.files), links resolved. The scene of a message is
// read with a guard: files that it names, and files that those name, must be below that folder, and
// it may have no plugins.
#define _GNU_SOURCE // realpath
#include "base/context.h"
#include "base/file.h"
#include "serve/peer.h"
#include "visual/draw.h"
#include "scene/extend.h"
#include "scene/scene_file.h"
#include "scene/watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_MOST 1024u                 // [byte] of a client's path
#define ROBOTS_MOST (UINT32_C(1) << 20) // [1] of a world that clients make
#define SPAWN_MOST 65536u               // [1] robots of a message

_Static_assert(sizeof(mf_SpawnRequest) + SPAWN_MOST * sizeof(mf_SpawnPosePart) + 2 * PATH_MOST <
                   MF_LINK_MESSAGE,
               "they must fit");

// What the server's worlds were made of, newest first; the configuration's scene is none of them.
struct mf_LinkMade {
    mf_Scene *scene;    // NULL: a newer one took its place
    mf_SceneFile *file; // of LOAD, or of the robots of SPAWN; NULL: none
    mf_SceneExtension *extension;
    bool guarded; // the scene came in a message
    mf_LinkMade *before;
};

// ---- files -------------------------------------------------------------------------------------

// Whether a file that exists is below a folder, both with their links resolved.
static bool is_below(const char *folder, const char *path) {
    char root[PATH_MAX], real[PATH_MAX];
    if (realpath(folder, root) == NULL || realpath(path, real) == NULL)
        return false;
    const size_t length = strlen(root);
    return strncmp(real, root, length) == 0 &&
           (real[length] == '/' || (length > 0 && root[length - 1] == '/'));
}

static bool may_read(const char *path, void *folder) {
    return is_below(folder, path);
}

// Whether it is relative, one line, and never goes up.
static bool is_inside(const char *path) {
    for (const char *at = path; *at != '\0';) {
        const size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.')
            return false;
        for (size_t i = 0; i < length; i++)
            if ((uint8_t)at[i] < 32 || at[i] == 127)
                return false;
        at += length;
        at += *at == '/';
    }
    return path[0] != '/' && path[0] != '\0';
}

static mf_Status locate(const mf_Server *server, const char *text, size_t size, char out[PATH_MAX],
                        mf_Error *error) {
    char name[PATH_MOST];
    const char *folder = server->config.files;
    MF_CHECK(folder != NULL, error, MF_UNSUPPORTED, "this server gives no files");
    if (size >= sizeof name || memchr(text, '\0', size) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a path of less than %u bytes", PATH_MOST);
    memcpy(name, text, size);
    name[size] = '\0';
    MF_NEED(is_inside(name), error,
            "expected a path below the server's folder of files, without ..");
    const int length = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (length < 0 || length >= PATH_MAX || !is_below(folder, out))
        return mf_fail(error, MF_NOT_FOUND, "there is no file %.160s below the server's folder",
                       name);
    return MF_OK;
}

// From now on only files below the folder may be read, and no plugin loaded. Returns whether
// plugins were allowed, for end_guard.
static bool begin_guard(const mf_Server *server, bool guarded) {
    if (!guarded)
        return false;
    mf_file_guard(server->context, may_read, (void *)(uintptr_t)server->config.files);
    return atomic_exchange(&server->context->plugins_allowed, false);
}

static void end_guard(const mf_Server *server, bool guarded, bool allowed) {
    if (!guarded)
        return;
    mf_file_guard(server->context, NULL, NULL);
    atomic_store(&server->context->plugins_allowed, allowed);
}

// An error of a file as a client may see it: its place in one line, without the server's folder. No
// error from here on is one of the message's form, which would end the connection.
static mf_Status tell(const mf_Server *server, mf_Status status, mf_Error *error) {
    mf_Error own = *error;
    const size_t length = server->config.files != NULL ? strlen(server->config.files) : 0;
    if (status == MF_OK)
        return MF_OK;
    if (length > 0 && strncmp(own.file, server->config.files, length) == 0 &&
        own.file[length] == '/')
        memmove(own.file, own.file + length + 1, strlen(own.file + length));
    mf_error_format(&own, error->message, sizeof error->message);
    error->status = own.status == MF_BAD_FILE ? MF_BAD_ARGUMENT : own.status;
    return error->status;
}

// ---- what was made -----------------------------------------------------------------------------

static void drop_scene(const mf_Server *server, mf_LinkMade *made) {
    if (made->scene == NULL)
        return;
    mf_scene_destroy(made->scene);
    mf_release(server->context, made->scene);
    made->scene = NULL;
}

static void drop_made(const mf_Server *server, mf_LinkMade *made) {
    while (made != NULL) {
        mf_LinkMade *before = made->before;
        drop_scene(server, made);
        mf_scene_extension_destroy(made->extension);
        mf_scene_file_destroy(made->file);
        mf_release(server->context, made);
        made = before;
    }
}

void mf_link_drop_made(mf_Server *server) {
    drop_made(server, server->made);
    server->made = NULL;
}

// ---- the new world takes the place -------------------------------------------------------------

// What the server keeps about a world, made for the next one.
typedef struct Next {
    mf_Server view;     // of its fields, cameras and fault words
    mf_Watch **watches; // [peer_count] NULL where a connection has none
} Next;

static void drop_next(mf_Server *server, Next *next) {
    for (uint32_t p = 0; next->watches != NULL && p < server->peer_count; p++)
        mf_watch_destroy(next->watches[p]);
    mf_release(server->context, next->watches);
    mf_link_drop_eyes(&next->view);
    mf_release(server->context, next->view.words);
    mf_release(server->context, next->view.fields);
}

static mf_Status make_next(mf_Server *server, mf_Scene *scene, Next *next, mf_Error *error) {
    next->view = *server;
    next->view.scene = scene;
    next->view.world = scene->world;
    next->view.fields = NULL;
    next->view.eyes = NULL;
    next->view.words = NULL;
    next->view.field_count = next->view.eye_count = 0;
    next->watches = mf_allocate(server->context, server->peer_count + 1, sizeof(mf_Watch *));
    MF_NEED_MEMORY(next->watches != NULL, error, "serve");
    MF_TRY(mf_link_find_eyes(&next->view, error));
    MF_TRY(mf_link_list_fields(&next->view, error));
    if (server->words != NULL)
        MF_TRY(mf_link_begin_watch(&next->view, error));
    for (uint32_t p = 0; p < server->peer_count; p++)
        if (server->peers[p].socket >= 0 && server->peers[p].watch != NULL)
            MF_TRY(mf_watch_create(scene, &next->watches[p], error));
    return MF_OK;
}

// [1] the number that a field has in the next world, by group and name.
static uint32_t next_number(const mf_Server *server, const mf_Server *next, uint32_t number) {
    const mf_LinkField *field = &server->fields[number];
    for (uint32_t f = number; f < next->field_count; f++) // fields are only added
        if (next->fields[f].group_number == field->group_number &&
            strcmp(next->fields[f].field->info.name, field->field->info.name) == 0)
            return f;
    return UINT32_MAX;
}

static bool is_renumbered(const mf_Server *server, const mf_Server *next) {
    for (uint32_t f = 0; f < server->field_count; f++)
        if (next_number(server, next, f) != f)
            return true;
    return false;
}

static void renew_subscriptions(mf_Server *server, const mf_Server *next, mf_Peer *peer,
                                bool loaded) {
    for (uint32_t i = 0; i < peer->used; i++) {
        mf_Subscription *subscription = &peer->subscriptions[i];
        bool ends = loaded;
        for (uint32_t e = 0; !ends && e < subscription->entry_count; e++) {
            mf_EntryPart *entry = &subscription->entries[e];
            entry->field = next_number(server, next, entry->field);
            ends = entry->field == UINT32_MAX;
        }
        if (ends)
            mf_peer_drop_subscription(server, subscription);
    }
}

static void renew_peer(mf_Server *server, Next *next, uint32_t p, bool loaded, bool renumbered) {
    mf_Peer *peer = &server->peers[p];
    if (peer->socket < 0)
        return;
    renew_subscriptions(server, &next->view, peer, loaded);
    mf_link_drop_properties(server, peer);
    peer->property_count = 0;
    mf_watch_destroy(peer->watch);
    peer->watch = next->watches[p];
    next->watches[p] = NULL;
    peer->renewed = true;
    peer->stale = peer->stale || loaded || renumbered;
}

// Nothing can fail from here on. `began` [s] of the clock: the work on it.
static void take(mf_Server *server, Next *next, mf_LinkMade *made, bool loaded, double began) {
    const bool renumbered = !loaded && is_renumbered(server, &next->view);
    const size_t limit = server->message_limit;
    for (uint32_t p = 0; p < server->peer_count; p++)
        renew_peer(server, next, p, loaded, renumbered);
    mf_Server old = *server;
    server->scene = next->view.scene;
    server->world = next->view.world;
    server->fields = next->view.fields;
    server->field_count = next->view.field_count;
    server->eyes = next->view.eyes;
    server->eye_count = next->view.eye_count;
    server->words = next->view.words;
    // What clients know of it stays true.
    server->message_limit = next->view.message_limit > limit ? next->view.message_limit : limit;
    next->view = old; // what is dropped now
    drop_next(server, next);
    if (old.made != NULL)
        drop_scene(server, old.made);
    else
        mf_scene_destroy(old.scene);
    if (loaded)
        drop_made(server, old.made);
    made->before = loaded ? NULL : old.made;
    server->made = made;
    if (loaded) {
        mf_link_due_now(server);
        server->is_loaded = true;
        server->stopped = false;
    }
    const double spent = mf_clock_seconds() - began;
    for (uint32_t p = 0; p < server->peer_count; p++)
        server->peers[p].deadline += spent;
    mf_link_restart_clock(server);
    mf_link_event(server, MF_EVENT_WORLD, mf_world_group_count(server->world), server->field_count,
                  loaded       ? MF_WORLD_LOADED
                  : renumbered ? MF_WORLD_RENUMBERED
                               : MF_WORLD_JOINED);
}

// `made` is taken over, or dropped after a failure.
static mf_Status replace(mf_Server *server, mf_LinkMade *made, bool loaded, double began,
                         mf_Error *error) {
    Next next = {.watches = NULL};
    mf_Status status = make_next(server, made->scene, &next, error);
    if (status == MF_OK && server->config.accept != NULL)
        status = server->config.accept(server->config.user, made->scene, loaded, error);
    MF_THEN(status, mf_draw_hand_over(server->world, made->scene->world, !loaded, error));
    if (status == MF_OK) {
        take(server, &next, made, loaded, began);
        return MF_OK;
    }
    drop_next(server, &next);
    return status;
}

static mf_Status check_server(const mf_Server *server, mf_Error *error) {
    if (server->config.led)
        return mf_fail(error, MF_UNSUPPORTED, "mayfly run has one world, without LOAD and SPAWN");
    MF_CHECK(server->config.sample == NULL, error, MF_UNSUPPORTED,
             "the world is recorded: the columns of a recording are fixed");
    MF_CHECK(server->steps_asked == 0, error, MF_BUSY,
             "steps that were asked for are not done yet");
    return MF_OK;
}

// ---- LOAD --------------------------------------------------------------------------------------

static mf_Status read_scene(const mf_Server *server, mf_LinkMade *made, const char *text,
                            size_t size, mf_Error *error) {
    char path[PATH_MAX];
    mf_Context *context = server->context;
    if (!made->guarded) {
        MF_TRY(locate(server, text, size, path, error));
        return mf_scene_file_load(context, path, NULL, 0, &made->file, error);
    }
    MF_CHECK(server->config.files != NULL, error, MF_UNSUPPORTED, "this server gives no files");
    const int length = snprintf(path, sizeof path, "%s/sent.yaml", server->config.files);
    if (length < 0 || (size_t)length >= sizeof path)
        return mf_fail(error, MF_LIMIT, "the path of the server's folder is too long");
    return mf_scene_file_parse(context, path, text, size, NULL, 0, &made->file, error);
}

static mf_Status make_scene(const mf_Server *server, mf_LinkMade *made, mf_Error *error) {
    const uint64_t robots = mf_scene_file_count(made->file);
    if (robots > ROBOTS_MOST)
        return mf_fail(error, MF_LIMIT, "expected a scene of at most %u robots, found %llu",
                       ROBOTS_MOST, (unsigned long long)robots);
    mf_Scene *scene = mf_allocate(server->context, 1, sizeof *scene);
    MF_NEED_MEMORY(scene != NULL, error, "serve");
    made->scene = scene;
    return mf_scene_create(server->context, made->file, NULL, scene, error);
}

mf_Status mf_answer_load(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    const double began = mf_clock_seconds();
    const mf_LoadRequest *in = message->data;
    const char *text = (const char *)(in + 1);
    const size_t size = message->size - sizeof *in;
    const bool guarded = in->what == MF_LOAD_SCENE;
    (void)peer;
    if (size == 0)
        return mf_link_fail_format(error, "a path or a scene");
    MF_TRY(check_server(server, error));
    if (server->has_bridges)
        return mf_fail(error, MF_UNSUPPORTED, "the world has bridges, which keep its robots");
    mf_LinkMade *made = mf_allocate(server->context, 1, sizeof *made);
    MF_NEED_MEMORY(made != NULL, error, "serve");
    made->guarded = guarded;
    const bool allowed = begin_guard(server, guarded);
    mf_Status status = read_scene(server, made, text, size, error);
    MF_THEN(status, make_scene(server, made, error));
    MF_THEN(status, replace(server, made, true, began, error));
    end_guard(server, guarded, allowed);
    if (status != MF_OK)
        drop_made(server, made);
    return tell(server, status, error);
}

// ---- SPAWN -------------------------------------------------------------------------------------

typedef struct Spawn {
    mf_SceneJoin join;
    const void *poses;
    const char *source; // a path or a group's name
    uint32_t source_size, what;
    char name[128]; // of the new group
} Spawn;

static mf_Status read_spawn(const mf_WireMessage *message, Spawn *out, mf_Error *error) {
    const mf_SpawnRequest *in = message->data;
    const size_t poses = in->count * sizeof *out->join.poses;
    mf_WireReader tail = mf_wire_tail(message);
    MF_CHECK(in->count >= 1, error, MF_LIMIT, "expected 1 .. %u robots, found 0", SPAWN_MOST);
    if (mf_wire_left(&tail) != poses + in->source_size + in->name_size)
        return mf_link_fail_format(error, "as many poses and texts as it says");
    out->join.height = in->height;
    out->join.count = in->count;
    out->what = in->what;
    out->source_size = in->source_size;
    out->poses = mf_wire_take(&tail, poses);
    out->source = mf_wire_take(&tail, in->source_size);
    if (in->name_size >= sizeof out->name)
        return mf_fail(error, MF_LIMIT, "expected a name of less than %zu bytes", sizeof out->name);
    memcpy(out->name, tail.at, in->name_size);
    out->name[in->name_size] = '\0';
    out->join.name = out->name;
    return MF_OK;
}

static const mf_SceneGroup *find_group(const mf_Scene *scene, const char *name, size_t size) {
    const mf_SceneFile *file = scene->file;
    for (uint32_t g = 0; g < file->group_count; g++)
        if (strlen(file->groups[g].name) == size && memcmp(file->groups[g].name, name, size) == 0)
            return &file->groups[g];
    return NULL;
}

// The settings of the new group, from another one or from a robot's file.
static mf_Status find_like(const mf_Server *server, Spawn *spawn, mf_LinkMade *made,
                           mf_Error *error) {
    char path[PATH_MAX];
    if (spawn->what == MF_SPAWN_GROUP) {
        spawn->join.like = find_group(server->scene, spawn->source, spawn->source_size);
        const int shown = spawn->source_size < 99 ? (int)spawn->source_size : 99;
        return spawn->join.like != NULL
                   ? MF_OK
                   : mf_fail(error, MF_NOT_FOUND, "there is no group %.*s", shown, spawn->source);
    }
    MF_TRY(locate(server, spawn->source, spawn->source_size, path, error));
    MF_TRY(mf_scene_file_of_robot(server->context, path, &made->file, error));
    spawn->join.like = &made->file->groups[0];
    spawn->join.alone = true;
    return MF_OK;
}

static mf_Status make_joined(mf_Server *server, Spawn *spawn, mf_LinkMade *made, mf_Error *error) {
    const size_t size = spawn->join.count * sizeof *spawn->join.poses;
    uint64_t robots = spawn->join.count;
    for (uint32_t g = 0; g < mf_world_group_count(server->world); g++)
        robots += mf_group_count(mf_world_group(server->world, g));
    if (robots > ROBOTS_MOST)
        return mf_fail(error, MF_LIMIT, "expected a world of at most %u robots", ROBOTS_MOST);
    double(*copy)[3] = mf_allocate(server->context, spawn->join.count, sizeof *copy); // aligned
    MF_NEED_MEMORY(copy != NULL, error, "serve");
    memcpy(copy, spawn->poses, size);
    spawn->join.poses = (const double(*)[3])copy;
    mf_Status status = find_like(server, spawn, made, error);
    MF_THEN(status,
            mf_scene_extend(server->scene, &spawn->join, &made->extension, &made->scene, error));
    mf_release(server->context, copy);
    return status;
}

mf_Status mf_answer_spawn(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const double began = mf_clock_seconds();
    Spawn spawn = {.what = 0};
    (void)peer;
    MF_TRY(read_spawn(message, &spawn, error));
    MF_TRY(check_server(server, error));
    mf_LinkMade *made = mf_allocate(server->context, 1, sizeof *made);
    MF_NEED_MEMORY(made != NULL, error, "serve");
    const bool guarded = server->made != NULL && server->made->guarded;
    const bool allowed = begin_guard(server, guarded);
    made->guarded = guarded;
    mf_Status status = make_joined(server, &spawn, made, error);
    MF_THEN(status, replace(server, made, false, began, error));
    end_guard(server, guarded, allowed);
    if (status != MF_OK)
        drop_made(server, made);
    return tell(server, status, error);
}
