// The flat faces of a hull, from its triangles: neighbors whose normals have the same azimuth and
// polar angle to 0.01 rad are one face, as in MuJoCo's compiler. Every face is listed once by each
// of its corners, reduced to four corners from that one on (hull.h).
#include "contact/hull_draft.h"
#include "base/memory.h"
#include "math/scalar.h"

#include <stdlib.h>
#include <string.h>

#define ANGLE 0.01 // [rad]

typedef struct Edge { // of a triangle, from the corner of smaller number
    uint32_t low, high;
    uint32_t triangle;
} Edge;

typedef struct Faces {
    const mf_Mesh *mesh;
    mf_HullDraft *draft;
    uint32_t triangle_count;
    uint32_t *triangles; // [1] 3 vertices of the hull each
    double *normals;     // [1] 3 each
    int32_t (*keys)[2];  // [1]
    uint32_t *face;      // [1] of each triangle: the smallest triangle of its face
    Edge *edges;         // [1] 3 per triangle, sorted
    uint32_t *next;      // [1] per vertex: the next one around the face at work, MF_NONE
    uint32_t *path;      // [1] corners of the face at work
} Faces;

static uint32_t vertex_of(const mf_Mesh *mesh, uint32_t number) {
    uint32_t low = 0, high = mesh->hull_vertex_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (mesh->hull_vertices[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const double *position_of(const Faces *f, uint32_t vertex) {
    return f->draft->vertices_f64 + 3 * (size_t)vertex;
}

static void read_triangle(Faces *f, uint32_t t) {
    uint32_t *corner = f->triangles + 3 * (size_t)t;
    double *normal = f->normals + 3 * (size_t)t, a[3], b[3];
    for (int i = 0; i < 3; i++)
        corner[i] = vertex_of(f->mesh, f->mesh->hull_triangles[3 * (size_t)t + (size_t)i]);
    mf_vec3_sub(a, position_of(f, corner[1]), position_of(f, corner[0]));
    mf_vec3_sub(b, position_of(f, corner[2]), position_of(f, corner[0]));
    mf_vec3_cross(normal, a, b);
    mf_vec3_normalize(normal);
    bool pole = mf_abs(normal[2]) > 1.0 - 1e-7;
    double around = pole ? 0.0 : mf_atan2(normal[1], normal[0]);
    f->keys[t][0] = (int32_t)mf_floor(around / ANGLE + 0.5);
    f->keys[t][1] = (int32_t)mf_floor(mf_acos(mf_clamp(normal[2], -1.0, 1.0)) / ANGLE + 0.5);
    f->face[t] = t;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t from = corner[i], to = corner[(i + 1) % 3];
        f->edges[3 * t + i] = (Edge){from < to ? from : to, from < to ? to : from, t};
    }
}

static int compare_edges(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static uint32_t face_of(const Faces *f, uint32_t t) {
    while (f->face[t] != t)
        t = f->face[t];
    return t;
}

static void join_triangles(Faces *f) {
    const uint32_t count = 3 * f->triangle_count;
    qsort(f->edges, count, sizeof *f->edges, compare_edges);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const Edge *one = &f->edges[i], *two = &f->edges[i + 1];
        const int32_t *a = f->keys[one->triangle], *b = f->keys[two->triangle];
        if (one->low != two->low || one->high != two->high || a[0] != b[0] || a[1] != b[1])
            continue;
        uint32_t x = face_of(f, one->triangle), y = face_of(f, two->triangle);
        f->face[x > y ? x : y] = x > y ? y : x;
    }
    for (uint32_t t = 0; t < f->triangle_count; t++)
        f->face[t] = face_of(f, t);
}

// The corners around a face, whose triangles are those of `members`; returns how many. What is not
// one loop, from triangles that rounding has turned over, gives none.
static uint32_t trace(Faces *f, const uint32_t *members, uint32_t count) {
    uint32_t edges = 0, corners = 0, start = MF_NONE;
    for (uint32_t i = 0; i < 3 * count; i++)
        f->next[f->triangles[3 * (size_t)members[i / 3] + i % 3]] = MF_NONE;
    for (uint32_t i = 0; i < 3 * count; i++) {
        const uint32_t *corner = f->triangles + 3 * (size_t)members[i / 3];
        const uint32_t from = corner[i % 3], to = corner[(i + 1) % 3];
        bool inner = false;
        for (uint32_t k = 0; k < 3 * count && !inner; k++) {
            const uint32_t *other = f->triangles + 3 * (size_t)members[k / 3];
            inner = other[k % 3] == to && other[(k + 1) % 3] == from;
        }
        if (inner)
            continue;
        if (f->next[from] != MF_NONE)
            return 0;
        f->next[from] = to;
        start = from;
        edges++;
    }
    for (uint32_t at = start; corners < edges && at != MF_NONE; at = f->next[at])
        f->path[corners++] = at;
    return corners == edges && edges >= 3 && f->next[f->path[edges - 1]] == start ? edges : 0;
}

static double area(const Faces *f, const uint32_t *corner) {
    double a[3], b[3], c[3];
    mf_vec3_sub(a, position_of(f, corner[2]), position_of(f, corner[0]));
    mf_vec3_sub(b, position_of(f, corner[3]), position_of(f, corner[1]));
    mf_vec3_cross(c, a, b);
    return mf_vec3_length(c);
}

// Moves corner i of four on as long as the area grows.
static bool climb(const Faces *f, uint32_t start, uint32_t count, int i, uint32_t at[4],
                  uint32_t out[4], double *most) {
    const uint32_t kept = out[i];
    if (at[i] + 1 >= (i < 3 ? at[i + 1] : count))
        return false;
    out[i] = f->path[(start + at[i] + 1) % count];
    double larger = area(f, out);
    if (!(larger > *most)) {
        out[i] = kept;
        return false;
    }
    *most = larger;
    at[i]++;
    return true;
}

// Four of the corners, the first of which is path[start]: the last moves on while the area grows,
// after each of its moves the third, then the second likewise.
static void reduce(const Faces *f, uint32_t start, uint32_t count, uint32_t out[4]) {
    uint32_t at[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++)
        out[i] = f->path[(start + at[i]) % count];
    double most = area(f, out);
    while (climb(f, start, count, 3, at, out, &most)) {
        while (climb(f, start, count, 2, at, out, &most))
            ;
        while (climb(f, start, count, 1, at, out, &most))
            ;
    }
}

// Lists a face at all its corners; `normal` is the sum of those of its triangles by area, *loop how
// long the loops of all faces are so far.
static void put_face(Faces *f, uint32_t count, const double normal[3], uint32_t *used,
                     uint32_t *loop) {
    mf_HullDraft *draft = f->draft;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t vertex = f->path[i], number = draft->first_face[vertex] + used[vertex]++;
        mf_HullFace *face = &draft->faces[number];
        face->count = count < 4 ? count : 4;
        face->loop = *loop;
        face->length = count;
        draft->loops[*loop + i] = vertex;
        if (count > 4)
            reduce(f, i, count, face->corners);
        for (uint32_t k = 0; count <= 4 && k < 4; k++)
            face->corners[k] = f->path[(i + (k < count ? k : 0)) % count];
        for (uint32_t k = 0; k < 3; k++) {
            draft->normals_f64[3 * (size_t)number + k] = normal[k];
            draft->normals_f32[3 * (size_t)number + k] = (float)normal[k];
        }
    }
    *loop += count;
}

typedef struct Member {
    uint32_t face, triangle;
} Member;

static int compare_members(const void *a, const void *b) {
    const Member *x = a, *y = b;
    if (x->face != y->face)
        return x->face < y->face ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static void normal_of(const Faces *f, const uint32_t *members, uint32_t count, double out[3]) {
    mf_vec3_set(out, 0, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *corner = f->triangles + 3 * (size_t)members[i];
        double a[3], b[3], c[3];
        mf_vec3_sub(a, position_of(f, corner[1]), position_of(f, corner[0]));
        mf_vec3_sub(b, position_of(f, corner[2]), position_of(f, corner[0]));
        mf_vec3_cross(c, a, b);
        mf_vec3_add(out, out, c);
    }
    mf_vec3_normalize(out);
}

// Goes through all faces twice: to count what each vertex lists, and to list it.
static bool list_faces(mf_Context *context, Faces *f) {
    const uint32_t triangles = f->triangle_count, vertices = f->draft->hull.vertex_count;
    Member *order;
    uint32_t *members, *used;
    const mf_Array arrays[] = {MF_ARRAY(order, triangles), MF_ARRAY(members, triangles),
                               MF_ARRAY(used, vertices)};
    bool fine = mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays);
    for (uint32_t t = 0; fine && t < triangles; t++)
        order[t] = (Member){f->face[t], t};
    if (fine)
        qsort(order, triangles, sizeof *order, compare_members);
    for (uint32_t t = 0; fine && t < triangles; t++)
        members[t] = order[t].triangle;
    for (int pass = 0; fine && pass < 2; pass++) {
        for (uint32_t first = 0, last; first < triangles; first = last) {
            for (last = first + 1; last < triangles && order[last].face == order[first].face;)
                last++;
            uint32_t corners = trace(f, members + first, last - first);
            double normal[3];
            normal_of(f, members + first, last - first, normal);
            for (uint32_t i = 0; pass == 0 && i < corners; i++)
                f->draft->first_face[f->path[i] + 1]++;
            if (pass == 1)
                put_face(f, corners, normal, used, &f->draft->hull.loop_count);
        }
        if (pass == 1)
            continue;
        for (uint32_t v = 0; v < vertices; v++)
            f->draft->first_face[v + 1] += f->draft->first_face[v];
        const size_t count = f->draft->first_face[vertices];
        f->draft->hull.face_count = (uint32_t)count;
        f->draft->faces = mf_allocate(context, count, sizeof *f->draft->faces);
        f->draft->loops = mf_allocate(context, count, sizeof *f->draft->loops);
        f->draft->normals_f64 = mf_allocate(context, 3 * count, sizeof(double));
        f->draft->normals_f32 = mf_allocate(context, 3 * count, sizeof(float));
        fine = f->draft->faces && f->draft->loops && f->draft->normals_f64 && f->draft->normals_f32;
    }
    mf_release(context, order); // with the others
    return fine;
}

bool mf_hull_make_faces(mf_Context *context, const mf_Mesh *mesh, mf_HullDraft *draft) {
    const size_t count = mesh->hull_triangle_count;
    Faces f = {.mesh = mesh, .draft = draft, .triangle_count = mesh->hull_triangle_count};
    const mf_Array arrays[] = {
        MF_ARRAY(f.triangles, 3 * count), MF_ARRAY(f.normals, 3 * count),
        MF_ARRAY(f.keys, count),          MF_ARRAY(f.face, count),
        MF_ARRAY(f.edges, 3 * count),     MF_ARRAY(f.next, draft->hull.vertex_count),
        MF_ARRAY(f.path, 3 * count + 1)};
    draft->first_face =
        mf_allocate(context, draft->hull.vertex_count + 1, sizeof *draft->first_face);
    bool fine = draft->first_face != NULL &&
                mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays);
    if (fine) {
        for (uint32_t t = 0; t < f.triangle_count; t++)
            read_triangle(&f, t);
        join_triangles(&f);
        fine = list_faces(context, &f);
    }
    mf_release(context, f.triangles); // with all other arrays
    return fine;
}
