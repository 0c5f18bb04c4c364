// Shadows: which of what is seen the light does not reach.
//
// Pixels are grouped in tiles, whose points have a box in the light's axes. The shapes of all
// robots are gone through once more: those whose ball is beside the box of all tiles, or behind it,
// are left out; of the others each tile keeps those that are not beside its own, and a ray from
// each of its points towards the light is tested against them (shadow_float_kernel.c). Hills
// hide the light by a map of their own (render_hills.c); level ground and planes cast no shadow.
#include "camera/render.h"

#include "math/scalar.h"

enum { TILE_ROWS = 8 };

// ---- what may shade -----------------------------------------------------------------------------

bool mf_render_may_shade(const mf_RenderDraw *draw, const double center[3], double radius,
                         double at[3]) {
    const mf_RenderCaster *caster = draw->caster;
    double own[3];
    mf_mat3_apply(own, caster->axes, center);
    if (at != NULL)
        mf_vec3_copy(at, own);
    for (int i = 0; i < 2; i++)
        if (own[i] + radius < caster->low[i] || own[i] - radius > caster->high[i])
            return false;
    return own[2] + radius > caster->least;
}

static void set_ball(mf_RasterBlock *block, const double at[3], double radius) {
    for (int i = 0; i < 3; i++)
        block->at[i] = (float)at[i];
    // Space for rounding, here and in the point's coordinates.
    block->radius =
        (float)(radius * 1.001 + 1e-5 * (mf_abs(at[0]) + mf_abs(at[1]) + mf_abs(at[2])));
}

void mf_render_block_solid(const mf_RenderDraw *draw, const mf_RenderSolid *solid,
                           const mf_RenderTransform *pose) {
    mf_RenderBuffers *buffers = draw->buffers;
    mf_RasterBlock *block = &buffers->blocks[buffers->block_count];
    const double *towards = draw->caster->axes + 6;
    double at[3];
    if (!mf_render_may_shade(draw, pose->position, solid->radius, at))
        return;
    buffers->block_count++;
    block->type = solid->type;
    block->half = (float)solid->half;
    set_ball(block, at, solid->radius);
    for (int i = 0; i < 3; i++) {
        double along = 0.0, distance = 0.0;
        for (int k = 0; k < 3; k++) {
            const double angle = pose->rotation[3 * k + i] * solid->scale[i];
            block->axes[3 * i + k] = (float)angle;
            along += angle * pose->position[k];
            distance += angle * towards[k];
        }
        block->center[i] = (float)along;
        block->direction[i] = (float)distance;
    }
}

void mf_render_block_triangle(const mf_RenderDraw *draw, const double *const corner[3]) {
    mf_RenderBuffers *buffers = draw->buffers;
    mf_RasterBlock *block = &buffers->blocks[buffers->block_count];
    const double *towards = draw->caster->axes + 6;
    double middle[3], side[2][3], normal[3], at[3], square = 0.0;
    for (int i = 0; i < 3; i++)
        middle[i] = (corner[0][i] + corner[1][i] + corner[2][i]) / 3.0;
    for (int k = 0; k < 3; k++) {
        double arm[3];
        mf_vec3_sub(arm, corner[k], middle);
        const double own = mf_vec3_dot(arm, arm);
        square = own > square ? own : square;
    }
    const double radius = mf_sqrt(square);
    if (!mf_render_may_shade(draw, middle, radius, at))
        return;
    mf_vec3_sub(side[0], corner[1], corner[0]);
    mf_vec3_sub(side[1], corner[2], corner[0]);
    mf_vec3_cross(normal, side[0], side[1]);
    if (!mf_vec3_normalize(normal))
        return;
    buffers->block_count++;
    block->type = MF_RASTER_FLAT;
    block->half = (float)mf_vec3_dot(normal, towards);
    set_ball(block, at, radius);
    for (int i = 0; i < 3; i++) {
        block->direction[i] = (float)towards[i];
        block->center[i] = (float)normal[i];
        for (int k = 0; k < 3; k++)
            block->axes[3 * k + i] = (float)corner[k][i];
    }
}

// ---- tiles --------------------------------------------------------------------------------------

// Two axes across a direction, and it.
static void make_axes(const double towards[3], double axes[9]) {
    const bool along_x = mf_abs(towards[0]) > 0.7;
    const double other[3] = {along_x ? 0.0 : 1.0, along_x ? 1.0 : 0.0, 0.0};
    mf_vec3_cross(axes, other, towards);
    mf_vec3_normalize(axes);
    mf_vec3_cross(axes + 3, towards, axes);
    mf_vec3_copy(axes + 6, towards);
}

typedef struct Tiles {
    const mf_RenderScene *scene;
    mf_RenderBuffers *buffers;
    mf_RasterTile tile;
    uint32_t columns; // [1]
} Tiles;

static void set_rect(Tiles *tiles, uint32_t column, uint32_t top) {
    const uint32_t bottom = tiles->buffers->raster.bottom, end = top + TILE_ROWS;
    tiles->tile.rect = (mf_RasterRect){column * MF_RASTER_RUN, (column + 1) * MF_RASTER_RUN, top,
                                       end < bottom ? end : bottom};
}

static void widen(float (*span)[3], const float (*own)[3]) {
    for (int i = 0; i < 3; i++) {
        span[0][i] = own[0][i] < span[0][i] ? own[0][i] : span[0][i];
        span[1][i] = own[1][i] > span[1][i] ? own[1][i] : span[1][i];
    }
}

static void clear(float (*span)[3]) {
    for (int i = 0; i < 3; i++) {
        span[0][i] = 1e30f;
        span[1][i] = -1e30f;
    }
}

// The boxes of all tiles, and the box of these.
static void measure(Tiles *tiles, float all[2][3]) {
    const mf_Raster *raster = &tiles->buffers->raster;
    float(*span)[2][3] = tiles->buffers->spans;
    clear(all);
    for (uint32_t top = raster->top; top < raster->bottom; top += TILE_ROWS)
        for (uint32_t c = 0; c < tiles->columns; c++, span++) {
            set_rect(tiles, c, top);
            tiles->scene->span(raster, &tiles->tile, (*span)[0], (*span)[1]);
            widen(all, (const float(*)[3]) * span);
        }
}

static bool is_beside(const mf_RasterBlock *block, const float (*span)[3]) {
    for (int i = 0; i < 2; i++)
        if (block->at[i] + block->radius < span[0][i] || block->at[i] - block->radius > span[1][i])
            return true;
    return block->at[2] + block->radius < span[0][2];
}

// Those of a list that may shade something of a box; `from` NULL: all blocks.
static uint32_t choose(const mf_RenderBuffers *buffers, const uint32_t *from, uint32_t count,
                       const float (*span)[3], uint32_t *out) {
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block = from != NULL ? from[i] : i;
        if (!is_beside(&buffers->blocks[block], span))
            out[chosen++] = block;
    }
    return chosen;
}

static void shade(Tiles *tiles) {
    mf_RenderBuffers *buffers = tiles->buffers;
    const float(*span)[2][3] = (const float(*)[2][3])buffers->spans;
    tiles->tile.blocks = buffers->blocks;
    tiles->tile.list = buffers->nearest;
    tiles->tile.lit = buffers->lit;
    for (uint32_t top = buffers->raster.top; top < buffers->raster.bottom; top += TILE_ROWS) {
        float band[2][3];
        clear(band);
        for (uint32_t c = 0; c < tiles->columns; c++)
            widen(band, span[c]);
        const uint32_t near =
            choose(buffers, NULL, buffers->block_count, (const float(*)[3])band, buffers->near);
        for (uint32_t c = 0; c < tiles->columns; c++, span++) {
            set_rect(tiles, c, top);
            tiles->tile.count = choose(buffers, buffers->near, near, *span, buffers->nearest);
            tiles->scene->shadow(&buffers->raster, &tiles->tile);
        }
    }
}

void mf_render_shadow(const mf_RenderScene *scene, const mf_CameraView *view,
                      const mf_RenderPose *pose, mf_RenderBuffers *buffers) {
    Tiles tiles = {.scene = scene, .buffers = buffers, .columns = view->stride / MF_RASTER_RUN};
    mf_RenderCaster caster;
    mf_RenderDraw draw = {
        .scene = scene, .view = view, .pose = pose, .buffers = buffers, .caster = &caster};
    float all[2][3];
    double towards[3];
    mf_render_axes(pose, draw.axes);
    mf_render_light(draw.axes, towards);
    make_axes(towards, caster.axes);
    for (int i = 0; i < 9; i++)
        tiles.tile.axes[i / 3][i % 3] = (float)caster.axes[i];
    measure(&tiles, all);
    for (int i = 0; i < 2; i++) {
        caster.low[i] = (double)all[0][i];
        caster.high[i] = (double)all[1][i];
    }
    caster.least = (double)all[0][2];
    buffers->block_count = 0;
    if (all[0][0] <= all[1][0])
        mf_render_draw_robots(&draw);
    shade(&tiles);
}
