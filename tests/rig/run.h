// Tests that name themselves, and the program that runs them: a file of tests needs no list and,
// unless it begins in its own way, no main().
//
//     GROUP_FIXTURE(make_context, drop_context);   // once a file: *state of all its tests
//
//     TEST(a_ball_falls) { ... }                   // void a_ball_falls(void **state)
#pragma once

typedef int (*TestFixture)(void **state);

// A test, whose parameter is void **state; it runs in the order of the file.
#define TEST(name) TEST_WITH(name, NULL, NULL)

// The same with what prepares and clears away its own state.
#define TEST_WITH(name, begin, end)                                                                \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void list_##name(void) {                                   \
        list_test(#name, name, begin, end);                                                        \
    }                                                                                              \
    static void name(void **state)

// A test whose parameter is its state by its type: TEST_ON(a_ball_falls, Fixture *fixture) { ... }
#define TEST_ON(name, parameter) TEST_ON_WITH(name, parameter, NULL, NULL)
#define TEST_ON_WITH(name, parameter, begin, end)                                                  \
    static void name(parameter);                                                                   \
    static void name##_on(void **state) {                                                          \
        name(*state);                                                                              \
    }                                                                                              \
    __attribute__((constructor)) static void list_##name(void) {                                   \
        list_test(#name, name##_on, begin, end);                                                   \
    }                                                                                              \
    static void name(parameter)

// What prepares and clears away the state of all tests of this file.
#define GROUP_FIXTURE(begin, end)                                                                  \
    __attribute__((constructor)) static void list_fixture(void) {                                  \
        list_group_fixture(begin, end);                                                            \
    }                                                                                              \
    _Static_assert(1, "")

void list_test(const char *name, void (*run)(void **state), TestFixture begin, TestFixture end);
void list_group_fixture(TestFixture begin, TestFixture end);

// Runs all tests; the number of those that failed. Only a main() of one's own calls it.
int run_listed_tests(void);
