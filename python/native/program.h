// Programs of numbers of robots: what terms of tasks compute, one register per number, in tiles of
// robots that stay in the cache. mayfly._program writes them.
#pragma once

#include <mayfly/mayfly.h>

// What random numbers of robots depend on, each [robots].
typedef struct mfpy_Robots {
    const uint64_t *seeds;
    const uint32_t *episodes, *steps;
} mfpy_Robots;

// An array in memory: the number `row` of robot r is at element
// r / MF_BLOCK * block_stride + row * row_stride + r % MF_BLOCK * lane_stride.
typedef enum mfpy_Number { MFPY_F32, MFPY_F64, MFPY_I32, MFPY_BOOL } mfpy_Number;

typedef struct mfpy_Array {
    void *data;
    mfpy_Number number;
    uint32_t lane_stride;
    uint64_t block_stride, row_stride;
} mfpy_Array;

typedef enum mfpy_Operation {
    MFPY_LOAD,   // out = number b of array a
    MFPY_STORE,  // number b of array a = c
    MFPY_RANDOM, // uniform in [0, 1): column b + c of stream a, as mfpy_random; c < 4
    MFPY_ADD,
    MFPY_SUBTRACT,
    MFPY_MULTIPLY,
    MFPY_DIVIDE,
    MFPY_LEAST, // of a and b; not a number if one of them is not
    MFPY_MOST,
    MFPY_LESS, // 1 where a < b, else 0
    MFPY_LESS_EQUAL,
    MFPY_EQUAL,
    MFPY_ABSOLUTE,
    MFPY_ROOT,
    MFPY_ROUND,  // to the nearest, halves to even
    MFPY_FINITE, // 1 where a is finite
    MFPY_SELECT, // b where a is not 0, else c
    MFPY_EXP,
    MFPY_SINE,
    MFPY_COSINE,
    MFPY_ATAN2 // of a (y) and b (x)
} mfpy_Operation;

// `rows` operations: out, out + 1, ... from a, a + a_step, ... The steps are 0 or 1.
typedef struct mfpy_Instruction {
    uint8_t operation, a_step, b_step, c_step;
    uint32_t rows, out, a, b, c;
} mfpy_Instruction;

typedef struct mfpy_Program {
    const mfpy_Instruction *instructions;
    const mfpy_Array *arrays;
    const float *constants; // of the first registers
    uint32_t instruction_count, array_count, constant_count, register_count;
    bool draws; // random numbers
} mfpy_Program;

// Runs a program for the instances in the list (NULL: the first `count`), each once, by the threads
// of the context. The bits depend neither on these nor on the instruction set. False: no memory.
bool mfpy_run(mf_Context *context, const mfpy_Program *program, const mfpy_Robots *robots,
              const int64_t *instances, uint32_t count);
