// A hull while it is made: its structure, and its arrays as ordinary pointers, NULL until they are
// there.
#pragma once

#include "contact/hull.h"

typedef struct mf_HullDraft {
    mf_ConvexHull hull;
    MF_HULL_ARRAYS(MF_FLAT_POINTER, )
} mf_HullDraft;

// Fills first_face, faces, loops and normals (hull_faces.c) of a hull whose vertices stand. False
// without memory.
bool mf_hull_make_faces(mf_Context *context, const mf_Mesh *mesh, mf_HullDraft *draft);
