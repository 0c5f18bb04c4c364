// Where a ray first touches the ground, exactly.
#ifndef MF_TERRAIN_RAY_H
#define MF_TERRAIN_RAY_H

#include <mayfly/terrain.h>

// The distance [m] along the ray from `origin` [m] along the unit vector `direction` at which it
// first goes from above the ground to below it; INFINITY where it does not within `reach` [m],
// which may be INFINITY. `normal` [1] gets the ground's there: of the wall between two cells of a
// map of MF_NEAREST, the wall's. A ray that begins below the ground hits it only after it has come
// out of it.
double mf_terrain_ray(const mf_Terrain *terrain, const double origin[3], const double direction[3],
                      double reach, double normal[3]);

#endif
