// `world` in scripts: time, groups, gaits, snapshots, random numbers, the end of the run.
#include "scene/script/engine.h"
#include "base/random.h"

#include "math/scalar.h"

#include <mayfly/model_fields.h>

#include <string.h>

#define SNAPSHOT "mayfly.snapshot"
#define SCRIPT_STREAM 0x73637270u // separates these random numbers from all others

static mf_World *world_of(lua_State *lua) {
    return mf_script_of(lua)->all->scene.world;
}

// ---- arguments ----------------------------------------------------------------------------------

// The number of the group that an argument names.
static uint32_t check_group(lua_State *lua, int argument) {
    const mf_Scene *scene = &mf_script_of(lua)->all->scene;
    const char *name = luaL_checkstring(lua, argument);
    const uint32_t found = mf_scene_file_group(scene->file, name);
    if (found != MF_NONE)
        return found;
    lua_pushliteral(lua, "");
    for (uint32_t g = 0; g < scene->group_count; g++) {
        lua_pushfstring(lua, "%s%s", g > 0 ? ", " : "", scene->file->groups[g].name);
        lua_concat(lua, 2);
    }
    return (uint32_t)luaL_error(lua, "no group %s; there are: %s", name, lua_tostring(lua, -1));
}

mf_ScriptRobots mf_script_robots(lua_State *lua, int argument) {
    mf_Group *group = mf_world_group(world_of(lua), check_group(lua, argument));
    const uint32_t count = mf_group_count(group);
    if (lua_isnoneornil(lua, argument + 1)) {
        mf_script_charge(mf_script_of(lua), count);
        return (mf_ScriptRobots){group, 0, count};
    }
    const lua_Integer robot = luaL_checkinteger(lua, argument + 1);
    if (robot < 0 || robot >= count)
        luaL_error(lua, "group %s: expected a robot 0 .. %d, found %I",
                   mf_group_config_of(group)->name, (int)count - 1, robot);
    return (mf_ScriptRobots){group, (uint32_t)robot, (uint32_t)robot + 1};
}

// ---- time and groups ----------------------------------------------------------------------------

static int get_time(lua_State *lua) {
    lua_pushnumber(lua, mf_time_to_seconds(mf_world_time(world_of(lua))));
    return 1;
}

static int get_step(lua_State *lua) {
    lua_pushnumber(lua, mf_time_to_seconds(mf_world_config_of(world_of(lua))->step));
    return 1;
}

static int get_seed(lua_State *lua) {
    lua_pushinteger(lua, (lua_Integer)mf_world_config_of(world_of(lua))->seed);
    return 1;
}

static int get_groups(lua_State *lua) {
    const mf_Scene *scene = &mf_script_of(lua)->all->scene;
    lua_newtable(lua);
    for (uint32_t g = 0; g < scene->group_count; g++) {
        lua_pushstring(lua, scene->file->groups[g].name);
        lua_rawseti(lua, -2, (lua_Integer)g + 1);
    }
    return 1;
}

static int get_count(lua_State *lua) {
    lua_pushinteger(lua, mf_group_count(mf_world_group(world_of(lua), check_group(lua, 2))));
    return 1;
}

static int get_faults(lua_State *lua) {
    mf_World *world = world_of(lua);
    uint64_t total = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++)
        total += mf_group_fault_total(mf_world_group(world, g));
    lua_pushinteger(lua, (lua_Integer)total);
    return 1;
}

static int reset(lua_State *lua) {
    const mf_ScriptRobots robots = mf_script_robots(lua, 2);
    mf_script_clean(mf_script_of(lua)->all);
    for (uint32_t i = robots.first; i < robots.end; i++)
        mf_group_reset(robots.group, i);
    return 0;
}

// world:motion(group, robot, level)
static int switch_motion(lua_State *lua) {
    const mf_ScriptRobots robots = mf_script_robots(lua, 2);
    const char *name = luaL_checkstring(lua, 4);
    mf_Error error = {0};
    int to = 0;
    while (to < MF_MOTION_COUNT && strcmp(mf_motion_name((mf_Motion)to), name) != 0)
        to++;
    if (to == MF_MOTION_COUNT)
        return luaL_error(lua, "no motion %s", name);
    mf_script_clean(mf_script_of(lua)->all);
    for (uint32_t i = robots.first; i < robots.end; i++)
        if (mf_motion_switch(robots.group, i, (mf_Motion)to, &error) != MF_OK)
            return mf_script_raise(lua, &error);
    return 0;
}

// ---- gaits --------------------------------------------------------------------------------------

static mf_Field *gait_field(lua_State *lua, mf_Group *group, const char *name) {
    mf_Field *field = mf_group_find_field(group, name);
    if (field == NULL)
        luaL_error(lua, "group %s: it has no gaits", mf_group_config_of(group)->name);
    return field;
}

// world:gait(group, robot, name): nil for no gait.
static int select_gait(lua_State *lua) {
    const mf_ScriptRobots robots = mf_script_robots(lua, 2);
    const uint32_t group = check_group(lua, 2);
    const mf_Scene *scene = &mf_script_of(lua)->all->scene;
    const mf_SceneGroup *file = &scene->file->groups[group];
    mf_Field *field = gait_field(lua, robots.group, "gait.select");
    uint32_t select = MF_NONE;
    if (!lua_isnoneornil(lua, 4)) {
        const char *name = luaL_checkstring(lua, 4);
        for (select = 0; select < file->gait_count; select++)
            if (strcmp(scene->gaits[group][select]->name, name) == 0)
                break;
        if (select == file->gait_count)
            return luaL_error(lua, "group %s: it has no gait %s", file->name, name);
    }
    for (uint32_t i = robots.first; i < robots.end; i++)
        mf_field_set(field, i, 0, select);
    return 0;
}

// world:command(group, robot, forward, left, yaw)
static int command(lua_State *lua) {
    const mf_ScriptRobots robots = mf_script_robots(lua, 2);
    mf_Field *field = gait_field(lua, robots.group, "gait.command");
    for (int c = 0; c < 3; c++) {
        const double value = luaL_optnumber(lua, 4 + c, 0.0);
        if (!mf_is_finite((double)(float)value))
            return luaL_error(lua, "command: expected finite numbers");
        for (uint32_t i = robots.first; i < robots.end; i++)
            mf_field_set(field, i, (uint32_t)c, value);
    }
    return 0;
}

// ---- snapshots ----------------------------------------------------------------------------------

static int take_snapshot(lua_State *lua) {
    mf_Scripts *all = mf_script_of(lua)->all;
    mf_Error error = {0};
    mf_script_clean(all);
    const size_t size = mf_world_snapshot_size(all->scene.world);
    void *image = lua_newuserdatauv(lua, size, 0);
    if (mf_world_snapshot(all->scene.world, image, size, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    luaL_setmetatable(lua, SNAPSHOT);
    return 1;
}

static int restore(lua_State *lua) {
    mf_Script *script = mf_script_of(lua);
    mf_Scripts *all = script->all;
    mf_Error error = {0};
    const void *image = luaL_checkudata(lua, 2, SNAPSHOT);
    const size_t size = lua_rawlen(lua, 2);
    mf_script_charge(script, size / MF_SCRIPT_CHARGE);
    if (mf_world_restore(all->scene.world, image, size, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    mf_script_forget(all);
    for (uint32_t i = 0; i < all->count; i++)
        all->list[i].renewed = true;
    return 0;
}

// ---- random numbers -----------------------------------------------------------------------------

static void draw(lua_State *lua, uint32_t words[4]) {
    mf_Script *script = mf_script_of(lua);
    mf_random(mf_world_config_of(world_of(lua))->seed, script->index, SCRIPT_STREAM,
              script->draws++, words);
}

// world:random(): 0 <= x < 1; world:random(n): one of 1 .. n; world:random(a, b): a <= x < b.
static int draw_number(lua_State *lua) {
    uint32_t words[4];
    draw(lua, words);
    const double unit = mf_random_unit_double(words[0], words[1]);
    if (lua_gettop(lua) >= 3) {
        const double lower = luaL_checknumber(lua, 2), upper = luaL_checknumber(lua, 3);
        lua_pushnumber(lua, lower + unit * (upper - lower));
    } else if (lua_gettop(lua) == 2) {
        const lua_Integer bound = luaL_checkinteger(lua, 2);
        luaL_argcheck(lua, bound >= 1 && bound <= UINT32_MAX, 2, "expected 1 .. 4294967295");
        lua_pushinteger(lua, 1 + (lua_Integer)mf_random_below(words[0], (uint32_t)bound));
    } else {
        lua_pushnumber(lua, unit);
    }
    return 1;
}

// ---- the run ------------------------------------------------------------------------------------

// The functions that run now go on to their end.
static int stop(lua_State *lua) {
    mf_Scripts *all = mf_script_of(lua)->all;
    snprintf(all->reason, sizeof all->reason, "%s", luaL_optstring(lua, 2, ""));
    all->stopped = true;
    return 0;
}

static const luaL_Reg functions[] = {{"property", mf_script_property},
                                     {"get", mf_script_get},
                                     {"set", mf_script_set},
                                     {"time", get_time},
                                     {"step", get_step},
                                     {"seed", get_seed},
                                     {"groups", get_groups},
                                     {"count", get_count},
                                     {"faults", get_faults},
                                     {"reset", reset},
                                     {"motion", switch_motion},
                                     {"gait", select_gait},
                                     {"command", command},
                                     {"connect", mf_script_connect},
                                     {"disconnect", mf_script_disconnect},
                                     {"robot", mf_script_robot},
                                     {"policy", mf_script_policy},
                                     {"snapshot", take_snapshot},
                                     {"restore", restore},
                                     {"random", draw_number},
                                     {"stop", stop},
                                     {NULL, NULL}};

void mf_script_add_world(lua_State *lua) {
    luaL_newmetatable(lua, SNAPSHOT);
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
    luaL_newlib(lua, functions);
    lua_setglobal(lua, "world");
}
