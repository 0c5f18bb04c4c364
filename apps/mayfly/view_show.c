#include "view_show.h"

#include "start_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- a scene -----------------------------------------------------------------------------------

static mf_Status build(mf_Show *show, const mf_Inputs *inputs, const char *name,
                       mf_SessionFile *again, mf_Error *error) {
    mf_Viewer *viewer = &show->viewer;
    mf_Scene *scene = &show->scene;
    mf_Status status =
        mf_inputs_scene(viewer->context, inputs, "view", name, again->text == NULL || again->levels,
                        false, &show->file, scene, error);
    if (status != MF_OK)
        return status;
    viewer->scene = scene;
    viewer->driver = &mf_show_driver;
    viewer->user = show;
    viewer->speed = 1.0;
    viewer->every = 1;
    show->step = mf_time_to_seconds(scene->step);
    show->end = UINT64_MAX;
    mf_scene_colors(scene, show->colors);
    status = mf_film_create_live(scene->world, show->file->name, show->colors, scene->joints,
                                 &viewer->film, error);
    if (status == MF_OK)
        status = mf_session_begin(viewer->context, scene, &show->session, error);
    if (status == MF_OK && again->text != NULL)
        status = mf_session_load(&show->session, again, error);
    return status == MF_OK
               ? mf_view_texts(viewer, show->file->name, &show->page, &show->description, error)
               : status;
}

mf_Status mf_show_create(mf_Context *context, const mf_Inputs *inputs, const char *name,
                         mf_SessionFile *again, mf_Show **out, mf_Error *error) {
    mf_StartReport report;
    mf_Show *show = mf_allocate(context, 1, sizeof *show);
    *out = NULL;
    if (show == NULL)
        return mf_fail(error, MF_NO_MEMORY, "view: out of memory");
    show->page = show->description = mf_text_begin(context);
    show->viewer.context = show->session.context = context;
    mf_Status status = build(show, inputs, name, again, error);
    if (status != MF_OK) {
        mf_show_destroy(show);
        return status;
    }
    mf_start_report(&show->scene, &report);
    mf_start_report_print(&report);
    *out = show;
    return MF_OK;
}

void mf_show_destroy(mf_Show *show) {
    if (show == NULL)
        return;
    mf_Context *context = show->viewer.context;
    if (show->session.scene != NULL)
        mf_session_end(&show->session);
    mf_film_destroy(show->viewer.film);
    mf_scene_destroy(&show->scene);
    mf_scene_file_destroy(show->file);
    mf_text_free(&show->page);
    mf_text_free(&show->description);
    mf_release(context, show);
}

// ---- a file that was dropped -------------------------------------------------------------------

static bool is_plain(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._- ()+";
    return name[0] != '\0' && name[0] != '.' && strlen(name) < 128 &&
           name[strspn(name, allowed)] == '\0';
}

static mf_Status write_copy(const char *path, const char *data, size_t size, mf_Error *error) {
    FILE *file = fopen(path, "wb");
    const bool written = file != NULL && fwrite(data, 1, size, file) == size;
    const bool closed = file != NULL && fclose(file) == 0;
    return written && closed
               ? MF_OK
               : mf_fail(error, MF_UNSUPPORTED, "%s: cannot write: %s", path, strerror(errno));
}

// Messages name the file as it was dropped, not its copy.
static void shorten(char *text, const char *folder) {
    const size_t size = strlen(folder) + 1;
    for (char *at; (at = strstr(text, folder)) != NULL && strlen(at) >= size;)
        memmove(at, at + size, strlen(at + size) + 1);
}

mf_Status mf_show_dropped(mf_Context *context, const char *name, const char *data, size_t size,
                          mf_Show **out, mf_Error *error) {
    const mf_Inputs inputs = {.seed = NULL};
    mf_SessionFile again = {.context = context};
    const char *temporary = getenv("TMPDIR");
    char folder[MF_APP_PATH], path[MF_APP_PATH + 160];
    *out = NULL;
    if (!is_plain(name) || !(mf_app_ends_with(name, ".urdf") || mf_app_ends_with(name, ".xml") ||
                             mf_app_ends_with(name, ".yaml")))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "expected a robot (.urdf, .xml) or a scene (.yaml), found '%.100s'", name);
    snprintf(folder, sizeof folder, "%.3000s/mayfly-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL)
        return mf_fail(error, MF_UNSUPPORTED, "%.200s: cannot make a folder: %s", folder,
                       strerror(errno));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mf_plugins_allow(context, false); // it came from a page
    mf_Status status = write_copy(path, data, size, error);
    if (status == MF_OK)
        status = mf_show_create(context, &inputs, path, &again, out, error);
    unlink(path);
    rmdir(folder);
    if (status != MF_OK) {
        shorten(error->file, folder);
        shorten(error->message, folder);
    }
    return status;
}
