// Systems of a group: declared fields, conflicts, and which systems may run in parallel.
//
// Within a phase, a system is in wave 0, or in the wave after the last earlier system of that phase
// with which it conflicts: one of the two writes what the other reads or writes, or one declares
// nothing. So two systems of one wave never conflict, and of two that conflict the one that was
// added first runs first, for any order within the waves.
//
// Invariants: systems are ordered by phase, then by addition; the names of a slot are fields that
// the group has; no two systems of a phase write one field unless they declare that they belong
// together, or the field consists of bits that any system may raise.
#include "base/clock.h"
#include "base/floats.h"
#include "base/text.h"
#include "world/attach.h"
#include "world/group.h"
#include "world/systems.h"

#include <string.h>

static const char *const phase_names[] = {"sense", "control", "motion", "after"};

mf_SystemConfig mf_system_config(void) {
    return (mf_SystemConfig){
        .struct_size = sizeof(mf_SystemConfig), .name = "system", .phase = MF_PHASE_CONTROL};
}

const char *mf_phase_name(mf_Phase phase) {
    return (unsigned)phase < sizeof phase_names / sizeof *phase_names ? phase_names[phase]
                                                                      : "unknown";
}

mf_Status mf_world_check_rate(const mf_World *world, const char *what, mf_Rate rate,
                              mf_Error *error) {
    if (rate.numerator == 0 && rate.denominator == 0)
        return MF_OK;
    if (!(rate.numerator > 0 && rate.denominator > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "system %s: rate, need two positive numbers", what);
    if ((__int128)rate.numerator * world->config.step <= (__int128)rate.denominator * MF_SECOND)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "system %s: ticks every %.9g s, expected at least the world's step of %.9g s",
                   what, (double)rate.denominator / (double)rate.numerator,
                   mf_time_to_seconds(world->config.step));
}

// ---- declarations ------------------------------------------------------------------------------

// Allocates both lists, each twice: as declared, and restricted to fields that the group has.
static mf_Status take_names(mf_Context *context, mf_SystemSlot *slot, mf_Error *error) {
    const mf_SystemConfig *config = &slot->config;
    uint32_t reads = mf_name_count(config->reads), writes = mf_name_count(config->writes);
    slot->names = mf_allocate(context, 2 * ((size_t)reads + writes + 2), sizeof *slot->names);
    if (slot->names == NULL)
        return mf_fail(error, MF_NO_MEMORY, "system %s: out of memory", config->name);
    const char **declared_writes = slot->names + reads + 1;
    for (uint32_t i = 0; i < reads; i++)
        slot->names[i] = config->reads[i];
    for (uint32_t i = 0; i < writes; i++)
        declared_writes[i] = config->writes[i];
    return MF_OK;
}

// Writes the names in `declared` that the group has to `out`, NULL-terminated, and to the set.
static mf_Status resolve_list(const mf_Group *group, const char *system,
                              const char *const *declared, const char **out, mf_FieldSet *set,
                              mf_Error *error) {
    memset(set, 0, sizeof *set);
    for (; *declared != NULL; declared++) {
        const char *name = **declared == '?' ? *declared + 1 : *declared;
        uint32_t f = 0;
        while (f < group->field_count && strcmp(group->fields[f].info.name, name) != 0)
            f++;
        if (f < group->field_count) {
            set->words[f / 64] |= UINT64_C(1) << f % 64;
            *out++ = name;
        } else if (**declared != '?') {
            return mf_fail(error, MF_NOT_FOUND, "system %s: group %s has no field %s", system,
                           group->config.name, name);
        }
    }
    *out = NULL;
    return MF_OK;
}

static mf_Status resolve(const mf_Group *group, mf_SystemSlot *slot, mf_Error *error) {
    mf_SystemConfig *config = &slot->config;
    const char **declared_reads = slot->names;
    const char **declared_writes = declared_reads + mf_name_count(declared_reads) + 1;
    const char **reads = declared_writes + mf_name_count(declared_writes) + 1;
    const char **writes = reads + (declared_writes - declared_reads);
    mf_Status status =
        resolve_list(group, config->name, declared_reads, reads, &slot->reads, error);
    MF_THEN(status,
            resolve_list(group, config->name, declared_writes, writes, &slot->writes, error));
    if (config->reads != NULL)
        config->reads = reads;
    if (config->writes != NULL)
        config->writes = writes;
    return status;
}

// ---- conflicts of systems ----------------------------------------------------------------------

static bool overlap(const mf_FieldSet *a, const mf_FieldSet *b) {
    uint64_t common = 0;
    for (int i = 0; i < MF_FIELD_WORDS; i++)
        common |= a->words[i] & b->words[i];
    return common != 0;
}

static bool conflict(const mf_SystemSlot *a, const mf_SystemSlot *b) {
    if (a->config.reads == NULL || a->config.writes == NULL || b->config.reads == NULL ||
        b->config.writes == NULL)
        return true;
    return overlap(&a->writes, &b->writes) || overlap(&a->writes, &b->reads) ||
           overlap(&a->reads, &b->writes);
}

// The word that marks systems that belong together; NULL: none.
static const char *name_of(const mf_Group *group, const mf_SystemConfig *config) {
    static const char level[] = "motion.level";
    if (config->together != NULL || config->phase != MF_PHASE_MOTION)
        return config->together;
    for (uint32_t f = 0; f < group->field_count; f++)
        if (strcmp(group->fields[f].info.name, level) == 0)
            return level;
    return NULL;
}

static mf_Status check_pair(const mf_Group *group, const mf_SystemSlot *a, const mf_SystemSlot *b,
                            mf_Error *error) {
    const char *first = name_of(group, &a->config), *second = name_of(group, &b->config);
    if (a->config.phase != b->config.phase ||
        (first != NULL && second != NULL && strcmp(first, second) == 0))
        return MF_OK;
    for (uint32_t f = 0; f < group->field_count; f++) {
        uint64_t bit = a->writes.words[f / 64] & b->writes.words[f / 64] & UINT64_C(1) << f % 64;
        MF_NEED(bit == 0 || group->fields[f].info.flags & MF_FIELD_BITS, error,
                "group %s: systems %s and %s both write %s in the phase %s", group->config.name,
                a->config.name, b->config.name, group->fields[f].info.name,
                mf_phase_name(a->config.phase));
    }
    return MF_OK;
}

static void find_drivers(mf_Group *group) {
    group->drives_joints = false;
    for (uint32_t s = 0; s < group->system_count; s++) {
        const mf_SystemConfig *config = &group->systems[s].config;
        if (config->phase < MF_PHASE_MOTION && mf_name_listed(config->writes, "joint.target"))
            group->drives_joints = true;
    }
}

// Whether a system declares to read a field that another one, `slot`, writes.
static bool is_read(const mf_Group *group, const mf_SystemSlot *slot) {
    for (uint32_t s = 0; s < group->system_count; s++) {
        const mf_SystemSlot *other = &group->systems[s];
        if (other != slot && (other->config.reads == NULL || overlap(&other->reads, &slot->writes)))
            return true;
    }
    const mf_World *world = group->world;
    for (uint32_t w = 0; w < world->system_count && !group->config.isolated; w++)
        for (const char *const *name = slot->config.writes; name != NULL && *name != NULL; name++)
            if (mf_name_listed(world->systems[w].config.reads, *name))
                return true;
    return false;
}

void mf_group_find_unread(mf_Group *group) {
    for (uint32_t s = 0; s < group->system_count; s++) {
        mf_SystemSlot *slot = &group->systems[s];
        slot->unread = slot->derived && !is_read(group, slot);
    }
}

void mf_attach_derived(mf_Group *group, const char *name) {
    for (uint32_t s = 0; s < group->system_count; s++)
        if (strcmp(group->systems[s].config.name, name) == 0)
            group->systems[s].derived = true;
    mf_group_find_unread(group);
}

void mf_attach_alike(mf_Group *group, const char *name, const mf_Alike *alike) {
    for (uint32_t s = 0; s < group->system_count; s++)
        if (strcmp(group->systems[s].config.name, name) == 0)
            group->systems[s].alike = alike;
    group->world->packed = false;
}

static void find_waves(mf_Group *group) {
    group->world->packed = false;
    find_drivers(group);
    mf_group_find_unread(group);
    group->slow = false;
    for (uint32_t s = 0; s < group->system_count; s++) {
        mf_SystemSlot *slot = &group->systems[s];
        slot->wave = 0;
        for (uint32_t t = 0; t < s; t++) {
            const mf_SystemSlot *before = &group->systems[t];
            if (before->config.phase == slot->config.phase && before->wave >= slot->wave &&
                conflict(before, slot))
                slot->wave = before->wave + 1;
        }
        for (uint32_t t = 0; t < s; t++)
            group->slow |= slot->config.slow && group->systems[t].config.slow &&
                           group->systems[t].config.phase == slot->config.phase &&
                           group->systems[t].wave == slot->wave;
    }
}

mf_Status mf_group_redeclare(mf_Group *group, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t s = 0; s < group->system_count && status == MF_OK; s++)
        status = resolve(group, &group->systems[s], error);
    for (uint32_t s = 0; s < group->system_count && status == MF_OK; s++)
        for (uint32_t t = 0; t < s && status == MF_OK; t++)
            status = check_pair(group, &group->systems[t], &group->systems[s], error);
    if (status != MF_OK) { // the state before the last field was valid
        group->field_count--;
        for (uint32_t s = 0; s < group->system_count; s++)
            resolve(group, &group->systems[s], NULL);
        group->field_count++;
        return status;
    }
    find_waves(group);
    return MF_OK;
}

// ---- adding ------------------------------------------------------------------------------------

static mf_Status check_system(const mf_Group *group, const mf_SystemConfig *config,
                              mf_Error *error) {
    MF_NEED(config != NULL && config->struct_size == sizeof *config &&
                (config->run != NULL || config->reset != NULL),
            error, "system: start from mf_system_config() and set a run or reset function");
    if (config->name == NULL || (unsigned)config->phase > MF_PHASE_AFTER)
        return mf_fail(error, MF_BAD_ARGUMENT, "system: need a name and a phase");
    MF_TRY(mf_world_check_rate(group->world, config->name, config->rate, error));
    if (config->phase == MF_PHASE_MOTION && !config->any_gravity &&
        !mf_world_pulls_down(&group->world->config))
        return mf_fail(error, MF_UNSUPPORTED,
                       "group %s: the motion %s needs world.gravity_direction 0 0 -1",
                       group->config.name, config->name);
    MF_CHECK(group->system_count != MF_MAX_SYSTEMS, error, MF_LIMIT, "group %s: at most %d systems",
             group->config.name, MF_MAX_SYSTEMS);
    return MF_OK;
}

mf_Status mf_group_add_system(mf_Group *group, const mf_SystemConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_group_add_system: group is NULL");
    mf_Context *context = group->world->context;
    MF_TRY(check_system(group, config, error));
    mf_SystemSlot slot = {.config = *config,
                          .every_step =
                              config->rate.numerator == 0 && config->rate.denominator == 0};
    mf_Status status = take_names(context, &slot, error);
    MF_THEN(status, resolve(group, &slot, error));
    for (uint32_t s = 0; s < group->system_count && status == MF_OK; s++)
        status = check_pair(group, &group->systems[s], &slot, error);
    if (status != MF_OK) {
        mf_release(context, slot.names);
        return status;
    }
    if (!slot.every_step)
        slot.next = mf_rate_next_step(config->rate, group->world->config.step, group->world->tick);
    uint32_t at = group->system_count++;
    for (; at > 0 && group->systems[at - 1].config.phase > config->phase; at--)
        group->systems[at] = group->systems[at - 1];
    group->systems[at] = slot;
    find_waves(group);
    if (config->reset != NULL)
        for (uint32_t i = 0; i < group->blocks * MF_BLOCK; i++)
            config->reset(group, i, config->user);
    return MF_OK;
}

// ---- queries -----------------------------------------------------------------------------------

uint32_t mf_group_system_count(const mf_Group *group) {
    return group == NULL ? 0 : group->system_count;
}
const mf_SystemConfig *mf_group_system(const mf_Group *group, uint32_t index) {
    if (group == NULL)
        return NULL;
    return index < group->system_count ? &group->systems[index].config : NULL;
}
uint32_t mf_group_system_wave(const mf_Group *group, uint32_t index) {
    if (group == NULL)
        return 0;
    return index < group->system_count ? group->systems[index].wave : 0;
}

static const char *find_user(const mf_Group *group, const char *field, uint32_t n, bool writes) {
    const mf_World *world = group->world;
    for (uint32_t s = 0; s < group->system_count; s++) {
        const mf_SystemConfig *config = &group->systems[s].config;
        if (mf_name_listed(writes ? config->writes : config->reads, field) && n-- == 0)
            return config->name;
    }
    for (uint32_t s = 0; s < world->system_count && !group->config.isolated; s++) {
        const mf_WorldSystemConfig *config = &world->systems[s].config;
        if (mf_name_listed(writes ? config->writes : config->reads, field) && n-- == 0)
            return config->name;
    }
    return NULL;
}

const char *mf_group_writer(const mf_Group *group, const char *field, uint32_t n) {
    return group == NULL ? NULL : find_user(group, field, n, true);
}
const char *mf_group_reader(const mf_Group *group, const char *field, uint32_t n) {
    return group == NULL ? NULL : find_user(group, field, n, false);
}

// ---- measuring ---------------------------------------------------------------------------------

void mf_system_run(mf_SystemSlot *slot, const mf_SystemRun *run) {
    if (slot->config.run == NULL)
        return;
    if (!run->group->world->measured) {
        slot->config.run(run, slot->config.user);
        return;
    }
    int64_t begin = mf_clock_now();
    slot->config.run(run, slot->config.user);
    atomic_fetch_add_explicit(&slot->worked, (uint64_t)(mf_clock_now() - begin),
                              memory_order_relaxed);
}

void mf_world_measure(mf_World *world, bool on) {
    if (world == NULL)
        return;
    world->measured = on;
    world->packed = false;
}

double mf_group_system_seconds(const mf_Group *group, uint32_t index) {
    if (group == NULL)
        return 0;
    return index < group->system_count ? 1e-9 * (double)group->systems[index].worked : 0.0;
}
double mf_world_system_seconds(const mf_World *world, uint32_t index) {
    if (world == NULL)
        return 0;
    return index < world->system_count ? 1e-9 * (double)world->systems[index].worked : 0.0;
}
