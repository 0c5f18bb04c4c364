// The edit distance of names, which selects suggestions for mistyped keys, joints, commands,
// options and gaits.
#include "rig/rig.h"
#include "io/keys.h"

TEST(known_distances) {
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"run", "run", 0},
        {"rnu", "run", 1},            // neighbors swapped
        {"comapre", "compare", 1},    // likewise
        {"duraton", "duration", 1},   // one missing
        {"durattion", "duration", 1}, // one too many
        {"moticn", "motion", 1},      // one wrong
        {"kitten", "sitting", 3},     // Levenshtein's textbook pair
        {"ca", "abc", 3},             // no letter is changed twice: not 2
        {"evolve", "bench", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(mf_name_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(mf_name_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

TEST(long_names_are_far_from_all) {
    char longest[256], longer[257];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(mf_name_distance(longest, longest), 0);
    assert_int_equal(mf_name_distance(longest, ""), 255);
    assert_true(mf_name_distance(longer, "a") == SIZE_MAX);
    assert_true(mf_name_distance("a", longer) == SIZE_MAX);
}
