// Events for scripts: at each tick of a script, what is new since its last one, group by group, in
// the order faults, falls, states of parts, scores.
#include "model/fields.h"
#include "scene/script/engine.h"

#include "scene/watch.h"

typedef struct Event {
    const char *kind;
    const char *group;
    uint32_t robot;           // [1]
    const char *part, *state; // NULL: none
    uint32_t fault;           // [1] bits
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
    lua_pushnumber(lua, mf_time_to_seconds(mf_world_time(mf_script_of(lua)->all->scene.world)));
    lua_setfield(lua, 2, "time");
    lua_pushinteger(lua, event->robot);
    lua_setfield(lua, 2, "robot");
    if (event->part != NULL) {
        lua_pushstring(lua, event->part);
        lua_setfield(lua, 2, event->kind);
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

// ---- what is new --------------------------------------------------------------------------------

static mf_Status tell(const mf_Happening *what, void *user, mf_Error *error) {
    mf_Script *script = user;
    mf_Group *group = script->all->dirt[what->group].group;
    Event event = {.kind = mf_happening_name(what->kind),
                   .group = mf_group_config_of(group)->name,
                   .robot = what->robot};
    if (what->kind == MF_HAPPENING_FAULT)
        event.fault = what->value;
    if (what->kind == MF_HAPPENING_STATE) {
        event.part = mf_model_item_name(mf_group_model(group), mf_watched_parts.item, what->part);
        event.state = mf_watched_parts.state(what->value);
    }
    mf_Status status = send(script, event, error);
    mf_script_clean(script->all);
    return status;
}

mf_Status mf_script_watch(mf_Script *script, mf_Error *error) {
    mf_script_clean(script->all);
    return mf_watch_create(&script->all->scene, &script->watch, error);
}

mf_Status mf_script_notify(mf_Script *script, mf_Error *error) {
    if (script->watch == NULL)
        return MF_OK;
    const bool quiet = script->renewed;
    script->renewed = false;
    return mf_watch_look(script->watch, quiet ? NULL : tell, script, error);
}
