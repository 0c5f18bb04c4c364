// Actuators of the model: force = gain(l, v) * (control or activation) + bias(l, v), each a + b l +
// c v, where l and v are a weighted sum of joint positions and its rate (MuJoCo's general
// actuators). Like servos (drive.h) they act at the end of an implicit step: the dependence on l
// and v becomes inertia of the joints. An actuator on several joints couples them; each joint then
// takes the row sum of the coupling, so the step stays stable. Actuators on ball joints act about a
// fixed axis of the child or parent, those on sites along fixed axes of a link, where the rate
// dependence becomes inertia of the link. With a reference site they act along its axes, with the
// reaction on its link; that force is the one at the beginning of the step (adhesion.h).
#pragma once

#include "motion/articulated/actuator/drive.h"
#include "motion/articulated/state.h"

// ---- muscle -------------------------------------------------------------------------------------

// Muscles by Hill's model in MuJoCo's form (documentation, "Muscles"): with the length L and the
// velocity V in units of the optimal length and the largest shortening velocity,
//     force = -(peak) (activation FL(L) FV(V) + FP(L)),
// FL a bump of four parabolas between `lower` and `upper`, FV a parabola on each side of zero
// velocity, FP a parabola that becomes a line. Activation follows the control with a time constant
// that grows with activation when it rises and shrinks when it falls (Millard et al. 2013), the
// change between the two smooth over `smoothing` (a quintic).

static inline mf_lane muscle_value(double v) {
    return mf_set((mf_real)v);
}

// A parabola of height one half at x = 1.
static inline mf_lane muscle_half(mf_lane x) {
    return mf_set((mf_real)0.5) * x * x;
}

static inline mf_lane muscle_active(const mf_ArtMuscle *m, mf_lane length) {
    const mf_lane one = mf_set((mf_real)1);
    const double left = 0.5 * (m->lower + 1.0), right = 0.5 * (1.0 + m->upper);
    const double tiny = 1e-15;
    const mf_lane a = (length - muscle_value(m->lower)) *
                      muscle_value(1.0 / (left - m->lower > tiny ? left - m->lower : tiny)),
                  b = (one - length) * muscle_value(1.0 / (1.0 - left > tiny ? 1.0 - left : tiny)),
                  c = (length - one) *
                      muscle_value(1.0 / (right - 1.0 > tiny ? right - 1.0 : tiny)),
                  d = (muscle_value(m->upper) - length) *
                      muscle_value(1.0 / (m->upper - right > tiny ? m->upper - right : tiny));
    mf_lane out = muscle_half(d);
    out = mf_select(mf_less_equal(length, muscle_value(right)), one - muscle_half(c), out);
    out = mf_select(mf_less_equal(length, one), one - muscle_half(b), out);
    out = mf_select(mf_less_equal(length, muscle_value(left)), muscle_half(a), out);
    return mf_keep(mf_and(mf_less_equal(muscle_value(m->lower), length),
                          mf_less_equal(length, muscle_value(m->upper))),
                   out);
}

static inline mf_lane muscle_speed(const mf_ArtMuscle *m, mf_lane speed) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const double over = m->lengthening - 1.0;
    const mf_lane most = muscle_value(m->lengthening), rest = muscle_value(over) - speed;
    const mf_lane up = one + speed;
    mf_lane out = most;
    out = mf_select(mf_less_equal(speed, muscle_value(over)),
                    most - rest * rest * muscle_value(1.0 / (over > 1e-15 ? over : 1e-15)), out);
    out = mf_select(mf_less_equal(speed, zero), up * up, out);
    return mf_select(mf_less_equal(speed, -one), zero, out);
}

static inline mf_lane muscle_passive(const mf_ArtMuscle *m, mf_lane length) {
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5);
    const double right = 0.5 * (1.0 + m->upper), width = right - 1.0 > 1e-15 ? right - 1.0 : 1e-15;
    const mf_lane x = (length - one) * muscle_value(1.0 / width),
                  y = (length - muscle_value(right)) * muscle_value(1.0 / width);
    const mf_lane out =
        mf_select(mf_less_equal(length, muscle_value(right)), muscle_half(x), half + y);
    return mf_keep(mf_less(one, length), out * muscle_value(m->passive));
}

static inline mf_lane muscle_force(const mf_ArtMuscle *m, mf_lane activation, mf_lane length,
                                   mf_lane rate) {
    const mf_lane scaled = mf_fma(muscle_value(m->scale), length, muscle_value(m->offset));
    const mf_lane active = muscle_active(m, scaled) * muscle_speed(m, rate * muscle_value(m->rate));
    const mf_lane sum = mf_fma(activation, active, muscle_passive(m, scaled));
    return -(muscle_value(m->force) * sum);
}

// Rate of change of activation [1/s].
static inline mf_lane muscle_change(const mf_ArtMuscle *m, mf_lane control, mf_lane activation) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), tiny = mf_set((mf_real)1e-15);
    const mf_lane grade =
        mf_fma(mf_set((mf_real)1.5), mf_clamp(activation, zero, one), mf_set((mf_real)0.5));
    const mf_lane rise = muscle_value(m->rise) * grade, fall = muscle_value(m->fall) / grade;
    const mf_lane distance = mf_clamp(control, zero, one) - activation;
    mf_lane time = mf_select(mf_less(zero, distance), rise, fall);
    if (m->smoothing >= 1e-15) {
        const mf_lane x = mf_clamp(
            mf_fma(distance, muscle_value(1.0 / m->smoothing), mf_set((mf_real)0.5)), zero, one);
        const mf_lane bend =
            mf_fma(x, mf_fma(x, mf_set((mf_real)6), mf_set((mf_real)-15)), mf_set((mf_real)10));
        time = mf_fma(x * x * x * bend, rise - fall, fall);
    }
    return distance / mf_max(time, tiny);
}

// ---- actuate ------------------------------------------------------------------------------------

typedef struct Wrench {
    Vec force;  // [N] own axes
    Vec torque; // [N m] about the origin
} Wrench;

typedef struct BallTorque { // as Line, of a ball
    Vec torque;
    Sym slope;
} BallTorque;

typedef struct Actuation {
    bool implicit;             // the step is
    mf_lane late;              // [s] of the step at whose end the rate dependence acts
    const mf_real *control;    // rows of actuator.control
    const mf_real *activation; // rows of actuator.activation
    const mf_real *slewed;     // rows of actuator.slewed; NULL: none
    Line *lines;               // per plan link
    BallTorque *balls;         // per ball joint
    Wrench *wrench;            // on link l at l + 1
    // Per actuator:
    mf_lane *slope;    // [kg] or [kg m^2] of those on sites; with MuJoCo's law of those on joints
    mf_lane *force;    // [N] or [N m]
    mf_lane *integral; // [m s] or [rad s] activations of MF_DYNAMICS_ERROR after the step
} Actuation;

static inline void actuation_carve(const mf_ArtPlan *plan, mf_Carver *carver, Actuation *all) {
    MF_CARVE(carver, all->lines, plan->link_count);
    MF_CARVE(carver, all->balls, plan->ball_count);
    MF_CARVE(carver, all->wrench, plan->link_count + 1);
    MF_CARVE(carver, all->slope, plan->actuator_count);
    MF_CARVE(carver, all->force, plan->actuator_count);
    MF_CARVE(carver, all->integral, plan->actuator_count);
}

static MF_INLINE const Constant *actuator_constants(const mf_ArtPlan *plan, uint32_t i) {
    return plan_constants(plan) + plan->actuator_offset + (size_t)i * MF_ART_ACTUATOR_VALUES;
}

// Within its range and, from the second step on, within the slew limit.
static MF_INLINE mf_lane actuator_control(const Actuation *all, const Constant *c, uint32_t i) {
    const mf_lane control =
        mf_clamp(row_load(all->control, i), constant_at(c, MF_ART_CONTROL_LOWER),
                 constant_at(c, MF_ART_CONTROL_UPPER));
    if (all->slewed == NULL)
        return control;
    const mf_lane before = row_load(all->slewed, 2 * i), most = constant_at(c, MF_ART_SLEW);
    return mf_select(mf_less(mf_zero(), row_load(all->slewed, 2 * i + 1)),
                     mf_clamp(control, before - most, before + most), control);
}

// The activation after this step; of error integrals once their force is known.
static MF_INLINE mf_lane actuator_next(const Actuation *all, const mf_ArtActuator *actuator,
                                       const Constant *c, uint32_t i) {
    if (actuator->dynamics == MF_DYNAMICS_ERROR)
        return all->integral[i];
    mf_lane now = row_load(all->activation, i), control = actuator_control(all, c, i);
    mf_lane change = control;
    if (actuator->dynamics == MF_DYNAMICS_MUSCLE)
        change = muscle_change(&actuator->fibre, control, now);
    else if (actuator->dynamics != MF_DYNAMICS_INTEGRATOR)
        change = control - now;
    now = mf_fma(change, constant_at(c, MF_ART_ACTIVATION_STEP), now);
    return mf_clamp(now, constant_at(c, MF_ART_ACTIVATION_LOWER),
                    constant_at(c, MF_ART_ACTIVATION_UPPER));
}

static MF_INLINE mf_lane actuator_input(const Actuation *all, const mf_ArtActuator *actuator,
                                        const Constant *c, uint32_t i) {
    if (actuator->dynamics == MF_DYNAMICS_NONE || actuator->dynamics == MF_DYNAMICS_ERROR)
        return actuator_control(all, c, i);
    return actuator->early ? actuator_next(all, actuator, c, i) : row_load(all->activation, i);
}

// Position control of a rotation takes the shorter arc: an error of more than half a revolution is
// reduced by one revolution (as in MuJoCo 4).
static MF_INLINE mf_lane actuator_nearest(const mf_ArtActuator *actuator, mf_lane input,
                                          mf_lane length) {
    if (!(actuator->period > 0.0))
        return input;
    const mf_real period = (mf_real)actuator->period;
    mf_lane cycles = mf_fma(input - length, mf_set(1 / period), mf_set((mf_real)0.5));
    return mf_fma(-mf_floor_lane(cycles), mf_set(period), input);
}

// Force, and its decrease per acceleration along the actuator's length; `more` is a force that
// depends on neither length nor rate.
static MF_INLINE Line actuator_line(const Constant *c, mf_lane more, mf_lane input, mf_lane length,
                                    mf_lane rate, mf_lane step, mf_lane late) {
    mf_lane per_length =
        mf_fma(constant_at(c, MF_ART_GAIN + 1), input, constant_at(c, MF_ART_BIAS + 1));
    mf_lane per_rate =
        mf_fma(constant_at(c, MF_ART_GAIN + 2), input, constant_at(c, MF_ART_BIAS + 2));
    mf_lane force = mf_fma(constant_at(c, MF_ART_GAIN), input, constant_at(c, MF_ART_BIAS) + more);
    force = mf_fma(per_length, mf_fma(step, rate, length), mf_fma(per_rate, rate, force));
    // Only resisting forces may act at the end of the step.
    mf_lane slope = mf_max(-(late * mf_fma(step, per_length, per_rate)), mf_zero());
    mf_lane limited =
        mf_clamp(force, constant_at(c, MF_ART_FORCE_LOWER), constant_at(c, MF_ART_FORCE_UPPER));
    mf_lane size = mf_abs(force);
    mf_mask clamped = mf_less(mf_abs(limited), size);
    mf_lane part = mf_select(clamped, mf_abs(limited) / mf_max(size, mf_set((mf_real)1e-30)),
                             mf_set((mf_real)1));
    return MF_VALUE(Line, limited, slope * part);
}

// The force of the error integral, which is updated first and clamped to its range.
static MF_INLINE mf_lane actuator_integral(const Constant *c, mf_lane input, mf_lane length,
                                           uint32_t i, Actuation *all) {
    mf_lane now = mf_fma(input - length, constant_at(c, MF_ART_ACTIVATION_STEP),
                         row_load(all->activation, i));
    all->integral[i] = mf_clamp(now, constant_at(c, MF_ART_ACTIVATION_LOWER),
                                constant_at(c, MF_ART_ACTIVATION_UPPER));
    return constant_at(c, MF_ART_INTEGRAL_GAIN) * all->integral[i];
}

// As above for any law. A muscle's force is that at the beginning of the step.
static MF_INLINE Line actuator_pull(const mf_ArtActuator *actuator, const Constant *c,
                                    mf_lane input, mf_lane length, mf_lane rate, mf_lane step,
                                    uint32_t i, Actuation *all) {
    if (!actuator->muscle) {
        mf_lane more = mf_zero();
        if (actuator->dynamics == MF_DYNAMICS_ERROR)
            more = actuator_integral(c, input, length, i, all);
        return actuator_line(c, more, input, length, rate, step, all->late);
    }
    const mf_lane force = muscle_force(&actuator->fibre, input, length, rate);
    return MF_VALUE(
        Line,
        mf_clamp(force, constant_at(c, MF_ART_FORCE_LOWER), constant_at(c, MF_ART_FORCE_UPPER)),
        mf_zero());
}

static inline void actuate_joints(const mf_ArtPlan *plan, const State *state,
                                  const mf_ArtActuator *actuator, const Constant *c, mf_lane input,
                                  mf_lane step, uint32_t i, Actuation *all) {
    mf_lane length = mf_zero(), rate = mf_zero();
    mf_real sum = 0;
    const mf_ArtTerm *terms = mf_art_terms(plan);
    for (uint32_t t = 0; t < actuator->term_count; t++) {
        const mf_ArtTerm *term = &terms[actuator->first_term + t];
        mf_lane weight = mf_set((mf_real)term->weight);
        length = mf_fma(weight, state->angle[term->link], length);
        rate = mf_fma(weight, state->speed[term->link], rate);
        sum += (mf_real)(term->weight < 0 ? -term->weight : term->weight);
    }
    Line line = actuator_pull(actuator, c, input, length, rate, step, i, all);
    all->force[i] = line.torque;
    // In MuJoCo a force clamped to its range has no derivative.
    const mf_mask free = mf_and(mf_less(constant_at(c, MF_ART_FORCE_LOWER), line.torque),
                                mf_less(line.torque, constant_at(c, MF_ART_FORCE_UPPER)));
    all->slope[i] = mf_keep(free, line.slope);
    if (actuator->explicit_rate)
        all->slope[i] = mf_zero();
    if (plan->law) // applied after the constraints (constrain_kernel.c)
        line.slope = mf_zero();
    for (uint32_t t = 0; t < actuator->term_count; t++) {
        const mf_ArtTerm *term = &terms[actuator->first_term + t];
        mf_real weight = (mf_real)term->weight;
        Line *joint = &all->lines[term->link];
        joint->torque = mf_fma(mf_set(weight), line.torque, joint->torque);
        joint->slope =
            mf_fma(mf_set((weight < 0 ? -weight : weight) * sum), line.slope, joint->slope);
    }
}

// The range of the sum of all actuators on a joint.
static inline void clamp_joint(const Constant *c, Line *line) {
    mf_lane limited =
        mf_clamp(line->torque, constant_at(c, MF_ART_SUM_LOWER), constant_at(c, MF_ART_SUM_UPPER));
    mf_mask clamped = mf_less(mf_abs(limited), mf_abs(line->torque));
    mf_lane part = mf_abs(limited) / mf_max(mf_abs(line->torque), mf_set((mf_real)1e-30));
    line->slope = line->slope * mf_select(clamped, part, mf_set((mf_real)1));
    line->torque = limited;
}

// the rotation vector of at most half a revolution, and its rate, along the gear (in the child's
// axes).
static inline void actuate_ball(const mf_ArtPlan *plan, const State *state,
                                const mf_ArtActuator *actuator, const Constant *c, mf_lane input,
                                mf_lane step, uint32_t i, Actuation *all) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const uint32_t row = mf_art_links(plan)[actuator->links[0]].row;
    const Quat q = state->ball[row];
    Vec gear = {mf_set((mf_real)actuator->gear[0]), mf_set((mf_real)actuator->gear[1]),
                mf_set((mf_real)actuator->gear[2])};
    if (actuator->in_parent) {
        const Mat rotation = quat_matrix(q);
        gear = mat_apply_transposed(&rotation, gear);
    }
    mf_lane sign = mf_select(mf_less(q.w, zero), -one, one);
    Vec half = vec_scale(MF_VALUE(Vec, q.x, q.y, q.z), sign);
    mf_lane sine = mf_sqrt(vec_dot(half, half)), tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    mf_lane angle = mf_atan2_lane(sine, q.w * sign);
    mf_lane length = vec_dot(half, gear) * ((angle + angle) / mf_max(sine, tiny));
    input = actuator_nearest(actuator, input, length);
    Line line =
        actuator_line(c, zero, input, length, vec_dot(gear, state->ball_rate[row]), step, step);
    BallTorque *ball = &all->balls[row];
    Vec bent = vec_scale(gear, line.slope);
    all->force[i] = line.torque;
    ball->torque = vec_fma(gear, line.torque, ball->torque);
    ball->slope = MF_VALUE(
        Sym, mf_fma(bent.x, gear.x, ball->slope.xx), mf_fma(bent.y, gear.y, ball->slope.yy),
        mf_fma(bent.z, gear.z, ball->slope.zz), mf_fma(bent.x, gear.y, ball->slope.xy),
        mf_fma(bent.x, gear.z, ball->slope.xz), mf_fma(bent.y, gear.z, ball->slope.yz));
}

static inline void actuate_start(const mf_ArtPlan *plan, Actuation *all) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const mf_lane zero = mf_zero();
        if (link->actuated && link->kind == MF_ART_BALL)
            all->balls[link->row] =
                MF_VALUE(BallTorque, vec_zero(), {zero, zero, zero, zero, zero, zero});
        else if (link->actuated)
            all->lines[l] = MF_VALUE(Line, zero, zero);
    }
    for (uint32_t l = 0; l <= plan->link_count; l++)
        if (l == 0 ? plan->base_thrust : links[l - 1].thrust)
            all->wrench[l] = MF_VALUE(Wrench, vec_zero(), vec_zero());
}

// In MuJoCo forces of a joint clamped to the range of their sum have no derivative.
static inline void free_joint(const mf_ArtPlan *plan, const mf_ArtActuator *actuator, uint32_t i,
                              Actuation *all) {
    const uint32_t link = mf_art_terms(plan)[actuator->first_term].link;
    const Constant *c = link_constants(plan, link);
    const mf_lane torque = all->lines[link].torque;
    const mf_mask free = mf_and(mf_less(constant_at(c, MF_ART_SUM_LOWER), torque),
                                mf_less(torque, constant_at(c, MF_ART_SUM_UPPER)));
    all->slope[i] = mf_keep(free, all->slope[i]);
}

static inline void actuate_finish(const mf_ArtPlan *plan, Actuation *all) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++)
        if (links[l].actuated && links[l].kind != MF_ART_BALL)
            clamp_joint(link_constants(plan, l), &all->lines[l]);
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t i = 0; plan->law && i < plan->actuator_count; i++)
        if (actuators[i].on_joint && actuators[i].acts == MF_ART_PULLS)
            free_joint(plan, &actuators[i], i, all);
}
