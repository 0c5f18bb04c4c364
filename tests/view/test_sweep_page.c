// Quartiles against closed forms, and the page of a sweep: what of its results is where.
#include "rig/rig.h"
#include "view/sweep_page.h"
#include "view/chart.h"

GROUP_FIXTURE(setup_context, teardown_context);

TEST(quartiles_are_interpolated) {
    const struct {
        double values[5];
        uint32_t count;
        double expected[5];
    } cases[] = {
        {{3}, 1, {3, 3, 3, 3, 3}},
        {{2, 1}, 2, {1, 1.25, 1.5, 1.75, 2}},
        {{4, 1, 3, 2}, 4, {1, 1.75, 2.5, 3.25, 4}},
        {{50, 10, 40, 20, 30}, 5, {10, 20, 30, 40, 50}},
        // Failures rank lowest; between them and a number there is no value.
        {{NAN, 10, 40, 20, 30}, 5, {NAN, 10, 20, 30, 40}},
        {{NAN, 1, INFINITY}, 3, {NAN, NAN, NAN, NAN, 1}},
        {{0}, 0, {NAN, NAN, NAN, NAN, NAN}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double values[5];
        memcpy(values, cases[i].values, sizeof values);
        const mf_Quartiles found = mf_quartiles(values, cases[i].count);
        const double list[5] = {found.least, found.lower, found.median, found.upper, found.most};
        for (int k = 0; k < 5; k++)
            if (isnan(cases[i].expected[k]) ? !isnan(list[k])
                                            : fabs(list[k] - cases[i].expected[k]) > 1e-12)
                fail_msg("case %zu, cut %d: %g, expected %g", i, k, list[k], cases[i].expected[k]);
    }
}

// The corners of a band, and the gap of a missing value; long ones are thinned and keep the end.
TEST(bands_go_there_and_back) {
    const double x[] = {0, 1, 2, 3}, low[] = {0, 0.2, NAN, 0.4}, high[] = {0.5, 0.6, 0.7, 1};
    mf_Chart chart =
        mf_chart_make(mf_axis_fit(0.0, 3.0, 4, false, "x"), mf_axis_fit(0.0, 1.0, 5, true, "y"));
    mf_Text text = mf_text_begin(*state);
    mf_chart_band(&text, &chart, x, low, high, 4, "s3");
    char expected[300];
    snprintf(expected, sizeof expected,
             "<path class=\"area s3\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f "
             "%.1fZ\"/>\n",
             mf_chart_x(&chart, 3), mf_chart_y(&chart, 0.4), mf_chart_x(&chart, 1),
             mf_chart_y(&chart, 0.2), mf_chart_x(&chart, 0), mf_chart_y(&chart, 0),
             mf_chart_x(&chart, 0), mf_chart_y(&chart, 0.5), mf_chart_x(&chart, 1),
             mf_chart_y(&chart, 0.6), mf_chart_x(&chart, 3), mf_chart_y(&chart, 1));
    assert_string_equal(text.data, expected);
    mf_text_free(&text);
    enum { COUNT = 50000 };
    double *values = calloc(COUNT, sizeof *values);
    for (int i = 0; i < COUNT; i++)
        values[i] = 3.0 * i / (COUNT - 1);
    text = mf_text_begin(*state);
    mf_chart_band(&text, &chart, values, values, values, COUNT, "s3");
    assert_in_range(text.size, 1000, 60000);
    assert_contains(text.data,
                    formatted("L%.1f %.1fZ", mf_chart_x(&chart, 3), mf_chart_y(&chart, 3)));
    mf_text_free(&text);
    free(values);
}

// Ten settings of two seeds, the last without a complete search; the curves are of the eight best.
TEST(the_page_has_the_best_settings) {
    enum { SETTINGS = 10, SEEDS = 2, GENERATIONS = 3 };
    mf_SweepGroup groups[SETTINGS] = {0};
    mf_SweepSearch searches[SETTINGS][SEEDS];
    double values[SETTINGS][SEEDS][GENERATIONS];
    char names[SETTINGS][16];
    for (int i = 0; i < SETTINGS; i++) {
        snprintf(names[i], sizeof names[i], "size=%d<", i);
        for (int k = 0; k < SEEDS; k++) {
            for (int g = 0; g < GENERATIONS; g++)
                values[i][k][g] = i + 10 * g + k;
            searches[i][k] = (mf_SweepSearch){.seed = 7 + k,
                                              .best = values[i][k][GENERATIONS - 1],
                                              .evaluations = 300,
                                              .seconds = 2,
                                              .values = values[i][k],
                                              .generations = GENERATIONS,
                                              .folder = "a/seed-7"};
        }
        groups[i] = (mf_SweepGroup){.name = names[i],
                                    .searches = searches[i],
                                    .count = i == SETTINGS - 1 ? 0 : SEEDS,
                                    .expected = SEEDS};
        MUST(mf_sweep_summarize(*state, &groups[i], &error));
        if (i < SETTINGS - 1)
            assert_true(groups[i].best.median == i + 20.5 && groups[i].evaluations == 300);
    }
    const mf_SweepResults results = {.file = "a&b.yaml",
                                     .scene = "scene.yaml",
                                     .title = "distance",
                                     .unit = "m",
                                     .command = "mayfly sweep",
                                     .groups = groups,
                                     .count = SETTINGS};
    char path[] = MAYFLY_BINARY_DIR "/sweep-page-XXXXXX", *text;
    size_t size;
    close(mkstemp(path));
    MUST(mf_sweep_page_write(*state, &results, path, &error));
    MUST(mf_file_read(*state, path, 1 << 20, &text, &size, &error));
    assert_contains(text, "18 of 20 searches are complete");
    assert_contains(text, "8 of 10 settings");
    assert_contains(text, "best distance [m]");
    assert_contains(text, "a&amp;b.yaml");
    assert_contains(text, "10: size=9&lt;</th><td class=\"num\">0 of 2</td><td class=\"num\">\xe2");
    assert_contains(text, "<a href=\"a/seed-7/report.html\">");
    for (int i = 0; i < 8; i++)
        assert_contains(text, formatted("class=\"area s%d\"", i));
    assert_contains(text, ">2</text>"); // size=1 is the last of the eight
    mf_release(*state, text);
    unlink(path);
}
