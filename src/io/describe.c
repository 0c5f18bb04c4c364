// Documentation made from a table of keys: markdown for docs/reference/scenes.md, plain text for a
// terminal.
#include "io/keys.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 6 }; // [1] columns of a terminal page

static const char *unit_of(const mf_Key *key) {
    return strcmp(key->unit, "1") == 0 ? "" : key->unit;
}

// State of the description.
typedef struct Page {
    mf_Text text;
    mf_Context *context;
    bool markdown;
    const char *prefix; // of paths: "groups.NAME.", or ""
} Page;

// The default as written in a file. Where a row has none, it is the start value of the structure.
static const char *default_of(const mf_KeyTable *table, const void *base, const mf_Key *key,
                              char *out, size_t size) {
    if (key->flags & MF_KEY_REQUIRED)
        return "required";
    if (key->fallback != NULL)
        return key->fallback[0] == '\0' ? "\"\"" : key->fallback;
    if (table->start == NULL || key->offset == MF_KEY_NOWHERE)
        return "none";
    return mf_key_value(key, base, out, size);
}

static void put_markdown(Page *page, const mf_KeyTable *table, const void *base) {
    for (uint32_t i = 0; i < mf_keys_count(table); i++) {
        char range[200], value[200];
        const mf_Key *key = mf_keys_at(table, i);
        const char *bold = mf_key_is_group(key) ? "**" : "";
        mf_text_format(
            &page->text, "| %s`%s%s`%s | %s | %s | %s | %s |\n", bold, page->prefix, key->path,
            bold, unit_of(key), mf_key_range(key, range, sizeof range),
            key->kind == MF_KEY_SECTION ? "" : default_of(table, base, key, value, sizeof value),
            key->description);
    }
}

// Words of `string` in lines that begin INDENT columns in.
static void put_wrapped(mf_Text *text, const char *string) {
    size_t column = 0; // no word yet
    while (*string != '\0') {
        size_t length = strcspn(string, " ");
        bool fits = column != 0 && column + 1 + length <= WIDTH;
        if (fits)
            mf_text_put(text, " ");
        else
            mf_text_format(text, "%s%*s", column == 0 ? "" : "\n", INDENT, "");
        column = fits ? column + 1 + length : INDENT + length;
        mf_text_put_bytes(text, string, length);
        string += length + (string[length] == ' ');
    }
}

// Range, unit and default in brackets after the path, or below it where the line would be too long.
static void put_values(Page *page, const mf_Key *key, const char *fallback) {
    char range[200], values[500];
    mf_key_range(key, range, sizeof range);
    if (range[0] == '\0')
        return;
    int length =
        snprintf(values, sizeof values, "(%s%s%s; %s%s)", range, unit_of(key)[0] == '\0' ? "" : " ",
                 unit_of(key), key->flags & MF_KEY_REQUIRED ? "" : "default ", fallback);
    size_t before = strlen(page->prefix) + strlen(key->path) + 4;
    if (before + (size_t)length <= WIDTH) {
        mf_text_format(&page->text, "  %s", values);
    } else {
        mf_text_put(&page->text, "\n");
        put_wrapped(&page->text, values);
    }
}

static void put_plain(Page *page, const mf_KeyTable *table, const void *base) {
    mf_Text *text = &page->text;
    for (uint32_t i = 0; i < mf_keys_count(table); i++) {
        char value[200];
        const mf_Key *key = mf_keys_at(table, i);
        if (mf_key_is_group(key) && strchr(key->path, '.') == NULL)
            mf_text_put(text, i == 0 ? "" : "\n");
        mf_text_format(text, "  %s%s", page->prefix, key->path);
        put_values(page, key, default_of(table, base, key, value, sizeof value));
        mf_text_put(text, "\n");
        put_wrapped(text, key->description);
        mf_text_put(text, "\n");
    }
}

// A table, followed by the tables of its lists.
static mf_Status put_table(Page *page, const mf_KeyTable *table, mf_Error *error) {
    void *base = mf_allocate(page->context, 1, table->size);
    MF_NEED_MEMORY(base != NULL, error, table->noun);
    if (table->start != NULL)
        table->start(base);
    if (page->markdown)
        put_markdown(page, table, base);
    else
        put_plain(page, table, base);
    mf_release(page->context, base);
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < mf_keys_count(table) && status == MF_OK; i++) {
        char prefix[100];
        if (mf_keys_at(table, i)->kind != MF_KEY_LIST)
            continue;
        const char *outer = page->prefix;
        snprintf(prefix, sizeof prefix, "%s%s.NAME.", outer, mf_keys_at(table, i)->path);
        page->prefix = prefix;
        mf_text_put(&page->text, page->markdown ? "" : "\n");
        status = put_table(page, mf_keys_at(table, i)->items, error);
        page->prefix = outer;
    }
    return status;
}

mf_Status mf_keys_describe(mf_Context *context, const mf_KeyTable *table, bool markdown,
                           char **text, mf_Error *error) {
    *text = NULL;
    Page page = {
        .text = mf_text_begin(context), .context = context, .markdown = markdown, .prefix = ""};
    if (markdown)
        mf_text_put(&page.text,
                    "| key | unit | values | default | meaning |\n|---|---|---|---|---|\n");
    mf_Status status = put_table(&page, table, error);
    return mf_text_end(&page.text, status, table->noun, text, error);
}
