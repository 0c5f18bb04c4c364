// Trajectories of agents as SVG: from above, and below that from the side with the same x axis.
// Lines are drawn with integers of a tenth of a pixel, each relative to the one before, which keeps
// a picture of a thousand agents small. Colors distinguish circles of a formation, else groups.
#include "base/text.h"
#include "scene/behavior.h"
#include "base/floats.h"
#include "view/chart.h"

#include "view/tracks.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 192 }; // [1] kept per agent
#define WIDTH 1200.0    // [px]
#define MARGIN 64.0     // [px]
#define SIDE_LEAST 90.0 // [px] height of the view from the side

// One drawn agent.
typedef struct Track {
    uint32_t group, instance;
} Track;

struct mf_Tracks {
    mf_Context *context;
    const mf_Scene *scene;
    mf_Time begin; // [ns] the world's time when they were created
    uint32_t agent_count;
    Track *agents;
    float *positions; // [m] SAMPLES * 3 per agent
    uint32_t filled;  // [1] samples stored
    uint32_t stride;  // [1] calls per sample
    uint32_t calls;   // [1]
};

mf_Status mf_tracks_create(mf_Context *context, const mf_Scene *scene, mf_Tracks **out,
                           mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "tracks: out is NULL");
    *out = NULL;
    if (context == NULL || scene == NULL || scene->world == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "tracks: context or scene is NULL");
    uint64_t total = mf_scene_file_count(scene->file);
    uint64_t every = (total + MF_TRACKS_AGENTS - 1) / MF_TRACKS_AGENTS, number = 0;
    mf_Tracks *tracks = mf_allocate(context, 1, sizeof *tracks);
    MF_NEED_MEMORY(tracks != NULL, error, "tracks");
    *tracks = (mf_Tracks){
        .context = context, .scene = scene, .begin = mf_world_time(scene->world), .stride = 1};
    tracks->agents = mf_allocate(context, MF_TRACKS_AGENTS, sizeof *tracks->agents);
    tracks->positions =
        mf_allocate(context, (size_t)MF_TRACKS_AGENTS * SAMPLES, 3 * sizeof *tracks->positions);
    if (tracks->agents == NULL || tracks->positions == NULL) {
        mf_tracks_destroy(tracks);
        return mf_fail(error, MF_NO_MEMORY, "tracks: out of memory");
    }
    for (uint32_t g = 0; g < scene->file->group_count; g++) {
        for (uint32_t i = 0; i < scene->file->groups[g].count; i++)
            if (number++ % every == 0)
                tracks->agents[tracks->agent_count++] = (Track){g, i};
    }
    *out = tracks;
    return MF_OK;
}

void mf_tracks_destroy(mf_Tracks *tracks) {
    if (tracks == NULL)
        return;
    mf_release(tracks->context, tracks->agents);
    mf_release(tracks->context, tracks->positions);
    mf_release(tracks->context, tracks);
}

// ---- sampling ----------------------------------------------------------------------------------

static float *position_of(const mf_Tracks *tracks, uint32_t agent, uint32_t sample) {
    return tracks->positions + ((size_t)agent * SAMPLES + sample) * 3;
}

static void drop_every_second(mf_Tracks *tracks) {
    for (uint32_t a = 0; a < tracks->agent_count; a++)
        for (uint32_t s = 1; 2 * s < tracks->filled; s++)
            memcpy(position_of(tracks, a, s), position_of(tracks, a, 2 * s), 3 * sizeof(float));
    tracks->filled = (tracks->filled + 1) / 2;
    tracks->stride *= 2;
}

void mf_tracks_sample(mf_Tracks *tracks) {
    MF_DEFAULT_FLOATS;
    if (tracks == NULL)
        return;
    if (tracks->calls++ % tracks->stride != 0)
        return;
    if (tracks->filled == SAMPLES)
        drop_every_second(tracks);
    for (uint32_t a = 0; a < tracks->agent_count; a++) {
        mf_Group *group = mf_world_group(tracks->scene->world, tracks->agents[a].group);
        const mf_Field *position = mf_group_find_field(group, "base.position");
        float *point = position_of(tracks, a, tracks->filled);
        for (uint32_t c = 0; c < 3; c++)
            point[c] = (float)mf_field_get(position, tracks->agents[a].instance, c);
    }
    tracks->filled++;
}

// ---- drawing -----------------------------------------------------------------------------------

// The part of the world that is shown, and its scale.
typedef struct View {
    double lower[3], upper[3]; // [m]
    double scale;              // [px/m] of x, y, and z unless it would be too flat
    double scale_z;            // [px/m]
    double top;                // [px] height of the view from above
    double side;               // [px] height of the view from the side
} View;

static View fit_view(const mf_Tracks *tracks) {
    View view = {.lower = {INFINITY, INFINITY, INFINITY},
                 .upper = {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t a = 0; a < tracks->agent_count; a++) {
        for (uint32_t s = 0; s < tracks->filled; s++) {
            const float *position = position_of(tracks, a, s);
            for (int c = 0; c < 3 && isfinite(position[c]); c++) {
                view.lower[c] = fmin(view.lower[c], position[c]);
                view.upper[c] = fmax(view.upper[c], position[c]);
            }
        }
    }
    for (int c = 0; c < 3; c++) {
        if (!(view.lower[c] <= view.upper[c]))
            view.lower[c] = view.upper[c] = 0.0;
        double space = 0.03 * (view.upper[c] - view.lower[c]) + 0.5;
        view.lower[c] -= space;
        view.upper[c] += space;
    }
    double width = WIDTH - 2.0 * MARGIN;
    view.scale = width / (view.upper[0] - view.lower[0]);
    // The view is not taller than wide: a long strip along y is scaled down.
    view.scale = fmin(view.scale, width / (view.upper[1] - view.lower[1]));
    view.top = view.scale * (view.upper[1] - view.lower[1]);
    double height = view.upper[2] - view.lower[2];
    view.side = fmin(fmax(view.scale * height, SIDE_LEAST), 0.5 * width);
    view.scale_z = view.side / height;
    return view;
}

// The index of an agent's circle in a formation and the number of circles; groups without a
// formation count as one circle.
static uint32_t circle_of(const mf_SceneGroup *group, uint32_t instance, uint32_t *circles) {
    const mf_Behavior *b = &group->behavior;
    *circles = b->kind == MF_BEHAVIOR_FORMATION ? b->circles : 1;
    return *circles == 1 ? 0 : mf_behavior_circle(b, group->count, instance);
}

static void put_color(mf_Text *text, const mf_Tracks *tracks, const Track *track) {
    static const double hues[] = {24.0, 204.0, 134.0, 280.0, 50.0, 340.0, 174.0, 0.0};
    uint32_t circles;
    uint32_t circle =
        circle_of(&tracks->scene->file->groups[track->group], track->instance, &circles);
    double hue = hues[track->group % (sizeof hues / sizeof hues[0])];
    hue = circles > 1 ? fmod(hue + 360.0 * circle / circles, 360.0) : hue;
    mf_text_format(text, "hsl(%.0f,85%%,%u%%)", hue, 50u + (track->instance * 7u) % 14u);
}

// A line through columns 0 and `column` of an agent's positions; `y` [px] is where `lower` lies.
static void put_track(mf_Text *text, const mf_Tracks *tracks, uint32_t agent, const View *view,
                      int column, double y) {
    double scale = column == 1 ? view->scale : view->scale_z;
    long last_x = 0, last_y = 0;
    bool open = false;
    for (uint32_t s = 0; s < tracks->filled; s++) {
        const float *position = position_of(tracks, agent, s);
        if (!isfinite(position[0]) || !isfinite(position[column]))
            break;
        long x = lround(10.0 * (MARGIN + view->scale * (position[0] - view->lower[0])));
        long z = lround(10.0 * (y - scale * (position[column] - view->lower[column])));
        if (open && x == last_x && z == last_y)
            continue;
        if (open)
            mf_text_format(text, "l%ld%s%ld", x - last_x, z < last_y ? "" : " ", z - last_y);
        else
            mf_text_format(text, "M%ld %ld", x, z);
        last_x = x;
        last_y = z;
        open = true;
    }
    if (open)
        mf_text_put(text, "h0");
}

static void put_view(mf_Text *text, const mf_Tracks *tracks, const View *view, int column,
                     double y) {
    mf_text_put(text, "<g transform=\"scale(.1)\" fill=\"none\" stroke-width=\"7\" "
                      "stroke-linecap=\"round\" stroke-linejoin=\"round\" opacity=\".8\">\n");
    for (uint32_t a = 0; a < tracks->agent_count; a++) {
        mf_text_put(text, "<path stroke=\"");
        put_color(text, tracks, &tracks->agents[a]);
        mf_text_put(text, "\" d=\"");
        put_track(text, tracks, a, view, column, y);
        mf_text_put(text, "\"/>\n");
    }
    mf_text_put(text, "</g>\n<g>\n");
    for (uint32_t a = 0; a < tracks->agent_count && tracks->filled > 0; a++) {
        const Track *track = &tracks->agents[a];
        const float *position = position_of(tracks, a, tracks->filled - 1);
        mf_Group *group = mf_world_group(tracks->scene->world, track->group);
        double scale = column == 1 ? view->scale : view->scale_z;
        bool dead = mf_group_fault(group, track->instance) != 0;
        if (!isfinite(position[0]) || !isfinite(position[column]))
            continue;
        mf_text_format(text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>\n",
                       MARGIN + view->scale * (position[0] - view->lower[0]),
                       y - scale * (position[column] - view->lower[column]), dead ? "2.6" : "1.5",
                       dead ? "#ff2d2d" : "#ffffff");
    }
    mf_text_put(text, "</g>\n");
}

// Ticks along an axis; `column` 0 is x, drawn below the views.
static void put_axis(mf_Text *text, const View *view, int column, double y) {
    double scale = column == 2 ? view->scale_z : view->scale;
    mf_Axis axis =
        mf_axis_fit(view->lower[column], view->upper[column], column == 2 ? 3 : 8, false, "");
    for (double i = ceil(axis.lower / axis.tick); i * axis.tick <= axis.upper; i += 1.0) {
        double at = scale * (i * axis.tick - view->lower[column]);
        double value = i == 0.0 ? 0.0 : i * axis.tick;
        if (column == 0)
            mf_text_format(text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.*f</text>\n",
                           MARGIN + at, y + 20.0, axis.decimals, value);
        else
            mf_text_format(text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
                           MARGIN - 8.0, y - at + 4.0, axis.decimals, value);
    }
}

static void put_frame(mf_Text *text, const View *view, double top, double height) {
    mf_text_format(text,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
                   "stroke=\"#33424f\"/>\n",
                   MARGIN, top, view->scale * (view->upper[0] - view->lower[0]), height);
}

static void put_title(mf_Text *text, const mf_Tracks *tracks) {
    const mf_SceneFile *file = tracks->scene->file;
    mf_text_escape(text, file->name);
    mf_text_format(text, ": %s agents, %.4g s", mf_text_count(mf_scene_file_count(file)).text,
                   mf_time_to_seconds(mf_world_time(tracks->scene->world) - tracks->begin));
    if (tracks->agent_count < mf_scene_file_count(file))
        mf_text_format(text, ", %u of them drawn", tracks->agent_count);
}

static void put_picture(mf_Text *text, const mf_Tracks *tracks) {
    View view = fit_view(tracks);
    double above = 44.0 + view.top, below = above + 36.0 + view.side;
    mf_text_format(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"system-ui,sans-serif\" font-size=\"13\" fill=\"#9fb0bd\">\n<title>",
        WIDTH, below + 44.0);
    put_title(text, tracks);
    mf_text_format(text, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#0d141a\"/>\n",
                   WIDTH, below + 44.0);
    mf_text_format(text, "<text x=\"%.0f\" y=\"28\" font-size=\"17\" fill=\"#e8eef2\">", MARGIN);
    put_title(text, tracks);
    mf_text_put(text, "</text>\n");
    put_frame(text, &view, 44.0, view.top);
    put_axis(text, &view, 1, above);
    put_view(text, tracks, &view, 1, above);
    put_frame(text, &view, above + 36.0, view.side);
    put_axis(text, &view, 2, below);
    put_axis(text, &view, 0, below);
    put_view(text, tracks, &view, 2, below);
    mf_text_format(text, "<text x=\"%.0f\" y=\"%.1f\">above: y over x [m]", MARGIN, above + 22.0);
    mf_text_format(text, "; below: height over x [m]%s</text>\n</svg>\n",
                   view.scale_z > 1.01 * view.scale ? ", stretched" : "");
}

mf_Status mf_tracks_write(mf_Tracks *tracks, const char *path, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(tracks != NULL && path != NULL, error, "tracks: tracks or path is NULL");
    mf_Text text = mf_text_begin(tracks->context);
    put_picture(&text, tracks);
    return mf_text_save(&text, path, "tracks", error);
}
