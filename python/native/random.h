// Random numbers of robots, of a block of them at a time.
#pragma once

#include <math.h>
#include <string.h>

#include "lanes.h"
#include "program.h"

// mf_random (base/random.c) of MF_BLOCK robots side by side, which compilers vectorize: a task
// draws some hundred thousand numbers per step. python/tests/test_tasks.py compares both.
MFPY_INLINE void random_block(uint32_t word[4][MF_BLOCK], uint32_t key[2][MF_BLOCK]) {
    for (int round = 0; round < 10; round++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
            const uint64_t product0 = UINT64_C(0xd2511f53) * word[0][lane];
            const uint64_t product1 = UINT64_C(0xcd9e8d57) * word[2][lane];
            word[0][lane] = (uint32_t)(product1 >> 32) ^ word[1][lane] ^ key[0][lane];
            word[1][lane] = (uint32_t)product1;
            word[2][lane] = (uint32_t)(product0 >> 32) ^ word[3][lane] ^ key[1][lane];
            word[3][lane] = (uint32_t)product0;
            key[0][lane] += 0x9e3779b9;
            key[1][lane] += 0xbb67ae85;
        }
}

// What random numbers of a block of robots depend on.
typedef struct Dice {
    uint32_t key[2][MF_BLOCK], step[MF_BLOCK], episode[MF_BLOCK];
} Dice;

MFPY_INLINE void roll(Dice *dice, uint32_t i, uint64_t seed, uint32_t episode, uint32_t step) {
    dice->key[0][i] = (uint32_t)seed, dice->key[1][i] = (uint32_t)(seed >> 32);
    dice->step[i] = step, dice->episode[i] = episode;
}

MFPY_INLINE Dice dice_of(const mfpy_Robots *who, const size_t robot[MF_BLOCK], uint32_t robots) {
    Dice dice = {0};
    const size_t first = robot[0];
    if (robots == MF_BLOCK && robot[MF_BLOCK - 1] == first + MF_BLOCK - 1) // side by side
        for (uint32_t i = 0; i < MF_BLOCK; i++)
            roll(&dice, i, who->seeds[first + i], who->episodes[first + i], who->steps[first + i]);
    else
        for (uint32_t i = 0; i < robots; i++)
            roll(&dice, i, who->seeds[robot[i]], who->episodes[robot[i]], who->steps[robot[i]]);
    return dice;
}

// Four words for each robot. The high half of the stream tells terms apart, the low half draws of
// one term.
MFPY_INLINE void draw(const Dice *dice, uint64_t stream, uint32_t column,
                      uint32_t word[4][MF_BLOCK]) {
    uint32_t key[2][MF_BLOCK];
    memcpy(key, dice->key, sizeof key);
    for (uint32_t i = 0; i < MF_BLOCK; i++) {
        word[0][i] = (uint32_t)stream + column, word[1][i] = dice->step[i];
        word[2][i] = dice->episode[i], word[3][i] = (uint32_t)(stream >> 32);
    }
    random_block(word, key);
}

MFPY_INLINE float uniform(uint32_t word) {
    return (float)(word >> 8) * 0x1p-24f;
}

// Two independent numbers of mean 0 and variance 1, within +-5.8, for each robot (Box and Muller
// 1958). Without libm, whose last bits differ between machines: the logarithm is 2 artanh((m - 1) /
// (m + 1)) of the mantissa m, sine and cosine are Taylor's up to an eighth of a turn.
MFPY_INLINE void normal(const uint32_t size[MF_BLOCK], const uint32_t turn[MF_BLOCK],
                        float out[2][MF_BLOCK]) {
    for (uint32_t i = 0; i < MF_BLOCK; i++) {
        const float unit = (float)((size[i] >> 8) + 1) * 0x1p-24f; // 0 < unit <= 1
        uint32_t bits;
        memcpy(&bits, &unit, sizeof bits);
        // unit = m 2^e with m in [sqrt(1/2), sqrt(2))
        const uint32_t shifted = bits - 0x3f3504f3;
        const float exponent = (float)((int32_t)shifted >> 23);
        const uint32_t mantissa = (shifted & 0x007fffff) + 0x3f3504f3;
        float m;
        memcpy(&m, &mantissa, sizeof m);
        const float s = (m - 1.0F) / (m + 1.0F), z = s * s;
        const float series =
            2.0F + z * (0.66666667F + z * (0.4F + z * (0.28571429F + z * 0.22222222F)));
        const float log = exponent * 0.69314718F + s * series;
        const float radius = sqrtf(-2.0F * (log < 0.0F ? log : 0.0F));
        const float x =
            (float)(int32_t)((turn[i] << 2 >> 8) - (1U << 23)) * (0x1p-24f * 1.5707964F);
        const float y = x * x;
        const float sine =
            x * (1.0F + y * (-0.16666667F + y * (0.0083333333F + y * -0.00019841270F)));
        const float cosine =
            1.0F + y * (-0.5F + y * (0.041666667F + y * (-0.0013888889F + y * 0.000024801587F)));
        const uint32_t quarter = turn[i] >> 30;
        const float a = (quarter & 1) ? sine : cosine, b = (quarter & 1) ? cosine : sine;
        out[0][i] = radius * ((quarter ^ (quarter >> 1)) & 1 ? -a : a);
        out[1][i] = radius * (quarter & 2 ? -b : b);
    }
}

// Numbers of words, four for each robot.
MFPY_INLINE void numbers_of(uint32_t word[4][MF_BLOCK], bool gaussian, float out[4][MF_BLOCK]) {
    if (gaussian) {
        normal(word[0], word[1], out);
        normal(word[2], word[3], out + 2);
        return;
    }
    for (uint32_t j = 0; j < 4; j++)
        for (uint32_t i = 0; i < MF_BLOCK; i++)
            out[j][i] = uniform(word[j][i]);
}
