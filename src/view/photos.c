// Pictures as PNG files: single ones, and those of all cameras of a scene (photos.h).
#include <mayfly/photos.h>

#include "base/wait.h"
#include "base/floats.h"
#include "camera/camera_pose.h"
#include "image/image.h"

#include <mayfly/links.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/inject.h"

enum { PATH_MOST = 4096, SIDE_MOST = 4096, LEVEL = 6 };

static const double millimeters = 1000.0;

// ---- one picture --------------------------------------------------------------------------------

static mf_Status check(const mf_Context *context, const char *path, uint32_t width, uint32_t height,
                       const void *values, const char *what, mf_Error *error) {
    if (context == NULL || path == NULL || values == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: context, path or values are NULL", what);
    if (width < 1 || width > SIDE_MOST || height < 1 || height > SIDE_MOST)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: expected 1 .. 4096 pixels, found %u x %u", what,
                       width, height);
    return MF_OK;
}

static mf_Status write_png(mf_Context *context, const char *path, const mf_Image *image,
                           mf_Error *error) {
    uint8_t *data = NULL;
    size_t size = 0;
    mf_Status status = mf_image_encode(context, image, LEVEL, &data, &size, error);
    MF_THEN(status, mf_file_replace(context, path, data, size, error));
    mf_release(context, data);
    return status;
}

mf_Status mf_photo_write_color(mf_Context *context, const char *path, uint32_t width,
                               uint32_t height, const uint8_t *color, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_Image image = {width, height, 3, 8, 255, (void *)(uintptr_t)color};
    MF_TRY(check(context, path, width, height, color, "mf_photo_write_color", error));
    return write_png(context, path, &image, error);
}

static uint16_t to_millimeters(double depth, double farthest) {
    const double length = depth * millimeters + 0.5;
    return depth < farthest && length >= 0.0 && length < 65536.0 ? (uint16_t)length : 0;
}

// 16 bit values, `channels` per pixel, which `fill` computes.
typedef uint16_t (*FillFn)(const void *from, size_t index, double farthest);

static uint16_t depth_at(const void *from, size_t index, double farthest) {
    return to_millimeters((double)((const float *)from)[index], farthest);
}

static uint16_t owner_at(const void *from, size_t index, double farthest) {
    (void)farthest;
    return (uint16_t)((uint32_t)((const int32_t *)from)[index] + (index % 3 == 0 ? 2u : 1u));
}

static mf_Status write_words(mf_Context *context, const char *path, mf_Image image, FillFn fill,
                             double farthest, mf_Error *error) {
    const size_t count = (size_t)image.width * image.height * image.channels;
    uint16_t *words = mf_allocate(context, count, sizeof *words);
    MF_NEED_MEMORY(words != NULL, error, "picture");
    for (size_t i = 0; i < count; i++)
        words[i] = fill(image.pixels, i, farthest);
    image.pixels = words;
    mf_Status status = write_png(context, path, &image, error);
    mf_release(context, words);
    return status;
}

mf_Status mf_photo_write_depth(mf_Context *context, const char *path, uint32_t width,
                               uint32_t height, const float *depth, double farthest,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_Image image = {width, height, 1, 16, 65535, (void *)(uintptr_t)depth};
    MF_TRY(check(context, path, width, height, depth, "mf_photo_write_depth", error));
    return write_words(context, path, image, depth_at, farthest, error);
}

mf_Status mf_photo_write_segmentation(mf_Context *context, const char *path, uint32_t width,
                                      uint32_t height, const int32_t *segmentation,
                                      mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_Image image = {width, height, 3, 16, 65535, (void *)(uintptr_t)segmentation};
    MF_TRY(check(context, path, width, height, segmentation, "mf_photo_write_segmentation", error));
    return write_words(context, path, image, owner_at, 0.0, error);
}

// ---- cameras of a scene -------------------------------------------------------------------------

typedef struct Eye {
    char name[200];
    mf_Camera camera;
    mf_FreeCamera *free;
    uint32_t group, robot; // [1] group MF_NONE: fixed in the world
    uint32_t seen;         // [1] group whose robot is there though it is isolated; MF_NONE: none
    const mf_Field *pose;  // link.pose of the group
    mf_CameraPixels pixels;
} Eye;

struct mf_Photographer {
    mf_Context *context;
    mf_World *world;
    char folder[PATH_MOST];
    Eye *eyes;
    uint32_t count; // [1]
    uint64_t files; // [1]
    bool began;
};

static mf_Status add_eye(mf_Photographer *own, const mf_Camera *camera, uint32_t group,
                         uint32_t robot, mf_Error *error) {
    Eye *eye = &own->eyes[own->count++];
    const size_t pixels = (size_t)camera->width * camera->height;
    mf_Status status = MF_OK;
    eye->camera = *camera;
    eye->group = group;
    eye->robot = robot;
    eye->seen = group != MF_NONE ? group : mf_first_isolated(own->world);
    if (group != MF_NONE) {
        mf_Group *of = mf_world_group(own->world, group);
        status = mf_group_derive_links(of, error);
        eye->pose = mf_group_find_field(of, "link.pose");
    }
    MF_THEN(status, mf_free_camera_create(own->world, camera, &eye->free, error));
    if (status != MF_OK)
        return status;
    if (camera->color)
        eye->pixels.color = mf_allocate(own->context, pixels, 3);
    if (camera->depth)
        eye->pixels.depth = mf_allocate(own->context, pixels, sizeof(float));
    if (camera->segmentation)
        eye->pixels.segmentation = mf_allocate(own->context, pixels, 3 * sizeof(int32_t));
    MF_NEED_MEMORY((!camera->color || eye->pixels.color != NULL) &&
                       (!camera->depth || eye->pixels.depth != NULL) &&
                       (!camera->segmentation || eye->pixels.segmentation != NULL),
                   error, "photos");
    return MF_OK;
}

static mf_Status add_eyes(mf_Photographer *own, mf_Scene *scene, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < scene->file->camera_count && status == MF_OK; i++) {
        mf_Camera camera;
        uint32_t group, robot;
        MF_TRY(mf_scene_camera(scene, i, &camera, &group, &robot, error));
        snprintf(own->eyes[own->count].name, sizeof own->eyes->name, "%.190s", camera.name);
        status = add_eye(own, &camera, group, robot, error);
    }
    for (uint32_t g = 0; g < scene->group_count; g++)
        for (uint32_t i = 0; i < scene->models[g]->camera_count && status == MF_OK; i++) {
            const mf_Camera *camera = &scene->models[g]->cameras[i];
            snprintf(own->eyes[own->count].name, sizeof own->eyes->name, "%.80s-%.100s",
                     scene->file->groups[g].name, camera->name);
            status = add_eye(own, camera, g, 0, error);
        }
    return status;
}

static mf_Status make_folder(mf_Context *context, const char *path, mf_Error *error) {
    struct stat info;
    if (mf_allow(context, "mkdir") && mkdir(path, 0777) == 0)
        return MF_OK;
    if (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return MF_OK;
    return mf_fail_at(error, MF_IO, path, 0, 0, "cannot make the folder: %s", strerror(errno));
}

static mf_Status create(mf_Photographer *own, mf_Scene *scene, mf_Error *error) {
    uint32_t count = scene->file->camera_count;
    for (uint32_t g = 0; g < scene->group_count; g++)
        count += scene->models[g]->camera_count;
    if (count == 0)
        return mf_fail_at(error, MF_NOT_FOUND, scene->file->file, 0, 0,
                          "expected a camera to take photos with: the scene has no list `cameras`, "
                          "and no robot has one");
    own->eyes = mf_allocate(own->context, count, sizeof *own->eyes);
    MF_NEED_MEMORY(own->eyes != NULL, error, "photos");
    MF_TRY(make_folder(own->context, own->folder, error));
    return add_eyes(own, scene, error);
}

mf_Status mf_photographer_create(mf_Scene *scene, const char *folder, mf_Photographer **out,
                                 mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(scene != NULL && scene->world != NULL && folder != NULL && out != NULL, error,
            "mf_photographer_create: scene, folder or out is NULL");
    *out = NULL;
    mf_Context *context = mf_world_context(scene->world);
    mf_Photographer *own = mf_allocate(context, 1, sizeof *own);
    MF_NEED_MEMORY(own != NULL, error, "photos");
    own->context = context;
    own->world = scene->world;
    mf_Status status = MF_OK;
    if (snprintf(own->folder, sizeof own->folder, "%s", folder) >= PATH_MOST - 300)
        status = mf_fail(error, MF_LIMIT, "photos: the folder's name is too long");
    MF_THEN(status, create(own, scene, error));
    if (status != MF_OK)
        mf_photographer_destroy(own);
    else
        *out = own;
    return status;
}

void mf_photographer_destroy(mf_Photographer *photographer) {
    if (photographer == NULL)
        return;
    for (uint32_t i = 0; photographer->eyes != NULL && i < photographer->count; i++) {
        Eye *eye = &photographer->eyes[i];
        mf_free_camera_destroy(eye->free);
        mf_release(photographer->context, eye->pixels.color);
        mf_release(photographer->context, eye->pixels.depth);
        mf_release(photographer->context, eye->pixels.segmentation);
    }
    mf_release(photographer->context, photographer->eyes);
    mf_release(photographer->context, photographer);
}

// ---- when ---------------------------------------------------------------------------------------

uint64_t mf_photographer_wait(const mf_Photographer *photographer) {
    MF_DEFAULT_FLOATS;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; photographer != NULL && i < photographer->count; i++) {
        const uint64_t steps =
            mf_rate_wait(photographer->eyes[i].camera.rate, mf_world_time(photographer->world),
                         mf_world_config_of(photographer->world)->step);
        least = steps < least ? steps : least;
    }
    return least;
}

// ---- taking -------------------------------------------------------------------------------------

static mf_Status write_files(mf_Photographer *own, const Eye *eye, uint64_t number,
                             mf_Error *error) {
    const mf_CameraPixels *pixels = &eye->pixels;
    const uint32_t width = eye->camera.width, height = eye->camera.height;
    char path[PATH_MOST];
    mf_Status status = MF_OK;
    const int begun = snprintf(path, sizeof path, "%s/%s-%06llu", own->folder, eye->name,
                               (unsigned long long)number);
    char *end = path + begun;
    const size_t capacity = sizeof path - (size_t)begun;
    if (pixels->color != NULL) {
        snprintf(end, capacity, ".png");
        status = mf_photo_write_color(own->context, path, width, height, pixels->color, error);
        own->files += status == MF_OK;
    }
    if (status == MF_OK && pixels->depth != NULL) {
        snprintf(end, capacity, "-depth.png");
        status = mf_photo_write_depth(own->context, path, width, height, pixels->depth,
                                      eye->camera.farthest, error);
        own->files += status == MF_OK;
    }
    if (status == MF_OK && pixels->segmentation != NULL) {
        snprintf(end, capacity, "-segmentation.png");
        status = mf_photo_write_segmentation(own->context, path, width, height,
                                             pixels->segmentation, error);
        own->files += status == MF_OK;
    }
    return status;
}

mf_Status mf_photographer_take(mf_Photographer *photographer, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(photographer != NULL, error, "mf_photographer_take: photographer is NULL");
    const mf_Time now = mf_world_time(photographer->world);
    const mf_Time step = mf_world_config_of(photographer->world)->step;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < photographer->count && status == MF_OK; i++) {
        Eye *eye = &photographer->eyes[i];
        double position[3], rotation[4];
        if ((photographer->began && !mf_rate_due(eye->camera.rate, now, step)) ||
            !mf_camera_pose(&eye->camera.frame, eye->pose, eye->robot, position, rotation))
            continue;
        status = mf_free_camera_take(eye->free, position, rotation, eye->seen,
                                     eye->group != MF_NONE ? eye->robot : 0, &eye->pixels, error);
        MF_THEN(status, write_files(photographer, eye,
                                    (uint64_t)mf_rate_ticks(eye->camera.rate, now) - 1, error));
    }
    photographer->began = true;
    return status;
}

uint32_t mf_photographer_cameras(const mf_Photographer *photographer) {
    return photographer != NULL ? photographer->count : 0;
}

uint64_t mf_photographer_files(const mf_Photographer *photographer) {
    return photographer != NULL ? photographer->files : 0;
}
