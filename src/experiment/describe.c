// The table of keys as a page for people: markdown for docs/experiments.md, plain text for a
// terminal.
#include "experiment/keys.h"
#include "base/text.h"

#include <string.h>

enum { WIDTH = 100, INDENT = 6 }; // [1] columns of a terminal page

static bool is_group(const mf_ExperimentKey *key) {
    return key->kind == MF_KEY_SECTION || key->kind == MF_KEY_VARIANT;
}

static const char *unit_of(const mf_ExperimentKey *key) {
    return strcmp(key->unit, "1") == 0 ? "" : key->unit;
}

static const char *default_of(const mf_ExperimentKey *key) {
    if (key->flags & MF_KEY_REQUIRED)
        return "required";
    if (key->fallback == NULL)
        return "none";
    return key->fallback[0] == '\0' ? "\"\"" : key->fallback;
}

static void put_markdown(mf_Text *text, const mf_ExperimentKey *keys, uint32_t count) {
    mf_text_put(text, "| key | unit | values | default | what it is |\n|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < count; i++) {
        char range[200];
        const mf_ExperimentKey *key = &keys[i];
        const char *bold = is_group(key) ? "**" : "";
        mf_text_format(text, "| %s`%s`%s | %s | %s | %s | %s |\n", bold, key->path, bold,
                       unit_of(key), mf_experiment_key_range(key, range, sizeof range),
                       key->kind == MF_KEY_SECTION ? "" : default_of(key), key->description);
    }
}

// Words of `string` in lines that begin INDENT columns in.
static void put_wrapped(mf_Text *text, const char *string) {
    size_t column = WIDTH;
    while (*string != '\0') {
        size_t length = strcspn(string, " ");
        bool fits = column + 1 + length <= WIDTH;
        if (fits)
            mf_text_put(text, " ");
        else
            mf_text_format(text, "%s%*s", column == WIDTH ? "" : "\n", INDENT, "");
        column = fits ? column + 1 + length : INDENT + length;
        mf_text_put_bytes(text, string, length);
        string += length + (string[length] == ' ');
    }
    mf_text_put(text, "\n");
}

static void put_plain(mf_Text *text, const mf_ExperimentKey *keys, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char range[200];
        const mf_ExperimentKey *key = &keys[i];
        if (is_group(key) && strchr(key->path, '.') == NULL)
            mf_text_put(text, i == 0 ? "" : "\n");
        mf_text_format(text, "  %s", key->path);
        mf_experiment_key_range(key, range, sizeof range);
        if (range[0] != '\0')
            mf_text_format(text, "  (%s%s%s; %s%s)", range, unit_of(key)[0] == '\0' ? "" : " ",
                           unit_of(key), key->flags & MF_KEY_REQUIRED ? "" : "default ",
                           default_of(key));
        mf_text_put(text, "\n");
        put_wrapped(text, key->description);
    }
}

mf_Status mf_experiment_describe(mf_Context *context, bool markdown, char **text, mf_Error *error) {
    *text = NULL;
    uint32_t count;
    const mf_ExperimentKey *keys = mf_experiment_keys(&count);
    mf_Text page = mf_text_begin(context);
    if (markdown)
        put_markdown(&page, keys, count);
    else
        put_plain(&page, keys, count);
    if (page.failed) {
        mf_text_free(&page);
        return mf_fail(error, MF_NO_MEMORY, "experiment: no memory for the help text");
    }
    *text = page.data;
    return MF_OK;
}
