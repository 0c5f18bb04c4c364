// Guarded calls of a plugin.
//
// Method: a plugin never accesses the memory of a group. For every block of robots it gets a copy
// of the fields that it declared, with guard words around each. After the call the host restores
// the floating-point environment, checks that the guards and the read-only fields are unchanged,
// and copies the written values back, robot by robot, if every number is finite. Otherwise the
// robot keeps its last state and gets its own fault; a changed guard cannot be assigned to a robot,
// so all robots of the call get MF_FAULT_PLUGIN.
//
// Invariants: robots with a fault, of another level, or after the group's count are never changed;
// wall time is measured, but no simulated result depends on it.
#include "control/plugin.h"
#include "base/floats.h"
#include "math/scalar.h"

#include <string.h>
#include <time.h>

enum {
    GUARD_BYTE = 0xff, // as a number it is a NaN that arithmetic does not produce
};

typedef struct Call {
    mf_PluginUse *use;
    uint32_t block;
    uint64_t tick;
    bool reset;
    mf_PluginView view;
    void *pointers[MF_PLUGIN_FIELD_LIMIT];
    unsigned char *copy;
} Call;

static unsigned char *block_of(const mf_PluginUseField *field, uint32_t block) {
    return (unsigned char *)field->field->data + block * field->size;
}

static void copy_in(Call *call) {
    const mf_PluginUse *use = call->use;
    for (uint32_t f = 0; f < use->field_count; f++) {
        const mf_PluginUseField *field = &use->fields[f];
        memset(call->copy + field->offset - MF_PLUGIN_GUARD, GUARD_BYTE, MF_PLUGIN_GUARD);
        memcpy(call->copy + field->offset, block_of(field, call->block), field->size);
        call->pointers[f] = call->copy + field->offset;
    }
    memset(call->copy + use->copy_size - MF_PLUGIN_GUARD, GUARD_BYTE, MF_PLUGIN_GUARD);
}

// True when the call did not change the floating-point environment; restores it in any case.
static bool make_call(Call *call, mf_PluginTally *tally) {
    const mf_PluginEntry *entry = call->use->plugin->entry;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    (call->reset ? entry->reset : entry->step)(&call->use->setup, call->use->self, &call->view);
    const bool kept = mf_floats_kept();
    if (!kept)
        mf_floats_enter();
    clock_gettime(CLOCK_MONOTONIC, &after);
    mf_Time taken = (after.tv_sec - before.tv_sec) * MF_SECOND + (after.tv_nsec - before.tv_nsec);
    tally->calls++;
    tally->late += taken > call->use->budget;
    tally->slowest = taken > tally->slowest ? taken : tally->slowest;
    return kept;
}

static bool guard_stands(const unsigned char *guard) {
    for (int i = 0; i < MF_PLUGIN_GUARD; i++)
        if (guard[i] != GUARD_BYTE)
            return false;
    return true;
}

// The violation as text with the field's name; NULL: none.
static const char *find_breach(const Call *call, const char **field_name) {
    const mf_PluginUse *use = call->use;
    for (uint32_t f = 0; f < use->field_count; f++) {
        const mf_PluginUseField *field = &use->fields[f];
        *field_name = field->field->info.name;
        if (!guard_stands(call->copy + field->offset - MF_PLUGIN_GUARD))
            return "wrote outside its fields, before";
        bool written = (use->plugin->entry->fields[f].access & MF_PLUGIN_WRITE) != 0;
        if (!written &&
            memcmp(call->copy + field->offset, block_of(field, call->block), field->size) != 0)
            return "wrote a field that it only declared to read,";
    }
    return guard_stands(call->copy + use->copy_size - MF_PLUGIN_GUARD)
               ? NULL
               : "wrote outside its fields, behind";
}

static double copied(const Call *call, uint32_t f, uint32_t component, uint32_t lane) {
    const unsigned char *data = call->copy + call->use->fields[f].offset;
    size_t at = (size_t)component * MF_BLOCK + lane;
    return call->use->fields[f].field->info.type == MF_F64 ? ((const double *)data)[at]
                                                           : (double)((const float *)data)[at];
}

// The fault caused by a robot's new values; 0: none.
static uint32_t judge(const Call *call, uint32_t lane) {
    const mf_PluginUse *use = call->use;
    const mf_PluginEntry *entry = use->plugin->entry;
    for (uint32_t f = 0; f < use->field_count; f++) {
        mf_FieldType type = use->fields[f].field->info.type;
        if (!(entry->fields[f].access & MF_PLUGIN_WRITE) || (type != MF_F32 && type != MF_F64))
            continue;
        for (uint32_t c = 0; c < use->components[f]; c++)
            if (!mf_is_finite(copied(call, f, c, lane)))
                return entry->kind == MF_PLUGIN_MOTION ? MF_FAULT_NONFINITE : MF_FAULT_CONTROL;
    }
    double norm = 0.0;
    for (uint32_t c = 0; use->orientation >= 0 && c < 4; c++)
        norm += copied(call, (uint32_t)use->orientation, c, lane) *
                copied(call, (uint32_t)use->orientation, c, lane);
    if (use->orientation >= 0 && !(mf_abs(norm - 1.0) <= 0.01))
        return MF_FAULT_RANGE;
    for (uint32_t c = 0; use->position >= 0 && c < 3; c++)
        if (!(mf_abs(copied(call, (uint32_t)use->position, c, lane)) <= 1e9))
            return MF_FAULT_RANGE;
    return 0;
}

static void take_over(const Call *call, uint32_t lane) {
    const mf_PluginUse *use = call->use;
    for (uint32_t f = 0; f < use->field_count; f++) {
        const mf_PluginUseField *field = &use->fields[f];
        if (!(use->plugin->entry->fields[f].access & MF_PLUGIN_WRITE))
            continue;
        size_t size = mf_field_value_size(field->field->info.type);
        for (uint32_t c = 0; c < use->components[f]; c++) {
            size_t at = ((size_t)c * MF_BLOCK + lane) * size;
            memcpy(block_of(field, call->block) + at, call->copy + field->offset + at, size);
        }
    }
}

void mf_plugin_call(mf_PluginUse *use, uint32_t block, uint64_t tick, mf_Time time, bool reset,
                    const uint32_t active[MF_BLOCK], mf_PluginTally *tally) {
    unsigned char *copy = mf_scratch_borrow(use->scratch);
    uint32_t components[MF_PLUGIN_FIELD_LIMIT];
    Call call = {.use = use, .block = block, .tick = tick, .reset = reset, .copy = copy};
    copy_in(&call);
    memcpy(components, use->components, sizeof components);
    call.view = (mf_PluginView){.struct_size = sizeof call.view,
                                .real_size = use->setup.real_size,
                                .first = block * MF_BLOCK,
                                .tick = tick,
                                .time = time,
                                .components = components,
                                .fields = call.pointers};
    memcpy(call.view.active, active, sizeof call.view.active);
    bool kept = make_call(&call, tally);
    const char *field = "";
    const char *breach = find_breach(&call, &field);
    if (breach != NULL)
        mf_plugin_breach(use->plugin, "plugin %s, group %s, robots %u and after, step %llu: %s %s",
                         use->plugin->entry->name, mf_group_config_of(use->group)->name,
                         block * MF_BLOCK, (unsigned long long)tick, breach, field);
    else if (!kept)
        mf_plugin_breach(use->plugin,
                         "plugin %s, group %s, robots %u and after, step %llu: changed the "
                         "floating-point mode",
                         use->plugin->entry->name, mf_group_config_of(use->group)->name,
                         block * MF_BLOCK, (unsigned long long)tick);
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        if (active[lane] == 0)
            continue;
        uint32_t fault = breach != NULL || !kept ? MF_FAULT_PLUGIN : judge(&call, lane);
        use->fault[block * MF_BLOCK + lane] |= fault;
        if (fault == 0)
            take_over(&call, lane);
    }
    mf_scratch_return(use->scratch, copy);
}

void mf_plugin_count(mf_Plugin *plugin, const mf_PluginTally *tally) {
    atomic_fetch_add(&plugin->calls, tally->calls);
    if (tally->late > 0)
        atomic_fetch_add(&plugin->late, tally->late);
    uint_fast64_t slowest = atomic_load(&plugin->slowest);
    while (
        (uint_fast64_t)tally->slowest > slowest &&
        !atomic_compare_exchange_weak(&plugin->slowest, &slowest, (uint_fast64_t)tally->slowest)) {
    }
}
