// Particles in films: points with the radius of their model's sphere. At most MOST of a group are
// shown, evenly chosen by number. Places are quantized to 16 bits of the box of all samples.
#include "view/film.h"

#include <math.h>
#include <mayfly/motion.h>

#define MOST 16384u       // [1] points of a group in a film
#define LIVE_MOST 262144u // [1] likewise, live
#define QUANTA 65534.0    // [1] steps of the box; 65535: not in the world yet

uint32_t mf_film_cloud_points(const mf_Group *group, bool live, uint32_t *stride) {
    const uint32_t count = mf_group_count(group), most = live ? LIVE_MOST : MOST;
    *stride = (count + most - 1) / most;
    return (count + *stride - 1) / *stride;
}

void mf_film_cloud_sample(const mf_FilmCloud *cloud, float *points) {
    const mf_Visual *visual = cloud->visual;
    for (uint32_t i = 0; i < cloud->count; i++) {
        const uint32_t particle = i * cloud->stride;
        const bool absent = mf_field_get(visual->waiting, particle, 0) != 0.0;
        for (uint32_t c = 0; c < 3; c++)
            points[3 * (size_t)i + c] =
                absent ? NAN : (float)mf_field_get(visual->position, particle, c);
    }
}

typedef struct Box {
    double low[3], scale[3]; // [m]
} Box;

// Of all points in all samples.
static Box box_of(const mf_Film *film) {
    const size_t count = (size_t)film->filled * film->points_each;
    Box box;
    for (size_t c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            const double at = (double)film->points[3 * i + c];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        box.low[c] = low <= high ? low : 0.0;
        box.scale[c] = low < high ? (high - low) / QUANTA : 1.0;
    }
    return box;
}

static void put_cloud(mf_Text *text, const mf_FilmCloud *cloud) {
    const mf_Visual *visual = cloud->visual;
    const double color[3] = {visual->color[0], visual->color[1], visual->color[2]};
    // What is left out is made up for by the size of the others.
    mf_text_format(text, "\n{\"points\":%u,\"of\":%u,\"radius\":%.7g", cloud->count,
                   mf_group_count(visual->group), visual->radius * cbrt(cloud->stride));
    mf_film_put_numbers(text, "color", color, 3);
    if (mf_motion_of(visual->group, 0) == MF_MOTION_FLUID)
        mf_text_put(text, ",\"fluid\":true");
    if (cloud->color != NULL)
        mf_text_format(text, ",\"tint\":\"%s\"", cloud->color);
    mf_text_put(text, "}");
}

void mf_film_put_box(mf_Text *text, const mf_Film *film) {
    const Box box = box_of(film);
    mf_film_put_numbers(text, "low", box.low, 3);
    mf_film_put_numbers(text, "scale", box.scale, 3);
}

void mf_film_put_clouds(mf_Text *text, const mf_Film *film) {
    mf_text_put(text, ",\"clouds\":[");
    for (uint32_t i = 0; i < film->cloud_count; i++) {
        mf_text_put(text, i > 0 ? "," : "");
        put_cloud(text, &film->clouds[i]);
    }
    mf_text_put(text, "]");
    mf_film_put_box(text, film);
}

void mf_film_put_points(mf_Text *text, const mf_Film *film) {
    const size_t each = 3 * (size_t)film->points_each;
    const Box box = box_of(film);
    int32_t *parts = mf_allocate(text->context, film->filled * each + 1, sizeof *parts);
    for (size_t s = 0; s < film->filled && parts != NULL; s++)
        for (size_t i = 0; i < each; i++) {
            const double at =
                ((double)film->points[s * each + i] - box.low[i % 3]) / box.scale[i % 3];
            parts[i * film->filled + s] = isfinite(at) ? (int32_t)(at + 0.5) : 65535;
        }
    mf_film_put_columns(text, "points", parts, each, film->filled);
    mf_release(text->context, parts);
}
