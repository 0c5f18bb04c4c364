// What sensors and controllers have in common when they are added to a group: checks that come
// before anything is changed, and fields that survive a failed attempt so that it can be repeated.
#ifndef MF_WORLD_ATTACH_H
#define MF_WORLD_ATTACH_H

#include <mayfly/world.h>

// The rate is two positive numbers and the group has no system named `name` yet.
mf_Status mf_attach_check(const mf_Group *group, const char *name, mf_Rate rate, mf_Error *error);

// The group's field of that name, added when it is missing. MF_BAD_ARGUMENT when there is one of
// another type or size.
mf_Status mf_attach_field(mf_Group *group, const mf_FieldInfo *info, uint32_t count, mf_Field **out,
                          mf_Error *error);

// The group's field of that name, or MF_NOT_FOUND with `advice`.
mf_Status mf_attach_find(mf_Group *group, const char *name, const char *advice, mf_Field **out,
                         mf_Error *error);

// Gives the system `name` of the group another hash of its settings, after they changed.
void mf_attach_rehash(mf_Group *group, const char *name, uint64_t settings_hash);

// Memory from mf_allocate that begins with a mf_Kept and that the group releases last of all: the
// texts of fields that are no literals.
typedef struct mf_Kept {
    struct mf_Kept *next;
} mf_Kept;
void mf_attach_keep(mf_Group *group, mf_Kept *kept);

// `destroy` of systems whose `user` is one allocation.
void mf_attach_release(mf_Context *context, void *user);

#endif
