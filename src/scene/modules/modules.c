// What a scene says about modular robots: docks act where a group's model has some, their limits,
// the keys of those that are joined at the start (docks.c), and messages.
#include "scene/modules/modules.h"
#include "model/mounted.h"
#include "scene/watch.h"
#include "solve/modules/docks.h"

#include <mayfly/messages.h>

#include <string.h>

// ---- docks --------------------------------------------------------------------------------------

bool mf_scene_is_modular(const mf_SceneBuilder *builder, uint32_t index) {
    return builder->scene->models[index] != NULL && builder->scene->models[index]->dock_count > 0 &&
           !mf_scene_group_isolated(builder, index);
}

// The model is the scene's own, and nobody has seen it yet.
mf_Status mf_scene_limit_modules(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_DockLimits *limits = &from->dock_limits;
    const mf_Model *model = builder->scene->models[index];
    const bool any = limits->tension > 0.0 || limits->shear > 0.0 || limits->bending > 0.0 ||
                     limits->torsion > 0.0;
    if (any && (model->dock_count == 0 || from->model != NULL))
        return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file, limits->line,
                          limits->column, "groups.%s.dock_limits: the %s", from->name,
                          model->dock_count == 0 ? "model has no docks"
                                                 : "model is the caller's, which may not change");
    for (uint32_t d = 0; any && d < model->dock_count; d++) {
        mf_Dock *dock = (mf_Dock *)(uintptr_t)&model->docks[d];
        dock->tension = limits->tension > 0.0 ? limits->tension : dock->tension;
        dock->shear = limits->shear > 0.0 ? limits->shear : dock->shear;
        dock->bending = limits->bending > 0.0 ? limits->bending : dock->bending;
        dock->torsion = limits->torsion > 0.0 ? limits->torsion : dock->torsion;
    }
    return MF_OK;
}

void mf_scene_locate_modules(const mf_Reader *reader, mf_SceneGroup *group) {
    mf_scene_note_location(reader, "chain", &group->chain.line, &group->chain.column);
    mf_scene_note_location(reader, "dock_limits", &group->dock_limits.line,
                           &group->dock_limits.column);
}

bool mf_scene_is_module_field(const char *name) {
    return strncmp(name, "message.", 8) == 0 || strncmp(name, "dock.", 5) == 0;
}

bool mf_scene_is_early(const mf_SceneBuilder *builder, uint32_t index, const char *path) {
    return strncmp(path, "dock.", 5) == 0 && mf_scene_is_modular(builder, index) &&
           mf_world_docks_of(builder->scene->world) == NULL;
}

// A chain of robots whose docks do not act would be dropped without a word.
static mf_Status check_chain(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    if (from->chain.first[0] == '\0' || mf_scene_is_modular(builder, index))
        return MF_OK;
    return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file, from->chain.line,
                      from->chain.column, "docks: the robots of group %.80s %s", from->name,
                      mf_scene_group_isolated(builder, index)
                          ? "are isolated, a chain needs shared ones"
                          : "have no docks");
}

// Whether any dock of the scene's modules, or of its own model, fits a dock.
static bool fits_any(const mf_SceneBuilder *builder, const mf_Dock *dock) {
    for (uint32_t i = 0; i < builder->file->group_count; i++) {
        const mf_Model *model = builder->scene->models[i];
        for (uint32_t d = 0; mf_scene_is_modular(builder, i) && d < model->dock_count; d++)
            if (mf_dock_fits(dock, &model->docks[d]))
                return true;
    }
    return false;
}

static void note_misfits(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_Model *model = builder->scene->models[index];
    uint32_t misfits = 0;
    const char *first = NULL;
    for (uint32_t d = 0; d < model->dock_count; d++) {
        if (fits_any(builder, &model->docks[d]))
            continue;
        first = first == NULL ? model->docks[d].name : first;
        misfits++;
    }
    if (misfits > 0)
        mf_scene_note(
            builder->scene,
            "group %.60s: %u of %u docks fit none of the scene, by gender or type: %.60s%s",
            builder->file->groups[index].name, misfits, model->dock_count, first,
            misfits > 1 ? " ..." : "");
}

mf_Status mf_scene_add_modules(mf_SceneBuilder *builder) {
    bool any = false;
    mf_WorldDocks *docks;
    for (uint32_t i = 0; i < builder->file->group_count; i++) {
        MF_TRY(check_chain(builder, i));
        any = any || mf_scene_is_modular(builder, i);
        if (builder->scene->models[i]->dock_count > 0 && mf_scene_group_isolated(builder, i))
            mf_scene_note(builder->scene, "group %.60s: isolated robots do not dock",
                          builder->file->groups[i].name);
    }
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        if (mf_scene_is_modular(builder, i))
            note_misfits(builder, i);
    if (!any && builder->file->dock_count > 0)
        return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file,
                          builder->file->docks[0].line, builder->file->docks[0].column,
                          "docks: no group's model has docks");
    if (!any)
        return MF_OK;
    mf_Status status = mf_world_docks_add(builder->scene->world, NULL, &docks, builder->error);
    builder->scene->joints = mf_world_joints_of(builder->scene->world);
    return status == MF_OK ? mf_scene_connect_docks(builder, docks) : status;
}

static const char *state_name(uint32_t state) {
    return mf_dock_state_name((mf_DockState)state);
}

const mf_WatchedParts mf_watched_parts = {
    .name = "dock", .field = "dock.state", .item = MF_ITEM_DOCK, .state = state_name};

// ---- messages -----------------------------------------------------------------------------------

mf_Status mf_scene_add_messages(mf_SceneBuilder *builder) {
    const mf_SceneFile *file = builder->file;
    mf_World *world = builder->scene->world;
    mf_Messages *messages;
    mf_Error cause = {0};
    if (!file->talks)
        return MF_OK;
    if (mf_world_docks_of(world) == NULL)
        return mf_fail_at(builder->error, MF_BAD_FILE, file->file, 0, 0,
                          "messages: no group's model has docks");
    mf_Status status = mf_messages_add(world, &file->messages, &messages, &cause);
    if (status == MF_NO_MEMORY)
        return mf_fail(builder->error, status, "%s", cause.message);
    if (status == MF_OK)
        return MF_OK;
    return mf_fail_at(builder->error, status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status, file->file,
                      0, 0, "%s", cause.message);
}
