// Descriptors of MAP-Elites in scenes: measures against closed forms, a program's own, and mistakes
// in files.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define GRID                                                                                       \
    "search:\n  replacement: cell\n  selection: uniform\n  descriptors:\n"                         \
    "  - {measure: forward, lower: -2, upper: 2, cells: 4}\n"                                      \
    "  - {measure: sideways, lower: -2, upper: 2}\n"                                               \
    "  - {measure: height, lower: 0, upper: 5, cells: 2}\n"                                        \
    "  - {measure: upright, lower: 0, upper: 1, cells: 3}\n"

// A hexapod in free flight for 2 s at 0.5 m/s along x and 0.2 m/s along y, rolled by 0.4 rad.
static const char flight[] = "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n"
                             "    contact: {shapes: false, self: false}\n    controller: gp\n"
                             "    motion: rigid\n    precision: double\n    initial:\n"
                             "    - {property: base.position, values: [0, 0, 3]}\n"
                             "    - {property: base.linear_velocity, values: [0.5, 0.2, 0]}\n"
                             "    - {property: base.orientation, values: "
                             "[0.98006657784124163, 0.19866933079506122, 0, 0]}\n"
                             "world: {gravity: 0, step: 0.01}\nrun: {duration: 2}\n";

TEST(measures_have_their_closed_forms) {
    AUTO_SCENE_FILE *file = parse_scene(*state, formatted("%s%s", flight, GRID));
    assert_int_equal(file->search.descriptor_count, 4);
    assert_string_equal(file->search.descriptors[1].name, "sideways");
    assert_int_equal(file->search.descriptors[1].cells, 16);
    AUTO_SCENE scene = make_evaluation(*state, file, 20);
    uint32_t bytes = mf_scene_genome_bytes(&scene);
    AUTO(end_memory) uint8_t *genomes = calloc(20, bytes);
    double fitness[20], values[80];
    for (int again = 0; again < 2; again++) {
        MUST(mf_scene_evaluate(&scene, genomes, 20, bytes, fitness, &error));
        MUST(mf_scene_describe(&scene, genomes, 20, bytes, values, &error));
        for (int robot = 0; robot < 20; robot++) {
            assert_near(values[4 * robot], 1.0, 1e-6);
            assert_near(values[4 * robot + 1], 0.4, 1e-6);
            assert_near(values[4 * robot + 2], 3.0, 1e-6);
            assert_near(values[4 * robot + 3], cos(0.4), 1e-6);
        }
    }
    assert_int_equal(mf_scene_describe(&scene, genomes, 21, bytes, values, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_describe(NULL, genomes, 1, bytes, values, NULL), MF_BAD_ARGUMENT);
}

// Robots that stand have a duty factor of 1 with every foot on the ground, and no speed.
TEST(duty_and_speed_of_a_robot_that_stands) {
    AUTO_WHOLE_SCENE scene = make_evaluation(
        *state,
        parse_scene(*state, "groups:\n  - {name: a, model: ../models/hexapod.urdf, controller: gp, "
                            "motion: points}\nworld: {step: 0.005}\nrun: {duration: 3}\n"
                            "search:\n  replacement: cell\n  descriptors:\n"
                            "  - {measure: duty, lower: 0, upper: 1}\n"
                            "  - {measure: speed, lower: 0, upper: 1}\n"),
        1);
    double values[2];
    // Without a genome it idles.
    mf_world_step(scene.world, mf_scene_steps(&scene));
    MUST(mf_scene_describe(&scene, NULL, 1, 0, values, &error));
    if (!(values[0] > 0.8 && values[0] <= 1.0 + 1e-9))
        fail_msg("duty %g", values[0]);
    assert_true(fabs(values[1]) < 0.02);
}

static double count_down(const mf_Scene *scene, uint32_t instance, uint32_t index, void *user) {
    (void)scene;
    return index == 0 ? instance : *(double *)user;
}

TEST(a_program_describes) {
    AUTO_SCENE_FILE *file = parse_scene(*state, formatted("%s%s", flight, GRID));
    double seven = 7, values[12];
    file->hooks.describe = count_down;
    file->hooks.user = &seven;
    AUTO_SCENE scene = make_evaluation(*state, file, 3);
    MUST(mf_scene_describe(&scene, NULL, 3, 0, values, &error));
    for (int robot = 0; robot < 3; robot++) {
        assert_true(values[4 * robot] == robot);
        assert_true(values[4 * robot + 3] == 7);
    }
    assert_null(mf_group_find_field(scene.group, "fitness.upright"));
}

TEST(mistakes_state_their_location) {
#define HEAD "groups: [{name: a, model: a.urdf}]\nsearch:\n"
#define CELL "  replacement: cell\n  descriptors:\n"
    static const char *const cases[][2] = {
        {HEAD "  replacement: cell\n", "t.yaml:3:16: search.replacement: expected "
                                       "search.descriptors with `cell`, found none"},
        {HEAD "  descriptors: [{measure: duty, lower: 0, upper: 1}]\n",
         "search.descriptors: expected `replacement: cell` with descriptors"},
        {HEAD CELL "  - {measure: duty, lower: 1, upper: 1}\n",
         "t.yaml:5:38: search.descriptors.0.upper: expected more than lower = 1, found 1"},
        {HEAD CELL "  - {measure: color, lower: 0, upper: 1}\n",
         "expected one of forward, sideways, height, speed, upright, duty, bars, actuators, found "
         "color"},
        {HEAD CELL "  - {measure: duty, lower: 0}\n", "upper, which is missing"},
        {HEAD CELL "  - {measure: duty, lower: 0, upper: 1, cells: 2048}\n"
                   "  - {measure: speed, lower: 0, upper: 1, cells: 1024}\n",
         "expected at most 1048576 cells in the grid"},
        {HEAD CELL "  - {measure: duty, lower: 0, upper: 1, cells: 1}\n"
                   "  - {measure: duty, lower: 0, upper: 1, cells: 1}\n"
                   "  - {measure: duty, lower: 0, upper: 1, cells: 1}\n"
                   "  - {measure: duty, lower: 0, upper: 1, cells: 1}\n"
                   "  - {measure: duty, lower: 0, upper: 1, cells: 1}\n",
         "expected at most 4, found 5"},
        {HEAD "  protect: 100\n", "search.protect: expected fewer than search.population = 100"},
        {HEAD "  selection: luck\n", "expected one of truncation, proportionate, rank, "
                                     "tournament, uniform, found luck"},
        {HEAD "  selection: rank\n  verify: {motion: rigid}\n",
         "search.verify.motion: expected `selection: truncation`"},
        {HEAD "  islands: 0\n", "search.islands: expected a whole number from 1 to 256, found 0"},
        {HEAD "  islands: 2\n" CELL "  - {measure: duty, lower: 0, upper: 1}\n",
         "t.yaml:3:12: search.islands: expected 1 with `replacement: cell`, found 2"},
        {HEAD "  population: 8192\n  islands: 129\n",
         "search.islands: expected at most 128 with search.population = 8192, found 129"},
        {HEAD "  islands: 2\n  migration: {best: 51}\n",
         "t.yaml:4:21: search.migration.best: expected at most 50, the births of a generation, "
         "found 51"},
        {HEAD "  batch: 0\n", "search.batch: expected a whole number from 1 to 1048576, found 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *error = scene_error(*state, cases[i][0], true);
        assert_contains(formatted("t.yaml%s", error), cases[i][1]);
    }
}

// What is written in a file comes back from its text.
TEST(a_file_is_written_as_it_was_read) {
    char text[2000], *first, *second;
    snprintf(text, sizeof text,
             "%s%s  tournament: 7\n  batch: 3\n  protect: 9\n"
             "  migration: {every: 3, best: 2}\n",
             flight, GRID);
    AUTO_SCENE_FILE *file = parse_scene(*state, text), *again = NULL;
    MUST(mf_scene_file_write(file, &first, &error));
    MUST(mf_scene_file_parse(*state, "t.yaml", first, strlen(first), NULL, 0, &again, &error));
    MUST(mf_scene_file_write(again, &second, &error));
    assert_string_equal(first, second);
    assert_int_equal(again->descriptor_count, 4);
    assert_int_equal(again->search.tournament, 7);
    assert_int_equal(again->search.batch, 3);
    assert_int_equal(again->search.protect, 9);
    assert_int_equal(again->search.migration_every, 3);
    assert_int_equal(again->search.migration_best, 2);
    assert_int_equal(again->search.replacement, MF_REPLACEMENT_CELL);
    mf_release(*state, first);
    mf_release(*state, second);
}
