// Robots that move by `kinematic` do not feel each other: alone or in any lane of any batch, on any
// instruction set and number of threads, the same bits; poison stays with its robot; images
// continue bit for bit; a step allocates nothing and making the motion survives every failure.
#include "motion/kinematic_stage.h"

#include "torture.h"

#include <stdlib.h>

static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_BASELINE, MF_ISA_AVX2, MF_ISA_AVX512};

enum { ROBOTS = 20, STEPS = 60, POISONED = 5, NEIGHBOURS = 16 };

typedef struct Options {
    bool double_precision, shapes;
    int ground; // 0: level, 1: bilinear, 2: nearest
} Options;

static const Options all_options[] = {
    {false, false, 0}, {true, false, 0}, {false, true, 1}, {true, true, 2}, {false, false, 2}};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

typedef struct Crowd {
    Stage stage;
    mf_Terrain *terrain;
    mf_Shape shapes[3];
} Crowd;

// Two legs with soles, a leg of slides, one of an oblique hinge and a ball joint; a free body.
static void build_mixed(Crowd *crowd) {
    mf_HandModel *hand = &crowd->stage.hand;
    const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0}, up[3] = {0, 0, 1};
    mf_hand_point(hand, 0, 0.01, 0, 0.1, 2.0, true);
    kin_leg(hand, 0.05);
    kin_leg(hand, -0.05);
    kin_post(hand, -0.15, 0, 0.21);
    uint32_t ball = mf_hand_hinge(hand, 0, 0.15, 0, 0, up);
    hand->joints[ball - 1].type = MF_JOINT_BALL;
    uint32_t tip = mf_hand_hinge(hand, ball, 0, 0, -0.1, oblique);
    mf_hand_point(hand, tip, 0, 0.01, -0.11, 0.1, true);
    uint32_t loose = mf_hand_hinge(hand, 0, -0.3, 0, 0.2, up);
    hand->joints[loose - 1].type = MF_JOINT_FLOATING;
    mf_hand_point(hand, loose, 0, 0, -0.41, 0.1, true);
    hand->joints[2].lower = -0.5;
    hand->joints[2].upper = 0.4;
    hand->joints[9].mimic = 3;
    hand->joints[9].multiplier = 0.9;
    const mf_Shape ground = {.collides = true, .rotation = {1, 0, 0, 0}};
    crowd->shapes[0] = crowd->shapes[1] = crowd->shapes[2] = ground;
    crowd->shapes[0].type = MF_SHAPE_SPHERE;
    crowd->shapes[0].link = tip;
    crowd->shapes[0].position[2] = -0.1;
    crowd->shapes[0].size[0] = 0.02;
    crowd->shapes[1].type = MF_SHAPE_CYLINDER;
    crowd->shapes[1].link = tip - 2;
    crowd->shapes[1].position[2] = -0.2;
    crowd->shapes[1].size[0] = 0.03;
    crowd->shapes[1].size[1] = 0.04;
    crowd->shapes[2].type = MF_SHAPE_ELLIPSOID;
    crowd->shapes[2].link = loose;
    crowd->shapes[2].position[2] = -0.4;
    crowd->shapes[2].size[0] = 0.01;
    crowd->shapes[2].size[1] = 0.02;
    crowd->shapes[2].size[2] = 0.03;
    hand->model.shapes = crowd->shapes;
    hand->model.shape_count = 3;
}

// Robots begin in the air, tilted, or on the ground; their joints swing.
static void place_robot(const Crowd *crowd, uint32_t instance, uint32_t number) {
    mf_Field *place = stage_field(&crowd->stage, "base.position");
    mf_Field *turn = stage_field(&crowd->stage, "base.orientation");
    double tilt = number % 3 == 0 ? 0.0 : 0.05 * random_signed(301, number);
    mf_field_set(place, instance, 0, random_signed(300, number));
    mf_field_set(place, instance, 2,
                 mf_field_get(place, instance, 2) + (number % 4 == 1 ? 0.02 : 0.0));
    mf_field_set(turn, instance, 0, cos(tilt));
    mf_field_set(turn, instance, 1, sin(tilt));
}

static void drive(const mf_SystemRun *run, void *user) {
    const uint32_t first = *(const uint32_t *)user;
    mf_Field *target = mf_group_find_field(run->group, "joint.target");
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK && i < mf_group_count(run->group);
         i++)
        for (uint32_t j = 0; j < target->components; j++) {
            uint64_t key = ((first + i) * 64 + j) * 64 + run->tick / 4 % 64;
            // Poison is not written over.
            if (mf_field_get(target, i, j) - mf_field_get(target, i, j) == 0.0)
                mf_field_set(target, i, j, 0.15 * random_signed(302, key));
        }
}

static void crowd_open(Crowd *crowd, const Options *options, mf_Isa isa, uint32_t threads,
                       uint32_t first, uint32_t count) {
    static uint32_t firsts[64]; // by first robot, so that it outlives the call
    KinConfig config = kin_config(2 * MF_MILLISECOND);
    mf_Error error = {0};
    memset(crowd, 0, sizeof *crowd);
    stage_begin(&crowd->stage, threads);
    build_mixed(crowd);
    config.world.isa = isa;
    config.group.count = count;
    config.group.double_precision = options->double_precision;
    config.motion.shapes = options->shapes;
    if (options->ground > 0)
        crowd->terrain =
            make_terrain(crowd->stage.context, MF_TERRAIN_NOISE,
                         options->ground == 1 ? MF_BILINEAR : MF_NEAREST, 0.02, 1.0, 0.1);
    config.world.terrain = crowd->terrain;
    kin_open(&crowd->stage, &config);
    mf_SystemConfig system = mf_system_config();
    firsts[first] = first;
    system.name = "drive";
    system.phase = MF_PHASE_CONTROL;
    system.run = drive;
    system.user = &firsts[first];
    must(mf_group_add_system(crowd->stage.group, &system, &error), &error);
    for (uint32_t i = 0; i < count; i++)
        place_robot(crowd, i, first + i);
}

static void crowd_close(Crowd *crowd) {
    stage_close(&crowd->stage, crowd->terrain);
}

static void alone_is_the_same_as_in_any_lane(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        uint64_t hash[ROBOTS];
        uint32_t stood = 0;
        static Crowd crowd;
        for (uint32_t r = 0; r < ROBOTS; r++) {
            crowd_open(&crowd, &all_options[o], MF_ISA_SCALAR, 1, r, 1);
            mf_world_step(crowd.stage.world, STEPS);
            assert_int_equal(mf_group_fault_total(crowd.stage.group), 0);
            stood += kin_standing(&crowd.stage);
            hash[r] = mf_group_instance_hash(crowd.stage.group, 0);
            crowd_close(&crowd);
        }
        assert_true(stood >= ROBOTS); // or the comparison would say little
        for (size_t s = 0; s < sizeof isas / sizeof *isas; s++) {
            if (!mf_isa_available(isas[s]))
                continue;
            for (uint32_t count = 1; count <= ROBOTS; count += 3) {
                uint32_t first = (count * 7) % (ROBOTS - count + 1);
                crowd_open(&crowd, &all_options[o], isas[s], 1, first, count);
                mf_world_step(crowd.stage.world, STEPS);
                for (uint32_t i = 0; i < count; i++)
                    if (mf_group_instance_hash(crowd.stage.group, i) != hash[first + i])
                        fail_msg("options %zu, %s, %u robots: robot %u in lane %u differs", o,
                                 mf_isa_name(isas[s]), count, first + i, i);
                crowd_close(&crowd);
            }
        }
    }
}

static void threads_do_not_show(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        uint64_t expected = 0;
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            static Crowd crowd;
            crowd_open(&crowd, &all_options[o], MF_ISA_AUTO, threads, 0, 200);
            mf_world_step(crowd.stage.world, STEPS);
            uint64_t hash = mf_world_hash(crowd.stage.world);
            expected = threads == 1 ? hash : expected;
            assert_true(hash == expected);
            crowd_close(&crowd);
        }
    }
}

// No neighbour changes by a bit; the robot raises the right word, or nobody read the value.
static void poison(const Options *options, Crowd *clean, const char *name, uint32_t component,
                   double value) {
    static Crowd crowd;
    crowd_open(&crowd, options, MF_ISA_AUTO, 1, 0, NEIGHBOURS);
    mf_world_step(crowd.stage.world, 30);
    mf_field_set(stage_field(&crowd.stage, name), POISONED, component, value);
    mf_world_step(crowd.stage.world, 5);
    for (uint32_t i = 0; i < NEIGHBOURS; i++)
        if (i != POISONED && mf_group_instance_hash(crowd.stage.group, i) !=
                                 mf_group_instance_hash(clean->stage.group, i))
            fail_msg("%s[%u] = %g: neighbour %u changed", name, component, value, i);
    uint32_t word = mf_group_fault(crowd.stage.group, POISONED);
    uint32_t expected = strcmp(name, "joint.target") == 0 ? MF_FAULT_INPUT : MF_FAULT_NONFINITE;
    bool unread = word == 0;
    for (uint32_t c = 0; c < 3; c++)
        unread =
            unread && mf_field_get(stage_field(&crowd.stage, "base.position"), POISONED, c) ==
                          mf_field_get(stage_field(&clean->stage, "base.position"), POISONED, c);
    if (!unread && word != expected)
        fail_msg("%s[%u] = %g: fault word %u, expected %u", name, component, value, word, expected);
    crowd_close(&crowd);
}

static void poison_stays_with_its_robot(void **state) {
    (void)state;
    for (size_t o = 0; o < 4; o += 3) {
        static Crowd clean;
        crowd_open(&clean, &all_options[o], MF_ISA_AUTO, 1, 0, NEIGHBOURS);
        mf_world_step(clean.stage.world, 35);
        for (uint32_t f = 0; f < mf_group_field_count(clean.stage.group); f++) {
            const mf_Field *field = mf_group_field(clean.stage.group, f);
            for (uint32_t c = 0; c < field->components && field->info.type != MF_U32; c++) {
                poison(&all_options[o], &clean, field->info.name, c, (double)NAN);
                poison(&all_options[o], &clean, field->info.name, c, -(double)INFINITY);
            }
        }
        crowd_close(&clean);
    }
}

static void images_continue_bit_for_bit(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        static Crowd first, other;
        crowd_open(&first, &all_options[o], MF_ISA_SCALAR, 1, 0, ROBOTS);
        mf_world_step(first.stage.world, 37);
        size_t size = mf_world_snapshot_size(first.stage.world);
        void *image = malloc(size);
        assert_non_null(image);
        assert_int_equal(mf_world_snapshot(first.stage.world, image, size, NULL), MF_OK);
        mf_world_step(first.stage.world, 30);
        crowd_open(&other, &all_options[o], MF_ISA_AUTO, 2, 0, ROBOTS);
        mf_world_step(other.stage.world, 11);
        assert_int_equal(mf_world_restore(other.stage.world, image, size, NULL), MF_OK);
        mf_world_step(other.stage.world, 30);
        assert_true(mf_world_hash(other.stage.world) == mf_world_hash(first.stage.world));
        free(image);
        crowd_close(&other);
        crowd_close(&first);
    }
}

// An image is refused where the motion has other settings.
static void images_of_other_settings_are_refused(void **state) {
    (void)state;
    Stage stages[2];
    size_t size = 0;
    void *image = NULL;
    for (int i = 0; i < 2; i++) {
        KinConfig config = kin_config(MF_MILLISECOND);
        config.motion.settle_time = i == 0 ? 0.02 : 0.03;
        stage_begin(&stages[i], 1);
        kin_biped(&stages[i].hand);
        kin_open(&stages[i], &config);
        if (i == 0) {
            size = mf_world_snapshot_size(stages[0].world);
            image = malloc(size);
            assert_int_equal(mf_world_snapshot(stages[0].world, image, size, NULL), MF_OK);
        }
        assert_int_equal(mf_world_restore(stages[i].world, image, size, NULL),
                         i == 0 ? MF_OK : MF_BAD_ARGUMENT);
    }
    free(image);
    stage_close(&stages[0], NULL);
    stage_close(&stages[1], NULL);
}

static void a_reset_robot_starts_again(void **state) {
    (void)state;
    static Crowd crowd;
    crowd_open(&crowd, &all_options[0], MF_ISA_AUTO, 1, 0, NEIGHBOURS);
    mf_group_reset_all(crowd.stage.group);
    uint64_t fresh = mf_group_instance_hash(crowd.stage.group, POISONED);
    mf_world_step(crowd.stage.world, 50);
    assert_true(mf_group_instance_hash(crowd.stage.group, POISONED) != fresh);
    mf_group_reset(crowd.stage.group, POISONED);
    assert_true(mf_group_instance_hash(crowd.stage.group, POISONED) == fresh);
    crowd_close(&crowd);
}

static void a_step_allocates_nothing(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        static Crowd crowd;
        crowd_open(&crowd, &all_options[o], MF_ISA_AUTO, 1 + (uint32_t)o % 2, 0, ROBOTS);
        uint64_t calls = mf_context_call_count(crowd.stage.context);
        size_t bytes = mf_context_live_bytes(crowd.stage.context);
        mf_world_step(crowd.stage.world, 20);
        assert_int_equal(mf_context_call_count(crowd.stage.context), calls);
        assert_int_equal(mf_context_live_bytes(crowd.stage.context), bytes);
        crowd_close(&crowd);
    }
}

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    static Crowd crowd;
    (void)user;
    mf_hand_start(&crowd.stage.hand, context);
    build_mixed(&crowd);
    mf_World *world = NULL;
    mf_Group *group = NULL;
    mf_GroupConfig config = mf_group_config();
    config.model = &crowd.stage.hand.model;
    config.count = 20;
    mf_Status status = mf_world_create(context, NULL, &world, error);
    if (status != MF_OK)
        return status;
    status = mf_world_add_group(world, &config, &group, error);
    if (status == MF_OK)
        status = mf_kinematic_add(group, NULL, error);
    mf_world_step(world, 2); // a group without its motion can be stepped, too
    mf_world_destroy(world);
    return status;
}

static void making_survives_every_failure(void **state) {
    (void)state;
    mf_Context *context = make_context(1);
    assert_true(torture(context, make_and_step, NULL, TORTURE_MUST_FAIL) > 30);
    mf_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_the_same_as_in_any_lane),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(poison_stays_with_its_robot),
        cmocka_unit_test(images_continue_bit_for_bit),
        cmocka_unit_test(images_of_other_settings_are_refused),
        cmocka_unit_test(a_reset_robot_starts_again),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(making_survives_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
