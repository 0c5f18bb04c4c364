// The table of keys of files of robots.
#ifndef MAYFLY_SRC_EXPERIMENT_ROBOTS_KEYS_H
#define MAYFLY_SRC_EXPERIMENT_ROBOTS_KEYS_H

#include "experiment/keys.h"

#include <mayfly/robots.h>

// Keys of a file of robots, those of its groups among them.
const mf_KeyTable *mf_robots_table(void);

#endif
