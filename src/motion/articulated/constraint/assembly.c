// The host's side of steps of assemblies (assembly.h): which robots can, and the pieces of a
// group.
#include "motion/articulated/constraint/assembly.h"
#include "world/attach.h"
#include "motion/articulated/constraint/pieces.h"
#include "math/kernel_table.h"
#include "motion/articulated/build.h"

#include <string.h>

bool mf_art_assembles(const mf_ArtPlan *plan) {
    return plan->integrator == MF_ARTICULATED_IMPLICIT && !plan->law && !plan->hard &&
           plan->loop_count == 0 && plan->tendon_count == 0 && plan->ball_count == 0 &&
           6 + plan->link_count <= MF_ART_ROOTS;
}

void mf_art_set_carried(const mf_Group *group, const uint32_t *words) {
    // The group owns its motion; the caller only has it for reading.
    mf_ArtMotion *motion = (mf_ArtMotion *)(uintptr_t)mf_art_motion_of(group);
    motion->dispatch.carried = words;
}

// ---- memory -------------------------------------------------------------------------------------

// Rows of the values of a piece, and where each begins.
typedef struct Layout {
    uint32_t swirl, pose, free, roots, wrench, whole, unsettled, flags, rows;
} Layout;

static Layout layout_of(uint32_t sites, uint32_t roots) {
    Layout at;
    at.swirl = 0;
    at.pose = at.swirl + 3 + 3 * sites;
    at.free = at.pose + MF_ART_SITE_POSE * sites;
    at.wrench = at.free + MF_ART_SITE_MOTION * sites;
    at.whole = at.wrench + MF_ART_SITE_WRENCH * sites;
    at.unsettled = at.whole + 2 * MF_ART_WHOLE_VALUES + 7;
    at.roots = at.unsettled + 3;
    at.flags = at.roots + 6 * sites * roots;
    at.rows = at.flags + 2; // faults too
    return at;
}

static size_t row_bytes(const mf_ArtPieces *pieces) {
    const size_t bytes = pieces->lanes * sizeof(double);
    return (bytes + 63) / 64 * 64; // wide loads are aligned
}

static size_t piece_bytes(const mf_ArtPieces *pieces) {
    return pieces->piece_size +
           layout_of(pieces->site_count, pieces->roots).rows * row_bytes(pieces);
}

static size_t scratch_size_of(const mf_ArtPieces *pieces, bool passing) {
    static const mf_ArtScratchFn table[][MF_KERNEL_ROWS][2] = {
        MF_KERNEL_TABLE(mf_articulated_assembly_scratch_size),
        MF_KERNEL_TABLE(mf_articulated_assembly_passing),
    };
    const size_t capacity =
        table[passing][pieces->pick.wide][pieces->pick.double_precision](pieces->motion->plan);
    return (capacity + 63) / 64 * 64;
}

static void *row_at(const mf_ArtPieces *pieces, char *memory, uint32_t row) {
    return memory + pieces->piece_size + row * row_bytes(pieces);
}

static void place(mf_ArtPieces *pieces, uint32_t p) {
    const Layout at = layout_of(pieces->site_count, pieces->roots);
    char *memory = pieces->memory + p * piece_bytes(pieces);
    memory += (64 - (uintptr_t)pieces->memory % 64) % 64;
    mf_ArtAssembly *piece = &pieces->pieces[p];
    *piece = (mf_ArtAssembly){.sites = pieces->sites,
                              .site_count = pieces->site_count,
                              .swirl = row_at(pieces, memory, at.swirl),
                              .pose = row_at(pieces, memory, at.pose),
                              .free = row_at(pieces, memory, at.free),
                              .roots = row_at(pieces, memory, at.roots),
                              .wrench = row_at(pieces, memory, at.wrench),
                              .whole = row_at(pieces, memory, at.whole),
                              .unsettled = row_at(pieces, memory, at.unsettled),
                              .flags = row_at(pieces, memory, at.flags)};
    pieces->shown[p] = row_at(pieces, memory, at.flags + 1);
    pieces->memories[p] = memory;
}

mf_Status mf_art_pieces_reserve(mf_ArtPieces *pieces, mf_Error *error) {
    const size_t capacity = scratch_size_of(pieces, false), passing = scratch_size_of(pieces, true);
    if (capacity == pieces->piece_size && passing == pieces->passing && pieces->memory != NULL)
        return MF_OK;
    pieces->piece_size = capacity;
    pieces->passing = passing;
    mf_scratch_destroy(pieces->context, pieces->scratch);
    mf_release(pieces->context, pieces->memory);
    pieces->memory = NULL;
    MF_TRY(mf_scratch_create(pieces->context, passing, pieces->count, &pieces->scratch, error));
    pieces->memory =
        mf_allocate(pieces->context, pieces->count * piece_bytes(pieces) + 64, sizeof(char));
    if (pieces->memory == NULL)
        return mf_fail(error, MF_NO_MEMORY, "assemblies: no memory for their steps");
    for (uint32_t p = 0; p < pieces->count; p++)
        place(pieces, p);
    return MF_OK;
}

static uint32_t add_site(mf_ArtPieces *pieces, int32_t link) {
    for (uint32_t i = 0; i < pieces->site_count; i++)
        if (pieces->sites[i] == link)
            return i;
    if (pieces->site_count == MF_ART_SITES)
        return MF_NONE;
    pieces->sites[pieces->site_count] = link;
    mf_art_mark_posed(pieces->motion, link);
    return pieces->site_count++;
}

uint32_t mf_art_pieces_site(const mf_ArtPieces *pieces, uint32_t link) {
    const int32_t needed = pieces->motion->frames[link].link;
    for (uint32_t i = 0; i < pieces->site_count; i++)
        if (pieces->sites[i] == needed)
            return i;
    return MF_NONE;
}

static mf_Status allocate(mf_ArtPieces *pieces, const mf_Group *group, mf_Error *error) {
    const uint32_t per_block = (MF_BLOCK + pieces->lanes - 1) / pieces->lanes;
    pieces->per_block = per_block;
    pieces->count = mf_group_block_count(group) * per_block;
    const mf_Array arrays[] = {MF_ARRAY(pieces->pieces, pieces->count),
                               MF_ARRAY(pieces->shown, pieces->count),
                               MF_ARRAY(pieces->memories, pieces->count)};
    if (!mf_allocate_arrays(pieces->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "assemblies: no memory for their steps");
    return mf_art_pieces_reserve(pieces, error);
}

mf_Status mf_art_pieces_create(mf_Context *context, mf_Group *group, mf_ArtPieces **out,
                               uint32_t *sites, uint32_t count, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    *out = NULL;
    if (motion == NULL || !mf_art_assembles(motion->plan))
        return MF_OK;
    mf_ArtPieces *pieces = mf_allocate(context, 1, sizeof *pieces);
    MF_NEED_MEMORY(pieces != NULL, error, "assemblies");
    pieces->context = context;
    pieces->motion = (mf_ArtMotion *)(uintptr_t)motion; // sites are marked in it
    pieces->pick = mf_dispatch_kernels(group);
    pieces->lanes = pieces->pick.lanes;
    pieces->roots = 6 + motion->plan->link_count;
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++) {
        sites[i] = add_site(pieces, motion->frames[sites[i]].link);
        fits = sites[i] != MF_NONE;
    }
    for (uint32_t s = 0; s < model->shape_count; s++)
        if (model->shapes[s].collides && model->shapes[s].link != MF_NONE)
            add_site(pieces, motion->frames[model->shapes[s].link].link);
    mf_Status status = fits ? allocate(pieces, group, error) : MF_OK;
    if (!fits || status != MF_OK) {
        mf_art_pieces_destroy(pieces);
        return status;
    }
    *out = pieces;
    return MF_OK;
}

void mf_art_pieces_destroy(mf_ArtPieces *pieces) {
    if (pieces == NULL)
        return;
    mf_release(pieces->context, pieces->pieces);
    mf_release(pieces->context, pieces->memory);
    mf_scratch_destroy(pieces->context, pieces->scratch);
    mf_release(pieces->context, pieces);
}

// ---- stages -------------------------------------------------------------------------------------

typedef void (*Stage)(const mf_ArtAssembly *piece);

void mf_art_pieces_run(const mf_ArtPieces *pieces, uint32_t p, mf_ArtStage stage) {
    static const Stage table[][MF_KERNEL_ROWS][2] = {
        MF_KERNEL_TABLE(mf_articulated_assembly_begin),
        MF_KERNEL_TABLE(mf_articulated_assembly_look),
        MF_KERNEL_TABLE(mf_articulated_assembly_respond),
        MF_KERNEL_TABLE(mf_articulated_assembly_push),
        MF_KERNEL_TABLE(mf_articulated_assembly_revise),
        MF_KERNEL_TABLE(mf_articulated_assembly_finish),
        MF_KERNEL_TABLE(mf_articulated_assembly_fly),
    };
    mf_ArtAssembly *piece = &pieces->pieces[p];
    piece->passing = mf_scratch_borrow(pieces->scratch);
    table[stage][pieces->pick.wide][pieces->pick.double_precision](piece);
    mf_scratch_return(pieces->scratch, piece->passing);
}

void mf_art_pieces_bind(const mf_ArtPieces *pieces, uint32_t p, const bool *taken, uint32_t used) {
    const uint32_t block = p / pieces->per_block, lane = p % pieces->per_block * pieces->lanes;
    const uint32_t *fault =
        (const uint32_t *)pieces->motion->dispatch.fault->data + (size_t)block * MF_BLOCK + lane;
    uint32_t *shown = pieces->shown[p];
    for (uint32_t i = 0; i < pieces->lanes; i++)
        shown[i] = taken[i] ? fault[i] : MF_ART_HIDDEN;
    pieces->pieces[p].used = used;
    const mf_DispatchUnit unit = {block, lane, false, shown, pieces->memories[p]};
    mf_art_bind_block(pieces->motion, &unit, &pieces->pieces[p].block);
}

void mf_art_pieces_release(const mf_ArtPieces *pieces, uint32_t p, uint32_t lane) {
    pieces->shown[p][lane] = MF_ART_HIDDEN;
}

void mf_art_pieces_keep_faults(const mf_ArtPieces *pieces, uint32_t p) {
    const uint32_t block = p / pieces->per_block, lane = p % pieces->per_block * pieces->lanes;
    uint32_t *fault =
        (uint32_t *)pieces->motion->dispatch.fault->data + (size_t)block * MF_BLOCK + lane;
    for (uint32_t i = 0; i < pieces->lanes; i++)
        if (pieces->shown[p][i] != MF_ART_HIDDEN)
            fault[i] |= pieces->shown[p][i];
}

static double value_at(const mf_ArtPieces *pieces, const void *values, uint32_t lane, size_t row) {
    const size_t at = row * pieces->lanes + lane;
    return pieces->pick.double_precision ? ((const double *)values)[at]
                                         : (double)((const float *)values)[at];
}

void mf_art_pieces_get(const mf_ArtPieces *pieces, const void *values, uint32_t lane,
                       uint32_t first, uint32_t count, double *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = value_at(pieces, values, lane, first + i);
}

void mf_art_pieces_set(const mf_ArtPieces *pieces, void *values, uint32_t lane, uint32_t first,
                       uint32_t count, const double *in) {
    const size_t lanes = pieces->lanes, from = first * lanes + lane;
    if (pieces->pick.double_precision)
        for (uint32_t i = 0; i < count; i++)
            ((double *)values)[from + i * lanes] = in[i];
    else
        for (uint32_t i = 0; i < count; i++)
            ((float *)values)[from + i * lanes] = (float)in[i];
}

void mf_art_pieces_get_roots(const mf_ArtPieces *pieces, uint32_t p, uint32_t lane, uint32_t site,
                             double *out) {
    const size_t width = pieces->roots;
    for (size_t r = 0; r < 6; r++)
        for (size_t i = 0; i < width; i++)
            out[6 * i + r] =
                value_at(pieces, pieces->pieces[p].roots, lane, (6 * site + r) * width + i);
}
