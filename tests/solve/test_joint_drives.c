// Motors and stops of run-time hinges, against closed forms.
#include "solve/joints_rig.h"

// The box of the rig is 0.1 x 0.2 x 0.4 m: inertia about its z axis, for 1 kg.
static const double spin_inertia = (0.1 * 0.1 + 0.2 * 0.2) / 12.0;
// About a y axis 0.5 m from its center, which is along its z axis: a pendulum.
static const double arm = 0.5, swing_inertia = (0.1 * 0.1 + 0.4 * 0.4) / 12.0 + 0.25;

typedef struct Rig {
    Pitch pitch;
    mf_Group *boxes;
    mf_WorldJoints *joints;
    mf_WorldJointId id;
} Rig;

// `second`: another box on the first side instead of the world.
static Rig open_rig(mf_Motion motion, bool wide, double gravity, bool second) {
    Rig rig;
    Pitch *pitch = &rig.pitch;
    *pitch = pitch_open(2, MF_ISA_AUTO, MF_MILLISECOND, gravity);
    rig.boxes = add_bodies(pitch, box_of(pitch->context, 1.0), "boxes", second ? 2 : 1, motion,
                           wide, false);
    rig.joints = add_joints(pitch);
    return rig;
}

static void rig_close(Rig *rig) {
    pitch_close(&rig->pitch);
}

static mf_WorldJointConfig hinge_of(Rig *rig, bool second) {
    return joint_between(MF_WORLD_JOINT_HINGE, second ? rig->boxes : NULL, 1, rig->boxes, 0);
}

static mf_WorldJointState see(const Rig *rig) {
    return state_of(rig->joints, rig->id);
}

// A box whose center is at (0, 0, 50), on a vertical axis through it.
static Rig open_wheel(mf_Motion motion, bool wide, double rate, double torque) {
    Rig rig = open_rig(motion, wide, 0.0, false);
    put_at(&rig.pitch, rig.boxes, 0, 0, 0, 50);
    rig.id =
        join(rig.joints, &WITH(hinge_of(&rig, false), .motor_rate = rate, .motor_torque = torque),
             0, 0, 50, NULL);
    return rig;
}

// A box that hangs 0.5 m below its axis along y, turned by `angle` [rad].
static Rig open_pendulum(mf_Motion motion, bool wide, double angle,
                         const mf_WorldJointConfig *drive) {
    const double half = 0.5 * angle, rotation[4] = {cos(half), 0, sin(half), 0};
    Rig rig = open_rig(motion, wide, 9.81, false);
    // Joined as it hangs, so that the angle is that from the vertical.
    put_at(&rig.pitch, rig.boxes, 0, 0, 0, 50 - arm);
    const double axis[3] = {0, 1, 0};
    rig.id = join(rig.joints,
                  &WITH(hinge_of(&rig, false), .lower_angle = drive->lower_angle,
                        .upper_angle = drive->upper_angle, .motor_rate = drive->motor_rate,
                        .motor_torque = drive->motor_torque),
                  0, 0, 50, axis);
    MUST(mf_group_set_start(rig.boxes, 0, (double[]){-arm * sin(angle), 0, 50 - arm * cos(angle)},
                            rotation, NULL, &error));
    return rig;
}

// ---- motors -------------------------------------------------------------------------------------

TEST(a_motor_spins_up_a_flywheel) {
    static const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                        MF_MOTION_ARTICULATED};
    for (int m = 0; m < 3; m++)
        for (int wide = 0; wide < 2; wide++) {
            const double torque = 0.02, rate = 3.0, growth = torque / spin_inertia; // 4.8 rad/s^2
            AUTO_RIG rig = open_wheel(motions[m], wide != 0, rate, torque);
            mf_world_step(rig.pitch.world, 500);
            mf_WorldJointState now = see(&rig);
            assert_near(now.rate, 0.5 * growth, 1e-3);
            assert_near(now.torque, torque, 1e-6);
            assert_near(now.moment[2], torque, 1e-6);
            mf_world_step(rig.pitch.world, 500);
            now = see(&rig);
            assert_near(now.rate, rate, 1e-4);
            assert_near(now.torque, 0.0, 2e-4); // nothing brakes it
            MUST(mf_world_joint_set_motor(rig.joints, rig.id, -1.0, 0.01, &error));
            mf_world_step(rig.pitch.world, 500);
            assert_near(see(&rig).rate, rate - 0.25 * growth, 1e-3);
            mf_world_step(rig.pitch.world, 1500);
            assert_near(see(&rig).rate, -1.0, 1e-4);
            assert_true(see(&rig).residual < 1e-3);
        }
}

TEST(a_motor_without_a_rate_is_dry_friction) {
    AUTO_RIG rig = open_wheel(MF_MOTION_RIGID, true, 0.0, 0.01);
    set_field(rig.boxes, "base.angular_velocity", 0, 2, 2.0);
    mf_world_step(rig.pitch.world, 400);
    assert_near(see(&rig).rate, 2.0 - 0.4 * 0.01 / spin_inertia, 1e-6);
    mf_world_step(rig.pitch.world, 600); // it stands from 0.833 s on
    assert_near(see(&rig).rate, 0.0, 1e-9);
}

TEST(a_motor_holds_what_it_can) {
    const double weight = 9.81 * arm; // [N m] of the pendulum at 90 degrees
    for (int strong = 0; strong < 2; strong++) {
        mf_WorldJointConfig drive = mf_world_joint_config();
        drive.motor_torque = strong ? 1.2 * weight : 0.5 * weight;
        AUTO_RIG rig = open_pendulum(MF_MOTION_ARTICULATED, true, 1.5707963267948966, &drive);
        mf_world_step(rig.pitch.world, strong ? 300 : 20);
        const mf_WorldJointState now = see(&rig);
        if (strong) {
            assert_near(now.torque, weight, 1e-3);
            assert_near(now.angle, 1.5707963, 2e-3); // it creeps by 1e-4 of the response
        } else {                                     // falls with what the motor does not hold
            assert_near(now.torque, drive.motor_torque, 1e-9);
            assert_near(now.rate, -0.5 * weight / swing_inertia * 0.020, 2e-3);
        }
    }
}

TEST(a_motor_between_two_bodies_conserves_momentum) {
    AUTO_RIG rig = open_rig(MF_MOTION_RIGID, true, 0.0, true);
    put_at(&rig.pitch, rig.boxes, 0, 0, 0, 50);
    put_at(&rig.pitch, rig.boxes, 1, 0, 0, 50.5);
    rig.id = join(rig.joints, &WITH(hinge_of(&rig, true), .motor_rate = 4.0, .motor_torque = 0.02),
                  0, 0, 50.25, NULL);
    mf_world_step(rig.pitch.world, 2000);
    assert_near(see(&rig).rate, 4.0, 1e-4);
    assert_near(get_field(rig.boxes, "base.angular_velocity", 0, 2), 2.0, 1e-4);
    assert_near(get_field(rig.boxes, "base.angular_velocity", 1, 2), -2.0, 1e-4);
    assert_near(momentum_of(&rig.boxes, 1).angular[2], 0.0, 1e-12);
}

// ---- stops --------------------------------------------------------------------------------------

TEST(a_pendulum_rests_against_a_stop) {
    static const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                        MF_MOTION_ARTICULATED};
    for (int m = 0; m < 3; m++)
        for (int side = -1; side <= 1; side += 2) {
            double deepest = 1e9;
            AUTO_RIG rig =
                open_pendulum(motions[m], true, side * 1.2,
                              &WITH(mf_world_joint_config(), .lower_angle = side > 0 ? 0.4 : -2.0,
                                    .upper_angle = side > 0 ? 2.0 : -0.4));
            for (int i = 0; i < 1500; i++) {
                mf_world_step(rig.pitch.world, 1);
                const double angle = side * see(&rig).angle;
                deepest = angle < deepest ? angle : deepest;
            }
            const mf_WorldJointState now = see(&rig);
            assert_near(side * now.angle, 0.4, 1e-4);
            assert_near(now.rate, 0.0, 1e-4);
            assert_near(side * now.torque, 9.81 * arm * sin(0.4), 2e-3);
            assert_true(deepest > 0.4 - 5e-4);
            assert_true(now.opening < 1e-4);
        }
}

// Nothing but gravity acts before the stop is reached: the time of fall is that of the integral.
TEST(a_stop_is_not_felt_before) {
    const mf_WorldJointConfig drive = mf_world_joint_config();
    AUTO_RIG without = open_pendulum(MF_MOTION_RIGID, true, 1.2, &drive);
    AUTO_RIG with = open_pendulum(MF_MOTION_RIGID, true, 1.2,
                                  &WITH(drive, .lower_angle = 0.4, .upper_angle = 2.0));
    uint32_t steps = 0;
    for (; see(&without).angle > 0.41 && steps < 2000; steps++) {
        assert_near(see(&with).angle, see(&without).angle, 1e-9);
        mf_world_step(with.pitch.world, 1);
        mf_world_step(without.pitch.world, 1);
    }
    assert_in_range(steps, 100, 1000);
    assert_near(see(&with).torque, 0.0, 1e-9);
}

TEST(a_motor_drives_against_a_stop_beyond_half_a_turn) {
    AUTO_RIG rig = open_rig(MF_MOTION_RIGID, true, 0.0, false);
    put_at(&rig.pitch, rig.boxes, 0, 0, 0, 50);
    mf_WorldJointConfig config =
        WITH(hinge_of(&rig, false), .motor_rate = 2.0, .motor_torque = 0.05, .lower_angle = -0.5);
    config.upper_angle = 4.0; // beyond pi
    rig.id = join(rig.joints, &config, 0, 0, 50, NULL);
    mf_world_step(rig.pitch.world, 3000);
    const mf_WorldJointState now = see(&rig);
    assert_near(now.angle, 4.0 - 6.283185307179586, 1e-4);
    assert_near(now.rate, 0.0, 1e-5);
    assert_near(now.torque, 0.0, 1e-4); // the stop's is the opposite of the motor's
    MUST(mf_world_joint_set_motor(rig.joints, rig.id, -2.0, 0.05, &error));
    mf_world_step(rig.pitch.world, 4000);
    assert_near(see(&rig).angle, -0.5, 1e-4);
}

// ---- state --------------------------------------------------------------------------------------

TEST(snapshots_hold_drives) {
    AUTO_RIG rig = open_wheel(MF_MOTION_RIGID, false, 3.0, 0.02);
    mf_world_step(rig.pitch.world, 100);
    MUST(mf_world_joint_set_motor(rig.joints, rig.id, -3.0, 0.01, &error));
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(rig.pitch.world, &size);
    mf_world_step(rig.pitch.world, 200);
    const uint64_t hash = mf_world_hash(rig.pitch.world);
    MUST(mf_world_joint_set_motor(rig.joints, rig.id, 1.0, 0.5, &error));
    assert_true(mf_world_hash(rig.pitch.world) != hash);
    MUST(mf_world_restore(rig.pitch.world, image, size, &error));
    mf_world_step(rig.pitch.world, 200);
    assert_true(mf_world_hash(rig.pitch.world) == hash);
}

static void refuse(const Rig *rig, const mf_WorldJointConfig *config, const char *part) {
    mf_WorldJointId id;
    MUST_FAIL(mf_world_joint_create(rig->joints, config, &id, &error), MF_BAD_ARGUMENT, part);
}

TEST(wrong_drives_are_refused) {
    AUTO_RIG rig = open_wheel(MF_MOTION_RIGID, true, 0.0, 0.0);
    const mf_WorldJointConfig good = hinge_of(&rig, false);
    const double ranges[][2] = {
        {1, -1},          {-7, 0},         {0, 7}, {-3.1, 3.1}, {0, (double)INFINITY},
        {(double)NAN, 1}, {0, (double)NAN}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        refuse(&rig, &WITH(good, .lower_angle = ranges[i][0], .upper_angle = ranges[i][1]),
               "joint.lower_angle");
    }
    refuse(&rig, &WITH(good, .motor_torque = -1.0), "joint.motor_torque");
    refuse(&rig, &WITH(good, .motor_torque = 1.0, .motor_rate = (double)NAN), "joint.motor_rate");
    refuse(&rig, &WITH(good, .motor_torque = 1.0, .kind = MF_WORLD_JOINT_BALL), "only a hinge");
    MUST_FAIL(mf_world_joint_set_motor(rig.joints, rig.id, 1.0, -1.0, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_world_joint_set_motor(rig.joints, 77, 1.0, 1.0, &error), MF_NOT_FOUND, "");
}
