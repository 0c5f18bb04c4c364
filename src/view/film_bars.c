// The appearance of bars in films, by their true diameters. An actuator is a tube with a
// rod in it, each fixed to one end of the bar, so that it is seen to change its length.
//
// A bar has two poses of links in the film, at both of its ends, with the z axis along it. A film
// has space for the bars that a robot has when it is created.
#include "view/film.h"

#include "math/scalar.h"

static const float rod_color[3] = {0.93f, 0.93f, 0.90f};

uint32_t mf_film_bar_links(const mf_Visual *visual, uint32_t instance) {
    return 2 * mf_visual_bar_count(visual, instance);
}

float *mf_film_bar_sample(const mf_Visual *visual, uint32_t instance, uint32_t links, float *pose) {
    const uint32_t bars = mf_visual_bar_count(visual, instance);
    for (uint32_t b = 0; b < links / 2; b++) {
        mf_VisualBar bar;
        mf_visual_bar(visual, instance, b < bars ? b : 0, &bar);
        for (uint32_t e = 0; e < 2; e++, pose += MF_FILM_POSE) {
            double q[4];
            mf_visual_along(q, bar.ends[e], bar.ends[1 - e]);
            for (int c = 0; c < 3; c++)
                pose[c] = (float)bar.ends[e][c];
            for (int c = 0; c < 4; c++)
                pose[3 + c] = (float)q[c];
        }
    }
    return pose;
}

// A capsule along the z axis of a link, from its origin on.
static void put(mf_Text *text, uint32_t link, double radius, double length, const float color[3]) {
    mf_Shape shape = {.type = MF_SHAPE_CAPSULE,
                      .link = link,
                      .position = {0.0, 0.0, 0.5 * length},
                      .rotation = {1.0, 0.0, 0.0, 0.0},
                      .size = {radius, length, 0.0}};
    for (int c = 0; c < 3; c++)
        shape.color[c] = color[c];
    mf_film_put_shape(text, NULL, &shape, NULL);
}

void mf_film_put_bars(mf_Text *text, const mf_Visual *visual, uint32_t instance, uint32_t links) {
    for (uint32_t b = 0; b < links / 2 && b < mf_visual_bar_count(visual, instance); b++) {
        mf_VisualBar bar;
        double offset[3];
        mf_visual_bar(visual, instance, b, &bar);
        mf_vec3_sub(offset, bar.ends[1], bar.ends[0]);
        const double length = mf_vec3_length(offset);
        mf_text_put(text, b > 0 ? "," : "");
        if (!(bar.range[1] > 0.0)) {
            put(text, 2 * b, bar.radius, length, bar.color);
            continue;
        }
        const double shortest = bar.range[0] < length ? bar.range[0] : length;
        // As long as it must be for the rod not to leave it, where one rod can do that.
        const double sleeve = mf_clamp(bar.range[1] - shortest, 0.6 * shortest, shortest);
        put(text, 2 * b, 1.15 * bar.radius, sleeve, bar.color);
        mf_text_put(text, ",");
        put(text, 2 * b + 1, 0.7 * bar.radius, shortest, rod_color);
    }
}
