// Vehicles of a formation in the colors of their circles: those of a circle follow one another, so
// each circle, or a few of many, is a cast of its own.
#include "math/scalar.h"
#include "scene/behavior.h"
#include "view/film.h"

#include <mayfly/scene.h>

#define COLORS 12u // [1] most casts of a group

static const char *const colors[COLORS] = {"#e6402f", "#f0871f", "#f2c230", "#a8c930",
                                           "#3fae49", "#20a890", "#22b4d8", "#3f86e0",
                                           "#4a5fd0", "#8a55cc", "#c850b4", "#e0568a"};

// [1] Casts of the group of a cast: 1, unless its robots fly on several circles.
static uint32_t pieces_of(const mf_FilmCast *cast, const mf_SceneGroup *from) {
    if (from == NULL)
        return 1;
    const mf_Behavior *behavior = &from->behavior;
    const bool circles = behavior->kind == MF_BEHAVIOR_FORMATION &&
                         cast->visual->kind == MF_VISUAL_PARTS && cast->robots > 1;
    return circles ? mf_smaller_u32(mf_larger_u32(behavior->circles, 1), COLORS) : 1;
}

static uint32_t piece_of(const mf_SceneGroup *from, uint32_t robot, uint32_t pieces) {
    const uint32_t circle = mf_behavior_circle(&from->behavior, from->count, robot);
    return (uint32_t)((uint64_t)circle * pieces / from->behavior.circles);
}

// NULL: it is none of the file.
static const mf_SceneGroup *origin_of(const mf_FilmCast *cast, const mf_Scene *scene) {
    for (uint32_t g = 0; g < scene->group_count; g++)
        if (mf_world_group(scene->world, g) == cast->group)
            return &scene->file->groups[g];
    return NULL;
}

// Appends the casts that a cast becomes.
static void split(const mf_FilmCast *cast, const mf_SceneGroup *from, mf_FilmCast *out,
                  uint32_t *count) {
    const uint32_t pieces = pieces_of(cast, from), end = cast->first + cast->robots;
    if (pieces == 1) {
        out[(*count)++] = *cast;
        return;
    }
    for (uint32_t r = cast->first; r < end;) {
        const uint32_t piece = piece_of(from, r, pieces);
        mf_FilmCast *one = &out[(*count)++];
        *one = *cast;
        one->first = r;
        one->color = colors[piece * COLORS / pieces];
        while (r < end && piece_of(from, r, pieces) == piece)
            r++;
        one->robots = r - one->first;
    }
}

mf_Status mf_film_color_circles(mf_Film *film, const mf_Scene *scene, mf_Error *error) {
    uint32_t most = 0, count = 0;
    for (uint32_t i = 0; i < film->cast_count; i++)
        most += pieces_of(&film->casts[i], origin_of(&film->casts[i], scene));
    mf_FilmCast *casts = mf_allocate(film->context, most + 1, sizeof *casts);
    MF_NEED_MEMORY(casts != NULL, error, "film");
    for (uint32_t i = 0; i < film->cast_count; i++)
        split(&film->casts[i], origin_of(&film->casts[i], scene), casts, &count);
    mf_release(film->context, film->casts);
    film->casts = casts;
    film->cast_count = count;
    return MF_OK;
}
