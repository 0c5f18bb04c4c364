// Particles of both kinds: the same bits for any threads, lanes and after a restore; faults stay
// alone; emitters; what boxes and particles do to each other; refused settings. Physics against
// closed forms is in the cases of `mayfly check`, which tests/app runs.
#include "rig/rig.h"
#include "motion/particle/motion.h"
#include "particles_rig.h"

static void add_motion(const Rig *rig, bool fluid) {
    if (fluid)
        MUST(mf_motion_add(rig->group, MF_MOTION_FLUID, NULL, &error));
    else
        MUST(mf_motion_add(rig->group, MF_MOTION_GRAINS, NULL, &error));
}

// A block of particles that falls apart around a box.
static Rig open_block(RigConfig config, bool fluid) {
    const double at[3] = {0.05, 0.05, 0.35};
    Rig rig = rig_open(config);
    add_motion(&rig, fluid);
    rig_box(&rig, 2.0, at);
    rig_fill(&rig, 8, 8, 0.0201);
    MUST(mf_particles_couple(rig.world, &error));
    return rig;
}

static uint64_t run_block(const RigConfig *config, bool fluid) {
    AUTO_RIG rig = open_block(*config, fluid);
    mf_world_step(rig.world, 60);
    const uint64_t hash = mf_world_hash(rig.world);
    assert_int_equal(mf_group_fault_total(rig.group), 0);
    return hash;
}

TEST(test_bits) {
    for (int kind = 0; kind < 4; kind++) {
        RigConfig config = WITH(rig_config(500), .precise = kind % 2 == 1);
        config.step = kind < 2 ? 2e-3 : config.step; // many substeps of a fluid use a list
        const uint64_t hash = run_block(&config, kind < 2);
        config.threads = 3;
        assert_int_equal(run_block(&config, kind < 2), hash);
        FOR_EACH_ISA (isa)
            assert_int_equal(run_block(&WITH(config, .isa = isa), kind < 2), hash);
    }
}

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

TEST(test_restore) {
    for (int fluid = 0; fluid < 2; fluid++) {
        AUTO_RIG rig = open_block(rig_config(300), fluid);
        mf_world_step(rig.world, 40);
        assert_continues(rig.world, 40);
    }
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
        const double box = get_field(rig.box, "base.linear_velocity", 0, 0);
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
        const mf_Group *group = g == 0 ? rig->box : rig->group;
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
        set_field(rig.box, "base.position", 0, 1, 0.1);
        set_field(rig.box, "base.position", 0, 2, 5.0);
        set_field(rig.box, "base.angular_velocity", 0, 2, 1.0);
        mf_group_refresh(rig.box, 0);
        sum_moments(&rig, before);
        mf_world_step(rig.world, 400);
        sum_moments(&rig, after);
        const double turned = get_field(rig.box, "base.angular_velocity", 0, 2) - 1.0;
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
        set_field(rig.box, "base.angular_velocity", 0, 2, 40.0);
        mf_group_refresh(rig.box, 0);
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
