// Trusses' files: brains are read and written again, and what is wrong is named with its line.
#include "rig/rig.h"
#include "rig/bodies.h"
#include "model/neurons.h"

GROUP_FIXTURE(make_context, drop_context);

static const char body[] = "truss:\n"
                           "  vertices:\n"
                           "    - position: [0, 0, 0]\n"
                           "    - position: [0.1, 0, 0]\n"
                           "    - position: [0, 0.1, 0]\n"
                           "  bars:\n"
                           "    - ends: [0, 1]\n"
                           "    - ends: [1, 2]\n"
                           "  actuators:\n"
                           "    - bar: 0\n"
                           "      range: [0.1, 0.2]\n"
                           "      neuron: 1\n"
                           "    - bar: 1\n"
                           "      range: [0.1, 0.2]\n";
static const char brain[] = "  neurons:\n"
                            "    - bias: 0.5\n"
                            "      state: 1\n"
                            "    - kind: threshold\n"
                            "  synapses:\n"
                            "    - from: 0\n"
                            "      to: 1\n"
                            "      weight: -2.5\n"
                            "    - from: 1\n"
                            "      to: 1\n"
                            "      weight: 0.1\n";

static mf_Status parse(mf_Context *context, const char *tail, mf_Truss **out, mf_Error *error) {
    const char *text = formatted("%s%s", body, tail);
    return mf_truss_parse(context, "a.yaml", text, strlen(text), out, error);
}

static void check_brain(const mf_Truss *t) {
    assert_int_equal(t->neuron_count, 2);
    assert_int_equal(t->synapse_count, 2);
    assert_int_equal(t->neurons[0].kind, MF_NEURON_SIGMOID);
    assert_true(t->neurons[0].bias == 0.5 && t->neurons[0].state == 1.0);
    assert_int_equal(t->neurons[1].kind, MF_NEURON_THRESHOLD);
    assert_true(t->neurons[1].bias == 0.0 && t->neurons[1].state == 0.0);
    assert_true(t->synapses[0].from == 0 && t->synapses[0].to == 1);
    assert_true(t->synapses[0].weight == -2.5 && t->synapses[1].weight == 0.1);
    assert_int_equal(t->actuators[0].neuron, 1);
    assert_int_equal(t->actuators[1].neuron, MF_NONE);
}

TEST(test_round_trip) {
    mf_Context *context = *state;
    mf_Truss *truss, *again;
    char *text, *twice;
    MUST(parse(context, brain, &truss, &error));
    check_brain(truss);
    MUST(mf_truss_write(context, truss, &text, &error));
    MUST(mf_truss_parse(context, "b.yaml", text, strlen(text), &again, &error));
    check_brain(again);
    MUST(mf_truss_write(context, again, &twice, &error));
    assert_non_null(strstr(text, "neurons:"));
    assert_string_equal(strstr(text, "neurons:"), strstr(twice, "neurons:"));
    mf_release(context, text);
    mf_release(context, twice);
    mf_truss_destroy(truss);
    mf_truss_destroy(again);
}

TEST(test_refused) {
    mf_Context *context = *state;
    const struct {
        const char *tail;
        int line;
        const char *message;
    } cases[] = {
        {"", 12, "no neuron 1, the truss has 0"},
        {"  neurons:\n    - bias: 0\n", 12, "no neuron 1, the truss has 1"},
        {"  neurons:\n    - kind: linear\n", 16, "sigmoid"},
        {"  neurons:\n    - state: 2\n    - bias: 0\n", 16, "0 to 1"},
        {"  neurons:\n    - bias: .nan\n    - bias: 0\n", 16, "bias"},
        {"  neurons:\n    - bias: 0\n    - bias: 0\n  synapses:\n    - from: 0\n      to: 2\n"
         "      weight: 1\n",
         20, "no neuron 2, the network has 2"},
        {"  neurons:\n    - bias: 0\n    - bias: 0\n  synapses:\n"
         "    - {from: 0, to: 1, weight: 1}\n    - {from: 0, to: 1, weight: 2}\n",
         20, "synapses[0] goes from 0 to 1 already"},
        {"  neurons:\n    - bias: 0\n    - bias: 0\n  synapses:\n    - {from: 0, to: 1}\n", 19,
         "weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Truss *truss = NULL;
        mf_Error error = {0};
        if (parse(context, cases[i].tail, &truss, &error) == MF_OK)
            fail_msg("case %zu was read", i);
        if (strstr(error.message, cases[i].message) == NULL || error.line != cases[i].line)
            fail_msg("case %zu: line %d: %s", i, error.line, error.message);
    }
}

// Networks that no file can hold.
TEST(test_check) {
    const mf_Neuron neurons[2] = {{(mf_NeuronKind)7, 0, 0}, {MF_NEURON_SIGMOID, 0, 0}};
    const mf_Synapse synapses[1] = {{0, 0, 1}};
    MUST(mf_neurons_check(NULL, 0, NULL, 0, &error));
    MUST_FAIL(mf_neurons_check(NULL, 1, NULL, 0, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_neurons_check(neurons, 1, NULL, 0, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_neurons_check(neurons + 1, 1, synapses, 1, &error));
    MUST_FAIL(mf_neurons_check(neurons, 0, synapses, 1, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_neurons_check(neurons, MF_NEURONS_MOST + 1, NULL, 0, &error), MF_LIMIT, "");
    MUST_FAIL(mf_neurons_check(neurons + 1, 1, synapses, MF_SYNAPSES_MOST + 1, &error), MF_LIMIT,
              "");
}
