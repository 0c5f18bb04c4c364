// Run-time joints between robots with links, motors and contacts: holding, dragging, and warnings.
#include "solve/joints_rig.h"
#include "motion/vehicle/quadrotor/motion.h"

// Where a link's origin is at the start: a joint that is closed at the world's origin knows it.
static void link_position(Pitch *pitch, mf_Group *group, uint32_t instance, uint32_t link,
                          double out[3]) {
    mf_WorldJointConfig here = joint_between(MF_WORLD_JOINT_BALL, group, instance, NULL, 0);
    here.sides[0].link = link;
    MUST(mf_world_joint_here(&here, (double[]){0, 0, 0}, NULL, &error));
    // The frame's orientation is that of the world in the link's axes: its inverse takes it back.
    const double *q = here.sides[0].orientation, back[4] = {-q[0], q[1], q[2], q[3]};
    rotate3(back, here.sides[0].position, out);
    for (uint32_t c = 0; c < 3; c++)
        out[c] = -out[c];
}

// A humanoid stands on the ground and holds a body of 1000 kg that is pulled away with 20 N: what
// the body does not get for it goes through the joint into the arm and the feet.
TEST(a_humanoid_holds_a_car) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Model *model = load_file(pitch.context, "humanoid.urdf");
    mf_Group *humanoid =
        add_bodies(&pitch, model, "humanoid", 1, MF_MOTION_ARTICULATED, true, true);
    mf_Group *car =
        add_bodies(&pitch, box_of(pitch.context, 1000.0), "car", 1, MF_MOTION_RIGID, true, false);
    const uint32_t hand = mf_model_find(model, MF_ITEM_LINK, "left_forearm");
    double at[3], impulse = 0.0, open = 0.0, residual = 0.0, force = 0.0;
    link_position(&pitch, humanoid, 0, hand, at);
    put_at(&pitch, car, 0, at[0] + 0.5, at[1], at[2]);
    mf_WorldJoints *joints = add_joints(&pitch);
    const mf_WorldJointId id =
        join(joints,
             &WITH(joint_between(MF_WORLD_JOINT_BALL, humanoid, 0, car, 0), .sides[0].link = hand),
             at[0], at[1], at[2], NULL);
    const double height = get_field(humanoid, "base.position", 0, 2);
    set_field(car, "base.force", 0, 2, 9810.0); // it rolls on the ground, so to speak
    set_field(car, "base.force", 0, 0, 20.0);
    for (uint32_t i = 0; i < 1500; i++) {
        mf_world_step(pitch.world, 1);
        const mf_WorldJointState now = state_of(joints, id);
        impulse += 2e-3 * (now.force[0] + 20.0);
        open = fmax(open, now.opening);
        residual = fmax(residual, now.residual);
        force = fmin(force, now.force[0]);
    }
    print_message("open %.3g m, residual %.3g, at most %.4g N, car at %.4g m/s\n", open, residual,
                  force, get_field(car, "base.linear_velocity", 0, 0));
    assert_near(1000.0 * get_field(car, "base.linear_velocity", 0, 0), impulse, 1e-6);
    assert_true(open < 1e-6 && residual < 1e-3 && force < -4.0);
    assert_near(get_field(humanoid, "base.position", 0, 2), height, 0.01);
    assert_int_equal(mf_group_warning(humanoid, 0), 0);
    assert_int_equal(mf_group_fault(humanoid, 0), 0);
}

// Five hexapods hold each other in a row; the one in the middle is in the air.
TEST(robots_in_a_row_carry_one) {
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED, MF_MOTION_ARTICULATED};
    for (int m = 0; m < 6; m++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Model *model = load_file(pitch.context, "hexapod.urdf");
        mf_Group *robots = add_bodies(&pitch, model, "robots", 5, motions[m / 2], m % 2 == 1, true);
        for (uint32_t i = 0; i < 5; i++)
            put_at(&pitch, robots, i, 0.5 * i, 0,
                   get_field(robots, "base.position", i, 2) + (i == 2 ? 0.05 : 0));
        mf_WorldJoints *joints = add_joints(&pitch);
        mf_WorldJointId ids[4];
        for (uint32_t i = 0; i < 4; i++) {
            mf_WorldJointConfig config =
                joint_between(MF_WORLD_JOINT_FIXED, robots, i, robots, i + 1);
            ids[i] = join(joints, &config, 0.5 * i + 0.25, 0, 0.15, NULL);
        }
        double open = 0.0, residual = 0.0;
        for (uint32_t i = 0; i < 1000; i++) {
            mf_world_step(pitch.world, 1);
            for (uint32_t k = 0; k < 4; k++) {
                const mf_WorldJointState now = state_of(joints, ids[k]);
                open = fmax(open, now.opening);
                residual = fmax(residual, i > 10 ? now.residual : 0.0); // once all stand
            }
        }
        print_message("%s, %s: open %.3g m, residual %.3g\n", mf_motion_name(motions[m / 2]),
                      m % 2 == 1 ? "double" : "float", open, residual);
        assert_true(open < 1e-3 && residual < 1e-2);
        assert_near(state_of(joints, ids[1]).force[2], 0.5 * 9.81 * model->mass,
                    1e-3 * 9.81 * model->mass);
        assert_near(state_of(joints, ids[2]).force[2], -0.5 * 9.81 * model->mass,
                    1e-3 * 9.81 * model->mass);
        assert_int_equal(mf_group_fault_total(robots), 0);
    }
}

// ---- moved from outside -------------------------------------------------------------------------

// A robot of `kinematic` carries a box and does not feel it.
static void check_carrying(mf_Motion motion) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Model *model = load_file(pitch.context, "hexapod.urdf");
    mf_Group *robot = add_bodies(&pitch, model, "robot", 1, MF_MOTION_KINEMATIC, false, true);
    mf_Group *box = add_bodies(&pitch, box_of(pitch.context, 5.0), "box", 1, motion, true, false);
    const double height = get_field(robot, "base.position", 0, 2);
    put_at(&pitch, box, 0, 0, 0, height + 1);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, robot, 0, box, 0);
    const mf_WorldJointId id = join(joints, &config, 0, 0, height + 0.5, NULL);
    mf_world_step(pitch.world, 200);
    assert_near(state_of(joints, id).force[2], 5.0 * 9.81, 1e-3);
    assert_near(get_field(box, "base.position", 0, 2), height + 1, 1e-6);
    assert_near(get_field(robot, "base.position", 0, 2), height, 0.0);
    for (uint32_t i = 0; i < 500; i++) { // it lifts its body: all joints turn slowly
        for (uint32_t j = 0; j < model->joint_count; j++)
            set_field(robot, "joint.target", 0, j,
                      get_field(robot, "joint.target", 0, j) + 2e-4 * (j % 3 == 1));
        mf_world_step(pitch.world, 1);
    }
    assert_true(fabs(get_field(robot, "base.position", 0, 2) - height) > 1e-3);
    assert_true(state_of(joints, id).opening < 1e-4 && state_of(joints, id).angular_opening < 1e-4);
    mf_WorldJointConfig both = joint_between(MF_WORLD_JOINT_FIXED, robot, 0, NULL, 0);
    mf_WorldJointId none;
    assert_int_equal(mf_world_joint_create(joints, &both, &none, &pitch.error), MF_BAD_ARGUMENT);
}

TEST(a_kinematic_robot_carries) {
    check_carrying(MF_MOTION_RIGID);
    check_carrying(MF_MOTION_ARTICULATED);
}

// A robot that a fault froze holds the other one like the world does; its joint stays.
TEST(a_frozen_robot_holds) {
    AUTO(close_chain) Chain chain = open_chain(3, 1, MF_ISA_AUTO, true);
    mf_world_step(chain.pitch.world, 10);
    set_field(chain.links, "base.linear_velocity", 1, 0, (double)NAN);
    mf_world_step(chain.pitch.world, 1);
    assert_int_equal(mf_group_fault(chain.links, 1), MF_FAULT_NONFINITE);
    assert_int_equal(mf_group_fault_total(chain.links), 1);
    mf_world_step(chain.pitch.world, 500);
    assert_int_equal(mf_group_fault_total(chain.links), 1);
    assert_near(get_field(chain.links, "base.position", 2, 2), 49.0, 1e-6);
    assert_near(state_of(chain.joints, chain.ids[2]).force[2], 9.81, 1e-3);
    assert_near(state_of(chain.joints, chain.ids[0]).force[2] -
                    state_of(chain.joints, chain.ids[1]).force[2],
                9.81, 1e-3);
    mf_group_reset(chain.links, 1);
    mf_world_step(chain.pitch.world, 500);
    assert_near(state_of(chain.joints, chain.ids[0]).force[2], 3 * 9.81, 1e-2);
}

// ---- within one robot, between motions, with collisions -----------------------------------------

// Two links of one robot, fixed to each other: nothing moves between them, and the robot flies as
// its motion lets it fly.
TEST(a_robot_is_joined_to_itself) {
    static const char *const arm =
        "<mujoco model='arm'><worldbody><body><freejoint/><geom size='0.1' mass='1'/>"
        "<body pos='0.5 0 0'><joint type='hinge' axis='0 1 0'/><geom size='0.1' mass='1'/>"
        "<body pos='0.5 0 0'><joint type='hinge' axis='0 1 0'/><geom size='0.1' mass='1'/>"
        "<body pos='0.5 0 0'><joint type='hinge' axis='0 1 0'/><geom size='0.1' mass='1'/>"
        "</body></body></body></body></worldbody></mujoco>";
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    mf_Group *robot = add_bodies(&pitch, load_text(pitch.context, arm), "arm", 1,
                                 MF_MOTION_ARTICULATED, true, false);
    put_at(&pitch, robot, 0, 0, 0, 1);
    set_field(robot, "joint.rate", 0, 1, 1.0);
    mf_WorldJoints *joints = add_joints(&pitch);
    const mf_WorldJointId id = join(
        joints, &WITH(joint_between(MF_WORLD_JOINT_FIXED, robot, 0, robot, 0), .sides[1].link = 2),
        0.5, 0, 1, NULL);
    const Momentum before = momentum_of(&robot, 1);
    mf_world_step(pitch.world, 1000);
    const Momentum after = momentum_of(&robot, 1);
    assert_true(state_of(joints, id).opening < 1e-5 && state_of(joints, id).angular_opening < 1e-5);
    for (uint32_t c = 0; c < 3; c++)
        assert_near(after.linear[c], before.linear[c], 1e-3);
}

// Robots change their motion while they hang on a joint.
TEST(motions_may_change) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Model *model = load_file(pitch.context, "hexapod.urdf");
    mf_Group *robot = pitch_group(&pitch, model, "robot", 3, true);
    mf_MotionsConfig config = WITH(mf_motions_config(), .start = MF_MOTION_RIGID);
    for (int m = 0; m < MF_MOTION_LEVELS; m++)
        config.has[m] = m != MF_MOTION_KINEMATIC;
    mf_motions_set_shapes(&config, false);
    mf_motions_set_control(&config, 2 * MF_MILLISECOND);
    config.articulated.contact_law = MF_CONTACT_LAW_COMPLIANT;
    prepare(&pitch, robot);
    MUST(mf_motions_add(robot, &config, &error));
    for (uint32_t i = 0; i < 3; i++)
        put_at(&pitch, robot, i, 2.0 * i, 0, 3);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointId ids[3];
    for (uint32_t i = 0; i < 3; i++) {
        mf_WorldJointConfig hold = joint_between(MF_WORLD_JOINT_FIXED, NULL, 0, robot, i);
        ids[i] = join(joints, &hold, 2.0 * i, 0, 3, NULL);
    }
    const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_PRESCRIBED, MF_MOTION_RIGID,
                                 MF_MOTION_POINTS};
    for (int m = 0; m < 4; m++) {
        for (uint32_t i = 0; i < 3; i += 2)
            MUST(mf_motion_switch(robot, i, motions[m], &error));
        mf_world_step(pitch.world, 1000);
        for (uint32_t i = 0; i < 3; i++) {
            assert_near(state_of(joints, ids[i]).force[2], 9.81 * model->mass,
                        1e-3 * 9.81 * model->mass);
            assert_near(get_field(robot, "base.position", i, 2), 3.0, 1e-5);
        }
    }
}

// A ball strikes the lower of two joined boxes: momentum stays, whichever was added first; and what
// collisions say of pushes is theirs alone.
TEST(collisions_push_what_is_joined) {
    uint64_t hashes[2];
    for (int order = 0; order < 2; order++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *boxes = add_bodies(&pitch, box_of(pitch.context, 1.0), "boxes", 2,
                                     MF_MOTION_RIGID, true, false);
        mf_Group *ball = add_bodies(&pitch, ball_of(pitch.context, 2.0), "ball", 1,
                                    MF_MOTION_ARTICULATED, true, false);
        put_at(&pitch, boxes, 0, 0, 0, 1);
        put_at(&pitch, boxes, 1, 0, 0, 1.5);
        put(&pitch, ball, 0, -0.3, 0, 1, 2.0);
        mf_WorldJoints *joints = order == 0 ? add_joints(&pitch) : NULL;
        pitch_collide(&pitch, NULL);
        if (order == 1)
            joints = add_joints(&pitch);
        mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, boxes, 0, boxes, 1);
        const mf_WorldJointId id = join(joints, &config, 0, 0, 1.25, NULL);
        double open = 0.0, pushed = 0.0;
        for (uint32_t i = 0; i < 300; i++) {
            mf_world_step(pitch.world, 1);
            open = fmax(open, state_of(joints, id).opening);
            assert_true(get_field(boxes, "wrench.link", 0, 0) ==
                        -get_field(ball, "wrench.link", 0, 0));
            assert_true(get_field(boxes, "wrench.count", 1, 0) == 0);
            pushed = fmax(pushed, get_field(boxes, "wrench.link", 0, 0));
        }
        Momentum after = momentum_of(&boxes, 1);
        assert_true(pushed > 10.0 && after.linear[0] > 1.0 && open < 1e-4);
        add_momentum(ball, 0, &after);
        assert_near(after.linear[0], 4.0, 1e-12);
        assert_near(after.linear[2], 0.0, 1e-12);
        hashes[order] = mf_world_hash(pitch.world);
    }
    assert_true(hashes[0] == hashes[1]);
}

// A box hangs from a quadrotor, or the motion says that it takes no forces on its body.
TEST(a_vehicle_takes_part_or_says_why) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Quadrotor quadrotor = mf_quadrotor();
    mf_Model *model;
    MUST(mf_quadrotor_model(pitch.context, &quadrotor, "quadrotor", &model, &error));
    mf_Group *vehicle = pitch_group(&pitch, model, "vehicle", 2, true);
    prepare(&pitch, vehicle);
    MUST(rig_add_quadrotor(vehicle, &quadrotor, NULL, &error));
    mf_Group *box =
        add_bodies(&pitch, box_of(pitch.context, 0.1), "box", 1, MF_MOTION_RIGID, true, false);
    put_at(&pitch, vehicle, 1, 0, 0, 20);
    put_at(&pitch, vehicle, 0, 9, 0, 20);
    put(&pitch, box, 0, 0, 0, 19.5, 1.0);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_BALL, vehicle, 1, box, 0);
    mf_WorldJointId id;
    MUST(mf_world_joint_here(&config, (double[]){0, 0, 20}, NULL, &error));
    const mf_Status status = mf_world_joint_create(joints, &config, &id, &pitch.error);
    if (status == MF_OK) {
        mf_world_step(pitch.world, 500);
        assert_true(state_of(joints, id).opening < 1e-3 && state_of(joints, id).residual < 1e-3);
        assert_int_equal(mf_group_fault_total(vehicle), 0);
    } else {
        assert_int_equal(status, MF_UNSUPPORTED);
        assert_non_null(strstr(pitch.error.message, "(quadrotor) takes no forces"));
    }
}

// A joint that cannot close says so, and is not shot together.
TEST(what_does_not_fit_warns) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 0.0);
    mf_Group *boxes =
        add_bodies(&pitch, box_of(pitch.context, 1.0), "boxes", 2, MF_MOTION_RIGID, true, false);
    put_at(&pitch, boxes, 0, 0, 0, 1);
    put_at(&pitch, boxes, 1, 3, 0, 1);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointId id, second;
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, boxes, 0, boxes, 1);
    MUST(mf_world_joint_create(joints, &config, &id, &error)); // 3 m apart
    mf_world_step(pitch.world, 1);
    assert_near(state_of(joints, id).opening, 3.0 - 0.002, 1e-3);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(mf_group_warning(boxes, i), MF_WARNING_LOOPS);
        assert_near(get_field(boxes, "warning.residual", i, 3), 3.0, 1e-12);
        assert_near(get_field(boxes, "warning.steps", i, 3), 1.0, 0.0);
    }
    double fastest = 0.0;
    for (uint32_t i = 0; i < 2500; i++) {
        mf_world_step(pitch.world, 1);
        fastest = fmax(fastest, fabs(get_field(boxes, "base.linear_velocity", 1, 0) -
                                     get_field(boxes, "base.linear_velocity", 0, 0)));
    }
    assert_true(fastest < 1.01 && state_of(joints, id).opening < 1e-9);
    config.sides[1].position[0] = 0.5; // contradicts the first
    MUST(mf_world_joint_create(joints, &config, &second, &error));
    mf_world_step(pitch.world, 2000);
    assert_true(isfinite(state_of(joints, second).force[0]));
    assert_near(state_of(joints, second).opening + state_of(joints, id).opening, 0.5, 1e-6);
    assert_int_equal(mf_group_fault_total(boxes), 0);
}

// ---- fast rotation ------------------------------------------------------------------------------

// A cube of 1 kg spins about its face, which a ball joint holds to the world. [rad/s] after 5 s.
static double spun(mf_Motion motion, bool rk4, double rate, double *open) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 5 * MF_MILLISECOND, 0.0);
    mf_Model *model =
        load_text(pitch.context,
                  "<mujoco model='cube'><worldbody><body><freejoint/>"
                  "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody></mujoco>");
    mf_Group *cube = pitch_group(&pitch, model, "cube", 1, true);
    prepare(&pitch, cube);
    MUST(mf_motion_add(
        cube, motion,
        &WITH(mf_motions_config(), .articulated.contacts = false, .rigid.contacts = false,
              .articulated.integrator = rk4 ? MF_ARTICULATED_RK4 : MF_ARTICULATED_IMPLICIT),
        &error));
    put(&pitch, cube, 0, 0.1, 0, 5, 0);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig ball = joint_between(MF_WORLD_JOINT_BALL, cube, 0, NULL, 0);
    const mf_WorldJointId id = join(joints, &ball, 0, 0, 5, NULL);
    set_field(cube, "base.linear_velocity", 0, 1, 0.1 * rate);
    set_field(cube, "base.angular_velocity", 0, 2, rate);
    *open = 0.0;
    for (int step = 0; step < 1000; step++) {
        mf_world_step(pitch.world, 1);
        *open = fmax(*open, state_of(joints, id).opening);
    }
    const double end = get_field(cube, "base.angular_velocity", 0, 2);
    return end;
}

// It neither gains energy nor loses much of it: the velocity is measured at the middle of the
// rotation of a step, or the force acts there, as the integrator needs. Much faster it slows down.
TEST(a_spin_about_a_joint_lasts) {
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED, MF_MOTION_ARTICULATED};
    for (int k = 0; k < 3; k++) {
        double open, fast;
        const double slow = spun(motions[k], k == 2, 10.0, &open);
        print_message("%s%s: 10 rad/s -> %.5g, open %.2g mm", mf_motion_name(motions[k]),
                      k == 2 ? ", RK4" : "", slow, 1e3 * open);
        assert_true(slow > 9.98 && slow < 10.001 && open < 1e-5);
        fast = spun(motions[k], k == 2, 200.0, &open); // turns by 1 rad in a step
        print_message("; 200 rad/s -> %.5g, open %.2g mm\n", fast, 1e3 * open);
        assert_true(fast > 0.0 && fast < 200.0 && open < 0.04);
    }
}

// Twelve robots that hold each other fall from the horizontal and crack like a whip, the last one
// as heavy as the others or 100 or 1000 times.
TEST(a_chain_of_twelve_holds) {
    static const struct {
        int mass; // [kg]
        mf_Time step;
        double open; // [m]
    } whips[] = {
        {1, 2 * MF_MILLISECOND, 5e-4},
        {100, 2 * MF_MILLISECOND, 5e-4},
        {1000, MF_MILLISECOND, 5e-4},
    };
    for (size_t k = 0; k < sizeof whips / sizeof *whips; k++) {
        double open = 0.0;
        mf_WorldJointId ids[12];
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, whips[k].step, 9.81);
        mf_Group *groups[2];
        for (int i = 0; i < 2; i++) {
            mf_Model *cube = load_text(
                pitch.context,
                formatted(
                    "<mujoco model='cube'><worldbody><body><freejoint/>"
                    "<geom type='box' size='0.1 0.1 0.1' mass='%d'/></body></worldbody></mujoco>",
                    i == 1 ? whips[k].mass : 1));
            groups[i] = add_bodies(&pitch, cube, i == 0 ? "links" : "end", i == 0 ? 11 : 1,
                                   MF_MOTION_ARTICULATED, i == 0, false);
        }
        for (uint32_t i = 0; i < 12; i++)
            put(&pitch, groups[i / 11], i % 11, 0.1 + 0.2 * i, 0, 5, 0);
        mf_WorldJoints *joints = add_joints(&pitch);
        for (uint32_t i = 0; i < 12; i++) {
            mf_WorldJointConfig ball = joint_between(MF_WORLD_JOINT_BALL, groups[i / 11], i % 11,
                                                     i == 0 ? NULL : groups[0], i == 0 ? 0 : i - 1);
            ids[i] = join(joints, &ball, 0.2 * i, 0, 5, NULL);
        }
        const mf_Time time = SANITIZED ? MF_SECOND : 5 * MF_SECOND;
        for (mf_Time now = 0; now < time; now += whips[k].step) {
            mf_world_step(pitch.world, 1);
            for (uint32_t i = 0; i < 12; i++)
                open = fmax(open, state_of(joints, ids[i]).opening);
        }
        print_message("chain of 12, the last of %d kg, %g ms: open %.3g mm\n", whips[k].mass,
                      1e-6 * (double)whips[k].step, 1e3 * open);
        assert_true(open < whips[k].open);
        assert_int_equal(mf_group_warning(groups[1], 0), 0);
    }
}
