// Groups of few robots that move alike share lanes: a pack is a list of such groups, whose robots
// lie side by side in the block of the first one, its leader, while a system of their motion runs.
// So a thousand groups of one robot cost about as much as one group of a thousand. Their models may
// differ as far as their systems allow (mf_Alike).
//
// Method. The lanes of a leader's only block behind its own robots are free. Before the system runs
// the fields that it declares are copied from the members there; the leader's system runs with all
// lanes; what it declares to write is copied back. Systems that do not say that they are alike run
// group by group, in the same order. If all that run at every step are alike, several steps need
// one copy, and another for each run of the others.
//
// Invariants: between systems every robot's state is in its own group; a lane's result does not
// depend on the other lanes (math/kernel.h), so neither do results depend on packs.
#include "base/hash.h"
#include "world/group.h"
#include "world/inspect.h"

#include <string.h>

enum { LEAST_STEPS = 4 }; // [1] of fast systems: fewer take less time than to copy all fields twice
enum { KINDS = 8 };       // [1] of groups with one hash that are not alike, whose packs are open

// ---- making ------------------------------------------------------------------------------------

static bool shares_lanes(const mf_SystemSlot *slot) {
    return slot->alike != NULL && slot->alike->alike != NULL;
}

// Whether robots must leave the lanes of others at each step, or with all their fields.
static bool leaves_lanes(const mf_SystemSlot *slot) {
    const bool each_step = slot->every_step && !slot->unread;
    return !shares_lanes(slot) && slot->config.run != NULL &&
           (slot->alike == NULL || each_step || slot->config.reads == NULL ||
            slot->config.writes == NULL);
}

static bool can_stay(const mf_Group *group) {
    bool can = group->config.fault_policy != MF_FAULT_RESET;
    for (uint32_t s = 0; s < group->system_count; s++)
        can = can && !leaves_lanes(&group->systems[s]);
    return can;
}

// While systems measure their time each does so for its own group. Lanes that are shared for one
// step only pay for slow systems.
static bool may_join(const mf_Group *group) {
    const bool stays = group->config.isolated && can_stay(group);
    bool any = false;
    for (uint32_t s = 0; s < group->system_count; s++)
        any = any || (shares_lanes(&group->systems[s]) && (stays || group->systems[s].alike->slow));
    return any && group->own == NULL && !group->world->measured &&
           group->config.count <= MF_BLOCK / 2;
}

static uint64_t hash_of(const mf_Group *group) {
    const mf_GroupConfig *config = &group->config;
    const uint64_t numbers[] = {config->model->link_count, config->model->point_count,
                                config->isolated,          config->double_precision,
                                config->fault_policy,      group->field_count,
                                group->system_count};
    uint64_t hash = mf_hash_bytes(MF_HASH_START, numbers, sizeof numbers);
    for (uint32_t s = 0; s < group->system_count; s++)
        hash = mf_hash_bytes(hash, &group->systems[s].config.settings_hash, sizeof(uint64_t));
    return hash;
}

static bool same_system(const mf_SystemSlot *a, const mf_SystemSlot *b) {
    return a->config.run == b->config.run && a->config.phase == b->config.phase &&
           a->config.rate.numerator == b->config.rate.numerator &&
           a->config.rate.denominator == b->config.rate.denominator &&
           a->config.settings_hash == b->config.settings_hash && a->unread == b->unread &&
           a->alike == b->alike && memcmp(&a->reads, &b->reads, sizeof a->reads) == 0 &&
           memcmp(&a->writes, &b->writes, sizeof a->writes) == 0 &&
           (!shares_lanes(a) || a->alike->alike(a->config.user, b->config.user));
}

static bool same_field(const mf_Field *a, const mf_Field *b) {
    return strcmp(a->info.name, b->info.name) == 0 && a->info.type == b->info.type &&
           a->components == b->components && (a->remainder != NULL) == (b->remainder != NULL);
}

static bool is_alike(const mf_Group *a, const mf_Group *b) {
    bool alike = a->config.isolated == b->config.isolated &&
                 a->config.double_precision == b->config.double_precision &&
                 a->config.fault_policy == b->config.fault_policy &&
                 a->field_count == b->field_count && a->system_count == b->system_count;
    for (uint32_t f = 0; alike && f < a->field_count; f++)
        alike = same_field(&a->fields[f], &b->fields[f]);
    for (uint32_t s = 0; alike && s < a->system_count; s++)
        alike = same_system(&a->systems[s], &b->systems[s]);
    return alike;
}

// Whether the leader's systems have, from now on, the constants of the group for its lanes.
static bool give_lanes(mf_Group *leader, const mf_Group *group) {
    bool given = true;
    for (uint32_t s = 0; s < leader->system_count && given; s++) {
        const mf_SystemSlot *slot = &leader->systems[s];
        if (slot->alike != NULL && slot->alike->lanes != NULL)
            given = slot->alike->lanes(slot->config.user, group->systems[s].config.user,
                                       leader->pack_lanes, group->config.count);
    }
    return given;
}

static void take_lanes(const mf_Group *group) {
    for (uint32_t s = 0; s < group->system_count; s++) {
        const mf_SystemSlot *slot = &group->systems[s];
        if (slot->alike != NULL && slot->alike->lanes != NULL)
            slot->alike->lanes(slot->config.user, NULL, 0, 0);
    }
}

// Adds the group behind the last one of the pack.
static void join(mf_Group *leader, mf_Group *group) {
    mf_Group *last = leader;
    while (last->pack_next != NULL)
        last = last->pack_next;
    last->pack_next = group;
    group->pack_leader = leader;
    group->pack_lane = leader->pack_lanes;
    leader->pack_lanes += group->config.count;
}

// Where the last pack of groups that are alike is, or the entry for a new one: a free one or, of
// more than KINDS that have this hash, that of the last.
static uint32_t *find_open(mf_World *world, const mf_Group *group) {
    const uint32_t last = 2 * world->group_capacity - 1;
    uint32_t at = (uint32_t)group->pack_hash & last, kinds = 0, *open = NULL;
    for (; kinds < KINDS && world->open_packs[at] != 0; at = (at + 1) & last) {
        const mf_Group *leader = world->groups[world->open_packs[at] - 1];
        if (leader->pack_hash != group->pack_hash)
            continue;
        open = &world->open_packs[at];
        if (is_alike(leader, group))
            return open;
        kinds++;
    }
    return kinds < KINDS ? &world->open_packs[at] : open;
}

void mf_packs_make(mf_World *world) {
    if (world->packed || world->group_count == 0)
        return;
    world->packed = true;
    memset(world->open_packs, 0, 2 * (size_t)world->group_capacity * sizeof *world->open_packs);
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        group->pack_leader = group;
        group->pack_next = NULL;
        group->pack_lane = 0;
        group->pack_lanes = group->config.count;
        take_lanes(group);
        if (!may_join(group))
            continue;
        group->pack_hash = hash_of(group);
        uint32_t *open = find_open(world, group);
        mf_Group *leader = *open != 0 ? world->groups[*open - 1] : NULL;
        if (leader != NULL && leader->pack_lanes + group->config.count <= MF_BLOCK &&
            is_alike(leader, group) && give_lanes(leader, group))
            join(leader, group);
        else
            *open = g + 1;
    }
}

// ---- running -----------------------------------------------------------------------------------

// Copies a field's values of all members to the leader's lanes, or back.
static void copy_rows(char *leader, char *member, uint32_t rows, size_t size, uint32_t lane,
                      uint32_t count, bool back) {
    for (uint32_t c = 0; c < rows; c++) {
        char *packed = leader + (c * MF_BLOCK + lane) * size, *own = member + c * MF_BLOCK * size;
        if (size == 4 && count == 1) // the common case, without a call
            memcpy(back ? own : packed, back ? packed : own, 4);
        else
            memcpy(back ? own : packed, back ? packed : own, count * size);
    }
}

// `sets` NULL: all fields.
static void copy_fields(const mf_Group *leader, const mf_FieldSet *sets[2], bool back) {
    for (const mf_Group *member = leader->pack_next; member != NULL; member = member->pack_next)
        for (uint32_t f = 0; f < leader->field_count; f++) {
            const mf_Field *packed = &leader->fields[f], *own = &member->fields[f];
            const size_t size = mf_field_value_size(packed->info.type);
            bool listed = sets == NULL;
            for (int i = 0; i < 2 && !listed; i++)
                listed = sets[i] != NULL && (sets[i]->words[f / 64] >> f % 64 & 1) != 0;
            if (!listed)
                continue;
            copy_rows(packed->data, own->data, own->components, size, member->pack_lane,
                      member->config.count, back);
            if (own->remainder != NULL)
                copy_rows(packed->remainder, own->remainder, own->components, size,
                          member->pack_lane, member->config.count, back);
        }
}

// The leader with all lanes.
static mf_Group packed_view(const mf_Group *leader) {
    mf_Group view;
    memcpy(&view, leader, sizeof view);
    view.config.count = leader->pack_lanes;
    view.pack_inside = true;
    return view;
}

static void run_each(mf_Group *leader, uint32_t system, const mf_SystemRun *run) {
    mf_SystemRun own = *run;
    for (own.group = leader; own.group != NULL; own.group = own.group->pack_next)
        mf_system_run(&own.group->systems[system], &own);
}

void mf_pack_run(mf_Group *leader, uint32_t system, const mf_SystemRun *run) {
    mf_SystemSlot *slot = &leader->systems[system];
    const mf_FieldSet *in[2] = {&slot->reads, &slot->writes}, *out[2] = {&slot->writes, NULL};
    mf_SystemRun own = *run;
    if (leader->pack_inside && shares_lanes(slot)) {
        mf_system_run(slot, run);
    } else if (leader->pack_inside) {
        copy_fields(leader, in, true);
        run_each(leader->pack_leader, system, run);
        copy_fields(leader, out, false);
    } else if (leader->pack_next == NULL || !shares_lanes(slot) || !slot->alike->slow) {
        run_each(leader, system, run);
    } else {
        mf_Group view = packed_view(leader);
        own.group = &view;
        copy_fields(leader, in, false);
        mf_system_run(slot, &own);
        copy_fields(leader, out, true);
    }
}

bool mf_pack_stays(const mf_Group *leader, uint64_t steps) {
    bool slow = false;
    for (uint32_t s = 0; s < leader->system_count; s++)
        slow = slow || (shares_lanes(&leader->systems[s]) && leader->systems[s].alike->slow);
    return steps >= (slow ? 2 : LEAST_STEPS) && leader->pack_next != NULL && can_stay(leader);
}

mf_Group mf_pack_begin(const mf_Group *leader) {
    copy_fields(leader, NULL, false);
    return packed_view(leader);
}

void mf_pack_end(const mf_Group *leader) {
    copy_fields(leader, NULL, true);
}
