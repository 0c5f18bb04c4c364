// Joint slots: joints that controllers make and destroy by requests in fields.
#include "solve/joints_rig.h"

enum { GAP = 2 }; // [m] between the lanes of two pairs

// Pairs of a carrier (1 kg, moving along x) and a ball (3 kg, at rest 1 m ahead), without gravity.
typedef struct Rig {
    Pitch pitch;
    mf_Group *carriers, *balls;
    mf_WorldJoints *joints;
} Rig;

static Rig open_still(uint32_t count, uint32_t threads, mf_Isa isa, bool wide, double gravity) {
    Rig rig;
    Pitch *pitch = &rig.pitch;
    *pitch = pitch_open(threads, isa, 2 * MF_MILLISECOND, gravity);
    rig.joints = add_joints(pitch);
    rig.carriers = add_bodies(pitch, box_of(pitch->context, 1.0), "carriers", count,
                              MF_MOTION_RIGID, wide, false);
    MUST(mf_joint_slots_add(rig.joints, rig.carriers, 2, &error));
    rig.balls = add_bodies(pitch, ball_of(pitch->context, 3.0), "balls", count, MF_MOTION_RIGID,
                           wide, false);
    MUST(mf_joint_slots_ready(rig.joints, &error));
    return rig;
}

static Rig open_rig(uint32_t count, uint32_t threads, mf_Isa isa, bool wide) {
    Rig rig = open_still(count, threads, isa, wide, 0.0);
    for (uint32_t i = 0; i < count; i++) {
        put(&rig.pitch, rig.carriers, i, 0, GAP * i, 50, 1.0);
        put(&rig.pitch, rig.balls, i, 1, GAP * i, 50, 0.0);
    }
    return rig;
}

static void close_rig(Rig *rig) {
    pitch_close(&rig->pitch);
}

static void add_magnets(Rig *rig, double on, double off) {
    Pitch *pitch = &rig->pitch;
    AUTO_PLUGIN *plugin;
    const mf_PluginValue values[] = {{"on", on}, {"off", off}, {"reach", 0.3}};
    mf_PluginConfig config = WITH(mf_plugin_config(), .values = values, .value_count = 3);
    MUST(mf_plugin_load(pitch->context, formatted("%s/plugins/plugin_magnet.so", MAYFLY_BINARY_DIR),
                        &plugin, &error));
    MUST(mf_plugin_control_add(rig->carriers, mf_rate_from_period(4 * MF_MILLISECOND), plugin,
                               &config, &error));
}

static uint32_t slot_state(const Rig *rig, uint32_t instance, uint32_t slot) {
    return (uint32_t)get_field(rig->carriers, "joint_slot.state", instance, slot);
}

static void ask(Rig *rig, uint32_t instance, uint32_t slot, mf_JointRequest request) {
    set_field(rig->carriers, "joint_slot.request", instance, slot, request);
}

// A partner by number, joined as it is.
static void ask_for(Rig *rig, uint32_t instance, uint32_t slot, uint32_t group, uint32_t robot) {
    set_field(rig->carriers, "joint_slot.link", instance, 4 * slot + 1, group);
    set_field(rig->carriers, "joint_slot.link", instance, 4 * slot + 2, robot);
    set_field(rig->carriers, "joint_slot.link", instance, 4 * slot + 3, 0);
    ask(rig, instance, slot, MF_JOINT_REQUEST_JOIN);
}

// ---- the plugin ---------------------------------------------------------------------------------

TEST(a_magnet_catches_and_lets_go) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO(close_rig) Rig rig = open_rig(20, 2, MF_ISA_AUTO, wide != 0);
        add_magnets(&rig, 0.5, 1.5);
        mf_world_step(rig.pitch.world, 249); // before it is switched on
        assert_int_equal(mf_world_joints_count(rig.joints), 0);
        mf_world_step(rig.pitch.world, 160); // 0.818 s: the ball came within 0.3 m at 0.7 s
        assert_int_equal(mf_world_joints_count(rig.joints), 20);
        for (uint32_t i = 0; i < 20; i++) {
            assert_int_equal(slot_state(&rig, i, 0), MF_JOINT_SLOT_JOINED);
            assert_int_equal(slot_state(&rig, i, 1), MF_JOINT_SLOT_FREE);
            assert_int_equal(get_field(rig.carriers, "joint_slot.joint", i, 3), i); // its own ball
            assert_near(get_field(rig.carriers, "base.linear_velocity", i, 0), 0.25, 1e-4);
            assert_near(get_field(rig.balls, "base.linear_velocity", i, 0), 0.25, 1e-4);
            assert_near(get_field(rig.balls, "base.position", i, 0) -
                            get_field(rig.carriers, "base.position", i, 0),
                        0.3, 7e-3); // a period of the plugin and a step late at most
        }
        mf_world_step(rig.pitch.world, 400); // switched off
        assert_int_equal(mf_world_joints_count(rig.joints), 0);
        assert_int_equal(slot_state(&rig, 3, 0), MF_JOINT_SLOT_FREE);
        // Held at the edge of the reach, to a rounding: it is put within.
        set_field(rig.balls, "base.position", 3, 0,
                  get_field(rig.balls, "base.position", 3, 0) - 1e-3);
        set_field(rig.carriers, "magnet.command", 3, 0, 1.0); // one is switched on again
        mf_world_step(rig.pitch.world, 4);
        assert_int_equal(mf_world_joints_count(rig.joints), 1);
        assert_int_equal(slot_state(&rig, 3, 0), MF_JOINT_SLOT_JOINED);
        assert_int_equal(mf_group_fault_total(rig.carriers), 0);
        assert_int_equal(mf_joint_request_statistics(rig.joints).refused, 0);
    }
}

static uint64_t hash_of_run(const void *user, uint32_t threads, mf_Isa isa) {
    AUTO(close_rig) Rig rig = open_rig(37, threads, isa, false);
    add_magnets(&rig, 0.0, 1.0);
    mf_world_step(rig.pitch.world, 450);
    assert_int_equal(mf_world_joints_count(rig.joints), 37);
    uint64_t hash = mf_world_hash(rig.pitch.world);
    mf_world_step(rig.pitch.world, 100);
    hash ^= mf_world_hash(rig.pitch.world);
    return hash;
}

TEST(bits_do_not_depend_on_threads) {
    assert_same_bits(hash_of_run, NULL);
}

// ---- state --------------------------------------------------------------------------------------

TEST(a_snapshot_holds_pending_requests) {
    AUTO(close_rig) Rig rig = open_rig(5, 1, MF_ISA_AUTO, true);
    mf_world_step(rig.pitch.world, 10);
    ask_for(&rig, 2, 1, 1, 4);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(rig.pitch.world, &size);
    mf_world_step(rig.pitch.world, 20);
    assert_int_equal(slot_state(&rig, 2, 1), MF_JOINT_SLOT_JOINED);
    const uint64_t hash = mf_world_hash(rig.pitch.world);
    MUST(mf_world_restore(rig.pitch.world, image, size, &error));
    assert_int_equal(mf_world_joints_count(rig.joints), 0);
    mf_world_step(rig.pitch.world, 20);
    assert_int_equal(mf_world_joints_count(rig.joints), 1);
    assert_true(mf_world_hash(rig.pitch.world) == hash);
}

TEST(joints_come_and_go_without_memory) {
    enum { COUNT = 16, ROUNDS = STEPS_OF(10000) };
    AUTO(close_rig) Rig rig = open_rig(COUNT, 1, MF_ISA_AUTO, false);
    mf_world_step(rig.pitch.world, 1);
    const uint64_t calls = mf_context_call_count(rig.pitch.context);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            if (round % 2 == 0)
                ask_for(&rig, i, round % 4 / 2, 1, (i + round) % COUNT);
            else
                ask(&rig, i, round % 4 / 2, MF_JOINT_REQUEST_LEAVE);
        mf_world_step(rig.pitch.world, 1);
        assert_int_equal(mf_world_joints_count(rig.joints), round % 2 == 0 ? COUNT : 0);
        if (round % 100 == 99) // pulled about by far balls
            mf_group_reset_all(rig.carriers), mf_group_reset_all(rig.balls);
    }
    assert_int_equal(mf_context_call_count(rig.pitch.context), calls);
    assert_int_equal(mf_joint_request_statistics(rig.joints).carried_out, COUNT * ROUNDS);
    assert_int_equal(mf_joint_request_statistics(rig.joints).refused, 0);
}

TEST(a_reset_robot_leaves) {
    AUTO(close_rig) Rig rig = open_rig(3, 1, MF_ISA_AUTO, true);
    for (uint32_t i = 0; i < 3; i++)
        ask_for(&rig, i, 0, 1, i);
    mf_world_step(rig.pitch.world, 5);
    assert_int_equal(mf_world_joints_count(rig.joints), 3);
    mf_group_reset(rig.carriers, 1);
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(mf_world_joints_count(rig.joints), 2);
    assert_int_equal(slot_state(&rig, 1, 0), MF_JOINT_SLOT_FREE);
    assert_int_equal(slot_state(&rig, 2, 0), MF_JOINT_SLOT_JOINED);
    assert_near(get_field(rig.carriers, "base.linear_velocity", 1, 0), 1.0,
                0.0); // nothing pulled it
}

TEST(joints_break_and_are_repaired) {
    AUTO(close_rig) Rig rig = open_rig(2, 1, MF_ISA_AUTO, true);
    set_field(rig.carriers, "joint_slot.setting", 0, 5, 1e-3); // [N]
    ask_for(&rig, 0, 0, 1, 0);
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(slot_state(&rig, 0, 0), MF_JOINT_SLOT_BROKEN);
    assert_true(get_field(rig.carriers, "joint_slot.load", 0, 0) < -1.0); // held back
    ask_for(&rig, 1, 0, 1, 1);
    mf_world_step(rig.pitch.world, 1);
    ask(&rig, 1, 0, MF_JOINT_REQUEST_DISABLE);
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(slot_state(&rig, 1, 0), MF_JOINT_SLOT_DISABLED);
    ask(&rig, 1, 0, MF_JOINT_REQUEST_ENABLE);
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(slot_state(&rig, 1, 0), MF_JOINT_SLOT_JOINED);
    ask(&rig, 0, 0, MF_JOINT_REQUEST_ENABLE); // breaks again only when it must carry something
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(get_field(rig.carriers, "joint_slot.answer", 0, 0), MF_OK);
}

TEST(the_load_is_the_weight) {
    AUTO(close_rig) Rig rig = open_still(1, 1, MF_ISA_AUTO, true, 9.81);
    Pitch *pitch = &rig.pitch;
    put(pitch, rig.carriers, 0, 0, 0, 50, 0.0);
    put(pitch, rig.balls, 0, 0, 0, 49.5, 0.0);
    ask_for(&rig, 0, 0, 1, 0);       // holds the ball
    ask_for(&rig, 0, 1, MF_NONE, 0); // and hangs from the world
    mf_world_step(pitch->world, 200);
    assert_near(get_field(rig.carriers, "joint_slot.load", 0, 2), -3 * 9.81, 1e-3);
    assert_near(get_field(rig.carriers, "joint_slot.load", 0, 8), 4 * 9.81, 1e-3);
    assert_near(get_field(rig.balls, "base.position", 0, 2), 49.5, 1e-4);
}

// ---- hinges -------------------------------------------------------------------------------------

// The carrier is a box of 0.1 x 0.2 x 0.4 m and 1 kg.
static const double spin_inertia = (0.1 * 0.1 + 0.2 * 0.2) / 12.0;

// The first carrier asks for a hinge on the world, about the vertical through its center.
static Rig open_hinge(const double hinge[4]) {
    Rig rig = open_rig(2, 1, MF_ISA_AUTO, true);
    put(&rig.pitch, rig.carriers, 0, 0, 0, 50, 0.0);
    put(&rig.pitch, rig.carriers, 1, 0, GAP, 50, 0.0);
    set_field(rig.carriers, "joint_slot.kind", 0, 1, MF_WORLD_JOINT_HINGE);
    for (uint32_t c = 0; c < 4; c++)
        set_field(rig.carriers, "joint_slot.hinge", 0, 4 + c, hinge[c]);
    ask_for(&rig, 0, 1, MF_NONE, 0);
    return rig;
}

static double hinge_now(const Rig *rig, uint32_t component) {
    return get_field(rig->carriers, "joint_slot.angle", 0, 3 + component);
}

TEST(a_motor_spins_up_its_robot) {
    const double torque = 0.02, rate = 3.0, growth = torque / spin_inertia; // 4.8 rad/s^2
    AUTO(close_rig)
    Rig rig = open_hinge((double[]){0.0, 0.0, -rate, torque}); // the world's frame from the own one
    mf_world_step(rig.pitch.world, 250);                       // 0.5 s
    assert_near(get_field(rig.carriers, "base.angular_velocity", 0, 2), 0.5 * growth, 2e-3);
    assert_near(hinge_now(&rig, 1), -0.5 * growth, 2e-3);
    assert_near(hinge_now(&rig, 0), -0.125 * growth, 4e-3); // half a step of the rate
    assert_near(hinge_now(&rig, 2), -torque, 1e-6);
    assert_near(get_field(rig.carriers, "joint_slot.load", 0, 6 + 5), torque, 1e-6);
    assert_near(get_field(rig.carriers, "joint_slot.angle", 0, 0), 0.0, 0.0); // the free slot
    mf_world_step(rig.pitch.world, 250);
    assert_near(hinge_now(&rig, 1), -rate, 1e-4);
    set_field(rig.carriers, "joint_slot.hinge", 0, 4 + 2, 1.0);
    set_field(rig.carriers, "joint_slot.hinge", 0, 4 + 3, 0.5 * torque);
    ask(&rig, 0, 1, MF_JOINT_REQUEST_MOTOR);
    mf_world_step(rig.pitch.world, 250);
    assert_near(hinge_now(&rig, 1), -rate + 0.25 * growth, 2e-3);
    assert_near(hinge_now(&rig, 2), 0.5 * torque, 1e-6);
    assert_int_equal(mf_joint_request_statistics(rig.joints).carried_out, 2);
    assert_int_equal(mf_group_fault_total(rig.carriers), 0);
}

TEST(a_range_stops_the_motor) {
    for (int side = 0; side < 2; side++) {
        AUTO(close_rig) Rig rig = open_hinge((double[]){-0.25, 0.5, side ? 2.0 : -2.0, 0.05});
        mf_world_step(rig.pitch.world, 1000);
        assert_near(hinge_now(&rig, 0), side ? 0.5 : -0.25, 1e-4);
        assert_near(hinge_now(&rig, 1), 0.0, 1e-5);
        assert_near(hinge_now(&rig, 2), 0.0,
                    1e-4); // the stop's torque is the opposite of the motor's
        mf_WorldJointConfig config;
        MUST(mf_world_joint_config_of(
            rig.joints, mf_world_joint_next(rig.joints, MF_WORLD_JOINT_NONE), &config, &error));
        assert_near(config.lower_angle, -0.25, 0.0);
        assert_near(config.upper_angle, 0.5, 0.0);
    }
}

TEST(a_hinge_without_a_range_turns_freely) {
    AUTO(close_rig) Rig rig = open_hinge((double[]){0.0, 0.0, 0.0, 0.0});
    set_field(rig.carriers, "base.angular_velocity", 0, 2, -5.0);
    mf_world_step(rig.pitch.world, 500);
    assert_near(hinge_now(&rig, 1), 5.0, 1e-6);
    assert_near(hinge_now(&rig, 0), 5.0 - 6.283185307179586, 1e-4);
    ask(&rig, 0, 1, MF_JOINT_REQUEST_LEAVE);
    mf_world_step(rig.pitch.world, 1);
    for (uint32_t c = 0; c < 3; c++)
        assert_near(hinge_now(&rig, c), 0.0, 0.0);
}

TEST(a_motor_needs_a_hinge) {
    AUTO(close_rig) Rig rig = open_rig(2, 1, MF_ISA_AUTO, true);
    ask(&rig, 0, 0, MF_JOINT_REQUEST_MOTOR); // there is no joint
    ask_for(&rig, 1, 0, 1, 1);               // fixed
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(get_field(rig.carriers, "joint_slot.answer", 0, 0), MF_NOT_FOUND);
    assert_int_equal(mf_group_fault_total(rig.carriers), 0);
    set_field(rig.carriers, "joint_slot.hinge", 1, 3, 1.0);
    ask(&rig, 1, 0, MF_JOINT_REQUEST_MOTOR);
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(mf_group_fault(rig.carriers, 1), MF_FAULT_INPUT);
    assert_non_null(strstr(mf_joint_request_statistics(rig.joints).reason, "only a hinge"));
    assert_int_equal(mf_world_joints_count(rig.joints), 1);
}

// ---- what is refused ----------------------------------------------------------------------------

TEST(what_is_out_of_reach_is_no_fault) {
    AUTO(close_rig) Rig rig = open_rig(2, 1, MF_ISA_AUTO, true);
    ask(&rig, 0, 0, MF_JOINT_REQUEST_JOIN); // reach is 0
    ask(&rig, 1, 0, MF_JOINT_REQUEST_ENABLE);
    ask(&rig, 1, 1, MF_JOINT_REQUEST_LEAVE);
    mf_world_step(rig.pitch.world, 1);
    assert_int_equal(get_field(rig.carriers, "joint_slot.answer", 0, 0), MF_NOT_FOUND);
    assert_int_equal(get_field(rig.carriers, "joint_slot.answer", 1, 0), MF_NOT_FOUND);
    assert_int_equal(get_field(rig.carriers, "joint_slot.answer", 1, 1), MF_OK);
    assert_int_equal(mf_group_fault_total(rig.carriers), 0);
}

TEST(wrong_requests_are_the_fault_of_one_robot) {
    static const struct {
        const char *field, *text;
        uint32_t component;
        double value;
    } cases[] = {
        {"joint_slot.request", "request 7 does not exist", 0, 7},
        {"joint_slot.hinge", "only a hinge", 1, 1.0},
        {"joint_slot.hinge", "joint.lower_angle", 0, 1.0},
        {"joint_slot.hinge", "joint.motor_rate", 2, (double)NAN},
        {"joint_slot.hinge", "joint.motor_torque", 3, -1.0},
        {"joint_slot.kind", "joint.kind: 3", 0, 3},
        {"joint_slot.link", "robots of group carriers have 1 links, none with number 1", 0, 1},
        {"joint_slot.link", "group 2 does not exist", 1, 2},
        {"joint_slot.link", "group balls has 3 robots, none with number 3", 2, 3},
        {"joint_slot.link", "robots of group balls have 1 links, none with number 9", 3, 9},
        {"joint_slot.link", "both are the same link", 1, 0},
        {"joint_slot.frame", "sides[0].position", 1, (double)NAN},
        {"joint_slot.frame", "sides[0].orientation", 3, 2.0},
        {"joint_slot.partner", "sides[1].orientation", 3, 0.3},
        {"joint_slot.setting", "joint.stiffness", 0, -1.0},
        {"joint_slot.setting", "joint.damping", 1, 1.0},
        {"joint_slot.setting", "reach", 7, (double)NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(close_rig) Rig rig = open_rig(3, 1, MF_ISA_AUTO, true);
        for (uint32_t k = 0; k < 3; k++)
            ask_for(&rig, k, 0, 1, k);
        set_field(rig.carriers, cases[i].field, 1, cases[i].component, cases[i].value);
        mf_world_step(rig.pitch.world, 3);
        const mf_JointRequestStatistics seen = mf_joint_request_statistics(rig.joints);
        if (strstr(seen.reason, cases[i].text) == NULL ||
            strstr(seen.reason, "group carriers, robot 1, joint slot 0: ") != seen.reason)
            fail_msg("%s: no %s", seen.reason, cases[i].text);
        assert_int_equal(seen.refused, 1);
        assert_int_equal(mf_group_fault(rig.carriers, 0), 0);
        assert_int_equal(mf_group_fault(rig.carriers, 1), MF_FAULT_INPUT);
        assert_int_equal(mf_group_fault(rig.carriers, 2), 0);
        assert_int_equal(mf_world_joints_count(rig.joints), 2);
    }
}

TEST(slots_need_what_joints_need) {
    AUTO(close_rig) Rig rig = open_rig(2, 1, MF_ISA_AUTO, true);
    Pitch *pitch = &rig.pitch;
    MUST_FAIL(mf_joint_slots_add(rig.joints, rig.carriers, 1, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_joint_slots_add(rig.joints, rig.balls, 0, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_joint_slots_add(rig.joints, rig.balls, 17, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_joint_slots_add(rig.joints, NULL, 1, &error), MF_BAD_ARGUMENT, "");
    mf_Group *late = pitch_group(pitch, box_of(pitch->context, 1.0), "late", 1, true);
    ask_for(&rig, 0, 0, 2, 0);
    mf_world_step(pitch->world, 1);
    assert_int_equal(mf_group_fault(rig.carriers, 0), MF_FAULT_INPUT);
    MUST(mf_joint_slots_add(rig.joints, late, 1, &error));
    MUST(mf_motion_add(late, MF_MOTION_RIGID, NULL, &error)); // not prepared
    MUST_FAIL(mf_joint_slots_ready(rig.joints, &error), MF_BAD_ARGUMENT, "mf_collisions_prepare");
    mf_world_step(pitch->world, 1);
}

TEST(a_failed_call_changes_nothing) {
    for (uint64_t countdown = 1;; countdown++) {
        mf_Error error = {0};
        Rig rig = open_rig(20, 1, MF_ISA_AUTO, true);
        Pitch *pitch = &rig.pitch;
        mf_Group *more = add_bodies(pitch, box_of(pitch->context, 1.0), "more", 40, MF_MOTION_RIGID,
                                    true, false);
        mf_context_fail_after(pitch->context, countdown);
        mf_Status status = mf_joint_slots_add(rig.joints, more, 16, &error);
        if (status == MF_OK)
            status = mf_joint_slots_ready(rig.joints, &error);
        mf_context_fail_after(pitch->context, 0);
        ask_for(&rig, 0, 0, 1, 0);
        mf_world_step(pitch->world, 2);
        assert_int_equal(mf_world_joints_count(rig.joints), 1);
        close_rig(&rig);
        if (status == MF_OK) {
            assert_true(countdown > 20);
            return;
        }
        assert_int_equal(status, MF_NO_MEMORY);
    }
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
