// The appearance of surfaces in films: their vertices stand for links. A film
// has no space for all vertices of a fine rectangle: it shows some rows and columns, always the
// outermost. A triangle that is torn is a bit of a pose's rotation, which vertices do not have:
// triangle t of n vertices the bit t / n of vertex t % n, which are at most 21, as no vertex has
// more than 64 triangles.
#include "view/film.h"

enum { MOST = 41 }; // [1] shown along a side

// A rectangle of the vertices that are shown; of triangles all are.
typedef struct Shown {
    mf_Surface shape;
    uint32_t counts[2]; // [1] shown along both sides
} Shown;

static Shown find_shown(const mf_Visual *visual) {
    Shown out = {.shape = visual->surface};
    for (int i = 0; i < 2; i++)
        out.counts[i] = out.shape.counts[i] < MOST ? out.shape.counts[i] : MOST;
    return out;
}

uint32_t mf_film_surface_links(const mf_Visual *visual) {
    const Shown shown = find_shown(visual);
    return shown.counts[0] > 0 ? shown.counts[0] * shown.counts[1] : shown.shape.vertex_count;
}

// The vertex at a place of the shown rectangle, evenly spread.
static uint32_t vertex_of(const Shown *shown, uint32_t index) {
    const uint32_t *few = shown->counts, *all = shown->shape.counts;
    if (few[0] == 0)
        return index;
    const uint32_t i = index % few[0] * (all[0] - 1) / (few[0] - 1);
    const uint32_t j = index / few[0] * (all[1] - 1) / (few[1] - 1);
    return j * all[0] + i;
}

// Whether a cell is torn that the triangle of the shown rectangle covers.
static bool covers_torn(const Shown *shown, const mf_Group *group, uint32_t instance,
                        uint32_t triangle) {
    const uint32_t *few = shown->counts, *all = shown->shape.counts;
    const uint32_t column = triangle / 2 % (few[0] - 1), row = triangle / 2 / (few[0] - 1);
    const uint32_t first = vertex_of(shown, row * few[0] + column);
    const uint32_t last = vertex_of(shown, (row + 1) * few[0] + column + 1);
    for (uint32_t j = first / all[0]; j < last / all[0]; j++)
        for (uint32_t i = first % all[0]; i < last % all[0]; i++)
            if (shown->shape.torn(group, instance, 2 * (j * (all[0] - 1) + i)))
                return true;
    return false;
}

static void mark_torn(const Shown *shown, const mf_Visual *visual, uint32_t instance,
                      float *poses) {
    const mf_Group *group = visual->group;
    const bool whole = shown->counts[0] == 0;
    const uint32_t count =
        whole ? shown->shape.triangle_count : mf_rectangle_triangles(shown->counts);
    const uint32_t links = mf_film_surface_links(visual);
    for (uint32_t t = 0; t < count; t++)
        if (whole ? shown->shape.torn(group, instance, t) : covers_torn(shown, group, instance, t))
            poses[(size_t)MF_FILM_POSE * (t % links) + 4] += (float)(1u << (t / links));
}

float *mf_film_surface_sample(const mf_Visual *visual, uint32_t instance, float *pose) {
    const uint32_t links = mf_film_surface_links(visual);
    const Shown shown = find_shown(visual);
    for (uint32_t l = 0; l < links; l++, pose += MF_FILM_POSE) {
        const uint32_t vertex = vertex_of(&shown, l);
        for (uint32_t c = 0; c < 3; c++)
            pose[c] = (float)mf_field_get(visual->position, instance, 3 * vertex + c);
        pose[3] = 1.0f;
        pose[4] = pose[5] = pose[6] = 0.0f;
    }
    mark_torn(&shown, visual, instance, pose - (size_t)links * MF_FILM_POSE);
    return pose;
}

void mf_film_put_surface(mf_Text *text, const mf_Visual *visual) {
    const Shown shown = find_shown(visual);
    const double color[3] = {visual->color[0], visual->color[1], visual->color[2]};
    const bool whole = shown.counts[0] == 0;
    const uint32_t count =
        whole ? shown.shape.triangle_count : mf_rectangle_triangles(shown.counts);
    uint32_t(*corners)[3] = mf_allocate(text->context, count, sizeof *corners);
    text->failed = text->failed || corners == NULL;
    mf_text_put(text, "\n{\"type\":\"" MF_FILM_SURFACE "\",\"link\":0");
    mf_film_put_numbers(text, "place", (double[3]){0.0, 0.0, 0.0}, 3);
    mf_film_put_numbers(text, "turn", (double[4]){1.0, 0.0, 0.0, 0.0}, 4);
    mf_film_put_numbers(text, "size", (double[3]){0.0, 0.0, 0.0}, 3);
    mf_film_put_numbers(text, "color", color, 3);
    mf_text_put(text, ",\"triangles\":\"");
    for (uint32_t t = 0; corners != NULL && t < count; t++)
        for (int k = 0; whole && k < 3; k++)
            corners[t][k] = shown.shape.triangles[t][k];
    for (uint32_t t = 0; corners != NULL && !whole && t < count; t++)
        mf_rectangle_triangle(shown.counts, t, corners[t]);
    if (corners != NULL)
        mf_text_base64(text, (const uint8_t *)corners, count * sizeof *corners);
    mf_text_put(text, "\"}");
    mf_release(text->context, corners);
}
