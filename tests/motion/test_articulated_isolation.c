// Robots that move by `articulated` do not feel each other: alone or in any lane of any batch, on
// any instruction set and number of threads, the same bits; poison stays with its robot; images
// continue bit for bit; a step allocates nothing and making the motion survives every failure.
#include "motion/articulated_stage.h"

#include "torture.h"

#include <stdlib.h>

static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_BASELINE, MF_ISA_AVX2, MF_ISA_AVX512};

enum { ROBOTS = 20, STEPS = 60 };

typedef struct Options {
    mf_ArticulatedIntegrator integrator;
    bool double_precision, shapes, fixed;
    mf_Interpolation interpolation;
} Options;

static const Options all_options[] = {
    {MF_ARTICULATED_IMPLICIT, false, false, false, MF_BILINEAR},
    {MF_ARTICULATED_IMPLICIT, true, true, false, MF_NEAREST},
    {MF_ARTICULATED_EULER, false, true, false, MF_BILINEAR},
    {MF_ARTICULATED_RK4, false, false, false, MF_BILINEAR},
    {MF_ARTICULATED_RK4, true, false, true, MF_NEAREST},
};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

typedef struct Crowd {
    Stage stage;
    mf_Terrain *terrain;
    mf_Shape shapes[2];
    mf_Actuator actuators[2];
    uint32_t first;
} Crowd;

// A base with two legs of oblique hinges, a ball joint, a slide, and a free body that belongs to
// the same model.
static void build_mixed(Crowd *crowd) {
    mf_HandModel *hand = &crowd->stage.hand;
    const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0}, up[3] = {0, 0, 1};
    art_body(hand, 0, 3.0, 0.01, 0, 0, 0.02, 0.03, 0.03);
    for (int side = -1; side <= 1; side += 2) {
        uint32_t thigh = mf_hand_hinge(hand, 0, 0, 0.1 * side, 0, oblique);
        art_body(hand, thigh, 0.5, 0, 0, -0.1, 0.002, 0.002, 0.001);
        uint32_t shin = mf_hand_slide(hand, thigh, 0, 0, -0.2, up);
        art_body(hand, shin, 0.3, 0, 0, -0.05, 0.001, 0.001, 0.0005);
        mf_hand_point(hand, shin, 0, 0, -0.15, 0.0, true);
        hand->joints[shin - 1].lower = -0.05;
        hand->joints[shin - 1].upper = 0.05;
        hand->joints[thigh - 1].friction = 0.05;
        hand->joints[thigh - 1].damping = 0.05;
        hand->joints[thigh - 1].stiffness = 0.5;
    }
    uint32_t head = mf_hand_hinge(hand, 0, 0.1, 0, 0.1, up);
    hand->joints[head - 1].type = MF_JOINT_BALL;
    hand->joints[head - 1].damping = 0.01;
    art_body(hand, head, 0.4, 0.05, 0, 0.05, 0.001, 0.002, 0.001);
    uint32_t loose = mf_hand_hinge(hand, 0, -0.3, 0, 0.2, up);
    hand->joints[loose - 1].type = MF_JOINT_FLOATING;
    art_body(hand, loose, 0.2, 0, 0, 0, 0.0005, 0.0005, 0.0005);
    mf_hand_point(hand, loose, 0, 0, -0.05, 0.0, true);
    mf_hand_point(hand, 0, 0, 0, -0.1, 0.0, true);
    crowd->shapes[0] = (mf_Shape){.type = MF_SHAPE_SPHERE,
                                  .link = 2,
                                  .collides = true,
                                  .position = {0, 0, -0.1},
                                  .rotation = {1, 0, 0, 0},
                                  .size = {0.05, 0, 0}};
    crowd->shapes[1] = (mf_Shape){.type = MF_SHAPE_CYLINDER,
                                  .link = 4,
                                  .collides = true,
                                  .position = {0, 0, -0.1},
                                  .rotation = {1, 0, 0, 0},
                                  .size = {0.03, 0.1, 0}};
    hand->model.shapes = crowd->shapes;
    hand->model.shape_count = 2;
    // A position servo with a lag on a thigh and a thruster on a shin.
    crowd->actuators[0] = (mf_Actuator){.name = "servo",
                                        .drive = MF_DRIVE_JOINT,
                                        .dynamics = MF_DYNAMICS_FILTER,
                                        .joint = 0,
                                        .gear = {1.5, 0, 0, 0, 0, 0},
                                        .gain = {3, 0, 0},
                                        .bias = {0, -3, -0.1},
                                        .time_constant = 0.05,
                                        .control_lower = -0.5,
                                        .control_upper = 0.5,
                                        .force_lower = -1.0,
                                        .force_upper = 1.0,
                                        .activation_lower = -1.0,
                                        .activation_upper = 1.0};
    crowd->actuators[1] = (mf_Actuator){.name = "thruster",
                                        .drive = MF_DRIVE_SITE,
                                        .reference_site = MF_NONE,
                                        .frame = {.link = 4, .rotation = {1, 0, 0, 0}},
                                        .gear = {0, 0, 1, 0, 0.1, 0},
                                        .gain = {1, 0, 0},
                                        .control_lower = -INFINITY,
                                        .control_upper = INFINITY,
                                        .force_lower = -INFINITY,
                                        .force_upper = INFINITY};
    hand->model.actuators = crowd->actuators;
    hand->model.actuator_count = 2;
    hand->links[head].lift_mass = 0.2;
    hand->links[head].lift_moment[0] = 0.01;
}

static void place_robot(const Crowd *crowd, uint32_t instance, uint32_t number) {
    static const char *const names[] = {"base.position", "base.linear_velocity",
                                        "base.angular_velocity", "joint.rate"};
    for (uint32_t f = 0; f < 4; f++) {
        mf_Field *field = stage_field(&crowd->stage, names[f]);
        for (uint32_t c = 0; c < field->components; c++) {
            double value = random_signed(300 + f, number * 16 + c) * (f == 0 ? 0.1 : 1.0);
            double start = mf_field_get(field, instance, c);
            if (f == 0 && c == 2)
                value = number % 4 == 1 ? 10.0 : number % 4 == 2 ? 1.0 : 0.2;
            mf_field_set(field, instance, c, start + value);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        mf_field_set(stage_field(&crowd->stage, "actuator.control"), instance, i,
                     random_signed(312, number * 2 + i));
    for (uint32_t j = 0; j < 4; j++) {
        mf_field_set(stage_field(&crowd->stage, "joint.torque"), instance, j,
                     random_signed(310, number * 16 + j));
        mf_field_set(stage_field(&crowd->stage, "joint.target"), instance, j,
                     random_signed(311, number * 16 + j));
    }
}

static void crowd_open(Crowd *crowd, const Options *options, mf_Isa isa, uint32_t threads,
                       uint32_t first, uint32_t count) {
    ArtConfig config = art_config(
        options->integrator,
        options->integrator == MF_ARTICULATED_IMPLICIT ? 5 * MF_MILLISECOND : MF_MILLISECOND);
    stage_begin(&crowd->stage, threads);
    build_mixed(crowd);
    config.world.isa = isa;
    config.group.count = count;
    config.group.double_precision = options->double_precision;
    config.motion.shapes = options->shapes;
    config.motion.base = options->fixed ? MF_ARTICULATED_FIXED : MF_ARTICULATED_FREE;
    config.motion.contact_time = 0.02;
    config.motion.limit_time = 0.02;
    config.motion.friction_rate = 0.05;
    config.motion.slip_speed = 0.05;
    config.motion.servo.gain = 2.0;
    config.motion.servo.damping = 0.1;
    config.motion.servo.effort = 1.0;
    config.motion.servo.speed = 3.0;
    config.motion.servo.backlash = 0.01;
    crowd->terrain = make_terrain(crowd->stage.context, MF_TERRAIN_NOISE, options->interpolation,
                                  0.05, 1.0, 0.1);
    config.world.terrain = crowd->terrain;
    art_open(&crowd->stage, &config);
    crowd->first = first;
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
    for (size_t o = 0; o < 3; o++) {
        Crowd crowd;
        crowd_open(&crowd, &all_options[o], MF_ISA_SCALAR, 1, 0, ROBOTS);
        uint32_t loaded = 0;
        mf_Field *load = stage_field(&crowd.stage, "contact.load");
        for (int n = 0; n < STEPS * 5; n++) {
            mf_world_step(crowd.stage.world, 1);
            for (uint32_t i = 0; i < ROBOTS; i++)
                loaded += mf_field_get(load, i, 0) > 0.0;
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
    bool input = strcmp(field, "joint.target") == 0 || strcmp(field, "joint.torque") == 0 ||
                 strcmp(field, "base.force") == 0 || strcmp(field, "base.torque") == 0 ||
                 strcmp(field, "ball.torque") == 0 || strcmp(field, "actuator.control") == 0;
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
    for (size_t o = 0; o < OPTIONS; o += 2) {
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

static void a_reset_robot_starts_again(void **state) {
    (void)state;
    Crowd crowd;
    crowd_open(&crowd, &all_options[0], MF_ISA_AUTO, 1, 0, NEIGHBOURS);
    mf_group_reset_all(crowd.stage.group);
    uint64_t fresh = mf_group_instance_hash(crowd.stage.group, POISONED);
    place_robot(&crowd, POISONED, 3);
    mf_world_step(crowd.stage.world, 50);
    assert_true(mf_group_instance_hash(crowd.stage.group, POISONED) != fresh);
    mf_group_reset(crowd.stage.group, POISONED);
    assert_true(mf_group_instance_hash(crowd.stage.group, POISONED) == fresh);
    crowd_close(&crowd);
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
        ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        config.motion.friction = i == 0 ? 1.0 : 0.9;
        stage_begin(&stages[i], 1);
        art_body(&stages[i].hand, 0, 1.0, 0, 0, 0, 1, 1, 1);
        art_open(&stages[i], &config);
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
        status = mf_articulated_add(group, NULL, error);
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

static void break_config(mf_ArticulatedConfig *config, mf_HandModel *hand, int which) {
    double *values[] = {
        &config->limit_time,        &config->limit_damping,       &config->friction_rate,
        &config->contact_stiffness, &config->contact_time,        &config->contact_ratio,
        &config->friction,          &config->slip_speed,          &config->contact_depth,
        &config->servo.gain,        &config->servo.damping,       &config->servo.effort,
        &config->servo.speed,       &config->servo.no_load_speed, &config->servo.rotor_inertia,
        &config->servo.gear,        &config->servo.backlash};
    enum { VALUES = sizeof values / sizeof *values };
    if (which == 12) // friction: not a number leaves it to the file
        config->friction = INFINITY;
    else if (which < 2 * VALUES)
        *values[which / 2] = which % 2 == 0 ? (double)NAN : -1.0;
    else if (which == 2 * VALUES)
        config->struct_size = 0;
    else if (which == 2 * VALUES + 1)
        config->contact_damping = -1.0;
    else if (which == 2 * VALUES + 2)
        config->servo.no_load_speed = 5.0; // without an effort
    else
        memset(&hand->links[2], 0, sizeof hand->links[2]), hand->links[2].parent = 1;
}

static void bad_settings_are_refused(void **state) {
    (void)state;
    for (int which = 0; which < 38; which++) {
        Crowd crowd;
        stage_begin(&crowd.stage, 1);
        build_mixed(&crowd);
        mf_GroupConfig group = mf_group_config();
        mf_ArticulatedConfig config = mf_articulated_config();
        mf_Error error = {0};
        group.model = &crowd.stage.hand.model;
        must(mf_world_create(crowd.stage.context, NULL, &crowd.stage.world, &error), &error);
        must(mf_world_add_group(crowd.stage.world, &group, &crowd.stage.group, &error), &error);
        size_t bytes = mf_context_live_bytes(crowd.stage.context);
        mf_Link link = crowd.stage.hand.links[2];
        break_config(&config, &crowd.stage.hand, which);
        crowd.stage.hand.links[2].joint = link.joint;
        if (mf_articulated_add(crowd.stage.group, &config, &error) != MF_BAD_ARGUMENT)
            fail_msg("setting %d was not refused", which);
        assert_true(error.message[0] != '\0');
        assert_int_equal(mf_context_live_bytes(crowd.stage.context), bytes);
        assert_null(mf_articulated_settings(crowd.stage.group));
        crowd.stage.hand.links[2] = link;
        must(mf_articulated_add(crowd.stage.group, NULL, &error), &error);
        assert_int_equal(mf_articulated_add(crowd.stage.group, NULL, &error), MF_BAD_ARGUMENT);
        stage_close(&crowd.stage, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_the_same_as_in_any_lane),
        cmocka_unit_test(robots_touch_the_ground),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(poison_stays_with_its_robot),
        cmocka_unit_test(a_reset_robot_starts_again),
        cmocka_unit_test(images_continue_bit_for_bit),
        cmocka_unit_test(images_of_other_settings_are_refused),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(making_survives_every_failure),
        cmocka_unit_test(bad_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
