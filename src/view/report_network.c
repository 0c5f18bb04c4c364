// The champion's network as a graph: neurons on an ellipse, synapses as arrows by weight and sign,
// actuators beside the neurons that drive them; and the states over the cycles of the trial.
#include "view/report_machine.h"

#include "math/scalar.h"

#define WIDE 1000.0      // [px]
#define NODE 25.0        // [px] radius of a neuron
#define LABELLED 48u     // [1] most synapses whose weights are written
#define LANE_LEFT 118.0  // [px] of the chart
#define LANE_RIGHT 872.0 // [px]
#define POINTS 600u      // [1] most of a line of the chart

typedef struct Node {
    double x, y;     // [px]
    double side, up; // [1] -1 or 1: where its actuators and its loop are
} Node;

typedef struct Graph {
    const mf_ReportMachine *all;
    const mf_Machine *machine;
    Node nodes[MF_MACHINE_NEURONS];
    double width, height; // [px]
    double most;          // [1] largest size of a weight
} Graph;

static Graph lay_out(const mf_ReportData *data) {
    Graph g = {.all = data->machine, .machine = &data->machine->kin[0].machine};
    const uint32_t count = g.machine->neuron_count;
    const double wide = count > 12 ? 290.0 : count > 6 ? 200.0 : 150.0;
    const double high = count < 2    ? 0.0
                        : count < 3  ? 20.0
                        : count < 5  ? 112.0
                        : count < 13 ? 60.0 + 20.0 * count
                                     : 100.0 + 17.0 * count;
    g.width = 2.0 * (wide + NODE + 142.0);
    g.height = 2.0 * (high + NODE + 64.0);
    for (uint32_t n = 0; n < count; n++) {
        double s, c;
        mf_sin_cos(6.283185307179586 * (n + 0.5) / count - 1.5707963267948966, &s, &c);
        g.nodes[n] = (Node){.x = 0.5 * g.width + (count < 2 ? 0.0 : wide * c),
                            .y = 0.5 * g.height + high * s,
                            .side = c > -1e-6 ? 1.0 : -1.0,
                            .up = s < 1e-6 ? -1.0 : 1.0};
    }
    for (uint32_t s = 0; s < g.machine->synapse_count; s++) {
        const double size = mf_abs(g.machine->synapses[s].weight);
        g.most = size > g.most ? size : g.most;
    }
    return g;
}

// ---- synapses ----------------------------------------------------------------------------------

static double width_of(const Graph *g, double weight) {
    return g->most > 0.0 ? 1.2 + 4.3 * mf_abs(weight) / g->most : 1.2;
}

// A triangle whose tip is at x, y.
static void put_head(mf_Text *text, double x, double y, double dx, double dy, double size) {
    const double bx = x - size * dx, by = y - size * dy, half = 0.5 * size;
    mf_text_format(text, "<path class=\"head\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/>", x, y,
                   bx - half * dy, by + half * dx, bx + half * dy, by - half * dx);
}

static void put_weight(mf_Text *text, const Graph *g, double x, double y, double weight) {
    if (g->machine->synapse_count <= LABELLED)
        mf_text_format(text, "<text class=\"note small mid\" x=\"%.1f\" y=\"%.1f\">%s%.1f</text>",
                       x, y + 4.0, weight < 0.0 ? "\xe2\x88\x92" : "", mf_abs(weight));
}

static void put_loop(mf_Text *text, const Graph *g, const Node *node, double weight) {
    const double top = node->y + node->up * NODE, width = width_of(g, weight);
    const double tip = top + node->up * 2.0, away = node->y + node->up * (NODE + 46.0);
    mf_text_format(text,
                   "<path class=\"wire\" stroke-width=\"%.1f\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f "
                   "%.1f %.1f\"/>",
                   width, node->x - 9.0, top - node->up * 2.0, node->x - 26.0, away, node->x + 26.0,
                   away, node->x + 10.0, tip + node->up * (5.0 + width));
    put_head(text, node->x + 7.5, tip, -0.3, -0.954 * node->up, 7.0 + 1.5 * width);
    put_weight(text, g, node->x, node->y + node->up * (NODE + 48.0), weight);
}

// A curve to the left of the straight line, so that there and back are two.
static void put_curve(mf_Text *text, const Graph *g, const Node *a, const Node *b, double weight) {
    const double dx = b->x - a->x, dy = b->y - a->y, size = mf_sqrt(dx * dx + dy * dy);
    const double bend = 0.16, cx = 0.5 * (a->x + b->x) + bend * dy,
                 cy = 0.5 * (a->y + b->y) - bend * dx;
    const double width = width_of(g, weight), head = 7.0 + 1.5 * width;
    // Both ends point to the control point, half the length away but for the bend.
    const double leg = mf_sqrt(0.25 + bend * bend) * size;
    const double ux = (cx - a->x) / leg, uy = (cy - a->y) / leg;
    const double vx = (b->x - cx) / leg, vy = (b->y - cy) / leg, stop = NODE + 3.0;
    mf_text_format(text,
                   "<path class=\"wire\" stroke-width=\"%.1f\" d=\"M%.1f %.1fQ%.1f %.1f %.1f "
                   "%.1f\"/>",
                   width, a->x + NODE * ux, a->y + NODE * uy, cx, cy, b->x - (stop + head) * vx,
                   b->y - (stop + head) * vy);
    put_head(text, b->x - stop * vx, b->y - stop * vy, vx, vy, head);
    put_weight(text, g, 0.5 * cx + 0.2 * a->x + 0.3 * b->x, 0.5 * cy + 0.2 * a->y + 0.3 * b->y,
               weight);
}

static void put_synapse(mf_Text *text, const Graph *g, const mf_Synapse *synapse) {
    const Node *from = &g->nodes[synapse->from], *to = &g->nodes[synapse->to];
    mf_text_format(text, "<g class=\"%s%s\">", synapse->weight < 0.0 ? "inhibits" : "excites",
                   g->all->useful[synapse->to] ? "" : " idle");
    if (from == to)
        put_loop(text, g, to, synapse->weight);
    else
        put_curve(text, g, from, to, synapse->weight);
    mf_text_put(text, "</g>\n");
}

// ---- neurons -----------------------------------------------------------------------------------

// Actuators in a column beside their neuron.
static void put_actuators(mf_Text *text, const Graph *g, uint32_t neuron) {
    const Node *node = &g->nodes[neuron];
    uint32_t count = 0, k = 0;
    for (uint32_t a = 0; a < g->machine->actuator_count; a++)
        count += g->machine->actuators[a].neuron == neuron;
    const double pitch = count > 5 ? 19.0 : 24.0;
    for (uint32_t a = 0; a < g->machine->actuator_count; a++) {
        if (g->machine->actuators[a].neuron != neuron)
            continue;
        const double x = node->x + node->side * (NODE + 74.0);
        const double y = node->y + pitch * (k++ - 0.5 * (count - 1));
        mf_text_format(text,
                       "<path class=\"drives\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>",
                       node->x + node->side * NODE, node->y, node->x + node->side * (NODE + 36.0),
                       node->y, x - node->side * 36.0, y, x, y);
        mf_text_format(text,
                       "<rect class=\"chip\" x=\"%.1f\" y=\"%.1f\" width=\"58\" height=\"17\" "
                       "rx=\"4\"/><text class=\"onchip mid\" x=\"%.1f\" y=\"%.1f\">bar %u</text>\n",
                       node->side > 0.0 ? x : x - 58.0, y - 8.5, x + node->side * 29.0, y + 4.2,
                       g->machine->actuators[a].bar);
    }
}

static void put_neuron(mf_Text *text, const Graph *g, uint32_t n) {
    const mf_Neuron *neuron = &g->machine->neurons[n];
    const Node *node = &g->nodes[n];
    mf_text_format(text, "<g class=\"%s\">", g->all->useful[n] ? "cell" : "cell idle");
    if (neuron->kind == MF_NEURON_SIGMOID)
        mf_text_format(text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.0f\"/>", node->x, node->y,
                       NODE);
    else
        mf_text_format(
            text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"5\"/>",
            node->x - NODE + 2.0, node->y - NODE + 2.0, 2.0 * NODE - 4.0, 2.0 * NODE - 4.0);
    mf_text_format(text,
                   "<text class=\"foot mid\" x=\"%.1f\" y=\"%.1f\">%u</text><text class=\"bias "
                   "mid\" x=\"%.1f\" y=\"%.1f\">%s%.1f</text></g>\n",
                   node->x, node->y, n, node->x, node->y + 14.0,
                   neuron->bias < 0.0 ? "\xe2\x88\x92" : "+", mf_abs(neuron->bias));
}

static void put_graph(mf_Text *text, const mf_ReportData *data) {
    const Graph g = lay_out(data);
    mf_picture_open(text, g.width, g.height, "graph map", "The champion's network");
    for (uint32_t s = 0; s < g.machine->synapse_count; s++)
        put_synapse(text, &g, &g.machine->synapses[s]);
    for (uint32_t n = 0; n < g.machine->neuron_count; n++) {
        put_actuators(text, &g, n);
        put_neuron(text, &g, n);
    }
    mf_text_put(text, "</svg>\n");
}

// ---- states over the cycles --------------------------------------------------------------------

typedef struct Lanes {
    const mf_ReportCrawl *crawl;
    double cycle;  // [s]
    double pitch;  // [px] of a lane
    double top;    // [px] of the next lane
    uint32_t step; // [1] samples from one point to the next
} Lanes;

static double time_x(const Lanes *lanes, uint32_t sample) {
    const mf_ReportCrawl *crawl = lanes->crawl;
    const uint32_t span = crawl->end > crawl->rest ? crawl->end - crawl->rest : 1;
    return LANE_LEFT + (LANE_RIGHT - LANE_LEFT) * (sample - crawl->rest) / span;
}

static void open_lane(mf_Text *text, const Lanes *lanes) {
    mf_text_format(text,
                   "<rect class=\"lane\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                   LANE_LEFT, lanes->top, LANE_RIGHT - LANE_LEFT, lanes->pitch - 6.0);
}

// A row of values of the samples, each between two levels; `fixed`: a value lasts since the sample
// before, and the area below is filled.
static void put_lane(mf_Text *text, Lanes *lanes, const double *values, uint32_t each,
                     const double range[2], bool fixed) {
    const mf_ReportCrawl *crawl = lanes->crawl;
    const double low = lanes->top + lanes->pitch - 8.0, high = lanes->top + 2.0;
    const double size = range[1] > range[0] ? range[1] - range[0] : 1.0;
    open_lane(text, lanes);
    mf_text_format(text, "<path class=\"%s\" d=\"", fixed ? "left" : "line best");
    if (fixed)
        mf_text_format(text, "M%.1f %.1f", LANE_LEFT, low);
    for (uint32_t s = crawl->rest; s <= crawl->end; s += lanes->step) {
        const double part = mf_clamp((values[(size_t)each * s] - range[0]) / size, 0.0, 1.0);
        const double x = time_x(lanes, s), y = low - (low - high) * part;
        if (fixed && s > crawl->rest)
            mf_text_format(text, "V%.1fH%.1f", y, x);
        else if (!fixed)
            mf_text_format(text, "%s%.1f %.1f", s == crawl->rest ? "M" : " ", x, y);
    }
    if (fixed)
        mf_text_format(text, "V%.1fz", low);
    mf_text_put(text, "\"/>");
}

static void name_lane(mf_Text *text, Lanes *lanes, const char *what, uint32_t number) {
    mf_text_format(text, "<text class=\"foot end\" x=\"%.1f\" y=\"%.1f\">%s %u</text>",
                   LANE_LEFT - 12.0, lanes->top + 0.5 * lanes->pitch + 1.5, what, number);
}

static void put_neurons(mf_Text *text, const mf_ReportMachine *all, Lanes *lanes) {
    const mf_Machine *m = &all->kin[0].machine;
    static const double range[2] = {0.0, 1.0};
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        if (!all->useful[n])
            continue;
        put_lane(text, lanes, all->crawl.state + n, m->neuron_count, range, true);
        name_lane(text, lanes, "neuron", n);
        mf_text_format(text, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">0 to 1</text>\n",
                       LANE_RIGHT + 10.0, lanes->top + 0.5 * lanes->pitch + 1.5);
        lanes->top += lanes->pitch;
    }
}

static void put_lengths(mf_Text *text, const mf_ReportMachine *all, Lanes *lanes) {
    const mf_Machine *m = &all->kin[0].machine;
    lanes->top += 8.0;
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        const double range[2] = {m->actuators[a].lower, m->actuators[a].upper};
        put_lane(text, lanes, all->crawl.length + a, m->actuator_count, range, false);
        name_lane(text, lanes, "bar", m->actuators[a].bar);
        mf_text_format(text, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%.1f to %.1f cm</text>\n",
                       LANE_RIGHT + 10.0, lanes->top + 0.5 * lanes->pitch + 1.5, 100.0 * range[0],
                       100.0 * range[1]);
        lanes->top += lanes->pitch;
    }
}

static void put_cycles(mf_Text *text, const Lanes *lanes) {
    const mf_ReportCrawl *crawl = lanes->crawl;
    const uint32_t cycles =
        (uint32_t)((crawl->end - crawl->rest) * crawl->period / lanes->cycle + 1e-9);
    const uint32_t every = cycles / 16 + 1;
    for (uint32_t k = 0; k <= cycles; k += every) {
        const uint32_t s = crawl->rest + (uint32_t)(k * lanes->cycle / crawl->period + 0.5);
        mf_text_format(text, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", time_x(lanes, s),
                       lanes->top);
        mf_text_format(text, "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">%u</text>\n",
                       time_x(lanes, s), lanes->top + 19.0, k);
    }
    mf_text_format(text,
                   "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/><text class=\"name mid\" "
                   "x=\"%.1f\" y=\"%.1f\">cycle</text>\n",
                   LANE_LEFT, lanes->top, LANE_RIGHT, 0.5 * (LANE_LEFT + LANE_RIGHT),
                   lanes->top + 38.0);
}

static uint32_t count_useful(const mf_ReportMachine *all) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < all->kin[0].machine.neuron_count; n++)
        count += all->useful[n];
    return count;
}

static void put_chart(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    const uint32_t rows = count_useful(all) + all->kin[0].machine.actuator_count;
    Lanes lanes = {.crawl = &all->crawl,
                   .cycle = mf_time_to_seconds(data->file->groups[0].machine.cycle),
                   .pitch = rows > 24 ? 24.0 : 34.0,
                   .top = 6.0,
                   .step = (all->crawl.end - all->crawl.rest) / POINTS + 1};
    mf_picture_open(text, WIDE, lanes.pitch * rows + 62.0, "map",
                    "States of neurons and lengths of actuators over the cycles");
    put_neurons(text, all, &lanes);
    put_lengths(text, all, &lanes);
    put_cycles(text, &lanes);
    mf_text_put(text, "</svg>\n");
}

// ---- in words ----------------------------------------------------------------------------------

// Whether the states of a cycle are those `period` cycles before, to 1 %.
static bool repeats(const mf_ReportMachine *all, uint32_t each, uint32_t cycles, uint32_t period) {
    const uint32_t count = all->kin[0].machine.neuron_count;
    for (uint32_t k = cycles; k > cycles - period; k--) {
        const double *now = all->crawl.state + (size_t)count * (all->crawl.rest + k * each);
        const double *before = now - (size_t)count * period * each;
        for (uint32_t n = 0; n < count; n++)
            if (mf_abs(now[n] - before[n]) > 0.01)
                return false;
    }
    return true;
}

static void put_rhythm(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    const mf_ReportCrawl *crawl = &all->crawl;
    const double cycle = mf_time_to_seconds(data->file->groups[0].machine.cycle);
    const uint32_t each = (uint32_t)(cycle / crawl->period + 0.5);
    const uint32_t cycles = each > 0 ? (crawl->end - crawl->rest) / each : 0;
    for (uint32_t period = 1; 2 * period <= cycles; period++) {
        if (!repeats(all, each, cycles, period))
            continue;
        if (period == 1)
            mf_text_put(text, " At the end its states <b>do not change</b> any more, so it has "
                              "stopped.");
        else
            mf_text_format(text, " At the end its states repeat <b>every %u cycles</b>: a gait.",
                           period);
        return;
    }
    if (cycles > 3)
        mf_text_put(text, " Its states do not repeat within the trial.");
}

void mf_report_network(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    const uint32_t count = all->kin[0].machine.neuron_count, useful = count_useful(all);
    mf_report_open(text, "network", "Its network");
    if (count == 0) {
        mf_text_put(text, "<p>It has no neurons.</p>\n");
        mf_report_close(text);
        return;
    }
    mf_text_format(text,
                   "<p>Round neurons are sigmoids, square ones thresholds; below the number is the "
                   "bias. <span class=\"excites\">Orange</span> synapses excite, <span "
                   "class=\"inhibits\">blue</span> ones inhibit, by their weight. Each neuron "
                   "drives the actuators beside it: 0 is their shortest length, 1 the longest.");
    if (useful < count)
        mf_text_format(text, " The pale one%s have no path to an actuator.",
                       count - useful == 1 ? "" : "s");
    if (useful > 0)
        put_rhythm(text, data);
    mf_text_put(text, "</p>\n");
    put_graph(text, data);
    if (useful > 0) {
        mf_text_put(text, "<p>States of the neurons and lengths of the actuators within their "
                          "ranges, from the first cycle to the end of the trial:</p>\n");
        put_chart(text, data);
    }
    mf_report_close(text);
}
