// Check cases of the motions with driven joints, `rigid` and `prescribed`: the same results as
// under `articulated` where only the base moves; reactions of driven joints; the contact law of
// `rigid`.
#include <mayfly/motion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_rig.h"
#include "model/import/mjcf.h"

static const double none[3] = {0, 0, 0};
static const double along_y[3] = {0, 1, 0}, along_z[3] = {0, 0, 1}, along_x[3] = {1, 0, 0};
static const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
static const mf_Motion both[2] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED};

typedef struct Ladder {
    mf_Motion motion;
    mf_WorldConfig world;
    mf_RigidConfig rigid;
    mf_PrescribedConfig prescribed;
} Ladder;

static Ladder ladder(mf_Motion motion, mf_ArticulatedIntegrator integrator, mf_Time step) {
    Ladder config = {motion, mf_world_config(), mf_rigid_config(), mf_prescribed_config()};
    config.world.step = step;
    config.rigid.integrator = config.prescribed.integrator = integrator;
    // Expected values are for rigid ground: as stiff as the step allows, points without torsional
    // friction.
    config.rigid.contact_time = config.prescribed.contact_time = 0.0;
    config.rigid.torsional_friction = 0.0;
    return config;
}

// A world with that model under that motion; mf_rig_close destroys it and rig->model.
static mf_Status open_model(mf_Rig *rig, mf_Context *context, const mf_Model *model,
                            const Ladder *config, mf_Error *error) {
    mf_GroupConfig group = mf_group_config();
    group.model = model;
    group.double_precision = true;
    rig->world = NULL;
    mf_Status status = mf_world_create(context, &config->world, &rig->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(rig->world, &group, &rig->group, error);
    if (status == MF_OK)
        status = config->motion == MF_MOTION_RIGID
                     ? mf_rigid_add(rig->group, &config->rigid, error)
                     : mf_prescribed_add(rig->group, &config->prescribed, error);
    if (status != MF_OK) {
        mf_world_destroy(rig->world);
        mf_model_destroy(rig->model);
    }
    return status;
}

static mf_Status open_ladder(mf_Rig *rig, mf_Context *context, const Ladder *config,
                             mf_Error *error) {
    rig->model = NULL;
    return open_model(rig, context, &rig->hand.model, config, error);
}

static mf_Status open_text(mf_Rig *rig, mf_Context *context, const char *text, const Ladder *config,
                           mf_Error *error) {
    const mf_ImportConfig import = mf_import_config();
    mf_Status status =
        mf_mjcf_parse(context, "check.xml", text, strlen(text), &import, true, &rig->model, error);
    return status == MF_OK ? open_model(rig, context, rig->model, config, error) : status;
}

static const char *named(char out[80], mf_Motion motion, const char *what) {
    snprintf(out, 80, "%s: %s", mf_motion_name(motion), what);
    return out;
}

// ---- tumbling -----------------------------------------------------------------------------------

// NESC check case 2 (NASA/TM-2015-218675), of a brick in two halves of equal center and inertia on
// an oblique hinge away from it, whose target is constant.
static mf_Status check_brick(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double half[3] = {0.00094711, 0.0031055095, 0.0035973325};
    static const double center[3] = {-0.1, 0.2, -0.3};
    static const double expected[3][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_RK4, MF_MILLISECOND);
        mf_Rig rig;
        config.world.gravity = 0.0;
        mf_hand_start(&rig.hand, context);
        mf_rig_body(&rig, 0, 0.5, none, half);
        mf_rig_body(&rig, mf_hand_hinge(&rig.hand, 0, 0.1, -0.2, 0.3, oblique), 0.5, center, half);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        for (uint32_t c = 0; c < 3; c++)
            mf_rig_set(&rig, "base.angular_velocity", c, 10.0 * (c + 1) * MF_CHECK_DEGREE);
        for (int row = 0, now = 0; row < 3; row++) {
            mf_world_step(rig.world, (uint64_t)(1000 * ((int)expected[row][0] - now)));
            now = (int)expected[row][0];
            for (uint32_t c = 0; c < 3; c++) {
                char what[40], line[80];
                snprintf(what, sizeof what, "rate about %c at %d s [deg/s]", 'x' + (int)c, now);
                mf_check_near(run, named(line, both[i], what), expected[row][1 + c],
                              mf_rig_get(&rig, "base.angular_velocity", c) / MF_CHECK_DEGREE, 1e-8);
            }
        }
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// I = (1, 2, 3), w = (0.01, 1, 0): rotation about the intermediate axis is unstable.
static mf_Status check_middle_axis(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double moments[3] = {1, 2, 3}, expected[2] = {10.37730, 31.13191};
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_RK4, 2 * MF_MILLISECOND);
        mf_Rig rig;
        char line[80];
        config.world.gravity = 0.0;
        mf_hand_start(&rig.hand, context);
        mf_rig_body(&rig, 0, 1.0, none, moments);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.angular_velocity", 0.01, 1, 0);
        double before = 1.0;
        int crossings = 0;
        for (int n = 0; n < 17500 && crossings < 2; n++) {
            mf_world_step(rig.world, 1);
            double now = mf_rig_get(&rig, "base.angular_velocity", 1);
            if ((now > 0.0) != (before > 0.0))
                mf_check_near(run, named(line, both[i], "zero of the middle rate [s]"),
                              expected[crossings++],
                              mf_rig_time(&rig) - 2e-3 * now / (now - before), 1e-5);
            before = now;
        }
        mf_check_near(run, named(line, both[i], "passes in 35 s"), 2, crossings, 0);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A box of 0.2 x 0.4 x 0.6 m and 1 kg. At this step Runge-Kutta itself is off by 1e-8.
static mf_Status check_box(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double moments[3] = {0.52 / 12, 0.40 / 12, 0.20 / 12};
    static const double expected[3] = {0.28086194, -2.43226694, 2.75010148};
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_RK4, 10 * MF_MILLISECOND);
        mf_Rig rig;
        config.world.gravity = 0.0;
        mf_hand_start(&rig.hand, context);
        mf_rig_body(&rig, 0, 1.0, none, moments);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.angular_velocity", 1, 2, 3);
        mf_world_step(rig.world, 500);
        for (uint32_t c = 0; c < 3; c++) {
            char what[40], line[80];
            snprintf(what, sizeof what, "rate about %c after 5 s [rad/s]", 'x' + (int)c);
            mf_check_near(run, named(line, both[i], what), expected[c],
                          mf_rig_get(&rig, "base.angular_velocity", c), 2e-8);
        }
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// ---- reactions ----------------------------------------------------------------------------------

static void build_wheel(mf_Rig *rig) {
    static const double base[3] = {1, 1, 0.8}, wheel[3] = {0.1, 0.1, 0.2};
    mf_rig_body(rig, 0, 3.0, none, base);
    mf_rig_body(rig, mf_hand_hinge(&rig->hand, 0, 0, 0, 0, along_z), 1.0, none, wheel);
}

static double yaw_of(const mf_Rig *rig) {
    return 2.0 *
           atan2(mf_rig_get(rig, "base.orientation", 3), mf_rig_get(rig, "base.orientation", 0));
}

// A wheel of moment 0.2 rotates on a base of moment 0.8: the base rotates by -0.2/(0.2 + 0.8) of
// it; under `rigid` it does not, since moving limbs have no reaction there.
static mf_Status check_wheel(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_RK4, MF_MILLISECOND);
        mf_Rig rig;
        char line[80];
        config.world.gravity = 0.0;
        mf_hand_start(&rig.hand, context);
        build_wheel(&rig);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        for (int n = 0; n < 100; n++) {
            mf_rig_set(&rig, "joint.target", 0, 0.5 * sin(0.07 * n) + 0.01 * n);
            mf_world_step(rig.world, 10);
        }
        mf_check_near(run, named(line, both[i], "rotation of the base over that of its wheel"),
                      both[i] == MF_MOTION_RIGID ? 0.0 : -0.2,
                      yaw_of(&rig) / mf_rig_get(&rig, "joint.angle", 0), 1e-12);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static void build_flailer(mf_Rig *rig) {
    static const double centers[5][3] = {
        {0.05, -0.02, 0.1}, {0.2, 0, 0.05}, {0, 0, -0.2}, {0, 0.1, 0}, {0.01, 0.02, 0}};
    static const double moments[5][3] = {{0.1, 0.15, 0.12},
                                         {0.01, 0.02, 0.015},
                                         {0.006, 0.006, 0.001},
                                         {0.004, 0.005, 0.006},
                                         {0.003, 0.003, 0.005}};
    mf_rig_body(rig, 0, 3.0, centers[0], moments[0]);
    uint32_t arm = mf_hand_hinge(&rig->hand, 0, 0.2, 0.1, 0, oblique);
    mf_rig_body(rig, arm, 1.0, centers[1], moments[1]);
    uint32_t hand = mf_hand_hinge(&rig->hand, arm, 0.4, 0, 0, along_y);
    mf_rig_body(rig, hand, 0.5, centers[2], moments[2]);
    uint32_t other = mf_hand_slide(&rig->hand, 0, -0.2, 0, 0.1, along_x);
    mf_rig_body(rig, other, 0.7, centers[3], moments[3]);
    uint32_t wheel = mf_hand_hinge(&rig->hand, other, 0, 0.1, 0.1, along_z);
    mf_rig_body(rig, wheel, 0.4, centers[4], moments[4]);
}

// Flailing arms in flight: the center of mass stays on its parabola.
static mf_Status check_flailing(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    Ladder config = ladder(MF_MOTION_PRESCRIBED, MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    mf_hand_start(&rig.hand, context);
    build_flailer(&rig);
    mf_Status status = open_ladder(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.position", 0, 0, 100);
    mf_rig_set3(&rig, "base.linear_velocity", 1, -2, 3);
    mf_rig_set3(&rig, "base.angular_velocity", 0.5, 1, -0.7);
    double center[3], linear[3], angular[3], position[3], force[3], rate[3];
    double distance = 0.0, angle = 0.0, size = 0.0, mass = rig.hand.model.mass, swept = 0.0;
    mf_prescribed_momentum(rig.group, 0, center, linear, angular);
    for (int n = 0; n < 100; n++) {
        for (uint32_t j = 0; j < 4; j++)
            mf_rig_set(&rig, "joint.target", j,
                       (j == 2 ? 0.1 : 0.6) * (1.0 - cos(0.02 * n * (j + 1.0))));
        mf_world_step(rig.world, 10);
        swept = fmax(swept, fabs(mf_rig_get(&rig, "joint.rate", 0)));
    }
    mf_prescribed_momentum(rig.group, 0, position, force, rate);
    for (int c = 0; c < 3; c++) {
        double fall = c == 2 ? -0.5 * 9.81 : 0.0;
        distance =
            mf_check_worse(distance, fabs(position[c] - center[c] - linear[c] / mass - fall));
        angle = mf_check_worse(angle, fabs(rate[c] - angular[c]));
        size = fmax(size, fabs(angular[c]));
    }
    mf_check_below(run, "distance of the center of mass from a parabola [m]", 1e-10, distance);
    mf_check_below(run, "change of angular momentum, relative [1]", 1e-10, angle / size);
    mf_check_above(run, "largest rate of the arm [rad/s]", 1.0, swept);
    return mf_rig_close(&rig, error);
}

// The base of a servo's wheel under `articulated` converges to that under `prescribed` as 1 / gain:
// a servo that follows p(t) lags by J p'' / gain (J = 0.2 * 0.8 / 1.0, where p' is 0), for p = a (1
// - cos w t)^2 with a 0.1, w 2, so at w t = pi p is 4 a, p' 0 and p'' -4 a w^2.
static mf_Status check_stiff(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    Ladder config = ladder(MF_MOTION_PRESCRIBED, MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    config.world.gravity = 0.0;
    config.prescribed.control_interval = MF_MILLISECOND;
    mf_hand_start(&rig.hand, context);
    build_wheel(&rig);
    mf_Status status = open_ladder(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    for (int n = 0; n < 1571; n++) { // reached at the end of the step
        double part = 1.0 - cos(2.0 * 1e-3 * (n + 1.0));
        mf_rig_set(&rig, "joint.target", 0, 0.1 * part * part);
        mf_world_step(rig.world, 1);
    }
    const double rails = yaw_of(&rig);
    status = mf_rig_close(&rig, error);
    mf_check_near(run, "base with prescribed joints [rad]", -0.2 * 0.4, rails, 1e-6);
    for (int i = 0; i < 3 && status == MF_OK; i++) {
        mf_RigConfig full = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
        const double gain = pow(10, 2 + i);
        char what[64];
        full.world.gravity = 0.0;
        full.motion.servo.gain = gain;
        full.motion.servo.damping = 1.0;
        mf_hand_start(&rig.hand, context);
        build_wheel(&rig);
        status = mf_rig_open(&rig, context, &full, error);
        if (status != MF_OK)
            return status;
        for (int n = 0; n < 1571;
             n++) { // a target is constant over a step: the value at its middle
            double part = 1.0 - cos(2.0 * 1e-3 * (n + 0.5));
            mf_rig_set(&rig, "joint.target", 0, 0.1 * part * part);
            mf_world_step(rig.world, 1);
        }
        snprintf(what, sizeof what, "articulated minus prescribed, gain %g [rad]", gain);
        mf_check_near(run, what, -0.2 * 0.16 * 1.6 / gain, yaw_of(&rig) - rails,
                      0.05 * 0.0512 / gain);
        status = mf_rig_close(&rig, error);
    }
    return status;
}

// ---- inertia ------------------------------------------------------------------------------------

// The base's twist after a step from rest under one small force or moment, divided by its impulse:
// a column of the inverse of the kernel's inertia.
static mf_Status respond(mf_Context *context, mf_Motion motion, uint32_t push, double out[6],
                         mf_Error *error) {
    const double small = 1e-12; // [N] or [N m]
    Ladder config = ladder(motion, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_Rig rig;
    config.world.gravity = 0.0;
    mf_hand_start(&rig.hand, context);
    mf_rig_build_arm(&rig);
    mf_Status status = open_ladder(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    for (uint32_t j = 0; j < 2; j++) {
        mf_rig_set(&rig, "joint.angle", j, j == 0 ? 0.7 : -1.1);
        mf_rig_set(&rig, "joint.target", j, j == 0 ? 0.7 : -1.1);
    }
    mf_group_refresh(rig.group, 0);
    mf_rig_set(&rig, push < 3 ? "base.force" : "base.torque", push % 3, small);
    mf_world_step(rig.world, 1);
    for (uint32_t c = 0; c < 3; c++) {
        out[c] = mf_rig_get(&rig, "base.linear_velocity", c) / (1e-3 * small);
        out[3 + c] = mf_rig_get(&rig, "base.angular_velocity", c) / (1e-3 * small);
    }
    return mf_rig_close(&rig, error);
}

// Mass, moment and inertia about the base's origin by the parallel axis theorem, added up
// independently in 64-bit mantissas. The base starts at rest in the world's axes, and the force is
// so small that its rotation is negligible.
static mf_Status check_composite(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double h[3] = {0.8767018850583683697, 0.3238764920180259449,
                                0.2501209927962044531};
    static const double inertia[3][3] = {
        {0.2744704695626444819, -0.2107198106310429915, 0.0258092925565131961},
        {-0.2107198106310429915, 0.5982225654477778915, 0.0352792589846450798},
        {0.0258092925565131961, 0.0352792589846450798, 0.6452122474533123547}};
    const double cross[3][3] = {{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}};
    for (int i = 0; i < 2; i++) {
        double worst = 0.0;
        char line[80];
        for (uint32_t push = 0; push < 6; push++) {
            double twist[6];
            mf_Status status = respond(context, both[i], push, twist, error);
            if (status != MF_OK)
                return status;
            for (uint32_t r = 0; r < 3; r++) {
                double force = 4.5 * twist[r], torque = 0.0;
                for (int c = 0; c < 3; c++) {
                    force -= cross[r][c] * twist[3 + c];
                    torque += cross[r][c] * twist[c] + inertia[r][c] * twist[3 + c];
                }
                worst = mf_check_worse(worst, fabs(force - (r == push ? 1.0 : 0.0)));
                worst = mf_check_worse(worst, fabs(torque - (r + 3 == push ? 1.0 : 0.0)));
            }
        }
        mf_check_below(run, named(line, both[i], "inertia times response minus the wrench"), 1e-14,
                       worst);
    }
    return MF_OK;
}

// ---- contacts -----------------------------------------------------------------------------------

// A block on four feet at (+-a, +-b) in the plane of its center, which is (dx, dy) off-center.
static void build_table(mf_Rig *rig, double mass, const double center[3], double a, double b,
                        double low) {
    mf_rig_body(rig, 0, mass, center, (double[3]){0.03, 0.03, 0.05});
    for (int i = 0; i < 4; i++)
        mf_hand_point(&rig->hand, 0, i & 1 ? a : -a, i & 2 ? b : -b, low, 0.0, true);
}

static mf_Status check_rest(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
        mf_Rig rig;
        char line[80];
        mf_hand_start(&rig.hand, context);
        build_table(&rig, 2.0, none, 0.2, 0.2, -0.1);
        config.rigid.contact_stiffness = config.prescribed.contact_stiffness = 1000.0;
        config.rigid.slip_speed = 0.01; // a contact relaxes within depth / slip speed
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        mf_world_step(rig.world, 20000);
        mf_check_near(run, named(line, both[i], "penetration at rest [m]"), 0.004905,
                      0.1 - mf_rig_get(&rig, "base.position", 2), 1e-9);
        for (uint32_t k = 0; k < 4; k++)
            mf_check_near(run, named(line, both[i], "load of a contact [N]"), 4.905,
                          mf_rig_get(&rig, "contact.load", k), 1e-6);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static mf_Status check_table(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double expected[4] = {15.12375, 27.38625, 21.66375, 33.92625};
    static const double center[3] = {0.05, 0.02, 0.0};
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        mf_Rig rig;
        char line[80];
        mf_hand_start(&rig.hand, context);
        build_table(&rig, 10.0, center, 0.2, 0.15, 0.0);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        mf_world_step(rig.world, 5000);
        for (uint32_t k = 0; k < 4; k++)
            mf_check_near(run, named(line, both[i], "load of a foot [N]"), expected[k],
                          mf_rig_get(&rig, "contact.load", k), 1e-4);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// Restitution along the normal is the square root of the stiffness ratio.
static mf_Status check_bounce(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double shares[3] = {0.1, 0.5, 1.0};
    static const double expected[3] = {0.3162278, 0.7071068, 1.0};
    for (int i = 0; i < 3; i++) {
        Ladder config = ladder(MF_MOTION_RIGID, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND / 100);
        mf_Rig rig;
        char what[64];
        config.world.gravity = 0.0;
        config.rigid.contact_stiffness = 2e4;
        config.rigid.contact_depth = 1.0;
        config.rigid.separation = shares[i];
        mf_hand_start(&rig.hand, context);
        mf_rig_body(&rig, 0, 2.0, none, (double[3]){0.01, 0.01, 0.01});
        mf_hand_point(&rig.hand, 0, 0, 0, 0, 0.0, true);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.position", 0, 0, 0.001);
        mf_rig_set3(&rig, "base.linear_velocity", 0, 0, -1.0);
        mf_world_step(rig.world, 30000);
        snprintf(what, sizeof what, "rebound speed, separation %g [1]", shares[i]);
        // A backward Euler step loses w dt / 4 of an oscillation's speed per radian: 1e-3 for pi
        // radians.
        mf_check_near(run, what, expected[i], mf_rig_get(&rig, "base.linear_velocity", 2), 2e-3);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A block on four feet where gravity is tilted. Returns its speed after `steps` of 1 ms.
static mf_Status slide(mf_Context *context, mf_Motion motion, double angle, double friction,
                       double slow, uint64_t steps, double *speed, mf_Error *error) {
    Ladder config = ladder(motion, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_Rig rig;
    mf_hand_start(&rig.hand, context);
    build_table(&rig, 2.0, none, 0.2, 0.2, -0.02);
    config.world.gravity_direction[0] = sin(angle * MF_CHECK_DEGREE);
    config.world.gravity_direction[2] = -cos(angle * MF_CHECK_DEGREE);
    config.rigid.friction = config.prescribed.friction = friction;
    config.rigid.slip_speed = config.prescribed.slip_speed = slow;
    mf_Status status = open_ladder(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.position", 0, 0, 0.02);
    mf_world_step(rig.world, steps);
    *speed = mf_rig_get(&rig, "base.linear_velocity", 0);
    return mf_rig_close(&rig, error);
}

static mf_Status check_slope(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 2; i++) {
        char line[80];
        double early = 0, late = 0, below = 0, above = 0;
        mf_Status status = slide(context, both[i], 30.0, 0.3, 1e-4, 500, &early, error);
        if (status == MF_OK)
            status = slide(context, both[i], 30.0, 0.3, 1e-4, 1500, &late, error);
        if (status == MF_OK)
            status = slide(context, both[i], 26.5651 - 0.01, 0.5, 1e-4, 5000, &below, error);
        if (status == MF_OK)
            status = slide(context, both[i], 26.5651 + 0.01, 0.5, 1e-4, 5000, &above, error);
        if (status != MF_OK)
            return status;
        mf_check_near(run, named(line, both[i], "acceleration on 30 degrees [m/s^2]"), 2.356287,
                      late - early, 1e-5);
        // The first contact step has no friction yet: 5 mm/s, which decay in 3 s.
        mf_check_below(run, named(line, both[i], "speed 0.01 degrees below the limit [m/s]"), 1e-4,
                       below);
        mf_check_above(run, named(line, both[i], "speed 0.01 degrees above it [m/s]"), 5e-4, above);
    }
    return MF_OK;
}

static mf_Status check_creep(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 2; i++) {
        char line[80];
        double coarse = 0, fine = 0;
        mf_Status status = slide(context, both[i], 15.0, 0.5, 1e-4, 2000, &coarse, error);
        if (status == MF_OK)
            status = slide(context, both[i], 15.0, 0.5, 1e-5, 2000, &fine, error);
        if (status != MF_OK)
            return status;
        mf_check_near(run, named(line, both[i], "creep, slip speed 0.1 mm/s [m/s]"), 5.358984e-5,
                      coarse, 1e-8);
        mf_check_near(run, named(line, both[i], "proportional to the slip speed: ratio"), 10.0,
                      coarse / fine, 1e-2);
    }
    return MF_OK;
}

// A solid sphere where gravity is tilted by 15 degrees, for 1 s: 5/7 g sin. Relative 5.5e-4, the
// tolerance of Drake's test; the distance of a first-order step is off by half a step at the final
// speed, 4.5e-4 m.
static mf_Status check_roll(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const char sphere[] =
        "<mujoco><worldbody><body><freejoint/><geom type='sphere' size='0.1' mass='3'/></body>"
        "</worldbody></mujoco>";
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_IMPLICIT, MF_MILLISECOND / 2);
        mf_Rig rig;
        char line[80];
        config.rigid.shapes = config.prescribed.shapes = true;
        config.world.gravity_direction[0] = sin(15 * MF_CHECK_DEGREE);
        config.world.gravity_direction[2] = -cos(15 * MF_CHECK_DEGREE);
        mf_Status status = open_text(&rig, context, sphere, &config, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.position", 0, 0, 0.1);
        mf_world_step(rig.world, 2000);
        const double speed = mf_rig_get(&rig, "base.linear_velocity", 0);
        mf_check_near(run, named(line, both[i], "distance after 1 s [m]"), 0.9067910,
                      mf_rig_get(&rig, "base.position", 0), 5.5e-4 * 0.906791);
        mf_check_near(run, named(line, both[i], "speed after 1 s [m/s]"), 1.8135820, speed,
                      5.5e-4 * 1.813582);
        mf_check_near(run, named(line, both[i], "rate times radius over speed"), 1.0,
                      0.1 * mf_rig_get(&rig, "base.angular_velocity", 1) / speed, 5.5e-4);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A box on its eight corners tumbles down from 1 m. Elastic energy of contacts is not counted, so
// its energy may rise while a contact opens, but never above the initial value.
static mf_Status check_energy(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 2; i++) {
        Ladder config = ladder(both[i], MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        mf_Rig rig;
        char line[80];
        config.rigid.separation = 0.5;
        mf_hand_start(&rig.hand, context);
        mf_rig_body(&rig, 0, 2.0, none, (double[3]){0.02, 0.03, 0.04});
        for (int k = 0; k < 8; k++)
            mf_hand_point(&rig.hand, 0, k & 1 ? 0.2 : -0.2, k & 2 ? 0.15 : -0.15,
                          k & 4 ? 0.1 : -0.1, 0.0, true);
        mf_Status status = open_ladder(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.position", 0, 0, 1);
        mf_rig_set3(&rig, "base.angular_velocity", 3, 2, 1);
        mf_MotionEnergy energy = mf_motion_energy(rig.group, 0);
        const double start = energy.kinetic + energy.potential;
        double most = 0.0;
        for (int n = 0; n < 10000; n++) {
            mf_world_step(rig.world, 1);
            energy = mf_motion_energy(rig.group, 0);
            most = fmax(most, energy.kinetic + energy.potential - start);
        }
        mf_check_below(run, named(line, both[i], "energy above the initial energy, relative"),
                       1e-12, most / start);
        mf_check_below(run, named(line, both[i], "kinetic energy after 10 s, relative"), 1e-9,
                       energy.kinetic / start);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

const mf_CheckCase mf_check_ladder_cases[] = {
    {"E1-ladder", "the tumbling brick in two halves, with a constant joint target", check_brick},
    {"E2-ladder", "a base rotates against its wheel, where limbs have reactions", check_wheel},
    {"E3-ladder", "commanded joints change neither the path of the center of mass nor momentum",
     check_flailing},
    {"E4-ladder", "composite inertia from responses to wrenches: the parallel axis theorem",
     check_composite},
    {"E5-ladder", "articulated converges to prescribed as 1 over the servo's gain", check_stiff},
    {"E6-ladder", "tumbling about the middle axis", check_middle_axis},
    {"E7-ladder", "free box, 5 s", check_box},
    {"C1-ladder", "loads of four feet with the weight off the center", check_table},
    {"C3-ladder", "a block on a slope", check_slope},
    {"D1-ladder", "depth at rest", check_rest},
    {"D2-ladder", "bounce of a contact that is softer on separation", check_bounce},
    {"D5-ladder", "a sphere rolls down a slope", check_roll},
    {"D9-ladder", "creep of stiction", check_creep},
    {"D12-ladder", "a tumbling box gains no energy and comes to rest", check_energy},
    {NULL, NULL, NULL}};
