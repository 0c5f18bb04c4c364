// Where the files that a file names may be. What lies outside is not looked at, so that no answer
// tells what is there.
#include "base/root.h"
#include "base/file.h"
#include "base/inject.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A call has failed for another reason than that there is no such file, or none for this user.
static void note_trouble(mf_Root *root) {
    root->trouble |= errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP;
}

bool mf_root_has(mf_Root *root, const char *path, mode_t kind) {
    struct stat info;
    if (!mf_file_may(root->context, path))
        return false;
    bool answered = mf_allow(root->context, "stat") && stat(path, &info) == 0;
    if (!answered)
        note_trouble(root);
    return answered && (info.st_mode & S_IFMT) == kind;
}

bool mf_root_join(char *out, const char *folder, const char *rest) {
    int length = snprintf(out, MF_ROOT_PATH, "%s/%s", folder, rest);
    return length >= 0 && (unsigned)length < MF_ROOT_PATH;
}

// Removes the last component; false at the root.
bool mf_root_go_up(char *folder) {
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return false;
    *slash = '\0';
    return true;
}

bool mf_root_lies_in(const char *path, const char *folder) {
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// Whether it is the user's home folder, or one around it.
bool mf_root_is_above_home(const char *folder) {
    const char *home = getenv("HOME");
    return folder[0] == '\0' || (home != NULL && mf_root_lies_in(home, folder));
}

// Whether the folder is one into which Python packages are installed.
static bool holds_python_packages(mf_Root *root, const char *folder) {
    bool found = false;
    DIR *list = mf_allow(root->context, "opendir") ? opendir(folder) : NULL;
    if (list == NULL)
        note_trouble(root);
    for (struct dirent *entry = list ? readdir(list) : NULL; entry && !found;
         entry = readdir(list)) {
        size_t length = strlen(entry->d_name);
        found = length > 10 && strcmp(entry->d_name + length - 10, ".dist-info") == 0;
    }
    if (list != NULL)
        closedir(list);
    return found;
}

static bool is_repository(mf_Root *root, const char *folder) {
    static const char *const files[] = {"pyproject.toml", "setup.py", ".git"};
    char path[MF_ROOT_PATH];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (mf_root_join(path, folder, files[i]) &&
            (mf_root_has(root, path, S_IFREG) || mf_root_has(root, path, S_IFDIR)))
            return true;
    }
    memcpy(path, folder, strlen(folder) + 1);
    return mf_root_go_up(path) && holds_python_packages(root, path);
}

static bool is_package(mf_Root *root, const char *folder) {
    char path[MF_ROOT_PATH];
    return mf_root_join(path, folder, "package.xml") && mf_root_has(root, path, S_IFREG);
}

// If the root that is given does not exist, the model's own folder is used.
static void take_given(mf_Root *root) {
    char real[PATH_MAX];
    if (!mf_allow(root->context, "realpath") || realpath(root->given, real) == NULL)
        note_trouble(root);
    else if (strlen(real) < MF_ROOT_PATH)
        memcpy(root->path, real, strlen(real) + 1);
    if (strcmp(root->path, "/") == 0)
        root->path[0] = '\0';
}

const char *mf_root_path(mf_Root *root) {
    char folder[MF_ROOT_PATH];
    bool packed = false;
    if (root->known)
        return root->path;
    root->known = true;
    memcpy(folder, root->folder, sizeof folder);
    memcpy(root->path, folder, sizeof folder);
    if (root->given != NULL) {
        take_given(root);
        return root->path;
    }
    if (mf_root_go_up(root->path) && mf_root_is_above_home(root->path))
        memcpy(root->path, folder, sizeof folder);
    do {
        const bool ends = is_repository(root, folder);
        if ((ends || (!packed && is_package(root, folder))) && strlen(folder) < strlen(root->path))
            memcpy(root->path, folder, sizeof folder);
        packed = packed || is_package(root, folder);
        if (ends)
            break;
    } while (mf_root_go_up(folder));
    return root->path;
}

__attribute__((noinline)) mf_Status mf_root_begin(mf_Root *root, mf_Context *context,
                                                  const char *folder, const char *given) {
    char real[PATH_MAX];
    *root = (mf_Root){.context = context, .given = given};
    if (!mf_allow(context, "realpath") || realpath(folder, real) == NULL ||
        strlen(real) >= MF_ROOT_PATH) {
        note_trouble(root);
        return MF_NOT_FOUND;
    }
    memcpy(root->folder, real, strlen(real) + 1);
    if (strcmp(root->folder, "/") == 0)
        root->folder[0] = '\0';
    return MF_OK;
}

__attribute__((noinline)) bool mf_root_holds(mf_Root *root, const char *path, const char *package,
                                             bool *exists) {
    char real[PATH_MAX], inside[PATH_MAX];
    *exists = mf_allow(root->context, "realpath") && realpath(path, real) != NULL;
    if (!*exists) {
        note_trouble(root);
        return false;
    }
    return mf_root_lies_in(real, root->folder) || mf_root_lies_in(real, mf_root_path(root)) ||
           (package != NULL && realpath(package, inside) != NULL && mf_root_lies_in(real, inside));
}

mf_Status mf_root_is_outside(mf_Context *context, const char *file, const char *path, bool *outside,
                             mf_Error *error) {
    mf_Root root;
    char folder[MF_ROOT_PATH];
    bool exists;
    *outside = false;
    if (file == NULL || strlen(file) >= MF_ROOT_PATH - 1)
        return MF_OK;
    const char *slash = strrchr(file, '/'); // of the folder: the file itself may be made later
    const size_t length = slash == NULL ? 0 : (size_t)(slash - file) + 1;
    snprintf(folder, sizeof folder, "%.*s.", (int)length, file);
    if (mf_root_begin(&root, context, folder, NULL) == MF_OK)
        *outside = !mf_root_holds(&root, path, NULL, &exists);
    return root.trouble ? mf_fail_at(error, MF_IO, file, 0, 0, "cannot access '%.200s'", path)
                        : MF_OK;
}
