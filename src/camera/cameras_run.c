// Taking pictures of a world's robots, and showing them after their delay. Each robot's picture is
// a task of its own, so results do not depend on threads.
#include "camera/cameras.h"

#include "math/scalar.h"

#include <string.h>

// ---- one picture --------------------------------------------------------------------------------

// Of the camera in the world; false: not finite.
static bool find_place(const mf_GroupCameras *own, const mf_Camera *camera, uint32_t instance,
                       mf_SightPlace *out) {
    double pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, turn[4];
    for (uint32_t c = 0; camera->frame.link != MF_NONE && c < 7; c++)
        pose[c] = mf_field_get(own->pose, instance, 7 * camera->frame.link + c);
    if (!mf_all_finite(pose, 7))
        return false;
    out->group = own->number;
    out->instance = instance;
    mf_quat_rotate(out->position, pose + 3, camera->frame.position);
    mf_vec3_add(out->position, out->position, pose);
    mf_quat_multiply(turn, pose + 3, camera->frame.rotation);
    mf_quat_to_matrix(out->rotation, turn);
    return true;
}

// The first of a picture's values in a field.
static size_t first_value(const mf_Field *field, uint32_t instance, size_t component) {
    return ((size_t)(instance / MF_BLOCK) * field->components + component) * MF_BLOCK +
           instance % MF_BLOCK;
}

typedef struct Target {
    mf_Field *field;
    size_t component; // [1] where the picture begins
} Target;

static Target target_of(const mf_OneCamera *one, int measure, uint64_t picture, bool visible) {
    const size_t size =
        (size_t)one->view->camera.width * one->view->camera.height * one->width[measure];
    const Target shown = {one->field[measure], 0};
    const Target hidden = {one->ring[measure], one->slots > 0 ? picture % one->slots * size : 0};
    return visible || one->slots == 0 ? shown : hidden;
}

static void give(const mf_OneCamera *one, const mf_SightRoom *room, uint32_t instance,
                 uint64_t picture, bool visible) {
    const mf_Raster *raster = &room->raster;
    const size_t pixels = (size_t)raster->width * raster->height;
    Target target = target_of(one, MF_CAMERA_COLOR, picture, visible);
    if (target.field != NULL) {
        uint32_t *to =
            (uint32_t *)target.field->data + first_value(target.field, instance, target.component);
        for (size_t i = 0; i < pixels; i++)
            to[i * MF_BLOCK] = (uint32_t)room->color[3 * i] |
                               (uint32_t)room->color[3 * i + 1] << 8 |
                               (uint32_t)room->color[3 * i + 2] << 16 | UINT32_C(255) << 24;
    }
    target = target_of(one, MF_CAMERA_DEPTH, picture, visible);
    if (target.field != NULL) {
        float *to =
            (float *)target.field->data + first_value(target.field, instance, target.component);
        for (size_t i = 0; i < pixels; i++)
            to[i * MF_BLOCK] =
                raster->depth[i / raster->width * raster->stride + i % raster->width];
    }
    target = target_of(one, MF_CAMERA_SEGMENTATION, picture, visible);
    if (target.field != NULL) {
        int32_t *to =
            (int32_t *)target.field->data + first_value(target.field, instance, target.component);
        for (size_t i = 0; i < pixels; i++) {
            int32_t owner[3];
            mf_develop_owner(room, i / raster->width * raster->stride + i % raster->width, owner);
            for (size_t c = 0; c < 3; c++)
                to[(3 * i + c) * MF_BLOCK] = owner[c];
        }
    }
}

static void take(const mf_GroupCameras *own, const mf_OneCamera *one, uint32_t instance,
                 uint64_t picture, bool visible) {
    const mf_Cameras *all = own->all;
    mf_SightPlace place;
    mf_SightRoom room;
    if (!find_place(own, one->camera, instance, &place))
        return;
    void *memory = mf_scratch_borrow(all->scratch);
    mf_sight_room_lay(&room, memory, all->sight, one->view);
    const uint64_t stream = one->stream ^ (uint64_t)instance * UINT64_C(0x9e3779b97f4a7c15);
    const mf_PhotoNoise noise = {(float)one->camera->noise, (uint32_t)(stream ^ stream >> 32),
                                 mf_world_config_of(all->sight->world)->seed, picture};
    mf_develop(all->sight, one->view, &one->chip, &place, &noise, &room);
    give(one, &room, instance, picture, visible);
    mf_scratch_return(all->scratch, memory);
}

// ---- delays -------------------------------------------------------------------------------------

// Shows, for some blocks, the picture that was taken a delay ago, at the step at which that is so.
static void show(const mf_OneCamera *one, mf_Time now, mf_Time step, uint32_t first_block,
                 uint32_t blocks) {
    const mf_Time then = now - one->camera->delay;
    if (one->slots == 0 || then < 0 || !mf_rate_due(one->camera->rate, then, step))
        return;
    const uint64_t picture = (uint64_t)mf_rate_ticks(one->camera->rate, then) - 1;
    for (int i = 0; i < MF_CAMERA_MEASURES; i++) {
        if (one->field[i] == NULL)
            continue;
        const size_t values = (size_t)one->field[i]->components * MF_BLOCK, bytes = values * 4;
        for (uint32_t b = first_block; b < first_block + blocks; b++)
            memcpy((char *)one->field[i]->data + b * bytes,
                   (const char *)one->ring[i]->data +
                       (b * (size_t)one->slots + picture % one->slots) * bytes,
                   bytes);
    }
}

// ---- groups of isolated robots ------------------------------------------------------------------

void mf_cameras_run_group(const mf_SystemRun *run, void *user) {
    const mf_GroupCameras *own = user;
    const mf_Time now = run->time + run->step;
    const uint32_t begin = run->first_block * MF_BLOCK, count = mf_group_count(own->group);
    const uint32_t rest = count - begin, room = run->block_count * MF_BLOCK;
    for (uint32_t i = 0; i < own->count; i++) {
        const mf_OneCamera *one = &own->cameras[i];
        if (mf_rate_due(one->camera->rate, now, run->step)) {
            const uint64_t picture = (uint64_t)mf_rate_ticks(one->camera->rate, now) - 1;
            for (uint32_t k = 0; k < (rest < room ? rest : room); k++)
                take(own, one, begin + k, picture, false);
        }
        show(one, now, run->step, run->first_block, run->block_count);
    }
}

// All of its pictures, also those that are on their way.
static void take_all(const mf_GroupCameras *own, const mf_OneCamera *one, uint32_t instance,
                     mf_Time now) {
    const uint64_t picture = (uint64_t)mf_rate_ticks(one->camera->rate, now) - 1;
    take(own, one, instance, picture, true);
    for (uint32_t s = 0; s < one->slots; s++)
        for (int i = 0; i < MF_CAMERA_MEASURES; i++) {
            const mf_Field *from = one->field[i];
            for (uint32_t c = 0; from != NULL && c < from->components; c++)
                ((uint32_t *)one->ring[i]->data)[first_value(one->ring[i], instance,
                                                             (size_t)s * from->components + c)] =
                    ((const uint32_t *)from->data)[first_value(from, instance, c)];
        }
}

void mf_cameras_reset(mf_Group *group, uint32_t instance, void *user) {
    const mf_GroupCameras *own = user;
    for (uint32_t i = 0; i < own->count; i++)
        take_all(own, &own->cameras[i], instance, mf_world_time(mf_group_world(group)));
}

// ---- shared groups, and all at once -------------------------------------------------------------

typedef struct Task {
    const mf_GroupCameras *own;
    const mf_OneCamera *one;
    uint64_t picture;
    mf_Time now;
} Task;

static void take_one(void *user, uint32_t index) {
    const Task *task = user;
    take(task->own, task->one, index, task->picture, false);
}

void mf_cameras_run_world(const mf_WorldRun *run, void *user) {
    const mf_Cameras *cameras = user;
    const mf_Time now = run->time + run->step;
    for (uint32_t g = 0; g < cameras->group_count; g++) {
        const mf_GroupCameras *own = &cameras->groups[g];
        for (uint32_t i = 0; i < own->count && !own->isolated; i++) {
            const mf_OneCamera *one = &own->cameras[i];
            Task task = {.own = own, .one = one, .now = now};
            if (mf_rate_due(one->camera->rate, now, run->step)) {
                task.picture = (uint64_t)mf_rate_ticks(one->camera->rate, now) - 1;
                mf_parallel_for(cameras->sight->context, mf_group_count(own->group), take_one,
                                &task);
            }
            show(one, now, run->step, 0, mf_group_block_count(own->group));
        }
    }
}

static void take_all_of(void *user, uint32_t index) {
    const Task *task = user;
    take_all(task->own, task->one, index, task->now);
}

mf_Status mf_cameras_take(mf_World *world, mf_Error *error) {
    const mf_Cameras *cameras = mf_cameras_of(world);
    if (cameras == NULL)
        return mf_fail(error, MF_NOT_FOUND, "mf_cameras_take: call mf_cameras_add before");
    for (uint32_t g = 0; g < cameras->group_count; g++)
        for (uint32_t i = 0; i < cameras->groups[g].count; i++) {
            Task task = {.own = &cameras->groups[g],
                         .one = &cameras->groups[g].cameras[i],
                         .now = mf_world_time(world)};
            mf_parallel_for(cameras->sight->context, mf_group_count(task.own->group), take_all_of,
                            &task);
        }
    return MF_OK;
}
