// Text, temporary files with it, and models from them.
#pragma once

#include <mayfly/model.h>

// As printf formats it; it is kept until the program ends.
__attribute__((format(printf, 1, 2))) const char *formatted(const char *format, ...);

// Writes `text` to a new file in /tmp, whose name ends with `suffix`; the caller unlinks it.
void write_temporary(char path[64], const char *suffix, const char *text);

// A model from text; on failure what the loader returned.
mf_Status try_text(mf_Context *context, const char *text, mf_Model **model, mf_Error *error);

// The same, where failure fails the test.
mf_Model *load_text(mf_Context *context, const char *text);
