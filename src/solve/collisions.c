// Collisions of a world: settings and their checks, members, memory. The step is in
// collisions_step.c.
#include "solve/collisions.h"
#include "base/floats.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/plain.h"
#include "base/sort.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "motion/table.h"
#include "world/attach.h"
#include "world/systems.h"

#include <math.h>

static const mf_FieldInfo wrench_fields[] = {
    {"wrench.link", "N", "world", MF_REAL, MF_FIXED_COUNT, 6, MF_FIELD_OUTPUT,
     "collision force per link, and torque (N m) about the origin of the base"},
    {"wrench.count", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_OUTPUT,
     "contacts of the robot with others"},
};

static const double usual_restitution = 0.5; // [1]

mf_CollisionsMember mf_collisions_member(mf_Group *group) {
    return (mf_CollisionsMember){.struct_size = sizeof(mf_CollisionsMember), .group = group};
}

mf_CollisionsConfig mf_collisions_config(void) {
    return (mf_CollisionsConfig){.struct_size = sizeof(mf_CollisionsConfig),
                                 .law = MF_COLLISION_COMPLIANT,
                                 .contact_ratio = 1.0,
                                 .restitution = usual_restitution,
                                 .friction = (double)NAN,
                                 .torsional_friction = (double)NAN,
                                 .depth = 0.02,
                                 .pairs = 64,
                                 .contact_capacity = 512};
}

const char *mf_collision_law_name(mf_CollisionLaw law) {
    static const char *const names[] = {"explicit", "hard", "compliant"};
    return (unsigned)law <= MF_COLLISION_COMPLIANT ? names[law] : "unknown";
}

static const char *motion_of(const mf_Group *group) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++)
        if (mf_group_system(group, i)->phase == MF_PHASE_MOTION)
            return mf_group_system(group, i)->name;
    return NULL;
}

mf_Status mf_collisions_prepare(mf_Group *group, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_collisions_prepare: group is NULL");
    const mf_GroupConfig *settings = mf_group_config_of(group);
    mf_Field *field;
    MF_NEED(!settings->isolated, error, "collisions: group %s is isolated, need a shared one",
            settings->name);
    MF_NEED(motion_of(group) == NULL, error,
            "collisions: group %s already has the motion %s, prepare it before the "
            "motion is added",
            settings->name, motion_of(group));
    MF_TRY(mf_attach_field(group, &wrench_fields[0], mf_group_model(group)->link_count, &field,
                           error));
    return mf_attach_field(group, &wrench_fields[1], 0, &field, error);
}

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_config(const mf_World *world, const mf_CollisionsConfig *config,
                              mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "collisions: start from mf_collisions_config()");
    if (mf_world_find_system(world, "collisions") != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "collisions: the world already has collisions");
    const double step = (double)mf_world_config_of(world)->step * 1e-9;
    const mf_Range ranges[] = {
        {"law", "", (double)config->law, 0.0, MF_COLLISION_COMPLIANT},
        {"bounds", "", (double)config->bounds, 0.0, MF_BOUNDS_NONE},
        {"contact_time", "s", config->contact_time == 0.0 ? step : config->contact_time, 0.1 * step,
         10.0},
        {"contact_ratio", "", config->contact_ratio, 0.0, 1e3},
        {"duration", "s", config->duration == 0.0 ? 6.0 * step : config->duration, 4.0 * step,
         10.0},
        {"restitution", "", config->restitution, 0.05, 1.0},
        {"friction", "", isnan(config->friction) ? 0.0 : config->friction, 0.0, 100.0},
        {"turning", "m", isnan(config->torsional_friction) ? 0.0 : config->torsional_friction, 0.0,
         10.0},
        {"depth", "m", config->depth, 1e-6, 10.0},
        {"margin", "m", config->margin == 0.0 ? 0.15 : config->margin, 1e-6, 1e3},
        {"pairs", "", config->pairs, 1, 4096},
        {"contact_capacity", "", config->contact_capacity, 4, 65536},
    };
    MF_TRY(mf_ranges_check("collisions", ranges, sizeof ranges / sizeof *ranges, error));
    MF_NEED(config->law != MF_COLLISION_COMPLIANT || config->restitution == usual_restitution,
            error,
            "collisions.restitution: compliant contacts have none (contact_ratio sets "
            "their damping), need collisions.law hard or explicit");
    return MF_OK;
}

static mf_Status check_member(const mf_Collisions *all, const mf_CollisionsMember *member,
                              mf_Error *error) {
    MF_NEED(member->struct_size == sizeof *member && member->group != NULL, error,
            "collisions.members: start from mf_collisions_member(group)");
    const mf_GroupConfig *settings = mf_group_config_of(member->group);
    if (mf_group_world(member->group) != all->world)
        return mf_fail(error, MF_BAD_ARGUMENT, "collisions: group %s is of another world",
                       settings->name);
    MF_NEED(!settings->isolated, error, "collisions: group %s is isolated, need a shared one",
            settings->name);
    return MF_OK;
}

// ---- members ------------------------------------------------------------------------------------

static mf_Status take_member(mf_Collisions *all, const mf_CollisionsMember *member,
                             mf_Error *error) {
    mf_Group *own = member->group;
    all->member_of[mf_world_group_number(all->world, own)] = all->group_count;
    mf_CollisionGroup *group = &all->groups[all->group_count++];
    MF_TRY(mf_compound_create(all->context, mf_group_model(own), true, &group->compound, error));
    group->compound->bounds = all->config.bounds;
    group->group = own;
    group->number = mf_world_group_number(all->world, own);
    group->inner = member->inner;
    group->count = mf_group_count(own);
    group->first = all->robot_count;
    group->wide = mf_group_config_of(own)->double_precision;
    group->position = mf_group_find_field(own, "base.position");
    group->orientation = mf_group_find_field(own, "base.orientation");
    group->fault = mf_group_find_field(own, "fault.word");
    group->level = mf_group_find_field(own, "motion.level");
    group->wrench = mf_group_find_field(own, wrench_fields[0].name);
    group->wrench_count = mf_group_find_field(own, wrench_fields[1].name);
    group->is_still = group->compound->still;
    group->reach = group->compound->reach;
    // In a group of several motions the robots' levels tell which are `kinematic`.
    group->takes_wrenches = group->wrench != NULL && group->wrench_count != NULL &&
                            !group->is_still &&
                            (group->level != NULL ||
                             (motion_of(own) != NULL && mf_motion_responds(mf_motion_of(own, 0))));
    group->fields = mf_tree_fields(own);
    all->robot_count += group->count;
    all->wide = all->wide || group->wide;
    return MF_OK;
}

static bool has_solids(const mf_Group *group) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->collides && shape->type != MF_SHAPE_HEIGHTS &&
            (shape->type != MF_SHAPE_PLANE || mf_compound_is_still(model)))
            return true;
    }
    return false;
}

// Sorted by name, so that the pairs of robots, and the order of summation of forces, do not depend
// on the order of creation.
static bool is_before(const void *a, const void *b) {
    const mf_CollisionsMember *first = a, *second = b;
    return strcmp(mf_group_config_of(first->group)->name, mf_group_config_of(second->group)->name) <
           0;
}

static mf_Status list_members(mf_Collisions *all, const mf_CollisionsConfig *config, uint32_t count,
                              mf_CollisionsMember *members, mf_Error *error) {
    const bool given = config->members != NULL;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        mf_CollisionsMember member =
            given ? config->members[i] : mf_collisions_member(mf_world_group(all->world, i));
        if (!given && (mf_group_config_of(member.group)->isolated || !has_solids(member.group) ||
                       mf_particles_spacing(member.group) > 0.0))
            continue;
        MF_TRY(check_member(all, &member, error));
        members[taken++] = member;
    }
    mf_heap_sort(members, taken, sizeof *members, is_before);
    for (uint32_t i = 0; i < taken; i++) {
        MF_NEED(i == 0 || members[i].group != members[i - 1].group, error,
                "collisions: group %s is listed twice", mf_group_config_of(members[i].group)->name);
        MF_TRY(take_member(all, &members[i], error));
    }
    for (uint32_t g = 0; g < all->group_count; g++)
        if (all->groups[g].compound->solid_count > 0)
            return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT, "collisions: no shared group has shapes that collide");
}

static mf_Status take_members(mf_Collisions *all, const mf_CollisionsConfig *config,
                              mf_Error *error) {
    all->world_groups = mf_world_group_count(all->world);
    const uint32_t count = config->members != NULL ? config->member_count : all->world_groups;
    mf_CollisionsMember *members = mf_allocate(all->context, count, sizeof *members);
    const mf_Array arrays[] = {MF_ARRAY(all->groups, count),
                               MF_ARRAY(all->member_of, all->world_groups)};
    const bool fits = mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays);
    mf_Status status =
        fits && members != NULL
            ? MF_OK
            : mf_fail(error, MF_NO_MEMORY, "collisions: no memory for %u groups", count);
    for (uint32_t g = 0; fits && g < all->world_groups; g++)
        all->member_of[g] = MF_NONE;
    MF_THEN(status, list_members(all, config, count, members, error));
    mf_release(all->context, members);
    return status;
}

// ---- memory -------------------------------------------------------------------------------------

static uint32_t power_of_two(uint32_t least) {
    uint32_t power = 16;
    while (power < least)
        power *= 2;
    return power;
}

static mf_Status no_memory(const mf_Collisions *all, mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "collisions: no memory for %u robots", all->robot_count);
}

static mf_Status make_groups(mf_Collisions *all, uint32_t *blocks, mf_Error *error) {
    const size_t size = all->wide ? sizeof(double) : sizeof(float);
    double largest = 0.0;
    for (uint32_t g = 0; g < all->group_count; g++) {
        mf_CollisionGroup *group = &all->groups[g];
        const uint32_t count = mf_group_block_count(group->group);
        group->parts_stride = mf_compound_rows(group->compound) * MF_BLOCK * size;
        group->drifts_stride = mf_compound_drift_rows(group->compound) * MF_BLOCK * size;
        const mf_Array arrays[] = {MF_ARRAY(group->parts, count * group->parts_stride),
                                   MF_ARRAY(group->drifts, count * group->drifts_stride),
                                   MF_ARRAY(group->refit, count), MF_ARRAY(group->watched, count)};
        if (!mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays))
            return no_memory(all, error);
        if (!group->is_still && group->reach < 1e6 && group->reach > largest)
            largest = group->reach;
        *blocks += count;
    }
    all->margin = all->config.margin > 0.0 ? all->config.margin : 0.15;
    all->cell = 2.0 * largest + all->margin;
    return MF_OK;
}

static mf_Status make_memory(mf_Collisions *all, mf_Error *error) {
    uint32_t blocks = 0;
    MF_TRY(make_groups(all, &blocks, error));
    mf_Context *context = all->context;
    const size_t robots = all->robot_count;
    const uint64_t every = (uint64_t)robots * (robots - 1) / 2;
    const uint64_t needed = (uint64_t)robots * all->config.pairs;
    all->capacity = (uint32_t)(every < needed ? every : needed < UINT32_MAX ? needed : UINT32_MAX);
    all->bucket_count = power_of_two(2 * all->robot_count);
    all->contact_capacity = all->robot_count < 8192 ? 8 * all->robot_count + 1024 : 66560;
    const size_t near = all->capacity, wave = (size_t)MF_COLLISION_WAVE * MF_COLLISION_CHUNK;
    const size_t touches = (size_t)MF_COLLISION_WAVE * all->config.contact_capacity;
    const mf_Array arrays[] = {MF_ARRAY(all->group_of, robots),
                               MF_ARRAY(all->position, robots),
                               MF_ARRAY(all->search_position, robots),
                               MF_ARRAY(all->search_rotation, robots),
                               MF_ARRAY(all->present, robots),
                               MF_ARRAY(all->was_present, robots),
                               MF_ARRAY(all->immovable, robots),
                               MF_ARRAY(all->near, near),
                               MF_ARRAY(all->until, near),
                               MF_ARRAY(all->offsets, near),
                               MF_ARRAY(all->fixed, near),
                               MF_ARRAY(all->near_before, near),
                               MF_ARRAY(all->until_before, near),
                               MF_ARRAY(all->displacements_before, near),
                               MF_ARRAY(all->gone, robots),
                               MF_ARRAY(all->twos, near + robots),
                               MF_ARRAY(all->near_of, near + robots),
                               MF_ARRAY(all->buckets, (size_t)all->bucket_count + 1),
                               MF_ARRAY(all->sorted, robots),
                               MF_ARRAY(all->blocks, blocks),
                               MF_ARRAY(all->pairs, wave),
                               MF_ARRAY(all->searches, MF_COLLISION_WAVE),
                               MF_ARRAY(all->gaps, wave),
                               MF_ARRAY(all->contacts, all->contact_capacity),
                               MF_ARRAY(all->touches, touches)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return no_memory(all, error);
    uint32_t solids = 0;
    for (uint32_t g = 0; g < all->group_count; g++) {
        const uint32_t own = all->groups[g].compound->solid_count;
        solids = own > solids ? own : solids;
        for (uint32_t i = 0; i < all->groups[g].count; i++)
            all->group_of[all->groups[g].first + i] = g;
    }
    return mf_scratch_create(context, mf_compound_search_scratch_size(solids), MF_COLLISION_WAVE,
                             &all->scratch, error);
}

static void destroy(mf_Context *context, void *user) {
    mf_Collisions *all = user;
    mf_scratch_destroy(context, all->scratch);
    for (uint32_t g = 0; g < all->group_count; g++) {
        mf_compound_destroy(all->groups[g].compound);
        mf_release(context, all->groups[g].parts);
    }
    mf_release(context, all->groups);
    mf_release(context, all->group_of);
    mf_release(context, all);
}

// ---- adding ------------------------------------------------------------------------------------

static const char *const reads[] =
    MF_NAMES("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
             "joint.angle", "joint.rate", "ball.orientation", "ball.rate", "free.position",
             "free.velocity", "fault.word", "motion.level");
static const char *const writes[] = {"wrench.link", "wrench.count", NULL};

static void forget(mf_World *world, void *user) {
    mf_Collisions *all = user;
    (void)world;
    all->searched = false;
    all->contact_count = 0;
    all->contacts_left = 0;
    if (all->solver != NULL)
        mf_solver_clear_contacts(all->solver);
}

const mf_Collisions *mf_collisions_of(const mf_World *world) {
    const mf_WorldSystemConfig *system = mf_world_find_system(world, "collisions");
    return system != NULL && system->run == mf_collisions_run ? system->user : NULL;
}

void mf_collisions_bind(const mf_Collisions *all, mf_CompoundSearch *search) {
    search->scratch = mf_scratch_borrow(all->scratch);
    all->search(search);
    mf_scratch_return(all->scratch, search->scratch);
}

// Poses of a robot's limbs at the start angles. `angles` is a buffer for the joints of a block.
static void refit_start(const mf_Collisions *all, const mf_CollisionGroup *group, double *angles) {
    static _Alignas(64) const double none[4 * MF_BLOCK];
    _Alignas(64) double upright[4 * MF_BLOCK] = {0};
    const mf_Model *model = group->compound->model;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        upright[lane] = 1.0;
    for (uint32_t j = 0; j < model->joint_count; j++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            angles[j * MF_BLOCK + lane] = model->start_angle[j];
    // Poses do not depend on rates: any value is valid.
    const mf_TreeState state = {.orientation = upright,
                                .linear = none,
                                .angular = none,
                                .angle = angles,
                                .rate = angles,
                                .wide = true};
    all->refit(group->compound, &state, MF_ALL_ROBOTS, group->parts);
}

// Limbs of a robot that overlap at the start angles do so by design and never collide.
static mf_Status leave_overlaps(mf_Collisions *all, const mf_CollisionGroup *group,
                                mf_Error *error) {
    const mf_Compound *compound = group->compound;
    const mf_CompoundSide side = mf_collisions_side(all, group->first);
    const size_t joints = compound->model->joint_count;
    double *angles = mf_allocate(all->context, (joints + 1) * MF_BLOCK, sizeof *angles);
    if (angles == NULL)
        return no_memory(all, error);
    refit_start(all, group, angles);
    mf_release(all->context, angles);
    all->pairs[0] = (mf_CompoundPair){.sides = {side, side}, .inner = true};
    mf_CompoundSearch search = {.pairs = all->pairs,
                                .pair_count = 1,
                                .touches = all->touches,
                                .capacity = MF_COLLISION_WAVE * all->config.contact_capacity};
    mf_collisions_bind(all, &search);
    for (uint32_t i = 0; i < search.touch_count; i++) {
        const uint32_t *two = search.touches[i].solids;
        compound->inner[(size_t)two[0] * compound->solid_count + two[1]] = false;
        compound->inner[(size_t)two[1] * compound->solid_count + two[0]] = false;
    }
    return MF_OK;
}

static void choose_kernels(mf_Collisions *all) {
    static const mf_CompoundRefitFn refits[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_refit);
    static const mf_CompoundDriftFn drifts[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_drift);
    static const mf_CompoundSearchFn searches[MF_KERNEL_ROWS][2] =
        MF_KERNEL_TABLE(mf_compound_search);
    static const mf_CompoundWithinFn withins[MF_KERNEL_ROWS][2] =
        MF_KERNEL_TABLE(mf_compound_within);
    const int row = mf_kernel_row(mf_world_isa(all->world));
    all->refit = refits[row][all->wide];
    all->drift = drifts[row][all->wide];
    all->search = searches[row][all->wide];
    all->within = withins[row][all->wide];
}

// Hash of the settings that results depend on.
static uint64_t hash_settings(const mf_Collisions *all) {
    const mf_CollisionsConfig *config = &all->config;
    const double solved[] = {(double)config->law, all->settings.give, all->settings.closing};
    const double values[] = {all->settings.stiffness, config->restitution,
                             isnan(config->friction) ? -1.0 : config->friction,
                             isnan(config->torsional_friction) ? -1.0 : config->torsional_friction,
                             config->depth};
    uint64_t hash = mf_hash_doubles(MF_HASH_START, values, sizeof values / sizeof *values);
    hash = mf_hash_u32(hash, config->pairs);
    hash = mf_hash_u32(hash, config->contact_capacity);
    if (config->law != MF_COLLISION_EXPLICIT)
        hash = mf_hash_doubles(hash, solved, sizeof solved / sizeof *solved);
    for (uint32_t g = 0; g < all->group_count; g++) {
        hash = mf_hash_u32(hash, all->groups[g].inner);
        hash = mf_hash_u32(hash, all->groups[g].takes_wrenches);
    }
    return hash;
}

// Hard contacts correct a fifth of their depth in a step, as joints do, but no faster than the
// restitution velocity: otherwise deep impacts would bounce higher.
static void fill_settings(mf_Collisions *all) {
    const mf_CollisionsConfig *config = &all->config;
    const double step = (double)mf_world_config_of(all->world)->step * 1e-9;
    const double duration = config->duration > 0.0 ? config->duration : 6.0 * step;
    const double time = config->contact_time > 0.0 ? config->contact_time : step;
    const double stiffness = 1.0 / (time * time), damping = 2.0 * config->contact_ratio / time;
    const double part = config->restitution < 0.2 ? config->restitution : 0.2;
    mf_CollisionSettings *out = &all->settings;
    *out = (mf_CollisionSettings){.stiffness = MF_PI * MF_PI / (duration * duration),
                                  .slow = config->restitution * config->restitution,
                                  .step = step};
    if (config->law == MF_COLLISION_COMPLIANT) {
        out->give = 1.0 / (damping + step * stiffness);
        out->closing = stiffness * out->give;
    } else {
        out->closing = part / step;
        out->rest = mf_clamp(10.0 * step * step, 1e-6, 5e-4);
        out->slowest = 20.0 * step;
    }
}

// Contacts beyond the solver's capacity are explicit.
static mf_Status join_solver(mf_Collisions *all, mf_Error *error) {
    const uint64_t few = 8 * (uint64_t)all->robot_count + 256, most = 65536;
    bool any = false;
    for (uint32_t g = 0; g < all->group_count; g++) {
        mf_CollisionGroup *group = &all->groups[g];
        group->solved = all->config.law != MF_COLLISION_EXPLICIT && mf_solver_takes(group->group);
        any = any || (group->solved && group->takes_wrenches);
    }
    if (!any)
        return MF_OK;
    MF_TRY(mf_solver_of(all->world, &all->solver, error));
    for (uint32_t g = 0; g < all->group_count; g++)
        if (all->groups[g].solved)
            MF_TRY(mf_solver_add_group(all->solver, all->groups[g].group, true, error));
    return mf_solver_reserve_contacts(all->solver, (uint32_t)(few < most ? few : most), error);
}

static mf_Status fill(mf_Collisions *all, mf_Error *error) {
    MF_TRY(take_members(all, &all->config, error));
    MF_TRY(make_memory(all, error));
    fill_settings(all);
    choose_kernels(all);
    for (uint32_t g = 0; g < all->group_count; g++)
        if (all->groups[g].inner && all->groups[g].compound->root != MF_NONE)
            MF_TRY(leave_overlaps(all, &all->groups[g], error));
    MF_TRY(join_solver(all, error));
    mf_WorldSystemConfig system =
        mf_attach_world_system("collisions", MF_PHASE_MOTION, mf_collisions_run, all);
    system.reset = forget;
    system.destroy = destroy;
    system.reads = reads;
    system.writes = writes;
    system.settings_hash = hash_settings(all);
    return mf_world_add_system(all->world, &system, error);
}

mf_Status mf_collisions_add(mf_World *world, const mf_CollisionsConfig *config, mf_Collisions **out,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_CollisionsConfig settings = config != NULL ? *config : mf_collisions_config();
    MF_NEED(world != NULL && out != NULL, error, "collisions: world or out is NULL");
    *out = NULL;
    MF_TRY(check_config(world, &settings, error));
    mf_Context *context = mf_world_context(world);
    mf_Collisions *all;
    MF_TRY(MF_ALLOCATE(context, "collisions", error, MF_ARRAY(all, 1)));
    all->context = context;
    all->world = world;
    all->config = settings;
    mf_Status status = fill(all, error);
    if (status != MF_OK) {
        destroy(context, all);
        return status;
    }
    all->config.members = NULL; // borrowed from the caller
    *out = all;
    return MF_OK;
}

mf_CollisionsStatistics mf_collisions_statistics(const mf_Collisions *collisions) {
    if (collisions == NULL)
        return (mf_CollisionsStatistics){0};
    return collisions->statistics;
}
