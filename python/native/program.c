// Runs programs of terms; see program.h.
#include "program.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "lanes.h"
#include "random.h"
#include "math/scalar.h"

enum {
    TILE = 4 * MF_BLOCK, // robots whose registers are computed together
    CHUNK = 8 * TILE,    // robots of a task of a worker
};

typedef float Row[TILE];

// The robots of a tile; the list is NULL where they lie side by side.
typedef struct Tile {
    const int64_t *list;
    size_t first;
    uint32_t count;
} Tile;

MFPY_INLINE size_t element(const mfpy_Array *array, const Tile *tile, uint32_t row, uint32_t i) {
    const size_t robot = tile->list == NULL ? tile->first + i : (size_t)tile->list[i];
    return robot / MF_BLOCK * array->block_stride + row * array->row_stride +
           robot % MF_BLOCK * array->lane_stride;
}

// Whether the numbers of a tile follow each other in each block.
MFPY_INLINE bool in_runs(const mfpy_Array *array, const Tile *tile) {
    return tile->list == NULL && tile->count == TILE && array->lane_stride == 1;
}

#define LOAD(type, number)                                                                         \
    if (in_runs(array, tile))                                                                      \
        for (uint32_t first = 0; first < TILE; first += MF_BLOCK) {                                \
            type x[MF_BLOCK]; /* a copy: nothing else writes to it */                              \
            memcpy(x, (const type *)array->data + element(array, tile, row, first), sizeof x);     \
            for (uint32_t i = 0; i < MF_BLOCK; i++)                                                \
                out[first + i] = (number);                                                         \
        }                                                                                          \
    else                                                                                           \
        for (uint32_t at = 0; at < tile->count; at++) {                                            \
            const type *x = (const type *)array->data + element(array, tile, row, at);             \
            const uint32_t i = 0;                                                                  \
            out[at] = (number);                                                                    \
        }                                                                                          \
    break

MFPY_INLINE void load(const mfpy_Array *array, const Tile *tile, uint32_t row, float *out) {
    if (array->number == MFPY_F32 && in_runs(array, tile)) {
        for (uint32_t i = 0; i < TILE; i += MF_BLOCK)
            memcpy(out + i, (const float *)array->data + element(array, tile, row, i),
                   MF_BLOCK * sizeof *out);
        return;
    }
    switch (array->number) {
    case MFPY_F32:
        LOAD(float, x[i]);
    case MFPY_F64:
        LOAD(double, (float)x[i]);
    case MFPY_I32:
        LOAD(int32_t, (float)x[i]);
    case MFPY_BOOL:
        LOAD(bool, x[i] ? 1.0F : 0.0F);
    }
}

#define STORE(type, number)                                                                        \
    if (in_runs(array, tile))                                                                      \
        for (uint32_t first = 0; first < TILE; first += MF_BLOCK) {                                \
            type x[MF_BLOCK];                                                                      \
            for (uint32_t i = 0; i < MF_BLOCK; i++) {                                              \
                const float value = in[first + i];                                                 \
                x[i] = (number);                                                                   \
            }                                                                                      \
            memcpy((type *)array->data + element(array, tile, row, first), x, sizeof x);           \
        }                                                                                          \
    else                                                                                           \
        for (uint32_t at = 0; at < tile->count; at++) {                                            \
            const float value = in[at];                                                            \
            ((type *)array->data)[element(array, tile, row, at)] = (number);                       \
        }                                                                                          \
    break

MFPY_INLINE void store(const mfpy_Array *array, const Tile *tile, uint32_t row, const float *in) {
    if (array->number == MFPY_F32 && in_runs(array, tile)) {
        for (uint32_t i = 0; i < TILE; i += MF_BLOCK)
            memcpy((float *)array->data + element(array, tile, row, i), in + i,
                   MF_BLOCK * sizeof *in);
        return;
    }
    switch (array->number) {
    case MFPY_F32:
        STORE(float, value);
    case MFPY_F64:
        STORE(double, (double)value);
    case MFPY_I32:
        STORE(int32_t, (int32_t)value);
    case MFPY_BOOL:
        STORE(bool, value != 0.0F);
    }
}

// e to the power x, with an error below 2 ulp; 0 below -104, infinite above 88.8.
MFPY_INLINE float exponential(float x) {
    const float c =
        x >= -104.0F ? (x <= 89.0F ? x : 89.0F) : -104.0F; // not a number: handled below
    const float n = rintf(c * 1.44269504F);
    const float r = (c - n * 0.693359375F) + n * 2.12194440e-4F; // log 2 in two parts
    float p = 1.0F / 5040.0F;
    p = p * r + 1.0F / 720.0F;
    p = p * r + 1.0F / 120.0F;
    p = p * r + 1.0F / 24.0F;
    p = p * r + 1.0F / 6.0F;
    p = p * r + 0.5F;
    p = (p * r) * r + r;
    p += 1.0F;
    // 2 to the power n in two factors: one may be beyond the exponents of normal numbers.
    const int32_t whole = (int32_t)n, half = whole / 2;
    const union {
        int32_t bits;
        float value;
    } one = {(half + 127) << 23}, other = {(whole - half + 127) << 23};
    return x != x ? x : p * one.value * other.value;
}

static double sine(float x) {
    double value;
    mf_sin_cos((double)x, &value, NULL);
    return value;
}

static double cosine(float x) {
    double value;
    mf_sin_cos((double)x, NULL, &value);
    return value;
}

#define EACH(value)                                                                                \
    for (uint32_t i = 0; i < TILE; i++)                                                            \
        out[i] = (value);                                                                          \
    break

MFPY_INLINE void compute(uint8_t operation, float *restrict out, const float *a, const float *b,
                         const float *c) {
    switch (operation) {
    case MFPY_ADD:
        EACH(a[i] + b[i]);
    case MFPY_SUBTRACT:
        EACH(a[i] - b[i]);
    case MFPY_MULTIPLY:
        EACH(a[i] * b[i]);
    case MFPY_DIVIDE:
        EACH(a[i] / b[i]);
    case MFPY_LEAST:
        EACH(a[i] < b[i] || a[i] != a[i] ? a[i] : b[i]);
    case MFPY_MOST:
        EACH(a[i] > b[i] || a[i] != a[i] ? a[i] : b[i]);
    case MFPY_LESS:
        EACH(a[i] < b[i] ? 1.0F : 0.0F);
    case MFPY_LESS_EQUAL:
        EACH(a[i] <= b[i] ? 1.0F : 0.0F);
    case MFPY_EQUAL:
        EACH(a[i] == b[i] ? 1.0F : 0.0F);
    case MFPY_ABSOLUTE:
        EACH(fabsf(a[i]));
    case MFPY_ROOT:
        EACH(sqrtf(a[i]));
    case MFPY_ROUND:
        EACH(rintf(a[i]));
    case MFPY_FINITE:
        EACH(fabsf(a[i]) <= 3.4028235e38F ? 1.0F : 0.0F);
    case MFPY_SELECT:
        EACH(a[i] != 0.0F ? b[i] : c[i]);
    case MFPY_EXP:
        EACH(exponential(a[i]));
    case MFPY_SINE:
        EACH((float)sine(a[i]));
    case MFPY_COSINE:
        EACH((float)cosine(a[i]));
    case MFPY_ATAN2:
        EACH((float)mf_atan2((double)a[i], (double)b[i]));
    default:
        break;
    }
}

// Up to four columns of random numbers.
MFPY_INLINE void roll_tile(const mfpy_Instruction *how, const Dice dice[TILE / MF_BLOCK],
                           Row *rows) {
    for (uint32_t block = 0; block < TILE / MF_BLOCK; block++) {
        uint32_t word[4][MF_BLOCK];
        draw(&dice[block], (uint64_t)how->a << 32, how->b, word);
        for (uint32_t row = 0; row < how->rows; row++)
            for (uint32_t i = 0; i < MF_BLOCK; i++)
                rows[how->out + row][block * MF_BLOCK + i] = uniform(word[how->c + row][i]);
    }
}

MFPY_INLINE void roll_dice(const mfpy_Robots *who, const Tile *tile, Dice dice[TILE / MF_BLOCK]) {
    for (uint32_t first = 0; first < tile->count; first += MF_BLOCK) {
        const uint32_t left = tile->count - first, robots = left < MF_BLOCK ? left : MF_BLOCK;
        size_t robot[MF_BLOCK];
        for (uint32_t i = 0; i < robots; i++)
            robot[i] = tile->list == NULL ? tile->first + first + i : (size_t)tile->list[first + i];
        dice[first / MF_BLOCK] = dice_of(who, robot, robots);
    }
}

// One tile, with copies of the loops for wide lanes.
MFPY_LANES static void run_tile(const mfpy_Program *program, const mfpy_Robots *who,
                                const Tile *tile, Row *rows) {
    Dice dice[TILE / MF_BLOCK] = {0};
    if (program->draws)
        roll_dice(who, tile, dice);
    for (uint32_t at = 0; at < program->instruction_count; at++) {
        const mfpy_Instruction *how = &program->instructions[at];
        if (how->operation == MFPY_RANDOM) {
            roll_tile(how, dice, rows);
            continue;
        }
        const mfpy_Array *array = how->operation <= MFPY_STORE ? &program->arrays[how->a] : NULL;
        for (uint32_t row = 0; row < how->rows; row++)
            if (how->operation == MFPY_LOAD)
                load(array, tile, how->b + row * how->b_step, rows[how->out + row]);
            else if (how->operation == MFPY_STORE)
                store(array, tile, how->b + row * how->b_step, rows[how->c + row * how->c_step]);
            else
                compute(how->operation, rows[how->out + row], rows[how->a + row * how->a_step],
                        rows[how->b + row * how->b_step], rows[how->c + row * how->c_step]);
    }
}

typedef struct Run {
    mf_Context *context;
    const mfpy_Program *program;
    const mfpy_Robots *robots;
    const int64_t *instances;
    uint32_t count;
    atomic_bool failed;
} Run;

static void run_chunk(void *task, uint32_t index) {
    Run *run = task;
    const mfpy_Program *program = run->program;
    Row *rows = mf_allocate(run->context, program->register_count, sizeof *rows);
    if (rows == NULL) {
        atomic_store(&run->failed, true);
        return;
    }
    for (uint32_t k = 0; k < program->constant_count; k++)
        for (uint32_t i = 0; i < TILE; i++)
            rows[k][i] = program->constants[k];
    const uint32_t begin = index * CHUNK;
    const uint32_t end = run->count - begin < CHUNK ? run->count : begin + CHUNK;
    for (uint32_t first = begin; first < end; first += TILE) {
        const Tile tile = {run->instances == NULL ? NULL : run->instances + first, first,
                           end - first < TILE ? end - first : TILE};
        run_tile(program, run->robots, &tile, rows);
    }
    mf_release(run->context, rows);
}

bool mfpy_run(mf_Context *context, const mfpy_Program *program, const mfpy_Robots *robots,
              const int64_t *instances, uint32_t count) {
    Run run = {context, program, robots, instances, count, false};
    mf_parallel_for(context, count / CHUNK + (count % CHUNK != 0), run_chunk, &run);
    return !atomic_load(&run.failed);
}
