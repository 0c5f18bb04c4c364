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
    if (strchr(gait, '/') != NULL || mf_app_ends_with(gait, ".yaml")) {
        mf_app_find(gait, out);
        return MF_OK;
    }
    const char *name = strrchr(robot, '/');
    name = name == NULL ? robot : name + 1;
    const char *dot = strrchr(name, '.');
    int stem = dot == NULL ? (int)strlen(name) : (int)(dot - name);
    int used =
        snprintf(folder, sizeof folder, "%.*sgaits/%.*s", (int)(name - robot), robot, stem, name);
    int length = snprintf(out, MF_APP_PATH, "%.3500s/%.500s.yaml", folder, gait);
    if (used < 0 || (size_t)used >= sizeof folder || length < 0)
        out[0] = '\0';
    if (access(out, R_OK) == 0)
        return MF_OK;
    list_gaits(folder, known, sizeof known);
    return mf_fail_at(error, MF_NOT_FOUND, robot, 0, 0,
                      "no gait '%.60s': expected one of those in %.300s (%s), or a file", gait,
                      folder, known);
}
