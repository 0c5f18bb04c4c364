// Converts addresses of meshes and other files to paths. Names in files are untrusted: they are
// only joined, compared and opened. No path may leave the root, be it by "..", by a link or because
// it is absolute: the folder given by the caller or, without one, the package or repository that
// contains the model; if neither is found, the folder above the model's, where most collections
// store their meshes. What lies outside is not looked at, so that no answer tells what is there.
#include "model/import/package.h"
#include "base/file.h"
#include "base/inject.h"

#include "model/import/xml.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Search {
    mf_Context *context;
    const mf_ImportConfig *config;
    const char *what; // kind of file, for messages
    const char *address;
    char folder[MF_PATH_LIMIT]; // absolute, of the model's file
    char root[MF_PATH_LIMIT];   // absolute, that paths must not leave
    bool rooted;                // the root is known
    bool trouble;               // a system error other than "no such file"
    mf_Error *error;
} Search;

// A call has failed for another reason than that there is no such file, or none for this user.
static void note_trouble(Search *search) {
    search->trouble |= errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP;
}

static bool has_mode(Search *search, const char *path, mode_t kind) {
    struct stat info;
    if (!mf_file_may(search->context, path))
        return false;
    bool answered = mf_allow(search->context, "stat") && stat(path, &info) == 0;
    if (!answered)
        note_trouble(search);
    return answered && (info.st_mode & S_IFMT) == kind;
}

static bool is_file(Search *search, const char *path) {
    return has_mode(search, path, S_IFREG);
}

static bool join(char *out, const char *folder, const char *rest) {
    int length = snprintf(out, MF_PATH_LIMIT, "%s/%s", folder, rest);
    return length >= 0 && (unsigned)length < MF_PATH_LIMIT;
}

// Removes the last component; false at the root.
static bool go_up(char *folder) {
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return false;
    *slash = '\0';
    return true;
}

// True when `path` never leaves its start folder by "..".
static bool stays_inside(const char *path) {
    int depth = 0;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.')
            depth--;
        else if (length > 0 && !(length == 1 && path[0] == '.'))
            depth++;
        if (depth < 0)
            return false;
        path += length;
        path += *path == '/';
    }
    return true;
}

// Appends `path` to the absolute folder `out` lexically. False when the result is too long or
// `path` leaves "/" by "..".
static bool walk(char *out, const char *path) {
    while (*path != '\0') {
        size_t length = strcspn(path, "/"), used = strlen(out);
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            char *slash = strrchr(out, '/');
            if (slash == NULL)
                return false;
            *slash = '\0';
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            if (used + length + 2 > MF_PATH_LIMIT)
                return false;
            out[used] = '/';
            memcpy(out + used + 1, path, length);
            out[used + 1 + length] = '\0';
        }
        path += length;
        path += *path == '/';
    }
    return true;
}

static bool lies_in(const char *path, const char *root) {
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static mf_Status refuse(Search *search) {
    return mf_fail(search->error, MF_BAD_FILE,
                   "%s '%.200s' leaves its root folder by '..' or a link (option root sets "
                   "another)",
                   search->what, search->address);
}

static mf_Status not_below(Search *search) {
    return mf_fail(search->error, MF_NOT_FOUND,
                   "%s '%.200s' not found below its root folder (option root sets another)",
                   search->what, search->address);
}

static mf_Status not_found(Search *search) {
    return mf_fail(search->error, MF_NOT_FOUND, "%s '%.200s' not found", search->what,
                   search->address);
}

// True when the package.xml in `folder` has that name.
static bool has_package_file(Search *search, const char *folder, const char *name) {
    char path[MF_PATH_LIMIT];
    char *data;
    size_t size;
    if (!join(path, folder, "package.xml") || !is_file(search, path))
        return false;
    if (mf_file_read(search->context, path, MF_FILE_LIMIT, &data, &size, NULL) != MF_OK) {
        search->trouble = true;
        return false;
    }
    mf_Xml xml;
    bool same = false;
    mf_Status status = mf_xml_parse(search->context, path, data, size, &xml, NULL);
    search->trouble |= status == MF_NO_MEMORY;
    if (status == MF_OK) {
        const mf_XmlNode *node = mf_xml_child(xml.root, "name");
        same = node != NULL && strcmp(node->text, name) == 0;
        mf_xml_release(&xml);
    }
    mf_release(search->context, data);
    return same;
}

// Whether it is the user's home folder, or one around it.
static bool is_above_home(const char *folder) {
    const char *home = getenv("HOME");
    return folder[0] == '\0' || (home != NULL && lies_in(home, folder));
}

// Whether the folder is one into which Python packages are installed.
static bool holds_python_packages(Search *search, const char *folder) {
    bool found = false;
    DIR *list = mf_allow(search->context, "opendir") ? opendir(folder) : NULL;
    if (list == NULL)
        note_trouble(search);
    for (struct dirent *entry = list ? readdir(list) : NULL; entry && !found;
         entry = readdir(list)) {
        size_t length = strlen(entry->d_name);
        found = length > 10 && strcmp(entry->d_name + length - 10, ".dist-info") == 0;
    }
    if (list != NULL)
        closedir(list);
    return found;
}

static bool is_repository(Search *search, const char *folder) {
    static const char *const files[] = {"pyproject.toml", "setup.py", ".git"};
    char path[MF_PATH_LIMIT];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (join(path, folder, files[i]) &&
            (is_file(search, path) || has_mode(search, path, S_IFDIR)))
            return true;
    }
    memcpy(path, folder, strlen(folder) + 1);
    return go_up(path) && holds_python_packages(search, path);
}

static bool is_package(Search *search, const char *folder) {
    char path[MF_PATH_LIMIT];
    return join(path, folder, "package.xml") && is_file(search, path);
}

// If the root does not exist, the model's own folder is used.
static void take_root(Search *search, char *root) {
    char real[PATH_MAX];
    if (!mf_allow(search->context, "realpath") || realpath(search->config->root, real) == NULL)
        note_trouble(search);
    else if (strlen(real) < MF_PATH_LIMIT)
        memcpy(root, real, strlen(real) + 1);
    if (strcmp(root, "/") == 0)
        root[0] = '\0';
}

// The folder that paths must not leave; found when it is asked for first.
static const char *root_of(Search *search) {
    char folder[MF_PATH_LIMIT], *root = search->root;
    bool packed = false;
    if (search->rooted)
        return root;
    search->rooted = true;
    memcpy(folder, search->folder, sizeof folder);
    memcpy(root, folder, sizeof folder);
    if (search->config->root != NULL) {
        take_root(search, root);
        return root;
    }
    if (go_up(root) && is_above_home(root))
        memcpy(root, folder, sizeof folder);
    do {
        if (!packed && is_package(search, folder)) {
            packed = true;
            if (strlen(folder) < strlen(root))
                memcpy(root, folder, sizeof folder);
        }
        if (is_repository(search, folder)) {
            if (strlen(folder) < strlen(root))
                memcpy(root, folder, sizeof folder);
            return root;
        }
    } while (go_up(folder));
    return root;
}

// Whether a folder without a package.xml may be a package outside of the root: none of the system,
// and none of a user.
static bool may_be_package(const char *folder) {
    char above[MF_PATH_LIMIT];
    memcpy(above, folder, strlen(folder) + 1);
    return go_up(above) && !is_above_home(above);
}

// The folder of package `name` as seen from `folder`, which is `folder` itself or one in it.
static bool package_at(Search *search, const char *folder, const char *name, char *out) {
    const char *last = strrchr(folder, '/');
    const bool named = last != NULL && strcmp(last + 1, name) == 0;
    if (name[0] == '.')
        return false;
    if (has_package_file(search, folder, name)) {
        memcpy(out, folder, strlen(folder) + 1);
        return true;
    }
    if (named)
        memcpy(out, folder, strlen(folder) + 1);
    else if (!join(out, folder, name) || !has_mode(search, out, S_IFDIR))
        return false;
    return lies_in(out, root_of(search)) || may_be_package(out) ||
           has_package_file(search, out, name);
}

// Refuses a file that exists when its links lead out of `package` and of the root.
static __attribute__((noinline)) mf_Status keep_in(Search *search, const char *path,
                                                   const char *package) {
    char real[PATH_MAX], inside[PATH_MAX];
    if (!mf_allow(search->context, "realpath") || realpath(path, real) == NULL) {
        note_trouble(search);
        return not_found(search);
    }
    return lies_in(real, search->folder) || lies_in(real, root_of(search)) ||
                   (package != NULL && realpath(package, inside) != NULL && lies_in(real, inside))
               ? MF_OK
               : refuse(search);
}

static __attribute__((noinline)) mf_Status resolve_package(Search *search,
                                                           const char *name_and_rest, char *out) {
    char name[256], folder[MF_PATH_LIMIT], root[MF_PATH_LIMIT];
    size_t length = strcspn(name_and_rest, "/");
    if (length == 0 && name_and_rest[0] == '/') // package:///NAME/PATH, with one slash too many
        return resolve_package(search, name_and_rest + 1, out);
    if (length == 0 || length >= sizeof name || name_and_rest[length] != '/' ||
        (length <= 2 && strncmp(name_and_rest, "..", length) == 0))
        return mf_fail(search->error, MF_BAD_FILE, "%s '%.200s': expected package://NAME/PATH",
                       search->what, search->address);
    memcpy(name, name_and_rest, length);
    name[length] = '\0';
    const char *rest = name_and_rest + length + 1;
    if (!stays_inside(rest))
        return refuse(search);
    for (uint32_t i = 0; i < search->config->package_count; i++) {
        const char *pair = search->config->packages[i];
        if (strncmp(pair, name, length) == 0 && pair[length] == '=')
            return join(out, pair + length + 1, rest) && is_file(search, out) ? MF_OK
                                                                              : not_found(search);
    }
    memcpy(folder, search->folder, sizeof folder);
    do {
        if (package_at(search, folder, name, root) && join(out, root, rest) && is_file(search, out))
            return keep_in(search, out, root);
    } while (go_up(folder));
    return not_found(search);
}

static mf_Status resolve_path(Search *search, const char *address, char *out) {
    const bool absolute = address[0] == '/';
    memcpy(out, search->folder, strlen(search->folder) + 1);
    if (absolute)
        out[0] = '\0';
    if (!walk(out, address))
        return refuse(search);
    if (!lies_in(out, search->folder) && !lies_in(out, root_of(search)))
        return absolute ? not_below(search) : refuse(search);
    return is_file(search, out) ? keep_in(search, out, NULL) : not_found(search);
}

static mf_Status resolve(Search *search, char *out) {
    const char *address = search->address;
    if (strncmp(address, "package://", 10) == 0)
        return resolve_package(search, address + 10, out);
    if (strncmp(address, "model://", 8) == 0)
        return resolve_package(search, address + 8, out);
    if (strncmp(address, "file://", 7) == 0)
        address += 7;
    else if (strstr(address, "://") != NULL)
        return mf_fail(search->error, MF_UNSUPPORTED,
                       "%s '%.200s': only package://, model://, file:// and paths", search->what,
                       address);
    return resolve_path(search, address, out);
}

static mf_Status find_folder(Search *search, const char *file) {
    char real[PATH_MAX];
    if (!mf_allow(search->context, "realpath") || realpath(file, real) == NULL ||
        strlen(real) >= MF_PATH_LIMIT)
        return mf_fail_at(search->error, MF_IO, file, 0, 0, "cannot find the file's folder");
    memcpy(search->folder, real, strlen(real) + 1);
    if (!go_up(search->folder))
        search->folder[0] = '\0';
    return MF_OK;
}

// MuJoCo strips the path of meshes in URDF files and looks in its mesh folder.
static __attribute__((noinline)) mf_Status resolve_in_folder(Search *search,
                                                             const char *mesh_folder, char *out) {
    const char *name = strrchr(search->address, '/');
    char path[MF_PATH_LIMIT];
    if (!join(path, mesh_folder, name ? name + 1 : search->address))
        return not_found(search);
    return resolve_path(search, path, out);
}

mf_Status mf_package_resolve(mf_Context *context, const char *file, const mf_ImportConfig *config,
                             const char *what, const char *mesh_folder, const char *address,
                             char *out, mf_Error *error) {
    Search search = {
        .context = context, .config = config, .what = what, .address = address, .error = error};
    mf_Status status = find_folder(&search, file);
    if (status != MF_OK)
        return status;
    status = resolve(&search, out);
    if (status == MF_NOT_FOUND && mesh_folder != NULL)
        status = resolve_in_folder(&search, mesh_folder, out);
    if (search.trouble)
        return mf_fail_at(error, MF_IO, file, 0, 0, "cannot access %s '%.200s'", what, address);
    return status;
}

mf_Status mf_package_is_outside(mf_Context *context, const char *file, const char *path,
                                bool *outside, mf_Error *error) {
    static const mf_ImportConfig config = {.root = NULL};
    Search search = {.context = context, .config = &config, .what = "", .address = path};
    char folder[MF_PATH_LIMIT];
    *outside = false;
    if (file == NULL || strlen(file) >= MF_PATH_LIMIT - 1)
        return MF_OK;
    const char *slash = strrchr(file, '/'); // of the folder: the file itself may be made later
    const size_t length = slash == NULL ? 0 : (size_t)(slash - file) + 1;
    snprintf(folder, sizeof folder, "%.*s.", (int)length, file);
    if (mf_allow(context, "realpath") && realpath(folder, search.folder) != NULL)
        *outside = keep_in(&search, path, NULL) != MF_OK;
    else
        note_trouble(&search);
    return search.trouble ? mf_fail_at(error, MF_IO, file, 0, 0, "cannot access '%.200s'", path)
                          : MF_OK;
}
