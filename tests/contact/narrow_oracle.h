// A slow reference for contacts in plain double, which shares no code with the kernels: support
// functions and containment of solids in closed form, and the depth as the minimum of h_a(n) +
// h_b(-n) over directions n, by dense sampling and a narrowing random search.
#pragma once

#include "contact/collide.h"

#include <math.h>
#include <stdint.h>

typedef struct Body {
    mf_ShapeType type;
    double size[3]; // as in mf_Shape
    const float *vertices;
    uint32_t vertex_count;
    double rotation[9], position[3]; // to the world
} Body;

static uint64_t oracle_state = 1;

static double oracle_random(void) { // [0, 1)
    uint64_t z = oracle_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double oracle_normal(void) {
    double u = 1.0 - oracle_random();
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * oracle_random());
}

static void to_own(const Body *body, const double v[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] =
            body->rotation[i] * v[0] + body->rotation[3 + i] * v[1] + body->rotation[6 + i] * v[2];
}

// Farthest of the body along n (world).
static double body_reach(const Body *body, const double n[3]) {
    double d[3], best = -INFINITY, flat;
    const double *s = body->size;
    to_own(body, n, d);
    double here = n[0] * body->position[0] + n[1] * body->position[1] + n[2] * body->position[2];
    flat = sqrt(d[0] * d[0] + d[1] * d[1]);
    switch (body->type) {
    case MF_SHAPE_SPHERE:
        return here + s[0];
    case MF_SHAPE_CAPSULE:
        return here + s[0] + 0.5 * s[1] * fabs(d[2]);
    case MF_SHAPE_CYLINDER:
        return here + s[0] * flat + 0.5 * s[1] * fabs(d[2]);
    case MF_SHAPE_ELLIPSOID:
        return here + sqrt(s[0] * s[0] * d[0] * d[0] + s[1] * s[1] * d[1] * d[1] +
                           s[2] * s[2] * d[2] * d[2]);
    case MF_SHAPE_BOX:
        return here + 0.5 * (s[0] * fabs(d[0]) + s[1] * fabs(d[1]) + s[2] * fabs(d[2]));
    case MF_SHAPE_MESH:
        for (uint32_t i = 0; i < body->vertex_count; i++) {
            const float *v = body->vertices + 3 * i;
            double value = v[0] * d[0] + v[1] * d[1] + v[2] * d[2];
            best = value > best ? value : best;
        }
        return here + best;
    default:
        return NAN;
    }
}

// How far a point sticks out of the body: > 0 outside, near 0 on the surface. A bound from below
// for ellipsoids and hulls (by sampled directions), exact for the others.
static double body_outside(const Body *body, const double point[3]) {
    double direction[3] = {point[0] - body->position[0], point[1] - body->position[1],
                           point[2] - body->position[2]};
    double p[3];
    const double *s = body->size;
    to_own(body, direction, p);
    double flat = sqrt(p[0] * p[0] + p[1] * p[1]), along = fmax(fabs(p[2]) - 0.5 * s[1], 0.0);
    double scaled[3] = {p[0] / s[0], p[1] / s[1], p[2] / s[2]}, worst = -INFINITY;
    switch (body->type) {
    case MF_SHAPE_SPHERE:
        return sqrt(flat * flat + p[2] * p[2]) - s[0];
    case MF_SHAPE_CAPSULE:
        return sqrt(flat * flat + along * along) - s[0];
    case MF_SHAPE_CYLINDER:
        return fmax(flat - s[0], fabs(p[2]) - 0.5 * s[1]);
    case MF_SHAPE_BOX:
        return fmax(fabs(p[0]) - 0.5 * s[0],
                    fmax(fabs(p[1]) - 0.5 * s[1], fabs(p[2]) - 0.5 * s[2]));
    case MF_SHAPE_ELLIPSOID:
        return (sqrt(scaled[0] * scaled[0] + scaled[1] * scaled[1] + scaled[2] * scaled[2]) - 1) *
               fmin(s[0], fmin(s[1], s[2]));
    case MF_SHAPE_MESH:
        for (int i = 0; i < 500; i++) {
            double z = 1 - (2 * i + 1) / 500.0, r = sqrt(1 - z * z), a = 2.399963229728653 * i;
            double n[3] = {r * cos(a), r * sin(a), z};
            double level = n[0] * point[0] + n[1] * point[1] + n[2] * point[2];
            worst = fmax(worst, level - body_reach(body, n));
        }
        return worst;
    default:
        return NAN;
    }
}

static double overlap_along(const Body *a, const Body *b, const double n[3]) {
    double back[3] = {-n[0], -n[1], -n[2]};
    return body_reach(a, n) + body_reach(b, back);
}

static void make_unit(double v[3]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

// Narrows around `n` by random steps that shrink; returns the overlap there.
static double narrow_down(const Body *a, const Body *b, double n[3], double step, double finest) {
    double best = overlap_along(a, b, n);
    int failures = 0;
    while (step > finest) {
        double trial[3];
        for (int i = 0; i < 3; i++)
            trial[i] = n[i] + step * oracle_normal();
        make_unit(trial);
        double value = overlap_along(a, b, trial);
        if (value < best) {
            best = value;
            n[0] = trial[0];
            n[1] = trial[1];
            n[2] = trial[2];
            failures = 0;
        } else if (++failures == 24) {
            step *= 0.6;
            failures = 0;
        }
    }
    return best;
}

// Depth (minus the distance when apart), to about 1e-6 of the size. `n` gets the direction.
static double oracle_depth(const Body *a, const Body *b, double n[3]) {
    enum { SAMPLES = 3000, STARTS = 6 };
    double best = INFINITY, starts[STARTS][3], values[STARTS];
    for (int k = 0; k < STARTS; k++)
        values[k] = INFINITY;
    for (int i = 0; i < SAMPLES; i++) {
        double z = 1 - (2 * i + 1) / (double)SAMPLES, r = sqrt(1 - z * z),
               rotation = 2.399963229728653 * i;
        double d[3] = {r * cos(rotation), r * sin(rotation), z}, value = overlap_along(a, b, d);
        int slot = -1; // near one that is kept, else the worst
        for (int k = 0; k < STARTS && slot < 0; k++) {
            if (isfinite(values[k]) &&
                starts[k][0] * d[0] + starts[k][1] * d[1] + starts[k][2] * d[2] > 0.97)
                slot = k;
        }
        for (int k = 0; k < STARTS && slot < 0; k++) {
            int worse = 0;
            for (int l = 0; l < STARTS; l++)
                worse += values[l] > values[k];
            if (worse == 0)
                slot = k;
        }
        if (value < values[slot]) {
            values[slot] = value;
            for (int c = 0; c < 3; c++)
                starts[slot][c] = d[c];
        }
    }
    for (int k = 0; k < STARTS; k++) {
        if (!isfinite(values[k]))
            continue;
        double value = narrow_down(a, b, starts[k], 0.05, 1e-7);
        if (value < best) {
            best = value;
            for (int c = 0; c < 3; c++)
                n[c] = starts[k][c];
        }
    }
    return best;
}
