// Cloth: the default material, checks, geometry, mass, the model of a group.
#include "motion/cloth/model.h"
#include "base/floats.h"
#include "math/scalar.h"
#include "model/draft.h"
#include "model/points.h"
#include "motion/look.h"

// Typical values of a plain woven cotton: Kawabata (1980) gives bending rigidities of 0.5e-5 to
// 1e-5 N m, areal densities of 0.1 to 0.2 kg/m^2 and shear rigidities of 30 to 100 N/m for
// shirting. Threads stretch by a few per cent under 1000 N/m; real ones are stiffer, which takes
// more substeps.
mf_ClothMaterial mf_cloth_material(void) {
    MF_DEFAULT_FLOATS;
    return (mf_ClothMaterial){.density = 0.15,
                              .stretch = 1000.0,
                              .shear = 50.0,
                              .bending = 1e-5,
                              .thickness = 1e-3,
                              .friction = 0.4};
}

mf_Cloth mf_cloth_rectangle(double width, double length, uint32_t columns, uint32_t rows) {
    MF_DEFAULT_FLOATS;
    return (mf_Cloth){.name = "cloth",
                      .material = mf_cloth_material(),
                      .size = {width, length},
                      .counts = {columns, rows},
                      .warp = {1.0, 0.0, 0.0}};
}

// ---- geometry ----------------------------------------------------------------------------------

static bool is_rectangle(const mf_Cloth *cloth) {
    return cloth->counts[0] > 0;
}

uint32_t mf_cloth_vertex_count(const mf_Cloth *cloth) {
    if (cloth == NULL)
        return 0;
    return is_rectangle(cloth) ? cloth->counts[0] * cloth->counts[1] : cloth->vertex_count;
}

uint32_t mf_cloth_triangle_count(const mf_Cloth *cloth) {
    if (cloth == NULL)
        return 0;
    return is_rectangle(cloth) ? mf_rectangle_triangles(cloth->counts) : cloth->triangle_count;
}

uint32_t mf_cloth_element_count(const mf_Cloth *cloth) {
    if (cloth == NULL || !is_rectangle(cloth))
        return mf_cloth_triangle_count(cloth);
    return (cloth->counts[0] - 1) * cloth->counts[1] + cloth->counts[0] * (cloth->counts[1] - 1);
}

void mf_cloth_vertex(const mf_Cloth *cloth, uint32_t vertex, double position[3]) {
    MF_DEFAULT_FLOATS;
    static const int axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    if (position == NULL)
        return;
    mf_vec3_set(position, 0, 0, 0);
    if (vertex >= mf_cloth_vertex_count(cloth))
        return;
    if (!is_rectangle(cloth)) {
        mf_vec3_copy(position, cloth->vertices[vertex]);
        return;
    }
    const uint32_t at[2] = {vertex % cloth->counts[0], vertex / cloth->counts[0]};
    for (int i = 0; i < 2; i++)
        position[axes[cloth->plane][i]] =
            cloth->size[i] * ((double)at[i] / (double)(cloth->counts[i] - 1) - 0.5);
}

void mf_cloth_triangle(const mf_Cloth *cloth, uint32_t triangle, uint32_t vertices[3]) {
    MF_DEFAULT_FLOATS;
    if (vertices == NULL)
        return;
    vertices[0] = vertices[1] = vertices[2] = 0;
    if (triangle >= mf_cloth_triangle_count(cloth))
        return;
    if (is_rectangle(cloth))
        mf_rectangle_triangle(cloth->counts, triangle, vertices);
    else
        memcpy(vertices, cloth->triangles[triangle], 3 * sizeof *vertices);
}

static double triangle_area(const mf_Cloth *cloth, const uint32_t vertices[3]) {
    double p[3][3], a[3], b[3], normal[3];
    for (int i = 0; i < 3; i++)
        mf_cloth_vertex(cloth, vertices[i], p[i]);
    mf_vec3_sub(a, p[1], p[0]);
    mf_vec3_sub(b, p[2], p[0]);
    mf_vec3_cross(normal, a, b);
    return 0.5 * mf_vec3_length(normal);
}

double mf_cloth_area(const mf_Cloth *cloth) {
    MF_DEFAULT_FLOATS;
    double area = 0.0;
    uint32_t vertices[3];
    if (cloth == NULL)
        return 0.0;
    if (is_rectangle(cloth))
        return cloth->size[0] * cloth->size[1];
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        mf_cloth_triangle(cloth, t, vertices);
        area += triangle_area(cloth, vertices);
    }
    return area;
}

// ---- mass --------------------------------------------------------------------------------------

void mf_cloth_masses(const mf_Cloth *cloth, double *mass) {
    const uint32_t count = mf_cloth_vertex_count(cloth);
    memset(mass, 0, count * sizeof *mass);
    if (is_rectangle(cloth)) {
        const double cell = cloth->size[0] / (cloth->counts[0] - 1) * cloth->size[1] /
                            (cloth->counts[1] - 1) * cloth->material.density;
        for (uint32_t v = 0; v < count; v++) {
            const uint32_t i = v % cloth->counts[0], j = v / cloth->counts[0];
            const bool side = i == 0 || i == cloth->counts[0] - 1;
            const bool end = j == 0 || j == cloth->counts[1] - 1;
            mass[v] = cell * (side ? 0.5 : 1.0) * (end ? 0.5 : 1.0);
        }
        return;
    }
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        const double share =
            triangle_area(cloth, cloth->triangles[t]) * cloth->material.density / 3.0;
        for (int k = 0; k < 3; k++)
            mass[cloth->triangles[t][k]] += share;
    }
}

void mf_cloth_center(const mf_Cloth *cloth, double center[3]) {
    double sum = 0.0;
    mf_vec3_set(center, 0, 0, 0);
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        const double area = triangle_area(cloth, cloth->triangles[t]);
        sum += area;
        for (int k = 0; k < 3; k++)
            mf_vec3_add_scaled(center, center, area / 3.0, cloth->vertices[cloth->triangles[t][k]]);
    }
    if (sum > 0.0)
        mf_vec3_scale(center, center, 1.0 / sum);
}

double mf_cloth_lowest(const mf_Cloth *cloth) {
    double position[3];
    mf_cloth_vertex(cloth, 0, position);
    double lowest = position[2];
    for (uint32_t v = 1; v < mf_cloth_vertex_count(cloth); v++) {
        mf_cloth_vertex(cloth, v, position);
        lowest = position[2] < lowest ? position[2] : lowest;
    }
    return lowest - 0.5 * cloth->material.thickness;
}

// ---- checks ------------------------------------------------------------------------------------

static mf_Status check_material(const mf_ClothMaterial *m, mf_Error *error) {
    const struct {
        const char *name, *unit;
        double value, low, high;
    } ranges[] = {
        {"density", "kg/m^2", m->density, 1e-6, 1e6}, {"stretch", "N/m", m->stretch, 1e-9, 1e12},
        {"shear", "N/m", m->shear, 0.0, 1e12},        {"bending", "N m", m->bending, 0.0, 1e9},
        {"damping", "s", m->damping, 0.0, 1e3},       {"strength", "N/m", m->strength, 0.0, 1e12},
        {"thickness", "m", m->thickness, 1e-6, 1.0},  {"friction", "", m->friction, 0.0, 100.0},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!mf_between(ranges[i].value, ranges[i].low, ranges[i].high))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s: %g %s, need %g .. %g", ranges[i].name,
                           ranges[i].value, ranges[i].unit, ranges[i].low, ranges[i].high);
    return MF_OK;
}

static mf_Status check_rectangle(const mf_Cloth *cloth, mf_Error *error) {
    for (int i = 0; i < 2; i++) {
        if (cloth->counts[i] < 2 || cloth->counts[i] > MF_CLOTH_MOST)
            return mf_fail(error, MF_BAD_ARGUMENT, "counts: %u vertices, need 2 .. %u",
                           cloth->counts[i], MF_CLOTH_MOST);
        if (!mf_between(cloth->size[i], 1e-4, 1e4))
            return mf_fail(error, MF_BAD_ARGUMENT, "size: %g m, need 1e-4 .. 1e4", cloth->size[i]);
    }
    if ((uint64_t)cloth->counts[0] * cloth->counts[1] > MF_CLOTH_MOST)
        return mf_fail(error, MF_LIMIT, "counts: %u x %u vertices, at most %u together",
                       cloth->counts[0], cloth->counts[1], MF_CLOTH_MOST);
    MF_NEED((unsigned)cloth->plane <= MF_CLOTH_YZ, error, "plane: no plane %d", (int)cloth->plane);
    MF_NEED(cloth->vertex_count == 0 && cloth->triangle_count == 0, error,
            "triangles: a cloth is a rectangle (counts) or triangles, not both");
    return MF_OK;
}

static mf_Status check_triangle(const mf_Cloth *cloth, uint32_t t, mf_Error *error) {
    const uint32_t *v = cloth->triangles[t];
    for (int k = 0; k < 3; k++)
        if (v[k] >= cloth->vertex_count)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "triangles[%u]: no vertex %u, the cloth has %u (0 .. %u)", t, v[k],
                           cloth->vertex_count, cloth->vertex_count - 1);
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
        return mf_fail(error, MF_BAD_ARGUMENT, "triangles[%u]: need three different vertices", t);
    MF_NEED(triangle_area(cloth, v) >= 1e-12, error,
            "triangles[%u]: its area is %g m^2, need 1e-12", t, triangle_area(cloth, v));
    return MF_OK;
}

static mf_Status check_vertices(const mf_Cloth *cloth, mf_Error *error) {
    MF_NEED(cloth->vertex_count >= 3 && cloth->vertices != NULL && cloth->triangle_count != 0 &&
                cloth->triangles != NULL,
            error,
            "counts: 0, and no triangles: need a rectangle (size, counts) or vertices "
            "and triangles");
    MF_CHECK(cloth->vertex_count <= MF_CLOTH_MOST && cloth->triangle_count <= 2 * MF_CLOTH_MOST,
             error, MF_LIMIT, "vertices: %u, and %u triangles, at most %u and %u",
             cloth->vertex_count, cloth->triangle_count, MF_CLOTH_MOST, 2 * MF_CLOTH_MOST);
    for (uint32_t v = 0; v < cloth->vertex_count; v++)
        for (int c = 0; c < 3; c++)
            if (!mf_between(cloth->vertices[v][c], -1e4, 1e4))
                return mf_fail(error, MF_BAD_ARGUMENT, "vertices[%u]: %g m, need -1e4 .. 1e4", v,
                               cloth->vertices[v][c]);
    if (!(mf_vec3_length(cloth->warp) >= 1e-6 && mf_vec3_length(cloth->warp) <= 1e6))
        return mf_fail(error, MF_BAD_ARGUMENT, "warp: need a direction");
    return MF_OK;
}

static mf_Status check_mesh(const mf_Cloth *cloth, mf_Error *error) {
    MF_TRY(check_vertices(cloth, error));
    for (uint32_t t = 0; t < cloth->triangle_count; t++)
        MF_TRY(check_triangle(cloth, t, error));
    return MF_OK;
}

mf_Status mf_cloth_check(const mf_Cloth *cloth, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(cloth != NULL, error, "cloth: NULL");
    MF_TRY(check_material(&cloth->material, error));
    MF_TRY(is_rectangle(cloth) ? check_rectangle(cloth, error) : check_mesh(cloth, error));
    MF_NEED(cloth->pin_count == 0 || cloth->pins != NULL, error, "pins: NULL with a count");
    if (cloth->pin_count > mf_cloth_vertex_count(cloth))
        return mf_fail(error, MF_BAD_ARGUMENT, "pins: %u, the cloth has %u vertices",
                       cloth->pin_count, mf_cloth_vertex_count(cloth));
    for (uint32_t p = 0; p < cloth->pin_count; p++)
        if (cloth->pins[p] >= mf_cloth_vertex_count(cloth))
            return mf_fail(error, MF_BAD_ARGUMENT, "pins[%u]: no vertex %u, the cloth has %u", p,
                           cloth->pins[p], mf_cloth_vertex_count(cloth));
    return MF_OK;
}

// ---- the model of a group -----------------------------------------------------------------------

// Mass and inertia of point masses about the center of mass.
static void sum_masses(const mf_Cloth *cloth, const double *mass, mf_MassProperties *out) {
    static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    double center[3], at[3];
    *out = (mf_MassProperties){0};
    mf_cloth_center(cloth, center);
    for (uint32_t v = 0; v < mf_cloth_vertex_count(cloth); v++) {
        mf_cloth_vertex(cloth, v, at);
        mf_vec3_sub(at, at, center);
        out->mass += mass[v];
        for (int i = 0; i < 6; i++)
            out->inertia[i] += mass[v] * ((rows[i] == columns[i] ? mf_vec3_dot(at, at) : 0.0) -
                                          at[rows[i]] * at[columns[i]]);
    }
}

// One link with its mass about its center, and a point below it where it lies.
static bool fill(mf_Draft *draft, const mf_Cloth *cloth, const mf_MassProperties *whole) {
    double center[3];
    mf_cloth_center(cloth, center);
    const double foot[3] = {0.0, 0.0, mf_cloth_lowest(cloth) - center[2]};
    return mf_draft_add_body(draft, cloth->name != NULL ? cloth->name : "cloth", whole, foot);
}

mf_Status mf_cloth_model(mf_Context *context, const mf_Cloth *cloth, mf_Model **out,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && out != NULL, error, "mf_cloth_model: an argument is NULL");
    *out = NULL;
    MF_TRY(mf_cloth_check(cloth, error));
    double *mass = mf_allocate(context, mf_cloth_vertex_count(cloth), sizeof *mass);
    MF_NEED_MEMORY(mass != NULL, error, "cloth");
    mf_MassProperties whole;
    mf_cloth_masses(cloth, mass);
    sum_masses(cloth, mass, &whole);
    mf_release(context, mass);
    mf_Draft draft;
    mf_draft_start(&draft, context);
    mf_Status status = fill(&draft, cloth, &whole)
                           ? mf_draft_freeze(&draft, out, error)
                           : mf_fail(error, MF_NO_MEMORY, "cloth: out of memory");
    mf_draft_release(&draft);
    return status;
}
