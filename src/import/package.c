// Converts addresses of meshes and other files to paths. Names in files are untrusted: they are
// only joined, compared and opened. No path may leave the root, be it by "..", by a link or because
// it is absolute: the folder given by the caller or, without one, the package or repository that
// contains the model; if neither is found, the folder above the model's, where most collections
// store their meshes. What lies outside is not looked at, so that no answer tells what is there.
#include "import/package.h"
#include "base/root.h"

#include "import/xml.h"

#include <string.h>
#include <sys/stat.h>

typedef struct Search {
    mf_Context *context;
    const mf_ImportConfig *config;
    const char *what; // kind of file, for messages
    const char *address;
    mf_Root root; // with the folder of the model's file
    mf_Error *error;
} Search;

static bool is_file(Search *search, const char *path) {
    return mf_root_has(&search->root, path, S_IFREG);
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
    if (!mf_root_join(path, folder, "package.xml") || !is_file(search, path))
        return false;
    if (mf_file_read(search->context, path, MF_FILE_LIMIT, &data, &size, NULL) != MF_OK) {
        search->root.trouble = true;
        return false;
    }
    mf_Xml xml;
    bool same = false;
    mf_Status status = mf_xml_parse(search->context, path, data, size, &xml, NULL);
    search->root.trouble |= status == MF_NO_MEMORY;
    if (status == MF_OK) {
        const mf_XmlNode *node = mf_xml_child(xml.root, "name");
        same = node != NULL && strcmp(node->text, name) == 0;
        mf_xml_release(&xml);
    }
    mf_release(search->context, data);
    return same;
}

// Whether a folder without a package.xml may be a package outside of the root: none of the system,
// and none of a user.
static bool may_be_package(const char *folder) {
    char above[MF_PATH_LIMIT];
    memcpy(above, folder, strlen(folder) + 1);
    return mf_root_go_up(above) && !mf_root_is_above_home(above);
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
    else if (!mf_root_join(out, folder, name) || !mf_root_has(&search->root, out, S_IFDIR))
        return false;
    return mf_root_lies_in(out, mf_root_path(&search->root)) || may_be_package(out) ||
           has_package_file(search, out, name);
}

// Refuses a file that exists when its links lead out of `package` and of the root.
static mf_Status keep_in(Search *search, const char *path, const char *package) {
    bool exists;
    if (mf_root_holds(&search->root, path, package, &exists))
        return MF_OK;
    return exists ? refuse(search) : not_found(search);
}

static __attribute__((noinline)) mf_Status resolve_package(Search *search,
                                                           const char *name_and_rest, char *out) {
    char name[256], folder[MF_PATH_LIMIT], root[MF_PATH_LIMIT];
    size_t length = strcspn(name_and_rest, "/");
    if (length == 0 && name_and_rest[0] == '/') // package:///NAME/PATH, with one slash too many
        return resolve_package(search, name_and_rest + 1, out);
    MF_CHECK(length != 0 && length < sizeof name && name_and_rest[length] == '/' &&
                 (length > 2 || strncmp(name_and_rest, "..", length) != 0),
             search->error, MF_BAD_FILE, "%s '%.200s': expected package://NAME/PATH", search->what,
             search->address);
    memcpy(name, name_and_rest, length);
    name[length] = '\0';
    const char *rest = name_and_rest + length + 1;
    if (!stays_inside(rest))
        return refuse(search);
    for (uint32_t i = 0; i < search->config->package_count; i++) {
        const char *pair = search->config->packages[i];
        if (strncmp(pair, name, length) == 0 && pair[length] == '=')
            return mf_root_join(out, pair + length + 1, rest) && is_file(search, out)
                       ? MF_OK
                       : not_found(search);
    }
    memcpy(folder, search->root.folder, sizeof folder);
    do {
        if (package_at(search, folder, name, root) && mf_root_join(out, root, rest) &&
            is_file(search, out))
            return keep_in(search, out, root);
    } while (mf_root_go_up(folder));
    return not_found(search);
}

static mf_Status resolve_path(Search *search, const char *address, char *out) {
    const bool absolute = address[0] == '/';
    memcpy(out, search->root.folder, strlen(search->root.folder) + 1);
    if (absolute)
        out[0] = '\0';
    if (!walk(out, address))
        return refuse(search);
    if (!mf_root_lies_in(out, search->root.folder) &&
        !mf_root_lies_in(out, mf_root_path(&search->root)))
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
    char real[MF_PATH_LIMIT];
    mf_Status status = mf_root_begin(&search->root, search->context, file, search->config->root);
    if (status != MF_OK)
        return mf_fail_at(search->error, MF_IO, file, 0, 0, "cannot find the file's folder");
    memcpy(real, search->root.folder, sizeof real);
    if (!mf_root_go_up(real))
        real[0] = '\0';
    memcpy(search->root.folder, real, sizeof real);
    return MF_OK;
}

// MuJoCo strips the path of meshes in URDF files and looks in its mesh folder.
static __attribute__((noinline)) mf_Status resolve_in_folder(Search *search,
                                                             const char *mesh_folder, char *out) {
    const char *name = strrchr(search->address, '/');
    char path[MF_PATH_LIMIT];
    if (!mf_root_join(path, mesh_folder, name ? name + 1 : search->address))
        return not_found(search);
    return resolve_path(search, path, out);
}

mf_Status mf_package_resolve(mf_Context *context, const char *file, const mf_ImportConfig *config,
                             const char *what, const char *mesh_folder, const char *address,
                             char *out, mf_Error *error) {
    Search search = {
        .context = context, .config = config, .what = what, .address = address, .error = error};
    MF_TRY(find_folder(&search, file));
    mf_Status status = resolve(&search, out);
    if (status == MF_NOT_FOUND && mesh_folder != NULL)
        status = resolve_in_folder(&search, mesh_folder, out);
    if (search.root.trouble)
        return mf_fail_at(error, MF_IO, file, 0, 0, "cannot access %s '%.200s'", what, address);
    return status;
}
