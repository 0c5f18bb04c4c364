// Run-time joints in records: they are there from the sample on at which they exist, until they
// are removed, whoever made them.
#include "record/h5.h"
#include "solve/joints_rig.h"

#define FILE_NAME MAYFLY_BINARY_DIR "/test_joint_columns.h5"

enum { ROBOTS = 12, ROWS = 12, SAMPLES = 8000 };

// Boxes 1 m apart, without gravity.
typedef struct Rig {
    Pitch pitch;
    mf_Group *boxes;
    mf_WorldJoints *joints; // NULL until added
    mf_Recorder *recorder;
} Rig;

static Rig open_rig(bool slots) {
    Rig rig = {.pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 0.0)};
    Pitch *pitch = &rig.pitch;
    rig.boxes = add_bodies(pitch, box_of(pitch->context, 1.0), "boxes", ROBOTS, MF_MOTION_RIGID,
                           true, false);
    rig.joints = slots ? add_joints(pitch) : NULL;
    if (slots) {
        MUST(mf_joint_slots_add(rig.joints, rig.boxes, 1, &error));
        MUST(mf_joint_slots_ready(rig.joints, &error));
    }
    for (uint32_t i = 0; i < ROBOTS; i++)
        put_at(pitch, rig.boxes, i, i, 0, 50);
    mf_RecorderConfig config = WITH(mf_recorder_config(), .path = FILE_NAME);
    MUST(mf_recorder_create(rig.boxes, &config, &rig.recorder, &error));
    return rig;
}

static mf_WorldJointId hang(Rig *rig, mf_WorldJointKind kind, uint32_t robot) {
    mf_WorldJointConfig config = joint_between(kind, NULL, 0, rig->boxes, robot);
    return join(rig->joints, &config, robot, 0, 50, NULL);
}

static void sample(Rig *rig, uint32_t steps) {
    mf_world_step(rig->pitch.world, steps);
    MUST(mf_recorder_sample(rig->recorder, &error));
}

static hid_t close_record(Rig *rig) {
    MUST(mf_recorder_close(rig->recorder, &error));
    return open_file(FILE_NAME);
}

static void close_rig(Rig *rig) {
    unlink(FILE_NAME);
    pitch_close(&rig->pitch);
}
#undef AUTO_RIG
#define AUTO_RIG AUTO(close_rig) Rig

static double *read_rows(hid_t file, const char *name, hsize_t samples, hsize_t rows,
                         hsize_t components) {
    AUTO_SET set = open_set(file, name, 3, (hsize_t[]){samples, rows, components});
    return read_set(set, H5T_NATIVE_DOUBLE);
}

TEST(a_joint_is_recorded_while_it_exists) {
    AUTO_RIG rig = open_rig(false);
    sample(&rig, 1); // 0: the world has no joints yet
    rig.joints = add_joints(&rig.pitch);
    sample(&rig, 1); // 1
    const mf_WorldJointId first = hang(&rig, MF_WORLD_JOINT_FIXED, 3);
    sample(&rig, 1); // 2
    const mf_WorldJointId second = hang(&rig, MF_WORLD_JOINT_HINGE, 5);
    sample(&rig, 1); // 3
    MUST(mf_world_joint_destroy(rig.joints, first, &error));
    sample(&rig, 1); // 4
    const mf_WorldJointId third = hang(&rig, MF_WORLD_JOINT_BALL, 7);
    MUST(mf_world_joint_enable(rig.joints, second, false, &error));
    sample(&rig, 1); // 5
    AUTO_FILE file = close_record(&rig);
    AUTO(end_memory) double *joint = read_rows(file, "world_joints/joint", 6, 2, 9);
    AUTO(end_memory) double *acts = read_rows(file, "world_joints/acts", 6, 2, 1);
    AUTO(end_memory) double *anchors = read_rows(file, "world_joints/anchors", 6, 2, 6);
    AUTO(end_memory) double *rate = read_rows(file, "world_joints/rate", 6, 2, 1);
    const mf_WorldJointId there[6][2] = {{0, 0},          {0, 0},      {first, 0},
                                         {first, second}, {0, second}, {third, second}};
    const double robots[6][2] = {{0, 0}, {0, 0}, {3, 0}, {3, 5}, {0, 5}, {7, 5}};
    for (uint32_t s = 0; s < 6; s++)
        for (uint32_t row = 0; row < 2; row++) {
            const double *is = joint + (2 * s + row) * 9, *at = anchors + (2 * s + row) * 6;
            const mf_WorldJointId id = there[s][row];
            assert_true(is[0] == (uint32_t)id && is[1] == (double)(id >> 32));
            assert_true(acts[2 * s + row] == (id != 0 && !(s == 5 && row == 1) ? 1.0 : 0.0));
            assert_true(isnan(rate[2 * s + row]) == (id != second));
            if (id == 0) {
                assert_true(isnan(at[0]) && isnan(at[5]));
                continue;
            }
            assert_near(at[0], robots[s][row], 1e-6);
            assert_true(is[3] == (double)MF_NONE && is[6] == 0.0 && is[7] == robots[s][row]);
        }
}

// Rows appear one by one while buffers are written: nothing is lost or moved.
TEST(rows_grow_at_any_time) {
    AUTO_RIG rig = open_rig(false);
    rig.joints = add_joints(&rig.pitch);
    for (uint32_t s = 0; s < SAMPLES; s++) {
        if (s % 500 == 250 && s / 500 < ROWS)
            (void)hang(&rig, MF_WORLD_JOINT_FIXED, s / 500);
        sample(&rig, 0);
    }
    AUTO_FILE file = close_record(&rig);
    AUTO(end_memory) double *acts = read_rows(file, "world_joints/acts", SAMPLES, ROWS, 1);
    AUTO(end_memory) double *anchors = read_rows(file, "world_joints/anchors", SAMPLES, ROWS, 6);
    AUTO(end_memory) double *position = read_rows(file, "base.position", SAMPLES, ROBOTS, 3);
    for (uint32_t s = 0; s < SAMPLES; s++)
        for (uint32_t row = 0; row < ROWS; row++) {
            const bool exists = s >= 500 * row + 250;
            assert_true(acts[s * ROWS + row] == (exists ? 1.0 : 0.0));
            if (exists)
                assert_near(anchors[(s * ROWS + row) * 6 + 3], row, 1e-6);
            else
                assert_true(isnan(anchors[(s * ROWS + row) * 6]));
            assert_near(position[(s * ROBOTS + row) * 3], row, 1e-6);
        }
}

TEST(joints_of_slots_and_broken_ones_are_recorded) {
    AUTO_RIG rig = open_rig(true);
    sample(&rig, 1);
    set_field(rig.boxes, "joint_slot.link", 2, 1, 0); // the neighbor
    set_field(rig.boxes, "joint_slot.link", 2, 2, 3);
    set_field(rig.boxes, "joint_slot.link", 2, 3, 0);
    set_field(rig.boxes, "joint_slot.setting", 2, 5, 10.0); // [N]
    set_field(rig.boxes, "joint_slot.request", 2, 0, MF_JOINT_REQUEST_JOIN);
    sample(&rig, 1);
    set_field(rig.boxes, "base.linear_velocity", 3, 0, 1.0); // 0.5 kg m/s within 2 ms: 250 N
    sample(&rig, 1);
    sample(&rig, 1);
    set_field(rig.boxes, "joint_slot.request", 2, 0, MF_JOINT_REQUEST_LEAVE);
    sample(&rig, 1);
    AUTO_FILE file = close_record(&rig);
    AUTO(end_memory) double *acts = read_rows(file, "world_joints/acts", 5, 1, 1);
    AUTO(end_memory) double *force = read_rows(file, "world_joints/force", 5, 1, 3);
    AUTO(end_memory) double *joint = read_rows(file, "world_joints/joint", 5, 1, 9);
    const double expected[5] = {0, 1, 0, 0, 0};
    for (uint32_t s = 0; s < 5; s++)
        assert_true(acts[s] == expected[s]);
    assert_true(isnan(force[0]) && isnan(force[12]));
    assert_near(force[3], 0.0, 1e-3);
    assert_near(force[6], -250.0, 2.5);
    assert_near(force[9], force[6], 0.0); // what broke it
    assert_true(joint[2 * 9 + 4] == 2 && joint[2 * 9 + 7] == 3 && joint[4 * 9 + 1] == 0);
}

TEST(joints_can_be_left_out) {
    AUTO_RIG rig = open_rig(true);
    mf_recorder_destroy(rig.recorder);
    assert_true(mf_recorder_config().joints);
    MUST(mf_recorder_create(rig.boxes,
                            &WITH(mf_recorder_config(), .path = FILE_NAME, .joints = false),
                            &rig.recorder, &error));
    (void)hang(&rig, MF_WORLD_JOINT_FIXED, 3);
    sample(&rig, 1);
    AUTO_FILE file = close_record(&rig);
    assert_int_equal(H5Lexists(file, "world_joints", H5P_DEFAULT), 0);
}

TEST(a_failed_growth_leaves_no_file) {
    for (uint64_t countdown = 1;; countdown++) {
        mf_Error error = {0};
        AUTO_RIG rig = open_rig(true);
        sample(&rig, 1);
        (void)hang(&rig, MF_WORLD_JOINT_FIXED, 3);
        mf_context_fail_after(rig.pitch.context, countdown);
        mf_Status status = mf_recorder_sample(rig.recorder, &error);
        if (status == MF_OK)
            status = mf_recorder_close(rig.recorder, &error);
        else
            mf_recorder_destroy(rig.recorder);
        mf_context_fail_after(rig.pitch.context, 0);
        assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
        assert_int_equal(access(FILE_NAME, F_OK) == 0, status == MF_OK);
        if (status == MF_OK) {
            assert_true(countdown > 20);
            return;
        }
    }
}
