// The keys of trusses' files. Relations between them are checked by mf_truss_check().
#include "body/truss/keys.h"
#include "base/key_rows.h"

#define TABLE(noun, rows, type)                                                                    \
    { noun, rows, sizeof rows / sizeof *rows, sizeof(type), NULL, NULL, NULL }

// clang-format off
#define T mf_TrussVertexEntry
static const mf_Key vertex_keys[] = {
    VECTOR("position", 3, REQUIRED, "m", NULL, -1e4, 1e4, position,
           "in the frame of the file, z up"),
    KEY("fixed", NAMES, 0, "", NULL, 0, 0, NULL, fixed, "axes along which it is fixed, of x, y, z"),
    VECTOR("load", 3, 0, "N", "[0, 0, 0]", -1e9, 1e9, load, "force on it, world axes"),
    REAL("mass", 0, "kg", "0", 0, 1e6, mass, "in addition to half of each of its bars"),
};
#undef T
static const mf_KeyTable vertex_table = TABLE("vertex", vertex_keys, mf_TrussVertexEntry);

#define T mf_TrussBarEntry
static const mf_Key bar_keys[] = {
    VECTOR("ends", 2, REQUIRED, "1", NULL, 0, MF_TRUSS_MOST, ends,
           "its two vertices, by their numbers in the list, from 0"),
    REAL("diameter", ABOVE, "m", "0.01", 0, 100, diameter, "of the round bar"),
    REAL("rest_length", 0, "m", "0", 0, 1e4, rest_length,
         "length without force; 0: the distance of its vertices"),
};
#undef T
static const mf_KeyTable bar_table = TABLE("bar", bar_keys, mf_TrussBarEntry);

static void start_actuator(void *base) {
    ((mf_TrussActuatorEntry *)base)->neuron = MF_NONE;
}

static bool actuator_applies(const void *base, const mf_Key *key) {
    return key->offset != offsetof(mf_TrussActuatorEntry, neuron) ||
           ((const mf_TrussActuatorEntry *)base)->neuron != MF_NONE;
}

#define T mf_TrussActuatorEntry
static const mf_Key actuator_keys[] = {
    COUNT("bar", REQUIRED, NULL, 0, MF_TRUSS_MOST, bar,
          "the bar that it drives, by its number in the list, from 0"),
    VECTOR("range", 2, REQUIRED, "m", NULL, 0, 1e4, range, "shortest and longest rest length"),
    COUNT("neuron", 0, NULL, 0, MF_NEURONS_MOST - 1, neuron, "the neuron that drives it, by its "
          "number in the list, from 0; without it, the actuator's command"),
};
#undef T
static const mf_KeyTable actuator_table = {
    "actuator", actuator_keys, sizeof actuator_keys / sizeof *actuator_keys,
    sizeof(mf_TrussActuatorEntry), start_actuator, actuator_applies, NULL};

static const char *const neuron_kinds[] = {"sigmoid", "threshold", NULL};
#define T mf_Neuron
static const mf_Key neuron_keys[] = {
    CHOICE("kind", 0, "sigmoid", neuron_kinds, kind,
           "sigmoid: 1 / (1 + exp(-sum)); threshold: 1 where the sum is above 0, else 0"),
    REAL("bias", 0, "1", "0", -1e6, 1e6, bias, "added to the weighted sum of its inputs"),
    REAL("state", 0, "1", "0", 0, 1, state, "before the first cycle"),
};
#undef T
static const mf_KeyTable neuron_table = TABLE("neuron", neuron_keys, mf_Neuron);

#define T mf_Synapse
static const mf_Key synapse_keys[] = {
    COUNT("from", REQUIRED, NULL, 0, MF_NEURONS_MOST - 1, from,
          "neuron by its number in the list, from 0"),
    COUNT("to", REQUIRED, NULL, 0, MF_NEURONS_MOST - 1, to,
          "neuron whose sum it adds to; may be the same one"),
    REAL("weight", REQUIRED, "1", NULL, -1e6, 1e6, weight,
         "factor of the state of the first in the sum of the second"),
};
#undef T
static const mf_KeyTable synapse_table = TABLE("synapse", synapse_keys, mf_Synapse);

#define T mf_TrussEntry
static const mf_Key truss_keys[] = {
    TEXT("name", 0, "", name, "empty: the name of the file"),
    TEXT("material", 0, "golem", material,
         "golem, steel, aluminum, abs, pla or nylon; the next three keys change its numbers"),
    REAL("elasticity", 0, "Pa", "0", 0, 1e13, properties.elasticity,
         "modulus of elasticity; 0: that of the material"),
    REAL("density", 0, "kg/m^3", "0", 0, 1e6, properties.density,
         "of the bars; 0: that of the material"),
    REAL("yield", 0, "Pa", "0", 0, 1e13, properties.yield,
         "stress at which a bar yields; 0: that of the material"),
    LIST("vertices", REQUIRED, &vertex_table, vertices, "ball joints, and the ends of bars"),
    LIST("bars", 0, &bar_table, bars, "between two vertices"),
    LIST("actuators", 0, &actuator_table, actuators,
         "linear motors, each of which changes the rest length of a bar"),
    LIST("neurons", 0, &neuron_table, neurons,
         "units of a recurrent network, which all change at once, once a cycle"),
    LIST("synapses", 0, &synapse_table, synapses,
         "directed connections of neurons; not two from one neuron to the same one"),
    REAL("cycle", ABOVE, "s", "0.2", 0, 1e3, cycle,
         "period of the network, rounded to whole steps"),
    REAL("delay", 0, "s", "0", 0, 1e4, delay,
         "time before its first cycle, in which the truss comes to rest"),
    REAL("change", ABOVE, "m", "0.01", 0, 1e4, change, "most that an actuator changes in a cycle"),
};
#undef T
// clang-format on

const mf_KeyTable *mf_truss_table(void) {
    static const mf_KeyTable table = TABLE("truss", truss_keys, mf_TrussEntry);
    return &table;
}
