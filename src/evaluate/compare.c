// One robot and one gait at every level: the same start, the same targets, one world after the
// other; then differences to the most accurate level, and the cost of a step in a batch.
#include "evaluate/level_run.h"
#include "body/kind.h"
#include "motion/table.h"
#include "scene/script/script.h"
#include "base/floats.h"

#include "body/compare.h"
#include <mayfly/film.h>

#include "math/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE (10 * MF_MILLISECOND) // [ns]
#define FALLEN 1.0                   // [rad]

mf_CompareConfig mf_compare_config(void) {
    mf_CompareConfig config = {.struct_size = sizeof config, .cost_robots = 256};
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        config.selected[i] = true;
    return config;
}

// ---- one level ---------------------------------------------------------------------------------

static void take_sample(mf_LevelRun *run, double time, mf_CompareRow *row) {
    mf_CompareSample *sample = &row->samples[row->sample_count];
    double q[4];
    sample->time = time;
    if (row->vertices != NULL) {
        const double force = mf_level_run_sample_body(run, sample);
        row->force = force > row->force ? force : row->force;
        sample->energy = mf_level_run_energy(run);
        row->sample_count++;
        return;
    }
    mf_level_run_sample(run, sample->position, q, &sample->penetration, &sample->slip);
    sample->heading =
        mf_atan2(2.0 * (q[1] * q[2] + q[0] * q[3]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]));
    sample->tilt = mf_acos(1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]));
    sample->energy = mf_level_run_energy(run);
    if (row->sample_count > 0) {
        double before = row->samples[row->sample_count - 1].heading;
        sample->heading = before + mf_wrap_angle(sample->heading - before);
    }
    if (sample->tilt > FALLEN && !(row->fell >= 0.0))
        row->fell = time;
    row->sample_count++;
}

static void sum_up(mf_CompareRow *row) {
    const mf_CompareSample *first = row->samples, *last = first + row->sample_count - 1;
    double x = last->position[0] - first->position[0], y = last->position[1] - first->position[1];
    double sine, cosine;
    mf_sin_cos(first->heading, &sine, &cosine);
    row->distance = mf_sqrt(x * x + y * y);
    row->forward = x * cosine + y * sine;
    row->heading_change = last->heading - first->heading;
    for (const mf_CompareSample *s = first; s <= last; s++) {
        row->height += s->position[2] / row->sample_count;
        row->slip += s->slip / row->sample_count;
        row->tilt = s->tilt > row->tilt ? s->tilt : row->tilt;
        row->penetration = s->penetration > row->penetration ? s->penetration : row->penetration;
    }
}

// Bodies have motions of their own, other robots the levels.
static bool applies(const mf_SceneFile *file, mf_Motion motion) {
    const mf_BodyKind *kind = file->groups[0].kind;
    return kind != NULL ? mf_body_moves_by(kind, motion) : motion < MF_MOTION_LEVELS;
}

// [ns] Between samples, the same for all levels: at least a step of a body.
static mf_Time sample_time(const mf_SceneFile *file) {
    const mf_Time frame = file->step > 0 ? file->step : 20 * MF_MILLISECOND;
    return file->groups[0].kind != NULL && frame > SAMPLE ? frame : SAMPLE;
}

// Whether the level supports the model; if not, the row says why and the comparison continues.
static mf_Status check_level(mf_Context *context, mf_SceneFile *file, mf_CompareRow *row,
                             mf_Error *error) {
    const mf_SceneGroup *group = &file->groups[0];
    mf_Model *loaded = NULL;
    mf_Error cause = {0};
    mf_Status status = MF_OK;
    row->possible = group->kind != NULL;
    if (row->possible)
        return MF_OK;
    if (group->model == NULL)
        status = mf_model_load(context, group->model_path, &group->import, &loaded, error);
    if (status != MF_OK)
        return status;
    status = mf_motion_check(loaded != NULL ? loaded : group->model, row->motion, &cause);
    mf_model_destroy(loaded);
    if (status == MF_NO_MEMORY) // not a property of the model
        return mf_fail(error, status, "%s", cause.message);
    row->possible = status == MF_OK;
    if (row->possible)
        return MF_OK;
    memcpy(row->reason, cause.message, sizeof row->reason - 1);
    row->reason[sizeof row->reason - 1] = '\0';
    return MF_OK;
}

static void take_notes(const mf_Scene *scene, mf_Comparison *all) {
    all->note_count = scene->note_count;
    memcpy(all->notes, scene->notes, sizeof all->notes);
}

static void take_command(const mf_Scene *scene, mf_Comparison *all) {
    const mf_Field *command = mf_group_find_field(scene->group, "gait.command");
    for (uint32_t c = 0; command != NULL && c < 3; c++)
        all->command[c] = mf_field_get(command, 0, c);
}

static bool make_vertices(mf_Context *context, uint32_t count, mf_CompareRow *row) {
    if (count == 0)
        return true;
    row->vertex_count = count;
    row->vertices = mf_allocate(context, count, sizeof *row->vertices);
    return row->vertices != NULL;
}

// ---- films -------------------------------------------------------------------------------------

typedef struct LevelFilm {
    mf_Film *film; // NULL: none is requested
    char title[200], path[1024];
} LevelFilm;

static mf_Status begin_film(LevelFilm *own, const mf_LevelRun *run, const mf_Comparison *all,
                            const char *page, mf_CompareRow *row, double period, mf_Error *error) {
    own->film = NULL;
    if (page == NULL)
        return MF_OK;
    const char *level = mf_motion_name(row->motion), *name = strrchr(page, '/');
    const size_t length = strlen(page);
    const bool ends = length > 5 && strcmp(page + length - 5, ".html") == 0;
    const int stem = (int)(ends ? length - 5 : length);
    const int size = snprintf(own->path, sizeof own->path, "%.*s-%s.html", stem, page, level);
    name = own->path + (name != NULL ? name + 1 - page : 0);
    if (size < 0 || (size_t)size >= sizeof own->path || strlen(name) >= sizeof row->film)
        return mf_fail(error, MF_LIMIT, "compare: the name of the page is too long: %.80s", page);
    snprintf(own->title, sizeof own->title, "%.90s, %.60s: %s", all->model, all->gait, level);
    memcpy(row->film, name, strlen(name) + 1);
    return mf_film_create_world(run->scene.world, own->title, NULL, period, &own->film, error);
}

// A build without the page of films compares without them.
static mf_Status end_film(const LevelFilm *own, mf_CompareRow *row, mf_Error *error) {
    mf_Error cause = {0};
    mf_Status status = own->film != NULL ? mf_film_write(own->film, own->path, &cause) : MF_OK;
    mf_film_destroy(own->film);
    if (status == MF_OK)
        return MF_OK;
    row->film[0] = '\0';
    return status == MF_UNSUPPORTED ? MF_OK : mf_fail(error, status, "%s", cause.message);
}

// ---- a level -----------------------------------------------------------------------------------

static mf_Status run_samples(mf_LevelRun *run, uint64_t every, double period, uint32_t count,
                             const LevelFilm *film, mf_CompareRow *row, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            MF_TRY(mf_scene_step(&run->scene, every, NULL, error));
        take_sample(run, i * period, row);
        if (film->film != NULL)
            mf_film_sample(film->film);
    }
    return MF_OK;
}

static mf_Status run_level(mf_Context *context, mf_SceneFile *file, mf_Comparison *all,
                           const char *page, mf_CompareRow *row, mf_Error *error) {
    mf_LevelRun run;
    LevelFilm film;
    mf_Status status = check_level(context, file, row, error);
    if (status != MF_OK || !row->possible)
        return status;
    MF_TRY(mf_level_run_open(context, file, row->motion, 1, &run, error));
    const mf_Time step = run.scene.step, sample = sample_time(file);
    uint64_t every = sample / step > 0 ? (uint64_t)(sample / step) : 1;
    double period = (double)every * mf_time_to_seconds(step);
    uint32_t count = (uint32_t)(file->duration / period + 0.5) + 1;
    row->step = mf_time_to_seconds(step);
    row->samples = mf_allocate(context, count, sizeof *row->samples);
    if (row->samples == NULL || !make_vertices(context, run.vertex_count, row)) {
        mf_level_run_close(&run);
        return mf_fail(error, MF_NO_MEMORY, "compare: out of memory");
    }
    status = begin_film(&film, &run, all, page, row, period, error);
    if (status != MF_OK) {
        mf_level_run_close(&run);
        return status;
    }
    status = run_samples(&run, every, period, count, &film, row, error);
    if (status == MF_OK)
        status = end_film(&film, row, error);
    else
        mf_film_destroy(film.film);
    for (uint32_t v = 0; v < row->vertex_count; v++)
        mf_vec3_copy(row->vertices[v], run.before[v]);
    row->warnings = mf_group_warning(run.scene.group, 0);
    row->fault = mf_group_fault(run.scene.group, 0);
    row->finished = row->fault == 0;
    sum_up(row);
    take_notes(&run.scene, all);
    take_command(&run.scene, all);
    mf_level_run_close(&run);
    return status;
}

// ---- all levels --------------------------------------------------------------------------------

static double square(double x) {
    return x * x;
}

static void find_errors(const mf_CompareRow *reference, mf_CompareRow *row) {
    double position = 0.0, heading = 0.0, height = 0.0, tilt = 0.0, energy = 0.0;
    uint32_t count = row->sample_count;
    for (uint32_t i = 0; i < count; i++) {
        const mf_CompareSample *a = &row->samples[i], *b = &reference->samples[i];
        position +=
            square(a->position[0] - b->position[0]) + square(a->position[1] - b->position[1]);
        heading += square(a->heading - b->heading);
        height += square(a->position[2] - b->position[2]);
        tilt += square(a->tilt - b->tilt);
        energy += square(a->energy - b->energy);
    }
    row->position_error = mf_sqrt(position / count);
    row->heading_error = mf_sqrt(heading / count);
    row->height_error = mf_sqrt(height / count);
    row->tilt_error = mf_sqrt(tilt / count);
    row->energy_error = mf_sqrt(energy / count);
    if (row->vertices == NULL)
        return;
    row->heading_error = row->tilt_error = (double)NAN; // it has no rotation
    row->vertex_error = 0.0;
    for (uint32_t v = 0; v < row->vertex_count; v++) {
        double apart[3];
        mf_vec3_sub(apart, row->vertices[v], reference->vertices[v]);
        const double distance = mf_vec3_length(apart);
        row->vertex_error = distance > row->vertex_error ? distance : row->vertex_error;
    }
}

static void forget(mf_CompareRow *row) {
    row->fell = row->seconds = (double)NAN;
    row->position_error = row->heading_error = row->height_error = (double)NAN;
    row->tilt_error = row->energy_error = row->vertex_error = (double)NAN;
}

static mf_Status check(const mf_SceneFile *file, const mf_CompareConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error,
            "compare: start from mf_compare_config()");
    if (file->group_count != 1)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "expected a scene of one group to compare, found %u", file->group_count);
    const mf_BodyKind *kind = file->groups[0].kind;
    if (kind != NULL && kind->motions == NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "a %s has one motion, so there is nothing to compare", kind->name);
    if (file->duration > 1e5)
        return mf_fail_at(error, MF_LIMIT, file->file, 0, 0,
                          "run.duration: expected at most 1e5 s to compare, found %g s",
                          file->duration);
    return MF_OK;
}

static mf_Status run_all(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                         mf_Comparison *all, mf_Error *error) {
    mf_CompareRow *reference = NULL;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < MF_MOTION_COUNT && status == MF_OK; i++) {
        mf_CompareRow *row = &all->rows[i];
        row->motion = (mf_Motion)i;
        forget(row);
        if (!config->selected[i] || !applies(file, row->motion))
            continue;
        status = run_level(context, file, all, config->films, row, error);
        if (status == MF_OK && row->possible && config->cost_robots > 0)
            status = mf_level_run_cost(context, file, config, row->motion, &row->seconds, error);
        reference = row->possible ? row : reference;
    }
    if (status != MF_OK)
        return status;
    if (reference == NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "the robot supports none of the requested levels");
    all->reference = reference->motion;
    for (uint32_t i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].sample_count > 0 && &all->rows[i] != reference)
            find_errors(reference, &all->rows[i]);
    return MF_OK;
}

mf_Status mf_compare(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                     mf_Comparison **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_CompareConfig settings = config != NULL ? *config : mf_compare_config();
    MF_NEED(out != NULL, error, "compare: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && file != NULL, error, "compare: context or file is NULL");
    MF_TRY(check(file, &settings, error));
    mf_Comparison *all = mf_allocate(context, 1, sizeof *all);
    MF_NEED_MEMORY(all != NULL, error, "compare");
    const mf_Behavior *behavior = &file->groups[0].behavior;
    all->context = context;
    all->model = file->name;
    all->gait = behavior->kind == MF_BEHAVIOR_GAIT ? behavior->gait : "standing";
    all->body = mf_body_kind_name(file->groups[0].kind);
    if (all->body != NULL) {
        (void)file->groups[0].kind->drive(&file->groups[0], all->drive, NULL, NULL);
        all->gait = all->drive;
    }
    all->duration = file->duration;
    all->cost_robots = settings.cost_robots;
    all->threads = mf_context_threads(context);
    mf_Status status = mf_isa_detect(&all->isa, error);
    MF_THEN(status, run_all(context, file, &settings, all, error));
    if (status != MF_OK)
        mf_comparison_destroy(all);
    else
        *out = all;
    return status;
}

void mf_comparison_destroy(mf_Comparison *comparison) {
    if (comparison == NULL)
        return;
    for (uint32_t i = 0; i < MF_MOTION_COUNT; i++) {
        mf_release(comparison->context, comparison->rows[i].samples);
        mf_release(comparison->context, comparison->rows[i].vertices);
    }
    mf_release(comparison->context, comparison);
}
