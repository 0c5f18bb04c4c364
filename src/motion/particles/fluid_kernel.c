// Kernels of fluids: weakly compressible smoothed particle hydrodynamics
// (docs/explanation/particles.md has the equations and their sources).
//
// One pass over the neighbors gives the accelerations and the rate of the pressure. Forces of a
// pair are equal and opposite to the bit, as every operation on the pair is antisymmetric; a
// particle sums over its neighbors in the order of ranks, so that its sum depends neither on lanes
// nor on threads: what a lane meets beyond its reach adds an exact 0.
#include "motion/particles/lanes.h"

#include <mayfly/world.h>

typedef struct Drop {
    Vec at, velocity;
    mf_lane push;    // [1/s] pressure over 2 nu rho
    mf_lane dynamic; // [m^2/s] pressure without that of the column, over -rho c^2 / (2 D)
} Drop;

// With w = (1 - r/R)^3, x and v of the neighbor less the own:
typedef struct Sums {
    Vec force;      // [m/s] w (v - (push + push) x)
    mf_lane spread; // [m^2/s] w (v . x + dynamic of the neighbor less the own)
    mf_lane crowd;  // [1] w
} Sums;

// What walls do.
typedef struct Walls {
    Vec acceleration; // [m/s^2]
    mf_lane rate;     // [Pa/s] of the pressure
    mf_lane deepest;  // [m] depth in a wall
    mf_mask near;     // some wall is in reach
} Walls;

static MF_INLINE const mf_real *row_of(const mf_ParticleTask *task, int row) {
    return (const mf_real *)task->rows[row];
}

static MF_INLINE Drop load_drop(const mf_ParticleTask *task, uint32_t rank) {
    Drop drop;
    drop.at = MF_VALUE(Vec, mf_load_any(row_of(task, MF_PARTICLE_X) + rank),
                       mf_load_any(row_of(task, MF_PARTICLE_Y) + rank),
                       mf_load_any(row_of(task, MF_PARTICLE_Z) + rank));
    drop.velocity = MF_VALUE(Vec, mf_load_any(row_of(task, MF_PARTICLE_VX) + rank),
                             mf_load_any(row_of(task, MF_PARTICLE_VY) + rank),
                             mf_load_any(row_of(task, MF_PARTICLE_VZ) + rank));
    drop.push = mf_load_any(row_of(task, MF_FLUID_PUSH) + rank);
    drop.dynamic = mf_load_any(row_of(task, MF_FLUID_DYNAMIC) + rank);
    return drop;
}

// ---- between particles --------------------------------------------------------------------------

static MF_INLINE void add_neighbors(const mf_ParticleTask *task, int32_t first, int32_t end,
                                    mf_lane inverse_reach, const Drop *own, Sums *sums) {
    const mf_real *MF_RESTRICT x = row_of(task, MF_PARTICLE_X);
    const mf_real *MF_RESTRICT y = row_of(task, MF_PARTICLE_Y);
    const mf_real *MF_RESTRICT z = row_of(task, MF_PARTICLE_Z);
    const mf_real *MF_RESTRICT vx = row_of(task, MF_PARTICLE_VX);
    const mf_real *MF_RESTRICT vy = row_of(task, MF_PARTICLE_VY);
    const mf_real *MF_RESTRICT vz = row_of(task, MF_PARTICLE_VZ);
    const mf_real *MF_RESTRICT push = row_of(task, MF_FLUID_PUSH);
    const mf_real *MF_RESTRICT dynamic = row_of(task, MF_FLUID_DYNAMIC);
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    Sums s = *sums;
    const Drop o = *own;
    for (int32_t j = first; j < end; j++) {
        const mf_lane dx = mf_set(x[j]) - o.at.x, dy = mf_set(y[j]) - o.at.y,
                      dz = mf_set(z[j]) - o.at.z;
        const mf_lane ux = mf_set(vx[j]) - o.velocity.x, uy = mf_set(vy[j]) - o.velocity.y,
                      uz = mf_set(vz[j]) - o.velocity.z;
        const mf_lane square = mf_fma(dx, dx, mf_fma(dy, dy, dz * dz));
        const mf_lane near = mf_max(one - mf_sqrt(square) * inverse_reach, zero);
        const mf_lane weight = near * near * near;
        const mf_lane pressed = mf_set(push[j]) + o.push;
        const mf_lane mix = mf_set(dynamic[j]) - o.dynamic;
        const mf_lane spread = mf_fma(ux, dx, mf_fma(uy, dy, mf_fma(uz, dz, mix)));
        s.force.x = mf_fma(weight, mf_fma(-pressed, dx, ux), s.force.x);
        s.force.y = mf_fma(weight, mf_fma(-pressed, dy, uy), s.force.y);
        s.force.z = mf_fma(weight, mf_fma(-pressed, dz, uz), s.force.z);
        s.spread = mf_fma(weight, spread, s.spread);
        s.crowd = s.crowd + weight;
    }
    *sums = s;
}

// ---- walls --------------------------------------------------------------------------------------

// The integrals of the kernel over what is beyond a plane at `distance`: of W over the plane, of W
// and of W' / r over the half-space behind it.
typedef struct Beyond {
    mf_lane plane, space, shear; // [1/m], [1], [1/m^2]
} Beyond;

static MF_INLINE Beyond beyond_plane(mf_lane distance, mf_real reach) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane y = mf_clamp(one - distance * mf_set(1 / reach), mf_zero(), one);
    mf_lane y2 = y * y, y4 = y2 * y2, y5 = y4 * y;
    Beyond out;
    out.plane = mf_set(21 / reach) * y5 *
                mf_fma(y, mf_fma(y, mf_set((mf_real)(4.0 / 7)), mf_set((mf_real)-1.5)), one);
    out.space = mf_set((mf_real)21) * (y5 * y) *
                mf_fma(y, mf_fma(y, mf_set((mf_real)(1.0 / 14)), mf_set((mf_real)(-3.0 / 14))),
                       mf_set((mf_real)(1.0 / 6)));
    out.shear =
        mf_set(7 / (reach * reach)) * y5 * mf_fma(y, mf_set((mf_real)-2), mf_set((mf_real)3));
    return out;
}

// A wall at a gap, where it moves with `velocity`. Returns its acceleration of the particles.
static MF_INLINE Vec add_wall(const mf_ParticlePlan *plan, const Drop *own, const Gap *gap,
                              Vec velocity, Walls *walls) {
    const mf_lane zero = mf_zero();
    const mf_lane far = mf_max(gap->distance, zero), deep = mf_max(-gap->distance, zero);
    const Beyond beyond = beyond_plane(gap->distance, (mf_real)plan->reach);
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
        const mf_ParticleSolid *solid = &task->solids[s];
        if (!bounds_meet(&bounds, solid))
            continue;
        const Gap gap = solid_gap(task, solid, own->at);
        const mf_mask near = mf_less(gap.distance, mf_set((mf_real)plan->reach));
        if (!mf_any(near))
            continue;
        Vec point = vec_fma(gap.normal, -gap.distance, own->at);
        Vec given = add_wall(plan, own, &gap, solid_velocity(solid, point), walls);
        given = vec_scale(given, mf_keep(near, mf_set((mf_real)-plan->mass)));
        push_solid(solid, point, given, live, wrench[s]);
    }
}

static MF_INLINE Walls meet_walls(const mf_ParticleTask *task, const mf_LaneMap *map,
                                  const Drop *own, uint32_t live, double (*wrench)[6]) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_lane zero = mf_zero();
    Walls walls = {{zero, zero, zero}, zero, zero, mf_not(mf_mask_all())};
    const Gap ground = ground_gap(map, own->at);
    if (mf_any(mf_less(ground.distance, mf_set((mf_real)plan->reach))))
        add_wall(plan, own, &ground, MF_VALUE(Vec, zero, zero, zero), &walls);
    add_solids(task, own, live, &walls, wrench);
    return walls;
}

// ---- a step -------------------------------------------------------------------------------------

typedef struct Next {
    Vec at, velocity;
    mf_lane pressure, rate;
} Next;

// The rate of the pressure is integrated, so it would drift away from the places of the particles:
// slowly it follows their density, where neither a wall nor the surface is in reach.
static MF_INLINE mf_lane relax(const mf_ParticlePlan *plan, mf_lane pressure, const Sums *sums,
                               const Walls *walls) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane dense = mf_fma(sums->crowd, mf_set((mf_real)plan->share), -one);
    mf_mask inside = mf_and(mf_not(walls->near), mf_less(mf_set((mf_real)-0.08), dense));
    mf_lane missing = mf_fma(dense, mf_set((mf_real)plan->bulk), -pressure);
    return mf_keep(inside, missing * mf_set((mf_real)plan->follow));
}

static MF_INLINE Next advance(const mf_ParticleTask *task, uint32_t rank, const Drop *own,
                              mf_lane pressure, const Sums *sums, const Walls *walls) {
    const mf_ParticlePlan *plan = task->plan;
    const double weight = plan->volume * plan->gradient;
    const mf_lane step = mf_set((mf_real)plan->step);
    Next next;
    Vec acceleration = vec_add(vec_set(plan->gravity), walls->acceleration);
    if (task->extra[0] != NULL)
        acceleration = vec_add(acceleration, extra_of(task, MF_EXTRA_X, rank));
    acceleration =
        vec_fma(sums->force, mf_set((mf_real)(2.0 * plan->viscosity * weight)), acceleration);
    next.velocity = vec_fma(acceleration, step, own->velocity);
    next.at = vec_fma(next.velocity, step, own->at);
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
    const mf_lane zero = mf_zero(), inverse_reach = mf_set((mf_real)(1.0 / task->plan->reach));
    for (uint32_t row = first; row < first + count; row++) {
        const uint32_t columns = (uint32_t)task->size[0];
        const uint32_t begin = (uint32_t)task->starts[row * columns];
        const uint32_t end = (uint32_t)task->starts[(row + 1) * columns];
        for (uint32_t rank = begin; rank < end; rank += MF_LANES) {
            const uint32_t live = end - rank < MF_LANES ? end - rank : MF_LANES;
            const Drop own = load_drop(task, rank);
            const Near near =
                near_rows(task, row, task->column[rank], task->column[rank + live - 1]);
            Sums sums = {{zero, zero, zero}, zero, zero};
            for (int32_t n = 0; n < near.count; n++)
                add_neighbors(task, near.first[n], near.end[n], inverse_reach, &own, &sums);
            const Walls walls = meet_walls(task, &map, &own, live, wrench);
            const mf_lane pressure = mf_load_any(row_of(task, MF_FLUID_PRESSURE) + rank);
            if (task->extra[0] != NULL)
                sums.crowd = sums.crowd + extra_row(task, MF_EXTRA_CROWD, rank);
            const Next next = advance(task, rank, &own, pressure, &sums, &walls);
            store_next(task, rank, live, &next, &walls);
        }
    }
}

// ---- sorted rows --------------------------------------------------------------------------------

void MF_KERNEL(mf_fluid_gather)(const mf_ParticleTask *task, uint32_t first, uint32_t count) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_real *position = (const mf_real *)task->position.base;
    const mf_real *velocity = (const mf_real *)task->velocity.base;
    const mf_real *pressure = (const mf_real *)task->pressure.base;
    const mf_real *rate = (const mf_real *)task->pressure_rate.base;
    const mf_real ahead = (mf_real)plan->ahead;
    const mf_real press = (mf_real)(0.5 / (plan->viscosity * plan->density));
    const mf_real mix = (mf_real)(-2.0 * plan->diffusion / plan->bulk);
    mf_real weight[3], *rows[MF_FLUID_ROWS];
    for (int c = 0; c < 3; c++)
        weight[c] = (mf_real)(plan->density * plan->gravity[c]);
    for (int r = 0; r < MF_FLUID_ROWS; r++)
        rows[r] = (mf_real *)task->rows[r];
    for (uint32_t rank = first; rank < first + count; rank++) {
        const uint32_t i = task->order[rank];
        const size_t three = (size_t)(i / 16) * 48 + i % 16;
        mf_real p = pressure[i], column = 0;
        for (int c = 0; c < 3; c++) {
            rows[MF_PARTICLE_X + c][rank] = position[three + (size_t)c * 16];
            rows[MF_PARTICLE_VX + c][rank] = velocity[three + (size_t)c * 16];
            column += weight[c] * position[three + (size_t)c * 16];
        }
        const mf_real push = p + ahead * rate[i];
        rows[MF_FLUID_PRESSURE][rank] = p;
        rows[MF_FLUID_PUSH][rank] = push > 0 ? push * press : 0;
        rows[MF_FLUID_DYNAMIC][rank] = (p - column) * mix;
    }
}
