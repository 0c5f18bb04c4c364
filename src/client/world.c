// The client's calls that replace the served world, or add robots to it (client.h).
#include "client/link.h"
#include "base/floats.h"

static mf_Status load(mf_Client *client, uint32_t what, const char *text, size_t size,
                      mf_Error *error) {
    const mf_LoadRequest head = {.what = what};
    if (client == NULL || text == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or text is NULL");
    if (size > client->message_limit - sizeof head)
        return mf_client_fail(error, MF_LIMIT, "expected at most %zu bytes, found %zu",
                              client->message_limit - sizeof head, size);
    MF_TRY(mf_client_ask(client, MF_MESSAGE_LOAD, &head, text, size, NULL, error));
    return mf_client_refresh(client, error);
}

mf_Status mf_client_load(mf_Client *client, const char *path, mf_Error *error) {
    return load(client, MF_LOAD_FILE, path, path != NULL ? strlen(path) : 0, error);
}

mf_Status mf_client_load_scene(mf_Client *client, const char *text, size_t size, mf_Error *error) {
    return load(client, MF_LOAD_SCENE, text, size, error);
}

mf_Status mf_client_spawn(mf_Client *client, const mf_ClientSpawn *spawn, uint32_t *number,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (client == NULL || spawn == NULL || spawn->poses == NULL ||
        (spawn->file == NULL) == (spawn->group == NULL))
        return mf_client_fail(error, MF_BAD_ARGUMENT,
                              "client, spawn or its poses are NULL, or it has not one of file and "
                              "group");
    const char *source = spawn->file != NULL ? spawn->file : spawn->group;
    const char *name = spawn->name != NULL ? spawn->name : "";
    const size_t source_size = strlen(source), name_size = strlen(name);
    const size_t poses = sizeof *spawn->poses * (size_t)spawn->count;
    const size_t size = sizeof(mf_SpawnRequest) + poses + source_size + name_size;
    if (size > client->message_limit)
        return mf_client_fail(error, MF_LIMIT, "expected at most %u bytes, found %zu",
                              client->message_limit, size);
    mf_SpawnRequest *head = mf_client_message(client, MF_MESSAGE_SPAWN, 0, size);
    if (head == NULL)
        return mf_client_no_memory(error);
    *head = (mf_SpawnRequest){.count = spawn->count,
                              .source_size = (uint32_t)source_size,
                              .name_size = (uint32_t)name_size,
                              .what = spawn->file != NULL ? MF_SPAWN_FILE : MF_SPAWN_GROUP,
                              .height = spawn->height};
    uint8_t *out = (uint8_t *)(head + 1);
    memcpy(out, spawn->poses, poses);
    memcpy(out + poses, source, source_size);
    memcpy(out + poses + source_size, name, name_size);
    MF_TRY(mf_client_ask(client, MF_MESSAGE_SPAWN, NULL, NULL, 0, NULL, error));
    MF_TRY(mf_client_refresh(client, error));
    if (number != NULL)
        *number = client->group_count - 1;
    return MF_OK;
}
