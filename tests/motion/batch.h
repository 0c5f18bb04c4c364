// Batches: many robots with settings from a table, and the guarantees of every motion. The bits of
// a robot do not depend on batch size, lane, instruction set or number of threads; a corrupted
// state affects its robot only; snapshots continue bit for bit; a step allocates nothing, and
// creating the motion survives every failure.
//
// A test program defines the `batch_kind` that these tests are about, beside its own tests.
#pragma once

#include "motion/rig.h"

enum { MOST_ROBOTS = 40, POISONED = 5, NEIGHBORS = 16 };

typedef struct Batch {
    Rig rig;
    mf_WorldConfig world; // what batch_add makes of the model in `rig`
    mf_GroupConfig group;
    mf_Motion motion; // MF_MOTION_COUNT: all of `motions`
    mf_MotionsConfig motions;
    bool changed; // by the kind
    mf_Shape shapes[3];
    mf_Actuator actuators[2];
    uint32_t option;
    uint32_t first; // number of the robot in lane 0
    uint32_t steps; // taken
} Batch;

// A value that corrupts a robot's state, and the words that it may raise.
typedef struct BatchPoison {
    const char *field;
    uint32_t component;
    double value;
    uint32_t faults;
} BatchPoison;

typedef struct BatchKind {
    uint32_t options;  // settings; most tests try all of them
    uint32_t robots;   // compared with each of them alone; 0: they are never alone
    uint32_t steps;    // of these comparisons
    uint32_t numbered; // bits of the options with noise, which is by the lane: robots keep theirs
    uint32_t many;     // robots that several threads share
    uint32_t swarm;    // bits of the options that are tried with 10,000 robots
    uint32_t touches;  // steps in which robots must touch the ground; 0: they need not
    uint32_t fixed;    // bits of the options that never do
    uint32_t made;     // bits of the options whose creation is to fail; 0: all
    // Adds the group of batch->option, by batch_add or as that does.
    mf_Status (*open)(Batch *batch, mf_Error *error);
    // Another value of some setting.
    void (*change)(mf_MotionsConfig *config);
    // Gives robot `number`, which has that lane, a start of its own.
    void (*place)(const Batch *batch, uint32_t lane, uint32_t number);
    // Gives robot `number` new inputs, every `period` steps. NULL: none.
    void (*drive)(const Batch *batch, uint32_t lane, uint32_t number);
    uint32_t period;
    // A system with the batch as its user; NULL: none.
    mf_SystemFn steer;
    mf_Rate rate;
    // How many contacts of a robot touch the ground.
    uint32_t (*touching)(const Batch *batch, uint32_t lane);
    // Options to poison, as bits, and how. NULL: not a number and infinity in every value of all
    // fields; that takes long.
    uint32_t poisoned;
    const BatchPoison *poisons;
    uint32_t poison_count;
} BatchKind;

static const BatchKind batch_kind; // the program's

// World, group and motion of the model in batch->rig.
static inline mf_Status batch_add(Batch *batch, mf_Error *error) {
    Rig *rig = &batch->rig;
    batch->world.terrain = rig->terrain;
    batch->group.model = rig->model != NULL ? rig->model : &rig->hand->model;
    if (batch->changed)
        batch_kind.change(&batch->motions);
    MF_TRY(mf_world_create(rig->context, &batch->world, &rig->world, error));
    MF_TRY(mf_world_add_group(rig->world, &batch->group, &rig->group, error));
    return batch->motion == MF_MOTION_COUNT
               ? mf_motions_add(rig->group, &batch->motions, error)
               : mf_motion_add(rig->group, batch->motion, &batch->motions, error);
}

static Batch batch_begin(mf_Context *context, uint32_t option, mf_Isa isa, uint32_t first,
                         uint32_t count) {
    return (Batch){.rig = rig_on(context),
                   .world = WITH(mf_world_config(), .isa = isa),
                   .group = WITH(mf_group_config(), .count = count),
                   .motions = mf_motions_config(),
                   .option = option,
                   .first = first};
}

static void batch_finish(Batch *batch) {
    MUST(batch_kind.open(batch, &error));
    if (batch_kind.steer != NULL)
        MUST(mf_group_add_system(batch->rig.group,
                                 &WITH(mf_system_config(), .name = "steer",
                                       .phase = MF_PHASE_CONTROL, .rate = batch_kind.rate,
                                       .run = batch_kind.steer, .user = batch),
                                 &error));
    for (uint32_t i = 0; batch_kind.place != NULL && i < batch->group.count; i++)
        batch_kind.place(batch, i, batch->first + i);
}

static void batch_open(Batch *batch, uint32_t option, mf_Isa isa, uint32_t threads, uint32_t first,
                       uint32_t count) {
    *batch = batch_begin(open_context(threads), option, isa, first, count);
    batch_finish(batch);
}

static void batch_close(Batch *batch) {
    rig_close(&batch->rig);
}

static void batch_step(Batch *batch, uint32_t steps) {
    const uint32_t period = batch_kind.drive != NULL ? batch_kind.period : UINT32_MAX;
    for (uint32_t n = 0; steps > 0; steps -= n, batch->steps += n) {
        const uint32_t in = batch->steps % period;
        for (uint32_t i = 0; in == 0 && batch_kind.drive != NULL && i < batch->group.count; i++)
            batch_kind.drive(batch, i, batch->first + i);
        n = steps < period - in ? steps : period - in;
        mf_world_step(batch->rig.world, n);
    }
}

// An input, unless it is poisoned: poison is not written over.
static inline void batch_put(mf_Field *field, uint32_t lane, uint32_t component, double value) {
    if (isfinite(mf_field_get(field, lane, component)))
        mf_field_set(field, lane, component, value);
}

// For `touching`: contacts with a load.
static inline uint32_t batch_loaded(const Batch *batch, uint32_t lane) {
    const mf_Field *load = rig_field(&batch->rig, "contact.load");
    uint32_t count = 0;
    for (uint32_t c = 0; c < load->components; c++)
        count += mf_field_get(load, lane, c) > 0.0;
    return count;
}

// ---- robots of links and joints -----------------------------------------------------------------

typedef enum BatchGround { LEVEL, NEAREST, BILINEAR } BatchGround;

typedef struct BatchOption {
    mf_Motion motion;
    mf_ArticulatedIntegrator integrator;
    uint32_t step; // [ms]
    bool double_precision, shapes, fixed;
    BatchGround ground;
} BatchOption;

// The settings that all of them have; `bumps` [m] is the amplitude of the ground.
static inline mf_Status batch_set(Batch *batch, const BatchOption *option, double bumps,
                                  mf_Error *error) {
    batch->world.step = option->step * MF_MILLISECOND;
    batch->group.double_precision = option->double_precision;
    batch->motion = option->motion;
    return option->ground == LEVEL
               ? MF_OK
               : try_terrain(batch->rig.context, MF_TERRAIN_NOISE,
                             option->ground == BILINEAR ? MF_BILINEAR : MF_NEAREST, bumps, 1.0, 0.1,
                             &batch->rig.terrain, error);
}

// ---- other robots -------------------------------------------------------------------------------

static void compare(const Batch *one, uint32_t i, const Batch *batch, uint32_t lane) {
    if (mf_group_instance_hash(batch->rig.group, lane) == mf_group_instance_hash(one->rig.group, i))
        return;
    print_error("option %u, %s, %u robots: robot %u in lane %u differs\n", batch->option,
                mf_isa_name(batch->world.isa), batch->group.count, one->first + i, lane);
    explain_difference(one->rig.group, i, batch->rig.group, lane);
    fail();
}

// Every third count (with MAYFLY_FULL=1 every one), with all lanes of a block and one alone, and a
// first robot that moves each of them through the lanes.
TEST(bits_do_not_depend_on_the_lane) {
    static Batch alone[MOST_ROBOTS], batch;
    const uint32_t robots = batch_kind.robots, stride = SANITIZED ? 13 : FULL ? 1 : 3;
    for (uint32_t o = 0; robots > 0 && o < batch_kind.options; o++) {
        const bool numbered = batch_kind.numbered >> o & 1;
        const uint32_t each = numbered ? robots : 1;
        for (uint32_t r = 0; r < robots; r += each) {
            batch_open(&alone[r], o, MF_ISA_SCALAR, 1, r, each);
            batch_step(&alone[r], batch_kind.steps);
            assert_int_equal(mf_group_fault_total(alone[r].rig.group), 0);
        }
        FOR_EACH_ISA (isa)
            for (uint32_t count = 1; count <= robots; count += stride) {
                const uint32_t first = numbered ? 0 : (count * 7) % (robots - count + 1);
                batch_open(&batch, o, isa, 1, first, count);
                batch_step(&batch, batch_kind.steps);
                for (uint32_t i = 0; i < count; i++)
                    compare(&alone[numbered ? 0 : first + i], numbered ? i : 0, &batch, i);
                batch_close(&batch);
            }
        for (uint32_t r = 0; r < robots; r += each)
            batch_close(&alone[r]);
    }
}

TEST(alone_is_as_among_ten_thousand) {
    static const uint32_t chosen[] = {0, 5, 1234, 9999};
    static Batch swarm, alone;
    for (uint32_t o = 0; o < batch_kind.options; o++) {
        if (!(batch_kind.swarm >> o & 1))
            continue;
        batch_open(&swarm, o, MF_ISA_AUTO, 2, 0, 10000);
        batch_step(&swarm, batch_kind.steps);
        for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++) {
            batch_open(&alone, o, MF_ISA_AUTO, 1, chosen[k], 1);
            batch_step(&alone, batch_kind.steps);
            compare(&alone, 0, &swarm, chosen[k]);
            batch_close(&alone);
        }
        batch_close(&swarm);
    }
}

// Or the comparison would say little.
TEST(robots_touch_the_ground) {
    static Batch batch;
    for (uint32_t o = 0; batch_kind.touches > 0 && o < batch_kind.options; o++) {
        const uint32_t robots = batch_kind.robots;
        uint32_t touched = 0;
        if (batch_kind.fixed >> o & 1)
            continue;
        batch_open(&batch, o, MF_ISA_AUTO, 1, 0, robots);
        for (uint32_t n = 0; n < batch_kind.touches; n++) {
            batch_step(&batch, 1);
            for (uint32_t i = 0; i < robots; i++)
                touched += batch_kind.touching(&batch, i);
        }
        if (touched < 5 * robots)
            fail_msg("option %u: %u touches, need %u", o, touched, 5 * robots);
        batch_close(&batch);
    }
}

static uint64_t hash_with(uint32_t option, mf_Isa isa, uint32_t threads) {
    static Batch batch;
    batch_open(&batch, option, isa, threads, 0, batch_kind.many);
    batch_step(&batch, batch_kind.steps);
    const uint64_t hash = mf_world_hash(batch.rig.world);
    batch_close(&batch);
    return hash;
}

TEST(bits_do_not_depend_on_sets_and_threads) {
    for (uint32_t o = 0; o < batch_kind.options; o++) {
        const uint64_t expected = hash_with(o, MF_ISA_AUTO, 1);
        FOR_EACH_ISA (isa)
            if (hash_with(o, isa, 1) != expected)
                fail_msg("option %u, %s: another hash", o, mf_isa_name(isa));
        for (uint32_t threads = 2; threads <= 4; threads *= 2)
            if (hash_with(o, MF_ISA_AUTO, threads) != expected)
                fail_msg("option %u, %u threads: another hash", o, threads);
    }
}

// ---- corrupted states ---------------------------------------------------------------------------

enum { POISON_END = 42 }; // [step] behind a joint update of `points`

// The word that a value that is not finite must raise.
static uint32_t word_of(const char *field) {
    static const char *const inputs[] = {"joint.target", "joint.torque", "base.force",
                                         "base.torque",  "ball.torque",  "actuator.control"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (strcmp(field, inputs[i]) == 0)
            return MF_FAULT_INPUT;
    return strncmp(field, "servo.", 6) == 0 ? MF_FAULT_INPUT : MF_FAULT_NONFINITE;
}

// A target that no joint uses may be passed on.
static bool same_but_for(mf_Group *one, mf_Group *other, uint32_t instance, const char *name) {
    for (uint32_t f = 0; f < mf_group_field_count(one); f++) {
        mf_Field *x = mf_group_field(one, f), *y = mf_group_field(other, f);
        if (strcmp(x->info.name, name) == 0 || strcmp(x->info.name, "actuator.target") == 0)
            continue;
        for (uint32_t c = 0; c < x->components; c++) {
            double p = mf_field_get(x, instance, c), q = mf_field_get(y, instance, c);
            if (memcmp(&p, &q, sizeof p) != 0)
                return false;
        }
    }
    return true;
}

// No neighbor changes by a bit. The robot raises the right word and is frozen, where it was if it
// raises that at once, until a reset; or the value was one that nobody read before it was computed
// anew (the load of a point in the air, a rate), and then the robot is as the clean one.
static void poison(const Batch *clean, const BatchPoison *p, uint32_t at) {
    static Batch batch;
    double place[3], end[3];
    batch_open(&batch, clean->option, MF_ISA_AUTO, 1, 0, NEIGHBORS);
    mf_Group *group = batch.rig.group, *other = clean->rig.group;
    batch_step(&batch, at);
    const double was = get_field(group, p->field, POISONED, p->component);
    set_field(group, p->field, POISONED, p->component, p->value);
    get_fields(group, "base.position", POISONED, 3, place);
    batch_step(&batch, 1);
    const bool at_once = mf_group_fault(group, POISONED) != 0;
    const uint64_t frozen = mf_group_instance_hash(group, POISONED);
    batch_step(&batch, POISON_END - 1 - at);
    const uint32_t word = mf_group_fault(group, POISONED);
    assert_others_same(group, other, POISONED);
    if (word == 0 ? !same_but_for(group, other, POISONED, p->field) : (word & ~p->faults) != 0) {
        explain_difference(group, POISONED, other, POISONED);
        fail_msg("option %u: %s[%u] = %g after %u steps: fault word %u, expected %u", clean->option,
                 p->field, p->component, p->value, at, word, p->faults);
    }
    assert_int_equal(mf_group_fault_total(group), word != 0);
    get_fields(group, "base.position", POISONED, 3, end);
    if (at_once)
        assert_memory_equal(place, end, sizeof end);
    if (at_once && batch_kind.drive == NULL && batch_kind.steer == NULL)
        assert_true(mf_group_instance_hash(group, POISONED) == frozen);
    set_field(group, p->field, POISONED, p->component, was);
    mf_group_reset(group, POISONED);
    mf_world_step(batch.rig.world, 1);
    assert_int_equal(mf_group_fault_total(group), 0);
    batch_close(&batch);
}

static void poison_all(const Batch *clean) {
    static const double values[] = {NAN, INFINITY, -INFINITY};
    for (uint32_t f = 0; f < mf_group_field_count(clean->rig.group); f++) {
        const mf_Field *field = mf_group_field(clean->rig.group, f);
        const char *name = field->info.name;
        for (uint32_t c = 0; c < field->components && field->info.type != MF_U32; c++)
            for (uint32_t v = 0; v < 6; v += FULL ? 1 : 5)
                poison(clean, &(BatchPoison){name, c, values[v % 3], word_of(name)},
                       v < 3 ? 30 : 33);
    }
}

TEST(corrupted_states_stay_with_their_robot) {
    static Batch clean;
    for (uint32_t o = 0; o < batch_kind.options; o++) {
        if (!(batch_kind.poisoned >> o & 1))
            continue;
        batch_open(&clean, o, MF_ISA_AUTO, 1, 0, NEIGHBORS);
        batch_step(&clean, POISON_END);
        for (uint32_t i = 0; i < batch_kind.poison_count; i++)
            if (mf_group_find_field(clean.rig.group, batch_kind.poisons[i].field) != NULL)
                poison(&clean, &batch_kind.poisons[i], 10);
        if (batch_kind.poisons == NULL)
            poison_all(&clean);
        batch_close(&clean);
    }
}

TEST(a_reset_robot_starts_again) {
    static Batch batch;
    for (uint32_t o = 0; batch_kind.robots > 0 && o < batch_kind.options; o++) {
        batch_open(&batch, o, MF_ISA_AUTO, 1, 0, NEIGHBORS);
        mf_Group *group = batch.rig.group;
        mf_group_reset_all(group);
        const uint64_t fresh = mf_group_instance_hash(group, POISONED);
        batch_step(&batch, 50);
        assert_true(mf_group_instance_hash(group, POISONED) != fresh);
        mf_group_reset(group, POISONED);
        assert_true(mf_group_instance_hash(group, POISONED) == fresh);
        batch_close(&batch);
    }
}

// ---- images, memory -----------------------------------------------------------------------------

static void check_image(const Batch *batch, const void *image, size_t size) {
    size_t own_size;
    AUTO(end_memory) void *own = take_snapshot(batch->rig.world, &own_size);
    assert_int_equal(own_size, size);
    assert_memory_equal(own, image, size);
}

// From the same bytes on every instruction set, whatever the world did before.
TEST(images_continue_bit_for_bit) {
    static Batch one, other;
    const uint32_t robots = batch_kind.robots > 0 ? batch_kind.robots : batch_kind.many;
    for (uint32_t o = 0; o < batch_kind.options; o++) {
        size_t size;
        batch_open(&one, o, MF_ISA_SCALAR, 1, 0, robots);
        batch_step(&one, 37);
        AUTO(end_memory) void *image = take_snapshot(one.rig.world, &size);
        batch_step(&one, 30);
        FOR_EACH_ISA (isa) {
            batch_open(&other, o, isa, (uint32_t)isa, 0, robots);
            batch_step(&other, 37);
            check_image(&other, image, size);
            batch_step(&other, 11);
            MUST(mf_world_restore(other.rig.world, image, size, &error));
            check_image(&other, image, size);
            other.steps = 37;
            batch_step(&other, 30);
            assert_true(mf_world_hash(other.rig.world) == mf_world_hash(one.rig.world));
            batch_close(&other);
        }
        batch_close(&one);
    }
}

// An image is refused where the motion has other settings.
TEST(images_of_other_settings_are_refused) {
    static Batch batches[2];
    size_t size;
    for (int k = 0; batch_kind.change != NULL && k < 2; k++) {
        batches[k] = batch_begin(open_context(1), 0, MF_ISA_AUTO, 0, 1);
        batches[k].changed = k == 1;
        batch_finish(&batches[k]);
    }
    if (batch_kind.change == NULL)
        return;
    AUTO(end_memory) void *image = take_snapshot(batches[0].rig.world, &size);
    MUST(mf_world_restore(batches[0].rig.world, image, size, &error));
    MUST_FAIL(mf_world_restore(batches[1].rig.world, image, size, &error), MF_BAD_ARGUMENT, "");
    batch_close(&batches[0]);
    batch_close(&batches[1]);
}

TEST(a_step_allocates_nothing) {
    static Batch batch;
    for (uint32_t o = 0; o < batch_kind.options; o++) {
        batch_open(&batch, o, MF_ISA_AUTO, 1 + o % 2, 0, NEIGHBORS);
        const uint64_t calls = mf_context_call_count(batch.rig.context);
        const size_t bytes = mf_context_live_bytes(batch.rig.context);
        batch_step(&batch, 40);
        assert_int_equal(mf_context_call_count(batch.rig.context), calls);
        assert_int_equal(mf_context_live_bytes(batch.rig.context), bytes);
        batch_close(&batch);
    }
}

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    static Batch batch;
    batch = batch_begin(context, *(const uint32_t *)user, MF_ISA_AUTO, 0, 20);
    const mf_Status status = batch_kind.open(&batch, error);
    if (batch.rig.world != NULL) // without its motion, or without a group, it can be stepped, too
        mf_world_step(batch.rig.world, 2);
    rig_clear(&batch.rig);
    return status;
}

TEST(making_survives_every_failure) {
    for (uint32_t o = 0; o < batch_kind.options; o++) {
        if (batch_kind.made != 0 && !(batch_kind.made >> o & 1))
            continue;
        AUTO_CONTEXT *context = open_context(1);
        assert_true(torture(context, make_and_step, &o, TORTURE_MUST_FAIL) > 10);
    }
}
