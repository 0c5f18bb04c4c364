// Particles sorted by cells: a counting sort, stable by the number of the particle, so that the
// order follows from positions alone.
#pragma once

#include <mayfly/base.h>

typedef struct mf_ParticleCells {
    uint32_t capacity; // [1] most cells
    double edge;       // [m] least edge of a cell along y and z
    double low[3];     // [m] corner of the grid
    double inverse[3]; // [1/m] cells per length
    int32_t size[3];   // [1] cells
    int32_t *starts;   // [1] capacity + 1
    int32_t *cell;     // [1] per particle; -1: it takes no part
    int32_t *column;   // [1] per rank
    uint32_t *order;   // [1] per rank
    uint32_t count;    // [1] ranks
} mf_ParticleCells;

// Memory for `particles`; MF_NO_MEMORY. Released with mf_particle_cells_free.
mf_Status mf_particle_cells_create(mf_Context *context, uint32_t particles, double edge,
                                   mf_ParticleCells *out, mf_Error *error);
void mf_particle_cells_free(mf_Context *context, mf_ParticleCells *cells);

// Chooses the grid for particles in a box; where it would have too many cells, larger ones.
void mf_particle_cells_fit(mf_ParticleCells *cells, const double low[3], const double high[3]);

// The cell of a position in the box.
static inline int32_t mf_particle_cell(const mf_ParticleCells *cells, double x, double y,
                                       double z) {
    const int32_t column = (int32_t)((x - cells->low[0]) * cells->inverse[0]);
    const int32_t row = (int32_t)((y - cells->low[1]) * cells->inverse[1]);
    const int32_t layer = (int32_t)((z - cells->low[2]) * cells->inverse[2]);
    return (layer * cells->size[1] + row) * cells->size[0] + column;
}

// Sorts particles 0 .. particles - 1 by cells->cell.
void mf_particle_cells_sort(mf_ParticleCells *cells, uint32_t particles);
