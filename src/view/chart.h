// Line charts as SVG: axes with round ticks and any number of lines. Colors come from the classes
// that the page's style sheet defines.
#pragma once

#include "base/text.h"

typedef struct mf_Axis {
    double lower;      // [any] value at the low end
    double upper;      // [any] value at the high end, > lower
    double tick;       // [any] distance of ticks, 1, 2 or 5 times a power of ten
    int decimals;      // [1] decimal digits that distinguish ticks
    const char *label; // quantity and unit, as text
} mf_Axis;

// An axis over [lower, upper] with about `ticks` ticks. With `extend` the ends move outwards to
// the next tick. Equal or non-finite ends give a valid axis around them (or around 0).
mf_Axis mf_axis_fit(double lower, double upper, uint32_t ticks, bool extend, const char *label);

// Widens a range to all finite values.
void mf_chart_range(double range[2], const double *values, size_t count);

typedef struct mf_Chart {
    double width, height;            // [px] of the whole drawing
    double left, right, top, bottom; // [px] margins around the plot area
    mf_Axis x, y;
} mf_Chart;

// The shortest chart of the usual width on which a unit of x is as long as one of y, for maps. Axes
// are widened about their centers where necessary; `least` and `most` [px] bound the height.
mf_Chart mf_chart_make_map(const double x[2], const double y[2], double least, double most,
                           const char *x_label, const char *y_label);

// The usual size with space for labels at the right end of lines.
mf_Chart mf_chart_make(mf_Axis x, mf_Axis y);

// Position [px] of a value; values beyond the axis lie beyond the plot area.
double mf_chart_x(const mf_Chart *chart, double value);
double mf_chart_y(const mf_Chart *chart, double value);

// Opens the SVG and draws grid, ticks and labels. `title` is for screen readers.
void mf_chart_begin(mf_Text *text, const mf_Chart *chart, const char *title);
// A line through `count` points; values that are not finite are omitted. Long lines are thinned to
// the smallest and largest value of each pixel. `filled` also shades the area below.
void mf_chart_line(mf_Text *text, const mf_Chart *chart, const double *x, const double *y,
                   uint32_t count, const char *css_class, bool filled);
// The area between two lines; points where either is not finite are omitted.
void mf_chart_band(mf_Text *text, const mf_Chart *chart, const double *x, const double *low,
                   const double *high, uint32_t count, const char *css_class);
// A label at the right edge, level with `value`, moved down by `shift` [px].
void mf_chart_label(mf_Text *text, const mf_Chart *chart, double value, double shift,
                    const char *css_class, const char *label);

typedef struct mf_ChartLabel { // at the end of a line
    const char *css_class;
    double value;
    char text[64];
} mf_ChartLabel;
// Labels at the right edge, sorted from the highest value down, each below the one before.
void mf_chart_labels(mf_Text *text, const mf_Chart *chart, mf_ChartLabel *labels, uint32_t count);
void mf_chart_end(mf_Text *text);
