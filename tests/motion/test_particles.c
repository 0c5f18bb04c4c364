// Particles of both kinds: the same bits for any threads, lanes and after a restore (batch.h);
// faults stay alone; emitters; what boxes and particles do to each other; refused settings. Physics
// against closed forms is in the cases of `mayfly check`, which tests/app runs.
#include "motion/batch.h"
#include "motion/particle/motion.h"

typedef struct RigConfig {
    uint32_t count;
    bool precise;
    double step, gravity;
} RigConfig;

static RigConfig rig_config(uint32_t count) {
    return (RigConfig){.count = count, .step = 5e-4, .gravity = 9.81};
}

static mf_Status try_body(mf_Context *context, bool sphere, double size, double mass,
                          mf_Model **out, mf_Error *error) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    const double sizes[3] = {size, size, size};
    AUTO_BUILDER *builder;
    MF_TRY(mf_builder_create(context, "body", &builder, error));
    if (sphere)
        mf_body_create_sphere(builder, origin, 0.5 * size, mass, NULL);
    else
        mf_body_create_box(builder, sizes, origin, mass, NULL);
    return mf_builder_finalize(builder, out, error);
}

// Particles of 0.02 m, 0.008 kg, without a motion.
static mf_Status try_particles(Rig *rig, const mf_WorldConfig *world, mf_GroupConfig group,
                               mf_Error *error) {
    MF_TRY(try_body(rig->context, true, 0.02, 0.008, &rig->model, error));
    group.name = "particles";
    group.model = rig->model;
    group.isolated = false;
    MF_TRY(mf_world_create(rig->context, world, &rig->world, error));
    return mf_world_add_group(rig->world, &group, &rig->group, error);
}

static Rig rig_open(RigConfig config) {
    Rig rig = {.context = open_context(1)};
    const mf_WorldConfig world = WITH(mf_world_config(), .step = mf_time_from_seconds(config.step),
                                      .gravity = config.gravity);
    MUST(try_particles(
        &rig, &world,
        WITH(mf_group_config(), .count = config.count, .double_precision = config.precise),
        &error));
    return rig;
}

// A box of 0.2 m that particles push.
static mf_Status try_box(Rig *rig, double mass, const double position[3], mf_Error *error) {
    mf_Group *box;
    MF_TRY(try_body(rig->context, false, 0.2, mass, &rig->others[0], error));
    MF_TRY(mf_world_add_group(rig->world,
                              &WITH(mf_group_config(), .name = "box", .model = rig->others[0],
                                    .isolated = false, .double_precision = true),
                              &box, error));
    MF_TRY(mf_collisions_prepare(box, error));
    MF_TRY(mf_motion_add(box, MF_MOTION_RIGID, NULL, error));
    return mf_group_set_start(box, 0, position, NULL, NULL, error);
}

static mf_Group *box_of(const Rig *rig) {
    return mf_world_find_group(rig->world, "box");
}

static mf_Status try_fill(const Rig *rig, uint32_t columns, uint32_t rows, double spacing,
                          mf_Error *error) {
    for (uint32_t i = 0; i < mf_group_count(rig->group); i++) {
        const double at[3] = {spacing * (i % columns + 0.5), spacing * (i / columns % rows + 0.5),
                              spacing * (i / columns / rows + 0.5)};
        MF_TRY(mf_group_set_start(rig->group, i, at, NULL, NULL, error));
    }
    return MF_OK;
}

static void rig_box(Rig *rig, double mass, const double position[3]) {
    MUST(try_box(rig, mass, position, &error));
}

static void rig_fill(const Rig *rig, uint32_t columns, uint32_t rows, double spacing) {
    MUST(try_fill(rig, columns, rows, spacing, &error));
}

static mf_Motion kind_of(bool fluid) {
    return fluid ? MF_MOTION_FLUID : MF_MOTION_GRAINS;
}

static void add_motion(const Rig *rig, bool fluid) {
    MUST(mf_motion_add(rig->group, kind_of(fluid), NULL, &error));
}

// A block of particles that falls apart around a box. Many substeps of a fluid use a list.
static mf_Status open(Batch *batch, mf_Error *error) {
    static const double at[3] = {0.05, 0.05, 0.35};
    const bool fluid = batch->option < 2;
    Rig *rig = &batch->rig;
    batch->world.step = fluid ? 2 * MF_MILLISECOND : MF_MILLISECOND / 2;
    batch->group.double_precision = batch->option % 2 == 1;
    MF_TRY(try_particles(rig, &batch->world, batch->group, error));
    MF_TRY(mf_motion_add(rig->group, kind_of(fluid), NULL, error));
    MF_TRY(try_box(rig, 2.0, at, error));
    MF_TRY(try_fill(rig, 8, 8, 0.0201, error));
    return mf_particles_couple(rig->world, error);
}

static const BatchKind batch_kind = {.options = 4, .steps = 60, .many = 500, .open = open};

// Ten substeps of fast particles, whose lists of neighbors are used as long as they are valid, miss
// no pair: they are ten steps of one substep, for which neighbors are found anew, but for the order
// of sums.
TEST(test_lists) {
    Rig rigs[2];
    double farthest = 0.0;
    for (int k = 0; k < 2; k++) {
        rigs[k] =
            rig_open(WITH(rig_config(512), .precise = true, .step = k == 0 ? 2.9e-3 : 2.9e-4));
        add_motion(&rigs[k], true);
        rig_fill(&rigs[k], 8, 8, 0.019);
        for (uint32_t i = 0; i < 512; i++)
            for (uint32_t c = 0; c < 3; c++)
                set_field(rigs[k].group, "base.linear_velocity", i, c,
                          (double)((7 * i + 3 * c) % 11) / 4.0 - 1.25);
        assert_int_equal(mf_particles_substeps(rigs[k].group), k == 0 ? 10 : 1);
        mf_world_step(rigs[k].world, k == 0 ? 3 : 30);
    }
    for (uint32_t i = 0; i < 512; i++)
        for (uint32_t c = 0; c < 3; c++) {
            const double one = get_field(rigs[0].group, "base.linear_velocity", i, c),
                         other = get_field(rigs[1].group, "base.linear_velocity", i, c);
            farthest = fmax(farthest, fabs(one - other));
        }
    assert_true(farthest < 1e-9);
    rig_close(&rigs[0]);
    rig_close(&rigs[1]);
}

// A particle without a number is left out; the others step as if it were not there.
TEST(test_fault) {
    for (int fluid = 0; fluid < 2; fluid++) {
        Rig one, other;
        RigConfig config = rig_config(100);
        one = rig_open(config);
        add_motion(&one, fluid);
        rig_fill(&one, 5, 5, 0.02);
        set_field(one.group, "base.position", 99, 0, (double)NAN);
        config.count = 99;
        other = rig_open(config);
        add_motion(&other, fluid);
        rig_fill(&other, 5, 5, 0.02);
        mf_world_step(one.world, 50);
        mf_world_step(other.world, 50);
        assert_int_equal(mf_group_fault(one.group, 99), MF_FAULT_NONFINITE);
        assert_int_equal(mf_group_fault_total(one.group), 1);
        for (uint32_t i = 0; i < 99; i++)
            assert_int_equal(mf_group_instance_hash(one.group, i),
                             mf_group_instance_hash(other.group, i));
        rig_close(&one);
        rig_close(&other);
    }
}

// [1] Particles that are in the world.
static uint32_t present(mf_Group *group) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        count += get_field(group, "particle.waiting", i, 0) == 0.0;
    return count;
}

// The spacing is 0.02 m: in a nozzle of 0.03 m are 5 sites, a layer of which leaves every 20 ms at
// 1 m/s, the first one at 0.1 s.
TEST(test_emitter) {
    AUTO_RIG rig = rig_open(WITH(rig_config(32), .gravity = 0.0));
    const mf_Emitter emitter = {.position = {1.0, 2.0, 3.0},
                                .direction = {2.0, 0.0, 0.0},
                                .radius = 0.031,
                                .speed = 1.0,
                                .start = 0.1,
                                .stop = (double)INFINITY};
    MUST(rig_add_fluid(
        rig.group,
        &WITH(mf_motions_config().fluid, .emitters = &emitter, .emitter_count = 1, .placed = 0),
        &error));
    mf_world_step(rig.world, 200); // 0.1 s
    assert_int_equal(present(rig.group), 0);
    mf_world_step(rig.world, 20);
    assert_int_equal(present(rig.group), 5);
    assert_true(fabs(get_field(rig.group, "base.position", 0, 0) - (1.01)) <= 1e-3);
    assert_true(fabs(get_field(rig.group, "base.linear_velocity", 0, 0) - (1.0)) <= 1e-3);
    mf_world_step(rig.world, 60);
    assert_int_equal(present(rig.group), 10);
    mf_world_step(rig.world, 1000); // all are used up
    assert_int_equal(present(rig.group), 32);
    mf_group_reset_all(rig.group);
    assert_int_equal(present(rig.group), 0);
}

// A block of particles that flies into a free box off its middle, without gravity.
static Rig throw_block(bool fluid, uint32_t count) {
    Rig rig = rig_open(WITH(rig_config(count), .gravity = 0.0, .precise = true));
    add_motion(&rig, fluid);
    rig_box(&rig, 1.0, (double[]){0.3, 0.04, 5.04});
    rig_fill(&rig, 4, 4, 0.02);
    for (uint32_t i = 0; i < count; i++) {
        set_field(rig.group, "base.position", i, 2,
                  get_field(rig.group, "base.position", i, 2) + 5.0);
        set_field(rig.group, "base.linear_velocity", i, 0, 1.0);
    }
    MUST(mf_particles_couple(rig.world, &error));
    return rig;
}

// Without gravity, what a box gains in momentum is what the particles lose.
TEST(test_exchange) {
    for (int fluid = 0; fluid < 2; fluid++) {
        AUTO_RIG rig = throw_block(fluid, 64);
        mf_world_step(rig.world, 400);
        double sum = 0.0;
        for (uint32_t i = 0; i < 64; i++)
            sum += 0.008 * get_field(rig.group, "base.linear_velocity", i, 0);
        const double box = get_field(box_of(&rig), "base.linear_velocity", 0, 0);
        assert_true(box > 0.1); // it was hit by 0.512 kg m/s
        assert_true(fabs(sum + box - (0.512)) <= 1e-9);
    }
}

// The moment of momentum of box and particles about the box's start.
static void sum_moments(const Rig *rig, double out[3]) {
    double center[3], p[3], spin[3];
    const double origin[3] = {0.3, 0.04, 5.04};
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t g = 0; g < 2; g++) {
        const mf_Group *group = g == 0 ? box_of(rig) : rig->group;
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            mf_motion_momentum(group, i, center, p, spin);
            for (int c = 0; c < 3; c++) {
                const int a = (c + 1) % 3, b = (c + 2) % 3;
                out[c] += (center[a] - origin[a]) * p[b] - (center[b] - origin[b]) * p[a] + spin[c];
            }
        }
    }
}

// Particles hit a box off its middle, which turns already. (A drop alone: viscosity between drops
// does not keep their own moment, and its drag along the box acts half a spacing away from it.)
TEST(moment_of_momentum_is_passed_on) {
    for (int fluid = 0; fluid < 2; fluid++) {
        double before[3], after[3];
        AUTO_RIG rig = throw_block(fluid, fluid ? 1 : 64);
        set_field(box_of(&rig), "base.position", 0, 1, 0.1);
        set_field(box_of(&rig), "base.position", 0, 2, 5.0);
        set_field(box_of(&rig), "base.angular_velocity", 0, 2, 1.0);
        mf_group_refresh(box_of(&rig), 0);
        sum_moments(&rig, before);
        mf_world_step(rig.world, 400);
        sum_moments(&rig, after);
        const double turned = get_field(box_of(&rig), "base.angular_velocity", 0, 2) - 1.0;
        print_message("rate of the box %+.3g rad/s, lost %.2g N m s\n", turned,
                      fabs(after[2] - before[2]));
        assert_true(fabs(turned) > 0.01);
        for (int c = 0; c < 3; c++)
            assert_near(after[c], before[c], fluid ? 1e-6 : 1e-12);
    }
}

// A box turns by 0.4 rad in a step of many substeps, and one of its faces, 5 mm away at first,
// comes to a grain within it, as in steps that are as short as a substep.
TEST(solids_turn_within_a_step) {
    double speed[2];
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig = rig_open(
            WITH(rig_config(1), .gravity = 0.0, .precise = true, .step = k == 0 ? 0.01 : 1e-4));
        add_motion(&rig, false);
        rig_box(&rig, 1e3, (double[]){0, 0, 5});
        MUST(mf_group_set_start(rig.group, 0, (double[]){0.115, 0, 5}, NULL, NULL, &error));
        set_field(rig.group, "base.position", 0, 0, 0.115);
        set_field(rig.group, "base.position", 0, 2, 5.0);
        set_field(box_of(&rig), "base.angular_velocity", 0, 2, 40.0);
        mf_group_refresh(box_of(&rig), 0);
        MUST(mf_particles_couple(rig.world, &error));
        mf_world_step(rig.world, k == 0 ? 1 : 100);
        speed[k] = get_field(rig.group, "base.linear_velocity", 0, 0);
    }
    print_message("a grain leaves at %.4g m/s, in short steps at %.4g m/s\n", speed[0], speed[1]);
    assert_true(speed[0] > 0.1);
    assert_near(speed[0], speed[1], 0.05 * speed[1]);
}

TEST(test_refusals) {
    AUTO_RIG rig = rig_open(rig_config(4));
    mf_FluidConfig fluid = WITH(mf_motions_config().fluid, .reach = 1.0);
    MUST_FAIL_AS(rig_add_fluid(rig.group, &fluid, &error), MF_BAD_ARGUMENT,
                 "fluid.reach: 1, need 1.8 .. 4");
    MUST_FAIL(rig_add_grains(rig.group,
                             &WITH(mf_motions_config().grains, .restitution = (double)NAN), &error),
              MF_BAD_ARGUMENT, "");
    fluid = mf_motions_config().fluid;
    fluid.sound_speed = 1e5; // 5e-4 s would be 8334 substeps of 6e-8 s
    fluid.density = 1e6;
    MUST_FAIL(rig_add_fluid(rig.group, &fluid, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_motion_add(rig.group, MF_MOTION_FLUID, NULL, &error));
    MUST_FAIL(mf_motion_add(rig.group, MF_MOTION_FLUID, NULL, &error), MF_BAD_ARGUMENT, "");
    assert_true(fabs(mf_particles_spacing(rig.group) - (0.02)) <= 1e-9);
    MUST(mf_particles_couple(rig.world, &error));
    MUST_FAIL(mf_particles_couple(rig.world, &error), MF_BAD_ARGUMENT, "");
}
