#include "rig/rig.h"

static struct CMUnitTest listed[64];
static size_t listed_count;
static TestFixture group_begin, group_end;

void list_test(const char *name, void (*run)(void **state), TestFixture begin, TestFixture end) {
    if (listed_count == sizeof listed / sizeof *listed)
        abort(); // a file with more tests than that wants to be two
    listed[listed_count++] =
        (struct CMUnitTest){name, run, .setup_func = begin, .teardown_func = end};
}

void list_group_fixture(TestFixture begin, TestFixture end) {
    group_begin = begin;
    group_end = end;
}

int run_listed_tests(void) {
    return _cmocka_run_group_tests("tests", listed, listed_count, group_begin, group_end);
}
