// Pixels of textures: patterns as MuJoCo makes them, and files, whose pictures are turned over or
// cut into the faces of a cube.
//
// A cube's faces are squares in the order +x, -x, +y, -y, +z, -z, as in OpenGL. Colors 0 .. 1
// become bytes by cutting 255 c, not by rounding it.
#include "model/texture.h"
#include "base/floats.h"

#include "base/context.h"
#include "math/scalar.h"

#include <string.h>

enum { FACES = 6, CHANNELS = 3, BELOW = 3, ABOVE = 2, DOTS = 0x7e47 };

typedef struct Face {
    uint8_t *pixels;
    uint32_t width, height; // [pixel]
    uint32_t number;        // [1] of the cube
} Face;

static void to_bytes(uint8_t out[CHANNELS], const double color[3]) {
    for (int c = 0; c < CHANNELS; c++)
        out[c] = (uint8_t)(255.0 * mf_clamp(color[c], 0.0, 1.0));
}

static uint8_t *pixel_at(const Face *face, uint32_t row, uint32_t column) {
    return face->pixels + CHANNELS * ((size_t)row * face->width + column);
}

// ---- patterns -----------------------------------------------------------------------------------

// A share that rises smoothly from 0 at -1 to 1 at 1.
static double smooth(double x) {
    return mf_clamp(0.5 * (1.0 + mf_sqrt(2.0) * x / mf_sqrt(1.0 + x * x)), 0.0, 1.0);
}

// [1] Of the first color. x to the right and y upwards are -1 .. 1 on the face.
static double share_at(const mf_Texture *texture, uint32_t face, double x, double y) {
    const double half_rotation = 3.14159265358979323846, radius = mf_sqrt(1.0 + x * x + y * y);
    if (texture->type == MF_TEXTURE_FLAT)
        return 1.0 - smooth(2.0 * mf_sqrt(x * x + y * y) - 1.0);
    if (face != ABOVE && face != BELOW)
        return smooth(2.0 * mf_asin(y / radius) / half_rotation);
    const double elevation = 1.0 - 2.0 * mf_acos(1.0 / radius) / half_rotation;
    return smooth(face == ABOVE ? elevation : -elevation);
}

static double across(uint32_t index, uint32_t count) {
    return count > 1 ? 2.0 * index / (count - 1.0) - 1.0 : 0.0;
}

static void paint_pattern(const mf_Texture *texture, const Face *face) {
    const bool rotated = texture->type != MF_TEXTURE_FLAT && face->number >= 4;
    const bool below = texture->type != MF_TEXTURE_FLAT && face->number == BELOW;
    for (uint32_t r = 0; r < face->height; r++)
        for (uint32_t c = 0; c < face->width; c++) {
            double share = below ? 0.0 : 1.0, color[3];
            if (texture->pattern == MF_PATTERN_GRADIENT)
                share = share_at(texture, face->number, across(c, face->width),
                                 -across(r, face->height));
            else if (texture->pattern == MF_PATTERN_CHECKER)
                share = ((r < face->height / 2) == (c < face->width / 2)) != rotated ? 1.0 : 0.0;
            for (int k = 0; k < 3; k++)
                color[k] =
                    share * texture->first_color[k] + (1.0 - share) * texture->second_color[k];
            to_bytes(pixel_at(face, r, c), color);
        }
}

static void paint_marks(const mf_Texture *texture, const Face *face) {
    uint8_t color[CHANNELS];
    to_bytes(color, texture->mark_color);
    for (uint32_t r = 0; r < face->height; r++)
        for (uint32_t c = 0; c < face->width; c++) {
            uint32_t words[4];
            bool marked = false;
            if (texture->mark == MF_MARK_EDGE) {
                marked = r == 0 || c == 0 || r + 1 == face->height || c + 1 == face->width;
            } else if (texture->mark == MF_MARK_CROSS) {
                marked = r == face->height / 2 || c == face->width / 2;
            } else if (texture->mark == MF_MARK_RANDOM) {
                mf_random(DOTS, face->number, 0, (uint64_t)r * face->width + c, words);
                marked = mf_random_unit_double(words[0], words[1]) < texture->random;
            }
            if (marked)
                memcpy(pixel_at(face, r, c), color, sizeof color);
        }
}

// ---- files --------------------------------------------------------------------------------------

static void swap_pixels(uint8_t *a, uint8_t *b) {
    for (int c = 0; c < CHANNELS; c++) {
        const uint8_t kept = a[c];
        a[c] = b[c];
        b[c] = kept;
    }
}

static void flip(const mf_Texture *texture, const Face *all) {
    for (uint32_t r = 0; texture->flip_columns && r < all->height; r++)
        for (uint32_t c = 0; c < all->width / 2; c++)
            swap_pixels(pixel_at(all, r, c), pixel_at(all, r, all->width - 1 - c));
    for (uint32_t r = 0; texture->flip_rows && r < all->height / 2; r++)
        for (uint32_t c = 0; c < all->width; c++)
            swap_pixels(pixel_at(all, r, c), pixel_at(all, all->height - 1 - r, c));
}

// Where face `number` is in the file's grid; grid[0] grid[1]: nowhere.
static uint32_t index_of(const mf_Texture *texture, uint32_t number) {
    static const char letters[FACES] = {'R', 'L', 'U', 'D', 'F', 'B'};
    const uint32_t cells = texture->grid[0] * texture->grid[1];
    for (uint32_t i = 0; cells > 1 && i < cells && texture->layout[i] != '\0'; i++)
        if (texture->layout[i] == letters[number])
            return i;
    return cells > 1 ? cells : 0;
}

mf_Status mf_texture_check_squares(const mf_Texture *texture, mf_Error *error) {
    const uint32_t columns = texture->grid[1], edge = texture->width / columns;
    if (texture->type == MF_TEXTURE_FLAT || (edge > 0 && edge * columns == texture->width &&
                                             edge * texture->grid[0] == texture->height))
        return MF_OK;
    return mf_fail_at(error, MF_BAD_FILE, texture->path, 0, 0,
                      "a cube's picture needs %u x %u squares, found %u x %u pixels", columns,
                      texture->grid[0], texture->width, texture->height);
}

// The faces of a cube from its file's picture.
static mf_Status cut_faces(mf_Context *context, const mf_Texture *texture, const Face *from,
                           uint8_t **out, mf_Error *error) {
    const uint32_t columns = texture->grid[1], edge = from->width / columns;
    const uint32_t cells = texture->grid[0] * columns;
    MF_TRY(mf_texture_check_squares(texture, error));
    uint8_t *pixels = mf_allocate(context, FACES * (size_t)edge * edge, CHANNELS);
    if (pixels == NULL)
        return mf_fail(error, MF_NO_MEMORY, "texture '%.200s': no memory", texture->name);
    for (uint32_t number = 0; number < FACES; number++) {
        const uint32_t index = index_of(texture, number);
        const Face face = {pixels + CHANNELS * (size_t)number * edge * edge, edge, edge, number};
        for (uint32_t r = 0; r < edge; r++) {
            for (uint32_t c = 0; index >= cells && c < edge; c++)
                to_bytes(pixel_at(&face, r, c), texture->first_color);
            if (index < cells)
                memcpy(pixel_at(&face, r, 0),
                       pixel_at(from, index / columns * edge + r, index % columns * edge),
                       CHANNELS * (size_t)edge);
        }
    }
    *out = pixels;
    return MF_OK;
}

static mf_Status read_file(mf_Context *context, const mf_Texture *texture, Face *all,
                           mf_Error *error) {
    const bool cube = texture->type != MF_TEXTURE_FLAT;
    MF_CHECK(texture->decode != NULL, error, MF_UNSUPPORTED,
             "texture '%.200s': nothing reads its file", texture->name);
    MF_TRY(texture->decode(context, texture, &all->pixels, &all->width, &all->height, error));
    flip(texture, all);
    if (!cube)
        return MF_OK;
    uint8_t *faces = NULL;
    mf_Status status = cut_faces(context, texture, all, &faces, error);
    mf_release(context, all->pixels);
    const uint32_t edge = all->width / texture->grid[1];
    *all = (Face){faces, edge, FACES * edge, 0};
    return status;
}

// ---- both ---------------------------------------------------------------------------------------

static mf_Status paint(mf_Context *context, const mf_Texture *texture, Face *all, mf_Error *error) {
    const uint32_t faces = mf_texture_faces(texture);
    const uint32_t height = faces > 1 ? texture->width : texture->height;
    const uint64_t pixels = (uint64_t)texture->width * height * faces;
    if (pixels == 0 || pixels > MF_TEXTURE_PIXELS)
        return mf_fail(error, MF_LIMIT,
                       "texture '%.200s': expected 1 .. 2^26 pixels, found %u x %u", texture->name,
                       texture->width, texture->height);
    all->pixels = mf_allocate(context, (size_t)pixels, CHANNELS);
    if (all->pixels == NULL)
        return mf_fail(error, MF_NO_MEMORY, "texture '%.200s': no memory", texture->name);
    all->width = texture->width;
    all->height = faces * height;
    for (uint32_t number = 0; number < faces; number++) {
        const Face face = {all->pixels + CHANNELS * (size_t)number * texture->width * height,
                           texture->width, height, number};
        paint_pattern(texture, &face);
        paint_marks(texture, &face);
    }
    return MF_OK;
}

mf_Status mf_texture_pixels(mf_Context *context, const mf_Texture *texture, uint8_t **out,
                            uint32_t *width, uint32_t *height, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Face all = {.pixels = NULL};
    MF_NEED(context != NULL && texture != NULL && out != NULL && width != NULL && height != NULL,
            error, "mf_texture_pixels: context, texture, out, width or height is NULL");
    *out = NULL;
    MF_TRY(texture->file != NULL ? read_file(context, texture, &all, error)
                                 : paint(context, texture, &all, error));
    *out = all.pixels;
    *width = all.width;
    *height = all.height;
    return MF_OK;
}
