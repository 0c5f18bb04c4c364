// All scripts of a scene: when they are called, and what they share.
//
// They run in a phase of their own between two steps of the whole world, each at its rate, in the
// order of the file. A script may restore a snapshot, so that the world's time goes back; between
// two steps each is called at most once, so that every run ends.
#include "scene/watch.h"
#include "script/engine.h"

#include "world/group.h"

#include <string.h>

static mf_Status make_dirt(mf_Scripts *scripts, mf_Error *error) {
    mf_Scene *scene = scripts->scene;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        mf_ScriptDirt *dirt = &scripts->dirt[g];
        dirt->group = mf_world_group(scene->world, g);
        const uint32_t count = mf_group_count(dirt->group);
        dirt->marked = mf_allocate(scripts->context, count, sizeof *dirt->marked);
        dirt->robots = mf_allocate(scripts->context, count, sizeof *dirt->robots);
        MF_NEED_MEMORY(dirt->marked != NULL && dirt->robots != NULL, error, "scripts");
    }
    return MF_OK;
}

mf_Status mf_scripts_create(mf_Scene *scene, const mf_ScriptHost *host, mf_Scripts **out,
                            mf_Error *error) {
    const mf_SceneFile *file = scene->file;
    mf_Context *context = mf_world_context(scene->world);
    *out = NULL;
    if (file->script_count == 0)
        return MF_OK;
    mf_Scripts *scripts = mf_allocate(context, 1, sizeof *scripts);
    mf_Script *list = mf_allocate(context, file->script_count, sizeof *list);
    if (scripts == NULL || list == NULL) {
        mf_release(context, scripts);
        mf_release(context, list);
        return mf_fail(error, MF_NO_MEMORY, "scripts: out of memory");
    }
    *scripts = (mf_Scripts){.context = context,
                            .scene = scene,
                            .host = host != NULL ? *host : (mf_ScriptHost){.print = NULL},
                            .count = file->script_count,
                            .list = list};
    mf_Status status = make_dirt(scripts, error);
    for (uint32_t i = 0; i < scripts->count && status == MF_OK; i++) {
        list[i] = (mf_Script){.all = scripts, .from = &file->scripts[i], .index = i};
        status = mf_world_check_rate(scene->world, "scripts", list[i].from->tick, error);
        MF_THEN(status, mf_script_load(&list[i], error));
    }
    if (status != MF_OK)
        mf_scripts_destroy(scripts);
    else
        *out = scripts;
    return status;
}

void mf_scripts_destroy(mf_Scripts *scripts) {
    if (scripts == NULL)
        return;
    mf_Context *context = scripts->context;
    for (uint32_t i = 0; i < scripts->count; i++) {
        if (scripts->list[i].lua != NULL)
            lua_close(scripts->list[i].lua);
        mf_watch_destroy(scripts->list[i].watch);
    }
    for (uint32_t g = 0; g < MF_SCENE_GROUPS; g++) {
        mf_release(context, scripts->dirt[g].marked);
        mf_release(context, scripts->dirt[g].robots);
    }
    for (uint32_t i = 0; i < scripts->result_count; i++)
        mf_text_free(&scripts->results[i].text);
    mf_release(context, scripts->list);
    mf_release(context, scripts);
}

// ---- robots that were written -------------------------------------------------------------------

void mf_script_clean(mf_Scripts *scripts) {
    for (uint32_t g = 0; scripts->dirty > 0 && g < scripts->scene->group_count; g++) {
        mf_ScriptDirt *dirt = &scripts->dirt[g];
        for (uint32_t i = 0; i < dirt->count; i++) {
            mf_group_refresh(dirt->group, dirt->robots[i]);
            dirt->marked[dirt->robots[i]] = 0;
        }
        scripts->dirty -= dirt->count;
        dirt->count = 0;
    }
}

void mf_script_forget(mf_Scripts *scripts) {
    for (uint32_t g = 0; g < scripts->scene->group_count; g++) {
        mf_ScriptDirt *dirt = &scripts->dirt[g];
        memset(dirt->marked, 0, mf_group_count(dirt->group));
        dirt->count = 0;
    }
    scripts->dirty = 0;
}

// ---- hooks --------------------------------------------------------------------------------------

static mf_Status call_hook(mf_Script *script, mf_ScriptHook hook, mf_Error *error) {
    if (!mf_script_find(script, hook))
        return MF_OK;
    mf_Status status =
        mf_script_call(script, hook == MF_SCRIPT_START ? "start" : "finish", 0, error);
    mf_script_clean(script->all);
    return status;
}

// The compiled text is on the stack since it was loaded.
static mf_Status run_main(mf_Script *script, mf_Error *error) {
    MF_TRY(mf_script_call(script, "main", 0, error));
    return mf_script_find_all(script, error);
}

mf_Status mf_scripts_start(mf_Scripts *scripts, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < scripts->count && status == MF_OK; i++)
        status = run_main(&scripts->list[i], error);
    for (uint32_t i = 0; i < scripts->count && status == MF_OK && !scripts->stopped; i++) {
        status = call_hook(&scripts->list[i], MF_SCRIPT_START, error);
        if (status == MF_OK && scripts->list[i].hooks[MF_SCRIPT_EVENT] != LUA_NOREF)
            status = mf_script_watch(&scripts->list[i], error);
    }
    mf_script_clean(scripts);
    return status;
}

mf_Status mf_scripts_finish(mf_Scripts *scripts, mf_Error *error) {
    for (uint32_t i = 0; i < scripts->count; i++)
        MF_TRY(call_hook(&scripts->list[i], MF_SCRIPT_FINISH, error));
    return MF_OK;
}

// ---- steps --------------------------------------------------------------------------------------

static uint64_t steps_so_far(const mf_Scripts *scripts) {
    const mf_World *world = scripts->scene->world;
    return (uint64_t)(mf_world_time(world) / mf_world_config_of(world)->step);
}

static uint64_t next_tick(const mf_Scripts *scripts, uint32_t index, uint64_t from) {
    const mf_Rate rate = scripts->list[index].from->tick;
    return rate.numerator == 0
               ? from
               : mf_rate_next_step(rate, mf_world_config_of(scripts->scene->world)->step, from);
}

static mf_Status tick(mf_Script *script, mf_Error *error) {
    mf_Status status = mf_script_tell_controls(script, error);
    MF_THEN(status, mf_script_notify(script, error));
    if (status == MF_OK && !script->all->stopped && mf_script_find(script, MF_SCRIPT_TICK)) {
        lua_pushnumber(script->lua, mf_time_to_seconds(mf_world_time(script->all->scene->world)));
        status = mf_script_call(script, "tick", 1, error);
    }
    return status == MF_OK ? mf_script_call_policies(script, error) : status;
}

static mf_Status call_due(mf_Scripts *scripts, mf_Error *error) {
    mf_Status status = MF_OK;
    const bool back = mf_world_time(scripts->scene->world) < scripts->time;
    for (uint32_t i = 0; i < scripts->count && back; i++)
        scripts->list[i].renewed = true;
    for (uint32_t i = 0; i < scripts->count && status == MF_OK && !scripts->stopped; i++) {
        const uint64_t now = steps_so_far(scripts);
        if (next_tick(scripts, i, now) == now)
            status = tick(&scripts->list[i], error);
        mf_script_clean(scripts);
    }
    scripts->time = mf_world_time(scripts->scene->world);
    return status;
}

mf_Status mf_scripts_call(mf_Scripts *scripts, mf_Error *error) {
    if (scripts->called || scripts->stopped)
        return MF_OK;
    scripts->called = true;
    return call_due(scripts, error);
}

mf_Status mf_scripts_step(mf_Scripts *scripts, uint64_t steps, uint64_t *done, mf_Error *error) {
    *done = 0;
    while (*done < steps && !scripts->stopped) {
        if (!scripts->called) {
            MF_TRY(mf_scripts_call(scripts, error));
            continue;
        }
        const uint64_t now = steps_so_far(scripts);
        uint64_t length = steps - *done;
        for (uint32_t i = 0; i < scripts->count; i++) {
            const uint64_t next = next_tick(scripts, i, now + 1) - now;
            length = next < length ? next : length;
        }
        if (scripts->host.step != NULL)
            scripts->host.step(scripts->host.user, length);
        else
            mf_world_step(scripts->scene->world, length);
        *done += length;
        scripts->called = false;
    }
    return MF_OK;
}

const char *mf_scripts_stopped(const mf_Scripts *scripts) {
    return scripts != NULL && scripts->stopped ? scripts->reason : NULL;
}

bool mf_scripts_result(const mf_Scripts *scripts, uint32_t index, mf_ScriptResult *out) {
    if (scripts == NULL || index >= scripts->result_count)
        return false;
    const mf_ScriptText *result = &scripts->results[index];
    *out = (mf_ScriptResult){.name = result->name,
                             .text = result->text.data != NULL ? result->text.data : "",
                             .size = result->text.size};
    return true;
}
