// Robots that move by `rigid` or `prescribed` do not feel each other: alone or in any lane of any
// batch, on any instruction set and number of threads, the same bits; poison stays with its robot;
// images continue bit for bit; a step allocates nothing and making a motion survives every failure.
#include "motion/driven_stage.h"

#include "torture.h"

#include <stdlib.h>

static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_BASELINE, MF_ISA_AVX2, MF_ISA_AVX512};

enum { ROBOTS = 20, STEPS = 60, JOINTS = 7 };

typedef struct Options {
    mf_Motion motion;
    mf_ArticulatedIntegrator integrator;
    bool double_precision, shapes, fixed;
    mf_Interpolation interpolation;
} Options;

static const Options all_options[] = {
    {MF_MOTION_RIGID, MF_ARTICULATED_IMPLICIT, false, false, false, MF_BILINEAR},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_IMPLICIT, false, true, false, MF_BILINEAR},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_IMPLICIT, true, false, false, MF_NEAREST},
    {MF_MOTION_RIGID, MF_ARTICULATED_EULER, true, true, false, MF_NEAREST},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_RK4, false, true, false, MF_BILINEAR},
    {MF_MOTION_RIGID, MF_ARTICULATED_RK4, true, false, false, MF_BILINEAR},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_IMPLICIT, false, false, true, MF_BILINEAR},
};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

typedef struct Crowd {
    Stage stage;
    mf_Terrain *terrain;
    mf_Shape shapes[3];
    uint32_t first;
} Crowd;

// The flailer with feet of every kind, a joint that follows another, limits and speeds.
static void build_mixed(Crowd *crowd) {
    mf_HandModel *hand = &crowd->stage.hand;
    make_flailer(hand, true);
    hand->joints[5].mimic = 4;
    hand->joints[5].multiplier = -1.5;
    hand->joints[5].offset = 0.1;
    for (uint32_t j = 0; j < JOINTS - 1; j++) {
        hand->joints[j].lower = -0.8;
        hand->joints[j].upper = 0.7;
        hand->joints[j].speed = 6.0;
    }
    const mf_ShapeType types[3] = {MF_SHAPE_SPHERE, MF_SHAPE_CYLINDER, MF_SHAPE_ELLIPSOID};
    const uint32_t links[3] = {2, 4, 5};
    for (int i = 0; i < 3; i++)
        crowd->shapes[i] = (mf_Shape){.type = types[i],
                                      .link = links[i],
                                      .collides = true,
                                      .position = {0, 0.01, -0.1},
                                      .rotation = {1, 0, 0, 0},
                                      .size = {0.05, 0.08, 0.06},
                                      .dimension = 6,
                                      .friction = {0.8, 0.01, 0.005}};
    hand->model.shapes = crowd->shapes;
    hand->model.shape_count = 3;
}

static void place_robot(const Crowd *crowd, uint32_t instance, uint32_t number) {
    mf_Group *group = crowd->stage.group;
    static const char *const names[] = {"base.position",         "base.linear_velocity",
                                        "base.angular_velocity", "joint.rate",
                                        "joint.angle",           "joint.target"};
    for (uint32_t f = 0; f < sizeof names / sizeof *names; f++) {
        mf_Field *field = mf_group_find_field(group, names[f]);
        for (uint32_t c = 0; c < field->components; c++)
            mf_field_set(field, instance, c,
                         (f == 0 ? 0.3 : 0.6) * random_signed(300 + f, number * 16 + c) +
                             (f == 0 && c == 2 ? 0.35 : 0.0));
    }
    mf_field_set(mf_group_find_field(group, "base.force"), instance, 0, random_signed(320, number));
}

static void steer(const mf_SystemRun *run, void *user) {
    const Crowd *crowd = user;
    mf_Field *target = mf_group_find_field(run->group, "joint.target");
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++)
        for (uint32_t i = b * MF_BLOCK; i < (b + 1) * MF_BLOCK && i < mf_group_count(run->group);
             i++)
            for (uint32_t j = 0; j < JOINTS; j++)
                mf_field_set(target, i, j,
                             random_signed(330, (run->tick * 64 + crowd->first + i) * 16 + j));
}

static DrivenStageConfig crowd_config(const Options *options) {
    DrivenStageConfig config = driven_config(
        options->motion, options->integrator,
        options->integrator == MF_ARTICULATED_IMPLICIT ? 5 * MF_MILLISECOND : MF_MILLISECOND);
    config.group.double_precision = options->double_precision;
    config.rigid.shapes = config.prescribed.shapes = options->shapes;
    config.rigid.base = config.prescribed.base =
        options->fixed ? MF_ARTICULATED_FIXED : MF_ARTICULATED_FREE;
    config.rigid.contact_time = config.prescribed.contact_time = 0.02;
    config.rigid.slip_speed = config.prescribed.slip_speed = 0.05;
    config.rigid.friction_rate = config.prescribed.friction_rate = 0.05;
    config.rigid.spin_friction = 0.01;
    return config;
}

static void crowd_open(Crowd *crowd, const Options *options, mf_Isa isa, uint32_t threads,
                       uint32_t first, uint32_t count) {
    DrivenStageConfig config = crowd_config(options);
    mf_Error error = {0};
    stage_begin(&crowd->stage, threads);
    build_mixed(crowd);
    config.world.isa = isa;
    config.group.count = count;
    crowd->terrain = make_terrain(crowd->stage.context, MF_TERRAIN_NOISE, options->interpolation,
                                  0.05, 1.0, 0.1);
    config.world.terrain = crowd->terrain;
    driven_open(&crowd->stage, NULL, &config);
    crowd->first = first;
    mf_SystemConfig system = mf_system_config();
    system.name = "steer";
    system.phase = MF_PHASE_CONTROL;
    system.rate = (mf_Rate){100, 1};
    system.run = steer;
    system.user = crowd;
    must(mf_group_add_system(crowd->stage.group, &system, &error), &error);
    for (uint32_t i = 0; i < count; i++)
        place_robot(crowd, i, first + i);
}

static void crowd_close(Crowd *crowd) {
    stage_close(&crowd->stage, crowd->terrain);
}

static void explain(Crowd *a, uint32_t ia, Crowd *b, uint32_t ib) {
    for (uint32_t f = 0; f < mf_group_field_count(a->stage.group); f++) {
        mf_Field *x = mf_group_field(a->stage.group, f), *y = mf_group_field(b->stage.group, f);
        for (uint32_t c = 0; c < x->components; c++) {
            double p = mf_field_get(x, ia, c), q = mf_field_get(y, ib, c);
            if (memcmp(&p, &q, sizeof p) != 0)
                print_error("  %s[%u]: %.17g, %.17g\n", x->info.name, c, p, q);
        }
    }
}

static void alone_is_the_same_as_in_any_lane(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        static Crowd alone[ROBOTS];
        uint64_t hash[ROBOTS];
        for (uint32_t r = 0; r < ROBOTS; r++) {
            crowd_open(&alone[r], &all_options[o], MF_ISA_SCALAR, 1, r, 1);
            mf_world_step(alone[r].stage.world, STEPS);
            assert_int_equal(mf_group_fault_total(alone[r].stage.group), 0);
            hash[r] = mf_group_instance_hash(alone[r].stage.group, 0);
        }
        for (size_t s = 0; s < sizeof isas / sizeof *isas; s++) {
            if (!mf_isa_available(isas[s]))
                continue;
            for (uint32_t count = 1; count <= ROBOTS; count += 3) {
                uint32_t first = (count * 7) % (ROBOTS - count + 1);
                static Crowd crowd;
                crowd_open(&crowd, &all_options[o], isas[s], 1, first, count);
                mf_world_step(crowd.stage.world, STEPS);
                for (uint32_t i = 0; i < count; i++) {
                    if (mf_group_instance_hash(crowd.stage.group, i) == hash[first + i])
                        continue;
                    print_error("options %zu, %s, %u robots: robot %u in lane %u differs\n", o,
                                mf_isa_name(isas[s]), count, first + i, i);
                    explain(&alone[first + i], 0, &crowd, i);
                    fail();
                }
                crowd_close(&crowd);
            }
        }
        for (uint32_t r = 0; r < ROBOTS; r++)
            crowd_close(&alone[r]);
    }
}

// The robots above do touch the ground, or the comparison would say little.
static void robots_touch_the_ground(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS - 1; o++) {
        Crowd crowd;
        crowd_open(&crowd, &all_options[o], MF_ISA_AUTO, 1, 0, ROBOTS);
        uint32_t loaded = 0;
        mf_Field *load = stage_field(&crowd.stage, "contact.load");
        for (int n = 0; n < STEPS; n++) {
            mf_world_step(crowd.stage.world, 1);
            for (uint32_t i = 0; i < ROBOTS; i++)
                for (uint32_t c = 0; c < load->components; c++)
                    loaded += mf_field_get(load, i, c) > 0.0;
        }
        assert_true(loaded > ROBOTS);
        crowd_close(&crowd);
    }
}

static void threads_do_not_show(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        uint64_t expected = 0;
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            Crowd crowd;
            crowd_open(&crowd, &all_options[o], MF_ISA_AUTO, threads, 0, 200);
            mf_world_step(crowd.stage.world, STEPS);
            uint64_t hash = mf_world_hash(crowd.stage.world);
            expected = threads == 1 ? hash : expected;
            assert_true(hash == expected);
            crowd_close(&crowd);
        }
    }
}

// ---- poison -------------------------------------------------------------------------------------

enum { POISONED = 5, NEIGHBOURS = 16 };

static uint32_t word_of(const char *field) {
    bool input = strcmp(field, "joint.target") == 0 || strcmp(field, "base.force") == 0 ||
                 strcmp(field, "base.torque") == 0;
    return input ? MF_FAULT_INPUT : MF_FAULT_NONFINITE;
}

// No neighbour changes by a bit; the robot raises the right word, or nobody read the value.
static void poison(const Options *options, Crowd *clean, const char *name, uint32_t component,
                   double value) {
    Crowd crowd;
    crowd_open(&crowd, options, MF_ISA_AUTO, 1, 0, NEIGHBOURS);
    mf_world_step(crowd.stage.world, 30);
    mf_field_set(stage_field(&crowd.stage, name), POISONED, component, value);
    mf_world_step(crowd.stage.world, 5);
    for (uint32_t i = 0; i < NEIGHBOURS; i++)
        if (i != POISONED && mf_group_instance_hash(crowd.stage.group, i) !=
                                 mf_group_instance_hash(clean->stage.group, i))
            fail_msg("%s[%u] = %g: neighbour %u changed", name, component, value, i);
    uint32_t word = mf_group_fault(crowd.stage.group, POISONED);
    bool unread =
        word == 0 && mf_field_get(stage_field(&crowd.stage, "base.position"), POISONED, 2) ==
                         mf_field_get(stage_field(&clean->stage, "base.position"), POISONED, 2);
    if (!unread && word != word_of(name))
        fail_msg("%s[%u] = %g: fault word %u, expected %u", name, component, value, word,
                 word_of(name));
    crowd_close(&crowd);
}

static void poison_stays_with_its_robot(void **state) {
    (void)state;
    for (size_t o = 0; o < 2; o++) {
        Crowd clean;
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

// A target that is read while it is not a number stops the robot.
static void a_poisoned_target_is_an_input_fault(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        Stage stage;
        DrivenStageConfig config = driven_config(i == 0 ? MF_MOTION_RIGID : MF_MOTION_PRESCRIBED,
                                                 MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        stage_begin(&stage, 1);
        make_flailer(&stage.hand, false);
        driven_open(&stage, NULL, &config);
        stage_set(&stage, "joint.target", 2, (double)NAN);
        mf_world_step(stage.world, 1);
        assert_int_equal(mf_group_fault(stage.group, 0), MF_FAULT_INPUT);
        stage_close(&stage, NULL);
    }
}

static void a_reset_robot_starts_again(void **state) {
    (void)state;
    for (size_t o = 0; o < 2; o++) {
        Crowd crowd;
        crowd_open(&crowd, &all_options[o], MF_ISA_AUTO, 1, 0, NEIGHBOURS);
        mf_group_reset_all(crowd.stage.group);
        uint64_t fresh = mf_group_instance_hash(crowd.stage.group, POISONED);
        place_robot(&crowd, POISONED, 3);
        mf_world_step(crowd.stage.world, 50);
        assert_true(mf_group_instance_hash(crowd.stage.group, POISONED) != fresh);
        mf_group_reset(crowd.stage.group, POISONED);
        assert_true(mf_group_instance_hash(crowd.stage.group, POISONED) == fresh);
        crowd_close(&crowd);
    }
}

// ---- images, memory -----------------------------------------------------------------------------

static void images_continue_bit_for_bit(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        Crowd first, other;
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
        DrivenStageConfig config =
            driven_config(MF_MOTION_RIGID, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        config.rigid.separation = i == 0 ? 0.1 : 0.2;
        stage_begin(&stages[i], 1);
        make_flailer(&stages[i].hand, false);
        driven_open(&stages[i], NULL, &config);
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

static void a_step_allocates_nothing(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        Crowd crowd;
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
    const mf_Motion *motion = user;
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
        status = *motion == MF_MOTION_RIGID ? mf_rigid_add(group, NULL, error)
                                            : mf_prescribed_add(group, NULL, error);
    mf_world_step(world, 2); // a group without its motion can be stepped, too
    mf_world_destroy(world);
    return status;
}

static void making_survives_every_failure(void **state) {
    (void)state;
    mf_Motion motions[2] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED};
    for (int i = 0; i < 2; i++) {
        mf_Context *context = make_context(1);
        assert_true(torture(context, make_and_step, &motions[i], TORTURE_MUST_FAIL) > 30);
        mf_context_destroy(context);
    }
}

static void break_config(mf_RigidConfig *config, int which) {
    double *values[] = {&config->contact_stiffness, &config->contact_time,  &config->separation,
                        &config->friction,          &config->spin_friction, &config->friction_rate,
                        &config->slip_speed,        &config->contact_depth};
    if (which < 16)
        *values[which / 2] = which % 2 == 0 ? (double)INFINITY : -1.0;
    else if (which == 16)
        config->struct_size = 0;
    else
        config->control_interval = which == 17   ? 0
                                   : which == 18 ? -MF_MILLISECOND
                                                 : 15 * MF_MILLISECOND;
}

static void bad_settings_are_refused(void **state) {
    (void)state;
    for (int which = 0; which < 20; which++) {
        Crowd crowd;
        stage_begin(&crowd.stage, 1);
        build_mixed(&crowd);
        mf_GroupConfig group = mf_group_config();
        mf_RigidConfig config = mf_rigid_config();
        mf_Error error = {0};
        group.model = &crowd.stage.hand.model;
        must(mf_world_create(crowd.stage.context, NULL, &crowd.stage.world, &error), &error);
        must(mf_world_add_group(crowd.stage.world, &group, &crowd.stage.group, &error), &error);
        size_t bytes = mf_context_live_bytes(crowd.stage.context);
        break_config(&config, which);
        if (mf_rigid_add(crowd.stage.group, &config, &error) != MF_BAD_ARGUMENT)
            fail_msg("setting %d was not refused", which);
        if (strncmp(error.message, "rigid", 5) != 0)
            fail_msg("setting %d: %s", which, error.message);
        assert_int_equal(mf_context_live_bytes(crowd.stage.context), bytes);
        assert_null(mf_rigid_settings(crowd.stage.group));
        must(mf_rigid_add(crowd.stage.group, NULL, &error), &error);
        assert_int_equal(mf_rigid_add(crowd.stage.group, NULL, &error), MF_BAD_ARGUMENT);
        stage_close(&crowd.stage, NULL);
    }
}

// What cannot be told where to go is refused by name, with the motion that can move it.
static void floating_joints_are_refused(void **state) {
    (void)state;
    Stage stage;
    mf_Error error = {0};
    mf_GroupConfig group = mf_group_config();
    stage_begin(&stage, 1);
    make_flailer(&stage.hand, true);
    stage.hand.joints[JOINTS - 1].type = MF_JOINT_FLOATING;
    stage.hand.joints[JOINTS - 1].name = "loose";
    group.model = &stage.hand.model;
    must(mf_world_create(stage.context, NULL, &stage.world, &error), &error);
    must(mf_world_add_group(stage.world, &group, &stage.group, &error), &error);
    assert_int_equal(mf_prescribed_add(stage.group, NULL, &error), MF_UNSUPPORTED);
    assert_non_null(strstr(error.message, "loose"));
    assert_non_null(strstr(error.message, "articulated"));
    stage_close(&stage, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_the_same_as_in_any_lane),
        cmocka_unit_test(robots_touch_the_ground),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(poison_stays_with_its_robot),
        cmocka_unit_test(a_poisoned_target_is_an_input_fault),
        cmocka_unit_test(a_reset_robot_starts_again),
        cmocka_unit_test(images_continue_bit_for_bit),
        cmocka_unit_test(images_of_other_settings_are_refused),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(making_survives_every_failure),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(floating_joints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
