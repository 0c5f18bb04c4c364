// Wavefront OBJ: the surface and its texture coordinates, whose v goes upwards in the file. Two
// passes over the lines: the first counts, the second fills.
// Quadrilaterals are split along the shorter diagonal, larger polygons become a fan.
#include "import/mesh.h"

#include "math/scalar.h"
#include "import/number.h"

#include <mayfly/model.h>

#include <string.h>

// What the lines of a file are turned into.
typedef struct Reader {
    mf_MeshData *mesh;
    uint64_t vertices, coordinate_count; // [1] of the file
    float *coordinate;                   // [1] 2 for each `vt` line; NULL: there is none
    uint32_t *numbers;                   // [1] of coordinates, 3 for each triangle, likewise
    uint32_t coordinates_read;           // [1] coordinates so far
} Reader;

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

static void skip_token(Lines *lines) {
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

// 'v', 'f', 'o' or 'g' when the line starts with that word, 't' for "vt", else 0. Advances `next`
// past it.
static char take_keyword(Lines *lines) {
    skip_blanks(lines);
    if (lines->end - lines->next > 2 && lines->next[0] == 'v' && lines->next[1] == 't' &&
        is_blank(lines->next[2])) {
        lines->next += 3;
        return 't';
    }
    if (lines->end - lines->next < 2 || !is_blank(lines->next[1]))
        return 0;
    char keyword = lines->next[0];
    if (keyword != 'v' && keyword != 'f' && keyword != 'o' && keyword != 'g')
        return 0;
    lines->next += 2;
    return keyword;
}

static uint32_t count_tokens(Lines *lines) {
    uint32_t count = 0;
    for (skip_blanks(lines); !at_line_end(lines); skip_blanks(lines)) {
        skip_token(lines);
        count++;
    }
    return count;
}

static mf_Status count_lines(Lines lines, Reader *reader, uint64_t *triangles, mf_Error *error) {
    *triangles = 0;
    do {
        char keyword = take_keyword(&lines);
        if (keyword == 'v')
            reader->vertices++;
        reader->coordinate_count += keyword == 't';
        if (keyword != 'f')
            continue;
        uint32_t corners = count_tokens(&lines);
        if (corners < 3)
            return mf_fail_at(error, MF_BAD_FILE, lines.file, lines.line, 0,
                              "a face needs at least 3 corners, found %u", corners);
        *triangles += corners - 2;
    } while (next_line(&lines));
    if (*triangles == 0 && reader->vertices < 4) // of a cloud of points the hull is the surface
        return mf_fail_at(error, MF_BAD_FILE, lines.file, 0, 0,
                          "expected faces ('f' lines) or at least 4 vertices, found none");
    if (*triangles > MF_MESH_TRIANGLES || reader->vertices > 3 * (uint64_t)MF_MESH_TRIANGLES ||
        reader->coordinate_count > 3 * (uint64_t)MF_MESH_TRIANGLES)
        return mf_fail_at(error, MF_LIMIT, lines.file, 0, 0, "at most %u triangles, found %llu",
                          MF_MESH_TRIANGLES, (unsigned long long)*triangles);
    return MF_OK;
}

static mf_Status read_values(Lines *lines, float *out, int count, const char *what,
                             mf_Error *error) {
    for (int axis = 0; axis < count; axis++) {
        double value;
        skip_blanks(lines);
        if (at_line_end(lines) || !mf_number_parse(lines->next, &lines->next, &value) ||
            !(mf_abs(value) <= FLT_MAX) || !(at_line_end(lines) || is_blank(*lines->next)))
            return mf_fail_at(error, MF_BAD_FILE, lines->file, lines->line, 0, "%s", what);
        out[axis] = (float)value;
    }
    return MF_OK;
}

static mf_Status read_vertex(Lines *lines, mf_MeshData *mesh, mf_Error *error) {
    float *out = &mesh->vertices[3 * (size_t)mesh->vertex_count++];
    return read_values(lines, out, 3, "a vertex needs three finite numbers", error);
}

// Of a texture, upwards in the file and downwards here.
static mf_Status read_position(Lines *lines, Reader *reader, mf_Error *error) {
    float *out = &reader->coordinate[2 * (size_t)reader->coordinates_read++];
    MF_TRY(read_values(lines, out, 2, "texture coordinates need two finite numbers", error));
    out[1] = 1.0f - out[1];
    return MF_OK;
}

// The number before a '/', a blank or the end of the line, one of `total` or, counted backwards, of
// the `known` so far. False when there is no such one.
static bool read_index(Lines *lines, uint32_t known, uint64_t total, uint32_t *out) {
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
    // Positive numbers may refer to later lines.
    if (number == 0 || number > (negative ? known : total))
        return false;
    *out = (uint32_t)(negative ? known - number : number - 1);
    return true;
}

typedef struct Corner {
    uint32_t vertex, coordinate; // [1] MF_NONE: none
} Corner;

// "vertex", "vertex/coordinate/normal" or "vertex//normal".
static bool read_corner(Lines *lines, const Reader *reader, Corner *out) {
    out->coordinate = MF_NONE;
    if (!read_index(lines, reader->mesh->vertex_count, reader->vertices, &out->vertex))
        return false;
    const bool more = !at_line_end(lines) && *lines->next == '/';
    if (more && reader->coordinate != NULL && lines->next + 1 < lines->end &&
        lines->next[1] != '/') {
        lines->next++;
        if (!read_index(lines, reader->coordinates_read, reader->coordinate_count,
                        &out->coordinate))
            return false;
    }
    skip_token(lines);
    return true;
}

static float squared_distance(const mf_MeshData *mesh, uint32_t from, uint32_t to) {
    float sum = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        const float distance =
            mesh->vertices[3 * (size_t)to + axis] - mesh->vertices[3 * (size_t)from + axis];
        sum += distance * distance;
    }
    return sum;
}

// A face a b c d is two triangles a b c, a c d, or a b d, b c d if the way from b to d is not
// longer.
static bool is_cut_other_diagonal(const mf_MeshData *mesh, const Corner corners[4]) {
    for (int i = 0; i < 4; i++)
        if (corners[i].vertex >= mesh->vertex_count)
            return false;
    return squared_distance(mesh, corners[0].vertex, corners[2].vertex) >=
           squared_distance(mesh, corners[1].vertex, corners[3].vertex);
}

static void put_triangle(const Reader *reader, uint32_t triangle, const Corner *const corner[3]) {
    mf_MeshData *mesh = reader->mesh;
    for (size_t k = 0; k < 3; k++) {
        mesh->triangles[3 * (size_t)triangle + k] = corner[k]->vertex;
        if (reader->numbers != NULL)
            reader->numbers[3 * (size_t)triangle + k] = corner[k]->coordinate;
    }
}

static mf_Status read_face(Lines *lines, const Reader *reader, mf_Error *error) {
    mf_MeshData *mesh = reader->mesh;
    const uint32_t start = mesh->triangle_count;
    Corner first = {0, 0}, previous = {0, 0}, corner = {0, 0}, quad[4];
    for (uint32_t i = 0;; i++) {
        skip_blanks(lines);
        if (at_line_end(lines)) {
            if (i == 4 && is_cut_other_diagonal(mesh, quad)) {
                put_triangle(reader, start, (const Corner *[]){&quad[0], &quad[1], &quad[3]});
                put_triangle(reader, start + 1, (const Corner *[]){&quad[1], &quad[2], &quad[3]});
            }
            return MF_OK;
        }
        if (!read_corner(lines, reader, &corner))
            return mf_fail_at(error, MF_BAD_FILE, lines->file, lines->line, 0,
                              "corner %u: expected a vertex number in 1 .. %llu%s", i + 1,
                              (unsigned long long)reader->vertices,
                              reader->coordinate != NULL ? " and one of texture coordinates" : "");
        if (i == 0)
            first = corner;
        if (i < 4)
            quad[i] = corner;
        if (i >= 2)
            put_triangle(reader, mesh->triangle_count++,
                         (const Corner *[]){&first, &previous, &corner});
        previous = corner;
    }
}

static mf_Status read_lines(Lines lines, Reader *reader, mf_Error *error) {
    mf_MeshData *mesh = reader->mesh;
    do {
        char keyword = take_keyword(&lines);
        if (keyword == 'v')
            MF_TRY(read_vertex(&lines, mesh, error));
        else if (keyword == 't' && reader->coordinate != NULL)
            MF_TRY(read_position(&lines, reader, error));
        else if (keyword == 'f')
            MF_TRY(read_face(&lines, reader, error));
        else if ((keyword == 'o' || keyword == 'g') && mesh->first_object == 0)
            mesh->first_object = mesh->triangle_count;
    } while (next_line(&lines));
    return MF_OK;
}

// Faces may name coordinates of later lines. Corners without one are at 0.
static void find_positions(const Reader *reader) {
    const mf_MeshData *mesh = reader->mesh;
    for (size_t i = 0; reader->numbers != NULL && i < 3 * (size_t)mesh->triangle_count; i++)
        for (size_t k = 0; k < 2 && reader->numbers[i] != MF_NONE; k++)
            mesh->coordinates[2 * i + k] = reader->coordinate[2 * (size_t)reader->numbers[i] + k];
}

static mf_Status take_memory(Reader *reader, uint64_t triangles, const char *file,
                             mf_Error *error) {
    mf_MeshData *mesh = reader->mesh;
    mf_Context *context = mesh->context;
    const bool placed = reader->coordinate_count > 0 && triangles > 0;
    bool ready = mf_mesh_reserve(mesh, reader->vertices, triangles, placed);
    if (ready && placed) {
        reader->coordinate =
            mf_allocate(context, 2 * (size_t)reader->coordinate_count, sizeof(float));
        reader->numbers = mf_allocate(context, 3 * (size_t)triangles, sizeof *reader->numbers);
        ready = reader->coordinate != NULL && reader->numbers != NULL;
    }
    return ready ? MF_OK
                 : mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for %llu triangles",
                              (unsigned long long)triangles);
}

mf_Status mf_obj_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    *out = (mf_MeshData){.context = context};
    Lines lines = {file, data, data + size, 1};
    Reader reader = {.mesh = out};
    uint64_t triangles;
    MF_TRY(count_lines(lines, &reader, &triangles, error));
    mf_Status status = take_memory(&reader, triangles, file, error);
    MF_THEN(status, read_lines(lines, &reader, error));
    if (status == MF_OK)
        find_positions(&reader);
    mf_release(context, reader.coordinate);
    mf_release(context, reader.numbers);
    if (status != MF_OK)
        mf_mesh_release(out);
    return status;
}
