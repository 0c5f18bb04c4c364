// MuJoCo's constraint law: the convex problem of problem.h by Newton's method with an exact search
// along each direction (Todorov 2014; MuJoCo documentation, "Computation", algorithms).
//
// The cost is strictly convex, with at least the curvature of the kinetic energy, so every step
// lowers it and the minimum is unique. If all constraints keep their piece in a full step and no
// cone is curved, the step is exact. Each lane ends on its own and then keeps its values, so lanes
// do not affect each other. A lane that ends early reports its residual and is counted.
//
// Euler's method then applies damping at the end of the step with the computed forces: (M + h B) a'
// = M a (MuJoCo documentation, "Computation", numerical integration).
#include "motion/articulated/sensing/sensor_wrench.h"
#include "motion/articulated/constraint/problem_cost.h"
#include "motion/articulated/constraint/problem_noslip.h"
#include "motion/articulated/constraint/problem_points.h"
#include "motion/articulated/constraint/problem_capacity.h"
#include "motion/articulated/constraint/problem_lane.h"
#include "motion/articulated/constraint/warm_start.h"
#include "motion/articulated/step.h"

// ---- state of the iteration ---------------------------------------------------------------------

static mf_lane dofs_dot(const Problem *p, const mf_lane *a, const mf_lane *b) {
    mf_lane sum = mf_zero();
    for (uint32_t i = 0; i < p->dofs; i++)
        sum = mf_fma(a[i], b[i], sum);
    return sum;
}

// Forces and pieces at the present slacks. Returns the sum of the costs; sets `changed` to the
// lanes in which a piece has changed, `bends` to those in which a cone's side acts.
static __attribute__((noinline)) mf_lane reply_all(Problem *p, mf_mask *changed, mf_mask *bends) {
    mf_lane cost = mf_zero();
    *changed = *bends = mf_not(mf_mask_all());
    for (uint32_t n = 0; n < p->present_count; n++) {
        const Constraint *c = &p->constraints[p->present[n]];
        Reply reply;
        reply_find(c, &p->weight[c->row], &p->slack[c->row], &reply);
        cost = cost + reply.cost;
        for (uint32_t k = 0; k < c->rows; k++)
            p->force[c->row + k] = reply.force[k];
        for (uint32_t k = 0; k < zone_count(c); k++) {
            const mf_mask zone = mf_and(reply.zones[k], c->exists);
            *changed = mf_or(*changed, mf_differ(zone, p->zones[c->zone + k]));
            p->zones[c->zone + k] = zone;
        }
        if (c->kind == CONSTRAINT_ELLIPTIC)
            *bends = mf_or(*bends, p->zones[c->zone]);
    }
    return cost;
}

// slack = J x - rest
static void slacks_find(Problem *p) {
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        const Constraint *c = &p->constraints[n];
        mf_lane *slack = &p->slack[c->row];
        rows_times(p, c, p->x, slack);
        for (uint32_t k = 0; k < c->rows; k++)
            slack[k] = slack[k] - p->rest[c->row + k];
    }
}

// gradient -= J^T force of a constraint; `rows` is a constant where this is called.
static MF_INLINE void gradient_rows(Problem *p, const Constraint *c, const uint32_t rows) {
    const uint16_t *slot = &p->slots[c->first_slot], *const end = slot + c->count;
    const mf_lane *j = &p->numbers[c->first];
    mf_lane force[CONTACT_ROWS];
    for (uint32_t r = 0; r < rows; r++)
        force[r] = -p->force[c->row + r];
    for (; slot != end; slot++, j += rows) {
        mf_lane sum = p->gradient[*slot];
        for (uint32_t r = 0; r < rows; r++)
            sum = mf_fma(j[r], force[r], sum);
        p->gradient[*slot] = sum;
    }
}

// gradient = M x - J^T force
static __attribute__((noinline)) void gradient_find(Problem *p) {
    for (uint32_t i = 0; i < p->dofs; i++)
        p->gradient[i] = p->inertial[i];
    for (uint32_t n = 0; n < p->present_count; n++) {
        const Constraint *c = &p->constraints[p->present[n]];
        mf_lane *single = &p->gradient[p->slots[c->first_slot]];
        if (has_one_number(c)) {
            *single = mf_fma(p->numbers[c->first], -p->force[c->row], *single);
            continue;
        }
        switch (c->rows) {
        case 1:
            gradient_rows(p, c, 1);
            break;
        case 3:
            gradient_rows(p, c, 3);
            break;
        case 4:
            gradient_rows(p, c, 4);
            break;
        default:
            gradient_rows(p, c, 6);
            break;
        }
    }
}

// The factors of the Hessian for the busy lanes. Constraints without curvature there are omitted,
// and the pattern is that of the tree if the others allow it.
static __attribute__((noinline)) void hessian_find(Problem *p, mf_mask busy) {
    uint16_t *bends = p->bends;
    uint32_t count = 0;
    bool chains = true;
    for (uint32_t n = 0; n < p->present_count; n++) {
        const Constraint *c = &p->constraints[p->present[n]];
        if (!mf_any(mf_and(busy, curve_where(c, &p->zones[c->zone]))))
            continue;
        chains = chains && c->chain;
        bends[count++] = p->present[n];
    }
    hessian_start(p, chains ? tree_pattern(p) : p->pattern);
    for (uint32_t n = 0; n < count; n++) {
        const Constraint *c = &p->constraints[bends[n]];
        mf_lane w[CONTACT_PRODUCTS];
        curve_find(c, &p->weight[c->row], &p->slack[c->row], &p->zones[c->zone], w);
        hessian_add(p, c, w);
    }
    hessian_factor(p);
}

static __attribute__((noinline)) void along_all(Problem *p) {
    mass_apply(p, p->descent, p->ahead);
    for (uint32_t n = 0; n < p->present_count; n++) {
        const Constraint *c = &p->constraints[p->present[n]];
        rows_times(p, c, p->descent, &p->along[c->row]);
    }
}

// The constraints of lanes that are busy.
static void present_find(Problem *p, mf_mask busy) {
    p->present_count = 0;
    for (uint32_t n = 0; n < p->constraint_count; n++)
        if (mf_any(mf_and(busy, p->constraints[n].exists)))
            p->present[p->present_count++] = (uint16_t)n;
}

// ---- search along a direction -------------------------------------------------------------------

// The minimum of the cost along the descent, whose slope at 0 is -`fall`: bracketed Newton's method
// for the root of the increasing slope, starting from the whole step.
static __attribute__((noinline)) mf_lane search_direction(Problem *p, mf_lane fall, mf_mask busy) {
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5), zero = mf_zero();
    const mf_lane slope = dofs_dot(p, p->descent, p->inertial);
    const mf_lane curve = dofs_dot(p, p->descent, p->ahead);
    const mf_lane enough = mf_set(search_part(p->plan->solver_steps)) * fall,
                  infinite = mf_set(MF_REAL_MAX);
    mf_lane distance = one, low = zero, high = infinite;
    for (uint32_t n = 0; n < p->present_count; n++) {
        const Constraint *c = &p->constraints[p->present[n]];
        if (c->kind == CONSTRAINT_ELLIPTIC)
            ray_find(c, &p->weight[c->row], &p->slack[c->row], &p->along[c->row], &p->rays[c->ray]);
    }
    for (int step = 0; step < LINE_STEPS; step++) {
        mf_lane first = mf_fma(distance, curve, slope), second = curve;
        for (uint32_t n = 0; n < p->present_count; n++) {
            const Constraint *c = &p->constraints[p->present[n]];
            along_find(c, &p->weight[c->row], &p->slack[c->row], &p->along[c->row],
                       &p->rays[c->ray], distance, &first, &second);
        }
        busy = mf_and(busy, mf_less(enough, mf_abs(first)));
        if (!mf_any(busy))
            break;
        const mf_mask rises = mf_less(zero, first);
        high = mf_select(rises, distance, high);
        low = mf_select(rises, low, distance);
        mf_lane next = distance - first / second;
        const mf_mask inside = mf_and(mf_less(low, next), mf_less(next, high));
        const mf_lane other =
            mf_select(mf_less(high, infinite), half * (low + high), distance + distance);
        distance = mf_select(busy, mf_select(inside, next, other), distance);
    }
    return distance;
}

// ---- Newton's method ----------------------------------------------------------------------------

typedef struct Course {
    mf_mask busy;
    mf_lane residual; // [1] root of the relative gain of a further step
    mf_lane steps;
    bool replied;  // forces and pieces at the start are known, with
    mf_lane cost;  // of the constraints there
    mf_mask bends; // in which a cone's side acts there
} Course;

// x = 0, where J x is 0 in every row.
static void start_cold(Problem *p) {
    for (uint32_t i = 0; i < p->dofs; i++)
        p->x[i] = p->inertial[i] = mf_zero();
    for (uint32_t r = 0; r < p->row_count; r++)
        p->slack[r] = mf_zero() - p->rest[r];
}

// The acceleration of the previous step may be a better start than a0. If it is in every solved
// lane, the forces computed for the comparison are those of the first iteration.
static void start_warm(Problem *p, const mf_real *warm, Course *course) {
    mf_mask changed;
    start_cold(p);
    if (warm == NULL)
        return;
    const mf_lane cold = reply_all(p, &changed, &course->bends);
    for (uint32_t i = 0; i < p->dofs; i++)
        p->x[i] = row_load(warm, i) - p->free[i];
    mass_apply(p, p->x, p->inertial);
    slacks_find(p);
    course->cost = reply_all(p, &changed, &course->bends);
    const mf_lane cost = mf_fma(mf_set((mf_real)0.5), dofs_dot(p, p->x, p->inertial), course->cost);
    const mf_mask better = mf_less(cost, cold);
    course->replied = mf_all(mf_or(better, mf_not(course->busy)));
    if (course->replied)
        return;
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->x[i] = mf_keep(better, p->x[i]);
        p->inertial[i] = mf_keep(better, p->inertial[i]);
    }
    for (uint32_t r = 0; r < p->row_count; r++)
        p->slack[r] = mf_select(better, p->slack[r], mf_zero() - p->rest[r]);
}

static void step_by(Problem *p, mf_lane distance, mf_mask busy) {
    distance = mf_keep(busy, distance);
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->x[i] = mf_fma(distance, p->descent[i], p->x[i]);
        p->inertial[i] = mf_fma(distance, p->ahead[i], p->inertial[i]);
    }
    for (uint32_t n = 0; n < p->present_count; n++) {
        const Constraint *c = &p->constraints[p->present[n]];
        for (uint32_t r = c->row; r < c->row + c->rows; r++)
            p->slack[r] = mf_fma(distance, p->along[r], p->slack[r]);
    }
}

// The next direction, and twice its gain to second order.
static mf_lane descend(Problem *p) {
    for (uint32_t i = 0; i < p->dofs; i++)
        p->descent[i] = -p->gradient[i];
    hessian_solve(p, p->descent);
    return -dofs_dot(p, p->gradient, p->descent);
}

// The lanes that need no further step; `stalls` are those whose gain is within rounding.
static mf_mask is_done(const Problem *p, mf_lane fall, mf_lane size, mf_lane before) {
    const mf_real fine = sizeof(mf_real) == 4 ? (mf_real)4e-12 : (mf_real)1e-29;
    const mf_real rounded = sizeof(mf_real) == 4 ? (mf_real)1e-7 : (mf_real)1e-18;
    const mf_lane gain = mf_set((mf_real)p->plan->solver_gain);
    const mf_mask stalls = mf_and(mf_less(mf_set((mf_real)0.25) * before, fall),
                                  mf_less_equal(fall, mf_set(rounded) * size));
    const mf_mask flat = mf_less(dofs_dot(p, p->gradient, p->gradient), gain * gain);
    // The step itself detects non-finite values (load_store.h).
    const mf_mask lost = mf_not(mf_finite(fall + size));
    return mf_or(mf_or(mf_or(stalls, flat), lost), mf_less_equal(fall, mf_set(fine) * size));
}

static void newton(Problem *p, Course *course) {
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5), zero = mf_zero();
    const mf_lane gain = mf_set((mf_real)p->plan->solver_gain);
    const mf_mask none = mf_not(mf_mask_all());
    const uint32_t most = p->plan->solver_steps;
    mf_lane before = mf_set(MF_REAL_MAX);
    mf_mask whole = none, last = none; // whose previous step was a full one, or gained too little
    for (uint32_t step = 0;; step++) {
        mf_mask changed = none, bends = course->bends;
        const mf_lane cost =
            step == 0 && course->replied ? course->cost : reply_all(p, &changed, &bends);
        const mf_mask exact = mf_and(whole, mf_not(mf_or(changed, bends)));
        course->residual = mf_select(mf_and(course->busy, exact), zero, course->residual);
        course->busy = mf_and(course->busy, mf_not(mf_or(exact, last)));
        if (!mf_any(course->busy))
            return;
        present_find(p, course->busy);
        gradient_find(p);
        // If no step is left, the previous factors measure the residual.
        if (step == 0 || (step < most && mf_any(mf_and(course->busy, mf_or(changed, bends)))))
            hessian_find(p, course->busy);
        const mf_lane fall = descend(p);
        const mf_lane size = dofs_dot(p, p->x, p->inertial) + cost + cost;
        const mf_lane relative =
            mf_sqrt(mf_max(fall, zero) / mf_select(mf_less(zero, size), size, one));
        course->residual = mf_select(course->busy, relative, course->residual);
        course->busy = mf_and(course->busy, mf_not(is_done(p, fall, size, before)));
        if (!mf_any(course->busy) || step == most)
            return;
        last = mf_less(half * fall, gain);
        before = fall;
        along_all(p);
        const mf_lane distance = search_direction(p, fall, course->busy);
        whole = mf_and(course->busy,
                       mf_and(mf_less_equal(distance, one), mf_less_equal(one, distance)));
        step_by(p, distance, course->busy);
        course->steps = course->steps + mf_keep(course->busy, one);
    }
}

// ---- damping at the end of the step -------------------------------------------------------------

// Resistance to joint accelerations at the end of the step, and the change of servo forces within
// it.
static void resist_find(const Problem *p, const Drive *drive, mf_lane *slope, mf_lane *extra) {
    const mf_ArtPlan *plan = p->plan;
    Drive now = *drive;
    now.step = mf_zero();
    for (uint32_t k = 0; plan->parted && !plan->fixed && k < 6; k++)
        slope[k] = drive->step * constant_at(base_constants(plan), MF_ART_DAMPING);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Constant *c = link_constants(plan, l);
        mf_lane damping = mf_zero();
        if (plan->parted)
            damping = drive->step * constant_at(c, MF_ART_DAMPING);
        for (uint32_t k = 0; k < (link->kind == MF_ART_BALL ? 3u : 1u); k++)
            slope[link->dof + k] = damping;
        if (!(link->drive & MF_ART_HAS_SERVO))
            continue;
        Line early = {mf_zero(), mf_zero()}, late = early;
        const mf_lane angle = p->state->angle[l], rate = p->state->speed[l];
        drive_servo(link, c, &now, angle, rate, mf_zero(), &early);
        drive_servo(link, c, drive, mf_fma(drive->step, rate, angle), rate, mf_zero(), &late);
        slope[link->dof] = slope[link->dof] + late.slope;
        extra[link->dof] = late.torque - early.torque;
    }
}

// Adds `value` to an entry in the tree's pattern, and its product with accelerations to `change`;
// implicitfast omits other entries.
static void resist_entry(Problem *p, uint32_t row, uint32_t column, mf_lane value,
                         const mf_lane *acceleration, mf_lane *change) {
    const mf_ArtPlan *plan = p->plan;
    const uint32_t *tree_start = mf_art_tree_start(plan);
    uint32_t k = tree_start[row];
    const uint16_t *tree_column = mf_art_tree_column(plan);
    while (k < tree_start[row + 1] && tree_column[k] != column)
        k++;
    if (k == tree_start[row + 1])
        return;
    for (k = p->used.start[row]; p->used.column[k] != column;)
        k++;
    p->factor[k] = p->factor[k] + value;
    change[row] = mf_fma(-value, acceleration[column], change[row]);
    if (row != column)
        change[column] = mf_fma(-value, acceleration[row], change[column]);
}

// J^T s J of a row.
static void resist_sum(Problem *p, const Sum *sum, mf_lane slope, const mf_lane *acceleration,
                       mf_lane *change) {
    for (uint32_t a = 0; a < sum->count; a++)
        for (uint32_t b = 0; b <= a; b++)
            resist_entry(p, sum->slot[a], sum->slot[b], slope * (sum->value[a] * sum->value[b]),
                         acceleration, change);
}

// Rate dependence of actuators and tendons.
static void resist_fast(Problem *p, const Drive *drive, const mf_lane *acceleration,
                        mf_lane *change) {
    const mf_ArtPlan *plan = p->plan;
    Sum sum = sum_start(p);
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t i = 0; i < plan->actuator_count; i++) {
        const mf_ArtActuator *actuator = &actuators[i];
        if (actuator->acts != MF_ART_PULLS)
            continue;
        sum.count = 0;
        sum_terms(p, actuator->first_term, actuator->term_count, mf_set((mf_real)1), &sum);
        resist_sum(p, &sum, p->work->actuation.slope[i], acceleration, change);
    }
    const mf_ArtTendon *tendons = mf_art_tendons(plan);
    for (uint32_t i = 0; i < plan->tendon_count; i++) {
        if (tendons[i].damping <= 0.0)
            continue;
        tendon_row(p, &tendons[i], &sum);
        resist_sum(p, &sum, drive->step * mf_set((mf_real)tendons[i].damping), acceleration,
                   change);
    }
}

static void resist_start(Problem *p, const Drive *drive) {
    for (uint32_t i = 0; i < p->dofs; i++)
        p->slope[i] = p->change[i] = mf_zero();
    if (p->plan->resists)
        resist_find(p, drive, p->slope, p->change);
}

// For a problem of several robots: also the rate dependence of actuators, each dof for itself; and
// what all of it changes of the acceleration without constraints.
static void resist_apart(Problem *p, const Drive *drive) {
    const mf_ArtActuator *actuators = mf_art_actuators(p->plan);
    resist_start(p, drive);
    if (!p->plan->resists)
        return;
    Sum sum = sum_start(p);
    for (uint32_t i = 0; p->plan->fast && i < p->plan->actuator_count; i++) {
        if (actuators[i].acts != MF_ART_PULLS)
            continue;
        sum.count = 0;
        sum_terms(p, actuators[i].first_term, actuators[i].term_count, mf_set((mf_real)1), &sum);
        for (uint32_t a = 0; a < sum.count; a++)
            p->slope[sum.slot[a]] = mf_fma(p->work->actuation.slope[i], sum.value[a] * sum.value[a],
                                           p->slope[sum.slot[a]]);
    }
    hessian_start(p, tree_pattern(p));
    for (uint32_t i = 0; i < p->dofs; i++) {
        mf_lane *entry = &p->factor[p->used.start[i + 1] - 1];
        *entry = *entry + p->slope[i];
        p->change[i] = mf_fma(-p->slope[i], p->free[i], p->change[i]);
    }
    hessian_factor(p);
    hessian_solve(p, p->change);
}

static __attribute__((noinline)) void resist(Problem *p, const Drive *drive,
                                             mf_lane *acceleration) {
    mf_lane *slope = p->slope, *change = p->change;
    bool chains = true;
    resist_start(p, drive);
    for (uint32_t n = 0; n < p->constraint_count; n++)
        chains = chains && (p->constraints[n].chain || !p->constraints[n].inertia);
    hessian_start(p, chains ? tree_pattern(p) : p->pattern);
    for (uint32_t n = 0; n < p->constraint_count; n++)
        if (p->constraints[n].inertia)
            hessian_add(p, &p->constraints[n], &p->weight[p->constraints[n].row]);
    const uint32_t *start = p->used.start;
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->factor[start[i + 1] - 1] = p->factor[start[i + 1] - 1] + slope[i];
        change[i] = mf_fma(-slope[i], acceleration[i], change[i]);
    }
    if (p->plan->fast)
        resist_fast(p, drive, acceleration, change);
    if (p->plan->coriolis) {
        coriolis_start(p, p->coriolis);
        coriolis_add(p, p->coriolis, drive->step, acceleration, change);
        coriolis_solve(p, p->coriolis, change);
    } else {
        hessian_factor(p);
        hessian_solve(p, change);
    }
    for (uint32_t i = 0; i < p->dofs; i++)
        acceleration[i] = acceleration[i] + change[i];
}

// ---- results ------------------------------------------------------------------------------------

static void keep_slot(Problem *p, const ContactSlot *slot) {
    Work *work = p->work;
    if (slot->constraint == MF_NONE)
        return;
    const Constraint *c = &p->constraints[slot->constraint];
    const mf_lane *force = &p->force[c->row];
    Vec pull = vec_zero(), torque = vec_zero();
    for (uint32_t k = 0; k < c->rows; k++) {
        Vec *sum = k < 3 ? &pull : &torque;
        *sum = vec_fma(slot->axes[k % 3], force[k], *sum);
    }
    const uint64_t *contact_zones = mf_art_contact_zones(p->plan);
    const uint64_t *shape_zones = mf_art_shape_zones(p->plan);
    for (uint32_t m = 0; m < slot->count; m++) {
        const Candidate *from = &p->candidates[slot->members[m]];
        const mf_mask on = from->exists;
        uint64_t zones[2] = {0, 0};
        uint32_t sites[2] = {0, 0};
        if (from->ground) {
            Touch *touch = &work->contacts.touch[from->number];
            touch->load = mf_select(on, force[0], touch->load);
            touch->presses = mf_or(touch->presses, mf_and(on, mf_less(mf_zero(), force[0])));
            if (sensors_feel(p->plan)) {
                zones[0] = p->plan->ground_zones;
                zones[1] = contact_zones[from->number];
                sites[0] = p->plan->ground_site;
                sites[1] = mf_art_contact_site(p->plan)[from->number];
            }
        } else if (sensors_feel(p->plan)) {
            const mf_CollidePair pair = mf_collide_pair_of(
                mf_art_collide(p->plan), work->link_contacts.list[from->number].pair);
            zones[0] = shape_zones[pair.a];
            zones[1] = shape_zones[pair.b];
            sites[0] = mf_art_shape_site(p->plan)[pair.a];
            sites[1] = mf_art_shape_site(p->plan)[pair.b];
        }
        const Vec at = vec_add(slot->point, p->state->position);
        const Vec own = vec_keep(on, pull), own_rotation = vec_keep(on, torque);
        const mf_lane load = mf_keep(on, force[0]);
        sensor_touch_add(p->plan, sites[0], at, slot->axes[0], load, work);
        sensor_touch_add(p->plan, sites[1], at, vec_negative(slot->axes[0]), load, work);
        sensor_wrench_add(zones[0], at, vec_negative(own), vec_negative(own_rotation), work);
        sensor_wrench_add(zones[1], at, own, own_rotation, work);
    }
}

// As in MuJoCo, each side at its own point, also where they are apart; equations of joints act
// within the tree.
static void keep_loop(Problem *p, uint32_t i, const Drift *drift) {
    const mf_ArtLoop *loops = mf_art_loops(p->plan);
    const mf_ArtLoop *loop = &loops[i];
    if (loop->rows == 1 || p->overflow)
        return;
    const mf_lane *force = &p->force[p->constraints[p->loop_first[i]].row];
    const End ends[2] = {end_of(p, loop, 0, drift), end_of(p, loop, 1, drift)};
    const Vec at[2] = {vec_add(ends[0].position, p->state->position),
                       vec_add(ends[1].position, p->state->position)};
    const Vec pull = vec_keep(p->lanes, MF_VALUE(Vec, force[0], force[1], force[2]));
    Vec torque = vec_zero(), axes[3];
    if (loop->rows == 6) {
        const Quat q = rotation_between(&ends[0].rotation, &ends[1].rotation);
        weld_axes(&ends[1].rotation, q, mf_set((mf_real)loop->torque_scale), axes);
        for (int k = 0; k < 3; k++)
            torque = vec_fma(axes[k], force[3 + k], torque);
        torque = vec_keep(p->lanes, torque);
    }
    const uint64_t *zones = mf_art_loop_zones(p->plan) + 2 * (size_t)i;
    sensor_wrench_add(zones[0], at[0], pull, torque, p->work);
    sensor_wrench_add(zones[1], at[1], vec_negative(pull), vec_negative(torque), p->work);
}

static __attribute__((noinline)) void keep_loops(Problem *p) {
    Drift *drift = p->drift;
    drift_find(p, drift);
    for (uint32_t i = 0; i < p->plan->loop_count; i++)
        keep_loop(p, i, drift);
}

static mf_lane force_of(const Problem *p, uint32_t first, uint32_t count) {
    mf_lane sum = mf_zero();
    for (uint32_t n = first; n < first + count; n++)
        sum = sum + p->force[p->constraints[n].row];
    return sum;
}

// Which dofs constraints act on, for momentum.h.
static void keep_pushed(Problem *p) {
    mf_mask *pushed = p->work->pushed;
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        const Constraint *c = &p->constraints[n];
        mf_lane size = mf_zero();
        for (uint32_t r = 0; r < c->rows; r++)
            size = mf_max(size, mf_abs(p->force[c->row + r]));
        const mf_mask on = mf_and(mf_and(c->exists, p->lanes), mf_less(mf_zero(), size));
        for (uint32_t i = 0; i < c->count; i++) {
            const uint32_t d = p->slots[c->first_slot + i];
            pushed[d] = mf_or(pushed[d], on);
        }
    }
}

// Forces of dry friction and limits on a tendon.
static void keep_push(Problem *p, uint32_t i) {
    const uint32_t first = p->tendon_first[i], upper = p->tendon_upper[i], dry = p->tendon_dry[i];
    mf_lane *push = &p->work->pushes[mf_art_tendons(p->plan)[i].tendon];
    mf_lane sum =
        force_of(p, first, upper - first) - force_of(p, upper, first + p->tendon_count[i] - upper);
    if (dry != MF_NONE)
        sum = sum + p->force[p->constraints[dry].row];
    *push = *push + mf_keep(p->lanes, sum);
}

static void keep_forces(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    Work *work = p->work;
    keep_pushed(p);
    for (uint32_t s = 0; s < p->contact_count; s++)
        keep_slot(p, &p->contacts[s]);
    if (plan->zone_count > 0 && plan->loop_count > 0)
        keep_loops(p);
    for (uint32_t l = 0; plan->keeps_limits && l < plan->link_count; l++)
        work->limit_forces[l] = mf_select(
            p->lanes, force_of(p, p->limit_first[l], p->limit_count[l]), work->limit_forces[l]);
    for (uint32_t i = 0; i < plan->tendon_count; i++)
        keep_push(p, i);
    for (uint32_t i = 0; plan->keeps_limits && i < plan->tendon_count; i++)
        work->tendon_limits[i] = mf_select(
            p->lanes, force_of(p, p->tendon_first[i], p->tendon_count[i]), work->tendon_limits[i]);
}

static void keep_row(const Problem *p, mf_real *row, uint32_t c, mf_lane value) {
    mf_store_where(mf_and(p->lanes, p->work->solver.alive), row + (size_t)c * MF_BLOCK, value);
}

static void keep_course(const Problem *p, const Course *course, const mf_lane *acceleration) {
    const Solver *solver = &p->work->solver;
    Warnings *warnings = &p->work->warnings;
    if (solver->warm == NULL)
        return;
    warnings_raise(warnings, mf_and(course->busy, p->lanes), MF_WARNING_SOLVER, course->residual);
    if (p->overflow)
        p->work->dropped = mf_or(p->work->dropped, p->lanes);
    if (p->overflow)
        warnings_raise(warnings, p->lanes, MF_WARNING_CONTACTS, mf_set((mf_real)p->left_out));
    for (uint32_t i = 0; i < p->dofs; i++)
        keep_row(p, solver->warm, i, acceleration[i]);
    keep_row(p, solver->residual, 0, course->residual);
    keep_row(p, solver->iterations, 0, course->steps);
}

// ---- all together -------------------------------------------------------------------------------

static void fill_find(Problem *p) {
    p->full = false;
    p->pattern = tree_pattern(p);
    if (!problem_is_large(p->plan))
        pattern_find(p);
    slips_find(p);
}

static void problem_build(Problem *p) {
    p->overflow = false;
    p->constraint_count = p->row_count = p->number_count = p->slot_count = p->zone_count = 0;
    tendons_add(p);
    loops_add(p);
    dry_add(p);
    limits_add(p);
    contacts_join(p);
    fill_find(p);
    for (uint32_t i = 0; i < p->zone_count; i++)
        p->zones[i] = mf_not(mf_mask_all());
}

// A single lane with too many constraints omits the last contacts, beyond those without a slot.
static void drop_contacts(Problem *p) {
    p->overflow = false;
    for (uint32_t s = 0; s < p->contact_count; s++)
        p->overflow = p->overflow || p->contacts[s].constraint == MF_NONE;
    if (!p->overflow)
        fill_find(p);
    while (p->contact_count > 0 && p->overflow) {
        p->contact_count--;
        p->left_out++;
        const uint32_t last = p->contacts[p->contact_count].constraint;
        if (last == MF_NONE || last >= p->constraint_count)
            continue;
        p->constraint_count = last;
        p->row_count = p->constraints[last].row;
        p->number_count = p->constraints[last].first;
        p->slot_count = p->constraints[last].first_slot;
        p->overflow = false;
        fill_find(p);
    }
    p->overflow = true; // it is still reported
}

// The lane that `p` is of, by the solver of large plans.
static void solve_sparse(Problem *p, uint32_t lane, Course *course) {
    const mf_ArtPlan *plan = p->plan;
    mf_Sparse sparse = {.dofs = p->dofs,
                        .entries = plan->tree_entries,
                        .start = mf_art_tree_start(plan),
                        .column = mf_art_tree_column(plan),
                        .steps_most = plan->solver_steps,
                        .gain = plan->solver_gain,
                        .constraints = p->sparse,
                        .slots = p->slots,
                        .stride = MF_LANES,
                        .warm_stride = MF_BLOCK,
                        .weight = (const mf_real *)p->weight + lane,
                        .rest = (const mf_real *)p->rest + lane,
                        .numbers = (const mf_real *)p->numbers + lane,
                        .mass = (const mf_real *)p->mass + lane,
                        .free = (const mf_real *)p->free + lane,
                        .warm = p->work->solver.warm == NULL ? NULL : p->work->solver.warm + lane,
                        .memory = p->memory,
                        .memory_size = (size_t)-1,
                        .x = (mf_real *)p->x + lane,
                        .force = (mf_real *)p->force + lane,
                        .slack = (mf_real *)p->slack + lane};
    for (uint32_t n = 0; n < p->constraint_count; n++)
        if (exists_in(&p->constraints[n], lane))
            p->sparse[sparse.constraint_count++] = sparse_constraint(&p->constraints[n], lane);
    p->work->solver.sparse(&sparse);
    course->residual = mf_select(p->lanes, mf_set((mf_real)sparse.residual), course->residual);
    course->steps = mf_select(p->lanes, mf_set((mf_real)sparse.steps), course->steps);
    if (sparse.ended)
        course->busy = mf_not(mf_mask_all());
}

static void solve_lanes(Problem *p, const Drive *drive, uint32_t first, Rates *out) {
    Course course = {.busy = mf_and(p->lanes, p->work->solver.alive),
                     .residual = mf_zero(),
                     .steps = mf_zero(),
                     .replied = false,
                     .cost = mf_zero(),
                     .bends = mf_not(mf_mask_all())};
    mf_lane *acceleration = p->acceleration;
    start_cold(p);
    if (p->constraint_count == 0) {
        course.busy = mf_not(mf_mask_all());
    } else if (problem_is_large(p->plan)) {
        solve_sparse(p, first, &course);
    } else {
        present_find(p, p->lanes);
        start_warm(p, p->work->solver.warm, &course);
        newton(p, &course);
    }
    for (uint32_t i = 0; i < p->dofs; i++)
        acceleration[i] = p->free[i] + p->x[i];
    keep_course(p, &course, acceleration);
    if (p->slip_count > 0)
        noslip(p, acceleration);
    keep_forces(p);
    if (p->plan->resists)
        resist(p, drive, acceleration);
    dofs_to_rates(p->plan, acceleration, p->lanes, out);
}

void MF_ART_KERNEL(mf_articulated_constrain)(const mf_ArtPlan *plan, const void *state,
                                             const void *drive, void *work, void *rates) {
    Work *own = (Work *)work;
    mf_Carver carver = own->rest;
    Problem *p;
    MF_CARVE(&carver, p, 1);
    problem_carve(plan, &carver, p);
    p->memory = carver;
    p->plan = plan;
    p->work = own;
    p->state = (const State *)state;
    p->dofs = plan->dof_count;
    dofs_from_rates(plan, (const Rates *)rates,
                    p->free); // before they are overwritten, lanes by lanes
    dofs_of_speeds(plan, p->state, p->speed);
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->counting[i] = (uint16_t)i;
        own->pushed[i] = mf_not(mf_mask_all());
    }
    axes_find(p);
    mass_find(p);
    for (uint32_t i = 0; own->contacts.any && i < plan->contact_count; i++) {
        if (!own->contacts.touch[i].near)
            continue;
        own->contacts.touch[i].load = mf_zero();
        own->contacts.touch[i].presses = mf_not(mf_mask_all());
    }
    for (uint32_t first = 0, width; first < MF_LANES; first += width) {
        width = problem_is_large(plan) ? 1 : MF_LANES - first;
        p->lanes = lane_range(first, width);
        problem_build(p);
        while (p->overflow && width > 1) {
            width /= 2;
            p->lanes = lane_range(first, width);
            own->link_contacts.found = false;
            problem_build(p);
        }
        if (p->overflow)
            drop_contacts(p);
        if (own->solver.problems != NULL) {
            resist_apart(p, (const Drive *)drive);
            give_problems(p, first, first + width);
        } else {
            solve_lanes(p, (const Drive *)drive, first, (Rates *)rates);
        }
        if (width < MF_LANES - first)
            own->link_contacts.found = false;
    }
}

#if !defined(MF_ART_VARIED)
size_t MF_KERNEL(mf_articulated_constrain_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Problem problem, *own;
    MF_CARVE(&carver, own, 1);
    problem_carve(plan, &carver, &problem);
    return carver.used;
}
#endif
