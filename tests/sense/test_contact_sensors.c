// Contact sensors of MJCF files in closed form, lengths of spatial tendons, and the same bits for
// any batch and instruction set. contacts_peers.py compares with MuJoCo.
#include "motion/articulated_rig.h"
#include "sense/sensors.h"

#define BALLS                                                                                      \
    "<mujoco><option timestep='0.002'/><worldbody><geom name='floor' type='plane' size='0 0 1'/>"  \
    "<body name='low'><freejoint/><geom name='a' size='.1'/></body>"                               \
    "<body name='high' pos='0 0 .15'><freejoint/><geom name='b' size='.05'/></body></worldbody>"   \
    "<sensor><contact geom1='floor' geom2='a' data='found dist pos normal'/>"                      \
    "<contact geom1='a' geom2='floor' data='normal'/>"                                             \
    "<contact body1='low' subtree2='high' data='found dist pos normal' reduce='mindist' num='2'/>" \
    "<contact subtree1='world' data='found dist' reduce='mindist' num='3'/>"                       \
    "<contact body1='low' data='dist' reduce='mindist'/></sensor></mujoco>"

static Rig open_sensors(const char *text, uint32_t count, bool floats, mf_Isa isa) {
    Rig t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                 .world.isa = isa, .motion.shapes = true, .group.count = count,
                                 .group.double_precision = !floats));
    MUST(mf_sensors_add(t.group, NULL, &error));
    return t;
}

static double at(const Rig *t, uint32_t c) {
    return rig_get(t, "sensor.value", c);
}

// What the sensors show where the bodies are still at these positions.
static void measure(const Rig *t, const double *position, double *values) {
    const double still[12] = {0};
    mf_group_set_state(t->group, 0, position, still);
    MUST(mf_sensors_measure(t->group, 0, NULL, values, &error));
}

// A ball of 0.1 m at height 0.09: 0.01 m in the ground. A small one above it, 0.02 m in it.
TEST(contacts_are_where_they_are) {
    double position[14] = {0.3, 0.2, 0.09, 1, 0, 0, 0, 0.3, 0.2, 0.22, 1, 0, 0, 0}, values[34];
    AUTO_RIG t = open_sensors(BALLS, 1, false, MF_ISA_AUTO);
    measure(&t, position, values);
    // Found, depth, point and normal; the normal from the ball to the floor; the same of the small
    // one, whose second slot is empty.
    const double expected[27] = {1,  -0.01, 0.3,   0.2, -0.005, 0,    0, 1, 0, 0,
                                 -1, 1,     -0.02, 0.3, 0.2,    0.18, 0, 0, 1};
    for (uint32_t c = 0; c < 27; c++)
        assert_near(values[c], expected[c], 1e-12);
}

// The same where further balls are so many that pairs are not listed.
TEST(contacts_are_where_they_are_among_many) {
    enum { MORE = 70 };
    const char *end = strstr(BALLS, "</worldbody>");
    double *position = calloc(7 * (2 + MORE), sizeof *position), *still, values[34];
    char *text = calloc(1, sizeof BALLS + MORE * 80);
    still = calloc(6 * (2 + MORE), sizeof *still);
    assert_true(position != NULL && still != NULL && text != NULL);
    int at_end = snprintf(text, sizeof BALLS, "%.*s", (int)(end - BALLS), BALLS);
    for (uint32_t i = 0; i < 2 + MORE; i++) {
        double *own = position + 7 * (size_t)i;
        own[0] = i < 2 ? 0.3 : 5.0 * i;
        own[1] = 0.2;
        own[2] = i == 0 ? 0.09 : i == 1 ? 0.22 : 1.0;
        own[3] = 1.0;
        if (i >= 2)
            at_end += sprintf(text + at_end, "<body><freejoint/><geom size='.1'/></body>");
    }
    strcpy(text + at_end, end);
    AUTO_RIG t = open_sensors(text, 1, false, MF_ISA_AUTO);
    mf_group_set_state(t.group, 0, position, still);
    MUST(mf_sensors_measure(t.group, 0, NULL, values, &error));
    const double expected[27] = {1,  -0.01, 0.3,   0.2, -0.005, 0,    0, 1, 0, 0,
                                 -1, 1,     -0.02, 0.3, 0.2,    0.18, 0, 0, 1};
    for (uint32_t c = 0; c < 27; c++)
        assert_near(values[c], expected[c], 1e-12);
    free(position);
    free(still);
    free(text);
}

// All contacts, the deepest first; further slots are 0.
TEST(the_deepest_comes_first) {
    double position[14] = {0, 0, 0.09, 1, 0, 0, 0, 0, 0, 0.22, 1, 0, 0, 0}, values[40];
    AUTO_RIG t = open_sensors(BALLS, 1, false, MF_ISA_AUTO);
    const uint32_t all = t.model->sensors[3].address, low = t.model->sensors[4].address;
    measure(&t, position, values);
    const double expected[6] = {2, -0.02, 2, -0.01, 0, 0};
    for (uint32_t i = 0; i < 6; i++)
        assert_near(values[all + i], expected[i], 1e-12);
    assert_near(values[low], -0.02, 1e-12);
    position[9] = 0.5; // the small one is in the air
    measure(&t, position, values);
    assert_near(values[all], 1.0, 0.0);
    assert_near(values[low], -0.01, 1e-12);
}

// In a run the readings are those of the state that the step leaves.
TEST(readings_are_those_of_the_state) {
    bool fell = false;
    AUTO_RIG t = open_sensors(BALLS, 1, false, MF_ISA_AUTO);
    for (int i = 0; i < 400; i++) {
        mf_world_step(t.world, 1);
        const double height = rig_get(&t, "free.position", 2) - 0.1;
        assert_near(at(&t, 0), height < 0.0 ? 1.0 : 0.0, 0.0);
        assert_near(at(&t, 1), height < 0.0 ? height : 0.0, 1e-12);
        fell = fell || height < 0.0;
    }
    assert_true(fell);
}

TEST(other_motions_refuse_by_name) {
    for (int lenient = 0; lenient < 2; lenient++) {
        AUTO_RIG t = open_sensors(BALLS, 1, false, MF_ISA_AUTO);
        mf_Group *other =
            add_group(t.world, &WITH(mf_group_config(), .model = t.model, .name = "others"));
        MUST(mf_motion_add(other, MF_MOTION_KINEMATIC, NULL, &error));
        if (lenient) {
            MUST(mf_sensors_add(other, &WITH(mf_sensors_config(), .lenient = true), &error));
            mf_world_step(t.world, 10);
            assert_near(get_field(other, "sensor.value", 0, 0), 0.0, 0.0);
        } else {
            MUST_FAIL(mf_sensors_add(other, NULL, &error), MF_UNSUPPORTED,
                      "does not compute contacts of shapes");
        }
    }
}

static uint64_t hash_of(uint32_t count, uint32_t which, bool floats, mf_Isa isa) {
    uint64_t hash = 0;
    AUTO_RIG t = open_sensors(BALLS, count, floats, isa);
    mf_Field *speed = mf_group_find_field(t.group, "free.velocity");
    for (uint32_t i = 0; i < count; i++)
        mf_field_set(speed, i, 0, 0.1 * (count == 1 ? which : i));
    for (int n = 0; n < 40; n++) {
        mf_world_step(t.world, 5);
        for (uint32_t c = 0; c < t.model->sensor_value_count; c++) {
            const double value = get_field(t.group, "sensor.value", count == 1 ? 0 : which, c);
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = hash * 31 + bits;
        }
    }
    return hash;
}

// Alone, as number 3 of 19 and on every instruction set; others when a robot starts differently.
TEST(bits_do_not_depend_on_settings) {
    for (int floats = 0; floats < 2; floats++) {
        const uint64_t alone = hash_of(1, 3, floats, MF_ISA_AUTO);
        assert_true(alone != hash_of(1, 2, floats, MF_ISA_AUTO));
        FOR_EACH_ISA (isa)
            assert_true(hash_of(19, 3, floats, isa) == alone);
    }
}

// ---- tendons ------------------------------------------------------------------------------------

// A weight on a slide under a pulley block of two lines: the length is 2 (1 - z) where the slide is
// at z, limits and actuators see it scaled.
TEST(lengths_of_paths_are_read) {
    static const char text[] =
        "<mujoco><option timestep='0.001'/><worldbody><site name='l' pos='-.1 0 1'/>"
        "<site name='r' pos='.1 0 1'/><body><joint name='z' type='slide' axis='0 0 1'/>"
        "<geom size='.05' contype='0' conaffinity='0'/><site name='p' pos='-.1 0 0'/>"
        "<site name='q' pos='.1 0 0'/></body></worldbody><tendon>"
        "<spatial name='t' range='0 3' margin='0.1'><site site='l'/><site site='p'/>"
        "<pulley divisor='1'/><site site='q'/><site site='r'/></spatial></tendon>"
        "<actuator><motor name='m' tendon='t' gear='3'/></actuator><sensor>"
        "<tendonpos tendon='t'/><tendonvel tendon='t'/><actuatorpos actuator='m'/>"
        "<actuatorvel actuator='m'/><tendonlimitpos tendon='t'/><tendonlimitvel tendon='t'/>"
        "</sensor></mujoco>";
    double values[6];
    const double speed = 0.5;
    AUTO_RIG t = open_sensors(text, 1, false, MF_ISA_AUTO);
    const double expected[2][6] = {{1.5, -1.0, 4.5, -3.0, 0, 0},
                                   {2.95, -1.0, 8.85, -3.0, -0.05, 1.0}};
    for (int i = 0; i < 2; i++) {
        const double z = 1.0 - 0.5 * expected[i][0];
        mf_group_set_state(t.group, 0, &z, &speed);
        MUST(mf_sensors_measure(t.group, 0, NULL, values, &error));
        for (int k = 0; k < 6; k++)
            assert_near(values[k], expected[i][k], 1e-12);
    }
}
