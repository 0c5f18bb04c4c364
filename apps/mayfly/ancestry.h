// Printing the line of an individual of an archive.
#ifndef MAYFLY_APP_ANCESTRY_H
#define MAYFLY_APP_ANCESTRY_H

#include <mayfly/search.h>

#include <stdbool.h>

// Prints the line of `id` back to the first generation; returns the exit code.
int mf_ancestry_print(mf_Context *context, mf_Archive *archive, uint64_t id, bool json,
                      mf_Error *error);

#endif
