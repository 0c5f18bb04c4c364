// Mistakes in scenes and overrides: each kind with its exact file, line, column and message,
// without leaks.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define OK_MODEL "groups: [{name: a, model: a.urdf}]\n"   // line 1; what follows starts in line 2
#define GROUP "groups:\n  - name: a\n    model: a.urdf\n" // lines 1 to 3; its keys go on in 4

static void expect(mf_Context *context, const char *text, size_t size, const mf_Override *overrides,
                   uint32_t count, const char *message) {
    mf_SceneFile *file = (mf_SceneFile *)context; // must become NULL
    mf_Error error = {0};
    char line[900];
    size_t live = mf_context_live_bytes(context);
    mf_Status status =
        mf_scene_file_parse(context, "t.yaml", text, size, overrides, count, &file, &error);
    assert_int_not_equal(status, MF_OK);
    assert_null(file);
    assert_int_equal(error.status, status);
    assert_string_equal(mf_error_format(&error, line, sizeof line), message);
    assert_int_equal(mf_context_live_bytes(context), live);
}

typedef struct Case {
    const char *text, *message;
} Case;

static void expect_each(mf_Context *context, const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect(context, cases[i].text, strlen(cases[i].text), NULL, 0, cases[i].message);
}

#define POPULATION                                                                                 \
    "t.yaml:2:22: search.population: expected a whole number from 2 to 1048576, found "

TEST(mistakes_in_values_state_position_and_expectation) {
    static const Case cases[] = {
        {OK_MODEL "search:\n  population: 1\n",
         "t.yaml:3:15: search.population: expected a whole number from 2 to 1048576, found 1"},
        {OK_MODEL "search: {population: 1048577}\n", POPULATION "1048577"},
        {OK_MODEL "search: {population: -5}\n", POPULATION "-5"},
        {OK_MODEL "search: {population: 10.5}\n", POPULATION "10.5"},
        {OK_MODEL "search: {population: 0x40}\n", POPULATION "0x40"},
        {OK_MODEL "search: {population: \"100\"}\n", POPULATION "\"100\""},
        {OK_MODEL "search: {population: 99999999999999999999999}\n",
         POPULATION "99999999999999999999999"},
        {OK_MODEL "search: {population: }\n", POPULATION "nothing"},
        {OK_MODEL "search: {population: [100]}\n", POPULATION "a list"},
        {OK_MODEL "search: {population: {size: 100}}\n", POPULATION "a group of keys"},
        {OK_MODEL "world: {seed: 18446744073709551616}\n",
         "t.yaml:2:15: world.seed: expected a whole number from 0 to 18446744073709551615, found "
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
         "t.yaml:2:27: search.5: unknown key, expected one of fitness, falls, generations, "
         "population, "
         "survivors, selection, tournament, replacement, batch, protect, islands, migration, "
         "descriptors, "
         "mutation_rate, reuse_fitness, machine, verify"},
        {OK_MODEL "search: {reuse_fitness: yes}\n",
         "t.yaml:2:25: search.reuse_fitness: expected true or false, found yes"},
        {OK_MODEL "world: {step: 0}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s or auto, found 0"},
        {OK_MODEL "world: {step: 10ms}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s or auto, found 10ms"},
        {OK_MODEL "world: {step: 1e999}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s or auto, found 1e999"},
        {OK_MODEL "world: {step: \"auto\"}\n",
         "t.yaml:2:15: world.step: expected a time from 1e-06 to 1 s or auto, found \"auto\""},
        {OK_MODEL "world: {gravity: -9.81}\n",
         "t.yaml:2:18: world.gravity: expected a number from 0 to 1000 m/s^2 or auto, found -9.81"},
        {OK_MODEL "world: {seed: auto}\n", "t.yaml:2:15: world.seed: expected a whole number from "
                                           "0 to 18446744073709551615, found auto"},
        {OK_MODEL "contact: {enabled: auto}\n",
         "t.yaml:2:20: contact.enabled: expected true or false, found auto"},
        {OK_MODEL "contact: {friction: -1}\n",
         "t.yaml:2:21: contact.friction: expected a number from 0 to 10 or auto, found -1"},
        {OK_MODEL "ground: {shape: moon}\n", "t.yaml:2:17: ground.shape: expected one of flat, "
                                             "slope, steps, sine, noise, model, found moon"},
        {OK_MODEL "ground: {origin: [1]}\n", "t.yaml:2:18: ground.origin: expected [x, y] in m "
                                             "within -1e9 .. 1e9, or centered, found a list"},
        {OK_MODEL "ground: {origin: [1, 2, 3]}\n",
         "t.yaml:2:18: ground.origin: expected [x, y] in m within -1e9 .. 1e9, or centered, found "
         "a list"},
        {OK_MODEL "ground: {origin: middle}\n", "t.yaml:2:18: ground.origin: expected [x, y] in m "
                                                "within -1e9 .. 1e9, or centered, found middle"},
        {OK_MODEL "ground: flat\n", "t.yaml:2:9: ground: expected a group of keys, found flat"},
        {OK_MODEL "search: {fitness: height}\n",
         "t.yaml:2:19: search.fitness: expected one of distance, speed, economy, upright, steps, "
         "found height"},
        {OK_MODEL "search: {verify: {motion: soccer}}\n",
         "t.yaml:2:27: search.verify.motion: expected one of none, kinematic, points, rigid, "
         "prescribed, articulated, elastic, found soccer"},
        {OK_MODEL "name: [a]\n", "t.yaml:2:7: name: expected text, found a list"},
        {OK_MODEL "name: \"a\\nb\"\n", "t.yaml:2:7: name: expected text, found \"a?b\""},
        {OK_MODEL "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                  "world: {step: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}\n",
         "t.yaml:3:15: world.step: expected a time from 1e-06 to 1 s or auto, found "
         "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb..."},
    };
    expect_each(*state, cases, sizeof cases / sizeof *cases);
}

TEST(mistakes_in_groups_name_the_group) {
    static const Case cases[] = {
        {"groups: 5\n", "t.yaml:1:9: groups: expected a list, found 5"},
        {"groups: []\n", "t.yaml:1:9: groups: expected a list, found an empty list"},
        {"groups: [a.urdf]\n",
         "t.yaml:1:10: groups: expected a group of keys such as name, found a.urdf"},
        {"groups:\n  - count: 5\n", "t.yaml:2:5: expected the key groups.0.name, which is missing"},
        {"groups:\n  - name: a\n", "t.yaml:2:5: expected the key groups.a.model, which is missing"},
        {"groups: [{name: a, model: }]\n",
         "t.yaml:1:27: groups.a.model: expected the name of a file, found nothing"},
        {"groups: [{name: a, model: {file: a.urdf}}]\n",
         "t.yaml:1:27: groups.a.model: expected the name of a file, found a group of keys"},
        {"groups: [{name: a.b, model: a.urdf}]\n", "t.yaml:1:17: groups.a.b.name: expected 1 to 80 "
                                                   "characters without dots, slashes and blanks"},
        {GROUP "    import: {packages: [x]}\n",
         "t.yaml:4:24: groups.a.import.packages: expected a mapping `name: folder`, found a list"},
        {GROUP "    import: {packages: {x: [y]}}\n",
         "t.yaml:4:28: groups.a.import.packages: expected a mapping `name: folder`, found a list"},
        {GROUP "    count: 0\n",
         "t.yaml:4:12: groups.a.count: expected a whole number from 1 to 67108864, found 0"},
        {GROUP "    precision: half\n",
         "t.yaml:4:16: groups.a.precision: expected one of float, double, found half"},
        {GROUP "    motion: {points: {friction_coefficient: 0}}\n",
         "t.yaml:4:45: groups.a.motion.points.friction_coefficient: expected a number above 0 up "
         "to 1000000 or .inf, found 0"},
        {GROUP "    motion: {points: {friction_coefficient: -.inf}}\n",
         "t.yaml:4:45: groups.a.motion.points.friction_coefficient: expected a number above 0 up "
         "to 1000000 or .inf, found -.inf"},
        {GROUP "    behavior: {soccer: {goal: [1, 0]}}\n",
         "t.yaml:4:16: groups.a.behavior.soccer: this key is gone: a script plays, "
         "such as that of scenes/soccer.yaml"},
        {GROUP "    motion: soccer\n",
         "t.yaml:4:13: groups.a.motion: expected one of kinematic, points, rigid, prescribed, "
         "articulated, quadrotor, fixed_wing, car, external, quasistatic, elastic, cloth, fluid, "
         "grains, debris, auto, own, found soccer"},
        {GROUP "    controller: neural\n", "t.yaml:4:17: groups.a.controller: expected one of "
                                           "none, gp, oscillator, machine, found neural"},
        {GROUP "    controller: {}\n", "t.yaml:4:17: groups.a.controller: expected one of none, "
                                       "gp, oscillator, machine, found a group of keys"},
        {GROUP "    controller:\n      gp: {}\n      oscillator: {}\n",
         "t.yaml:6:7: groups.a.controller: expected only one of none, gp, oscillator, machine, "
         "found oscillator, too"},
        {GROUP "    controller: {gp: {angle_per_move: 0}}\n",
         "t.yaml:4:39: groups.a.controller.gp.angle_per_move: expected a number above 0 up to 1000 "
         "rad, found 0"},
        {GROUP "    placement: ring\n", "t.yaml:4:16: groups.a.placement: expected one of line, "
                                        "poses, grid, circle, random, fill, found ring"},
        {GROUP "    placement: {grid: {}, random: {}}\n",
         "t.yaml:4:27: groups.a.placement: expected only one of line, poses, grid, circle, random, "
         "fill, found random, too"},
        {GROUP "    placement: {grid: {spacing: [1, 2]}}\n",
         "t.yaml:4:33: groups.a.placement.grid.spacing: expected a list of 3 numbers above 0 up to "
         "1000000 m, found a list"},
        {GROUP "    placement: {poses: [[0, 0]]}\n",
         "t.yaml:4:25: groups.a.placement.poses: expected points, each a list of 3 numbers from "
         "-1000000 to 1000000, found a list"},
        {GROUP "    gaits: walk\n",
         "t.yaml:4:12: groups.a.gaits: expected a list of names, found walk"},
        {GROUP "    color: mauve\n",
         "t.yaml:4:12: groups.a.color: expected one of auto, file, blue, red, yellow, green, "
         "orange, purple, cyan, pink, brown, white, black, found mauve"},
        {GROUP "    initial: [{values: [1]}]\n",
         "t.yaml:4:15: expected the key groups.a.initial.0.property, which is missing"},
        {GROUP "    initial: [{property: a, values: [x]}]\n",
         "t.yaml:4:38: groups.a.initial.0.values: expected a list of at most 1024 numbers from "
         "-1e+300 to 1e+300, found x"},
        {GROUP "    switch:\n      - to: rigid\n",
         "t.yaml:5:9: expected the key groups.a.switch.0.when, which is missing"},
        {GROUP "    switch:\n      - {to: auto, when: {at: {time: 1}}}\n",
         "t.yaml:5:14: groups.a.switch.0.to: expected one of kinematic, points, rigid, prescribed, "
         "articulated, own, quasistatic, elastic, found auto"},
        {GROUP "    switch:\n      - {to: rigid, when: {near: {group: b}}}\n",
         "t.yaml:5:9: expected the key groups.a.switch.0.when.near.distance, which is missing"},
        {GROUP "    plugins:\n      - tick: 0.01\n",
         "t.yaml:5:9: expected the key groups.a.plugins.0.file, which is missing"},
        {GROUP "    plugins:\n      - {file: x.so, settings: 3}\n",
         "t.yaml:5:32: groups.a.plugins.0.settings: expected a mapping `name: number`, found 3"},
    };
    expect_each(*state, cases, sizeof cases / sizeof *cases);
}

TEST(mistakes_in_keys_suggest_the_right_one) {
    static const Case cases[] = {
        {"name: x\n", "t.yaml:1:1: expected the key groups, which is missing"},
        {OK_MODEL "search:\n  populaton: 100\n",
         "t.yaml:3:3: search.populaton: unknown key, did you mean search.population?"},
        {OK_MODEL "serach: {fitness: steps}\n",
         "t.yaml:2:1: serach: unknown key, did you mean search?"},
        {OK_MODEL "population: 100\n",
         "t.yaml:2:1: population: unknown key, did you mean search.population?"},
        {GROUP "    motion:\n      points:\n        joint_intervall: 0.08\n",
         "t.yaml:6:9: groups.a.motion.points.joint_intervall: unknown key, did you mean "
         "groups.a.motion.points.joint_interval?"},
        {GROUP "    cuont: 5\n",
         "t.yaml:4:5: groups.a.cuont: unknown key, did you mean groups.a.count?"},
        {GROUP "    switch:\n      - {to: rigid, when: {at: {tme: 1}}}\n",
         "t.yaml:5:33: groups.a.switch.0.when.at.tme: unknown key, did you mean "
         "groups.a.switch.0.when.at.time?"},
        {OK_MODEL "run: {color: red}\n",
         "t.yaml:2:7: run.color: unknown key, expected one of duration"},
        {OK_MODEL "bridges:\n- name: Robo Cup\n",
         "t.yaml:3:9: bridges.Robo Cup.name: expected a name of small letters, digits and _, found "
         "'Robo Cup'"},
        {OK_MODEL "search.fitness: steps\n",
         "t.yaml:2:1: search.fitness: unknown key, did you mean search.fitness?"},
        {OK_MODEL "<<: {a: 1}\n",
         "t.yaml:2:1: <<: unknown key, expected one of name, world, ground, groups, docks, joints, "
         "cameras, scripts, bridges, contact, messages, proximity, air, run, record, search"},
        {OK_MODEL "search:\n  best: 1\n  survivors: 5\n  best: 2\n",
         "t.yaml:5:3: expected each key once, found best again (first in line 3)"},
        {OK_MODEL "search: {population: 9}\nsearch: {survivors: 2}\n",
         "t.yaml:3:1: expected each key once, found search again (first in line 2)"},
        {OK_MODEL "? [a, b]\n: 1\n", "t.yaml:2:3: expected a key, found a list"},
        {OK_MODEL "? {a: b}\n: 1\n", "t.yaml:2:3: expected a key, found a group of keys"},
        {OK_MODEL "\"\": 1\n", "t.yaml:2:1: expected a key of 1 to 255 characters"},
    };
    expect_each(*state, cases, sizeof cases / sizeof *cases);
}

TEST(mistakes_between_keys_are_found) {
    static const Case cases[] = {
        {OK_MODEL
         "search: {population: 20, survivors: 5, verify: {motion: articulated, best: 21}}\n",
         "t.yaml:2:76: search.verify.best: expected at most search.population = 20, found 21"},
        {OK_MODEL "search: {population: 50, survivors: 50}\n",
         "t.yaml:2:37: search.survivors: expected fewer than search.population = 50, found 50"},
        {OK_MODEL "search: {population: 10}\n",
         "t.yaml:2:22: search.survivors: expected fewer than search.population = 10, found 50"},
        {"world: {step: 0.01}\n" GROUP "    motion: {points: {joint_interval: 0.085}}\n",
         "t.yaml:5:39: groups.a.motion.points.joint_interval: expected a multiple of world.step = "
         "0.01 s, found 0.085 s"},
        {"world: {step: 0.01}\n" GROUP "    controller: {gp: {tick: 0.005}}\n",
         "t.yaml:5:29: groups.a.controller.gp.tick: expected at least world.step = 0.01 s, found "
         "0.005 s"},
        {"world: {step: 0.01}\n" GROUP "    controller: {oscillator: {tick: 0.009999}}\n",
         "t.yaml:5:37: groups.a.controller.oscillator.tick: expected at least world.step = 0.01 s, "
         "found 0.009999 s"},
        {"world: {step: 0.01}\n" GROUP "    controller: {gp: {tick: 0.025}}\n",
         "t.yaml:5:29: groups.a.controller.gp.tick: expected a multiple of world.step = 0.01 s, "
         "found 0.025 s"},
        {GROUP "    controller: oscillator\nworld: {step: 0.0015}\n",
         "t.yaml:2:5: groups.a.controller.oscillator.tick: expected a multiple of world.step = "
         "0.0015 s, found 0.08 s"},
        {"world: {step: 0.002}\n" GROUP "    control_interval: 0.003\n",
         "t.yaml:5:23: groups.a.control_interval: expected a multiple of world.step = 0.002 s, "
         "found 0.003 s"},
        {"world: {step: 0.001, switch_interval: 0.0005}\n" GROUP,
         "t.yaml:1:39: world.switch_interval: expected a multiple of world.step = 0.001 s, found "
         "0.0005 s"},
        {"world: {step: 0.001}\n" GROUP "    plugins:\n      - {file: x.so, tick: 0.0015}\n",
         "t.yaml:6:28: groups.a.plugins.0.tick: expected a multiple of world.step = 0.001 s, found "
         "0.0015 s"},
        {OK_MODEL "ground: {file: a.png, amplitude: 1}\n",
         "t.yaml:2:23: ground.amplitude: not used with ground.file"},
        {OK_MODEL "ground: {scale: 2}\n",
         "t.yaml:2:10: ground.scale: only used with ground.file, which is not given"},
        {OK_MODEL "ground: {shape: slope, amplitude: 1.6}\n",
         "t.yaml:2:35: ground.amplitude: expected a slope between -pi/2 and pi/2 rad, found 1.6"},
        {OK_MODEL "record: {every: 0.1}\n",
         "t.yaml:2:17: record.every: expected the key record.file, too"},
        {OK_MODEL "record: {fields: [base.position]}\n",
         "t.yaml:2:18: record.fields: expected the key record.file, too"},
        {OK_MODEL "record: {file: a.csv}\n", "t.yaml:2:16: record.file: expected a name that ends "
                                             "with .h5, .hdf5 or .mcap, found 'a.csv'"},
        {GROUP "  - name: a\n    model: x.urdf\n",
         "t.yaml:4:11: groups.a.name: expected each name once, found it again"},
        {GROUP "    count: 2\n    placement: {poses: [[0, 0, 0]]}\n",
         "t.yaml:5:24: groups.a.placement.poses: expected one for each robot (2), found 1"},
        {GROUP "    placement: {random: {lower: [0, 0, 9], upper: [1, 1, 5]}}\n",
         "t.yaml:4:51: groups.a.placement.random.upper: expected nothing below "
         "placement.random.lower"},
        {GROUP "    motion: quadrotor\n",
         "t.yaml:4:13: groups.a.motion: quadrotor: expected the file of a vehicle (YAML) as model"},
        {GROUP "    motion: own\n",
         "t.yaml:4:13: groups.a.motion: own: expected a plugin that is a motion"},
        {GROUP "    switch:\n      - {to: own, when: {at: {time: 1}}}\n",
         "t.yaml:5:14: groups.a.switch.0.to: own: expected a plugin that is a motion"},
        {GROUP "    switch:\n      - {to: rigid, when: {near: {group: b, distance: 1}}}\n",
         "t.yaml:5:27: groups.a.switch.0.when: expected the name of a group, found 'b'"},
        {GROUP "    behavior: flock\n",
         "t.yaml:4:15: groups.a.behavior: expected hold, gait or snake to wheels for a "
         "robot that is not a vehicle"},
        {GROUP "    behavior: {gait: {name: walk}}\n",
         "t.yaml:4:29: groups.a.behavior.gait.name: expected `walk` in the list gaits"},
    };
    expect_each(*state, cases, sizeof cases / sizeof *cases);
}

TEST(hostile_text_is_refused_in_one_line) {
#define TEXT(literal) literal, sizeof literal - 1
    static const struct {
        const char *text;
        size_t size;
        const char *message;
    } cases[] = {
        {TEXT(""), "t.yaml:1:1: expected keys, found nothing"},
        {TEXT("# only a comment\n"), "t.yaml:1:1: expected keys, found nothing"},
        {TEXT("---\n...\n"), "t.yaml:2:1: expected keys such as groups and world, found nothing"},
        {TEXT("hello\n"), "t.yaml:1:1: expected keys such as groups and world, found hello"},
        {TEXT("- a\n- b\n"), "t.yaml:1:1: expected keys such as groups and world, found a list"},
        {TEXT("\xff\xfem\0o\0"),
         "t.yaml:1:1: expected UTF-8, found UTF-16: save the file as UTF-8"},
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
        {TEXT("model: {file: a\n"), "t.yaml:2:1: expected YAML: did not find expected ',' or '}' "
                                    "while parsing a flow mapping"},
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

TEST(large_files_stop_at_a_limit) {
    char *text = malloc(70000);
    size_t size = 0;
    for (int i = 0; i < 5000; i++)
        size += (size_t)snprintf(text + size, 70000 - size, "k%d: 1\n", i);
    expect(*state, text, size, NULL, 0, "t.yaml:4097:1: expected at most 4096 keys in a group");
    free(text);
    expect(*state, "", (64u << 20) + 1, NULL, 0,
           "t.yaml: expected at most 64 MiB, found 67108865 bytes");
}

// What is no scene is named for what it is.
TEST(other_files_are_named) {
    static const char car[] = "car: {mass: 1}\n", robot[] = "<robot name='r'/>";
    mf_SceneFile *file = NULL;
    mf_Error error = {0};
    expect(*state, car, strlen(car), NULL, 0,
           "t.yaml:1:1: car: this is a vehicle, not a scene; mayfly info describes it, and a group "
           "of a scene uses it (model: t.yaml)");
    // A robot's file is one, but for text without a file.
    assert_int_not_equal(
        mf_scene_file_parse(*state, "t.urdf", robot, strlen(robot), NULL, 0, &file, &error), MF_OK);
    assert_null(file);
    assert_int_equal(mf_scene_file_load(*state, MAYFLY_SOURCE_DIR "/models/crazyflie.yaml", NULL, 0,
                                        &file, &error),
                     MF_UNSUPPORTED);
    assert_null(file);
}

static size_t write_groups(char *text, size_t size, uint32_t count) {
    size_t used = (size_t)snprintf(text, size, "groups:\n");
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "  - {name: g%u, model: a}\n", i);
    return used;
}

TEST(a_scene_has_as_many_groups_as_a_file_has_values) {
    enum { MANY = 50000, SIZE = 32 * MANY };
    char *text = malloc(SIZE);
    mf_SceneFile *file;
    assert_non_null(text);
    const size_t few = write_groups(text, SIZE, 100);
    MUST(mf_scene_file_parse(*state, "t.yaml", text, few, NULL, 0, &file, &error));
    assert_int_equal(file->group_count, 100);
    mf_scene_file_destroy(file);
    const size_t many = write_groups(text, SIZE, MANY);
    expect(*state, text, many, NULL, 0, "t.yaml:43692:5: expected at most 131072 values in a file");
    free(text);
}

TEST(bad_arguments_are_refused) {
    mf_SceneFile *file = (mf_SceneFile *)*state;
    char *text = (char *)*state;
    assert_int_equal(mf_scene_file_parse(*state, NULL, "", 0, NULL, 0, &file, NULL),
                     MF_BAD_ARGUMENT);
    assert_null(file);
    assert_int_equal(mf_scene_file_parse(*state, "a", "", 0, NULL, 1, &file, NULL),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_file_parse(*state, "a", "", 0, NULL, 0, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_file_load(NULL, "a", NULL, 0, &file, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_file_load(*state, "a", NULL, 0, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_file_write(NULL, &text, NULL), MF_BAD_ARGUMENT);
    assert_null(text);
    mf_Error error = {0};
    assert_int_equal(mf_scene_file_load(*state, "/nowhere/at/all.yaml", NULL, 0, &file, &error),
                     MF_NOT_FOUND);
    assert_string_equal(error.file, "/nowhere/at/all.yaml");
    assert_int_equal(mf_scene_file_can_evolve(NULL, &error), MF_BAD_ARGUMENT);
    mf_scene_file_destroy(NULL);
}

TEST(wrong_overrides_are_named) {
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
         "override qqqqqqq=9: qqqqqqq: unknown key, expected one of name, world, ground, groups, "
         "docks, joints, cameras, scripts, bridges, contact, messages, proximity, air, run, "
         "record, search"},
        {{"world..seed", "9"},
         "override world..seed=9: world..seed: unknown key, did you mean world.seed?"},
        {{"search", "9"}, "override search=9: search: expected a group of keys, found 9"},
        {{"world.seed", ""},
         "override world.seed=: world.seed: expected a whole number from 0 to "
         "18446744073709551615, found nothing"},
        {{"search.survivors", "100"},
         "override search.survivors=100: search.survivors: expected fewer than search.population = "
         "100, found 100"},
        {{"ground.scale", "2"},
         "override ground.scale=2: ground.scale: only used with ground.file, which is not given"},
        {{"ground.origin", "[1"},
         "override ground.origin=[1: expected YAML: did not find expected ',' or ']' while parsing "
         "a flow sequence"},
        {{"ground.origin", "[1, x]"},
         "override ground.origin=[1, x]: ground.origin: expected [x, y] in m within -1e9 .. 1e9, "
         "or centered, found a list"},
        {{"name", "a\nb"}, "override name=a?b: name: expected text, found a?b"},
        {{"name", "\xff"}, "override:1:6: expected UTF-8 text, found the byte 0xff"},
        {{NULL, "1"}, "override: path or value is NULL"},
        {{"group.count", NULL}, "override: path or value is NULL"},
        {{"groups.cars.count", "7"},
         "override groups.cars.count=7: no entry is named cars, expected one of a"},
        {{"groups.a.count", "x"},
         "override groups.a.count=x: groups.a.count: expected a whole number from 1 to 67108864, "
         "found x"},
        {{"group.count", "x"},
         "override group.count=x: groups.a.count: expected a whole number from 1 to 67108864, "
         "found x"},
        {{"group.cuont", "2"},
         "override group.cuont=2: groups.a.cuont: unknown key, did you mean groups.a.count?"},
        {{"groups", "5"},
         "override groups=5: groups is a list; name an entry and a key in it: groups.NAME.name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, OK_MODEL, sizeof OK_MODEL - 1, &cases[i].override, 1, cases[i].message);
}

// "group." is the only group: with several it would be anybody's guess.
TEST(group_is_refused_among_several) {
    static const char two[] = "groups: [{name: a, model: a.urdf}, {name: b, model: b.urdf}]\n";
    static const char none[] = "name: x\n";
    static const mf_Override count = {"group.count", "3"};
    expect(*state, two, strlen(two), &count, 1,
           "group.count=3: the scene has 2 groups; name one: --set groups.NAME.count=3");
    expect(*state, none, strlen(none), &count, 1,
           "group.count=3: the scene has 0 groups; name one: --set groups.NAME.count=3");
}

TEST(groups_that_cannot_evolve_give_a_reason) {
    // Without a message: it can.
    static const Case cases[] = {
        {"groups: [{name: a, model: a.urdf, controller: gp}]\n", NULL},
        {"groups: [{name: a, model: a.urdf, controller: oscillator}]\nsearch: {}\n", NULL},
        {OK_MODEL, "t.yaml: expected something to evolve: give group a `controller: gp`, "
                   "`oscillator` or `machine` (--set group.controller=oscillator)"},
        {OK_MODEL "search: {}\n",
         "t.yaml: expected something to evolve: give group a `controller: gp`, `oscillator` or "
         "`machine` (--set group.controller=oscillator)"},
        {"groups: [{name: a, model: a, controller: gp}, {name: b, model: b}, {name: c, model: "
         "c}]\n",
         "t.yaml: expected one group to evolve, found 3: its robots are isolated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_SCENE_FILE *file = NULL;
        mf_Error error = {0};
        char line[900];
        assert_int_equal(mf_scene_file_parse(*state, "t.yaml", cases[i].text, strlen(cases[i].text),
                                             NULL, 0, &file, &error),
                         MF_OK);
        mf_Status status = mf_scene_file_can_evolve(file, &error);
        assert_int_equal(status, cases[i].message == NULL ? MF_OK : MF_UNSUPPORTED);
        if (cases[i].message != NULL)
            assert_string_equal(mf_error_format(&error, line, sizeof line), cases[i].message);
    }
}
