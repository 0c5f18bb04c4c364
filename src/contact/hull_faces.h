// The flat faces of a hull.
#ifndef MF_CONTACT_HULL_FACES_H
#define MF_CONTACT_HULL_FACES_H

#include "contact/hull.h"

// Fills first_face, faces and normals of a hull whose vertices stand. False without memory.
bool mf_hull_make_faces(mf_Context *context, const mf_Mesh *mesh, mf_ConvexHull *hull);

#endif
