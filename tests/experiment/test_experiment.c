// Experiment files: defaults, every key, overrides, text that is written and read again, and the
// documents made from the table of keys.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mayfly/experiment.h>

#include "experiment/keys.h"

#include "support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mf_Experiment *parse(mf_Context *context, const char *text, const mf_Override *overrides,
                            uint32_t count) {
    mf_Experiment *experiment = NULL;
    mf_Error error = {0};
    char line[900];
    mf_Status status = mf_experiment_parse(context, "scenes/t.yaml", text, strlen(text), overrides,
                                           count, &experiment, &error);
    if (status != MF_OK)
        fail_msg("%s", mf_error_format(&error, line, sizeof line));
    return experiment;
}

#define OK_MODEL "model: {file: a.urdf}\n"

// ---- what is read ------------------------------------------------------------------------------

static void a_file_with_a_model_alone_gets_all_defaults(void **state) {
    mf_Experiment *e = parse(*state, "model: {file: robot.urdf}\n", NULL, 0);
    assert_string_equal(e->file, "scenes/t.yaml");
    assert_string_equal(e->name, "t");
    assert_string_equal(e->model_path, "scenes/robot.urdf");
    assert_null(e->terrain_path);
    assert_int_equal(e->generator.shape, MF_TERRAIN_FLAT);
    assert_true(e->generator.amplitude == 0 && e->generator.wavelength == 1);
    assert_int_equal(e->generator.octaves, 4);
    assert_int_equal(e->terrain.columns, 256);
    assert_int_equal(e->step, 10 * MF_MILLISECOND);
    assert_true(e->gravity == 9.81 && !e->double_precision);
    assert_int_equal(e->controller, MF_CONTROLLER_GP);
    assert_int_equal(e->count, 1);
    assert_true(e->duration == 120);
    assert_int_equal(e->fitness, MF_FITNESS_DISTANCE);
    assert_int_equal(e->motion, MF_MOTION_POINTS);
    assert_int_equal(e->generations, 200);
    assert_int_equal(e->search.genome_bytes, MF_GP_BYTES);
    assert_ptr_equal(e->context, *state);
    mf_experiment_destroy(e);
}

// The defaults of the table are those of the library, so that a program and a file agree.
static void defaults_are_those_of_the_library(void **state) {
    mf_Experiment *e = parse(*state, "model: {file: robot.urdf}\n", NULL, 0);
    mf_ImportConfig import = mf_import_config();
    assert_int_equal(e->import.struct_size, import.struct_size);
    assert_int_equal(e->import.keep_fixed, import.keep_fixed);
    assert_int_equal(e->import.visual, import.visual);
    assert_int_equal(e->import.mesh_points, import.mesh_points);
    assert_true(e->import.density == import.density);
    mf_TerrainConfig terrain = mf_terrain_config();
    assert_int_equal(e->terrain.struct_size, terrain.struct_size);
    assert_true(e->terrain.cell == terrain.cell);
    assert_true(isnan(e->terrain.origin[0]) && isnan(terrain.origin[0]));
    assert_true(isnan(e->terrain.origin[1]) && isnan(terrain.origin[1]));
    assert_int_equal(e->terrain.interpolation, terrain.interpolation);
    mf_WorldConfig world = mf_world_config();
    assert_int_equal(e->step, world.step);
    assert_true(e->gravity == world.gravity);
    mf_PointsConfig points = mf_points_config();
    assert_int_equal(e->points.struct_size, points.struct_size);
    assert_int_equal(e->points.joint_interval, points.joint_interval);
    assert_int_equal(e->points.friction, points.friction);
    assert_int_equal(e->points.weighted, points.weighted);
    assert_true(e->points.friction_coefficient == points.friction_coefficient);
    assert_int_equal(e->points.keep_momentum, points.keep_momentum);
    assert_true(e->points.compliance == points.compliance);
    assert_true(e->points.contact_margin == points.contact_margin);
    mf_GpConfig gp = mf_gp_config();
    assert_int_equal(e->gp.struct_size, gp.struct_size);
    assert_int_equal(e->gp.rate.numerator, gp.rate.numerator);
    assert_int_equal(e->gp.rate.denominator, gp.rate.denominator);
    assert_int_equal(e->gp.instructions_per_tick, gp.instructions_per_tick);
    assert_true(e->gp.angle_per_move == gp.angle_per_move);
    assert_int_equal(e->gp.unknown, gp.unknown);
    mf_OscillatorConfig oscillator = mf_oscillator_config();
    assert_int_equal(e->oscillator.struct_size, oscillator.struct_size);
    assert_int_equal(e->oscillator.rate.numerator, oscillator.rate.numerator);
    assert_int_equal(e->oscillator.rate.denominator, oscillator.rate.denominator);
    mf_SearchConfig search = mf_search_config();
    assert_int_equal(e->search.struct_size, search.struct_size);
    assert_int_equal(e->search.population, search.population);
    assert_int_equal(e->search.survivors, search.survivors);
    assert_true(e->search.mutation_rate == search.mutation_rate);
    assert_int_equal(e->search.reuse_fitness, search.reuse_fitness);
    mf_experiment_destroy(e);
}

static const char full[] =
    "name: \"Say \\\"walk\\\" \\\\ é\"\n"
    "model:\n"
    "  file: ../models/a b.urdf\n"
    "  packages: {one: ../pkg, two: /abs/pkg}\n"
    "  keep_fixed: true\n"
    "  visual: false\n"
    "  mesh_points: 12\n"
    "  density: 1.5e3\n"
    "terrain: {shape: noise, amplitude: 0.25, wavelength: 2, octaves: 6, seed: "
    "18446744073709551615,\n"
    "          columns: 64, rows: 32, cell: 0.05, origin: [-1.5, 2], interpolation: bilinear}\n"
    "world: {step: 0.0005, gravity: 1.62, precision: double}\n"
    "motion:\n"
    "  points: {joint_interval: 0.02, friction: coupled, weighted: true, friction_coefficient: "
    "0.7,\n"
    "           keep_momentum: true, compliance: 0.3, contact_margin: 0}\n"
    "controller: {gp: {tick: 0.02, instructions_per_tick: 3, angle_per_move: 0.1, unknown: "
    "ignore}}\n"
    "fitness: distance\n"
    "run: {robots: 7, duration: 12.5}\n"
    "initial: [{property: base.position.z, values: [0.5]}, {property: \"*/joint.angle\", values: "
    "[-1, 2e-3]}]\n"
    "search: {generations: 5, population: 20, survivors: 19, mutation_rate: 0.1, seed: 99,\n"
    "         reuse_fitness: true}\n";

static void check_full(const mf_Experiment *e) {
    assert_string_equal(e->name, "Say \"walk\" \\ é");
    assert_true(e->import.keep_fixed && !e->import.visual);
    assert_int_equal(e->initial_count, 2);
    assert_string_equal(e->initial[1].path, "*/joint.angle");
    assert_int_equal(e->initial[1].value_count, 2);
    assert_true(e->initial[0].values[0] == 0.5 && e->initial[1].values[1] == 2e-3);
    assert_int_equal(e->import.mesh_points, 12);
    assert_true(e->import.density == 1500);
    assert_int_equal(e->import.package_count, 2);
    assert_string_equal(e->import.packages[1], "two=/abs/pkg");
    assert_int_equal(e->generator.shape, MF_TERRAIN_NOISE);
    assert_true(e->generator.amplitude == 0.25 && e->generator.wavelength == 2);
    assert_int_equal(e->generator.octaves, 6);
    assert_true(e->generator.seed == UINT64_MAX);
    assert_int_equal(e->terrain.columns, 64);
    assert_int_equal(e->terrain.rows, 32);
    assert_true(e->terrain.cell == 0.05);
    assert_true(e->terrain.origin[0] == -1.5 && e->terrain.origin[1] == 2);
    assert_int_equal(e->terrain.interpolation, MF_BILINEAR);
    assert_int_equal(e->step, MF_MILLISECOND / 2);
    assert_true(e->gravity == 1.62 && e->double_precision);
    assert_int_equal(e->points.joint_interval, 20 * MF_MILLISECOND);
    assert_int_equal(e->points.friction, MF_FRICTION_COUPLED);
    assert_true(e->points.weighted && e->points.keep_momentum);
    assert_true(e->points.friction_coefficient == 0.7 && e->points.compliance == 0.3);
    assert_true(e->points.contact_margin == 0);
    assert_int_equal(e->gp.rate.numerator, 50);
    assert_int_equal(e->gp.rate.denominator, 1);
    assert_int_equal(e->gp.instructions_per_tick, 3);
    assert_true(e->gp.angle_per_move == 0.1);
    assert_int_equal(e->gp.unknown, MF_GP_UNKNOWN_IGNORE);
    assert_int_equal(e->count, 7);
    assert_true(e->duration == 12.5);
    assert_int_equal(e->generations, 5);
    assert_int_equal(e->search.population, 20);
    assert_int_equal(e->search.survivors, 19);
    assert_true(e->search.mutation_rate == 0.1 && e->search.seed == 99);
    assert_true(e->search.reuse_fitness);
}

static void every_key_arrives_in_its_place(void **state) {
    mf_Experiment *e = parse(*state, full, NULL, 0);
    check_full(e);
    assert_string_equal(e->model_path, "scenes/../models/a b.urdf");
    assert_string_equal(e->import.packages[0], "one=scenes/../pkg");
    mf_experiment_destroy(e);
}

static void variants_may_be_named_or_filled(void **state) {
    static const struct {
        const char *text;
        mf_ControllerKind kind;
    } cases[] = {
        {"model: {file: a}\ncontroller: gp\n", MF_CONTROLLER_GP},
        {"model: {file: a}\ncontroller:\n", MF_CONTROLLER_GP},
        {"model: {file: a}\ncontroller: none\n", MF_CONTROLLER_NONE},
        {"model: {file: a}\ncontroller: oscillator\n", MF_CONTROLLER_OSCILLATOR},
        {"model: {file: a}\ncontroller: {oscillator: {tick: 0.04}}\nmotion: points\n",
         MF_CONTROLLER_OSCILLATOR},
        {"model: {file: a}\nsearch:\n# all by default\nmotion: {points: }\n", MF_CONTROLLER_GP}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mf_Experiment *e = parse(*state, cases[i].text, NULL, 0);
        assert_int_equal(e->controller, cases[i].kind);
        mf_experiment_destroy(e);
    }
}

static void seconds_become_exact_nanoseconds(void **state) {
    static const struct {
        const char *value;
        mf_Time time;
    } cases[] = {{"0.08", 80000000},  {"1e-6", 1000},       {"0.000123456", 123456},
                 {"1", 1000000000},   {"0.1", 100000000},   {".3", 300000000},
                 {"+0.7", 700000000}, {"33.3E-3", 33300000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "model: {file: a}\nworld: {step: %s}\nmotion: {points: {joint_interval: %s}}\n"
                 "controller: none\n",
                 cases[i].value, cases[i].value);
        mf_Experiment *e = parse(*state, text, NULL, 0);
        assert_int_equal(e->step, cases[i].time);
        assert_int_equal(e->points.joint_interval, cases[i].time);
        mf_experiment_destroy(e);
    }
}

static void terrain_from_an_image(void **state) {
    mf_Experiment *e = parse(
        *state, "model: {file: /m.urdf}\nterrain: {file: hills.pgm, scale: 0.3, offset: -0.1}\n",
        NULL, 0);
    assert_string_equal(e->model_path, "/m.urdf");
    assert_string_equal(e->terrain_path, "scenes/hills.pgm");
    assert_true(e->terrain_scale == 0.3 && e->terrain_offset == -0.1);
    mf_experiment_destroy(e);
}

// ---- overrides ---------------------------------------------------------------------------------

static void overrides_come_before_the_check(void **state) {
    static const mf_Override overrides[] = {{"search.population", "200"},
                                            {"search.survivors", "150"},
                                            {"model.file", "here/robot.urdf"},
                                            {"model.packages.pkg", "there"},
                                            {"world.step", "0.02"},
                                            {"controller.oscillator.tick", "0.04"},
                                            {"terrain.origin", "[1, -2]"},
                                            {"name", "123: [odd"}};
    // Alone, this file would be refused: the population is out of range.
    mf_Experiment *e =
        parse(*state, OK_MODEL "search: {population: 0}\ncontroller: {gp: {tick: 1}}\n", overrides,
              sizeof overrides / sizeof overrides[0]);
    assert_int_equal(e->search.population, 200);
    assert_int_equal(e->search.survivors, 150);
    assert_string_equal(e->model_path, "here/robot.urdf"); // as typed, not beside the file
    assert_string_equal(e->import.packages[0], "pkg=there");
    assert_int_equal(e->step, 20 * MF_MILLISECOND);
    assert_int_equal(e->controller, MF_CONTROLLER_OSCILLATOR);
    assert_int_equal(e->oscillator.rate.numerator, 25);
    assert_true(e->terrain.origin[0] == 1 && e->terrain.origin[1] == -2);
    assert_string_equal(e->name, "123: [odd");
    mf_experiment_destroy(e);
}

static void an_override_changes_where_the_ground_comes_from(void **state) {
    static const mf_Override image[] = {{"terrain.file", "a.png"}, {"terrain.scale", "2"}};
    mf_Experiment *e =
        parse(*state, OK_MODEL "terrain: {shape: sine, amplitude: 3, cell: 0.2}\n", image, 2);
    assert_string_equal(e->terrain_path, "a.png");
    assert_true(e->terrain_scale == 2 && e->terrain.cell == 0.2);
    mf_experiment_destroy(e);
    static const mf_Override shape = {"terrain.shape", "flat"};
    e = parse(*state, OK_MODEL "terrain: {file: a.png, offset: 3, cell: 0.2}\n", &shape, 1);
    assert_null(e->terrain_path);
    assert_true(e->terrain.cell == 0.2);
    mf_experiment_destroy(e);
}

// ---- writing -----------------------------------------------------------------------------------

static char *write_text(const mf_Experiment *experiment) {
    char *text = NULL;
    mf_Error error = {0};
    if (mf_experiment_write(experiment, &text, &error) != MF_OK)
        fail_msg("%s", error.message);
    return text;
}

static void written_text_reads_back_the_same(void **state) {
    static const char *const texts[] = {
        full,
        OK_MODEL,
        OK_MODEL "controller: none\n",
        OK_MODEL "controller: oscillator\n",
        OK_MODEL "terrain: {file: hills.pgm, scale: 0.1}\n",
        OK_MODEL "search: {mutation_rate: 0.1}\nrun: {duration: 0.30000000000000004}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mf_Experiment *first = parse(*state, texts[i], NULL, 0);
        char *once = write_text(first);
        mf_Experiment *second = parse(*state, once, NULL, 0);
        char *twice = write_text(second);
        assert_string_equal(once, twice);
        if (i == 0)
            check_full(second);
        assert_true(first->duration == second->duration);
        assert_true(first->search.mutation_rate == second->search.mutation_rate);
        assert_int_equal(first->controller, second->controller);
        // Names of files point to the same place from everywhere.
        assert_true(second->model_path[0] == '/');
        assert_string_equal(second->model_path + strlen(second->model_path) -
                                strlen(first->model_path),
                            first->model_path);
        mf_release(*state, once);
        mf_release(*state, twice);
        mf_experiment_destroy(first);
        mf_experiment_destroy(second);
    }
}

static void written_text_has_every_default(void **state) {
    mf_Experiment *e = parse(*state, "model: {file: /r.urdf}\n", NULL, 0);
    char *text = write_text(e);
    assert_string_equal(text, "name: \"t\"\n"
                              "model:\n"
                              "  file: \"/r.urdf\"\n"
                              "  keep_fixed: false\n"
                              "  visual: true\n"
                              "  mesh_points: 8\n"
                              "  density: 0 # [kg/m^3]\n"
                              "terrain:\n"
                              "  shape: flat\n"
                              "  amplitude: 0 # [m]\n"
                              "  wavelength: 1 # [m]\n"
                              "  octaves: 4\n"
                              "  seed: 1\n"
                              "  columns: 256\n"
                              "  rows: 256\n"
                              "  cell: 0.1 # [m]\n"
                              "  origin: centered # [m]\n"
                              "  interpolation: nearest\n"
                              "world:\n"
                              "  step: 0.01 # [s]\n"
                              "  gravity: 9.81 # [m/s^2]\n"
                              "  precision: float\n"
                              "motion:\n"
                              "  points:\n"
                              "    joint_interval: 0.08 # [s]\n"
                              "    friction: fit\n"
                              "    weighted: false\n"
                              "    friction_coefficient: .inf\n"
                              "    keep_momentum: false\n"
                              "    compliance: 0.1\n"
                              "    contact_margin: 0.001 # [m]\n"
                              "controller:\n"
                              "  gp:\n"
                              "    tick: 0.08 # [s]\n"
                              "    instructions_per_tick: 8\n"
                              "    angle_per_move: 0.06 # [rad]\n"
                              "    unknown: wrap\n"
                              "servo:\n"
                              "  gain: 0 # [N m/rad]\n"
                              "  damping: 0 # [N m s/rad]\n"
                              "  speed: 0 # [rad/s]\n"
                              "  stiffness: 1\n"
                              "fitness: distance\n"
                              "run:\n"
                              "  duration: 120 # [s]\n"
                              "  robots: 1\n"
                              "search:\n"
                              "  generations: 200\n"
                              "  population: 100\n"
                              "  survivors: 50\n"
                              "  mutation_rate: 0.0625\n"
                              "  seed: 1\n"
                              "  reuse_fitness: false\n"
                              "verify:\n"
                              "  motion: none\n"
                              "  every: 10\n"
                              "  best: 8\n"
                              "  step: 0.001 # [s]\n"
                              "  disparity: 1\n"
                              "  stiffness: 1\n");
    mf_release(*state, text);
    mf_experiment_destroy(e);
}

// A program in a country of decimal commas reads the same numbers.
static void the_locale_does_not_matter(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && found == NULL; i++)
        found = setlocale(LC_ALL, names[i]);
    if (found == NULL) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    mf_Experiment *e = parse(*state, full, NULL, 0);
    check_full(e);
    char *text = write_text(e);
    assert_non_null(strstr(text, "gravity: 1.62"));
    mf_release(*state, text);
    mf_experiment_destroy(e);
    setlocale(LC_ALL, "C");
}

// ---- the table and the documents ---------------------------------------------------------------

static void every_row_of_the_table_is_sound(void **state) {
    (void)state;
    const mf_KeyTable *table = mf_experiment_table();
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_Key *key = &table->keys[i];
        assert_ptr_equal(mf_keys_find(table, key->path, strlen(key->path)), key);
        assert_true(key->lower <= key->upper);
        assert_true(key->description[0] != '\0');
        bool group = key->kind == MF_KEY_SECTION || key->kind == MF_KEY_VARIANT;
        assert_true(group || key->offset < sizeof(mf_Experiment));
        size_t length = mf_key_group_length(key->path);
        if (length == 0)
            continue;
        const mf_Key *outer = mf_keys_find(table, key->path, length);
        assert_non_null(outer);
        assert_true(outer < key); // groups come before what is in them
    }
}

// docs/reference/experiments.md holds the table between two marks; MAYFLY_UPDATE=1 writes it there.
static void the_documents_hold_this_table(void **state) {
    static const char begin[] = "<!-- keys: begin -->\n", end[] = "<!-- keys: end -->";
    char path[1024], *table, *page;
    size_t size;
    snprintf(path, sizeof path, "%s/docs/reference/experiments.md", MAYFLY_SOURCE_DIR);
    assert_int_equal(mf_file_read(*state, path, 1 << 20, &page, &size, NULL), MF_OK);
    assert_int_equal(mf_keys_describe(*state, mf_experiment_table(), true, &table, NULL), MF_OK);
    char *start = strstr(page, begin);
    assert_non_null(start);
    start += strlen(begin);
    char *stop = strstr(start, end);
    assert_non_null(stop);
    if (getenv("MAYFLY_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(start - page), page, table, stop);
        fclose(file);
    } else if ((size_t)(stop - start) != strlen(table) ||
               strncmp(start, table, strlen(table)) != 0) {
        fail_msg(
            "docs/reference/experiments.md is out of date: run this test with MAYFLY_UPDATE=1");
    }
    mf_release(*state, table);
    mf_release(*state, page);
}

static void the_help_text_names_every_key(void **state) {
    char *text;
    assert_int_equal(mf_keys_describe(*state, mf_experiment_table(), false, &text, NULL), MF_OK);
    const mf_KeyTable *table = mf_experiment_table();
    for (uint32_t i = 0; i < table->count; i++)
        assert_non_null(strstr(text, table->keys[i].path));
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *next = strchr(line, '\n');
        assert_true(next != NULL && next - line <= 100);
        line = next + 1;
    }
    mf_release(*state, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_with_a_model_alone_gets_all_defaults),
        cmocka_unit_test(defaults_are_those_of_the_library),
        cmocka_unit_test(every_key_arrives_in_its_place),
        cmocka_unit_test(variants_may_be_named_or_filled),
        cmocka_unit_test(seconds_become_exact_nanoseconds),
        cmocka_unit_test(terrain_from_an_image),
        cmocka_unit_test(overrides_come_before_the_check),
        cmocka_unit_test(an_override_changes_where_the_ground_comes_from),
        cmocka_unit_test(written_text_reads_back_the_same),
        cmocka_unit_test(written_text_has_every_default),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(every_row_of_the_table_is_sound),
        cmocka_unit_test(the_documents_hold_this_table),
        cmocka_unit_test(the_help_text_names_every_key),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
