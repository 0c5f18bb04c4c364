// Kernels of fluids: weakly compressible smoothed particle hydrodynamics
// (docs/explanation/particles.md has the equations and their sources).
//
// One pass over the neighbors gives the accelerations and the rate of the pressure. Forces of a
// pair are exactly opposite, because every operation on the pair is antisymmetric. A particle sums
// over its neighbors in the order of ranks, so its sum depends neither on lanes nor on threads;
// particles beyond the reach of a lane add an exact 0.
#include "math/lane_record.h"
#include "motion/particle/lanes.h"

#include <mayfly/world.h>

typedef struct Drop {
    Vec at, velocity;
    mf_lane push;    // [1/s] pressure over 2 nu rho
    mf_lane dynamic; // [m^2/s] pressure without that of the column, over -rho c^2 / (2 D)
} Drop;

// With w = (1 - r/R)^3, x and v of the neighbor less the own:
typedef struct Sums {
    Vec force;       // [m/s] w (v - (push + push) x)
    mf_lane spread;  // [m^2/s] w (v . x + dynamic of the neighbor less the own)
    mf_lane density; // [1] w
} Sums;

// Effect of walls.
typedef struct Walls {
    Vec acceleration; // [m/s^2]
    mf_lane rate;     // [Pa/s] of the pressure
    mf_lane deepest;  // [m] depth in a wall
    mf_mask near;     // some wall is in reach
} Walls;

static MF_INLINE const mf_real *row_of(const mf_ParticleTask *task, int row) {
    return (const mf_real *)task->rows[row];
}

static MF_INLINE Drop load_drops(const mf_ParticleTask *task, const int32_t rank[MF_LANES]) {
    mf_lane row[MF_RECORD];
    mf_load_records((const mf_real *)task->records, rank, row);
    return MF_VALUE(Drop, {row[0], row[1], row[2]}, {row[3], row[4], row[5]}, row[MF_FLUID_PUSH],
                    row[MF_FLUID_DYNAMIC]);
}

static MF_INLINE Drop load_own(const mf_ParticleTask *task, uint32_t rank) {
    int32_t ranks[MF_LANES];
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        ranks[lane] = (int32_t)(rank + lane);
    return load_drops(task, ranks);
}

// ---- between particles --------------------------------------------------------------------------

// Adds each lane's pairs with the ranks of its list, one after the other.
static MF_INLINE void add_pairs(const mf_ParticleTask *task, const int32_t *list, uint32_t count,
                                const Drop *own, Sums *sums) {
    const double *force = task->plan->shape.force;
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero(),
                  inverse_reach = mf_set((mf_real)(1.0 / task->plan->reach));
    const mf_lane f0 = mf_set((mf_real)force[0]), f1 = mf_set((mf_real)force[1]),
                  f2 = mf_set((mf_real)force[2]);
    Sums s = *sums;
    const Drop o = *own;
    for (const int32_t *end = list + (size_t)count * MF_LANES; list < end; list += MF_LANES) {
        const Drop other = load_drops(task, list);
        const Vec d = vec_sub(other.at, o.at), u = vec_sub(other.velocity, o.velocity);
        const mf_lane square = mf_fma(d.x, d.x, mf_fma(d.y, d.y, d.z * d.z));
        const mf_lane near = mf_max(one - mf_sqrt(square) * inverse_reach, zero);
        const mf_lane weight = near * mf_fma(mf_fma(f2, near, f1), near, f0);
        const mf_lane pressed = other.push + o.push;
        const mf_lane mix = other.dynamic - o.dynamic;
        const mf_lane spread = mf_fma(u.x, d.x, mf_fma(u.y, d.y, mf_fma(u.z, d.z, mix)));
        s.force.x = mf_fma(weight, mf_fma(-pressed, d.x, u.x), s.force.x);
        s.force.y = mf_fma(weight, mf_fma(-pressed, d.y, u.y), s.force.y);
        s.force.z = mf_fma(weight, mf_fma(-pressed, d.z, u.z), s.force.z);
        s.spread = mf_fma(weight, spread, s.spread);
        s.density = s.density + weight;
    }
    *sums = s;
}

// ---- lists of neighbors -------------------------------------------------------------------------

enum {
    PART = 32,          // [1] ranks that are examined at a time
    LANE_NEIGHBORS = 80 // [1] neighbors of a lane that are kept until all lanes' are interleaved
};

// Storage of lists, one after another.
typedef struct Shelf {
    int32_t *next, *end;
} Shelf;

// Neighbors of each lane that have not been added yet.
typedef struct Found {
    int32_t rank[MF_LANES][LANE_NEIGHBORS + MF_LANES];
    uint32_t count[MF_LANES], most;
    uint32_t stored; // [1] of the list behind shelf->next
    bool full;       // the shelf was
} Found;

// Appends those of ranks first .. end - 1 that are in reach of particle `own`.
static MF_INLINE uint32_t find_neighbors(const mf_ParticleTask *task, uint32_t own, int32_t first,
                                         int32_t end, int32_t *list, uint32_t count) {
    const mf_real *x = row_of(task, MF_PARTICLE_X), *y = row_of(task, MF_PARTICLE_Y),
                  *z = row_of(task, MF_PARTICLE_Z);
    const mf_lane own_x = mf_set(x[own]), own_y = mf_set(y[own]), own_z = mf_set(z[own]);
    const mf_lane square_reach = mf_set((mf_real)(task->list_reach * task->list_reach));
    const uint32_t before = count;
    for (int32_t j = first; j < end; j += MF_LANES) {
        const mf_lane dx = mf_load_any(x + j) - own_x, dy = mf_load_any(y + j) - own_y,
                      dz = mf_load_any(z + j) - own_z;
        const mf_lane square = mf_fma(dx, dx, mf_fma(dy, dy, dz * dz));
        count += mf_append_numbers(list + count, mf_less(square, square_reach), j);
    }
    while (count > before && list[count - 1] >= end)
        count--;
    return count;
}

// Adds the neighbors found and stores them interleaved by lane; short lists are padded with
// particles out of reach.
static MF_INLINE void add_found(const mf_ParticleTask *task, const Drop *own, const Shelf *shelf,
                                Found *found, Sums *sums) {
    int32_t buffer[LANE_NEIGHBORS * MF_LANES];
    int32_t *list = shelf->next + (size_t)found->stored * MF_LANES;
    if (shelf->end - list < (ptrdiff_t)(found->most * MF_LANES))
        found->full = true;
    if (found->full)
        list = buffer;
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        for (uint32_t k = 0; k < found->most; k++)
            list[k * MF_LANES + lane] =
                k < found->count[lane] ? found->rank[lane][k] : (int32_t)task->count;
        found->count[lane] = 0;
    }
    add_pairs(task, list, found->most, own, sums);
    found->stored += found->most;
    found->most = 0;
}

// The neighbors of `live` particles from `rank` on, in a row of cells: finds, stores and adds them.
static MF_INLINE void find_and_add(const mf_ParticleTask *task, uint32_t row, uint32_t rank,
                                   uint32_t live, const Drop *own, Shelf *shelf, Sums *sums) {
    const NearRows near = near_cells(task, row);
    Found found;
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        found.count[lane] = 0;
    found.most = found.stored = 0;
    found.full = false;
    for (int32_t n = 0; n < near.count; n++) {
        const int32_t *starts = task->starts + near.cells[n];
        bool more = true;
        for (int32_t skip = 0; more; skip += PART) {
            if (found.most + PART > LANE_NEIGHBORS)
                add_found(task, own, shelf, &found, sums);
            more = false;
            for (uint32_t lane = 0; lane < live; lane++) {
                const Columns columns = near_columns(task, task->column[rank + lane]);
                const int32_t first = starts[columns.low] + skip, end = starts[columns.end];
                const int32_t stop = end - first > PART ? first + PART : end;
                const uint32_t count = find_neighbors(task, rank + lane, first, stop,
                                                      found.rank[lane], found.count[lane]);
                found.count[lane] = count;
                found.most = count > found.most ? count : found.most;
                more |= stop < end;
            }
        }
    }
    add_found(task, own, shelf, &found, sums);
    task->list_count[rank] = found.full ? MF_NONE : found.stored;
    if (!found.full)
        shelf->next += (size_t)found.stored * MF_LANES;
}

static MF_INLINE Sums add_neighbors(const mf_ParticleTask *task, uint32_t row, uint32_t rank,
                                    uint32_t live, const Drop *own, Shelf *shelf) {
    const mf_lane zero = mf_zero();
    Sums sums = {{zero, zero, zero}, zero, zero};
    const uint32_t count = task->listed ? task->list_count[rank] : MF_NONE;
    if (count == MF_NONE) {
        // Lists that do not fit are computed in each step.
        Shelf none = {shelf->next, shelf->next};
        find_and_add(task, row, rank, live, own, task->listed ? &none : shelf, &sums);
        return sums;
    }
    add_pairs(task, shelf->next, count, own, &sums);
    shelf->next += (size_t)count * MF_LANES;
    return sums;
}

// ---- walls --------------------------------------------------------------------------------------

// The integrals of the kernel beyond a plane at `distance`: of W over the plane, of W and of W' / r
// over the half-space behind it.
typedef struct Beyond {
    mf_lane plane, space, shear; // [1/m], [1], [1/m^2]
} Beyond;

static MF_INLINE mf_lane polynomial(const double terms[MF_SHAPE_TERMS], mf_lane y) {
    mf_lane sum = mf_set((mf_real)terms[MF_SHAPE_TERMS - 1]);
    for (int n = MF_SHAPE_TERMS - 2; n >= 0; n--)
        sum = mf_fma(sum, y, mf_set((mf_real)terms[n]));
    return sum;
}

static MF_INLINE Beyond beyond_plane(mf_lane distance, const mf_ParticlePlan *plan) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane y = mf_clamp(one - distance * mf_set((mf_real)(1.0 / plan->reach)), mf_zero(), one);
    mf_lane y3 = y * y * y;
    Beyond out;
    out.plane = y3 * polynomial(plan->shape.plane, y);
    out.space = y3 * y * polynomial(plan->shape.space, y);
    out.shear = y3 * polynomial(plan->shape.shear, y);
    return out;
}

// [1] Relative to the reach: the shift s of lateral planes for which the plane's contribution falls
// to half at its edges: the integral of `space` beyond s is s.
#define EDGE_SHIFT 0.0802462649

// The part of the kernel beyond a lateral plane; the particle may be on either side.
static MF_INLINE mf_lane space_beyond(mf_lane distance, const mf_ParticlePlan *plan) {
    const mf_lane one = mf_set((mf_real)1);
    distance = distance + mf_set((mf_real)(EDGE_SHIFT * plan->reach));
    const mf_lane space = beyond_plane(mf_abs(distance), plan).space;
    return mf_select(mf_less(distance, mf_zero()), one - space, space);
}

// The intersection of three slabs, by the product of their integrals, which is exact for a product
// kernel: its gradient integrates to the volume of the solid, as buoyancy requires, whereas
// half-spaces would give too much at edges and corners. The other integrals are those of the
// nearest plane in proportion. `over`: as of slab_gap; `bends`: areas of the three surfaces over
// those at the distance of the particle. The gap's normal becomes the direction of the gradient.
static MF_INLINE Beyond beyond_slabs(Vec over, const Vec out[3], Vec bends,
                                     const mf_ParticlePlan *plan, Gap *gap) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Beyond nearest = beyond_plane(gap->distance, plan);
    const Vec space = {space_beyond(over.x, plan), space_beyond(over.y, plan),
                       space_beyond(over.z, plan)};
    const Vec plane = {beyond_plane(mf_abs(over.x), plan).plane * bends.x * (space.y * space.z),
                       beyond_plane(mf_abs(over.y), plan).plane * bends.y * (space.z * space.x),
                       beyond_plane(mf_abs(over.z), plan).plane * bends.z * (space.x * space.y)};
    const Vec push = vec_fma(out[0], plane.x, vec_fma(out[1], plane.y, vec_scale(out[2], plane.z)));
    const mf_lane size = mf_sqrt(vec_dot(push, push));
    const mf_mask some = mf_less(zero, size), part = mf_less(zero, nearest.plane);
    const mf_lane share = mf_keep(part, size / mf_select(part, nearest.plane, one));
    const Beyond all = {size, nearest.space * share, nearest.shear * share};
    gap->normal = vec_select(some, vec_scale(push, one / mf_select(some, size, one)), gap->normal);
    return all;
}

static MF_INLINE Beyond beyond_round(mf_lane bend, const mf_ParticlePlan *plan, const Gap *gap) {
    const Beyond beyond = beyond_plane(gap->distance, plan);
    return MF_VALUE(Beyond, beyond.plane * bend, beyond.space * bend, beyond.shear * bend);
}

// Of a solid, for particles at `p` in its axes.
static MF_INLINE Beyond beyond_solid(const mf_ParticlePlan *plan, const mf_Solid *solid, Vec p,
                                     Gap *gap) {
    const mf_lane one = mf_set((mf_real)1);
    const Vec size = shape_size(solid->half);
    if (solid->kind == MF_COLLIDE_HULL)
        return beyond_plane(gap->distance, plan);
    if (solid->kind != MF_COLLIDE_CYLINDER && solid->kind != MF_COLLIDE_BOX)
        return beyond_round(shape_bend(solid->kind, size, p, gap->distance), plan, gap);
    const Slabs slabs = shape_slabs(solid->kind, size, p);
    const bool round = solid->kind == MF_COLLIDE_CYLINDER;
    const Vec bends = {round ? bend_of(size.x, slabs.over.x) : one, one, one};
    return beyond_slabs(slabs.over, slabs.out, bends, plan, gap);
}

// A wall at a gap, where it moves with `velocity`. Returns its acceleration of the particles.
static MF_INLINE Vec add_wall(const mf_ParticlePlan *plan, const Drop *own, const Gap *gap,
                              const Beyond *of, Vec velocity, Walls *walls) {
    const mf_lane zero = mf_zero();
    const mf_lane far = mf_max(gap->distance, zero), deep = mf_max(-gap->distance, zero);
    const Beyond beyond = *of;
    Vec relative = vec_sub(own->velocity, velocity);
    mf_lane parting = vec_dot(relative, gap->normal);
    // The fluid behind the wall is at rest under the same pressure and gravity.
    mf_lane fall = -vec_dot(vec_set(plan->gravity), gap->normal);
    mf_lane moment = mf_fma(far, beyond.plane, beyond.space);
    mf_lane push = mf_set((mf_real)(4.0 * plan->viscosity * plan->density)) * own->push;
    mf_lane pressed = mf_fma(push, beyond.plane, mf_set((mf_real)plan->density) * fall * moment);
    pressed = mf_max(pressed, zero) +
              mf_set((mf_real)(8.0 * plan->bulk / plan->reach)) * deep * beyond.plane;
    Vec along = vec_fma(gap->normal, -parting, relative);
    mf_lane drag = mf_set((mf_real)(-4.0 * plan->wall_viscosity)) * beyond.shear;
    Vec acceleration = vec_fma(gap->normal, pressed * mf_set((mf_real)(1.0 / plan->density)),
                               vec_scale(along, drag));
    // Its velocity is linear from the wall on.
    mf_lane least = mf_max(far, mf_set((mf_real)(0.5 * plan->spacing)));
    mf_lane closing = parting * (beyond.plane + beyond.space / least);
    walls->rate = mf_fma(mf_set((mf_real)-plan->bulk), closing, walls->rate);
    walls->acceleration = vec_add(walls->acceleration, acceleration);
    walls->deepest = mf_max(walls->deepest, deep);
    walls->near = mf_or(walls->near, mf_less(gap->distance, mf_set((mf_real)plan->reach)));
    return acceleration;
}

static MF_INLINE void add_solids(const mf_ParticleTask *task, const Drop *own, uint32_t live,
                                 Walls *walls, double (*wrench)[6]) {
    const mf_ParticlePlan *plan = task->plan;
    if (task->solid_count == 0)
        return;
    const Bounds bounds = bounds_of(own->at, live);
    for (uint32_t s = 0; s < task->solid_count; s++) {
        const mf_Solid *solid = &task->solids[s];
        if (!bounds_overlap(&bounds, solid))
            continue;
        const Mat axes = solid_axes(solid);
        const Vec p = solid_position(solid, &axes, own->at);
        Gap gap = own_gap(p, solid);
        const mf_mask near = mf_less(gap.distance, mf_set((mf_real)plan->reach));
        if (!mf_any(near))
            continue;
        Vec point = vec_fma(mat_apply(&axes, gap.normal), -gap.distance, own->at);
        const Beyond beyond = beyond_solid(plan, solid, p, &gap);
        gap.normal = mat_apply(&axes, gap.normal);
        Vec given = add_wall(plan, own, &gap, &beyond, solid_velocity(solid, point), walls);
        given = vec_scale(given, mf_keep(near, mf_set((mf_real)-plan->mass)));
        push_solid(solid, point, given, live, wrench[s]);
    }
}

static MF_INLINE Walls touch_walls(const mf_ParticleTask *task, const mf_LaneMap *map,
                                   const Drop *own, uint32_t live, double (*wrench)[6]) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_lane zero = mf_zero();
    Walls walls = {{zero, zero, zero}, zero, zero, mf_not(mf_mask_all())};
    const Gap ground = ground_gap(map, own->at, (mf_real)plan->reach);
    if (mf_any(mf_less(ground.distance, mf_set((mf_real)plan->reach)))) {
        const Beyond beyond = beyond_plane(ground.distance, plan);
        add_wall(plan, own, &ground, &beyond, MF_VALUE(Vec, zero, zero, zero), &walls);
    }
    add_solids(task, own, live, &walls, wrench);
    return walls;
}

// ---- a step -------------------------------------------------------------------------------------

typedef struct Next {
    Vec at, velocity;
    Vec low_at, low_velocity; // remainders of both (math/lane_sum.h)
    mf_lane pressure, rate;
} Next;

// The pressure is integrated and would drift away from the density of the particles, so it slowly
// follows that density where neither a wall nor the surface is in reach.
static MF_INLINE mf_lane relax(const mf_ParticlePlan *plan, mf_lane pressure, const Sums *sums,
                               const Walls *walls) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane dense = mf_fma(sums->density, mf_set((mf_real)plan->shape.share), -one);
    mf_mask inside = mf_and(mf_not(walls->near), mf_less(mf_set((mf_real)-0.08), dense));
    mf_lane missing = mf_fma(dense, mf_set((mf_real)plan->bulk), -pressure);
    return mf_keep(inside, missing * mf_set((mf_real)plan->follow));
}

static MF_INLINE Next advance(const mf_ParticleTask *task, uint32_t rank, uint32_t live,
                              const Drop *own, mf_lane pressure, const Sums *sums,
                              const Walls *walls) {
    const mf_ParticlePlan *plan = task->plan;
    const double weight = plan->volume * plan->shape.gradient;
    const mf_lane step = mf_set((mf_real)plan->step);
    Next next;
    Vec acceleration = vec_add(vec_set(plan->gravity), walls->acceleration);
    if (task->extra[0] != NULL)
        acceleration = vec_add(acceleration, extra_of(task, MF_EXTRA_X, rank));
    acceleration =
        vec_fma(sums->force, mf_set((mf_real)(2.0 * plan->viscosity * weight)), acceleration);
    next.low_at = gather_lows(&task->position, task->order + rank, live);
    next.low_velocity = gather_lows(&task->velocity, task->order + rank, live);
    next.velocity = vec_sum_fma(acceleration, step, own->velocity, &next.low_velocity);
    next.at = vec_sum_fma(next.velocity, step, own->at, &next.low_at);
    next.rate = mf_fma(mf_set((mf_real)(-plan->bulk * weight)), sums->spread, walls->rate);
    if (task->extra[0] != NULL)
        next.rate = next.rate + extra_row(task, MF_EXTRA_RATE, rank);
    next.rate = next.rate + relax(plan, pressure, sums, walls);
    next.pressure = mf_max(mf_fma(next.rate, step, pressure), mf_set((mf_real)plan->tension));
    return next;
}

static MF_INLINE void store_next(const mf_ParticleTask *task, uint32_t rank, uint32_t live,
                                 const Next *next, const Walls *walls) {
    const mf_ParticlePlan *plan = task->plan;
    const uint32_t *order = task->order + rank;
    mf_lane size = mf_abs(next->at.x) + mf_abs(next->at.y) + mf_abs(next->at.z);
    mf_lane speed = mf_abs(next->velocity.x) + mf_abs(next->velocity.y) + mf_abs(next->velocity.z);
    mf_mask fine = mf_and(mf_finite(size + speed + next->pressure + next->rate),
                          mf_less_equal(size, mf_set((mf_real)1e7)));
    const Writers who = writers_of(order, live, fine);
    if (who.count < live) {
        const Writers lost = writers_of(order, live, mf_not(fine));
        fault_particles(task, &lost, MF_FAULT_NONFINITE);
    }
    scatter_vec(&task->position, &who, next->at);
    scatter_vec(&task->velocity, &who, next->velocity);
    scatter_lows(&task->position, &who, next->low_at);
    scatter_lows(&task->velocity, &who, next->low_velocity);
    scatter_row(&task->pressure, 0, &who, next->pressure);
    scatter_row(&task->pressure_rate, 0, &who, next->rate);
    mf_lane squeezed = mf_max(next->pressure * mf_set((mf_real)(1.0 / plan->bulk)),
                              walls->deepest * mf_set((mf_real)(1.0 / plan->spacing)));
    mf_mask odd = mf_and(fine, mf_less(mf_set((mf_real)plan->compression), squeezed));
    if (mf_any(odd)) {
        const Writers odd_ones = writers_of(order, live, odd);
        warn_particles(task, &odd_ones, MF_WARNING_SOLVER, MF_WARNING_KINDS, squeezed);
    }
}

void MF_KERNEL(mf_fluid_step)(const mf_ParticleTask *task, uint32_t first, uint32_t count,
                              double (*wrench)[6]) {
    const mf_LaneMap map = mf_lane_map(task->terrain);
    const uint32_t columns = (uint32_t)task->size[0];
    Shelf shelf = {task->lists +
                       (size_t)(uint32_t)task->starts[first * columns] * task->list_capacity,
                   task->lists + (size_t)(uint32_t)task->starts[(first + count) * columns] *
                                     task->list_capacity};
    for (uint32_t row = first; row < first + count; row++) {
        const uint32_t begin = (uint32_t)task->starts[row * columns];
        const uint32_t end = (uint32_t)task->starts[(row + 1) * columns];
        for (uint32_t rank = begin; rank < end; rank += MF_LANES) {
            const uint32_t live = end - rank < MF_LANES ? end - rank : MF_LANES;
            const Drop own = load_own(task, rank);
            Sums sums = add_neighbors(task, row, rank, live, &own, &shelf);
            const Walls walls = touch_walls(task, &map, &own, live, wrench);
            const mf_lane pressure = mf_load_any(row_of(task, MF_FLUID_PRESSURE) + rank);
            if (task->extra[0] != NULL)
                sums.density = sums.density + extra_row(task, MF_EXTRA_DENSITY, rank);
            const Next next = advance(task, rank, live, &own, pressure, &sums, &walls);
            store_next(task, rank, live, &next, &walls);
        }
    }
}

// ---- sorted rows --------------------------------------------------------------------------------

// Present position of the particle of a rank; returns its squared displacement since it was listed.
static mf_real gather_position(const mf_ParticleTask *task, uint32_t rank, const mf_real *position,
                               mf_real *record) {
    mf_real square = 0;
    for (int c = 0; c < 3; c++) {
        mf_real *anchor = (mf_real *)task->rows[MF_FLUID_ANCHOR + c] + rank;
        const mf_real at = position[(size_t)c * 16];
        if (!task->listed)
            *anchor = at;
        square += (at - *anchor) * (at - *anchor);
        record[c] = ((mf_real *)task->rows[MF_PARTICLE_X + c])[rank] = at;
    }
    return square;
}

double MF_KERNEL(mf_fluid_gather)(const mf_ParticleTask *task, uint32_t first, uint32_t count) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_real *position = (const mf_real *)task->position.base;
    const mf_real *velocity = (const mf_real *)task->velocity.base;
    const mf_real *pressure = (const mf_real *)task->pressure.base;
    const mf_real *rate = (const mf_real *)task->pressure_rate.base;
    const mf_real ahead = (mf_real)plan->ahead;
    const mf_real press = (mf_real)(0.5 / (plan->viscosity * plan->density));
    const mf_real mix = (mf_real)(-2.0 * plan->diffusion / plan->bulk);
    mf_real *record = (mf_real *)task->records + MF_FLUID_RECORD * (size_t)first;
    mf_real weight[3], farthest = 0;
    uint32_t faults = 0;
    for (int c = 0; c < 3; c++)
        weight[c] = (mf_real)(plan->density * plan->gravity[c]);
    for (uint32_t rank = first; rank < first + count; rank++, record += MF_FLUID_RECORD) {
        const uint32_t i = task->order[rank];
        const size_t three = (size_t)(i / 16) * 48 + i % 16;
        const mf_real distance = gather_position(task, rank, position + three, record);
        mf_real p = pressure[i], column = 0;
        farthest = distance > farthest ? distance : farthest;
        faults |= task->fault[i];
        for (int c = 0; c < 3; c++) {
            record[MF_FLUID_VX + c] = velocity[three + (size_t)c * 16];
            column += weight[c] * record[c];
        }
        const mf_real push = p + ahead * rate[i];
        ((mf_real *)task->rows[MF_FLUID_PRESSURE])[rank] = p;
        record[MF_FLUID_PUSH] = push > 0 ? push * press : 0;
        record[MF_FLUID_DYNAMIC] = (p - column) * mix;
    }
    // The padding after the last particle is out of reach.
    if (first + count == task->count)
        for (int n = 0; n < MF_FLUID_RECORD * MF_PARTICLE_PAD; n++)
            record[n] = n % MF_FLUID_RECORD == 0 ? (mf_real)1e15 : 0;
    return faults != 0 ? (double)MF_REAL_MAX : (double)farthest;
}
