// Philox4x32-10 against the known-answer vectors published with Random123, and its helpers.
#include "rig/rig.h"
#include "base/random.h"

TEST(philox_matches_known_answers) {
    // Random123 kat_vectors, lines "philox4x32 10"
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint32_t out[4];
        mf_philox4x32(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].answer, sizeof out);
        // in place
        memcpy(out, vectors[i].counter, sizeof out);
        mf_philox4x32(out, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].answer, sizeof out);
    }
}

TEST(random_places_its_key_and_counter) {
    // the third vector again, through the key layout that base.h documents
    uint32_t out[4];
    mf_random(UINT64_C(0x299f31d0a4093822), 0x13198a2e, 0x03707344, UINT64_C(0x85a308d3243f6a88),
              out);
    const uint32_t answer[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    assert_memory_equal(out, answer, sizeof out);
}

TEST(units_fill_the_half_open_interval) {
    assert_true(mf_random_unit_float(0) == 0.0f);
    assert_true(mf_random_unit_float(0xff) == 0.0f);
    assert_true(mf_random_unit_float(0x100) == 0x1p-24f);
    assert_true(mf_random_unit_float(UINT32_MAX) == 1.0f - 0x1p-24f);
    assert_true(mf_random_unit_double(0, 0) == 0.0);
    assert_true(mf_random_unit_double(0, 0x7ff) == 0.0);
    assert_true(mf_random_unit_double(0, 0x800) == 0x1p-53);
    assert_true(mf_random_unit_double(0x80000000, 0) == 0.5);
    assert_true(mf_random_unit_double(UINT32_MAX, UINT32_MAX) == 1.0 - 0x1p-53);
}

TEST(below_maps_the_whole_range_evenly) {
    assert_int_equal(mf_random_below(UINT32_MAX, 1), 0);
    assert_int_equal(mf_random_below(0, UINT32_MAX), 0);
    assert_int_equal(mf_random_below(UINT32_MAX, UINT32_MAX), UINT32_MAX - 1);
    // multiply-shift: value k starts at ceil(k 2^32 / bound)
    for (uint32_t k = 1; k < 10; k++) {
        uint32_t first = (uint32_t)((((uint64_t)k << 32) + 9) / 10);
        assert_int_equal(mf_random_below(first, 10), k);
        assert_int_equal(mf_random_below(first - 1, 10), k - 1);
    }
    assert_int_equal(mf_random_below(0x80000000, 2), 1);
    assert_int_equal(mf_random_below(0x7fffffff, 2), 0);
}

TEST(streams_are_uniform_and_uncorrelated) {
    // n = 2^16 words in 256 bins: chi^2 has mean 255 and standard deviation 22.6; six of those.
    // Neighboring ticks, instances, streams and seeds are the ones a simulation uses together.
    for (int axis = 0; axis < 4; axis++) {
        uint32_t bins[4][256] = {{0}};
        double mean = 0.0, product = 0.0, before = 0.0;
        for (uint32_t i = 0; i < 65536; i++) {
            uint32_t out[4];
            mf_random(axis == 0 ? i : 7, axis == 1 ? i : 0, axis == 2 ? i : 0, axis == 3 ? i : 0,
                      out);
            for (int word = 0; word < 4; word++)
                bins[word][out[word] >> 24]++;
            double unit = mf_random_unit_double(out[0], out[1]) - 0.5;
            mean += unit / 65536;
            product += unit * before / 65536;
            before = unit;
        }
        for (int word = 0; word < 4; word++) {
            double chi = 0.0;
            for (int bin = 0; bin < 256; bin++)
                chi += (bins[word][bin] - 256.0) * (bins[word][bin] - 256.0) / 256.0;
            assert_true(chi > 255 - 6 * 22.6 && chi < 255 + 6 * 22.6);
        }
        // standard deviations 1/sqrt(12 n) = 0.00113 and 1/(12 sqrt n) = 0.00033
        assert_true(mean > -0.0068 && mean < 0.0068);
        assert_true(product > -0.002 && product < 0.002);
    }
}
