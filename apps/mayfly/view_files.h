// Files that were dropped on a page, in a folder of their own while they are loaded.
#pragma once

#include "view_server.h"

typedef struct mf_DropFolder {
    char path[MF_APP_PATH];       // absolute, new; holds nothing but "drop"
    char files[MF_APP_PATH + 16]; // "drop" in it, which holds the files
    char main[MF_APP_PATH + 640]; // path of the one that is to be loaded
} mf_DropFolder;

// Writes what was dropped. MF_BAD_ARGUMENT, MF_BAD_FILE or MF_LIMIT: a file that is refused;
// MF_UNSUPPORTED: the system refuses. mf_drop_remove in any case.
mf_Status mf_drop_write(const mf_ViewDrop *drop, mf_DropFolder *out, mf_Error *error);
void mf_drop_remove(const mf_DropFolder *folder);
// Messages name the files as they were dropped, not their copies.
void mf_drop_shorten(const mf_DropFolder *folder, mf_Error *error);
