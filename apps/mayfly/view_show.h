// A world that is shown: its scene, what pages do to it, and the texts that pages get first.
#ifndef MAYFLY_APP_VIEW_SHOW_H
#define MAYFLY_APP_VIEW_SHOW_H

#include "inputs.h"
#include "view.h"

typedef struct mf_Show {
    mf_SceneFile *file;
    mf_Scene scene;
    const char *colors[MF_SCENE_GROUPS];
    mf_Viewer viewer;
    mf_Text page;        // HTML
    mf_Text description; // of what is drawn, JSON
} mf_Show;

// Loads the scene or robot `name` and builds its world; `again`, if it holds a session, is done
// again. MF_BAD_ARGUMENT with an empty message: as mf_inputs_load.
mf_Status mf_show_create(mf_Context *context, const mf_Inputs *inputs, const char *name,
                         mf_SessionFile *again, mf_Show **out, mf_Error *error);
void mf_show_destroy(mf_Show *show); // NULL is allowed

// A file that was dropped on a page, `size` bytes of `data`: the world of the scene or robot in it,
// built from a copy in a folder of its own, without the plugins that it may name.
mf_Status mf_show_dropped(mf_Context *context, const char *name, const char *data, size_t size,
                          mf_Show **out, mf_Error *error);

#endif
