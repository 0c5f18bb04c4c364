// How a docked robot by itself answers to wrenches (assemblies.h): its response at its docks, and
// what all wrenches on it together do to a frame on it.
#include "solve/modules/assemblies.h"
#include "math/scalar.h"

#include <string.h>

enum { SIX = 6 };

// ---- a robot's own response ---------------------------------------------------------------------

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

// Roots of a robot's response at a frame: SIX values per degree of freedom.
static void roots_at(const mf_ArtPieces *pieces, const mf_AssemblyRobot *robot,
                     const mf_AssemblyFrame *frame, double *out) {
    mf_art_pieces_get_roots(pieces, robot->piece, robot->lane, frame->site, out);
    for (uint32_t i = 0; i < pieces->roots; i++, out += SIX) {
        double across[3];
        mf_vec3_cross(across, out, frame->arm);
        mf_vec3_add(out + 3, out + 3, across);
    }
}

void mf_assembly_own_response(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                              const mf_AssemblyFrame *frame, double out[SIX]) {
    const mf_ArtPieces *pieces;
    if (robot->anchored)
        return;
    mf_assembly_piece(all, robot, &pieces);
    double roots[SIX * MF_ART_ROOTS];
    roots_at(pieces, robot, frame, roots);
    for (uint32_t i = 0; i < pieces->roots; i++)
        for (uint32_t r = 0; r < SIX; r++)
            out[r] += roots[SIX * i + r] * roots[SIX * i + r];
}

static void fill_block(const double *to, const double *from, uint32_t width, double *block,
                       double *mirror, size_t stride) {
    double sum[SIX * SIX] = {0.0};
    for (uint32_t i = 0; i < width; i++, to += SIX, from += SIX)
        for (uint32_t r = 0; r < SIX; r++)
            for (uint32_t c = 0; c < SIX; c++)
                sum[SIX * r + c] += to[r] * from[c];
    for (uint32_t r = 0; r < SIX; r++)
        for (uint32_t c = 0; c < SIX; c++)
            block[r * stride + c] = mirror[c * stride + r] = sum[SIX * r + c];
}

// One that moves by itself does not give way.
static void fill_anchor(const mf_Assemblies *all, const mf_AssemblyRobot *robot, double *k,
                        double *b) {
    const size_t rows = SIX * robot->dock_count;
    memset(k, 0, rows * rows * sizeof *k);
    memset(b, 0, rows * sizeof *b);
    for (uint32_t i = 0; i < robot->dock_count; i++)
        mf_vec3_copy(b + SIX * i + 3, all->lift);
}

static void fill_matrix(const mf_Assemblies *all, const mf_AssemblyRobot *robot, double *k,
                        double *b) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    const uint32_t docks = robot->dock_count;
    const size_t stride = SIX * docks;
    double to[SIX * MF_ART_ROOTS], from[SIX * MF_ART_ROOTS];
    for (uint32_t i = 0; i < docks; i++) {
        const mf_AssemblyFrame *frame = mf_assembly_dock_frame(all, robot, i);
        double swirl[3], across[3];
        mf_art_pieces_get(pieces, piece->free, robot->lane, SIX * frame->site, SIX, b + SIX * i);
        mf_art_pieces_get(pieces, piece->swirl, robot->lane, 3 + 3 * frame->site, 3, swirl);
        move_rows(b + SIX * i, 1, 1, frame->arm);
        mf_vec3_cross(across, swirl, frame->arm);
        mf_vec3_cross(across, swirl, across);
        mf_vec3_add(b + SIX * i + 3, b + SIX * i + 3, across);
        roots_at(pieces, robot, frame, to);
        for (uint32_t j = 0; j <= i; j++) {
            if (j < i)
                roots_at(pieces, robot, mf_assembly_dock_frame(all, robot, j), from);
            fill_block(to, j < i ? from : to, pieces->roots, k + SIX * i * stride + SIX * j,
                       k + SIX * j * stride + SIX * i, stride);
        }
    }
}

void mf_assembly_fill(const mf_Assemblies *all, const mf_AssemblyRobot *robot, double *matrix) {
    double *bias = all->biases + robot->right;
    if (robot->anchored)
        fill_anchor(all, robot, matrix, bias);
    else
        fill_matrix(all, robot, matrix, bias);
}

// ---- loads and accelerations --------------------------------------------------------------------

static void add_load(const mf_AssemblyFrame *frame, const double wrench[SIX], double sign,
                     double *sites) {
    double across[3], *sum = sites + SIX * frame->site;
    mf_vec3_cross(across, frame->arm, wrench + 3);
    for (uint32_t c = 0; c < 3; c++) {
        sum[c] += sign * (wrench[c] + across[c]);
        sum[3 + c] += sign * wrench[3 + c];
    }
}

void mf_assembly_loads(const mf_Assemblies *all, const mf_AssemblyRobot *robot, bool tree,
                       unsigned causes, double *sites) {
    const mf_Assembly *assembly = &all->assemblies[robot->assembly];
    const uint32_t number = (uint32_t)(robot - all->order);
    memset(sites, 0, SIX * MF_ART_SITES * sizeof *sites);
    for (uint32_t d = 0; d < robot->dock_count && tree; d++) {
        const mf_AssemblyDock *dock = mf_assembly_dock(all, robot, d);
        const mf_AssemblyEdge *edge = &all->order[dock->edge].edge;
        add_load(&edge->frames[dock->side], edge->wrench, mf_assembly_dock_sign(dock), sites);
    }
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end && robot->looped; l++)
        for (uint32_t s = 0; s < 2; s++)
            if (all->loops[l].robots[s] == number)
                add_load(&all->loops[l].frames[s], all->loops[l].wrench, s == 0 ? 1.0 : -1.0,
                         sites);
    if (!robot->pressed || (causes & MF_ASSEMBLY_NODES) == 0)
        return;
    for (uint32_t n = assembly->first_node; n < assembly->node_end; n++)
        if (all->nodes[n].robot == number)
            add_load(&all->nodes[n].place, all->nodes[n].wrench, 1.0, sites);
}

void mf_assembly_accelerate(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                            const mf_AssemblyFrame *frame, const double *sites, unsigned causes,
                            double out[SIX]) {
    const bool whole = (causes & MF_ASSEMBLY_FREE) != 0;
    const mf_ArtPieces *pieces;
    if (robot->anchored) {
        mf_vec3_set(out, 0.0, 0.0, 0.0);
        mf_vec3_scale(out + 3, all->lift, whole ? 1.0 : 0.0);
        return;
    }
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    double roots[SIX * MF_ART_ROOTS], moves[MF_ART_ROOTS] = {0.0}, swirl[3], across[3];
    for (uint32_t k = 0; k < pieces->site_count; k++) {
        const double *push = sites + SIX * k;
        if (mf_vec3_dot(push, push) + mf_vec3_dot(push + 3, push + 3) == 0.0)
            continue;
        mf_art_pieces_get_roots(pieces, robot->piece, robot->lane, k, roots);
        for (uint32_t i = 0; i < pieces->roots; i++)
            for (uint32_t c = 0; c < SIX; c++)
                moves[i] += roots[SIX * i + c] * push[c];
    }
    mf_art_pieces_get_roots(pieces, robot->piece, robot->lane, frame->site, roots);
    for (uint32_t r = 0; r < SIX; r++)
        out[r] = 0.0;
    for (uint32_t i = 0; i < pieces->roots; i++)
        for (uint32_t r = 0; r < SIX; r++)
            out[r] += roots[SIX * i + r] * moves[i];
    if (whole) {
        double free[SIX];
        mf_art_pieces_get(pieces, piece->free, robot->lane, SIX * frame->site, SIX, free);
        for (uint32_t r = 0; r < SIX; r++)
            out[r] += free[r];
    }
    move_rows(out, 1, 1, frame->arm);
    if (!whole)
        return;
    mf_art_pieces_get(pieces, piece->swirl, robot->lane, 3 + 3 * frame->site, 3, swirl);
    mf_vec3_cross(across, swirl, frame->arm);
    mf_vec3_cross(across, swirl, across);
    mf_vec3_add(out + 3, out + 3, across);
}
