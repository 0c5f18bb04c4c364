// The messages of a scene file, added after its docks.
#include "scene/builder.h"

#include <mayfly/messages.h>

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
