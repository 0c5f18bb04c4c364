// The keys of trusses' files. Relations between them are checked by mf_truss_check().
#include "io/truss_keys.h"

#define VERTEX(member) offsetof(mf_TrussVertexEntry, member)
#define BAR(member) offsetof(mf_TrussBarEntry, member)
#define ACTUATOR(member) offsetof(mf_TrussActuatorEntry, member)
#define TRUSS(member) offsetof(mf_TrussEntry, member)
#define TABLE(noun, rows, type)                                                                    \
    { noun, rows, sizeof rows / sizeof *rows, sizeof(type), NULL, NULL, NULL }

// clang-format off
static const mf_Key vertex_keys[] = {
    MF_KEY_TUPLE("position", MF_KEY_VECTOR, 3, MF_KEY_REQUIRED, "m", NULL, -1e4, 1e4, VERTEX(position),
           "in the frame of the file, z up"),
    MF_KEY("fixed", MF_KEY_WORDS, 0, "", NULL, 0, 0, NULL, VERTEX(fixed),
           "axes along which it is held, of x, y, z"),
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

static const mf_Key actuator_keys[] = {
    MF_KEY("bar", MF_KEY_COUNT, MF_KEY_REQUIRED, "1", NULL, 0, MF_TRUSS_MOST, NULL, ACTUATOR(bar),
           "the bar that it drives, by its number in the list, from 0"),
    MF_KEY_TUPLE("range", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, 0, 1e4, ACTUATOR(range),
           "shortest and longest rest length"),
};
static const mf_KeyTable actuator_table = TABLE("actuator", actuator_keys, mf_TrussActuatorEntry);

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
};
// clang-format on

const mf_KeyTable *mf_truss_table(void) {
    static const mf_KeyTable table = TABLE("truss", truss_keys, mf_TrussEntry);
    return &table;
}
