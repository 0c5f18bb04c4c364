// Docks and cameras of a model: items with a name and a frame on a link.
#pragma once

#include "model/draft.h"

typedef union mf_Mounted {
    struct {
        const char *name;
        mf_Frame frame;
    } head; // how all of them begin
    mf_Dock dock;
    mf_Camera camera;
} mf_Mounted;

// MF_BAD_ARGUMENT, beginning with `what`, unless every value of an item is in its range.
mf_Status mf_mounted_check(mf_ItemType type, const void *item, const char *what, mf_Error *error);

// Adds a copy of an item, checked, with a name of its own if it has none; errors begin with `what`.
// MF_BAD_ARGUMENT, MF_NO_MEMORY.
mf_Status mf_draft_mount(mf_Draft *draft, mf_ItemType type, const void *item, const char *what,
                         mf_Error *error);

// Whether two docks fit each other: genders and types.
bool mf_dock_fits(const mf_Dock *first, const mf_Dock *second);
