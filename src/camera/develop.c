// From what was drawn to what a camera gives (develop.h), in the order of light: vignetting, blur,
// noise, conversion.
#include "camera/develop.h"

void mf_chip_start(mf_Chip *chip, const mf_Camera *camera) {
    chip->radius = mf_blur_taps(camera->blur, chip->taps);
    chip->most = mf_photo_codes(camera->bits, chip->shown);
}

static void vignette(float *color, const float *factor, size_t pixels) {
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++)
            color[3 * i + (size_t)c] *= factor[i];
}

static void convert(float *color, const mf_Chip *chip, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float within = color[i] > 0.0f ? (color[i] < 1.0f ? color[i] : 1.0f) : 0.0f;
        color[i] = (float)chip->shown[(uint32_t)(within * (float)chip->most + 0.5f)];
    }
}

void mf_develop_draw(const mf_Sight *sight, const mf_CameraView *view, const mf_SightPlace *place,
                     mf_SightRoom *room) {
    mf_sight_draw(sight, view, place, room);
    if (view->camera.color)
        mf_sight_shade(view, place, room);
}

void mf_develop_chip(const mf_Sight *sight, const mf_CameraView *view, const mf_Chip *chip,
                     const mf_PhotoNoise *noise, mf_SightRoom *room) {
    const mf_Camera *camera = &view->camera;
    const size_t pixels = (size_t)camera->width * camera->height;
    mf_Photo photo = {camera->width, camera->height, 3, room->color};
    if (!camera->color)
        return;
    if (view->factor != NULL)
        vignette(room->color, view->factor, pixels);
    if (chip->radius > 0)
        mf_photo_blur_taps(&photo, chip->taps, chip->radius, room->scratch);
    if (noise->sigma > 0.0f)
        mf_photo_add_noise(&photo, noise, sight->isa);
    convert(room->color, chip, 3 * pixels);
}

void mf_develop_owner(const mf_SightRoom *room, size_t pixel, int32_t out[3]) {
    const uint32_t face = (uint32_t)room->raster.face[pixel];
    for (int i = 0; i < 3; i++)
        out[i] = face >= MF_RASTER_FIRST ? room->faces[face].owner[i] : -1;
    if (face == MF_RASTER_GROUND)
        out[0] = -2;
}
