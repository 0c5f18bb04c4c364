// The champion's distance at the level of its evolution, with a smaller step, and at every other
// level of physics that its kind of model has; and its film. A walk that works at only one level
// exploits that level.
#include "view/report_data.h"

#include <math.h>

static void put_share(mf_Text *text, double distance, double reference) {
    double share = distance / reference;
    if (!(reference > 0.0) || !isfinite(share)) {
        mf_text_put(text, "-");
        return;
    }
    mf_text_format(text, "<span class=\"%s\">%.0f %%</span>",
                   share >= MF_REPORT_KEPT ? "good" : "warn", 100.0 * share);
}

static void open_row(mf_Text *text, const char *name, double step) {
    mf_text_format(text, "<tr><td>%s</td><td class=\"num\">%g ms</td>", name, 1000.0 * step);
}

static void put_posture(mf_Text *text, double tilt) {
    mf_text_format(text, "<td>%s, at most %.0f degrees off upright</td>",
                   tilt > MF_FALLEN ? "<span class=\"warn\">falls over</span>" : "stays up",
                   tilt * 180.0 / 3.14159265358979323846);
}

// A machine has no upright posture: `tilt` < 0.
static void put_row(mf_Text *text, const char *name, double step, double distance, double tilt,
                    double reference) {
    open_row(text, name, step);
    mf_text_format(text, "<td class=\"num\">%s m</td><td class=\"num\">",
                   mf_text_measure(distance).text);
    put_share(text, distance, reference);
    mf_text_put(text, "</td>");
    if (tilt >= 0.0)
        put_posture(text, tilt);
    mf_text_put(text, "</tr>\n");
}

static void put_table(mf_Text *text, const mf_ReportData *data) {
    const mf_Trial *trial = &data->trial, *fine = &data->fine;
    const char *own = mf_motion_name(data->scene.motion);
    const bool stands = data->machine == NULL;
    mf_text_format(text,
                   "<table class=\"levels\">\n<tr><th>level of physics</th><th>step</th>"
                   "<th>distance</th><th>relative</th>%s</tr>\n",
                   stands ? "<th>posture</th>" : "");
    put_row(text, own, trial->step, trial->distance, stands ? trial->tilt : -1.0, trial->distance);
    if (data->fine_divisor > 1)
        put_row(text, own, fine->step, fine->distance, stands ? fine->tilt : -1.0, trial->distance);
    for (uint32_t i = 0; i < data->level_count; i++) {
        const mf_ReportLevel *level = &data->levels[i];
        const char *name = mf_motion_name(level->motion);
        if (level->possible) {
            put_row(text, name, level->step, level->distance, stands ? level->tilt : -1.0,
                    trial->distance);
            continue;
        }
        open_row(text, name, level->step);
        mf_text_format(text, "<td colspan=\"%u\">", stands ? 3u : 2u);
        mf_text_escape(text, level->reason);
        mf_text_put(text, "</td></tr>\n");
    }
    mf_text_put(text, "</table>\n");
}

// The film is a page of its own, so that this one needs no script.
void mf_report_film(mf_Text *text, const mf_ReportData *data) {
    if (data->film.size == 0) {
        mf_text_put(text, "<p>No film: this build has no page for films.</p>\n");
        return;
    }
    mf_text_put(text, "<iframe class=\"film\" title=\"The champion moves\" "
                      "srcdoc=\"");
    mf_text_escape(text, data->film.data);
    mf_text_put(text, "\"></iframe>\n");
}

void mf_report_levels(mf_Text *text, const mf_ReportData *data) {
    const char *own = mf_motion_name(data->scene.motion);
    if (data->machine != NULL)
        mf_text_format(
            text, "<p>The champion evolved at <b>%s</b>%s.</p>\n", own,
            data->scene.motion == MF_MOTION_QUASISTATIC
                ? ", where a frame is an equilibrium and time means nothing: a smaller step means "
                  "smaller increments of the actuators, in more frames"
                : "");
    else
        mf_text_format(
            text,
            "<p>The champion evolved at <b>%s</b>. The table shows the same controller from the "
            "same start at every level of physics, and with a smaller step; a relative "
            "distance of %.0f %% or more means that the walk does not depend on the "
            "level.</p>\n",
            own, 100.0 * MF_REPORT_KEPT);
    if (data->machine != NULL && data->level_count > 0)
        mf_text_format(
            text,
            "<p>The table shows the same machine at every level of physics for its body; "
            "a relative distance of %.0f %% or more means that the crawl does not depend "
            "on the level.</p>\n",
            100.0 * MF_REPORT_KEPT);
    if (data->machine == NULL || data->level_count > 0)
        put_table(text, data);
}
