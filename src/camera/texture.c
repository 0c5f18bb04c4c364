// Sampling of textures (texture.h): bilinear, at the size whose pixels are as large as the shorter
// axis of what the picture's pixel covers, as the mean of up to PROBES places along the longer one
// (as anisotropic filters of OpenGL). Plain float arithmetic: +, -, * and / alone decide, so that
// pictures are the same everywhere.
#include "camera/texture.h"
#include "model/texture.h"

#include "base/context.h"

#include <string.h>

enum { FACES = 6, CHANNELS = 3, PROBES = 8, LONGEST = 1024 }; // [pixel] longest edge

// ---- making -------------------------------------------------------------------------------------

static uint32_t half_of(uint32_t edge) {
    return edge > 1 ? edge / 2 : 1;
}

// Means of two by two pixels; the last row or column of an odd number is ignored.
static void halve(const uint8_t *from, uint32_t width, uint32_t height, uint8_t *out) {
    const size_t right = width > 1 ? CHANNELS : 0,
                 below = height > 1 ? CHANNELS * (size_t)width : 0;
    for (uint32_t y = 0; y < half_of(height); y++)
        for (uint32_t x = 0; x < half_of(width); x++) {
            const uint8_t *p = from + CHANNELS * (2 * (size_t)y * width + 2 * x);
            for (int c = 0; c < CHANNELS; c++)
                *out++ =
                    (uint8_t)((p[c] + p[c + right] + p[c + below] + p[c + right + below] + 2) / 4);
        }
}

// All faces of a picture.
static void halve_faces(const uint8_t *from, uint32_t width, uint32_t height, uint32_t faces,
                        uint8_t *out) {
    for (uint32_t f = 0; f < faces; f++)
        halve(from + CHANNELS * (size_t)f * width * height, width, height,
              out + CHANNELS * (size_t)f * half_of(width) * half_of(height));
}

// Halving works in place: what is written is behind what is still read.
mf_Status mf_texture_shrink(mf_Context *context, const mf_Texture *texture, uint32_t edge,
                            uint8_t **pixels, uint32_t *width, uint32_t *height, mf_Error *error) {
    const uint32_t faces = mf_texture_faces(texture);
    MF_TRY(mf_texture_pixels(context, texture, pixels, width, height, error));
    *height /= faces;
    while (*width > edge || *height > edge) {
        halve_faces(*pixels, *width, *height, faces, *pixels);
        *width = half_of(*width);
        *height = half_of(*height);
    }
    return MF_OK;
}

static void lay_levels(mf_TextureMap *map, uint32_t width, uint32_t height, uint32_t faces) {
    size_t used = 0;
    map->count = 0;
    for (;;) {
        map->levels[map->count++] =
            (mf_TextureLevel){map->memory != NULL ? map->memory + used : NULL, width, height};
        used += CHANNELS * (size_t)faces * width * height;
        if (width * height == 1 || map->count == MF_TEXTURE_LEVELS)
            return;
        width = half_of(width);
        height = half_of(height);
    }
}

static size_t size_of(const mf_TextureMap *map, uint32_t faces) {
    size_t size = 0;
    for (uint32_t i = 0; i < map->count; i++)
        size += CHANNELS * (size_t)faces * map->levels[i].width * map->levels[i].height;
    return size;
}

mf_Status mf_texture_map_make(mf_Context *context, const mf_Texture *texture, mf_TextureMap *out,
                              mf_Error *error) {
    const uint32_t faces = mf_texture_faces(texture);
    uint8_t *pixels = NULL;
    uint32_t width, height;
    *out = (mf_TextureMap){.context = context, .cube = faces > 1};
    MF_TRY(mf_texture_shrink(context, texture, LONGEST, &pixels, &width, &height, error));
    lay_levels(out, width, height, faces);
    out->memory = mf_allocate(context, size_of(out, faces), 1);
    if (out->memory == NULL) {
        mf_release(context, pixels);
        return mf_fail(error, MF_NO_MEMORY, "texture '%.200s': no memory", texture->name);
    }
    lay_levels(out, width, height, faces);
    memcpy(out->memory, pixels, CHANNELS * (size_t)faces * width * height);
    mf_release(context, pixels);
    for (uint32_t i = 1; i < out->count; i++) {
        const mf_TextureLevel *from = &out->levels[i - 1];
        halve_faces(from->pixels, from->width, from->height, faces,
                    out->memory + (out->levels[i].pixels - out->memory));
    }
    return MF_OK;
}

void mf_texture_map_release(mf_TextureMap *map) {
    mf_release(map->context, map->memory);
    *map = (mf_TextureMap){.context = map->context};
}

// ---- sampling -----------------------------------------------------------------------------------

// A part of a texture: all of a flat one, which repeats, or a cube's face, which ends.
typedef struct Face {
    const mf_TextureMap *map;
    uint32_t number; // [1]
} Face;

// The pixel at a position, and how far the position is towards the next one.
static uint32_t find_pixel(float position, uint32_t count, bool repeats, uint32_t *next,
                           float *part) {
    const float at = position * (float)count - 0.5f;
    if (!repeats) {
        const float last = (float)(count - 1), within = at > 0.0f ? (at < last ? at : last) : 0.0f;
        const uint32_t pixel = (uint32_t)within;
        *next = pixel + 1 < count ? pixel + 1 : pixel;
        *part = within - (float)pixel;
        return pixel;
    }
    const int32_t cell = (int32_t)at - (at < (float)(int32_t)at); // rounded down
    const uint32_t pixel = (uint32_t)(cell < 0 ? cell + (int32_t)count : cell) % count;
    *next = pixel + 1 < count ? pixel + 1 : 0;
    *part = at - (float)cell;
    return pixel;
}

static void add_bilinear(const Face *face, uint32_t level, const float position[2], float weight,
                         float out[3]) {
    const mf_TextureLevel *own = &face->map->levels[level];
    const uint8_t *pixels =
        own->pixels + CHANNELS * (size_t)face->number * own->width * own->height;
    const bool repeats = !face->map->cube;
    uint32_t right, below;
    float u, v;
    const uint32_t x = find_pixel(position[0], own->width, repeats, &right, &u);
    const uint32_t y = find_pixel(position[1], own->height, repeats, &below, &v);
    const uint8_t *upper = pixels + CHANNELS * (size_t)y * own->width;
    const uint8_t *lower = pixels + CHANNELS * (size_t)below * own->width;
    for (uint32_t c = 0; c < CHANNELS; c++) {
        const float a = upper[CHANNELS * x + c], b = upper[CHANNELS * right + c];
        const float d = lower[CHANNELS * x + c], e = lower[CHANNELS * right + c];
        const float top = a + u * (b - a), bottom = d + u * (e - d);
        out[c] += weight * (top + v * (bottom - top));
    }
}

// Places far from 0 come back to 0 .. 1, where floats are fine.
static float wrap(float position) {
    if (!(position > -1e6f && position < 1e6f))
        return 0.0f;
    const int32_t whole = (int32_t)position;
    return position - (float)whole + (position < (float)whole ? 1.0f : 0.0f);
}

// Between the two sizes next to the one that fits.
static void add_probe(const Face *face, const float position[2], float pixels, float weight,
                      float out[3]) {
    const uint32_t last = face->map->count - 1;
    uint32_t level = 0;
    while (level < last && pixels >= 2.0f) {
        pixels *= 0.5f;
        level++;
    }
    const float part = level < last && pixels > 1.0f ? pixels - 1.0f : 0.0f;
    add_bilinear(face, level, position, weight * (1.0f - part), out);
    if (part > 0.0f)
        add_bilinear(face, level + 1, position, weight * part, out);
}

static float length_of(const float across[2], const mf_TextureLevel *level) {
    const float x = across[0] * (float)level->width, y = across[1] * (float)level->height;
    return __builtin_sqrtf(x * x + y * y);
}

static void sample(const Face *face, const float position[2], const float across[2][2],
                   float out[3]) {
    const float lengths[2] = {length_of(across[0], face->map->levels),
                              length_of(across[1], face->map->levels)};
    const int longer = lengths[1] > lengths[0];
    const float most = lengths[longer], least = lengths[!longer];
    uint32_t probes = 1;
    while (probes < PROBES && most > 1.0f && most > (float)probes * 1.5f * least)
        probes++;
    const float size = most / (float)probes > least ? most / (float)probes : least;
    for (int c = 0; c < 3; c++)
        out[c] = 0.0f;
    for (uint32_t i = 0; i < probes; i++) {
        const float along = ((float)i + 0.5f) / (float)probes - 0.5f;
        float own[2];
        for (int k = 0; k < 2; k++) {
            own[k] = position[k] + along * across[longer][k];
            own[k] = face->map->cube ? own[k] : wrap(own[k]);
        }
        add_probe(face, own, size, 1.0f / (255.0f * (float)probes), out);
    }
}

void mf_texture_map_flat(const mf_TextureMap *map, const float position[2],
                         const float across[2][2], float out[3]) {
    const Face face = {map, 0};
    sample(&face, position, across, out);
}

// ---- cubes --------------------------------------------------------------------------------------

// Which axis a face looks along, and the signed axes to the right and downwards on it, as in OpenGL
// (specification 3.3, table 3.19): 1 .. 3 and -1 .. -3.
static const int8_t face_axes[FACES][3] = {{1, -3, -2}, {-1, 3, -2}, {2, 1, 3},
                                           {-2, 1, -3}, {3, 1, -2},  {-3, -1, -2}};

static float along(const float direction[3], int8_t axis) {
    return axis > 0 ? direction[axis - 1] : -direction[-axis - 1];
}

void mf_texture_map_cube(const mf_TextureMap *map, const float direction[3],
                         const float across[2][3], float out[3]) {
    const float size[3] = {__builtin_fabsf(direction[0]), __builtin_fabsf(direction[1]),
                           __builtin_fabsf(direction[2])};
    const uint32_t most =
        size[0] >= size[1] ? (size[0] >= size[2] ? 0 : 2) : (size[1] >= size[2] ? 1 : 2);
    const Face face = {map, 2 * most + (direction[most] < 0.0f)};
    const int8_t *axes = face_axes[face.number];
    const float ahead = size[most] > 1e-20f ? size[most] : 1e-20f;
    float position[2], own[2][2];
    for (int k = 0; k < 2; k++) {
        const float side = along(direction, axes[1 + k]);
        position[k] = 0.5f * (side / ahead + 1.0f);
        for (int i = 0; i < 2; i++)
            own[i][k] = 0.5f *
                        (along(across[i], axes[1 + k]) * ahead - side * along(across[i], axes[0])) /
                        (ahead * ahead);
    }
    sample(&face, position, (const float(*)[2])own, out);
}
