// Random numbers of one robot and one episode: Philox words (base/random.c) keyed with the robot's
// seed, so that results do not depend on the index or the environment. Normal deviates by the polar
// method of Marsaglia and Bray (1964), whose logarithm is the series below.
#include "environment/task.h"
#include "base/random.h"

#include "math/scalar.h"

#define STREAM 0x7461736bu // separates these random numbers from all others

static uint32_t next_word(mf_TaskDraw *draw) {
    if (draw->left == 0) {
        mf_random(draw->seed, 0, STREAM, draw->tick++, draw->word);
        draw->left = 4;
    }
    return draw->word[4 - draw->left--];
}

static double unit(mf_TaskDraw *draw) {
    uint32_t high = next_word(draw), low = next_word(draw);
    return mf_random_unit_double(high, low);
}

uint32_t mf_task_index(mf_TaskDraw *draw, uint32_t count) {
    return mf_random_below(next_word(draw), count);
}

double mf_task_uniform(mf_TaskDraw *draw, double lower, double upper) {
    return lower + (upper - lower) * unit(draw);
}

// Natural logarithm of 0 < x < 1, normal: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and
// ln m = 2 artanh((m - 1)/(m + 1)). Error below 1e-15 of the sum's terms.
static double logarithm(double x) {
    int exponent;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    exponent = (int)(bits >> 52) - 1022;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000);
    memcpy(&x, &bits, sizeof x);
    if (x < 0.70710678118654752440) {
        x += x;
        exponent--;
    }
    double s = (x - 1.0) / (x + 1.0), z = s * s, sum = 0.0;
    for (int term = 23; term >= 1; term -= 2) // |s| < 0.172: the first omitted term is below 1e-20
        sum = sum * z + 2.0 / term;
    return s * sum + exponent * 0.69314718055994530942;
}

double mf_task_normal(mf_TaskDraw *draw) {
    for (;;) {
        double x = 2.0 * unit(draw) - 1.0, y = 2.0 * unit(draw) - 1.0, r = x * x + y * y;
        if (r < 1.0 && r > 0.0)
            return x * mf_sqrt(-2.0 * logarithm(r) / r);
    }
}
