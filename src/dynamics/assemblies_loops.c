// Docks that close loops of an assembly (assemblies.h): the wrenches by which both sides accelerate
// alike, from what the tree does without them and under a unit of each,
//     S wrenches = correction - relative acceleration of the open tree.
//
// A loop may hold what the tree holds already, as in a flat ring, so S can be singular: it gets a
// little softness, which the closing of gaps takes off again.
#include "dynamics/assemblies.h"

#include <string.h>

enum { SIX = 6, MOST = SIX * MF_ASSEMBLY_LOOPS };

size_t mf_assembly_loop_room(void) {
    return (MOST * MOST + 2 * MOST) * sizeof(double);
}

// Acceleration of the second side of all loops against the first.
static void measure(const mf_Assemblies *all, const mf_Assembly *assembly, bool whole, double *out,
                    size_t stride) {
    double sites[SIX * MF_ART_SITES], sides[2][SIX];
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++) {
        const mf_AssemblyEdge *loop = &all->loops[l];
        for (uint32_t s = 0; s < 2; s++) {
            const mf_AssemblyRobot *robot = &all->order[loop->robots[s]];
            mf_assembly_loads(all, robot, true, sites);
            mf_assembly_accelerate(all, robot, &loop->places[s], sites, whole, sides[s]);
        }
        for (uint32_t r = 0; r < SIX; r++)
            out[(SIX * (l - assembly->first_loop) + r) * stride] = sides[1][r] - sides[0][r];
    }
}

static bool is_wide(const mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        if (!all->order[i].group->assemblies->pieces->pick.double_precision)
            return false;
    return true;
}

void mf_assembly_close_loops(mf_Assemblies *all, const mf_Assembly *assembly) {
    const uint32_t first = assembly->first_loop, rows = SIX * (assembly->loop_end - first);
    if (rows == 0)
        return;
    double *m = mf_scratch_borrow(all->scratch), *right = m + MOST * MOST, *pivots = right + MOST;
    const double soft = is_wide(all, assembly) ? 1e-9 : 1e-5;
    for (uint32_t l = first; l < assembly->loop_end; l++)
        memset(all->loops[l].wrench, 0, sizeof all->loops[l].wrench);
    mf_assembly_sweep(all, assembly, true);
    measure(all, assembly, true, right, 1);
    for (uint32_t r = 0; r < rows; r++)
        right[r] = all->loops[first + r / SIX].correction[r % SIX] - right[r];
    for (uint32_t c = 0; c < rows; c++) { // a push on the first is one back on the second
        all->loops[first + c / SIX].wrench[c % SIX] = 1.0;
        mf_assembly_sweep(all, assembly, false);
        measure(all, assembly, false, m + c, rows);
        all->loops[first + c / SIX].wrench[c % SIX] = 0.0;
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < rows; c++)
            m[rows * r + c] = -m[rows * r + c];
        right[r] = -right[r];
    }
    for (uint32_t r = 0; r < rows; r++)
        m[(rows + 1) * r] *= 1.0 + soft;
    mf_assembly_factor(m, pivots, rows, soft * 0.1);
    mf_assembly_divide(m, pivots, rows, right);
    for (uint32_t r = 0; r < rows; r++)
        all->loops[first + r / SIX].wrench[r % SIX] = right[r];
    mf_scratch_return(all->scratch, m);
}
