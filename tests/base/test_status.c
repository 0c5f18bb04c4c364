// Errors: one printable line for any input.
#include "rig/rig.h"

TEST(every_status_has_its_own_name) {
    for (int i = MF_OK; i <= MF_LIMIT; i++) {
        assert_string_not_equal(mf_status_name((mf_Status)i), "unknown status");
        for (int j = MF_OK; j < i; j++)
            assert_string_not_equal(mf_status_name((mf_Status)i), mf_status_name((mf_Status)j));
    }
    assert_string_equal(mf_status_name((mf_Status)12345), "unknown status");
}

TEST(fail_fills_the_error_and_returns_the_status) {
    mf_Error error;
    memset(&error, 0xff, sizeof error);
    assert_int_equal(mf_fail(&error, MF_LIMIT, "need <= %d, found %d", 3, 7), MF_LIMIT);
    assert_int_equal(error.status, MF_LIMIT);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.file, "");
    assert_string_equal(error.message, "need <= 3, found 7");
    assert_int_equal(mf_fail(NULL, MF_BUSY, "nobody listens"), MF_BUSY);
    assert_int_equal(mf_fail_at(NULL, MF_IO, "x", 1, 2, "nobody listens"), MF_IO);
}

TEST(format_leaves_out_what_is_unknown) {
    mf_Error error;
    char text[1024];
    mf_fail_at(&error, MF_BAD_FILE, "a.urdf", 12, 5, "need <robot>");
    assert_string_equal(mf_error_format(&error, text, sizeof text), "a.urdf:12:5: need <robot>");
    mf_fail_at(&error, MF_BAD_FILE, "a.urdf", 12, 0, "need <robot>");
    assert_string_equal(mf_error_format(&error, text, sizeof text), "a.urdf:12: need <robot>");
    mf_fail_at(&error, MF_BAD_FILE, "a.urdf", 0, 5, "need <robot>");
    assert_string_equal(mf_error_format(&error, text, sizeof text), "a.urdf: need <robot>");
    mf_fail_at(&error, MF_BAD_FILE, NULL, 12, 5, "need <robot>");
    assert_string_equal(mf_error_format(&error, text, sizeof text), "12:5: need <robot>");
    mf_fail(&error, MF_BAD_FILE, "need <robot>");
    assert_string_equal(mf_error_format(&error, text, sizeof text), "need <robot>");
    assert_string_equal(mf_error_format(NULL, text, sizeof text), "");
}

TEST(format_always_terminates) {
    mf_Error error;
    mf_fail_at(&error, MF_BAD_FILE, "a.urdf", 12, 5, "need <robot>");
    char text[8];
    memset(text, 'x', sizeof text);
    assert_string_equal(mf_error_format(&error, text, 5), "a.ur");
    assert_int_equal(text[5], 'x');
    mf_error_format(&error, text, 1);
    assert_int_equal(text[0], '\0');
    text[0] = 'x';
    mf_error_format(&error, text, 0);
    assert_int_equal(text[0], 'x');
}

TEST(messages_are_one_clean_line) {
    mf_Error error;
    mf_fail_at(&error, MF_BAD_FILE, "a\nb", 1, 1, "found \"%s\"", "\x1b[31m\r\n\x7f");
    assert_string_equal(error.file, "a?b");
    assert_string_equal(error.message, "found \"?[31m???\"");
    // UTF-8 stays; stray, overlong, surrogate and truncated sequences do not (Unicode table 3-7)
    mf_fail(&error, MF_BAD_FILE, "%s",
            "Gr\xc3\xbc\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\xa6\x97");
    assert_string_equal(error.message, "Gr\xc3\xbc\xc3\x9f"
                                       "e \xe2\x82\xac \xf0\x9f\xa6\x97");
    mf_fail(&error, MF_BAD_FILE, "%s",
            "\x80 \xc0\xaf \xe0\x80\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xff \xe2\x82");
    assert_string_equal(error.message, "? ?? ??? ??? ???? ? ??");
}

TEST(long_texts_are_cut_visibly) {
    mf_Error error;
    char text[2000];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text + sizeof text - 10, "/end.urdf", 9);
    mf_fail_at(&error, MF_BAD_FILE, text, 1, 0, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_string_equal(error.message + sizeof error.message - 5, "m...");
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_memory_equal(error.file, "...m", 4);
    assert_string_equal(error.file + strlen(error.file) - 9, "/end.urdf");
    // never half a character: every alignment of two-byte characters against the end
    for (int pad = 0; pad < 4; pad++) {
        memset(text, 'm', (size_t)pad);
        for (size_t i = (size_t)pad; i + 2 < sizeof text; i += 2)
            memcpy(text + i, "\xc3\xbc", 3);
        mf_fail_at(&error, MF_BAD_FILE, text, 1, 0, "%s", text);
        assert_null(strchr(error.message, '?'));
        assert_null(strchr(error.file, '?'));
        assert_string_equal(error.message + strlen(error.message) - 3, "...");
    }
    // exactly full is not cut
    memset(text, 'm', 511);
    text[511] = '\0';
    mf_fail(&error, MF_BAD_FILE, "%s", text);
    assert_string_equal(error.message, text);
}

TEST(an_error_may_quote_itself) {
    mf_Error error;
    mf_fail_at(&error, MF_IO, "inner", 3, 0, "disk full");
    mf_fail_at(&error, error.status, error.file, error.line, 0, "while saving: %s", error.message);
    assert_string_equal(error.message, "while saving: disk full");
    assert_string_equal(error.file, "inner");
    assert_int_equal(error.line, 3);
}

TEST(version_has_three_numbers) {
    int part[3], length = 0;
    assert_int_equal(sscanf(mf_version(), "%d.%d.%d%n", &part[0], &part[1], &part[2], &length), 3);
    assert_int_equal(length, (int)strlen(mf_version()));
}
