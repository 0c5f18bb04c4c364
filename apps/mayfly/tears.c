#include "tears.h"

#include <mayfly/cloth.h>
#include <stdio.h>

// False: the cloths of the group do not tear.
static bool count_tears(const mf_Group *group, uint64_t *torn, uint64_t *of) {
    mf_Group *own = (mf_Group *)(uintptr_t)group;
    const mf_Field *elements = mf_group_find_field(own, "cloth.torn");
    const mf_Field *tears = mf_group_find_field(own, "cloth.tears");
    if (elements == NULL || tears == NULL)
        return false;
    *torn = 0;
    *of = (uint64_t)elements->components * mf_group_count(group);
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        *torn += (uint64_t)mf_field_get(tears, i, 0);
    return true;
}

void mf_tears_print(const mf_Group *group, const char *name) {
    uint64_t torn, of;
    mf_ClothShape shape;
    if (!count_tears(group, &torn, &of) || !mf_cloth_shape_of(group, &shape))
        return;
    printf("torn      %s%s%llu of %llu %s\n", name == NULL ? "" : name, name == NULL ? "" : ": ",
           (unsigned long long)torn, (unsigned long long)of,
           shape.counts[0] > 0 ? "edges" : "triangles");
}

json_t *mf_tears_pack(const mf_Group *group) {
    uint64_t torn, of;
    return count_tears(group, &torn, &of) ? json_integer((json_int_t)torn) : json_null();
}
