// Genomes of machines. A genome is little-endian:
//
//   byte 0 'M', 1 version, 2 vertices, 3 bars, 4 actuators, 5 neurons, 6-7 synapses
//   vertex    3 floats: position
//   bar       2 bytes: ends; float: diameter
//   actuator  2 bytes: bar, neuron; float: stroke
//   neuron    1 byte: kind; 2 floats: bias, state
//   synapse   2 bytes: from, to; float: weight
//
// and zeros to its end. Invariant: decoding accepts what mf_truss_check accepts and nothing else,
// and each machine has one genome.
#include "math/scalar.h"
#include "base/floats.h"
#include "motion/truss/machine.h"

#include <string.h>

enum { HEAD = 8, VERTEX = 12, BAR = 6, ACTUATOR = 6, NEURON = 9, SYNAPSE = 6 };

_Static_assert(MF_MACHINE_BYTES >= HEAD + VERTEX * MF_MACHINE_VERTICES + BAR * MF_MACHINE_BARS +
                                       ACTUATOR * MF_MACHINE_ACTUATORS +
                                       NEURON * MF_MACHINE_NEURONS + SYNAPSE * MF_MACHINE_SYNAPSES,
               "the largest machine fits");

mf_Truss mf_machine_truss(const mf_Machine *machine) {
    if (machine == NULL)
        return (mf_Truss){.name = "machine", .material = mf_truss_material()};
    return (mf_Truss){.name = "machine",
                      .material = mf_truss_material(),
                      .vertices = machine->vertices,
                      .bars = machine->bars,
                      .actuators = machine->actuators,
                      .neurons = machine->neurons,
                      .synapses = machine->synapses,
                      .vertex_count = machine->vertex_count,
                      .bar_count = machine->bar_count,
                      .actuator_count = machine->actuator_count,
                      .neuron_count = machine->neuron_count,
                      .synapse_count = machine->synapse_count};
}

uint32_t mf_machine_bytes(const mf_Machine *machine) {
    if (machine == NULL)
        return 0;
    return HEAD + VERTEX * machine->vertex_count + BAR * machine->bar_count +
           ACTUATOR * machine->actuator_count + NEURON * machine->neuron_count +
           SYNAPSE * machine->synapse_count;
}

// ---- geometry ----------------------------------------------------------------------------------

double mf_machine_length(const mf_Machine *machine, uint32_t bar) {
    const uint32_t *ends = machine->bars[bar].ends;
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        const double d =
            machine->vertices[ends[1]].position[i] - machine->vertices[ends[0]].position[i];
        square += d * d;
    }
    return mf_sqrt(square);
}

void mf_machine_set_stroke(mf_Machine *machine, uint32_t actuator, double stroke) {
    mf_TrussActuator *a = &machine->actuators[actuator];
    const double length = mf_machine_length(machine, a->bar);
    a->lower = length - 0.5 * stroke;
    a->upper = length + 0.5 * stroke;
}

// ---- trusses as machines -----------------------------------------------------------------------

static const char *foreign_part(const mf_Truss *truss) {
    const mf_TrussMaterial own = mf_truss_material(), *material = &truss->material;
    if (material->elasticity != own.elasticity || material->density != own.density ||
        material->yield != own.yield)
        return "another material";
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        const mf_TrussVertex *vertex = &truss->vertices[v];
        for (int i = 0; i < 3; i++) {
            if (vertex->fixed[i] || vertex->load[i] != 0.0)
                return "vertices that are fixed or loaded";
        }
        if (vertex->mass != 0.0)
            return "masses of vertices";
    }
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        if (truss->bars[b].rest_length != 0.0)
            return "rest lengths";
    }
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        if (truss->actuators[a].neuron == MF_NONE)
            return "actuators without a neuron";
    }
    return NULL;
}

static void copy_list(void *to, const void *from, size_t bytes) {
    if (bytes > 0) // an empty list may be NULL
        memcpy(to, from, bytes);
}

static void copy_parts(const mf_Truss *truss, mf_Machine *out) {
    *out = (mf_Machine){.vertex_count = truss->vertex_count,
                        .bar_count = truss->bar_count,
                        .actuator_count = truss->actuator_count,
                        .neuron_count = truss->neuron_count,
                        .synapse_count = truss->synapse_count};
    for (uint32_t v = 0; v < truss->vertex_count; v++)
        memcpy(out->vertices[v].position, truss->vertices[v].position,
               sizeof out->vertices[v].position);
    copy_list(out->bars, truss->bars, truss->bar_count * sizeof *out->bars);
    copy_list(out->actuators, truss->actuators, truss->actuator_count * sizeof *out->actuators);
    copy_list(out->neurons, truss->neurons, truss->neuron_count * sizeof *out->neurons);
    copy_list(out->synapses, truss->synapses, truss->synapse_count * sizeof *out->synapses);
}

// The range of an actuator of a machine lies about the length of its bar.
static bool is_centered(const mf_Machine *machine, uint32_t actuator) {
    const mf_TrussActuator *a = &machine->actuators[actuator];
    const double length = mf_machine_length(machine, a->bar);
    return mf_abs(0.5 * (a->lower + a->upper) - length) <= 1e-6 * length;
}

static mf_Status check_fits(const mf_Truss *truss, mf_Error *error) {
    const char *foreign = foreign_part(truss);
    MF_CHECK(foreign == NULL, error, MF_UNSUPPORTED,
             "machine: the truss has %s, which no machine has", foreign);
    if (truss->vertex_count <= MF_MACHINE_VERTICES && truss->bar_count <= MF_MACHINE_BARS &&
        truss->actuator_count <= MF_MACHINE_ACTUATORS &&
        truss->neuron_count <= MF_MACHINE_NEURONS && truss->synapse_count <= MF_MACHINE_SYNAPSES)
        return MF_OK;
    return mf_fail(
        error, MF_LIMIT,
        "machine: at most %d vertices, %d bars, %d actuators, %d neurons and %d synapses",
        MF_MACHINE_VERTICES, MF_MACHINE_BARS, MF_MACHINE_ACTUATORS, MF_MACHINE_NEURONS,
        MF_MACHINE_SYNAPSES);
}

static mf_Status check_ranges(const mf_Machine *machine, mf_Error *error) {
    for (uint32_t a = 0; a < machine->actuator_count; a++) {
        MF_CHECK(is_centered(machine, a), error, MF_UNSUPPORTED,
                 "machine: actuators[%u].range: no machine has one that is not centered "
                 "at the length of the bar",
                 a);
    }
    return MF_OK;
}

mf_Status mf_machine_of_truss(const mf_Truss *truss, mf_Machine *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    uint8_t genome[MF_MACHINE_BYTES];
    MF_NEED(out != NULL, error, "mf_machine_of_truss: out is NULL");
    mf_Status status = mf_truss_check(truss, error);
    MF_THEN(status, check_fits(truss, error));
    if (status == MF_OK) {
        copy_parts(truss, out);
        status = check_ranges(out, error);
    }
    MF_THEN(status, mf_machine_encode(out, genome, sizeof genome, error));
    MF_THEN(status, mf_machine_decode(genome, sizeof genome, out, error));
    if (status != MF_OK)
        memset(out, 0, sizeof *out);
    return status;
}

// ---- writing -----------------------------------------------------------------------------------

typedef struct Writer {
    uint8_t *at;
} Writer;

static void put_byte(Writer *w, uint32_t value) {
    *w->at++ = (uint8_t)value;
}

static void put_float(Writer *w, double value) {
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    for (int i = 0; i < 4; i++)
        put_byte(w, bits >> 8 * i);
}

static void put_body(Writer *w, const mf_Machine *m) {
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        for (int i = 0; i < 3; i++)
            put_float(w, m->vertices[v].position[i]);
    }
    for (uint32_t b = 0; b < m->bar_count; b++) {
        put_byte(w, m->bars[b].ends[0]);
        put_byte(w, m->bars[b].ends[1]);
        put_float(w, m->bars[b].diameter);
    }
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        put_byte(w, m->actuators[a].bar);
        put_byte(w, m->actuators[a].neuron);
        put_float(w, m->actuators[a].upper - m->actuators[a].lower);
    }
}

static void put_brain(Writer *w, const mf_Machine *m) {
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        put_byte(w, m->neurons[n].kind);
        put_float(w, m->neurons[n].bias);
        put_float(w, m->neurons[n].state);
    }
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        put_byte(w, m->synapses[s].from);
        put_byte(w, m->synapses[s].to);
        put_float(w, m->synapses[s].weight);
    }
}

mf_Status mf_machine_encode(const mf_Machine *machine, uint8_t *genome, uint32_t genome_bytes,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(machine != NULL && genome != NULL, error, "mf_machine_encode: an argument is NULL");
    const uint32_t bytes = mf_machine_bytes(machine);
    if (bytes > genome_bytes)
        return mf_fail(error, MF_LIMIT, "machine: its genome has %u bytes, the limit is %u", bytes,
                       genome_bytes);
    memset(genome, 0, genome_bytes);
    Writer w = {genome};
    const uint32_t head[HEAD] = {MF_MACHINE_MARK,         MF_MACHINE_VERSION,
                                 machine->vertex_count,   machine->bar_count,
                                 machine->actuator_count, machine->neuron_count,
                                 machine->synapse_count,  machine->synapse_count >> 8};
    for (int i = 0; i < HEAD; i++)
        put_byte(&w, head[i]);
    put_body(&w, machine);
    put_brain(&w, machine);
    return MF_OK;
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct Reader {
    const uint8_t *at;
    bool sound; // numbers so far were finite, and kinds known
} Reader;

static uint32_t take_byte(Reader *r) {
    return *r->at++;
}

// Bytes have one meaning only: -0 and numbers that are not finite are refused.
static double take_float(Reader *r) {
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= take_byte(r) << 8 * i;
    float single;
    memcpy(&single, &bits, sizeof single);
    r->sound = r->sound && mf_is_finite((double)single) && bits != 0x80000000u;
    return (double)single;
}

static mf_Status read_counts(Reader *r, mf_Machine *m, mf_Error *error) {
    if (take_byte(r) != MF_MACHINE_MARK)
        return mf_fail(error, MF_CORRUPT, "machine: the bytes do not begin as a genome does");
    const uint32_t version = take_byte(r);
    MF_CHECK(version == MF_MACHINE_VERSION, error, MF_VERSION,
             "machine: genome of version %u, need %d", version, MF_MACHINE_VERSION);
    m->vertex_count = take_byte(r);
    m->bar_count = take_byte(r);
    m->actuator_count = take_byte(r);
    m->neuron_count = take_byte(r);
    m->synapse_count = take_byte(r);
    m->synapse_count |= take_byte(r) << 8;
    if (m->vertex_count > MF_MACHINE_VERTICES || m->bar_count > MF_MACHINE_BARS ||
        m->actuator_count > MF_MACHINE_ACTUATORS || m->neuron_count > MF_MACHINE_NEURONS ||
        m->synapse_count > MF_MACHINE_SYNAPSES)
        return mf_fail(error, MF_CORRUPT,
                       "machine: %u vertices, %u bars, %u actuators, %u neurons, %u synapses: "
                       "more than one can have",
                       m->vertex_count, m->bar_count, m->actuator_count, m->neuron_count,
                       m->synapse_count);
    return MF_OK;
}

static mf_Status read_body(Reader *r, mf_Machine *m, mf_Error *error) {
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        for (int i = 0; i < 3; i++)
            m->vertices[v].position[i] = take_float(r);
    }
    for (uint32_t b = 0; b < m->bar_count; b++) {
        for (int e = 0; e < 2; e++)
            m->bars[b].ends[e] = take_byte(r);
        m->bars[b].diameter = take_float(r);
    }
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        m->actuators[a].bar = take_byte(r);
        m->actuators[a].neuron = take_byte(r);
        m->actuators[a].upper = take_float(r); // the stroke, until bars are known to be sound
    }
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        const uint32_t kind = take_byte(r);
        r->sound = r->sound && kind <= MF_NEURON_THRESHOLD;
        m->neurons[n].kind = kind == MF_NEURON_THRESHOLD ? MF_NEURON_THRESHOLD : MF_NEURON_SIGMOID;
        m->neurons[n].bias = take_float(r);
        m->neurons[n].state = take_float(r);
    }
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        m->synapses[s].from = take_byte(r);
        m->synapses[s].to = take_byte(r);
        m->synapses[s].weight = take_float(r);
    }
    return r->sound
               ? MF_OK
               : mf_fail(error, MF_CORRUPT, "machine: a number is not finite, or a kind unknown");
}

static mf_Status check_actuators(mf_Machine *m, mf_Error *error) {
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        const mf_TrussActuator *actuator = &m->actuators[a];
        if (actuator->bar >= m->bar_count || actuator->neuron >= m->neuron_count)
            return mf_fail(error, MF_CORRUPT, "machine: actuator %u: no bar %u or no neuron %u", a,
                           actuator->bar, actuator->neuron);
        const double length = mf_machine_length(m, actuator->bar), stroke = actuator->upper;
        MF_CHECK(stroke >= MF_MACHINE_STROKE_LEAST * length &&
                     stroke <= MF_MACHINE_STROKE_MOST * length,
                 error, MF_CORRUPT, "machine: actuator %u: stroke %g m of a bar of %g m", a, stroke,
                 length);
        mf_machine_set_stroke(m, a, stroke);
    }
    return MF_OK;
}

static mf_Status check_brain(const mf_Machine *m, mf_Error *error) {
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        if (!(m->neurons[n].state >= 0.0 && m->neurons[n].state <= 1.0 &&
              mf_abs(m->neurons[n].bias) <= MF_MACHINE_WEIGHT_MOST))
            return mf_fail(error, MF_CORRUPT, "machine: neuron %u: state %g, bias %g", n,
                           m->neurons[n].state, m->neurons[n].bias);
    }
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        const mf_Synapse *synapse = &m->synapses[s];
        if (synapse->from >= m->neuron_count || synapse->to >= m->neuron_count ||
            mf_abs(synapse->weight) > MF_MACHINE_WEIGHT_MOST)
            return mf_fail(error, MF_CORRUPT, "machine: synapse %u: from %u to %u, weight %g", s,
                           synapse->from, synapse->to, synapse->weight);
        for (uint32_t other = 0; other < s; other++) {
            if (m->synapses[other].from == synapse->from && m->synapses[other].to == synapse->to)
                return mf_fail(error, MF_CORRUPT, "machine: synapse %u: is there already", s);
        }
    }
    return MF_OK;
}

static mf_Status check_vertices(const mf_Machine *m, mf_Error *error) {
    bool used[MF_MACHINE_VERTICES] = {false};
    for (uint32_t b = 0; b < m->bar_count; b++)
        used[m->bars[b].ends[0]] = used[m->bars[b].ends[1]] = true;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        MF_CHECK(used[v], error, MF_CORRUPT, "machine: vertex %u has no bar", v);
    }
    return MF_OK;
}

static mf_Status check_body(mf_Machine *m, mf_Error *error) {
    for (uint32_t b = 0; b < m->bar_count; b++) {
        const uint32_t *ends = m->bars[b].ends;
        if (ends[0] >= m->vertex_count || ends[1] >= m->vertex_count ||
            !(mf_machine_length(m, b) >= MF_MACHINE_SHORTEST))
            return mf_fail(error, MF_CORRUPT, "machine: bar %u: has no length", b);
    }
    mf_Status status = check_vertices(m, error);
    MF_THEN(status, check_actuators(m, error));
    if (status != MF_OK || m->vertex_count == 0)
        return status;
    mf_Error cause = {0};
    const mf_Truss truss = mf_machine_truss(m);
    if (mf_truss_check(&truss, &cause) != MF_OK)
        return mf_fail(error, MF_CORRUPT, "machine: %s", cause.message);
    return MF_OK;
}

mf_Status mf_machine_decode(const uint8_t *genome, uint32_t genome_bytes, mf_Machine *out,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(genome != NULL && out != NULL, error, "mf_machine_decode: an argument is NULL");
    memset(out, 0, sizeof *out);
    MF_CHECK(genome_bytes >= HEAD, error, MF_CORRUPT, "machine: a genome of %u bytes",
             genome_bytes);
    Reader r = {genome, true};
    mf_Status status = read_counts(&r, out, error);
    const uint32_t bytes = mf_machine_bytes(out);
    if (status == MF_OK && bytes > genome_bytes)
        status = mf_fail(error, MF_CORRUPT, "machine: needs %u bytes, the genome has %u", bytes,
                         genome_bytes);
    for (uint32_t i = bytes; status == MF_OK && i < genome_bytes; i++) {
        if (genome[i] != 0)
            status = mf_fail(error, MF_CORRUPT, "machine: byte %u follows its end", i);
    }
    MF_THEN(status, read_body(&r, out, error));
    MF_THEN(status, check_body(out, error));
    MF_THEN(status, check_brain(out, error));
    if (status != MF_OK)
        memset(out, 0, sizeof *out);
    return status;
}
