// Wavefront OBJ: only the surface. Two passes over the lines: the first counts, the second fills.
// Quadrilaterals are split along the shorter diagonal, larger polygons become a fan.
#include "model/import/mesh.h"

#include "math/scalar.h"
#include "model/import/number.h"

#include <string.h>

typedef struct Lines {
    const char *file;
    const char *next; // within the current line
    const char *end;
    int32_t line;
} Lines;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(Lines *lines) {
    while (lines->next < lines->end && is_blank(*lines->next))
        lines->next++;
}

static bool at_line_end(const Lines *lines) {
    return lines->next >= lines->end || *lines->next == '\n' || *lines->next == '#';
}

static void skip_word(Lines *lines) {
    while (!at_line_end(lines) && !is_blank(*lines->next))
        lines->next++;
}

// Goes to the start of the next line; false at the end of the file.
static bool next_line(Lines *lines) {
    while (lines->next < lines->end && *lines->next != '\n')
        lines->next++;
    if (lines->next >= lines->end)
        return false;
    lines->next++;
    lines->line++;
    return true;
}

// 'v', 'f', 'o' or 'g' when the line starts with that word, else 0. Advances `next` past it.
static char take_keyword(Lines *lines) {
    skip_blanks(lines);
    if (lines->end - lines->next < 2 || !is_blank(lines->next[1]))
        return 0;
    char keyword = lines->next[0];
    if (keyword != 'v' && keyword != 'f' && keyword != 'o' && keyword != 'g')
        return 0;
    lines->next += 2;
    return keyword;
}

static uint32_t count_words(Lines *lines) {
    uint32_t count = 0;
    for (skip_blanks(lines); !at_line_end(lines); skip_blanks(lines)) {
        skip_word(lines);
        count++;
    }
    return count;
}

static mf_Status count_lines(Lines lines, uint64_t *vertices, uint64_t *triangles,
                             mf_Error *error) {
    *vertices = *triangles = 0;
    do {
        char keyword = take_keyword(&lines);
        if (keyword == 'v')
            ++*vertices;
        if (keyword != 'f')
            continue;
        uint32_t corners = count_words(&lines);
        if (corners < 3)
            return mf_fail_at(error, MF_BAD_FILE, lines.file, lines.line, 0,
                              "a face needs at least 3 corners, found %u", corners);
        *triangles += corners - 2;
    } while (next_line(&lines));
    if (*triangles == 0)
        return mf_fail_at(error, MF_BAD_FILE, lines.file, 0, 0,
                          "expected faces ('f' lines), found none");
    if (*triangles > MF_MESH_TRIANGLES || *vertices > 3 * (uint64_t)MF_MESH_TRIANGLES)
        return mf_fail_at(error, MF_LIMIT, lines.file, 0, 0, "at most %u triangles, found %llu",
                          MF_MESH_TRIANGLES, (unsigned long long)*triangles);
    return MF_OK;
}

static mf_Status read_vertex(Lines *lines, mf_MeshData *mesh, mf_Error *error) {
    for (int axis = 0; axis < 3; axis++) {
        double value;
        skip_blanks(lines);
        if (at_line_end(lines) || !mf_number_parse(lines->next, &lines->next, &value) ||
            !(mf_abs(value) <= FLT_MAX) || !(at_line_end(lines) || is_blank(*lines->next)))
            return mf_fail_at(error, MF_BAD_FILE, lines->file, lines->line, 0,
                              "a vertex needs three finite numbers");
        mesh->vertices[3 * (size_t)mesh->vertex_count + axis] = (float)value;
    }
    mesh->vertex_count++;
    return MF_OK;
}

// The vertex index before the first '/' of a corner; false when it does not exist.
static bool read_corner(Lines *lines, uint32_t vertex_count, uint64_t total, uint32_t *out) {
    bool negative = *lines->next == '-';
    const char *digit = lines->next + negative;
    uint64_t number = 0;
    if (digit >= lines->end || *digit < '0' || *digit > '9')
        return false;
    for (; digit < lines->end && *digit >= '0' && *digit <= '9'; digit++)
        number = number > total ? number : 10 * number + (uint64_t)(*digit - '0');
    lines->next = digit;
    if (!at_line_end(lines) && !is_blank(*digit) && *digit != '/')
        return false;
    skip_word(lines);
    // Negative numbers count back from the last vertex so far, positive ones may refer to later
    // vertices.
    if (number == 0 || number > (negative ? vertex_count : total))
        return false;
    *out = (uint32_t)(negative ? vertex_count - number : number - 1);
    return true;
}

static float squared_way(const mf_MeshData *mesh, uint32_t from, uint32_t to) {
    float sum = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        const float way =
            mesh->vertices[3 * (size_t)to + axis] - mesh->vertices[3 * (size_t)from + axis];
        sum += way * way;
    }
    return sum;
}

// The last two triangles are a face a b c d as a b c, a c d: splits it from b to d instead if that
// is not longer.
static void cut_shorter(mf_MeshData *mesh) {
    uint32_t *last = &mesh->triangles[3 * (size_t)mesh->triangle_count - 6];
    const uint32_t a = last[0], b = last[1], c = last[2], d = last[5], known = mesh->vertex_count;
    if (a >= known || b >= known || c >= known || d >= known ||
        squared_way(mesh, a, c) < squared_way(mesh, b, d))
        return;
    const uint32_t cut[6] = {a, b, d, b, c, d};
    memcpy(last, cut, sizeof cut);
}

static mf_Status read_face(Lines *lines, mf_MeshData *mesh, uint64_t vertices, mf_Error *error) {
    uint32_t first = 0, previous = 0, corner = 0;
    for (uint32_t i = 0;; i++) {
        skip_blanks(lines);
        if (at_line_end(lines)) {
            if (i == 4)
                cut_shorter(mesh);
            return MF_OK;
        }
        if (!read_corner(lines, mesh->vertex_count, vertices, &corner))
            return mf_fail_at(error, MF_BAD_FILE, lines->file, lines->line, 0,
                              "corner %u: expected a vertex number in 1 .. %llu", i + 1,
                              (unsigned long long)vertices);
        if (i == 0)
            first = corner;
        if (i >= 2) {
            uint32_t *triangle = &mesh->triangles[3 * (size_t)mesh->triangle_count++];
            triangle[0] = first;
            triangle[1] = previous;
            triangle[2] = corner;
        }
        previous = corner;
    }
}

static mf_Status read_lines(Lines lines, mf_MeshData *mesh, uint64_t vertices, mf_Error *error) {
    mf_Status status = MF_OK;
    do {
        char keyword = take_keyword(&lines);
        if (keyword == 'v')
            status = read_vertex(&lines, mesh, error);
        else if (keyword == 'f')
            status = read_face(&lines, mesh, vertices, error);
        else if (keyword != 0 && mesh->first_object == 0)
            mesh->first_object = mesh->triangle_count;
    } while (status == MF_OK && next_line(&lines));
    return status;
}

mf_Status mf_obj_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    *out = (mf_MeshData){.context = context};
    Lines lines = {file, data, data + size, 1};
    uint64_t vertices, triangles;
    mf_Status status = count_lines(lines, &vertices, &triangles, error);
    if (status != MF_OK)
        return status;
    out->vertices = mf_allocate(context, 3 * (size_t)vertices, sizeof *out->vertices);
    out->triangles = mf_allocate(context, 3 * (size_t)triangles, sizeof *out->triangles);
    if (out->vertices == NULL || out->triangles == NULL)
        status = mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for %llu triangles",
                            (unsigned long long)triangles);
    else
        status = read_lines(lines, out, vertices, error);
    if (status != MF_OK)
        mf_mesh_release(out);
    return status;
}
