// Evolution of byte strings by truncation selection and mutation alone (no crossover), as in the
// genetic programming of NeoPhysIx: the best `survivors` are kept, each is duplicated in turn, best
// first, until the population is full again, and every duplicate is mutated.
//
// Mutation. Each byte of a child changes with chance `mutation_rate`. A byte that changes becomes,
// with equal chance, (a) any other byte, (b) itself with one bit flipped, or (c) itself with
// another lower five bits. Genomes are machine code with a 3-bit opcode above a 5-bit operand: (a)
// reaches everything, (b) is the small step, (c) keeps the instruction and changes what it acts on.
// All three always change the byte, so the rate is exact; a child in which no byte was chosen gets
// one mutation at a random position, so no evaluation is spent on a copy.
//
// Neutral drift. Equal fitness ranks the younger (higher id) first, so that children as good as
// their parents replace them over time and the population drifts along plateaus instead of keeping
// its oldest members. -0 is stored as 0 and every NaN as one NaN, the worst value of all.
//
// Verification (`verify`) evaluates the best of those that are not verified yet; the result is
// stored with the individual. Its score is the verified fitness minus the difference of the two
// fitness values: an individual that is good at only one level exploits the errors of that level.
// The best by this score are the elite: first by rank in every generation, so that only a better
// verified score replaces them, and, as soon as there is one, the only parents. (A fitness at the
// cheap level can result from effects that the level does not model. A mutant that is good only at
// the cheap level would otherwise displace verified ones before the next verification, and its
// children would be the candidates of that verification.) Verified individuals outside of the elite
// rank last. Unverified individuals rank in between by a prediction: their fitness plus the
// difference of their parent's score and fitness. So every child is one mutation from a verified
// individual, and the cheap level selects among mutants of the same parent. This is the
// pre-selection of evolution with surrogate models (Jin, Surrogate-assisted evolutionary
// computation, Swarm and Evolutionary Computation 1, 2011) with an additive correction of the cheap
// model; testing solutions at the level of their use during the search is from Koos, Mouret and
// Doncieux, The transferability approach, IEEE Transactions on Evolutionary Computation 17, 2013.
//
// Random numbers are mf_random(seed, id, stream, draw): an individual depends on the seed, its id
// and its parent, never on threads, the order of evaluation or the number of resumptions.
//
// Invariants: ids are 0 .. population-1 in the first generation and continue without gaps, so the
// ids born in a generation follow from its number; current is only written after a whole generation
// has been evaluated, so a failed evaluation leaves the search as it was.
#include "search/population.h"

#include <inttypes.h>
#include <string.h>

enum { POPULATION_LIMIT = 1 << 20, GENOME_LIMIT = 4096 };

// Streams of mf_random, different from the small numbers that sensors use.
enum { STREAM_GENOME = 0x67656e65, STREAM_MUTATION = 0x6d757461 };

mf_SearchConfig mf_search_config(void) {
    return (mf_SearchConfig){
        .struct_size = sizeof(mf_SearchConfig),
        .population = 100,
        .survivors = 50,
        .genome_bytes = 32,
        .mutation_rate = 1.0 / 16,
        .verify_best = 8,
        .verify_disparity = 1,
    };
}

mf_Status mf_search_check_config(const mf_SearchConfig *config, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config: expected one that starts from mf_search_config()");
    if (config->population < 2 || config->population > POPULATION_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.population: expected 2 .. %d, found %" PRIu32,
                       POPULATION_LIMIT, config->population);
    if (config->survivors < 1 || config->survivors >= config->population)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.survivors: expected 1 .. %" PRIu32
                       " (population - 1), found %" PRIu32,
                       config->population - 1, config->survivors);
    if (config->genome_bytes < 1 || config->genome_bytes > GENOME_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.genome_bytes: expected 1 .. %d, found %" PRIu32, GENOME_LIMIT,
                       config->genome_bytes);
    // Written so that NaN also fails.
    if (!(config->mutation_rate >= 0 && config->mutation_rate <= 1))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.mutation_rate: expected 0 .. 1, found %g",
                       config->mutation_rate);
    if (config->verify_every > 0 &&
        (config->verify_best < 2 || config->verify_best > config->population))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.verify_best: expected 2 .. %" PRIu32
                       " (population), found %" PRIu32,
                       config->population, config->verify_best);
    if (config->verify_every > 0 &&
        !(config->verify_disparity >= 0 && config->verify_disparity <= 1000))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.verify_disparity: expected 0 .. 1000, found %g",
                       config->verify_disparity);
    return MF_OK;
}

uint64_t mf_search_first_id(const mf_SearchConfig *config, uint32_t generation) {
    if (generation <= 1)
        return 0;
    uint64_t births = config->population - config->survivors;
    return config->population + (generation - UINT64_C(2)) * births;
}

uint32_t mf_search_births(const mf_SearchConfig *config, uint32_t generation) {
    return generation <= 1 ? config->population : config->population - config->survivors;
}

// ---- random genomes and mutation ---------------------------------------------------------------

static void draw(const mf_Search *search, uint64_t id, uint32_t stream, uint32_t index,
                 uint32_t words[4]) {
    // The upper half of the id shares the tick with the draw index, which stays below 2^32.
    uint64_t tick = (id & UINT64_C(0xffffffff00000000)) | index;
    mf_random(search->config.seed, (uint32_t)id, stream, tick, words);
}

static void randomize(const mf_Search *search, uint64_t id, uint8_t *genome) {
    uint32_t words[4];
    for (uint32_t i = 0; i < search->config.genome_bytes; i++) {
        if (i % 16 == 0)
            draw(search, id, STREAM_GENOME, i / 16, words);
        genome[i] = (uint8_t)(words[i % 16 / 4] >> 8 * (i % 4));
    }
}

// A byte different from `byte`; see the file header for the three kinds.
static uint8_t mutated(uint8_t byte, uint32_t kind_word, uint32_t value_word) {
    switch (mf_random_below(kind_word, 3)) {
    case 0:
        return (uint8_t)(byte + 1 + mf_random_below(value_word, 255));
    case 1:
        return (uint8_t)(byte ^ 1u << mf_random_below(value_word, 8));
    default:
        return (uint8_t)((byte & 0xe0) | ((byte + 1 + mf_random_below(value_word, 31)) & 0x1f));
    }
}

static void mutate(const mf_Search *search, uint64_t id, uint8_t *genome) {
    uint32_t bytes = search->config.genome_bytes;
    uint32_t words[4];
    bool changed = false;
    for (uint32_t i = 0; i < bytes; i++) {
        draw(search, id, STREAM_MUTATION, i, words);
        if (mf_random_unit_double(words[0], words[1]) >= search->config.mutation_rate)
            continue;
        genome[i] = mutated(genome[i], words[2], words[3]);
        changed = true;
    }
    if (changed)
        return;
    draw(search, id, STREAM_MUTATION, bytes, words);
    uint8_t *byte = genome + mf_random_below(words[0], bytes);
    *byte = mutated(*byte, words[2], words[3]);
}

// ---- ranking -----------------------------------------------------------------------------------

static bool ranks_before(const mf_Population *population, uint32_t a, uint32_t b) {
    double x = population->fitness[a] + population->bias[a];
    double y = population->fitness[b] + population->bias[b];
    bool x_valid = x == x, y_valid = y == y;
    if (x_valid != y_valid)
        return x_valid;
    if (x_valid && x != y)
        return x > y;
    return population->id[a] > population->id[b];
}

// The score of a verified individual; NaN, the worst value, if the verification failed.
static double merit_of(const mf_SearchConfig *config, double verified, double fitness) {
    double weight = config->verify_disparity;
    double gap = verified < fitness ? fitness - verified : verified - fitness;
    double merit = weight > 0 ? verified - weight * gap : verified;
    return __builtin_isfinite(merit) ? merit : __builtin_nan("");
}

// Order by verified score; NaN, the worst value, last. The previous order decides between equals,
// as the sort is stable.
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
    for (uint32_t i = 0; i < search->config.population; i++)
        search->order[i] = i;
    sort_order(search, search->config.population, ranks_before);
}

static uint32_t count_checked(const mf_SearchConfig *config, const mf_Population *population) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->population; i++)
        count += population->checked[i] != MF_VERIFIED_NEVER;
    return count;
}

static uint32_t elite_places(const mf_SearchConfig *config) {
    uint32_t half = config->verify_best - config->verify_best / 2;
    return half < config->survivors ? half : config->survivors;
}

// Moves the elite among the first `known` of search->order, which are sorted by verified score, to
// the front and returns its size: of equals only the first.
static uint32_t choose_elite(mf_Search *search, uint32_t known) {
    const double *merit = search->next.merit;
    uint32_t most = elite_places(&search->config), count = 0, rest = 0;
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
    uint32_t count = search->config.population, known = 0, others = 0;
    uint32_t total = count_checked(&search->config, &search->next);
    if (total == 0)
        return;
    uint32_t *order = search->order, *spare = search->order_spare;
    for (uint32_t i = 0; i < count; i++) {
        if (search->next.checked[order[i]] != MF_VERIFIED_NEVER)
            spare[known++] = order[i];
        else
            spare[total + others++] = order[i];
    }
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

// Copies search->next into search->current by rank.
static void commit_next(mf_Search *search) {
    size_t bytes = search->config.genome_bytes;
    const mf_Population *next = &search->next;
    mf_Population *current = &search->current;
    for (uint32_t rank = 0; rank < search->config.population; rank++) {
        uint32_t from = search->order[rank];
        current->id[rank] = next->id[from];
        current->parent[rank] = next->parent[from];
        current->fitness[rank] = next->fitness[from];
        current->verified[rank] = next->verified[from];
        current->merit[rank] = next->merit[from];
        current->bias[rank] = next->bias[from];
        current->checked[rank] = next->checked[from];
        memcpy(current->genomes + rank * bytes, next->genomes + from * bytes, bytes);
    }
}

// ---- hash --------------------------------------------------------------------------------------

static uint64_t hash_word(uint64_t hash, uint64_t word) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
    return mf_hash_bytes(hash, bytes, sizeof bytes);
}

// `order` NULL: storage order.
static uint64_t hash_population(const mf_SearchConfig *config, const mf_Population *population,
                                const uint32_t *order) {
    uint64_t hash = MF_HASH_START;
    for (uint32_t rank = 0; rank < config->population; rank++) {
        size_t i = order == NULL ? rank : order[rank];
        uint64_t fitness_bits;
        memcpy(&fitness_bits, &population->fitness[i], sizeof fitness_bits);
        hash = hash_word(hash, population->id[i]);
        hash = hash_word(hash, population->parent[i]);
        hash = hash_word(hash, fitness_bits);
        hash = mf_hash_bytes(hash, population->genomes + i * config->genome_bytes,
                             config->genome_bytes);
        if (population->checked[i] != MF_VERIFIED_NEVER) {
            memcpy(&fitness_bits, &population->verified[i], sizeof fitness_bits);
            hash = hash_word(hash, fitness_bits);
        }
    }
    return hash;
}

uint64_t mf_search_hash(const mf_Search *search) {
    if (search == NULL)
        return 0;
    return hash_population(&search->config, &search->current, NULL);
}

// ---- creation and destruction ------------------------------------------------------------------

static bool allocate_population(mf_Context *context, const mf_SearchConfig *config,
                                mf_Population *population) {
    uint32_t count = config->population;
    population->id = mf_allocate(context, count, sizeof *population->id);
    population->parent = mf_allocate(context, count, sizeof *population->parent);
    population->fitness = mf_allocate(context, count, sizeof *population->fitness);
    population->verified = mf_allocate(context, count, sizeof *population->verified);
    population->merit = mf_allocate(context, count, sizeof *population->merit);
    population->bias = mf_allocate(context, count, sizeof *population->bias);
    population->checked = mf_allocate(context, count, 1);
    population->genomes = mf_allocate(context, count, config->genome_bytes);
    return population->id != NULL && population->parent != NULL && population->fitness != NULL &&
           population->verified != NULL && population->merit != NULL && population->bias != NULL &&
           population->checked != NULL && population->genomes != NULL;
}

static void release_population(mf_Context *context, mf_Population *population) {
    mf_release(context, population->id);
    mf_release(context, population->parent);
    mf_release(context, population->fitness);
    mf_release(context, population->verified);
    mf_release(context, population->merit);
    mf_release(context, population->bias);
    mf_release(context, population->checked);
    mf_release(context, population->genomes);
}

void mf_search_reset(mf_Search *search) {
    search->generation = 0;
    for (uint32_t i = 0; i < search->config.population; i++) {
        search->current.id[i] = i;
        search->current.parent[i] = UINT64_MAX;
        search->current.fitness[i] = __builtin_nan("");
        search->current.verified[i] = __builtin_nan("");
        search->current.merit[i] = __builtin_nan("");
        search->current.bias[i] = 0;
        search->current.checked[i] = MF_VERIFIED_NEVER;
        randomize(search, i, search->current.genomes + (size_t)i * search->config.genome_bytes);
    }
}

mf_Status mf_search_create(mf_Context *context, const mf_SearchConfig *config, mf_Search **out,
                           mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "search: out is NULL");
    *out = NULL;
    if (context == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "search: context is NULL");
    mf_Status status = mf_search_check_config(config, error);
    if (status != MF_OK)
        return status;
    if (config->evaluate == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.evaluate: expected a function, found NULL");
    if (config->verify_every > 0 && config->verify == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.verify: expected a function, found NULL");
    mf_Search *search = mf_allocate(context, 1, sizeof *search);
    if (search == NULL)
        return mf_fail(error, MF_NO_MEMORY, "search: no memory");
    search->context = context;
    search->config = *config;
    search->order = mf_allocate(context, config->population, sizeof *search->order);
    search->order_spare = mf_allocate(context, config->population, sizeof *search->order_spare);
    bool have_memory = allocate_population(context, config, &search->current);
    have_memory = allocate_population(context, config, &search->next) && have_memory;
    if (config->verify_every > 0) {
        search->finest = mf_allocate(context, config->verify_best, config->genome_bytes);
        search->finest_fitness = mf_allocate(context, config->verify_best, sizeof(double));
        have_memory = have_memory && search->finest != NULL && search->finest_fitness != NULL;
    }
    if (!have_memory || search->order == NULL || search->order_spare == NULL) {
        mf_search_destroy(search);
        return mf_fail(error, MF_NO_MEMORY,
                       "search: no memory for %" PRIu32 " individuals of %" PRIu32 " bytes",
                       config->population, config->genome_bytes);
    }
    mf_search_reset(search);
    *out = search;
    return MF_OK;
}

void mf_search_destroy(mf_Search *search) {
    if (search == NULL)
        return;
    mf_Context *context = search->context;
    release_population(context, &search->current);
    release_population(context, &search->next);
    mf_release(context, search->order);
    mf_release(context, search->order_spare);
    mf_release(context, search->finest);
    mf_release(context, search->finest_fitness);
    mf_release(context, search);
}

// ---- one generation ----------------------------------------------------------------------------

double mf_search_bias(const mf_SearchConfig *config, double verified, double fitness) {
    double bias = merit_of(config, verified, fitness) - fitness;
    return __builtin_isfinite(bias) ? bias : 0;
}

// Fills search->next: the survivors in rank order, then their mutated duplicates in id order.
static void breed(mf_Search *search) {
    const mf_SearchConfig *config = &search->config;
    const mf_Population *current = &search->current;
    mf_Population *next = &search->next;
    uint32_t kept = search->generation == 0 ? config->population : config->survivors;
    size_t bytes = config->genome_bytes;
    memcpy(next->id, current->id, kept * sizeof *next->id);
    memcpy(next->parent, current->parent, kept * sizeof *next->parent);
    memcpy(next->fitness, current->fitness, kept * sizeof *next->fitness);
    memcpy(next->genomes, current->genomes, kept * bytes);
    memcpy(next->verified, current->verified, kept * sizeof *next->verified);
    memcpy(next->bias, current->bias, kept * sizeof *next->bias);
    for (uint32_t i = 0; i < kept; i++)
        next->checked[i] =
            current->checked[i] == MF_VERIFIED_NEVER ? MF_VERIFIED_NEVER : MF_VERIFIED_BEFORE;
    uint32_t elite = mf_search_elite(search), parents = elite > 0 ? elite : kept;
    uint64_t first_id = mf_search_first_id(config, search->generation + 1);
    for (uint32_t i = kept; i < config->population; i++) {
        uint32_t parent = (i - kept) % parents;
        uint8_t *genome = next->genomes + i * bytes;
        next->id[i] = first_id + (i - kept);
        next->parent[i] = current->id[parent];
        next->verified[i] = __builtin_nan("");
        next->bias[i] = mf_search_bias(config, current->verified[parent], current->fitness[parent]);
        next->checked[i] = MF_VERIFIED_NEVER;
        memcpy(genome, current->genomes + parent * bytes, bytes);
        mutate(search, next->id[i], genome);
    }
}

// Rates `count` genomes by one of the two functions; equal results have equal bits.
static mf_Status rate(const mf_Search *search, mf_EvaluateFn function, void *user,
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
    for (uint32_t i = 0; i < count; i++) {
        if (fitness[i] != fitness[i])
            fitness[i] = __builtin_nan("");
        else if (fitness[i] == 0)
            fitness[i] = 0;
    }
    return MF_OK;
}

static mf_Status evaluate_next(mf_Search *search, mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    bool reuse = config->reuse_fitness && search->generation > 0;
    uint32_t first = reuse ? config->survivors : 0, count = config->population - first;
    return rate(search, config->evaluate, config->user,
                search->next.genomes + (size_t)first * config->genome_bytes, count,
                search->next.fitness + first, error);
}

// Whether `i` of search->next has bit for bit the fitness of an elite individual: at the cheap
// level it moves identically.
static bool is_neutral(const mf_Search *search, uint32_t elite, uint32_t i) {
    for (uint32_t e = 0; e < elite; e++) {
        if (search->next.fitness[e] == search->next.fitness[i])
            return true;
    }
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
    mf_Status status = rate(search, config->verify, config->verify_user, search->finest, count,
                            search->finest_fitness, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        next->verified[who[i]] = search->finest_fitness[i];
        next->checked[who[i]] = MF_VERIFIED_NOW;
    }
    return MF_OK;
}

mf_Status mf_search_advance(mf_Search *search, mf_Error *error) {
    if (search == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "search: search is NULL");
    if (search->generation == UINT32_MAX)
        return mf_fail(error, MF_LIMIT, "search: more than 2^32 - 1 generations");
    breed(search);
    mf_Status status = evaluate_next(search, error);
    if (status != MF_OK)
        return status;
    rank_next(search);
    status = verify_next(search, error);
    if (status != MF_OK)
        return status;
    promote(search);
    commit_next(search);
    search->generation++;
    return MF_OK;
}

bool mf_search_adopt(mf_Search *search, uint32_t generation, uint64_t hash) {
    rank_next(search);
    promote(search);
    if (hash_population(&search->config, &search->next, search->order) != hash)
        return false;
    commit_next(search);
    search->generation = generation;
    return true;
}

// ---- reading -----------------------------------------------------------------------------------

uint32_t mf_search_generation(const mf_Search *search) {
    if (search == NULL)
        return 0;
    return search->generation;
}

const mf_SearchConfig *mf_search_config_of(const mf_Search *search) {
    if (search == NULL)
        return NULL;
    return &search->config;
}

mf_Individual mf_search_individual(const mf_Search *search, uint32_t rank) {
    if (search == NULL)
        return (mf_Individual){0};
    if (rank >= search->config.population)
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
    return search->current.fitness[0];
}

uint32_t mf_search_verified(const mf_Search *search) {
    if (search == NULL)
        return 0;
    return count_checked(&search->config, &search->current);
}

uint32_t mf_search_elite(const mf_Search *search) {
    const mf_Population *current = &search->current;
    uint32_t most = elite_places(&search->config), count = 0;
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

double mf_search_mean(const mf_Search *search) {
    if (search == NULL)
        return 0;
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < search->config.population; rank++) {
        double fitness = search->current.fitness[rank];
        if (!__builtin_isfinite(fitness))
            continue;
        sum += fitness;
        count++;
    }
    return count == 0 ? __builtin_nan("") : sum / count;
}
