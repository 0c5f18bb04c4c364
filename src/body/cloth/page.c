// Cloths for mayfly info. Text and JSON show the same facts.
#include "body/cloth/keys.h"
#include "io/model_json.h"

#include <math.h>

static const char *const notes[] = {
    "bending has no rest curvature: a mesh that is not flat flattens",
    "vertices collide with the ground and links; edges and faces between them do not",
    ("the cloth passes through itself unless motion.cloth.self_distance is set, and through other "
     "cloths")};
enum { NOTES = sizeof notes / sizeof *notes };

typedef struct Facts {
    const mf_Cloth *cloth;
    double area, mass;        // [m^2], [kg]
    double shortest, longest; // [m] sides of triangles
    double bending_length;    // [m] (B / w)^(1/3), w the weight per area
} Facts;

static void find_facts(const mf_Cloth *cloth, Facts *facts) {
    *facts = (Facts){.cloth = cloth, .area = mf_cloth_area(cloth), .shortest = INFINITY};
    facts->mass = facts->area * cloth->material.density;
    facts->bending_length = cbrt(cloth->material.bending / (9.80665 * cloth->material.density));
    for (uint32_t t = 0; t < mf_cloth_triangle_count(cloth); t++) {
        uint32_t v[3];
        double at[3][3];
        mf_cloth_triangle(cloth, t, v);
        for (int k = 0; k < 3; k++)
            mf_cloth_vertex(cloth, v[k], at[k]);
        for (int k = 0; k < 3; k++) {
            const double *a = at[k], *b = at[(k + 1) % 3];
            const double length = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
            facts->shortest = fmin(facts->shortest, length);
            facts->longest = fmax(facts->longest, length);
        }
    }
}

static void show(mf_Text *text, const Facts *facts, const char *path) {
    const mf_Cloth *cloth = facts->cloth;
    const mf_ClothMaterial *m = &cloth->material;
    mf_text_format(text, "%s  (%s)\n\n", cloth->name, path);
    mf_text_format(text, "  mass          %.4g kg: %.4g m^2 of %.4g kg/m^2\n", facts->mass,
                   facts->area, m->density);
    mf_text_format(text, "  vertices      %u, %u triangles, sides %.4g .. %.4g m\n",
                   mf_cloth_vertex_count(cloth), mf_cloth_triangle_count(cloth), facts->shortest,
                   facts->longest);
    if (cloth->counts[0] > 0)
        mf_text_format(text, "  rectangle     %.4g x %.4g m, %u x %u vertices\n", cloth->size[0],
                       cloth->size[1], cloth->counts[0], cloth->counts[1]);
    mf_text_format(
        text,
        "  stiffness     stretch %.4g N/m, shear %.4g N/m, bending %.4g N m (bending length "
        "%.4g m)\n",
        m->stretch, m->shear, m->bending, facts->bending_length);
    mf_text_format(text, "  surface       thickness %.4g m, friction %.4g, damping %.4g s\n",
                   m->thickness, m->friction, m->damping);
    if (m->strength > 0.0)
        mf_text_format(text, "  strength      %.4g N/m: it tears at a strain of %.4g\n",
                       m->strength, m->strength / m->stretch);
    mf_text_format(text, "  pins          %u\n\n", cloth->pin_count);
    for (int i = 0; i < NOTES; i++)
        mf_text_format(text, "note: %s\n", notes[i]);
}

static json_t *pack(const Facts *facts) {
    const mf_Cloth *cloth = facts->cloth;
    const mf_ClothMaterial *m = &cloth->material;
    json_t *list = json_array();
    for (int i = 0; i < NOTES; i++)
        json_array_append_new(list, json_string(notes[i]));
    return json_pack(
        "{s:s s:o s:o s:I s:I s:I s:o s:o s:o s:o s:o s:o s:o s:o s:o s:o s:o s:o s:o}", "name",
        cloth->name, "mass", mf_json_real(facts->mass), "area", mf_json_real(facts->area),
        "vertices", (json_int_t)mf_cloth_vertex_count(cloth), "triangles",
        (json_int_t)mf_cloth_triangle_count(cloth), "pins", (json_int_t)cloth->pin_count,
        "shortest_side", mf_json_real(facts->shortest), "longest_side",
        mf_json_real(facts->longest), "bending_length", mf_json_real(facts->bending_length),
        "density", mf_json_real(m->density), "stretch", mf_json_real(m->stretch), "shear",
        mf_json_real(m->shear), "bending", mf_json_real(m->bending), "damping",
        mf_json_real(m->damping), "strength", mf_json_real(m->strength), "thickness",
        mf_json_real(m->thickness), "friction", mf_json_real(m->friction), "size",
        cloth->counts[0] > 0
            ? json_pack("[o,o]", mf_json_real(cloth->size[0]), mf_json_real(cloth->size[1]))
            : json_null(),
        "notes", list);
}

mf_Status mf_cloth_describe(mf_Context *context, const void *body, const char *path, mf_Text *text,
                            struct json_t **object, mf_Error *error) {
    Facts facts;
    (void)context;
    (void)error;
    find_facts(body, &facts);
    if (text != NULL)
        show(text, &facts, path);
    else
        *object = pack(&facts);
    return MF_OK;
}
