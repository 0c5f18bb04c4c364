// Several motions in one group: every switch preserves the pose to the bit and the momentum as
// stated in docs/explanation/ladder.md; robots at different levels in one block are independent.
#include "motion/rig.h"
#include "motion/table.h"

typedef struct Batch {
    mf_Context *context;
    mf_Model *model; // of a file, or NULL
    mf_HandModel hand;
    mf_World *world;
    mf_Group *group;
} Batch;

typedef struct BatchConfig {
    const char *file; // NULL: the robot that the caller builds in a batch->hand
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_MotionsConfig motions;
    uint32_t threads;
} BatchConfig;

static BatchConfig batch_config(const char *file, mf_Motion start) {
    BatchConfig config = {.file = file,
                          .world = mf_world_config(),
                          .group = mf_group_config(),
                          .motions = mf_motions_config(),
                          .threads = 1};
    config.world.step = MF_MILLISECOND;
    config.group.double_precision = true;
    config.motions.start = start;
    config.motions.points.joint_interval = 10 * MF_MILLISECOND;
    config.motions.articulated.servo.gain = 20.0;
    config.motions.articulated.servo.damping = 0.5;
    for (int i = 0; i < MF_MOTION_LEVELS; i++)
        config.motions.has[i] = true;
    return config;
}

static mf_Status batch_try(Batch *batch, BatchConfig config, mf_Error *error) {
    mf_GroupConfig group = config.group;
    if (config.file != NULL)
        must(mf_model_load(batch->context, config.file, NULL, &batch->model, error), error);
    group.model = config.file != NULL ? batch->model : &batch->hand.model;
    must(mf_world_create(batch->context, &config.world, &batch->world, error), error);
    must(mf_world_add_group(batch->world, &group, &batch->group, error), error);
    return mf_motions_add(batch->group, &config.motions, error);
}

static void batch_begin(Batch *batch, uint32_t threads) {
    memset(batch, 0, sizeof *batch);
    batch->context = open_context(threads);
    mf_hand_start(&batch->hand, batch->context);
}

static void batch_open(Batch *batch, BatchConfig config) {
    batch_begin(batch, config.threads);
    MUST(batch_try(batch, config, &error));
}

static void batch_close(Batch *batch) {
    mf_world_destroy(batch->world);
    mf_model_destroy(batch->model);
    close_context(batch->context);
}

static double get(const Batch *batch, const char *name, uint32_t instance, uint32_t c) {
    return get_field(batch->group, name, instance, c);
}

static void change(Batch *batch, uint32_t instance, mf_Motion to) {
    MUST(mf_motion_switch(batch->group, instance, to, &error));
    assert_int_equal(mf_motion_of(batch->group, instance), to);
}

#define HEXAPOD MAYFLY_SOURCE_DIR "/models/hexapod.urdf"
#define HUMANOID MAYFLY_SOURCE_DIR "/models/humanoid.urdf"

// ---- every pair ---------------------------------------------------------------------------------

// Some state in the air: turned, spinning, joints bent and moving.
static void stir(const Batch *batch, uint32_t instance, uint32_t number) {
    static const struct {
        const char *name;
        double size;
    } parts[] = {{"base.position", 0.5},        {"base.orientation", 1.0},
                 {"base.linear_velocity", 2.0}, {"base.angular_velocity", 3.0},
                 {"joint.angle", 0.3},          {"joint.rate", 4.0}};
    for (uint32_t f = 0; f < sizeof parts / sizeof *parts; f++) {
        mf_Field *field = field_of(batch->group, parts[f].name);
        double length = 0.0;
        for (uint32_t c = 0; c < field->components; c++) {
            double value = parts[f].size * random_signed(500 + f, number * 64 + c);
            mf_field_set(field, instance, c, f == 0 && c == 2 ? 3.0 + value : value);
            length += value * value;
        }
        for (uint32_t c = 0; f == 1 && c < 4; c++)
            mf_field_set(field, instance, c, mf_field_get(field, instance, c) / sqrt(length));
    }
    if (mf_motion_of(batch->group, instance) == MF_MOTION_POINTS)
        mf_group_refresh(batch->group, instance);
}

static void check_kept(const Batch *batch, uint32_t instance, const char *const *names,
                       uint32_t count, double (*before)[64], bool write) {
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t c = 0; c < field_of(batch->group, names[f])->components; c++) {
            double now = get(batch, names[f], instance, c);
            if (write)
                before[f][c] = now;
            else if (memcmp(&now, &before[f][c], sizeof now) != 0)
                fail_msg("%s[%u] changed from %.17g to %.17g", names[f], c, before[f][c], now);
        }
}

static void check_pair(Batch *batch, mf_Motion from, mf_Motion to, uint32_t number) {
    static const char *const kept[] = {
        "base.position", "base.orientation",     "joint.angle",          "joint.rate",
        "joint.target",  "base.linear_velocity", "base.angular_velocity"};
    double before[7][64], center[3], linear[3], angular[3], now[3][3];
    change(batch, 0, from);
    stir(batch, 0, number);
    mf_motion_momentum(batch->group, 0, center, linear, angular);
    check_kept(batch, 0, kept, 7, before, true);
    change(batch, 0, to);
    const bool twist_stays = from == MF_MOTION_KINEMATIC && to != MF_MOTION_KINEMATIC;
    check_kept(batch, 0, kept, twist_stays || from == to ? 7 : 5, before, false);
    mf_motion_momentum(batch->group, 0, now[0], now[1], now[2]);
    for (uint32_t c = 0; c < 3 && from != to; c++) {
        if (to == MF_MOTION_KINEMATIC) {
            assert_near(get(batch, "base.linear_velocity", 0, c), 0.0, 0);
            assert_near(get(batch, "base.angular_velocity", 0, c), 0.0, 0);
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
        fast += fabs(get(batch, "base.linear_velocity", 0, c));
    mf_world_step(batch->world, 1);
    assert_int_equal(mf_group_fault(batch->group, 0), 0);
    for (uint32_t c = 0; c < 3; c++)
        assert_near(get(batch, "base.position", 0, c), before[0][c], 1.2e-3 * fast + 2e-3);
}

TEST(every_switch_keeps_its_invariants) {
    static const char *const files[] = {HEXAPOD, HUMANOID};
    for (int f = 0; f < 2; f++) {
        AUTO(batch_close) Batch batch;
        batch_open(&batch, batch_config(files[f], MF_MOTION_ARTICULATED));
        for (int from = 0; from < MF_MOTION_LEVELS; from++)
            for (int to = 0; to < MF_MOTION_LEVELS; to++)
                check_pair(&batch, (mf_Motion)from, (mf_Motion)to,
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
    AUTO(batch_close) Batch batch;
    batch_begin(&batch, 1);
    mf_hand_inertia(&batch.hand, 0, 2.0, body);
    uint32_t link = mf_hand_hinge(&batch.hand, 0, 0, 0, 0, up);
    mf_hand_inertia(&batch.hand, link, 1.0, arm);
    mf_hand_point(&batch.hand, link, 0.1, 0, -0.1, 0, true);
    for (int l = 0; l < 2; l++)
        for (int c = 0; c < 3; c++)
            batch.hand.links[l].inertia[c] = l == 0 ? body[c] : arm[c];
    MUST(batch_try(&batch, batch_config(NULL, MF_MOTION_ARTICULATED), &error));
    for (int i = 0; i < 4; i++) {
        change(&batch, 0, with[i / 2]);
        set_field(batch.group, "base.angular_velocity", 0, 2, 1.0);
        set_field(batch.group, "joint.rate", 0, 0, 2.0);
        change(&batch, 0, without[i % 2]);
        assert_near(get(&batch, "base.angular_velocity", 0, 2), 1.5, 1e-12);
        mf_MotionEnergy energy = mf_motion_energy(batch.group, 0);
        assert_near(energy.kinetic, 0.5 * 0.04 * 1.5 * 1.5, 1e-12);
        change(&batch, 0, with[i / 2]);
        assert_near(get(&batch, "base.angular_velocity", 0, 2), 1.0, 1e-12);
        energy = mf_motion_energy(batch.group, 0);
        assert_near(energy.kinetic, 0.5 * 0.03 + 0.5 * 0.01 * 9.0, 1e-12);
    }
}

// ---- on the ground ------------------------------------------------------------------------------

// A robot that stands goes on standing, whatever it is changed to.
TEST(a_standing_robot_keeps_standing) {
    AUTO(batch_close) Batch batch;
    batch_open(&batch, batch_config(HEXAPOD, MF_MOTION_KINEMATIC));
    mf_world_step(batch.world, 200);
    const double height = get(&batch, "base.position", 0, 2);
    for (int n = 0; n < 25; n++) {
        const mf_Motion to = (mf_Motion)(n * 2 % MF_MOTION_LEVELS);
        double before[3];
        get_fields(batch.group, "base.position", 0, 3, before);
        change(&batch, 0, to);
        mf_world_step(batch.world, 1);
        assert_field3(batch.group, "base.position", 0, before[0], before[1], before[2], 1e-3);
        mf_world_step(batch.world, 300);
        assert_int_equal(mf_group_fault(batch.group, 0), 0);
        assert_near(get(&batch, "base.position", 0, 2), height, 3e-3);
        assert_near(get(&batch, "base.orientation", 0, 0), 1.0, 1e-3);
    }
}

// ---- mixed blocks -------------------------------------------------------------------------------

enum { ROBOTS = 20, STEPS = 45, POISONED = 5 };

static mf_Motion level_of(uint32_t robot, uint32_t round) {
    return (mf_Motion)((robot * 3 + round * 2) % MF_MOTION_LEVELS);
}

// Robots at all levels side by side, that change level while they fall and land.
static void run_mixed(Batch *batch, uint32_t first, uint32_t steps) {
    for (uint32_t n = 0; n < steps; n++) {
        for (uint32_t i = 0; n % 15 == 0 && i < mf_group_count(batch->group); i++)
            change(batch, i, level_of(first + i, n / 15));
        for (uint32_t i = 0; i < mf_group_count(batch->group); i++)
            for (uint32_t j = 0; j < field_of(batch->group, "joint.target")->components; j++)
                set_field(batch->group, "joint.target", i, j, 0.3 * sin(0.05 * n + j + first + i));
        mf_world_step(batch->world, 1);
    }
}

static void open_mixed(Batch *batch, bool wide, mf_Isa isa, uint32_t threads, uint32_t first,
                       uint32_t count) {
    batch_open(batch, WITH(batch_config(HEXAPOD, MF_MOTION_ARTICULATED), .group.count = count,
                           .group.double_precision = wide, .world.isa = isa, .threads = threads));
    for (uint32_t i = 0; i < count; i++) {
        mf_Field *field = field_of(batch->group, "base.position");
        mf_field_set(field, i, 2,
                     mf_field_get(field, i, 2) + 0.01 * (1.0 + random_signed(600, first + i)));
    }
}

TEST(levels_in_one_block_are_independent) {
    for (int wide = 0; wide < 2; wide++) {
        uint64_t hash[ROBOTS];
        Batch batch;
        for (uint32_t r = 0; r < ROBOTS; r++) {
            open_mixed(&batch, wide != 0, MF_ISA_SCALAR, 1, r, 1);
            run_mixed(&batch, r, STEPS);
            assert_int_equal(mf_group_fault_total(batch.group), 0);
            hash[r] = mf_group_instance_hash(batch.group, 0);
            batch_close(&batch);
        }
        FOR_EACH_ISA (isa) {
            for (uint32_t count = 4; count <= ROBOTS; count += 8) {
                uint32_t first = (count * 7) % (ROBOTS - count + 1);
                open_mixed(&batch, wide != 0, isa, 1 + count % 2, first, count);
                run_mixed(&batch, first, STEPS);
                for (uint32_t i = 0; i < count; i++)
                    if (mf_group_instance_hash(batch.group, i) != hash[first + i])
                        fail_msg("%s, %u robots: robot %u in lane %u differs", mf_isa_name(isa),
                                 count, first + i, i);
                batch_close(&batch);
            }
        }
    }
}

TEST(corrupted_states_stay_with_their_robot) {
    static const char *const names[] = {"base.position", "base.angular_velocity", "joint.rate",
                                        "joint.angle", "stance.anchor"};
    for (uint32_t f = 0; f < sizeof names / sizeof *names; f++) {
        AUTO(batch_close) Batch clean, sick;
        open_mixed(&clean, false, MF_ISA_AUTO, 1, 0, 16);
        open_mixed(&sick, false, MF_ISA_AUTO, 1, 0, 16);
        run_mixed(&clean, 0, 20);
        run_mixed(&sick, 0, 20);
        set_field(sick.group, names[f], POISONED, 1, (double)NAN);
        for (uint32_t n = 0; n < 10; n++) { // through changes, too
            for (uint32_t i = 0; i < 16; i++) {
                change(&clean, i, level_of(i, n));
                change(&sick, i, level_of(i, n));
            }
            mf_world_step(clean.world, 2);
            mf_world_step(sick.world, 2);
        }
        assert_others_same(sick.group, clean.group, POISONED);
        // The robot is frozen, or nobody read the value before it was written over.
        for (uint32_t k = 0;
             mf_group_fault(sick.group, POISONED) == 0 && k < mf_group_field_count(sick.group);
             k++) {
            const mf_Field *field = mf_group_field(sick.group, k);
            for (uint32_t c = 0; c < field->components; c++)
                if (!isfinite(mf_field_get(field, POISONED, c)))
                    fail_msg("%s: %s[%u] is not finite, and no fault", names[f], field->info.name,
                             c);
        }
        if (f == 0 || f == 3) // every motion reads these
            assert_true(mf_group_fault(sick.group, POISONED) != 0);
    }
}

TEST(images_continue_bit_for_bit) {
    AUTO(batch_close) Batch first, other;
    open_mixed(&first, false, MF_ISA_SCALAR, 1, 0, ROBOTS);
    run_mixed(&first, 0, 20);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(first.world, &size);
    mf_world_step(first.world, 25);
    open_mixed(&other, false, MF_ISA_AUTO, 2, 0, ROBOTS);
    MUST(mf_world_restore(other.world, image, size, &error));
    for (uint32_t i = 0; i < ROBOTS; i++)
        assert_int_equal(mf_motion_of(other.group, i), mf_motion_of(first.group, i));
    mf_world_step(other.world, 25);
    assert_true(mf_world_hash(other.world) == mf_world_hash(first.world));
}

TEST(changing_allocates_nothing) {
    AUTO(batch_close) Batch batch;
    open_mixed(&batch, false, MF_ISA_AUTO, 1, 0, ROBOTS);
    uint64_t calls = mf_context_call_count(batch.context);
    run_mixed(&batch, 0, STEPS);
    assert_int_equal(mf_context_call_count(batch.context), calls);
}

// ---- groups -------------------------------------------------------------------------------------

TEST(a_reset_goes_back_to_the_start) {
    AUTO(batch_close) Batch batch;
    batch_open(&batch, WITH(batch_config(HEXAPOD, MF_MOTION_RIGID), .group.count = 3));
    uint64_t fresh = mf_group_instance_hash(batch.group, 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(mf_motion_of(batch.group, i), MF_MOTION_RIGID);
    change(&batch, 1, MF_MOTION_POINTS);
    assert_int_equal(mf_motion_of(batch.group, 0), MF_MOTION_RIGID);
    mf_world_step(batch.world, 10);
    mf_group_reset(batch.group, 1);
    assert_int_equal(mf_motion_of(batch.group, 1), MF_MOTION_RIGID);
    assert_true(mf_group_instance_hash(batch.group, 1) == fresh);
}

// Two motions of five: others are refused with those that there are.
TEST(motions_that_are_not_there_are_refused) {
    Batch batch;
    BatchConfig config = batch_config(HEXAPOD, MF_MOTION_ARTICULATED);
    memset(config.motions.has, 0, sizeof config.motions.has);
    config.motions.has[MF_MOTION_KINEMATIC] = true;
    batch_open(&batch, config);
    MUST_FAIL_AS(mf_motion_switch(batch.group, 0, MF_MOTION_POINTS, &error), MF_BAD_ARGUMENT,
                 "group robots: does not have the motion points; its motions: "
                 "kinematic and articulated");
    MUST_FAIL(mf_motion_switch(batch.group, 0, MF_MOTION_COUNT, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL_AS(mf_motion_switch(batch.group, 1, MF_MOTION_KINEMATIC, &error), MF_BAD_ARGUMENT,
                 "group robots: has 1 robots, no robot 1");
    assert_int_equal(mf_motion_of(batch.group, 0), MF_MOTION_ARTICULATED);
    assert_false(mf_motion_in(batch.group, MF_MOTION_RIGID));
    MUST_FAIL(mf_motions_add(batch.group, &config.motions, &error), MF_BAD_ARGUMENT, "");
    batch_close(&batch);
    // Settings of other contacts, or none at all, and a start that is none.
    for (int which = 0; which < 3; which++) {
        batch_begin(&batch, 1);
        config = batch_config(HEXAPOD, MF_MOTION_ARTICULATED);
        if (which == 0)
            config.motions.struct_size = 0;
        else if (which == 1)
            config.motions.start = MF_MOTION_COUNT;
        else
            config.motions.articulated.base = MF_ARTICULATED_FIXED;
        MUST_FAIL(batch_try(&batch, config, &error), MF_BAD_ARGUMENT, "");
        batch_close(&batch);
    }
}

TEST(a_group_with_one_motion_answers_too) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, points_config(true));
    double center[3], linear[3], angular[3], expected[3][3];
    rig_set3(&rig, "base.linear_velocity", 1, 2, 3);
    rig_set3(&rig, "base.angular_velocity", 3, 2, 1);
    assert_int_equal(mf_motion_of(rig.group, 0), MF_MOTION_POINTS);
    mf_motion_momentum(rig.group, 0, center, linear, angular);
    mf_motion_momentum(rig.group, 0, expected[0], expected[1], expected[2]);
    assert_memory_equal(linear, expected[1], sizeof linear);
    assert_memory_equal(angular, expected[2], sizeof angular);
    assert_near(mf_motion_energy(rig.group, 0).kinetic, mf_motion_energy(rig.group, 0).kinetic, 0);
    MUST(mf_motion_switch(rig.group, 0, MF_MOTION_POINTS, &error));
    MUST_FAIL(mf_motion_switch(rig.group, 0, MF_MOTION_RIGID, &error), MF_BAD_ARGUMENT, "");
}

// Adds `motion` alone, by the function for all motions or by its own.
static mf_Status add_alone(mf_Group *group, mf_Motion motion, const mf_MotionsConfig *config,
                           bool own, mf_Error *error) {
    if (!own)
        return mf_motion_add(group, motion, config, error);
    switch (motion) {
    case MF_MOTION_KINEMATIC:
        return rig_add_kinematic(group, &config->kinematic, error);
    case MF_MOTION_POINTS:
        return rig_add_points(group, &config->points, error);
    case MF_MOTION_RIGID:
        return rig_add_rigid(group, &config->rigid, error);
    case MF_MOTION_PRESCRIBED:
        return rig_add_prescribed(group, &config->prescribed, error);
    default:
        return rig_add_articulated(group, &config->articulated, error);
    }
}

// A motion that is known at run time only is the same to the bit, with the settings that all share.
TEST(one_motion_is_added_by_its_number) {
    for (int i = 0; i < 2 * MF_MOTION_LEVELS; i++) {
        const mf_Motion motion = (mf_Motion)(i / 2);
        static uint64_t hash[2];
        AUTO(batch_close) Batch batch;
        mf_GroupConfig group = mf_group_config();
        mf_MotionsConfig config = mf_motions_config();
        batch_begin(&batch, 1);
        mf_motions_set_shapes(&config, true);
        mf_motions_set_control(&config, 20 * MF_MILLISECOND);
        MUST(mf_model_load(batch.context, HEXAPOD, NULL, &batch.model, &error));
        group.model = batch.model;
        MUST(mf_world_create(batch.context, NULL, &batch.world, &error));
        batch.group = add_group(batch.world, &group);
        MUST(add_alone(batch.group, motion, &config, i % 2, &error));
        assert_null(mf_group_find_field(batch.group, "motion.level"));
        assert_int_equal(mf_motion_of(batch.group, 0), motion);
        mf_world_step(batch.world, 40);
        hash[i % 2] = mf_world_hash(batch.world);
        assert_true(i % 2 == 0 || hash[0] == hash[1]);
        MUST_FAIL(mf_motion_add(batch.group, MF_MOTION_RIGID, NULL, &error), MF_BAD_ARGUMENT, "");
    }
}

TEST(a_motion_that_cannot_be_added_leaves_the_group_free) {
    AUTO(batch_close) Batch batch;
    mf_GroupConfig group = mf_group_config();
    batch_begin(&batch, 1);
    make_hexapod(&batch.hand);
    batch.hand.model.base = MF_BASE_FIXED;
    group.model = &batch.hand.model;
    MUST(mf_world_create(batch.context, NULL, &batch.world, &error));
    batch.group = add_group(batch.world, &group);
    MUST_FAIL_AS(mf_motion_add(batch.group, MF_MOTION_POINTS, NULL, &error), MF_UNSUPPORTED,
                 "points: the base of model hand is fixed in the world");
    MUST_FAIL_AS(mf_motion_add(batch.group, MF_MOTION_OWN, NULL, &error), MF_BAD_ARGUMENT,
                 "motion: 16 is not a motion");
    MUST_FAIL(mf_motion_add(batch.group, MF_MOTION_RIGID,
                            &WITH(mf_motions_config(), .struct_size = 0), &error),
              MF_BAD_ARGUMENT, "");
    assert_int_equal(mf_motion_of(batch.group, 0), MF_MOTION_COUNT);
    MUST(mf_motion_add(batch.group, MF_MOTION_KINEMATIC, NULL, &error));
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
        Batch batch;
        batch_begin(&batch, 1);
        mf_HandModel *hand = &batch.hand;
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
        mf_context_destroy(batch.context);
    }
}

// ---- memory -------------------------------------------------------------------------------------

static mf_Status make_and_change(mf_Context *context, void *user, mf_Error *error) {
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_MotionsConfig motions = mf_motions_config();
    for (int i = 0; i < MF_MOTION_LEVELS; i++)
        motions.has[i] = true;
    MF_TRY(
        try_group(context, NULL, &WITH(mf_group_config(), .model = user), &world, &group, error));
    MF_TRY(mf_motions_add(group, &motions, error));
    return mf_motion_switch(group, 0, MF_MOTION_KINEMATIC, error);
}

TEST(making_survives_every_failure) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model;
    MUST(mf_model_load(context, HEXAPOD, NULL, &model, &error));
    assert_true(torture(context, make_and_change, model, TORTURE_MUST_FAIL) > 60);
}
