// Building the plan of a cloth: its constraints, and the order in which lanes and threads work
// them.
#pragma once

#include "motion/cloth/plan.h"

// A plan under construction.
typedef struct mf_ClothDraft {
    mf_ClothPlan plan;
    mf_Context *context;
    MF_CLOTH_ARRAYS(MF_FLAT_POINTER, )
    uint32_t batch_capacity, chunk_capacity, wave_capacity, listed_capacity, value_capacity,
        element_capacity; // [1]
    bool in_rows;         // slots of batches follow one another where they can
    bool failed;          // out of memory
} mf_ClothDraft;

// The plan of a cloth that mf_cloth_check accepts, from `settings`, of whose counts only that of
// further pins matters. The caller releases *out. MF_BAD_ARGUMENT: an edge of more than two
// triangles.
mf_Status mf_cloth_program(mf_Context *context, const mf_Cloth *cloth, const mf_ClothPlan *settings,
                           mf_ClothPlan **out, mf_Error *error);

// ---- parts (program.c) --------------------------------------------------------------------------

// A constraint of up to four vertices.
typedef struct mf_ClothConstraint {
    uint32_t kind; // [1] mf_ClothKind
    uint32_t vertices[MF_CLOTH_NODES];
    double values[6];                  // as the kind says
    uint32_t elements[MF_CLOTH_NODES]; // [1] plan.h; those of kinds that have fewer are not read
} mf_ClothConstraint;

// Adds a batch of `count` constraints of one kind, whose vertices differ. The slots of vertices
// are known.
void mf_cloth_draft_batch(mf_ClothDraft *draft, const mf_ClothConstraint *constraints,
                          const uint32_t *lanes, uint32_t count);
// The batches since the last chunk become one; the chunks since the last wave.
void mf_cloth_draft_chunk(mf_ClothDraft *draft);
void mf_cloth_draft_wave(mf_ClothDraft *draft);
// Memory for the slots of vertices. False: out of memory.
bool mf_cloth_draft_slots(mf_ClothDraft *draft, uint32_t slots);

// The constraints of a rectangle (grid.c) and of triangles (mesh.c).
void mf_cloth_draft_grid(mf_ClothDraft *draft, const mf_Cloth *cloth);
mf_Status mf_cloth_draft_mesh(mf_ClothDraft *draft, const mf_Cloth *cloth, mf_Error *error);
