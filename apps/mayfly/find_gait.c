// Where the file of a gait is, and what it is told.
#include "find_gait.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/keys.h"

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

// The gait whose name is nearest to one that is not there; "" when none is near.
static void nearest_gait(const char *folder, const char *gait, char *out, size_t size) {
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_gait, in_order);
    size_t wrong = strlen(gait) / 2 + 1;
    out[0] = '\0';
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - strlen(".yaml")] = '\0';
        const size_t other = mf_name_distance(gait, entries[i]->d_name);
        if (other < wrong)
            snprintf(out, size, "; did you mean '%.60s'?", entries[i]->d_name);
        wrong = other < wrong ? other : wrong;
        free(entries[i]);
    }
    free(entries);
}

mf_Status mf_app_find_gait(const char *robot, const char *gait, char out[MF_APP_PATH],
                           mf_Error *error) {
    char folder[MF_APP_PATH], known[400], near[90];
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
    nearest_gait(folder, gait, near, sizeof near);
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

mf_Status mf_app_load_gait(mf_Context *context, const char *robot, const char *gait,
                           const mf_Model *model, const char *command, mf_Gait **out,
                           double value[3], mf_Error *error) {
    char file[MF_APP_PATH];
    mf_Status status = mf_app_find_gait(robot, gait, file, error);
    if (status == MF_OK)
        status = mf_gait_load(context, file, model, out, error);
    if (status != MF_OK)
        return status;
    mf_app_command(command, value);
    if (command == NULL)
        value[0] = 0.5 * ((*out)->kind == MF_GAIT_WALK    ? (*out)->walk.pace.forward
                          : (*out)->kind == MF_GAIT_WAVES ? (*out)->waves.pace.forward
                                                          : 0.0);
    return MF_OK;
}
