// Meshes of films in few bytes. Triangles are visited from neighbor to neighbor over the edges of
// those that were visited (a traversal as in Edgebreaker: Rossignac 1999, IEEE TVCG 5 (1)), so that
// a triangle is one small number, its third corner: 0 there is none, 1 a new vertex, else how long
// ago the vertex was new. A new vertex is stored as its offset from the corner of a
// parallelogram (Touma and Gotsman 1998, Graphics Interface) in 16 bits of the mesh's box: 0.02 mm
// in a meter. Numbers are written byte by byte, the lowest ones first, and deflated.
// web/src/mesh.ts undoes it.
//
// Texture coordinates are those of corners, in 16 bits of their range, stored as differences from
// the last ones at the same vertex or, of a new one, of the corner before.
//
// Any list of triangles comes back as it was up to its order, the first corner of each and the
// rounding; vertices without triangles do not.
#include "base/memory.h"
#include "view/film.h"

#include <math.h>
#include <string.h>

#define QUANTA 65535.0 // [1] steps of a mesh's box
#define NOTHING UINT32_MAX

typedef struct Edge {
    uint32_t from, to;
    uint32_t first; // [1] corner from which it starts, of a triangle; NOTHING: the slot is free
    bool used;      // it belongs to a triangle that was visited
} Edge;

typedef struct Gate {
    uint32_t from, to, behind; // [1] vertices; the last one is the third of its triangle
} Gate;

typedef struct Walk {
    mf_Context *context;
    const mf_Mesh *mesh;
    uint16_t *vertex_coordinates; // [1] of all vertices: 3 coordinates in QUANTA
    Edge *edges;                  // a hash table
    uint32_t mask;                // [1] of its slots
    uint32_t *next;               // [1] the next corner of the same edge
    bool *visited;                // triangles
    uint32_t *number;             // [1] of vertices that are not new any more
    Gate *gates;                  // a stack
    uint32_t gate_count;
    uint32_t *codes;
    uint32_t code_count;
    uint16_t *rests; // [1] of new vertices
    uint32_t known;  // [1] vertices that were new
    uint32_t *order; // [1] corners in the order of the visit, for coordinates
    uint32_t ordered;
} Walk;

// ---- edges -------------------------------------------------------------------------------------

static Edge *find_edge(const Walk *walk, uint32_t from, uint32_t to) {
    uint32_t at = (from * 2654435761u ^ to * 2246822519u) & walk->mask;
    while (walk->edges[at].first != NOTHING &&
           (walk->edges[at].from != from || walk->edges[at].to != to))
        at = (at + 1) & walk->mask;
    return &walk->edges[at];
}

static uint32_t corner_after(uint32_t corner) {
    return corner % 3 == 2 ? corner - 2 : corner + 1;
}

static void list_edges(Walk *walk) {
    const uint32_t *corners = walk->mesh->triangles, count = 3 * walk->mesh->triangle_count;
    for (uint32_t i = 0; i <= walk->mask; i++)
        walk->edges[i].first = NOTHING;
    for (uint32_t i = count; i-- > 0;) { // so that the first triangle is the first of the list
        const uint32_t from = corners[i], to = corners[corner_after(i)];
        Edge *edge = find_edge(walk, from, to);
        walk->next[i] = edge->first;
        *edge = (Edge){from, to, i, false};
    }
}

static bool make_walk(Walk *walk) {
    const uint32_t vertices = walk->mesh->vertex_count, triangles = walk->mesh->triangle_count;
    uint32_t capacity = 8;
    while (capacity < 4 * triangles)
        capacity *= 2;
    walk->mask = capacity - 1;
    const size_t corners = 3 * (size_t)triangles;
    const mf_Array arrays[] = {MF_ARRAY(walk->edges, capacity),
                               MF_ARRAY(walk->next, corners),
                               MF_ARRAY(walk->visited, triangles),
                               MF_ARRAY(walk->number, vertices),
                               MF_ARRAY(walk->gates, corners),
                               MF_ARRAY(walk->codes, 2 * corners),
                               MF_ARRAY(walk->rests, 3 * (size_t)vertices),
                               MF_ARRAY(walk->order, corners)};
    return mf_allocate_arrays(walk->context, arrays, sizeof arrays / sizeof *arrays) &&
           walk->vertex_coordinates != NULL;
}

// ---- the walk ----------------------------------------------------------------------------------

// Small differences of either sign, modulo 2^16, are small.
static uint16_t fold(uint16_t x) {
    return (uint16_t)(x << 1 ^ (x & 0x8000u ? 0xffffu : 0u));
}

static void visit_vertex(Walk *walk, uint32_t vertex, const uint16_t expected[3]) {
    const uint16_t *index = walk->vertex_coordinates + 3 * (size_t)vertex;
    if (walk->number[vertex] != NOTHING) {
        walk->codes[walk->code_count++] = walk->known - walk->number[vertex] + 1;
        return;
    }
    for (int c = 0; c < 3; c++)
        walk->rests[3 * (size_t)walk->known + (uint32_t)c] = fold(index[c] - expected[c]);
    walk->number[vertex] = walk->known++;
    walk->codes[walk->code_count++] = 1;
}

static void open_gate(Walk *walk, uint32_t from, uint32_t to, uint32_t behind) {
    find_edge(walk, from, to)->used = true;
    walk->gates[walk->gate_count++] = (Gate){from, to, behind};
}

// A triangle from this corner on.
static void put_order(Walk *walk, uint32_t corner) {
    for (int k = 0; k < 3; k++, corner = corner_after(corner))
        walk->order[walk->ordered++] = corner;
}

static uint32_t corner_behind(const Walk *walk, const Gate *gate) {
    const Edge *edge = find_edge(walk, gate->to, gate->from);
    uint32_t corner = edge->first;
    while (corner != NOTHING && walk->visited[corner / 3])
        corner = walk->next[corner];
    return corner;
}

static void pass_gate(Walk *walk) {
    const Gate gate = walk->gates[--walk->gate_count];
    const Edge *edge = find_edge(walk, gate.to, gate.from);
    if (edge->first != NOTHING && edge->used)
        return; // the reader knows that, too
    const uint32_t corner = corner_behind(walk, &gate);
    if (corner == NOTHING) {
        walk->codes[walk->code_count++] = 0;
        return;
    }
    const uint32_t third = walk->mesh->triangles[corner_after(corner_after(corner))];
    const uint16_t *from = walk->vertex_coordinates + 3 * (size_t)gate.from;
    const uint16_t *to = walk->vertex_coordinates + 3 * (size_t)gate.to;
    const uint16_t *behind = walk->vertex_coordinates + 3 * (size_t)gate.behind;
    uint16_t expected[3];
    for (int c = 0; c < 3; c++)
        expected[c] = (uint16_t)(from[c] + to[c] - behind[c]);
    visit_vertex(walk, third, expected);
    walk->visited[corner / 3] = true;
    put_order(walk, corner);
    find_edge(walk, gate.to, gate.from)->used = true;
    open_gate(walk, gate.from, third, gate.to);
    open_gate(walk, third, gate.to, gate.from);
}

static void walk_all(Walk *walk) {
    uint16_t last[3] = {0, 0, 0};
    list_edges(walk);
    memset(walk->number, 0xff, walk->mesh->vertex_count * sizeof *walk->number);
    for (uint32_t t = 0; t < walk->mesh->triangle_count; t++) {
        const uint32_t *corners = walk->mesh->triangles + 3 * (size_t)t;
        if (walk->visited[t])
            continue;
        walk->visited[t] = true;
        put_order(walk, 3 * t);
        for (int k = 0; k < 3; k++) {
            visit_vertex(walk, corners[k], last);
            memcpy(last, walk->vertex_coordinates + 3 * (size_t)corners[k], sizeof last);
        }
        for (int k = 0; k < 3; k++)
            open_gate(walk, corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
        while (walk->gate_count > 0)
            pass_gate(walk);
    }
}

// ---- writing -----------------------------------------------------------------------------------

static void quantize(mf_Context *context, const mf_Mesh *mesh, Walk *walk, double lower[3],
                     double scale[3]) {
    const size_t count = 3 * (size_t)mesh->vertex_count;
    walk->vertex_coordinates = mf_allocate(context, count + 1, sizeof *walk->vertex_coordinates);
    for (size_t c = 0; c < 3; c++) {
        double upper = -INFINITY;
        lower[c] = INFINITY;
        for (size_t i = c; i < count; i += 3) {
            lower[c] = fmin(lower[c], mesh->vertices[i]);
            upper = fmax(upper, mesh->vertices[i]);
        }
        scale[c] = upper > lower[c] ? (upper - lower[c]) / QUANTA : 1.0;
    }
    for (size_t i = 0; walk->vertex_coordinates != NULL && i < count; i++)
        walk->vertex_coordinates[i] =
            (uint16_t)((mesh->vertices[i] - lower[i % 3]) / scale[i % 3] + 0.5);
}

static void put_walk(mf_Text *text, const Walk *walk) {
    const size_t size = 4 * (size_t)walk->code_count + 6 * (size_t)walk->known;
    uint8_t *bytes = mf_allocate(text->context, size + 1, 1), *at = bytes;
    text->failed = text->failed || bytes == NULL;
    if (bytes == NULL)
        return;
    for (uint32_t plane = 0; plane < 4; plane++)
        for (uint32_t i = 0; i < walk->code_count; i++)
            *at++ = (uint8_t)(walk->codes[i] >> (8 * plane));
    for (uint32_t plane = 0; plane < 2; plane++)
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t i = 0; i < walk->known; i++)
                *at++ = (uint8_t)(walk->rests[3 * (size_t)i + c] >> (8 * plane));
    mf_film_put_deflated(text, bytes, size);
    mf_release(text->context, bytes);
}

static void put_coordinates(mf_Text *text, const Walk *walk) {
    const float *coordinates = walk->mesh->coordinates;
    const size_t corners = walk->ordered;
    double lower[2], scale[2];
    uint8_t *bytes = mf_allocate(text->context, 4 * corners + 1, 1);
    uint16_t(*last)[2] = mf_allocate(text->context, walk->mesh->vertex_count, sizeof *last);
    bool *seen = mf_allocate(text->context, walk->mesh->vertex_count + 1, sizeof *seen);
    text->failed = text->failed || bytes == NULL || last == NULL || seen == NULL;
    for (size_t c = 0; c < 2; c++) {
        double upper = -INFINITY;
        lower[c] = INFINITY;
        for (size_t i = c; i < 2 * corners; i += 2) {
            lower[c] = fmin(lower[c], (double)coordinates[i]);
            upper = fmax(upper, (double)coordinates[i]);
        }
        scale[c] = upper > lower[c] ? (upper - lower[c]) / QUANTA : 1.0;
    }
    uint16_t before[2] = {0, 0};
    for (size_t i = 0; !text->failed && i < corners; i++) {
        const uint32_t corner = walk->order[i], vertex = walk->mesh->triangles[corner];
        for (size_t c = 0; c < 2; c++) {
            const double position = (double)coordinates[2 * (size_t)corner + c];
            const uint16_t now = (uint16_t)((position - lower[c]) / scale[c] + 0.5);
            const uint16_t rest =
                fold((uint16_t)(now - (seen[vertex] ? last[vertex][c] : before[c])));
            bytes[2 * c * corners + i] = (uint8_t)rest;
            bytes[(2 * c + 1) * corners + i] = (uint8_t)(rest >> 8);
            last[vertex][c] = before[c] = now;
        }
        seen[vertex] = true;
    }
    mf_film_put_numbers(text, "least", lower, 2);
    mf_film_put_numbers(text, "pace", scale, 2);
    mf_text_put(text, ",\"coordinates\":\"");
    if (!text->failed)
        mf_film_put_deflated(text, bytes, 4 * corners);
    mf_text_put(text, "\"");
    mf_release(text->context, bytes);
    mf_release(text->context, last);
    mf_release(text->context, seen);
}

void mf_film_put_mesh(mf_Text *text, const mf_Mesh *mesh, bool placed) {
    double lower[3], scale[3];
    Walk walk = {.context = text->context, .mesh = mesh};
    quantize(text->context, mesh, &walk, lower, scale);
    if (make_walk(&walk))
        walk_all(&walk);
    else
        text->failed = true;
    mf_text_format(text, "\n{\"codes\":%u,\"vertices\":%u,\"triangles\":%u", walk.code_count,
                   walk.known, mesh->triangle_count);
    mf_film_put_numbers(text, "lower", lower, 3);
    mf_film_put_numbers(text, "scale", scale, 3);
    mf_text_put(text, ",\"packed\":\"");
    if (!text->failed)
        put_walk(text, &walk);
    mf_text_put(text, "\"");
    if (placed && !text->failed)
        put_coordinates(text, &walk);
    mf_text_put(text, "}");
    mf_release(text->context, walk.vertex_coordinates);
    mf_release(text->context, walk.edges);
}
