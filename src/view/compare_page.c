// The page of a comparison: a table of levels, plots over time with one line per level, the path
// from above, and the limits of each level. One file without network access.
#include "body/compare.h"

#include "view/chart.h"
#include "base/floats.h"
#include "view/report_data.h"

#include <math.h>
#include <string.h>

// A number of a table cell, or a dash.
static void put_number(mf_Text *text, double value, double scale) {
    mf_text_put(text, "<td class=\"num\">");
    if (isfinite(value))
        mf_text_put(text, mf_text_measure(value * scale).text);
    else
        mf_text_put(text, "\xe2\x80\x93");
    mf_text_put(text, "</td>");
}

static void put_seen(mf_Text *text, const mf_CompareRow *row) {
    mf_text_put(text, "<td>");
    if (!row->possible)
        mf_text_escape(text, row->reason);
    else if (!row->finished)
        mf_text_format(text, "fault %u", row->fault);
    else if (isfinite(row->fell))
        mf_text_format(text, "fell at %.2f s", row->fell);
    else
        mf_text_put(text, "stays up");
    mf_text_put(text, "</td>");
}

// A file's name as an address that is relative to the page.
static void put_address(mf_Text *text, const char *name) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    for (; *name != '\0'; name++)
        if (strchr(plain, *name) != NULL)
            mf_text_format(text, "%c", *name);
        else
            mf_text_format(text, "%%%02X", (unsigned)(uint8_t)*name);
}

// The level's name, a link to its film where there is one.
static void put_name(mf_Text *text, const mf_CompareRow *row) {
    const char *name = mf_motion_name(row->motion);
    mf_text_format(text, "<tr><th class=\"level %s\">%s", mf_motion_name(row->motion), name);
    if (row->film[0] != '\0') {
        mf_text_put(text, " <a href=\"");
        put_address(text, row->film);
        mf_text_put(text, "\">film</a>");
    }
    mf_text_put(text, "</th>");
}

static void put_level(mf_Text *text, const mf_CompareRow *row) {
    put_name(text, row);
    if (!row->possible) {
        mf_text_put(text, "<td colspan=\"9\">");
        mf_text_escape(text, row->reason);
        mf_text_put(text, "</td></tr>\n");
        return;
    }
    put_number(text, row->forward, 1.0);
    put_number(text, row->heading_change, 1.0);
    put_number(text, row->position_error, 1.0);
    put_number(text, row->heading_error, 1.0);
    put_number(text, row->height_error, 1e3);
    put_number(text, row->tilt_error, 1.0);
    put_number(text, row->energy_error, 1.0);
    put_number(text, row->seconds, 1e9);
    put_seen(text, row);
    mf_text_put(text, "</tr>\n");
}

static void put_ground_row(mf_Text *text, const mf_CompareRow *row) {
    if (!row->possible)
        return;
    mf_text_format(text, "<tr><th class=\"level %s\">%s</th>", mf_motion_name(row->motion),
                   mf_motion_name(row->motion));
    put_number(text, row->height, 1.0);
    put_number(text, row->tilt, 1.0);
    put_number(text, row->penetration, 1e3);
    put_number(text, row->slip, 1e3);
    mf_text_put(text, "<td>");
    mf_text_escape(text, mf_motion_limitation(row->motion));
    mf_text_put(text, "</td></tr>\n");
}

static void put_body(mf_Text *text, const mf_CompareRow *row) {
    put_name(text, row);
    put_number(text, row->forward, 1.0);
    put_number(text, row->position_error, 1e3);
    put_number(text, row->height_error, 1e3);
    put_number(text, row->vertex_error, 1e3);
    put_number(text, row->energy_error, 1.0);
    put_number(text, row->force, 1.0);
    put_number(text, row->penetration, 1e3);
    put_number(text, row->slip, 1e3);
    put_number(text, row->step, 1e3);
    put_number(text, row->seconds / row->step, 1e6);
    mf_text_put(text, "<td>");
    mf_text_escape(text, mf_motion_limitation(row->motion));
    mf_text_put(text, "</td></tr>\n");
}

static void put_bodies(mf_Text *text, const mf_Comparison *all) {
    static const char *const heads[] = {"forward m", "position mm", "height mm",  "vertices mm",
                                        "energy J",  "bar N",       "deepest mm", "slip mm/s",
                                        "step ms",   "cost us"};
    mf_text_format(text,
                   "<section><h2>Levels</h2>\n<p>Errors are root mean squares of the difference to "
                   "<b>%s</b> over the whole run, of vertices the largest at the end. The cost is "
                   "the processor time of one second of one %s in a batch of %u (%s).</p>\n"
                   "<table>\n<tr><th class=\"level\">level</th>",
                   mf_motion_name(all->reference), all->body, all->cost_robots,
                   mf_isa_name(all->isa));
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        mf_text_format(text, "<th class=\"num\">%s</th>", heads[i]);
    mf_text_put(text, "<th>not modeled</th></tr>\n");
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].possible)
            put_body(text, &all->rows[i]);
    mf_text_put(text, "</table>\n</section>\n");
}

static void put_tables(mf_Text *text, const mf_Comparison *all) {
    mf_text_format(
        text,
        "<section><h2>Levels</h2>\n<p>Errors are root mean squares of the difference to "
        "<b>%s</b> over the whole run. The cost is the processor time of one step of one "
        "robot in a batch of %u on %u thread%s (%s).</p>\n<table class=\"levels wide\">\n"
        "<tr><th class=\"level\">level</th>",
        mf_motion_name(all->reference), all->cost_robots, all->threads,
        all->threads == 1 ? "" : "s", mf_isa_name(all->isa));
    static const char *const heads[] = {"forward m", "turn rad", "position m", "heading rad",
                                        "height mm", "tilt rad", "energy J",   "cost ns"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        mf_text_format(text, "<th class=\"num\">%s</th>", heads[i]);
    mf_text_put(text, "<th>observed</th></tr>\n");
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].possible || all->rows[i].reason[0] != '\0')
            put_level(text, &all->rows[i]);
    mf_text_put(
        text,
        "</table>\n</section>\n<section><h2>On the ground</h2>\n<table class=\"levels wide\">\n"
        "<tr><th class=\"level\">level</th><th class=\"num\">mean height m</th>"
        "<th class=\"num\">largest tilt rad</th>"
        "<th class=\"num\">largest penetration mm</th>"
        "<th class=\"num\">slip of feet mm/s</th><th>not modeled</th></tr>\n");
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        put_ground_row(text, &all->rows[i]);
    mf_text_put(text, "</table>\n</section>\n");
}

// ---- plots -------------------------------------------------------------------------------------

typedef enum Series { TIME, X, Y, HEADING, HEIGHT, TILT, ENERGY, SERIES } Series;

static double value_of(const mf_CompareSample *sample, Series series) {
    const double values[SERIES] = {sample->time,    sample->position[0], sample->position[1],
                                   sample->heading, sample->position[2], sample->tilt,
                                   sample->energy};
    return values[series];
}

static void widen(const mf_Comparison *all, Series series, double range[2]) {
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        for (uint32_t s = 0; s < all->rows[i].sample_count; s++) {
            double value = value_of(&all->rows[i].samples[s], series);
            range[0] = isfinite(value) ? fmin(range[0], value) : range[0];
            range[1] = isfinite(value) ? fmax(range[1], value) : range[1];
        }
}

static void put_line(mf_Text *text, const mf_Chart *chart, const mf_CompareRow *row, Series x,
                     Series y, double shift) {
    double *values = mf_allocate(text->context, row->sample_count, 2 * sizeof *values);
    text->failed = text->failed || values == NULL;
    if (values == NULL)
        return;
    for (uint32_t s = 0; s < row->sample_count; s++) {
        values[s] = value_of(&row->samples[s], x);
        values[row->sample_count + s] = value_of(&row->samples[s], y);
    }
    mf_chart_line(text, chart, values, values + row->sample_count, row->sample_count,
                  mf_motion_name(row->motion), false);
    mf_chart_label(text, chart, chart->y.upper, shift, mf_motion_name(row->motion),
                   mf_motion_name(row->motion));
    mf_release(text->context, values);
}

static void put_chart(mf_Text *text, const mf_Comparison *all, const char *title, Series x,
                      Series y, const mf_Chart *chart) {
    double shift = 8.0;
    mf_text_put(text, "<section><h2>");
    mf_text_escape(text, title);
    mf_text_put(text, "</h2>\n");
    mf_chart_begin(text, chart, title);
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        if (all->rows[i].sample_count == 0)
            continue;
        put_line(text, chart, &all->rows[i], x, y, shift);
        shift += 18.0;
    }
    mf_chart_end(text);
    mf_text_put(text, "</section>\n");
}

static void put_plot(mf_Text *text, const mf_Comparison *all, const char *title, Series x, Series y,
                     const char *x_label, const char *y_label) {
    double across[2], up[2];
    widen(all, x, across);
    widen(all, y, up);
    mf_Chart chart = mf_chart_make(mf_axis_fit(across[0], across[1], 8, false, x_label),
                                   mf_axis_fit(up[0], up[1], 6, true, y_label));
    put_chart(text, all, title, x, y, &chart);
}

// Equal scale in x and y.
static void put_map(mf_Text *text, const mf_Comparison *all) {
    double x[2], y[2];
    widen(all, X, x);
    widen(all, Y, y);
    mf_Chart chart = mf_chart_make_map(x, y, 160.0, 900.0, "x [m]", "y [m]");
    put_chart(text, all, "The path from above", X, Y, &chart);
}

static void render(mf_Text *text, const mf_Comparison *all) {
    mf_text_put(text,
                "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<title>");
    mf_text_escape(text, all->model);
    mf_text_put(text, " at every level</title>\n<style>\n");
    mf_report_style(text);
    mf_text_put(text,
                "</style>\n</head><body><main>\n<p class=\"brand\">Mayfly comparison</p>\n<h1>");
    mf_text_escape(text, all->model);
    mf_text_put(text, ": ");
    mf_text_escape(text, all->gait);
    if (all->body != NULL)
        mf_text_format(text,
                       "</h1>\n<p class=\"lead\">The same %s and the same commands for "
                       "<b>%.6g s</b>, quasi-static and with inertia.</p>\n",
                       all->body, all->duration);
    else
        mf_text_format(
            text,
            "</h1>\n<p class=\"lead\">The same robot and the same gait for <b>%.6g s</b> at "
            "every level of physics, commanded %.6g m/s forward, %.6g m/s left and "
            "%.6g rad/s.</p>\n",
            all->duration, all->command[0], all->command[1], all->command[2]);
    if (all->body != NULL)
        put_bodies(text, all);
    else
        put_tables(text, all);
    put_map(text, all);
    put_plot(text, all, "Forward", TIME, X, "time [s]", "x [m]");
    if (all->body == NULL)
        put_plot(text, all, "Heading", TIME, HEADING, "time [s]", "heading [rad]");
    put_plot(text, all, "Height of the base", TIME, HEIGHT, "time [s]", "height [m]");
    if (all->body == NULL)
        put_plot(text, all, "Tilt", TIME, TILT, "time [s]", "tilt [rad]");
    put_plot(text, all, "Energy", TIME, ENERGY, "time [s]", "kinetic and potential [J]");
    mf_text_put(text, "</main></body></html>\n");
}

mf_Status mf_comparison_write(const mf_Comparison *comparison, const char *path, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(comparison != NULL && path != NULL, error, "compare: comparison or path is NULL");
    mf_Text text = mf_text_begin(comparison->context);
    render(&text, comparison);
    return mf_text_save(&text, path, "compare", error);
}
