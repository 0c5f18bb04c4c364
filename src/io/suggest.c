// Suggestions for mistyped words.
#include "io/suggest.h"

#include <stdio.h>
#include <string.h>

#include "io/keys.h"

enum { BEGINNING = 2 }; // [1] least letters of a prefix that counts as similar

const char *mf_suggest(const char *typed, mf_NameFn names, const void *list,
                       char out[MF_SUGGESTION]) {
    const size_t length = strlen(typed), limit = length / 2 < 3 ? length / 2 : 3;
    size_t best = limit + 1;
    const char *near = NULL, *word;
    for (uint32_t i = 0; (word = names(list, i)) != NULL; i++) {
        size_t distance = mf_name_distance(typed, word);
        if (distance > limit && length >= BEGINNING && strncmp(typed, word, length) == 0)
            distance = limit; // misspellings that are nearer come first
        if (distance < best) {
            near = word;
            best = distance;
        }
    }
    out[0] = '\0';
    if (near != NULL)
        snprintf(out, MF_SUGGESTION, ", did you mean '%.99s'?", near);
    return out;
}
