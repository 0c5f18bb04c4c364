// Check cases of the equations of motion under `articulated`: its algorithms against each other, on
// Mayfly's own robots, against MuJoCo, and invariance to the choice of frames.
#include <math.h>
#include <string.h>

#include "check.h"
#include "math/scalar.h"

enum { MOST = 32, MOST_POSITIONS = 40 };

static const char *const robots[] = {"models/figure.xml", "models/ant.xml", "models/hexapod.urdf",
                                     "models/quadruped.urdf"};
enum { ROBOTS = sizeof robots / sizeof *robots };

static void open_robot(mf_CheckRun *run, const char *file, mf_Time step) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, step);
    config.motions.articulated.contacts = config.motions.articulated.self_contacts =
        config.motions.articulated.limits = false;
    config.motions.articulated.motors = config.motions.articulated.input_limits = false;
    mf_rig_open_file(run, file, &config);
}

// ---- random states ------------------------------------------------------------------------------

typedef struct Draw {
    double position[MOST_POSITIONS], velocity[MOST], force[MOST];
} Draw;

// A free base with random rotation, random hinge angles, rates up to 3 rad/s, forces up to 10 N m.
static void draw_state(const mf_CheckRun *run, uint64_t number, Draw *draw) {
    const mf_Model *model = mf_group_model(run->rig.group);
    for (uint32_t i = 0; i < model->position_count; i++)
        draw->position[i] = 3.0 * mf_rig_random(1, number * MOST_POSITIONS + i);
    for (uint32_t i = 0; i < model->velocity_count; i++) {
        draw->velocity[i] = 3.0 * mf_rig_random(2, number * MOST + i);
        draw->force[i] = 10.0 * mf_rig_random(3, number * MOST + i);
    }
    mf_quat_normalize(draw->position + 3);
    mf_group_set_state(run->rig.group, 0, draw->position, draw->velocity);
}

static double largest(const double *values, uint32_t count) {
    double most = 0.0;
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

// Largest difference over the largest value.
static double apart(const double *got, const double *expected, uint32_t count) {
    double worst = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double off = fabs(got[i] - expected[i]);
        worst = mf_check_worse(worst, off);
    }
    return worst / largest(expected, count);
}

// ---- F5, F6 -------------------------------------------------------------------------------------

// Inverse dynamics of the accelerations of forward dynamics gives the forces.
static double inverse_error(const mf_CheckRun *run, const Draw *draw) {
    uint32_t n = mf_group_velocity_count(run->rig.group);
    double gain[MOST], got[MOST], bias[MOST];
    mf_articulated_forward(run->rig.group, 0, draw->force, gain);
    mf_group_inverse_dynamics(run->rig.group, 0, 1, gain, got, NULL);
    mf_group_bias(run->rig.group, 0, 1, bias, NULL);
    double scale = fmax(largest(draw->force, n), largest(bias, n));
    return apart(got, draw->force, n) * largest(draw->force, n) / scale;
}

static void check_inverse(mf_CheckRun *run, uint64_t states) {
    for (uint32_t i = 0; i < ROBOTS; i++) {
        Draw draw;
        double worst = 0.0;
        open_robot(run, robots[i], MF_MILLISECOND);
        for (uint64_t s = 0; s < states; s++) {
            draw_state(run, s, &draw);
            double off = inverse_error(run, &draw);
            worst = mf_check_worse(worst, off);
        }
        mf_check_below(run, mf_check_name(run, "%s, %d states, relative", robots[i], (int)states),
                       1e-11, worst);
    }
}

static void check_inverse_short(mf_CheckRun *run) {
    check_inverse(run, 1000);
}

static void check_inverse_full(mf_CheckRun *run) {
    check_inverse(run, 100000);
}

// Column c of the mass matrix is the difference of forces between unit and zero acceleration.
static double column_error(const mf_CheckRun *run, const double *matrix, uint32_t c) {
    uint32_t n = mf_group_velocity_count(run->rig.group);
    double unit[MOST] = {0}, zero[MOST] = {0}, with[MOST], without[MOST], column[MOST];
    unit[c] = 1.0;
    mf_group_inverse_dynamics(run->rig.group, 0, 1, unit, with, NULL);
    mf_group_inverse_dynamics(run->rig.group, 0, 1, zero, without, NULL);
    for (uint32_t i = 0; i < n; i++) {
        with[i] -= without[i];
        column[i] = matrix[i * n + c];
    }
    // Differences of forces: their rounding is that of the forces.
    return apart(with, column, n) * largest(column, n) /
           fmax(largest(column, n), largest(without, n));
}

// Smallest pivot of Cholesky's factor over the largest: > 0 for a positive definite matrix.
static double smallest_pivot(const double *matrix, uint32_t n) {
    double factor[MOST * MOST], least = INFINITY, most = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            double sum = matrix[i * n + k];
            for (uint32_t m = 0; m < k; m++)
                sum -= factor[i * n + m] * factor[k * n + m];
            factor[i * n + k] = i == k ? sqrt(fmax(sum, 0.0)) : sum / factor[k * n + k];
            if (i != k)
                continue;
            least = fmin(least, sum);
            most = fmax(most, sum);
        }
    }
    return least / most;
}

// v M v with the state moved along v for a time `ahead`.
static double energy_ahead(const mf_CheckRun *run, const Draw *draw, double ahead) {
    const mf_Model *model = mf_group_model(run->rig.group);
    double moved[MOST_POSITIONS], rotation[4], rate = mf_vec3_length(draw->velocity + 3);
    double axis[3] = {draw->velocity[3] / rate, draw->velocity[4] / rate, draw->velocity[5] / rate};
    memcpy(moved, draw->position, sizeof moved);
    mf_quat_from_axis_angle(rotation, axis, rate * ahead);
    mf_quat_multiply(moved + 3, draw->position + 3, rotation);
    for (uint32_t i = 7; i < model->position_count; i++)
        moved[i] += draw->velocity[i - 1] * ahead;
    mf_group_set_state(run->rig.group, 0, moved, draw->velocity);
    return 2.0 * mf_rig_kinetic(run);
}

// v (M' - 2 C) v, over the size of its parts. M' by differences of order 8: with 1 ms their own
// error and the rounding are both below 1e-12.
static double power_error(const mf_CheckRun *run, const Draw *draw) {
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    uint32_t n = mf_group_velocity_count(run->rig.group);
    double bias[MOST], still[MOST], none[MOST] = {0}, change = 0.0, power = 0.0, size = 0.0;
    mf_group_bias(run->rig.group, 0, 1, bias, NULL);
    mf_group_set_state(run->rig.group, 0, draw->position, none);
    mf_group_bias(run->rig.group, 0, 1, still, NULL);
    for (uint32_t i = 0; i < n; i++) {
        power += draw->velocity[i] * (bias[i] - still[i]);
        size += fabs(draw->velocity[i] * bias[i]);
    }
    for (int k = 1; k <= 4; k++)
        change += weight[k - 1] *
                  (energy_ahead(run, draw, 1e-3 * k) - energy_ahead(run, draw, -1e-3 * k)) / 1e-3;
    return fabs(change - 2.0 * power) / fmax(size, energy_ahead(run, draw, 0.0));
}

static void check_matrix(mf_CheckRun *run) {
    for (uint32_t i = 0; i < ROBOTS; i++) {
        Draw draw;
        double column = 0.0, pivot = INFINITY, power = 0.0, matrix[MOST * MOST];
        open_robot(run, robots[i], MF_MILLISECOND);
        uint32_t n = mf_group_velocity_count(run->rig.group);
        for (uint64_t s = 0; s < 300; s++) {
            draw_state(run, s, &draw);
            mf_group_mass_matrix(run->rig.group, 0, 1, matrix, NULL);
            column = mf_check_worse(column, column_error(run, matrix, (uint32_t)s % n));
            pivot = fmin(pivot, smallest_pivot(matrix, n));
            power = mf_check_worse(power, power_error(run, &draw));
        }
        mf_check_variant(run, "%s", robots[i]);
        mf_check_below(run, "columns, relative", 1e-11, column);
        mf_check_above(run, "smallest pivot over largest", 1e-9, pivot);
        mf_check_below(run, "v (M' - 2 C) v, relative", 1e-11, power);
    }
}

// ---- F7 -----------------------------------------------------------------------------------------

// Power of constant torques is the change of the energy: Simpson's rule over all steps.
static void check_power(mf_CheckRun *run) {
    Draw draw;
    enum { STEPS = 2000 };
    const double step = 1e-4;
    open_robot(run, "models/hexapod.urdf", MF_MILLISECOND / 10);
    draw_state(run, 0, &draw);
    const mf_Model *model = mf_group_model(run->rig.group);
    for (uint32_t j = 0; j < model->joint_count; j++)
        mf_rig_set(run, "joint.torque", j, 0.01 * draw.force[6 + j]);
    double energy = mf_rig_energy(run), work = 0.0, size = 0.0;
    for (int n = 0; n <= STEPS; n++) {
        double power = 0.0;
        for (uint32_t j = 0; j < model->joint_count; j++)
            power += 0.01 * draw.force[6 + j] * mf_rig_get(run, "joint.rate", j);
        double part = step / 3.0 * (n == 0 || n == STEPS ? 1 : n % 2 == 1 ? 4 : 2);
        work += power * part;
        size += fabs(power) * part;
        if (n < STEPS)
            mf_rig_step(run, 1);
    }
    mf_check_below(run, "change of energy minus work, relative [1]", 1e-9,
                   fabs(mf_rig_energy(run) - energy - work) / size);
}

// ---- F17 ----------------------------------------------------------------------------------------

typedef struct Truth { // gravity 9.81 along -z; no contacts, no limits
    const char *file;
    uint32_t positions, velocities;
    double position[MOST_POSITIONS], velocity[MOST], force[MOST]; // on all values but the base's
    double bias[MOST], gain[MOST];      // accelerations by forces less bias alone
    double mass[MOST * (MOST + 1) / 2]; // lower triangle, row by row
    double end[MOST_POSITIONS]; // after 400 steps of 0.5 ms with the joints' damping, Runge-Kutta
} Truth;

#include "check_truth.h"

#include <mayfly/dynamics.h>

static void check_truth(mf_CheckRun *run, const Truth *truth) {
    const uint32_t n = truth->velocities;
    double values[MOST * MOST], lower[MOST * (MOST + 1) / 2], end[MOST_POSITIONS];
    mf_group_set_state(run->rig.group, 0, truth->position, truth->velocity);
    mf_group_mass_matrix(run->rig.group, 0, 1, values, NULL);
    for (uint32_t i = 0, at = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            lower[at++] = values[i * n + k];
    mf_check_below(run, "mass matrix, relative", 1e-9, apart(lower, truth->mass, n * (n + 1) / 2));
    mf_group_bias(run->rig.group, 0, 1, values, NULL);
    mf_check_below(run, "bias, relative", 1e-9, apart(values, truth->bias, n));
    mf_articulated_forward(run->rig.group, 0, truth->force, values);
    mf_check_below(run, "accelerations, relative", 1e-9, apart(values, truth->gain, n));
    for (uint32_t j = 0; j + 6 < n; j++)
        mf_rig_set(run, "joint.torque", j, truth->force[6 + j]);
    mf_rig_step(run, 400);
    for (uint32_t i = 0; i < truth->positions; i++)
        end[i] = i < 3   ? mf_rig_get(run, "base.position", i)
                 : i < 7 ? mf_rig_get(run, "base.orientation", i - 3)
                         : mf_rig_get(run, "joint.angle", i - 7);
    mf_check_below(run, "base after 0.2 s [m], [1]", 1e-9, apart(end, truth->end, 7));
    mf_check_below(run, "joints after 0.2 s, relative", 1e-9,
                   apart(end + 7, truth->end + 7, truth->positions - 7));
}

static void check_truths(mf_CheckRun *run) {
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        open_robot(run, truths[i].file, MF_MILLISECOND / 2);
        mf_check_variant(run, "%s", truths[i].file);
        check_truth(run, &truths[i]);
    }
}

const mf_CheckCase mf_check_algorithms_cases[] = {
    {"F5", "inverse dynamics undoes forward dynamics", check_inverse_short},
    {"F6", "the mass matrix: columns, positive definite, no power", check_matrix},
    {"F7", "work of torques equals the change of energy", check_power},
    {"F17", "matrix, forces and base motion against MuJoCo", check_truths},
    {NULL, NULL, NULL}};

const mf_CheckCase mf_check_algorithms_full_cases[] = {
    {"F5-full", "inverse dynamics undoes forward dynamics, 100,000 states of every robot",
     check_inverse_full},
    {NULL, NULL, NULL}};
