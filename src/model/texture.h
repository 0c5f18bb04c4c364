// What a texture's file must be, for those that read it and those that decode it.
#pragma once

#include <mayfly/texture.h>

// [1] Of a cube or a sky six, one below the other.
static inline uint32_t mf_texture_faces(const mf_Texture *texture) {
    return texture->type == MF_TEXTURE_FLAT ? 1 : 6;
}

// MF_BAD_FILE: a cube's or a sky's picture of width x height pixels does not consist of squares in
// its grid.
mf_Status mf_texture_check_squares(const mf_Texture *texture, mf_Error *error);

// The pixels of a texture: *width * *height * 3 bytes, red, green and blue, row after row from the
// top; a cube's faces +x, -x, +y, -y, +z, -z one below the other, *height = 6 *width. The caller
// releases *out with mf_release. MF_BAD_FILE: its file is damaged. MF_NO_MEMORY.
mf_Status mf_texture_pixels(mf_Context *context, const mf_Texture *texture, uint8_t **out,
                            uint32_t *width, uint32_t *height, mf_Error *error);
