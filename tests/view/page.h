// A small XML reader for pages of reports. Include it after cmocka.h.
#pragma once

#include <stdint.h>
#include <string.h>

// Checks that tags nest and close and that attributes are quoted, which is what an XML parser would
// find in a page without entities of its own; counts elements of one name. The tests link no
// parser.
typedef struct Page {
    const char *text;
    const char *counted;
    uint32_t count;
    char open[64][16];
    uint32_t depth;
} Page;

static inline const char *skip_attributes(const char *text) {
    while (*text != '\0' && *text != '>' && *text != '/') {
        if (*text == '"') {
            text = strchr(text + 1, '"');
            assert_non_null(text);
        }
        assert_int_not_equal(*text, '<');
        text++;
    }
    return text;
}

static inline const char *read_tag(Page *page, const char *text) {
    bool closing = *text == '/';
    char name[16] = "";
    text += closing;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    assert_in_range(length, 1, sizeof name - 1);
    memcpy(name, text, length);
    text = skip_attributes(text + length);
    while (*text == '/' && text[1] != '>') // inside an unquoted place there is none
        text = skip_attributes(text + 1);
    bool empty = *text == '/';
    text += empty;
    assert_int_equal(*text, '>');
    if (closing) {
        assert_true(page->depth > 0);
        assert_string_equal(page->open[--page->depth], name);
    } else {
        page->count += strcmp(name, page->counted) == 0;
        if (!empty) {
            assert_in_range(page->depth, 0, 63);
            strcpy(page->open[page->depth++], name);
        }
    }
    return text + 1;
}

static inline void check_reference(const char *text) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(text, known[i], strlen(known[i])) == 0)
            return;
    }
    fail_msg("unknown reference: %.20s", text);
}

// Number of elements of that name in a well-formed page.
static inline uint32_t count_elements(const char *text, const char *name) {
    static const char doctype[] = "<!DOCTYPE html>\n";
    Page page = {.counted = name};
    assert_memory_equal(text, doctype, strlen(doctype));
    text += strlen(doctype);
    while (*text != '\0') {
        if (*text == '<') {
            text = read_tag(&page, text + 1);
            continue;
        }
        if (*text == '&')
            check_reference(text);
        assert_int_not_equal(*text, '>');
        text++;
    }
    assert_int_equal(page.depth, 0);
    return page.count;
}
