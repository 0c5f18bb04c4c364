// The inside of a search, shared with the archive, which stores and restores it.
#ifndef MAYFLY_SRC_SEARCH_POPULATION_H
#define MAYFLY_SRC_SEARCH_POPULATION_H

#include <mayfly/search.h>

// When an individual had its verification.
typedef enum mf_Verified { MF_VERIFIED_NEVER, MF_VERIFIED_BEFORE, MF_VERIFIED_NOW } mf_Verified;

// One generation as arrays of `population` entries; the genomes lie one after the other.
typedef struct mf_Population {
    uint64_t *id;
    uint64_t *parent;
    double *fitness;
    double *verified; // NaN where it was not verified, or came to nothing
    double *merit;    // what it counts for; only where it was verified
    double *bias;     // parent's merit less its fitness; 0 where that was not known at birth
    uint8_t *checked; // mf_Verified: whether it was verified
    uint8_t *genomes;
} mf_Population;

struct mf_Search {
    mf_Context *context;
    mf_SearchConfig config;
    uint32_t generation;   // evaluated so far
    mf_Population current; // sorted by rank once a generation has been evaluated
    mf_Population next;    // scratch: candidates that become current when all went well
    uint32_t *order;       // scratch: rank to index into `next`
    uint32_t *order_spare; // scratch of the sort
    uint8_t *finest;       // scratch: genomes for the verification; NULL where there is none
    double *finest_fitness;
};

// Ranges of everything but the functions; errors name the field.
mf_Status mf_search_check_config(const mf_SearchConfig *config, mf_Error *error);

// Lowest id born in `generation` (counts from 1), and how many are born in it.
uint64_t mf_search_first_id(const mf_SearchConfig *config, uint32_t generation);
uint32_t mf_search_births(const mf_SearchConfig *config, uint32_t generation);

// Back to the random first generation, not yet evaluated.
void mf_search_reset(mf_Search *search);

// How many of the current generation are of the elite (search.c); they are its first.
uint32_t mf_search_elite(const mf_Search *search);

// What the fitness of a child is corrected by whose parent had these before; 0 where there was no
// look, or it came to nothing.
double mf_search_bias(const mf_SearchConfig *config, double verified, double fitness);

// Makes what lies in search->next (in any order) the current generation `generation`, provided its
// hash is `hash`; else false and search->current is untouched.
bool mf_search_adopt(mf_Search *search, uint32_t generation, uint64_t hash);

#endif
