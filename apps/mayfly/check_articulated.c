// Check cases of the `articulated` motion, in double precision: pendulums, the tumbling brick,
// servos, ground contact, and its algorithms against each other. The expected values come from
// closed forms or independent computations; tests/motion/ tells which.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mayfly/articulated.h>

#include "check.h"
#include "model/hand.h"

static const double degree = 3.14159265358979323846 / 180.0;
static const double along_y[3] = {0, 1, 0}, along_z[3] = {0, 0, 1};

typedef struct Rig {
    mf_HandModel hand;
    mf_World *world;
    mf_Group *group;
} Rig;

typedef struct RigConfig {
    mf_WorldConfig world;
    mf_ArticulatedConfig motion;
} RigConfig;

static RigConfig rig_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    RigConfig config = {mf_world_config(), mf_articulated_config()};
    config.world.step = step;
    config.motion.integrator = integrator;
    return config;
}

// Opens a world for rig->hand, which is made before.
static mf_Status rig_open(Rig *rig, mf_Context *context, const RigConfig *config, mf_Error *error) {
    mf_GroupConfig group = mf_group_config();
    group.model = &rig->hand.model;
    group.double_precision = true;
    mf_Status status = mf_world_create(context, &config->world, &rig->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(rig->world, &group, &rig->group, error);
    if (status == MF_OK)
        status = mf_articulated_add(rig->group, &config->motion, error);
    if (status != MF_OK)
        mf_world_destroy(rig->world);
    return status;
}

static double rig_get(const Rig *rig, const char *field, uint32_t component) {
    return mf_field_get(mf_group_find_field(rig->group, field), 0, component);
}

static void rig_set(const Rig *rig, const char *field, uint32_t component, double value) {
    mf_field_set(mf_group_find_field(rig->group, field), 0, component, value);
}

static void set_body(Rig *rig, uint32_t link, double mass, double below, double xx, double yy,
                     double zz) {
    mf_Link *body = &rig->hand.links[link];
    body->mass = mass;
    rig->hand.model.mass += mass;
    body->center[2] = -below;
    body->inertia[0] = xx;
    body->inertia[1] = yy;
    body->inertia[2] = zz;
}

static double rig_energy(const Rig *rig) {
    mf_ArticulatedEnergy energy = mf_articulated_energy(rig->group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
}

// Point masses of 1 kg on rods of 1 m, hanging from a fixed base.
static mf_Status open_pendulum(Rig *rig, mf_Context *context, uint32_t count, mf_Time step,
                               mf_Error *error) {
    RigConfig config = rig_config(MF_ARTICULATED_RK4, step);
    uint32_t link = 0;
    mf_hand_start(&rig->hand, context);
    for (uint32_t i = 0; i < count; i++) {
        link = mf_hand_hinge(&rig->hand, link, 0, 0, i == 0 ? 0 : -1, along_y);
        set_body(rig, link, 1.0, 1.0, 0, 0, 0);
    }
    config.motion.base = MF_ARTICULATED_FIXED;
    return rig_open(rig, context, &config, error);
}

// Four times the time until the first joint passes through 0.
static double find_period(Rig *rig, double step) {
    double before = 1.0, now = 1.0;
    for (int n = 0; n < 100000 && now > 0.0; n++) {
        before = now;
        mf_world_step(rig->world, 1);
        now = rig_get(rig, "joint.angle", 0);
    }
    return 4.0 * (mf_time_to_seconds(mf_world_time(rig->world)) - step * now / (now - before));
}

// T/T0 = (2/pi) K(sin(A/2)), T0 = 2 pi sqrt(l/g) = 2.0060667 s.
static mf_Status check_pendulum(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double expected[][2] = {
        {30, 1.0174088}, {90, 1.1803406}, {150, 1.7622037}, {170, 2.4393627}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Rig rig;
        char what[64];
        mf_Status status = open_pendulum(&rig, context, 1, MF_MILLISECOND, error);
        if (status != MF_OK)
            return status;
        rig_set(&rig, "joint.angle", 0, expected[i][0] * degree);
        snprintf(what, sizeof what, "period from %g degrees over that of small swings",
                 expected[i][0]);
        mf_check_near(run, what, expected[i][1], find_period(&rig, 1e-3) / 2.0060667, 2e-7);
        mf_world_destroy(rig.world);
    }
    return MF_OK;
}

// w^2 l/g = 2 -+ sqrt 2.
static mf_Status check_modes(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double period[2] = {2.6210524, 1.0856755};
    for (int mode = 0; mode < 2; mode++) {
        Rig rig;
        mf_Status status = open_pendulum(&rig, context, 2, MF_MILLISECOND, error);
        if (status != MF_OK)
            return status;
        rig_set(&rig, "joint.angle", 0, 1e-5);
        rig_set(&rig, "joint.angle", 1, 1e-5 * ((mode == 0 ? sqrt(2.0) : -sqrt(2.0)) - 1.0));
        mf_check_near(run,
                      mode == 0 ? "period of the slow mode [s]" : "period of the fast mode [s]",
                      period[mode], find_period(&rig, 1e-3), 2e-6);
        mf_world_destroy(rig.world);
    }
    return MF_OK;
}

static mf_Status check_double_pendulum(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double expected[3] = {1.6694e-8, 1.0716e-9, 6.787e-11};
    static const mf_Time steps[3] = {2 * MF_MILLISECOND, MF_MILLISECOND, MF_MILLISECOND / 2};
    for (int i = 0; i < 3; i++) {
        Rig rig;
        char what[80];
        mf_Status status = open_pendulum(&rig, context, 2, steps[i], error);
        if (status != MF_OK)
            return status;
        rig_set(&rig, "joint.angle", 0, 90 * degree);
        double start = rig_energy(&rig), worst = 0.0;
        for (mf_Time t = 0; t < 10 * MF_SECOND; t += steps[i]) {
            mf_world_step(rig.world, 1);
            worst = fmax(worst, fabs(rig_energy(&rig) - start));
        }
        snprintf(what, sizeof what, "energy error over 3 m g l, step %g ms",
                 1e3 * mf_time_to_seconds(steps[i]));
        mf_check_near(run, what, expected[i], worst / (3 * 9.81), 0.01 * expected[i]);
        mf_world_destroy(rig.world);
    }
    return MF_OK;
}

// NESC check case 2 (NASA/TM-2015-218675), joints none: an independent integration at 1 ms.
static mf_Status check_brick(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double expected[4][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {20, -5.422734680, 22.715930576, 28.608281747},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    RigConfig config = rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    Rig rig;
    mf_hand_start(&rig.hand, context);
    set_body(&rig, 0, 1.0, 0.0, 0.00189422, 0.006211019, 0.007194665);
    config.world.gravity = 0.0;
    mf_Status status = rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    for (uint32_t c = 0; c < 3; c++)
        rig_set(&rig, "base.angular_velocity", c, 10.0 * (c + 1) * degree);
    for (int row = 0, now = 0; row < 4; row++) {
        mf_world_step(rig.world, (uint64_t)(1000 * ((int)expected[row][0] - now)));
        now = (int)expected[row][0];
        for (uint32_t c = 0; c < 3; c++) {
            char what[48];
            snprintf(what, sizeof what, "rate about %c at %d s [deg/s]", 'x' + (int)c, now);
            mf_check_near(run, what, expected[row][1 + c],
                          rig_get(&rig, "base.angular_velocity", c) / degree, 1e-8);
        }
    }
    mf_world_destroy(rig.world);
    return MF_OK;
}

// A wheel of moment 0.5 on a fixed base.
static mf_Status open_wheel(Rig *rig, mf_Context *context, RigConfig *config, mf_Error *error) {
    mf_hand_start(&rig->hand, context);
    uint32_t link = mf_hand_hinge(&rig->hand, 0, 0, 0, 0, along_z);
    set_body(rig, link, 1.0, 0.0, 0.3, 0.3, 0.5);
    config->motion.base = MF_ARTICULATED_FIXED;
    return rig_open(rig, context, config, error);
}

// Motor: w = w0 (1 - exp(-t/T)), T = J w0 / stall torque = 1 s. Servo step of damping ratio 0.3:
// overshoot exp(-pi z / sqrt(1 - z^2)).
static mf_Status check_servo(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    RigConfig config = rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    Rig rig;
    config.motion.servo.gain = 1e6;
    config.motion.servo.effort = 3.0;
    config.motion.servo.no_load_speed = 6.0;
    mf_Status status = open_wheel(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    rig_set(&rig, "joint.target", 0, 1000.0);
    mf_world_step(rig.world, 1000);
    mf_check_near(run, "speed of a motor after its time constant [rad/s]",
                  6.0 * (1.0 - 0.36787944117144233), rig_get(&rig, "joint.rate", 0), 1e-9);
    mf_world_step(rig.world, 29000);
    mf_check_near(run, "no-load speed [rad/s]", 6.0, rig_get(&rig, "joint.rate", 0), 1e-9);
    mf_world_destroy(rig.world);
    config.motion.servo = mf_servo();
    config.motion.servo.gain = 50.0;
    config.motion.servo.damping = 3.0;
    status = open_wheel(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    rig_set(&rig, "joint.target", 0, 1.0);
    double highest = 0.0;
    for (int n = 0; n < 1000; n++) {
        mf_world_step(rig.world, 1);
        highest = fmax(highest, rig_get(&rig, "joint.angle", 0));
    }
    mf_check_near(run, "overshoot of a servo, damping ratio 0.3", 0.372326, highest - 1.0, 2e-6);
    mf_world_destroy(rig.world);
    return MF_OK;
}

// A block of 2 kg on four contacts of 1000 N/m lies m g / (4 k) deep.
static mf_Status check_rest(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    RigConfig config = rig_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
    Rig rig;
    mf_hand_start(&rig.hand, context);
    set_body(&rig, 0, 2.0, 0.0, 0.03, 0.03, 0.05);
    for (int i = 0; i < 4; i++)
        mf_hand_point(&rig.hand, 0, i & 1 ? 0.2 : -0.2, i & 2 ? 0.2 : -0.2, -0.1, 0.0, true);
    config.motion.contact_stiffness = 1000.0;
    mf_Status status = rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    mf_world_step(rig.world, 4000);
    mf_check_near(run, "penetration at rest [m]", 0.004905, 0.1 - rig_get(&rig, "base.position", 2),
                  1e-9);
    for (uint32_t i = 0; i < 4; i++)
        mf_check_near(run, "load of a contact [N]", 4.905, rig_get(&rig, "contact.load", i), 1e-6);
    mf_world_destroy(rig.world);
    return MF_OK;
}

// Restitution of a spring and damper that cannot pull, damping ratio 0.1 (Schwager and Poeschel
// 2007).
static mf_Status check_bounce(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    RigConfig config = rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 100);
    Rig rig;
    mf_hand_start(&rig.hand, context);
    set_body(&rig, 0, 2.0, 0.0, 1, 1, 1);
    mf_hand_point(&rig.hand, 0, 0, 0, 0, 0.0, true);
    config.world.gravity = 0.0;
    config.motion.contact_stiffness = 1e4;
    config.motion.contact_damping = 0.2 * sqrt(2e4);
    config.motion.contact_depth = 1.0;
    mf_Status status = rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    rig_set(&rig, "base.position", 2, 1e-6);
    rig_set(&rig, "base.linear_velocity", 2, -1.0);
    mf_world_step(rig.world, 6000);
    mf_check_near(run, "coefficient of restitution", 0.7440794,
                  rig_get(&rig, "base.linear_velocity", 2), 1e-4);
    mf_world_destroy(rig.world);
    return MF_OK;
}

static mf_Status make_slope(mf_Context *context, double angle, mf_Terrain **out, mf_Error *error) {
    mf_TerrainConfig config = mf_terrain_config();
    config.columns = config.rows = 128;
    config.interpolation = MF_BILINEAR;
    mf_TerrainGenerator slope = {
        .shape = MF_TERRAIN_SLOPE, .amplitude = angle, .wavelength = 1.0, .octaves = 1};
    return mf_terrain_generate(context, &config, &slope, out, error);
}

// A solid sphere on 15 degrees: 5/7 g sin, 1.8135820 m/s after 1 s.
static mf_Status check_roll(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    const double angle = 15 * degree;
    RigConfig config = rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_Shape ball = {.type = MF_SHAPE_SPHERE,
                     .collides = true,
                     .rotation = {1, 0, 0, 0},
                     .size = {0.1, 0, 0},
                     .mesh = MF_NONE};
    Rig rig;
    mf_Terrain *terrain;
    mf_hand_start(&rig.hand, context);
    set_body(&rig, 0, 3.0, 0.0, 0.012, 0.012, 0.012);
    rig.hand.model.shapes = &ball;
    rig.hand.model.shape_count = 1;
    config.motion.shapes = true;
    mf_Status status = make_slope(context, angle, &terrain, error);
    if (status != MF_OK)
        return status;
    config.world.terrain = terrain;
    status = rig_open(&rig, context, &config, error);
    if (status == MF_OK) {
        rig_set(&rig, "base.position", 0, -0.1 * sin(angle));
        rig_set(&rig, "base.position", 2, 0.1 * cos(angle) - 1e-6);
        mf_world_step(rig.world, 1000);
        double speed = -rig_get(&rig, "base.linear_velocity", 0) * cos(angle) -
                       rig_get(&rig, "base.linear_velocity", 2) * sin(angle);
        mf_check_near(run, "speed after 1 s [m/s]", 1.8135820, speed, 3e-3);
        mf_check_near(run, "rate times radius over speed", -1.0,
                      0.1 * rig_get(&rig, "base.angular_velocity", 1) / speed, 1e-3);
        mf_world_destroy(rig.world);
    }
    mf_terrain_destroy(terrain);
    return status;
}

// A chain of oblique hinges on a free base: forces from the accelerations that they make.
static mf_Status check_algorithms(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
    RigConfig config = rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    Rig rig;
    uint32_t link = 0;
    enum { HINGES = 12, N = HINGES + 6 };
    mf_hand_start(&rig.hand, context);
    set_body(&rig, 0, 3.0, 0.1, 0.1, 0.2, 0.15);
    for (int i = 0; i < HINGES; i++) {
        link = mf_hand_hinge(&rig.hand, link, 0.1, 0, -0.2, i % 2 == 0 ? oblique : along_y);
        set_body(&rig, link, 1.0, 0.1, 0.01, 0.02, 0.015);
    }
    mf_Status status = rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    double worst = 0.0, force[N], got[N], before[N], matrix[N * N], unit[N] = {0};
    double worst_column = 0.0;
    for (uint32_t s = 0; s < 1000; s++) {
        uint32_t words[4];
        for (uint32_t i = 0; i < N; i++) {
            mf_random(5, s, 0, i, words);
            force[i] = 10.0 * (2.0 * mf_random_unit_double(words[0], words[1]) - 1.0);
            if (i < HINGES) {
                rig_set(&rig, "joint.angle", i, 6.0 * mf_random_unit_double(words[2], words[3]));
                rig_set(&rig, "joint.rate", i, 0.3 * force[i]);
            }
        }
        mf_articulated_forward(rig.group, 0, force, got);
        mf_articulated_inverse(rig.group, 0, got, got);
        mf_articulated_bias(rig.group, 0, before);
        double scale = 10.0;
        for (uint32_t i = 0; i < N; i++)
            scale = fmax(scale, fabs(before[i]));
        for (uint32_t i = 0; i < N; i++)
            worst = fmax(worst, fabs(got[i] - force[i]) / scale);
        mf_articulated_mass_matrix(rig.group, 0, matrix);
        uint32_t c = s % N;
        unit[c] = 1.0;
        mf_articulated_inverse(rig.group, 0, unit, got);
        unit[c] = 0.0;
        for (uint32_t i = 0; i < N; i++)
            worst_column = fmax(worst_column, fabs(got[i] - before[i] - matrix[i * N + c]) / scale);
    }
    mf_check_below(run, "forces from accelerations, relative error", 1e-11, worst);
    mf_check_below(run, "columns of the mass matrix, relative error", 1e-11, worst_column);
    mf_world_destroy(rig.world);
    return MF_OK;
}

// A crank of 0.05 m, a rod of 0.2 m and a slider, closed by a constraint:
// x = r sin q + sqrt(l^2 - r^2 cos^2 q), q from upright.
static mf_Status check_loop(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double along_x[3] = {1, 0, 0};
    const double far = 0.19364916731037085; // sqrt(l^2 - r^2)
    RigConfig config = rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    Rig rig;
    mf_hand_start(&rig.hand, context);
    uint32_t crank = mf_hand_hinge(&rig.hand, 0, 0, 0, 0, along_y);
    uint32_t rod = mf_hand_hinge(&rig.hand, crank, 0, 0, 0.05, along_y);
    uint32_t slider = mf_hand_hinge(&rig.hand, 0, far, 0, 0, along_x);
    set_body(&rig, crank, 1.0, 0.0, 0.01, 0.01, 0.01);
    set_body(&rig, rod, 0.5, 0.0, 0.002, 0.002, 0.002);
    set_body(&rig, slider, 0.3, 0.0, 1, 1, 1);
    rig.hand.joints[rig.hand.links[slider].joint].type = MF_JOINT_SLIDE;
    mf_Equality loop = {
        .name = "loop",
        .type = MF_EQUALITY_CONNECT,
        .active = true,
        .sites = {MF_NONE, MF_NONE},
        .frames = {{slider, {0, 0, 0}, {1, 0, 0, 0}}, {rod, {far, 0, -0.05}, {1, 0, 0, 0}}}};
    rig.hand.model.equalities = &loop;
    rig.hand.model.equality_count = 1;
    config.world.gravity = 0.0;
    config.motion.base = MF_ARTICULATED_FIXED;
    mf_Status status = rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    rig_set(&rig, "joint.rate", 0, 6.0);
    double worst = 0.0;
    for (int n = 0; n < 100000; n++) {
        mf_world_step(rig.world, 1);
        double q = rig_get(&rig, "joint.angle", 0), x = rig_get(&rig, "joint.angle", 2) + far;
        double wanted = 0.05 * sin(q) + sqrt(0.04 - 0.0025 * cos(q) * cos(q));
        if (n >= 100) // at first only the crank turned
            worst = fmax(worst, fabs(x - wanted));
    }
    mf_check_below(run, "error of a slider crank in 100,000 steps [m]", 1e-8, worst);
    mf_world_destroy(rig.world);
    return MF_OK;
}

const mf_CheckCase mf_check_articulated_cases[] = {
    {"E1", "the tumbling brick of NASA's check case 2, as a tree of one link", check_brick},
    {"F1", "pendulum: period of large swings", check_pendulum},
    {"F2", "double pendulum: periods of small swings", check_modes},
    {"F4", "double pendulum: energy error of Runge-Kutta", check_double_pendulum},
    {"F5", "inverse dynamics undoes forward dynamics", check_algorithms},
    {"F12", "a slider crank closed by a constraint", check_loop},
    {"F15", "motor and servo", check_servo},
    {"D1", "depth at rest", check_rest},
    {"D3", "bounce on a damped spring that cannot pull", check_bounce},
    {"D5", "a sphere rolls down a slope", check_roll},
    {NULL, NULL, NULL}};
