// joint.target commands the position actuators of a file: rest positions of servos in closed form,
// precedence when joint.target and actuator.control are both written, gaits, and joints without
// such an actuator are rejected by name.
#include "rig/rig.h"
#include "io/document.h"
#include "motion/table.h"

GROUP_FIXTURE(make_context, drop_context);

#define FILE_NAME "commands_test.xml"

// An arm of 1 kg, center of mass 0.5 m from its joint about y, and two fingers on one tendon. A
// servo's damping may be twice what an explicit step bears (4 N m s on 0.002 kg m^2 and 2 ms), so
// the file asks for implicitfast: MuJoCo diverges too with Euler.
#define ROBOT(ACTUATORS)                                                                           \
    "<mujoco><option timestep='0.002' gravity='0 0 -10' integrator='implicitfast'/><worldbody>"    \
    "<body name='arm' pos='0 0 3'><joint name='arm' axis='0 1 0' damping='2' range='-180 180'/>"   \
    "<inertial pos='0.5 0 0' mass='1' diaginertia='.01 .01 .01'/></body>"                          \
    "<body name='left' pos='1 0 3'><joint name='left' axis='0 0 1' damping='1'/>"                  \
    "<inertial pos='.1 0 0' mass='.1' diaginertia='1e-3 1e-3 1e-3'/></body>"                       \
    "<body name='right' pos='2 0 3'><joint name='right' axis='0 0 1' damping='1'/>"                \
    "<inertial pos='.1 0 0' mass='.1' diaginertia='1e-3 1e-3 1e-3'/></body></worldbody>"           \
    "<tendon><fixed name='pair'><joint joint='left' coef='.5'/><joint joint='right' coef='.5'/>"   \
    "</fixed></tendon><actuator>" ACTUATORS "</actuator></mujoco>"

static mf_Model *robot(mf_Context *context, const char *text) {
    mf_Model *model = NULL;
    mf_Error error = {0};
    FILE *file = fopen(FILE_NAME, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    mf_Status status = mf_model_load(context, FILE_NAME, NULL, &model, &error);
    unlink(FILE_NAME);
    if (status != MF_OK)
        fail_msg("%s", error.message);
    return model;
}

typedef struct Fixture {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Field *angle, *target, *control;
} Fixture;

static Fixture make(mf_Context *context, const char *text) {
    Fixture fixture = {.model = robot(context, text)};
    mf_GroupConfig group =
        WITH(mf_group_config(), .model = fixture.model, .count = 18, .double_precision = true);
    fixture.world =
        open_world(context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND, .gravity = 10.0));
    fixture.group = add_group(fixture.world, &group);
    MUST(mf_motion_add(fixture.group, MF_MOTION_ARTICULATED, NULL, &error));
    fixture.angle = mf_group_find_field(fixture.group, "joint.angle");
    fixture.target = mf_group_find_field(fixture.group, "joint.target");
    fixture.control = mf_group_find_field(fixture.group, "actuator.control");
    return fixture;
}

static void drop(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
}

// At rest kp (target - q) = -m g l cos q about the axis y, which turns x downwards.
TEST(a_servo_rests_where_its_equation_says) {
    AUTO(drop) Fixture s = make(*state, ROBOT("<position name='servo' joint='arm' kp='40'/>"));
    for (uint32_t i = 0; i < 18; i++)
        mf_field_set(s.target, i, 0, -0.05 * i);
    mf_world_step(s.world, 5000);
    for (uint32_t i = 0; i < 18; i++) {
        const double q = mf_field_get(s.angle, i, 0);
        assert_true(fabs(40.0 * (-0.05 * i - q) + 10.0 * 0.5 * cos(q)) < 1e-6);
        assert_true(mf_field_get(s.control, i, 0) == -0.05 * i);
    }
}

// Gear 2, force 3 u + 0.6 - 12 l (l = 2 q): at rest without load u = (24 q - 0.6) / 3. The tendon
// is half the sum of its joints: 0.5 u - 5 l.
TEST(any_affine_servo_is_solved_for_its_control) {
    AUTO(drop)
    Fixture s = make(*state, ROBOT("<general name='odd' joint='left' gear='2' gainprm='3' "
                                   "biastype='affine' biasprm='.6 -12 -1'/>"
                                   "<general name='grip' tendon='pair' gainprm='.5' "
                                   "biastype='affine' biasprm='0 -5 -1'/>"));
    mf_field_set(s.target, 3, 1, 0.4);
    mf_world_step(s.world, 1);
    assert_true(fabs(mf_field_get(s.control, 3, 0) - (24 * 0.4 - 0.6) / 3) < 1e-12);
    assert_true(fabs(mf_field_get(s.control, 3, 1) - 5 * 0.5 * 0.4 / 0.5) < 1e-12);
    assert_true(mf_field_get(s.control, 2, 0) == 0.0); // nobody told this robot anything
    mf_field_set(s.target, 3, 2, 0.4);
    mf_world_step(s.world, 12000);
    assert_true(fabs(mf_field_get(s.angle, 3, 1) - 0.4) < 1e-6);
    assert_true(fabs(mf_field_get(s.angle, 3, 2) - 0.4) < 1e-6);
}

TEST(the_last_writer_wins) {
    AUTO(drop) Fixture s = make(*state, ROBOT("<position name='servo' joint='arm' kp='40'/>"));
    const double q[3] = {0.7, 0, 0}, v[3] = {0, 0, 0};
    mf_field_set(s.control, 0, 0, 0.3);
    mf_group_set_state(s.group, 0, q, v); // the target becomes 0.7: a state is no command
    mf_world_step(s.world, 2);
    assert_true(mf_field_get(s.control, 0, 0) == 0.3);
    mf_field_set(s.target, 0, 0, 0.5);
    mf_world_step(s.world, 1);
    assert_true(mf_field_get(s.control, 0, 0) == 0.5);
    mf_field_set(s.control, 0, 0, 0.2);
    mf_world_step(s.world, 3);
    assert_true(mf_field_get(s.control, 0, 0) == 0.2);
    mf_group_reset(s.group, 0);
    mf_world_step(s.world, 1);
    assert_true(mf_field_get(s.control, 0, 0) == 0.0);
}

static const char swing[] = "keyframes: {blend: 0, frames: [{time: 0, angles: {arm: -1}}]}";

static mf_Status follow(const Fixture *s, mf_Context *context, const char *text, mf_Error *error) {
    mf_Gait *gait = NULL;
    mf_Status status =
        mf_gait_parse(context, "/tests/g.yaml", text, strlen(text), s->model, &gait, error);
    assert_int_equal(status, MF_OK);
    status = mf_gaits_add(s->group, (const mf_Gait *const *)&gait, 1, NULL, error);
    mf_gait_destroy(gait);
    return status;
}

// Held joints, which the gait does not name, follow their targets too.
TEST(a_gait_drives_the_servos_of_a_file) {
    AUTO(drop) Fixture s = make(*state, ROBOT("<position name='servo' joint='arm' kp='4000'/>"));
    MUST(mf_motion_follows(s.group, 0, &error));
    MUST(follow(&s, *state, swing, &error));
    mf_field_set(s.control, 5, 0, 0.9); // a controller is there: it commands
    mf_world_step(s.world, 3000);
    assert_true(fabs(mf_field_get(s.angle, 5, 0) + 1.0) < 2e-3);
}

TEST(joints_that_cannot_follow_are_refused) {
    static const struct {
        const char *robot, *why;
    } cases[] = {
        {ROBOT("<motor name='torque' joint='arm'/>"), "its actuator torque gives a force"},
        {ROBOT("<velocity name='speed' joint='arm'/>"), "its actuator speed controls the speed"},
        {ROBOT("<intvelocity name='int' joint='arm' actrange='-1 1'/>"), "integrates its control"},
        {ROBOT("<position name='other' joint='left'/>"), "it has no actuator"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(drop) Fixture s = make(*state, cases[i].robot);
        mf_Error error = {0};
        assert_int_equal(mf_motion_follows(s.group, 0, &error), MF_UNSUPPORTED);
        error = (mf_Error){0};
        assert_int_equal(follow(&s, *state, swing, &error), MF_UNSUPPORTED);
        if (strstr(error.message, cases[i].why) == NULL || strstr(error.message, "arm") == NULL)
            fail_msg("%s", error.message);
        assert_int_equal(mf_oscillator_add(s.group, NULL, &error), i < 3 ? MF_UNSUPPORTED : MF_OK);
    }
}

// The same bits from float robots in any lane, and from a snapshot in the middle.
TEST(commands_are_part_of_snapshots) {
    AUTO(drop) Fixture s = make(*state, ROBOT("<position name='servo' joint='arm' kp='40'/>"));
    static char image[1 << 20];
    mf_field_set(s.target, 17, 0, 0.4);
    mf_world_step(s.world, 10);
    mf_field_set(s.control, 17, 0, 0.1);
    const size_t size = mf_world_snapshot_size(s.world);
    assert_true(size <= sizeof image);
    MUST(mf_world_snapshot(s.world, image, size, &error));
    mf_world_step(s.world, 50);
    const uint64_t hash = mf_world_hash(s.world);
    mf_group_reset_all(s.group);
    MUST(mf_world_restore(s.world, image, size, &error));
    mf_world_step(s.world, 50);
    assert_true(mf_world_hash(s.world) == hash);
    assert_true(mf_field_get(s.control, 17, 0) == 0.1);
}
