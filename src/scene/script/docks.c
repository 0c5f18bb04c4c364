// Docks in scripts: `world:connect` and `world:disconnect`.
#include "scene/script/engine.h"

#include <mayfly/docks.h>
#include <mayfly/model_fields.h>

static mf_DockPort check_port(lua_State *lua, int argument) {
    luaL_checkinteger(lua, argument + 1);
    const mf_ScriptRobots robots = mf_script_robots(lua, argument);
    const mf_Model *model = mf_group_model(robots.group);
    const char *name = luaL_checkstring(lua, argument + 2);
    const uint32_t dock = mf_model_find(model, MF_ITEM_DOCK, name);
    if (dock != MF_NONE)
        return (mf_DockPort){robots.group, robots.first, dock};
    luaL_error(lua, "group %s: it has no dock %s", mf_group_config_of(robots.group)->name, name);
    return (mf_DockPort){.group = NULL};
}

static mf_WorldDocks *check_docks(lua_State *lua) {
    mf_WorldDocks *docks = mf_world_docks_of(mf_script_of(lua)->all->scene.world);
    if (docks == NULL)
        luaL_error(lua, "the world has no docks");
    mf_script_clean(mf_script_of(lua)->all);
    return docks;
}

// world:connect(group, robot, dock, group, robot, dock, orientation)
int mf_script_connect(lua_State *lua) {
    mf_WorldDocks *docks = check_docks(lua);
    const mf_DockPort first = check_port(lua, 2), second = check_port(lua, 5);
    const lua_Integer orientation = luaL_optinteger(lua, 8, 0);
    mf_Error error = {0};
    luaL_argcheck(lua, orientation >= 0 && orientation < 4, 8, "expected an orientation 0 .. 3");
    if (mf_docks_connect(docks, &first, &second, (uint32_t)orientation, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    return 0;
}

// world:disconnect(group, robot, dock)
int mf_script_disconnect(lua_State *lua) {
    mf_WorldDocks *docks = check_docks(lua);
    const mf_DockPort port = check_port(lua, 2);
    mf_Error error = {0};
    if (mf_docks_disconnect(docks, &port, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    return 0;
}
