// Internals of a search, shared with the archive, which stores and restores it.
#ifndef MAYFLY_SRC_SEARCH_POPULATION_H
#define MAYFLY_SRC_SEARCH_POPULATION_H

#include <mayfly/search.h>

// When an individual was verified.
typedef enum mf_Verified { MF_VERIFIED_NEVER, MF_VERIFIED_BEFORE, MF_VERIFIED_NOW } mf_Verified;

// One generation as arrays of `population` entries; the genomes are contiguous.
typedef struct mf_Population {
    uint64_t *id;
    uint64_t *parent;
    double *fitness;
    double *verified; // NaN: not verified, or the verification failed
    double *merit;    // its score; only for verified individuals
    double *bias;     // parent's score minus its fitness; 0 if unknown at birth
    uint8_t *checked; // mf_Verified: whether it was verified
    uint8_t *genomes;
} mf_Population;

struct mf_Search {
    mf_Context *context;
    mf_SearchConfig config;
    uint32_t generation;   // evaluated so far
    mf_Population current; // sorted by rank once a generation has been evaluated
    mf_Population next;    // scratch: candidates that become current on success
    uint32_t *order;       // scratch: rank to index into `next`
    uint32_t *order_spare; // scratch of the sort
    uint8_t *finest;       // scratch: genomes for the verification; NULL: none
    double *finest_fitness;
};

// Checks the ranges of all members except the functions; errors name the member.
mf_Status mf_search_check_config(const mf_SearchConfig *config, mf_Error *error);

// Lowest id born in `generation` (counted from 1), and the number of births in it.
uint64_t mf_search_first_id(const mf_SearchConfig *config, uint32_t generation);
uint32_t mf_search_births(const mf_SearchConfig *config, uint32_t generation);

// Resets to the random first generation, not yet evaluated.
void mf_search_reset(mf_Search *search);

// Size of the elite (search.c) of the current generation, its first individuals.
uint32_t mf_search_elite(const mf_Search *search);

// The correction of a child's fitness by its parent's verified and plain fitness; 0 if the parent
// was not verified or its verification failed.
double mf_search_bias(const mf_SearchConfig *config, double verified, double fitness);

// Makes search->next (in any order) the current generation `generation` if its hash is `hash`; else
// false and search->current is unchanged.
bool mf_search_adopt(mf_Search *search, uint32_t generation, uint64_t hash);

#endif
