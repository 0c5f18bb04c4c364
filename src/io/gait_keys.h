// Tables of keys of gaits.
#ifndef MAYFLY_SRC_IO_GAIT_KEYS_H
#define MAYFLY_SRC_IO_GAIT_KEYS_H

#include "io/keys.h"

#include <mayfly/gait.h>

// Keys of one kind of gait. A file has them below the kind's name. The tables of all kinds form one
// array.
const mf_KeyTable *mf_gait_table(mf_GaitKind kind);

#endif
