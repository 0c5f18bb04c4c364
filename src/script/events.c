// Events for scripts: at each tick of a script, what is new since its last one, group by group, in
// the order faults, falls, docks, goals.
#include "script/engine.h"

#include "math/scalar.h"
#include "scene/soccer/play.h"

#include <mayfly/docks.h>

#include <string.h>

#define FALL 0.5403023058681398 // [1] cosine of 1 rad from the start, as `mayfly run` counts falls
#define UPRIGHT 0.8775825618903728 // [1] cosine of 0.5 rad: from here on it may fall again

typedef struct Event {
    const char *kind;
    const char *group;
    uint32_t robot; // [1] MF_NONE: none
    const char *dock;
    const char *state;
    uint32_t fault; // [1] bits
} Event;

// A function and an event, which becomes its table.
static int emit(lua_State *lua) {
    const Event *event = lua_touserdata(lua, 2);
    lua_settop(lua, 1);
    lua_newtable(lua);
    lua_pushstring(lua, event->kind);
    lua_setfield(lua, 2, "kind");
    lua_pushstring(lua, event->group);
    lua_setfield(lua, 2, "group");
    lua_pushnumber(lua, mf_time_to_seconds(mf_world_time(mf_script_of(lua)->all->scene->world)));
    lua_setfield(lua, 2, "time");
    if (event->robot != MF_NONE) {
        lua_pushinteger(lua, event->robot);
        lua_setfield(lua, 2, "robot");
    }
    if (event->dock != NULL) {
        lua_pushstring(lua, event->dock);
        lua_setfield(lua, 2, "dock");
        lua_pushstring(lua, event->state);
        lua_setfield(lua, 2, "state");
    }
    if (event->fault != 0) {
        lua_pushinteger(lua, event->fault);
        lua_setfield(lua, 2, "fault");
    }
    lua_call(lua, 1, 0);
    return 0;
}

static mf_Status send(mf_Script *script, Event event, mf_Error *error) {
    lua_pushcfunction(script->lua, emit);
    if (!mf_script_find(script, MF_SCRIPT_EVENT))
        return MF_OK;
    lua_pushlightuserdata(script->lua, &event);
    return mf_script_call(script, "event", 2, error);
}

// ---- what is observed ---------------------------------------------------------------------------

static bool may_fall(const mf_Script *script, uint32_t group) {
    const mf_SceneGroup *file = &script->all->scene->file->groups[group];
    mf_Group *of = script->all->dirt[group].group;
    return file->vehicle == NULL && file->truss == NULL && file->cloth == NULL &&
           mf_group_model(of)->base == MF_BASE_FREE &&
           mf_group_find_field(of, "base.orientation") != NULL;
}

static void read_rotation(const mf_Script *script, uint32_t group, uint32_t robot, double out[4]) {
    const mf_Field *field = mf_group_find_field(script->all->dirt[group].group, "base.orientation");
    for (uint32_t c = 0; c < 4; c++)
        out[c] = mf_field_get(field, robot, c);
}

static mf_Field *dock_states(const mf_Script *script, uint32_t group) {
    return mf_world_docks_of(script->all->scene->world) == NULL
               ? NULL
               : mf_group_find_field(script->all->dirt[group].group, "dock.state");
}

static uint32_t count_goals(const mf_Script *script, uint32_t group) {
    const mf_Play *play = script->all->scene->play;
    return play == NULL ? 0 : mf_play_count(play, group).goals;
}

static mf_Status make_watch(mf_Script *script, uint32_t group, mf_Error *error) {
    mf_Context *context = script->all->context;
    mf_ScriptWatch *watch = &script->watch[group];
    mf_Group *of = script->all->dirt[group].group;
    const uint32_t count = mf_group_count(of), docks = mf_group_model(of)->dock_count;
    const bool falls = may_fall(script, group), docked = dock_states(script, group) != NULL;
    watch->fault = mf_allocate(context, count, sizeof *watch->fault);
    watch->fallen = falls ? mf_allocate(context, count, sizeof *watch->fallen) : NULL;
    watch->up = falls ? mf_allocate(context, count, sizeof *watch->up) : NULL;
    watch->dock = docked ? mf_allocate(context, (size_t)count * docks, sizeof *watch->dock) : NULL;
    if (watch->fault == NULL || (falls && (watch->fallen == NULL || watch->up == NULL)) ||
        (docked && watch->dock == NULL))
        return mf_fail(error, MF_NO_MEMORY, "scripts: out of memory");
    for (uint32_t i = 0; i < count && falls; i++) {
        static const double vertical[3] = {0.0, 0.0, 1.0};
        double rotation[4];
        read_rotation(script, group, i, rotation);
        mf_quat_rotate_inverse(watch->up[i], rotation, vertical);
    }
    return MF_OK;
}

mf_Status mf_script_watch(mf_Script *script, mf_Error *error) {
    const uint32_t groups = script->all->scene->group_count;
    mf_script_clean(script->all);
    script->watch = mf_allocate(script->all->context, groups, sizeof *script->watch);
    if (script->watch == NULL)
        return mf_fail(error, MF_NO_MEMORY, "scripts: out of memory");
    mf_Status status = MF_OK;
    for (uint32_t g = 0; g < groups && status == MF_OK; g++)
        status = make_watch(script, g, error);
    script->renewed = true;
    return status == MF_OK ? mf_script_tell(script, error) : status;
}

void mf_script_unwatch(mf_Script *script) {
    mf_Context *context = script->all->context;
    for (uint32_t g = 0; script->watch != NULL && g < script->all->scene->group_count; g++) {
        mf_release(context, script->watch[g].fault);
        mf_release(context, script->watch[g].fallen);
        mf_release(context, script->watch[g].up);
        mf_release(context, script->watch[g].dock);
    }
    mf_release(context, script->watch);
}

// ---- what is new --------------------------------------------------------------------------------

// The observer, and the event that is sent for what is new; `quiet`: nothing is, only noted.
typedef struct Look {
    mf_Script *script;
    uint32_t group;
    bool quiet;
    Event event;
    mf_Error *error;
} Look;

static mf_Status look_at_fault(Look *look, uint32_t robot) {
    mf_ScriptWatch *watch = &look->script->watch[look->group];
    const uint32_t word = mf_group_fault(look->script->all->dirt[look->group].group, robot);
    const uint32_t raised = word & ~watch->fault[robot];
    watch->fault[robot] = word;
    if (raised == 0 || look->quiet)
        return MF_OK;
    Event event = look->event;
    event.kind = "fault";
    event.fault = raised;
    return send(look->script, event, look->error);
}

static mf_Status look_at_tilt(Look *look, uint32_t robot) {
    mf_ScriptWatch *watch = &look->script->watch[look->group];
    double rotation[4], up[3];
    read_rotation(look->script, look->group, robot, rotation);
    mf_quat_rotate(up, rotation, watch->up[robot]);
    const bool before = watch->fallen[robot];
    if (up[2] < FALL)
        watch->fallen[robot] = true;
    else if (up[2] > UPRIGHT)
        watch->fallen[robot] = false;
    if (before || !watch->fallen[robot] || look->quiet)
        return MF_OK;
    Event event = look->event;
    event.kind = "fall";
    return send(look->script, event, look->error);
}

static mf_Status look_at_docks(Look *look, uint32_t robot) {
    mf_ScriptWatch *watch = &look->script->watch[look->group];
    const mf_Model *model = mf_group_model(look->script->all->dirt[look->group].group);
    const mf_Field *field = dock_states(look->script, look->group);
    mf_Status status = MF_OK;
    for (uint32_t d = 0; d < model->dock_count && status == MF_OK; d++) {
        uint32_t *before = &watch->dock[robot * model->dock_count + d];
        const uint32_t now = (uint32_t)mf_field_get(field, robot, d);
        const bool changed = now != *before && !look->quiet;
        *before = now;
        if (!changed)
            continue;
        Event event = look->event;
        event.kind = "dock";
        event.dock = model->docks[d].name;
        event.state = mf_dock_state_name((mf_DockState)now);
        status = send(look->script, event, look->error);
    }
    return status;
}

static mf_Status look_at_group(Look *look) {
    mf_Script *script = look->script;
    mf_ScriptWatch *watch = &script->watch[look->group];
    const uint32_t count = mf_group_count(script->all->dirt[look->group].group);
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        look->event.robot = i;
        status = look_at_fault(look, i);
        if (status == MF_OK && watch->fallen != NULL)
            status = look_at_tilt(look, i);
        if (status == MF_OK && watch->dock != NULL)
            status = look_at_docks(look, i);
    }
    const uint32_t goals = count_goals(script, look->group);
    for (; watch->goals < goals && status == MF_OK && !look->quiet; watch->goals++) {
        Event event = look->event;
        event.kind = "goal";
        event.robot = MF_NONE;
        status = send(script, event, look->error);
    }
    watch->goals = goals;
    return status;
}

mf_Status mf_script_tell(mf_Script *script, mf_Error *error) {
    if (script->watch == NULL)
        return MF_OK;
    mf_Status status = MF_OK;
    const bool quiet = script->renewed;
    script->renewed = false;
    for (uint32_t g = 0; g < script->all->scene->group_count && status == MF_OK; g++) {
        Look look = {.script = script, .group = g, .quiet = quiet, .error = error};
        look.event.group = mf_group_config_of(script->all->dirt[g].group)->name;
        status = look_at_group(&look);
        mf_script_clean(script->all);
    }
    return status;
}
