// Checks of the bytes of a YAML file that come before parsing.
#pragma once

#include <mayfly/base.h>

// MF_OK when the `size` bytes of `text` are clean UTF-8 without control characters, byte order mark
// and tabs in front of lines. `file` is for messages.
mf_Status mf_yaml_check_text(const char *file, const char *text, size_t size, mf_Error *error);

// True when the `size` bytes are well-formed UTF-8 without control characters, U+FEFF, U+FFFE and
// U+FFFF: escapes in double quotes could bring such characters into a value.
bool mf_yaml_is_text(const char *text, size_t size);

// True when a line begins with `key` and a colon in column 1. Used to detect the kind of a file.
bool mf_yaml_has_top_key(const char *text, size_t size, const char *key);
