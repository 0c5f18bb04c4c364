// Evolution of genomes by selection and mutation alone (no crossover). The default is that of the
// genetic programming of NeoPhysIx: truncation in generations, the best `survivors` are kept and
// duplicated in turn, best first, until the population is full again; every duplicate is mutated
// (vary.c). Other selection schemes are in select.c; steady state and MAP-Elites, which replace
// individuals one by one, in steady.c.
//
// Neutral drift. Equal fitness ranks the younger (higher id) first, so that children as good as
// their parents replace them over time and the population drifts along plateaus instead of keeping
// its oldest members. -0 is stored as 0 and every NaN as one NaN, the worst value of all.
//
// Verification (`verify`) evaluates the best unverified individuals; the result is stored with the
// individual. Its score is the verified fitness minus the difference of the two fitness values: an
// individual that is good at only one level exploits the errors of that level. The best by this
// score are the elite: first by rank in every generation, so that only a better verified score
// replaces them, and, as soon as there is one, the only parents. (A fitness at the cheap level can
// result from effects that the level does not model. A mutant that is good only at the cheap level
// would otherwise displace verified ones before the next verification, and its children would be
// the candidates of that verification.) Verified individuals outside of the elite rank last.
// Unverified individuals rank in between by a prediction: their fitness plus the difference of
// their parent's score and fitness. So every child is one mutation from a verified individual, and
// the cheap level selects among mutants of the same parent. This is the pre-selection of evolution
// with surrogate models (Jin, Surrogate-assisted evolutionary computation, Swarm and Evolutionary
// Computation 1, 2011) with an additive correction of the cheap model; testing solutions at the
// level of their use during the search is from Koos, Mouret and Doncieux, The transferability
// approach, IEEE Transactions on Evolutionary Computation 17, 2013.
//
// Invariants: ids are 0 .. population-1 in the first generation and continue without gaps, so the
// ids born in a generation follow from its number; current is only written after a whole generation
// has been evaluated, so a failed evaluation leaves the search as it was.
#include "search/population.h"
#include "base/floats.h"
#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

// ---- ranking ------------------------------------------------------------------------------------

bool mf_search_ranks_before(const mf_Population *one, uint32_t a, const mf_Population *other,
                            uint32_t b) {
    double x = one->fitness[a] + one->bias[a];
    double y = other->fitness[b] + other->bias[b];
    bool x_valid = x == x, y_valid = y == y;
    if (x_valid != y_valid)
        return x_valid;
    if (x_valid && x != y)
        return x > y;
    return one->id[a] > other->id[b];
}

static bool ranks_before(const mf_Population *population, uint32_t a, uint32_t b) {
    return mf_search_ranks_before(population, a, population, b);
}

// The score of a verified individual; NaN, the worst value, if the verification failed.
static double merit_of(const mf_SearchConfig *config, double verified, double fitness) {
    double weight = config->verify_disparity;
    double gap = verified < fitness ? fitness - verified : verified - fitness;
    double merit = weight > 0 ? verified - weight * gap : verified;
    return __builtin_isfinite(merit) ? merit : __builtin_nan("");
}

// Order by verified score; NaN, the worst value, last. Equals keep their previous order, as the
// sort is stable.
static bool verifies_before(const mf_Population *population, uint32_t a, uint32_t b) {
    double x = population->merit[a], y = population->merit[b];
    return x == x && (y != y || x > y);
}

typedef bool (*BeforeFn)(const mf_Population *population, uint32_t a, uint32_t b);

// Bottom-up merge sort of the first `count` of search->order, indices into search->next. Not qsort,
// which may allocate.
static void sort_order(mf_Search *search, uint32_t count, BeforeFn before) {
    uint32_t *from = search->order, *to = search->order_spare;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t start = 0; start < count; start += 2 * width) {
            uint32_t middle = start + width < count ? start + width : count;
            uint32_t end = middle + width < count ? middle + width : count;
            uint32_t left = start, right = middle;
            for (uint32_t i = start; i < end; i++) {
                bool take_right = left == middle ||
                                  (right < end && before(&search->next, from[right], from[left]));
                to[i] = take_right ? from[right++] : from[left++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    // The unsorted rest is in the first array only.
    if (from != search->order)
        memcpy(search->order, from, count * sizeof *from);
}

static void rank_next(mf_Search *search) {
    for (uint32_t i = 0; i < search->next_count; i++)
        search->order[i] = i;
    sort_order(search, search->next_count, ranks_before);
}

static uint32_t count_checked(const mf_Population *population, uint32_t count) {
    uint32_t checked = 0;
    for (uint32_t i = 0; i < count; i++)
        checked += population->checked[i] != MF_VERIFIED_NEVER;
    return checked;
}

static uint32_t elite_cells(const mf_SearchConfig *config) {
    uint32_t half = config->verify_best - config->verify_best / 2;
    return half < config->survivors ? half : config->survivors;
}

// Moves the elite among the first `known` of search->order, which are sorted by verified score, to
// the front and returns its size: of equals only the first.
static uint32_t choose_elite(mf_Search *search, uint32_t known) {
    const double *merit = search->next.merit;
    uint32_t most = elite_cells(&search->config), count = 0, rest = 0;
    uint32_t *order = search->order, *spare = search->order_spare;
    for (uint32_t i = 0; i < known; i++) {
        double value = merit[order[i]];
        bool chosen =
            count < most && value == value && (count == 0 || value != merit[order[count - 1]]);
        if (chosen)
            order[count++] = order[i];
        else
            spare[rest++] = order[i];
    }
    memcpy(order + count, spare, rest * sizeof *order);
    return count;
}

// Puts the elite first and other verified individuals last.
static void promote(mf_Search *search) {
    uint32_t count = search->next_count, known = 0, others = 0;
    uint32_t total = count_checked(&search->next, count);
    if (total == 0)
        return;
    uint32_t *order = search->order, *spare = search->order_spare;
    for (uint32_t i = 0; i < count; i++)
        if (search->next.checked[order[i]] != MF_VERIFIED_NEVER)
            spare[known++] = order[i];
        else
            spare[total + others++] = order[i];
    memcpy(order, spare, count * sizeof *order);
    for (uint32_t i = 0; i < total; i++)
        search->next.merit[order[i]] = merit_of(&search->config, search->next.verified[order[i]],
                                                search->next.fitness[order[i]]);
    sort_order(search, total, verifies_before);
    uint32_t elite = choose_elite(search, total), rest = total - elite;
    memcpy(spare, order + elite, rest * sizeof *order);
    memmove(order + elite, order + total, (count - total) * sizeof *order);
    memcpy(order + count - rest, spare, rest * sizeof *order);
}

void mf_search_sort(mf_Search *search) {
    rank_next(search);
    promote(search);
}

void mf_search_clear(mf_Population *population, uint32_t i, uint64_t id, uint64_t parent) {
    population->id[i] = id;
    population->parent[i] = parent;
    population->fitness[i] = population->verified[i] = population->merit[i] = __builtin_nan("");
    population->bias[i] = 0;
    population->checked[i] = MF_VERIFIED_NEVER;
}

void mf_search_copy(const mf_SearchConfig *config, mf_Population *target, uint32_t to,
                    const mf_Population *source, uint32_t from) {
    size_t bytes = config->genome_bytes, dimensions = config->descriptor_count;
    target->id[to] = source->id[from];
    target->parent[to] = source->parent[from];
    target->fitness[to] = source->fitness[from];
    target->verified[to] = source->verified[from];
    target->merit[to] = source->merit[from];
    target->bias[to] = source->bias[from];
    target->checked[to] = source->checked[from];
    memcpy(target->genomes + to * bytes, source->genomes + from * bytes, bytes);
    if (dimensions > 0)
        memcpy(target->descriptor + to * dimensions, source->descriptor + from * dimensions,
               dimensions * sizeof *target->descriptor);
}

void mf_search_commit(mf_Search *search) {
    search->count = search->next_count;
    for (uint32_t rank = 0; rank < search->count; rank++)
        mf_search_copy(&search->config, &search->current, rank, &search->next, search->order[rank]);
}

// ---- hash ---------------------------------------------------------------------------------------

static uint64_t hash_word(uint64_t hash, uint64_t word) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
    return mf_hash_bytes(hash, bytes, sizeof bytes);
}

static uint64_t hash_real(uint64_t hash, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hash_word(hash, bits);
}

// `order` NULL: storage order.
static uint64_t hash_population(const mf_SearchConfig *config, const mf_Population *population,
                                const uint32_t *order, uint32_t count) {
    uint64_t hash = MF_HASH_START;
    for (uint32_t rank = 0; rank < count; rank++) {
        size_t i = order == NULL ? rank : order[rank];
        hash = hash_word(hash, population->id[i]);
        hash = hash_word(hash, population->parent[i]);
        hash = hash_real(hash, population->fitness[i]);
        hash = mf_hash_bytes(hash, population->genomes + i * config->genome_bytes,
                             config->genome_bytes);
        if (population->checked[i] != MF_VERIFIED_NEVER)
            hash = hash_real(hash, population->verified[i]);
        for (uint32_t d = 0; d < config->descriptor_count; d++)
            hash = hash_real(hash, population->descriptor[i * config->descriptor_count + d]);
    }
    return hash;
}

uint64_t mf_search_hash(const mf_Search *search) {
    if (search == NULL)
        return 0;
    return hash_population(&search->config, &search->current, NULL, search->count);
}

// ---- creation and destruction -------------------------------------------------------------------

static bool allocate_population(mf_Context *context, const mf_SearchConfig *config, uint32_t count,
                                mf_Population *population) {
    const mf_Array arrays[] = {
        MF_ARRAY(population->id, count),
        MF_ARRAY(population->parent, count),
        MF_ARRAY(population->fitness, count),
        MF_ARRAY(population->verified, count),
        MF_ARRAY(population->merit, count),
        MF_ARRAY(population->bias, count),
        MF_ARRAY(population->checked, count),
        {&population->genomes, count, config->genome_bytes},
        {&population->descriptor, count, config->descriptor_count * sizeof(double)}};
    return mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays);
}

static bool needs_weights(const mf_SearchConfig *config) {
    return config->selection == MF_SELECTION_PROPORTIONATE ||
           config->selection == MF_SELECTION_RANK || config->replacement == MF_REPLACEMENT_UNFIT ||
           config->replacement == MF_REPLACEMENT_SIMILAR;
}

static bool allocate_arrays(mf_Search *search) {
    mf_Context *context = search->context;
    const mf_SearchConfig *config = &search->config;
    uint32_t most = mf_search_capacity(config), births = mf_search_births(config, 1);
    search->order = mf_allocate(context, most, sizeof *search->order);
    search->order_spare = mf_allocate(context, most, sizeof *search->order_spare);
    bool good = search->order != NULL && search->order_spare != NULL;
    good = allocate_population(context, config, most, &search->current) && good;
    good = allocate_population(context, config, most, &search->next) && good;
    if (mf_search_is_steady(config)) {
        good = allocate_population(context, config, births, &search->born) && good;
        if (config->islands == 1)
            good = allocate_population(context, config, births, &search->spare) && good;
    }
    if (config->replacement == MF_REPLACEMENT_CELL) {
        search->cells = mf_allocate(context, most, sizeof *search->cells);
        good = good && search->cells != NULL;
    }
    if (needs_weights(config)) {
        search->weights = mf_allocate(context, most, sizeof *search->weights);
        good = good && search->weights != NULL;
    }
    if (config->verify_every > 0) {
        search->finest = mf_allocate(context, config->verify_best, config->genome_bytes);
        search->finest_fitness = mf_allocate(context, config->verify_best, sizeof(double));
        good = good && search->finest != NULL && search->finest_fitness != NULL;
    }
    return good;
}

mf_Status mf_search_reset(mf_Search *search, mf_Error *error) {
    mf_Population *current = &search->current;
    search->generation = 0;
    if (search->islands != NULL) {
        for (uint32_t k = 0; k < search->config.islands; k++)
            MF_TRY(mf_search_reset(search->islands[k], error));
        mf_search_unite(search);
        return MF_OK;
    }
    search->count = mf_search_is_steady(&search->config) ? 0 : search->config.population;
    for (uint32_t i = 0; i < search->count; i++) {
        mf_search_clear(current, i, mf_search_next_id(search, i), UINT64_MAX);
        MF_TRY(mf_search_vary(search, NULL, current->id[i],
                              current->genomes + (size_t)i * search->config.genome_bytes, error));
    }
    return MF_OK;
}

static mf_Status check_functions(const mf_SearchConfig *config, mf_Error *error) {
    MF_NEED(config->evaluate != NULL, error,
            "search config.evaluate: expected a function, found NULL");
    MF_NEED(config->verify_every == 0 || config->verify != NULL, error,
            "search config.verify: expected a function, found NULL");
    MF_NEED(config->descriptor_count == 0 || config->describe != NULL, error,
            "search config.describe: expected a function, found NULL");
    return MF_OK;
}

mf_Status mf_search_create(mf_Context *context, const mf_SearchConfig *config, mf_Search **out,
                           mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "search: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL, error, "search: context is NULL");
    MF_TRY(mf_search_check_config(config, error));
    MF_TRY(check_functions(config, error));
    return mf_search_create_island(context, config, 0, 1, out, error);
}

mf_Status mf_search_create_island(mf_Context *context, const mf_SearchConfig *config,
                                  uint32_t island, uint32_t island_count, mf_Search **out,
                                  mf_Error *error) {
    mf_Status status = MF_OK;
    mf_Search *search = mf_allocate(context, 1, sizeof *search);
    MF_NEED_MEMORY(search != NULL, error, "search");
    search->context = context;
    search->config = *config;
    search->island = island;
    search->island_count = island_count;
    if (config->batch > config->population)
        search->config.batch = config->population;
    if (allocate_arrays(search))
        status = config->islands == 1 ? mf_search_reset(search, error)
                                      : mf_search_create_islands(search, error);
    else
        status = mf_fail(error, MF_NO_MEMORY,
                         "search: no memory for %" PRIu32 " individuals of %" PRIu32 " bytes",
                         mf_search_capacity(config), config->genome_bytes);
    if (status != MF_OK)
        mf_search_destroy(search);
    else
        *out = search;
    return status;
}

void mf_search_destroy(mf_Search *search) {
    if (search == NULL)
        return;
    mf_Context *context = search->context;
    mf_search_destroy_islands(search);
    mf_release(context, search->current.id);
    mf_release(context, search->next.id);
    mf_release(context, search->born.id);
    mf_release(context, search->spare.id);
    mf_release(context, search->cells);
    mf_release(context, search->weights);
    mf_release(context, search->order);
    mf_release(context, search->order_spare);
    mf_release(context, search->finest);
    mf_release(context, search->finest_fitness);
    mf_release(context, search);
}

// ---- one generation -----------------------------------------------------------------------------

double mf_search_bias(const mf_SearchConfig *config, double verified, double fitness) {
    double bias = merit_of(config, verified, fitness) - fitness;
    return __builtin_isfinite(bias) ? bias : 0;
}

// Makes individual `i` of search->next a mutated copy of the individual of rank `parent`, or, of an
// individual of another island, a copy.
static mf_Status bear(mf_Search *search, uint32_t i, uint64_t id, const mf_Search *home,
                      uint32_t parent, mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    const mf_Population *current = &home->current;
    mf_Population *next = &search->next;
    size_t bytes = config->genome_bytes;
    mf_search_clear(next, i, id, current->id[parent]);
    next->bias[i] = mf_search_bias(config, current->verified[parent], current->fitness[parent]);
    if (home == search)
        return mf_search_vary(search, current->genomes + parent * bytes, id,
                              next->genomes + i * bytes, error);
    memcpy(next->genomes + i * bytes, current->genomes + parent * bytes, bytes);
    return MF_OK;
}

// Fills search->next: the survivors in rank order, then the children in id order.
static mf_Status breed(mf_Search *search, mf_Batch *out, mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    mf_Population *next = &search->next;
    uint32_t immigrants = mf_search_immigrants(search);
    uint32_t kept = search->generation == 0 ? config->population : config->survivors;
    search->next_count = config->population;
    for (uint32_t i = 0; i < kept; i++) {
        mf_search_copy(config, next, i, &search->current, i);
        if (next->checked[i] != MF_VERIFIED_NEVER)
            next->checked[i] = MF_VERIFIED_BEFORE;
    }
    bool sequential = config->selection == MF_SELECTION_TRUNCATION;
    uint32_t elite = mf_search_elite(search), parents = elite > 0 ? elite : kept;
    if (!sequential && kept < config->population)
        mf_search_weigh_parents(search, &search->current, NULL, search->count);
    for (uint32_t i = kept; i < config->population; i++) {
        uint64_t id = mf_search_next_id(search, i - kept);
        if (i - kept < immigrants) {
            MF_TRY(bear(search, i, id, search->source, i - kept, error));
            continue;
        }
        uint32_t parent =
            sequential ? (i - kept) % parents : mf_search_choose_parent(search, id, search->count);
        MF_TRY(bear(search, i, id, search, parent, error));
    }
    uint32_t first = config->reuse_fitness && search->generation > 0 ? config->survivors : 0;
    *out = (mf_Batch){next->genomes + (size_t)first * config->genome_bytes, next->fitness + first,
                      config->population - first};
    return MF_OK;
}

mf_Status mf_search_rate(const mf_Search *search, mf_EvaluateFn function, void *user,
                         const uint8_t *genomes, uint32_t count, double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = __builtin_nan("");
    mf_Error failure = {.status = MF_OK};
    mf_Status status =
        function(user, genomes, count, search->config.genome_bytes, fitness, &failure);
    if (status != MF_OK) {
        if (failure.message[0] == '\0')
            return mf_fail(error, status, "search: the evaluation of generation %" PRIu32 " failed",
                           search->generation + 1);
        failure.status = status;
        if (error != NULL)
            *error = failure;
        return status;
    }
    for (uint32_t i = 0; i < count; i++)
        if (fitness[i] != fitness[i])
            fitness[i] = __builtin_nan("");
        else if (fitness[i] == 0)
            fitness[i] = 0;
    return MF_OK;
}

// Whether `i` of search->next has exactly the fitness of an elite individual: at the cheap level it
// moves identically.
static bool is_neutral(const mf_Search *search, uint32_t elite, uint32_t i) {
    for (uint32_t e = 0; e < elite; e++)
        if (search->next.fitness[e] == search->next.fitness[i])
            return true;
    return false;
}

// Writes the unverified individuals in search->order to search->order_spare, neutral ones last.
// Returns their number.
static uint32_t choose_candidates(const mf_Search *search) {
    const mf_SearchConfig *config = &search->config;
    uint32_t *who = search->order_spare, count = 0, elite = mf_search_elite(search);
    for (int neutral = 0; neutral < 2; neutral++) {
        for (uint32_t rank = 0; rank < config->population && count < config->verify_best; rank++) {
            uint32_t i = search->order[rank];
            if (search->next.checked[i] == MF_VERIFIED_NEVER &&
                is_neutral(search, elite, i) == (neutral == 1))
                who[count++] = i;
        }
    }
    return count;
}

// Verifies candidates in search->next if a verification is due.
static mf_Status verify_next(mf_Search *search, mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    const mf_Population *next = &search->next;
    if (config->verify_every == 0 || (search->generation + 1) % config->verify_every != 0)
        return MF_OK;
    const uint32_t *who = search->order_spare;
    uint32_t count = choose_candidates(search);
    size_t bytes = config->genome_bytes;
    for (uint32_t i = 0; i < count; i++)
        memcpy(search->finest + i * bytes, next->genomes + who[i] * bytes, bytes);
    if (count == 0)
        return MF_OK;
    MF_TRY(mf_search_rate(search, config->verify, config->verify_user, search->finest, count,
                          search->finest_fitness, error));
    for (uint32_t i = 0; i < count; i++) {
        next->verified[who[i]] = search->finest_fitness[i];
        next->checked[who[i]] = MF_VERIFIED_NOW;
    }
    return MF_OK;
}

// The populations of a search: its islands, or itself.
static mf_Search *const *populations(mf_Search *const *search) {
    return (*search)->islands != NULL ? (*search)->islands : search;
}

// A generation of all populations in steps: each makes children, one call evaluates them.
static mf_Status advance_generation(mf_Search *search, mf_Batch *batches, mf_Error *error) {
    mf_Search *const *each = populations(&search);
    uint32_t count = search->config.islands;
    for (uint32_t k = 0; k < count; k++)
        MF_TRY(breed(each[k], &batches[k], error));
    MF_TRY(mf_search_rate_batches(search, batches, count, error));
    for (uint32_t k = 0; k < count; k++) {
        rank_next(each[k]);
        MF_TRY(verify_next(each[k], error));
        promote(each[k]);
    }
    return MF_OK;
}

static mf_Status advance_steady(mf_Search *search, mf_Batch *batches, mf_Error *error) {
    mf_Search *const *each = populations(&search);
    const mf_SearchConfig *config = &search->config;
    uint32_t count = config->islands, births = config->population, batch = config->batch;
    for (uint32_t k = 0; k < count; k++)
        mf_search_begin_steady(each[k]);
    for (uint32_t first = 0; first < births; first += batch) {
        uint32_t size = births - first < batch ? births - first : batch;
        for (uint32_t k = 0; k < count; k++)
            MF_TRY(mf_search_breed_steady(each[k], first, size, &batches[k], error));
        MF_TRY(mf_search_rate_batches(search, batches, count, error));
        for (uint32_t k = 0; k < count; k++)
            MF_TRY(mf_search_insert_steady(each[k], first, size, error));
    }
    for (uint32_t k = 0; k < count; k++)
        mf_search_end_steady(each[k]);
    return MF_OK;
}

mf_Status mf_search_advance(mf_Search *search, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(search != NULL, error, "search: search is NULL");
    if (search->generation == UINT32_MAX)
        return mf_fail(error, MF_LIMIT, "search: more than 2^32 - 1 generations");
    mf_Search *const *each = populations(&search);
    mf_Batch batches[MF_ISLAND_LIMIT];
    MF_TRY(mf_search_is_steady(&search->config) ? advance_steady(search, batches, error)
                                                : advance_generation(search, batches, error));
    for (uint32_t k = 0; k < search->config.islands; k++) {
        mf_search_commit(each[k]);
        each[k]->generation++;
    }
    if (search->islands != NULL)
        mf_search_unite(search);
    return MF_OK;
}

bool mf_search_adopt(mf_Search *search, uint32_t generation, uint64_t hash) {
    mf_search_sort(search);
    if (hash_population(&search->config, &search->next, search->order, search->next_count) != hash)
        return false;
    if (search->islands != NULL && !mf_search_divide(search, generation))
        return false;
    mf_search_commit(search);
    search->generation = generation;
    return true;
}

// ---- reading ------------------------------------------------------------------------------------

uint32_t mf_search_generation(const mf_Search *search) {
    return search == NULL ? 0 : search->generation;
}

const mf_SearchConfig *mf_search_config_of(const mf_Search *search) {
    return search == NULL ? NULL : &search->config;
}

uint32_t mf_search_count(const mf_Search *search) {
    return search == NULL ? 0 : search->count;
}

mf_Individual mf_search_individual(const mf_Search *search, uint32_t rank) {
    MF_DEFAULT_FLOATS;
    if (search == NULL)
        return (mf_Individual){0};
    if (rank >= search->count)
        return (mf_Individual){.id = UINT64_MAX,
                               .parent = UINT64_MAX,
                               .fitness = __builtin_nan(""),
                               .verified = __builtin_nan("")};
    return (mf_Individual){
        .id = search->current.id[rank],
        .parent = search->current.parent[rank],
        .fitness = search->current.fitness[rank],
        .verified = search->current.verified[rank],
        .genome = search->current.genomes + (size_t)rank * search->config.genome_bytes,
    };
}

double mf_search_best(const mf_Search *search) {
    if (search == NULL)
        return 0;
    return search->count == 0 ? __builtin_nan("") : search->current.fitness[0];
}

uint32_t mf_search_verified(const mf_Search *search) {
    return search == NULL ? 0 : count_checked(&search->current, search->count);
}

uint32_t mf_search_elite(const mf_Search *search) {
    const mf_Population *current = &search->current;
    uint32_t most = elite_cells(&search->config), count = 0;
    if (search->config.verify_every == 0)
        return 0;
    // The following individuals are not better than the last, or unverified, or failed the
    // verification.
    double last = __builtin_inf();
    while (count < most && current->checked[count] != MF_VERIFIED_NEVER &&
           current->merit[count] < last)
        last = current->merit[count++];
    return count;
}

// Sum of the finite fitness values, and their number.
static double sum_fitness(const mf_Search *search, uint32_t *count) {
    double sum = 0;
    *count = 0;
    for (uint32_t rank = 0; rank < search->count; rank++) {
        double fitness = search->current.fitness[rank];
        if (!__builtin_isfinite(fitness))
            continue;
        sum += fitness;
        ++*count;
    }
    return sum;
}

double mf_search_mean(const mf_Search *search) {
    MF_DEFAULT_FLOATS;
    if (search == NULL)
        return 0;
    uint32_t count;
    double sum = sum_fitness(search, &count);
    return count == 0 ? __builtin_nan("") : sum / count;
}

const double *mf_search_descriptors(const mf_Search *search, uint32_t rank) {
    if (search == NULL || search->config.descriptor_count == 0 || rank >= search->count)
        return NULL;
    return search->current.descriptor + (size_t)rank * search->config.descriptor_count;
}

double mf_search_coverage(const mf_Search *search) {
    if (search == NULL || search->config.descriptor_count == 0)
        return 0;
    return (double)search->count / mf_search_capacity(&search->config);
}

double mf_search_quality(const mf_Search *search) {
    MF_DEFAULT_FLOATS;
    uint32_t count;
    if (search == NULL || search->config.descriptor_count == 0)
        return 0;
    return sum_fitness(search, &count);
}
