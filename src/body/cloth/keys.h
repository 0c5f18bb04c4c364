// What a cloth's file is read into, by a table of keys.
#pragma once

#include "io/keys.h"

#include "base/text.h"

#include <mayfly/cloth.h>

typedef struct mf_ClothEntry {
    const char *name;
    mf_ClothMaterial material;
    double size[2], counts[2]; // counts: whole numbers
    mf_ClothPlane plane;
    mf_KeyList vertices, triangles; // of double[3]; triangles: whole numbers
    double warp[3];
    mf_KeyList pins; // of const char *: numbers, sides, corners
} mf_ClothEntry;

const mf_KeyTable *mf_cloth_table(void);

// As mf_BodyKind.describe (page.c).
struct json_t;
mf_Status mf_cloth_describe(mf_Context *context, const void *body, const char *path, mf_Text *text,
                            struct json_t **object, mf_Error *error);
