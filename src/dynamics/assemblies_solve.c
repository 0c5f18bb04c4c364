// The wrenches of docks of an assembly (assemblies.h), by 6 x 6 blocks from the leaves to the root
// and back: the articulated-body algorithm over whole robots, in time proportional to their number.
//
// In the matrix of a robot its edge is the first dock, its children's edges follow. Children are
// taken out last to first: with S = K_cc + response of the child
//     f_c = S^-1 (bias of the child - correction - b_c - sum of K_cr f_r)
// over the docks r before c; the rest gets K_rr - K_rc S^-1 K_cr. What the way back needs stays in
// the rows of c.
#include "dynamics/assemblies.h"
#include "math/scalar.h"

#include <string.h>

enum { SIX = 6 };

// [1] A pivot below this part of what it began with is rounding: nothing gives way there.
static const double dead_part = 1e-13;

// ---- 6 x 6 --------------------------------------------------------------------------------------

// L D L^T of a symmetric matrix, in its lower half; pivots that vanish get the inverse 0.
static void factor(double m[SIX * SIX], double inverse[SIX]) {
    double whole[SIX];
    for (uint32_t k = 0; k < SIX; k++)
        whole[k] = m[(SIX + 1) * k];
    for (uint32_t k = 0; k < SIX; k++) {
        const double pivot = m[(SIX + 1) * k];
        inverse[k] = pivot > dead_part * whole[k] ? 1.0 / pivot : 0.0;
        for (uint32_t i = k + 1; i < SIX; i++) {
            const double part = m[SIX * i + k] * inverse[k];
            for (uint32_t j = k + 1; j <= i; j++)
                m[SIX * i + j] -= part * m[SIX * j + k];
        }
    }
}

// x of m x = r in place, `count` columns of r side by side, rows `stride` apart.
static void solve(const double m[SIX * SIX], const double inverse[SIX], double *r, uint32_t count,
                  size_t stride) {
    for (uint32_t k = 0; k < SIX; k++) {
        for (uint32_t i = k + 1; i < SIX; i++) {
            const double part = m[SIX * i + k] * inverse[k];
            for (uint32_t c = 0; c < count; c++)
                r[i * stride + c] -= part * r[k * stride + c];
        }
        for (uint32_t c = 0; c < count; c++)
            r[k * stride + c] *= inverse[k];
    }
    for (uint32_t k = SIX; k-- > 0;)
        for (uint32_t i = k + 1; i < SIX; i++) {
            const double part = m[SIX * i + k] * inverse[k];
            for (uint32_t c = 0; c < count; c++)
                r[k * stride + c] -= part * r[i * stride + c];
        }
}

// ---- a robot's own response ---------------------------------------------------------------------

static const mf_AssemblyPlace *place_of(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                                        uint32_t dock) {
    const bool child = robot->parent != MF_NONE;
    if (child && dock == 0)
        return &robot->own;
    return &all->order[robot->first_child + dock - child].on;
}

static uint32_t dock_count(const mf_AssemblyRobot *robot) {
    return robot->child_count + (robot->parent != MF_NONE);
}

// Rows of an acceleration of the link's origin, to those of a point at `arm`: a + alpha x arm.
static void move_rows(double *rows, uint32_t count, size_t stride, const double arm[3]) {
    for (uint32_t c = 0; c < count; c++) {
        double angular[3], across[3];
        for (uint32_t r = 0; r < 3; r++)
            angular[r] = rows[r * stride + c];
        mf_vec3_cross(across, angular, arm);
        for (uint32_t r = 0; r < 3; r++)
            rows[(3 + r) * stride + c] += across[r];
    }
}

// Columns of a wrench about the origin, to those of one about a point: torque + arm x force.
static void move_columns(double *block, size_t stride, const double arm[3]) {
    for (uint32_t r = 0; r < SIX; r++) {
        double *row = block + r * stride, torque[3], across[3];
        for (uint32_t c = 0; c < 3; c++)
            torque[c] = row[c];
        mf_vec3_cross(across, torque, arm);
        for (uint32_t c = 0; c < 3; c++)
            row[3 + c] += across[c];
    }
}

// Block (i, j) of the matrix between docks, from the response between their sites; it is symmetric.
static void fill_block(const double *response, uint32_t width, const mf_AssemblyPlace *to,
                       const mf_AssemblyPlace *from, double *block, double *mirror, size_t stride) {
    for (uint32_t r = 0; r < SIX; r++)
        memcpy(block + r * stride, response + (SIX * to->site + r) * width + SIX * from->site,
               SIX * sizeof(double));
    move_rows(block, SIX, stride, to->arm);
    move_columns(block, stride, from->arm);
    for (uint32_t r = 0; r < SIX && block != mirror; r++)
        for (uint32_t c = 0; c < SIX; c++)
            mirror[c * stride + r] = block[r * stride + c];
}

static void fill_matrix(const mf_Assemblies *all, const mf_AssemblyRobot *robot, double *k,
                        double *b) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    const uint32_t docks = dock_count(robot), width = SIX * pieces->site_count;
    const size_t stride = SIX * docks;
    double response[SIX * MF_ART_SITES * SIX * MF_ART_SITES];
    mf_art_pieces_get(pieces, piece->response, robot->lane, 0, width * width, response);
    for (uint32_t i = 0; i < docks; i++) {
        const mf_AssemblyPlace *to = place_of(all, robot, i);
        double swirl[3], across[3];
        mf_art_pieces_get(pieces, piece->free, robot->lane, SIX * to->site, SIX, b + SIX * i);
        mf_art_pieces_get(pieces, piece->swirl, robot->lane, 3 + 3 * to->site, 3, swirl);
        move_rows(b + SIX * i, 1, 1, to->arm);
        mf_vec3_cross(across, swirl, to->arm);
        mf_vec3_cross(across, swirl, across);
        mf_vec3_add(b + SIX * i + 3, b + SIX * i + 3, across);
        for (uint32_t j = 0; j <= i; j++)
            fill_block(response, width, to, place_of(all, robot, j), k + SIX * i * stride + SIX * j,
                       k + SIX * j * stride + SIX * i, stride);
    }
}

// ---- inward and outward -------------------------------------------------------------------------

// Takes dock c, behind which `child` is, out of the matrix.
static void take_out(double *k, double *b, size_t stride, uint32_t c,
                     const mf_AssemblyRobot *child) {
    double *rows = k + SIX * c * stride, *right = b + SIX * c;
    double s[SIX * SIX], inverse[SIX], before[SIX];
    for (uint32_t r = 0; r < SIX; r++) {
        for (uint32_t j = 0; j < SIX; j++)
            s[SIX * r + j] = rows[r * stride + SIX * c + j] + child->response[SIX * r + j];
        right[r] = child->bias[r] - child->correction[r] - right[r];
    }
    factor(s, inverse);
    solve(s, inverse, right, 1, 1);
    solve(s, inverse, rows, SIX * c, stride);
    for (uint32_t r = 0; r < SIX * c; r++) { // K_rc is in the columns of c
        const double *across = k + r * stride + SIX * c;
        memcpy(before, across, sizeof before);
        for (uint32_t q = 0; q < SIX; q++) {
            b[r] += before[q] * right[q];
            for (uint32_t j = 0; j < SIX * c; j++)
                k[r * stride + j] -= before[q] * rows[q * stride + j];
        }
    }
}

static void go_in(mf_Assemblies *all, mf_AssemblyRobot *robot) {
    const bool child = robot->parent != MF_NONE;
    const uint32_t docks = dock_count(robot);
    const size_t stride = SIX * docks;
    double *k = all->matrices + robot->values, *b = all->rights + robot->right;
    for (uint32_t c = docks; c-- > child;)
        take_out(k, b, stride, c, &all->order[robot->first_child + c - child]);
    for (uint32_t r = 0; r < SIX && child; r++) {
        memcpy(&robot->response[SIX * r], k + r * stride, SIX * sizeof(double));
        robot->bias[r] = b[r];
    }
}

// Wrenches on the sites of a robot, about the links' origins.
static void add_to_site(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                        const mf_AssemblyPlace *place, const double wrench[SIX], double sign) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    double sum[SIX], across[3];
    mf_art_pieces_get(pieces, piece->wrench, robot->lane, SIX * place->site, SIX, sum);
    mf_vec3_cross(across, place->arm, wrench + 3);
    for (uint32_t c = 0; c < 3; c++) {
        sum[c] += sign * (wrench[c] + across[c]);
        sum[3 + c] += sign * wrench[3 + c];
    }
    mf_art_pieces_set(pieces, piece->wrench, robot->lane, SIX * place->site, SIX, sum);
}

static void go_out(mf_Assemblies *all, mf_AssemblyRobot *robot) {
    const bool child = robot->parent != MF_NONE;
    const uint32_t docks = dock_count(robot);
    const size_t stride = SIX * docks;
    const double *k = all->matrices + robot->values, *b = all->rights + robot->right;
    if (child)
        add_to_site(all, robot, &robot->own, robot->wrench, -1.0);
    for (uint32_t c = child; c < docks; c++) {
        mf_AssemblyRobot *other = &all->order[robot->first_child + c - child];
        for (uint32_t r = 0; r < SIX; r++) {
            const double *row = k + (SIX * c + r) * stride;
            double sum = b[SIX * c + r];
            for (uint32_t j = 0; j < SIX * c; j++) {
                const uint32_t dock = j / SIX;
                const double force =
                    child && dock == 0
                        ? -robot->wrench[j]
                        : all->order[robot->first_child + dock - child].wrench[j % SIX];
                sum -= row[j] * force;
            }
            other->wrench[r] = sum;
        }
        add_to_site(all, robot, &other->on, other->wrench, 1.0);
    }
}

static void clear_sites(const mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    static const double none[SIX * MF_ART_SITES] = {0.0};
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    mf_art_pieces_set(pieces, piece->wrench, robot->lane, 0, SIX * pieces->site_count, none);
}

void mf_assembly_fill(mf_Assemblies *all, uint32_t robot) {
    mf_AssemblyRobot *own = &all->order[robot];
    clear_sites(all, own);
    fill_matrix(all, own, all->matrices + own->values, all->rights + own->right);
}

void mf_assembly_solve(mf_Assemblies *all, mf_Assembly *assembly) {
    for (uint32_t i = assembly->end; i-- > assembly->first;)
        go_in(all, &all->order[i]);
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        go_out(all, &all->order[i]);
    assembly->rounds++;
}
