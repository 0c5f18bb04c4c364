// The same operations in plain C for one real type, written from their definitions. The includer
// defines REAL, NAME(x), MAX, SQRT and FMA and may include this more than once.

static REAL NAME(reference)(mf_LaneCase which, const REAL *a_values, const int32_t *j_values,
                            uint32_t at, REAL a, REAL b, int32_t i, int32_t j) {
    switch (which) {
    case MF_LANE_ADD:
        return a + b;
    case MF_LANE_SUB:
        return a - b;
    case MF_LANE_MUL:
        return a * b;
    case MF_LANE_DIV:
        return a / b;
    case MF_LANE_MIN: // the second where one is NaN or both are zeros
        return a < b ? a : b;
    case MF_LANE_MAX:
        return a > b ? a : b;
    case MF_LANE_SQRT:
        return SQRT(a);
    case MF_LANE_ABS:
        return a > 0 ? a : 0 - a;
    case MF_LANE_CLAMP:
        b = b > -1 ? b : -1;
        return b < a ? b : a;
    case MF_LANE_SELECT:
        return a < b ? a : b + 1;
    case MF_LANE_KEEP:
        return a <= b ? b : 0;
    case MF_LANE_ADD_WHERE:
        return a <= b ? a + b : a;
    case MF_LANE_FMA_WHERE:
        return a <= b ? FMA(a, b, a) : a;
    case MF_LANE_STORE_WHERE:
        return a <= b ? a : 7;
    case MF_LANE_LESS:
        return (REAL)(a < b);
    case MF_LANE_LESS_EQUAL:
        return (REAL)(a <= b);
    case MF_LANE_AND:
        return (REAL)(a < b && a < 1);
    case MF_LANE_DIFFER:
        return (REAL)((a < b) != (a < 1));
    case MF_LANE_OR:
        return (REAL)(a < b || a < 1);
    case MF_LANE_NOT:
        return (REAL)(!(a < b));
    case MF_LANE_FINITE:
        return (REAL)(a >= -MAX && a <= MAX);
    case MF_LANE_FLOOR:
        return (REAL)floor((double)a);
    case MF_LANE_TRUNCATE:
        return (REAL)(int32_t)a;
    case MF_LANE_INDEX_EQUAL:
        return (REAL)(i == (j & 31));
    case MF_LANE_INDEX_LESS:
        return (REAL)(i < (j & 31));
    case MF_LANE_INDEX_HAS:
        return (REAL)((i & j & 31) != 0);
    case MF_LANE_INDEX_SELECT:
        return (REAL)(i < (j & 31) ? i : -7);
    case MF_LANE_INDEX_SHIFT:
        return (REAL)(i * 16 + (int32_t)floor(j / 8.0));
    case MF_LANE_GATHER:
        return a_values[i];
    case MF_LANE_GATHER_INDEX:
        return (REAL)j_values[i];
    case MF_LANE_BYTES:
        return (REAL)(j_values[i * 16 + (int32_t)(at % 16)] & 255);
    default:
        return 0;
    }
}

static void NAME(check_operations)(const Copies *copies) {
    NAME(Values) *values = NAME(make_values)();
    AUTO(end_memory) REAL *out = aligned(COUNT * sizeof *out);
    for (mf_LaneCase which = 0; which < MF_LANE_FUNCTIONS; which++) {
        bool whole = which == MF_LANE_FLOOR || which == MF_LANE_TRUNCATE;
        mf_LaneInput input = {whole ? values->small : values->a, values->b, values->i, values->j,
                              COUNT};
        copies->run(which, &input, out);
        for (uint32_t k = 0; k < COUNT; k++) {
            REAL a = ((const REAL *)input.a)[k];
            REAL wanted = NAME(reference)(which, input.a, values->j, k, a, values->b[k],
                                          values->i[k], values->j[k]);
            // NaN is NaN; which one is not promised. Everything else to the bit, signs of zeros
            // included.
            bool same =
                wanted != wanted ? out[k] != out[k] : memcmp(&wanted, &out[k], sizeof wanted) == 0;
            if (!same)
                fail_msg("%s, case %d of %.9g and %.9g: found %.17g, expected %.17g", copies->name,
                         (int)which, (double)a, (double)values->b[k], (double)out[k],
                         (double)wanted);
        }
    }
    free(values);
}

static void NAME(check_masks)(const Copies *copies) {
    NAME(Values) *values = NAME(make_values)();
    for (uint32_t k = 0; k < COUNT; k++) // runs of true and false of all lengths
        values->a[k] = k / 40 % 2 || k % 40 < k / 80 % 40 ? -1 : 1;
    mf_LaneInput input = {values->a, values->b, values->i, values->j, COUNT};
    AUTO(end_memory) int32_t *out = aligned(COUNT * sizeof *out);
    uint32_t lanes = copies->masks(&input, out);
    for (uint32_t first = 0; first < COUNT; first += lanes) {
        uint32_t negative = 0;
        for (uint32_t k = first; k < first + lanes; k++)
            negative += values->a[k] < 0;
        assert_int_equal(out[first], (negative > 0 ? 1 : 0) | (negative == lanes ? 2 : 0));
    }
    free(values);
}

static void NAME(check_scatter)(const Copies *copies) {
    NAME(Values) *values = NAME(make_values)();
    mf_LaneInput input = {values->a, values->b, values->i, values->j, COUNT};
    REAL *out = aligned(16 * 32 * sizeof *out), wanted[16 * 32] = {0};
    AUTO(end_memory) int32_t *list = aligned((COUNT + 16) * sizeof *list);
    memset(out, 0, 16 * 32 * sizeof *out);
    uint32_t count = copies->scatter(&input, out, list), expected = 0;
    for (uint32_t k = 0; k < COUNT; k++) {
        if (!(values->a[k] < values->b[k]))
            continue;
        wanted[values->i[k] + 32 * (k % 16)] = values->a[k];
        assert_int_equal(list[expected++], values->j[k]);
    }
    assert_int_equal(count, expected);
    assert_memory_equal(out, wanted, sizeof wanted);
    free(out);
    free(values);
}

static void NAME(check_records)(const Copies *copies) {
    NAME(Values) *values = NAME(make_values)();
    mf_LaneInput input = {values->a, values->b, values->i, values->j, COUNT};
    AUTO(end_memory) REAL *out = aligned(8 * COUNT * sizeof *out);
    AUTO(end_memory) int32_t *list = aligned((COUNT + 16) * sizeof *list);
    uint32_t count = copies->records(&input, out, list), expected = 0;
    for (uint32_t k = 0; k < COUNT; k++) {
        for (uint32_t c = 0; c < 8; c++)
            assert_memory_equal(&out[c * COUNT + k], &values->a[8 * values->i[k] + (int32_t)c],
                                sizeof *out);
        if (values->a[k] < values->b[k])
            assert_int_equal(list[expected++], k);
    }
    assert_int_equal(count, expected);
    free(values);
}

// All copies of a function give the same bits, for special values and for many others.
static void NAME(check_functions)(const Copies *first, const Copies *copies) {
    NAME(Values) *values = NAME(make_values)();
    REAL *wanted = aligned(COUNT * sizeof *wanted), *out = aligned(COUNT * sizeof *out);
    mf_LaneInput input = {values->a, values->b, values->i, values->j, COUNT};
    for (mf_LaneCase which = MF_LANE_FUNCTIONS; which < MF_LANE_CASES; which++) {
        first->run(which, &input, wanted);
        copies->run(which, &input, out);
        for (uint32_t k = 0; k < COUNT; k++) {
            bool same = wanted[k] != wanted[k] ? out[k] != out[k]
                                               : memcmp(&wanted[k], &out[k], sizeof *out) == 0;
            if (!same)
                fail_msg("%s, function %d of %.9g and %.9g: %.17g, but %s %.17g", first->name,
                         (int)which, (double)values->a[k], (double)values->b[k], (double)wanted[k],
                         copies->name, (double)out[k]);
            if (which != MF_LANE_ATAN2 && out[k] == out[k])
                assert_true(out[k] >= -1 && out[k] <= 1);
        }
    }
    free(out);
    free(wanted);
    free(values);
}

// Largest error against the C library's long double for angles or slopes spread over a range.
static double NAME(largest_error)(const Copies *copies, mf_LaneCase which, double range) {
    AUTO(end_memory) REAL *a = aligned(COUNT * sizeof *a), *b = aligned(COUNT * sizeof *b);
    AUTO(end_memory) REAL *out = aligned(COUNT * sizeof *out);
    static const int32_t zeros[16];
    mf_LaneInput input = {a, b, zeros, zeros, COUNT};
    double largest = 0.0;
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t k = 0; k < COUNT; k++) {
            uint32_t out4[4];
            mf_random(5, k, round, 1, out4);
            a[k] = (REAL)(range * (2.0 * mf_random_unit_double(out4[0], out4[1]) - 1.0));
            b[k] = (REAL)(range * (2.0 * mf_random_unit_double(out4[2], out4[3]) - 1.0));
            if (round % 2 == 1 && which != MF_LANE_ATAN2) // next to the multiples of pi/2
                a[k] = (REAL)(floor((double)a[k] / 1.5707963267948966) * 1.5707963267948966);
            if (round % 2 == 1 && which == MF_LANE_ATAN2) // flat and steep
                *(k % 2 ? &a[k] : &b[k]) *= (REAL)1e-3;
        }
        copies->run(which, &input, out);
        for (uint32_t k = 0; k < COUNT; k++) {
            long double wanted = which == MF_LANE_SINE     ? sinl(a[k])
                                 : which == MF_LANE_COSINE ? cosl(a[k])
                                                           : atan2l(a[k], b[k]);
            double error = fabs((double)(out[k] - wanted));
            largest = error > largest ? error : largest;
        }
    }
    return largest;
}

// Where the C library is exact by definition.
static void NAME(check_special)(const Copies *copies) {
    enum { N = 16 };
    AUTO(end_memory)
    REAL *a = aligned(N * sizeof *a), *b = aligned(N * sizeof *b), *out = aligned(N * sizeof *out);
    static const double pairs[N][2] = {
        {0, 0},  {0, 1}, {0, -1},  {1, 0},   {-1, 0},        {1, 1},     {1, -1},   {-1, -1},
        {-1, 1}, {3, 3}, {MAX, 1}, {1, MAX}, {1e-38, 1e-38}, {MAX, MAX}, {-MAX, 2}, {0, MAX}};
    static const int32_t zeros[N];
    for (int k = 0; k < N; k++) {
        a[k] = (REAL)pairs[k][0];
        b[k] = (REAL)pairs[k][1];
    }
    mf_LaneInput input = {a, b, zeros, zeros, N};
    copies->run(MF_LANE_ATAN2, &input, out);
    for (int k = 0; k < N; k++)
        assert_true(fabs((double)out[k] - atan2((double)a[k], (double)b[k])) <= ATAN2_BOUND);
    assert_true(out[0] == 0);
    static const double angles[N] = {0,    1e30,     -1e30,     MAX, -MAX,  8192, -8193, 1e6,
                                     -1e7, INFINITY, -INFINITY, NAN, 1e-30, 5e9,  -5e9,  2.2e9};
    for (int k = 0; k < N; k++)
        a[k] = (REAL)angles[k];
    for (mf_LaneCase which = MF_LANE_SINE; which <= MF_LANE_COSINE; which++) {
        copies->run(which, &input, out);
        assert_true(out[0] == (which == MF_LANE_COSINE));
        for (int k = 0; k < N; k++)
            if (k >= 9 && k <= 11)
                assert_true(out[k] != out[k]);
            else
                assert_true(out[k] >= -1 && out[k] <= 1);
    }
}
