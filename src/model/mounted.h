// Items on links, with a name and a frame: one row here and one file for each kind. Drafts, hashes,
// descriptions, importers and exporters go by the rows.
#pragma once

#include "base/text.h"
#include "model/draft.h"

// The kinds: the type of item, its name, which is that of elements and files too, and the
// structure, which begins with the name and the frame.
#define MF_MOUNTED_KINDS(X) X(DOCK, dock, mf_Dock) X(CAMERA, camera, mf_Camera)

typedef union mf_Mounted {
    struct {
        const char *name;
        mf_Frame frame;
    } head; // how all of them begin
#define MF_MOUNTED_MEMBER(item, name, type) type name;
    MF_MOUNTED_KINDS(MF_MOUNTED_MEMBER)
} mf_Mounted;

typedef struct mf_MountedKind {
    mf_ItemType type;
    bool joins;        // robots with one are modules: they move, and run-time joints join them
    bool mjcf_element; // MJCF has an element for it, which leaves out some of its properties
    // MF_BAD_ARGUMENT, beginning with `what`, unless every value is in its range.
    mf_Status (*check)(const void *item, const char *what, mf_Error *error);
    void (*describe)(mf_Text *out, const void *item); // one line on what it is
} mf_MountedKind;

#define MF_MOUNTED_NUMBER(item, name, type) MF_MOUNTED_##item,
enum { MF_MOUNTED_KINDS(MF_MOUNTED_NUMBER) MF_MOUNTED_COUNT };
#define MF_MOUNTED_KIND(item, name, type) extern const mf_MountedKind mf_##name##_kind;
MF_MOUNTED_KINDS(MF_MOUNTED_KIND)
extern const mf_MountedKind *const mf_mounted_kinds[MF_MOUNTED_COUNT];

// Whether a model has items that join its robots.
bool mf_model_is_module(const mf_Model *model);

// A number of an item, and its range, in which NaN is not.
typedef struct mf_MountedRange {
    const char *name;
    double value, least, most;
    const char *expected;
} mf_MountedRange;

mf_Status mf_mounted_check_ranges(const mf_MountedRange *rows, size_t count, const char *what,
                                  mf_Error *error);
mf_Status mf_mounted_check_frame(const mf_Frame *frame, const char *what, mf_Error *error);
// The kind's check, of an item that may be NULL.
mf_Status mf_mounted_check(const mf_MountedKind *kind, const void *item, const char *what,
                           mf_Error *error);

// Adds a copy of an item, checked, with a name of its own if it has none; errors begin with `what`.
// MF_BAD_ARGUMENT, MF_NO_MEMORY.
mf_Status mf_draft_mount(mf_Draft *draft, const mf_MountedKind *kind, const void *item,
                         const char *what, mf_Error *error);

// Whether two docks fit each other: genders and types.
bool mf_dock_fits(const mf_Dock *first, const mf_Dock *second);
