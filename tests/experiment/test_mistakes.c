// Mistakes in experiment files and overrides: each kind with its exact file, line, column and
// words, and nothing left behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mayfly/experiment.h>

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK_MODEL "model: {file: a.urdf}\n" // line 1; what follows starts in line 2

static void expect(mf_Context *context, const char *text, size_t size, const mf_Override *overrides,
                   uint32_t count, const char *message) {
    mf_Experiment *experiment = (mf_Experiment *)context; // must become NULL
    mf_Error error = {0};
    char line[900];
    size_t live = mf_context_live_bytes(context);
    mf_Status status =
        mf_experiment_parse(context, "t.yaml", text, size, overrides, count, &experiment, &error);
    assert_int_not_equal(status, MF_OK);
    assert_null(experiment);
    assert_int_equal(error.status, status);
    assert_string_equal(mf_error_format(&error, line, sizeof line), message);
    assert_int_equal(mf_context_live_bytes(context), live);
}

static void mistakes_in_values_name_place_and_expectation(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {OK_MODEL "search:\n  population: 1\n",
         "t.yaml:3:15: search.population: expected a whole number from 2 to 1048576, found 1"},
        {OK_MODEL "search: {population: 1048577}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found "
         "1048577"},
        {OK_MODEL "search: {population: -5}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found -5"},
        {OK_MODEL "search: {population: 10.5}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found 10.5"},
        {OK_MODEL "search: {population: 0x40}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found 0x40"},
        {OK_MODEL "search: {population: \"100\"}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found "
         "\"100\""},
        {OK_MODEL "search: {population: 99999999999999999999999}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found "
         "99999999999999999999999"},
        {OK_MODEL "search: {population: }\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found "
         "nothing"},
        {OK_MODEL "search: {population: [100]}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found a list"},
        {OK_MODEL "search: {population: {size: 100}}\n",
         "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found a group "
         "of keys"},
        {OK_MODEL "search: {seed: 18446744073709551616}\n",
         "t.yaml:2:16: search.seed: expected a whole number from 0 to 18446744073709551615, found "
         "18446744073709551616"},
        {OK_MODEL "search: {mutation_rate: .nan}\n",
         "t.yaml:2:25: search.mutation_rate: expected a number from 0 to 1, found .nan"},
        {OK_MODEL "search: {mutation_rate: nan}\n",
         "t.yaml:2:25: search.mutation_rate: expected a number from 0 to 1, found nan"},
        {OK_MODEL "search: {mutation_rate: .inf}\n",
         "t.yaml:2:25: search.mutation_rate: expected a number from 0 to 1, found .inf"},
        {OK_MODEL "search: {mutation_rate: 1.0000001}\n",
         "t.yaml:2:25: search.mutation_rate: expected a number from 0 to 1, found 1.0000001"},
        {OK_MODEL "search: {mutation_rate: 0,5}\n",
         "t.yaml:2:27: search.5: unknown key, expected one of generations, population, survivors, "
         "mutation_rate, seed, reuse_fitness"},
        {OK_MODEL "search: {reuse_fitness: yes}\n",
         "t.yaml:2:25: search.reuse_fitness: expected true or false, found yes"},
        {OK_MODEL "world: {step: 0}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s, found 0"},
        {OK_MODEL "world: {step: 10ms}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s, found 10ms"},
        {OK_MODEL "world: {step: 1e999}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s, found 1e999"},
        {OK_MODEL "world: {step: 1.}\nmotion: {points: {joint_interval: 1}}\n",
         "t.yaml:2:15: controller.gp.tick: expected at least world.step = 1 s, found 0.08 s"},
        {OK_MODEL "world: {gravity: -9.81}\n",
         "t.yaml:2:18: world.gravity: expected a number from 0 to 1000 m/s^2, found -9.81"},
        {OK_MODEL "world: {precision: half}\n",
         "t.yaml:2:20: world.precision: expected one of float, double, found half"},
        {OK_MODEL "motion: {points: {friction_coefficient: 0}}\n",
         "t.yaml:2:41: motion.points.friction_coefficient: expected a number above 0 up to 1000000 "
         "or .inf, found 0"},
        {OK_MODEL "motion: {points: {friction_coefficient: -.inf}}\n",
         "t.yaml:2:41: motion.points.friction_coefficient: expected a number above 0 up to 1000000 "
         "or .inf, found -.inf"},
        {OK_MODEL "motion: soccer\n",
         "t.yaml:2:9: motion: expected one of kinematic, points, rigid, prescribed, articulated, "
         "found soccer"},
        {OK_MODEL "controller: neural\n",
         "t.yaml:2:13: controller: expected one of gp, oscillator, none, plugin, found neural"},
        {OK_MODEL "controller: {}\n", "t.yaml:2:13: controller: expected one of gp, oscillator, "
                                      "none, plugin, found a group of keys"},
        {OK_MODEL "controller:\n  gp: {}\n  oscillator: {}\n",
         "t.yaml:4:3: controller: expected just one of gp, oscillator, none, plugin, found "
         "oscillator too"},
        {OK_MODEL "controller: {gp: {angle_per_move: 0}}\n",
         "t.yaml:2:35: controller.gp.angle_per_move: expected a number above 0 up to 1000 rad, "
         "found 0"},
        {OK_MODEL "terrain: {shape: moon}\n",
         "t.yaml:2:18: terrain.shape: expected one of flat, slope, steps, sine, noise, found moon"},
        {OK_MODEL "terrain: {origin: [1]}\n",
         "t.yaml:2:19: terrain.origin: expected [x, y] in m within -1e9 .. 1e9, or centered, found "
         "a list"},
        {OK_MODEL "terrain: {origin: [1, 2, 3]}\n",
         "t.yaml:2:19: terrain.origin: expected [x, y] in m within -1e9 .. 1e9, or centered, found "
         "a list"},
        {OK_MODEL "terrain: {origin: middle}\n",
         "t.yaml:2:19: terrain.origin: expected [x, y] in m within -1e9 .. 1e9, or centered, found "
         "middle"},
        {OK_MODEL "terrain: flat\n", "t.yaml:2:10: terrain: expected a group of keys, found flat"},
        {OK_MODEL "fitness: height\n",
         "t.yaml:2:10: fitness: expected one of distance, speed, economy, upright, steps, "
         "found height"},
        {OK_MODEL "name: [a]\n", "t.yaml:2:7: name: expected text, found a list"},
        {OK_MODEL "name: \"a\\nb\"\n", "t.yaml:2:7: name: expected text, found \"a?b\""},
        {"model:\n  file:\n", "t.yaml:2:8: model.file: expected the name of a file, found nothing"},
        {"model: robot.urdf\n", "t.yaml:1:8: model: expected a group of keys, found robot.urdf"},
        {"model: {file: a, packages: [x]}\n",
         "t.yaml:1:28: model.packages: expected a group of `name: folder`, found a list"},
        {"model: {file: a, packages: {x: [y]}}\n",
         "t.yaml:1:32: model.packages: expected a group of `name: folder`, found a list"},
        {OK_MODEL "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                  "world: {step: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}\n",
         "t.yaml:3:15: world.step: expected a time from 1e-06 to 1 s, found "
         "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb..."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, cases[i].text, strlen(cases[i].text), NULL, 0, cases[i].message);
}

static void mistakes_in_keys_suggest_the_right_one(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"name: x\n", "t.yaml:1:1: expected the key model.file, which is missing"},
        {OK_MODEL "search:\n  populaton: 100\n",
         "t.yaml:3:3: search.populaton: unknown key, did you mean search.population?"},
        {OK_MODEL "serach: {seed: 1}\n", "t.yaml:2:1: serach: unknown key, did you mean search?"},
        {OK_MODEL "population: 100\n",
         "t.yaml:2:1: population: unknown key, did you mean search.population?"},
        {OK_MODEL "motion:\n  points:\n    joint_intervall: 0.08\n",
         "t.yaml:4:5: motion.points.joint_intervall: unknown key, did you mean "
         "motion.points.joint_interval?"},
        {OK_MODEL "run: {colour: red}\n",
         "t.yaml:2:7: run.colour: unknown key, expected one of duration, robots"},
        {OK_MODEL "search.seed: 1\n",
         "t.yaml:2:1: search.seed: unknown key, did you mean search.seed?"},
        {OK_MODEL "<<: {a: 1}\n",
         "t.yaml:2:1: <<: unknown key, expected one of name, model, terrain, world, motion, "
         "controller, servo, initial, fitness, run, search, verify"},
        {OK_MODEL "search:\n  seed: 1\n  survivors: 5\n  seed: 2\n",
         "t.yaml:5:3: expected each key once, found seed again (first in line 3)"},
        {OK_MODEL "search: {seed: 1}\nsearch: {survivors: 2}\n",
         "t.yaml:3:1: expected each key once, found search again (first in line 2)"},
        {OK_MODEL "? [a, b]\n: 1\n", "t.yaml:2:3: expected a key, found a list"},
        {OK_MODEL "? {a: b}\n: 1\n", "t.yaml:2:3: expected a key, found a group of keys"},
        {OK_MODEL "\"\": 1\n", "t.yaml:2:1: expected a key of 1 to 255 characters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, cases[i].text, strlen(cases[i].text), NULL, 0, cases[i].message);
}

static void mistakes_between_keys_are_found(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {OK_MODEL
         "search: {population: 20, survivors: 5}\nverify: {motion: articulated, best: 21}\n",
         "t.yaml:3:37: verify.best: expected at most search.population = 20, found 21"},
        {OK_MODEL "verify: {motion: soccer}\n",
         "t.yaml:2:18: verify.motion: expected one of none, kinematic, points, rigid, prescribed, "
         "articulated, found soccer"},
        {OK_MODEL "search: {population: 50, survivors: 50}\n",
         "t.yaml:2:37: search.survivors: expected fewer than search.population = 50, found 50"},
        {OK_MODEL "search: {population: 10}\n",
         "t.yaml:2:22: search.survivors: expected fewer than search.population = 10, found 50"},
        {OK_MODEL "motion: {points: {joint_interval: 0.085}}\n",
         "t.yaml:2:35: motion.points.joint_interval: expected a multiple of world.step = 0.01 s, "
         "found 0.085 s"},
        {OK_MODEL "world: {step: 0.03}\n",
         "t.yaml:2:15: motion.points.joint_interval: expected a multiple of world.step = 0.03 s, "
         "found 0.08 s"},
        {OK_MODEL "controller: {gp: {tick: 0.005}}\n",
         "t.yaml:2:25: controller.gp.tick: expected at least world.step = 0.01 s, found 0.005 s"},
        {OK_MODEL "controller: {oscillator: {tick: 0.009999}}\n",
         "t.yaml:2:33: controller.oscillator.tick: expected at least world.step = 0.01 s, found "
         "0.009999 s"},
        {OK_MODEL "controller: {gp: {tick: 0.025}}\n",
         "t.yaml:2:25: controller.gp.tick: expected a multiple of world.step = 0.01 s, found 0.025 "
         "s"},
        {OK_MODEL "controller: oscillator\nworld: {step: 0.0015}\n"
                  "motion: {points: {joint_interval: 0.015}}\n",
         "t.yaml:3:15: controller.oscillator.tick: expected a multiple of world.step = 0.0015 s, "
         "found 0.08 s"},
        {OK_MODEL "initial: [{values: [1]}]\n",
         "t.yaml:2:11: expected the key initial.0.property, which is missing"},
        {OK_MODEL "initial: [{property: a, values: [x]}]\n",
         "t.yaml:2:34: initial.0.values: expected a list of at most 1024 numbers from -1e+300 to "
         "1e+300, found x"},
        {OK_MODEL "terrain: {file: a.png, amplitude: 1}\n",
         "t.yaml:2:24: terrain.amplitude: not used with terrain.file"},
        {OK_MODEL "terrain: {scale: 2}\n",
         "t.yaml:2:11: terrain.scale: only used with terrain.file, which is not given"},
        {OK_MODEL "terrain: {shape: slope, amplitude: 1.6}\n",
         "t.yaml:2:36: terrain.amplitude: expected a slope between -pi/2 and pi/2 rad, found 1.6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, cases[i].text, strlen(cases[i].text), NULL, 0, cases[i].message);
}

static void hostile_text_is_refused_in_one_line(void **state) {
#define TEXT(literal) literal, sizeof literal - 1
    static const struct {
        const char *text;
        size_t size;
        const char *message;
    } cases[] = {
        {TEXT(""), "t.yaml:1:1: expected an experiment, found nothing"},
        {TEXT("# only a comment\n"), "t.yaml:1:1: expected an experiment, found nothing"},
        {TEXT("---\n...\n"), "t.yaml:2:1: expected keys such as model and search, found nothing"},
        {TEXT("hello\n"), "t.yaml:1:1: expected keys such as model and search, found hello"},
        {TEXT("- a\n- b\n"), "t.yaml:1:1: expected keys such as model and search, found a list"},
        {TEXT("\xef\xbb\xbfmodel: {file: a}\n"),
         "t.yaml:1:1: expected plain UTF-8, found a byte order mark"},
        {TEXT("\xff\xfem\0o\0"), "t.yaml:1:1: expected UTF-8, found UTF-16"},
        {TEXT("name: caf\xe9\n"), "t.yaml:1:10: expected UTF-8 text, found the byte 0xe9"},
        {TEXT("name: \xc3\xa9\xed\xa0\x80\n"),
         "t.yaml:1:8: expected UTF-8 text, found the byte 0xed"},
        {TEXT("name: a\nmodel: \xc3"), "t.yaml:2:8: expected UTF-8 text, found the byte 0xc3"},
        {TEXT("\x7f"
              "ELF\x02\x01\x01"),
         "t.yaml:1:1: expected text, found a control character (byte 0x7f)"},
        {TEXT("name: a\0b\n"), "t.yaml:1:8: expected text, found a control character (byte 0x00)"},
        {TEXT("name: \"a\\0b\"\n"), "t.yaml:1:7: expected text, found a zero character in it"},
        {TEXT("model:\n\tfile: a\n"),
         "t.yaml:2:1: expected spaces in front of the line, found a tab"},
        {TEXT("model: {file: a}\n---\nmodel: {file: b}\n"),
         "t.yaml:2:1: expected one document, found a second one"},
        {TEXT("model: &m {file: a}\nname: *m\n"),
         "t.yaml:1:8: expected a plain value, found an anchor (&name)"},
        {TEXT("name: &n x\n"), "t.yaml:1:7: expected a plain value, found an anchor (&name)"},
        {TEXT("name: *n\n"), "t.yaml:1:7: expected a plain value, found an alias (*name)"},
        {TEXT("name: !!str 5\n"), "t.yaml:1:7: expected a plain value, found a tag (!name)"},
        {TEXT("model: !robot {file: a}\n"),
         "t.yaml:1:8: expected a plain value, found a tag (!name)"},
        {TEXT("model: {file: a\n"),
         "t.yaml:2:1: expected YAML: did not find expected ',' or '}' while parsing a flow "
         "mapping"},
        {TEXT("model: 'a\n"), "t.yaml:2:1: expected YAML: found unexpected end of stream while "
                              "scanning a quoted scalar"},
        {TEXT("model: a: b\n"),
         "t.yaml:1:9: expected YAML: mapping values are not allowed in this context"},
        {TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
         "t.yaml:1:33: expected at most 32 levels of nesting"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, cases[i].text, cases[i].size, NULL, 0, cases[i].message);
}

static void large_files_stop_at_a_limit(void **state) {
    char *text = malloc(70000);
    size_t size = 0;
    for (int i = 0; i < 5000; i++)
        size += (size_t)snprintf(text + size, 70000 - size, "k%d: 1\n", i);
    // The root is one value, so the 4096th entry is one too many.
    expect(*state, text, size, NULL, 0, "t.yaml:4096:8: expected at most 4096 values in a file");
    free(text);
    expect(*state, "", (64u << 20) + 1, NULL, 0,
           "t.yaml: expected at most 64 MiB, found 67108865 bytes");
}

static void bad_arguments_are_refused(void **state) {
    mf_Experiment *experiment = (mf_Experiment *)*state;
    assert_int_equal(mf_experiment_parse(*state, NULL, "", 0, NULL, 0, &experiment, NULL),
                     MF_BAD_ARGUMENT);
    assert_null(experiment);
    assert_int_equal(mf_experiment_parse(*state, "a", "", 0, NULL, 1, &experiment, NULL),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_experiment_parse(*state, "a", "", 0, NULL, 0, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_experiment_load(NULL, "a", NULL, 0, &experiment, NULL), MF_BAD_ARGUMENT);
    mf_Error error = {0};
    assert_int_equal(
        mf_experiment_load(*state, "/nowhere/at/all.yaml", NULL, 0, &experiment, &error),
        MF_NOT_FOUND);
    assert_string_equal(error.file, "/nowhere/at/all.yaml");
    mf_experiment_destroy(NULL);
}

static void wrong_overrides_are_named(void **state) {
    static const struct {
        mf_Override override;
        const char *message;
    } cases[] = {
        {{"search.population", "1"},
         "override search.population=1: search.population: expected a whole number from 2 to "
         "1048576, found 1"},
        {{"search.populaton", "9"},
         "override search.populaton=9: search.populaton: unknown key, did you mean "
         "search.population?"},
        {{"qqqqqqq", "9"},
         "override qqqqqqq=9: qqqqqqq: unknown key, expected one of name, model, terrain, world, "
         "motion, controller, servo, initial, fitness, run, search, verify"},
        {{"search..seed", "9"},
         "override search..seed=9: search..seed: unknown key, did you mean terrain.seed?"},
        {{"search", "9"}, "override search=9: search: expected a group of keys, found 9"},
        {{"search.seed", ""},
         "override search.seed=: search.seed: expected a whole number from 0 to "
         "18446744073709551615, found nothing"},
        {{"search.survivors", "100"},
         "override search.survivors=100: search.survivors: expected fewer than search.population = "
         "100, found 100"},
        {{"terrain.scale", "2"},
         "override terrain.scale=2: terrain.scale: only used with terrain.file, which is not "
         "given"},
        {{"terrain.origin", "[1"},
         "override terrain.origin=[1: expected YAML: did not find expected ',' or ']' while "
         "parsing a flow sequence"},
        {{"terrain.origin", "[1, x]"},
         "override terrain.origin=[1, x]: terrain.origin: expected [x, y] in m within -1e9 .. 1e9, "
         "or centered, found a list"},
        {{"name", "a\nb"}, "override name=a?b: name: expected text, found a?b"},
        {{"name", "\xff"}, "override:1:6: expected UTF-8 text, found the byte 0xff"},
        {{NULL, "1"}, "override: path or value is NULL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, OK_MODEL, sizeof OK_MODEL - 1, &cases[i].override, 1, cases[i].message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_values_name_place_and_expectation),
        cmocka_unit_test(mistakes_in_keys_suggest_the_right_one),
        cmocka_unit_test(mistakes_between_keys_are_found),
        cmocka_unit_test(hostile_text_is_refused_in_one_line),
        cmocka_unit_test(large_files_stop_at_a_limit),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(wrong_overrides_are_named),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
