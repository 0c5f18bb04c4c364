// The report's section on the step: the champion with the step of its evolution and with a smaller
// one. Quasi-static frames have no time, so for machines it is the size of the increments.
#include "base/plain.h"
#include "view/report_data.h"

#include <math.h>

#include "view/chart.h"

// The samples that count.
static void choose_samples(const mf_Trial *trial, uint32_t *first, uint32_t *count) {
    const uint32_t last = trial->sample_count - 1;
    const double end = trial->end / trial->sample_period + 0.5;
    *first = (uint32_t)(trial->begin / trial->sample_period + 0.5);
    *first = *first < last ? *first : last;
    *count = 1 + (end < last ? (uint32_t)end : last) - *first;
}

// Fills time [s] and distance [m] from where it counts for every sample that counts; returns their
// number.
static uint32_t measure_trial(const mf_Trial *trial, double *time, double *distance) {
    uint32_t first, count;
    if (trial->sample_count == 0)
        return 0;
    choose_samples(trial, &first, &count);
    const double *start = &trial->position[3 * (size_t)first];
    for (uint32_t i = 0; i < count; i++) {
        const double *position = &start[3 * (size_t)i];
        time[i] = i * trial->sample_period;
        distance[i] = hypot(position[0] - start[0], position[1] - start[1]);
    }
    return count;
}

static void draw_small_step(mf_Text *text, const mf_ReportData *data) {
    const mf_Trial *trial = &data->trial, *fine = &data->fine;
    const size_t capacity = trial->sample_count, fine_capacity = fine->sample_count;
    double *time = mf_allocate(data->context, 2 * (capacity + fine_capacity), sizeof(double));
    if (time == NULL) {
        text->failed = true;
        return;
    }
    double *distance = time + capacity, *fine_time = distance + capacity;
    double *fine_distance = fine_time + fine_capacity;
    const uint32_t count = measure_trial(trial, time, distance);
    const uint32_t fine_count = measure_trial(fine, fine_time, fine_distance);
    double range[2] = {0.0, 0.0};
    mf_chart_range(range, distance, count);
    mf_chart_range(range, fine_distance, fine_count);
    const double until = fmax(time[count - 1], fine_count > 0 ? fine_time[fine_count - 1] : 0.0);
    mf_Chart chart = mf_chart_make(mf_axis_fit(0.0, until, 8, false, "time [s]"),
                                   mf_axis_fit(0.0, range[1], 5, true, "distance [m]"));
    mf_chart_begin(text, &chart, "Distance from the start over time, with both steps");
    if (fine_count > 0)
        mf_chart_line(text, &chart, fine_time, fine_distance, fine_count, "mean", false);
    mf_chart_line(text, &chart, time, distance, count, "best", false);
    mf_ChartLabel labels[2] = {
        {.css_class = "best", .value = distance[count - 1]},
        {.css_class = "mean", .value = fine_count ? fine_distance[fine_count - 1] : NAN}};
    mf_plain_format(labels[0].text, sizeof labels[0].text, "step %g ms", 1000.0 * trial->step);
    mf_plain_format(labels[1].text, sizeof labels[1].text, "step %g ms", 1000.0 * fine->step);
    mf_chart_labels(text, &chart, labels, 2);
    mf_chart_end(text);
    mf_release(data->context, time);
}

// What walks, and what a smaller step makes smaller.
typedef struct Phrases {
    const char *robot, *walk, *step;
} Phrases;

static void put_verdict(mf_Text *text, const mf_ReportData *data, const Phrases *phrases) {
    double coarse = data->trial.distance, fine = data->fine.distance;
    double change = coarse > 0.0 ? fabs(fine / coarse - 1.0) : INFINITY;
    mf_text_format(text,
                   "<p>With a step of %g ms the champion moves <b>%s m</b>, with a %u times "
                   "smaller step <b>%s m</b>",
                   1000.0 * data->trial.step, mf_text_measure(coarse).text, data->fine_divisor,
                   mf_text_measure(fine).text);
    if (isfinite(change))
        mf_text_format(text, " (ratio %.3f)", fine / coarse);
    mf_text_put(text, ". ");
    if (change <= MF_REPORT_TOLERANCE)
        mf_text_format(text,
                       "<span class=\"good\">Within %.0f %%:</span> the %s does not depend on "
                       "the size of the %s.",
                       100.0 * MF_REPORT_TOLERANCE, phrases->walk, phrases->step);
    else if (isfinite(change))
        mf_text_format(text,
                       "<span class=\"warn\">Beyond %.0f %%:</span> a change of %.0f %% means "
                       "that the %s depends on the size of the %s: the distance is a result of "
                       "this step, not of the %s. Evolve with a smaller "
                       "<code>world.step</code> for a %s that does not.",
                       100.0 * MF_REPORT_TOLERANCE, 100.0 * change, phrases->walk, phrases->step,
                       phrases->robot, phrases->walk);
    else
        mf_text_put(text, "<span class=\"warn\">No ratio:</span> the champion does not move.");
    mf_text_put(text, "</p>\n");
}

void mf_report_small_step(mf_Text *text, const mf_ReportData *data) {
    static const Phrases robot = {"robot", "walk", "step"},
                         machine = {"machine", "crawl", "increments"};
    if (data->fine_divisor > 1)
        put_verdict(text, data, data->machine != NULL ? &machine : &robot);
    else
        mf_text_format(text,
                       "<p>The step of %g ms cannot be reduced further, so there is no "
                       "comparison.</p>\n",
                       1000.0 * data->trial.step);
    draw_small_step(text, data);
}
