// Bodies moved from outside: velocities and targets against closed forms, collisions with others,
// and rejected or contained input.
#include "solve/pitch.h"

static const char paddle_text[] =
    "<mujoco model='paddle'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.05 0.4 0.4' mass='1' condim='1'/></body></worldbody></mujoco>";

static const char plate_text[] =
    "<mujoco model='plate'><worldbody><body><freejoint/>"
    "<geom type='box' size='1 1 0.05' mass='1' friction='0.6 0 0'/></body></worldbody></mujoco>";

static const char box_text[] =
    "<mujoco model='box'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='2' friction='0.6 0 0'/></body></worldbody></mujoco>";

static const char door_text[] =
    "<mujoco model='door'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.05 0.05 0.5' mass='1'/>"
    "<body pos='0.1 0 0'><joint name='swing' type='hinge' axis='0 0 1'/>"
    "<geom type='box' pos='0.4 0 0' size='0.4 0.02 0.5' mass='1'/></body>"
    "<body pos='0 0 0.6'><joint name='bolt' type='slide' axis='1 0 0'/>"
    "<geom type='box' size='0.02 0.02 0.02' mass='1'/></body>"
    "</body></worldbody></mujoco>";

static mf_Group *add_external(Pitch *pitch, const char *text, const char *name, uint32_t count,
                              const mf_ExternalConfig *config) {
    mf_Group *group = pitch_group(pitch, load_text(pitch->context, text), name, count, true);
    MUST(rig_add_external(group, config, &error));
    return group;
}

static void get_pose(mf_Group *group, uint32_t instance, double pose[7]) {
    for (uint32_t c = 0; c < 7; c++)
        pose[c] = c < 3 ? get_field(group, "base.position", instance, c)
                        : get_field(group, "base.orientation", instance, c - 3);
}

// Constant velocities: a straight line, and a turn about one axis by their time.
TEST(velocities_move_it) {
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, (k == 0 ? 1 : 20) * MF_MILLISECOND, 9.81);
        mf_Group *group = add_external(&pitch, paddle_text, "paddle", 20, NULL);
        for (uint32_t c = 0; c < 3; c++) {
            set_field(group, "base.position", 17, c, 1.0 + c);
            set_field(group, "base.linear_velocity", 17, c, 0.5 - 0.25 * c);
            set_field(group, "base.angular_velocity", 17, c, c == 0 ? 0.6 : c == 1 ? 0.0 : 0.8);
        }
        mf_world_step(pitch.world, k == 0 ? 2000 : 100);
        double pose[7];
        get_pose(group, 17, pose);
        for (int c = 0; c < 3; c++)
            assert_near(pose[c], 1.0 + c + 2.0 * (0.5 - 0.25 * c), 1e-12);
        assert_near(pose[3], cos(1.0), 1e-12);
        assert_near(pose[4], 0.6 * sin(1.0), 1e-12);
        assert_near(pose[5], 0.0, 1e-12);
        assert_near(pose[6], 0.8 * sin(1.0), 1e-12);
        assert_near(get_field(group, "base.position", 16, 0), 0.0, 0.0);
    }
}

// A target is reached at the end of the interval, at a steady speed, and then it stands.
TEST(targets_are_reached) {
    static const double quarter = 0.70710678118654752;
    for (int steps = 1; steps <= 10; steps += 9) {
        mf_ExternalConfig config = WITH(mf_motions_config().external, .targets = true,
                                        .control_interval = steps * MF_MILLISECOND);
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *group = add_external(&pitch, door_text, "door", 3, &config);
        put(&pitch, group, 1, 1.0, 2.0, 3.0, 0.0);
        assert_near(get_field(group, "target.position", 1, 2), 3.0, 0.0);
        set_field(group, "target.position", 1, 0, 1.5);
        set_field(group, "target.orientation", 1, 0,
                  -2.0 * quarter); // of any length and either sign
        set_field(group, "target.orientation", 1, 3, -2.0 * quarter);
        set_field(group, "joint.target", 1, 0, 0.3);
        set_field(group, "joint.target", 1, 1, -0.05);
        for (int step = 1; step <= steps; step++) {
            mf_world_step(pitch.world, 1);
            assert_near(get_field(group, "base.linear_velocity", 1, 0), 0.5 / (1e-3 * steps), 1e-9);
            assert_near(get_field(group, "base.angular_velocity", 1, 2),
                        0.5 * 3.14159265358979 / (1e-3 * steps), 1e-9);
            assert_near(get_field(group, "joint.rate", 1, 0), 0.3 / (1e-3 * steps), 1e-9);
            assert_near(get_field(group, "base.position", 1, 0), 1.0 + 0.5 * step / steps, 1e-12);
        }
        assert_near(get_field(group, "base.position", 1, 0), 1.5, 0.0);
        assert_near(fabs(get_field(group, "base.orientation", 1, 3)), quarter, 1e-15);
        assert_near(get_field(group, "joint.angle", 1, 0), 0.3, 0.0);
        assert_near(get_field(group, "joint.angle", 1, 1), -0.05, 0.0);
        mf_world_step(pitch.world, (uint64_t)steps);
        assert_near(get_field(group, "base.linear_velocity", 1, 0), 0.0, 0.0);
        assert_near(get_field(group, "base.angular_velocity", 1, 2), 0.0, 1e-10 / steps);
        assert_near(get_field(group, "joint.rate", 1, 0), 0.0, 0.0);
        assert_near(get_field(group, "base.position", 2, 0), 0.0, 0.0);
    }
}

TEST(joints_follow_their_rates) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    mf_Group *group = add_external(&pitch, door_text, "door", 1, NULL);
    set_field(group, "joint.rate", 0, 0, 2.0);
    set_field(group, "joint.rate", 0, 1, -0.1);
    mf_world_step(pitch.world, 500);
    assert_near(get_field(group, "joint.angle", 0, 0), 1.0, 1e-12);
    assert_near(get_field(group, "joint.angle", 0, 1), -0.05, 1e-12);
}

// ---- pushing ------------------------------------------------------------------------------------

// A paddle of speed w against a ball at rest: an impact with a wall, whose restitution e leaves the
// ball with (1 + e) w; the paddle keeps its speed to the bit. By velocities and by targets alike.
TEST(a_paddle_strikes_a_ball) {
    for (int k = 0; k < 4; k++) {
        const double restitution = k < 2 ? 1.0 : 0.5, speed = 1.5;
        const int steps = 2000;
        mf_ExternalConfig external = WITH(mf_motions_config().external, .targets = k % 2 == 1);
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 100 * MICROSECOND, 0.0);
        mf_Group *paddle = add_external(&pitch, paddle_text, "paddle", 1, &external);
        mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.7), "ball", 1, true);
        put(&pitch, paddle, 0, 0.0, 0.0, 2.0, external.targets ? 0.0 : speed);
        put(&pitch, ball, 0, 0.25, 0.1, 2.0, 0.0);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT,
                                    .restitution = restitution, .duration = 0.004));
        for (int step = 1; step <= steps; step++) {
            if (external.targets)
                set_field(paddle, "target.position", 0, 0, 1e-4 * step * speed);
            mf_world_step(pitch.world, 1);
        }
        assert_near(get_field(ball, "base.linear_velocity", 0, 0), (1.0 + restitution) * speed,
                    0.006 * speed);
        assert_near(get_field(ball, "base.linear_velocity", 0, 1), 0.0, 0.0);
        assert_near(get_field(paddle, "base.linear_velocity", 0, 0), speed,
                    external.targets ? 1e-9 : 0.0);
        assert_near(get_field(paddle, "base.position", 0, 0), 1e-4 * steps * speed, 1e-12);
    }
}

// A box on a plate that speeds up at 2 m/s^2 is carried, for friction can give 0.6 g; at 8 m/s^2 it
// slides with 0.6 g.
TEST(a_plate_carries_a_box) {
    static const double accelerations[] = {2.0, 8.0};
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        mf_Group *plate = add_external(&pitch, plate_text, "plate", 1, NULL);
        mf_Group *box = pitch_bodies(&pitch, load_text(pitch.context, box_text), "box", 1, true);
        put(&pitch, plate, 0, 0.0, 0.0, 1.0, 0.0);
        put(&pitch, box, 0, 0.0, 0.0, 1.15, 0.0);
        pitch_collide(&pitch, NULL);
        mf_world_step(pitch.world, 500);
        const double seconds = 0.4;
        for (int step = 1; step <= 400; step++) {
            set_field(plate, "base.linear_velocity", 0, 0, 1e-3 * step * accelerations[k]);
            mf_world_step(pitch.world, 1);
        }
        const double expected = fmin(accelerations[k], 0.6 * 9.81) * seconds;
        assert_near(get_field(box, "base.linear_velocity", 0, 0), expected, 0.05);
        assert_near(get_field(box, "base.position", 0, 2), 1.15, 2e-3);
    }
}

// ---- failures -----------------------------------------------------------------------------------

TEST(bad_inputs_are_contained) {
    for (int k = 0; k < 4; k++) {
        mf_ExternalConfig config = WITH(mf_motions_config().external, .targets = k >= 2);
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        mf_Group *group = add_external(&pitch, door_text, "door", 2, &config);
        static const char *const fields[] = {"base.angular_velocity", "base.linear_velocity",
                                             "target.orientation", "joint.target"};
        set_field(group, fields[k], 0, 0, k == 1 ? 1e12 : k == 2 ? 0.0 : NAN);
        mf_world_step(pitch.world, 2);
        assert_near(get_field(group, "fault.word", 0, 0), k == 1 ? MF_FAULT_RANGE : MF_FAULT_INPUT,
                    0.0);
        assert_near(get_field(group, "base.position", 0, 0), 0.0, 0.0);
        assert_near(get_field(group, "base.orientation", 0, 0), 1.0, 0.0);
        assert_near(get_field(group, "joint.angle", 0, 0), 0.0, 0.0);
        assert_near(get_field(group, "fault.word", 1, 0), 0.0, 0.0);
    }
}

TEST(immovable_joints_are_refused) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Model *fixed = load_text(pitch.context, "<mujoco model='post'><worldbody><body>"
                                               "<geom type='sphere' size='0.1' mass='1'/>"
                                               "</body></worldbody></mujoco>");
    mf_Group *post = pitch_group(&pitch, fixed, "post", 1, false);
    MUST_FAIL(mf_motion_add(post, MF_MOTION_EXTERNAL, NULL, &error), MF_UNSUPPORTED,
              "fixed in the world");
    MUST_FAIL(mf_motion_add(NULL, MF_MOTION_EXTERNAL, NULL, &error), MF_BAD_ARGUMENT, "NULL");
    assert_false(mf_motion_in(post, MF_MOTION_EXTERNAL));
}

static mf_Status add_to_world(mf_Context *context, void *user, mf_Error *error) {
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_Status status =
        try_group(context, NULL, &WITH(mf_group_config(), .model = user), &world, &group, error);
    if (status == MF_OK)
        status =
            rig_add_external(group, &WITH(mf_motions_config().external, .targets = true), error);
    if (world != NULL)
        mf_world_step(world, 2);
    return status;
}

TEST(every_failing_call_is_survived) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    AUTO_MODEL *door = load_text(pitch.context, door_text);
    assert_true(torture(pitch.context, add_to_world, door, TORTURE_MUST_FAIL) > 10);
}

// A restored world goes on to the same bits, in the middle of an interval too.
TEST(snapshots_contain_everything) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_external(&pitch, door_text, "door", 20,
                                   &WITH(mf_motions_config().external, .targets = true,
                                         .control_interval = 10 * MF_MILLISECOND));
    set_field(group, "target.position", 3, 1, 2.0);
    set_field(group, "joint.target", 3, 0, 1.0);
    mf_world_step(pitch.world, 4);
    assert_continues(pitch.world, 13);
    assert_near(get_field(group, "base.position", 3, 1), 2.0, 0.0);
}
