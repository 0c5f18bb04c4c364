// Numbers that are drawn for each robot, against closed forms: the rate of a cart of mass m with
// damping d falls as exp(-d t / m).
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

enum { ROBOTS = 4000, SOME = 1000 };

static const char *text_of(uint32_t count, uint32_t seed, const char *rows) {
    return formatted(
        "world: {seed: %u}\ngroups:\n  - name: carts\n    model: ../tests/scene/cart.xml\n"
        "    count: %u\n    isolated: true\n    precision: double\n"
        "    initial: [{property: joint.rate, values: [1]}]\n    randomize:\n%s",
        seed, count, rows);
}

// d / m of each cart, after half a second.
static void ratios(mf_Context *context, const char *text, uint32_t count, double *out) {
    AUTO_WHOLE_SCENE scene = scene_of(context, text);
    mf_world_step(scene.world, 500);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
    const mf_Field *rate = mf_group_find_field(scene.group, "joint.rate");
    for (uint32_t i = 0; i < count; i++)
        out[i] = -log(mf_field_get(rate, i, 0)) / 0.5;
}

TEST(numbers_without_a_width_are_those_of_an_edited_file) {
    static const struct {
        const char *rows;
        double ratio;
    } cases[] = {
        {"      - {number: rail/joint.damping, range: [3, 3]}\n", 3 * .5 / 2},
        {"      - {number: joint.damping, operation: add, range: [.25, .25]}\n", .75 / 2},
        {"      - {number: '*/joint.damping', operation: set, range: [2, 2]}\n", 1},
        {"      - {number: c*t/link.mass, distribution: normal, range: [2, 0]}\n", .5 / 4},
        {"      - {number: link.mass, distribution: logarithmic, range: [.5, .5]}\n", .5},
        // in this order
        {"      - {number: joint.damping, operation: set, range: [1, 1]}\n"
         "      - {number: joint.damping, operation: add, range: [1, 1]}\n"
         "      - {number: joint.damping, range: [4, 4]}\n",
         8 / 2.},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double found[3];
        ratios(*state, text_of(3, 1, cases[i].rows), 3, found);
        for (int k = 0; k < 3; k++)
            assert_near(found[k], cases[i].ratio, 1e-8);
    }
}

static void moments(const double *x, uint32_t count, double *mean, double *deviation) {
    double sum = 0, square = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += x[i] / count;
        square += x[i] * x[i] / count;
    }
    *mean = sum;
    *deviation = sqrt(square - sum * sum);
}

// Mean and deviation within five of their own deviations; the mass is 2.
TEST(distributions) {
    static double x[ROBOTS];
    double mean, deviation;
    ratios(*state, text_of(ROBOTS, 7, "      - {number: joint.damping, range: [.5, 1.5]}\n"),
           ROBOTS, x);
    for (int i = 0; i < ROBOTS; i++)
        assert_true(x[i] > .5 * .25 - 1e-8 && x[i] < 1.5 * .25 + 1e-8);
    moments(x, ROBOTS, &mean, &deviation);
    assert_near(mean, .25, 5 * .25 / sqrt(12. * ROBOTS));
    assert_near(deviation, .25 / sqrt(12.), .01 * .25);

    ratios(*state,
           text_of(ROBOTS, 7,
                   "      - {number: joint.damping, operation: add, distribution: normal, "
                   "range: [.5, .1]}\n"),
           ROBOTS, x);
    moments(x, ROBOTS, &mean, &deviation);
    assert_near(mean, .5, 5 * .05 / sqrt(ROBOTS));
    assert_near(deviation, .05, 5 * .05 / sqrt(2. * ROBOTS));

    ratios(*state,
           text_of(ROBOTS, 7,
                   "      - {number: joint.damping, distribution: logarithmic, range: [.1, 10]}\n"),
           ROBOTS, x);
    for (int i = 0; i < ROBOTS; i++)
        x[i] = log(x[i] / .25) / log(10);
    moments(x, ROBOTS, &mean, &deviation);
    assert_near(mean, 0, 5 * 2 / sqrt(12. * ROBOTS));
    assert_near(deviation, 2 / sqrt(12.), .03);
}

// A draw depends on the seed, the robot and its own name only.
TEST(draws_do_not_depend_on_others) {
    double some[5], more[40], other[5], together[5], mass[5];
    const char *damping = "      - {number: joint.damping, range: [.5, 1.5]}\n";
    const char *masses = "      - {number: link.mass, range: [.5, 1.5]}\n";
    ratios(*state, text_of(5, 1, damping), 5, some);
    ratios(*state, text_of(40, 1, damping), 40, more);
    ratios(*state, text_of(5, 2, damping), 5, other);
    ratios(*state, text_of(5, 1, masses), 5, mass);
    ratios(*state, text_of(5, 1, formatted("%s%s", masses, damping)), 5, together);
    for (int i = 0; i < 5; i++) {
        assert_near(some[i], more[i], 1e-12);
        assert_true(fabs(some[i] - other[i]) > 1e-6);
        assert_near(together[i], some[i] * mass[i] / .25, 1e-8);
        assert_true(i == 0 || fabs(some[i] - some[i - 1]) > 1e-6);
    }
}

// Numbers are part of the state.
TEST(robots_of_a_snapshot_are_the_same) {
    const char *rows = "      - {number: joint.damping, range: [.5, 1.5]}\n";
    const char *others = "      - {number: joint.damping, range: [2, 3]}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text_of(20, 1, rows));
    AUTO_WHOLE_SCENE twin = scene_of(*state, text_of(20, 1, others));
    mf_world_step(scene.world, 100);
    assert_true(mf_world_hash(scene.world) != mf_world_hash(twin.world));
    size_t size;
    void *image = take_snapshot(scene.world, &size);
    MUST(mf_world_restore(twin.world, image, size, &error));
    free(image);
    mf_world_step(scene.world, 100);
    mf_world_step(twin.world, 100);
    assert_true(mf_world_hash(scene.world) == mf_world_hash(twin.world));
}

// ---- episodes and lives
// --------------------------------------------------------------------------

static const char *const half_to_more = "      - {number: joint.damping, range: [.5, 1.5]}\n";

// d / m after a reset of all, and the hash then.
static uint64_t ratios_of_episode(mf_Scene *scene, uint32_t count, double *out) {
    const mf_Field *rate = mf_group_find_field(scene->group, "joint.rate");
    for (uint32_t i = 0; i < count; i++) {
        mf_group_reset(scene->group, i);
        mf_field_set((mf_Field *)(uintptr_t)rate, i, 0, 1.0);
    }
    mf_world_step(scene->world, 500);
    for (uint32_t i = 0; i < count; i++)
        out[i] = -log(mf_field_get(rate, i, 0)) / 0.5;
    return mf_world_hash(scene->world);
}

// Each has the distribution of the first; robots keep no memory of it.
TEST(a_reset_draws_anew) {
    static double first[SOME], x[SOME], y[SOME];
    double mean, deviation, product = 0;
    AUTO_WHOLE_SCENE scene = scene_of(*state, text_of(SOME, 7, half_to_more));
    mf_world_step(scene.world, 500);
    const mf_Field *rate = mf_group_find_field(scene.group, "joint.rate");
    for (uint32_t i = 0; i < SOME; i++)
        first[i] = -log(mf_field_get(rate, i, 0)) / 0.5;
    ratios_of_episode(&scene, SOME, x);
    ratios_of_episode(&scene, SOME, y);
    moments(x, SOME, &mean, &deviation);
    assert_near(mean, .25, 5 * .25 / sqrt(12. * SOME));
    assert_near(deviation, .25 / sqrt(12.), .02 * .25);
    for (uint32_t i = 0; i < SOME; i++)
        product += (x[i] - .25) * (first[i] - .25) / SOME;
    assert_near(product, 0, 5 * .25 * .25 / 12 / sqrt(SOME));
    assert_true(fabs(x[0] - y[0]) > 1e-6 && fabs(x[1] - y[1]) > 1e-6);
    assert_int_equal(mf_field_get(mf_group_find_field(scene.group, "randomize.episode"), 1, 0), 2);
    assert_int_equal(mf_field_get(mf_group_find_field(scene.group, "randomize.refused"), 1, 0), 0);
}

// Neither threads nor the number of robots change what is drawn.
TEST(episodes_do_not_depend_on_others) {
    double some[5], more[40];
    AUTO_WHOLE_SCENE few = scene_of(*state, text_of(5, 1, half_to_more));
    ratios_of_episode(&few, 5, some);
    uint64_t hashes[2];
    for (uint32_t threads = 1; threads < 4; threads += 2) {
        AUTO_CONTEXT *context = open_context(threads);
        AUTO_WHOLE_SCENE many = scene_of(context, text_of(40, 1, half_to_more));
        hashes[threads / 2] = ratios_of_episode(&many, 40, more);
        for (int i = 0; i < 5; i++)
            assert_near(some[i], more[i], 1e-12);
    }
    assert_true(hashes[0] == hashes[1]);
}

// A draw that no robot can have leaves it as it was.
TEST(refused_draws_are_counted) {
    double x[40];
    uint32_t refused = 0;
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, text_of(1, 3,
                                 "      - {number: joint.damping, operation: set, distribution: "
                                 "normal, range: [.5, .5]}\n"));
    for (int i = 0; i < 40; i++) {
        double before = i > 0 ? x[i - 1] : 0;
        ratios_of_episode(&scene, 1, &x[i]);
        const uint32_t now =
            (uint32_t)mf_field_get(mf_group_find_field(scene.group, "randomize.refused"), 0, 0);
        if (now > refused && i > 0)
            assert_near(x[i], before, 1e-12);
        refused = now;
    }
    assert_in_range(refused, 1, 20); // 16 % of a normal distribution are below -1 deviation
}

static const char search_text[] =
    "world: {seed: 3}\nsearch: {generations: 1}\nrun: {duration: 0.5}\ngroups:\n"
    "  - name: carts\n    model: ../tests/scene/cart.xml\n    count: 24\n    isolated: true\n"
    "    precision: double\n    controller: oscillator\n    servo: {gain: 1e-9}\n"
    "    initial: [{property: joint.rate, values: [1]}]\n    randomize:\n"
    "      - {number: joint.damping, range: [.5, 1.5]}\n";

enum { LIVES = 24, GENES = 4 };

static void live(mf_Scene *scene, const uint8_t *genomes, double *out) {
    double fitness[LIVES];
    MUST(mf_scene_evaluate(scene, genomes, LIVES, GENES, fitness, &error));
    const mf_Field *rate = mf_group_find_field(scene->group, "joint.rate");
    for (uint32_t i = 0; i < LIVES; i++)
        out[i] = -log(mf_field_get(rate, i, 0)) / 0.5;
}

// What is drawn for a genome depends on it alone, so a stored one lives the same life again.
TEST(each_life_of_a_search_has_numbers_of_its_genome) {
    uint8_t genomes[LIVES * GENES], turned[LIVES * GENES];
    double x[LIVES], again[LIVES], other[LIVES];
    for (int i = 0; i < LIVES * GENES; i++)
        genomes[i] = (uint8_t)(37 * i + 11);
    for (int i = 0; i < LIVES; i++)
        memcpy(turned + i * GENES, genomes + (LIVES - 1 - i) * GENES, GENES);
    for (uint32_t threads = 1; threads < 4; threads += 2) {
        AUTO_CONTEXT *context = open_context(threads);
        mf_SceneConfig config = mf_scene_config();
        config.evaluates = true;
        AUTO_WHOLE_SCENE scene = make_with(context, parse_scene(context, search_text), &config);
        assert_int_equal(mf_scene_genome_bytes(&scene), GENES);
        live(&scene, genomes, x);
        live(&scene, turned, other);
        live(&scene, genomes, again);
        for (int i = 0; i < LIVES; i++) {
            assert_true(x[i] > .5 * .25 - 1e-6 && x[i] < 1.5 * .25 + 1e-6);
            assert_true(x[i] == again[i] && x[i] == other[LIVES - 1 - i]);
            assert_true(i == 0 || fabs(x[i] - x[i - 1]) > 1e-6);
        }
    }
}

#define HEAD "groups:\n  - name: one\n    model: ../models/hexapod.urdf\n    isolated: true\n"
#define WRONG(entry, part)                                                                         \
    { HEAD "    randomize:\n      - " entry "\n", part, 6 }
TEST(mistakes_are_named) {
    static const SceneMistake rows[] = {
        WRONG("{number: link.mas, range: [1, 2]}", "no such number of a link, joint"),
        WRONG("{number: sensor.rate, range: [1, 2]}", "no such number of a link, joint"),
        WRONG("{number: mass, range: [1, 2]}", "expected a number such as trunk/link.mass"),
        WRONG("{number: nobody/link.mass, range: [1, 2]}", "the robot has none of that name"),
        WRONG("{number: shape.friction.7, range: [1, 2]}", "it has no such component"),
        WRONG("{number: link.mass, range: [2, 1]}", "the lowest value, then the largest"),
        WRONG("{number: link.mass, distribution: normal, range: [1, -1]}", "a deviation of at"),
        WRONG("{number: link.mass, distribution: logarithmic, range: [0, 1]}", "values above 0"),
        WRONG("{number: link.mass, operation: set, range: [-2, -1]}", "need >= 0"),
        {"groups:\n  - name: one\n    model: ../models/hexapod.urdf\n    motion: rigid\n"
         "    isolated: true\n    randomize:\n      - {number: link.mass, range: [1, 2]}\n",
         "moves by rigid", 7},
        {"groups:\n  - name: one\n    model: ../models/hexapod.urdf\n    randomize:\n"
         "      - {number: link.mass, range: [1, 2]}\n",
         "expected isolated: true", 5},
    };
    check_mistakes(*state, rows, sizeof rows / sizeof *rows, false);
}
