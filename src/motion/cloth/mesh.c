// The constraints of triangles: stretch along warp and weft and shear of each (the measures of
// Baraff and Witkin 1998), and the hinge between two that share an edge, which is the isometric
// quadratic model of bending (Bergou et al. 2006), E = B / 2 |K x|^2 / (A0 + A1), K of cotangents.
// Their factor 3 is left out: a cylinder of curvature k then has the energy B k^2 / 2 per area, in
// all directions on equilateral triangles, and along the axes on halves of squares.
//
// Constraints without a common vertex have one color: the lowest that no constraint of their
// vertices has yet. A color is a wave.
#include "base/memory.h"
#include "math/scalar.h"
#include "motion/cloth/program.h"

#include <stdlib.h>

enum { CHUNK = 8 };   // [1] batches of a chunk
enum { COLORS = 64 }; // [1] most

typedef struct Side {   // of a triangle
    uint32_t low, high; // [1] its vertices
    uint32_t opposite;  // [1] the third one
    uint32_t triangle;  // [1]
} Side;

typedef struct Mesh {
    mf_ClothDraft *draft;
    const mf_Cloth *cloth;
    Side *sides;                     // 3 per triangle
    mf_ClothConstraint *constraints; // hinges, then triangles
    uint8_t *color;                  // of each
    uint64_t *taken;                 // colors of each vertex's constraints
    uint32_t count;                  // [1] constraints
} Mesh;

// ---- hinges ------------------------------------------------------------------------------------

static int compare_sides(const void *a, const void *b) {
    const Side *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static void list_sides(Mesh *mesh) {
    for (uint32_t t = 0; t < mesh->cloth->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *v = mesh->cloth->triangles[t];
            const uint32_t a = v[k], b = v[(k + 1) % 3];
            mesh->sides[3 * (size_t)t + (size_t)k] =
                (Side){a < b ? a : b, a < b ? b : a, v[(k + 2) % 3], t};
        }
    qsort(mesh->sides, 3 * (size_t)mesh->cloth->triangle_count, sizeof *mesh->sides, compare_sides);
}

// Cotangent of the angle at `at` between the ways to `a` and `b`.
static double cotangent(const mf_Cloth *cloth, uint32_t at, uint32_t a, uint32_t b) {
    double one[3], two[3], cross[3];
    mf_vec3_sub(one, cloth->vertices[a], cloth->vertices[at]);
    mf_vec3_sub(two, cloth->vertices[b], cloth->vertices[at]);
    mf_vec3_cross(cross, one, two);
    return mf_vec3_dot(one, two) / mf_vec3_length(cross);
}

static double area_of(const mf_Cloth *cloth, uint32_t a, uint32_t b, uint32_t c) {
    double one[3], two[3], cross[3];
    mf_vec3_sub(one, cloth->vertices[b], cloth->vertices[a]);
    mf_vec3_sub(two, cloth->vertices[c], cloth->vertices[a]);
    mf_vec3_cross(cross, one, two);
    return 0.5 * mf_vec3_length(cross);
}

static void add_hinge(Mesh *mesh, const Side *one, const Side *two) {
    const mf_Cloth *cloth = mesh->cloth;
    const uint32_t v[4] = {one->low, one->high, one->opposite, two->opposite};
    const double at_low[2] = {cotangent(cloth, v[0], v[1], v[2]),
                              cotangent(cloth, v[0], v[1], v[3])};
    const double at_high[2] = {cotangent(cloth, v[1], v[0], v[2]),
                               cotangent(cloth, v[1], v[0], v[3])};
    const double area = area_of(cloth, v[0], v[1], v[2]) + area_of(cloth, v[0], v[1], v[3]);
    mesh->constraints[mesh->count++] = (mf_ClothConstraint){
        MF_CLOTH_HINGE,
        {v[0], v[1], v[2], v[3]},
        {at_high[0] + at_high[1], at_low[0] + at_low[1], -at_low[0] - at_high[0],
         -at_low[1] - at_high[1], area / cloth->material.bending},
        {one->triangle, two->triangle}};
}

static mf_Status add_hinges(Mesh *mesh, mf_Error *error) {
    const uint32_t count = 3 * mesh->cloth->triangle_count;
    for (uint32_t i = 0, same; i < count; i += same) {
        const Side *side = &mesh->sides[i];
        for (same = 1;
             i + same < count && side[same].low == side->low && side[same].high == side->high;)
            same++;
        MF_NEED(same <= 2, error,
                "triangles: the edge of vertices %u and %u has %u triangles, need at "
                "most 2",
                side->low, side->high, same);
        if (same == 2 && mesh->cloth->material.bending > 0.0)
            add_hinge(mesh, &side[0], &side[1]);
    }
    return MF_OK;
}

// ---- triangles ---------------------------------------------------------------------------------

// Unit vectors of a triangle's warp and weft. Where the warp is perpendicular to the triangle its
// first side takes its place.
static void find_axes(const mf_Cloth *cloth, const double one[3], const double two[3], double u[3],
                      double v[3]) {
    double normal[3];
    mf_vec3_cross(normal, one, two);
    mf_vec3_normalize(normal);
    mf_vec3_copy(u, cloth->warp);
    mf_vec3_normalize(u);
    mf_vec3_add_scaled(u, u, -mf_vec3_dot(u, normal), normal);
    if (mf_vec3_length(u) < 1e-3)
        mf_vec3_copy(u, one);
    mf_vec3_normalize(u);
    mf_vec3_cross(v, normal, u);
}

static void add_triangle(Mesh *mesh, uint32_t t) {
    const mf_Cloth *cloth = mesh->cloth;
    const uint32_t *at = cloth->triangles[t];
    double one[3], two[3], u[3], v[3];
    mf_vec3_sub(one, cloth->vertices[at[1]], cloth->vertices[at[0]]);
    mf_vec3_sub(two, cloth->vertices[at[2]], cloth->vertices[at[0]]);
    find_axes(cloth, one, two, u, v);
    const double u1 = mf_vec3_dot(one, u), v1 = mf_vec3_dot(one, v);
    const double u2 = mf_vec3_dot(two, u), v2 = mf_vec3_dot(two, v);
    const double twice = u1 * v2 - u2 * v1, area = 0.5 * twice;
    const double shear = cloth->material.shear;
    mesh->constraints[mesh->count++] = (mf_ClothConstraint){
        MF_CLOTH_TRIANGLE,
        {at[0], at[1], at[2]},
        {v2 / twice, -v1 / twice, -u2 / twice, u1 / twice, 1.0 / (cloth->material.stretch * area),
         shear > 0.0 ? 1.0 / (shear * area) : MF_CLOTH_NEVER},
        {t}};
}

// ---- colors ------------------------------------------------------------------------------------

// False: a vertex has too many constraints.
static bool color_all(Mesh *mesh) {
    for (uint32_t i = 0; i < mesh->count; i++) {
        const mf_ClothConstraint *c = &mesh->constraints[i];
        uint64_t used = 0;
        uint8_t color = 0;
        for (uint32_t k = 0; k < mf_cloth_nodes(c->kind); k++)
            used |= mesh->taken[c->vertices[k]];
        while (color < COLORS && (used >> color & 1) != 0)
            color++;
        if (color == COLORS)
            return false;
        for (uint32_t k = 0; k < mf_cloth_nodes(c->kind); k++)
            mesh->taken[c->vertices[k]] |= UINT64_C(1) << color;
        mesh->color[i] = color;
    }
    return true;
}

static void add_color(Mesh *mesh, uint32_t kind, uint32_t color) {
    mf_ClothConstraint batch[MF_CLOTH_LANES];
    uint32_t lanes[MF_CLOTH_LANES], count = 0, batches = 0;
    for (uint32_t i = 0; i <= mesh->count; i++) {
        const bool end = i == mesh->count;
        if (!end && (mesh->color[i] != color || mesh->constraints[i].kind != kind))
            continue;
        if (end || count == MF_CLOTH_LANES) {
            mf_cloth_draft_batch(mesh->draft, batch, lanes, count);
            count = 0;
            if (end || ++batches % CHUNK == 0)
                mf_cloth_draft_chunk(mesh->draft);
        }
        if (!end) {
            lanes[count] = count;
            batch[count++] = mesh->constraints[i];
        }
    }
    mf_cloth_draft_wave(mesh->draft);
}

static mf_Status build(Mesh *mesh, mf_Error *error) {
    const uint32_t vertices = mesh->cloth->vertex_count;
    list_sides(mesh);
    MF_TRY(add_hinges(mesh, error));
    for (uint32_t t = 0; t < mesh->cloth->triangle_count; t++)
        add_triangle(mesh, t);
    MF_CHECK(color_all(mesh), error, MF_LIMIT, "triangles: too many meet at one vertex");
    for (uint32_t v = 0; v < vertices; v++)
        mesh->draft->slot_of[v] = v;
    for (uint32_t color = 0; color < COLORS; color++)
        add_color(mesh, MF_CLOTH_HINGE, color);
    for (uint32_t color = 0; color < COLORS; color++)
        add_color(mesh, MF_CLOTH_TRIANGLE, color);
    return MF_OK;
}

mf_Status mf_cloth_draft_mesh(mf_ClothDraft *draft, const mf_Cloth *cloth, mf_Error *error) {
    const uint32_t lanes = MF_CLOTH_LANES;
    Mesh mesh = {.draft = draft, .cloth = cloth};
    mf_Context *context = draft->context;
    const size_t triangles = cloth->triangle_count;
    const mf_Array arrays[] = {
        MF_ARRAY(mesh.constraints, 3 * triangles), MF_ARRAY(mesh.taken, cloth->vertex_count),
        MF_ARRAY(mesh.sides, 3 * triangles), MF_ARRAY(mesh.color, 3 * triangles)};
    mf_Status status =
        !mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays) ||
                !mf_cloth_draft_slots(draft, (cloth->vertex_count + lanes - 1) / lanes * lanes)
            ? mf_fail(error, MF_NO_MEMORY, "cloth: out of memory")
            : build(&mesh, error);
    mf_release(context, mesh.constraints);
    return status;
}
