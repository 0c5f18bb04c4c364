// Robots that move by `points` are independent of each other (batch.h); a fault that resets its
// robot; images that are corrupt or of other worlds change nothing.
#include "motion/batch.h"

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

// Robot `number` starts at a height, speed and spin of its own: some stand, some fly, some tumble.
static void place_robot(const Batch *batch, uint32_t instance, uint32_t number) {
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

static mf_Status open(Batch *batch, mf_Error *error) {
    const Options *options = &all_options[batch->option];
    mf_PointsConfig *points = &batch->motions.points;
    make_hexapod(batch->rig.hand);
    batch->motion = MF_MOTION_POINTS;
    batch->group.double_precision = options->double_precision;
    points->friction = options->friction;
    points->weighted = options->weighted;
    points->keep_momentum = options->keep_momentum;
    points->friction_coefficient = options->coefficient;
    MF_TRY(try_terrain(batch->rig.context, options->level ? MF_TERRAIN_FLAT : MF_TERRAIN_NOISE,
                       options->interpolation, 0.05, 1.0, 0.1, &batch->rig.terrain, error));
    return batch_add(batch, error);
}

static void drive(const Batch *batch, uint32_t lane, uint32_t number) {
    mf_Field *target = rig_field(&batch->rig, "joint.target");
    for (uint32_t j = 0; j < target->components; j++) {
        uint64_t n = (batch->steps / 8 * 1000 + number) * 32 + j;
        batch_put(target, lane, j, 0.8 * random_signed(200, n));
    }
}

static void change(mf_MotionsConfig *motions) {
    motions->points.friction_coefficient = 0.3;
}

static const BatchKind batch_kind = {.options = sizeof all_options / sizeof *all_options,
                                     .robots = MOST_ROBOTS,
                                     .steps = 96,
                                     .many = 200,
                                     .open = open,
                                     .change = change,
                                     .place = place_robot,
                                     .drive = drive,
                                     .period = 8,
                                     .poisoned = 1 << 0 | 1 << 2 | 1 << 5};

// ---- faults -------------------------------------------------------------------------------------

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

// On the way nothing is allocated.
TEST(a_fault_may_reset_its_robot) {
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
    const uint64_t calls = mf_context_call_count(rig.context);
    mf_world_step(rig.world, 1);
    assert_int_equal(mf_context_call_count(rig.context), calls);
    assert_int_equal(mf_group_fault(rig.group, POISONED), 0);
    mf_Field *count = rig_field(&rig, "fault.count");
    for (uint32_t i = 0; i < NEIGHBORS; i++)
        assert_int_equal((int)mf_field_get(count, i, 0), i == POISONED);
    mf_field_set(count, POISONED, 0, 0.0); // else the same as a robot that never ran
    assert_true(mf_group_instance_hash(rig.group, POISONED) ==
                mf_group_instance_hash(fresh.group, POISONED));
}

// ---- images -------------------------------------------------------------------------------------

TEST(corrupt_images_change_nothing) {
    AUTO(batch_close) Batch batch;
    batch_open(&batch, 1, MF_ISA_SCALAR, 1, 0, NEIGHBORS);
    batch_step(&batch, 16);
    size_t size;
    unsigned char *image = take_snapshot(batch.rig.world, &size);
    batch_step(&batch, 8);
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
    AUTO(batch_close) Batch batch;
    batch_open(&batch, 1, MF_ISA_SCALAR, 1, 0, NEIGHBORS);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(batch.rig.world, &size);
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
