#include "timeline.h"

#include <string.h>

#define CAPACITY 64u // [1] acts at first

mf_Timeline mf_timeline_begin(mf_Context *context) {
    return (mf_Timeline){.context = context};
}

void mf_timeline_free(mf_Timeline *timeline) {
    mf_release(timeline->context, timeline->acts);
    mf_release(timeline->context, timeline->kept);
    *timeline = mf_timeline_begin(timeline->context);
}

static bool reserve(mf_Timeline *timeline, uint32_t count) {
    if (count <= timeline->capacity)
        return true;
    uint32_t capacity = timeline->capacity > 0 ? timeline->capacity : CAPACITY;
    while (capacity < count)
        capacity *= 2;
    mf_Act *acts = capacity <= MF_TIMELINE_MOST
                       ? mf_allocate(timeline->context, capacity, sizeof *acts)
                       : NULL;
    if (acts == NULL)
        return false;
    if (timeline->count > 0)
        memcpy(acts, timeline->acts, timeline->count * sizeof *acts);
    mf_release(timeline->context, timeline->acts);
    timeline->acts = acts;
    timeline->capacity = capacity;
    return true;
}

bool mf_timeline_add(mf_Timeline *timeline, const mf_Act *act) {
    timeline->count = timeline->next;
    if (!reserve(timeline, timeline->count + 1))
        return false;
    timeline->acts[timeline->count++] = *act;
    timeline->next = timeline->count;
    return true;
}

uint32_t mf_timeline_before(const mf_Timeline *timeline, uint64_t step) {
    uint32_t count = timeline->count;
    while (count > 0 && timeline->acts[count - 1].step >= step)
        count--;
    return count;
}

bool mf_timeline_keep(mf_Timeline *timeline, uint64_t step) {
    mf_Act *kept = mf_allocate(timeline->context, timeline->next + 1u, sizeof *kept);
    if (kept == NULL)
        return false;
    if (timeline->next > 0)
        memcpy(kept, timeline->acts, timeline->next * sizeof *kept);
    mf_release(timeline->context, timeline->kept);
    timeline->kept = kept;
    timeline->kept_count = timeline->next;
    timeline->kept_step = step;
    timeline->has_kept = true;
    return true;
}

bool mf_timeline_return(mf_Timeline *timeline) {
    if (!timeline->has_kept || !reserve(timeline, timeline->kept_count))
        return false;
    if (timeline->kept_count > 0)
        memcpy(timeline->acts, timeline->kept, timeline->kept_count * sizeof *timeline->kept);
    timeline->count = timeline->next = timeline->kept_count;
    return true;
}
