// Mayfly: machines of bars, actuators and neurons that evolve: their genome, the operators that
// vary it, and the trial that scores it (docs/explanation/machines.md).
#ifndef MAYFLY_MACHINE_H
#define MAYFLY_MACHINE_H

#include <mayfly/quasistatic.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { // most of a machine; the genome of the largest one fits into MF_MACHINE_BYTES
    MF_MACHINE_VERTICES = 64,
    MF_MACHINE_BARS = 96,
    MF_MACHINE_ACTUATORS = 32,
    MF_MACHINE_NEURONS = 32,
    MF_MACHINE_SYNAPSES = 256,
    MF_MACHINE_BYTES = 3856
};

// ---- machines and their genomes
// ------------------------------------------------------------------

// A machine of any size up to the limits. Bars have no force in the positions of the vertices:
// their rest_length is 0. The range of an actuator lies about the length of its bar.
typedef struct mf_Machine {
    mf_TrussVertex vertices[MF_MACHINE_VERTICES];
    mf_TrussBar bars[MF_MACHINE_BARS];
    mf_TrussActuator actuators[MF_MACHINE_ACTUATORS];
    mf_Neuron neurons[MF_MACHINE_NEURONS];
    mf_Synapse synapses[MF_MACHINE_SYNAPSES];
    uint32_t vertex_count, bar_count, actuator_count, neuron_count, synapse_count; // [1]
} mf_Machine;

// The machine as a truss of the default material; it borrows from the machine, which must not move.
// mf_truss_check refuses an empty one.
MF_API mf_Truss mf_machine_truss(const mf_Machine *machine);

// [byte] of the genome of a machine.
MF_API uint32_t mf_machine_bytes(const mf_Machine *machine);
// Writes the genome and zeros behind it. MF_LIMIT: it does not fit into `genome_bytes`.
MF_API mf_Status mf_machine_encode(const mf_Machine *machine, uint8_t *genome,
                                   uint32_t genome_bytes, mf_Error *error);
// Reads a genome. MF_CORRUPT: the bytes are no machine, the error says why; MF_VERSION: of another
// version. The empty machine (no vertices) is one. Encoding the result gives the same bytes.
MF_API mf_Status mf_machine_decode(const uint8_t *genome, uint32_t genome_bytes, mf_Machine *out,
                                   mf_Error *error);

// ---- operators
// -----------------------------------------------------------------------------------

typedef enum mf_MachineOperator {
    MF_MACHINE_LENGTH, // the length of a bar changes
    MF_MACHINE_WEIGHT, // a synapse or a bias changes
    MF_MACHINE_BAR,    // a small dangling bar comes or goes
    MF_MACHINE_NEURON, // a neuron without synapses and actuators comes or goes
    MF_MACHINE_VERTEX, // a vertex becomes two with a bar between them
    MF_MACHINE_MIDDLE, // a bar becomes two with a vertex between them
    MF_MACHINE_ATTACH, // a neuron is attached to a bar, which becomes an actuator
    MF_MACHINE_DETACH, // an actuator becomes a bar
    MF_MACHINE_OPERATORS
} mf_MachineOperator;

// Chances of the operators are those of Lipson and Pollack (2000); sizes were not published.
typedef struct mf_MachineConfig {
    uint32_t struct_size;  // [byte] set by mf_machine_config()
    uint32_t genome_bytes; // [byte] room for a genome, 8 .. 65536; default MF_MACHINE_BYTES
    // Chances of a child, each drawn on its own; the draw is repeated until one was applied.
    double change;      // [1] of a length or a weight, each as likely; default 0.1
    double add;         // [1] of a bar or a neuron that comes or goes, each as likely; default 0.01
    double split;       // [1] of a vertex or a bar that becomes two, each as likely; default 0.03
    double attach;      // [1] of an actuator that comes or goes, each as likely; default 0.03
    double length_step; // [1] largest change of a length, share of it, 0 .. 0.9; default 0.3
    double weight_step; // [1] largest change of a weight or a bias; default 2
    double bar_length;  // [m] of new bars, within 50 %; default 0.1
    double bar_diameter;      // [m] of new bars; default 0.01
    double shortest, longest; // [m] range of bars' lengths; default 0.02 .. 0.3
    double stroke;            // [m] range of a new actuator; default 0.04
    double share;             // [1] chance of a bar of a vertex that becomes two to be at both;
                              // default 0.5
    double threshold;         // [1] share of threshold units among new neurons; default 0.5
} mf_MachineConfig;
// The defaults of mf_MachineConfig: every configuration starts from them.
MF_API mf_MachineConfig mf_machine_config(void);
// MF_BAD_ARGUMENT names the setting that is wrong.
MF_API mf_Status mf_machine_check_config(const mf_MachineConfig *config, mf_Error *error);

// One application of an operator with the random numbers of (seed, id). False, and the machine does
// not change: it has nothing to apply it to, or the result would be no machine or too large.
MF_API bool mf_machine_apply(const mf_MachineConfig *config, mf_MachineOperator what, uint64_t seed,
                             uint64_t id, mf_Machine *machine);

// An mf_VaryFn (mayfly/search.h) with an mf_MachineConfig as `user`: the empty machine without a
// parent, else a child of it. A parent that is no machine counts as the empty one. MF_BAD_ARGUMENT:
// genome_bytes differ from the configuration's; MF_LIMIT: less than an empty machine needs.
MF_API mf_Status mf_machine_vary(void *user, const uint8_t *parent, uint64_t seed, uint64_t id,
                                 uint8_t *child, uint32_t genome_bytes);

// ---- the trial
// -----------------------------------------------------------------------------------

typedef struct mf_CrawlConfig {
    uint32_t struct_size; // [byte] set by mf_crawl_config()
    uint32_t capacity;    // [1] machines that are simulated at once, 1 .. 2^16; default 256
    uint32_t cycles;      // [1] of the network, 1 .. 1000000; default 12
    uint32_t frames;      // [1] per cycle, 1 .. 1000; default 4
    uint32_t settle;      // [1] frames before the first cycle, 0 .. 1000; default 8
    double change;        // [m] > 0 most that an actuator changes in a cycle; default 0.01
    double noise;         // [N] >= 0 standard deviation of a random force on each axis of each
                          // vertex, new in each frame; default 1e-4
    uint32_t stop;        // [1] MF_WARNING_* that end a trial; default jump, solver, yield,
                          // buckling
    uint64_t seed;        // [1] of the noise
    uint32_t cache;       // [1] scores that are remembered, 0 .. 2^24; default 65536
    mf_QuasistaticConfig motion; // default tolerance 1e-4, iterations 100. Its truss, room, noise
                                 // and actuator_speed are not used
} mf_CrawlConfig;
// The defaults of mf_CrawlConfig: every configuration starts from them.
MF_API mf_CrawlConfig mf_crawl_config(void);

typedef struct mf_CrawlResult {
    double distance;   // [m] horizontal, of the center of mass, until the end or the first frame
                       // with a warning of `stop`
    double length;     // [m] of the body: the longest distance of two vertices after settling
    uint32_t frames;   // [1] that count; 0: not simulated, or ended while it settled
    uint32_t warnings; // [1] MF_WARNING_* of the frames after settling
} mf_CrawlResult;

typedef struct mf_Crawl mf_Crawl;
// Level ground with room for `capacity` machines of any size. Free with mf_crawl_destroy.
MF_API mf_Status mf_crawl_create(mf_Context *context, const mf_CrawlConfig *config, mf_Crawl **out,
                                 mf_Error *error);
MF_API void mf_crawl_destroy(mf_Crawl *crawl); // NULL is fine
// Simulates `count` genomes. What is no machine, or has no actuator, has a result of zeros. The
// results depend on each genome and the settings alone.
MF_API mf_Status mf_crawl_run(mf_Crawl *crawl, const uint8_t *genomes, uint32_t count,
                              uint32_t genome_bytes, mf_CrawlResult *results, mf_Error *error);
// An mf_EvaluateFn (mayfly/search.h) with an mf_Crawl as `user`: the distance times the share of
// the trial's frames that count, so that one fall before an early end is worth little.
MF_API mf_Status mf_crawl_evaluate(void *user, const uint8_t *genomes, uint32_t count,
                                   uint32_t genome_bytes, double *fitness, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
