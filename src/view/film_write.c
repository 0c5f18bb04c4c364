// Writing a film: constant data (shapes, ground) as JSON, arrays as Base64, both embedded in the
// page that web/ makes, which contains the viewer.
#include "model/points.h"
#include "view/film.h"
#include "base/floats.h"

#include "base/text.h"
#include "model/shape_kinds.h"

#include <mayfly/terrain.h>

#include <math.h>
#include <string.h>

#define GROUND_MARGIN 2.0  // [m] of ground shown around the paths of the robots
#define LIVE_MARGIN 15.0   // [m] around the robots as they are, live
#define APART_MARGIN 4.0   // [m] likewise, of robots that each have their own piece
#define GROUND_NODES 201u  // [1] most along an edge
#define APART_NODES 402u   // [1] the same of all pieces together
#define LEAST_NODES 21u    // [1] of each of them
#define GROUND_HUGE 1000.0 // [m] longest edge of the shown ground

// ---- shapes ------------------------------------------------------------------------------------

void mf_film_put_numbers(mf_Text *text, const char *name, const double *values, int count) {
    mf_text_format(text, ",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        mf_text_format(text, "%s%.7g", i > 0 ? "," : "", values[i]);
    mf_text_put(text, "]");
}

void mf_film_put_shape(mf_Text *text, const mf_Model *model, const mf_Shape *shape, bool *used) {
    mf_TextureLay lay;
    double color[3] = {shape->color[0], shape->color[1], shape->color[2]};
    int32_t link = shape->link == MF_NONE ? -1 : (int32_t)shape->link;
    mf_text_format(text, "\n{\"type\":\"%s\",\"link\":%d", mf_mjcf_shapes[shape->type], link);
    if (shape->type == MF_SHAPE_MESH) {
        mf_text_format(text, ",\"mesh\":%u", shape->mesh);
        used[shape->mesh] = true;
    }
    mf_film_put_numbers(text, "place", shape->position, 3);
    mf_film_put_numbers(text, "turn", shape->rotation, 4);
    mf_film_put_numbers(text, "size", shape->size, 3);
    mf_film_put_numbers(text, "color", color, 3);
    if (model != NULL && mf_texture_lay(model, shape, &lay))
        mf_film_put_lay(text, &lay);
    mf_text_put(text, "}");
}

static void put_parts(mf_Text *text, const mf_Visual *visual, uint32_t robot, bool *used) {
    const mf_Model *model = visual->own_parts ? NULL : mf_group_model(visual->group);
    const char *comma = "";
    for (uint32_t i = 0; i < visual->part_count; i++) {
        mf_Shape part;
        if (!mf_visual_part(visual, robot, i, &part))
            continue;
        mf_text_put(text, comma);
        mf_film_put_shape(text, model, &part, used);
        comma = ",";
    }
}

// Null for a mesh that is not drawn.
static void put_meshes(mf_Text *text, const mf_Visual *visual, const bool *used) {
    const mf_Model *model = mf_group_model(visual->group);
    mf_text_put(text, ",\"meshes\":[");
    for (uint32_t i = 0; i < model->mesh_count; i++) {
        mf_text_put(text, i > 0 ? "," : "");
        if (used[i])
            mf_film_put_mesh(text, &model->meshes[i], mf_film_is_placed(visual, i));
        else
            mf_text_put(text, "null");
    }
    mf_text_put(text, "]");
}

// ---- the ground --------------------------------------------------------------------------------

typedef struct Region {
    double lower[2], upper[2]; // [m]
} Region;

// Robots with worlds of their own are put side by side.
static bool is_apart(const mf_Film *film) {
    return film->cast_count > 0 && film->robots > 1 &&
           mf_group_config_of(film->casts[0].group)->isolated;
}

// The region that the robots visited, with a margin.
static Region fit_region(const mf_Film *film, const mf_Terrain *terrain, bool apart) {
    Region region = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    size_t poses = (size_t)film->filled * film->poses_each;
    for (size_t i = 0; i < poses; i++) {
        const float *position = film->poses + i * MF_FILM_POSE;
        for (int c = 0; c < 2 && isfinite(position[c]); c++) {
            region.lower[c] = fmin(region.lower[c], position[c]);
            region.upper[c] = fmax(region.upper[c], position[c]);
        }
    }
    const double margin = !film->live ? GROUND_MARGIN : apart ? APART_MARGIN : LIVE_MARGIN;
    const double edge[2] = {terrain->columns * terrain->cell, terrain->rows * terrain->cell};
    for (int c = 0; c < 2; c++) {
        if (!(region.lower[c] <= region.upper[c]))
            region.lower[c] = region.upper[c] = 0.0;
        double lower = fmax(region.lower[c] - margin, terrain->origin[c]);
        double upper = fmin(region.upper[c] + margin, terrain->origin[c] + edge[c]);
        region.lower[c] = fmin(lower, upper - terrain->cell);
        region.upper[c] = fmin(fmax(upper, lower + terrain->cell), region.lower[c] + GROUND_HUGE);
    }
    return region;
}

// [1] Most along an edge of the ground.
static uint32_t choose_nodes(const mf_Film *film, bool apart) {
    const uint32_t each = apart ? (uint32_t)(APART_NODES / sqrt(film->robots)) : GROUND_NODES;
    return each > GROUND_NODES ? GROUND_NODES : each < LEAST_NODES ? LEAST_NODES : each;
}

static void put_heights(mf_Text *text, const mf_Film *film, const mf_Terrain *terrain) {
    const bool apart = is_apart(film);
    Region region = fit_region(film, terrain, apart);
    double edge = fmax(region.upper[0] - region.lower[0], region.upper[1] - region.lower[1]);
    double step = fmax(0.5 * terrain->cell, edge / (choose_nodes(film, apart) - 1));
    uint32_t columns = 1 + (uint32_t)((region.upper[0] - region.lower[0]) / step);
    uint32_t rows = 1 + (uint32_t)((region.upper[1] - region.lower[1]) / step);
    float *heights = mf_allocate(text->context, (size_t)columns * rows, sizeof *heights);
    text->failed = text->failed || heights == NULL;
    for (uint32_t i = 0; heights != NULL && i < columns * rows; i++) {
        double x = region.lower[0] + i % columns * step, y = region.lower[1] + i / columns * step;
        heights[i] = (float)mf_terrain_height(terrain, x, y, NULL);
    }
    mf_text_format(text, ",\"ground\":{\"columns\":%u,\"rows\":%u,\"step\":%.9g", columns, rows,
                   step);
    mf_film_put_numbers(text, "origin", region.lower, 2);
    mf_text_put(text, ",\"heights\":\"");
    if (heights != NULL)
        mf_text_base64(text, (const uint8_t *)heights, (size_t)columns * rows * sizeof *heights);
    mf_text_put(text, "\"}");
    mf_release(text->context, heights);
}

static void put_ground(mf_Text *text, const mf_Film *film) {
    const mf_Terrain *terrain = mf_world_config_of(film->world)->terrain;
    if (terrain != NULL && (terrain->columns > 1 || terrain->rows > 1))
        put_heights(text, film, terrain);
    else
        mf_text_format(text, ",\"level\":%.9g", terrain != NULL ? terrain->highest : 0.0);
}

// ---- the page ----------------------------------------------------------------------------------

// Escapes characters that could end the string or the page's script.
void mf_film_put_string(mf_Text *text, const char *string) {
    mf_text_put(text, "\"");
    for (const char *c = string; *c != '\0'; c++)
        mf_text_format(text, strchr("\\\"<>&", *c) != NULL || (unsigned char)*c < 32 ? "_" : "%c",
                       *c);
    mf_text_put(text, "\"");
}

// One group: the appearance of its robots.
static void put_cast(mf_Text *text, const mf_Film *film, const mf_FilmCast *cast) {
    const mf_Model *model = mf_group_model(cast->group);
    bool *used = mf_allocate(text->context, model->mesh_count + 1, sizeof *used);
    text->failed = text->failed || used == NULL;
    if (used == NULL)
        return;
    mf_text_format(text, "{\"robots\":%u,\"links\":%u,\"first\":%u,\"name\":", cast->robots,
                   cast->links, cast->first);
    mf_film_put_string(text, mf_group_config_of(cast->group)->name);
    if (cast->color != NULL) {
        mf_text_put(text, ",\"color\":");
        mf_film_put_string(text, cast->color);
    }
    if (mf_visual_is_scenery(cast->visual))
        mf_text_put(text, ",\"scenery\":true");
    mf_text_put(text, ",\"shapes\":[");
    if (cast->visual->kind == MF_VISUAL_TRIANGLES)
        mf_film_put_surface(text, cast->visual);
    else if (cast->visual->kind == MF_VISUAL_BARS)
        mf_film_put_bars(text, cast->visual, cast->first, cast->links);
    else
        put_parts(text, cast->visual, cast->first, used);
    mf_text_put(text, "]");
    mf_film_put_model(text, cast, film->live, used);
    if (&film->casts[cast->like] == cast) {
        put_meshes(text, cast->visual, used);
        mf_film_put_textures(text, cast->visual);
    } else {
        mf_text_format(text, ",\"like\":%u", cast->like);
    }
    mf_film_put_tracks(text, film, cast);
    mf_text_put(text, "}");
    mf_release(text->context, used);
}

void mf_film_describe(mf_Text *text, const mf_Film *film) {
    if (film->world == NULL) {
        mf_film_put_recorded(text, film);
        return;
    }
    mf_text_format(text,
                   "{\"robots\":%u,\"of\":%u,\"frames\":%u,\"period\":%.9g,\"apart\":%s,\"joints\":"
                   "%u,\"rays\":%u",
                   film->robots, film->of, film->live ? 0 : film->filled,
                   film->period * film->stride, is_apart(film) ? "true" : "false",
                   film->live && film->joints != NULL ? MF_FILM_JOINTS : film->joints_each,
                   film->ray_count);
    mf_text_format(text, ",\"step\":%.9g",
                   mf_time_to_seconds(mf_world_config_of(film->world)->step));
    mf_film_put_motions(text, film);
    put_ground(text, film);
    mf_film_put_floor(text, film);
    mf_text_put(text, ",\"casts\":[");
    for (uint32_t i = 0; i < film->cast_count; i++) {
        mf_text_put(text, i > 0 ? ",\n" : "\n");
        put_cast(text, film, &film->casts[i]);
    }
    mf_text_put(text, "]");
    mf_film_put_clouds(text, film);
    mf_text_put(text, "}");
}

static void put_title(mf_Text *text, const char *title) {
    mf_text_put(text, "<title>");
    mf_text_escape(text, title);
    mf_text_put(text, "</title>\n");
}

static void put_film(mf_Text *text, const mf_Film *film) {
    put_title(text, film->title);
    mf_text_put(text, "<script id=\"film\" type=\"application/json\">\n");
    mf_film_describe(text, film);
    mf_text_put(text, "\n</script>\n");
    mf_film_put_poses(text, film);
    mf_film_put_rows(text, "joints", film->joint_rows, (size_t)MF_FILM_JOINTS * MF_FILM_JOINT,
                     (size_t)film->joints_each * MF_FILM_JOINT, film->filled);
    mf_film_put_rows(text, "rays", film->ray_rows, (size_t)film->ray_count * MF_FILM_RAY,
                     (size_t)film->ray_count * MF_FILM_RAY, film->filled);
    mf_film_put_rows(text, "levels", film->levels, film->levels_each, film->levels_each,
                     film->filled);
    mf_film_put_points(text, film);
    mf_film_put_drawn(text, film);
}

// Appends the page up to the mark for data; `rest` is what comes after it.
static mf_Status begin_page(mf_Text *text, const char **rest, mf_Error *error) {
    static const char mark[] = "@DATA@";
    const char *page = (const char *)mf_film_page, *found = strstr(page, mark);
    MF_CHECK(found != NULL, error, MF_UNSUPPORTED,
             "film: this build has no page for films: run CMake again where there is a "
             "network");
    mf_text_put_bytes(text, page, (size_t)(found - page));
    *rest = found + strlen(mark);
    return MF_OK;
}

static mf_Status end_page(mf_Text *text, const char *rest, mf_Error *error) {
    mf_text_put(text, rest);
    return text->failed ? mf_fail(error, MF_NO_MEMORY, "film: out of memory") : MF_OK;
}

mf_Status mf_film_render(mf_Text *text, const mf_Film *film, mf_Error *error) {
    const char *rest = "";
    MF_TRY(begin_page(text, &rest, error));
    put_film(text, film);
    return end_page(text, rest, error);
}

mf_Status mf_film_live_page(mf_Text *text, const char *title, mf_Error *error) {
    const char *rest = "";
    MF_TRY(begin_page(text, &rest, error));
    put_title(text, title);
    return end_page(text, rest, error);
}

mf_Status mf_film_write(mf_Film *film, const char *path, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (film == NULL || path == NULL || film->filled == 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "film: expected a film with samples and a path");
    mf_Text text = mf_text_begin(film->context);
    mf_Status status = mf_film_render(&text, film, error);
    MF_THEN(status, mf_file_replace(film->context, path, text.data, text.size, error));
    mf_text_free(&text);
    return status;
}
