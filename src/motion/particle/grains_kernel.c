// Kernels of dry grains: spheres with springs and dampers at their contacts (Cundall and Strack
// 1979; the law of Luding 2008, section 2). docs/explanation/particles.md has the equations.
//
// First a list of contacts per grain, in the order of ranks; then one contact of each lane at a
// time. Both grains of a contact compute it, with equal and opposite results to the bit: all is odd
// or even in the exchange of the two. Contacts of the last step are found by their partner.
#include "math/lane.h"
#include "motion/particle/lanes.h"

#include <mayfly/world.h>

// Masks as whole numbers, for loops over the few lanes where they hold.

// Bit k is the truth value of lane k.
static MF_INLINE uint32_t mf_mask_bits(mf_mask mask) {
#if defined(MF_KERNEL_AVX512) || MF_LANES == 1
    return (uint32_t)mask;
#elif defined(MF_KERNEL_AVX2) && defined(MF_KERNEL_F64)
    return (uint32_t)_mm256_movemask_pd(mask);
#elif defined(MF_KERNEL_AVX2)
    return (uint32_t)_mm256_movemask_ps(mask);
#elif defined(MF_KERNEL_F64)
    return (uint32_t)_mm_movemask_pd(mask);
#else
    return (uint32_t)_mm_movemask_ps(mask);
#endif
}

// The number of the lowest bit that is set, of `bits` that are not all 0.
static MF_INLINE uint32_t mf_lowest_bit(uint32_t bits) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctz(bits);
#else
    uint32_t bit = 0;
    while ((bits >> bit & 1) == 0)
        bit++;
    return bit;
#endif
}

// [1] Largest change of a rolling rate in a step.
static const double roll_part = 0.2;

typedef struct Grain {
    Vec at, velocity, rate;
} Grain;

typedef struct Sum {
    Vec force, torque;
    mf_lane deepest; // [m] overlap
} Sum;

// Contacts of the lanes.
typedef struct Contacts {
    MF_ALIGNED(64) int32_t rank[MF_GRAIN_CONTACTS][MF_LANES]; // [1] of the partner
    MF_ALIGNED(64) int32_t count[MF_LANES];
    MF_ALIGNED(64) mf_real lost[MF_LANES]; // [1] for which there was no space
    int32_t most;
} Contacts;

// What is kept from step to step: partners, and slips of each [m].
typedef struct Memory {
    MF_ALIGNED(64) int32_t partner[MF_GRAIN_CONTACTS][MF_LANES];
    MF_ALIGNED(64) mf_real slip[MF_GRAIN_CONTACTS][3][MF_LANES];
    uint32_t most; // [1] places in use
} Memory;

// Constants of a contact.
typedef struct Law {
    mf_lane stiffness, damping, sliding_stiffness, inverse_sliding, sliding_damping, step;
} Law;

static MF_INLINE const mf_real *row_of(const mf_ParticleTask *task, int row) {
    return (const mf_real *)task->rows[row];
}

static MF_INLINE Vec vec_any(const mf_ParticleTask *task, int row, uint32_t rank) {
    return MF_VALUE(Vec, mf_load_any(row_of(task, row) + rank),
                    mf_load_any(row_of(task, row + 1) + rank),
                    mf_load_any(row_of(task, row + 2) + rank));
}

static MF_INLINE Vec vec_gather(const mf_ParticleTask *task, int row, mf_index rank) {
    return MF_VALUE(Vec, mf_gather(row_of(task, row), rank), mf_gather(row_of(task, row + 1), rank),
                    mf_gather(row_of(task, row + 2), rank));
}

static MF_INLINE Law law_of(const mf_ParticlePlan *plan) {
    Law law;
    law.stiffness = mf_set((mf_real)plan->stiffness);
    law.damping = mf_set((mf_real)plan->damping);
    law.sliding_stiffness = mf_set((mf_real)plan->sliding_stiffness);
    law.inverse_sliding = mf_set((mf_real)(1.0 / plan->sliding_stiffness));
    law.sliding_damping = mf_set((mf_real)plan->sliding_damping);
    law.step = mf_set((mf_real)plan->step);
    return law;
}

// ---- memory of contacts -------------------------------------------------------------------------

static MF_INLINE void load_memory(const mf_ParticleTask *task, const uint32_t *order, uint32_t live,
                                  Memory *memory) {
    const uint32_t *partners = (const uint32_t *)task->contact_with.base;
    const mf_real *slips = (const mf_real *)task->contact_slip.base;
    memory->most = 0;
    size_t at[MF_LANES], slip[MF_LANES];
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        const uint32_t i = order[lane < live ? lane : 0];
        at[lane] = position_in(&task->contact_with, i);
        slip[lane] = position_in(&task->contact_slip, i);
    }
    for (size_t k = 0; k < MF_GRAIN_CONTACTS && memory->most == k; k++) {
        uint32_t any = 0;
        for (uint32_t lane = 0; lane < MF_LANES; lane++) {
            const uint32_t partner = lane < live ? partners[at[lane] + 16 * k] : 0;
            memory->partner[k][lane] = (int32_t)partner;
            any |= partner;
        }
        for (size_t c = 0; any != 0 && c < 3; c++)
            for (uint32_t lane = 0; lane < MF_LANES; lane++)
                memory->slip[k][c][lane] = slips[slip[lane] + (3 * k + c) * 16];
        memory->most += any != 0;
    }
}

// Old places behind the new ones become free.
static MF_INLINE void store_memory(const mf_ParticleTask *task, const Writers *who,
                                   const Memory *memory, uint32_t old) {
    uint32_t *partners = (uint32_t *)task->contact_with.base;
    mf_real *slips = (mf_real *)task->contact_slip.base;
    const uint32_t end = old > memory->most ? old : memory->most;
    for (uint32_t n = 0; n < who->count; n++) {
        const uint32_t lane = who->lane[n], i = who->order[lane];
        const size_t at = position_in(&task->contact_with, i),
                     slip = position_in(&task->contact_slip, i);
        for (size_t k = 0; k < end; k++) {
            const bool used = k < memory->most && memory->partner[k][lane] != 0;
            partners[at + k * 16] = used ? (uint32_t)memory->partner[k][lane] : 0;
            for (size_t c = 0; c < 3; c++)
                slips[slip + (3 * k + c) * 16] = used ? memory->slip[k][c][lane] : 0;
        }
    }
}

// Of the lanes where the mask holds; the others' is 0. Partners mostly keep their places, so the
// search begins at that of the contact.
static MF_INLINE Vec find_slip(const Memory *memory, mf_mask missing, mf_index partner,
                               uint32_t first) {
    const mf_lane zero = mf_zero();
    Vec slip = {zero, zero, zero};
    for (uint32_t n = 0; n < memory->most && mf_any(missing); n++) {
        const uint32_t k = (first + n) % memory->most;
        const mf_mask same =
            mf_and(missing, mf_index_equal(partner, mf_load_index(memory->partner[k])));
        if (!mf_any(same))
            continue;
        missing = mf_and(missing, mf_not(same));
        slip.x = mf_select(same, mf_load(memory->slip[k][0]), slip.x);
        slip.y = mf_select(same, mf_load(memory->slip[k][1]), slip.y);
        slip.z = mf_select(same, mf_load(memory->slip[k][2]), slip.z);
    }
    return slip;
}

// Place k of all lanes, empty where the mask does not hold.
static MF_INLINE void put_slip(Memory *memory, uint32_t k, mf_mask where, mf_index partner,
                               Vec slip) {
    mf_store_index(memory->partner[k], mf_select_index(where, partner, mf_set_index(0)));
    mf_store(memory->slip[k][0], slip.x);
    mf_store(memory->slip[k][1], slip.y);
    mf_store(memory->slip[k][2], slip.z);
}

// The next free place of each lane where the mask holds, if there is one.
static MF_INLINE void keep_slip(Memory *memory, uint32_t used[MF_LANES], mf_mask where,
                                mf_index partner, Vec slip) {
    MF_ALIGNED(64) mf_real rows[4][MF_LANES];
    MF_ALIGNED(64) int32_t partners[MF_LANES];
    mf_store(rows[0], slip.x);
    mf_store(rows[1], slip.y);
    mf_store(rows[2], slip.z);
    mf_store(rows[3], mf_keep(where, mf_set((mf_real)1)));
    mf_store_index(partners, partner);
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        if (rows[3][lane] == 0 || used[lane] == MF_GRAIN_CONTACTS)
            continue;
        const uint32_t k = used[lane]++;
        for (; memory->most <= k; memory->most++)
            for (uint32_t other = 0; other < MF_LANES; other++)
                memory->partner[memory->most][other] = 0;
        memory->partner[k][lane] = partners[lane];
        for (uint32_t c = 0; c < 3; c++)
            memory->slip[k][c][lane] = rows[c][lane];
    }
}

// ---- contacts -----------------------------------------------------------------------------------

// Grains nearer than the diameter.
static MF_INLINE void list_contacts(const mf_ParticleTask *task, const Near *near, Vec at,
                                    uint32_t live, Contacts *out) {
    const mf_real *x = row_of(task, MF_PARTICLE_X), *y = row_of(task, MF_PARTICLE_Y),
                  *z = row_of(task, MF_PARTICLE_Z);
    const mf_real reach = (mf_real)task->plan->reach;
    const mf_lane square_reach = mf_set(reach * reach), zero = mf_zero();
    const mf_mask here = first_lanes(live);
    out->most = 0;
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        out->count[lane] = 0;
        out->lost[lane] = 0;
    }
    for (int32_t n = 0; n < near->count; n++)
        for (int32_t j = near->first[n]; j < near->end[n]; j++) {
            const mf_lane dx = mf_set(x[j]) - at.x, dy = mf_set(y[j]) - at.y,
                          dz = mf_set(z[j]) - at.z;
            const mf_lane square = mf_fma(dx, dx, mf_fma(dy, dy, dz * dz));
            const mf_mask touch = mf_and(mf_less(square, square_reach), mf_less(zero, square));
            for (uint32_t bits = mf_mask_bits(mf_and(touch, here)); bits != 0; bits &= bits - 1) {
                const uint32_t lane = mf_lowest_bit(bits);
                if (out->count[lane] < MF_GRAIN_CONTACTS)
                    out->rank[out->count[lane]++][lane] = j;
                else
                    out->lost[lane] += 1;
            }
        }
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        out->most = out->count[lane] > out->most ? out->count[lane] : out->most;
}

typedef struct Touch {
    mf_mask here;
    Vec normal;      // [1] towards the grain
    mf_lane overlap; // [m]
    Vec velocity;    // [m/s] of its surface against the other's
    Vec spin;        // [rad/s] of it against the other
    mf_lane arm;     // [m] from its center to the contact
    mf_lane friction;
} Touch;

// Force and torque on the grain; the slip becomes that at the end of the step.
static MF_INLINE Vec act(const mf_ParticlePlan *plan, const Law *law, const Touch *touch, Vec *slip,
                         Sum *sum) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Vec n = touch->normal;
    mf_lane parting = vec_dot(touch->velocity, n);
    mf_lane load = mf_max(law->stiffness * touch->overlap - law->damping * parting, zero);
    Vec along = vec_fma(n, -parting, touch->velocity);
    Vec s = vec_fma(n, -vec_dot(*slip, n), *slip);
    s = vec_fma(along, law->step, s);
    Vec pull =
        vec_add(vec_scale(s, law->sliding_stiffness), vec_scale(along, law->sliding_damping));
    mf_lane size = mf_sqrt(vec_dot(pull, pull)), most = touch->friction * load;
    mf_mask slides = mf_less(most, size);
    mf_lane part = mf_select(slides, most / mf_select(slides, size, one), one);
    pull = vec_scale(pull, part);
    Vec rest = vec_scale(vec_fma(along, -law->sliding_damping, pull), law->inverse_sliding);
    *slip = vec_select(slides, rest, s);
    Vec force = vec_fma(n, load, MF_VALUE(Vec, -pull.x, -pull.y, -pull.z));
    force = MF_VALUE(Vec, mf_keep(touch->here, force.x), mf_keep(touch->here, force.y),
                     mf_keep(touch->here, force.z));
    sum->force = vec_add(sum->force, force);
    sum->torque = vec_add(sum->torque, vec_scale(vec_cross(force, n), touch->arm));
    mf_lane turning = mf_sqrt(vec_dot(touch->spin, touch->spin));
    mf_lane hold = mf_set((mf_real)plan->rolling) * touch->arm * mf_keep(touch->here, load);
    mf_lane drag = mf_set((mf_real)(roll_part * plan->inertia / plan->step));
    drag = mf_select(mf_less(drag * turning, hold), drag,
                     hold / mf_select(mf_less(zero, turning), turning, one));
    sum->torque = vec_fma(touch->spin, -drag, sum->torque);
    sum->deepest = mf_max(sum->deepest, mf_keep(touch->here, touch->overlap));
    return force;
}

static MF_INLINE void touch_grains(const mf_ParticleTask *task, const Law *law, const Grain *own,
                                   const Contacts *contacts, const Memory *before, Memory *after,
                                   uint32_t used[MF_LANES], Sum *sum) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_lane half = mf_set((mf_real)0.5), one = mf_set((mf_real)1), zero = mf_zero();
    for (int32_t k = 0; k < contacts->most; k++) {
        Touch touch;
        touch.here = mf_index_less(mf_set_index(k), mf_load_index(contacts->count));
        mf_index other =
            mf_select_index(touch.here, mf_load_index(contacts->rank[k]), mf_set_index(0));
        Vec offset = vec_sub(own->at, vec_gather(task, MF_PARTICLE_X, other));
        Vec velocity = vec_sub(own->velocity, vec_gather(task, MF_GRAIN_VX, other));
        Vec rate = vec_gather(task, MF_GRAIN_WX, other);
        mf_lane far = mf_sqrt(vec_dot(offset, offset));
        touch.normal = vec_scale(offset, one / mf_select(mf_less(zero, far), far, one));
        touch.overlap = mf_set((mf_real)plan->spacing) - far;
        touch.arm = far * half;
        // Its contact point is at -arm n, the other's at arm n.
        Vec rotation = vec_cross(vec_add(own->rate, rate), touch.normal);
        touch.velocity = vec_fma(rotation, -touch.arm, velocity);
        touch.spin = vec_sub(own->rate, rate);
        touch.friction = mf_set((mf_real)plan->friction);
        mf_index partner = mf_gather_index((const int32_t *)task->order, other) + mf_set_index(1);
        Vec slip = find_slip(before, touch.here, partner, (uint32_t)k);
        act(plan, law, &touch, &slip, sum);
        put_slip(after, (uint32_t)k, touch.here, partner, slip);
    }
    after->most = (uint32_t)contacts->most;
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        used[lane] = (uint32_t)contacts->count[lane];
}

// ---- walls --------------------------------------------------------------------------------------

typedef struct Wall {
    Gap gap;
    Vec velocity; // [m/s] of its surface
    Vec rate;     // [rad/s]
    double friction;
    uint32_t partner;
} Wall;

// Returns the force on the grain.
static MF_INLINE Vec touch_wall(const mf_ParticlePlan *plan, const Law *law, const Grain *own,
                                const Wall *wall, const Memory *before, Memory *after,
                                uint32_t used[MF_LANES], mf_mask here, Sum *sum) {
    const mf_index partner = mf_set_index((int32_t)wall->partner);
    const mf_lane radius = mf_set((mf_real)(0.5 * plan->spacing));
    Touch touch;
    touch.overlap = radius - wall->gap.distance;
    touch.here = mf_and(here, mf_less(mf_zero(), touch.overlap));
    touch.normal = wall->gap.normal;
    touch.arm = wall->gap.distance;
    touch.velocity = vec_fma(vec_cross(own->rate, touch.normal), -touch.arm,
                             vec_sub(own->velocity, wall->velocity));
    touch.spin = vec_sub(own->rate, wall->rate);
    touch.friction = mf_set((mf_real)wall->friction);
    Vec slip = find_slip(before, touch.here, partner, after->most);
    Vec force = act(plan, law, &touch, &slip, sum);
    keep_slip(after, used, touch.here, partner, slip);
    return force;
}

static MF_INLINE void touch_walls(const mf_ParticleTask *task, const mf_LaneMap *map,
                                  const Law *law, const Grain *own, uint32_t live,
                                  const Memory *before, Memory *after, uint32_t used[MF_LANES],
                                  Sum *sum, double (*wrench)[6]) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_lane radius = mf_set((mf_real)(0.5 * plan->spacing)), zero = mf_zero();
    const mf_mask here = first_lanes(live);
    Wall wall = {ground_gap(map, own->at, (mf_real)(0.5 * plan->spacing)),
                 {zero, zero, zero},
                 {zero, zero, zero},
                 plan->wall_friction,
                 MF_GRAIN_GROUND};
    if (mf_any(mf_and(here, mf_less(wall.gap.distance, radius))))
        touch_wall(plan, law, own, &wall, before, after, used, here, sum);
    if (task->solid_count == 0)
        return;
    const Bounds bounds = bounds_of(own->at, live);
    for (uint32_t s = 0; s < task->solid_count; s++) {
        const mf_Solid *solid = &task->solids[s];
        if (!bounds_overlap(&bounds, solid))
            continue;
        wall.gap = solid_gap(solid, own->at);
        if (!mf_any(mf_and(here, mf_less(wall.gap.distance, radius))))
            continue;
        Vec point = vec_fma(wall.gap.normal, -wall.gap.distance, own->at);
        wall.velocity = solid_velocity(solid, point);
        wall.rate = vec_set(solid->rate);
        wall.friction = solid->friction;
        wall.partner = MF_GRAIN_GROUND + 1 + s;
        Vec force = touch_wall(plan, law, own, &wall, before, after, used, here, sum);
        push_solid(solid, point, vec_scale(force, mf_set((mf_real)-1)), live, wrench[s]);
    }
}

// ---- a step -------------------------------------------------------------------------------------

static MF_INLINE void store_grain(const mf_ParticleTask *task, const Grain *own, const Sum *sum,
                                  uint32_t rank, uint32_t live, const Memory *after, uint32_t old,
                                  const Contacts *contacts) {
    const mf_ParticlePlan *plan = task->plan;
    const uint32_t *order = task->order + rank;
    const mf_lane step = mf_set((mf_real)plan->step);
    Vec acceleration =
        vec_fma(sum->force, mf_set((mf_real)(1.0 / plan->mass)), vec_set(plan->gravity));
    if (task->extra[0] != NULL)
        acceleration = vec_add(acceleration, extra_of(task, MF_EXTRA_X, rank));
    const mf_lane spin = mf_set((mf_real)(plan->step / plan->inertia));
    Vec low_at = gather_lows(&task->position, order, live),
        low_velocity = gather_lows(&task->velocity, order, live),
        low_rate = gather_lows(&task->rate, order, live);
    Vec velocity = vec_sum_fma(acceleration, step, own->velocity, &low_velocity);
    Vec at = vec_sum_fma(velocity, step, own->at, &low_at);
    Vec rate = vec_sum_fma(sum->torque, spin, own->rate, &low_rate);
    mf_lane size = mf_abs(at.x) + mf_abs(at.y) + mf_abs(at.z);
    mf_lane speed = mf_abs(velocity.x) + mf_abs(velocity.y) + mf_abs(velocity.z) + mf_abs(rate.x) +
                    mf_abs(rate.y) + mf_abs(rate.z);
    mf_mask fine = mf_and(mf_finite(size + speed), mf_less_equal(size, mf_set((mf_real)1e7)));
    const Writers who = writers_of(order, live, fine);
    if (who.count < live) {
        const Writers gone = writers_of(order, live, mf_not(fine));
        fault_particles(task, &gone, MF_FAULT_NONFINITE);
    }
    scatter_vec(&task->position, &who, at);
    scatter_vec(&task->velocity, &who, vec_if_moves(velocity));
    scatter_vec(&task->rate, &who, vec_if_moves(rate));
    scatter_lows(&task->position, &who, low_at);
    scatter_lows(&task->velocity, &who, low_velocity);
    scatter_lows(&task->rate, &who, low_rate);
    store_memory(task, &who, after, old);
    mf_lane squeezed = sum->deepest * mf_set((mf_real)(1.0 / plan->spacing));
    mf_mask odd = mf_and(fine, mf_less(mf_set((mf_real)plan->overlap), squeezed));
    if (mf_any(odd)) {
        const Writers odd_ones = writers_of(order, live, odd);
        warn_particles(task, &odd_ones, MF_WARNING_SOLVER, MF_WARNING_KINDS, squeezed);
    }
    const mf_lane lost = mf_load(contacts->lost);
    odd = mf_and(fine, mf_less(mf_zero(), lost));
    if (mf_any(odd)) {
        const Writers crowded = writers_of(order, live, odd);
        warn_particles(task, &crowded, MF_WARNING_CONTACTS, MF_WARNING_KINDS, lost);
        fault_particles(task, &crowded, MF_FAULT_CONTACTS);
    }
}

void MF_KERNEL(mf_grains_step)(const mf_ParticleTask *task, uint32_t first, uint32_t count,
                               double (*wrench)[6]) {
    const mf_LaneMap map = mf_lane_map(task->terrain);
    const Law law = law_of(task->plan);
    const mf_lane zero = mf_zero();
    const uint32_t columns = (uint32_t)task->size[0];
    for (uint32_t row = first; row < first + count; row++) {
        const uint32_t end = (uint32_t)task->starts[(row + 1) * columns];
        for (uint32_t rank = (uint32_t)task->starts[row * columns]; rank < end; rank += MF_LANES) {
            const uint32_t live = end - rank < MF_LANES ? end - rank : MF_LANES;
            const Near near =
                near_rows(task, row, task->column[rank], task->column[rank + live - 1]);
            const Grain own = {vec_any(task, MF_PARTICLE_X, rank), vec_any(task, MF_GRAIN_VX, rank),
                               vec_any(task, MF_GRAIN_WX, rank)};
            Sum sum = {{zero, zero, zero}, {zero, zero, zero}, zero};
            Contacts contacts;
            Memory before, after;
            uint32_t used[MF_LANES] = {0};
            after.most = 0;
            load_memory(task, task->order + rank, live, &before);
            list_contacts(task, &near, own.at, live, &contacts);
            touch_grains(task, &law, &own, &contacts, &before, &after, used, &sum);
            touch_walls(task, &map, &law, &own, live, &before, &after, used, &sum, wrench);
            store_grain(task, &own, &sum, rank, live, &after, before.most, &contacts);
        }
    }
}

// ---- sorted rows --------------------------------------------------------------------------------

double MF_KERNEL(mf_grains_gather)(const mf_ParticleTask *task, uint32_t first, uint32_t count) {
    const mf_real *fields[3] = {(const mf_real *)task->position.base,
                                (const mf_real *)task->velocity.base,
                                (const mf_real *)task->rate.base};
    static const int rows[3] = {MF_PARTICLE_X, MF_GRAIN_VX, MF_GRAIN_WX};
    for (uint32_t rank = first; rank < first + count; rank++) {
        const uint32_t i = task->order[rank];
        const size_t three = (size_t)(i / 16) * 48 + i % 16;
        for (int f = 0; f < 3; f++)
            for (int c = 0; c < 3; c++)
                ((mf_real *)task->rows[rows[f] + c])[rank] = fields[f][three + (size_t)c * 16];
    }
    return 0.0;
}
