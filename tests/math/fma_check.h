// The checks of test_fma.c for one real type. The includer defines REAL, BITS (unsigned, of the
// same size), NAME(x), DIGITS (of the significand, the hidden one included), EXPONENTS (bits), and
// FMA, the C library's function.

static REAL NAME(from_bits)(BITS bits) {
    REAL a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

static REAL NAME(power)(int exponent, BITS low, bool negative) {
    const int bias = (1 << (EXPONENTS - 1)) - 1, last = 2 * bias;
    int field = exponent + bias;
    field = field < 0 ? 0 : field > last ? last : field;
    return NAME(from_bits)((BITS)negative << (sizeof(BITS) * 8 - 1) | (BITS)field << (DIGITS - 1) |
                           (low & (((BITS)1 << (DIGITS - 1)) - 1)));
}

// Few digits: sums that end exactly between two numbers are common.
static BITS NAME(short_digits)(void) {
    BITS bits = (BITS)next_random();
    return bits & (BITS)next_random() & (BITS)next_random() & (BITS)next_random();
}

// Three operands of one of the kinds for which rounding, overflow or underflow is delicate.
static void NAME(make)(uint32_t kind, REAL *a, REAL *b, REAL *c) {
    uint64_t word = next_random();
    const int bias = (1 << (EXPONENTS - 1)) - 1;
    int i = (int)(word % (2u * bias)) - bias, shift = (int)(word >> 32 & 0xff) - 128;
    bool x = word >> 60 & 1, y = word >> 61 & 1, z = word >> 62 & 1;
    *a = NAME(from_bits)((BITS)next_random());
    *b = NAME(from_bits)((BITS)next_random());
    *c = NAME(from_bits)((BITS)next_random());
    if (kind == 0) // anything, infinities, NaN and subnormal numbers included
        return;
    if (kind == 1 || kind == 2) { // terms of like size, long and short digits
        BITS p = kind == 1 ? (BITS)next_random() : NAME(short_digits)();
        BITS q = kind == 1 ? (BITS)next_random() : NAME(short_digits)();
        BITS r = kind == 1 ? (BITS)next_random() : NAME(short_digits)();
        int half = i / 4;
        *a = NAME(power)(half, p, x);
        *b = NAME(power)(half + 3, q, y);
        *c = NAME(power)(2 * half + shift, r, z);
        return;
    }
    if (kind == 3) { // all but a few digits cancel
        *a = NAME(power)(i / 3, (BITS)next_random(), x);
        *b = NAME(power)(i / 5, (BITS)next_random(), y);
        BITS bits;
        REAL product = *a * *b;
        memcpy(&bits, &product, sizeof bits);
        bits += (BITS)(word >> 40 & 7) - 3;
        *c = -NAME(from_bits)(bits);
        return;
    }
    // At the borders: the result or the product is about as large as the smallest or the largest
    // number, or as the limits between the two ways of the emulation.
    static const double part[] = {-1, -0.98, -0.88, -0.5, -0.44, 0.44, 0.5, 0.88, 1};
    int border = (int)(part[word >> 8 & 7] * bias), near = (int)(word >> 16 & 127) - 64;
    *a = NAME(power)(i, kind == 4 ? (BITS)next_random() : NAME(short_digits)(), x);
    *b = NAME(power)(border - i + near, kind == 4 ? (BITS)next_random() : NAME(short_digits)(), y);
    *c = NAME(power)(border + shift / 4, kind == 4 ? (BITS)next_random() : NAME(short_digits)(), z);
    if (kind == 6)
        *c = (REAL)0;
}

typedef struct NAME(Batch) {
    _Alignas(64) REAL a[COUNT];
    REAL b[COUNT], c[COUNT], wanted[COUNT], out[COUNT];
} NAME(Batch);

static void NAME(compare)(const NAME(Batch) * batch, const char *name, mf_FmaForm form) {
    static const char *const forms[] = {"", "-a b - c of ", "-(a b + c) of "};
    for (uint32_t k = 0; k < COUNT; k++) {
        REAL wanted = batch->wanted[k], out = batch->out[k];
        bool same = wanted != wanted ? out != out : memcmp(&wanted, &out, sizeof out) == 0;
        if (!same)
            fail_msg("%s: %s%a * %a + %a: found %a, expected %a", name, forms[form],
                     (double)batch->a[k], (double)batch->b[k], (double)batch->c[k], (double)out,
                     (double)wanted);
    }
}

// A volatile sum, or the compiler may make -a b - c of -(a b + c).
static REAL NAME(expected)(mf_FmaForm form, REAL a, REAL b, REAL c) {
    volatile REAL sum = form == MF_FMA_NEGATED ? FMA(-a, b, -c) : FMA(a, b, c);
    return form == MF_FMA_ROTATED ? -sum : sum;
}

// `real` is a copy that has the instruction, NULL for the C library.
static void NAME(check_random)(const Copy *copies, const Copy *real) {
    NAME(Batch) *batch = aligned_alloc(64, (sizeof *batch + 63) / 64 * 64);
    assert_non_null(batch);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t k = 0; k < COUNT; k++)
            NAME(make)(k % 7, &batch->a[k], &batch->b[k], &batch->c[k]);
        mf_FmaForm form = (mf_FmaForm)(round % 3);
        for (int row = -1; row < COPIES; row++) {
            const Copy *copy = row < 0 ? real : &copies[row];
            REAL *out = row < 0 ? batch->wanted : batch->out;
            if (copy == NULL) {
                for (uint32_t k = 0; k < COUNT; k++)
                    out[k] = NAME(expected)(form, batch->a[k], batch->b[k], batch->c[k]);
                continue;
            }
            if (copy == real && row >= 0)
                continue;
            if (!mf_kernel_row_available(copy->row))
                continue;
            copy->run(batch->a, batch->b, batch->c, out, COUNT, form);
            if (row >= 0)
                NAME(compare)(batch, copy->name, form);
        }
    }
    free(batch);
}

static void NAME(check_literals)(const Copy *copies, const NAME(Literal) * literals,
                                 uint32_t count) {
    for (int row = 0; row < COPIES; row++) {
        if (!mf_kernel_row_available(copies[row].row))
            continue;
        for (uint32_t k = 0; k < count; k++) {
            const NAME(Literal) *literal = &literals[k];
            _Alignas(64) REAL a[16], b[16], c[16], out[16];
            for (uint32_t lane = 0; lane < 16; lane++) {
                a[lane] = literal->a;
                b[lane] = literal->b;
                c[lane] = literal->c;
            }
            copies[row].run(a, b, c, out, 16, MF_FMA_ROTATED);
            REAL rotated = -literal->plain;
            for (uint32_t lane = 0; lane < 16; lane++)
                if (memcmp(&out[lane], &rotated, sizeof rotated) != 0)
                    fail_msg("%s, line %u: -(a b + c) is %a", copies[row].name, k,
                             (double)out[lane]);
            copies[row].run(a, b, c, out, 16, MF_FMA_PLAIN);
            for (uint32_t lane = 0; lane < 16; lane++)
                if (memcmp(&out[lane], &literal->plain, sizeof *out) != 0)
                    fail_msg("%s, line %u: %a", copies[row].name, k, (double)out[lane]);
        }
    }
}
