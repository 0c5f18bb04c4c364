// The appearance of trusses in films: bars by their true diameters. An actuator is a tube with a
// rod in it, each fixed to one end of the bar, so that it is seen to change its length.
//
// A bar has two poses of links in the film, at both of its ends, with the z axis along it. A film
// has space for the bars that a truss has when it is created.
#include "view/film.h"
#include "motion/truss/motion.h"

#include "math/scalar.h"

#include <mayfly/quasistatic.h>

static const double bar_color[3] = {0.62, 0.65, 0.68}; // takes the color of a group
static const double tube_color[3] = {0.85, 0.35, 0.10};
static const double rod_color[3] = {0.93, 0.93, 0.90};

typedef struct Bar {
    double ends[2][3]; // [m]
    double diameter;   // [m]
    double range[2];   // [m] of an actuator; 0, 0: it is none
} Bar;

static double get(const mf_Group *group, const char *field, uint32_t instance, uint32_t c) {
    return mf_field_get(mf_group_find_field((mf_Group *)(uintptr_t)group, field), instance, c);
}

static uint32_t count_of(const mf_Group *group, uint32_t instance, uint32_t kind) {
    return (uint32_t)get(group, "truss.counts", instance, kind);
}

static void find_bar(const mf_Group *group, uint32_t instance, uint32_t b, Bar *out) {
    *out = (Bar){.diameter = get(group, "bar.diameter", instance, b)};
    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t v = (uint32_t)get(group, "bar.ends", instance, 2 * b + e);
        for (uint32_t c = 0; c < 3; c++)
            out->ends[e][c] = get(group, "vertex.position", instance, 3 * v + c);
    }
    for (uint32_t a = 0; a < count_of(group, instance, 2); a++)
        if ((uint32_t)get(group, "actuator.bar", instance, a) == b)
            for (uint32_t e = 0; e < 2; e++)
                out->range[e] = get(group, "actuator.range", instance, 2 * a + e);
}

uint32_t mf_film_truss_links(const mf_Group *group, uint32_t instance) {
    return mf_truss_config_of(group) == NULL ? 0 : 2 * count_of(group, instance, 1);
}

// The shortest rotation from the z axis to a direction.
static void along(double q[4], const double from[3], const double to[3]) {
    double offset[3];
    mf_vec3_sub(offset, to, from);
    if (!mf_vec3_normalize(offset))
        mf_vec3_set(offset, 0, 0, 1);
    q[0] = 1.0 + offset[2];
    q[1] = -offset[1];
    q[2] = offset[0];
    q[3] = 0.0;
    if (q[0] < 1e-9) { // straight down
        q[0] = 0.0;
        q[1] = 1.0;
    }
    const double size = mf_sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int c = 0; c < 3; c++)
        q[c] /= size;
}

float *mf_film_truss_sample(const mf_Group *group, uint32_t instance, uint32_t links, float *pose) {
    const uint32_t bars = count_of(group, instance, 1);
    for (uint32_t b = 0; b < links / 2; b++) {
        Bar bar;
        find_bar(group, instance, b < bars ? b : 0, &bar);
        for (uint32_t e = 0; e < 2; e++, pose += MF_FILM_POSE) {
            double q[4];
            along(q, bar.ends[e], bar.ends[1 - e]);
            for (int c = 0; c < 3; c++)
                pose[c] = (float)bar.ends[e][c];
            for (int c = 0; c < 4; c++)
                pose[3 + c] = (float)q[c];
        }
    }
    return pose;
}

// A shape along the z axis of a link, from its origin on.
static void put(mf_Text *text, const char **comma, const char *type, uint32_t link, double radius,
                double length, const double color[3]) {
    mf_text_format(text, "%s\n{\"type\":\"%s\",\"link\":%u", *comma, type, link);
    mf_film_put_numbers(text, "place", (double[3]){0.0, 0.0, 0.5 * length}, 3);
    mf_film_put_numbers(text, "turn", (double[4]){1.0, 0.0, 0.0, 0.0}, 4);
    mf_film_put_numbers(text, "size", (double[3]){radius, length, 0.0}, 3);
    mf_film_put_numbers(text, "color", color, 3);
    mf_text_put(text, "}");
    *comma = ",";
}

bool mf_film_put_truss(mf_Text *text, const mf_Group *group, uint32_t instance, uint32_t links) {
    const char *comma = "";
    if (links == 0 || mf_film_truss_links(group, instance) == 0)
        return false;
    for (uint32_t b = 0; b < links / 2 && b < count_of(group, instance, 1); b++) {
        Bar bar;
        double offset[3];
        find_bar(group, instance, b, &bar);
        mf_vec3_sub(offset, bar.ends[1], bar.ends[0]);
        const double radius = 0.5 * bar.diameter, length = mf_vec3_length(offset);
        if (!(bar.range[1] > 0.0)) {
            put(text, &comma, "capsule", 2 * b, radius, length, bar_color);
            continue;
        }
        const double shortest = bar.range[0] < length ? bar.range[0] : length;
        put(text, &comma, "capsule", 2 * b, 1.15 * radius, 0.6 * shortest, tube_color);
        put(text, &comma, "capsule", 2 * b + 1, 0.7 * radius, shortest, rod_color);
    }
    return true;
}
