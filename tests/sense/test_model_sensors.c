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

static double reading(const Rig *rig, const char *sensor, uint32_t value) {
    uint32_t index = mf_model_find(rig->model, MF_ITEM_SENSOR, sensor);
    assert_int_not_equal(index, MF_NONE);
    return rig_get(rig, "sensor.value", 0, rig->model->sensors[index].address + value);
}

static void readings3(const Rig *rig, const char *sensor, double out[3]) {
    for (uint32_t i = 0; i < 3; i++)
        out[i] = reading(rig, sensor, i);
}

static mf_Status add_motion(mf_Group *group, mf_Motion motion, mf_Error *error) {
    switch (motion) {
    case MF_MOTION_KINEMATIC:
        return mf_motion_add(group, MF_MOTION_KINEMATIC, NULL, error);
    case MF_MOTION_POINTS:
        return mf_motion_add(group, MF_MOTION_POINTS, NULL, error);
    case MF_MOTION_RIGID:
        return mf_motion_add(group, MF_MOTION_RIGID, NULL, error);
    case MF_MOTION_PRESCRIBED:
        return mf_motion_add(group, MF_MOTION_PRESCRIBED, NULL, error);
    default:
        return mf_motion_add(group, MF_MOTION_ARTICULATED, NULL, error);
    }
}

static Rig open_with(mf_Context *context, const char *text, mf_Motion motion) {
    Rig rig;
    mf_Error error = {0};
    rig = rig_open(context, WITH(rig_config(), .text = text, .step = MF_MILLISECOND));
    mf_Status status = add_motion(rig.group, motion, &error);
    if (status == MF_OK)
        status = mf_sensors_add(rig.group, NULL, &error);
    if (status != MF_OK)
        fail_msg("%s", error.message);
    return rig;
}

// ---- known motions -----------------------------------------------------------------------------

// In the air: 0; the ray sees the ground, up to its length. At rest: +g upwards, and the feet bear
// the weight, at every level that falls.
TEST(falling_and_resting) {
    for (mf_Motion level = MF_MOTION_POINTS; level < MF_MOTION_LEVELS; level++) {
        double a[3];
        AUTO_RIG rig = open_with(*state, ARM(IMU), level);
        const double weight = rig.model->mass * G;
        readings3(&rig, "acc", a);
        assert_near3(a, 0, 0, G, 1e-12);
        rig_set(&rig, "base.position", 0, 2, 2.0);
        mf_world_step(rig.world, 200);
        readings3(&rig, "acc", a);
        assert_near3(a, 0, 0, 0, 1e-9);
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
        for (uint32_t i = 0; i < 3; i++)
            rig_set(&rig, "base.linear_velocity", 0, i, 0.0);
        mf_world_step(rig.world, 4000);
        readings3(&rig, "acc", a);
        assert_near3(a, 0, 0, G, 0.02);
        assert_near(reading(&rig, "foot", 0), weight, 0.01 * weight);
        assert_true(reading(&rig, "touch", 0) == 1.0);
    }
}

// Robots of one group at different levels, and one that changes: each reads the loads of its own
// motion, never what another motion wrote last.
TEST(loads_are_those_of_the_present_level) {
    mf_Error error = {0};
    AUTO_RIG rig = rig_open(
        *state,
        WITH(rig_config(),
             .text =
                 ARM("<sensor name='foot' type='contact_force' link='box'/><sensor name='touch' "
                     "type='contact' link='box'/>"),
             .step = MF_MILLISECOND, .count = 2));
    mf_Status status =
        mf_motions_add(rig.group,
                       &WITH(mf_motions_config(), .start = MF_MOTION_POINTS,
                             .has[MF_MOTION_ARTICULATED] = true, .has[MF_MOTION_RIGID] = true),
                       &error);
    if (status == MF_OK)
        status = mf_sensors_add(rig.group, NULL, &error);
    if (status != MF_OK)
        fail_msg("%s", error.message);
    const double weight = rig.model->mass * G;
    static const mf_Motion order[] = {MF_MOTION_POINTS, MF_MOTION_ARTICULATED, MF_MOTION_RIGID,
                                      MF_MOTION_POINTS};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(mf_motion_switch(rig.group, 0, order[k], &error), MF_OK);
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
    double a[3], w[3];
    AUTO_RIG rig = open_with(*state, ARM(IMU), MF_MOTION_ARTICULATED);
    rig_set(&rig, "base.position", 0, 2, 50.0);
    rig_set(&rig, "joint.rate", 0, 0, 4.0);
    mf_world_step(rig.world, 1);
    double rate = rig_get(&rig, "joint.rate", 0, 0) + rig_get(&rig, "base.angular_velocity", 0, 2);
    readings3(&rig, "gyro", w);
    assert_near3(w, 0, 0, rate, 1e-9);
    readings3(&rig, "acc", a);
    assert_near(a[1], rate * rate * 0.3, 1e-6);
    assert_near(a[2], 0, 1e-6);
    assert_near(reading(&rig, "angle", 0), rig_get(&rig, "joint.angle", 0, 0), 0);
    assert_near(reading(&rig, "speed", 0), rig_get(&rig, "joint.rate", 0, 0), 0);
}

// Roll, pitch, yaw of a turned robot, by the formula of URDF.
TEST(attitude_is_roll_pitch_yaw) {
    AUTO_RIG rig = open_with(*state, ARM(IMU), MF_MOTION_ARTICULATED);
    const double roll = 0.3, pitch = -0.7, yaw = 2.5;
    const double q[4] = {cos(roll / 2) * cos(pitch / 2) * cos(yaw / 2) +
                             sin(roll / 2) * sin(pitch / 2) * sin(yaw / 2),
                         sin(roll / 2) * cos(pitch / 2) * cos(yaw / 2) -
                             cos(roll / 2) * sin(pitch / 2) * sin(yaw / 2),
                         cos(roll / 2) * sin(pitch / 2) * cos(yaw / 2) +
                             sin(roll / 2) * cos(pitch / 2) * sin(yaw / 2),
                         cos(roll / 2) * cos(pitch / 2) * sin(yaw / 2) -
                             sin(roll / 2) * sin(pitch / 2) * cos(yaw / 2)};
    double angles[3];
    rig_set(&rig, "base.position", 0, 2, 50.0);
    for (uint32_t i = 0; i < 4; i++)
        rig_set(&rig, "base.orientation", 0, i, q[i]);
    mf_world_step(rig.world, 1);
    readings3(&rig, "level", angles);
    assert_near3(angles, roll, pitch, yaw, 1e-6);
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
        char text[4000];
        snprintf(text, sizeof text, ARM("\n%s"), bad[i].sensor);
        assert_refused(*state, text, MF_BAD_FILE, 2, bad[i].names);
    }
}

// A field that is not there when the sensors are added.
TEST(a_missing_field_is_named) {
    Rig rig =
        rig_open(*state, WITH(rig_config(),
                              .text = ARM("<sensor name='s' type='field' field='gait.time'/>")));
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
    rig_close(&rig);
}

// ---- readings ----------------------------------------------------------------------------------

// The same robot with ideal and real sensors: the readings are those of earlier states, rounded;
// `raw` holds what is true.
TEST(an_encoder_is_late_and_coarse) {
    enum { STEPS = 400 };
    static double truth[STEPS + 1];
    Rig rig =
        open_with(*state,
                  ARM("<sensor name='real' type='encoder' joint='turn' rate='250' delay='0.006' "
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
    rig_close(&rig);
    // Without noise the delay stays.
    rig = rig_open(
        *state,
        WITH(rig_config(),
             .text = ARM("<sensor name='s' type='encoder' joint='turn' noise='1' bias='1'/>")));
    MUST(mf_sensors_add(rig.group, &WITH(mf_sensors_config(), .noise = false), &error));
    mf_world_step(rig.world, 3);
    assert_true(reading(&rig, "s", 0) == 0.0);
    rig_close(&rig);
}

// The sensors of the walking experiments go the same way: late contacts, coarse rays, at their own
// rates; joints and attitude at that of the controller.
TEST(walkers_have_real_sensors_too) {
    AUTO_RIG rig = rig_open(
        *state,
        WITH(rig_config(),
             .text =
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
        for (uint32_t c = 0; c < 3; c++)
            rig_set(&rig, "base.linear_velocity", 0, c, 0.0);
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
        char text[1000];
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody><body><joint "
                 "name='j' type='slide'/><geom size='0.1'/></body></worldbody><sensor><jointpos "
                 "joint='j' %s/></sensor></mujoco>",
                 cases[k].attributes);
        AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .text = text));
        MUST(mf_sensors_add(rig.group, NULL, &error));
        for (int s = 0; s < 14; s++) {
            assert_near(rig_get(&rig, "sensor.value", 0, 0), 0.01 * cases[k].expected[s], 1e-12);
            rig_set(&rig, "joint.angle", 0, 0, 0.01 * (s + 1));
            mf_world_step(rig.world, 1);
        }
    }
}

TEST(mjcf_keeps_rate_and_delay_when_written) {
    mf_Model *model = load_text(
        *state, "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody>"
                "<sensor><jointpos joint='j' noise='0.1' cutoff='2' nsample='9' delay='0.02' "
                "interval='0.01'/></sensor></mujoco>");
    char path[512];
    write_text(path, "late.xml", "");
    MUST(mf_model_export_mjcf(model, path, &error));
    mf_Model *again = load_file(*state, path, NULL);
    const mf_Signal *a = &model->sensors[0].signal, *b = &again->sensors[0].signal;
    assert_true(b->delay == 20 * MF_MILLISECOND && b->noise == 0.1 && b->range[1] == 2.0);
    assert_true(b->rate.numerator * a->rate.denominator == a->rate.numerator * b->rate.denominator);
    remove(path);
    assert_true(mf_model_hash(model) == mf_model_hash(again));
    mf_model_destroy(model);
    mf_model_destroy(again);
}

// ---- the humanoid ------------------------------------------------------------------------------

static Rig open_humanoid(mf_Context *context, mf_Motion motion) {
    Rig rig;
    mf_GroupConfig group = mf_group_config();
    mf_Error error = {0};
    rig.context = context;
    rig.model = load_file(context, MAYFLY_SOURCE_DIR "/models/humanoid.urdf", NULL);
    group.model = rig.model;
    group.count = 3;
    mf_Status status = mf_world_create(context, &WITH(mf_world_config(), .step = MF_MILLISECOND),
                                       &rig.world, &error);
    if (status == MF_OK)
        status = mf_world_add_group(rig.world, &group, &rig.group, &error);
    if (status == MF_OK)
        status = add_motion(rig.group, motion, &error);
    if (status == MF_OK)
        status = mf_sensors_add(rig.group, NULL, &error);
    if (status != MF_OK)
        fail_msg("%s", error.message);
    return rig;
}

// Standing at the two levels that need no controller: the soles bear the weight, the IMU shows +g,
// within five standard deviations and the converter's step; each robot has its own bias.
TEST(the_humanoid_feels) {
    static const mf_Motion motions[] = {MF_MOTION_POINTS, MF_MOTION_KINEMATIC};
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig = open_humanoid(*state, motions[k]);
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
        uint32_t attitude =
            rig.model->sensors[mf_model_find(rig.model, MF_ITEM_SENSOR, "attitude")].address;
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
