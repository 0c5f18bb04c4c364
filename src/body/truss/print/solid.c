// Closed surfaces for printing. A sphere with round holes is the convex hull of points on it: the
// edges of the holes, points between, and one point in the middle of each hole, whose triangles are
// left out. All of them are on the sphere, so all of them are on the hull, and the edge of a hole
// is there exactly.
#include "body/truss/print/solid.h"

#include "base/memory.h"
#include "math/scalar.h"
#include "import/hull.h"

#include <string.h>

mf_SolidDraft mf_solid_begin(mf_Context *context, uint32_t segments) {
    return (mf_SolidDraft){.context = context, .segments = segments};
}

void mf_solid_free(mf_SolidDraft *draft) {
    mf_release(draft->context, draft->vertices);
    mf_release(draft->context, draft->triangles);
    draft->vertices = NULL;
    draft->triangles = NULL;
}

// ---- growing -----------------------------------------------------------------------------------

// Space for `more` items behind `count`, in twice the memory each time. NULL: out of memory.
static void *grow(mf_Context *context, void *items, uint32_t count, uint32_t *capacity,
                  size_t size) {
    const uint32_t needed = *capacity == 0 ? 1024 : 2 * *capacity;
    if (count < *capacity)
        return items;
    void *larger = mf_allocate(context, needed, size);
    if (larger == NULL)
        return NULL;
    if (count > 0)
        memcpy(larger, items, count * size);
    mf_release(context, items);
    *capacity = needed;
    return larger;
}

static uint32_t add_vertex(mf_SolidDraft *d, const double at[3]) {
    double *vertices = d->failed ? NULL
                                 : grow(d->context, d->vertices, d->vertex_count,
                                        &d->vertex_capacity, 3 * sizeof *vertices);
    if (vertices == NULL) {
        d->failed = true;
        return 0;
    }
    d->vertices = vertices;
    memcpy(&d->vertices[3 * (size_t)d->vertex_count], at, 3 * sizeof *at);
    return d->vertex_count++;
}

static void add_triangle(mf_SolidDraft *d, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *triangles = d->failed ? NULL
                                    : grow(d->context, d->triangles, d->triangle_count,
                                           &d->triangle_capacity, 3 * sizeof *triangles);
    if (triangles == NULL) {
        d->failed = true;
        return;
    }
    d->triangles = triangles;
    const uint32_t corners[3] = {a, b, c};
    memcpy(&d->triangles[3 * (size_t)d->triangle_count++], corners, sizeof corners);
}

// ---- frames ------------------------------------------------------------------------------------

mf_SolidFrame mf_solid_frame(const double origin[3], const double axis[3]) {
    mf_SolidFrame frame;
    int least = 0;
    for (int i = 1; i < 3; i++)
        least = mf_abs(axis[i]) < mf_abs(axis[least]) - 1e-9 ? i : least;
    double other[3] = {0.0, 0.0, 0.0};
    other[least] = 1.0;
    memcpy(frame.origin, origin, sizeof frame.origin);
    memcpy(frame.axes[2], axis, sizeof frame.axes[2]);
    mf_vec3_cross(frame.axes[0], other, axis);
    const double length = mf_sqrt(mf_vec3_dot(frame.axes[0], frame.axes[0]));
    for (int i = 0; i < 3; i++)
        frame.axes[0][i] /= length;
    mf_vec3_cross(frame.axes[1], axis, frame.axes[0]);
    return frame;
}

static void into_frame(double out[3], const mf_SolidFrame *frame, double x, double y, double z) {
    for (int i = 0; i < 3; i++)
        out[i] = frame->origin[i] + x * frame->axes[0][i] + y * frame->axes[1][i] +
                 z * frame->axes[2][i];
}

// ---- surfaces of revolution --------------------------------------------------------------------

void mf_profile_point(mf_Profile *profile, double radius, double z) {
    const uint32_t at = profile->count;
    // Points that coincide would make triangles without an area.
    if (at > 0 && mf_abs(profile->radius[at - 1] - radius) + mf_abs(profile->z[at - 1] - z) < 1e-7)
        return;
    if (at == MF_PROFILE_MOST)
        return;
    profile->radius[at] = radius;
    profile->z[at] = z;
    profile->count++;
}

void mf_profile_arc(mf_Profile *profile, double center, double radius, double from, double to,
                    uint32_t segments) {
    const double step = 2.0 * MF_PI / segments;
    const uint32_t pieces = (uint32_t)(mf_abs(to - from) / step) + 1;
    for (uint32_t i = 0; i <= pieces; i++) {
        const double angle = i == pieces ? to : from + (to - from) * i / pieces;
        double sine, cosine;
        mf_sin_cos(angle, &sine, &cosine);
        const bool pole = mf_abs(sine) < 1e-9;
        mf_profile_point(profile, pole ? 0.0 : radius * sine, center + radius * cosine);
    }
}

// The vertices of one point of a profile: one on the axis, else a ring.
static uint32_t add_ring(mf_SolidDraft *d, const mf_SolidFrame *frame, double radius, double z) {
    const uint32_t first = d->vertex_count, count = radius > 0.0 ? d->segments : 1;
    for (uint32_t i = 0; i < count; i++) {
        double at[3], sine, cosine;
        mf_sin_cos(2.0 * MF_PI * i / d->segments, &sine, &cosine);
        into_frame(at, frame, radius * cosine, radius * sine, z);
        add_vertex(d, at);
    }
    return first;
}

static void connect(mf_SolidDraft *d, uint32_t low, bool low_point, uint32_t high,
                    bool high_point) {
    for (uint32_t i = 0; i < d->segments; i++) {
        const uint32_t next = (i + 1) % d->segments;
        if (!low_point)
            add_triangle(d, low + i, low + next, high_point ? high : high + next);
        if (!high_point)
            add_triangle(d, low_point ? low : low + i, high + next, high + i);
    }
}

void mf_solid_rotate(mf_SolidDraft *draft, const mf_SolidFrame *frame, const mf_Profile *profile,
                     uint32_t ends[2]) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < profile->count; i++) {
        const uint32_t ring = add_ring(draft, frame, profile->radius[i], profile->z[i]);
        if (i == 0)
            ends[0] = ring;
        else
            connect(draft, before, profile->radius[i - 1] <= 0.0, ring, profile->radius[i] <= 0.0);
        before = ring;
    }
    ends[1] = before;
}

// ---- spheres with holes ------------------------------------------------------------------------

typedef struct Sphere {
    mf_SolidDraft *draft;
    const mf_SolidHole *holes;
    uint32_t hole_count, count, poles; // [1] points; those from `poles` on are middles of holes
    double *points;                    // [1] on the unit sphere, 3 each
    uint32_t *numbers;                 // [1] vertex of the solid of each point
} Sphere;

static bool in_hole(const Sphere *s, const double at[3], double margin) {
    for (uint32_t h = 0; h < s->hole_count; h++) {
        const double cosine = mf_clamp(mf_vec3_dot(at, s->holes[h].axis), -1.0, 1.0);
        if (mf_acos(cosine) < s->holes[h].angle + margin)
            return true;
    }
    return false;
}

static void sphere_point(Sphere *s, const double at[3], uint32_t number) {
    memcpy(&s->points[3 * (size_t)s->count], at, 3 * sizeof *at);
    s->numbers[s->count++] = number;
}

// Points of a spiral that are not close to a hole (Fibonacci lattice).
static void fill_sphere(Sphere *s, const double center[3], double radius, uint32_t fill) {
    const double golden = MF_PI * (3.0 - mf_sqrt(5.0)), step = 2.0 * MF_PI / s->draft->segments;
    for (uint32_t i = 0; i < fill; i++) {
        double sine, cosine, at[3], position[3];
        const double z = 1.0 - (2.0 * i + 1.0) / fill, ring = mf_sqrt(1.0 - z * z);
        mf_sin_cos(golden * i, &sine, &cosine);
        mf_vec3_set(at, ring * cosine, ring * sine, z);
        if (in_hole(s, at, 0.6 * step))
            continue;
        for (int k = 0; k < 3; k++)
            position[k] = center[k] + radius * at[k];
        sphere_point(s, at, add_vertex(s->draft, position));
    }
}

static void gather_points(Sphere *s, const double center[3], double radius, uint32_t fill) {
    mf_SolidDraft *d = s->draft;
    fill_sphere(s, center, radius, fill);
    for (uint32_t h = 0; h < s->hole_count && !d->failed; h++) {
        for (uint32_t i = 0; i < d->segments; i++) {
            const double *position = &d->vertices[3 * (size_t)(s->holes[h].ring + i)];
            double at[3];
            for (int k = 0; k < 3; k++)
                at[k] = (position[k] - center[k]) / radius;
            sphere_point(s, at, s->holes[h].ring + i);
        }
    }
    s->poles = s->count;
    for (uint32_t h = 0; h < s->hole_count; h++)
        sphere_point(s, s->holes[h].axis, 0);
}

mf_Status mf_solid_sphere(mf_SolidDraft *draft, const double center[3], double radius,
                          const mf_SolidHole *holes, uint32_t count, mf_Error *error) {
    const uint32_t fill = draft->segments * draft->segments / 3;
    const size_t capacity = fill + (size_t)count * (draft->segments + 1);
    Sphere s = {.draft = draft, .holes = holes, .hole_count = count};
    mf_Hull hull = {0};
    mf_Context *context = draft->context;
    const mf_Array arrays[] = {MF_ARRAY(s.points, 3 * capacity), MF_ARRAY(s.numbers, capacity)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        draft->failed = true;
    mf_HullResult result = MF_HULL_NO_MEMORY;
    if (!draft->failed)
        gather_points(&s, center, radius, fill);
    if (!draft->failed)
        result = mf_hull_make(context, s.points, s.count, -1, &hull);
    for (uint32_t t = 0; t < hull.triangle_count; t++) {
        const uint32_t *c = &hull.triangles[3 * (size_t)t];
        if (c[0] < s.poles && c[1] < s.poles && c[2] < s.poles)
            add_triangle(draft, s.numbers[c[0]], s.numbers[c[1]], s.numbers[c[2]]);
    }
    mf_release(context, hull.triangles);
    mf_release(context, hull.vertices);
    mf_release(context, s.points);
    MF_NEED_MEMORY(!draft->failed && result == MF_HULL_MADE, error, "print");
    return MF_OK;
}

// ---- whole solids ------------------------------------------------------------------------------

void mf_solid_append(mf_SolidDraft *draft, const mf_SolidFrame *frame, const mf_SolidDraft *solid) {
    const uint32_t first = draft->vertex_count;
    for (uint32_t v = 0; v < solid->vertex_count; v++) {
        const double *from = &solid->vertices[3 * (size_t)v];
        double at[3];
        into_frame(at, frame, from[0], from[1], from[2]);
        add_vertex(draft, at);
    }
    for (uint32_t t = 0; t < solid->triangle_count; t++) {
        const uint32_t *c = &solid->triangles[3 * (size_t)t];
        add_triangle(draft, first + c[0], first + c[1], first + c[2]);
    }
}

double mf_solid_volume(const mf_SolidDraft *draft) {
    double sum = 0.0;
    for (uint32_t t = 0; t < draft->triangle_count; t++) {
        const uint32_t *c = &draft->triangles[3 * (size_t)t];
        double normal[3];
        mf_vec3_cross(normal, &draft->vertices[3 * (size_t)c[1]],
                      &draft->vertices[3 * (size_t)c[2]]);
        sum += mf_vec3_dot(&draft->vertices[3 * (size_t)c[0]], normal) / 6.0;
    }
    return sum;
}
