// Several motions in one group: every switch preserves the pose to the bit and the momentum as
// stated in docs/explanation/ladder.md; robots at different levels in one block are independent.
#include "motion/batch.h"
#include "motion/table.h"

// Every motion of robots of links and joints.
static mf_MotionsConfig all_levels(mf_Motion start) {
    mf_MotionsConfig motions = mf_motions_config();
    motions.start = start;
    motions.points.joint_interval = 10 * MF_MILLISECOND;
    motions.articulated.servo.gain = 20.0;
    motions.articulated.servo.damping = 0.5;
    for (int i = 0; i < MF_MOTION_LEVELS; i++)
        motions.has[i] = true;
    return motions;
}

static mf_Status load(Rig *rig, const char *file, mf_Error *error) {
    return mf_model_load(rig->context, file, NULL, &rig->model, error);
}

// World and group of a rig with a model, in steps of 1 ms and double precision.
static void levels_add_group(Rig *rig, uint32_t count) {
    rig_add_group(rig, &WITH(mf_world_config(), .step = MF_MILLISECOND),
                  WITH(mf_group_config(), .count = count, .double_precision = true));
}

static Rig levels_open(const char *file, const mf_MotionsConfig *motions, uint32_t count) {
    Rig rig = rig_begin(1);
    MUST(load(&rig, file, &error));
    levels_add_group(&rig, count);
    MUST(mf_motions_add(rig.group, motions, &error));
    return rig;
}

static double get(const Rig *rig, const char *name, uint32_t instance, uint32_t c) {
    return get_field(rig->group, name, instance, c);
}

static void change(const Rig *rig, uint32_t instance, mf_Motion to) {
    MUST(mf_motion_switch(rig->group, instance, to, &error));
    assert_int_equal(mf_motion_of(rig->group, instance), to);
}

#define HEXAPOD MAYFLY_SOURCE_DIR "/models/hexapod.urdf"
#define HUMANOID MAYFLY_SOURCE_DIR "/models/humanoid.urdf"

// ---- every pair ---------------------------------------------------------------------------------

// Some state in the air: turned, spinning, joints bent and moving.
static void stir(const Rig *rig, uint32_t instance, uint32_t number) {
    static const struct {
        const char *name;
        double size;
    } parts[] = {{"base.position", 0.5},        {"base.orientation", 1.0},
                 {"base.linear_velocity", 2.0}, {"base.angular_velocity", 3.0},
                 {"joint.angle", 0.3},          {"joint.rate", 4.0}};
    for (uint32_t f = 0; f < sizeof parts / sizeof *parts; f++) {
        mf_Field *field = field_of(rig->group, parts[f].name);
        double length = 0.0;
        for (uint32_t c = 0; c < field->components; c++) {
            double value = parts[f].size * random_signed(500 + f, number * 64 + c);
            mf_field_set(field, instance, c, f == 0 && c == 2 ? 3.0 + value : value);
            length += value * value;
        }
        for (uint32_t c = 0; f == 1 && c < 4; c++)
            mf_field_set(field, instance, c, mf_field_get(field, instance, c) / sqrt(length));
    }
    if (mf_motion_of(rig->group, instance) == MF_MOTION_POINTS)
        mf_group_refresh(rig->group, instance);
}

static void check_kept(const Rig *rig, uint32_t instance, const char *const *names, uint32_t count,
                       double (*before)[64], bool write) {
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t c = 0; c < field_of(rig->group, names[f])->components; c++) {
            double now = get(rig, names[f], instance, c);
            if (write)
                before[f][c] = now;
            else if (memcmp(&now, &before[f][c], sizeof now) != 0)
                fail_msg("%s[%u] changed from %.17g to %.17g", names[f], c, before[f][c], now);
        }
}

static void check_pair(Rig *rig, mf_Motion from, mf_Motion to, uint32_t number) {
    static const char *const kept[] = {
        "base.position", "base.orientation",     "joint.angle",          "joint.rate",
        "joint.target",  "base.linear_velocity", "base.angular_velocity"};
    double before[7][64], center[3], linear[3], angular[3], now[3][3];
    change(rig, 0, from);
    stir(rig, 0, number);
    mf_motion_momentum(rig->group, 0, center, linear, angular);
    check_kept(rig, 0, kept, 7, before, true);
    change(rig, 0, to);
    const bool twist_stays = from == MF_MOTION_KINEMATIC && to != MF_MOTION_KINEMATIC;
    check_kept(rig, 0, kept, twist_stays || from == to ? 7 : 5, before, false);
    mf_motion_momentum(rig->group, 0, now[0], now[1], now[2]);
    for (uint32_t c = 0; c < 3 && from != to; c++) {
        if (to == MF_MOTION_KINEMATIC) {
            assert_near(get(rig, "base.linear_velocity", 0, c), 0.0, 0);
            assert_near(get(rig, "base.angular_velocity", 0, c), 0.0, 0);
            assert_near(now[1][c], 0.0, 0);
            assert_near(now[2][c], 0.0, 0);
        } else if (from != MF_MOTION_KINEMATIC) {
            assert_near(now[1][c], linear[c], 1e-12);
            assert_near(now[2][c], angular[c], 1e-13);
        }
    }
    // The next step goes on from there.
    double fast = 0.0;
    for (uint32_t c = 0; c < 3; c++)
        fast += fabs(get(rig, "base.linear_velocity", 0, c));
    mf_world_step(rig->world, 1);
    assert_int_equal(mf_group_fault(rig->group, 0), 0);
    for (uint32_t c = 0; c < 3; c++)
        assert_near(get(rig, "base.position", 0, c), before[0][c], 1.2e-3 * fast + 2e-3);
}

TEST(every_switch_keeps_its_invariants) {
    static const char *const files[] = {HEXAPOD, HUMANOID};
    for (int f = 0; f < 2; f++) {
        const mf_MotionsConfig motions = all_levels(MF_MOTION_ARTICULATED);
        AUTO_RIG rig = levels_open(files[f], &motions, 1);
        for (int from = 0; from < MF_MOTION_LEVELS; from++)
            for (int to = 0; to < MF_MOTION_LEVELS; to++)
                check_pair(&rig, (mf_Motion)from, (mf_Motion)to,
                           (uint32_t)(from * MF_MOTION_LEVELS + to));
    }
}

// Base of 0.03 kg m^2 and an arm of 0.01 that rotates about the common center with its own rate u:
// at `articulated` and `prescribed` the angular momentum about z is 0.04 w + 0.01 u, at `rigid` and
// `points` 0.04 w. So w grows by u / 4 one way and falls by it the other way.
TEST(momentum_of_joints_goes_into_the_base) {
    static const mf_Motion with[] = {MF_MOTION_ARTICULATED, MF_MOTION_PRESCRIBED},
                           without[] = {MF_MOTION_RIGID, MF_MOTION_POINTS};
    const double up[3] = {0, 0, 1}, body[3] = {0.02, 0.03, 0.03}, arm[3] = {0.006, 0.01, 0.01};
    const mf_MotionsConfig motions = all_levels(MF_MOTION_ARTICULATED);
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 2.0, body);
    uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, up);
    mf_hand_inertia(rig.hand, link, 1.0, arm);
    mf_hand_point(rig.hand, link, 0.1, 0, -0.1, 0, true);
    for (int l = 0; l < 2; l++)
        for (int c = 0; c < 3; c++)
            rig.hand->links[l].inertia[c] = l == 0 ? body[c] : arm[c];
    levels_add_group(&rig, 1);
    MUST(mf_motions_add(rig.group, &motions, &error));
    for (int i = 0; i < 4; i++) {
        change(&rig, 0, with[i / 2]);
        set_field(rig.group, "base.angular_velocity", 0, 2, 1.0);
        set_field(rig.group, "joint.rate", 0, 0, 2.0);
        change(&rig, 0, without[i % 2]);
        assert_near(get(&rig, "base.angular_velocity", 0, 2), 1.5, 1e-12);
        mf_MotionEnergy energy = mf_motion_energy(rig.group, 0);
        assert_near(energy.kinetic, 0.5 * 0.04 * 1.5 * 1.5, 1e-12);
        change(&rig, 0, with[i / 2]);
        assert_near(get(&rig, "base.angular_velocity", 0, 2), 1.0, 1e-12);
        energy = mf_motion_energy(rig.group, 0);
        assert_near(energy.kinetic, 0.5 * 0.03 + 0.5 * 0.01 * 9.0, 1e-12);
    }
}

// ---- on the ground ------------------------------------------------------------------------------

// A robot that stands goes on standing, whatever it is changed to.
TEST(a_standing_robot_keeps_standing) {
    const mf_MotionsConfig motions = all_levels(MF_MOTION_KINEMATIC);
    AUTO_RIG rig = levels_open(HEXAPOD, &motions, 1);
    mf_world_step(rig.world, 200);
    const double height = get(&rig, "base.position", 0, 2);
    for (int n = 0; n < 25; n++) {
        const mf_Motion to = (mf_Motion)(n * 2 % MF_MOTION_LEVELS);
        double before[3];
        get_fields(rig.group, "base.position", 0, 3, before);
        change(&rig, 0, to);
        mf_world_step(rig.world, 1);
        assert_field3(rig.group, "base.position", 0, before[0], before[1], before[2], 1e-3);
        mf_world_step(rig.world, 300);
        assert_int_equal(mf_group_fault(rig.group, 0), 0);
        assert_near(get(&rig, "base.position", 0, 2), height, 3e-3);
        assert_near(get(&rig, "base.orientation", 0, 0), 1.0, 1e-3);
    }
}

// ---- mixed blocks -------------------------------------------------------------------------------

static mf_Status open(Batch *batch, mf_Error *error) {
    batch->world.step = MF_MILLISECOND;
    batch->group.double_precision = batch->option == 1;
    batch->motion = MF_MOTION_COUNT;
    batch->motions = all_levels(MF_MOTION_ARTICULATED);
    MF_TRY(load(&batch->rig, HEXAPOD, error));
    return batch_add(batch, error);
}

static void place(const Batch *batch, uint32_t lane, uint32_t number) {
    mf_Field *field = rig_field(&batch->rig, "base.position");
    mf_field_set(field, lane, 2,
                 mf_field_get(field, lane, 2) + 0.01 * (1.0 + random_signed(600, number)));
}

// Robots at all levels side by side, that change level while they fall and land.
static void drive(const Batch *batch, uint32_t lane, uint32_t number) {
    mf_Field *target = rig_field(&batch->rig, "joint.target");
    if (batch->steps % 15 == 0)
        change(&batch->rig, lane,
               (mf_Motion)((number * 3 + batch->steps / 15 * 2) % MF_MOTION_LEVELS));
    for (uint32_t j = 0; j < target->components; j++)
        batch_put(target, lane, j, 0.3 * sin(0.05 * batch->steps + j + number));
}

// Every motion reads these; others it may write over.
static const BatchPoison poisons[] = {{"base.position", 1, NAN, MF_FAULT_NONFINITE},
                                      {"base.angular_velocity", 1, NAN, MF_FAULT_NONFINITE},
                                      {"joint.rate", 1, NAN, MF_FAULT_NONFINITE},
                                      {"joint.angle", 1, NAN, MF_FAULT_NONFINITE},
                                      {"stance.anchor", 1, NAN, MF_FAULT_NONFINITE}};

static const BatchKind batch_kind = {.options = 2,
                                     .robots = 20,
                                     .steps = 45,
                                     .many = 20,
                                     .open = open,
                                     .place = place,
                                     .drive = drive,
                                     .period = 1,
                                     .poisoned = 1 << 0,
                                     .poisons = poisons,
                                     .poison_count = sizeof poisons / sizeof *poisons};

// ---- groups -------------------------------------------------------------------------------------

TEST(a_reset_goes_back_to_the_start) {
    const mf_MotionsConfig motions = all_levels(MF_MOTION_RIGID);
    AUTO_RIG rig = levels_open(HEXAPOD, &motions, 3);
    uint64_t fresh = mf_group_instance_hash(rig.group, 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(mf_motion_of(rig.group, i), MF_MOTION_RIGID);
    change(&rig, 1, MF_MOTION_POINTS);
    assert_int_equal(mf_motion_of(rig.group, 0), MF_MOTION_RIGID);
    mf_world_step(rig.world, 10);
    mf_group_reset(rig.group, 1);
    assert_int_equal(mf_motion_of(rig.group, 1), MF_MOTION_RIGID);
    assert_true(mf_group_instance_hash(rig.group, 1) == fresh);
}

// Two motions of five: others are refused with those that there are.
TEST(motions_that_are_not_there_are_refused) {
    mf_MotionsConfig motions = all_levels(MF_MOTION_ARTICULATED);
    memset(motions.has, 0, sizeof motions.has);
    motions.has[MF_MOTION_KINEMATIC] = true;
    AUTO_RIG rig = levels_open(HEXAPOD, &motions, 1);
    MUST_FAIL_AS(mf_motion_switch(rig.group, 0, MF_MOTION_POINTS, &error), MF_BAD_ARGUMENT,
                 "group robots: does not have the motion points; its motions: "
                 "kinematic and articulated");
    MUST_FAIL(mf_motion_switch(rig.group, 0, MF_MOTION_COUNT, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL_AS(mf_motion_switch(rig.group, 1, MF_MOTION_KINEMATIC, &error), MF_BAD_ARGUMENT,
                 "group robots: has 1 robots, no robot 1");
    assert_int_equal(mf_motion_of(rig.group, 0), MF_MOTION_ARTICULATED);
    assert_false(mf_motion_in(rig.group, MF_MOTION_RIGID));
    MUST_FAIL(mf_motions_add(rig.group, &motions, &error), MF_BAD_ARGUMENT, "");
    // Settings of other contacts, or none at all, and a start that is none.
    for (int which = 0; which < 3; which++) {
        AUTO_RIG other = rig_begin(1);
        motions = all_levels(MF_MOTION_ARTICULATED);
        if (which == 0)
            motions.struct_size = 0;
        else if (which == 1)
            motions.start = MF_MOTION_COUNT;
        else
            motions.articulated.base = MF_ARTICULATED_FIXED;
        MUST(load(&other, HEXAPOD, &error));
        levels_add_group(&other, 1);
        MUST_FAIL(mf_motions_add(other.group, &motions, &error), MF_BAD_ARGUMENT, "");
    }
}

TEST(a_group_with_one_motion_answers_too) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, points_config(true));
    const double mass = rig.hand->model.mass;
    double center[3], linear[3], angular[3];
    rig_set3(&rig, "base.linear_velocity", 1, 2, 3);
    assert_int_equal(mf_motion_of(rig.group, 0), MF_MOTION_POINTS);
    mf_motion_momentum(rig.group, 0, center, linear, angular);
    assert_near3(linear, mass, 2 * mass, 3 * mass, 1e-12);
    assert_near3(angular, 0, 0, 0, 1e-12);
    assert_near(mf_motion_energy(rig.group, 0).kinetic, 0.5 * mass * 14, 1e-12);
    MUST(mf_motion_switch(rig.group, 0, MF_MOTION_POINTS, &error));
    MUST_FAIL(mf_motion_switch(rig.group, 0, MF_MOTION_RIGID, &error), MF_BAD_ARGUMENT, "");
}

TEST(one_motion_is_added_by_its_number) {
    for (int i = 0; i < MF_MOTION_LEVELS; i++) {
        const mf_Motion motion = (mf_Motion)i;
        mf_MotionsConfig config = mf_motions_config();
        mf_motions_set_shapes(&config, true);
        mf_motions_set_control(&config, 20 * MF_MILLISECOND);
        AUTO_RIG rig = rig_begin(1);
        MUST(load(&rig, HEXAPOD, &error));
        rig_add_group(&rig, NULL, mf_group_config());
        MUST(mf_motion_add(rig.group, motion, &config, &error));
        assert_null(mf_group_find_field(rig.group, "motion.level"));
        assert_int_equal(mf_motion_of(rig.group, 0), motion);
        const uint64_t start = mf_world_hash(rig.world);
        mf_world_step(rig.world, 40);
        assert_true(mf_world_hash(rig.world) != start);
        MUST_FAIL(mf_motion_add(rig.group, MF_MOTION_RIGID, NULL, &error), MF_BAD_ARGUMENT, "");
    }
}

TEST(a_motion_that_cannot_be_added_leaves_the_group_free) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    rig.hand->model.base = MF_BASE_FIXED;
    rig_add_group(&rig, NULL, mf_group_config());
    MUST_FAIL_AS(mf_motion_add(rig.group, MF_MOTION_POINTS, NULL, &error), MF_UNSUPPORTED,
                 "points: the base of model hand is fixed in the world");
    MUST_FAIL_AS(mf_motion_add(rig.group, MF_MOTION_OWN, NULL, &error), MF_BAD_ARGUMENT,
                 "motion: 16 is not a motion");
    MUST_FAIL(mf_motion_add(rig.group, MF_MOTION_RIGID,
                            &WITH(mf_motions_config(), .struct_size = 0), &error),
              MF_BAD_ARGUMENT, "");
    assert_int_equal(mf_motion_of(rig.group, 0), MF_MOTION_COUNT);
    MUST(mf_motion_add(rig.group, MF_MOTION_KINEMATIC, NULL, &error));
}

// ---- what a model can do ------------------------------------------------------------------------

static void check_says(const mf_Model *model, mf_Motion motion, const char *said) {
    mf_Error error = {0};
    mf_Status status = mf_motion_check(model, motion, &error);
    if (said == NULL) {
        must(status, &error);
        return;
    }
    assert_int_equal(status, MF_UNSUPPORTED);
    if (strcmp(error.message, said) != 0)
        fail_msg("%s", error.message);
}

TEST(a_level_that_a_model_cannot_support_is_refused) {
    const double up[3] = {0, 0, 1}, moment[3] = {0.01, 0.01, 0.01};
    for (int which = 0; which < 3; which++) {
        AUTO_RIG rig = rig_begin(1);
        mf_HandModel *hand = rig.hand;
        if (which == 2) { // no mass at all
            hand->links[mf_hand_slide(hand, 0, 0, 0, 0, up)].name = "foot";
            mf_hand_point(hand, 1, 0, 0, -0.1, 0, true);
        } else {
            mf_hand_inertia(hand, 0, 1.0, moment);
            memcpy(hand->links[0].inertia, moment, sizeof moment);
            mf_hand_point(hand, 0, 0, 0, -0.1, 0, true);
        }
        if (which == 1) // held in the world
            hand->model.base = MF_BASE_FIXED;
        for (int i = 0; i < MF_MOTION_LEVELS; i++) {
            const mf_Motion motion = (mf_Motion)i;
            const char *said = NULL;
            if (which == 0 && motion == MF_MOTION_KINEMATIC)
                said = "kinematic: model hand has no feet: no link that moves against its base has "
                       "a contact near the ground in the start position; name its feet in the "
                       "settings; supported motions: points, rigid, prescribed and articulated";
            if (which == 1 && motion == MF_MOTION_POINTS)
                said = "points: the base of model hand is fixed in the world; supported motions: "
                       "kinematic, rigid, prescribed and articulated";
            if (which == 2 && motion == MF_MOTION_ARTICULATED)
                said = "articulated: model hand has no mass; supported motions: kinematic";
            if (which < 2 || said != NULL || motion == MF_MOTION_KINEMATIC)
                check_says(&hand->model, motion, said);
        }
    }
}
