// A controller written as a C function, called for one robot at a time.
//
// A group may have several; they run in order of addition. Invariants: never called for lanes after
// the group's count nor for a robot with a fault word.
#include "control/callback.h"
#include "base/floats.h"
#include "world/attach.h"

typedef struct CallbackSystem {
    mf_ControlFn function;
    void *user;
    uint32_t *fault;   // fault.word
    mf_Field *cleared; // zeroed by a reset; NULL: none
} CallbackSystem;

static void run_callback(const mf_SystemRun *run, void *user) {
    const CallbackSystem *system = user;
    uint32_t first = run->first_block * MF_BLOCK;
    uint32_t last = first + run->block_count * MF_BLOCK;
    if (last > mf_group_count(run->group))
        last = mf_group_count(run->group);
    for (uint32_t i = first; i < last; i++)
        if (system->fault[i] == 0 && !system->function(run->group, i, run->time, system->user))
            system->fault[i] |= MF_FAULT_CONTROL;
}

static void reset(mf_Group *group, uint32_t instance, void *user) {
    const CallbackSystem *system = user;
    (void)group;
    for (uint32_t c = 0; system->cleared != NULL && c < system->cleared->components; c++)
        mf_field_set(system->cleared, instance, c, 0.0);
}

mf_Status mf_callback_add_system(mf_Group *group, mf_SystemConfig *entry, mf_ControlFn function,
                                 void *user, mf_Field *cleared, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    CallbackSystem *system = mf_allocate(context, 1, sizeof *system);
    MF_NEED_MEMORY(system != NULL, error, entry->name);
    *system = (CallbackSystem){.function = function,
                               .user = user,
                               .fault = mf_group_find_field(group, "fault.word")->data,
                               .cleared = cleared};
    entry->phase = MF_PHASE_CONTROL;
    entry->run = run_callback;
    entry->reset = reset;
    entry->destroy = mf_attach_release;
    entry->user = system;
    mf_Status status = mf_group_add_system(group, entry, error);
    if (status != MF_OK)
        mf_release(context, system);
    return status;
}

mf_Status mf_callback_add(mf_Group *group, mf_Rate rate, mf_ControlFn function, void *user,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(function != NULL, error, "callback: need a function, found NULL");
    mf_SystemConfig entry = mf_system_config();
    entry.name = "callback";
    entry.rate = rate;
    return mf_callback_add_system(group, &entry, function, user, NULL, error);
}
