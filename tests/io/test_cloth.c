// Cloths' files: what is read, what is written is read again, and what is wrong is named with its
// line.
#include "rig/rig.h"
#include "rig/bodies.h"

GROUP_FIXTURE(make_context, drop_context);

static const char rectangle[] = "cloth:\n"
                                "  density: 0.2\n"
                                "  size: [1, 2]\n"
                                "  counts: [3, 4]\n"
                                "  plane: xz\n"
                                "  pins: [top, left, 5]\n";
static const char triangles[] = "cloth:\n"
                                "  vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.5]]\n"
                                "  triangles: [[0, 1, 2], [1, 3, 2]]\n"
                                "  warp: [0, 1, 0]\n"
                                "  pins: [3]\n";

static mf_Status parse(mf_Context *context, const char *text, mf_Cloth **out, mf_Error *error) {
    return mf_cloth_parse(context, "a.yaml", text, strlen(text), out, error);
}

TEST(rectangles_are_read) {
    static const uint32_t pins[] = {9, 10, 11, 0, 3, 6, 5};
    mf_Cloth *cloth;
    double at[3];
    MUST(parse(*state, rectangle, &cloth, &error));
    assert_int_equal(mf_cloth_vertex_count(cloth), 12);
    assert_int_equal(mf_cloth_triangle_count(cloth), 12);
    assert_true(mf_cloth_area(cloth) == 2.0 && cloth->material.density == 0.2);
    assert_int_equal(cloth->pin_count, 7);
    assert_memory_equal(cloth->pins, pins, sizeof pins);
    mf_cloth_vertex(cloth, 11, at);
    assert_true(at[0] == 0.5 && at[1] == 0.0 && at[2] == 1.0);
    mf_body_destroy(cloth);
}

TEST(what_is_written_is_read_again) {
    static const char *const texts[] = {rectangle, triangles};
    for (int k = 0; k < 2; k++) {
        mf_Cloth *cloth, *again;
        char *once, *twice;
        MUST(parse(*state, texts[k], &cloth, &error));
        MUST(mf_body_write(*state, &mf_cloth_body, cloth, &once, &error));
        MUST(parse(*state, once, &again, &error));
        MUST(mf_body_write(*state, &mf_cloth_body, again, &twice, &error));
        assert_string_equal(once, twice);
        assert_int_equal(again->pin_count, cloth->pin_count);
        assert_int_equal(again->triangle_count, cloth->triangle_count);
        mf_release(*state, once);
        mf_release(*state, twice);
        mf_body_destroy(cloth);
        mf_body_destroy(again);
    }
}

TEST(what_is_wrong_is_named) {
    static const struct {
        const char *text, *names;
        int line;
    } wrong[] = {
        {"cloth:\n  size: [1, 1]\n", "only a rectangle has it: expected counts", 2},
        {"cloth:\n  density: 1\n", "need a rectangle (size, counts) or vertices", 1},
        {"cloth:\n  counts: [2.5, 3]\n", "2.5: expected a whole number", 2},
        {"cloth:\n  counts: [3, 1]\n", "counts: 1 vertices, need 2", 2},
        {"cloth:\n  counts: [3, 3]\n  pins: [9]\n", "9: expected the number of a vertex below 9",
         3},
        {"cloth:\n  counts: [3, 3]\n  pins: [upper]\n", "upper: expected the number", 3},
        {"cloth:\n  counts: [3, 3]\n  stretch: 0\n", "stretch: expected a number above 0", 3},
        {"cloth:\n  vertices: [[0, 0, 0], [1, 0, 0], [2, 0, 0]]\n  triangles: [[0, 1, 2]]\n",
         "triangles[0]: its area is 0 m^2", 3},
        {"cloth:\n  vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\n  triangles: [[0, 1, 3]]\n",
         "triangles[0]: no vertex 3", 3},
        {"cloth:\n  counts: [3, 3]\n  warp: [0, 1, 0]\n", "a rectangle (counts) has no triangles",
         3},
        {"cloth:\n  colour: red\n", "colour: unknown key", 2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mf_Cloth *cloth;
        mf_Error error = {0};
        assert_int_equal(parse(*state, wrong[i].text, &cloth, &error), MF_BAD_FILE);
        assert_null(cloth);
        if (strstr(error.message, wrong[i].names) == NULL || error.line != wrong[i].line)
            fail_msg("line %d: %s; expected line %d: %s", error.line, error.message, wrong[i].line,
                     wrong[i].names);
    }
}

TEST(every_failure_is_reported) {
    mf_Status status = MF_NO_MEMORY;
    for (uint32_t calls = 1; status != MF_OK; calls++) {
        mf_Cloth *cloth = NULL;
        char *text = NULL;
        mf_context_fail_after(*state, calls);
        status = parse(*state, triangles, &cloth, NULL);
        if (status == MF_OK)
            status = mf_body_write(*state, &mf_cloth_body, cloth, &text, NULL);
        mf_context_fail_after(*state, 0);
        assert_true(status == MF_OK || status == MF_NO_MEMORY);
        mf_release(*state, text);
        mf_body_destroy(cloth);
    }
}
