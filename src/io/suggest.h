// What a mistyped word most likely means: one rule for commands, options, their values, benches,
// check cases, help topics and gaits.
#ifndef MAYFLY_SRC_IO_SUGGEST_H
#define MAYFLY_SRC_IO_SUGGEST_H

#include <stdint.h>

// Word number `index` of a list that `list` describes; NULL behind the last.
typedef const char *(*mf_WordFn)(const void *list, uint32_t index);

#define MF_SUGGESTION 128 // [byte]

// ", did you mean 'compare'?" for the nearest word, "" when none is near. A word is near when at
// most half of the typed letters, and not more than three, are wrong (Levenshtein distance), or
// when the typed letters begin it. Returns `out`.
const char *mf_suggest(const char *typed, mf_WordFn words, const void *list,
                       char out[MF_SUGGESTION]);

#endif
