// Trusses for mayfly info. Text and JSON show the same facts, which are computed once.
#include "body/truss/row.h"
#include "io/model_json.h"
#include "math/scalar.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "motion/truss/model.h"

enum {
    NOTES = 12,
    NOTE = sizeof((mf_Error *)0)->message, // [byte]
    CROSSING_BARS = 1024                   // [1] more bars are not tested for crossings
};

typedef struct Weakest { // the bar that gives way first
    uint32_t bar;        // [1]
    double force;        // [N]
} Weakest;

typedef struct Facts {
    const mf_Truss *truss;
    mf_TrussMass mass;
    mf_TrussStatics statics;
    bool ranked;                    // the rank could be taken
    const char *material;           // its name, or NULL
    double lower[3], upper[3];      // [m] box around vertices and ends of bars
    double length;                  // [m] of all bars
    double shortest, longest;       // [m] bars without force
    double thinnest, thickest;      // [m] diameters
    uint32_t stretched;             // [1] bars whose ends are not their length apart
    uint32_t fixed, loaded, driven; // [1] vertices fixed, vertices loaded, actuators with a neuron
    uint32_t crossings;             // [1] pairs of bars inside each other
    uint32_t crossing[2];           // [1] the first of them
    Weakest euler, yield;
    char notes[NOTES][NOTE];
    uint32_t note_count;
} Facts;

// ---- facts -------------------------------------------------------------------------------------

static void extend(Facts *facts, const double position[3], double radius) {
    for (int i = 0; i < 3; i++) {
        facts->lower[i] = fmin(facts->lower[i], position[i] - radius);
        facts->upper[i] = fmax(facts->upper[i], position[i] + radius);
    }
}

static void count_vertices(Facts *facts) {
    const mf_Truss *truss = facts->truss;
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        const mf_TrussVertex *vertex = &truss->vertices[v];
        const double *load = vertex->load;
        facts->fixed += vertex->fixed[0] || vertex->fixed[1] || vertex->fixed[2];
        facts->loaded += load[0] != 0.0 || load[1] != 0.0 || load[2] != 0.0;
        extend(facts, vertex->position, 0.0);
    }
    for (uint32_t a = 0; a < truss->actuator_count; a++)
        facts->driven += truss->actuators[a].neuron != MF_NONE;
}

static void weaken(Weakest *weakest, uint32_t bar, double force) {
    if (force < weakest->force)
        *weakest = (Weakest){bar, force};
}

static void measure_bar(Facts *facts, uint32_t index) {
    const mf_Truss *truss = facts->truss;
    const mf_TrussBar *bar = &truss->bars[index];
    const double *from = truss->vertices[bar->ends[0]].position;
    const double *to = truss->vertices[bar->ends[1]].position;
    const double length = mf_truss_rest_length(truss, index), d = bar->diameter;
    double along[3];
    mf_vec3_sub(along, to, from);
    facts->length += length;
    facts->shortest = fmin(facts->shortest, length);
    facts->longest = fmax(facts->longest, length);
    facts->thinnest = fmin(facts->thinnest, d);
    facts->thickest = fmax(facts->thickest, d);
    facts->stretched += fabs(sqrt(mf_vec3_dot(along, along)) - length) > 1e-9 * length;
    extend(facts, from, 0.5 * d);
    extend(facts, to, 0.5 * d);
    weaken(&facts->euler, index, mf_truss_euler_load(truss, index));
    if (truss->material.yield > 0.0)
        weaken(&facts->yield, index, truss->material.yield * 0.25 * MF_PI * d * d);
}

static double clamp(double a) {
    return fmax(0.0, fmin(1.0, a));
}

// [m] between the axes of two bars (Ericson, Real-Time Collision Detection, 2005, section 5.1.9).
static double bar_distance(const mf_Truss *truss, const mf_TrussBar *one, const mf_TrussBar *two) {
    const double *p = truss->vertices[one->ends[0]].position;
    const double *q = truss->vertices[two->ends[0]].position;
    double u[3], v[3], between[3], gap[3];
    for (int i = 0; i < 3; i++) {
        u[i] = truss->vertices[one->ends[1]].position[i] - p[i];
        v[i] = truss->vertices[two->ends[1]].position[i] - q[i];
        between[i] = p[i] - q[i];
    }
    const double a = mf_vec3_dot(u, u), b = mf_vec3_dot(u, v), c = mf_vec3_dot(u, between),
                 d = mf_vec3_dot(v, between);
    const double e = mf_vec3_dot(v, v), area = a * e - b * b;
    const double first = area > 1e-9 * a * e ? clamp((b * d - c * e) / area) : 0.5;
    const double t = clamp((b * first + d) / fmax(e, DBL_MIN));
    const double s = clamp((b * t - c) / fmax(a, DBL_MIN));
    for (int i = 0; i < 3; i++)
        gap[i] = between[i] + s * u[i] - t * v[i];
    return sqrt(mf_vec3_dot(gap, gap));
}

// Bars without a common vertex push each other apart while a frame is relaxed.
static void find_crossings(Facts *facts) {
    const mf_Truss *truss = facts->truss;
    for (uint32_t i = 0; i < truss->bar_count && truss->bar_count <= CROSSING_BARS; i++) {
        const mf_TrussBar *one = &truss->bars[i];
        for (uint32_t j = i + 1; j < truss->bar_count; j++) {
            const mf_TrussBar *two = &truss->bars[j];
            if (one->ends[0] == two->ends[0] || one->ends[0] == two->ends[1] ||
                one->ends[1] == two->ends[0] || one->ends[1] == two->ends[1] ||
                bar_distance(truss, one, two) >= 0.499 * (one->diameter + two->diameter))
                continue;
            if (facts->crossings++ == 0)
                memcpy(facts->crossing, (uint32_t[2]){i, j}, sizeof facts->crossing);
        }
    }
}

static void note(Facts *facts, const char *text) {
    if (facts->note_count < NOTES)
        snprintf(facts->notes[facts->note_count++], NOTE, "%s", text);
}

static void note_geometry(Facts *facts) {
    const mf_TrussStatics *statics = &facts->statics;
    char text[NOTE];
    if (facts->ranked && statics->parts > 1)
        note(facts, "parts that no bar connects move independently of each other");
    if (facts->ranked && statics->mechanisms > 0 && facts->truss->material.density > 0.0)
        note(facts, "mechanisms: weight moves it, and no bar holds, until ground, friction or "
                    "tension does");
    if (facts->stretched > 0) {
        snprintf(text, NOTE, "%u bar%s under force before the first frame: rest_length differs",
                 facts->stretched, facts->stretched == 1 ? " is" : "s are");
        note(facts, text);
    }
    if (facts->crossings > 0) {
        snprintf(text, NOTE,
                 "%u pair%s of bars inside each other, the first %u and %u: they push "
                 "each other apart (motion.quasistatic.collisions)",
                 facts->crossings, facts->crossings == 1 ? " is" : "s are", facts->crossing[0],
                 facts->crossing[1]);
        note(facts, text);
    }
}

// What `quasistatic` does not know of every truss.
static void note_motion(Facts *facts) {
    if (facts->yield.bar != MF_NONE && facts->euler.force < facts->yield.force)
        note(facts, "bars do not bend: they buckle before they yield, which raises the warning "
                    "buckling only");
    else
        note(facts, "bars do not bend or break: buckling and yield raise warnings only");
    note(facts, "no momentum: a fall or a snap is one frame, with the warning jump");
    note(facts, "joints have no friction, no size and no limits");
    note(facts, "trusses collide with the ground and themselves, not with other robots");
}

static mf_Status find_facts(mf_Context *context, const mf_Truss *truss, Facts *facts,
                            mf_Error *error) {
    *facts = (Facts){.truss = truss,
                     .mass = mf_truss_mass(truss),
                     .material = mf_truss_material_name(&truss->material),
                     .lower = {DBL_MAX, DBL_MAX, DBL_MAX},
                     .upper = {-DBL_MAX, -DBL_MAX, -DBL_MAX},
                     .shortest = DBL_MAX,
                     .thinnest = DBL_MAX,
                     .euler = {MF_NONE, DBL_MAX},
                     .yield = {MF_NONE, DBL_MAX}};
    count_vertices(facts);
    for (uint32_t b = 0; b < truss->bar_count; b++)
        measure_bar(facts, b);
    find_crossings(facts);
    mf_Status status = mf_truss_statics(context, truss, &facts->statics, error);
    facts->ranked = status == MF_OK;
    if (status == MF_LIMIT) {
        note(facts, error->message);
        *error = (mf_Error){0};
        status = MF_OK;
    }
    note_geometry(facts);
    note_motion(facts);
    return status;
}

// ---- text --------------------------------------------------------------------------------------

static void show_body(mf_Text *text, const Facts *facts) {
    const mf_Truss *truss = facts->truss;
    const double *center = facts->mass.center, *inertia = facts->mass.inertia;
    mf_text_format(text, "  mass          %.4g kg, center at %.4f %.4f %.4f m\n", facts->mass.mass,
                   center[0], center[1], center[2]);
    mf_text_format(
        text,
        "  inertia       xx %.4g, yy %.4g, zz %.4g, xy %.3g, xz %.3g, yz %.3g kg m^2 about the "
        "center\n",
        inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]);
    mf_text_format(text, "  size          %.4f x %.4f x %.4f m with the thickness of bars\n",
                   facts->upper[0] - facts->lower[0], facts->upper[1] - facts->lower[1],
                   facts->upper[2] - facts->lower[2]);
    mf_text_format(text, "  material      %s%selasticity %.4g GPa, density %.4g kg/m^3, ",
                   facts->material != NULL ? facts->material : "",
                   facts->material != NULL ? ": " : "", 1e-9 * truss->material.elasticity,
                   truss->material.density);
    if (truss->material.yield > 0.0)
        mf_text_format(text, "yield at %.4g MPa\n", 1e-6 * truss->material.yield);
    else
        mf_text_format(text, "does not yield\n");
}

static void show_parts(mf_Text *text, const Facts *facts) {
    const mf_Truss *truss = facts->truss;
    mf_text_format(text, "  vertices      %u: %u fixed, %u with a load\n", truss->vertex_count,
                   facts->fixed, facts->loaded);
    mf_text_format(text, "  bars          %u", truss->bar_count);
    if (truss->bar_count > 0)
        mf_text_format(text, ": %.4g m in all, lengths %.4g .. %.4g m, diameters %.4g .. %.4g mm",
                       facts->length, facts->shortest, facts->longest, 1e3 * facts->thinnest,
                       1e3 * facts->thickest);
    mf_text_format(
        text,
        "\n  brain         %u neurons, %u synapses; %u of %u actuators are driven by neurons\n",
        truss->neuron_count, truss->synapse_count, facts->driven, truss->actuator_count);
}

static void show_statics(mf_Text *text, const Facts *facts) {
    const mf_TrussStatics *s = &facts->statics;
    if (!facts->ranked)
        return;
    mf_text_format(text, "  freedoms      %u axes of vertices; rank of the equilibrium matrix %u\n",
                   s->freedoms, s->rank);
    mf_text_format(text,
                   "  movements     %u as a body, %u mechanisms (no bar changes its length)\n",
                   s->rigid_modes, s->mechanisms);
    mf_text_format(text, "  redundant     %u bars (states of self-stress)\n", s->redundant);
    mf_text_format(text, "  connections   %u part%s, %u dangling %s\n", s->parts,
                   s->parts == 1 ? "" : "s", s->dangling, s->dangling == 1 ? "vertex" : "vertices");
}

static void show_strength(mf_Text *text, const Facts *facts) {
    if (facts->euler.bar != MF_NONE)
        mf_text_format(text, "  buckling      from %.4g N of compression, bar %u (Euler's load)\n",
                       facts->euler.force, facts->euler.bar);
    if (facts->yield.bar != MF_NONE)
        mf_text_format(text, "  yield         from %.4g N, bar %u\n", facts->yield.force,
                       facts->yield.bar);
}

static void show_actuators(mf_Text *text, const mf_Truss *truss) {
    if (truss->actuator_count > 0)
        mf_text_put(text, "\n  actuator   bar   range/mm           length/mm   driven by\n");
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const mf_TrussActuator *actuator = &truss->actuators[a];
        mf_text_format(text, "  %-8u %5u   %7.2f .. %7.2f %10.2f   ", a, actuator->bar,
                       1e3 * actuator->lower, 1e3 * actuator->upper,
                       1e3 * mf_truss_rest_length(truss, actuator->bar));
        if (actuator->neuron != MF_NONE)
            mf_text_format(text, "neuron %u\n", actuator->neuron);
        else
            mf_text_put(text, "actuator.control\n");
    }
}

// What drives a neuron: "0 (-2.5) 1 (+1)".
static void show_inputs(mf_Text *text, const mf_Truss *truss, uint32_t neuron) {
    for (uint32_t s = 0; s < truss->synapse_count; s++)
        if (truss->synapses[s].to == neuron)
            mf_text_format(text, " %u (%+.3g)", truss->synapses[s].from, truss->synapses[s].weight);
    mf_text_put(text, "\n");
}

static void show_neurons(mf_Text *text, const mf_Truss *truss) {
    if (truss->neuron_count > 0)
        mf_text_put(text, "\n  neuron     kind            bias   state   synapses from (weight)\n");
    for (uint32_t n = 0; n < truss->neuron_count; n++) {
        const mf_Neuron *neuron = &truss->neurons[n];
        mf_text_format(text, "  %-10u %-10s %9.4g %7.3g  ", n,
                       neuron->kind == MF_NEURON_SIGMOID ? "sigmoid" : "threshold", neuron->bias,
                       neuron->state);
        show_inputs(text, truss, n);
    }
}

static void show(mf_Text *text, const Facts *facts, const char *path) {
    mf_text_format(text, "%s  (%s)\n\n", facts->truss->name != NULL ? facts->truss->name : "truss",
                   path);
    show_body(text, facts);
    show_parts(text, facts);
    show_statics(text, facts);
    show_strength(text, facts);
    show_actuators(text, facts->truss);
    show_neurons(text, facts->truss);
    mf_text_put(text, "\n");
    for (uint32_t i = 0; i < facts->note_count; i++)
        mf_text_format(text, "note: %s\n", facts->notes[i]);
}

// ---- for programs ------------------------------------------------------------------------------

static json_t *reals(const double *values, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, mf_json_real(values[i]));
    return list;
}

static json_t *pack_weakest(const Weakest *weakest) {
    return weakest->bar == MF_NONE ? json_null()
                                   : json_pack("{s:I, s:o}", "bar", (json_int_t)weakest->bar,
                                               "force", mf_json_real(weakest->force));
}

static json_t *pack_material(const Facts *facts) {
    const mf_TrussMaterial *material = &facts->truss->material;
    return json_pack("{s:o, s:o, s:o, s:o}", "name",
                     facts->material != NULL ? json_string(facts->material) : json_null(),
                     "elasticity", mf_json_real(material->elasticity), "density",
                     mf_json_real(material->density), "yield", mf_json_real(material->yield));
}

static json_t *pack_bars(const Facts *facts) {
    const bool any = facts->truss->bar_count > 0;
    const double lengths[2] = {any ? facts->shortest : 0.0, any ? facts->longest : 0.0};
    const double diameters[2] = {any ? facts->thinnest : 0.0, any ? facts->thickest : 0.0};
    return json_pack("{s:I, s:o, s:o, s:o, s:I, s:I}", "count", (json_int_t)facts->truss->bar_count,
                     "length", mf_json_real(facts->length), "lengths", reals(lengths, 2),
                     "diameters", reals(diameters, 2), "stretched", (json_int_t)facts->stretched,
                     "crossings", (json_int_t)facts->crossings);
}

static json_t *pack_statics(const Facts *facts) {
    const mf_TrussStatics *s = &facts->statics;
    if (!facts->ranked)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "freedoms", (json_int_t)s->freedoms,
                     "rank", (json_int_t)s->rank, "rigid_modes", (json_int_t)s->rigid_modes,
                     "mechanisms", (json_int_t)s->mechanisms, "redundant", (json_int_t)s->redundant,
                     "parts", (json_int_t)s->parts, "dangling", (json_int_t)s->dangling);
}

static json_t *pack_actuators(const mf_Truss *truss) {
    json_t *list = json_array();
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const mf_TrussActuator *from = &truss->actuators[a];
        const double range[2] = {from->lower, from->upper};
        json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "bar", (json_int_t)from->bar,
                                              "range", reals(range, 2), "neuron",
                                              from->neuron != MF_NONE
                                                  ? json_integer((json_int_t)from->neuron)
                                                  : json_null()));
    }
    return list;
}

static json_t *pack_neurons(const mf_Truss *truss) {
    json_t *list = json_array();
    for (uint32_t n = 0; n < truss->neuron_count; n++) {
        const mf_Neuron *from = &truss->neurons[n];
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o}", "kind",
                            from->kind == MF_NEURON_SIGMOID ? "sigmoid" : "threshold", "bias",
                            mf_json_real(from->bias), "state", mf_json_real(from->state)));
    }
    return list;
}

static json_t *pack_synapses(const mf_Truss *truss) {
    json_t *list = json_array();
    for (uint32_t s = 0; s < truss->synapse_count; s++) {
        const mf_Synapse *from = &truss->synapses[s];
        json_array_append_new(list, json_pack("{s:I, s:I, s:o}", "from", (json_int_t)from->from,
                                              "to", (json_int_t)from->to, "weight",
                                              mf_json_real(from->weight)));
    }
    return list;
}

static json_t *pack(const Facts *facts, const char *path) {
    const mf_Truss *truss = facts->truss;
    json_t *notes = json_array();
    for (uint32_t i = 0; i < facts->note_count; i++)
        json_array_append_new(notes, json_string(facts->notes[i]));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "name", truss->name != NULL ? truss->name : "truss", "file", path, "mass",
        mf_json_real(facts->mass.mass), "center", reals(facts->mass.center, 3), "inertia",
        reals(facts->mass.inertia, 6), "lower", reals(facts->lower, 3), "upper",
        reals(facts->upper, 3), "material", pack_material(facts), "vertices",
        (json_int_t)truss->vertex_count, "fixed", (json_int_t)facts->fixed, "loaded",
        (json_int_t)facts->loaded, "bars", pack_bars(facts), "statics", pack_statics(facts),
        "euler_load", pack_weakest(&facts->euler), "yield_load", pack_weakest(&facts->yield),
        "actuators", pack_actuators(truss), "neurons", pack_neurons(truss), "synapses",
        pack_synapses(truss), "notes", notes);
}

mf_Status mf_truss_describe(mf_Context *context, const void *body, const char *path, mf_Text *text,
                            struct json_t **object, mf_Error *error) {
    Facts facts;
    mf_Status status = find_facts(context, body, &facts, error);
    if (status == MF_OK && text != NULL)
        show(text, &facts, path);
    else if (status == MF_OK)
        *object = pack(&facts, path);
    return status;
}
