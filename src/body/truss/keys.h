// What a truss's file is read into, by a table of keys.
#pragma once

#include "io/keys.h"

#include "base/text.h"

#include <mayfly/truss.h>

typedef struct mf_TrussVertexEntry {
    double position[3], load[3];
    mf_KeyList fixed; // of const char *: x, y, z
    double mass;
} mf_TrussVertexEntry;

typedef struct mf_TrussBarEntry {
    double ends[2]; // whole numbers
    double diameter, rest_length;
} mf_TrussBarEntry;

typedef struct mf_TrussActuatorEntry {
    uint32_t bar, neuron; // neuron: MF_NONE is none
    double range[2];
} mf_TrussActuatorEntry;

typedef struct mf_TrussEntry {
    const char *name;
    const char *material;
    mf_TrussMaterial properties;
    mf_KeyList vertices, bars, actuators;
    mf_KeyList neurons, synapses; // of mf_Neuron, mf_Synapse
    double cycle, delay, change;
} mf_TrussEntry;

const mf_KeyTable *mf_truss_table(void);
