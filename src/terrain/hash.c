// The hash of the ground: everything that contact depends on. The heights in float follow from
// those in double.
#include <mayfly/terrain.h>

#include "base/hash.h"
#include "base/floats.h"

uint64_t mf_terrain_hash(const mf_Terrain *terrain) {
    MF_DEFAULT_FLOATS;
    if (terrain == NULL)
        return 0;
    uint64_t hash = mf_hash_u32(MF_HASH_START, terrain->columns);
    hash = mf_hash_u32(hash, terrain->rows);
    hash = mf_hash_u32(hash, (uint32_t)terrain->interpolation | (uint32_t)terrain->border << 8);
    hash = mf_hash_doubles(hash, &terrain->cell, 1);
    hash = mf_hash_doubles(hash, terrain->origin, 2);
    return mf_hash_doubles(hash, terrain->height_f64, (size_t)terrain->columns * terrain->rows);
}
