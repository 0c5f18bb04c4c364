// Pictures for clients: those of the scene's cameras, and of the cameras of all robots' models,
// taken between two steps when a client asks for them.
#include "serve/peer.h"

#include "camera/camera_pose.h"

#include <mayfly/links.h>

#define PHOTO_MOST ((size_t)64 << 20) // [byte] of one picture

// ---- the cameras -------------------------------------------------------------------------------

static mf_Status find_eyes(mf_Server *server, mf_Error *error) {
    const mf_Scene *scene = server->scene;
    mf_LinkEye *eye = server->eyes;
    for (uint32_t i = 0; i < scene->file->camera_count; i++, eye++) {
        eye->group = MF_PROTOCOL_ALL;
        MF_TRY(mf_scene_camera(scene, i, &eye->camera, &eye->carrier, &eye->robot, error));
    }
    for (uint32_t g = 0; g < scene->group_count; g++)
        for (uint32_t i = 0; i < scene->models[g]->camera_count; i++)
            *eye++ = (mf_LinkEye){.camera = scene->models[g]->cameras[i], .group = g, .carrier = g};
    return MF_OK;
}

mf_Status mf_link_find_eyes(mf_Server *server, mf_Error *error) {
    const mf_Scene *scene = server->scene;
    server->eye_count = scene->file->camera_count;
    for (uint32_t g = 0; g < scene->group_count; g++)
        server->eye_count += scene->models[g]->camera_count;
    if (server->eye_count == 0)
        return MF_OK;
    server->eyes = mf_allocate(server->context, server->eye_count, sizeof *server->eyes);
    MF_NEED_MEMORY(server->eyes != NULL, error, "serve");
    MF_TRY(find_eyes(server, error));
    for (uint32_t g = 0; g < scene->group_count; g++)
        if (scene->models[g]->link_count > 0)
            MF_TRY(mf_group_derive_links(mf_world_group(server->world, g), error));
    return MF_OK;
}

void mf_link_drop_eyes(mf_Server *server) {
    for (uint32_t i = 0; server->eyes != NULL && i < server->eye_count; i++)
        mf_free_camera_destroy(server->eyes[i].free);
    mf_release(server->context, server->eyes);
}

static mf_LinkEye *find_eye(mf_Server *server, uint32_t group, uint32_t camera) {
    for (uint32_t i = 0; i < server->eye_count; i++)
        if (server->eyes[i].group == group && camera-- == 0)
            return &server->eyes[i];
    return NULL;
}

// ---- the list ----------------------------------------------------------------------------------

// What follows the head; NULL: as mf_peer_message.
static void *put_head(mf_Server *server, mf_Peer *peer, uint32_t tag, uint32_t kind, uint32_t width,
                      uint32_t height, size_t size) {
    mf_PhotoAnswer *out = mf_peer_message(server, peer, MF_ANSWER_PHOTO, tag, sizeof *out + size);
    if (out == NULL)
        return NULL;
    *out = (mf_PhotoAnswer){mf_link_tick(server), mf_world_time(server->world), kind, width, height,
                            (uint32_t)size};
    return out + 1;
}

static uint32_t measures(const mf_Camera *camera) {
    return (camera->color ? 1u << MF_PHOTO_COLOR : 0u) |
           (camera->depth ? 1u << MF_PHOTO_DEPTH : 0u) |
           (camera->segmentation ? 1u << MF_PHOTO_SEGMENTATION : 0u);
}

static void put_list(mf_Server *server, mf_Peer *peer, uint32_t tag, uint32_t group) {
    uint32_t count = 0;
    size_t size = 0;
    for (uint32_t i = 0; i < server->eye_count; i++) {
        const mf_LinkEye *eye = &server->eyes[i];
        count += eye->group == group;
        size += eye->group == group
                    ? sizeof(mf_CameraPart) + mf_wire_padded(strlen(eye->camera.name), 4)
                    : 0;
    }
    uint8_t *out = put_head(server, peer, tag, MF_PHOTO_LIST, count, 1, size);
    for (uint32_t i = 0; out != NULL && i < server->eye_count; i++) {
        const mf_LinkEye *eye = &server->eyes[i];
        const size_t length = strlen(eye->camera.name), padded = mf_wire_padded(length, 4);
        if (eye->group != group)
            continue;
        *(mf_CameraPart *)(void *)out = (mf_CameraPart){eye->camera.width, eye->camera.height,
                                                        measures(&eye->camera), (uint32_t)length};
        out += sizeof(mf_CameraPart);
        memset(out, 0, padded);
        memcpy(out, eye->camera.name, length);
        out += padded;
    }
}

// ---- a picture ---------------------------------------------------------------------------------

// Of isolated groups a camera that no robot carries sees the first robot of the first one.
static uint32_t seen_group(const mf_Server *server, const mf_LinkEye *eye) {
    return eye->carrier != MF_NONE ? eye->carrier : mf_first_isolated(server->world);
}

static mf_Status take(mf_Server *server, mf_LinkEye *eye, uint32_t robot,
                      const mf_CameraPixels *pixels, mf_Error *error) {
    double position[3], rotation[4];
    const mf_Field *pose = NULL;
    if (eye->carrier != MF_NONE)
        pose = mf_group_find_field(mf_world_group(server->world, eye->carrier), "link.pose");
    if (!mf_camera_pose(&eye->camera.frame, pose, robot, position, rotation))
        return mf_fail(error, MF_NOT_FOUND, "the pose of robot %u is not finite", robot);
    mf_Status status = MF_OK;
    if (eye->free == NULL)
        status = mf_free_camera_create(server->world, &eye->camera, &eye->free, error);
    return status == MF_OK ? mf_free_camera_take(eye->free, position, rotation,
                                                 seen_group(server, eye), robot, pixels, error)
                           : status;
}

static mf_Status put_picture(mf_Server *server, mf_Peer *peer, uint32_t tag, mf_LinkEye *eye,
                             uint32_t robot, uint32_t kind, mf_Error *error) {
    const uint32_t width = eye->camera.width, height = eye->camera.height;
    const size_t unit = kind == MF_PHOTO_COLOR ? 3 : kind == MF_PHOTO_DEPTH ? 4 : 12;
    const size_t size = unit * width * height;
    if (size > PHOTO_MOST)
        return mf_fail(error, MF_LIMIT, "a picture of %zu bytes, expected at most 2^26", size);
    void *data = mf_allocate(server->context, size, 1);
    MF_NEED_MEMORY(data != NULL, error, "serve");
    const mf_CameraPixels pixels = {.color = kind == MF_PHOTO_COLOR ? data : NULL,
                                    .depth = kind == MF_PHOTO_DEPTH ? data : NULL,
                                    .segmentation = kind == MF_PHOTO_SEGMENTATION ? data : NULL};
    mf_Status status = take(server, eye, robot, &pixels, error);
    uint8_t *out = status == MF_OK ? put_head(server, peer, tag, kind, width, height, size) : NULL;
    if (out != NULL)
        memcpy(out, data, size);
    mf_release(server->context, data);
    return status;
}

mf_Status mf_answer_photo(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const mf_PhotoRequest *in = message->data;
    const uint32_t group = in->group, tag = message->tag;
    const bool fixed = group == MF_PROTOCOL_ALL;
    if (!fixed && group >= mf_world_group_count(server->world))
        return mf_fail(error, MF_NOT_FOUND, "expected a group below %u, found %u",
                       mf_world_group_count(server->world), group);
    if (in->kind == MF_PHOTO_LIST) {
        put_list(server, peer, tag, group);
        return MF_BUSY;
    }
    const uint32_t most = fixed ? 1 : mf_group_count(mf_world_group(server->world, group));
    mf_LinkEye *eye = find_eye(server, group, in->camera);
    MF_CHECK(eye != NULL, error, MF_NOT_FOUND, "there is no camera %u", in->camera);
    if (in->instance >= most)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected an instance below %u, found %u", most,
                       in->instance);
    MF_TRY(put_picture(server, peer, tag, eye, fixed ? eye->robot : in->instance, in->kind, error));
    return MF_BUSY;
}
