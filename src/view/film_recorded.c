// Recordings and films: the picture of a world for a recorder, and a film from what was recorded. A
// frame is poses, run-time joints, rays, points and levels, as mf_Film has them.
#include "view/film.h"
#include "base/floats.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MOST                                                                               \
    (1u << 23)                // [1] of a film from a recording; of longer ones samples are left out
enum { SAMPLES_MOST = 8192 }; // [1] likewise

// ---- for recorders -----------------------------------------------------------------------------

static void take(float *frame, void *user) {
    mf_Film *film = user;
    mf_FilmChannel channels[MF_FILM_CHANNELS];
    mf_film_take_picture(film);
    mf_film_channels(film, channels);
    for (int i = 0; i < MF_FILM_CHANNELS; frame += channels[i++].used)
        memcpy(frame, *channels[i].values, channels[i].used * sizeof *frame);
}

static size_t drawn(uint64_t since, void *out, size_t capacity, uint64_t *last, void *user) {
    return mf_film_drawn(user, since, out, capacity, last);
}

mf_Status mf_film_record(mf_World *world, const char *title, const char *const *colors,
                         const mf_WorldJoints *joints, mf_Film **out, mf_RecorderPicture *picture,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL && picture != NULL, error, "film: out or picture is NULL");
    mf_Film *film;
    *out = NULL;
    MF_TRY(mf_film_create_single(world, title, colors, joints, &film, error));
    mf_film_take_picture(film);
    mf_film_describe(&film->description, film);
    if (film->description.failed) {
        mf_film_destroy(film);
        return mf_fail(error, MF_NO_MEMORY, "film: out of memory");
    }
    *picture = (mf_RecorderPicture){.description = film->description.data,
                                    .size = mf_film_numbers(film),
                                    .take = take,
                                    .drawn = drawn,
                                    .user = film};
    *out = film;
    return MF_OK;
}

// ---- from recordings ---------------------------------------------------------------------------

static uint32_t count_of(const json_t *object, const char *name) {
    const json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

// A surface's poses are vertices.
static bool is_surface(const json_t *cast) {
    const json_t *shape = json_array_get(json_object_get(cast, "shapes"), 0);
    const char *type = json_string_value(json_object_get(shape, "type"));
    return type != NULL && strcmp(type, MF_FILM_SURFACE) == 0;
}

static bool read_casts(mf_Film *film, const json_t *picture) {
    const json_t *casts = json_object_get(picture, "casts"), *cast;
    const json_t *clouds = json_object_get(picture, "clouds"), *cloud;
    uint64_t poses = 0, points = 0;
    size_t i;
    film->casts = mf_allocate(film->context, json_array_size(casts) + 1, sizeof *film->casts);
    if (film->casts == NULL)
        return false;
    json_array_foreach(casts, i, cast) {
        mf_FilmCast *out = &film->casts[film->cast_count++];
        *out = (mf_FilmCast){.robots = count_of(cast, "robots"),
                             .links = count_of(cast, "links"),
                             .surface = is_surface(cast)};
        film->robots += out->robots;
        poses += (uint64_t)out->robots * out->links;
    }
    json_array_foreach(clouds, i, cloud) points += count_of(cloud, "points");
    film->poses_each = poses < UINT32_MAX ? (uint32_t)poses : UINT32_MAX;
    film->points_each = points < UINT32_MAX ? (uint32_t)points : UINT32_MAX;
    film->ray_count = count_of(picture, "rays");
    film->joints_each = count_of(picture, "joints");
    film->levels_each = count_of(picture, "levels"); // none in those of earlier versions
    return true;
}

static void take_frame(mf_Film *film, const float *frame) {
    mf_FilmChannel channels[MF_FILM_CHANNELS];
    mf_film_channels(film, channels);
    for (int i = 0; i < MF_FILM_CHANNELS; frame += channels[i++].used)
        memcpy(*channels[i].values + film->filled * channels[i].stride, frame,
               channels[i].used * sizeof *frame);
    film->filled++;
}

// Films have equal intervals: the nearest sample at each, which for the recordings of the command
// is every one.
static void take_frames(mf_Film *film, const mf_Recording *recording) {
    const uint32_t last = recording->samples - 1;
    const double *time = recording->time, span = time[last] - time[0];
    const uint32_t fit = NUMBERS_MOST / (recording->frame_size + 1);
    uint32_t most = fit < SAMPLES_MOST ? fit : SAMPLES_MOST, at = 0;
    most = most < 2 ? 2 : most;
    const uint32_t stride = last / most + 1;
    const uint32_t count = last / stride + 1;
    film->period = count > 1 && span > 0.0 ? span / last * stride : 0.04;
    for (uint32_t i = 0; i < count; i++) {
        const double target = time[0] + i * film->period;
        while (at < last && fabs(time[at + 1] - target) <= fabs(time[at] - target))
            at++;
        take_frame(film, recording->frames + (size_t)at * recording->frame_size);
    }
}

static mf_Status build(mf_Film *film, const mf_Recording *recording, mf_Error *error) {
    if (recording->picture[0] == '\0' || recording->samples == 0)
        return mf_fail_at(error, MF_UNSUPPORTED, recording->path, 0, 0,
                          recording->samples == 0
                              ? "the recording has no samples: there is nothing to show"
                              : "the recording has numbers and no picture: record it again with "
                                "mayfly run --record");
    json_t *picture = json_loads(recording->picture, 0, NULL);
    bool good = json_is_object(picture) && read_casts(film, picture) &&
                mf_film_numbers(film) == recording->frame_size &&
                film->joints_each <= MF_FILM_JOINTS;
    json_decref(picture);
    if (!good)
        return mf_fail_at(error, MF_BAD_FILE, recording->path, 0, 0,
                          "the recording's picture and its frames do not fit together");
    film->capacity = recording->samples < SAMPLES_MOST ? recording->samples : SAMPLES_MOST;
    mf_text_put(&film->description, recording->picture);
    MF_NEED_MEMORY(mf_film_allocate(film) && !film->description.failed, error, "film");
    take_frames(film, recording);
    MF_NEED_MEMORY(
        mf_film_take_drawn(film, recording->drawings, recording->drawings_size, recording->time[0]),
        error, "film");
    return MF_OK;
}

// What depends on the samples is set anew.
void mf_film_put_recorded(mf_Text *text, const mf_Film *film) {
    json_t *picture = json_loads(film->description.data, 0, NULL);
    json_t *casts = json_object_get(picture, "casts"), *cast;
    size_t i;
    json_object_set_new(picture, "frames", json_integer(film->filled));
    json_object_set_new(picture, "period", json_real(film->period));
    json_object_del(picture, "low");
    json_object_del(picture, "scale");
    json_array_foreach(casts, i, cast) json_object_del(cast, "tracks"); // poses are whole
    char *dumped = json_dumps(picture, JSON_COMPACT);
    json_decref(picture);
    if (dumped == NULL || dumped[0] == '\0') {
        text->failed = true;
        return;
    }
    for (char *c = dumped; *c != '\0'; c++) // nothing ends the page's script
        *c = *c == '<' ? '_' : *c;
    mf_text_put_bytes(text, dumped, strlen(dumped) - 1);
    free(dumped);
    mf_film_put_box(text, film);
    mf_text_put(text, "}");
}

static const char *title_of(const mf_Recording *recording) {
    const char *slash = strrchr(recording->path, '/');
    return slash != NULL ? slash + 1 : recording->path;
}

static mf_Status render(mf_Context *context, mf_Text *text, const mf_Recording *recording,
                        mf_Error *error) {
    mf_Film *film = mf_allocate(context, 1, sizeof *film);
    MF_NEED_MEMORY(film != NULL, error, "film");
    *film = (mf_Film){.context = context,
                      .title = title_of(recording),
                      .stride = 1,
                      .description = mf_text_begin(context),
                      .drawn = mf_text_begin(context)};
    mf_Status status = build(film, recording, error);
    MF_THEN(status, mf_film_render(text, film, error));
    mf_film_destroy(film);
    return status;
}

mf_Status mf_film_render_recording(mf_Text *text, const mf_Recording *recording, mf_Error *error) {
    return render(text->context, text, recording, error);
}

mf_Status mf_film_recording_page(mf_Context *context, const mf_Recording *recording, char **page,
                                 mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || recording == NULL || page == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "film: context, recording or page is NULL");
    mf_Text text = mf_text_begin(context);
    mf_Status status = mf_film_render_recording(&text, recording, error);
    return mf_text_end(&text, status, "film", page, error);
}

mf_Status mf_film_text(const mf_Film *film, char **page, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (film == NULL || page == NULL || film->filled == 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "film: expected a film with samples and a page");
    mf_Text text = mf_text_begin(film->context);
    return mf_text_end(&text, mf_film_render(&text, film, error), "film", page, error);
}

mf_Status mf_film_viewer_page(mf_Context *context, const char *title, char **page,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || title == NULL || page == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "film: context, title or page is NULL");
    mf_Text text = mf_text_begin(context);
    return mf_text_end(&text, mf_film_live_page(&text, title, error), "film", page, error);
}

mf_Status mf_film_write_recording(const mf_Recording *recording, const char *path,
                                  mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(recording != NULL && path != NULL, error, "film: recording or path is NULL");
    mf_Text text = mf_text_begin(recording->context);
    mf_Status status = mf_film_render_recording(&text, recording, error);
    if (status == MF_OK)
        return mf_text_save(&text, path, "film", error);
    mf_text_free(&text);
    return status;
}
