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

static void draw_colors(const mf_RenderScene *scene, const mf_CameraView *view,
                        const mf_RenderPose *pose, mf_RenderBuffers *buffers) {
    mf_render_draw(scene, view, pose, buffers);
    if (view->camera.shadows)
        mf_render_shadow(scene, view, pose, buffers);
    mf_render_shade(scene, view, pose, buffers);
}

// Means of samples x samples colors, in place: what is written was read before.
static void average(float *color, uint32_t samples, uint32_t width, uint32_t top, uint32_t bottom) {
    const size_t row = 3 * (size_t)width * samples;
    const float part = 1.0f / (float)(samples * samples);
    for (size_t y = top; y < bottom; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < 3; c++) {
                const float *from = color + y * samples * row + 3 * x * samples + c;
                float sum = 0.0f;
                for (size_t i = 0; i < samples; i++)
                    for (size_t k = 0; k < samples; k++)
                        sum += from[i * row + 3 * k];
                color[3 * (y * width + x) + c] = sum * part;
            }
}

void mf_develop_draw(const mf_RenderScene *scene, const mf_CameraView *view,
                     const mf_RenderPose *pose, mf_RenderBuffers *buffers) {
    const uint32_t top = buffers->raster.top, bottom = buffers->raster.bottom;
    const uint32_t samples = view->camera.samples;
    if (view->camera.color && view->fine == NULL) {
        draw_colors(scene, view, pose, buffers);
        return;
    }
    if (view->camera.color) {
        mf_render_buffers_use(buffers, view->fine);
        buffers->raster.top = top * samples;
        buffers->raster.bottom = bottom * samples;
        draw_colors(scene, view->fine, pose, buffers);
        average(buffers->color, samples, view->camera.width, top, bottom);
        mf_render_buffers_use(buffers, view);
        buffers->raster.top = top;
        buffers->raster.bottom = bottom;
    }
    mf_render_draw(scene, view, pose, buffers); // depth and owners are those of the pixel's center
}

void mf_develop_chip(const mf_RenderScene *scene, const mf_CameraView *view, const mf_Chip *chip,
                     const mf_PhotoNoise *noise, mf_RenderBuffers *buffers) {
    const mf_Camera *camera = &view->camera;
    const size_t pixels = (size_t)camera->width * camera->height;
    mf_Photo photo = {camera->width, camera->height, 3, buffers->color};
    if (!camera->color)
        return;
    if (view->factor != NULL)
        vignette(buffers->color, view->factor, pixels);
    if (chip->radius > 0)
        mf_photo_blur_taps(&photo, chip->taps, chip->radius, buffers->scratch);
    if (noise->sigma > 0.0f)
        mf_photo_add_noise(&photo, noise, scene->isa);
    convert(buffers->color, chip, 3 * pixels);
}

void mf_develop_owner(const mf_RenderBuffers *buffers, size_t pixel, int32_t out[3]) {
    const uint32_t face = (uint32_t)buffers->raster.face[pixel];
    for (int i = 0; i < 3; i++)
        out[i] = face >= MF_RASTER_FIRST ? buffers->faces[face].owner[i] : -1;
    if (face == MF_RASTER_GROUND)
        out[0] = -2;
}
