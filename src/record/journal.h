// The way back of a file that is written in place: before bytes are overwritten they are kept in a
// second file, NAME.journal, which is removed once the file is whole again (as rollback journals of
// databases). A run that is killed in between leaves both, and readers undo what was half done; a
// run whose disk is full undoes it itself.
#pragma once

#include <mayfly/base.h>

typedef struct mf_Journal {
    mf_Context *context;
    char *path;     // owned; NULL: there is none
    int descriptor; // -1 while there is nothing to undo
    uint64_t whole; // [byte] of the file when it was whole last; what is behind needs no way back
    uint64_t size;  // [byte] of the journal
    uint32_t last;  // [byte] of its last entry
} mf_Journal;

// For the file `path`, of which nothing is whole yet.
mf_Status mf_journal_begin(mf_Journal *journal, mf_Context *context, const char *path,
                           mf_Error *error);
// Before `size` bytes at `at` of the file are overwritten; false with errno.
bool mf_journal_keep(mf_Journal *journal, int file, uint64_t at, size_t size);
// The file is whole, with so many bytes.
void mf_journal_whole(mf_Journal *journal, uint64_t size);
// Writes back what was overwritten since; false with errno.
bool mf_journal_undo(mf_Journal *journal, int file);
// Removes the journal and frees.
void mf_journal_free(mf_Journal *journal);

// Undoes in memory what a killed run has left half done of the file `path`, as large as `*size`.
// `found`: there was something to undo.
mf_Status mf_journal_apply(mf_Context *context, const char *path, char *data, size_t *size,
                           bool *found, mf_Error *error);
