// What joints and contacts answer to the velocities of their links at the end of a step.
//
// With the row value s that vanishes in a free direction, v + beta x of a joint and
//     v_n - b                                                                              (1)
// of a contact along its normal that is to part with b, and what gives way gamma,
//     joint       f = -s / gamma
//     normal      f = max(0, -s / gamma)
//     friction    f = -s / gamma, cut to |f / mu| <= f_n
// (soft constraints, joint_rows.c; Coulomb's law with a gamma against creep.) The rows of friction
// are sliding (2), torsion about the normal (1) and rolling (2), as far as MuJoCo's condim has them
// (MuJoCo documentation, "Computation", friction cones); f / mu is taken row by row, in one
// elliptic cone for all of them, or in one for each of the three. The bound of friction is held
// while its forces are found (solver_newton.c), so that these laws are the slopes of a convex cost;
// in a cone gamma mu^2 is the same for all rows, or it would not be one.
#include "solve/joints.h"
#include "math/scalar.h"

#include <string.h>

// [1] How much stiff joints give way, of what the robots do. It makes forces that are not unique
// share what they bear, and is next to the step's own error: the velocity that is left under a load
// f is this times what f would change within a step.
static const double give_joint = 1e-4;

static const mf_SolverNode *node_of(const mf_Solver *solver, uint32_t node) {
    return node != MF_NONE ? &solver->nodes[node] : NULL;
}

// ---- the beginning of a step --------------------------------------------------------------------

static void set_arms(const mf_Solver *solver, mf_SolverConstraint *constraint,
                     const double point[3]) {
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverNode *node = node_of(solver, constraint->node[s]);
        if (node != NULL)
            mf_vec3_sub(constraint->arm[s], point, node->point);
    }
}

static bool averages(const mf_Solver *solver, const mf_SolverNode *node) {
    const mf_SolverBody *body = &solver->bodies[node->body];
    return mf_trial_step_averages(solver->trials[body->group], body->instance);
}

// Turns an arm [m] by what `rate` [rad/s] makes in `time` [s], to its second order.
static void rotate_arm(double arm[3], const double rate[3], double time) {
    double first[3], second[3];
    mf_vec3_cross(first, rate, arm);
    mf_vec3_cross(second, rate, first);
    mf_vec3_add_scaled(arm, arm, time, first);
    mf_vec3_add_scaled(arm, arm, 0.5 * time * time, second);
}

static void begin_joint(mf_Solver *solver, mf_SolverConstraint *constraint) {
    mf_JointNode *joint = &solver->joint_nodes[constraint->joint];
    mf_JointRecord *record = joint->record;
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverNode *node = node_of(solver, constraint->node[s]);
        joint->sides[s].motion = node != NULL ? node->begin : mf_link_motion_world();
        joint->sides[s].rotation_share = node != NULL && averages(solver, node) ? 1.0 : 0.5;
    }
    mf_joint_begin((double)solver->run.step * 1e-9, joint);
    mf_joint_rows_of(joint, record->force, record->moment, constraint->force);
    record->residual = 0.0;
    constraint->rows = joint->rows;
    constraint->drive = joint->drive.acts ? &joint->drive : NULL;
    constraint->give = give_joint;
    for (uint32_t r = 0; r < 3; r++) {
        mf_vec3_set(constraint->axes[r], r == 0, r == 1, r == 2);
        mf_vec3_copy(constraint->axes[3 + r], joint->axes[r]);
    }
    memcpy(constraint->gamma, joint->gamma, sizeof constraint->gamma);
    set_arms(solver, constraint, joint->point);
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverNode *node = node_of(solver, constraint->node[s]);
        if (node != NULL && averages(solver, node))
            rotate_arm(constraint->arm[s], node->begin.rate, 0.5e-9 * (double)solver->run.step);
    }
}

// Two unit vectors across `normal`, of what axis it is farthest from.
static void find_tangents(const double normal[3], double first[3], double second[3]) {
    uint32_t least = mf_abs(normal[0]) <= mf_abs(normal[1]) ? 0 : 1;
    least = mf_abs(normal[least]) <= mf_abs(normal[2]) ? least : 2;
    double axis[3] = {0, 0, 0};
    axis[least] = 1.0;
    mf_vec3_cross(first, normal, axis);
    mf_vec3_normalize(first);
    mf_vec3_cross(second, normal, first);
}

static void begin_contact(mf_Solver *solver, mf_SolverConstraint *constraint) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    constraint->rows = contact->rows;
    constraint->coupled = contact->coupled;
    mf_vec3_copy(constraint->axes[0], contact->normal);
    find_tangents(contact->normal, constraint->axes[1], constraint->axes[2]);
    for (uint32_t r = 0; r < 3; r++)
        mf_vec3_copy(constraint->axes[3 + r], constraint->axes[r]);
    constraint->gamma[0] = contact->softness;
    constraint->give = contact->give;
    constraint->yield = contact->yield;
    for (uint32_t r = 1; r < contact->rows; r++) {
        constraint->friction[r] = contact->friction[r < 3 ? 0 : r - 2 < 2 ? 1 : 2];
        constraint->weight[r] =
            contact->coupled ? contact->friction[0] / constraint->friction[r] : 1.0;
    }
    set_arms(solver, constraint, contact->point);
    mf_solver_warm_start(solver, constraint);
}

void mf_solver_begin(mf_Solver *solver, mf_SolverConstraint *constraint) {
    if (constraint->joint != MF_NONE)
        begin_joint(solver, constraint);
    else
        begin_contact(solver, constraint);
}

// ---- rows ---------------------------------------------------------------------------------------

void mf_solver_jacobian(const mf_SolverConstraint *constraint, uint32_t side,
                        double out[MF_BLOCK_VALUES]) {
    const double sign = side == 0 ? -1.0 : 1.0;
    memset(out, 0, MF_BLOCK_VALUES * sizeof *out);
    for (uint32_t r = 0; r < constraint->rows; r++) {
        double *row = out + (size_t)r * MF_BLOCK_ROWS;
        if (r < 3) {
            mf_vec3_scale(row, constraint->axes[r], sign);
            mf_vec3_cross(row + 3, constraint->arm[side], row);
        } else {
            mf_vec3_scale(row + 3, constraint->axes[r], sign);
        }
    }
}

void mf_solver_wrench(const mf_SolverConstraint *constraint, uint32_t side,
                      const double force[MF_JOINT_ROWS], double wrench[6]) {
    double rows[MF_BLOCK_VALUES];
    mf_solver_jacobian(constraint, side, rows);
    for (uint32_t c = 0; c < 6; c++)
        wrench[c] = 0.0;
    for (uint32_t r = 0; r < constraint->rows; r++)
        for (uint32_t c = 0; c < 6; c++)
            wrench[c] += rows[MF_BLOCK_ROWS * r + c] * force[r];
}

static void measure_contact(const mf_Solver *solver, mf_SolverConstraint *constraint) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    double rows[MF_BLOCK_VALUES];
    for (uint32_t r = 0; r < constraint->rows; r++)
        constraint->now[r] = 0.0;
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverNode *node = node_of(solver, constraint->node[s]);
        if (node == NULL)
            continue;
        mf_solver_jacobian(constraint, s, rows);
        for (uint32_t r = 0; r < constraint->rows; r++)
            for (uint32_t c = 0; c < 6; c++)
                constraint->now[r] += rows[MF_BLOCK_ROWS * r + c] * node->velocity[c];
    }
    constraint->now[0] -= contact->apart;
}

void mf_solver_measure(mf_Solver *solver, mf_SolverConstraint *constraint) {
    if (constraint->joint == MF_NONE) {
        measure_contact(solver, constraint);
        return;
    }
    mf_JointNode *joint = &solver->joint_nodes[constraint->joint];
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverNode *node = node_of(solver, constraint->node[s]);
        if (node != NULL)
            joint->sides[s].motion = node->end;
    }
    mf_joint_now(joint, constraint->now);
}

// ---- forces -------------------------------------------------------------------------------------

bool mf_solver_next_cone(const mf_SolverConstraint *constraint, mf_SolverCone *cone) {
    static const uint32_t ends[MF_JOINT_ROWS] = {0, 3, 0, 4, 6, 6}; // of rows that begin one
    const uint32_t rows = constraint->dead[1] && constraint->rows > 3 ? 3 : constraint->rows;
    cone->first = cone->end;
    if (constraint->dead[0] || cone->first >= rows)
        return false;
    cone->end = constraint->coupled ? rows : ends[cone->first];
    return true;
}

double mf_solver_cone_square(const mf_SolverConstraint *constraint, mf_SolverCone cone,
                             const double *force) {
    double square = 0.0;
    for (uint32_t r = cone.first; r < cone.end; r++) {
        const double own = force[r] * constraint->weight[r];
        square += own * own;
    }
    return square;
}

void mf_solver_cut(const mf_SolverConstraint *constraint, double *force) {
    for (mf_SolverCone cone = MF_CONE_NONE; mf_solver_next_cone(constraint, &cone);) {
        const double square = mf_solver_cone_square(constraint, cone, force);
        const double limit = constraint->friction[cone.first] * force[0];
        const double part = square > limit * limit ? limit / mf_sqrt(square) : 1.0;
        for (uint32_t r = cone.first; r < cone.end; r++)
            force[r] *= part;
    }
}

// The rows of a cone stick, or slide at its limit.
static void rub(const mf_SolverConstraint *constraint, mf_SolverCone cone, const double *rows,
                double *force, double *slope) {
    const double *gamma = constraint->gamma, *weight = constraint->weight;
    const double limit = constraint->friction[cone.first] * constraint->grip;
    if (!(gamma[cone.first] > 0.0))
        return; // nothing gives way
    for (uint32_t r = cone.first; r < cone.end; r++)
        force[r] = -rows[r] / gamma[r];
    const double square = mf_solver_cone_square(constraint, cone, force), size = mf_sqrt(square);
    const bool slides = size > limit;
    const double part = slides ? limit / size : 1.0;
    for (uint32_t r = cone.first; r < cone.end; r++)
        for (uint32_t c = cone.first; c < cone.end && slope != NULL; c++) {
            const double along =
                slides ? force[r] * force[c] * weight[c] * weight[c] / square : 0.0;
            slope[MF_JOINT_ROWS * r + c] = part * ((r == c ? 1.0 : 0.0) - along) / gamma[c];
        }
    for (uint32_t r = cone.first; r < cone.end; r++)
        force[r] *= part;
}

double mf_solver_load(const mf_SolverConstraint *constraint, const double *rows) {
    const bool pressed = !constraint->dead[0] && rows[0] < 0.0;
    return pressed ? -rows[0] / constraint->gamma[0] : 0.0;
}

void mf_solver_force(const mf_SolverConstraint *constraint, const double rows[MF_JOINT_ROWS],
                     double force[MF_JOINT_ROWS], double slope[MF_BLOCK_VALUES]) {
    const double *gamma = constraint->gamma;
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        force[r] = 0.0;
    if (slope != NULL)
        memset(slope, 0, MF_BLOCK_VALUES * sizeof *slope);
    if (constraint->joint != MF_NONE) {
        for (uint32_t r = 0; r < constraint->rows; r++) {
            double stiff = 1.0 / gamma[r];
            if (constraint->dead[r >= 3])
                continue;
            force[r] = r == 5 && constraint->drive != NULL
                           ? mf_joint_drive(constraint->drive, gamma[r], rows[r], &stiff)
                           : -rows[r] / gamma[r];
            if (slope != NULL)
                slope[(MF_JOINT_ROWS + 1) * r] = stiff;
        }
        return;
    }
    force[0] = mf_solver_load(constraint, rows);
    if (slope != NULL && force[0] > 0.0)
        slope[0] = 1.0 / gamma[0];
    for (mf_SolverCone cone = MF_CONE_NONE; mf_solver_next_cone(constraint, &cone);)
        rub(constraint, cone, rows, force, slope);
}

// ---- what is left -------------------------------------------------------------------------------

// [1] How far the forces of a cone are from where the row values want them within its limit: each
// row is corrected by its value over what all would have to give way to be alike in the cone.
static double rubbing_left(const mf_SolverConstraint *constraint, mf_SolverCone cone) {
    const double *weight = constraint->weight, *force = constraint->force;
    double target[MF_JOINT_ROWS] = {0}, gives = 0.0, most = 0.0;
    for (uint32_t r = cone.first; r < cone.end; r++) {
        const double alike = constraint->gives[r] / (weight[r] * weight[r]);
        gives = alike > gives ? alike : gives;
    }
    if (!(gives > 0.0))
        return 0.0;
    for (uint32_t r = cone.first; r < cone.end; r++) {
        const double value = constraint->now[r] + constraint->gamma[r] * force[r];
        target[r] = force[r] - value / (gives * weight[r] * weight[r]);
    }
    const double size = mf_sqrt(mf_solver_cone_square(constraint, cone, target));
    const double limit = constraint->friction[cone.first] * force[0];
    const double part = size > limit ? limit / size : 1.0;
    for (uint32_t r = cone.first; r < cone.end; r++) {
        const double own =
            mf_abs(force[r] - part * target[r]) * constraint->gives[r] / constraint->scale[r >= 3];
        most = own > most || !mf_is_finite(own) ? own : most;
    }
    return most;
}

static double contact_left(const mf_SolverConstraint *constraint) {
    const double load = constraint->force[0];
    double value = constraint->now[0] + constraint->gamma[0] * load, most = 0.0;
    if (!constraint->dead[0]) {
        const double lift = constraint->gives[0] * load;
        most = mf_abs(value < lift ? value : lift) / constraint->scale[0];
    } else if (load > 0.0) {
        return 1.0; // forces so wrong that they jam a robot do not hold because they do
    }
    for (mf_SolverCone cone = MF_CONE_NONE; mf_solver_next_cone(constraint, &cone);) {
        const double part = rubbing_left(constraint, cone);
        most = part > most || !mf_is_finite(part) ? part : most;
    }
    return most;
}

double mf_solver_residual(const mf_SolverConstraint *constraint) {
    double most = 0.0;
    if (constraint->joint == MF_NONE)
        return contact_left(constraint);
    for (uint32_t r = 0; r < constraint->rows; r++) {
        const double value = r == 5 && constraint->drive != NULL
                                 ? mf_joint_drive_residual(constraint->drive, constraint->gamma[r],
                                                           constraint->gives[r], constraint->now[r],
                                                           constraint->force[r])
                                 : constraint->now[r] + constraint->gamma[r] * constraint->force[r];
        const double part =
            constraint->dead[r >= 3] ? 0.0 : mf_abs(value) / constraint->scale[r >= 3];
        most = part > most || !mf_is_finite(part) ? part : most;
    }
    return most;
}
