// Machines, for the operators and the trial.
#ifndef MF_MODEL_MACHINE_H
#define MF_MODEL_MACHINE_H

#include <mayfly/machine.h>

enum { MF_MACHINE_MARK = 'M', MF_MACHINE_VERSION = 1 };
#define MF_MACHINE_SHORTEST 1e-3   // [m] of the length of a bar of any machine
#define MF_MACHINE_WEIGHT_MOST 1e3 // [1] of the size of weights and biases

// [1] Stroke of an actuator, share of the length of its bar. The least is notified from the
// difference of both ends of the range, in double, to the last bit of the float in a genome.
#define MF_MACHINE_STROKE_LEAST 2e-8
#define MF_MACHINE_STROKE_MOST 0.9

// [m] distance of the ends of a bar.
double mf_machine_length(const mf_Machine *machine, uint32_t bar);

// Lays the range of an actuator about the length of its bar: `stroke` [m].
void mf_machine_set_stroke(mf_Machine *machine, uint32_t actuator, double stroke);

#endif
