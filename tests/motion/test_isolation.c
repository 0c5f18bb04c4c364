// Robots are independent of each other: the bits of a robot do not depend on batch size, lane,
// instruction set or number of threads; a robot with a corrupted state changes no bit of its
// neighbors and reports its fault; snapshots of a world continue bit for bit.
#include "motion/rig.h"

static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};

enum { ROBOTS = 40, UPDATES = 12, STEPS = 8 };

typedef struct Options {
    mf_FrictionModel friction;
    bool weighted, keep_momentum, double_precision;
    double coefficient;
    mf_Interpolation interpolation;
    bool level;
} Options;

static const Options all_options[] = {
    {MF_FRICTION_FIT, false, false, false, INFINITY, MF_NEAREST, true},
    {MF_FRICTION_FIT, false, false, false, INFINITY, MF_NEAREST, false},
    {MF_FRICTION_FIT, true, true, false, 0.5, MF_BILINEAR, false},
    {MF_FRICTION_FIT, false, true, true, 0.5, MF_NEAREST, false},
    {MF_FRICTION_COUPLED, false, false, false, INFINITY, MF_BILINEAR, false},
    {MF_FRICTION_COUPLED, true, true, false, 0.6, MF_NEAREST, false},
    {MF_FRICTION_COUPLED, true, true, true, 0.6, MF_NEAREST, true},
};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

typedef struct Batch {
    Rig rig;
    mf_Terrain *terrain;
    uint32_t first; // number of the robot in lane 0
    uint64_t updates;
} Batch;

// Robot `number` starts at a height, speed and spin of its own: some stand, some fly, some tumble.
static void place_robot(Batch *batch, uint32_t instance, uint32_t number) {
    const char *names[] = {"base.position", "base.linear_velocity", "base.angular_velocity"};
    for (uint32_t f = 0; f < 3; f++) {
        mf_Field *field = rig_field(&batch->rig, names[f]);
        for (uint32_t c = 0; c < 3; c++) {
            double value = random_signed(100 + f, number * 3 + c);
            double start = mf_field_get(field, instance, c);
            double size = number % 4 == 0 ? 0.0 : f == 0 ? 0.1 : f == 1 ? 1.0 : 4.0;
            if (f == 0 && c == 2)
                value = number % 4 == 1 ? 10.0 : number % 4 == 2 ? 1.0 : 0.0;
            mf_field_set(field, instance, c, start + size * value);
        }
    }
}

static Batch batch_open(const Options *options, mf_Isa isa, uint32_t threads, uint32_t first,
                        uint32_t count) {
    Batch batch;
    batch.rig = rig_begin(threads);
    make_hexapod(batch.rig.hand);
    PointsConfig config =
        WITH(points_config(options->double_precision), .world.isa = isa, .group.count = count,
             .points.friction = options->friction, .points.weighted = options->weighted,
             .points.keep_momentum = options->keep_momentum,
             .points.friction_coefficient = options->coefficient);
    batch.terrain =
        make_terrain(batch.rig.context, options->level ? MF_TERRAIN_FLAT : MF_TERRAIN_NOISE,
                     options->interpolation, 0.05, 1.0, 0.1);
    config.world.terrain = batch.terrain;
    points_open(&batch.rig, config);
    batch.first = first;
    batch.updates = 0;
    for (uint32_t i = 0; i < count; i++)
        place_robot(&batch, i, first + i);
    return batch;
}

static void batch_close(Batch *batch) {
    batch->rig.terrain = batch->terrain;
    rig_close(&batch->rig);
}

static void batch_targets(Batch *batch) {
    mf_Field *target = rig_field(&batch->rig, "joint.target");
    for (uint32_t i = 0; i < mf_group_count(batch->rig.group); i++)
        for (uint32_t j = 0; j < target->components; j++) {
            uint64_t n = (batch->updates * 1000 + batch->first + i) * 32 + j;
            mf_field_set(target, i, j, 0.8 * random_signed(200, n));
        }
    batch->updates++;
}

static void batch_run(Batch *batch, int updates) {
    for (int u = 0; u < updates; u++) {
        batch_targets(batch);
        mf_world_step(batch->rig.world, STEPS);
    }
}

TEST(bits_do_not_depend_on_the_lane) {
    for (size_t o = 0; o < OPTIONS; o++) {
        // The reference: each robot alone, one lane.
        static Batch alone[ROBOTS];
        uint64_t hash[ROBOTS];
        for (uint32_t r = 0; r < ROBOTS; r++) {
            alone[r] = batch_open(&all_options[o], MF_ISA_SCALAR, 1, r, 1);
            batch_run(&alone[r], UPDATES);
            assert_int_equal(mf_group_fault_total(alone[r].rig.group), 0);
            hash[r] = mf_group_instance_hash(alone[r].rig.group, 0);
        }
        FOR_EACH_ISA (isa) {
            // Every count (or, but for MAYFLY_FULL=1, every third, with all lanes of a block and
            // one alone), and a first robot that moves each of them through the lanes.
            const uint32_t stride = SANITIZED ? 13 : FULL ? 1 : 3;
            for (uint32_t count = 1; count <= ROBOTS; count += stride) {
                uint32_t first = (count * 7) % (ROBOTS - count + 1);
                static Batch batch;
                batch = batch_open(&all_options[o], isa, 1, first, count);
                batch_run(&batch, UPDATES);
                for (uint32_t i = 0; i < count; i++) {
                    if (mf_group_instance_hash(batch.rig.group, i) == hash[first + i])
                        continue;
                    print_error("options %zu, %s, %u robots: robot %u in lane %u differs\n", o,
                                mf_isa_name(isa), count, first + i, i);
                    explain_difference(alone[first + i].rig.group, 0, batch.rig.group, i);
                    fail();
                }
                batch_close(&batch);
            }
        }
        for (uint32_t r = 0; r < ROBOTS; r++)
            batch_close(&alone[r]);
    }
}

TEST(bits_do_not_depend_on_threads) {
    for (size_t o = 0; o < OPTIONS; o++) {
        uint64_t expected = 0;
        FOR_EACH_ISA (isa)
            for (uint32_t threads = 1; threads <= 4; threads *= 2) {
                AUTO(batch_close) Batch batch = batch_open(&all_options[o], isa, threads, 0, 200);
                batch_run(&batch, 6);
                uint64_t hash = mf_world_hash(batch.rig.world);
                if (expected == 0)
                    expected = hash;
                if (hash != expected)
                    fail_msg("options %zu, %s, %u threads: another hash", o, mf_isa_name(isa),
                             threads);
            }
    }
}

// ---- corrupted states ---------------------------------------------------------------------------

enum { POISONED = 5, NEIGHBORS = 16 };

// The word that a value that is not finite must raise.
static uint32_t word_of(const char *field) {
    bool input = strcmp(field, "joint.target") == 0 || strcmp(field, "base.force") == 0 ||
                 strcmp(field, "base.torque") == 0;
    return input ? MF_FAULT_INPUT : MF_FAULT_NONFINITE;
}

static bool same_but_for(Batch *a, Batch *b, uint32_t instance, const char *name) {
    for (uint32_t f = 0; f < mf_group_field_count(a->rig.group); f++) {
        mf_Field *x = mf_group_field(a->rig.group, f), *y = mf_group_field(b->rig.group, f);
        for (uint32_t c = 0; c < x->components && strcmp(x->info.name, name) != 0; c++) {
            double p = mf_field_get(x, instance, c), q = mf_field_get(y, instance, c);
            if (memcmp(&p, &q, sizeof p) != 0)
                return false;
        }
    }
    return true;
}

// Runs with one value of one robot poisoned `at` steps after a joint update. No other robot may
// differ from the clean run by a bit. The robot itself raises the right word, or the value was one
// that nobody read before it was computed anew (a load or an anchor of a point in the air, a rate),
// and then the robot may not differ from the clean one either.
static void poison(const Options *options, Batch *clean, double value, const char *name,
                   uint32_t component, uint32_t at) {
    AUTO(batch_close)
    Batch batch = batch_open(options, mf_world_isa(clean->rig.world), 1, 0, NEIGHBORS);
    batch_run(&batch, 2);
    batch_targets(&batch);
    mf_world_step(batch.rig.world, at);
    set_field(batch.rig.group, name, POISONED, component, value);
    mf_world_step(batch.rig.world, 2 * STEPS - at);
    for (uint32_t i = 0; i < NEIGHBORS; i++)
        if (i != POISONED && mf_group_instance_hash(batch.rig.group, i) !=
                                 mf_group_instance_hash(clean->rig.group, i))
            fail_msg("%s[%u] = %g: neighbor %u changed", name, component, value, i);
    uint32_t word = mf_group_fault(batch.rig.group, POISONED);
    if (word == 0 ? !same_but_for(&batch, clean, POISONED, name) : word != word_of(name)) {
        explain_difference(batch.rig.group, POISONED, clean->rig.group, POISONED);
        fail_msg("%s[%u] = %g after %u steps: fault word %u, expected %u", name, component, value,
                 at, word, word_of(name));
    }
}

TEST(corrupted_states_stay_with_their_robot) {
    static const double values[] = {NAN, INFINITY, -INFINITY};
    static const size_t chosen[] = {0, 2, 5};
    for (size_t o = 0; o < sizeof chosen / sizeof *chosen; o++) {
        const Options *options = &all_options[chosen[o]];
        mf_Isa isa;
        MUST(mf_isa_detect(&isa, &error));
        AUTO(batch_close) Batch clean = batch_open(options, isa, 1, 0, NEIGHBORS);
        batch_run(&clean, 3);
        mf_world_step(clean.rig.world, STEPS);
        for (uint32_t f = 0; f < mf_group_field_count(clean.rig.group); f++) {
            const mf_Field *field = mf_group_field(clean.rig.group, f);
            for (uint32_t c = 0; c < field->components && field->info.type == MF_F32; c++)
                for (uint32_t v = 0; v < 6; v += FULL ? 1 : 5)
                    poison(options, &clean, values[v % 3], field->info.name, c, v < 3 ? 0 : 3);
        }
    }
}

// A point without a finite position is a fault in the step that finds it, before it moves the
// robot.
TEST(points_without_a_position_are_a_fault_at_once) {
    const PointsConfig config = points_config(false);
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, config);
    MUST(mf_group_set_start(rig.group, 0, (double[]){0, 0, 0.15}, NULL, NULL, &error));
    mf_world_step(rig.world, 60);
    rig_set(&rig, "body.points", 0, -(double)INFINITY);
    mf_world_step(rig.world, 1);
    assert_int_equal(mf_group_fault(rig.group, 0), MF_FAULT_NONFINITE);
}

TEST(a_frozen_robot_keeps_its_state) {
    AUTO(batch_close) Batch batch = batch_open(&all_options[1], MF_ISA_SCALAR, 1, 0, NEIGHBORS);
    batch_run(&batch, 2);
    set_field(batch.rig.group, "base.force", POISONED, 1, NAN);
    uint64_t before[NEIGHBORS];
    mf_Field *position = rig_field(&batch.rig, "base.position");
    double point = mf_field_get(position, POISONED, 2);
    mf_world_step(batch.rig.world, 1);
    assert_int_equal(mf_group_fault(batch.rig.group, POISONED), MF_FAULT_INPUT);
    assert_true(mf_field_get(position, POISONED, 2) == point);
    for (uint32_t i = 0; i < NEIGHBORS; i++)
        before[i] = mf_group_instance_hash(batch.rig.group, i);
    mf_world_step(batch.rig.world, 40);
    for (uint32_t i = 0; i < NEIGHBORS; i++) {
        bool same = mf_group_instance_hash(batch.rig.group, i) == before[i];
        assert_int_equal(same, i == POISONED);
    }
}

TEST(a_reset_robot_starts_again) {
    AUTO_RIG rig, fresh;
    PointsConfig config =
        WITH(points_config(false), .group.count = NEIGHBORS, .group.fault_policy = MF_FAULT_RESET);
    Rig *both[] = {&rig, &fresh};
    for (int s = 0; s < 2; s++) {
        *both[s] = rig_begin(1);
        make_hexapod(both[s]->hand);
        points_open(both[s], config);
    }
    mf_world_step(rig.world, 10);
    set_field(rig.group, "base.linear_velocity", POISONED, 0, NAN);
    mf_world_step(rig.world, 1);
    assert_int_equal(mf_group_fault(rig.group, POISONED), 0);
    mf_Field *count = rig_field(&rig, "fault.count");
    for (uint32_t i = 0; i < NEIGHBORS; i++)
        assert_int_equal((int)mf_field_get(count, i, 0), i == POISONED);
    mf_field_set(count, POISONED, 0, 0.0); // else the same as a robot that never ran
    assert_true(mf_group_instance_hash(rig.group, POISONED) ==
                mf_group_instance_hash(fresh.group, POISONED));
}

// ---- images -------------------------------------------------------------------------------------

static void *take_image(Batch *batch, size_t *size) {
    *size = mf_world_snapshot_size(batch->rig.world);
    void *image = malloc(*size);
    assert_non_null(image);
    MUST(mf_world_snapshot(batch->rig.world, image, *size, &error));
    return image;
}

TEST(images_continue_bit_for_bit) {
    for (size_t o = 0; o < OPTIONS; o++) {
        AUTO(batch_close) Batch first = batch_open(&all_options[o], MF_ISA_SCALAR, 1, 0, ROBOTS);
        batch_run(&first, 3);
        mf_world_step(first.rig.world, 3); // in the middle of a joint interval
        size_t size;
        AUTO(end_memory) void *image = take_image(&first, &size);
        uint64_t updates = first.updates;
        batch_run(&first, 4);
        uint64_t expected = mf_world_hash(first.rig.world);
        for (size_t s = 0; s < sizeof isas / sizeof *isas; s++) {
            if (!mf_isa_available(isas[s]))
                continue;
            AUTO(batch_close)
            Batch other = batch_open(&all_options[o], isas[s], 1 + (uint32_t)s, 0, ROBOTS);
            batch_run(&other, 3);
            mf_world_step(other.rig.world, 3);
            size_t own_size;
            void *own = take_image(&other, &own_size);
            assert_int_equal(own_size, size);
            assert_memory_equal(own, image, size); // the same bytes on every instruction set
            free(own);
            for (int history = 0; history < 2; history++) { // the second one starts elsewhere
                batch_run(&other, history);
                MUST(mf_world_restore(other.rig.world, image, size, &error));
                other.updates = updates;
                size_t again_size;
                void *again = take_image(&other, &again_size);
                assert_int_equal(again_size, size);
                assert_memory_equal(again, image, size);
                free(again);
                batch_run(&other, 4);
                assert_true(mf_world_hash(other.rig.world) == expected);
            }
        }
    }
}

TEST(corrupt_images_change_nothing) {
    AUTO(batch_close) Batch batch = batch_open(&all_options[1], MF_ISA_SCALAR, 1, 0, NEIGHBORS);
    batch_run(&batch, 2);
    size_t size;
    unsigned char *image = take_image(&batch, &size);
    batch_run(&batch, 1);
    uint64_t hash = mf_world_hash(batch.rig.world);
    for (size_t at = 0; at < size; at += at < 128 ? 1 : 997)
        for (int bit = 0; bit < 8; bit++) {
            image[at] ^= (unsigned char)(1 << bit);
            mf_Error error = {0};
            mf_Status status = mf_world_restore(batch.rig.world, image, size, &error);
            if (status != MF_CORRUPT && status != MF_VERSION && status != MF_BAD_ARGUMENT)
                fail_msg("byte %zu, bit %d: %s", at, bit, mf_status_name(status));
            assert_int_equal(error.status, status);
            assert_true(mf_world_hash(batch.rig.world) == hash);
            image[at] ^= (unsigned char)(1 << bit);
        }
    for (size_t shorter = 0; shorter < size; shorter += shorter < 128 ? 1 : 4999)
        assert_int_not_equal(mf_world_restore(batch.rig.world, image, shorter, NULL), MF_OK);
    assert_true(mf_world_hash(batch.rig.world) == hash);
    assert_int_equal(mf_world_restore(batch.rig.world, image, size, NULL), MF_OK);
    free(image);
}

// An image of another model, count, precision, step or seed is refused.
TEST(images_of_other_worlds_are_refused) {
    AUTO(batch_close) Batch batch = batch_open(&all_options[1], MF_ISA_SCALAR, 1, 0, NEIGHBORS);
    size_t size;
    AUTO(end_memory) void *image = take_image(&batch, &size);
    for (int difference = 0; difference < 5; difference++) {
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        PointsConfig config = points_config(difference == 0);
        config.group.count = difference == 1 ? NEIGHBORS - 1 : NEIGHBORS;
        config.world.step = difference == 2 ? 5 * MF_MILLISECOND : config.world.step;
        config.world.seed += difference == 3;
        if (difference == 4)
            rig.hand->points[3].mass *= 1.01;
        points_open(&rig, config);
        uint64_t hash = mf_world_hash(rig.world);
        assert_int_equal(mf_world_restore(rig.world, image, size, NULL), MF_BAD_ARGUMENT);
        assert_true(mf_world_hash(rig.world) == hash);
    }
}
