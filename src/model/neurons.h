// Networks of neurons, for those who run them.
#ifndef MAYFLY_MODEL_NEURONS_H
#define MAYFLY_MODEL_NEURONS_H

#include <mayfly/neurons.h>

// As mf_neurons_check, for a network with `inputs` components of input fields.
mf_Status mf_neurons_check_inputs(const mf_Brain *brain, uint32_t inputs, mf_Error *error);

#endif
