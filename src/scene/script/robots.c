// Robots in scripts: `world:robot(group, robot)` sees and commands one robot only, sends and reads
// messages at its docks, and its other members are the script's. `world:policy(group, f)` calls
// f(robot) for each robot of a group after `tick`.
#include "scene/script/engine.h"
#include "world/group.h"

#include <mayfly/messages.h>
#include <mayfly/model_fields.h>

#include <string.h>

#define TYPE "mayfly.robot"

// The group and number of the robot at 1; its table may have been changed, but not by accident.
static mf_ScriptRobots check_robot(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 8);
    lua_getfield(lua, 1, "group");
    lua_getfield(lua, 1, "robot");
    luaL_checkinteger(lua, 10);
    const mf_ScriptRobots robots = mf_script_robots(lua, 9);
    lua_settop(lua, 8);
    return robots;
}

// Calls a function of `world` with the path of a property of the robot in place of its path in it.
static int with_path(lua_State *lua, lua_CFunction call) {
    const mf_ScriptRobots robots = check_robot(lua);
    lua_pushfstring(lua, "%s[%d]/%s", mf_group_config_of(robots.group)->name, (int)robots.first,
                    luaL_checkstring(lua, 2));
    lua_replace(lua, 2);
    lua_settop(lua, 3);
    return call(lua);
}

static int property(lua_State *lua) {
    return with_path(lua, mf_script_property);
}
static int get(lua_State *lua) {
    return with_path(lua, mf_script_get);
}
static int set(lua_State *lua) {
    return with_path(lua, mf_script_set);
}

static uint32_t check_dock(lua_State *lua, const mf_ScriptRobots *robots, int argument) {
    const char *name = luaL_checkstring(lua, argument);
    const uint32_t dock = mf_model_find(mf_group_model(robots->group), MF_ITEM_DOCK, name);
    if (dock == MF_NONE)
        luaL_error(lua, "group %s: it has no dock %s", mf_group_config_of(robots->group)->name,
                   name);
    return dock;
}

static uint32_t message_numbers(lua_State *lua, const mf_ScriptRobots *robots) {
    const mf_SceneFile *file = mf_script_of(lua)->all->scene.file;
    if (!file->talks)
        luaL_error(lua, "group %s: the scene has no section messages",
                   mf_group_config_of(robots->group)->name);
    return file->messages.size / (uint32_t)sizeof(float);
}

// robot:send(dock, {numbers}, type): false when the outbox is full.
static int send(lua_State *lua) {
    const mf_ScriptRobots robots = check_robot(lua);
    const uint32_t dock = check_dock(lua, &robots, 2), most = message_numbers(lua, &robots);
    mf_Message message = {.type = (uint32_t)luaL_optinteger(lua, 4, 0)};
    mf_Error error = {0};
    luaL_checktype(lua, 3, LUA_TTABLE);
    const size_t count = lua_rawlen(lua, 3);
    if (count > most)
        return luaL_error(lua, "send: %I numbers, a message has %d", (lua_Integer)count, (int)most);
    for (size_t i = 0; i < count; i++) {
        int is_number;
        lua_rawgeti(lua, 3, (lua_Integer)i + 1);
        message.content.floats[i] = (float)lua_tonumberx(lua, -1, &is_number);
        if (!is_number)
            return luaL_error(lua, "send: number %I is a %s", (lua_Integer)i + 1,
                              luaL_typename(lua, -1));
        lua_settop(lua, 8);
    }
    message.size = (uint32_t)(count * sizeof(float));
    const mf_Status status = mf_message_send(robots.group, robots.first, dock, &message, &error);
    if (status != MF_OK && status != MF_LIMIT)
        return mf_script_raise(lua, &error);
    lua_pushboolean(lua, status == MF_OK);
    return 1;
}

// robot:receive(dock): the oldest message, {numbers, dock=, type=}, at that dock or at any; nil.
static int receive(lua_State *lua) {
    const mf_ScriptRobots robots = check_robot(lua);
    const uint32_t dock = lua_isnil(lua, 2) ? MF_NONE : check_dock(lua, &robots, 2),
                   count = message_numbers(lua, &robots);
    mf_Message message;
    if (!mf_message_receive(robots.group, robots.first, dock, &message))
        return 0;
    lua_createtable(lua, (int)count, 2);
    for (uint32_t i = 0; i < count; i++) {
        lua_pushnumber(lua, (lua_Number)message.content.floats[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    lua_pushstring(lua, mf_group_model(robots.group)->docks[message.dock].name);
    lua_setfield(lua, -2, "dock");
    lua_pushinteger(lua, message.type);
    lua_setfield(lua, -2, "type");
    return 1;
}

static void push_robot(lua_State *lua, const mf_Group *group, uint32_t robot) {
    lua_createtable(lua, 0, 2);
    lua_pushstring(lua, mf_group_config_of(group)->name);
    lua_setfield(lua, -2, "group");
    lua_pushinteger(lua, robot);
    lua_setfield(lua, -2, "robot");
    luaL_setmetatable(lua, TYPE);
}

int mf_script_robot(lua_State *lua) {
    luaL_checkinteger(lua, 3);
    const mf_ScriptRobots robots = mf_script_robots(lua, 2);
    push_robot(lua, robots.group, robots.first);
    return 1;
}

// The function and the robots in one table, for each group: robot i at i + 2.
int mf_script_policy(lua_State *lua) {
    mf_Script *script = mf_script_of(lua);
    lua_settop(lua, 3);
    if (!lua_isnil(lua, 3))
        luaL_checktype(lua, 3, LUA_TFUNCTION);
    lua_pushnil(lua); // all robots of the group
    lua_insert(lua, 3);
    const mf_ScriptRobots robots = mf_script_robots(lua, 2);
    const uint32_t g = robots.group->number;
    luaL_unref(lua, LUA_REGISTRYINDEX, script->policies[g]);
    script->policies[g] = LUA_NOREF;
    if (lua_isnil(lua, 4))
        return 0;
    lua_createtable(lua, (int)robots.end + 1, 0);
    lua_pushvalue(lua, 4);
    lua_rawseti(lua, -2, 1);
    for (uint32_t i = 0; i < robots.end; i++) {
        push_robot(lua, robots.group, i);
        lua_rawseti(lua, -2, (lua_Integer)i + 2);
    }
    script->policies[g] = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

mf_Status mf_script_call_policies(mf_Script *script, mf_Error *error) {
    lua_State *lua = script->lua;
    const mf_Scripts *all = script->all;
    for (uint32_t g = 0; g < all->scene.group_count; g++) {
        const uint32_t count = mf_group_count(all->dirt[g].group);
        for (uint32_t i = 0; i < count && script->policies[g] != LUA_NOREF && !all->stopped; i++) {
            lua_rawgeti(lua, LUA_REGISTRYINDEX, script->policies[g]);
            lua_rawgeti(lua, -1, 1);
            lua_rawgeti(lua, -2, (lua_Integer)i + 2);
            lua_remove(lua, -3);
            MF_TRY(mf_script_call(script, "policy", 1, error));
        }
    }
    return MF_OK;
}

void mf_script_add_robots(lua_State *lua) {
    static const luaL_Reg methods[] = {{"property", property}, {"get", get},         {"set", set},
                                       {"send", send},         {"receive", receive}, {NULL, NULL}};
    luaL_newmetatable(lua, TYPE);
    luaL_newlib(lua, methods);
    lua_setfield(lua, -2, "__index");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
}
