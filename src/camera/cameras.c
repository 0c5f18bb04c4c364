// The cameras of a world's robots: fields, and when pictures are taken (cameras_run.c takes them).
//
// Groups of isolated robots have a system of the group: each block takes its own pictures. Robots
// of shared groups see each other, so one system of the world takes all of theirs after all groups
// have moved.
#include "camera/cameras.h"
#include "base/floats.h"

#include "base/hash.h"
#include "world/attach.h"
#include "world/systems.h"

#include <stdio.h>
#include <string.h>

static const char system_name[] = "cameras";

// ---- fields -------------------------------------------------------------------------------------

static const struct {
    const char *name, *unit, *about;
    mf_FieldType type;
    uint32_t width; // [1] values per pixel
} measures[MF_CAMERA_MEASURES] = {
    {"color", "1", "red + 256 green + 65536 blue + 255 * 2^24 per pixel", MF_U32, 1},
    {"depth", "m", "per pixel, along the optical axis", MF_F32, 1},
    {"segmentation", "1", "group, robot and link per pixel", MF_I32, 3}};

// What a field is for: pictures, those on their way, rows of those that are not complete.
typedef enum Part { SHOWN, DELAYED, ROWS } Part;

static mf_Status add_field(mf_GroupCameras *own, const mf_Camera *camera, int measure, Part part,
                           uint32_t slots, mf_Field **out, mf_Error *error) {
    static const char *const ends[] = MF_NAMES("", ".delayed", ".rows"};
static const char *const texts[] = {NULL, "pictures that are not visible yet",
                                    "rows of the picture that is being taken"};
const bool raw = part == ROWS && measure == MF_CAMERA_COLOR; // before the chip
char name[300];
snprintf(name, sizeof name, "camera.%.200s.%s%s", camera->name, measures[measure].name, ends[part]);
const mf_FieldInfo info = MF_FIELD_INFO(
    name, measures[measure].unit, "", raw ? MF_F32 : measures[measure].type, MF_FIXED_COUNT,
    raw ? 3 : measures[measure].width, MF_FIELD_STATE | MF_FIELD_OUTPUT,
    part == SHOWN ? measures[measure].about : texts[part]);
return mf_attach_field(own->group, &info, camera->width * camera->height * slots, out, error);
}

static mf_Status add_fields(mf_GroupCameras *own, mf_OneCamera *one, mf_Error *error) {
    const mf_Camera *camera = one->camera;
    const bool requested[MF_CAMERA_MEASURES] = {camera->color, camera->depth, camera->segmentation};
    mf_Status status = MF_OK;
    for (int i = 0; i < MF_CAMERA_MEASURES && status == MF_OK; i++) {
        if (!requested[i])
            continue;
        one->width[i] = measures[i].width;
        status = add_field(own, camera, i, SHOWN, 1, &one->field[i], error);
        if (status == MF_OK && one->slots > 0)
            status = add_field(own, camera, i, DELAYED, one->slots, &one->ring[i], error);
        if (status == MF_OK && one->readout > 0)
            status = add_field(own, camera, i, ROWS, 1, &one->rows[i], error);
    }
    return status;
}

// ---- making -------------------------------------------------------------------------------------

static mf_Status check_camera(const mf_World *world, const mf_Camera *camera, mf_Error *error) {
    const mf_Time step = mf_world_config_of(world)->step;
    if (camera->readout * (double)camera->rate.numerator >
        (double)camera->rate.denominator * (1.0 + 1e-12))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "camera %s: a readout of %g s is longer than the time between two pictures",
                       camera->name, camera->readout);
    if ((double)camera->rate.numerator * mf_time_to_seconds(step) >
        (double)camera->rate.denominator * (1.0 + 1e-12))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "camera %s: %g pictures per second are more than one per step of %g s",
                       camera->name,
                       (double)camera->rate.numerator / (double)camera->rate.denominator,
                       mf_time_to_seconds(step));
    return MF_OK;
}

// Pictures that are taken within a delay, and one.
static uint32_t count_slots(const mf_Camera *camera) {
    return camera->delay > 0 ? (uint32_t)mf_rate_ticks(camera->rate, camera->delay) + 1 : 0;
}

static mf_Status take_camera(mf_Cameras *cameras, mf_GroupCameras *own, uint32_t index,
                             mf_Error *error) {
    const mf_Camera *camera = &mf_group_model(own->group)->cameras[index];
    mf_OneCamera *one = &own->cameras[index];
    const char *group = mf_group_config_of(own->group)->name;
    uint64_t stream = mf_hash_bytes(MF_HASH_START, camera->name, strlen(camera->name) + 1);
    stream = mf_hash_bytes(stream, group, strlen(group));
    one->camera = camera;
    one->stream = stream;
    one->slots = count_slots(camera);
    one->readout = mf_time_from_seconds(camera->readout);
    mf_chip_start(&one->chip, camera);
    MF_TRY(check_camera(cameras->scene->world, camera, error));
    MF_TRY(mf_camera_view_create(cameras->scene->context, camera, &one->view, error));
    MF_TRY(add_fields(own, one, error));
    const size_t size = mf_render_buffers_size(cameras->scene, one->view);
    cameras->buffers_size = size > cameras->buffers_size ? size : cameras->buffers_size;
    return MF_OK;
}

static mf_Status take_group(mf_Cameras *cameras, mf_Group *group, uint32_t number,
                            mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    if (model->camera_count == 0)
        return MF_OK;
    mf_Context *context = cameras->scene->context;
    mf_GroupCameras *own = &cameras->groups[cameras->group_count++];
    own->all = cameras;
    own->group = group;
    own->number = number;
    own->isolated = mf_group_config_of(group)->isolated;
    own->cameras = mf_allocate(context, model->camera_count, sizeof *own->cameras);
    MF_NEED_MEMORY(own->cameras != NULL, error, "cameras");
    mf_Status status = mf_group_derive_links(group, error);
    own->pose = mf_group_find_field(group, "link.pose");
    for (uint32_t i = 0; i < model->camera_count && status == MF_OK; i++) {
        own->count = i + 1;
        status = take_camera(cameras, own, i, error);
    }
    return status;
}

static void destroy(mf_Context *context, void *user) {
    mf_Cameras *cameras = user;
    for (uint32_t g = 0; cameras->groups != NULL && g < cameras->group_count; g++) {
        for (uint32_t i = 0; i < cameras->groups[g].count; i++)
            mf_camera_view_destroy(cameras->groups[g].cameras[i].view);
        mf_release(context, cameras->groups[g].cameras);
    }
    mf_scratch_destroy(context, cameras->scratch);
    mf_render_scene_destroy(cameras->scene);
    mf_release(context, cameras->groups);
    mf_release(context, cameras);
}

// ---- systems ------------------------------------------------------------------------------------

static uint64_t hash_settings(const mf_GroupCameras *own) {
    uint64_t hash = MF_HASH_START;
    for (uint32_t i = 0; i < own->count; i++) {
        const mf_Camera *camera = own->cameras[i].camera;
        const double numbers[] = {camera->width,
                                  camera->height,
                                  camera->lens,
                                  camera->focal[0],
                                  camera->focal[1],
                                  camera->center[0],
                                  camera->center[1],
                                  camera->nearest,
                                  camera->farthest,
                                  camera->blur,
                                  camera->shadows,
                                  camera->samples,
                                  camera->vignetting,
                                  camera->noise,
                                  camera->bits,
                                  (double)camera->rate.numerator,
                                  (double)camera->rate.denominator,
                                  (double)camera->delay,
                                  camera->readout};
        hash = mf_hash_doubles(hash, numbers, sizeof numbers / sizeof *numbers);
        hash = mf_hash_doubles(hash, camera->coefficients, 6);
    }
    return hash;
}

static mf_Status add_group_system(mf_GroupCameras *own, mf_Error *error) {
    static const char *const reads[] = {"link.pose");
    mf_SystemConfig config = mf_system_config();
    uint32_t count = 0;
    for (uint32_t i = 0; i < own->count; i++)
        for (int k = 0; k < MF_CAMERA_MEASURES; k++) {
            mf_Field *const all[3] = {own->cameras[i].field[k], own->cameras[i].ring[k],
                                      own->cameras[i].rows[k]};
            for (int part = 0; part < 3; part++)
                if (all[part] != NULL && count + 1 < MF_CAMERA_NAMES)
                    own->writes[count++] = all[part]->info.name;
        }
    config.name = system_name;
    config.phase = MF_PHASE_AFTER;
    config.run = mf_cameras_run_group;
    config.reset = mf_cameras_reset;
    config.user = own;
    config.reads = reads;
    config.writes = own->writes;
    config.slow = true;
    config.settings_hash = hash_settings(own);
    return mf_group_add_system(own->group, &config, error);
}

static mf_Status add_world_system(mf_Cameras *cameras, mf_Error *error) {
    static const char *const reads[] = {"link.pose", NULL};
    mf_WorldSystemConfig config =
        mf_attach_world_system(system_name, MF_PHASE_AFTER, mf_cameras_run_world, cameras);
    config.reads = reads;
    config.settings_hash = MF_HASH_START;
    for (uint32_t g = 0; g < cameras->group_count; g++)
        if (!cameras->groups[g].isolated)
            config.settings_hash ^= hash_settings(&cameras->groups[g]) + g;
    return mf_world_add_system(cameras->scene->world, &config, error);
}

static mf_Status add_systems(mf_Cameras *cameras, mf_Error *error) {
    mf_Status status = MF_OK;
    bool shared = false;
    for (uint32_t g = 0; g < cameras->group_count && status == MF_OK; g++) {
        if (cameras->groups[g].isolated)
            status = add_group_system(&cameras->groups[g], error);
        shared |= !cameras->groups[g].isolated;
    }
    return status == MF_OK && shared ? add_world_system(cameras, error) : status;
}

// Which groups take pictures.
typedef struct Choice {
    mf_Group *const *groups; // NULL: all
    uint32_t count;          // [1]
} Choice;

static bool is_chosen(const Choice *choice, const mf_Group *group) {
    uint32_t i = 0;
    while (i < choice->count && choice->groups[i] != group)
        i++;
    return choice->groups == NULL || i < choice->count;
}

static mf_Status create(mf_World *world, const Choice *choice, mf_Cameras *cameras,
                        mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    const uint32_t count = mf_world_group_count(world);
    MF_TRY(mf_render_scene_create(world, &cameras->scene, error));
    mf_Status status = MF_OK;
    cameras->groups = mf_allocate(context, count, sizeof *cameras->groups);
    MF_NEED_MEMORY(cameras->groups != NULL, error, "cameras");
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        if (is_chosen(choice, mf_world_group(world, i)))
            status = take_group(cameras, mf_world_group(world, i), i, error);
    MF_THEN(status, mf_scratch_create(context, cameras->buffers_size + 64,
                                      mf_context_threads(context), &cameras->scratch, error));
    return status;
}

static mf_Status add(mf_World *world, const Choice *choice, mf_Error *error) {
    MF_NEED(mf_world_kept(world, system_name) == NULL, error,
            "cameras: the world has them already");
    mf_Context *context = mf_world_context(world);
    mf_Cameras *cameras = mf_allocate(context, 1, sizeof *cameras);
    MF_NEED_MEMORY(cameras != NULL, error, "cameras");
    mf_Status status = create(world, choice, cameras, error);
    MF_THEN(status, mf_world_keep(world, system_name, cameras, destroy, error));
    if (status != MF_OK) {
        destroy(context, cameras);
        return status;
    }
    return add_systems(cameras, error);
}

mf_Status mf_cameras_add(mf_World *world, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const Choice all = {NULL, 0};
    return world != NULL ? add(world, &all, error)
                         : mf_fail(error, MF_BAD_ARGUMENT, "mf_cameras_add: world is NULL");
}

mf_Status mf_cameras_add_groups(mf_World *world, mf_Group *const *groups, uint32_t count,
                                mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const Choice some = {groups, count};
    if (world == NULL || groups == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_cameras_add_groups: world or groups is NULL");
    for (uint32_t i = 0; i < count; i++)
        if (groups[i] == NULL || mf_group_world(groups[i]) != world)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "mf_cameras_add_groups: group %u is NULL or of another world", i);
    return add(world, &some, error);
}

mf_Cameras *mf_cameras_of(const mf_World *world) {
    return world != NULL ? mf_world_kept(world, system_name) : NULL;
}

const char *mf_cameras_device(mf_Isa isa) {
    static const char *const names[] = {"software", "software (scalar)", "software (avx2)",
                                        "software (avx512)"};
    return names[(unsigned)isa <= MF_ISA_AVX512 ? isa : MF_ISA_AUTO];
}
