// STL, binary and ASCII. Binary: 80 bytes of anything, a 32-bit count, then 50 bytes a triangle
// (normal, three corners, two bytes of anything), little endian. ASCII starts with "solid", but so
// do many binary files: the length decides first. Normals are not read; they follow from the
// corners.
#include "import/mesh.h"

#include "math/scalar.h"
#include "import/number.h"

#include <string.h>

#define HEADER_SIZE 84u   // [byte]
#define TRIANGLE_SIZE 50u // [byte]

// Equal corners are found by a hash table with open addressing over their bits; a slot holds vertex
// index + 1.
typedef struct Welder {
    mf_MeshData *mesh;
    uint32_t *slots;
    uint32_t mask;
} Welder;

static mf_Status welder_start(Welder *welder, mf_Context *context, const char *file,
                              uint32_t triangles, mf_MeshData *mesh, mf_Error *error) {
    uint32_t corners = 3 * triangles, slots = 16;
    while (slots < 2 * (uint64_t)corners)
        slots *= 2;
    *mesh = (mf_MeshData){.context = context};
    const bool ready = mf_mesh_reserve(mesh, corners, triangles, false);
    *welder = (Welder){mesh, mf_allocate(context, slots, sizeof *welder->slots), slots - 1};
    if (ready && welder->slots != NULL)
        return MF_OK;
    return mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for %u triangles", triangles);
}

static void weld_corner(Welder *welder, uint32_t corner, const float position[3]) {
    mf_MeshData *mesh = welder->mesh;
    float plain[3] = {position[0] + 0.0f, position[1] + 0.0f, position[2] + 0.0f}; // no -0
    uint64_t hash = mf_hash_bytes(MF_HASH_START, plain, sizeof plain);
    uint32_t slot = (uint32_t)(hash ^ (hash >> 29)) & welder->mask;
    while (welder->slots[slot] != 0) {
        uint32_t vertex = welder->slots[slot] - 1;
        if (memcmp(&mesh->vertices[3 * (size_t)vertex], plain, sizeof plain) == 0)
            break;
        slot = (slot + 1) & welder->mask;
    }
    if (welder->slots[slot] == 0) {
        memcpy(&mesh->vertices[3 * (size_t)mesh->vertex_count], plain, sizeof plain);
        welder->slots[slot] = ++mesh->vertex_count;
    }
    mesh->triangles[corner] = welder->slots[slot] - 1;
}

static mf_Status read_binary(Welder *welder, const char *file, const char *data, uint32_t count,
                             mf_Error *error) {
    for (uint32_t i = 0; i < 3 * count; i++) {
        const char *corner =
            data + HEADER_SIZE + (size_t)(i / 3) * TRIANGLE_SIZE + 12 + 12 * (i % 3);
        float position[3];
        for (int axis = 0; axis < 3; axis++) {
            position[axis] = mf_mesh_float(corner + 4 * axis);
            if (!mf_is_finite(position[axis]))
                return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                                  "triangle %u has a corner that is not finite", i / 3 + 1);
        }
        weld_corner(welder, i, position);
    }
    welder->mesh->triangle_count = count;
    return MF_OK;
}

// ---- ASCII -------------------------------------------------------------------------------------

typedef struct StlText {
    const char *file;
    const char *next;
    const char *end;
    int32_t line; // of `next`
} StlText;

static void skip_space(StlText *text) {
    while (text->next < text->end && mf_is_space(*text->next)) {
        text->line += *text->next == '\n';
        text->next++;
    }
}

static void skip_line(StlText *text) {
    while (text->next < text->end && *text->next != '\n')
        text->next++;
}

// Consumes the next token if it is `name`.
static bool take_token(StlText *text, const char *name) {
    skip_space(text);
    size_t length = strlen(name);
    if ((size_t)(text->end - text->next) < length || memcmp(text->next, name, length) != 0)
        return false;
    if (text->next + length < text->end && !mf_is_space(text->next[length]))
        return false;
    text->next += length;
    return true;
}

static mf_Status expected(const StlText *text, const char *what, mf_Error *error) {
    int length = 0;
    while (text->next + length < text->end && length < 24 && text->next[length] >= ' ' &&
           text->next[length] <= '~')
        length++;
    return mf_fail_at(error, MF_BAD_FILE, text->file, text->line, 0,
                      "expected %s in ASCII STL, found \"%.*s\"", what, length, text->next);
}

static mf_Status take_numbers(StlText *text, float out[3], mf_Error *error) {
    for (int axis = 0; axis < 3; axis++) {
        double value;
        skip_space(text);
        if (text->next >= text->end || !mf_number_parse(text->next, &text->next, &value) ||
            !(mf_abs(value) <= FLT_MAX))
            return expected(text, "a number", error);
        out[axis] = (float)value;
    }
    return MF_OK;
}

static mf_Status read_facet(StlText *text, Welder *welder, mf_Error *error) {
    skip_line(text); // skips the normal, which some writers give as nan
    if (!take_token(text, "outer") || !take_token(text, "loop"))
        return expected(text, "'outer loop'", error);
    for (uint32_t corner = 0; corner < 3; corner++) {
        float position[3];
        if (!take_token(text, "vertex"))
            return expected(text, "'vertex'", error);
        MF_TRY(take_numbers(text, position, error));
        weld_corner(welder, 3 * welder->mesh->triangle_count + corner, position);
    }
    if (!take_token(text, "endloop") || !take_token(text, "endfacet"))
        return expected(text, "'endloop' and 'endfacet'", error);
    welder->mesh->triangle_count++;
    return MF_OK;
}

static mf_Status read_ascii(Welder *welder, StlText *text, uint32_t limit, mf_Error *error) {
    for (;;) {
        if (take_token(text, "solid") || take_token(text, "endsolid")) {
            skip_line(text);
            continue;
        }
        skip_space(text);
        if (text->next == text->end)
            return MF_OK;
        if (welder->mesh->triangle_count == limit || !take_token(text, "facet"))
            return expected(text, "'facet' or 'endsolid'", error);
        MF_TRY(read_facet(text, welder, error));
    }
}

// An upper bound for the number of facets: the number of occurrences of "endloop".
static uint32_t count_facets(const char *data, size_t size) {
    uint32_t count = 0;
    for (size_t i = 0; i + 7 <= size; i++)
        count += data[i] == 'e' && memcmp(data + i, "endloop", 7) == 0;
    return count;
}

mf_Status mf_stl_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    *out = (mf_MeshData){.context = context};
    uint64_t binary_count = size >= HEADER_SIZE ? mf_mesh_word(data + 80) : 0;
    uint64_t binary_size = HEADER_SIZE + binary_count * TRIANGLE_SIZE;
    bool ascii = size >= 5 && memcmp(data, "solid", 5) == 0 && size != binary_size;
    if (!ascii && size >= HEADER_SIZE && size >= binary_size + TRIANGLE_SIZE)
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                          "expected STL: it declares %llu triangles, and has the bytes of %llu",
                          (unsigned long long)binary_count,
                          (unsigned long long)((size - HEADER_SIZE) / TRIANGLE_SIZE));
    if (!ascii && (size < HEADER_SIZE || size < binary_size))
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                          "expected STL: %llu bytes for %llu triangles, found %zu",
                          (unsigned long long)binary_size, (unsigned long long)binary_count, size);
    uint64_t count = ascii ? count_facets(data, size) : binary_count;
    if (count > MF_MESH_TRIANGLES)
        return mf_fail_at(error, MF_LIMIT, file, 0, 0, "at most %u triangles, found %llu",
                          MF_MESH_TRIANGLES, (unsigned long long)count);
    Welder welder;
    mf_Status status = welder_start(&welder, context, file, (uint32_t)count, out, error);
    if (status == MF_OK && ascii) {
        StlText text = {file, data, data + size, 1};
        status = read_ascii(&welder, &text, (uint32_t)count, error);
    } else if (status == MF_OK) {
        status = read_binary(&welder, file, data, (uint32_t)count, error);
    }
    mf_release(context, welder.slots);
    if (status == MF_OK && out->triangle_count == 0)
        status = mf_fail_at(error, MF_BAD_FILE, file, 0, 0, "expected triangles, found none");
    if (status != MF_OK)
        mf_mesh_release(out);
    return status;
}
