// Steady state and MAP-Elites: children are inserted one by one among the living.
//
// Steady state (Whitley, The GENITOR algorithm, 1989; Syswerda, 1989): a generation is `population`
// births, in batches. The parents of a batch are chosen among those alive before it; its genomes
// are evaluated in one call, so in parallel; then its children replace others in the order of
// their ids, so that a child can already be replaced by a later one of its batch.
//
// MAP-Elites (Mouret and Clune, Illuminating search spaces by mapping elites, arXiv:1504.04909,
// 2015): the living are the best individual that was ever seen in each cell of a grid over
// descriptors of behavior or shape. A child that is as good as the one in its cell replaces it, for
// the reason that the young rank first among equals (search.c).
//
// Invariants: search->order has the living by rank; all births of a generation stay in
// search->born for the archive, because one that is replaced in the same generation can have
// children that live. Until the whole generation is done only scratch changes.
#include "search/population.h"
#include "base/floats.h"

#include <string.h>

// ---- the grid ----------------------------------------------------------------------------------

static uint32_t grid_cells(const mf_SearchConfig *config) {
    uint32_t cells = 1;
    for (uint32_t i = 0; i < config->descriptor_count; i++)
        cells *= config->descriptors[i].cells;
    return cells;
}

uint32_t mf_search_capacity(const mf_SearchConfig *config) {
    return config->replacement == MF_REPLACEMENT_CELL ? grid_cells(config)
                                                      : config->islands * config->population;
}

uint32_t mf_search_cell(const mf_SearchConfig *config, const double *values) {
    MF_DEFAULT_FLOATS;
    uint32_t cell = 0;
    if (config == NULL || values == NULL || config->descriptor_count == 0)
        return UINT32_MAX;
    for (uint32_t i = 0; i < config->descriptor_count; i++) {
        const mf_Descriptor *axis = &config->descriptors[i];
        if (values[i] != values[i])
            return UINT32_MAX;
        // Halved, so that the difference of the bounds does not overflow.
        double part =
            (0.5 * values[i] - 0.5 * axis->lower) / (0.5 * axis->upper - 0.5 * axis->lower);
        double position = part * axis->cells;
        uint32_t step = position > 0 ? axis->cells - 1 : 0;
        if (position > 0 && position < axis->cells)
            step = (uint32_t)position;
        cell = cell * axis->cells + step;
    }
    return cell;
}

// ---- inserting ---------------------------------------------------------------------------------

// Moves the individual at `rank` of search->order to where its fitness belongs.
static void settle(mf_Search *search, uint32_t rank) {
    uint32_t *order = search->order, who = order[rank];
    const mf_Population *next = &search->next;
    while (rank > 0 && mf_search_ranks_before(next, who, next, order[rank - 1])) {
        order[rank] = order[rank - 1];
        rank--;
    }
    while (rank + 1 < search->next_count &&
           mf_search_ranks_before(next, order[rank + 1], next, who)) {
        order[rank] = order[rank + 1];
        rank++;
    }
    order[rank] = who;
}

static void add(mf_Search *search, uint32_t child) {
    uint32_t index = search->next_count++;
    mf_search_copy(&search->config, &search->next, index, &search->spare, child);
    search->order[index] = index;
    settle(search, index);
}

static void replace(mf_Search *search, uint32_t rank, uint32_t child) {
    mf_search_copy(&search->config, &search->next, search->order[rank], &search->spare, child);
    settle(search, rank);
}

static void insert_into_cell(mf_Search *search, uint32_t child) {
    const mf_SearchConfig *config = &search->config;
    double fitness = search->spare.fitness[child];
    uint32_t cell =
        mf_search_cell(config, search->spare.descriptor + (size_t)child * config->descriptor_count);
    if (cell == UINT32_MAX || fitness != fitness)
        return;
    uint32_t holder = search->cells[cell];
    if (holder == UINT32_MAX) {
        search->cells[cell] = search->next_count;
        add(search, child);
        return;
    }
    if (mf_search_ranks_before(&search->next, holder, &search->spare, child))
        return;
    uint32_t rank = 0;
    while (search->order[rank] != holder)
        rank++;
    replace(search, rank, child);
}

static void insert(mf_Search *search, uint32_t child) {
    if (search->config.replacement == MF_REPLACEMENT_CELL) {
        insert_into_cell(search, child);
        return;
    }
    if (search->next_count < search->config.population) {
        add(search, child);
        return;
    }
    uint32_t rank = mf_search_choose_victim(search, child);
    bool keeps = search->config.replacement == MF_REPLACEMENT_WORST &&
                 mf_search_ranks_before(&search->next, search->order[rank], &search->spare, child);
    if (!keeps)
        replace(search, rank, child);
}

// ---- one generation ----------------------------------------------------------------------------

void mf_search_begin_steady(mf_Search *search) {
    search->next_count = search->count;
    for (uint32_t i = 0; i < search->count; i++) {
        mf_search_copy(&search->config, &search->next, i, &search->current, i);
        search->order[i] = i;
    }
    if (search->cells == NULL)
        return;
    memset(search->cells, 0xff, mf_search_capacity(&search->config) * sizeof *search->cells);
    for (uint32_t i = 0; i < search->count; i++) {
        const double *descriptor =
            search->next.descriptor + (size_t)i * search->config.descriptor_count;
        search->cells[mf_search_cell(&search->config, descriptor)] = i;
    }
}

// Without parents (in the first generation, or when no cell has been filled) children are
// individuals of the first one.
mf_Status mf_search_breed_steady(mf_Search *search, uint32_t first, uint32_t count, mf_Batch *out,
                                 mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    mf_Population *born = &search->spare;
    uint32_t immigrants = mf_search_immigrants(search);
    bool orphans = search->generation == 0 || search->next_count == 0;
    size_t bytes = config->genome_bytes;
    if (!orphans)
        mf_search_weigh_parents(search, &search->next, search->order, search->next_count);
    for (uint32_t i = first; i < first + count; i++) {
        const uint8_t *parent = NULL;
        mf_search_clear(born, i, mf_search_next_id(search, i), UINT64_MAX);
        if (i < immigrants) {
            const mf_Population *emigrants = &search->source->current;
            born->parent[i] = emigrants->id[i];
            memcpy(born->genomes + i * bytes, emigrants->genomes + i * bytes, bytes);
            continue;
        }
        if (!orphans) {
            uint32_t rank = mf_search_choose_parent(search, born->id[i], search->next_count);
            uint32_t who = search->order[rank];
            born->parent[i] = search->next.id[who];
            parent = search->next.genomes + who * bytes;
        }
        MF_TRY(mf_search_vary(search, parent, born->id[i], born->genomes + i * bytes, error));
    }
    *out = (mf_Batch){born->genomes + first * bytes, born->fitness + first, count};
    return MF_OK;
}

static mf_Status describe(const mf_Search *search, uint32_t first, uint32_t count,
                          mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    uint32_t dimensions = config->descriptor_count;
    if (dimensions == 0)
        return MF_OK;
    double *values = search->spare.descriptor + (size_t)first * dimensions;
    for (size_t i = 0; i < (size_t)count * dimensions; i++)
        values[i] = __builtin_nan("");
    mf_Status status = config->describe(
        config->describe_user, search->spare.genomes + (size_t)first * config->genome_bytes, count,
        config->genome_bytes, values, error);
    for (size_t i = 0; i < (size_t)count * dimensions; i++)
        if (values[i] != values[i])
            values[i] = __builtin_nan("");
        else if (values[i] == 0)
            values[i] = 0;
    return status;
}

mf_Status mf_search_insert_steady(mf_Search *search, uint32_t first, uint32_t count,
                                  mf_Error *error) {
    MF_TRY(describe(search, first, count, error));
    for (uint32_t i = first; i < first + count; i++)
        insert(search, i);
    return MF_OK;
}

void mf_search_end_steady(mf_Search *search) {
    mf_Population done = search->spare;
    search->spare = search->born;
    search->born = done;
}
