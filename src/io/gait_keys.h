// Tables of keys of gaits.
#pragma once

#include "io/keys.h"

#include <mayfly/gait.h>

// Keys of one kind of gait. A file has them below the kind's name. The tables of all kinds form one
// array.
const mf_KeyTable *mf_gait_table(mf_GaitKind kind);
