// Mayfly: evolution. Populations of genomes (byte strings), schemes of selection and replacement,
// mutation, islands, and the archive on disk.
#pragma once

#include <mayfly/base.h>

typedef struct mf_Search mf_Search;
typedef struct mf_Archive mf_Archive;

// Fills fitness[0 .. count-1] (larger is better; NaN counts as worst) for `count` genomes of
// `genome_bytes` bytes each, one after the other. Must not depend on the order or on earlier calls.
typedef mf_Status (*mf_EvaluateFn)(void *user, const uint8_t *genomes, uint32_t count,
                                   uint32_t genome_bytes, double *fitness, mf_Error *error);

// Writes the genome of a new individual into child[0 .. genome_bytes-1], zeros at call; what is not
// used stays zero. `parent`, as long and zero-padded, is NULL for an individual of the first
// generation. The child must depend on the arguments only: draw random numbers from counters (seed,
// id, ...). Called by one thread at a time, in the order of the ids.
typedef mf_Status (*mf_VaryFn)(void *user, const uint8_t *parent, uint64_t seed, uint64_t id,
                               uint8_t *child, uint32_t genome_bytes);

// How parents are chosen. `k` is the size of a tournament, n the number of individuals alive.
typedef enum mf_Selection {
    // Replacement `generation`: the survivors in turn, best first. Others: one of the best
    // `survivors`, each with equal chance.
    MF_SELECTION_TRUNCATION,
    // Chance in proportion to the fitness, or, when one is negative, to its difference from the
    // least finite one. Not finite below: no chance; all chances 0: equal ones.
    MF_SELECTION_PROPORTIONATE,
    MF_SELECTION_RANK,       // chance in proportion to n - rank, the best has rank 0
    MF_SELECTION_TOURNAMENT, // the best of k draws with replacement
    MF_SELECTION_UNIFORM,    // equal chances
} mf_Selection;

// Who gives way to a child.
typedef enum mf_Replacement {
    MF_REPLACEMENT_GENERATION, // all but the best `survivors`, at once
    // Steady state: each child is inserted as soon as it is evaluated.
    MF_REPLACEMENT_RANDOM,  // for any individual, each with equal chance
    MF_REPLACEMENT_WORST,   // for the last by rank, unless the child ranks behind it
    MF_REPLACEMENT_UNFIT,   // chance in proportion to the difference from the best fitness
    MF_REPLACEMENT_SIMILAR, // chance in proportion to the share of genome bytes in common
    // MAP-Elites (Mouret and Clune, arXiv:1504.04909, 2015): the individual in its cell of the
    // grid of descriptors, if the child is at least as good.
    MF_REPLACEMENT_CELL,
} mf_Replacement;

enum { MF_DESCRIPTOR_LIMIT = 4, MF_DESCRIPTOR_NAME = 32 };

// One dimension of the grid of MAP-Elites. Values outside of the range belong to the border cells.
typedef struct mf_Descriptor {
    char name[MF_DESCRIPTOR_NAME]; // of the report; with the terminating zero
    double lower, upper;           // [1] or as the measure: range, finite, lower < upper
    uint32_t cells;                // [1] >= 1; at most 2^20 in the whole grid
} mf_Descriptor;

// Fills values[0 .. count * descriptors - 1], the descriptors of one genome after the other. Called
// after `evaluate` succeeded with the same genomes, so it can read what that left behind. A NaN:
// the individual belongs to no cell.
typedef mf_Status (*mf_DescribeFn)(void *user, const uint8_t *genomes, uint32_t count,
                                   uint32_t genome_bytes, double *values, mf_Error *error);

typedef struct mf_SearchConfig {
    uint32_t struct_size;  // [byte] set by mf_search_config()
    uint32_t population;   // [1] individuals per generation of an island, 2 .. 2^20; default 100
    uint32_t survivors;    // [1] kept by truncation selection, 1 .. population-1; default 50
    uint32_t genome_bytes; // [byte] 1 .. 65536; default 32
    uint64_t seed;         // [1]
    double mutation_rate; // [1] chance per byte of a child to change, 0 .. 1; default 1/16; a child
                          // in which no byte was chosen gets one mutation. Unused with `vary`
    bool reuse_fitness;   // do not evaluate unchanged survivors again; default false. Always so in
                          // steady state and MAP-Elites
    // Scheme. In steady state and MAP-Elites, a generation is `population` children, evaluated
    // `batch` at a time: the parents of a batch are chosen before any of its children is inserted,
    // which happens in the order of their ids. batch 1 is the strict steady state.
    mf_Selection selection;     // default MF_SELECTION_TRUNCATION
    mf_Replacement replacement; // default MF_REPLACEMENT_GENERATION
    uint32_t tournament;        // [1] draws, 1 .. 1024; default 4
    uint32_t batch;             // [1] 1 .. 2^20, cut to the population; default 32
    uint32_t protect;           // [1] best by rank that a steady state never replaces,
                                // 0 .. population-1; default 1
    uint32_t descriptor_count;  // [1] 1 .. 4 with MF_REPLACEMENT_CELL, else 0, the default
    mf_Descriptor descriptors[MF_DESCRIPTOR_LIMIT];
    // Islands: as many populations of `population` each, all with this scheme, which exchange
    // individuals along a ring. In the generation after each multiple of migration_every, the first
    // births of an island are copies of the migration_best best of the previous one, evaluated and
    // inserted as children are. Island 0 has the seed, the others have seeds derived from it.
    uint32_t islands;         // [1] 1 .. 256, at most 2^20 individuals in all; default 1. Not with
                              // MF_REPLACEMENT_CELL
    uint32_t migration_every; // [1] generations; 0: never; default 10
    uint32_t migration_best;  // [1] >= 1, at most the births of a generation; default 1
    mf_DescribeFn describe;   // needed with descriptors
    void *describe_user;
    mf_VaryFn vary; // NULL, the default: random bytes and their mutation. With it the archive omits
    void *vary_user; // the zeros at the end of genomes
    mf_EvaluateFn evaluate;
    void *user;
    // Verification by a more expensive evaluation, for truncation in generations. In every
    // generation whose number is a multiple of verify_every, the best verify_best individuals that
    // are not verified yet are evaluated by `verify`; each is verified once. With the result v and
    // the fitness f of `evaluate`, the verified score is v - verify_disparity |v - f|. The best by
    // this score, half as many as are verified at a time (rounded up) and no two with equal
    // genomes, are the elite: they rank first, remain until others have a higher score, and are the
    // only parents. Other verified individuals rank last. Those not verified rank between them, by
    // their fitness plus the difference of their parent's score and fitness.
    uint32_t verify_every;   // [1] generations; 0: never, the default
    uint32_t verify_best;    // [1] 2 .. population; default 8
    double verify_disparity; // [1] 0 .. 1000; default 1
    mf_EvaluateFn verify;    // as `evaluate`; needed when verify_every is not 0
    void *verify_user;
} mf_SearchConfig;
// The defaults of mf_SearchConfig: every configuration starts from them.
MF_API mf_SearchConfig mf_search_config(void);
// Largest number of genomes in one call of `evaluate`.
MF_API uint32_t mf_search_evaluated_at_once(const mf_SearchConfig *config); // [1]

// One individual of the current generation. Ids count from 0 over the whole run.
typedef struct mf_Individual {
    uint64_t id;           // [1]
    uint64_t parent;       // [1] id, UINT64_MAX in the first generation
    double fitness;        // [m] or what the fitness measures; NaN before evaluation
    double verified;       // [m] or as fitness, of its verification; NaN without one
    const uint8_t *genome; // [1] genome_bytes values, owned by the search
} mf_Individual;

// Search before its first generation: with replacement `generation` that one is there, not yet
// evaluated; otherwise nobody is alive.
MF_API mf_Status mf_search_create(mf_Context *context, const mf_SearchConfig *config,
                                  mf_Search **out, mf_Error *error);
MF_API void mf_search_destroy(mf_Search *search); // NULL is fine

// One generation: (from the second on) keep the best `survivors`, add mutated copies of the
// parents, then evaluate (for the steady state and MAP-Elites see mf_SearchConfig.batch);
// individuals are sorted by decreasing fitness, of equals the younger (higher id) first, so that
// children as good as their parents replace them; then the verification, if due. If an evaluation
// fails, its status and error are returned and the search does not change: advance can be called
// again.
MF_API mf_Status mf_search_advance(mf_Search *search, mf_Error *error);

MF_API uint32_t mf_search_generation(const mf_Search *search); // [1] evaluated so far
MF_API const mf_SearchConfig *mf_search_config_of(const mf_Search *search);
// Rank below the number of individuals alive; above, the id is UINT64_MAX.
MF_API mf_Individual mf_search_individual(const mf_Search *search, uint32_t rank);
// Share of the grid's cells that are filled, and the sum of finite fitness over them (QD score; for
// fitness that is not negative). 0 without descriptors.
MF_API double mf_search_coverage(const mf_Search *search); // [1]
MF_API double mf_search_quality(const mf_Search *search);  // as the fitness
// Fitness of the first by rank; with an elite it need not be the largest.
MF_API double mf_search_best(const mf_Search *search);
MF_API double mf_search_mean(const mf_Search *search); // over finite values
// Number of individuals of the generation that are verified.
MF_API uint32_t mf_search_verified(const mf_Search *search); // [1]
// Hash over ids, parents, genomes and fitness bits of the current generation, including those of
// verifications.
MF_API uint64_t mf_search_hash(const mf_Search *search);

// ---- the archive (SQLite) ----------------------------------------------------------------------

// Creates a new archive file; MF_BUSY or MF_BAD_ARGUMENT when it exists. `settings` is the text of
// the scene (stored as is), `model_hash` and `terrain_hash` guard a replay.
MF_API mf_Status mf_archive_create(mf_Context *context, const char *path,
                                   const mf_SearchConfig *config, const char *settings,
                                   uint64_t model_hash, uint64_t terrain_hash, mf_Archive **out,
                                   mf_Error *error);
// Opens an archive for reading (and appending when `write`). MF_NOT_FOUND, MF_BUSY, MF_CORRUPT,
// MF_VERSION are distinguished. At most one writer at a time.
MF_API mf_Status mf_archive_open(mf_Context *context, const char *path, bool write,
                                 mf_Archive **out, mf_Error *error);
MF_API void mf_archive_close(mf_Archive *archive); // NULL is fine

// Appends the search's current generation in one transaction: after kill -9 at any moment the file
// contains complete generations only. `seconds` [s] of wall time and `simulated` [s] so far.
MF_API mf_Status mf_archive_append(mf_Archive *archive, const mf_Search *search, double seconds,
                                   double simulated, mf_Error *error);
// Restores the newest stored generation (none stored: the search does not change), so that
// continuing gives the bits of an uninterrupted run. The settings must match.
MF_API mf_Status mf_archive_resume(mf_Archive *archive, mf_Search *search, double *seconds,
                                   double *simulated, mf_Error *error);

typedef struct mf_ArchiveRun {
    mf_SearchConfig search; // without functions
    const char *settings;   // text of the scene, owned by the archive
    uint64_t model_hash;    // [1]
    uint64_t terrain_hash;  // [1]
    uint32_t generations;   // [1] stored
    double seconds;         // [s] wall time
    double simulated;       // [s] robot life time
    char version[32];       // of the library that wrote it
} mf_ArchiveRun;
// Reads what the archive holds. `out` borrows from the archive.
MF_API mf_Status mf_archive_run(mf_Archive *archive, mf_ArchiveRun *out, mf_Error *error);

typedef struct mf_ArchiveGeneration {
    uint32_t generation; // [1] counts from 1
    double best;         // [m] or what the fitness measures
    double mean;         // [m]
    double seconds;      // [s] wall time so far
    double verified;     // [m] or as best: verification of the same robot; NaN without one
} mf_ArchiveGeneration;
// Reads the statistics of every generation: *out is an array of run.generations rows from
// mf_allocate.
MF_API mf_Status mf_archive_generations(mf_Archive *archive, mf_ArchiveGeneration **out,
                                        uint32_t *count, mf_Error *error);
// One stored individual: by id, or the best of `generation` (0 = of the newest one).
MF_API mf_Status mf_archive_individual(mf_Archive *archive, uint64_t id, mf_Individual *out,
                                       uint8_t *genome, uint32_t genome_bytes, mf_Error *error);
MF_API mf_Status mf_archive_best(mf_Archive *archive, uint32_t generation, mf_Individual *out,
                                 uint8_t *genome, uint32_t genome_bytes, mf_Error *error);

// ---- descent -----------------------------------------------------------------------------------

// One node of a family tree.
typedef struct mf_Ancestor {
    uint64_t id;         // [1]
    uint64_t parent;     // [1] id, UINT64_MAX: none
    uint32_t generation; // [1] in which it was born, from 1
    uint32_t bytes;      // [byte] of its genome, without zeros at the end
    uint32_t changed;    // [byte] that differ from its parent's genome; 0 without a parent
    double fitness;      // [m] or what the fitness measures; at birth
} mf_Ancestor;
// The line of `id` back to the first generation, itself first: *out is an array from mf_allocate.
MF_API mf_Status mf_archive_ancestry(mf_Archive *archive, uint64_t id, mf_Ancestor **out,
                                     uint32_t *count, mf_Error *error);

typedef struct mf_ArchiveDiversity {
    uint32_t alive;    // [1] individuals of the generation
    uint32_t distinct; // [1] different genomes among them
    double distance;   // [1] mean share of bytes in which two of them differ, over all pairs of up
                       // to 32 individuals, evenly spaced by id; of the longer genome's bytes
    double quality;    // [m] or as the fitness: sum of finite ones (QD score of MAP-Elites)
} mf_ArchiveDiversity;

// One filled cell of MAP-Elites.
typedef struct mf_Elite {
    uint64_t id;                            // [1]
    uint32_t cell;                          // [1] of the grid, the last descriptor running fastest
    double fitness;                         // [m] or what the fitness measures
    double descriptor[MF_DESCRIPTOR_LIMIT]; // [1] or as the measures; unused ones are 0
} mf_Elite;
