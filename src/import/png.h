// Pictures of textures: PNG files, read by libpng from memory.
#ifndef MAYFLY_SRC_MODEL_IMPORT_PNG_H
#define MAYFLY_SRC_MODEL_IMPORT_PNG_H

#include <mayfly/texture.h>

// The size that the header states, of a file that is in memory. MF_BAD_FILE: it is no PNG file;
// MF_LIMIT: more than MF_TEXTURE_PIXELS.
mf_Status mf_texture_png_size(const char *path, const uint8_t *file, size_t size, uint32_t *width,
                              uint32_t *height, mf_Error *error);

// Reads the file at `path` into a texture: file, file_size, width and height of its picture, and
// decode. The texture owns the bytes. MF_BAD_FILE, MF_LIMIT, MF_NO_MEMORY.
mf_Status mf_texture_png_load(mf_Context *context, const char *path, mf_Texture *texture,
                              mf_Error *error);

#endif
