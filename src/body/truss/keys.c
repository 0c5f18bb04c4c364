// The keys of trusses' files. Relations between them are checked by mf_truss_check().
#include "body/truss/keys.h"

#define VERTEX(member) offsetof(mf_TrussVertexEntry, member)
#define BAR(member) offsetof(mf_TrussBarEntry, member)
#define ACTUATOR(member) offsetof(mf_TrussActuatorEntry, member)
#define NEURON(member) offsetof(mf_Neuron, member)
#define SYNAPSE(member) offsetof(mf_Synapse, member)
#define TRUSS(member) offsetof(mf_TrussEntry, member)
#define TABLE(noun, rows, type)                                                                    \
    { noun, rows, sizeof rows / sizeof *rows, sizeof(type), NULL, NULL, NULL }

// clang-format off
static const mf_Key vertex_keys[] = {
    MF_KEY_TUPLE("position", MF_KEY_VECTOR, 3, MF_KEY_REQUIRED, "m", NULL, -1e4, 1e4, VERTEX(position),
           "in the frame of the file, z up"),
    MF_KEY("fixed", MF_KEY_NAMES, 0, "", NULL, 0, 0, NULL, VERTEX(fixed),
           "axes along which it is fixed, of x, y, z"),
    MF_KEY_TUPLE("load", MF_KEY_VECTOR, 3, 0, "N", "[0, 0, 0]", -1e9, 1e9, VERTEX(load),
           "force on it, world axes"),
    MF_KEY("mass", MF_KEY_REAL, 0, "kg", "0", 0, 1e6, NULL, VERTEX(mass),
           "in addition to half of each of its bars"),
};
static const mf_KeyTable vertex_table = TABLE("vertex", vertex_keys, mf_TrussVertexEntry);

static const mf_Key bar_keys[] = {
    MF_KEY_TUPLE("ends", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "1", NULL, 0, MF_TRUSS_MOST, BAR(ends),
           "its two vertices, by their numbers in the list, from 0"),
    MF_KEY("diameter", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.01", 0, 100, NULL, BAR(diameter),
           "of the round bar"),
    MF_KEY("rest_length", MF_KEY_REAL, 0, "m", "0", 0, 1e4, NULL, BAR(rest_length),
           "length without force; 0: the distance of its vertices"),
};
static const mf_KeyTable bar_table = TABLE("bar", bar_keys, mf_TrussBarEntry);

static void start_actuator(void *base) {
    ((mf_TrussActuatorEntry *)base)->neuron = MF_NONE;
}

static bool actuator_applies(const void *base, const mf_Key *key) {
    return key->offset != ACTUATOR(neuron) ||
           ((const mf_TrussActuatorEntry *)base)->neuron != MF_NONE;
}

static const mf_Key actuator_keys[] = {
    MF_KEY("bar", MF_KEY_COUNT, MF_KEY_REQUIRED, "1", NULL, 0, MF_TRUSS_MOST, NULL, ACTUATOR(bar),
           "the bar that it drives, by its number in the list, from 0"),
    MF_KEY_TUPLE("range", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, 0, 1e4, ACTUATOR(range),
           "shortest and longest rest length"),
    MF_KEY("neuron", MF_KEY_COUNT, 0, "1", NULL, 0, MF_NEURONS_MOST - 1, NULL, ACTUATOR(neuron),
           "the neuron that drives it, by its number in the list, from 0; without it, the "
           "actuator's command"),
};
static const mf_KeyTable actuator_table = {
    "actuator", actuator_keys, sizeof actuator_keys / sizeof *actuator_keys,
    sizeof(mf_TrussActuatorEntry), start_actuator, actuator_applies, NULL};

static const char *const neuron_kinds[] = {"sigmoid", "threshold", NULL};
static const mf_Key neuron_keys[] = {
    MF_KEY("kind", MF_KEY_CHOICE, 0, "", "sigmoid", 0, 0, neuron_kinds, NEURON(kind),
           "sigmoid: 1 / (1 + exp(-sum)); threshold: 1 where the sum is above 0, else 0"),
    MF_KEY("bias", MF_KEY_REAL, 0, "1", "0", -1e6, 1e6, NULL, NEURON(bias),
           "added to the weighted sum of its inputs"),
    MF_KEY("state", MF_KEY_REAL, 0, "1", "0", 0, 1, NULL, NEURON(state), "before the first cycle"),
};
static const mf_KeyTable neuron_table = TABLE("neuron", neuron_keys, mf_Neuron);

static const mf_Key synapse_keys[] = {
    MF_KEY("from", MF_KEY_COUNT, MF_KEY_REQUIRED, "1", NULL, 0, MF_NEURONS_MOST - 1, NULL,
           SYNAPSE(from), "neuron by its number in the list, from 0"),
    MF_KEY("to", MF_KEY_COUNT, MF_KEY_REQUIRED, "1", NULL, 0, MF_NEURONS_MOST - 1, NULL,
           SYNAPSE(to), "neuron whose sum it adds to; may be the same one"),
    MF_KEY("weight", MF_KEY_REAL, MF_KEY_REQUIRED, "1", NULL, -1e6, 1e6, NULL, SYNAPSE(weight),
           "factor of the state of the first in the sum of the second"),
};
static const mf_KeyTable synapse_table = TABLE("synapse", synapse_keys, mf_Synapse);

static const mf_Key truss_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, TRUSS(name),
           "empty: the name of the file"),
    MF_KEY("material", MF_KEY_TEXT, 0, "", "golem", 0, 0, NULL, TRUSS(material),
           "golem, steel, aluminum, abs, pla or nylon; the next three keys change its numbers"),
    MF_KEY("elasticity", MF_KEY_REAL, 0, "Pa", "0", 0, 1e13, NULL, TRUSS(properties.elasticity),
           "modulus of elasticity; 0: that of the material"),
    MF_KEY("density", MF_KEY_REAL, 0, "kg/m^3", "0", 0, 1e6, NULL, TRUSS(properties.density),
           "of the bars; 0: that of the material"),
    MF_KEY("yield", MF_KEY_REAL, 0, "Pa", "0", 0, 1e13, NULL, TRUSS(properties.yield),
           "stress at which a bar yields; 0: that of the material"),
    MF_KEY_LISTED("vertices", MF_KEY_REQUIRED, &vertex_table, TRUSS(vertices),
           "ball joints, and the ends of bars"),
    MF_KEY_LISTED("bars", 0, &bar_table, TRUSS(bars), "between two vertices"),
    MF_KEY_LISTED("actuators", 0, &actuator_table, TRUSS(actuators),
           "linear motors, each of which changes the rest length of a bar"),
    MF_KEY_LISTED("neurons", 0, &neuron_table, TRUSS(neurons),
           "units of a recurrent network, which all change at once, once a cycle"),
    MF_KEY_LISTED("synapses", 0, &synapse_table, TRUSS(synapses),
           "directed connections of neurons; not two from one neuron to the same one"),
    MF_KEY("cycle", MF_KEY_REAL, MF_KEY_ABOVE, "s", "0.2", 0, 1e3, NULL, TRUSS(cycle),
           "period of the network, rounded to whole steps"),
    MF_KEY("delay", MF_KEY_REAL, 0, "s", "0", 0, 1e4, NULL, TRUSS(delay),
           "time before its first cycle, in which the truss comes to rest"),
    MF_KEY("change", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.01", 0, 1e4, NULL, TRUSS(change),
           "most that an actuator changes in a cycle"),
};
// clang-format on

const mf_KeyTable *mf_truss_table(void) {
    static const mf_KeyTable table = TABLE("truss", truss_keys, mf_TrussEntry);
    return &table;
}
