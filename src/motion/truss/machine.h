// Machines, for the operators and the trial.
#pragma once

#include <mayfly/machine.h>

enum { MF_MACHINE_MARK = 'M', MF_MACHINE_VERSION = 1 };
#define MF_MACHINE_SHORTEST 1e-3   // [m] of the length of a bar of any machine
#define MF_MACHINE_WEIGHT_MOST 1e3 // [1] of the size of weights and biases

// [1] Stroke of an actuator, share of the length of its bar. The least is recovered from the
// difference of both ends of the range, in double, to the last bit of the float in a genome.
#define MF_MACHINE_STROKE_LEAST 2e-8
#define MF_MACHINE_STROKE_MOST 0.9

// [m] distance of the ends of a bar.
double mf_machine_length(const mf_Machine *machine, uint32_t bar);

// Lays the range of an actuator about the length of its bar: `stroke` [m].
void mf_machine_set_stroke(mf_Machine *machine, uint32_t actuator, double stroke);

// A truss as a machine. MF_UNSUPPORTED names what no machine has: another material, loads, masses
// and fixed axes of vertices, rest lengths other than the distances of the ends, actuators without
// a neuron or whose range is not centered. MF_LIMIT: too large.
mf_Status mf_machine_of_truss(const mf_Truss *truss, mf_Machine *out, mf_Error *error);

// [byte] of the genome of a machine.
uint32_t mf_machine_bytes(const mf_Machine *machine);

// MF_BAD_ARGUMENT names the setting that is wrong.
mf_Status mf_machine_check_config(const mf_MachineConfig *config, mf_Error *error);
