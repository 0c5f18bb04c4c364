// Simulates a world once. Steps are done in short runs between which signals, the clock and the
// recorder are served; the partition does not affect results.
#include "simulate.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "progress.h"
#include "run_python.h"
#include "scene/script/script.h"
#include "view/film.h"

#define FIELDS_MOST 64     // [1] names in --fields
#define PACE_SECONDS 0.01  // [s] of wall time between two reads of the clock
#define FILM_PERIOD 0.02   // [s] between samples of a film, for smooth motion
#define BATCH_STEPS 4096.0 // [1] robot steps x 1024 between two tests of the stop flag

// ---- recording ---------------------------------------------------------------------------------

static mf_Status open_recorder(mf_Simulation *simulation, mf_Recorder **out, mf_Error *error) {
    mf_RecorderPicture picture;
    char names[MF_APP_PATH];
    const char *list[FIELDS_MOST + 1];
    uint32_t count = 0;
    mf_RecorderConfig config = mf_recorder_config();
    config.path = simulation->record;
    config.scene = simulation->text;
    config.picture = &picture;
    config.colors = simulation->colors;
    *out = NULL;
    if (simulation->record == NULL)
        return MF_OK;
    if (simulation->fields != NULL) {
        MF_CHECK(strlen(simulation->fields) < sizeof names, error, MF_LIMIT,
                 "--fields: expected fewer than %d characters", MF_APP_PATH);
        snprintf(names, sizeof names, "%s", simulation->fields);
        char *rest = names;
        for (char *name; count < FIELDS_MOST && (name = strsep(&rest, ",")) != NULL;)
            list[count++] = name;
        list[count] = NULL;
        config.fields = list;
    }
    const char *title = simulation->title != NULL ? simulation->title : "";
    MF_TRY(mf_film_record(simulation->scene->world, title, simulation->colors, simulation->joints,
                          &simulation->stage, &picture, error));
    return simulation->group == NULL
               ? mf_recorder_create_all(simulation->scene->world, &config, out, error)
               : mf_recorder_create(simulation->group, &config, out, error);
}

mf_Status mf_simulation_record(mf_Simulation *simulation, const mf_SceneFile *file,
                               const char *record, const char *fields, const char *every,
                               char names[MF_APP_PATH], char **text, mf_Error *error) {
    size_t used = 0;
    simulation->record = record;
    simulation->record_period = mf_option_real(every, file->record_every);
    simulation->fields = fields;
    if (record != NULL) {
        MF_TRY(mf_scene_file_write(file, text, error));
    }
    simulation->text = *text;
    if (fields != NULL || file->record_field_count == 0)
        return MF_OK;
    for (uint32_t i = 0; i < file->record_field_count && used < MF_APP_PATH; i++)
        used += (size_t)snprintf(names + used, MF_APP_PATH - used, "%s%s", i > 0 ? "," : "",
                                 file->record_fields[i]);
    simulation->fields = names;
    return used < MF_APP_PATH
               ? MF_OK
               : mf_fail_at(error, MF_LIMIT, file->file, 0, 0,
                            "record.fields: expected fewer than %d characters", MF_APP_PATH);
}

static void close_stage(mf_Simulation *simulation) {
    mf_film_destroy(simulation->stage);
    simulation->stage = NULL;
}

// ---- stepping ----------------------------------------------------------------------------------

// Number of steps until the next other task.
static uint64_t run_length(const mf_Simulation *simulation, double step, uint64_t to_sample,
                           uint64_t left) {
    double length = BATCH_STEPS * 1024.0 / simulation->agents;
    double paced = PACE_SECONDS * simulation->realtime / step;
    if (simulation->realtime > 0.0 && paced < length)
        length = paced;
    uint64_t run = length < 1.0 ? 1 : length > 1e9 ? 1000000000 : (uint64_t)length;
    run = run < left ? run : left;
    return run < to_sample ? run : to_sample;
}

static void describe_progress(const mf_Simulation *simulation, double simulated, double seconds,
                              char *out, size_t size) {
    char speed[MF_APP_NUMBER];
    int used = snprintf(out, size, "%s x real time",
                        mf_app_count(seconds > 0.0 ? simulated / seconds : 0.0, speed));
    if (simulation->interaction == NULL || used < 0 || (size_t)used >= size)
        return;
    mf_InteractionStatistics statistics = mf_interaction_statistics(simulation->interaction);
    snprintf(out + used, size - (size_t)used, "  %llu collisions",
             (unsigned long long)statistics.collisions);
}

static void sample_pictures(const mf_Simulation *simulation) {
    if (simulation->tracks != NULL)
        mf_tracks_sample(simulation->tracks);
    if (simulation->film != NULL)
        mf_film_sample(simulation->film);
}

// [1] Steps until the next picture of a camera.
static uint64_t wait_for_photos(const mf_Simulation *simulation) {
    const uint64_t photos = simulation->photographer != NULL
                                ? mf_photographer_wait(simulation->photographer)
                                : UINT64_MAX;
    const uint64_t video =
        simulation->video != NULL ? mf_video_wait(simulation->video) : UINT64_MAX;
    return photos < video ? photos : video;
}

static mf_Status take_photos(const mf_Simulation *simulation, mf_Error *error) {
    if (simulation->photographer != NULL)
        MF_TRY(mf_photographer_take(simulation->photographer, error));
    return simulation->video != NULL ? mf_video_take(simulation->video, error) : MF_OK;
}

static uint64_t period_steps(double period, double step) {
    double steps = period / step + 0.5;
    return steps >= 1.0 ? (uint64_t)steps : 1;
}

// `done` [1] steps, fewer than `steps` only if a script stopped the run.
static mf_Status step_world(const mf_Simulation *simulation, uint64_t steps, uint64_t *done,
                            mf_Error *error) {
    if (simulation->python != NULL) // which calls the others
        return mf_run_python_step(simulation->python, steps, done, error);
    if (simulation->session != NULL) { // it calls scripts, too
        mf_session_step(simulation->session, steps);
        *done = steps;
        return mf_session_scripted(simulation->session, error);
    }
    return mf_scene_step(simulation->scene, steps, done, error);
}

static mf_Status step_all(mf_Simulation *simulation, mf_Recorder *recorder, mf_Error *error) {
    mf_World *world = simulation->scene->world;
    double step = mf_time_to_seconds(mf_world_config_of(world)->step);
    uint64_t every = mf_simulation_record_steps(simulation);
    uint64_t picture_every = period_steps(simulation->picture_period, step);
    uint64_t watch_every = period_steps(simulation->watch_period, step);
    double watching = 0.0; // [s] spent outside of the simulation
    double started = mf_clock_seconds(), before = simulation->pace.simulated;
    simulation->pace.factor = simulation->realtime;
    mf_pace_keep(&simulation->pace, world, before);
    mf_Progress progress = mf_progress_begin(simulation->progress, 0, simulation->steps);
    progress.visible = progress.visible && simulation->progress != NULL;
    mf_Status status = recorder == NULL ? MF_OK : mf_recorder_sample(recorder, error);
    uint64_t done = 0, first = simulation->first;
    if (first == 0)
        sample_pictures(simulation);
    if (status == MF_OK && first == 0)
        status = take_photos(simulation, error);
    while (status == MF_OK && done < simulation->steps) {
        if (mf_app_stop_requested()) {
            const uint64_t total = simulation->total > 0 ? simulation->total : simulation->steps;
            status = mf_fail(error, MF_STOPPED, "stopped after %.6g s of %.6g s",
                             (double)(first + done) * step, (double)total * step);
            break;
        }
        uint64_t to_sample = recorder == NULL ? UINT64_MAX : every - done % every;
        uint64_t to_picture = simulation->tracks != NULL || simulation->film != NULL
                                  ? picture_every - (first + done) % picture_every
                                  : UINT64_MAX;
        uint64_t to_watch =
            simulation->watch != NULL ? watch_every - (first + done) % watch_every : UINT64_MAX;
        to_sample = to_sample < to_picture ? to_sample : to_picture;
        uint64_t to_photo = wait_for_photos(simulation);
        to_sample = to_sample < to_watch ? to_sample : to_watch;
        to_sample = to_sample < to_photo ? to_sample : to_photo;
        uint64_t length = run_length(simulation, step, to_sample, simulation->steps - done), moved;
        status = step_world(simulation, length, &moved, error);
        done += moved;
        if (status != MF_OK || moved < length)
            break;
        if (recorder != NULL && done % every == 0)
            status = mf_recorder_sample(recorder, error);
        if ((first + done) % picture_every == 0)
            sample_pictures(simulation);
        if (status == MF_OK && length == to_photo)
            status = take_photos(simulation, error);
        if (simulation->watch != NULL && (first + done) % watch_every == 0) {
            const double before_watch = mf_clock_seconds();
            simulation->watch(simulation->watched);
            watching += mf_clock_seconds() - before_watch;
        }
        mf_pace_keep(&simulation->pace, world, before + (double)done * step);
        char note[160] = "";
        if (progress.visible)
            describe_progress(simulation, (double)done * step, mf_clock_seconds() - started, note,
                              sizeof note);
        mf_progress_update(&progress, done, note);
    }
    mf_progress_end(&progress);
    simulation->simulated = (double)done * step;
    // With pacing, the watch function's time is part of the clock's.
    simulation->seconds =
        mf_clock_seconds() - started - (simulation->realtime > 0.0 ? 0.0 : watching);
    return status;
}

mf_Status mf_simulation_open(mf_Simulation *simulation, mf_Error *error) {
    if (simulation->recorder != NULL)
        return MF_OK;
    mf_Status status = open_recorder(simulation, &simulation->recorder, error);
    if (status != MF_OK)
        close_stage(simulation);
    return status;
}

mf_Status mf_simulate(mf_Simulation *simulation, mf_Error *error) {
    mf_app_starting(false);
    MF_TRY(mf_simulation_open(simulation, error));
    mf_Status status = step_all(simulation, simulation->recorder, error);
    mf_Error closing;
    mf_Status closed =
        mf_simulation_close(simulation, status == MF_OK || status == MF_STOPPED, &closing);
    if (closed != MF_OK && error != NULL)
        *error = closing;
    return closed != MF_OK ? closed : status;
}

uint64_t mf_simulation_record_steps(const mf_Simulation *simulation) {
    return period_steps(simulation->record_period,
                        mf_time_to_seconds(mf_world_config_of(simulation->scene->world)->step));
}

mf_Status mf_simulation_close(mf_Simulation *simulation, bool keep, mf_Error *error) {
    mf_Recorder *recorder = simulation->recorder;
    mf_Status status = MF_OK;
    simulation->recorder = NULL;
    if (recorder == NULL)
        return MF_OK;
    if (keep)
        status = mf_recorder_close(recorder, error);
    else
        mf_recorder_destroy(recorder);
    close_stage(simulation);
    return status;
}

void mf_simulation_end(const mf_Simulation *simulation) {
    mf_pace_end(&simulation->pace, simulation->scene->world);
}

// ---- films -------------------------------------------------------------------------------------

mf_Status mf_simulation_film(mf_Simulation *simulation, const char *path, mf_Error *error) {
    simulation->film = NULL;
    if (path == NULL)
        return MF_OK;
    double step = mf_time_to_seconds(mf_world_config_of(simulation->scene->world)->step);
    uint64_t every = period_steps(FILM_PERIOD, step);
    simulation->picture_period = (double)every * step;
    double period = simulation->picture_period;
    // The only group has the scene's title.
    const bool whole =
        simulation->group == NULL ||
        (simulation->title != NULL && mf_world_group_count(simulation->scene->world) == 1);
    MF_TRY(whole ? mf_film_create_world(simulation->scene->world, simulation->title,
                                        simulation->colors, period, &simulation->film, error)
                 : mf_film_create(simulation->group, period, &simulation->film, error));
    if (simulation->joints != NULL)
        MF_TRY(mf_film_show_joints(simulation->film, simulation->joints, error));
    return MF_OK;
}

// What a film of many robots or of a long time does not show.
static void say_what_is_left_out(const mf_Film *film, const char *path) {
    if (film->robots < film->of)
        fprintf(stderr, "note: %s shows %u of %u robots, the first of each group\n", path,
                film->robots, film->of);
    if (film->stride > 1)
        fprintf(stderr, "note: %s has a picture every %.3g s instead of every %.3g s\n", path,
                film->period * film->stride, film->period);
    if (film->drawn_until > 0.0)
        fprintf(stderr, "note: %s shows drawings only up to %.3g s: there are too many\n", path,
                film->drawn_until);
}

mf_Status mf_simulation_film_end(mf_Simulation *simulation, const char *path, bool keep,
                                 mf_Error *error) {
    mf_Status status = MF_OK;
    if (simulation->film != NULL && keep)
        status = mf_film_write(simulation->film, path, error);
    if (simulation->film != NULL && keep && status == MF_OK)
        say_what_is_left_out(simulation->film, path);
    mf_film_destroy(simulation->film);
    simulation->film = NULL;
    mf_simulation_end(simulation);
    return status;
}

mf_Status mf_simulate_filmed(mf_Simulation *simulation, const char *path, mf_Error *error) {
    mf_Error writing;
    mf_Status status = mf_simulation_film(simulation, path, error);
    MF_THEN(status, mf_simulate(simulation, error));
    bool ran = status == MF_OK || status == MF_STOPPED;
    mf_Status filmed = mf_simulation_film_end(simulation, path, ran, &writing);
    if (filmed != MF_OK && error != NULL)
        *error = writing;
    return filmed != MF_OK ? filmed : status;
}
