// Machines as SVG. Hidden lines by the order of drawing: bars from the far to the near one, by
// their middles, each with a gap around it that separates it from what it crosses.
#include "view/machine_picture.h"

#include "math/scalar.h"

#include <string.h>

enum { NUMBERED = 48 }; // [1] bars; of more, actuators alone have numbers
#define SLEEVE 0.6 // [1] length of an actuator's sleeve, share of its shortest length (as in films)
#define FAT 1.2    // [1] radius of a sleeve, share of the bar's
#define THIN 0.62  // [1] radius of a rod
#define RISE 0.34202 // [1] sine of the 20 degrees from which a slanted view looks down
#define RUN 0.93969  // [1] its cosine

// ---- views -------------------------------------------------------------------------------------

mf_MachineView mf_view_side(const double heading[2]) {
    return (mf_MachineView){.right = {heading[0], heading[1], 0},
                            .up = {0, 0, 1},
                            .near = {heading[1], -heading[0], 0},
                            .scale = 1};
}

mf_MachineView mf_view_above(const double heading[2]) {
    return (mf_MachineView){.right = {heading[0], heading[1], 0},
                            .up = {-heading[1], heading[0], 0},
                            .near = {0, 0, 1},
                            .scale = 1};
}

mf_MachineView mf_view_front(const double heading[2]) {
    return (mf_MachineView){.right = {-heading[1], heading[0], 0},
                            .up = {0, 0, 1},
                            .near = {heading[0], heading[1], 0},
                            .scale = 1};
}

// From the azimuth with this cosine and sine.
static mf_MachineView slanted(double c, double s) {
    return (mf_MachineView){.right = {-s, c, 0},
                            .up = {-RISE * c, -RISE * s, RUN},
                            .near = {RUN * c, RUN * s, RISE},
                            .scale = 1};
}

// Sum of the square roots of distances in the view: small where vertices cover each other.
static double clearness(const mf_MachineView *view, const mf_MachinePose *pose) {
    double sum = 0.0, p[2], q[2];
    for (uint32_t i = 0; i < pose->machine->vertex_count; i++) {
        mf_view_point(view, pose->vertex + 3 * i, p);
        for (uint32_t k = 0; k < i; k++) {
            mf_view_point(view, pose->vertex + 3 * k, q);
            const double dx = p[0] - q[0], dy = p[1] - q[1];
            sum += mf_sqrt(mf_sqrt(dx * dx + dy * dy));
        }
    }
    return sum;
}

mf_MachineView mf_view_slanted(const mf_MachinePose *pose) {
    static const double slant[4][2] = {
        {1, 0}, {0.92387953, 0.38268343}, {0.70710678, 0.70710678}, {0.38268343, 0.92387953}};
    mf_MachineView best = slanted(slant[0][0], slant[0][1]);
    double most = -1.0;
    for (int quarter = 0; quarter < 4; quarter++) {
        for (int k = 0; k < 4; k++) {
            double c = slant[k][0], s = slant[k][1];
            for (int q = 0; q < quarter; q++) {
                const double old = c;
                c = -s;
                s = old;
            }
            const mf_MachineView view = slanted(c, s);
            const double value = clearness(&view, pose);
            if (value > most * (1.0 + 1e-9)) {
                most = value;
                best = view;
            }
        }
    }
    return best;
}

void mf_view_point(const mf_MachineView *view, const double point[3], double out[2]) {
    out[0] = view->x + view->scale * mf_vec3_dot(view->right, point);
    out[1] = view->y - view->scale * mf_vec3_dot(view->up, point);
}

mf_Box mf_box_none(void) {
    return (mf_Box){{1e30, 1e30}, {-1e30, -1e30}};
}

void mf_box_add(mf_Box *box, const mf_MachineView *view, const double point[3], double margin) {
    const double at[2] = {mf_vec3_dot(view->right, point), mf_vec3_dot(view->up, point)};
    for (int c = 0; c < 2 && mf_all_finite(at, 2); c++) {
        box->lower[c] = at[c] - margin < box->lower[c] ? at[c] - margin : box->lower[c];
        box->upper[c] = at[c] + margin > box->upper[c] ? at[c] + margin : box->upper[c];
    }
}

void mf_box_add_machine(mf_Box *box, const mf_MachineView *view, const mf_MachinePose *pose) {
    for (uint32_t b = 0; b < pose->machine->bar_count; b++) {
        const mf_TrussBar *bar = &pose->machine->bars[b];
        for (int e = 0; e < 2; e++)
            mf_box_add(box, view, pose->vertex + 3 * bar->ends[e], 0.6 * bar->diameter);
    }
}

void mf_view_fit(mf_MachineView *view, const mf_Box *box, double width, double height,
                 double most) {
    double size[2], middle[2];
    for (int c = 0; c < 2; c++) {
        const bool empty = !(box->lower[c] <= box->upper[c]);
        size[c] = empty ? 1.0 : box->upper[c] - box->lower[c];
        middle[c] = empty ? 0.0 : 0.5 * (box->lower[c] + box->upper[c]);
        size[c] = size[c] > 1e-4 ? size[c] : 1e-4;
    }
    view->scale = width / size[0] < height / size[1] ? width / size[0] : height / size[1];
    view->scale = view->scale < most ? view->scale : most;
    view->x = 0.5 * width - view->scale * middle[0];
    view->y = 0.5 * height + view->scale * middle[1];
}

double mf_pose_ground(const mf_MachinePose *pose) {
    double lowest = 1e30;
    for (uint32_t b = 0; b < pose->machine->bar_count; b++) {
        const mf_TrussBar *bar = &pose->machine->bars[b];
        for (int e = 0; e < 2; e++) {
            const double z = pose->vertex[3 * bar->ends[e] + 2] - 0.5 * bar->diameter;
            lowest = z < lowest ? z : lowest;
        }
    }
    return lowest < 1e30 ? lowest : 0.0;
}

// ---- bars --------------------------------------------------------------------------------------

typedef struct Stick {     // a bar in the drawing
    double from[2], to[2]; // [px]
    double along[2];       // [1]
    double length, radius; // [px]
} Stick;

static Stick stick_of(const mf_MachineView *view, const mf_MachinePose *pose, uint32_t b) {
    const mf_TrussBar *bar = &pose->machine->bars[b];
    Stick s = {.radius = 0.5 * bar->diameter * view->scale};
    mf_view_point(view, pose->vertex + 3 * bar->ends[0], s.from);
    mf_view_point(view, pose->vertex + 3 * bar->ends[1], s.to);
    const double dx = s.to[0] - s.from[0], dy = s.to[1] - s.from[1];
    s.length = mf_sqrt(dx * dx + dy * dy);
    s.along[0] = s.length > 1e-9 ? dx / s.length : 1.0;
    s.along[1] = s.length > 1e-9 ? dy / s.length : 0.0;
    s.radius = s.radius > 0.7 ? s.radius : 0.7;
    return s;
}

// A stroke from `a` to `b` [px] along the bar, moved by `aside` [px] to its left.
static void put_stroke(mf_Text *text, const Stick *s, const char *css_class, double a, double b,
                       double width, double aside) {
    const double x = s->from[0] - aside * s->along[1], y = s->from[1] + aside * s->along[0];
    mf_text_format(text, "<path class=\"%s\" stroke-width=\"%.1f\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
                   css_class, width, x + a * s->along[0], y + a * s->along[1], x + b * s->along[0],
                   y + b * s->along[1]);
}

// A round rod: its rim, its color, and light from the upper left.
static void put_rod(mf_Text *text, const Stick *s, const char *css_class, double a, double b,
                    double radius) {
    const double side = s->along[0] - s->along[1] > 0.0 ? -1.0 : 1.0;
    put_stroke(text, s, "rim", a, b, 2.0 * radius, 0.0);
    if (radius > 1.1)
        put_stroke(text, s, css_class, a, b, 2.0 * radius - (radius > 3.0 ? 1.8 : 1.2), 0.0);
    if (radius > 2.2)
        put_stroke(text, s, "gloss", a, b, 0.5 * radius, 0.4 * radius * side);
}

static uint32_t actuator_of(const mf_Machine *machine, uint32_t bar) {
    for (uint32_t a = 0; a < machine->actuator_count; a++)
        if (machine->actuators[a].bar == bar)
            return a;
    return MF_NONE;
}

// [px] of an actuator's sleeve.
static double sleeve_of(const mf_MachinePose *pose, uint32_t actuator, const Stick *s) {
    const mf_TrussActuator *own = &pose->machine->actuators[actuator];
    const mf_TrussBar *bar = &pose->machine->bars[own->bar];
    double offset[3];
    mf_vec3_sub(offset, pose->vertex + 3 * bar->ends[1], pose->vertex + 3 * bar->ends[0]);
    const double length = mf_vec3_length(offset);
    return length > 0.0 ? s->length * mf_clamp(SLEEVE * own->lower / length, 0.1, 0.9) : 0.0;
}

static void put_bar(mf_Text *text, const mf_MachinePose *pose, const Stick *s, uint32_t b,
                    const double *load) {
    const uint32_t actuator = actuator_of(pose->machine, b);
    const double gap = s->radius > 3.0 ? 4.0 : 2.0, inset = 1.2 * s->radius;
    if (s->length > 2.0 * inset)
        put_stroke(text, s, "gap", inset, s->length - inset, 2.0 * s->radius + gap, 0.0);
    if (load != NULL) {
        put_rod(text, s, "tube", 0.0, s->length, s->radius);
        const double share = mf_clamp(mf_abs(load[b]), 0.0, 1.0);
        mf_text_format(text, "<g opacity=\"%.2f\">", share);
        put_stroke(text, s, load[b] < 0.0 ? "press" : "pull", 0.0, s->length, 2.0 * s->radius - 1.0,
                   0.0);
        mf_text_put(text, "</g>\n");
        return;
    }
    if (actuator == MF_NONE) {
        put_rod(text, s, "tube", 0.0, s->length, s->radius);
    } else {
        put_rod(text, s, "rod", 0.0, s->length, THIN * s->radius);
        put_rod(text, s, "sleeve", 0.0, sleeve_of(pose, actuator, s), FAT * s->radius);
    }
    mf_text_put(text, "\n");
}

// Bars from the far one to the near one; of equals the first one first.
static void sort_bars(const mf_MachineView *view, const mf_MachinePose *pose,
                      uint32_t order[MF_MACHINE_BARS]) {
    double depth[MF_MACHINE_BARS];
    for (uint32_t b = 0; b < pose->machine->bar_count; b++) {
        const uint32_t *ends = pose->machine->bars[b].ends;
        depth[b] = mf_vec3_dot(view->near, pose->vertex + 3 * ends[0]) +
                   mf_vec3_dot(view->near, pose->vertex + 3 * ends[1]);
        uint32_t at = b;
        for (; at > 0 && depth[order[at - 1]] > depth[b]; at--)
            order[at] = order[at - 1];
        order[at] = b;
    }
}

void mf_picture_machine(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose,
                        const double *load) {
    uint32_t order[MF_MACHINE_BARS];
    sort_bars(view, pose, order);
    mf_text_put(text, "<g class=\"truss\">\n");
    for (uint32_t k = 0; k < pose->machine->bar_count; k++) {
        const Stick s = stick_of(view, pose, order[k]);
        put_bar(text, pose, &s, order[k], load);
    }
    mf_text_put(text, "</g>\n");
}

static void put_flat(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose,
                     const char *css_class) {
    mf_text_format(text, "<g class=\"truss %s\">", css_class);
    for (uint32_t b = 0; b < pose->machine->bar_count; b++) {
        const Stick s = stick_of(view, pose, b);
        put_stroke(text, &s, actuator_of(pose->machine, b) == MF_NONE ? "rim" : "rim drive", 0.0,
                   s.length, 2.0 * s.radius, 0.0);
    }
    mf_text_put(text, "</g>\n");
}

void mf_picture_ghost(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose) {
    put_flat(text, view, pose, "ghost");
}

void mf_picture_shadow(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose) {
    double flat[3 * MF_MACHINE_VERTICES];
    const double ground = mf_pose_ground(pose);
    for (uint32_t v = 0; v < pose->machine->vertex_count; v++)
        mf_vec3_set(flat + 3 * v, pose->vertex[3 * v], pose->vertex[3 * v + 1], ground);
    const mf_MachinePose fallen = {pose->machine, flat};
    put_flat(text, view, &fallen, "shade");
}

// ---- signs -------------------------------------------------------------------------------------

void mf_picture_numbers(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose) {
    const bool crowded = pose->machine->bar_count > NUMBERED;
    for (uint32_t b = 0; b < pose->machine->bar_count; b++) {
        const Stick s = stick_of(view, pose, b);
        if (crowded && actuator_of(pose->machine, b) == MF_NONE)
            continue;
        mf_text_format(text, "<text class=\"note mid\" x=\"%.1f\" y=\"%.1f\">%u</text>\n",
                       0.5 * (s.from[0] + s.to[0]), 0.5 * (s.from[1] + s.to[1]) + 4.5, b);
    }
}

void mf_picture_center(mf_Text *text, double x, double y) {
    mf_text_format(text,
                   "<circle class=\"mass\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/><path class=\"heavy\" "
                   "d=\"M%.1f %.1fv-6a6 6 0 0 1 6 6zv6a6 6 0 0 1 -6 -6z\"/>\n",
                   x, y, x, y);
}

void mf_picture_scale(mf_Text *text, double scale, double most, double x, double y) {
    static const double lengths[] = {10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001};
    uint32_t k = 0;
    while (k + 1 < sizeof lengths / sizeof *lengths && lengths[k] * scale > most)
        k++;
    const double pixels = lengths[k] * scale;
    mf_text_format(text, "<path class=\"bar\" d=\"M%.1f %.1fv-5v5h%.1fv-5\"/>", x, y, pixels);
    mf_text_format(text, "<text class=\"note mid\" x=\"%.1f\" y=\"%.1f\">%g %s</text>\n",
                   x + 0.5 * pixels, y - 8.0, lengths[k] >= 1.0 ? lengths[k] : 100.0 * lengths[k],
                   lengths[k] >= 1.0 ? "m" : "cm");
}

void mf_picture_open(mf_Text *text, double width, double height, const char *css_class,
                     const char *title) {
    mf_text_format(text, "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
                   css_class, width, height);
    mf_text_escape(text, title);
    mf_text_put(text, "\" xmlns=\"http://www.w3.org/2000/svg\">\n");
}
