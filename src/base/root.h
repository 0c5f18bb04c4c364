// The folder that the files which a file names may not leave: one that is given, or the package or
// repository around the file, else the folder above its own; no folder of all of a user's files.
#pragma once

#include <mayfly/base.h>

#include <sys/types.h>

#define MF_ROOT_PATH 4096u // [byte] a path with its end

typedef struct mf_Root {
    mf_Context *context;
    const char *given;         // borrowed; NULL: none
    char folder[MF_ROOT_PATH]; // absolute, links resolved: of the file
    char path[MF_ROOT_PATH];   // likewise: the root, once it is known; "" for "/"
    bool known;
    bool trouble; // a system error other than "no such file"
} mf_Root;

// MF_NOT_FOUND: there is no such folder.
mf_Status mf_root_begin(mf_Root *root, mf_Context *context, const char *folder, const char *given);
// The root; found when it is asked for first.
const char *mf_root_path(mf_Root *root);
// Whether a file that exists is in the file's folder, the root or `package` (NULL: none), all links
// resolved.
bool mf_root_holds(mf_Root *root, const char *path, const char *package, bool *exists);

// Whether `path` is not a file below the root of `file`, which names it, or could when it is there:
// what is in it is then nobody's business, and no message repeats it. `file` may be NULL: it is
// not.
mf_Status mf_root_is_outside(mf_Context *context, const char *file, const char *path, bool *outside,
                             mf_Error *error);

// ---- paths -------------------------------------------------------------------------------------

// Whether there is something of that kind (S_IFREG, S_IFDIR), and the context's guard lets it be
// seen.
bool mf_root_has(mf_Root *root, const char *path, mode_t kind);
// "folder/rest" into MF_ROOT_PATH bytes; false: too long.
bool mf_root_join(char *out, const char *folder, const char *rest);
// Removes the last component; false at the top.
bool mf_root_go_up(char *folder);
bool mf_root_lies_in(const char *path, const char *folder); // by their letters
// Whether it is the user's home folder, or one around it.
bool mf_root_is_above_home(const char *folder);
