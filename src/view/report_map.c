// The champion's path seen from above, over the ground it walked on: relief as a picture where the
// ground has any, a meter grid where it is flat. Scale is the same in both directions.
#include "view/report_data.h"
#include "image/image.h"
#include "model/points.h"

#include <math.h>

#define MAP_WIDTH 1000.0   // [px]
#define MAP_HEIGHT 560.0   // [px]
#define PICTURE_WIDTH 500u // [px] of the relief; enlarged, since cells are larger than pixels
#define PICTURE_HEIGHT 280u
#define PATH_POINTS 3000u // [1] longest path drawn

// The part of the world that is seen from above, with +x to the right, +y up.
typedef struct View {
    double x, y;          // [m] world position of the lower left corner
    double width, height; // [m]
} View;

// Mapping from the world to the drawing.
typedef struct Frame {
    View view;
    double scale; // [px/m]
} Frame;

static double map_x(const Frame *frame, double x) {
    return (x - frame->view.x) * frame->scale;
}

static double map_y(const Frame *frame, double y) {
    return MAP_HEIGHT - (y - frame->view.y) * frame->scale;
}

// The largest 1, 2 or 5 times a power of ten that is at most `length`.
static double round_below(double length) {
    double unit = pow(10.0, floor(log10(length)));
    double part = length / unit;
    return (part >= 5.0 ? 5.0 : part >= 2.0 ? 2.0 : 1.0) * unit;
}

// Half of the robot's largest horizontal extent at the start [m].
static double robot_reach(const mf_ReportData *data, double (*joints)[3]) {
    double reach = 0.1;
    for (uint32_t i = 0; i < data->scene.model->link_count; i++)
        reach = fmax(reach, hypot(joints[i][0], joints[i][1]) + 0.1);
    return reach;
}

// Fits the whole path and the robot at its start, with a margin.
static Frame fit_frame(const mf_Trial *trial, double reach) {
    double low[2] = {trial->position[0] - reach, trial->position[1] - reach};
    double high[2] = {trial->position[0] + reach, trial->position[1] + reach};
    for (uint32_t i = 0; i < trial->sample_count; i++) {
        for (int c = 0; c < 2; c++) {
            double value = trial->position[3 * (size_t)i + c];
            if (!isfinite(value))
                continue;
            low[c] = fmin(low[c], value);
            high[c] = fmax(high[c], value);
        }
    }
    double scale = fmin(MAP_WIDTH / (high[0] - low[0]), MAP_HEIGHT / (high[1] - low[1])) * 0.84;
    Frame frame = {.scale = scale};
    frame.view.width = MAP_WIDTH / scale;
    frame.view.height = MAP_HEIGHT / scale;
    frame.view.x = 0.5 * (low[0] + high[0] - frame.view.width);
    frame.view.y = 0.5 * (low[1] + high[1] - frame.view.height);
    return frame;
}

static void draw_grid(mf_Text *text, const Frame *frame) {
    double cell = round_below(fmax(frame->view.width / 6.0, 1e-6));
    mf_text_put(text, "<path class=\"mesh\" d=\"");
    for (double i = ceil(frame->view.x / cell); i * cell < frame->view.x + frame->view.width; i++)
        mf_text_format(text, "M%.1f 0V%.0f", map_x(frame, i * cell), MAP_HEIGHT);
    for (double i = ceil(frame->view.y / cell); i * cell < frame->view.y + frame->view.height; i++)
        mf_text_format(text, "M0 %.1fH%.0f", map_y(frame, i * cell), MAP_WIDTH);
    mf_text_put(text, "\"/>\n");
}

// Lowest and highest visible ground [m], on the raster of the picture.
static void height_range(const mf_Terrain *terrain, const View *view, double range[2]) {
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (uint32_t row = 0; row < PICTURE_HEIGHT; row++) {
        for (uint32_t column = 0; column < PICTURE_WIDTH; column++) {
            double height = mf_terrain_height(
                terrain, view->x + (column + 0.5) * view->width / PICTURE_WIDTH,
                view->y + view->height - (row + 0.5) * view->height / PICTURE_HEIGHT, NULL);
            range[0] = fmin(range[0], height);
            range[1] = fmax(range[1], height);
        }
    }
}

// Colors of the height ramp, `part` in 0 .. 1 from low to high.
static void ramp_color(double part, uint8_t color[3]) {
    // Wet valley, meadow, dry grass, bare rock, chalk: with rising lightness, so that it also
    // prints in gray.
    static const double stops[5][3] = {
        {58, 94, 100}, {96, 133, 108}, {160, 166, 118}, {199, 180, 143}, {238, 230, 214}};
    double position = part > 0.0 ? (part < 1.0 ? part : 1.0) * 4.0 : 0.0;
    int lower = position < 3.0 ? (int)position : 3;
    double share = position - lower;
    for (int c = 0; c < 3; c++)
        color[c] = (uint8_t)(stops[lower][c] + share * (stops[lower + 1][c] - stops[lower][c]));
}

// Lightness factor of a slope (dh/dx, dh/dy), 1 on level ground.
static double shade_of(double slope_x, double slope_y) {
    double length = sqrt(slope_x * slope_x + slope_y * slope_y + 1.0);
    double light = (0.5 * slope_x - 0.5 * slope_y + 0.70710678) / length / 0.70710678;
    return light < 0.35 ? 0.35 : light > 1.25 ? 1.25 : light;
}

static void shade_pixel(uint8_t *pixel, const mf_Terrain *terrain, double x, double y, double reach,
                        double lowest, double range) {
    double height = mf_terrain_height(terrain, x, y, NULL);
    double slope_x = (mf_terrain_height(terrain, x + reach, y, NULL) -
                      mf_terrain_height(terrain, x - reach, y, NULL)) /
                     (2.0 * reach);
    double slope_y = (mf_terrain_height(terrain, x, y + reach, NULL) -
                      mf_terrain_height(terrain, x, y - reach, NULL)) /
                     (2.0 * reach);
    ramp_color(range > 0.0 ? (height - lowest) / range : 0.5, pixel);
    double light = shade_of(slope_x, slope_y);
    for (int c = 0; c < 3; c++) {
        double value = pixel[c] * light;
        pixel[c] = (uint8_t)(value > 255.0 ? 255.0 : value);
    }
}

// 8 bits of red, green, blue, tinted by height between low and high [m], and shaded by slope: the
// cosine law for a distant light from the north-west, 45 degrees high, as on maps. NULL: no memory.
static uint8_t *shade_ground(mf_Context *context, const mf_Terrain *terrain, const View *view,
                             const double range[2]) {
    uint8_t *pixels = mf_allocate(context, (size_t)PICTURE_WIDTH * PICTURE_HEIGHT, 3);
    if (pixels == NULL)
        return NULL;
    const double step_x = view->width / PICTURE_WIDTH, step_y = view->height / PICTURE_HEIGHT;
    const double reach = fmax(0.5 * terrain->cell, step_x);
    for (uint32_t row = 0; row < PICTURE_HEIGHT; row++)
        for (uint32_t column = 0; column < PICTURE_WIDTH; column++)
            shade_pixel(pixels + ((size_t)row * PICTURE_WIDTH + column) * 3, terrain,
                        view->x + (column + 0.5) * step_x,
                        view->y + view->height - (row + 0.5) * step_y, reach, range[0],
                        range[1] - range[0]);
    return pixels;
}

static void draw_relief(mf_Text *text, const mf_ReportData *data, const Frame *frame,
                        const double range[2]) {
    mf_Image picture = {PICTURE_WIDTH, PICTURE_HEIGHT, 3, 8, 255, NULL};
    uint8_t *png = NULL;
    size_t size = 0;
    picture.pixels = shade_ground(data->context, data->scene.terrain, &frame->view, range);
    if (picture.pixels == NULL ||
        mf_image_encode(data->context, &picture, 9, &png, &size, NULL) != MF_OK)
        text->failed = true;
    mf_text_format(text,
                   "<image width=\"%.0f\" height=\"%.0f\" preserveAspectRatio=\"none\" "
                   "href=\"data:image/png;base64,",
                   MAP_WIDTH, MAP_HEIGHT);
    mf_text_base64(text, png, size);
    mf_text_put(text, "\"/>\n");
    mf_release(data->context, png);
    mf_release(data->context, picture.pixels);
}

// The height scale, in the upper right corner.
static void draw_ramp(mf_Text *text, const double range[2]) {
    mf_text_put(text, "<defs><linearGradient id=\"ramp\">");
    for (int i = 0; i <= 8; i++) {
        uint8_t color[3];
        ramp_color(i / 8.0, color);
        mf_text_format(text, "<stop offset=\"%g\" stop-color=\"#%02x%02x%02x\"/>", i / 8.0,
                       color[0], color[1], color[2]);
    }
    mf_text_put(text, "</linearGradient></defs>\n<rect x=\"786\" y=\"20\" width=\"190\" "
                      "height=\"11\" rx=\"2\" fill=\"url(#ramp)\" stroke=\"#ffffff\"/>\n");
    mf_text_format(text, "<text class=\"note small\" x=\"786\" y=\"47\">%.2f m</text>", range[0]);
    mf_text_format(text, "<text class=\"note small mid\" x=\"881\" y=\"47\">height</text>");
    mf_text_format(text, "<text class=\"note small end\" x=\"976\" y=\"47\">%.2f m</text>\n",
                   range[1]);
}

// The robot's bones (from each joint to the next) and the points that touch the ground, seen from
// above, at its start.
static void draw_robot(mf_Text *text, const mf_ReportData *data, const Frame *frame,
                       double (*joints)[3], double (*rotations)[4]) {
    const mf_Model *model = data->scene.model;
    const double *start = data->trial.position;
    mf_text_put(text, "<path class=\"bone\" d=\"");
    for (uint32_t i = 1; i < model->link_count; i++) {
        const double *from = joints[model->links[i].parent], *to = joints[i];
        mf_text_format(text, "M%.1f %.1fL%.1f %.1f", map_x(frame, start[0] + from[0]),
                       map_y(frame, start[1] + from[1]), map_x(frame, start[0] + to[0]),
                       map_y(frame, start[1] + to[1]));
    }
    mf_text_put(text, "\"/>\n");
    double radius = fmax(1.2, fmin(4.0, 0.008 * frame->scale));
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        if (!(point->flags & MF_POINT_COLLIDES) || i >= 4096)
            continue;
        // p = joint + q v q* = joint + v + 2 w (u x v) + 2 u x (u x v)
        const double *q = rotations[point->link], *v = point->position;
        double t[3] = {2.0 * (q[2] * v[2] - q[3] * v[1]), 2.0 * (q[3] * v[0] - q[1] * v[2]),
                       2.0 * (q[1] * v[1] - q[2] * v[0])};
        double x = joints[point->link][0] + v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
        double y = joints[point->link][1] + v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
        mf_text_format(text, "<circle class=\"toe\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                       map_x(frame, start[0] + x), map_y(frame, start[1] + y), radius);
    }
}

static void draw_track(mf_Text *text, const mf_Trial *trial, const Frame *frame,
                       const char *css_class) {
    uint32_t stride = trial->sample_count / PATH_POINTS + 1;
    bool first = true;
    mf_text_format(text, "<path class=\"%s\" d=\"", css_class);
    for (uint32_t i = 0; i < trial->sample_count; i += stride) {
        // The last sample is always drawn.
        uint32_t sample = trial->sample_count - 1 - i < stride ? trial->sample_count - 1 : i;
        const double *position = &trial->position[3 * (size_t)sample];
        if (!isfinite(position[0]) || !isfinite(position[1]))
            continue;
        mf_text_format(text, "%s%.1f %.1f", first ? "M" : " ", map_x(frame, position[0]),
                       map_y(frame, position[1]));
        first = false;
    }
    mf_text_put(text, "\"/>\n");
}

// A dot at constant intervals of time, so that the speed is visible.
static void draw_clock(mf_Text *text, const mf_Trial *trial, const Frame *frame) {
    double duration = (trial->sample_count - 1) * trial->sample_period;
    double every = duration > 0.0 ? round_below(fmax(duration / 4.0, trial->sample_period)) : 0.0;
    for (double time = every; every > 0.0 && time < duration - 0.25 * every; time += every) {
        size_t sample = (size_t)(time / trial->sample_period + 0.5);
        const double *position = &trial->position[3 * sample];
        if (!isfinite(position[0]) || !isfinite(position[1]))
            continue;
        double x = map_x(frame, position[0]), y = map_y(frame, position[1]);
        mf_text_format(text, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y);
        mf_text_format(text, "<text class=\"note small\" x=\"%.1f\" y=\"%.1f\">%g s</text>\n",
                       x + 8.0, y - 7.0, time);
    }
}

static void draw_marks(mf_Text *text, const mf_Trial *trial, const Frame *frame) {
    const double *start = trial->position;
    const double *end = &trial->position[3 * (size_t)(trial->sample_count - 1)];
    if (!isfinite(end[0]) || !isfinite(end[1]))
        end = start;
    double x0 = map_x(frame, start[0]), y0 = map_y(frame, start[1]);
    double x1 = map_x(frame, end[0]), y1 = map_y(frame, end[1]);
    mf_text_format(text, "<path class=\"beeline\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x0, y0, x1, y1);
    draw_clock(text, trial, frame);
    mf_text_format(text, "<circle class=\"origin\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>", x0, y0);
    mf_text_format(text, "<text class=\"note end\" x=\"%.1f\" y=\"%.1f\">start</text>\n", x0 - 12.0,
                   y0 + 5.0);
    mf_text_format(text, "<circle class=\"goal\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/>", x1, y1);
    double inside = fmax(40.0, fmin(MAP_WIDTH - 40.0, x1));
    mf_text_format(text, "<text class=\"note mid\" x=\"%.1f\" y=\"%.1f\">%s m</text>\n", inside,
                   y1 + (y1 > 60.0 ? -16.0 : 28.0), mf_text_measure(trial->distance).text);
}

static void draw_scale(mf_Text *text, const Frame *frame) {
    double length = round_below(frame->view.width / 5.0);
    double pixels = length * frame->scale, y = MAP_HEIGHT - 22.0;
    mf_text_format(text, "<path class=\"barhalo\" d=\"M24 %.1fv-6v6h%.1fv-6\"/>", y, pixels);
    mf_text_format(text, "<path class=\"bar\" d=\"M24 %.1fv-6v6h%.1fv-6\"/>", y, pixels);
    mf_text_format(text, "<text class=\"note mid\" x=\"%.1f\" y=\"%.1f\">%g %s</text>\n",
                   24.0 + 0.5 * pixels, y - 11.0, length >= 1.0 ? length : length * 100.0,
                   length >= 1.0 ? "m" : "cm");
    mf_text_put(text, "<path class=\"barhalo\" d=\"M24 24v42M24 66h42\"/>"
                      "<path class=\"bar\" d=\"M24 24v42M24 66h42M20 31l4-8 4 8M59 62l8 4-8 4\"/>"
                      "<text class=\"note small\" x=\"34\" y=\"31\">y</text>"
                      "<text class=\"note small\" x=\"58\" y=\"54\">x</text>\n");
}

static void draw_map(mf_Text *text, const mf_ReportData *data, double (*joints)[3],
                     double (*rotations)[4]) {
    Frame frame = fit_frame(&data->trial, robot_reach(data, joints));
    double range[2] = {0.0, 0.0};
    if (data->scene.terrain != NULL)
        height_range(data->scene.terrain, &frame.view, range);
    bool relief = range[1] > range[0];
    mf_text_format(text,
                   "<svg class=\"map%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Path "
                   "of the champion seen from above\" xmlns=\"http://www.w3.org/2000/svg\">\n<rect "
                   "class=\"ground\" width=\"%.0f\" height=\"%.0f\" rx=\"8\"/>\n",
                   relief ? " relief" : "", MAP_WIDTH, MAP_HEIGHT, MAP_WIDTH, MAP_HEIGHT);
    if (relief)
        draw_relief(text, data, &frame, range);
    else
        draw_grid(text, &frame);
    draw_robot(text, data, &frame, joints, rotations);
    draw_track(text, &data->trial, &frame, "halo");
    draw_track(text, &data->trial, &frame, "track");
    draw_marks(text, &data->trial, &frame);
    draw_scale(text, &frame);
    if (relief)
        draw_ramp(text, range);
    mf_text_put(text, "</svg>\n");
}

void mf_report_map(mf_Text *text, const mf_ReportData *data) {
    const mf_Model *model = data->scene.model;
    double(*joints)[3] = mf_allocate(data->context, model->link_count, sizeof *joints);
    double(*rotations)[4] = mf_allocate(data->context, model->link_count, sizeof *rotations);
    if (joints == NULL || rotations == NULL) {
        text->failed = true;
    } else {
        mf_model_pose(model, model->start_angle, joints, rotations);
        draw_map(text, data, joints, rotations);
    }
    mf_release(data->context, joints);
    mf_release(data->context, rotations);
}
