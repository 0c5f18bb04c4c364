#include "view_show.h"

#include "notes.h"
#include "run_scripts.h"
#include "view_files.h"

#include <stdio.h>
#include <string.h>

// ---- a scene -----------------------------------------------------------------------------------

mf_Status mf_show_start_scripts(mf_Show *show, mf_Error *error) {
    show->scripts_ended = false;
    return mf_scene_start_scripts(&show->scene, error);
}

// The best robot of the newest generation of a run.
static mf_Status load_champion(mf_Show *show, const mf_Inputs *inputs, const char *name,
                               mf_Error *error) {
    mf_Stored *stored = &show->stored;
    MF_TRY(mf_stored_open(show->viewer.context, name, stored, error));
    MF_TRY(mf_stored_find(stored, NULL, 0, error));
    MF_TRY(mf_stored_scene(stored, inputs, "view", inputs->motion, 1, &show->file, &show->scene,
                           error));
    printf("champion  individual %llu of %s, fitness %.4g %s\n",
           (unsigned long long)stored->individual.id, name, stored->individual.fitness,
           mf_fitness_unit(show->file->fitness));
    return MF_OK;
}

static mf_Status load(mf_Show *show, const mf_Inputs *inputs, const char *name, bool levels,
                      mf_Error *error) {
    return mf_stored_is(name) ? load_champion(show, inputs, name, error)
                              : mf_inputs_scene(show->viewer.context, inputs, "view", name, levels,
                                                &show->file, &show->scene, error);
}

static mf_Status build(mf_Show *show, const mf_Inputs *inputs, const char *name,
                       mf_SessionFile *again, mf_Error *error) {
    mf_Viewer *viewer = &show->viewer;
    mf_Scene *scene = &show->scene;
    MF_TRY(load(show, inputs, name, again->text == NULL || again->levels, error));
    viewer->scene = scene;
    viewer->driver = &mf_show_driver;
    viewer->user = show;
    viewer->speed = 1.0;
    viewer->every = 1;
    show->step = mf_time_to_seconds(scene->step);
    show->end = UINT64_MAX;
    MF_TRY(mf_show_start_scripts(show, error));
    mf_Status status = mf_film_create_live(scene->world, show->file->name, scene->colors,
                                           scene->joints, &viewer->film, error);
    MF_THEN(status, mf_film_color_circles(viewer->film, scene, error));
    MF_THEN(status, mf_session_begin(viewer->context, scene, &show->session, error));
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
    MF_NEED_MEMORY(show != NULL, error, "view");
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
    mf_stored_close(&show->stored);
    mf_text_free(&show->page);
    mf_text_free(&show->description);
    mf_release(context, show);
}

// ---- files that were dropped --------------------------------------------------------------------

mf_Status mf_show_dropped(mf_Context *context, const mf_ViewDrop *drop, mf_Show **out,
                          mf_Error *error) {
    const mf_Inputs inputs = {.seed = NULL};
    mf_SessionFile again = {.context = context};
    mf_DropFolder folder;
    *out = NULL;
    mf_plugins_allow(context, false); // it came from a page
    mf_Status status = mf_drop_write(drop, &folder, error);
    MF_THEN(status, mf_show_create(context, &inputs, folder.main, &again, out, error));
    mf_drop_remove(&folder);
    if (status != MF_OK)
        mf_drop_shorten(&folder, error);
    return status;
}

void mf_show_missing(const mf_Show *show, char *line, size_t size) {
    const char *first = NULL;
    uint32_t count = 0;
    for (uint32_t g = 0; g < show->scene.group_count; g++) {
        const mf_Model *model = show->scene.models[g];
        for (uint32_t i = 0; model != NULL && i < model->note_count; i++) {
            if (strstr(model->notes[i].text, "not found") == NULL)
                continue;
            first = first != NULL ? first : model->notes[i].text;
            count++;
        }
    }
    if (count == 0)
        snprintf(line, size, "loaded");
    else if (count == 1)
        snprintf(line, size, "loaded; %s", first);
    else
        snprintf(line, size, "loaded; %s (and %u more)", first, count - 1);
}
