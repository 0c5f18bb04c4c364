// Compiled gaits as one flat image: each gait is an image by itself, and the set holds them one
// after the other.
#include "control/gait.h"

#include <string.h>

static mf_Status pack_one(mf_Context *context, mf_GaitDraft *draft, void **out, mf_Error *error) {
    mf_GaitPlan *plan = &draft->plan;
    const size_t curves = (size_t)plan->segment_count * plan->count * 4;
    const mf_FlatPart parts[] = {MF_FLAT_PART(plan, joints, draft->joints, plan->count),
                                 MF_FLAT_PART(plan, lower, draft->lower, plan->count),
                                 MF_FLAT_PART(plan, upper, draft->upper, plan->count),
                                 MF_FLAT_PART(plan, pose, draft->pose, plan->count),
                                 MF_FLAT_PART(plan, tones, draft->tones, plan->tone_count),
                                 MF_FLAT_PART(plan, times, draft->times, plan->segment_count + 1),
                                 MF_FLAT_PART(plan, curves, draft->curves, curves)};
    return mf_flat_pack(context, plan, sizeof *plan, parts, sizeof parts / sizeof *parts, out,
                        error);
}

// The images of all drafts, one after the other; `starts` gets where each begins.
static mf_Status pack_all(mf_Context *context, mf_GaitDraft *drafts, uint32_t count,
                          uint32_t *starts, char **out, size_t *bytes, mf_Error *error) {
    *out = NULL;
    *bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        void *image;
        MF_TRY(pack_one(context, &drafts[i], &image, error));
        const size_t size = drafts[i].plan.bytes;
        char *longer = mf_allocate(context, 1, *bytes + size);
        if (longer != NULL) {
            if (*bytes > 0)
                memcpy(longer, *out, *bytes);
            memcpy(longer + *bytes, image, size);
        }
        mf_release(context, image);
        mf_release(context, *out);
        *out = longer;
        if (longer == NULL || *bytes + size > UINT32_MAX)
            return mf_fail(error, longer == NULL ? MF_NO_MEMORY : MF_LIMIT,
                           "gaits: no memory for them, or 4 GiB and more");
        starts[i] = (uint32_t)*bytes;
        *bytes += size;
    }
    return MF_OK;
}

mf_Status mf_gait_set_create(mf_Context *context, mf_GaitDraft *drafts, uint32_t count,
                             const mf_GaitSet **out, mf_Error *error) {
    uint32_t starts[MF_GAIT_LIMIT];
    mf_GaitSet set = {.count = count};
    char *plans;
    size_t bytes;
    mf_Status status = pack_all(context, drafts, count, starts, &plans, &bytes, error);
    if (status == MF_OK) {
        const mf_FlatPart parts[] = {MF_FLAT_PART(&set, starts, starts, count),
                                     MF_FLAT_PART(&set, plans, plans, bytes)};
        void *image;
        status = mf_flat_pack(context, &set, sizeof set, parts, 2, &image, error);
        *out = image;
    }
    mf_release(context, plans);
    return status;
}
