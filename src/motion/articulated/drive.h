// Forces at a joint from its own position and rate: servo, damping, spring, dry friction, limit.
//
// Each is a straight line torque = t - g (change of rate), so that it can act at the end of the
// step: t goes to the torque and step-weighted slopes to the inertia of the joint, which makes the
// step stable however stiff the line is. What is not straight (clamps, dry friction) is replaced by
// the chord from the present state to rest: it has the right torque now and only takes energy away.
#ifndef MF_MOTION_ARTICULATED_DRIVE_H
#define MF_MOTION_ARTICULATED_DRIVE_H

#include "motion/articulated/state.h"

typedef struct Drive {
    bool active;           // joint forces act at all
    bool closes;           // couplings act at the end of the step, not now
    mf_lane step;          // [s] 0 when forces act at the beginning of the step
    const mf_real *target; // rows of joint.target
    const State *state;
} Drive;

typedef struct Line {
    mf_lane torque; // [N m] or [N]
    mf_lane slope;  // [kg m^2] or [kg] added to the inertia
} Line;

// Servo: gain (target - position) - damping rate at the end of the step, clamped to the effort.
static MF_INLINE void drive_servo(const mf_ArtLink *link, const mf_real *c, const Drive *drive,
                                  mf_lane ahead, mf_lane rate, Line *line) {
    mf_lane gain = mf_set(c[MF_ART_SERVO_GAIN]), damping = mf_set(c[MF_ART_SERVO_DAMPING]);
    mf_lane error = row_load(drive->target, link->joint) - ahead;
    if (link->drive & MF_ART_HAS_BACKLASH) {
        mf_lane play = mf_set(c[MF_ART_BACKLASH]);
        mf_lane out = error - mf_clamp(error, -play, play);
        gain = mf_keep(mf_less(mf_zero(), mf_abs(out)), gain);
        error = out;
    }
    mf_lane pull = gain * error;
    if (link->drive & MF_ART_HAS_SPEED) {
        mf_lane most = mf_set(c[MF_ART_SERVO_SPEED]);
        gain = mf_keep(mf_less_equal(mf_abs(pull), most), gain);
        pull = mf_clamp(pull, -most, most);
    }
    mf_lane torque = mf_fma(-damping, rate, pull);
    mf_lane slope = drive->step * mf_fma(drive->step, gain, damping);
    if (link->drive & MF_ART_HAS_EFFORT) {
        mf_lane effort = mf_set(c[MF_ART_EFFORT]), size = mf_abs(torque);
        // The chord: as much slope as is left of the torque.
        mf_lane part = effort / mf_max(size, effort);
        torque = mf_clamp(torque, -effort, effort);
        slope = slope * part;
    }
    line->torque = line->torque + torque;
    line->slope = line->slope + slope;
}

// Limit: a spring and damper in proportion to the inertia that the joint moves, so that its
// time constant is the same at every joint; it pushes and never pulls.
static MF_INLINE void drive_limit(const mf_ArtPlan *plan, const mf_real *c, const Drive *drive,
                                  mf_lane inertia, mf_lane ahead, mf_lane rate, Line *line) {
    const mf_lane zero = mf_zero();
    mf_lane below = mf_max(mf_set(c[MF_ART_LOWER]) - ahead, zero);
    mf_lane above = mf_max(ahead - mf_set(c[MF_ART_UPPER]), zero);
    mf_lane depth = below - above;
    mf_lane force = setting(plan, MF_ART_LIMIT_FORCE), drag = setting(plan, MF_ART_LIMIT_DRAG);
    mf_lane push = mf_fma(force, depth, -(drag * rate));
    mf_mask pushes = mf_less(zero, push * depth);
    mf_lane slope = drive->step * mf_fma(drive->step, force, drag);
    line->torque = mf_fma(mf_keep(pushes, push), inertia, line->torque);
    line->slope = mf_fma(mf_keep(pushes, slope), inertia, line->slope);
}

// The same forces at a ball joint, where positions are turns: the spring pulls back along the
// vector of the turn, the limit bounds its angle. `inertia` is that of the joint; what acts at the
// end of the step is added to it. Dry friction is against the whole rate.
static inline void drive_ball(const mf_ArtPlan *plan, const mf_ArtLink *link, const mf_real *c,
                              const Drive *drive, Quat q, Vec rate, Sym *inertia, Vec *torque) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), step = drive->step;
    mf_lane slope = zero, resist = zero, force = zero, along = zero;
    Vec axis = {zero, zero, zero};
    if (link->drive & MF_ART_HAS_DAMPING)
        resist = mf_set(c[MF_ART_DAMPING]);
    if (link->drive & MF_ART_HAS_FRICTION)
        resist = resist + mf_set(c[MF_ART_FRICTION]) /
                              mf_max(mf_sqrt(vec_dot(rate, rate)), setting(plan, MF_ART_CREEP));
    *torque = vec_fma(rate, -resist, *torque);
    slope = step * resist;
    if (link->drive & (MF_ART_HAS_SPRING | MF_ART_HAS_LIMIT)) {
        mf_lane sign = mf_select(mf_less(q.w, zero), -one, one);
        Vec turn = vec_scale((Vec){q.x, q.y, q.z}, sign);
        mf_lane sine = mf_sqrt(vec_dot(turn, turn)), half = mf_atan2_lane(sine, q.w * sign);
        mf_lane tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON), angle = half + half;
        axis = vec_scale(turn, one / mf_max(sine, tiny));
        if (link->drive & MF_ART_HAS_SPRING) {
            mf_lane stiffness = mf_set(c[MF_ART_STIFFNESS]);
            Vec ahead = vec_fma(rate, step, vec_scale(axis, angle));
            *torque = vec_fma(ahead, -stiffness, *torque);
            slope = mf_fma(step * step, stiffness, slope);
        }
        if (link->drive & MF_ART_HAS_LIMIT) {
            mf_lane climb = vec_dot(axis, rate), moved = vec_dot(axis, sym_apply(inertia, axis));
            mf_lane depth = mf_fma(step, climb, angle) - mf_set(c[MF_ART_UPPER]);
            mf_lane k = setting(plan, MF_ART_LIMIT_FORCE), d = setting(plan, MF_ART_LIMIT_DRAG);
            mf_lane push = mf_fma(k, depth, d * climb);
            mf_mask pushes = mf_and(mf_less(zero, depth), mf_less(zero, push));
            force = mf_keep(pushes, push) * moved;
            along = mf_keep(pushes, step * mf_fma(step, k, d)) * moved;
            *torque = vec_fma(axis, -force, *torque);
        }
    }
    Vec bent = vec_scale(axis, along);
    *inertia = (Sym){
        mf_fma(bent.x, axis.x, inertia->xx + slope), mf_fma(bent.y, axis.y, inertia->yy + slope),
        mf_fma(bent.z, axis.z, inertia->zz + slope), mf_fma(bent.x, axis.y, inertia->xy),
        mf_fma(bent.x, axis.z, inertia->xz),         mf_fma(bent.y, axis.z, inertia->yz)};
}

static MF_INLINE void drive_joint(const mf_ArtPlan *plan, const mf_ArtLink *link, const mf_real *c,
                                  const Drive *drive, mf_lane inertia, mf_lane position,
                                  mf_lane rate, Line *line) {
    mf_lane ahead = mf_fma(drive->step, rate, position);
    if (link->drive & MF_ART_HAS_DAMPING) {
        mf_lane damping = mf_set(c[MF_ART_DAMPING]);
        line->torque = mf_fma(-damping, rate, line->torque);
        line->slope = mf_fma(drive->step, damping, line->slope);
    }
    if (link->drive & MF_ART_HAS_SPRING) {
        mf_lane stiffness = mf_set(c[MF_ART_STIFFNESS]);
        line->torque = mf_fma(stiffness, mf_set(c[MF_ART_RELAXED]) - ahead, line->torque);
        line->slope = mf_fma(drive->step * drive->step, stiffness, line->slope);
    }
    if (link->drive & MF_ART_HAS_SERVO)
        drive_servo(link, c, drive, ahead, rate, line);
    if (link->drive & MF_ART_HAS_FRICTION) {
        mf_lane viscous =
            mf_set(c[MF_ART_FRICTION]) / mf_max(mf_abs(rate), setting(plan, MF_ART_CREEP));
        line->torque = mf_fma(-viscous, rate, line->torque);
        line->slope = mf_fma(drive->step, viscous, line->slope);
    }
    if (link->drive & MF_ART_HAS_LIMIT)
        drive_limit(plan, c, drive, inertia, ahead, rate, line);
}

#endif
