// The constraints of a rectangle: edges along both directions of threads, which are springs of the
// width of cloth beside them; the shear of cells; and bending by second differences, the isometric
// quadratic model (Bergou et al. 2006) on a rectangle:
//
//   E = B / 2 (|x_uu|^2 + |x_vv|^2 + 2 |x_uv|^2) per area
//
// Slots: the longer direction is cut into bands, one a lane. A column is the vertices at one
// position of the shorter direction; its rows of lanes follow one another. Lanes then never share a
// vertex, whatever the constraint, but for those between bands, whose nodes are one lane apart. A
// chunk is some columns; with those that its last constraints reach it touches two more, so chunks
// that are two apart can be worked at once.
#include "motion/cloth/program.h"

#include <string.h>

enum { COLUMNS = 5 }; // [1] of a chunk; at least 2
enum {
    LEAST_ROWS = 3
}; // [1] of a column: a slot one lane further, in the second row, is in it too

typedef struct Grid {
    mf_ClothDraft *draft;
    const mf_Cloth *cloth;
    uint32_t columns, length; // [1] across, and vertices of each column
    uint32_t rows;            // [1] of lanes of a column
    bool rotated;             // columns lie along the first direction
    double width, height;     // [m] between columns, and along them
} Grid;

// A vertex of a column.
static uint32_t vertex_of(const Grid *grid, uint32_t column, uint32_t along) {
    return grid->rotated ? column * grid->cloth->counts[0] + along
                         : along * grid->cloth->counts[0] + column;
}

// Rows of lanes when columns have `length` vertices.
static uint32_t rows_for(uint32_t length) {
    const uint32_t rows = (length + MF_CLOTH_LANES - 1) / MF_CLOTH_LANES;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

static Grid choose_grid(mf_ClothDraft *draft, const mf_Cloth *cloth) {
    const uint32_t *n = cloth->counts;
    const bool rotated = n[1] * rows_for(n[0]) < n[0] * rows_for(n[1]);
    const int across = rotated ? 1 : 0, along = 1 - across;
    return (Grid){.draft = draft,
                  .cloth = cloth,
                  .columns = n[across],
                  .length = n[along],
                  .rows = rows_for(n[along]),
                  .rotated = rotated,
                  .width = cloth->size[across] / (n[across] - 1),
                  .height = cloth->size[along] / (n[along] - 1)};
}

// The part of the cell's extent that is beside vertex `at` of `count`.
static double share(uint32_t at, uint32_t count) {
    return at == 0 || at == count - 1 ? 0.5 : 1.0;
}

// The edge between two neighbors, the lower one first, as mf_cloth_element_count() numbers them.
static uint32_t edge_of(const Grid *grid, uint32_t vertex, uint32_t next) {
    const uint32_t n = grid->cloth->counts[0], m = grid->cloth->counts[1];
    return next == vertex + 1 ? vertex - vertex / n : (n - 1) * m + vertex;
}

// ---- constraints -------------------------------------------------------------------------------

typedef struct Pattern Pattern;
struct Pattern {
    // What begins at a vertex and reaches as far as the pattern.
    bool (*make)(const Grid *grid, const Pattern *pattern, uint32_t column, uint32_t along,
                 mf_ClothConstraint *out);
    uint32_t across, along; // [1] columns and vertices that it reaches further
};

// The vertices of an edge or a line, the edges between them, the length [m] of one of these, and
// the width [m] of cloth beside it.
static void put_line(const Grid *g, const Pattern *pattern, uint32_t column, uint32_t along,
                     mf_ClothConstraint *out, double *length, double *width) {
    const bool across = pattern->across > 0;
    const uint32_t edges = pattern->across + pattern->along;
    for (uint32_t i = 0; i <= edges; i++)
        out->vertices[i] = vertex_of(g, column + (across ? i : 0), along + (across ? 0 : i));
    for (uint32_t i = 0; i < edges; i++)
        out->elements[i] = edge_of(g, out->vertices[i], out->vertices[i + 1]);
    *length = across ? g->width : g->height;
    *width = across ? g->height * share(along, g->length) : g->width * share(column, g->columns);
}

static bool edge(const Grid *g, const Pattern *pattern, uint32_t column, uint32_t along,
                 mf_ClothConstraint *out) {
    double length, width;
    *out = (mf_ClothConstraint){.kind = MF_CLOTH_EDGE};
    put_line(g, pattern, column, along, out, &length, &width);
    out->values[0] = length;
    out->values[1] = length / (g->cloth->material.stretch * width);
    return true;
}

// A second difference.
static bool line(const Grid *g, const Pattern *pattern, uint32_t column, uint32_t along,
                 mf_ClothConstraint *out) {
    double length, width;
    *out = (mf_ClothConstraint){.kind = MF_CLOTH_LINE, .values = {1.0, -2.0, 1.0}};
    put_line(g, pattern, column, along, out, &length, &width);
    out->values[3] = length * length * length / (g->cloth->material.bending * width);
    return g->cloth->material.bending > 0.0;
}

static bool cell(const Grid *g, const Pattern *pattern, uint32_t column, uint32_t along,
                 mf_ClothConstraint *out) {
    (void)pattern;
    const double area = g->width * g->height, shear = g->cloth->material.shear;
    const double bending = g->cloth->material.bending;
    *out = (mf_ClothConstraint){
        MF_CLOTH_CELL,
        {vertex_of(g, column, along), vertex_of(g, column + 1, along),
         vertex_of(g, column, along + 1), vertex_of(g, column + 1, along + 1)},
        {0.5 / g->width, 0.5 / g->height, shear > 0.0 ? 1.0 / (shear * area) : MF_CLOTH_NEVER,
         bending > 0.0 ? area / (2.0 * bending) : MF_CLOTH_NEVER},
        {0}};
    const uint32_t *v = out->vertices;
    const uint32_t sides[4] = {edge_of(g, v[0], v[1]), edge_of(g, v[2], v[3]),
                               edge_of(g, v[0], v[2]), edge_of(g, v[1], v[3])};
    memcpy(out->elements, sides, sizeof sides);
    return shear > 0.0 || bending > 0.0;
}

// The stiffest last, so that they hold best.
static const Pattern patterns[] = {
    {line, 0, 2}, {line, 2, 0}, {cell, 1, 1}, {edge, 0, 1}, {edge, 1, 0}};

// The constraints of a pattern that begin at one row of lanes of a column.
static void add_row(const Grid *grid, const Pattern *pattern, uint32_t column, uint32_t row) {
    mf_ClothConstraint constraints[MF_CLOTH_LANES];
    uint32_t lanes[MF_CLOTH_LANES], count = 0;
    for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++) {
        const uint32_t along = lane * grid->rows + row;
        if (along + pattern->along >= grid->length ||
            !pattern->make(grid, pattern, column, along, &constraints[count]))
            continue;
        lanes[count++] = lane;
    }
    mf_cloth_draft_batch(grid->draft, constraints, lanes, count);
}

// Rows that follow one another have no common vertex, so that a processor can work at several.
static void add_pattern(const Grid *grid, const Pattern *pattern, uint32_t column) {
    const uint32_t stride = pattern->along + 1;
    for (uint32_t from = 0; from < stride; from++)
        for (uint32_t row = from; row < grid->rows; row += stride)
            add_row(grid, pattern, column, row);
}

static void add_column(const Grid *grid, uint32_t column) {
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        if (column + patterns[p].across < grid->columns)
            add_pattern(grid, &patterns[p], column);
}

void mf_cloth_draft_grid(mf_ClothDraft *draft, const mf_Cloth *cloth) {
    const Grid grid = choose_grid(draft, cloth);
    draft->in_rows = true;
    if (!mf_cloth_draft_slots(draft, grid.columns * grid.rows * MF_CLOTH_LANES))
        return;
    for (uint32_t column = 0; column < grid.columns; column++)
        for (uint32_t along = 0; along < grid.length; along++)
            draft->slot_of[vertex_of(&grid, column, along)] =
                (column * grid.rows + along % grid.rows) * MF_CLOTH_LANES + along / grid.rows;
    for (uint32_t odd = 0; odd < 2; odd++) {
        for (uint32_t from = odd * COLUMNS; from < grid.columns; from += 2 * COLUMNS) {
            for (uint32_t i = from; i < from + COLUMNS && i < grid.columns; i++)
                add_column(&grid, i);
            mf_cloth_draft_chunk(draft);
        }
        mf_cloth_draft_wave(draft);
    }
}
