// Crowds: many robots of one model with settings from a table, and the guarantees of every motion.
// The bits of a robot do not depend on batch size, lane, instruction set or number of threads; a
// corrupted state affects its robot only; snapshots continue bit for bit; a step allocates nothing,
// and creating the motion survives every failure.
//
// A test program defines the `batch_kind` that these tests are about, beside its own tests.
#ifndef MF_TESTS_MOTION_BATCH_H
#define MF_TESTS_MOTION_BATCH_H

#include "motion/rig.h"

enum { ROBOTS = 20, STEPS = 60, POISONED = 5, NEIGHBORS = 16 };

typedef enum BatchGround { LEVEL, NEAREST, BILINEAR } BatchGround;

typedef struct BatchOption {
    mf_Motion motion;
    mf_ArticulatedIntegrator integrator;
    uint32_t step; // [ms]
    bool double_precision, shapes, fixed;
    BatchGround ground;
    bool poisoned; // one of those that poison is tried with: it takes long
} BatchOption;

struct BatchKind;

typedef struct Batch {
    Rig rig;
    const struct BatchKind *kind;
    mf_Terrain *terrain;
    mf_Shape shapes[3];
    mf_Actuator actuators[2];
    uint32_t first; // number of the robot in lane 0
} Batch;

typedef struct BatchKind {
    const BatchOption *options;
    uint32_t option_count;
    double bumps;      // [m] amplitude of the ground
    mf_Rate rate;      // of `steer`
    uint32_t watching; // [1] steps in which robots are looked at for touching the ground
    // Builds batch->stage.hand.
    void (*build)(Batch *batch);
    // The settings of the motion.
    void (*set)(const BatchOption *option, mf_MotionsConfig *config);
    // Another value of some setting.
    void (*change)(mf_MotionsConfig *config);
    // Gives robot `number`, which has that lane, a start of its own.
    void (*place)(const Batch *batch, uint32_t lane, uint32_t number);
    // A system with the swarm as its user; NULL: none.
    mf_SystemFn steer;
    // How many contacts of a robot touch the ground.
    uint32_t (*touching)(const Batch *batch, uint32_t lane);
} BatchKind;

static const BatchKind batch_kind; // the program's

static void batch_open_with(Batch *batch, const BatchKind *kind, const BatchOption *option,
                            const mf_MotionsConfig *motions, mf_Isa isa, uint32_t threads,
                            uint32_t first, uint32_t count) {
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    mf_SystemConfig system = mf_system_config();
    memset(batch, 0, sizeof *batch);
    batch->rig = rig_begin(threads);
    batch->kind = kind;
    batch->first = first;
    kind->build(batch);
    if (option->ground != LEVEL)
        batch->terrain = make_terrain(batch->rig.context, MF_TERRAIN_NOISE,
                                      option->ground == BILINEAR ? MF_BILINEAR : MF_NEAREST,
                                      kind->bumps, 1.0, 0.1);
    world.step = option->step * MF_MILLISECOND;
    world.isa = isa;
    world.terrain = batch->terrain;
    group.model = &batch->rig.hand->model;
    group.count = count;
    group.double_precision = option->double_precision;
    batch->rig.world = open_world(batch->rig.context, &world);
    batch->rig.group = add_group(batch->rig.world, &group);
    MUST(mf_motion_add(batch->rig.group, option->motion, motions, &error));
    system.name = "steer";
    system.phase = MF_PHASE_CONTROL;
    system.rate = kind->rate;
    system.run = kind->steer;
    system.user = batch;
    if (kind->steer != NULL)
        MUST(mf_group_add_system(batch->rig.group, &system, &error));
    for (uint32_t i = 0; i < count; i++)
        kind->place(batch, i, first + i);
}

static void batch_open(Batch *batch, const BatchKind *kind, const BatchOption *option, mf_Isa isa,
                       uint32_t threads, uint32_t first, uint32_t count) {
    mf_MotionsConfig motions = mf_motions_config();
    kind->set(option, &motions);
    batch_open_with(batch, kind, option, &motions, isa, threads, first, count);
}

static void batch_close(Batch *batch) {
    batch->rig.terrain = batch->terrain;
    rig_close(&batch->rig);
}

// For `touching`: contacts with a load.
static inline uint32_t batch_loaded(const Batch *batch, uint32_t lane) {
    const mf_Field *load = rig_field(&batch->rig, "contact.load");
    uint32_t count = 0;
    for (uint32_t c = 0; c < load->components; c++)
        count += mf_field_get(load, lane, c) > 0.0;
    return count;
}

// ---- company ------------------------------------------------------------------------------------

static void compare_with_alone(const BatchKind *kind, uint32_t option, mf_Isa isa, uint32_t count,
                               Batch alone[ROBOTS]) {
    static Batch batch;
    const uint32_t first = (count * 7) % (ROBOTS - count + 1);
    batch_open(&batch, kind, &kind->options[option], isa, 1, first, count);
    mf_world_step(batch.rig.world, STEPS);
    for (uint32_t i = 0; i < count; i++) {
        Batch *same = &alone[first + i];
        if (mf_group_instance_hash(batch.rig.group, i) ==
            mf_group_instance_hash(same->rig.group, 0))
            continue;
        print_error("option %u, %s, %u robots: robot %u in lane %u differs\n", option,
                    mf_isa_name(isa), count, first + i, i);
        explain_difference(same->rig.group, 0, batch.rig.group, i);
        fail();
    }
    batch_close(&batch);
}

TEST(bits_do_not_depend_on_the_lane) {
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
    static Batch alone[ROBOTS];
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        for (uint32_t r = 0; r < ROBOTS; r++) {
            batch_open(&alone[r], kind, &kind->options[o], MF_ISA_SCALAR, 1, r, 1);
            mf_world_step(alone[r].rig.world, STEPS);
            assert_int_equal(mf_group_fault_total(alone[r].rig.group), 0);
        }
        for (size_t s = 0; s < sizeof isas / sizeof *isas; s++)
            for (uint32_t count = 1; mf_isa_available(isas[s]) && count <= ROBOTS; count += 3)
                compare_with_alone(kind, o, isas[s], count, alone);
        for (uint32_t r = 0; r < ROBOTS; r++)
            batch_close(&alone[r]);
    }
}

// Or the comparison would say little.
TEST(robots_touch_the_ground) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Batch batch;
        uint32_t touched = 0;
        if (kind->options[o].fixed)
            continue;
        batch_open(&batch, kind, &kind->options[o], MF_ISA_AUTO, 1, 0, ROBOTS);
        for (uint32_t n = 0; n < kind->watching; n++) {
            mf_world_step(batch.rig.world, 1);
            for (uint32_t i = 0; i < ROBOTS; i++)
                touched += kind->touching(&batch, i);
        }
        if (touched < 5 * ROBOTS)
            fail_msg("option %u: %u touches, need %u", o, touched, 5 * ROBOTS);
        batch_close(&batch);
    }
}

TEST(bits_do_not_depend_on_threads) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        uint64_t expected = 0;
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            static Batch batch;
            batch_open(&batch, kind, &kind->options[o], MF_ISA_AUTO, threads, 0, 200);
            mf_world_step(batch.rig.world, STEPS);
            uint64_t hash = mf_world_hash(batch.rig.world);
            expected = threads == 1 ? hash : expected;
            assert_true(hash == expected);
            batch_close(&batch);
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
static void poison(const BatchOption *option, Batch *clean, const char *name, uint32_t component,
                   double value) {
    static Batch batch;
    batch_open(&batch, clean->kind, option, MF_ISA_AUTO, 1, 0, NEIGHBORS);
    mf_world_step(batch.rig.world, 30);
    set_field(batch.rig.group, name, POISONED, component, value);
    mf_world_step(batch.rig.world, 5);
    for (uint32_t i = 0; i < NEIGHBORS; i++)
        if (i != POISONED && mf_group_instance_hash(batch.rig.group, i) !=
                                 mf_group_instance_hash(clean->rig.group, i))
            fail_msg("%s[%u] = %g: neighbor %u changed", name, component, value, i);
    uint32_t word = mf_group_fault(batch.rig.group, POISONED);
    bool unread = word == 0;
    for (uint32_t c = 0; c < 3; c++)
        unread = unread && get_field(batch.rig.group, "base.position", POISONED, c) ==
                               get_field(clean->rig.group, "base.position", POISONED, c);
    if (!unread && word != word_of(name))
        fail_msg("%s[%u] = %g: fault word %u, expected %u", name, component, value, word,
                 word_of(name));
    batch_close(&batch);
}

TEST(corrupted_states_stay_with_their_robot) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Batch clean;
        const BatchOption *option = &kind->options[o];
        if (!option->poisoned)
            continue;
        batch_open(&clean, kind, option, MF_ISA_AUTO, 1, 0, NEIGHBORS);
        mf_world_step(clean.rig.world, 35);
        for (uint32_t f = 0; f < mf_group_field_count(clean.rig.group); f++) {
            const mf_Field *field = mf_group_field(clean.rig.group, f);
            for (uint32_t c = 0; c < field->components && field->info.type != MF_U32; c++) {
                poison(option, &clean, field->info.name, c, (double)NAN);
                poison(option, &clean, field->info.name, c, -(double)INFINITY);
            }
        }
        batch_close(&clean);
    }
}

TEST(a_reset_robot_starts_again) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Batch batch;
        batch_open(&batch, kind, &kind->options[o], MF_ISA_AUTO, 1, 0, NEIGHBORS);
        mf_group_reset_all(batch.rig.group);
        uint64_t fresh = mf_group_instance_hash(batch.rig.group, POISONED);
        kind->place(&batch, POISONED, 3);
        mf_world_step(batch.rig.world, 50);
        assert_true(mf_group_instance_hash(batch.rig.group, POISONED) != fresh);
        mf_group_reset(batch.rig.group, POISONED);
        assert_true(mf_group_instance_hash(batch.rig.group, POISONED) == fresh);
        batch_close(&batch);
    }
}

// ---- images, memory -----------------------------------------------------------------------------

static void *take_image(const Batch *batch) {
    size_t size;
    void *image = take_snapshot(batch->rig.world, &size);
    return image;
}

static mf_Status give_image(const Batch *batch, const void *image) {
    size_t size = mf_world_snapshot_size(batch->rig.world);
    return mf_world_restore(batch->rig.world, image, size, NULL);
}

TEST(images_continue_bit_for_bit) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Batch first, other;
        batch_open(&first, kind, &kind->options[o], MF_ISA_SCALAR, 1, 0, ROBOTS);
        mf_world_step(first.rig.world, 37);
        AUTO(end_memory) void *image = take_image(&first);
        mf_world_step(first.rig.world, 30);
        batch_open(&other, kind, &kind->options[o], MF_ISA_AUTO, 2, 0, ROBOTS);
        mf_world_step(other.rig.world, 11);
        assert_int_equal(give_image(&other, image), MF_OK);
        mf_world_step(other.rig.world, 30);
        assert_true(mf_world_hash(other.rig.world) == mf_world_hash(first.rig.world));
        batch_close(&other);
        batch_close(&first);
    }
}

// An image is refused where the motion has other settings.
TEST(images_of_other_settings_are_refused) {
    static Batch batches[2];
    const BatchKind *kind = &batch_kind;
    mf_MotionsConfig motions = mf_motions_config();
    kind->set(&kind->options[0], &motions);
    batch_open_with(&batches[0], kind, &kind->options[0], &motions, MF_ISA_AUTO, 1, 0, 1);
    kind->change(&motions);
    batch_open_with(&batches[1], kind, &kind->options[0], &motions, MF_ISA_AUTO, 1, 0, 1);
    void *image = take_image(&batches[0]);
    assert_int_equal(give_image(&batches[0], image), MF_OK);
    assert_int_equal(give_image(&batches[1], image), MF_BAD_ARGUMENT);
    free(image);
    batch_close(&batches[0]);
    batch_close(&batches[1]);
}

TEST(a_step_allocates_nothing) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        static Batch batch;
        batch_open(&batch, kind, &kind->options[o], MF_ISA_AUTO, 1 + o % 2, 0, ROBOTS);
        uint64_t calls = mf_context_call_count(batch.rig.context);
        size_t bytes = mf_context_live_bytes(batch.rig.context);
        mf_world_step(batch.rig.world, 20);
        assert_int_equal(mf_context_call_count(batch.rig.context), calls);
        assert_int_equal(mf_context_live_bytes(batch.rig.context), bytes);
        batch_close(&batch);
    }
}

typedef struct Making {
    const BatchKind *kind;
    mf_Motion motion;
} Making;

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    static mf_HandModel hand;
    static Batch batch = {.rig.hand = &hand};
    const Making *making = user;
    mf_hand_start(&hand, context);
    making->kind->build(&batch);
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_Status status =
        try_group(context, NULL, &WITH(mf_group_config(), .model = &hand.model, .count = 20),
                  &world, &group, error);
    if (status == MF_OK)
        status = mf_motion_add(group, making->motion, NULL, error);
    if (world != NULL)
        mf_world_step(world, 2); // a group without its motion can be stepped, too
    return status;
}

TEST(making_survives_every_failure) {
    const BatchKind *kind = &batch_kind;
    for (uint32_t o = 0; o < kind->option_count; o++) {
        Making making = {kind, kind->options[o].motion};
        bool seen = false;
        for (uint32_t i = 0; i < o; i++)
            seen = seen || kind->options[i].motion == making.motion;
        if (seen)
            continue;
        AUTO_CONTEXT *context = open_context(1);
        assert_true(torture(context, make_and_step, &making, TORTURE_MUST_FAIL) > 30);
    }
}

#endif
