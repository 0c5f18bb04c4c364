// Crowds: many robots of one model with settings from a table, and the guarantees of every motion.
// The bits of a robot do not depend on batch size, lane, instruction set or number of threads; a
// corrupted state affects its robot only; snapshots continue bit for bit; a step allocates nothing,
// and creating the motion survives every failure.
//
// A test program defines a CrowdKind and runs its CROWD_TESTS together with its own tests.
#ifndef MF_TESTS_MOTION_CROWD_H
#define MF_TESTS_MOTION_CROWD_H

#include "motion/fixture.h"

enum { ROBOTS = 20, STEPS = 60, POISONED = 5, NEIGHBORS = 16 };

typedef enum CrowdGround { LEVEL, NEAREST, BILINEAR } CrowdGround;

typedef struct CrowdOption {
    mf_Motion motion;
    mf_ArticulatedIntegrator integrator;
    uint32_t step; // [ms]
    bool double_precision, shapes, fixed;
    CrowdGround ground;
    bool poisoned; // one of those that poison is tried with: it takes long
} CrowdOption;

struct CrowdKind;

typedef struct Crowd {
    Fixture fixture;
    const struct CrowdKind *kind;
    mf_Terrain *terrain;
    mf_Shape shapes[3];
    mf_Actuator actuators[2];
    uint32_t first; // number of the robot in lane 0
} Crowd;

typedef struct CrowdKind {
    const CrowdOption *options;
    uint32_t option_count;
    double bumps;      // [m] amplitude of the ground
    mf_Rate rate;      // of `steer`
    uint32_t watching; // [1] steps in which robots are looked at for touching the ground
    // Builds crowd->stage.hand.
    void (*build)(Crowd *crowd);
    // The settings of the motion.
    void (*set)(const CrowdOption *option, mf_MotionsConfig *config);
    // Another value of some setting.
    void (*change)(mf_MotionsConfig *config);
    // Gives robot `number`, which has that lane, a start of its own.
    void (*place)(const Crowd *crowd, uint32_t lane, uint32_t number);
    // A system with the crowd as its user; NULL: none.
    mf_SystemFn steer;
    // How many contacts of a robot touch the ground.
    uint32_t (*touching)(const Crowd *crowd, uint32_t lane);
} CrowdKind;

static void crowd_open_with(Crowd *crowd, const CrowdKind *kind, const CrowdOption *option,
                            const mf_MotionsConfig *motions, mf_Isa isa, uint32_t threads,
                            uint32_t first, uint32_t count) {
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    mf_SystemConfig system = mf_system_config();
    memset(crowd, 0, sizeof *crowd);
    fixture_begin(&crowd->fixture, threads);
    crowd->kind = kind;
    crowd->first = first;
    kind->build(crowd);
    if (option->ground != LEVEL)
        crowd->terrain = make_terrain(crowd->fixture.context, MF_TERRAIN_NOISE,
                                      option->ground == BILINEAR ? MF_BILINEAR : MF_NEAREST,
                                      kind->bumps, 1.0, 0.1);
    world.step = option->step * MF_MILLISECOND;
    world.isa = isa;
    world.terrain = crowd->terrain;
    group.model = &crowd->fixture.hand.model;
    group.count = count;
    group.double_precision = option->double_precision;
    crowd->fixture.world = open_world(crowd->fixture.context, &world);
    crowd->fixture.group = add_group(crowd->fixture.world, &group);
    MUST(mf_motion_add(crowd->fixture.group, option->motion, motions, &error));
    system.name = "steer";
    system.phase = MF_PHASE_CONTROL;
    system.rate = kind->rate;
    system.run = kind->steer;
    system.user = crowd;
    if (kind->steer != NULL)
        MUST(mf_group_add_system(crowd->fixture.group, &system, &error));
    for (uint32_t i = 0; i < count; i++)
        kind->place(crowd, i, first + i);
}

static void crowd_open(Crowd *crowd, const CrowdKind *kind, const CrowdOption *option, mf_Isa isa,
                       uint32_t threads, uint32_t first, uint32_t count) {
    mf_MotionsConfig motions = mf_motions_config();
    kind->set(option, &motions);
    crowd_open_with(crowd, kind, option, &motions, isa, threads, first, count);
}

static void crowd_close(Crowd *crowd) {
    fixture_close(&crowd->fixture, crowd->terrain);
}

// For `touching`: contacts with a load.
static inline uint32_t crowd_loaded(const Crowd *crowd, uint32_t lane) {
    const mf_Field *load = fixture_field(&crowd->fixture, "contact.load");
    uint32_t count = 0;
    for (uint32_t c = 0; c < load->components; c++)
        count += mf_field_get(load, lane, c) > 0.0;
    return count;
}

// ---- company ------------------------------------------------------------------------------------

static void explain(Crowd *a, uint32_t ia, Crowd *b, uint32_t ib) {
    for (uint32_t f = 0; f < mf_group_field_count(a->fixture.group); f++) {
        mf_Field *x = mf_group_field(a->fixture.group, f), *y = mf_group_field(b->fixture.group, f);
        for (uint32_t c = 0; c < x->components; c++) {
            double p = mf_field_get(x, ia, c), q = mf_field_get(y, ib, c);
            if (memcmp(&p, &q, sizeof p) != 0)
                print_error("  %s[%u]: %.17g, %.17g\n", x->info.name, c, p, q);
        }
    }
}

static void compare_with_alone(const CrowdKind *kind, uint32_t option, mf_Isa isa, uint32_t count,
                               Crowd alone[ROBOTS]) {
    static Crowd crowd;
    const uint32_t first = (count * 7) % (ROBOTS - count + 1);
    crowd_open(&crowd, kind, &kind->options[option], isa, 1, first, count);
    mf_world_step(crowd.fixture.world, STEPS);
    for (uint32_t i = 0; i < count; i++) {
        Crowd *same = &alone[first + i];
        if (mf_group_instance_hash(crowd.fixture.group, i) ==
            mf_group_instance_hash(same->fixture.group, 0))
            continue;
        print_error("option %u, %s, %u robots: robot %u in lane %u differs\n", option,
                    mf_isa_name(isa), count, first + i, i);
        explain(same, 0, &crowd, i);
        fail();
    }
    crowd_close(&crowd);
}

static void bits_do_not_depend_on_the_lane(void **state) {
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
    static Crowd alone[ROBOTS];
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        for (uint32_t r = 0; r < ROBOTS; r++) {
            crowd_open(&alone[r], kind, &kind->options[o], MF_ISA_SCALAR, 1, r, 1);
            mf_world_step(alone[r].fixture.world, STEPS);
            assert_int_equal(mf_group_fault_total(alone[r].fixture.group), 0);
        }
        for (size_t s = 0; s < sizeof isas / sizeof *isas; s++)
            for (uint32_t count = 1; mf_isa_available(isas[s]) && count <= ROBOTS; count += 3)
                compare_with_alone(kind, o, isas[s], count, alone);
        for (uint32_t r = 0; r < ROBOTS; r++)
            crowd_close(&alone[r]);
    }
}

// Or the comparison would say little.
static void robots_touch_the_ground(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Crowd crowd;
        uint32_t touched = 0;
        if (kind->options[o].fixed)
            continue;
        crowd_open(&crowd, kind, &kind->options[o], MF_ISA_AUTO, 1, 0, ROBOTS);
        for (uint32_t n = 0; n < kind->watching; n++) {
            mf_world_step(crowd.fixture.world, 1);
            for (uint32_t i = 0; i < ROBOTS; i++)
                touched += kind->touching(&crowd, i);
        }
        if (touched < 5 * ROBOTS)
            fail_msg("option %u: %u touches, need %u", o, touched, 5 * ROBOTS);
        crowd_close(&crowd);
    }
}

static void bits_do_not_depend_on_threads(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        uint64_t expected = 0;
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            static Crowd crowd;
            crowd_open(&crowd, kind, &kind->options[o], MF_ISA_AUTO, threads, 0, 200);
            mf_world_step(crowd.fixture.world, STEPS);
            uint64_t hash = mf_world_hash(crowd.fixture.world);
            expected = threads == 1 ? hash : expected;
            assert_true(hash == expected);
            crowd_close(&crowd);
        }
    }
}

// ---- corrupted states ---------------------------------------------------------------------------

static uint32_t word_of(const char *field) {
    static const char *const inputs[] = {"joint.target", "joint.torque", "base.force",
                                         "base.torque",  "ball.torque",  "actuator.control"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (strcmp(field, inputs[i]) == 0)
            return MF_FAULT_INPUT;
    if (strncmp(field, "servo.", 6) == 0)
        return MF_FAULT_INPUT;
    return MF_FAULT_NONFINITE;
}

// No neighbor changes by a bit; the robot raises the right word, or nobody read the value.
static void poison(const CrowdOption *option, Crowd *clean, const char *name, uint32_t component,
                   double value) {
    static Crowd crowd;
    crowd_open(&crowd, clean->kind, option, MF_ISA_AUTO, 1, 0, NEIGHBORS);
    mf_world_step(crowd.fixture.world, 30);
    mf_field_set(fixture_field(&crowd.fixture, name), POISONED, component, value);
    mf_world_step(crowd.fixture.world, 5);
    for (uint32_t i = 0; i < NEIGHBORS; i++)
        if (i != POISONED && mf_group_instance_hash(crowd.fixture.group, i) !=
                                 mf_group_instance_hash(clean->fixture.group, i))
            fail_msg("%s[%u] = %g: neighbor %u changed", name, component, value, i);
    uint32_t word = mf_group_fault(crowd.fixture.group, POISONED);
    bool unread = word == 0;
    for (uint32_t c = 0; c < 3; c++)
        unread = unread &&
                 mf_field_get(fixture_field(&crowd.fixture, "base.position"), POISONED, c) ==
                     mf_field_get(fixture_field(&clean->fixture, "base.position"), POISONED, c);
    if (!unread && word != word_of(name))
        fail_msg("%s[%u] = %g: fault word %u, expected %u", name, component, value, word,
                 word_of(name));
    crowd_close(&crowd);
}

static void corrupted_states_stay_with_their_robot(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Crowd clean;
        const CrowdOption *option = &kind->options[o];
        if (!option->poisoned)
            continue;
        crowd_open(&clean, kind, option, MF_ISA_AUTO, 1, 0, NEIGHBORS);
        mf_world_step(clean.fixture.world, 35);
        for (uint32_t f = 0; f < mf_group_field_count(clean.fixture.group); f++) {
            const mf_Field *field = mf_group_field(clean.fixture.group, f);
            for (uint32_t c = 0; c < field->components && field->info.type != MF_U32; c++) {
                poison(option, &clean, field->info.name, c, (double)NAN);
                poison(option, &clean, field->info.name, c, -(double)INFINITY);
            }
        }
        crowd_close(&clean);
    }
}

static void a_reset_robot_starts_again(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Crowd crowd;
        crowd_open(&crowd, kind, &kind->options[o], MF_ISA_AUTO, 1, 0, NEIGHBORS);
        mf_group_reset_all(crowd.fixture.group);
        uint64_t fresh = mf_group_instance_hash(crowd.fixture.group, POISONED);
        kind->place(&crowd, POISONED, 3);
        mf_world_step(crowd.fixture.world, 50);
        assert_true(mf_group_instance_hash(crowd.fixture.group, POISONED) != fresh);
        mf_group_reset(crowd.fixture.group, POISONED);
        assert_true(mf_group_instance_hash(crowd.fixture.group, POISONED) == fresh);
        crowd_close(&crowd);
    }
}

// ---- images, memory -----------------------------------------------------------------------------

static void *take_image(const Crowd *crowd) {
    size_t size;
    void *image = take_snapshot(crowd->fixture.world, &size);
    return image;
}

static mf_Status give_image(const Crowd *crowd, const void *image) {
    size_t size = mf_world_snapshot_size(crowd->fixture.world);
    return mf_world_restore(crowd->fixture.world, image, size, NULL);
}

static void images_continue_bit_for_bit(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Crowd first, other;
        crowd_open(&first, kind, &kind->options[o], MF_ISA_SCALAR, 1, 0, ROBOTS);
        mf_world_step(first.fixture.world, 37);
        void *image = take_image(&first);
        mf_world_step(first.fixture.world, 30);
        crowd_open(&other, kind, &kind->options[o], MF_ISA_AUTO, 2, 0, ROBOTS);
        mf_world_step(other.fixture.world, 11);
        assert_int_equal(give_image(&other, image), MF_OK);
        mf_world_step(other.fixture.world, 30);
        assert_true(mf_world_hash(other.fixture.world) == mf_world_hash(first.fixture.world));
        free(image);
        crowd_close(&other);
        crowd_close(&first);
    }
}

// An image is refused where the motion has other settings.
static void images_of_other_settings_are_refused(void **state) {
    static Crowd crowds[2];
    const CrowdKind *kind = *state;
    mf_MotionsConfig motions = mf_motions_config();
    kind->set(&kind->options[0], &motions);
    crowd_open_with(&crowds[0], kind, &kind->options[0], &motions, MF_ISA_AUTO, 1, 0, 1);
    kind->change(&motions);
    crowd_open_with(&crowds[1], kind, &kind->options[0], &motions, MF_ISA_AUTO, 1, 0, 1);
    void *image = take_image(&crowds[0]);
    assert_int_equal(give_image(&crowds[0], image), MF_OK);
    assert_int_equal(give_image(&crowds[1], image), MF_BAD_ARGUMENT);
    free(image);
    crowd_close(&crowds[0]);
    crowd_close(&crowds[1]);
}

static void a_step_allocates_nothing(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Crowd crowd;
        crowd_open(&crowd, kind, &kind->options[o], MF_ISA_AUTO, 1 + o % 2, 0, ROBOTS);
        uint64_t calls = mf_context_call_count(crowd.fixture.context);
        size_t bytes = mf_context_live_bytes(crowd.fixture.context);
        mf_world_step(crowd.fixture.world, 20);
        assert_int_equal(mf_context_call_count(crowd.fixture.context), calls);
        assert_int_equal(mf_context_live_bytes(crowd.fixture.context), bytes);
        crowd_close(&crowd);
    }
}

typedef struct Making {
    const CrowdKind *kind;
    mf_Motion motion;
} Making;

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    static Crowd crowd;
    const Making *making = user;
    mf_hand_start(&crowd.fixture.hand, context);
    making->kind->build(&crowd);
    mf_World *world = NULL;
    mf_Group *group = NULL;
    mf_GroupConfig config = mf_group_config();
    config.model = &crowd.fixture.hand.model;
    config.count = 20;
    mf_Status status = mf_world_create(context, NULL, &world, error);
    if (status != MF_OK)
        return status;
    status = mf_world_add_group(world, &config, &group, error);
    if (status == MF_OK)
        status = mf_motion_add(group, making->motion, NULL, error);
    mf_world_step(world, 2); // a group without its motion can be stepped, too
    mf_world_destroy(world);
    return status;
}

static void making_survives_every_failure(void **state) {
    const CrowdKind *kind = *state;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        Making making = {kind, kind->options[o].motion};
        bool seen = false;
        for (uint32_t i = 0; i < o; i++)
            seen = seen || kind->options[i].motion == making.motion;
        if (seen)
            continue;
        mf_Context *context = open_context(1);
        assert_true(torture(context, make_and_step, &making, TORTURE_MUST_FAIL) > 30);
        mf_context_destroy(context);
    }
}

#define CROWD_TESTS(kind)                                                                          \
    cmocka_unit_test_prestate(bits_do_not_depend_on_the_lane, (kind)),                             \
        cmocka_unit_test_prestate(robots_touch_the_ground, (kind)),                                \
        cmocka_unit_test_prestate(bits_do_not_depend_on_threads, (kind)),                          \
        cmocka_unit_test_prestate(corrupted_states_stay_with_their_robot, (kind)),                 \
        cmocka_unit_test_prestate(a_reset_robot_starts_again, (kind)),                             \
        cmocka_unit_test_prestate(images_continue_bit_for_bit, (kind)),                            \
        cmocka_unit_test_prestate(images_of_other_settings_are_refused, (kind)),                   \
        cmocka_unit_test_prestate(a_step_allocates_nothing, (kind)),                               \
        cmocka_unit_test_prestate(making_survives_every_failure, (kind))

#endif
