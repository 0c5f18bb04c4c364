// The equations of one joint: how far it is open, how fast that grows, and what its forces answer.
//
// A joint holds its second frame to its first one. With the opening x and the relative velocity v
// at the end of the step, in the directions that it holds, the force is that of a spring and damper
// there (backward Euler),
//     f = -(k x + d v),
// written so that it stays finite for a joint that is stiff:
//     gamma f + beta x + (1 - beta h) v = 0,    gamma = 1 / (d + h k),  beta = k / (d + h k)
// (soft constraints: Catto, Soft Constraints, GDC 2011; Smith, Open Dynamics Engine manual, 2006,
// section 3.8, with the opening at the end of the step instead of that at its beginning). A stiff
// joint with time constant T has d / k = T, so beta = 1 / (T + h), and a gamma that is small
// compared with what the robots give way (solver_newton.c).
#include "solve/joint_rows.h"
#include "math/scalar.h"

#include <math.h>

// Stiff joints close no faster than this: robots that are joined while they are far apart are
// pulled together, not shot.
static const double closing_most = 1.0; // [m/s], [rad/s]

void mf_joint_frame(const mf_JointRecord *record, uint32_t side, const mf_LinkMotion *motion,
                    double position[3], double orientation[4]) {
    mf_link_point(motion, record->position[side], position, NULL);
    mf_quat_multiply(orientation, motion->orientation, record->orientation[side]);
}

static void frame_axis(double out[3], const double orientation[4], uint32_t axis) {
    double unit[3] = {0, 0, 0};
    unit[axis] = 1.0;
    mf_quat_rotate(out, orientation, unit);
}

// The shortest rotation [rad] that takes unit vector `a` to `b`.
static void axis_error(double out[3], const double a[3], const double b[3]) {
    mf_vec3_cross(out, a, b);
    const double sine = mf_vec3_length(out), angle = mf_atan2(sine, mf_vec3_dot(a, b));
    mf_vec3_scale(out, out, sine > 1e-9 ? angle / sine : 1.0);
}

void mf_joint_error(const mf_JointRecord *record, const mf_LinkMotion motions[2], double opening[3],
                    double angular[3]) {
    double at[2][3], rotation[2][4], back[4], between[4], axis[2][3];
    for (uint32_t s = 0; s < 2; s++)
        mf_joint_frame(record, s, &motions[s], at[s], rotation[s]);
    mf_vec3_sub(opening, at[1], at[0]);
    mf_vec3_set(angular, 0, 0, 0);
    if (record->kind == MF_WORLD_JOINT_FIXED) {
        mf_quat_conjugate(back, rotation[0]);
        mf_quat_multiply(between, rotation[1], back);
        mf_quat_to_rotation_vector(angular, between);
    } else if (record->kind == MF_WORLD_JOINT_HINGE) {
        frame_axis(axis[0], rotation[0], 2);
        frame_axis(axis[1], rotation[1], 2);
        axis_error(angular, axis[0], axis[1]);
    }
}

void mf_joint_angle(const mf_JointRecord *record, const mf_LinkMotion motions[2], double *angle,
                    double *rate) {
    double at[3], rotation[2][4], x[3], y[3], z[3], other[3], offset[3];
    for (uint32_t s = 0; s < 2; s++)
        mf_joint_frame(record, s, &motions[s], at, rotation[s]);
    frame_axis(x, rotation[0], 0);
    frame_axis(y, rotation[0], 1);
    frame_axis(z, rotation[0], 2);
    frame_axis(other, rotation[1], 0);
    mf_vec3_sub(offset, motions[1].rate, motions[0].rate);
    *angle = mf_atan2(mf_vec3_dot(other, y), mf_vec3_dot(other, x));
    *rate = mf_vec3_dot(offset, z);
}

// ---- motor and stops ----------------------------------------------------------------------------

static const double two_pi = 6.283185307179586;

bool mf_joint_has_stops(const mf_JointRecord *record) {
    return mf_is_finite(record->lower_angle) && mf_is_finite(record->upper_angle);
}

bool mf_joint_has_drive(const mf_JointRecord *record) {
    return record->kind == MF_WORLD_JOINT_HINGE &&
           (record->motor_torque > 0.0 || mf_joint_has_stops(record));
}

// The turn of the angle that is nearest to the middle of the range.
static void find_gaps(const mf_JointRecord *record, double angle, double gaps[2]) {
    const double middle = 0.5 * (record->lower_angle + record->upper_angle);
    while (angle > middle + 0.5 * two_pi)
        angle -= two_pi;
    while (angle < middle - 0.5 * two_pi)
        angle += two_pi;
    gaps[0] = angle - record->lower_angle;
    gaps[1] = record->upper_angle - angle;
}

// [rad/s] What is added to the rate of approach to a stop, so that the sum vanishes where the gap
// closes at the end of the step, or as fast as a rigid joint's error decreases. `away`: the rate at
// which the gap grows.
static double stop_offset(const mf_JointNode *node, double gap, uint32_t stop, double away) {
    if (node->gaps[stop] >= 0.0)
        return gap / node->step - away;
    const double most = closing_most * node->alpha[5], back = node->beta[5] * gap;
    return (back < -most ? -most : back) + (node->alpha[5] - 1.0) * away;
}

static void update_drive(mf_JointNode *node, const mf_LinkMotion motions[2], double *rate) {
    mf_JointDrive *drive = &node->drive;
    double angle, gaps[2];
    mf_joint_angle(node->record, motions, &angle, rate);
    drive->aim = -node->record->motor_rate;
    drive->low = (double)INFINITY;
    drive->high = -(double)INFINITY;
    if (!mf_joint_has_stops(node->record))
        return;
    find_gaps(node->record, angle, gaps);
    drive->low = stop_offset(node, gaps[0], 0, *rate);
    drive->high = -stop_offset(node, gaps[1], 1, -*rate);
}

double mf_joint_drive(const mf_JointDrive *drive, double gamma, double rate, double *slope) {
    const double motor = -(rate + drive->aim) / gamma, bound = drive->most;
    const double low = -(rate + drive->low) / gamma, high = -(rate + drive->high) / gamma;
    const bool free = motor > -bound && motor < bound;
    if (slope != NULL)
        *slope = ((free ? 1.0 : 0.0) + (low > 0.0 ? 1.0 : 0.0) + (high < 0.0 ? 1.0 : 0.0)) / gamma;
    return mf_clamp(motor, -bound, bound) + (low > 0.0 ? low : 0.0) + (high < 0.0 ? high : 0.0);
}

// The change x of the rate at which the torque that causes it is the law's:
// x = gives (law(rate + x) - torque). Both sides meet between 0 and the difference at x = 0, since
// the law decreases.
double mf_joint_drive_residual(const mf_JointDrive *drive, double gamma, double gives, double rate,
                               double torque) {
    double near = 0.0, far = gives * (mf_joint_drive(drive, gamma, rate, NULL) - torque);
    for (uint32_t i = 0; i < 48 && mf_is_finite(far); i++) {
        const double middle = 0.5 * (near + far);
        const double left =
            gives * (mf_joint_drive(drive, gamma, rate + middle, NULL) - torque) - middle;
        if ((left > 0.0) == (far > near))
            near = middle;
        else
            far = middle;
    }
    return mf_abs(far);
}

// ---- a step -------------------------------------------------------------------------------------

// Directions against which the joint does not turn.
static void set_rows(const mf_JointRecord *record, const double first[4], mf_JointNode *node) {
    node->drive = (mf_JointDrive){.acts = mf_joint_has_drive(record), .most = record->motor_torque};
    node->rows = record->kind == MF_WORLD_JOINT_FIXED  ? 6
                 : node->drive.acts                    ? 6
                 : record->kind == MF_WORLD_JOINT_BALL ? 3
                                                       : 5;
    for (uint32_t r = 0; r < 3; r++)
        frame_axis(node->axes[r], first, r);
}

static void soften(double stiffness, double damping, double time, double step, uint32_t row,
                   mf_JointNode *node) {
    if (stiffness > 0.0) {
        node->gamma[row] = 1.0 / (damping + step * stiffness);
        node->beta[row] = stiffness * node->gamma[row];
    } else {
        node->gamma[row] = 0.0;
        node->beta[row] = 1.0 / ((time > 0.0 ? time : 4.0 * step) + step);
    }
    node->alpha[row] = 1.0 - node->beta[row] * step;
}

void mf_joint_begin(double step, mf_JointNode *node) {
    const mf_JointRecord *record = node->record;
    double at[2][3], rotation[2][4], arm[3], back[4];
    for (uint32_t s = 0; s < 2; s++)
        mf_joint_frame(record, s, &node->sides[s].motion, at[s], rotation[s]);
    set_rows(record, rotation[0], node);
    for (uint32_t c = 0; c < 3; c++)
        node->point[c] = 0.5 * (at[0][c] + at[1][c]);
    for (uint32_t s = 0; s < 2; s++) {
        mf_vec3_sub(arm, node->point, node->sides[s].motion.position);
        mf_quat_conjugate(back, node->sides[s].motion.orientation);
        mf_quat_rotate(node->sides[s].point, back, arm);
        mf_vec3_copy(node->sides[s].begin, arm);
    }
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++) {
        const bool rotates = r >= 3;
        soften(rotates ? record->angular_stiffness : record->stiffness,
               rotates ? record->angular_damping : record->damping, record->time, step, r, node);
    }
    const mf_LinkMotion motions[2] = {node->sides[0].motion, node->sides[1].motion};
    double opening[3], angular[3];
    mf_joint_error(record, motions, opening, angular);
    node->opening = mf_vec3_length(opening);
    node->angular_opening = mf_vec3_length(angular);
    node->step = step;
    if (node->drive.acts && mf_joint_has_stops(record)) {
        double angle, rate;
        mf_joint_angle(record, motions, &angle, &rate);
        find_gaps(record, angle, node->gaps);
        node->drive.low = stop_offset(node, node->gaps[0], 0, 0.0);
        node->drive.high = -stop_offset(node, node->gaps[1], 1, 0.0);
    }
}

// Adds the part of one side in the relative velocity of the points that the joint pushes.
static void add_velocity(const mf_JointNode *node, uint32_t side, double rows[MF_JOINT_ROWS]) {
    const mf_JointSideNow *now = &node->sides[side];
    const mf_LinkMotion *motion = &now->motion;
    const double sign = side == 0 ? -1.0 : 1.0;
    double velocity[3], arm[3];
    mf_quat_rotate(arm, motion->orientation, now->point);
    for (uint32_t c = 0; c < 3; c++)
        arm[c] = now->begin[c] + now->rotation_share * (arm[c] - now->begin[c]);
    mf_vec3_cross(velocity, motion->rate, arm);
    mf_vec3_add(velocity, velocity, motion->velocity);
    for (uint32_t r = 0; r < 3; r++) {
        rows[r] += sign * velocity[r];
        rows[3 + r] += sign * mf_vec3_dot(node->axes[r], motion->rate);
    }
}

// How much of an opening counts: a stiff joint closes with beta / alpha of it a second, if that is
// not too fast.
static double withheld(const mf_JointNode *node, uint32_t row, const double direction[3],
                       bool stiff) {
    const double fast = mf_vec3_length(direction) * node->beta[row];
    const double most = closing_most * node->alpha[row];
    return stiff && fast > most ? most / fast : 1.0;
}

void mf_joint_now(mf_JointNode *node, double rows[MF_JOINT_ROWS]) {
    const mf_JointRecord *record = node->record;
    const mf_LinkMotion motions[2] = {node->sides[0].motion, node->sides[1].motion};
    double opening[3], angular[3], velocity[MF_JOINT_ROWS] = {0};
    mf_joint_error(record, motions, opening, angular);
    mf_vec3_scale(opening, opening, withheld(node, 0, opening, !(record->stiffness > 0.0)));
    mf_vec3_scale(angular, angular, withheld(node, 3, angular, !(record->angular_stiffness > 0.0)));
    for (uint32_t s = 0; s < 2; s++)
        add_velocity(node, s, velocity);
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++) {
        const double distance = r < 3 ? opening[r] : mf_vec3_dot(node->axes[r - 3], angular);
        rows[r] = r < node->rows ? node->beta[r] * distance + node->alpha[r] * velocity[r] : 0.0;
    }
    if (node->drive.acts)
        update_drive(node, motions, &rows[5]);
}

static double limited(const mf_JointNode *node, uint32_t row, double distance, bool stiff) {
    const double fast = mf_abs(distance) * node->beta[row];
    return stiff && fast > closing_most ? closing_most / fast : 1.0;
}

void mf_joint_closing(const mf_JointNode *node, const mf_LinkMotion motions[2],
                      double rows[MF_JOINT_ROWS]) {
    const mf_JointRecord *record = node->record;
    double opening[3], angular[3];
    mf_joint_error(record, motions, opening, angular);
    const double straight = limited(node, 0, node->opening, !(record->stiffness > 0.0));
    const double turning =
        limited(node, 3, node->angular_opening, !(record->angular_stiffness > 0.0));
    for (uint32_t r = 0; r < 3; r++) {
        rows[r] = -straight * node->beta[r] * opening[r];
        rows[3 + r] = -turning * node->beta[3 + r] * mf_vec3_dot(node->axes[r], angular);
    }
}

void mf_joint_wrench(const mf_JointNode *node, const double rows[MF_JOINT_ROWS], double force[3],
                     double moment[3]) {
    mf_vec3_copy(force, rows);
    mf_vec3_set(moment, 0, 0, 0);
    for (uint32_t r = 3; r < node->rows; r++)
        mf_vec3_add_scaled(moment, moment, rows[r], node->axes[r - 3]);
}

void mf_joint_rows_of(const mf_JointNode *node, const double force[3], const double moment[3],
                      double rows[MF_JOINT_ROWS]) {
    mf_vec3_copy(rows, force);
    for (uint32_t r = 0; r < 3; r++)
        rows[3 + r] = 3 + r < node->rows ? mf_vec3_dot(node->axes[r], moment) : 0.0;
}
