// Check cases of conservation and convergence under `articulated`: energy, momentum of collisions,
// orders of the integrators (D12, F13, F16 of the literature list).
#include <math.h>
#include <string.h>

#include "check.h"

#include <mayfly/dynamics.h>

static const char *const integrator_names[3] = {"implicit", "Euler", "Runge-Kutta"};

// ---- D12 ----------------------------------------------------------------------------------------

// An arm of two hinges with springs and dampers on a free base, driven by constant torques.
static const char driven[] =
    "<mujoco><worldbody><body pos='0 0 5'><freejoint/><inertial pos='0.05 0 0.1' mass='3' "
    "diaginertia='0.1 0.15 0.12'/><body pos='0.2 0.1 0'><joint axis='2 1 2' damping='0.3' "
    "stiffness='2'/><inertial pos='0.2 0 0.05' mass='1' diaginertia='0.01 0.02 0.015'/>"
    "<body pos='0.4 0 0'><joint axis='0 1 0' damping='0.1' stiffness='1'/>"
    "<inertial pos='0 0 -0.2' mass='0.5' diaginertia='0.006 0.006 0.001'/></body></body></body>"
    "</worldbody></mujoco>";

// Energy gain minus the work of torques and dampers, after half a second.
static double residual(mf_CheckRun *run, mf_ArticulatedIntegrator integrator, mf_Time step) {
    static const double torque[2] = {1.0, -0.5}, damping[2] = {0.3, 0.1};
    mf_RigConfig config = mf_rig_config(integrator, step);
    config.motions.articulated.contacts = false;
    mf_rig_open_text(run, driven, &config);
    int steps = (int)(MF_SECOND / 2 / step);
    double energy = mf_rig_energy(run), work = 0.0, h = mf_time_to_seconds(step);
    for (uint32_t j = 0; j < 2; j++) {
        mf_rig_set(run, "joint.torque", j, torque[j]);
        mf_rig_set(run, "joint.rate", j, 1.0 - 2.0 * j);
    }
    energy = mf_rig_energy(run);
    for (int n = 0; n <= steps; n++) { // Simpson's rule
        double part = h / 3.0 * (n == 0 || n == steps ? 1 : n % 2 == 1 ? 4 : 2);
        for (uint32_t j = 0; j < 2; j++) {
            double rate = mf_rig_get(run, "joint.rate", j);
            work += part * (torque[j] - damping[j] * rate) * rate;
        }
        if (n < steps)
            mf_rig_step(run, 1);
    }
    return mf_rig_energy(run) - energy - work;
}

static void residual_order(mf_CheckRun *run, mf_ArticulatedIntegrator integrator, mf_Time step,
                           double order) {
    const double left[2] = {residual(run, integrator, step), residual(run, integrator, step >> 1)};
    mf_check_near(
        run, mf_check_name(run, "%s: order of energy minus work", integrator_names[integrator]),
        order, log2(fabs(left[0] / left[1])), 0.1);
}

// Kinetic, potential and elastic energy of a box of eight corners over level ground.
static double box_energy(const mf_CheckRun *run) {
    double position[1][3], rotation[1][4], energy = mf_rig_energy(run);
    const double stiffness = mf_articulated_config_of(run->rig.group)->contact_stiffness;
    mf_group_link_poses(run->rig.group, 0, 1, position[0], rotation[0], NULL);
    const double w = rotation[0][0], x = rotation[0][1], y = rotation[0][2], z = rotation[0][3];
    for (int i = 0; i < 8; i++) {
        double height = position[0][2] + 2.0 * (x * z - w * y) * (i & 1 ? 0.2 : -0.2) +
                        2.0 * (y * z + w * x) * (i & 2 ? 0.15 : -0.15) +
                        (1.0 - 2.0 * (x * x + y * y)) * (i & 4 ? 0.1 : -0.1);
        energy += 0.5 * stiffness * fmin(height, 0.0) * fmin(height, 0.0);
    }
    return energy;
}

// A box that is dropped on an edge tumbles to rest. The largest gain of energy in a step, over that
// of the drop, from the first touch to rest and at rest.
static void check_dissipation(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_rig_start(run);
    mf_rig_body(run, 0, 2.0, (double[3]){0, 0, 0}, (double[3]){0.02167, 0.03333, 0.04167});
    mf_rig_corners(run, 8, 0.2, 0.15, 0.1, 0.0);
    config.motions.articulated.contact_stiffness = 1e5;
    config.motions.articulated.contact_depth = 1.0;
    config.motions.articulated.friction = 0.5;
    mf_rig_open(run, &config);
    const double tilt = 25 * MF_CHECK_DEGREE, drop = 2.0 * 9.81 * 0.3;
    mf_rig_set3(run, "base.position", 0, 0, 0.5);
    mf_rig_set(run, "base.orientation", 0, cos(0.5 * tilt));
    mf_rig_set(run, "base.orientation", 1, sin(0.5 * tilt));
    double before = box_energy(run), worst = -INFINITY, rest = -INFINITY, start = before;
    for (int n = 0; n < 6000; n++) {
        mf_rig_step(run, 1);
        double now = box_energy(run);
        double *gain = n < 5000 ? &worst : &rest;
        *gain = mf_check_worse(*gain, (now - before) / drop);
        before = now;
    }
    mf_check_below(run, "falling box: largest energy gain of a step over the energy of the drop",
                   1e-12, worst);
    mf_check_below(run, "at rest: largest energy gain of a step over the energy of the drop", 1e-12,
                   rest);
    mf_check_above(run, "energy loss over the energy of the drop", 0.5, (start - before) / drop);
    residual_order(run, MF_ARTICULATED_RK4, 10 * MF_MILLISECOND, 4.0);
    residual_order(run, MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND, 1.0);
}

// ---- F13 ----------------------------------------------------------------------------------------

// A robot of 18 degrees of freedom (a trunk of 20 kg on four legs of three hinges) and a ball of
// 10 kg above its back.
static void describe_hit(mf_RigText *text) {
    mf_rig_text_add(text,
                    "<mujoco><default><joint damping='0.5'/></default><worldbody><body pos='0 0 1'>"
                    "<freejoint/><geom type='box' size='0.3 0.15 0.1' mass='20'/>");
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? 0.25 : -0.25, y = i & 2 ? 0.15 : -0.15;
        mf_rig_text_add(
            text,
            "<body pos='%g %g 0'><joint axis='1 0 0'/><geom type='sphere' size='0.05' mass='1'/>"
            "<body pos='0 %g 0'><joint axis='0 1 0'/><geom type='capsule' size='0.03' "
            "fromto='0 0 -0.05 0.05 0 -0.25' mass='2'/><body pos='0.05 0 -0.3'>"
            "<joint axis='0 1 0'/><geom type='capsule' size='0.025' "
            "fromto='0 0 -0.05 -0.05 0 -0.3' mass='0.5'/></body></body></body>",
            x, y, 0.5 * y);
    }
    mf_rig_text_add(text,
                    "</body><body pos='0.05 0.02 1.5'><freejoint/><geom type='sphere' size='0.1' "
                    "mass='10'/></body></worldbody></mujoco>");
}

// The ball moves down at 5 m/s, without gravity (SimBenchmark). Friction is viscous below 0.1 m/s:
// an explicit method cannot follow a steeper slope.
static void check_hit(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 50);
    mf_RigText text = {.used = 0};
    double worst = 0.0, torque = 0.0;
    config.world.gravity = 0.0;
    config.motions.articulated.contacts = false;
    config.motions.articulated.contact_stiffness = 1e5;
    config.motions.articulated.contact_damping = 200.0;
    config.motions.articulated.contact_depth = 1.0;
    config.motions.articulated.slip_speed = 0.1;
    describe_hit(&text);
    mf_rig_open_text(run, text.text, &config);
    mf_rig_set(run, "free.velocity", 5, -5.0);
    const mf_RigMomentum start = mf_rig_momentum(run);
    for (int n = 0; n < 50; n++) {
        mf_rig_step(run, 200);
        const mf_RigMomentum now = mf_rig_momentum(run);
        worst = mf_check_worse(worst, mf_rig_apart(now.linear, start.linear) / 50.0);
        torque = mf_check_worse(torque, mf_rig_apart(now.angular, start.angular) /
                                            mf_rig_apart(start.angular, NULL));
    }
    mf_check_below(run, "change of linear momentum, relative [1]", 1e-9, worst);
    mf_check_below(run, "change of angular momentum, relative [1]", 1e-9, torque);
    mf_check_above(run, "loss of speed of the ball [m/s]", 2.0,
                   mf_rig_get(run, "free.velocity", 5) + 5.0);
}

// ---- F16 ----------------------------------------------------------------------------------------

enum { MOST_VALUES = 64 };

typedef struct Trial {
    const char *name, *text, *file; // MJCF text, or a file of Mayfly's
    double rate;                    // [rad/s], [m/s] of joint j at the start, times cos(j)
    mf_Time time;
    void (*set_up)(mf_RigConfig *config);
} Trial;

static const char chain[] =
    "<mujoco><default><joint axis='0 1 0' damping='0.002'/><geom type='capsule' size='0.02' "
    "fromto='0 0 0 0 0 -0.3' mass='0.4'/></default><worldbody><body pos='0 0 3'><joint/><geom/>"
    "<body pos='0 0 -0.3'><joint axis='1 1 0'/><geom/><body pos='0 0 -0.3'><joint/><geom/>"
    "<body pos='0 0 -0.3'><joint axis='1 0 0'/><geom/><body pos='0 0 -0.3'><joint/><geom/></body>"
    "</body></body></body></body></worldbody></mujoco>";

// Two fingers press on a block between them and lift it; the servos are the fingers' springs.
static const char grasp[] =
    "<mujoco><default><geom friction='1'/></default><worldbody><body pos='0 0 1'>"
    "<joint type='slide' axis='0 0 1' stiffness='400' damping='30' springref='0.1'/>"
    "<geom type='box' size='0.1 0.05 0.02' pos='0 0 0.2' mass='1'/>"
    "<body pos='-0.07 0 0'><joint type='slide' axis='1 0 0' stiffness='500' damping='20' "
    "springref='0.05'/><geom type='box' size='0.02 0.03 0.05' mass='0.3'/></body>"
    "<body pos='0.07 0 0'><joint type='slide' axis='-1 0 0' stiffness='500' damping='20' "
    "springref='0.05'/><geom type='box' size='0.02 0.03 0.05' mass='0.3'/></body></body>"
    "<body pos='0 0 1'><freejoint/><geom type='box' size='0.0503 0.03 0.03' mass='0.2'/></body>"
    "</worldbody></mujoco>";

static void set_up_free(mf_RigConfig *config) {
    config->motions.articulated.contacts = config->motions.articulated.self_contacts = false;
}

// Contacts of one law at all steps (the default follows the step).
static void set_up_grasp(mf_RigConfig *config) {
    config->motions.articulated.contacts = false;
    config->motions.articulated.contact_stiffness = 2e4;
    config->motions.articulated.contact_damping = 100.0;
    config->motions.articulated.sweeps = 200;
}

static void read_state(const mf_CheckRun *run, double *out) {
    static const char *const names[4] = {"base.position", "base.orientation", "joint.angle",
                                         "free.position"};
    uint32_t used = 0;
    memset(out, 0, MOST_VALUES * sizeof *out);
    for (int i = 0; i < 4; i++) {
        const mf_Field *field = mf_group_find_field(run->rig.group, names[i]);
        for (uint32_t c = 0; field != NULL && c < field->components && used < MOST_VALUES; c++)
            out[used++] = mf_field_get(field, 0, c);
    }
}

static void end_of(mf_CheckRun *run, const Trial *trial, mf_ArticulatedIntegrator integrator,
                   mf_Time step, double *out) {
    mf_RigConfig config = mf_rig_config(integrator, step);
    trial->set_up(&config);
    if (trial->text != NULL)
        mf_rig_open_text(run, trial->text, &config);
    else
        mf_rig_open_file(run, trial->file, &config);
    const mf_Model *model = mf_group_model(run->rig.group);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].type == MF_JOINT_HINGE || model->joints[j].type == MF_JOINT_SLIDE)
            mf_rig_set(run, "joint.rate", j, trial->rate * cos(j));
    mf_rig_step(run, (uint64_t)(trial->time / step));
    read_state(run, out);
}

static double distance(const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < MOST_VALUES; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

// Distance of the ends at h and h/2 from that at h/64. Of order p it falls by
// (1 - 64^-p) / (2^-p - 64^-p), so the slope seen at order 1 is 1.02.
static void check_order(mf_CheckRun *run, const Trial *trial, mf_ArticulatedIntegrator integrator,
                        mf_Time step, double order) {
    static const int parts[3] = {64, 1, 2};
    double ends[3][MOST_VALUES];
    for (int i = 0; i < 3; i++) {
        end_of(run, trial, integrator, step / parts[i], ends[i]);
    }
    double off[2] = {distance(ends[1], ends[0]), distance(ends[2], ends[0])};
    mf_check_near(run,
                  mf_check_name(run, "%s, %s: slope from %g ms", trial->name,
                                integrator_names[integrator], 1e3 * mf_time_to_seconds(step)),
                  order, log2(off[0] / off[1]), 0.1);
}

static void check_consistency(mf_CheckRun *run) {
    static const Trial trials[3] = {
        {"chain", chain, NULL, 2.0, 256 * MF_MILLISECOND, set_up_free},
        {"humanoid", NULL, "models/figure.xml", 1.0, 128 * MF_MILLISECOND, set_up_free},
        {"grasp", grasp, NULL, 0.0, 256 * MF_MILLISECOND, set_up_grasp}};
    for (int i = 0; i < 3; i++) {
        check_order(run, &trials[i], MF_ARTICULATED_IMPLICIT, MF_MILLISECOND, 1.0);
        if (i < 2)
            check_order(run, &trials[i], MF_ARTICULATED_EULER, MF_MILLISECOND, 1.0);
        if (i < 2)
            check_order(run, &trials[i], MF_ARTICULATED_RK4, 4 * MF_MILLISECOND, 4.0);
    }
}

const mf_CheckCase mf_check_energy_cases[] = {
    {"D12", "contacts and dampers generate no energy", check_dissipation},
    {"F13", "a ball of 10 kg hits a robot: momentum", check_hit},
    {"F16", "difference to the same run at 1/64 of the step", check_consistency},
    {NULL, NULL, NULL}};
