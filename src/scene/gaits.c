// Gaits of a group: their files, and the commands of the robots.
#include "io/suggest.h"
#include "world/attach.h"
#include "base/root.h"
#include "scene/builder.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 4200 }; // [byte] of a gait's file

// ---- files -------------------------------------------------------------------------------------

// Whether a gait is given by its file, not by its name.
static bool is_file(const char *gait) {
    size_t length = strlen(gait);
    return strchr(gait, '/') != NULL || (length > 5 && strcmp(gait + length - 5, ".yaml") == 0);
}

// The file `gait` [size bytes with the terminator] of a gait's name for the robot in the file
// `robot`: a name that ends with .yaml or contains a slash is a path, any other is gaits/<robot's
// file name without ending>/<gait>.yaml next to the robot. MF_LIMIT if it does not fit.
static mf_Status path_of(const char *robot, const char *gait, char *out, size_t size,
                         mf_Error *error) {
    MF_NEED(robot != NULL, error, "gait %.100s: the group has no robot file", gait);
    const char *name = strrchr(robot, '/');
    int used;
    name = name == NULL ? robot : name + 1;
    const char *dot = strrchr(name, '.');
    int stem = dot == NULL ? (int)strlen(name) : (int)(dot - name);
    if (is_file(gait))
        used = snprintf(out, size, "%s", gait);
    else
        used = snprintf(out, size, "%.*sgaits/%.*s/%s.yaml", (int)(name - robot), robot, stem, name,
                        gait);
    return used >= 0 && (size_t)used < size ? MF_OK
                                            : mf_fail_at(error, MF_LIMIT, robot, 0, 0,
                                                         "gait %.100s: the path is too long", gait);
}

typedef struct Entries {
    struct dirent **items;
    uint32_t count;
} Entries;

static int is_gait(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int in_order(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static const char *entry_name_at(const void *list, uint32_t index) {
    const Entries *entries = list;
    return index < entries->count ? entries->items[index]->d_name : NULL;
}

// "walk, kick_left" of a folder, "none" when it has no gait, and the name nearest to `gait`.
static void list_gaits(const char *folder, const char *gait, char *out, size_t size,
                       char near[MF_SUGGESTION]) {
    Entries entries = {.items = NULL};
    const int count = scandir(folder, &entries.items, is_gait, in_order);
    size_t used = (size_t)snprintf(out, size, "%s", count > 0 ? "" : "none");
    entries.count = count > 0 ? (uint32_t)count : 0;
    for (uint32_t i = 0; i < entries.count; i++) {
        char *name = entries.items[i]->d_name;
        name[strlen(name) - strlen(".yaml")] = '\0';
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", name);
    }
    mf_suggest(gait, entry_name_at, &entries, near);
    for (uint32_t i = 0; i < entries.count; i++)
        free(entries.items[i]);
    free(entries.items);
}

static mf_Status refuse_gait(const mf_SceneBuilder *builder, const char *robot, const char *path,
                             const char *gait) {
    char folder[PATH_MOST], known[400], near[MF_SUGGESTION];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    list_gaits(slash != NULL ? folder : ".", gait, known, sizeof known, near);
    return mf_fail_at(builder->error, MF_NOT_FOUND, robot, 0, 0,
                      "no gait '%.60s': expected one of those in %.300s (%s), or a file%s", gait,
                      folder, known, near);
}

// Paths are relative to the folder of the scene.
static mf_Status locate(const mf_SceneBuilder *builder, const mf_SceneGroup *from, const char *gait,
                        char out[PATH_MOST]) {
    const char *file = builder->file->file;
    const char *slash = file == NULL ? NULL : strrchr(file, '/');
    char path[PATH_MOST];
    int folder = slash == NULL || !is_file(gait) || gait[0] == '/' ? 0 : (int)(slash - file) + 1;
    int used = snprintf(path, sizeof path, "%.*s%s", folder, folder == 0 ? "" : file, gait);
    if (used < 0 || (size_t)used >= sizeof path)
        return mf_fail_at(builder->error, MF_LIMIT, file, 0, 0, "gait %.100s: the path is too long",
                          gait);
    return path_of(from->model_path, path, out, PATH_MOST, builder->error);
}

static mf_Status load(mf_SceneBuilder *builder, uint32_t index, uint32_t number) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const char *gait = from->gaits[number];
    char path[PATH_MOST];
    mf_Error cause = {0};
    MF_TRY(locate(builder, from, gait, path));
    mf_Status status = mf_gait_load(builder->context, path, builder->scene->models[index],
                                    &builder->scene->gaits[index][number], &cause);
    if (status == MF_OK)
        return MF_OK;
    const bool named = !is_file(gait);
    if (named && cause.line == 0 && (status == MF_IO || status == MF_NOT_FOUND))
        return refuse_gait(builder, from->model_path, path, gait);
    // Where there is no scene, only the user can have named it.
    const bool own = from->model_path != NULL && builder->file->file != NULL &&
                     strcmp(from->model_path, builder->file->file) == 0;
    bool outside = false;
    if (!named && !own && status != MF_NO_MEMORY)
        mf_root_is_outside(builder->context, builder->file->file, path, &outside, NULL);
    if (outside)
        return mf_fail_at(builder->error, MF_NOT_FOUND, builder->file->file, 0, 0,
                          "no gait '%.200s': expected a file with the keys of a gait", gait);
    if (builder->error != NULL)
        *builder->error = cause;
    return status;
}

mf_Status mf_scene_add_gaits(mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                             const mf_GaitConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    for (uint32_t i = 0; i < from->gait_count; i++)
        MF_TRY(load(builder, index, i));
    if (from->gait_count == 0)
        return MF_OK;
    return mf_gaits_add(group, (const mf_Gait *const *)builder->scene->gaits[index],
                        from->gait_count, config, builder->error);
}

// ---- commands ----------------------------------------------------------------------------------

// Keyframes do not follow commands.
static void largest_command(const mf_Gait *gait, double out[3]) {
    const mf_GaitPace *pace = gait->kind == MF_GAIT_WALK    ? &gait->walk.pace
                              : gait->kind == MF_GAIT_WAVES ? &gait->waves.pace
                                                            : NULL;
    out[0] = pace != NULL ? pace->forward : 0.0;
    out[1] = pace != NULL ? pace->left : 0.0;
    out[2] = pace != NULL ? pace->yaw : 0.0;
}

// Limits a command to the gait's range and adds a note.
static void cut(mf_Scene *scene, const mf_SceneGroup *from, const mf_Gait *gait,
                double command[3]) {
    static const char *const names[3] = {"forward", "left", "yaw"};
    static const char *const units[3] = {"m/s", "m/s", "rad/s"};
    double most[3];
    char note[MF_SCENE_NOTE] = "";
    size_t used = 0;
    largest_command(gait, most);
    for (int i = 0; i < 3; i++) {
        if (fabs(command[i]) <= most[i])
            continue;
        const double least = copysign(most[i], command[i]);
        if (used < sizeof note)
            used += (size_t)snprintf(note + used, sizeof note - used, "%s%s %g %s to %g",
                                     used > 0 ? ", " : "", names[i], command[i], units[i], least);
        command[i] = most[i] > 0.0 ? least : 0.0;
    }
    if (used > 0)
        mf_scene_note(scene, "group %.60s: the command is clamped to the gait's range: %.140s",
                      from->name, note);
}

static uint32_t find_gait(const mf_SceneGroup *from, const char *name) {
    uint32_t chosen = 0; // checked by the reader
    while (chosen + 1 < from->gait_count && strcmp(from->gaits[chosen], name) != 0)
        chosen++;
    return chosen;
}

void mf_scene_begin_gait(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Group *group = mf_world_group(builder->scene->world, index);
    double command[3] = {0.0, 0.0, 0.0};
    if (from->behavior.kind != MF_BEHAVIOR_GAIT)
        return;
    const uint32_t chosen = find_gait(from, from->behavior.gait);
    const mf_Gait *gait = builder->scene->gaits[index][chosen];
    memcpy(command, from->behavior.gait_command, sizeof command);
    if (isnan(command[0])) {
        largest_command(gait, command);
        command[0] *= 0.5;
        command[1] = command[2] = 0.0;
    }
    cut(builder->scene, from, gait, command);
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        mf_field_set(mf_group_find_field(group, "gait.select"), i, 0, chosen);
        mf_field_write(mf_group_find_field(group, "gait.command"), i, 0, 3, command);
    }
}
