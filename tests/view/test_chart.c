// The axes and lines of charts against expected output.
#include "rig/rig.h"
#include "view/chart.h"

GROUP_FIXTURE(setup_context, teardown_context);

TEST(axes_have_round_ticks) {
    static const struct {
        double lower, upper;
        bool extend;
        double expected_lower, expected_upper, tick;
        int decimals;
    } rows[] = {
        {0.0, 4.25, true, 0.0, 5.0, 1.0, 0},      {0.0, 4.25, false, 0.0, 4.25, 1.0, 0},
        {-0.3, 0.9, true, -0.5, 1.0, 0.5, 1},     {1.0, 1364.0, false, 1.0, 1364.0, 500.0, 0},
        {0.0, 0.012, true, 0.0, 0.015, 0.005, 3}, {0.0, 1e9, true, 0.0, 1e9, 2e8, 0},
        {0.0, 0.0, true, 0.0, 1.0, 0.2, 1},       {NAN, INFINITY, true, 0.0, 1.0, 0.2, 1},
        {5.0, 5.0, false, 4.5, 5.5, 0.2, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mf_Axis axis = mf_axis_fit(rows[i].lower, rows[i].upper, 5, rows[i].extend, "");
        double near = 1e-9 * fabs(rows[i].expected_upper);
        assert_true(fabs(axis.lower - rows[i].expected_lower) <= near);
        assert_true(fabs(axis.upper - rows[i].expected_upper) <= near);
        assert_true(fabs(axis.tick - rows[i].tick) <= 1e-9 * rows[i].tick);
        assert_int_equal(axis.decimals, rows[i].decimals);
    }
}

// A line of 100,000 values with one peak keeps the peak, in a few thousand points.
TEST(long_lines_keep_their_peaks) {
    enum { COUNT = 100000 };
    double *x = calloc(2 * COUNT, sizeof *x), *y = x + COUNT;
    for (int i = 0; i < COUNT; i++)
        x[i] = i;
    y[77777] = 1.0;
    y[5] = NAN; // left out
    mf_Chart chart =
        mf_chart_make(mf_axis_fit(0.0, COUNT, 5, false, "x"), mf_axis_fit(0.0, 1.0, 5, true, "y"));
    mf_Text text = mf_text_begin(*state);
    mf_chart_line(&text, &chart, x, y, COUNT, "best", false);
    assert_non_null(strstr(
        text.data, formatted(" %.1f %.1f", mf_chart_x(&chart, 77777.0), mf_chart_y(&chart, 1.0))));
    assert_null(strstr(text.data, "nan"));
    assert_in_range(text.size, 1000, 40000);
    mf_text_free(&text);
    free(x);
}

// Ways from above: a meter is as long along x as along y, everything is inside, the height is
// bounded.
TEST(maps_have_equal_axes) {
    static const double ranges[][4] = {{0, 1, -0.1, 0.1},    {0, 0.1, 0, 8}, {-3, 3, -3, 3},
                                       {0, 12, 1e-3, 1e-3},  {0, 0, 0, 0},   {5, 5.001, -2, -1},
                                       {NAN, INFINITY, 0, 1}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const double *r = ranges[i];
        mf_Chart chart = mf_chart_make_map(r, r + 2, 160.0, 900.0, "x", "y");
        double x = mf_chart_x(&chart, 1.0) - mf_chart_x(&chart, 0.0);
        double y = mf_chart_y(&chart, 0.0) - mf_chart_y(&chart, 1.0);
        assert_true(x > 0.0 && fabs(x / y - 1.0) < 1e-9);
        assert_true(chart.height >= 160.0 - 1e-9 && chart.height <= 900.0 + 1e-9);
        for (int c = 0; c < 2 && isfinite(r[0]); c++) {
            assert_true(chart.x.lower <= r[c] + 1e-12 && r[c] - 1e-12 <= chart.x.upper);
            assert_true(chart.y.lower <= r[2 + c] + 1e-12 && r[2 + c] - 1e-12 <= chart.y.upper);
        }
    }
}
