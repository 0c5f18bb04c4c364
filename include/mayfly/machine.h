// Mayfly: machines of bars, actuators and neurons that evolve: their genome and the operators that
// vary it (docs/explanation/quasistatic.md). Scenes with `controller: machine` evaluate them.
#pragma once

#include <mayfly/truss.h>

enum { // most of a machine; the genome of the largest one fits into MF_MACHINE_BYTES
    MF_MACHINE_VERTICES = 64,
    MF_MACHINE_BARS = 96,
    MF_MACHINE_ACTUATORS = 32,
    MF_MACHINE_NEURONS = 32,
    MF_MACHINE_SYNAPSES = 256,
    MF_MACHINE_BYTES = 3856
};

// ---- machines and their genomes ----------------------------------------------------------------

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

// Turns the machine to where it stands on level ground, in which trials begin: it tips over its
// lowest vertices as a rigid body until its center of mass is above the hull of those on the
// ground. One that stands is left as it is; another one's lowest vertex then is at z = 0.
MF_API void mf_machine_stand(mf_Machine *machine);

// Writes the genome and zeros behind it. MF_LIMIT: it does not fit into `genome_bytes`.
MF_API mf_Status mf_machine_encode(const mf_Machine *machine, uint8_t *genome,
                                   uint32_t genome_bytes, mf_Error *error);
// Reads a genome. MF_CORRUPT: the bytes are no machine, the error says why; MF_VERSION: of another
// version. The empty machine (no vertices) is one. Encoding the result gives the same bytes.
MF_API mf_Status mf_machine_decode(const uint8_t *genome, uint32_t genome_bytes, mf_Machine *out,
                                   mf_Error *error);

// ---- operators ---------------------------------------------------------------------------------

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
    uint32_t genome_bytes; // [byte] space for a genome, 8 .. 65536; default MF_MACHINE_BYTES
    // Chances of a child, each drawn on its own; the draw is repeated until one was applied.
    double change;      // [1] of a length or a weight, each as likely; default 0.1
    double add;         // [1] of a bar or a neuron that comes or goes, each as likely; default 0.01
    double split;       // [1] of a vertex or a bar that becomes two, each as likely; default 0.03
    double attach;      // [1] of an actuator that comes or goes, each as likely; default 0.03
    double length_step; // [1] largest change of a length, share of it, 0 .. 0.9; default 0.3
    double weight_step; // [1] largest change of a weight or a bias; default 2
    double bar_length;  // [m] of new bars, within 50 %; default 0.1
    double bar_diameter;        // [m] of new bars; default 0.01
    double shortest, longest;   // [m] range of bars' lengths; default 0.02 .. 0.3
    double stroke;              // [m] range of a new actuator; default 0.04
    double share;               // [1] chance of a bar of a vertex that becomes two to be at both;
                                // default 0.5
    double threshold;           // [1] share of threshold units among new neurons; default 0.5
    const mf_Machine *ancestor; // of the first generation; borrowed; NULL, the default: empty
} mf_MachineConfig;
// The defaults of mf_MachineConfig: every configuration starts from them.
MF_API mf_MachineConfig mf_machine_config(void);

// An mf_VaryFn (mayfly/search.h) with an mf_MachineConfig as `user`: the ancestor without a parent,
// else a child of it. A parent that is no machine counts as the empty one. MF_BAD_ARGUMENT:
// genome_bytes differ from the configuration's; MF_LIMIT: less than an empty machine needs.
MF_API mf_Status mf_machine_vary(void *user, const uint8_t *parent, uint64_t seed, uint64_t id,
                                 uint8_t *child, uint32_t genome_bytes);
