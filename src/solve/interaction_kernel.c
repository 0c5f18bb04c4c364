// Kernels of interaction (see kernels.h): by slot for those that read positions, by agent for the
// wind.
#include "contact/other_real.h"
#include "solve/kernels.h"
#include "math/lane_list.h"

#if defined(MF_KERNEL_F64)
#define AIR_ARRAY(plan, name) mf_air_plan_##name##_f64(plan)
#else
#define AIR_ARRAY(plan, name) mf_air_plan_##name##_f32(plan)
#endif

void MF_KERNEL(mf_interaction_scan)(mf_ScanTask *task, uint32_t chunk) {
    const mf_Neighbors *all = task->all;
    const mf_real *position[3] = {(const mf_real *)all->x, (const mf_real *)all->y,
                                  (const mf_real *)all->z};
    uint32_t first = chunk * MF_NEIGHBOR_CHUNK, last = first + MF_NEIGHBOR_CHUNK;
    if (last > all->slot_count)
        last = all->slot_count;
    task->low_count = task->outside_count = 0;
    mf_lane low = mf_set((mf_real)task->low);
    for (uint32_t slot = first; slot < last; slot += MF_LANES) {
        mf_lane at[3];
        for (int c = 0; c < 3; c++)
            at[c] = mf_load(position[c] + slot);
        mf_index number = mf_lane_numbers() + mf_set_index((int32_t)slot);
        mf_mask live = mf_finite(at[0]);
        mf_mask is_low = mf_and(live, mf_less(at[2], low));
        if (task->ground && mf_any(is_low))
            task->low_count += mf_append_index(task->low_slots + task->low_count, is_low, number);
        mf_mask inside = mf_mask_all();
        for (int c = 0; task->fence && c < 3; c++)
            inside =
                mf_and(inside, mf_and(mf_less_equal(mf_set((mf_real)task->fence_low[c]), at[c]),
                                      mf_less_equal(at[c], mf_set((mf_real)task->fence_high[c]))));
        mf_mask outside = mf_and(live, mf_not(inside));
        if (mf_any(outside))
            task->outside_count +=
                mf_append_index(task->outside_slots + task->outside_count, outside, number);
    }
}

// ---- air ----------------------------------------------------------------------------------------

void MF_KERNEL(mf_interaction_jets)(void *user, uint32_t chunk, const int32_t *first,
                                    const int32_t *second, uint32_t count) {
    const mf_AirTask *task = (const mf_AirTask *)user;
    const mf_Neighbors *all = task->all;
    const mf_AirPlan *plan = task->plan;
    const mf_real *speeds = AIR_ARRAY(plan, speeds);
    const mf_real *limits = AIR_ARRAY(plan, limits);
    (void)chunk;
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_real out = (mf_real)plan->radius;
    for (uint32_t i = 0; i < count; i += MF_LANES) {
        mf_index own = mf_load_index(first + i), source = mf_load_index(second + i);
        mf_lane dx =
            mf_gather((const mf_real *)all->x, source) - mf_gather((const mf_real *)all->x, own);
        mf_lane dy =
            mf_gather((const mf_real *)all->y, source) - mf_gather((const mf_real *)all->y, own);
        mf_lane down =
            mf_gather((const mf_real *)all->z, source) - mf_gather((const mf_real *)all->z, own);
        mf_lane flat = dx * dx + dy * dy;
        mf_mask inside =
            mf_and(mf_less_equal(flat, mf_set(out * out)),
                   mf_and(mf_less(zero, down), mf_less_equal(down, mf_set((mf_real)plan->reach))));
        mf_index group = mf_gather_index(all->group_of_slot, source);
        mf_lane down2 = down * down;
        // No division by 0: where down2 is 0, the result is masked.
        mf_mask some = mf_and(inside, mf_less(zero, down2));
        mf_lane center = mf_gather(speeds, group) / mf_select(some, down, one);
        center = mf_min(center, mf_gather(limits, group));
        mf_lane wide = down2 + mf_set((mf_real)plan->spread) * flat;
        mf_lane share = down2 / mf_select(some, wide, one);
        mf_lane speed = mf_keep(some, center * (share * share));
        speed = mf_min(speed, mf_set((mf_real)1000));
        MF_ALIGNED(64) int32_t push[MF_LANES];
        mf_store_index(push, mf_to_index(speed * mf_set((mf_real)MF_DOWNWASH_SCALE)));
        // Only entries of the list: its padding is shared by all threads.
        for (uint32_t lane = 0; lane < MF_LANES && i + lane < count; lane++)
            task->downward[first[i + lane]] += push[lane];
    }
}

static MF_INLINE mf_lane wind_factor(const mf_AirPlan *plan, const mf_real *profile, mf_lane z) {
    const mf_real top = (mf_real)plan->profile_top;
    mf_lane height = mf_clamp(z - mf_set((mf_real)plan->ground), mf_zero(), mf_set(top));
    mf_lane at = mf_sqrt(height / mf_set(top)) * mf_set((mf_real)MF_PROFILE_CELLS);
    mf_index cell = mf_to_index(at); // at most MF_PROFILE_CELLS: the table has one more
    mf_lane low = mf_gather(profile, cell);
    mf_lane high = mf_gather(profile, cell + mf_set_index(1));
    return low + (at - mf_from_index(cell)) * (high - low);
}

void MF_KERNEL(mf_interaction_blow)(const mf_AirTask *task, const mf_AirOutput *output,
                                    uint32_t first, uint32_t count) {
    const mf_Neighbors *all = task->all;
    const mf_AirPlan *plan = task->plan;
    const mf_real *profile = AIR_ARRAY(plan, profile);
    const mf_real scale = (mf_real)(1.0 / MF_DOWNWASH_SCALE);
    for (uint32_t block = first; block < first + count; block++) {
        const mf_NeighborGroup *group = &all->groups[all->group_of[block]];
        void *wind = output[all->group_of[block]].wind;
        const bool same = group->double_precision == own_is_double;
        for (uint32_t lane = 0; wind != NULL && lane < MF_BLOCK; lane += MF_LANES) {
            mf_index slot = mf_load_index(all->slot_of + (size_t)block * MF_BLOCK + lane);
            mf_mask live = mf_finite(mf_gather((const mf_real *)all->x, slot));
            mf_lane factor = mf_set((mf_real)1);
            if (plan->logarithmic)
                factor = wind_factor(plan, profile, mf_gather((const mf_real *)all->z, slot));
            size_t at = (size_t)(block - group->first_block) * 3 * MF_BLOCK + lane;
            for (int c = 0; c < 3; c++) {
                mf_lane speed = mf_set((mf_real)plan->wind[c]) * factor;
                if (c == 2 && plan->downwash)
                    speed = speed -
                            mf_from_index(mf_gather_index(task->downward, slot)) * mf_set(scale);
                write_where(live, wind, at + (size_t)c * MF_BLOCK, same, speed);
            }
        }
    }
}
