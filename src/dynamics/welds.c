// Pairs of links that fixed run-time joints hold together: they do not touch each other. A table
// from both links to the joint, by open addressing, listed anew in each step.
#include "dynamics/joints.h"

#include <string.h>

static uint64_t key_of(const uint32_t ends[3]) {
    return (uint64_t)ends[0] << 56 ^ (uint64_t)ends[1] << 24 ^ ends[2];
}

// The same for both orders of the links.
static uint32_t place_of(const mf_WorldJoints *all, uint64_t a, uint64_t b) {
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    const uint64_t hash =
        (low * UINT64_C(0x9e3779b97f4a7c15) ^ high) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(hash >> 32) & (all->weld_room - 1);
}

static void keys_of(const mf_JointRecord *record, uint64_t out[2]) {
    for (uint32_t s = 0; s < 2; s++)
        out[s] = key_of((uint32_t[]){record->group[s], record->instance[s], record->link[s]});
}

mf_Status mf_joints_make_weld_room(mf_WorldJoints *all, uint32_t joints, mf_Error *error) {
    uint32_t room = 16;
    while (room < 2 * joints)
        room *= 2;
    if (room <= all->weld_room)
        return MF_OK;
    uint32_t *welds = mf_allocate(all->context, room, sizeof *welds);
    if (welds == NULL)
        return mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", joints);
    mf_release(all->context, all->welds);
    all->welds = welds;
    all->weld_room = room;
    all->weld_count = 0;
    return MF_OK;
}

void mf_joints_list_welds(mf_WorldJoints *all) {
    if (all->weld_room == 0)
        return;
    if (all->weld_count > 0)
        memset(all->welds, 0, all->weld_room * sizeof *all->welds);
    all->weld_count = 0;
    for (uint32_t slot = 0; slot < all->used; slot++) {
        const mf_JointRecord *record = &all->records[slot];
        uint64_t keys[2];
        if (!record->exists || !record->enabled || record->broken ||
            record->kind != MF_WORLD_JOINT_FIXED || record->group[0] == MF_NONE ||
            record->group[1] == MF_NONE)
            continue;
        keys_of(record, keys);
        uint32_t at = place_of(all, keys[0], keys[1]);
        while (all->welds[at] != 0)
            at = (at + 1) & (all->weld_room - 1);
        all->welds[at] = slot + 1;
        all->weld_count++;
    }
}

bool mf_joints_weld(const mf_WorldJoints *all, const uint32_t first[3], const uint32_t second[3]) {
    const uint64_t a = key_of(first), b = key_of(second);
    if (all->weld_count == 0)
        return false;
    for (uint32_t at = place_of(all, a, b); all->welds[at] != 0;
         at = (at + 1) & (all->weld_room - 1)) {
        uint64_t keys[2];
        keys_of(&all->records[all->welds[at] - 1], keys);
        if ((keys[0] == a && keys[1] == b) || (keys[0] == b && keys[1] == a))
            return true;
    }
    return false;
}
