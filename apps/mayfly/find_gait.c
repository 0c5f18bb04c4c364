// Where the file of a gait is.
#include "find_gait.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

mf_Status mf_app_find_gait(const char *robot, const char *gait, char out[MF_APP_PATH],
                           mf_Error *error) {
    char folder[MF_APP_PATH], known[400];
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
    return mf_fail_at(error, MF_NOT_FOUND, robot, 0, 0,
                      "no gait '%.60s': expected one of those in %.300s (%s), or a file", gait,
                      folder, known);
}
