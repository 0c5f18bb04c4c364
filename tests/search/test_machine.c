// Machines: genomes that read back to the same bytes, operators that keep to their chances and to
// what a machine is, and trials whose results depend on the machine alone.
#include "search/support.h"

#include <mayfly/machine.h>

#include <math.h>

enum { BYTES = MF_MACHINE_BYTES };

static mf_MachineConfig busy(void) { // grows fast
    mf_MachineConfig config = mf_machine_config();
    config.change = 0.3;
    config.add = 0.3;
    config.split = 0.1;
    config.attach = 0.1;
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
    if (mf_machine_decode(genome, BYTES, &machine, &error) != MF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(mf_machine_encode(&machine, again, BYTES, &error), MF_OK);
    assert_memory_equal(again, genome, BYTES);
    if (machine.bar_count == 0)
        return;
    const mf_Truss truss = mf_machine_truss(&machine);
    if (mf_truss_check(&truss, &error) != MF_OK)
        fail_msg("%s", error.message);
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

static void ten_thousand_mutations_leave_machines(void **state) {
    mf_MachineConfig config = busy();
    uint8_t genome[BYTES], child[BYTES];
    static mf_Machine machine;
    uint32_t bars = 0, actuators = 0, neurons = 0, same = 0;
    (void)state;
    assert_int_equal(mf_machine_vary(&config, NULL, 7, 0, genome, BYTES), MF_OK);
    for (uint64_t g = 1; g <= 10000; g++) {
        assert_int_equal(mf_machine_vary(&config, genome, 7, g, child, BYTES), MF_OK);
        same += memcmp(child, genome, BYTES) == 0; // one operator undid another
        check_valid(child, &config);
        assert_int_equal(mf_machine_decode(child, BYTES, &machine, NULL), MF_OK);
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
static void operators_keep_their_chances(void **state) {
    enum { CHILDREN = 20000 };
    mf_MachineConfig config = mf_machine_config(), early = busy();
    static mf_Machine parent, child;
    uint8_t genome[BYTES], other[BYTES];
    uint32_t split = 0, changed = 0, attached = 0;
    (void)state;
    grow(&early, 3, 300, genome);
    assert_int_equal(mf_machine_decode(genome, BYTES, &parent, NULL), MF_OK);
    assert_true(parent.bar_count > 3 && parent.actuator_count > 0 && parent.neuron_count > 0);
    for (uint64_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(mf_machine_vary(&config, genome, 11, i, other, BYTES), MF_OK);
        assert_int_equal(mf_machine_decode(other, BYTES, &child, NULL), MF_OK);
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

static void bad_genomes_are_refused(void **state) {
    mf_MachineConfig config = busy();
    uint8_t genome[BYTES];
    static mf_Machine machine;
    uint32_t refused = 0;
    (void)state;
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

// ---- trials -------------------------------------------------------------------------------------

enum { MANY = 40 };

static void trial(uint32_t threads, const uint8_t *genomes, uint32_t count, uint32_t capacity,
                  mf_CrawlResult *results) {
    mf_ContextConfig config = mf_context_config();
    mf_CrawlConfig crawl = mf_crawl_config();
    mf_Context *context;
    mf_Crawl *trials;
    mf_Error error = {0};
    config.threads = threads;
    crawl.capacity = capacity;
    crawl.cycles = 4;
    assert_int_equal(mf_context_create(&config, &context, NULL), MF_OK);
    assert_int_equal(mf_crawl_create(context, &crawl, &trials, &error), MF_OK);
    if (mf_crawl_run(trials, genomes, count, BYTES, results, &error) != MF_OK)
        fail_msg("%s", error.message);
    mf_crawl_destroy(trials);
    assert_int_equal(mf_context_live_bytes(context), 0);
    mf_context_destroy(context);
}

static void a_result_depends_on_the_machine_alone(void **state) {
    static uint8_t genomes[MANY][BYTES], turned[MANY][BYTES];
    mf_CrawlResult all[MANY] = {{0}}, other[MANY] = {{0}};
    mf_MachineConfig config = busy();
    uint32_t moved = 0;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        grow(&config, 100 + i, 30 + i, genomes[i]);
        memcpy(turned[MANY - 1 - i], genomes[i], BYTES);
    }
    trial(1, genomes[0], MANY, 64, all);
    for (uint32_t i = 0; i < MANY; i++)
        moved += all[i].distance > 1e-4;
    print_message("%u of %d machines moved\n", moved, MANY);
    assert_true(moved >= 3);
    trial(3, genomes[0], MANY, 64, other);
    assert_memory_equal(all, other, sizeof all);
    trial(2, turned[0], MANY, 16, other);
    for (uint32_t i = 0; i < MANY; i++)
        assert_memory_equal(&all[i], &other[MANY - 1 - i], sizeof *all);
    for (uint32_t i = 0; i < MANY; i += 7) {
        mf_CrawlResult one = {0};
        trial(1, genomes[i], 1, 1, &one);
        assert_memory_equal(&all[i], &one, sizeof one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_mutations_leave_machines),
        cmocka_unit_test(operators_keep_their_chances),
        cmocka_unit_test(bad_genomes_are_refused),
        cmocka_unit_test(a_result_depends_on_the_machine_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
