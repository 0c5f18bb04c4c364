// Items on links: what all kinds have in common.
#include "model/mounted.h"
#include "base/text.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define BEGINS(item, kind, type)                                                                   \
    _Static_assert(offsetof(type, name) == offsetof(mf_Mounted, head.name) &&                      \
                       offsetof(type, frame) == offsetof(mf_Mounted, head.frame),                  \
                   #type " begins with name and frame");
MF_MOUNTED_KINDS(BEGINS)

#define ROW(item, name, type) &mf_##name##_kind,
const mf_MountedKind *const mf_mounted_kinds[MF_MOUNTED_COUNT] = {MF_MOUNTED_KINDS(ROW)};

bool mf_model_is_module(const mf_Model *model) {
    uint32_t count = 0;
    for (int k = 0; k < MF_MOUNTED_COUNT && count == 0; k++)
        if (mf_mounted_kinds[k]->joins)
            mf_model_items(model, mf_mounted_kinds[k]->type, &count);
    return count > 0;
}

// ---- checks -------------------------------------------------------------------------------------

mf_Status mf_mounted_check_ranges(const mf_MountedRange *rows, size_t count, const char *what,
                                  mf_Error *error) {
    for (size_t i = 0; i < count; i++)
        if (!(rows[i].value >= rows[i].least && rows[i].value <= rows[i].most))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s %s: expected %s, found %g", what,
                           rows[i].name, rows[i].expected, rows[i].value);
    return MF_OK;
}

mf_Status mf_mounted_check_frame(const mf_Frame *frame, const char *what, mf_Error *error) {
    const double *q = frame->rotation;
    const double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (mf_all_finite(frame->position, 3) && size > 0.98 && size < 1.02)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "%s frame: expected finite numbers and a quaternion of length 1", what);
}

mf_Status mf_mounted_check(const mf_MountedKind *kind, const void *item, const char *what,
                           mf_Error *error) {
    const char *name = mf_item_table(kind->type)->name;
    MF_NEED(item != NULL && what != NULL, error, "mf_%s_check: %s or what is NULL", name, name);
    return kind->check(item, what, error);
}

// ---- in drafts ----------------------------------------------------------------------------------

mf_Status mf_draft_mount(mf_Draft *draft, const mf_MountedKind *kind, const void *item,
                         const char *what, mf_Error *error) {
    const mf_ItemType type = kind->type;
    const mf_ItemTable *table = mf_item_table(type);
    mf_Mounted copy;
    char own[32];
    MF_TRY(mf_mounted_check(kind, item, what, error));
    memcpy(&copy, item, table->size);
    const char **name = &copy.head.name;
    for (uint32_t i = mf_draft_list(draft, type)->count; **name == '\0' || *name == own; i++) {
        snprintf(own, sizeof own, "%s%u", table->name, i);
        *name = own;
        if (mf_draft_find(draft, type, own) == MF_NONE)
            break;
    }
    MF_NEED(mf_draft_find(draft, type, *name) == MF_NONE, error, "%s: two %ss are named '%.100s'",
            what, table->name, *name);
    mf_quat_normalize(copy.head.frame.rotation);
    return mf_draft_add(draft, type, &copy) != NULL
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "%s: no memory", what);
}
