// Gaits: kinematics of a leg against its inverse, foot paths against the equations of
// docs/reference/gaits.md, keyframes against a curve computed by hand, several gaits in one group,
// transitions, exact time, and independence of lanes.
#include "rig/rig.h"
#include "model/points.h"
#include "io/document.h"
#include "control/gait.h"
#include "base/random.h"

#define HUMANOID MAYFLY_SOURCE_DIR "/models/humanoid.urdf"
#define GAITS MAYFLY_SOURCE_DIR "/models/gaits/humanoid/"

static const char *const leg_names[2][MF_LEG_JOINTS] = {
    {"left_hip_yaw", "left_hip_roll", "left_hip_pitch", "left_knee", "left_ankle_pitch",
     "left_ankle_roll"},
    {"right_hip_yaw", "right_hip_roll", "right_hip_pitch", "right_knee", "right_ankle_pitch",
     "right_ankle_roll"}};

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_Leg legs[2];
} Fixture;

static int open_fixture(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->context = open_context(0);
    MUST(mf_model_load(fixture->context, HUMANOID, NULL, &fixture->model, &error));
    for (int side = 0; side < 2; side++) {
        uint32_t joints[MF_LEG_JOINTS];
        for (int i = 0; i < MF_LEG_JOINTS; i++)
            joints[i] = mf_model_find(fixture->model, MF_ITEM_JOINT, leg_names[side][i]);
        MUST(mf_leg_find(fixture->model, joints, &fixture->legs[side], &error));
    }
    *state = fixture;
    return 0;
}

static int close_fixture(void **state) {
    Fixture *fixture = *state;
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
    free(fixture);
    return 0;
}

static mf_Gait *gait_of(const Fixture *fixture, const char *text) {
    mf_Gait *gait = NULL;
    MUST(mf_gait_parse(fixture->context, "/tests/g.yaml", text, strlen(text), fixture->model, &gait,
                       &error));
    return gait;
}

static const char walk_text[] = "walk: {period: 0.6, height: 0.165, lift: 0.03, sway: 0.02,"
                                " double_support: 0.2, lean: 0.1, width: 0.045, arms: 0.3,"
                                " pace: {forward: 0.12, left: 0.05, yaw: 0.6}}";

// ---- legs --------------------------------------------------------------------------------------

// A number in -1 .. 1 that depends on both.
static double draw(uint32_t row, uint32_t column) {
    const uint32_t counter[4] = {row, column, 0, 0}, key[2] = {7, 0};
    uint32_t out[4];
    mf_philox4x32(counter, key, out);
    return out[0] / 2147483648.0 - 1.0;
}

GROUP_FIXTURE(open_fixture, close_fixture);

TEST_ON(measures_the_leg_of_the_file, Fixture *fixture) {
    // models/humanoid.urdf: hips 74 mm apart, thigh and shin 93 mm.
    for (int side = 0; side < 2; side++) {
        const mf_Leg *leg = &fixture->legs[side];
        assert_true(fabs(leg->hip[1] - (side == 0 ? 0.037 : -0.037)) < 1e-15);
        assert_true(fabs(leg->thigh[0]) < 1e-15 && fabs(leg->thigh[1] + 0.093) < 1e-15);
        assert_true(fabs(leg->shin[0]) < 1e-15 && fabs(leg->shin[1] + 0.093) < 1e-15);
    }
}

// mf_leg_forward is the model's own forward kinematics.
TEST_ON(forward_is_the_pose_of_the_model, Fixture *fixture) {
    const mf_Model *model = fixture->model;
    double angle[64] = {0}, position[64][3], rotation[64][4];
    for (uint32_t n = 0; n < 200; n++) {
        for (uint32_t j = 0; j < model->joint_count; j++)
            angle[j] = draw(n, j);
        mf_model_pose(model, angle, position, rotation);
        for (int side = 0; side < 2; side++) {
            const mf_Leg *leg = &fixture->legs[side];
            double own[MF_LEG_JOINTS], ankle[3], foot[4], dot = 0.0;
            for (int i = 0; i < MF_LEG_JOINTS; i++)
                own[i] = angle[leg->joints[i]];
            mf_leg_forward(leg, own, ankle, foot);
            uint32_t link = model->joints[leg->joints[5]].child;
            for (int c = 0; c < 3; c++)
                assert_true(fabs(ankle[c] - position[link][c]) < 1e-14);
            for (int c = 0; c < 4; c++)
                dot += foot[c] * rotation[link][c];
            assert_true(fabs(fabs(dot) - 1.0) < 1e-14);
        }
    }
}

// Places up to the leg's whole length with feet turned by up to 1 rad: back to 1e-12 m, or refused.
TEST_ON(inverse_comes_back_over_the_workspace, Fixture *fixture) {
    const mf_Leg *leg = &fixture->legs[0];
    uint32_t reached = 0, refused = 0;
    for (uint32_t n = 0; n < 20000; n++) {
        double ankle[3], foot[4], angles[MF_LEG_JOINTS], back[3], rotated[4], dot = 0.0, away = 0.0;
        for (int c = 0; c < 3; c++)
            ankle[c] = leg->hip[c] + 0.2 * draw(n, c) - (c == 2 ? 0.1 : 0.0);
        double length = 0.0;
        for (int c = 0; c < 4; c++) {
            foot[c] = c == 0 ? 1.0 : 0.5 * draw(n, 3 + c);
            length += foot[c] * foot[c];
        }
        for (int c = 0; c < 4; c++)
            foot[c] /= sqrt(length);
        bool within = mf_leg_inverse(leg, ankle, foot, angles);
        for (int c = 0; c < 3; c++)
            away += (ankle[c] - leg->hip[c]) * (ankle[c] - leg->hip[c]);
        for (int i = 0; i < MF_LEG_JOINTS; i++)
            assert_true(isfinite(angles[i]));
        assert_int_equal(within, sqrt(away) <= 0.186);
        mf_leg_forward(leg, angles, back, rotated);
        for (int c = 0; c < 4; c++)
            dot += foot[c] * rotated[c];
        assert_true(fabs(fabs(dot) - 1.0) < 1e-12); // the foot keeps its rotation either way
        double error = 0.0, stretched = 0.0;
        for (int c = 0; c < 3; c++) {
            error = fmax(error, fabs(back[c] - ankle[c]));
            stretched += (back[c] - leg->hip[c]) * (back[c] - leg->hip[c]);
        }
        reached += within;
        refused += !within;
        if (within)
            assert_true(error < 1e-12);
        else
            assert_true(fabs(sqrt(stretched) - 0.186) < 1e-12);
    }
    assert_true(reached > 5000 && refused > 5000);
}

TEST_ON(inverse_is_finite_at_singular_positions, Fixture *fixture) {
    const mf_Leg *leg = &fixture->legs[0];
    static const double feet[3][4] = {
        {1, 0, 0, 0}, {0.7071067811865476, 0.7071067811865476, 0, 0}, {0, 0, 0, 1}};
    static const double positions[4][3] = {{0, 0, 0}, {0, 0, -0.186}, {0, 0, 1e6}, {1e-300, 0, 0}};
    for (int f = 0; f < 3; f++) {
        for (int p = 0; p < 4; p++) {
            double ankle[3], angles[MF_LEG_JOINTS];
            for (int c = 0; c < 3; c++)
                ankle[c] = leg->hip[c] + positions[p][c];
            mf_leg_inverse(leg, ankle, feet[f], angles);
            for (int i = 0; i < MF_LEG_JOINTS; i++)
                assert_true(isfinite(angles[i]));
        }
    }
}

TEST_ON(joints_that_are_no_leg_are_refused, Fixture *fixture) {
    uint32_t joints[MF_LEG_JOINTS];
    mf_Leg leg;
    for (int i = 0; i < MF_LEG_JOINTS; i++)
        joints[i] = fixture->legs[0].joints[i];
    joints[3] = fixture->legs[1].joints[3];
    MUST_FAIL_AS(mf_leg_find(fixture->model, joints, &leg, &error), MF_BAD_ARGUMENT,
                 "leg: right_knee as knee: does not follow the joint before");
    joints[0] = fixture->legs[0].joints[1];
    MUST_FAIL_AS(mf_leg_find(fixture->model, joints, &leg, &error), MF_BAD_ARGUMENT,
                 "leg: left_hip_roll as hip yaw: expected an axis along one of the base's");
}

// ---- walk --------------------------------------------------------------------------------------

// Where the feet are at `time`, seen from the middle of the hips, level: by forward kinematics of
// the sampled angles.
static void feet_at(const Fixture *fixture, const mf_Gait *gait, double time,
                    const double command[3], double feet[2][3], double heading[2]) {
    double angles[64] = {0}, own[MF_LEG_JOINTS], ankle[3], foot[4];
    MUST(mf_gait_sample(gait, fixture->model, time, command, angles, &error));
    double lean = gait->walk.lean;
    for (int side = 0; side < 2; side++) {
        const mf_Leg *leg = &fixture->legs[side];
        for (int i = 0; i < MF_LEG_JOINTS; i++)
            own[i] = angles[leg->joints[i]];
        mf_leg_forward(leg, own, ankle, foot);
        ankle[0] -= leg->hip[0];
        ankle[2] -= leg->hip[2];
        feet[side][0] = cos(lean) * ankle[0] + sin(lean) * ankle[2];
        feet[side][1] = ankle[1];
        feet[side][2] = -sin(lean) * ankle[0] + cos(lean) * ankle[2];
        // The sole in level axes: Ry(lean) foot must be a turn about z alone.
        double w = cos(lean / 2), y = sin(lean / 2);
        double level[4] = {w * foot[0] - y * foot[2], w * foot[1] + y * foot[3],
                           w * foot[2] + y * foot[0], w * foot[3] - y * foot[1]};
        assert_true(fabs(level[1]) < 1e-13 && fabs(level[2]) < 1e-13);
        heading[side] = 2.0 * atan2(level[3], level[0]);
    }
}

// The standing foot goes back as the ground does under a body of the commanded speed; at the middle
// of its swing a foot is lifted by `lift`.
TEST_ON(standing_feet_go_with_the_ground, Fixture *fixture) {
    AUTO_GAIT *gait = gait_of(fixture, walk_text);
    const double period = 0.6, share = 0.4, h = 1e-4;
    const double command[3] = {0.1, 0.02, 0.3};
    for (int n = 0; n < 60; n++) {
        double time = n * 0.01 + 0.0031, before[2][3], after[2][3], angle0[2], angle1[2];
        feet_at(fixture, gait, time - h, command, before, angle0);
        feet_at(fixture, gait, time + h, command, after, angle1);
        for (int side = 0; side < 2; side++) {
            double phase = time / period + (side == 0 ? 0.0 : 0.5);
            phase -= floor(phase);
            double edge = h / period;
            if (phase < share + edge || phase > 1.0 - edge)
                continue;
            // Sway moves the trunk, not the foot over the ground: derivative of 0.02 cos.
            double rate = 2.0 * M_PI / period;
            double sway = -0.02 * rate * sin(rate * time - M_PI * share);
            double angle = (angle1[side] - angle0[side]) / (2 * h);
            // The gait's own path: Rz(w T (1-s) p) (v T (1-s) p + width), p = 1/2 - stance.
            double p = 0.5 - (phase - share) / (1.0 - share), length = p * period * (1.0 - share);
            double w = command[2] * length, y = (side == 0 ? 0.045 : -0.045) + command[1] * length;
            double x = command[0] * length;
            double vx = -(cos(w) * command[0] - sin(w) * command[1]) -
                        command[2] * (-sin(w) * x - cos(w) * y);
            double vy = -(sin(w) * command[0] + cos(w) * command[1]) -
                        command[2] * (cos(w) * x - sin(w) * y) + sway;
            assert_true(fabs((after[side][0] - before[side][0]) / (2 * h) - vx) < 1e-6);
            assert_true(fabs((after[side][1] - before[side][1]) / (2 * h) - vy) < 1e-6);
            assert_true(fabs((after[side][2] + before[side][2]) / 2 + 0.165) < 1e-12);
            assert_true(fabs(angle + command[2]) < 1e-9);
        }
    }
    double feet[2][3], heading[2];
    feet_at(fixture, gait, 0.5 * share * period, command, feet, heading);
    assert_true(fabs(feet[0][2] - (0.03 - 0.165)) < 1e-12);
    assert_true(fabs(feet[1][2] + 0.165) < 1e-12);
}

// A foot leaves the ground and comes back to it with the ground's speed: -0.1 m/s seen from the
// hips, to the first order of the 0.2 ms that the differences are away from it.
TEST_ON(feet_meet_the_ground_at_its_speed, Fixture *fixture) {
    static const double command[3] = {0.1, 0, 0};
    const double h = 1e-4, times[2] = {h, 0.4 * 0.6 - h}; // of the left foot's swing
    AUTO_GAIT *gait = gait_of(fixture, walk_text);
    for (int i = 0; i < 2; i++) {
        double before[2][3], after[2][3], heading[2];
        feet_at(fixture, gait, times[i] - h, command, before, heading);
        feet_at(fixture, gait, times[i] + h, command, after, heading);
        assert_true(fabs((after[0][0] - before[0][0]) / (2 * h) + 0.1) < 2e-3);
        assert_true(fabs((after[0][2] - before[0][2]) / (2 * h)) < 2e-3);
    }
}

// Without a command it stands still, on both feet.
TEST_ON(stands_without_a_command, Fixture *fixture) {
    AUTO_GAIT *gait = gait_of(fixture, walk_text);
    static const double none[3] = {0, 0, 0};
    for (int n = 0; n < 6; n++) {
        double feet[2][3], heading[2];
        feet_at(fixture, gait, n * 0.1, none, feet, heading);
        for (int side = 0; side < 2; side++) {
            assert_true(fabs(feet[side][0]) < 1e-13);
            assert_true(fabs(feet[side][1] - (side == 0 ? 0.045 : -0.045)) < 1e-13);
            assert_true(fabs(feet[side][2] + 0.165) < 1e-13);
        }
    }
}

// ---- keyframes ---------------------------------------------------------------------------------

static double knee_at(const Fixture *fixture, const mf_Gait *gait, double time) {
    static const double none[3] = {0, 0, 0};
    double angles[64];
    for (int j = 0; j < 64; j++)
        angles[j] = 9.0;
    MUST(mf_gait_sample(gait, fixture->model, time, none, angles, &error));
    assert_true(angles[mf_model_find(fixture->model, MF_ITEM_JOINT, "waist")] == 9.0); // left alone
    return angles[mf_model_find(fixture->model, MF_ITEM_JOINT, "left_knee")];
}

// Slopes by Fritsch and Butland 1984: at 1 s, between slopes 1 and 0.5 of equal length, the weight
// is 1/2 and the slope 0.5 / 0.75 = 2/3; at 3 s the slopes differ in sign, so it is 0. In 0 .. 1
// s then q = u^2 (3 - 2 u) + 2/3 (u^3 - u^2): 0.5 - 1/12 at u = 1/2.
TEST_ON(cubic_frames_by_hand, Fixture *fixture) {
    AUTO_GAIT *gait = gait_of(fixture, "keyframes: {frames: [{time: 0, angles: {left_knee: 0}},"
                                       " {time: 1, angles: {left_knee: 1}},"
                                       " {time: 2, angles: {left_knee: 1.5}},"
                                       " {time: 3, angles: {left_knee: 0.5}},"
                                       " {time: 4, angles: {right_knee: 1}}]}");
    assert_true(mf_gait_duration(gait) == 4.0);
    assert_true(fabs(knee_at(fixture, gait, 0.5) - (0.5 - 1.0 / 12.0)) < 1e-15);
    static const double values[] = {0, 1, 1.5, 0.5, 0.5};
    for (int i = 0; i < 5; i++)
        assert_true(fabs(knee_at(fixture, gait, i) - values[i]) < 1e-15);
    assert_true(knee_at(fixture, gait, 1000.0) == 0.5); // held behind the last
    for (int n = 0; n < 300; n++) {                     // never beyond the frames on both sides
        double q = knee_at(fixture, gait, n * 0.01), a = values[n / 100], b = values[n / 100 + 1];
        assert_true(q >= fmin(a, b) - 1e-15 && q <= fmax(a, b) + 1e-15);
    }
}

TEST_ON(linear_frames_and_loops, Fixture *fixture) {
    AUTO_GAIT *gait =
        gait_of(fixture, "keyframes: {loop: true, curve: linear, frames: [{time: 0, angles:"
                         " {left_knee: 0.25}}, {time: 0.5, angles: {left_knee: 1.25}},"
                         " {time: 1, angles: {left_knee: 0.25}}]}");
    assert_true(knee_at(fixture, gait, 0.25) == 0.75);
    assert_true(knee_at(fixture, gait, 0.75) == 0.75);
    assert_true(knee_at(fixture, gait, 7.25) == 0.75);
    assert_true(knee_at(fixture, gait, 7.5) == 1.25);
}

// The image of the left hand's wave: pitch keeps its sign, roll changes it.
TEST_ON(mirror_images_exchange_the_sides, Fixture *fixture) {
    static const double none[3] = {0, 0, 0};
    AUTO_GAIT *left = NULL, *right = NULL;
    MUST(mf_gait_load(fixture->context, GAITS "wave_hand.yaml", fixture->model, &left, &error));
    MUST(mf_gait_load(fixture->context, GAITS "wave_hand_right.yaml", fixture->model, &right,
                      &error));
    static const char *const joints[] = {"shoulder_pitch", "shoulder_roll", "elbow"};
    static const double signs[] = {1, -1, 1};
    double a[64] = {0}, b[64] = {0};
    MUST(mf_gait_sample(left, fixture->model, 0.8, none, a, &error));
    MUST(mf_gait_sample(right, fixture->model, 0.8, none, b, &error));
    for (int i = 0; i < 3; i++) {
        const char *own = formatted("left_%s", joints[i]);
        const uint32_t from = mf_model_find(fixture->model, MF_ITEM_JOINT, own);
        const char *image = formatted("right_%s", joints[i]);
        assert_true(b[mf_model_find(fixture->model, MF_ITEM_JOINT, image)] == signs[i] * a[from]);
    }
}

// ---- groups ------------------------------------------------------------------------------------

// Two walks, waves and keyframes for a group of 37 robots that no motion moves.
typedef struct Batch {
    mf_World *world;
    mf_Group *group;
} Batch;

enum { SWARM = 37, GAIT_COUNT = 4 };

static Batch open_batch(const Fixture *fixture, mf_Isa isa, bool exact, uint32_t count) {
    static const char *const texts[GAIT_COUNT] = {
        walk_text,
        "walk: {period: 0.47, height: 0.16, width: 0.05, path: trapezoid, pace: {march: true},"
        " balance: {ankle_pitch: 0.1, step_pitch: 0.02, step_roll: 0.03, tilt: 3, smooth: 0.05}}",
        "waves: {period: 0.3, swing: 0.3, joints: [{joint: left_knee, amplitude: 0.3, offset: 0.4},"
        " {joint: left_knee, harmonic: 3, forward: 0.1}, {joint: right_knee, shape: bump,"
        " amplitude: 1}, {joint: waist, shape: sweep, yaw: 0.3, phase: 0.2}]}",
        "keyframes: {frames: [{time: 0.1, angles: {left_knee: 1, waist: 0.5}},"
        " {time: 0.35, angles: {left_knee: 0.2}}]}"};
    Batch batch;
    mf_Gait *gaits[GAIT_COUNT];
    for (int i = 0; i < GAIT_COUNT; i++)
        gaits[i] = gait_of(fixture, texts[i]);
    batch.world = open_world(fixture->context, &WITH(mf_world_config(), .isa = isa));
    batch.group = add_group(batch.world, &WITH(mf_group_config(), .model = fixture->model,
                                               .count = count, .double_precision = exact));
    MUST(mf_gaits_add(batch.group, (const mf_Gait *const *)gaits, GAIT_COUNT, NULL, &error));
    for (int i = 0; i < GAIT_COUNT; i++)
        mf_gait_destroy(gaits[i]);
    return batch;
}

static void close_batch(Batch *batch) {
    mf_world_destroy(batch->world);
}
#define AUTO_BATCH AUTO(close_batch) Batch

// What robot `i` of a whole group is notified in round `n`, put to instance `at`.
static void tell(const Batch *batch, uint32_t i, uint32_t n, uint32_t at) {
    mf_Field *select = mf_group_find_field(batch->group, "gait.select");
    mf_Field *command = mf_group_find_field(batch->group, "gait.command");
    mf_Field *rate = mf_group_find_field(batch->group, "base.angular_velocity");
    mf_field_set(select, at, 0, (i + n / 3) % (GAIT_COUNT + 1)); // the last one does not exist
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(command, at, c, 0.2 * draw(i, n * 8 + c));
        mf_field_set(rate, at, c, draw(i, n * 8 + 4 + c));
    }
}

static void run_batch(const Batch *batch, uint32_t first, uint32_t rounds) {
    for (uint32_t n = first; n < first + rounds; n++) {
        for (uint32_t i = 0; i < mf_group_count(batch->group); i++)
            tell(batch, i, n, i);
        mf_world_step(batch->world, 7);
    }
}

TEST_ON(every_set_gives_the_same_bits, Fixture *fixture) {
    for (int exact = 0; exact < 2; exact++) {
        uint64_t expected = 0;
        FOR_EACH_ISA (isa) {
            AUTO_BATCH batch = open_batch(fixture, isa, exact, SWARM);
            run_batch(&batch, 0, 12);
            assert_int_equal(mf_group_fault_total(batch.group), 0);
            uint64_t hash = mf_world_hash(batch.world);
            expected = isa == MF_ISA_SCALAR ? hash : expected;
            assert_true(hash == expected);
        }
    }
}

// Alone, or beside one that is poisoned, a robot has the bits that it has in the swarm.
TEST_ON(robots_are_independent, Fixture *fixture) {
    AUTO_BATCH batch = open_batch(fixture, MF_ISA_AUTO, false, SWARM);
    AUTO_BATCH poisoned = open_batch(fixture, MF_ISA_AUTO, false, SWARM);
    run_batch(&batch, 0, 12);
    for (uint32_t n = 0; n < 12; n++) {
        for (uint32_t i = 0; i < SWARM; i++)
            tell(&poisoned, i, n, i);
        set_field(poisoned.group, "gait.command", 5, 0, NAN);
        set_field(poisoned.group, "base.angular_velocity", 5, 1, NAN);
        set_field(poisoned.group, "joint.target", 5, 3, NAN);
        mf_world_step(poisoned.world, 7);
    }
    for (uint32_t i = 0; i < SWARM; i++) {
        uint64_t expected = mf_group_instance_hash(batch.group, i);
        if (i != 5)
            assert_true(mf_group_instance_hash(poisoned.group, i) == expected);
        AUTO_BATCH alone = open_batch(fixture, MF_ISA_AUTO, false, 1);
        for (uint32_t n = 0; n < 12; n++) {
            tell(&alone, i, n, 0);
            mf_world_step(alone.world, 7);
        }
        assert_true(mf_group_instance_hash(alone.group, 0) == expected);
    }
}

TEST_ON(a_snapshot_continues, Fixture *fixture) {
    AUTO_BATCH batch = open_batch(fixture, MF_ISA_AUTO, false, SWARM);
    AUTO_BATCH other = open_batch(fixture, MF_ISA_SCALAR, false, SWARM);
    run_batch(&batch, 0, 5);
    size_t size;
    void *image = take_snapshot(batch.world, &size);
    MUST(mf_world_restore(other.world, image, size, &error));
    run_batch(&batch, 5, 6);
    run_batch(&other, 5, 6);
    assert_true(mf_world_hash(batch.world) == mf_world_hash(other.world));
    free(image);
}

// From a walk at full speed to any other gait: in a tick of 10 ms no target moves by more than the
// two motions and the mixing make, 0.15 rad; without mixing the knees would jump by 0.9 rad.
TEST_ON(changing_over_does_not_jump, Fixture *fixture) {
    for (uint32_t to = 1; to <= GAIT_COUNT; to++) {
        AUTO_BATCH batch = open_batch(fixture, MF_ISA_AUTO, true, 1);
        mf_Field *select = mf_group_find_field(batch.group, "gait.select");
        mf_Field *target = mf_group_find_field(batch.group, "joint.target");
        set_field(batch.group, "gait.command", 0, 0, 0.1);
        mf_world_step(batch.world, 250);
        double before[64], most = 0.0;
        mf_field_set(select, 0, 0, to);
        for (int n = 0; n < 60; n++) {
            for (uint32_t j = 0; j < target->components; j++)
                before[j] = mf_field_get(target, 0, j);
            mf_world_step(batch.world, 1);
            for (uint32_t j = 0; j < target->components; j++) {
                double moved = fabs(mf_field_get(target, 0, j) - before[j]);
                assert_true(n > 0 || moved == 0.0); // the first tick is where it was
                most = fmax(most, moved);
            }
        }
        assert_true(to == GAIT_COUNT ? most == 0.0 : most > 1e-3 && most < 0.15);
    }
}

// After 4 10^7 periods the targets are to the bit those of the first ones.
TEST_ON(time_is_exact, Fixture *fixture) {
    static const uint32_t periods[] = {60, 47, 30};
    for (uint32_t g = 0; g < 3; g++) {
        uint64_t bits[2];
        for (int late = 0; late < 2; late++) {
            AUTO_BATCH batch = open_batch(fixture, MF_ISA_AUTO, false, 1);
            mf_Field *target = mf_group_find_field(batch.group, "joint.target");
            set_field(batch.group, "gait.select", 0, 0, g);
            set_field(batch.group, "gait.command", 0, 0, 0.1);
            mf_world_step(batch.world, 10 * periods[g] + 1); // ticks 0 .. 10 periods
            mf_Field *tick = mf_group_find_field(batch.group, "gait.tick");
            assert_true(mf_field_get(tick, 0, 0) == 10 * periods[g]);
            if (late)
                mf_field_set(tick, 0, 0, 80000000.0 * periods[g] / 2);
            mf_world_step(batch.world, 13);
            bits[late] = 0;
            for (uint32_t j = 0; j < target->components; j++) {
                float value = (float)mf_field_get(target, 0, j);
                uint32_t word;
                memcpy(&word, &value, sizeof word);
                bits[late] = bits[late] * 1099511628211u + word;
            }
        }
        assert_true(bits[0] == bits[1]);
    }
}

// A rate whose fraction needs more than 64 bits gives the times of the same rate in lowest terms.
TEST_ON(time_of_long_fractions, Fixture *fixture) {
    const int64_t factor = 4294967311;
    static const double ticks[] = {1, 2, 3, 1000003, 4294960000.0};
    double times[2][5];
    for (int longer = 0; longer < 2; longer++) {
        AUTO_GAIT *gait = gait_of(fixture, walk_text);
        AUTO_WORLD *world = open_world(fixture->context, NULL);
        mf_Group *group = add_group(
            world, &WITH(mf_group_config(), .model = fixture->model, .double_precision = true));
        MUST(mf_gaits_add(group, (const mf_Gait *const[]){gait}, 1,
                          &WITH(mf_gait_config(), .rate = (longer ? (mf_Rate){30 * factor, factor}
                                                                  : (mf_Rate){30, 1})),
                          &error));
        set_field(group, "gait.select", 0, 0, 0);
        mf_world_step(world, 100);
        for (int i = 0; i < 5; i++) {
            set_field(group, "gait.tick", 0, 0, ticks[i]);
            mf_world_step(world, 20);
            times[longer][i] = get_field(group, "gait.time", 0, 0);
        }
        assert_true(times[longer][4] > 1.4e8);
    }
    assert_memory_equal(times[0], times[1], sizeof times[0]);
}

TEST_ON(keyframes_end, Fixture *fixture) {
    AUTO_BATCH batch = open_batch(fixture, MF_ISA_AUTO, true, 1);
    mf_Field *done = mf_group_find_field(batch.group, "gait.done");
    mf_Field *time = mf_group_find_field(batch.group, "gait.time");
    set_field(batch.group, "gait.select", 0, 0, 3);
    for (int n = 0; n <= 40; n++) {
        mf_world_step(batch.world, 1);
        assert_true(fabs(mf_field_get(time, 0, 0) - n * 0.01) < 1e-15);
        assert_true(mf_field_get(done, 0, 0) == (n >= 35));
    }
    mf_group_reset(batch.group, 0); // back to the first gait, at its beginning
    assert_true(get_field(batch.group, "gait.select", 0, 0) == 0.0);
    assert_true(mf_field_get(done, 0, 0) == 0.0);
}

// Targets never leave the ranges of the joints, and a command that is no number is a fault.
TEST_ON(ranges_hold_and_nan_is_a_fault, Fixture *fixture) {
    AUTO_GAIT *gait =
        gait_of(fixture, "waves: {period: 1, joints: [{joint: left_knee, amplitude: 2.4},"
                         " {joint: right_knee, forward: 1}], pace: {march: true}}");
    AUTO_WORLD *world = open_world(fixture->context, NULL);
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = fixture->model));
    MUST(mf_motion_add(group, MF_MOTION_POINTS, NULL, &error));
    MUST(mf_gaits_add(group, (const mf_Gait *const *)&gait, 1, NULL, &error));
    uint32_t knee = mf_model_find(fixture->model, MF_ITEM_JOINT, "left_knee");
    for (int n = 0; n < 200; n++) {
        mf_world_step(world, 1);
        double target = get_field(group, "joint.target", 0, knee);
        assert_true(target >= (float)fixture->model->joints[knee].lower &&
                    target <= (float)fixture->model->joints[knee].upper);
    }
    assert_int_equal(mf_group_fault(group, 0), 0);
    set_field(group, "gait.command", 0, 0, NAN);
    mf_world_step(world, 1);
    assert_int_equal(mf_group_fault(group, 0), MF_FAULT_INPUT);
}

// Angles are radians: 45 is nobody's wish.
TEST_ON(degrees_in_a_file_are_refused, Fixture *fixture) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"waves: {period: 1, joints: [{joint: left_knee, amplitude: 45}]}", "joints.0.amplitude"},
        {"waves: {period: 1, joints: [{joint: left_knee, offset: 45}]}", "joints.0.offset"},
        {"waves: {period: 1, joints: [{joint: left_knee, forward: -45}]}", "joints.0.forward"},
        {"keyframes: {frames: [{time: 0, angles: {left_knee: 45}}]}", "left_knee"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Gait *gait = NULL;
        mf_Error error = {0};
        assert_fails(mf_gait_parse(fixture->context, "/tests/g.yaml", cases[i].text,
                                   strlen(cases[i].text), fixture->model, &gait, &error),
                     MF_BAD_FILE, &error, cases[i].why);
        assert_contains(error.message, "45");
    }
}

// ---- failures ----------------------------------------------------------------------------------

static mf_Status add_and_sample(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    AUTO_GAIT *gait = NULL;
    double angles[64] = {0};
    MF_TRY(try_group(context, NULL, &WITH(mf_group_config(), .model = fixture->model), &world,
                     &group, error));
    MF_TRY(mf_gait_load(context, GAITS "wave_hand_right.yaml", fixture->model, &gait, error));
    MF_TRY(mf_gaits_add(group, (const mf_Gait *const *)&gait, 1, NULL, error));
    return mf_gait_sample(gait, fixture->model, 0.5, NULL, angles, error);
}

TEST_ON(every_failing_call_is_survived, Fixture *fixture) {
    assert_true(torture(fixture->context, add_and_sample, fixture, TORTURE_MUST_FAIL) > 20);
}

TEST_ON(wrong_arguments_are_refused, Fixture *fixture) {
    AUTO_BATCH batch = open_batch(fixture, MF_ISA_AUTO, false, 1);
    AUTO_GAIT *gait = gait_of(fixture, walk_text);
    const mf_Gait *const list[] = {gait};
    MUST_FAIL_AS(mf_gaits_add(batch.group, list, 1, NULL, &error), MF_BAD_ARGUMENT,
                 "group robots: already has a system gaits");
    MUST_FAIL_AS(mf_gaits_add(batch.group, list, 0, NULL, &error), MF_BAD_ARGUMENT,
                 "gaits: need 1 .. 32, found 0");
    const mf_Gait *const none[] = {gait, NULL};
    MUST_FAIL_AS(mf_gaits_add(batch.group, none, 2, NULL, &error), MF_BAD_ARGUMENT,
                 "gaits: number 1 is NULL");
    const double nowhere[3] = {0.0, INFINITY, 0.0};
    double angles[64];
    assert_true(fixture->model->joint_count <= 64);
    MUST_FAIL_AS(mf_gait_sample(gait, fixture->model, 0.0, nowhere, angles, &error),
                 MF_BAD_ARGUMENT, "gait: command: need finite numbers");
    mf_GaitAngle unnamed = {NULL, 0.1};
    gait->walk.pose = &unnamed;
    gait->walk.pose_count = 1;
    MUST_FAIL_AS(mf_gait_check(gait, fixture->model, &error), MF_BAD_ARGUMENT,
                 "pose: need the name of a joint");
    gait->walk.width = NAN;
    MUST_FAIL_AS(mf_gait_check(gait, fixture->model, &error), MF_BAD_ARGUMENT,
                 "width: need above 0, at most 10, found nan");
}
