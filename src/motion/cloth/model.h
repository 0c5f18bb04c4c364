// Cloth, for those who step it.
#pragma once

#include <mayfly/cloth.h>

// Mass [kg] of each vertex: the share of the area around it. `mass` has a value per vertex.
void mf_cloth_masses(const mf_Cloth *cloth, double *mass);

// Center of mass [m] in the frame of the file.
void mf_cloth_center(const mf_Cloth *cloth, double center[3]);

// [m] height of the lowest point in the frame of the file, half the thickness below the lowest
// vertex.
double mf_cloth_lowest(const mf_Cloth *cloth);

// Whether the cloth can be one: counts, finite numbers in range, triangles of three different
// vertices with an area, pins that are vertices. MF_BAD_ARGUMENT names the member that is wrong;
// MF_LIMIT: more than MF_CLOTH_MOST vertices. NULL: MF_BAD_ARGUMENT.
mf_Status mf_cloth_check(const mf_Cloth *cloth, mf_Error *error);
