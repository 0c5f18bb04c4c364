// Integer time: exact conversion and exact rates (validation case J10).
#include <float.h>
#include "rig/rig.h"
#include "base/wait.h"

TEST(seconds_become_the_nearest_nanosecond) {
    assert_true(mf_time_from_seconds(0.0) == 0);
    assert_true(mf_time_from_seconds(-0.0) == 0);
    assert_true(mf_time_from_seconds(1.0) == MF_SECOND);
    assert_true(mf_time_from_seconds(-1.5) == -1500000000);
    assert_true(mf_time_from_seconds(0.1) == 100000000);
    assert_true(mf_time_from_seconds(0.01) == 10 * MF_MILLISECOND);
    assert_true(mf_time_from_seconds(1e-9) == 1);
    assert_true(mf_time_from_seconds(0.4999e-9) == 0);
    assert_true(mf_time_from_seconds(0.5001e-9) == 1);
    assert_true(mf_time_from_seconds(-0.5001e-9) == -1);
    assert_true(mf_time_from_seconds(DBL_TRUE_MIN) == 0);
    assert_true(mf_time_from_seconds(DBL_MIN) == 0);
    // 2^-10 s = 976562.5 ns exactly: halves go away from zero
    assert_true(mf_time_from_seconds(0x1p-10) == 976563);
    assert_true(mf_time_from_seconds(-0x1p-10) == -976563);
    // 2^33 + 2^-19 s: the product with 10^9 does not fit a double
    assert_true(mf_time_from_seconds(0x1p33 + 0x1p-19) == INT64_C(8589934592000001907));
}

TEST(large_values_saturate) {
    assert_true(mf_time_from_seconds(INFINITY) == INT64_MAX);
    assert_true(mf_time_from_seconds(-INFINITY) == INT64_MIN);
    assert_true(mf_time_from_seconds((double)NAN) == INT64_MIN);
    assert_true(mf_time_from_seconds(DBL_MAX) == INT64_MAX);
    assert_true(mf_time_from_seconds(-1e300) == INT64_MIN);
    assert_true(mf_time_from_seconds(9.3e9) == INT64_MAX);
    assert_true(mf_time_from_seconds(-9.3e9) == INT64_MIN);
    // 2^63 ns = 9223372036.854775808 s lies between these neighbors (ulp 1.9e-6 s)
    assert_true(mf_time_from_seconds(9223372036.854776) == INT64_MAX);
    assert_true(mf_time_from_seconds(9223372036.854774) == INT64_C(9223372036854774475));
}

TEST(time_survives_the_way_through_seconds) {
    // below 2^23 s = 97 days neighboring doubles are less than a nanosecond apart
    uint32_t word[4];
    for (uint64_t i = 0; i < 100000; i++) {
        mf_random(1, 0, 0, i, word);
        mf_Time time = (mf_Time)(((uint64_t)word[0] << 32 | word[1]) % ((uint64_t)MF_SECOND << 23));
        time = i & 1 ? time : -time;
        assert_true(mf_time_from_seconds(mf_time_to_seconds(time)) == time);
    }
    assert_true(mf_time_to_seconds(1500 * MF_MILLISECOND) == 1.5);
}

TEST(rate_of_a_period_is_in_lowest_terms) {
    mf_Rate rate = mf_rate_from_period(10 * MF_MILLISECOND);
    assert_true(rate.numerator == 100 && rate.denominator == 1);
    rate = mf_rate_from_period(3 * MF_SECOND);
    assert_true(rate.numerator == 1 && rate.denominator == 3);
    rate = mf_rate_from_period(7);
    assert_true(rate.numerator == MF_SECOND && rate.denominator == 7);
    rate = mf_rate_from_period(INT64_MAX); // 2^63 - 1 is divisible neither by 2 nor by 5
    assert_true(rate.numerator == MF_SECOND && rate.denominator == INT64_MAX);
}

TEST(ticks_are_exact_after_a_billion_steps) {
    // J10: after n = 10^9 steps of 10 ms, t = 10^7 s: f t ticks and the one at 0
    const mf_Time step = 10 * MF_MILLISECOND, end = INT64_C(1000000000) * step;
    assert_true(mf_rate_ticks((mf_Rate){30, 1}, end) == INT64_C(300000000) + 1);
    assert_true(mf_rate_ticks((mf_Rate){30, 1}, end - 1) == INT64_C(300000000));
    assert_true(mf_rate_ticks((mf_Rate){100, 1}, end) == INT64_C(1000000000) + 1);
    assert_true(mf_rate_ticks((mf_Rate){1, 3}, end) == INT64_C(3333333) + 1);
    assert_true(mf_rate_ticks((mf_Rate){1, 3}, 3 * MF_SECOND) == 2);
    assert_true(mf_rate_ticks((mf_Rate){1, 3}, 3 * MF_SECOND - 1) == 1);
    assert_true(mf_rate_ticks((mf_Rate){1, 3}, 0) == 1);
    assert_true(mf_rate_ticks((mf_Rate){1, 3}, -1) == 0);
    // 29.97 Hz video: 30000/1001
    assert_true(mf_rate_ticks((mf_Rate){30000, 1001}, 1001 * MF_SECOND) == 30001);
    assert_true(mf_rate_ticks((mf_Rate){30000, 1001}, 1001 * MF_SECOND - 1) == 30000);
}

TEST(extreme_rates_do_not_overflow) {
    // (2^63-1) (2^63-1) / ((2^63-1) 10^9) = 9223372036.85...
    const mf_Rate one = {INT64_MAX, INT64_MAX};
    assert_true(mf_rate_ticks(one, INT64_MAX) == INT64_C(9223372037));
    assert_true(mf_rate_ticks((mf_Rate){INT64_MAX, 1}, INT64_MAX) == INT64_MAX);
    assert_true(mf_rate_due((mf_Rate){INT64_MAX, 1}, INT64_MAX, 1));
    assert_true(mf_rate_ticks((mf_Rate){1, INT64_MAX}, INT64_MAX) == 1);
    assert_false(mf_rate_due((mf_Rate){1, INT64_MAX}, INT64_MAX, INT64_MAX));
    assert_false(mf_rate_due((mf_Rate){1, 1}, INT64_MIN, INT64_MAX));
}

TEST(thirty_hertz_on_ten_milliseconds) {
    // Tick k at k/30 s is due in the first step that ends at or after it: n = ceil(10 k / 3), so
    // the gaps repeat 4, 3, 3 for ever. 10^6 steps, near 0 and after 10^9 steps.
    const mf_Time step = 10 * MF_MILLISECOND;
    const int64_t starts[] = {0, INT64_C(1000000000)};
    for (int s = 0; s < 2; s++) {
        int64_t due = 0;
        for (int64_t n = starts[s]; n < starts[s] + 1000000; n++) {
            bool expected = n % 10 == 0 || n % 10 == 4 || n % 10 == 7;
            bool found = mf_rate_due((mf_Rate){30, 1}, n * step, step);
            assert_int_equal(found, expected);
            due += found;
        }
        assert_int_equal(due, 300000);
    }
}

TEST(one_third_hertz_is_due_every_three_seconds) {
    const mf_Time step = 10 * MF_MILLISECOND;
    for (int64_t n = 0; n < 100000; n++)
        assert_int_equal(mf_rate_due((mf_Rate){1, 3}, n * step, step), n % 300 == 0);
}

TEST(rates_above_the_step_rate_are_due_every_step) {
    const mf_Time step = 10 * MF_MILLISECOND;
    for (int64_t n = 0; n < 1000; n++) {
        assert_true(mf_rate_due((mf_Rate){1000, 1}, n * step, step));
        assert_true(mf_rate_due((mf_Rate){100, 1}, n * step, step));
    }
}

TEST(due_counts_what_ticks_counts) {
    // Over any rate and step, the steps in which a tick is due number the ticks of a rate that is
    // slower than the steps.
    uint32_t word[4];
    for (uint64_t i = 0; i < 200; i++) {
        mf_random(2, 0, 0, i, word);
        mf_Time step = 1 + word[0] % 20000000;
        mf_Rate rate = {1 + word[1] % 40, 1 + word[2] % 7};
        int64_t due = 0, n = 0;
        for (; n < 500; n++)
            due += mf_rate_due(rate, n * step, step);
        assert_true(due == mf_rate_ticks(rate, (n - 1) * step));
    }
}

TEST(due_has_a_half_open_interval) {
    const mf_Rate rate = {1, 1};
    assert_true(mf_rate_due(rate, 0, 1));
    assert_true(mf_rate_due(rate, 0, 0));
    assert_false(mf_rate_due(rate, -1, 10));
    assert_true(mf_rate_due(rate, 5, 6));  // 0 lies in (-1, 5]
    assert_false(mf_rate_due(rate, 5, 5)); // (0, 5] has none
    assert_true(mf_rate_due(rate, MF_SECOND, 1));
    assert_false(mf_rate_due(rate, MF_SECOND + 1, 1));
    assert_false(mf_rate_due(rate, MF_SECOND - 1, 1));
    assert_false(mf_rate_due(rate, MF_SECOND, 0));
}

TEST(wait_ends_where_the_rate_is_due) {
    const mf_Rate rates[] = {{30, 1}, {1, 3}, {1000, 7}, {100, 1}, {2000, 1}};
    const mf_Time steps[] = {MF_MILLISECOND, 10 * MF_MILLISECOND, 3333333};
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++)
        for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++)
            for (mf_Time now = 0; now < 700 * steps[s]; now += steps[s]) {
                uint64_t expected = 1;
                while (!mf_rate_due(rates[r], now + (mf_Time)expected * steps[s], steps[s]))
                    expected++;
                assert_int_equal(mf_rate_wait(rates[r], now, steps[s]), expected);
            }
}
