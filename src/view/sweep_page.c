// The page of a sweep: curves of the settings over evaluations with bands over seeds, the final
// fitness of every search, and the table. One file without network access.
//
// A curve is the median over seeds of the best fitness of each generation, its band the two middle
// quarters. Settings can differ in evaluations per generation, so the axis is that of evaluations.
#include "view/sweep_page.h"

#include "view/chart.h"
#include "base/floats.h"
#include "view/report_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES = 8 }; // most settings in the chart; as many colors

// ---- quartiles ---------------------------------------------------------------------------------

static int compare_values(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t count, double share) {
    const double position = share * (count - 1);
    const uint32_t below = (uint32_t)position;
    const uint32_t above = below + 1 < count ? below + 1 : below;
    const double part = position - below;
    if (part == 0.0 || sorted[below] == sorted[above])
        return sorted[below];
    return sorted[below] + part * (sorted[above] - sorted[below]);
}

mf_Quartiles mf_quartiles(double *values, uint32_t count) {
    MF_DEFAULT_FLOATS;
    if (count == 0)
        return (mf_Quartiles){NAN, NAN, NAN, NAN, NAN};
    for (uint32_t i = 0; i < count; i++)
        values[i] = isfinite(values[i]) ? values[i] : -INFINITY;
    qsort(values, count, sizeof *values, compare_values);
    double cuts[5];
    for (int i = 0; i < 5; i++) {
        const double cut = quantile(values, count, 0.25 * i);
        cuts[i] = isfinite(cut) ? cut : NAN;
    }
    return (mf_Quartiles){cuts[0], cuts[1], cuts[2], cuts[3], cuts[4]};
}

mf_Status mf_sweep_summarize(mf_Context *context, mf_SweepGroup *group, mf_Error *error) {
    const uint32_t count = group->count;
    double *values = mf_allocate(context, count, 3 * sizeof *values);
    MF_NEED_MEMORY(count == 0 || values != NULL, error, "sweep");
    for (uint32_t i = 0; i < count; i++) {
        values[i] = group->searches[i].best;
        values[count + i] = group->searches[i].evaluations;
        values[2 * (size_t)count + i] = group->searches[i].seconds;
    }
    group->best = mf_quartiles(values, count);
    group->evaluations = mf_quartiles(values + count, count).median;
    group->seconds = mf_quartiles(values + 2 * (size_t)count, count).median;
    mf_release(context, values);
    return MF_OK;
}

// ---- curves ------------------------------------------------------------------------------------

// The quartiles of a group in each generation, over evaluations.
typedef struct Curve {
    double *evaluations, *lower, *median, *upper; // `count` each, one allocation
    uint32_t count;
} Curve;

static bool make_curve(mf_Context *context, const mf_SweepGroup *group, Curve *out) {
    const uint32_t count = group->searches[0].generations;
    double *values = mf_allocate(context, group->count, sizeof *values);
    double *columns = mf_allocate(context, count, 4 * sizeof *columns);
    *out = (Curve){columns, columns + count, columns + 2 * (size_t)count,
                   columns + 3 * (size_t)count, count};
    for (uint32_t g = 0; g < count && values != NULL && columns != NULL; g++) {
        for (uint32_t i = 0; i < group->count; i++)
            values[i] = group->searches[i].values[g];
        const mf_Quartiles cuts = mf_quartiles(values, group->count);
        out->evaluations[g] = group->evaluations * (g + 1.0) / count;
        out->lower[g] = cuts.lower;
        out->median[g] = cuts.median;
        out->upper[g] = cuts.upper;
    }
    const bool made = values != NULL && columns != NULL;
    mf_release(context, values);
    if (!made)
        mf_release(context, columns);
    return made;
}

static const mf_SweepGroup *better(const mf_SweepGroup *a, const mf_SweepGroup *b) {
    if (a == NULL || (b->best.median == b->best.median && !(a->best.median >= b->best.median)))
        return b;
    return a;
}

// The settings with the best medians, at most CURVES of those with a complete search, in their
// order in the file.
static uint32_t choose(const mf_SweepResults *results, const mf_SweepGroup *chosen[CURVES]) {
    bool taken[CURVES] = {false};
    uint32_t count = 0, shown = 0;
    const mf_SweepGroup *picks[CURVES];
    for (; count < CURVES; count++) {
        const mf_SweepGroup *best = NULL;
        for (uint32_t i = 0; i < results->count; i++) {
            const mf_SweepGroup *group = &results->groups[i];
            bool known = group->count == 0;
            for (uint32_t k = 0; k < count; k++)
                known = known || picks[k] == group;
            best = known ? best : better(best, group);
        }
        if (best == NULL)
            break;
        picks[count] = best;
    }
    for (uint32_t i = 0; i < results->count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (!taken[k] && picks[k] == &results->groups[i]) {
                taken[k] = true;
                chosen[shown++] = picks[k];
            }
    return shown;
}

static void name_axis(const mf_SweepResults *results, char *out, size_t size) {
    if (results->unit[0] == '\0')
        snprintf(out, size, "best %s", results->title);
    else
        snprintf(out, size, "best %s [%s]", results->title, results->unit);
}

static void draw_curves(mf_Text *text, const mf_SweepResults *results,
                        const mf_SweepGroup *const *chosen, const Curve *curves, uint32_t count) {
    static const char *const classes[CURVES] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
    double range[2] = {0.0, 0.0}, most = 1.0;
    for (uint32_t k = 0; k < count; k++) {
        mf_chart_range(range, curves[k].lower, curves[k].count);
        mf_chart_range(range, curves[k].upper, curves[k].count);
        most = fmax(most, curves[k].evaluations[curves[k].count - 1]);
    }
    char axis[96];
    name_axis(results, axis, sizeof axis);
    mf_Chart chart = mf_chart_make(mf_axis_fit(0.0, most, 8, false, "evaluations"),
                                   mf_axis_fit(range[0], range[1], 5, true, axis));
    mf_ChartLabel labels[CURVES];
    mf_chart_begin(text, &chart, "Best fitness over evaluations");
    for (uint32_t k = 0; k < count; k++) {
        const Curve *curve = &curves[k];
        mf_chart_band(text, &chart, curve->evaluations, curve->lower, curve->upper, curve->count,
                      classes[k]);
        mf_chart_line(text, &chart, curve->evaluations, curve->median, curve->count, classes[k],
                      false);
        labels[k] = (mf_ChartLabel){.css_class = classes[k],
                                    .value = chosen[k]->best.median == chosen[k]->best.median
                                                 ? chosen[k]->best.median
                                                 : chart.y.lower};
        snprintf(labels[k].text, sizeof labels[k].text, "%u", // the row of the table
                 1 + (unsigned)(chosen[k] - results->groups));
    }
    mf_chart_labels(text, &chart, labels, count);
    mf_chart_end(text);
}

static void put_curves(mf_Text *text, const mf_SweepResults *results) {
    const mf_SweepGroup *chosen[CURVES];
    Curve curves[CURVES];
    const uint32_t count = choose(results, chosen);
    if (count == 0)
        return;
    mf_report_open(text, "curves", "Best fitness over evaluations");
    mf_text_format(text,
                   "<p>Median over seeds, and the band between the quartiles, of the best %s "
                   "of each generation.",
                   results->title);
    if (count < results->count)
        mf_text_format(text, " %u of %u settings, those with the best medians.", count,
                       results->count);
    mf_text_put(text, " The numbers are those of the table.</p>\n");
    uint32_t made = 0;
    while (made < count && make_curve(text->context, chosen[made], &curves[made]))
        made++;
    text->failed = text->failed || made < count;
    if (made == count)
        draw_curves(text, results, chosen, curves, count);
    while (made > 0)
        mf_release(text->context, curves[--made].evaluations);
    mf_report_close(text);
}

// ---- the table ---------------------------------------------------------------------------------

static void put_number(mf_Text *text, double value) {
    mf_text_format(text, "<td class=\"num\">%s</td>",
                   isfinite(value) ? mf_text_measure(value).text : "\xe2\x80\x93");
}

static void put_group(mf_Text *text, const mf_SweepGroup *group, uint32_t number) {
    mf_text_format(text, "<tr><th class=\"level\">%u: ", number);
    mf_text_escape(text, group->name);
    mf_text_format(text, "</th><td class=\"num\">%u of %u</td>", group->count, group->expected);
    put_number(text, group->best.median);
    put_number(text, group->best.lower);
    put_number(text, group->best.upper);
    put_number(text, group->best.least);
    put_number(text, group->best.most);
    put_number(text, group->evaluations);
    mf_text_format(text, "<td class=\"num\">%s</td></tr>\n",
                   group->count > 0 ? mf_text_duration(group->seconds).text : "\xe2\x80\x93");
}

static void put_table(mf_Text *text, const mf_SweepResults *results) {
    static const char *const heads[] = {"searches", "median", "lower quartile", "upper quartile",
                                        "least",    "most",   "evaluations",    "wall time"};
    char axis[96];
    name_axis(results, axis, sizeof axis);
    mf_report_open(text, "settings", "Settings");
    mf_text_put(text, "<p>The ");
    mf_text_escape(text, axis);
    mf_text_format(text,
                   " at the end of the complete searches%s; medians of evaluations and wall "
                   "time.</p>\n<table class=\"levels wide\">\n<tr><th class=\"level\">setting</th>",
                   results->verified ? ", at the level of <code>search.verify</code>" : "");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        mf_text_format(text, "<th class=\"num\">%s</th>", heads[i]);
    mf_text_put(text, "</tr>\n");
    for (uint32_t i = 0; i < results->count; i++)
        put_group(text, &results->groups[i], i + 1);
    mf_text_put(text, "</table>\n");
    mf_report_close(text);
}

static void put_searches(mf_Text *text, const mf_SweepResults *results) {
    mf_report_open(text, "searches", "Searches");
    mf_text_put(text,
                "<p>The best search of each setting. Every search has a report in its folder.</p>\n"
                "<table class=\"levels wide\">\n<tr><th class=\"level\">setting</th>"
                "<th class=\"num\">seed</th><th class=\"num\">best</th><th>folder</th></tr>\n");
    for (uint32_t i = 0; i < results->count; i++) {
        const mf_SweepGroup *group = &results->groups[i];
        const mf_SweepSearch *best = NULL;
        for (uint32_t k = 0; k < group->count; k++)
            if (best == NULL || !(group->searches[k].best <= best->best))
                best = &group->searches[k];
        if (best == NULL)
            continue;
        mf_text_put(text, "<tr><th class=\"level\">");
        mf_text_escape(text, group->name);
        mf_text_format(text, "</th><td class=\"num\">%llu</td>", (unsigned long long)best->seed);
        put_number(text, best->best);
        mf_text_put(text, "<td><a href=\"");
        mf_text_escape(text, best->folder);
        mf_text_put(text, "/report.html\">");
        mf_text_escape(text, best->folder);
        mf_text_put(text, "</a></td></tr>\n");
    }
    mf_text_put(text, "</table>\n");
    mf_report_close(text);
}

static void put_facts(mf_Text *text, const mf_SweepResults *results) {
    mf_report_open(text, "facts", "How it was made");
    mf_text_put(text, "<table>\n");
    mf_report_row(text, "sweep");
    mf_text_escape(text, results->file);
    mf_report_row_end(text);
    mf_report_row(text, "scene");
    mf_text_escape(text, results->scene);
    mf_report_row_end(text);
    mf_report_row(text, "command");
    mf_text_put(text, "<code>");
    mf_text_escape(text, results->command);
    mf_text_put(text, "</code>");
    mf_report_row_end(text);
    mf_report_row(text, "version");
    mf_text_escape(text, mf_version());
    mf_report_row_end(text);
    mf_text_put(text, "</table>\n");
    mf_report_close(text);
}

static void render(mf_Text *text, const mf_SweepResults *results) {
    uint32_t complete = 0, expected = 0;
    for (uint32_t i = 0; i < results->count; i++) {
        complete += results->groups[i].count;
        expected += results->groups[i].expected;
    }
    mf_text_put(text,
                "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<title>");
    mf_text_escape(text, results->file);
    mf_text_put(text, "</title>\n<style>\n");
    mf_report_style(text);
    mf_text_put(text,
                ".s0{color:var(--accent)}.s1{color:var(--mate)}.s2{color:var(--good)}"
                ".s3{color:var(--elastic)}.s4{color:var(--prescribed)}.s5{color:var(--points)}"
                ".s6{color:var(--quasistatic)}.s7{color:var(--soft)}\n"
                "</style>\n</head><body><main>\n<p class=\"brand\">Mayfly sweep</p>\n<h1>");
    mf_text_escape(text, results->file);
    mf_text_format(text,
                   "</h1>\n<p class=\"lead\"><b>%u</b> setting%s of <b>%u</b> seed%s each: %u of "
                   "%u searches are complete.</p>\n",
                   results->count, results->count == 1 ? "" : "s", results->groups[0].expected,
                   results->groups[0].expected == 1 ? "" : "s", complete, expected);
    put_curves(text, results);
    put_table(text, results);
    put_searches(text, results);
    put_facts(text, results);
    mf_text_put(text, "</main></body></html>\n");
}

mf_Status mf_sweep_page_write(mf_Context *context, const mf_SweepResults *results, const char *path,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Text text = mf_text_begin(context);
    render(&text, results);
    return mf_text_save(&text, path, "sweep", error);
}
