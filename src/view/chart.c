// Line charts as SVG. Ticks follow the usual 1-2-5 rule (Heckbert, "Nice numbers for graph labels",
// Graphics Gems, 1990): the tick is the round number nearest above range / ticks.
#include "view/chart.h"

#include <math.h>

#define LINE_POINTS 1600u // [1] longest line before it is thinned

static double round_step(double raw) {
    double unit = pow(10.0, floor(log10(raw)));
    double part = raw / unit;
    double step = part <= 1.0 ? 1.0 : part <= 2.0 ? 2.0 : part <= 5.0 ? 5.0 : 10.0;
    return step * unit;
}

mf_Axis mf_axis_fit(double lower, double upper, uint32_t ticks, bool extend, const char *label) {
    if (!isfinite(lower) || !isfinite(upper)) {
        lower = isfinite(lower) ? lower : isfinite(upper) ? upper : 0.0;
        upper = lower;
    }
    if (!(upper - lower > 1e-9 * (fabs(lower) + fabs(upper)))) {
        double space = lower == 0.0 ? 1.0 : 0.1 * fabs(lower);
        upper = lower + space;
        lower -= lower == 0.0 ? 0.0 : space;
    }
    mf_Axis axis = {.lower = lower, .upper = upper, .label = label};
    axis.tick = round_step((upper - lower) / ticks);
    // log10 of a power of ten may be slightly too small or too large.
    axis.decimals = (int)fmax(0.0, ceil(-log10(axis.tick) - 1e-9));
    if (extend) {
        axis.lower = floor(lower / axis.tick + 1e-9) * axis.tick;
        axis.upper = ceil(upper / axis.tick - 1e-9) * axis.tick;
    }
    return axis;
}

void mf_chart_range(double range[2], const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            range[0] = fmin(range[0], values[i]);
            range[1] = fmax(range[1], values[i]);
        }
    }
}

mf_Chart mf_chart_make(mf_Axis x, mf_Axis y) {
    return (mf_Chart){.width = 1000.0,
                      .height = 330.0,
                      .left = 64.0,
                      .right = 132.0,
                      .top = 14.0,
                      .bottom = 50.0,
                      .x = x,
                      .y = y};
}

// Widens the range about its center to at least this width.
static void widen(double range[2], double width) {
    double space = 0.5 * fmax(0.0, width - (range[1] - range[0]));
    range[0] -= space;
    range[1] += space;
}

mf_Chart mf_chart_make_map(const double x[2], const double y[2], double least, double most,
                           const char *x_label, const char *y_label) {
    mf_Chart chart = mf_chart_make(mf_axis_fit(x[0], x[1], 8, false, x_label),
                                   mf_axis_fit(y[0], y[1], 6, false, y_label));
    double across[2] = {chart.x.lower, chart.x.upper}, up[2] = {chart.y.lower, chart.y.upper};
    const double wide = chart.width - chart.left - chart.right, edge = chart.top + chart.bottom;
    widen(up, 1.1 * (up[1] - up[0]));
    double high = wide * (up[1] - up[0]) / (across[1] - across[0]);
    high = fmax(least - edge, fmin(most - edge, high));
    chart.height = high + edge;
    widen(across, wide / high * (up[1] - up[0]));
    widen(up, high / wide * (across[1] - across[0]));
    chart.x = mf_axis_fit(across[0], across[1], 8, false, x_label);
    chart.y = mf_axis_fit(up[0], up[1], (uint32_t)fmax(2.0, 8.0 * high / wide), false, y_label);
    return chart;
}

double mf_chart_x(const mf_Chart *chart, double value) {
    double span = chart->width - chart->left - chart->right;
    return chart->left + span * (value - chart->x.lower) / (chart->x.upper - chart->x.lower);
}

double mf_chart_y(const mf_Chart *chart, double value) {
    double span = chart->height - chart->top - chart->bottom;
    return chart->height - chart->bottom -
           span * (value - chart->y.lower) / (chart->y.upper - chart->y.lower);
}

static void put_tick(mf_Text *text, const mf_Axis *axis, double value) {
    if (fabs(value) < 1e-9 * axis->tick)
        value = 0.0; // never "-0"
    if (axis->decimals == 0 && value >= 1000.0 && value < 1e15)
        mf_text_put(text, mf_text_count((uint64_t)(value + 0.5)).text);
    else
        mf_text_format(text, "%.*f", axis->decimals, value);
}

static void draw_ticks_y(mf_Text *text, const mf_Chart *chart) {
    const mf_Axis *axis = &chart->y;
    double first = ceil(axis->lower / axis->tick - 1e-9);
    double last = floor(axis->upper / axis->tick + 1e-9);
    for (double i = first; i <= last; i += 1.0) {
        double y = mf_chart_y(chart, i * axis->tick);
        mf_text_format(text, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", chart->left, y,
                       chart->width - chart->right);
        mf_text_format(text, "<text class=\"tick end\" x=\"%.1f\" y=\"%.1f\">", chart->left - 9.0,
                       y + 4.5);
        put_tick(text, axis, i * axis->tick);
        mf_text_put(text, "</text>\n");
    }
}

static void draw_ticks_x(mf_Text *text, const mf_Chart *chart) {
    const mf_Axis *axis = &chart->x;
    double bottom = chart->height - chart->bottom;
    double first = ceil(axis->lower / axis->tick - 1e-9);
    double last = floor(axis->upper / axis->tick + 1e-9);
    for (double i = first; i <= last; i += 1.0) {
        double x = mf_chart_x(chart, i * axis->tick);
        mf_text_format(text, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", x, bottom);
        mf_text_format(text, "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">", x, bottom + 20.0);
        put_tick(text, axis, i * axis->tick);
        mf_text_put(text, "</text>\n");
    }
}

void mf_chart_begin(mf_Text *text, const mf_Chart *chart, const char *title) {
    double bottom = chart->height - chart->bottom;
    double middle_x = 0.5 * (chart->left + chart->width - chart->right);
    double middle_y = 0.5 * (chart->top + bottom);
    mf_text_format(text, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", chart->width,
                   chart->height);
    mf_text_escape(text, title);
    mf_text_put(text, "\" xmlns=\"http://www.w3.org/2000/svg\">\n");
    draw_ticks_y(text, chart);
    mf_text_format(text, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", chart->left, bottom,
                   chart->width - chart->right);
    draw_ticks_x(text, chart);
    mf_text_format(text, "<text class=\"name mid\" x=\"%.1f\" y=\"%.1f\">", middle_x,
                   chart->height - 6.0);
    mf_text_escape(text, chart->x.label);
    mf_text_format(text, "</text>\n<text class=\"name mid\" transform=\"translate(15 %.1f) ",
                   middle_y);
    mf_text_put(text, "rotate(-90)\">");
    mf_text_escape(text, chart->y.label);
    mf_text_put(text, "</text>\n");
}

// Smallest and largest finite y of [first, end), in order of their index.
static uint32_t extremes(const double *y, uint32_t first, uint32_t end, uint32_t picked[2]) {
    uint32_t low = UINT32_MAX, high = UINT32_MAX;
    for (uint32_t i = first; i < end; i++) {
        if (!isfinite(y[i]))
            continue;
        low = low == UINT32_MAX || y[i] < y[low] ? i : low;
        high = high == UINT32_MAX || y[i] > y[high] ? i : high;
    }
    if (low == UINT32_MAX)
        return 0;
    picked[0] = low < high ? low : high;
    picked[1] = low < high ? high : low;
    return low == high ? 1 : 2;
}

static void draw_path(mf_Text *text, const mf_Chart *chart, const double *x, const double *y,
                      uint32_t count, bool closed) {
    uint32_t stride = count > LINE_POINTS ? (count + LINE_POINTS / 2 - 1) / (LINE_POINTS / 2) : 1;
    uint32_t drawn = 0, last = 0;
    for (uint32_t first = 0; first < count; first += stride) {
        uint32_t end = count - first < stride ? count : first + stride;
        uint32_t picked[2];
        uint32_t found = extremes(y, first, end, picked);
        for (uint32_t k = 0; k < found; k++) {
            last = picked[k];
            if (drawn == 0 && closed)
                mf_text_format(text, "M%.1f %.1fL", mf_chart_x(chart, x[last]),
                               chart->height - chart->bottom);
            mf_text_format(text, "%s%.1f %.1f", drawn++ == 0 ? (closed ? "" : "M") : " ",
                           mf_chart_x(chart, x[last]), mf_chart_y(chart, y[last]));
        }
    }
    if (drawn != 0 && closed)
        mf_text_format(text, "V%.1fZ", chart->height - chart->bottom);
    else if (drawn == 1)
        mf_text_put(text, "h0.1"); // round caps draw a single point as a dot
}

void mf_chart_line(mf_Text *text, const mf_Chart *chart, const double *x, const double *y,
                   uint32_t count, const char *css_class, bool filled) {
    if (filled) {
        mf_text_format(text, "<path class=\"area %s\" d=\"", css_class);
        draw_path(text, chart, x, y, count, true);
        mf_text_put(text, "\"/>\n");
    }
    mf_text_format(text, "<path class=\"line %s\" d=\"", css_class);
    draw_path(text, chart, x, y, count, false);
    mf_text_put(text, "\"/>\n");
}

void mf_chart_band(mf_Text *text, const mf_Chart *chart, const double *x, const double *low,
                   const double *high, uint32_t count, const char *css_class) {
    const uint32_t stride = count > LINE_POINTS ? (count + LINE_POINTS - 1) / LINE_POINTS : 1;
    bool any = false;
    mf_text_format(text, "<path class=\"area %s\" d=\"", css_class);
    // Along one line and back along the other; the last point is always one of those drawn.
    for (int back = 0; back < 2; back++)
        for (uint32_t k = 0; k < count; k += stride) {
            const uint32_t i = back == 0 ? count - 1 - k : k + (count - 1) % stride;
            if (!isfinite(low[i]) || !isfinite(high[i]))
                continue;
            mf_text_format(text, "%s%.1f %.1f", any ? "L" : "M", mf_chart_x(chart, x[i]),
                           mf_chart_y(chart, back == 0 ? low[i] : high[i]));
            any = true;
        }
    mf_text_put(text, any ? "Z\"/>\n" : "\"/>\n");
}

void mf_chart_label(mf_Text *text, const mf_Chart *chart, double value, double shift,
                    const char *css_class, const char *label) {
    if (!isfinite(value))
        return;
    mf_text_format(text, "<text class=\"tag %s\" x=\"%.1f\" y=\"%.1f\">", css_class,
                   chart->width - chart->right + 10.0, mf_chart_y(chart, value) + 4.5 + shift);
    mf_text_escape(text, label);
    mf_text_put(text, "</text>\n");
}

void mf_chart_labels(mf_Text *text, const mf_Chart *chart, mf_ChartLabel *labels, uint32_t count) {
    const double line = 17.0; // [px]
    double free = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count; k++)
            if (labels[k].value > labels[i].value) {
                const mf_ChartLabel lower = labels[i];
                labels[i] = labels[k];
                labels[k] = lower;
            }
        const double y = mf_chart_y(chart, labels[i].value);
        const double shift = isfinite(y) ? fmax(0.0, free - y) : 0.0;
        mf_chart_label(text, chart, labels[i].value, shift, labels[i].css_class, labels[i].text);
        free = isfinite(y) ? y + shift + line : free;
    }
}

void mf_chart_end(mf_Text *text) {
    mf_text_put(text, "</svg>\n");
}
