// The foot-contact (gait) diagram: one row for each contact sensor, a bar while it is loaded, for a
// few seconds in the middle of the run; next to it the duty factor, the fraction of the whole run
// with ground contact (Hildebrand 1965 drew gaits this way).
#include "view/report_data.h"

#include <math.h>

#include "view/chart.h"

#define WINDOW_SECONDS 6.0 // [s] shown
#define ROW_HEIGHT 30.0    // [px]
#define LEFT 128.0         // [px] width of the names
#define RIGHT 820.0        // [px] end of the time axis
#define DUTY_LEFT 860.0    // [px]
#define DUTY_WIDTH 90.0    // [px]

static bool touches(const mf_Trial *trial, uint32_t sample, uint32_t foot) {
    return trial->contact[(size_t)sample * trial->contact_count + foot] != 0;
}

static double duty_factor(const mf_Trial *trial, uint32_t foot) {
    uint64_t down = 0;
    for (uint32_t i = 1; i < trial->sample_count; i++) // at the start no sensor has run yet
        down += touches(trial, i, foot);
    return trial->sample_count > 1 ? (double)down / (trial->sample_count - 1) : 0.0;
}

// Name of the contact sensor with that number among contact sensors.
static const char *foot_name(const mf_Model *model, uint32_t foot) {
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == MF_SENSOR_CONTACT && foot-- == 0)
            return model->sensors[i].name;
    return "foot";
}

// Samples [first, end) that the diagram shows.
static void choose_window(const mf_Trial *trial, uint32_t *first, uint32_t *end) {
    uint32_t length = (uint32_t)(WINDOW_SECONDS / trial->sample_period + 0.5);
    uint32_t most = trial->sample_count - 1;
    length = length < 1 ? 1 : length > most ? most : length;
    *first = (trial->sample_count - length) / 2;
    *end = *first + length;
}

static void draw_row(mf_Text *text, const mf_ReportData *data, const mf_Chart *chart, uint32_t foot,
                     uint32_t first, uint32_t end) {
    const mf_Trial *trial = &data->trial;
    double top = 10.0 + ROW_HEIGHT * foot;
    mf_text_format(text, "<text class=\"foot end\" x=\"%.1f\" y=\"%.1f\">", LEFT - 12.0,
                   top + 16.0);
    mf_text_escape(text, foot_name(data->scene.model, foot));
    mf_text_format(text,
                   "</text><rect class=\"lane\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"20\" "
                   "rx=\"3\"/><path class=\"stance\" d=\"",
                   LEFT, top + 1.0, RIGHT - LEFT);
    for (uint32_t i = first; i < end;) {
        uint32_t down = i;
        while (i < end && touches(trial, i, foot))
            i++;
        if (i > down)
            mf_text_format(text, "M%.1f %.1fH%.1fv20H%.1fz",
                           mf_chart_x(chart, down * trial->sample_period), top + 1.0,
                           mf_chart_x(chart, i * trial->sample_period),
                           mf_chart_x(chart, down * trial->sample_period));
        else
            i++;
    }
    double duty = duty_factor(trial, foot);
    mf_text_format(
        text,
        "\"/><rect class=\"lane\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"8\" "
        "rx=\"2\"/><rect class=\"left\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"8\" "
        "rx=\"2\"/><text class=\"tick end\" x=\"996\" y=\"%.1f\">%.0f %%</text>\n",
        DUTY_LEFT, top + 7.0, DUTY_WIDTH, DUTY_LEFT, top + 7.0, DUTY_WIDTH * duty, top + 16.0,
        100.0 * duty);
}

static void draw_time(mf_Text *text, const mf_Chart *chart, double bottom) {
    const mf_Axis *axis = &chart->x;
    mf_text_format(text, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, bottom, RIGHT);
    for (double i = ceil(axis->lower / axis->tick - 1e-9); i * axis->tick <= axis->upper + 1e-9;
         i += 1.0) {
        double x = mf_chart_x(chart, i * axis->tick);
        mf_text_format(text, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", x, bottom);
        mf_text_format(text, "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n", x,
                       bottom + 20.0, axis->decimals, i * axis->tick);
    }
    mf_text_format(text, "<text class=\"name mid\" x=\"%.1f\" y=\"%.1f\">time [s]</text>",
                   0.5 * (LEFT + RIGHT), bottom + 42.0);
    mf_text_format(text, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">duty factor</text>\n",
                   DUTY_LEFT, bottom + 20.0);
}

void mf_report_gait(mf_Text *text, const mf_ReportData *data) {
    const mf_Trial *trial = &data->trial;
    if (trial->contact_count == 0 || trial->sample_count < 2) {
        mf_text_put(text, "<p>This robot has no contact sensors.</p>\n");
        return;
    }
    uint32_t first, end;
    choose_window(trial, &first, &end);
    mf_text_format(
        text,
        "<p>Bars show ground contact. The diagram shows %s from the middle of the run; the duty "
        "factor, the fraction of time with ground contact, is that of the whole run.</p>\n",
        mf_text_duration((end - first) * trial->sample_period).text);
    double bottom = 16.0 + ROW_HEIGHT * trial->contact_count;
    mf_Chart chart = {.width = 1000.0,
                      .height = bottom + 50.0,
                      .left = LEFT,
                      .right = 1000.0 - RIGHT,
                      .x = mf_axis_fit(first * trial->sample_period, end * trial->sample_period, 7,
                                       false, "time [s]")};
    mf_text_format(text,
                   "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Foot contacts over "
                   "time\" xmlns=\"http://www.w3.org/2000/svg\">\n",
                   chart.width, chart.height);
    for (uint32_t foot = 0; foot < trial->contact_count; foot++)
        draw_row(text, data, &chart, foot, first, end);
    draw_time(text, &chart, bottom);
    mf_text_put(text, "</svg>\n");
}
