// Convex hulls for the kernels: the table of directions.
#include "contact/hull.h"
#include "contact/hull_draft.h"
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

static uint32_t farthest(const mf_HullDraft *draft, const List *from, const double direction[3]) {
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t i = 0; i < from->count; i++) {
        double value = mf_vec3_dot(draft->vertices_f64 + 3 * (size_t)from->items[i], direction);
        best = value > most ? from->items[i] : best;
        most = value > most ? value : most;
    }
    return best;
}

// One of side^2 cells of a face. Cells overlap by a little, so that roundings of a direction on
// their border do no harm.
static void cell_fill(const mf_HullDraft *draft, const List *from, uint32_t side, uint32_t face,
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
        double direction[3];
        cube_point(face, u + 0.5 * (i % 3) * width, v + 0.5 * (double)(i / 3) * width, direction);
        cell->probes[i] = farthest(draft, from, direction);
    }
}

// Whether a vertex can be the farthest, or nearly. One that is lower than the same other in all
// corners of the cell is lower in all of it: the difference is linear along straight lines.
static bool cell_needs(const mf_HullDraft *draft, const Cell *cell, uint32_t vertex) {
    const double *own = draft->vertices_f64 + 3 * (size_t)vertex;
    const double band = 1.01 * MF_HULL_TILT * draft->hull.radius * cell->largest;
    for (int k = 0; k < PROBES; k++) {
        double offset[3];
        bool lower = true;
        mf_vec3_sub(offset, draft->vertices_f64 + 3 * (size_t)cell->probes[k], own);
        for (int i = 0; lower && i < 4; i++)
            lower = mf_vec3_dot(offset, cell->corners[i]) > band;
        if (lower)
            return false;
    }
    return true;
}

// ---- the table ----------------------------------------------------------------------------------

typedef struct Table { // being made
    mf_Context *context;
    mf_HullDraft *draft;
    List lists[8];     // of a cell and of those that hold it, coarsest first
    List entries;      // of all cells so far, in chunks
    uint32_t capacity; // [1] of entries
} Table;

static uint32_t count_cells(const mf_HullDraft *draft) {
    return draft->hull.side == 0 ? 1 : 6 * draft->hull.side * draft->hull.side;
}

// Appends a list in chunks, filled up with its first item.
static bool put_list(Table *table, const List *list) {
    List *to = &table->entries;
    const uint32_t count = (list->count + MF_HULL_CHUNK - 1) / MF_HULL_CHUNK * MF_HULL_CHUNK;
    if (to->count + count > table->capacity) {
        const uint32_t capacity = 2 * (to->count + count);
        uint32_t *items = mf_allocate(table->context, capacity, sizeof *items);
        if (items == NULL)
            return false;
        if (to->count > 0)
            memcpy(items, to->items, to->count * sizeof *items);
        mf_release(table->context, to->items);
        to->items = items;
        table->capacity = capacity;
    }
    for (uint32_t i = 0; i < count; i++)
        to->items[to->count++] = list->items[i < list->count ? i : 0];
    return true;
}

// The list of a cell and, down to the finest, of the four cells in it, whose vertices are among
// its own.
static bool list_cells(Table *table, uint32_t level, uint32_t face, uint32_t row, uint32_t column) {
    mf_HullDraft *draft = table->draft;
    const uint32_t side = (uint32_t)1 << level;
    const List *from = &table->lists[level];
    List *to = &table->lists[level + 1];
    Cell cell;
    cell_fill(draft, from, side, face, row, column, &cell);
    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        if (cell_needs(draft, &cell, from->items[i]))
            to->items[to->count++] = from->items[i];
    if (side < draft->hull.side) {
        for (uint32_t i = 0; i < 4; i++)
            if (!list_cells(table, level + 1, face, 2 * row + i / 2, 2 * column + i % 2))
                return false;
        return true;
    }
    // Where it begins; the cells come in another order than their numbers.
    draft->cells[2 * ((face * side + row) * side + column)] = table->entries.count / MF_HULL_CHUNK;
    bool fine = put_list(table, to);
    draft->cells[2 * ((face * side + row) * side + column) + 1] =
        table->entries.count / MF_HULL_CHUNK;
    return fine;
}

static bool fill_points(mf_Context *context, mf_HullDraft *draft) {
    const uint32_t entries = draft->hull.entry_count;
    draft->points_f64 = mf_allocate(context, 3 * (size_t)entries, sizeof(double));
    draft->points_f32 = mf_allocate(context, 3 * (size_t)entries, sizeof(float));
    if (!draft->points_f64 || !draft->points_f32)
        return false;
    for (uint32_t i = 0; i < entries; i++)
        for (size_t k = 0; k < 3; k++) {
            const size_t to =
                (3 * (size_t)(i / MF_HULL_CHUNK) + k) * MF_HULL_CHUNK + i % MF_HULL_CHUNK;
            draft->points_f64[to] = draft->vertices_f64[3 * (size_t)draft->numbers[i] + k];
            draft->points_f32[to] = (float)draft->points_f64[to];
        }
    return true;
}

static bool make_table(mf_Context *context, mf_HullDraft *draft) {
    enum { LEVELS = 8 };
    Table table = {.context = context, .draft = draft};
    bool fine = true;
    for (int i = 0; i < LEVELS; i++) {
        table.lists[i].items = mf_allocate(context, draft->hull.vertex_count, sizeof(uint32_t));
        fine = fine && table.lists[i].items != NULL;
    }
    draft->hull.cell_count = count_cells(draft);
    draft->cells = mf_allocate(context, 2 * (size_t)draft->hull.cell_count, sizeof *draft->cells);
    fine = fine && draft->cells != NULL;
    for (uint32_t i = 0; fine && i < draft->hull.vertex_count; i++)
        table.lists[0].items[table.lists[0].count++] = i;
    if (draft->hull.side == 0 && fine) {
        fine = put_list(&table, &table.lists[0]);
        draft->cells[1] = table.entries.count / MF_HULL_CHUNK;
    }
    for (uint32_t face = 0; fine && draft->hull.side > 0 && face < 6; face++)
        fine = list_cells(&table, 0, face, 0, 0);
    draft->numbers = table.entries.items;
    draft->hull.entry_count = table.entries.count;
    fine = fine && fill_points(context, draft);
    for (int i = 0; i < LEVELS; i++)
        mf_release(context, table.lists[i].items);
    return fine;
}

// ---- hulls --------------------------------------------------------------------------------------

static bool make_vertices(mf_Context *context, const mf_Mesh *mesh, mf_HullDraft *draft) {
    const uint32_t count = draft->hull.vertex_count = mesh->hull_vertex_count;
    draft->vertices_f64 = mf_allocate(context, 3 * (size_t)count, sizeof(double));
    draft->vertices_f32 = mf_allocate(context, 3 * (size_t)count, sizeof(float));
    if (!draft->vertices_f64 || !draft->vertices_f32)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)mesh->hull_vertices[i];
        mf_vec3_add(draft->hull.center, draft->hull.center, (double[3]){v[0], v[1], v[2]});
    }
    mf_vec3_scale(draft->hull.center, draft->hull.center, 1.0 / count);
    for (uint32_t i = 0; i < count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)mesh->hull_vertices[i];
        double *direction = draft->vertices_f64 + 3 * (size_t)i;
        mf_vec3_sub(direction, (double[3]){v[0], v[1], v[2]}, draft->hull.center);
        double length = mf_vec3_length(direction);
        draft->hull.radius = length > draft->hull.radius ? length : draft->hull.radius;
        for (int k = 0; k < 3; k++) {
            draft->vertices_f32[3 * (size_t)i + (size_t)k] = (float)direction[k];
            draft->hull.low[k] =
                i == 0 || direction[k] < draft->hull.low[k] ? direction[k] : draft->hull.low[k];
            draft->hull.high[k] =
                i == 0 || direction[k] > draft->hull.high[k] ? direction[k] : draft->hull.high[k];
        }
    }
    draft->hull.side = side_for(count);
    return true;
}

static mf_Status no_memory(const mf_Model *model, mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "no memory for the hulls of %s", model->name);
}

static bool make_hull(mf_Context *context, const mf_Mesh *mesh, mf_HullDraft *draft) {
    return make_vertices(context, mesh, draft) && make_table(context, draft) &&
           mf_hull_make_faces(context, mesh, draft);
}

static void free_hull(mf_Context *context, mf_HullDraft *draft) {
#define RELEASE(Type, name, count) mf_release(context, draft->name);
    MF_HULL_ARRAYS(RELEASE, )
#undef RELEASE
}

static mf_Status pack_hull(mf_Context *context, mf_HullDraft *draft, mf_ConvexHull **out,
                           mf_Error *error) {
#define PART(Type, name, count) MF_FLAT_PART(&draft->hull, name, draft->name, count),
    const mf_FlatPart parts[] = {MF_HULL_ARRAYS(PART, &draft->hull)};
#undef PART
    void *image = NULL;
    mf_Status status = mf_flat_pack(context, &draft->hull, sizeof draft->hull, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    *out = image;
    return status;
}

// From the vertices that the cell of each direction lists. MF_HULL_BOUNDS of both precisions.
static void fill_bounds(const mf_HullDraft *draft, double *bounds_f64, float *bounds_f32) {
    enum { CORNERS = MF_HULL_SQUARES + 1 };
    const uint32_t side = draft->hull.side;
    for (uint32_t i = 0; i < MF_HULL_BOUNDS; i++) {
        const uint32_t face = i / (CORNERS * CORNERS), row = i / CORNERS % CORNERS,
                       column = i % CORNERS;
        const uint32_t down = row * side / MF_HULL_SQUARES,
                       across = column * side / MF_HULL_SQUARES;
        uint32_t cell = side == 0 ? 0
                                  : (face * side + (down < side ? down : side - 1)) * side +
                                        (across < side ? across : side - 1);
        const List list = {draft->numbers + (size_t)draft->cells[2 * cell] * MF_HULL_CHUNK,
                           (draft->cells[2 * cell + 1] - draft->cells[2 * cell]) * MF_HULL_CHUNK};
        double direction[3];
        cube_point(face, 2.0 * column / MF_HULL_SQUARES - 1.0, 2.0 * row / MF_HULL_SQUARES - 1.0,
                   direction);
        const uint32_t vertex = farthest(draft, &list, direction);
        bounds_f64[i] = mf_vec3_dot(draft->vertices_f64 + 3 * (size_t)vertex, direction);
        bounds_f32[i] = (float)(bounds_f64[i] + 1e-6 * draft->hull.radius);
    }
}

// ---- sets ---------------------------------------------------------------------------------------

typedef struct Set { // being made
    mf_Context *context;
    mf_HullSet set;
    MF_HULL_SET_ARRAYS(MF_FLAT_POINTER, )
    mf_ConvexHull **images; // of hulls
} Set;

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

static bool reserve(Set *s, const mf_Model *model) {
    const size_t bounds = MF_HULL_BOUNDS;
    s->set.mesh_count = model->mesh_count;
    s->of_mesh = mf_allocate(s->context, model->mesh_count, sizeof *s->of_mesh);
    if (s->of_mesh == NULL)
        return false;
    const size_t count = s->set.count = number_hulls(model, s->of_mesh);
    s->images = mf_allocate(s->context, count, sizeof *s->images);
    s->hull_begins = mf_allocate(s->context, count, sizeof *s->hull_begins);
    s->bounds_f64 = mf_allocate(s->context, count * bounds, sizeof *s->bounds_f64);
    s->bounds_f32 = mf_allocate(s->context, count * bounds, sizeof *s->bounds_f32);
    return s->images && s->hull_begins && s->bounds_f64 && s->bounds_f32;
}

static mf_Status add_hull(Set *s, const mf_Model *model, uint32_t mesh, mf_Error *error) {
    const uint32_t number = s->of_mesh[mesh];
    const size_t bounds = (size_t)number * MF_HULL_BOUNDS;
    mf_HullDraft draft = {.hull = {.number = number}};
    mf_Status status = MF_NO_MEMORY;
    if (make_hull(s->context, &model->meshes[mesh], &draft)) {
        fill_bounds(&draft, s->bounds_f64 + bounds, s->bounds_f32 + bounds);
        status = pack_hull(s->context, &draft, &s->images[number], error);
    } else {
        no_memory(model, error);
    }
    free_hull(s->context, &draft);
    return status;
}

// All hulls in one array.
static mf_Status join_hulls(Set *s, const mf_Model *model, mf_Error *error) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->set.count; i++) {
        s->hull_begins[i] = (uint32_t)bytes;
        bytes += s->images[i]->bytes;
        if (bytes > UINT32_MAX)
            return mf_fail(error, MF_LIMIT, "the hulls of %s have 4 GiB or more", model->name);
    }
    s->set.hull_bytes = (uint32_t)bytes;
    s->hull_images = mf_allocate(s->context, 1, bytes);
    if (s->hull_images == NULL)
        return no_memory(model, error);
    for (uint32_t i = 0; i < s->set.count; i++)
        memcpy(s->hull_images + s->hull_begins[i], s->images[i], s->images[i]->bytes);
    return MF_OK;
}

static mf_Status pack_set(Set *s, mf_HullSet **out, mf_Error *error) {
#define PART(Type, name, count) MF_FLAT_PART(&s->set, name, s->name, count),
    const mf_FlatPart parts[] = {MF_HULL_SET_ARRAYS(PART, &s->set)};
#undef PART
    void *image = NULL;
    MF_TRY(mf_flat_pack(s->context, &s->set, sizeof s->set, parts, sizeof parts / sizeof *parts,
                        &image, error));
    *out = image;
    return MF_OK;
}

static void free_set(Set *s) {
    for (uint32_t i = 0; s->images != NULL && i < s->set.count; i++)
        mf_release(s->context, s->images[i]);
    mf_release(s->context, s->images);
#define RELEASE(Type, name, count) mf_release(s->context, s->name);
    MF_HULL_SET_ARRAYS(RELEASE, )
#undef RELEASE
}

mf_Status mf_hulls_create(mf_Context *context, const mf_Model *model, mf_HullSet **out,
                          mf_Error *error) {
    Set s = {.context = context};
    mf_Status status = reserve(&s, model) ? MF_OK : no_memory(model, error);
    for (uint32_t i = 0; status == MF_OK && i < model->mesh_count; i++)
        if (s.of_mesh[i] != MF_NONE)
            status = add_hull(&s, model, i, error);
    MF_THEN(status, join_hulls(&s, model, error));
    MF_THEN(status, pack_set(&s, out, error));
    free_set(&s);
    return status;
}

uint32_t mf_hull_corners(const mf_ConvexHull *hull, const double up[3], uint32_t corners[4]) {
    const double *vertices = mf_hull_vertices_f64(hull), *normals = mf_hull_normals_f64(hull);
    const uint32_t *first_face = mf_hull_first_face(hull);
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < hull->vertex_count; i++)
        if (mf_vec3_dot(vertices + 3 * (size_t)i, up) <
            mf_vec3_dot(vertices + 3 * (size_t)lowest, up))
            lowest = i;
    const mf_HullFace *best = NULL;
    double most = INFINITY;
    for (uint32_t i = first_face[lowest]; i < first_face[lowest + 1]; i++) {
        double value = mf_vec3_dot(normals + 3 * (size_t)i, up);
        best = value < most ? &mf_hull_faces(hull)[i] : best;
        most = value < most ? value : most;
    }
    corners[0] = lowest;
    for (uint32_t k = 0; best != NULL && k < best->count; k++)
        corners[k] = best->corners[k];
    return best != NULL ? best->count : 1;
}
