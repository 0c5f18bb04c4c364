// Taking pictures of a world's robots, and showing them after their delay. Each robot's picture is
// a task of its own, so results do not depend on threads.
#include "camera/cameras.h"
#include "camera/picture.h"
#include "world/attach.h"
#include "base/context.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <string.h>

// ---- one picture --------------------------------------------------------------------------------

// Of the camera in the world; false: not finite.
static bool find_position(const mf_GroupCameras *own, const mf_OneCamera *one, uint32_t instance,
                          mf_RenderPose *out) {
    const mf_Camera *camera = &mf_group_model_of(own->group, instance)->cameras[one - own->cameras];
    double pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, rotation[4];
    for (uint32_t c = 0; camera->frame.link != MF_NONE && c < 7; c++)
        pose[c] = mf_field_get(own->pose, instance, 7 * camera->frame.link + c);
    if (!mf_all_finite(pose, 7))
        return false;
    out->group = own->number;
    out->instance = instance;
    mf_quat_rotate(out->position, pose + 3, camera->frame.position);
    mf_vec3_add(out->position, out->position, pose);
    mf_quat_multiply(rotation, pose + 3, camera->frame.rotation);
    mf_quat_to_matrix(out->rotation, rotation);
    return true;
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

static void give_color(const mf_RenderBuffers *buffers, uint32_t instance, Target target) {
    const size_t pixels = (size_t)buffers->raster.width * buffers->raster.height;
    if (target.field == NULL)
        return;
    uint32_t *to =
        (uint32_t *)target.field->data + mf_field_index(target.field, instance, target.component);
    for (size_t i = 0; i < pixels; i++)
        to[i * MF_BLOCK] = (uint32_t)buffers->color[3 * i] |
                           (uint32_t)buffers->color[3 * i + 1] << 8 |
                           (uint32_t)buffers->color[3 * i + 2] << 16 | UINT32_C(255) << 24;
}

// Depth of the rows that were drawn.
static void give_depth(const mf_RenderBuffers *buffers, uint32_t instance, Target target) {
    const mf_Raster *raster = &buffers->raster;
    if (target.field == NULL)
        return;
    float *to =
        (float *)target.field->data + mf_field_index(target.field, instance, target.component);
    for (uint32_t y = raster->top; y < raster->bottom; y++)
        for (uint32_t x = 0; x < raster->width; x++)
            to[((size_t)y * raster->width + x) * MF_BLOCK] =
                raster->depth[(size_t)y * raster->stride + x];
}

static void give_owners(const mf_RenderBuffers *buffers, uint32_t instance, Target target) {
    const mf_Raster *raster = &buffers->raster;
    if (target.field == NULL)
        return;
    int32_t *to =
        (int32_t *)target.field->data + mf_field_index(target.field, instance, target.component);
    for (uint32_t y = raster->top; y < raster->bottom; y++)
        for (uint32_t x = 0; x < raster->width; x++) {
            int32_t owner[3];
            mf_develop_owner(buffers, (size_t)y * raster->stride + x, owner);
            for (size_t c = 0; c < 3; c++)
                to[(3 * ((size_t)y * raster->width + x) + c) * MF_BLOCK] = owner[c];
        }
}

// ---- rows of a rolling shutter ------------------------------------------------------------------

// Colors before the chip: of the rows that were drawn to the field, or all rows back.
static void move_colors(const mf_OneCamera *one, const mf_RenderBuffers *buffers, uint32_t instance,
                        bool back) {
    const mf_Field *field = one->rows[MF_CAMERA_COLOR];
    const size_t width = 3 * (size_t)buffers->raster.width;
    const size_t first = back ? 0 : buffers->raster.top * width,
                 end = (back ? buffers->raster.height : buffers->raster.bottom) * width;
    if (field == NULL)
        return;
    float *kept = (float *)field->data + mf_field_index(field, instance, 0);
    for (size_t i = first; i < end; i++)
        if (back)
            buffers->color[i] = kept[i * MF_BLOCK];
        else
            kept[i * MF_BLOCK] = buffers->color[i];
}

static void keep_rows(const mf_OneCamera *one, const mf_RenderBuffers *buffers, uint32_t instance) {
    if (one->readout == 0)
        return;
    move_colors(one, buffers, instance, false);
    give_depth(buffers, instance, (Target){one->rows[MF_CAMERA_DEPTH], 0});
    give_owners(buffers, instance, (Target){one->rows[MF_CAMERA_SEGMENTATION], 0});
}

// Values of four bytes.
static void copy_rows(const mf_Field *from, uint32_t instance, Target to) {
    for (uint32_t c = 0; to.field != NULL && c < from->components; c++)
        ((uint32_t *)to.field->data)[mf_field_index(to.field, instance, to.component + c)] =
            ((const uint32_t *)from->data)[mf_field_index(from, instance, c)];
}

// ---- taking -------------------------------------------------------------------------------------

typedef struct Shot {
    const mf_GroupCameras *own;
    const mf_OneCamera *one;
    uint32_t instance;
    uint64_t picture; // [1] its number
    bool visible;     // at once, whatever the delay
} Shot;

// The chip, and all pixels to where they belong; `rolled`: from the rows that were kept.
static void finish(const Shot *shot, mf_RenderBuffers *buffers, bool rolled) {
    const mf_OneCamera *one = shot->one;
    const mf_RenderScene *scene = shot->own->all->scene;
    const uint64_t stream = one->stream ^ (uint64_t)shot->instance * UINT64_C(0x9e3779b97f4a7c15);
    const mf_PhotoNoise noise = {(float)one->camera->noise, (uint32_t)(stream ^ stream >> 32),
                                 mf_world_config_of(scene->world)->seed, shot->picture};
    Target to[MF_CAMERA_MEASURES];
    for (int i = 0; i < MF_CAMERA_MEASURES; i++)
        to[i] = target_of(one, i, shot->picture, shot->visible);
    if (rolled)
        move_colors(one, buffers, shot->instance, true);
    mf_develop_chip(scene, one->view, &one->chip, &noise, buffers);
    give_color(buffers, shot->instance, to[MF_CAMERA_COLOR]);
    if (rolled) {
        copy_rows(one->rows[MF_CAMERA_DEPTH], shot->instance, to[MF_CAMERA_DEPTH]);
        copy_rows(one->rows[MF_CAMERA_SEGMENTATION], shot->instance, to[MF_CAMERA_SEGMENTATION]);
    } else {
        give_depth(buffers, shot->instance, to[MF_CAMERA_DEPTH]);
        give_owners(buffers, shot->instance, to[MF_CAMERA_SEGMENTATION]);
    }
}

// A whole picture of this moment.
static void take(const Shot *shot) {
    const mf_Cameras *all = shot->own->all;
    mf_RenderPose pose;
    mf_RenderBuffers buffers;
    if (!find_position(shot->own, shot->one, shot->instance, &pose))
        return;
    void *memory = mf_scratch_borrow(all->scratch);
    mf_render_buffers_lay(&buffers, memory, all->scene, shot->one->view);
    mf_develop_draw(all->scene, shot->one->view, &pose, &buffers);
    keep_rows(shot->one, &buffers, shot->instance);
    finish(shot, &buffers, false);
    mf_scratch_return(all->scratch, memory);
}

// [ns] of a tick, rounded up to whole ones.
static mf_Time tick_time(mf_Rate rate, uint64_t tick) {
    const __int128 above = (__int128)tick * rate.denominator * MF_SECOND;
    return (mf_Time)((above + rate.numerator - 1) / rate.numerator);
}

// The rows that fall into the step from `time` to `now`, of all pictures that are being taken.
static void roll(Shot shot, mf_Time time, mf_Time now) {
    const mf_Cameras *all = shot.own->all;
    const mf_OneCamera *one = shot.one;
    mf_RenderPose pose;
    mf_RenderBuffers buffers;
    if (!find_position(shot.own, one, shot.instance, &pose))
        return;
    void *memory = mf_scratch_borrow(all->scratch);
    mf_render_buffers_lay(&buffers, memory, all->scene, one->view);
    for (shot.picture = (uint64_t)mf_rate_ticks(one->camera->rate, time);; shot.picture++) {
        const mf_Time end = tick_time(one->camera->rate, shot.picture);
        uint32_t count;
        mf_rolling_rows(one->camera->height, one->readout, end, time, now, &buffers.raster.top,
                        &count);
        buffers.raster.bottom = buffers.raster.top + count;
        if (count > 0) {
            mf_develop_draw(all->scene, one->view, &pose, &buffers);
            keep_rows(one, &buffers, shot.instance);
        }
        if (end > now)
            break;
        finish(&shot, &buffers, true);
    }
    mf_scratch_return(all->scratch, memory);
}

// Whether a camera has anything to do in a step from `time` to `now`.
static bool is_busy(const mf_OneCamera *one, mf_Time time, mf_Time now) {
    const mf_Rate rate = one->camera->rate;
    if (one->readout > 0)
        return tick_time(rate, (uint64_t)mf_rate_ticks(rate, time)) - one->readout <= now;
    return mf_rate_due(rate, now, now - time);
}

static void step_one(const mf_GroupCameras *own, const mf_OneCamera *one, uint32_t instance,
                     mf_Time time, mf_Time now) {
    const Shot shot = {.own = own,
                       .one = one,
                       .instance = instance,
                       .picture = (uint64_t)mf_rate_ticks(one->camera->rate, now) - 1};
    if (one->readout > 0)
        roll(shot, time, now);
    else
        take(&shot);
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
    const uint32_t rest = count - begin, capacity = run->block_count * MF_BLOCK;
    for (uint32_t i = 0; i < own->count; i++) {
        const mf_OneCamera *one = &own->cameras[i];
        const bool busy = is_busy(one, run->time, now);
        for (uint32_t k = 0; busy && k < (rest < capacity ? rest : capacity); k++)
            step_one(own, one, begin + k, run->time, now);
        show(one, now, run->step, run->first_block, run->block_count);
    }
}

// All of its pictures, also those that are on their way.
static void take_all(const mf_GroupCameras *own, const mf_OneCamera *one, uint32_t instance,
                     mf_Time now) {
    const Shot shot = {.own = own,
                       .one = one,
                       .instance = instance,
                       .picture = (uint64_t)mf_rate_ticks(one->camera->rate, now) - 1,
                       .visible = true};
    take(&shot);
    for (uint32_t s = 0; s < one->slots; s++)
        for (int i = 0; i < MF_CAMERA_MEASURES; i++) {
            const mf_Field *from = one->field[i];
            for (uint32_t c = 0; from != NULL && c < from->components; c++)
                ((uint32_t *)one->ring[i]->data)[mf_field_index(one->ring[i], instance,
                                                                (size_t)s * from->components + c)] =
                    ((const uint32_t *)from->data)[mf_field_index(from, instance, c)];
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
    mf_Time time, now;
} Task;

static void take_one(void *user, uint32_t index) {
    const Task *task = user;
    step_one(task->own, task->one, index, task->time, task->now);
}

void mf_cameras_run_world(const mf_WorldRun *run, void *user) {
    const mf_Cameras *cameras = user;
    const mf_Time now = run->time + run->step;
    for (uint32_t g = 0; g < cameras->group_count; g++) {
        const mf_GroupCameras *own = &cameras->groups[g];
        for (uint32_t i = 0; i < own->count && !own->isolated; i++) {
            const mf_OneCamera *one = &own->cameras[i];
            Task task = {.own = own, .one = one, .time = run->time, .now = now};
            if (is_busy(one, run->time, now))
                mf_parallel_for(cameras->scene->context, mf_group_count(own->group), take_one,
                                &task);
            show(one, now, run->step, 0, mf_group_block_count(own->group));
        }
    }
}

static void take_all_of(void *user, uint32_t index) {
    const Task *task = user;
    take_all(task->own, task->one, index, task->now);
}

mf_Status mf_cameras_take(mf_World *world, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_Cameras *cameras = mf_cameras_of(world);
    MF_CHECK(cameras != NULL, error, MF_NOT_FOUND, "mf_cameras_take: call mf_cameras_add before");
    for (uint32_t g = 0; g < cameras->group_count; g++)
        for (uint32_t i = 0; i < cameras->groups[g].count; i++) {
            Task task = {.own = &cameras->groups[g],
                         .one = &cameras->groups[g].cameras[i],
                         .now = mf_world_time(world)};
            mf_parallel_for(cameras->scene->context, mf_group_count(task.own->group), take_all_of,
                            &task);
        }
    return MF_OK;
}
