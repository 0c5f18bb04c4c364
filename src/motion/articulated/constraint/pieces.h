// The robots of a group in the stages of steps of assemblies (assembly.h): pieces of as many
// lanes as the kernel has, with memory that lasts from stage to stage.
#pragma once

#include "base/scratch.h"
#include "motion/articulated/constraint/assembly.h"
#include "motion/articulated/host.h"

#define MF_ART_HIDDEN (1u << 31) // instead of a fault word: not in this step

typedef struct mf_ArtPieces {
    mf_Context *context;
    mf_ArtMotion *motion; // of the group
    mf_KernelPick pick;
    uint32_t lanes;              // [1] of a piece
    uint32_t per_block, count;   // [1] pieces
    int32_t sites[MF_ART_SITES]; // plan links that join, then others that may touch
    uint32_t site_count;         // [1]
    uint32_t roots;              // [1] degrees of freedom of the response
    size_t piece_size, passing;  // [byte] of a piece, and of what a stage needs by the way
    mf_Scratch *scratch;         // blocks of the latter
    char *memory, **memories;    // of all pieces
    uint32_t **shown;            // fault words per piece
    mf_ArtAssembly *pieces;
} mf_ArtPieces;

typedef enum mf_ArtStage {
    MF_ART_BEGIN,
    MF_ART_LOOK,
    MF_ART_RESPOND,
    MF_ART_PUSH,
    MF_ART_REVISE,
    MF_ART_FINISH,
    MF_ART_FLY
} mf_ArtStage;

// Pieces for a group whose robots may be joined at links of its model, which `sites` lists and
// which become their sites; NULL: its robots cannot be in an assembly that moves as one tree. The
// caller destroys *out. MF_NO_MEMORY.
mf_Status mf_art_pieces_create(mf_Context *context, mf_Group *group, mf_ArtPieces **out,
                               uint32_t *sites, uint32_t count, mf_Error *error);
void mf_art_pieces_destroy(mf_ArtPieces *pieces); // NULL is fine
// Allocates again where the plan has grown. MF_NO_MEMORY.
mf_Status mf_art_pieces_reserve(mf_ArtPieces *pieces, mf_Error *error);

// The site of a link of the model; MF_NONE: it has none.
uint32_t mf_art_pieces_site(const mf_ArtPieces *pieces, uint32_t link);

// Binds a piece to the fields of the present step; `taken`: lanes that take part; `used`: bits of
// the sites on which wrenches may act.
void mf_art_pieces_bind(const mf_ArtPieces *pieces, uint32_t p, const bool *taken, uint32_t used);
// A lane takes no part any more.
void mf_art_pieces_release(const mf_ArtPieces *pieces, uint32_t p, uint32_t lane);
void mf_art_pieces_run(const mf_ArtPieces *pieces, uint32_t p, mf_ArtStage stage);
// Faults of a piece into their field.
void mf_art_pieces_keep_faults(const mf_ArtPieces *pieces, uint32_t p);

// Values of one lane of a piece, from and to its rows `first` on.
void mf_art_pieces_get(const mf_ArtPieces *pieces, const void *values, uint32_t lane,
                       uint32_t first, uint32_t count, double *out);
void mf_art_pieces_set(const mf_ArtPieces *pieces, void *values, uint32_t lane, uint32_t first,
                       uint32_t count, const double *in);

// The roots of a site of one lane: six values per degree of freedom.
void mf_art_pieces_get_roots(const mf_ArtPieces *pieces, uint32_t p, uint32_t lane, uint32_t site,
                             double *out);

// Which robots of a group others move in this step: words, not 0 where that is so; NULL: none.
void mf_art_set_carried(const mf_Group *group, const uint32_t *words);
