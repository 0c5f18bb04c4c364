// Inputs of servos (mf_ArticulatedConfig.servo_inputs): the law by closed solutions of one joint,
// the values they start with, their limits, and what is refused.
#include "motion/articulated_rig.h"
#include "motion/articulated/host.h"

static const double along_z[3] = {0, 0, 1};
static const double inertia = 0.5; // [kg m^2]

// A wheel on a fixed base, no gravity about its axis.
static Rig wheel(ArtConfig wish) {
    Rig rig = rig_begin(1);
    uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_z);
    art_body(rig.hand, link, 1.0, 0, 0, 0, 0.3, 0.3, inertia);
    art_open(&rig, WITH(wish, .motion.base = MF_ARTICULATED_FIXED));
    return rig;
}

static ArtConfig inputs_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    return WITH(art_config(integrator, step), .motion.servo_inputs = true);
}

static void command(Rig *rig, double gain, double damping, double target, double rate,
                    double torque) {
    rig_set(rig, "servo.gain", 0, gain);
    rig_set(rig, "servo.damping", 0, damping);
    rig_set(rig, "joint.target", 0, target);
    rig_set(rig, "servo.target_rate", 0, rate);
    rig_set(rig, "servo.torque", 0, torque);
}

// The damped oscillator J a = k (q* - q) + d (v* - v) + t from rest at 0: with z = d / (2 w J) < 1
// and w^2 = k / J it goes around q* + (d v* + t) / k.
static double oscillator(double k, double d, double target, double rate, double torque, double t) {
    const double w = sqrt(k / inertia), z = d / (2.0 * w * inertia), damped = w * sqrt(1.0 - z * z);
    const double rest = target + (d * rate + torque) / k;
    return rest * (1.0 - exp(-z * w * t) * (cos(damped * t) + z * w / damped * sin(damped * t)));
}

static const char wheel_text[] =
    "<mujoco model='wheel'><worldbody><body><joint axis='0 0 1'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.3 0.3 0.5'/></body></worldbody></mujoco>";

// Largest error of the angle over a second after a command.
static double step_response(mf_ArticulatedIntegrator integrator, mf_Time step, mf_ContactLaw law) {
    AUTO_RIG t =
        text_open(wheel_text, WITH(inputs_config(integrator, step), .motion.contact_law = law));
    rig_set(&t, "servo.gain", 0, 50.0);
    rig_set(&t, "servo.damping", 0, 3.0);
    rig_set(&t, "joint.target", 0, 0.4);
    rig_set(&t, "servo.target_rate", 0, 0.7);
    rig_set(&t, "servo.torque", 0, -1.5);
    double worst = 0.0;
    for (int n = 0; n < MF_SECOND / step; n++) {
        mf_world_step(t.world, 1);
        const double time = mf_time_to_seconds(mf_world_time(t.world));
        const double expected = oscillator(50.0, 3.0, 0.4, 0.7, -1.5, time);
        worst = fmax(worst, fabs(rig_get(&t, "joint.angle", 0) - expected));
    }
    assert_int_equal(mf_group_fault_total(t.group), 0);
    return worst;
}

// Runge-Kutta to its order; the other integrators, of order 1, halve the error with the step, also
// under MuJoCo's law.
TEST(a_step_response_is_the_damped_oscillators) {
    assert_true(step_response(MF_ARTICULATED_RK4, MF_MILLISECOND, MF_CONTACT_LAW_COMPLIANT) <
                1e-10);
    for (mf_ContactLaw law = MF_CONTACT_LAW_MUJOCO; law <= MF_CONTACT_LAW_HARD; law++) {
        const double coarse = step_response(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND, law);
        const double fine = step_response(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND / 2, law);
        assert_true(coarse < 3e-3);
        assert_near(fine / coarse, 0.5, 0.01);
    }
}

// Gains change between steps, and go far beyond what an explicit step bears.
TEST(gains_change_while_running) {
    ArtConfig config = inputs_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND);
    AUTO_RIG rig = wheel(config);
    command(&rig, 0.0, 0.0, 1.0, 0.0, 0.5); // a torque alone: 1 rad/s^2
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "joint.rate", 0), 1.0, 1e-12);
    command(&rig, 0.0, 1e6, 0.0, 3.0, 0.0); // a speed
    mf_world_step(rig.world, 1);
    assert_near(rig_get(&rig, "joint.rate", 0), 3.0, 2e-4);
    command(&rig, 1e9, 1e5, -0.25, 0.0, 0.0);
    mf_world_step(rig.world, 500);
    assert_near(rig_get(&rig, "joint.angle", 0), -0.25, 1e-9);
    assert_int_equal(mf_group_fault_total(rig.group), 0);
}

// Untouched, they are the servo of the settings to the bit, also after a reset.
TEST(gains_are_those_of_the_settings_at_first) {
    double angle[2][2];
    for (int inputs = 0; inputs < 2; inputs++) {
        AUTO_RIG rig = wheel(WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND),
                                  .motion.servo_inputs = inputs == 1, .motion.servo.gain = 20.0,
                                  .motion.servo.damping = 1.0, .motion.servo.effort = 2.0,
                                  .motion.servo.backlash = 0.01));
        for (int run = 0; run < 2; run++) {
            rig_set(&rig, "joint.target", 0, 1.0);
            mf_world_step(rig.world, 50);
            angle[inputs][run] = rig_get(&rig, "joint.angle", 0);
            if (inputs == 1)
                command(&rig, 7.0, 3.0, 0.0, 1.0, 1.0);
            mf_group_reset(rig.group, 0);
        }
    }
    assert_true(angle[0][0] == angle[1][0] && angle[0][1] == angle[1][1]);
    assert_true(fabs(angle[0][0]) > 0.01);
}

// The effort bounds the sum; where the file has a motor at the joint, its range does.
TEST(efforts_bound_the_sum) {
    for (int motor = 0; motor < 2; motor++) {
        ArtConfig config = inputs_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
        mf_Actuator actuator = {.name = "motor",
                                .drive = MF_DRIVE_JOINT,
                                .activation_address = MF_NONE,
                                .gear = {5.0, 0, 0, 0, 0, 0},
                                .gain = {0.25, 0, 0},
                                .control_lower = -2.0,
                                .control_upper = 2.0,
                                .force_lower = -INFINITY,
                                .force_upper = INFINITY};
        if (motor == 0)
            config.motion.servo.effort = 2.5;
        AUTO_RIG rig = rig_begin(1);
        uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_z);
        art_body(rig.hand, link, 1.0, 0, 0, 0, 0.3, 0.3, inertia);
        rig.hand->model.actuators = &actuator;
        rig.hand->model.actuator_count = motor == 1 ? 1 : 0;
        config.motion.base = MF_ARTICULATED_FIXED;
        art_open(&rig, config);
        const mf_Servo servo = mf_articulated_servo(rig.group, 0);
        assert_true(servo.effort == 2.5 && servo.gain == 0.0 && servo.speed == INFINITY);
        command(&rig, 100.0, 1.0, -5.0, 0.0, 1000.0);
        mf_world_step(rig.world, 100);
        assert_near(rig_get(&rig, "joint.rate", 0), 0.1 * 2.5 / inertia, 1e-12);
    }
}

TEST(what_is_no_gain_is_an_input_fault) {
    static const double values[][4] = {{-1, 0, 0, 0},       {1, -1e-3, 0, 0}, {NAN, 0, 0, 0},
                                       {1, INFINITY, 0, 0}, {1, 1, NAN, 0},   {1, 1, 0, INFINITY}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ArtConfig config = inputs_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        AUTO_RIG rig = wheel(config);
        command(&rig, values[i][0], values[i][1], 0.0, values[i][2], values[i][3]);
        mf_world_step(rig.world, 1);
        assert_int_equal(mf_group_fault(rig.group, 0), MF_FAULT_INPUT);
    }
}

// Without the setting there are no such fields; what the servo is can be asked for.
TEST(without_them_there_are_no_fields) {
    AUTO_RIG rig = wheel(WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                              .motion.servo.gain = 8.0, .motion.servo.damping = 2.0,
                              .motion.servo.speed = 3.0, .motion.servo.backlash = 0.25));
    const mf_Servo servo = mf_articulated_servo(rig.group, 0);
    assert_true(servo.gain == 8.0 && servo.damping == 2.0 && servo.speed == 3.0);
    assert_true(servo.backlash == 0.25 && servo.effort == INFINITY);
    assert_true(mf_articulated_servo(rig.group, 1).gain == 0.0); // there is no such joint
    assert_null(mf_group_find_field(rig.group, "servo.gain"));
    assert_null(mf_group_find_field(rig.group, "servo.torque"));
}
