// All scripts of a scene: when they are called, and what they share.
//
// They run in a phase of their own between two steps of the whole world, each at its rate, in the
// order of the file. A script may restore a snapshot, so that the world's time goes back; between
// two steps each is called at most once, so that every run ends.
#include "scene/watch.h"
#include "base/memory.h"
#include "scene/script/engine.h"

#include "world/group.h"

#include <string.h>

static mf_Status make_dirt(mf_Scripts *scripts, mf_Error *error) {
    mf_Scene *scene = &scripts->scene;
    MF_TRY(MF_ALLOCATE(scripts->context, "scripts", error,
                       MF_ARRAY(scripts->dirt, scene->group_count)));
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

static void close_script(mf_Context *context, mf_Script *script) {
    if (script->lua != NULL)
        lua_close(script->lua);
    mf_release(context, script->policies);
    mf_watch_destroy(script->watch);
}

static void drop_results(mf_Scripts *scripts) {
    for (uint32_t i = 0; i < scripts->result_count; i++)
        mf_text_free(&scripts->results[i].text);
    scripts->result_count = 0;
}

static void destroy(mf_Context *context, void *user) {
    mf_Scripts *scripts = user;
    for (uint32_t i = 0; i < scripts->count; i++) {
        close_script(context, &scripts->list[i]);
        mf_text_free(&scripts->list[i].text);
    }
    for (uint32_t g = 0; scripts->dirt != NULL && g < scripts->scene.group_count; g++) {
        mf_release(context, scripts->dirt[g].marked);
        mf_release(context, scripts->dirt[g].robots);
    }
    drop_results(scripts);
    mf_release(context, scripts->dirt);
    mf_release(context, scripts->list);
    mf_release(context, scripts);
}

static mf_Status load_all(mf_Scripts *scripts, mf_Error *error) {
    const mf_SceneScript *from = scripts->scene.file->scripts;
    for (uint32_t i = 0; i < scripts->count; i++) {
        scripts->list[i].text = mf_text_begin(scripts->context);
        scripts->list[i].all = scripts;
        scripts->list[i].from = &from[i];
        scripts->list[i].index = i;
        MF_TRY(mf_world_check_rate(scripts->scene.world, "scripts", from[i].tick, error));
        MF_TRY(mf_script_read(&scripts->list[i], error));
        MF_TRY(mf_script_load(&scripts->list[i], error));
    }
    return MF_OK;
}

static uint64_t act(mf_BetweenSteps *own, uint64_t most);

mf_Status mf_scene_load_scripts(mf_Scene *scene, mf_Error *error) {
    const mf_SceneFile *file = scene->file;
    mf_Context *context = mf_world_context(scene->world);
    if (file->script_count == 0)
        return MF_OK;
    mf_Scripts *scripts = mf_allocate(context, 1, sizeof *scripts);
    mf_Script *list = mf_allocate(context, file->script_count, sizeof *list);
    if (scripts == NULL || list == NULL) {
        mf_release(context, scripts);
        mf_release(context, list);
        return mf_fail(error, MF_NO_MEMORY, "scripts: out of memory");
    }
    scripts->between.act = act;
    scripts->context = context;
    scripts->scene = *scene;
    scripts->count = file->script_count;
    scripts->list = list;
    mf_Status status = make_dirt(scripts, error);
    MF_THEN(status, load_all(scripts, error));
    MF_THEN(status, mf_world_keep(scene->world, MF_BETWEEN_STEPS, scripts, destroy, error));
    if (status == MF_OK)
        scene->scripts = scripts;
    else
        destroy(context, scripts);
    return status;
}

// Nothing is called after an error, which remains.
static mf_Status end_call(mf_Scripts *scripts, mf_Status status, const mf_Error *error) {
    if (status != MF_OK && scripts->status == MF_OK) {
        scripts->status = status;
        scripts->error = *error;
    }
    return scripts->status;
}

static mf_Status tell(const mf_Scripts *scripts, mf_Error *error) {
    if (scripts->status != MF_OK && error != NULL)
        *error = scripts->error;
    return scripts->status;
}

static mf_Status reset(mf_Scripts *scripts, mf_Error *error) {
    drop_results(scripts);
    mf_script_forget(scripts);
    scripts->started = scripts->called = scripts->stopped = scripts->left = false;
    scripts->time = 0;
    for (uint32_t i = 0; i < scripts->count; i++) {
        mf_Script *script = &scripts->list[i];
        close_script(scripts->context, script);
        *script =
            (mf_Script){.all = scripts, .from = script->from, .index = i, .text = script->text};
    }
    for (uint32_t i = 0; i < scripts->count; i++)
        MF_TRY(mf_script_load(&scripts->list[i], error));
    return MF_OK;
}

mf_Status mf_scene_reset_scripts(mf_Scene *scene, mf_Error *error) {
    mf_Error own = {0};
    mf_Scripts *scripts = scene->scripts;
    if (scripts == NULL)
        return MF_OK;
    scripts->status = MF_OK;
    end_call(scripts, reset(scripts, &own), &own);
    return tell(scripts, error);
}

void mf_scene_leave_scripts(mf_Scene *scene) {
    if (scene->scripts != NULL)
        scene->scripts->left = true;
}

// ---- robots that were written -------------------------------------------------------------------

void mf_script_clean(mf_Scripts *scripts) {
    for (uint32_t g = 0; scripts->dirty > 0 && g < scripts->scene.group_count; g++) {
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
    for (uint32_t g = 0; g < scripts->scene.group_count; g++) {
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

static mf_Status start(mf_Scripts *scripts, mf_Error *error) {
    mf_Status status = MF_OK;
    scripts->started = true;
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

void mf_scene_on_print(mf_Scene *scene, mf_ScriptPrintFn print, void *user) {
    if (scene == NULL || scene->scripts == NULL)
        return;
    scene->scripts->print = print;
    scene->scripts->print_user = user;
}

mf_Status mf_scene_start_scripts(mf_Scene *scene, mf_Error *error) {
    mf_Error own = {0};
    MF_NEED(scene != NULL, error, "scripts: scene is NULL");
    if (scene->scripts == NULL)
        return MF_OK;
    mf_Scripts *scripts = scene->scripts;
    if (scripts->started)
        MF_TRY(mf_scene_reset_scripts(scene, error));
    const mf_Status status = start(scripts, &own);
    end_call(scripts, status, &own);
    return tell(scripts, error);
}

mf_Status mf_scene_finish_scripts(mf_Scene *scene, mf_Error *error) {
    mf_Error own = {0};
    MF_NEED(scene != NULL, error, "scripts: scene is NULL");
    if (scene->scripts == NULL)
        return MF_OK;
    mf_Scripts *scripts = scene->scripts;
    mf_Status status = scripts->status;
    for (uint32_t i = 0; i < scripts->count && scripts->started && status == MF_OK; i++)
        status = call_hook(&scripts->list[i], MF_SCRIPT_FINISH, &own);
    end_call(scripts, status, &own);
    return tell(scripts, error);
}

// ---- steps --------------------------------------------------------------------------------------

static uint64_t steps_so_far(const mf_Scripts *scripts) {
    const mf_World *world = scripts->scene.world;
    return (uint64_t)(mf_world_time(world) / mf_world_config_of(world)->step);
}

static uint64_t next_tick(const mf_Scripts *scripts, uint32_t index, uint64_t from) {
    const mf_Rate rate = scripts->list[index].from->tick;
    return rate.numerator == 0
               ? from
               : mf_rate_next_step(rate, mf_world_config_of(scripts->scene.world)->step, from);
}

static mf_Status tick(mf_Script *script, mf_Error *error) {
    mf_Status status = mf_script_tell_controls(script, error);
    MF_THEN(status, mf_script_notify(script, error));
    if (status == MF_OK && !script->all->stopped && mf_script_find(script, MF_SCRIPT_TICK)) {
        lua_pushnumber(script->lua, mf_time_to_seconds(mf_world_time(script->all->scene.world)));
        status = mf_script_call(script, "tick", 1, error);
    }
    return status == MF_OK ? mf_script_call_policies(script, error) : status;
}

static mf_Status call_due(mf_Scripts *scripts, mf_Error *error) {
    mf_Status status = MF_OK;
    const bool back = mf_world_time(scripts->scene.world) < scripts->time;
    for (uint32_t i = 0; i < scripts->count && back; i++)
        scripts->list[i].renewed = true;
    for (uint32_t i = 0; i < scripts->count && status == MF_OK && !scripts->stopped; i++) {
        const uint64_t now = steps_so_far(scripts);
        if (next_tick(scripts, i, now) == now)
            status = tick(&scripts->list[i], error);
        mf_script_clean(scripts);
    }
    scripts->time = mf_world_time(scripts->scene.world);
    return status;
}

// What is due at this point of the run, once.
static mf_Status call_once(mf_Scripts *scripts) {
    mf_Error own = {0};
    mf_Status status = scripts->status;
    if (!scripts->started)
        MF_THEN(status, start(scripts, &own));
    if (!scripts->called && !scripts->stopped)
        MF_THEN(status, call_due(scripts, &own));
    scripts->called = true;
    return end_call(scripts, status, &own);
}

// Steps until the next of them is due, at most `most`.
static uint64_t act(mf_BetweenSteps *own, uint64_t most) {
    mf_Scripts *scripts = (mf_Scripts *)own;
    if (scripts->left) {
        scripts->steps += most;
        return most;
    }
    if (call_once(scripts) != MF_OK || scripts->stopped || most == 0)
        return 0;
    const uint64_t now = steps_so_far(scripts);
    uint64_t length = most;
    for (uint32_t i = 0; i < scripts->count; i++) {
        const uint64_t next = next_tick(scripts, i, now + 1) - now;
        length = next < length ? next : length;
    }
    scripts->steps += length;
    scripts->called = false;
    return length;
}

mf_Status mf_scene_call_scripts(mf_Scene *scene, mf_Error *error) {
    if (scene->scripts == NULL)
        return MF_OK;
    call_once(scene->scripts);
    return tell(scene->scripts, error);
}

mf_Status mf_scene_step_by(mf_Scene *scene, void (*step)(void *user, uint64_t steps), void *user,
                           uint64_t steps, uint64_t *done, mf_Error *error) {
    mf_Scripts *scripts = scene->scripts;
    if (scripts != NULL)
        scripts->steps = 0;
    step(user, steps);
    if (done != NULL)
        *done = scripts != NULL ? scripts->steps : steps;
    return scripts != NULL ? tell(scripts, error) : MF_OK;
}

static void step_world(void *user, uint64_t steps) {
    mf_world_step(user, steps);
}

mf_Status mf_scene_step(mf_Scene *scene, uint64_t steps, uint64_t *done, mf_Error *error) {
    return mf_scene_step_by(scene, step_world, scene->world, steps, done, error);
}

const char *mf_scene_scripts_stopped(const mf_Scene *scene) {
    const mf_Scripts *scripts = scene->scripts;
    return scripts != NULL && scripts->stopped ? scripts->reason : NULL;
}

mf_Status mf_scene_scripts_status(const mf_Scene *scene, mf_Error *error) {
    MF_NEED(scene != NULL, error, "scripts: scene is NULL");
    if (scene->scripts == NULL)
        return MF_OK;
    MF_TRY(tell(scene->scripts, error));
    const char *reason = mf_scene_scripts_stopped(scene);
    return reason == NULL ? MF_OK
                          : mf_fail(error, MF_STOPPED, "stopped by a script%s%s",
                                    reason[0] != '\0' ? ": " : "", reason);
}

bool mf_scene_script_result(const mf_Scene *scene, uint32_t index, mf_ScriptResult *out) {
    if (out == NULL || scene == NULL || scene->scripts == NULL ||
        index >= scene->scripts->result_count)
        return false;
    const mf_ScriptText *result = &scene->scripts->results[index];
    *out = (mf_ScriptResult){.name = result->name,
                             .text = result->text.data != NULL ? result->text.data : "",
                             .size = result->text.size};
    return true;
}
