// Operators that vary machines: those of H. Lipson and J. B. Pollack, "Automatic design and
// manufacture of robotic lifeforms", Nature 406, 974-978, 2000, with their chances. What they left
// open is ours: sizes of changes; a length changes by moving the end with fewer bars, so that bars
// have no force in the machine as it is made; a bar of a vertex that becomes two goes to either or
// to both, without which no triangle could arise; the attached bar's stroke.
//
// Random numbers are mf_random(seed, id, stream, draw). Invariant: an operator gives a machine that
// its genome can hold, or none.
#include "math/scalar.h"
#include "base/plain.h"
#include "base/random.h"
#include "motion/truss/machine.h"

#include <string.h>

mf_MachineConfig mf_machine_config(void) {
    return (mf_MachineConfig){.struct_size = sizeof(mf_MachineConfig),
                              .genome_bytes = MF_MACHINE_BYTES,
                              .change = 0.1,
                              .add = 0.01,
                              .split = 0.03,
                              .attach = 0.03,
                              .length_step = 0.3,
                              .weight_step = 2.0,
                              .bar_length = 0.1,
                              .bar_diameter = 0.01,
                              .shortest = 0.02,
                              .longest = 0.3,
                              .stroke = 0.04,
                              .share = 0.5,
                              .threshold = 0.5};
}

mf_Status mf_machine_check_config(const mf_MachineConfig *config, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "machine: start from mf_machine_config()");
    const mf_Range ranges[] = {{"genome_bytes", "", config->genome_bytes, 8, 65536},
                               {"change", "", config->change, 0, 1},
                               {"add", "", config->add, 1e-6, 1},
                               {"split", "", config->split, 0, 1},
                               {"attach", "", config->attach, 0, 1},
                               {"length_step", "", config->length_step, 0, 0.9},
                               {"weight_step", "", config->weight_step, 0, 100},
                               {"bar_length", "m", config->bar_length, 1e-3, 10},
                               {"bar_diameter", "m", config->bar_diameter, 1e-5, 1},
                               {"shortest", "m", config->shortest, MF_MACHINE_SHORTEST, 10},
                               {"longest", "m", config->longest, config->shortest, 100},
                               {"stroke", "m", config->stroke, 1e-5, 10},
                               {"share", "", config->share, 0, 1},
                               {"threshold", "", config->threshold, 0, 1}};
    return mf_ranges_check("machine", ranges, sizeof ranges / sizeof *ranges, error);
}

// ---- random numbers ----------------------------------------------------------------------------

typedef struct Dice {
    uint64_t seed, id;
    uint32_t stream, index;
} Dice;

static const uint32_t first_stream = 0x6d616368;

static Dice dice_of(uint64_t seed, uint64_t id, uint32_t stream) {
    return (Dice){seed, id, first_stream + stream, 0};
}

static void draw(Dice *dice, uint32_t words[4]) {
    const uint64_t tick = (dice->id & UINT64_C(0xffffffff00000000)) | dice->index++;
    mf_random(dice->seed, (uint32_t)dice->id, dice->stream, tick, words);
}

static double unit(Dice *dice) { // 0 .. 1
    uint32_t words[4];
    draw(dice, words);
    return mf_random_unit_double(words[0], words[1]);
}

static double signed_unit(Dice *dice) { // -1 .. 1
    return 2.0 * unit(dice) - 1.0;
}

static uint32_t below(Dice *dice, uint32_t bound) {
    uint32_t words[4];
    draw(dice, words);
    return mf_random_below(words[0], bound);
}

// Uniform over directions: points of the cube that are in the ball.
static void direction(Dice *dice, double out[3]) {
    double square;
    do {
        square = 0.0;
        for (int i = 0; i < 3; i++) {
            out[i] = signed_unit(dice);
            square += out[i] * out[i];
        }
    } while (square > 1.0 || square < 1e-4);
    for (int i = 0; i < 3; i++)
        out[i] /= mf_sqrt(square);
}

// ---- parts -------------------------------------------------------------------------------------

static uint32_t degree(const mf_Machine *m, uint32_t vertex) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < m->bar_count; b++)
        count += m->bars[b].ends[0] == vertex || m->bars[b].ends[1] == vertex;
    return count;
}

static uint32_t actuator_of(const mf_Machine *m, uint32_t bar) {
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        if (m->actuators[a].bar == bar)
            return a;
    }
    return MF_NONE;
}

static bool add_vertex(mf_Machine *m, const double at[3], const double along[3], double by) {
    if (m->vertex_count == MF_MACHINE_VERTICES)
        return false;
    mf_TrussVertex *vertex = &m->vertices[m->vertex_count++];
    *vertex = (mf_TrussVertex){0};
    for (int i = 0; i < 3; i++)
        vertex->position[i] = at[i] + by * along[i];
    return true;
}

static bool add_bar(mf_Machine *m, uint32_t from, uint32_t to, double diameter) {
    if (m->bar_count == MF_MACHINE_BARS)
        return false;
    m->bars[m->bar_count++] = (mf_TrussBar){{from, to}, diameter, 0.0};
    return true;
}

static void remove_actuator(mf_Machine *m, uint32_t actuator) {
    m->actuator_count--;
    memmove(&m->actuators[actuator], &m->actuators[actuator + 1],
            (m->actuator_count - actuator) * sizeof *m->actuators);
}

static void remove_vertex(mf_Machine *m, uint32_t vertex) {
    m->vertex_count--;
    memmove(&m->vertices[vertex], &m->vertices[vertex + 1],
            (m->vertex_count - vertex) * sizeof *m->vertices);
    for (uint32_t b = 0; b < m->bar_count; b++) {
        for (int e = 0; e < 2; e++)
            m->bars[b].ends[e] -= m->bars[b].ends[e] > vertex;
    }
}

// Removes a bar, its actuator, and ends that have no other bar.
static void remove_bar(mf_Machine *m, uint32_t bar) {
    const uint32_t one = m->bars[bar].ends[0], two = m->bars[bar].ends[1];
    const uint32_t higher = one > two ? one : two, lower = one > two ? two : one;
    const uint32_t actuator = actuator_of(m, bar);
    if (actuator != MF_NONE)
        remove_actuator(m, actuator);
    m->bar_count--;
    memmove(&m->bars[bar], &m->bars[bar + 1], (m->bar_count - bar) * sizeof *m->bars);
    for (uint32_t a = 0; a < m->actuator_count; a++)
        m->actuators[a].bar -= m->actuators[a].bar > bar;
    if (degree(m, higher) == 0)
        remove_vertex(m, higher);
    if (degree(m, lower) == 0)
        remove_vertex(m, lower);
}

// ---- operators on the body ---------------------------------------------------------------------

static bool change_length(const mf_MachineConfig *config, Dice *dice, mf_Machine *m) {
    if (m->bar_count == 0)
        return false;
    const uint32_t bar = below(dice, m->bar_count);
    const double length = mf_machine_length(m, bar);
    const double target = mf_clamp(length * (1.0 + config->length_step * signed_unit(dice)),
                                   config->shortest, config->longest);
    const uint32_t *ends = m->bars[bar].ends;
    const uint32_t first = degree(m, ends[0]), second = degree(m, ends[1]);
    const uint32_t moved = first < second ? 0 : second < first || below(dice, 2) > 0 ? 1 : 0;
    double *to = m->vertices[ends[moved]].position;
    const double *from = m->vertices[ends[1 - moved]].position;
    for (int i = 0; i < 3; i++)
        to[i] = from[i] + (to[i] - from[i]) * (target / length);
    return true;
}

static bool gain_bar(const mf_MachineConfig *config, Dice *dice, mf_Machine *m) {
    const double length = config->bar_length * (1.0 + 0.5 * signed_unit(dice));
    double along[3];
    direction(dice, along);
    const double origin[3] = {0.0, 0.0, 0.0};
    if (m->vertex_count == 0 && !add_vertex(m, origin, along, 0.0))
        return false;
    const uint32_t from = below(dice, m->vertex_count);
    return add_vertex(m, m->vertices[from].position, along, length) &&
           add_bar(m, from, m->vertex_count - 1, config->bar_diameter);
}

static bool lose_bar(Dice *dice, mf_Machine *m) {
    uint32_t dangling[MF_MACHINE_BARS], count = 0;
    for (uint32_t b = 0; b < m->bar_count; b++) {
        if (degree(m, m->bars[b].ends[0]) == 1 || degree(m, m->bars[b].ends[1]) == 1)
            dangling[count++] = b;
    }
    if (count == 0)
        return false;
    remove_bar(m, dangling[below(dice, count)]);
    return true;
}

// The bars of the vertex go to it, to the new one, or to both.
static bool split_vertex(const mf_MachineConfig *config, Dice *dice, mf_Machine *m) {
    if (m->vertex_count == 0)
        return false;
    const uint32_t vertex = below(dice, m->vertex_count), bars = m->bar_count;
    double along[3];
    direction(dice, along);
    const double length = config->bar_length * (1.0 + 0.5 * signed_unit(dice));
    if (!add_vertex(m, m->vertices[vertex].position, along, length))
        return false;
    const uint32_t twin = m->vertex_count - 1;
    for (uint32_t b = 0; b < bars; b++) {
        uint32_t *ends = m->bars[b].ends;
        if (ends[0] != vertex && ends[1] != vertex)
            continue;
        const uint32_t other = ends[0] == vertex ? ends[1] : ends[0];
        const bool both = unit(dice) < config->share;
        if (both && !add_bar(m, other, twin, m->bars[b].diameter))
            return false;
        if (!both && below(dice, 2) > 0)
            ends[ends[0] == vertex ? 0 : 1] = twin;
    }
    return add_bar(m, vertex, twin, config->bar_diameter);
}

static bool split_bar(Dice *dice, mf_Machine *m) {
    if (m->bar_count == 0)
        return false;
    const uint32_t bar = below(dice, m->bar_count);
    const uint32_t from = m->bars[bar].ends[0], to = m->bars[bar].ends[1];
    double along[3];
    for (int i = 0; i < 3; i++)
        along[i] = m->vertices[to].position[i] - m->vertices[from].position[i];
    if (!add_vertex(m, m->vertices[from].position, along, 0.5))
        return false;
    m->bars[bar].ends[1] = m->vertex_count - 1;
    return add_bar(m, m->vertex_count - 1, to, m->bars[bar].diameter);
}

static bool attach(const mf_MachineConfig *config, Dice *dice, mf_Machine *m) {
    uint32_t passive[MF_MACHINE_BARS], count = 0;
    for (uint32_t b = 0; b < m->bar_count; b++) {
        if (actuator_of(m, b) == MF_NONE)
            passive[count++] = b;
    }
    if (count == 0 || m->neuron_count == 0 || m->actuator_count == MF_MACHINE_ACTUATORS)
        return false;
    const uint32_t a = m->actuator_count++;
    m->actuators[a] = (mf_TrussActuator){.bar = passive[below(dice, count)],
                                         .neuron = below(dice, m->neuron_count)};
    mf_machine_set_stroke(m, a, config->stroke);
    return true;
}

static bool detach(Dice *dice, mf_Machine *m) {
    if (m->actuator_count == 0)
        return false;
    remove_actuator(m, below(dice, m->actuator_count));
    return true;
}

// ---- operators on the brain --------------------------------------------------------------------

// A neuron has a bias and a weight for each neuron, most of them 0: those are no synapses.
static bool change_weight(const mf_MachineConfig *config, Dice *dice, mf_Machine *m) {
    if (m->neuron_count == 0)
        return false;
    const uint32_t to = below(dice, m->neuron_count), from = below(dice, m->neuron_count + 1);
    const double by = config->weight_step * signed_unit(dice);
    if (from == m->neuron_count) {
        m->neurons[to].bias += by;
        return true;
    }
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        if (m->synapses[s].from == from && m->synapses[s].to == to) {
            m->synapses[s].weight += by;
            return true;
        }
    }
    if (m->synapse_count == MF_MACHINE_SYNAPSES)
        return false;
    m->synapses[m->synapse_count++] = (mf_Synapse){from, to, by};
    return true;
}

static bool gain_neuron(const mf_MachineConfig *config, Dice *dice, mf_Machine *m) {
    if (m->neuron_count == MF_MACHINE_NEURONS)
        return false;
    mf_Neuron *neuron = &m->neurons[m->neuron_count++];
    *neuron = (mf_Neuron){.kind = unit(dice) < config->threshold ? MF_NEURON_THRESHOLD
                                                                 : MF_NEURON_SIGMOID,
                          .bias = config->weight_step * signed_unit(dice)};
    return true;
}

static bool is_connected(const mf_Machine *m, uint32_t neuron) {
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        if (m->synapses[s].from == neuron || m->synapses[s].to == neuron)
            return true;
    }
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        if (m->actuators[a].neuron == neuron)
            return true;
    }
    return false;
}

static bool lose_neuron(Dice *dice, mf_Machine *m) {
    uint32_t loose[MF_MACHINE_NEURONS], count = 0;
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        if (!is_connected(m, n))
            loose[count++] = n;
    }
    if (count == 0)
        return false;
    const uint32_t neuron = loose[below(dice, count)];
    m->neuron_count--;
    memmove(&m->neurons[neuron], &m->neurons[neuron + 1],
            (m->neuron_count - neuron) * sizeof *m->neurons);
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        m->synapses[s].from -= m->synapses[s].from > neuron;
        m->synapses[s].to -= m->synapses[s].to > neuron;
    }
    for (uint32_t a = 0; a < m->actuator_count; a++)
        m->actuators[a].neuron -= m->actuators[a].neuron > neuron;
    return true;
}

// ---- all of them -------------------------------------------------------------------------------

static bool change_machine(const mf_MachineConfig *config, mf_MachineOperator what, Dice *dice,
                           mf_Machine *m) {
    switch (what) {
    case MF_MACHINE_LENGTH:
        return change_length(config, dice, m);
    case MF_MACHINE_WEIGHT:
        return change_weight(config, dice, m);
    case MF_MACHINE_BAR:
        return below(dice, 2) > 0 ? gain_bar(config, dice, m) : lose_bar(dice, m);
    case MF_MACHINE_NEURON:
        return below(dice, 2) > 0 ? gain_neuron(config, dice, m) : lose_neuron(dice, m);
    case MF_MACHINE_VERTEX:
        return split_vertex(config, dice, m);
    case MF_MACHINE_MIDDLE:
        return split_bar(dice, m);
    case MF_MACHINE_ATTACH:
        return attach(config, dice, m);
    case MF_MACHINE_DETACH:
        return detach(dice, m);
    case MF_MACHINE_OPERATORS:
        break;
    }
    return false;
}

// Actuators keep their stroke while their bar is long enough for it; new bars are in range, too.
static bool fit(const mf_MachineConfig *config, mf_Machine *m) {
    for (uint32_t b = 0; b < m->bar_count; b++) {
        const double length = mf_machine_length(m, b);
        if (!(length >= config->shortest && length <= config->longest))
            return false;
    }
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        const double length = mf_machine_length(m, m->actuators[a].bar);
        const double stroke = m->actuators[a].upper - m->actuators[a].lower;
        // A thousandth less, so that rounding to float does not exceed it.
        const double most = 0.999 * MF_MACHINE_STROKE_MOST * length;
        mf_machine_set_stroke(m, a, stroke < most ? stroke : most);
    }
    return true;
}

// Whether the machine is one after a pass through its genome, which rounds its numbers to float.
static bool pass_genome(const mf_MachineConfig *config, mf_Machine *machine) {
    uint8_t genome[MF_MACHINE_BYTES];
    return mf_machine_bytes(machine) <= config->genome_bytes &&
           mf_machine_encode(machine, genome, sizeof genome, NULL) == MF_OK &&
           mf_machine_decode(genome, sizeof genome, machine, NULL) == MF_OK;
}

// Not inlined: a machine and two genomes are much for one frame of the stack.
__attribute__((noinline)) static bool apply(const mf_MachineConfig *config, mf_MachineOperator what,
                                            Dice *dice, mf_Machine *machine) {
    uint8_t before[MF_MACHINE_BYTES];
    if (mf_machine_encode(machine, before, sizeof before, NULL) != MF_OK)
        return false;
    if (change_machine(config, what, dice, machine) && fit(config, machine) &&
        pass_genome(config, machine))
        return true;
    (void)mf_machine_decode(before, sizeof before, machine, NULL);
    return false;
}

// ---- children ----------------------------------------------------------------------------------

// One draw of all chances; whether any operator was applied.
static bool roll(const mf_MachineConfig *config, Dice *dice, mf_Machine *machine) {
    const struct {
        double chance;
        mf_MachineOperator one, other;
    } rows[] = {{config->change, MF_MACHINE_LENGTH, MF_MACHINE_WEIGHT},
                {config->add, MF_MACHINE_BAR, MF_MACHINE_NEURON},
                {config->split, MF_MACHINE_VERTEX, MF_MACHINE_MIDDLE},
                {config->attach, MF_MACHINE_ATTACH, MF_MACHINE_DETACH}};
    bool changed = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (unit(dice) >= rows[i].chance)
            continue;
        const mf_MachineOperator what = below(dice, 2) > 0 ? rows[i].one : rows[i].other;
        changed = apply(config, what, dice, machine) || changed;
    }
    return changed;
}

mf_Status mf_machine_vary(void *user, const uint8_t *parent, uint64_t seed, uint64_t id,
                          uint8_t *child, uint32_t genome_bytes) {
    const mf_MachineConfig *config = user;
    mf_Machine machine = {0};
    if (config == NULL || config->genome_bytes != genome_bytes)
        return MF_BAD_ARGUMENT;
    if (parent == NULL && config->ancestor != NULL)
        machine = *config->ancestor;
    else if (parent == NULL || mf_machine_decode(parent, genome_bytes, &machine, NULL) != MF_OK)
        machine = (mf_Machine){0};
    Dice dice = dice_of(seed, id, 0);
    // The chance of no change after so many draws is nothing, unless no operator can be applied: a
    // machine beyond the settings' sizes has itself as its child.
    bool changed = parent == NULL;
    for (uint32_t draws = 0; draws < 1000 && !changed; draws++)
        changed = roll(config, &dice, &machine);
    return mf_machine_encode(&machine, child, genome_bytes, NULL);
}
