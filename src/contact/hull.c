// Convex hulls for the kernels: the table of directions.
#include "contact/hull.h"
#include "contact/hull_faces.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

// Directions at which a cell requests its farthest vertices: any of these may rule out others.
enum { PROBES = 9 };

typedef struct Cell {
    double corners[4][3];    // [1] not unit: the largest component is 1
    double largest;          // [1] length of the longest of them
    uint32_t probes[PROBES]; // [1] vertices
} Cell;

// ---- cells --------------------------------------------------------------------------------------

// Mean lists of at most about a chunk, by trial with hulls of public robots. Powers of two.
static uint32_t side_for(uint32_t vertices) {
    return vertices <= MF_HULL_CHUNK ? 0
           : vertices <= 64          ? 2
           : vertices <= 256         ? 4
           : vertices <= 4096        ? 8
                                     : 16;
}

// A point of a face of the cube; faces are +x, -x, +y, -y, +z, -z.
static void cube_point(uint32_t face, double u, double v, double out[3]) {
    const uint32_t axis = face / 2;
    out[axis] = face % 2 ? -1.0 : 1.0;
    out[(axis + 1) % 3] = u;
    out[(axis + 2) % 3] = v;
}

typedef struct List { // of vertices, rising
    uint32_t *items, count;
} List;

static uint32_t farthest(const mf_ConvexHull *hull, const List *from, const double way[3]) {
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t i = 0; i < from->count; i++) {
        double value = mf_vec3_dot(hull->vertices_f64 + 3 * (size_t)from->items[i], way);
        best = value > most ? from->items[i] : best;
        most = value > most ? value : most;
    }
    return best;
}

// One of side^2 cells of a face. Cells overlap by a little, so that roundings of a direction on
// their border do no harm.
static void cell_fill(const mf_ConvexHull *hull, const List *from, uint32_t side, uint32_t face,
                      uint32_t row, uint32_t column, Cell *cell) {
    const double width = 2.0 / side, more = 1e-3 * width;
    const double u = column * width - 1.0, v = row * width - 1.0;
    cell->largest = 0.0;
    for (int i = 0; i < 4; i++) {
        cube_point(face, i & 1 ? u + width + more : u - more, i & 2 ? v + width + more : v - more,
                   cell->corners[i]);
        double length = mf_vec3_length(cell->corners[i]);
        cell->largest = length > cell->largest ? length : cell->largest;
    }
    for (int i = 0; i < PROBES; i++) {
        double way[3];
        cube_point(face, u + 0.5 * (i % 3) * width, v + 0.5 * (double)(i / 3) * width, way);
        cell->probes[i] = farthest(hull, from, way);
    }
}

// Whether a vertex can be the farthest, or nearly. One that is lower than the same other in all
// corners of the cell is lower in all of it: the difference is linear along straight lines.
static bool cell_needs(const mf_ConvexHull *hull, const Cell *cell, uint32_t vertex) {
    const double *own = hull->vertices_f64 + 3 * (size_t)vertex;
    const double band = 1.01 * MF_HULL_TILT * hull->radius * cell->largest;
    for (int k = 0; k < PROBES; k++) {
        double way[3];
        bool lower = true;
        mf_vec3_sub(way, hull->vertices_f64 + 3 * (size_t)cell->probes[k], own);
        for (int i = 0; lower && i < 4; i++)
            lower = mf_vec3_dot(way, cell->corners[i]) > band;
        if (lower)
            return false;
    }
    return true;
}

// ---- the table ----------------------------------------------------------------------------------

typedef struct Table { // being made
    mf_Context *context;
    mf_ConvexHull *hull;
    List lists[8]; // of a cell and of those that hold it, coarsest first
    List entries;  // of all cells so far, in chunks
    uint32_t room; // [1] of entries
} Table;

static uint32_t cell_count(const mf_ConvexHull *hull) {
    return hull->side == 0 ? 1 : 6 * hull->side * hull->side;
}

// Appends a list in chunks, filled up with its first item.
static bool put_list(Table *table, const List *list) {
    List *to = &table->entries;
    const uint32_t count = (list->count + MF_HULL_CHUNK - 1) / MF_HULL_CHUNK * MF_HULL_CHUNK;
    if (to->count + count > table->room) {
        const uint32_t room = 2 * (to->count + count);
        uint32_t *items = mf_allocate(table->context, room, sizeof *items);
        if (items == NULL)
            return false;
        if (to->count > 0)
            memcpy(items, to->items, to->count * sizeof *items);
        mf_release(table->context, to->items);
        to->items = items;
        table->room = room;
    }
    for (uint32_t i = 0; i < count; i++)
        to->items[to->count++] = list->items[i < list->count ? i : 0];
    return true;
}

// The list of a cell and, down to the finest, of the four cells in it, whose vertices are among
// its own.
static bool list_cells(Table *table, uint32_t level, uint32_t face, uint32_t row, uint32_t column) {
    mf_ConvexHull *hull = table->hull;
    const uint32_t side = (uint32_t)1 << level;
    const List *from = &table->lists[level];
    List *to = &table->lists[level + 1];
    Cell cell;
    cell_fill(hull, from, side, face, row, column, &cell);
    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        if (cell_needs(hull, &cell, from->items[i]))
            to->items[to->count++] = from->items[i];
    if (side < hull->side) {
        for (uint32_t i = 0; i < 4; i++)
            if (!list_cells(table, level + 1, face, 2 * row + i / 2, 2 * column + i % 2))
                return false;
        return true;
    }
    // Where it begins; the cells come in another order than their numbers.
    hull->cells[2 * ((face * side + row) * side + column)] = table->entries.count / MF_HULL_CHUNK;
    bool fine = put_list(table, to);
    hull->cells[2 * ((face * side + row) * side + column) + 1] =
        table->entries.count / MF_HULL_CHUNK;
    return fine;
}

static bool fill_points(mf_Context *context, mf_ConvexHull *hull, uint32_t entries) {
    hull->points_f64 = mf_allocate(context, 3 * (size_t)entries, sizeof(double));
    hull->points_f32 = mf_allocate(context, 3 * (size_t)entries, sizeof(float));
    if (!hull->points_f64 || !hull->points_f32)
        return false;
    for (uint32_t i = 0; i < entries; i++)
        for (size_t k = 0; k < 3; k++) {
            const size_t to =
                (3 * (size_t)(i / MF_HULL_CHUNK) + k) * MF_HULL_CHUNK + i % MF_HULL_CHUNK;
            hull->points_f64[to] = hull->vertices_f64[3 * (size_t)hull->numbers[i] + k];
            hull->points_f32[to] = (float)hull->points_f64[to];
        }
    return true;
}

static bool make_table(mf_Context *context, mf_ConvexHull *hull) {
    enum { LEVELS = 8 };
    Table table = {.context = context, .hull = hull};
    bool fine = true;
    for (int i = 0; i < LEVELS; i++) {
        table.lists[i].items = mf_allocate(context, hull->vertex_count, sizeof(uint32_t));
        fine = fine && table.lists[i].items != NULL;
    }
    hull->cells = mf_allocate(context, 2 * (size_t)cell_count(hull), sizeof *hull->cells);
    fine = fine && hull->cells != NULL;
    for (uint32_t i = 0; fine && i < hull->vertex_count; i++)
        table.lists[0].items[table.lists[0].count++] = i;
    if (hull->side == 0 && fine) {
        fine = put_list(&table, &table.lists[0]);
        hull->cells[1] = table.entries.count / MF_HULL_CHUNK;
    }
    for (uint32_t face = 0; fine && hull->side > 0 && face < 6; face++)
        fine = list_cells(&table, 0, face, 0, 0);
    hull->numbers = table.entries.items;
    fine = fine && fill_points(context, hull, table.entries.count);
    for (int i = 0; i < LEVELS; i++)
        mf_release(context, table.lists[i].items);
    return fine;
}

// ---- hulls --------------------------------------------------------------------------------------

static bool make_vertices(mf_Context *context, const mf_Mesh *mesh, mf_ConvexHull *hull) {
    const uint32_t count = hull->vertex_count = mesh->hull_vertex_count;
    hull->vertices_f64 = mf_allocate(context, 3 * (size_t)count, sizeof(double));
    hull->vertices_f32 = mf_allocate(context, 3 * (size_t)count, sizeof(float));
    if (!hull->vertices_f64 || !hull->vertices_f32)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)mesh->hull_vertices[i];
        mf_vec3_add(hull->center, hull->center, (double[3]){v[0], v[1], v[2]});
    }
    mf_vec3_scale(hull->center, hull->center, 1.0 / count);
    for (uint32_t i = 0; i < count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)mesh->hull_vertices[i];
        double *way = hull->vertices_f64 + 3 * (size_t)i;
        mf_vec3_sub(way, (double[3]){v[0], v[1], v[2]}, hull->center);
        double length = mf_vec3_length(way);
        hull->radius = length > hull->radius ? length : hull->radius;
        for (int k = 0; k < 3; k++) {
            hull->vertices_f32[3 * (size_t)i + (size_t)k] = (float)way[k];
            hull->low[k] = i == 0 || way[k] < hull->low[k] ? way[k] : hull->low[k];
            hull->high[k] = i == 0 || way[k] > hull->high[k] ? way[k] : hull->high[k];
        }
    }
    hull->side = side_for(count);
    return true;
}

static bool make_hull(mf_Context *context, const mf_Mesh *mesh, mf_ConvexHull *hull) {
    return make_vertices(context, mesh, hull) && make_table(context, hull) &&
           mf_hull_make_faces(context, mesh, hull);
}

// From the vertices that the cell of each direction lists.
static bool make_bounds(mf_HullSet *set) {
    enum { CORNERS = MF_HULL_SQUARES + 1 };
    set->bounds_f64 =
        mf_allocate(set->context, (size_t)set->count * MF_HULL_BOUNDS, sizeof(double));
    set->bounds_f32 = mf_allocate(set->context, (size_t)set->count * MF_HULL_BOUNDS, sizeof(float));
    if (!set->bounds_f64 || !set->bounds_f32)
        return false;
    for (uint32_t h = 0; h < set->count; h++) {
        const mf_ConvexHull *hull = &set->hulls[h];
        const uint32_t side = hull->side;
        for (uint32_t i = 0; i < MF_HULL_BOUNDS; i++) {
            const uint32_t face = i / (CORNERS * CORNERS), row = i / CORNERS % CORNERS,
                           column = i % CORNERS;
            const uint32_t down = row * side / MF_HULL_SQUARES,
                           across = column * side / MF_HULL_SQUARES;
            uint32_t cell = side == 0 ? 0
                                      : (face * side + (down < side ? down : side - 1)) * side +
                                            (across < side ? across : side - 1);
            const List list = {hull->numbers + (size_t)hull->cells[2 * cell] * MF_HULL_CHUNK,
                               (hull->cells[2 * cell + 1] - hull->cells[2 * cell]) * MF_HULL_CHUNK};
            double way[3];
            cube_point(face, 2.0 * column / MF_HULL_SQUARES - 1.0,
                       2.0 * row / MF_HULL_SQUARES - 1.0, way);
            const uint32_t vertex = farthest(hull, &list, way);
            const size_t to = (size_t)h * MF_HULL_BOUNDS + i;
            set->bounds_f64[to] = mf_vec3_dot(hull->vertices_f64 + 3 * (size_t)vertex, way);
            set->bounds_f32[to] = (float)(set->bounds_f64[to] + 1e-6 * hull->radius);
        }
    }
    return true;
}

// Meshes of shapes that touch.
static uint32_t number_hulls(const mf_Model *model, uint32_t *of_mesh) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->mesh_count; i++)
        of_mesh[i] = MF_NONE;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->collides && shape->type == MF_SHAPE_MESH && of_mesh[shape->mesh] == MF_NONE &&
            model->meshes[shape->mesh].hull_vertex_count > 0)
            of_mesh[shape->mesh] = count++;
    }
    return count;
}

mf_Status mf_hulls_create(mf_Context *context, const mf_Model *model, mf_HullSet **out,
                          mf_Error *error) {
    mf_HullSet *set = mf_allocate(context, 1, sizeof *set);
    bool fine = set != NULL;
    if (fine) {
        set->context = context;
        set->of_mesh = mf_allocate(context, model->mesh_count, sizeof *set->of_mesh);
        fine = set->of_mesh != NULL;
    }
    if (fine) {
        set->count = number_hulls(model, set->of_mesh);
        set->hulls = mf_allocate(context, set->count, sizeof *set->hulls);
        fine = set->hulls != NULL;
    }
    for (uint32_t i = 0; fine && i < model->mesh_count; i++)
        if (set->of_mesh[i] != MF_NONE)
            fine = make_hull(context, &model->meshes[i], &set->hulls[set->of_mesh[i]]);
    fine = fine && make_bounds(set);
    if (fine) {
        *out = set;
        return MF_OK;
    }
    mf_hulls_destroy(set);
    return mf_fail(error, MF_NO_MEMORY, "no memory for the hulls of %s", model->name);
}

void mf_hulls_destroy(mf_HullSet *set) {
    if (set == NULL)
        return;
    mf_Context *context = set->context;
    for (uint32_t i = 0; set->hulls != NULL && i < set->count; i++) {
        mf_ConvexHull *hull = &set->hulls[i];
        mf_release(context, hull->cells);
        mf_release(context, hull->numbers);
        mf_release(context, hull->points_f64);
        mf_release(context, hull->points_f32);
        mf_release(context, hull->vertices_f64);
        mf_release(context, hull->vertices_f32);
        mf_release(context, hull->first_face);
        mf_release(context, hull->faces);
        mf_release(context, hull->normals_f64);
        mf_release(context, hull->normals_f32);
    }
    mf_release(context, set->bounds_f64);
    mf_release(context, set->bounds_f32);
    mf_release(context, set->hulls);
    mf_release(context, set->of_mesh);
    mf_release(context, set);
}

uint32_t mf_hull_corners(const mf_ConvexHull *hull, const double up[3], uint32_t corners[4]) {
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < hull->vertex_count; i++)
        if (mf_vec3_dot(hull->vertices_f64 + 3 * (size_t)i, up) <
            mf_vec3_dot(hull->vertices_f64 + 3 * (size_t)lowest, up))
            lowest = i;
    const mf_HullFace *best = NULL;
    double most = INFINITY;
    for (uint32_t i = hull->first_face[lowest]; i < hull->first_face[lowest + 1]; i++) {
        double value = mf_vec3_dot(hull->normals_f64 + 3 * (size_t)i, up);
        best = value < most ? &hull->faces[i] : best;
        most = value < most ? value : most;
    }
    corners[0] = lowest;
    for (uint32_t k = 0; best != NULL && k < best->count; k++)
        corners[k] = best->corners[k];
    return best != NULL ? best->count : 1;
}
