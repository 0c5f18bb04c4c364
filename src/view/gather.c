// Gathers the data of a report: the run's curve and champion from the archive, and the champion
// simulated again with the file's step, with a ten times smaller one, at every other level of
// physics, and for its film.
#include "view/report_machine.h"
#include "view/report_data.h"
#include "body/kind.h"
#include "scene/script/script.h"
#include "motion/table.h"

#include "view/film.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FINE_DIVISOR 10u           // of the comparison in every report
#define SAMPLES_PER_SECOND 50      // [1/s] of path and contacts, at most
#define SAMPLES_MOST 20000         // [1] of one trial; longer ones are sampled more thinly
#define FILM_SECONDS 20.0          // [s] from the start, at most
#define FILM_PICTURES 25           // [1/s]
#define STEP_LEAST ((mf_Time)1000) // [ns] smallest step of a world

static mf_Status read_archive(mf_ReportData *data, mf_Archive *archive, mf_Error *error) {
    mf_ArchiveRun run;
    MF_TRY(mf_archive_run(archive, &run, error));
    MF_CHECK(run.generations != 0, error, MF_NOT_FOUND,
             "report: need an archive with at least one generation, found none");
    MF_TRY(mf_archive_generations(archive, &data->generations, &data->generation_count, error));
    data->genome_bytes = run.search.genome_bytes;
    data->genome = mf_allocate(data->context, data->genome_bytes, 1);
    MF_NEED_MEMORY(data->genome != NULL, error, "report");
    mf_Status status =
        mf_archive_best(archive, 0, &data->champion, data->genome, data->genome_bytes, error);
    data->champion.genome = data->genome;
    return status;
}

// A multiple of the step [ns] near the target period.
static double choose_period(const mf_SceneFile *file, mf_Time step) {
    mf_Time target = MF_SECOND / SAMPLES_PER_SECOND;
    mf_Time thin = mf_time_from_seconds(file->duration / SAMPLES_MOST);
    target = thin > target ? thin : target;
    mf_Time steps = (target + step - 1) / step;
    return mf_time_to_seconds(steps * step);
}

// The largest divisor up to ten that leaves a step which worlds accept.
static uint32_t choose_divisor(mf_Time step) {
    uint32_t divisor = FINE_DIVISOR;
    while (divisor > 1 && (step % divisor != 0 || step / divisor < STEP_LEAST))
        divisor--;
    return divisor;
}

static mf_Status simulate(mf_ReportData *data, mf_Error *error) {
    mf_SceneConfig config = mf_scene_config();
    config.count = 1;
    config.evaluates = true;
    MF_TRY(mf_scene_create(data->context, data->file, &config, &data->scene, error));
    mf_scene_apply_genome(&data->scene, 0, data->genome);
    const double period = choose_period(data->file, data->scene.step);
    mf_Status status = mf_trial_run(data->context, data->file, NULL, data->genome,
                                    data->genome_bytes, period, &data->trial, error);
    config.divisor = data->fine_divisor = choose_divisor(data->scene.step);
    if (status == MF_OK && data->fine_divisor > 1)
        status = mf_trial_run(data->context, data->file, &config, data->genome, data->genome_bytes,
                              period, &data->fine, error);
    return status;
}

// One level: its result, or why it is not possible. Only lack of memory ends the report.
static mf_Status try_level(mf_ReportData *data, mf_Motion motion, mf_Error *error) {
    mf_ReportLevel *level = &data->levels[data->level_count++];
    mf_SceneFile other = *data->file;
    mf_SceneConfig config = mf_scene_config_at_level(data->file, motion);
    const mf_Time step = config.step > 0 ? config.step : data->scene.step;
    mf_Trial trial;
    mf_Error reason = {0};
    other.fitness = MF_FITNESS_DISTANCE;
    *level = (mf_ReportLevel){.motion = motion, .step = mf_time_to_seconds(step)};
    mf_Status status = data->file->groups[0].kind != NULL
                           ? MF_OK
                           : mf_motion_check(data->scene.model, motion, &reason);
    MF_THEN(status, mf_trial_run(data->context, &other, &config, data->genome, data->genome_bytes,
                                 choose_period(&other, step), &trial, &reason));
    if (status == MF_NO_MEMORY) {
        if (error != NULL)
            *error = reason;
        return status;
    }
    level->possible = status == MF_OK;
    if (!level->possible) {
        snprintf(level->reason, sizeof level->reason, "%s", reason.message);
        return MF_OK;
    }
    level->distance = trial.distance;
    level->tilt = trial.tilt;
    mf_trial_free(&trial);
    return MF_OK;
}

// The levels of its kind of body, the most accurate first.
static mf_Status try_levels(mf_ReportData *data, mf_Error *error) {
    const mf_BodyKind *kind = data->file->groups[0].kind;
    for (int i = MF_MOTION_COUNT - 1; i >= 0; i--) {
        const mf_Motion motion = (mf_Motion)i;
        const bool level = kind != NULL && kind->motions != NULL ? mf_body_moves_by(kind, motion)
                                                                 : i < MF_MOTION_LEVELS;
        if (level && motion != data->scene.motion)
            MF_TRY(try_level(data, motion, error));
    }
    return MF_OK;
}

static mf_Status film(mf_ReportData *data, mf_Error *error) {
    mf_SceneConfig config = mf_scene_config();
    mf_Scene scene;
    mf_Film *film = NULL;
    config.count = 1;
    config.evaluates = true;
    MF_TRY(mf_scene_create(data->context, data->file, &config, &scene, error));
    mf_scene_apply_genome(&scene, 0, data->genome);
    double whole = (double)mf_scene_steps(&scene) * mf_time_to_seconds(scene.step);
    double seconds = fmin(FILM_SECONDS, whole);
    mf_Time period = MF_SECOND / FILM_PICTURES;
    uint64_t steps = (uint64_t)((period + scene.step - 1) / scene.step);
    double each = mf_time_to_seconds(scene.step) * (double)steps;
    mf_Status status = mf_film_create(scene.group, each, &film, error);
    for (uint32_t i = 0; status == MF_OK && i <= (uint32_t)(seconds / each); i++) {
        mf_film_sample(film);
        status = mf_scene_step(&scene, steps, NULL, error);
    }
    if (status == MF_OK) {
        data->film = mf_text_begin(data->context);
        status = mf_film_render(&data->film, film, error);
        if (status == MF_UNSUPPORTED) { // the report says that it lacks the film
            mf_text_free(&data->film);
            status = MF_OK;
        }
    }
    mf_film_destroy(film);
    mf_scene_destroy(&scene);
    return status;
}

mf_Status mf_report_gather(mf_Context *context, mf_Archive *archive, mf_SceneFile *file,
                           const mf_ReportFacts *facts, mf_ReportData *out, mf_Error *error) {
    memset(out, 0, sizeof *out); // a literal of this size would be a copy on the stack
    out->context = context;
    out->file = file;
    out->facts = *facts;
    mf_Status status = read_archive(out, archive, error);
    MF_THEN(status, mf_report_gather_search(out, archive, error));
    MF_THEN(status, simulate(out, error));
    if (status == MF_OK && mf_scene_has_machines(file))
        status = mf_report_gather_machine(out, archive, error);
    MF_THEN(status, try_levels(out, error));
    MF_THEN(status, film(out, error));
    MF_THEN(status, mf_scene_file_write(file, &out->settings, error));
    if (status != MF_OK)
        mf_report_release(out);
    return status;
}

void mf_report_release(mf_ReportData *data) {
    mf_Context *context = data->context;
    if (context == NULL)
        return;
    if (data->scene.world != NULL)
        mf_scene_destroy(&data->scene);
    mf_trial_free(&data->trial);
    mf_trial_free(&data->fine);
    mf_text_free(&data->film);
    mf_report_release_search(data);
    mf_report_release_machine(data);
    mf_release(context, data->generations);
    mf_release(context, data->genome);
    mf_release(context, data->settings);
    memset(data, 0, sizeof *data);
}
