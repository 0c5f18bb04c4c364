// Sensors of MJCF files against closed forms. With the path of a model as argument it is a filter:
// for each position, velocity, acceleration and actuator force vector on the input it prints all
// sensor values (test_sensors_peers.sh compares them with MuJoCo); contacts are disabled
// without a further argument.
#include "model/support.h"
#include "sense/sensors.h"
#include "motion/articulated/host.h"

#define G 9.81

typedef struct Rig {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Rig;

typedef struct RigConfig {
    uint32_t count;
    bool floats, points;
    mf_Isa isa;
    uint64_t seed;
    mf_SensorsConfig sensors;
} RigConfig;

static RigConfig rig_config(void) {
    return (RigConfig){.count = 1, .isa = MF_ISA_AUTO, .seed = 1, .sensors = mf_sensors_config()};
}

// On failure the world is NULL, or the caller's to destroy.
static mf_Status rig_try(Rig *rig, RigConfig config, mf_Error *error) {
    const double *pull = rig->model->physics.gravity;
    const double origin[3] = {0, 0, 0};
    mf_WorldConfig world = WITH(mf_world_config(), .gravity = norm3(pull),
                                .step = mf_time_from_seconds(rig->model->physics.step),
                                .isa = config.isa, .seed = config.seed);
    mf_GroupConfig group = WITH(mf_group_config(), .model = rig->model, .count = config.count,
                                .double_precision = !config.floats);
    mf_ArticulatedConfig motion =
        WITH(mf_motions_config().articulated, .shapes = true,
             .contacts = !(rig->model->physics.disabled & MF_DISABLE_CONTACT));
    if (world.gravity > 0.0)
        memcpy(world.gravity_direction, pull, sizeof world.gravity_direction);
    MF_TRY(try_group(rig->context, &world, &group, &rig->world, &rig->group, error));
    MF_TRY(config.points ? mf_motion_add(rig->group, MF_MOTION_POINTS, NULL, error)
                         : rig_add_articulated(rig->group, &motion, error));
    for (uint32_t i = 0; i < config.count; i++)
        if (rig->model->base == MF_BASE_FIXED) // the file's world is the world
            MF_TRY(mf_group_set_start(rig->group, i, origin, NULL, NULL, error));
    return mf_sensors_add(rig->group, &config.sensors, error);
}

static Rig rig_open(mf_Context *context, const char *text, RigConfig config) {
    Rig rig = {.context = context, .model = load_text(context, text)};
    MUST(rig_try(&rig, config, &error));
    return rig;
}

static void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

static double value_of(const Rig *rig, uint32_t instance, uint32_t c) {
    return get_field(rig->group, "sensor.value", instance, c);
}

#define assert_values3(rig, first, x, y, z, tolerance)                                             \
    assert_fields3((rig)->group, "sensor.value", 0, first, x, y, z, tolerance)

static double size_of(const Rig *rig, uint32_t first) {
    const double a[3] = {value_of(rig, 0, first), value_of(rig, 0, first + 1),
                         value_of(rig, 0, first + 2)};
    return norm3(a);
}

// ---- closed forms ------------------------------------------------------------------------------

static const char box[] =
    "<mujoco><option timestep='0.002' magnetic='0 0.5 0'/><worldbody><body pos='0 0 2'><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='2'/><site name='s' pos='0 0 0.05'/><site "
    "name='sole' "
    "type='box' pos='0 0 -0.1' size='0.12 0.12 0.02'/></body></worldbody><sensor><accelerometer "
    "site='s'/><gyro site='s'/><velocimeter site='s'/><touch site='sole'/><magnetometer site='s'/>"
    "<clock/><user dim='2'/></sensor></mujoco>";

// In free fall an accelerometer shows 0, at rest +g upwards (and so does a start); the ground's
// loads on the sole are the weight.
TEST(a_box_falls_and_rests) {
    AUTO_RIG rig = rig_open(*state, box, rig_config());
    assert_values3(&rig, 0, 0, 0, G, 1e-12);
    set_field(rig.group, "base.position", 0, 2, 5.0);
    set_field(rig.group, "sensor.value", 0, 15, 7.0);
    mf_world_step(rig.world, 100);
    assert_values3(&rig, 0, 0, 0, 0, 1e-9);
    assert_values3(&rig, 6, 0, 0, -0.2 * G, 1e-9); // 0.2 s
    assert_near(value_of(&rig, 0, 9), 0.0, 0.0);
    assert_values3(&rig, 10, 0, 0.5, 0, 1e-12);
    assert_near(value_of(&rig, 0, 13), 0.2, 1e-12);
    assert_near(value_of(&rig, 0, 15), 7.0, 0.0); // a program's own value stays
    mf_world_step(rig.world, 2000);
    assert_values3(&rig, 0, 0, 0, G, 1e-3);
    assert_near(value_of(&rig, 0, 9), 2 * G, 1e-2);
}

// A point at radius r that turns at rate w: -w^2 r towards the middle, and w r along. The rod of
// length 2 l = 1 m and mass m pulls its holder by m w^2 l.
TEST(a_rod_turns) {
    AUTO_RIG rig = rig_open(
        *state,
        "<mujoco><option gravity='0 0 0'><flag contact='disable'/></option><worldbody><body>"
        "<joint axis='0 0 1'/><inertial pos='0.5 0 0' mass='3' diaginertia='1 1 1'/><site "
        "name='tip' pos='0.8 0 0'/><site name='root'/></body></worldbody><sensor>"
        "<accelerometer site='tip'/><velocimeter site='tip'/><gyro site='tip'/><force "
        "site='root'/></sensor></mujoco>",
        rig_config());
    set_field(rig.group, "joint.rate", 0, 0, 2.0);
    mf_world_step(rig.world, 1);
    assert_values3(&rig, 0, -2 * 2 * 0.8, 0, 0, 1e-12);
    assert_values3(&rig, 3, 0, 1.6, 0, 1e-12);
    assert_values3(&rig, 6, 0, 0, 2, 1e-12);
    assert_values3(&rig, 9, -3 * 4 * 0.5, 0, 0, 1e-12);
}

// Without sensors of acceleration no velocities are kept.
TEST(positions_alone_can_be_read) {
    AUTO_RIG rig = rig_open(
        *state,
        "<mujoco><worldbody><body pos='0 0 3'><freejoint/><geom size='0.1'/><site name='s'/>"
        "</body></worldbody><sensor><framepos objtype='site' objname='s'/></sensor></mujoco>",
        rig_config());
    set_field(rig.group, "base.position", 0, 2, 3.0);
    mf_world_step(rig.world, 10);
    assert_values3(&rig, 0, 0, 0, 3 - G * 0.002 * 0.002 * 55, 1e-12); // 1 + 2 + ... + 10 steps
    assert_null(mf_group_find_field(rig.group, "sensor.before"));
}

// From (0, 0, 1) along x to shapes of which the distance is plain; the own body is not seen.
TEST(rays_end_at_shapes) {
    static const char scene[] =
        "<mujoco><option gravity='0 0 0'/><asset><mesh name='m' vertex='0 -1 -1 0 1 -1 0 0 2 1 "
        "0 0'/></asset><worldbody>%s<body pos='0 0 1'><joint type='slide' axis='1 0 0'/><geom "
        "size='0.1'/><site name='s' zaxis='1 0 0'/></body></worldbody><sensor><rangefinder "
        "site='s'/></sensor></mujoco>";
    static const struct {
        const char *geoms;
        double distance, tolerance;
    } cases[] = {
        {"", -1, 0},
        {"<geom size='0.5' pos='2 0 1'/>", 1.5, 1e-12},
        {"<geom size='0.5' pos='2 0.3 1'/>", 1.6, 1e-12},
        {"<geom size='0.5' pos='-2 0 1'/>", -1, 0},
        {"<geom size='0.5' pos='0.2 0 1'/>", 0.7, 1e-12}, // from inside
        {"<geom type='box' size='0.5 1 1' pos='2 0 1'/>", 1.5, 1e-12},
        {"<geom type='box' size='0.5 1 1' pos='2 3 1'/>", -1, 0},
        {"<geom type='cylinder' size='0.5 1' pos='2 0 1'/>", 1.5, 1e-12},
        {"<geom type='cylinder' size='0.5 1' pos='3 0.2 1' zaxis='1 0 0'/>", 2.0, 1e-12},
        {"<geom type='capsule' size='0.5 1' pos='3 0 1' zaxis='1 0 0'/>", 1.5, 1e-12},
        {"<geom type='capsule' size='0.5 1' pos='3 0 1.2'/>", 2.5, 1e-12},
        {"<geom type='ellipsoid' size='0.5 1 2' pos='3 0 1'/>", 2.5, 1e-12},
        {"<geom type='plane' size='1 1 1' pos='2 0 1' zaxis='-1 0 0'/>", 2, 1e-12},
        {"<geom type='plane' size='1 1 1' pos='2 0 1' zaxis='1 0 0'/>", -1, 0}, // from behind
        {"<geom type='mesh' mesh='m' pos='2 0 1'/>", 2, 1e-6},
        {"<geom size='0.5' pos='4 0 1'/><geom size='0.5' pos='2 0 1'/>", 1.5, 1e-12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_RIG rig = rig_open(*state, formatted(scene, cases[i].geoms), rig_config());
        assert_named_near(value_of(&rig, 0, 0), cases[i].distance, cases[i].tolerance,
                          cases[i].geoms);
    }
}

// The distance to the ground of a world, level: h / cos.
TEST(rays_end_at_the_ground) {
    AUTO_RIG rig = rig_open(
        *state,
        "<mujoco><worldbody><body pos='0 0 2'><joint type='slide' axis='0 0 1'/><geom "
        "size='0.1'/><site name='s' zaxis='3 0 -4'/></body></worldbody><sensor><rangefinder "
        "site='s'/></sensor></mujoco>",
        rig_config());
    assert_near(value_of(&rig, 0, 0), 2.0 * 5 / 4, 1e-12);
}

// ---- noise, cutoff, rate -----------------------------------------------------------------------

static const char noisy[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='j'/><geom size='1' "
    "contype='0' conaffinity='0'/></body></worldbody><sensor><jointpos joint='j' noise='0.1'/>"
    "<jointpos joint='j' noise='0.1' cutoff='0.05'/><jointvel joint='j'/></sensor></mujoco>";

TEST(noise_has_its_size) {
    RigConfig config = WITH(rig_config(), .count = 1000);
    Rig rig = rig_open(*state, noisy, config);
    double sum = 0, square = 0, product = 0;
    for (int k = 0; k < 20; k++) {
        mf_world_step(rig.world, 1);
        for (uint32_t i = 0; i < config.count; i++) {
            double x = value_of(&rig, i, 0), y = value_of(&rig, i, 1);
            sum += x;
            square += x * x;
            product += x * y;
            assert_true(fabs(y) <= 0.05 + 1e-15);
            assert_near(value_of(&rig, i, 2), 0, 0);
        }
    }
    const double n = 20000;
    assert_near(sum / n, 0, 4 * 0.1 / sqrt(n));            // 4 standard deviations
    assert_near(square / n, 0.01, 4 * 0.01 * sqrt(2 / n)); // of its square
    assert_near(product / n, 0, 4 * 0.1 * 0.05 / sqrt(n)); // sensors are independent
    double before = value_of(&rig, 3, 0);
    mf_world_step(rig.world, 1);
    assert_true(before != value_of(&rig, 3, 0));
    rig_close(&rig);
    config.sensors.noise = false;
    rig = rig_open(*state, noisy, config);
    mf_world_step(rig.world, 3);
    assert_near(value_of(&rig, 7, 0), 0, 0);
    rig_close(&rig);
}

TEST(slow_sensors_keep_their_values) {
    RigConfig config = rig_config();
    config.sensors.rate = (mf_Rate){50, 1}; // each tenth step of 2 ms
    AUTO_RIG rig = rig_open(*state, noisy, config);
    int changes = 0;
    for (int k = 0; k < 200; k++) {
        double before = value_of(&rig, 0, 0);
        mf_world_step(rig.world, 1);
        changes += before != value_of(&rig, 0, 0);
    }
    assert_int_equal(changes, 20);
}

// ---- external forces ---------------------------------------------------------------------------

// A pan of 1 kg on a slide that rests on its limit carries a ball of 3 kg, 0.1 m from the middle:
// the limit holds both, and the holder of the pan gives it that force and the torque of the ball.
TEST(a_pan_is_weighed) {
    static const char scale[] =
        "<mujoco><option timestep='0.001'/><worldbody><body pos='0 0 1'><joint name='z' "
        "type='slide' axis='0 0 1' range='0 1'/><geom type='box' size='0.3 0.3 0.02' mass='1'/>"
        "<site name='s'/></body><body name='ball' pos='0.1 0 1.12'><freejoint/><geom size='0.1' "
        "mass='3' condim='1'/></body></worldbody><sensor><force site='s'/><torque site='s'/>"
        "<jointlimitfrc joint='z'/></sensor></mujoco>";
    AUTO_RIG rig = rig_open(*state, scale, rig_config());
    mf_world_step(rig.world, 2000);
    assert_values3(&rig, 0, 0, 0, 4 * G, 1e-6);
    assert_values3(&rig, 3, 0, -0.3 * G, 0, 1e-5);
    assert_near(value_of(&rig, 0, 6), 4 * G, 1e-6);
}

// The same with the range on a tendon of half the length.
TEST(a_tendon_holds_a_weight) {
    static const char scale[] =
        "<mujoco><option timestep='0.001'/><worldbody><body pos='0 0 1'><joint name='z' "
        "type='slide' axis='0 0 1'/><geom type='box' size='0.3 0.3 0.02' mass='2'/></body>"
        "</worldbody><tendon><fixed name='t' limited='true' range='-0.01 1'><joint joint='z' "
        "coef='0.5'/></fixed></tendon><sensor><tendonlimitfrc tendon='t'/></sensor></mujoco>";
    AUTO_RIG rig = rig_open(*state, scale, rig_config());
    mf_world_step(rig.world, 10); // still above
    assert_near(value_of(&rig, 0, 0), 0, 0);
    mf_world_step(rig.world, 2000);
    assert_near(value_of(&rig, 0, 0), 2 * G / 0.5, 1e-5);
}

// A beam of 2 kg and 1 m with a hinge at one end. The other end is held by an equality constraint,
// or rests with its ball on the ground: each end bears half of the weight, and the hinge no torque.
TEST(a_beam_on_two_supports) {
    static const char beam[] =
        "<mujoco><option timestep='0.001'/><worldbody><body name='beam' pos='0 0 0.1'><joint "
        "axis='0 1 0'/><inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.17 0.17'/>%s<site "
        "name='s'/></body></worldbody>%s<sensor><force site='s'/><torque site='s'/></sensor>"
        "</mujoco>";
    static const char *const supports[2][2] = {
        {"", "<equality><connect body1='beam' body2='world' anchor='1 0 0'/></equality>"},
        {"<geom size='0.1' pos='1 0 0' mass='0'/>", ""}};
    for (int i = 0; i < 2; i++) {
        AUTO_RIG rig =
            rig_open(*state, formatted(beam, supports[i][0], supports[i][1]), rig_config());
        mf_world_step(rig.world, 2000);
        assert_near(value_of(&rig, 0, 2), G, 1e-4);
        assert_values3(&rig, 3, 0, 0, 0, 2e-4);
    }
}

// A robot that tumbles: what its trunk is given is only what comes from outside, so a sensor on it
// reads 0, and a hinge without friction has no torque about its axis, with whatever else the
// links feel. Steps are short, since forces belong to the places at the beginning of the step.
static const char tumbler[] =
    "<mujoco><option timestep='0.00005'/><worldbody><geom type='box' size='0.5 0.5 0.1' pos='0.6 0 "
    "0.1'/><body name='trunk' pos='0 0 0.5' euler='10 20 30'><freejoint/><geom type='box' "
    "size='0.2 0.1 0.05' mass='2'/><site name='s'/><body name='arm' pos='0.25 0 0'><joint "
    "name='h' axis='0 0 1'/><geom type='capsule' fromto='0 0 0 0 0.3 0' size='0.04' mass='0.5'/>"
    "<site name='e'/><body name='hand' pos='0 0.4 0'><joint axis='1 0 0' range='-40 40' "
    "name='w'/><geom size='0.06' mass='0.3'/><site name='f'/></body></body></body><body "
    "name='other' pos='0.1 0.2 0.9'><freejoint/><geom size='0.1' mass='1'/></body></worldbody>"
    "<equality><connect body1='other' body2='arm' anchor='0 0 -0.15'/></equality><sensor><force "
    "site='s'/><torque site='s'/><force site='e'/><torque site='e'/><force site='f'/><torque "
    "site='f'/><jointlimitfrc joint='w'/></sensor></mujoco>";

TEST(a_pushed_base_feels_nothing) {
    static const char body[] =
        "<mujoco><option timestep='0.001'/><worldbody><body pos='0 0 9'><freejoint/><inertial "
        "pos='0.1 0 0' mass='2' diaginertia='1 2 3'/><site name='s'/></body></worldbody><sensor>"
        "<force site='s'/><torque site='s'/><accelerometer site='s'/></sensor></mujoco>";
    AUTO_RIG rig = rig_open(*state, body, rig_config());
    set_field3(rig.group, "base.force", 0, 3.0, 1.0, -1.0);
    set_field3(rig.group, "base.torque", 0, 0.5, 1.5, 2.5);
    mf_world_step(rig.world, 1);
    assert_true(fabs(value_of(&rig, 0, 6)) > 1.0);
    assert_values3(&rig, 0, 0, 0, 0, 1e-5); // of the turn within the step
    assert_values3(&rig, 3, 0, 0, 0, 1e-5);
}

TEST(external_forces_act_on_a_tumbling_robot) {
    double largest = 0.0, base = 0.0, hinge = 0.0, sum = 0.0;
    AUTO_RIG rig = rig_open(*state, tumbler, rig_config());
    for (int n = 0; n < 12000; n++) {
        mf_world_step(rig.world, 1);
        base = fmax(base, fmax(size_of(&rig, 0), size_of(&rig, 3)));
        largest = fmax(largest, size_of(&rig, 6));
        sum += value_of(&rig, 0, 18);
        hinge = fmax(hinge, fabs(value_of(&rig, 0, 11)));
    }
    assert_true(largest > 30.0 && sum > 0.0); // it hit something, and the wrist its limit
    assert_true(base < 1e-3 * largest);
    assert_true(hinge < 2e-4 * largest);
}

// ---- promises ----------------------------------------------------------------------------------

static const char everything_path[] = MAYFLY_SOURCE_DIR "/tests/sense/sensors.xml";

static Rig open_everything(mf_Context *context, RigConfig config) {
    Rig rig = {.context = context, .model = load_file(context, everything_path, NULL)};
    MUST(rig_try(&rig, config, &error));
    for (uint32_t i = 0; i < config.count; i++)
        for (uint32_t j = 0; j < rig.model->joint_count; j++)
            set_field(rig.group, "joint.rate", i, j, 0.01 * (i % 37) - 0.1 * j);
    return rig;
}

static uint64_t tumbler_hash(mf_Context *context, uint32_t count, uint32_t which, mf_Isa isa,
                             bool floats) {
    uint64_t hash = 0;
    AUTO_RIG rig = rig_open(context, tumbler,
                            WITH(rig_config(), .count = count, .isa = isa, .floats = floats));
    for (uint32_t i = 0; i < count; i++)
        set_field(rig.group, "free.velocity", i, 1, 0.2 * (count == 1 ? which : i) - 0.7);
    for (int n = 0; n < 22; n++) {
        mf_world_step(rig.world, 200);
        for (uint32_t c = 0; c < rig.model->sensor_value_count; c++) {
            double value = value_of(&rig, count == 1 ? 0 : which, c);
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = hash * 31 + bits;
        }
    }
    return hash;
}

// The same of forces from outside and of limits.
TEST(forces_depend_on_nothing) {
    for (int floats = 0; floats < 2; floats++) {
        uint64_t alone = tumbler_hash(*state, 1, 5, MF_ISA_AUTO, floats);
        assert_true(alone != tumbler_hash(*state, 1, 2, MF_ISA_AUTO, floats));
        FOR_EACH_ISA (isa)
            assert_true(tumbler_hash(*state, 7, 5, isa, floats) == alone);
    }
}

// All robots of a batch, on every instruction set, read the same bits as when they are alone.
TEST(bits_do_not_depend_on_settings) {
    for (int floats = 0; floats < 2; floats++) {
        uint64_t expected[40];
        FOR_EACH_ISA (isa) {
            AUTO_RIG rig = open_everything(
                *state, WITH(rig_config(), .count = 40, .floats = floats, .isa = isa));
            mf_world_step(rig.world, 30);
            for (uint32_t i = 0; i < 40; i++) {
                uint64_t hash = mf_group_instance_hash(rig.group, i);
                if (isa == MF_ISA_SCALAR)
                    expected[i] = hash;
                assert_int_equal(hash, expected[i]);
            }
        }
        AUTO_RIG alone = open_everything(*state, WITH(rig_config(), .floats = floats));
        mf_world_step(alone.world, 30);
        assert_int_equal(mf_group_instance_hash(alone.group, 0), expected[0]);
    }
}

TEST(floats_are_near_doubles) {
    AUTO_RIG precise = open_everything(*state, rig_config());
    AUTO_RIG single = open_everything(*state, WITH(rig_config(), .floats = true));
    mf_world_step(single.world, 5);
    mf_world_step(precise.world, 5);
    for (uint32_t i = 0; i < precise.model->sensor_value_count; i++) {
        double expected = value_of(&precise, 0, i);
        // Accelerations are differences of velocities over 2 ms.
        assert_near(value_of(&single, 0, i), expected, 2e-3 * (1 + fabs(expected)));
    }
}

TEST(a_faulty_robot_does_not_affect_others) {
    RigConfig config = WITH(rig_config(), .count = 20);
    AUTO_RIG clean = open_everything(*state, config), broken = open_everything(*state, config);
    mf_world_step(clean.world, 3);
    mf_world_step(broken.world, 3);
    double kept = value_of(&broken, 5, 0);
    set_field(broken.group, "joint.rate", 5, mf_model_find(broken.model, MF_ITEM_JOINT, "swing"),
              (double)NAN);
    mf_world_step(clean.world, 3);
    mf_world_step(broken.world, 3);
    assert_true(mf_group_fault(broken.group, 5) != 0);
    assert_near(value_of(&broken, 5, 0), kept, 0);
    assert_others_same(broken.group, clean.group, 5);
}

// A foot that is fixed to a shin shares its link: contacts are distinguished by the shapes that
// touch, forces of equality constraints by the body that they hold.
TEST(fixed_bodies_are_distinguished) {
    static const char leg[] =
        "<mujoco><worldbody><body name='a' pos='0 0 1'><freejoint/><geom size='0.1' mass='1'%s/>"
        "<body pos='0 0 -0.5'><geom size='0.1' mass='1'/><site name='s'/></body></body></worldbody>"
        "%s<sensor><force name='y' site='s'/></sensor></mujoco>";
    static const char tie[] = "<equality><connect body1='a' anchor='0 0 0'/></equality>";
    static const char *const parts[3][2] = {
        {"", ""}, {" contype='0' conaffinity='0'", ""}, {"", tie}};
    for (int i = 0; i < 3; i++) {
        AUTO_RIG rig = rig_open(*state, formatted(leg, parts[i][0], parts[i][1]), rig_config());
        mf_world_step(rig.world, 400);
        // the foot bears the upper ball, or hangs on itassert_values3(&rig, 0, 0, 0, i == 2 ? G :
        // -G, 1e-4);
    }
}

// `points` knows neither forces of limits nor of contacts on single bodies.
TEST(unmeasurable_sensors_are_named) {
    static const char limits[] =
        "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom size='0.1' mass='1'/><body><joint "
        "name='j' range='-1 1'/><geom size='0.1' mass='1'/><site "
        "name='s'/></body></body></worldbody><sensor><jointpos joint='j'/>%s</sensor></mujoco>";
    static const struct {
        const char *sensor, *names;
    } cases[] = {{"<jointlimitfrc name='x' joint='j'/>", "sensor 1 'x'"},
                 {"<force name='y' site='s'/>", "can collide"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RigConfig config = WITH(rig_config(), .points = true);
        AUTO_RIG rig = {.context = *state,
                        .model = load_text(*state, formatted(limits, cases[i].sensor))};
        MUST_FAIL(rig_try(&rig, config, &error), MF_UNSUPPORTED, cases[i].names);
        mf_world_destroy(rig.world);
        config.sensors.lenient = true;
        MUST(rig_try(&rig, config, &error));
        mf_world_step(rig.world, 5);
        assert_near(value_of(&rig, 0, 1), 0, 0);
    }
}

// `points` moves the same robot, and its sensors read.
TEST(points_has_sensors_too) {
    AUTO_RIG rig = rig_open(*state, box, WITH(rig_config(), .points = true));
    mf_world_step(rig.world, 500);
    assert_values3(&rig, 0, 0, 0, G, 0.05);
    assert_near(value_of(&rig, 0, 9), 2 * G, 0.05 * 2 * G);
}

TEST(snapshots_contain_readings) {
    AUTO_RIG rig = rig_open(*state, noisy, WITH(rig_config(), .sensors.rate = ((mf_Rate){50, 1})));
    mf_world_step(rig.world, 13);
    assert_continues(rig.world, 30);
}

static mf_Status make_and_ask(mf_Context *context, void *user, mf_Error *error) {
    Rig rig = {.context = context, .model = user};
    double values[400];
    mf_Status status = rig_try(&rig, rig_config(), error);
    if (status == MF_OK)
        status = mf_sensors_measure(rig.group, 0, NULL, values, error);
    mf_world_destroy(rig.world);
    return status;
}

TEST(adding_survives_every_failure) {
    mf_Model *models[] = {load_file(*state, everything_path, NULL),
                          load_text(*state, tumbler), // asks the motion for forces, too
                          load_file(*state, MAYFLY_SOURCE_DIR "/tests/sense/contacts.xml", NULL)};
    for (int i = 0; i < 3; i++) {
        assert_true(models[i]->sensor_value_count < 400);
        assert_true(torture(*state, make_and_ask, models[i], TORTURE_MUST_FAIL) > 20);
        mf_model_destroy(models[i]);
    }
}

TEST(mistakes_are_refused) {
    RigConfig config = rig_config();
    double values[20];
    Rig rig = rig_open(*state, noisy, config);
    MUST_FAIL(mf_sensors_add(rig.group, NULL, &error), MF_BAD_ARGUMENT, ""); // twice
    const uint32_t none = 99;
    MUST_FAIL(mf_articulated_report_forces(rig.group, &none, 1, &error), MF_BAD_ARGUMENT,
              "has no body 99");
    MUST(mf_articulated_report_limits(rig.group, &error));
    MUST_FAIL(mf_articulated_report_limits(rig.group, &error), MF_BAD_ARGUMENT, "already");
    mf_SensorsConfig bad = {0};
    MUST_FAIL(mf_sensors_add(rig.group, &bad, &error), MF_BAD_ARGUMENT, "");
    rig_close(&rig);
    rig = rig_open(*state,
                   "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody>"
                   "</mujoco>",
                   config); // a robot without sensors gets nothing
    assert_null(mf_group_find_field(rig.group, "sensor.value"));
    MUST_FAIL(mf_sensors_measure(rig.group, 0, NULL, values, &error), MF_BAD_ARGUMENT, "");
    rig_close(&rig);
}

// ---- queries -----------------------------------------------------------------------------------

static bool read_numbers(double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (scanf("%lf", &values[i]) != 1)
            return false;
    return true;
}

static double *numbers(uint32_t count) {
    double *values = calloc((size_t)count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static int answer(const char *path, bool contacts) {
    Rig rig = {0};
    mf_Error error = {0};
    RigConfig config = WITH(rig_config(), .sensors.noise = false, .sensors.lenient = true);
    mf_context_create(NULL, &rig.context, NULL);
    if (mf_model_load(rig.context, path, NULL, &rig.model, &error) != MF_OK) {
        printf("%s\n", error.message);
        return 3;
    }
    if (!contacts)
        ((mf_Model *)(uintptr_t)rig.model)->physics.disabled |=
            MF_DISABLE_CONTACT; // not shared yet
    if (rig_try(&rig, config, &error) != MF_OK) {
        printf("%s\n", error.message);
        return 3;
    }
    uint32_t nq = rig.model->position_count, nv = rig.model->velocity_count,
             nu = rig.model->actuator_count;
    double *q = numbers(nq), *v = numbers(nv), *a = numbers(nv), *force = numbers(nu),
           *values = numbers(rig.model->sensor_value_count);
    while (read_numbers(q, nq) && read_numbers(v, nv) && read_numbers(a, nv) &&
           read_numbers(force, nu)) {
        mf_group_set_state(rig.group, 0, q, v);
        for (uint32_t i = 0; i < nu; i++)
            set_field(rig.group, "actuator.force", 0, i, force[i]);
        if (mf_sensors_measure(rig.group, 0, a, values, &error) != MF_OK)
            return 4;
        for (uint32_t i = 0; i < rig.model->sensor_value_count; i++)
            printf("%.17g ", values[i]);
        printf("\n");
    }
    free(q);
    free(v);
    free(a);
    free(force);
    free(values);
    rig_close(&rig);
    mf_context_destroy(rig.context);
    return 0;
}

GROUP_FIXTURE(setup_context, teardown_context);

int main(int argument_count, char **arguments) {
    if (argument_count > 1)
        return answer(arguments[1], argument_count > 2);
    return run_listed_tests();
}
