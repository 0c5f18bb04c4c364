// Structures that are moved and written as one block of bytes (flat.h).
#include "base/flat.h"

#include <string.h>

static uint64_t aligned(uint64_t bytes) {
    return (bytes + MF_FLAT_ALIGNMENT - 1) / MF_FLAT_ALIGNMENT * MF_FLAT_ALIGNMENT;
}

static bool is_empty(const mf_FlatPart *part) {
    return part->data == NULL || part->bytes == 0;
}

mf_Status mf_flat_pack(mf_Context *context, void *structure, size_t bytes, const mf_FlatPart *parts,
                       uint32_t part_count, void **out, mf_Error *error) {
    uint64_t total = aligned(bytes);
    for (uint32_t p = 0; p < part_count; p++) {
        *parts[p].at = is_empty(&parts[p]) ? 0 : (uint32_t)total;
        if (!is_empty(&parts[p]))
            total += aligned(parts[p].bytes);
        if (total > UINT32_MAX)
            return mf_fail(error, MF_LIMIT, "a flat image has 4 GiB or more");
    }
    char *image = mf_allocate(context, 1, total);
    *out = image;
    if (image == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory for %llu bytes",
                       (unsigned long long)total);
    *(uint32_t *)structure = (uint32_t)total;
    memcpy(image, structure, bytes);
    for (uint32_t p = 0; p < part_count; p++)
        if (!is_empty(&parts[p]))
            memcpy(image + *parts[p].at, parts[p].data, parts[p].bytes);
    return MF_OK;
}
