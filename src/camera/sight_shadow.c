// Shadows: which of what is seen the light does not reach.
//
// Pixels are grouped in tiles, whose points have a box in the light's axes. The shapes of all
// robots are gone through once more: those whose ball is beside the box of all tiles, or behind it,
// are left out; of the others each tile keeps those that are not beside its own, and a ray from
// each of its points towards the light is tested against them (shadow_float_kernel.c). Hills
// hide the light by a map of their own (sight_hills.c); level ground and planes cast no shadow.
#include "camera/sight.h"

#include "math/scalar.h"

enum { TILE_ROWS = 8 };

// ---- what may shade -----------------------------------------------------------------------------

bool mf_sight_may_shade(const mf_SightDraw *draw, const double center[3], double radius,
                        double at[3]) {
    const mf_SightCaster *caster = draw->caster;
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
    // Room for rounding, here and in the point's coordinates.
    block->radius =
        (float)(radius * 1.001 + 1e-5 * (mf_abs(at[0]) + mf_abs(at[1]) + mf_abs(at[2])));
}

void mf_sight_block_solid(const mf_SightDraw *draw, const mf_SightSolid *solid,
                          const mf_SightPose *pose) {
    mf_SightRoom *room = draw->room;
    mf_RasterBlock *block = &room->blocks[room->block_count];
    const double *towards = draw->caster->axes + 6;
    double at[3];
    if (!mf_sight_may_shade(draw, pose->position, solid->radius, at))
        return;
    room->block_count++;
    block->type = solid->type;
    block->half = (float)solid->half;
    set_ball(block, at, solid->radius);
    for (int i = 0; i < 3; i++) {
        double along = 0.0, way = 0.0;
        for (int k = 0; k < 3; k++) {
            const double turn = pose->rotation[3 * k + i] * solid->scale[i];
            block->axes[3 * i + k] = (float)turn;
            along += turn * pose->position[k];
            way += turn * towards[k];
        }
        block->center[i] = (float)along;
        block->way[i] = (float)way;
    }
}

void mf_sight_block_triangle(const mf_SightDraw *draw, const double *const corner[3]) {
    mf_SightRoom *room = draw->room;
    mf_RasterBlock *block = &room->blocks[room->block_count];
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
    if (!mf_sight_may_shade(draw, middle, radius, at))
        return;
    mf_vec3_sub(side[0], corner[1], corner[0]);
    mf_vec3_sub(side[1], corner[2], corner[0]);
    mf_vec3_cross(normal, side[0], side[1]);
    if (!mf_vec3_normalize(normal))
        return;
    room->block_count++;
    block->type = MF_RASTER_FLAT;
    block->half = (float)mf_vec3_dot(normal, towards);
    set_ball(block, at, radius);
    for (int i = 0; i < 3; i++) {
        block->way[i] = (float)towards[i];
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
    const mf_Sight *sight;
    mf_SightRoom *room;
    mf_RasterTile tile;
    uint32_t columns; // [1]
} Tiles;

static void set_rect(Tiles *tiles, uint32_t column, uint32_t top) {
    const uint32_t bottom = tiles->room->raster.bottom, end = top + TILE_ROWS;
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
    const mf_Raster *raster = &tiles->room->raster;
    float(*span)[2][3] = tiles->room->spans;
    clear(all);
    for (uint32_t top = raster->top; top < raster->bottom; top += TILE_ROWS)
        for (uint32_t c = 0; c < tiles->columns; c++, span++) {
            set_rect(tiles, c, top);
            tiles->sight->span(raster, &tiles->tile, (*span)[0], (*span)[1]);
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
static uint32_t choose(const mf_SightRoom *room, const uint32_t *from, uint32_t count,
                       const float (*span)[3], uint32_t *out) {
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block = from != NULL ? from[i] : i;
        if (!is_beside(&room->blocks[block], span))
            out[chosen++] = block;
    }
    return chosen;
}

static void shade(Tiles *tiles) {
    mf_SightRoom *room = tiles->room;
    const float(*span)[2][3] = (const float(*)[2][3])room->spans;
    tiles->tile.blocks = room->blocks;
    tiles->tile.list = room->nearest;
    tiles->tile.lit = room->lit;
    for (uint32_t top = room->raster.top; top < room->raster.bottom; top += TILE_ROWS) {
        float band[2][3];
        clear(band);
        for (uint32_t c = 0; c < tiles->columns; c++)
            widen(band, span[c]);
        const uint32_t near =
            choose(room, NULL, room->block_count, (const float(*)[3])band, room->near);
        for (uint32_t c = 0; c < tiles->columns; c++, span++) {
            set_rect(tiles, c, top);
            tiles->tile.count = choose(room, room->near, near, *span, room->nearest);
            tiles->sight->shadow(&room->raster, &tiles->tile);
        }
    }
}

void mf_sight_shadow(const mf_Sight *sight, const mf_CameraView *view, const mf_SightPlace *place,
                     mf_SightRoom *room) {
    Tiles tiles = {.sight = sight, .room = room, .columns = view->stride / MF_RASTER_RUN};
    mf_SightCaster caster;
    mf_SightDraw draw = {
        .sight = sight, .view = view, .place = place, .room = room, .caster = &caster};
    float all[2][3];
    double towards[3];
    mf_sight_axes(place, draw.axes);
    mf_sight_light(draw.axes, towards);
    make_axes(towards, caster.axes);
    for (int i = 0; i < 9; i++)
        tiles.tile.axes[i / 3][i % 3] = (float)caster.axes[i];
    measure(&tiles, all);
    for (int i = 0; i < 2; i++) {
        caster.low[i] = (double)all[0][i];
        caster.high[i] = (double)all[1][i];
    }
    caster.least = (double)all[0][2];
    room->block_count = 0;
    if (all[0][0] <= all[1][0])
        mf_sight_draw_robots(&draw);
    shade(&tiles);
}
