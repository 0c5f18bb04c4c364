// Meshes of films: what web/src/mesh.ts reads from the packed numbers, in C. All triangles come
// back with their orientation, in places that are rounded to the mesh's box, also where edges have
// more than two triangles, triangles are degenerate or there twice, and vertices belong to none.
#include "rig/rig.h"
#include "view/film.h"
#include "view/film_page.h"

GROUP_FIXTURE(make_context, drop_context);

enum { MOST = 3000 };

typedef struct Page {
    uint8_t *planes;
    uint32_t codes, vertices, triangles;
    uint32_t code, known, filled;
    uint16_t places[MOST][3];
    uint32_t corners[MOST][3];
    uint32_t gates[3 * MOST][3];
    uint32_t gate_count;
    bool (*used)[MOST]; // [from][to]
    double lower[3], scale[3];
    double spots[MOST][3][2]; // places on a texture, of corners
} Page;

static uint32_t next(Page *page) {
    uint32_t code = 0;
    assert_true(page->code < page->codes);
    for (uint32_t plane = 0; plane < 4; plane++)
        code |= (uint32_t)page->planes[plane * page->codes + page->code] << 8 * plane;
    page->code++;
    return code;
}

static uint32_t read_vertex(Page *page, uint32_t code, const uint16_t expected[3]) {
    if (code != 1) {
        assert_in_range(code, 2, page->known + 1);
        return page->known - code + 1;
    }
    assert_true(page->known < page->vertices);
    const uint8_t *first = page->planes + 4 * (size_t)page->codes + page->known;
    for (uint32_t c = 0; c < 3; c++) {
        const uint32_t rest = first[c * (size_t)page->vertices] |
                              (uint32_t)first[(3 + c) * (size_t)page->vertices] << 8;
        page->places[page->known][c] = (uint16_t)(expected[c] + (rest >> 1 ^ (0u - (rest & 1))));
    }
    return page->known++;
}

static void open_gate(Page *page, uint32_t from, uint32_t to, uint32_t behind) {
    uint32_t *gate = page->gates[page->gate_count++];
    page->used[from][to] = true;
    gate[0] = from;
    gate[1] = to;
    gate[2] = behind;
}

static void pass_gate(Page *page) {
    const uint32_t *gate = page->gates[--page->gate_count];
    const uint32_t from = gate[0], to = gate[1], behind = gate[2];
    uint16_t expected[3];
    if (page->used[to][from])
        return;
    const uint32_t code = next(page);
    if (code == 0)
        return;
    for (int c = 0; c < 3; c++)
        expected[c] =
            (uint16_t)(page->places[from][c] + page->places[to][c] - page->places[behind][c]);
    const uint32_t third = read_vertex(page, code, expected);
    uint32_t *corners = page->corners[page->filled++];
    corners[0] = to;
    corners[1] = from;
    corners[2] = third;
    page->used[to][from] = true;
    open_gate(page, from, third, to);
    open_gate(page, third, to, from);
}

static void read_all(Page *page) {
    uint16_t last[3] = {0, 0, 0};
    while (page->filled < page->triangles) {
        uint32_t *corners = page->corners[page->filled++];
        for (int k = 0; k < 3; k++) {
            corners[k] = read_vertex(page, next(page), last);
            memcpy(last, page->places[corners[k]], sizeof last);
        }
        for (int k = 0; k < 3; k++)
            open_gate(page, corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
        while (page->gate_count > 0)
            pass_gate(page);
    }
    assert_int_equal(page->code, page->codes);
    assert_int_equal(page->known, page->vertices);
}

static void read_coordinates(Page *page, const json_t *json) {
    const json_t *packed = json_object_get(json, "coordinates");
    static uint16_t last[MOST][2];
    static bool seen[MOST];
    uint16_t before[2] = {0, 0};
    size_t size;
    if (packed == NULL)
        return;
    AUTO(end_memory) uint8_t *bytes = decode(json_string_value(packed), &size);
    const size_t corners = 3 * (size_t)page->triangles;
    uLongf needed = 4 * corners + 1;
    AUTO(end_memory) uint8_t *planes = calloc(needed, 1);
    assert_non_null(planes);
    assert_int_equal(uncompress(planes, &needed, bytes, size), Z_OK);
    assert_int_equal(needed, 4 * corners);
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < corners; i++) {
        const uint32_t vertex = page->corners[i / 3][i % 3];
        for (size_t c = 0; c < 2; c++) {
            const uint32_t rest =
                planes[2 * c * corners + i] | (uint32_t)planes[(2 * c + 1) * corners + i] << 8;
            before[c] = (uint16_t)((seen[vertex] ? last[vertex][c] : before[c]) +
                                   (rest >> 1 ^ (0u - (rest & 1))));
            last[vertex][c] = before[c];
            page->spots[i / 3][i % 3][c] =
                json_number_value(json_array_get(json_object_get(json, "least"), c)) +
                before[c] * json_number_value(json_array_get(json_object_get(json, "pace"), c));
        }
        seen[vertex] = true;
    }
}

static Page *read_page(mf_Context *context, const mf_Mesh *mesh) {
    Page *page = calloc(1, sizeof *page);
    mf_Text text = mf_text_begin(context);
    mf_film_put_mesh(&text, mesh, mesh->coordinates != NULL);
    assert_false(text.failed);
    mf_text_put_bytes(&text, "", 1);
    json_t *json = json_loads(text.data, 0, NULL);
    assert_true(page != NULL && json != NULL);
    page->codes = (uint32_t)count_of(json, "codes");
    page->vertices = (uint32_t)count_of(json, "vertices");
    page->triangles = (uint32_t)count_of(json, "triangles");
    for (size_t c = 0; c < 3; c++) {
        page->lower[c] = json_number_value(json_array_get(json_object_get(json, "lower"), c));
        page->scale[c] = json_number_value(json_array_get(json_object_get(json, "scale"), c));
    }
    size_t packed;
    uint8_t *bytes = decode(json_string_value(json_object_get(json, "packed")), &packed);
    uLongf size = 4 * (size_t)page->codes + 6 * (size_t)page->vertices;
    const uLongf needed = size++;
    page->planes = calloc(size, 1);
    page->used = calloc(MOST, sizeof *page->used);
    assert_true(page->planes != NULL && page->used != NULL);
    assert_int_equal(uncompress(page->planes, &size, bytes, packed), Z_OK);
    assert_int_equal(size, needed);
    read_all(page);
    free(bytes);
    read_coordinates(page, json);
    json_decref(json);
    mf_text_free(&text);
    return page;
}

static void free_page(Page *page) {
    free(page->planes);
    free(page->used);
    free(page);
}

// The vertex of the mesh that is at a place of the page. No two vertices of these meshes are near.
static uint32_t vertex_at(const Page *page, const mf_Mesh *mesh, const uint16_t index[3]) {
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        bool same = true;
        for (uint32_t c = 0; c < 3; c++) // `lower` and `scale` have seven digits in the page
            same &= fabs((double)mesh->vertices[3 * v + c] - page->lower[c] -
                         page->scale[c] * index[c]) < 0.6 * page->scale[c] + 1e-6;
        if (same)
            return v;
    }
    fail_msg("there is no vertex at %u %u %u", index[0], index[1], index[2]);
    return 0;
}

// The same for triangles with the same corners in the same sense.
static uint64_t name_of(const uint32_t corners[3]) {
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < 3; k++) {
        const uint64_t name =
            (uint64_t)corners[k] * MOST * MOST + corners[(k + 1) % 3] * MOST + corners[(k + 2) % 3];
        least = name < least ? name : least;
    }
    return least;
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check(mf_Context *context, const mf_Mesh *mesh) {
    Page *page = read_page(context, mesh);
    const uint32_t count = mesh->triangle_count;
    assert_int_equal(page->triangles, count);
    uint64_t *given = calloc(2 * (size_t)count, sizeof *given), *got = given + count;
    uint32_t *vertex = calloc(page->known, sizeof *vertex);
    assert_true(given != NULL && vertex != NULL);
    for (uint32_t i = 0; i < page->known; i++)
        vertex[i] = vertex_at(page, mesh, page->places[i]);
    for (uint32_t t = 0; t < count; t++) {
        uint32_t corners[3];
        for (int k = 0; k < 3; k++)
            corners[k] = vertex[page->corners[t][k]];
        got[t] = name_of(corners);
        given[t] = name_of(mesh->triangles + 3 * (size_t)t);
    }
    qsort(given, count, sizeof *given, compare);
    qsort(got, count, sizeof *got, compare);
    assert_memory_equal(given, got, count * sizeof *given);
    free(given);
    free(vertex);
    free_page(page);
}

// ---- meshes ------------------------------------------------------------------------------------

TEST(a_tetrahedron) {
    static const float vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    const mf_Mesh mesh = {
        .vertex_count = 4, .triangle_count = 4, .vertices = vertices, .triangles = triangles};
    check(*state, &mesh);
}

// A surface with borders, of which a row of vertices belongs to no triangle.
TEST(a_sheet_takes_few_bytes) {
    enum { SIDE = 30, CELLS = SIDE - 2 };
    static float vertices[3 * SIDE * SIDE];
    static uint32_t triangles[6 * CELLS * CELLS];
    uint32_t *out = triangles;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const double x = (double)(i % SIDE) / SIDE, y = (double)(i / SIDE) / SIDE;
        vertices[3 * i] = (float)x;
        vertices[3 * i + 1] = (float)y;
        vertices[3 * i + 2] = (float)(0.1 * x * x - 0.2 * x * y);
    }
    for (uint32_t y = 0; y < CELLS; y++)
        for (uint32_t x = 0; x < CELLS; x++) {
            const uint32_t a = y * SIDE + x;
            const uint32_t both[] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
            memcpy(out, both, sizeof both);
            out += 6;
        }
    const mf_Mesh mesh = {.vertex_count = SIDE * SIDE,
                          .triangle_count = 2 * CELLS * CELLS,
                          .vertices = vertices,
                          .triangles = triangles};
    check(*state, &mesh);
    AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
    mf_film_put_mesh(&text, &mesh, false);
    assert_false(text.failed);
    // Places and corners as they are would take 12 times as many characters.
    assert_true(text.size < 4 * (6 * SIDE * SIDE + 12 * 2 * CELLS * CELLS) / 3 / 12);
}

// Every second triangle has its places moved, so that vertices have several of them.
TEST(texture_coordinates) {
    enum { ACROSS = 5, FACES = 2 * (ACROSS - 1) * (ACROSS - 1) };
    static float vertices[3 * ACROSS * ACROSS], coordinates[6 * FACES];
    static uint32_t triangles[3 * FACES];
    uint32_t *out = triangles;
    for (uint32_t i = 0; i < ACROSS * ACROSS; i++) {
        vertices[3 * i] = (float)(i % ACROSS);
        vertices[3 * i + 1] = (float)(i / ACROSS);
    }
    for (uint32_t y = 0; y + 1 < ACROSS; y++)
        for (uint32_t x = 0; x + 1 < ACROSS; x++) {
            const uint32_t a = y * ACROSS + x;
            const uint32_t both[] = {a, a + 1, a + ACROSS, a + 1, a + ACROSS + 1, a + ACROSS};
            memcpy(out, both, sizeof both);
            out += 6;
        }
    for (uint32_t i = 0; i < 3 * FACES; i++) {
        coordinates[2 * i] = vertices[3 * triangles[i]] + 0.25f * (float)(i / 3 % 2);
        coordinates[2 * i + 1] = -vertices[3 * triangles[i] + 1];
    }
    const mf_Mesh mesh = {.vertex_count = ACROSS * ACROSS,
                          .triangle_count = FACES,
                          .vertices = vertices,
                          .triangles = triangles,
                          .coordinates = coordinates};
    Page *page = read_page(*state, &mesh);
    uint32_t moved = 0;
    for (uint32_t t = 0; t < page->triangles; t++) {
        double shift = NAN;
        for (int k = 0; k < 3; k++) {
            const uint32_t vertex = vertex_at(page, &mesh, page->places[page->corners[t][k]]);
            const double own = page->spots[t][k][0] - (double)vertices[3 * vertex];
            assert_true(fabs(own) < 1e-3 || fabs(own - 0.25) < 1e-3);
            assert_true(k == 0 || fabs(own - shift) < 1e-3);
            assert_true(fabs(page->spots[t][k][1] + (double)vertices[3 * vertex + 1]) < 1e-3);
            shift = own;
        }
        moved += shift > 0.1;
    }
    assert_int_equal(moved, FACES / 2);
    free_page(page);
}

// Corners at random: edges of many triangles, degenerate ones, the same one twice.
TEST(any_triangles) {
    enum { VERTICES = 23, TRIANGLES = 400 };
    static float vertices[3 * VERTICES];
    static uint32_t triangles[3 * TRIANGLES];
    uint32_t random = 1;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 3 * VERTICES; i++) {
            random = random * 1664525u + 1013904223u;
            vertices[i] = (float)(random >> 8) * 1e-7f - 0.5f;
        }
        for (int i = 0; i < 3 * TRIANGLES; i++) {
            random = random * 1664525u + 1013904223u;
            triangles[i] = (random >> 16) % VERTICES;
        }
        const mf_Mesh mesh = {.vertex_count = VERTICES,
                              .triangle_count = (uint32_t)(1 + round * round) % TRIANGLES,
                              .vertices = vertices,
                              .triangles = triangles};
        check(*state, &mesh);
    }
}
