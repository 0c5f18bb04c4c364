// Suggestions for mistyped words: one rule for commands, options, their values, benches, check
// cases, help topics and gaits.
#pragma once

#include <stdint.h>

// Word number `index` of the list `list`; NULL after the last.
typedef const char *(*mf_NameFn)(const void *list, uint32_t index);

#define MF_SUGGESTION 128 // [byte]

// ", did you mean 'compare'?" for the nearest word, "" when none is near. A word is near when at
// most half of the typed letters, and not more than three, are wrong (Levenshtein distance), or
// when it begins with the typed letters. Returns `out`.
const char *mf_suggest(const char *typed, mf_NameFn names, const void *list,
                       char out[MF_SUGGESTION]);
