// Comparison of doubles with a tolerance. Include cmocka first.
#ifndef MAYFLY_TESTS_NEAR_H
#define MAYFLY_TESTS_NEAR_H

// cmocka's own assert_float_equal rounds to float.
static inline void check_near(double found, double expected, double tolerance, int line) {
    double error = found > expected ? found - expected : expected - found;
    if (!(error <= tolerance))
        fail_msg("line %d: expected %.17g within %g, found %.17g", line, expected, tolerance,
                 found);
}
#define assert_near(found, expected, tolerance) check_near(found, expected, tolerance, __LINE__)

#endif
