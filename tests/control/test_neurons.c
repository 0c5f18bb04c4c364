// Recurrent networks in cycles: closed forms, limits of outputs, the same bits alone and in a batch
// of other networks, faults, snapshots, and a truss that its neurons drive.
#include "body/truss/row.h"
#include "control/robot.h"

enum { ROBOTS = 19, MOST = 12, FRAMES = 4 };

typedef struct Net { // storage of a brain
    mf_Neuron neurons[MOST];
    mf_Synapse synapses[4 * MOST];
    uint32_t attached[ROBOT_JOINTS];
    mf_Brain brain;
} Net;

static void net_begin(Net *net) {
    memset(net, 0, sizeof *net);
    net->brain = (mf_Brain){.neurons = net->neurons,
                            .synapses = net->synapses,
                            .attached = net->attached,
                            .attached_count = ROBOT_JOINTS};
    for (uint32_t k = 0; k < ROBOT_JOINTS; k++)
        net->attached[k] = MF_NONE;
}

static void neuron(Net *net, mf_NeuronKind kind, double bias, double state) {
    net->neurons[net->brain.neuron_count++] = (mf_Neuron){kind, bias, state};
}

static void synapse(Net *net, uint32_t from, uint32_t to, double weight) {
    net->synapses[net->brain.synapse_count++] = (mf_Synapse){from, to, weight};
}

// Three inverters in a ring.
static void ring(Net *net) {
    net_begin(net);
    for (uint32_t n = 0; n < 3; n++) {
        neuron(net, MF_NEURON_THRESHOLD, 0.5, n == 0);
        synapse(net, n, (n + 1) % 3, -1.0);
    }
    net->attached[0] = 0;
}

// A network of its own for each seed.
static void any(Net *net, uint32_t seed) {
    uint32_t words[4];
    net_begin(net);
    mf_random(3, seed, 0, 0, words);
    const uint32_t count = 2 + words[0] % (MOST - 2);
    for (uint32_t n = 0; n < count; n++) {
        mf_random(3, seed, 1, n, words);
        neuron(net, words[0] % 3 == 0 ? MF_NEURON_THRESHOLD : MF_NEURON_SIGMOID,
               (double)(words[1] % 512) / 256.0 - 1.0, (double)(words[2] % 256) / 256.0);
        synapse(net, n, (n + 1 + words[3] % (count - 1)) % count,
                (double)(words[3] % 1024) / 128.0 - 4.0);
        synapse(net, n, n, (double)(words[2] % 1024) / 128.0 - 4.0);
    }
    net->attached[seed % 2] = 0;
    net->attached[3] = count - 1;
}

static mf_NeuronsConfig settings(const mf_Brain *brain) {
    mf_NeuronsConfig config = WITH(mf_neurons_config(), .cycle = FRAMES * mf_world_config().step,
                                   .most_neurons = MOST, .most_synapses = 4 * MOST);
    if (brain != NULL)
        config.brain = *brain;
    return config;
}

static Fixture open_with(mf_Isa isa, bool precise, uint32_t count, const mf_NeuronsConfig *config) {
    Fixture fixture = fixture_open(isa, precise, count);
    MUST(mf_neurons_add(fixture.group, config, &error));
    return fixture;
}

// Every instance with the network of its number.
static Fixture open_any(mf_Isa isa, bool precise, uint32_t count, uint32_t first) {
    const mf_NeuronsConfig config = settings(NULL);
    Fixture fixture = open_with(isa, precise, count, &config);
    for (uint32_t i = 0; i < count; i++) {
        Net net;
        any(&net, first + i);
        MUST(mf_neurons_set(fixture.group, i, &net.brain, &error));
    }
    return fixture;
}

// The ring goes through 6 of its 8 states: 100 101 001 011 010 110.
TEST(a_ring_oscillates) {
    static const char expected[7][4] = {"100", "101", "001", "011", "010", "110", "100"};
    Net net;
    ring(&net);
    const mf_NeuronsConfig config = settings(&net.brain);
    AUTO_FIXTURE fixture = open_with(MF_ISA_AUTO, false, ROBOTS, &config);
    for (uint32_t cycle = 0; cycle < 13; cycle++) {
        for (uint32_t n = 0; n < 3; n++)
            assert_near(fixture_get(&fixture, "neuron.state", 7, n),
                        expected[cycle % 6][n] == '1' ? 1.0 : 0.0, 0.0);
        mf_world_step(fixture.world, FRAMES);
    }
}

// States of sigmoid and threshold units by the C library.
TEST(states_follow_the_sums) {
    for (int precise = 0; precise < 2; precise++) {
        AUTO_FIXTURE fixture = open_any(MF_ISA_AUTO, precise, ROBOTS, 0);
        mf_world_step(fixture.world, 1);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            Net net;
            any(&net, i);
            for (uint32_t n = 0; n < net.brain.neuron_count; n++) {
                double sum = net.neurons[n].bias;
                for (uint32_t s = 0; s < net.brain.synapse_count; s++)
                    if (net.synapses[s].to == n)
                        sum += net.synapses[s].weight * net.neurons[net.synapses[s].from].state;
                const bool step = net.neurons[n].kind == MF_NEURON_THRESHOLD;
                assert_near(fixture_get(&fixture, "neuron.state", i, n),
                            step ? (sum > 0.0) : 1.0 / (1.0 + exp(-sum)), precise ? 2e-15 : 1e-6);
            }
        }
    }
}

// The target goes to the limits of its joint, in equal parts, by at most `change` in a cycle.
TEST(outputs_move_in_parts) {
    for (int limited = 0; limited < 2; limited++) {
        Net net;
        net_begin(&net);
        neuron(&net, MF_NEURON_THRESHOLD, 1.0, 0.0);
        neuron(&net, MF_NEURON_THRESHOLD, -1.0, 1.0);
        net.attached[0] = 0;
        net.attached[1] = 1;
        AUTO_FIXTURE fixture = open_with(
            MF_ISA_AUTO, true, 2, &WITH(settings(&net.brain), .change = limited ? 0.125 : 0.0));
        const double expected[2] = {0.5, -1.0}; // upper end of joint 0, lower end of joint 1
        double begin[3];
        get_fields(fixture.group, "joint.target", 1, 3, begin);
        for (uint32_t step = 1; step <= FRAMES; step++) {
            mf_world_step(fixture.world, 1);
            for (uint32_t k = 0; k < 2; k++) {
                double by = expected[k] - begin[k];
                if (limited)
                    by = by > 0.125 ? 0.125 : by < -0.125 ? -0.125 : by;
                assert_near(fixture_get(&fixture, "joint.target", 1, k),
                            begin[k] + by * step / FRAMES, 1e-15);
            }
            assert_near(fixture_get(&fixture, "joint.target", 1, 2), begin[2], 0.0);
        }
        mf_world_step(fixture.world, 40 * FRAMES);
        for (uint32_t k = 0; k < 2; k++)
            assert_near(fixture_get(&fixture, "joint.target", 1, k), expected[k], 1e-15);
    }
}

TEST(fields_are_inputs) {
    static const char *const inputs[] = {"base.position", "joint.angle", NULL};
    Net net;
    net_begin(&net);
    neuron(&net, MF_NEURON_SIGMOID, 0.25, 0.0);
    synapse(&net, MF_NEURON_INPUT(3 + 5), 0, 2.0);
    AUTO_FIXTURE fixture =
        open_with(MF_ISA_AUTO, true, ROBOTS, &WITH(settings(&net.brain), .inputs = inputs));
    for (uint32_t i = 0; i < ROBOTS; i++)
        fixture_set(&fixture, "joint.angle", i, 5, 0.01 * i);
    mf_world_step(fixture.world, 1);
    for (uint32_t i = 0; i < ROBOTS; i++)
        assert_near(fixture_get(&fixture, "neuron.state", i, 0),
                    1.0 / (1.0 + exp(-0.25 - 0.02 * i)), 1e-15);
    net.synapses[0].from = MF_NEURON_INPUT(3 + ROBOT_JOINTS);
    assert_int_equal(mf_neurons_set(fixture.group, 0, &net.brain, NULL), MF_BAD_ARGUMENT);
}

TEST(same_bits_everywhere) {
    for (int precise = 0; precise < 2; precise++) {
        uint64_t first = 0;
        FOR_EACH_ISA (isa) {
            AUTO_FIXTURE fixture = open_any(isa, precise, ROBOTS, 0);
            mf_world_step(fixture.world, 5 * FRAMES + 1);
            const uint64_t hash = mf_world_hash(fixture.world);
            first = first == 0 ? hash : first;
            assert_int_equal(hash, first);
        }
    }
}

// Among others, alone, and among copies of itself, whose lanes share their loads.
TEST(same_bits_beside_any_lanes) {
    Net net;
    any(&net, 11);
    const mf_NeuronsConfig config = settings(&net.brain);
    AUTO_FIXTURE mixed = open_any(MF_ISA_AUTO, true, ROBOTS, 0);
    AUTO_FIXTURE alone = open_any(MF_ISA_AUTO, true, 1, 11);
    AUTO_FIXTURE copies = open_with(MF_ISA_AUTO, true, ROBOTS, &config);
    mf_world_step(mixed.world, 6 * FRAMES + 2);
    mf_world_step(alone.world, 6 * FRAMES + 2);
    mf_world_step(copies.world, 6 * FRAMES + 2);
    for (uint32_t n = 0; n < net.brain.neuron_count; n++) {
        const double value = fixture_get(&mixed, "neuron.state", 11, n);
        assert_near(fixture_get(&alone, "neuron.state", 0, n), value, 0.0);
        assert_near(fixture_get(&copies, "neuron.state", 11, n), value, 0.0);
    }
    for (uint32_t k = 0; k < ROBOT_JOINTS; k++) {
        const double value = fixture_get(&mixed, "joint.target", 11, k);
        assert_near(fixture_get(&alone, "joint.target", 0, k), value, 0.0);
        assert_near(fixture_get(&copies, "joint.target", 11, k), value, 0.0);
    }
}

TEST(bad_numbers_harm_one_robot) {
    AUTO_FIXTURE good = open_any(MF_ISA_AUTO, false, ROBOTS, 0),
                 bad = open_any(MF_ISA_AUTO, false, ROBOTS, 0);
    fixture_set(&bad, "synapse.weight", 4, 1, NAN);
    fixture_set(&bad, "neuron.bias", 6, 0, INFINITY);
    fixture_set(&bad, "synapse.from", 8, 0, 4e9);
    fixture_set(&bad, "synapse.to", 9, 0, 2e9);
    fixture_set(&bad, "neuron.attached", 10, 3, 5e6);
    fixture_set(&bad, "neuron.counts", 10, 1, 4e9);
    fixture_set(&bad, "neuron.counts", 12, 0, 3e9);
    mf_world_step(good.world, 3 * FRAMES);
    mf_world_step(bad.world, 3 * FRAMES);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        const bool touched = i == 4 || i == 6 || (i >= 8 && i <= 10) || i == 12;
        const double word = fixture_get(&bad, "fault.word", i, 0);
        if (!touched)
            assert_int_equal(mf_group_instance_hash(good.group, i),
                             mf_group_instance_hash(bad.group, i));
        assert_true(i == 4 || i == 6 ? word == MF_FAULT_CONTROL : word == 0.0);
    }
}

TEST(snapshots_continue) {
    AUTO_FIXTURE fixture = open_any(MF_ISA_AUTO, false, ROBOTS, 0);
    mf_world_step(fixture.world, 2 * FRAMES + 1);
    assert_continues(fixture.world, 3 * FRAMES);
    mf_group_reset_all(fixture.group);
    Net net;
    any(&net, 5);
    for (uint32_t n = 0; n < net.brain.neuron_count; n++)
        assert_near(fixture_get(&fixture, "neuron.state", 5, n), net.neurons[n].state, 0.0);
}

TEST(wrong_settings_are_named) {
    static const char *const unknown[] = {"base.nothing", NULL};
    Net net, far, larger;
    ring(&net);
    ring(&far);
    far.attached[2] = 3;
    any(&larger, 3);
    const mf_NeuronsConfig right = settings(&net.brain);
    const struct {
        mf_NeuronsConfig config;
        mf_Status status;
        const char *part;
    } wrong[] = {
        {WITH(right, .cycle = -1), MF_BAD_ARGUMENT, "neurons.cycle"},
        {WITH(right, .change = NAN), MF_BAD_ARGUMENT, "neurons.change"},
        {WITH(right, .inputs = unknown), MF_NOT_FOUND, "base.nothing"},
        {WITH(right, .output = "fault.word"), MF_BAD_ARGUMENT, "fault.word"},
        {WITH(right, .struct_size = 0), MF_BAD_ARGUMENT, "mf_neurons_config"},
        {settings(&far.brain), MF_BAD_ARGUMENT, "attached[2]"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 2);
        MUST_FAIL(mf_neurons_add(fixture.group, &wrong[i].config, &error), wrong[i].status,
                  wrong[i].part);
    }
    AUTO_FIXTURE fixture =
        open_with(MF_ISA_AUTO, false, 2, &WITH(right, .most_neurons = 0, .most_synapses = 0));
    assert_int_equal(mf_neurons_set(fixture.group, 0, &larger.brain, NULL), MF_LIMIT);
    assert_int_equal(mf_neurons_set(fixture.group, 2, &larger.brain, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_neurons_set(fixture.group, 0, NULL, NULL), MF_BAD_ARGUMENT);
}

// Two bars on level ground in a line, the first an actuator of 0.1 .. 0.14 m that a ring drives.
TEST(neurons_drive_a_truss) {
    Net net;
    ring(&net);
    const mf_TrussVertex vertices[3] = {{.position = {0, 0, 0}, .fixed = {true, true, true}},
                                        {.position = {0.12, 0, 0}, .fixed = {false, true, true}},
                                        {.position = {0.22, 0, 0}, .fixed = {false, true, true}}};
    const mf_TrussBar bars[2] = {{{0, 1}, 0.01, 0}, {{1, 2}, 0.01, 0}};
    const mf_TrussActuator actuators[1] = {{0, 0.1, 0.14, 0}};
    const mf_Truss truss = {.name = "piston",
                            .material = mf_truss_material(),
                            .vertices = vertices,
                            .bars = bars,
                            .actuators = actuators,
                            .neurons = net.neurons,
                            .synapses = net.synapses,
                            .vertex_count = 3,
                            .bar_count = 2,
                            .actuator_count = 1,
                            .neuron_count = 3,
                            .synapse_count = 3,
                            .cycle = 0.2}; // ten steps
    const mf_NeuronsConfig neurons = mf_neurons_config();
    AUTO_CONTEXT *context = open_context(0);
    AUTO_MODEL *model;
    MUST(mf_truss_model(context, &truss, &model, &error));
    AUTO_WORLD *world =
        open_world(context, &WITH(mf_world_config(), .step = mf_time_from_seconds(0.02)));
    mf_Group *group = add_group(
        world, &WITH(mf_group_config(), .model = model, .count = 3, .double_precision = true));
    MUST(rig_add_quasistatic(
        group, &WITH(mf_motions_config().quasistatic, .truss = &truss, .contacts = false), &error));
    MUST(mf_neurons_add_truss(group, &truss, &neurons, &error));
    // 1 cm a cycle to the end of the range that the ring's first neuron names, from the state after
    // the first cycle on: 1 0 0 0 1 1.
    static const double lengths[] = {0.13, 0.12, 0.11, 0.10, 0.11, 0.12, 0.13};
    for (uint32_t cycle = 0; cycle < 7; cycle++) {
        mf_world_step(world, 10);
        assert_near(get_field(group, "vertex.position", 2, 3), lengths[cycle], 1e-9);
    }
}
