// The host's side of cloth: what kernels do not see.
#pragma once

#include <mayfly/cloth.h>
#include "motion/cloth/plan.h"
#include "motion/table.h"

enum { // rows of a group, in the order of the table of fields
    MF_CLOTH_ROW_POSITION,
    MF_CLOTH_ROW_VELOCITY,
    MF_CLOTH_ROW_CONTACTS,
    MF_CLOTH_ROW_RESIDUAL,
    MF_CLOTH_ROW_TORN,
    MF_CLOTH_ROW_TEARS,
    MF_CLOTH_ROW_PIN,
    MF_CLOTH_ROW_ANCHOR,
    MF_CLOTH_ROW_FORCE,
    MF_CLOTH_ROW_LINK,
    MF_CLOTH_ROW_PIN_POSITION,
    MF_CLOTH_ROWS
};

enum { MF_CLOTH_PIECE = 48 }; // [1] rows of slots of one piece of work

// What is around the cloths of shared groups: set by the system of the world that steps them.
typedef struct mf_ClothSurroundings {
    void *user;
    // The solids that can meet a cloth whose vertices stay within a box in this step, at most
    // MF_CLOTH_OBSTACLES, in an order that depends on the state only. Returns how many there are.
    uint32_t (*find)(void *user, const double low[3], const double high[3], mf_Solid *out);
    // Adds to the solid number `index` of the last `find` the impulse [N s] and its moment [N m s].
    void (*push)(void *user, uint32_t index, const double push[MF_CLOTH_PUSH]);
} mf_ClothSurroundings;

typedef struct mf_ClothMotion {
    mf_ClothPlan *plan;
    mf_ClothConfig config;
    const mf_TerrainImage *terrain;
    mf_Field *rows[MF_CLOTH_ROWS]; // NULL: the group has none
    mf_Field *body[MF_BODY_ROWS];
    mf_Field *fault;
    mf_ClothKernels kernels;
    mf_Scratch *scratch;
    double mass; // [kg]
    bool wide;   // the fields are double
    bool driven; // a system of the world steps it
    mf_WarningFields warnings;
    mf_Time step; // [ns]
} mf_ClothMotion;

// Values of an instance, MF_BLOCK apart.
static inline void *mf_cloth_row_at(const mf_ClothMotion *motion, int row, uint32_t instance) {
    const mf_Row own = mf_row(motion->rows[row]);
    return mf_row_at(&own, instance / MF_BLOCK, instance % MF_BLOCK);
}

// [byte] Parts of scratch begin at lines of the cache.
static inline size_t mf_cloth_round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// The motion of a group; NULL: it has none.
mf_ClothMotion *mf_cloth_motion_of(const mf_Group *group);

// ---- fields (fields.c) --------------------------------------------------------------------------

mf_Status mf_cloth_fields(mf_Group *group, mf_ClothMotion *motion, mf_Error *error);
// The vertices at home about the base, with its twist; pins where they are.
void mf_cloth_reset(mf_Group *group, uint32_t instance, void *motion);
// The vertex of a pin; MF_NONE: it holds none.
uint32_t mf_cloth_pinned(const mf_ClothMotion *motion, uint32_t instance, uint32_t pin);

// ---- a step (step.c) ----------------------------------------------------------------------------

// [byte] of scratch.
size_t mf_cloth_scratch(const mf_ClothMotion *motion);
// Steps one cloth. `context`: its threads share the work; NULL: the caller does all of it.
// `around`: NULL for a cloth that is alone.
void mf_cloth_step(const mf_ClothMotion *motion, mf_Context *context,
                   const mf_ClothSurroundings *around, uint32_t instance);
void mf_cloth_run(const mf_SystemRun *run, void *motion);

// ---- tearing (tear.c) ---------------------------------------------------------------------------

// [byte] of scratch; 0: the cloth does not tear.
size_t mf_cloth_tear_bytes(const mf_ClothPlan *plan);
mf_ClothTear mf_cloth_tear_make(const mf_ClothPlan *plan, void *memory);
// From the fields, and back.
void mf_cloth_tear_load(const mf_ClothMotion *motion, uint32_t instance, const mf_ClothTear *tear);
void mf_cloth_tear_store(const mf_ClothMotion *motion, uint32_t instance, const mf_ClothTear *tear);
// Constraints that have lost an element are gone.
void mf_cloth_tear_follow(const mf_ClothPlan *plan, const mf_ClothTear *tear);
// Whether something tore in this substep.
bool mf_cloth_tear_any(const mf_ClothPlan *plan, const mf_ClothTear *tear);

// ---- energy (energy.c) --------------------------------------------------------------------------

mf_MotionEnergy mf_cloth_energy(const mf_Group *group, const void *motion, uint32_t instance);
void mf_cloth_momentum(const mf_Group *group, const void *motion, uint32_t instance,
                       double center[3], double linear[3], double angular[3]);

// Whether a triangle is torn, so that it is not there any more: `cloth.torn` has a 1 for it, or for
// an edge of its cell. False for what the group does not have, and for cloths that do not tear.
bool mf_cloth_triangle_torn(const mf_Group *group, uint32_t instance, uint32_t triangle);
