// Run-time joints with the rest of the world: handles, snapshots, threads, instruction sets,
// memory, rejected settings, and robots that are fixed, faulty or moved from outside.
#include "solve/joints_rig.h"

// ---- handles and memory -------------------------------------------------------------------------

TEST(a_joint_is_made_and_broken_a_million_times) {
    AUTO(close_chain) Chain chain = open_chain(3, 1, MF_ISA_AUTO, true);
    mf_WorldJoints *joints = chain.joints;
    mf_WorldJointConfig config =
        joint_between(MF_WORLD_JOINT_FIXED, chain.links, 0, chain.links, 2);
    MUST(mf_world_joint_here(&config, (double[]){0, 0, 49}, NULL, &error));
    mf_WorldJointId last = MF_WORLD_JOINT_NONE, id;
    MUST(mf_world_joint_create(joints, &config, &id, &error));
    MUST(mf_world_joint_destroy(joints, id, &error));
    const size_t bytes = mf_context_live_bytes(chain.pitch.context);
    for (uint32_t i = 0; i < STEPS_OF(1000000); i++) {
        MUST(mf_world_joint_create(joints, &config, &id, &error));
        assert_true(id != last && mf_world_joint_exists(joints, id));
        if (i % 10000 == 0) {
            assert_false(mf_world_joint_exists(joints, last));
            mf_world_step(chain.pitch.world, 1);
        }
        MUST(mf_world_joint_destroy(joints, id, &error));
        last = id;
    }
    assert_int_equal(mf_context_live_bytes(chain.pitch.context), bytes);
    assert_int_equal(mf_world_joints_count(joints), 3);
    mf_WorldJointId at = MF_WORLD_JOINT_NONE;
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(mf_world_joint_exists(joints, chain.ids[i]));
        at = mf_world_joint_next(joints, at);
        assert_true(at == chain.ids[i]);
    }
    assert_true(mf_world_joint_next(joints, at) == MF_WORLD_JOINT_NONE);
    MUST(mf_world_joint_destroy(joints, chain.ids[1], &error));
    assert_true(mf_world_joint_next(joints, chain.ids[0]) == chain.ids[2]);
    assert_true(mf_world_joint_next(joints, chain.ids[1]) == chain.ids[2]);
    assert_true(mf_world_joint_next(NULL, 0) == MF_WORLD_JOINT_NONE);
}

TEST(handles_of_the_dead_are_known) {
    mf_WorldJointState out;
    mf_WorldJointConfig config;
    AUTO(close_chain) Chain chain = open_chain(4, 1, MF_ISA_AUTO, true);
    MUST(mf_world_joint_destroy(chain.joints, chain.ids[1], &error));
    const mf_WorldJointId none[] = {chain.ids[1], MF_WORLD_JOINT_NONE, UINT64_MAX,
                                    chain.ids[0] + (UINT64_C(1) << 32), 77};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(mf_world_joint_exists(chain.joints, none[i]));
        MUST_FAIL(mf_world_joint_state(chain.joints, none[i], &out, &error), MF_NOT_FOUND, "");
        MUST_FAIL(mf_world_joint_config_of(chain.joints, none[i], &config, &error), MF_NOT_FOUND,
                  "");
        MUST_FAIL(mf_world_joint_enable(chain.joints, none[i], true, &error), MF_NOT_FOUND, "");
        MUST_FAIL(mf_world_joint_destroy(chain.joints, none[i], &error), MF_NOT_FOUND, "");
    }
    assert_int_equal(mf_world_joints_count(chain.joints), 3);
    mf_world_step(chain.pitch.world, 100); // the lower three fall
    assert_near(get_field(chain.links, "base.linear_velocity", 0, 2), 0.0, 1e-3);
    assert_near(get_field(chain.links, "base.linear_velocity", 3, 2), -1.962, 1e-3);
    MUST(mf_world_joint_config_of(chain.joints, chain.ids[2], &config, &error));
    assert_ptr_equal(config.sides[1].group, chain.links);
    assert_int_equal(config.sides[1].instance, 2);
    assert_int_equal(config.kind, MF_WORLD_JOINT_BALL);
    mf_WorldJointId again; // in the free slot
    MUST(mf_world_joint_create(chain.joints, &config, &again, &error));
    assert_true((uint32_t)again == (uint32_t)chain.ids[1] && again != chain.ids[1]);
}

TEST(a_step_allocates_nothing) {
    AUTO(close_chain) Chain chain = open_chain(40, 2, MF_ISA_AUTO, false);
    set_field(chain.links, "base.linear_velocity", 39, 0, 2.0);
    mf_world_step(chain.pitch.world, 1);
    const uint64_t calls = mf_context_call_count(chain.pitch.context);
    mf_world_step(chain.pitch.world, 50);
    assert_int_equal(mf_context_call_count(chain.pitch.context), calls);
}

// Whichever call fails while a joint is made: nothing has changed, and it can be made again.
TEST(a_failed_call_changes_nothing) {
    uint32_t failures = 0;
    mf_Error error = {0};
    AUTO(close_chain)
    Chain chain = open_chain(6, 1, MF_ISA_AUTO, true); // a seventh joint needs more space
    mf_Context *context = chain.pitch.context;
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_BALL, NULL, 0, chain.links, 2);
    must(mf_world_joint_here(&config, (double[]){0, 0, 48.8}, NULL, &error), &error);
    const uint64_t hash = mf_world_hash(chain.pitch.world);
    for (uint64_t countdown = 1;; countdown++) {
        mf_WorldJointId id;
        mf_context_fail_after(context, countdown);
        const mf_Status status = mf_world_joint_create(chain.joints, &config, &id, &error);
        mf_context_fail_after(context, 0);
        if (status == MF_OK)
            break;
        assert_int_equal(status, MF_NO_MEMORY);
        assert_true(id == MF_WORLD_JOINT_NONE);
        assert_true(mf_world_hash(chain.pitch.world) == hash);
        assert_int_equal(mf_world_joints_count(chain.joints), 6);
        failures++;
    }
    assert_true(failures > 2);
    mf_world_step(chain.pitch.world, 10);
}

// ---- rejected input -----------------------------------------------------------------------------

static void refuse(mf_WorldJoints *joints, const mf_WorldJointConfig *config, const char *part) {
    mf_WorldJointId id = 1;
    MUST_FAIL(mf_world_joint_create(joints, config, &id, &error), MF_BAD_ARGUMENT, part);
    assert_true(id == MF_WORLD_JOINT_NONE);
}

TEST(wrong_settings_are_refused) {
    AUTO(close_chain) Chain chain = open_chain(2, 1, MF_ISA_AUTO, true);
    const mf_WorldJointConfig good =
        joint_between(MF_WORLD_JOINT_FIXED, chain.links, 0, chain.links, 1);
    const mf_WorldJointConfig alone = WITH(good, .sides[0].group = NULL, .sides[1].group = NULL);
    const struct {
        mf_WorldJointConfig config;
        const char *part;
    } rows[] = {
        {WITH(good, .struct_size = 0), "mf_world_joint_config"},
        {WITH(good, .force_limit = 0.0), "joint.force_limit"},
        {WITH(good, .moment_limit = (double)NAN), "joint.moment_limit"},
        {WITH(good, .damping = 1.0), "without stiffness"},
        {WITH(good, .time = 1e-3), "joint.time"}, // half a step
        {WITH(good, .kind = (mf_WorldJointKind)3), "joint.kind"},
        {WITH(good, .sides[1].instance = 0), "same link"},
        {alone, "same link"},
        {WITH(good, .sides[1].instance = 2), "instance: group links has 2, not 2"},
        {WITH(good, .sides[1].link = 1), "have 1 links, not 1"},
        {WITH(good, .sides[0].orientation[0] = 2.0), "quaternion"},
        {WITH(good, .sides[0].position[2] = (double)INFINITY), "position"},
    };
    refuse(chain.joints, NULL, "mf_world_joint_config");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse(chain.joints, &rows[i].config, rows[i].part);
    const double wrong[] = {-1.0, (double)NAN, 1e300};
    for (int i = 0; i < 3; i++) {
        refuse(chain.joints, &WITH(good, .stiffness = wrong[i]), "joint.stiffness");
        refuse(chain.joints, &WITH(good, .damping = wrong[i]), "joint.damping");
        refuse(chain.joints, &WITH(good, .angular_stiffness = wrong[i]), "joint.angular_stiffness");
        refuse(chain.joints, &WITH(good, .angular_damping = wrong[i]), "joint.angular_damping");
        refuse(chain.joints, &WITH(good, .time = wrong[i]), "joint.time");
    }
}

TEST(groups_that_cannot_are_refused) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81),
               other = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Model *box = box_of(pitch.context, 1.0);
    mf_Group *good = add_bodies(&pitch, box, "good", 1, MF_MOTION_RIGID, true, false);
    mf_Group *bare = pitch_group(&pitch, box_of(pitch.context, 1.0), "bare", 1, true);
    MUST(mf_motion_add(bare, MF_MOTION_RIGID, NULL, &error));
    mf_Group *alone;
    alone = add_group(pitch.world, &WITH(mf_group_config(), .name = "alone", .model = box));
    MUST(mf_motion_add(alone, MF_MOTION_RIGID, NULL, &error));
    mf_Group *foreign =
        add_bodies(&other, box_of(other.context, 1.0), "foreign", 1, MF_MOTION_RIGID, true, false);
    mf_WorldJoints *joints = add_joints(&pitch), *again;
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, good, 0, bare, 0);
    refuse(
        joints, &config,
        "group bare do not accept forces: add it with pushable, in C call mf_collisions_prepare");
    config.sides[1].group = alone;
    refuse(joints, &config, "group alone is isolated");
    config.sides[1].group = foreign;
    refuse(joints, &config, "another world");
    MUST_FAIL(mf_world_joints_add(pitch.world, NULL, &again, &error), MF_BAD_ARGUMENT, "");
    mf_WorldJointsConfig settings = WITH(mf_world_joints_config(), .rounds = 0);
    MUST_FAIL(mf_world_joints_add(other.world, &settings, &again, &error), MF_BAD_ARGUMENT, "");
    settings.rounds = 4;
    settings.tolerance = (double)NAN;
    MUST_FAIL(mf_world_joints_add(other.world, &settings, &again, &error), MF_BAD_ARGUMENT, "");
}

// ---- the same bits ------------------------------------------------------------------------------

static void disturb(Chain *chain, uint32_t count) {
    set_field(chain->links, "base.linear_velocity", count - 1, 0, 3.0);
    set_field(chain->links, "base.angular_velocity", count / 2, 1, 1.0);
}

static uint64_t hash_of(const void *user, uint32_t threads, mf_Isa isa) {
    AUTO(close_chain) Chain chain = open_chain(37, threads, isa, *(const bool *)user);
    disturb(&chain, 37);
    mf_world_step(chain.pitch.world, SANITIZED ? 40 : 200);
    return mf_world_hash(chain.pitch.world);
}

TEST(bits_depend_on_neither_threads_nor_instructions) {
    for (int wide = 0; wide < 2; wide++)
        assert_same_bits(hash_of, &(bool){wide});
}

// Back to a time with other joints: they are there again, with their handles and forces, and the
// world goes on to the same bits.
TEST(a_snapshot_holds_the_joints) {
    size_t size, later_size;
    AUTO(close_chain) Chain chain = open_chain(12, 1, MF_ISA_AUTO, false);
    disturb(&chain, 12);
    mf_world_step(chain.pitch.world, 50);
    MUST(mf_world_joint_destroy(chain.joints, chain.ids[7], &error));
    mf_world_step(chain.pitch.world, 50);
    AUTO(end_memory) void *image = take_snapshot(chain.pitch.world, &size);
    const mf_WorldJointState before = state_of(chain.joints, chain.ids[3]);
    mf_world_step(chain.pitch.world, 50);
    const uint64_t hash = mf_world_hash(chain.pitch.world);

    mf_WorldJointId extra[3];
    for (uint32_t i = 0; i < 3; i++) {
        mf_WorldJointConfig config =
            joint_between(MF_WORLD_JOINT_FIXED, chain.links, i, chain.links, i + 5);
        extra[i] = join(chain.joints, &config, 0, 0, 40, NULL);
    }
    MUST(mf_world_joint_destroy(chain.joints, chain.ids[0], &error));
    mf_world_step(chain.pitch.world, 30);
    assert_true(mf_world_hash(chain.pitch.world) != hash);
    AUTO(end_memory) void *later = take_snapshot(chain.pitch.world, &later_size);

    MUST(mf_world_restore(chain.pitch.world, image, size, &error));
    assert_int_equal(mf_world_joints_count(chain.joints), 11);
    assert_true(mf_world_joint_exists(chain.joints, chain.ids[0]));
    assert_false(mf_world_joint_exists(chain.joints, chain.ids[7]));
    assert_false(mf_world_joint_exists(chain.joints, extra[1]));
    const mf_WorldJointState restored = state_of(chain.joints, chain.ids[3]);
    assert_memory_equal(before.force, restored.force, sizeof before.force);
    size_t again_size;
    AUTO(end_memory) void *again = take_snapshot(chain.pitch.world, &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, image, size);
    mf_world_step(chain.pitch.world, 50);
    assert_true(mf_world_hash(chain.pitch.world) == hash);

    // Into another world, and forward to the time with more joints.
    AUTO(close_chain) Chain other = open_chain(12, 3, MF_ISA_SCALAR, false);
    MUST(mf_world_restore(other.pitch.world, image, size, &error));
    mf_world_step(other.pitch.world, 50);
    assert_true(mf_world_hash(other.pitch.world) == hash);
    MUST(mf_world_restore(other.pitch.world, later, later_size, &error));
    MUST(mf_world_restore(chain.pitch.world, later, later_size, &error));
    mf_world_step(other.pitch.world, 20);
    mf_world_step(chain.pitch.world, 20);
    assert_true(mf_world_hash(other.pitch.world) == mf_world_hash(chain.pitch.world));
}

// An image whose joints could not be is refused, and the world goes on as it was.
TEST(a_wrong_snapshot_changes_nothing) {
    mf_Error error = {0};
    size_t size;
    Chain chain = open_chain(5, 1, MF_ISA_AUTO, true), none = open_chain(5, 1, MF_ISA_AUTO, true);
    mf_world_step(chain.pitch.world, 10);
    AUTO(end_memory) void *image = take_snapshot(chain.pitch.world, &size);
    const uint64_t hash = mf_world_hash(none.pitch.world);
    assert_int_equal(mf_world_restore(none.pitch.world, image, size - 8, &error), MF_CORRUPT);
    ((char *)image)[size - 100] ^= 1;
    assert_int_equal(mf_world_restore(none.pitch.world, image, size, &error), MF_CORRUPT);
    ((char *)image)[size - 100] ^= 1;
    for (uint64_t countdown = 1;; countdown++) {
        mf_context_fail_after(none.pitch.context, countdown);
        const mf_Status status = mf_world_restore(none.pitch.world, image, size, &error);
        mf_context_fail_after(none.pitch.context, 0);
        if (status == MF_OK)
            break;
        assert_int_equal(status, MF_NO_MEMORY);
        assert_true(mf_world_hash(none.pitch.world) == hash);
    }
    assert_true(mf_world_hash(none.pitch.world) == mf_world_hash(chain.pitch.world));
    close_chain(&chain);
    close_chain(&none);
}
