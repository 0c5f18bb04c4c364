// Machines: genomes that read back to the same bytes, operators that keep to their chances and to
// what a machine is, trusses as ancestors.
#include "support.h"
#include "motion/truss/machine.h"

enum { BYTES = MF_MACHINE_BYTES };

static mf_MachineConfig busy(void) { // grows fast
    mf_MachineConfig config =
        WITH(mf_machine_config(), .change = 0.3, .add = 0.3, .split = 0.1, .attach = 0.1);
    return config;
}

// A line of descent from the empty machine.
static void grow(mf_MachineConfig *config, uint64_t seed, uint32_t generations, uint8_t *genome) {
    uint8_t child[BYTES];
    assert_int_equal(mf_machine_vary(config, NULL, seed, 0, genome, BYTES), MF_OK);
    for (uint32_t g = 1; g <= generations; g++) {
        assert_int_equal(mf_machine_vary(config, genome, seed, g, child, BYTES), MF_OK);
        memcpy(genome, child, BYTES);
    }
}

static void check_valid(const uint8_t *genome, const mf_MachineConfig *config) {
    static mf_Machine machine;
    uint8_t again[BYTES];
    mf_Error error = {0};
    must(mf_machine_decode(genome, BYTES, &machine, &error), &error);
    assert_int_equal(mf_machine_encode(&machine, again, BYTES, &error), MF_OK);
    assert_memory_equal(again, genome, BYTES);
    if (machine.bar_count == 0)
        return;
    const mf_Truss truss = mf_machine_truss(&machine);
    must(mf_truss_check(&truss, &error), &error);
    for (uint32_t b = 0; b < machine.bar_count; b++) {
        double square = 0.0;
        for (int c = 0; c < 3; c++) {
            const double d = machine.vertices[machine.bars[b].ends[0]].position[c] -
                             machine.vertices[machine.bars[b].ends[1]].position[c];
            square += d * d;
        }
        assert_true(sqrt(square) >= 0.999 * config->shortest);
        assert_true(sqrt(square) <= 1.001 * config->longest);
    }
}

TEST(mutations_leave_machines) {
    mf_MachineConfig config = busy();
    uint8_t genome[BYTES], child[BYTES];
    static mf_Machine machine;
    uint32_t bars = 0, actuators = 0, neurons = 0, same = 0;
    assert_int_equal(mf_machine_vary(&config, NULL, 7, 0, genome, BYTES), MF_OK);
    for (uint64_t g = 1; g <= (SANITIZED ? 2500 : 10000); g++) {
        assert_int_equal(mf_machine_vary(&config, genome, 7, g, child, BYTES), MF_OK);
        same += memcmp(child, genome, BYTES) == 0; // one operator undid another
        check_valid(child, &config);
        MUST(mf_machine_decode(child, BYTES, &machine, &error));
        bars = machine.bar_count > bars ? machine.bar_count : bars;
        actuators = machine.actuator_count > actuators ? machine.actuator_count : actuators;
        neurons = machine.neuron_count > neurons ? machine.neuron_count : neurons;
        memcpy(genome, child, BYTES);
    }
    print_message("at most %u bars, %u actuators, %u neurons; %u children as their parent\n", bars,
                  actuators, neurons, same);
    assert_true(same < 100);
    assert_true(bars > 20 && actuators > 3 && neurons > 3);
}

// Children of one machine: how many have another number of bars, neurons and actuators. An operator
// is drawn by its chance and has two kinds, one of which removes or adds.
TEST(operators_keep_their_chances) {
    enum { CHILDREN = SANITIZED ? 4000 : 20000 };
    mf_MachineConfig config = mf_machine_config(), early = busy();
    static mf_Machine parent, child;
    uint8_t genome[BYTES], other[BYTES];
    uint32_t split = 0, changed = 0, attached = 0;
    grow(&early, 3, 300, genome);
    MUST(mf_machine_decode(genome, BYTES, &parent, &error));
    assert_true(parent.bar_count > 3 && parent.actuator_count > 0 && parent.neuron_count > 0);
    for (uint64_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(mf_machine_vary(&config, genome, 11, i, other, BYTES), MF_OK);
        MUST(mf_machine_decode(other, BYTES, &child, &error));
        split += child.vertex_count != parent.vertex_count;
        attached += child.actuator_count != parent.actuator_count;
        changed += child.vertex_count == parent.vertex_count &&
                   child.actuator_count == parent.actuator_count &&
                   child.neuron_count == parent.neuron_count;
    }
    // A child is one in which something was applied: of about 0.16 chances of any, 0.1 are changes
    // of a length or weight, 0.03 splits and half of 0.01 a bar, 0.03 actuators that come or go.
    print_message(
        "of %d: %u split or with another bar, %u with another actuator, %u only changed\n",
        CHILDREN, split, attached, changed);
    assert_true(changed > 0.45 * CHILDREN && changed < 0.75 * CHILDREN);
    assert_true(split > 0.08 * CHILDREN && split < 0.30 * CHILDREN);
    assert_true(attached > 0.05 * CHILDREN && attached < 0.30 * CHILDREN);
}

TEST(bad_genomes_are_refused) {
    mf_MachineConfig config = busy();
    uint8_t genome[BYTES];
    static mf_Machine machine;
    uint32_t refused = 0;
    grow(&config, 5, 80, genome);
    for (uint32_t i = 0; i < 400; i++) {
        uint8_t broken[BYTES];
        mf_Error error = {0};
        memcpy(broken, genome, BYTES);
        broken[i] ^= (uint8_t)(1u << i % 8);
        if (mf_machine_decode(broken, BYTES, &machine, &error) == MF_OK)
            continue;
        assert_true(error.message[0] != '\0');
        refused++;
    }
    assert_true(refused > 10);
    assert_int_not_equal(mf_machine_decode(genome, 3, &machine, NULL), MF_OK);
    config.add = 0.0;
    assert_int_equal(mf_machine_check_config(&config, NULL), MF_BAD_ARGUMENT);
}

// ---- trusses ------------------------------------------------------------------------------------

static const mf_TrussVertex corners[3] = {
    {.position = {0, 0, 0}}, {.position = {0.1, 0, 0}}, {.position = {0.05, 0.09, 0}}};
static const mf_TrussBar sides[3] = {{{0, 1}, 0.01, 0}, {{1, 2}, 0.01, 0}, {{2, 0}, 0.01, 0}};
static const mf_TrussActuator motors[1] = {{0, 0.09, 0.11, 0}};
static const mf_Neuron units[1] = {{MF_NEURON_SIGMOID, 0.25, 0.5}};
static const mf_Synapse links[1] = {{0, 0, -2}};

static mf_Truss triangle(void) {
    return (mf_Truss){.material = mf_truss_material(),
                      .vertices = corners,
                      .bars = sides,
                      .actuators = motors,
                      .neurons = units,
                      .synapses = links,
                      .vertex_count = 3,
                      .bar_count = 3,
                      .actuator_count = 1,
                      .neuron_count = 1,
                      .synapse_count = 1};
}

TEST(trusses_become_machines) {
    static mf_Machine machine, child;
    uint8_t genome[BYTES];
    const mf_Truss truss = triangle();
    MUST(mf_machine_of_truss(&truss, &machine, &error));
    assert_int_equal(machine.bar_count, 3);
    assert_near(machine.actuators[0].upper, 0.11, 1e-7);
    assert_true(machine.synapses[0].weight == -2.0);
    mf_MachineConfig config = WITH(mf_machine_config(), .ancestor = &machine);
    assert_int_equal(mf_machine_vary(&config, NULL, 1, 0, genome, BYTES), MF_OK);
    MUST(mf_machine_decode(genome, BYTES, &child, &error));
    assert_int_equal(child.vertex_count, 3);
    assert_int_equal(child.neuron_count, 1);
}

static void refuse_truss(const mf_Truss *truss, const char *part) {
    static mf_Machine machine;
    MUST_FAIL(mf_machine_of_truss(truss, &machine, &error), MF_UNSUPPORTED, part);
    assert_int_equal(machine.bar_count, 0);
}

TEST(foreign_trusses_are_refused) {
    mf_Truss truss = triangle();
    mf_TrussVertex vertices[3];
    mf_TrussActuator actuator = motors[0];
    memcpy(vertices, corners, sizeof vertices);
    vertices[1].fixed[2] = true;
    truss.vertices = vertices;
    refuse_truss(&truss, "fixed");
    refuse_truss(&WITH(triangle(), .material.density = 900), "material");
    truss = WITH(triangle(), .actuators = &actuator);
    actuator.neuron = MF_NONE;
    refuse_truss(&truss, "neuron");
    actuator = motors[0];
    actuator.upper = 0.13;
    refuse_truss(&truss, "actuators[0].range");
    assert_int_equal(mf_machine_of_truss(NULL, NULL, NULL), MF_BAD_ARGUMENT);
}

// ---- standing ----------------------------------------------------------------------------------

static double center_height(const mf_Machine *machine) {
    const mf_Truss truss = mf_machine_truss(machine);
    double lowest = machine->vertices[0].position[2];
    for (uint32_t v = 0; v < machine->vertex_count; v++) {
        const double z = machine->vertices[v].position[2];
        lowest = z < lowest ? z : lowest;
    }
    return mf_truss_mass(&truss).center[2] - lowest;
}

static double length_of(const mf_Machine *machine, uint32_t bar) {
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
        const double d = machine->vertices[machine->bars[bar].ends[0]].position[c] -
                         machine->vertices[machine->bars[bar].ends[1]].position[c];
        square += d * d;
    }
    return sqrt(square);
}

// A bar leans over a point; a box of vertices stands on an edge, over which it tips by 45 degrees
// onto a face: its center comes from 0.0707 to 0.05 m.
TEST(machines_tip_over_to_where_they_stand) {
    static mf_Machine bar = {.vertex_count = 2, .bar_count = 1};
    static mf_Machine box = {.vertex_count = 8, .bar_count = 4};
    bar.vertices[1].position[0] = 0.03;
    bar.vertices[1].position[2] = 0.04;
    bar.bars[0] = (mf_TrussBar){{0, 1}, 0.01, 0};
    mf_machine_stand(&bar);
    assert_near(bar.vertices[1].position[0], 0.05, 1e-8);
    assert_true(fabs(bar.vertices[1].position[2]) < 1e-8);
    for (uint32_t v = 0; v < 8; v++) {
        const double x = v & 1 ? 0.05 : -0.05, z = v & 2 ? 0.05 : -0.05, y = v & 4 ? 0.1 : 0.0;
        const double position[3] = {(x - z) * sqrt(0.5), y, (x + z) * sqrt(0.5)};
        memcpy(box.vertices[v].position, position, sizeof position);
    }
    box.vertices[1].position[0] += 1e-4; // else its center is above the edge
    for (uint32_t b = 0; b < 4; b++)
        box.bars[b] = (mf_TrussBar){{b, b + 4}, 0.01, 0};
    mf_machine_stand(&box);
    assert_near(center_height(&box), 0.05, 1e-4);
}

// Lengths stay, the center of mass comes down, and what stands is left alone.
TEST(standing_is_a_turn_that_ends) {
    mf_MachineConfig config = busy();
    uint8_t genome[BYTES];
    static mf_Machine before, after, again;
    uint32_t turned = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        grow(&config, seed, 30, genome);
        MUST(mf_machine_decode(genome, BYTES, &before, &error));
        if (before.bar_count == 0)
            continue;
        after = before;
        mf_machine_stand(&after);
        again = after;
        mf_machine_stand(&again);
        assert_memory_equal(&again, &after, sizeof again);
        turned += memcmp(&after, &before, sizeof after) != 0;
        assert_true(center_height(&after) <= center_height(&before) + 1e-7);
        for (uint32_t b = 0; b < before.bar_count; b++)
            assert_near(length_of(&after, b), length_of(&before, b), 1e-6);
        MUST(mf_machine_encode(&after, genome, BYTES, &error));
        MUST(mf_machine_decode(genome, BYTES, &again, &error));
        assert_memory_equal(&again, &after, sizeof again);
    }
    assert_true(turned >= 12);
}
