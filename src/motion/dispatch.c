// How a motion's kernels go over the blocks of a group.
#include "motion/dispatch.h"
#include "world/attach.h"
#include "math/kernel_table.h"

#include <string.h>

enum { HIDDEN = 1u << 31 }; // [1] instead of a fault word: moves by another motion

mf_KernelPick mf_dispatch_kernels(const mf_Group *group) {
    return mf_kernel_pick(mf_world_isa(mf_group_world(group)),
                          mf_group_config_of(group)->double_precision);
}

mf_Dispatch mf_dispatch_bind(mf_Group *group, mf_Motion own) {
    return (mf_Dispatch){.fault = mf_group_find_field(group, "fault.word"),
                         .level = mf_group_find_field(group, "motion.level"),
                         .own = own,
                         .lanes = mf_dispatch_kernels(group).lanes};
}

mf_Row mf_row(const mf_Field *field) {
    if (field == NULL)
        return (mf_Row){.base = NULL};
    const size_t value = mf_field_value_size(field->info.type);
    return (mf_Row){.base = field->data,
                    .stride = field->components * MF_BLOCK * value,
                    .value = value,
                    .low = field->remainder != NULL
                               ? (size_t)((char *)field->remainder - (char *)field->data)
                               : 0};
}

void mf_canonical_rows(mf_Group *group, mf_Field **rows, uint32_t count) {
    static const char *const names[MF_TREE_ROWS] = {
        "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
        "joint.angle",   "joint.rate",       "joint.target"};
    for (uint32_t i = 0; i < count; i++)
        rows[i] = mf_group_find_field(group, names[i]);
}

void mf_derived_rows(mf_Group *group, mf_Field **rows, uint32_t count) {
    mf_canonical_rows(group, rows, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i]->info.flags &= ~(uint32_t)MF_FIELD_INPUT;
}

mf_WarningRows mf_warning_rows(const mf_WarningFields *fields, uint32_t block, uint32_t lane) {
    if (fields->word == NULL)
        return (mf_WarningRows){NULL, NULL, NULL};
    const size_t rows = (size_t)block * MF_WARNING_KINDS * MF_BLOCK + lane;
    return (mf_WarningRows){(uint32_t *)fields->word->data + (size_t)block * MF_BLOCK + lane,
                            (uint32_t *)fields->steps->data + rows,
                            (char *)fields->residual->data +
                                rows * mf_field_value_size(fields->residual->info.type)};
}

static void destroy_scratch(mf_Context *context, void *user) {
    mf_scratch_destroy(context, user);
}

mf_Status mf_world_scratch(mf_World *world, size_t size, mf_Scratch **out, mf_Error *error) {
    static const char name[] = "working memory";
    mf_Context *context = mf_world_context(world);
    *out = mf_world_kept(world, name);
    if (*out != NULL)
        return mf_scratch_reserve(context, *out, size, error);
    MF_TRY(mf_scratch_create(context, size, UINT32_MAX, out, error));
    const mf_Status status = mf_world_keep(world, name, *out, destroy_scratch, error);
    if (status != MF_OK) {
        mf_scratch_destroy(context, *out);
        *out = NULL;
    }
    return status;
}

mf_Status mf_dispatch_make_scratch(mf_Group *group, mf_Dispatch *dispatch, size_t wide, size_t one,
                                   mf_Error *error) {
    return mf_world_scratch(mf_group_world(group), wide > one ? wide : one, &dispatch->scratch,
                            error);
}

// Wide steps begin at whole widths only: rows are aligned there, and end with the block.
static void run_block(const mf_Dispatch *dispatch, uint32_t block, uint32_t robots, bool hidden,
                      uint32_t *fault, void *scratch, mf_DispatchFn step, const void *plan) {
    const uint32_t width = dispatch->lanes;
    for (uint32_t lane = 0; lane < robots; lane += width) {
        const uint32_t end = lane + width < robots ? lane + width : robots;
        uint32_t awake = hidden ? 0 : end - lane;
        for (uint32_t i = lane; hidden && i < end; i++)
            awake += fault[i] == 0;
        // Few robots are faster one by one than in a mostly empty wide register.
        if (awake * 5 > width) {
            step(plan, &(mf_DispatchUnit){block, lane, false, fault + lane, scratch});
            continue;
        }
        for (uint32_t i = lane; i < end; i++)
            if (!hidden || fault[i] == 0)
                step(plan, &(mf_DispatchUnit){block, i, true, fault + i, scratch});
    }
}

static bool hide(const mf_Dispatch *dispatch, uint32_t block, uint32_t robots,
                 uint32_t shown[MF_BLOCK]) {
    const size_t first = (size_t)block * MF_BLOCK;
    const uint32_t *level =
        dispatch->level != NULL ? (const uint32_t *)dispatch->level->data + first : NULL;
    const uint32_t *fault = (const uint32_t *)dispatch->fault->data + first;
    const uint32_t *carried = dispatch->carried != NULL ? dispatch->carried + first : NULL;
    bool any = false;
    for (uint32_t i = 0; i < MF_BLOCK; i++) {
        const bool own = i < robots && (level == NULL || level[i] == (uint32_t)dispatch->own) &&
                         (carried == NULL || carried[i] == 0);
        shown[i] = own ? fault[i] : HIDDEN;
        any |= shown[i] == 0;
    }
    return any;
}

static bool hides(const mf_Dispatch *dispatch, uint32_t block) {
    if (dispatch->level != NULL)
        return true;
    for (uint32_t i = 0; dispatch->carried != NULL && i < MF_BLOCK; i++)
        if (dispatch->carried[(size_t)block * MF_BLOCK + i] != 0)
            return true;
    return false;
}

static void show(const mf_Dispatch *dispatch, uint32_t block, const uint32_t shown[MF_BLOCK]) {
    uint32_t *fault = (uint32_t *)dispatch->fault->data + (size_t)block * MF_BLOCK;
    for (uint32_t i = 0; i < MF_BLOCK; i++)
        if (shown[i] != HIDDEN)
            fault[i] |= shown[i];
}

void mf_dispatch_run(const mf_Dispatch *dispatch, const mf_SystemRun *run, mf_DispatchFn step,
                     const void *plan) {
    uint32_t count = mf_group_count(run->group);
    void *scratch = dispatch->scratch != NULL ? mf_scratch_borrow(dispatch->scratch) : NULL;
    for (uint32_t block = run->first_block; block < run->first_block + run->block_count; block++) {
        uint32_t robots = count - block * MF_BLOCK;
        if (robots > MF_BLOCK)
            robots = MF_BLOCK;
        _Alignas(64) uint32_t shown[MF_BLOCK]; // as fields are
        if (!hides(dispatch, block)) {
            uint32_t *fault = (uint32_t *)dispatch->fault->data + (size_t)block * MF_BLOCK;
            if (robots == dispatch->lanes) // the common case, in one piece
                step(plan, &(mf_DispatchUnit){block, 0, false, fault, scratch});
            else
                run_block(dispatch, block, robots, false, fault, scratch, step, plan);
        } else if (hide(dispatch, block, robots, shown)) {
            run_block(dispatch, block, robots, true, shown, scratch, step, plan);
            show(dispatch, block, shown);
        }
    }
    if (scratch != NULL)
        mf_scratch_return(dispatch->scratch, scratch);
}
