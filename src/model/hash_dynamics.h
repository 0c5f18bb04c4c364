// The part of a model's hash for full dynamics.
#ifndef MAYFLY_SRC_MODEL_HASH_DYNAMICS_H
#define MAYFLY_SRC_MODEL_HASH_DYNAMICS_H

#include <mayfly/model.h>

uint64_t mf_hash_dynamics(uint64_t hash, const mf_Model *model);

#endif
