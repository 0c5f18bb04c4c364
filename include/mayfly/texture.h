// Mayfly: textures and materials of models: what shapes look like beside their color
// (docs/explanation/cameras.md says how textures lie on them).
#pragma once

#include <mayfly/model.h>

#define MF_TEXTURE_PIXELS (1u << 26) // [pixel] most of a texture

typedef enum mf_TextureType {
    MF_TEXTURE_FLAT, // a picture that repeats, over a surface
    MF_TEXTURE_CUBE, // six faces around a shape, each seen in the direction from its origin
    MF_TEXTURE_SKY   // likewise, around the world
} mf_TextureType;

typedef enum mf_TexturePattern {
    MF_PATTERN_NONE,     // it is read from a file
    MF_PATTERN_GRADIENT, // flat: from first_color in the middle to second_color; cube: from
                         // first_color above to second_color below
    MF_PATTERN_CHECKER,  // two by two fields
    MF_PATTERN_PLAIN     // first_color; a cube's lower face second_color
} mf_TexturePattern;

typedef enum mf_TextureMark {
    MF_MARK_NONE,
    MF_MARK_EDGE,  // lines along the border of each face
    MF_MARK_CROSS, // lines through its middle
    MF_MARK_RANDOM // dots
} mf_TextureMark;

// Turns a texture's file into *width * *height * 3 bytes, row after row from the top, without flips
// and grid. *out is released by mf_release.
struct mf_Texture;
typedef mf_Status (*mf_TextureDecodeFn)(mf_Context *context, const struct mf_Texture *texture,
                                        uint8_t **out, uint32_t *width, uint32_t *height,
                                        mf_Error *error);

// A picture for surfaces: how it is made, or the bytes of its PNG file. mf_texture_pixels gives its
// pixels.
typedef struct mf_Texture {
    const char *name;
    const char *path; // resolved path of its PNG file, "" for a pattern
    mf_TextureType type;
    mf_TexturePattern pattern;
    mf_TextureMark mark;    // on patterns
    double first_color[3];  // [1] red, green, blue in 0 .. 1; also that of faces without a picture
    double second_color[3]; // [1]
    double mark_color[3];   // [1]
    double random;          // [1] 0 .. 1: share of pixels that are dots
    uint32_t width;         // [pixel] of all its pixels, or of one face
    uint32_t height;        // [pixel] of a cube's 6 faces, one below the other: 6 width
    bool flip_columns;      // the file's picture left to right
    bool flip_rows;         // and upside down
    uint32_t grid[2];    // [1] rows and columns of faces in a cube's file; 1, 1: all are the same
    const char *layout;  // which face is where, row after row: R L U D F B, or . for none
    const uint8_t *file; // [byte] the file, file_size of them; NULL: a pattern
    uint32_t file_size;  // [byte]
    mf_TextureDecodeFn decode; // of the file; set by what loads the model, as the core reads none
} mf_Texture;

// The look of a surface beside its color.
typedef struct mf_Material {
    const char *name;
    double color[4];    // [1] red, green, blue, opacity; shapes have the color that results
    uint32_t texture;   // [1] MF_NONE: none. Its pixels times the shape's color are what is seen
    double repeat[2];   // [1] > 0: how often a flat texture fits on a shape
    bool uniform;       // flat: fits on 2 m instead; cube: directions in meters, not in sizes
    double emission;    // [1] >= 0: light of its own, of its color
    double specular;    // [1] not drawn, as the next two
    double shininess;   // [1]
    double reflectance; // [1]
} mf_Material;
