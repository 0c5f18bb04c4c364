// The motions of robots that can switch between several, as numbers of mf_Motion: one for each such
// robot of the film, in its order. Groups with one motion have it in their description.
#include "view/film.h"

#include <mayfly/motion.h>

// The field that says it; NULL: the robots of the cast have one motion.
static const mf_Field *field_of(const mf_FilmCast *cast) {
    return mf_group_find_field(cast->group, "motion.level");
}

bool mf_film_cast_switches(const mf_FilmCast *cast) {
    return field_of(cast) != NULL;
}

void mf_film_count_levels(mf_Film *film) {
    for (uint32_t i = 0; i < film->cast_count; i++)
        film->levels_each += field_of(&film->casts[i]) != NULL ? film->casts[i].robots : 0;
}

void mf_film_sample_levels(mf_Film *film) {
    float *out = film->levels + (size_t)film->filled * film->levels_each;
    for (uint32_t i = 0; i < film->cast_count && film->levels_each > 0; i++) {
        const mf_FilmCast *cast = &film->casts[i];
        const mf_Field *field = field_of(cast);
        for (uint32_t r = 0; r < cast->robots && field != NULL; r++)
            *out++ = (float)mf_field_get(field, cast->first + r, 0);
    }
}

void mf_film_put_motions(mf_Text *text, const mf_Film *film) {
    if (film->levels_each == 0)
        return;
    mf_text_format(text, ",\"levels\":%u,\"motions\":[", film->levels_each);
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++) {
        mf_text_put(text, i > 0 ? "," : "");
        mf_film_put_string(text, mf_motion_name((mf_Motion)i));
    }
    mf_text_put(text, "]");
}
