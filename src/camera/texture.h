// Textures as pictures show them: their pixels at several sizes, each half of the one before (a MIP
// map: Williams 1983, "Pyramidal parametrics", SIGGRAPH), and what a pixel sees of them.
#pragma once

#include <mayfly/terrain.h>
#include <mayfly/texture.h>

enum { MF_TEXTURE_LEVELS = 14 }; // 2^13 pixels and less

typedef struct mf_TextureLevel {
    const uint8_t *pixels;
    uint32_t width, height; // [pixel] of one face
} mf_TextureLevel;

typedef struct mf_TextureMap {
    mf_Context *context;
    bool cube;
    uint8_t *memory;
    uint32_t count; // [1]
    mf_TextureLevel levels[MF_TEXTURE_LEVELS];
} mf_TextureMap;

// MF_NO_MEMORY, MF_BAD_FILE. Released by mf_texture_map_release, which takes
// a zeroed map, too.
mf_Status mf_texture_map_make(mf_Context *context, const mf_Texture *texture, mf_TextureMap *out,
                              mf_Error *error);
void mf_texture_map_release(mf_TextureMap *map);

// The pixels of a texture as mf_texture_pixels gives them, halved until no edge of a face is longer
// than `edge` [pixel]. *width and *height are those of one face.
mf_Status mf_texture_shrink(mf_Context *context, const mf_Texture *texture, uint32_t edge,
                            uint8_t **pixels, uint32_t *width, uint32_t *height, mf_Error *error);

// How a texture lies on a shape (texture_lay.c): a point x of its own axes has u, v or, of a cube,
// the direction factor x + offset.
typedef struct mf_TextureLay {
    uint32_t texture;            // [1] of the model
    bool cube;                   // else flat
    bool placed;                 // by the coordinates of a mesh; the rest does not count
    double factor[3], offset[3]; // [1/m], [1]
    double half, stretch; // [1] half > 0: beyond it a direction's third part is that from the
                          // middle of a capsule's cap, times `stretch`
} mf_TextureLay;

// False: the shape has no texture.
bool mf_texture_lay(const mf_Model *model, const mf_Shape *shape, mf_TextureLay *out);

// Whether the ground of a world has the look of this shape: the plane or height field that is that
// ground, with a material or another color than the gray of shapes without one.
bool mf_texture_is_floor(const mf_Terrain *terrain, const mf_Shape *shape);

// The mean color 0 .. 1 of what a pixel covers around the position (u, v) of a flat texture.
// `across`: how the position changes to the next pixel on the right and below.
void mf_texture_map_flat(const mf_TextureMap *map, const float position[2],
                         const float across[2][2], float out[3]);
// The same in a direction of any length, of a cube.
void mf_texture_map_cube(const mf_TextureMap *map, const float direction[3],
                         const float across[2][3], float out[3]);
