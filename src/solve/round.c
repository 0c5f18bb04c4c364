// Interaction in a step: runs detection, collisions and air when due and applies their results.
//
// A round begins with the positions at the start of the step. They are loaded by agent (one
// parallel region), the lists are rebuilt if an agent moved too far, and the work is done by slot
// (a second region): downwash, colliding pairs, ground and fence, neighbors. Results are written by
// agent (a third). Faults and events are applied on the calling thread, sorted, so their order does
// not depend on threads.
//
// With a latency, detection and collisions have separate searches, and their results take effect
// `latency` steps later, on the world's threads as on the background thread.
//
// Invariants: a round uses the positions and faults at its beginning, so a collision is found for
// both agents or for none; sums are integers, so results do not depend on the order of pairs.
#include "solve/solver.h"
#include "solve/parts.h"
#include "terrain/lookup.h"
#include "base/context.h"
#include "world/group.h"

#include <string.h>

// ---- one chunk ----------------------------------------------------------------------------------

static void set_flag(mf_Interaction *all, uint32_t agent, uint8_t flag) {
    __atomic_fetch_or(&all->flags[agent], flag, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&all->any_flag, __ATOMIC_RELAXED))
        __atomic_store_n(&all->any_flag, true, __ATOMIC_RELAXED);
}

static void note_pairs(void *user, uint32_t chunk, const int32_t *first, const int32_t *second,
                       uint32_t count) {
    mf_Interaction *all = user;
    const mf_Neighbors *search = all->touch;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)search->agent_of[first[i]];
        uint32_t b = (uint32_t)search->agent_of[second[i]];
        set_flag(all, a, MF_FLAG_TOUCHED);
        set_flag(all, b, MF_FLAG_TOUCHED);
        if (all->pair_counts[chunk] < MF_CHUNK_PAIRS) {
            uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
            all->pairs[(size_t)chunk * MF_CHUNK_PAIRS + all->pair_counts[chunk]++] = pair;
        }
    }
    __atomic_fetch_add(&all->pairs_found, count, __ATOMIC_RELAXED);
}

static double position_of(const mf_Neighbors *search, int32_t slot, int component) {
    const void *rows[3] = {search->x, search->y, search->z};
    if (search->config.double_precision)
        return ((const double *)rows[component])[slot];
    return (double)((const float *)rows[component])[slot];
}

static void scan_cells(mf_Interaction *all, uint32_t chunk) {
    const mf_Neighbors *search = all->touch;
    const mf_Terrain *terrain = mf_world_config_of(all->world)->terrain;
    mf_ScanTask scan = all->scan;
    if (!scan.ground && !scan.fence)
        return;
    all->scan_chunk(&scan, chunk);
    for (uint32_t i = 0; i < scan.low_count; i++) {
        int32_t slot = scan.low_slots[i];
        uint32_t group = (uint32_t)search->group_of_slot[slot];
        if (!all->members[group].terrain)
            continue;
        const double at[3] = {position_of(search, slot, 0), position_of(search, slot, 1),
                              position_of(search, slot, 2)};
        if (!(mf_terrain_depth(terrain, at) > -1e30))
            continue; // beyond a map that ends
        double ground = mf_terrain_height(terrain, at[0], at[1], NULL);
        double stands = ground + all->clearance[group];
        if (at[2] < stands - all->config.terrain_tolerance)
            set_flag(all, (uint32_t)search->agent_of[slot], MF_FLAG_GROUND);
    }
    for (uint32_t i = 0; i < scan.outside_count; i++)
        set_flag(all, (uint32_t)search->agent_of[scan.outside_slots[i]], MF_FLAG_OUTSIDE);
}

void mf_interaction_work(mf_Interaction *all, mf_Neighbors *search, uint32_t work, uint32_t chunk) {
    if ((work & MF_WORK_AIR) != 0 && all->config.downwash) {
        uint32_t first = chunk * MF_NEIGHBOR_CHUNK;
        uint32_t left = search->slot_count - first;
        memset(all->air_task.downward + first, 0,
               (left < MF_NEIGHBOR_CHUNK ? left : MF_NEIGHBOR_CHUNK) * sizeof(int32_t));
        search->jets(search, chunk, all->jets, &all->air_task);
    }
    if ((work & MF_WORK_COLLIDE) != 0) {
        scan_cells(all, chunk);
        if (all->config.collide)
            search->pairs(search, chunk, note_pairs, all);
    }
    if ((work & MF_WORK_DETECT) != 0)
        search->detect(search, chunk, &all->query, &all->answer);
}

void mf_interaction_begin_touch(mf_Interaction *all) {
    memset(all->pair_counts, 0, all->touch->chunk_count * sizeof *all->pair_counts);
    all->pairs_found = 0;
}

// ---- parallel regions ---------------------------------------------------------------------------

struct Region;
typedef void (*RegionFn)(struct Region *region, uint32_t first, uint32_t count);

typedef struct Region {
    mf_Interaction *all;
    mf_Neighbors *search;
    uint32_t work;
    uint32_t count, piece; // [1] blocks or chunks, and their number per piece
    RegionFn function;
    uint32_t stale; // MF_NEIGHBOR_*
} Region;

static void run_part(void *context, uint32_t index) {
    Region *region = context;
    uint32_t first = index * region->piece, left = region->count - first;
    region->function(region, first, left < region->piece ? left : region->piece);
}

static void run_region(Region *region, uint32_t count, uint32_t largest, RegionFn function) {
    mf_Context *context = region->all->context;
    uint32_t threads = mf_context_threads(context);
    uint32_t piece = threads == 1 ? count : (count + 8 * threads - 1) / (8 * threads);
    region->count = count;
    region->piece = piece < 1 ? 1 : piece > largest && threads > 1 ? largest : piece;
    region->function = function;
    mf_parallel_for(context, (count + region->piece - 1) / region->piece, run_part, region);
}

static bool wants_view(const Region *region) {
    return (region->work & MF_WORK_DETECT) != 0 && region->all->query.in_view;
}

static bool wants_velocity(const Region *region) {
    return (region->work & MF_WORK_DETECT) != 0 && region->all->query.relative;
}

static void place_part(Region *region, uint32_t first, uint32_t count) {
    mf_neighbors_gather(region->search, first, count, wants_view(region), wants_velocity(region));
}

static void load_part(Region *region, uint32_t first, uint32_t count) {
    uint32_t stale =
        mf_neighbors_load(region->search, first, count, wants_view(region), wants_velocity(region));
    if (stale != 0)
        __atomic_fetch_or(&region->stale, stale, __ATOMIC_RELAXED);
}

static void work_part(Region *region, uint32_t first, uint32_t count) {
    for (uint32_t chunk = first; chunk < first + count; chunk++)
        mf_interaction_work(region->all, region->search, region->work, chunk);
}

static void write_part(Region *region, uint32_t first, uint32_t count) {
    const mf_Interaction *all = region->all;
    if ((region->work & MF_WORK_AIR) != 0)
        all->blow(&all->air_task, all->blow_to, first, count);
    if ((region->work & MF_WORK_DETECT) != 0)
        mf_neighbors_deliver(all->detect, &all->query, &all->answer, all->output, first, count);
}

static void write_out(mf_Interaction *all, mf_Neighbors *search, uint32_t work) {
    Region region = {.all = all, .search = search, .work = work};
    if ((work & (MF_WORK_AIR | MF_WORK_DETECT)) != 0)
        run_region(&region, search->block_count, 64, write_part);
}

// ---- faults and events --------------------------------------------------------------------------

static void add_event(mf_Interaction *all, mf_EventKind kind, uint32_t agent, uint32_t partner) {
    if (all->event_count == all->config.event_capacity) {
        all->events_lost++;
        return;
    }
    mf_InteractionEvent *event = &all->events[all->event_count++];
    *event = (mf_InteractionEvent){
        .time = all->collision_time, .agent = agent, .partner = partner, .kind = kind};
    for (int c = 0; c < 3; c++)
        event->position[c] = position_of(all->touch, all->touch->slot_of[agent], c);
}

static void report_pairs(mf_Interaction *all) {
    uint32_t count = 0;
    for (uint32_t chunk = 0; chunk < all->touch->chunk_count; chunk++) {
        memmove(all->pairs + count, all->pairs + (size_t)chunk * MF_CHUNK_PAIRS,
                all->pair_counts[chunk] * sizeof *all->pairs);
        count += all->pair_counts[chunk];
    }
    mf_solver_sort(all->pairs, count);
    for (uint32_t i = 0; i < count; i++)
        add_event(all, MF_EVENT_COLLISION, (uint32_t)(all->pairs[i] >> 32),
                  (uint32_t)all->pairs[i]);
    all->events_lost += all->pairs_found - count;
    all->collisions += all->pairs_found;
}

static void raise_fault(mf_Interaction *all, uint32_t agent, uint32_t bit) {
    const mf_Neighbors *search = all->touch;
    uint32_t group = search->group_of[agent / MF_BLOCK];
    all->fault[group][agent - search->groups[group].first_block * MF_BLOCK] |= bit;
}

static void report_ground(mf_Interaction *all) {
    for (uint32_t agent = 0; agent < all->touch->slot_count; agent++)
        if ((all->flags[agent] & MF_FLAG_GROUND) != 0) {
            add_event(all, MF_EVENT_TERRAIN, agent, MF_NONE);
            raise_fault(all, agent, MF_FAULT_TERRAIN);
        }
}

// An event when an agent leaves the box, not while it is outside.
static void report_fence(mf_Interaction *all) {
    all->any_outside = false;
    for (uint32_t agent = 0; agent < all->touch->slot_count; agent++) {
        uint8_t outside = (all->flags[agent] & MF_FLAG_OUTSIDE) != 0;
        if (outside && !all->outside[agent])
            add_event(all, MF_EVENT_FENCE, agent, MF_NONE);
        if (outside && all->config.fence_faults)
            raise_fault(all, agent, MF_FAULT_FENCE);
        all->outside[agent] = outside;
        all->any_outside |= outside != 0;
    }
}

static void apply_touch(mf_Interaction *all) {
    if (!all->any_flag && !all->any_outside)
        return;
    if (all->pairs_found > 0) {
        report_pairs(all);
        for (uint32_t agent = 0; agent < all->touch->slot_count; agent++)
            if ((all->flags[agent] & MF_FLAG_TOUCHED) != 0)
                raise_fault(all, agent, MF_FAULT_COLLISION);
    }
    report_ground(all);
    report_fence(all);
    memset(all->flags, 0, all->touch->slot_count);
    all->any_flag = false;
}

// ---- rounds -------------------------------------------------------------------------------------

// Runs `work` with one search, or starts it on the background thread once the positions are loaded.
static void begin_work(mf_Interaction *all, mf_Neighbors *search, uint32_t work, mf_Time time) {
    if (work == 0)
        return;
    Region region = {.all = all, .search = search, .work = work};
    run_region(&region, search->block_count, 64, load_part);
    run_region(&region, search->block_count, 64, place_part);
    if ((work & MF_WORK_COLLIDE) != 0)
        all->collision_time = time;
    all->detections += (work & MF_WORK_DETECT) != 0;
    if (all->background != NULL && (work & MF_WORK_AIR) == 0) {
        mf_background_begin(all->background, work, region.stale);
        return;
    }
    mf_neighbors_renew(search, region.stale, false, wants_view(&region), wants_velocity(&region));
    if ((work & MF_WORK_COLLIDE) != 0)
        mf_interaction_begin_touch(all);
    run_region(&region, search->chunk_count, 8, work_part);
}

static void run_at_once(mf_Interaction *all, const mf_WorldRun *run) {
    mf_Neighbors *search = all->detect != NULL  ? all->detect
                           : all->touch != NULL ? all->touch
                                                : all->air;
    begin_work(all, search, all->due, run->time);
    write_out(all, search, all->due);
    if ((all->due & MF_WORK_COLLIDE) != 0)
        apply_touch(all);
}

static void finish(mf_Interaction *all, uint32_t work) {
    if (all->background != NULL)
        mf_background_wait(all->background, work);
    if (work == MF_WORK_DETECT)
        write_out(all, all->detect, MF_WORK_DETECT);
    else
        apply_touch(all);
    all->pending &= ~work;
}

static void run_later(mf_Interaction *all, const mf_WorldRun *run) {
    // Neighbors first: agents that fail now were still valid in the search.
    if (all->pending & MF_WORK_DETECT && --all->detection_wait == 0)
        finish(all, MF_WORK_DETECT);
    if (all->pending & MF_WORK_COLLIDE && --all->collision_wait == 0)
        finish(all, MF_WORK_COLLIDE);
    uint32_t later = all->due & (MF_WORK_DETECT | MF_WORK_COLLIDE);
    begin_work(all, all->detect, later & MF_WORK_DETECT, run->time);
    begin_work(all, all->touch, later & MF_WORK_COLLIDE, run->time);
    all->pending |= later;
    if ((later & MF_WORK_DETECT) != 0)
        all->detection_wait = all->config.latency;
    if ((later & MF_WORK_COLLIDE) != 0)
        all->collision_wait = all->config.latency;
    if ((all->due & MF_WORK_AIR) != 0) {
        begin_work(all, all->air, MF_WORK_AIR, run->time);
        write_out(all, all->air, MF_WORK_AIR);
    }
}

static void run_round(const mf_WorldRun *run, void *user) {
    mf_Interaction *all = user;
    if (all->config.latency > 0)
        run_later(all, run);
    else if (all->due != 0)
        run_at_once(all, run);
    all->due = 0;
}

static void mark_detection(const mf_WorldRun *run, void *user) {
    (void)run;
    ((mf_Interaction *)user)->due |= MF_WORK_DETECT;
}
static void mark_touch(const mf_WorldRun *run, void *user) {
    (void)run;
    ((mf_Interaction *)user)->due |= MF_WORK_COLLIDE;
}
static void mark_air(const mf_WorldRun *run, void *user) {
    (void)run;
    ((mf_Interaction *)user)->due |= MF_WORK_AIR;
}

// ---- systems ------------------------------------------------------------------------------------

static bool has_pending(const void *user) {
    return ((const mf_Interaction *)user)->pending != 0;
}

// After a restore: resets everything that is not in fields.
static void forget(mf_World *world, void *user) {
    mf_Interaction *all = user;
    (void)world;
    if (all->background != NULL)
        mf_background_wait(all->background, all->pending);
    all->pending = 0;
    all->due = 0;
    mf_Neighbors *searches[] = {all->detect, all->touch, all->air};
    for (int i = 0; i < 3; i++)
        if (searches[i] != NULL)
            mf_neighbors_forget(searches[i]);
    if (all->touch != NULL) {
        memset(all->flags, 0, all->touch->slot_count);
        memset(all->outside, 0, all->touch->slot_count);
    }
    all->any_flag = all->any_outside = false;
}

void mf_interaction_destroy(mf_Interaction *all) {
    mf_Context *context = all->context;
    mf_background_destroy(all->background);
    if (all->detect != NULL)
        mf_neighbors_answer_release(all->detect, &all->answer);
    mf_Neighbors *searches[] = {all->detect, all->touch, all->air};
    for (int i = 0; i < 3; i++) {
        bool again = false;
        for (int before = 0; before < i; before++)
            again |= searches[before] == searches[i];
        if (!again)
            mf_neighbors_destroy(searches[i]);
    }
    mf_release(context, all->flags);
    mf_release(context, (void *)all->air_task.plan);
    mf_release(context, all->air_task.downward);
    mf_release(context, all->events);
    mf_release(context, all);
}

static void destroy(mf_Context *context, void *user) {
    (void)context;
    mf_interaction_destroy(user);
}

static uint64_t hash_settings(const mf_Interaction *all) {
    const mf_InteractionConfig *config = &all->config;
    const double reals[] = {
        config->radius,        config->view_angle,     config->terrain_tolerance,
        config->fence_low[0],  config->fence_low[1],   config->fence_low[2],
        config->fence_high[0], config->fence_high[1],  config->fence_high[2],
        config->wind[0],       config->wind[1],        config->wind[2],
        config->wind_ground,   config->wind_roughness, config->wind_reference,
        config->air_density,   config->downwash_reach};
    const uint32_t whole[] = {config->detect,       config->nearest,  config->relative,
                              config->collide,      config->terrain,  config->fence,
                              config->fence_faults, config->latency,  config->downwash,
                              config->profile,      all->member_count};
    uint64_t hash = mf_hash_bytes(MF_HASH_START, reals, sizeof reals);
    hash = mf_hash_bytes(hash, whole, sizeof whole);
    for (uint32_t m = 0; m < all->member_count; m++) {
        const mf_InteractionMember *member = &all->members[m];
        const double of_member[] = {member->radius, member->rotor_area, member->thrust,
                                    member->collides, member->terrain};
        const char *name = mf_group_config_of(member->group)->name;
        hash = mf_hash_bytes(hash, of_member, sizeof of_member);
        hash = mf_hash_bytes(hash, name, strlen(name) + 1);
    }
    return hash;
}

static const char *const detection_reads[] = {"base.position", "base.orientation",
                                              "base.linear_velocity", "fault.word", NULL};
static const char *const detection_writes[] = {"neighbor.count", "neighbor.index",
                                               "neighbor.position", "neighbor.velocity", NULL};
static const char *const touch_reads[] = {"base.position", "fault.word", NULL};
static const char *const touch_writes[] = {"fault.word", NULL};
static const char *const air_writes[] = {"wind.velocity", NULL};

mf_Status mf_interaction_add_systems(mf_Interaction *all, mf_Error *error) {
    const struct {
        bool requested;
        const char *name;
        mf_Rate rate;
        mf_WorldSystemFn run;
        const char *const *reads, *const *writes;
    } marks[] = {
        {all->detect != NULL, "interaction.detection", all->config.detection_rate, mark_detection,
         detection_reads, detection_writes},
        {all->touch != NULL, "interaction.collision", all->config.collision_rate, mark_touch,
         touch_reads, touch_writes},
        {all->air != NULL, "interaction.air", all->config.air_rate, mark_air, touch_reads,
         air_writes},
    };
    // After the checks adding cannot fail; all or none, since the last system owns the memory.
    if (mf_world_system_count(all->world) + 4 > MF_WORLD_SYSTEM_LIMIT)
        return mf_fail(error, MF_LIMIT, "interaction: the world cannot have four more systems");
    mf_WorldSystemConfig system = mf_world_system_config();
    system.user = all;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].requested)
            MF_TRY(mf_world_check_rate(all->world, marks[i].name, marks[i].rate, error));
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!marks[i].requested)
            continue;
        system.name = marks[i].name;
        system.rate = marks[i].rate;
        system.run = marks[i].run;
        system.reads = marks[i].reads;
        system.writes = marks[i].writes;
        MF_TRY(mf_world_add_system(all->world, &system, error));
    }
    system.name = "interaction";
    system.rate = (mf_Rate){0, 0};
    system.run = run_round;
    system.reset = forget;
    system.pending = has_pending;
    system.destroy = destroy;
    system.reads = system.writes = NULL;
    system.settings_hash = hash_settings(all);
    return mf_world_add_system(all->world, &system, error);
}
