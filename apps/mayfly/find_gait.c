// Where the file of a gait is, and what it is told.
#include "find_gait.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/keys.h"
#include "io/suggest.h"

static int is_gait(const struct dirent *entry) {
    return mf_app_ends_with(entry->d_name, ".yaml");
}

static int in_order(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

// "walk, kick_left" of a folder, "none" when it has no gait.
static void list_gaits(const char *folder, char *out, size_t size) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_gait, in_order);
    size_t used = (size_t)snprintf(out, size, "%s", count > 0 ? "" : "none");
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(entries[i]->d_name) - (int)strlen(".yaml");
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", i > 0 ? ", " : "", length,
                                     entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

typedef struct Entries {
    struct dirent **items;
    uint32_t count;
} Entries;

static const char *entry_word(const void *list, uint32_t index) {
    const Entries *entries = list;
    return index < entries->count ? entries->items[index]->d_name : NULL;
}

// The gait whose name is nearest to one that is not there; "" when none is near.
static void nearest_gait(const char *folder, const char *gait, char out[MF_SUGGESTION]) {
    Entries entries = {.items = NULL};
    const int count = scandir(folder, &entries.items, is_gait, in_order);
    entries.count = count > 0 ? (uint32_t)count : 0;
    for (uint32_t i = 0; i < entries.count; i++) {
        char *name = entries.items[i]->d_name;
        name[strlen(name) - strlen(".yaml")] = '\0';
    }
    mf_suggest(gait, entry_word, &entries, out);
    for (uint32_t i = 0; i < entries.count; i++)
        free(entries.items[i]);
    free(entries.items);
}

mf_Status mf_app_find_gait(const char *robot, const char *gait, char out[MF_APP_PATH],
                           mf_Error *error) {
    char folder[MF_APP_PATH], known[400], near[MF_SUGGESTION];
    mf_Status status = mf_gait_locate(robot, gait, folder, sizeof folder, error);
    if (status != MF_OK)
        return status;
    mf_app_find(folder, out);
    if (access(out, R_OK) == 0)
        return MF_OK;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    list_gaits(folder, known, sizeof known);
    nearest_gait(folder, gait, near);
    return mf_fail_at(error, MF_NOT_FOUND, robot, 0, 0,
                      "no gait '%.60s': expected one of those in %.300s (%s), or a file%s", gait,
                      folder, known, near);
}

bool mf_app_command(const char *text, double out[3]) {
    char rest;
    out[0] = out[1] = out[2] = 0.0;
    return text == NULL || (sscanf(text, "%lf,%lf,%lf%c", &out[0], &out[1], &out[2], &rest) == 3 &&
                            isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]));
}

// Keyframes follow no command.
static void largest_command(const mf_Gait *gait, double out[3]) {
    const mf_GaitPace *pace = gait->kind == MF_GAIT_WALK    ? &gait->walk.pace
                              : gait->kind == MF_GAIT_WAVES ? &gait->waves.pace
                                                            : NULL;
    out[0] = pace != NULL ? pace->forward : 0.0;
    out[1] = pace != NULL ? pace->left : 0.0;
    out[2] = pace != NULL ? pace->turn : 0.0;
}

void mf_app_gait_cut(const mf_Gait *gait, double command[3], char note[MF_GAIT_NOTE]) {
    static const char *const names[3] = {"forward", "left", "turn"};
    static const char *const units[3] = {"m/s", "m/s", "rad/s"};
    double most[3];
    size_t used = 0;
    largest_command(gait, most);
    note[0] = '\0';
    for (int i = 0; i < 3; i++) {
        if (fabs(command[i]) <= most[i])
            continue;
        const double cut = copysign(most[i], command[i]);
        if (used < MF_GAIT_NOTE)
            used +=
                (size_t)snprintf(note + used, MF_GAIT_NOTE - used, "%s%s %g %s to %g",
                                 used > 0 ? ", " : "the gait's range cuts the command: ", names[i],
                                 command[i], units[i], cut);
        command[i] = most[i] > 0.0 ? cut : 0.0;
    }
}

mf_Status mf_app_load_gait(mf_Context *context, const char *robot, const char *gait,
                           const mf_Model *model, const char *command, mf_Gait **out,
                           double value[3], char note[MF_GAIT_NOTE], mf_Error *error) {
    char file[MF_APP_PATH];
    double most[3];
    note[0] = '\0';
    mf_Status status = mf_app_find_gait(robot, gait, file, error);
    if (status == MF_OK)
        status = mf_gait_load(context, file, model, out, error);
    if (status != MF_OK)
        return status;
    mf_app_command(command, value);
    largest_command(*out, most);
    if (command == NULL)
        value[0] = 0.5 * most[0];
    mf_app_gait_cut(*out, value, note);
    return MF_OK;
}
