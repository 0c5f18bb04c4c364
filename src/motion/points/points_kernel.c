// One step of the `points` motion for a few lanes: one rigid body of mass points over a height map
// (Fischer and Ihme 2024, NeoPhysIx). docs/points.md has the equations.
//
//   joint update (every interval)  joints advance, points move, the centre of mass stays; the body
//                                  is lifted out of the ground and carried by its feet, without
//                                  gaining velocity
//   flight (every step)            gravity, then free rotation
//   contact (every step)           support and friction displacements, which also change the
//                                  velocities; the total energy is kept from rising
//
// Invariants: a lane never reads another lane; base pose, velocity and contacts of a lane whose new
// state is not finite or out of range are not stored (it raises its fault word and is frozen; joint
// angles and points of a joint update in that step are).
#include "motion/points/coulomb.h"
#include "motion/points/coupled.h"
#include "motion/points/fit.h"
#include "motion/points/reaction.h"
#include "motion/points/step.h"
#include "motion/points/support.h"
#include "motion/points/spin.h"

typedef struct Step {
    const mf_PointsBlock *block;
    const mf_PointsPlan *plan;
    const mf_real *constant;
    mf_mask alive;  // lanes without a fault
    bool all_alive; // no lane has one
    mf_mask near;   // lanes with a point that may touch the ground
    Contacts contacts;
    Kinematics kinematics;
    mf_lane climb[MF_POINTS_MAX_CONTACTS]; // [m] how far the joints moved each point
    mf_lane hold[MF_POINTS_MAX_CONTACTS], weight[MF_POINTS_MAX_CONTACTS];
} Step;

// Depth of a point that is no contact of its lane but of another one: no tilt brings it down.
static MF_INLINE mf_lane depth_of_none(void) {
    return mf_set((mf_real)-1e30);
}

// Frozen lanes keep what they have.
static MF_INLINE void keep_store(const Step *s, void *field, uint32_t c, mf_lane a) {
    mf_real *base = (mf_real *)field + (size_t)c * MF_BLOCK;
    if (s->all_alive)
        mf_store(base, a);
    else
        mf_store_where(s->alive, base, a);
}

static MF_INLINE void keep_vec(const Step *s, void *field, uint32_t c, Vec a) {
    keep_store(s, field, c, a.x);
    keep_store(s, field, c + 1, a.y);
    keep_store(s, field, c + 2, a.z);
}

static MF_INLINE void keep_vec_where(const Step *s, mf_mask where, void *field, uint32_t c, Vec a) {
    mf_real *base = (mf_real *)field + (size_t)c * MF_BLOCK;
    mf_mask mask = mf_and(s->alive, where);
    mf_store_where(mask, base, a.x);
    mf_store_where(mask, base + MF_BLOCK, a.y);
    mf_store_where(mask, base + 2 * MF_BLOCK, a.z);
}

static mf_mask alive_lanes(const mf_PointsBlock *block) {
    mf_index word = mf_load_index((const int32_t *)block->fault);
    return mf_index_equal(word, mf_set_index(0));
}

static void raise_fault(Step *s, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(s->alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    mf_index word = mf_load_index((const int32_t *)s->block->fault);
    word = mf_select_index(bad, word | mf_set_index((int32_t)bit), word);
    mf_store_index((int32_t *)s->block->fault, word);
    s->alive = mf_and(s->alive, fine);
    s->all_alive = false;
}

static MF_INLINE Body load_body(const mf_PointsBlock *block, Mat *turn) {
    Body body;
    Vec place = vec_load(block->position, 0), velocity = vec_load(block->linear, 0);
    const mf_real *q = block->orientation;
    body.attitude = (Quat){row_load(q, 0), row_load(q, 1), row_load(q, 2), row_load(q, 3)};
    body.rate = vec_load(block->angular, 0);
    body.center = vec_load(block->center, 0);
    body.inertia = sym_load(block->inertia);
    body.inverse = sym_load(block->inverse);
    *turn = quat_matrix(body.attitude);
    Vec arm = mat_apply(turn, body.center);
    body.com = vec_add(place, arm);
    body.velocity = vec_add(velocity, vec_cross(mat_apply(turn, body.rate), arm));
    return body;
}

// ---- ground -------------------------------------------------------------------------------------

// A cell edge of the nearest-cell map is a cliff; a point that enters it from the side is held
// where it is instead of being thrown to the top. `reach` is the height up to which it may be
// lifted.
static MF_INLINE mf_lane support_height(const Step *s, mf_lane ground, mf_lane reach) {
    if (s->plan->level || s->plan->terrain->interpolation == MF_BILINEAR)
        return ground;
    mf_lane slack = mf_abs(reach) * mf_set(4 * MF_REAL_EPSILON);
    return mf_min(ground, reach + slack);
}

static MF_INLINE uint32_t add_contact(Contacts *contacts, uint32_t index, Vec place,
                                      mf_lane before) {
    uint32_t row = contacts->count++;
    contacts->row[row].index = index;
    contacts->row[row].place = place;
    contacts->row[row].before = before;
    return row;
}

// Where to start the search for the pressed points: those that were pressed before, or, for a robot
// that comes from the air, those below the ground.
static MF_INLINE void guess_pressed(Contacts *contacts) {
    mf_lane zero = mf_zero(), held = zero;
    for (uint32_t i = 0; i < contacts->count; i++)
        held = held + contacts->row[i].before;
    mf_mask standing = mf_less(zero, held);
    for (uint32_t i = 0; i < contacts->count; i++)
        contacts->row[i].press =
            mf_select(standing, contacts->row[i].before, contacts->row[i].press);
}

// A point is taken for pressed as long as it is below the ground.
static MF_INLINE void set_depth(Contacts *contacts, uint32_t row, mf_lane depth) {
    contacts->row[row].depth = depth;
    contacts->row[row].press = mf_max(depth, mf_zero());
}

static MF_INLINE mf_lane load_before(const Step *s, uint32_t contact) {
    mf_lane load = row_load(s->block->load, contact);
    return load * mf_set(s->constant[MF_PLAN_SOFTNESS]);
}

// Slip of a contact: where it is now minus its anchor.
static MF_INLINE Vec contact_slip(const Step *s, const Body *body, uint32_t row) {
    Vec anchor = vec_load(s->block->anchor, 3 * s->contacts.row[row].index);
    return vec_sub(vec_add(body->com, s->contacts.row[row].place), anchor);
}

// ---- friction -----------------------------------------------------------------------------------

static MF_INLINE mf_lane fit_weight(const Step *s, uint32_t row) {
    mf_lane before = s->contacts.row[row].before;
    return s->plan->config.weighted ? before
                                    : mf_keep(mf_less(mf_zero(), before), mf_set((mf_real)1));
}

// The paper's fit over the contacts for which `in_both` holds; adds to `shift`.
static MF_INLINE Vec fit_friction(Step *s, const Body *body, const Shift *shift, bool joints) {
    Contacts *contacts = &s->contacts;
    mf_lane zero = mf_zero(), margin = mf_set(s->constant[MF_PLAN_MARGIN]);
    Fit fit = fit_start();
    for (uint32_t i = 0; i < contacts->count; i++) {
        if (!mf_any(mf_less(zero, contacts->row[i].before)))
            continue;
        mf_mask now = mf_less(zero, contacts->row[i].press);
        if (joints) {
            mf_lane above = contact_rise(shift, contacts->row[i].place) - contacts->row[i].depth;
            now = mf_less(above, margin);
        }
        Vec slip = contact_slip(s, body, i), place = contacts->row[i].place;
        mf_lane slip_x = slip.x - shift->turn.z * place.y + shift->turn.y * place.z;
        mf_lane slip_y = slip.y + shift->turn.z * place.x - shift->turn.x * place.z;
        fit_add(&fit, place, slip_x, slip_y, mf_keep(now, fit_weight(s, i)));
    }
    return fit_solve(&fit);
}

// A second round for joint updates: what the soft contacts still gave way is added to their depth,
// so that the points end at the surface and no penetration is left that would cost energy later.
static Shift lift_clear(Step *s, const Sym *inverse_world, mf_real softness, mf_real inverse_mass) {
    Contacts *contacts = &s->contacts;
    mf_lane given[MF_POINTS_MAX_CONTACTS];
    for (uint32_t i = 0; i < contacts->count; i++) {
        given[i] = contacts->row[i].press;
        contacts->row[i].depth = contacts->row[i].depth + given[i];
    }
    Shift shift = support_solve(contacts, inverse_world, softness, inverse_mass);
    for (uint32_t i = 0; i < contacts->count; i++)
        contacts->row[i].depth = contacts->row[i].depth - given[i];
    return shift;
}

static MF_INLINE Shift solve_fit(Step *s, const Body *body, const Sym *inverse_world, bool joints) {
    mf_real softness = s->constant[MF_PLAN_COMPLIANCE] * (joints ? (mf_real)0.01 : (mf_real)1);
    mf_real inverse_mass = s->constant[MF_PLAN_INVERSE_MASS];
    Shift shift = support_solve(&s->contacts, inverse_world, softness, inverse_mass);
    if (joints)
        shift = lift_clear(s, inverse_world, softness, inverse_mass);
    Vec fit = fit_friction(s, body, &shift, joints);
    shift.move.x = fit.x;
    shift.move.y = fit.y;
    shift.turn.z = shift.turn.z + fit.z;
    if (joints || !(s->constant[MF_PLAN_FRICTION] <= MF_REAL_MAX))
        return shift;
    mf_lane spin_mass = mf_set(s->constant[MF_PLAN_INVERSE_MASS]) / inverse_world->zz;
    Shift release = coulomb_release(s->plan, s->constant, &s->contacts, fit, spin_mass);
    shift.move = vec_add(shift.move, release.move);
    shift.turn.z = shift.turn.z + release.turn.z;
    return shift;
}

static Shift solve_coupled(Step *s, const Body *body, const Mat *turn, bool joints) {
    Contacts *contacts = &s->contacts;
    Sym inertia_world = sym_turn(turn, &body->inertia);
    mf_real softness = s->constant[MF_PLAN_COMPLIANCE] * (joints ? (mf_real)0.01 : (mf_real)1);
    // Weights by load have the mean 1 over the contacts that hold.
    mf_lane holding = mf_zero(), total = mf_zero(), one = mf_set((mf_real)1);
    for (uint32_t i = 0; i < contacts->count; i++) {
        mf_lane before = contacts->row[i].before;
        holding = holding + mf_keep(mf_less(mf_zero(), before), one);
        total = total + before;
    }
    mf_lane mean = holding / mf_select(mf_less(mf_zero(), total), total, one);
    for (uint32_t i = 0; i < contacts->count; i++) {
        mf_mask held = mf_less(mf_zero(), contacts->row[i].before);
        s->weight[i] = fit_weight(s, i);
        if (s->plan->config.weighted)
            s->weight[i] = s->weight[i] * mean;
        Vec slip = contact_slip(s, body, i);
        contacts->row[i].slip =
            (Vec){mf_keep(held, slip.x), mf_keep(held, slip.y), mf_keep(held, slip.z)};
    }
    return coupled_solve(s->plan, s->constant, contacts, &inertia_world, softness, s->weight,
                         s->hold);
}

static MF_INLINE Shift solve(Step *s, const Body *body, const Mat *turn, bool joints) {
    if (s->plan->config.friction == MF_FRICTION_COUPLED)
        return solve_coupled(s, body, turn, joints);
    Sym inverse_world = sym_turn(turn, &body->inverse);
    return solve_fit(s, body, &inverse_world, joints);
}

// Lanes in the air keep theirs to the bit, as they do when no other robot is in the batch.
static MF_INLINE void apply_shift(const Step *s, Body *body, const Shift *shift) {
    mf_lane limit = mf_set((mf_real)0.5), low = mf_set((mf_real)-0.5);
    Vec turn = {mf_clamp(shift->turn.x, low, limit), mf_clamp(shift->turn.y, low, limit),
                mf_clamp(shift->turn.z, low, limit)};
    body->com = vec_select(s->near, vec_add(body->com, shift->move), body->com);
    body->attitude = quat_select(s->near, quat_turn(body->attitude, turn), body->attitude);
}

// Remembers where the contacts are now. A contact that the solver lets slide in part (coupled
// friction) keeps the stretch that its friction can bear.
static MF_INLINE void store_anchor(const Step *s, const Body *body, const Mat *turn, uint32_t row) {
    uint32_t contact = s->contacts.row[row].index;
    Vec local = vec_load(s->block->points, 3 * contact);
    Vec place = vec_add(body->com, mat_apply(turn, local));
    if (s->plan->config.friction == MF_FRICTION_COUPLED) {
        mf_mask stays = mf_and(mf_less(mf_zero(), s->contacts.row[row].before),
                               mf_less(mf_zero(), s->contacts.row[row].press));
        Vec anchor = vec_load(s->block->anchor, 3 * contact);
        Vec slip = vec_scale(vec_sub(place, anchor), s->hold[row]);
        place = vec_select(stays, vec_sub(place, slip), place);
    }
    keep_vec_where(s, mf_less(mf_zero(), s->contacts.row[row].press), s->block->anchor, 3 * contact,
                   place);
}

// ---- joint update -------------------------------------------------------------------------------

static mf_lane joint_goal(const Step *s, const mf_PlanLink *link, const mf_real *c, mf_lane now) {
    mf_lane low = mf_set(c[MF_PLAN_LINK_LOWER]), high = mf_set(c[MF_PLAN_LINK_UPPER]);
    if (link->mimic >= 0) {
        mf_lane leader = row_load(s->block->angle, s->plan->links[link->mimic].joint);
        return leader * mf_set(c[MF_PLAN_LINK_MULTIPLIER]) + mf_set(c[MF_PLAN_LINK_OFFSET]);
    }
    mf_lane target = row_load(s->block->target, link->joint);
    mf_lane reach = mf_set(c[MF_PLAN_LINK_REACH]);
    mf_lane change = mf_clamp(target - now, mf_zero() - reach, reach);
    return mf_clamp(now + change, low, high);
}

// Advances the joints; `from` gets the angles before (rows of MF_BLOCK). True where one moved.
static mf_mask move_joints(Step *s, mf_real *from) {
    mf_lane per_second = mf_set(s->constant[MF_PLAN_INVERSE_INTERVAL]);
    mf_mask fine = mf_mask_all(), whole = fine;
    for (uint32_t l = 0; l < s->plan->link_count; l++) {
        whole = mf_and(whole, mf_finite(row_load(s->block->angle, s->plan->links[l].joint)));
        if (s->plan->links[l].mimic < 0)
            fine = mf_and(fine, mf_finite(row_load(s->block->target, s->plan->links[l].joint)));
    }
    raise_fault(s, whole, MF_FAULT_NONFINITE);
    raise_fault(s, fine, MF_FAULT_INPUT);
    mf_lane travel = mf_zero();
    // Leaders first, then the joints that follow them.
    for (uint32_t i = 0; i < 2 * s->plan->link_count; i++) {
        uint32_t l = i < s->plan->link_count ? i : i - s->plan->link_count;
        const mf_PlanLink *link = &s->plan->links[l];
        if (link->kind == MF_PLAN_HELD || (link->mimic >= 0) != (i >= s->plan->link_count))
            continue;
        const mf_real *c = s->constant + s->plan->link_offset + (size_t)l * MF_PLAN_LINK_VALUES;
        mf_lane now = row_load(s->block->angle, link->joint);
        mf_lane goal = joint_goal(s, link, c, now);
        row_store(from, link->joint, now);
        travel = travel + mf_abs(goal - now);
        keep_store(s, s->block->angle, link->joint, goal);
        keep_store(s, s->block->rate, link->joint, (goal - now) * per_second);
    }
    return mf_less(mf_zero(), travel);
}

// New points, centre and inertia from the joint angles; the centre of mass and the angular momentum
// stay what they were.
static void reshape_body(Step *s, Body *body) {
    kinematics_run(s->plan, s->constant, s->block->angle, &s->kinematics);
    Vec momentum = sym_apply(&body->inertia, body->rate);
    kinematics_inertia(&s->kinematics, s->constant, &body->center, &body->inertia);
    body->inverse = sym_inverse(&body->inertia);
    body->rate = sym_apply(&body->inverse, momentum);
    Sym inertia = body->inertia, inverse = body->inverse;
    mf_lane values[12] = {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz,
                          inverse.xx, inverse.yy, inverse.zz, inverse.xy, inverse.xz, inverse.yz};
    keep_vec(s, s->block->center, 0, body->center);
    for (uint32_t c = 0; c < 6; c++) {
        keep_store(s, s->block->inertia, c, values[c]);
        keep_store(s, s->block->inverse, c, values[6 + c]);
    }
    for (uint32_t i = 0; i < s->plan->contact_count; i++) {
        Vec old = vec_load(s->block->points, 3 * i);
        Vec place = vec_sub(s->kinematics.contact[i], body->center);
        Vec moved = vec_sub(place, old);
        s->climb[i] = mf_abs(moved.x) + mf_abs(moved.y) + mf_abs(moved.z);
        s->kinematics.contact[i] = place;
    }
}

static void find_joint_contacts(Step *s, const Body *body, const Mat *turn) {
    mf_lane highest = mf_set(s->constant[MF_PLAN_HIGHEST] + s->constant[MF_PLAN_MARGIN]);
    s->contacts.count = 0;
    s->near = mf_not(mf_mask_all());
    for (uint32_t i = 0; i < s->plan->contact_count; i++) {
        Vec local = s->kinematics.contact[i], old = vec_load(s->block->points, 3 * i);
        keep_vec(s, s->block->points, 3 * i, local);
        mf_lane z = turn->zx * local.x + turn->zy * local.y + turn->zz * local.z;
        mf_lane before = load_before(s, i);
        mf_mask near = mf_or(mf_less(body->com.z + z, highest), mf_less(mf_zero(), before));
        if (!mf_any(near))
            continue;
        s->near = mf_or(s->near, near);
        uint32_t row = add_contact(&s->contacts, i, mat_apply(turn, local), before);
        Vec place = vec_add(body->com, s->contacts.row[row].place);
        mf_lane ground =
            ground_at(s->plan, s->constant, place.x, place.y, &s->contacts.row[row].normal);
        mf_lane was = body->com.z + (turn->zx * old.x + turn->zy * old.y + turn->zz * old.z);
        // Feet stay pressed as far as their load pressed them. A point is lifted at most as far as
        // its joints moved it: still joints do no work, however deep it is in the ground.
        mf_lane top = mf_min(ground, was + before + s->climb[i]);
        set_depth(&s->contacts, row, mf_select(near, top - place.z - before, depth_of_none()));
    }
}

// Loads of feet that the joints lifted off vanish; the others keep their anchors under them.
static void settle_joint_contacts(Step *s, const Body *body, const Shift *shift) {
    mf_lane margin = mf_set(s->constant[MF_PLAN_MARGIN]), zero = mf_zero();
    Mat turn = quat_matrix(body->attitude);
    for (uint32_t i = 0; i < s->contacts.count; i++) {
        uint32_t contact = s->contacts.row[i].index;
        mf_lane above = contact_rise(shift, s->contacts.row[i].place) - s->contacts.row[i].depth;
        mf_lane load = row_load(s->block->load, contact);
        keep_store(s, s->block->load, contact, mf_keep(mf_less(above, margin), load));
        Vec local = vec_load(s->block->points, 3 * contact);
        Vec place = vec_add(body->com, mat_apply(&turn, local));
        if (s->plan->config.friction == MF_FRICTION_COUPLED) {
            // The stretch that held the robot before the joints moved goes on holding it.
            Vec held = s->contacts.row[i].slip;
            place = vec_sub(place, vec_select(mf_less(zero, s->contacts.row[i].before), held,
                                              (Vec){zero, zero, zero}));
        }
        keep_vec_where(s, mf_less(zero, s->contacts.row[i].before), s->block->anchor, 3 * contact,
                       place);
    }
}

// In coupled friction the slip of a joint update is what the joints moved, not the stretch that
// already holds the robot up; that stretch is put aside in `slip` and kept.
static void rebase_anchors(Step *s, const Body *body, const Mat *turn, const Vec *old_place) {
    for (uint32_t i = 0; i < s->contacts.count; i++) {
        uint32_t contact = s->contacts.row[i].index;
        Vec was = vec_add(body->com, mat_apply(turn, old_place[i]));
        Vec anchor = vec_load(s->block->anchor, 3 * contact);
        s->contacts.row[i].slip = vec_sub(was, anchor);
        keep_vec_where(s, mf_less(mf_zero(), s->contacts.row[i].before), s->block->anchor,
                       3 * contact, was);
    }
}

// The body after its joints went on from `from`.
static void carry_body(Step *s, Body *body, const mf_real *from) {
    Vec stretch[MF_POINTS_MAX_CONTACTS];
    mf_lane zero = mf_zero();
    if (s->plan->config.keep_momentum) {
        mf_lane loads = zero;
        for (uint32_t i = 0; i < s->plan->contact_count; i++)
            loads = loads + row_load(s->block->load, i);
        Vec turned = reaction_turn(s->plan, s->constant, from, s->block->angle);
        Vec still = {zero, zero, zero};
        Mat old = quat_matrix(body->attitude);
        body->attitude =
            quat_turn_body(body->attitude, vec_select(mf_less(zero, loads), still, turned));
        // The angular momentum keeps its direction in the world, not in the body.
        Mat new = quat_matrix(body->attitude);
        Vec momentum = mat_apply(&old, sym_apply(&body->inertia, body->rate));
        body->rate = sym_apply(&body->inverse, mat_apply_transposed(&new, momentum));
    }
    bool coupled = s->plan->config.friction == MF_FRICTION_COUPLED;
    if (coupled)
        for (uint32_t i = 0; i < s->plan->contact_count; i++)
            stretch[i] = vec_load(s->block->points, 3 * i);
    reshape_body(s, body);
    Mat turn = quat_matrix(body->attitude);
    find_joint_contacts(s, body, &turn);
    if (s->contacts.count == 0)
        return;
    if (coupled) {
        for (uint32_t i = 0; i < s->contacts.count; i++)
            stretch[i] = stretch[s->contacts.row[i].index];
        rebase_anchors(s, body, &turn, stretch);
        for (uint32_t i = 0; i < s->contacts.count; i++)
            stretch[i] = s->contacts.row[i].slip;
    }
    Shift shift = solve(s, body, &turn, true);
    apply_shift(s, body, &shift);
    if (coupled)
        for (uint32_t i = 0; i < s->contacts.count; i++)
            s->contacts.row[i].slip = stretch[i];
    settle_joint_contacts(s, body, &shift);
}

// What is remembered of the contacts must be finite.
static void check_memory(Step *s) {
    mf_lane sum = mf_zero();
    for (uint32_t i = 0; i < s->plan->contact_count; i++) {
        Vec local = vec_load(s->block->points, 3 * i);
        sum = sum + (mf_abs(local.x) + mf_abs(local.y)) +
              (mf_abs(local.z) + mf_abs(row_load(s->block->load, i)));
    }
    raise_fault(s, mf_finite(sum), MF_FAULT_NONFINITE);
}

// Robots whose joints stay where they are do not change by a bit.
static void update_joints(Step *s, Body *body) {
    mf_real from[MF_POINTS_MAX_LINKS * MF_BLOCK] __attribute__((aligned(64)));
    mf_mask moved = move_joints(s, from);
    check_memory(s);
    if (!mf_any(moved))
        return;
    const mf_mask alive = s->alive;
    const Body before = *body;
    s->alive = mf_and(alive, moved);
    s->all_alive = mf_all(s->alive);
    carry_body(s, body, from);
    s->alive = mf_and(alive, mf_or(s->alive, mf_not(moved)));
    s->all_alive = mf_all(s->alive);
    if (mf_all(moved))
        return;
    body->com = vec_select(moved, body->com, before.com);
    body->attitude = quat_select(moved, body->attitude, before.attitude);
    body->rate = vec_select(moved, body->rate, before.rate);
    body->center = vec_select(moved, body->center, before.center);
    body->inertia = sym_select(moved, &body->inertia, &before.inertia);
    body->inverse = sym_select(moved, &body->inverse, &before.inverse);
}

// ---- flight and contact -------------------------------------------------------------------------

static MF_INLINE mf_lane kinetic_energy(const Step *s, const Body *body) {
    mf_lane half = mf_set((mf_real)0.5);
    return half * (mf_set(s->constant[MF_PLAN_MASS]) * vec_dot(body->velocity, body->velocity) +
                   vec_dot(body->rate, sym_apply(&body->inertia, body->rate)));
}

// An outside force and torque on the centre of mass, as an impulse at the start of the step.
static MF_INLINE void push_body(Step *s, Body *body, const Mat *turn) {
    Vec force = vec_load(s->block->force, 0), torque = vec_load(s->block->torque, 0);
    // (A sum, because a maximum forgets what is not a number.)
    mf_lane sum = mf_abs(force.x) + mf_abs(force.y) + mf_abs(force.z) + mf_abs(torque.x) +
                  mf_abs(torque.y) + mf_abs(torque.z);
    mf_mask still = mf_less_equal(sum, mf_zero());
    if (mf_all(still))
        return;
    raise_fault(s, mf_finite(sum), MF_FAULT_INPUT);
    mf_lane step = mf_set(s->constant[MF_PLAN_STEP]);
    mf_lane scale = mf_set(s->constant[MF_PLAN_STEP] * s->constant[MF_PLAN_INVERSE_MASS]);
    Vec velocity = vec_add(body->velocity, vec_scale(force, scale));
    Vec twist = sym_apply(&body->inverse, mat_apply_transposed(turn, torque));
    Vec rate = vec_add(body->rate, vec_scale(twist, step));
    body->velocity = vec_select(still, body->velocity, velocity);
    body->rate = vec_select(still, body->rate, rate);
}

static MF_INLINE void fly(const Step *s, Body *body) {
    mf_lane step = mf_set(s->constant[MF_PLAN_STEP]);
    body->velocity.z = body->velocity.z - mf_set(s->constant[MF_PLAN_FALL]);
    body->com = vec_add(body->com, vec_scale(body->velocity, step));
    // A body that does not turn keeps its attitude to the bit; often it is alone or all are still.
    const Vec w = body->rate;
    mf_mask turns = mf_less(mf_zero(), mf_abs(w.x) + mf_abs(w.y) + mf_abs(w.z));
    if (!mf_any(turns))
        return;
    Quat attitude = body->attitude;
    spin_step(&body->inertia, &body->inverse, s->constant[MF_PLAN_STEP], &attitude, &body->rate);
    body->attitude = quat_select(turns, attitude, body->attitude);
}

// Points that may be in the ground after the flight. `was_turn` and `was_z` are the attitude and
// the height of the centre of mass before it.
static MF_INLINE void find_contacts(Step *s, const Body *body, const Mat *turn, const Mat *was_turn,
                                    mf_lane was_z) {
    mf_lane highest = mf_set(s->constant[MF_PLAN_HIGHEST]), zero = mf_zero();
    mf_lane reach_z = highest - body->com.z;
    s->contacts.count = 0;
    s->near = mf_not(mf_mask_all());
    for (uint32_t i = 0; i < s->plan->contact_count; i++) {
        Vec local = vec_load(s->block->points, 3 * i);
        mf_lane z = turn->zx * local.x + turn->zy * local.y + turn->zz * local.z;
        mf_mask near = mf_less(z, reach_z);
        if (!mf_any(near)) {
            keep_store(s, s->block->load, i, zero);
            continue;
        }
        mf_lane before = mf_keep(near, load_before(s, i));
        s->near = mf_or(s->near, near);
        Vec place = {turn->xx * local.x + turn->xy * local.y + turn->xz * local.z,
                     turn->yx * local.x + turn->yy * local.y + turn->yz * local.z, z};
        uint32_t row = add_contact(&s->contacts, i, place, before);
        mf_lane ground = ground_at(s->plan, s->constant, body->com.x + place.x,
                                   body->com.y + place.y, &s->contacts.row[row].normal);
        mf_lane was =
            was_z + (was_turn->zx * local.x + was_turn->zy * local.y + was_turn->zz * local.z);
        mf_lane top = support_height(s, ground, was + before);
        set_depth(&s->contacts, row, mf_select(near, top - (body->com.z + z), depth_of_none()));
    }
    guess_pressed(&s->contacts);
}

static MF_INLINE mf_lane spring_energy(const Step *s, bool after) {
    mf_lane sum = mf_zero();
    for (uint32_t i = 0; i < s->contacts.count; i++) {
        mf_lane d = after ? s->contacts.row[i].press : s->contacts.row[i].before;
        sum = sum + d * d;
    }
    return sum * mf_set((mf_real)0.5 * s->constant[MF_PLAN_STIFFNESS]);
}

// The step's response to the ground. Returns what the kinetic energy may be afterwards: all energy
// before the step (`energy` is its kinetic part, `was_z` the height of the centre of mass) less
// what is now in the springs and in the height.
static MF_INLINE mf_lane respond(Step *s, Body *body, const Mat *turn, mf_lane was_z,
                                 mf_lane energy) {
    Shift shift = solve(s, body, turn, false);
    mf_lane per_second = mf_set(s->constant[MF_PLAN_INVERSE_STEP]);
    body->velocity = vec_add(body->velocity, vec_scale(shift.move, per_second));
    Vec kick = vec_scale(shift.turn, per_second);
    body->rate = vec_add(body->rate, mat_apply_transposed(turn, kick));
    apply_shift(s, body, &shift);
    mf_lane rise = mf_set(s->constant[MF_PLAN_WEIGHT]) * (body->com.z - was_z);
    return energy + spring_energy(s, false) - spring_energy(s, true) - rise;
}

// Lanes with a contact that held something or has met the ground. (Not: that bears something in
// the end, for a robot may be thrown off the ground within the step.)
static MF_INLINE mf_mask touching(Step *s) {
    mf_lane touched = mf_zero();
    for (uint32_t i = 0; i < s->contacts.count; i++)
        touched = touched + s->contacts.row[i].before + mf_max(s->contacts.row[i].depth, mf_zero());
    raise_fault(s, mf_finite(touched), MF_FAULT_NONFINITE);
    return mf_less(mf_zero(), touched);
}

// Energy never rises: kinetic energy above `budget` is taken away evenly from all velocities. Lanes
// in the air keep theirs to the bit.
static MF_INLINE void limit_energy(const Step *s, Body *body, mf_mask touched, mf_lane budget) {
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane energy = kinetic_energy(s, body);
    // What is left of a body at rest is set to zero before it reaches subnormal numbers.
    mf_lane least = mf_set(s->constant[MF_PLAN_MASS] * (mf_real)1e-16);
    budget = mf_keep(mf_less(least, energy), budget);
    mf_mask over = mf_and(touched, mf_less(budget, energy));
    mf_lane ratio = mf_max(budget, zero) / mf_select(over, energy, one);
    mf_lane scale = mf_select(over, mf_sqrt(ratio), one);
    body->velocity = vec_scale(body->velocity, scale);
    body->rate = vec_scale(body->rate, scale);
}

static void set_motion(Body *body, const Motion *motion) {
    body->com = motion->com;
    body->velocity = motion->velocity;
    body->attitude = motion->attitude;
    body->rate = motion->rate;
}

static void choose_pose(Body *body, mf_mask where, const Body *other) {
    body->com = vec_select(where, other->com, body->com);
    body->velocity = vec_select(where, other->velocity, body->velocity);
    body->attitude = quat_select(where, other->attitude, body->attitude);
    body->rate = vec_select(where, other->rate, body->rate);
}

// The ground lies higher than the energy of a `poor` lane can pay for (a point deep in a slope or
// under the floor). Such a lane is carried where its points were before the step instead of being
// lifted out: against that support, at rest relative to it, the implicit step cannot gain energy.
// Where even that fails, by the curvature of large turns, the body stays where it was and stops.
static __attribute__((noinline)) mf_lane hold_poor(Step *s, Body *body, const Motion *was,
                                                   const Mat *was_turn, mf_mask poor,
                                                   mf_lane budget, mf_lane energy) {
    mf_lane press[MF_POINTS_MAX_CONTACTS], hold[MF_POINTS_MAX_CONTACTS];
    Contacts *contacts = &s->contacts;
    bool coupled = s->plan->config.friction == MF_FRICTION_COUPLED;
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Body second = *body, still = *body;
    set_motion(&second, was);
    set_motion(&still, was);
    fly(s, &second); // as before the first response
    for (uint32_t i = 0; i < contacts->count; i++) {
        Vec local = vec_load(s->block->points, 3 * contacts->row[i].index);
        mf_lane was_z =
            was->com.z + (was_turn->zx * local.x + was_turn->zy * local.y + was_turn->zz * local.z);
        mf_lane top = was_z + contacts->row[i].before - (second.com.z + contacts->row[i].place.z);
        press[i] = contacts->row[i].press;
        set_depth(contacts, i,
                  mf_select(poor, mf_min(contacts->row[i].depth, top), contacts->row[i].depth));
        hold[i] = coupled ? s->hold[i] : one;
    }
    Mat turn = quat_matrix(second.attitude);
    mf_lane held = respond(s, &second, &turn, was->com.z, energy);
    mf_mask stuck = mf_less(held, zero);
    still.velocity = still.rate = (Vec){zero, zero, zero};
    choose_pose(&second, stuck, &still);
    choose_pose(body, poor, &second);
    for (uint32_t i = 0; i < contacts->count; i++) {
        mf_lane kept = mf_select(stuck, contacts->row[i].before, contacts->row[i].press);
        contacts->row[i].press = mf_select(poor, kept, press[i]);
        if (coupled)
            s->hold[i] = mf_select(poor, mf_select(stuck, one, s->hold[i]), hold[i]);
    }
    return mf_select(poor, mf_max(held, zero), budget);
}

static MF_INLINE void meet_ground(Step *s, Body *body, const Motion *was, const Mat *was_turn,
                                  mf_lane energy) {
    Mat turn = quat_matrix(body->attitude);
    find_contacts(s, body, &turn, was_turn, was->com.z);
    if (s->contacts.count == 0)
        return;
    mf_lane budget = respond(s, body, &turn, was->com.z, energy);
    // A rounding of the height is no lack of energy.
    mf_lane slack =
        mf_abs(body->com.z) * mf_set(s->constant[MF_PLAN_WEIGHT] * -4 * MF_REAL_EPSILON);
    mf_mask touched = touching(s), poor = mf_and(touched, mf_less(budget, slack));
    if (mf_any(poor))
        budget = hold_poor(s, body, was, was_turn, poor, budget, energy);
    limit_energy(s, body, touched, budget);
}

// Place within 1e6 m, speed within 1e4 m/s, and at most two radians per step, which is what the
// integration of the rotation can follow.
static MF_INLINE mf_mask state_fine(const Step *s, const Body *body, mf_mask *in_range) {
    const Vec p = body->com, v = body->velocity, w = body->rate;
    mf_lane place = mf_abs(p.x) + mf_abs(p.y) + mf_abs(p.z);
    mf_lane speed = mf_abs(v.x) + mf_abs(v.y) + mf_abs(v.z);
    mf_lane spin = mf_abs(w.x) + mf_abs(w.y) + mf_abs(w.z);
    const Quat q = body->attitude;
    mf_lane attitude = mf_abs(q.w) + mf_abs(q.x) + mf_abs(q.y) + mf_abs(q.z);
    *in_range = mf_and(mf_and(mf_less(place, mf_set((mf_real)1e6)),
                              mf_less(attitude, mf_set((mf_real)2.5))), // 1 .. 2 for a unit one
                       mf_and(mf_less(speed, mf_set((mf_real)1e4)),
                              mf_less(spin, mf_set(2 * s->constant[MF_PLAN_INVERSE_STEP]))));
    return mf_finite(place + speed + spin + attitude);
}

static MF_INLINE void store_body(Step *s, const Body *body) {
    mf_mask in_range, finite = state_fine(s, body, &in_range);
    raise_fault(s, finite, MF_FAULT_NONFINITE);
    raise_fault(s, in_range, MF_FAULT_RANGE);
    Mat turn = quat_matrix(body->attitude);
    Vec arm = mat_apply(&turn, body->center);
    Vec spin = vec_cross(mat_apply(&turn, body->rate), arm);
    keep_vec(s, s->block->position, 0, vec_sub(body->com, arm));
    keep_vec(s, s->block->linear, 0, vec_sub(body->velocity, spin));
    keep_vec(s, s->block->angular, 0, body->rate);
    keep_store(s, s->block->orientation, 0, body->attitude.w);
    keep_store(s, s->block->orientation, 1, body->attitude.x);
    keep_store(s, s->block->orientation, 2, body->attitude.y);
    keep_store(s, s->block->orientation, 3, body->attitude.z);
    mf_lane stiffness = mf_set(s->constant[MF_PLAN_STIFFNESS]);
    for (uint32_t i = 0; i < s->contacts.count; i++) {
        keep_store(s, s->block->load, s->contacts.row[i].index,
                   s->contacts.row[i].press * stiffness);
        store_anchor(s, body, &turn, i);
    }
}

void MF_KERNEL(mf_points_step)(const mf_PointsBlock *block) {
    Step s;
    s.block = block;
    s.plan = block->plan;
    s.constant = MF_PLAN_CONSTANTS(block->plan);
    s.alive = alive_lanes(block);
    if (!mf_any(s.alive))
        return;
    s.all_alive = mf_all(s.alive);
    Mat turn;
    Body body = load_body(block, &turn);
    if (block->only_refresh) {
        reshape_body(&s, &body);
        for (uint32_t i = 0; i < s.plan->contact_count; i++)
            keep_vec(&s, block->points, 3 * i, s.kinematics.contact[i]);
        return;
    }
    if (block->joints_due) {
        update_joints(&s, &body);
        turn = quat_matrix(body.attitude);
    }
    push_body(&s, &body, &turn);
    const Motion was = {body.com, body.velocity, body.attitude, body.rate};
    mf_lane energy = kinetic_energy(&s, &body);
    fly(&s, &body);
    meet_ground(&s, &body, &was, &turn, energy);
    store_body(&s, &body);
}
