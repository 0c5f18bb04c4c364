// The ground in pictures: a level one by its equation, a height map by the triangles of the cells
// that the camera may see, and around it a level at the mean height of its first row, with walls
// between both.
#include "camera/render.h"

#include "math/scalar.h"

enum { TILE = 16, FACES_PER_CELL = 6 };

static const float color[3] = {0.53f, 0.57f, 0.51f};
static const int32_t owner[3] = {-2, -1, -1};

typedef struct Ground {
    const mf_RenderScene *scene;
    const mf_CameraView *view;
    const mf_RenderPose *pose;
    mf_RenderBuffers *buffers;
    double axes[9];
    double outer; // [m] height of the level around a map
} Ground;

uint32_t mf_render_ground_faces(const mf_RenderScene *scene) {
    const mf_Terrain *terrain = scene->terrain;
    if (!scene->hilly)
        return 0;
    const uint64_t faces = (uint64_t)terrain->columns * terrain->rows * FACES_PER_CELL +
                           4 * ((uint64_t)terrain->columns + terrain->rows);
    return faces < UINT32_MAX / 2 ? (uint32_t)faces : UINT32_MAX / 2;
}

static void to_optical(const Ground *ground, double x, double y, double z, double out[3]) {
    const double arm[3] = {x - ground->pose->position[0], y - ground->pose->position[1],
                           z - ground->pose->position[2]};
    mf_mat3_apply(out, ground->axes, arm);
}

// Four corners in order around it.
static void add_quad(Ground *ground, double corner[4][3]) {
    const double *const first[3] = {corner[0], corner[1], corner[2]};
    const double *const second[3] = {corner[0], corner[2], corner[3]};
    const mf_RenderPaint paint = {.color = color};
    mf_render_add_triangle(ground->scene, ground->view, ground->buffers, first, &paint, owner);
    mf_render_add_triangle(ground->scene, ground->view, ground->buffers, second, &paint, owner);
}

static double height_at(const mf_Terrain *terrain, uint32_t column, uint32_t row) {
    return terrain->height_f64[(size_t)row * terrain->columns + column];
}

// [m] Of the level around the map.
static double outer_height(const mf_Terrain *terrain) {
    double height = 0.0;
    for (uint32_t c = 0; c < terrain->columns; c++)
        height += height_at(terrain, c, 0) / terrain->columns;
    return height;
}

// From one corner of a cell or patch to the next, along the border of the map, to the level.
static void add_wall(Ground *ground, const double x[2], const double y[2], const double z[2]) {
    double corner[4][3];
    const double level = ground->outer;
    to_optical(ground, x[0], y[0], z[0], corner[0]);
    to_optical(ground, x[1], y[1], z[1], corner[1]);
    to_optical(ground, x[1], y[1], level, corner[2]);
    to_optical(ground, x[0], y[0], level, corner[3]);
    add_quad(ground, corner);
}

// Between the centers of border cells, or along their edges.
static void add_walls(Ground *ground) {
    const mf_Terrain *terrain = ground->scene->terrain;
    const uint32_t counts[2] = {terrain->columns, terrain->rows};
    const bool smooth = terrain->interpolation == MF_BILINEAR;
    for (int axis = 0; axis < 2; axis++)
        for (uint32_t i = 0; i + smooth < counts[axis]; i++)
            for (int end = 0; end < 2; end++) {
                const uint32_t side = end == 0 ? 0 : counts[1 - axis] - 1;
                double at[2][2], z[2];
                for (uint32_t k = 0; k < 2; k++) {
                    const uint32_t along = i + (smooth ? k : 0);
                    at[axis][k] = i + k + (smooth ? 0.5 : 0.0);
                    at[1 - axis][k] = side + (smooth ? 0.5 : (double)end);
                    z[k] = axis == 0 ? height_at(terrain, along, side)
                                     : height_at(terrain, side, along);
                    for (int c = 0; c < 2; c++)
                        at[c][k] = terrain->origin[c] + at[c][k] * terrain->cell;
                }
                add_wall(ground, at[0], at[1], z);
            }
}

// Between the centers of four cells.
static void add_patch(Ground *ground, uint32_t column, uint32_t row) {
    static const uint32_t around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const mf_Terrain *terrain = ground->scene->terrain;
    double corner[4][3];
    if (column + 1 >= terrain->columns || row + 1 >= terrain->rows)
        return;
    for (int k = 0; k < 4; k++) {
        const uint32_t c = column + around[k][0], r = row + around[k][1];
        to_optical(ground, terrain->origin[0] + (c + 0.5) * terrain->cell,
                   terrain->origin[1] + (r + 0.5) * terrain->cell, height_at(terrain, c, r),
                   corner[k]);
    }
    add_quad(ground, corner);
}

// A level square, and the walls to the next ones.
static void add_step(Ground *ground, uint32_t column, uint32_t row) {
    const mf_Terrain *terrain = ground->scene->terrain;
    const double height = height_at(terrain, column, row), cell = terrain->cell;
    const double x = terrain->origin[0] + column * cell, y = terrain->origin[1] + row * cell;
    double corner[4][3];
    to_optical(ground, x, y, height, corner[0]);
    to_optical(ground, x + cell, y, height, corner[1]);
    to_optical(ground, x + cell, y + cell, height, corner[2]);
    to_optical(ground, x, y + cell, height, corner[3]);
    add_quad(ground, corner);
    for (int side = 0; side < 2; side++) {
        const bool right = side == 0;
        if (right ? column + 1 >= terrain->columns : row + 1 >= terrain->rows)
            continue;
        const double other = height_at(terrain, column + right, row + !right);
        if (other == height)
            continue;
        const double u = right ? x + cell : x, v = right ? y : y + cell;
        to_optical(ground, u, v, height, corner[0]);
        to_optical(ground, x + cell, y + cell, height, corner[1]);
        to_optical(ground, x + cell, y + cell, other, corner[2]);
        to_optical(ground, u, v, other, corner[3]);
        add_quad(ground, corner);
    }
}

static void add_tile(Ground *ground, uint32_t column, uint32_t row) {
    const mf_Terrain *terrain = ground->scene->terrain;
    const uint32_t end[2] = {column + TILE < terrain->columns ? column + TILE : terrain->columns,
                             row + TILE < terrain->rows ? row + TILE : terrain->rows};
    const double edge = (TILE + 1) * terrain->cell, rise = terrain->highest - terrain->lowest;
    double middle[3];
    mf_RasterRect rect;
    to_optical(ground, terrain->origin[0] + (column + 0.5 * TILE) * terrain->cell,
               terrain->origin[1] + (row + 0.5 * TILE) * terrain->cell,
               0.5 * (terrain->highest + terrain->lowest), middle);
    const double radius = 0.5 * mf_sqrt(2.0 * edge * edge + rise * rise) + terrain->cell;
    if (!mf_camera_view_ball(ground->view, middle, radius, &rect))
        return;
    for (uint32_t r = row; r < end[1]; r++)
        for (uint32_t c = column; c < end[0]; c++)
            if (terrain->interpolation == MF_BILINEAR)
                add_patch(ground, c, r);
            else
                add_step(ground, c, r);
}

static void add_level(Ground *ground) {
    const mf_Terrain *terrain = ground->scene->terrain;
    const double *rows = ground->axes;
    const double inset =
        ground->scene->hilly && terrain->interpolation == MF_BILINEAR ? 0.5 * terrain->cell : 0.0;
    mf_RasterGround level = {
        .face = (float)MF_RASTER_GROUND, .low = {1.0f, 1.0f}, .high = {0.0f, 0.0f}};
    double height = terrain != NULL ? terrain->highest : 0.0;
    if (ground->scene->hilly) {
        const double edge[2] = {terrain->columns * terrain->cell, terrain->rows * terrain->cell};
        height = ground->outer;
        for (int i = 0; i < 2; i++) {
            level.low[i] = (float)(terrain->origin[i] + inset);
            level.high[i] = (float)(terrain->origin[i] + edge[i] - inset);
        }
    }
    for (int i = 0; i < 3; i++) {
        level.down[i] = (float)-rows[3 * i + 2];
        for (int k = 0; k < 2; k++)
            level.axes[k][i] = (float)rows[3 * i + k];
    }
    for (int k = 0; k < 2; k++)
        level.position[k] = (float)ground->pose->position[k];
    level.height = (float)(ground->pose->position[2] - height);
    ground->scene->ground(&ground->buffers->raster, &level);
}

void mf_render_draw_ground(const mf_RenderScene *scene, const mf_CameraView *view,
                           const mf_RenderPose *pose, mf_RenderBuffers *buffers) {
    Ground ground = {.scene = scene, .view = view, .pose = pose, .buffers = buffers};
    mf_render_axes(pose, ground.axes);
    ground.outer = scene->hilly ? outer_height(scene->terrain) : 0.0;
    add_level(&ground);
    if (!scene->hilly)
        return;
    add_walls(&ground);
    for (uint32_t r = 0; r < scene->terrain->rows; r += TILE)
        for (uint32_t c = 0; c < scene->terrain->columns; c += TILE)
            add_tile(&ground, c, r);
}
