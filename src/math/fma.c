// The fused multiply-add of doubles in integers: the product has 106 bits and is added to the third
// operand in 128, so nothing is lost before the one rounding. Lanes without the instruction use it
// where the faster method with error-free sums (fma_emulated.c) is not valid: near overflow and
// underflow, with infinities and NaN.
#include "math/fma.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

enum { TOP = 125 }; // highest bit of an aligned operand: a sum and its carry fit below bit 128

static const uint64_t hidden_bit = 1ull << 52, infinity_bits = 0x7ffull << 52;

typedef struct Term { // (-1)^negative mantissa 2^exponent
    Wide mantissa;
    int exponent;
    bool negative;
} Term;

static uint64_t bits_of(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits, bool negative) {
    double a;
    bits |= (uint64_t)negative << 63;
    memcpy(&a, &bits, sizeof a);
    return a;
}

static bool is_finite(double a) {
    return (bits_of(a) & infinity_bits) != infinity_bits;
}

// A finite number.
static Term take_apart(double a) {
    uint64_t bits = bits_of(a), low = bits & (hidden_bit - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    Term term = {low, -1074, bits >> 63};
    if (exponent > 0) {
        term.mantissa = low | hidden_bit;
        term.exponent = exponent - 1075;
    }
    return term;
}

static int highest_bit(Wide a) {
    uint64_t high = (uint64_t)(a >> 64);
    return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)a);
}

// a / 2^by; the lowest bit also says whether anything was lost.
static Wide shift_sticky(Wide a, int by) {
    if (by == 0)
        return a;
    if (by > 127)
        return a != 0;
    return a >> by | ((a << (128 - by)) != 0);
}

static Term align(Term a) {
    int by = TOP - highest_bit(a.mantissa);
    a.mantissa <<= by;
    a.exponent -= by;
    return a;
}

// Both aligned and not zero. When more than one bit cancels, the exponents differ by at most one
// and nothing was lost; otherwise what was lost is far below the bits that stay.
static Term add(Term a, Term b) {
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa)) {
        Term other = a;
        a = b;
        b = other;
    }
    Wide small = shift_sticky(b.mantissa, a.exponent - b.exponent);
    a.mantissa = a.negative == b.negative ? a.mantissa + small : a.mantissa - small;
    return a;
}

// a / 2^by to the nearest, of two equally near ones the even; a < 2^63, by > 0.
static uint64_t shift_nearest(uint64_t a, int by) {
    if (by > 63)
        return 0;
    uint64_t quotient = a >> by, rest = a & ((1ull << by) - 1), half = 1ull << (by - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static double round_once(Term a) {
    int top = highest_bit(a.mantissa), by = top - 62;
    uint64_t mantissa =
        (uint64_t)(by > 0 ? shift_sticky(a.mantissa, by) : a.mantissa << -by); // 2^62 .. 2^63
    int exponent = a.exponent + by, last = exponent + 10; // of the last of 53 bits
    if (last < -1074)
        last = -1074;
    uint64_t bits = ((uint64_t)(last + 1074) << 52) + shift_nearest(mantissa, last - exponent);
    return from_bits(bits < infinity_bits ? bits : infinity_bits, a.negative);
}

double mf_fma_exact(double a, double b, double c) {
    bool finite = is_finite(a) && is_finite(b);
    if (finite && !is_finite(c))
        return c;
    if (!finite || a == 0.0 || b == 0.0)
        return a * b + c; // no product that could be rounded
    Term x = take_apart(a), y = take_apart(b);
    Term product = {x.mantissa * y.mantissa, x.exponent + y.exponent, x.negative != y.negative};
    product = align(product);
    if (bits_of(c) << 1 == 0)
        return round_once(product);
    Term sum = add(product, align(take_apart(c)));
    return sum.mantissa != 0 ? round_once(sum) : 0.0;
}
