// A growing text buffer for reports and settings. A failed allocation is stored and makes all later
// calls do nothing, so that writers check once, at the end.
#pragma once

#include <mayfly/base.h>

#include <stdarg.h>

typedef struct mf_Text {
    mf_Context *context;
    char *data;      // terminated by 0; NULL while empty
    size_t size;     // [byte] without the terminator
    size_t capacity; // [byte]
    bool failed;     // an allocation failed; the text is incomplete and must not be used
} mf_Text;

mf_Text mf_text_begin(mf_Context *context);
void mf_text_free(mf_Text *text);

void mf_text_put(mf_Text *text, const char *string);
void mf_text_put_bytes(mf_Text *text, const char *bytes, size_t size);
void mf_text_format(mf_Text *text, const char *format, ...) MF_PRINTF(2, 3);
void mf_text_format_list(mf_Text *text, const char *format, va_list arguments) MF_PRINTF(2, 0);

// Escapes text for elements and attributes of XML and HTML: & < > " ' become references, control
// characters and bytes that are not UTF-8 become U+FFFD. NULL counts as "".
void mf_text_escape(mf_Text *text, const char *string);

// A number for people, as an argument of mf_text_format: mf_text_measure(length).text.
typedef struct mf_TextNumber {
    char text[32];
} mf_TextNumber;

// 1364 as "1,364".
mf_TextNumber mf_text_count(uint64_t value);

// `value` with about three significant digits: "0.0123", "4.57", "352", "12,700".
mf_TextNumber mf_text_measure(double value);

// Seconds in a readable unit: "0.42 s", "24 s", "3 min 20 s", "2.5 h", "189.4 days".
mf_TextNumber mf_text_duration(double seconds);

// Ends a text whose writer returned `status`: hands it over to *out, or frees it and sets NULL.
// MF_NO_MEMORY, with `what` in the message: it failed.
mf_Status mf_text_end(mf_Text *text, mf_Status status, const char *what, char **out,
                      mf_Error *error);

// Replaces a file by the text, which is freed. MF_NO_MEMORY, with `what` in the message: it failed.
mf_Status mf_text_save(mf_Text *text, const char *path, const char *what, mf_Error *error);

// Base64 of RFC 4648 with padding.
void mf_text_base64(mf_Text *text, const uint8_t *bytes, size_t size);

// Whether a list of names, which ends with NULL (NULL: none), has a name.
bool mf_name_listed(const char *const *names, const char *name);
// The same of names in one text, with blanks between them.
bool mf_name_in_text(const char *text, const char *name);
