// The rays of a camera (view.h), computed once; and bounds of what may be seen where.
//
// Bounds may be too wide, never too narrow. The picture of a ball by angle: on a sphere of radius 1
// a step at the angle s from the axis is at most s / sin(s) as long in these coordinates.
#include "camera/view.h"

#include "camera/picture.h"
#include "math/scalar.h"

#define WIDEST 2.8 // [rad] of the bound above, beyond which the whole picture is
#define SLACK 1e-6 // [1] of coordinates, for the rounding of rays to float
#define FRONT 1e-9 // [m] in front of the camera

// ---- making -------------------------------------------------------------------------------------

static void coordinates(const mf_CameraView *view, const double ray[3], double out[2]) {
    const double side = mf_sqrt(ray[0] * ray[0] + ray[1] * ray[1]);
    double scale = 1.0;
    if (view->straight)
        scale = 1.0 / ray[2];
    else if (side > 0.0)
        scale = mf_atan2(side, ray[2]) / side;
    out[0] = ray[0] * scale;
    out[1] = ray[1] * scale;
}

static void add_ray(mf_CameraView *view, uint32_t x, uint32_t y, const double forward[3]) {
    const double ray[3] = {-forward[1], -forward[2], forward[0]};
    const double scale = view->straight ? 1.0 / ray[2] : 1.0;
    const uint32_t at[2] = {x, y};
    double own[2];
    for (int i = 0; i < 3; i++)
        view->ray[i][(size_t)y * view->stride + x] = (float)(ray[i] * scale);
    coordinates(view, ray, own);
    for (int i = 0; i < 2; i++) {
        double *low = &view->low[i][at[i]], *high = &view->high[i][at[i]];
        *low = own[i] < *low ? own[i] : *low;
        *high = own[i] > *high ? own[i] : *high;
    }
    const double angle = mf_atan2(mf_sqrt(ray[0] * ray[0] + ray[1] * ray[1]), ray[2]);
    view->reach = angle > view->reach ? angle : view->reach;
}

static void add_rays(mf_CameraView *view) {
    const mf_Lens lens = mf_lens_of(&view->camera);
    for (uint32_t y = 0; y < view->camera.height; y++)
        for (uint32_t x = 0; x < view->camera.width; x++) {
            const double pixel[2] = {x, y};
            double ray[3] = {0.0, 0.0, 0.0};
            const bool seen = mf_lens_ray(&lens, pixel, ray) && (!view->straight || ray[0] > 1e-6);
            if (seen)
                add_ray(view, x, y, ray);
            if (view->factor != NULL)
                view->factor[(size_t)y * view->camera.width + x] =
                    mf_vignette(seen ? ray[0] : 0.0, view->camera.vignetting);
        }
}

// So that both can be searched by halves, whatever the lens does.
static void make_monotone(double *low, double *high, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        high[i] = high[i] > high[i - 1] ? high[i] : high[i - 1];
    for (uint32_t i = count - 1; i > 0; i--)
        low[i - 1] = low[i - 1] < low[i] ? low[i - 1] : low[i];
}

static bool take_memory(mf_CameraView *view) {
    const size_t pixels = (size_t)view->stride * view->camera.height;
    const uint32_t counts[2] = {view->camera.width, view->camera.height};
    bool ready = true;
    for (int i = 0; i < 3; i++)
        ready = (view->ray[i] = mf_allocate(view->context, pixels, sizeof(float))) && ready;
    for (int i = 0; i < 2; i++) {
        ready = (view->low[i] = mf_allocate(view->context, counts[i], sizeof(double))) && ready;
        ready = (view->high[i] = mf_allocate(view->context, counts[i], sizeof(double))) && ready;
        for (uint32_t k = 0; ready && k < counts[i]; k++) {
            view->low[i][k] = (double)__builtin_inf();
            view->high[i][k] = -(double)__builtin_inf();
        }
    }
    if (view->camera.vignetting > 0.0)
        ready = (view->factor = mf_allocate(view->context, pixels, sizeof(float))) && ready;
    return ready;
}

// Each pixel of the camera is samples x samples of the finer view, side by side.
static mf_Status make_fine(mf_CameraView *view, mf_Error *error) {
    mf_Camera camera = view->camera;
    const uint32_t samples = camera.samples;
    if (samples < 2 || !camera.color)
        return MF_OK;
    camera.width *= samples;
    camera.height *= samples;
    for (int i = 0; i < 2; i++) {
        camera.focal[i] *= samples;
        camera.center[i] = samples * (camera.center[i] + 0.5) - 0.5;
    }
    camera.samples = 1;
    camera.vignetting = 0.0;
    return mf_camera_view_create(view->context, &camera, &view->fine, error);
}

mf_Status mf_camera_view_create(mf_Context *context, const mf_Camera *camera, mf_CameraView **out,
                                mf_Error *error) {
    mf_CameraView *view = mf_allocate(context, 1, sizeof *view);
    *out = NULL;
    MF_NEED_MEMORY(view != NULL, error, "camera");
    view->context = context;
    view->camera = *camera;
    view->camera.name = "";
    view->straight = camera->lens == MF_LENS_PINHOLE || camera->lens == MF_LENS_BROWN;
    view->stride = (camera->width + MF_RASTER_RUN - 1) / MF_RASTER_RUN * MF_RASTER_RUN;
    if (!take_memory(view)) {
        mf_camera_view_destroy(view);
        return mf_fail(error, MF_NO_MEMORY, "camera: no memory");
    }
    add_rays(view);
    make_monotone(view->low[0], view->high[0], camera->width);
    make_monotone(view->low[1], view->high[1], camera->height);
    mf_Status status = make_fine(view, error);
    if (status != MF_OK)
        mf_camera_view_destroy(view);
    else
        *out = view;
    return status;
}

void mf_camera_view_destroy(mf_CameraView *view) {
    if (view == NULL)
        return;
    for (int i = 0; i < 3; i++)
        mf_release(view->context, view->ray[i]);
    for (int i = 0; i < 2; i++) {
        mf_release(view->context, view->low[i]);
        mf_release(view->context, view->high[i]);
    }
    mf_release(view->context, view->factor);
    mf_camera_view_destroy(view->fine);
    mf_release(view->context, view);
}

// ---- bounds -------------------------------------------------------------------------------------

// The first of `count` rising values that is >= value; `count`: none.
static uint32_t first_from(const double *rising, uint32_t count, double value) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (rising[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_rect(const mf_CameraView *view, const double low[2], const double high[2],
                      mf_RasterRect *out) {
    const uint32_t counts[2] = {view->camera.width, view->camera.height};
    uint32_t begin[2], end[2];
    for (int i = 0; i < 2; i++) {
        const double slack = SLACK * (1.0 + mf_abs(low[i]) + mf_abs(high[i]));
        begin[i] = first_from(view->high[i], counts[i], low[i] - slack);
        end[i] = first_from(view->low[i], counts[i], high[i] + slack);
        if (begin[i] >= end[i])
            return false;
    }
    *out = (mf_RasterRect){begin[0], end[0], begin[1], end[1]};
    return true;
}

static bool find_all(const mf_CameraView *view, mf_RasterRect *out) {
    *out = (mf_RasterRect){0, view->camera.width, 0, view->camera.height};
    return true;
}

static bool ball_by_angle(const mf_CameraView *view, const double center[3], double radius,
                          mf_RasterRect *out) {
    const double distance = mf_vec3_length(center);
    double middle[2], low[2], high[2], sine;
    if (distance - radius > view->camera.farthest)
        return false;
    if (!(distance > radius))
        return find_all(view, out);
    const double half = mf_asin(radius / distance);
    const double angle =
        mf_atan2(mf_sqrt(center[0] * center[0] + center[1] * center[1]), center[2]);
    if (angle - half > view->reach + SLACK)
        return false;
    if (angle + half > WIDEST)
        return find_all(view, out);
    mf_sin_cos(angle + half, &sine, NULL);
    coordinates(view, center, middle);
    for (int i = 0; i < 2; i++) {
        const double most = half * (angle + half) / sine;
        low[i] = middle[i] - most;
        high[i] = middle[i] + most;
    }
    return find_rect(view, low, high, out);
}

// Whether a ball is beyond one of the four planes through the camera between which all rays are:
// coordinate i of every ray of depth 1 is within low[i][0] .. high[i][count - 1].
static bool is_beside(const mf_CameraView *view, const double center[3], double radius) {
    const uint32_t last[2] = {view->camera.width - 1, view->camera.height - 1};
    for (int i = 0; i < 2; i++) {
        const double low = view->low[i][0] - SLACK, high = view->high[i][last[i]] + SLACK;
        if (low * center[2] - center[i] > radius * mf_sqrt(1.0 + low * low) ||
            center[i] - high * center[2] > radius * mf_sqrt(1.0 + high * high))
            return true;
    }
    return false;
}

bool mf_camera_view_ball(const mf_CameraView *view, const double center[3], double radius,
                         mf_RasterRect *out) {
    const double near = center[2] - radius, far = center[2] + radius;
    double low[2], high[2];
    if (!view->straight)
        return ball_by_angle(view, center, radius, out);
    if (!(far > 0.0) || near > view->camera.farthest)
        return false;
    if (!(near > FRONT))
        return !is_beside(view, center, radius) && find_all(view, out);
    for (int i = 0; i < 2; i++) {
        const double least = center[i] - radius, most = center[i] + radius;
        low[i] = least / (least > 0.0 ? far : near);
        high[i] = most / (most > 0.0 ? near : far);
    }
    return find_rect(view, low, high, out);
}

bool mf_camera_view_triangle(const mf_CameraView *view, const double *const corner[3],
                             mf_RasterRect *out) {
    double low[2], high[2], center[3];
    uint32_t in_front = 0;
    if (view->straight) {
        for (int k = 0; k < 3; k++)
            in_front += corner[k][2] > FRONT;
        if (in_front < 3)
            return in_front > 0 && find_all(view, out);
        for (int i = 0; i < 2; i++) {
            low[i] = (double)__builtin_inf();
            high[i] = -low[i];
            for (int k = 0; k < 3; k++) {
                const double own = corner[k][i] / corner[k][2];
                low[i] = own < low[i] ? own : low[i];
                high[i] = own > high[i] ? own : high[i];
            }
        }
        return find_rect(view, low, high, out);
    }
    double square = 0.0;
    for (int i = 0; i < 3; i++)
        center[i] = (corner[0][i] + corner[1][i] + corner[2][i]) / 3.0;
    for (int k = 0; k < 3; k++) {
        double arm[3];
        mf_vec3_sub(arm, corner[k], center);
        const double own = mf_vec3_dot(arm, arm);
        square = own > square ? own : square;
    }
    return ball_by_angle(view, center, mf_sqrt(square), out);
}
