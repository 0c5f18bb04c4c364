// The growing text buffer against expected output.
#include "rig/rig.h"
#include "base/text.h"

GROUP_FIXTURE(setup_context, teardown_context);

TEST(numbers_have_three_digits) {
    assert_string_equal(mf_text_measure(0.0).text, "0");
    assert_string_equal(mf_text_measure(0.01234).text, "0.0123");
    assert_string_equal(mf_text_measure(4.5678).text, "4.57");
    assert_string_equal(mf_text_measure(-98.76).text, "-98.8");
    assert_string_equal(mf_text_measure(351.7).text, "352");
    assert_string_equal(mf_text_measure(999.4).text, "999");
    assert_string_equal(mf_text_measure(999.7).text, "1,000");
    assert_string_equal(mf_text_measure(12745.0).text, "12,700");
    assert_string_equal(mf_text_measure(-1234567.0).text, "-1,230,000");
    assert_string_equal(mf_text_measure(2.5e20).text, "2.50e+20");
    assert_string_equal(mf_text_measure(NAN).text, "not a number");
    assert_string_equal(mf_text_measure(-INFINITY).text, "-infinite");
}

TEST(durations_have_fitting_units) {
    assert_string_equal(mf_text_duration(0.42).text, "0.42 s");
    assert_string_equal(mf_text_duration(24.0).text, "24 s");
    assert_string_equal(mf_text_duration(120.0).text, "2 min");
    assert_string_equal(mf_text_duration(199.6).text, "3 min 20 s");
    assert_string_equal(mf_text_duration(9000.0).text, "2.5 h");
    // 100 robots x 1364 generations x 120 s
    assert_string_equal(mf_text_duration(16368000.0).text, "189.4 days");
    assert_string_equal(mf_text_duration(10.0 * 365.25 * 86400.0).text, "10.0 years");
    assert_string_equal(mf_text_duration(NAN).text, "unknown");
    assert_string_equal(mf_text_duration(-1.0).text, "unknown");
}

TEST(counts_have_commas) {
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {{0, "0"},
                {999, "999"},
                {1000, "1,000"},
                {1234567, "1,234,567"},
                {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(mf_text_count(rows[i].value).text, rows[i].text);
}

TEST(escaping_leaves_only_safe_text) {
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"},
        {"tab\tline\n", "tab\tline\n"},
        {"\x01\x1f", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xf0\x9f\xa6\x8b", "\xf0\x9f\xa6\x8b"},                 // a character beyond 16 bits
        {"\xff", "\xef\xbf\xbd"},                                 // no UTF-8 at all
        {"\xc3", "\xef\xbf\xbd"},                                 // cut off
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                 // cut off
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 // overlong '/'
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, // a surrogate
        {"\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, // U+FFFF is no character of XML
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
        mf_text_escape(&text, rows[i].in);
        assert_string_equal(text.data, rows[i].out);
    }
    AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
    mf_text_escape(&text, NULL);
    assert_int_equal(text.size, 0);
}

// RFC 4648, section 10.
TEST(base64_has_the_published_vectors) {
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
        mf_text_put(&text, "");
        mf_text_base64(&text, (const uint8_t *)rows[i][0], strlen(rows[i][0]));
        assert_string_equal(text.data, rows[i][1]);
    }
}

TEST(long_texts_stay_whole) {
    AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
    AUTO(end_memory) char *big = malloc(20001);
    memset(big, 'x', 20000);
    big[20000] = '\0';
    for (int i = 0; i < 1000; i++)
        mf_text_format(&text, "%04d", i);
    mf_text_format(&text, "<%s>", big); // much longer than what is left
    assert_false(text.failed);
    assert_int_equal(text.size, 4000 + 20002);
    assert_int_equal(strlen(text.data), text.size);
    assert_memory_equal(text.data + 3996, "0999<xxx", 8);
    assert_int_equal(text.data[text.size - 1], '>');
}

TEST(a_failed_allocation_is_remembered) {
    AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
    mf_context_fail_after(*state, 1);
    mf_text_put(&text, "lost");
    mf_context_fail_after(*state, 0);
    mf_text_put(&text, "more");
    mf_text_format(&text, "%d", 1);
    assert_true(text.failed);
    assert_int_equal(text.size, 0);
}
