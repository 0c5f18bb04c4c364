// Scenes whose genomes are machines: trials depend on the machine alone, whatever its company, its
// lane and the threads; a trial again gives the same bits; what machines cannot be asked is
// refused.
#include "rig/rig.h"
#include "view/report_data.h"
#include "support.h"

#include "scene/machines.h"

GROUP_FIXTURE(setup_context, teardown_context);

enum { MANY = 40, BYTES = MF_MACHINE_BYTES };

#define HEAD "world: {step: 0.25}\nground: {shape: flat}\nrun: {duration: 4}\n"
#define GROUP                                                                                      \
    "groups:\n  - name: machines\n    motion: {quasistatic: {tolerance: 1e-4, iterations: 100, "   \
    "noise: 1e-5, actuator_speed: 0.04}}\n"                                                        \
    "    controller: {machine: {cycle: 1, change: 0.04, rest: 1}}\n"
#define SEARCH                                                                                     \
    "search: {population: 40, survivors: 20, selection: proportionate, replacement: random}\n"

static uint8_t genomes[MANY][BYTES];

// Lines of descent from nothing that grow fast.
static void grow_all(void) {
    uint8_t child[BYTES];
    mf_MachineConfig config =
        WITH(mf_machine_config(), .change = 0.3, .add = 0.3, .split = 0.1, .attach = 0.1);
    for (uint64_t i = 0; i < MANY; i++) {
        assert_int_equal(mf_machine_vary(&config, NULL, 100 + i, 0, genomes[i], BYTES), MF_OK);
        for (uint64_t g = 1; g < 30 + i; g++) {
            assert_int_equal(mf_machine_vary(&config, genomes[i], 100 + i, g, child, BYTES), MF_OK);
            memcpy(genomes[i], child, BYTES);
        }
    }
}

static void evaluate(void *context, const char *text, const uint8_t *some, uint32_t count,
                     double *fitness, double *values) {
    AUTO_WHOLE_SCENE scene = make_evaluation(context, parse_scene(context, text), count);
    mf_Error error = {0};
    for (int again = 0; again < 2; again++) // the second time from memory
        if (mf_scene_evaluate(&scene, some, count, BYTES, fitness, &error) != MF_OK ||
            (values != NULL &&
             mf_scene_describe(&scene, some, count, BYTES, values, &error) != MF_OK))
            fail_msg("%s", error.message);
}

TEST(a_result_depends_on_the_machine_alone) {
    static uint8_t turned[MANY][BYTES];
    double all[MANY], other[MANY], one;
    uint32_t moved = 0;
    grow_all();
    evaluate(*state, HEAD GROUP SEARCH, genomes[0], MANY, all, NULL);
    for (uint32_t i = 0; i < MANY; i++) {
        moved += all[i] > 1e-3;
        memcpy(turned[MANY - 1 - i], genomes[i], BYTES);
    }
    print_message("%u of %d machines moved\n", moved, MANY);
    assert_true(moved >= 5);
    evaluate(*state, HEAD GROUP SEARCH, turned[0], MANY, other, NULL);
    for (uint32_t i = 0; i < MANY; i++)
        assert_memory_equal(&all[i], &other[MANY - 1 - i], sizeof *all);
    for (uint32_t i = 0; i < MANY; i += 7) {
        evaluate(*state, HEAD GROUP SEARCH, genomes[i], 1, &one, NULL);
        assert_memory_equal(&all[i], &one, sizeof one);
    }
}

TEST(threads_change_no_bit) {
    double one[MANY], three[MANY];
    grow_all();
    evaluate(*state, HEAD GROUP SEARCH, genomes[0], MANY, one, NULL);
    AUTO_CONTEXT *context = open_context(3);
    evaluate(context, HEAD GROUP SEARCH, genomes[0], MANY, three, NULL);
    assert_memory_equal(one, three, sizeof one);
}

// As reports and `replay` do it: one robot in a scene of its own.
TEST(a_trial_again_has_the_same_bits) {
    double all[MANY];
    mf_Trial trial;
    grow_all();
    evaluate(*state, HEAD GROUP SEARCH, genomes[0], MANY, all, NULL);
    AUTO_SCENE_FILE *file = parse_scene(*state, HEAD GROUP SEARCH);
    for (uint32_t i = 0; i < MANY; i += 3) {
        MUST(mf_trial_run(*state, file, NULL, genomes[i], BYTES, 0.25, &trial, &error));
        assert_memory_equal(&trial.fitness, &all[i], sizeof all[i]);
        mf_trial_free(&trial);
    }
}

// One actuator from the origin to (x, 0, z).
static void one_bar(double x, double z, uint8_t genome[BYTES]) {
    static mf_Machine machine;
    machine = (mf_Machine){.vertex_count = 2,
                           .bar_count = 1,
                           .actuator_count = 1,
                           .neuron_count = 1,
                           .synapse_count = 1};
    machine.vertices[1].position[0] = x;
    machine.vertices[1].position[2] = z;
    machine.bars[0] = (mf_TrussBar){{0, 1}, 0.01, 0};
    machine.actuators[0] = (mf_TrussActuator){0, 0.08, 0.12, 0};
    machine.neurons[0] = (mf_Neuron){MF_NEURON_THRESHOLD, 0.5, 0};
    machine.synapses[0] = (mf_Synapse){0, 0, -1};
    MUST(mf_machine_encode(&machine, genome, BYTES, &error));
}

// A bar that becomes longer and shorter pushes both of its ends alike: it does not crawl.
TEST(one_bar_does_not_crawl) {
    uint8_t genome[BYTES];
    double fitness;
    one_bar(0.1, 0.0, genome);
    evaluate(*state, HEAD GROUP SEARCH, genome, 1, &fitness, NULL);
    print_message("one bar: %g m\n", fitness);
    assert_true(fitness < 2e-3);
}

// A flat triangle that is an actuator and two bars, and a bar of 0.08 m that a hinge at one of its
// vertices does not hold: `x`, `y`, `z` is its other end.
static void triangle(double x, double y, double z, uint8_t genome[BYTES]) {
    mf_Machine machine;
    uint64_t hash;
    one_bar(0.1, 0.0, genome);
    assert_true(mf_machine_read(genome, BYTES, &machine, &hash));
    machine.vertex_count = 4;
    machine.vertices[2].position[1] = 0.1;
    machine.vertices[3] = (mf_TrussVertex){.position = {x, y, z}};
    machine.bar_count = 4;
    machine.bars[1] = (mf_TrussBar){{1, 2}, 0.01, 0};
    machine.bars[2] = (mf_TrussBar){{0, 2}, 0.01, 0};
    machine.bars[3] = (mf_TrussBar){{0, 3}, 0.01, 0};
    MUST(mf_machine_encode(&machine, genome, BYTES, &error));
}

// What falls over while it comes to rest has warnings of that time, which end no trial.
TEST(falls_before_the_trial_are_distinguished) {
    uint8_t bars[2][BYTES];
    double fitness[2];
    triangle(-0.06, -0.0525, 0.0, bars[0]);
    triangle(0.03, 0.02, 0.0714, bars[1]);
    AUTO_SCENE_FILE *file = parse_scene(*state, HEAD GROUP SEARCH);
    for (int i = 0; i < 2; i++) {
        AUTO_SCENE scene = make_evaluation(*state, file, 1);
        MUST(mf_scene_evaluate(&scene, bars[i], 1, BYTES, &fitness[i], &error));
        const mf_MachineResult result = mf_machine_result(&scene, 0);
        assert_true(result.share == 1.0);
        assert_true(i == 0 ? result.resting == 0 : result.resting > 0);
    }
}

// A network that has settled moves nothing any more: the trial ends, with the bits of the shorter
// one that is simulated to its end. One that blinks goes on.
TEST(what_stands_still_ends_its_trial) {
    static const char *const durations[] = {"{duration: 2}", "{duration: 9}"};
    uint8_t blinks[BYTES], settles[BYTES];
    mf_Machine machine;
    double fitness[2], distance[2];
    one_bar(0.1, 0.0, blinks);
    MUST(mf_machine_decode(blinks, BYTES, &machine, &error));
    machine.synapse_count = 0;
    MUST(mf_machine_encode(&machine, settles, BYTES, &error));
    for (int i = 0; i < 2; i++) {
        AUTO_WHOLE_SCENE scene = make_evaluation(
            *state,
            parse_scene(*state, formatted("world: {step: 0.25}\nground: {shape: flat}\nrun: %s\n%s",
                                          durations[i], GROUP SEARCH)),
            1);
        MUST(mf_scene_evaluate(&scene, settles, 1, BYTES, &fitness[i], &error));
        const mf_MachineResult stands = mf_machine_result(&scene, 0);
        assert_true(stands.share == 1.0);
        assert_int_equal(stands.still, i == 0 ? 0 : 4 + 2 * 4); // rest, a cycle, one like it
        assert_true(stands.duty == 1.0);
        distance[i] = stands.distance;
        MUST(mf_scene_evaluate(&scene, blinks, 1, BYTES, &fitness[i], &error));
        assert_int_equal(mf_machine_result(&scene, 0).still, 0);
    }
    assert_memory_equal(&distance[0], &distance[1], sizeof distance[0]);
}

TEST(descriptors_are_those_of_the_machine) {
    static const char text[] = HEAD GROUP
        "search:\n  population: 40\n  survivors: 20\n  replacement: cell\n  selection: uniform\n"
        "  descriptors:\n"
        "  - {measure: bars, lower: 0, upper: 40, cells: 8}\n"
        "  - {measure: actuators, lower: 0, upper: 8, cells: 8}\n"
        "  - {measure: height, lower: 0, upper: 0.2, cells: 4}\n"
        "  - {measure: duty, lower: 0, upper: 1, cells: 4}\n";
    double fitness[MANY], values[4 * MANY];
    static mf_Machine machine;
    uint32_t seen = 0;
    grow_all();
    evaluate(*state, text, genomes[0], MANY, fitness, values);
    for (uint32_t i = 0; i < MANY; i++) {
        MUST(mf_machine_decode(genomes[i], BYTES, &machine, &error));
        const double *position = &values[4 * i];
        if (machine.actuator_count == 0) {
            assert_true(position[0] == machine.bar_count && position[1] == 0.0 &&
                        position[2] == 0.0);
            continue;
        }
        assert_true(position[0] == machine.bar_count && position[1] == machine.actuator_count);
        assert_true(position[2] > 0.0 && position[2] < 1.0);
        assert_true(position[3] >= 0.0 && position[3] <= 1.0);
        seen++;
    }
    assert_true(seen > 10);
}

TEST(mistakes_are_named) {
    static const SceneMistake mistakes[] = {
        {"groups:\n  - {name: a}\n", "model", 0},
        {HEAD GROUP "search: {fitness: speed}\n", "distance", 0},
        {HEAD GROUP "search: {machine: {shortest: 0.2, longest: 0.1}}\n", "longest", 0},
        {HEAD GROUP "    model: ../models/hexapod.urdf\n", "truss", 0},
        {HEAD GROUP "    model: ../models/cantilever.truss.yaml\n", "fixed", 0},
        {HEAD GROUP "search: {replacement: cell, descriptors: [{measure: forward, lower: 0, "
                    "upper: 1}]}\n",
         "bars", 0},
        {"groups:\n  - {name: a, model: ../models/hexapod.urdf, controller: gp}\n"
         "search: {replacement: cell, descriptors: [{measure: bars, lower: 0, upper: 1}]}\n",
         "machine", 0},
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes, true);
}
