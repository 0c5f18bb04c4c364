// The report of an evolution run: one HTML page without network access and scripts that is also
// well-formed XML. It is rendered into memory and written atomically. Numbers have a decimal point
// in every locale.
#include "view/report_machine.h"
#include "base/floats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/chart.h"

#define DEGREES 57.295779513082321 // [degree/rad]

// ---- rows of facts -----------------------------------------------------------------------------

void mf_report_row(mf_Text *text, const char *name) {
    mf_text_put(text, "<tr><th>");
    mf_text_escape(text, name);
    mf_text_put(text, "</th><td>");
}

void mf_report_row_end(mf_Text *text) {
    mf_text_put(text, "</td></tr>\n");
}

void mf_report_fact(mf_Text *text, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mf_report_row(text, name);
    mf_text_format_list(text, format, arguments);
    mf_report_row_end(text);
    va_end(arguments);
}

void mf_report_open(mf_Text *text, const char *id, const char *title) {
    mf_text_format(text, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void mf_report_close(mf_Text *text) {
    mf_text_put(text, "</section>\n");
}

// ---- the fitness -------------------------------------------------------------------------------

static bool rates_distance(const mf_ReportData *data) {
    return data->file->hooks.fitness == NULL && data->file->fitness == MF_FITNESS_DISTANCE;
}

static const char *fitness_title(const mf_ReportData *data) {
    return data->file->hooks.fitness != NULL ? "fitness" : mf_fitness_title(data->file->fitness);
}

// With a leading space; "" for a program's own fitness, whose unit is unknown.
static const char *fitness_unit(const mf_ReportData *data) {
    static const char *const units[] = {" m", " m/s", " m/J", " m", " m"};
    return data->file->hooks.fitness != NULL ? "" : units[data->file->fitness];
}

// ---- the head of the page ----------------------------------------------------------------------

static double evaluations_of(const mf_ReportData *data) {
    return (double)data->generation_count * data->search.population * data->search.islands;
}

static double speed_of(const mf_ReportData *data) {
    double wall = data->facts.wall_seconds;
    return wall > 0.0 ? data->facts.simulated / wall : NAN;
}

// In body lengths, of machines.
static void put_body_lengths(mf_Text *text, const mf_ReportData *data, const char *before,
                             const char *after) {
    if (data->machine == NULL || !(data->machine->kin[0].result.length > 0.0))
        return;
    mf_text_format(
        text, "%s%s%s", before,
        mf_text_measure(data->machine->kin[0].result.distance / data->machine->kin[0].result.length)
            .text,
        after);
}

mf_ReportPosture mf_report_posture(const mf_ReportData *data) {
    const mf_Trial *trial = &data->trial;
    const bool stands = data->machine == NULL && trial->start_tilt < MF_FALLEN;
    return (mf_ReportPosture){.stands = stands,
                              .fell = stands && trial->tilt > MF_FALLEN,
                              .lies = stands && trial->end_tilt > MF_FALLEN,
                              .tilt = trial->end_tilt};
}

static void put_lead(mf_Text *text, const mf_ReportData *data) {
    mf_text_format(text, "<p class=\"lead\">After %s generation%s the best %s ",
                   mf_text_count(data->generation_count).text,
                   data->generation_count == 1 ? "" : "s",
                   data->machine != NULL ? "machine" : "robot");
    if (data->trial.distance > 0.0) {
        mf_text_format(text, "gets <b>%s m</b> away from its start in %s",
                       mf_text_measure(data->trial.distance).text,
                       mf_text_duration(data->file->duration).text);
        put_body_lengths(text, data, ": ", " body lengths");
    } else {
        mf_text_put(text, "<b>does not move</b>");
    }
    const mf_ReportPosture posture = mf_report_posture(data);
    if (posture.lies)
        mf_text_format(text, " and <b class=\"warn\">lies at the end</b>, %.0f degrees off upright",
                       posture.tilt * DEGREES);
    else if (posture.fell)
        mf_text_put(text, " and <b class=\"warn\">falls over on its way</b>");
    mf_text_format(text, ". The search simulated <b>%s</b> of robot time in <b>%s</b>.</p>\n",
                   mf_text_duration(data->facts.simulated).text,
                   mf_text_duration(data->facts.wall_seconds).text);
}

static void put_tiles(mf_Text *text, const mf_ReportData *data) {
    mf_text_format(
        text,
        "<div class=\"tiles\">\n<div class=\"first\"><b>%s m</b><span>best distance</span></div>\n",
        mf_text_measure(data->trial.distance).text);
    put_body_lengths(text, data, "<div><b>", "</b><span>body lengths</span></div>\n");
    mf_text_put(text, "<div><b>");
    const bool early =
        data->machine != NULL && data->machine->crawl.counted < data->machine->crawl.steps;
    if (!rates_distance(data) || early) {
        mf_text_format(text, "%s%s</b><span>best %s</span></div>\n<div><b>",
                       mf_text_measure(data->champion.fitness).text, fitness_unit(data),
                       early ? "fitness: its trial ended early" : fitness_title(data));
    }
    mf_text_format(
        text,
        "%s</b><span>simulated robot time</span></div>\n<div><b>%s</b><span>wall time, %u "
        "thread%s</span></div>\n<div><b>%s \xc3\x97</b><span>real time</span></div>\n</div>\n",
        mf_text_duration(data->facts.simulated).text,
        mf_text_duration(data->facts.wall_seconds).text, data->facts.threads,
        data->facts.threads == 1 ? "" : "s", mf_text_measure(speed_of(data)).text);
}

// ---- charts ------------------------------------------------------------------------------------

// Columns of the archive's rows, for the chart: generation, best, mean, then generation and fitness
// of champions that had a verification, `verified_count` of them.
static bool copy_curves(const mf_ReportData *data, double **columns, uint32_t *verified_count) {
    uint32_t count = data->generation_count;
    *verified_count = 0;
    *columns = mf_allocate(data->context, count, 5 * sizeof(double));
    if (*columns == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        (*columns)[i] = data->generations[i].generation;
        (*columns)[count + i] = data->generations[i].best;
        (*columns)[2 * (size_t)count + i] = data->generations[i].mean;
        if (!isfinite(data->generations[i].verified))
            continue;
        (*columns)[3 * (size_t)count + *verified_count] = data->generations[i].generation;
        (*columns)[4 * (size_t)count + *verified_count] = data->generations[i].verified;
        ++*verified_count;
    }
    return true;
}

// The curve's name, which is also its CSS class, and its last value.
static mf_ChartLabel label_value(const char *name, double value, const char *unit) {
    mf_ChartLabel label = {.css_class = name, .value = value};
    snprintf(label.text, sizeof label.text, "%s %s%s", name, mf_text_measure(value).text, unit);
    return label;
}

static void put_levels(mf_Text *text, const mf_ReportData *data, double best, double verified) {
    const mf_VerifyConfig *verify = &data->file->verify;
    const char *level = mf_motion_name(mf_verify_motion(verify->motion));
    mf_text_format(text,
                   "<p>Every %u generation%s the %u most promising individuals are verified at the "
                   "level <b>%s</b> with a step of %g ms; the best verified ones are the only "
                   "parents until others are better. The best of the last verification reaches %s "
                   "there and %s at the level of the evolution",
                   verify->every, verify->every == 1 ? "" : "s", verify->best, level,
                   1000.0 * mf_time_to_seconds(verify->step), mf_text_measure(verified).text,
                   mf_text_measure(best).text);
    if (best > 0.0)
        mf_text_format(text, ": %.0f %%", 100.0 * verified / best);
    mf_text_put(text, ".</p>\n");
}

static void put_fitness(mf_Text *text, const mf_ReportData *data) {
    double *columns;
    uint32_t count = data->generation_count, verified_count;
    mf_report_open(text, "fitness", "Fitness over generations");
    mf_report_scheme(text, data);
    if (!copy_curves(data, &columns, &verified_count)) {
        text->failed = true;
        return;
    }
    const double *best = columns + count, *mean = best + count;
    const double *generation = mean + count, *verified = generation + count;
    if (verified_count > 0)
        put_levels(text, data, best[(size_t)generation[verified_count - 1] - 1],
                   verified[verified_count - 1]);
    double range[2] = {0.0, 0.0};
    mf_chart_range(range, best, 2 * (size_t)count);
    mf_chart_range(range, verified, verified_count);
    const char *unit = fitness_unit(data);
    char axis[48], title[80];
    snprintf(axis, sizeof axis, "%s", fitness_title(data));
    if (*unit != '\0')
        snprintf(axis, sizeof axis, "%s [%s]", fitness_title(data), unit + 1);
    snprintf(title, sizeof title, "Best and mean %s over generations", fitness_title(data));
    mf_Chart chart =
        mf_chart_make(mf_axis_fit(columns[0], columns[count - 1], 8, false, "generation"),
                      mf_axis_fit(range[0], range[1], 5, true, axis));
    mf_chart_begin(text, &chart, title);
    mf_chart_line(text, &chart, columns, mean, count, "mean", false);
    mf_chart_line(text, &chart, columns, best, count, "best", true);
    mf_ChartLabel labels[3] = {label_value("best", best[count - 1], unit),
                               label_value("mean", mean[count - 1], unit)};
    if (verified_count > 0) {
        mf_chart_line(text, &chart, generation, verified, verified_count, "verified", false);
        labels[2] = label_value("verified", verified[verified_count - 1], unit);
    }
    mf_chart_labels(text, &chart, labels, verified_count > 0 ? 3 : 2);
    mf_chart_end(text);
    mf_release(data->context, columns);
    mf_report_close(text);
}

// ---- tables ------------------------------------------------------------------------------------

static void put_champion(mf_Text *text, const mf_ReportData *data) {
    mf_report_row(text, "champion");
    mf_text_format(text, "individual %llu of generation %s", (unsigned long long)data->champion.id,
                   mf_text_count(data->generation_count).text);
    if (data->champion.parent != UINT64_MAX)
        mf_text_format(text, ", child of %llu", (unsigned long long)data->champion.parent);
    mf_report_row_end(text);
    mf_report_row(text, "stored and repeated fitness");
    bool same = memcmp(&data->champion.fitness, &data->trial.fitness, sizeof(double)) == 0;
    mf_text_format(text, "%.9g and %.9g: ", data->champion.fitness, data->trial.fitness);
    mf_text_put(text, same ? "<span class=\"good\">the same bits</span>"
                           : "<span class=\"warn\">different</span>");
    mf_report_row_end(text);
}

static void put_speed(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportFacts *facts = &data->facts;
    double steps = facts->simulated / mf_time_to_seconds(data->scene.step);
    mf_report_fact(text, "evaluations", "%s episodes of %s",
                   mf_text_measure(evaluations_of(data)).text,
                   mf_text_duration(data->file->duration).text);
    mf_report_fact(text, "speed", "%s \xc3\x97 real time, %s robot steps/s, including all overhead",
                   mf_text_measure(speed_of(data)).text,
                   mf_text_measure(steps / facts->wall_seconds).text);
    mf_report_row(text, "computed with");
    mf_text_format(text, "%u thread%s, instruction set ", facts->threads,
                   facts->threads == 1 ? "" : "s");
    mf_text_escape(text, facts->isa);
    mf_text_put(text, data->file->groups[0].double_precision ? ", double" : ", float");
    mf_text_put(text, " precision, Mayfly ");
    mf_text_escape(text, mf_version());
    mf_report_row_end(text);
}

static void put_model(mf_Text *text, const mf_Model *model, const mf_SceneFile *file) {
    mf_report_row(text, "robot");
    mf_text_escape(text, model->name);
    mf_text_format(text, ": %u joints, %u points, %s kg", model->joint_count, model->point_count,
                   mf_text_measure(model->mass).text);
    mf_report_row_end(text);
    mf_report_fact(text, "search", "population %u, survivors %u, mutation rate %.4g per byte",
                   file->search.population, file->search.survivors, file->search.mutation_rate);
}

static void put_operators(mf_Text *text, const mf_SceneFile *file) {
    mf_report_fact(text, "search",
                   "population %u; chances of a child: change %g, add %g, split %g, attach %g",
                   file->search.population, file->machine.change, file->machine.add,
                   file->machine.split, file->machine.attach);
}

static void put_settings(mf_Text *text, const mf_ReportData *data) {
    const mf_SceneFile *file = data->file;
    mf_text_put(text, "<div class=\"pair\">\n<table>\n");
    mf_report_row(text, "scene");
    mf_text_escape(text, file->file);
    mf_report_row_end(text);
    if (data->machine != NULL)
        put_operators(text, file);
    else
        put_model(text, data->scene.model, file);
    mf_report_fact(text, "seed", "%llu", (unsigned long long)file->search.seed);
    mf_report_fact(text, "hash of the last population", "<code>%016llx</code>",
                   (unsigned long long)data->facts.hash);
    mf_text_put(text, "</table>\n<table>\n");
    put_champion(text, data);
    put_speed(text, data);
    mf_text_put(text, "</table>\n</div>\n<details><summary>The whole scene, every default "
                      "written out</summary>\n<pre>");
    mf_text_escape(text, data->settings);
    mf_text_put(text, "</pre>\n</details>\n");
}

// ---- the page ----------------------------------------------------------------------------------

static void put_head(mf_Text *text, const mf_ReportData *data) {
    mf_text_put(text, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                      "<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                      "content=\"width=device-width, initial-scale=1\"/>\n<title>");
    mf_text_escape(text, data->file->name);
    mf_text_put(text, " \xc2\xb7 Mayfly</title>\n<style>\n");
    mf_report_style(text);
    mf_text_put(text, "</style>\n</head>\n<body>\n<main>\n<p class=\"brand\">Mayfly evolution "
                      "report</p>\n<h1>");
    mf_text_escape(text, data->file->name);
    mf_text_put(text, "</h1>\n");
    put_lead(text, data);
    put_tiles(text, data);
}

static void put_search(mf_Text *text, const mf_ReportData *data) {
    put_fitness(text, data);
    if (data->elite_count > 0) {
        mf_report_open(text, "repertoire", "The repertoire");
        mf_report_repertoire(text, data);
        mf_report_close(text);
    }
    if (data->moment_count > 0) {
        mf_report_open(text, "diversity", "Diversity over generations");
        mf_report_diversity(text, data);
        mf_report_close(text);
    }
    if (data->tree_count > 0) {
        mf_report_open(text, "family", "Family tree");
        mf_report_tree(text, data);
        mf_report_close(text);
    }
}

// Of robots of links: levels first, since a walk that works at one level only exploits that level.
static void put_robot(mf_Text *text, const mf_ReportData *data) {
    mf_report_open(text, "levels", "Does it walk at every level of physics?");
    mf_report_levels(text, data);
    mf_report_film(text, data);
    mf_report_close(text);
    put_search(text, data);
    mf_report_open(text, "path", "The champion\xe2\x80\x99s path, seen from above");
    mf_text_put(text, "<p>Path of the base; the robot is drawn to scale at its start.</p>\n");
    mf_report_map(text, data);
    mf_report_close(text);
    mf_report_open(text, "step", "Does it work with a smaller step?");
    mf_report_small_step(text, data);
    mf_report_close(text);
    mf_report_open(text, "gait", "Foot contacts");
    mf_report_gait(text, data);
    mf_report_close(text);
    mf_report_open(text, "controller", "The evolved controller");
    mf_report_control(text, data);
    mf_report_close(text);
}

static void put_machine(mf_Text *text, const mf_ReportData *data) {
    mf_report_crawl(text, data);
    mf_report_body(text, data);
    mf_report_network(text, data);
    mf_report_stress(text, data);
    mf_report_gallery(text, data);
    put_search(text, data);
    if (data->machine->kin[0].machine.actuator_count == 0)
        return;
    mf_report_open(text, "levels",
                   data->level_count > 0 ? "Does it crawl at every level of physics?"
                                         : "Does it crawl with smaller increments?");
    mf_report_levels(text, data);
    mf_report_small_step(text, data);
    mf_report_close(text);
}

static void put_end(mf_Text *text, const mf_ReportData *data) {
    mf_report_open(text, "settings", "Settings and reproduction");
    put_settings(text, data);
    mf_report_close(text);
    mf_report_open(text, "repeat", "Repeat this run");
    mf_text_put(text, "<p>The same command gives the same bits with any number of threads and any "
                      "instruction set.</p>\n<pre>");
    mf_text_escape(text, data->facts.command);
    mf_text_put(text, "</pre>\n");
    mf_report_close(text);
}

void mf_report_render(mf_Text *text, const mf_ReportData *data) {
    put_head(text, data);
    if (data->machine != NULL)
        put_machine(text, data);
    else
        put_robot(text, data);
    put_end(text, data);
    mf_text_put(text, "</main>\n</body>\n</html>\n");
}

mf_Status mf_report_write(mf_Context *context, mf_Archive *archive, mf_SceneFile *file,
                          const mf_ReportFacts *facts, const char *path, mf_ReportPosture *posture,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && archive != NULL && file != NULL, error,
            "mf_report_write: context or archive or file is NULL");
    mf_ReportData *data = mf_allocate(context, 1, sizeof *data);
    MF_NEED_MEMORY(data != NULL, error, "report");
    mf_Status status = mf_report_gather(context, archive, file, facts, data, error);
    if (status == MF_OK) {
        mf_Text text = mf_text_begin(context);
        mf_report_render(&text, data);
        status = mf_text_save(&text, path, "report", error);
        if (posture != NULL)
            *posture = mf_report_posture(data);
        mf_report_release(data);
    }
    mf_release(context, data);
    return status;
}
