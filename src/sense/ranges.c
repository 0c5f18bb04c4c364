// Range sensors that see the robots of a world: a system of the world behind the step, which
// measures the sensors of groups with such sensors instead of the groups' own systems, because
// all robots must have moved before one is seen.
#include "sense/ranges.h"
#include "world/systems.h"
#include "base/context.h"
#include "base/sort.h"
#include "base/floats.h"

#include "math/scalar.h"

// ---- readings -----------------------------------------------------------------------------------

static double get(const void *data, bool wide, size_t at) {
    return wide ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void put(void *data, bool wide, size_t at, double value) {
    if (wide)
        ((double *)data)[at] = value;
    else
        ((float *)data)[at] = (float)value;
}

// Where the kernel has put the value of a sensor, as in sensors_kernel.c.
static void *target(const mf_SenseBatch *batch, const mf_SenseItem *own, uint32_t robot,
                    size_t *at) {
    const size_t block = robot / MF_BLOCK, lane = robot % MF_BLOCK;
    *at = (size_t)own->address * MF_BLOCK + lane;
    if (batch->detached != NULL)
        return batch->detached;
    *at = (block * batch->image->value_count + own->out) * MF_BLOCK + lane;
    if (!own->treated)
        return batch->values;
    *at = (block * batch->image->raw_count + own->out) * MF_BLOCK + lane;
    return batch->raw;
}

// A range finder reads -1 where nothing is.
static void shorten(const mf_Ranges *all, const mf_RangeGroup *group, uint32_t robot,
                    const mf_RangeRay *ray, const mf_SenseBatch *batch) {
    const mf_SenseItem *own = &mf_sense_items(batch->image)[ray->item];
    double start[3], direction[3];
    size_t at;
    void *data = target(batch, own, robot, &at);
    mf_vec3_copy(start, ray->start);
    mf_vec3_copy(direction, ray->direction);
    if (ray->frame != MF_NONE) {
        const mf_RangePose *pose = &group->poses[(size_t)robot * group->frame_count + ray->frame];
        mf_quat_rotate(start, pose->rotation, start);
        mf_vec3_add(start, start, pose->position);
        mf_quat_rotate(direction, pose->rotation, direction);
    }
    const double reading = get(data, group->wide, at);
    const bool nothing = own->type == MF_SENSOR_RANGEFINDER && reading < 0.0;
    const double most = nothing ? 1e9 : reading;
    const double nearest = mf_ranges_cast(all, start, direction, most, group->first_item + robot);
    if (nearest < most)
        put(data, group->wide, at, nearest);
}

static bool is_placed(const mf_RangeGroup *group, uint32_t robot) {
    const mf_RangePose *poses = &group->poses[(size_t)robot * group->frame_count];
    for (uint32_t f = 0; f < group->frame_count; f++)
        if (!mf_all_finite(poses[f].position, 3) || !mf_all_finite(poses[f].rotation, 4))
            return false;
    return true;
}

void mf_ranges_apply(const mf_Ranges *all, const mf_SensePlan *plan, const mf_SenseBatch *batch,
                     const mf_SenseRun *run) {
    const mf_RangeGroup *group = &all->groups[plan->range_group];
    for (uint32_t i = run->first * MF_BLOCK; i < (run->first + run->count) * MF_BLOCK; i++) {
        const bool requested = run->only == UINT32_MAX || run->only == i % MF_BLOCK;
        if (i >= group->count || !requested || !is_placed(group, i) ||
            (group->fault[i] != 0 && batch->detached == NULL))
            continue;
        for (uint32_t r = 0; r < group->ray_count; r++) {
            const mf_RangeRay *ray = &group->rays[r];
            const uint32_t clock = mf_sense_items(batch->image)[ray->item].clock;
            if (run->due >> clock & 1)
                shorten(all, group, i, ray, batch);
        }
    }
}

// ---- the system ---------------------------------------------------------------------------------

static bool is_due(const mf_RangeGroup *group, uint64_t tick) {
    mf_SignalMoments moments;
    bool due = false;
    if (group->ray_count == 0 || !mf_signal_set_measure(group->plan->signals, tick, &moments))
        return false;
    for (uint32_t r = 0; r < group->ray_count; r++) {
        const uint32_t item = group->rays[r].item;
        due = due || (moments.due >> mf_sense_items(group->plan->image)[item].clock & 1);
    }
    return due;
}

static void measure_task(void *user, uint32_t index) {
    const mf_Ranges *all = user;
    const uint32_t g =
        mf_find_part(&all->groups[0].first_block, sizeof *all->groups, all->group_count, index);
    const mf_RangeGroup *group = &all->groups[g];
    if (group->ray_count == 0)
        return;
    mf_SystemRun run = all->run;
    run.group = group->group;
    run.first_block = index - group->first_block;
    run.block_count = 1;
    mf_sense_measure(group->plan, &run);
}

static void run_ranges(const mf_WorldRun *run, void *user) {
    mf_Ranges *all = user;
    bool due = false;
    for (uint32_t g = 0; g < all->group_count; g++)
        due = due || is_due(&all->groups[g], run->tick + 1);
    if (due)
        mf_ranges_update(all, false);
    all->run = (mf_SystemRun){.time = run->time, .step = run->step, .tick = run->tick};
    if (all->block_count > 1 && mf_context_threads(all->context) > 1)
        mf_parallel_for(all->context, all->block_count, measure_task, all);
    else
        for (uint32_t i = 0; i < all->block_count; i++)
            measure_task(all, i);
}

// Whether some range sensor has something to see.
static bool has_view(const mf_Ranges *all) {
    bool any = false;
    for (uint32_t g = 0; g < all->group_count && !any; g++) {
        const mf_RangeGroup *group = &all->groups[g];
        for (uint32_t h = 0; h < all->group_count && group->ray_count > 0 && !any; h++) {
            const mf_RangeGroup *other = &all->groups[h];
            any = (other->solid_count > 0 && (h != g || group->count > 1)) ||
                  other->solid_count > other->moving_count;
        }
    }
    return any;
}

static mf_Status add_system(mf_Ranges *all, mf_Error *error) {
    static const char *const reads[] = {
        "base.position", "base.orientation", "joint.angle", "ball.orientation",
        "free.position", "fault.word",       NULL};
    static const char *const writes[] = {"sensor.value", NULL};
    mf_WorldSystemConfig system = mf_attach_world_system("ranges", MF_PHASE_AFTER, run_ranges, all);
    system.destroy = mf_ranges_destroy;
    system.reads = reads;
    system.writes = writes;
    return mf_world_add_system(all->world, &system, error);
}

static bool is_added(const mf_World *world) {
    for (uint32_t i = 0; i < mf_world_system_count(world); i++)
        if (mf_world_system(world, i)->run == run_ranges)
            return true;
    return false;
}

// From now on groups with range sensors are measured here; what they read at the start, too.
static void take_over(mf_Ranges *all) {
    for (uint32_t g = 0; g < all->group_count; g++)
        if (all->groups[g].ray_count > 0) {
            all->groups[g].plan->ranges = all;
            all->groups[g].plan->range_group = g;
        }
    if (mf_world_time(all->world) > 0)
        return;
    mf_ranges_update(all, true);
    for (uint32_t g = 0; g < all->group_count; g++)
        for (uint32_t i = 0; all->groups[g].ray_count > 0 && i < all->groups[g].count; i++)
            mf_sense_start(all->groups[g].plan, i);
}

mf_Status mf_ranges_add(mf_World *world, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(world != NULL, error, "ranges: world is NULL");
    MF_NEED(!is_added(world), error, "ranges: the world already has them");
    mf_Context *context = mf_world_context(world);
    mf_Ranges *all = mf_allocate(context, 1, sizeof *all);
    MF_NEED_MEMORY(all != NULL, error, "ranges");
    all->context = context;
    all->world = world;
    mf_Status status = mf_ranges_take_groups(all, error);
    if (status == MF_OK && has_view(all)) {
        status = add_system(all, error);
        if (status == MF_OK) {
            take_over(all);
            return MF_OK;
        }
    }
    mf_ranges_destroy(context, all);
    return status;
}
