// The wrenches of docks of an assembly (assemblies.h), by 6 x 6 blocks from the leaves to the root
// and back: the articulated-body algorithm over whole robots, in time proportional to their number.
//
// In the matrix of a robot its edge is the first dock, its children's edges follow. Children are
// taken out last to first: with S = K_cc + response of the child
//     f_c = S^-1 (bias of the child - correction - b_c - sum of K_cr f_r)
// over the docks r before c; the rest gets K_rr - K_rc S^-1 K_cr. What the way back needs stays in
// the rows of c, and K_rc in its columns, for further right sides. Of robots in branches only these
// blocks are kept: with many robots it is memory that takes the time.
#include "solve/modules/assemblies.h"
#include "math/scalar.h"

#include <string.h>

enum {
    SIX = 6,
    BLOCK = SIX * SIX,
    FEW = 6 // [1] docks of a robot of which only blocks are kept
};

// [1] A pivot below this part of what it began with is rounding: nothing gives way there.
static const double dead_part = 1e-13;

// ---- L D L^T ------------------------------------------------------------------------------------

// With a constant size compilers take the loops apart.
static inline __attribute__((always_inline)) void factor(double *m, double *inverse, uint32_t size,
                                                         const double *least) {
    for (uint32_t k = 0; k < size; k++) {
        const double pivot = m[(size + 1) * k];
        inverse[k] = pivot > least[k] ? 1.0 / pivot : 0.0;
        for (uint32_t i = k + 1; i < size; i++) {
            const double factor = m[size * i + k] * inverse[k];
            for (uint32_t j = k + 1; j <= i; j++)
                m[size * i + j] -= factor * m[size * j + k];
        }
    }
}

static inline __attribute__((always_inline)) void divide(const double *m, const double *inverse,
                                                         uint32_t size, double *r, uint32_t count,
                                                         size_t stride) {
    for (uint32_t k = 0; k < size; k++) {
        for (uint32_t i = k + 1; i < size; i++) {
            const double factor = m[size * i + k] * inverse[k];
            for (uint32_t c = 0; c < count; c++)
                r[i * stride + c] -= factor * r[k * stride + c];
        }
        for (uint32_t c = 0; c < count; c++)
            r[k * stride + c] *= inverse[k];
    }
    for (uint32_t k = size; k-- > 0;)
        for (uint32_t i = k + 1; i < size; i++) {
            const double factor = m[size * i + k] * inverse[k];
            for (uint32_t c = 0; c < count; c++)
                r[k * stride + c] -= factor * r[i * stride + c];
        }
}

void mf_assembly_factor(double *m, double *inverse, uint32_t size, const double *least) {
    factor(m, inverse, size, least);
}

void mf_assembly_divide(const double *m, const double *inverse, uint32_t size, double *r) {
    divide(m, inverse, size, r, 1, 1);
}

// ---- blocks -------------------------------------------------------------------------------------

// The matrix of a robot's docks.
typedef struct Matrix {
    double *values;
    size_t stride; // [1] of rows; 0: of docks c > d only blocks (c, d) and (d, c), one pair after
                   // the other
} Matrix;

static bool keeps_blocks(const mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    return all->assemblies[robot->assembly].branched && !robot->middle && robot->dock_count <= FEW;
}

static Matrix matrix_of(const mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    return (Matrix){all->matrices + robot->values,
                    keeps_blocks(all, robot) ? 0 : SIX * (size_t)robot->dock_count};
}

static double *block_at(const Matrix *matrix, uint32_t c, uint32_t d, size_t *stride) {
    *stride = matrix->stride > 0 ? matrix->stride : SIX;
    if (matrix->stride > 0)
        return matrix->values + SIX * c * matrix->stride + SIX * d;
    const size_t pair = c > d ? c * (c - 1) / 2 + d : d * (d - 1) / 2 + c;
    return matrix->values + BLOCK * (2 * pair + (c < d));
}

static void copy_block(const Matrix *to, const Matrix *from, uint32_t c, uint32_t d) {
    size_t stride_to, stride;
    double *out = block_at(to, c, d, &stride_to);
    const double *in = block_at(from, c, d, &stride);
    for (uint32_t r = 0; r < SIX; r++)
        memcpy(out + r * stride_to, in + r * stride, SIX * sizeof *out);
}

// What of the matrix is needed again: that of further right sides only where there are any.
static void keep_blocks(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                        const Matrix *from) {
    const mf_Assembly *assembly = &all->assemblies[robot->assembly];
    const bool further =
        assembly->loop_end > assembly->first_loop || assembly->node_end > assembly->first_node;
    const Matrix to = matrix_of(all, robot);
    for (uint32_t c = 1; c < robot->dock_count; c++)
        for (uint32_t d = 0; d < c; d++) {
            copy_block(&to, from, c, d);
            if (further)
                copy_block(&to, from, d, c);
        }
}

static void divide_by(const double half[MF_ASSEMBLY_HALF], double *r, uint32_t count) {
    double m[BLOCK], inverse[SIX];
    for (uint32_t i = 0; i < SIX; i++, half++) {
        for (uint32_t k = 0; k < i; k++)
            m[SIX * i + k] = *half++;
        inverse[i] = *half;
    }
    if (count == 1)
        divide(m, inverse, SIX, r, 1, 1);
    else
        divide(m, inverse, SIX, r, SIX, SIX);
}

// ---- inward and outward -------------------------------------------------------------------------

static mf_AssemblyStem *stem_of(const mf_Assemblies *all, uint32_t robot) {
    return &all->stems[all->order[robot].stem];
}

static void factor_stem(const double *rows, size_t stride, mf_AssemblyStem *child) {
    double m[BLOCK], least[SIX], inverse[SIX], *half = child->factor;
    const double *response = child->response;
    for (uint32_t r = 0; r < SIX; r++)
        for (uint32_t j = 0; j <= r; j++)
            m[SIX * r + j] = rows[r * stride + j] + *response++;
    for (uint32_t r = 0; r < SIX; r++)
        least[r] = dead_part * m[(SIX + 1) * r];
    factor(m, inverse, SIX, least);
    for (uint32_t r = 0; r < SIX; r++) {
        for (uint32_t j = 0; j < r; j++)
            *half++ = m[SIX * r + j];
        *half++ = inverse[r];
    }
}

// Takes dock c, behind which `child` is, out of the matrix, six columns at a time.
static void take_out(double *k, size_t stride, uint32_t c, mf_AssemblyStem *child) {
    double *rows = k + SIX * c * stride, before[BLOCK], block[BLOCK];
    factor_stem(rows + SIX * c, stride, child);
    for (uint32_t d = 0; d < c; d++) {
        for (uint32_t r = 0; r < SIX; r++)
            memcpy(block + SIX * r, rows + r * stride + SIX * d, SIX * sizeof(double));
        divide_by(child->factor, block, SIX);
        for (uint32_t r = 0; r < SIX; r++)
            memcpy(rows + r * stride + SIX * d, block + SIX * r, SIX * sizeof(double));
        for (uint32_t e = 0; e < c; e++) { // K_ec is in the columns of c
            double *to = k + SIX * e * stride + SIX * d;
            for (uint32_t r = 0; r < SIX; r++)
                memcpy(before + SIX * r, k + (SIX * e + r) * stride + SIX * c,
                       SIX * sizeof(double));
            for (uint32_t r = 0; r < SIX; r++)
                for (uint32_t q = 0; q < SIX; q++)
                    for (uint32_t j = 0; j < SIX; j++)
                        to[r * stride + j] -= before[SIX * r + q] * block[SIX * q + j];
        }
    }
}

static void eliminate(mf_Assemblies *all, const mf_AssemblyRobot *robot, double *k) {
    const uint32_t first = robot->middle ? 0 : 1;
    const size_t stride = SIX * robot->dock_count;
    double *response = all->stems[robot->stem].response;
    for (uint32_t c = robot->dock_count; c-- > first;)
        take_out(k, stride, c, stem_of(all, mf_assembly_dock(all, robot, c)->other));
    for (uint32_t r = 0; r < SIX && !robot->middle; r++)
        for (uint32_t j = 0; j <= r; j++)
            *response++ = k[r * stride + j];
}

// Accelerations of a robot's docks without their wrenches.
static void begin_right(const mf_Assemblies *all, const mf_AssemblyRobot *robot, unsigned causes,
                        double *b) {
    const uint32_t docks = robot->dock_count;
    const double *bias = all->biases + robot->right;
    double sites[SIX * MF_ART_SITES], more[SIX];
    for (uint32_t r = 0; r < SIX * docks; r++)
        b[r] = (causes & MF_ASSEMBLY_FREE) != 0 ? bias[r] : 0.0;
    if (robot->anchored || (!robot->looped && !robot->pressed))
        return;
    mf_assembly_loads(all, robot, false, causes, sites);
    for (uint32_t i = 0; i < docks; i++) {
        mf_assembly_accelerate(all, robot, mf_assembly_dock_frame(all, robot, i), sites, 0, more);
        for (uint32_t r = 0; r < SIX; r++)
            b[SIX * i + r] += more[r];
    }
}

static void go_in(mf_Assemblies *all, const mf_AssemblyRobot *robot, const Matrix *matrix,
                  unsigned causes) {
    const uint32_t first = robot->middle ? 0 : 1;
    double *b = all->rights + robot->right;
    begin_right(all, robot, causes, b);
    for (uint32_t c = robot->dock_count; c-- > first;) {
        const mf_AssemblyDock *dock = mf_assembly_dock(all, robot, c);
        const mf_AssemblyStem *other = stem_of(all, dock->other);
        const double *correction = all->order[dock->edge].edge.correction;
        const double sign = (causes & MF_ASSEMBLY_FREE) != 0 ? mf_assembly_dock_sign(dock) : 0.0;
        double *right = b + SIX * c;
        for (uint32_t r = 0; r < SIX; r++)
            right[r] = other->bias[r] - sign * correction[r] - right[r];
        divide_by(other->factor, right, 1);
        for (uint32_t d = 0; d < c; d++) {
            size_t stride;
            const double *k = block_at(matrix, d, c, &stride);
            for (uint32_t r = 0; r < SIX; r++)
                for (uint32_t q = 0; q < SIX; q++)
                    b[SIX * d + r] += k[r * stride + q] * right[q];
        }
    }
    for (uint32_t r = 0; r < SIX && !robot->middle; r++)
        all->stems[robot->stem].bias[r] = b[r];
}

static void go_out(mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    const Matrix matrix = matrix_of(all, robot);
    const double *b = all->rights + robot->right;
    for (uint32_t c = robot->middle ? 0 : 1; c < robot->dock_count; c++) {
        const mf_AssemblyDock *dock = mf_assembly_dock(all, robot, c);
        double sum[SIX], *wrench = all->order[dock->edge].edge.wrench;
        memcpy(sum, b + SIX * c, sizeof sum);
        for (uint32_t j = 0; j < c; j++) {
            const mf_AssemblyDock *before = mf_assembly_dock(all, robot, j);
            const double *force = all->order[before->edge].edge.wrench;
            size_t stride;
            const double *k = block_at(&matrix, c, j, &stride);
            for (uint32_t r = 0; r < SIX; r++)
                for (uint32_t q = 0; q < SIX; q++)
                    sum[r] -= k[r * stride + q] * mf_assembly_dock_sign(before) * force[q];
        }
        for (uint32_t r = 0; r < SIX; r++)
            wrench[r] = mf_assembly_dock_sign(dock) * sum[r];
    }
}

static mf_AssemblyRobot *robot_at(const mf_Assemblies *all, uint32_t at) {
    return &all->order[all->sequence[at]];
}

void mf_assembly_sweep(mf_Assemblies *all, const mf_Assembly *assembly, unsigned causes) {
    for (uint32_t i = assembly->end; i-- > assembly->first;) {
        const Matrix matrix = matrix_of(all, robot_at(all, i));
        go_in(all, robot_at(all, i), &matrix, causes);
    }
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        go_out(all, robot_at(all, i));
}

// ---- an assembly --------------------------------------------------------------------------------

static void store_loads(const mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    const mf_ArtPieces *pieces;
    double sites[SIX * MF_ART_SITES];
    if (robot->anchored)
        return;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    mf_assembly_loads(all, robot, true, MF_ASSEMBLY_ALL, sites);
    mf_art_pieces_set(pieces, piece->wrench, robot->lane, 0, SIX * pieces->site_count, sites);
}

static bool has_loops(const mf_Assembly *assembly) {
    return assembly->loop_end > assembly->first_loop;
}

void mf_assembly_branch_in(mf_Assemblies *all, const mf_AssemblyBranch *branch) {
    const bool loops = has_loops(&all->assemblies[branch->assembly]);
    for (uint32_t i = branch->end; i-- > branch->first;) {
        const mf_AssemblyRobot *robot = robot_at(all, i);
        double few[SIX * FEW * SIX * FEW];
        const Matrix kept = matrix_of(all, robot);
        const Matrix matrix = {kept.stride == 0 ? few : kept.values, SIX * robot->dock_count};
        mf_assembly_fill(all, robot, matrix.values);
        eliminate(all, robot, matrix.values);
        if (!loops)
            go_in(all, robot, &matrix, MF_ASSEMBLY_ALL);
        if (kept.stride == 0)
            keep_blocks(all, robot, &matrix);
    }
}

void mf_assembly_branch_out(mf_Assemblies *all, const mf_AssemblyBranch *branch) {
    const bool loops = has_loops(&all->assemblies[branch->assembly]);
    for (uint32_t i = branch->first; i < branch->end; i++) {
        if (!loops)
            go_out(all, robot_at(all, i));
        store_loads(all, robot_at(all, i));
    }
}

void mf_assembly_solve(mf_Assemblies *all, mf_Assembly *assembly) {
    const mf_AssemblyRobot *middle = robot_at(all, assembly->first);
    const uint32_t end = assembly->branched ? assembly->first + 1 : assembly->end;
    const Matrix matrix = matrix_of(all, middle);
    if (assembly->branched)
        mf_assembly_fill(all, middle, matrix.values);
    for (uint32_t i = end; i-- > assembly->first;)
        eliminate(all, robot_at(all, i), all->matrices + robot_at(all, i)->values);
    if (assembly->branched && !has_loops(assembly)) {
        go_in(all, middle, &matrix, MF_ASSEMBLY_ALL);
        go_out(all, middle);
    } else {
        mf_assembly_close_loops(all, assembly);
    }
    for (uint32_t i = assembly->first; i < end; i++)
        store_loads(all, robot_at(all, i));
    assembly->rounds++;
}
