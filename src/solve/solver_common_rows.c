// Rows of common problems between robots (solver_common.c): contacts as a file has them, and
// run-time joints as joint_rows.c states them, to first order in what their robots do:
//     J a = -(J v + beta x) / h - J' v - gamma f / h
// where x is the opening at the beginning of the step, with half of J' v along axes, since
// positions follow the velocity in the middle of the step.
#include "motion/articulated/host.h"
#include "contact/collide.h"
#include "contact/softness.h"
#include "math/scalar.h"
#include "solve/solver_common.h"

#include <string.h>

static const double usual_change = 10.0; // [m/s^2], [rad/s^2] scale of residuals

// ---- arms ---------------------------------------------------------------------------------------

mf_CommonArm mf_common_arm(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                           uint32_t side) {
    const mf_SolverBody *body = mf_common_side(solver, constraint, side);
    if (body == NULL)
        return (mf_CommonArm){.motion = NULL};
    const double *point = constraint->joint != MF_NONE
                              ? solver->joint_nodes[constraint->joint].point
                              : solver->contacts[constraint->contact].point;
    const mf_TrialStep *trial = solver->trials[body->group];
    mf_CommonArm arm = {.motion = mf_common_of(solver, body)->motion,
                        .own = mf_common_problem_of(solver, body),
                        .dof = (uint32_t)body->rates,
                        .sign = side == 0 ? -1.0 : 1.0};
    arm.link = arm.motion->frames[solver->nodes[constraint->node[side]].link].link;
    for (uint32_t c = 0; c < 3; c++)
        arm.point[c] = point[c] - mf_field_get(trial->links.fields.position, body->instance, c);
    return arm;
}

static uint32_t link_dof(const mf_CommonArm *arm, int32_t link, uint32_t *count) {
    const mf_ArtMotion *motion = arm->motion;
    if (link < 0) {
        *count = link == MF_ART_WORLD || motion->plan->fixed ? 0 : 6;
        return 0;
    }
    *count = motion->links[link].kind == MF_ART_BALL ? 3 : 1;
    return motion->links[link].dof;
}

static int32_t link_up(const mf_CommonArm *arm, int32_t link) {
    return link >= 0 ? arm->motion->links[link].parent : MF_ART_WORLD;
}

uint32_t mf_common_arm_dofs(const mf_CommonArm *arm) {
    uint32_t sum = 0, count;
    for (int32_t link = arm->motion != NULL ? arm->link : MF_ART_WORLD; link != MF_ART_WORLD;
         link = link_up(arm, link)) {
        link_dof(arm, link, &count);
        sum += count;
    }
    return sum;
}

// Numbers of a dof: what the rows measure of its velocity.
static void fill_dof(const mf_CommonArm *arm, const double (*axes)[3], uint32_t rows, int32_t link,
                     uint32_t dof, bool rotates, double *to) {
    const double *axis = arm->own->axis[dof];
    double lever[3], velocity[3];
    mf_vec3_sub(lever, arm->point, arm->own->origin[link + 1]);
    mf_vec3_cross(velocity, axis, lever);
    for (uint32_t r = 0; r < rows; r++)
        to[r] = r >= 3 && !rotates
                    ? 0.0
                    : arm->sign * mf_vec3_dot(axes[r], r < 3 && rotates ? velocity : axis);
}

// Slots rise, so the chain is filled from its end.
void mf_common_arm_fill(const mf_CommonArm *arm, const double (*axes)[3], uint32_t rows,
                        uint32_t end, uint16_t *slots, double *numbers) {
    for (int32_t link = arm->motion != NULL ? arm->link : MF_ART_WORLD; link != MF_ART_WORLD;
         link = link_up(arm, link)) {
        uint32_t count;
        const uint32_t dof = link_dof(arm, link, &count);
        for (uint32_t k = count; k-- > 0;) {
            const bool rotates = link < 0 ? k >= 3 : arm->motion->links[link].kind != MF_ART_SLIDE;
            end--;
            slots[end] = (uint16_t)(arm->dof + dof + k);
            fill_dof(arm, axes, rows, link, dof + k, rotates, numbers + (size_t)rows * end);
        }
    }
}

// Begins a constraint with the numbers of both arms.
static mf_SparseConstraint *begin(const mf_CommonArm arms[2], ConstraintKind kind, uint32_t rows,
                                  const double (*axes)[3], mf_CommonProblem *w) {
    mf_SparseConstraint *out = &w->constraints[w->size.constraints++];
    const uint32_t first = arms[0].motion != NULL && arms[1].motion != NULL &&
                           arms[1].dof < arms[0].dof; // the side whose dofs come first
    *out = (mf_SparseConstraint){.kind = kind,
                                 .rows = rows,
                                 .row = w->size.rows,
                                 .first = w->size.numbers,
                                 .first_slot = w->size.numbers};
    for (uint32_t k = 0; k < 2; k++) {
        const mf_CommonArm *arm = &arms[k == 0 ? first : 1 - first];
        out->count += mf_common_arm_dofs(arm);
        mf_common_arm_fill(arm, axes, rows, out->count, w->slots + out->first_slot,
                           w->numbers + out->first);
    }
    w->size.rows += rows;
    w->size.numbers += rows * out->count;
    return out;
}

// out += J u
static void add_product(const mf_CommonProblem *w, const mf_SparseConstraint *c, const double *u,
                        double *out) {
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t r = 0; r < c->rows; r++)
            out[r] += w->numbers[c->first + c->rows * i + r] * u[w->slots[c->first_slot + i]];
}

// [m/s], [rad/s] What the rows measure of the side that does not answer.
static void add_given(const mf_Solver *solver, const mf_SolverConstraint *constraint, uint32_t side,
                      double *speed) {
    double rows[MF_BLOCK_VALUES], velocity[6];
    if (constraint->node[side] == MF_NONE || mf_common_side(solver, constraint, side) != NULL)
        return;
    const mf_SolverNode *node = &solver->nodes[constraint->node[side]];
    mf_link_point(&node->begin, node->center, NULL, velocity);
    mf_vec3_copy(velocity + 3, node->begin.rate);
    mf_solver_jacobian(constraint, side, rows);
    for (uint32_t r = 0; r < constraint->rows; r++)
        for (uint32_t c = 0; c < 6; c++)
            speed[r] += rows[MF_BLOCK_ROWS * r + c] * velocity[c];
}

// ---- contacts -----------------------------------------------------------------------------------

// As in a file (frame_side of problem_points.h): the world's y axis across the normal, or the z
// axis where that is too steep.
static void set_axes(mf_SolverConstraint *constraint, const double normal[3]) {
    double *side = constraint->axes[1];
    const bool steep = !(mf_abs(normal[1]) < 0.5);
    mf_vec3_copy(constraint->axes[0], normal);
    mf_vec3_set(side, 0, !steep, steep);
    mf_vec3_add_scaled(side, side, -mf_vec3_dot(normal, side), normal);
    mf_vec3_normalize(side);
    mf_vec3_cross(constraint->axes[2], normal, side);
    for (uint32_t r = 0; r < 3; r++)
        mf_vec3_copy(constraint->axes[3 + r], constraint->axes[r]);
}

// [1/kg] Of both shapes.
static double shapes_ease(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    double sum = 0.0;
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverBody *body = mf_common_side(solver, constraint, s);
        if (body != NULL)
            sum += mf_common_of(solver, body)->motion->shape_ease[contact->model_shape[s]];
    }
    return sum;
}

// Weights and references, as contact_law of problem_points.h has them within a robot.
static void set_law(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                    const mf_ArtLaw *law, mf_SparseConstraint *out, mf_CommonProblem *w) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    const double depth = contact->overlap;
    const double z = mf_softness_impedance(&contact->pair.softness, depth);
    const double ease = shapes_ease(solver, constraint);
    double speed[MF_JOINT_ROWS] = {0}, free[MF_JOINT_ROWS] = {0};
    add_product(w, out, w->speed, speed);
    add_product(w, out, w->free, free);
    for (uint32_t s = 0; s < 2; s++)
        add_given(solver, constraint, s, speed);
    for (uint32_t r = 0; r < out->rows; r++) {
        const double rest = r == 0 ? law->stiffness * z * depth - law->damping * speed[0]
                                   : -law->friction_damping * speed[r];
        w->weight[out->row + r] = z / ((1.0 - z) * ease * law->ease[r] / law->over[r]);
        w->rest[out->row + r] = rest - free[r];
    }
    if (out->kind == CONSTRAINT_ELLIPTIC)
        out->stiff = w->weight[out->row] / (law->cone * law->cone * (law->cone * law->cone + 1.0));
}

static void add_contact(const mf_Solver *solver, mf_SolverConstraint *constraint,
                        const mf_CommonArm arms[2], mf_CommonProblem *w) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    const uint32_t stating = arms[0].motion != NULL ? 0 : 1;
    const mf_SolverBody *body = mf_common_side(solver, constraint, stating);
    const mf_ArtMotion *motion = arms[stating].motion;
    mf_ArtLaw law;
    mf_art_contact_law(motion, mf_group_model(solver->trials[body->group]->group), &contact->pair,
                       &law);
    set_axes(constraint, contact->normal);
    constraint->rows = law.dimension;
    const ConstraintKind kind = law.dimension == 1       ? CONSTRAINT_ONE_SIDED
                                : motion->plan->elliptic ? CONSTRAINT_ELLIPTIC
                                                         : CONSTRAINT_PYRAMID;
    mf_SparseConstraint *out = begin(arms, kind, law.dimension, constraint->axes, w);
    out->cone = law.cone;
    memcpy(out->friction, law.friction, sizeof out->friction);
    set_law(solver, constraint, &law, out, w);
}

// ---- run-time joints ----------------------------------------------------------------------------

typedef struct JointLaw {
    double weight[MF_JOINT_ROWS]; // h / gamma
    double begin[MF_JOINT_ROWS];  // [m/s], [rad/s] J v
    double drift[MF_JOINT_ROWS];  // [m/s^2], [rad/s^2] J a0 + J' v, and what trial steps show more
    double ease[MF_JOINT_ROWS];   // [1/kg], [1/(kg m^2)] of both sides in the reference position
} JointLaw;

// Adds J' v of a side.
static void add_drift(const mf_CommonArm *arm, const double (*axes)[3], double *out) {
    double lever[3], turning[3], straight[3];
    if (arm->motion == NULL)
        return;
    const double *rate = arm->own->drift[arm->link + 1], *spin = rate + 3;
    mf_vec3_sub(lever, arm->point, arm->own->origin[arm->link + 1]);
    mf_vec3_cross(turning, rate, lever);
    mf_vec3_cross(straight, rate, turning);
    mf_vec3_add(straight, straight, rate + 6);
    mf_vec3_cross(turning, spin, lever);
    mf_vec3_add(straight, straight, turning);
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        out[r] += arm->sign * (r < 3 ? 0.5 : 1.0) * mf_vec3_dot(axes[r], r < 3 ? straight : spin);
}

// Stiff rows give way by a part of what both sides do in the reference position.
static void set_weights(const mf_SolverConstraint *constraint, const mf_JointNode *joint,
                        const mf_CommonArm arms[2], JointLaw *law) {
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++) {
        for (uint32_t s = 0; s < 2; s++)
            if (arms[s].motion != NULL)
                law->ease[r] +=
                    arms[s].motion->link_ease[2 * (size_t)(arms[s].link + 1) + (r >= 3)];
        const double own = constraint->give * law->ease[r];
        law->weight[r] = joint->gamma[r] > 0.0 ? joint->step / joint->gamma[r]
                         : own > 0.0           ? 1.0 / own
                                               : 0.0;
    }
}

// Motor or stop of a hinge, whose rows are `main`: about the axis, or against it, where `speed`
// [rad/s] is asked for.
static void add_drive(const mf_SparseConstraint *main, const mf_JointNode *joint,
                      const JointLaw *law, double sign, double speed, mf_CommonProblem *w) {
    const mf_SparseSize *size = &w->size;
    mf_SparseConstraint *out = &w->constraints[w->size.constraints++];
    *out = (mf_SparseConstraint){.kind = CONSTRAINT_ONE_SIDED,
                                 .rows = 1,
                                 .row = size->rows,
                                 .first = size->numbers,
                                 .first_slot = size->numbers,
                                 .count = main->count};
    for (uint32_t i = 0; i < main->count; i++) {
        w->slots[out->first_slot + i] = w->slots[main->first_slot + i];
        w->numbers[out->first + i] = sign * w->numbers[main->first + main->rows * i + 5];
    }
    w->weight[out->row] = law->weight[5];
    w->rest[out->row] = (speed - sign * law->begin[5]) / joint->step - sign * law->drift[5];
    w->size.rows++;
    w->size.numbers += main->count;
}

static void add_joint(const mf_Solver *solver, mf_SolverConstraint *constraint,
                      const mf_CommonArm arms[2], mf_CommonProblem *w) {
    const mf_JointNode *joint = &solver->joint_nodes[constraint->joint];
    const uint32_t rows = joint->rows == 3 ? 3 : MF_JOINT_ROWS;
    const bool drives = joint->drive.acts;
    double asked[MF_JOINT_ROWS];
    JointLaw law = {.begin = {0}};
    mf_LinkMotion motions[2];
    for (uint32_t s = 0; s < 2; s++)
        motions[s] = constraint->node[s] != MF_NONE ? solver->nodes[constraint->node[s]].begin
                                                    : mf_link_motion_world();
    mf_joint_closing(joint, motions, asked);
    mf_SparseConstraint *out = begin(arms, CONSTRAINT_QUADRATIC, rows, constraint->axes, w);
    set_weights(constraint, joint, arms, &law);
    add_product(w, out, w->speed, law.begin);
    add_product(w, out, w->free, law.drift);
    for (uint32_t s = 0; s < 2; s++) {
        add_given(solver, constraint, s, law.begin);
        add_drift(&arms[s], constraint->axes, law.drift);
    }
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        law.drift[r] += constraint->beyond[r] / joint->step;
    for (uint32_t r = 0; r < rows; r++) {
        const bool acts = r < joint->rows && !(drives && r == 5);
        w->weight[out->row + r] = acts ? law.weight[r] : 0.0;
        w->rest[out->row + r] = acts ? (asked[r] - law.begin[r]) / joint->step - law.drift[r] : 0.0;
        constraint->dead[r >= 3] = !(law.weight[r] > 0.0);
        constraint->gives[r] = joint->step * law.ease[r];
        constraint->gamma[r] = law.weight[r] > 0.0 ? joint->step / law.weight[r] : 0.0;
    }
    if (!drives)
        return;
    if (joint->drive.most > 0.0) {
        add_drive(out, joint, &law, 1.0, joint->record->motor_rate, w);
        w->constraints[w->size.constraints - 1].kind = CONSTRAINT_DRY;
        w->constraints[w->size.constraints - 1].most = joint->drive.most;
    }
    if (mf_joint_has_stops(joint->record)) {
        add_drive(out, joint, &law, 1.0, -joint->drive.low, w);
        add_drive(out, joint, &law, -1.0, joint->drive.high, w);
    }
}

// ---- both ---------------------------------------------------------------------------------------

void mf_common_add_rows(const mf_Solver *solver, mf_SolverConstraint *constraint,
                        mf_CommonProblem *problem) {
    const mf_CommonArm arms[2] = {mf_common_arm(solver, constraint, 0),
                                  mf_common_arm(solver, constraint, 1)};
    constraint->values = problem->size.constraints;
    if (constraint->joint != MF_NONE)
        add_joint(solver, constraint, arms, problem);
    else
        add_contact(solver, constraint, arms, problem);
}

// Forces of a joint, and what its rows are by the linear model.
static void take_joint(const mf_Solver *solver, mf_SolverConstraint *constraint,
                       const mf_CommonProblem *w) {
    const mf_JointNode *joint = &solver->joint_nodes[constraint->joint];
    const mf_SparseConstraint *from = &w->constraints[constraint->values];
    const double usual = usual_change * joint->step;
    for (uint32_t r = 0; r < from->rows; r++)
        constraint->moved[r] = joint->step * w->slack[from->row + r];
    const double *force = w->force + from->row + from->rows, // motor and stops are next
        *slack = w->slack + from->row + from->rows;
    if (joint->drive.acts && joint->drive.most > 0.0) {
        constraint->force[5] += *force++;
        constraint->moved[5] = joint->record->motor_rate + joint->step * *slack++;
    }
    if (joint->drive.acts && mf_joint_has_stops(joint->record)) {
        constraint->force[5] += force[0] - force[1];
        constraint->moved[5] = joint->step * slack[0] - joint->drive.low;
    }
    constraint->scale[0] = constraint->scale[1] = usual;
    for (uint32_t r = 0; r < constraint->rows; r++) {
        const double change = usual + constraint->gives[r] * mf_abs(constraint->force[r]);
        if (change > constraint->scale[r >= 3])
            constraint->scale[r >= 3] = change;
    }
}

void mf_common_take_forces(const mf_Solver *solver, mf_SolverConstraint *constraint,
                           const mf_CommonProblem *problem) {
    const mf_SparseConstraint *from = &problem->constraints[constraint->values];
    memset(constraint->force, 0, sizeof constraint->force);
    memcpy(constraint->force, problem->force + from->row, from->rows * sizeof *problem->force);
    if (constraint->joint != MF_NONE)
        take_joint(solver, constraint, problem);
}
