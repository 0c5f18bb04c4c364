// Run-time joints: closed forms, conserved quantities, welded bodies, chains, loops, contacts and
// breaking.
#include "solve/joints_rig.h"

#include <time.h>

// ---- a pendulum ---------------------------------------------------------------------------------

// The largest error of the angle of a box that swings from 0.5 rad about its upper end, against a
// fine integration of theta'' = -(m g l / I) sin theta, over one second.
static double pendulum_error(mf_Motion motion, mf_Time step) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 9.81);
    mf_Group *box = add_bodies(&pitch, box_of(pitch.context, 2.0), "box", 1, motion, true, false);
    const double start = 0.5, l = 0.2, inertia = (0.2 * 0.2 + 0.4 * 0.4) / 12 + l * l;
    const double rotation[4] = {cos(start / 2), sin(start / 2), 0, 0};
    MUST(mf_group_set_start(box, 0, (double[]){0, l * sin(start), 2 - l * cos(start)}, rotation,
                            NULL, &error));
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_HINGE, NULL, 0, box, 0);
    const mf_WorldJointId id = join(joints, &config, 0, 0, 2, (double[]){1, 0, 0});
    double angle = start, rate = 0.0, most = 0.0;
    const double h = (double)step * 1e-9, omega2 = 9.81 * l / inertia;
    for (uint32_t i = 0; i < (uint32_t)(1.0 / h + 0.5); i++) {
        mf_world_step(pitch.world, 1);
        for (int k = 0; k < 64; k++) { // leapfrog
            rate -= 0.5 * h / 64 * omega2 * sin(angle);
            angle += h / 64 * rate;
            rate -= 0.5 * h / 64 * omega2 * sin(angle);
        }
        const mf_WorldJointState now = state_of(joints, id);
        most = fmax(most, fabs(now.angle + start - angle));
        assert_true(now.opening < 8.0 * h * h && now.angular_opening < 8.0 * h * h);
        assert_true(now.residual < 1e-3);
    }
    return most;
}

TEST(a_pendulum_swings_as_the_equation_says) {
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED, MF_MOTION_ARTICULATED};
    for (int m = 0; m < 3; m++) {
        double errors[3];
        for (int k = 0; k < 3; k++)
            errors[k] = pendulum_error(motions[m], (4 >> k) * MF_MILLISECOND);
        print_message("%s: %.3g %.3g %.3g rad\n", mf_motion_name(motions[m]), errors[0], errors[1],
                      errors[2]);
        assert_true(errors[2] < 0.004);
        assert_true(errors[0] / errors[1] > 1.8 && errors[1] / errors[2] > 1.8);
    }
}

// ---- momentum, and the welded body --------------------------------------------------------------

// Two boxes that turn as one about the common center, in no gravity.
static void spin(mf_Group *group, uint32_t instance, const double center[3], const double rate[3]) {
    for (uint32_t c = 0; c < 3; c++) {
        const uint32_t d = (c + 1) % 3, e = (c + 2) % 3;
        const double y = get_field(group, "base.position", instance, d) - center[d];
        const double z = get_field(group, "base.position", instance, e) - center[e];
        set_field(group, "base.angular_velocity", instance, c, rate[c]);
        set_field(group, "base.linear_velocity", instance, c, rate[d] * z - rate[e] * y);
    }
}

static const double rates[3] = {0.3, 2.0, 1.0};

// Where the first box of two that a joint holds together is after a second.
static void joined_flight(mf_Motion motion, mf_Time step, double position[3], double *drift) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 0.0);
    mf_Group *one = add_bodies(&pitch, box_of(pitch.context, 2.0), "one", 1, motion, true, false);
    mf_Group *two = add_bodies(&pitch, box_of(pitch.context, 1.0), "two", 1, motion, true, false);
    put_at(&pitch, one, 0, 0, 0, 1);
    put_at(&pitch, two, 0, 0.3, 0, 1);
    spin(one, 0, (double[]){0.1, 0, 1}, rates);
    spin(two, 0, (double[]){0.1, 0, 1}, rates);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, one, 0, two, 0);
    join(joints, &config, 0.15, 0, 1, NULL);
    const Momentum before = momentum_of(pitch.groups, pitch.count);
    mf_world_step(pitch.world, (uint64_t)(MF_SECOND / step));
    const Momentum after = momentum_of(pitch.groups, pitch.count);
    *drift = 0.0;
    for (uint32_t c = 0; c < 3; c++) {
        assert_near(after.linear[c], before.linear[c], 1e-13);
        *drift = fmax(*drift, fabs(after.angular[c] - before.angular[c]));
        position[c] = get_field(one, "base.position", 0, c);
    }
}

// Where the first half of one body made of both boxes is.
static void welded_flight(mf_Time step, double position[3]) {
    static const char *const both =
        "<mujoco model='both'><worldbody><body><freejoint/>"
        "<geom type='box' size='0.05 0.1 0.2' mass='2'/>"
        "<geom type='box' size='0.05 0.1 0.2' pos='0.3 0 0' mass='1'/></body></worldbody></mujoco>";
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 0.0);
    mf_Group *body = pitch_group(&pitch, load_text(pitch.context, both), "both", 1, true);
    MUST(rig_add_articulated(body,
                             &WITH(mf_motions_config().articulated, .contacts = false,
                                   .self_contacts = false, .integrator = MF_ARTICULATED_RK4),
                             &error));
    put_at(&pitch, body, 0, 0, 0, 1);
    spin(body, 0, (double[]){0.1, 0, 1}, rates);
    mf_world_step(pitch.world, (uint64_t)(MF_SECOND / step));
    get_fields(body, "base.position", 0, 3, position);
}

// Momentum stays but for rounding, angular momentum as well as the motion keeps that of a free
// body, and the two boxes fly as one body does, with an error of the order of the motion.
TEST(two_bodies_fly_as_one) {
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};
    double truth[3], position[3], errors[2][3], drift[3];
    welded_flight(MF_MILLISECOND / 4, truth);
    for (int m = 0; m < 2; m++) {
        for (int k = 0; k < 3; k++) {
            joined_flight(motions[m], (4 >> k) * MF_MILLISECOND, position, &drift[k]);
            errors[m][k] = 0.0;
            for (uint32_t c = 0; c < 3; c++)
                errors[m][k] = fmax(errors[m][k], fabs(position[c] - truth[c]));
        }
        print_message("%s: %.3g %.3g %.3g m, angular momentum %.3g %.3g %.3g\n",
                      mf_motion_name(motions[m]), errors[m][0], errors[m][1], errors[m][2],
                      drift[0], drift[1], drift[2]);
        assert_true(errors[m][2] < 1e-3);
        // `rigid` keeps the angular momentum of a free body and is of second order in flight.
        const bool rigid = motions[m] == MF_MOTION_RIGID;
        for (int k = 0; k < 2; k++)
            assert_true(errors[m][k] / errors[m][k + 1] > (rigid ? 3.5 : 1.8));
        for (int k = 0; k < 3; k++)
            assert_true(drift[k] < (rigid ? 1e-13 : 2e-4 / (1 << k)));
    }
}

// ---- chains -------------------------------------------------------------------------------------

static double widest(const Chain *chain, uint32_t count) {
    double most = 0.0;
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, state_of(chain->joints, chain->ids[i]).opening);
    return most;
}

// A chain at rest carries its weight from the first step on; pushed aside it swings and stays
// whole.
TEST(a_chain_holds) {
    const uint32_t counts[] = {10, 100};
    for (int k = 0; k < 2; k++) {
        const uint32_t count = counts[k];
        AUTO(close_chain) Chain chain = open_chain(count, 1, MF_ISA_AUTO, true);
        double rest = 0.0, swing = 0.0;
        for (uint32_t i = 0; i < 100; i++) {
            mf_world_step(chain.pitch.world, 1);
            rest = fmax(rest, widest(&chain, count));
        }
        for (uint32_t i = 0; i < count; i++)
            assert_near(state_of(chain.joints, chain.ids[i]).force[2], 9.81 * (count - i),
                        1e-3 * count);
        set_field(chain.links, "base.linear_velocity", count - 1, 0, 3.0);
        for (uint32_t i = 0; i < 500; i++) {
            mf_world_step(chain.pitch.world, 1);
            swing = fmax(swing, widest(&chain, count));
        }
        print_message("%u links: open %.3g m at rest, %.3g m swinging\n", count, rest, swing);
        assert_true(rest < 1e-6 * count && swing < 1e-3);
        assert_int_equal(mf_group_fault_total(chain.links), 0);
    }
}

// Processor time of a step.
static double chain_seconds(uint32_t count) {
    const uint32_t steps = 1000 / count;
    double least = 1e9;
    AUTO(close_chain) Chain chain = open_chain(count, 1, MF_ISA_AUTO, true);
    set_field(chain.links, "base.linear_velocity", count - 1, 0, 1.0);
    for (int k = 0; k < 16; k++) {
        const clock_t before = clock();
        mf_world_step(chain.pitch.world, steps);
        least = fmin(least, (double)(clock() - before) / CLOCKS_PER_SEC);
    }
    return least / steps;
}

// Sixteen times the links cost about sixteen times the time, not its square or cube.
TEST(chains_cost_as_much_as_they_are_long) {
    const double few = chain_seconds(25), many = chain_seconds(400);
    print_message("25 links: %.3g us a step, 400 links: %.3g us, ratio %.3g\n", few * 1e6,
                  many * 1e6, many / few);
    assert_true(many / few < 16 * 4.0);
}

// ---- loops --------------------------------------------------------------------------------------

// Six boxes in a ring, each fixed to both neighbors, one joint more than needed: it turns as one
// body, and no joint opens.
TEST(a_ring_is_one_body) {
    const mf_WorldJointKind kinds[] = {MF_WORLD_JOINT_FIXED, MF_WORLD_JOINT_BALL};
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *ring =
            add_bodies(&pitch, box_of(pitch.context, 1.0), "ring", 6, MF_MOTION_RIGID, true, false);
        mf_WorldJoints *joints = add_joints(&pitch);
        mf_WorldJointId ids[6];
        for (uint32_t i = 0; i < 6; i++)
            put_at(&pitch, ring, i, 0.5 * cos(i * 1.04719755), 0.5 * sin(i * 1.04719755), 1);
        for (uint32_t i = 0; i < 6; i++) {
            const double angle = (i + 0.5) * 1.04719755;
            mf_WorldJointConfig config = joint_between(kinds[k], ring, i, ring, (i + 1) % 6);
            ids[i] = join(joints, &config, 0.5 * cos(angle), 0.5 * sin(angle), 1, NULL);
        }
        for (uint32_t i = 0; i < 6; i++)
            spin(ring, i, (double[]){0, 0, 1}, (double[]){0.5, 0, 3});
        const Momentum before = momentum_of(&ring, 1);
        double most = 0.0;
        for (uint32_t n = 0; n < 1000; n++) {
            mf_world_step(pitch.world, 1);
            for (uint32_t i = 0; i < 6; i++)
                most = fmax(most, state_of(joints, ids[i]).opening);
        }
        const Momentum after = momentum_of(&ring, 1);
        print_message("ring, %s: open %.3g m\n", mf_world_joint_kind_name(kinds[k]), most);
        assert_true(most < 2e-5);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(after.linear[c], before.linear[c], 1e-12);
        assert_near(after.angular[2], before.angular[2], 2e-3 * fabs(before.angular[2]));
    }
}

// ---- compliant joints ---------------------------------------------------------------------------

// A mass on a spring and a damper settles where the spring says, at the speed they say.
TEST(a_spring_gives_way) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND / 10, 9.81);
    mf_Group *box =
        add_bodies(&pitch, box_of(pitch.context, 2.0), "box", 1, MF_MOTION_RIGID, true, false);
    put_at(&pitch, box, 0, 0, 0, 5);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_BALL, NULL, 0, box, 0);
    config.stiffness = 2000.0; // omega 31.6 rad/s
    config.damping = 12.65;    // damping ratio 0.1
    join(joints, &config, 0, 0, 5, NULL);
    const double omega = sqrt(1000.0), ratio = 12.65 / (2 * 2.0 * omega), down = 9.81 / 1000.0;
    double most = 0.0;
    for (uint32_t i = 1; i <= 5000; i++) {
        mf_world_step(pitch.world, 1);
        const double t = i * 1e-4, decay = exp(-ratio * omega * t),
                     fast = omega * sqrt(1 - ratio * ratio);
        const double expected =
            5 - down * (1 - decay * (cos(fast * t) + ratio * omega / fast * sin(fast * t)));
        most = fmax(most, fabs(get_field(box, "base.position", 0, 2) - expected));
    }
    print_message("spring: %.3g of %.3g m\n", most, down);
    assert_true(most < 0.02 * down);
}

// ---- a humanoid and a heavy body ----------------------------------------------------------------

// The hand of a humanoid and a body of 1000 kg, in no gravity: what one loses the other gets; and
// the humanoid is dragged along.
TEST(a_humanoid_is_dragged_by_a_heavy_body) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 0.0);
        mf_Model *model = load_file(pitch.context, "humanoid.urdf");
        mf_Group *humanoid =
            add_bodies(&pitch, model, "humanoid", 1, MF_MOTION_ARTICULATED, wide, false);
        mf_Group *car = add_bodies(&pitch, box_of(pitch.context, 1000.0), "car", 1, MF_MOTION_RIGID,
                                   wide, false);
        put(&pitch, humanoid, 0, 0, 0, 2, 0.0);
        put(&pitch, car, 0, 1, 0, 2, 0.5);
        mf_WorldJoints *joints = add_joints(&pitch);
        mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_BALL, humanoid, 0, car, 0);
        config.sides[0].link = mf_model_find(model, MF_ITEM_LINK, "left_forearm");
        // The joint's point is the origin of the forearm; the car is far larger than its box.
        mf_WorldJointConfig here = config;
        MUST(mf_world_joint_here(&here, (double[]){0, 0, 0}, NULL, &error));
        const double *origin = here.sides[0].position; // the world's origin in the forearm's frame
        double point[3];
        for (uint32_t c = 0; c < 3; c++) // the forearm is upright at the start
            point[c] = -origin[c];
        const mf_WorldJointId id = join(joints, &config, point[0], point[1], point[2], NULL);
        const Momentum before = momentum_of(pitch.groups, pitch.count);
        double open = 0.0, force = 0.0;
        for (uint32_t i = 0; i < 1000; i++) {
            mf_world_step(pitch.world, 1);
            const mf_WorldJointState now = state_of(joints, id);
            open = fmax(open, now.opening);
            force = fmax(force, fabs(now.force[0]));
        }
        const Momentum after = momentum_of(pitch.groups, pitch.count);
        const double exact = wide ? 1e-10 : 2e-3;
        for (uint32_t c = 0; c < 3; c++)
            assert_near(after.linear[c], before.linear[c], exact);
        print_message("humanoid, %s: open %.3g m, at most %.4g N, humanoid at %.3g m/s\n",
                      wide ? "double" : "float", open, force,
                      get_field(humanoid, "base.linear_velocity", 0, 0));
        assert_true(open < 1e-3 && force > 10.0);
        assert_true(get_field(humanoid, "base.linear_velocity", 0, 0) > 0.1);
        assert_int_equal(mf_group_fault(humanoid, 0), 0);
        assert_int_equal(mf_group_warning(humanoid, 0) & (MF_WARNING_LOOPS), 0);
    }
}

// ---- contacts -----------------------------------------------------------------------------------

// Two boxes stand on the ground and hold three between them in the air.
TEST(a_bridge_stands_on_its_ends) {
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};
    for (int m = 0; m < 2; m++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *boxes =
            add_bodies(&pitch, box_of(pitch.context, 1.0), "boxes", 5, motions[m], true, true);
        mf_WorldJoints *joints = add_joints(&pitch);
        mf_WorldJointId ids[4];
        for (uint32_t i = 0; i < 5; i++)
            put_at(&pitch, boxes, i, 0.12 * i, 0, i == 0 || i == 4 ? 0.2 : 0.3);
        for (uint32_t i = 0; i < 4; i++) {
            mf_WorldJointConfig config =
                joint_between(MF_WORLD_JOINT_FIXED, boxes, i, boxes, i + 1);
            ids[i] = join(joints, &config, 0.12 * i + 0.06, 0, 0.25, NULL);
        }
        double open = 0.0, residual = 0.0;
        for (uint32_t i = 0; i < 1000; i++) {
            mf_world_step(pitch.world, 1);
            for (uint32_t k = 0; k < 4; k++) {
                open = fmax(open, state_of(joints, ids[k]).opening);
                residual = fmax(residual, state_of(joints, ids[k]).residual);
            }
        }
        print_message("bridge, %s: open %.3g m, residual %.3g, forces %.4g %.4g %.4g %.4g N\n",
                      mf_motion_name(motions[m]), open, residual, state_of(joints, ids[0]).force[2],
                      state_of(joints, ids[1]).force[2], state_of(joints, ids[2]).force[2],
                      state_of(joints, ids[3]).force[2]);
        assert_near(state_of(joints, ids[0]).force[2], 1.5 * 9.81, 0.05);
        assert_near(state_of(joints, ids[3]).force[2], -1.5 * 9.81, 0.05);
        assert_true(open < 1e-4);
        assert_int_equal(mf_group_warning_total(boxes), 0);
    }
}

// A box of 1 kg stands on the ground and carries a heavier one on a joint: trial steps know what
// the ground does, so the joint does not open however unlike the masses are.
TEST(a_light_box_carries_a_heavy_one) {
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};
    const double masses[] = {1.0, 10.0, 100.0};
    for (int k = 0; k < 6; k++) {
        const bool rigid = k < 3;
        // Contacts of `rigid` are as stiff as suits the mass of the robot itself: 10 kg at most.
        if (rigid && k % 3 == 2)
            continue;
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *low =
            add_bodies(&pitch, box_of(pitch.context, 1.0), "low", 1, motions[k / 3], true, true);
        mf_Group *high = add_bodies(&pitch, box_of(pitch.context, masses[k % 3]), "high", 1,
                                    motions[k / 3], true, true);
        put_at(&pitch, low, 0, 0, 0, 0.2);
        put_at(&pitch, high, 0, 0, 0, 0.61);
        mf_WorldJoints *joints = add_joints(&pitch);
        mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, low, 0, high, 0);
        const mf_WorldJointId id = join(joints, &config, 0, 0, 0.4, NULL);
        double open = 0.0;
        for (uint32_t i = 0; i < 1000; i++) {
            mf_world_step(pitch.world, 1);
            open = fmax(open, state_of(joints, id).opening);
        }
        print_message("1 kg carries %g kg, %s: open %.3g m, %.5g N\n", masses[k % 3],
                      mf_motion_name(motions[k / 3]), open, state_of(joints, id).force[2]);
        assert_true(open < 5e-6);
        assert_near(state_of(joints, id).force[2], 9.81 * masses[k % 3],
                    1e-3 * 9.81 * masses[k % 3]);
        assert_int_equal(mf_group_warning(low, 0), 0);
    }
}

// ---- breaking -----------------------------------------------------------------------------------

// A box of 2 kg hangs from a joint and is pulled harder and harder.
TEST(a_joint_breaks_at_its_limit) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *box =
        add_bodies(&pitch, box_of(pitch.context, 2.0), "box", 1, MF_MOTION_RIGID, true, false);
    put_at(&pitch, box, 0, 0, 0, 5);
    mf_WorldJoints *joints = add_joints(&pitch);
    const mf_WorldJointId id = join(
        joints, &WITH(joint_between(MF_WORLD_JOINT_FIXED, NULL, 0, box, 0), .force_limit = 30.0), 0,
        0, 5, NULL);
    uint32_t steps = 0;
    for (; steps < 1000 && !state_of(joints, id).broken; steps++) {
        set_field(box, "base.force", 0, 2, -0.05 * steps);
        mf_world_step(pitch.world, 1);
    }
    // 19.62 + 0.05 n > 30 for n >= 208.
    assert_in_range(steps, 208, 210);
    const mf_WorldJointState broken = state_of(joints, id);
    assert_near(broken.force[2], 30.0, 0.1);
    assert_true(broken.enabled);
    set_field(box, "base.force", 0, 2, 0.0);
    const double height = get_field(box, "base.position", 0, 2);
    mf_world_step(pitch.world, 100);
    assert_near(get_field(box, "base.position", 0, 2), height - 0.5 * 9.81 * 0.1 * 0.1, 1e-3);
    MUST(mf_world_joint_enable(joints, id, true, &error)); // pulls it back
    mf_world_step(pitch.world, 1);
    assert_true(state_of(joints, id).broken); // from 1 m/s in one step
}

TEST(a_joint_can_be_switched_off) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *box =
        add_bodies(&pitch, box_of(pitch.context, 2.0), "box", 1, MF_MOTION_RIGID, true, false);
    put_at(&pitch, box, 0, 0, 0, 5);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, NULL, 0, box, 0);
    const mf_WorldJointId id = join(joints, &config, 0, 0, 5, NULL);
    mf_world_step(pitch.world, 100);
    assert_near(get_field(box, "base.position", 0, 2), 5.0, 1e-6);
    assert_near(state_of(joints, id).force[2], 19.62, 1e-3);
    MUST(mf_world_joint_enable(joints, id, false, &error));
    mf_world_step(pitch.world, 100);
    assert_near(get_field(box, "base.linear_velocity", 0, 2), -0.981, 1e-6);
    assert_near(state_of(joints, id).force[2], 0.0, 0.0);
    MUST(mf_world_joint_enable(joints, id, true, &error));
    mf_world_step(pitch.world, 1000); // closes, at most by 1 m/s
    assert_near(get_field(box, "base.position", 0, 2), 5.0, 1e-5);
}
