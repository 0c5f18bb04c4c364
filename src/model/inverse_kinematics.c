// Inverse kinematics by damped least squares. With the error e of position and rotation and the
// Jacobian J of the joints that move,
//
//     step = J^T (J J^T + damping)^-1 e                                  (Wampler 1986; Buss 2004)
//
// so the system has three or six unknowns, however many joints there are. The damping falls after
// steps that lower |e| and rises after others (Marquardt 1963). A joint that a step would take
// beyond its limit stays at it, and the others take the step without it.
#include <mayfly/kinematics.h>

#include "math/scalar.h"
#include "model/points.h"
#include "base/floats.h"

enum { ROWS = 6 };

#define DAMPING_FIRST 1e-2 // [1] of the mean diagonal of J J^T
#define DAMPING_LEAST 1e-9
#define DAMPING_MOST 1e6
#define ROTATION_MOST 0.5   // [rad] longest step of a joint
#define STANDSTILL 1e-12    // [1] relative decrease of |e| that counts as none
#define UNLIMITED_SLIDE 1.0 // [m] random starts of slides without limits: +- this

typedef struct Chain {
    const mf_Model *model;
    const mf_InverseKinematicsConfig *config;
    const double *goal, *goal_rotation;
    double (*position)[3], (*rotation)[4]; // per link
    double (*column)[ROWS];                // per joint: of J
    double *step, *trial, *best;           // per joint
    bool *moves;                           // per joint: between the base and the link, not a mimic
    bool *fixed;                           // per joint: at a limit in this step
} Chain;

typedef struct Distance {
    double error[ROWS]; // position [m], rotation [m]: its vector [rad] times config->length
    double size;        // of the error
    double distance, rotation_error;
} Distance;

mf_InverseKinematicsConfig mf_inverse_kinematics_config(void) {
    return (mf_InverseKinematicsConfig){.struct_size = sizeof(mf_InverseKinematicsConfig),
                                        .link = MF_NONE,
                                        .length = 0.1,
                                        .tolerance = 1e-4,
                                        .rotation_tolerance = 1e-3,
                                        .iterations = 200,
                                        .starts = 20,
                                        .seed = 1};
}

// ---- where the link is -------------------------------------------------------------------------

static void follow(const mf_Model *model, double *angle) {
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (joint->mimic != MF_NONE)
            angle[j] = joint->multiplier * angle[joint->mimic] + joint->offset;
    }
}

static void point_of(const Chain *c, double out[3]) {
    const uint32_t link = c->config->link;
    mf_quat_rotate(out, c->rotation[link], c->config->point);
    mf_vec3_add(out, out, c->position[link]);
}

// The vector of the rotation from `now` to `goal` [rad], base frame.
static void angle_between(double out[3], const double now[4], const double goal[4]) {
    double back[4], by[4];
    mf_quat_conjugate(back, now);
    mf_quat_multiply(by, goal, back);
    const double sign = by[0] < 0.0 ? -1.0 : 1.0;
    const double sine = mf_sqrt(by[1] * by[1] + by[2] * by[2] + by[3] * by[3]);
    const double angle = 2.0 * mf_atan2(sine, sign * by[0]);
    for (int i = 0; i < 3; i++)
        out[i] = sine > 0.0 ? sign * by[1 + i] * (angle / sine) : 0.0;
}

static double length_of(const double *values, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i] * values[i];
    return mf_sqrt(sum);
}

// How far the link is from the target with these angles, whose poses are kept.
static Distance measure(const Chain *c, double *angle) {
    Distance d = {.size = 0.0};
    double at[3];
    follow(c->model, angle);
    mf_model_pose(c->model, angle, c->position, c->rotation);
    point_of(c, at);
    mf_vec3_sub(d.error, c->goal, at);
    d.distance = length_of(d.error, 3);
    if (c->config->use_rotation) {
        angle_between(d.error + 3, c->rotation[c->config->link], c->goal_rotation);
        d.rotation_error = length_of(d.error + 3, 3);
        mf_vec3_scale(d.error + 3, d.error + 3, c->config->length);
    }
    d.size = length_of(d.error, ROWS);
    return d;
}

static bool is_there(const Chain *c, const Distance *d) {
    return d->distance <= c->config->tolerance &&
           (!c->config->use_rotation || d->rotation_error <= c->config->rotation_tolerance);
}

// ---- a step ------------------------------------------------------------------------------------

// Velocities of the point and of the link's rotation per rate of each joint, at the kept poses.
static void find_columns(const Chain *c) {
    const mf_Model *model = c->model;
    double at[3];
    point_of(c, at);
    memset(c->column, 0, model->joint_count * sizeof *c->column);
    for (uint32_t link = c->config->link; link != 0;) {
        const uint32_t j = model->links[link].joint;
        const mf_Joint *joint = &model->joints[j];
        double axis[3], arm[3], velocity[3];
        mf_quat_rotate(axis, c->rotation[link], joint->axis); // the joint's own rotation keeps it
        mf_vec3_sub(arm, at, c->position[link]);
        mf_vec3_cross(velocity, axis, arm);
        const bool hinge = joint->type == MF_JOINT_HINGE;
        const bool follows = joint->mimic != MF_NONE;
        const double by = follows ? joint->multiplier : 1.0;
        double *column = c->column[follows ? joint->mimic : j];
        for (int i = 0; i < 3 && (hinge || joint->type == MF_JOINT_SLIDE); i++) {
            column[i] += by * (hinge ? velocity[i] : axis[i]);
            if (hinge && c->config->use_rotation)
                column[3 + i] += by * axis[i] * c->config->length;
        }
        link = joint->parent;
    }
}

// Solves matrix x = x in place for a positive definite matrix, by its factors L L^T.
static void solve(double matrix[ROWS][ROWS], double x[ROWS]) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = matrix[i][j];
            for (int k = 0; k < j; k++)
                sum -= matrix[i][k] * matrix[j][k];
            matrix[i][j] = i == j ? mf_sqrt(sum) : sum / matrix[j][j];
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= matrix[i][k] * x[k];
        x[i] /= matrix[i][i];
    }
    for (int i = ROWS; i-- > 0;) {
        for (int k = i + 1; k < ROWS; k++)
            x[i] -= matrix[k][i] * x[k];
        x[i] /= matrix[i][i];
    }
}

// The step of the joints that are not fixed.
static void find_step(const Chain *c, const Distance *d, double damping) {
    double matrix[ROWS][ROWS] = {{0}}, x[ROWS], trace = 0.0;
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        for (int r = 0; r < ROWS && c->moves[j] && !c->fixed[j]; r++) {
            for (int k = 0; k < ROWS; k++)
                matrix[r][k] += c->column[j][r] * c->column[j][k];
        }
    }
    for (int r = 0; r < ROWS; r++)
        trace += matrix[r][r];
    const double added = damping * (trace > 0.0 ? trace / ROWS : 1.0);
    for (int r = 0; r < ROWS; r++) {
        matrix[r][r] += added;
        x[r] = d->error[r];
    }
    solve(matrix, x);
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        c->step[j] = 0.0;
        for (int r = 0; r < ROWS && c->moves[j] && !c->fixed[j]; r++)
            c->step[j] += c->column[j][r] * x[r];
        c->step[j] = mf_clamp(c->step[j], -ROTATION_MOST, ROTATION_MOST);
    }
}

// Holds joints that the step takes out of their limits, from where they are at these; true: there
// are more of them than before.
static bool hold_joints(const Chain *c, const double *angle) {
    bool more = false;
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        const mf_Joint *joint = &c->model->joints[j];
        const bool out = (c->step[j] < 0.0 && angle[j] <= joint->lower) ||
                         (c->step[j] > 0.0 && angle[j] >= joint->upper);
        more |= out && !c->fixed[j];
        c->fixed[j] |= out;
    }
    return more;
}

static void take_step(const Chain *c, const double *angle) {
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        const mf_Joint *joint = &c->model->joints[j];
        c->trial[j] = angle[j];
        if (c->moves[j])
            c->trial[j] = mf_clamp(angle[j] + c->step[j], joint->lower, joint->upper);
    }
}

// From these angles to the nearest pose that steps lead to.
static Distance descend(const Chain *c, double *angle, uint32_t *iterations) {
    const size_t bytes = c->model->joint_count * sizeof *angle;
    double damping = DAMPING_FIRST;
    Distance now = measure(c, angle);
    for (uint32_t i = 0; i < c->config->iterations && !is_there(c, &now); i++) {
        ++*iterations;
        find_columns(c);
        Distance then = now;
        bool lower = false;
        for (; !lower && damping <= DAMPING_MOST; damping *= lower ? 0.2 : 5.0) {
            memset(c->fixed, 0, c->model->joint_count * sizeof *c->fixed);
            do
                find_step(c, &now, damping);
            while (hold_joints(c, angle));
            take_step(c, angle);
            then = measure(c, c->trial);
            lower = then.size < now.size * (1.0 - STANDSTILL);
        }
        if (!lower)
            break;
        damping = damping > DAMPING_LEAST ? damping : DAMPING_LEAST;
        memcpy(angle, c->trial, bytes);
        now = then;
    }
    return now;
}

// ---- starts ------------------------------------------------------------------------------------

static void limit(const Chain *c, double *angle) {
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        if (c->moves[j])
            angle[j] = mf_clamp(angle[j], c->model->joints[j].lower, c->model->joints[j].upper);
    }
}

static void random_start(const Chain *c, uint32_t start, double *angle) {
    for (uint32_t j = 0; j < c->model->joint_count; j++) {
        const mf_Joint *joint = &c->model->joints[j];
        const double most = joint->type == MF_JOINT_SLIDE ? UNLIMITED_SLIDE : MF_PI;
        double lower = joint->lower, upper = joint->upper;
        uint32_t word[4];
        if (!c->moves[j])
            continue;
        if (!mf_is_finite(lower) || !mf_is_finite(upper)) {
            lower = mf_is_finite(lower) ? lower : mf_is_finite(upper) ? upper - 2.0 * most : -most;
            upper = mf_is_finite(upper) ? upper : lower + 2.0 * most;
        }
        mf_random(c->config->seed, j, 0x494b5354u, start, word);
        angle[j] = lower + (upper - lower) * mf_random_unit_double(word[0], word[1]);
    }
}

static void search(const Chain *c, double *angle, mf_InverseKinematicsResult *out) {
    const size_t bytes = c->model->joint_count * sizeof *angle;
    double least = 0.0;
    memcpy(c->best, angle, bytes);
    for (uint32_t start = 0; start < c->config->starts && !out->reached; start++) {
        if (start > 0)
            random_start(c, start, angle);
        limit(c, angle);
        const Distance d = descend(c, angle, &out->iterations);
        out->starts = start + 1;
        if (start > 0 && d.size >= least && !is_there(c, &d))
            continue;
        memcpy(c->best, angle, bytes);
        least = d.size;
        out->distance = d.distance;
        out->rotation_error = d.rotation_error;
        out->reached = is_there(c, &d);
    }
    memcpy(angle, c->best, bytes);
}

// ---- the call ----------------------------------------------------------------------------------

static mf_Status check(const mf_Model *model, const mf_InverseKinematicsConfig *config,
                       const double *position, const double *rotation, const double *angle,
                       mf_Error *error) {
    if (model == NULL || config == NULL || position == NULL || angle == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "inverse kinematics: an argument is NULL");
    MF_NEED(config->struct_size == sizeof *config, error,
            "inverse kinematics: start from mf_inverse_kinematics_config()");
    if (config->link == 0 || config->link >= model->link_count)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "inverse kinematics: link %u, need one of 1 .. %u that joints move",
                       config->link, model->link_count - 1);
    MF_NEED(mf_all_finite(position, 3) && mf_all_finite(config->point, 3) &&
                mf_all_finite(angle, model->joint_count),
            error, "inverse kinematics: position, point or angle: not a finite number");
    MF_NEED(config->length > 0.0 && config->tolerance > 0.0 && config->rotation_tolerance > 0.0 &&
                config->iterations != 0 && config->starts != 0,
            error,
            "inverse kinematics: length, tolerance, turn_tolerance, iterations and "
            "starts: need more than 0");
    if (config->use_rotation &&
        (rotation == NULL || !mf_all_finite(rotation, 4) || length_of(rotation, 4) < 1e-12))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "inverse kinematics: rotation: need four numbers that are not all 0");
    return MF_OK;
}

static mf_Status reserve(mf_Context *context, Chain *c, void **scratch, mf_Error *error) {
    const size_t links = c->model->link_count, joints = c->model->joint_count;
    const size_t values = 7 * links + (ROWS + 3) * joints;
    double *next = mf_allocate(context, values * sizeof *next + 2 * joints * sizeof(bool), 1);
    MF_NEED_MEMORY(next != NULL, error, "inverse kinematics");
    *scratch = next;
    c->position = (double(*)[3])(void *)next;
    c->rotation = (double(*)[4])(void *)(next + 3 * links);
    next += 7 * links;
    c->column = (double(*)[ROWS])(void *)next;
    c->step = next + ROWS * joints;
    c->trial = c->step + joints;
    c->best = c->trial + joints;
    c->moves = (bool *)(void *)(c->best + joints);
    c->fixed = c->moves + joints;
    return MF_OK;
}

static void find_moving(const Chain *c) {
    for (uint32_t link = c->config->link; link != 0;) {
        const uint32_t j = c->model->links[link].joint;
        const mf_Joint *joint = &c->model->joints[j];
        const uint32_t lead = joint->mimic != MF_NONE ? joint->mimic : j;
        const mf_JointType type = c->model->joints[lead].type;
        c->moves[lead] |= type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE;
        link = joint->parent;
    }
}

mf_Status mf_inverse_kinematics(mf_Context *context, const mf_Model *model,
                                const mf_InverseKinematicsConfig *config, const double position[3],
                                const double rotation[4], double *angle,
                                mf_InverseKinematicsResult *result, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_InverseKinematicsResult found = {.reached = false};
    double unit[4] = {1.0, 0.0, 0.0, 0.0};
    void *scratch = NULL;
    MF_TRY(check(model, config, position, rotation, angle, error));
    Chain c = {.model = model, .config = config, .goal = position, .goal_rotation = unit};
    if (config->use_rotation) {
        memcpy(unit, rotation, sizeof unit);
        mf_quat_normalize(unit);
    }
    MF_TRY(reserve(context, &c, &scratch, error));
    find_moving(&c);
    search(&c, angle, &found);
    follow(model, angle);
    mf_release(context, scratch);
    if (result != NULL)
        *result = found;
    return MF_OK;
}
