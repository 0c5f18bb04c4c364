// Sampling a film: the world poses of all links of the robots, as floats. When the buffer is
// full every second sample is dropped, so a film of any length has bounded size and constant
// intervals.
#include "view/film.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <mayfly/dynamics.h>

#include <math.h>
#include <string.h>

#define POSES_MOST (1u << 21)  // [1] stored in total
#define SWARM_POSES (1u << 19) // [1] likewise, of vehicles alone
#define SWARM_LEAST 128u       // [1] samples of these
#define SAMPLES_MOST 8192u     // [1]
#define SAMPLES_LEAST 64u      // [1]
#define OWN_MOST 64u           // [1] bodies of vertices of a group
#define POINTS_MOST (1u << 22) // [1] of all clouds and samples

// ---- the numbers of a sample -------------------------------------------------------------------

void mf_film_channels(mf_Film *film, mf_FilmChannel out[MF_FILM_CHANNELS]) {
    const size_t joints = MF_FILM_JOINTS * MF_FILM_JOINT;
    const size_t used = film->joints != NULL ? joints : (size_t)film->joints_each * MF_FILM_JOINT;
    const size_t poses = (size_t)film->poses_each * MF_FILM_POSE;
    const size_t rays = (size_t)film->ray_count * MF_FILM_RAY;
    const size_t points = 3 * (size_t)film->points_each, levels = film->levels_each;
    out[0] = (mf_FilmChannel){&film->poses, poses, poses};
    out[1] = (mf_FilmChannel){&film->joint_rows, used, used > 0 ? joints : 0};
    out[2] = (mf_FilmChannel){&film->ray_rows, rays, rays};
    out[3] = (mf_FilmChannel){&film->points, points, points};
    out[4] = (mf_FilmChannel){&film->levels, levels, levels};
}

bool mf_film_allocate(mf_Film *film) {
    mf_FilmChannel channels[MF_FILM_CHANNELS];
    bool good = true;
    mf_film_channels(film, channels);
    for (int i = 0; i < MF_FILM_CHANNELS; i++) {
        *channels[i].values =
            mf_allocate(film->context, film->capacity * channels[i].stride + 1, sizeof(float));
        good = good && *channels[i].values != NULL;
    }
    return good;
}

size_t mf_film_numbers(mf_Film *film) {
    mf_FilmChannel channels[MF_FILM_CHANNELS];
    size_t sum = 0;
    mf_film_channels(film, channels);
    for (int i = 0; i < MF_FILM_CHANNELS; i++)
        sum += channels[i].used;
    return sum;
}

// ---- what is shown -----------------------------------------------------------------------------

// Robots of `each` links that are shown: as many as there is space for, and the first one anyway.
static uint32_t shown(const mf_Film *film, uint32_t count, uint32_t each) {
    if (film->live || each == 0)
        return count;
    const uint32_t capacity =
        film->poses_each < MF_FILM_LINKS ? MF_FILM_LINKS - film->poses_each : 0;
    return mf_smaller_u32(count, mf_larger_u32(capacity / each, 1));
}

// Bars of a group differ, and surfaces change, so each body is a cast of its own.
static uint32_t casts_of(const mf_Visual *visual, bool live) {
    const uint32_t count = mf_group_count(visual->group);
    uint32_t casts = 0;
    if (visual->kind != MF_VISUAL_PARTS)
        return live ? count : mf_smaller_u32(count, OWN_MOST);
    for (uint32_t i = 0; i < count; i = mf_film_alike(visual, i))
        casts++;
    return casts;
}

static void add_cast(mf_Film *film, const mf_FilmCast *cast, uint32_t *links) {
    film->casts[film->cast_count++] = *cast;
    film->robots += cast->robots;
    film->poses_each += cast->robots * cast->links;
    *links = mf_larger_u32(*links, cast->robots * cast->links);
}

static void take_robots(mf_Film *film, const mf_Visual *visual, const char *color,
                        uint32_t *links) {
    const uint32_t each = mf_group_model(visual->group)->link_count, like = film->cast_count;
    const uint32_t robots = shown(film, mf_group_count(visual->group), each);
    for (uint32_t i = 0, end; i < robots; i = end) {
        end = mf_smaller_u32(mf_film_alike(visual, i), robots);
        add_cast(film,
                 &(mf_FilmCast){.group = visual->group,
                                .visual = visual,
                                .color = color,
                                .first = i,
                                .robots = end - i,
                                .links = each,
                                .like = like},
                 links);
    }
}

static void take_group(mf_Film *film, const mf_Visual *visual, const char *color, uint32_t *links) {
    mf_Group *group = visual->group;
    film->of += mf_group_count(group);
    if (visual->kind == MF_VISUAL_PARTS) {
        take_robots(film, visual, color, links);
        return;
    }
    const uint32_t count = casts_of(visual, film->live);
    const bool surface = visual->kind == MF_VISUAL_TRIANGLES;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t own = surface ? mf_film_surface_links(visual) : mf_film_bar_links(visual, i);
        const uint32_t each = own > 0 ? own : mf_group_model(group)->link_count;
        const uint32_t robots = own > 0 ? 1 : shown(film, mf_group_count(group), each);
        add_cast(film,
                 &(mf_FilmCast){.group = group,
                                .visual = visual,
                                .color = color,
                                .first = i,
                                .robots = robots,
                                .links = each,
                                .surface = surface,
                                .like = film->cast_count},
                 links);
    }
}

static void take_cloud(mf_Film *film, const mf_Visual *visual, const char *color) {
    mf_FilmCloud *cloud = &film->clouds[film->cloud_count++];
    *cloud = (mf_FilmCloud){.visual = visual, .color = color};
    cloud->count = mf_film_cloud_points(visual->group, film->live, &cloud->stride);
    film->points_each += cloud->count;
}

// A swarm is followed for long, and from afar.
static bool only_vehicles(const mf_Film *film) {
    bool all = film->cloud_count == 0;
    for (uint32_t i = 0; i < film->cast_count; i++)
        all = all && film->casts[i].visual->own_parts;
    return all;
}

// [1] Samples that there is space for: even, so that the next one after thinning keeps the
// interval.
static uint32_t choose_capacity(const mf_Film *film) {
    if (film->live || film->period == (double)INFINITY)
        return 1;
    const bool swarm = only_vehicles(film);
    const uint32_t least = swarm ? SWARM_LEAST : SAMPLES_LEAST;
    uint32_t capacity = (swarm ? SWARM_POSES : POSES_MOST) / mf_larger_u32(film->poses_each, 1);
    capacity = mf_smaller_u32(mf_larger_u32(capacity, least), SAMPLES_MOST);
    if (film->points_each > 0 && capacity > POINTS_MOST / film->points_each)
        capacity = POINTS_MOST / film->points_each;
    return capacity & ~1u;
}

// A period of 0 is that of a live film, one of INFINITY that of a single picture.
static mf_Status create(mf_World *world, const char *title, mf_Group *const *groups, uint32_t count,
                        const char *const *colors, double period, mf_Film **out, mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    mf_Film *film = mf_allocate(context, 1, sizeof *film);
    MF_NEED_MEMORY(film != NULL, error, "film");
    *film = (mf_Film){.context = context,
                      .world = world,
                      .description = mf_text_begin(context),
                      .drawn = mf_text_begin(context),
                      .title = title,
                      .live = !(period > 0.0),
                      .stride = 1,
                      .period = period};
    uint32_t links = 0, casts = 0;
    film->visuals = mf_allocate(context, count, sizeof *film->visuals);
    for (uint32_t i = 0; i < count && film->visuals != NULL; i++) {
        film->visuals[i] = mf_visual_of(groups[i]);
        casts += casts_of(&film->visuals[i], film->live);
    }
    film->casts = mf_allocate(context, casts, sizeof *film->casts);
    film->clouds = mf_allocate(context, count, sizeof *film->clouds);
    if (film->visuals != NULL && film->casts != NULL && film->clouds != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            const char *color = colors != NULL ? colors[i] : NULL;
            if (film->visuals[i].kind == MF_VISUAL_POINTS)
                take_cloud(film, &film->visuals[i], color);
            else
                take_group(film, &film->visuals[i], color, &links);
        }
        film->capacity = choose_capacity(film);
        film->position = mf_allocate(context, links, 3 * sizeof *film->position);
        film->rotation = mf_allocate(context, links, 4 * sizeof *film->rotation);
    }
    mf_Status status = MF_OK;
    mf_film_count_levels(film);
    if (!mf_film_take_rays(film) || !mf_film_allocate(film) || film->position == NULL ||
        film->rotation == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "film: out of memory");
    for (uint32_t i = 0; i < count && status == MF_OK; i++) // prepares the link poses
        if (film->visuals[i].kind != MF_VISUAL_POINTS)
            status = mf_group_link_poses(groups[i], 0, 0, film->position, film->rotation, error);
    if (status != MF_OK)
        mf_film_destroy(film);
    else
        *out = film;
    return status;
}

mf_Status mf_film_create(mf_Group *group, double period, mf_Film **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "film: out is NULL");
    *out = NULL;
    if (group == NULL || !(period > 0.0) || !isfinite(period))
        return mf_fail(error, MF_BAD_ARGUMENT, "film: expected a group and a period above 0 s");
    return create(mf_group_world(group), mf_group_model(group)->name, &group, 1, NULL, period, out,
                  error);
}

// `colors` and `joints` may be NULL. On failure *out is NULL.
static mf_Status create_world(mf_World *world, const char *title, const char *const *colors,
                              const mf_WorldJoints *joints, double period, mf_Film **out,
                              mf_Error *error) {
    uint32_t count = mf_world_group_count(world);
    *out = NULL;
    mf_Group **groups = mf_allocate(mf_world_context(world), count, sizeof *groups);
    MF_NEED_MEMORY(groups != NULL, error, "film");
    for (uint32_t i = 0; i < count; i++)
        groups[i] = mf_world_group(world, i);
    mf_Status status = create(world, title, groups, count, colors, period, out, error);
    mf_release(mf_world_context(world), groups);
    if (status == MF_OK && joints != NULL)
        status = mf_film_show_joints(*out, joints, error);
    if (status != MF_OK) {
        mf_film_destroy(*out);
        *out = NULL;
    }
    return status;
}

mf_Status mf_film_create_world(mf_World *world, const char *title, const char *const *colors,
                               double period, mf_Film **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "film: out is NULL");
    *out = NULL;
    MF_NEED(world != NULL && title != NULL && mf_world_group_count(world) != 0 && period > 0.0 &&
                isfinite(period),
            error, "film: expected a world with groups, a title and a period above 0 s");
    return create_world(world, title, colors, NULL, period, out, error);
}

mf_Status mf_film_show_joints(mf_Film *film, const mf_WorldJoints *joints, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(film != NULL && joints != NULL && film->calls == 0 && film->joints == NULL, error,
            "film: joints: expected some, once, for a film without samples");
    mf_release(film->context, film->joint_rows);
    film->joint_rows = mf_allocate(film->context, film->capacity,
                                   MF_FILM_JOINTS * MF_FILM_JOINT * sizeof *film->joint_rows);
    MF_NEED_MEMORY(film->joint_rows != NULL, error, "film");
    film->joints = joints;
    return MF_OK;
}

mf_Status mf_film_create_live(mf_World *world, const char *title, const char *const *colors,
                              const mf_WorldJoints *joints, mf_Film **out, mf_Error *error) {
    *out = NULL;
    MF_NEED(mf_world_group_count(world) != 0, error, "view: the world has no groups");
    mf_Status status = create_world(world, title, colors, joints, 0.0, out, error);
    if (status == MF_OK && !mf_film_make_contacts(*out)) {
        mf_film_destroy(*out);
        *out = NULL;
        status = mf_fail(error, MF_NO_MEMORY, "view: out of memory");
    }
    return status;
}

mf_Status mf_film_create_single(mf_World *world, const char *title, const char *const *colors,
                                const mf_WorldJoints *joints, mf_Film **out, mf_Error *error) {
    *out = NULL;
    if (world == NULL || title == NULL || mf_world_group_count(world) == 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "film: expected a world with groups and a title");
    MF_TRY(create_world(world, title, colors, joints, (double)INFINITY, out, error));
    (*out)->live = true;
    (*out)->period = 0.0;
    return MF_OK;
}

void mf_film_destroy(mf_Film *film) {
    if (film == NULL)
        return;
    mf_FilmChannel channels[MF_FILM_CHANNELS];
    mf_film_channels(film, channels);
    for (int i = 0; i < MF_FILM_CHANNELS; i++)
        mf_release(film->context, *channels[i].values);
    mf_text_free(&film->description);
    mf_text_free(&film->drawn);
    mf_release(film->context, film->contacts);
    mf_release(film->context, film->contact_rows);
    mf_release(film->context, film->rays);
    mf_release(film->context, film->casts);
    mf_release(film->context, film->visuals);
    mf_release(film->context, film->clouds);
    mf_release(film->context, film->position);
    mf_release(film->context, film->rotation);
    mf_release(film->context, film);
}

static float *sample_cast(mf_Film *film, const mf_FilmCast *cast, float *pose) {
    if (cast->visual->kind == MF_VISUAL_BARS)
        return mf_film_bar_sample(cast->visual, cast->first, cast->links, pose);
    if (cast->visual->kind == MF_VISUAL_TRIANGLES)
        return mf_film_surface_sample(cast->visual, cast->first, pose);
    // Prepared when the film was created, so it cannot fail.
    mf_group_link_poses(cast->group, cast->first, cast->robots, film->position, film->rotation,
                        NULL);
    for (size_t l = 0; l < (size_t)cast->robots * cast->links; l++, pose += MF_FILM_POSE) {
        for (int c = 0; c < 3; c++)
            pose[c] = (float)film->position[3 * l + c];
        for (int c = 0; c < 4; c++)
            pose[3 + c] = (float)film->rotation[4 * l + c];
    }
    return pose;
}

static void drop_every_second(mf_Film *film) {
    mf_FilmChannel channels[MF_FILM_CHANNELS];
    mf_film_channels(film, channels);
    for (int i = 0; i < MF_FILM_CHANNELS; i++) {
        const size_t size = channels[i].stride;
        float *values = *channels[i].values;
        for (uint32_t s = 1; 2 * s < film->filled; s++)
            memcpy(values + s * size, values + 2 * s * size, size * sizeof *values);
    }
    film->filled = (film->filled + 1) / 2;
    film->stride *= 2;
}

float mf_film_number(const mf_Film *film, const mf_Group *group, uint32_t instance) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < film->cast_count; first += film->casts[i++].robots) {
        const mf_FilmCast *cast = &film->casts[i];
        if (cast->group == group && instance >= cast->first &&
            instance - cast->first < cast->robots)
            return (float)(first + instance - cast->first);
    }
    return -1.0f;
}

// The larger part of what breaks it that a joint bears; -1: nothing breaks it.
static double load_of(const mf_WorldJointConfig *config, const mf_WorldJointState *now) {
    const double force = mf_vec3_length(now->force) / config->force_limit;
    const double moment = mf_vec3_length(now->moment) / config->moment_limit;
    if (!isfinite(config->force_limit) && !isfinite(config->moment_limit))
        return -1.0;
    return force > moment ? force : moment;
}

static void sample_joint(const mf_Film *film, mf_WorldJointId id, float *row) {
    mf_WorldJointState now;
    mf_WorldJointConfig config;
    mf_world_joint_state(film->joints, id, &now, NULL);
    mf_world_joint_config_of(film->joints, id, &config, NULL);
    for (int c = 0; c < 6; c++)
        row[c] = (float)now.anchors[c / 3][c % 3];
    row[6] = (float)mf_vec3_length(now.force);
    row[7] = now.broken    ? MF_FILM_JOINT_BROKEN
             : now.enabled ? MF_FILM_JOINT_HOLDS
                           : MF_FILM_JOINT_OFF;
    row[8] = (float)load_of(&config, &now);
    for (int side = 0; side < 2; side++)
        row[9 + side] = mf_film_number(film, config.sides[side].group, config.sides[side].instance);
}

static bool has_row(const mf_Film *film, mf_WorldJointId id) {
    for (uint32_t i = 0; i < MF_FILM_JOINTS; i++)
        if (film->joint_ids[i] == id)
            return true;
    return false;
}

// A joint keeps its row; that of one that was destroyed stays empty for a sample, so that the page
// does not take another joint for it.
static void sample_joints(mf_Film *film) {
    const size_t numbers = MF_FILM_JOINTS * MF_FILM_JOINT;
    float *rows = film->joint_rows + film->filled * numbers;
    mf_WorldJointId *ids = film->joint_ids, id;
    memset(rows, 0, numbers * sizeof *rows);
    bool free_row[MF_FILM_JOINTS];
    for (uint32_t i = 0; i < MF_FILM_JOINTS; i++) {
        free_row[i] = ids[i] == MF_WORLD_JOINT_NONE;
        if (!free_row[i] && !mf_world_joint_exists(film->joints, ids[i]))
            ids[i] = MF_WORLD_JOINT_NONE;
    }
    uint32_t next = 0;
    for (id = mf_world_joint_next(film->joints, MF_WORLD_JOINT_NONE); id != MF_WORLD_JOINT_NONE;
         id = mf_world_joint_next(film->joints, id)) {
        while (next < MF_FILM_JOINTS && !free_row[next])
            next++;
        if (next < MF_FILM_JOINTS && !has_row(film, id))
            ids[next++] = id;
    }
    for (uint32_t i = 0; i < MF_FILM_JOINTS; i++) {
        if (ids[i] == MF_WORLD_JOINT_NONE)
            continue;
        sample_joint(film, ids[i], rows + (size_t)i * MF_FILM_JOINT);
        film->joints_each = mf_larger_u32(film->joints_each, i + 1);
    }
}

void mf_film_sample(mf_Film *film) {
    MF_DEFAULT_FLOATS;
    if (film == NULL)
        return;
    if (film->calls++ % film->stride != 0)
        return;
    if (film->filled == film->capacity)
        drop_every_second(film);
    float *pose = film->poses + (size_t)film->filled * film->poses_each * MF_FILM_POSE;
    for (const mf_FilmCast *cast = film->casts; cast < film->casts + film->cast_count; cast++)
        pose = sample_cast(film, cast, pose);
    mf_film_sample_rays(film);
    mf_film_sample_levels(film);
    float *points = film->points + film->filled * 3 * (size_t)film->points_each;
    for (uint32_t i = 0; i < film->cloud_count; points += 3 * (size_t)film->clouds[i++].count)
        mf_film_cloud_sample(&film->clouds[i], points);
    if (film->joints != NULL)
        sample_joints(film);
    mf_film_sample_drawn(film);
    film->filled++;
}

void mf_film_take_picture(mf_Film *film) {
    film->filled = film->calls = 0;
    mf_film_sample(film);
}

bool mf_film_robot(const mf_Film *film, uint32_t robot, mf_Group **group, uint32_t *instance) {
    for (const mf_FilmCast *cast = film->casts; cast < film->casts + film->cast_count; cast++) {
        if (robot < cast->robots) {
            *group = cast->group;
            *instance = cast->first + robot;
            return true;
        }
        robot -= cast->robots;
    }
    return false;
}
