// Cells of particles (cells.h).
#include "motion/particle/cells.h"
#include "motion/particle/plan.h"
#include "base/memory.h"

#include <string.h>

static const double growth = 1.25; // [1] of the edge while there are too many cells

mf_Status mf_particle_cells_create(mf_Context *context, uint32_t particles, double edge,
                                   mf_ParticleCells *out, mf_Error *error) {
    const size_t capacity = 8 * (size_t)particles + 4096;
    *out = (mf_ParticleCells){.capacity = capacity < INT32_MAX ? (uint32_t)capacity : INT32_MAX,
                              .edge = edge};
    const mf_Array arrays[] = {MF_ARRAY(out->starts, (size_t)out->capacity + 1),
                               MF_ARRAY(out->cell, particles), MF_ARRAY(out->column, particles),
                               MF_ARRAY(out->order, particles)};
    if (mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return MF_OK;
    return mf_fail(error, MF_NO_MEMORY, "particles: no memory for %u particles", particles);
}

void mf_particle_cells_free(mf_Context *context, mf_ParticleCells *cells) {
    mf_release(context, cells->starts);
    *cells = (mf_ParticleCells){0};
}

void mf_particle_cells_fit(mf_ParticleCells *cells, const double low[3], const double high[3]) {
    double edge = cells->edge, count;
    do {
        count = 1.0;
        for (int c = 0; c < 3; c++) {
            cells->low[c] = low[c];
            cells->inverse[c] = (c == 0 ? MF_PARTICLE_FINE : 1) / edge;
            const double size = (high[c] - low[c]) * cells->inverse[c];
            cells->size[c] = size < 1e9 ? (int32_t)size + 1 : 1000000000;
            count *= cells->size[c];
        }
        edge *= growth;
    } while (count > cells->capacity);
}

void mf_particle_cells_sort(mf_ParticleCells *cells, uint32_t particles) {
    const size_t count = (size_t)cells->size[0] * (size_t)cells->size[1] * (size_t)cells->size[2];
    int32_t *starts = cells->starts, sum = 0;
    memset(starts, 0, (count + 1) * sizeof *starts);
    for (uint32_t i = 0; i < particles; i++)
        if (cells->cell[i] >= 0)
            starts[cells->cell[i]]++;
    for (size_t c = 0; c <= count; c++) {
        const int32_t here = starts[c];
        starts[c] = sum;
        sum += here;
    }
    cells->count = (uint32_t)sum;
    for (uint32_t i = 0; i < particles; i++)
        if (cells->cell[i] >= 0)
            cells->order[starts[cells->cell[i]]++] = i;
    // Each start has become the next cell's.
    memmove(starts + 1, starts, count * sizeof *starts);
    starts[0] = 0;
}
