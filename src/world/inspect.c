// Warnings about what any motion can do wrong, found from the state after a step: positions that
// single precision resolves no more, and robots that fall without end. Every 32nd step, so that it
// costs little.
//
// Invariant: reads and writes robots of the blocks at hand only.
#include "world/inspect.h"

#include "math/scalar.h"
#include "terrain/image.h"

#include <math.h>
#include <string.h>

#define COARSE 16384.0 // [m], [rad] digits of single precision are 2 mm from here on
#define ABYSS 10.0     // [m] below all ground, and a fall from as high

static uint32_t kind_of(uint32_t bit) {
    uint32_t kind = 0;
    while (bit >> kind != 1)
        kind++;
    return kind;
}

void mf_inspect_warn(mf_Group *group, uint32_t instance, uint32_t bit, double residual) {
    const uint32_t block = instance / MF_BLOCK, lane = instance % MF_BLOCK;
    const size_t at = ((size_t)block * MF_WARNING_KINDS + kind_of(bit)) * MF_BLOCK + lane;
    void *largest = group->warnings.residual->data;
    if (mf_group_fault(group, instance) != 0)
        return;
    ((uint32_t *)group->warnings.word->data)[instance] |= bit;
    ((uint32_t *)group->warnings.steps->data)[at] += 1;
    if (group->warnings.residual->info.type == MF_F64)
        ((double *)largest)[at] = mf_larger(((double *)largest)[at], residual);
    else
        ((float *)largest)[at] = (float)mf_larger((double)((float *)largest)[at], residual);
}

// ---- precision ----------------------------------------------------------------------------------

// Whether a value of single precision is that large, NaN included; by bits, as many at a time: the
// difference of two numbers without a sign has one where the second is larger.
static bool any_coarse(const uint32_t *bits, size_t count) {
    const float limit = (float)COARSE;
    uint32_t least, any = 0;
    memcpy(&least, &limit, sizeof least);
    for (size_t i = 0; i < count; i++)
        any |= least - 1 - (bits[i] & UINT32_C(0x7fffffff));
    return any >> 31 != 0;
}

// How far the finite float `most` > 0 is from the next larger one: 2^-23 of its power of two.
static double unit_of(float most) {
    uint32_t bits;
    memcpy(&bits, &most, sizeof bits);
    bits &= UINT32_C(0x7f800000);
    memcpy(&most, &bits, sizeof most);
    return (double)most * 0x1p-23;
}

static void inspect_precision(mf_Group *group, const mf_Field *field, uint32_t block) {
    const size_t size = (size_t)field->components * MF_BLOCK;
    const float *values = (const float *)field->data + block * size;
    if (!any_coarse((const uint32_t *)(const void *)values, size))
        return;
    for (uint32_t lane = 0; lane < MF_BLOCK && block * MF_BLOCK + lane < group->config.count;
         lane++) {
        float most = 0.0f;
        for (uint32_t c = 0; c < field->components; c++)
            most = (float)mf_larger(most, mf_abs(values[(size_t)c * MF_BLOCK + lane]));
        if ((double)most >= COARSE && most < INFINITY)
            mf_inspect_warn(group, block * MF_BLOCK + lane, MF_WARNING_PRECISION, unit_of(most));
    }
}

// ---- falls --------------------------------------------------------------------------------------

static void inspect_falls(mf_Group *group, uint32_t block, float lowest, float speed) {
    float converted[2][MF_BLOCK];
    const float *height = mf_inspect_row(group->canonical.position, block, 2, converted[0]);
    const float *climb = mf_inspect_row(group->canonical.linear_velocity, block, 2, converted[1]);
    const float abyss = lowest - (float)ABYSS;
    uint32_t any = 0;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        any |= (uint32_t)(height[lane] < abyss) & (uint32_t)(climb[lane] < speed);
    for (uint32_t lane = 0; any != 0 && lane < MF_BLOCK; lane++)
        if (block * MF_BLOCK + lane < group->config.count && height[lane] < abyss &&
            climb[lane] < speed)
            mf_inspect_warn(group, block * MF_BLOCK + lane, MF_WARNING_FALL,
                            (double)lowest - (double)height[lane]);
}

const float *mf_inspect_row(const mf_Field *field, uint32_t block, uint32_t component,
                            float converted[MF_BLOCK]) {
    const size_t first = ((size_t)block * field->components + component) * MF_BLOCK;
    if (field->info.type != MF_F64)
        return (const float *)field->data + first;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        converted[lane] = (float)((const double *)field->data)[first + lane];
    return converted;
}

void mf_inspect_blocks(mf_Group *group, uint32_t first, uint32_t count) {
    const mf_WorldConfig *world = &group->world->config;
    const mf_Inspection *inspection = &group->inspection;
    const bool falls = world->gravity > 0.0 && mf_world_pulls_down(world);
    const float lowest = (float)mf_terrain_image(world->terrain)->lowest;
    const float speed = (float)-mf_sqrt(2.0 * world->gravity * ABYSS);
    if (group->warnings.word == NULL)
        return;
    for (uint32_t block = first; block < first + count; block++) {
        for (uint32_t f = 0; f < inspection->large_count; f++)
            inspect_precision(group, inspection->large[f], block);
        if (falls)
            inspect_falls(group, block, lowest, speed);
    }
    mf_inspect_encounters(group, first, count, false);
}
