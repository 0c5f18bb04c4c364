// Tearing: an element, which is an edge of a rectangle or a triangle, tears where its force per
// width exceeds the strength of the cloth (solve.h), and the constraints that need it are gone from
// the next substep on. The multiplier gives the force (Macklin, Mueller, Chentanez 2016), so
// where the cloth is at rest it is the load, however far the pass is from its stiffness. Strength
// is the maximum force of the strip method (ISO 13934-1) over the width.
//
// A cell of a rectangle is gone with any of its edges, and an edge that has no cell beside it any
// more tears, too, so that what acts is what is seen.
//
// Invariants: what tore in a substep is known before anything follows from it, and what follows
// depends on the torn elements only: not on the order of work. Elements do not heal, so that
// breaking takes elastic energy and gives none. Vertices keep their mass.
#include "motion/cloth/motion.h"
#include "base/floats.h"

#include <string.h>

size_t mf_cloth_tear_bytes(const mf_ClothPlan *plan) {
    if (plan->element_count == 0)
        return 0;
    return mf_cloth_round_up(plan->element_count) +
           mf_cloth_round_up(plan->batch_count * sizeof(uint16_t)) +
           mf_cloth_round_up(plan->chunk_count);
}

mf_ClothTear mf_cloth_tear_make(const mf_ClothPlan *plan, void *memory) {
    mf_ClothTear tear = {.torn = memory};
    if (plan->element_count == 0)
        return (mf_ClothTear){.torn = NULL};
    tear.lanes = (uint16_t *)(void *)(tear.torn + mf_cloth_round_up(plan->element_count));
    tear.tears = (uint8_t *)tear.lanes + mf_cloth_round_up(plan->batch_count * sizeof(uint16_t));
    memset(tear.tears, 0, plan->chunk_count);
    return tear;
}

// ---- fields ------------------------------------------------------------------------------------

void mf_cloth_tear_load(const mf_ClothMotion *motion, uint32_t instance, const mf_ClothTear *tear) {
    const uint32_t *field = mf_cloth_row_at(motion, MF_CLOTH_ROW_TORN, instance);
    bool any = false;
    for (uint32_t e = 0; e < motion->plan->element_count; e++) {
        tear->torn[e] = field[(size_t)e * MF_BLOCK] != 0;
        any |= tear->torn[e] != 0;
    }
    if (any)
        mf_cloth_tear_follow(motion->plan, tear);
    else
        memset(tear->lanes, 0, motion->plan->batch_count * sizeof *tear->lanes);
}

void mf_cloth_tear_store(const mf_ClothMotion *motion, uint32_t instance,
                         const mf_ClothTear *tear) {
    uint32_t *field = mf_cloth_row_at(motion, MF_CLOTH_ROW_TORN, instance), count = 0;
    for (uint32_t e = 0; e < motion->plan->element_count; e++) {
        field[(size_t)e * MF_BLOCK] = tear->torn[e];
        count += tear->torn[e];
    }
    mf_field_set(motion->rows[MF_CLOTH_ROW_TEARS], instance, 0, count);
}

// ---- what follows from a tear ------------------------------------------------------------------

// Edges of a rectangle: of a cell, and around them.
typedef struct Edges {
    const uint8_t *torn;
    uint32_t n, m; // [1] vertices along both axes
} Edges;

static uint32_t across(const Edges *edges, uint32_t i, uint32_t j) { // (i, j) to (i + 1, j)
    return j * (edges->n - 1) + i;
}

static uint32_t along(const Edges *edges, uint32_t i, uint32_t j) { // (i, j) to (i, j + 1)
    return (edges->n - 1) * edges->m + j * edges->n + i;
}

// False beside the cloth, too.
static bool has_cell(const Edges *edges, uint32_t i, uint32_t j) {
    return i < edges->n - 1 && j < edges->m - 1 && !edges->torn[across(edges, i, j)] &&
           !edges->torn[across(edges, i, j + 1)] && !edges->torn[along(edges, i, j)] &&
           !edges->torn[along(edges, i + 1, j)];
}

// A cell beside an edge that tears here has a torn edge already, so no further cell goes with it,
// and one pass is enough, in any order. Index -1 is beside the cloth.
static void tear_lonely(const Edges *edges, uint8_t *torn) {
    for (uint32_t j = 0; j < edges->m; j++)
        for (uint32_t i = 0; i < edges->n; i++) {
            const bool here = has_cell(edges, i, j);
            if (i < edges->n - 1 && !here && !has_cell(edges, i, j - 1))
                torn[across(edges, i, j)] = 1;
            if (j < edges->m - 1 && !here && !has_cell(edges, i - 1, j))
                torn[along(edges, i, j)] = 1;
        }
}

static uint16_t gone_lanes(const mf_ClothPlan *plan, const uint8_t *torn, uint32_t batch) {
    const uint32_t *elements = mf_cloth_elements(plan) + mf_cloth_need_at(batch, 0);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < MF_CLOTH_NODES * MF_CLOTH_LANES; i++)
        if (elements[i] != MF_NONE && torn[elements[i]])
            bits |= 1u << (i / MF_CLOTH_NODES);
    return (uint16_t)bits;
}

void mf_cloth_tear_follow(const mf_ClothPlan *plan, const mf_ClothTear *tear) {
    const Edges edges = {tear->torn, plan->counts[0], plan->counts[1]};
    if (edges.n > 0)
        tear_lonely(&edges, tear->torn);
    for (uint32_t batch = 0; batch < plan->batch_count; batch++)
        tear->lanes[batch] = gone_lanes(plan, tear->torn, batch);
}

bool mf_cloth_tear_any(const mf_ClothPlan *plan, const mf_ClothTear *tear) {
    bool any = false;
    for (uint32_t chunk = 0; chunk < plan->chunk_count; chunk++) {
        any |= tear->tears[chunk] != 0;
        tear->tears[chunk] = 0;
    }
    return any;
}

// ---- seen from outside -------------------------------------------------------------------------

bool mf_cloth_triangle_torn(const mf_Group *group, uint32_t instance, uint32_t triangle) {
    MF_DEFAULT_FLOATS;
    const mf_ClothMotion *motion = mf_cloth_motion_of(group);
    if (motion == NULL || motion->plan->element_count == 0 || instance >= mf_group_count(group) ||
        triangle >= motion->plan->triangle_count)
        return false;
    const mf_Field *torn = motion->rows[MF_CLOTH_ROW_TORN];
    const Edges edges = {NULL, motion->plan->counts[0], motion->plan->counts[1]};
    if (edges.n == 0)
        return mf_field_get(torn, instance, triangle) != 0.0;
    const uint32_t i = triangle / 2 % (edges.n - 1), j = triangle / 2 / (edges.n - 1);
    return mf_field_get(torn, instance, across(&edges, i, j)) != 0.0 ||
           mf_field_get(torn, instance, across(&edges, i, j + 1)) != 0.0 ||
           mf_field_get(torn, instance, along(&edges, i, j)) != 0.0 ||
           mf_field_get(torn, instance, along(&edges, i + 1, j)) != 0.0;
}
