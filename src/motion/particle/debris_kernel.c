// Kernel of debris: spheres that collide with the ground and solids, not with each other. A contact
// is an impulse at the moment of touch (Moreau 1988), so a step may be as long as that of a frame.
//
// A step is divided so that no particle moves by more than its diameter in a part; each lane has
// its own number of parts, so results do not depend on the number of lanes. With the gap d, the
// normal n and the speed u along it, a particle that would pass the surface touches it after
// d / -u and leaves with -restitution times its speed; if gravity brings it back within the part,
// it rests. The impulse along the surface is the one that stops the sphere where friction and
// rolling resistance can hold it; else the one that makes it roll, at most friction times the
// normal one.
#include "math/lane.h"
#include "motion/particle/lanes.h"

#include <mayfly/world.h>

static const double most_parts = 64.0; // [1] of a step

typedef struct Debris {
    Vec at, velocity, rate;
    Vec low; // remainders of `at`
} Debris;

// A part of a step of each lane.
typedef struct Part {
    mf_lane step;    // [s]
    Vec gained;      // [m/s] by gravity and by fluids
    Vec drift;       // [m/s] mean velocity without contact
    mf_lane touch;   // [s] until the first contact
    Vec shift;       // [m] out of what it was inside of
    mf_lane deepest; // [m]
    mf_mask here, touched;
} Part;

typedef struct Surface {
    Gap gap;
    Vec velocity, rate; // [m/s], [rad/s]
    double friction;
} Surface;

// ---- a contact ----------------------------------------------------------------------------------

static MF_INLINE mf_lane length_of(Vec a) {
    return mf_sqrt(vec_dot(a, a));
}

// `size` cut to `most`, over `size`.
static MF_INLINE mf_lane share_of(mf_lane size, mf_lane most) {
    const mf_mask over = mf_less(most, size);
    return mf_select(over, most / mf_select(over, size, mf_set((mf_real)1)), mf_set((mf_real)1));
}

// Impulse along the surface [N s], after that of `load` [N s] along its normal; the rate follows.
static MF_INLINE Vec slow(const mf_ParticlePlan *plan, const Surface *surface, mf_lane load,
                          mf_mask here, Debris *own) {
    const mf_lane radius = mf_set((mf_real)(0.5 * plan->spacing));
    const mf_lane mass = mf_set((mf_real)plan->mass), inertia = mf_set((mf_real)plan->inertia);
    const mf_lane most = mf_set((mf_real)surface->friction) * load;
    const mf_lane hold = mf_set((mf_real)plan->rolling) * radius * load;
    const Vec n = surface->gap.normal;
    Vec slip = vec_sub(own->velocity, surface->velocity);
    slip = vec_fma(n, -vec_dot(slip, n), slip);
    const Vec spin = vec_sub(own->rate, surface->rate);
    // At rest: without slip of its center, and without spin.
    const Vec stop = vec_scale(slip, -mass);
    const Vec torque = vec_fma(spin, -inertia, vec_scale(vec_cross(n, stop), radius));
    const mf_mask rests =
        mf_and(mf_less_equal(length_of(stop), most), mf_less_equal(length_of(torque), hold));
    // Rolling or sliding: the surface of the sphere slips by `slip`; 2/7 of the mass resists.
    const mf_lane easy =
        mf_set((mf_real)1) / (mf_set((mf_real)1) / mass + radius * radius / inertia);
    slip = vec_fma(vec_cross(own->rate, n), -radius, slip);
    slip = vec_fma(n, -vec_dot(slip, n), slip);
    Vec pull = vec_scale(slip, -easy);
    pull = vec_scale(pull, share_of(length_of(pull), most));
    Vec rate = vec_fma(vec_cross(pull, n), radius / inertia, own->rate);
    const Vec left = vec_sub(rate, surface->rate);
    const mf_lane drag = share_of(length_of(left) * inertia, hold);
    rate = vec_fma(left, -drag, rate);
    pull = vec_select(rests, stop, pull);
    rate = vec_select(rests, surface->rate, rate);
    own->velocity =
        vec_select(here, vec_fma(pull, mf_set((mf_real)1) / mass, own->velocity), own->velocity);
    own->rate = vec_select(here, rate, own->rate);
    return pull;
}

// Returns the impulse [N s] on the particle.
static MF_INLINE Vec touch_one(const mf_ParticlePlan *plan, const Surface *surface, Debris *own,
                               Part *part) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_lane radius = mf_set((mf_real)(0.5 * plan->spacing));
    const Vec n = surface->gap.normal;
    const mf_lane slack = surface->gap.distance - radius;
    const mf_lane toward = vec_dot(vec_sub(part->drift, surface->velocity), n);
    const mf_lane now = vec_dot(vec_sub(own->velocity, surface->velocity), n);
    // The first of several surfaces counts, also where another one has turned the piece round.
    const mf_mask reaches =
        mf_and(part->here, mf_less_equal(mf_fma(toward, part->step, slack), zero));
    const mf_mask here = mf_and(reaches, mf_less(now, zero));
    const mf_mask inside = mf_and(part->here, mf_less(slack, zero));
    part->deepest = mf_max(part->deepest, mf_keep(inside, zero - slack));
    part->shift = vec_select(inside, vec_fma(n, zero - slack, part->shift), part->shift);
    if (!mf_any(reaches))
        return MF_VALUE(Vec, zero, zero, zero);
    const mf_mask far = mf_and(mf_less(zero, slack), mf_less(toward, zero));
    const mf_lane reached = mf_keep(far, slack / mf_select(far, zero - toward, one));
    const mf_lane touch = mf_min(reached, part->step);
    const mf_lane pulled = vec_dot(part->gained, n) / part->step;
    const mf_lane later = pulled * (part->step - touch);
    const mf_lane hit = mf_min(now - later, zero);
    const mf_lane leaves = mf_max(mf_fma(hit, mf_set((mf_real)-plan->damping), later), zero);
    const mf_lane load = mf_keep(here, mf_set((mf_real)plan->mass) * (leaves - now));
    own->velocity = vec_select(here, vec_fma(n, leaves - now, own->velocity), own->velocity);
    part->touch = mf_select(reaches, mf_min(part->touch, touch), part->touch);
    part->touched = mf_or(part->touched, reaches);
    Vec along = slow(plan, surface, load, here, own);
    along = vec_fma(n, load, along);
    return MF_VALUE(Vec, mf_keep(here, along.x), mf_keep(here, along.y), mf_keep(here, along.z));
}

static MF_INLINE void touch_all(const mf_ParticleTask *task, const mf_LaneMap *map, uint32_t live,
                                Debris *own, Part *part, double (*wrench)[6]) {
    const mf_ParticlePlan *plan = task->plan;
    const mf_lane zero = mf_zero();
    const double reach = 1.5 * plan->spacing;
    Surface surface = {ground_gap(map, own->at, (mf_real)reach),
                       {zero, zero, zero},
                       {zero, zero, zero},
                       plan->wall_friction};
    touch_one(plan, &surface, own, part);
    if (task->solid_count == 0)
        return;
    Bounds bounds = bounds_of(own->at, live);
    for (int c = 0; c < 3; c++) {
        bounds.low[c] -= reach;
        bounds.high[c] += reach;
    }
    for (uint32_t s = 0; s < task->solid_count; s++) {
        const mf_Solid *solid = &task->solids[s];
        if (!bounds_overlap(&bounds, solid))
            continue;
        surface.gap = solid_gap(solid, own->at);
        const Vec point = vec_fma(surface.gap.normal, zero - surface.gap.distance, own->at);
        surface.velocity = solid_velocity(solid, point);
        surface.rate = vec_set(solid->rate);
        surface.friction = solid->friction;
        const Vec impulse = touch_one(plan, &surface, own, part);
        push_solid(solid, point, vec_scale(impulse, mf_set((mf_real)(-1.0 / plan->step))), live,
                   wrench[s]);
    }
}

// ---- a step -------------------------------------------------------------------------------------

// Parts of each lane such that none moves by more than a diameter.
static MF_INLINE mf_lane parts_of(const mf_ParticlePlan *plan, const Debris *own,
                                  Vec acceleration) {
    const mf_lane step = mf_set((mf_real)plan->step);
    const mf_lane fastest = mf_fma(length_of(acceleration), step, length_of(own->velocity));
    const mf_lane parts = fastest * step * mf_set((mf_real)(1.0 / plan->spacing));
    return mf_floor_lane(mf_min(parts, mf_set((mf_real)(most_parts - 1.0)))) + mf_set((mf_real)1);
}

static MF_INLINE mf_lane move(const mf_ParticleTask *task, const mf_LaneMap *map, uint32_t live,
                              Vec acceleration, Debris *own, double (*wrench)[6]) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), half = mf_set((mf_real)0.5);
    const mf_lane parts =
        mf_select(first_lanes(live), parts_of(task->plan, own, acceleration), one);
    Part part;
    part.step = mf_set((mf_real)task->plan->step) / parts;
    part.gained = vec_scale(acceleration, part.step);
    part.deepest = zero;
    part.here = first_lanes(live);
    for (mf_real k = 0; mf_any(part.here); k += 1) {
        part.drift = vec_fma(part.gained, half, own->velocity);
        part.touch = part.step;
        part.shift = MF_VALUE(Vec, zero, zero, zero);
        part.touched = mf_less(one, zero);
        own->velocity = vec_select(part.here, vec_add(own->velocity, part.gained), own->velocity);
        touch_all(task, map, live, own, &part, wrench);
        Vec path = vec_fma(part.drift, part.touch, part.shift);
        path = vec_select(part.touched, vec_fma(own->velocity, part.step - part.touch, path), path);
        const Vec old_low = own->low;
        const Vec at = vec_sum_fma(path, one, own->at, &own->low);
        own->at = vec_select(part.here, at, own->at);
        own->low = vec_select(part.here, own->low, old_low);
        part.here = mf_and(part.here, mf_less(mf_set(k + 1), parts));
    }
    return part.deepest;
}

static MF_INLINE void store_debris(const mf_ParticleTask *task, const Debris *own, uint32_t rank,
                                   uint32_t live, mf_lane deepest) {
    const uint32_t *order = task->order + rank;
    const mf_lane size = mf_abs(own->at.x) + mf_abs(own->at.y) + mf_abs(own->at.z);
    const mf_lane speed = mf_abs(own->velocity.x) + mf_abs(own->velocity.y) +
                          mf_abs(own->velocity.z) + mf_abs(own->rate.x) + mf_abs(own->rate.y) +
                          mf_abs(own->rate.z);
    const mf_mask fine = mf_and(mf_finite(size + speed), mf_less_equal(size, mf_set((mf_real)1e7)));
    const Writers who = writers_of(order, live, fine);
    if (who.count < live) {
        const Writers gone = writers_of(order, live, mf_not(fine));
        fault_particles(task, &gone, MF_FAULT_NONFINITE);
    }
    scatter_vec(&task->position, &who, own->at);
    scatter_vec(&task->velocity, &who, vec_if_moves(own->velocity));
    scatter_vec(&task->rate, &who, vec_if_moves(own->rate));
    scatter_lows(&task->position, &who, own->low);
    const mf_lane squeezed = deepest * mf_set((mf_real)(1.0 / task->plan->spacing));
    const mf_mask odd = mf_and(fine, mf_less(mf_set((mf_real)task->plan->overlap), squeezed));
    if (mf_any(odd)) {
        const Writers odd_ones = writers_of(order, live, odd);
        warn_particles(task, &odd_ones, MF_WARNING_SOLVER, MF_WARNING_KINDS, squeezed);
    }
}

static MF_INLINE Vec row_vec(const mf_ParticleTask *task, int row, uint32_t rank) {
    return MF_VALUE(Vec, mf_load_any((const mf_real *)task->rows[row] + rank),
                    mf_load_any((const mf_real *)task->rows[row + 1] + rank),
                    mf_load_any((const mf_real *)task->rows[row + 2] + rank));
}

void MF_KERNEL(mf_debris_step)(const mf_ParticleTask *task, uint32_t first, uint32_t count,
                               double (*wrench)[6]) {
    const mf_LaneMap map = mf_lane_map(task->terrain);
    const uint32_t columns = (uint32_t)task->size[0];
    for (uint32_t row = first; row < first + count; row++) {
        const uint32_t end = (uint32_t)task->starts[(row + 1) * columns];
        for (uint32_t rank = (uint32_t)task->starts[row * columns]; rank < end; rank += MF_LANES) {
            const uint32_t live = end - rank < MF_LANES ? end - rank : MF_LANES;
            Debris own = {row_vec(task, MF_PARTICLE_X, rank), row_vec(task, MF_GRAIN_VX, rank),
                          row_vec(task, MF_GRAIN_WX, rank),
                          gather_lows(&task->position, task->order + rank, live)};
            Vec acceleration = vec_set(task->plan->gravity);
            if (task->extra[0] != NULL)
                acceleration = vec_add(acceleration, extra_of(task, MF_EXTRA_X, rank));
            const mf_lane deepest = move(task, &map, live, acceleration, &own, wrench);
            store_debris(task, &own, rank, live, deepest);
        }
    }
}
