// What a texture's file must be, for those that read it and those that decode it.
#ifndef MAYFLY_MODEL_TEXTURE_H
#define MAYFLY_MODEL_TEXTURE_H

#include <mayfly/texture.h>

// MF_BAD_FILE: a cube's or a sky's picture of width x height pixels does not consist of squares in
// its grid.
mf_Status mf_texture_check_squares(const mf_Texture *texture, mf_Error *error);

#endif
