// Sensors in robot files and the processing of their values: URDF's <mayfly>, IMU, encoders, feet
// and rays in motions with known values, at several levels of motion; rate and delay of MJCF
// against MuJoCo.
#include "sense/signal_rig.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define G 9.81

// A box with an arm on a vertical hinge; the IMU sits 0.3 m out on the arm, turned by 90 degrees
// about z, so that its x points along y of the arm.
#define ARM(sensors)                                                                               \
    "<robot name='r'><link name='box'><inertial><mass value='2'/><inertia ixx='0.02' iyy='0.02' "  \
    "izz='0.02'/></inertial><collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision>" \
    "</link><link name='arm'><inertial><mass value='1e-3'/><inertia ixx='1e-5' iyy='1e-5' "        \
    "izz='1e-5'/></inertial></link><joint name='turn' type='continuous'><parent link='box'/>"      \
    "<child link='arm'/><origin xyz='0 0 0.3'/><axis xyz='0 0 1'/></joint><mayfly>" sensors        \
    "</mayfly></robot>"
#define IMU                                                                                        \
    "<sensor name='acc' type='accelerometer' link='arm' xyz='0.3 0 0' rpy='0 0 "                   \
    "1.57079632679489662'/><sensor name='gyro' type='gyroscope' link='arm' rpy='0 0 "              \
    "1.57079632679489662'/><sensor name='level' type='attitude' link='box'/><sensor "              \
    "name='angle' type='encoder' joint='turn'/><sensor name='speed' type='joint_rate' "            \
    "joint='turn'/><sensor name='down' type='ray' link='box' rpy='0 1.57079632679489662 0' "       \
    "reach='3'/><sensor name='foot' type='contact_force' link='box'/><sensor name='touch' "        \
    "type='contact' link='box'/><sensor name='where' type='position' link='box'/><sensor "         \
    "name='truth' type='field' field='base.position' first='2'/>"

#define ARM_CONFIG(sensors) WITH(rig_config(), .model = ARM(sensors), .step = MF_MILLISECOND)

static uint32_t address_of(const Rig *rig, const char *sensor) {
    uint32_t index = mf_model_find(rig->model, MF_ITEM_SENSOR, sensor);
    assert_int_not_equal(index, MF_NONE);
    return rig->model->sensors[index].address;
}

static double reading(const Rig *rig, const char *sensor, uint32_t value) {
    return rig_get(rig, "sensor.value", 0, address_of(rig, sensor) + value);
}

#define assert_reading3(rig, sensor, x, y, z, tolerance)                                           \
    assert_fields3((rig)->group, "sensor.value", 0, address_of(rig, sensor), x, y, z, tolerance)

static Rig open_moving(mf_Context *context, RigConfig config, mf_Motion motion) {
    Rig rig = rig_open(context, config);
    MUST(mf_motion_add(rig.group, motion, NULL, &error));
    MUST(mf_sensors_add(rig.group, NULL, &error));
    return rig;
}

// ---- known motions -----------------------------------------------------------------------------

// In the air: 0; the ray sees the ground, up to its length. At rest: +g upwards, and the feet bear
// the weight, at every level that falls.
TEST(falling_and_resting) {
    for (mf_Motion level = MF_MOTION_POINTS; level < MF_MOTION_LEVELS; level++) {
        AUTO_RIG rig = open_moving(*state, ARM_CONFIG(IMU), level);
        const double weight = rig.model->mass * G;
        assert_reading3(&rig, "acc", 0, 0, G, 1e-12);
        rig_set(&rig, "base.position", 0, 2, 2.0);
        mf_world_step(rig.world, 200);
        assert_reading3(&rig, "acc", 0, 0, 0, 1e-9);
        double fallen = 2.0 - rig_get(&rig, "base.position", 0, 2);
        assert_near(fallen, 0.5 * G * 0.04, 0.003);
        assert_near(reading(&rig, "down", 0), 2.0 - fallen, 1e-9);
        assert_near(reading(&rig, "where", 2), 2.0 - fallen, 1e-12);
        assert_near(reading(&rig, "truth", 0), 2.0 - fallen, 1e-12);
        assert_true(reading(&rig, "foot", 0) == 0.0 && reading(&rig, "touch", 0) == 0.0);
        rig_set(&rig, "base.position", 0, 2, 4.0);
        mf_world_step(rig.world, 1);
        assert_true(reading(&rig, "down", 0) == 3.0);
        rig_set(&rig, "base.position", 0, 2, 0.1);
        set_field3(rig.group, "base.linear_velocity", 0, 0, 0, 0);
        mf_world_step(rig.world, 4000);
        assert_reading3(&rig, "acc", 0, 0, G, 0.02);
        assert_near(reading(&rig, "foot", 0), weight, 0.01 * weight);
        assert_true(reading(&rig, "touch", 0) == 1.0);
    }
}

// Robots of one group at different levels, and one that changes: each reads the loads of its own
// motion, never what another motion wrote last.
TEST(loads_are_those_of_the_present_level) {
    AUTO_RIG rig = rig_open(
        *state,
        WITH(rig_config(),
             .model =
                 ARM("<sensor name='foot' type='contact_force' link='box'/><sensor name='touch' "
                     "type='contact' link='box'/>"),
             .step = MF_MILLISECOND, .count = 2));
    MUST(mf_motions_add(rig.group,
                        &WITH(mf_motions_config(), .start = MF_MOTION_POINTS,
                              .has[MF_MOTION_ARTICULATED] = true, .has[MF_MOTION_RIGID] = true),
                        &error));
    MUST(mf_sensors_add(rig.group, NULL, &error));
    const double weight = rig.model->mass * G;
    static const mf_Motion order[] = {MF_MOTION_POINTS, MF_MOTION_ARTICULATED, MF_MOTION_RIGID,
                                      MF_MOTION_POINTS};
    for (int k = 0; k < 4; k++) {
        MUST(mf_motion_switch(rig.group, 0, order[k], &error));
        mf_world_step(rig.world, 3000);
        for (uint32_t i = 0; i < 2; i++) // the other robot stays at points
            assert_near(rig_get(&rig, "sensor.value", i, 0), weight, 0.02 * weight);
        assert_true(rig_get(&rig, "sensor.value", 0, 1) == 1.0);
        // In the air nothing is left of any level.
        rig_set(&rig, "base.position", 0, 2, 0.3);
        mf_world_step(rig.world, 20);
        assert_true(rig_get(&rig, "sensor.value", 0, 0) == 0.0);
        assert_true(rig_get(&rig, "sensor.value", 0, 1) == 0.0);
        mf_world_step(rig.world, 2000);
    }
}

// The arm turns at w: the IMU's y looks inward, so it reads + w^2 r there, and w about z.
TEST(a_turning_arm) {
    AUTO_RIG rig = open_moving(*state, ARM_CONFIG(IMU), MF_MOTION_ARTICULATED);
    rig_set(&rig, "base.position", 0, 2, 50.0);
    rig_set(&rig, "joint.rate", 0, 0, 4.0);
    mf_world_step(rig.world, 1);
    double rate = rig_get(&rig, "joint.rate", 0, 0) + rig_get(&rig, "base.angular_velocity", 0, 2);
    assert_reading3(&rig, "gyro", 0, 0, rate, 1e-9);
    assert_near(reading(&rig, "acc", 1), rate * rate * 0.3, 1e-6);
    assert_near(reading(&rig, "acc", 2), 0, 1e-6);
    assert_near(reading(&rig, "angle", 0), rig_get(&rig, "joint.angle", 0, 0), 0);
    assert_near(reading(&rig, "speed", 0), rig_get(&rig, "joint.rate", 0, 0), 0);
}

// Roll, pitch, yaw of a turned robot, by the formula of URDF.
TEST(attitude_is_roll_pitch_yaw) {
    AUTO_RIG rig = open_moving(*state, ARM_CONFIG(IMU), MF_MOTION_ARTICULATED);
    const double roll = 0.3, pitch = -0.7, yaw = 2.5;
    const double q[4] = {cos(roll / 2) * cos(pitch / 2) * cos(yaw / 2) +
                             sin(roll / 2) * sin(pitch / 2) * sin(yaw / 2),
                         sin(roll / 2) * cos(pitch / 2) * cos(yaw / 2) -
                             cos(roll / 2) * sin(pitch / 2) * sin(yaw / 2),
                         cos(roll / 2) * sin(pitch / 2) * cos(yaw / 2) +
                             sin(roll / 2) * cos(pitch / 2) * sin(yaw / 2),
                         cos(roll / 2) * cos(pitch / 2) * sin(yaw / 2) -
                             sin(roll / 2) * sin(pitch / 2) * cos(yaw / 2)};
    rig_set(&rig, "base.position", 0, 2, 50.0);
    set_fields(rig.group, "base.orientation", 0, 4, q);
    mf_world_step(rig.world, 1);
    assert_reading3(&rig, "level", roll, pitch, yaw, 1e-6);
}

// ---- what the file says ------------------------------------------------------------------------

TEST(every_attribute_is_read) {
    AUTO_MODEL *model = load_text(
        *state,
        ARM("<sensor name='a' type='gyroscope' link='arm' rate='62.5' delay='0.0025' noise='0.1' "
            "bias='0.2' drift='0.3' saturation='40' range='-20 30' bits='10'/><sensor name='b' "
            "type='encoder' joint='turn' resolution='0.01' range='3'/>"));
    const mf_Signal *a = &model->sensors[mf_model_find(model, MF_ITEM_SENSOR, "a")].signal;
    const mf_Signal *b = &model->sensors[mf_model_find(model, MF_ITEM_SENSOR, "b")].signal;
    assert_true(a->rate.numerator * 2 == a->rate.denominator * 125);
    assert_true(a->delay == 2500000);
    assert_true(a->noise == 0.1 && a->bias == 0.2 && a->drift == 0.3);
    assert_true(a->saturation[0] == -40 && a->saturation[1] == 40);
    assert_true(a->range[0] == -20 && a->range[1] == 30 && a->bits == 10 && a->resolution == 0);
    assert_true(b->resolution == 0.01 && b->range[0] == -3 && b->range[1] == 3 && b->bits == 0);
    assert_true(b->rate.numerator == 0 && b->delay == 0 && b->noise == 0);
}

TEST(mistakes_are_named_with_their_line) {
    static const struct {
        const char *sensor, *names;
    } bad[] = {
        {"<sensor type='encoder' joint='turn'/>", "name"},
        {"<sensor name='s'/>", "type"},
        {"<sensor name='s' type='nose' link='box'/>", "expected one of contact, ray, attitude"},
        {"<sensor name='s' type='gyroscope'/>", "link"},
        {"<sensor name='s' type='gyroscope' link='leg'/>", "there is no link 'leg'"},
        {"<sensor name='s' type='encoder' joint='knee'/>", "there is no joint 'knee'"},
        {"<sensor name='s' type='ray' link='box'/>", "reach"},
        {"<sensor name='s' type='ray' link='box' reach='0'/>", "reach: expected a number > 0"},
        {"<sensor name='s' type='encoder' joint='turn' noize='1'/>", "no attribute 'noize'"},
        {"<sensor name='s' type='encoder' joint='turn' noise='-1'/>", "noise, expected"},
        {"<sensor name='s' type='encoder' joint='turn' noise='x'/>", "noise"},
        {"<sensor name='s' type='encoder' joint='turn' rate='0'/>", "rate: expected 0.001 to 1e6"},
        {"<sensor name='s' type='encoder' joint='turn' delay='-1'/>", "delay, expected"},
        {"<sensor name='s' type='encoder' joint='turn' bits='1.5' range='1'/>", "whole number"},
        {"<sensor name='s' type='encoder' joint='turn' bits='8'/>", "8 bits need a range"},
        {"<sensor name='s' type='encoder' joint='turn' range='2 1'/>", "the smaller first"},
        {"<sensor name='s' type='encoder' joint='turn' range='-1'/>", "range: expected"},
        {"<sensor name='s' type='encoder' joint='turn' range='1 2 3'/>", "one or two numbers"},
        {"<sensor name='s' type='field'/>", "field"},
        {"<sensor name='s' type='field' field='base.position' count='0'/>", "count: expected 1"},
        {"<sensor name='s' type='encoder' joint='turn'/><sensor name='s' type='encoder' "
         "joint='turn'/>",
         "two sensors are named 's'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(*state, formatted(ARM("\n%s"), bad[i].sensor), MF_BAD_FILE, 2, bad[i].names);
    }
}

// A field that is not there when the sensors are added.
TEST(a_missing_field_is_named) {
    AUTO_RIG rig =
        rig_open(*state, WITH(rig_config(),
                              .model = ARM("<sensor name='s' type='field' field='gait.time'/>")));
    MUST_FAIL_AS(mf_sensors_add(rig.group, NULL, &error), MF_UNSUPPORTED,
                 "sensor 0 's' of field gait.time cannot be measured: the group has no field of "
                 "that name");
    MUST(mf_sensors_add(rig.group, &WITH(mf_sensors_config(), .lenient = true), &error));
    char note[MF_SENSORS_NOTE];
    assert_true(mf_sensors_note(rig.group, 0, note));
    assert_string_equal(
        note, "sensor 0 's' of field gait.time reads 0: the group has no field of that name");
    mf_world_step(rig.world, 2);
    assert_true(reading(&rig, "s", 0) == 0.0);
}

// ---- readings ----------------------------------------------------------------------------------

// The same robot with ideal and real sensors: the readings are those of earlier states, rounded;
// `raw` holds what is true.
TEST(an_encoder_is_late_and_coarse) {
    enum { STEPS = 400 };
    static double truth[STEPS + 1];
    AUTO_RIG rig = open_moving(
        *state,
        ARM_CONFIG("<sensor name='real' type='encoder' joint='turn' rate='250' delay='0.006' "
                   "range='6.4' bits='12'/><sensor name='ideal' type='encoder' joint='turn'/>"
                   "<sensor name='noisy' type='encoder' joint='turn' noise='0.01'/>"),
        MF_MOTION_ARTICULATED);
    rig_set(&rig, "base.position", 0, 2, 50.0);
    rig_set(&rig, "joint.rate", 0, 0, 9.0);
    const double step = 12.8 / 4096;
    double square = 0;
    truth[0] = 0.0;
    for (int s = 1; s <= STEPS; s++) {
        mf_world_step(rig.world, 1);
        truth[s] = rig_get(&rig, "joint.angle", 0, 0);
        int seen = s < 6 ? 0 : (s - 6) / 4 * 4; // each 4 ms, 6 ms late
        assert_near(reading(&rig, "real", 0), truth[seen], 0.5 * step + 1e-12);
        double code = reading(&rig, "real", 0) / step;
        assert_near(code, floor(code + 0.5), 1e-9);
        assert_near(reading(&rig, "ideal", 0), truth[s], 0);
        double distance = reading(&rig, "noisy", 0) - truth[s];
        square += distance * distance / STEPS;
    }
    assert_near(square, 1e-4, 4.5e-4 * sqrt(2.0 / STEPS));
}

TEST(without_noise_the_delay_stays) {
    AUTO_RIG rig = rig_open(
        *state, ARM_CONFIG("<sensor name='s' type='encoder' joint='turn' noise='1' bias='1'/>"));
    MUST(mf_sensors_add(rig.group, &WITH(mf_sensors_config(), .noise = false), &error));
    mf_world_step(rig.world, 3);
    assert_true(reading(&rig, "s", 0) == 0.0);
}

// The sensors of the walking experiments go the same way: late contacts, coarse rays, at their own
// rates; joints and attitude at that of the controller.
TEST(walkers_have_real_sensors_too) {
    AUTO_RIG rig = rig_open(
        *state,
        WITH(rig_config(),
             .model =
                 ARM("<sensor name='touch' type='contact' link='box' delay='0.03'/><sensor "
                     "name='down' type='ray' link='box' rpy='0 1.57079632679489662 0' reach='9' "
                     "resolution='0.25' rate='50'/>")));
    MUST(mf_motion_add(rig.group, MF_MOTION_POINTS, NULL, &error));
    MUST(mf_sensors_add(rig.group,
                        &WITH(mf_sensors_config(), .rate = ((mf_Rate){25, 1}),
                              .before_control = true, .posture = true),
                        &error));
    uint32_t loads = mf_group_find_field(rig.group, "point.load")->components;
    bool touched[100];
    double height[100], joint = 0;
    for (int s = 0; s < 100; s++) {
        set_field3(rig.group, "base.linear_velocity", 0, 0, 0, 0);
        rig_set(&rig, "base.position", 0, 2, s % 7 < 3 ? 0.09 : 1.0 + 0.03 * s);
        rig_set(&rig, "joint.angle", 0, 0, 0.01 * s);
        touched[s] = false;
        for (uint32_t c = 0; c < loads; c++)
            touched[s] |= rig_get(&rig, "point.load", 0, c) > 0;
        height[s] = rig_get(&rig, "base.position", 0, 2);
        if (s % 4 == 0)
            joint = 0.01 * s;
        mf_world_step(rig.world, 1);
        // Contacts at the controller's rate, each fourth step, and three steps late.
        bool expected = s >= 3 && touched[(s - 3) / 4 * 4];
        assert_true(rig_get(&rig, "sensor.value", 0, 0) == expected);
        double seen = height[s - s % 2];
        assert_near(rig_get(&rig, "sensor.value", 0, 1), 0.25 * floor(seen * 4 + 0.5), 1e-9);
        assert_near(rig_get(&rig, "sensor.value", 0, 2), joint, 0);
    }
}

// MuJoCo 4.0.0, mj_step and then sensordata in units of 10 ms: a slide at 1 m/s, steps of 10 ms.
// The reading that it shows after step k is that of the state before it, so ours of state k - 1.
TEST(rates_and_delays_of_mjcf_are_those_of_mujoco) {
    static const struct {
        const char *attributes;
        double expected[14];
    } cases[] = {
        {"", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
        {"nsample='4' delay='0.03'", {0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
        {"nsample='8' delay='0.025'", {0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
        {"interval='0.03'", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
        {"nsample='1' interval='0.03'", {0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9, 12, 12}},
        {"nsample='4' interval='0.03' delay='0.02'", {0, 0, 0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9}},
        {"nsample='4' interval='0.03' delay='0.04'", {0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 6, 6, 6, 9}},
        {"nsample='4'", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *text = formatted(
            "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody><body><joint "
            "name='j' type='slide'/><geom size='0.1'/></body></worldbody><sensor><jointpos "
            "joint='j' %s/></sensor></mujoco>",
            cases[k].attributes);
        AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .model = text));
        MUST(mf_sensors_add(rig.group, NULL, &error));
        for (int s = 0; s < 14; s++) {
            assert_near(rig_get(&rig, "sensor.value", 0, 0), 0.01 * cases[k].expected[s], 1e-12);
            rig_set(&rig, "joint.angle", 0, 0, 0.01 * (s + 1));
            mf_world_step(rig.world, 1);
        }
    }
}

TEST(mjcf_keeps_rate_and_delay_when_written) {
    AUTO_MODEL *model = load_text(
        *state, "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody>"
                "<sensor><jointpos joint='j' noise='0.1' cutoff='2' nsample='9' delay='0.02' "
                "interval='0.01'/></sensor></mujoco>");
    char path[512];
    write_text(path, "late.xml", "");
    MUST(mf_model_export_mjcf(model, path, &error));
    AUTO_MODEL *again = load_file(*state, path, NULL);
    const mf_Signal *a = &model->sensors[0].signal, *b = &again->sensors[0].signal;
    assert_true(b->delay == 20 * MF_MILLISECOND && b->noise == 0.1 && b->range[1] == 2.0);
    assert_true(b->rate.numerator * a->rate.denominator == a->rate.numerator * b->rate.denominator);
    remove(path);
    assert_true(mf_model_hash(model) == mf_model_hash(again));
}

// ---- the humanoid ------------------------------------------------------------------------------

// Standing at the two levels that need no controller: the soles bear the weight, the IMU shows +g,
// within five standard deviations and the converter's step; each robot has its own bias.
TEST(the_humanoid_feels) {
    static const mf_Motion motions[] = {MF_MOTION_POINTS, MF_MOTION_KINEMATIC};
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig =
            open_moving(*state,
                        WITH(rig_config(), .model = MAYFLY_SOURCE_DIR "/models/humanoid.urdf",
                             .step = MF_MILLISECOND, .count = 3, .floats = true),
                        motions[k]);
        for (uint32_t j = 0; j < rig.model->joint_count; j++) { // an encoder at each joint
            bool found = false;
            for (uint32_t s = 0; s < rig.model->sensor_count; s++)
                found |= rig.model->sensors[s].type == MF_SENSOR_JOINT_POSITION &&
                         rig.model->sensors[s].joint == j;
            assert_true(found);
        }
        mf_world_step(rig.world, 2000);
        double weight = rig.model->mass * G;
        double feet = reading(&rig, "left_sole", 0) + reading(&rig, "right_sole", 0);
        assert_near(feet, weight, 5 * sqrt(2) * sqrt(0.8 * 0.8 + 0.8 * 0.8) + 0.26);
        assert_near(reading(&rig, "accelerometer", 2), G, 5 * 0.197 + 0.04);
        assert_near(reading(&rig, "gyroscope", 1), 0.0, 0.06);
        uint32_t attitude = address_of(&rig, "attitude");
        assert_true(rig_get(&rig, "sensor.value", 0, attitude) !=
                    rig_get(&rig, "sensor.value", 1, attitude));
        // In the order of the file: IMU and attitude, then the soles.
        double loads = rig_get(&rig, "sensor.raw", 0, 9) + rig_get(&rig, "sensor.raw", 0, 10);
        assert_near(loads, weight, 0.01 * weight);
    }
}

// ---- failures ----------------------------------------------------------------------------------

static const char noisy_robot[] =
    ARM("<sensor name='g' type='gyroscope' link='arm' rate='100' delay='0.02' noise='0.1' "
        "bias='0.1' range='9' bits='9'/><sensor name='c' type='contact' link='box' delay='0.01'/>"
        "<sensor name='f' type='field' field='base.position' count='3'/>");

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    AUTO_MODEL *model = NULL;
    AUTO_WORLD *made = NULL;
    mf_Group *robots;
    mf_SensorsConfig sensors = WITH(mf_sensors_config(), .rate = ((mf_Rate){50, 1}),
                                    .before_control = true, .posture = true);
    MF_TRY(mf_model_load(context, user, NULL, &model, error));
    MF_TRY(
        try_group(context, NULL, &WITH(mf_group_config(), .model = model), &made, &robots, error));
    MF_TRY(mf_motion_add(robots, MF_MOTION_POINTS, NULL, error));
    MF_TRY(mf_sensors_add(robots, &sensors, error));
    mf_world_step(made, 5);
    return MF_OK;
}

TEST(making_survives_every_failure) {
    char path[512];
    write_text(path, "noisy.urdf", noisy_robot);
    assert_true(torture(*state, make_and_step, path, TORTURE_MUST_FAIL) > 20);
    remove(path);
}
