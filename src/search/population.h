// Internals of a search, shared with the archive, which stores and restores it.
#pragma once

#include <mayfly/search.h>

// When an individual was verified.
typedef enum mf_Verified { MF_VERIFIED_NEVER, MF_VERIFIED_BEFORE, MF_VERIFIED_NOW } mf_Verified;

// Individuals as arrays of equal length; the genomes are contiguous.
typedef struct mf_Population {
    uint64_t *id;
    uint64_t *parent;
    double *fitness;
    double *verified;   // NaN: not verified, or the verification failed
    double *merit;      // its score; only for verified individuals
    double *bias;       // parent's score minus its fitness; 0 if unknown at birth
    uint8_t *checked;   // mf_Verified: whether it was verified
    double *descriptor; // descriptor_count values each; NULL without descriptors
    uint8_t *genomes;
} mf_Population;

struct mf_Search {
    mf_Context *context;
    mf_SearchConfig config;
    uint32_t generation;   // evaluated so far
    uint32_t count;        // alive, in `current`
    uint32_t next_count;   // scratch: in `next`
    mf_Population current; // sorted by rank once a generation has been evaluated
    mf_Population next;    // scratch: candidates that become current on success
    mf_Population born;    // births of the newest generation in id order, also of those replaced
                           // in it; not with MF_REPLACEMENT_GENERATION, where all live
    mf_Population spare;   // scratch: births of the generation under way
    uint32_t *order;       // scratch: rank to index into `next`
    uint32_t *order_spare; // scratch of the sort
    uint32_t *cells;       // scratch of MAP-Elites: index into `next` by cell; else NULL
    double *weights;       // scratch: running sums of chances; NULL if no choice needs them
    uint8_t *finest;       // scratch: genomes for the verification; NULL: none
    double *finest_fitness;
    // Islands (islands.c). A search of several is their union: `current` has the individuals of all
    // by rank. Ids of island i of n are congruent to i modulo n, in this search and in the island.
    mf_Search **islands;     // config.islands of them; NULL: this is the only population
    uint32_t island;         // number of this island, else 0
    uint32_t island_count;   // [1] of those that it is one of, else 1
    const mf_Search *source; // where its immigrants come from; NULL: from nowhere
};

enum { MF_ISLAND_LIMIT = 256 };

// Checks the ranges of all members except the functions; errors name the member.
mf_Status mf_search_check_config(const mf_SearchConfig *config, mf_Error *error);

// Lowest id born in `generation` (counted from 1), and the number of births in it, of all islands.
uint64_t mf_search_first_id(const mf_SearchConfig *config, uint32_t generation);
uint32_t mf_search_births(const mf_SearchConfig *config, uint32_t generation);

// Whether children are inserted one by one: steady state and MAP-Elites.
static inline bool mf_search_is_steady(const mf_SearchConfig *config) {
    return config->replacement != MF_REPLACEMENT_GENERATION;
}

// Most individuals that can be alive: the populations, or the cells of MAP-Elites.
uint32_t mf_search_capacity(const mf_SearchConfig *config);

// Resets to the state before the first generation. Fails only as `vary` fails.
mf_Status mf_search_reset(mf_Search *search, mf_Error *error);

// Four random words of individual `id`. Streams differ from the small numbers that sensors use.
enum {
    MF_STREAM_GENOME = 0x67656e65,
    MF_STREAM_ISLAND = 0x69736c65,
    MF_STREAM_MUTATION = 0x6d757461,
    MF_STREAM_PARENT = 0x70617265,
    MF_STREAM_PLACEMENT = 0x706c6163,
};
void mf_search_draw(const mf_Search *search, uint64_t id, uint32_t stream, uint32_t index,
                    uint32_t words[4]);

// Makes the genome of individual `id` of the first generation (parent NULL), or of a child.
mf_Status mf_search_vary(const mf_Search *search, const uint8_t *parent, uint64_t id,
                         uint8_t *genome, mf_Error *error);

// Prepares the choice among the `count` best of `population` (rank to index: `order`, NULL: the
// same) by the chances of the scheme; writes search->weights if these need sums.
void mf_search_weigh_parents(mf_Search *search, const mf_Population *population,
                             const uint32_t *order, uint32_t count);
// The rank of the parent of child `id` among the weighted individuals.
uint32_t mf_search_choose_parent(const mf_Search *search, uint64_t id, uint32_t count);
// The rank in search->next of the individual that child `child` of search->spare replaces, at least
// `protect`.
uint32_t mf_search_choose_victim(mf_Search *search, uint32_t child);

// Evaluates `count` genomes by one of the two functions; equal results have equal bits.
mf_Status mf_search_rate(const mf_Search *search, mf_EvaluateFn function, void *user,
                         const uint8_t *genomes, uint32_t count, double *fitness, mf_Error *error);
// Whether a of one population ranks before b of another.
bool mf_search_ranks_before(const mf_Population *one, uint32_t a, const mf_Population *other,
                            uint32_t b);
// An individual that was neither evaluated nor verified, without descriptors.
void mf_search_clear(mf_Population *population, uint32_t i, uint64_t id, uint64_t parent);
// Copies individual `from` over individual `to`.
void mf_search_copy(const mf_SearchConfig *config, mf_Population *target, uint32_t to,
                    const mf_Population *source, uint32_t from);
// Makes the first next_count of search->order the current individuals.
void mf_search_commit(mf_Search *search);
// Sorts the search->next_count individuals of search->next by rank.
void mf_search_sort(mf_Search *search);
// Number of copies from the source among the births of the generation under way.
static inline uint32_t mf_search_immigrants(const mf_Search *search) {
    const mf_SearchConfig *config = &search->config;
    bool due = search->source != NULL && config->migration_every > 0 && search->generation > 0 &&
               search->generation % config->migration_every == 0;
    return due ? config->migration_best : 0;
}
// The id of birth `i` of this population in the generation under way.
static inline uint64_t mf_search_next_id(const mf_Search *search, uint32_t i) {
    return (mf_search_first_id(&search->config, search->generation + 1) + i) *
               search->island_count +
           search->island;
}

// Genomes to evaluate, and where their fitness belongs.
typedef struct mf_Batch {
    uint8_t *genomes;
    double *fitness;
    uint32_t count;
} mf_Batch;
// Steps of a generation of a steady state or MAP-Elites (steady.c): start it, make children `first`
// .. first+count-1, insert them once they are evaluated, end it.
void mf_search_begin_steady(mf_Search *search);
mf_Status mf_search_breed_steady(mf_Search *search, uint32_t first, uint32_t count, mf_Batch *out,
                                 mf_Error *error);
mf_Status mf_search_insert_steady(mf_Search *search, uint32_t first, uint32_t count,
                                  mf_Error *error);
void mf_search_end_steady(mf_Search *search);

// The seed of an island.
uint64_t mf_search_island_seed(uint64_t seed, uint32_t island);
// mf_search_create for a config that has been checked.
mf_Status mf_search_create_island(mf_Context *context, const mf_SearchConfig *config,
                                  uint32_t island, uint32_t island_count, mf_Search **out,
                                  mf_Error *error);
// Creates the islands of a search of several, whose own arrays exist. After a failure, too,
// mf_search_destroy_islands releases them.
mf_Status mf_search_create_islands(mf_Search *search, mf_Error *error);
void mf_search_destroy_islands(mf_Search *search);
// Evaluates one batch of each of `count` populations in one call.
mf_Status mf_search_rate_batches(mf_Search *search, const mf_Batch *batches, uint32_t count,
                                 mf_Error *error);
// Makes search->current and search->born the union of the islands.
void mf_search_unite(mf_Search *search);
// Gives the individuals of search->next to the islands they were born in. False and nothing has
// changed if these would have another number than their population.
bool mf_search_divide(mf_Search *search, uint32_t generation);

// Size of the elite (search.c) of the current generation, its first individuals.
uint32_t mf_search_elite(const mf_Search *search);

// The correction of a child's fitness by its parent's verified and plain fitness; 0 if the parent
// was not verified or its verification failed.
double mf_search_bias(const mf_SearchConfig *config, double verified, double fitness);

// Makes search->next (next_count individuals in any order) the current generation `generation` if
// its hash is `hash`; else false and search->current is unchanged.
bool mf_search_adopt(mf_Search *search, uint32_t generation, uint64_t hash);

// Cell of MAP-Elites for these values, the last descriptor running fastest; UINT32_MAX: none.
uint32_t mf_search_cell(const mf_SearchConfig *config, const double *values);

// Number of individuals alive: the population, except that MAP-Elites has one per filled cell and
// steady states have none before the first generation.
uint32_t mf_search_count(const mf_Search *search); // [1]

// Descriptors of that individual, descriptor_count values owned by the search; NULL without any.
const double *mf_search_descriptors(const mf_Search *search, uint32_t rank);

// [byte] of a genome without the zeros at its end.
static inline uint32_t mf_genome_used(const uint8_t *genome, uint32_t bytes) {
    while (bytes > 0 && genome[bytes - 1] == 0)
        bytes--;
    return bytes;
}
