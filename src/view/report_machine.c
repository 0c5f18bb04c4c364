// The page of a run of machines: how the champion crawls, what it is, and where it went. What the
// pictures show of the network, of stress and of relatives is in files of their own.
#include "view/report_machine.h"

#include "math/scalar.h"

#define WIDE 1000.0 // [px] of the drawing of the path
#define EDGE 26.0   // [px] around it
#define GAP 48.0    // [px] between its views
#define TALL 560.0  // [px] most of its height

// ---- the film and the trial in words -----------------------------------------------------------

static void put_ending(mf_Text *text, const mf_ReportCrawl *crawl) {
    mf_text_format(text,
                   "<p><span class=\"warn\">Its trial ended after %llu of %llu frames:</span> %s",
                   (unsigned long long)crawl->counted, (unsigned long long)crawl->steps,
                   crawl->ending == 0 ? "a fault" : "");
    const char *comma = "";
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        if ((crawl->ending >> k & 1u) == 0)
            continue;
        mf_text_format(text, "%s%s (%s)", comma, mf_warning_name(1u << k),
                       mf_group_warning_words(NULL, 1u << k)->meaning);
        comma = ", ";
    }
    mf_text_put(text, ". What it covered before that counts, and its fitness is the distance times "
                      "the share of frames.</p>\n");
}

static void put_warnings(mf_Text *text, const mf_ReportCrawl *crawl) {
    const char *comma = "";
    mf_report_row(text, "warnings");
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        if (crawl->warned[k] == 0)
            continue;
        mf_text_format(text, "%s<span class=\"warn\">%s</span> in %u frame%s", comma,
                       mf_warning_name(1u << k), crawl->warned[k],
                       crawl->warned[k] == 1 ? "" : "s");
        comma = ", ";
    }
    mf_text_put(text,
                *comma == '\0' ? "<span class=\"good\">none</span> in its trial" : " of its trial");
    mf_report_row_end(text);
}

void mf_report_crawl(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    const mf_SceneMachine *settings = &data->file->groups[0].machine;
    mf_report_open(text, "crawl", "How it crawls");
    if (all->kin[0].machine.actuator_count == 0) {
        mf_text_put(text, "<p>The best machine has no actuators yet: it does not move, and was not "
                          "simulated. More generations are needed.</p>\n");
        mf_report_close(text);
        return;
    }
    mf_text_put(text, "<p>It is put on the ground");
    if (settings->rest > 0) {
        mf_text_format(text, ", comes to rest for %s",
                       mf_text_duration(mf_time_to_seconds(settings->rest)).text);
    }
    mf_text_format(text, ", and then runs its network for %s cycles of %s%s",
                   mf_text_measure(data->file->duration / mf_time_to_seconds(settings->cycle)).text,
                   mf_text_duration(mf_time_to_seconds(settings->cycle)).text,
                   data->scene.motion == MF_MOTION_QUASISTATIC
                       ? ". Each frame is an equilibrium of bars, weight and friction: the "
                         "motion has no inertia, and only the order of the frames counts.</p>\n"
                       : ".</p>\n");
    if (all->crawl.counted < all->crawl.steps)
        put_ending(text, &all->crawl);
    mf_report_film(text, data);
    mf_report_close(text);
}

// ---- the body ----------------------------------------------------------------------------------

void mf_report_close_up(mf_Text *text, const mf_ReportData *data, const double *load,
                        const char *title) {
    const mf_MachinePose pose = mf_report_pose(&data->machine->kin[0]);
    mf_MachineView view = mf_view_slanted(&pose);
    mf_Box box = mf_box_none();
    mf_box_add_machine(&box, &view, &pose);
    mf_view_fit(&view, &box, 490.0, 400.0, 1e6);
    const double height = view.scale * (box.upper[1] - box.lower[1]) + 74.0;
    view.x += 15.0;
    view.y = 15.0 + view.scale * box.upper[1];
    mf_picture_open(text, 520.0, height, "fit map", title);
    mf_picture_shadow(text, &view, &pose);
    mf_picture_machine(text, &view, &pose, load);
    mf_picture_numbers(text, &view, &pose);
    mf_picture_scale(text, view.scale, 130.0, 16.0, height - 8.0);
    mf_text_put(text, "</svg>\n");
}

static void put_statics(mf_Text *text, const mf_ReportMachine *all) {
    mf_report_row(text, "statics");
    mf_text_format(text, "%u degrees of freedom of its vertices, rank %u: ", all->statics.freedoms,
                   all->statics.rank);
    if (all->statics.mechanisms == 0)
        mf_text_put(text, "<b>rigid</b> but for its movement as a whole");
    else
        mf_text_format(text,
                       "<b>%u mechanism%s</b>, movements that stretch no bar, which only the "
                       "ground stops",
                       all->statics.mechanisms, all->statics.mechanisms == 1 ? "" : "s");
    if (all->statics.redundant > 0)
        mf_text_format(text, "; <b>%u redundant bar%s</b>, so actuators press against other bars",
                       all->statics.redundant, all->statics.redundant == 1 ? "" : "s");
    else
        mf_text_put(text, "; no redundant bar, so actuators move freely");
    if (all->statics.dangling > 0)
        mf_text_format(text, "; %u dangling end%s", all->statics.dangling,
                       all->statics.dangling == 1 ? "" : "s");
    mf_report_row_end(text);
}

static void put_size(mf_Text *text, const mf_ReportMachine *all) {
    const mf_Machine *m = &all->kin[0].machine;
    uint32_t useful = 0;
    for (uint32_t n = 0; n < m->neuron_count; n++)
        useful += all->useful[n];
    mf_report_fact(text, "body", "%u vertices, %u bars, %u of them <b>actuators</b>",
                   m->vertex_count, m->bar_count, m->actuator_count);
    mf_report_row(text, "brain");
    mf_text_format(text, "%u neuron%s, %u synapse%s", m->neuron_count,
                   m->neuron_count == 1 ? "" : "s", m->synapse_count,
                   m->synapse_count == 1 ? "" : "s");
    if (useful < m->neuron_count)
        mf_text_format(text, "; %u without effect", m->neuron_count - useful);
    mf_report_row_end(text);
    mf_report_fact(text, "mass", "%s g without its actuators' drives",
                   mf_text_measure(1000.0 * all->mass.mass).text);
}

static void put_numbers(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    const mf_MachineResult *result = &all->kin[0].result;
    mf_text_put(text, "<table class=\"facts\">\n");
    put_size(text, all);
    if (result->length > 0.0) {
        mf_report_fact(text, "length at rest", "%s cm between its farthest vertices",
                       mf_text_measure(100.0 * result->length).text);
        mf_report_fact(text, "distance", "%s cm, <b>%s body lengths</b>",
                       mf_text_measure(100.0 * result->distance).text,
                       mf_text_measure(result->distance / result->length).text);
        mf_report_fact(text, "duty factor",
                       "%.0f %% of the frames, mean of the vertices that touch the ground",
                       100.0 * result->duty);
        put_warnings(text, &all->crawl);
    }
    put_statics(text, all);
    mf_text_put(text, "</table>\n");
}

// ---- its path in three views -------------------------------------------------------------------

typedef struct Track {
    mf_MachineView side, above, front;
    mf_Box box[3]; // [m] of these
    double height; // [px] of the drawing
} Track;

// The horizontal direction in which it moved.
static void heading_of(const mf_ReportCrawl *crawl, double heading[2]) {
    const double *from = crawl->center + 3 * crawl->rest, *to = crawl->center + 3 * crawl->end;
    const double x = to[0] - from[0], y = to[1] - from[1], size = mf_sqrt(x * x + y * y);
    heading[0] = size > 1e-6 ? x / size : 1.0;
    heading[1] = size > 1e-6 ? y / size : 0.0;
}

static Track lay_out(const mf_ReportData *data) {
    const mf_ReportCrawl *crawl = &data->machine->crawl;
    const mf_MachinePose rest = mf_report_pose(&data->machine->kin[0]);
    const mf_MachinePose end = mf_report_pose_at(data, crawl->end);
    double heading[2];
    heading_of(crawl, heading);
    Track track = {.side = mf_view_side(heading),
                   .above = mf_view_above(heading),
                   .front = mf_view_front(heading)};
    mf_MachineView *views[3] = {&track.side, &track.above, &track.front};
    for (int i = 0; i < 3; i++) {
        track.box[i] = mf_box_none();
        mf_box_add_machine(&track.box[i], views[i], &end);
        if (i < 2)
            mf_box_add_machine(&track.box[i], views[i], &rest);
        for (uint32_t s = crawl->rest; i < 2 && s <= crawl->end; s++)
            mf_box_add(&track.box[i], views[i], crawl->center + 3 * s, 0.0);
    }
    double size[3][2];
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 2; c++)
            size[i][c] = track.box[i].upper[c] - track.box[i].lower[c];
    const double across = (WIDE - 2.0 * EDGE - GAP) / (size[0][0] + size[2][0]);
    const double down = (TALL - 2.0 * EDGE - GAP - 30.0) / (size[0][1] + size[1][1]);
    const double scale = across < down ? across : down;
    for (int i = 0; i < 3; i++)
        views[i]->scale = scale;
    const double spare = WIDE - 2.0 * EDGE - GAP - scale * (size[0][0] + size[2][0]);
    track.side.x = track.above.x = EDGE + 0.4 * spare - scale * track.box[0].lower[0];
    track.side.y = track.front.y = EDGE + 20.0 + scale * track.box[0].upper[1];
    track.above.y = EDGE + 20.0 + GAP + scale * (size[0][1] + track.box[1].upper[1]);
    track.front.x = WIDE - EDGE - 0.25 * spare - scale * track.box[2].upper[0];
    track.height = track.above.y - scale * track.box[1].lower[1] + EDGE;
    return track;
}

static void put_path(mf_Text *text, const mf_ReportData *data, const mf_MachineView *view) {
    const mf_ReportCrawl *crawl = &data->machine->crawl;
    const double cycle = mf_time_to_seconds(data->file->groups[0].machine.cycle);
    static const char *const classes[2] = {"halo thin", "track thin"};
    double at[2];
    for (int k = 0; k < 2; k++) {
        mf_text_format(text, "<path class=\"%s\" d=\"M", classes[k]);
        for (uint32_t s = crawl->rest; s <= crawl->end; s++) {
            mf_view_point(view, crawl->center + 3 * s, at);
            mf_text_format(text, "%s%.1f %.1f", s > crawl->rest ? " " : "", at[0], at[1]);
        }
        mf_text_put(text, "\"/>\n");
    }
    for (uint32_t k = 1; k < 1000; k++) {
        const uint32_t s = crawl->rest + (uint32_t)(k * cycle / crawl->period + 0.5);
        if (s >= crawl->end)
            break;
        mf_view_point(view, crawl->center + 3 * s, at);
        mf_text_format(text, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", at[0],
                       at[1]);
    }
    mf_view_point(view, crawl->center + 3 * crawl->rest, at);
    mf_text_format(text, "<circle class=\"origin\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", at[0],
                   at[1]);
    mf_view_point(view, crawl->center + 3 * crawl->end, at);
    mf_picture_center(text, at[0], at[1]);
}

static void put_name(mf_Text *text, double x, double y, const char *css_class, const char *name) {
    mf_text_format(text, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", css_class, x, y,
                   name);
}

static void put_soil(mf_Text *text, const mf_MachineView *view, const mf_Box *box, double ground) {
    const double y = view->y - view->scale * ground;
    mf_text_format(text, "<path class=\"soil\" d=\"M%.1f %.1fH%.1f\"/>\n",
                   view->x + view->scale * box->lower[0] - 14.0, y,
                   view->x + view->scale * box->upper[0] + 14.0);
}

static void put_views(mf_Text *text, const mf_ReportData *data, const Track *track) {
    const mf_MachinePose rest = mf_report_pose(&data->machine->kin[0]);
    const mf_MachinePose end = mf_report_pose_at(data, data->machine->crawl.end);
    const double ground = mf_pose_ground(&rest), top = EDGE + 4.0;
    put_soil(text, &track->side, &track->box[0], ground);
    put_soil(text, &track->front, &track->box[2], ground);
    mf_picture_ghost(text, &track->side, &rest);
    mf_picture_machine(text, &track->side, &end, NULL);
    put_path(text, data, &track->side);
    mf_picture_ghost(text, &track->above, &rest);
    mf_picture_machine(text, &track->above, &end, NULL);
    put_path(text, data, &track->above);
    mf_picture_machine(text, &track->front, &end, NULL);
    put_name(text, 16.0, top, "name", "from its right side");
    put_name(text, 16.0, track->side.y - track->side.scale * track->box[0].lower[1] + GAP - 8.0,
             "name", "from above");
    put_name(text, WIDE - 16.0, top, "name end", "from the front");
    const double right = track->front.x + track->front.scale * track->box[2].lower[0];
    mf_picture_scale(text, track->side.scale, 180.0, right, track->height - EDGE);
}

static void put_track(mf_Text *text, const mf_ReportData *data) {
    const Track track = lay_out(data);
    mf_text_put(text,
                "<p>At rest before its first cycle (pale) and at the end of its trial, with the "
                "path of its center of mass from the circle on, a dot for each cycle. All views "
                "have the same scale.</p>\n");
    mf_picture_open(text, WIDE, track.height, "map",
                    "The champion before and after its trial, from three sides");
    put_views(text, data, &track);
    mf_text_put(text, "</svg>\n");
}

void mf_report_body(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    mf_report_open(text, "body", "The champion");
    if (all->kin[0].machine.bar_count == 0) {
        mf_text_put(text, "<p>It has no bars: evolution starts from nothing, and the first bars "
                          "come by mutation.</p>\n");
    } else {
        mf_text_put(text, "<p>To scale, at rest. <span class=\"drive\">Actuators</span> are a "
                          "sleeve with a rod in it; the numbers are those of the bars.</p>\n"
                          "<div class=\"pair\">\n<div>");
        mf_report_close_up(text, data, NULL, "The champion at rest, with the numbers of bars");
        mf_text_put(text, "</div>\n");
        put_numbers(text, data);
        mf_text_put(text, "</div>\n");
    }
    mf_report_close(text);
    if (all->kin[0].machine.actuator_count == 0)
        return;
    mf_report_open(text, "path", "Its path");
    put_track(text, data);
    mf_report_close(text);
}
