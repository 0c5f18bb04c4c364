// Plugins: loading a shared library, and checking its declarations before any of its functions is
// called. plugin_system.c adds it to a group.
//
// Invariants: every text, count, range and pointer in the entry of a plugin returned by
// mf_plugin_load has been checked; the library stays loaded until the caller and the last system
// have released it, so no function pointer and no name dangles.
#define _GNU_SOURCE // realpath
#include "control/plugin.h"
#include "base/floats.h"
#include "base/context.h"
#include "base/plain.h"
#include "math/scalar.h"
#include "base/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- checks of the entry -----------------------------------------------------------------------

static bool is_text(const char *text) {
    return text != NULL && *text != '\0' &&
           strnlen(text, MF_PLUGIN_TEXT_LIMIT + 1) <= MF_PLUGIN_TEXT_LIMIT;
}

static mf_Status fail(const mf_Plugin *plugin, mf_Error *error, mf_Status status,
                      const char *format, ...) MF_PRINTF(4, 5);

static mf_Status fail(const mf_Plugin *plugin, mf_Error *error, mf_Status status,
                      const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return mf_fail_at(error, status, plugin->path, 0, 0, "%s", text);
}

// Checks that precede reading any other member of the entry.
static mf_Status check_head(const mf_Plugin *plugin, mf_Error *error) {
    const mf_PluginEntry *entry = plugin->entry;
    if (entry->magic != MF_PLUGIN_MAGIC)
        return fail(plugin, error, MF_VERSION,
                    "not a plugin of Mayfly: magic %016llx, expected %016llx",
                    (unsigned long long)entry->magic, (unsigned long long)MF_PLUGIN_MAGIC);
    if (entry->abi_major != MF_PLUGIN_ABI_MAJOR || entry->abi_minor > MF_PLUGIN_ABI_MINOR)
        return fail(plugin, error, MF_VERSION,
                    "made for plugin ABI %u.%u, this is %u.%u: compile it again", entry->abi_major,
                    entry->abi_minor, MF_PLUGIN_ABI_MAJOR, MF_PLUGIN_ABI_MINOR);
    const struct {
        const char *name;
        uint32_t found;
        size_t expected;
    } sizes[] = {{"mf_PluginEntry", entry->struct_size, sizeof(mf_PluginEntry)},
                 {"mf_PluginField", entry->field_size, sizeof(mf_PluginField)},
                 {"mf_PluginSetting", entry->setting_size, sizeof(mf_PluginSetting)},
                 {"mf_PluginSetup", entry->setup_size, sizeof(mf_PluginSetup)},
                 {"mf_PluginView", entry->view_size, sizeof(mf_PluginView)}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].found != sizes[i].expected)
            return fail(plugin, error, MF_VERSION,
                        "its %s has %u bytes, expected %zu: compile it again", sizes[i].name,
                        sizes[i].found, sizes[i].expected);
    if (entry->layout != MF_PLUGIN_LAYOUT)
        return fail(plugin, error, MF_VERSION,
                    "layout %016llx, expected %016llx: compile it with the headers of this version",
                    (unsigned long long)entry->layout, (unsigned long long)MF_PLUGIN_LAYOUT);
    return MF_OK;
}

static mf_Status check_identity(const mf_Plugin *plugin, mf_Error *error) {
    const mf_PluginEntry *entry = plugin->entry;
    if (!is_text(entry->name) || strlen(entry->name) > 63 ||
        strspn(entry->name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(entry->name))
        return fail(plugin, error, MF_BAD_FILE,
                    "name: expected 1 to 63 of a-z, 0-9, _ and -, found %s",
                    is_text(entry->name) ? entry->name : "none");
    if (!is_text(entry->version) || !is_text(entry->about))
        return fail(plugin, error, MF_BAD_FILE, "version, about: expected texts of 1 to %d bytes",
                    MF_PLUGIN_TEXT_LIMIT);
    if (entry->kind != MF_PLUGIN_MOTION && entry->kind != MF_PLUGIN_CONTROL)
        return fail(plugin, error, MF_BAD_FILE,
                    "kind: expected %d (motion) or %d (control), "
                    "found %u",
                    MF_PLUGIN_MOTION, MF_PLUGIN_CONTROL, entry->kind);
    if (entry->widths < 1 || entry->widths > (MF_PLUGIN_FLOAT | MF_PLUGIN_DOUBLE))
        return fail(plugin, error, MF_BAD_FILE,
                    "widths: expected 1 (float), 2 (double) or 3 (both), found %u", entry->widths);
    if (entry->any_gravity > 1)
        return fail(plugin, error, MF_BAD_FILE, "any_gravity: expected 0 or 1, found %u",
                    entry->any_gravity);
    if (entry->step == NULL)
        return fail(plugin, error, MF_BAD_FILE, "step: expected a function, found NULL");
    return MF_OK;
}

static mf_Status check_field(const mf_Plugin *plugin, uint32_t index, mf_Error *error) {
    const mf_PluginField *field = &plugin->entry->fields[index];
    if (!is_text(field->name) || !is_text(field->unit) || !is_text(field->about) ||
        field->frame == NULL ||
        strnlen(field->frame, MF_PLUGIN_TEXT_LIMIT + 1) > MF_PLUGIN_TEXT_LIMIT)
        return fail(plugin, error, MF_BAD_FILE,
                    "field %u: expected name, unit, frame and about as texts of at most %d bytes",
                    index, MF_PLUGIN_TEXT_LIMIT);
    if ((unsigned)field->type > MF_REAL || (unsigned)field->shape > MF_FIXED_COUNT)
        return fail(plugin, error, MF_BAD_FILE, "field %s: type %d or shape %d does not exist",
                    field->name, (int)field->type, (int)field->shape);
    if (field->width < 1 || field->width > 64)
        return fail(plugin, error, MF_BAD_FILE, "field %s: width %u, expected 1 .. 64", field->name,
                    field->width);
    bool own = (field->access & MF_PLUGIN_OWN) != 0;
    bool sized = own && (field->shape == MF_FIXED_COUNT || field->shape == MF_PER_SENSOR);
    if (sized ? field->count < 1 || field->count > 4096 : field->count != 0)
        return fail(plugin, error, MF_BAD_FILE, "field %s: count %u, expected %s", field->name,
                    field->count, sized ? "1 .. 4096" : "0");
    if (field->access == 0 || field->access == MF_PLUGIN_OWN ||
        field->access > (MF_PLUGIN_READ | MF_PLUGIN_WRITE | MF_PLUGIN_OWN))
        return fail(plugin, error, MF_BAD_FILE,
                    "field %s: access %u, expected READ (1), WRITE (2) or both, and OWN (4)",
                    field->name, field->access);
    const char *name = plugin->entry->name;
    size_t length = strlen(name);
    if (own && (strncmp(field->name, name, length) != 0 || field->name[length] != '.' ||
                field->name[length + 1] == '\0'))
        return fail(plugin, error, MF_BAD_FILE,
                    "field %s: expected a name that begins with \"%s.\" for an own field",
                    field->name, name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(plugin->entry->fields[i].name, field->name) == 0)
            return fail(plugin, error, MF_BAD_FILE, "field %s: named twice", field->name);
    return MF_OK;
}

static mf_Status check_setting(const mf_Plugin *plugin, uint32_t index, mf_Error *error) {
    const mf_PluginSetting *setting = &plugin->entry->settings[index];
    if (!is_text(setting->name) || !is_text(setting->unit) || !is_text(setting->about))
        return fail(plugin, error, MF_BAD_FILE,
                    "setting %u: expected name, unit and about as texts of 1 to %d bytes", index,
                    MF_PLUGIN_TEXT_LIMIT);
    // Written so that NaN also fails.
    if (!(mf_is_finite(setting->lower) && mf_is_finite(setting->upper) &&
          setting->lower <= setting->usual && setting->usual <= setting->upper))
        return fail(plugin, error, MF_BAD_FILE,
                    "setting %s: default %g, expected one within its range %g .. %g", setting->name,
                    setting->usual, setting->lower, setting->upper);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(plugin->entry->settings[i].name, setting->name) == 0)
            return fail(plugin, error, MF_BAD_FILE, "setting %s: named twice", setting->name);
    return MF_OK;
}

static mf_Status check_entry(const mf_Plugin *plugin, mf_Error *error) {
    const mf_PluginEntry *entry = plugin->entry;
    MF_TRY(check_head(plugin, error));
    MF_TRY(check_identity(plugin, error));
    mf_Status status = MF_OK;
    if (entry->field_count < 1 || entry->field_count > MF_PLUGIN_FIELD_LIMIT ||
        entry->fields == NULL)
        return fail(plugin, error, MF_BAD_FILE, "fields: expected 1 .. %d, found %u",
                    MF_PLUGIN_FIELD_LIMIT, entry->fields == NULL ? 0 : entry->field_count);
    if (entry->setting_count > MF_PLUGIN_SETTING_LIMIT ||
        (entry->setting_count > 0 && entry->settings == NULL))
        return fail(plugin, error, MF_BAD_FILE, "settings: expected at most %d, found %s%u",
                    MF_PLUGIN_SETTING_LIMIT, entry->settings == NULL ? "no table of " : "",
                    entry->setting_count);
    uint32_t written = 0;
    for (uint32_t i = 0; i < entry->field_count && status == MF_OK; i++) {
        status = check_field(plugin, i, error);
        written += status == MF_OK && (entry->fields[i].access & MF_PLUGIN_WRITE) != 0;
    }
    for (uint32_t i = 0; i < entry->setting_count && status == MF_OK; i++)
        status = check_setting(plugin, i, error);
    if (status == MF_OK && written == 0)
        return fail(plugin, error, MF_BAD_FILE,
                    "fields: expected at least one to write, found none");
    return status;
}

// ---- the file ----------------------------------------------------------------------------------

// Anyone who can change or replace the file can run code as the user of this program.
static mf_Status check_access(mf_Plugin *plugin, const char *real, mf_Error *error) {
    char folder[PATH_MAX];
    struct stat file, parent;
    snprintf(folder, sizeof folder, "%s", real);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    if (!mf_allow(plugin->context, "stat") || stat(real, &file) != 0 || stat(folder, &parent) != 0)
        return fail(plugin, error, MF_IO, "cannot access it: %s", strerror(errno));
    if (!S_ISREG(file.st_mode))
        return fail(plugin, error, MF_BAD_FILE, "expected a shared library, found %s",
                    S_ISDIR(file.st_mode) ? "a folder" : "not a regular file");
    if (file.st_mode & S_IWOTH)
        return fail(plugin, error, MF_UNSUPPORTED,
                    "all users can write to it: remove this permission (chmod o-w)");
    if ((parent.st_mode & S_IWOTH) && !(parent.st_mode & S_ISVTX))
        return fail(plugin, error, MF_UNSUPPORTED,
                    "all users can write to its folder: remove this permission (chmod o-w)");
    return MF_OK;
}

// The loader's error message, without the path that our message begins with.
static const char *loader_message(const char *real) {
    const char *message = dlerror();
    if (message == NULL)
        return "no reason given";
    size_t length = strlen(real);
    if (strncmp(message, real, length) == 0 && strncmp(message + length, ": ", 2) == 0)
        message += length + 2;
    return message;
}

static mf_Status open_library(mf_Plugin *plugin, mf_Error *error) {
    char real[PATH_MAX];
    if (!mf_allow(plugin->context, "realpath") || realpath(plugin->path, real) == NULL)
        return fail(plugin, error, errno == ENOENT ? MF_NOT_FOUND : MF_IO, "cannot find it: %s",
                    strerror(errno));
    MF_TRY(check_access(plugin, real, error));
    if (!mf_allow(plugin->context, "dlopen"))
        return fail(plugin, error, MF_IO, "cannot load it: %s", strerror(errno));
    // With an absolute path the loader does not search; all symbols are bound now or loading fails.
    plugin->library = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (plugin->library == NULL)
        return fail(plugin, error, MF_BAD_FILE, "cannot load it: %s", loader_message(real));
    plugin->entry = dlsym(plugin->library, MF_PLUGIN_SYMBOL);
    if (plugin->entry == NULL)
        return fail(plugin, error, MF_BAD_FILE,
                    "no plugin of Mayfly: it has no symbol " MF_PLUGIN_SYMBOL);
    return check_entry(plugin, error);
}

mf_Status mf_plugin_load(mf_Context *context, const char *path, mf_Plugin **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "plugin: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL || *path == '\0')
        return mf_fail(error, MF_BAD_ARGUMENT, "plugin: context or path is missing");
    size_t length = strlen(path);
    if (length >= PATH_MAX)
        return mf_fail(error, MF_LIMIT, "plugin: expected a path of less than %d bytes, found %zu",
                       PATH_MAX, length);
    mf_Plugin *plugin = mf_allocate(context, 1, sizeof *plugin + length + 1);
    MF_NEED_MEMORY(plugin != NULL, error, "plugin");
    plugin->context = context;
    memcpy(plugin->path, path, length + 1);
    atomic_init(&plugin->holders, 1);
    mf_Status status = open_library(plugin, error);
    if (status != MF_OK)
        mf_plugin_close(plugin);
    else
        *out = plugin;
    return status;
}

void mf_plugins_allow(mf_Context *context, bool allowed) {
    if (context != NULL)
        atomic_store(&context->plugins_allowed, allowed);
}

mf_Status mf_plugin_load_named(mf_Context *context, const char *path, mf_Plugin **out,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (out != NULL)
        *out = NULL;
    if (context == NULL || atomic_load(&context->plugins_allowed))
        return mf_plugin_load(context, path, out, error);
    return mf_fail(error, MF_UNSUPPORTED,
                   "plugin %.200s: a file names this library, whose code would run; it is not "
                   "loaded without --allow-plugins (mf_plugins_allow)",
                   path == NULL ? "" : path);
}

void mf_plugin_hold(mf_Plugin *plugin) {
    atomic_fetch_add(&plugin->holders, 1);
}

void mf_plugin_close(mf_Plugin *plugin) {
    if (plugin == NULL || atomic_fetch_sub(&plugin->holders, 1) > 1)
        return;
    if (plugin->library != NULL)
        dlclose(plugin->library);
    mf_release(plugin->context, plugin);
}

const mf_PluginEntry *mf_plugin_describe(const mf_Plugin *plugin) {
    return plugin == NULL ? NULL : plugin->entry;
}

// ---- statistics --------------------------------------------------------------------------------

void mf_plugin_breach(mf_Plugin *plugin, const char *format, ...) {
    atomic_fetch_add(&plugin->breaches, 1);
    if (atomic_exchange(&plugin->breach_taken, 1) != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(plugin->breach, sizeof plugin->breach, format, arguments);
    va_end(arguments);
    atomic_store(&plugin->breach_ready, 1);
}

mf_PluginStatistics mf_plugin_statistics(const mf_Plugin *plugin) {
    if (plugin == NULL)
        return (mf_PluginStatistics){0};
    mf_PluginStatistics seen = {.calls = atomic_load(&plugin->calls),
                                .late = atomic_load(&plugin->late),
                                .slowest = (mf_Time)atomic_load(&plugin->slowest),
                                .breaches = atomic_load(&plugin->breaches)};
    if (atomic_load(&plugin->breach_ready) != 0)
        memcpy(seen.breach, plugin->breach, sizeof seen.breach);
    return seen;
}
