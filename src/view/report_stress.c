// The stress of the champion's bars over its trial: each against the least load that it does not
// bear, which is yield for tension, and yield or buckling (Euler) for compression.
#include "view/report_machine.h"

#include "math/scalar.h"
#include "view/chart.h"

enum { ROWS = 24 };  // [1] most bars of the chart
#define ROW 17.0     // [px]
#define MIDDLE 268.0 // [px] where the load is 0
#define REACH 190.0  // [px] to each side

typedef struct Strain {
    double yield, euler;    // [N] loads that a bar does not bear; yield 0: none
    double pulled, pressed; // [1] shares of them
} Strain;

static Strain strain_of(const mf_ReportData *data, uint32_t b) {
    const mf_ReportCrawl *crawl = &data->machine->crawl;
    const mf_Truss truss = mf_machine_truss(&data->machine->kin[0].machine);
    const double d = truss.bars[b].diameter, area = 0.25 * 3.14159265358979323846 * d * d;
    Strain s = {.yield = area * truss.material.yield, .euler = mf_truss_euler_load(&truss, b)};
    s.pulled = s.yield > 0.0 ? crawl->tension[b] / s.yield : 0.0;
    s.pressed = s.euler > 0.0 ? crawl->compression[b] / s.euler : 0.0;
    if (s.yield > 0.0)
        s.pressed = mf_larger(crawl->compression[b] / s.yield, s.pressed);
    return s;
}

static double worst_of(const mf_ReportData *data, uint32_t b) {
    const Strain s = strain_of(data, b);
    return mf_larger(s.pressed, s.pulled);
}

// Bars by their share, the most loaded first.
static void sort_bars(const mf_ReportData *data, uint32_t order[MF_MACHINE_BARS]) {
    double share[MF_MACHINE_BARS];
    for (uint32_t b = 0; b < data->machine->kin[0].machine.bar_count; b++) {
        share[b] = worst_of(data, b);
        uint32_t at = b;
        for (; at > 0 && share[order[at - 1]] < share[b]; at--)
            order[at] = order[at - 1];
        order[at] = b;
    }
}

static void put_picture(mf_Text *text, const mf_ReportData *data, double most) {
    double load[MF_MACHINE_BARS];
    for (uint32_t b = 0; b < data->machine->kin[0].machine.bar_count; b++) {
        const Strain s = strain_of(data, b);
        load[b] = (s.pulled > s.pressed ? s.pulled : -s.pressed) / most;
    }
    mf_report_close_up(text, data, load, "Bars by their largest load: pulled or pressed");
}

static void put_row(mf_Text *text, const mf_ReportData *data, uint32_t b, double y, double full) {
    const Strain s = strain_of(data, b);
    const double left = REACH * s.pressed / full, right = REACH * s.pulled / full;
    mf_text_format(text,
                   "<text class=\"tick end\" x=\"50\" y=\"%.1f\">%u</text><rect class=\"pressed\" "
                   "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\"/><rect class=\"pulled\" "
                   "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\"/>\n",
                   y + 10.5, b, MIDDLE - left, y, left, MIDDLE, y, right);
}

static void put_ticks(mf_Text *text, const mf_Axis *axis, double top, double bottom) {
    for (int k = 1; k * axis->tick <= axis->upper * (1.0 + 1e-9); k++) {
        const double away = REACH * k * axis->tick / axis->upper;
        for (int side = -1; side <= 1; side += 2) {
            const double x = MIDDLE + side * away;
            mf_text_format(text, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, top, bottom);
            mf_text_format(text, "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">%.*f %%</text>\n",
                           x, bottom + 18.0, axis->decimals, k * axis->tick);
        }
    }
}

static void put_chart(mf_Text *text, const mf_ReportData *data, const uint32_t *order,
                      double most) {
    const uint32_t bars = data->machine->kin[0].machine.bar_count;
    const uint32_t rows = bars < ROWS ? bars : ROWS;
    const mf_Axis axis = mf_axis_fit(0.0, 100.0 * most, 3, true, "");
    const double top = 30.0, bottom = top + ROW * rows;
    mf_picture_open(text, 480.0, bottom + 28.0, "fit",
                    "Largest tension and compression of each bar, as shares of its limits");
    put_ticks(text, &axis, top, bottom);
    mf_text_format(text,
                   "<text class=\"tag pressed end\" x=\"%.1f\" y=\"18\">pressed</text>"
                   "<text class=\"tag pulled\" x=\"%.1f\" y=\"18\">pulled</text>"
                   "<text class=\"name end\" x=\"50\" y=\"18\">bar</text>\n",
                   MIDDLE - 10.0, MIDDLE + 10.0);
    for (uint32_t i = 0; i < rows; i++)
        put_row(text, data, order[i], top + ROW * i + 2.5, 0.01 * axis.upper);
    mf_text_format(text, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>\n</svg>\n", MIDDLE, top,
                   bottom);
}

static void put_force(mf_Text *text, double force) {
    mf_text_format(text, "<td class=\"num\">%s</td>", mf_text_measure(force).text);
}

static void put_table(mf_Text *text, const mf_ReportData *data) {
    const mf_Machine *m = &data->machine->kin[0].machine;
    mf_text_put(text, "<details><summary>All bars in numbers</summary>\n<table class=\"levels\">\n"
                      "<tr><th>bar</th><th>vertices</th><th class=\"num\">length [cm]</th><th "
                      "class=\"num\">tension [N]</th><th class=\"num\">compression [N]</th><th "
                      "class=\"num\">yield [N]</th><th class=\"num\">buckling [N]</th><th "
                      "class=\"num\">share</th></tr>\n");
    for (uint32_t b = 0; b < m->bar_count; b++) {
        const Strain s = strain_of(data, b);
        mf_text_format(text, "<tr><td>%u</td><td>%u, %u</td>", b, m->bars[b].ends[0],
                       m->bars[b].ends[1]);
        put_force(text, 100.0 * mf_machine_length(m, b));
        put_force(text, data->machine->crawl.tension[b]);
        put_force(text, data->machine->crawl.compression[b]);
        put_force(text, s.yield);
        put_force(text, s.euler);
        mf_text_format(text, "<td class=\"num\">%s %%</td></tr>\n",
                       mf_text_measure(100.0 * mf_larger(s.pressed, s.pulled)).text);
    }
    mf_text_put(text, "</table>\n</details>\n");
}

static void put_verdict(mf_Text *text, uint32_t bar, double most) {
    mf_text_format(text,
                   "<p>Bars do not bend in this simulation, so two limits are checked: yield, and "
                   "for bars that are pressed also buckling between their joints (Euler). The most "
                   "loaded one is bar %u with <span class=\"%s\">%s %%</span> of its limit",
                   bar, most < 1.0 ? "good" : "warn", mf_text_measure(100.0 * most).text);
    if (most < 1.0 && most > 0.0) {
        mf_text_format(text, ": the machine bears %s times these loads",
                       mf_text_measure(1.0 / most).text);
    }
    mf_text_put(text, ". Loads are the largest of its trial; colors are relative to the most "
                      "loaded bar.</p>\n");
}

void mf_report_stress(mf_Text *text, const mf_ReportData *data) {
    uint32_t order[MF_MACHINE_BARS] = {0};
    if (data->machine->kin[0].machine.actuator_count == 0)
        return;
    sort_bars(data, order);
    const double most = worst_of(data, order[0]);
    mf_report_open(text, "stress", "Stress of its bars");
    put_verdict(text, order[0], most);
    if (most > 0.0) {
        mf_text_put(text, "<div class=\"pair\">\n<div>");
        put_picture(text, data, most);
        mf_text_put(text, "</div>\n<div>");
        put_chart(text, data, order, most);
        mf_text_put(text, "</div>\n</div>\n");
    }
    put_table(text, data);
    mf_report_close(text);
}
