// Random numbers of robots, of a block of them at a time.
#pragma once

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
