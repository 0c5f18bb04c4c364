// Links that fixed run-time joints hold together, one behind the other: they do not touch each
// other. A table of links by open addressing, listed anew in each step; links of a cluster lead to
// the same one (Galler and Fischer 1964).
#include "solve/joints.h"

#include <string.h>

static uint64_t key_of(const uint32_t ends[3]) {
    return mf_solver_key(ends[0], ends[1], ends[2]) + 1; // not 0
}

// Where a link is in the table, or the free place for it.
static uint32_t index_of(const mf_WorldJoints *all, uint64_t key) {
    const uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & (all->weld_capacity - 1);
    while (all->welds[at].key != 0 && all->welds[at].key != key)
        at = (at + 1) & (all->weld_capacity - 1);
    return at;
}

static uint32_t root_of(const mf_WorldJoints *all, uint32_t at) {
    while (all->welds[at].leads != at)
        at = all->welds[at].leads;
    return at;
}

mf_Status mf_joints_ensure_weld_capacity(mf_WorldJoints *all, uint32_t joints, mf_Error *error) {
    uint32_t capacity = 16;
    while (capacity < 4 * joints)
        capacity *= 2;
    if (capacity <= all->weld_capacity)
        return MF_OK;
    mf_WeldedLink *welds = mf_allocate(all->context, capacity, sizeof *welds);
    if (welds == NULL)
        return mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", joints);
    mf_release(all->context, all->welds);
    all->welds = welds;
    all->weld_capacity = capacity;
    all->weld_count = 0;
    return MF_OK;
}

static uint32_t enter(mf_WorldJoints *all, const mf_JointRecord *record, uint32_t side) {
    const uint64_t key =
        key_of((uint32_t[]){record->group[side], record->instance[side], record->link[side]});
    const uint32_t at = index_of(all, key);
    if (all->welds[at].key == 0)
        all->welds[at] = (mf_WeldedLink){key, at};
    const uint32_t root = root_of(all, at);
    for (uint32_t i = at; i != root;) { // short ways for the next ones
        const uint32_t next = all->welds[i].leads;
        all->welds[i].leads = root;
        i = next;
    }
    return root;
}

void mf_joints_list_welds(mf_WorldJoints *all) {
    if (all->weld_capacity == 0)
        return;
    if (all->weld_count > 0)
        memset(all->welds, 0, all->weld_capacity * sizeof *all->welds);
    all->weld_count = 0;
    for (uint32_t slot = 0; slot < all->used; slot++) {
        const mf_JointRecord *record = &all->records[slot];
        if (!record->exists || !record->enabled || record->broken ||
            record->kind != MF_WORLD_JOINT_FIXED || record->group[0] == MF_NONE ||
            record->group[1] == MF_NONE)
            continue;
        const uint32_t first = enter(all, record, 0), second = enter(all, record, 1);
        all->welds[second].leads = first;
        all->weld_count++;
    }
}

bool mf_joints_weld(const mf_WorldJoints *all, const uint32_t first[3], const uint32_t second[3]) {
    if (all->weld_count == 0)
        return false;
    const uint32_t a = index_of(all, key_of(first)), b = index_of(all, key_of(second));
    return all->welds[a].key != 0 && all->welds[b].key != 0 && root_of(all, a) == root_of(all, b);
}
