// Couplings of two links outside of the tree, solved in lanes after the articulated-body pass:
// equality constraints, forces of tendons, contacts between links. couple.h has the rows.
//
// Equality constraints are rows without softness, the same in all lanes, solved by Cholesky's
// method. In a semi-implicit step they are closed at the end of the step: its state is computed and
// the remaining error removed by the same factors (Newton's method with a frozen matrix, as SHAKE:
// Ryckaert, Ciccotti, Berendsen 1977), so errors do not accumulate. In Runge-Kutta stages they are
// constraints of accelerations, with a correction to 0 (Baumgarte 1972). All other rows have
//     impulse = given - slope * (row times velocity at the end), kept in a range,
// a spring and damper at the end of the step. They are solved by projected Gauss-Seidel sweeps,
// with the equality constraints after each sweep. If these have not converged after a fixed number,
// all rows within their bounds are solved together, a few times with sweeps between
// (couple_subspace.h). An inactive row adds 0 in its lane, so lanes do not affect each other.
#include "motion/articulated/constraint/couple.h"
#include "motion/articulated/constraint/couple_subspace.h"
#include "motion/articulated/constraint/couple_tendons.h"
#include "motion/articulated/tree/forward.h"
#include "motion/articulated/tree/integrate.h"
#include "motion/articulated/contact/contact_rows.h"
#include "motion/articulated/sensing/sensor_wrench_couple.h"
#include "motion/articulated/step.h"

// Corrections of the end of the step.
enum { CLOSE_ROUNDS = 2 };

typedef struct Loops {
    uint32_t first;   // row of the first equation
    mf_lane *error;   // [m] or [rad] at the beginning, per equation
    mf_lane *factor;  // lower half
    mf_lane *inverse; // of its diagonal
    mf_lane *rest;    // working memory: residual of each equation
    Frame *poses;     // at the end of the step, of link l at l + 1
    State end, low;   // of the step, and its remainders, which are not used
} Loops;

// Data of the solution of the couplings, in the block's scratch.
typedef struct Coupling {
    Group group;
    Couple couple;
    Loops loops;
    ContactResult *touching; // per batch
    mf_lane *before;         // per slot: the sum of w times impulse before sweeps that are examined
    mf_lane *impulses;       // per row: impulses before a sweep that only some lanes make
    mf_lane *sum;            // per slot: their sum
    mf_lane *target;         // of each equation: value of its row
    Subspace subspace;
} Coupling;

static void loops_carve(const mf_ArtPlan *plan, mf_Carver *carver, Loops *loops) {
    const size_t rows = plan->loop_rows;
    if (plan->loop_count == 0)
        return;
    MF_CARVE(carver, loops->error, rows);
    MF_CARVE(carver, loops->factor, rows * (rows + 1) / 2);
    MF_CARVE(carver, loops->inverse, rows);
    MF_CARVE(carver, loops->rest, rows);
    MF_CARVE(carver, loops->poses, plan->link_count + 1 + plan->mocap_count);
    state_carve(plan, carver, &loops->end);
    state_carve(plan, carver, &loops->low);
}

static void coupling_carve(const mf_ArtPlan *plan, mf_Carver *carver, Coupling *all) {
    MF_CARVE(carver, all->group.batches, plan->contact_capacity);
    couple_carve(plan, carver, &all->couple);
    loops_carve(plan, carver, &all->loops);
    MF_CARVE(carver, all->touching, plan->contact_capacity);
    MF_CARVE(carver, all->before, couple_slots(plan));
    if (plan->rounds == 0 ||
        (plan->tendon_count == 0 && plan->contact_capacity == 0 && plan->dry_rows == 0))
        return; // no sweeps
    MF_CARVE(carver, all->impulses, couple_rows(plan));
    MF_CARVE(carver, all->sum, couple_slots(plan));
    MF_CARVE(carver, all->target, plan->loop_rows);
    subspace_carve(plan, carver, &all->subspace);
}

// ---- where the loops are ------------------------------------------------------------------------

static MF_INLINE Vec vec_value3(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static MF_INLINE Quat quat_value4(const double q[4]) {
    return MF_VALUE(Quat, mf_set((mf_real)q[0]), mf_set((mf_real)q[1]), mf_set((mf_real)q[2]),
                    mf_set((mf_real)q[3]));
}

static Frame world_frame(void) {
    return MF_VALUE(Frame, .rotation = quat_matrix(quat_unit()), .position = vec_zero());
}

static Frame frame_at(const mf_ArtPlan *plan, const mf_ArtLoop *loop, int side,
                      const Frame *links) {
    Frame link = loop->mocap[side] != MF_NONE ? links[plan->link_count + 1 + loop->mocap[side]]
                 : loop->links[side] == MF_ART_WORLD ? world_frame()
                                                     : links[loop->links[side] + 1];
    Mat rotation = quat_matrix(quat_value4(loop->rotations[side]));
    return MF_VALUE(Frame, .rotation = mat_multiply(&link.rotation, &rotation),
                    .position =
                        mat_apply_add(&link.rotation, vec_value3(loop->arms[side]), link.position));
}

static mf_lane term_sum(const mf_ArtPlan *plan, const mf_ArtLoop *loop, int side,
                        const mf_lane *values) {
    mf_lane sum = mf_zero();
    const mf_ArtTerm *terms = mf_art_terms(plan);
    for (uint32_t t = loop->first_term[side]; t < loop->first_term[side] + loop->terms[side]; t++)
        sum = mf_fma(mf_set((mf_real)terms[t].weight), values[terms[t].link], sum);
    return sum;
}

// The polynomial and its first two derivatives at x.
static void polynomial(const double *c, mf_lane x, mf_lane out[3]) {
    out[0] = mf_set((mf_real)c[4]);
    out[1] = out[2] = mf_zero();
    for (int i = 3; i >= 0; i--) {
        out[2] = mf_fma(out[2], x, out[1] + out[1]);
        out[1] = mf_fma(out[1], x, out[0]);
        out[0] = mf_fma(out[0], x, mf_set((mf_real)c[i]));
    }
}

static void follow_point(const mf_ArtPlan *plan, const mf_ArtLoop *loop, const State *state,
                         mf_lane out[3]) {
    mf_lane x = mf_zero();
    if (loop->terms[1] > 0)
        x = term_sum(plan, loop, 1, state->angle) - mf_set((mf_real)loop->references[1]);
    polynomial(loop->coefficients, x, out);
}

// Errors of all equations in the given state, in the order of the rows.
static void loop_errors(const mf_ArtPlan *plan, const State *state, const Frame *links,
                        mf_lane *error) {
    const mf_ArtLoop *loops = mf_art_loops(plan);
    for (uint32_t i = 0; i < plan->loop_count; i++) {
        const mf_ArtLoop *loop = &loops[i];
        if (loop->rows == 1) {
            mf_lane p[3];
            follow_point(plan, loop, state, p);
            *error++ =
                term_sum(plan, loop, 0, state->angle) - mf_set((mf_real)loop->references[0]) - p[0];
            continue;
        }
        Frame a = frame_at(plan, loop, 0, links), b = frame_at(plan, loop, 1, links);
        Vec gap = vec_sub(a.position, b.position);
        *error++ = gap.x;
        *error++ = gap.y;
        *error++ = gap.z;
        if (loop->rows == 3)
            continue;
        // Half the sum of cross products of the axes: the sine of the rotation from b to a, times
        // its axis.
        Vec rotation_vector = vec_cross(MF_VALUE(Vec, b.rotation.xx, b.rotation.yx, b.rotation.zx),
                                        MF_VALUE(Vec, a.rotation.xx, a.rotation.yx, a.rotation.zx));
        rotation_vector = vec_add(
            rotation_vector, vec_cross(MF_VALUE(Vec, b.rotation.xy, b.rotation.yy, b.rotation.zy),
                                       MF_VALUE(Vec, a.rotation.xy, a.rotation.yy, a.rotation.zy)));
        rotation_vector = vec_add(
            rotation_vector, vec_cross(MF_VALUE(Vec, b.rotation.xz, b.rotation.yz, b.rotation.zz),
                                       MF_VALUE(Vec, a.rotation.xz, a.rotation.yz, a.rotation.zz)));
        *error++ = rotation_vector.x * mf_set((mf_real)0.5);
        *error++ = rotation_vector.y * mf_set((mf_real)0.5);
        *error++ = rotation_vector.z * mf_set((mf_real)0.5);
    }
}

// Whether all loops connect links of a free base: its position does not matter, and would take
// digits of their errors.
static bool loops_float(const mf_ArtPlan *plan) {
    bool floats = !plan->fixed;
    for (uint32_t i = 0; i < 2 * plan->loop_count; i++)
        floats = floats && mf_art_loops(plan)[i / 2].links[i % 2] != MF_ART_WORLD;
    return floats;
}

// Poses of the links that loops need, in world axes, relative to the base's origin if the base is
// free and no loop connects to the world.
static void loop_poses(const Couple *c, const State *state, Frame *poses) {
    const mf_ArtPlan *plan = c->plan;
    for (uint32_t i = plan->link_count + 1; i <= plan->link_count + plan->mocap_count; i++)
        poses[i] =
            MF_VALUE(Frame, c->work->contacts.pose[i].rotation, c->work->contacts.pose[i].position);
    poses[0] = MF_VALUE(Frame, quat_matrix(state->attitude), state->position);
    if (loops_float(plan))
        poses[0].position = vec_zero();
    const bool *looped = mf_art_looped(plan);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (!looped[l])
            continue;
        Frame frame = link_frame(plan, state, l), *own = &poses[l + 1];
        const Frame *parent = &poses[links[l].parent + 1];
        own->rotation = mat_multiply(&parent->rotation, &frame.rotation);
        own->position = mat_apply_add(&parent->rotation, frame.position, parent->position);
    }
}

// ---- rows of the loops --------------------------------------------------------------------------

static void joint_row(Couple *c, const State *state, const mf_ArtLoop *loop, const Rates *rates,
                      mf_lane unit, bool is_explicit) {
    const mf_ArtPlan *plan = c->plan;
    mf_lane p[3];
    follow_point(plan, loop, state, p);
    rows_begin(c, 1);
    const mf_ArtTerm *terms = mf_art_terms(plan);
    for (int side = 0; side < 2; side++) {
        mf_lane scale = mf_set((mf_real)1);
        if (side == 1)
            scale = -p[1];
        for (uint32_t t = loop->first_term[side]; t < loop->first_term[side] + loop->terms[side];
             t++)
            row_impulse(c, terms[t].link, scale * mf_set((mf_real)terms[t].weight));
    }
    mf_lane lead = term_sum(plan, loop, 1, state->speed);
    mf_lane speed = mf_fma(-p[1], lead, term_sum(plan, loop, 0, state->speed));
    mf_lane gain =
        mf_fma(-p[1], term_sum(plan, loop, 1, rates->joint), term_sum(plan, loop, 0, rates->joint));
    gain = mf_fma(-p[2] * lead, lead, gain);
    Row *row = rows_finish(c, state);
    row->given = speed; // for the correction
    row->value = value_at(speed, gain, unit, is_explicit);
}

// The points of both links at which a force of the rows acts: the anchors or, between two moving
// links, the middle of both, so that force and reaction have no torque on the whole robot. (A lever
// as long as the error would let a row across a planar loop rotate the base, by a tiny pivot.)
static void pull_arms(const Couple *c, const mf_ArtLoop *loop, const mf_lane *error, Vec arms[2]) {
    const mf_lane half = mf_set((mf_real)0.5);
    const Vec back = vec_scale(MF_VALUE(Vec, error[0], error[1], error[2]), half);
    for (int side = 0; side < 2; side++) {
        arms[side] = vec_value3(loop->arms[side]);
        if (!is_still(c->plan, loop->links[0]) && !is_still(c->plan, loop->links[1]))
            arms[side] = vec_add(arms[side], into_link(c->work, loop->links[side],
                                                       side == 0 ? vec_negative(back) : back));
    }
}

static void frame_rows(Couple *c, const State *state, const mf_ArtLoop *loop, const mf_lane *error,
                       mf_lane unit, bool is_explicit) {
    PointMotion point_motions[2];
    Vec arms[2];
    for (int side = 0; side < 2; side++)
        point_motions[side] = point_motion_at(c->plan, state, c->work, loop->links[side],
                                              vec_value3(loop->arms[side]), vec_zero());
    pull_arms(c, loop, error, arms);
    Vec speed = vec_sub(point_motions[0].velocity, point_motions[1].velocity);
    Vec gain = vec_sub(point_motions[0].acceleration, point_motions[1].acceleration);
    Vec rate = vec_sub(point_motions[0].rate, point_motions[1].rate);
    Vec angular_acceleration =
        vec_sub(point_motions[0].angular_acceleration, point_motions[1].angular_acceleration);
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Vec none = vec_zero(),
              axes[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
    for (uint32_t part = 0; part < loop->rows / 3; part++) {
        rows_begin(c, 3);
        for (uint32_t i = 0; i < 6; i++) {
            uint32_t k = i / 2, side = i % 2;
            Vec along =
                into_link(c->work, loop->links[side], side == 0 ? axes[k] : vec_negative(axes[k]));
            if (part == 0)
                row_pull(c, k, loop->links[side], arms[side], along, none);
            else
                row_pull(c, k, loop->links[side], arms[side], none, along);
        }
        Row *rows = rows_finish(c, state);
        for (uint32_t k = 0; k < 3; k++) {
            rows[k].given = vec_dot(axes[k], part == 0 ? speed : rate);
            rows[k].value =
                value_at(rows[k].given, vec_dot(axes[k], part == 0 ? gain : angular_acceleration),
                         unit, is_explicit);
        }
    }
}

// The largest diagonal of the rows that were made with this one.
static mf_lane row_scale(const Couple *c, uint32_t i) {
    mf_lane scale = c->rows[i].diagonal;
    for (uint32_t k = i; k-- > 0 && c->rows[k].offset == c->rows[i].offset;)
        scale = mf_max(scale, c->rows[k].diagonal);
    for (uint32_t k = i + 1; k < c->row_count && c->rows[k].offset == c->rows[i].offset; k++)
        scale = mf_max(scale, c->rows[k].diagonal);
    return scale;
}

// Cholesky factor of the products of the loops' rows. Rows across a planar loop are redundant, and
// so are others where it is stretched out; what remains of their pivot is rounding error. A pivot p
// below t, a part of the largest diagonal of the rows made together, is replaced by t^2 / p: its
// row has less effect the more redundant it is, and none (an inverse of 0) where p is 0. Dividing
// by p instead would turn an error that no joint can remove into any speed.
static void factor_loops(const Couple *c, Loops *loops) {
    const uint32_t n = c->plan->loop_rows;
    const mf_lane part = mf_set((mf_real)1e-5), rest = mf_set((mf_real)1e-4);
    const mf_lane one = mf_set((mf_real)1), tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    for (uint32_t i = 0; i < n; i++) {
        mf_lane *row = &loops->factor[i * (i + 1) / 2];
        for (uint32_t k = 0; k <= i; k++) {
            const mf_lane *other = &loops->factor[k * (k + 1) / 2];
            mf_lane sum = row_product(c, &c->rows[loops->first + i], &c->rows[loops->first + k]);
            for (uint32_t m = 0; m < k; m++)
                sum = mf_fma(-row[m], other[m], sum);
            if (i > k) {
                row[k] = sum * loops->inverse[k];
                continue;
            }
            const mf_lane least = part * row_scale(c, loops->first + i);
            const mf_mask own = mf_less(mf_max(rest * least, tiny), sum);
            const mf_lane pivot = mf_select(own, sum, one);
            row[k] = mf_select(own, mf_sqrt(mf_max(pivot, least / pivot * least)), one);
            loops->inverse[i] = mf_keep(own, one / row[k]);
        }
    }
}

// Adds the impulses that change the rows' values by -`rest`.
static void load_loops(Couple *c, const Loops *loops, mf_lane *rest) {
    const uint32_t n = c->plan->loop_rows;
    for (uint32_t i = 0; i < n; i++) {
        const mf_lane *row = &loops->factor[i * (i + 1) / 2];
        mf_lane sum = rest[i];
        for (uint32_t k = 0; k < i; k++)
            sum = mf_fma(-row[k], rest[k], sum);
        rest[i] = sum * loops->inverse[i];
    }
    for (uint32_t i = n; i-- > 0;) {
        mf_lane sum = rest[i];
        for (uint32_t k = i + 1; k < n; k++)
            sum = mf_fma(-loops->factor[k * (k + 1) / 2 + i], rest[k], sum);
        rest[i] = sum * loops->inverse[i];
    }
    for (uint32_t i = 0; i < n; i++)
        row_add(c, &c->rows[loops->first + i], -rest[i]);
}

// Target values of the rows of equality constraints, times -1: no error at the end of the step, to
// first order.
static MF_INLINE mf_lane loop_back(const Couple *c, const Loops *loops, uint32_t i, mf_lane rate,
                                   bool is_explicit) {
    const mf_lane pull = mf_set((mf_real)0.2) * rate;
    const Row *row = &c->rows[loops->first + i];
    if (is_explicit)
        return pull * mf_fma(pull, loops->error[i], row->given + row->given);
    return loops->error[i] * rate;
}

static void solve_loops(Couple *c, const Loops *loops, mf_lane unit, bool is_explicit,
                        mf_mask lanes) {
    mf_lane *rest = loops->rest;
    const mf_lane rate = mf_set((mf_real)1) / unit;
    for (uint32_t i = 0; i < c->plan->loop_rows; i++) {
        const mf_lane back = loop_back(c, loops, i, rate, is_explicit);
        rest[i] = mf_keep(lanes, row_value(c, &c->rows[loops->first + i]) + back);
    }
    load_loops(c, loops, rest);
}

// ---- solving ------------------------------------------------------------------------------------

static MF_INLINE Vec vec_fma_where(mf_mask where, Vec a, mf_lane b, Vec c) {
    return vec_select(where, vec_fma(a, b, c), c);
}

// Applies the sum of all impulses to the accelerations of these lanes; `scale` converts an impulse
// to a step. A sum of 0 is not enough for the others: a factor that is not finite would change
// them.
static void spend(Couple *c, const State *state, mf_lane scale, mf_mask lanes, Rates *out) {
    const mf_ArtPlan *plan = c->plan;
    Work *work = c->work;
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        uint32_t slot = couple_slot((int32_t)l, 0);
        if (link->kind == MF_ART_BALL) {
            const Vec root = c->ball_root[link->row];
            BallWork *ball = &work->balls[link->row];
            Vec sum = {root.x * c->sum[slot], root.y * c->sum[slot - 1], root.z * c->sum[slot - 2]};
            Vec gain = ball_back(ball, sum), *acceleration = &ball->acceleration;
            *acceleration = vec_fma_where(lanes, gain, scale, *acceleration);
            c->sum[slot] = c->sum[slot - 1] = c->sum[slot - 2] = mf_zero();
            continue;
        }
        LinkWork *own = &work->links[l];
        own->acceleration = mf_select(
            lanes, mf_fma(c->root[l] * c->sum[slot], scale, own->acceleration), own->acceleration);
        c->sum[slot] = mf_zero();
    }
    if (!plan->fixed) {
        mf_lane gain[6];
        for (uint32_t k = 6; k-- > 0;) {
            mf_lane sum = mf_zero();
            for (uint32_t i = k + 1; i < 6; i++)
                sum = mf_fma(work->base_factor[i][k], gain[i], sum);
            uint32_t slot = couple_slot(-1, k);
            gain[k] = mf_fma(c->base_root[k], c->sum[slot], -(sum * work->base_inverse[k]));
            c->sum[slot] = mf_zero();
        }
        work->base_angular = vec_fma_where(lanes, MF_VALUE(Vec, gain[0], gain[1], gain[2]), scale,
                                           work->base_angular);
        work->base_linear = vec_fma_where(lanes, MF_VALUE(Vec, gain[3], gain[4], gain[5]), scale,
                                          work->base_linear);
    }
    accelerate_all(plan, state, work, out);
}

// Computes the end of the step and removes the remaining errors of the loops.
static void close_loops(Couple *c, Loops *loops, const State *state, mf_lane unit, mf_mask lanes,
                        Rates *out) {
    const mf_lane rate = mf_set((mf_real)1) / unit;
    mf_lane *rest = loops->rest;
    State *end = &loops->end;
    for (int round = 0; round < CLOSE_ROUNDS; round++) {
        state_copy(c->plan, state, end);
        state_clear(c->plan, &loops->low);
        integrate_euler(c->plan, end, &loops->low, out, unit);
        loop_poses(c, end, loops->poses);
        loop_errors(c->plan, end, loops->poses, rest);
        for (uint32_t i = 0; i < c->plan->loop_rows; i++)
            rest[i] = rest[i] * rate;
        load_loops(c, loops, rest);
        spend(c, state, rate, lanes, out);
    }
}

static void start_loops(Couple *c, Loops *loops, const State *state, const Rates *rates,
                        mf_lane unit, bool is_explicit) {
    loop_poses(c, state, loops->poses);
    loop_errors(c->plan, state, loops->poses, loops->error);
    loops->first = c->row_count;
    const mf_lane *error = loops->error;
    for (uint32_t i = 0; i < c->plan->loop_count; i++) {
        const mf_ArtLoop *loop = &mf_art_loops(c->plan)[i];
        if (loop->rows == 1)
            joint_row(c, state, loop, rates, unit, is_explicit);
        else
            frame_rows(c, state, loop, error, unit, is_explicit);
        error += loop->rows;
    }
    factor_loops(c, loops);
}

// ---- all together -------------------------------------------------------------------------------

// Forces of contacts, for the fields and the warm start of the next step.
static void keep_forces(const Couple *c, const ContactResult *result, mf_lane unit, mf_mask lanes) {
    const Row *rows = &c->rows[result->first];
    const mf_lane rate = mf_set((mf_real)1) / unit;
    Vec force = vec_scale(result->axes[0], rows[0].impulse * rate);
    for (uint32_t k = 1; k < least(result->batch->surface.rows, 3); k++)
        force = vec_fma(result->axes[k], rows[k].impulse * rate, force);
    for (uint32_t m = 0; m < result->batch->count; m++) {
        LinkContact *contact = result->batch->members[m];
        mf_mask where = mf_and(contact->exists, lanes);
        contact->force = vec_select(where, force, contact->force);
        if (contact->pair != MF_NONE)
            continue;
        Touch *touch = &c->work->contacts.touch[contact->touch];
        touch->load = mf_select(where, rows[0].impulse * rate, touch->load);
    }
}

static void guess_forces(Couple *c, const ContactResult *result, mf_lane unit) {
    Vec guess = vec_zero();
    for (uint32_t m = 0; m < result->batch->count; m++) {
        const LinkContact *contact = result->batch->members[m];
        Vec force = contact->force;
        if (contact->pair == MF_NONE) {
            const Touch *touch = &c->work->contacts.touch[contact->touch];
            force = vec_scale(contact->normal, touch->load);
        }
        guess = vec_select(mf_and(contact->exists, result->lanes), force, guess);
    }
    for (uint32_t k = 0; k < least(result->batch->surface.rows, 3); k++)
        row_add(c, &c->rows[result->first + k], vec_dot(result->axes[k], guess) * unit);
}

// Forces of tendons by their rows up to `end`.
static void keep_pushes(const Couple *c, uint32_t end, mf_lane scale, mf_mask lanes) {
    for (uint32_t i = 0; i < c->plan->tendon_count; i++) {
        const uint32_t last = i + 1 < c->plan->tendon_count ? c->tendon_row[i + 1] : end;
        mf_lane *push = &c->work->pushes[mf_art_tendons(c->plan)[i].tendon], sum = mf_zero();
        for (uint32_t r = c->tendon_row[i]; r < last; r++)
            sum = mf_fma(c->rows[r].impulse,
                         r + 1 == c->limit_row[i] ? c->limit_sign[i] : mf_set((mf_real)1), sum);
        *push = mf_select(lanes, mf_fma(sum, scale, *push), *push);
    }
}

static void keep_tendon_limits(const Couple *c, mf_lane scale, mf_mask lanes) {
    for (uint32_t i = 0; i < c->plan->tendon_count; i++) {
        if (c->limit_row[i] == 0)
            continue;
        mf_lane *kept = &c->work->tendon_limits[i];
        *kept = mf_select(lanes, c->rows[c->limit_row[i] - 1].impulse * scale, *kept);
    }
}

static void sum_copy(const Couple *c, mf_lane *out) {
    memcpy(out, c->sum, couple_slots(c->plan) * sizeof *out);
}

// Change of the velocities since the sum of impulses was `before`, relative to the effect of all
// impulses. Impulses that cancel each other move nothing; if they exceed the others a hundredfold,
// they set the scale. Dry friction of joints counts including its predicted part, or nothing would
// count as small if the prediction was exact.
static mf_lane change_since(const Couple *c, const mf_lane *before) {
    const mf_lane tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON), least = mf_set((mf_real)1e-4);
    mf_lane changed = mf_zero(), all = mf_zero(), apart = mf_zero();
    for (uint32_t i = 0; i < couple_slots(c->plan); i++) {
        const mf_lane change = c->sum[i] - before[i];
        changed = mf_fma(change, change, changed);
        all = mf_fma(c->sum[i], c->sum[i], all);
    }
    for (uint32_t i = 0; i < c->row_count; i++) {
        const Row *row = &c->rows[i];
        mf_lane impulse = row->impulse;
        if (i >= c->dry_first && i < c->dry_end)
            impulse = impulse - row->given;
        apart = mf_fma(impulse * impulse, row->diagonal, apart);
    }
    return mf_sqrt(changed / mf_max(mf_fma(least, apart, all), tiny));
}

// Equality constraints that are open at the beginning of the step.
static void loops_warn(const Couple *c, const Loops *loops, mf_mask lanes) {
    mf_lane most = mf_zero();
    for (uint32_t i = 0; i < c->plan->loop_rows; i++)
        most = mf_max(most, mf_abs(loops->error[i]));
    warnings_raise(&c->work->warnings, mf_and(lanes, mf_less(mf_set((mf_real)MF_ART_OPEN), most)),
                   MF_WARNING_LOOPS, most);
}

// ---- sweeps, and solutions between them ---------------------------------------------------------

typedef struct Sweep { // range of a sweep
    Coupling *all;
    uint32_t first, end; // [1] rows of tendons and joints; those of contacts are behind them
    mf_lane unit;
    bool is_explicit;
} Sweep;

static void sweep_once(const Sweep *s, mf_mask lanes) {
    Couple *c = &s->all->couple;
    for (uint32_t i = s->first; i < s->end; i++)
        relax(c, &c->rows[i]);
    for (uint32_t i = 0; i < s->all->group.count; i++)
        relax_contact(c, &s->all->touching[i], s->is_explicit);
    if (c->plan->loop_count > 0)
        solve_loops(c, &s->all->loops, s->unit, s->is_explicit, lanes);
}

// A sweep that changes only these lanes.
static __attribute__((noinline)) void sweep_in(const Sweep *s, mf_mask lanes) {
    Couple *c = &s->all->couple;
    mf_lane *impulses = s->all->impulses, *sum = s->all->sum;
    for (uint32_t i = 0; i < c->row_count; i++)
        impulses[i] = c->rows[i].impulse;
    sum_copy(c, sum);
    sweep_once(s, lanes);
    for (uint32_t i = 0; i < c->row_count; i++)
        c->rows[i].impulse = mf_select(lanes, c->rows[i].impulse, impulses[i]);
    for (uint32_t i = 0; i < couple_slots(c->plan); i++)
        c->sum[i] = mf_select(lanes, c->sum[i], sum[i]);
}

// Estimated change by all further sweeps: a geometric series with the ratio of the last two, at
// most `slowest`. 0 if the last change was within rounding.
static mf_lane rest_of(mf_lane earlier, mf_lane change, mf_real slowest) {
    const mf_real rounding = sizeof(mf_real) == 4 ? (mf_real)4e-6 : (mf_real)1e-13;
    const mf_lane tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON), one = mf_set((mf_real)1);
    const mf_lane part = mf_min(change / mf_max(mf_max(earlier, change), tiny), mf_set(slowest));
    const mf_lane rest = change * mf_max(part / (one - part), mf_set((mf_real)0.1));
    return mf_select(mf_less(mf_set(rounding), change), rest, change);
}

static mf_mask is_unsettled(mf_lane rest) {
    const mf_real most = sizeof(mf_real) == 4 ? (mf_real)1e-4 : (mf_real)1e-5;
    return mf_not(mf_less_equal(rest, mf_set(most)));
}

// Forces that jam a body between hard contacts are unbounded: deep contacts have a target speed,
// and if the body cannot reach it they press without limit. (Sweeps do not converge that far.) A
// contact may press with at most ten times the weight plus twice the impulse that stops the whole
// mass at the speed of the fastest contact.
static void bound_loads(const Sweep *s) {
    Couple *c = &s->all->couple;
    const Group *group = &s->all->group;
    const ContactResult *contact = s->all->touching;
    const mf_ArtPlan *plan = c->plan;
    const mf_lane fall = mf_set((mf_real)5) * s->unit * setting(plan, MF_ART_GRAVITY);
    mf_lane fastest = mf_zero();
    for (uint32_t i = 0; i < group->count; i++) {
        const Row *row = &c->rows[contact[i].first];
        const mf_lane speed = mf_abs(row->value) + mf_abs(row->given / row->slope);
        fastest = mf_max(fastest, mf_keep(contact[i].lanes, speed));
    }
    const mf_lane two = mf_set((mf_real)2) * setting(plan, MF_ART_ALL_MASS);
    const mf_lane most = two * (fall + fastest);
    for (uint32_t i = 0; i < group->count; i++) {
        Row *row = &c->rows[contact[i].first];
        row->high = mf_min(row->high, most);
    }
}

// Solutions of the free rows, each followed by sweeps, in the lanes that are `open`; sets `rest`
// and `rounds` to the final values.
static __attribute__((noinline)) void solve_together(const Sweep *s, mf_mask open, mf_lane *rest,
                                                     mf_lane *rounds) {
    Coupling *all = s->all;
    Couple *c = &all->couple;
    Subspace *subspace = &all->subspace;
    const mf_lane one = mf_set((mf_real)1), rate = one / s->unit;
    subspace->couple = c;
    subspace->target = all->target;
    subspace->inverse = all->loops.inverse;
    subspace->first = all->loops.first;
    subspace->loops = c->plan->loop_rows;
    for (uint32_t i = 0; i < c->plan->loop_rows; i++)
        all->target[i] = -loop_back(c, &all->loops, i, rate, false);
    if (c->plan->hard)
        bound_loads(s);
    if (!subspace_begin(subspace, s->end, all->touching, all->group.count))
        return;
    for (uint32_t round = 0; round < c->plan->rounds && mf_any(open); round++) {
        sum_copy(c, all->before);
        subspace_solve(subspace, open);
        sweep_in(s, open);
        const mf_lane earlier = change_since(c, all->before);
        sum_copy(c, all->before);
        sweep_in(s, open);
        const mf_lane change = change_since(c, all->before);
        *rest = mf_select(open, rest_of(earlier, change, (mf_real)0.99), *rest);
        *rounds = *rounds + mf_keep(open, one);
        open = mf_and(open, is_unsettled(*rest));
    }
}

// Computes the impulses of all rows; `lanes` have rows other than those of loops.
static void solve_rows(const Sweep *s, mf_mask lanes) {
    Couple *c = &s->all->couple;
    const Group *group = &s->all->group;
    Solver *solver = &c->work->solver;
    const mf_ArtPlan *plan = c->plan;
    const bool swept = plan->tendon_count > 0 || group->count > 0 || mf_any(c->work->unlocked);
    const uint32_t sweeps = swept ? plan->sweeps : 1;
    const mf_mask own = mf_and(lanes, group->lanes);
    mf_lane *before = s->all->before, earlier = mf_zero(), change = mf_zero(), rounds = mf_zero();
    for (uint32_t sweep = 0; sweep < sweeps; sweep++) {
        const bool looks = !s->is_explicit && sweep + 2 >= sweeps;
        if (looks)
            sum_copy(c, before);
        sweep_once(s, sweep == 0 ? mf_mask_all() : lanes);
        earlier = change;
        if (looks)
            change = change_since(c, before);
    }
    if (s->is_explicit)
        return;
    mf_lane rest = mf_keep(own, rest_of(earlier, change, (mf_real)0.9995));
    const mf_mask open = mf_and(own, is_unsettled(rest));
    if (plan->rounds > 0 && mf_any(open))
        solve_together(s, open, &rest, &rounds);
    solver->rest = mf_select(own, rest, solver->rest);
    solver->rounds = mf_select(own, rounds, solver->rounds);
    warnings_raise(&c->work->warnings, mf_and(own, mf_less(mf_set((mf_real)MF_ART_UNSWEPT), rest)),
                   MF_WARNING_SOLVER, rest);
}

static void solve_group(const mf_ArtPlan *plan, const State *state, bool is_explicit,
                        Coupling *coupling, Work *work, Rates *out) {
    const Group *group = &coupling->group;
    Couple *couple = &coupling->couple;
    Loops *loops = &coupling->loops;
    ContactResult *contact = coupling->touching;
    const mf_lane unit = setting(plan, MF_ART_STEP);
    const bool warm_starts =
        !is_explicit && (plan->hard || link_contacts_remember(&work->link_contacts));
    if (plan->loop_count == 0 && plan->tendon_count == 0 && group->count == 0)
        return;
    couple_start(couple, plan, work);
    loops->first = 0;
    if (plan->loop_count > 0)
        start_loops(couple, loops, state, out, unit, is_explicit);
    if (plan->loop_count > 0)
        loops_warn(couple, loops, group->lanes);
    uint32_t first = couple->row_count;
    tendon_rows(couple, state, out, unit, is_explicit);
    dry_rows(couple, state, out, unit);
    uint32_t end = couple->row_count;
    for (uint32_t i = 0; i < group->count; i++)
        make_contact_rows(couple, state, &group->batches[i], group->lanes, unit, is_explicit,
                          &contact[i]);
    if (couple->row_count == 0)
        return;
    for (uint32_t i = 0; warm_starts && i < group->count; i++)
        guess_forces(couple, &contact[i], unit);
    // Lanes with loops only solve them once, whatever other lanes do.
    mf_mask lanes = work->unlocked;
    for (uint32_t i = 0; i < group->count; i++)
        lanes = mf_or(lanes, contact[i].lanes);
    if (plan->tendon_count > 0)
        lanes = mf_mask_all();
    // Lanes without rows of their own stay as they are, as they do alone.
    const mf_mask own = plan->loop_count > 0 ? group->lanes : mf_and(lanes, group->lanes);
    const Sweep sweep = {coupling, first, end, unit, is_explicit};
    solve_rows(&sweep, lanes);
    mf_lane scale = mf_set((mf_real)1);
    if (!is_explicit)
        scale = scale / unit;
    spend(couple, state, scale, own, out);
    if (plan->loop_count > 0 && !is_explicit)
        close_loops(couple, loops, state, unit, group->lanes, out);
    for (uint32_t i = 0; i < group->count && sensors_feel(plan); i++)
        sensor_wrench_contact(couple, &contact[i], scale, group->lanes, is_explicit);
    if (plan->zone_count > 0)
        sensor_wrench_loops(couple, loops->first, scale, group->lanes);
    if (plan->tendon_count > 0)
        keep_pushes(couple, end, scale, group->lanes);
    if (plan->keeps_limits)
        keep_tendon_limits(couple, scale, group->lanes);
    for (uint32_t i = 0; warm_starts && i < group->count; i++)
        keep_forces(couple, &contact[i], unit, group->lanes);
}

void MF_ART_KERNEL(mf_articulated_couple)(const mf_ArtPlan *plan, const void *state,
                                          bool is_explicit, void *work, void *rates) {
    Work *own = (Work *)work;
    own->solver.rest = own->solver.rounds = mf_zero();
    mf_Carver carver = own->rest;
    Coupling *coupling;
    MF_CARVE(&carver, coupling, 1);
    coupling_carve(plan, &carver, coupling);
    Group *group = &coupling->group;
    for (uint32_t lane = 0; lane < MF_LANES;) {
        lane += group_take(plan, own, lane, group);
        if (group->dropped > 0) {
            own->dropped = mf_or(own->dropped, group->lanes);
            warnings_raise(&own->warnings, group->lanes, MF_WARNING_CONTACTS,
                           mf_set((mf_real)group->dropped));
        }
        for (uint32_t i = 0; i < group->count; i++)
            own->touched = mf_or(own->touched, mf_and(group->batches[i].exists, group->lanes));
        if (own->link_contacts.found)
            link_contacts_warn(&own->link_contacts, group->lanes, &own->warnings);
        solve_group(plan, (const State *)state, is_explicit, coupling, own, (Rates *)rates);
        if (link_contacts_remember(&own->link_contacts))
            warm_start_store(plan, &own->contacts, &own->link_contacts, group->lanes);
    }
    if (!is_explicit && own->solver.residual != NULL) {
        mf_store_where(own->solver.alive, own->solver.residual, own->solver.rest);
        mf_store_where(own->solver.alive, own->solver.iterations, own->solver.rounds);
    }
}

#if !defined(MF_ART_VARIED)
size_t MF_KERNEL(mf_articulated_couple_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Coupling coupling, *own;
    MF_CARVE(&carver, own, 1);
    coupling_carve(plan, &carver, &coupling);
    return carver.used;
}
#endif
