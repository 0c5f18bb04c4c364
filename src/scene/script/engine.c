// One script: a state of Lua with limits.
//
// Memory is counted by Lua's allocator. Instructions are counted by a hook every 1,000, to which
// new memory and the loops of our own functions are added, so that no short program can make a long
// call. What exceeds a limit ends the run: it passes through pcall (sandbox.c). Nothing that a
// script can see depends on addresses, clocks or the order of a hash table.
#include "base/file.h"
#include "base/memory.h"
#include "scene/builder.h"
#include "scene/script/engine.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define HOOK_STEPS 1000                       // [1] instructions between two calls of the hook
#define WALL_LIMIT (INT64_C(60) * 1000000000) // [ns] of one call; the last resort
#define MESSAGE 400                           // [byte] of an error of Lua

mf_Script *mf_script_of(lua_State *lua) {
    return *(mf_Script **)lua_getextraspace(lua);
}

// ---- limits -------------------------------------------------------------------------------------

// Lua's allocator: shrinking and releasing never fail.
static void *allocate(void *user, void *block, size_t before, size_t size) {
    mf_Script *script = user;
    before = block == NULL ? 0 : before;
    if (size == 0) {
        script->used -= before;
        free(block);
        return NULL;
    }
    if (size > before) {
        if (size - before > script->limit - script->used) {
            script->end = script->end != MF_SCRIPT_GOES_ON ? script->end : MF_SCRIPT_OUT_OF_MEMORY;
            return NULL;
        }
        script->spent += (size - before) / MF_SCRIPT_CHARGE;
        // The message of what has ended already may be made.
        if (script->spent > script->budget && script->end == MF_SCRIPT_GOES_ON) {
            script->end = MF_SCRIPT_OUT_OF_BUDGET;
            return NULL;
        }
    }
    void *moved = realloc(block, size);
    if (moved != NULL)
        script->used += size - before;
    return moved;
}

static void check_limits(lua_State *lua, mf_Script *script) {
    if (script->spent > script->budget)
        script->end = MF_SCRIPT_OUT_OF_BUDGET;
    else if (mf_clock_now() - script->begun > WALL_LIMIT)
        script->end = MF_SCRIPT_OUT_OF_TIME;
    if (script->end != MF_SCRIPT_GOES_ON)
        luaL_error(lua, "limit");
}

static void count_steps(lua_State *lua, lua_Debug *record) {
    (void)record;
    mf_Script *script = mf_script_of(lua);
    script->spent += HOOK_STEPS;
    check_limits(lua, script);
}

void mf_script_charge(mf_Script *script, uint64_t count) {
    script->spent += count < script->budget ? count : script->budget + 1;
    if (script->spent > script->budget)
        check_limits(script->lua, script);
}

// ---- errors -------------------------------------------------------------------------------------

int mf_script_raise(lua_State *lua, const mf_Error *error) {
    return luaL_error(lua, "%s", error->message);
}

// The message after "chunk:LINE: "; the line is that of the innermost own function where the
// message has none.
static const char *split(const mf_Script *script, const char *text, int *line) {
    const size_t length = strlen(script->chunk);
    *line = script->line;
    if (strncmp(text, script->chunk, length) != 0 || text[length] != ':')
        return text;
    char *end;
    const long found = strtol(text + length + 1, &end, 10);
    if (end == text + length + 1 || end[0] != ':' || end[1] != ' ')
        return text;
    *line = (int)found;
    return end + 2;
}

// Message handler: where it happened, while the stack is still there.
static int note_line(lua_State *lua) {
    mf_Script *script = mf_script_of(lua);
    lua_Debug record;
    script->line = 0;
    for (int level = 0; script->line == 0 && lua_getstack(lua, level, &record); level++)
        if (lua_getinfo(lua, "Sl", &record) && strcmp(record.short_src, script->chunk) == 0 &&
            record.currentline > 0)
            script->line = record.currentline;
    return 1;
}

static mf_Status fail(mf_Script *script, const char *what, mf_Error *error) {
    lua_State *lua = script->lua;
    const mf_SceneScript *from = script->from;
    const char *file = from->path != NULL ? from->path : script->all->scene.file->file;
    char found[MESSAGE];
    const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;
    if (text != NULL)
        snprintf(found, sizeof found, "%s", text);
    else
        snprintf(found, sizeof found, "the error is a %s, expected text", luaL_typename(lua, -1));
    int line;
    const char *message = split(script, found, &line);
    lua_settop(lua, 0);
    if (script->end == MF_SCRIPT_OUT_OF_BUDGET)
        return mf_fail_at(error, MF_LIMIT, file, line, 0,
                          "script %.80s: %s: more than its budget of %u instructions", from->name,
                          what, from->budget);
    if (script->end == MF_SCRIPT_OUT_OF_MEMORY)
        return mf_fail_at(error, MF_LIMIT, file, line, 0,
                          "script %.80s: %s: more than its memory of %u MiB", from->name, what,
                          from->memory);
    if (script->end == MF_SCRIPT_OUT_OF_TIME)
        return mf_fail_at(error, MF_LIMIT, file, line, 0,
                          "script %.80s: %s: more than 60 s of real time in one call", from->name,
                          what);
    return mf_fail_at(error, MF_BAD_ARGUMENT, file, line, 0, "script %.80s: %s: %s", from->name,
                      what, message);
}

// ---- calls --------------------------------------------------------------------------------------

mf_Status mf_script_call(mf_Script *script, const char *what, int arguments, mf_Error *error) {
    lua_State *lua = script->lua;
    const int handler = lua_gettop(lua) - arguments;
    script->spent = 0;
    script->line = 0;
    script->end = MF_SCRIPT_GOES_ON;
    script->begun = mf_clock_now();
    lua_pushcfunction(lua, note_line);
    lua_insert(lua, handler);
    lua_sethook(lua, count_steps, LUA_MASKCOUNT, HOOK_STEPS);
    const int result = lua_pcall(lua, arguments, 0, handler);
    lua_sethook(lua, NULL, 0, 0);
    if (result != LUA_OK)
        return fail(script, what, error);
    lua_remove(lua, handler);
    return MF_OK;
}

bool mf_script_find(const mf_Script *script, mf_ScriptHook hook) {
    if (script->hooks[hook] == LUA_NOREF)
        return false;
    lua_rawgeti(script->lua, LUA_REGISTRYINDEX, script->hooks[hook]);
    return true;
}

static int find_all(lua_State *lua) {
    static const char *const names[MF_SCRIPT_HOOKS] = {"start", "tick", "event", "finish"};
    mf_Script *script = mf_script_of(lua);
    for (int i = 0; i < MF_SCRIPT_HOOKS; i++) {
        if (lua_getglobal(lua, names[i]) == LUA_TFUNCTION)
            script->hooks[i] = luaL_ref(lua, LUA_REGISTRYINDEX);
        else if (!lua_isnil(lua, -1))
            return luaL_error(lua, "%s: expected a function, found a %s", names[i],
                              luaL_typename(lua, -1));
    }
    return 0;
}

mf_Status mf_script_find_all(mf_Script *script, mf_Error *error) {
    lua_pushcfunction(script->lua, find_all);
    return mf_script_call(script, "main", 0, error);
}

static int open_all(lua_State *lua) {
    mf_script_add_language(lua);
    mf_script_add_properties(lua);
    mf_script_add_world(lua);
    mf_script_add_robots(lua);
    mf_script_add_results(lua);
    mf_script_add_draw(lua);
    return 0;
}

// The text of a script in a scene, below as many lines as are above it there.
mf_Status mf_script_read(mf_Script *script, mf_Error *error) {
    const mf_SceneScript *from = script->from;
    mf_Text *out = &script->text;
    char *data = NULL;
    size_t size = 0;
    if (from->path != NULL) {
        const mf_Status status =
            mf_file_read_text(script->all->context, from->path, 1u << 20, &data, &size, error);
        if (status != MF_OK)
            return mf_scene_blame_file(script->all->scene.file, status, "scripts", from->name,
                                       "file", from->path, from->line, from->column, error);
        // A first line for Unix shells.
        mf_text_put(out, size > 0 && data[0] == '#' ? "--" : "");
        mf_text_put_bytes(out, data, size);
        mf_release(script->all->context, data);
    } else {
        const bool block = strchr(from->text, '\n') != NULL;
        for (int32_t i = block ? 0 : 1; i < from->line; i++)
            mf_text_put(out, "\n");
        mf_text_put(out, from->text);
    }
    return out->failed ? mf_fail(error, MF_NO_MEMORY, "scripts: out of memory") : MF_OK;
}

static mf_Status compile(mf_Script *script, mf_Error *error) {
    const mf_SceneScript *from = script->from;
    const char *file = from->path != NULL ? from->path : script->all->scene.file->file;
    mf_Text name = mf_text_begin(script->all->context);
    mf_text_format(&name, "@%s", file);
    mf_Status status = name.failed ? mf_fail(error, MF_NO_MEMORY, "scripts: out of memory") : MF_OK;
    if (status == MF_OK) {
        lua_Debug record;
        lua_State *lua = script->lua;
        // The name as Lua shortens it, from a chunk that is always right.
        luaL_loadbufferx(lua, "", 0, name.data, "t");
        lua_getinfo(lua, ">S", &record);
        memcpy(script->chunk, record.short_src, sizeof script->chunk);
        script->spent = 0;
        script->line = 0;
        if (luaL_loadbufferx(lua, script->text.data, script->text.size, name.data, "t") != LUA_OK)
            status = fail(script, "syntax", error);
    }
    mf_text_free(&name);
    return status;
}

mf_Status mf_script_load(mf_Script *script, mf_Error *error) {
    script->limit = (size_t)script->from->memory << 20;
    script->budget = script->from->budget;
    for (int i = 0; i < MF_SCRIPT_HOOKS; i++)
        script->hooks[i] = LUA_NOREF;
    const uint32_t groups = script->all->scene.group_count;
    MF_TRY(MF_ALLOCATE(script->all->context, "scripts", error, MF_ARRAY(script->policies, groups)));
    for (uint32_t g = 0; g < groups; g++)
        script->policies[g] = LUA_NOREF;
    script->lua = lua_newstate(allocate, script);
    MF_NEED_MEMORY(script->lua != NULL, error, "scripts");
    *(mf_Script **)lua_getextraspace(script->lua) = script;
    const uint64_t budget = script->budget;
    script->budget = UINT64_MAX;
    lua_pushcfunction(script->lua, open_all);
    mf_Status status = mf_script_call(script, "main", 0, error);
    script->budget = budget;
    return status == MF_OK ? compile(script, error) : status;
}
