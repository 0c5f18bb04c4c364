// The plan of a cloth under construction: batches, chunks and waves, and the image they end in.
#include "motion/cloth/program.h"
#include "math/scalar.h"
#include "motion/cloth/model.h"

enum { NEAR = 128 }; // [1] batches among which equal values are looked for

// ---- lists that grow ---------------------------------------------------------------------------

// Makes space for `more` elements behind `count`. False: out of memory.
static bool reserve(mf_ClothDraft *draft, void **list, uint32_t *capacity, uint32_t count,
                    uint32_t more, size_t size) {
    if (draft->failed || count + more <= *capacity)
        return !draft->failed;
    const uint32_t needed = 2 * (count + more);
    void *grown = mf_allocate(draft->context, needed, size);
    if (grown == NULL) {
        draft->failed = true;
        return false;
    }
    if (count > 0)
        memcpy(grown, *list, count * size);
    mf_release(draft->context, *list);
    *list = grown;
    *capacity = needed;
    return true;
}

#define RESERVE(draft, name, capacity, count, more)                                                \
    reserve(draft, (void **)&(draft)->name, &(draft)->capacity, count, more, sizeof *(draft)->name)

bool mf_cloth_draft_slots(mf_ClothDraft *draft, uint32_t slots) {
    const uint32_t vertices = draft->plan.vertex_count;
    draft->plan.slot_count = slots;
    draft->slot_of = mf_allocate(draft->context, vertices, sizeof *draft->slot_of);
    draft->vertex_at = mf_allocate(draft->context, slots, sizeof *draft->vertex_at);
    draft->home = mf_allocate(draft->context, 3 * (size_t)vertices, sizeof *draft->home);
    draft->masses_f64 = mf_allocate(draft->context, slots, sizeof *draft->masses_f64);
    draft->masses_f32 = mf_allocate(draft->context, slots, sizeof *draft->masses_f32);
    draft->failed = draft->failed || draft->slot_of == NULL || draft->vertex_at == NULL ||
                    draft->home == NULL || draft->masses_f64 == NULL || draft->masses_f32 == NULL;
    for (uint32_t at = 0; !draft->failed && at < slots; at++)
        draft->vertex_at[at] = MF_CLOTH_APART;
    return !draft->failed;
}

// ---- batches -----------------------------------------------------------------------------------

// The last row of every kind is a compliance, of cells and triangles the one before it, too.
static bool is_compliance(uint32_t kind, uint32_t value) {
    const bool two = kind == MF_CLOTH_CELL || kind == MF_CLOTH_TRIANGLE;
    return value + (two ? 2 : 1) >= mf_cloth_values(kind);
}

static void fill_values(const mf_ClothConstraint *constraints, const uint32_t *lanes,
                        uint32_t count, double *rows) {
    const uint32_t kind = constraints[0].kind;
    for (uint32_t value = 0; value < mf_cloth_values(kind); value++) {
        double *row = rows + value * MF_CLOTH_LANES;
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            row[lane] = is_compliance(kind, value) ? MF_CLOTH_NEVER : constraints[0].values[value];
        for (uint32_t i = 0; i < count; i++)
            row[lanes[i]] = constraints[i].values[value];
    }
}

// Where the values are: those of one of the last batches if they are the same, else new rows.
static uint32_t place_values(mf_ClothDraft *draft, uint32_t kind, const double *rows) {
    const size_t length = (size_t)mf_cloth_values(kind) * MF_CLOTH_LANES;
    const uint32_t batches = draft->plan.batch_count, oldest = batches > NEAR ? batches - NEAR : 0;
    for (uint32_t i = batches; i-- > oldest;) {
        const size_t at = (size_t)draft->batches[i].values * MF_CLOTH_LANES;
        if (draft->batches[i].kind == kind &&
            memcmp(draft->values_f64 + at, rows, length * sizeof *rows) == 0)
            return draft->batches[i].values;
    }
    const uint32_t first = draft->plan.value_count;
    const uint32_t used = first * MF_CLOTH_LANES;
    if (!RESERVE(draft, values_f64, value_capacity, used, (uint32_t)length))
        return 0;
    memcpy(draft->values_f64 + used, rows, length * sizeof *rows);
    draft->plan.value_count += mf_cloth_values(kind);
    return first;
}

static bool follow_each_other(const mf_ClothDraft *draft, const mf_ClothConstraint *constraints,
                              const uint32_t *lanes, uint32_t count, uint32_t node) {
    const uint32_t first = draft->slot_of[constraints[0].vertices[node]] - lanes[0];
    for (uint32_t i = 1; i < count; i++)
        if (draft->slot_of[constraints[i].vertices[node]] - lanes[i] != first)
            return false;
    return true;
}

// Slots in rows are read and written for all lanes, also those without a constraint. Where such a
// row holds another node's slot, the wider kernels would put back what they read before that node
// moved.
static bool are_apart(const mf_ClothBatch *batch) {
    const uint32_t nodes = mf_cloth_nodes(batch->kind);
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = a + 1; b < nodes; b++)
            if (batch->at[a] + MF_CLOTH_LANES > batch->at[b] &&
                batch->at[b] + MF_CLOTH_LANES > batch->at[a])
                return false;
    return true;
}

// Lanes without a constraint have the slots behind all others.
static void list_slots(mf_ClothDraft *draft, mf_ClothBatch *batch,
                       const mf_ClothConstraint *constraints, const uint32_t *lanes,
                       uint32_t count) {
    const uint32_t nodes = mf_cloth_nodes(batch->kind), first = draft->plan.listed_count;
    if (!RESERVE(draft, slots, listed_capacity, first, nodes * MF_CLOTH_LANES))
        return;
    batch->slots = first;
    draft->plan.listed_count += nodes * MF_CLOTH_LANES;
    for (uint32_t node = 0; node < nodes; node++) {
        int32_t *row = draft->slots + first + node * MF_CLOTH_LANES;
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            row[lane] = (int32_t)(draft->plan.slot_count + lane);
        for (uint32_t i = 0; i < count; i++)
            row[lanes[i]] = (int32_t)draft->slot_of[constraints[i].vertices[node]];
    }
}

// Of a cloth that tears: which elements each lane needs.
static void list_elements(mf_ClothDraft *draft, const mf_ClothConstraint *constraints,
                          const uint32_t *lanes, uint32_t count) {
    const uint32_t capacity = MF_CLOTH_NODES * MF_CLOTH_LANES;
    const uint32_t first = draft->plan.torn_batch_count * capacity;
    if (draft->plan.element_count == 0 ||
        !RESERVE(draft, elements, element_capacity, first, capacity))
        return;
    uint32_t *all = draft->elements + first;
    for (uint32_t i = 0; i < capacity; i++)
        all[i] = MF_NONE;
    for (uint32_t i = 0; i < count; i++)
        memcpy(all + MF_CLOTH_NODES * lanes[i], constraints[i].elements,
               mf_cloth_needs(constraints[i].kind) * sizeof *all);
    draft->plan.torn_batch_count++;
}

void mf_cloth_draft_batch(mf_ClothDraft *draft, const mf_ClothConstraint *constraints,
                          const uint32_t *lanes, uint32_t count) {
    double rows[6 * MF_CLOTH_LANES];
    if (count == 0 || !RESERVE(draft, batches, batch_capacity, draft->plan.batch_count, 1))
        return;
    mf_ClothBatch batch = {.kind = constraints[0].kind, .slots = MF_CLOTH_APART};
    fill_values(constraints, lanes, count, rows);
    batch.values = place_values(draft, batch.kind, rows);
    bool in_rows = draft->in_rows;
    for (uint32_t node = 0; node < mf_cloth_nodes(batch.kind); node++) {
        in_rows = in_rows && follow_each_other(draft, constraints, lanes, count, node);
        batch.at[node] = draft->slot_of[constraints[0].vertices[node]] - lanes[0];
    }
    list_elements(draft, constraints, lanes, count);
    if (!in_rows || !are_apart(&batch))
        list_slots(draft, &batch, constraints, lanes, count);
    if (!draft->failed)
        draft->batches[draft->plan.batch_count++] = batch;
}

static uint32_t end_of(const mf_ClothRange *ranges, uint32_t count) {
    return count == 0 ? 0 : ranges[count - 1].first + ranges[count - 1].count;
}

void mf_cloth_draft_chunk(mf_ClothDraft *draft) {
    const uint32_t first = end_of(draft->chunks, draft->plan.chunk_count);
    if (first == draft->plan.batch_count ||
        !RESERVE(draft, chunks, chunk_capacity, draft->plan.chunk_count, 1))
        return;
    draft->chunks[draft->plan.chunk_count++] =
        (mf_ClothRange){first, draft->plan.batch_count - first};
}

void mf_cloth_draft_wave(mf_ClothDraft *draft) {
    const uint32_t first = end_of(draft->waves, draft->plan.wave_count);
    if (first == draft->plan.chunk_count ||
        !RESERVE(draft, waves, wave_capacity, draft->plan.wave_count, 1))
        return;
    draft->waves[draft->plan.wave_count++] =
        (mf_ClothRange){first, draft->plan.chunk_count - first};
}

// ---- the image ---------------------------------------------------------------------------------

static mf_Status fill_vertices(mf_ClothDraft *draft, const mf_Cloth *cloth) {
    double *mass = mf_allocate(draft->context, draft->plan.vertex_count, sizeof *mass);
    double center[3];
    if (mass == NULL)
        return MF_NO_MEMORY;
    mf_cloth_masses(cloth, mass);
    mf_cloth_center(cloth, center);
    for (uint32_t v = 0; v < draft->plan.vertex_count; v++) {
        const uint32_t at = draft->slot_of[v];
        mf_cloth_vertex(cloth, v, draft->home + 3 * (size_t)v);
        mf_vec3_sub(draft->home + 3 * (size_t)v, draft->home + 3 * (size_t)v, center);
        draft->vertex_at[at] = v;
        draft->masses_f64[at] = mass[v];
        draft->masses_f32[at] = (float)mass[v];
    }
    mf_release(draft->context, mass);
    return MF_OK;
}

static bool fill_triangles(mf_ClothDraft *draft, const mf_Cloth *cloth) {
    const size_t corners = 3 * (size_t)draft->plan.triangle_count;
    draft->triangles = mf_allocate(draft->context, corners, sizeof *draft->triangles);
    for (uint32_t t = 0; draft->triangles != NULL && t < draft->plan.triangle_count; t++)
        mf_cloth_triangle(cloth, t, draft->triangles + 3 * (size_t)t);
    return draft->triangles != NULL;
}

// The cloth's own pins; the others hold nothing at first.
static bool fill_pins(mf_ClothDraft *draft, const mf_Cloth *cloth) {
    draft->plan.pin_count += cloth->pin_count;
    draft->pins = mf_allocate(draft->context, draft->plan.pin_count, sizeof *draft->pins);
    for (uint32_t pin = 0; draft->pins != NULL && pin < draft->plan.pin_count; pin++)
        draft->pins[pin] = pin < cloth->pin_count ? cloth->pins[pin] : MF_NONE;
    return draft->pins != NULL;
}

static mf_Status pack(mf_ClothDraft *draft, const mf_Cloth *cloth, mf_ClothPlan **out,
                      mf_Error *error) {
    const size_t values = (size_t)draft->plan.value_count * MF_CLOTH_LANES;
    void *image = NULL;
    draft->values_f32 = mf_allocate(draft->context, values, sizeof *draft->values_f32);
    if (draft->failed || draft->values_f32 == NULL || fill_vertices(draft, cloth) != MF_OK ||
        !fill_triangles(draft, cloth) || !fill_pins(draft, cloth))
        return mf_fail(error, MF_NO_MEMORY, "cloth: out of memory");
    for (size_t i = 0; i < values; i++)
        draft->values_f32[i] = (float)draft->values_f64[i];
#define PART(Type, name, count) MF_FLAT_PART(&draft->plan, name, draft->name, count),
    const mf_FlatPart parts[] = {MF_CLOTH_ARRAYS(PART, &draft->plan)};
#undef PART
    mf_Status status = mf_flat_pack(draft->context, &draft->plan, sizeof draft->plan, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    *out = image;
    return status;
}

static void release_draft(mf_ClothDraft *draft) {
#define RELEASE(Type, name, count) mf_release(draft->context, draft->name);
    MF_CLOTH_ARRAYS(RELEASE, )
#undef RELEASE
}

mf_Status mf_cloth_program(mf_Context *context, const mf_Cloth *cloth, const mf_ClothPlan *settings,
                           mf_ClothPlan **out, mf_Error *error) {
    mf_ClothDraft draft = {.plan = *settings, .context = context};
    mf_Status status = MF_OK;
    *out = NULL;
    draft.plan.vertex_count = mf_cloth_vertex_count(cloth);
    draft.plan.triangle_count = mf_cloth_triangle_count(cloth);
    if (cloth->material.strength > 0.0)
        draft.plan.element_count = mf_cloth_element_count(cloth);
    memcpy(draft.plan.counts, cloth->counts, sizeof draft.plan.counts);
    if (cloth->counts[0] > 0)
        mf_cloth_draft_grid(&draft, cloth);
    else
        status = mf_cloth_draft_mesh(&draft, cloth, error);
    MF_THEN(status, pack(&draft, cloth, out, error));
    release_draft(&draft);
    return status;
}
