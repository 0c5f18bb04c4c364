// Docks that close loops of an assembly (assemblies.h): the wrenches by which both sides accelerate
// alike, from what the tree does without them and under a unit of each,
//     S wrenches = correction - relative acceleration of the open tree.
//
// A loop may hold what the tree holds already, as in a flat ring, and it may not fit. So S can be
// singular: what gives way by less than a small part of what both robots by themselves do is held
// already. And a gap is
// closed with a hundred times as much softness, so that one that cannot close pulls no more than a
// little.
#include "solve/modules/assemblies.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

enum { SIX = 6, MOST = SIX * MF_ASSEMBLY_LOOPS };

static const double closing_softness = 0.02; // [1] of the response of a row to itself
static const double open_most = 1e-3;        // [rad] or [m] that stay open without a warning

size_t mf_assembly_loop_scratch_size(void) {
    return (2 * MOST * MOST + 5 * MOST) * sizeof(double);
}

// Acceleration of the second side of all loops against the first.
static void measure(const mf_Assemblies *all, const mf_Assembly *assembly, unsigned causes,
                    double *out, size_t stride) {
    double sites[SIX * MF_ART_SITES], sides[2][SIX];
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++) {
        const mf_AssemblyEdge *loop = &all->loops[l];
        for (uint32_t s = 0; s < 2; s++) {
            const mf_AssemblyRobot *robot = &all->order[loop->robots[s]];
            mf_assembly_loads(all, robot, true, causes, sites);
            mf_assembly_accelerate(all, robot, &loop->frames[s], sites, causes, sides[s]);
        }
        for (uint32_t r = 0; r < SIX; r++)
            out[(SIX * (l - assembly->first_loop) + r) * stride] = sides[1][r] - sides[0][r];
    }
}

// What counts as held already, row by row.
static void find_least(const mf_Assemblies *all, const mf_Assembly *assembly, double part,
                       double *out) {
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++, out += SIX) {
        const mf_AssemblyEdge *loop = &all->loops[l];
        memset(out, 0, SIX * sizeof *out);
        for (uint32_t s = 0; s < 2; s++)
            mf_assembly_own_response(all, &all->order[loop->robots[s]], &loop->frames[s], out);
        for (uint32_t r = 0; r < SIX; r++)
            out[r] *= part;
    }
}

static bool is_wide(const mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        if (!all->order[i].anchored &&
            !all->order[i].group->assemblies->pieces->pick.double_precision)
            return false;
    return true;
}

static void place(const mf_Assemblies *all, const mf_Assembly *assembly, mf_AssemblyLoops *out) {
    double *scratch = mf_scratch_borrow(all->scratch);
    *out =
        (mf_AssemblyLoops){.m = scratch, .rows = SIX * (assembly->loop_end - assembly->first_loop)};
    out->soft = out->m + MOST * MOST;
    out->right = out->soft + MOST * MOST;
    out->pull = out->right + MOST;
    out->pivots = out->pull + MOST;
    out->soft_pivots = out->pivots + MOST;
    out->order = (uint32_t *)(void *)(out->soft_pivots + MOST);
}

static void exchange(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

// Exchanges rows and columns a < b of a matrix of which only the lower half counts.
static void exchange_rows(double *m, uint32_t rows, uint32_t a, uint32_t b) {
    for (uint32_t c = 0; c < a; c++)
        exchange(&m[rows * a + c], &m[rows * b + c]);
    for (uint32_t c = a + 1; c < b; c++)
        exchange(&m[rows * c + a], &m[rows * b + c]);
    for (uint32_t r = b + 1; r < rows; r++)
        exchange(&m[rows * r + a], &m[rows * r + b]);
    exchange(&m[(rows + 1) * a], &m[(rows + 1) * b]);
}

// L D L^T of `m` as mf_assembly_factor, but what gives way most, against `least`, is eliminated
// first. What is left of the others is then no more than rounding where they are held already; in
// another order a flat ring that is turned a little against the axes has small pivots that are
// real, and what cannot close is pulled by its inverse. `soft` and `least` are brought into the
// same order.
static void factor(double *m, double *soft, double *pivots, uint32_t rows, double *least,
                   uint32_t *order) {
    for (uint32_t r = 0; r < rows; r++)
        order[r] = r;
    for (uint32_t k = 0; k < rows; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < rows; i++)
            if (m[(rows + 1) * i] * least[best] > m[(rows + 1) * best] * least[i])
                best = i;
        if (best > k) {
            const uint32_t kept = order[k];
            order[k] = order[best];
            order[best] = kept;
            exchange(&least[k], &least[best]);
            exchange_rows(m, rows, k, best);
            exchange_rows(soft, rows, k, best);
        }
        const double pivot = m[(rows + 1) * k];
        pivots[k] = pivot > least[k] ? 1.0 / pivot : 0.0;
        for (uint32_t i = k + 1; i < rows && pivots[k] > 0.0; i++) {
            const double part = m[rows * i + k] * pivots[k];
            for (uint32_t j = k + 1; j <= i; j++)
                m[rows * i + j] -= part * m[rows * j + k];
        }
    }
}

// Solves in that order; `spare` has space for `rows` values.
static void divide(const double *m, const double *pivots, uint32_t rows, const uint32_t *order,
                   double *values, double *spare) {
    for (uint32_t r = 0; r < rows; r++)
        spare[r] = values[order[r]];
    mf_assembly_divide(m, pivots, rows, spare);
    for (uint32_t r = 0; r < rows; r++)
        values[order[r]] = spare[r];
}

static void clear(mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++)
        memset(all->loops[l].wrench, 0, sizeof all->loops[l].wrench);
}

void mf_assembly_open_loops(mf_Assemblies *all, const mf_Assembly *assembly,
                            mf_AssemblyLoops *out) {
    const uint32_t first = assembly->first_loop;
    *out = (mf_AssemblyLoops){.rows = 0};
    clear(all, assembly);
    if (assembly->loop_end == first)
        return;
    place(all, assembly, out);
    const uint32_t rows = out->rows;
    double *m = out->m, *least = out->right;
    for (uint32_t c = 0; c < rows; c++) {
        all->loops[first + c / SIX].wrench[c % SIX] = -1.0;
        mf_assembly_sweep(all, assembly, 0);
        measure(all, assembly, 0, m + c, rows);
        all->loops[first + c / SIX].wrench[c % SIX] = 0.0;
    }
    memcpy(out->soft, m, (size_t)rows * rows * sizeof *m);
    find_least(all, assembly, is_wide(all, assembly) ? 1e-9 : 1e-6, least);
    factor(m, out->soft, out->pivots, rows, least, out->order);
    // Softness must not make what is held look as if it gave way.
    for (uint32_t r = 0; r < rows; r++) {
        out->soft[(rows + 1) * r] *= 1.0 + closing_softness;
        least[r] = out->pivots[r] > 0.0 ? least[r] : (double)INFINITY;
    }
    mf_assembly_factor(out->soft, out->soft_pivots, rows, least);
}

void mf_assembly_answer(mf_Assemblies *all, const mf_Assembly *assembly,
                        const mf_AssemblyLoops *loops, unsigned causes) {
    const uint32_t first = assembly->first_loop;
    double *right = loops->right, *pull = loops->pull, spare[MOST];
    clear(all, assembly);
    mf_assembly_sweep(all, assembly, causes);
    if (loops->rows == 0)
        return;
    measure(all, assembly, causes, right, 1);
    for (uint32_t r = 0; r < loops->rows; r++) { // a push on the first is one back on the second
        const mf_AssemblyEdge *loop = &all->loops[first + r / SIX];
        const double part = (causes & MF_ASSEMBLY_FREE) != 0 ? 1.0 : 0.0;
        pull[r] = -part * loop->pull[r % SIX];
        right[r] -= part * (loop->correction[r % SIX] - loop->pull[r % SIX]);
    }
    divide(loops->m, loops->pivots, loops->rows, loops->order, right, spare);
    divide(loops->soft, loops->soft_pivots, loops->rows, loops->order, pull, spare);
    for (uint32_t r = 0; r < loops->rows; r++)
        all->loops[first + r / SIX].wrench[r % SIX] = right[r] + pull[r];
    mf_assembly_sweep(all, assembly, causes);
}

double mf_assembly_stuck(const mf_AssemblyEdge *loop) {
    double most = 0.0;
    for (uint32_t part = 0; part < SIX; part += 3) {
        const double size = mf_vec3_length(loop->open + part), *target = loop->pull + part;
        double closes[3];
        mf_vec3_sub(closes, target, loop->correction + part);
        if (size > open_most && size > most &&
            mf_vec3_dot(closes, target) < 0.1 * mf_vec3_dot(target, target))
            most = size;
    }
    return most;
}

void mf_assembly_leave_loops(mf_Assemblies *all, const mf_AssemblyLoops *loops) {
    if (loops->rows > 0)
        mf_scratch_return(all->scratch, loops->m);
}

void mf_assembly_close_loops(mf_Assemblies *all, const mf_Assembly *assembly) {
    mf_AssemblyLoops loops;
    mf_assembly_open_loops(all, assembly, &loops);
    mf_assembly_answer(all, assembly, &loops, MF_ASSEMBLY_ALL);
    mf_assembly_leave_loops(all, &loops);
}
